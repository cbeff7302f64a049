/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtail.c: what a filter still holds or rings when no samples come: at the
 * end of a stream, and in a gap.
 *
 * A filter with a delay d puts out, for each buffer, the frames that came d
 * frames earlier.  The first d outputs stand before the start of the stream and
 * are dropped; d more come when it ends.  So as many frames go out as come in,
 * and each of them has the time that it came with.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Frames that are run at a time. */
#define MAX_TAIL_FRAMES 65536
#define MAX_GAP_FRAMES 4096

/* ---- the end ------------------------------------------------------------------------ */

void
gst_tfx_tail_reset (GstTfxElement *self, const gchar *because)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (!priv->filter)
    return;
  if (priv->is_running) {
    gst_tfx_pending_flush (priv->filter);
    tfx_filter_lock (priv->filter->filter);
    tfx_filter_reset (priv->filter->filter);
    tfx_filter_unlock (priv->filter->filter);
    GST_DEBUG_OBJECT (self, "%s: the filter starts afresh", because);
  }
  priv->is_running = FALSE;
  priv->is_identity = FALSE;
  priv->may_be_identity = priv->delay == 0;
  priv->skip = priv->delay;
  gst_tfx_times_reset (&priv->times, priv->spec.rate_hz);
  /* No delay has to be kept any more. */
  if (priv->is_step || priv->excess_delay > 0 || priv->waits_for_rest)
    g_atomic_int_set (&priv->dirty, TRUE);
  priv->is_step = FALSE;
}

/* Sends what the filter holds. */
static GstFlowReturn
gst_tfx_tail_drain (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gsize left = priv->is_running ? priv->delay : 0;
  GstFlowReturn flow = GST_FLOW_OK;

  while (left > 0 && flow == GST_FLOW_OK) {
    gsize n_frames = MIN (left, MAX_TAIL_FRAMES);
    GstBuffer *buffer = gst_tfx_run_silence (self, n_frames);

    flow = buffer ? gst_tfx_out_send (self, buffer, n_frames) : GST_FLOW_ERROR;
    left -= n_frames;
  }
  return flow;
}

GstFlowReturn
gst_tfx_tail_end (GstTfxElement *self, const gchar *because)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = gst_tfx_tail_drain (self);

  gst_tfx_out_push_events (priv);
  gst_tfx_tail_reset (self, because);
  return flow;
}

/* ---- gaps ------------------------------------------------------------------------------ */

/* Whether what is left of a gap may go by without samples: a gap has to say when it
 * is, so frames that are held and have no time go out as they came. */
static gboolean
gst_tfx_tail_may_pass (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  return (priv->delay == 0 ||
             GST_CLOCK_TIME_IS_VALID (gst_tfx_times_next_out (&priv->times))) &&
         gst_tfx_run_is_silent (self);
}

/* Time goes by.  Where curves are followed, so that what comes next finds the values
 * where they are then, as if it were samples, which are all 0. */
static gboolean
gst_tfx_tail_pass (GstTfxElement *self, guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  while (priv->control.is_followed && n_frames > 0) {
    const gsize n = MIN (n_frames, MAX_GAP_FRAMES);
    GstBuffer *silence;

    /* Nothing is pushed that would tell. */
    if (GST_PAD_IS_FLUSHING (priv->src))
      return FALSE;
    silence = gst_tfx_run_silence (self, n);
    if (!silence)
      return FALSE;
    gst_buffer_unref (silence);
    n_frames -= n;
  }
  gst_tfx_run_pass (self, n_frames);
  return TRUE;
}

static gboolean
gst_tfx_tail_push_gap (GstTfxElementPrivate *priv, GstClockTime start,
    guint64 n_frames, GstGapFlags flags)
{
  GstEvent *gap = gst_event_new_gap (start,
      gst_util_uint64_scale (n_frames, GST_SECOND, priv->times.rate));

  gst_event_set_gap_flags (gap, flags);
  return gst_pad_push_event (priv->src, gap);
}

/* The time of a gap that is not heard goes by downstream too, with the events that
 * were held for it. */
static gboolean
gst_tfx_tail_send_gap (GstTfxElement *self, GstClockTime start,
    guint64 n_frames, GstGapFlags flags)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gsize skip = MIN (priv->skip, n_frames);
  gboolean ret = TRUE;

  if (!gst_tfx_tail_pass (self, n_frames))
    return FALSE;
  if (priv->delay == 0)
    return gst_tfx_tail_push_gap (priv, start, n_frames, flags);
  gst_tfx_times_add (&priv->times, start, GST_BUFFER_OFFSET_NONE, n_frames,
      FALSE);
  priv->skip -= skip;
  n_frames -= skip;
  while (n_frames > 0) {
    guint64 n;

    gst_tfx_out_push_events (priv);
    n = MIN (n_frames, gst_tfx_times_n_before_event (&priv->times));
    n = gst_tfx_times_n_before_break (&priv->times, n);
    priv->discont_out |= gst_tfx_times_is_at_break (&priv->times);
    ret = gst_tfx_tail_push_gap (priv, gst_tfx_times_next_out (&priv->times), n,
        flags);
    gst_tfx_times_pass (&priv->times, n);
    n_frames -= n;
  }
  return ret;
}

