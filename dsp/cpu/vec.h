/* SPDX-License-Identifier: LGPL-2.1-or-later
 * vec.h: vectors of W doubles in GNU C, as wide as the instruction set that
 * the including file is compiled for, or of VEC_WIDTH doubles: four with the
 * registers of AVX-512; ISA is the name.
 *
 * Fused multiply-adds are intrinsics: compilers may not contract expressions, and
 * none makes one of a vector's product and sum.  So are those permutations and
 * conversions for which a compiler's own are slower: GCC 12 widens floats half
 * a vector at a time, or one by one. */
#ifndef TFX_VEC_H
#define TFX_VEC_H

#include <stdbool.h>
#include <stdint.h>

#include "shuffle.h"

#if VEC_WIDTH == 4
#include <immintrin.h>
#define ISA vl
#define W 4
#define V_HAS_FMA 1
#define V_LANES 0, 1, 2, 3
#elif defined(__AVX512F__)
#include <immintrin.h>
#define ISA avx512
#define W 8
#define V_HAS_FMA 1
#define V_LANES 0, 1, 2, 3, 4, 5, 6, 7
#define V_MASK(n) ((__mmask8)((1u << (n)) - 1))
#elif defined(__AVX2__)
#include <immintrin.h>
#define ISA avx2
#define W 4
#define V_HAS_FMA 1
#define V_LANES 0, 1, 2, 3
#elif defined(__SSE2__)
#include <emmintrin.h>
#define ISA sse2
#define W 2
#define V_HAS_FMA 0
#define V_LANES 0, 1
#elif defined(__aarch64__)
#include <arm_neon.h>
#define ISA neon
#define W 2
#define V_HAS_FMA 1
#define V_LANES 0, 1
#else
#error "no vectors are known for this processor"
#endif

#if defined(__AVX512VL__) || defined(__aarch64__)
#define V_REGISTERS 32
#else
#define V_REGISTERS 16
#endif

/* V, v_load(), v_store(), v_set1(), v_fma() and v_fnma(); doubles at any address; and floats, as
 * many as a vector has room for. */
#define T double
#define T_SIZE 8
#define L W
#define VOP(name) v_##name
#include "vec_tmpl.h"
#undef T
#undef T_SIZE
#define T float
#define T_SIZE 4
#define L (2 * W)
#define VOP(name) v_##name##_floats
#include "vec_tmpl.h"
#undef T
#undef T_SIZE

typedef v_V V;
typedef v_Values_floats VManyFloats;
typedef int64_t VBits __attribute__ ((vector_size (8 * W), may_alias));
#define v_load_f64 v_loadu
#define v_store_f64 v_storeu

static inline V
v_load_f32 (const float *p)
{
#if W == 8
  return _mm512_cvtps_pd (_mm256_loadu_ps (p));
#elif W == 4
  return _mm256_cvtps_pd (_mm_loadu_ps (p));
#elif defined(__SSE2__)
  return _mm_cvtps_pd (_mm_castsi128_ps (_mm_loadl_epi64 ((const void *)p)));
#else
  return vcvt_f64_f32 (vld1_f32 (p));
#endif
}

static inline void
v_store_f32 (float *p, V a)
{
#if W == 8
  _mm256_storeu_ps (p, _mm512_cvtpd_ps (a));
#elif W == 4
  _mm_storeu_ps (p, _mm256_cvtpd_ps (a));
#elif defined(__SSE2__)
  _mm_storel_epi64 ((void *)p, _mm_castps_si128 (_mm_cvtpd_ps (a)));
#else
  vst1_f32 (p, vcvt_f32_f64 (a));
#endif
}

static inline V
v_mul (V a, V b)
{
  return a * b;
}

static inline V
v_add (V a, V b)
{
  return a + b;
}

/* 0 for lanes that are not finite. */
static inline V
v_finite (V a)
{
#if W == 8
  return _mm512_maskz_mov_pd (_mm512_cmp_pd_mask (a - a, _mm512_setzero_pd (),
                                  _CMP_EQ_OQ),
      a);
#else
  return (V)((VBits)a & (VBits)(a - a == v_set1 (0.0)));
#endif
}

