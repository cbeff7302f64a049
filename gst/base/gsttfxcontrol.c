/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcontrol.c: controlled properties take their values at the points of the
 * parameter grid, also within a buffer.
 *
 * The filter counts the grid from its reset, so the frame of a value does not
 * depend on how the stream is split into buffers.  Neither do the times at
 * which curves are read: they are counted in frames from a timestamp, until a
 * timestamp differs from the count by more than one grid step.
 *
 * gst_object_sync_values() is made for one call per buffer: it allocates memory
 * and emits notify for each value.  It is not used.  One call reads many values
 * of a control binding, the property setters are called directly, and notify is
 * emitted for the last value only.
 *
 * All functions run in the streaming thread.
 */
#include <math.h>
#include <string.h>

#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Times per reading. */
#define MAX_TIMES 64

/* An enabled control binding of the element or of a child. */
struct _GstTfxCurve
{
  GstControlBinding *binding; /* a reference */
  GstObject *object;          /* a reference */
  GObjectClass *klass;        /* the class of the property */
  gsize delay;                /* latency of the object's output in frames */
  gboolean is_number;         /* a double, read without GValues */
  gdouble numbers[MAX_TIMES]; /* NaN: no value */
  GValue values[MAX_TIMES];
  GValue last; /* the last value set, or unset */
  gboolean has_changed;
};

gboolean
gst_tfx_control_is_wanted (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);

  return GST_OBJECT_CAST (self)->control_bindings ||
         (klass->has_controlled_children &&
             klass->has_controlled_children (self));
}

/* ---- control bindings ---------------------------------------------------- */

static void
gst_tfx_control_clear_value (GValue *value)
{
  if (value->g_type != 0)
    g_value_unset (value);
}

static void
gst_tfx_control_clear_curve (GstTfxCurve *curve)
{
  for (guint i = 0; i < MAX_TIMES; i++)
    gst_tfx_control_clear_value (&curve->values[i]);
  gst_tfx_control_clear_value (&curve->last);
  gst_clear_object (&curve->binding);
  gst_clear_object (&curve->object);
}

/* Allocates memory for n curves. */
static void
gst_tfx_control_grow (GstTfxControl *control, guint n)
{
  const guint old = control->n_room;

  if (n <= old)
    return;
  control->n_room = MAX (n, 2 * old);
  control->curves = g_renew (GstTfxCurve, control->curves, control->n_room);
  memset (control->curves + old, 0,
      (control->n_room - old) * sizeof *control->curves);
}

void
gst_tfx_control_reserve (GstTfxElement *self)
{
  gst_tfx_control_grow (&gst_tfx_element_get_private (self)->control, 4);
}

/* Adds the enabled bindings of an object, under its lock; a binding that was at
 * the same index keeps its values.  Returns TRUE if there is a new one. */
static gboolean
gst_tfx_control_find_curves_of (GstTfxControl *control, GstObject *object)
{
  gboolean is_new = FALSE;

  GST_OBJECT_LOCK (object);
  for (GList *l = object->control_bindings; l; l = l->next) {
    GstControlBinding *binding = l->data;
    GstTfxCurve *curve;

    if (gst_control_binding_is_disabled (binding))
      continue;
    gst_tfx_control_grow (control, control->n + 1);
    curve = &control->curves[control->n++];
    if (curve->binding != binding || curve->object != object) {
      gst_tfx_control_clear_curve (curve);
      curve->binding = gst_object_ref (binding);
      curve->object = gst_object_ref (object);
      curve->klass = g_type_class_peek (binding->pspec->owner_type);
      curve->is_number =
          G_PARAM_SPEC_VALUE_TYPE (binding->pspec) == G_TYPE_DOUBLE;
      curve->has_changed = FALSE;
      is_new = TRUE;
    }
    control->has_steps = control->has_steps || !curve->is_number;
  }
  GST_OBJECT_UNLOCK (object);
  return is_new;
}

/* Finds the curves of the element and its children.  Returns TRUE if there is a
 * new one. */
