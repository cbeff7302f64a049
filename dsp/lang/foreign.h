/* SPDX-License-Identifier: LGPL-2.1-or-later
 * foreign.h: text that was written for another program, and its translation. */
#ifndef TFX_LANG_FOREIGN_H
#define TFX_LANG_FOREIGN_H

#include "expr.h"

/* text[length] begins with a name where a stage is expected.  Sets an error and
 * returns its code if the text is a filter of FFmpeg or SoX, a line of Equalizer
 * APO, or the name of a channel; the message has the translation where there is
 * one.  Else returns 0: no valid chain is refused. */
int tfx_foreign_refuse (const char *text, size_t length, TfxExprError *error);

#endif /* TFX_LANG_FOREIGN_H */
