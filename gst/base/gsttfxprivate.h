/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxprivate.h: what gsttfxfilter.c and gsttfxstream.c share.
 */
#ifndef GST_TFX_PRIVATE_H
#define GST_TFX_PRIVATE_H

#include "gsttfxbuffer.h"
#include "gsttfxcounts.h"
#include "gsttfxengine.h"
#include "gsttfxfilter.h"
#include "gsttfxfusion.h"
#include "gsttfxsituation.h"
#include "gsttfxtimes.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_filter_debug);

typedef struct
{
  /* Set under the object lock; elements that would fuse with this one read them
   * without. */
  GstTfxDevice device;
  gint cuda_device_id;
  gboolean fuse;

  /* Under the object lock. */
  GstClockTime latency;

  /* Written by the streaming thread, read by any. */
  GstTfxCounts counts;
  GstClockTime position; /* where the last buffer that went out ends */

  /* Atomic: the properties have changed; the application changed them. */
  gint dirty, set_by_hand;
  /* Atomic: the thread that is setting controlled properties now. */
  gpointer control_thread;
  /* Atomic: the base class may have reason to drop late buffers. */
  gint has_qos;

  /* Of the streaming thread. */
  GstTfxEngine engine;
  GstTfxFusion fusion;
  guint64 stage_id;
  GstAudioInfo info;
  GstSegment segment; /* as the last event gave it */
  gchar *stream_id;
  GstTfxTimes times;
  GstPadChainFunction base_chain; /* of the sink pad */
  GstPadEventFunction base_event;
  gboolean may_pass;    /* by the base class: the last buffer did nothing to
                          * it, and no event that matters came since */
  gboolean discont_in;  /* the next buffer comes behind a discontinuity */
  gboolean discont_out; /* the next one that goes out is to say so */
  guint n_untimed;      /* buffers until the next is timed */
  gdouble ns_per_frame; /* of the last that was */
  gboolean was_refused; /* the last stage could not be used */
  gboolean is_step;     /* the stage is but a step, */
  gsize n_hold;         /* for so many frames still */
  gsize n_spare;        /* frames of delay that its successor does not need */
  guint64 recoveries;   /* of the engine, already told of */
  gboolean has_failed;  /* the last caps were refused, with an error: */
  GstAudioInfo failed_info;
  gboolean bad_told;  /* a warning on NaN or infinity was posted */
  gboolean cuda_told; /* a warning on the missing device was posted */
  GstTfxSituations situations;
  GstTfxScratch scratch;
} GstTfxFilterPrivate;

GstTfxFilterPrivate *gst_tfx_filter_get_private (GstTfxFilter *self);

/* Whether its stage has heard samples since the stream began, here or where it
 * was left. */
static inline gboolean
gst_tfx_filter_is_running (const GstTfxFilterPrivate *priv)
{
  return priv->engine.used || priv->fusion.has_left;
}

/* Sets the methods that handle caps, events and queries. */
void gst_tfx_stream_init_class (GstTfxFilterClass *klass);

/* Takes over the sink pad's buffers. */
void gst_tfx_pads_init (GstTfxFilter *self);

/* Sets the methods that handle buffers. */
void gst_tfx_pads_init_class (GstTfxFilterClass *klass);

/* Makes the engine run what the properties ask for, at the rate and channels
 * of @info.  On failure it goes on with the plan that it has. */
gboolean gst_tfx_stream_update (GstTfxFilter *self, const GstAudioInfo *info,
    GError **error);

/* The stream ends here: what the filter still holds goes out, and the state
 * starts afresh. */
GstFlowReturn gst_tfx_stream_end (GstTfxFilter *self, const gchar *because);

/* The number of frames in a buffer, or -1 after an error message. */
gssize gst_tfx_flow_check (GstTfxFilter *self, GstBuffer *buffer);

/* Whether there is a gap in the times between this buffer and the one before
 * it.  A stream that plays backwards has one between any two. */
gboolean gst_tfx_flow_is_gap (GstTfxFilter *self, GstBuffer *buffer);

/* Takes the filter to what the properties ask for, before so many frames on
 * which @pending is to be done, left by @who.  That, and state that others have,
 * must be here before: the new stage cross-fades from it. */
gboolean gst_tfx_flow_update (GstTfxFilter *self, gsize n_frames,
    TfxChain *pending, guint64 who);

/* Filters *@buffer, of at least one frame, with all that is pending on it;
 * another buffer may take its place.  DROPPED if none of what comes out belongs
 * to the stream. */
GstFlowReturn gst_tfx_flow_run (GstTfxFilter *self, GstBuffer **buffer,
    gsize n_frames, TfxChain *pending, guint64 who);

/* Filters a buffer that was to be left to others, with all that is pending on
 * it, and pushes it. */
GstFlowReturn gst_tfx_pads_run_here (GstTfxFilter *self, GstBuffer *buffer,
    gsize n_frames, TfxChain *pending, guint64 who);

/* Pushes a filtered buffer. */
GstFlowReturn gst_tfx_pads_push (GstTfxFilter *self, GstBuffer *buffer);

/* Sends what the filter still holds. */
GstFlowReturn gst_tfx_flow_drain (GstTfxFilter *self);

G_END_DECLS

#endif /* GST_TFX_PRIVATE_H */
