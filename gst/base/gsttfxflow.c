/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflow.c: the buffers of GstTfxFilter: from the pad to the engine and
 * out again, at the right time.
 *
 * A filter with a delay d puts out, for each buffer, the frames that came d
 * frames earlier.  The first d outputs stand before the start of the stream
 * and are dropped; d more come when it ends.  So as many frames go out as come
 * in, and each of them has the time that it came with.
 *
 * All of this runs in the streaming thread.
 */
#include <errno.h>

#include "gsttfxcudaflow.h"
#include "gsttfxpending.h"
#include "gsttfxprivate.h"
#include "gsttfxregistry.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* Times that jump by more than this are a gap in the stream, even if nobody
 * says so; what is less is jitter.  The default alignment-threshold of
 * GStreamer's audio sinks. */
#define GAP_THRESHOLD (40 * GST_MSECOND)

/* Frames that are drained at a time. */
#define MAX_DRAIN_FRAMES 65536

/* The methods of GstAudioFilter, which do the general part. */
static GstBaseTransformClass *parent_class;

/* To ask each of no bindings for values takes time too. */
static gboolean
gst_tfx_flow_is_controlled (GstTfxFilter *self)
{
  GstTfxFilterClass *klass = GST_TFX_FILTER_GET_CLASS (self);

  return GST_OBJECT (self)->control_bindings ||
         (klass->has_controlled_children &&
             klass->has_controlled_children (self));
}

/* Controlled properties take their values for the buffer's stream time.  A
 * buffer that begins before the segment is about to be clipped to it. */
static void
gst_tfx_flow_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFilterClass *klass = GST_TFX_FILTER_GET_CLASS (self);
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (!gst_tfx_flow_is_controlled (self) || !GST_CLOCK_TIME_IS_VALID (time) ||
      trans->segment.format != GST_FORMAT_TIME)
    return;
  time = MAX (time, trans->segment.start);
  time = gst_segment_to_stream_time (&trans->segment, GST_FORMAT_TIME, time);
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return;

  g_atomic_pointer_set (&priv->control_thread, g_thread_self ());
  gst_object_sync_values (GST_OBJECT (trans), time);
  if (klass->sync_children)
    klass->sync_children (self, time);
  g_atomic_pointer_set (&priv->control_thread, NULL);
}

/* The number of frames in a buffer, or -1 after an error message. */
static gssize
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

/* Checks here too: clipping to the segment would hide a broken frame.
 *
 * The base class tells of a discontinuity again and again until something has
 * gone out. */
static GstFlowReturn
gst_tfx_flow_submit_input_buffer (GstBaseTransform *trans, gboolean is_discont,
    GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;

  priv->may_pass = FALSE;
  if (priv->engine.plan && gst_tfx_flow_check (self, buffer) < 0) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  if (GST_BUFFER_IS_DISCONT (buffer) || (is_discont && !priv->discont_seen))
    flow = gst_tfx_stream_end (self, "discontinuity");
  priv->discont_seen = is_discont;
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  flow = parent_class->submit_input_buffer (trans, is_discont, buffer);
  /* It came too late: there is a discontinuity behind it. */
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    priv->discont_seen = FALSE;
  return flow;
}

/* One warning a stream; the times that follow are in the log. */
static void
gst_tfx_flow_tell_of_bad_samples (GstTfxFilter *self, GstBuffer *buffer)
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

/* ---- samples ------------------------------------------------------------------ */

/* Filters a block in place, or fills it with what the filter still holds.  If a
 * device fails, the CPU does the rest. */
static gint
gst_tfx_flow_run_block (GstTfxFilter *self, TfxBlock block, gboolean drain)
{
  GstTfxEngine *engine = &gst_tfx_filter_get_private (self)->engine;
  gint err = drain ? gst_tfx_engine_drain (engine, &block)
                   : gst_tfx_engine_run (engine, &block, &block);
  gsize done;

  if (err >= 0 || !gst_tfx_device_fall_back (self, err))
    return err;
  if (drain)
    return gst_tfx_engine_drain (engine, &block);
  done = gst_tfx_engine_n_done (engine);
  block.data =
      (guint8 *)block.data +
      done * block.frame_stride *
          (block.type == TFX_SAMPLE_F32 ? sizeof (gfloat) : sizeof (gdouble));
  block.n_frames -= done;
  return gst_tfx_engine_run (engine, &block, &block);
}