/* An event that comes behind frames which are still held waits for them. */
gboolean
gst_tfx_tail_forward (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (priv->delay > 0 && priv->is_running &&
      gst_tfx_times_held (&priv->times) > 0) {
    gst_tfx_times_hold_event (&priv->times, event);
    return TRUE;
  }
  return gst_pad_push_event (priv->src, event);
}

/* Some of the ringing goes out as samples. */
static GstFlowReturn
gst_tfx_tail_ring (GstTfxElement *self, GstClockTime start, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *buffer = gst_tfx_run_silence (self, n_frames);

  if (!buffer)
    return GST_FLOW_ERROR;
  GST_BUFFER_PTS (buffer) = start;
  GST_BUFFER_DURATION (buffer) =
      gst_util_uint64_scale (n_frames, GST_SECOND, priv->times.rate);
  if (priv->delay > 0)
    gst_tfx_times_add (&priv->times, start, GST_BUFFER_OFFSET_NONE, n_frames,
        FALSE);
  return gst_tfx_out_send (self, buffer, n_frames);
}

/* Where the gap begins, and how many frames it has: counted from where the stamps
 * have led so far, so that neither rounding nor one that is a little off adds up. */
static GstClockTime
gst_tfx_tail_measure (GstTfxElement *self, GstEvent *event, guint64 *n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstClockTime next = gst_tfx_times_expected (&priv->times);
  GstClockTime start, duration;
  guint rate = priv->times.rate;

  *n_frames = 0;
  gst_event_parse_gap (event, &start, &duration);
  if (!GST_CLOCK_TIME_IS_VALID (start) || !GST_CLOCK_TIME_IS_VALID (duration))
    return start;
  duration += start;
  if (GST_CLOCK_TIME_IS_VALID (next) &&
      ABS (GST_CLOCK_DIFF (next, start)) <=
          (GstClockTimeDiff)GST_TFX_TIMES_THRESHOLD)
    start = next;
  if (duration > start)
    *n_frames =
        gst_util_uint64_scale_round (duration - start, rate, GST_SECOND);
  return start;
}

/* Whether the times jump in front of the gap. */
static gboolean
gst_tfx_tail_is_elsewhere (GstTfxElement *self, GstEvent *event)
{
  GstClockTime start, next;

  gst_event_parse_gap (event, &start, NULL);
  next = gst_tfx_element_get_private (self)->times.next;
  return GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (next) &&
         ABS (GST_CLOCK_DIFF (next, start)) >=
             (GstClockTimeDiff)GST_TFX_TIMES_WAIT;
}

/* What was set by hand, and curves that there are by now, as in front of a buffer. */
static void
gst_tfx_tail_set_values (GstTfxElement *self, GstClockTime start)
{
  gst_tfx_control_enter (self, start);
  if (g_atomic_int_get (&gst_tfx_element_get_private (self)->dirty))
    gst_tfx_settings_update (self);
}

gboolean
gst_tfx_tail_gap (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  GstGapFlags flags;
  GstClockTime start;
  guint64 left;

  if (!priv->is_running || priv->segment.format != GST_FORMAT_TIME ||
      priv->segment.rate < 0.0)
    return gst_tfx_tail_forward (self, event);
  if (gst_tfx_tail_is_elsewhere (self, event)) {
    gst_tfx_tail_end (self, "gap in the times");
    return gst_tfx_tail_forward (self, event);
  }
  start = gst_tfx_tail_measure (self, event, &left);
  if (left == 0)
    return gst_tfx_tail_forward (self, event);
  gst_tfx_tail_set_values (self, start);

  while (left > 0 && flow == GST_FLOW_OK && !gst_tfx_tail_may_pass (self)) {
    gsize n_frames = MIN (left, MAX_GAP_FRAMES);

    gst_tfx_times_see_stamp (&priv->times, start, n_frames, FALSE);
    flow = gst_tfx_tail_ring (self, start, n_frames);
    left -= n_frames;
    start = priv->times.next;
  }
  gst_event_parse_gap_flags (event, &flags);
  gst_event_unref (event);
  if (left > 0 && flow == GST_FLOW_OK) {
    gst_tfx_times_see_stamp (&priv->times, start, left, FALSE);
    return gst_tfx_tail_send_gap (self, start, left, flags);
  }
  return flow == GST_FLOW_OK;
}
