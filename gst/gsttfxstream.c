/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxstream.c: the streaming side of GstTfxFilter: caps, events, buffers.
 *
 * The state of the filter starts afresh where the stream does: after a flush,
 * at a segment that differs from the one before, at a discontinuity, at a GAP
 * event, and when rate or channels change.  It lives on when the sample format
 * or the layout alone changes.
 *
 * All of this runs in the streaming thread.
 */
#include <string.h>

#include "gsttfxprivate.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* The methods of GstAudioFilter, which do the general part. */
static GstBaseTransformClass *parent_class;

/* The backend for the present device setting; the CPU where CUDA is not. */
static const TfxBackend *
gst_tfx_stream_choose_backend (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxDevice device;

  GST_OBJECT_LOCK (self);
  device = priv->device;
  GST_OBJECT_UNLOCK (self);

  if (device == GST_TFX_DEVICE_CUDA && !priv->cuda_told) {
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("device=cuda cannot be met: this build of the plugin has no CUDA "
         "support. The CPU filters instead."),
        (NULL));
  }
  priv->cuda_told = device == GST_TFX_DEVICE_CUDA;
  return tfx_cpu_backend ();
}

/* With the object lock held. */
static void
gst_tfx_stream_note_engine (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  tfx_exec_get_stats (priv->engine.exec, &priv->stats);
  priv->n_stages = tfx_plan_n_stages (priv->engine.plan);
  priv->n_sections = tfx_plan_n_sections (priv->engine.plan);
}

/* Makes the engine run what the properties ask for.  On failure it goes on
 * with the plan that it has. */
static gboolean
gst_tfx_stream_update (GstTfxFilter *self, const GstAudioInfo *info,
    gchar **why)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  guint rate = GST_AUDIO_INFO_RATE (info);
  guint n_channels = GST_AUDIO_INFO_CHANNELS (info);
  TfxStage *stage;
  gboolean ok;

  /* Cleared before the properties are read: what is set meanwhile counts for
   * the next buffer. */
  g_atomic_int_set (&priv->dirty, FALSE);
  gst_tfx_situations_begin (&priv->situations,
      g_atomic_int_compare_and_exchange (&priv->set_by_hand, TRUE, FALSE));

  stage = GST_TFX_FILTER_GET_CLASS (self)->build_stage (self, rate, n_channels,
      why);
  if (!stage)
    return FALSE;
  ok = gst_tfx_engine_set_stage (&priv->engine, stage, rate, n_channels,
      gst_tfx_stream_choose_backend (self), why);
  tfx_stage_unref (&stage);
  if (!ok)
    return FALSE;

  GST_OBJECT_LOCK (self);
  gst_tfx_stream_note_engine (self);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
gst_tfx_stream_reset (GstTfxFilter *self, const gchar *because)
{
  if (gst_tfx_engine_reset (&gst_tfx_filter_get_private (self)->engine))
    GST_DEBUG_OBJECT (self, "%s: the filter starts afresh", because);
}

/* Whether channel k of the one is the same channel as channel k of the other,
 * at the same rate. */
static gboolean
gst_tfx_stream_same_channels (const GstAudioInfo *a, const GstAudioInfo *b)
{
  gint n_channels = GST_AUDIO_INFO_CHANNELS (a);

  return GST_AUDIO_INFO_RATE (a) == GST_AUDIO_INFO_RATE (b) &&
         n_channels == GST_AUDIO_INFO_CHANNELS (b) &&
         !memcmp (a->position, b->position,
             MIN (n_channels, 64) * sizeof (a->position[0]));
}

static gboolean
gst_tfx_stream_setup (GstAudioFilter *filter, const GstAudioInfo *info)
{
  GstTfxFilter *self = GST_TFX_FILTER (filter);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gchar *why = NULL;

  if (priv->engine.exec && gst_tfx_stream_same_channels (&priv->info, info)) {
    priv->info = *info;
    return TRUE;
  }

  gst_tfx_stream_reset (self, "other channels or another rate");
  if (!gst_tfx_stream_update (self, info, &why)) {
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("The filter cannot be made: %s.", why), (NULL));
    g_free (why);
    return FALSE;
  }
  priv->info = *info;
  GST_INFO_OBJECT (self, "%d channels at %d Hz: %u sections on %s, kernel %s",
      GST_AUDIO_INFO_CHANNELS (info), GST_AUDIO_INFO_RATE (info),
      priv->n_sections, priv->stats.device, priv->stats.kernel);
  return TRUE;
}

static gboolean
gst_tfx_stream_start (GstBaseTransform *trans)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  GST_OBJECT_LOCK (self);
  priv->n_buffers = priv->n_frames = 0;
  priv->process_time = 0;
  priv->n_stages = priv->n_sections = 0;
  memset (&priv->stats, 0, sizeof (priv->stats));
  GST_OBJECT_UNLOCK (self);

  priv->recoveries = 0;
  priv->bad_told = priv->cuda_told = FALSE;
  gst_segment_init (&priv->segment, GST_FORMAT_UNDEFINED);
  gst_tfx_situations_clear (&priv->situations);
  return TRUE;
}

static gboolean
gst_tfx_stream_stop (GstBaseTransform *trans)
{
  GstTfxFilterPrivate *priv =
      gst_tfx_filter_get_private (GST_TFX_FILTER (trans));

  gst_tfx_engine_clear (&priv->engine);
  gst_tfx_scratch_clear (&priv->scratch);
  return TRUE;
}

