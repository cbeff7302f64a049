/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtimes.h: timestamps of the input and of the output.
 *
 * Input frames are numbered from the start of the stream.  If a filter has
 * latency, each output frame has the time and the offset of the input frame
 * with the same number, and events wait for the frames before them.
 */
#ifndef GST_TFX_TIMES_H
#define GST_TFX_TIMES_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Initialize with zeros; release with gst_tfx_times_clear(). */
typedef struct
{
  guint rate;
  gboolean is_backwards; /* negative rate: times run downwards */
  /* The timestamps of the input. */
  GstClockTime next; /* where the last frame ended, or none */
  guint64 n_since;   /* frames without a timestamp since the segment began */
  /* Held frames. */
  guint64 n_in, n_out; /* since the last reset */
  GArray *marks;       /* starts of contiguous times */
  guint first_mark;    /* index of the mark of frame n_out */
  GQueue events;       /* HeldEvent */
} GstTfxTimes;

/* Starts a stream at @rate Hz; drops held events. */
void gst_tfx_times_reset (GstTfxTimes *self, guint rate);

void gst_tfx_times_clear (GstTfxTimes *self);

/* ---- timestamps of the input --------------------------------------------- */

/* A timestamp is a break if it is off by GST_TFX_TIMES_JUMP, or by more than
 * GST_TFX_TIMES_THRESHOLD in a buffer marked DISCONT.  Smaller errors are
 * jitter or a drifting clock. */
#define GST_TFX_TIMES_THRESHOLD (40 * GST_MSECOND)
#define GST_TFX_TIMES_JUMP GST_SECOND

/* Whether there is a break before frames whose playback begins at this time (or
 * none). */
static inline gboolean
gst_tfx_times_is_break (const GstTfxTimes *self, GstClockTime stamp,
    gboolean is_marked)
{
  if (!GST_CLOCK_TIME_IS_VALID (stamp) || !GST_CLOCK_TIME_IS_VALID (self->next))
    return is_marked;
  return (GstClockTime)ABS (GST_CLOCK_DIFF (self->next, stamp)) >=
         (is_marked ? GST_TFX_TIMES_THRESHOLD + 1 : GST_TFX_TIMES_JUMP);
}

/* When the playback of n_frames with this timestamp (or none) begins: at their
 * end if the stream plays backwards. */
static inline GstClockTime
gst_tfx_times_begin (const GstTfxTimes *self, GstClockTime stamp,
    guint64 n_frames)
{
  return self->is_backwards && GST_CLOCK_TIME_IS_VALID (stamp)
             ? stamp + n_frames * GST_SECOND / self->rate
             : stamp;
}

/* When the playback of n_frames ends; never before 0. */
static inline GstClockTime
gst_tfx_times_end (const GstTfxTimes *self, GstClockTime begin,
    guint64 n_frames)
{
  const GstClockTime duration =
      n_frames <= G_MAXUINT32
          ? n_frames * GST_SECOND / self->rate
          : gst_util_uint64_scale (n_frames, GST_SECOND, self->rate);

  return self->is_backwards ? begin - MIN (begin, duration) : begin + duration;
}

/* Counts frames whose playback begins at this time (or none). */
static inline void
gst_tfx_times_advance (GstTfxTimes *self, GstClockTime stamp, guint64 n_frames)
{
  if (GST_CLOCK_TIME_IS_VALID (stamp))
    self->next = stamp;
  if (GST_CLOCK_TIME_IS_VALID (self->next))
    self->next = gst_tfx_times_end (self, self->next, n_frames);
  else
    self->n_since += n_frames;
}

/* Continues in another segment: the next frame begins at @next, the segment at
 * @begin. */
void gst_tfx_times_move_stamps (GstTfxTimes *self, GstClockTime next,
    GstClockTime begin);

/* ---- held frames --------------------------------------------------------- */

/* Number of held frames. */
static inline guint64
gst_tfx_times_held (const GstTfxTimes *self)
{
  return self->n_in - self->n_out;
}

/* Adds @n_frames of input: when their playback begins, the buffer's offset, and
 * whether it is marked DISCONT. */
void gst_tfx_times_add (GstTfxTimes *self, GstClockTime begin, guint64 offset,
    gsize n_frames, gboolean is_discont);

/* Number of the next @n_frames with contiguous timestamps. */
guint64 gst_tfx_times_n_before_mark (const GstTfxTimes *self, guint64 n_frames);

/* Number of the next @n_frames before a DISCONT mark or a timestamp that is off
 * by more than jitter. */
guint64
gst_tfx_times_n_before_break (const GstTfxTimes *self, guint64 n_frames);

/* Whether the next output frame is the first after a DISCONT mark.  Requires a
 * held frame. */
gboolean gst_tfx_times_is_at_break (const GstTfxTimes *self);

/* When the next @n_frames end as one buffer, or none. */
GstClockTime gst_tfx_times_end_out (const GstTfxTimes *self, guint64 n_frames);

/* Stamps @buffer with the times of the next @n_frames, and passes them. */
void gst_tfx_times_stamp (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames);

/* When the next output frame begins, or none. */
GstClockTime gst_tfx_times_next_out (const GstTfxTimes *self);

/* Passes the next @n_frames. */
void gst_tfx_times_pass (GstTfxTimes *self, gsize n_frames);

/* Holds an event until all held frames are passed.  Takes it. */
void gst_tfx_times_hold_event (GstTfxTimes *self, GstEvent *event);

/* Takes the next event if it is due, or NULL. */
GstEvent *gst_tfx_times_pop_event (GstTfxTimes *self);

/* Takes the first event up to the last STREAM_START, due or not, but no
 * SEGMENT; NULL if there is none.  New caps must follow these events. */
GstEvent *gst_tfx_times_take_start (GstTfxTimes *self);

/* Takes the next event, due or not, or NULL. */
GstEvent *gst_tfx_times_take_event (GstTfxTimes *self);

/* Number of frames before the next event is due. */
guint64 gst_tfx_times_n_before_event (const GstTfxTimes *self);

G_END_DECLS

#endif /* GST_TFX_TIMES_H */
