/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-math.h: vectors of doubles that are compared, and their logarithms and
 * powers. */
#ifndef TFX_DYNAMICS_MATH_H
#define TFX_DYNAMICS_MATH_H

#include "vec.h"

#define INLINE static inline __attribute__ ((always_inline))

/* An intrinsic for a whole vector. */
#if defined(__AVX512F__)
#define V_OWN(op) _mm512_##op##_pd
#elif defined(__AVX2__)
#define V_OWN(op) _mm256_##op##_pd
#elif defined(__aarch64__)
#define V_OWN(op) v##op##q_f64
#else
#define V_OWN(op) _mm_##op##_pd
#endif

/* b where a is NaN. */
INLINE V
v_max (V a, V b)
{
#if defined(__aarch64__)
  return vmaxnmq_f64 (a, b);
#else
  return V_OWN (max) (a, b);
#endif
}

INLINE V
v_min (V a, V b)
{
#if defined(__aarch64__)
  return vminnmq_f64 (a, b);
#else
  return V_OWN (min) (a, b);
#endif
}

INLINE V
v_sqrt (V a)
{
  return V_OWN (sqrt) (a);
}

/* The same, and 1e-30 for less than 1e-60, with a shorter latency. */
INLINE V
v_sqrt_soon (V a)
{
#if defined(__AVX512F__)
  /* Half of 1 / sqrt (a) to 14 bits, sqrt (a) to 28 by Goldschmidt's method, and the remainder
   * of its square: a third of the time of a square root. */
  const V x = v_max (a, v_set1 (1e-60)), half = v_set1 (0.5);
  V r = _mm512_rsqrt14_pd (x), root = x * r, error;

  r *= half;
  error = v_fma (-root, r, half);
  root = v_fma (root, error, root);
  r = v_fma (r, error, r);
  return v_fma (v_fma (-root, root, x), r, root);
#else
  return v_sqrt (a);
#endif
}

/* a / b, b normal; where a is b it is 1. */
INLINE V
v_divide (V a, V b)
{
#if defined(__AVX512F__)
  /* 14 bits, 28 by Newton's method, and the remainder of the quotient: a shorter latency
   * than that of a division. */
  V r = _mm512_rcp14_pd (b), q;

  r *= v_fma (-b, r, v_set1 (2.0));
  q = a * r;
  return v_fma (v_fma (-q, b, a), r, q);
#else
  return a / b;
#endif
}

INLINE VBits
v_bits1 (int64_t a)
{
  const VBits zero = { 0 };

  return zero + a;
}

/* One bit a lane, set where the number is negative. */
INLINE unsigned
v_signs (VBits a)
{
#if W == 8
  return _mm512_movepi64_mask ((__m512i)a);
#elif W == 4
  return (unsigned)_mm256_movemask_pd ((__m256d)a);
#else
  return (unsigned)(a[0] < 0) | (unsigned)(a[1] < 0) << 1;
#endif
}

typedef uint64_t VWords __attribute__ ((vector_size (8 * W), may_alias));

INLINE V
v_abs (V a)
{
  return (V)((VBits)a & v_bits1 (INT64_MAX));
}

/* Vectors at a time, operation by operation: the latency of one vector's operations is longer
 * than a processor's window.  n_side: how many, where fewer are left. */
#define N_SIDE (W == 8 ? 8 : 4)
#define EACH for (unsigned k = 0; k < n_side; k++)

typedef struct VSide
{
  V v[N_SIDE];
} VSide;

/* p = p x + c, with a polynomial's next coefficient. */
INLINE VSide
v_horner (VSide p, VSide x, double c, const unsigned n_side)
{
  EACH p.v[k] = v_fma (p.v[k], x.v[k], v_set1 (c));
  return p;
}

/* The same vector in all. */
INLINE VSide
v_repeat_side (V a, const unsigned n_side)
{
  VSide all;

  EACH all.v[k] = a;
  return all;
}

INLINE VSide
v_side (double a, const unsigned n_side)
{
  return v_repeat_side (v_set1 (a), n_side);
}

#if defined(__AVX512F__)

/* Sixteen numbers; of the lanes of `index` the lowest four bits count. */
typedef struct VTable
{
  V low, high;
} VTable;

INLINE VTable
v_table (const double numbers[16])
{
  return (VTable){ v_load_f64 (numbers), v_load_f64 (numbers + W) };
}

INLINE V
v_look_up (VTable t, VBits index)
{
  return _mm512_permutex2var_pd (t.low, (__m512i)index, t.high);
}

/* scale log2 a + offset for normal a, and a finite number for 0.  With r near
 * 1 / m, m in [1, 2), by its first four bits, and z = r m - 1, log2 a is the exponent
 * less log2 r and log2 (1 + z), a polynomial, 5e-10 off at the most, or 8e-12 if it is
 * exact.  All of it is scaled, and the exponent stands with the four bits behind it. */
