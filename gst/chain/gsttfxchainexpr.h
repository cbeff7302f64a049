/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainexpr.h: an expression of the chain language that threads share.
 */
#ifndef GST_TFX_CHAIN_EXPR_H
#define GST_TFX_CHAIN_EXPR_H

#include <glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* The expression may be read while a reference is held. */
typedef struct
{
  gint refs; /* atomic */
  TfxExpr *expr;
} GstTfxChainExpr;

/* Takes ownership of @expr. */
GstTfxChainExpr *gst_tfx_chain_expr_new (TfxExpr *expr);

GstTfxChainExpr *gst_tfx_chain_expr_ref (GstTfxChainExpr *self);
void gst_tfx_chain_expr_unref (GstTfxChainExpr *self);

/* The expression, to be changed: first replaces *@self by a copy if there are other
 * references.  Under the lock under which all references are taken.  NULL if memory is
 * short. */
TfxExpr *gst_tfx_chain_expr_edit (GstTfxChainExpr **self);

G_END_DECLS

#endif /* GST_TFX_CHAIN_EXPR_H */
