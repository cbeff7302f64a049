/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.h: FIRs in direct form, a tile of TFX_FIR_FRAMES frames of a channel to a block
 * of threads.
 *
 * Taps, and the frames that a run of taps needs, are in shared memory, the sums in
 * registers.  A thread computes a run of adjacent sums, with the samples of a tap in
 * registers too.  On devices with tensor cores for double (DMMA) a warp computes 16
 * rows by 8 columns of sums at a time: the product of a matrix of taps, with tap
 * r - c + s in row r and column c, and a matrix of samples. */
#ifndef TFX_KERNEL_FIR_H
#define TFX_KERNEL_FIR_H

#include "matrix.h"
#include "ring.h"

/* ---- frames -------------------------------------------------------------------- */

/* True if sums are products of matrices. */
template <typename R>
TFX_DEVICE_FN constexpr bool
fir_is_by_matrix (void)
{
  return TFX_HAS_MATRIX && real_is_short (R ());
}

/* Places are left out after each run of eight, so that what lanes sum up together, which
 * is one run apart, or two with four neighbours each, meets no bank twice. */
template <typename R>
TFX_DEVICE_FN unsigned
fir_place (unsigned i)
{
  return i + i / TFX_FIR_RUN * (fir_is_by_matrix<R> () ? 2 : 1);
}

/* Samples that a thread fetches before it uses the first. */
#define FIR_BATCH (TFX_FIR_RUN + 1)

/* Frames [n, n + count) of the block, which are all in it; no later block needs
 * them. */
template <typename R, typename IO>
TFX_DEVICE_FN void
fir_fetch (const TfxFirArgs &args, unsigned channel, unsigned long long n,
    unsigned count, R *window)
{
  const long long step = args.run.in.frame_stride * TFX_FIR_THREADS;
  const IO limit = (IO)args.limit;
  const IO *from =
      samples_from<const IO> (args.run.in, channel, n + threadIdx.x).data;
  bool is_sound = true;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < count; i += FIR_BATCH * TFX_FIR_THREADS) {
    R *to = window + fir_place<R> (i);
    IO x[FIR_BATCH];

#pragma unroll
    for (unsigned k = 0; k < FIR_BATCH; k++) {
      x[k] = i + k * TFX_FIR_THREADS < count ? *from : (IO)0;
      from += step;
    }
#pragma unroll
    for (unsigned k = 0; k < FIR_BATCH; k++) {
      /* A NaN is not less than anything. */
      bool is_good = fabs (x[k]) <= limit;

      is_sound = is_sound && is_good;
      if (i + k * TFX_FIR_THREADS < count)
        real_set (is_good ? x[k] : (IO)0,
            &to[fir_place<R> (k * TFX_FIR_THREADS)]);
    }
  }
  if (!is_sound)
    args.run.cleared[channel] = 1;
}

/* The same where the window goes beyond the block, or is_new: has frames that a
 * later block may need. */
template <typename R>
TFX_DEVICE_FN void
fir_gather (const TfxFirArgs &args, unsigned channel, long long begin,
    unsigned count, bool is_new, R *window)
{
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < count; i += TFX_FIR_THREADS) {
    long long n = begin + i;
    double x = 0.0;

    if (n >= 0 && (unsigned long long)n < args.run.n_frames) {
      double given = any_read (args.run.in, channel, (unsigned long long)n);

      x = sound_or_zero (given, args.limit);
      if (!(x == given))
        args.run.cleared[channel] = 1;
      if (is_new && i >= count - TFX_FIR_FRAMES)
        ring_keep (args.ring, channel, (unsigned long long)n, x);
    } else if (n < 0 && n > -(long long)args.n_taps)
      x = *ring_at (args.ring, channel, n);
    real_set (x, &window[fir_place<R> (i)]);
  }
}

/* window[i]: frame first - tap - reach + i, to the last one of the tile less
 * tap. */
template <typename R>
TFX_DEVICE_FN void
fir_load (const TfxFirArgs &args, unsigned channel, unsigned long long first,
    unsigned tap, unsigned reach, R *window)
{
  const unsigned count = TFX_FIR_FRAMES + reach;
  long long begin = (long long)first - tap - reach;
  /* Where what is not in the block, or is kept, begins. */
  unsigned long long end = tap == 0 && args.ring.data != nullptr &&
                                   args.ring.first < args.run.n_frames
                               ? args.ring.first
                               : args.run.n_frames;

  if (begin < 0 || (unsigned long long)begin + count > end)
    fir_gather (args, channel, begin, count, tap == 0, window);
  else if (args.run.in.is_double)
    fir_fetch<R, double> (args, channel, (unsigned long long)begin, count,
        window);
  else
    fir_fetch<R, float> (args, channel, (unsigned long long)begin, count,
        window);
}

/* ---- sums ------------------------------------------------------------------------ */

/* Adds what `reach` taps make of the window; a multiple of TFX_FIR_RUN. */
template <typename R>
TFX_DEVICE_FN void
fir_add_by_thread (const R *window, const R *taps, unsigned reach,
    R (&y)[TFX_FIR_RUN])
{
  const R *last = window + fir_place<R> (reach + threadIdx.x * TFX_FIR_RUN);
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
    last -= fir_place<R> (TFX_FIR_RUN);
  }
#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    y[i] = real_settle (y[i]);
}

/* Of a product: row r, column j of the sums is frame FIR_ROWS j + r.  A warp has
 * FIR_PARTS of them, one behind the other. */
#define FIR_ROWS 16
#define FIR_COLUMNS 8
#define FIR_PARTS (TFX_WARP * TFX_FIR_RUN / (FIR_ROWS * FIR_COLUMNS))

