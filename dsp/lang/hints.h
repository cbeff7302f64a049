/* SPDX-License-Identifier: LGPL-2.1-or-later
 * hints.h: errors that know better: names of other programs and of TorchFX. */
#ifndef TFX_LANG_HINTS_H
#define TFX_LANG_HINTS_H

#include "expr.h"

/* Why a class of TorchFX is not in the catalogue; NULL: it is unknown. */
const char *tfx_hints_absent (const char *name);

/* Where a parameter is now that a class once had; NULL: it never had it. */
const char *tfx_hints_param (const char *klass, const char *param);

/* Sets the error for a class that the catalogue lacks, with the reason or the class
 * that was meant, without a place; returns its code. */
int tfx_hints_refuse_class (const char *name, TfxExprError *error);

/* text[length] begins with a name where a stage is expected.  Sets an error and
 * returns its code if this is a filter of FFmpeg or SoX, a line of Equalizer APO, or
 * the name of a channel; the message has the translation if there is one.  Else
 * returns 0; no valid chain is refused. */
int
tfx_hints_refuse_text (const char *text, size_t length, TfxExprError *error);

/* The part of it for FFmpeg and SoX (translate.c). */
int tfx_translate_refuse (const char *text, size_t length, TfxExprError *error);

#endif /* TFX_LANG_HINTS_H */
