/* SPDX-License-Identifier: LGPL-2.1-or-later
 * translate.h: filters of FFmpeg and SoX, as chains. */
#ifndef TFX_LANG_TRANSLATE_H
#define TFX_LANG_TRANSLATE_H

#include "expr.h"

/* Sets an error with the chain and returns its code if text[length] begins with a
 * filter of FFmpeg or SoX; else returns 0. */
int tfx_translate_refuse (const char *text, size_t length, TfxExprError *error);

#endif /* TFX_LANG_TRANSLATE_H */
