/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxahead.c: whether the element ahead would run what is left to it.
 */
#include "gsttfxelementprivate.h"
#include "gsttfxpeer.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Whether the next element is a tfx element that would run what is left to it.
 * That is a hint: if it is wrong the filter runs when somebody reads the
 * buffer. */
static void
gst_tfx_ahead_look (GstTfxElement *self, const GstPad *peer)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self), *next;
  GstElement *element;

  g_atomic_int_set (&priv->relinked, FALSE);
  priv->seen_peer = peer;
  element = gst_tfx_peer_find (priv->src, GST_TYPE_TFX_ELEMENT);
  priv->can_defer = FALSE;
  if (element) {
    next = gst_tfx_element_get_private (GST_TFX_ELEMENT (element));
    priv->can_defer = g_atomic_int_get (&priv->fuse) &&
                      g_atomic_int_get (&next->fuse) &&
                      !g_atomic_int_get (&next->widens) &&
                      g_atomic_int_get (&priv->device_setting) ==
                          g_atomic_int_get (&next->device_setting) &&
                      g_atomic_int_get (&priv->cuda_device_id) ==
                          g_atomic_int_get (&next->cuda_device_id);
  }
  GST_DEBUG_OBJECT (self, "next is %" GST_PTR_FORMAT ", %s", element,
      priv->can_defer ? "which runs the filter" : "the filter runs here");
  gst_clear_object (&element);
}

gboolean
gst_tfx_ahead_defers (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const GstPad *peer = g_atomic_pointer_get (&GST_PAD_PEER (priv->src));

  if (G_UNLIKELY (
          peer != priv->seen_peer || g_atomic_int_get (&priv->relinked)))
    gst_tfx_ahead_look (self, peer);
  return priv->can_defer && priv->delay == 0 &&
         !gst_tfx_channels_change (&priv->channels) &&
         g_atomic_int_get (&priv->src->num_probes) == 0;
}
