/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcaps.c: caps and allocation of a GstTfxElement.
 *
 * Both pads have the same caps except for the memory, and for the channels of
 * an element that changes their number.  The memory of the source pad is chosen
 * when caps are set, and again when its peer changes.
 */
#include <string.h>

#include "gsttfxelementprivate.h"
#include "gsttfxmemory.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- possible caps ------------------------------------------------------- */

gboolean
gst_tfx_caps_limits_channels (GstTfxElement *self)
{
  GstTfxChannels n;
  guint least;

  return gst_tfx_key_get_channels (self, 0, &n, &least) || n.out > 0 ||
         least > 1;
}

gboolean
gst_tfx_caps_is_in_template (GstPad *pad, GstCaps *caps)
{
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  const gboolean is_in = gst_caps_is_subset (caps, template);

  gst_caps_unref (template);
  return is_in;
}

/* Possible caps of the other pad for these caps at this one, with the other
 * pad's number of channels.  Takes the caps. */
static GstCaps *
gst_tfx_caps_transform (GstTfxElement *self, GstPadDirection direction,
    GstCaps *caps)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxMemory memory = gst_tfx_device_get_memory (self);
  GstTfxChannels n;
  guint least;
  gboolean is_one;
  GstCaps *made;

  is_one = gst_tfx_key_get_channels (self, 0, &n, &least);
  if (gst_tfx_channels_change (&n) || g_atomic_int_get (&priv->has_keys))
    memory = GST_TFX_MEMORY_SYSTEM;
  made = gst_tfx_memory_transform_caps (memory, direction, caps);
  gst_caps_unref (caps);
  if (n.out > 0)
    made = direction == GST_PAD_SINK
               ? gst_tfx_channels_map_caps (made, n.in, n.out)
               : gst_tfx_channels_map_caps (made, n.out, n.in);
  if (is_one || (n.out > 0 && direction == GST_PAD_SINK))
    return made;
  return least > 1 ? gst_tfx_channels_limit_caps (made, least) : made;
}

/* Answers a CAPS query at the pad with the caps that the other pad's peer
 * accepts.  Any thread. */
GstCaps *
gst_tfx_caps_query (GstTfxElement *self, GstPad *pad, GstCaps *filter)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstPad *other = pad == priv->sink ? priv->src : priv->sink;
  GstCaps *template = gst_pad_get_pad_template_caps (pad);
  GstCaps *asked, *peer, *mine, *caps;

  /* The query as the other pad would send it.  ANY has no structures to
   * transform. */
  if (filter && gst_caps_is_any (filter))
    filter = NULL;
  asked = gst_tfx_caps_transform (self, GST_PAD_DIRECTION (pad),
      gst_caps_ref (filter ? filter : template));
  mine = gst_caps_intersect_full (asked, template, GST_CAPS_INTERSECT_FIRST);
  peer = gst_pad_peer_query_caps (other, mine);
  gst_caps_unref (asked);
  gst_caps_unref (mine);

  asked = gst_caps_intersect_full (peer, template, GST_CAPS_INTERSECT_FIRST);
  caps = gst_tfx_caps_transform (self, GST_PAD_DIRECTION (other), asked);
  gst_caps_unref (peer);
  gst_caps_unref (template);
  if (filter) {
    mine = gst_caps_intersect_full (caps, filter, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (caps);
    caps = mine;
  }
  return caps;
}

/* ---- caps of a stream ---------------------------------------------------- */

/* Output caps for these numbers of channels that the downstream elements
 * accept; they may be empty. */
static GstCaps *
gst_tfx_caps_ask_channels (GstTfxElement *self, GstCaps *in,
    const GstTfxChannels *n)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *possible =
      gst_tfx_channels_map_caps (gst_tfx_memory_to_system (in), n->in, n->out);
  GstCaps *out = gst_pad_peer_query_caps (priv->src, possible);

  gst_caps_unref (possible);
  return out;
}

/* Output caps if the numbers of input and output channels differ; NULL if the
 * downstream elements accept none.  One warning is posted for channels without
 * positions. */
static GstCaps *
gst_tfx_caps_choose_channels (GstTfxElement *self, GstCaps *in)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *out = gst_tfx_caps_ask_channels (self, in, &priv->channels);
  guint64 places;

  out = gst_tfx_channels_fixate (out, &places);
  if (places > 0 && !priv->places_told) {
    priv->places_told = TRUE;
    GST_ELEMENT_WARNING (self, CORE, CAPS,
        ("The %u output channels have no positions, so audioconvert cannot "
         "downmix them. Give them some after this element: "
         "audio/x-raw,channel-mask=(bitmask)0x%" G_GINT64_MODIFIER
         "x, or (bitmask)0x0 if this is intended.",
            priv->channels.out, places),
        (NULL));
  }
  if (gst_caps_is_empty (out))
    gst_clear_caps (&out);
  return out;
}

