/* SPDX-License-Identifier: LGPL-2.1-or-later
 * phase.c: the minimum and the linear phase of a magnitude.
 *
 * The cepstrum c[n] is the inverse transform of ln |H|.  It is even in n.  Doubled
 * above 0, and 0 below, it is that of the minimum-phase filter:
 *
 *   ln H'(w) = c[0] + 2 sum_{n > 0} c[n] exp (-j w n)
 *
 * A transform of m points folds c[n + m] into c[n]; these fall off with the distance of
 * the zeros from the unit circle (A. V. Oppenheim and R. W. Schafer, Discrete-Time
 * Signal Processing, chapter 13).  The response of a room has zeros so near that no m
 * is enough.  Therefore near-zeros.c removes their part of ln |H|, which is added to
 * ln H' afterwards, with its phase.  The magnitude is right at the m points in any case.
 * These are between the points of a plain transform, where zeros often are.
 *
 * A filter of n taps has n - 1 zeros.  Its minimum-phase filter has these or their
 * reciprocals, and so n taps too.
 *
 * The linear phase is the inverse transform of |H|, cut to 2 n - 1 taps. */
#include "phase.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft.h"
#include "near-zeros.h"

/* Points of a transform: at least, at least for each tap, and at most; and how often
 * they are doubled. */
#define LEAST_POINTS 4096
#define POINTS_PER_TAP 8
#define MOST_POINTS ((size_t)1 << 23)
#define MOST_TURNS 4
/* The lowest magnitude, as a part of the peak, for its logarithm. */
#define FLOOR 1e-12

/* The memory of a transform of m points. */
typedef struct
{
  size_t m;
  TfxComplex *turns, *x; /* [m / 2], [m] */
  TfxComplex *h, *near;  /* [m / 2], at the angles (i + 1/2) 2 pi / m */
} Work;

/* exp (-j pi n / m), which moves the points by a half. */
static TfxComplex
half_turn (double n, size_t m)
{
  const double angle = M_PI * n / (double)m;

  return (TfxComplex){ cos (angle), -sin (angle) };
}

/* Sets h to the response of the taps, their middle at time 0.  Returns its peak. */
static double
find_response (const Work *work, const double *taps, size_t n_taps)
{
  const size_t m = work->m, middle = n_taps / 2;
  TfxComplex *x = work->x;
  double peak = 0.0;

  for (size_t i = 0; i < m; i++)
    x[i] = (TfxComplex){ 0.0, 0.0 };
  for (size_t i = 0; i < n_taps; i++) {
    const TfxComplex turn = half_turn ((double)i - (double)middle, m);

    x[(m + i - middle) % m] =
        (TfxComplex){ taps[i] * turn.re, taps[i] * turn.im };
  }
  tfx_fft_run (work->turns, x, m);
  for (size_t i = 0; i < m / 2; i++) {
    work->h[i] = x[i];
    peak = fmax (peak, hypot (x[i].re, x[i].im));
  }
  return peak;
}

/* Writes the taps of the minimum-phase filter. */
static void
make_minimum (const Work *work, double lowest, double *out, size_t n_taps)
{
  const size_t m = work->m;
  const TfxComplex *h = work->h, *near = work->near;
  TfxComplex *x = work->x;

  for (size_t i = 0; i < m / 2; i++) {
    const double log_gain = log (hypot (hypot (h[i].re, h[i].im), lowest));

    x[i] = x[m - 1 - i] = (TfxComplex){ log_gain - near[i].re, 0.0 };
  }
  /* A real and even sequence is its own inverse transform, but for m. */
  tfx_fft_run (work->turns, x, m);
  for (size_t n = 0; n < m; n++) {
    const TfxComplex turn = half_turn ((double)n, m);
    const double count = n == 0 ? 1.0 : n < m / 2 ? 2.0 : 0.0;
    const double c =
        count / (double)m * (x[n].re * turn.re - x[n].im * turn.im);

    x[n] = (TfxComplex){ c * turn.re, c * turn.im };
  }
  tfx_fft_run (work->turns, x, m);
  /* The conjugate: its transform is the inverse one of a filter with real taps. */
  for (size_t i = 0; i < m / 2; i++) {
    const double gain = hypot (hypot (h[i].re, h[i].im), lowest) / (double)m;
    const double phase = x[i].im + near[i].im;

    x[i] = (TfxComplex){ gain * cos (phase), -gain * sin (phase) };
    x[m - 1 - i] = (TfxComplex){ x[i].re, -x[i].im };
  }
  tfx_fft_run (work->turns, x, m);
  for (size_t n = 0; n < n_taps; n++) {
    const TfxComplex turn = half_turn ((double)n, m);

    out[n] = x[n].re * turn.re - x[n].im * turn.im;
  }
}

/* Writes the taps of the linear-phase filter. */
static void
make_linear (const Work *work, double *out, size_t n_out)
{
  const size_t m = work->m, middle = n_out / 2;
  TfxComplex *x = work->x;

  for (size_t i = 0; i < m / 2; i++)
    x[i] = x[m - 1 - i] =
        (TfxComplex){ hypot (work->h[i].re, work->h[i].im) / (double)m, 0.0 };
  tfx_fft_run (work->turns, x, m);
  for (size_t n = 0; n <= middle; n++) {
    const TfxComplex turn = half_turn ((double)n, m);

    out[middle - n] = out[middle + n] = x[n].re * turn.re - x[n].im * turn.im;
  }
}

