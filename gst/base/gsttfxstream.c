/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxstream.c: the input of a GstTfxElement.  A buffer is checked, changed
 * properties are applied, its samples are filtered and sent.  A GAP event is
 * filtered as silence.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* The longest buffer of silence in a gap, so that a flush need not wait. */
#define MAX_GAP_FRAMES 4096

/* ---- a checked buffer ---------------------------------------------------- */

/* Defers filtering to the downstream peer. */
static gboolean
gst_tfx_stream_defer (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxLayout layout;

  if (G_UNLIKELY (priv->device.has_cuda_memory) &&
      !gst_tfx_cuda_flow_fits (self, buffer))
    return FALSE;
  /* Whether it stays a gap must be known now. */
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) ||
      !gst_tfx_buffer_describe (buffer, &priv->info, n_frames, &layout) ||
      !gst_tfx_pending_add (buffer, priv->filter, &layout)) {
    GST_LOG_OBJECT (self, "%" GST_PTR_FORMAT " cannot be deferred", buffer);
    return FALSE;
  }
  /* Errors from runs in other elements. */
  if (G_UNLIKELY (priv->filter->counts.error < 0))
    gst_tfx_device_fall_back (self, priv->filter->counts.error);
  priv->is_running = TRUE;
  gst_tfx_counts_note_deferred (&priv->counts);
  return TRUE;
}

/* Sends a buffer without filtering it: one that an identity does not change, or
 * an empty one, which gets the time of the next output frame. */
static GstFlowReturn
gst_tfx_stream_pass (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (n_frames > 0) {
    gst_tfx_run_advance (self, n_frames);
    priv->is_running = TRUE;
  } else if (gst_tfx_times_held (&priv->times) > 0) {
    buffer = gst_buffer_make_writable (buffer);
    gst_tfx_times_stamp (&priv->times, buffer, 0);
  }
  return gst_tfx_out_push (self, buffer);
}

/* Counts the buffer, and notes its times. */
static void
gst_tfx_stream_note (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstClockTime end = gst_tfx_out_end (buffer);

  if (G_UNLIKELY (g_atomic_int_get (&priv->wants_reset))) {
    g_atomic_int_set (&priv->wants_reset, FALSE);
    gst_tfx_counts_reset (&priv->counts);
    gst_tfx_key_reset_stats (self);
  }
  gst_tfx_counts_note_buffer (&priv->counts, n_frames);
  priv->first_in = priv->begins_segment || priv->segment.rate < 0.0 ||
                           !GST_CLOCK_TIME_IS_VALID (priv->position_in)
                       ? GST_BUFFER_PTS (buffer)
                       : GST_CLOCK_TIME_NONE;
  priv->begins_segment = FALSE;
  if (GST_CLOCK_TIME_IS_VALID (end))
    __atomic_store_n (&priv->position_in, end, __ATOMIC_RELAXED);
}

/* Filters a checked buffer and sends it: here, or two at a time on a device; or
 * defers it to the next element. */
