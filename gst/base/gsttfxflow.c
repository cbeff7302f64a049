/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflow.c: the samples of GstTfxFilter: filtered, or left in the filter,
 * and sent at the end, at the right time.
 *
 * A filter with a delay d puts out, for each buffer, the frames that came d
 * frames earlier.  The first d outputs stand before the start of the stream
 * and are dropped; d more come when it ends.  So as many frames go out as come
 * in, and each of them has the time that it came with.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxprivate.h"
#include "gsttfxregistry.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* Times that jump by more than this are a gap in the stream, even if nobody
 * says so; what is less is jitter.  The default alignment-threshold of
 * GStreamer's audio sinks. */
#define GAP_THRESHOLD (40 * GST_MSECOND)

/* Frames that are drained at a time. */
#define MAX_DRAIN_FRAMES 65536

gssize
gst_tfx_flow_check (GstTfxFilter *self, GstBuffer *buffer)
{
  gchar *why = NULL;
  gssize n_frames = gst_tfx_buffer_check (buffer,
      &gst_tfx_filter_get_private (self)->info, &why);

  if (n_frames < 0)
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("Bad audio comes in: %s.", why),
        (NULL));
  g_free (why);
  return n_frames;
}

/* One warning a stream; the times that follow are in the log. */
static void
gst_tfx_flow_tell_of_bad_samples (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gchar *where = g_strdup_printf ("buffer %" G_GUINT64_FORMAT
                                  " (time %" GST_TIME_FORMAT ")",
      priv->counts.n_buffers, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));

  priv->recoveries = priv->counts.engine.recoveries;
  if (priv->bad_told) {
    GST_WARNING_OBJECT (self, "NaN or infinity again, in %s", where);
  } else {
    priv->bad_told = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("NaN or infinity came in with %s: the state of the filter was "
         "cleared and it goes on.",
            where),
        (NULL));
  }
  g_free (where);
}

/* ---- samples ------------------------------------------------------------------ */

/* Filters the samples of a buffer, or fills it with what the filter still
 * holds. */
static gboolean
gst_tfx_flow_process (GstTfxFilter *self, GstBuffer **buffer, gboolean drain)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxBuffer mapped;
  gint err;

  if (!gst_tfx_buffer_map (&mapped, *buffer, &priv->info, &priv->scratch)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("The memory of a buffer of %" G_GSIZE_FORMAT " bytes cannot be "
         "mapped.",
            gst_buffer_get_size (*buffer)),
        (NULL));
    return FALSE;
  }
  if (drain)
    err = gst_tfx_engine_drain (&priv->engine, &mapped.block);
  else
    err = gst_tfx_engine_run (&priv->engine, &mapped.block);
  gst_tfx_buffer_unmap (&mapped);
  if (err < 0) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("The engine refuses a buffer of %" G_GSIZE_FORMAT " bytes: %s.",
            gst_buffer_get_size (*buffer), g_strerror (-err)),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* Frames that are held by stages which are not here any more, and which nobody
 * has taken over, are lost; takes the list of what was held before. */
static void
gst_tfx_flow_cut_lost (GstTfxFilter *self, GArray *before)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gsize n_kept = 0;

  for (guint i = before ? before->len : 0; i-- > 0;) {
    const GstTfxHeld *held = &g_array_index (before, GstTfxHeld, i);

    if (gst_tfx_engine_has_stage (&priv->engine, held->id))
      n_kept += held->n_frames;
    else if (n_kept + held->n_frames <= gst_tfx_times_held (&priv->times))
      gst_tfx_times_cut (&priv->times, n_kept, held->n_frames);
  }
  if (before)
    g_array_unref (before);
}

/* Takes the engine to the kind of buffers that come, and to what is pending on
 * them. */
