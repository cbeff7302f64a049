/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.h: transforms of real samples by a block of threads, in shared memory.
 *
 * 2 P real samples are P complex numbers: even samples and odd samples.  Their
 * transform (J. W. Cooley and J. W. Tukey, 1965; decimation in frequency, in place,
 * result in bit-reversed order) and a pass that separates even from odd give the
 * spectrum X[0 ... P]; X[0] and X[P] are real and share an element.  The inverse uses
 * decimation in time, from bit-reversed order to natural order, so no pass reorders.
 *
 * The first forward pass, which is the last inverse pass, has radix 2, 4 or 8, so
 * that all others have radix 8.  A thread has eight numbers in registers.
 *
 * The passes do not normalise: fft_split() gives 2 X, fft_join() doubles again, and
 * the inverse passes give P times the samples, in all 4 P times the input. */
#ifndef TFX_KERNEL_FFT_H
#define TFX_KERNEL_FFT_H

#include "args.h"
#include "real.h"

template <typename R> struct alignas (16) Complex
{
  R re, im;
};

template <typename R>
TFX_DEVICE_FN Complex<R>
complex_add (const Complex<R> &a, const Complex<R> &b)
{
  return Complex<R>{ real_add (a.re, b.re), real_add (a.im, b.im) };
}

template <typename R>
TFX_DEVICE_FN Complex<R>
complex_sub (const Complex<R> &a, const Complex<R> &b)
{
  return Complex<R>{ real_add (a.re, real_neg (b.re)),
    real_add (a.im, real_neg (b.im)) };
}

/* i a */
template <typename R>
TFX_DEVICE_FN Complex<R>
complex_turn (const Complex<R> &a)
{
  return Complex<R>{ real_neg (a.im), a.re };
}

template <typename R>
TFX_DEVICE_FN Complex<R>
complex_conj (const Complex<R> &a)
{
  return Complex<R>{ a.re, real_neg (a.im) };
}

template <typename R>
TFX_DEVICE_FN Complex<R>
complex_mul (const Complex<R> &a, const Complex<R> &b)
{
  return Complex<R>{ real_fma (a.re, b.re, real_neg (real_mul (a.im, b.im))),
    real_fma (a.re, b.im, real_mul (a.im, b.re)) };
}

/* a exp (-2 pi i n / 8), or its conjugate back; n < 4. */
template <bool FORWARD, typename R>
TFX_DEVICE_FN Complex<R>
complex_turn_eighths (const Complex<R> &a, int n)
{
  R half, s, d;

  if (n == 0)
    return a;
  if (n == 2)
    return FORWARD ? Complex<R>{ a.im, real_neg (a.re) } : complex_turn (a);
  real_root_half (&half);
  s = real_mul (real_add (a.re, a.im), half);
  d = real_mul (real_add (a.im, real_neg (a.re)), half);
  if (n == 1)
    return FORWARD ? Complex<R>{ s, d } : Complex<R>{ real_neg (d), s };
  return FORWARD ? Complex<R>{ d, real_neg (s) }
                 : Complex<R>{ real_neg (s), real_neg (d) };
}

/* True if the operations of a transform cost less than what is about them. */
template <typename R>
TFX_DEVICE_FN constexpr bool
fft_is_short (void)
{
  return TFX_FAST_DOUBLE && real_is_short (R ());
}

/* The transform of 2^LOG2 numbers, the result in bit-reversed order; or back. */
template <int LOG2, bool FORWARD, typename R>
TFX_DEVICE_FN void
fft_small (Complex<R> *v)
{
#pragma unroll
  for (int k = 0; k < LOG2; k++) {
    const int half_log2 = FORWARD ? LOG2 - 1 - k : k;

#pragma unroll
    for (int i = 0; i < (1 << LOG2) / 2; i++) {
      const int j = i & ((1 << half_log2) - 1);
      const int at = (i >> half_log2 << (half_log2 + 1)) + j;
      const int turn = j << 2 >> half_log2;
      const Complex<R> a = v[at], b = v[at + (1 << half_log2)];

      if (FORWARD) {
        v[at] = complex_add (a, b);
        v[at + (1 << half_log2)] =
            complex_turn_eighths<true> (complex_sub (a, b), turn);
      } else {
        const Complex<R> c = complex_turn_eighths<false> (b, turn);

        v[at] = complex_add (a, c);
        v[at + (1 << half_log2)] = complex_sub (a, c);
      }
    }
  }
}

