/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpeer.c: which element a source pad is linked to.
 *
 * It is a hint, nothing more: what it says may be wrong by the time that a
 * buffer arrives.
 */
#include "gsttfxpeer.h"

GstPad *
gst_tfx_peer_find_pad (GstPad *pad)
{
  pad = gst_pad_get_peer (pad);
  while (pad) {
    GstProxyPad *internal;

    if (!GST_IS_PROXY_PAD (pad))
      break;
    internal = gst_proxy_pad_get_internal (GST_PROXY_PAD (pad));
    gst_object_unref (pad);
    pad = internal ? gst_pad_get_peer (GST_PAD (internal)) : NULL;
    gst_clear_object (&internal);
  }
  return pad;
}

GstElement *
gst_tfx_peer_find (GstPad *pad, GType type)
{
  GstElement *element = NULL;
  GstPad *sink = gst_tfx_peer_find_pad (pad);

  if (sink)
    element = gst_pad_get_parent_element (sink);
  gst_clear_object (&sink);
  if (element && !g_type_is_a (G_OBJECT_TYPE (element), type))
    gst_clear_object (&element);
  return element;
}
