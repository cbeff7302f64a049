/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy.h: y = gain x, on the device, of all channels or of some.  The context is
 * current in all calls. */
#ifndef TFX_CUDA_COPY_H
#define TFX_CUDA_COPY_H

#include "unit.h"

/* All zero but for the stream. */
typedef struct TfxCudaCopy
{
  TfxCudaStream *stream;
  TfxKernel kernel;
} TfxCudaCopy;

/* Bit masks of input and output channels: the k-th of n channels is the k-th set
 * bit, and after the last one those from 64 on. 0: channel k. */
typedef struct TfxCudaChannels
{
  uint64_t from, to;
  unsigned n;
} TfxCudaChannels;

/* The kernel; and one launch.  0 or a negative errno. */
int tfx_cuda_copy_prepare (TfxCudaCopy *copy);
int tfx_cuda_copy_run (TfxCudaCopy *copy, const TfxUnitRun *run,
    const TfxCudaChannels *channels, double gain);

/* The counts of a launch: see cost.h. */
void tfx_cuda_copy_cost (TfxCost *cost);

#endif
