/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxstream.c: the chain function of a GstTfxElement: it checks a buffer,
 * applies changed properties, filters the samples and sends them.
 *
 * All of this runs in the streaming thread.
 */
#include <errno.h>
#include <string.h>

#include "gsttfxcudaflow.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Reading the clock takes longer than filtering a short buffer, so one in
 * TIMED_EVERY is timed; the others count with its time per frame. */
#define TIMED_EVERY 8
#define SHORT_TIME (20 * GST_USECOND)

/* ---- samples ------------------------------------------------------------- */

gboolean
gst_tfx_stream_is_silent (GstTfxElement *self)
{
  GstTfxSharedFilter *filter = gst_tfx_element_get_private (self)->filter;
  gboolean is_silent;

  gst_tfx_pending_flush (filter);
  tfx_filter_lock (filter->filter);
  is_silent = tfx_filter_is_silent (filter->filter);
  tfx_filter_unlock (filter->filter);
  return is_silent;
}

void
gst_tfx_stream_advance (GstTfxElement *self, gsize n_frames)
{
  GstTfxSharedFilter *filter = gst_tfx_element_get_private (self)->filter;
  const GstTfxRow row = { &filter->filter, 1, filter };

  gst_tfx_row_lock (&row);
  gst_tfx_row_pass (&row, n_frames);
  gst_tfx_row_unlock (&row);
}

/* Backward streams too are filtered in playback order. */
void
gst_tfx_stream_reverse (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  const gsize size = GST_AUDIO_INFO_BPS (&priv->info);
  GstTfxBuffer mapped;
  guint64 sample;

  if (gst_buffer_get_size (buffer) == 0 || (meta && meta->samples == 0))
    return;
  /* A device may fail once.  Memory that is lost is reported by its next reader. */
  if (!gst_tfx_buffer_map (&mapped, buffer, &priv->info, &priv->scratch) &&
      !gst_tfx_buffer_map (&mapped, buffer, &priv->info, &priv->scratch))
    return;
  for (guint c = 0; c < mapped.block.n_channels; c++) {
    guint8 *a =
        (guint8 *)mapped.block.data + c * mapped.block.channel_stride * size;
    gsize step = mapped.block.frame_stride * size;
    guint8 *b = a + (mapped.block.n_frames - 1) * step;

    for (; a < b; a += step, b -= step) {
      memcpy (&sample, a, size);
      memcpy (a, b, size);
      memcpy (b, &sample, size);
    }
  }
  gst_tfx_buffer_unmap (&mapped);
}

/* Runs the buffer's pending filters and the element's own as one row; or the
 * element's own filter alone, over a buffer that is mapped with no lock held,
 * because mapping runs what is pending in it. */
static gint
gst_tfx_stream_filter (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxSharedFilter *filter = priv->filter;
  const GstTfxRow row = { &filter->filter, 1, filter };
  GstTfxPendingRun run;
  GstTfxBuffer mapped;
  gboolean is_gap;
  gint err;

  if (gst_tfx_fusion_begin (self, buffer, n_frames, &run)) {
    err = gst_tfx_pending_filter (&run);
    gst_tfx_counts_note_rows (&priv->counts, &filter->counts);
    gst_tfx_pending_end (&run, buffer);
    return err;
  }
  /* A filter decays after its input ends: a buffer stays marked as a gap only
   * if its input and its output are silent. */
  is_gap = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) &&
           gst_tfx_buffer_is_zero (buffer, &priv->info) &&
           gst_tfx_stream_is_silent (self);
  if (is_gap && !priv->control.is_followed) {
    gst_tfx_stream_advance (self, n_frames);
    return 0;
  }
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_GAP);
  if (!gst_tfx_buffer_map (&mapped, buffer, &priv->info, &priv->scratch))
    return -EFAULT;
  gst_tfx_row_lock (&row);
  if (G_UNLIKELY (gst_tfx_control_is_partial (self, n_frames)))
    err = gst_tfx_control_run (self, &row, &mapped.block, &mapped.block);
  else
    err = gst_tfx_row_run (&row, &mapped.block, &mapped.block, TRUE);
  gst_tfx_counts_note_rows (&priv->counts, &filter->counts);
  gst_tfx_row_unlock (&row);
  gst_tfx_buffer_unmap (&mapped);
  /* It ran only so that values follow their curves. */
  if (is_gap) {
    gst_buffer_memset (buffer, 0, 0, -1);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  }
  return err;
}

