/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtail.c: drains the filter at the end of a stream, and filters gaps.
 *
 * A filter with latency d outputs each frame d frames late.  The first d output
 * frames lie before the start of the stream and are dropped; draining outputs d
 * more.  Every input frame therefore has one output frame, with its time.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Limits of a buffer of silence. */
#define MAX_TAIL_BYTES ((gsize)1 << 20)
#define MAX_TAIL_FRAMES 65536
#define MAX_GAP_FRAMES 4096

/* ---- the end ------------------------------------------------------------- */

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
    GST_INFO_OBJECT (self, "reset: %s", because);
  }
  if (gst_tfx_times_held (&priv->times) > 0)
    GST_DEBUG_OBJECT (self, "dropped %" G_GUINT64_FORMAT " held frames: %s",
        gst_tfx_times_held (&priv->times), because);
  priv->is_running = FALSE;
  priv->is_identity = FALSE;
  priv->may_be_identity = priv->delay == 0;
  priv->skip = priv->delay;
  gst_tfx_times_reset (&priv->times, priv->spec.rate_hz);
  /* At rest the delay may become smaller. */
  if (priv->is_step || priv->excess_delay > 0 || priv->waits_for_rest)
    g_atomic_int_set (&priv->dirty, TRUE);
  priv->is_step = FALSE;
}

/* Number of frames for the next buffer of silence. */
static gsize
gst_tfx_tail_count (const GstTfxElementPrivate *priv, guint64 left, gsize most)
{
  const gsize n_fit = MAX_TAIL_BYTES / GST_AUDIO_INFO_BPF (&priv->info);

  return MIN (left, CLAMP (n_fit, 1, most));
}

GstFlowReturn
gst_tfx_tail_end (GstTfxElement *self, const gchar *because)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gsize left = priv->is_running ? priv->delay : 0;
  GstFlowReturn flow = GST_FLOW_OK;
  GstEvent *event;

  if (left > 0)
    GST_DEBUG_OBJECT (self, "draining %" G_GSIZE_FORMAT " frames: %s", left,
        because);
  while (left > 0 && flow == GST_FLOW_OK) {
    gsize n_frames = gst_tfx_tail_count (priv, left, MAX_TAIL_FRAMES);
    GstBuffer *buffer = gst_tfx_run_silence (self, n_frames);

    flow = buffer ? gst_tfx_out_send (self, buffer, n_frames) : GST_FLOW_ERROR;
    left -= n_frames;
  }
  /* Events are sent even if downstream refuses their frames. */
  while ((event = gst_tfx_times_take_event (&priv->times)))
    gst_pad_push_event (priv->src, event);
  gst_tfx_tail_reset (self, because);
  return flow;
}

/* ---- gaps ---------------------------------------------------------------- */

/* Whether the rest of a gap can be sent as an event.  A GAP event requires a
 * time, so held frames without one are sent as buffers. */
static gboolean
gst_tfx_tail_may_pass (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  return (priv->delay == 0 ||
             GST_CLOCK_TIME_IS_VALID (gst_tfx_times_next_out (&priv->times))) &&
         gst_tfx_run_is_silent (self);
}

/* Advances a silent filter by n_frames.  Under a curve it filters silence, so
 * that its values are right after the gap. */
