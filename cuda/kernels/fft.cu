/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.cu: FIRs of many taps by transforms, in one launch.
 *
 * Overlap-save over a partitioned kernel (T. G. Stockham, 1966; B. D. Kulp,
 * 1988): the stream is cut into tiles of P frames at multiples of P since its
 * beginning, the taps into partitions of P.  The spectrum X[t] is that of tile
 * t and the tile before it; the output of tile t is the last half of what
 * sum over q of X[t - q] H[q] is the spectrum of.
 *
 * A block of threads takes one tile of a channel: it makes X[t], lets others
 * have it, adds up the products and goes back.  Spectra of earlier launches are
 * still there; X of a tile that the stream has not filled is made anew when more
 * of it has come, with zeros for the future, which no output sees.  Tiles are
 * handed out by a ticket in the order of time, so that whatever a tile waits for
 * belongs to a block that already runs, and is made without waiting.
 *
 * R: of the transforms; S: of the spectra that are kept, and of the sums.  For
 * float streams the transforms are in the precision of double, or nearly, the
 * spectra are floats: the rounding of a spectrum is relative to each frequency,
 * that of a transform spreads from the loud ones to the quiet ones. */
#include "fft.h"
#include "ring.h"

#define FFT_THREADS 256

template <typename S> struct alignas (2 * sizeof (S)) Spectral
{
  S re, im;
};

/* In the precision of a spectrum. */
TFX_DEVICE_FN float
sum_fma (float a, float b, float c)
{
  return __fmaf_rn (a, b, c);
}

TFX_DEVICE_FN double
sum_fma (double a, double b, double c)
{
  return __fma_rn (a, b, c);
}

/* sum += a b; in place 0 stand two real numbers. */
template <typename S>
TFX_DEVICE_FN void
spectral_add (const Spectral<S> &a, const Spectral<S> &b, bool apart,
    Spectral<S> &sum)
{
  if (apart) {
    sum.re = sum_fma (a.re, b.re, sum.re);
    sum.im = sum_fma (a.im, b.im, sum.im);
  } else {
    sum.re = sum_fma (a.re, b.re, sum_fma (-a.im, b.im, sum.re));
    sum.im = sum_fma (a.re, b.im, sum_fma (a.im, b.re, sum.im));
  }
}

/* What a block works on.  It stands in shared memory. */
struct FftTile
{
  unsigned index; /* of this launch's */
  unsigned channel, slot;
  unsigned epoch;
};

static_assert (sizeof (FftTile) == TFX_FFT_HEADER, "the numbers follow");

TFX_DEVICE_FN bool
fft_has_history (const TfxFftArgs &args)
{
  return args.n_partitions > 1 && !args.of_taps;
}

TFX_DEVICE_FN void
fft_next (const TfxFftArgs &args, volatile FftTile *tile)
{
  bool has_history = fft_has_history (args);
  unsigned ticket =
      has_history ? atomicAdd (args.control, 1u) : (unsigned)blockIdx.x;
  unsigned index = ticket / args.n_channels;

  tile->index = index;
  tile->channel = ticket % args.n_channels;
  tile->slot = (args.slot + index) % args.n_slots;
  /* Nobody writes it before the last block has ended. */
  tile->epoch = has_history ? args.control[2] + 1 : 0;
}

/* ---- frames -------------------------------------------------------------------- */

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
  if ((unsigned long long)n >= args.n_frames)
    return 0.0;
  x = any_read (args.in, channel, (unsigned long long)n);
  sound = sound_or_zero (x, args.limit);
  if (is_own) {
    if (!(sound == x))
      args.cleared[channel] = 1;
    ring_keep (args.ring, channel, (unsigned long long)n, sound);
  }
  return sound;
}

/* The tile and the one before it, number i being frames 2 i and 2 i + 1; or a
 * partition of taps and zeros. */
