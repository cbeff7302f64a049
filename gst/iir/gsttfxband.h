/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxband.h: the properties for the frequencies that a filter passes.
 */
#ifndef GST_TFX_BAND_H
#define GST_TFX_BAND_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_MODE (gst_tfx_mode_get_type ())
GType gst_tfx_mode_get_type (void);
/* Its name in a pipeline, static. */
const gchar *gst_tfx_mode_get_nick (TfxMode mode);

/* The values as they were set.  Frequencies in Hz. */
typedef struct
{
  TfxMode mode;
  gdouble cutoff;       /* low-pass and high-pass */
  gdouble lower, upper; /* band-pass and band-reject */
} GstTfxBand;

/* The properties; their ids are these plus first_id. */
enum
{
  GST_TFX_BAND_MODE,
  GST_TFX_BAND_CUTOFF,
  GST_TFX_BAND_LOWER_FREQUENCY,
  GST_TFX_BAND_UPPER_FREQUENCY,
  GST_TFX_BAND_N_PROPERTIES
};

/* Installs the properties with ids from first_id up. */
void gst_tfx_band_install_properties (GObjectClass *klass, guint first_id);

/* Sets the defaults. */
void gst_tfx_band_init (GstTfxBand *self);

/* Sets or gets one property, GST_TFX_BAND_...; FALSE if the number is unknown.
 * With the owner's object lock held. */
gboolean
gst_tfx_band_set (GstTfxBand *self, guint property, const GValue *value);
gboolean
gst_tfx_band_get (const GstTfxBand *self, guint property, GValue *value);

/* True for band-pass and band-reject. */
gboolean gst_tfx_band_has_edges (const GstTfxBand *self);

/* Makes a filter for a band; FALSE if there is none. */
typedef gboolean (*GstTfxBandFunc) (const GstTfxBand *band, gpointer data);

/* Calls `make` with the requested band and, while it fails, with the nearest band whose
 * edges keep margin_hz from 0, from half the rate and from each other, with a growing
 * margin.  Returns TRUE after success, with the band and the margin that worked. */
gboolean gst_tfx_band_meet (const GstTfxBand *asked, gdouble rate,
    GstTfxBandFunc make, gpointer data, GstTfxBand *used, gdouble *margin_hz);

/* Warns the user if a frequency of `used`, from gst_tfx_band_meet() with the same rate
 * and margin, differs from the requested one. */
void gst_tfx_band_report (const GstTfxBand *asked, const GstTfxBand *used,
    GstTfxElement *filter, gdouble rate, gdouble margin_hz);

G_END_DECLS

#endif /* GST_TFX_BAND_H */
