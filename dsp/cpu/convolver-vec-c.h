/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-vec-c.h: vectors of one number, in plain C. */

#define ISA c
#define IS_FUSED 0

#define VF_LANES 1
typedef float Vf;

static inline Vf
vf_load (const float *p)
{
  return *p;
}

static inline Vf
vf_loadu (const float *p)
{
  return *p;
}

static inline void
vf_store (float *p, Vf a)
{
  *p = a;
}

static inline void
vf_storeu (float *p, Vf a)
{
  *p = a;
}

static inline Vf
vf_set1 (float a)
{
  return a;
}

static inline Vf
vf_add (Vf a, Vf b)
{
  return a + b;
}

static inline Vf
vf_sub (Vf a, Vf b)
{
  return a - b;
}

static inline Vf
vf_mul (Vf a, Vf b)
{
  return a * b;
}

/* the product rounded */
static inline Vf
vf_fma (Vf a, Vf b, Vf c)
{
  return a * b + c;
}

/* the product rounded */
static inline Vf
vf_fnma (Vf a, Vf b, Vf c)
{
  return c - a * b;
}

/* The values of a and b in turn, and back. */
static inline void
vf_zip (Vf a, Vf b, Vf *low, Vf *high)
{
  *low = a;
  *high = b;
}

static inline void
vf_unzip (Vf a, Vf b, Vf *even, Vf *odd)
{
  *even = a;
  *odd = b;
}

/* sum[1] += a, and the sum as floats */
static inline void
vf_add_wide (double *sum, Vf a)
{
  *sum += (double)a;
}

static inline Vf
vf_narrow (const double *sum)
{
  return (float)*sum;
}

#define VD_LANES 1
typedef double Vd;

static inline Vd
vd_load (const double *p)
{
  return *p;
}

static inline Vd
vd_loadu (const double *p)
{
  return *p;
}

static inline void
vd_store (double *p, Vd a)
{
  *p = a;
}

static inline void
vd_storeu (double *p, Vd a)
{
  *p = a;
}

static inline Vd
vd_set1 (double a)
{
  return a;
}

static inline Vd
vd_add (Vd a, Vd b)
{
  return a + b;
}

static inline Vd
vd_sub (Vd a, Vd b)
{
  return a - b;
}

static inline Vd
vd_mul (Vd a, Vd b)
{
  return a * b;
}

static inline Vd
vd_fma (Vd a, Vd b, Vd c)
{
  return a * b + c;
}

static inline Vd
vd_fnma (Vd a, Vd b, Vd c)
{
  return c - a * b;
}

static inline void
vd_zip (Vd a, Vd b, Vd *low, Vd *high)
{
  *low = a;
  *high = b;
}

static inline void
vd_unzip (Vd a, Vd b, Vd *even, Vd *odd)
{
  *even = a;
  *odd = b;
}
