/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_dynamics.c: compressors, expanders and gates against plain recursions; any split
 * of the stream; parameters that change.
 */
#include "buffer.h"
#include "common.h"
#include "jump.h"
#include "levels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 12000

/* ---- settings ---------------------------------------------------------------- */

typedef struct Setting
{
  const char *text; /* or a name */
  /* threshold, ratio (0: infinite), attack, release, knee, floor, makeup */
  double v[7];
  bool is_downward, is_rms, is_linked;
} Setting;

static const Setting settings[] = {
  { "compressor", { -20, 4, 0.005, 0.05, 6 } },
  { "hard knee", { -30, 1e6, 0.001, 0.2, 0 } },
  { "no times", { -10, 2, 0, 0, 12 } },
  { "rms", { -24, 3, 0.01, 0.1, 6 }, false, true },
  { "makeup", { -40, 8, 0.002, 0.3, 3, 0, 17.5 } },
  { "expander", { -40, 2, 0.005, 0.05, 6, -240 }, true },
  { "gate", { -50, 0, 0.001, 0.05, 3, -80 }, true },
  { "floor", { -20, 5, 0.003, 0.02, 0, -30 }, true },
  { "linked", { -20, 4, 0.005, 0.05, 6 }, false, false, true },
  { "linked rms gate", { -30, 10, 0.01, 0.2, 6, -60 }, true, true, true },
};
#define N_SETTINGS (sizeof settings / sizeof *settings)

static const unsigned channels[] = { 1, 2, 3, 4, 5, 8, 11, 17 };
#define N_CHANNELS (sizeof channels / sizeof *channels)

static TfxDynamics
dynamics_of (const Setting *s)
{
  const double *v = s->v;
  TfxDynamics d = s->is_downward
                      ? levels_expander (v[0], v[1] > 0 ? v[1] : 1e6 + 1, v[2],
                            v[3], v[4], v[5])
                      : levels_compressor (v[0], v[1], v[2], v[3], v[4]);

  d.makeup_db = v[6];
  d.is_rms = s->is_rms;
  d.is_linked = s->is_linked;
  return d;
}

static TfxChain *
chain_for (const TfxDynamics *d)
{
  return test_chain_of_one (tfx_stage_new_dynamics (1, d));
}

/* kernel: NULL for the best. */
static TestFilter *
filter_for (const TfxDynamics *d, unsigned n_channels, const char *kernel)
{
  return test_filter_start_chain (chain_for (d), n_channels, kernel);
}

/* ---- against the recursion ------------------------------------------------------- */

static double
run_plain (const void *dynamics, double *x, size_t n_frames,
    unsigned n_channels)
{
  return levels_run (dynamics, x, n_frames, n_channels);
}

static void
test_recursion (void)
{
  TapMany many = tap_many (
      "each sample is the recursion's to -140 dB, and the lowest gain is read");

  for (unsigned i = 0; i < N_SETTINGS * N_CHANNELS; i++) {
    const Setting *s = &settings[i % N_SETTINGS];
    const TfxDynamics d = dynamics_of (s);

    if (part_has (i % N_SETTINGS + i / N_SETTINGS, 4))
      levels_check_run (&many, s->text, chain_for (&d), run_plain, &d, N_FRAMES,
          channels[i / N_SETTINGS], 1e-7, true);
  }
  tap_many_end (&many);
}

/* ---- splits --------------------------------------------------------------------- */

static void
check_split (TapMany *many, const Setting *s, const TfxDynamics *next,
    unsigned n_channels, const char *kernel)
{
  const TfxDynamics d = dynamics_of (s);

  levels_check_split (many, s->text, chain_for (&d),
      next ? chain_for (next) : NULL, 5000, N_FRAMES, n_channels, kernel);
}

/* Of each setting; and from one to another, also in its attack, its release and its
 * detector alone. */
static void
test_splits (void)
{
  TapMany many = tap_many ("any split gives the same bits");
  TapMany moved = tap_many ("and while parameters change");
  const TfxDynamics makeup = dynamics_of (&settings[4]);
  const TfxDynamics peak = dynamics_of (&settings[0]);
  const TfxDynamics floor = dynamics_of (&settings[7]);
  TfxDynamics attack = peak, release = peak;
  const char *kernel;

  attack.attack = makeup.attack;
  release.release = makeup.release;
  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned s = 0; s < N_SETTINGS; s++)
      check_split (&many, &settings[s], NULL, channels[(s + k) % N_CHANNELS],
          kernel);
    for (unsigned c = 0; c < 4; c++) {
      check_split (&moved, &settings[0], &makeup, channels[c], kernel);
      check_split (&moved, &settings[5], &floor, channels[c], kernel);
      check_split (&moved, &settings[0], &attack, channels[c], kernel);
      check_split (&moved, &settings[0], &release, channels[c], kernel);
      check_split (&moved, &settings[3], &peak, channels[c], kernel);
    }
  }
  tap_many_end (&many);
  tap_many_end (&moved);
}