static GstFlowReturn
gst_tfx_stream_process (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean is_taken = FALSE;
  GstFlowReturn flow;

  /* Asked once: the answer depends on the neighbours, which may change. */
  if (G_UNLIKELY (priv->device.runs))
    is_taken = gst_tfx_flight_takes (self, buffer, n_frames);
  if (G_UNLIKELY (priv->flights.held) && !is_taken) {
    flow = gst_tfx_flight_drain (self);
    if (flow != GST_FLOW_OK) {
      gst_buffer_unref (buffer);
      return flow;
    }
  }
  gst_tfx_stream_note (self, buffer, n_frames);
  if (G_UNLIKELY (priv->may_be_identity))
    gst_tfx_settings_find_identity (self);
  if (G_UNLIKELY (
          n_frames == 0 || (priv->is_identity && !priv->times.is_backwards &&
                               !gst_tfx_control_is_partial (self, n_frames) &&
                               (!priv->device.has_cuda_memory ||
                                   gst_tfx_cuda_flow_fits (self, buffer)))))
    return gst_tfx_stream_pass (self, buffer, n_frames);

  if (G_UNLIKELY (n_frames != priv->last_frames || !priv->is_running))
    gst_tfx_settings_expect (self, n_frames);
  /* Stages with a curve are steps from the first frame on.  Some memory is
   * allocated only after the CPU has run them: with the second buffer. */
  if (G_UNLIKELY (!priv->is_running || n_frames > priv->reserved_frames)) {
    gst_tfx_control_reserve (self);
    gst_tfx_settings_reserve (self, n_frames);
    if (!priv->is_running)
      priv->reserved_frames = 0;
  }
  buffer = gst_buffer_make_writable (buffer);
  if (priv->times.is_backwards)
    gst_tfx_run_reverse (buffer, &priv->info, &priv->scratch);
  else if (!is_taken && gst_tfx_fusion_defers (self) &&
           !gst_tfx_fusion_is_alone (self, n_frames) &&
           gst_tfx_stream_defer (self, buffer, n_frames)) {
    if (G_UNLIKELY (priv->is_step))
      gst_tfx_settings_count_step (self, n_frames);
    return gst_tfx_out_push (self, buffer);
  }
  if (priv->delay > 0) {
    gst_tfx_times_add (&priv->times,
        gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames),
        GST_BUFFER_OFFSET (buffer), n_frames, GST_BUFFER_IS_DISCONT (buffer));
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  if (G_UNLIKELY (is_taken))
    return gst_tfx_flight_run (self, buffer, n_frames);
  if (gst_tfx_run_buffer (self, &buffer, n_frames))
    return gst_tfx_out_send (self, buffer, n_frames);
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

/* ---- the chain function -------------------------------------------------- */

/* Number of frames of a buffer.  If it is invalid, sends the buffer in flight,
 * which is valid, posts an error message and returns -1. */
static gssize
gst_tfx_stream_count (GstTfxElement *self, GstBuffer *buffer,
    const GstAudioInfo *info)
{
  gchar *why = NULL;
  const gssize n_frames = gst_tfx_buffer_check (buffer, info, &why);

  if (n_frames < 0) {
    gst_tfx_flight_drain (self);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("Invalid input: %s.", why),
        (NULL));
  }
  g_free (why);
  return n_frames;
}

/* Converts to the number of channels of the filter, and copies the keys to
 * theirs.  Takes the buffer; NULL after an error message. */
static GstBuffer *
gst_tfx_stream_widen (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (priv->channels.in != priv->channels.most)
    buffer = gst_tfx_channels_convert (buffer, &priv->in_info, &priv->info,
        n_frames);
  if (buffer && g_atomic_int_get (&priv->has_keys))
    gst_tfx_key_fill (self, buffer,
        gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames),
        n_frames, priv->times.is_backwards);
  if (!buffer)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory for %" G_GSIZE_FORMAT " frames.", n_frames), (NULL));
  return buffer;
}

static gboolean
gst_tfx_stream_is_inside (const GstSegment *segment, GstBuffer *buffer)
{
  const GstClockTime start = GST_BUFFER_PTS (buffer);
  const GstClockTime length = GST_BUFFER_DURATION (buffer);

  return segment->format != GST_FORMAT_TIME ||
         (GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (length) &&
             start >= segment->start &&
             (!GST_CLOCK_TIME_IS_VALID (segment->stop) ||
                 (start <= segment->stop && length <= segment->stop - start)));
}

/* Clips a buffer to the segment; NULL if it is outside.  The next one keeps
 * its DISCONT mark. */
