/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-vec-sse2.h: vectors of 4 floats or 2 doubles. */
#include <emmintrin.h>

#define ISA sse2

#define VF_LANES 4
typedef __m128 Vf;

static inline Vf
vf_load (const float *p)
{
  return _mm_load_ps (p);
}

static inline Vf
vf_loadu (const float *p)
{
  return _mm_loadu_ps (p);
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
  _mm_store_ps (p, a);
}

static inline void
vf_storeu (float *p, Vf a)
{
  _mm_storeu_ps (p, a);
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
  return _mm_set1_ps (a);
}

static inline Vf
vf_add (Vf a, Vf b)
{
  return _mm_add_ps (a, b);
}

static inline Vf
vf_sub (Vf a, Vf b)
{
  return _mm_sub_ps (a, b);
}

static inline Vf
vf_mul (Vf a, Vf b)
{
  return _mm_mul_ps (a, b);
}

/* a b + c, the product rounded */
static inline Vf
vf_fma (Vf a, Vf b, Vf c)
{
  return _mm_add_ps (_mm_mul_ps (a, b), c);
}

/* c - a b, the product rounded */
static inline Vf
vf_fnma (Vf a, Vf b, Vf c)
{
  return _mm_sub_ps (c, _mm_mul_ps (a, b));
}

/* The values of a and b in turn, and back. */
static inline void
vf_zip (Vf a, Vf b, Vf *low, Vf *high)
{
  *low = _mm_unpacklo_ps (a, b);
  *high = _mm_unpackhi_ps (a, b);
}

static inline void
vf_unzip (Vf a, Vf b, Vf *even, Vf *odd)
{
  *even = _mm_shuffle_ps (a, b, 0x88);
  *odd = _mm_shuffle_ps (a, b, 0xdd);
}

/* sum[4] += a, and the sum as floats */
static inline void
vf_add_wide (double *sum, Vf a)
{
  __m128d low = _mm_cvtps_pd (a);
  __m128d high = _mm_cvtps_pd (_mm_movehl_ps (a, a));
  _mm_store_pd (sum, _mm_add_pd (_mm_load_pd (sum), low));
  _mm_store_pd (sum + 2, _mm_add_pd (_mm_load_pd (sum + 2), high));
}

static inline Vf
vf_narrow (const double *sum)
{
  return _mm_movelh_ps (_mm_cvtpd_ps (_mm_load_pd (sum)),
      _mm_cvtpd_ps (_mm_load_pd (sum + 2)));
}

#define VD_LANES 2
typedef __m128d Vd;

static inline Vd
vd_load (const double *p)
{
  return _mm_load_pd (p);
}

static inline Vd
vd_loadu (const double *p)
{
  return _mm_loadu_pd (p);
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
  _mm_store_pd (p, a);
}

static inline void
vd_storeu (double *p, Vd a)
{
  _mm_storeu_pd (p, a);
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
  return _mm_set1_pd (a);
}

static inline Vd
vd_add (Vd a, Vd b)
{
  return _mm_add_pd (a, b);
}

static inline Vd
vd_sub (Vd a, Vd b)
{
  return _mm_sub_pd (a, b);
}

static inline Vd
vd_mul (Vd a, Vd b)
{
  return _mm_mul_pd (a, b);
}

static inline Vd
vd_fma (Vd a, Vd b, Vd c)
{
  return _mm_add_pd (_mm_mul_pd (a, b), c);
}

static inline Vd
vd_fnma (Vd a, Vd b, Vd c)
{
  return _mm_sub_pd (c, _mm_mul_pd (a, b));
}

static inline void
vd_zip (Vd a, Vd b, Vd *low, Vd *high)
{
  *low = _mm_unpacklo_pd (a, b);
  *high = _mm_unpackhi_pd (a, b);
}

static inline void
vd_unzip (Vd a, Vd b, Vd *even, Vd *odd)
{
  *even = _mm_unpacklo_pd (a, b);
  *odd = _mm_unpackhi_pd (a, b);
}
