/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxstream.c: the streaming side of GstTfxFilter: caps, events, queries,
 * and when the filter becomes another one.
 *
 * The state of the filter starts afresh where the stream does: after a flush,
 * at a segment that differs from the one before, at a discontinuity, at a GAP
 * event, and when rate or channels change.  It lives on when the sample format
 * or the layout alone changes.
 *
 * All but the query runs in the streaming thread.
 */
#include <string.h>

#include "gsttfxcudaflow.h"
#include "gsttfxmemory.h"
#include "gsttfxoffer.h"
#include "gsttfxprivate.h"
#include "gsttfxregistry.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* The methods of GstAudioFilter, which do the general part. */
static GstBaseTransformClass *parent_class;

/* ---- the filter ----------------------------------------------------------- */

/* Tells of the delay that the element's own stage has now; others tell of
 * theirs. */
static void
gst_tfx_stream_note_latency (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  const GstTfxEngine *engine = &priv->engine;
  GstClockTime latency =
      gst_util_uint64_scale_ceil (gst_tfx_engine_own_delay (engine), GST_SECOND,
          engine->spec.rate_hz);
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = latency != priv->latency;
  priv->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (!changed)
    return;

  GST_INFO_OBJECT (self, "latency %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_latency (GST_OBJECT (self)));
}

/* To the engine, on another backend if that one cannot take it. */
static gboolean
gst_tfx_stream_give_chain (GstTfxFilter *self, TfxChain *chain,
    TfxPlanSpec *spec, gboolean at_once, GError **error)
{
  GstTfxEngine *engine = &gst_tfx_filter_get_private (self)->engine;
  GError *fault = NULL;

  /* The state goes over before the filter becomes another one. */
  if (engine->spec.backend != spec->backend &&
      !gst_tfx_engine_set_backend (engine, spec->backend, &fault)) {
    if (!gst_tfx_device_fall_back (self, -EIO)) {
      g_propagate_error (error, fault);
      return FALSE;
    }
    g_clear_error (&fault);
    spec->backend = tfx_cpu_backend ();
  }
  if (gst_tfx_engine_set_chain (engine, chain, spec, at_once, &fault))
    return TRUE;
  if (gst_tfx_device_fall_back (self, -EIO)) {
    g_clear_error (&fault);
    spec->backend = tfx_cpu_backend ();
    return gst_tfx_engine_set_chain (engine, chain, spec, at_once, error);
  }
  g_propagate_error (error, fault);
  return FALSE;
}

static gboolean
gst_tfx_stream_set_chain (GstTfxFilter *self, const GstTfxBuild *build,
    TfxChain *chain, const GstAudioInfo *info, GError **error)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  TfxPlanSpec spec = { .rate_hz = build->rate,
    .n_channels = build->n_channels,
    .sample =
        GST_AUDIO_INFO_WIDTH (info) == 32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64,
    .backend = gst_tfx_device_choose (self) };
  TfxPlan *old;

  /* What takes more than new values is done here, and the element asks again
   * when its stage is: in a cross-fade of the whole row a start from rest would
   * be heard late, behind filters that hold frames back. */
  if (priv->fusion.has_left &&
      (build->at_once || build->n_hold > 0 ||
          !gst_tfx_engine_is_update (&priv->engine, chain, &spec))) {
    priv->was_refused = TRUE;
    gst_tfx_filter_mark_ready (self);
    return TRUE;
  }
  old = priv->engine.own ? tfx_plan_ref (priv->engine.own) : NULL;
  priv->was_refused =
      !gst_tfx_stream_give_chain (self, chain, &spec, build->at_once, error);
  if (old && !priv->was_refused)
    gst_tfx_registry_forget (old, priv->engine.own);
  tfx_plan_unref (&old);
  if (priv->was_refused)
    return FALSE;
  if (priv->fusion.has_left)
    gst_tfx_engine_expect_fade (&priv->engine);
  priv->is_step = build->n_hold > 0;
  priv->n_hold = build->n_hold;
  priv->n_spare = build->n_spare;
  gst_tfx_stream_note_latency (self);
  return TRUE;
}

/* The chain that the properties ask for; NULL as build_stage does. */
static TfxChain *
gst_tfx_stream_build (GstTfxFilter *self, GstTfxBuild *build, GError **error)
{
  GstTfxFilterClass *klass = GST_TFX_FILTER_GET_CLASS (self);
  TfxChain *empty, *chain;
  TfxStage *stage;

  if (klass->build_chain)
    return klass->build_chain (self, build, error);
  stage = klass->build_stage (self, build, error);
  if (!stage)
    return NULL;
  empty = tfx_chain_new ();
  chain = empty ? tfx_chain_append (empty, stage) : NULL;
  if (!chain)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "no memory for its stage");
  tfx_chain_unref (&empty);
  tfx_stage_unref (&stage);
  return chain;
}

