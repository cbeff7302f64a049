/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcurves.h: the control bindings of an element and its children, and their values
 * at several times.
 *
 * gst_object_sync_values() allocates memory and emits notify for each value; it is made
 * for one call per buffer.  These functions read many values of a binding at once, and
 * emit notify for the last one only.
 *
 * Only the streaming thread calls these functions.
 */
#ifndef GST_TFX_CURVES_H
#define GST_TFX_CURVES_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TFX_CURVES_MAX 64 /* times per reading */

typedef struct _GstTfxCurve GstTfxCurve;

/* Initialize with zeros; release with gst_tfx_curves_clear(). */
typedef struct
{
  GstTfxCurve *items;
  guint n, n_room;
  gboolean has_steps; /* one is of a property that is not a double */
} GstTfxCurves;

/* Finds the enabled bindings of @object, and of the GstObjects @children (or %NULL), under
 * the object lock of each.  TRUE if one is new. */
gboolean gst_tfx_curves_find (GstTfxCurves *self, GstObject *object,
    GPtrArray *children);

/* Allocates memory for the first curves. */
void gst_tfx_curves_reserve (GstTfxCurves *self);

/* The object with the property of a curve, and the latency of its output in frames. */
GstObject *gst_tfx_curves_get_object (const GstTfxCurves *self, guint curve);
gsize gst_tfx_curves_get_delay (const GstTfxCurves *self, guint curve);
void gst_tfx_curves_set_delay (GstTfxCurves *self, guint curve, gsize n_frames);

/* Reads the values of a curve at @n stream times. */
void gst_tfx_curves_read (GstTfxCurves *self, guint curve,
    const GstClockTime *times, guint n);

/* Calls the setters of the properties with the values at times[index].  Skips values that
 * have not changed. */
void gst_tfx_curves_apply (GstTfxCurves *self, guint index);

/* The next gst_tfx_curves_apply() skips no value. */
void gst_tfx_curves_forget (GstTfxCurves *self);

/* Emits notify for the properties that were set since the last call. */
void gst_tfx_curves_notify (GstTfxCurves *self);

/* Releases the bindings; the second form also frees the memory. */
void gst_tfx_curves_drop (GstTfxCurves *self);
void gst_tfx_curves_clear (GstTfxCurves *self);

G_END_DECLS

#endif /* GST_TFX_CURVES_H */
