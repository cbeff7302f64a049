/* SPDX-License-Identifier: LGPL-2.1-or-later
 * near-zeros.c: finds the zeros near the unit circle, and what they add to ln H.
 *
 * The unit of length is the distance of two points.  Through some points around each
 * short arc goes a polynomial in the angle, which follows H beside the circle too.  Its
 * roots are found by Laguerre's method.
 *
 * A zero at distance a inside the circle has the factor v + a, v = exp (j w) - 1, w
 * being the angle from the zero.  With b > a and q = (a - b) / (v + b),
 *
 *   ln (v + a) = ln (v + b) + q - q^2 / 2 + q^3 / 3 - ...
 *
 * The first terms have poles at b only, which is far enough for the points.  The rest,
 * from q^9 on, falls off with the 9th power of the angle, so it is summed over a few
 * points. */
#include "near-zeros.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Points of an arc, and points that its polynomial goes through. */
#define ARC 8
#define FIT 12
/* Off the points and the middles between them, where zeros often are. */
#define ARC_BEGIN -4.3
/* The largest a, b, the last power of q, and the angle where the rest is nothing. */
#define NEAR 6.0
#define FAR 14.0
#define LAST_POWER 8
#define WIDTH 110
/* Roots out of the arc's reach that are found before the search ends. */
#define MOST_FAR 2
/* A zero this near to 0 or half the rate is on the real axis. */
#define REAL 1e-6

static double complex
point_at (const TfxComplex *h, size_t n, ptrdiff_t i)
{
  const bool is_mirrored = i < 0 || i >= (ptrdiff_t)n;
  const ptrdiff_t at = i < 0         ? -1 - i
                       : is_mirrored ? 2 * (ptrdiff_t)n - 1 - i
                                     : i;

  return h[at].re + I * (is_mirrored ? -h[at].im : h[at].im);
}

/* The polynomial through FIT points, the first one at i, in the distance from their
 * middle. */
static void
fit_polynomial (const TfxComplex *h, size_t n, ptrdiff_t i,
    double complex a[FIT])
{
  for (int k = 0; k < FIT; k++)
    a[k] = point_at (h, n, i + k);
  for (int power = 1; power < FIT; power++) {
    for (int k = FIT - 1; k >= power; k--)
      a[k] = (a[k] - a[k - 1]) / power;
  }
  for (int first = FIT - 2; first >= 0; first--) {
    for (int k = first; k < FIT - 1; k++)
      a[k] -= (first - 0.5 * (FIT - 1)) * a[k + 1];
  }
}

/* Moves x to a root of a[degree + 1]; returns the derivative there. */
static double complex
find_root (const double complex *a, int degree, double complex *x)
{
  double complex value, slope = 0.0, bend, g, h, root, step;

  for (int pass = 0; pass < 40; pass++) {
    value = a[degree];
    slope = bend = 0.0;
    for (int k = degree - 1; k >= 0; k--) {
      bend = bend * *x + slope;
      slope = slope * *x + value;
      value = value * *x + a[k];
    }
    if (value == 0.0)
      break;
    g = slope / value;
    h = g * g - 2.0 * bend / value;
    root = csqrt ((degree - 1) * (degree * h - g * g));
    step = cabs (g + root) > cabs (g - root) ? g + root : g - root;
    if (step == 0.0)
      break;
    step = degree / step;
    *x -= step;
    if (!(cabs (step) > 1e-15 * (1.0 + cabs (*x))))
      break;
  }
  return slope;
}

/* Adds a zero at this place, counted from point 0. */
static void
add_zero (TfxComplex *sum, size_t n, double place, double inside)
{
  const double unit = M_PI / (double)n;
  const double a = -expm1 (-inside * unit), b = -expm1 (-FAR * unit);
  const ptrdiff_t first = (ptrdiff_t)floor (place) - WIDTH;
  const bool is_real =
      fabs (place + 0.5) < REAL || fabs (place + 0.5 - (double)n) < REAL;

  for (ptrdiff_t i = first; i <= first + 2 * WIDTH; i++) {
    const bool is_mirrored = i < 0 || i >= (ptrdiff_t)n;
    const ptrdiff_t at = i < 0         ? -1 - i
                         : is_mirrored ? 2 * (ptrdiff_t)n - 1 - i
                                       : i;
    const double complex v = cexp (I * ((double)i - place) * unit) - 1.0;
    const double complex q = (a - b) / (v + b);
    double complex rest, power = -1.0;

    /* The zero on the other side has the same at the mirrored points. */
    if ((is_mirrored && is_real) || at < 0 || at >= (ptrdiff_t)n)
      continue;
    rest = cabs (1.0 + q) > 1e-12 ? clog (1.0 + q) : log (1e-12);
    for (int k = 1; k <= LAST_POWER; k++) {
      power *= -q;
      rest -= power / k;
    }
    sum[at].re += creal (rest);
    sum[at].im += is_mirrored ? -cimag (rest) : cimag (rest);
  }
}

/* Divides a[degree + 1] by its root x. */
static void
divide (double complex *a, int degree, double complex x)
{
  double complex carry = a[degree];

  for (int k = degree - 1; k >= 0; k--) {
    const double complex next = a[k] + carry * x;

    a[k] = carry;
    carry = next;
  }
}

/* Adds the roots of the polynomial that are in its arc; its middle is at this place. */
static void
add_arc (const double complex fit[FIT], size_t n, double lowest, double middle,
    TfxComplex *sum)
{
  const double reach = hypot (ARC_BEGIN, NEAR);
  double complex a[FIT], x, root, slope;
  double others = 0.0, power = 1.0;
  int n_far = 0;

  /* No root is within a circle where the first term is larger than all others. */
  for (int k = 1; k < FIT; k++)
    others += cabs (fit[k]) * (power *= reach);
  if (cabs (fit[0]) > others)
    return;
  memcpy (a, fit, sizeof a);
  for (int degree = FIT - 1; degree > 0; degree--) {
    if (a[degree] == 0.0)
      continue;
    x = 0.0;
    find_root (a, degree, &x);
    divide (a, degree, x);
    /* The nearest roots are found first, with few exceptions. */
    if (!(cabs (x) < 2.0 * reach)) {
      if (++n_far > MOST_FAR)
        return;
      continue;
    }
    /* The quotient has rounding errors.  Where there is nothing else, its root is
     * none. */
    root = x;
    slope = find_root (fit, FIT - 1, &root);
    if (!(cabs (root - x) < 1e-3))
      return;
    if (creal (root) >= ARC_BEGIN && creal (root) < ARC_BEGIN + ARC) {
      const double place = middle + creal (root);
      const double inside = hypot (cimag (root), lowest / cabs (slope));

      if (inside < NEAR && place > -0.5 - REAL &&
          place < (double)n - 0.5 + REAL)
        add_zero (sum, n, place, inside);
    }
  }
}

void
tfx_near_zeros_sum (const TfxComplex *h, size_t n, double lowest,
    TfxComplex *sum)
{
  memset (sum, 0, n * sizeof *sum);
  for (ptrdiff_t i = -ARC; i < (ptrdiff_t)n + ARC; i += ARC) {
    double complex fit[FIT];

    fit_polynomial (h, n, i - FIT / 2, fit);
    add_arc (fit, n, lowest, (double)i - 0.5, sum);
  }
}
