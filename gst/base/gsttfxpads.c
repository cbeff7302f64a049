/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpads.c: how a GstTfxElement processes a buffer.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxcudaflow.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- deferred and passed buffers ----------------------------------------- */

/* Defers filtering to the downstream peer. */
static gboolean
gst_tfx_pads_defer (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
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

/* Passes a buffer unchanged. */
static GstFlowReturn
gst_tfx_pads_pass (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (n_frames > 0) {
    gst_tfx_run_pass (self, n_frames);
    priv->is_running = TRUE;
  } else if (gst_tfx_times_held (&priv->times) > 0) {
    /* An empty buffer has the time of the next output frame. */
    buffer = gst_buffer_make_writable (buffer);
    gst_tfx_times_stamp (&priv->times, buffer, 0);
  }
  return gst_tfx_out_push (priv, buffer);
}

/* ---- in ------------------------------------------------------------------ */

static GstFlowReturn
gst_tfx_pads_take (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime end = gst_tfx_out_end (buffer);

  if (G_UNLIKELY (g_atomic_int_get (&priv->wants_reset))) {
    g_atomic_int_set (&priv->wants_reset, FALSE);
    gst_tfx_counts_reset (&priv->counts);
  }
  gst_tfx_counts_note_buffer (&priv->counts, n_frames);
  priv->first_in = priv->begins_segment || priv->segment.rate < 0.0 ||
                           !GST_CLOCK_TIME_IS_VALID (priv->position_in)
                       ? GST_BUFFER_PTS (buffer)
                       : GST_CLOCK_TIME_NONE;
  priv->begins_segment = FALSE;
  if (GST_CLOCK_TIME_IS_VALID (end))
    __atomic_store_n (&priv->position_in, end, __ATOMIC_RELAXED);
  if (G_UNLIKELY (priv->may_be_identity))
    gst_tfx_settings_find_identity (self);
  if (G_UNLIKELY (
          n_frames == 0 || (priv->is_identity && !priv->times.is_backwards &&
                               !gst_tfx_control_is_partial (self, n_frames) &&
                               (!priv->device.has_cuda_memory ||
                                   gst_tfx_cuda_flow_fits (self, buffer)))))
    return gst_tfx_pads_pass (self, buffer, n_frames);

  if (G_UNLIKELY (n_frames != priv->last_frames || !priv->is_running))
    gst_tfx_settings_expect (self, n_frames);
  /* Stages with a curve are steps from the first frame on; room is made when
   * the CPU has run them. */
  if (G_UNLIKELY (!priv->is_running && priv->filter)) {
    gst_tfx_settings_reserve (self, n_frames);
    priv->reserved_frames = 0;
  }
  if (G_UNLIKELY (n_frames > priv->reserved_frames && priv->is_running))
    gst_tfx_settings_reserve (self, n_frames);
  buffer = gst_buffer_make_writable (buffer);
  if (priv->times.is_backwards)
    gst_tfx_run_reverse (self, buffer);
  if (!priv->times.is_backwards && gst_tfx_fusion_defers (self) &&
      !gst_tfx_fusion_is_alone (self, n_frames) &&
      gst_tfx_pads_defer (self, buffer, n_frames)) {
    gst_tfx_settings_count_step (self, n_frames);
    return gst_tfx_out_push (priv, buffer);
  }
  if (priv->delay > 0) {
    gst_tfx_times_add (&priv->times,
        gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames),
        GST_BUFFER_OFFSET (buffer), n_frames, GST_BUFFER_IS_DISCONT (buffer));
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  if (G_UNLIKELY (priv->device.runs) &&
      gst_tfx_flight_takes (self, buffer, n_frames))
    return gst_tfx_flight_run (self, buffer, n_frames);
  if (gst_tfx_run_buffer (self, &buffer, n_frames))
    return gst_tfx_out_send (self, buffer, n_frames);
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

/* One error for each fault. */
static gssize
gst_tfx_pads_check (GstTfxElement *self, GstBuffer *buffer,
    const GstAudioInfo *info)
{
  gchar *why = NULL;
  gssize n_frames = gst_tfx_buffer_check (buffer, info, &why);

  if (n_frames < 0)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("Invalid input: %s.", why),
        (NULL));
  g_free (why);
  return n_frames;
}

static gboolean
gst_tfx_pads_is_inside (const GstSegment *segment, GstBuffer *buffer)
{
  GstClockTime start = GST_BUFFER_PTS (buffer);
  GstClockTime length = GST_BUFFER_DURATION (buffer);

  return GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (length) &&
         start >= segment->start &&
         (!GST_CLOCK_TIME_IS_VALID (segment->stop) ||
             (start <= segment->stop && length <= segment->stop - start));
}

/* Clips a buffer to the segment; NULL if it is outside. */
static GstBuffer *
gst_tfx_pads_clip (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstClockTime length = gst_util_uint64_scale (n_frames, GST_SECOND,
      GST_AUDIO_INFO_RATE (&priv->info));

  if (priv->segment.format != GST_FORMAT_TIME ||
      gst_tfx_pads_is_inside (&priv->segment, buffer))
    return buffer;
  /* A duration that is too long would clip too much. */
  if (GST_BUFFER_DURATION_IS_VALID (buffer) &&
      GST_BUFFER_DURATION (buffer) > length) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_DURATION (buffer) = length;
  }
  return gst_audio_buffer_clip (buffer, &priv->segment,
      GST_AUDIO_INFO_RATE (&priv->info), GST_AUDIO_INFO_BPF (&priv->info));
}