/* ---- types and layouts -------------------------------------------------------------- */

/* Floats in blocks of up to 40 frames, in two layouts; a sample of one stream is NaN. */
static void
check_floats (TapMany *many, const TfxDynamics *d, unsigned n_channels,
    const char *kernel, bool is_bad)
{
  const size_t n_frames = 1000, n = n_frames * n_channels;
  double *x = test_alloc_f64 (n), *y[2] = { NULL }, error = 0;
  TfxStats stats;

  levels_signal (x, n_frames, n_channels);
  for (size_t i = 0; i < n; i++)
    x[i] = (float)x[i];
  if (is_bad)
    x[n / 2 + tap_random_below (n_channels)] = NAN;
  for (unsigned l = 0; l < 2; l++) {
    TestFilter *f = filter_for (d, n_channels, kernel);
    TestBuffer b =
        test_buffer_new (l ? TEST_LAYOUT_PLANAR : TEST_LAYOUT_INTERLEAVED,
            TFX_SAMPLE_F32, n_channels, n_frames, 0);

    y[l] = test_alloc_f64 (n);
    test_buffer_set (&b, x);
    for (size_t i = 0, m; i < n_frames; i += m) {
      TfxBlock block;

      m = 1 + tap_random_below (40);
      m = m < n_frames - i ? m : n_frames - i;
      block = test_block_part (&b.block, i, m);
      test_filter_run (f, &block, &block);
    }
    test_buffer_get (&b, y[l]);
    test_buffer_clear (&b);
    test_filter_get_stats (f, &stats);
    test_filter_free (&f);
  }
  if (!is_bad) {
    levels_run (d, x, n_frames, n_channels);
    error = test_relative (y[0], x, n, 1e-30);
  }
  tap_many_check (many,
      memcmp (y[0], y[1], n * sizeof *x) == 0 && error < 1e-7 &&
          stats.recoveries == is_bad,
      "%u channels, %s: off by %g, %u recoveries", n_channels, kernel, error,
      (unsigned)stats.recoveries);
  free (x);
  free (y[0]);
  free (y[1]);
}

static void
test_floats (void)
{
  TapMany many = tap_many ("floats: as the recursion, in planes the same bits");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned i = 0; i < 3 * N_CHANNELS; i++) {
      const TfxDynamics d = dynamics_of (&settings[3 * (i % 3)]);

      check_floats (&many, &d, channels[i / 3], kernel, false);
      check_floats (&many, &d, channels[i / 3], kernel, true);
    }
  }
  tap_many_end (&many);
}

/* ---- the language -------------------------------------------------------------------- */

static void
test_language (void)
{
  static const Setting texts[] = {
    { "Compressor()", { -20, 4, 0.005, 0.05, 6 } },
    { "Compressor(-30, 2.5, 0.02, 0.3, 12, 5, 'rms')",
        { -30, 2.5, 0.02, 0.3, 12, 0, 5 }, false, true },
    { "Compressor(-18, inf)", { -18, INFINITY, 0.005, 0.05, 6 } },
    { "Compressor(-18, ratio=float('inf'), knee=0)",
        { -18, INFINITY, 0.005, 0.05, 0 } },
    { "Expander(ratio=math.inf)", { -40, 0, 0.005, 0.05, 6, -240 }, true },
    { "Compressor(attack=0, release=0, knee=0, link=True)", { -20, 4, 0, 0, 0 },
        false, false, true },
    { "Expander()", { -40, 2, 0.005, 0.05, 6, -240 }, true },
    { "Expander(-35, 3, 0.001, 0.1, 4, -20, 'rms')",
        { -35, 3, 0.001, 0.1, 4, -20 }, true, true },
    { "Expander(floor=None)", { -40, 2, 0.005, 0.05, 6, -240 }, true },
    { "Gate()", { -50, 0, 0.001, 0.05, 3, -80 }, true },
    { "fx.effect.Gate(-20, 0.01, 0.2, None, 0)", { -20, 0, 0.01, 0.2, 0, -240 },
        true },
  };
  TapMany many = tap_many ("a text does what TorchFX's formulas say");

  for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
    const TfxDynamics d = dynamics_of (&texts[i]);

    levels_check_run (&many, texts[i].text, test_build (texts[i].text, 2),
        run_plain, &d, N_FRAMES, 2, 1e-7, false);
  }
  tap_many_end (&many);
}

/* ---- parameters that change ------------------------------------------------------ */

