/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcost.h: the cost of a buffer on the CPU and on a CUDA device.
 */
#ifndef GST_TFX_COST_H
#define GST_TFX_COST_H

#include <glib.h>

#include "tfx-cuda.h"

G_BEGIN_DECLS

/* The work, and the memory of the samples. */
typedef struct
{
  const TfxPlan *plan; /* its filters are locked */
  TfxCudaCard card;
  gsize n_frames; /* of a buffer */
  gboolean in_cuda, out_cuda;
} GstTfxBufferCost;

/* ns per buffer, INFINITY if unknown. */
gdouble gst_tfx_cost_cpu (const GstTfxBufferCost *cost);
gdouble gst_tfx_cost_cuda (const GstTfxBufferCost *cost);

/* Whether device=auto should use CUDA; @is_used: it does now. */
gboolean
gst_tfx_cost_is_worthwhile (const GstTfxBufferCost *cost, gboolean is_used);

G_END_DECLS

#endif /* GST_TFX_COST_H */
