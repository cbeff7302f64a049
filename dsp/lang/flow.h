/* SPDX-License-Identifier: LGPL-2.1-or-later
 * flow.h: how many channels come to each stage of an expression.
 *
 * A Mix says how many come out of it, "ch[...]" how many a chain hears.  So at any
 * place there is either a fixed number of them, or that of the stream, which is
 * written as 0. */
#ifndef TFX_LANG_FLOW_H
#define TFX_LANG_FLOW_H

#include "node.h"

/* Sets n_fixed of all stages, and n_out and n_most of the expression: what comes
 * out, and the largest fixed number outside of "ch[...]". */
void tfx_flow_fix (TfxExpr *expr);

/* Whether all of them fit each other, for a stream of so many; 0: for any.  0, or
 * the code of the error. */
int
tfx_flow_check (const TfxExpr *expr, unsigned n_channels, TfxExprError *error);

#endif /* TFX_LANG_FLOW_H */