static gboolean
gst_tfx_tail_pass (GstTfxElement *self, guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  while (priv->control.is_followed && n_frames > 0) {
    const gsize n = gst_tfx_tail_count (priv, n_frames, MAX_GAP_FRAMES);
    GstBuffer *silence;

    /* No push returns FLUSHING here. */
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

/* Pushes a part of a GAP event. */
static gboolean
gst_tfx_tail_push_gap (GstTfxElementPrivate *priv, GstEvent *event,
    GstClockTime start, guint64 n_frames)
{
  const GstClockTime end = gst_tfx_times_end (&priv->times, start, n_frames);
  GstEvent *gap =
      gst_event_new_gap (MIN (start, end), MAX (start, end) - MIN (start, end));
  GstGapFlags flags;

  gst_event_parse_gap_flags (event, &flags);
  gst_event_set_gap_flags (gap, flags);
  gst_event_set_seqnum (gap, gst_event_get_seqnum (event));
  return gst_pad_push_event (priv->src, gap);
}

/* Sends the rest of a GAP event, in parts between held events. */
static gboolean
gst_tfx_tail_send_gap (GstTfxElement *self, GstEvent *event, GstClockTime start,
    guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gsize skip = MIN (priv->skip, n_frames);
  gboolean ret = TRUE;

  if (!gst_tfx_tail_pass (self, n_frames))
    return FALSE;
  if (priv->delay == 0)
    return gst_tfx_tail_push_gap (priv, event, start, n_frames);
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
    ret = gst_tfx_tail_push_gap (priv, event,
        gst_tfx_times_next_out (&priv->times), n);
    gst_tfx_times_pass (&priv->times, n);
    n_frames -= n;
  }
  return ret;
}

/* Events wait for held frames. */
gboolean
gst_tfx_tail_forward (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (priv->delay > 0 && priv->is_running &&
      gst_tfx_times_held (&priv->times) > 0) {
    GST_LOG_OBJECT (self,
        "holding %" GST_PTR_FORMAT " for %" G_GUINT64_FORMAT " frames", event,
        gst_tfx_times_held (&priv->times));
    gst_tfx_times_hold_event (&priv->times, event);
    return TRUE;
  }
  return gst_pad_push_event (priv->src, event);
}

/* Sends n_frames of the decay in a gap. */
static GstFlowReturn
gst_tfx_tail_ring (GstTfxElement *self, GstClockTime start, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *buffer = gst_tfx_run_silence (self, n_frames);
  GstClockTime end;

  if (!buffer)
    return GST_FLOW_ERROR;
  end = gst_tfx_times_end (&priv->times, start, n_frames);
  GST_BUFFER_PTS (buffer) = MIN (start, end);
  GST_BUFFER_DURATION (buffer) = MAX (start, end) - MIN (start, end);
  if (priv->delay > 0)
    gst_tfx_times_add (&priv->times, start, GST_BUFFER_OFFSET_NONE, n_frames,
        FALSE);
  return gst_tfx_out_send (self, buffer, n_frames);
}

/* Applies property changes and curves, as before a buffer. */
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
  const guint rate = priv->times.rate;
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime start, duration;
  gboolean ok = TRUE;
  guint64 left = 0;

  gst_event_parse_gap (event, &start, &duration);
  /* Counted from 0, so rounding errors of adjacent gaps do not accumulate. */
  if (GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (duration))
    left = gst_util_uint64_scale_round (start + duration, rate, GST_SECOND) -
           gst_util_uint64_scale_round (start, rate, GST_SECOND);
  if (priv->times.is_backwards && left > 0)
    start += duration;
  if (gst_tfx_times_is_break (&priv->times, start, FALSE))
    gst_tfx_tail_end (self, "a gap that is not contiguous");
  if (!priv->is_running || priv->segment.format != GST_FORMAT_TIME || left == 0)
    return gst_tfx_tail_forward (self, event);
  gst_tfx_tail_set_values (self, start);
  GST_LOG_OBJECT (self,
      "gap of %" G_GUINT64_FORMAT " frames at %" GST_TIME_FORMAT, left,
      GST_TIME_ARGS (start));

  while (left > 0 && flow == GST_FLOW_OK && !gst_tfx_tail_may_pass (self)) {
    gsize n_frames = gst_tfx_tail_count (priv, left, MAX_GAP_FRAMES);

    gst_tfx_times_advance (&priv->times, start, n_frames);
    flow = gst_tfx_tail_ring (self, start, n_frames);
    left -= n_frames;
    start = priv->times.next;
  }
  if (left > 0 && flow == GST_FLOW_OK) {
    GST_LOG_OBJECT (self,
        "the filter is silent: %" G_GUINT64_FORMAT " frames stay a gap", left);
    gst_tfx_times_advance (&priv->times, start, left);
    ok = gst_tfx_tail_send_gap (self, event, start, left);
  }
  gst_event_unref (event);
  return ok && flow == GST_FLOW_OK;
}
