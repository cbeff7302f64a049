/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevicerow.c: see gsttfxdevicerow.h.
 */
#include "gsttfxdevicerow.h"

#include "gsttfxelementprivate.h"
#include "gsttfxpeer.h"

/* It may have looked ahead before it was known that @self widens. */
GstTfxElement *
gst_tfx_device_row_find_upstream (GstTfxElement *self)
{
  GstPad *sink = gst_tfx_element_get_private (self)->sink;
  GstElement *element = gst_tfx_peer_find (sink, GST_TYPE_TFX_ELEMENT);
  const GstTfxElementPrivate *priv;

  if (!element)
    return NULL;
  priv = gst_tfx_element_get_private (GST_TFX_ELEMENT (element));
  if (!priv->can_defer || priv->delay > 0 ||
      gst_tfx_channels_change (&priv->channels) ||
      g_atomic_int_get (&gst_tfx_element_get_private (self)->widens))
    gst_clear_object (&element);
  return (GstTfxElement *)element;
}

void
gst_tfx_device_row_list (GstTfxElement *self, GstTfxDeviceRow *row)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxElement *upstream = gst_tfx_device_row_find_upstream (self);

  if (upstream)
    gst_tfx_device_row_list (upstream, row);
  gst_clear_object (&upstream);
  if (!priv->filter)
    return;
  /* No row is longer: another one begins here. */
  if (row->n == GST_TFX_ROW_MAX)
    row->n = 0;
  row->filters[row->n++] = priv->filter->filter;
  row->is_running |= priv->is_running;
}
