/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.h: transforms of real samples by a block of threads, in shared memory.
 *
 * 2 P real samples are P complex numbers, the even samples and the odd ones.  A
 * transform of those in radix 4 (J. W. Cooley and J. W. Tukey, 1965; decimation
 * in frequency, in place, the result in bit-reversed order) and a pass that tells
 * even from odd make the spectrum X[0 ... P]; X[0] and X[P] are real and share a
 * place.  Back the same way, decimation in time: what is in bit-reversed order
 * comes out in order, and nobody sorts.
 *
 * Nothing is divided: fft_split() makes 2 X, fft_join() twice the numbers for it,
 * fft_backward() P times the samples, in all 4 P times what went in. */
#ifndef TFX_KERNEL_FFT_H
#define TFX_KERNEL_FFT_H

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

/* Where number i stands.  Eight numbers of 16 bytes fill the banks; bits 3 and 4
 * turn the places of eight around, so that neighbouring threads meet no bank twice
 * in any pass.  The bits of a place are sums, modulo 2, of bits of i: the place of
 * i + j, which have no bit in common, is fft_place (i) ^ fft_place (j). */
TFX_DEVICE_FN unsigned
fft_place (unsigned i)
{
  return i ^ (i >> 3 & 1) * 3 ^ (i >> 4 & 1) * 6;
}

TFX_DEVICE_FN unsigned
fft_reverse (unsigned i, unsigned log2)
{
  return __brev (i) >> (32 - log2);
}

/* One pass of radix 4 over groups of `length` numbers.  twiddles[k] is
 * exp (-i pi k / P). */
template <typename R, bool FORWARD>
TFX_DEVICE_FN void
fft_pass (Complex<R> *z, const Complex<R> *twiddles, unsigned log2,
    unsigned length_log2)
{
  const unsigned quarter_log2 = length_log2 - 2, quarter = 1u << quarter_log2;
  const unsigned step = log2 + 1 - length_log2;
  const unsigned place1 = fft_place (quarter), place2 = fft_place (2 * quarter);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < 1u << (log2 - 2); i += blockDim.x) {
    unsigned j = i & (quarter - 1);
    unsigned at = fft_place ((i >> quarter_log2 << length_log2) + j);
    Complex<R> *p0 = z + at, *p1 = z + (at ^ place1);
    Complex<R> *p2 = z + (at ^ place2), *p3 = z + (at ^ place1 ^ place2);
    Complex<R> w1 = twiddles[j << step], w2 = twiddles[2 * j << step];
    Complex<R> w3 = twiddles[3 * j << step];
    Complex<R> s, d, t, u;

    if (FORWARD) {
      s = complex_add (*p0, *p2);
      d = complex_sub (*p0, *p2);
      t = complex_add (*p1, *p3);
      u = complex_turn (complex_sub (*p3, *p1));
      *p0 = complex_add (s, t);
      *p1 = complex_mul (complex_sub (s, t), w2);
      *p2 = complex_mul (complex_add (d, u), w1);
      *p3 = complex_mul (complex_sub (d, u), w3);
    } else {
      Complex<R> y1 = complex_mul (*p2, complex_conj (w1));
      Complex<R> y2 = complex_mul (*p1, complex_conj (w2));
      Complex<R> y3 = complex_mul (*p3, complex_conj (w3));

      s = complex_add (*p0, y2);
      d = complex_sub (*p0, y2);
      t = complex_add (y1, y3);
      u = complex_turn (complex_sub (y1, y3));
      *p0 = complex_add (s, t);
      *p2 = complex_sub (s, t);
      *p1 = complex_add (d, u);
      *p3 = complex_sub (d, u);
    }
  }
}

/* The pass that an odd power of two needs besides, over pairs. */
template <typename R>
TFX_DEVICE_FN void
fft_pairs (Complex<R> *z, unsigned log2)
{
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < 1u << (log2 - 1); i += blockDim.x) {
    unsigned at = fft_place (2 * i);
    Complex<R> *p0 = z + at, *p1 = z + (at ^ 1);
    Complex<R> a = *p0, b = *p1;

    *p0 = complex_add (a, b);
    *p1 = complex_sub (a, b);
  }
}

