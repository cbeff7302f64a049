/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_dynamics.c: gains that follow the level, against plain recursions; any
 * split of the stream; numbers that move.
 */
#include "lang/expr.h"

#include "common.h"
#include "jump.h"
#include "levels.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 12000

/* ---- filters --------------------------------------------------------------- */

static TfxChain *
chain_for (const TfxDynamics *d)
{
  return test_chain_of_one (tfx_stage_new_dynamics (1, d));
}

/* kernel: NULL for the best. */
static TestFilter *
filter_for (const TfxDynamics *d, unsigned n_channels, const char *kernel)
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = chain_for (d);
  TestFilter *filter = test_filter_for (chain, &spec,
      kernel ? tfx_cpu_backend_for (kernel) : tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  return filter;
}

/* ---- settings ---------------------------------------------------------------- */

typedef struct Setting
{
  const char *name;
  TfxDynamics d;
} Setting;

#define N_SETTINGS 10

static void
make_settings (Setting s[N_SETTINGS])
{
  s[0] = (Setting){ "compressor", levels_compressor (-20, 4, 0.005, 0.05, 6) };
  s[1] = (Setting){ "hard knee", levels_compressor (-30, 1e6, 0.001, 0.2, 0) };
  s[2] = (Setting){ "no times", levels_compressor (-10, 2, 0, 0, 12) };
  s[3] = (Setting){ "rms", levels_compressor (-24, 3, 0.01, 0.1, 6) };
  s[3].d.is_rms = true;
  s[4] = (Setting){ "makeup", levels_compressor (-40, 8, 0.002, 0.3, 3) };
  s[4].d.makeup_db = 17.5;
  s[5] =
      (Setting){ "expander", levels_expander (-40, 2, 0.005, 0.05, 6, -240) };
  s[6] =
      (Setting){ "gate", levels_expander (-50, 1e6 + 1, 0.001, 0.05, 3, -80) };
  s[7] = (Setting){ "floor", levels_expander (-20, 5, 0.003, 0.02, 0, -30) };
  s[8] = (Setting){ "linked", levels_compressor (-20, 4, 0.005, 0.05, 6) };
  s[8].d.is_linked = true;
  s[9] = (Setting){ "linked rms gate",
    levels_expander (-30, 10, 0.01, 0.2, 6, -60) };
  s[9].d.is_linked = s[9].d.is_rms = true;
}

static const unsigned channels[] = { 1, 2, 3, 4, 5, 8, 11, 17 };

#define N_CHANNELS (sizeof channels / sizeof *channels)

/* ---- against the recursion ------------------------------------------------------- */

/* The largest difference, as a part of each value wanted; values below the
 * smallest of all that matters count as that. */
static double
find_error (const double *have, const double *want, size_t n)
{
  double worst = 0;

  for (size_t i = 0; i < n; i++)
    worst =
        fmax (worst, fabs (have[i] - want[i]) / fmax (fabs (want[i]), 1e-15));
  return worst;
}

/* By all kernels. */
static void
check_recursion (TapMany *many, TapMany *gains, const Setting *s,
    unsigned n_channels)
{
  const size_t n = N_FRAMES * n_channels;
  double *x = test_alloc (n * sizeof *x), *want = test_alloc (n * sizeof *want);
  double *have = test_alloc (n * sizeof *have), lowest;
  TfxReadings now = { NAN };

  levels_signal (x, N_FRAMES, n_channels);
  memcpy (want, x, n * sizeof *want);
  levels_run (&s->d, want, N_FRAMES, n_channels, &lowest);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    TestFilter *filter;

    if (!tfx_cpu_backend_for (test_kernels[k]))
      continue;
    filter = filter_for (&s->d, n_channels, test_kernels[k]);
    memcpy (have, x, n * sizeof *have);
    test_filter_f64 (filter, have, n_channels, N_FRAMES);
    tfx_filter_read (filter->filter, 1, &now);
    tap_many_check (many, find_error (have, want, n) < 1e-7,
        "%s, %u channels, %s: %g", s->name, n_channels, test_kernels[k],
        find_error (have, want, n));
    tap_many_check (gains, fabs (now.gain_db - lowest) < 1e-6,
        "%s, %u channels, %s: %g of %g dB", s->name, n_channels,
        test_kernels[k], now.gain_db, lowest);
    test_filter_free (&filter);
  }
  free (x);
  free (want);
  free (have);
}