static GstBuffer *
gst_tfx_stream_clip (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean is_marked = GST_BUFFER_IS_DISCONT (buffer);
  const guint rate = GST_AUDIO_INFO_RATE (&priv->in_info);
  const GstClockTime length =
      gst_util_uint64_scale (n_frames, GST_SECOND, rate);

  /* A duration that is too long would clip too much. */
  if (GST_BUFFER_DURATION_IS_VALID (buffer) &&
      GST_BUFFER_DURATION (buffer) > length) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_DURATION (buffer) = length;
  }
  buffer = gst_audio_buffer_clip (buffer, &priv->segment, rate,
      GST_AUDIO_INFO_BPF (&priv->in_info));
  if (!buffer) {
    priv->discont_in = priv->discont_in || is_marked;
    GST_DEBUG_OBJECT (self,
        "dropped %" G_GSIZE_FORMAT " frames: outside of %" GST_SEGMENT_FORMAT,
        n_frames, &priv->segment);
  } else if (is_marked && !GST_BUFFER_IS_DISCONT (buffer)) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  return buffer;
}

/* Handles what comes before the samples of a buffer: a break in the timestamps,
 * then changed properties and curves. */
static GstFlowReturn
gst_tfx_stream_enter (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean is_marked = GST_BUFFER_IS_DISCONT (buffer);
  const GstClockTime begin =
      gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames);
  GstFlowReturn flow = GST_FLOW_OK, drained;

  if (G_UNLIKELY (gst_tfx_times_is_break (&priv->times, begin, is_marked)) &&
      (is_marked || n_frames > 0)) {
    GST_DEBUG_OBJECT (self,
        "break: a buffer%s at %" GST_TIME_FORMAT ", expected %" GST_TIME_FORMAT,
        is_marked ? " marked DISCONT" : "", GST_TIME_ARGS (begin),
        GST_TIME_ARGS (priv->times.next));
    /* The filter is reset also if downstream refuses a buffer. */
    flow = gst_tfx_flight_drain (self);
    drained = gst_tfx_out_drain (self, "a break in the timestamps");
    flow = flow == GST_FLOW_OK ? drained : flow;
    priv->discont_out |= is_marked;
  }
  gst_tfx_times_advance (&priv->times, begin, n_frames);
  /* The filter does not change while a buffer is in flight: that is sent first.
   * A property that is set from here on takes effect with the next buffer. */
  if (G_UNLIKELY (priv->flights.held) && flow == GST_FLOW_OK &&
      (g_atomic_int_get (&priv->dirty) || gst_tfx_control_is_wanted (self)))
    flow = gst_tfx_flight_drain (self);
  if (flow != GST_FLOW_OK)
    return flow;
  if (G_LIKELY (!priv->flights.held)) {
    if (n_frames > 0 && gst_tfx_control_enter (self, begin))
      gst_tfx_control_cover (self, n_frames);
    else if (g_atomic_int_get (&priv->dirty))
      gst_tfx_settings_update (self);
  }
  /* Without latency the buffer itself keeps the flag. */
  if (priv->delay == 0)
    priv->discont_out = FALSE;
  return GST_FLOW_OK;
}

/* Waits for the keys of a buffer. */
static GstFlowReturn
gst_tfx_stream_wait (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  gsize n_frames;

  if (!priv->filter)
    return GST_FLOW_OK;
  n_frames =
      meta ? meta->samples
           : gst_buffer_get_size (buffer) / GST_AUDIO_INFO_BPF (&priv->in_info);
  return gst_tfx_key_wait (self,
      gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames),
      GST_BUFFER_IS_DISCONT (buffer), n_frames);
}

/* Sends the buffer in flight, changes the number of channels if the properties
 * ask for it, and negotiates the source pad again if it needs that. */
static GstFlowReturn
gst_tfx_stream_negotiate (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = gst_tfx_flight_drain (self);

  if (flow == GST_FLOW_OK && g_atomic_int_get (&priv->dirty))
    flow = gst_tfx_caps_switch_channels (self);
  if (flow == GST_FLOW_OK && GST_PAD_NEEDS_RECONFIGURE (priv->src))
    flow = gst_tfx_caps_renegotiate (self);
  return flow;
}