/* Whether no lane is NaN. */
static inline bool
v_is_number (V a)
{
#if W == 8
  return _mm512_cmp_pd_mask (a, a, _CMP_UNORD_Q) == 0;
#elif W == 4
  return _mm256_movemask_pd (_mm256_cmp_pd (a, a, _CMP_UNORD_Q)) == 0;
#else
  return a[0] == a[0] && a[1] == a[1];
#endif
}

/* Which lanes: all of a lane's bits are set, or none. */
#if W == 8
typedef __mmask8 VMask;
#else
typedef VBits VMask;
typedef int64_t VBitsAny
    __attribute__ ((vector_size (8 * W), may_alias, aligned (8)));
#endif

static inline VMask
v_mask (VBits bits)
{
#if W == 8
  return _mm512_movepi64_mask ((__m512i)bits);
#else
  return bits;
#endif
}

/* Those of lanes [from, to), counted on from vector to vector, that number v has; where
 * W < 8 there are up to 12. */
static inline VMask
v_lanes_of (unsigned from, unsigned to, const unsigned v)
{
#if W == 8
  return (VMask)(((1u << to) - (1u << from)) >> (W * v));
#else
  static const int64_t first[24] = { [0 ... 11] = -1 };
  const int64_t *here = first + 12 + W * v;

  return *(const VBitsAny *)(here - to) & ~*(const VBitsAny *)(here - from);
#endif
}

/* Lanes [from, to), 0 <= from <= to <= W. */
static inline VMask
v_lanes (unsigned from, unsigned to)
{
  return v_lanes_of (from, to, 0);
}

/* a in these lanes, b elsewhere. */
static inline V
v_select (VMask lanes, V a, V b)
{
#if W == 8
  return _mm512_mask_mov_pd (b, lanes, a);
#elif W == 4
  return _mm256_blendv_pd (b, a, (V)lanes);
#else
  return (V)((lanes & (VBits)a) | (~lanes & (VBits)b));
#endif
}

/* c - a b in these lanes, a elsewhere. */
static inline V
v_fnma_or_a (VMask lanes, V a, V b, V c)
{
#if W == 8
  return _mm512_mask_fnmadd_pd (a, lanes, b, c);
#else
  return v_select (lanes, v_fnma (a, b, c), a);
#endif
}

/* Two floats at any address. */
typedef double TwoFloats __attribute__ ((may_alias, aligned (4)));

/* Frames of C samples at any address; n are present, more than C / 2 if C < W.  Loads repeat them
 * in the lanes, except C = W / 2 floats, which are in the first half only; missing samples are
 * zeros.  Stores take the last C lanes. */
static inline __attribute__ ((always_inline)) V
v_load_row_f32 (const float *p, const unsigned C, const unsigned n)
{
#if W == 8
  if (C == 1)
    return _mm512_cvtps_pd (_mm256_broadcast_ss (p));
  if (C == 2)
    return _mm512_cvtps_pd (
        _mm256_castpd_ps (_mm256_set1_pd (*(const TwoFloats *)p)));
  if (C == 4)
    return _mm512_zextpd256_pd512 (_mm256_cvtps_pd (
        n == C ? _mm_loadu_ps (p) : _mm_maskz_loadu_ps (V_MASK (n), p)));
  if (n < C)
    return _mm512_cvtps_pd (_mm256_maskz_loadu_ps (V_MASK (n), p));
#elif W == 4
  if (C == 1)
    return _mm256_cvtps_pd (_mm_broadcast_ss (p));
  if (C == 2)
    return _mm256_zextpd128_pd256 (
        _mm_cvtps_pd (_mm_castsi128_ps (_mm_loadl_epi64 ((const void *)p))));
  if (n == 1)
    return _mm256_cvtps_pd (_mm_load_ss (p));
  if (n < C) {
    const __m128 two = _mm_castsi128_ps (_mm_loadl_epi64 ((const void *)p));

    return _mm256_cvtps_pd (
        n == 2 ? two : _mm_movelh_ps (two, _mm_load_ss (p + 2)));
  }
#else
  if (C == 1 || n < C)
    return (V){ *p, 0.0 };
#endif
  (void)n;
  return v_load_f32 (p);
}

