/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_dynamic_eq.c: DynamicEQ and DeEss against a plain loop, against ParametricEQ and
 * HiShelving at a steady gain, in any split, with values that change, and from rest.
 */
#include "common.h"
#include "core/stage.h"
#include "levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 12000

typedef struct Setting
{
  const char *text; /* with the values of the fields in their order */
  double frequency, q, threshold, ratio, attack, release, range;
  bool is_linked, is_shelf;
} Setting;

static const Setting settings[] = {
  { "DynamicEQ(1000, 1)", 1000, 1, -30, 4, 0.005, 0.05, -12 },
  { "DynamicEQ(300, 4, -40, 2, 0.001, 0.2, -30)", 300, 4, -40, 2, 0.001, 0.2,
      -30 },
  { "DynamicEQ(9000, 0.5, ratio=inf, attack=0, release=0)", 9000, 0.5, -30,
      INFINITY, 0, 0, -12 },
  { "DynamicEQ(700, 0.7, -20, 3, 0.01, 0.1, 9)", 700, 0.7, -20, 3, 0.01, 0.1,
      9 },
  { "DynamicEQ(2000, 2, -35, 8, link=True)", 2000, 2, -35, 8, 0.005, 0.05, -12,
      true },
  { "DeEss()", 6000, M_SQRT1_2, -30, 4, 0.001, 0.05, -12, false, true },
  { "DeEss(2000, -40, 20, 0.01, 0.3, -20, link=True)", 2000, M_SQRT1_2, -40, 20,
      0.01, 0.3, -20, true, true },
  { "DeEss(500, -20, 2, range=5)", 500, M_SQRT1_2, -20, 2, 0.001, 0.05, 5,
      false, true },
};
#define N_SETTINGS (sizeof settings / sizeof *settings)

/* ---- against the formulas of the page ---------------------------------------------- */

/* The integrators of a state-variable filter, from the continuous one by the trapezoidal
 * rule: the band b and the low-pass l solve
 *   b = b1 + g (x - l - k b), l = l1 + g b, b1' = 2 b - b1, l1' = 2 l - l1. */
typedef struct Plain
{
  double b1, l1, eq_b1, eq_l1, held, level;
} Plain;

static double
solve (double *b1, double *l1, double x, double g, double k, double *low)
{
  const double b = (*b1 + g * (x - *l1)) / (1 + g * k + g * g);
  const double l = *l1 + g * b;

  *b1 = 2 * b - *b1;
  *l1 = 2 * l - *l1;
  *low = l;
  return b;
}

static double
time_coefficient (double seconds)
{
  return seconds > 0 ? exp (-1 / (seconds * RATE)) : 0;
}

static double
run_plain (const void *setting, double *x, size_t n_frames, unsigned n_channels)
{
  const Setting *s = setting;
  const double g = tan (M_PI * s->frequency / RATE);
  const double attack = time_coefficient (s->attack);
  const double release = time_coefficient (s->release);
  Plain *plains = calloc (n_channels, sizeof *plains);
  double band[64], gain_db = 0, farthest = 0, low;

  for (size_t i = 0; i < n_frames; i++, x += n_channels) {
    double most = 0;

    for (unsigned c = 0; c < n_channels; c++) {
      Plain *p = &plains[c];

      band[c] = solve (&p->b1, &p->l1, x[c], g, 1 / s->q, &low) / s->q;
      if (s->is_shelf)
        band[c] = x[c] - band[c] - low;
      band[c] = fabs (band[c]);
      most = fmax (most, band[c]);
    }
    for (unsigned c = 0; c < n_channels; c++) {
      Plain *p = &plains[c];
      double gain, root, b;

      if (c == 0 || !s->is_linked) {
        p->held = fmax (s->is_linked ? most : band[c], release * p->held);
        p->level = attack * p->level + (1 - attack) * p->held;
        gain_db =
            fmax (0, 20 * log10 (p->level) - s->threshold) * (1 - 1 / s->ratio);
        gain_db = fmin (gain_db, fabs (s->range)) * (s->range < 0 ? -1 : 1);
        if (fabs (gain_db) > fabs (farthest))
          farthest = gain_db;
      }
      gain = pow (10, gain_db / 20);
      root = pow (10, gain_db / 40);
      if (s->is_shelf) {
        b = solve (&p->eq_b1, &p->eq_l1, x[c], g * sqrt (root), 1 / s->q, &low);
        x[c] = gain * x[c] + (root - gain) * b / s->q + (1 - gain) * low;
        continue;
      }
      b = solve (&p->eq_b1, &p->eq_l1, x[c], g, 1 / (s->q * root), &low);
      x[c] += (gain - 1) * b / (s->q * root);
    }
  }
  free (plains);
  return farthest;
}

