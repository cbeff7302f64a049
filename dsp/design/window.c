/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.c: the windows of the FIR design. */
#include "window.h"

#include <math.h>

#define MAX_TERMS 5

/* w[i] = sum_k a[k] cos (k t), t from -pi to pi.  The coefficients have the
 * signs that make the middle, t = 0, the largest: sum a = 1. */
static const struct
{
  unsigned n_terms;
  double a[MAX_TERMS];
} cosine_sums[] = {
  [TFX_WINDOW_HAMMING] = { 2, { 0.54, 0.46 } },
  [TFX_WINDOW_HANN] = { 2, { 0.5, 0.5 } },
  [TFX_WINDOW_BLACKMAN] = { 3, { 0.42, 0.50, 0.08 } },
  /* the minimum 4-term windows of Nuttall (1981); Blackman-Harris has three
   * decimals less */
  [TFX_WINDOW_BLACKMAN_HARRIS] = { 4, { 0.35875, 0.48829, 0.14128, 0.01168 } },
  [TFX_WINDOW_NUTTALL] = { 4, { 0.3635819, 0.4891775, 0.1365995, 0.0106411 } },
  /* D'Antona and Ferrero (2006) */
  [TFX_WINDOW_FLATTOP] = { 5,
      { 0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368 } },
};

static long double
cosine_sum (TfxWindow window, long double t)
{
  long double sum = 0.0L;

  for (unsigned k = 0; k < cosine_sums[window].n_terms; k++)
    sum += cosine_sums[window].a[k] * cos ((double)k * t);
  return sum;
}

/* The modified Bessel function of the first kind and order 0, by its power
 * series sum ((x/2)^k / k!)^2.  All terms are positive, so nothing cancels and
 * the sum is right to a few units in the last place for any x; it needs about
 * 1.4 x + 20 terms. */
static long double
bessel_i0 (long double x)
{
  long double term = 1.0L, sum = 1.0L;
  const long double q = 0.25L * x * x;

  for (long double k = 1.0L; term > sum * 0x1p-66L; k += 1.0L) {
    term *= q / (k * k);
    sum += term;
  }
  return sum;
}

long double
tfx_window_at (TfxWindow window, double beta, size_t i, size_t n)
{
  long double x; /* -1 at the first point, 1 at the last */

  if (n == 1)
    return 1.0L;
  x = 2.0L * (long double)i / (long double)(n - 1) - 1.0L;
  switch (window) {
    case TFX_WINDOW_BARTLETT:
      return 1.0L - fabsl (x);
    case TFX_WINDOW_RECTANGULAR:
      return 1.0L;
    case TFX_WINDOW_KAISER:
      return bessel_i0 (beta * sqrtl (1.0L - x * x)) / bessel_i0 (beta);
    default:
      return cosine_sum (window, M_PIl * x);
  }
}

/* The cosine sum as a polynomial in cos t, by the Chebyshev polynomials. */
static void
shape_cosine_sum (TfxWindow window, TfxWindowShape *shape)
{
  static const double chebyshev[MAX_TERMS][MAX_TERMS] = {
    { 1 },
    { 0, 1 },
    { -1, 0, 2 },
    { 0, -3, 0, 4 },
    { 1, 0, -8, 0, 8 },
  };

  shape->n = cosine_sums[window].n_terms;
  for (size_t k = 0; k < shape->n; k++) {
    shape->a[k] = 0.0;
    for (size_t i = k; i < shape->n; i++)
      shape->a[k] += cosine_sums[window].a[i] * chebyshev[i][k];
  }
}

/* I0 (beta sqrt v) / I0 (beta) by the same power series, scaled as a whole. */
static void
shape_kaiser (double beta, TfxWindowShape *shape)
{
  const double q = 0.25 * beta * beta;
  double term = 1.0, sum = 0.0;
  size_t n = 0;

  while (n < TFX_WINDOW_MAX_TERMS && term > sum * 0x1p-60) {
    shape->a[n++] = term;
    sum += term;
    term *= q / ((double)n * (double)n);
  }
  for (size_t k = 0; k < n; k++)
    shape->a[k] /= sum;
  shape->n = n;
}

void
tfx_window_shape (TfxWindow window, double beta, TfxWindowShape *shape)
{
  switch (window) {
    case TFX_WINDOW_BARTLETT:
      shape->variable = TFX_WINDOW_TRIANGLE;
      shape->n = 2;
      shape->a[0] = 0.0;
      shape->a[1] = 1.0;
      break;
    case TFX_WINDOW_RECTANGULAR:
      shape->variable = TFX_WINDOW_TRIANGLE;
      shape->n = 1;
      shape->a[0] = 1.0;
      break;
    case TFX_WINDOW_KAISER:
      shape->variable = TFX_WINDOW_SQUARE;
      shape_kaiser (beta, shape);
      break;
    default:
      shape->variable = TFX_WINDOW_COSINE;
      shape_cosine_sum (window, shape);
      break;
  }
}

bool
tfx_window_is_zero (TfxWindow window, size_t n)
{
  return n == 2 &&
         (window == TFX_WINDOW_HANN || window == TFX_WINDOW_BLACKMAN ||
             window == TFX_WINDOW_BARTLETT);
}