gboolean
gst_tfx_stream_update (GstTfxFilter *self, const GstAudioInfo *info,
    GError **error)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  const GstTfxEngine *engine = &priv->engine;
  TfxPlanSpec spec = engine->spec;
  gboolean is_running = gst_tfx_filter_is_running (priv);
  GstTfxBuild build = { .rate = GST_AUDIO_INFO_RATE (info),
    .n_channels = GST_AUDIO_INFO_CHANNELS (info),
    .is_running = is_running,
    .delay = is_running ? gst_tfx_engine_own_delay (engine) : 0,
    .is_settled = !gst_tfx_engine_is_fading (engine),
    .spec = &spec,
    .before = engine->pending,
    .exec = engine->used ? engine->exec : NULL,
    .was_refused = priv->was_refused };
  GError *fault = NULL;
  TfxChain *chain;
  gboolean by_hand;

  spec.keep_stages = true;
  /* Cleared before the properties are read: what is set meanwhile counts for
   * the next buffer. */
  g_atomic_int_set (&priv->dirty, FALSE);
  by_hand = g_atomic_int_compare_and_exchange (&priv->set_by_hand, TRUE, FALSE);
  gst_tfx_situations_begin (&priv->situations, by_hand);
  build.by_hand = by_hand;

  chain = gst_tfx_stream_build (self, &build, &fault);
  if (chain) {
    gst_tfx_stream_set_chain (self, &build, chain, info, &fault);
    tfx_chain_unref (&chain);
  } else if (!fault) {
    /* Not now.  What was set is still to be told of. */
    if (by_hand)
      g_atomic_int_set (&priv->set_by_hand, TRUE);
    if (build.ask_again)
      g_atomic_int_set (&priv->dirty, TRUE);
  }
  if (fault)
    g_propagate_error (error, fault);
  return fault == NULL;
}

static void
gst_tfx_stream_reset (GstTfxFilter *self, const gchar *because)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  priv->may_pass = FALSE;
  gst_tfx_fusion_reset (self);
  if (gst_tfx_engine_reset (&priv->engine))
    GST_DEBUG_OBJECT (self, "%s: the filter starts afresh", because);
  gst_tfx_times_reset (&priv->times, priv->engine.spec.rate_hz);
  /* Whoever has the element's state resets it too, as the same comes to it. */
  if (priv->engine.own)
    gst_tfx_registry_forget (priv->engine.own, NULL);
  /* No delay has to be kept any more. */
  if (priv->is_step || priv->n_spare > 0)
    g_atomic_int_set (&priv->dirty, TRUE);
  priv->is_step = FALSE;
}

GstFlowReturn
gst_tfx_stream_end (GstTfxFilter *self, const gchar *because)
{
  GstFlowReturn flow = gst_tfx_flow_drain (self);

  gst_tfx_stream_reset (self, because);
  return flow;
}

/* ---- caps ------------------------------------------------------------------ */

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
  GError *error = NULL;

  if (priv->engine.plan && gst_tfx_stream_same_channels (&priv->info, info)) {
    priv->info = *info;
    return TRUE;
  }

  /* A source may offer them again and again. */
  if (priv->has_failed && !g_atomic_int_get (&priv->dirty) &&
      gst_audio_info_is_equal (&priv->failed_info, info))
    return FALSE;

  gst_tfx_stream_reset (self, "other channels or another rate");
  if (!gst_tfx_stream_update (self, info, &error)) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR,
        error->domain, error->code,
        g_strdup_printf ("The filter cannot be made: %s.", error->message),
        NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    priv->has_failed = TRUE;
    priv->failed_info = *info;
    return FALSE;
  }
  priv->has_failed = FALSE;
  priv->info = *info;
  gst_tfx_times_reset (&priv->times, GST_AUDIO_INFO_RATE (info));
  GST_INFO_OBJECT (self, "%d channels at %d Hz: %u sections",
      GST_AUDIO_INFO_CHANNELS (info), GST_AUDIO_INFO_RATE (info),
      (guint)tfx_plan_n_sections (priv->engine.plan));
  return TRUE;
}

/* Any thread. */
static GstCaps *
gst_tfx_stream_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstTfxMemory memory = gst_tfx_device_get_memory (GST_TFX_FILTER (trans));
  GstCaps *mine = gst_tfx_memory_transform_caps (memory, direction, caps),
          *both;

  if (!filter)
    return mine;
  both = gst_caps_intersect_full (mine, filter, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (mine);
  return both;
}