/* Negotiates, checks, clips, looks for breaks, and filters a buffer; takes
 * it. */
static GstFlowReturn
gst_tfx_pads_take_carefully (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime begin;
  gboolean is_marked;
  gssize n_frames;

  if (gst_pad_check_reconfigure (priv->src) &&
      !gst_tfx_caps_renegotiate (self)) {
    gst_pad_mark_reconfigure (priv->src);
    gst_buffer_unref (buffer);
    return GST_PAD_IS_FLUSHING (priv->src) ? GST_FLOW_FLUSHING
                                           : GST_FLOW_NOT_NEGOTIATED;
  }
  /* Before it is clipped: that would hide a broken frame. */
  n_frames = gst_tfx_pads_check (self, buffer, &priv->info);
  if (n_frames > 0) {
    is_marked = priv->discont_in || GST_BUFFER_IS_DISCONT (buffer);
    buffer = gst_tfx_pads_clip (self, buffer, n_frames);
    priv->discont_in = is_marked && !buffer;
    if (!buffer) {
      GST_DEBUG_OBJECT (self,
          "dropped %" G_GSSIZE_FORMAT
          " frames: outside of %" GST_SEGMENT_FORMAT,
          n_frames, &priv->segment);
      return GST_FLOW_OK;
    }
    if (is_marked && !GST_BUFFER_IS_DISCONT (buffer)) {
      buffer = gst_buffer_make_writable (buffer);
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    }
    n_frames = gst_tfx_pads_check (self, buffer, &priv->info);
  }
  if (n_frames < 0) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  is_marked = GST_BUFFER_IS_DISCONT (buffer);
  begin = gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames);
  if ((is_marked || n_frames > 0) &&
      gst_tfx_times_is_break (&priv->times, begin, is_marked)) {
    GST_DEBUG_OBJECT (self,
        "break: a buffer%s at %" GST_TIME_FORMAT ", expected %" GST_TIME_FORMAT,
        is_marked ? " marked DISCONT" : "", GST_TIME_ARGS (begin),
        GST_TIME_ARGS (priv->times.next));
    flow = gst_tfx_out_drain (self, "a break in the timestamps");
    priv->discont_out |= is_marked;
  }
  gst_tfx_times_advance (&priv->times, begin, n_frames);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  /* Property changes and curves. */
  if (n_frames > 0 && gst_tfx_control_enter (self, begin))
    gst_tfx_control_cover (self, n_frames);
  else if (g_atomic_int_get (&priv->dirty))
    gst_tfx_settings_update (self);
  /* The buffer has the flag itself. */
  if (priv->delay == 0)
    priv->discont_out = FALSE;
  return gst_tfx_pads_take (self, buffer, n_frames);
}

