/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxout.c: the output of a GstTfxElement: timestamps, drain, reset and
 * gaps.
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

/* ---- buffers ------------------------------------------------------------- */

/* Converts to the number of output channels; NULL after an error message. */
static GstBuffer *
gst_tfx_out_narrow (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstAudioInfo info =
      gst_tfx_channels_make_info (&priv->info, priv->channels.out);
  GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  const gsize n_frames =
      meta ? meta->samples
           : gst_buffer_get_size (buffer) / GST_AUDIO_INFO_BPF (&priv->info);

  buffer = gst_tfx_channels_convert (buffer, &priv->info, &info, n_frames);
  if (!buffer)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory for %" G_GSIZE_FORMAT " frames.", n_frames), (NULL));
  return buffer;
}

GstFlowReturn
gst_tfx_out_push (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstClockTime end = gst_tfx_out_end (buffer);

  if (G_UNLIKELY (priv->times.is_backwards))
    gst_tfx_stream_reverse (self, buffer);
  if (G_UNLIKELY (priv->channels.out != priv->channels.most))
    buffer = gst_tfx_out_narrow (self, buffer);
  if (!buffer)
    return GST_FLOW_ERROR;
  if (GST_CLOCK_TIME_IS_VALID (end))
    __atomic_store_n (&priv->position_out, end, __ATOMIC_RELAXED);
  return gst_pad_push (priv->src, buffer);
}

/* Pushes the held events that are due: the frames before them have been
 * pushed. */
static void
gst_tfx_out_push_events (GstTfxElementPrivate *priv)
{
  GstEvent *event;

  while ((event = gst_tfx_times_pop_event (&priv->times)))
    gst_pad_push_event (priv->src, event);
}

/* Number of the next n_frames that one buffer can hold.  It ends before a
 * break, and at the next mark if its first frame has no time, or if jitter of
 * the timestamps would move its end out of the segment. */
static guint64
gst_tfx_out_count_inside (const GstTfxElementPrivate *priv, guint64 n_frames)
{
  const GstTfxTimes *times = &priv->times;
  const guint64 n_most = gst_tfx_times_n_before_break (times, n_frames);
  const guint64 n_first = gst_tfx_times_n_before_mark (times, n_most);
  const GstSegment *segment;
  gboolean is_outside = FALSE;
  GstEvent *event;

  if (G_LIKELY (n_first == n_most))
    return n_most;
  if (!GST_CLOCK_TIME_IS_VALID (gst_tfx_times_next_out (times)))
    return n_first;
  event = gst_pad_get_sticky_event (priv->src, GST_EVENT_SEGMENT, 0);
  if (event) {
    gst_event_parse_segment (event, &segment);
    is_outside =
        segment->format == GST_FORMAT_TIME &&
        (times->is_backwards
                ? gst_tfx_times_end_out (times, n_most) < segment->start
                : GST_CLOCK_TIME_IS_VALID (segment->stop) &&
                      gst_tfx_times_end_out (times, n_most) > segment->stop);
  }
  gst_clear_event (&event);
  return is_outside ? n_first : n_most;
}

/* Stamps and pushes delayed frames, and the events held for them.  If
 * downstream refuses a buffer, the others are dropped, but their times pass. */
static GstFlowReturn
gst_tfx_out_push_late (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;

  while (buffer) {
    GstBuffer *rest = NULL;
    guint64 n_first;

    gst_tfx_out_push_events (priv);
    n_first = gst_tfx_times_n_before_event (&priv->times);
    n_first = gst_tfx_out_count_inside (priv, MIN (n_first, n_frames));
    if (n_first < n_frames)
      buffer = gst_tfx_buffer_split (buffer, &priv->info, n_first, &rest);
    priv->discont_out |= gst_tfx_times_is_at_break (&priv->times);
    gst_tfx_times_stamp (&priv->times, buffer, n_first);
    if (flow == GST_FLOW_OK) {
      if (priv->discont_out)
        GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
      priv->discont_out = FALSE;
      flow = gst_tfx_out_push (self, buffer);
    } else {
      GST_DEBUG_OBJECT (self, "dropped %" G_GUINT64_FORMAT " frames: %s",
          n_first, gst_flow_get_name (flow));
      gst_buffer_unref (buffer);
    }
    buffer = rest;
    n_frames -= n_first;
  }
  return flow;
}

GstFlowReturn
gst_tfx_out_send (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gsize skip;

  if (G_LIKELY (priv->delay == 0)) {
    gst_tfx_settings_count_step (self, n_frames);
    return gst_tfx_out_push (self, buffer);
  }
  skip = MIN (priv->skip, n_frames);
  priv->skip -= skip;
  if (G_UNLIKELY (skip > 0))
    GST_DEBUG_OBJECT (self,
        "dropped %" G_GSIZE_FORMAT
        " frames: before the start of the stream, %" G_GSIZE_FORMAT
        " more to drop",
        skip, priv->skip);
  gst_tfx_settings_count_step (self, n_frames);
  if (skip == n_frames) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (skip > 0)
    gst_tfx_buffer_drop (buffer, &priv->info, skip);
  return gst_tfx_out_push_late (self, buffer, n_frames - skip);
}

/* ---- drain and reset ----------------------------------------------------- */

void
gst_tfx_out_reset (GstTfxElement *self, const gchar *because)
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
gst_tfx_out_count (const GstTfxElementPrivate *priv, guint64 left, gsize most)
{
  const gsize n_fit = MAX_TAIL_BYTES / GST_AUDIO_INFO_BPF (&priv->info);

  return MIN (left, CLAMP (n_fit, 1, most));
}