static GstCaps *
gst_tfx_stream_fixate_caps (GstBaseTransform *trans, GstPadDirection direction,
    GstCaps *caps, GstCaps *others)
{
  GstTfxMemory memory = gst_tfx_device_get_memory (GST_TFX_FILTER (trans));

  return parent_class->fixate_caps (trans, direction, caps,
      gst_tfx_memory_prefer (memory, others));
}

/* The base class sends the new caps after that. */
static gboolean
gst_tfx_stream_set_caps (GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gboolean ok;

  priv->place.is_setting = TRUE;
  ok = gst_tfx_device_set_caps (self, in, out) &&
       parent_class->set_caps (trans, in, out);
  if (ok)
    gst_tfx_device_settle (self);
  priv->place.is_setting = FALSE;
  return ok;
}

/* Where memories differ there is nothing that both sides could share. */
static gboolean
gst_tfx_stream_propose_allocation (GstBaseTransform *trans, GstQuery *decided,
    GstQuery *query)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxDevicePlace *place = &gst_tfx_filter_get_private (self)->place;

  if (!place->in_cuda && !place->out_cuda)
    return parent_class->propose_allocation (trans, decided, query);
  gst_query_add_allocation_meta (query, GST_AUDIO_META_API_TYPE, NULL);
  return !place->in_cuda || gst_tfx_cuda_flow_propose (self, query);
}

static gboolean
gst_tfx_stream_start (GstBaseTransform *trans)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  gst_tfx_counts_clear (&priv->counts);
  priv->position = GST_CLOCK_TIME_NONE;
  priv->recoveries = 0;
  priv->n_untimed = 0;
  priv->bad_told = FALSE;
  priv->may_pass = priv->discont_in = priv->discont_out = FALSE;
  gst_tfx_device_start (self);
  gst_tfx_fusion_relink (self);
  gst_segment_init (&priv->segment, GST_FORMAT_UNDEFINED);
  return TRUE;
}

static gboolean
gst_tfx_stream_stop (GstBaseTransform *trans)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  gst_tfx_fusion_clear (self);
  gst_tfx_registry_leave (self, &priv->engine);
  gst_tfx_engine_clear (&priv->engine);
  gst_tfx_device_stop (self);
  /* Whoever runs the stage still has a state that ends here. */
  gst_tfx_filter_renew_stage_id (self);
  gst_tfx_scratch_clear (&priv->scratch);
  gst_tfx_times_clear (&priv->times);
  gst_tfx_situations_clear (&priv->situations);
  g_clear_pointer (&priv->stream_id, g_free);
  priv->was_refused = priv->is_step = priv->has_failed = FALSE;
  priv->n_spare = 0;
  GST_OBJECT_LOCK (self);
  priv->latency = 0;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* ---- events ------------------------------------------------------------------ */

/* Position and duration say nothing on which samples come. */
static gboolean
gst_tfx_stream_same_segment (const GstSegment *a, const GstSegment *b)
{
  return a->format == b->format && a->flags == b->flags && a->rate == b->rate &&
         a->applied_rate == b->applied_rate && a->base == b->base &&
         a->offset == b->offset && a->start == b->start && a->stop == b->stop &&
         a->time == b->time;
}

/* Caps that bring other channels or another rate end the stream. */
static void
gst_tfx_stream_see_caps (GstTfxFilter *self, GstEvent *event)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstAudioInfo info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (priv->engine.plan && gst_audio_info_from_caps (&info, caps) &&
      !gst_tfx_stream_same_channels (&priv->info, &info))
    gst_tfx_stream_end (self, "other channels or another rate");
}

static void
gst_tfx_stream_see_segment (GstTfxFilter *self, GstEvent *event)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  GstSegment segment;

  gst_event_copy_segment (event, &segment);
  if (!gst_tfx_stream_same_segment (&segment, &priv->segment))
    gst_tfx_stream_end (self, "new segment");
  priv->segment = segment;
}

/* The event comes again, with the same stream, when something upstream was
 * linked anew. */
static void
gst_tfx_stream_see_stream_start (GstTfxFilter *self, GstEvent *event)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  const gchar *stream_id;

  gst_event_parse_stream_start (event, &stream_id);
  if (g_strcmp0 (stream_id, priv->stream_id) != 0)
    gst_tfx_stream_end (self, "new stream");
  g_free (priv->stream_id);
  priv->stream_id = g_strdup (stream_id);
  priv->bad_told = FALSE;
}

/* A flush leaves nothing of what came before. */
static void
gst_tfx_stream_forget_place (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);

  priv->discont_in = priv->discont_out = FALSE;
  priv->position = GST_CLOCK_TIME_NONE;
  g_atomic_int_set (&priv->has_qos, FALSE);
}

/* What the filter still holds must go out before an event that ends the
 * stream. */
