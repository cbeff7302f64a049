/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops_tmpl.c: the innermost loops for one instruction set and one
 * sample type.  Included by convolver-ops-<isa>.c with
 *
 *   T      float or double
 *   V      vector type of LANES values
 *   v(op)  operation on V
 *   OP(f)  the name of function f
 *   WIDE   1 if sums of products need more than T: T is float */

#define INLINE static inline __attribute__ ((always_inline))

/* ---- complex numbers, split ---------------------------------------------- */

typedef struct
{
  V re, im;
} OP (C);

#define C OP (C)

INLINE C
OP (c_load) (const T *re, const T *im)
{
  return (C){ v (load) (re), v (load) (im) };
}

/* The same without alignment. */
INLINE C
OP (c_loadu) (const T *re, const T *im)
{
  return (C){ v (loadu) (re), v (loadu) (im) };
}

INLINE C
OP (c_keep) (const T *re, const T *im)
{
  return (C){ v (keep) (v (load) (re)), v (keep) (v (load) (im)) };
}

INLINE void
OP (c_store) (T *re, T *im, C a)
{
  v (store) (re, a.re);
  v (store) (im, a.im);
}

INLINE C
OP (c_add) (C a, C b)
{
  return (C){ v (add) (a.re, b.re), v (add) (a.im, b.im) };
}

INLINE C
OP (c_sub) (C a, C b)
{
  return (C){ v (sub) (a.re, b.re), v (sub) (a.im, b.im) };
}

/* a + i b */
INLINE C
OP (c_add_i) (C a, C b)
{
  return (C){ v (sub) (a.re, b.im), v (add) (a.im, b.re) };
}

/* a - i b */
INLINE C
OP (c_sub_i) (C a, C b)
{
  return (C){ v (add) (a.re, b.im), v (sub) (a.im, b.re) };
}

/* a b */
INLINE C
OP (c_mul) (C a, C b)
{
  return (C){ v (fnma) (a.im, b.im, v (mul) (a.re, b.re)),
    v (fma) (a.im, b.re, v (mul) (a.re, b.im)) };
}

/* a conj (b) */
INLINE C
OP (c_mul_conj) (C a, C b)
{
  return (C){ v (fma) (a.im, b.im, v (mul) (a.re, b.re)),
    v (fnma) (a.re, b.im, v (mul) (a.im, b.re)) };
}

/* Factor number k: re and im. */
INLINE C
OP (c_factor) (const T *factors, size_t k)
{
  return (C){ v (set1) (factors[2 * k]), v (set1) (factors[2 * k + 1]) };
}

#include "convolver-direct_tmpl.c"
#include "convolver-leaves_tmpl.c"
#include "convolver-passes_tmpl.c"
#include "convolver-samples_tmpl.c"

#undef C
#undef INLINE