void
gst_tfx_stream_note_time (GstTfxElement *self, GstClockTime elapsed,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  priv->ns_per_frame = (gdouble)elapsed / n_frames;
  priv->n_untimed = elapsed < SHORT_TIME ? TIMED_EVERY - 1 : 0;
  gst_tfx_load_note (&priv->counts.load, elapsed,
      MAX (1, gst_util_uint64_scale_int (n_frames, GST_SECOND,
                  GST_AUDIO_INFO_RATE (&priv->info))));
  gst_tfx_count_add (&priv->counts.process_time, elapsed);
}

/* Posts one warning per stream, and logs later ones. */
static void
gst_tfx_stream_warn_of_bad_samples (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gchar *where = g_strdup_printf ("buffer %" G_GUINT64_FORMAT
                                  " (time %" GST_TIME_FORMAT ")",
      priv->counts.n_buffers, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));

  priv->counts.told_recoveries = priv->counts.n_recoveries;
  if (priv->bad_told)
    GST_WARNING_OBJECT (self, "NaN or infinity again, in %s", where);
  else
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("NaN or infinity in %s: the filter state was cleared.", where),
        (NULL));
  priv->bad_told = TRUE;
  g_free (where);
}

gboolean
gst_tfx_stream_conclude (GstTfxElement *self, GstBuffer *buffer, gint err)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxCounts *counts = &priv->counts;
  const gsize size = gst_buffer_get_size (buffer);

  if (G_UNLIKELY (counts->error < 0))
    gst_tfx_device_fall_back (self, counts->error);
  if (G_UNLIKELY (err < 0)) {
    if (err == -EFAULT)
      GST_ELEMENT_ERROR (self, RESOURCE, READ,
          ("Cannot map the memory of a buffer of %" G_GSIZE_FORMAT " bytes.",
              size),
          (NULL));
    else
      GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
          ("Cannot filter a buffer of %" G_GSIZE_FORMAT " bytes: %s.", size,
              g_strerror (-err)),
          (NULL));
    return FALSE;
  }
  priv->is_running = TRUE;
  if (G_UNLIKELY (counts->n_recoveries != counts->told_recoveries))
    gst_tfx_stream_warn_of_bad_samples (self, buffer);
  if (G_UNLIKELY (counts->n_lost != counts->told_lost)) {
    GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
        ("%" G_GUINT64_FORMAT
         " frames were not filtered: their memory could not "
         "be mapped.",
            counts->n_lost - counts->told_lost),
        (NULL));
    counts->told_lost = counts->n_lost;
  }
  return TRUE;
}

gboolean
gst_tfx_stream_run (GstTfxElement *self, GstBuffer **buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean is_timed = priv->n_untimed == 0;
  GstClockTime start = 0;
  gint err;

  if (G_UNLIKELY (priv->device.cuda)) {
    gst_tfx_device_retry (self, n_frames);
    gst_tfx_device_consider (self, *buffer, n_frames);
  }
  if (is_timed)
    start = gst_util_get_timestamp ();
  if (G_UNLIKELY (priv->device.has_cuda_memory) &&
      gst_tfx_cuda_flow_is_needed (self, *buffer))
    err = gst_tfx_cuda_flow_filter (self, buffer, n_frames);
  else
    err = gst_tfx_stream_filter (self, *buffer, n_frames);
  if (is_timed) {
    gst_tfx_stream_note_time (self, gst_util_get_timestamp () - start,
        n_frames);
  } else {
    priv->n_untimed--;
    gst_tfx_count_add (&priv->counts.process_time,
        (guint64)(priv->ns_per_frame * n_frames));
  }
  return gst_tfx_stream_conclude (self, *buffer, err) &&
         (G_LIKELY (!priv->device.has_cuda_memory) ||
             gst_tfx_cuda_flow_deliver (self, buffer, n_frames));
}

