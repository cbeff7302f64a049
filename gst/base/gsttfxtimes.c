/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtimes.c: times and offsets of the frames that come out of a filter
 * which holds frames back.
 *
 * Input frames are numbered from the start of the stream.  A mark says that
 * from some frame on times are to be counted from a given one; there is a new
 * mark wherever the input's times are not contiguous, so that what they do
 * comes out again with the very frames.
 */
#include "gsttfxtimes.h"

typedef struct
{
  guint64 frame;
  GstClockTime pts; /* of that frame, or none */
  guint64 offset;   /* of that frame, or none */
} Mark;

/* Times are rounded down to nanoseconds, by the one who stamped the input as
 * well as here. */
#define ROUNDING 1

static const Mark *
gst_tfx_times_mark (const GstTfxTimes *self, guint i)
{
  return &g_array_index (self->marks, Mark, i);
}

static const Mark *
gst_tfx_times_last_mark (const GstTfxTimes *self)
{
  guint n = self->marks ? self->marks->len : 0;

  return n > self->first_mark ? gst_tfx_times_mark (self, n - 1) : NULL;
}

/* The time and the offset of a frame, counted from a mark. */
static GstClockTime
gst_tfx_times_pts (const GstTfxTimes *self, const Mark *mark, guint64 frame)
{
  if (!GST_CLOCK_TIME_IS_VALID (mark->pts))
    return GST_CLOCK_TIME_NONE;
  return mark->pts +
         gst_util_uint64_scale (frame - mark->frame, GST_SECOND, self->rate);
}

static guint64
gst_tfx_times_offset (const Mark *mark, guint64 frame)
{
  if (mark->offset == GST_BUFFER_OFFSET_NONE)
    return GST_BUFFER_OFFSET_NONE;
  return mark->offset + (frame - mark->frame);
}

void
gst_tfx_times_reset (GstTfxTimes *self, guint rate)
{
  self->rate = rate;
  self->n_in = self->n_out = 0;
  self->first_mark = 0;
  if (self->marks)
    g_array_set_size (self->marks, 0);
}

void
gst_tfx_times_clear (GstTfxTimes *self)
{
  if (self->marks)
    g_array_unref (self->marks);
  self->marks = NULL;
  gst_tfx_times_reset (self, 0);
}

GstClockTimeDiff
gst_tfx_times_jump (const GstTfxTimes *self, GstBuffer *buffer)
{
  const Mark *last = gst_tfx_times_last_mark (self);
  GstClockTime expected;

  if (!last || !GST_BUFFER_PTS_IS_VALID (buffer))
    return 0;
  expected = gst_tfx_times_pts (self, last, self->n_in);
  if (!GST_CLOCK_TIME_IS_VALID (expected))
    return 0;
  return GST_CLOCK_DIFF (expected, GST_BUFFER_PTS (buffer));
}

void
gst_tfx_times_add (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames)
{
  const Mark *last = gst_tfx_times_last_mark (self);
  Mark mark = { self->n_in, GST_BUFFER_PTS (buffer),
    GST_BUFFER_OFFSET (buffer) };
  gboolean same = FALSE;

  if (last) {
    GstClockTime pts = gst_tfx_times_pts (self, last, self->n_in);
    guint64 offset = gst_tfx_times_offset (last, self->n_in);

    /* What is not told goes on as it was. */
    if (!GST_CLOCK_TIME_IS_VALID (mark.pts))
      mark.pts = pts;
    if (mark.offset == GST_BUFFER_OFFSET_NONE)
      mark.offset = offset;
    same = mark.offset == offset &&
           (mark.pts == pts ||
               (GST_CLOCK_TIME_IS_VALID (pts) &&
                   ABS (GST_CLOCK_DIFF (pts, mark.pts)) <= ROUNDING));
  }
  if (!same) {
    if (!self->marks)
      self->marks = g_array_new (FALSE, FALSE, sizeof (Mark));
    /* The used ones make room. */
    if (self->first_mark > self->marks->len / 2) {
      g_array_remove_range (self->marks, 0, self->first_mark);
      self->first_mark = 0;
    }
    g_array_append_val (self->marks, mark);
  }
  self->n_in += n_frames;
}

void
gst_tfx_times_pass (GstTfxTimes *self, gsize n_frames)
{
  self->n_out += n_frames;
  while (self->marks && self->first_mark + 1 < self->marks->len &&
         gst_tfx_times_mark (self, self->first_mark + 1)->frame <= self->n_out)
    self->first_mark++;
}

/* Moves the clock readings that travel with a buffer by as much as its time
 * moves. */
static gboolean
gst_tfx_times_move_reference (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  const GstClockTimeDiff *by = data;
  GstReferenceTimestampMeta *reference = (GstReferenceTimestampMeta *)*meta;

  if ((*meta)->info->api != GST_REFERENCE_TIMESTAMP_META_API_TYPE)
    return TRUE;
  if (*by >= 0 || reference->timestamp >= (GstClockTime) - *by)
    reference->timestamp += *by;
  if (GST_CLOCK_TIME_IS_VALID (reference->duration))
    reference->duration = GST_BUFFER_DURATION (buffer);
  return TRUE;
}

void
gst_tfx_times_stamp (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames)
{
  GstClockTime old_pts = GST_BUFFER_PTS (buffer);
  const Mark *mark = gst_tfx_times_mark (self, self->first_mark);
  guint64 end = self->n_out + n_frames;

  GST_BUFFER_PTS (buffer) = gst_tfx_times_pts (self, mark, self->n_out);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_DURATION (buffer) =
        gst_tfx_times_pts (self, mark, end) - GST_BUFFER_PTS (buffer);
  else if (GST_BUFFER_DURATION_IS_VALID (buffer))
    GST_BUFFER_DURATION (buffer) =
        gst_util_uint64_scale (n_frames, GST_SECOND, self->rate);
  GST_BUFFER_OFFSET (buffer) = gst_tfx_times_offset (mark, self->n_out);
  GST_BUFFER_OFFSET_END (buffer) = gst_tfx_times_offset (mark, end);

  if (GST_CLOCK_TIME_IS_VALID (old_pts) && GST_BUFFER_PTS_IS_VALID (buffer)) {
    GstClockTimeDiff by = GST_CLOCK_DIFF (old_pts, GST_BUFFER_PTS (buffer));

    gst_buffer_foreach_meta (buffer, gst_tfx_times_move_reference, &by);
  }
  gst_tfx_times_pass (self, n_frames);
}
