/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcost.c: what a buffer costs on the CPU and on a CUDA device.
 */
#include "gsttfxcost.h"

#include <math.h>

/* What must be won before a running stream goes from one to the other. */
#define ENTER_RATIO 1.5
#define LEAVE_RATIO 0.75

/* If the CPU filters what is on the device is moved, and nothing else. */
static gdouble
gst_tfx_cost_moves (const GstTfxJob *job)
{
  const TfxCudaJob moves = { .n_frames = job->n_frames,
    .from_device = !job->in_cuda,
    .to_device = !job->out_cuda,
    .only_moves = true };
  gdouble ns = 0.0;

  if (job->in_cuda || job->out_cuda)
    tfx_cuda_estimate (&job->card, job->plan, &moves, &ns);
  return ns;
}

gdouble
gst_tfx_cost_cpu (const GstTfxJob *job)
{
  return job->n_frames * tfx_plan_cost (job->plan, job->n_frames) +
         gst_tfx_cost_moves (job);
}

gdouble
gst_tfx_cost_cuda (const GstTfxJob *job)
{
  const TfxCudaJob run = { .n_frames = job->n_frames,
    .from_device = job->in_cuda,
    .to_device = job->out_cuda };
  gdouble ns;

  return tfx_cuda_estimate (&job->card, job->plan, &run, &ns) ? ns : INFINITY;
}

gboolean
gst_tfx_cost_is_worthwhile (const GstTfxJob *job, gboolean is_used)
{
  return gst_tfx_cost_cpu (job) >
         gst_tfx_cost_cuda (job) * (is_used ? LEAVE_RATIO : ENTER_RATIO);
}
