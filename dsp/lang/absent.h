/* SPDX-License-Identifier: LGPL-2.1-or-later
 * absent.h: why some classes are not in the catalogue. */
#ifndef TFX_LANG_ABSENT_H
#define TFX_LANG_ABSENT_H

#include "expr.h"

/* The message for a class that the catalogue lacks: why, or the one that was
 * meant.  Without a place; returns the code. */
int tfx_absent_refuse (const char *name, TfxExprError *error);

/* Why it is none of the catalogue; NULL: nothing is known of it. */
const char *tfx_absent_why (const char *name);

/* Where a parameter has gone that a class once had; NULL: it never had it. */
const char *tfx_absent_param (const char *name, const char *param);

#endif /* TFX_LANG_ABSENT_H */
