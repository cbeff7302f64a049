/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpads.c: the buffers of GstTfxFilter: from the sink pad to the filter, or
 * past it, and to the source pad.
 *
 * The base class need not see every buffer.  Where it would only have one
 * filtered and push it (gst_tfx_pads_is_plain()) the chain function does that
 * itself, which takes less time.  Buffers that the base class does see leave
 * through gst_tfx_pads_generate_output(), so that it never pushes one, and what
 * it knows of discontinuities is of no account.
 *
 * All of this runs in the streaming thread.
 */
#include "gsttfxoffer.h"
#include "gsttfxpending.h"
#include "gsttfxprivate.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* The methods of GstAudioFilter, which do the general part. */
static GstBaseTransformClass *parent_class;

/* ---- out --------------------------------------------------------------------- */

/* Where a buffer ends, or none. */
static GstClockTime
gst_tfx_pads_end (GstBuffer *buffer)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_DURATION_IS_VALID (buffer))
    return GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
  return GST_BUFFER_PTS (buffer);
}

/* The place that a query for the position is told at the source pad. */
static void
gst_tfx_pads_note_position (GstTfxFilter *self, GstBuffer *buffer)
{
  GstClockTime end = gst_tfx_pads_end (buffer);

  if (GST_CLOCK_TIME_IS_VALID (end))
    gst_tfx_filter_get_private (self)->position = end;
}

/* The same at the sink pad. */
static void
gst_tfx_pads_note_position_in (GstTfxFilter *self, GstBuffer *buffer)
{
  GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime end = gst_tfx_pads_end (buffer);

  if (GST_CLOCK_TIME_IS_VALID (end) && segment->format == GST_FORMAT_TIME)
    segment->position = end;
}

/* Marks the first buffer behind a discontinuity. */
static void
gst_tfx_pads_mark (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  if (priv->discont_out)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  priv->discont_out = FALSE;
}

GstFlowReturn
gst_tfx_pads_push (GstTfxFilter *self, GstBuffer *buffer)
{
  gst_tfx_pads_mark (self, buffer);
  gst_tfx_pads_note_position (self, buffer);
  return gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), buffer);
}

/* Filters a buffer and takes it. */
static GstFlowReturn
gst_tfx_pads_run_and_push (GstTfxFilter *self, GstBuffer *buffer,
    gsize n_frames, TfxChain *pending, guint64 who)
{
  GstFlowReturn flow = gst_tfx_flow_run (self, &buffer, n_frames, pending, who);

  if (flow == GST_FLOW_OK)
    return gst_tfx_pads_push (self, buffer);
  gst_buffer_unref (buffer);
  return flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? GST_FLOW_OK : flow;
}

GstFlowReturn
gst_tfx_pads_run_here (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames,
    TfxChain *pending, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  gst_tfx_counts_add (&priv->counts.n_deferred, -1);
  return gst_tfx_pads_run_and_push (self, buffer, n_frames, pending, who);
}

/* Leaves the stage to the neighbour. */
static gboolean
gst_tfx_pads_defer (GstTfxFilter *self, gsize n_frames, TfxChain *pending,
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

/* To ask each of no bindings for values takes time too. */
static gboolean
gst_tfx_pads_is_controlled (GstTfxFilter *self)
{
  GstTfxFilterClass *klass = GST_TFX_FILTER_GET_CLASS (self);

  return GST_OBJECT (self)->control_bindings ||
         (klass->has_controlled_children &&
             klass->has_controlled_children (self));
}

/* Controlled properties take their values for the buffer's stream time.  A
 * buffer that begins before the segment is about to be clipped to it. */
static void
gst_tfx_pads_before_transform (GstBaseTransform *trans, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstTfxFilterClass *klass = GST_TFX_FILTER_GET_CLASS (self);
  GstClockTime time = GST_BUFFER_PTS (buffer);

  if (!gst_tfx_pads_is_controlled (self) || !GST_CLOCK_TIME_IS_VALID (time) ||
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

/* Checks here too: clipping to the segment would hide a broken frame. */
static GstFlowReturn
gst_tfx_pads_submit_input_buffer (GstBaseTransform *trans, gboolean is_discont,
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

/* Filters *buffer or leaves the stage to the neighbour; *n_left is the number of
 * frames for which that is done. */
static GstFlowReturn
gst_tfx_pads_transform_frames (GstTfxFilter *self, GstBuffer **buffer,
    gsize n_frames, gsize *n_left)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstFlowReturn flow = GST_FLOW_OK;
  TfxChain *pending;
  guint64 who;

  if (gst_tfx_flow_is_gap (self, *buffer))
    flow = gst_tfx_stream_end (self, "gap in the times");
  if (flow != GST_FLOW_OK)
    return flow;
  pending = gst_tfx_pending_get (*buffer, &who);
  if (!gst_tfx_flow_update (self, n_frames, pending, who))
    return GST_FLOW_ERROR;
  gst_tfx_counts_note_buffer (&priv->counts, n_frames);
  if (gst_tfx_fusion_decide (self) &&
      gst_tfx_pads_defer (self, n_frames, pending, who))
    *n_left = n_frames;
  else
    flow = gst_tfx_flow_run (self, buffer, n_frames, pending, who);
  gst_tfx_pending_remove (*buffer);
  return flow;
}

static GstFlowReturn
gst_tfx_pads_transform (GstTfxFilter *self, GstBuffer **buffer, gsize *n_left)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gssize n_frames = gst_tfx_flow_check (self, *buffer);

  *n_left = 0;
  if (n_frames < 0)
    return GST_FLOW_ERROR;
  if (n_frames > 0)
    return gst_tfx_pads_transform_frames (self, buffer, n_frames, n_left);
  if (!gst_tfx_flow_update (self, 0, NULL, 0))
    return GST_FLOW_ERROR;
  gst_tfx_counts_note_buffer (&priv->counts, 0);
  gst_tfx_pending_remove (*buffer);
  return GST_FLOW_OK;
}

/* Nobody calls it: gst_tfx_pads_generate_output() filters.  But the base class
 * takes an element without it for one that changes nothing. */
static GstFlowReturn
gst_tfx_pads_transform_ip (GstBaseTransform *trans, GstBuffer *buffer)
{
  return GST_FLOW_NOT_SUPPORTED;
}

/* Takes the buffer out of the hands of the base class; the one that goes out is
 * not always the one that came in.  One of which nothing is left is no
 * discontinuity, as the base class would have it. */
static GstFlowReturn
gst_tfx_pads_generate_output (GstBaseTransform *trans, GstBuffer **out)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstBuffer *buffer = g_steal_pointer (&trans->queued_buf);
  GstFlowReturn flow;
  gsize n_left;

  *out = NULL;
  if (!buffer)
    return GST_FLOW_OK;
  buffer = gst_buffer_make_writable (buffer);
  gst_tfx_pads_note_position_in (self, buffer);
  flow = gst_tfx_pads_transform (self, &buffer, &n_left);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? GST_FLOW_OK : flow;
  }
  gst_tfx_filter_get_private (self)->may_pass = TRUE;
  if (n_left == 0)
    return gst_tfx_pads_push (self, buffer);
  gst_tfx_pads_mark (self, buffer);
  gst_tfx_pads_note_position (self, buffer);
  return gst_tfx_fusion_send (self, buffer, n_left);
}

