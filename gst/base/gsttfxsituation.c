/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsituation.c: which values that cannot be met were already told of.
 */
#include "gsttfxsituation.h"

#include <string.h>

typedef struct
{
  GstTfxValue value;
  gchar *property;
  gdouble rate;
  gboolean unmet;
} Situation;

static void
gst_tfx_situation_clear (gpointer item)
{
  g_free (((Situation *)item)->property);
}

void
gst_tfx_situations_begin (GstTfxSituations *self, gboolean by_hand)
{
  self->by_hand = by_hand;
}

/* The property's situation; a new one if there is none yet. */
static Situation *
gst_tfx_situations_find (GstTfxSituations *self, const gchar *property)
{
  Situation fresh = { .unmet = FALSE };

  if (!self->items) {
    self->items = g_array_new (FALSE, FALSE, sizeof (Situation));
    g_array_set_clear_func (self->items, gst_tfx_situation_clear);
  }
  for (guint i = 0; i < self->items->len; i++) {
    Situation *item = &g_array_index (self->items, Situation, i);

    if (!strcmp (item->property, property))
      return item;
  }
  fresh.property = g_strdup (property);
  g_array_append_val (self->items, fresh);
  return &g_array_index (self->items, Situation, self->items->len - 1);
}

gboolean
gst_tfx_situations_note (GstTfxSituations *self, const GstTfxValue *value,
    gdouble rate)
{
  gboolean unmet = value->asked != value->used;
  gboolean tell = TRUE;
  Situation *item = gst_tfx_situations_find (self, value->property);

  if (item->unmet && item->rate == rate) {
    const GstTfxValue *old = &item->value;

    /* A controller moves values and, through other properties, ranges with
     * every buffer: that is one situation. */
    tell = self->by_hand &&
           (old->asked != value->asked || old->lowest != value->lowest ||
               old->highest != value->highest);
  }
  item->value = *value;
  item->value.property = item->property;
  item->rate = rate;
  item->unmet = unmet;
  return unmet && tell;
}

void
gst_tfx_situations_clear (GstTfxSituations *self)
{
  g_clear_pointer (&self->items, g_array_unref);
  self->by_hand = FALSE;
}
