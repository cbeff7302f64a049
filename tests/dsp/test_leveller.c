/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_leveller.c: gains that are found cell by cell against their definition, any
 * split of the stream, and what never comes out; and gains that clip.
 */
#include "core/backend.h"
#include "common.h"
#include "jump.h"
#include "levels.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 4000

static TestFilter *
filter_for (const TfxLeveller *l, unsigned n_channels, TfxSample sample,
    const char *kernel)
{
  const TfxFilterSpec spec = { RATE, n_channels, sample, 0 };
  TfxChain *chain = test_chain_of_one (tfx_stage_new_leveller (1, l));
  TestFilter *filter = test_filter_for (chain, &spec,
      kernel ? tfx_cpu_backend_for (kernel) : tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  return filter;
}

#define N_SETTINGS 6

static TfxLeveller
make_setting (unsigned i)
{
  static const TfxLeveller all[N_SETTINGS] = {
    { TFX_LEVELLER_PEAK, true, 10, 20, 10, 40, -6, 30, 0 },
    { TFX_LEVELLER_PEAK, false, 16, 9, 8, 9, -12, 0, 0.98 },
    { TFX_LEVELLER_RMS, true, 7, 30, 12, 60, -20, 40, 0 },
    { TFX_LEVELLER_RMS, false, 32, 8, 2, 17, -30, 12, 0.5 },
    { TFX_LEVELLER_TRUE_PEAK, true, 16, 15, 13, 15, -10, 0, 0.99 },
    { TFX_LEVELLER_LOUDNESS, true, 200, 4, 1, 4, -23, 20, 0, 0.3,
        { { 1.5, -2.7, 1.2, -1.69, 0.73 }, { 1, -2, 1, -1.98, 0.985 } } },
  };

  return all[i];
}

/* The largest error of a kernel, relative to the largest sample. */
static double
compare (const TfxLeveller *l, const double *x, const double *want,
    unsigned n_channels, const char *kernel)
{
  const size_t n = N_FRAMES * n_channels;
  TestFilter *filter = filter_for (l, n_channels, TFX_SAMPLE_F64, kernel);
  double *have = test_alloc (n * sizeof *have), worst = 0, most = 0;

  memcpy (have, x, n * sizeof *have);
  for (size_t i = 0, m; i < N_FRAMES; i += m) {
    m = 1 + i % 97;
    m = m < N_FRAMES - i ? m : N_FRAMES - i;
    test_filter_f64 (filter, have + i * n_channels, n_channels, m);
  }
  for (size_t s = 0; s < n; s++) {
    worst = fmax (worst, fabs (have[s] - want[s]));
    most = fmax (most, fabs (want[s]));
  }
  test_filter_free (&filter);
  free (have);
  return worst / most;
}

static void
test_definition (void)
{
  static const unsigned channels[] = { 1, 2, 3, 5, 8, 9 };
  TapMany many = tap_many ("each sample of each kernel is as defined");

  for (unsigned i = 0; i < 5 * 6; i++) {
    const TfxLeveller l = make_setting (i % 5);
    const unsigned n_channels = channels[i / 5];
    const size_t n = N_FRAMES * n_channels;
    double *x = test_alloc (n * sizeof *x);
    double *want = test_alloc (n * sizeof *want), error;
    const char *kernel;

    levels_signal (x, N_FRAMES, n_channels);
    memcpy (want, x, n * sizeof *want);
    levels_level (&l, want, N_FRAMES, n_channels);
    for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
      error = compare (&l, x, want, n_channels, kernel);
      tap_many_check (&many, error < 1e-9, "setting %u, %u channels, %s: %g",
          i % 5, n_channels, kernel, error);
    }
    free (x);
    free (want);
  }
  tap_many_end (&many);
}

/* At frame 1600 it goes to another target. */
static void
run_split (const TfxLeveller *l, double *x, unsigned n_channels, unsigned most,
    const char *kernel)
{
  TestFilter *filter = filter_for (l, n_channels, TFX_SAMPLE_F64, kernel);
  TfxLeveller next = *l;

  next.target_db -= 7;
  for (size_t i = 0, n; i < N_FRAMES; i += n) {
    n = most > 0 ? 1 + tap_random_below (most) : N_FRAMES;
    if (i + n > N_FRAMES)
      n = N_FRAMES - i;
    if (i < 1600 && i + n > 1600)
      n = 1600 - i;
    if (i == 1600)
      test_filter_set_chain (filter,
          test_chain_of_one (tfx_stage_new_leveller (1, &next)));
    test_filter_f64 (filter, x + i * n_channels, n_channels, n);
  }
  test_filter_free (&filter);
}

