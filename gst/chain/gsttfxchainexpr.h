/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainexpr.h: an expression of the chain language that threads share.
 */
#ifndef GST_TFX_CHAIN_EXPR_H
#define GST_TFX_CHAIN_EXPR_H

#include <glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* Whoever holds a reference may read the expression for as long. */
typedef struct
{
  gint refs; /* atomic */
  TfxExpr *expr;
} GstTfxChainExpr;

/* Takes @expr over. */
GstTfxChainExpr *gst_tfx_chain_expr_new (TfxExpr *expr);

GstTfxChainExpr *gst_tfx_chain_expr_ref (GstTfxChainExpr *self);
void gst_tfx_chain_expr_unref (GstTfxChainExpr *self);

/* The expression to be changed: *@self becomes a copy first if somebody else
 * reads it.  Under the lock under which all references are taken.  NULL if
 * memory is short. */
TfxExpr *gst_tfx_chain_expr_edit (GstTfxChainExpr **self);

G_END_DECLS

#endif /* GST_TFX_CHAIN_EXPR_H */
