/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.cu: FIRs of many taps by transforms, in one launch.
 *
 * Overlap-save over a partitioned kernel (T. G. Stockham, 1966; B. D. Kulp,
 * 1988): the stream is split into tiles of P frames at multiples of P from its
 * start, the taps into partitions of P.  X[t] is the spectrum of tiles t - 1 and t;
 * the output of tile t is the second half of the inverse transform of the sum over q
 * of X[t - q] H[q].  With one partition no spectrum is kept, and tiles start with the
 * block: a tile then has all frames of the 2 P whose past is in the transform.
 *
 * A block of threads computes one tile of a channel: it computes and publishes X[t],
 * sums the products and transforms them back.  Spectra of earlier launches remain in
 * memory.  X of an incomplete tile, with zeros for its later frames, is computed
 * again when these arrive; no output depends on the zeros.  A ticket assigns tiles in
 * the order of time, so a tile waits only for tiles of blocks that already run and
 * publish without waiting.
 *
 * A matrix of kernels takes two launches: one publishes the spectra of all inputs, and
 * one sums the products of an output over its inputs, and transforms the sum back.
 *
 * R: type of the transforms; S: type of the spectra and of the sums.  For float
 * streams the transforms have double precision, or nearly.  Spectra of several
 * partitions, most of which are read from memory, and of Twofold are floats: rounding
 * of a spectrum is relative to each frequency, whereas rounding in a transform
 * spreads from loud to quiet frequencies. */
#include "fft-frames.h"

/* Blocks on a multiprocessor, in double, as registers allow; of smaller ones as many
 * more. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 900
#define FFT_BLOCKS 3
#else
#define FFT_BLOCKS 2
#endif

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

/* True if blocks wait for the spectra of others. */
TFX_DEVICE_FN bool
fft_has_history (const TfxFftArgs &args)
{
  return args.n_partitions > 1 && args.work == TFX_FFT_ALL;
}

TFX_DEVICE_FN void
fft_next (const TfxFftArgs &args, volatile FftTile *tile)
{
  bool has_history = fft_has_history (args);
  unsigned ticket =
      has_history ? atomicAdd (args.control, 1u) : (unsigned)blockIdx.x;
  unsigned index = ticket / args.run.n_channels;

  tile->index = index;
  tile->channel = ticket % args.run.n_channels;
  tile->slot = (args.slot + index) % args.n_slots;
  /* Nobody writes it before the last block has ended. */
  tile->epoch = has_history ? args.control[2] + 1 : 0;
}