/* Position and duration say nothing on which samples come. */
static gboolean
gst_tfx_stream_same_segment (const GstSegment *a, const GstSegment *b)
{
  return a->format == b->format && a->flags == b->flags && a->rate == b->rate &&
         a->applied_rate == b->applied_rate && a->base == b->base &&
         a->offset == b->offset && a->start == b->start && a->stop == b->stop &&
         a->time == b->time;
}

static gboolean
gst_tfx_stream_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstSegment segment;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      priv->bad_told = FALSE;
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_tfx_stream_reset (self, "flush");
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &segment);
      if (!gst_tfx_stream_same_segment (&segment, &priv->segment))
        gst_tfx_stream_reset (self, "new segment");
      priv->segment = segment;
      break;
    case GST_EVENT_GAP:
      gst_tfx_stream_reset (self, "gap");
      break;
    default:
      break;
  }
  return parent_class->sink_event (trans, event);
}

/* Controlled properties take their values for the buffer's stream time.  A
 * buffer that begins before the segment is about to be clipped to it. */
static void
gst_tfx_stream_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv =
      gst_tfx_filter_get_private (GST_TFX_FILTER (trans));
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (time) ||
      trans->segment.format != GST_FORMAT_TIME)
    return;
  time = MAX (time, trans->segment.start);
  time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, time);
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return;

  g_atomic_pointer_set (&priv->control_thread, g_thread_self ());
  gst_object_sync_values (GST_OBJECT (trans), time);
  g_atomic_pointer_set (&priv->control_thread, NULL);
}

/* The number of frames in a buffer, or -1 after an error message. */
static gssize
gst_tfx_stream_check (GstTfxFilter *self, GstBuffer *buffer)
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

/* Checks here too: clipping to the segment would hide a broken frame. */
static GstFlowReturn
gst_tfx_stream_submit_input_buffer (GstBaseTransform *trans,
    gboolean is_discont, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);

  if (gst_tfx_filter_get_private (self)->engine.exec &&
      gst_tfx_stream_check (self, buffer) < 0) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  if (is_discont)
    gst_tfx_stream_reset (self, "discontinuity");
  return parent_class->submit_input_buffer (trans, is_discont, buffer);
}

/* One warning a stream; the times that follow are in the log. */
static void
gst_tfx_stream_tell_of_bad_samples (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gchar *where = g_strdup_printf ("buffer %" G_GUINT64_FORMAT
                                  " (time %" GST_TIME_FORMAT ")",
      priv->n_buffers, GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));

  priv->recoveries = priv->stats.recoveries;
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

/* Runs the plan over the samples of a buffer. */
static gboolean
gst_tfx_stream_run (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxBuffer mapped;
  gint err;

  if (!gst_tfx_buffer_map (&mapped, buffer, &priv->info, &priv->scratch)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("The memory of a buffer of %" G_GSIZE_FORMAT " bytes cannot be "
         "mapped.",
            gst_buffer_get_size (buffer)),
        (NULL));
    return FALSE;
  }
  err = gst_tfx_engine_run (&priv->engine, &mapped.block);
  gst_tfx_buffer_unmap (&mapped);
  if (err < 0) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("The engine refuses a buffer of %" G_GSIZE_FORMAT " bytes: %s.",
            gst_buffer_get_size (buffer), g_strerror (-err)),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

static GstFlowReturn
gst_tfx_stream_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstClockTime start = gst_util_get_timestamp ();
  gboolean pass;
  gssize n_frames;
  gchar *why = NULL;

  if (g_atomic_int_get (&priv->dirty) &&
      !gst_tfx_stream_update (self, &priv->info, &why)) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("The filter cannot be changed: %s. It goes on as it was.", why),
        (NULL));
    g_free (why);
  }

  n_frames = gst_tfx_stream_check (self, buffer);
  if (n_frames < 0)
    return GST_FLOW_ERROR;

  /* A filter rings on after its input has ended: what is marked as a gap stays
   * one only if it is silent before and behind the filter. */
  pass =
      n_frames == 0 || (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) &&
                           tfx_exec_is_silent (priv->engine.exec) &&
                           gst_tfx_buffer_is_zero (buffer));
  if (!pass) {
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_GAP);
    if (!gst_tfx_stream_run (self, buffer))
      return GST_FLOW_ERROR;
  }

  GST_OBJECT_LOCK (self);
  gst_tfx_stream_note_engine (self);
  priv->n_buffers++;
  priv->n_frames += n_frames;
  priv->process_time += gst_util_get_timestamp () - start;
  GST_OBJECT_UNLOCK (self);

  if (priv->stats.recoveries != priv->recoveries)
    gst_tfx_stream_tell_of_bad_samples (self, buffer);
  return GST_FLOW_OK;
}

void
gst_tfx_stream_init_class (GstTfxFilterClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstAudioFilterClass *audio_class = GST_AUDIO_FILTER_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_tfx_stream_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_tfx_stream_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_tfx_stream_sink_event);
  trans_class->before_transform =
      GST_DEBUG_FUNCPTR (gst_tfx_stream_before_transform);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_tfx_stream_submit_input_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_tfx_stream_transform_ip);
  trans_class->transform_ip_on_passthrough = FALSE;
  audio_class->setup = GST_DEBUG_FUNCPTR (gst_tfx_stream_setup);
}
