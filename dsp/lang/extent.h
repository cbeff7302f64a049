/* SPDX-License-Identifier: LGPL-2.1-or-later
 * extent.h: what the stages of an expression take. */
#ifndef TFX_LANG_EXTENT_H
#define TFX_LANG_EXTENT_H

#include "class.h"

/* Adds what a stage takes. */
void tfx_extent_add (const TfxNode *node, double rate_hz, TfxExtent *extent);

/* Whether all of them take no more than the bounds of expr.h, at a rate; 0: at any. */
int tfx_extent_check (const TfxExpr *expr, double rate_hz, TfxExprError *error);

#endif /* TFX_LANG_EXTENT_H */