/* What cannot be mapped because it is on a device that has failed is mapped at
 * a second attempt, or lost. */
static gboolean
gst_tfx_flow_map (GstTfxFilter *self, GstBuffer **buffer, gsize n_frames,
    GstTfxBuffer *mapped)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (gst_tfx_buffer_map (mapped, *buffer, &priv->info, &priv->scratch))
    return TRUE;
  if (!priv->place.may_meet)
    return FALSE;
  gst_tfx_device_fall_back (self, -EIO);
  return gst_tfx_buffer_map (mapped, *buffer, &priv->info, &priv->scratch) ||
         (gst_tfx_cuda_flow_replace (self, buffer, n_frames) &&
             gst_tfx_buffer_map (mapped, *buffer, &priv->info, &priv->scratch));
}

/* The same for a buffer. */
static gboolean
gst_tfx_flow_run_buffer (GstTfxFilter *self, GstBuffer **buffer, gsize n_frames,
    gboolean drain)
{
  gsize size = gst_buffer_get_size (*buffer);
  GstTfxBuffer mapped;
  gint err;

  if (!gst_tfx_flow_map (self, buffer, n_frames, &mapped)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ,
        ("The memory of a buffer of %" G_GSIZE_FORMAT " bytes cannot be "
         "mapped.",
            size),
        (NULL));
    return FALSE;
  }
  err = gst_tfx_flow_run_block (self, mapped.block, drain);
  gst_tfx_buffer_unmap (&mapped);
  if (err < 0) {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED,
        ("The engine refuses a buffer of %" G_GSIZE_FORMAT " bytes: %s.", size,
            g_strerror (-err)),
        (NULL));
    return FALSE;
  }
  return TRUE;
}

/* Filters the samples of *buffer, or fills it with what the filter still
 * holds.  Another buffer takes its place where memories change. */
static gboolean
gst_tfx_flow_process (GstTfxFilter *self, GstBuffer **buffer, gsize n_frames,
    gboolean drain)
{
  gboolean may_meet = gst_tfx_filter_get_private (self)->place.may_meet;

  if (may_meet && gst_tfx_cuda_flow_process (self, buffer, n_frames, drain))
    return TRUE;
  return gst_tfx_flow_run_buffer (self, buffer, n_frames, drain) &&
         (!may_meet || gst_tfx_cuda_flow_deliver (self, buffer, n_frames));
}

/* Takes the engine to the kind of buffers that come, and to what is pending on
 * them. */
static gboolean
gst_tfx_flow_prepare (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  guint64 who;
  TfxChain *pending = gst_tfx_pending_get (buffer, &who);
  TfxSample sample = GST_AUDIO_INFO_WIDTH (&priv->info) == 32 ? TFX_SAMPLE_F32
                                                              : TFX_SAMPLE_F64;
  GError *error = NULL;

  gst_tfx_fusion_resume (self);
  if (!gst_tfx_engine_prepare (&priv->engine, sample, n_frames, pending, who,
          &error) &&
      gst_tfx_device_fall_back (self, -EIO)) {
    g_clear_error (&error);
    gst_tfx_engine_prepare (&priv->engine, sample, n_frames, pending, who,
        &error);
  }
  if (error) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR,
        error->domain, error->code,
        g_strdup_printf ("The filter cannot be made: %s.", error->message),
        NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_clear_error (&error);
    return FALSE;
  }
  gst_tfx_device_consider (self, buffer, n_frames);
  if (gst_tfx_engine_take_note (&priv->engine))
    gst_tfx_registry_claim (self, &priv->engine);
  return TRUE;
}

/* Takes the filter to what the properties ask for.  What is pending, and state
 * that others have, must be here before: the new stage cross-fades from it. */
static gboolean
gst_tfx_flow_update (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gboolean is_running = priv->engine.used || priv->fusion.defers;
  GError *error = NULL;

  if (!g_atomic_int_get (&priv->dirty) || priv->is_step)
    return TRUE;
  if (n_frames > 0 && is_running && !gst_tfx_fusion_decide (self) &&
      !gst_tfx_flow_prepare (self, buffer, n_frames))
    return FALSE;
  if (!gst_tfx_stream_update (self, &priv->info, &error)) {
    gst_tfx_filter_report_refusal (self, error);
    g_clear_error (&error);
  }
  return TRUE;
}