static void
test_recursion (void)
{
  Setting settings[N_SETTINGS];
  TapMany many = tap_many ("each sample is the recursion's to -140 dB");
  TapMany gains = tap_many ("the lowest gain is known");

  make_settings (settings);
  for (unsigned s = 0; s < N_SETTINGS; s++) {
    for (unsigned c = 0; c < N_CHANNELS; c++) {
      if (!part_is_wanted () || (s + c) % 4 == 0)
        check_recursion (&many, &gains, &settings[s], channels[c]);
    }
  }
  tap_many_end (&many);
  tap_many_end (&gains);
}

/* ---- splits --------------------------------------------------------------------- */

/* In blocks: at random lengths, or all in one.  At frame 5000 it goes to
 * another setting, unless that is NULL. */
static void
run_split (const TfxDynamics *d, const TfxDynamics *next, double *x,
    unsigned n_channels, const char *kernel, unsigned most)
{
  TestFilter *filter = filter_for (d, n_channels, kernel);

  for (size_t i = 0, n; i < N_FRAMES; i += n) {
    n = most > 0 ? 1 + tap_random_below (most) : N_FRAMES;
    if (i + n > N_FRAMES)
      n = N_FRAMES - i;
    if (next && i < 5000 && i + n > 5000)
      n = 5000 - i;
    if (next && i == 5000) {
      TfxChain *chain = chain_for (next);

      test_filter_set_chain (filter, chain);
    }
    test_filter_f64 (filter, x + i * n_channels, n_channels, n);
  }
  test_filter_free (&filter);
}

static void
check_split (TapMany *many, const Setting *s, const TfxDynamics *next,
    unsigned n_channels, const char *kernel)
{
  const size_t n = N_FRAMES * n_channels;
  double *want = test_alloc (n * sizeof *want);
  double *have = test_alloc (n * sizeof *have);
  double *x = test_alloc (n * sizeof *x);

  levels_signal (x, N_FRAMES, n_channels);
  memcpy (want, x, n * sizeof *x);
  run_split (&s->d, next, want, n_channels, kernel, 0);
  for (unsigned most = 7; most <= 2100; most = most * 17 + 1) {
    memcpy (have, x, n * sizeof *x);
    run_split (&s->d, next, have, n_channels, kernel, most);
    tap_many_check (many, memcmp (have, want, n * sizeof *x) == 0,
        "%s, %u channels, %s, blocks of up to %u: %g", s->name, n_channels,
        kernel, most, find_error (have, want, n));
  }
  free (want);
  free (have);
  free (x);
}

static void
test_splits (void)
{
  Setting settings[N_SETTINGS];
  TapMany many = tap_many ("any split gives the same bits");

  make_settings (settings);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    for (unsigned s = 0; s < N_SETTINGS; s++) {
      if (tfx_cpu_backend_for (test_kernels[k]))
        check_split (&many, &settings[s], NULL, channels[(s + k) % N_CHANNELS],
            test_kernels[k]);
    }
  }
  tap_many_end (&many);
}

static void
test_moved_splits (void)
{
  Setting s[N_SETTINGS];
  TfxDynamics attack, release;
  TapMany many = tap_many ("numbers that move: any split gives the same bits");

  make_settings (s);
  attack = release = s[0].d;
  attack.attack = s[4].d.attack;
  release.release = s[4].d.release;
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    if (!tfx_cpu_backend_for (test_kernels[k]))
      continue;
    for (unsigned c = 0; c < 4; c++) {
      check_split (&many, &s[0], &s[4].d, channels[c], test_kernels[k]);
      check_split (&many, &s[5], &s[7].d, channels[c], test_kernels[k]);
      check_split (&many, &s[0], &attack, channels[c], test_kernels[k]);
      check_split (&many, &s[0], &release, channels[c], test_kernels[k]);
      /* Another detector. */
      check_split (&many, &s[3], &s[0].d, channels[c], test_kernels[k]);
    }
  }
  tap_many_end (&many);
}

/* ---- types and shapes -------------------------------------------------------------- */