typedef struct VLog
{
  VTable r, rest;
  V step, p[5];
} VLog;

INLINE VLog
v_log_of (double scale, double offset, const bool is_exact)
{
  static const double r[16] = { 0x1.f08p-1, 0x1.d42p-1, 0x1.bacp-1, 0x1.a42p-1,
    0x1.8fap-1, 0x1.7dp-1, 0x1.6c2p-1, 0x1.5cap-1, 0x1.4e6p-1, 0x1.414p-1,
    0x1.352p-1, 0x1.29ep-1, 0x1.1f8p-1, 0x1.15cp-1, 0x1.0cap-1, 0x1.042p-1 };
  static const double log_r[16] = { 0.04435009247162612, 0.1292499966538866,
    0.20965150324808576, 0.2853251726919982, 0.3574969712194797,
    0.42635281250667795, 0.4917100138596516, 0.5544677809716879,
    0.6146768238241284, 0.6724473559187596, 0.7279534756100622,
    0.781436763809729, 0.8325818541682625, 0.882356898610908,
    0.9305502325722165, 0.9769387502646654 };
  static const double exact[5] = { 1.4426950409123376, -0.7213474319414422,
    0.480898158161886, -0.36098329404783464, 0.2889065300313975 };
  static const double near[5] = { 1.4426949652967154, -0.7213474117219864,
    0.48122912033065773, -0.36099928996022407 };
  const V s = v_set1 (scale), step = v_set1 (scale / 16.0);
  const V lanes = { V_LANES };
  /* The bias of the exponent, and the bits after it, are subtracted in the table. */
  const V rest = v_set1 (offset - 1023.0 * scale);
  const VTable t = v_table (log_r);
  VLog l = { v_table (r),
    { v_fma (s, t.low, v_fnma (step, lanes, rest)),
        v_fma (s, t.high, v_fnma (step, lanes + W, rest)) },
    step };

  for (unsigned k = 0; k < 5; k++)
    l.p[k] = v_set1 (scale * (is_exact ? exact[k] : near[k]));
  return l;
}

INLINE VSide
v_log (VSide a, const VLog *l, const bool is_exact, const unsigned n_side)
{
  const __m512i mantissa = _mm512_set1_epi64 (0xfffffffffffff);
  const __m512i one = _mm512_set1_epi64 (0x3ff0000000000000);
  VSide m, n, z, p;
  VBits index[N_SIDE];

  EACH index[k] = (VBits)((VWords)a.v[k] >> 48);
  EACH m.v[k] =
      (V)_mm512_ternarylogic_epi64 ((__m512i)a.v[k], mantissa, one, 0xea);
  EACH z.v[k] = v_fma (m.v[k], v_look_up (l->r, index[k]), v_set1 (-1.0));
  EACH n.v[k] = _mm512_cvtepi64_pd ((__m512i)index[k]);
  EACH n.v[k] = v_fma (n.v[k], l->step, v_look_up (l->rest, index[k]));
  EACH p.v[k] = is_exact ? v_fma (l->p[4], z.v[k], l->p[3]) : l->p[3];
  EACH p.v[k] = v_fma (p.v[k], z.v[k], l->p[2]);
  EACH p.v[k] = v_fma (p.v[k], z.v[k], l->p[1]);
  EACH p.v[k] = v_fma (p.v[k], z.v[k], l->p[0]);
  EACH p.v[k] = v_fma (p.v[k], z.v[k], n.v[k]);
  return p;
}

/* scale / 2^h, h from -1000 to 1000: 2^(k / 16) from a table, and a polynomial for
 * what that leaves, 1.6e-9 off at the most, or 3e-12 if it is exact, none for 0.  k stands at the
 * end of the bits of t; where it comes to be the exponent, its last four bits come to
 * stand beneath that, and the bits in the table are less by them. */
typedef struct VPower
{
  VTable powers;
} VPower;

INLINE VPower
v_power_of (double scale)
{
  static const double powers[16] = { 1.0, 1.0442737824274138,
    1.0905077326652577, 1.1387886347566916, 1.189207115002721,
    1.241857812073484, 1.2968395546510096, 1.3542555469368927,
    1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
    1.6104903319492543, 1.681792830507429, 1.7562521603732995,
    1.8340080864093424, 1.9152065613971474 };
  const V s = v_set1 (scale);
  const VTable t = v_table (powers);

  const VBits lanes = { V_LANES };
  const V low = s * t.low, high = s * t.high;

  return (VPower){ { (V)((VBits)low - (lanes << 48)),
      (V)((VBits)high - ((lanes + W) << 48)) } };
}

