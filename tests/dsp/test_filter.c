/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_filter.c: filters that own their state, and the rows that run them. */
#include "common.h"
#include "rows.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHANNELS 2
#define FRAMES 4000
#define MANY 8

/* ---- filters to try -------------------------------------------------------------- */

static TfxStage *
sections (size_t n)
{
  TfxSos sos[8];

  for (size_t i = 0; i < n; i++)
    sos[i] = test_random_section (0.95);
  return tfx_stage_new_sections (tfx_stage_new_id (), sos, n);
}

static TfxStage *
fir (size_t n_taps, TfxFirMethod method)
{
  double *taps = test_alloc (n_taps * sizeof *taps);
  TfxStage *stage;

  test_noise_f64 (taps, n_taps);
  for (size_t i = 0; i < n_taps; i++)
    taps[i] /= sqrt ((double)n_taps);
  stage = rows_fir (tfx_stage_new_id (), taps, n_taps, method);
  free (taps);
  return stage;
}

static TfxStage *
gain (double factor)
{
  return tfx_stage_new_gain (tfx_stage_new_id (), factor);
}

static TfxStage *
delay (size_t frames)
{
  const TfxTap taps[2] = { { frames, 0.5, true, TFX_TAP_BOTH },
    { frames / 3, -0.25, false, TFX_TAP_LEFT } };

  return tfx_stage_new_delay (tfx_stage_new_id (), 0.75, taps, 2);
}

static TfxStage *
sum (TfxStage *a, TfxStage *b)
{
  TfxChain *branches[3] = { rows_chain (&a, 1), rows_chain (&b, 1),
    tfx_chain_new () };
  TfxStage *stage = tfx_stage_new_sum (tfx_stage_new_id (), branches, 3);

  for (int i = 0; i < 3; i++)
    tfx_chain_unref (&branches[i]);
  return stage;
}

/* Filters of all kinds; the same ones for the same seed. */
static size_t
make_row (TfxFilter **row, bool is_recursive)
{
  TfxStage *a[] = { sections (2), gain (0.5) };
  TfxStage *b[] = { gain (-1.5) };
  TfxStage *c[] = { sections (1), delay (300), sections (3) };
  TfxStage *d[] = { fir (is_recursive ? 40 : 700,
                        is_recursive ? TFX_FIR_DIRECT : TFX_FIR_FFT),
    gain (2.0) };
  TfxStage *e[] = { sum (sections (2), delay (17)), gain (0.25) };
  TfxStage *g[] = { sections (4) };

  row[0] = rows_filter (a, 2, CHANNELS, TFX_SAMPLE_F64);
  row[1] = rows_filter (b, 1, CHANNELS, TFX_SAMPLE_F64);
  row[2] = rows_filter (c, 3, CHANNELS, TFX_SAMPLE_F64);
  row[3] = rows_filter (d, 2, CHANNELS, TFX_SAMPLE_F64);
  row[4] = rows_filter (e, 2, CHANNELS, TFX_SAMPLE_F64);
  row[5] = rows_filter (g, 1, CHANNELS, TFX_SAMPLE_F64);
  return 6;
}

/* ---- tests -------------------------------------------------------------------------- */

/* Each filter of the row by its own plan, in blocks. */
static void
run_apart (TfxFilter *const *row, size_t n, double *x, size_t n_frames,
    size_t block)
{
  for (size_t k = 0; k < n; k++) {
    TfxPlan *plan = rows_plan (&row[k], 1);

    rows_run_blocks (plan, x, CHANNELS, n_frames, block);
    rows_free (&plan);
  }
}

static void
test_rows (void)
{
  static double x[FRAMES * CHANNELS], want[FRAMES * CHANNELS];
  TfxFilter *row[MANY];
  TfxPlan *plan;
  size_t n;

  n = make_row (row, false);
  test_noise_f64 (x, FRAMES * CHANNELS);
  memcpy (want, x, sizeof want);
  plan = rows_plan (row, n);
  tap_check (tfx_plan_n_filters (plan) == n &&
                 tfx_plan_is_for (plan, row, n, tfx_cpu_backend ()) &&
                 !tfx_plan_is_for (plan, row, n - 1, tfx_cpu_backend ()),
      "a plan knows whose it is");
  tap_check (tfx_plan_is_silent (plan), "a row at rest is silent");
  rows_run_blocks (plan, x, CHANNELS, FRAMES, 500);
  tap_check (!tfx_plan_is_silent (plan), "and is not when it has run");
  rows_reset (row, n);
  tap_check (tfx_plan_is_silent (plan), "but after a reset");
  run_apart (row, n, want, FRAMES, 500);
  tap_check (test_distance (x, want, FRAMES * CHANNELS) < 1e-12,
      "a row does what its filters do one by one: %g",
      test_distance (x, want, FRAMES * CHANNELS));
  rows_free (&plan);
  rows_clear (row, n);
}

