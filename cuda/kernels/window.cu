/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.cu: kernels with a history of fixed length: FIRs, delay lines, gains.
 *
 * The history is in a ring; frames of the block are read from the input.  A kernel
 * with a ring also appends the frames of the block, after those that are still
 * needed: this takes one launch, and keeps the history if the launch fails. */
#include "fir.h"

/* Blocks of TFX_FIR_THREADS on a multiprocessor, in double: as registers allow. */
#define FIR_BLOCKS 4
#define DELAY_THREADS 256

#if !defined(WINDOW_ONLY) || defined(WINDOW_DELAY)

/* A sample that is not finite would remain for the length of the line. */
TFX_DEVICE_FN double
finite_or_zero (double x)
{
  return isfinite (x) ? x : 0.0;
}

TFX_KERNEL (tfx_delay, TfxDelayArgs, DELAY_THREADS, 1)
{
  unsigned long long n;
  unsigned channel;
  double x, y;

  if (!any_visit (args.run.n_channels, args.run.n_frames, args.run.by_channel,
          &channel, &n))
    return;
  x = any_read (args.run.in, channel, n);
  y = args.direct == 0.0 ? 0.0 : __dmul_rn (args.direct, x);
  for (unsigned i = 0; i < args.n_taps; i++) {
    const TfxKernelTap tap = args.taps[i];
    unsigned from = channel;
    double past;

    if (!(tap.parity >> (channel & 1) & 1))
      continue;
    if (tap.swap && (channel ^ 1) < args.run.n_channels)
      from = channel ^ 1;
    past =
        tap.delay <= n
            ? finite_or_zero (any_read (args.run.in, from, n - tap.delay))
            : *ring_at (args.ring, from, (long long)n - (long long)tap.delay);
    y = __fma_rn (tap.gain, past, y);
  }
  ring_keep (args.ring, channel, n, finite_or_zero (x));
  if (args.run.sum.data != nullptr)
    y = __dadd_rn (y, any_read (args.run.sum, channel, n));
  any_write (args.run.out, channel, n, y);
}

#endif

#if !defined(WINDOW_ONLY) || defined(WINDOW_FIR_DOUBLE)
TFX_KERNEL (tfx_fir_double, TfxFirArgs, TFX_FIR_THREADS, FIR_BLOCKS)
{
  TFX_DYNAMIC_SHARED (shared);
  fir_run<double> (args, shared);
}
#endif

#if !defined(WINDOW_ONLY) || defined(WINDOW_FIR_TWOFOLD)
TFX_KERNEL (tfx_fir_twofold, TfxFirArgs, TFX_FIR_THREADS, 3)
{
  TFX_DYNAMIC_SHARED (shared);
  fir_run<Twofold> (args, shared);
}
#endif
