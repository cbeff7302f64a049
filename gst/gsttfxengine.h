/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxengine.h: an executor that is made when the first samples come, and
 * knows whether it has heard anything yet.
 */
#ifndef GST_TFX_ENGINE_H
#define GST_TFX_ENGINE_H

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

/* Of one thread at a time.  Starts with all zero. */
typedef struct
{
  TfxExec *exec;   /* NULL before the first samples */
  TfxPlan *plan;   /* NULL before the first chain */
  TfxChain *chain; /* what plan was compiled from */
  TfxPlanSpec spec;
  gboolean used;     /* samples were filtered since the last reset */
  gboolean is_stale; /* exec does not run plan yet */
  gsize n_fading;    /* frames until all cross-fades are over, at the most */
  gsize last_frames; /* of the last block; of two in a row: */
  gsize usual_frames;
} GstTfxEngine;

/* Runs @chain from now on; the chain stays the caller's.  @spec says for what;
 * of its block_frames nothing is known yet.  While samples flow another kind
 * of chain takes over in a cross-fade, or at once.  On failure the old chain
 * runs on. */
gboolean gst_tfx_engine_set_chain (GstTfxEngine *self, TfxChain *chain,
    const TfxPlanSpec *spec, gboolean at_once, GError **error);

/* Before each block: makes the executor ready for samples of this type in
 * blocks of this length.  Has something to do at the start of a stream and
 * where the type changes. */
gboolean gst_tfx_engine_prepare (GstTfxEngine *self, TfxSample sample,
    gsize n_frames, GError **error);

/* Filters a block in place.  0 or a negative errno value. */
gint gst_tfx_engine_run (GstTfxEngine *self, const TfxBlock *block);

/* Time goes by though nothing is run: a block of silence from rest. */
void gst_tfx_engine_pass (GstTfxEngine *self, gsize n_frames);

/* Fills a block with what the filter still has in it.  0 or a negative errno
 * value. */
gint gst_tfx_engine_drain (GstTfxEngine *self, const TfxBlock *block);

/* The frames by which the output is late, and how many of the next ones stand
 * before the start of the stream. */
gsize gst_tfx_engine_delay (const GstTfxEngine *self);
gsize gst_tfx_engine_skip (const GstTfxEngine *self);

/* Back to rest.  FALSE if it is at rest already. */
gboolean gst_tfx_engine_reset (GstTfxEngine *self);

/* Frees what it holds; it can be used again. */
void gst_tfx_engine_clear (GstTfxEngine *self);

G_END_DECLS

#endif /* GST_TFX_ENGINE_H */