template <typename R>
TFX_DEVICE_FN void
fft_gather (const TfxFftArgs &args, const FftTile &tile, Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  const bool is_heard = !args.of_taps && tile.index >= args.n_silent;
  long long begin = args.start + (long long)tile.index * size;

  if (!args.of_taps)
    begin -= size;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    const bool is_own = is_heard && i >= size / 2;
    const long long n = begin + 2 * i;
    double re = 0.0, im = 0.0;

    if (!args.of_taps || i < size / 2) {
      re = fft_frame (args, tile.channel, n, is_own);
      im = fft_frame (args, tile.channel, n + 1, is_own);
    }
    real_set (re, &z[fft_place (i)].re);
    real_set (im, &z[fft_place (i)].im);
  }
}

/* N numbers, `step` frames from one to the next; false if some counted as 0. */
template <int N, typename R, typename IO>
TFX_DEVICE_FN bool
fft_fetch (const IO *from, long long stride, long long step, IO limit,
    Complex<R> *v)
{
  IO x[2 * N];
  bool is_sound = true;

#pragma unroll
  for (int m = 0; m < N; m++) {
    x[2 * m] = from[0];
    x[2 * m + 1] = from[stride];
    from += step;
  }
#pragma unroll
  for (int m = 0; m < N; m++) {
    /* A NaN is not less than anything. */
    const bool a = fabs (x[2 * m]) <= limit, b = fabs (x[2 * m + 1]) <= limit;

    is_sound = is_sound && a && b;
    real_set (a ? x[2 * m] : (IO)0, &v[m].re);
    real_set (b ? x[2 * m + 1] : (IO)0, &v[m].im);
  }
  return is_sound;
}

/* True if the tile and the one before it are whole in the block, and no later block
 * needs a frame of them. */
TFX_DEVICE_FN bool
fft_is_inside (const TfxFftArgs &args, const FftTile &tile)
{
  const long long size = 1ll << args.log2;
  long long end = args.start + (long long)(tile.index + 1) * size;
  unsigned long long most = args.ring.data != nullptr &&
                                    tile.index >= args.n_silent &&
                                    args.ring.first < args.n_frames
                                ? args.ring.first
                                : args.n_frames;

  return !args.of_taps && end >= 2 * size && (unsigned long long)end <= most;
}

/* Numbers of a thread in registers, in the first pass and the last; of those that
 * take more code than time to load, no more than a group of 2^LOG2. */
template <typename R>
TFX_DEVICE_FN constexpr int
fft_run_of (int n)
{
  return real_is_short (R ()) ? FFT_RUN : n;
}

/* The first pass, from the frames, or from z if it is not is_inside. */
template <int LOG2, typename R>
TFX_DEVICE_FN void
fft_load (const TfxFftArgs &args, const FftTile &tile, bool is_inside,
    Complex<R> *z, const Complex<R> *twiddles)
{
  const int N = 1 << LOG2, RUN = fft_run_of<R> (N);
  const unsigned stride = 1u << (args.log2 - LOG2), step = fft_place (stride);
  const long long frames = args.in.frame_stride;
  const long long begin =
      args.start + ((long long)tile.index - 1) * (1ll << args.log2);
  bool is_sound = true;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < stride; i += RUN / N * blockDim.x) {
    Complex<R> v[RUN];

#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      const unsigned k = i + g / N * blockDim.x;
      const long long n = begin + 2 * (long long)k;

      if (g > 0 && k >= stride)
        continue;
      if (!is_inside) {
#pragma unroll
        for (int m = 0; m < N; m++)
          v[g + m] = z[fft_place (k) + m * step];
      } else if (args.in.is_double) {
        is_sound &= fft_fetch<N> (
            samples_from<const double> (args.in, tile.channel, n).data, frames,
            2 * stride * frames, args.limit, v + g);
      } else {
        is_sound &= fft_fetch<N> (
            samples_from<const float> (args.in, tile.channel, n).data, frames,
            2 * stride * frames, (float)args.limit, v + g);
      }
    }