/* Floats, and planes. */
static void
test_shapes (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.005, 0.05, 6);
  TapMany many = tap_many ("floats and planes are as doubles side by side");

  for (unsigned c = 0; c < N_CHANNELS; c++) {
    const unsigned n_channels = channels[c];
    const size_t n = N_FRAMES * n_channels;
    double *want = test_alloc (n * sizeof *want), worst = 0;
    float *flat = test_alloc (n * sizeof *flat);
    float *planes = test_alloc (n * sizeof *planes);
    TestFilter *filter = filter_for (&d, n_channels, NULL);
    TfxBlock block = tfx_block_planar (planes, TFX_SAMPLE_F32, n_channels,
        N_FRAMES, N_FRAMES);

    levels_signal (want, N_FRAMES, n_channels);
    for (size_t i = 0; i < n; i++) {
      flat[i] = (float)want[i];
      want[i] = flat[i];
      planes[i % n_channels * N_FRAMES + i / n_channels] = flat[i];
    }
    levels_run (&d, want, N_FRAMES, n_channels, NULL);
    test_filter_f32 (filter, flat, n_channels, N_FRAMES);
    test_filter_reset (filter);
    test_filter_run (filter, &block, &block);
    for (size_t i = 0; i < n; i++) {
      worst =
          fmax (worst, fabs (flat[i] - want[i]) / fmax (fabs (want[i]), 1e-30));
      if (planes[i % n_channels * N_FRAMES + i / n_channels] != flat[i])
        worst = INFINITY;
    }
    tap_many_check (&many, worst < 1e-7, "%u channels: %g", n_channels, worst);
    test_filter_free (&filter);
    free (want);
    free (flat);
    free (planes);
  }
  tap_many_end (&many);
}

/* In blocks of up to 40 frames of both layouts, with a sample that is not finite. */
static void
check_floats (TapMany *many, const TfxDynamics *d, unsigned n_channels,
    const char *kernel)
{
  const size_t n_frames = 1000, n = n_frames * n_channels;
  double *x = test_alloc (n * sizeof *x);
  float *flat = test_alloc (n * sizeof *flat);
  float *planes = test_alloc (n * sizeof *planes);
  TestFilter *a = filter_for (d, n_channels, kernel);
  TestFilter *b = filter_for (d, n_channels, kernel);
  size_t n_other = 0;
  TfxStats stats;

  levels_signal (x, n_frames, n_channels);
  x[n / 2 + tap_random_below (n_channels)] = NAN;
  for (size_t i = 0; i < n; i++) {
    flat[i] = (float)x[i];
    planes[i % n_channels * n_frames + i / n_channels] = flat[i];
  }
  for (size_t i = 0, k; i < n_frames; i += k) {
    TfxBlock block = tfx_block_planar (planes + i, TFX_SAMPLE_F32, n_channels,
        n_frames, n_frames);

    k = 1 + tap_random_below (40);
    k = k < n_frames - i ? k : n_frames - i;
    block.n_frames = k;
    test_filter_run (a, &block, &block);
    test_filter_f32 (b, flat + i * n_channels, n_channels, k);
  }
  for (size_t i = 0; i < n; i++)
    n_other += planes[i % n_channels * n_frames + i / n_channels] != flat[i];
  test_filter_get_stats (b, &stats);
  tap_many_check (many, n_other == 0 && stats.recoveries == 1,
      "%u channels, %s: %zu others, %u recoveries", n_channels, kernel, n_other,
      (unsigned)stats.recoveries);
  test_filter_free (&a);
  test_filter_free (&b);
  free (x);
  free (flat);
  free (planes);
}

static void
test_floats (void)
{
  Setting s[N_SETTINGS];
  TapMany many = tap_many ("floats side by side are as planes, to the bit");

  make_settings (s);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    for (unsigned n_channels = 2; n_channels <= 16; n_channels *= 2) {
      if (!tfx_cpu_backend_for (test_kernels[k]))
        continue;
      check_floats (&many, &s[0].d, n_channels, test_kernels[k]);
      check_floats (&many, &s[3].d, n_channels, test_kernels[k]);
      check_floats (&many, &s[6].d, n_channels, test_kernels[k]);
    }
  }
  tap_many_end (&many);
}

/* ---- the language -------------------------------------------------------------------- */

