/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcost.h: what a buffer costs on the CPU and on a CUDA device.
 */
#ifndef GST_TFX_COST_H
#define GST_TFX_COST_H

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

/* What has to be done, and where the samples are. */
typedef struct
{
  gsize n_frames; /* of a buffer */
  guint n_channels;
  TfxSample sample;
  gboolean in_cuda, out_cuda;
  TfxWork work;
} GstTfxJob;

/* ns for a buffer. */
gdouble gst_tfx_cost_cpu (const GstTfxJob *job);
gdouble gst_tfx_cost_cuda (const GstTfxJob *job);

/* Whether device=auto is to use CUDA, if it does now (@is_used) or if it does
 * not. */
gboolean gst_tfx_cost_is_worthwhile (const GstTfxJob *job, gboolean is_used);

G_END_DECLS

#endif /* GST_TFX_COST_H */
