/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxneighbour.h: which tfx element, if any, is directly linked to a pad.
 */
#ifndef GST_TFX_NEIGHBOUR_H
#define GST_TFX_NEIGHBOUR_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The ghost pads of so many bins within each other may lie between. */
#define GST_TFX_NEIGHBOUR_MAX_PADS 16

/* The way from a source pad to the sink pad of another tfx element.  All zero:
 * not looked for yet. */
typedef struct
{
  GstPad *pads[GST_TFX_NEIGHBOUR_MAX_PADS]; /* the way, with references */
  guint n_pads;
  GstElement *element; /* at its end, with a reference */
} GstTfxNeighbour;

/* Looks for the way from @src to the sink pad of an element of type @type:
 * through ghost and proxy pads, past nothing else.  FALSE if there is none. */
gboolean
gst_tfx_neighbour_find (GstTfxNeighbour *self, GstPad *src, GType type);

/* Whether every link of the way is as it was.  Takes no lock. */
static inline gboolean
gst_tfx_neighbour_is_linked (const GstTfxNeighbour *self)
{
  if (!self->element)
    return FALSE;
  for (guint i = 0; i + 1 < self->n_pads; i++) {
    GstPad *pad = self->pads[i];

    /* The two pads of a ghost pad never part. */
    if (GST_PAD_IS_SRC (pad) &&
        g_atomic_pointer_get (&pad->peer) != self->pads[i + 1])
      return FALSE;
  }
  return TRUE;
}

/* Whether a pad of the way has a probe, which would see samples that are not
 * filtered yet.  Takes no lock. */
static inline gboolean
gst_tfx_neighbour_is_watched (const GstTfxNeighbour *self)
{
  for (guint i = 0; i < self->n_pads; i++) {
    if (g_atomic_int_get (&self->pads[i]->num_probes) > 0)
      return TRUE;
  }
  return FALSE;
}

/* Whether the way leads to this sink pad still, and nobody watches it.  Takes no
 * lock. */
static inline gboolean
gst_tfx_neighbour_is_open (const GstTfxNeighbour *self, GstPad *sink)
{
  return self->n_pads > 0 && self->pads[self->n_pads - 1] == sink &&
         gst_tfx_neighbour_is_linked (self) &&
         !gst_tfx_neighbour_is_watched (self);
}

/* Forgets the way. */
void gst_tfx_neighbour_clear (GstTfxNeighbour *self);

G_END_DECLS

#endif /* GST_TFX_NEIGHBOUR_H */
