/* SPDX-License-Identifier: LGPL-2.1-or-later
 * faulty.h: kernels with faults that the stand-in must find, for its own
 * test. */
#ifndef TFX_STANDIN_FAULTY_H
#define TFX_STANDIN_FAULTY_H

#include "kernels/platform.h"

struct FaultyArgs
{
  float *data;
  unsigned n;
  unsigned unused;
};

/* Without a fault: a sum over the block, in every way. */
TFX_KERNEL (standin_good, FaultyArgs, 256, 1)
{
  TFX_DYNAMIC_SHARED (shared);
  float *values = (float *)shared;
  float x = args.data[blockIdx.x * blockDim.x + threadIdx.x];

  for (unsigned d = 1; d < 32; d *= 2) {
    float y = __shfl_up_sync (TFX_ALL_LANES, x, d, 32);
    if (threadIdx.x % 32 >= d)
      x = __fadd_rn (x, y);
  }
  if (threadIdx.x % 32 == 31)
    values[threadIdx.x / 32] = x;
  __syncthreads ();
  for (unsigned w = 0; w < threadIdx.x / 32; w++)
    x = __fadd_rn (x, values[w]);
  args.data[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/* Half of the threads meet, the others do not. */
TFX_KERNEL (standin_diverges, FaultyArgs, 256, 1)
{
  if (threadIdx.x < args.n)
    __syncthreads ();
  args.data[threadIdx.x] = 0;
}

/* They meet in different places. */
TFX_KERNEL (standin_meets_apart, FaultyArgs, 256, 1)
{
  if (threadIdx.x < args.n)
    __syncthreads ();
  else
    __syncthreads ();
  args.data[threadIdx.x] = 0;
}

/* Some lanes of a warp shuffle, the others do not. */
TFX_KERNEL (standin_shuffles_apart, FaultyArgs, 256, 1)
{
  if (threadIdx.x % 32 < args.n)
    args.data[threadIdx.x] = __shfl_up_sync (TFX_ALL_LANES, 1.0f, 1, 32);
}

/* Every block waits for the one before it, in index order, not in the order in
 * which they start. */
TFX_KERNEL (standin_waits, FaultyArgs, 256, 1)
{
  volatile float *data = args.data;

  while (blockIdx.x > 0 && data[blockIdx.x - 1] == 0)
    TFX_SLEEP (100);
  data[blockIdx.x] = 1;
}

/* Writes one value too many. */
TFX_KERNEL (standin_overruns, FaultyArgs, 256, 1)
{
  if (threadIdx.x == 0)
    args.data[args.n] = 0;
}

/* Hands out what it finds in shared memory. */
TFX_KERNEL (standin_reads_shared, FaultyArgs, 256, 1)
{
  TFX_DYNAMIC_SHARED (shared);

  args.data[threadIdx.x] = ((float *)shared)[threadIdx.x];
}

#endif
