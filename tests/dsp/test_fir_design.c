/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_design.c: FIR designs against scipy.signal.firwin, what is refused
 * and in which words, and two filters as one. */
#include "tap.h"
#include "tfx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Absolute, for taps up to 1.  Where scaling makes them larger (an even number
 * of taps near half the rate: up to 300), relative to the largest. */
#define TOLERANCE 1e-12

static int
index_of (const char *word, const char *const *words)
{
  for (int i = 0; words[i]; i++) {
    if (strcmp (word, words[i]) == 0)
      return i;
  }
  printf ("Bail out! %s: unknown word %s\n", FIRWIN_FILE, word);
  exit (1);
}

/* Reads a line "fir ..." of firwin.txt. */
static TfxFirDesign
read_design (const char *line, double *rate_hz)
{
  static const char *const windows[] = { "hamming", "hann", "blackman",
    "blackmanharris", "nuttall", "flattop", "bartlett", "boxcar", "kaiser",
    NULL };
  static const char *const modes[] = { "lowpass", "highpass", "bandpass",
    "bandstop", NULL };
  TfxFirDesign d;
  char window[16], mode[16];

  if (sscanf (line, "fir %15s %lf %15s %zu %lf %lf %lf", window, &d.beta, mode,
          &d.n_taps, rate_hz, &d.lower_hz, &d.upper_hz) != 7) {
    printf ("Bail out! %s: cannot read %s\n", FIRWIN_FILE, line);
    exit (1);
  }
  d.window = (TfxWindow)index_of (window, windows);
  d.mode = (TfxMode)index_of (mode, modes);
  return d;
}

static double
largest (const TfxFirDesign *d, const double *taps)
{
  double peak = 1.0;

  for (size_t i = 0; i < d->n_taps; i++)
    peak = fmax (peak, fabs (taps[i]));
  return peak;
}

/* The largest distance from the taps of a line "t" or "i". */
static double
compare_taps (const char *line, const TfxFirDesign *d, const double *taps)
{
  const bool is_list = line[0] == 't';
  const char *p = line + 1;
  double worst = 0.0;
  size_t n_read = 0;

  for (;;) {
    char *end;
    size_t i = is_list ? n_read : strtoul (p, &end, 10);
    double value = strtod (is_list ? p : end + 1, &end);
    if (end == p || *p == '\n')
      break;
    worst = fmax (worst, fabs (taps[i] - value));
    worst = fmax (worst, fabs (taps[d->n_taps - 1 - i] - value));
    n_read++;
    p = end;
  }
  if (n_read == 0 || (is_list && n_read != (d->n_taps + 1) / 2))
    return INFINITY;
  return worst / largest (d, taps);
}

/* The largest distance from the three sums of a line "s". */
static double
compare_sums (const char *line, const TfxFirDesign *d, const double *taps)
{
  long double sum = 0.0L, magnitude = 0.0L, squares = 0.0L;
  double s[3];

  if (sscanf (line, "s %lf %lf %lf", &s[0], &s[1], &s[2]) != 3)
    return INFINITY;
  for (size_t i = 0; i < d->n_taps; i++) {
    sum += taps[i];
    magnitude += fabs (taps[i]);
    squares += (long double)taps[i] * taps[i];
  }
  return fmax (fabs ((double)(sum - s[0])),
      fmax (fabs ((double)(magnitude - s[1])),
          fabs ((double)(squares - s[2]))));
}

static const char *
design_text (const TfxFirDesign *d, double rate_hz)
{
  static char text[160];
  snprintf (text, sizeof text,
      "mode %d window %d beta %g taps %zu, %g and %g of %g Hz", d->mode,
      d->window, d->beta, d->n_taps, d->lower_hz, d->upper_hz, rate_hz);
  return text;
}

static void
test_scipy (void)
{
  FILE *file = fopen (tap_data (FIRWIN_FILE), "r");
  char *line = NULL;
  size_t size = 0;
  double taps[4097], rate_hz = 0.0, worst = 0.0;
  TfxFirDesign d = { 0 };
  TapMany same = tap_many ("taps equal firwin's, or the exact ones where "
                           "firwin's are off, to 1e-12");
  TapMany sums = tap_many ("sums over long designs equal firwin's to 1e-12");
  TapMany refused = tap_many ("what firwin refuses is refused");
  int result = 0;

  if (!tap_check (file != NULL, "%s can be read", FIRWIN_FILE))
    return;
  while (getline (&line, &size, file) > 0) {
    if (strncmp (line, "fir ", 4) == 0) {
      d = read_design (line, &rate_hz);
      memset (taps, 0xff, sizeof taps);
      result = tfx_fir_design (&d, rate_hz, taps);
    } else if (strncmp (line, "no", 2) == 0) {
      tap_many_check (&refused, result == -EINVAL, "%s: %d",
          design_text (&d, rate_hz), result);
    } else if (line[0] == 't' || line[0] == 'i') {
      double error = result ? INFINITY : compare_taps (line, &d, taps);
      worst = fmax (worst, error);
      tap_many_check (&same, error <= TOLERANCE, "%s: %g",
          design_text (&d, rate_hz), error);
    } else if (line[0] == 's') {
      double error = result ? INFINITY : compare_sums (line, &d, taps);
      worst = fmax (worst, error);
      tap_many_check (&sums, error <= TOLERANCE, "%s: %g",
          design_text (&d, rate_hz), error);
    }
  }
  tap_diag ("largest distance %.2g", worst);
  tap_many_end (&same);
  tap_many_end (&sums);
  tap_many_end (&refused);
  free (line);
  fclose (file);
}

