/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflow.c: the buffers of GstTfxFilter: from the pad to the engine and
 * out again, at the right time.
 *
 * A filter with a delay d puts out, for each buffer, the frames that came d
 * frames earlier.  The first d outputs stand before the start of the stream
 * and are dropped; d more come when it ends.  So as many frames go out as come
 * in, and each of them has the time that it came with.
 *
 * The base class need not see every buffer.  Where it would only pass one on
 * (gst_tfx_flow_is_plain()) the chain function does the rest itself.  Buffers
 * that it does see leave through gst_tfx_flow_generate_output(), so that it
 * never pushes one, and what it knows of discontinuities is of no account.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxoffer.h"
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

/* Checks here too: clipping to the segment would hide a broken frame. */
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
  if (GST_BUFFER_IS_DISCONT (buffer))
    priv->discont_in = TRUE;
  if (priv->discont_in) {
    flow = gst_tfx_stream_end (self, "discontinuity");
    priv->discont_out = TRUE;
    priv->discont_in = FALSE;
  }
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  flow = parent_class->submit_input_buffer (trans, is_discont, buffer);
  /* It came too late: there is a discontinuity behind it. */
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    priv->discont_in = TRUE;
  return flow;
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
gst_tfx_flow_process (GstTfxFilter *self, GstBuffer *buffer, gboolean drain)
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
  if (drain)
    err = gst_tfx_engine_drain (&priv->engine, &mapped.block);
  else
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

/* Takes the filter to what the properties ask for.  What is pending, and state
 * that others have, must be here before: the new stage cross-fades from it. */