#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      const unsigned k = i + g / N * blockDim.x;

      if (g > 0 && k >= stride)
        continue;
      fft_small<LOG2, true> (v + g);
      fft_twiddle<LOG2, true> (v + g, twiddles + k, stride);
#pragma unroll
      for (int m = 0; m < N; m++)
        z[fft_place (k) + m * step] = v[g + m];
    }
  }
  if (!is_sound)
    args.cleared[tile.channel] = 1;
}

/* All of the transform but what tells even samples from odd ones. */
template <typename R>
TFX_DEVICE_FN void
fft_analyse (const TfxFftArgs &args, const FftTile &tile, Complex<R> *z,
    const Complex<R> *twiddles)
{
  const unsigned first_log2 = fft_first_log2 (args.log2);
  const bool is_inside = fft_is_inside (args, tile);

  if (!is_inside) {
    fft_gather (args, tile, z);
    __syncthreads ();
  }
  if (first_log2 == 1)
    fft_load<1> (args, tile, is_inside, z, twiddles);
  else if (first_log2 == 2)
    fft_load<2> (args, tile, is_inside, z, twiddles);
  else
    fft_load<3> (args, tile, is_inside, z, twiddles);
  fft_forward (z, twiddles, args.log2);
  __syncthreads ();
}

/* ---- products -------------------------------------------------------------------- */

/* To a spectrum's precision. */
template <typename R, typename S>
TFX_DEVICE_FN Spectral<S>
spectral_from (const Complex<R> &z)
{
  Spectral<S> x;

  real_get (z.re, &x.re);
  real_get (z.im, &x.im);
  return x;
}

template <typename R, typename S>
TFX_DEVICE_FN Complex<R>
spectral_to (const Spectral<S> &x)
{
  Complex<R> z;

  real_set (x.re, &z.re);
  real_set (x.im, &z.im);
  return z;
}

/* Makes X[t], for this block and for others. */
template <typename R, typename S>
TFX_DEVICE_FN void
fft_publish (const TfxFftArgs &args, const FftTile &tile, Complex<R> *z,
    const Complex<R> *twiddles)
{
  const unsigned size = 1u << args.log2;
  size_t at = (size_t)tile.channel * args.n_slots + tile.slot;
  Spectral<S> *to = (Spectral<S> *)args.history + at * size;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size / 2; i += blockDim.x) {
    unsigned r, s;
    Complex<R> a, b;

    fft_pair (i, &r, &s);
    a = z[fft_place (r)];
    b = z[fft_place (s)];
    fft_split (i == 0, twiddles[size + i], &a, &b);
    to[r] = spectral_from<R, S> (a);
    to[s] = spectral_from<R, S> (b);
    if (!args.of_taps) {
      z[fft_place (r)] = a;
      z[fft_place (s)] = b;
    }
  }
  if (!fft_has_history (args))
    return;
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0)
    ((volatile unsigned *)args.control)[4 + at] = tile.epoch;
}

/* Waits for those of the tiles before that are made in this launch. */
TFX_DEVICE_FN void
fft_wait (const TfxFftArgs &args, const FftTile &tile)
{
  const volatile unsigned *filled =
      args.control + 4 + (size_t)tile.channel * args.n_slots;
  unsigned n =
      tile.index < args.n_partitions - 1 ? tile.index : args.n_partitions - 1;

#pragma unroll 1
  for (unsigned q = 1 + threadIdx.x; q <= n; q += blockDim.x) {
    unsigned slot = (tile.slot + args.n_slots - q) % args.n_slots;

    while (filled[slot] != tile.epoch)
      TFX_SLEEP (50);
  }
  __threadfence ();
  __syncthreads ();
}

/* z = sum over q of X[t - q] H[q], in places r and s, ready to go back.  With a
 * history z is X[t] before, without one its transform. */
