/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtimes.h: the times of the frames that come and go.
 *
 * Input frames are numbered from the start of the stream.  Where a filter holds
 * frames back, each output frame has the time and the offset of the input frame
 * with the same number, and events wait for the frames that came before them.
 */
#ifndef GST_TFX_TIMES_H
#define GST_TFX_TIMES_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Starts with all zero, ends with gst_tfx_times_clear(). */
typedef struct
{
  guint rate;
  gboolean is_backwards; /* each buffer is played from its end to its start */
  /* The timestamps of the input. */
  GstClockTime next; /* where the last frame ended, or none */
  guint64 n_since;   /* frames without a timestamp since the segment began */
  /* Frames that are held. */
  guint64 n_in, n_out; /* since the last reset */
  GArray *marks;       /* where a run of contiguous times begins */
  guint first_mark;    /* the first that is needed still */
  GQueue events;       /* that wait for frames */
} GstTfxTimes;

/* A stream begins at @rate Hz. */
void gst_tfx_times_reset (GstTfxTimes *self, guint rate);

void gst_tfx_times_clear (GstTfxTimes *self);

/* ---- the stamps of the input ------------------------------------------------------- */

/* Timestamps that are further off than this are a break in the stream: of a buffer
 * marked DISCONT, and of any other.  What is less is jitter, or a clock that is not
 * that of the samples. */
#define GST_TFX_TIMES_THRESHOLD (40 * GST_MSECOND)
#define GST_TFX_TIMES_WAIT GST_SECOND

/* Whether the stream breaks off before frames whose playback begins at this time,
 * or none. */
static inline gboolean
gst_tfx_times_is_break (const GstTfxTimes *self, GstClockTime stamp,
    gboolean is_marked)
{
  if (!GST_CLOCK_TIME_IS_VALID (stamp) || !GST_CLOCK_TIME_IS_VALID (self->next))
    return is_marked;
  return (GstClockTime)ABS (GST_CLOCK_DIFF (self->next, stamp)) >=
         (is_marked ? GST_TFX_TIMES_THRESHOLD + 1 : GST_TFX_TIMES_WAIT);
}

/* Where the playback of n_frames begins that have this timestamp, or none: at
 * their end if the stream plays backwards. */
static inline GstClockTime
gst_tfx_times_begin (const GstTfxTimes *self, GstClockTime stamp,
    guint64 n_frames)
{
  return self->is_backwards && GST_CLOCK_TIME_IS_VALID (stamp)
             ? stamp + n_frames * GST_SECOND / self->rate
             : stamp;
}

/* Where n_frames of playback end that begin there; never before 0. */
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

/* Frames come whose playback begins at this time, or none. */
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

/* Another segment goes on where the last one ended: at @next, where that begins at
 * @begin. */
void gst_tfx_times_move_stamps (GstTfxTimes *self, GstClockTime next,
    GstClockTime begin);

/* ---- frames that are held ------------------------------------------------------------- */

/* The frames that have come and not gone out. */
static inline guint64
gst_tfx_times_held (const GstTfxTimes *self)
{
  return self->n_in - self->n_out;
}

/* @n_frames have come in: where their playback begins, and their offset.  Those of a buffer that @is_discont have
 * that mark where they go out. */
void gst_tfx_times_add (GstTfxTimes *self, GstClockTime pts, guint64 offset,
    gsize n_frames, gboolean is_discont);

/* How many of the next @n_frames come before one that came with a stamp which does
 * not go on from theirs. */
guint64 gst_tfx_times_n_before_mark (const GstTfxTimes *self, guint64 n_frames);

/* How many of the next @n_frames come before a break, or before stamps that are off by
 * more than jitter. */
guint64
gst_tfx_times_n_before_break (const GstTfxTimes *self, guint64 n_frames);

/* Whether the next frame that goes out, of at least one that has come, is the first
 * behind a break. */
gboolean gst_tfx_times_is_at_break (const GstTfxTimes *self);

/* Where @n_frames end that go out as one buffer, or none. */
GstClockTime gst_tfx_times_end_out (const GstTfxTimes *self, guint64 n_frames);

/* The next @n_frames go out in @buffer: it gets their times. */
void gst_tfx_times_stamp (GstTfxTimes *self, GstBuffer *buffer, gsize n_frames);

/* The time of the next frame that goes out, or none. */
GstClockTime gst_tfx_times_next_out (const GstTfxTimes *self);

/* The next @n_frames go out with the times that they have. */
void gst_tfx_times_pass (GstTfxTimes *self, gsize n_frames);

/* An event that comes behind all the frames that have come.  Takes it. */
void gst_tfx_times_hold_event (GstTfxTimes *self, GstEvent *event);

/* The next event that is due, or NULL. */
GstEvent *gst_tfx_times_pop_event (GstTfxTimes *self);

/* Other caps come.  The next event up to the last STREAM_START, which precedes them,
 * but no SEGMENT; NULL if there is none. */
GstEvent *gst_tfx_times_take_start (GstTfxTimes *self);

/* The next event whether it is due or not, or NULL. */
GstEvent *gst_tfx_times_take_event (GstTfxTimes *self);

/* So many frames may go out before an event is due. */
guint64 gst_tfx_times_n_before_event (const GstTfxTimes *self);

G_END_DECLS

#endif /* GST_TFX_TIMES_H */
