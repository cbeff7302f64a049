/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.c: windowed-sinc design, and two FIR filters as one. */
#include "tfx.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "band.h"
#include "fir-half.h"
#include "window.h"

/* NULL, or what is wrong with the window or the length. */
static const char *
find_shape_fault (const TfxFirDesign *d)
{
  if ((unsigned)d->mode > TFX_MODE_BAND_REJECT)
    return "mode: not one of the known modes";
  if ((unsigned)d->window > TFX_WINDOW_KAISER)
    return "window: not one of the known windows";
  if (d->window == TFX_WINDOW_KAISER &&
      !(d->beta >= 0.0 && d->beta <= TFX_FIR_MAX_BETA))
    return "beta: must be from 0 to 700";
  if (d->n_taps < 1 || d->n_taps > TFX_FIR_MAX_TAPS)
    return "n_taps: must be from 1 to 16777216";
  if (d->n_taps % 2 == 0 && d->mode == TFX_MODE_HIGH_PASS)
    return "n_taps: must be odd for a high-pass, as the response of an even "
           "number of taps is 0 at half the rate";
  if (d->n_taps % 2 == 0 && d->mode == TFX_MODE_BAND_REJECT)
    return "n_taps: must be odd for a band-reject, as the response of an even "
           "number of taps is 0 at half the rate";
  if (tfx_window_is_zero (d->window, d->n_taps))
    return "n_taps: must not be 2 for a window that is 0 at its ends (hann, "
           "blackman, bartlett)";
  return NULL;
}

/* NULL, or what is wrong with a field. */
static const char *
find_fault (const TfxFirDesign *d, double rate_hz)
{
  const char *fault = find_shape_fault (d);

  if (!(rate_hz > 0.0) || !isfinite (rate_hz))
    return "rate_hz: must be finite and above 0";
  if (fault)
    return fault;
  return tfx_band_find_fault (d->mode, d->lower_hz, d->upper_hz, rate_hz);
}

/* An ideal low-pass of cutoff c (1 is half the rate), m samples from its
 * middle: c sinc (c m). */
static long double
ideal_low_pass (long double c, long double m)
{
  return m == 0.0L ? c : sinl (M_PIl * c * m) / (M_PIl * m);
}

/* The ideal impulse response of the mode, m samples from its middle. */
static long double
ideal_response (TfxMode mode, long double lower, long double upper,
    long double m)
{
  switch (mode) {
    case TFX_MODE_LOW_PASS:
      return ideal_low_pass (lower, m);
    case TFX_MODE_HIGH_PASS:
      return ideal_low_pass (1.0L, m) - ideal_low_pass (lower, m);
    case TFX_MODE_BAND_PASS:
      return ideal_low_pass (upper, m) - ideal_low_pass (lower, m);
    default:
      return ideal_low_pass (1.0L, m) - ideal_low_pass (upper, m) +
             ideal_low_pass (lower, m);
  }
}

/* Where the response is made 1, as firwin does: the middle of the first pass
 * band, or its end at 0 or at half the rate (1). */
static long double
scale_frequency (TfxMode mode, long double lower, long double upper)
{
  switch (mode) {
    case TFX_MODE_HIGH_PASS:
      return 1.0L;
    case TFX_MODE_BAND_PASS:
      return 0.5L * (lower + upper);
    default:
      return 0.0L;
  }
}

/* A design whose unscaled response at the reference frequency is small (a band-pass
 * with an even number of taps near half the rate): scaling multiplies every rounding
 * error, up to 1e5 times. */
typedef struct Careful
{
  const TfxFirDesign *design;
  long double lower, upper; /* 1 is half the rate */
} Careful;

/* Tap i before it is scaled. */
static long double
careful_tap (const Careful *c, size_t i, long double m)
{
  const TfxFirDesign *d = c->design;

  return tfx_window_at (d->window, d->beta, i, d->n_taps) *
         ideal_response (d->mode, c->lower, c->upper, m);
}

/* 0 if rounding is all that is left. */
static long double
careful_sum (const Careful *c)
{
  const size_t n = c->design->n_taps;
  const long double scale =
      scale_frequency (c->design->mode, c->lower, c->upper);
  long double sum = 0.0L, magnitude = 0.0L;

  for (size_t i = 0; i < (n + 1) / 2; i++) {
    const long double m = (long double)i - 0.5L * (long double)(n - 1);
    const long double count = i == n - 1 - i ? 1.0L : 2.0L;
    const long double tap = careful_tap (c, i, m);

    sum += count * tap * cosl (M_PIl * m * scale);
    magnitude += count * fabsl (tap);
  }
  return fabsl (sum) > 1e-13L * magnitude && magnitude > DBL_MIN ? sum : 0.0L;
}

static bool
make_carefully (const TfxFirDesign *design, double rate_hz, double *taps)
{
  const Careful careful = { design, design->lower_hz / (0.5L * rate_hz),
    design->upper_hz / (0.5L * rate_hz) };
  const size_t n = design->n_taps;
  const long double sum = careful_sum (&careful);

  for (size_t i = 0; taps && sum != 0.0L && i < (n + 1) / 2; i++) {
    const long double m = (long double)i - 0.5L * (long double)(n - 1);

    taps[i] = taps[n - 1 - i] = (double)(careful_tap (&careful, i, m) / sum);
  }
  return sum != 0.0L;
}

/* What of the magnitude of the taps the response must be, at least, for doubles
 * to do; and that magnitude. */
#define MIN_MAGNITUDE 1e-290
#define MIN_RESPONSE (1.0 / 16.0)

/* Designs, or reports an invalid field; taps may be NULL.  0 or -EINVAL. */
static int
make_taps (const TfxFirDesign *design, double rate_hz, double *taps,
    const char **fault)
{
  TfxFirSums sums;

  *fault = find_fault (design, rate_hz);
  if (*fault)
    return -EINVAL;
  sums = tfx_fir_half_make (design, rate_hz, taps);
  if (fabs (sums.response) > MIN_RESPONSE * sums.magnitude &&
      sums.magnitude > MIN_MAGNITUDE) {
    const double scale = 1.0 / sums.response;

    for (size_t i = 0; taps && i < design->n_taps; i++)
      taps[i] *= scale;
    return 0;
  }
  if (make_carefully (design, rate_hz, taps))
    return 0;
  *fault = "lower_hz, upper_hz: too near 0, half the rate or each other for "
           "this number of taps in double precision";
  return -EINVAL;
}

int
tfx_fir_design (const TfxFirDesign *design, double rate_hz, double *taps)
{
  const char *fault;
  return make_taps (design, rate_hz, taps, &fault);
}

int
tfx_fir_design_check (const TfxFirDesign *design, double rate_hz,
    const char **why)
{
  const char *fault;
  int result = make_taps (design, rate_hz, NULL, &fault);

  if (why)
    *why = fault;
  return result;
}

void
tfx_fir_convolve (const double *a, size_t n_a, const double *b, size_t n_b,
    double *taps)
{
  memset (taps, 0, (n_a + n_b - 1) * sizeof *taps);
  for (size_t i = 0; i < n_a; i++) {
    for (size_t k = 0; k < n_b; k++)
      taps[i + k] += a[i] * b[k];
  }
}