/* A sine has one level, so only its gain changes. */
static void
test_jumps (void)
{
  static const struct
  {
    const char *name;
    Setting from, to;
  } jumps[] = {
#define SOFT { "", { -20, 2, 0.02, 0.2, 6 } }
    { "threshold", SOFT, { "", { -40, 2, 0.02, 0.2, 6 } } },
    { "threshold back", { "", { -40, 2, 0.02, 0.2, 6 } }, SOFT },
    { "ratio", SOFT, { "", { -20, INFINITY, 0.02, 0.2, 6 } } },
    { "knee", SOFT, { "", { -20, 2, 0.02, 0.2, 40 } } },
    { "makeup", SOFT, { "", { -20, 2, 0.02, 0.2, 6, 0, 20 } } },
    { "release", SOFT, { "", { -20, 2, 0.02, 0.2083, 6 } } },
    { "detector", SOFT, { "", { -20, 2, 0.02, 0.2, 6 }, false, true } },
    { "link", SOFT, { "", { -20, 2, 0.02, 0.2, 6 }, false, false, true } },
    { "from nothing", { "", { -20, 1, 0.02, 0.2, 6 } }, SOFT },
  };
  TapMany many = tap_many ("parameters that jump make no click");

  for (unsigned i = 0; i < 3 * (sizeof jumps / sizeof *jumps); i++) {
    const TfxDynamics from = dynamics_of (&jumps[i / 3].from);
    const TfxDynamics to = dynamics_of (&jumps[i / 3].to);
    const TestJump j =
        test_jump_between (chain_for (&from), chain_for (&to), 1 + i % 3, 480);

    tap_many_check (&many, j.high_db <= -80 && j.bend <= 1.5 && j.peak_db <= 1,
        "%s, %u channels: %.1f dB, %.2f, peak %.2f dB", jumps[i / 3].name,
        1 + i % 3, j.high_db, j.bend, j.peak_db);
  }
  tap_many_end (&many);
}

/* A value queued for a frame is reached at that frame. */
static void
test_exact (void)
{
  const TfxDynamics from = levels_compressor (-20, 4, 0, 0, 0);
  TfxDynamics to = from;
  double x[640];
  TestFilter *filter = filter_for (&from, 1, NULL);
  bool is_linear = true;

  to.makeup_db = 12;
  for (unsigned i = 0; i < 640; i++)
    x[i] = 0.5;
  tap_check (test_filter_queue_stage (filter, 320,
                 tfx_stage_new_dynamics (1, &to)) == 0,
      "a value is queued");
  test_filter_f64 (filter, x, 1, 640);
  for (unsigned i = 0; i < 640; i++) {
    const double part = fmin (fmax (((double)i - 287) / 32, 0), 1);
    const double want = x[0] * (1 + part * (pow (10, 12.0 / 20) - 1));

    is_linear = is_linear && fabs (x[i] - want) < 1e-8;
  }
  tap_check (is_linear, "the gain is a line from frame 288 to frame 320");
  test_filter_free (&filter);
}

/* ---- state ---------------------------------------------------------------------- */

static void
test_rest (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.005, 0.05, 6);
  double *x = test_alloc_f64 (2 * N_FRAMES), *want;
  TestFilter *filter = filter_for (&d, 2, NULL);

  levels_signal (x, N_FRAMES, 2);
  want = test_copy_f64 (x, 2 * N_FRAMES);
  test_filter_f64 (filter, want, 2, N_FRAMES);
  tap_check (!test_filter_is_silent (filter), "levels are state");
  test_filter_reset (filter);
  tap_check (test_filter_is_silent (filter), "a reset clears them");
  /* Half of a group of frames. */
  test_filter_f64 (filter, (double[2]){ 1, 1 }, 2, 1);
  test_filter_reset (filter);
  test_filter_f64 (filter, x, 2, N_FRAMES);
  tap_check (memcmp (x, want, 2 * N_FRAMES * sizeof *x) == 0,
      "a stream after a reset has the same bits");
  free (x);
  free (want);
  test_filter_free (&filter);
}

/* Each reading is of the frames since the last one. */
static void
test_readings (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.001, 0.01, 0);
  TestFilter *filter = filter_for (&d, 1, NULL);
  double x[4000] = { 0 }, gains_db[2];

  for (unsigned i = 0; i < 1000; i++)
    x[i] = 1.0;
  test_filter_f64 (filter, x, 1, 3000);
  for (unsigned i = 0; i < 2; i++) {
    test_filter_f64 (filter, x + 3000, 1, i * 500);
    gains_db[i] = test_filter_read (filter, 1).gain_db;
  }
  tap_check (gains_db[0] < -14 && gains_db[1] > -0.01,
      "gains are read: %g and %g dB", gains_db[0], gains_db[1]);
  test_filter_free (&filter);
}

