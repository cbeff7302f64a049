/* SPDX-License-Identifier: LGPL-2.1-or-later
 * clip.h: a gain, and what comes out of it limited to -1 ... 1. */
#ifndef TFX_KERNEL_CLIP_H
#define TFX_KERNEL_CLIP_H

#include "unit.h"

TFX_DEVICE_FN void
clip_run (const TfxClipArgs &args)
{
  unsigned long long n;
  unsigned channel;
  double y;

  if (!any_visit (args.run.n_channels, args.run.n_frames, args.run.by_channel,
          &channel, &n))
    return;
  y = __dmul_rn (args.factor,
      unit_read (args.run.in, channel, n, args.run.cleared));
  y = y < -1.0 ? -1.0 : y;
  y = y > 1.0 ? 1.0 : y;
  unit_write (args.run.out, args.run.sum, channel, n, __dmul_rn (args.gain, y));
}

#endif
