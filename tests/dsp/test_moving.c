/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_moving.c: coefficients that glide while samples flow.
 */
#include "common.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

static bool
change_to (TestFilter **row, const TfxDesign *d, const TfxBackend *backend)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (d, RATE, sos);
  const TestStage stage = { 1, sos, (size_t)n, 0 };

  if (*row)
    return !test_filter_set_chain (*row, test_chain_of (&stage, 1));
  *row = test_filter_of (&stage, 1, 1, backend);
  return *row != NULL;
}

static double
gain_at (const TfxDesign *d, double freq)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (d, RATE, sos);
  TfxComplex h = tfx_response_at (sos, (size_t)n, freq, RATE);

  return hypot (h.re, h.im);
}

typedef struct Swing
{
  double peak; /* largest magnitude after the change */
  double jump; /* largest step between frames at the change */
  bool finite;
} Swing;

/* A sine through `before` until it is steady, then through `after`; before
 * NULL: `after` is switched on, from rest. */
static Swing
swing_of_change (const TfxDesign *before, const TfxDesign *after, double freq,
    double phase, const TfxBackend *backend)
{
  const size_t settle = 24000, length = 48000;
  double *x = test_alloc ((settle + length) * sizeof *x);
  Swing s = { 0, 0, true };
  TestFilter *row = NULL;

  for (size_t i = 0; i < settle + length; i++)
    x[i] = sin (2 * M_PI * freq / RATE * ((double)i - settle) + phase);
  if (before) {
    s.finite = change_to (&row, before, backend);
    test_filter_f64 (row, x, 1, settle);
  }
  s.finite = s.finite && change_to (&row, after, backend);
  test_filter_f64 (row, x + settle, 1, length);
  for (size_t i = settle; i < settle + length; i++) {
    s.finite = s.finite && isfinite (x[i]);
    s.peak = fmax (s.peak, fabs (x[i]));
    s.jump = fmax (s.jump, i < settle + 16 ? fabs (x[i] - x[i - 1]) : 0);
  }
  test_filter_free (&row);
  free (x);
  return s;
}

/* A filter that is switched on in the middle of a wave swings by itself, at
 * order 8 to twice the amplitude.  To have run with another cutoff before adds
 * the old state's ring-out: the amplitude of the wave that it was, which
 * overshoots like a step response, by less than as much again.  (State that
 * is not translated to the new cutoff swings to fifty times that.) */
static double
swing_limit (const TfxDesign *after, double freq, double phase, double steady,
    const TfxBackend *backend)
{
  return swing_of_change (NULL, after, freq, phase, backend).peak + 2 * steady;
}

/* How far a signal may move in one frame: as the steady ones do, and as the new
 * filter can: poles at cutoff w, the order of them, each reach w of the way. */
static double
step_limit (const TfxDesign *one, const TfxDesign *two, double freq)
{
  double amplitude = fmax (1, fmax (gain_at (one, freq), gain_at (two, freq)));
  double own = 2 * M_PI * freq / RATE;
  double filter = 2 * M_PI * two->lower_hz / RATE * two->order;

  return amplitude * (own + filter);
}

/* Order 8, from 1000 Hz to 20 Hz and back, on a sine: the output continues
 * without a step and does not swing up. */
