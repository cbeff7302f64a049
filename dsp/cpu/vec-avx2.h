/* SPDX-License-Identifier: LGPL-2.1-or-later
 * vec-avx2.h: vectors of four doubles, with FMA. */
#include <immintrin.h>

#define ISA avx2
#define W 4
#define V_HAS_FMA 1

typedef __m256d V;

static inline V
v_load (const double *p)
{
  return _mm256_load_pd (p);
}

static inline void
v_store (double *p, V a)
{
  _mm256_store_pd (p, a);
}

/* W samples at any address. */
static inline V
v_load_f32 (const float *p)
{
  return _mm256_cvtps_pd (_mm_loadu_ps (p));
}

static inline void
v_store_f32 (float *p, V a)
{
  _mm_storeu_ps (p, _mm256_cvtpd_ps (a));
}

static inline V
v_load_f64 (const double *p)
{
  return _mm256_loadu_pd (p);
}

static inline void
v_store_f64 (double *p, V a)
{
  _mm256_storeu_pd (p, a);
}

static inline V
v_set1 (double a)
{
  return _mm256_set1_pd (a);
}

static inline V
v_mul (V a, V b)
{
  return _mm256_mul_pd (a, b);
}

static inline V
v_add (V a, V b)
{
  return _mm256_add_pd (a, b);
}

/* a b + c */
static inline V
v_fma (V a, V b, V c)
{
  return _mm256_fmadd_pd (a, b, c);
}

/* c - a b */
static inline V
v_fnma (V a, V b, V c)
{
  return _mm256_fnmadd_pd (a, b, c);
}

/* The n doubles at p, over and over; n is 1 or 2. */
static inline __attribute__ ((always_inline)) V
v_repeat (const double *p, unsigned n)
{
  return n == 1 ? _mm256_broadcast_sd (p)
                : _mm256_broadcast_pd ((const __m128d *)p);
}

/* The first n lanes; n is 1 or 2. */
static inline __attribute__ ((always_inline)) void
v_store_first (double *p, V a, unsigned n)
{
  if (n == 1)
    _mm_store_sd (p, _mm256_castpd256_pd128 (a));
  else
    _mm_storeu_pd (p, _mm256_castpd256_pd128 (a));
}

/* The last n lanes of a, over and over; n is 1 or 2. */
static inline __attribute__ ((always_inline)) V
v_repeat_last (V a, unsigned n)
{
  return n == 1 ? _mm256_permute4x64_pd (a, 0xff)
                : _mm256_permute2f128_pd (a, a, 0x11);
}

/* The last n lanes of low, then a without its last n lanes; n is 1 or 2. */
static inline __attribute__ ((always_inline)) V
v_shift_in (V a, V low, unsigned n)
{
  V middle = _mm256_permute2f128_pd (low, a, 0x21);

  return n == 1 ? _mm256_shuffle_pd (middle, a, 0x5) : middle;
}

/* Rows become columns. */
static inline __attribute__ ((always_inline)) void
v_transpose (V r[W])
{
  V a = _mm256_unpacklo_pd (r[0], r[1]), b = _mm256_unpackhi_pd (r[0], r[1]);
  V c = _mm256_unpacklo_pd (r[2], r[3]), d = _mm256_unpackhi_pd (r[2], r[3]);

  r[0] = _mm256_permute2f128_pd (a, c, 0x20);
  r[1] = _mm256_permute2f128_pd (b, d, 0x20);
  r[2] = _mm256_permute2f128_pd (a, c, 0x31);
  r[3] = _mm256_permute2f128_pd (b, d, 0x31);
}

/* The same of pairs of lanes. */
static inline __attribute__ ((always_inline)) void
v_transpose_pairs (V r[W / 2])
{
  V low = _mm256_permute2f128_pd (r[0], r[1], 0x20);

  r[1] = _mm256_permute2f128_pd (r[0], r[1], 0x31);
  r[0] = low;
}