static gboolean
gst_tfx_flow_update (GstTfxFilter *self, gsize n_frames, TfxChain *pending,
    guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gboolean is_running = gst_tfx_filter_is_running (priv);
  GError *error = NULL;

  if (!g_atomic_int_get (&priv->dirty) || priv->is_step)
    return TRUE;
  if (n_frames > 0 && is_running && !gst_tfx_fusion_decide (self) &&
      !gst_tfx_flow_prepare (self, n_frames, pending, who))
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

/* Filters a buffer of at least one frame.  DROPPED if none of what comes out
 * belongs to the stream. */
static GstFlowReturn
gst_tfx_flow_filter (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxEngine *engine = &priv->engine;
  gsize skip = MIN (gst_tfx_engine_skip (engine), n_frames);
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
  else if (!gst_tfx_flow_process (self, buffer, FALSE))
    return GST_FLOW_ERROR;
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
gst_tfx_flow_filter_timed (GstTfxFilter *self, GstBuffer *buffer,
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

/* Filters a buffer of at least one frame with all that is pending on it. */
static GstFlowReturn
gst_tfx_flow_run (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames,
    TfxChain *pending, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstFlowReturn flow;

  if (!gst_tfx_flow_prepare (self, n_frames, pending, who))
    return GST_FLOW_ERROR;
  flow = gst_tfx_flow_filter_timed (self, buffer, n_frames);
  gst_tfx_counts_note_engine (&priv->counts, &priv->engine);
  if (priv->counts.engine.recoveries != priv->recoveries)
    gst_tfx_flow_tell_of_bad_samples (self, buffer);
  return flow;
}

/* ---- out --------------------------------------------------------------------- */

/* The place that a query for the position is told. */
static void
gst_tfx_flow_note_position (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (!GST_BUFFER_PTS_IS_VALID (buffer))
    return;
  priv->position = GST_BUFFER_PTS (buffer);
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    priv->position += GST_BUFFER_DURATION (buffer);
}

/* Marks the first buffer behind a discontinuity. */
static void
gst_tfx_flow_mark (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (priv->discont_out)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  priv->discont_out = FALSE;
}

GstFlowReturn
gst_tfx_flow_push (GstTfxFilter *self, GstBuffer *buffer)
{
  gst_tfx_flow_mark (self, buffer);
  gst_tfx_flow_note_position (self, buffer);
  return gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), buffer);
}

/* Filters a buffer and takes it. */
static GstFlowReturn
gst_tfx_flow_run_and_push (GstTfxFilter *self, GstBuffer *buffer,
    gsize n_frames, TfxChain *pending, guint64 who)
{
  GstFlowReturn flow = gst_tfx_flow_run (self, buffer, n_frames, pending, who);

  if (flow == GST_FLOW_OK)
    return gst_tfx_flow_push (self, buffer);
  gst_buffer_unref (buffer);
  return flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? GST_FLOW_OK : flow;
}

GstFlowReturn
gst_tfx_flow_run_here (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames,
    TfxChain *pending, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  gst_tfx_counts_add (&priv->counts.n_deferred, -1);
  return gst_tfx_flow_run_and_push (self, buffer, n_frames, pending, who);
}

/* Leaves the stage to the neighbour. */
static gboolean
gst_tfx_flow_defer (GstTfxFilter *self, gsize n_frames, TfxChain *pending,
    guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (!gst_tfx_fusion_defer (self, pending, who))
    return FALSE;
  gst_tfx_engine_pass (&priv->engine, n_frames);
  gst_tfx_counts_note_deferred (&priv->counts);
  return TRUE;
}

/* ---- by way of the base class ----------------------------------------------- */

/* The last part of gst_tfx_flow_transform_ip(): there is a frame at least. */
static GstFlowReturn
gst_tfx_flow_transform_frames (GstTfxFilter *self, GstBuffer *buffer,
    gsize n_frames)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  TfxChain *pending;
  guint64 who;

  if (gst_tfx_flow_is_gap (self, buffer))
    flow = gst_tfx_stream_end (self, "gap in the times");
  if (flow != GST_FLOW_OK)
    return flow;
  pending = gst_tfx_pending_get (buffer, &who);
  if (!gst_tfx_flow_update (self, n_frames, pending, who))
    return GST_FLOW_ERROR;
  gst_tfx_counts_note_buffer (&priv->counts, n_frames);
  if (gst_tfx_fusion_decide (self))
    priv->n_left = gst_tfx_flow_defer (self, n_frames, pending, who) //
                       ? n_frames
                       : 0;
  if (priv->n_left == 0)
    flow = gst_tfx_flow_run (self, buffer, n_frames, pending, who);
  gst_tfx_pending_remove (buffer);
  return flow;
}

static GstFlowReturn
gst_tfx_flow_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gssize n_frames = gst_tfx_flow_check (self, buffer);

  priv->n_left = 0;
  if (n_frames < 0)
    return GST_FLOW_ERROR;
  if (n_frames > 0)
    return gst_tfx_flow_transform_frames (self, buffer, n_frames);
  if (!gst_tfx_flow_update (self, 0, NULL, 0))
    return GST_FLOW_ERROR;
  gst_tfx_counts_note_buffer (&priv->counts, 0);
  gst_tfx_pending_remove (buffer);
  return GST_FLOW_OK;
}

/* Takes the buffer out of the hands of the base class.  One of which nothing is
 * left is no discontinuity, as that would have it. */
static GstFlowReturn
gst_tfx_flow_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstFlowReturn flow = parent_class->generate_output (trans, out);
  GstBuffer *buffer = *out;

  *out = NULL;
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    gst_clear_buffer (&buffer);
    flow = GST_FLOW_OK;
  }
  if (flow != GST_FLOW_OK || !buffer) {
    gst_clear_buffer (&buffer);
    return flow;
  }

  priv->may_pass = TRUE;
  if (priv->n_left == 0)
    return gst_tfx_flow_push (self, buffer);
  gst_tfx_flow_mark (self, buffer);
  gst_tfx_flow_note_position (self, buffer);
  return gst_tfx_fusion_send (self, buffer, priv->n_left);
}

/* ---- in ----------------------------------------------------------------------- */