/* ---- in ----------------------------------------------------------------------- */

/* Whether the base class would do no more than to have the buffer filtered and
 * push it on: there is nothing to clip, to negotiate or to set, and it
 * has seen the buffer before, with no event that matters in between. */
static gboolean
gst_tfx_pads_is_plain (GstTfxFilter *self, GstBuffer *buffer)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime start = GST_BUFFER_PTS (buffer);
  GstClockTime length = GST_BUFFER_DURATION (buffer);

  return priv->may_pass && !g_atomic_int_get (&priv->dirty) &&
         !g_atomic_int_get (&priv->has_qos) &&
         !gst_tfx_pads_is_controlled (self) &&
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
gst_tfx_pads_take (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames,
    TfxChain *pending, guint64 who)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  gst_tfx_pads_note_position_in (self, buffer);
  gst_tfx_counts_note_buffer (&priv->counts, n_frames);
  if (!gst_tfx_fusion_decide (self) ||
      !gst_tfx_pads_defer (self, n_frames, pending, who))
    return gst_tfx_pads_run_and_push (self, buffer, n_frames, pending, who);
  gst_tfx_pads_note_position (self, buffer);
  return gst_tfx_fusion_send (self, buffer, n_frames);
}

static GstFlowReturn
gst_tfx_pads_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  GstTfxFilter *self = GST_TFX_FILTER (parent);

  if (gst_tfx_pads_is_plain (self, buffer) && gst_buffer_is_writable (buffer)) {
    gssize n_frames = gst_tfx_flow_check (self, buffer);

    if (n_frames > 0)
      return gst_tfx_pads_take (self, buffer, n_frames, NULL, 0);
    if (n_frames < 0) {
      gst_buffer_unref (buffer);
      return GST_FLOW_ERROR;
    }
  }
  return gst_tfx_filter_get_private (self)->base_chain (pad, parent, buffer);
}

/* A buffer comes from another tfx element. */
static GstFlowReturn
gst_tfx_pads_chain_offer (GstPad *pad, GstObject *parent,
    const GstTfxOffer *offer)
{
  GstTfxFilter *self = GST_TFX_FILTER (parent);

  if (gst_tfx_pads_is_plain (self, offer->buffer))
    return gst_tfx_pads_take (self, offer->buffer, offer->n_frames,
        offer->chain, offer->who);
  gst_tfx_pending_set (offer->buffer, offer->chain, offer->who);
  return gst_tfx_filter_get_private (self)->base_chain (pad, parent,
      offer->buffer);
}

static gboolean
gst_tfx_pads_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  GstTfxOffer *offer = gst_tfx_offer_take (pad, event);

  if (offer) {
    offer->flow = gst_tfx_pads_chain_offer (pad, parent, offer);
    return TRUE;
  }
  return gst_tfx_filter_get_private (GST_TFX_FILTER (parent))
      ->base_event (pad, parent, event);
}

void
gst_tfx_pads_init (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstPad *pad = GST_BASE_TRANSFORM_SINK_PAD (self);

  priv->base_chain = GST_PAD_CHAINFUNC (pad);
  priv->base_event = GST_PAD_EVENTFUNC (pad);
  gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_pads_chain));
  gst_pad_set_event_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_pads_event));
}

void
gst_tfx_pads_init_class (GstTfxFilterClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  trans_class->before_transform =
      GST_DEBUG_FUNCPTR (gst_tfx_pads_before_transform);
  trans_class->submit_input_buffer =
      GST_DEBUG_FUNCPTR (gst_tfx_pads_submit_input_buffer);
  trans_class->transform_ip = GST_DEBUG_FUNCPTR (gst_tfx_pads_transform_ip);
  trans_class->generate_output =
      GST_DEBUG_FUNCPTR (gst_tfx_pads_generate_output);
  trans_class->transform_ip_on_passthrough = FALSE;
}
