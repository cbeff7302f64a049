/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcurves.h: the control bindings of an element and its children, and what
 * they say for a row of times.
 *
 * GStreamer's own way, gst_object_sync_values(), takes from the heap and tells of
 * the property each time; that is meant for once in a buffer.  Here each binding
 * is asked for all values at once, and who listens to a property is told of the
 * last one.
 */
#ifndef GST_TFX_CURVES_H
#define GST_TFX_CURVES_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TFX_CURVES_MAX 64 /* times at once */

typedef struct _GstTfxCurve GstTfxCurve;

/* Starts with all zero, ends with gst_tfx_curves_clear(). */
typedef struct
{
  GstTfxCurve *items;
  guint n, n_room;
  gboolean has_steps; /* of a property that is no number that glides */
} GstTfxCurves;

/* Looks for the bindings that there are now: of @object and (unless it is %NULL)
 * of @children, which are GstObjects.  TRUE if one has come, or was enabled. */
gboolean gst_tfx_curves_find (GstTfxCurves *self, GstObject *object,
    GPtrArray *children);

/* Room for some of them. */
void gst_tfx_curves_reserve (GstTfxCurves *self);

/* The object with the property of one of them, and by how many frames what that makes
 * heard is late. */
GstObject *gst_tfx_curves_get_object (const GstTfxCurves *self, guint curve);
gsize gst_tfx_curves_get_delay (const GstTfxCurves *self, guint curve);
void gst_tfx_curves_set_delay (GstTfxCurves *self, guint curve, gsize n_frames);

/* Asks one of them for the values at @n stream times. */
void gst_tfx_curves_read (GstTfxCurves *self, guint curve,
    const GstClockTime *times, guint n);

/* Sets the properties to the values of one of these times, as far as they are not
 * those of the last one that was set. */
void gst_tfx_curves_apply (GstTfxCurves *self, guint index);

/* The next values are set whatever the last ones were. */
void gst_tfx_curves_forget (GstTfxCurves *self);

/* Tells who listens of those that have changed since it was last called. */
void gst_tfx_curves_notify (GstTfxCurves *self);

/* There are none any more; or no room for them either. */
void gst_tfx_curves_drop (GstTfxCurves *self);
void gst_tfx_curves_clear (GstTfxCurves *self);

G_END_DECLS

#endif /* GST_TFX_CURVES_H */
