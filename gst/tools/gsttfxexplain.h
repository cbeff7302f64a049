/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxexplain.h: explains a chain, stage by stage. */
#ifndef GST_TFX_EXPLAIN_H
#define GST_TFX_EXPLAIN_H

#include <glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* A number that the rate does not allow. */
typedef struct GstTfxExplainClamp
{
  gsize stage;
  const gchar *param;
  gint index; /* in the parameter's list; -1: the parameter is the number */
  gdouble used;
} GstTfxExplainClamp;

typedef struct GstTfxExplainSpec
{
  const TfxExpr *expr;
  const TfxChain
      *chain; /* of the expression, at this rate and for these channels */
  gdouble rate_hz;
  guint n_channels;
  guint64 positions; /* of the channels; 0: none */
  GArray *clamps;    /* of GstTfxExplainClamp */
} GstTfxExplainSpec;

/* Prints the chain in its canonical form, then rate, channels, the values of each
 * stage with their units, its gain and its latency, and those of the whole chain. */
void gst_tfx_explain_print (const GstTfxExplainSpec *spec);

/* The same as one line of JSON, with the notes. */
void gst_tfx_explain_print_json (const GstTfxExplainSpec *spec,
    const GPtrArray *notes);

G_END_DECLS

#endif /* GST_TFX_EXPLAIN_H */
