/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_agc.c: automatic gain control against its definition, any split of the stream,
 * and limits that the output never exceeds; and gains that clip.
 */
#include "common.h"
#include "levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 4000

static TfxChain *
chain_for (const TfxAgc *l)
{
  return test_chain_of_one (tfx_stage_new_agc (1, l));
}

/* kernel: NULL for the best. */
static TestFilter *
filter_for (const TfxAgc *l, unsigned n_channels, const char *kernel)
{
  return test_filter_start_chain (chain_for (l), n_channels, kernel);
}

#define N_SETTINGS 6

static const char *const names[N_SETTINGS] = { "peak, linked", "peak",
  "RMS, linked", "RMS", "true peak", "loudness" };

static TfxAgc
make_setting (unsigned i)
{
  static const TfxAgc all[N_SETTINGS] = {
    { TFX_AGC_PEAK, true, 10, 20, 10, 40, -6, 30, 0 },
    { TFX_AGC_PEAK, false, 16, 9, 8, 9, -12, 0, 0.98 },
    { TFX_AGC_RMS, true, 7, 30, 12, 60, -20, 40, 0 },
    { TFX_AGC_RMS, false, 32, 8, 2, 17, -30, 12, 0.5 },
    { TFX_AGC_TRUE_PEAK, true, 16, 15, 13, 15, -10, 0, 0.99 },
    { TFX_AGC_LOUDNESS, true, 200, 4, 1, 4, -23, 20, 0, 0.3,
        { { 1.5, -2.7, 1.2, -1.69, 0.73 }, { 1, -2, 1, -1.98, 0.985 } } },
  };

  return all[i];
}

static double
run_plain (const void *agc, double *x, size_t n_frames, unsigned n_channels)
{
  levels_level (agc, x, n_frames, n_channels);
  return 0;
}

static void
test_definition (void)
{
  static const unsigned channels[] = { 1, 2, 3, 5, 8, 9 };
  TapMany many = tap_many ("each sample of each kernel is as defined");

  for (unsigned i = 0; i < 5 * 6; i++) {
    const TfxAgc l = make_setting (i % 5);

    levels_check_run (&many, names[i % 5], chain_for (&l), run_plain, &l,
        N_FRAMES, channels[i / 5], 1e-9, false);
  }
  tap_many_end (&many);
}

/* At frame 1600 it gets another target. */
static void
test_splits (void)
{
  TapMany many = tap_many ("any split gives the same bits");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned i = 0; i < N_SETTINGS * 2; i++) {
      const TfxAgc l = make_setting (i % N_SETTINGS);
      TfxAgc next = l;

      next.target_db -= 7;
      levels_check_split (&many, names[i % N_SETTINGS], chain_for (&l),
          chain_for (&next), 1600, N_FRAMES, i % 12 == 11 ? 9 : 1 + i % 3,
          kernel);
    }
  }
  tap_many_end (&many);
}

static void
test_never (void)
{
  const unsigned n_runs = part_is_wanted () ? 10 : 100;
  TapMany many = tap_many ("not one of two million samples is above");
  TestFilter *filter = NULL;
  TfxAgc l = { 0 };

  for (unsigned run = 0; run < n_runs; run++) {
    if (run % 10 == 0) {
      l = make_setting (run / 10 % 2 ? 4 : 0);
      l.target_db = tap_random_uniform (-40, 6);
      l.is_linked = run / 20 % 2;
      test_filter_free (&filter);
      filter = filter_for (&l, 2, NULL);
      test_filter_set_format (filter, TFX_SAMPLE_F32, 0);
    }
    levels_check_limit (&many, filter, run, l.target_db);
  }
  test_filter_free (&filter);
  tap_many_end (&many);
}

/* At an even level the gains are nearly equal, and their mean is rounded. */
static void
test_never_f64 (void)
{
  const size_t n = 8000;
  TapMany many = tap_many ("nor is one of doubles");
  double *x = test_alloc (n * sizeof *x);

  for (size_t run = 0; run < 100; run++) {
    TfxAgc l = { TFX_AGC_PEAK, true, 3, 500, 300, 700,
      tap_random_uniform (-40, 6), 60, 0 };
    const double limit = pow (10, l.target_db / 20);
    const double most = tap_random_uniform (0.01, 1);
    TestFilter *filter;
    size_t n_above = 0;

    l.n_smooth = 1 + tap_random_below (499);
    filter = filter_for (&l, 1, NULL);
    for (size_t i = 0; i < n; i++)
      x[i] =
          tap_random_below (2) ? most : -most * (1 - 1e-9 * (double)(i / 40));
    test_filter_f64 (filter, x, 1, n);
    for (size_t i = 0; i < n; i++)
      n_above += !(fabs (x[i]) <= limit);
    tap_many_check (&many, n_above == 0, "run %zu: %zu above %.17g", run,
        n_above, limit);
    test_filter_free (&filter);
  }
  free (x);
  tap_many_end (&many);
}

