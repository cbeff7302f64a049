/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft-frames.h: the first pass of a tile's transform from the frames, and the last
 * one back to them.
 *
 * A tile that lies inside of the block goes straight from memory into registers, and
 * back; others, and what is added to another step's output, go by way of z. */
#ifndef TFX_KERNEL_FFT_FRAMES_H
#define TFX_KERNEL_FFT_FRAMES_H

#include "fft.h"
#include "ring.h"

/* The tile of a block, in shared memory. */
struct FftTile
{
  unsigned index; /* of this launch's */
  unsigned channel, slot;
  unsigned epoch;
};

static_assert (sizeof (FftTile) == TFX_FFT_HEADER, "the numbers follow");

/* ---- frames -------------------------------------------------------------- */

/* Of the 2 P frames of a transform the last ones are the tile's own: of the block,
 * from this one on. */
TFX_DEVICE_FN long long
fft_begin (const TfxFftArgs &args, const FftTile &tile)
{
  return args.start + (long long)tile.index * args.n_out;
}

/* The frames before them, in pairs. */
TFX_DEVICE_FN unsigned
fft_n_before (const TfxFftArgs &args)
{
  return (1u << args.log2) - args.n_out / 2;
}

/* A frame of the stream, around the block.  is_own: it is the tile's, and the
 * next block may need it. */
TFX_DEVICE_FN double
fft_frame (const TfxFftArgs &args, unsigned channel, long long n, bool is_own)
{
  double x, sound;

  if (n < 0)
    return n > -(long long)args.n_taps && args.ring.data != nullptr
               ? *ring_at (args.ring, channel, n)
               : 0.0;
  if ((unsigned long long)n >= args.run.n_frames)
    return 0.0;
  x = any_read (args.run.in, channel, (unsigned long long)n);
  sound = sound_or_zero (x, args.limit);
  if (is_own) {
    if (!(sound == x))
      args.run.cleared[channel] = 1;
    ring_keep (args.ring, channel, (unsigned long long)n, sound);
  }
  return sound;
}

/* The tile and the frames before it, number i being frames 2 i and 2 i + 1; or a
 * partition of taps and zeros.  A thread gathers the groups that it will load. */
template <typename R>
TFX_DEVICE_FN void
fft_gather (const TfxFftArgs &args, const FftTile &tile, unsigned stride,
    Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  const bool is_heard =
      args.work != TFX_FFT_TAPS && tile.index >= args.n_silent;
  const unsigned n_before = fft_n_before (args);
  long long begin = fft_begin (args, tile);

  if (args.work != TFX_FFT_TAPS)
    begin -= 2 * n_before;
  for (unsigned k = threadIdx.x; k < stride; k += blockDim.x) {
#pragma unroll 1
    for (unsigned i = k; i < size; i += stride) {
      const bool is_own = is_heard && i >= n_before;
      const long long n = begin + 2 * i;
      double re = 0.0, im = 0.0;

      if (args.work != TFX_FFT_TAPS || i < size / 2) {
        re = fft_frame (args, tile.channel, n, is_own);
        im = fft_frame (args, tile.channel, n + 1, is_own);
      }
      real_set (re, &z[fft_place (i)].re);
      real_set (im, &z[fft_place (i)].im);
    }
  }
}

/* True if the tile and the frames before it are whole in the block, and no later block
 * needs one of them. */
TFX_DEVICE_FN bool
fft_is_inside (const TfxFftArgs &args, const FftTile &tile)
{
  const long long begin = fft_begin (args, tile);
  unsigned long long most = args.ring.data != nullptr &&
                                    tile.index >= args.n_silent &&
                                    args.ring.first < args.run.n_frames
                                ? args.ring.first
                                : args.run.n_frames;

  return args.work != TFX_FFT_TAPS &&
         begin >= 2 * (long long)fft_n_before (args) &&
         (unsigned long long)(begin + args.n_out) <= most;
}

/* Numbers of a thread in registers, in a first or last pass over n; at most n for
 * types with long operations. */
template <typename R>
TFX_DEVICE_FN constexpr int
fft_run_of (int n)
{
  return fft_is_short<R> () || n == 1 ? TFX_FFT_RUN : n;
}

/* Groups of the first pass, and of the last: the i-th one and those that are
 * blockDim.x further each.  What would be beyond the last group is the i-th. */
TFX_DEVICE_FN unsigned
fft_group (unsigned i, int g, unsigned n_groups)
{
  const unsigned k = i + (unsigned)g * blockDim.x;

  return g == 0 || k < n_groups ? k : i;
}

/* The groups' numbers, which are `stride` apart. */
template <int LOG2, typename R, int RUN>
TFX_DEVICE_FN void
fft_take (const Complex<R> *z, unsigned i, unsigned stride,
    Complex<R> (&v)[RUN])
{
  const unsigned step = fft_place (stride);

#pragma unroll
  for (int m = 0; m < RUN; m++)
    v[m] = z[fft_place (fft_group (i, m >> LOG2, stride)) +
             m % (1 << LOG2) * step];
}