/* Output caps for the input caps; NULL if the downstream elements accept
 * none. */
static GstCaps *
gst_tfx_caps_choose (GstTfxElement *self, GstCaps *in)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxMemory memory = gst_tfx_device_get_memory (self);
  GstCaps *possible, *out;

  if (gst_tfx_channels_change (&priv->channels))
    return gst_tfx_caps_choose_channels (self, in);
  if (memory == GST_TFX_MEMORY_SYSTEM && !gst_tfx_memory_is_cuda (in))
    return gst_caps_ref (in);
  /* Deferred buffers stay in their memory. */
  if (gst_tfx_fusion_defers (self) &&
      gst_pad_peer_query_accept_caps (priv->src, in))
    return gst_caps_ref (in);
  possible = gst_tfx_memory_transform_caps (memory, GST_PAD_SINK, in);
  out = gst_pad_peer_query_caps (priv->src, possible);
  gst_caps_unref (possible);
  if (gst_caps_is_empty (out)) {
    gst_caps_unref (out);
    return NULL;
  }
  out = gst_tfx_memory_prefer (memory, out);
  /* Unlinked, or any caps are accepted. */
  if (!gst_caps_is_fixed (out))
    out = gst_caps_fixate (gst_caps_truncate (out));
  return out;
}

/* Sends caps, unless they are the same as before. */
static gboolean
gst_tfx_caps_send (GstTfxElement *self, GstCaps *out)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *old = gst_pad_get_current_caps (priv->src);
  gboolean is_same = old && gst_caps_is_equal (old, out);
  GstEvent *event;

  gst_clear_caps (&old);
  if (is_same)
    return TRUE;
  GST_INFO_OBJECT (self, "output caps %" GST_PTR_FORMAT, out);
  /* Held frames get these caps, but keep their segment, so a held SEGMENT event
   * waits. */
  while ((event = gst_tfx_times_take_start (&priv->times)))
    gst_pad_push_event (priv->src, event);
  return gst_pad_push_event (priv->src, gst_event_new_caps (out));
}

/* Whether both have the same rate and the same channels in the same order. */
static gboolean
gst_tfx_caps_same_channels (const GstAudioInfo *a, const GstAudioInfo *b)
{
  gint n_channels = GST_AUDIO_INFO_CHANNELS (a);

  return GST_AUDIO_INFO_RATE (a) == GST_AUDIO_INFO_RATE (b) &&
         n_channels == GST_AUDIO_INFO_CHANNELS (b) &&
         !memcmp (a->position, b->position,
             MIN (n_channels, 64) * sizeof (a->position[0]));
}

/* Makes the filter for a stream; a change of format keeps the present one. */
static gboolean
gst_tfx_caps_make_filter (GstTfxElement *self, const GstAudioInfo *info)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GError *error = NULL;

  if (priv->filter && gst_tfx_caps_same_channels (&priv->in_info, info)) {
    GST_DEBUG_OBJECT (self, "the filter keeps its state: %s, layout %d",
        GST_AUDIO_INFO_NAME (info), GST_AUDIO_INFO_LAYOUT (info));
    gst_tfx_element_take_info (priv, info);
    return gst_tfx_settings_set_format (self, gst_tfx_buffer_sample (info),
        priv->spec.block_frames);
  }
  /* A source may repeat rejected caps. */
  if (priv->has_failed && !g_atomic_int_get (&priv->dirty) &&
      gst_audio_info_is_equal (&priv->failed_info, info))
    return FALSE;
  if (!gst_tfx_settings_start (self, info, &error)) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR,
        error->domain, error->code,
        g_strdup_printf ("Cannot create the filter: %s.", error->message), NULL,
        __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    priv->has_failed = TRUE;
    priv->failed_info = *info;
    return FALSE;
  }
  priv->has_failed = FALSE;
  GST_INFO_OBJECT (self,
      "new filter: %u channels in, %u out, %d Hz, latency %" G_GSIZE_FORMAT
      " frames",
      priv->channels.in, priv->channels.out, GST_AUDIO_INFO_RATE (info),
      priv->delay);
  return TRUE;
}

/* Chooses the output caps and prepares the device for them; NULL if there are
 * none. */
static GstCaps *
gst_tfx_caps_agree (GstTfxElement *self, GstCaps *in)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *out = gst_tfx_caps_choose (self, in);

  if (!out) {
    GST_INFO_OBJECT (self, "no downstream element accepts %" GST_PTR_FORMAT,
        in);
    return NULL;
  }
  gst_pad_check_reconfigure (priv->src);
  priv->device.is_setting = TRUE;
  in = gst_tfx_channels_change (&priv->channels) ? gst_tfx_memory_to_system (in)
                                                 : gst_caps_ref (in);
  if (gst_tfx_device_set_caps (self, in, out))
    gst_tfx_device_switch_backend (self);
  else
    gst_clear_caps (&out);
  gst_caps_unref (in);
  priv->device.is_setting = FALSE;
  return out;
}