/* Two plans take turns, and a third one over some of the filters runs in
 * between. */
static void
test_turns (void)
{
  static double x[FRAMES * CHANNELS], want[FRAMES * CHANNELS];
  TfxFilter *row[MANY];
  TfxPlan *a, *b, *front, *back;
  size_t n;
  TapMany many = tap_many ("plans take turns over the same filters");

  for (int seed = 0; seed < 4; seed++) {
    n = make_row (row, seed % 2 == 0);
    test_noise_f64 (x, FRAMES * CHANNELS);
    memcpy (want, x, sizeof want);
    a = rows_plan (row, n);
    b = rows_plan (row, n);
    front = rows_plan (row, 2);
    back = rows_plan (row + 2, n - 2);
    rows_run (a, want, CHANNELS, FRAMES);
    rows_reset (row, n);
    for (size_t i = 0, k = 0; i < FRAMES; i += 250, k++) {
      double *at = x + i * CHANNELS;

      if (k % 3 == 0)
        rows_run (a, at, CHANNELS, 250);
      else if (k % 3 == 1)
        rows_run (b, at, CHANNELS, 250);
      else
        rows_run (front, at, CHANNELS, 250), rows_run (back, at, CHANNELS, 250);
      if (k == 5) {
        rows_free (&a);
        a = rows_plan (row, n);
      }
    }
    tap_many_check (&many, test_distance (x, want, FRAMES * CHANNELS) < 1e-11,
        "%d: %g", seed, test_distance (x, want, FRAMES * CHANNELS));
    rows_free (&a);
    rows_free (&b);
    rows_free (&front);
    rows_free (&back);
    rows_clear (row, n);
  }
  tap_many_end (&many);
}

static void
test_splits (void)
{
  static double x[FRAMES * CHANNELS], want[FRAMES * CHANNELS],
      noise[FRAMES * CHANNELS];
  TfxFilter *row[MANY];
  size_t n = make_row (row, true);
  TfxPlan *plan = rows_plan (row, n);
  TapMany many = tap_many ("any split into blocks gives the same bits");

  test_noise_f64 (noise, FRAMES * CHANNELS);
  memcpy (want, noise, sizeof want);
  rows_run (plan, want, CHANNELS, FRAMES);
  for (int round = 0; round < 10; round++) {
    rows_reset (row, n);
    memcpy (x, noise, sizeof x);
    for (size_t i = 0; i < FRAMES;) {
      size_t left = FRAMES - i, block = 1 + tap_random_below (60u << round);

      block = block < left ? block : left;
      rows_run (plan, x + i * CHANNELS, CHANNELS, block);
      i += block;
    }
    tap_many_check (&many, !memcmp (x, want, sizeof x), "round %d", round);
  }
  tap_many_end (&many);
  rows_free (&plan);
  rows_clear (row, n);
}