/* Between the samples, by a sinc of 128 with a window, 16 points each. */
static double
find_true_peak (const double *x, size_t n)
{
  double most = 0;

  for (size_t i = 64; i + 64 < n; i++) {
    for (unsigned p = 0; p < 16; p++) {
      double y = 0;

      if (fabs (x[i]) + fabs (x[i + 1]) < 0.5 * most && most > 0)
        continue;
      for (int k = -63; k <= 64; k++) {
        const double d = M_PI * (k - p / 16.0), c = cos (d / 130);

        y += x[(ptrdiff_t)i + k] * (d == 0 ? 1 : sin (d) / d * c * c);
      }
      most = fmax (most, fabs (y));
    }
  }
  return most;
}

/* Sines with their peaks between the samples, and noise.  Of points four times as
 * dense as the samples a sine of 15 kHz may be 1 / cos (pi 15 / 192) above the
 * highest: 0.27 dB. */
static void
test_true_peak (void)
{
  const size_t n = part_is_wanted () ? 3000 : 6000;
  double *x = test_alloc_f64 (n);
  TfxAgc l = make_setting (4);
  double worst = -100;

  l.target_db = -1;
  for (unsigned i = 0; i < 6; i++) {
    static const double hz[] = { 12000, 8000, 6000, 15000, 997 };
    TestFilter *filter = filter_for (&l, 1, NULL);
    double found;

    test_noise_low (x, n, 1);
    for (size_t k = 0; k < n; k++) {
      const double loud = k / 700 % 3 == 1 ? 3 : 0.5;

      if (i < 5)
        x[k] = sin (2 * M_PI * hz[i] * (double)k / RATE + 0.785);
      x[k] *= i < 5 ? loud : 9;
    }
    test_filter_f64 (filter, x, 1, n);
    found = 20 * log10 (find_true_peak (x, n));
    worst = fmax (worst, found);
    tap_diag ("signal %u: %.2f dBTP", i, found);
    test_filter_free (&filter);
  }
  tap_check (worst <= -1 + 0.3, "at most 0.3 dB above -1 dBTP: %.2f", worst);
  free (x);
}

static void
test_latency (void)
{
  const TfxAgc l = make_setting (0);
  TfxChain *chain = chain_for (&l);
  double x[400] = { 0 };
  TestFilter *filter = filter_for (&l, 1, NULL);
  TfxReadings readings;

  tap_check (tfx_chain_latency (chain) == 200,
      "its gain blocks are its latency");
  x[0] = 0.25;
  test_filter_f64 (filter, x, 1, 400);
  tap_check (fabs (x[200] - pow (10, -6 / 20.0)) < 1e-9,
      "a sample is delayed by it, and has the target level");
  readings = test_filter_read (filter, 1);
  tap_check (fabs (readings.gain_db - (12.0412 - 6)) < 1e-3 &&
                 !readings.has_loudness,
      "the gain is read: %g dB", readings.gain_db);
  test_filter_reset (filter);
  tap_check (test_filter_is_silent (filter), "a reset leaves it silent");
  tfx_chain_unref (&chain);
  test_filter_free (&filter);
}

