/* SPDX-License-Identifier: LGPL-2.1-or-later
 * channels.h: which channels a chain is for. */
#ifndef TFX_LANG_CHANNELS_H
#define TFX_LANG_CHANNELS_H

#include "parser.h"

/* Whether the token ahead is that mark, one that Python has and the language
 * lacks. */
bool tfx_channels_is_mark (const TfxParser *parser, char mark);

/* Whether "ch[" is ahead. */
bool tfx_channels_are_ahead (const TfxParser *parser);

/* A bit for each. */
typedef struct TfxChannels
{
  uint64_t numbers, positions;
} TfxChannels;

/* Reads "ch[…]:".  Channels that are taken are refused, others are from then on.  0,
 * or the code of the error, which has its place. */
int tfx_channels_parse (TfxParser *parser, TfxChannels *channels,
    TfxChannels *taken);

#endif /* TFX_LANG_CHANNELS_H */
