/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxelementprivate.c: functions of GstTfxElement for its files and
 * subclasses.
 */
#include "gsttfxelementprivate.h"

#include <string.h>

GST_DEBUG_CATEGORY (gst_tfx_element_debug);
#define GST_CAT_DEFAULT gst_tfx_element_debug

#define PRIVATE(self) gst_tfx_element_get_private (self)

gint gst_tfx_element_private_offset;

gboolean
gst_tfx_element_is_controlling (GstTfxElement *self)
{
  return g_atomic_pointer_get (&PRIVATE (self)->control_thread) ==
         g_thread_self ();
}

void
gst_tfx_element_mark_dirty (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = PRIVATE (self);

  if (!gst_tfx_element_is_controlling (self))
    g_atomic_int_set (&priv->set_by_hand, TRUE);
  g_atomic_int_set (&priv->dirty, TRUE);
}

void
gst_tfx_element_mark_ready (GstTfxElement *self)
{
  g_atomic_int_set (&PRIVATE (self)->dirty, TRUE);
}

/* ---- values out of range ------------------------------------------------- */

typedef struct
{
  GstTfxClamp clamp; /* the last one */
  gchar *property;
  gdouble rate;
  gboolean is_clamped, has_warned;
} Clamped;

static void
gst_tfx_element_clear_clamped (gpointer item)
{
  g_free (((Clamped *)item)->property);
}

void
gst_tfx_element_clear_clamps (GstTfxElementPrivate *priv)
{
  g_clear_pointer (&priv->clamps.items, g_array_unref);
  priv->clamps.by_hand = FALSE;
  priv->clamps.n_clamped = 0;
}

/* The item of a property, added if there is none. */
static Clamped *
gst_tfx_element_find_clamped (GstTfxClamps *self, const gchar *property)
{
  Clamped fresh = { .is_clamped = FALSE };

  if (!self->items) {
    self->items = g_array_new (FALSE, FALSE, sizeof (Clamped));
    g_array_set_clear_func (self->items, gst_tfx_element_clear_clamped);
  }
  for (guint i = 0; i < self->items->len; i++) {
    Clamped *item = &g_array_index (self->items, Clamped, i);

    if (strcmp (item->property, property) == 0)
      return item;
  }
  fresh.property = g_strdup (property);
  g_array_append_val (self->items, fresh);
  return &g_array_index (self->items, Clamped, self->items->len - 1);
}

/* Notes the value used for a property.  Returns TRUE if it is clamped and a
 * warning is due. */
static gboolean
gst_tfx_element_note_clamp (GstTfxClamps *self, const GstTfxClamp *clamp,
    gdouble rate)
{
  const gboolean is_clamped = clamp->asked != clamp->used;
  gboolean is_new = TRUE;
  Clamped *item;

  /* The common case. */
  if (!is_clamped && self->n_clamped == 0)
    return FALSE;
  item = gst_tfx_element_find_clamped (self, clamp->property);
  if (item->rate != rate || (self->by_hand && !is_clamped))
    item->has_warned = FALSE;
  /* A controller moves values, and the ranges of other properties, out and back
   * with every buffer: warn once. */
  if (!self->by_hand)
    is_new = !item->has_warned;
  else if (item->is_clamped && item->rate == rate)
    is_new = item->clamp.asked != clamp->asked ||
             item->clamp.lowest != clamp->lowest ||
             item->clamp.highest != clamp->highest;
  item->clamp = *clamp;
  item->rate = rate;
  self->n_clamped += is_clamped - item->is_clamped;
  item->is_clamped = is_clamped;
  item->has_warned |= is_clamped && is_new;
  return is_clamped && is_new;
}

void
gst_tfx_element_report_clamp (GstTfxElement *self, const GstTfxClamp *clamp,
    gdouble rate)
{
  if (!gst_tfx_element_note_clamp (&PRIVATE (self)->clamps, clamp, rate))
    return;
  if (clamp->because)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s=%.12g%s %s; using %.12g%s.", clamp->property, clamp->asked,
            clamp->unit, clamp->because, clamp->used, clamp->unit),
        (NULL));
  else
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s=%.12g%s is out of range at %.12g Hz (%.12g–%.12g%s); using "
         "%.12g%s.",
            clamp->property, clamp->asked, clamp->unit, rate, clamp->lowest,
            clamp->highest, clamp->lowest_is ? clamp->lowest_is : "",
            clamp->used, clamp->unit),
        (NULL));
}

gboolean
gst_tfx_element_has_clamped (GstTfxElement *self)
{
  return PRIVATE (self)->clamps.n_clamped > 0;
}

void
gst_tfx_element_report_refusal (GstTfxElement *self, const GError *error)
{
  GstStructure *details = PRIVATE (self)->waits_for_reset
                              ? gst_structure_new ("tfx-refusal", "needs-flush",
                                    G_TYPE_BOOLEAN, TRUE, NULL)
                              : NULL;

  gst_element_message_full_with_details (GST_ELEMENT (self),
      GST_MESSAGE_WARNING, error->domain, error->code,
      g_strdup_printf ("The filter cannot be changed: %s. The previous "
                       "settings "
                       "stay in use.",
          error->message),
      NULL, __FILE__, GST_FUNCTION, __LINE__, details);
}

void
gst_tfx_element_ask_upstream (GstTfxElement *self)
{
  gst_pad_push_event (gst_tfx_element_get_private (self)->sink,
      gst_event_new_reconfigure ());
}
