/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxout.c: the output of a GstTfxElement: timestamps, drain and
 * reset.
 *
 * A filter with latency d outputs each frame d frames late.  The first d output
 * frames lie before the start of the stream and are dropped; draining outputs d
 * more.  Every input frame therefore has one output frame, with its time.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- buffers ------------------------------------------------------------- */

/* Converts to the number of output channels; NULL after an error message. */
static GstBuffer *
gst_tfx_out_narrow (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstAudioInfo info =
      gst_tfx_channels_make_info (&priv->in_info, priv->channels.out);
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
    gst_tfx_run_reverse (buffer, &priv->info, &priv->scratch);
  if (G_UNLIKELY (priv->channels.out != priv->channels.most))
    buffer = gst_tfx_out_narrow (self, buffer);
  if (!buffer)
    return GST_FLOW_ERROR;
  if (GST_CLOCK_TIME_IS_VALID (end))
    __atomic_store_n (&priv->position_out, end, __ATOMIC_RELAXED);
  return gst_pad_push (priv->src, buffer);
}

void
gst_tfx_out_push_events (GstTfxElementPrivate *priv)
{
  GstEvent *event;

  while ((event = gst_tfx_times_pop_event (&priv->times)))
    gst_pad_push_event (priv->src, event);
}

/* How many of the next n_frames can be one buffer.  It ends before a break.  It
 * ends before the next contiguous run of timestamps if its own first frame has
 * no time, or if jitter would move its end out of the segment. */
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
    if (G_UNLIKELY (priv->is_step))
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
  if (G_UNLIKELY (priv->is_step))
    gst_tfx_settings_count_step (self, n_frames);
  if (skip == n_frames) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (skip > 0)
    gst_tfx_buffer_drop (buffer, &priv->info, skip);
  return gst_tfx_out_push_late (self, buffer, n_frames - skip);
}

/* With latency an event waits until the frames before it have been sent. */
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
  /* After a reset the delay may become smaller. */
  if (priv->is_step || priv->excess_delay > 0 || priv->waits_for_reset)
    g_atomic_int_set (&priv->dirty, TRUE);
  priv->is_step = FALSE;
}

GstFlowReturn
gst_tfx_out_drain (GstTfxElement *self, const gchar *because)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  gsize left = priv->is_running ? priv->delay : 0;
  GstEvent *event;

  if (left > 0)
    GST_DEBUG_OBJECT (self, "draining %" G_GSIZE_FORMAT " frames: %s", left,
        because);
  while (left > 0 && flow == GST_FLOW_OK) {
    gsize n_frames = left;
    GstBuffer *buffer =
        gst_tfx_run_silence (self, GST_CLOCK_TIME_NONE, &n_frames);

    flow = buffer ? gst_tfx_out_send (self, buffer, n_frames) : GST_FLOW_ERROR;
    left -= n_frames;
  }
  /* Events are sent even if downstream refuses their frames. */
  while ((event = gst_tfx_times_take_event (&priv->times)))
    gst_pad_push_event (priv->src, event);
  gst_tfx_out_reset (self, because);
  return flow;
}
