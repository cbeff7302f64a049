/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcost.h: what a buffer costs on the CPU and on a CUDA device.
 */
#ifndef GST_TFX_COST_H
#define GST_TFX_COST_H

#include <glib.h>

#include "tfx-cuda.h"

G_BEGIN_DECLS

/* What has to be done, and where the samples are. */
typedef struct
{
  const TfxPlan *plan; /* under the locks of its filters */
  TfxCudaCard card;
  gsize n_frames; /* of a buffer */
  gboolean in_cuda, out_cuda;
} GstTfxBufferCost;

/* ns for a buffer, INFINITY where that is not known. */
gdouble gst_tfx_cost_cpu (const GstTfxBufferCost *cost);
gdouble gst_tfx_cost_cuda (const GstTfxBufferCost *cost);

/* Whether device=auto is to use CUDA, if it does now (@is_used) or if it does
 * not. */
gboolean
gst_tfx_cost_is_worthwhile (const GstTfxBufferCost *cost, gboolean is_used);

G_END_DECLS

#endif /* GST_TFX_COST_H */
