/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxengine.h: an executor that is made when the first samples come, and
 * knows whether it has heard anything yet.
 */
#ifndef GST_TFX_ENGINE_H
#define GST_TFX_ENGINE_H

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

/* How the FIRs of a plan that could become one are run. */
typedef enum
{
  GST_TFX_ENGINE_APART,
  GST_TFX_ENGINE_LONG_PAST, /* apart, with as much past as they need to be: */
  GST_TFX_ENGINE_AS_ONE
} GstTfxEngineForm;

/* Of one thread at a time.  Starts with all zero. */
typedef struct
{
  TfxExec *exec;     /* NULL before the first samples */
  TfxChain *chain;   /* of the element's own stage; NULL before the first */
  TfxPlan *own;      /* what that comes to by itself */
  TfxChain *pending; /* what runs before it in the same plan, or NULL */
  guint64 who;       /* a number for the elements that left it to this one */
  TfxPlan *plan;     /* the whole, its stages apart */
  GstTfxEngineForm form;
  gsize n_settled; /* frames since the form, or the plan, has changed */
  TfxPlanSpec spec;
  gboolean used;     /* samples were filtered since the last reset */
  gboolean was_used; /* the same when it was suspended */
  gboolean is_stale; /* exec does not run plan yet */
  gboolean is_new;   /* what it has state of has changed */
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

/* Whether @chain differs from the one that runs in values alone: no cross-fade
 * is needed to go over to it. */
gboolean gst_tfx_engine_is_update (const GstTfxEngine *self,
    const TfxChain *chain, const TfxPlanSpec *spec);

/* Before each block: whether the executor is ready for samples of this type in
 * blocks of this length, on which @pending (or NULL) is still to be run.  It is
 * not at the start of a stream and where the type or the pending chain
 * changes. */
gboolean gst_tfx_engine_expect (GstTfxEngine *self, TfxSample sample,
    gsize n_frames, const TfxChain *pending);

/* Makes it ready for what was expected last.  @who is a number for the elements
 * that left the chain: if it is another one, the input is another signal, and
 * there is no cross-fade. */
gboolean gst_tfx_engine_prepare (GstTfxEngine *self, TfxSample sample,
    TfxChain *pending, guint64 who, GError **error);

/* Runs on another backend from now on: the state moves along, and a cross-fade
 * is over.  On failure it goes on as it was. */
gboolean gst_tfx_engine_set_backend (GstTfxEngine *self,
    const TfxBackend *backend, GError **error);

/* Whether the stages that it has state of may be others than when this was
 * last asked. */
gboolean gst_tfx_engine_take_note (GstTfxEngine *self);

/* Filters a block into another one, or in place.  0 or a negative errno value:
 * what gst_tfx_engine_n_done() says is done then. */
gint gst_tfx_engine_run (GstTfxEngine *self, const TfxBlock *in,
    const TfxBlock *out);

/* The frames that the last run has filtered. */
gsize gst_tfx_engine_n_done (const GstTfxEngine *self);

/* Time goes by though nothing is run: a block of silence from rest. */
void gst_tfx_engine_pass (GstTfxEngine *self, gsize n_frames);

/* Fills a block with what the filter still has in it.  0 or a negative errno
 * value. */
gint gst_tfx_engine_drain (GstTfxEngine *self, const TfxBlock *block);

/* The frames by which the element's own stage makes the output late. */
gsize gst_tfx_engine_own_delay (const GstTfxEngine *self);

/* A stage and the frames that it holds back. */
typedef struct
{
  guint64 id;
  gsize n_frames;
} GstTfxHeld;

/* Those with state that are running, in the order of the chain; NULL if none of
 * them holds frames back. */
GArray *gst_tfx_engine_list_held (GstTfxEngine *self);

/* Whether the plan has state of that stage. */
gboolean gst_tfx_engine_has_stage (const GstTfxEngine *self, guint64 id);

/* Nothing comes for a while; then it comes again.  If others have run the stage
 * by then, the state that is here is of no account any more; else all is as it
 * was. */
void gst_tfx_engine_suspend (GstTfxEngine *self);
void gst_tfx_engine_resume (GstTfxEngine *self, gboolean is_as_it_was);

/* While suspended: whoever runs the stage now begins to cross-fade. */
void gst_tfx_engine_expect_fade (GstTfxEngine *self);

/* True while a cross-fade is under way. */
gboolean gst_tfx_engine_is_fading (const GstTfxEngine *self);

/* True while the CPU mixes two outputs for it: blocks must be in host memory. */
gboolean gst_tfx_engine_is_mixing (const GstTfxEngine *self);

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