/* All threads take part, before and after meet. */
template <typename R>
TFX_DEVICE_FN void
fft_forward (Complex<R> *z, const Complex<R> *twiddles, unsigned log2)
{
  unsigned length_log2 = log2;

#pragma unroll 1
  for (; length_log2 >= 2; length_log2 -= 2) {
    fft_pass<R, true> (z, twiddles, log2, length_log2);
    __syncthreads ();
  }
  if (length_log2 == 1) {
    fft_pairs (z, log2);
    __syncthreads ();
  }
}

template <typename R>
TFX_DEVICE_FN void
fft_backward (Complex<R> *z, const Complex<R> *twiddles, unsigned log2)
{
  if (log2 & 1) {
    fft_pairs (z, log2);
    __syncthreads ();
  }
#pragma unroll 1
  for (unsigned length_log2 = 2 + (log2 & 1); length_log2 <= log2;
       length_log2 += 2) {
    fft_pass<R, false> (z, twiddles, log2, length_log2);
    __syncthreads ();
  }
}

/* The places of k and P - k, in bit-reversed order, for the i-th of P / 2 pairs,
 * i > 0: in [2^m, 2^(m + 1)) they mirror each other, so neighbouring threads find
 * neighbouring places on both sides. */
TFX_DEVICE_FN void
fft_pair (unsigned i, unsigned *r, unsigned *s)
{
  unsigned first = 1u << (31 - __clz ((int)i));

  *r = i + first;
  *s = 6 * first - 1 - *r;
}

/* The P numbers' transform to that of the 2 P samples: X[k] = E[k] + w^k O[k],
 * X[P - k] = conj (E[k] - w^k O[k]), E and O being those of the even and of the
 * odd samples. */
template <typename R>
TFX_DEVICE_FN void
fft_split (Complex<R> *z, const Complex<R> *twiddles, unsigned log2)
{
  const unsigned half = 1u << (log2 - 1);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < half; i += blockDim.x) {
    unsigned r = 1, s = 1;
    Complex<R> *p, *q, a, b, e, o;

    if (i == 0) {
      a = z[0];
      a = Complex<R>{ real_add (a.re, a.im), real_add (a.re, real_neg (a.im)) };
      z[0] = complex_add (a, a);
    } else {
      fft_pair (i, &r, &s);
    }
    p = z + fft_place (r);
    q = z + fft_place (s);
    a = *p;
    b = complex_conj (*q);
    e = complex_add (a, b);
    o = complex_turn (complex_sub (b, a));
    o = complex_mul (o, twiddles[fft_reverse (r, log2)]);
    *p = complex_add (e, o);
    if (r != s)
      *q = complex_conj (complex_sub (e, o));
  }
}

/* And back: Z[k] = E[k] + i O[k], Z[P - k] = conj (E[k]) + i conj (O[k]). */
template <typename R>
TFX_DEVICE_FN void
fft_join (Complex<R> *z, const Complex<R> *twiddles, unsigned log2)
{
  const unsigned half = 1u << (log2 - 1);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < half; i += blockDim.x) {
    unsigned r = 1, s = 1;
    Complex<R> *p, *q, a, b, e, o;

    if (i == 0) {
      a = z[0];
      z[0] =
          Complex<R>{ real_add (a.re, a.im), real_add (a.re, real_neg (a.im)) };
    } else {
      fft_pair (i, &r, &s);
    }
    p = z + fft_place (r);
    q = z + fft_place (s);
    a = *p;
    b = complex_conj (*q);
    e = complex_add (a, b);
    o = complex_sub (a, b);
    o = complex_mul (o, complex_conj (twiddles[fft_reverse (r, log2)]));
    *p = complex_add (e, complex_turn (o));
    if (r != s)
      *q = complex_add (complex_conj (e), complex_turn (complex_conj (o)));
  }
}

#endif