static gboolean
gst_tfx_control_find_curves (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GPtrArray *children = klass->get_children ? klass->get_children (self) : NULL;
  GstTfxControl *control = &gst_tfx_element_get_private (self)->control;
  gboolean is_new;

  control->n = 0;
  control->has_steps = FALSE;
  is_new = gst_tfx_control_find_curves_of (control, GST_OBJECT_CAST (self));
  for (guint i = 0; children && i < children->len; i++)
    is_new |= gst_tfx_control_find_curves_of (control, children->pdata[i]);
  for (guint i = control->n; i < control->n_room; i++)
    gst_tfx_control_clear_curve (&control->curves[i]);
  if (children)
    g_ptr_array_unref (children);
  if (is_new)
    control->has_delays = FALSE;
  return is_new;
}

/* ---- times --------------------------------------------------------------- */

static guint64
gst_tfx_control_round_up (guint64 frame)
{
  return (frame + TFX_GRID_FRAMES - 1) / TFX_GRID_FRAMES * TFX_GRID_FRAMES;
}

static GstClockTime
gst_tfx_control_duration (const GstTfxElementPrivate *priv, guint64 n_frames)
{
  return gst_util_uint64_scale (n_frames, GST_SECOND, priv->spec.rate_hz);
}

/* The number of frames that the filter has processed, plus those in pending
 * memory. */
static guint64
gst_tfx_control_find_start (GstTfxElementPrivate *priv)
{
  GstTfxSharedFilter *filter = priv->filter;
  guint64 start;

  tfx_filter_lock (filter->filter);
  start = tfx_filter_n_frames (filter->filter) +
          __atomic_load_n (&filter->n_pending, __ATOMIC_ACQUIRE);
  tfx_filter_unlock (filter->filter);
  return start;
}

/* Returns TRUE if the timestamp continues the last one.  Otherwise times are
 * counted from this one. */
static gboolean
gst_tfx_control_see_stamp (GstTfxElementPrivate *priv, GstClockTime pts)
{
  GstTfxControl *self = &priv->control;
  GstClockTime expected;

  if (self->is_followed && self->start >= self->anchor_frame) {
    expected = gst_tfx_times_end (&priv->times, self->anchor,
        self->start - self->anchor_frame);
    if (!GST_CLOCK_TIME_IS_VALID (pts) ||
        (GstClockTime)ABS (GST_CLOCK_DIFF (expected, pts)) <=
            gst_tfx_control_duration (priv, TFX_GRID_FRAMES))
      return TRUE;
  }
  self->anchor = pts;
  self->anchor_frame = self->start;
  return FALSE;
}

/* Within a group the times are evenly spaced in whole nanoseconds, so that one
 * call reads a curve for the whole group; the error is at most 32 ns.  Groups
 * start at fixed frames. */
#define GROUP_POINTS 64
#define GROUP_FRAMES (GROUP_POINTS * TFX_GRID_FRAMES)

static GstClockTimeDiff
gst_tfx_control_offset (const GstTfxElementPrivate *priv, guint64 frame)
{
  const guint64 from = priv->control.anchor_frame;

  return frame >= from
             ? (GstClockTimeDiff)gst_tfx_control_duration (priv, frame - from)
             : -(GstClockTimeDiff)gst_tfx_control_duration (priv, from - frame);
}

static GstClockTime
gst_tfx_control_step (const GstTfxElementPrivate *priv)
{
  return gst_util_uint64_scale_round (TFX_GRID_FRAMES, GST_SECOND,
      priv->spec.rate_hz);
}

/* Stream time of the samples at a grid point, which come in @delay frames late.
 * GST_CLOCK_TIME_NONE if the stream has no timestamps. */
static GstClockTime
gst_tfx_control_find_time (const GstTfxElementPrivate *priv, gsize delay,
    guint64 point)
{
  const GstSegment *segment = &priv->segment;
  const guint64 group = point / GROUP_FRAMES * GROUP_FRAMES;
  GstClockTimeDiff time;

  if (!GST_CLOCK_TIME_IS_VALID (priv->control.anchor))
    return GST_CLOCK_TIME_NONE;
  time = gst_tfx_control_offset (priv, group) -
         (GstClockTimeDiff)gst_tfx_control_duration (priv, delay);
  time += (point - group) / TFX_GRID_FRAMES * gst_tfx_control_step (priv);
  time = (GstClockTimeDiff)priv->control.anchor +
         (priv->times.is_backwards ? -time : time);
  time = MAX (time, (GstClockTimeDiff)segment->start);
  if (GST_CLOCK_TIME_IS_VALID (segment->stop))
    time = MIN (time, (GstClockTimeDiff)segment->stop);
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time);
}

