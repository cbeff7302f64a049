/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sample.h: samples in global memory, float or double as the block says. */
#ifndef TFX_KERNEL_SAMPLE_H
#define TFX_KERNEL_SAMPLE_H

#include "args.h"
#include "real.h"

/* A block from one of its samples on. */
template <typename IO> struct Samples
{
  IO *data; /* none: nullptr */
  long long frame_stride, channel_stride;
};

template <typename IO>
TFX_DEVICE_FN Samples<IO>
samples_from (const TfxKernelBlock &block, unsigned channel,
    unsigned long long frame)
{
  long long at = (long long)frame * block.frame_stride +
                 (long long)channel * block.channel_stride;

  return Samples<IO>{ block.data ? (IO *)block.data + at : nullptr,
    block.frame_stride, block.channel_stride };
}

template <typename IO>
TFX_DEVICE_FN IO &
sample_at (const Samples<IO> &samples, unsigned channel, unsigned frame)
{
  return samples
      .data[frame * samples.frame_stride + channel * samples.channel_stride];
}

#endif
