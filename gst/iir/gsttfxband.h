/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxband.h: the properties for the frequencies that a filter passes.
 */
#ifndef GST_TFX_BAND_H
#define GST_TFX_BAND_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

/* The values as they were set.  Frequencies in Hz. */
typedef struct
{
  gint mode;            /* TfxMode */
  gdouble cutoff;       /* low-pass and high-pass */
  gdouble lower, upper; /* band-pass and band-reject */
} GstTfxBand;

/* Installs mode, cutoff, lower-frequency and upper-frequency with ids from
 * first_id up. */
void gst_tfx_band_install_properties (GObjectClass *klass, guint first_id);

/* Sets the defaults. */
void gst_tfx_band_init (GstTfxBand *self);

/* Copies a property's value to or from a field of this type: gdouble for a
 * double; gint for an int, a boolean or an enum.  With the owner's object lock
 * held. */
void gst_tfx_band_set_field (gpointer field, const GValue *value);
void gst_tfx_band_get_field (gconstpointer field, GValue *value);

/* The name of a mode in a pipeline, static. */
const gchar *gst_tfx_band_get_nick (const GstTfxBand *self);

/* The frequencies of a design, in Hz. */
typedef struct
{
  gdouble lower_hz; /* the cutoff, or the lower edge of a band */
  gdouble upper_hz; /* the upper edge; band modes only */
  gdouble margin;   /* see gst_tfx_band_fit(), as a fraction of the rate */
} GstTfxEdges;

/* The requested frequencies. */
GstTfxEdges gst_tfx_band_get_edges (const GstTfxBand *self);

/* Call if no filter has these edges: replaces them by the nearest ones that
 * keep a margin from 0, from half the rate and from each other.  The margin
 * grows with each call.  FALSE if there is no larger one. */
gboolean
gst_tfx_band_fit (const GstTfxBand *self, gdouble rate, GstTfxEdges *edges);

/* Warns the user of each frequency in use that differs from the requested
 * one. */
void gst_tfx_band_report (const GstTfxBand *self, const GstTfxEdges *used,
    GstTfxElement *element, gdouble rate);

G_END_DECLS

#endif /* GST_TFX_BAND_H */