template <bool HAS_HISTORY, typename R, typename S>
TFX_DEVICE_FN void
fft_multiply (const TfxFftArgs &args, const FftTile &tile, Complex<R> *z,
    const Complex<R> *twiddles)
{
  const unsigned size = 1u << args.log2;
  const Spectral<S> *history = (const Spectral<S> *)args.history +
                               (size_t)tile.channel * args.n_slots * size;
  const Spectral<S> *kernel =
      (const Spectral<S> *)args.spectra +
      (args.per_channel ? (size_t)tile.channel * args.n_partitions * size
                        : (size_t)0);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size / 2; i += blockDim.x) {
    const Complex<R> w = twiddles[size + i];
    Spectral<S> x, sums[2] = {};
    Complex<R> a, b;
    unsigned r, s;

    fft_pair (i, &r, &s);
    a = z[fft_place (r)];
    b = z[fft_place (s)];
    if (!HAS_HISTORY)
      fft_split (i == 0, w, &a, &b);
    spectral_add (spectral_from<R, S> (a), kernel[r], i == 0, sums[0]);
    spectral_add (spectral_from<R, S> (b), kernel[s], false, sums[1]);
    if (HAS_HISTORY) {
      const Spectral<S> *h = kernel + size;
      unsigned slot = tile.slot;

#pragma unroll 4
      for (unsigned q = 1; q < args.n_partitions; q++) {
        const Spectral<S> *from;

        slot = slot == 0 ? args.n_slots - 1 : slot - 1;
        from = history + (size_t)slot * size;
        load_fresh (&from[r].re, &x.re, &x.im);
        spectral_add (x, h[r], i == 0, sums[0]);
        load_fresh (&from[s].re, &x.re, &x.im);
        spectral_add (x, h[s], false, sums[1]);
        h += size;
      }
    }
    a = spectral_to<R> (sums[0]);
    b = spectral_to<R> (sums[1]);
    fft_join (i == 0, w, &a, &b);
    z[fft_place (r)] = a;
    z[fft_place (s)] = b;
  }
}

/* ---- back ------------------------------------------------------------------------ */

/* Frames of the tile that belong to the block. */
template <typename R>
TFX_DEVICE_FN void
fft_scatter (const TfxFftArgs &args, const FftTile &tile, const Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  const long long begin = args.start + (long long)tile.index * size;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    const long long n = begin + i;
    const Complex<R> *c = z + fft_place ((size + i) / 2);
    double y;

    if (n < 0 || (unsigned long long)n >= args.n_frames)
      continue;
    real_get (i & 1 ? c->im : c->re, &y);
    if (args.sum.data != nullptr)
      y = __dadd_rn (y,
          any_read (args.sum, tile.channel, (unsigned long long)n));
    any_write (args.out, tile.channel, (unsigned long long)n, y);
  }
}

/* N numbers, `step` frames from one to the next. */
template <int N, typename R, typename IO>
TFX_DEVICE_FN void
fft_write (const Complex<R> *v, long long stride, long long step, IO *to)
{
#pragma unroll
  for (int m = 0; m < N; m++) {
    real_get (v[m].re, &to[0]);
    real_get (v[m].im, &to[stride]);
    to += step;
  }
}

/* The last pass, of the numbers the last half, to the frames, or to z if the tile is
 * not is_inside. */
template <int LOG2, typename R>
TFX_DEVICE_FN void
fft_store (const TfxFftArgs &args, const FftTile &tile, bool is_inside,
    Complex<R> *z, const Complex<R> *twiddles)
{
  const int N = 1 << LOG2, RUN = fft_run_of<R> (N);
  const unsigned stride = 1u << (args.log2 - LOG2), step = fft_place (stride);
  const long long frames = args.out.frame_stride;
  const long long begin =
      args.start + (long long)tile.index * (1ll << args.log2);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < stride; i += RUN / N * blockDim.x) {
    Complex<R> v[RUN];

#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      const unsigned k = i + g / N * blockDim.x;

      if (g > 0 && k >= stride)
        continue;
#pragma unroll
      for (int m = 0; m < N; m++)
        v[g + m] = z[fft_place (k) + m * step];
    }
