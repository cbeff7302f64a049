/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-vec-c.h: vectors of 4 floats or 2 doubles in GNU C, for any
 * processor. */
#include <string.h>

#define ISA c

#define VF_LANES 4
typedef float Vf __attribute__ ((vector_size (16), may_alias));

static inline Vf
vf_load (const float *p)
{
  return *(const Vf *)p;
}

static inline Vf
vf_loadu (const float *p)
{
  Vf a;

  memcpy (&a, p, sizeof a);
  return a;
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
  *(Vf *)p = a;
}

static inline void
vf_storeu (float *p, Vf a)
{
  memcpy (p, &a, sizeof a);
}

/* a, in a register: the compiler shall not load it anew for each use. */
static inline Vf
vf_keep (Vf a)
{
#if defined(__x86_64__)
  __asm__("" : "+x"(a));
#elif defined(__aarch64__)
  __asm__("" : "+w"(a));
#endif
  return a;
}

static inline Vf
vf_set1 (float a)
{
  return (Vf){ a, a, a, a };
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

/* a b + c, the product rounded */
static inline Vf
vf_fma (Vf a, Vf b, Vf c)
{
  return a * b + c;
}

/* c - a b, the product rounded */
static inline Vf
vf_fnma (Vf a, Vf b, Vf c)
{
  return c - a * b;
}

/* The values of a and b in turn, and back. */
static inline void
vf_zip (Vf a, Vf b, Vf *low, Vf *high)
{
  *low = (Vf){ a[0], b[0], a[1], b[1] };
  *high = (Vf){ a[2], b[2], a[3], b[3] };
}

static inline void
vf_unzip (Vf a, Vf b, Vf *even, Vf *odd)
{
  *even = (Vf){ a[0], a[2], b[0], b[2] };
  *odd = (Vf){ a[1], a[3], b[1], b[3] };
}

/* sum[4] += a, and the sum as floats */
static inline void
vf_add_wide (double *sum, Vf a)
{
  for (int i = 0; i < 4; i++)
    sum[i] += (double)a[i];
}

static inline Vf
vf_narrow (const double *sum)
{
  return (Vf){ (float)sum[0], (float)sum[1], (float)sum[2], (float)sum[3] };
}

#define VD_LANES 2
typedef double Vd __attribute__ ((vector_size (16), may_alias));

static inline Vd
vd_load (const double *p)
{
  return *(const Vd *)p;
}

static inline Vd
vd_loadu (const double *p)
{
  Vd a;

  memcpy (&a, p, sizeof a);
  return a;
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
  *(Vd *)p = a;
}

static inline void
vd_storeu (double *p, Vd a)
{
  memcpy (p, &a, sizeof a);
}

static inline Vd
vd_keep (Vd a)
{
#if defined(__x86_64__)
  __asm__("" : "+x"(a));
#elif defined(__aarch64__)
  __asm__("" : "+w"(a));
#endif
  return a;
}

static inline Vd
vd_set1 (double a)
{
  return (Vd){ a, a };
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
  *low = (Vd){ a[0], b[0] };
  *high = (Vd){ a[1], b[1] };
}

static inline void
vd_unzip (Vd a, Vd b, Vd *even, Vd *odd)
{
  *even = (Vd){ a[0], b[0] };
  *odd = (Vd){ a[1], b[1] };
}
