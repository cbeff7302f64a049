/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.c: what several kinds of unit have in common; see unit.h. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>

#include "kernels/unit-args.h"

int
tfx_cuda_unit_load (TfxCudaQueue *queue, const char *name, TfxKernel *kernel)
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
tfx_cuda_unit_launch (const TfxCudaQueue *queue, const TfxKernel *kernel,
    unsigned n_blocks, unsigned shared_size, void *args)
{
  return tfx_context_check (queue->cuda,
      queue->cuda->driver->launch_kernel (kernel->function, n_blocks, 1, 1,
          TFX_UNIT_THREADS, 1, 1, shared_size, queue->stream, &args, NULL),
      "starting a kernel");
}

int
tfx_cuda_unit_run_points (TfxCudaQueue *queue, const TfxKernel *kernel,
    size_t n_samples, void *args)
{
  const size_t grid = (n_samples + TFX_UNIT_THREADS - 1) / TFX_UNIT_THREADS;

  /* What a grid may have; a block of samples has less. */
  if (grid > 0x7fffffff)
    return -EINVAL;
  return tfx_cuda_unit_launch (queue, kernel, (unsigned)grid, 0, args);
}
