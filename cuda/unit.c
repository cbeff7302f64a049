/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.c: what several kinds of unit have in common; see unit.h. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/unit-args.h"

int
tfx_cuda_unit_load (TfxQueue *queue, const char *name, TfxKernel *kernel)
{
  const TfxKernelId id = { .kind = TFX_KERNEL_UNIT, .unit = name };

  return kernel->function ? 0 : tfx_module_kernel (queue->cuda, &id, kernel);
}

bool
tfx_cuda_unit_is_by_channel (const TfxKernelBlock *block)
{
  return llabs (block->channel_stride) <= llabs (block->frame_stride);
}

int
tfx_cuda_unit_run_points (TfxQueue *queue, const TfxKernel *kernel,
    size_t n_samples, void *args)
{
  const size_t grid = (n_samples + TFX_UNIT_THREADS - 1) / TFX_UNIT_THREADS;

  /* What a grid may have; a block of samples has less. */
  if (grid > 0x7fffffff)
    return -EINVAL;
  return tfx_context_check (queue->cuda,
      queue->cuda->driver->launch_kernel (kernel->function, (unsigned)grid, 1,
          1, TFX_UNIT_THREADS, 1, 1, 0, queue->stream, &args, NULL),
      "starting a kernel");
}

/* ---- units without a past -------------------------------------------------------- */

void
tfx_cuda_unit_no_change (void *unit)
{
}

int
tfx_cuda_unit_no_get_state (void *unit, double *state)
{
  return 0;
}

int
tfx_cuda_unit_no_set_state (void *unit, const double *state)
{
  return 0;
}

double
tfx_cuda_unit_no_peak (void *unit)
{
  return 0.0;
}
