/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_limiter.c: a limiter against its definition, any split of the stream, and
 * what it must never do.
 */
#include "common.h"
#include "jump.h"
#include "levels.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 3000

static TfxChain *
chain_for (const TfxLimiter *l)
{
  return test_chain_of_one (tfx_stage_new_limiter (1, l));
}

/* kernel: NULL for the best. */
static TestFilter *
filter_for (const TfxLimiter *l, unsigned n_channels, const char *kernel)
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = chain_for (l);
  TestFilter *filter = test_filter_for (chain, &spec,
      kernel ? tfx_cpu_backend_for (kernel) : tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  return filter;
}

static double
coefficient (double seconds)
{
  return seconds > 0 ? exp (-1 / (seconds * RATE)) : 0;
}

static TfxLimiter
make_limiter (double threshold_db, double ahead, double release)
{
  return (TfxLimiter){ .threshold_db = threshold_db,
    .n_ahead = (size_t)(ahead * RATE + 0.5),
    .attack = coefficient (ahead),
    .release = coefficient (release) };
}

#define N_SETTINGS 7

static TfxLimiter
make_setting (unsigned i)
{
  static const double v[N_SETTINGS][3] = { { -1, 0.005, 0.05 },
    { -20, 0.002, 0.2 }, { -10, 0, 0.01 }, { -6, 1 / RATE, 0 },
    { -12, 0.001, 0.0005 }, { -30, 0.013, 0.1 }, { -20, 0.004, 0.05 } };
  TfxLimiter l = make_limiter (v[i][0], v[i][1], v[i][2]);

  l.is_linked = i == 6;
  return l;
}

static const unsigned channels[] = { 1, 2, 3, 5, 8, 11 };

/* The largest difference as a part of the largest value. */
static void
test_definition (void)
{
  TapMany many = tap_many ("each sample is as defined, to -140 dB");

  for (unsigned i = 0; i < N_SETTINGS * 6; i++) {
    const TfxLimiter l = make_setting (i % N_SETTINGS);
    const unsigned n_channels = channels[i / N_SETTINGS];
    const size_t n = N_FRAMES * n_channels;
    double *x = test_alloc (n * sizeof *x);
    double *want = test_alloc (n * sizeof *x),
           *have = test_alloc (n * sizeof *x);

    levels_signal (x, N_FRAMES, n_channels);
    memcpy (want, x, n * sizeof *x);
    levels_limit (&l, want, N_FRAMES, n_channels);
    for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
      TestFilter *filter;
      double worst = 0;

      if (!tfx_cpu_backend_for (test_kernels[k]))
        continue;
      filter = filter_for (&l, n_channels, test_kernels[k]);
      memcpy (have, x, n * sizeof *x);
      test_filter_f64 (filter, have, n_channels, N_FRAMES);
      for (size_t s = 0; s < n; s++)
        worst = fmax (worst,
            fabs (have[s] - want[s]) / fmax (fabs (want[s]), 1e-15));
      tap_many_check (&many, worst < 1e-7, "setting %u, %u channels, %s: %g",
          i % N_SETTINGS, n_channels, test_kernels[k], worst);
      test_filter_free (&filter);
    }
    free (x);
    free (want);
    free (have);
  }
  tap_many_end (&many);
}

/* At frame 1500 it goes to another threshold. */
static void
run_split (const TfxLimiter *l, double *x, unsigned n_channels, unsigned most,
    const char *kernel)
{
  TestFilter *filter = filter_for (l, n_channels, kernel);
  TfxLimiter next = *l;

  next.threshold_db -= 7;
  next.release = 0.99;
  for (size_t i = 0, n; i < N_FRAMES; i += n) {
    n = most > 0 ? 1 + tap_random_below (most) : N_FRAMES;
    if (i + n > N_FRAMES)
      n = N_FRAMES - i;
    if (i < 1500 && i + n > 1500)
      n = 1500 - i;
    if (i == 1500)
      test_filter_set_chain (filter, chain_for (&next));
    test_filter_f64 (filter, x + i * n_channels, n_channels, n);
  }
  test_filter_free (&filter);
}