INLINE VSide
v_power (VSide h, const VPower *power, const bool is_exact,
    const unsigned n_side)
{
  static const double exact[] = { 0.6931471801630488, 0.24022650686301436,
    0.05550573573560749 };
  static const double near[] = { 0.6931471800332658, 0.24023428821696283,
    0.05550595010448183 };
  const V round = v_set1 (0x1.8p48);
  VSide t, r, p;

  EACH t.v[k] = round - h.v[k];
  EACH r.v[k] = (round - t.v[k]) - h.v[k];
  p = is_exact ? v_horner (v_side (0.009618377913093267, n_side), r, exact[2],
                     n_side)
               : v_side (near[2], n_side);
  p = v_horner (p, r, is_exact ? exact[1] : near[1], n_side);
  p = v_horner (p, r, is_exact ? exact[0] : near[0], n_side);
  p = v_horner (p, r, 1.0, n_side);
  EACH t.v[k] = (V)((VBits)v_look_up (power->powers, (VBits)t.v[k]) +
                    ((VBits)t.v[k] << 48));
  EACH p.v[k] *= t.v[k];
  return p;
}

#else

/* scale log2 a + offset for normal a, and a finite number for 0.  With m in
 * [root 1/2, root 2) and s = (m - 1) / (m + 1), log2 a is the exponent and s times a
 * polynomial in s^2, 2e-10 off at the most, or 1.1e-12 if it is exact. */
typedef struct VLog
{
  V scale, offset;
} VLog;

INLINE VLog
v_log_of (double scale, double offset, const bool is_exact)
{
  return (VLog){ v_set1 (scale), v_set1 (offset) };
}

INLINE VSide
v_log (VSide a, const VLog *l, const bool is_exact, const unsigned n_side)
{
  static const double exact[] = { 0.3428250276132508, 0.41153394683115796,
    0.5770866493070024, 0.9617966482782394, 2.885390081845443 };
  static const double near[] = { 0.0, 0.4342559103071771, 0.5765845431270826,
    0.9618007591821234, 2.885390072752296 };
  const double *c = is_exact ? exact : near;
  const VBits one = v_bits1 (0x3ff0000000000000);
  VWords e[N_SIDE];
  VSide m, n, s, z, p;

  EACH e[k] =
      (VWords)((VBits)a.v[k] + (one - v_bits1 (0x3fe6a09e667f3bcd))) >> 52;
  EACH m.v[k] = (V)((VBits)a.v[k] - ((VBits)(e[k] << 52) - one));
  EACH s.v[k] = (m.v[k] - v_set1 (1.0)) / (m.v[k] + v_set1 (1.0));
  /* e + 2^52, less 2^52 and the bias of the exponent. */
  EACH n.v[k] = (V)((VBits)e[k] | v_bits1 (0x4330000000000000)) -
                v_set1 (0x1p52 + 1023.0);
  EACH z.v[k] = s.v[k] * s.v[k];
  p = is_exact ? v_horner (v_side (c[0], n_side), z, c[1], n_side)
               : v_side (c[1], n_side);
  for (unsigned i = 2; i < 5; i++)
    p = v_horner (p, z, c[i], n_side);
  EACH p.v[k] = v_fma (p.v[k], s.v[k], n.v[k]);
  EACH p.v[k] = v_fma (l->scale, p.v[k], l->offset);
  return p;
}

/* scale / 2^h, h from -1000 to 1000: a polynomial for the fraction of h,
 * 1.9e-9 off at the most, or 8e-13 if it is exact, none for 0. */
typedef struct VPower
{
  V scale;
} VPower;

INLINE VPower
v_power_of (double scale)
{
  return (VPower){ v_set1 (scale) };
}

INLINE VSide
v_power (VSide h, const VPower *power, const bool is_exact,
    const unsigned n_side)
{
  static const double exact[] = { 1.3263519014722198e-06,
    1.5310033458625482e-05, 0.0001540341537155833, 0.0013333450819430362,
    0.009618129219572133, 0.05550410940791773, 0.2402265069555365,
    0.6931471805461292, 1.0 };
  static const double near[] = { 0.0, 0.0, 0.00015476300192959847,
    0.0013400269611992125, 0.009618003890224141, 0.05550327791349574,
    0.2402265134591085, 0.6931472062481273, 1.0 };
  const V round = v_set1 (0x1.8p52);
  VSide t, r, p;

  EACH t.v[k] = round - h.v[k];
  EACH r.v[k] = (round - t.v[k]) - h.v[k];
  p = v_side (is_exact ? exact[0] : near[2], n_side);
  for (unsigned i = is_exact ? 1 : 3; i < 9; i++)
    p = v_horner (p, r, is_exact ? exact[i] : near[i], n_side);
  EACH p.v[k] = (V)((VBits)p.v[k] + ((VBits)t.v[k] << 52)) * power->scale;
  return p;
}

#endif

#endif
