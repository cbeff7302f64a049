/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_limiter.c: a limiter against its definition, any split of the stream, and limits
 * that the output never exceeds.
 */
#include "common.h"
#include "levels.h"

#include <errno.h>
#include <math.h>
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
  return test_filter_start_chain (chain_for (l), n_channels, kernel);
}

static TfxLimiter
make_limiter (double threshold_db, double ahead, double release)
{
  return (TfxLimiter){ .threshold_db = threshold_db,
    .n_ahead = (size_t)(ahead * RATE + 0.5),
    .attack = ahead > 0 ? exp (-1 / (ahead * RATE)) : 0,
    .release = release > 0 ? exp (-1 / (release * RATE)) : 0 };
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

static const char *const names[N_SETTINGS] = { "soft", "loud", "no look-ahead",
  "one frame", "fast release", "long", "linked" };
static const unsigned channels[] = { 1, 2, 3, 5, 8, 11 };

static double
run_plain (const void *limiter, double *x, size_t n_frames, unsigned n_channels)
{
  levels_limit (limiter, x, n_frames, n_channels);
  return 0;
}

static void
test_definition (void)
{
  TapMany many = tap_many ("each sample is as defined, to -140 dB");

  for (unsigned i = 0; i < N_SETTINGS * 6; i++) {
    const TfxLimiter l = make_setting (i % N_SETTINGS);

    levels_check_run (&many, names[i % N_SETTINGS], chain_for (&l), run_plain,
        &l, N_FRAMES, channels[i / N_SETTINGS], 1e-7, false);
  }
  tap_many_end (&many);
}

/* At frame 1500 it gets another threshold. */
static void
test_splits (void)
{
  TapMany many = tap_many ("any split gives the same bits");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned i = 0; i < N_SETTINGS; i++) {
      const TfxLimiter l = make_setting (i);
      TfxLimiter next = l;

      next.threshold_db -= 7;
      next.release = 0.99;
      levels_check_split (&many, names[i], chain_for (&l), chain_for (&next),
          1500, N_FRAMES, channels[(i + k) % 6], kernel);
    }
  }
  tap_many_end (&many);
}

/* Ten million samples, of any size. */
static void
test_never (void)
{
  const unsigned n_runs = part_is_wanted () ? 50 : 500;
  TapMany many = tap_many ("not one of ten million samples is above");
  TestFilter *filter = NULL;
  TfxLimiter l = { 0 };

  for (unsigned run = 0; run < n_runs; run++) {
    if (run % 20 == 0) {
      l = make_limiter (tap_random_uniform (-40, 6),
          tap_random_uniform (0, 0.01), tap_random_uniform (0, 0.1));
      test_filter_free (&filter);
      filter = filter_for (&l, 2, NULL);
    }
    levels_check_limit (&many, filter, run, l.threshold_db);
  }
  test_filter_free (&filter);
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
      "the latency of a chain is the look-ahead of its limiters");
  test_filter_f64 (filter, x, 1, 300);
  tap_check (x[240] == 0.25 && x[0] == 0, "a soft sample passes, delayed");
  test_filter_reset (filter);
  tap_check (test_filter_is_silent (filter), "a reset leaves it silent");
  tfx_chain_unref (&chain);
  tfx_chain_unref (&twice);
  tfx_stage_unref (&second);
  test_filter_free (&filter);
}

/* A threshold that falls is reached; each reading is of the frames since the last one. */
static void
test_falls (void)
{
  TfxLimiter l = make_limiter (0, 0.03, 0.01);
  TestFilter *filter = filter_for (&l, 1, NULL);
  static double x[40000];
  double peak = 0, gains_db[2];

  for (unsigned i = 0; i < 40000; i++)
    x[i] = i % 2 ? 0.9 : -0.9;
  test_filter_f64 (filter, x, 1, 4800);
  l.threshold_db = -40;
  tap_check (test_filter_set_stage (filter, tfx_stage_new_limiter (1, &l)) == 0,
      "it is set");
  test_filter_f64 (filter, x + 4800, 1, 40000 - 4800);
  for (unsigned i = 30000; i < 40000; i++)
    peak = fmax (peak, fabs (x[i]));
  tap_check (fabs (peak - 0.01) < 1e-6, "the threshold falls to %g", peak);
  memset (x, 0, sizeof x);
  test_filter_f64 (filter, x, 1, 20000);
  for (unsigned i = 0; i < 2; i++) {
    test_filter_f64 (filter, x + 20000, 1, i * 100);
    gains_db[i] = test_filter_read (filter, 1).gain_db;
  }
  tap_check (test_filter_is_silent (filter), "it is silent in the end");
  x[0] = 0.9;
  memset (x + 1, 0, 5000 * sizeof *x);
  test_filter_f64 (filter, x, 1, 1700);
  tap_check (!test_filter_is_silent (filter),
      "but not while its gain still rises");
  tap_check (gains_db[0] < -39 && gains_db[1] > -0.01,
      "gains are read: %g and %g dB", gains_db[0], gains_db[1]);
  test_filter_free (&filter);
}

/* Another block length keeps the state, to the bit. */
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
    if (k == 1)
      tap_check (test_filter_set_format (filter, TFX_SAMPLE_F64, 480) == 0,
          "blocks get another length");
    test_filter_f64 (filter, x[k] + 1000, 2, 500);
    test_filter_free (&filter);
  }
  tap_check (memcmp (x[0], x[1], sizeof x[0]) == 0, "the state is kept");
}