GstBuffer *
gst_tfx_stream_make_silence (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *buffer = gst_tfx_buffer_new (&priv->info, n_frames);

  if (!buffer) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory for %" G_GSIZE_FORMAT " frames.", n_frames), (NULL));
    return NULL;
  }
  gst_buffer_memset (buffer, 0, 0, -1);
  if (priv->control.is_followed) {
    gst_tfx_control_begin (self, GST_CLOCK_TIME_NONE);
    gst_tfx_control_cover_rest (self, n_frames);
  }
  if (gst_tfx_stream_run (self, &buffer, n_frames))
    return buffer;
  gst_buffer_unref (buffer);
  return NULL;
}

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

/* Sends a buffer that an identity leaves as it is, or an empty one, which has
 * the time of the next output frame. */
static GstFlowReturn
gst_tfx_stream_pass (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (n_frames > 0) {
    gst_tfx_stream_advance (self, n_frames);
    priv->is_running = TRUE;
  } else if (gst_tfx_times_held (&priv->times) > 0) {
    buffer = gst_buffer_make_writable (buffer);
    gst_tfx_times_stamp (&priv->times, buffer, 0);
  }
  return gst_tfx_out_push (self, buffer);
}

/* Filters and sends a buffer: here, two at a time on a device, or in the next
 * element. */
static GstFlowReturn
gst_tfx_stream_process (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow;

  if (G_UNLIKELY (priv->flights.held) &&
      !gst_tfx_flight_takes (self, buffer, n_frames)) {
    flow = gst_tfx_flight_drain (self);
    if (flow != GST_FLOW_OK) {
      gst_buffer_unref (buffer);
      return flow;
    }
  }
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
  /* Stages with a curve are steps from the first frame on; room is made when
   * the CPU has run them. */
  if (G_UNLIKELY (!priv->is_running)) {
    gst_tfx_settings_reserve (self, n_frames);
    priv->reserved_frames = 0;
  } else if (G_UNLIKELY (n_frames > priv->reserved_frames)) {
    gst_tfx_settings_reserve (self, n_frames);
  }
  buffer = gst_buffer_make_writable (buffer);
  if (priv->times.is_backwards)
    gst_tfx_stream_reverse (self, buffer);
  else if (gst_tfx_fusion_defers (self) &&
           !gst_tfx_fusion_is_alone (self, n_frames) &&
           gst_tfx_stream_defer (self, buffer, n_frames)) {
    gst_tfx_settings_count_step (self, n_frames);
    return gst_tfx_out_push (self, buffer);
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
  if (gst_tfx_stream_run (self, &buffer, n_frames))
    return gst_tfx_out_send (self, buffer, n_frames);
  gst_buffer_unref (buffer);
  return GST_FLOW_ERROR;
}

/* ---- the chain function -------------------------------------------------- */

/* Number of frames of a buffer; -1 after an error message. */
static gssize
gst_tfx_stream_count (GstTfxElement *self, GstBuffer *buffer,
    const GstAudioInfo *info)
{
  gssize n_frames = gst_tfx_buffer_n_frames (buffer, info);
  gchar *why = NULL;

  if (G_LIKELY (n_frames >= 0))
    return n_frames;
  n_frames = gst_tfx_buffer_check (buffer, info, &why);
  if (n_frames < 0)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("Invalid input: %s.", why),
        (NULL));
  g_free (why);
  return n_frames;
}

/* Converts to the number of channels of the filter; NULL after an error
 * message. */
static GstBuffer *
gst_tfx_stream_widen (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gssize n_frames = gst_tfx_stream_count (self, buffer, &priv->in_info);

  if (n_frames < 0) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  buffer =
      gst_tfx_channels_convert (buffer, &priv->in_info, &priv->info, n_frames);
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
  const guint rate = GST_AUDIO_INFO_RATE (&priv->info);
  const GstClockTime length =
      gst_util_uint64_scale (n_frames, GST_SECOND, rate);

  /* A duration that is too long would clip too much. */
  if (GST_BUFFER_DURATION_IS_VALID (buffer) &&
      GST_BUFFER_DURATION (buffer) > length) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_DURATION (buffer) = length;
  }
  buffer = gst_audio_buffer_clip (buffer, &priv->segment, rate,
      GST_AUDIO_INFO_BPF (&priv->info));
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

