/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcost.c: the cost of a buffer on the CPU and on a CUDA device.
 */
#include "gsttfxcost.h"

#include <math.h>

/* Hysteresis: the gain that a running stream needs to change the backend. */
#define ENTER_RATIO 1.5
#define LEAVE_RATIO 0.75

/* If the samples are on the device, with their transfers. */
gdouble
gst_tfx_cost_cpu (const GstTfxBufferCost *cost)
{
  const TfxCudaJob moves = { .n_frames = cost->n_frames,
    .from_device = !cost->in_cuda,
    .to_device = !cost->out_cuda,
    .only_moves = true };
  gdouble ns = 0.0;

  if (cost->in_cuda || cost->out_cuda)
    tfx_cuda_estimate (&cost->card, cost->plan, &moves, &ns);
  return ns + cost->n_frames * tfx_plan_cost (cost->plan, cost->n_frames);
}

gdouble
gst_tfx_cost_cuda (const GstTfxBufferCost *cost)
{
  const TfxCudaJob run = { .n_frames = cost->n_frames,
    .from_device = cost->in_cuda,
    .to_device = cost->out_cuda };
  gdouble ns;

  return tfx_cuda_estimate (&cost->card, cost->plan, &run, &ns) ? ns : INFINITY;
}

gboolean
gst_tfx_cost_is_worthwhile (const GstTfxBufferCost *cost, gboolean is_used)
{
  return gst_tfx_cost_cpu (cost) >
         gst_tfx_cost_cuda (cost) * (is_used ? LEAVE_RATIO : ENTER_RATIO);
}
