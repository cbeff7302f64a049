/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.cu: what looks back a known number of frames: FIRs, delay lines,
 * gains.
 *
 * The past lies in a ring, the block's own frames are read where they are, and
 * every kernel that has a ring also puts the block's frames into it, behind
 * those that are still needed: one launch, and nothing is lost if it fails. */
#include "ring.h"

#define FIR_THREADS 256
/* Of these on a multiprocessor, in double: as registers allow. */
#define FIR_BLOCKS 4
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

/* What a block of threads works on: FIR_FRAMES frames of a channel. */
#define FIR_FRAMES (FIR_THREADS * TFX_FIR_RUN)

/* Samples that a thread fetches before it uses the first. */
#define FIR_BATCH (TFX_FIR_RUN + 1)

/* Frames [n, n + count) of the block, all of which it has and none of which a
 * later one needs. */
template <typename R, typename IO>
TFX_DEVICE_FN void
fir_fetch (const TfxFirArgs &args, unsigned channel, unsigned long long n,
    unsigned count, R *window)
{
  const long long step = args.in.frame_stride * FIR_THREADS;
  const IO limit = (IO)args.limit;
  const IO *from =
      samples_from<const IO> (args.in, channel, n + threadIdx.x).data;
  bool is_sound = true;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < count; i += FIR_BATCH * FIR_THREADS) {
    R *to = window + fir_place (i);
    IO x[FIR_BATCH];

#pragma unroll
    for (unsigned k = 0; k < FIR_BATCH; k++) {
      x[k] = i + k * FIR_THREADS < count ? *from : (IO)0;
      from += step;
    }
#pragma unroll
    for (unsigned k = 0; k < FIR_BATCH; k++) {
      /* A NaN is not less than anything. */
      bool is_good = fabs (x[k]) <= limit;

      is_sound = is_sound && is_good;
      if (i + k * FIR_THREADS < count)
        real_set (is_good ? x[k] : (IO)0, &to[fir_place (k * FIR_THREADS)]);
    }
  }
  if (!is_sound)
    args.cleared[channel] = 1;
}

/* The same where the window goes beyond the block, or is_new: has frames that a
 * later block may need. */
template <typename R>
TFX_DEVICE_FN void
fir_gather (const TfxFirArgs &args, unsigned channel, long long begin,
    unsigned count, bool is_new, R *window)
{
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < count; i += FIR_THREADS) {
    long long n = begin + i;
    double x = 0.0;

    if (n >= 0 && (unsigned long long)n < args.n_frames) {
      double given = any_read (args.in, channel, (unsigned long long)n);

      x = sound_or_zero (given, args.limit);
      if (!(x == given))
        args.cleared[channel] = 1;
      if (is_new && i >= count - FIR_FRAMES)
        ring_keep (args.ring, channel, (unsigned long long)n, x);
    } else if (n < 0 && n > -(long long)args.n_taps)
      x = *ring_at (args.ring, channel, n);
    real_set (x, &window[fir_place (i)]);
  }
}

/* window[i]: frame first - tap - reach + i, to the last one of the tile less
 * tap. */
template <typename R>
TFX_DEVICE_FN void
fir_load (const TfxFirArgs &args, unsigned channel, unsigned long long first,
    unsigned tap, unsigned reach, R *window)
{
  const unsigned count = FIR_FRAMES + reach;
  long long begin = (long long)first - tap - reach;
  /* Where what is not in the block, or is kept, begins. */
  unsigned long long end =
      tap == 0 && args.ring.data != nullptr && args.ring.first < args.n_frames
          ? args.ring.first
          : args.n_frames;

  if (begin < 0 || (unsigned long long)begin + count > end)
    fir_gather (args, channel, begin, count, tap == 0, window);
  else if (args.in.is_double)
    fir_fetch<R, double> (args, channel, (unsigned long long)begin, count,
        window);
  else
    fir_fetch<R, float> (args, channel, (unsigned long long)begin, count,
        window);
}

