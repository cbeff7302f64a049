/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchannelswitch.c: changes the number of output channels of a running
 * stream.
 *
 * It follows a change of the properties.  Held frames are sent with the old
 * number of channels, then new caps.  If the filter has enough channels and no
 * latency it cross-fades; otherwise a new filter begins, with cleared state.
 */
#include "gsttfxelementprivate.h"
#include "gsttfxmemory.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Numbers of channels for the properties.  FALSE if they are in use, or if they
 * require another input, which build_chain reports. */
static gboolean
gst_tfx_channel_switch_is_wanted (GstTfxElement *self, GstTfxChannels *n)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const guint n_in = GST_AUDIO_INFO_CHANNELS (&priv->in_info);
  guint least;

  if (!klass->get_channels (self, n, &least))
    *n = (GstTfxChannels){ n_in, n_in, n_in };
  return n->in == n_in &&
         (n->out != priv->channels.out || n->most != priv->spec.n_channels);
}

/* Whether the downstream elements accept them. */
static gboolean
gst_tfx_channel_switch_is_taken (GstTfxElement *self, const GstTfxChannels *n)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstCaps *in = gst_pad_get_current_caps (priv->sink), *possible, *out;
  gboolean is_taken;

  if (!in)
    return FALSE;
  possible =
      gst_tfx_channels_map_caps (gst_tfx_memory_to_system (in), n->in, n->out);
  out = gst_pad_peer_query_caps (priv->src, possible);
  is_taken = !gst_caps_is_empty (out);
  gst_caps_unref (out);
  gst_caps_unref (possible);
  gst_caps_unref (in);
  return is_taken;
}

/* Whether there is a chain for them, and its latency in frames. */
static gboolean
gst_tfx_channel_switch_has_chain (GstTfxElement *self, gsize *latency)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  TfxChain *chain = klass->make_chain (self, priv->spec.rate_hz, 0);
  const gboolean has_chain = chain != NULL;

  *latency = chain ? tfx_chain_latency (chain) : 0;
  tfx_chain_unref (&chain);
  return has_chain;
}

/* The present filter cross-fades to them.  FALSE: its chain is not ready, or
 * was rejected with a warning. */
static gboolean
gst_tfx_channel_switch_keep_filter (GstTfxElement *self)
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

GstFlowReturn
gst_tfx_channel_switch_follow (GstTfxElement *self)
{
  const GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean has_room, was_put_off = priv->is_switch_put_off;
  GstFlowReturn flow;
  GstTfxChannels n;
  gsize latency = 0;

  priv->is_switch_refused = priv->is_switch_put_off = FALSE;
  if (!priv->filter || priv->is_step || !klass->get_channels ||
      !gst_tfx_channel_switch_is_wanted (self, &n))
    return GST_FLOW_OK;
  has_room = n.most == priv->spec.n_channels && priv->delay == 0;
  /* While a background task prepares a chain, it is not made for each
   * buffer. */
  priv->is_switch_refused =
      !gst_tfx_channel_switch_is_taken (self, &n) ||
      (!(has_room && was_put_off) &&
          !gst_tfx_channel_switch_has_chain (self, &latency));
  if (priv->is_switch_refused) {
    GST_DEBUG_OBJECT (self,
        "channels stay: no chain or no caps for %u in, %u out", n.in, n.out);
    return GST_FLOW_OK;
  }
  flow = gst_tfx_flight_drain (self);
  if (has_room && latency == 0) {
    priv->is_switch_put_off = !gst_tfx_channel_switch_keep_filter (self);
    if (priv->is_switch_put_off) {
      GST_DEBUG_OBJECT (self, "%u output channels wait for their chain", n.out);
      return flow;
    }
  } else {
    if (flow == GST_FLOW_OK)
      flow = gst_tfx_out_drain (self, "other channels out");
    gst_tfx_settings_stop (self);
  }
  GST_INFO_OBJECT (self, "channels: %u in, %u out", n.in, n.out);
  return flow == GST_FLOW_OK ? gst_tfx_caps_renegotiate (self) : flow;
}