static inline __attribute__ ((always_inline)) V
v_load_row_f64 (const double *p, const unsigned C, const unsigned n)
{
  if (C == 1)
    return v_set1 (*p);
#if W == 8
  if (C == 2)
    return _mm512_broadcast_f64x2 (_mm_loadu_pd (p));
  if (C == 4)
    return _mm512_broadcast_f64x4 (
        n == C ? _mm256_loadu_pd (p) : _mm256_maskz_loadu_pd (V_MASK (n), p));
  if (n < C)
    return _mm512_maskz_loadu_pd (V_MASK (n), p);
#elif W == 4
  if (C == 2)
    return _mm256_broadcast_pd ((const __m128d *)p);
  if (n < C) {
    const __m256d two =
        _mm256_zextpd128_pd256 (n == 1 ? _mm_load_sd (p) : _mm_loadu_pd (p));

    return n < 3 ? two : _mm256_insertf128_pd (two, _mm_load_sd (p + 2), 1);
  }
#else
  if (n < C)
    return (V){ *p, 0.0 };
#endif
  (void)n;
  return v_load_f64 (p);
}

/* Stores under a mask take a processor tens of cycles: part after part. */
static inline __attribute__ ((always_inline)) void
v_store_row_f32 (float *p, V a, const unsigned C, unsigned n)
{
  if (C == W && n == C) {
    v_store_f32 (p, a);
  } else if (C == 1) {
    *p = (float)a[W - 1];
  } else {
#if W == 4
    __m128 r = _mm256_cvtpd_ps (a);

    if (C == 2) {
      _mm_storeh_pi ((void *)p, r);
    } else if (n == 1) {
      *p = r[0];
    } else {
      _mm_storel_pi ((void *)p, r);
      if (n == 3)
        p[2] = r[2];
    }
#elif W == 8
    __m256 all = _mm512_cvtpd_ps (a);
    __m128 r =
        C == 8 ? _mm256_castps256_ps128 (all) : _mm256_extractf128_ps (all, 1);

    if (C == 2) {
      _mm_storeh_pi ((void *)p, r);
      return;
    }
    if (n >= 4) {
      _mm_storeu_ps (p, r);
      if (C == 4)
        return;
      p += 4;
      n -= 4;
      r = _mm256_extractf128_ps (all, 1);
    }
    if (n >= 2) {
      _mm_storel_pi ((void *)p, r);
      p += 2;
      r = _mm_movehl_ps (r, r);
    }
    if (n & 1)
      *p = r[0];
#else
    *p = (float)a[0];
#endif
  }
}

static inline __attribute__ ((always_inline)) void
v_store_row_f64 (double *p, V a, const unsigned C, unsigned n)
{
  if (C == W && n == C) {
    v_store_f64 (p, a);
  } else if (C == 1) {
    *p = a[W - 1];
  } else {
#if W == 4
    if (C == 2) {
      _mm_storeu_pd (p, _mm256_extractf128_pd (a, 1));
    } else if (n == 1) {
      *p = a[0];
    } else {
      _mm_storeu_pd (p, _mm256_castpd256_pd128 (a));
      if (n == 3)
        p[2] = a[2];
    }
#elif W == 8
    __m256d r =
        C == 8 ? _mm512_castpd512_pd256 (a) : _mm512_extractf64x4_pd (a, 1);

    if (C == 2) {
      _mm_storeu_pd (p, _mm512_extractf64x2_pd (a, 3));
      return;
    }
    if (n >= 4) {
      _mm256_storeu_pd (p, r);
      if (C == 4)
        return;
      p += 4;
      n -= 4;
      r = _mm512_extractf64x4_pd (a, 1);
    }
    if (n >= 2) {
      _mm_storeu_pd (p, _mm256_castpd256_pd128 (r));
      p += 2;
      r = _mm256_permute2f128_pd (r, r, 1);
    }
    if (n & 1)
      *p = r[0];
#else
    *p = a[0];
#endif
  }
}