static void
test_splits (void)
{
  TapMany many = tap_many ("any split gives the same bits");

  for (unsigned i = 0; i < N_SETTINGS * TEST_N_KERNELS; i++) {
    const TfxLimiter l = make_setting (i % N_SETTINGS);
    const char *kernel = test_kernels[i / N_SETTINGS];
    const unsigned n_channels = channels[i % 6];
    const size_t size = N_FRAMES * n_channels * sizeof (double);
    double *x = test_alloc (size), *want = test_alloc (size);
    double *have = test_alloc (size);

    levels_signal (x, N_FRAMES, n_channels);
    memcpy (want, x, size);
    if (tfx_cpu_backend_for (kernel))
      run_split (&l, want, n_channels, 0, kernel);
    for (unsigned most = 5; most < 2000; most = most * 11 + 1) {
      memcpy (have, x, size);
      if (tfx_cpu_backend_for (kernel))
        run_split (&l, have, n_channels, most, kernel);
      tap_many_check (&many,
          !tfx_cpu_backend_for (kernel) || memcmp (have, want, size) == 0,
          "setting %u, %u channels, %s, up to %u", i % N_SETTINGS, n_channels,
          kernel, most);
    }
    free (x);
    free (want);
    free (have);
  }
  tap_many_end (&many);
}