/* Silence is measured as well: none of it may be skipped. */
static void
test_silence (void)
{
  TapMany many = tap_many ("an AGC that had input is not silent after it");

  for (unsigned i = 0; i < N_SETTINGS; i++) {
    const TfxAgc l = make_setting (i);
    TestFilter *filter = filter_for (&l, 1, NULL);
    double x[4000] = { 0.25 };

    tap_many_check (&many, test_filter_is_silent (filter), "setting %u", i);
    test_filter_f64 (filter, x, 1, 4000);
    tap_many_check (&many, !test_filter_is_silent (filter), "setting %u", i);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* The ringing of a filter before it, and its rounding, are silence. */
static void
test_rings_out (void)
{
  TapMany many = tap_many ("samples below -130 dB are silence");

  for (unsigned i = 0; i < N_SETTINGS; i++) {
    const TfxAgc l = make_setting (i);
    double x[2][2 * N_FRAMES], worst;

    for (unsigned k = 0; k < 2; k++) {
      TestFilter *filter = filter_for (&l, 2, NULL);

      levels_break (x[k], N_FRAMES, 2, k * 1e-9);
      test_filter_f64 (filter, x[k], 2, N_FRAMES);
      test_filter_free (&filter);
    }
    worst = test_difference (x[1], x[0], 2 * N_FRAMES);
    tap_many_check (&many, worst < 1e-6, "setting %u: %g", i, worst);
  }
  tap_many_end (&many);
}

/* A reset clears the history, whatever comes after it. */
static void
test_again (void)
{
  TapMany many = tap_many ("a reset begins anew");

  for (unsigned i = 0; i < N_SETTINGS; i++) {
    const TfxAgc l = make_setting (i);
    TestFilter *used = filter_for (&l, 2, NULL);
    TestFilter *fresh = filter_for (&l, 2, NULL);
    double x[2][2 * N_FRAMES];

    test_noise_f64 (x[0], 2 * N_FRAMES);
    test_filter_f64 (used, x[0], 2, N_FRAMES);
    test_filter_reset (used);
    test_noise_f64 (x[0], 2 * N_FRAMES);
    for (size_t k = 0; k < 2 * N_FRAMES; k++)
      x[0][k] *= k < 2 * 1500 ? 0.0 : 0.05;
    memcpy (x[1], x[0], sizeof x[1]);
    test_filter_f64 (used, x[0], 2, N_FRAMES);
    test_filter_f64 (fresh, x[1], 2, N_FRAMES);
    tap_many_check (&many, memcmp (x[0], x[1], sizeof x[0]) == 0, "setting %u",
        i);
    test_filter_free (&used);
    test_filter_free (&fresh);
  }
  tap_many_end (&many);
}

/* An AGC without positive gain releases in silence, too. */
static void
test_lets_go (void)
{
  TapMany many = tap_many ("the gain comes back in silence");

  for (unsigned i = 1; i < 5; i += 3) {
    const TfxAgc l = make_setting (i);
    TestFilter *filter = filter_for (&l, 1, NULL);
    double x[9000] = { 0 };

    for (unsigned k = 0; k < 9000; k++)
      x[k] = k < 1000 ? 1.0 : k < 8000 ? 0.0 : 0.01;
    test_filter_f64 (filter, x, 1, 9000);
    tap_many_check (&many, x[8300] > 0.0095 && x[8300] < 0.0101,
        "setting %u: %g", i, x[8300]);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* Another block length keeps the state, to the bit, and the smoothing of parameters. */
static void
test_format (void)
{
  TapMany many = tap_many ("another block length keeps the state");

  for (unsigned i = 0; i < 2 * N_SETTINGS; i++) {
    const TfxAgc l = make_setting (i % N_SETTINGS);
    TfxAgc next = l;
    double x[2][2000];

    next.target_db -= 9;
    next.max_gain_db *= 0.5;
    levels_signal (x[0], 1000, 2);
    memcpy (x[1], x[0], sizeof x[1]);
    for (unsigned k = 0; k < 2; k++) {
      TestFilter *filter = filter_for (&l, 2, NULL);
      int ret = 0;

      test_filter_f64 (filter, x[k], 2, 300);
      if (i >= N_SETTINGS)
        test_filter_set_chain (filter, chain_for (&next));
      test_filter_f64 (filter, x[k] + 600, 2, 205);
      if (k == 1)
        ret = test_filter_set_format (filter, TFX_SAMPLE_F64, 480);
      tap_many_check (&many, ret == 0, "setting %u: %d", i, ret);
      test_filter_f64 (filter, x[k] + 1010, 2, 495);
      test_filter_free (&filter);
    }
    tap_many_check (&many, memcmp (x[0], x[1], sizeof x[0]) == 0, "setting %u",
        i);
  }
  tap_many_end (&many);
}

/* ---- clips ----------------------------------------------------------------------- */

static void
test_clip (void)
{
  TestFilter *filter = test_filter_start (tfx_stage_new_clip (1, 2.0), 2, NULL);
  float x[2 * N_FRAMES], y[2 * N_FRAMES];
  size_t n_wrong = 0;

  test_noise_f32 (x, 2 * N_FRAMES);
  memcpy (y, x, sizeof y);
  test_filter_f32 (filter, y, 2, N_FRAMES);
  for (size_t i = 0; i < 2 * N_FRAMES; i++)
    n_wrong += y[i] != fminf (fmaxf (2 * x[i], -1), 1);
  tap_check (n_wrong == 0, "a clip is 2 x, limited to 1: %zu are not", n_wrong);
  memcpy (y, x, sizeof y);
  test_filter_set_chain (filter,
      test_chain_of_one (tfx_stage_new_clip (1, 0.5)));
  test_filter_f32 (filter, y, 2, N_FRAMES);
  tap_check (fabs (y[0] - fmin (fmax (2 * x[0], -1), 1)) < 1e-3 &&
                 y[2000] == 0.5f * x[2000],
      "its gain is smoothed");
  tap_check (test_filter_is_silent (filter), "and it is always silent");
  test_filter_free (&filter);
}

static const TapTest tests[] = {
  { "definition", test_definition },
  { "splits", test_splits },
  { "never", test_never },
  { "never-f64", test_never_f64 },
  { "true-peak", test_true_peak },
  { "latency", test_latency },
  { "silence", test_silence },
  { "rings-out", test_rings_out },
  { "again", test_again },
  { "lets-go", test_lets_go },
  { "format", test_format },
  { "clip", test_clip },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
