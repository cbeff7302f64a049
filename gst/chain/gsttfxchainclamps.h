/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainclamps.h: numbers of a chain's stages that are out of range.
 */
#ifndef GST_TFX_CHAIN_CLAMPS_H
#define GST_TFX_CHAIN_CLAMPS_H

#include "gsttfxelement.h"

#include "lang/expr.h"

G_BEGIN_DECLS

typedef struct
{
  GstTfxElement *chain;
  const TfxExpr *expr;
  gdouble rate;
  GPtrArray *items; /* numbers that were ever out of range, or NULL */
} GstTfxChainClamps;

/* A TfxExprReport that warns the user.  data: GstTfxChainClamps. */
void gst_tfx_chain_clamps_report (const TfxExprClamp *clamp, void *data);

/* Call after the whole chain was built: reports numbers that are in range again, and
 * replaces the items of the last build. */
void gst_tfx_chain_clamps_replace (GstTfxChainClamps *self, GPtrArray **last);

/* Call before and after the design of one stage; allocates only when a number is out of
 * range for the first time. */
void
gst_tfx_chain_clamps_begin_stage (GstTfxChainClamps *self, const gchar *stage);
void gst_tfx_chain_clamps_end_stage (GstTfxChainClamps *self,
    const gchar *stage, gboolean is_designed);

G_END_DECLS

#endif /* GST_TFX_CHAIN_CLAMPS_H */