static const struct
{
  const char *text;
  /* threshold, ratio (0: infinite), attack, release, knee, floor, makeup */
  double v[7];
  bool is_downward, is_rms, is_linked;
} texts[] = {
  { "Compressor()", { -20, 4, 0.005, 0.05, 6, -1000, 0 } },
  { "Compressor(-30, 2.5, 0.02, 0.3, 12, 5, 'rms')",
      { -30, 2.5, 0.02, 0.3, 12, -1000, 5 }, false, true },
  { "Compressor(-18, inf)", { -18, INFINITY, 0.005, 0.05, 6, -1000, 0 } },
  { "Compressor(-18, ratio=float('inf'), knee=0)",
      { -18, INFINITY, 0.005, 0.05, 0, -1000, 0 } },
  { "Expander(ratio=math.inf)", { -40, 0, 0.005, 0.05, 6, -240, 0 }, true },
  { "Compressor(attack=0, release=0, knee=0, link=True)",
      { -20, 4, 0, 0, 0, -1000, 0 }, false, false, true },
  { "Expander()", { -40, 2, 0.005, 0.05, 6, -240, 0 }, true },
  { "Expander(-35, 3, 0.001, 0.1, 4, -20, 'rms')",
      { -35, 3, 0.001, 0.1, 4, -20, 0 }, true, true },
  { "Expander(floor=None)", { -40, 2, 0.005, 0.05, 6, -240, 0 }, true },
  { "Gate()", { -50, 0, 0.001, 0.05, 3, -80, 0 }, true },
  { "fx.effect.Gate(-20, 0.01, 0.2, None, 0)",
      { -20, 0, 0.01, 0.2, 0, -240, 0 }, true },
};

static TfxDynamics
asked_dynamics (unsigned i)
{
  const double *v = texts[i].v;
  TfxDynamics d = texts[i].is_downward
                      ? levels_expander (v[0], v[1] > 0 ? v[1] : 1e6 + 1, v[2],
                            v[3], v[4], v[5])
                      : levels_compressor (v[0], v[1], v[2], v[3], v[4]);

  d.makeup_db = v[6];
  d.is_rms = texts[i].is_rms;
  d.is_linked = texts[i].is_linked;
  return d;
}

static void
test_language (void)
{
  TapMany many = tap_many ("a text does what TorchFX's formulas say");
  double *have = test_alloc (2 * N_FRAMES * sizeof *have);
  double *want = test_alloc (2 * N_FRAMES * sizeof *want);

  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F64, 0 };
    const TfxDynamics d = asked_dynamics (i);
    TfxExpr *expr =
        tfx_expr_parse (texts[i].text, strlen (texts[i].text), NULL);
    TestFilter *filter = NULL;
    TfxChain *chain = NULL;

    if (expr && tfx_expr_build (expr, RATE, 2, NULL, NULL, &chain, NULL) == 0)
      filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
    levels_signal (have, N_FRAMES, 2);
    memcpy (want, have, 2 * N_FRAMES * sizeof *want);
    levels_run (&d, want, N_FRAMES, 2, NULL);
    tap_many_check (&many,
        filter && test_filter_f64 (filter, have, 2, N_FRAMES) == 0 &&
            find_error (have, want, 2 * N_FRAMES) < 1e-7,
        "%s: %g", texts[i].text, find_error (have, want, 2 * N_FRAMES));
    test_filter_free (&filter);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
  free (have);
  free (want);
  tap_many_end (&many);
}

/* ---- values that move -------------------------------------------------------------- */

/* A sine is at one level, so its gain is, and that alone changes. */
static void
check_jump (TapMany *many, const TfxDynamics *a, const TfxDynamics *b,
    unsigned n_channels, const char *what)
{
  const TestJump j =
      test_jump_between (chain_for (a), chain_for (b), n_channels, 480);

  tap_many_check (many, j.high_db <= -80 && j.bend <= 1.5 && j.peak_db <= 1,
      "%s, %u channels: %.1f dB, %.2f, peak %.2f dB", what, n_channels,
      j.high_db, j.bend, j.peak_db);
}

static void
test_jumps (void)
{
  const TfxDynamics at_rest = levels_compressor (-20, 1, 0.02, 0.2, 6);
  const TfxDynamics soft = levels_compressor (-20, 2, 0.02, 0.2, 6);
  TapMany many = tap_many ("numbers that jump make no click");

  for (unsigned n_channels = 1; n_channels <= 3; n_channels++) {
    TfxDynamics other = soft;

    other.threshold_db = -40;
    check_jump (&many, &soft, &other, n_channels, "threshold");
    check_jump (&many, &other, &soft, n_channels, "threshold back");
    other = soft;
    other.slope = -1;
    check_jump (&many, &soft, &other, n_channels, "ratio");
    other = soft;
    other.knee_db = 40;
    check_jump (&many, &soft, &other, n_channels, "knee");
    other = soft;
    other.makeup_db = 20;
    check_jump (&many, &soft, &other, n_channels, "makeup");
    other = soft;
    other.release = 0.9999;
    check_jump (&many, &soft, &other, n_channels, "release");
    other = soft;
    other.is_rms = true;
    check_jump (&many, &soft, &other, n_channels, "detector");
    other = soft;
    other.is_linked = true;
    check_jump (&many, &soft, &other, n_channels, "link");
    check_jump (&many, &at_rest, &soft, n_channels, "from nothing");
  }
  tap_many_end (&many);
}

