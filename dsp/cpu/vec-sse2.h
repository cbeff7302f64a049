/* SPDX-License-Identifier: LGPL-2.1-or-later
 * vec-sse2.h: vectors of two doubles; the product of v_fma is rounded. */
#include <emmintrin.h>
#include <string.h>

#define ISA sse2
#define W 2
#define V_HAS_FMA 0

typedef __m128d V;

static inline V
v_load (const double *p)
{
  return _mm_load_pd (p);
}

static inline void
v_store (double *p, V a)
{
  _mm_store_pd (p, a);
}

/* W samples at any address. */
static inline V
v_load_f32 (const float *p)
{
  double two;
  memcpy (&two, p, sizeof two);
  return _mm_cvtps_pd (_mm_castpd_ps (_mm_set_sd (two)));
}

static inline void
v_store_f32 (float *p, V a)
{
  double two = _mm_cvtsd_f64 (_mm_castps_pd (_mm_cvtpd_ps (a)));
  memcpy (p, &two, sizeof two);
}

static inline V
v_load_f64 (const double *p)
{
  return _mm_loadu_pd (p);
}

static inline void
v_store_f64 (double *p, V a)
{
  _mm_storeu_pd (p, a);
}

static inline V
v_set1 (double a)
{
  return _mm_set1_pd (a);
}

static inline V
v_mul (V a, V b)
{
  return _mm_mul_pd (a, b);
}

static inline V
v_add (V a, V b)
{
  return _mm_add_pd (a, b);
}

/* a b + c */
static inline V
v_fma (V a, V b, V c)
{
  return _mm_add_pd (_mm_mul_pd (a, b), c);
}

/* c - a b */
static inline V
v_fnma (V a, V b, V c)
{
  return _mm_sub_pd (c, _mm_mul_pd (a, b));
}

/* The n doubles at p, over and over; n is 1. */
static inline V
v_repeat (const double *p, unsigned n)
{
  (void)n;
  return _mm_set1_pd (*p);
}

/* The first n lanes; n is 1. */
static inline void
v_store_first (double *p, V a, unsigned n)
{
  (void)n;
  _mm_store_sd (p, a);
}

/* The last n lanes of a, over and over; n is 1. */
static inline V
v_repeat_last (V a, unsigned n)
{
  (void)n;
  return _mm_unpackhi_pd (a, a);
}

/* The last n lanes of low, then a without its last n lanes; n is 1. */
static inline V
v_shift_in (V a, V low, unsigned n)
{
  (void)n;
  return _mm_shuffle_pd (low, a, 1);
}

/* Rows become columns. */
static inline __attribute__ ((always_inline)) void
v_transpose (V r[W])
{
  V low = _mm_unpacklo_pd (r[0], r[1]);

  r[1] = _mm_unpackhi_pd (r[0], r[1]);
  r[0] = low;
}