static void
test_errors (void)
{
  TfxChain *empty = tfx_chain_new ();
  TfxFilterSpec spec = { 48000, 2, TFX_SAMPLE_F32, 0 };
  TfxFilter *filter = NULL, *other = NULL, *pair[2];
  TfxPlan *plan = NULL;
  const double huge[1] = { 1e31 };
  const double *const kernels[1] = { huge };
  TfxStage *stage =
      tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, 1, TFX_FIR_AUTO);
  TfxChain *chain = rows_chain (&stage, 1);

  spec.n_channels = 0;
  tap_check (tfx_filter_new (empty, &spec, &filter) == -EINVAL && !filter,
      "no channels");
  spec.n_channels = 2;
  spec.rate_hz = NAN;
  tap_check (tfx_filter_new (empty, &spec, &filter) == -EINVAL, "no rate");
  spec.rate_hz = 48000;
  tap_check (tfx_filter_new (chain, &spec, &filter) == -ERANGE && !filter,
      "a tap that float does not hold");
  tap_check (tfx_filter_new (empty, &spec, &filter) == 0 && filter,
      "an empty chain");
  tap_check (tfx_filter_set_chain (filter, chain) == -ERANGE, "nor later");
  tap_check (tfx_filter_set_format (filter, TFX_SAMPLE_F64, 64) == 0 &&
                 tfx_filter_set_chain (filter, chain) == 0,
      "but double does");
  tap_check (tfx_filter_set_format (filter, TFX_SAMPLE_F32, 64) == -ERANGE,
      "it stays with that");
  tap_check (tfx_filter_set_chain (filter, empty) == 0 &&
                 tfx_filter_is_identity (filter) &&
                 !tfx_filter_is_changing (filter),
      "an empty chain is the identity");
  spec.n_channels = 3;
  spec.sample = TFX_SAMPLE_F64;
  tap_check (tfx_filter_new (empty, &spec, &other) == 0, "three channels");
  pair[0] = filter;
  pair[1] = other;
  tap_check (tfx_plan_new (pair, 2, tfx_cpu_backend (), &plan) == -EINVAL &&
                 !plan,
      "do not go with two");
  tfx_filter_unref (&pair[1]);
  spec.n_channels = 2;
  spec.rate_hz = 44100;
  tap_check (tfx_filter_new (empty, &spec, &pair[1]) == 0 &&
                 tfx_plan_new (pair, 2, tfx_cpu_backend (), &plan) == -EINVAL &&
                 !plan,
      "nor another rate");
  tap_check (tfx_plan_new (pair, 0, tfx_cpu_backend (), &plan) == -EINVAL,
      "no row of none");
  tap_check (tfx_plan_new (pair, 1, NULL, &plan) == -EINVAL, "no backend");
  tfx_filter_unref (&filter);
  tfx_filter_unref (&pair[1]);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&empty);
}

/* A reverb, one of whose lines is long: there is an echo when all else has rung out. */
static TfxStage *
reverb (void)
{
  TfxReverb r = { .feedback = 0, .damp = 0.2, .dry = 0.5, .wet = 0.5 };

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    r.combs[i] = i == 0 ? 1500 : 40 + 3 * i;
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    r.all_passes[i] = 9 + i;
  return tfx_stage_new_reverb (tfx_stage_new_id (), &r);
}

/* n frames of a stream of floats, or of doubles, in place. */
static void
run_samples (TfxPlan *plan, double *x, TfxSample type, size_t n)
{
  static float floats[1600 * CHANNELS];
  const TfxBlock block = tfx_block_interleaved (floats, type, CHANNELS, n);

  if (type == TFX_SAMPLE_F64) {
    rows_run (plan, x, CHANNELS, n);
    return;
  }
  for (size_t i = 0; i < n * CHANNELS; i++)
    floats[i] = (float)x[i];
  tfx_filter_lock_all (tfx_plan_filters (plan), 1);
  tfx_plan_run (plan, &block, &block);
  tfx_filter_unlock_all (tfx_plan_filters (plan), 1);
  for (size_t i = 0; i < n * CHANNELS; i++)
    x[i] = floats[i];
}

/* Frame by frame: a silent filter has no more output. */
static void
check_silent (TapMany *many, TfxStage *stage, TfxSample type, size_t number)
{
  TfxFilter *filter;
  TfxPlan *plan = rows_open (&stage, 1, CHANNELS, type, &filter);
  static double x[1600 * CHANNELS];
  double peak = 0;
  size_t n;

  /* (What is negative counts, too.) */
  x[0] = x[1] = -0.25;
  run_samples (plan, x, type, 1);
  for (n = 0; n < 20000 && !tfx_plan_is_silent (plan); n++) {
    memset (x, 0, CHANNELS * sizeof *x);
    run_samples (plan, x, type, 1);
  }
  memset (x, 0, sizeof x);
  run_samples (plan, x, type, 1600);
  for (size_t k = 0; k < 1600 * CHANNELS; k++)
    peak = fmax (peak, fabs (x[k]));
  tap_many_check (many, n < 20000 && peak < 1e-15,
      "stage %zu, after %zu frames: %g", number, n, peak);
  rows_free (&plan);
}