static gboolean
gst_tfx_flow_prepare (GstTfxFilter *self, gsize n_frames, TfxChain *pending,
    guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  TfxSample sample = GST_AUDIO_INFO_WIDTH (&priv->info) == 32 ? TFX_SAMPLE_F32
                                                              : TFX_SAMPLE_F64;
  GstClockTime start;
  GError *error = NULL;
  GArray *held;

  gst_tfx_fusion_resume (self);
  if (!gst_tfx_engine_expect (&priv->engine, sample, n_frames, pending)) {
    start = gst_util_get_timestamp ();
    held = gst_tfx_engine_list_held (&priv->engine);
    gst_tfx_engine_prepare (&priv->engine, sample, pending, who, &error);
    gst_tfx_flow_cut_lost (self, held);
    gst_tfx_counts_add (&priv->counts.process_time,
        gst_util_get_timestamp () - start);
  }
  if (error) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR,
        error->domain, error->code,
        g_strdup_printf ("The filter cannot be made: %s.", error->message),
        NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_clear_error (&error);
    return FALSE;
  }
  if (gst_tfx_engine_take_note (&priv->engine))
    gst_tfx_registry_claim (self, &priv->engine);
  return TRUE;
}

gboolean
gst_tfx_flow_update (GstTfxFilter *self, gsize n_frames, TfxChain *pending,
    guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gboolean is_away, again = TRUE;
  GError *error = NULL;

  while (again && g_atomic_int_get (&priv->dirty) && !priv->is_step) {
    if (n_frames > 0 && gst_tfx_filter_is_running (priv) &&
        !(priv->fusion.defers && gst_tfx_fusion_decide (self)) &&
        !gst_tfx_flow_prepare (self, n_frames, pending, who))
      return FALSE;
    is_away = priv->fusion.has_left;
    if (!gst_tfx_stream_update (self, &priv->info, &error)) {
      gst_tfx_filter_report_refusal (self, error);
      g_clear_error (&error);
      break;
    }
    /* It cannot be done where the stage is run: it comes back for that. */
    again = is_away && priv->was_refused && !gst_tfx_fusion_decide (self);
  }
  return TRUE;
}

gboolean
gst_tfx_flow_is_gap (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstClockTimeDiff jump = gst_tfx_times_jump (&priv->times, buffer);

  if (priv->segment.rate < 0.0)
    return ABS (jump) > GST_SECOND / GST_AUDIO_INFO_RATE (&priv->info);
  return (GstClockTime)ABS (jump) > GAP_THRESHOLD;
}

/* A step to another filter is over when its time has passed and all the frames
 * by which the delay grew were dropped. */
static void
gst_tfx_flow_count_step (GstTfxFilter *self, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (!priv->is_step)
    return;
  priv->n_hold -= MIN (priv->n_hold, n_frames);
  if (priv->n_hold == 0 && gst_tfx_engine_skip (&priv->engine) == 0) {
    priv->is_step = FALSE;
    gst_tfx_filter_mark_ready (self);
  }
}

/* Filters *place, a buffer of at least one frame; another one may take its
 * place.  DROPPED if none of what comes out belongs to the stream. */
static GstFlowReturn
gst_tfx_flow_filter (GstTfxFilter *self, GstBuffer **place, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxEngine *engine = &priv->engine;
  gsize skip = MIN (gst_tfx_engine_skip (engine), n_frames);
  GstBuffer *buffer = *place;
  gboolean is_silent;

  /* A filter rings on after its input has ended: what is marked as a gap stays
   * one only if it is silent before and behind the filter. */
  is_silent = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) &&
              tfx_exec_is_silent (engine->exec) &&
              gst_tfx_buffer_is_zero (buffer);
  if (!is_silent)
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_GAP);

  gst_tfx_times_add (&priv->times, buffer, n_frames);
  if (is_silent && skip == 0)
    gst_tfx_engine_pass (engine, n_frames);
  else if (!gst_tfx_flow_process (self, place, FALSE))
    return GST_FLOW_ERROR;
  buffer = *place;
  gst_tfx_flow_count_step (self, n_frames);

  if (skip == n_frames)
    return GST_BASE_TRANSFORM_FLOW_DROPPED;
  if (skip > 0)
    gst_tfx_buffer_drop (buffer, &priv->info, skip);
  if (gst_tfx_engine_delay (engine) > 0)
    gst_tfx_times_stamp (&priv->times, buffer, n_frames - skip);
  else
    gst_tfx_times_pass (&priv->times, n_frames);
  return GST_FLOW_OK;
}