/* Queued for a frame, the numbers are there at just that frame. */
static void
test_exact (void)
{
  const TfxDynamics from = levels_compressor (-20, 4, 0, 0, 0);
  TfxDynamics to = from;
  double x[640], level = 0.5;
  TestFilter *filter = filter_for (&from, 1, NULL);
  TfxStage *stage;
  bool is_linear = true;

  to.makeup_db = 12;
  stage = tfx_stage_new_dynamics (1, &to);
  for (unsigned i = 0; i < 640; i++)
    x[i] = level;
  tfx_filter_lock (filter->filter);
  tap_check (tfx_filter_queue_stage (filter->filter, 320, stage) == 0,
      "numbers are queued");
  tfx_filter_unlock (filter->filter);
  test_filter_f64 (filter, x, 1, 640);
  for (unsigned i = 0; i < 640; i++) {
    const double part = fmin (fmax (((double)i - 287) / 32, 0), 1);
    const double want = x[0] * (1 + part * (pow (10, 12.0 / 20) - 1));

    is_linear = is_linear && fabs (x[i] - want) < 1e-8;
  }
  tap_check (is_linear, "the gain goes in a line from frame 288 to frame 320");
  tfx_stage_unref (&stage);
  test_filter_free (&filter);
}

/* ---- state ---------------------------------------------------------------------- */

static void
test_rest (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.005, 0.05, 6);
  double *x = test_alloc (2 * N_FRAMES * sizeof *x);
  double *want = test_alloc (2 * N_FRAMES * sizeof *want);
  TestFilter *filter = filter_for (&d, 2, NULL);

  levels_signal (want, N_FRAMES, 2);
  memcpy (x, want, 2 * N_FRAMES * sizeof *x);
  test_filter_f64 (filter, want, 2, N_FRAMES);
  tap_check (!test_filter_is_silent (filter), "levels are state");
  test_filter_reset (filter);
  tap_check (test_filter_is_silent (filter), "a reset takes it to rest");
  /* Half of a group of frames in the state of another stream. */
  test_filter_f64 (filter, x, 2, 1);
  test_filter_reset (filter);
  levels_signal (x, N_FRAMES, 2);
  tap_check (test_filter_f64 (filter, x, 2, N_FRAMES) == 0, "it runs again");
  free (x);
  free (want);
  test_filter_free (&filter);
}

/* The lowest gain is told of once; what follows is another matter. */
static void
test_readings (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.001, 0.01, 0);
  TestFilter *filter = filter_for (&d, 1, NULL);
  TfxReadings readings[2];
  double x[4000] = { 0 };

  for (unsigned i = 0; i < 1000; i++)
    x[i] = 1.0;
  test_filter_f64 (filter, x, 1, 3000);
  for (unsigned i = 0; i < 2; i++) {
    test_filter_f64 (filter, x + 3000, 1, i * 500);
    tfx_filter_lock (filter->filter);
    tfx_filter_read (filter->filter, 1, &readings[i]);
    tfx_filter_unlock (filter->filter);
  }
  tap_check (readings[0].gain_db < -14 && readings[1].gain_db > -0.01,
      "gains are read: %g and %g dB", readings[0].gain_db, readings[1].gain_db);
  test_filter_free (&filter);
}

/* From peaks to mean squares: each channel's level goes on as its own. */
static void
test_detector (void)
{
  TfxDynamics d = levels_compressor (-40, 4, 0.02, 0.2, 0);
  TestFilter *filter = filter_for (&d, 2, NULL);
  double x[2 * 2000], before[2], step[2] = { 0, 0 };

  /* Squares: their peak is their mean. */
  for (unsigned i = 0; i < 2000; i++) {
    x[2 * i] = i % 2 ? 0.05 : -0.05;
    x[2 * i + 1] = i % 2 ? 0.8 : -0.8;
  }
  for (unsigned i = 0; i < 20; i++) {
    double y[2 * 2000];

    memcpy (y, x, sizeof x);
    test_filter_f64 (filter, y, 2, 2000);
    before[0] = fabs (y[2 * 1999]);
    before[1] = fabs (y[2 * 1999 + 1]);
  }
  d.is_rms = true;
  test_filter_set_chain (filter, chain_for (&d));
  test_filter_f64 (filter, x, 2, 2000);
  for (unsigned i = 0; i < 2000; i++) {
    for (unsigned c = 0; c < 2; c++)
      step[c] = fmax (step[c], fabs (fabs (x[2 * i + c]) / before[c] - 1));
  }
  tap_check (step[0] < 0.01 && step[1] < 0.01,
      "another detector goes on with the levels: off by %g and %g", step[0],
      step[1]);
  test_filter_free (&filter);
}

