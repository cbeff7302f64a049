/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsituation.c: which values that cannot be met were already told of.
 */
#include "gsttfxsituation.h"

#include <string.h>

void
gst_tfx_situations_begin (GstTfxSituations *self, gboolean by_hand)
{
  self->by_hand = by_hand;
}

gboolean
gst_tfx_situations_note (GstTfxSituations *self, const GstTfxValue *value,
    gdouble rate)
{
  gboolean unmet = value->asked != value->used;
  gboolean tell = TRUE;
  guint i;

  for (i = 0; i < self->n_items; i++) {
    if (!strcmp (self->items[i].value.property, value->property))
      break;
  }
  g_return_val_if_fail (i < GST_TFX_MAX_SITUATIONS, unmet);

  if (i == self->n_items) {
    self->n_items++;
  } else if (self->items[i].unmet && self->items[i].rate == rate) {
    const GstTfxValue *old = &self->items[i].value;

    /* A controller moves values and, through other properties, ranges with
     * every buffer: that is one situation. */
    tell = self->by_hand &&
           (old->asked != value->asked || old->lowest != value->lowest ||
               old->highest != value->highest);
  }
  self->items[i].value = *value;
  self->items[i].rate = rate;
  self->items[i].unmet = unmet;
  return unmet && tell;
}

void
gst_tfx_situations_clear (GstTfxSituations *self)
{
  memset (self, 0, sizeof (*self));
}