/* Sets the caps of both pads. */
static gboolean
gst_tfx_caps_set (GstTfxElement *self, GstCaps *in, const GstAudioInfo *info)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *out, *again;
  gboolean ok;
  gint state;

  /* Applies the device setting. */
  gst_tfx_device_update (self);
  /* Fusion depends on the filter's delay. */
  if (!gst_tfx_caps_make_filter (self, info))
    return FALSE;
  state = g_atomic_int_get (&priv->device.state);
  out = gst_tfx_caps_agree (self, in);
  /* The device may have failed since. */
  if (out && g_atomic_int_get (&priv->device.state) != state) {
    again = gst_tfx_caps_agree (self, in);
    gst_caps_replace (&out, again ? again : out);
    gst_clear_caps (&again);
  }
  ok = out && gst_tfx_caps_send (self, out);
  gst_clear_caps (&out);
  return ok;
}

gboolean
gst_tfx_caps_event (GstTfxElement *self, GstEvent *event)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean ok = TRUE;
  GstAudioInfo info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_INFO_OBJECT (self, "input caps %" GST_PTR_FORMAT, caps);
  if (!gst_audio_info_from_caps (&info, caps)) {
    GST_WARNING_OBJECT (self, "invalid caps %" GST_PTR_FORMAT, caps);
    gst_event_unref (event);
    return FALSE;
  }
  /* A change of rate or channels ends the stream. */
  if (priv->filter && !gst_tfx_caps_same_channels (&priv->in_info, &info))
    gst_tfx_out_drain (self, "other channels or another rate");
  ok = gst_tfx_caps_set (self, caps, &info);
  /* Buffers with rejected caps must not reach the old filter. */
  if (!ok && !GST_PAD_IS_FLUSHING (priv->src)) {
    GST_INFO_OBJECT (self, "caps rejected: the filter is released");
    gst_tfx_settings_stop (self);
  }
  gst_event_unref (event);
  return ok;
}

GstFlowReturn
gst_tfx_caps_renegotiate (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *in = gst_pad_get_current_caps (priv->sink);
  GstAudioInfo info = priv->in_info;
  gboolean ok = in && gst_tfx_caps_set (self, in, &info);

  gst_clear_caps (&in);
  if (ok)
    return GST_FLOW_OK;
  gst_pad_mark_reconfigure (priv->src);
  return GST_PAD_IS_FLUSHING (priv->src) ? GST_FLOW_FLUSHING
                                         : GST_FLOW_NOT_NEGOTIATED;
}

/* ---- another number of output channels ----------------------------------- */

/* Whether there are caps and a chain for these channels.  *latency: that of the
 * chain in frames; 0 if @has_chain, for which no chain is made. */
static gboolean
gst_tfx_caps_can_switch (GstTfxElement *self, const GstTfxChannels *n,
    gboolean has_chain, gsize *latency)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *in = gst_pad_get_current_caps (priv->sink);
  GstCaps *out = in ? gst_tfx_caps_ask_channels (self, in, n) : NULL;
  gboolean can = out && !gst_caps_is_empty (out);
  TfxChain *chain = NULL;

  *latency = 0;
  if (can && !has_chain) {
    chain = klass->make_chain (self, priv->spec.rate_hz, 0);
    can = chain != NULL;
    *latency = chain ? tfx_chain_latency (chain) : 0;
    tfx_chain_unref (&chain);
  }
  gst_clear_caps (&out);
  gst_clear_caps (&in);
  return can;
}

/* The present filter cross-fades to other channels.  FALSE: its chain is not
 * ready, or was rejected with a warning. */
static gboolean
gst_tfx_caps_keep_filter (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstTfxChannels before = priv->channels;
  const GstAudioInfo info = priv->in_info;

  gst_tfx_pending_flush (priv->filter);
  gst_tfx_settings_set_info (self, &info);
  if (gst_tfx_settings_update (self))
    return TRUE;
  priv->channels = before;
  gst_tfx_element_take_info (priv, &info);
  return FALSE;
}

/* Sends all that is held, and makes a new filter; @because is the reason, for
 * the log. */
static GstFlowReturn
gst_tfx_caps_begin_again (GstTfxElement *self, const gchar *because)
{
  GstFlowReturn flow = gst_tfx_flight_drain (self);

  if (flow == GST_FLOW_OK)
    flow = gst_tfx_out_drain (self, because);
  gst_tfx_settings_stop (self);
  GST_INFO_OBJECT (self, "a new filter: %s", because);
  return flow == GST_FLOW_OK ? gst_tfx_caps_renegotiate (self) : flow;
}