static void
test_plain (void)
{
  TapMany many =
      tap_many ("each sample is the formula's, and the gain can be read");
  static const unsigned channels[] = { 1, 2, 5 };

  for (unsigned i = 0; i < 3 * N_SETTINGS; i++) {
    const Setting *s = &settings[i % N_SETTINGS];
    const unsigned n_channels = channels[i / N_SETTINGS];
    const size_t n = (size_t)N_FRAMES * n_channels;
    double *x = test_alloc_f64 (n), *want, error, gain_db;
    TfxChain *chain = test_build (s->text, n_channels);
    const uint64_t id = tfx_stage_id (chain->stages[0]);
    TestFilter *filter = test_filter_start_chain (chain, n_channels, NULL);

    levels_signal (x, N_FRAMES, n_channels);
    want = test_copy_f64 (x, n);
    gain_db = run_plain (s, want, N_FRAMES, n_channels);
    test_filter_pieces (filter, x, n_channels, N_FRAMES, 97, 0, NULL);
    error = test_difference (x, want, n);
    tap_many_check (&many,
        error < 1e-12 &&
            fabs (test_filter_read (filter, id).gain_db - gain_db) < 1e-9 &&
            fabs (gain_db) > 1.0,
        "%s, %u channels: %g, %.2f dB", s->text, n_channels, error, gain_db);
    test_filter_free (&filter);
    free (x);
    free (want);
  }
  tap_many_end (&many);
}

/* ---- a steady gain ------------------------------------------------------------------- */

/* Where the band is so loud that the range limits the gain, the output becomes that of
 * the equaliser with that gain, over the whole spectrum. */
static void
test_steady (void)
{
  static const char *const pairs[][2] = {
    { "DynamicEQ(1000, 1, -60, inf, release=100, range=-12)",
        "ParametricEQ(1000, 1, -12)" },
    { "DynamicEQ(1000, 3, -60, inf, release=100, range=9)",
        "ParametricEQ(1000, 3, 9)" },
    { "DynamicEQ(15000, 0.5, -60, inf, release=100, range=-30)",
        "ParametricEQ(15000, 0.5, -30)" },
    { "DynamicEQ(60, 6, -60, inf, release=100, range=4)",
        "ParametricEQ(60, 6, 4)" },
    { "DynamicEQ(1000, 1, 60, range=-12)", "Gain(1)" },
    { "DeEss(6000, -60, inf, release=100, range=-12)",
        "HiShelving(6000, 0.70710678118654752, -12, 'db')" },
    { "DeEss(300, -60, inf, release=100, range=7)",
        "HiShelving(300, 0.70710678118654752, 7, 'db')" },
    { "DeEss(6000, 60)", "Gain(1)" },
  };
  TapMany many = tap_many ("at a steady gain it is the equaliser of that gain");
  const size_t n = 4 * N_FRAMES, settled = 3 * N_FRAMES;

  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    double *x = test_alloc_f64 (n), *want, error;
    TestFilter *filter, *other;

    test_noise_f64 (x, n);
    want = test_copy_f64 (x, n);
    filter = test_filter_start_chain (test_build (pairs[i][0], 1), 1, NULL);
    other = test_filter_start_chain (test_build (pairs[i][1], 1), 1, NULL);
    test_filter_f64 (filter, x, 1, n);
    test_filter_f64 (other, want, 1, n);
    error = test_difference (x + settled, want + settled, n - settled);
    tap_many_check (&many, error < 1e-10, "%s: %g", pairs[i][0], error);
    test_filter_free (&filter);
    test_filter_free (&other);
    free (x);
    free (want);
  }
  tap_many_end (&many);
}

