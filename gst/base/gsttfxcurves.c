/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcurves.c: the control bindings of an element and its children, and what
 * they say for a row of times.
 */
#include "gsttfxcurves.h"

struct _GstTfxCurve
{
  GstControlBinding *binding; /* a reference */
  GstObject *object;          /* another one */
  GValue values[GST_TFX_CURVES_MAX];
  GValue last; /* that was set; 0: none */
  gboolean has_changed;
};

static void
gst_tfx_curve_clear_value (GValue *value)
{
  if (G_IS_VALUE (value))
    g_value_unset (value);
}

static void
gst_tfx_curve_clear (GstTfxCurve *self)
{
  for (guint i = 0; i < GST_TFX_CURVES_MAX; i++)
    gst_tfx_curve_clear_value (&self->values[i]);
  gst_tfx_curve_clear_value (&self->last);
  gst_clear_object (&self->binding);
  gst_clear_object (&self->object);
}

void
gst_tfx_curves_clear (GstTfxCurves *self)
{
  for (guint i = 0; i < self->n_room; i++)
    gst_tfx_curve_clear (&self->items[i]);
  g_free (self->items);
  *self = (GstTfxCurves){ NULL };
}

/* ---- which there are --------------------------------------------------------------- */

static GstTfxCurve *
gst_tfx_curves_add (GstTfxCurves *self)
{
  const gsize size = sizeof *self->items;

  if (self->n == self->n_room) {
    self->n_room = MAX (4, 2 * self->n_room);
    self->items = g_realloc (self->items, self->n_room * size);
    memset (self->items + self->n, 0, (self->n_room - self->n) * size);
  }
  return &self->items[self->n++];
}

/* What stands where it stood goes on.  TRUE if something else is there. */
static gboolean
gst_tfx_curves_find_of (GstTfxCurves *self, GstObject *object)
{
  gboolean is_new = FALSE;

  GST_OBJECT_LOCK (object);
  for (GList *l = object->control_bindings; l; l = l->next) {
    GstTfxCurve *curve;

    if (gst_control_binding_is_disabled (l->data))
      continue;
    curve = gst_tfx_curves_add (self);
    if (curve->binding == l->data && curve->object == object)
      continue;
    gst_tfx_curve_clear (curve);
    curve->binding = gst_object_ref (l->data);
    curve->object = gst_object_ref (object);
    curve->has_changed = FALSE;
    is_new = TRUE;
  }
  GST_OBJECT_UNLOCK (object);
  return is_new;
}

gboolean
gst_tfx_curves_find (GstTfxCurves *self, GstObject *object, GPtrArray *children)
{
  gboolean is_new;

  self->n = 0;
  is_new = gst_tfx_curves_find_of (self, object);
  for (guint i = 0; children && i < children->len; i++)
    is_new = gst_tfx_curves_find_of (self, children->pdata[i]) || is_new;
  for (guint i = self->n; i < self->n_room; i++)
    gst_tfx_curve_clear (&self->items[i]);
  return is_new;
}

/* ---- values ------------------------------------------------------------------------ */

/* At evenly spaced times in one go. */
static void
gst_tfx_curve_read (GstTfxCurve *self, const GstClockTime *times, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_tfx_curve_clear_value (&self->values[i]);
  for (guint i = 0, length; i < n; i += length) {
    const GstClockTimeDiff step =
        i + 1 < n ? GST_CLOCK_DIFF (times[i], times[i + 1]) : 0;

    length = 1;
    while (step > 0 && i + length < n &&
           GST_CLOCK_DIFF (times[i + length - 1], times[i + length]) == step)
      length++;
    gst_control_binding_get_g_value_array (self->binding, times[i], step,
        length, self->values + i);
    /* A trigger that is asked for many sees the first alone. */
    for (guint k = i; length > 1 && k < i + length; k++) {
      if (!G_IS_VALUE (&self->values[k]))
        gst_control_binding_get_g_value_array (self->binding, times[k], 0, 1,
            self->values + k);
    }
  }
}

void
gst_tfx_curves_read (GstTfxCurves *self, const GstClockTime *times, guint n)
{
  for (guint i = 0; i < self->n; i++)
    gst_tfx_curve_read (&self->items[i], times, n);
}

static gboolean
gst_tfx_curve_is_equal (const GValue *a, const GValue *b)
{
  if (G_VALUE_HOLDS_DOUBLE (a))
    return g_value_get_double (a) == g_value_get_double (b);
  return gst_value_compare (a, b) == GST_VALUE_EQUAL;
}

/* As g_object_set_property() does it, but that nobody is told. */
static void
gst_tfx_curve_set (GstTfxCurve *self, GValue *value)
{
  GParamSpec *spec = self->binding->pspec;
  GObjectClass *klass = g_type_class_peek (spec->owner_type);

  g_param_value_validate (spec, value);
  klass->set_property (G_OBJECT (self->object), spec->param_id, value, spec);
}

void
gst_tfx_curves_apply (GstTfxCurves *self, guint index)
{
  for (guint i = 0; i < self->n; i++) {
    GstTfxCurve *curve = &self->items[i];
    GValue *value = &curve->values[index];

    /* A source may have nothing to say for a time. */
    if (!G_IS_VALUE (value) ||
        (G_IS_VALUE (&curve->last) &&
            gst_tfx_curve_is_equal (&curve->last, value)))
      continue;
    gst_tfx_curve_set (curve, value);
    if (!G_IS_VALUE (&curve->last))
      g_value_init (&curve->last, G_VALUE_TYPE (value));
    g_value_copy (value, &curve->last);
    curve->has_changed = TRUE;
  }
}

void
gst_tfx_curves_forget (GstTfxCurves *self)
{
  for (guint i = 0; i < self->n; i++)
    gst_tfx_curve_clear_value (&self->items[i].last);
}

void
gst_tfx_curves_notify (GstTfxCurves *self)
{
  for (guint i = 0; i < self->n; i++) {
    GstTfxCurve *curve = &self->items[i];

    if (curve->has_changed)
      g_object_notify_by_pspec (G_OBJECT (curve->object),
          curve->binding->pspec);
    curve->has_changed = FALSE;
  }
}
