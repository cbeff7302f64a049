/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir-curve.c: the curve on a grid of frequencies, its inverse transform, and a
 * Parzen window: scipy.signal.firwin2 (n_taps, grid, gains, nfreqs=m / 2 + 1,
 * window='parzen').
 *
 * The transform of that window is not negative.  So the magnitude of the filter is a
 * mean of the curve around each frequency: it never leaves the range of the curve, it
 * does not ripple, and it has no zero, which a minimum-phase filter could not follow. */
#include "fir-curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fft.h"

/* Points of the grid around the unit circle: at least, and at least for each tap. */
#define LEAST_POINTS 8192
#define POINTS_PER_TAP 8

double
tfx_fir_curve_gain_db (const double *points, size_t n_points, double freq_hz)
{
  size_t low = 0, high = n_points; /* point low is not above freq_hz */
  const double *p;

  if (freq_hz <= points[0])
    return points[1];
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;

    if (points[2 * middle] <= freq_hz)
      low = middle;
    else
      high = middle;
  }
  p = points + 2 * low;
  if (high == n_points)
    return p[1];
  return p[1] + (p[3] - p[1]) * (log (freq_hz / p[0]) / log (p[2] / p[0]));
}

/* The window, m samples from the middle of n. */
static double
parzen (double m, double n)
{
  const double r = 2.0 * m / n;

  return m <= 0.25 * (n - 1.0) ? 1.0 - 6.0 * r * r * (1.0 - r)
                               : 2.0 * (1.0 - r) * (1.0 - r) * (1.0 - r);
}

int
tfx_fir_curve_design (const double *points, size_t n_points, double share,
    double rate_hz, double *taps, size_t n_taps)
{
  const size_t middle = n_taps / 2;
  TfxComplex *turns, *x;
  size_t m = LEAST_POINTS;

  while (m < POINTS_PER_TAP * n_taps)
    m *= 2;
  turns = tfx_fft_new_turns (m);
  x = malloc (m * sizeof *x);
  if (turns && x) {
    for (size_t k = 0; k <= m / 2; k++) {
      const double freq_hz = (double)k * rate_hz / (double)m;
      const double db = tfx_fir_curve_gain_db (points, n_points, freq_hz);

      x[k] = x[(m - k) % m] =
          (TfxComplex){ pow (10.0, 0.05 * share * db), 0.0 };
    }
    /* Of a real and even sequence the inverse transform is the transform. */
    tfx_fft_run (turns, x, m);
    for (size_t i = 0; i <= middle; i++)
      taps[middle - i] = taps[middle + i] =
          parzen ((double)i, (double)n_taps) * x[i].re / (double)m;
  }
  free (turns);
  free (x);
  return turns && x ? 0 : -ENOMEM;
}
