/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsettings.c: turns the properties of a GstTfxElement into the settings
 * of its filter.
 *
 * All functions run in the streaming thread.
 */
#include <errno.h>

#include "gsttfxelementprivate.h"
#include "gsttfxtrace.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- errors -------------------------------------------------------------- */

static void
gst_tfx_settings_set_error (GError **error, const TfxFilterSpec *spec, gint err)
{
  const gchar *why = g_strerror (-err);

  if (err == -ERANGE)
    why = spec->sample == TFX_SAMPLE_F32
              ? "a tap is too large for 32-bit samples"
              : "a tap is too large";
  else if (err == -ENOMEM)
    why = "out of memory";
  else if (err == -ENOTSUP)
    why = "adding look-ahead would drop frames; it takes effect after the next "
          "stop or flush";
  g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
      "no filter is possible for %u channels at %.12g Hz: %s", spec->n_channels,
      spec->rate_hz, why);
}

/* ---- latency ------------------------------------------------------------- */

void
gst_tfx_settings_note_latency (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime latency =
      gst_util_uint64_scale_ceil (priv->delay + priv->flights.delay, GST_SECOND,
          priv->spec.rate_hz);
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

/* The chain that was built is in use. */
static void
gst_tfx_settings_accept (GstTfxElement *self, const GstTfxBuild *build)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (priv->is_running && build->delay > priv->delay)
    priv->skip += build->delay - priv->delay;
  else if (!priv->is_running)
    priv->skip = build->delay;
  priv->delay =
      priv->is_running ? MAX (build->delay, priv->delay) : build->delay;
  priv->is_step = build->min_frames > 0;
  priv->min_frames = build->min_frames;
  priv->excess_delay = build->excess_delay;
  priv->is_identity = FALSE;
  priv->may_be_identity = priv->delay == 0;
  priv->reserved_frames = 0;
  priv->control.has_delays = FALSE;
  /* device=auto measured the last chain; measure again. */
  priv->device.seen_frames = 0;
  gst_tfx_settings_note_latency (self);
}

/* ---- chains -------------------------------------------------------------- */

/* Call before the properties are read: a property that is set later applies
 * from the next buffer on. */
static void
gst_tfx_settings_begin (GstTfxElement *self, GstTfxBuild *build)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  g_atomic_int_set (&priv->dirty, FALSE);
  *build = (GstTfxBuild){ .rate = priv->spec.rate_hz,
    .n_channels = priv->channels.in + priv->channels.key,
    .positions = gst_tfx_channels_get_positions (&priv->in_info) |
                 TFX_POSITIONS_KEYS (priv->channels.key),
    .n_out = priv->channels.made,
    .is_running = priv->is_running,
    .delay = priv->is_running ? priv->delay : 0,
    .by_hand =
        g_atomic_int_compare_and_exchange (&priv->set_by_hand, TRUE, FALSE),
    .was_refused = priv->was_refused,
    .is_switch_refused = priv->is_switch_refused,
    .is_settled = TRUE,
    .spec = &priv->spec };
  priv->clamps.by_hand = build->by_hand;
}

/* The chain in force stays.  Keeps in mind that the application has set
 * properties: clamped values are reported when they take effect. */
static void
gst_tfx_settings_put_off (GstTfxElement *self, const GstTfxBuild *build)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (build->by_hand)
    g_atomic_int_set (&priv->set_by_hand, TRUE);
  if (build->ask_again)
    g_atomic_int_set (&priv->dirty, TRUE);
}

static gint
gst_tfx_settings_queue_stage (GstTfxSharedFilter *filter, guint64 point,
    TfxStage *stage)
{
  gint err;

  /* The ramp to the point starts one parameter grid step of the stage
   * earlier. */
  point += tfx_stage_grid_frames (stage) - TFX_GRID_FRAMES;
  tfx_filter_lock (filter->filter);
  err = tfx_filter_queue_stage (filter->filter, point, stage);
  tfx_filter_unlock (filter->filter);
  if (err != -ENOBUFS || !gst_tfx_shared_filter_is_pending (filter))
    return err;
  /* Pending memory still holds events of the filter. */
  gst_tfx_pending_flush (filter);
  tfx_filter_lock (filter->filter);
  err = tfx_filter_queue_stage (filter->filter, point, stage);
  tfx_filter_unlock (filter->filter);
  return err;
}

