/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcost.c: what a buffer costs on the CPU and on a CUDA device.
 *
 * The figures of the device are not measured yet.  They are meant to be on the
 * high side of what a device on PCI Express of the third generation and its
 * driver take, so that "auto" leaves to the CPU what it does well; see
 * docs/cuda.md, where they stand too.
 */
#include "gsttfxcost.h"

#define LAUNCH 10000.0    /* ns to start a kernel */
#define WAIT 20000.0      /* ns to wait for the end of a run */
#define TRANSFER 15000.0  /* ns to start a transfer, */
#define TRANSFER_BYTE 0.2 /* and for a byte: 5 GB/s, staging included */
#define MEMORY_BYTE 0.004 /* ns to read or write device memory: 250 GB/s */
#define SECTION 0.02      /* ns for a section and a sample */
#define TAP 0.002         /* ns for a tap and a sample */

/* What must be won before a running stream goes from one to the other. */
#define ENTER_RATIO 1.5
#define LEAVE_RATIO 0.75

static gdouble
gst_tfx_cost_bytes (const GstTfxJob *job)
{
  return (gdouble)job->n_frames * job->n_channels *
         (job->sample == TFX_SAMPLE_F32 ? sizeof (gfloat) : sizeof (gdouble));
}

/* What moves the samples, if the CPU filters and one end is on the device, or
 * the other way round. */
static gdouble
gst_tfx_cost_move (const GstTfxJob *job, guint n_transfers)
{
  return n_transfers * (TRANSFER + TRANSFER_BYTE * gst_tfx_cost_bytes (job));
}

gdouble
gst_tfx_cost_cpu (const GstTfxJob *job)
{
  return job->n_frames * job->work.cpu_ns +
         gst_tfx_cost_move (job, !!job->in_cuda + !!job->out_cuda);
}

gdouble
gst_tfx_cost_cuda (const GstTfxJob *job)
{
  const TfxWork *work = &job->work;
  gdouble n_samples = (gdouble)job->n_frames * job->n_channels;

  return WAIT + work->n_steps * LAUNCH +
         gst_tfx_cost_move (job, !job->in_cuda + !job->out_cuda) +
         work->n_steps * 2.0 * MEMORY_BYTE * gst_tfx_cost_bytes (job) +
         n_samples * (work->n_sections * SECTION + work->n_taps * TAP);
}

gboolean
gst_tfx_cost_is_worthwhile (const GstTfxJob *job, gboolean is_used)
{
  return gst_tfx_cost_cpu (job) >
         gst_tfx_cost_cuda (job) * (is_used ? LEAVE_RATIO : ENTER_RATIO);
}