/* Adds what `reach` taps make of the window; a multiple of TFX_FIR_RUN. */
template <typename R>
TFX_DEVICE_FN void
fir_add (const R *window, const R *taps, unsigned reach, R (&y)[TFX_FIR_RUN])
{
  const R *last = window + fir_place (reach + threadIdx.x * TFX_FIR_RUN);
  R x[TFX_FIR_RUN]; /* the sample under output i */

#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    x[i] = last[i];
#pragma unroll 1
  for (unsigned k = 0; k < reach; k += TFX_FIR_RUN) {
    const Pair<R> *pairs = (const Pair<R> *)(taps + k);

    /* As many taps as outputs, so that x turns round without a move; the runs
     * of taps and of the window begin together. */
#pragma unroll
    for (int j = 0; j < TFX_FIR_RUN; j += 2) {
      const Pair<R> h = pairs[j / 2];

#pragma unroll
      for (int i = 0; i < TFX_FIR_RUN; i++)
        y[i] = real_gather (h.a, x[(i - j + TFX_FIR_RUN) % TFX_FIR_RUN], y[i]);
      x[TFX_FIR_RUN - 1 - j] = last[-(j + 2)];
#pragma unroll
      for (int i = 0; i < TFX_FIR_RUN; i++)
        y[i] =
            real_gather (h.b, x[(i - j - 1 + TFX_FIR_RUN) % TFX_FIR_RUN], y[i]);
      x[TFX_FIR_RUN - 2 - j] = last[-(j + 3)];
    }
    last -= fir_place (TFX_FIR_RUN);
  }
#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    y[i] = real_settle (y[i]);
}

/* Frames [n, n + count) of the output. */
template <typename R, typename IO>
TFX_DEVICE_FN void
fir_store (const TfxFirArgs &args, unsigned channel, unsigned long long n,
    unsigned count, const R *window)
{
  const long long step = args.out.frame_stride * FIR_THREADS;
  const R *from = window + fir_place (threadIdx.x);
  IO *to = samples_from<IO> (args.out, channel, n + threadIdx.x).data;

#pragma unroll
  for (unsigned k = 0; k < TFX_FIR_RUN; k++) {
    unsigned i = threadIdx.x + k * FIR_THREADS;
    const R y = from[fir_place (k * FIR_THREADS)];

    if (i < count) {
      if (args.sum.data == nullptr)
        real_get (y, to);
      else
        *to = (IO)__dadd_rn (real_to_double (y),
            any_read (args.sum, channel, n + i));
    }
    to += step;
  }
}

/* A block of threads takes the kernel TFX_FIR_TAPS taps at a time, the samples
 * that they reach in shared memory; a thread keeps its outputs, and the samples
 * under a tap, in registers. */
template <typename R>
TFX_DEVICE_FN void
fir_run (const TfxFirArgs &args, unsigned char *shared)
{
  R *taps = (R *)shared;
  R *window = taps + TFX_FIR_REACH (args.n_taps);
  /* Channels side by side, so that interleaved ones share sectors. */
  unsigned channel = blockIdx.x % args.n_channels;
  unsigned long long first =
      (unsigned long long)(blockIdx.x / args.n_channels) * FIR_FRAMES;
  const R *kernel =
      (const R *)args.taps +
      (args.per_channel ? (size_t)channel * args.n_taps : (size_t)0);
  R y[TFX_FIR_RUN];
  unsigned count;

#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    real_set (0.0f, &y[i]);
#pragma unroll 1
  for (unsigned tap = 0; tap < args.n_taps; tap += TFX_FIR_TAPS) {
    const unsigned n_taps = args.n_taps - tap;
    const unsigned reach = TFX_FIR_REACH (n_taps);

    if (tap > 0)
      __syncthreads ();
    /* Zeros to the end of a run. */
    for (unsigned i = threadIdx.x; i < reach; i += FIR_THREADS) {
      if (i < n_taps)
        taps[i] = kernel[tap + i];
      else
        real_set (0.0f, &taps[i]);
    }
    fir_load (args, channel, first, tap, reach, window);
    __syncthreads ();
    fir_add (window, taps, reach, y);
  }

  /* By way of the window, so that neighbouring threads write neighbouring
   * frames. */
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    window[fir_place (threadIdx.x * TFX_FIR_RUN) + i] = y[i];
  __syncthreads ();
  count = args.n_frames - first < FIR_FRAMES ? (unsigned)(args.n_frames - first)
                                             : FIR_FRAMES;
  if (args.out.is_double)
    fir_store<R, double> (args, channel, first, count, window);
  else
    fir_store<R, float> (args, channel, first, count, window);
}

#if !defined(WINDOW_ONLY) || defined(WINDOW_FIR_DOUBLE)
TFX_KERNEL (tfx_fir_double, TfxFirArgs, FIR_THREADS, FIR_BLOCKS)
{
  TFX_DYNAMIC_SHARED (shared);
  fir_run<double> (args, shared);
}
#endif

#if !defined(WINDOW_ONLY) || defined(WINDOW_FIR_TWOFOLD)
TFX_KERNEL (tfx_fir_twofold, TfxFirArgs, FIR_THREADS, 3)
{
  TFX_DYNAMIC_SHARED (shared);
  fir_run<Twofold> (args, shared);
}
#endif