gboolean
gst_tfx_element_set_stage (GstTfxElement *self, const GstTfxBuild *build,
    TfxStage *stage)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gint err;

  if (!priv->filter)
    return FALSE;
  if (build->point > 0) {
    err = gst_tfx_settings_queue_stage (priv->filter, build->point, stage);
  } else {
    gst_tfx_pending_flush (priv->filter);
    tfx_filter_lock (priv->filter->filter);
    err = tfx_filter_set_stage (priv->filter->filter, stage);
    tfx_filter_unlock (priv->filter->filter);
  }
  if (err < 0)
    return FALSE;
  priv->is_identity = FALSE;
  priv->may_be_identity = priv->delay == 0;
  return TRUE;
}

TfxChain *
gst_tfx_element_get_running (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  TfxChain *chain = NULL;

  if (!priv->filter)
    return NULL;
  gst_tfx_pending_flush (priv->filter);
  tfx_filter_lock (priv->filter->filter);
  if (tfx_filter_get_chain (priv->filter->filter, &chain) < 0)
    chain = NULL;
  tfx_filter_unlock (priv->filter->filter);
  return chain;
}

/* Sets the chain of the filter. */
static gboolean
gst_tfx_settings_set_chain (GstTfxElement *self, TfxChain *chain,
    const GstTfxBuild *build, GError **error)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gint err;

  gst_tfx_pending_flush (priv->filter);
  tfx_filter_lock (priv->filter->filter);
  err = build->at_once
            ? tfx_filter_set_chain_at_once (priv->filter->filter, chain)
            : tfx_filter_set_chain (priv->filter->filter, chain);
  tfx_filter_unlock (priv->filter->filter);
  priv->was_refused = err < 0;
  if (err < 0) {
    priv->waits_for_reset = err == -ENOTSUP;
    gst_tfx_settings_set_error (error, &priv->spec, err);
    return FALSE;
  }
  GST_DEBUG_OBJECT (self, "new chain: delay %" G_GSIZE_FORMAT " frames%s%s",
      build->delay, build->at_once ? ", at once" : "",
      build->min_frames > 0 ? ", a transition to the next one" : "");
  gst_tfx_settings_accept (self, build);
  return TRUE;
}

/* Returns TRUE if a chain waits for the next buffer.  Inside a buffer one with
 * more delay must, because frames are dropped at the start of a buffer, and so
 * must a step, which lasts for whole buffers. */
static gboolean
gst_tfx_settings_wait (GstTfxElement *self, GstTfxBuild *build)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (!priv->control.is_inside ||
      (build->delay <= priv->delay && build->min_frames == 0))
    return FALSE;
  GST_DEBUG_OBJECT (self,
      "a chain with a delay of %" G_GSIZE_FORMAT
      " frames waits for the next buffer",
      build->delay);
  priv->was_refused = TRUE;
  priv->control.is_followed = FALSE;
  build->ask_again = TRUE;
  gst_tfx_settings_put_off (self, build);
  return TRUE;
}

gboolean
gst_tfx_settings_update (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean is_taken = FALSE;
  GError *error = NULL;
  GstTfxBuild build;
  TfxChain *chain;

  if (priv->is_step || !priv->filter)
    return FALSE;
  gst_tfx_settings_begin (self, &build);
  tfx_filter_lock (priv->filter->filter);
  build.is_settled = !tfx_filter_is_changing (priv->filter->filter);
  tfx_filter_unlock (priv->filter->filter);
  gst_tfx_device_update (self);

  if (klass->move_stage && klass->move_stage (self, &build)) {
    GST_LOG_OBJECT (self, "new values%s", build.by_hand ? ", set by hand" : "");
    return TRUE;
  }
  chain = klass->build_chain (self, &build, &error);
  priv->waits_for_reset = build.waits_for_reset;
  if (chain)
    is_taken = !gst_tfx_settings_wait (self, &build) &&
               gst_tfx_settings_set_chain (self, chain, &build, &error);
  else if (!error) {
    GST_LOG_OBJECT (self, "no new chain yet");
    gst_tfx_settings_put_off (self, &build);
  }
  tfx_chain_unref (&chain);
  if (error)
    gst_tfx_element_report_refusal (self, error);
  g_clear_error (&error);
  return is_taken;
}