/* One invalid setting, and the start of its error text. */
typedef struct BadDesign
{
  TfxFirDesign design;
  double rate_hz;
  const char *why;
} BadDesign;

static void
test_refused (void)
{
  static const BadDesign bad[] = {
    { { TFX_MODE_HIGH_PASS, TFX_WINDOW_HANN, 0, 100, 1000, 0 }, 48000,
        "n_taps: must be odd for a high-pass" },
    { { TFX_MODE_BAND_REJECT, TFX_WINDOW_HANN, 0, 2, 1000, 2000 }, 48000,
        "n_taps: must be odd for a band-reject" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 0, 1000, 0 }, 48000,
        "n_taps: must be from 1 to 16777216" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 16777217, 1000, 0 }, 48000,
        "n_taps: must be from 1 to 16777216" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_BARTLETT, 0, 2, 1000, 0 }, 48000,
        "n_taps: must not be 2" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 11, 24000, 0 }, 48000,
        "lower_hz (the cutoff): must be above 0 and below half the rate" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 11, 0, 0 }, 48000,
        "lower_hz (the cutoff): must be" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 11, NAN, 0 }, 48000,
        "lower_hz (the cutoff): must be" },
    { { TFX_MODE_BAND_PASS, TFX_WINDOW_HANN, 0, 11, -1, 2000 }, 48000,
        "lower_hz: must be above 0" },
    { { TFX_MODE_BAND_PASS, TFX_WINDOW_HANN, 0, 11, 1000, 24000 }, 48000,
        "upper_hz: must be above 0 and below half the rate" },
    { { TFX_MODE_BAND_PASS, TFX_WINDOW_HANN, 0, 11, 2000, 1000 }, 48000,
        "upper_hz: must be above lower_hz" },
    { { TFX_MODE_BAND_PASS, TFX_WINDOW_HANN, 0, 11, 2000, 2000 }, 48000,
        "upper_hz: must be above lower_hz" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_KAISER, -1, 11, 1000, 0 }, 48000,
        "beta: must be from 0 to 700" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_KAISER, 701, 11, 1000, 0 }, 48000,
        "beta: must be from 0 to 700" },
    { { (TfxMode)4, TFX_WINDOW_HANN, 0, 11, 1000, 0 }, 48000, "mode: " },
    { { TFX_MODE_LOW_PASS, (TfxWindow)9, 0, 11, 1000, 0 }, 48000, "window: " },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 11, 1000, 0 }, 0,
        "rate_hz: must be finite and above 0" },
    { { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0, 11, 1e-318, 0 }, 48000,
        "lower_hz, upper_hz: too near 0" },
  };
  double taps[16];

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *why = NULL;
    int result = tfx_fir_design_check (&bad[i].design, bad[i].rate_hz, &why);
    tap_check (result == -EINVAL && why &&
                   strncmp (why, bad[i].why, strlen (bad[i].why)) == 0,
        "refused: %s... (%s)", bad[i].why, why ? why : "no text");
    tap_check (tfx_fir_design (&bad[i].design, bad[i].rate_hz, taps) == -EINVAL,
        "not designed either");
  }
}

static void
test_accepted (void)
{
  TapMany many = tap_many ("every window, mode and odd length is designed");

  for (int window = 0; window <= TFX_WINDOW_KAISER; window++) {
    for (int mode = 0; mode <= TFX_MODE_BAND_REJECT; mode++) {
      for (size_t n = 1; n < 40; n += 2) {
        TfxFirDesign d = { (TfxMode)mode, (TfxWindow)window, 700.0, n, 1000.0,
          9000.0 };
        double taps[40], sum = 0.0;
        const char *why = "unset";
        bool is_symmetric = true;
        int result = tfx_fir_design (&d, 44100.0, taps);

        for (size_t i = 0; i < n; i++) {
          sum += taps[i];
          is_symmetric &= taps[i] == taps[n - 1 - i];
        }
        tap_many_check (&many,
            result == 0 && isfinite (sum) && is_symmetric &&
                tfx_fir_design_check (&d, 44100.0, &why) == 0 && !why,
            "%s", design_text (&d, 44100.0));
      }
    }
  }
  tap_many_end (&many);
}

static void
test_convolve (void)
{
  static const double a[] = { 1, 2, 3 }, b[] = { 4, 0, -5, 6 };
  static const double ab[] = { 4, 8, 7, -4, -3, 18 };
  double taps[6];

  tfx_fir_convolve (a, 3, b, 4, taps);
  tap_check (memcmp (taps, ab, sizeof ab) == 0, "a * b");
  tfx_fir_convolve (b, 4, a, 3, taps);
  tap_check (memcmp (taps, ab, sizeof ab) == 0, "b * a");
  tfx_fir_convolve (a, 1, b, 4, taps);
  tap_check (memcmp (taps, b, sizeof b) == 0, "1 * b");
}

static const TapTest tests[] = {
  { "scipy", test_scipy },
  { "refused", test_refused },
  { "accepted", test_accepted },
  { "convolve", test_convolve },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