static void
test_not_finite (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.005, 0.05, 6);
  static const double bad[] = { NAN, INFINITY, -INFINITY };
  TapMany many = tap_many ("what is not finite passes");

  for (unsigned n_channels = 1; n_channels <= 9; n_channels += 4) {
    for (unsigned i = 0; i < 3; i++) {
      double x[900] = { 0 };
      TestFilter *filter = filter_for (&d, n_channels, NULL);
      bool is_sound = true;
      TfxStats stats;

      for (unsigned k = 0; k < 900; k++)
        x[k] = 0.5;
      x[20] = bad[i];
      test_filter_f64 (filter, x, n_channels, 900 / n_channels);
      for (unsigned k = 0; k < 900; k++)
        is_sound = is_sound && isfinite (x[k]);
      test_filter_get_stats (filter, &stats);
      tap_many_check (&many,
          is_sound && stats.recoveries == 1 &&
              fabs (x[898] - x[880]) < 0.1 * x[898],
          "%u channels, %g", n_channels, bad[i]);
      test_filter_free (&filter);
    }
  }
  tap_many_end (&many);
}

/* The last sample of a second that is 0.5 but for one of its samples. */
static double
hear_damage (const TfxDynamics *d, unsigned n_channels, const char *kernel,
    double damage)
{
  const size_t n = 48000 * n_channels;
  TestFilter *filter = filter_for (d, n_channels, kernel);
  double *x = test_alloc (n * sizeof *x), last;

  for (size_t i = 0; i < n; i++)
    x[i] = 0.5;
  x[20] = damage;
  test_filter_f64 (filter, x, n_channels, 48000);
  last = x[n - 1 - (n - 21) % n_channels];
  test_filter_free (&filter);
  free (x);
  return last;
}

static void
test_huge (void)
{
  static const double damage[] = { DBL_MAX, -1e160 };
  TfxDynamics d = levels_compressor (-20, 4, 0.001, 0.001, 6);
  TapMany many = tap_many ("a sample near the largest number is forgotten");

  for (unsigned i = 0; i < 12; i++) {
    const unsigned n_channels = i % 3 == 2 ? 9 : i % 3 + 1;

    d.is_rms = i < 6;
    for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
      double have, want;

      if (!tfx_cpu_backend_for (test_kernels[k]))
        continue;
      want = hear_damage (&d, n_channels, test_kernels[k], 0.5);
      have = hear_damage (&d, n_channels, test_kernels[k], damage[i % 2]);
      tap_many_check (&many, fabs (have - want) < 1e-9 && want > 0.1,
          "%u channels, %s, %g: %g, not %g", n_channels, test_kernels[k],
          damage[i % 2], have, want);
    }
  }
  tap_many_end (&many);
}

static void
test_refusals (void)
{
  TapMany many = tap_many ("numbers out of range make no stage");
  const TfxDynamics good = levels_compressor (-20, 4, 0.005, 0.05, 6);

  for (unsigned i = 0; i < 9; i++) {
    TfxDynamics d = good;
    TfxStage *stage;

    switch (i) {
      case 0:
        d.threshold_db = NAN;
        break;
      case 1:
        d.slope = 0.1;
        break;
      case 2:
        d.knee_db = -1;
        break;
      case 3:
        d.floor_db = 1;
        break;
      case 4:
        d.makeup_db = INFINITY;
        break;
      case 5:
        d.attack = 1;
        break;
      case 6:
        d.release = -0.1;
        break;
      case 7:
        d.release = NAN;
        break;
      default:
        d.floor_db = -INFINITY;
    }
    stage = tfx_stage_new_dynamics (1, &d);
    tap_many_check (&many, stage == NULL, "case %u", i);
    tfx_stage_unref (&stage);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "recursion", test_recursion },
  { "splits", test_splits },
  { "moved-splits", test_moved_splits },
  { "shapes", test_shapes },
  { "floats", test_floats },
  { "language", test_language },
  { "jumps", test_jumps },
  { "exact", test_exact },
  { "rest", test_rest },
  { "readings", test_readings },
  { "detector", test_detector },
  { "not-finite", test_not_finite },
  { "huge", test_huge },
  { "refusals", test_refusals },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