/* Number of frames of a buffer that needs no checks; -1 otherwise. */
static inline gssize
gst_tfx_pads_find_plain (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gssize n_frames;

  if (g_atomic_int_get (&priv->dirty) || GST_BUFFER_IS_DISCONT (buffer) ||
      priv->discont_in || priv->segment.format != GST_FORMAT_TIME ||
      priv->times.is_backwards ||
      !gst_tfx_pads_is_inside (&priv->segment, buffer) ||
      GST_PAD_NEEDS_RECONFIGURE (priv->src) || priv->control.is_followed ||
      gst_tfx_control_is_wanted (self))
    return -1;
  n_frames = gst_tfx_pending_n_frames (buffer, priv->spec.sample,
      priv->spec.n_channels);
  if (n_frames < 0 ||
      GST_AUDIO_INFO_LAYOUT (&priv->info) != GST_AUDIO_LAYOUT_INTERLEAVED)
    n_frames = gst_tfx_buffer_n_frames (buffer, &priv->info);
  if (n_frames <= 0 ||
      gst_tfx_times_is_break (&priv->times, GST_BUFFER_PTS (buffer), FALSE))
    return -1;
  gst_tfx_times_advance (&priv->times, GST_BUFFER_PTS (buffer), n_frames);
  return n_frames;
}

/* Converts to the number of channels of the filter; NULL after an error
 * message. */
static GstBuffer *
gst_tfx_pads_widen (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gssize n_frames;

  n_frames = gst_tfx_pads_check (self, buffer, &priv->in_info);
  if (n_frames < 0) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  buffer =
      gst_tfx_channels_convert (buffer, &priv->in_info, &priv->info, n_frames);
  if (!buffer)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory for %" G_GSSIZE_FORMAT " frames.", n_frames), (NULL));
  return buffer;
}

static GstFlowReturn
gst_tfx_pads_run (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow;
  gssize n_frames;

  if (G_UNLIKELY (!priv->filter)) {
    GST_DEBUG_OBJECT (self, "dropped a buffer: no caps");
    gst_buffer_unref (buffer);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (G_UNLIKELY (g_atomic_int_get (&priv->dirty) &&
                  GST_TFX_ELEMENT_GET_CLASS (self)->get_channels)) {
    flow = gst_tfx_channel_switch_follow (self);
    if (flow != GST_FLOW_OK) {
      gst_buffer_unref (buffer);
      return flow;
    }
  }
  if (G_UNLIKELY (priv->channels.in != priv->channels.most))
    buffer = gst_tfx_pads_widen (self, buffer);
  if (!buffer)
    return GST_FLOW_ERROR;
  n_frames = gst_tfx_pads_find_plain (self, buffer);
  if (G_UNLIKELY (priv->flights.held) &&
      (n_frames <= 0 || !gst_tfx_flight_takes (self, buffer, n_frames))) {
    flow = gst_tfx_flight_drain (self);
    if (flow != GST_FLOW_OK) {
      gst_buffer_unref (buffer);
      return flow;
    }
  }
  if (G_LIKELY (n_frames > 0))
    return gst_tfx_pads_take (self, buffer, n_frames);
  return gst_tfx_pads_take_carefully (self, buffer);
}

GstFlowReturn
gst_tfx_pads_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxElement *self = (GstTfxElement *)parent;
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstFlowReturn flow = gst_tfx_pads_run (self, buffer);

  if (flow != GST_FLOW_OK)
    return flow;
  if (klass->buffer_done)
    klass->buffer_done (self, priv->first_in,
        __atomic_load_n (&priv->position_in, __ATOMIC_RELAXED), &priv->segment);
  priv->first_in = GST_CLOCK_TIME_NONE;
  return GST_FLOW_OK;
}