/* Where number i stands.  Eight numbers of 16 bytes fill the banks: with one place
 * left out after each eight, neighbouring threads meet no bank twice in any pass.
 * The place of i + j, which have no bit in common, is that of i and that of j on. */
TFX_DEVICE_FN unsigned
fft_place (unsigned i)
{
  return i + (i >> 3);
}

/* The first pass is of 2^this numbers, what is left when all others are of radix 8.
 * Where an operation is long, so is the code of a pass: then all of radix 8 are one
 * loop, and this may be 0. */
template <typename R>
TFX_DEVICE_FN unsigned
fft_first_log2 (unsigned log2)
{
  const unsigned rest = log2 % TFX_FFT_RUN_LOG2;

  return rest == 0 && fft_is_short<R> () ? TFX_FFT_RUN_LOG2 : rest;
}

/* n with its LOG2 bits, at most 3, in reverse order. */
template <int LOG2>
TFX_DEVICE_FN constexpr int
fft_reverse (int n)
{
  return LOG2 == 3   ? (n & 1) << 2 | (n & 2) | n >> 2
         : LOG2 == 2 ? (n & 1) << 1 | n >> 1
                     : n;
}

/* 1: twiddles are made of two that are loaded.  A pass waits for memory where a
 * multiprocessor does 64 operations on doubles a clock; where it does 32, up to compute
 * capability 8.0, it would wait for double (counted, not measured). */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define FFT_MAKES_TWIDDLES 0
#else
#define FFT_MAKES_TWIDDLES 1
#endif

/* Times the twiddles of a pass over groups of `length` numbers, `stride` apart, which
 * begin at P - length: [n - 1][stride], those of number n of a group.  They are the
 * powers of one. */
template <int LOG2, bool FORWARD, typename R>
TFX_DEVICE_FN void
fft_twiddle (Complex<R> *v, const Complex<R> *twiddles, unsigned stride)
{
  const bool IS_MADE = FFT_MAKES_TWIDDLES && fft_is_short<R> ();
  Complex<R> w[1 << LOG2];

#pragma unroll
  for (int power = 1; power < 1 << LOG2; power++) {
    const int n = fft_reverse<LOG2> (power), step = power % 2 ? 1 : 2;

    if (power <= 2 || !IS_MADE)
      w[power] = twiddles[(n - 1) * stride];
    else
      w[power] = complex_mul (w[power - step], w[step]);
    v[n] = complex_mul (v[n], FORWARD ? w[power] : complex_conj (w[power]));
  }
}

/* A pass of radix 8 over groups of 8 << stride_log2 numbers.  Those of one number
 * after the other have no twiddles. */
template <bool FORWARD, typename R>
TFX_DEVICE_FN void
fft_pass (Complex<R> *z, const Complex<R> *twiddles, unsigned log2,
    int stride_log2, bool has_twiddles)
{
  const unsigned stride = 1u << stride_log2, step = fft_place (stride);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < 1u << (log2 - TFX_FFT_RUN_LOG2);
       i += blockDim.x) {
    unsigned j = i & (stride - 1);
    Complex<R> *at = z + fft_place (((i - j) << TFX_FFT_RUN_LOG2) + j);
    const Complex<R> *w =
        twiddles + (1u << log2) - (stride << TFX_FFT_RUN_LOG2) + j;
    Complex<R> v[TFX_FFT_RUN];

#pragma unroll
    for (int m = 0; m < TFX_FFT_RUN; m++)
      v[m] = at[m * step];
    if (!FORWARD && has_twiddles)
      fft_twiddle<TFX_FFT_RUN_LOG2, false> (v, w, stride);
    fft_small<TFX_FFT_RUN_LOG2, FORWARD> (v);
    if (FORWARD && has_twiddles)
      fft_twiddle<TFX_FFT_RUN_LOG2, true> (v, w, stride);
#pragma unroll
    for (int m = 0; m < TFX_FFT_RUN; m++)
      at[m * step] = v[m];
  }
}

