/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ring.h: samples of any type, and those before the block. */
#ifndef TFX_KERNEL_RING_H
#define TFX_KERNEL_RING_H

#include "sample.h"

/* A sample of any type as double. */
TFX_DEVICE_FN double
any_read (const TfxKernelBlock &block, unsigned channel, unsigned long long n)
{
  long long at = (long long)n * block.frame_stride +
                 (long long)channel * block.channel_stride;

  return block.is_double ? ((const double *)block.data)[at]
                         : (double)((const float *)block.data)[at];
}

TFX_DEVICE_FN void
any_write (const TfxKernelBlock &block, unsigned channel, unsigned long long n,
    double x)
{
  long long at = (long long)n * block.frame_stride +
                 (long long)channel * block.channel_stride;

  if (block.is_double)
    ((double *)block.data)[at] = x;
  else
    ((float *)block.data)[at] = (float)x;
}

/* The frame and channel of this thread; false if there is none. */
TFX_DEVICE_FN bool
any_visit (unsigned n_channels, unsigned long long n_frames,
    unsigned by_channel, unsigned *channel, unsigned long long *frame)
{
  unsigned long long i =
      (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= n_channels * n_frames)
    return false;
  if (by_channel) {
    *frame = i / n_channels;
    *channel = (unsigned)(i % n_channels);
  } else {
    *frame = i % n_frames;
    *channel = (unsigned)(i / n_frames);
  }
  return true;
}

/* The place of frame n, counted from the block's first one; it is no more than
 * the ring's size away from that. */
TFX_DEVICE_FN double *
ring_at (const TfxKernelRing &ring, unsigned channel, long long n)
{
  unsigned long long at = ring.position + ring.size + (unsigned long long)n;

  /* A division takes a hundred instructions. */
  if (at >= 2 * ring.size)
    at -= ring.size;
  if (at >= ring.size)
    at -= ring.size;
  return ring.data + channel * ring.size + at;
}

/* Puts frame n of the block into the ring, if it will be needed. */
TFX_DEVICE_FN void
ring_keep (const TfxKernelRing &ring, unsigned channel, unsigned long long n,
    double x)
{
  if (ring.data != nullptr && n >= ring.first)
    *ring_at (ring, channel, (long long)(n - ring.first)) = x;
}

/* A NaN is not less than anything. */
TFX_DEVICE_FN double
sound_or_zero (double x, double limit)
{
  return fabs (x) <= limit ? x : 0.0;
}

#endif