/* Negotiates, checks and clips a buffer, and filters it.  Takes it. */
static GstFlowReturn
gst_tfx_stream_take (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  gssize n_frames;

  /* Before the filter is looked at: it is another one when keys begin. */
  if (G_UNLIKELY (g_atomic_int_get (&priv->has_keys)))
    flow = gst_tfx_stream_wait (self, buffer);
  if (G_UNLIKELY (!priv->filter)) {
    GST_DEBUG_OBJECT (self, "dropped a buffer: no caps");
    flow = GST_FLOW_NOT_NEGOTIATED;
  } else if (G_UNLIKELY (g_atomic_int_get (&priv->dirty) ||
                         GST_PAD_NEEDS_RECONFIGURE (priv->src)) &&
             flow == GST_FLOW_OK) {
    flow = gst_tfx_stream_negotiate (self);
  }
  if (G_UNLIKELY (flow != GST_FLOW_OK)) {
    gst_buffer_unref (buffer);
    return flow;
  }
  n_frames = gst_tfx_buffer_n_frames (buffer, &priv->in_info);
  /* Clipping would hide an incomplete frame. */
  if (G_UNLIKELY (n_frames < 0))
    n_frames = gst_tfx_stream_count (self, buffer, &priv->in_info);
  if (G_UNLIKELY (priv->discont_in && n_frames > 0)) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    priv->discont_in = FALSE;
  }
  if (n_frames > 0 && !gst_tfx_stream_is_inside (&priv->segment, buffer)) {
    buffer = gst_tfx_stream_clip (self, buffer, n_frames);
    if (!buffer)
      return GST_FLOW_OK;
    n_frames = gst_tfx_stream_count (self, buffer, &priv->in_info);
  }
  flow = G_LIKELY (n_frames >= 0)
             ? gst_tfx_stream_enter (self, buffer, n_frames)
             : GST_FLOW_ERROR;
  if (G_LIKELY (flow == GST_FLOW_OK) &&
      G_UNLIKELY (priv->channels.in != priv->channels.most ||
                  g_atomic_int_get (&priv->has_keys))) {
    buffer = gst_tfx_stream_widen (self, buffer, n_frames);
    flow = buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  if (G_LIKELY (flow == GST_FLOW_OK))
    return gst_tfx_stream_process (self, buffer, n_frames);
  gst_clear_buffer (&buffer);
  return flow;
}

GstFlowReturn
gst_tfx_stream_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxElement *self = (GstTfxElement *)parent;
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  const GstFlowReturn flow = gst_tfx_stream_take (self, buffer);

  if (flow != GST_FLOW_OK)
    return flow;
  if (klass->buffer_done)
    klass->buffer_done (self, priv->first_in,
        __atomic_load_n (&priv->position_in, __ATOMIC_RELAXED), &priv->segment);
  priv->first_in = GST_CLOCK_TIME_NONE;
  return GST_FLOW_OK;
}

/* ---- gaps ---------------------------------------------------------------- */

/* Advances a silent filter by n_frames.  With curves it filters silence, so
 * that the parameters have the values of the curves after the gap. */
static gboolean
gst_tfx_stream_pass_silence (GstTfxElement *self, guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  while (priv->control.is_followed && n_frames > 0) {
    gsize n = MIN (n_frames, MAX_GAP_FRAMES);
    GstBuffer *silence;

    /* Silence is not pushed, so no push reports a flush. */
    if (GST_PAD_IS_FLUSHING (priv->src))
      return FALSE;
    silence = gst_tfx_run_silence (self, GST_CLOCK_TIME_NONE, &n);
    if (!silence)
      return FALSE;
    gst_buffer_unref (silence);
    n_frames -= n;
  }
  gst_tfx_run_advance (self, n_frames);
  return TRUE;
}