/* A gap in the times between this buffer and the one before it.  A stream that
 * plays backwards has one between any two. */
static gboolean
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

/* Filters a buffer of at least one frame; another one may take its place.
 * DROPPED if none of what comes out belongs to the stream. */
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
  if (is_silent && skip == 0) {
    gst_tfx_engine_pass (engine, n_frames);
    if (priv->place.may_meet &&
        !gst_tfx_cuda_flow_deliver (self, place, n_frames))
      return GST_FLOW_ERROR;
  } else if (!gst_tfx_flow_process (self, place, n_frames, FALSE)) {
    return GST_FLOW_ERROR;
  }
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

/* With the object lock held. */
static void
gst_tfx_flow_note_engine (GstTfxFilterPrivate *priv)
{
  if (priv->engine.exec)
    tfx_exec_get_stats (priv->engine.exec, &priv->stats);
  priv->stats.uploads += priv->place.n_uploads;
  priv->stats.downloads += priv->place.n_downloads;
  priv->n_stages = tfx_plan_n_stages (priv->engine.plan);
  priv->n_sections = tfx_plan_n_sections (priv->engine.plan);
}

/* With the object lock held. */
static void
gst_tfx_flow_note_buffer (GstTfxFilterPrivate *priv, gsize n_frames)
{
  priv->n_buffers++;
  priv->n_frames += n_frames;
}

/* Filters a buffer of at least one frame with all that is pending on it;
 * another one may take its place. */
static GstFlowReturn
gst_tfx_flow_run (GstTfxFilter *self, GstBuffer **buffer, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstClockTime start = gst_util_get_timestamp ();
  GstFlowReturn flow;

  if (!gst_tfx_flow_prepare (self, *buffer, n_frames))
    return GST_FLOW_ERROR;
  flow = gst_tfx_flow_filter (self, buffer, n_frames);
  gst_tfx_pending_remove (*buffer);

  GST_OBJECT_LOCK (self);
  gst_tfx_flow_note_engine (priv);
  priv->process_time += gst_util_get_timestamp () - start;
  GST_OBJECT_UNLOCK (self);

  if (priv->stats.recoveries != priv->recoveries)
    gst_tfx_flow_tell_of_bad_samples (self, *buffer);
  return flow;
}

GstFlowReturn
gst_tfx_flow_run_here (GstTfxFilter *self, GstBuffer **buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gssize n_frames = gst_tfx_flow_check (self, *buffer);

  if (n_frames < 0)
    return GST_FLOW_ERROR;
  GST_OBJECT_LOCK (self);
  priv->n_deferred--;
  GST_OBJECT_UNLOCK (self);
  return gst_tfx_flow_run (self, buffer, n_frames);
}

/* Leaves the stage to the neighbour, if that can run it. */
static gboolean
gst_tfx_flow_defer (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (n_frames == 0 || !gst_tfx_fusion_defer (self, buffer))
    return FALSE;
  gst_tfx_engine_pass (&priv->engine, n_frames);
  GST_OBJECT_LOCK (self);
  gst_tfx_flow_note_buffer (priv, n_frames);
  priv->n_deferred++;
  priv->n_stages = priv->n_sections = 0;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* The buffer goes out filtered, or with the stage left to others; another one
 * may take its place. */
static GstFlowReturn
gst_tfx_flow_transform (GstTfxFilter *self, GstBuffer **place)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstBuffer *buffer = *place;
  gssize n_frames = gst_tfx_flow_check (self, buffer);
  GstFlowReturn flow = GST_FLOW_OK;

  if (n_frames < 0)
    return GST_FLOW_ERROR;
  if (n_frames > 0 && gst_tfx_flow_is_gap (self, buffer))
    flow = gst_tfx_stream_end (self, "gap in the times");
  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_tfx_flow_update (self, buffer, n_frames))
    return GST_FLOW_ERROR;
  if (n_frames > 0 && gst_tfx_fusion_decide (self)) {
    gst_tfx_fusion_watch (self);
    priv->may_pass = gst_tfx_flow_defer (self, buffer, n_frames);
    priv->fusion.is_leaving = priv->may_pass;
  }
  if (priv->may_pass)
    return GST_FLOW_OK;

  GST_OBJECT_LOCK (self);
  gst_tfx_flow_note_buffer (priv, n_frames);
  GST_OBJECT_UNLOCK (self);
  if (n_frames > 0)
    flow = gst_tfx_flow_run (self, place, n_frames);
  else
    gst_tfx_pending_remove (buffer);
  return flow;
}