/* The static curve, and a sine at the centre that gets its gain. */
static void
test_curve (void)
{
  TapMany many = tap_many ("the gain of a sine by its level");
  TfxChain *chain =
      test_build ("DynamicEQ(1000, 2, -40, 4, 0.01, 10, range=-12)", 1);
  double x[N_FRAMES];

  for (double level = -60; level <= 0; level += 5) {
    const double wanted = fmax (fmin (0, -0.75 * (level + 40)), -12);
    TestFilter *filter =
        test_filter_start_chain (tfx_chain_ref (chain), 1, NULL);
    double gain_db, peak = 0;

    for (size_t i = 0; i < N_FRAMES; i++)
      x[i] = pow (10, level / 20) * sin (2 * M_PI * 1000 / RATE * (double)i);
    test_filter_f64 (filter, x, 1, N_FRAMES);
    for (size_t i = N_FRAMES - 480; i < N_FRAMES; i++)
      peak = fmax (peak, fabs (x[i]));
    tap_many_check (&many,
        tfx_stage_gain_at (chain->stages[0], level, &gain_db) == 0 &&
            fabs (gain_db - wanted) < 1e-12 &&
            fabs (20 * log10 (peak) - level - wanted) < 0.02,
        "%g dB: %.3f, %.3f, not %.3f dB", level, gain_db,
        20 * log10 (peak) - level, wanted);
    test_filter_free (&filter);
  }
  tfx_chain_unref (&chain);
  tap_many_end (&many);
}

/* ---- changes ------------------------------------------------------------------------- */

static void
test_split (void)
{
  static const char *const nexts[] = { NULL,
    "DynamicEQ(1500, 2, -25, 2, 0.01, 0.1, -6)",
    "DynamicEQ(1500, 2, -25, 2, 0.01, 0.1, 6, link=True)", "DeEss(3000)" };
  TapMany many = tap_many ("any split gives the same bits");

  for (unsigned i = 0; i < 4 * N_SETTINGS; i++) {
    const char *text = settings[i % N_SETTINGS].text;
    const char *next = nexts[i / N_SETTINGS];

    levels_check_split (&many, text, test_build (text, 2),
        next ? test_build (next, 2) : NULL, 5000, N_FRAMES, 2, NULL);
  }
  tap_many_end (&many);
}

/* After a reset, and after NaN: as from rest.  Silence ends its state. */
static void
test_state (void)
{
  const size_t n = N_FRAMES;
  double *x = test_alloc_f64 (n), *again, *first;
  TestFilter *filter =
      test_filter_start_chain (test_build (settings[0].text, 1), 1, NULL);
  bool is_silent_before, is_finite = true;

  levels_signal (x, n, 1);
  first = test_copy_f64 (x, n);
  again = test_copy_f64 (x, n);
  tap_check (test_filter_is_silent (filter), "silent at rest");
  test_filter_f64 (filter, first, 1, n);
  is_silent_before = test_filter_is_silent (filter);
  test_filter_reset (filter);
  tap_check (!is_silent_before && test_filter_is_silent (filter),
      "not silent until it is reset");
  test_filter_f64 (filter, again, 1, n);
  tap_check (memcmp (first, again, n * sizeof *first) == 0,
      "after a reset it begins anew");
  memcpy (again, x, n * sizeof *x);
  again[10] = NAN;
  again[20] = -INFINITY;
  test_filter_reset (filter);
  test_filter_f64 (filter, again, 1, n);
  for (size_t i = 0; i < n; i++)
    is_finite = is_finite && isfinite (again[i]);
  tap_check (is_finite, "NaN and infinity do not stay");
  for (unsigned k = 0; k < 40 && !test_filter_is_silent (filter); k++) {
    memset (x, 0, n * sizeof *x);
    test_filter_f64 (filter, x, 1, n);
  }
  tap_check (test_filter_is_silent (filter), "silent after silence");
  test_filter_free (&filter);
  free (x);
  free (first);
  free (again);
}

static const TapTest tests[] = {
  { "plain", test_plain },
  { "steady", test_steady },
  { "curve", test_curve },
  { "split", test_split },
  { "state", test_state },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
