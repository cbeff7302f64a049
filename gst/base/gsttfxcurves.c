/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcurves.c: the control bindings of an element and its children, and
 * their values at a series of times.
 */
#include "gsttfxcurves.h"

#include <math.h>
#include <string.h>

struct _GstTfxCurve
{
  GstControlBinding *binding;          /* a reference */
  GstObject *object;                   /* a reference */
  GObjectClass *klass;                 /* the class of the property */
  gsize delay;                         /* frames */
  gboolean is_number;                  /* a double, read without GValues */
  gdouble numbers[GST_TFX_CURVES_MAX]; /* NaN: no value */
  GValue values[GST_TFX_CURVES_MAX];
  GValue last; /* the last value set, or unset */
  gboolean has_changed;
};

static inline gboolean
gst_tfx_curve_is_set (const GValue *value)
{
  return value->g_type != 0;
}

static void
gst_tfx_curve_clear_value (GValue *value)
{
  if (gst_tfx_curve_is_set (value))
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
gst_tfx_curves_drop (GstTfxCurves *self)
{
  for (guint i = 0; i < self->n_room; i++)
    gst_tfx_curve_clear (&self->items[i]);
  self->n = 0;
}

void
gst_tfx_curves_clear (GstTfxCurves *self)
{
  gst_tfx_curves_drop (self);
  g_free (self->items);
  *self = (GstTfxCurves){ NULL };
}

/* ---- bindings ------------------------------------------------------------ */

#define FIRST_ROOM 4

static void
gst_tfx_curves_grow (GstTfxCurves *self)
{
  const guint n = self->n_room;

  self->n_room = MAX (FIRST_ROOM, 2 * n);
  self->items = g_renew (GstTfxCurve, self->items, self->n_room);
  memset (self->items + n, 0, (self->n_room - n) * sizeof *self->items);
}

void
gst_tfx_curves_reserve (GstTfxCurves *self)
{
  if (self->n_room == 0)
    gst_tfx_curves_grow (self);
}

static GstTfxCurve *
gst_tfx_curves_add (GstTfxCurves *self)
{
  if (self->n == self->n_room)
    gst_tfx_curves_grow (self);
  return &self->items[self->n++];
}

static gboolean
gst_tfx_curve_glides (const GstControlBinding *binding)
{
  return G_PARAM_SPEC_VALUE_TYPE (binding->pspec) == G_TYPE_DOUBLE;
}

/* Adds the enabled bindings of an object; a binding that was at the same index
 * keeps its values.  Returns TRUE if there is a new one. */
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
    self->has_steps = self->has_steps || !gst_tfx_curve_glides (l->data);
    if (curve->binding == l->data && curve->object == object)
      continue;
    gst_tfx_curve_clear (curve);
    curve->binding = gst_object_ref (l->data);
    curve->object = gst_object_ref (object);
    curve->klass = g_type_class_peek (curve->binding->pspec->owner_type);
    curve->is_number = gst_tfx_curve_glides (curve->binding);
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
  self->has_steps = FALSE;
  is_new = gst_tfx_curves_find_of (self, object);
  for (guint i = 0; children && i < children->len; i++)
    is_new = gst_tfx_curves_find_of (self, children->pdata[i]) || is_new;
  for (guint i = self->n; i < self->n_room; i++)
    gst_tfx_curve_clear (&self->items[i]);
  return is_new;
}

/* ---- values -------------------------------------------------------------- */

static gboolean
gst_tfx_curve_has (const GstTfxCurve *self, guint index)
{
  return self->is_number ? !isnan (self->numbers[index])
                         : gst_tfx_curve_is_set (&self->values[index]);
}

/* Reads n values at evenly spaced times. */
static void
gst_tfx_curve_ask (GstTfxCurve *self, GstClockTime time, GstClockTime step,
    guint first, guint n)
{
  if (self->is_number)
    gst_control_binding_get_value_array (self->binding, time, step, n,
        self->numbers + first);
  else
    gst_control_binding_get_g_value_array (self->binding, time, step, n,
        self->values + first);
}

static void
gst_tfx_curve_read (GstTfxCurve *self, const GstClockTime *times, guint n)
{
  for (guint i = 0; i < n; i++) {
    self->numbers[i] = NAN;
    gst_tfx_curve_clear_value (&self->values[i]);
  }
  for (guint i = 0, length; i < n; i += length) {
    const GstClockTimeDiff step =
        i + 1 < n ? GST_CLOCK_DIFF (times[i], times[i + 1]) : 0;

    length = 1;
    while (step > 0 && i + length < n &&
           GST_CLOCK_DIFF (times[i + length - 1], times[i + length]) == step)
      length++;
    gst_tfx_curve_ask (self, times[i], MAX (step, 0), i, length);
    /* A trigger source returns only the first of several values. */
    for (guint k = i; length > 1 && k < i + length; k++) {
      if (!gst_tfx_curve_has (self, k))
        gst_tfx_curve_ask (self, times[k], 0, k, 1);
    }
  }
}

void
gst_tfx_curves_read (GstTfxCurves *self, guint curve, const GstClockTime *times,
    guint n)
{
  gst_tfx_curve_read (&self->items[curve], times, n);
}

GstObject *
gst_tfx_curves_get_object (const GstTfxCurves *self, guint curve)
{
  return self->items[curve].object;
}

gsize
gst_tfx_curves_get_delay (const GstTfxCurves *self, guint curve)
{
  return self->items[curve].delay;
}

void
gst_tfx_curves_set_delay (GstTfxCurves *self, guint curve, gsize n_frames)
{
  self->items[curve].delay = n_frames;
}

/* Whether a value equals the last one that was set. */
static gboolean
gst_tfx_curve_is_last (const GstTfxCurve *self, guint index)
{
  if (!gst_tfx_curve_is_set (&self->last))
    return FALSE;
  return self->is_number
             ? g_value_get_double (&self->last) == self->numbers[index]
             : gst_value_compare (&self->last, &self->values[index]) ==
                   GST_VALUE_EQUAL;
}

/* As g_object_set_property(), but without a notification. */
static void
gst_tfx_curve_set (GstTfxCurve *self, guint index)
{
  GParamSpec *spec = self->binding->pspec;

  if (!gst_tfx_curve_is_set (&self->last))
    g_value_init (&self->last, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (self->is_number) {
    g_value_set_double (&self->last, self->numbers[index]);
    G_PARAM_SPEC_GET_CLASS (spec)->value_validate (spec, &self->last);
  } else {
    g_value_copy (&self->values[index], &self->last);
    g_param_value_validate (spec, &self->last);
  }
  self->klass->set_property (G_OBJECT (self->object), spec->param_id,
      &self->last, spec);
  self->has_changed = TRUE;
}

void
gst_tfx_curves_apply (GstTfxCurves *self, guint index)
{
  for (guint i = 0; i < self->n; i++) {
    GstTfxCurve *curve = &self->items[i];

    /* A source may have no value at a time. */
    if (gst_tfx_curve_has (curve, index) &&
        !gst_tfx_curve_is_last (curve, index))
      gst_tfx_curve_set (curve, index);
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
