/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gain.h: logarithms and powers of two, 1.1e-12 off at the most, as vectors of the CPU
 * have them (dsp/cpu/dynamics-math.h). */
#ifndef TFX_KERNEL_GAIN_H
#define TFX_KERNEL_GAIN_H

#include "real.h"

/* Of a positive normal number.  With m in [sqrt 1/2, sqrt 2) and f = (m - 1) /
 * (m + 1) a polynomial for ln m = 2 (f + f^3 / 3 + f^5 / 5 ...). */
TFX_DEVICE_FN double
gain_log2 (double x)
{
  long long bits = __double_as_longlong (x);
  /* The bits of sqrt 1/2, and from there to those of 1. */
  long long exponent = (bits - 0x3fe6a09e667f3bcdll) >> 52;
  double m = __longlong_as_double (bits - exponent * 0x10000000000000ll);
  double f = __dsub_rn (m, 1.0) / __dadd_rn (m, 1.0);
  double square = __dmul_rn (f, f);
  double p = 0.3428250276132508;

  p = __fma_rn (p, square, 0.41153394683115796);
  p = __fma_rn (p, square, 0.5770866493070024);
  p = __fma_rn (p, square, 0.9617966482782394);
  p = __fma_rn (p, square, 2.885390081845443);
  return __fma_rn (p, f, (double)exponent);
}

/* Range -1020 to 1020; other values count as these limits. A polynomial for the
 * fraction, exact for 0. */
TFX_DEVICE_FN double
gain_exp2 (double x)
{
  /* Its last bits are those of a number that is added to it. */
  const double round = 6755399441055744.0;
  double whole, r, p = 1.3263519014722198e-06;

  x = x < -1020.0 ? -1020.0 : x > 1020.0 ? 1020.0 : x;
  whole = __dadd_rn (x, round);
  r = __dsub_rn (x, __dsub_rn (whole, round));
  p = __fma_rn (p, r, 1.5310033458625482e-05);
  p = __fma_rn (p, r, 0.0001540341537155833);
  p = __fma_rn (p, r, 0.0013333450819430362);
  p = __fma_rn (p, r, 0.009618129219572133);
  p = __fma_rn (p, r, 0.05550410940791773);
  p = __fma_rn (p, r, 0.2402265069555365);
  p = __fma_rn (p, r, 0.6931471805461292);
  p = __fma_rn (p, r, 1.0);
  return __longlong_as_double (
      (long long)((tfx_u64)__double_as_longlong (p) +
                  ((tfx_u64)__double_as_longlong (whole) << 52)));
}

#endif