/* Two frames in one access: of floats, where it takes half as many sectors. */
template <typename IO> struct alignas (2 * sizeof (IO)) FramePair
{
  IO a, b;
};

template <typename IO>
TFX_DEVICE_FN bool
fft_is_paired (const IO *frames, long long stride)
{
  return sizeof (IO) == sizeof (float) && stride == 1 &&
         (tfx_u64)frames % sizeof (FramePair<IO>) == 0;
}

/* Groups of 2^LOG2 numbers from the frames; false if some frame counted as 0. */
template <int LOG2, typename IO, typename R, int RUN>
TFX_DEVICE_FN bool
fft_fetch (const TfxFftArgs &args, const FftTile &tile, unsigned i,
    Complex<R> (&v)[RUN])
{
  const unsigned stride = 1u << (args.log2 - LOG2);
  const long long frames = args.run.in.frame_stride;
  const IO *begin = samples_from<const IO> (args.run.in, tile.channel,
      (unsigned long long)(fft_begin (args, tile) -
                           2 * (long long)fft_n_before (args)))
                        .data;
  const IO limit = (IO)args.limit;
  bool is_sound = true;
  unsigned pairs[RUN];
  IO x[2 * RUN];

#pragma unroll
  for (int m = 0; m < RUN; m++)
    pairs[m] = fft_group (i, m >> LOG2, stride) + m % (1 << LOG2) * stride;
  if (fft_is_paired (begin, frames)) {
#pragma unroll
    for (int m = 0; m < RUN; m++) {
      const FramePair<IO> pair = ((const FramePair<IO> *)begin)[pairs[m]];

      x[2 * m] = pair.a;
      x[2 * m + 1] = pair.b;
    }
  } else {
#pragma unroll
    for (int m = 0; m < RUN; m++) {
      x[2 * m] = begin[2 * pairs[m] * frames];
      x[2 * m + 1] = begin[(2 * pairs[m] + 1) * frames];
    }
  }
#pragma unroll
  for (int m = 0; m < RUN; m++) {
    /* A NaN is not less than anything. */
    const bool a = fabs (x[2 * m]) <= limit, b = fabs (x[2 * m + 1]) <= limit;

    is_sound = is_sound && a && b;
    real_set (a ? x[2 * m] : (IO)0, &v[m].re);
    real_set (b ? x[2 * m + 1] : (IO)0, &v[m].im);
  }
  return is_sound;
}

/* The first pass, from the frames, or from z if it is not is_inside. */
template <int LOG2, typename R>
TFX_DEVICE_FN void
fft_load (const TfxFftArgs &args, const FftTile &tile, bool is_inside,
    Complex<R> *z, const Complex<R> *twiddles)
{
  const int N = 1 << LOG2, RUN = fft_run_of<R> (N);
  const unsigned stride = 1u << (args.log2 - LOG2), step = fft_place (stride);
  bool is_sound = true;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < stride; i += RUN / N * blockDim.x) {
    Complex<R> v[RUN];

    if (!is_inside) {
      fft_take<LOG2> (z, i, stride, v);
    } else if (args.run.in.is_double) {
      is_sound &= fft_fetch<LOG2, double> (args, tile, i, v);
    } else {
      is_sound &= fft_fetch<LOG2, float> (args, tile, i, v);
    }
#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      fft_small<LOG2, true> (v + g);
      fft_twiddle<LOG2, true> (v + g, twiddles + fft_group (i, g / N, stride),
          stride);
    }
#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      const unsigned k = i + g / N * blockDim.x;

      if (g > 0 && k >= stride)
        break;
#pragma unroll
      for (int m = 0; m < N; m++)
        z[fft_place (k) + m * step] = v[g + m];
    }
  }
  if (!is_sound)
    args.run.cleared[tile.channel] = 1;
}

/* All of the transform but what tells even samples from odd ones. */
template <typename R>
TFX_DEVICE_FN void
fft_analyse (const TfxFftArgs &args, const FftTile &tile, Complex<R> *z,
    const Complex<R> *twiddles)
{
  const unsigned first_log2 = fft_first_log2<R> (args.log2);
  const bool is_inside = fft_is_inside (args, tile);

  if (!is_inside)
    fft_gather (args, tile, 1u << (args.log2 - first_log2), z);
  if (first_log2 == 1)
    fft_load<1> (args, tile, is_inside, z, twiddles);
  else if (first_log2 == 2)
    fft_load<2> (args, tile, is_inside, z, twiddles);
  else
    fft_load<fft_is_short<R> () ? TFX_FFT_RUN_LOG2 : 0> (args, tile, is_inside,
        z, twiddles);
  fft_forward (z, twiddles, args.log2);
  __syncthreads ();
}

