/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchannelswitch.c: other channels out of an element while a stream goes on.
 *
 * The properties ask for them from some buffer on.  What is held goes out with the
 * channels that there were, then come other caps.  Where the filter has room for
 * them, and nothing looks ahead, it goes on and changes as ever; else another one
 * begins there, from rest.
 */
#include "gsttfxelementprivate.h"
#include "gsttfxmemory.h"

/* The channels that are asked for.  FALSE: these are there, or other ones would
 * have to come in, which is told of where the chain is built. */
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

/* Whether what follows takes them. */
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

/* Whether there is a chain for them, and how late that is. */
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

/* The filter that there is has room: it cross-fades.  FALSE: not yet, or not at
 * all, which was told of. */
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
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean has_room, was_put_off = priv->is_switch_put_off;
  GstFlowReturn flow;
  GstTfxChannels n;
  gsize latency = 0;

  priv->is_switch_refused = priv->is_switch_put_off = FALSE;
  if (!priv->filter || priv->is_step ||
      !gst_tfx_channel_switch_is_wanted (self, &n))
    return GST_FLOW_OK;
  has_room = n.most == priv->spec.n_channels && priv->delay == 0;
  /* A chain that is made ready is not made once more for each buffer. */
  priv->is_switch_refused =
      !gst_tfx_channel_switch_is_taken (self, &n) ||
      (!(has_room && was_put_off) &&
          !gst_tfx_channel_switch_has_chain (self, &latency));
  if (priv->is_switch_refused)
    return GST_FLOW_OK;
  flow = gst_tfx_flight_drain (self);
  if (has_room && latency == 0) {
    priv->is_switch_put_off = !gst_tfx_channel_switch_keep_filter (self);
    if (priv->is_switch_put_off)
      return flow;
  } else {
    if (flow == GST_FLOW_OK)
      flow = gst_tfx_tail_end (self, "other channels out");
    gst_tfx_settings_stop (self);
  }
  if (flow != GST_FLOW_OK || gst_tfx_caps_renegotiate (self))
    return flow;
  gst_pad_mark_reconfigure (priv->src);
  return GST_PAD_IS_FLUSHING (priv->src) ? GST_FLOW_FLUSHING
                                         : GST_FLOW_NOT_NEGOTIATED;
}
