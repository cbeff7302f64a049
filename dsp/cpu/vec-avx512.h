/* SPDX-License-Identifier: LGPL-2.1-or-later
 * vec-avx512.h: vectors of eight doubles (AVX-512 F and DQ). */
#include <immintrin.h>

#define ISA avx512
#define W 8
#define V_HAS_FMA 1

typedef __m512d V;

static inline V
v_load (const double *p)
{
  return _mm512_load_pd (p);
}

static inline void
v_store (double *p, V a)
{
  _mm512_store_pd (p, a);
}

/* W samples at any address. */
static inline V
v_load_f32 (const float *p)
{
  return _mm512_cvtps_pd (_mm256_loadu_ps (p));
}

static inline void
v_store_f32 (float *p, V a)
{
  _mm256_storeu_ps (p, _mm512_cvtpd_ps (a));
}

static inline V
v_load_f64 (const double *p)
{
  return _mm512_loadu_pd (p);
}

static inline void
v_store_f64 (double *p, V a)
{
  _mm512_storeu_pd (p, a);
}

static inline V
v_set1 (double a)
{
  return _mm512_set1_pd (a);
}

static inline V
v_mul (V a, V b)
{
  return _mm512_mul_pd (a, b);
}

static inline V
v_add (V a, V b)
{
  return _mm512_add_pd (a, b);
}

/* a b + c */
static inline V
v_fma (V a, V b, V c)
{
  return _mm512_fmadd_pd (a, b, c);
}

/* c - a b */
static inline V
v_fnma (V a, V b, V c)
{
  return _mm512_fnmadd_pd (a, b, c);
}

/* The n doubles at p, over and over; n is 1 or 2. */
static inline __attribute__ ((always_inline)) V
v_repeat (const double *p, unsigned n)
{
  return n == 1 ? _mm512_set1_pd (*p)
                : _mm512_broadcast_f64x2 (_mm_loadu_pd (p));
}

/* The first n lanes; n is 1 or 2. */
static inline __attribute__ ((always_inline)) void
v_store_first (double *p, V a, unsigned n)
{
  if (n == 1)
    _mm_store_sd (p, _mm512_castpd512_pd128 (a));
  else
    _mm_storeu_pd (p, _mm512_castpd512_pd128 (a));
}

/* The last n lanes of a, over and over; n is 1 or 2. */
static inline __attribute__ ((always_inline)) V
v_repeat_last (V a, unsigned n)
{
  return n == 1 ? _mm512_permutexvar_pd (_mm512_set1_epi64 (7), a)
                : _mm512_shuffle_f64x2 (a, a, 0xff);
}

/* The last n lanes of low, then a without its last n lanes; n is 1, 2, 4. */
static inline __attribute__ ((always_inline)) V
v_shift_in (V a, V low, unsigned n)
{
  __m512i h = _mm512_castpd_si512 (a), l = _mm512_castpd_si512 (low);

  return _mm512_castsi512_pd (n == 1   ? _mm512_alignr_epi64 (h, l, 7)
                              : n == 2 ? _mm512_alignr_epi64 (h, l, 6)
                                       : _mm512_alignr_epi64 (h, l, 4));
}

/* Rows become columns. */
static inline __attribute__ ((always_inline)) void
v_transpose (V r[W])
{
  V a[W], b[W];

  for (unsigned i = 0; i < W; i += 2) {
    a[i] = _mm512_unpacklo_pd (r[i], r[i + 1]);
    a[i + 1] = _mm512_unpackhi_pd (r[i], r[i + 1]);
  }
  for (unsigned i = 0; i < W; i += 4) {
    for (unsigned k = 0; k < 2; k++) {
      b[i + k] = _mm512_shuffle_f64x2 (a[i + k], a[i + k + 2], 0x88);
      b[i + k + 2] = _mm512_shuffle_f64x2 (a[i + k], a[i + k + 2], 0xdd);
    }
  }
  for (unsigned i = 0; i < 4; i++) {
    V even = _mm512_shuffle_f64x2 (b[i], b[i + 4], 0x88);
    V odd = _mm512_shuffle_f64x2 (b[i], b[i + 4], 0xdd);
    r[i] = even;
    r[i + 4] = odd;
  }
}

/* The same of pairs of lanes. */
static inline __attribute__ ((always_inline)) void
v_transpose_pairs (V r[W / 2])
{
  V a = _mm512_shuffle_f64x2 (r[0], r[1], 0x88);
  V b = _mm512_shuffle_f64x2 (r[0], r[1], 0xdd);
  V c = _mm512_shuffle_f64x2 (r[2], r[3], 0x88);
  V d = _mm512_shuffle_f64x2 (r[2], r[3], 0xdd);

  r[0] = _mm512_shuffle_f64x2 (a, c, 0x88);
  r[1] = _mm512_shuffle_f64x2 (b, d, 0x88);
  r[2] = _mm512_shuffle_f64x2 (a, c, 0xdd);
  r[3] = _mm512_shuffle_f64x2 (b, d, 0xdd);
}