/* Nobody calls it: gst_tfx_flow_generate_output() filters.  But the base class
 * takes an element without it for one that changes nothing. */
static GstFlowReturn
gst_tfx_flow_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  return GST_FLOW_NOT_SUPPORTED;
}

/* Whether the base class would do no more than to pass the buffer on, if the
 * stage is left to the neighbour as it was with the buffer before. */
static gboolean
gst_tfx_flow_is_plain (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime start = GST_BUFFER_PTS (buffer);
  GstClockTime length = GST_BUFFER_DURATION (buffer);

  return priv->may_pass && !g_atomic_int_get (&priv->dirty) &&
         !gst_tfx_flow_is_controlled (self) &&
         !GST_BUFFER_IS_DISCONT (buffer) && gst_buffer_is_writable (buffer) &&
         segment->format == GST_FORMAT_TIME &&
         GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (length) &&
         start >= segment->start &&
         (!GST_CLOCK_TIME_IS_VALID (segment->stop) ||
             (start <= segment->stop && length <= segment->stop - start)) &&
         !GST_PAD_NEEDS_RECONFIGURE (GST_BASE_TRANSFORM_SRC_PAD (self));
}

/* What has to be done for a buffer whose samples others filter is less than
 * what the base class does. */
GstFlowReturn
gst_tfx_flow_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (parent);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (gst_tfx_flow_is_plain (self, buffer)) {
    gssize n_frames = gst_tfx_flow_check (self, buffer);

    if (n_frames < 0) {
      gst_buffer_unref (buffer);
      return GST_FLOW_ERROR;
    }
    if (gst_tfx_flow_defer (self, buffer, n_frames))
      return gst_tfx_fusion_send (self, buffer);
  }
  return priv->base_chain (pad, parent, buffer);
}

void
gst_tfx_flow_init (GstTfxFilter *self)
{
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (self);

  gst_tfx_filter_get_private (self)->base_chain = GST_PAD_CHAINFUNC (pad);
  gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_flow_chain));
}

/* The buffer that goes out is not always the one that came in.
 *
 * One of which nothing is left is no discontinuity, as the base class would take
 * it for. */
static GstFlowReturn
gst_tfx_flow_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstBuffer *buffer = g_steal_pointer (&trans->queued_buf);
  GstFlowReturn flow;

  if (!buffer)
    return GST_FLOW_OK;
  buffer = gst_buffer_make_writable (buffer);
  flow = gst_tfx_flow_transform (self, &buffer);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? GST_FLOW_OK : flow;
  }
  gst_tfx_filter_get_private (self)->discont_seen = FALSE;
  *out = buffer;
  return GST_FLOW_OK;
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
  if (!gst_tfx_flow_process (self, &buffer, n_frames, TRUE)) {
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
  if (priv->discont_seen)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  priv->discont_seen = FALSE;
  *out = buffer;
  return GST_FLOW_OK;
}

GstFlowReturn
gst_tfx_flow_drain (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstPad *pad = GST_BASE_TRANSFORM_SRC_PAD (self);
  gsize left = priv->engine.used ? gst_tfx_engine_delay (&priv->engine) : 0;
  GstFlowReturn flow = GST_FLOW_OK;

  while (left > 0 && flow == GST_FLOW_OK) {
    gsize n_frames = MIN (left, MAX_DRAIN_FRAMES);
    GstBuffer *buffer;

    flow = gst_tfx_flow_drain_some (self, n_frames, &buffer);
    if (buffer)
      flow = gst_pad_push (pad, buffer);
    left -= n_frames;
  }
  return flow;
}

void
gst_tfx_flow_init_class (GstTfxFilterClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  trans_class->before_transform =
      GST_DEBUG_FUNCPTR (gst_tfx_flow_before_transform);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_tfx_flow_submit_input_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_tfx_flow_transform_ip);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_tfx_flow_generate_output);
  trans_class->transform_ip_on_passthrough = FALSE;
}
