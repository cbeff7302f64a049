/* SPDX-License-Identifier: LGPL-2.1-or-later
 * real.h: the two arithmetics of the filters.
 *
 * double, and Twofold: a float and what rounding took from it, about 48 bits,
 * for devices that do double at a small fraction of float's speed.  Every
 * operation names its rounding, so that no compiler contracts or reorders it
 * and the host gets the same bits as the device.
 *
 * Twofold follows T. J. Dekker (1971) and M. Joldes, J.-M. Muller, V. Popescu,
 * "Tight and rigorous error bounds for basic building blocks of double-word
 * arithmetic" (2017).  An error is a few units of 2^-48 of the largest
 * operand.
 *
 * In a sum of many products real_gather() adds one as real_fma() does, but
 * leaves what rounding took where it is: that saves putting the two parts in
 * order after each.  real_settle() does it once, before the sum is a factor or a
 * result.  (T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product",
 * 2005.)  With double they are real_fma() and nothing. */
#ifndef TFX_KERNEL_REAL_H
#define TFX_KERNEL_REAL_H

#include "platform.h"

struct alignas (8) Twofold
{
  float high, low;
};

/* Two numbers in one 16-byte access. */
template <typename R> struct alignas (16) Pair
{
  R a, b;
};

/* ---- double --------------------------------------------------------------- */

TFX_DEVICE_FN double
real_fma (double a, double b, double c)
{
  return __fma_rn (a, b, c);
}

/* a x + c with a sample x. */
TFX_DEVICE_FN double
real_fma (double a, float x, double c)
{
  return __fma_rn (a, (double)x, c);
}

template <typename X>
TFX_DEVICE_FN double
real_gather (double a, X x, double c)
{
  return real_fma (a, x, c);
}

TFX_DEVICE_FN double
real_settle (double a)
{
  return a;
}

TFX_DEVICE_FN double
real_mul (double a, double b)
{
  return __dmul_rn (a, b);
}

TFX_DEVICE_FN double
real_add (double a, double b)
{
  return __dadd_rn (a, b);
}

TFX_DEVICE_FN double
real_neg (double a)
{
  return -a;
}

TFX_DEVICE_FN bool
real_is_finite (double a)
{
  return isfinite (a);
}

TFX_DEVICE_FN double
real_shuffle_up (double a, unsigned delta, unsigned width)
{
  return __shfl_up_sync (TFX_ALL_LANES, a, delta, width);
}

TFX_DEVICE_FN double
real_shuffle (double a, unsigned lane)
{
  return __shfl_sync (TFX_ALL_LANES, a, lane, TFX_WARP);
}

TFX_DEVICE_FN void
real_split (double a, unsigned *high, unsigned *low)
{
  tfx_u64 bits = (tfx_u64)__double_as_longlong (a);

  *high = (unsigned)(bits >> 32);
  *low = (unsigned)bits;
}

TFX_DEVICE_FN void
real_join (unsigned high, unsigned low, double *a)
{
  *a = __longlong_as_double ((long long)((tfx_u64)high << 32 | low));
}

TFX_DEVICE_FN double
real_to_double (double a)
{
  return a;
}

/* ---- Twofold ---------------------------------------------------------------- */

/* |a| >= |b|, or a = 0. */
TFX_DEVICE_FN Twofold
twofold_sum_ordered (float a, float b)
{
  float s = __fadd_rn (a, b);

  return Twofold{ s, __fsub_rn (b, __fsub_rn (s, a)) };
}

TFX_DEVICE_FN Twofold
real_settle (Twofold a)
{
  return twofold_sum_ordered (a.high, a.low);
}

TFX_DEVICE_FN Twofold
real_gather (Twofold a, Twofold b, Twofold c)
{
  float p = __fmul_rn (a.high, b.high);
  float e = __fmaf_rn (a.high, b.high, -p);
  float s = __fadd_rn (c.high, p);
  float t = __fsub_rn (s, c.high);
  float r = __fadd_rn (__fsub_rn (c.high, __fsub_rn (s, t)), __fsub_rn (p, t));

  e = __fmaf_rn (a.high, b.low, e);
  e = __fmaf_rn (a.low, b.high, e);
  return Twofold{ s, __fadd_rn (r, __fadd_rn (c.low, e)) };
}

/* With a sample x. */
TFX_DEVICE_FN Twofold
real_gather (Twofold a, float x, Twofold c)
{
  float p = __fmul_rn (a.high, x);
  float e = __fmaf_rn (a.high, x, -p);
  float s = __fadd_rn (c.high, p);
  float t = __fsub_rn (s, c.high);
  float r = __fadd_rn (__fsub_rn (c.high, __fsub_rn (s, t)), __fsub_rn (p, t));

  e = __fmaf_rn (a.low, x, e);
  return Twofold{ s, __fadd_rn (r, __fadd_rn (c.low, e)) };
}

