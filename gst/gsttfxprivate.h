/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxprivate.h: what gsttfxfilter.c and gsttfxstream.c share.
 */
#ifndef GST_TFX_PRIVATE_H
#define GST_TFX_PRIVATE_H

#include "gsttfxbuffer.h"
#include "gsttfxengine.h"
#include "gsttfxfilter.h"
#include "gsttfxsituation.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_filter_debug);

typedef struct
{
  /* Under the object lock. */
  GstTfxDevice device;
  gint cuda_device_id;
  gboolean fuse;
  guint64 n_buffers, n_frames;
  GstClockTime process_time;
  guint n_stages, n_sections;
  TfxStats stats;

  /* Atomic: the properties have changed; the application changed them. */
  gint dirty, set_by_hand;
  /* Atomic: the thread that is setting controlled properties now. */
  gpointer control_thread;

  /* Of the streaming thread. */
  GstTfxEngine engine;
  guint64 stage_id;
  GstAudioInfo info;
  GstSegment segment; /* as the last event gave it */
  guint64 recoveries; /* of the engine, already told of */
  gboolean bad_told;  /* a warning on NaN or infinity was posted */
  gboolean cuda_told; /* a warning on the missing device was posted */
  GstTfxSituations situations;
  GstTfxScratch scratch;
} GstTfxFilterPrivate;

GstTfxFilterPrivate *gst_tfx_filter_get_private (GstTfxFilter *self);

/* Sets the methods that handle the stream. */
void gst_tfx_stream_init_class (GstTfxFilterClass *klass);

G_END_DECLS

#endif /* GST_TFX_PRIVATE_H */