/* ---- products ------------------------------------------------------------ */

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
    if (args.work == TFX_FFT_ALL) {
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

/* Products whose operands a thread loads at a time, to hide the latency of the
 * second-level cache. */
template <typename S>
TFX_DEVICE_FN constexpr int
fft_n_products (void)
{
  return sizeof (S) == sizeof (float) ? 4 : 2;
}

/* Where the products of a pair of places r and s are made. */
template <typename S> struct FftPair
{
  unsigned r, s;
  bool is_first;
  Spectral<S> sums[2];
};

/* sums += X[t - q] H[q] for N partitions from q on. */
template <int N, typename S>
TFX_DEVICE_FN void
fft_add_past (const TfxFftArgs &args, const FftTile &tile, unsigned q,
    const Spectral<S> *history, const Spectral<S> *kernel, FftPair<S> &pair)
{
  const unsigned log2 = args.log2;
  Spectral<S> x[N][2], h[N][2];

#pragma unroll
  for (int k = 0; k < N; k++) {
    const unsigned back = q + (unsigned)k;
    const unsigned slot =
        tile.slot + (tile.slot < back ? args.n_slots : 0) - back;
    const Spectral<S> *from = history + ((size_t)slot << log2);
    const Spectral<S> *by = kernel + ((size_t)back << log2);

    load_fresh (&from[pair.r].re, &x[k][0].re, &x[k][0].im);
    load_fresh (&from[pair.s].re, &x[k][1].re, &x[k][1].im);
    h[k][0] = by[pair.r];
    h[k][1] = by[pair.s];
  }
#pragma unroll
  for (int k = 0; k < N; k++) {
    spectral_add (x[k][0], h[k][0], pair.is_first, pair.sums[0]);
    spectral_add (x[k][1], h[k][1], false, pair.sums[1]);
  }
}

/* sums += X[t - q] H[q] for all partitions from q on, N at a time. */
template <int N, typename S>
TFX_DEVICE_FN void
fft_add_all (const TfxFftArgs &args, const FftTile &tile, unsigned q,
    const Spectral<S> *history, const Spectral<S> *kernel, FftPair<S> &pair)
{
#pragma unroll 1
  for (; q + N <= args.n_partitions; q += N)
    fft_add_past<N> (args, tile, q, history, kernel, pair);
#pragma unroll 1
  for (; q < args.n_partitions; q++)
    fft_add_past<1> (args, tile, q, history, kernel, pair);
}

/* a, b = the sums of an output of a matrix over its inputs, in the precision of the
 * transforms, so that the error does not grow with the inputs. */
template <typename R, typename S>
TFX_DEVICE_FN void
fft_add_inputs (const TfxFftArgs &args, const FftTile &tile, FftPair<S> &pair,
    Complex<R> &a, Complex<R> &b)
{
  const unsigned n = args.run.n_channels;

  a = b = {};
#pragma unroll 1
  for (unsigned k = 0; k < n; k++) {
    const int number = args.matrix[tile.channel * n + k];

    if (number < 0)
      continue;
    pair.sums[0] = pair.sums[1] = {};
    fft_add_all<2> (args, tile, 0,
        (const Spectral<S> *)args.history +
            ((size_t)k * args.n_slots << args.log2),
        (const Spectral<S> *)args.spectra +
            ((size_t)number * args.n_partitions << args.log2),
        pair);
    a = complex_add (a, spectral_to<R> (pair.sums[0]));
    b = complex_add (b, spectral_to<R> (pair.sums[1]));
  }
}

/* z = sum over q of X[t - q] H[q], in places r and s, ready to go back.  With a
 * history z is X[t] before, without one its transform; an output of a matrix needs the
 * history alone. */
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
  /* The loads of two pairs at a time. */
  [[maybe_unused]] const int UNROLL =
      fft_is_short<R> () && !HAS_HISTORY ? 2 : 1;

#pragma unroll UNROLL
  for (unsigned i = threadIdx.x; i < size / 2; i += blockDim.x) {
    const Complex<R> w = twiddles[size + i];
    FftPair<S> pair = {};
    Complex<R> a, b;

    fft_pair (i, &pair.r, &pair.s);
    pair.is_first = i == 0;
    if (HAS_HISTORY && args.work == TFX_FFT_BACKWARD) {
      fft_add_inputs (args, tile, pair, a, b);
    } else {
      a = z[fft_place (pair.r)];
      b = z[fft_place (pair.s)];
      if (!HAS_HISTORY)
        fft_split (i == 0, w, &a, &b);
      spectral_add (spectral_from<R, S> (a), kernel[pair.r], i == 0,
          pair.sums[0]);
      spectral_add (spectral_from<R, S> (b), kernel[pair.s], false,
          pair.sums[1]);
      if (HAS_HISTORY)
        fft_add_all<fft_n_products<S> ()> (args, tile, 1, history, kernel,
            pair);
      a = spectral_to<R> (pair.sums[0]);
      b = spectral_to<R> (pair.sums[1]);
    }
    fft_join (i == 0, w, &a, &b);
    z[fft_place (pair.r)] = a;
    z[fft_place (pair.s)] = b;
  }
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
    /* Never 0, the epoch of slots that were never filled. */
    args.control[2] = epoch == 0xffffffff ? 0 : epoch;
  }
}

/* False: there are several partitions. */
template <typename R, typename S>
TFX_DEVICE_FN constexpr bool
fft_may_be_alone (void)
{
  return !real_is_short (R ()) || sizeof (S) == sizeof (R);
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
  if (args.work != TFX_FFT_BACKWARD) {
    fft_analyse (args, tile, z, twiddles);
    if (args.work != TFX_FFT_ALL || fft_has_history (args))
      fft_publish<R, S> (args, tile, z, twiddles);
    if (args.work != TFX_FFT_ALL)
      return;
  }
  if (tile.index >= args.n_silent) {
    if (fft_has_history (args))
      fft_wait (args, tile);
    if (fft_has_history (args) || args.work == TFX_FFT_BACKWARD) {
      fft_multiply<true, R, S> (args, tile, z, twiddles);
    } else if (fft_may_be_alone<R, S> ()) {
      fft_multiply<false, R, S> (args, tile, z, twiddles);
    }
    fft_synthesise (args, tile, z, twiddles);
  }
  if (threadIdx.x == 0 && fft_has_history (args))
    fft_end (args, tile);
}

#if !defined(FFT_ONLY) || defined(FFT_DOUBLE)
TFX_KERNEL (tfx_fft_f64, TfxFftArgs, TFX_FFT_THREADS, FFT_BLOCKS)
{
  TFX_DYNAMIC_SHARED (shared);
  fft_run<double, double> (args, shared);
}
#endif

#if !defined(FFT_ONLY) || defined(FFT_FLOAT_DOUBLE)
TFX_KERNEL (tfx_fft_f32_double, TfxFftArgs, TFX_FFT_THREADS, FFT_BLOCKS)
{
  TFX_DYNAMIC_SHARED (shared);
  fft_run<double, float> (args, shared);
}
#endif

#if !defined(FFT_ONLY) || defined(FFT_FLOAT_TWOFOLD)
TFX_KERNEL (tfx_fft_f32_twofold, TfxFftArgs, TFX_FFT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  fft_run<Twofold, float> (args, shared);
}
#endif
