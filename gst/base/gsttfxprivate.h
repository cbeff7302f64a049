/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxprivate.h: what gsttfxfilter.c and gsttfxstream.c share.
 */
#ifndef GST_TFX_PRIVATE_H
#define GST_TFX_PRIVATE_H

#include "gsttfxbuffer.h"
#include "gsttfxdevice.h"
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
  guint64 n_buffers, n_frames, n_deferred;
  GstClockTime process_time;
  guint n_stages, n_sections;
  TfxStats stats;
  GstClockTime latency;

  /* Atomic: the properties have changed; the application changed them. */
  gint dirty, set_by_hand;
  /* Atomic: the thread that is setting controlled properties now. */
  gpointer control_thread;

  /* Of the streaming thread. */
  GstTfxEngine engine;
  GstTfxDevicePlace place;
  GstTfxFusion fusion;
  guint64 stage_id;
  GstAudioInfo info;
  GstSegment segment; /* as the last event gave it */
  gchar *stream_id;
  GstTfxTimes times;
  GstPadChainFunction base_chain; /* of the sink pad */
  gboolean may_pass;     /* the last buffer went out with the stage left to
                          * others, and no event that matters came since */
  gboolean discont_seen; /* the base class keeps telling of one */
  gboolean was_refused;  /* the last stage could not be used */
  gboolean is_step;      /* the stage is but a step, */
  gsize n_hold;          /* for so many frames still */
  gsize n_spare;         /* frames of delay that its successor does not need */
  guint64 recoveries;    /* of the engine, already told of */
  gboolean has_failed;   /* the last caps were refused, with an error: */
  GstAudioInfo failed_info;
  gboolean bad_told; /* a warning on NaN or infinity was posted */
  GstTfxSituations situations;
  GstTfxScratch scratch;
} GstTfxFilterPrivate;

GstTfxFilterPrivate *gst_tfx_filter_get_private (GstTfxFilter *self);

/* Sets the methods that handle caps, events and queries. */
void gst_tfx_stream_init_class (GstTfxFilterClass *klass);

/* Takes over the sink pad's buffers. */
void gst_tfx_flow_init (GstTfxFilter *self);

/* Sets the methods that handle buffers. */
void gst_tfx_flow_init_class (GstTfxFilterClass *klass);

/* Makes the engine run what the properties ask for, at the rate and channels
 * of @info.  On failure it goes on with the plan that it has. */
gboolean gst_tfx_stream_update (GstTfxFilter *self, const GstAudioInfo *info,
    GError **error);

/* The stream ends here: what the filter still holds goes out, and the state
 * starts afresh. */
GstFlowReturn gst_tfx_stream_end (GstTfxFilter *self, const gchar *because);

/* A buffer comes in; the chain function of the sink pad. */
GstFlowReturn
gst_tfx_flow_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer);

/* Filters *buffer here, with all that is pending on it; another buffer may take
 * its place. */
GstFlowReturn gst_tfx_flow_run_here (GstTfxFilter *self, GstBuffer **buffer);

/* Sends what the filter still holds. */
GstFlowReturn gst_tfx_flow_drain (GstTfxFilter *self);

G_END_DECLS

#endif /* GST_TFX_PRIVATE_H */