/* The largest difference of the magnitudes, at the points of a plain transform. */
static double
find_error (const Work *work, const double *taps, size_t n_taps,
    const double *out, size_t n_out)
{
  const size_t m = work->m;
  TfxComplex *x = work->x;
  double error = 0.0;

  /* Both in one transform: that of the first is even, that of the second odd. */
  for (size_t i = 0; i < m; i++)
    x[i] = (TfxComplex){ i < n_taps ? taps[i] : 0.0, i < n_out ? out[i] : 0.0 };
  tfx_fft_run (work->turns, x, m);
  for (size_t i = 0; i <= m / 2; i++) {
    const TfxComplex a = x[i], b = x[(m - i) % m];

    error = fmax (error, 0.5 * fabs (hypot (a.re + b.re, a.im - b.im) -
                                     hypot (a.re - b.re, a.im + b.im)));
  }
  return error;
}

/* Makes out with a transform of m points; *error: of the magnitude, as a part of its
 * peak.  0 or -ENOMEM. */
static int
make (TfxPhase phase, const double *taps, size_t n_taps, size_t m, double *out,
    double *error)
{
  const Work work = { m, tfx_fft_new_turns (m), malloc (m * sizeof *work.x),
    malloc (m / 2 * sizeof *work.h), malloc (m / 2 * sizeof *work.near) };
  const bool is_there = work.turns && work.x && work.h && work.near;
  const size_t n_out = phase == TFX_PHASE_LINEAR ? 2 * n_taps - 1 : n_taps;
  const double peak = is_there ? find_response (&work, taps, n_taps) : 0.0;

  *error = 0.0;
  if (peak > 0.0) {
    const double lowest = fmax (FLOOR * peak, DBL_MIN);

    if (phase == TFX_PHASE_LINEAR) {
      make_linear (&work, out, n_out);
    } else {
      tfx_near_zeros_sum (work.h, m / 2, lowest, work.near);
      make_minimum (&work, lowest, out, n_taps);
    }
    *error = find_error (&work, taps, n_taps, out, n_out) / peak;
  } else {
    memset (out, 0, n_out * sizeof *out);
  }
  free (work.turns);
  free (work.x);
  free (work.h);
  free (work.near);
  return is_there ? 0 : -ENOMEM;
}

/* Doubles the points until the error is small enough. */
static int
search (TfxPhase phase, const double *taps, size_t n_taps, double *out)
{
  size_t m = LEAST_POINTS;
  double error = INFINITY;
  int code = n_taps <= TFX_PHASE_MAX_TAPS ? 0 : -E2BIG;

  while (m < POINTS_PER_TAP * n_taps && code == 0)
    m *= 2;
  for (int turn = 0; code == 0 && !(error <= TFX_PHASE_ERROR) &&
                     turn <= MOST_TURNS && m <= MOST_POINTS;
       turn++, m *= 2)
    code = make (phase, taps, n_taps, m, out, &error);
  return code < 0 ? code : error <= TFX_PHASE_ERROR ? 0 : -ERANGE;
}

int
tfx_phase_make_minimum (const double *taps, size_t n_taps, double *out)
{
  return search (TFX_PHASE_MINIMUM, taps, n_taps, out);
}

/* ---- any kernels ----------------------------------------------------------------- */

/* Whether the phase is linear already, with or without 90 degrees. */
static bool
is_linear (const double *taps, size_t n_taps)
{
  bool is_even = true, is_odd = true;

  for (size_t i = 0; i < (n_taps + 1) / 2; i++) {
    is_even = is_even && taps[i] == taps[n_taps - 1 - i];
    is_odd = is_odd && taps[i] == -taps[n_taps - 1 - i];
  }
  return is_even || is_odd;
}

int
tfx_fir_set_phase (TfxPhase phase, const double *taps, unsigned n_kernels,
    size_t n_taps, double **made, size_t *n_made, size_t *delay)
{
  bool is_kept = phase != TFX_PHASE_MINIMUM;
  int code = 0;

  for (unsigned k = 0; k < n_kernels && phase == TFX_PHASE_LINEAR; k++)
    is_kept = is_kept && is_linear (taps + k * n_taps, n_taps);
  *n_made = is_kept || phase != TFX_PHASE_LINEAR ? n_taps : 2 * n_taps - 1;
  *delay = phase == TFX_PHASE_LINEAR ? (*n_made - 1) / 2 : 0;
  *made = *n_made <= SIZE_MAX / sizeof **made / n_kernels
              ? malloc (n_kernels * *n_made * sizeof **made)
              : NULL;
  if (!*made)
    return -ENOMEM;
  if (is_kept)
    memcpy (*made, taps, n_kernels * n_taps * sizeof *taps);
  for (unsigned k = 0; k < n_kernels && !is_kept && code == 0; k++)
    code = search (phase, taps + k * n_taps, n_taps, *made + k * *n_made);
  if (code < 0) {
    free (*made);
    *made = NULL;
  }
  return code;
}
