/* SPDX-License-Identifier: LGPL-2.1-or-later
 * matched.c: a numerator that makes the magnitude follow a curve.
 *
 * With poles that are given, and one more at z = -EXTRA_POLE that only helps near
 * half the rate, the power of the numerator of order three is
 *   |B|^2 = r0 + r1 cos w + r2 cos 2w + r3 cos 3w,
 * linear in r.  So r comes from least squares of |B|^2 / (|A|^2 |H|^2) - 1 over a
 * grid of frequencies, and B from its factors: with y = z + 1/z = 2 cos w the sum
 * is a cubic in y, each of whose roots is a zero within the unit circle and its
 * mirror image.  (The matching is that of M. Vicanek, Matched second order
 * digital filters, 2016, over a grid instead of three points.) */
#include "matched.h"

#include <complex.h>
#include <errno.h>
#include <math.h>

/* ---- least squares ------------------------------------------------------ */

/* A column with a smaller remainder depends on the columns before it. */
#define RANK_TOLERANCE 1e-12

static double
dot (const double *a, const double *b, size_t n)
{
  double sum = 0.0;

  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Takes the part along q, of length 1, out of a; returns it. */
static double
take_out (double *a, const double *q, size_t n)
{
  const double part = dot (a, q, n);

  for (size_t i = 0; i < n; i++)
    a[i] -= part * q[i];
  return part;
}

/* A = Q R by the modified Gram-Schmidt process, with b as one column more (A. Bjorck,
 * Numerical Methods for Least Squares Problems, 1996). */
void
tfx_least_squares (double *a, double *b, size_t n_rows, size_t n, double *x)
{
  double r[TFX_LEAST_SQUARES_MAX][TFX_LEAST_SQUARES_MAX];
  double length[TFX_LEAST_SQUARES_MAX];

  for (size_t k = 0; k < n; k++)
    length[k] = sqrt (dot (a + k * n_rows, a + k * n_rows, n_rows));
  for (size_t k = 0; k < n; k++) {
    double *q = a + k * n_rows;

    r[k][k] = sqrt (dot (q, q, n_rows));
    if (!(r[k][k] > RANK_TOLERANCE * length[k])) {
      r[k][k] = 0.0;
      continue;
    }
    for (size_t i = 0; i < n_rows; i++)
      q[i] /= r[k][k];
    for (size_t j = k + 1; j < n; j++)
      r[k][j] = take_out (a + j * n_rows, q, n_rows);
    x[k] = take_out (b, q, n_rows);
  }
  for (size_t k = n; k-- > 0;) {
    if (r[k][k] == 0.0) {
      x[k] = 0.0;
      continue;
    }
    for (size_t j = k + 1; j < n; j++)
      x[k] -= r[k][j] * x[j];
    x[k] /= r[k][k];
  }
}

/* ---- sections ----------------------------------------------------------- */

/* By trial: RIAA and the weightings A and C follow their curves to 0.05 dB at
 * every usual rate. */
#define EXTRA_POLE 0.45
#define N_POINTS 128
#define N_TERMS 4

/* r[N_TERMS] of the numerator. */
static void
fit_power (const double poles[3], TfxPowerFunction power, const void *data,
    double rate_hz, double *r)
{
  /* (Over a small part of the circle alone the terms would look alike.) */
  const double top = fmax (fmin (20000.0, 0.45 * rate_hz), 0.3 * rate_hz);
  double a[N_TERMS][N_POINTS], b[N_POINTS];

  for (size_t i = 0; i < N_POINTS; i++) {
    const double f = top * (double)(i + 1) / N_POINTS;
    const double w = 2.0 * M_PI * f / rate_hz;
    double wanted = power (f, data);

    for (size_t k = 0; k < 3; k++)
      wanted *= 1.0 + poles[k] * poles[k] - 2.0 * poles[k] * cos (w);
    for (size_t k = 0; k < N_TERMS; k++)
      a[k][i] = cos ((double)k * w) / wanted;
    b[i] = 1.0;
  }
  tfx_least_squares (a[0], b, N_POINTS, N_TERMS, r);
}

/* c[3] y^3 + c[2] y^2 + c[1] y + c[0] */
static double
evaluate (const double *c, double y)
{
  return ((c[3] * y + c[2]) * y + c[1]) * y + c[0];
}

/* A real root of the cubic, which is positive from -2 to 2, outside of there; NAN
 * if there is none. */
static double
find_root (const double *c)
{
  for (int side = -1; side <= 1; side += 2) {
    double near = 2.0 * side, far = near;

    for (int i = 0; i < 200 && evaluate (c, far) > 0.0; i++)
      far *= 1.5;
    if (evaluate (c, far) > 0.0)
      continue;
    for (int i = 0; i < 200; i++) {
      const double middle = 0.5 * (near + far);

      if (evaluate (c, middle) > 0.0)
        near = middle;
      else
        far = middle;
    }
    return 0.5 * (near + far);
  }
  return NAN;
}

/* The zero within the unit circle of z + 1/z = y. */
static double complex
find_zero (double complex y)
{
  const double complex root = csqrt (y * y - 4.0);
  const double complex outer =
      cabs (y + root) > cabs (y - root) ? 0.5 * (y + root) : 0.5 * (y - root);

  return 1.0 / outer;
}

/* (1 - z1/z) and (1 - z2/z) (1 - z3/z) of the power r. */
static bool
factor (const double *r, double *single, double pair[2])
{
  const double c[4] = { r[0] - r[2], 0.5 * (r[1] - 3.0 * r[3]), 0.5 * r[2],
    0.5 * r[3] };
  const double y1 = find_root (c);
  double complex root, z2, z3;
  double d1, d0;

  if (!isfinite (y1))
    return false;
  /* The remaining factor: c3 y^2 + d1 y + d0. */
  d1 = c[2] + c[3] * y1;
  d0 = c[1] + d1 * y1;
  root = csqrt (d1 * d1 - 4.0 * c[3] * d0);
  z2 = find_zero ((-d1 + root) / (2.0 * c[3]));
  z3 = find_zero ((-d1 - root) / (2.0 * c[3]));
  *single = creal (find_zero (y1));
  pair[0] = -creal (z2 + z3);
  pair[1] = creal (z2 * z3);
  return isfinite (pair[0]) && isfinite (pair[1]);
}

int
tfx_matched_sections (double p1, double p2, TfxPowerFunction power,
    const void *data, double rate_hz, TfxSos sos[TFX_MATCHED_N_SOS])
{
  const double poles[3] = { p1, p2, -EXTRA_POLE };
  double r[N_TERMS], single, pair[2], at_0, gain;

  fit_power (poles, power, data, rate_hz, r);
  if (!factor (r, &single, pair))
    return -EINVAL;
  /* |B|^2 at 0 Hz is the sum of r. */
  at_0 = (1.0 - single) * (1.0 + pair[0] + pair[1]);
  gain = sqrt (r[0] + r[1] + r[2] + r[3]) / at_0;
  sos[0] =
      (TfxSos){ gain, gain * pair[0], gain * pair[1], -(p1 + p2), p1 * p2 };
  sos[1] = (TfxSos){ 1.0, -single, 0.0, EXTRA_POLE, 0.0 };
  return tfx_sos_is_stable (&sos[0]) && isfinite (gain) ? 0 : -EINVAL;
}