gboolean
gst_tfx_settings_follow (GstTfxElement *self, guint64 point)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxBuild build;
  gboolean is_done;

  /* The values are read again after the transition chain. */
  if (priv->is_step)
    return TRUE;
  gst_tfx_settings_begin (self, &build);
  build.is_settled = FALSE;
  build.is_running = TRUE; /* at the point */
  build.point = point;
  is_done = klass->move_stage && klass->move_stage (self, &build);
  priv->control.is_put_off =
      is_done && build.ask_again && !build.is_for_next_buffer;
  /* Values that no stage can take need a new chain. */
  build.ask_again = build.ask_again || !is_done;
  if (build.ask_again)
    gst_tfx_settings_put_off (self, &build);
  return is_done;
}

/* ---- the life of the filter ---------------------------------------------- */

/* Sets the format that the filter processes from the input format.  Properties
 * that do not fit it are reported when the chain is built. */
void
gst_tfx_settings_set_info (GstTfxElement *self, const GstAudioInfo *info)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxChannels *channels = &priv->channels;
  const guint n = GST_AUDIO_INFO_CHANNELS (info);
  guint least;
  gint widens;

  if (gst_tfx_key_get_channels (self, n, channels, &least) && channels->in != n)
    *channels = (GstTfxChannels){ n, n, n + channels->key, channels->key,
      n + channels->key };
  gst_tfx_element_take_info (priv, info);
  widens = channels->in != channels->most;
  if (g_atomic_int_get (&priv->widens) != widens) {
    GST_DEBUG_OBJECT (self, "channels: %u in, %u out, buffers of %u",
        channels->in, channels->out, channels->most);
    g_atomic_int_set (&priv->widens, widens);
    gst_tfx_element_ask_upstream (self);
  }
}

gboolean
gst_tfx_settings_start (GstTfxElement *self, const GstAudioInfo *info,
    GError **error)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GError *fault = NULL;
  GstTfxBuild build;
  TfxFilter *filter;
  TfxChain *chain;
  gint err;

  gst_tfx_settings_stop (self);
  /* Again if the properties ask for other channels by now. */
  do {
    gst_tfx_settings_set_info (self, info);
    priv->spec = (TfxFilterSpec){ .rate_hz = GST_AUDIO_INFO_RATE (info),
      .n_channels = GST_AUDIO_INFO_CHANNELS (&priv->info),
      .sample = gst_tfx_buffer_sample (info) };
    gst_tfx_settings_begin (self, &build);
    chain = klass->build_chain (self, &build, &fault);
  } while (!chain && !fault && build.ask_again);
  if (!chain) {
    if (!fault)
      g_set_error_literal (&fault, GST_LIBRARY_ERROR,
          GST_LIBRARY_ERROR_SETTINGS, "it has no chain");
    g_propagate_error (error, fault);
    return FALSE;
  }
  err = tfx_filter_new (chain, &priv->spec, &filter);
  tfx_chain_unref (&chain);
  if (err < 0) {
    gst_tfx_settings_set_error (error, &priv->spec, err);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  priv->filter = gst_tfx_shared_filter_new (filter);
  priv->stream_rate = priv->spec.rate_hz;
  priv->stream_channels = GST_AUDIO_INFO_CHANNELS (&priv->in_info);
  priv->stream_positions = gst_tfx_channels_get_positions (&priv->in_info);
  GST_OBJECT_UNLOCK (self);
  if (gst_tfx_trace_is_on ())
    gst_tfx_trace_name (filter, GST_ELEMENT (self));
  gst_tfx_counts_note_new_filter (&priv->counts);
  priv->was_refused = priv->waits_for_reset = FALSE;
  gst_tfx_settings_accept (self, &build);
  GST_DEBUG_OBJECT (self,
      "new filter: %u channels at %.12g Hz, %d-bit samples, "
      "delay %" G_GSIZE_FORMAT " frames",
      priv->spec.n_channels, priv->spec.rate_hz, GST_AUDIO_INFO_WIDTH (info),
      build.delay);
  gst_tfx_times_reset (&priv->times, priv->spec.rate_hz);
  return TRUE;
}

