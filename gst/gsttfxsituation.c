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

/* To the bit, so that NaN equals itself. */
static gboolean
gst_tfx_situation_equal (gdouble a, gdouble b)
{
  return memcmp (&a, &b, sizeof (a)) == 0;
}

gboolean
gst_tfx_situations_note (GstTfxSituations *self, const GstTfxValue *value,
    gdouble rate)
{
  gboolean unmet = !gst_tfx_situation_equal (value->asked, value->used);
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
           !(gst_tfx_situation_equal (old->asked, value->asked) &&
               gst_tfx_situation_equal (old->lowest, value->lowest) &&
               gst_tfx_situation_equal (old->highest, value->highest));
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
