/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtimes.c: timestamps of the input and of the output.
 *
 * From a mark on, times are counted from the mark's time.  Each discontiguous
 * timestamp of the input adds a mark, so the output reproduces it at the same
 * frame.
 */
#include "gsttfxtimes.h"

typedef struct
{
  guint64 frame;     /* first frame of the mark */
  guint64 origin;    /* the frame at pts and offset */
  GstClockTime pts;  /* when its playback begins, or none */
  guint64 offset;    /* or none */
  gboolean is_break; /* marked DISCONT */
} Mark;

/* Times are rounded down to nanoseconds, both upstream and here. */
#define ROUNDING 1

/* An event that follows a frame. */
typedef struct
{
  guint64 frame;
  GstEvent *event;
} HeldEvent;

static void
gst_tfx_times_free_event (gpointer item)
{
  HeldEvent *held = item;

  gst_clear_event (&held->event);
  g_free (held);
}

void
gst_tfx_times_reset (GstTfxTimes *self, guint rate)
{
  self->rate = rate;
  self->next = GST_CLOCK_TIME_NONE;
  self->n_since = 0;
  self->n_in = self->n_out = 0;
  self->first_mark = 0;
  if (self->marks)
    g_array_set_size (self->marks, 0);
  g_queue_clear_full (&self->events, gst_tfx_times_free_event);
}

void
gst_tfx_times_clear (GstTfxTimes *self)
{
  if (self->marks)
    g_array_unref (self->marks);
  self->marks = NULL;
  self->is_backwards = FALSE;
  gst_tfx_times_reset (self, 0);
}

/* ---- held frames --------------------------------------------------------- */

static Mark *
gst_tfx_times_mark (const GstTfxTimes *self, guint i)
{
  return &g_array_index (self->marks, Mark, i);
}

static Mark *
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
  return gst_tfx_times_end (self, mark->pts, frame - mark->origin);
}

static guint64
gst_tfx_times_offset (const GstTfxTimes *self, const Mark *mark, guint64 frame)
{
  const guint64 n_frames = frame - mark->origin;

  if (mark->offset == GST_BUFFER_OFFSET_NONE)
    return GST_BUFFER_OFFSET_NONE;
  return self->is_backwards ? mark->offset - MIN (mark->offset, n_frames)
                            : mark->offset + n_frames;
}

/* Whether the last mark gives this frame the same time and offset. */
static gboolean
gst_tfx_times_is_marked (const GstTfxTimes *self, guint64 frame,
    GstClockTime pts, guint64 offset)
{
  const Mark *last = gst_tfx_times_last_mark (self);
  GstClockTime expected;

  if (!last || offset != gst_tfx_times_offset (self, last, frame))
    return FALSE;
  expected = gst_tfx_times_pts (self, last, frame);
  return pts == expected ||
         (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (expected) &&
             (GstClockTime)ABS (GST_CLOCK_DIFF (pts, expected)) <= ROUNDING);
}

static void
gst_tfx_times_add_mark (GstTfxTimes *self, const Mark *mark)
{
  if (!self->marks)
    self->marks = g_array_new (FALSE, FALSE, sizeof (Mark));
  /* Reuses the space of passed marks. */
  if (self->first_mark > self->marks->len / 2) {
    g_array_remove_range (self->marks, 0, self->first_mark);
    self->first_mark = 0;
  }
  g_array_append_val (self->marks, *mark);
}

void
gst_tfx_times_add (GstTfxTimes *self, GstClockTime begin, guint64 offset,
    gsize n_frames, gboolean is_discont)
{
  Mark *last = gst_tfx_times_last_mark (self);
  Mark mark = { self->n_in, self->n_in, begin, offset, is_discont };

  if (self->is_backwards && mark.offset != GST_BUFFER_OFFSET_NONE)
    mark.offset += n_frames;
  /* Missing values continue from the last mark. */
  if (last && !GST_CLOCK_TIME_IS_VALID (mark.pts))
    mark.pts = gst_tfx_times_pts (self, last, self->n_in);
  if (last && mark.offset == GST_BUFFER_OFFSET_NONE)
    mark.offset = gst_tfx_times_offset (self, last, self->n_in);
  if (!gst_tfx_times_is_marked (self, self->n_in, mark.pts, mark.offset) ||
      (is_discont && last->frame < self->n_in))
    gst_tfx_times_add_mark (self, &mark);
  else if (is_discont)
    last->is_break = TRUE;
  self->n_in += n_frames;
}

void
gst_tfx_times_move_stamps (GstTfxTimes *self, GstClockTime next,
    GstClockTime begin)
{
  const Mark *last = gst_tfx_times_last_mark (self);
  Mark mark = { self->n_in, self->n_in, next, GST_BUFFER_OFFSET_NONE, FALSE };

  self->n_since =
      gst_util_uint64_scale_round (MAX (next, begin) - MIN (next, begin),
          self->rate, GST_SECOND);
  if (!GST_CLOCK_TIME_IS_VALID (self->next))
    return;
  self->next = next;
  if (!last)
    return;
  /* Frames without a timestamp continue from here too. */
  mark.offset = gst_tfx_times_offset (self, last, self->n_in);
  if (!gst_tfx_times_is_marked (self, self->n_in, mark.pts, mark.offset))
    gst_tfx_times_add_mark (self, &mark);
}

void
gst_tfx_times_pass (GstTfxTimes *self, gsize n_frames)
{
  self->n_out += n_frames;
  while (self->marks && self->first_mark + 1 < self->marks->len &&
         gst_tfx_times_mark (self, self->first_mark + 1)->frame <= self->n_out)
    self->first_mark++;
}

