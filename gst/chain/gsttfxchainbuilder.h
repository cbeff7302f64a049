/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainbuilder.h: makes the filter of a tfxchain from its expression.
 */
#ifndef GST_TFX_CHAIN_BUILDER_H
#define GST_TFX_CHAIN_BUILDER_H

#include "gsttfxchain.h"
#include "gsttfxworker.h"

#include "lang/expr.h"

G_BEGIN_DECLS

/* Used by the streaming thread.  Start with zeros, end with
 * gst_tfx_chain_builder_clear(). */
typedef struct
{
  GstTfxWorker worker; /* designs long stages */
  GPtrArray *clamped;  /* items of GstTfxChainClamps */
  gboolean is_refused; /* the last expression could not be built */
  TfxMove *move;       /* the current values and chain, or NULL */
} GstTfxChainBuilder;

/* build_chain of GstTfxElement. */
TfxChain *gst_tfx_chain_builder_build (GstTfxElement *element,
    GstTfxBuild *build, GError **error);

/* move_stage of GstTfxElement: designs only the stages that were set since the last
 * chain was built, without allocating. */
gboolean
gst_tfx_chain_builder_move (GstTfxElement *element, GstTfxBuild *build);

/* reserve of GstTfxElement. */
void gst_tfx_chain_builder_reserve (GstTfxElement *element,
    const GstTfxBuild *build);

/* Waits for the thread and frees all. */
void gst_tfx_chain_builder_clear (GstTfxChainBuilder *self);

G_END_DECLS

#endif /* GST_TFX_CHAIN_BUILDER_H */