static void
test_late (void)
{
  const size_t late = 333;
  TapMany many = tap_many ("n_late delays the output and changes nothing else");

  for (unsigned i = 0; i < N_SETTINGS * TEST_N_KERNELS; i++) {
    const char *kernel = test_kernels[i % TEST_N_KERNELS];
    TfxLimiter l = make_setting (i % N_SETTINGS);
    double x[2][2 * N_FRAMES];
    const double zero[2 * 333] = { 0 };

    if (!tfx_cpu_backend_for (kernel))
      continue;
    levels_signal (x[0], N_FRAMES, 2);
    memcpy (x[1], x[0], sizeof x[1]);
    for (unsigned k = 0; k < 2; k++) {
      TestFilter *filter;

      l.n_late = k * late;
      filter = filter_for (&l, 2, kernel);
      test_filter_f64 (filter, x[k], 2, 1000);
      test_filter_f64 (filter, x[k] + 2000, 2, N_FRAMES - 1000);
      test_filter_free (&filter);
    }
    tap_many_check (&many,
        test_difference (x[1], zero, 2 * late) < 1e-12 &&
            test_difference (x[1] + 2 * late, x[0], 2 * (N_FRAMES - late)) <
                1e-12,
        "setting %u, %s", i % N_SETTINGS, kernel);
  }
  tap_many_end (&many);
}

/* From one look-ahead to another while it runs, by tfx_chain_keep_latency().  Up to the
 * change the output is that of the first, without the frames of added latency, and never
 * above the threshold.  After the cross-fade and a release it is that of the second. */
static void
test_look_ahead (void)
{
  static const double aheads[][2] = { { 0.002, 0.011 }, { 0.011, 0.002 },
    { 0, 0.001 }, { 0.003, 0 }, { 0.02, 0.02 } };
  const size_t n = 24000, at = 8000;
  double *x = test_alloc_f64 (n);
  TapMany many = tap_many ("another look-ahead while it runs");

  for (size_t i = 0; i < n; i++)
    x[i] = 3 * sin (0.05 * (double)i) * sin (0.0007 * (double)i);
  for (unsigned i = 0; i < sizeof aheads / sizeof *aheads; i++) {
    const TfxLimiter l[2] = { make_limiter (0, aheads[i][0], 0.01),
      make_limiter (0, aheads[i][1], 0.01) };
    TfxChain *chains[2] = { chain_for (&l[0]), chain_for (&l[1]) };
    const size_t late[2] = { l[0].n_ahead, l[1].n_ahead };
    const size_t most = late[0] > late[1] ? late[0] : late[1];
    const size_t grown = most - late[0], change = at + grown + 100;
    TfxChain *kept = NULL, *step = NULL;
    TestFilter *filter = filter_for (&l[0], 1, NULL);
    double before, after, peak = 0, *y = test_copy_f64 (x, n), *all[2];
    int ret = 0;

    for (unsigned k = 0; k < 2; k++) {
      TestFilter *plain = filter_for (&l[k], 1, NULL);

      all[k] = test_copy_f64 (x, n);
      test_filter_f64 (plain, all[k], 1, n);
      test_filter_free (&plain);
    }
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
    /* From here on the latency is that of `kept`. */
    memmove (y + grown, y, at * sizeof *y);
    test_filter_f64 (filter, y + at + grown, 1, 100);
    test_filter_set_chain (filter, kept);
    test_filter_f64 (filter, y + change, 1, n - change);
    for (size_t s = most; s < n; s++)
      peak = fmax (peak, fabs (y[s]));
    before = test_difference (y + most, all[0] + late[0], change - most);
    after = test_difference (y + n - 4000, all[1] + n - 4000 - most + late[1],
        4000);
    tap_many_check (&many, peak <= 1 && before < 1e-12 && after < 1e-9,
        "%zu to %zu: peak %g, %g before, %g after", late[0], late[1], peak,
        before, after);
    tfx_chain_unref (&step);
    tfx_chain_unref (&chains[0]);
    tfx_chain_unref (&chains[1]);
    test_filter_free (&filter);
    free (y);
    free (all[0]);
    free (all[1]);
  }
  free (x);
  tap_many_end (&many);
}

/* A limiter with the same look-ahead can replace it, without a gap; an empty chain cannot. */
static void
test_takes_over (void)
{
  enum
  {
    N = 4000,
    AT = 1000
  };
  const TfxLimiter soft = make_limiter (20, 0.01, 0.01);
  TestFilter *filter = filter_for (&soft, 1, NULL);
  double x[N], y[N], worst;
  int ret;

  for (size_t i = 0; i < N; i++)
    x[i] = y[i] = sin (0.05 * (double)i);
  test_filter_f64 (filter, y, 1, AT);
  ret = test_filter_set_chain (filter, tfx_chain_new ());
  tap_check (ret == -ENOTSUP, "it cannot go: %d", ret);
  test_filter_set_chain (filter,
      test_chain_of_one (tfx_stage_new_limiter (2, &soft)));
  test_filter_f64 (filter, y + AT, 1, N - AT);
  worst = test_difference (y + soft.n_ahead, x, N - soft.n_ahead);
  tap_check (worst < 1e-12, "another one takes over: %g", worst);
  test_filter_free (&filter);
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
