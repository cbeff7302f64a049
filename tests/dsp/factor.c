/* SPDX-License-Identifier: LGPL-2.1-or-later
 * factor.c: see factor.h.
 */
#include "factor.h"

#include <math.h>

TestAngle
test_angle (double freq_hz, double rate_hz)
{
  const TestQuad w = 2 * TEST_QUAD_PI * freq_hz / rate_hz;

  return (TestAngle){ w, test_quad_cos (w), test_quad_sin (w) };
}

TestFactor
test_factor_at (double c0, double c1, double c2, const TestAngle *w)
{
  TestQuad sum = (TestQuad)c0 + c2, difference = (TestQuad)c0 - c2;

  return (TestFactor){ sum * w->cos + c1, difference * w->sin, -sum * w->sin,
    difference * w->cos };
}

double
test_factor_magnitude (const TestFactor *f)
{
  return (double)test_quad_sqrt (f->re * f->re + f->im * f->im);
}

double
test_factor_error (double c0, double c1, double c2, const TestFactor *f)
{
  double size = fabs (c0) + fabs (c1) + fabs (c2);

  return 8 * TEST_UNIT * size / test_factor_magnitude (f);
}

TestQuad
test_factor_slope (const TestFactor *f)
{
  TestQuad m = f->re * f->re + f->im * f->im;

  return m > 0 ? (f->re * f->d_im - f->im * f->d_re) / m : 0;
}

double
test_factor_steepness (const TestFactor *f)
{
  return (double)test_quad_sqrt (f->d_re * f->d_re + f->d_im * f->d_im) /
         test_factor_magnitude (f);
}

double
test_response_bound (const TfxSos *sos, size_t n_sos, double freq_hz,
    double rate_hz)
{
  const TestAngle w = test_angle (freq_hz, rate_hz);
  const double move = 4 * TEST_UNIT * fabs ((double)w.w);
  double bound = 4 * TEST_UNIT;

  for (size_t k = 0; k < n_sos; k++) {
    const TfxSos *s = &sos[k];
    TestFactor b = test_factor_at (s->b0, s->b1, s->b2, &w);
    TestFactor a = test_factor_at (1, s->a1, s->a2, &w);

    bound += 16 * TEST_UNIT + test_factor_error (s->b0, s->b1, s->b2, &b) +
             test_factor_error (1, s->a1, s->a2, &a) +
             move * (test_factor_steepness (&b) + test_factor_steepness (&a));
  }
  return bound;
}