/* Sends the held frames with the old number of channels, then new caps.  If the
 * filter has enough channels and no latency it cross-fades.  Otherwise a new
 * filter begins, with cleared state. */
GstFlowReturn
gst_tfx_caps_switch_channels (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const guint n_in = GST_AUDIO_INFO_CHANNELS (&priv->in_info);
  const gboolean was_put_off = priv->is_switch_put_off;
  GstTfxChannels n;
  GstFlowReturn flow;
  gboolean has_room;
  gsize latency;
  guint least;

  priv->is_switch_refused = priv->is_switch_put_off = FALSE;
  if (!priv->filter || priv->is_step || !klass->get_channels)
    return GST_FLOW_OK;
  gst_tfx_key_get_channels (self, n_in, &n, &least);
  if (n.key != priv->channels.key)
    return gst_tfx_caps_begin_again (self, "other key channels");
  /* build_chain reports that they require another input. */
  if (n.in != n_in ||
      (n.out == priv->channels.out && n.most == priv->spec.n_channels))
    return GST_FLOW_OK;
  has_room = n.most == priv->spec.n_channels && priv->delay == 0;
  /* While a background task prepares a chain, it is not made for each
   * buffer. */
  priv->is_switch_refused =
      !gst_tfx_caps_can_switch (self, &n, has_room && was_put_off, &latency);
  if (priv->is_switch_refused) {
    GST_DEBUG_OBJECT (self,
        "channels stay: no chain or no caps for %u in, %u out", n.in, n.out);
    return GST_FLOW_OK;
  }
  if (!has_room || latency > 0)
    return gst_tfx_caps_begin_again (self, "other channels out");
  flow = gst_tfx_flight_drain (self);
  priv->is_switch_put_off = !gst_tfx_caps_keep_filter (self);
  if (priv->is_switch_put_off) {
    GST_DEBUG_OBJECT (self, "%u output channels wait for their chain", n.out);
    return flow;
  }
  GST_INFO_OBJECT (self, "channels: %u in, %u out", n.in, n.out);
  return flow == GST_FLOW_OK ? gst_tfx_caps_renegotiate (self) : flow;
}

/* ---- another peer -------------------------------------------------------- */

/* A blocked pad that is linked again may have a waiting buffer.  If it is in
 * CUDA memory, and the new peer accepts none, it is sent with system memory
 * caps, since any element can map it; later buffers are in system memory. */
void
gst_tfx_caps_see_link (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *caps = gst_pad_get_current_caps (priv->src), *taken;
  GstEvent *event;

  if (caps && gst_tfx_memory_is_cuda (caps)) {
    taken = gst_pad_peer_query_caps (priv->src, caps);
    if (gst_caps_is_empty (taken)) {
      GST_DEBUG_OBJECT (self, "the downstream elements accept no CUDA memory");
      gst_caps_take (&caps, gst_tfx_memory_to_system (caps));
      event = gst_event_new_caps (caps);
      gst_pad_store_sticky_event (priv->src, event);
      gst_event_unref (event);
    }
    gst_caps_unref (taken);
  }
  gst_clear_caps (&caps);
}

/* ---- allocation ---------------------------------------------------------- */

/* A buffer in flight is not back in its pool when the next one is needed. */
static void
gst_tfx_caps_allow_for_flight (GstQuery *query)
{
  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    GstBufferPool *pool;
    guint size, min, max;

    gst_query_parse_nth_allocation_pool (query, i, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool (query, i, pool, size, min + 1,
        max > 0 ? max + 1 : 0);
    gst_clear_object (&pool);
  }
}

/* Samples are filtered in place, so the downstream element's allocation is
 * used, except if the two pads have different memory or channels. */
gboolean
gst_tfx_caps_allocation (GstTfxElement *self, GstQuery *query)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  if (!priv->device.has_cuda_memory &&
      !gst_tfx_channels_change (&priv->channels)) {
    if (!gst_pad_peer_query (priv->src, query)) {
      GST_DEBUG_OBJECT (self, "allocation: no answer from downstream");
      return FALSE;
    }
    GST_DEBUG_OBJECT (self, "allocation: the downstream answer is used");
    if (priv->device.cuda && !gst_tfx_fusion_defers (self))
      gst_tfx_caps_allow_for_flight (query);
    return TRUE;
  }
  GST_DEBUG_OBJECT (self, "allocation: the pads differ in memory or channels");
  gst_query_add_allocation_meta (query, GST_AUDIO_META_API_TYPE, NULL);
  return !priv->device.in_cuda || gst_tfx_cuda_flow_propose (self, query);
}
