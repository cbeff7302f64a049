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

/* The tile and the one before it; or a partition of taps and zeros. */
template <typename R>
TFX_DEVICE_FN void
fft_load (const TfxFftArgs &args, const volatile FftTile &tile, Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  long long begin = args.start + (long long)tile.index * size;
  unsigned channel = tile.channel;
  bool is_heard = !args.of_taps && tile.index >= args.n_silent;

  if (!args.of_taps)
    begin -= size;
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    bool used = !args.of_taps || i < size / 2;
    bool is_own = is_heard && i >= size / 2;
    long long n = begin + 2 * i;
    Complex<R> c;

    real_set (used ? fft_frame (args, channel, n, is_own) : 0.0, &c.re);
    real_set (used ? fft_frame (args, channel, n + 1, is_own) : 0.0, &c.im);
    z[fft_place (i)] = c;
  }
}

template <typename R, typename S>
TFX_DEVICE_FN void
fft_publish (const TfxFftArgs &args, const volatile FftTile &tile,
    const Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  size_t at = (size_t)tile.channel * args.n_slots + tile.slot;
  Spectral<S> *to = (Spectral<S> *)args.history + at * size;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    Spectral<S> x;

    real_get (z[fft_place (i)].re, &x.re);
    real_get (z[fft_place (i)].im, &x.im);
    to[i] = x;
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
fft_wait (const TfxFftArgs &args, const volatile FftTile &tile)
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

/* z = sum over q of X[t - q] H[q]; z is X[t] before. */
template <typename R, typename S>
TFX_DEVICE_FN void
fft_multiply (const TfxFftArgs &args, const volatile FftTile &tile,
    Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  const Spectral<S> *history = (const Spectral<S> *)args.history +
                               (size_t)tile.channel * args.n_slots * size;
  const Spectral<S> *kernel =
      (const Spectral<S> *)args.spectra +
      (args.per_channel ? (size_t)tile.channel * args.n_partitions * size
                        : (size_t)0);
  unsigned own = tile.slot;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    Complex<R> *place = z + fft_place (i);
    Spectral<S> x, sum;
    unsigned slot = own;

    real_set (0.0f, &sum.re);
    real_set (0.0f, &sum.im);
    real_get (place->re, &x.re);
    real_get (place->im, &x.im);
    spectral_add (x, kernel[i], i == 0, sum);
#pragma unroll 4
    for (unsigned q = 1; q < args.n_partitions; q++) {
      slot = slot == 0 ? args.n_slots - 1 : slot - 1;
      load_fresh (&history[(size_t)slot * size + i].re, &x.re, &x.im);
      spectral_add (x, kernel[(size_t)q * size + i], i == 0, sum);
    }
    real_set (sum.re, &place->re);
    real_set (sum.im, &place->im);
  }
}

/* Frames of the tile that belong to the block. */
template <typename R>
TFX_DEVICE_FN void
fft_store (const TfxFftArgs &args, const volatile FftTile &tile,
    const Complex<R> *z)
{
  const unsigned size = 1u << args.log2;
  long long begin = args.start + (long long)tile.index * size;
  unsigned channel = tile.channel;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    long long n = begin + i;
    const Complex<R> *c = z + fft_place ((size + i) / 2);
    double y;

    if (n < 0 || (unsigned long long)n >= args.n_frames)
      continue;
    real_get (i & 1 ? c->im : c->re, &y);
    if (args.sum.data != nullptr)
      y = __dadd_rn (y, any_read (args.sum, channel, (unsigned long long)n));
    any_write (args.out, channel, (unsigned long long)n, y);
  }
}

/* The last block to finish makes ready for the next launch. */
TFX_DEVICE_FN void
fft_end (const TfxFftArgs &args, const volatile FftTile &tile)
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
  volatile FftTile *tile = (volatile FftTile *)shared;
  Complex<R> *z = (Complex<R> *)(shared + TFX_FFT_HEADER);
  const Complex<R> *twiddles = (const Complex<R> *)args.twiddles;

  if (threadIdx.x == 0)
    fft_next (args, tile);
  __syncthreads ();
  fft_load (args, *tile, z);
  __syncthreads ();
  fft_forward (z, twiddles, args.log2);
  fft_split (z, twiddles, args.log2);
  __syncthreads ();
  if (args.of_taps || fft_has_history (args))
    fft_publish<R, S> (args, *tile, z);
  if (args.of_taps)
    return;
  if (tile->index >= args.n_silent) {
    if (fft_has_history (args))
      fft_wait (args, *tile);
    fft_multiply<R, S> (args, *tile, z);
    __syncthreads ();
    fft_join (z, twiddles, args.log2);
    __syncthreads ();
    fft_backward (z, twiddles, args.log2);
    fft_store (args, *tile, z);
  }
  if (threadIdx.x == 0 && fft_has_history (args))
    fft_end (args, *tile);
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