/* Shifts reference timestamps by the change of the buffer's time. */
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

guint64
gst_tfx_times_n_before_mark (const GstTfxTimes *self, guint64 n_frames)
{
  const guint next = self->first_mark + 1;
  guint64 frame = G_MAXUINT64;

  if (self->marks && next < self->marks->len)
    frame = gst_tfx_times_mark (self, next)->frame;
  return MIN (n_frames, frame - self->n_out);
}

/* Whether a mark's time differs by more than jitter from the time counted from
 * the first mark. */
static gboolean
gst_tfx_times_is_far (const GstTfxTimes *self, const Mark *mark)
{
  const GstClockTime expected = gst_tfx_times_pts (self,
      gst_tfx_times_mark (self, self->first_mark), mark->frame);

  return GST_CLOCK_TIME_IS_VALID (expected) &&
         GST_CLOCK_TIME_IS_VALID (mark->pts) &&
         ABS (GST_CLOCK_DIFF (expected, mark->pts)) >
             (GstClockTimeDiff)GST_TFX_TIMES_THRESHOLD;
}

guint64
gst_tfx_times_n_before_break (const GstTfxTimes *self, guint64 n_frames)
{
  const guint n = self->marks ? self->marks->len : 0;

  for (guint i = self->first_mark + 1; i < n; i++) {
    const Mark *mark = gst_tfx_times_mark (self, i);

    if (mark->frame >= self->n_out + n_frames)
      break;
    if (mark->is_break || gst_tfx_times_is_far (self, mark))
      return mark->frame - self->n_out;
  }
  return n_frames;
}

gboolean
gst_tfx_times_is_at_break (const GstTfxTimes *self)
{
  const Mark *mark = gst_tfx_times_mark (self, self->first_mark);

  return mark->is_break && mark->frame == self->n_out;
}

GstClockTime
gst_tfx_times_end_out (const GstTfxTimes *self, guint64 n_frames)
{
  return gst_tfx_times_pts (self, gst_tfx_times_mark (self, self->first_mark),
      self->n_out + n_frames);
}

void
gst_tfx_times_stamp (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames)
{
  GstClockTime old_pts = GST_BUFFER_PTS (buffer);
  const Mark *mark = gst_tfx_times_mark (self, self->first_mark);
  /* In the order of the samples in the buffer. */
  guint64 first = self->n_out, last = first + n_frames;

  if (self->is_backwards) {
    last = first;
    first += n_frames;
  }
  GST_BUFFER_PTS (buffer) = gst_tfx_times_pts (self, mark, first);
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_DURATION (buffer) =
        gst_tfx_times_pts (self, mark, last) - GST_BUFFER_PTS (buffer);
  else if (GST_BUFFER_DURATION_IS_VALID (buffer))
    GST_BUFFER_DURATION (buffer) =
        gst_util_uint64_scale (n_frames, GST_SECOND, self->rate);
  GST_BUFFER_OFFSET (buffer) = gst_tfx_times_offset (self, mark, first);
  GST_BUFFER_OFFSET_END (buffer) = gst_tfx_times_offset (self, mark, last);

  if (GST_CLOCK_TIME_IS_VALID (old_pts) && GST_BUFFER_PTS_IS_VALID (buffer)) {
    GstClockTimeDiff by = GST_CLOCK_DIFF (old_pts, GST_BUFFER_PTS (buffer));

    gst_buffer_foreach_meta (buffer, gst_tfx_times_move_reference, &by);
  }
  gst_tfx_times_pass (self, n_frames);
}

GstClockTime
gst_tfx_times_next_out (const GstTfxTimes *self)
{
  const guint n = self->marks ? self->marks->len : 0;

  return n > self->first_mark
             ? gst_tfx_times_pts (self,
                   gst_tfx_times_mark (self, self->first_mark), self->n_out)
             : GST_CLOCK_TIME_NONE;
}

/* ---- events -------------------------------------------------------------- */

void
gst_tfx_times_hold_event (GstTfxTimes *self, GstEvent *event)
{
  HeldEvent *held = g_new (HeldEvent, 1);

  held->frame = self->n_in;
  held->event = event;
  g_queue_push_tail (&self->events, held);
}

guint64
gst_tfx_times_n_before_event (const GstTfxTimes *self)
{
  const HeldEvent *held = g_queue_peek_head ((GQueue *)&self->events);

  return held ? held->frame - self->n_out : G_MAXUINT64;
}

static GstEvent *
gst_tfx_times_take_link (GstTfxTimes *self, GList *link)
{
  HeldEvent *held = link ? link->data : NULL;
  GstEvent *event = held ? g_steal_pointer (&held->event) : NULL;

  if (held)
    g_queue_delete_link (&self->events, link);
  g_free (held);
  return event;
}

GstEvent *
gst_tfx_times_take_event (GstTfxTimes *self)
{
  return gst_tfx_times_take_link (self, self->events.head);
}

GstEvent *
gst_tfx_times_take_start (GstTfxTimes *self)
{
  GList *first = NULL;

  for (GList *l = self->events.tail; l; l = l->prev) {
    const GstEventType type = GST_EVENT_TYPE (((HeldEvent *)l->data)->event);

    if ((first || type == GST_EVENT_STREAM_START) && type != GST_EVENT_SEGMENT)
      first = l;
  }
  return gst_tfx_times_take_link (self, first);
}

GstEvent *
gst_tfx_times_pop_event (GstTfxTimes *self)
{
  return gst_tfx_times_n_before_event (self) > 0
             ? NULL
             : gst_tfx_times_take_event (self);
}
