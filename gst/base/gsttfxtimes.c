/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtimes.c: times and offsets of the frames that come out of a filter
 * which holds frames back.
 *
 * Input frames are numbered from the start of the stream.  A mark says that
 * from some frame on times are to be counted from a given one; there is a new
 * mark wherever the input's times are not contiguous, so that what they do
 * comes out again with the very frames.
 *
 * Where filters begin or cease to run as one, the frames that they hold change
 * hands: the newest are those of the filter that is furthest upstream.
 */
#include "gsttfxtimes.h"

typedef struct
{
  guint64 frame;    /* it counts from here on */
  guint64 origin;   /* the number of the frame, perhaps an earlier one, with: */
  GstClockTime pts; /* or none */
  guint64 offset;   /* or none */
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
         gst_util_uint64_scale (frame - mark->origin, GST_SECOND, self->rate);
}

static guint64
gst_tfx_times_offset (const Mark *mark, guint64 frame)
{
  if (mark->offset == GST_BUFFER_OFFSET_NONE)
    return GST_BUFFER_OFFSET_NONE;
  return mark->offset + (frame - mark->origin);
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

/* Whether the frame with this number has the time and the offset that the last
 * mark would have it, but for so many nanoseconds. */
static gboolean
gst_tfx_times_goes_on (const GstTfxTimes *self, guint64 frame, GstClockTime pts,
    guint64 offset, GstClockTime rounding)
{
  const Mark *last = gst_tfx_times_last_mark (self);
  GstClockTime expected;

  if (!last || offset != gst_tfx_times_offset (last, frame))
    return FALSE;
  expected = gst_tfx_times_pts (self, last, frame);
  return pts == expected ||
         (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (expected) &&
             (GstClockTime)ABS (GST_CLOCK_DIFF (pts, expected)) <= rounding);
}

static void
gst_tfx_times_add_mark (GstTfxTimes *self, const Mark *mark)
{
  if (!self->marks)
    self->marks = g_array_new (FALSE, FALSE, sizeof (Mark));
  /* The used ones make room. */
  if (self->first_mark > self->marks->len / 2) {
    g_array_remove_range (self->marks, 0, self->first_mark);
    self->first_mark = 0;
  }
  g_array_append_val (self->marks, *mark);
}

void
gst_tfx_times_add (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames)
{
  const Mark *last = gst_tfx_times_last_mark (self);
  Mark mark = { self->n_in, self->n_in, GST_BUFFER_PTS (buffer),
    GST_BUFFER_OFFSET (buffer) };

  /* What is not told goes on as it was. */
  if (last && !GST_CLOCK_TIME_IS_VALID (mark.pts))
    mark.pts = gst_tfx_times_pts (self, last, self->n_in);
  if (last && mark.offset == GST_BUFFER_OFFSET_NONE)
    mark.offset = gst_tfx_times_offset (last, self->n_in);
  if (!gst_tfx_times_goes_on (self, self->n_in, mark.pts, mark.offset,
          ROUNDING))
    gst_tfx_times_add_mark (self, &mark);
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

/* ---- frames that change hands ----------------------------------------------- */

/* The marks of `from` that count for frames from number `first` on, to the end
 * of those of `self`, where that frame has the number `here`. */
static void
gst_tfx_times_copy_marks (GstTfxTimes *self, guint64 here,
    const GstTfxTimes *from, guint64 first)
{
  const guint n = from->marks ? from->marks->len : 0;

  for (guint i = from->first_mark; i < n; i++) {
    Mark mark = *gst_tfx_times_mark (from, i);
    guint64 start = MAX (mark.frame, first);

    /* The next one counts already. */
    if (i + 1 < n && gst_tfx_times_mark (from, i + 1)->frame <= first)
      continue;
    if (gst_tfx_times_goes_on (self, here + (start - first),
            gst_tfx_times_pts (from, &mark, start),
            gst_tfx_times_offset (&mark, start), 0))
      continue;
    mark.frame = here + (start - first);
    mark.origin += here - first;
    gst_tfx_times_add_mark (self, &mark);
  }
}

/* Marks that count for no frame that has come are dropped, but for one. */
static void
gst_tfx_times_drop_marks (GstTfxTimes *self)
{
  while (self->marks && self->marks->len > self->first_mark + 1 &&
         gst_tfx_times_last_mark (self)->frame >= self->n_in)
    g_array_set_size (self->marks, self->marks->len - 1);
}

void
gst_tfx_times_join (GstTfxTimes *self, GstTfxTimes *upstream)
{
  gst_tfx_times_copy_marks (self, self->n_in, upstream, upstream->n_out);
  self->n_in += gst_tfx_times_held (upstream);
  gst_tfx_times_pass (self, 0);
  gst_tfx_times_reset (upstream, upstream->rate);
}

void
gst_tfx_times_split (GstTfxTimes *self, GstTfxTimes *downstream, gsize n_frames)
{
  n_frames = MIN (n_frames, gst_tfx_times_held (downstream));
  gst_tfx_times_reset (self, downstream->rate);
  self->n_in = downstream->n_in;
  self->n_out = downstream->n_in - n_frames;
  gst_tfx_times_copy_marks (self, self->n_out, downstream, self->n_out);
  downstream->n_in -= n_frames;
  gst_tfx_times_drop_marks (downstream);
}

void
gst_tfx_times_cut (GstTfxTimes *self, gsize n_kept, gsize n_frames)
{
  GstTfxTimes newer = { 0 };
  guint64 first = self->n_out + n_kept;
  gsize n_newer = self->n_in - first - n_frames;

  gst_tfx_times_split (&newer, self, n_newer);
  self->n_in = first;
  gst_tfx_times_drop_marks (self);
  gst_tfx_times_join (self, &newer);
  gst_tfx_times_clear (&newer);
}

/* ---- what goes out -------------------------------------------------------------- */

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
