/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.cu: what looks back a known number of frames: FIRs, delay lines,
 * gains.
 *
 * The past lies in a ring, the block's own frames are read where they are, and
 * every kernel that has a ring also puts the block's frames into it, behind
 * those that are still needed: one launch, and nothing is lost if it fails. */
#include "ring.h"

#define FIR_THREADS 256
#define DELAY_THREADS 256

#if !defined(WINDOW_ONLY) || defined(WINDOW_DELAY)

/* What is not finite would stay for the length of the line. */
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

  if (!any_visit (args.n_channels, args.n_frames, args.by_channel, &channel, &n))
    return;
  x = any_read (args.in, channel, n);
  y = args.direct == 0.0 ? 0.0 : __dmul_rn (args.direct, x);
  for (unsigned i = 0; i < args.n_taps; i++) {
    const TfxKernelTap tap = args.taps[i];
    unsigned from = channel;
    double past;

    if (!(tap.parity >> (channel & 1) & 1))
      continue;
    if (tap.swap && (channel ^ 1) < args.n_channels)
      from = channel ^ 1;
    past =
        tap.delay <= n
            ? finite_or_zero (any_read (args.in, from, n - tap.delay))
            : *ring_at (args.ring, from, (long long)n - (long long)tap.delay);
    y = __fma_rn (tap.gain, past, y);
  }
  ring_keep (args.ring, channel, n, finite_or_zero (x));
  if (args.sum.data != nullptr)
    y = __dadd_rn (y, any_read (args.sum, channel, n));
  any_write (args.out, channel, n, y);
}

#endif

/* ---- FIR ---------------------------------------------------------------------- */

/* Neighbouring threads work TFX_FIR_RUN apart: with one place left out after
 * each run they meet no bank twice. */
TFX_DEVICE_FN unsigned
fir_place (unsigned i)
{
  return i + i / TFX_FIR_RUN;
}

/* A frame of the block's own, which a later block may need. */
TFX_DEVICE_FN void
fir_keep (const TfxFirArgs &args, unsigned channel, unsigned long long n,
    double given, double sound)
{
  if (!(sound == given))
    args.cleared[channel] = 1;
  ring_keep (args.ring, channel, n, sound);
}

/* A block of threads computes FIR_THREADS x TFX_FIR_RUN frames of a channel.
 * It takes the kernel TFX_FIR_TAPS taps at a time, the samples that they reach
 * in shared memory; a thread keeps its outputs, and the samples under a tap,
 * in registers. */
template <typename R>
TFX_DEVICE_FN void
fir_run (const TfxFirArgs &args, unsigned char *shared)
{
  const unsigned frames = FIR_THREADS * TFX_FIR_RUN;
  R *window = (R *)shared;
  R *taps = window + fir_place (frames + TFX_FIR_TAPS);
  unsigned channel = blockIdx.x / args.n_tiles;
  unsigned long long first =
      (unsigned long long)(blockIdx.x % args.n_tiles) * frames;
  const R *kernel =
      (const R *)args.taps +
      (args.per_channel ? (size_t)channel * args.n_taps : (size_t)0);
  unsigned begin = threadIdx.x * TFX_FIR_RUN;
  R y[TFX_FIR_RUN];

#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    real_set (0.0f, &y[i]);
#pragma unroll 1
  for (unsigned tap = 0; tap < args.n_taps; tap += TFX_FIR_TAPS) {
    unsigned n_taps =
        args.n_taps - tap < TFX_FIR_TAPS ? args.n_taps - tap : TFX_FIR_TAPS;

    /* window[i]: frame first - tap - TFX_FIR_TAPS + i. */
    __syncthreads ();
    for (unsigned i = threadIdx.x; i < frames + TFX_FIR_TAPS;
         i += FIR_THREADS) {
      long long n = (long long)first - tap - TFX_FIR_TAPS + i;
      double x = 0.0;

      if (n >= 0 && (unsigned long long)n < args.n_frames) {
        double given = any_read (args.in, channel, (unsigned long long)n);

        x = sound_or_zero (given, args.limit);
        if (tap == 0 && i >= TFX_FIR_TAPS)
          fir_keep (args, channel, (unsigned long long)n, given, x);
      } else if (n < 0 && n > -(long long)args.n_taps)
        x = *ring_at (args.ring, channel, n);
      real_set (x, &window[fir_place (i)]);
    }
    /* Zeros to the end of a run. */
    for (unsigned i = threadIdx.x; i < TFX_FIR_TAPS; i += FIR_THREADS) {
      if (i < n_taps)
        taps[i] = kernel[tap + i];
      else
        real_set (0.0f, &taps[i]);
    }
    __syncthreads ();

    /* x[i]: the sample under output i. */
    R x[TFX_FIR_RUN];

#pragma unroll
    for (int i = 0; i < TFX_FIR_RUN; i++)
      x[i] = window[fir_place (TFX_FIR_TAPS + begin + i)];
#pragma unroll 1
    for (unsigned k = 0; k < n_taps; k += TFX_FIR_RUN) {
      /* As many taps as outputs, so that x turns round without a move; the runs
       * of taps and of the window begin together. */
      const R *before = window + fir_place (TFX_FIR_TAPS + begin - k) - 1;

#pragma unroll
      for (int j = 0; j < TFX_FIR_RUN; j++) {
        R h = taps[k + j];

#pragma unroll
        for (int i = 0; i < TFX_FIR_RUN; i++)
          y[i] = real_gather (h, x[(i - j + TFX_FIR_RUN) % TFX_FIR_RUN], y[i]);
        x[TFX_FIR_RUN - 1 - j] = before[-(j + 1)];
      }
    }
#pragma unroll
    for (int i = 0; i < TFX_FIR_RUN; i++)
      y[i] = real_settle (y[i]);
  }

  /* By way of the window, so that neighbouring threads write neighbouring
   * frames. */
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    window[fir_place (begin + i)] = y[i];
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < frames; i += FIR_THREADS) {
    unsigned long long n = first + i;
    double out;

    if (n >= args.n_frames)
      break;
    real_get (window[fir_place (i)], &out);
    if (args.sum.data != nullptr)
      out = __dadd_rn (out, any_read (args.sum, channel, n));
    any_write (args.out, channel, n, out);
  }
}

#if !defined(WINDOW_ONLY) || defined(WINDOW_FIR_DOUBLE)
TFX_KERNEL (tfx_fir_double, TfxFirArgs, FIR_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  fir_run<double> (args, shared);
}
#endif

#if !defined(WINDOW_ONLY) || defined(WINDOW_FIR_TWOFOLD)
TFX_KERNEL (tfx_fir_twofold, TfxFirArgs, FIR_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  fir_run<Twofold> (args, shared);
}
#endif