/* All passes but the first. All threads take part, and synchronize before each
 * pass. Types with short code have a separate version of the pass without twiddles. */
template <typename R>
TFX_DEVICE_FN void
fft_forward (Complex<R> *z, const Complex<R> *twiddles, unsigned log2)
{
  const bool is_short = fft_is_short<R> ();

#pragma unroll 1
  for (int stride_log2 =
           (int)(log2 - fft_first_log2<R> (log2)) - TFX_FFT_RUN_LOG2;
       stride_log2 >= (is_short ? 1 : 0); stride_log2 -= TFX_FFT_RUN_LOG2) {
    __syncthreads ();
    fft_pass<true> (z, twiddles, log2, stride_log2,
        is_short || stride_log2 > 0);
  }
  if (is_short) {
    __syncthreads ();
    fft_pass<true> (z, twiddles, log2, 0, false);
  }
}

/* And back, all but the last. */
template <typename R>
TFX_DEVICE_FN void
fft_backward (Complex<R> *z, const Complex<R> *twiddles, unsigned log2)
{
  const bool is_short = fft_is_short<R> ();

  if (is_short) {
    __syncthreads ();
    fft_pass<false> (z, twiddles, log2, 0, false);
  }
#pragma unroll 1
  for (int stride_log2 = is_short ? TFX_FFT_RUN_LOG2 : 0;
       stride_log2 + TFX_FFT_RUN_LOG2 <= (int)(log2 - fft_first_log2<R> (log2));
       stride_log2 += TFX_FFT_RUN_LOG2) {
    __syncthreads ();
    fft_pass<false> (z, twiddles, log2, stride_log2,
        is_short || stride_log2 > 0);
  }
}

/* ---- even and odd samples ---------------------------------------------------- */

/* The places of k and P - k, in bit-reversed order, for the i-th of P / 2 pairs: in
 * [2^m, 2^(m + 1)) they mirror each other, so neighbouring threads find neighbouring
 * places on both sides.  The first pair are the two that have no other: 0 and P / 2. */
TFX_DEVICE_FN void
fft_pair (unsigned i, unsigned *r, unsigned *s)
{
  unsigned first = 1u << (31 - __clz ((int)(i | 1)));

  *r = i == 0 ? 0 : i + first;
  *s = i == 0 ? 1 : 5 * first - 1 - i;
}

/* A pair of the P numbers' transform to that of the 2 P samples: X[k] = E[k] + w^k
 * O[k], X[P - k] = conj (E[k] - w^k O[k]), E and O being those of the even and of
 * the odd samples.  w^k of pair i is twiddles[P + i]. */
template <typename R>
TFX_DEVICE_FN void
fft_split (bool is_first, const Complex<R> &w, Complex<R> *p, Complex<R> *q)
{
  const Complex<R> a = *p, b = complex_conj (*q);

  if (is_first) {
    const Complex<R> c = { real_add (a.re, a.im),
      real_add (a.re, real_neg (a.im)) };

    *p = complex_add (c, c);
    *q = complex_add (b, b);
  } else {
    const Complex<R> e = complex_add (a, b);
    const Complex<R> o = complex_mul (complex_turn (complex_sub (b, a)), w);

    *p = complex_add (e, o);
    *q = complex_conj (complex_sub (e, o));
  }
}

/* And back: Z[k] = E[k] + i O[k], Z[P - k] = conj (E[k]) + i conj (O[k]). */
template <typename R>
TFX_DEVICE_FN void
fft_join (bool is_first, const Complex<R> &w, Complex<R> *p, Complex<R> *q)
{
  const Complex<R> a = *p, b = complex_conj (*q);

  if (is_first) {
    *p = Complex<R>{ real_add (a.re, a.im), real_add (a.re, real_neg (a.im)) };
    *q = complex_add (b, b);
  } else {
    const Complex<R> e = complex_add (a, b);
    const Complex<R> o = complex_mul (complex_sub (a, b), complex_conj (w));

    *p = complex_add (e, complex_turn (o));
    *q = complex_add (complex_conj (e), complex_turn (complex_conj (o)));
  }
}

#endif
