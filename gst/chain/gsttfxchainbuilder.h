/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainbuilder.h: makes the filter of a tfxchain from its expression.
 */
#ifndef GST_TFX_CHAIN_BUILDER_H
#define GST_TFX_CHAIN_BUILDER_H

#include "gsttfxchain.h"
#include "gsttfxworker.h"

#include "lang/expr.h"

G_BEGIN_DECLS

/* Of the streaming thread.  Starts with all zero, ends with
 * gst_tfx_chain_builder_clear(). */
typedef struct
{
  GstTfxWorker worker; /* designs stages meanwhile */
  GPtrArray *clamped;  /* items of GstTfxChainClamps */
  gboolean is_refused; /* the last expression could not be built */
  TfxMove *move;       /* the values and the chain in force, or NULL */
} GstTfxChainBuilder;

/* As build_chain of GstTfxElement. */
TfxChain *gst_tfx_chain_builder_build (GstTfxChainBuilder *self,
    GstTfxChain *chain, GstTfxBuild *build, GError **error);

/* As move_stage of GstTfxElement: only stages that were set since the last chain
 * was built are designed, in memory that is there. */
gboolean gst_tfx_chain_builder_move (GstTfxChainBuilder *self,
    GstTfxChain *chain, GstTfxBuild *build);

/* As reserve of GstTfxElement. */
void gst_tfx_chain_builder_reserve (GstTfxChainBuilder *self,
    GstTfxChain *chain, const GstTfxBuild *build);

/* Waits for what is being designed, and forgets all. */
void gst_tfx_chain_builder_clear (GstTfxChainBuilder *self);

G_END_DECLS

#endif /* GST_TFX_CHAIN_BUILDER_H */