/* ---- values -------------------------------------------------------------- */

static gboolean
gst_tfx_control_has_value (const GstTfxCurve *curve, guint index)
{
  return curve->is_number ? !isnan (curve->numbers[index])
                          : curve->values[index].g_type != 0;
}

/* Reads n values at evenly spaced times. */
static void
gst_tfx_control_ask (GstTfxCurve *curve, GstClockTime time, GstClockTime step,
    guint first, guint n)
{
  if (curve->is_number)
    gst_control_binding_get_value_array (curve->binding, time, step, n,
        curve->numbers + first);
  else
    gst_control_binding_get_g_value_array (curve->binding, time, step, n,
        curve->values + first);
}

/* Reads n values of a curve, with one call for each run of evenly spaced
 * times. */
static void
gst_tfx_control_read_curve (GstTfxCurve *curve, const GstClockTime *times,
    guint n)
{
  for (guint i = 0; i < n; i++) {
    curve->numbers[i] = NAN;
    gst_tfx_control_clear_value (&curve->values[i]);
  }
  for (guint i = 0, length; i < n; i += length) {
    const GstClockTimeDiff step =
        i + 1 < n ? GST_CLOCK_DIFF (times[i], times[i + 1]) : 0;

    length = 1;
    while (step > 0 && i + length < n &&
           GST_CLOCK_DIFF (times[i + length - 1], times[i + length]) == step)
      length++;
    gst_tfx_control_ask (curve, times[i], MAX (step, 0), i, length);
    /* A trigger source returns only the first of several values. */
    for (guint k = i; length > 1 && k < i + length; k++) {
      if (!gst_tfx_control_has_value (curve, k))
        gst_tfx_control_ask (curve, times[k], 0, k, 1);
    }
  }
}

/* Look-ahead downstream delays the output of a stage, so its curve is read that
 * much earlier. */
static void
gst_tfx_control_find_delays (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;

  for (guint i = 0; i < control->n; i++) {
    GstTfxCurve *curve = &control->curves[i];

    curve->delay = priv->delay;
    if (priv->delay > 0 && curve->object != GST_OBJECT_CAST (self) &&
        klass->get_stage_id) {
      const guint64 id = klass->get_stage_id (self, curve->object);

      tfx_filter_lock (priv->filter->filter);
      curve->delay = tfx_filter_latency_at (priv->filter->filter, id);
      tfx_filter_unlock (priv->filter->filter);
    }
  }
  control->has_delays = TRUE;
}

/* Finds the times of n points of a group.  Clamping to the segment only makes
 * steps shorter, so if the last time is n - 1 steps after the first, all steps
 * are equal.  Returns FALSE if the stream has no timestamps. */
static gboolean
gst_tfx_control_find_times (const GstTfxElementPrivate *priv, gsize delay,
    guint64 point, GstClockTime *times, guint n)
{
  const GstClockTime step = gst_tfx_control_step (priv);
  const GstClockTime first = gst_tfx_control_find_time (priv, delay, point);
  const GstClockTime last = gst_tfx_control_find_time (priv, delay,
      point + (guint64)(n - 1) * TFX_GRID_FRAMES);
  const gboolean is_even =
      priv->segment.applied_rate == 1.0 && last - first == (n - 1) * step;

  if (!GST_CLOCK_TIME_IS_VALID (first) || !GST_CLOCK_TIME_IS_VALID (last))
    return FALSE;
  for (guint i = 0; i < n; i++)
    times[i] = is_even ? first + i * step
                       : gst_tfx_control_find_time (priv, delay,
                             point + (guint64)i * TFX_GRID_FRAMES);
  return TRUE;
}

/* Reads all curves for n points.  Returns FALSE if the stream has no
 * timestamps. */