/* Pushes a part of a GAP event. */
static gboolean
gst_tfx_stream_push_gap (GstTfxElementPrivate *priv, GstEvent *event,
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

/* Sends the silent rest of a GAP event: as one, or with latency in parts
 * between the held events. */
static gboolean
gst_tfx_stream_send_gap (GstTfxElement *self, GstEvent *event,
    GstClockTime start, guint64 n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gsize skip = MIN (priv->skip, n_frames);
  gboolean ret = TRUE;

  if (!gst_tfx_stream_pass_silence (self, n_frames))
    return FALSE;
  if (priv->delay == 0)
    return gst_tfx_stream_push_gap (priv, event, start, n_frames);
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
    ret = gst_tfx_stream_push_gap (priv, event,
        gst_tfx_times_next_out (&priv->times), n);
    gst_tfx_times_pass (&priv->times, n);
    n_frames -= n;
  }
  return ret;
}

/* Sends up to n_frames of the decay in a gap, or of its keys, as a buffer;
 * returns their number in *n_frames. */
static GstFlowReturn
gst_tfx_stream_ring (GstTfxElement *self, GstClockTime start, gsize *n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *buffer;
  GstFlowReturn flow;
  GstClockTime end;

  if (g_atomic_int_get (&priv->has_keys)) {
    flow = gst_tfx_key_wait (self, start, FALSE, *n_frames);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  buffer = gst_tfx_run_silence (self, start, n_frames);
  if (!buffer)
    return GST_FLOW_ERROR;
  gst_tfx_times_advance (&priv->times, start, *n_frames);
  end = priv->times.next;
  GST_BUFFER_PTS (buffer) = MIN (start, end);
  GST_BUFFER_DURATION (buffer) = MAX (start, end) - MIN (start, end);
  if (priv->delay > 0)
    gst_tfx_times_add (&priv->times, start, GST_BUFFER_OFFSET_NONE, *n_frames,
        FALSE);
  return gst_tfx_out_send (self, buffer, *n_frames);
}

gboolean
gst_tfx_stream_gap (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean has_keys =
      g_atomic_int_get (&priv->has_keys) && priv->filter != NULL;
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime start, duration;
  gboolean ok = TRUE;
  guint64 left = 0;

  gst_event_parse_gap (event, &start, &duration);
  /* The first frame: then the keys have caps. */
  if (has_keys && GST_CLOCK_TIME_IS_VALID (duration) && duration > 0)
    flow = gst_tfx_key_wait (self,
        priv->times.is_backwards ? start + duration : start, FALSE, 1);
  if (flow == GST_FLOW_OK && g_atomic_int_get (&priv->dirty))
    flow = gst_tfx_caps_switch_channels (self);
  if (flow != GST_FLOW_OK) {
    gst_event_unref (event);
    return FALSE;
  }
  /* Counted from 0, so rounding errors of adjacent gaps do not accumulate. */
  if (GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (duration))
    left = gst_util_uint64_scale_round (start + duration, priv->times.rate,
               GST_SECOND) -
           gst_util_uint64_scale_round (start, priv->times.rate, GST_SECOND);
  if (priv->times.is_backwards && left > 0)
    start += duration;
  if (gst_tfx_times_is_break (&priv->times, start, FALSE))
    gst_tfx_out_drain (self, "a gap that is not contiguous");
  if ((!priv->is_running && !has_keys) ||
      priv->segment.format != GST_FORMAT_TIME || left == 0)
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
         (has_keys ||
             (priv->delay > 0 && !GST_CLOCK_TIME_IS_VALID (
                                     gst_tfx_times_next_out (&priv->times))) ||
             !gst_tfx_run_is_silent (self))) {
    gsize n_frames = MIN (left, MAX_GAP_FRAMES);

    flow = gst_tfx_stream_ring (self, start, &n_frames);
    left -= n_frames;
    start = priv->times.next;
  }
  if (left > 0 && flow == GST_FLOW_OK) {
    GST_LOG_OBJECT (self,
        "the filter is silent: %" G_GUINT64_FORMAT " frames stay a gap", left);
    gst_tfx_times_advance (&priv->times, start, left);
    ok = gst_tfx_stream_send_gap (self, event, start, left);
  }
  gst_event_unref (event);
  return ok && flow == GST_FLOW_OK;
}