static void
test_cutoff_jumps (void)
{
  static const double freqs[] = { 25, 100, 440, 997, 3000 };
  static const double cutoffs[][2] = { { 1000, 20 }, { 20, 1000 } };
  TapMany finite = tap_many ("the output stays finite");
  TapMany peak = tap_many ("no swing beyond that of switching on");
  TapMany jump = tap_many ("no step beyond the signal's and the filter's own");
  double worst_peak = 0, worst_jump = 0;

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 3 * 2 * 2 * 5 * 8; i++) {
      double freq = freqs[i / 12 % 5], phase = i / 60 * M_PI / 4;
      const double *cutoff = cutoffs[i / 6 % 2];
      TfxDesign one = { (TfxFamily)(i % 3), (TfxMode)(i / 3 % 2), 8, cutoff[0],
        0, 0.1, 40 };
      TfxDesign two = one;
      double steady, step, limit;
      Swing s;
      char text[TEST_TEXT_SIZE], way[TEST_TEXT_SIZE + 80];

      two.lower_hz = cutoff[1];
      s = swing_of_change (&one, &two, freq, phase, backend);
      steady = fmax (1, fmax (gain_at (&one, freq), gain_at (&two, freq)));
      step = step_limit (&one, &two, freq);
      snprintf (way, sizeof way, "%s to %g Hz, %s, sine of %g Hz at %.0f deg",
          test_design_text (&one, RATE, text), two.lower_hz, test_kernels[k],
          freq, phase * 180 / M_PI);
      tap_many_check (&finite, s.finite, "%s", way);
      limit = swing_limit (&two, freq, phase, steady, backend);
      tap_many_check (&peak, s.peak <= limit, "%s: peak %g, limit %g", way,
          s.peak, limit);
      tap_many_check (&jump, s.jump <= step, "%s: step %g, limit %g", way,
          s.jump, step);
      worst_peak = fmax (worst_peak, s.peak / limit);
      worst_jump = fmax (worst_jump, s.jump / step);
    }
  }
  tap_diag ("peak at most %.2f of its limit, step %.2f", worst_peak,
      worst_jump);
  tap_many_end (&finite);
  tap_many_end (&peak);
  tap_many_end (&jump);
}

/* A cutoff that sweeps up and down over 50 dB twice a second in small steps, as
 * a controller sets it. */
static void
test_sweep (void)
{
  TapMany many = tap_many ("a sweeping cutoff does not swing the output up");
  double *x = test_alloc (96000 * sizeof *x);

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 3 * 4 * 3; i++) {
      static const unsigned orders[] = { 2, 8, 24 };
      TfxDesign d = { (TfxFamily)(i % 3), (TfxMode)(i / 3 % 4), orders[i / 12],
        1000, 0, 0.1, 40 };
      TestFilter *row = NULL;
      double peak = 0;
      bool good = true;
      char text[TEST_TEXT_SIZE];

      for (size_t n = 0; n < 96000; n++)
        x[n] = sin (2 * M_PI * 440 / RATE * n);
      for (size_t n = 0; n < 96000; n += 96) {
        d.lower_hz = 632 * pow (20, sin (2 * M_PI * n / 48000));
        d.upper_hz = 1.5 * d.lower_hz;
        good = good && change_to (&row, &d, backend) &&
               !test_filter_f64 (row, x + n, 1, 96);
      }
      for (size_t n = 0; n < 96000; n++)
        peak = fmax (peak, isnan (x[n]) ? INFINITY : fabs (x[n]));
      test_design_text (&d, RATE, text);
      tap_many_check (&many, good && peak <= 3, "%s, %s: peak %g", text,
          test_kernels[k], peak);
      test_filter_free (&row);
    }
  }
  free (x);
  tap_many_end (&many);
}

/* Changing to the very same values by way of others, with nothing run
 * between, leaves the state where it was. */
static void
test_there_and_back (void)
{
  TapMany many = tap_many ("there and back between two blocks");

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 12; i++) {
      TfxDesign one = { (TfxFamily)(i % 3), (TfxMode)(i / 3), 6, 700, 1500, 0.1,
        40 };
      TfxDesign two = one;
      TestFilter *row = NULL, *other = NULL;
      double x[600], y[600];
      char text[TEST_TEXT_SIZE];

      two.lower_hz = 150;
      two.upper_hz = 4000;
      test_noise_f64 (x, 600);
      memcpy (y, x, sizeof y);
      tap_many_check (&many,
          change_to (&row, &one, backend) && change_to (&other, &one, backend),
          "no executor");
      test_filter_f64 (row, x, 1, 600);
      test_filter_f64 (other, y, 1, 301);
      tap_many_check (&many,
          change_to (&other, &two, backend) &&
              change_to (&other, &one, backend),
          "refused");
      test_filter_f64 (other, y + 301, 1, 299);
      test_design_text (&one, RATE, text);
      /* Two changes of state lose some digits each. */
      tap_many_check (&many, test_distance (y, x, 600) < 1e-9, "%s, %s: %.3g",
          text, test_kernels[k], test_distance (y, x, 600));
      test_filter_free (&row);
      test_filter_free (&other);
    }
  }
  tap_many_end (&many);
}

