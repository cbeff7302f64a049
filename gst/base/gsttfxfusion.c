/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfusion.c: fusion of an element with its upstream and downstream peers.
 */
#include <errno.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxelementprivate.h"
#include "gsttfxpeer.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Looks up whether processing can be deferred to the downstream peer.  It is a
 * hint: if it is wrong, the filter runs when another reader maps the buffer. */
static void
gst_tfx_fusion_find_peer (GstTfxElement *self, const GstPad *pad)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self), *next = NULL;
  const gchar *obstacle = NULL;
  GstElement *peer;

  g_atomic_int_set (&priv->relinked, FALSE);
  priv->seen_peer = pad;
  peer = gst_tfx_peer_find (priv->src, GST_TYPE_TFX_ELEMENT);
  if (peer)
    next = gst_tfx_element_get_private (GST_TFX_ELEMENT (peer));
  if (!next)
    obstacle = "no tfx element follows";
  else if (!g_atomic_int_get (&priv->fuse))
    obstacle = "fuse is off";
  else if (!g_atomic_int_get (&next->fuse))
    obstacle = "fuse is off in the next element";
  else if (g_atomic_int_get (&next->widens))
    obstacle = "the next element adds channels";
  else if (g_atomic_int_get (&priv->device_setting) !=
               g_atomic_int_get (&next->device_setting) ||
           g_atomic_int_get (&priv->cuda_device_id) !=
               g_atomic_int_get (&next->cuda_device_id))
    obstacle = "the next element has another device setting";
  priv->can_defer = !obstacle;
  if (priv->can_defer && priv->delay > 0)
    obstacle = "it has latency";
  else if (priv->can_defer && gst_tfx_channels_change (&priv->channels))
    obstacle = "it changes the number of channels";
  if (obstacle)
    GST_DEBUG_OBJECT (self, "fusion: the filter runs here: %s", obstacle);
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

GstTfxElement *
gst_tfx_fusion_find_upstream (GstTfxElement *self)
{
  GstTfxElementPrivate *own = gst_tfx_element_get_private (self), *priv;
  GstElement *element = gst_tfx_peer_find (own->sink, GST_TYPE_TFX_ELEMENT);

  if (!element)
    return NULL;
  priv = gst_tfx_element_get_private (GST_TFX_ELEMENT (element));
  if (!priv->can_defer || priv->delay > 0 ||
      gst_tfx_channels_change (&priv->channels) ||
      g_atomic_int_get (&own->widens))
    gst_clear_object (&element);
  return (GstTfxElement *)element;
}

void
gst_tfx_fusion_list_row (GstTfxElement *self, GstTfxMembers *row)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxElement *upstream = gst_tfx_fusion_find_upstream (self);

  if (upstream)
    gst_tfx_fusion_list_row (upstream, row);
  gst_clear_object (&upstream);
  if (!priv->filter)
    return;
  /* A row has at most GST_TFX_ROW_MAX filters: the next row starts here. */
  if (row->n == GST_TFX_ROW_MAX)
    row->n = 0;
  row->filters[row->n++] = priv->filter->filter;
  row->is_running |= priv->is_running;
}

/* ---- a run over a buffer ------------------------------------------------- */

void
gst_tfx_fusion_map (GstTfxElement *self, GstBuffer *buffer, GstMapFlags access,
    GstTfxScratch *scratch, GstTfxMapped *mapped)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;

  mapped->is_device = access != 0 &&
                      gst_tfx_cuda_buffer_is_device (buffer, device->context) &&
                      gst_tfx_cuda_buffer_map (&mapped->device, buffer,
                          &priv->info, device->cuda, access);
  mapped->is_mapped = mapped->is_device;
  if (mapped->is_mapped) {
    mapped->block = mapped->device.block;
    return;
  }
  /* The map of another allocator would wait for a hung device. */
  if (G_UNLIKELY (device->cuda) && tfx_cuda_is_hung (device->cuda) &&
      gst_tfx_buffer_is_cuda (buffer) &&
      !gst_tfx_cuda_allocator_owns (gst_buffer_peek_memory (buffer, 0)))
    return;
  /* A device may fail once. */
  mapped->is_mapped =
      gst_tfx_buffer_map (&mapped->host, buffer, &priv->info, scratch) ||
      gst_tfx_buffer_map (&mapped->host, buffer, &priv->info, scratch);
  if (mapped->is_mapped)
    mapped->block = mapped->host.block;
}

gboolean
gst_tfx_fusion_unmap (GstTfxMapped *mapped)
{
  if (!mapped->is_mapped)
    return TRUE;
  mapped->is_mapped = FALSE;
  if (mapped->is_device)
    return gst_tfx_cuda_buffer_unmap (&mapped->device);
  gst_tfx_buffer_unmap (&mapped->host);
  return TRUE;
}

void
gst_tfx_fusion_begin (GstTfxElement *self, GstBuffer *buffer, gsize n_frames,
    gboolean on_device, GstTfxScratch *scratch, GstTfxRun *run)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxLayout layout;

  run->is_fused = FALSE;
  if (gst_tfx_pending_is_in (buffer)) {
    run->is_fused =
        !gst_tfx_fusion_is_alone (self, n_frames) &&
        gst_tfx_buffer_describe (buffer, &priv->info, n_frames, &layout) &&
        gst_tfx_pending_begin (&run->pending, buffer, priv->filter, &layout);
    if (!run->is_fused)
      gst_tfx_pending_settle (buffer);
  }
  if (!run->is_fused) {
    gst_tfx_pending_flush (priv->filter);
    gst_tfx_fusion_map (self, buffer, on_device ? GST_MAP_READ : 0, scratch,
        &run->in);
    run->row = (GstTfxRow){ &priv->filter->filter, 1, priv->filter };
    gst_tfx_row_lock (&run->row);
    return;
  }
  run->row = run->pending.row;
  run->in.is_mapped = run->pending.map.memory != NULL;
  if (run->in.is_mapped) {
    gst_tfx_buffer_use_map (&run->in.host, buffer, &run->pending.map,
        &priv->info, scratch);
    run->in.block = run->in.host.block;
    run->in.is_device = FALSE;
  } else if (gst_tfx_buffer_is_cuda (buffer)) {
    gst_tfx_fusion_map (self, buffer, on_device ? GST_MAP_READ : 0, scratch,
        &run->in);
  }
}

gint
gst_tfx_fusion_leave_memory (GstTfxElement *self, GstBuffer *buffer, gint err,
    GstTfxRun *run)
{
  if (!run->in.is_device)
    return err;
  if (!run->is_fused)
    gst_tfx_row_unlock (&run->row);
  if (!gst_tfx_fusion_unmap (&run->in) && err >= 0)
    err = -EIO;
  if (err < 0)
    gst_tfx_fusion_map (self, buffer, 0,
        &gst_tfx_element_get_private (self)->scratch, &run->in);
  if (!run->is_fused)
    gst_tfx_row_lock (&run->row);
  return err;
}

void
gst_tfx_fusion_end (GstTfxElement *self, GstTfxRun *run)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  gst_tfx_counts_note_rows (&priv->counts, &priv->filter->counts);
  if (run->is_fused)
    gst_tfx_pending_end (&run->pending);
  else
    gst_tfx_row_unlock (&run->row);
}