/* From peaks to mean squares: each channel keeps its level. */
static void
test_detector (void)
{
  TfxDynamics d = levels_compressor (-40, 4, 0.02, 0.2, 0);
  TestFilter *filter = filter_for (&d, 2, NULL);
  double x[2 * 2000], y[2 * 2000], step = 0;

  /* Square waves: their peak is their mean. */
  for (unsigned i = 0; i < 2 * 2000; i++)
    x[i] = (i / 2 % 2 ? 1 : -1) * (i % 2 ? 0.8 : 0.05);
  for (unsigned i = 0; i < 20; i++) {
    memcpy (y, x, sizeof x);
    test_filter_f64 (filter, y, 2, 2000);
  }
  d.is_rms = true;
  test_filter_set_chain (filter, chain_for (&d));
  test_filter_f64 (filter, x, 2, 2000);
  for (unsigned i = 0; i < 2 * 2000; i++)
    step = fmax (step, fabs (fabs (x[i] / y[2 * 1999 + i % 2]) - 1));
  tap_check (step < 0.01, "another detector keeps the levels: off by %g", step);
  test_filter_free (&filter);
}

static void
test_not_finite (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0.005, 0.05, 6);
  static const double bad[] = { NAN, INFINITY, -INFINITY };
  TapMany many = tap_many ("a filter recovers from NaN and infinity");

  for (unsigned i = 0; i < 9; i++) {
    const unsigned n_channels = 1 + i / 3 * 4;
    TestFilter *filter = filter_for (&d, n_channels, NULL);
    double x[900];
    TfxStats stats;

    for (unsigned k = 0; k < 900; k++)
      x[k] = k == 20 ? bad[i % 3] : 0.5;
    test_filter_f64 (filter, x, n_channels, 900 / n_channels);
    test_filter_get_stats (filter, &stats);
    tap_many_check (&many,
        test_is_finite (x, 900) && stats.recoveries == 1 &&
            fabs (x[898] - x[880]) < 0.1 * x[898],
        "%u channels, %g", n_channels, bad[i % 3]);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* The last sample of the damaged channel, after a quarter of a second. */
static double
run_damaged (const TfxDynamics *d, unsigned n_channels, const char *kernel,
    double damage)
{
  const size_t n = 12000 * n_channels;
  TestFilter *filter = filter_for (d, n_channels, kernel);
  double *x = test_alloc_f64 (n), last;

  for (size_t i = 0; i < n; i++)
    x[i] = i == 20 ? damage : 0.5;
  test_filter_f64 (filter, x, n_channels, 12000);
  last = x[n - 1 - (n - 21) % n_channels];
  test_filter_free (&filter);
  free (x);
  return last;
}

static void
test_huge (void)
{
  static const double damage[] = { DBL_MAX, -1e160 };
  TfxDynamics d = levels_compressor (-20, 4, 0.00025, 0.00025, 6);
  TapMany many = tap_many ("a sample near the largest number is forgotten");
  const char *kernel;

  for (unsigned i = 0; i < 12; i++) {
    const unsigned n_channels = i % 3 == 2 ? 9 : i % 3 + 1;

    d.is_rms = i < 6;
    for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
      const double want = run_damaged (&d, n_channels, kernel, 0.5);
      const double have = run_damaged (&d, n_channels, kernel, damage[i % 2]);

      tap_many_check (&many, fabs (have - want) < 1e-9 && want > 0.1,
          "%u channels, %s, %g: %g, not %g", n_channels, kernel, damage[i % 2],
          have, want);
    }
  }
  tap_many_end (&many);
}

static void
test_refusals (void)
{
#define GOOD .slope = -0.5, .attack = 0.9, .release = 0.9
  static const TfxDynamics bad[] = {
    { GOOD, .threshold_db = NAN },
    { .attack = 0.9, .release = 0.9, .slope = 0.1 },
    { GOOD, .knee_db = -1 },
    { GOOD, .floor_db = 1 },
    { GOOD, .floor_db = -INFINITY },
    { GOOD, .makeup_db = INFINITY },
    { .slope = -0.5, .release = 0.9, .attack = 1 },
    { .slope = -0.5, .attack = 0.9, .release = -0.1 },
    { .slope = -0.5, .attack = 0.9, .release = NAN },
  };
  const TfxDynamics good = { GOOD };
  TfxStage *stage = tfx_stage_new_dynamics (1, &good);

  tap_check (stage != NULL, "values in range make a stage");
  tfx_stage_unref (&stage);
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    tap_check (!tfx_stage_new_dynamics (1, &bad[i]), "bad value %u makes none",
        i);
}

static const TapTest tests[] = {
  { "recursion", test_recursion },
  { "splits", test_splits },
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
