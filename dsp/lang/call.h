/* SPDX-License-Identifier: LGPL-2.1-or-later
 * call.h: a call in a text. */
#ifndef TFX_LANG_CALL_H
#define TFX_LANG_CALL_H

#include "parser.h"

/* A name is ahead: reads the call that it begins.  0, or the code of the error,
 * which has its place. */
int tfx_call_parse (TfxParser *parser, TfxNode **node);

#endif /* TFX_LANG_CALL_H */
