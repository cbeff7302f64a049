/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.h: what the kernels of units share: samples, places in shared memory, and
 * who does what. */
#ifndef TFX_KERNEL_UNIT_H
#define TFX_KERNEL_UNIT_H

#include "ring.h"
#include "unit-args.h"

/* Levels below are taken for this. */
#define UNIT_LOWEST 1e-12
#define UNIT_MOST_SQUARE 1e300

TFX_DEVICE_FN unsigned
unit_place (unsigned i)
{
  return i + i / TFX_UNIT_RUN;
}

/* A sample that is not finite counts as 0. */
TFX_DEVICE_FN double
unit_read (const TfxKernelBlock &in, unsigned channel, unsigned long long n,
    unsigned char *cleared)
{
  double x = any_read (in, channel, n);

  if (isfinite (x))
    return x;
  cleared[channel] = 1;
  return 0.0;
}

/* The magnitude of a channel, or the largest of all. */
TFX_DEVICE_FN double
unit_hear (const TfxKernelBlock &in, unsigned channel, unsigned n_channels,
    unsigned long long n, unsigned char *cleared)
{
  double most = 0.0;

#pragma unroll 1
  for (unsigned c = 0; c < n_channels; c++) {
    double x = fabs (unit_read (in, channel + c, n, cleared));

    most = x > most ? x : most;
  }
  return most;
}

TFX_DEVICE_FN void
unit_write (const TfxKernelBlock &out, const TfxKernelBlock &sum,
    unsigned channel, unsigned long long n, double y)
{
  if (sum.data != nullptr)
    y = __dadd_rn (y, any_read (sum, channel, n));
  any_write (out, channel, n, y);
}

/* Whether it is true for any thread of the block; flags: one for each warp. */
TFX_DEVICE_FN bool
unit_any (bool is_true, volatile unsigned *flags)
{
  unsigned lanes = __ballot_sync (TFX_ALL_LANES, is_true), all = 0;

  if (threadIdx.x % TFX_WARP == 0)
    flags[threadIdx.x / TFX_WARP] = lanes;
  __syncthreads ();
  for (unsigned i = 0; i < TFX_UNIT_THREADS / TFX_WARP; i++)
    all |= flags[i];
  return all != 0;
}

/* ---- tickets ------------------------------------------------------------------ */

/* The block's tile, of `per_tile` at the same time; head: two numbers in shared
 * memory.  All threads. */
TFX_DEVICE_FN unsigned
unit_ticket (unsigned *control, unsigned n_tiles, volatile unsigned *head,
    unsigned *epoch)
{
  if (threadIdx.x == 0) {
    head[0] = n_tiles > 1 ? atomicAdd (control, 1u) : blockIdx.x;
    /* Nobody writes it before the last block has ended. */
    head[1] = n_tiles > 1 ? control[2] + 1 : 0;
  }
  __syncthreads ();
  *epoch = head[1];
  return head[0];
}

/* The last block to finish makes ready for the next launch. */
TFX_DEVICE_FN void
unit_finish (unsigned *control, unsigned n_tiles, unsigned epoch)
{
  if (n_tiles == 1 || threadIdx.x != 0)
    return;
  __threadfence ();
  if (atomicAdd (control + 1, 1u) == gridDim.x - 1) {
    /* Behind what the others have read of it. */
    __threadfence ();
    control[0] = 0;
    control[1] = 0;
    control[2] = epoch == 0xffffffff ? 0 : epoch;
  }
}

#endif
