/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpeer.c: finds the element that a pad is linked to.
 *
 * The result is a hint: the link may have changed when the next buffer arrives.
 */
#include "gsttfxpeer.h"

GstElement *
gst_tfx_peer_find (GstPad *pad, GType type)
{
  GstElement *element = NULL;

  pad = gst_pad_get_peer (pad);
  while (pad && GST_IS_PROXY_PAD (pad)) {
    GstProxyPad *internal = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad));

    gst_object_unref (pad);
    pad = internal ? gst_pad_get_peer (GST_PAD (internal)) : NULL;
    gst_clear_object (&internal);
  }
  if (pad)
    element = gst_pad_get_parent_element (pad);
  gst_clear_object (&pad);
  if (element && !g_type_is_a (G_OBJECT_TYPE (element), type))
    gst_clear_object (&element);
  return element;
}
