/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.c: what several kinds of unit have in common; see unit.h. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

int
tfx_cuda_unit_load (TfxCudaStream *stream, const char *name, TfxKernel *kernel)
{
  const TfxKernelId id = { .kind = TFX_KERNEL_UNIT, .unit = name };

  return kernel->function ? 0 : tfx_module_kernel (stream->cuda, &id, kernel);
}

bool
tfx_cuda_unit_is_by_channel (const TfxKernelBlock *block)
{
  return llabs (block->channel_stride) <= llabs (block->frame_stride);
}

TfxKernelRun
tfx_cuda_unit_args (const TfxUnitRun *run, unsigned n_channels)
{
  return (TfxKernelRun){ .in = run->in,
    .out = run->out,
    .sum = run->sum,
    .n_frames = run->n_frames,
    .n_channels = n_channels,
    .by_channel = tfx_cuda_unit_is_by_channel (&run->in),
    .cleared = run->cleared };
}

int
tfx_cuda_unit_run_points (TfxCudaStream *stream, const TfxKernel *kernel,
    size_t n_samples, void *args)
{
  return tfx_module_launch (stream, kernel,
      (n_samples + TFX_UNIT_THREADS - 1) / TFX_UNIT_THREADS, TFX_UNIT_THREADS,
      0, args);
}

TfxDecay
tfx_cuda_unit_decay (double a)
{
  TfxDecay decay = { .once = a };
  double power = pow (a, TFX_UNIT_RUN);

  for (int i = 0; i < TFX_N_DECAYS; i++) {
    decay.powers[i] = power;
    power *= power;
  }
  return decay;
}