/* Handles a break in the timestamps before the buffer, then changed properties
 * and curves. */
static GstFlowReturn
gst_tfx_stream_enter (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean is_marked = GST_BUFFER_IS_DISCONT (buffer);
  const GstClockTime begin =
      gst_tfx_times_begin (&priv->times, GST_BUFFER_PTS (buffer), n_frames);
  GstFlowReturn flow = GST_FLOW_OK;

  if (G_UNLIKELY (gst_tfx_times_is_break (&priv->times, begin, is_marked)) &&
      (is_marked || n_frames > 0)) {
    GST_DEBUG_OBJECT (self,
        "break: a buffer%s at %" GST_TIME_FORMAT ", expected %" GST_TIME_FORMAT,
        is_marked ? " marked DISCONT" : "", GST_TIME_ARGS (begin),
        GST_TIME_ARGS (priv->times.next));
    flow = gst_tfx_out_drain (self, "a break in the timestamps");
    priv->discont_out |= is_marked;
  }
  gst_tfx_times_advance (&priv->times, begin, n_frames);
  if (flow != GST_FLOW_OK)
    return flow;
  if (n_frames > 0 && gst_tfx_control_enter (self, begin))
    gst_tfx_control_cover (self, n_frames);
  else if (g_atomic_int_get (&priv->dirty))
    gst_tfx_settings_update (self);
  /* The buffer has the flag itself. */
  if (priv->delay == 0)
    priv->discont_out = FALSE;
  return GST_FLOW_OK;
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

/* Sends a buffer in flight if something is about to change; negotiates again,
 * and changes the number of channels, if necessary. */
static GstFlowReturn
gst_tfx_stream_negotiate (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean is_dirty = g_atomic_int_get (&priv->dirty);
  GstFlowReturn flow = GST_FLOW_OK;

  if (G_UNLIKELY (priv->flights.held) &&
      (is_dirty || GST_PAD_NEEDS_RECONFIGURE (priv->src) ||
          gst_tfx_control_is_wanted (self)))
    flow = gst_tfx_flight_drain (self);
  if (flow == GST_FLOW_OK && G_UNLIKELY (is_dirty))
    flow = gst_tfx_channel_switch_follow (self);
  if (flow == GST_FLOW_OK && G_UNLIKELY (GST_PAD_NEEDS_RECONFIGURE (priv->src)))
    flow = gst_tfx_caps_renegotiate (self);
  return flow;
}

static GstFlowReturn
gst_tfx_stream_take (GstTfxElement *self, GstBuffer *buffer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstFlowReturn flow = GST_FLOW_NOT_NEGOTIATED;
  gssize n_frames = 0;

  if (G_LIKELY (priv->filter))
    flow = gst_tfx_stream_negotiate (self);
  else
    GST_DEBUG_OBJECT (self, "dropped a buffer: no caps");
  if (flow == GST_FLOW_OK &&
      G_UNLIKELY (priv->channels.in != priv->channels.most)) {
    buffer = gst_tfx_stream_widen (self, buffer);
    flow = buffer ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  /* Before it is clipped, which would hide an incomplete frame. */
  if (flow == GST_FLOW_OK)
    n_frames = gst_tfx_stream_count (self, buffer, &priv->info);
  if (G_UNLIKELY (priv->discont_in && n_frames > 0)) {
    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    priv->discont_in = FALSE;
  }
  if (n_frames > 0 && !gst_tfx_stream_is_inside (&priv->segment, buffer)) {
    buffer = gst_tfx_stream_clip (self, buffer, n_frames);
    if (!buffer)
      return GST_FLOW_OK;
    n_frames = gst_tfx_stream_count (self, buffer, &priv->info);
  }
  if (n_frames < 0)
    flow = GST_FLOW_ERROR;
  if (flow == GST_FLOW_OK)
    flow = gst_tfx_stream_enter (self, buffer, n_frames);
  if (flow == GST_FLOW_OK) {
    gst_tfx_stream_note (self, buffer, n_frames);
    return gst_tfx_stream_process (self, buffer, n_frames);
  }
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
