/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrun.c: runs the filter of a GstTfxElement, and the buffer's pending
 * filters, over the samples of a buffer.
 *
 * All of this runs in the streaming thread.
 */
#include <errno.h>
#include <string.h>

#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Reading the clock takes longer than filtering a short buffer, so one in
 * TIMED_EVERY is timed; the others count with its time per frame. */
#define TIMED_EVERY 8
#define SHORT_TIME (20 * GST_USECOND)

/* Limits of a buffer of silence. */
#define MAX_SILENCE_BYTES ((gsize)1 << 20)
#define MAX_SILENCE_FRAMES 65536

gboolean
gst_tfx_run_is_silent (GstTfxElement *self)
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
gst_tfx_run_advance (GstTfxElement *self, gsize n_frames)
{
  GstTfxSharedFilter *filter = gst_tfx_element_get_private (self)->filter;
  const GstTfxRow row = { &filter->filter, 1, filter };

  gst_tfx_row_lock (&row);
  gst_tfx_row_pass (&row, n_frames);
  gst_tfx_row_unlock (&row);
}

/* Backward streams too are filtered in playback order. */
void
gst_tfx_run_reverse (GstBuffer *buffer, const GstAudioInfo *info,
    GstTfxScratch *scratch)
{
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  const gsize size = GST_AUDIO_INFO_BPS (info);
  GstTfxBuffer mapped;
  guint64 sample;

  if (gst_buffer_get_size (buffer) == 0 || (meta && meta->samples == 0))
    return;
  /* A device may fail once.  The next reader reports memory that is lost. */
  if (!gst_tfx_buffer_map (&mapped, buffer, info, scratch) &&
      !gst_tfx_buffer_map (&mapped, buffer, info, scratch))
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

/* Runs the buffer's pending filters and the element's own in place. */
static gint
gst_tfx_run_filter (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gint err = -EFAULT;
  GstTfxRun run;

  gst_tfx_fusion_begin (self, buffer, n_frames, FALSE, &priv->scratch, &run);
  if (G_UNLIKELY (gst_tfx_control_is_partial (self, n_frames)) &&
      run.in.is_mapped)
    err = gst_tfx_control_run (self, &run.row, &run.in.block, &run.in.block);
  else if (G_LIKELY (run.in.is_mapped))
    err = gst_tfx_row_run (&run.row, &run.in.block, &run.in.block, TRUE);
  gst_tfx_fusion_end (self, &run);
  gst_tfx_fusion_unmap (&run.in);
  return err;
}

void
gst_tfx_run_note_time (GstTfxElement *self, GstClockTime elapsed,
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
gst_tfx_run_warn_of_bad_samples (GstTfxElement *self, GstBuffer *buffer)
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
gst_tfx_run_conclude (GstTfxElement *self, GstBuffer *buffer, gint err)
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
    gst_tfx_run_warn_of_bad_samples (self, buffer);
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
gst_tfx_run_buffer (GstTfxElement *self, GstBuffer **buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean is_timed = priv->n_untimed == 0;
  GstClockTime start = 0;
  gboolean is_gap = FALSE;
  gint err = 0;

  if (G_UNLIKELY (priv->device.cuda)) {
    gst_tfx_device_retry (self, n_frames);
    gst_tfx_device_consider (self, *buffer, n_frames);
  }
  if (is_timed)
    start = gst_util_get_timestamp ();
  /* A filter decays after its input ends: a buffer stays marked as a gap only
   * if its input and its output are silent.  Under a curve it is filtered all
   * the same, so that parameters follow the curve. */
  if (GST_BUFFER_FLAG_IS_SET (*buffer, GST_BUFFER_FLAG_GAP)) {
    gst_tfx_pending_settle (*buffer);
    is_gap = gst_tfx_run_is_silent (self) &&
             gst_tfx_buffer_is_zero (*buffer, &priv->info);
    if (!is_gap)
      GST_BUFFER_FLAG_UNSET (*buffer, GST_BUFFER_FLAG_GAP);
  }
  if (is_gap && !priv->control.is_followed) {
    gst_tfx_run_advance (self, n_frames);
  } else if (G_UNLIKELY (priv->device.has_cuda_memory) &&
             gst_tfx_cuda_flow_is_needed (self, *buffer)) {
    err = gst_tfx_cuda_flow_filter (self, buffer, n_frames, is_gap);
  } else {
    err = gst_tfx_run_filter (self, *buffer, n_frames);
    if (is_gap)
      gst_buffer_memset (*buffer, 0, 0, -1);
  }
  if (is_timed) {
    gst_tfx_run_note_time (self, gst_util_get_timestamp () - start, n_frames);
  } else {
    priv->n_untimed--;
    gst_tfx_count_add (&priv->counts.process_time,
        (guint64)(priv->ns_per_frame * n_frames));
  }
  return gst_tfx_run_conclude (self, *buffer, err) &&
         (G_LIKELY (!priv->device.has_cuda_memory) ||
             gst_tfx_cuda_flow_deliver (self, buffer, n_frames));
}

GstBuffer *
gst_tfx_run_silence (GstTfxElement *self, GstClockTime begin, gsize *n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gsize n_fit = MAX_SILENCE_BYTES / GST_AUDIO_INFO_BPF (&priv->info);
  GstBuffer *buffer;

  *n_frames = MIN (*n_frames, CLAMP (n_fit, 1, MAX_SILENCE_FRAMES));
  buffer = gst_tfx_buffer_new (&priv->info, *n_frames);
  if (!buffer) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("Out of memory for %" G_GSIZE_FORMAT " frames.", *n_frames), (NULL));
    return NULL;
  }
  gst_buffer_memset (buffer, 0, 0, -1);
  if (g_atomic_int_get (&priv->has_keys) && GST_CLOCK_TIME_IS_VALID (begin))
    gst_tfx_key_fill (self, buffer, begin, *n_frames, FALSE);
  if (priv->control.is_followed) {
    gst_tfx_control_begin (self, GST_CLOCK_TIME_NONE);
    gst_tfx_control_cover_rest (self, *n_frames);
  }
  if (gst_tfx_run_buffer (self, &buffer, *n_frames))
    return buffer;
  gst_buffer_unref (buffer);
  return NULL;
}
