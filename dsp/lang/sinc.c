/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sinc.c: windowed-sinc designs with any number of edges.
 *
 * tfx_fir_design() makes those of one or two edges with the windows of
 * TfxWindow.  The others are the same sum over more bands, [left, right] in
 * units of half the rate, m samples from the middle:
 *
 *   h(m) = w(m) sum_bands (right sinc (right m) - left sinc (left m)) */
#include "sinc.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tfx.h"
#include "design/window.h"

static const struct
{
  const char *word;
  TfxWindow window;
} windows[] = {
  { "hamming", TFX_WINDOW_HAMMING },
  { "hann", TFX_WINDOW_HANN },
  { "blackman", TFX_WINDOW_BLACKMAN },
  { "blackmanharris", TFX_WINDOW_BLACKMAN_HARRIS },
  { "nuttall", TFX_WINDOW_NUTTALL },
  { "flattop", TFX_WINDOW_FLATTOP },
  { "bartlett", TFX_WINDOW_BARTLETT },
  { "boxcar", TFX_WINDOW_RECTANGULAR },
  { "kaiser", TFX_WINDOW_KAISER },
};

static bool
find_window (const char *word, TfxWindow *window)
{
  for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
    if (strcmp (windows[i].word, word) == 0) {
      *window = windows[i].window;
      return true;
    }
  }
  return false;
}

/* Three windows that TorchFX has besides those of TfxWindow; x is -1 at the
 * first point and 1 at the last. */
static long double
window_at (const TfxSinc *sinc, size_t i)
{
  const size_t n = sinc->n_taps;
  TfxWindow known;
  long double x, r;

  if (find_window (sinc->window, &known))
    return tfx_window_at (known, sinc->beta, i, n);
  if (n == 1)
    return 1.0L;
  x = fabsl (2.0L * (long double)i / (long double)(n - 1) - 1.0L);
  if (strcmp (sinc->window, "barthann") == 0)
    return 0.62L - 0.24L * x + 0.38L * cosl (M_PIl * x);
  if (strcmp (sinc->window, "bohman") == 0)
    return i == 0 || i == n - 1
               ? 0.0L
               : (1.0L - x) * cosl (M_PIl * x) + sinl (M_PIl * x) / M_PIl;
  /* parzen: the distance from the middle in units of n / 2 */
  r = x * (long double)(n - 1) / (long double)n;
  if (x > 0.5L)
    return 2.0L * (1.0L - r) * (1.0L - r) * (1.0L - r);
  return 1.0L - 6.0L * r * r * (1.0L - r);
}

static long double
ideal_low_pass (long double c, long double m)
{
  return m == 0.0L ? c : sinl (M_PIl * c * m) / (M_PIl * m);
}

/* Bands pass and stop in turn; the highest reaches half the rate. */
static long double
ideal_response (const TfxSinc *sinc, long double m)
{
  bool passes = sinc->pass_zero;
  long double sum = 0.0L;

  for (size_t i = 0; i < sinc->n_edges; i++, passes = !passes) {
    long double edge = sinc->edges[i] / (0.5L * sinc->rate_hz);
    sum += passes ? ideal_low_pass (edge, m) : -ideal_low_pass (edge, m);
  }
  return passes ? sum + ideal_low_pass (1.0L, m) : sum;
}

static long double
scale_frequency (const TfxSinc *sinc)
{
  long double nyquist = 0.5L * sinc->rate_hz;

  if (sinc->pass_zero)
    return 0.0L;
  if (sinc->n_edges == 1)
    return 1.0L;
  return 0.5L * ((long double)sinc->edges[0] + sinc->edges[1]) / nyquist;
}

static int
design_general (const TfxSinc *sinc, double *taps)
{
  const size_t n = sinc->n_taps, n_half = (n + 1) / 2;
  const long double scale = scale_frequency (sinc);
  long double *half, sum = 0.0L, magnitude = 0.0L;
  bool passes_top = sinc->pass_zero == (sinc->n_edges % 2 == 0);

  if (n % 2 == 0 && passes_top)
    return -EINVAL;
  half = malloc (n_half * sizeof *half);
  if (!half)
    return -ENOMEM;
  for (size_t i = 0; i < n_half; i++) {
    long double m = (long double)i - 0.5L * (long double)(n - 1);
    long double count = i == n - 1 - i ? 1.0L : 2.0L;

    half[i] = window_at (sinc, i) * ideal_response (sinc, m);
    sum += count * half[i] * cosl (M_PIl * m * scale);
    magnitude += count * fabsl (half[i]);
  }
  if (fabsl (sum) > 1e-13L * magnitude && magnitude > DBL_MIN) {
    for (size_t i = 0; i < n_half; i++)
      taps[i] = taps[n - 1 - i] = (double)(half[i] / sum);
  } else {
    sum = 0.0L;
  }
  free (half);
  return sum == 0.0L ? -EINVAL : 0;
}

bool
tfx_sinc_is_simple (const char *window, size_t n_edges)
{
  TfxWindow known;

  return n_edges <= 2 && find_window (window, &known);
}

int
tfx_sinc_design (const TfxSinc *sinc, double *taps)
{
  TfxFirDesign design = { .beta = sinc->beta,
    .n_taps = sinc->n_taps,
    .lower_hz = sinc->edges[0] };

  if (!tfx_sinc_is_simple (sinc->window, sinc->n_edges))
    return design_general (sinc, taps);
  find_window (sinc->window, &design.window);
  if (sinc->n_edges == 1) {
    design.mode = sinc->pass_zero ? TFX_MODE_LOW_PASS : TFX_MODE_HIGH_PASS;
  } else {
    design.mode = sinc->pass_zero ? TFX_MODE_BAND_REJECT : TFX_MODE_BAND_PASS;
    design.upper_hz = sinc->edges[1];
  }
  return tfx_fir_design (&design, sinc->rate_hz, taps);
}
