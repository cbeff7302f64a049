/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmeasure.h: the cost of a chain for blocks of one shape. */
#ifndef GST_TFX_MEASURE_H
#define GST_TFX_MEASURE_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct GstTfxShape
{
  const gchar *format; /* "F32LE" or "F64LE" */
  gint rate_hz, n_channels, n_frames;
} GstTfxShape;

/* What came of it. */
typedef struct GstTfxFigures
{
  gdouble ns_per_sample;  /* of one channel; the median */
  gchar *device, *kernel; /* where it ran */
  gchar *warning;         /* the first one of the element, or NULL */
  gchar *refusal;         /* why the chain does not run so, or NULL */
} GstTfxFigures;

/* Runs blocks of noise through a chain for some seconds, at least thrice.  FALSE with
 * the refusal, or after a message; clear the figures in either case. */
gboolean gst_tfx_measure_run (const gchar *chain, const gchar *device,
    const GstTfxShape *shape, gdouble seconds, GstTfxFigures *figures);

void gst_tfx_figures_clear (GstTfxFigures *figures);

G_END_DECLS

#endif /* GST_TFX_MEASURE_H */
