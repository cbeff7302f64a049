/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtimes.h: times and offsets of the frames that come out of a filter
 * which holds frames back.
 */
#ifndef GST_TFX_TIMES_H
#define GST_TFX_TIMES_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Each output frame has the time and the offset of the input frame with the
 * same number.  Starts with all zero, ends with gst_tfx_times_clear(). */
typedef struct
{
  guint rate;
  guint64 n_in, n_out; /* frames since the last reset */
  GArray *marks;       /* where a run of contiguous times begins */
  guint first_mark;    /* the first that is needed still */
} GstTfxTimes;

/* A stream begins at @rate Hz. */
void gst_tfx_times_reset (GstTfxTimes *self, guint rate);

/* The frames that have come and not gone out. */
static inline guint64
gst_tfx_times_held (const GstTfxTimes *self)
{
  return self->n_in - self->n_out;
}

/* How far the time of a buffer that comes in is from the end of the one before
 * it; 0 if that cannot be told. */
GstClockTimeDiff
gst_tfx_times_jump (const GstTfxTimes *self, GstBuffer *buffer);

/* @n_frames have come in with @buffer. */
void gst_tfx_times_add (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames);

/* The next @n_frames go out in @buffer: it gets their times. */
void gst_tfx_times_stamp (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames);

/* The next @n_frames go out with the times that they have. */
void gst_tfx_times_pass (GstTfxTimes *self, gsize n_frames);

/* The filter upstream of this one runs here from now on: the frames that it
 * holds come behind those that are held here. */
void gst_tfx_times_join (GstTfxTimes *self, GstTfxTimes *upstream);

/* The filter runs here from now on, and not with the one downstream any more:
 * it takes the newest @n_frames that are held there, all its own. */
void gst_tfx_times_split (GstTfxTimes *self, GstTfxTimes *downstream,
    gsize n_frames);

/* Of the frames that are held, those behind the oldest @n_kept are lost, so many
 * as @n_frames. */
void gst_tfx_times_cut (GstTfxTimes *self, gsize n_kept, gsize n_frames);

void gst_tfx_times_clear (GstTfxTimes *self);

G_END_DECLS

#endif /* GST_TFX_TIMES_H */
