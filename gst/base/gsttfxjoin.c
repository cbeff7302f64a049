/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjoin.c: what others have left to an element, and its own filter, as one row.
 */
#include "gsttfxelementprivate.h"

gboolean
gst_tfx_join_begin (GstTfxElement *self, GstBuffer *buffer, gsize n_frames,
    GstTfxPendingRun *run)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxLayout layout;

  if (gst_tfx_pending_is_in (buffer)) {
    if (!GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) &&
        !gst_tfx_control_is_alone (self, n_frames) &&
        gst_tfx_buffer_describe (buffer, &priv->info, n_frames, &layout) &&
        gst_tfx_pending_begin (run, buffer, priv->filter, &layout))
      return TRUE;
    gst_tfx_pending_settle (buffer);
  }
  gst_tfx_pending_flush (priv->filter);
  return FALSE;
}