TFX_DEVICE_FN Twofold
real_fma (Twofold a, Twofold b, Twofold c)
{
  return real_settle (real_gather (a, b, c));
}

TFX_DEVICE_FN Twofold
real_mul (Twofold a, Twofold b)
{
  float p = __fmul_rn (a.high, b.high);
  float e = __fmaf_rn (a.high, b.high, -p);

  e = __fmaf_rn (a.high, b.low, e);
  e = __fmaf_rn (a.low, b.high, e);
  return twofold_sum_ordered (p, e);
}

TFX_DEVICE_FN Twofold
real_add (Twofold a, Twofold b)
{
  float s = __fadd_rn (a.high, b.high);
  float t = __fsub_rn (s, a.high);
  float r =
      __fadd_rn (__fsub_rn (a.high, __fsub_rn (s, t)), __fsub_rn (b.high, t));

  return twofold_sum_ordered (s, __fadd_rn (r, __fadd_rn (a.low, b.low)));
}

TFX_DEVICE_FN Twofold
real_neg (Twofold a)
{
  return Twofold{ -a.high, -a.low };
}

TFX_DEVICE_FN bool
real_is_finite (Twofold a)
{
  return isfinite (a.high) && isfinite (a.low);
}

TFX_DEVICE_FN Twofold
real_shuffle_up (Twofold a, unsigned delta, unsigned width)
{
  return Twofold{ __shfl_up_sync (TFX_ALL_LANES, a.high, delta, width),
    __shfl_up_sync (TFX_ALL_LANES, a.low, delta, width) };
}

TFX_DEVICE_FN Twofold
real_shuffle (Twofold a, unsigned lane)
{
  return Twofold{ __shfl_sync (TFX_ALL_LANES, a.high, lane, TFX_WARP),
    __shfl_sync (TFX_ALL_LANES, a.low, lane, TFX_WARP) };
}

TFX_DEVICE_FN void
real_split (Twofold a, unsigned *high, unsigned *low)
{
  *high = __float_as_uint (a.high);
  *low = __float_as_uint (a.low);
}

TFX_DEVICE_FN void
real_join (unsigned high, unsigned low, Twofold *a)
{
  *a = Twofold{ __uint_as_float (high), __uint_as_float (low) };
}

TFX_DEVICE_FN double
real_to_double (Twofold a)
{
  return __dadd_rn ((double)a.high, (double)a.low);
}

/* True if an operation is one instruction: then loads beside it cost, and code
 * does not. */
TFX_DEVICE_FN constexpr bool
real_is_short (double)
{
  return true;
}

TFX_DEVICE_FN constexpr bool
real_is_short (Twofold)
{
  return false;
}

/* cos (pi / 4) */
TFX_DEVICE_FN void
real_root_half (double *a)
{
  *a = 0x1.6a09e667f3bcdp-1;
}

TFX_DEVICE_FN void
real_root_half (Twofold *a)
{
  *a = Twofold{ 0x1.6a09e6p-1f, 0x1.9fcef4p-27f };
}

/* ---- conversions --------------------------------------------------------------- */

TFX_DEVICE_FN void
real_set (float x, float *a)
{
  *a = x;
}

TFX_DEVICE_FN void
real_set (double x, double *a)
{
  *a = x;
}

TFX_DEVICE_FN void
real_set (float x, double *a)
{
  *a = (double)x;
}

TFX_DEVICE_FN void
real_set (float x, Twofold *a)
{
  *a = Twofold{ x, 0.0f };
}

TFX_DEVICE_FN void
real_set (double x, Twofold *a)
{
  float high = (float)x;

  *a = Twofold{ high, (float)__dsub_rn (x, (double)high) };
}

TFX_DEVICE_FN void
real_set (Twofold x, Twofold *a)
{
  *a = x;
}

/* To a sample, rounded once. */
TFX_DEVICE_FN void
real_get (float a, float *x)
{
  *x = a;
}

TFX_DEVICE_FN void
real_get (float a, double *x)
{
  *x = (double)a;
}

TFX_DEVICE_FN void
real_get (double a, float *x)
{
  *x = (float)a;
}

TFX_DEVICE_FN void
real_get (double a, double *x)
{
  *x = a;
}

TFX_DEVICE_FN void
real_get (Twofold a, float *x)
{
  *x = a.high;
}

TFX_DEVICE_FN void
real_get (Twofold a, double *x)
{
  *x = real_to_double (a);
}

TFX_DEVICE_FN void
real_get (Twofold a, Twofold *x)
{
  *x = a;
}

#endif
