/* SPDX-License-Identifier: LGPL-2.1-or-later
 * min-phase.c: the minimum-phase filter of a magnitude, by its cepstrum.
 *
 * The cepstrum c[n] is the inverse transform of ln |H|.  It is even in n.  Doubled
 * above 0, and 0 below, it is that of the minimum-phase filter:
 *
 *   ln H'(w) = c[0] + 2 sum_{n > 0} c[n] exp (-j w n)
 *
 * A transform of m points folds c[n + m] into c[n].  The c[n] fall off with the
 * distance of the zeros from the unit circle, so m is doubled until the error is small
 * (A. V. Oppenheim and R. W. Schafer, Discrete-Time Signal Processing, chapter 13).
 *
 * A filter of n taps has n - 1 zeros.  Its minimum-phase filter has these or their
 * reciprocals, and so n taps too. */
#include "min-phase.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fft.h"

/* Points of a transform: at least, at least for each tap, and at most. */
#define LEAST_POINTS 4096
#define POINTS_PER_TAP 8
#define MOST_POINTS ((size_t)1 << 23)
/* The lowest magnitude, as a part of the peak, for its logarithm. */
#define FLOOR 1e-13

/* Sets x[n_points] to the transform of taps[n_taps]. */
static void
transform_taps (const TfxComplex *turns, const double *taps, size_t n_taps,
    TfxComplex *x, size_t n_points)
{
  for (size_t i = 0; i < n_points; i++)
    x[i] = (TfxComplex){ i < n_taps ? taps[i] : 0.0, 0.0 };
  tfx_fft_run (turns, x, n_points);
}

/* Makes out with a transform of m points; *error: of the magnitude, as a part of its
 * peak.  0 or -ENOMEM. */
static int
make (const double *taps, size_t n_taps, size_t m, double *out, double *error)
{
  TfxComplex *turns = tfx_fft_new_turns (m), *x = malloc (m * sizeof *x);
  double *magnitude = malloc ((m / 2 + 1) * sizeof *magnitude), peak = 0.0;
  const int code = turns && x && magnitude ? 0 : -ENOMEM;

  *error = 0.0;
  if (code == 0) {
    transform_taps (turns, taps, n_taps, x, m);
    for (size_t k = 0; k <= m / 2; k++) {
      magnitude[k] = hypot (x[k].re, x[k].im);
      peak = fmax (peak, magnitude[k]);
    }
    /* A real and even sequence is its own inverse transform, but for m. */
    for (size_t k = 0; k <= m / 2; k++) {
      const double most = fmax (magnitude[k], fmax (FLOOR * peak, 1e-300));

      x[k] = x[(m - k) % m] = (TfxComplex){ log (most), 0.0 };
    }
    tfx_fft_run (turns, x, m);
    for (size_t k = 0; k < m; k++) {
      const double count = k == 0 || k == m / 2 ? 1.0 : k < m / 2 ? 2.0 : 0.0;

      x[k] = (TfxComplex){ count / (double)m * x[k].re, 0.0 };
    }
    tfx_fft_run (turns, x, m);
    /* The conjugate: its transform is the inverse one of a filter with real taps. */
    for (size_t k = 0; k < m; k++) {
      const double gain = exp (x[k].re) / (double)m;

      x[k] = (TfxComplex){ gain * cos (x[k].im), -gain * sin (x[k].im) };
    }
    tfx_fft_run (turns, x, m);
    for (size_t i = 0; i < n_taps; i++)
      out[i] = peak > 0.0 ? x[i].re : 0.0;

    transform_taps (turns, out, n_taps, x, m);
    for (size_t k = 0; k <= m / 2 && peak > 0.0; k++)
      *error =
          fmax (*error, fabs (hypot (x[k].re, x[k].im) - magnitude[k]) / peak);
  }
  free (turns);
  free (x);
  free (magnitude);
  return code;
}

int
tfx_min_phase_make (const double *taps, size_t n_taps, double *out)
{
  size_t m = LEAST_POINTS;
  double error = INFINITY;
  int code = 0;

  while (m < POINTS_PER_TAP * n_taps)
    m *= 2;
  for (; code == 0 && error > TFX_MIN_PHASE_ERROR && m <= MOST_POINTS; m *= 2)
    code = make (taps, n_taps, m, out, &error);
  return code < 0 ? code : error > TFX_MIN_PHASE_ERROR ? -ERANGE : 0;
}