static void
try_splits (TapMany *many, unsigned i, unsigned n_channels, const char *kernel)
{
  const TfxLeveller l = make_setting (i);
  const size_t size = N_FRAMES * n_channels * sizeof (double);
  double *x = test_alloc (size), *want = test_alloc (size);
  double *have = test_alloc (size);

  levels_signal (x, N_FRAMES, n_channels);
  memcpy (want, x, size);
  run_split (&l, want, n_channels, 0, kernel);
  for (unsigned most = 5; most < 2000; most = most * 11 + 1) {
    memcpy (have, x, size);
    run_split (&l, have, n_channels, most, kernel);
    tap_many_check (many, memcmp (have, want, size) == 0,
        "setting %u, %u channels, %s, up to %u", i, n_channels, kernel, most);
  }
  free (x);
  free (want);
  free (have);
}

static void
test_splits (void)
{
  TapMany many = tap_many ("any split gives the same bits");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned i = 0; i < N_SETTINGS * 2; i++)
      try_splits (&many, i % N_SETTINGS, i % 12 == 11 ? 9 : 1 + i % 3, kernel);
  }
  tap_many_end (&many);
}

static void
test_never (void)
{
  const size_t n = 20000, n_runs = part_is_wanted () ? 10 : 100;
  TapMany many = tap_many ("not one of two million samples is above");
  float *x = test_alloc (n * sizeof *x);
  TestFilter *filter = NULL;
  double limit = 0;

  for (size_t run = 0; run < n_runs; run++) {
    size_t n_above = 0;

    if (run % 10 == 0) {
      TfxLeveller l = make_setting (run / 10 % 2 ? 4 : 0);

      l.target_db = tap_random_uniform (-40, 6);
      l.is_linked = run / 20 % 2;
      test_filter_free (&filter);
      filter = filter_for (&l, 2, TFX_SAMPLE_F32, NULL);
      limit = pow (10, l.target_db / 20);
    }
    for (size_t i = 0; i < n; i++)
      x[i] = (float)(tap_random_uniform (-1, 1) *
                     exp2 (tap_random_uniform (-10, run % 3 ? 2 : 20)));
    test_filter_f32 (filter, x, 2, n / 2);
    for (size_t i = 0; i < n; i++)
      n_above += !(fabs ((double)x[i]) <= limit);
    tap_many_check (&many, n_above == 0, "run %zu: %zu above %.17g", run,
        n_above, limit);
  }
  test_filter_free (&filter);
  free (x);
  tap_many_end (&many);
}