static gboolean
gst_tfx_stream_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);

  if (gst_tfx_offer_is_stray (event)) {
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_IS_SERIALIZED (event))
    gst_tfx_filter_get_private (self)->may_pass = FALSE;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_tfx_stream_see_stream_start (self, event);
      break;
    case GST_EVENT_CAPS:
      gst_tfx_stream_see_caps (self, event);
      break;
    case GST_EVENT_SEGMENT:
      gst_tfx_stream_see_segment (self, event);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_tfx_stream_reset (self, "flush");
      gst_tfx_stream_forget_place (self);
      break;
    case GST_EVENT_GAP:
      gst_tfx_stream_end (self, "gap");
      break;
    case GST_EVENT_SEGMENT_DONE:
      gst_tfx_stream_end (self, "end of the segment");
      break;
    case GST_EVENT_EOS:
      gst_tfx_stream_end (self, "end of stream");
      break;
    default:
      break;
  }
  return parent_class->sink_event (trans, event);
}

/* Any thread. */
static gboolean
gst_tfx_stream_src_event (GstBaseTransform *trans, GstEvent *event)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    gst_tfx_fusion_relink (self);
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS)
    g_atomic_int_set (&gst_tfx_filter_get_private (self)->has_qos,
        gst_base_transform_is_qos_enabled (trans));
  return parent_class->src_event (trans, event);
}

/* ---- queries ----------------------------------------------------------------- */

/* Where the stream is behind the filter; the base class has not seen all of the
 * buffers.  FALSE if that is not known. */
static gboolean
gst_tfx_stream_answer_position (GstTfxFilter *self, GstQuery *query)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime position = gst_tfx_filter_get_private (self)->position;
  GstFormat format;

  gst_query_parse_position (query, &format, NULL);
  if (format != GST_FORMAT_TIME || segment->format != GST_FORMAT_TIME ||
      !GST_CLOCK_TIME_IS_VALID (position))
    return FALSE;
  gst_query_set_position (query, format,
      gst_segment_to_stream_time (segment, format, position));
  return TRUE;
}

/* Any thread. */
static gboolean
gst_tfx_stream_query (GstBaseTransform *trans, GstPadDirection direction,
    GstQuery *query)
{
  GstTfxFilter *self = GST_TFX_FILTER (trans);
  GstClockTime latency, min, max;
  gboolean live;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT &&
      gst_tfx_device_answer_query (self, query))
    return TRUE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_POSITION &&
      direction == GST_PAD_SRC && gst_tfx_stream_answer_position (self, query))
    return TRUE;
  if (!parent_class->query (trans, direction, query))
    return FALSE;
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY || direction != GST_PAD_SRC)
    return TRUE;

  GST_OBJECT_LOCK (self);
  latency = gst_tfx_filter_get_private (self)->latency;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &min, &max);
  min += latency;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += latency;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

/* ---- contexts and states --------------------------------------------------------- */

static void
gst_tfx_stream_set_context (GstElement *element, GstContext *context)
{
  gst_tfx_device_set_context (GST_TFX_FILTER (element), context);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

static GstStateChangeReturn
gst_tfx_stream_change_state (GstElement *element, GstStateChange transition)
{
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);

  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_tfx_device_forget (GST_TFX_FILTER (element));
  return ret;
}

void
gst_tfx_stream_init_class (GstTfxFilterClass *klass)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstAudioFilterClass *audio_class = GST_AUDIO_FILTER_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  parent_class = g_type_class_peek_parent (klass);
  element_class->set_context = GST_DEBUG_FUNCPTR (gst_tfx_stream_set_context);
  element_class->change_state = GST_DEBUG_FUNCPTR (gst_tfx_stream_change_state);
  trans_class->transform_caps =
      GST_DEBUG_FUNCPTR (gst_tfx_stream_transform_caps);
  trans_class->fixate_caps = GST_DEBUG_FUNCPTR (gst_tfx_stream_fixate_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_tfx_stream_set_caps);
  trans_class->propose_allocation =
      GST_DEBUG_FUNCPTR (gst_tfx_stream_propose_allocation);
  trans_class->start = GST_DEBUG_FUNCPTR (gst_tfx_stream_start);
  trans_class->stop = GST_DEBUG_FUNCPTR (gst_tfx_stream_stop);
  trans_class->sink_event = GST_DEBUG_FUNCPTR (gst_tfx_stream_sink_event);
  trans_class->src_event = GST_DEBUG_FUNCPTR (gst_tfx_stream_src_event);
  trans_class->query = GST_DEBUG_FUNCPTR (gst_tfx_stream_query);
  audio_class->setup = GST_DEBUG_FUNCPTR (gst_tfx_stream_setup);
}