static gboolean
gst_tfx_control_read (GstTfxElement *self, guint64 point, guint n)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;
  GstClockTime times[MAX_TIMES];
  gsize delay = priv->delay;

  if (!gst_tfx_control_find_times (priv, delay, point, times, n))
    return FALSE;
  if (!control->has_delays)
    gst_tfx_control_find_delays (self);
  for (guint i = 0; i < control->n; i++) {
    GstTfxCurve *curve = &control->curves[i];

    if (curve->delay != delay &&
        !gst_tfx_control_find_times (priv, curve->delay, point, times, n))
      return FALSE;
    delay = curve->delay;
    gst_tfx_control_read_curve (curve, times, n);
  }
  return TRUE;
}

/* Calls the setter of the property, as g_object_set_property(), but without a
 * notification, unless the value is the last one that was set. */
static void
gst_tfx_control_set (GstTfxCurve *curve, guint index)
{
  GParamSpec *spec = curve->binding->pspec;
  const gboolean had_one = curve->last.g_type != 0;

  if (!had_one)
    g_value_init (&curve->last, G_PARAM_SPEC_VALUE_TYPE (spec));
  if (curve->is_number) {
    if (had_one && g_value_get_double (&curve->last) == curve->numbers[index])
      return;
    g_value_set_double (&curve->last, curve->numbers[index]);
    G_PARAM_SPEC_GET_CLASS (spec)->value_validate (spec, &curve->last);
  } else {
    if (had_one && gst_value_compare (&curve->last, &curve->values[index]) ==
                       GST_VALUE_EQUAL)
      return;
    g_value_copy (&curve->values[index], &curve->last);
    g_param_value_validate (spec, &curve->last);
  }
  curve->klass->set_property (G_OBJECT (curve->object), spec->param_id,
      &curve->last, spec);
  curve->has_changed = TRUE;
}

/* Sets all properties to the values at a time that was read; a control source
 * may have no value there. */
static void
gst_tfx_control_apply (GstTfxElement *self, guint index)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;

  g_atomic_pointer_set (&priv->control_thread, g_thread_self ());
  for (guint i = 0; i < control->n; i++) {
    if (gst_tfx_control_has_value (&control->curves[i], index))
      gst_tfx_control_set (&control->curves[i], index);
  }
  g_atomic_pointer_set (&priv->control_thread, NULL);
}

/* Emits notify for the properties that were set since the last call. */
static void
gst_tfx_control_notify (GstTfxControl *control)
{
  for (guint i = 0; i < control->n; i++) {
    GstTfxCurve *curve = &control->curves[i];

    if (curve->has_changed)
      g_object_notify_by_pspec (G_OBJECT (curve->object),
          curve->binding->pspec);
    curve->has_changed = FALSE;
  }
}

/* ---- before a buffer ----------------------------------------------------- */

/* No property is controlled. */
static void
gst_tfx_control_stop (GstTfxElement *self)
{
  GstTfxControl *control = &gst_tfx_element_get_private (self)->control;

  if (control->is_followed)
    GST_DEBUG_OBJECT (self, "no property is controlled any more");
  control->is_followed = FALSE;
  for (guint i = 0; i < control->n_room; i++)
    gst_tfx_control_clear_curve (&control->curves[i]);
  control->n = 0;
}

void
gst_tfx_control_clear (GstTfxElement *self)
{
  GstTfxControl *control = &gst_tfx_element_get_private (self)->control;

  gst_tfx_control_stop (self);
  g_clear_pointer (&control->curves, g_free);
  control->n_room = 0;
}

void
gst_tfx_control_begin (GstTfxElement *self, GstClockTime pts)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;
  gboolean is_new;
  guint64 first;

  if (priv->segment.format != GST_FORMAT_TIME) {
    gst_tfx_control_stop (self);
    return;
  }
  is_new = gst_tfx_control_find_curves (self);
  control->start = gst_tfx_control_find_start (priv);
  first = gst_tfx_control_round_up (control->start);
  if (gst_tfx_control_see_stamp (priv, pts) && control->point == first &&
      !is_new)
    return;
  /* The first values of a curve are set like values that the application
   * sets. */
  control->point = first;
  control->is_due = FALSE;
  control->is_followed = gst_tfx_control_read (self, first, 1);
  for (guint i = 0; i < control->n; i++)
    gst_tfx_control_clear_value (&control->curves[i].last);
  GST_DEBUG_OBJECT (self,
      "%u controlled properties from frame %" G_GUINT64_FORMAT " on%s",
      control->n, first,
      control->is_followed ? "" : ", but the stream has no timestamps");
  if (control->is_followed)
    gst_tfx_control_apply (self, 0);
}

