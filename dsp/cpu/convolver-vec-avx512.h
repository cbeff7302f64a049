/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-vec-avx512.h: vectors of 16 floats or 8 doubles (AVX-512 F, DQ). */
#include <immintrin.h>

#define ISA avx512

#define VF_LANES 16
typedef __m512 Vf;

static inline Vf
vf_load (const float *p)
{
  return _mm512_load_ps (p);
}

static inline Vf
vf_loadu (const float *p)
{
  return _mm512_loadu_ps (p);
}

/* The lanes from number k on of the two vectors at p, 0 < k <= lanes.  (A load
 * across cache lines takes the place of two.) */
static inline Vf
vf_window (const float *p, int k)
{
  const __m512i low = _mm512_load_si512 (p);
  const __m512i high = _mm512_load_si512 (p + 16);

  switch (k) {
    case 1:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 1));
    case 2:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 2));
    case 3:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 3));
    case 4:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 4));
    case 5:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 5));
    case 6:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 6));
    case 7:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 7));
    case 8:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 8));
    case 9:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 9));
    case 10:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 10));
    case 11:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 11));
    case 12:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 12));
    case 13:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 13));
    case 14:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 14));
    case 15:
      return _mm512_castsi512_ps (_mm512_alignr_epi32 (high, low, 15));
    default:
      return _mm512_castsi512_ps (high);
  }
}

static inline void
vf_store (float *p, Vf a)
{
  _mm512_store_ps (p, a);
}

static inline void
vf_storeu (float *p, Vf a)
{
  _mm512_storeu_ps (p, a);
}

/* a, in a register: the compiler shall not load it anew for each use. */
static inline Vf
vf_keep (Vf a)
{
  __asm__("" : "+v"(a));
  return a;
}

static inline Vf
vf_set1 (float a)
{
  return _mm512_set1_ps (a);
}

static inline Vf
vf_add (Vf a, Vf b)
{
  return _mm512_add_ps (a, b);
}

static inline Vf
vf_sub (Vf a, Vf b)
{
  return _mm512_sub_ps (a, b);
}

static inline Vf
vf_mul (Vf a, Vf b)
{
  return _mm512_mul_ps (a, b);
}

/* a b + c */
static inline Vf
vf_fma (Vf a, Vf b, Vf c)
{
  return _mm512_fmadd_ps (a, b, c);
}

/* c - a b */
static inline Vf
vf_fnma (Vf a, Vf b, Vf c)
{
  return _mm512_fnmadd_ps (a, b, c);
}

/* The values of a and b in turn, and back. */
static inline void
vf_zip (Vf a, Vf b, Vf *low, Vf *high)
{
  const __m512i first = _mm512_setr_epi32 (0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
      21, 6, 22, 7, 23);
  const __m512i second = _mm512_setr_epi32 (8, 24, 9, 25, 10, 26, 11, 27, 12,
      28, 13, 29, 14, 30, 15, 31);
  *low = _mm512_permutex2var_ps (a, first, b);
  *high = _mm512_permutex2var_ps (a, second, b);
}

static inline void
vf_unzip (Vf a, Vf b, Vf *even, Vf *odd)
{
  const __m512i evens = _mm512_setr_epi32 (0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
      20, 22, 24, 26, 28, 30);
  const __m512i odds = _mm512_setr_epi32 (1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21,
      23, 25, 27, 29, 31);
  *even = _mm512_permutex2var_ps (a, evens, b);
  *odd = _mm512_permutex2var_ps (a, odds, b);
}

/* sum[16] += a, and the sum as floats */
static inline void
vf_add_wide (double *sum, Vf a)
{
  __m512d low = _mm512_cvtps_pd (_mm512_castps512_ps256 (a));
  __m512d high = _mm512_cvtps_pd (_mm512_extractf32x8_ps (a, 1));
  _mm512_store_pd (sum, _mm512_add_pd (_mm512_load_pd (sum), low));
  _mm512_store_pd (sum + 8, _mm512_add_pd (_mm512_load_pd (sum + 8), high));
}

static inline Vf
vf_narrow (const double *sum)
{
  __m256 low = _mm512_cvtpd_ps (_mm512_load_pd (sum));
  __m256 high = _mm512_cvtpd_ps (_mm512_load_pd (sum + 8));
  return _mm512_insertf32x8 (_mm512_castps256_ps512 (low), high, 1);
}

#define VD_LANES 8
typedef __m512d Vd;

static inline Vd
vd_load (const double *p)
{
  return _mm512_load_pd (p);
}

static inline Vd
vd_loadu (const double *p)
{
  return _mm512_loadu_pd (p);
}

/* The lanes from number k on of the two vectors at p, 0 < k <= lanes.  (A load
 * across cache lines takes the place of two.) */
static inline Vd
vd_window (const double *p, int k)
{
  const __m512i low = _mm512_load_si512 (p);
  const __m512i high = _mm512_load_si512 (p + 8);

  switch (k) {
    case 1:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 1));
    case 2:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 2));
    case 3:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 3));
    case 4:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 4));
    case 5:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 5));
    case 6:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 6));
    case 7:
      return _mm512_castsi512_pd (_mm512_alignr_epi64 (high, low, 7));
    default:
      return _mm512_castsi512_pd (high);
  }
}

static inline void
vd_store (double *p, Vd a)
{
  _mm512_store_pd (p, a);
}

static inline void
vd_storeu (double *p, Vd a)
{
  _mm512_storeu_pd (p, a);
}

static inline Vd
vd_keep (Vd a)
{
  __asm__("" : "+v"(a));
  return a;
}

static inline Vd
vd_set1 (double a)
{
  return _mm512_set1_pd (a);
}

static inline Vd
vd_add (Vd a, Vd b)
{
  return _mm512_add_pd (a, b);
}

static inline Vd
vd_sub (Vd a, Vd b)
{
  return _mm512_sub_pd (a, b);
}

static inline Vd
vd_mul (Vd a, Vd b)
{
  return _mm512_mul_pd (a, b);
}

static inline Vd
vd_fma (Vd a, Vd b, Vd c)
{
  return _mm512_fmadd_pd (a, b, c);
}

static inline Vd
vd_fnma (Vd a, Vd b, Vd c)
{
  return _mm512_fnmadd_pd (a, b, c);
}

static inline void
vd_zip (Vd a, Vd b, Vd *low, Vd *high)
{
  const __m512i first = _mm512_setr_epi64 (0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i second = _mm512_setr_epi64 (4, 12, 5, 13, 6, 14, 7, 15);
  *low = _mm512_permutex2var_pd (a, first, b);
  *high = _mm512_permutex2var_pd (a, second, b);
}

static inline void
vd_unzip (Vd a, Vd b, Vd *even, Vd *odd)
{
  const __m512i evens = _mm512_setr_epi64 (0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odds = _mm512_setr_epi64 (1, 3, 5, 7, 9, 11, 13, 15);
  *even = _mm512_permutex2var_pd (a, evens, b);
  *odd = _mm512_permutex2var_pd (a, odds, b);
}
