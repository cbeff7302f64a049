/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-vec-avx2.h: vectors of 8 floats or 4 doubles (AVX2, FMA). */
#include <immintrin.h>

#define ISA avx2

#define VF_LANES 8
typedef __m256 Vf;

static inline Vf
vf_load (const float *p)
{
  return _mm256_load_ps (p);
}

static inline Vf
vf_loadu (const float *p)
{
  return _mm256_loadu_ps (p);
}

/* The lanes from number k on of the two vectors at p, 0 < k <= lanes. */
static inline Vf
vf_window (const float *p, int k)
{
  return vf_loadu (p + k);
}

static inline void
vf_store (float *p, Vf a)
{
  _mm256_store_ps (p, a);
}

static inline void
vf_storeu (float *p, Vf a)
{
  _mm256_storeu_ps (p, a);
}

/* a, in a register: the compiler shall not load it anew for each use. */
static inline Vf
vf_keep (Vf a)
{
  __asm__("" : "+x"(a));
  return a;
}

static inline Vf
vf_set1 (float a)
{
  return _mm256_set1_ps (a);
}

static inline Vf
vf_add (Vf a, Vf b)
{
  return _mm256_add_ps (a, b);
}

static inline Vf
vf_sub (Vf a, Vf b)
{
  return _mm256_sub_ps (a, b);
}

static inline Vf
vf_mul (Vf a, Vf b)
{
  return _mm256_mul_ps (a, b);
}

/* a b + c */
static inline Vf
vf_fma (Vf a, Vf b, Vf c)
{
  return _mm256_fmadd_ps (a, b, c);
}

/* c - a b */
static inline Vf
vf_fnma (Vf a, Vf b, Vf c)
{
  return _mm256_fnmadd_ps (a, b, c);
}

/* The values of a and b in turn, and back. */
static inline void
vf_zip (Vf a, Vf b, Vf *low, Vf *high)
{
  Vf l = _mm256_unpacklo_ps (a, b), h = _mm256_unpackhi_ps (a, b);
  *low = _mm256_permute2f128_ps (l, h, 0x20);
  *high = _mm256_permute2f128_ps (l, h, 0x31);
}

static inline void
vf_unzip (Vf a, Vf b, Vf *even, Vf *odd)
{
  Vf l = _mm256_permute2f128_ps (a, b, 0x20);
  Vf h = _mm256_permute2f128_ps (a, b, 0x31);
  *even = _mm256_shuffle_ps (l, h, 0x88);
  *odd = _mm256_shuffle_ps (l, h, 0xdd);
}

/* sum[8] += a, and the sum as floats */
static inline void
vf_add_wide (double *sum, Vf a)
{
  __m256d low = _mm256_cvtps_pd (_mm256_castps256_ps128 (a));
  __m256d high = _mm256_cvtps_pd (_mm256_extractf128_ps (a, 1));
  _mm256_store_pd (sum, _mm256_add_pd (_mm256_load_pd (sum), low));
  _mm256_store_pd (sum + 4, _mm256_add_pd (_mm256_load_pd (sum + 4), high));
}

static inline Vf
vf_narrow (const double *sum)
{
  return _mm256_set_m128 (_mm256_cvtpd_ps (_mm256_load_pd (sum + 4)),
      _mm256_cvtpd_ps (_mm256_load_pd (sum)));
}

#define VD_LANES 4
typedef __m256d Vd;

static inline Vd
vd_load (const double *p)
{
  return _mm256_load_pd (p);
}

static inline Vd
vd_loadu (const double *p)
{
  return _mm256_loadu_pd (p);
}

/* The lanes from number k on of the two vectors at p, 0 < k <= lanes. */
static inline Vd
vd_window (const double *p, int k)
{
  return vd_loadu (p + k);
}

static inline void
vd_store (double *p, Vd a)
{
  _mm256_store_pd (p, a);
}

static inline void
vd_storeu (double *p, Vd a)
{
  _mm256_storeu_pd (p, a);
}

static inline Vd
vd_keep (Vd a)
{
  __asm__("" : "+x"(a));
  return a;
}

static inline Vd
vd_set1 (double a)
{
  return _mm256_set1_pd (a);
}

static inline Vd
vd_add (Vd a, Vd b)
{
  return _mm256_add_pd (a, b);
}

static inline Vd
vd_sub (Vd a, Vd b)
{
  return _mm256_sub_pd (a, b);
}

static inline Vd
vd_mul (Vd a, Vd b)
{
  return _mm256_mul_pd (a, b);
}

static inline Vd
vd_fma (Vd a, Vd b, Vd c)
{
  return _mm256_fmadd_pd (a, b, c);
}

static inline Vd
vd_fnma (Vd a, Vd b, Vd c)
{
  return _mm256_fnmadd_pd (a, b, c);
}

static inline void
vd_zip (Vd a, Vd b, Vd *low, Vd *high)
{
  Vd l = _mm256_unpacklo_pd (a, b), h = _mm256_unpackhi_pd (a, b);
  *low = _mm256_permute2f128_pd (l, h, 0x20);
  *high = _mm256_permute2f128_pd (l, h, 0x31);
}

static inline void
vd_unzip (Vd a, Vd b, Vd *even, Vd *odd)
{
  Vd l = _mm256_permute2f128_pd (a, b, 0x20);
  Vd h = _mm256_permute2f128_pd (a, b, 0x31);
  *even = _mm256_unpacklo_pd (l, h);
  *odd = _mm256_unpackhi_pd (l, h);
}
