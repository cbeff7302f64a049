/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxready.h: makes stages of long kernels ready to run, in a thread of its
 * own.
 */
#ifndef GST_TFX_READY_H
#define GST_TFX_READY_H

#include "gsttfxfilter.h"
#include "gsttfxkernel.h"

G_BEGIN_DECLS

/* A kernel, and where it lies in the stage. */
typedef struct
{
  GstTfxKernel *kernel;
  gsize n_front; /* zeros before it */
  gsize n_taps;  /* in all */
  gsize delay;   /* taken out of the stream */
  TfxFirMethod method;
} GstTfxPlacement;

/* The stage that is a placed kernel; NULL with a text for the user. */
TfxStage *gst_tfx_placement_make_stage (const GstTfxPlacement *self, guint64 id,
    GError **error);

typedef struct _GstTfxReadyJob GstTfxReadyJob;

/* Of the streaming thread.  Starts with all zero, ends with
 * gst_tfx_ready_clear(). */
typedef struct
{
  GstTfxReadyJob *job; /* under way, or NULL */
} GstTfxReady;

/* The stage for a placed kernel, for the engine that runs.  NULL without an
 * error: it is being made ready; gst_tfx_filter_mark_ready() will be called. */
TfxStage *gst_tfx_ready_get (GstTfxReady *self, GstTfxFilter *filter,
    const GstTfxPlacement *placement, guint64 id, const GstTfxBuild *build,
    GError **error);

/* Waits for what is being made, and forgets it. */
void gst_tfx_ready_clear (GstTfxReady *self);

G_END_DECLS

#endif /* GST_TFX_READY_H */