#pragma unroll
    for (int g = 0; g < RUN; g += N) {
      const unsigned k = i + g / N * blockDim.x;
      const long long n = begin + 2 * (long long)k;

      if (g > 0 && k >= stride)
        continue;
      fft_twiddle<LOG2, false> (v + g, twiddles + k, stride);
      fft_small<LOG2, false> (v + g);
      if (!is_inside) {
#pragma unroll
        for (int m = N / 2; m < N; m++)
          z[fft_place (k) + m * step] = v[g + m];
      } else if (args.out.is_double) {
        fft_write<N / 2> (v + g + N / 2, frames, 2 * stride * frames,
            samples_from<double> (args.out, tile.channel, n).data);
      } else {
        fft_write<N / 2> (v + g + N / 2, frames, 2 * stride * frames,
            samples_from<float> (args.out, tile.channel, n).data);
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
  const unsigned first_log2 = fft_first_log2 (args.log2);
  const long long size = 1ll << args.log2;
  const long long begin = args.start + (long long)tile.index * size;
  const bool is_inside = begin >= 0 && args.sum.data == nullptr &&
                         (unsigned long long)(begin + size) <= args.n_frames;

  fft_backward (z, twiddles, args.log2);
  __syncthreads ();
  if (first_log2 == 1)
    fft_store<1> (args, tile, is_inside, z, twiddles);
  else if (first_log2 == 2)
    fft_store<2> (args, tile, is_inside, z, twiddles);
  else
    fft_store<3> (args, tile, is_inside, z, twiddles);
  if (is_inside)
    return;
  __syncthreads ();
  fft_scatter (args, tile, z);
}

/* The last block to finish makes ready for the next launch. */
TFX_DEVICE_FN void
fft_end (const TfxFftArgs &args, const FftTile &tile)
{
  unsigned epoch = tile.epoch;

  __threadfence ();
  if (atomicAdd (args.control + 1, 1u) == gridDim.x - 1) {
    /* Behind what the others have read of it. */
    __threadfence ();
    args.control[0] = 0;
    args.control[1] = 0;
    args.control[2] = epoch;
  }
}

template <typename R, typename S>
TFX_DEVICE_FN void
fft_run (const TfxFftArgs &args, unsigned char *shared)
{
  const volatile FftTile *next = (const volatile FftTile *)shared;
  const Complex<R> *twiddles = (const Complex<R> *)args.twiddles;
  Complex<R> *z = (Complex<R> *)(shared + TFX_FFT_HEADER);
  FftTile tile;

  if (threadIdx.x == 0)
    fft_next (args, (volatile FftTile *)shared);
  __syncthreads ();
  tile = FftTile{ next->index, next->channel, next->slot, next->epoch };
  fft_analyse (args, tile, z, twiddles);
  if (args.of_taps || fft_has_history (args))
    fft_publish<R, S> (args, tile, z, twiddles);
  if (args.of_taps)
    return;
  if (tile.index >= args.n_silent) {
    if (fft_has_history (args)) {
      fft_wait (args, tile);
      fft_multiply<true, R, S> (args, tile, z, twiddles);
    } else {
      fft_multiply<false, R, S> (args, tile, z, twiddles);
    }
    fft_synthesise (args, tile, z, twiddles);
  }
  if (threadIdx.x == 0 && fft_has_history (args))
    fft_end (args, tile);
}

#if !defined(FFT_ONLY) || defined(FFT_DOUBLE)
TFX_KERNEL (tfx_fft_f64, TfxFftArgs, FFT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  fft_run<double, double> (args, shared);
}
#endif

#if !defined(FFT_ONLY) || defined(FFT_FLOAT_DOUBLE)
TFX_KERNEL (tfx_fft_f32_double, TfxFftArgs, FFT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  fft_run<double, float> (args, shared);
}
#endif

#if !defined(FFT_ONLY) || defined(FFT_FLOAT_TWOFOLD)
TFX_KERNEL (tfx_fft_f32_twofold, TfxFftArgs, FFT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  fft_run<Twofold, float> (args, shared);
}
#endif