void
gst_tfx_settings_stop (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxSharedFilter *filter = priv->filter;

  GST_OBJECT_LOCK (self);
  priv->filter = NULL;
  GST_OBJECT_UNLOCK (self);
  if (filter) {
    GST_DEBUG_OBJECT (self, "the filter is released");
    /* Buffers downstream may still hold the filter. */
    gst_tfx_pending_flush (filter);
    gst_tfx_shared_filter_drop_plan (filter);
    gst_tfx_shared_filter_unref (filter);
  }
  priv->is_running = priv->is_step = FALSE;
  priv->delay = priv->skip = priv->excess_delay = 0;
}

gboolean
gst_tfx_settings_set_format (GstTfxElement *self, TfxSample sample,
    gsize block_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gint err;

  if (sample == priv->spec.sample && block_frames == priv->spec.block_frames)
    return TRUE;
  gst_tfx_pending_flush (priv->filter);
  tfx_filter_lock (priv->filter->filter);
  err = tfx_filter_set_format (priv->filter->filter, sample, block_frames);
  tfx_filter_unlock (priv->filter->filter);
  if (err < 0) {
    GST_WARNING_OBJECT (self, "other samples or blocks: %s", g_strerror (-err));
    return FALSE;
  }
  GST_DEBUG_OBJECT (self,
      "%d-bit samples in blocks of %" G_GSIZE_FORMAT " frames",
      sample == TFX_SAMPLE_F32 ? 32 : 64, block_frames);
  priv->spec.sample = sample;
  priv->spec.block_frames = block_frames;
  return TRUE;
}

/* The best partition of a long FIR depends on the block length, which is known
 * when buffers arrive.  A running filter is not changed.  The first buffer
 * after a seek is often short, so use a length that occurred twice in a row. */
void
gst_tfx_settings_expect (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (priv->last_frames == n_frames)
    priv->usual_frames = n_frames;
  priv->last_frames = n_frames;
  if (!priv->is_running)
    gst_tfx_settings_set_format (self, priv->spec.sample,
        priv->usual_frames ? priv->usual_frames : n_frames);
}

guint
gst_tfx_element_reserve_stage (GstTfxElement *self, guint64 id,
    gsize n_grid_frames, gboolean will_follow)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gsize n_frames =
      MIN (priv->reserved_frames, GST_TFX_CONTROL_POINTS * TFX_GRID_FRAMES);

  tfx_filter_lock (priv->filter->filter);
  tfx_filter_reserve (priv->filter->filter, id, n_frames, will_follow);
  tfx_filter_unlock (priv->filter->filter);
  /* The current stage, the next one, and those that are queued. */
  return 2 + (will_follow ? n_frames / n_grid_frames + 3 : 0);
}

void
gst_tfx_settings_reserve (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstTfxBuild build = { .rate = priv->spec.rate_hz,
    .n_channels = priv->channels.in + priv->channels.key,
    .n_out = priv->channels.made,
    .is_running = TRUE,
    .was_refused = priv->was_refused,
    .spec = &priv->spec };

  priv->reserved_frames = n_frames;
  if (klass->reserve && !priv->is_step)
    klass->reserve (self, &build);
}

void
gst_tfx_settings_count_step (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  priv->min_frames -= MIN (priv->min_frames, n_frames);
  if (priv->min_frames == 0 && priv->skip == 0) {
    GST_DEBUG_OBJECT (self, "the transition chain is done");
    priv->is_step = FALSE;
    gst_tfx_element_mark_ready (self);
  }
}

void
gst_tfx_settings_find_identity (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  TfxFilter *filter = priv->filter->filter;

  if (gst_tfx_shared_filter_is_pending (priv->filter))
    return;
  tfx_filter_lock (filter);
  priv->is_identity = tfx_filter_is_identity (filter);
  priv->may_be_identity = !priv->is_identity && tfx_filter_is_changing (filter);
  tfx_filter_unlock (filter);
  if (priv->is_identity)
    GST_DEBUG_OBJECT (self, "the filter is an identity");
}