/* Reading the clock takes longer than to filter a short buffer, so not all of
 * them are timed: the others count as much for each frame as the last that
 * was. */
#define TIMED_EVERY 8
#define SHORT_TIME (20 * GST_USECOND)

static GstFlowReturn
gst_tfx_flow_filter_timed (GstTfxFilter *self, GstBuffer **buffer,
    gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstClockTime start, elapsed;
  GstFlowReturn flow;

  if (priv->n_untimed > 0) {
    priv->n_untimed--;
    flow = gst_tfx_flow_filter (self, buffer, n_frames);
    elapsed = priv->ns_per_frame * n_frames;
  } else {
    start = gst_util_get_timestamp ();
    flow = gst_tfx_flow_filter (self, buffer, n_frames);
    elapsed = gst_util_get_timestamp () - start;
    priv->ns_per_frame = (gdouble)elapsed / n_frames;
    priv->n_untimed = elapsed < SHORT_TIME ? TIMED_EVERY - 1 : 0;
  }
  gst_tfx_counts_add (&priv->counts.process_time, elapsed);
  return flow;
}

GstFlowReturn
gst_tfx_flow_run (GstTfxFilter *self, GstBuffer **buffer, gsize n_frames,
    TfxChain *pending, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstFlowReturn flow;

  if (!gst_tfx_flow_prepare (self, n_frames, pending, who))
    return GST_FLOW_ERROR;
  flow = gst_tfx_flow_filter_timed (self, buffer, n_frames);
  gst_tfx_counts_note_engine (&priv->counts, &priv->engine);
  if (priv->counts.engine.recoveries != priv->recoveries)
    gst_tfx_flow_tell_of_bad_samples (self, *buffer);
  return flow;
}

/* ---- the end -------------------------------------------------------------------- */

/* The next frames that the filter still holds; *buffer is NULL if none of them
 * belongs to the stream. */
static GstFlowReturn
gst_tfx_flow_drain_some (GstTfxFilter *self, gsize n_frames, GstBuffer **out)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gsize skip = MIN (gst_tfx_engine_skip (&priv->engine), n_frames);
  GstBuffer *buffer = gst_tfx_buffer_new (&priv->info, n_frames);

  *out = NULL;
  if (!buffer) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT,
        ("No memory for the last %" G_GSIZE_FORMAT " frames.", n_frames),
        (NULL));
    return GST_FLOW_ERROR;
  }
  if (!gst_tfx_flow_process (self, &buffer, TRUE)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  if (skip == n_frames) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  if (skip > 0)
    gst_tfx_buffer_drop (buffer, &priv->info, skip);
  gst_tfx_times_stamp (&priv->times, buffer, n_frames - skip);
  *out = buffer;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_tfx_flow_drain (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gsize left = priv->engine.used ? gst_tfx_engine_delay (&priv->engine) : 0;
  GstFlowReturn flow = GST_FLOW_OK;

  while (left > 0 && flow == GST_FLOW_OK) {
    gsize n_frames = MIN (left, MAX_DRAIN_FRAMES);
    GstBuffer *buffer;

    flow = gst_tfx_flow_drain_some (self, n_frames, &buffer);
    if (buffer)
      flow = gst_tfx_pads_push (self, buffer);
    left -= n_frames;
    gst_tfx_counts_note_engine (&priv->counts, &priv->engine);
  }
  return flow;
}
