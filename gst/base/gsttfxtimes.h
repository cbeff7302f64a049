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
  /* Whether the stamps go on. */
  GstClockTime next;   /* that of the next frame, or none */
  GstClockTime anchor; /* a time that held: the frames since are counted */
  guint64 n_since;
  GstClockTime off_since; /* stamps have been off since then, or none */
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

/* How far the stamps may be off: what is more for longer than a second is a gap
 * in the stream, what is less is jitter.  As in GStreamer's audio sinks. */
#define GST_TFX_TIMES_THRESHOLD (40 * GST_MSECOND)
#define GST_TFX_TIMES_WAIT GST_SECOND

/* Where the stamps have led so far, or none. */
GstClockTime gst_tfx_times_expected (const GstTfxTimes *self);

/* A buffer of @n_frames comes with this stamp (or none).  TRUE if the stream has
 * a gap in front of it; it then counts from there, as it does where the stream itself
 * says that it @is_break, and goes on. */
gboolean gst_tfx_times_see_stamp (GstTfxTimes *self, GstClockTime stamp,
    gsize n_frames, gboolean is_break);

/* The same where the stamps plainly go on: FALSE if that has to be looked at. */
static inline gboolean
gst_tfx_times_goes_on (GstTfxTimes *self, GstClockTime stamp, gsize n_frames)
{
  GstClockTime end = stamp + n_frames * GST_SECOND / self->rate;

  if (stamp == GST_CLOCK_TIME_NONE || self->off_since != GST_CLOCK_TIME_NONE ||
      self->next == GST_CLOCK_TIME_NONE || stamp + 1000 < self->next ||
      stamp > self->next + 1000)
    return FALSE;
  self->next = end;
  self->anchor = stamp;
  self->n_since = n_frames;
  return TRUE;
}

/* Other stamps mean what these did: the stream goes on at @stamp. */
void gst_tfx_times_move_stamps (GstTfxTimes *self, GstClockTime stamp);

/* ---- frames that are held ------------------------------------------------------------- */

/* The frames that have come and not gone out. */
static inline guint64
gst_tfx_times_held (const GstTfxTimes *self)
{
  return self->n_in - self->n_out;
}

/* @n_frames have come in with these stamps.  Those of a buffer that @is_discont have
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

/* The next event whether it is due or not, or NULL. */
GstEvent *gst_tfx_times_take_event (GstTfxTimes *self);

/* So many frames may go out before an event is due. */
guint64 gst_tfx_times_n_before_event (const GstTfxTimes *self);

G_END_DECLS

#endif /* GST_TFX_TIMES_H */