/* ---- back ---------------------------------------------------------------- */

/* Frames of the tile inside the block. */
template <typename R>
TFX_DEVICE_FN void
fft_scatter (const TfxFftArgs &args, const FftTile &tile, const Complex<R> *z)
{
  const long long begin = fft_begin (args, tile);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < args.n_out; i += blockDim.x) {
    const long long n = begin + i;
    const Complex<R> *c = z + fft_place (fft_n_before (args) + i / 2);
    double y;

    if (n < 0 || (unsigned long long)n >= args.run.n_frames)
      continue;
    real_get (i & 1 ? c->im : c->re, &y);
    if (args.run.sum.data != nullptr)
      y = __dadd_rn (y,
          any_read (args.run.sum, tile.channel, (unsigned long long)n));
    any_write (args.run.out, tile.channel, (unsigned long long)n, y);
  }
}

/* N numbers, from the first-th on those that are `step` apart.  Those before n_before
 * are no output. */
template <int N, bool PAIRED, typename R, typename IO>
TFX_DEVICE_FN void
fft_write_as (const Complex<R> *v, unsigned first, unsigned step,
    unsigned n_before, long long stride, IO *to)
{
#pragma unroll
  for (int m = 0; m < N; m++) {
    const unsigned at = first + (unsigned)m * step - n_before;
    FramePair<IO> y;

    if (first + (unsigned)m * step < n_before)
      continue;
    real_get (v[m].re, &y.a);
    real_get (v[m].im, &y.b);
    if (PAIRED) {
      ((FramePair<IO> *)to)[at] = y;
    } else {
      to[2 * at * stride] = y.a;
      to[(2 * at + 1) * stride] = y.b;
    }
  }
}

template <int N, typename R, typename IO>
TFX_DEVICE_FN void
fft_write (const Complex<R> *v, unsigned first, unsigned step,
    unsigned n_before, long long stride, IO *to)
{
  if (fft_is_paired (to, stride))
    fft_write_as<N, true> (v, first, step, n_before, stride, to);
  else
    fft_write_as<N, false> (v, first, step, n_before, stride, to);
}

/* The last pass, to the frames, or to z if the tile is not is_inside. */
template <int LOG2, typename R>
TFX_DEVICE_FN void
fft_store (const TfxFftArgs &args, const FftTile &tile, bool is_inside,
    Complex<R> *z, const Complex<R> *twiddles)
{
  const int N = 1 << LOG2, RUN = fft_run_of<R> (N);
  const unsigned stride = 1u << (args.log2 - LOG2), step = fft_place (stride);
  const long long frames = args.run.out.frame_stride;
  const unsigned n_before = fft_n_before (args);
  const unsigned long long begin = (unsigned long long)fft_begin (args, tile);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < stride; i += RUN / N * blockDim.x) {
    Complex<R> v[RUN];

    fft_take<LOG2> (z, i, stride, v);
#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      fft_twiddle<LOG2, false> (v + g, twiddles + fft_group (i, g / N, stride),
          stride);
      fft_small<LOG2, false> (v + g);
    }
#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      const unsigned k = i + g / N * blockDim.x;

      if (g > 0 && k >= stride)
        break;
      if (!is_inside) {
#pragma unroll
        for (int m = 0; m < N; m++)
          z[fft_place (k) + m * step] = v[g + m];
      } else if (args.run.out.is_double) {
        fft_write<N> (v + g, k, stride, n_before, frames,
            samples_from<double> (args.run.out, tile.channel, begin).data);
      } else {
        fft_write<N> (v + g, k, stride, n_before, frames,
            samples_from<float> (args.run.out, tile.channel, begin).data);
      }
    }
  }
}

/* Back from what fft_multiply() has made ready. */
template <typename R>
TFX_DEVICE_FN void
fft_synthesise (const TfxFftArgs &args, const FftTile &tile, Complex<R> *z,
    const Complex<R> *twiddles)
{
  const unsigned first_log2 = fft_first_log2<R> (args.log2);
  const long long begin = fft_begin (args, tile);
  const bool is_inside =
      first_log2 > 0 && begin >= 0 && args.run.sum.data == nullptr &&
      (unsigned long long)(begin + args.n_out) <= args.run.n_frames;

  fft_backward (z, twiddles, args.log2);
  __syncthreads ();
  if (first_log2 == 1)
    fft_store<1> (args, tile, is_inside, z, twiddles);
  else if (first_log2 == 2)
    fft_store<2> (args, tile, is_inside, z, twiddles);
  else if (fft_is_short<R> ())
    fft_store<TFX_FFT_RUN_LOG2> (args, tile, is_inside, z, twiddles);
  if (is_inside)
    return;
  __syncthreads ();
  fft_scatter (args, tile, z);
}

#endif
