/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcurves.h: the frequency responses of a chain, sampled. */
#ifndef GST_TFX_CURVES_H
#define GST_TFX_CURVES_H

#include <glib.h>

#include "lang/expr.h"
#include "tfx.h"

G_BEGIN_DECLS

/* Shown in place of a gain of 0. */
#define GST_TFX_CURVES_FLOOR_DB -400.0

/* One response, which one pair of channels or several have. */
typedef struct GstTfxCurve
{
  guint from, to; /* the first pair */
  gchar *name;    /* "channels 0-3", or "0 to 1" from an input to an output */
  gdouble *gain_db, *phase_deg, *delay_ms; /* [n] */
} GstTfxCurve;

typedef struct GstTfxCurves
{
  gdouble *freq_hz; /* [n], rising */
  gsize n;
  GArray *curves; /* of GstTfxCurve */
  guint n_more;   /* that differ too, and were left out */
} GstTfxCurves;

typedef struct GstTfxCurvesSpec
{
  const TfxChain *chain;
  gdouble rate_hz, from_hz, to_hz;
  guint n_in, n_out;   /* channels, at most TFX_MIX_MAX_CHANNELS */
  gint from, to;       /* one pair of channels; -1: all that differ */
  guint n_points;      /* of the grid, 2 or more */
  gboolean is_grid;    /* the grid alone */
  const TfxExpr *expr; /* the frequencies that it names are points too */
} GstTfxCurvesSpec;

/* Samples on a logarithmic grid.  Unless is_grid, further points are the frequencies of
 * expr, the poles and zeros of the chain, the minima, and those that a straight line between
 * two points would miss. */
GstTfxCurves *gst_tfx_curves_new (const GstTfxCurvesSpec *spec);
void gst_tfx_curves_free (GstTfxCurves *curves);

G_END_DECLS

#endif /* GST_TFX_CURVES_H */