GstFlowReturn
gst_tfx_out_drain (GstTfxElement *self, const gchar *because)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = gst_tfx_flight_drain (self);
  gsize left = priv->is_running ? priv->delay : 0;
  GstEvent *event;

  if (left > 0)
    GST_DEBUG_OBJECT (self, "draining %" G_GSIZE_FORMAT " frames: %s", left,
        because);
  while (left > 0 && flow == GST_FLOW_OK) {
    gsize n_frames = gst_tfx_out_count (priv, left, MAX_TAIL_FRAMES);
    GstBuffer *buffer = gst_tfx_stream_make_silence (self, n_frames);

    flow = buffer ? gst_tfx_out_send (self, buffer, n_frames) : GST_FLOW_ERROR;
    left -= n_frames;
  }
  /* Events are sent even if downstream refuses their frames. */
  while ((event = gst_tfx_times_take_event (&priv->times)))
    gst_pad_push_event (priv->src, event);
  gst_tfx_out_reset (self, because);
  return flow;
}

/* ---- gaps ---------------------------------------------------------------- */

/* Advances a silent filter by n_frames.  Under a curve it filters silence, so
 * that its values are right after the gap. */
static gboolean
gst_tfx_out_pass (GstTfxElement *self, guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  while (priv->control.is_followed && n_frames > 0) {
    const gsize n = gst_tfx_out_count (priv, n_frames, MAX_GAP_FRAMES);
    GstBuffer *silence;

    /* No push returns FLUSHING here. */
    if (GST_PAD_IS_FLUSHING (priv->src))
      return FALSE;
    silence = gst_tfx_stream_make_silence (self, n);
    if (!silence)
      return FALSE;
    gst_buffer_unref (silence);
    n_frames -= n;
  }
  gst_tfx_stream_advance (self, n_frames);
  return TRUE;
}

/* Pushes a part of a GAP event. */
static gboolean
gst_tfx_out_push_gap (GstTfxElementPrivate *priv, GstEvent *event,
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
gst_tfx_out_send_gap (GstTfxElement *self, GstEvent *event, GstClockTime start,
    guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gsize skip = MIN (priv->skip, n_frames);
  gboolean ret = TRUE;

  if (!gst_tfx_out_pass (self, n_frames))
    return FALSE;
  if (priv->delay == 0)
    return gst_tfx_out_push_gap (priv, event, start, n_frames);
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
    ret = gst_tfx_out_push_gap (priv, event,
        gst_tfx_times_next_out (&priv->times), n);
    gst_tfx_times_pass (&priv->times, n);
    n_frames -= n;
  }
  return ret;
}

/* Events wait for held frames. */
gboolean
gst_tfx_out_event (GstTfxElement *self, GstEvent *event)
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
gst_tfx_out_ring (GstTfxElement *self, GstClockTime start, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *buffer = gst_tfx_stream_make_silence (self, n_frames);
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

gboolean
gst_tfx_out_gap (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime start, duration;
  gboolean ok = TRUE;
  guint64 left = 0;

  if (g_atomic_int_get (&priv->dirty))
    flow = gst_tfx_channel_switch_follow (self);
  if (flow != GST_FLOW_OK) {
    gst_event_unref (event);
    return FALSE;
  }
  gst_event_parse_gap (event, &start, &duration);
  /* Counted from 0, so rounding errors of adjacent gaps do not accumulate. */
  if (GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (duration))
    left = gst_util_uint64_scale_round (start + duration, priv->times.rate,
               GST_SECOND) -
           gst_util_uint64_scale_round (start, priv->times.rate, GST_SECOND);
  if (priv->times.is_backwards && left > 0)
    start += duration;
  if (gst_tfx_times_is_break (&priv->times, start, FALSE))
    gst_tfx_out_drain (self, "a gap that is not contiguous");
  if (!priv->is_running || priv->segment.format != GST_FORMAT_TIME || left == 0)
    return gst_tfx_out_event (self, event);
  /* Property changes and curves, as before a buffer. */
  gst_tfx_control_enter (self, start);
  if (g_atomic_int_get (&priv->dirty))
    gst_tfx_settings_update (self);
  GST_LOG_OBJECT (self,
      "gap of %" G_GUINT64_FORMAT " frames at %" GST_TIME_FORMAT, left,
      GST_TIME_ARGS (start));

  /* The decay is sent as buffers, and the rest as an event.  A GAP event
   * requires a time, so held frames without one are sent as buffers too. */
  while (left > 0 && flow == GST_FLOW_OK &&
         ((priv->delay > 0 && !GST_CLOCK_TIME_IS_VALID (
                                  gst_tfx_times_next_out (&priv->times))) ||
             !gst_tfx_stream_is_silent (self))) {
    gsize n_frames = gst_tfx_out_count (priv, left, MAX_GAP_FRAMES);

    gst_tfx_times_advance (&priv->times, start, n_frames);
    flow = gst_tfx_out_ring (self, start, n_frames);
    left -= n_frames;
    start = priv->times.next;
  }
  if (left > 0 && flow == GST_FLOW_OK) {
    GST_LOG_OBJECT (self,
        "the filter is silent: %" G_GUINT64_FORMAT " frames stay a gap", left);
    gst_tfx_times_advance (&priv->times, start, left);
    ok = gst_tfx_out_send_gap (self, event, start, left);
  }
  gst_event_unref (event);
  return ok && flow == GST_FLOW_OK;
}