gboolean
gst_tfx_control_enter (GstTfxElement *self, GstClockTime pts)
{
  const GstTfxControl *control = &gst_tfx_element_get_private (self)->control;
  const gboolean is_wanted = gst_tfx_control_is_wanted (self);

  if (is_wanted)
    gst_tfx_control_begin (self, pts);
  else if (G_UNLIKELY (control->is_followed || control->n > 0))
    gst_tfx_control_stop (self);
  return is_wanted;
}

/* Sets the properties to the values of the next n points, one point after the
 * other, and queues a stage for each.  Returns FALSE if a point needs another
 * chain; it is the last one read. */
static gboolean
gst_tfx_control_follow (GstTfxElement *self, guint n)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;

  if (!gst_tfx_control_read (self, control->point + TFX_GRID_FRAMES, n)) {
    control->is_followed = FALSE;
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    control->point += TFX_GRID_FRAMES;
    gst_tfx_control_apply (self, i);
    if (g_atomic_int_get (&priv->dirty) &&
        !gst_tfx_settings_follow (self, control->point)) {
      GST_LOG_OBJECT (self,
          "the values at frame %" G_GUINT64_FORMAT " need another chain",
          control->point);
      control->is_due = TRUE;
      return FALSE;
    }
  }
  return TRUE;
}

void
gst_tfx_control_cover (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;
  guint64 end = gst_tfx_control_round_up (
      control->start +
      MIN (n_frames, GST_TFX_CONTROL_POINTS * TFX_GRID_FRAMES));

  if (control->is_due && control->start < control->point) {
    control->n_ready = MIN (n_frames, control->point - control->start);
    return;
  }
  control->is_due = FALSE;
  if (!control->is_followed || g_atomic_int_get (&priv->set_by_hand))
    control->is_put_off = FALSE;
  if (g_atomic_int_get (&priv->dirty) && !control->is_put_off)
    gst_tfx_settings_update (self);
  /* One group at a time. */
  while (control->is_followed && control->point < end) {
    const guint64 left = (end - control->point) / TFX_GRID_FRAMES;
    const guint64 next = control->point / TFX_GRID_FRAMES + 1;

    if (!gst_tfx_control_follow (self,
            MIN (left, GROUP_POINTS - next % GROUP_POINTS)))
      break;
  }
  gst_tfx_control_notify (control);
  control->n_ready = control->is_followed
                         ? MIN (n_frames, control->point - control->start)
                         : n_frames;
}

void
gst_tfx_control_cover_rest (GstTfxElement *self, gsize n_frames)
{
  GstTfxControl *control = &gst_tfx_element_get_private (self)->control;

  control->is_inside = TRUE;
  gst_tfx_control_cover (self, n_frames);
  control->is_inside = FALSE;
}

gboolean
gst_tfx_control_is_partial (GstTfxElement *self, gsize n_frames)
{
  const GstTfxControl *control = &gst_tfx_element_get_private (self)->control;

  return control->is_followed && control->n_ready < n_frames;
}

/* ---- long buffers -------------------------------------------------------- */

gint
gst_tfx_control_run (GstTfxElement *self, const GstTfxRow *row,
    const TfxBlock *in, const TfxBlock *out)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxControl *control = &priv->control;
  gsize n_done = 0;
  gint err = 0;

  for (;;) {
    TfxBlock from = gst_tfx_row_rest (in, n_done);
    TfxBlock to = gst_tfx_row_rest (out, n_done);

    from.n_frames = to.n_frames = MIN (control->n_ready, from.n_frames);
    err = gst_tfx_row_run (row, &from, &to, TRUE);
    n_done += from.n_frames;
    if (err < 0 || n_done == in->n_frames)
      return err;
    control->start += from.n_frames;
    priv->is_running = TRUE;
    gst_tfx_row_unlock (row);
    gst_tfx_control_cover_rest (self, in->n_frames - n_done);
    gst_tfx_row_lock (row);
  }
}