/* The n lanes of a from number first on, over and over; n, 1 or 2, divides
 * first. */
static inline __attribute__ ((always_inline)) V
v_repeat (V a, const unsigned first, const unsigned n)
{
#if W == 8
  if (n == 1)
    return _mm512_permutexvar_pd (_mm512_set1_epi64 (first), a);
  switch (first) {
    case 0:
      return _mm512_shuffle_f64x2 (a, a, 0x00);
    case 2:
      return _mm512_shuffle_f64x2 (a, a, 0x55);
    case 4:
      return _mm512_shuffle_f64x2 (a, a, 0xaa);
    default:
      return _mm512_shuffle_f64x2 (a, a, 0xff);
  }
#else
  const VBits lanes = { V_LANES };

  return tfx_shuffle (a, lanes % (int64_t)n + (int64_t)first);
#endif
}

/* The last n lanes of low, then a without its last n lanes. */
static inline __attribute__ ((always_inline)) V
v_shift_in (V a, V low, const unsigned n)
{
#if W == 8
  const __m512i h = (__m512i)a, l = (__m512i)low;

  return (V)(n == 1   ? _mm512_alignr_epi64 (h, l, 7)
             : n == 2 ? _mm512_alignr_epi64 (h, l, 6)
                      : _mm512_alignr_epi64 (h, l, 4));
#else
  const VBits lanes = { V_LANES };

  return tfx_shuffle2 (low, a, lanes + (int64_t)(W - n));
#endif
}

/* The first half of first, then that of a. */
static inline __attribute__ ((always_inline)) V
v_join_halves (V first, V a)
{
#if W == 8
  return _mm512_insertf64x4 (first, _mm512_castpd512_pd256 (a), 1);
#elif W == 4
  return _mm256_insertf128_pd (first, _mm256_castpd256_pd128 (a), 1);
#else
  return __builtin_shufflevector (first, a, 0, 2);
#endif
}

/* W floats, at any address. */
typedef float VFloats
    __attribute__ ((vector_size (4 * W), may_alias, aligned (4)));

static inline V
v_widen (VFloats a)
{
#if W == 8
  return _mm512_cvtps_pd (a);
#elif W == 4
  return _mm256_cvtps_pd (a);
#else
  return __builtin_convertvector(a, V);
#endif
}

static inline VFloats
v_narrow (V a)
{
#if W == 8
  return _mm512_cvtpd_ps (a);
#elif W == 4
  return _mm256_cvtpd_ps (a);
#elif defined(__SSE2__)
  /* (As a conversion of vectors it would be one of four doubles.) */
  const __m128 r = _mm_cvtpd_ps (a);

  return __builtin_shufflevector (r, r, 0, 1);
#else
  return __builtin_convertvector(a, VFloats);
#endif
}

/* The last C = W / 2 lanes of a and of b, two rows of floats. */
static inline __attribute__ ((always_inline)) void
v_store_rows_f32 (float *p, float *q, V a, V b)
{
#if W == 8
  const __m256 r = _mm512_cvtpd_ps (_mm512_shuffle_f64x2 (a, b, 0xee));

  _mm_storeu_ps (p, _mm256_castps256_ps128 (r));
  _mm_storeu_ps (q, _mm256_extractf128_ps (r, 1));
#elif W == 4
  const __m128 r = _mm256_cvtpd_ps (_mm256_permute2f128_pd (a, b, 0x31));

  _mm_storel_pi ((void *)p, r);
  _mm_storeh_pi ((void *)q, r);
#else
  const VFloats r = v_narrow (__builtin_shufflevector (a, b, 1, 3));

  *p = r[0];
  *q = r[1];
#endif
}

#endif
