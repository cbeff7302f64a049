/* SPDX-License-Identifier: LGPL-2.1-or-later
 * factor.h: numerators and denominators of sections in quadruple precision, and
 * what rounding in double can do to them.
 */
#ifndef TEST_FACTOR_H
#define TEST_FACTOR_H

#include "common.h"

/* Half a unit in the last place of 1. */
#define TEST_UNIT 0x1p-53

/* 2 pi freq / rate, with its cosine and sine. */
typedef struct TestAngle
{
  TestQuad w, cos, sin;
} TestAngle;

TestAngle test_angle (double freq_hz, double rate_hz);

/* c0 + c1 / z + c2 / z^2 at z = exp (j w), times z; and its derivative by w. */
typedef struct TestFactor
{
  TestQuad re, im, d_re, d_im;
} TestFactor;

TestFactor test_factor_at (double c0, double c1, double c2, const TestAngle *w);
double test_factor_magnitude (const TestFactor *f);
/* The slope of its phase by w; 0 at a root. */
TestQuad test_factor_slope (const TestFactor *f);

/* |F'| / |F|, what the rounding of w moves. */
double test_factor_steepness (const TestFactor *f);

/* A bound on the relative error of the factor if it is evaluated in double:
 * c0 + c2, c0 - c2 and the sum of all three are rounded once or twice, each
 * time by at most TEST_UNIT of |c0| + |c1| + |c2|, and each product and each
 * trigonometric function adds one more. */
double test_factor_error (double c0, double c1, double c2, const TestFactor *f);

/* A bound on the relative error of a cascade's response: that of its factors
 * and of their products, and the effect of rounding w. */
double test_response_bound (const TfxSos *sos, size_t n_sos, double freq_hz,
    double rate_hz);

#endif /* TEST_FACTOR_H */