/* ---- kernels ---------------------------------------------------------------------- */

#define N_CURVE (40 * TFX_GRID_FRAMES)

/* A design that moves from the first frame on, in blocks of random lengths. */
static int
follow_curve (const TfxDesign *from, double ratio, unsigned n_channels,
    const TfxBackend *backend, double *x)
{
  TfxDesigner *designer = tfx_designer_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const TestStage stage = { 1, sos,
    (size_t)tfx_design_sections (from, RATE, sos), 0 };
  TestFilter *f = test_filter_of (&stage, 1, n_channels, backend);
  TfxStage *point = tfx_stage_new_sections (1, sos, stage.n_sos);
  TfxDesign d = *from;
  int ret = designer && f && point ? 0 : -1;

  for (uint64_t at = TFX_GRID_FRAMES; ret == 0 && at <= N_CURVE;
       at += TFX_GRID_FRAMES) {
    d.lower_hz *= ratio;
    d.upper_hz *= ratio;
    d.ripple_db *= 1.01;
    ret = tfx_designer_move (designer, &d, RATE, point);
    if (ret == 0)
      ret = tfx_filter_queue_stage (f->filter, at, point);
  }
  for (size_t i = 0, n; ret == 0 && i < N_CURVE; i += n) {
    n = 1 + tap_random_below (100);
    n = n < N_CURVE - i ? n : N_CURVE - i;
    ret = test_filter_f64 (f, x + i * n_channels, n_channels, n);
  }
  tfx_stage_unref (&point);
  test_filter_free (&f);
  tfx_designer_free (&designer);
  return ret;
}

/* Moving sections use the same operations on all of them. */
static void
test_same_bits (void)
{
  static const unsigned channels[] = { 1, 2, 3, 4, 5, 8, 11, 16 };
  TapMany many = tap_many ("kernels agree to the bit while values move");

  for (unsigned i = 0; i < 8 * 16; i++) {
    const unsigned n_channels = channels[i % 8];
    const TfxDesign d = { (TfxFamily)(i / 8 % 3), (TfxMode)(i / 8 % 4),
      1 + i * 5 % 19, 700, 1500, 0.1, 40 };
    const double ratio = i / 8 % 2 ? 1.02 : 0.97;
    const size_t n = N_CURVE * n_channels;
    double *in = test_alloc (n * sizeof *in), *out[2];
    char text[TEST_TEXT_SIZE];

    test_noise_f64 (in, n);
    for (unsigned k = 0; k < 2; k++)
      out[k] = test_alloc (n * sizeof *in);
    test_design_text (&d, RATE, text);
    for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
      const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);
      double *to = out[strcmp (test_kernels[k], "c") != 0];

      if (!backend)
        continue;
      memcpy (to, in, n * sizeof *in);
      tap_many_check (&many,
          follow_curve (&d, ratio, n_channels, backend, to) == 0 &&
              !memcmp (to, out[0], n * sizeof *in),
          "%s, %u channels, %s: off by %g", text, n_channels, test_kernels[k],
          test_distance (to, out[0], n));
    }
    free (in);
    free (out[0]);
    free (out[1]);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "same-bits", test_same_bits },
  { "cutoff-jumps", test_cutoff_jumps },
  { "sweep", test_sweep },
  { "there-and-back", test_there_and_back },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
