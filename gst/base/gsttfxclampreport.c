/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxclampreport.c: remembers which clamped values were reported.
 */
#include "gsttfxclampreport.h"

#include <string.h>

typedef struct
{
  GstTfxClamp clamp;
  gchar *property;
  gdouble rate;
  gboolean is_clamped, has_warned;
} Item;

static void
gst_tfx_clamp_report_clear_item (gpointer item)
{
  g_free (((Item *)item)->property);
}

void
gst_tfx_clamp_report_begin (GstTfxClampReport *self, gboolean by_hand)
{
  self->by_hand = by_hand;
}

/* The item of a property, added if there is none. */
static Item *
gst_tfx_clamp_report_find (GstTfxClampReport *self, const gchar *property)
{
  Item fresh = { .is_clamped = FALSE };

  if (!self->items) {
    self->items = g_array_new (FALSE, FALSE, sizeof (Item));
    g_array_set_clear_func (self->items, gst_tfx_clamp_report_clear_item);
  }
  for (guint i = 0; i < self->items->len; i++) {
    Item *item = &g_array_index (self->items, Item, i);

    if (!strcmp (item->property, property))
      return item;
  }
  fresh.property = g_strdup (property);
  g_array_append_val (self->items, fresh);
  return &g_array_index (self->items, Item, self->items->len - 1);
}

gboolean
gst_tfx_clamp_report_note (GstTfxClampReport *self, const GstTfxClamp *clamp,
    gdouble rate)
{
  gboolean is_clamped = clamp->asked != clamp->used;
  gboolean is_new = TRUE;
  Item *item;

  /* The common case. */
  if (!is_clamped && self->n_clamped == 0)
    return FALSE;
  item = gst_tfx_clamp_report_find (self, clamp->property);
  if (item->rate != rate || (self->by_hand && !is_clamped))
    item->has_warned = FALSE;
  if (!self->by_hand) {
    /* A controller moves values, and the ranges of other properties, out and
     * back with every buffer: warn once. */
    is_new = !item->has_warned;
  } else if (item->is_clamped && item->rate == rate) {
    const GstTfxClamp *old = &item->clamp;

    is_new = old->asked != clamp->asked || old->lowest != clamp->lowest ||
             old->highest != clamp->highest;
  }
  item->clamp = *clamp;
  item->clamp.property = item->property;
  item->rate = rate;
  self->n_clamped += is_clamped - item->is_clamped;
  item->is_clamped = is_clamped;
  item->has_warned |= is_clamped && is_new;
  return is_clamped && is_new;
}

void
gst_tfx_clamp_report_clear (GstTfxClampReport *self)
{
  g_clear_pointer (&self->items, g_array_unref);
  self->by_hand = FALSE;
  self->n_clamped = 0;
}
