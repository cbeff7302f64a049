/* SPDX-License-Identifier: LGPL-2.1-or-later
 * mix.h: channels that are sums of the channels that come. */
#ifndef TFX_KERNEL_MIX_H
#define TFX_KERNEL_MIX_H

#include "unit.h"

template <typename IO>
TFX_DEVICE_FN double
mix_sum (const TfxMixArgs &args, unsigned channel, unsigned long long n)
{
  const Samples<const IO> in = samples_from<const IO> (args.run.in, 0, n);
  const double *gains = args.gains + channel;
  double y = 0.0;

#pragma unroll 1
  for (unsigned k = 0; k < args.n_heard; k++) {
    double x = (double)in.data[k * in.channel_stride];

    if (!isfinite (x)) {
      args.run.cleared[k] = 1;
      x = 0.0;
    }
    y = __fma_rn (gains[k * args.run.n_channels], x, y);
  }
  return y;
}

TFX_DEVICE_FN void
mix_run (const TfxMixArgs &args)
{
  unsigned long long n;
  unsigned channel;
  double y;

  if (!any_visit (args.run.n_channels, args.run.n_frames, args.run.by_channel,
          &channel, &n))
    return;
  y = args.run.in.is_double ? mix_sum<double> (args, channel, n)
                            : mix_sum<float> (args, channel, n);
  unit_write (args.run.out, args.run.sum, channel, n, __dmul_rn (args.gain, y));
}

#endif