/* Ten million samples, of any size. */
static void
test_never (void)
{
  const size_t n = 20000, n_runs = part_is_wanted () ? 50 : 500;
  TapMany many = tap_many ("not one of ten million samples is above");
  float *x = test_alloc (n * sizeof *x);
  TestFilter *filter = NULL;
  double limit = 0;

  for (size_t run = 0; run < n_runs; run++) {
    size_t n_above = 0;

    if (run % 20 == 0) {
      TfxLimiter l = make_limiter (tap_random_uniform (-40, 6),
          tap_random_uniform (0, 0.01), tap_random_uniform (0, 0.1));

      test_filter_free (&filter);
      filter = filter_for (&l, 2, NULL);
      limit = pow (10, l.threshold_db / 20);
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

static void
test_latency (void)
{
  const TfxLimiter l = make_limiter (0, 0.005, 0.05);
  TfxChain *chain = chain_for (&l), *twice;
  double x[300] = { 0.25 };
  TestFilter *filter = filter_for (&l, 1, NULL);
  TfxStage *second = tfx_stage_new_limiter (2, &l);

  twice = tfx_chain_append (chain, second);
  tap_check (tfx_chain_latency (chain) == 240 &&
                 tfx_chain_latency (twice) == 480,
      "its look-ahead is the latency of a chain");
  test_filter_f64 (filter, x, 1, 300);
  tap_check (x[240] == 0.25 && x[0] == 0,
      "a soft sample passes, so much later");
  test_filter_reset (filter);
  tap_check (test_filter_is_silent (filter), "a reset takes it to rest");
  tfx_chain_unref (&chain);
  tfx_chain_unref (&twice);
  tfx_stage_unref (&second);
  test_filter_free (&filter);
}

/* A threshold that falls is there in the end; and the lowest gain is told of once. */
static void
test_falls (void)
{
  TfxLimiter l = make_limiter (0, 0.03, 0.01);
  TestFilter *filter = filter_for (&l, 1, NULL);
  TfxStage *stage;
  TfxReadings readings[2];
  static double x[40000];
  double peak = 0;

  for (unsigned i = 0; i < 40000; i++)
    x[i] = i % 2 ? 0.9 : -0.9;
  test_filter_f64 (filter, x, 1, 4800);
  l.threshold_db = -40;
  stage = tfx_stage_new_limiter (1, &l);
  tfx_filter_lock (filter->filter);
  tap_check (tfx_filter_set_stage (filter->filter, stage) == 0, "it is set");
  tfx_filter_unlock (filter->filter);
  test_filter_f64 (filter, x + 4800, 1, 40000 - 4800);
  for (unsigned i = 30000; i < 40000; i++)
    peak = fmax (peak, fabs (x[i]));
  tap_check (fabs (peak - 0.01) < 1e-6, "the threshold falls to %g", peak);
  memset (x, 0, sizeof x);
  test_filter_f64 (filter, x, 1, 20000);
  for (unsigned i = 0; i < 2; i++) {
    test_filter_f64 (filter, x + 20000, 1, i * 100);
    tfx_filter_lock (filter->filter);
    tfx_filter_read (filter->filter, 1, &readings[i]);
    tfx_filter_unlock (filter->filter);
  }
  tap_check (test_filter_is_silent (filter), "it is silent in the end");
  x[0] = 0.9;
  memset (x + 1, 0, 5000 * sizeof *x);
  test_filter_f64 (filter, x, 1, 1700);
  tap_check (!test_filter_is_silent (filter),
      "but not while its gain is on the way back");
  tap_check (readings[0].gain_db < -39 && readings[1].gain_db > -0.01,
      "gains are read: %g and %g dB", readings[0].gain_db, readings[1].gain_db);
  tfx_stage_unref (&stage);
  test_filter_free (&filter);
}

/* The state goes with blocks of another length, to the bit. */
static void
test_format (void)
{
  const TfxLimiter l = make_setting (1);
  double x[2][2000];

  levels_signal (x[0], 1000, 2);
  memcpy (x[1], x[0], sizeof x[1]);
  for (unsigned k = 0; k < 2; k++) {
    TestFilter *filter = filter_for (&l, 2, NULL);

    test_filter_f64 (filter, x[k], 2, 500);
    tfx_filter_lock (filter->filter);
    if (k == 1)
      tap_check (tfx_filter_set_format (filter->filter, TFX_SAMPLE_F64, 480) ==
                     0,
          "blocks get another length");
    tfx_filter_unlock (filter->filter);
    test_filter_f64 (filter, x[k] + 1000, 2, 500);
    test_filter_free (&filter);
  }
  tap_check (memcmp (x[0], x[1], sizeof x[0]) == 0, "it goes on as it was");
}

/* Late without looking: the same, so much later. */
static void
test_late (void)
{
  const size_t late = 333;
  TapMany many = tap_many ("frames that it does not look at delay it, no more");

  for (unsigned i = 0; i < N_SETTINGS * TEST_N_KERNELS; i++) {
    const char *kernel = test_kernels[i % TEST_N_KERNELS];
    TfxLimiter l = make_setting (i % N_SETTINGS);
    TestFilter *filter;
    double x[2][2 * N_FRAMES], worst = 0;

    if (!tfx_cpu_backend_for (kernel))
      continue;
    levels_signal (x[0], N_FRAMES, 2);
    memcpy (x[1], x[0], sizeof x[1]);
    for (unsigned k = 0; k < 2; k++) {
      l.n_late = k * late;
      filter = filter_for (&l, 2, kernel);
      test_filter_f64 (filter, x[k], 2, 1000);
      test_filter_f64 (filter, x[k] + 2000, 2, N_FRAMES - 1000);
      test_filter_free (&filter);
    }
    for (size_t s = 0; s < 2 * (N_FRAMES - late); s++)
      worst = fmax (worst, fabs (x[0][s] - x[1][s + 2 * late]));
    for (size_t s = 0; s < 2 * late; s++)
      worst = fmax (worst, fabs (x[1][s]));
    tap_many_check (&many, worst < 1e-12, "setting %u, %s: %g", i % N_SETTINGS,
        kernel, worst);
  }
  tap_many_end (&many);
}

/* From one look-ahead to another while it runs, as told with
 * tfx_chain_keep_latency(): without the frames by which it gets later the output is
 * that of the first up to the change and not above the threshold; behind the
 * cross-fade and a release that of the other. */
static void
test_look_ahead (void)
{
  static const double aheads[][2] = { { 0.002, 0.011 }, { 0.011, 0.002 },
    { 0, 0.001 }, { 0.003, 0 }, { 0.02, 0.02 } };
  const size_t n = 24000, at = 8000;
  double *x = test_alloc (n * sizeof *x), *y = test_alloc (n * sizeof *y);
  double *a = test_alloc (n * sizeof *a), *b = test_alloc (n * sizeof *b);
  TapMany many = tap_many ("another look-ahead while it runs");

  for (size_t i = 0; i < n; i++)
    x[i] = 3 * sin (0.05 * (double)i) * sin (0.0007 * (double)i);
  for (unsigned i = 0; i < sizeof aheads / sizeof *aheads; i++) {
    TfxLimiter l[2] = { make_limiter (0, aheads[i][0], 0.01),
      make_limiter (0, aheads[i][1], 0.01) };
    TfxChain *chains[2] = { chain_for (&l[0]), chain_for (&l[1]) };
    const size_t late[2] = { l[0].n_ahead, l[1].n_ahead };
    const size_t most = late[0] > late[1] ? late[0] : late[1];
    const size_t grown = most - late[0];
    TfxChain *kept = NULL, *step = NULL;
    TestFilter *filter = filter_for (&l[0], 1, NULL);
    double before = 0, after = 0, peak = 0;
    double *all[2] = { a, b };
    int ret = 0;

    for (unsigned k = 0; k < 2; k++) {
      TestFilter *plain = filter_for (&l[k], 1, NULL);

      memcpy (all[k], x, n * sizeof *x);
      test_filter_f64 (plain, all[k], 1, n);
      test_filter_free (&plain);
    }
    memcpy (y, x, n * sizeof *x);
    test_filter_f64 (filter, y, 1, at);
    tap_many_check (&many,
        tfx_chain_keep_latency (chains[1], chains[0], &kept, &step) == 0 &&
            tfx_chain_latency (kept) == most && !step == (grown == 0),
        "%zu to %zu: a step of %zu", late[0], late[1], grown);
    if (step) {
      tfx_filter_lock (filter->filter);
      ret = tfx_filter_set_chain_at_once (filter->filter, step);
      tfx_filter_unlock (filter->filter);
    }
    tap_many_check (&many, ret == 0, "%d", ret);
    test_filter_f64 (filter, y + at, 1, grown);
    /* (What comes next is as late as `kept`.) */
    memmove (y + grown, y, at * sizeof *y);
    test_filter_f64 (filter, y + at + grown, 1, 100);
    test_filter_set_chain (filter, kept);
    test_filter_f64 (filter, y + at + grown + 100, 1, n - at - grown - 100);
    for (size_t s = most; s < n; s++) {
      peak = fmax (peak, fabs (y[s]));
      if (s < at + grown + 100)
        before = fmax (before, fabs (y[s] - a[s - most + late[0]]));
      if (s > n - 4000)
        after = fmax (after, fabs (y[s] - b[s - most + late[1]]));
    }
    tap_many_check (&many, peak <= 1, "%zu to %zu: %g", late[0], late[1], peak);
    tap_many_check (&many, before < 1e-12 && after < 1e-9,
        "%zu to %zu: %g before, %g after", late[0], late[1], before, after);
    tfx_chain_unref (&step);
    tfx_chain_unref (&chains[0]);
    tfx_chain_unref (&chains[1]);
    test_filter_free (&filter);
  }
  free (x);
  free (y);
  free (a);
  free (b);
  tap_many_end (&many);
}

/* One that looks as far takes over with no hole in the sound, one that does not look
 * ahead cannot. */
static void
test_takes_over (void)
{
  const size_t n = 4000, at = 1000;
  const TfxLimiter soft = make_limiter (20, 0.01, 0.01);
  TestFilter *filter = filter_for (&soft, 1, NULL);
  TfxStage *stage = tfx_stage_new_limiter (2, &soft);
  TfxChain *other = tfx_chain_append (NULL, stage), *none = tfx_chain_new ();
  double *x = test_alloc (n * sizeof *x), *y = test_alloc (n * sizeof *y);
  double worst = 0;
  int ret;

  for (size_t i = 0; i < n; i++)
    x[i] = y[i] = sin (0.05 * (double)i);
  test_filter_f64 (filter, y, 1, at);
  tfx_filter_lock (filter->filter);
  ret = tfx_filter_set_chain (filter->filter, none);
  tfx_filter_unlock (filter->filter);
  tap_check (ret == -ENOTSUP, "it cannot go: %d", ret);
  test_filter_set_chain (filter, other);
  test_filter_f64 (filter, y + at, 1, n - at);
  for (size_t i = soft.n_ahead; i < n; i++)
    worst = fmax (worst, fabs (y[i] - x[i - soft.n_ahead]));
  tap_check (worst < 1e-12, "another one takes over: %g", worst);
  tfx_stage_unref (&stage);
  tfx_chain_unref (&none);
  test_filter_free (&filter);
  free (x);
  free (y);
}

static const TapTest tests[] = {
  { "definition", test_definition },
  { "splits", test_splits },
  { "never", test_never },
  { "latency", test_latency },
  { "falls", test_falls },
  { "format", test_format },
  { "late", test_late },
  { "look-ahead", test_look_ahead },
  { "takes over", test_takes_over },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
