/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainclamps.h: which numbers of a chain's stages cannot be met.
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
  GPtrArray *items; /* those that there were, or NULL */
} GstTfxChainClamps;

/* A TfxExprReport: tells the user.  data: GstTfxChainClamps. */
void gst_tfx_chain_clamps_report (const TfxExprClamp *clamp, void *data);

/* All of the chain was built: tells of what could not be met before and can be now.
 * The items take the place of the last ones. */
void gst_tfx_chain_clamps_replace (GstTfxChainClamps *self, GPtrArray **last);

/* One stage is designed, among the items that there are; nothing is allocated but
 * for a number's first clamp. */
void
gst_tfx_chain_clamps_begin_stage (GstTfxChainClamps *self, const gchar *stage);
void gst_tfx_chain_clamps_end_stage (GstTfxChainClamps *self,
    const gchar *stage, gboolean is_designed);

G_END_DECLS

#endif /* GST_TFX_CHAIN_CLAMPS_H */
