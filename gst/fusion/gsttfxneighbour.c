/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxneighbour.c: which tfx element, if any, is directly linked to a pad.
 *
 * An ALLOCATION query cannot tell: elements that work in place forward it, and
 * would then hear the samples before they are filtered.
 *
 * The way is a list of pads, each source pad followed by its peer; a ghost or
 * proxy pad is followed by its internal one.
 */
#include "gsttfxneighbour.h"

void
gst_tfx_neighbour_clear (GstTfxNeighbour *self)
{
  while (self->n_pads > 0)
    gst_object_unref (self->pads[--self->n_pads]);
  gst_clear_object (&self->element);
}

/* Takes the reference. */
static gboolean
gst_tfx_neighbour_add (GstTfxNeighbour *self, GstPad *pad)
{
  if (!pad || self->n_pads == GST_TFX_NEIGHBOUR_MAX_PADS) {
    gst_clear_object (&pad);
    gst_tfx_neighbour_clear (self);
    return FALSE;
  }
  self->pads[self->n_pads++] = pad;
  return TRUE;
}

gboolean
gst_tfx_neighbour_find (GstTfxNeighbour *self, GstPad *src, GType type)
{
  GstPad *pad = src;

  gst_tfx_neighbour_clear (self);
  if (!gst_tfx_neighbour_add (self, gst_object_ref (src)))
    return FALSE;
  for (;;) {
    pad = gst_pad_get_peer (pad);
    if (!gst_tfx_neighbour_add (self, pad))
      return FALSE;
    if (GST_IS_PROXY_PAD (pad)) {
      pad = GST_PAD (gst_proxy_pad_get_internal (GST_PROXY_PAD (pad)));
      if (!gst_tfx_neighbour_add (self, pad))
        return FALSE;
      continue;
    }

    self->element = gst_pad_get_parent_element (pad);
    if (self->element && g_type_is_a (G_OBJECT_TYPE (self->element), type))
      return TRUE;
    gst_tfx_neighbour_clear (self);
    return FALSE;
  }
}
