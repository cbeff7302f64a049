/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gain.h: logarithms and powers of two, 3e-9 off at the most (-170 dB), as the
 * vectors of the CPU have them (dsp/cpu/dynamics-vec.c). */
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
  double p = 0.4317176994771338;

  p = __fma_rn (p, square, 0.5767151859448492);
  p = __fma_rn (p, square, 0.9617988388027638);
  p = __fma_rn (p, square, 2.8853900798033356);
  return __fma_rn (p, f, (double)exponent);
}

/* Of -1020 to 1020; beyond that of these.  A polynomial for what a whole number
 * leaves, exact for 0. */
TFX_DEVICE_FN double
gain_exp2 (double x)
{
  /* Its last bits are those of a number that is added to it. */
  const double round = 6755399441055744.0;
  double whole, r, p = 0.0001546144469856913;

  x = x < -1020.0 ? -1020.0 : x > 1020.0 ? 1020.0 : x;
  whole = __dadd_rn (x, round);
  r = __dsub_rn (x, __dsub_rn (whole, round));
  p = __fma_rn (p, r, 0.0013400428177615838);
  p = __fma_rn (p, r, 0.009618056678524637);
  p = __fma_rn (p, r, 0.05550327226670302);
  p = __fma_rn (p, r, 0.24022650922288757);
  p = __fma_rn (p, r, 0.6931472067028326);
  p = __fma_rn (p, r, 1.0);
  return __longlong_as_double (
      (long long)((tfx_u64)__double_as_longlong (p) +
                  ((tfx_u64)__double_as_longlong (whole) << 52)));
}

#endif