static_assert (FIR_ROWS <= TFX_FIR_MARGIN, "rows meet zeros beyond the taps");

#if TFX_HAS_MATRIX

/* As fir_add_by_thread() does.  In step s row c of the samples is frame
 * FIR_ROWS j + c - s, so that tap and frame make up r.  There are two steps of four to
 * an iteration. */
TFX_DEVICE_FN void
fir_add_by_matrix (const double *window, const double *taps, unsigned reach,
    double (&y)[TFX_FIR_RUN])
{
  const int g = (int)threadIdx.x % TFX_WARP / 4, t = (int)threadIdx.x % 4;
  const unsigned first = threadIdx.x / TFX_WARP * (TFX_WARP * TFX_FIR_RUN) +
                         (unsigned)g * FIR_ROWS;
  /* Under step 0. */
  const double *x = window + fir_place<double> (first + reach) + t;
  const double *h = taps + g - t;
  const unsigned run = fir_place<double> (TFX_FIR_RUN);
  double a[4], sum[FIR_PARTS][2][2];

#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    sum[i / 4][i / 2 % 2][i % 2] = y[i];
  /* From the step in which the last row meets the first tap. */
  x += run + 4;
  h -= FIR_ROWS - 4;
  a[0] = h[0];
  a[1] = h[4];
#pragma unroll 1
  for (unsigned s = 0; s < reach + FIR_ROWS; s += 8) {
    a[2] = h[s + 8];
    a[3] = h[s + 12];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const double rows[2] = { a[i], a[i + 2] };

#pragma unroll
      for (int k = 0; k < FIR_PARTS; k++)
        matrix_add (rows,
            x[(int)fir_place<double> (FIR_COLUMNS * FIR_ROWS * k) - 4 * i],
            sum[k]);
    }
    a[0] = a[2];
    a[1] = a[3];
    x -= run;
  }
#pragma unroll
  for (int i = 0; i < TFX_FIR_RUN; i++)
    y[i] = sum[i / 4][i / 2 % 2][i % 2];
}

#endif

template <typename R>
TFX_DEVICE_FN void
fir_add (const R *window, const R *taps, unsigned reach, R (&y)[TFX_FIR_RUN])
{
#if TFX_HAS_MATRIX
  if constexpr (fir_is_by_matrix<R> ()) {
    fir_add_by_matrix (window, taps, reach, y);
    return;
  }
#endif
  fir_add_by_thread (window, taps, reach, y);
}

/* The frame of the tile that sum i is for. */
template <typename R>
TFX_DEVICE_FN unsigned
fir_frame (unsigned i)
{
  const unsigned lane = threadIdx.x % TFX_WARP;
  const unsigned row = lane / 4 + i / 2 % 2 * 8;
  const unsigned column = i / 4 * FIR_COLUMNS + lane % 4 * 2 + i % 2;

  return fir_is_by_matrix<R> ()
             ? (threadIdx.x - lane) * TFX_FIR_RUN + column * FIR_ROWS + row
             : threadIdx.x * TFX_FIR_RUN + i;
}

/* ---- back ------------------------------------------------------------------------ */

/* Frames [n, n + count) of the output. */
template <typename R, typename IO>
TFX_DEVICE_FN void
fir_store (const TfxFirArgs &args, unsigned channel, unsigned long long n,
    unsigned count, const R *window)
{
  const long long step = args.run.out.frame_stride * TFX_FIR_THREADS;
  const R *from = window + fir_place<R> (threadIdx.x);
  IO *to = samples_from<IO> (args.run.out, channel, n + threadIdx.x).data;

#pragma unroll
  for (unsigned k = 0; k < TFX_FIR_RUN; k++) {
    unsigned i = threadIdx.x + k * TFX_FIR_THREADS;
    const R y = from[fir_place<R> (k * TFX_FIR_THREADS)];

    if (i < count) {
      if (args.run.sum.data == nullptr)
        real_get (y, to);
      else
        *to = (IO)__dadd_rn (real_to_double (y),
            any_read (args.run.sum, channel, n + i));
    }
    to += step;
  }
}

/* The kernel is taken TFX_FIR_TAPS taps at a time. */
template <typename R>
TFX_DEVICE_FN void
fir_run (const TfxFirArgs &args, unsigned char *shared)
{
  /* With zeros before and behind. */
  R *taps = (R *)shared + TFX_FIR_MARGIN;
  R *window = taps + TFX_FIR_REACH (args.n_taps) + TFX_FIR_MARGIN;
  /* Channels side by side, so that interleaved ones share sectors. */
  unsigned channel = blockIdx.x % args.run.n_channels;
  unsigned long long first =
      (unsigned long long)(blockIdx.x / args.run.n_channels) * TFX_FIR_FRAMES;
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
    for (int i = (int)threadIdx.x - TFX_FIR_MARGIN;
         i < (int)reach + TFX_FIR_MARGIN; i += TFX_FIR_THREADS) {
      if (i >= 0 && i < (int)reach && (unsigned)i < n_taps)
        taps[i] = kernel[tap + (unsigned)i];
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
    window[fir_place<R> (fir_frame<R> (i))] = y[i];
  __syncthreads ();
  count = args.run.n_frames - first < TFX_FIR_FRAMES
              ? (unsigned)(args.run.n_frames - first)
              : TFX_FIR_FRAMES;
  if (args.run.out.is_double)
    fir_store<R, double> (args, channel, first, count, window);
  else
    fir_store<R, float> (args, channel, first, count, window);
}

#endif