/* Where all is equally loud the gains are nearly alike, and their mean is rounded. */
static void
test_never_f64 (void)
{
  const size_t n = 8000;
  TapMany many = tap_many ("nor is one of doubles");
  double *x = test_alloc (n * sizeof *x);

  for (size_t run = 0; run < 100; run++) {
    TfxLeveller l = { TFX_LEVELLER_PEAK, true, 3, 500, 300, 700,
      tap_random_uniform (-40, 6), 60, 0 };
    const double limit = pow (10, l.target_db / 20);
    const double most = tap_random_uniform (0.01, 1);
    TestFilter *filter;
    size_t n_above = 0;

    l.n_smooth = 1 + tap_random_below (499);
    filter = filter_for (&l, 1, TFX_SAMPLE_F64, NULL);
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

/* Sines whose peaks lie between the samples, and noise.  Of points four times as
 * dense as the samples a sine of 15 kHz may be 1 / cos (pi 15 / 192) above the
 * highest: 0.27 dB. */
static void
test_true_peak (void)
{
  const size_t n = part_is_wanted () ? 3000 : 6000;
  double *x = test_alloc (n * sizeof *x);
  TfxLeveller l = make_setting (4);
  double worst = -100;

  l.target_db = -1;
  for (unsigned i = 0; i < 6; i++) {
    static const double hz[] = { 12000, 8000, 6000, 15000, 997 };
    TestFilter *filter = filter_for (&l, 1, TFX_SAMPLE_F64, NULL);
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
  const TfxLeveller l = make_setting (0);
  TfxChain *chain = test_chain_of_one (tfx_stage_new_leveller (1, &l));
  double x[400] = { 0 };
  TestFilter *filter = filter_for (&l, 1, TFX_SAMPLE_F64, NULL);
  TfxReadings readings;
  int ret;

  tap_check (tfx_chain_latency (chain) == 200, "its cells are its latency");
  x[0] = 0.25;
  test_filter_f64 (filter, x, 1, 400);
  tap_check (fabs (x[200] - pow (10, -6 / 20.0)) < 1e-9,
      "a sample comes out so much later, at the target");
  ret = tfx_filter_read (filter->filter, 1, &readings);
  tap_check (ret == 0 && fabs (readings.gain_db - (12.0412 - 6)) < 1e-3 &&
                 !readings.has_loudness,
      "the gain is read: %g dB", readings.gain_db);
  test_filter_reset (filter);
  tap_check (test_filter_is_silent (filter), "a reset takes it to rest");
  tfx_chain_unref (&chain);
  test_filter_free (&filter);
}

/* Time that is silence is measured as well: none of it may be passed over. */
static void
test_silence (void)
{
  TapMany many = tap_many ("what has heard something is not silent behind it");

  for (unsigned i = 0; i < N_SETTINGS; i++) {
    const TfxLeveller l = make_setting (i);
    TestFilter *filter = filter_for (&l, 1, TFX_SAMPLE_F64, NULL);
    double x[4000] = { 0.25 };

    tap_many_check (&many, test_filter_is_silent (filter), "setting %u", i);
    test_filter_f64 (filter, x, 1, 4000);
    tap_many_check (&many, !test_filter_is_silent (filter), "setting %u", i);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* What a filter in front rings with, and what it rounds, is silence. */
static void
test_rings_out (void)
{
  TapMany many = tap_many ("what is below -130 dB is silence");

  for (unsigned i = 0; i < N_SETTINGS; i++) {
    const TfxLeveller l = make_setting (i);
    double x[2][2 * N_FRAMES], worst = 0;

    for (unsigned k = 0; k < 2; k++) {
      TestFilter *filter = filter_for (&l, 2, TFX_SAMPLE_F64, NULL);

      levels_break (x[k], N_FRAMES, 2, k * 1e-9);
      test_filter_f64 (filter, x[k], 2, N_FRAMES);
      test_filter_free (&filter);
    }
    for (size_t k = 0; k < 2 * N_FRAMES; k++)
      worst = fmax (worst, fabs (x[1][k] - x[0][k]));
    tap_many_check (&many, worst < 1e-6, "setting %u: %g", i, worst);
  }
  tap_many_end (&many);
}

/* Behind a reset nothing of what was heard is left, whatever comes first. */
static void
test_again (void)
{
  TapMany many = tap_many ("a reset begins anew");

  for (unsigned i = 0; i < N_SETTINGS; i++) {
    const TfxLeveller l = make_setting (i);
    TestFilter *used = filter_for (&l, 2, TFX_SAMPLE_F64, NULL);
    TestFilter *fresh = filter_for (&l, 2, TFX_SAMPLE_F64, NULL);
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

/* What only lowers lets go in silence, too. */
static void
test_lets_go (void)
{
  TapMany many = tap_many ("the gain comes back in silence");

  for (unsigned i = 1; i < 5; i += 3) {
    const TfxLeveller l = make_setting (i);
    TestFilter *filter = filter_for (&l, 1, TFX_SAMPLE_F64, NULL);
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

/* The state goes with blocks of another length, to the bit, and numbers on their
 * way to others. */
static void
test_format (void)
{
  TapMany many = tap_many ("blocks get another length, it goes on as it was");

  for (unsigned i = 0; i < 2 * N_SETTINGS; i++) {
    const TfxLeveller l = make_setting (i % N_SETTINGS);
    TfxLeveller next = l;
    double x[2][2000];

    next.target_db -= 9;
    next.max_gain_db *= 0.5;
    levels_signal (x[0], 1000, 2);
    memcpy (x[1], x[0], sizeof x[1]);
    for (unsigned k = 0; k < 2; k++) {
      TestFilter *filter = filter_for (&l, 2, TFX_SAMPLE_F64, NULL);
      int ret = 0;

      test_filter_f64 (filter, x[k], 2, 300);
      if (i >= N_SETTINGS)
        test_filter_set_chain (filter,
            test_chain_of_one (tfx_stage_new_leveller (1, &next)));
      test_filter_f64 (filter, x[k] + 600, 2, 205);
      tfx_filter_lock (filter->filter);
      if (k == 1)
        ret = tfx_filter_set_format (filter->filter, TFX_SAMPLE_F64, 480);
      tfx_filter_unlock (filter->filter);
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
  const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F32, 0 };
  TfxChain *chain = test_chain_of_one (tfx_stage_new_clip (1, 2.0));
  TestFilter *filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
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
      "its gain glides");
  tap_check (test_filter_is_silent (filter), "and it is at rest always");
  tfx_chain_unref (&chain);
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