static void
test_silent (void)
{
  const TfxLimiter ahead = { .threshold_db = -6, .n_ahead = 40 };
  TapMany many = tap_many ("a filter is silent once it has rung out");

  for (int type = 0; type < 2; type++) {
    TfxStage *stages[] = { sections (1), sections (2), sections (6), delay (60),
      fir (50, TFX_FIR_DIRECT), fir (700, TFX_FIR_FFT), reverb (),
      tfx_stage_new_limiter (tfx_stage_new_id (), &ahead) };

    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
      check_silent (&many, stages[i], (TfxSample)type, i);
  }
  tap_many_end (&many);
}

static double
thread_seconds (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The answer takes microseconds, not the milliseconds of a look at all of the past:
 * an element asks under the lock, for each gap in its stream. */
static void
test_silent_soon (void)
{
  TfxStage *stages[] = { delay (4000000), fir (1 << 19, TFX_FIR_AUTO) };
  double x[64 * CHANNELS];

  for (size_t i = 0; i < 2; i++) {
    const bool is_delay = i == 0;
    TfxFilter *filter;
    TfxPlan *plan =
        rows_open (&stages[i], 1, CHANNELS, TFX_SAMPLE_F64, &filter);
    double least = 1.0;

    test_noise_f64 (x, 64 * CHANNELS);
    rows_run (plan, x, CHANNELS, 64);
    for (int k = 0; k < 20; k++) {
      double start;

      memset (x, 0, sizeof x);
      rows_run (plan, x, CHANNELS, 64);
      start = thread_seconds ();
      tfx_plan_is_silent (plan);
      least = fmin (least, thread_seconds () - start);
    }
    tap_check (!tfx_plan_is_silent (plan) && least < 2e-4,
        "whether a long %s is silent is known in %.1f us",
        is_delay ? "delay line" : "FIR", 1e6 * least);
    rows_free (&plan);
  }
}

/* Sections that glide keep their output in none of their states. */
static void
test_silent_glide (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxSos sos = { 0.02, 0, 0, -1.96, 0.98 };
  TfxStage *stage = tfx_stage_new_sections (id, &sos, 1), *other;
  TfxFilter *filter;
  TfxPlan *plan = rows_open (&stage, 1, CHANNELS, TFX_SAMPLE_F64, &filter);
  double x[64 * CHANNELS] = { 0 };

  sos.a1 = -1.959;
  other = tfx_stage_new_sections (id, &sos, 1);
  rows_run (plan, x, CHANNELS, 64);
  tap_check (tfx_plan_is_silent (plan), "it is silent");
  rows_set (filter, other);
  test_noise_f64 (x, 64 * CHANNELS);
  rows_run (plan, x, CHANNELS, 64);
  tap_check (!tfx_plan_is_silent (plan), "but not after noise");
  rows_free (&plan);
}

/* Values that are set before the first frame are there with it. */
static void
test_set_at_rest (void)
{
  const TfxTap tap = { .delay = 3, .gain = 0.5 };
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *first[] = { tfx_stage_new_gain (id, 0.5),
    tfx_stage_new_delay (id + 1000, 1, &tap, 1) };
  TfxFilter *filter;
  TfxPlan *plan = rows_open (first, 2, 1, TFX_SAMPLE_F64, &filter);
  double x[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };

  tap_check (rows_set (filter, tfx_stage_new_gain (id, 2)) == 0 &&
                 rows_set (filter,
                     tfx_stage_new_delay (id + 1000, 0, &tap, 1)) == 0 &&
                 !tfx_filter_is_changing (filter),
      "set at rest");
  rows_run (plan, x, 1, 8);
  tap_check (x[0] == 0 && x[2] == 0 && x[3] == 1 && x[7] == 1,
      "in force from the first frame on: %g, %g, %g", x[0], x[2], x[3]);
  rows_free (&plan);
}

/* A FIR that is set later, at once, by leading zeros, continues with its output of as many frames
 * before, in any split. */
static void
check_later (size_t n_taps, TfxFirMethod method, bool is_prepared)
{
  const size_t n_later = 77, n_more = 200, n_all = n_taps + n_more, at = 1501;
  const TfxFilterSpec spec = { 48000, CHANNELS, TFX_SAMPLE_F64, 100 };
  const uint64_t id = tfx_stage_new_id ();
  double *taps = test_alloc ((n_all + n_later) * sizeof *taps);
  double *x = test_alloc (FRAMES * CHANNELS * sizeof *x);
  double *y = test_alloc (FRAMES * CHANNELS * sizeof *y);
  const double *kernels[2] = { taps + n_later, taps };
  TfxStage *stages[2], *front = sections (2);
  TfxChain *chains[2];
  TfxFilter *filter[2] = { NULL };
  TfxPlan *plan[2];
  double error = 0.0;

  memset (taps, 0, (n_all + n_later) * sizeof *taps);
  test_noise_f64 (taps + n_later, n_taps);
  for (int i = 0; i < 2; i++) {
    TfxStage *both[2] = { tfx_stage_ref (front), NULL };

    stages[i] = both[1] = tfx_stage_new_fir (id, &kernels[i], 1,
        i ? n_all + n_later : n_taps, method);
    if (i && is_prepared)
      tap_check (tfx_stage_prepare (stages[i], &spec) == 0, "prepared");
    chains[i] = rows_chain (both, 2);
  }
  for (int i = 0; i < 2; i++) {
    if (tfx_filter_new (chains[0], &spec, &filter[i]) < 0)
      abort ();
    plan[i] = rows_plan (&filter[i], 1);
  }
  test_noise_f64 (x, FRAMES * CHANNELS);
  memcpy (y, x, FRAMES * CHANNELS * sizeof *y);
  rows_run_blocks (plan[0], x, CHANNELS, FRAMES, 100);
  rows_run_blocks (plan[1], y, CHANNELS, at, 79);
  tfx_filter_lock (filter[1]);
  tap_check (tfx_filter_set_chain_at_once (filter[1], chains[1]) == 0 &&
                 !tfx_filter_is_changing (filter[1]),
      "at once");
  tfx_filter_unlock (filter[1]);
  rows_run_blocks (plan[1], y + at * CHANNELS, CHANNELS, FRAMES - at, 79);
  for (size_t i = at + n_later; i < FRAMES; i++) {
    for (size_t c = 0; c < CHANNELS; c++)
      error = fmax (error,
          fabs (y[i * CHANNELS + c] - x[(i - n_later) * CHANNELS + c]));
  }
  tap_check (error <= 1e-13, "%zu taps continue to the sample, within %g",
      n_taps, error);

  /* Not into a change. */
  tfx_filter_lock (filter[1]);
  tap_check (tfx_filter_set_chain (filter[1], chains[0]) == 0 &&
                 tfx_filter_is_changing (filter[1]) &&
                 tfx_filter_set_chain_at_once (filter[1], chains[1]) == -EBUSY,
      "busy");
  tfx_filter_unlock (filter[1]);
  for (int i = 0; i < 2; i++) {
    rows_free (&plan[i]);
    tfx_filter_unref (&filter[i]);
    tfx_chain_unref (&chains[i]);
  }
  tfx_stage_unref (&front);
  free (taps);
  free (x);
  free (y);
}

static void
test_later (void)
{
  check_later (1, TFX_FIR_DIRECT, false);
  check_later (41, TFX_FIR_DIRECT, false);
  check_later (700, TFX_FIR_FFT, false);
  check_later (20000, TFX_FIR_FFT, false);
  check_later (20000, TFX_FIR_FFT, true);
}

/* Gains at the limits of a double, in rows and moving. */
static void
test_gains (void)
{
  static const double gains[] = { 1e-308, 1e308, -1e-308, 0, 5e-324, -1e200 };
  TapMany many = tap_many ("gains as small and as large as can be");

  for (unsigned k = 0; k < 200; k++) {
    static double x[FRAMES * CHANNELS];
    const uint64_t id = tfx_stage_new_id ();
    TfxStage *stages[8];
    size_t n = 0;
    TfxFilter *filter;
    TfxPlan *plan;
    bool is_number = true;

    for (unsigned i = 0; i < 7; i++) {
      const double factor = gains[tap_random_below (6)];

      stages[n++] =
          tap_random_below (3) == 0 ? sections (2)
          : tap_random_below (8) == 0
              ? delay (20)
              : tfx_stage_new_gain (i == 3 ? id : id + 1000 + i, factor);
    }
    plan = rows_open (stages, n, CHANNELS, TFX_SAMPLE_F64, &filter);
    memset (x, 0, sizeof x);
    /* Silence, and what is very quiet: nothing can overflow. */
    for (size_t i = 0; i < FRAMES / 4; i++)
      x[i] = k % 2 ? 0.0 : 1e-300;
    rows_run (plan, x, CHANNELS, FRAMES / 2);
    rows_set (filter, tfx_stage_new_gain (id, gains[tap_random_below (6)]));
    rows_run (plan, x + FRAMES / 2 * CHANNELS, CHANNELS, FRAMES / 2);
    for (size_t i = 0; i < FRAMES * CHANNELS; i++)
      is_number = is_number && !isnan (x[i]);
    tap_many_check (&many, is_number || k % 2 == 0, "row %u", k);
    rows_free (&plan);
  }
  tap_many_end (&many);
}

/* A gain of 0 mutes; the sections before it keep running. */
static void
test_mute (void)
{
  static double x[FRAMES * CHANNELS], want[FRAMES * CHANNELS];
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *plain[] = { sections (2) };
  TfxStage *stages[] = { tfx_stage_ref (plain[0]), tfx_stage_new_gain (id, 0) };
  TfxStage *loud = tfx_stage_new_gain (id, 0.5);
  TfxFilter *filter = rows_filter (stages, 2, CHANNELS, TFX_SAMPLE_F64);
  TfxFilter *other = rows_filter (plain, 1, CHANNELS, TFX_SAMPLE_F64);
  TfxPlan *a = rows_plan (&filter, 1), *b = rows_plan (&other, 1);
  const size_t at = FRAMES / 2, end = at + 600;
  double peak = 0, worst = 0;

  test_noise_f64 (x, FRAMES * CHANNELS);
  memcpy (want, x, sizeof want);
  rows_run (b, want, CHANNELS, FRAMES);
  rows_run (a, x, CHANNELS, at);
  rows_set (filter, loud);
  rows_run (a, x + at * CHANNELS, CHANNELS, FRAMES - at);
  for (size_t i = 0; i < at * CHANNELS; i++)
    peak = fmax (peak, fabs (x[i]));
  for (size_t i = end * CHANNELS; i < FRAMES * CHANNELS; i++)
    worst = fmax (worst, fabs (x[i] - 0.5 * want[i]));
  tap_check (peak == 0, "a gain of 0 is silence: %g", peak);
  tap_check (worst < 1e-9, "and the sections before it kept running: %g",
      worst);
  rows_free (&a);
  rows_free (&b);
  tfx_filter_unref (&filter);
  tfx_filter_unref (&other);
}

/* A gain of 1e-308 between two sections, and back. */
static void
test_tiny (void)
{
  static double x[FRAMES * CHANNELS], want[FRAMES * CHANNELS];
  TfxStage *stages[] = { sections (2), gain (1e-200), gain (1e-100),
    gain (1e150), sections (2), gain (1e150) };
  TfxStage *plain[] = { tfx_stage_ref (stages[0]), tfx_stage_ref (stages[4]) };
  TfxFilter *filter = rows_filter (stages, 6, CHANNELS, TFX_SAMPLE_F64);
  TfxFilter *other = rows_filter (plain, 2, CHANNELS, TFX_SAMPLE_F64);
  TfxPlan *a = rows_plan (&filter, 1), *b = rows_plan (&other, 1);

  test_noise_f64 (x, FRAMES * CHANNELS);
  memcpy (want, x, sizeof want);
  rows_run (a, x, CHANNELS, FRAMES);
  rows_run (b, want, CHANNELS, FRAMES);
  tap_check (test_distance (x, want, FRAMES * CHANNELS) < 1e-11,
      "tiny gains and large ones make up for each other: %g",
      test_distance (x, want, FRAMES * CHANNELS));
  rows_free (&a);
  rows_free (&b);
  tfx_filter_unref (&filter);
  tfx_filter_unref (&other);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = {
    { "rows", test_rows },
    { "turns", test_turns },
    { "splits", test_splits },
    { "errors", test_errors },
    { "silent", test_silent },
    { "silent-soon", test_silent_soon },
    { "silent-glide", test_silent_glide },
    { "set-at-rest", test_set_at_rest },
    { "gains", test_gains },
    { "mute", test_mute },
    { "tiny", test_tiny },
    { "later", test_later },
    { NULL, NULL },
  };

  return tap_main (argc, argv, tests);
}
