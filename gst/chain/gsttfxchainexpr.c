/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainexpr.c: an expression of the chain language that threads share.
 */
#include "gsttfxchainexpr.h"

GstTfxChainExpr *
gst_tfx_chain_expr_new (TfxExpr *expr)
{
  GstTfxChainExpr *self = g_new (GstTfxChainExpr, 1);

  self->refs = 1;
  self->expr = expr;
  return self;
}

GstTfxChainExpr *
gst_tfx_chain_expr_ref (GstTfxChainExpr *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
gst_tfx_chain_expr_unref (GstTfxChainExpr *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  tfx_expr_free (&self->expr);
  g_free (self);
}

TfxExpr *
gst_tfx_chain_expr_edit (GstTfxChainExpr **self)
{
  TfxExpr *copy;

  if (g_atomic_int_get (&(*self)->refs) == 1)
    return (*self)->expr;
  copy = tfx_expr_copy ((*self)->expr);
  if (!copy)
    return NULL;
  gst_tfx_chain_expr_unref (*self);
  *self = gst_tfx_chain_expr_new (copy);
  return copy;
}
