/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresample.h: resamples to another rate, with an exact number of frames. */
#ifndef GST_TFX_RESAMPLE_H
#define GST_TFX_RESAMPLE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns a floating bin with pads "sink" and "src" that resamples interleaved floats, or
 * NULL if GStreamer has no audioresample.  The output has n_frames * rate_hz / (input rate)
 * frames, rounded to nearest, and no delay.  With a rate of 0 call
 * gst_tfx_resample_set_rate() before the bin gets caps. */
GstElement *gst_tfx_resample_new (gint rate_hz);

void gst_tfx_resample_set_rate (GstElement *bin, gint rate_hz);

/* Sets the times of a buffer to those of the frames from `start` to `end`, and clears its
 * flags of a discontinuity: demuxers round timestamps.  Takes and returns the buffer. */
GstBuffer *gst_tfx_resample_stamp (GstBuffer *buffer, guint64 start,
    guint64 end, gint rate_hz);

G_END_DECLS

#endif /* GST_TFX_RESAMPLE_H */
