/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfusion.c: fusion of an element with its upstream and downstream peers.
 */
#include "gsttfxelementprivate.h"
#include "gsttfxpeer.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Why processing cannot be deferred to the downstream peer; NULL if it can.  It
 * is a hint: if it is wrong, the filter runs when another reader maps the
 * buffer. */
static const gchar *
gst_tfx_fusion_find_obstacle (GstTfxElementPrivate *priv, GstElement *peer)
{
  GstTfxElementPrivate *next;

  if (!peer)
    return "no tfx element follows";
  next = gst_tfx_element_get_private (GST_TFX_ELEMENT (peer));
  if (!g_atomic_int_get (&priv->fuse))
    return "fuse is off";
  if (!g_atomic_int_get (&next->fuse))
    return "fuse is off in the next element";
  if (g_atomic_int_get (&next->widens))
    return "the next element adds channels";
  if (g_atomic_int_get (&priv->device_setting) !=
          g_atomic_int_get (&next->device_setting) ||
      g_atomic_int_get (&priv->cuda_device_id) !=
          g_atomic_int_get (&next->cuda_device_id))
    return "the next element has another device setting";
  return NULL;
}

static void
gst_tfx_fusion_find_peer (GstTfxElement *self, const GstPad *pad)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gchar *obstacle;
  GstElement *peer;

  g_atomic_int_set (&priv->relinked, FALSE);
  priv->seen_peer = pad;
  peer = gst_tfx_peer_find (priv->src, GST_TYPE_TFX_ELEMENT);
  obstacle = gst_tfx_fusion_find_obstacle (priv, peer);
  priv->can_defer = !obstacle;
  if (obstacle)
    GST_DEBUG_OBJECT (self, "fusion: the filter runs here: %s", obstacle);
  else if (priv->delay > 0 || gst_tfx_channels_change (&priv->channels))
    GST_DEBUG_OBJECT (self, "fusion: the filter runs here: it %s",
        priv->delay > 0 ? "has latency" : "changes the number of channels");
  else
    GST_DEBUG_OBJECT (self,
        "fusion: the filter is deferred to %" GST_PTR_FORMAT, peer);
  gst_clear_object (&peer);
}

gboolean
gst_tfx_fusion_defers (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstPad *pad = g_atomic_pointer_get (&GST_PAD_PEER (priv->src));

  if (G_UNLIKELY (pad != priv->seen_peer || g_atomic_int_get (&priv->relinked)))
    gst_tfx_fusion_find_peer (self, pad);
  return priv->can_defer && priv->delay == 0 &&
         !gst_tfx_channels_change (&priv->channels) &&
         g_atomic_int_get (&priv->src->num_probes) == 0;
}

gboolean
gst_tfx_fusion_is_alone (GstTfxElement *self, gsize n_frames)
{
  const GstTfxControl *control = &gst_tfx_element_get_private (self)->control;

  return control->is_followed &&
         (control->has_steps || control->n_ready < n_frames);
}

gboolean
gst_tfx_fusion_begin (GstTfxElement *self, GstBuffer *buffer, gsize n_frames,
    GstTfxPendingRun *run)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxLayout layout;

  if (gst_tfx_pending_is_in (buffer)) {
    if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) &&
        !gst_tfx_fusion_is_alone (self, n_frames) &&
        gst_tfx_buffer_describe (buffer, &priv->info, n_frames, &layout) &&
        gst_tfx_pending_begin (run, buffer, priv->filter, &layout))
      return TRUE;
    gst_tfx_pending_settle (buffer);
  }
  gst_tfx_pending_flush (priv->filter);
  return FALSE;
}
