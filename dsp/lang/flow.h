/* SPDX-License-Identifier: LGPL-2.1-or-later
 * flow.h: how many channels come to each stage of an expression.
 *
 * A Mix says how many come out of it, "ch[...]" how many a chain hears.  So at any
 * place there is either a fixed number of them, or that of the stream, which is
 * written as 0.
 *
 * Channels that are as many as the stream's are where these are; in "ch[...]" they keep
 * their positions.  Where a Mix has made more or fewer they have none. */
#ifndef TFX_LANG_FLOW_H
#define TFX_LANG_FLOW_H

#include "node.h"

/* Sets n_fixed of all stages, and n_out and n_most of the expression: what comes
 * out, and the largest fixed number outside of "ch[...]". */
void tfx_flow_fix (TfxExpr *expr);

/* What comes to an expression. */
typedef struct TfxFlow
{
  unsigned n_channels; /* 0: any number */
  uint64_t positions;  /* 0: none; or TFX_FLOW_ANY: those that it names */
} TfxFlow;

#define TFX_FLOW_ANY UINT64_MAX

/* Whether all of them fit each other.  0, or the code of the error. */
int tfx_flow_check (const TfxExpr *expr, const TfxFlow *stream,
    TfxExprError *error);

/* The positions of what comes to a part's stages; outside of all parts (NULL), of
 * n_fixed channels, 0: those of the stream. */
uint64_t tfx_flow_positions (const TfxNode *part, unsigned n_fixed,
    const TfxFlow *stream);

/* The channels of a part, a bit for each. */
uint64_t tfx_flow_channels (const TfxNode *part, const TfxFlow *stream);

#endif /* TFX_LANG_FLOW_H */