/* Whether the base class would do no more than to have the buffer filtered and
 * push it on: there is nothing to clip, to negotiate or to set, and it
 * has seen the buffer before, with no event that matters in between. */
static gboolean
gst_tfx_flow_is_plain (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime start = GST_BUFFER_PTS (buffer);
  GstClockTime length = GST_BUFFER_DURATION (buffer);

  return priv->may_pass && !g_atomic_int_get (&priv->dirty) &&
         !g_atomic_int_get (&priv->has_qos) &&
         !gst_tfx_flow_is_controlled (self) &&
         !GST_BUFFER_IS_DISCONT (buffer) && !priv->discont_in &&
         segment->format == GST_FORMAT_TIME &&
         GST_CLOCK_TIME_IS_VALID (start) && GST_CLOCK_TIME_IS_VALID (length) &&
         start >= segment->start &&
         (!GST_CLOCK_TIME_IS_VALID (segment->stop) ||
             (start <= segment->stop && length <= segment->stop - start)) &&
         !GST_PAD_NEEDS_RECONFIGURE (GST_BASE_TRANSFORM_SRC_PAD (self)) &&
         !gst_tfx_flow_is_gap (self, buffer);
}

/* A plain buffer that holds frames; takes it. */
static GstFlowReturn
gst_tfx_flow_take (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames,
    TfxChain *pending, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  GST_BASE_TRANSFORM (self)->segment.position =
      GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
  gst_tfx_counts_note_buffer (&priv->counts, n_frames);
  if (!gst_tfx_fusion_decide (self) ||
      !gst_tfx_flow_defer (self, n_frames, pending, who))
    return gst_tfx_flow_run_and_push (self, buffer, n_frames, pending, who);
  gst_tfx_flow_note_position (self, buffer);
  return gst_tfx_fusion_send (self, buffer, n_frames);
}

static GstFlowReturn
gst_tfx_flow_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (parent);

  if (gst_tfx_flow_is_plain (self, buffer) && gst_buffer_is_writable (buffer)) {
    gssize n_frames = gst_tfx_flow_check (self, buffer);

    if (n_frames > 0)
      return gst_tfx_flow_take (self, buffer, n_frames, NULL, 0);
    if (n_frames < 0) {
      gst_buffer_unref (buffer);
      return GST_FLOW_ERROR;
    }
  }
  return gst_tfx_filter_get_private (self)->base_chain (pad, parent, buffer);
}

/* A buffer comes from another tfx element. */
static GstFlowReturn
gst_tfx_flow_chain_offer (GstPad *pad, GstObject *parent,
    const GstTfxOffer *offer)
{
  GstTfxFilter *self = GST_TFX_FILTER (parent);

  if (gst_tfx_flow_is_plain (self, offer->buffer))
    return gst_tfx_flow_take (self, offer->buffer, offer->n_frames,
        offer->chain, offer->who);
  gst_tfx_pending_set (offer->buffer, offer->chain, offer->who);
  return gst_tfx_filter_get_private (self)->base_chain (pad, parent,
      offer->buffer);
}

static gboolean
gst_tfx_flow_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstTfxOffer *offer = gst_tfx_offer_take (pad, event);

  if (offer) {
    offer->flow = gst_tfx_flow_chain_offer (pad, parent, offer);
    return TRUE;
  }
  return gst_tfx_filter_get_private (GST_TFX_FILTER (parent))
      ->base_event (pad, parent, event);
}

void
gst_tfx_flow_init (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (self);

  priv->base_chain = GST_PAD_CHAINFUNC (pad);
  priv->base_event = GST_PAD_EVENTFUNC (pad);
  gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_flow_chain));
  gst_pad_set_event_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_flow_event));
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
  if (!gst_tfx_flow_process (self, buffer, TRUE)) {
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
      flow = gst_tfx_flow_push (self, buffer);
    left -= n_frames;
    gst_tfx_counts_note_engine (&priv->counts, &priv->engine);
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
