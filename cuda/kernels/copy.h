/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy.h: channels of one block to channels of another, times a gain. */
#ifndef TFX_KERNEL_COPY_H
#define TFX_KERNEL_COPY_H

#include "unit.h"

TFX_DEVICE_FN unsigned
copy_place (const TfxChannelMap &map, unsigned i)
{
  return i < map.n ? map.places[i] : map.next + (i - map.n);
}

TFX_DEVICE_FN void
copy_run (const TfxCopyArgs &args)
{
  unsigned long long n;
  unsigned i;
  double x;

  if (!any_visit (args.run.n_channels, args.run.n_frames, args.run.by_channel,
          &i, &n))
    return;
  x = any_read (args.run.in, copy_place (args.from, i), n);
  unit_write (args.run.out, args.run.sum, copy_place (args.to, i), n,
      args.gain == 0.0 ? 0.0 : __dmul_rn (args.gain, x));
}

#endif
