/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_unit_moves.c: FIRs and delay lines whose parameters change: no click, the same
 * output for any split, and no allocation.
 */
#include "common.h"
#include "heap.h"
#include "jump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

/* ---- chains ------------------------------------------------------------------ */

static TfxStage *
designed (TfxMode mode, size_t n_taps, double hz)
{
  const TfxFirDesign d = { mode, TFX_WINDOW_HAMMING, 0, n_taps, hz, 1.5 * hz };
  double *taps = test_alloc (n_taps * sizeof *taps);
  const double *kernels[] = { taps };
  TfxStage *stage = NULL;

  if (tfx_fir_design (&d, RATE, taps) == 0)
    stage = tfx_stage_new_fir (1, kernels, 1, n_taps, TFX_FIR_AUTO);
  free (taps);
  return stage;
}

typedef struct Echoes
{
  size_t delay, n;
  double feedback, mix;
} Echoes;

/* As the Delay of the language. */
static TfxStage *
echoes (const Echoes *e)
{
  TfxTap taps[16] = { { 0 } };
  double gain = e->mix;

  for (size_t k = 0; k < e->n; k++, gain *= e->feedback)
    taps[k] = (TfxTap){ .delay = (k + 1) * e->delay, .gain = gain };
  return tfx_stage_new_delay (1, 1 - e->mix, taps, e->n);
}

/* ---- jumps ------------------------------------------------------------------- */

static void
check_jump (TapMany *many, TfxStage *before, TfxStage *after, const char *what,
    unsigned i)
{
  const TestJump j = test_jump_between (test_chain_of_one (before),
      test_chain_of_one (after), 1, 480);

  tap_many_check (many, j.high_db <= -80 && j.bend <= 1.5 && j.peak_db <= 1,
      "%s %u: %.1f dB above 2 kHz, a second difference of %.2f times, peak "
      "%.2f dB",
      what, i, j.high_db, j.bend, j.peak_db);
  if (getenv ("JUMPS"))
    tap_diag ("%s %u: %.1f dB, %.2f, peak %.2f dB", what, i, j.high_db, j.bend,
        j.peak_db);
}

static void
test_fir_jumps (void)
{
  static const double hz[][2] = { { 500, 5000 }, { 5000, 500 }, { 20, 15000 },
    { 15000, 20 }, { 400, 480 }, { 1000, 2000 } };
  static const size_t n_taps[] = { 31, 101, 511, 2047, 8191 };
  TapMany many = tap_many ("the cutoff of a FIR jumps");

  for (unsigned i = 0; i < 6 * 5 * 3; i++) {
    const size_t n = n_taps[i / 6 % 5];
    const TfxMode mode = (TfxMode)(i / 30);

    check_jump (&many, designed (mode, n, hz[i % 6][0]),
        designed (mode, n, hz[i % 6][1]), "cutoffs", i);
  }
  tap_many_end (&many);
}

static void
test_fir_lengths (void)
{
  static const size_t n[][2] = { { 101, 301 }, { 301, 101 }, { 11, 2047 },
    { 2047, 8191 }, { 8191, 31 }, { 101, 102 } };
  TapMany many = tap_many ("a FIR gets another length");

  for (unsigned i = 0; i < 6 * 2; i++)
    check_jump (&many, designed (TFX_MODE_LOW_PASS, n[i % 6][0], 1000),
        designed (TFX_MODE_LOW_PASS, n[i % 6][1], i < 6 ? 3000 : 500),
        "lengths", i);
  tap_many_end (&many);
}

static void
test_own_kernels (void)
{
  static const double a[4] = { 1, 0, 0, 0 }, b[4] = { -0.5, 0.25, 0, 0.1 },
                      c[4] = { 0, 0, 0, 0 };
  static const double *const kernels[][2] = { { a, b }, { b, a }, { a, c },
    { c, a } };
  TapMany many = tap_many ("an own kernel becomes another");

  for (unsigned i = 0; i < 4; i++)
    check_jump (&many,
        tfx_stage_new_fir (1, &kernels[i][0], 1, 4, TFX_FIR_AUTO),
        tfx_stage_new_fir (1, &kernels[i][1], 1, 4, TFX_FIR_AUTO), "kernels",
        i);
  tap_many_end (&many);
}

static void
test_delays (void)
{
  static const Echoes all[][2] = {
    { { 1000, 3, 0.3, 0.2 }, { 1000, 3, 0.3, 0.9 } },
    { { 1000, 3, 0.9, 0.9 }, { 1000, 3, 0.1, 0.1 } },
    { { 1000, 1, 0.3, 0 }, { 1000, 1, 0.3, 1 } },
    { { 1000, 3, 0.3, 0.5 }, { 1500, 3, 0.3, 0.5 } },
    { { 1500, 3, 0.3, 0.5 }, { 1000, 3, 0.3, 0.5 } },
    { { 100, 1, 0, 1 }, { 4000, 1, 0, 1 } },
    { { 4000, 1, 0, 1 }, { 100, 1, 0, 1 } },
    { { 1, 1, 0, 1 }, { 2, 1, 0, 1 } },
    { { 500, 2, 0.5, 0.5 }, { 500, 8, 0.5, 0.5 } },
    { { 500, 8, 0.5, 0.5 }, { 501, 8, 0.5, 0.5 } },
  };
  TapMany many = tap_many ("mix, feedback and length of a delay jump");

  for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
    check_jump (&many, echoes (&all[i][0]), echoes (&all[i][1]), "echoes", i);
  tap_many_end (&many);
}

/* ---- curves ------------------------------------------------------------------- */

#define N_CURVE 72000

/* A FIR with a cutoff under a curve, or a delay line with a mix under one. */
typedef struct Curve
{
  size_t n_taps; /* 0: a delay line */
  TfxFirMethod method;
  double octave_s;
} Curve;

static bool
set_fir (const Curve *curve, double hz, TfxStage **stage)
{
  const TfxFirDesign d = { TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 0,
    curve->n_taps, hz, 0 };
  static double taps[8192];
  const double *kernels[] = { taps };

  if (tfx_fir_design (&d, RATE, taps) < 0)
    return false;
  if (*stage &&
      tfx_stage_reuse_fir (*stage, kernels, 1, curve->n_taps, curve->method))
    return true;
  if (*stage)
    return false;
  *stage = tfx_stage_new_fir (1, kernels, 1, curve->n_taps, curve->method);
  return *stage != NULL;
}

static bool
set_delay (double mix, TfxStage **stage)
{
  const TfxTap taps[2] = { { .delay = 300, .gain = mix },
    { .delay = 1700, .gain = 0.5 * mix } };

  if (*stage && tfx_stage_reuse_delay (*stage, 1 - mix, taps, 2))
    return true;
  if (*stage)
    return false;
  *stage = tfx_stage_new_delay (1, 1 - mix, taps, 2);
  return *stage != NULL;
}

/* From 1000 to 2000 Hz; never quite at rest. */
static double
find_cutoff (const Curve *curve, uint64_t frame)
{
  const double t = ((double)frame - 24000) / RATE / curve->octave_s;

  return 1000 * exp2 (fmax (0, fmin (t, 1))) + 1e-9 * (double)frame;
}

/* A cutoff, or a mix that goes up and down. */
static bool
set_curve (const Curve *curve, uint64_t frame, TfxStage **stage)
{
  return curve->n_taps > 0
             ? set_fir (curve, find_cutoff (curve, frame), stage)
             : set_delay (0.5 - 0.4 * cos (2 * M_PI * (double)frame / RATE),
                   stage);
}

#define N_STAGES 80

/* A stage without other references, or a new one. */
static TfxStage *
take_stage (const Curve *curve, uint64_t frame, TfxStage **stages)
{
  for (size_t i = 0; i < N_STAGES; i++) {
    if (set_curve (curve, frame, &stages[i]))
      return tfx_stage_ref (stages[i]);
  }
  return NULL;
}

/* Runs x[N_CURVE] in blocks of up to most_frames, the first one the longest, and queues
 * the values of each before it.  Returns the allocations in the second half; -1: refused. */
static long
run_curve (const Curve *curve, double *x, size_t most_frames, bool at_random)
{
  const TfxFilterSpec spec = { RATE, 1, TFX_SAMPLE_F64, most_frames };
  TfxStage *stages[N_STAGES] = { NULL };
  TfxChain *chain = test_chain_of_one (take_stage (curve, 0, stages));
  TestFilter *filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
  const size_t step = tfx_stage_grid_frames (stages[0]);
  uint64_t point = 0;
  unsigned n_allocations;
  bool good = filter != NULL;

  for (size_t i = 0, n; good && i < N_CURVE; i += n) {
    n = at_random && i > 0
            ? 1 + tap_random_below ((unsigned)(most_frames - 200 - 2 * step))
            : most_frames;
    n = n < N_CURVE - i ? n : N_CURVE - i;
    if (i < N_CURVE / 2 && i + n >= N_CURVE / 2)
      heap_watch (0);
    for (; good && point < i + n; point += step)
      good = test_filter_queue_stage (filter, point + step,
                 take_stage (curve, point + step, stages)) == 0;
    good = good && test_filter_f64 (filter, x + i, 1, n) >= 0;
  }
  n_allocations = heap_unwatch ().n_allocations;
  tfx_chain_unref (&chain);
  for (size_t i = 0; i < N_STAGES; i++)
    tfx_stage_unref (&stages[i]);
  test_filter_free (&filter);
  return good ? (long)n_allocations : -1;
}

static const Curve curves[] = { { 0, TFX_FIR_AUTO, 1 },
  { 101, TFX_FIR_DIRECT, 1 }, { 31, TFX_FIR_AUTO, 1 }, { 511, TFX_FIR_FFT, 1 },
  { 2047, TFX_FIR_AUTO, 1 }, { 8191, TFX_FIR_AUTO, 1 } };

#define N_CURVES (sizeof curves / sizeof *curves)

static double *
make_sine (void)
{
  double *x = test_alloc_f64 (N_CURVE);

  for (size_t i = 0; i < N_CURVE; i++)
    x[i] = 0.5 * sin (2 * M_PI * 440 * (double)i / RATE);
  return x;
}

static void
test_curves (void)
{
  static const size_t blocks[] = { 64, 2048, 2000 };
  TapMany same = tap_many ("any split of a curve gives the same");
  TapMany calm = tap_many ("a sweep of an octave in a second: -90 dB");
  TapMany memory = tap_many ("parameters that change allocate nothing");

  for (size_t c = 0; c < N_CURVES; c++) {
    const double most = curves[c].n_taps < 200 ? 0 : 0.5e-6;
    double *want = NULL;

    for (size_t b = 0; b < 3; b++) {
      double *x = make_sine (), difference;
      const long n = run_curve (&curves[c], x, blocks[b], b == 2);
      const double high[2] = { test_jump_high_db (x + 16000),
        test_jump_high_db (x + 48000) };
      char what[80];

      snprintf (what, sizeof what, "%zu taps in blocks of %zu",
          curves[c].n_taps, blocks[b]);
      difference = want ? test_difference (x, want, N_CURVE) : 0;
      tap_many_check (&same, difference <= most, "%s: %g", what, difference);
      tap_many_check (&calm, high[0] <= -90 && high[1] <= -90,
          "%s: %.1f and %.1f dB", what, high[0], high[1]);
      tap_many_check (&memory, n == 0, "%s: %ld times", what, n);
      free (want);
      want = x;
    }
    free (want);
  }
  tap_many_end (&same);
  tap_many_end (&calm);
  tap_many_end (&memory);
}

/* The FIR of a curve with this cutoff. */
static TfxStage *
fir_of (size_t n_taps, double hz)
{
  const Curve curve = { n_taps, n_taps == 101 ? TFX_FIR_DIRECT : TFX_FIR_AUTO,
    1 };
  TfxStage *stage = NULL;

  set_fir (&curve, hz, &stage);
  return stage;
}

/* The block length changes after values are queued. */
static void
test_format (void)
{
  double *out[2];

  for (unsigned k = 0; k < 2; k++) {
    TestFilter *filter = test_filter_start (fir_of (101, 500), 1, NULL);

    out[k] = make_sine ();
    tap_check (test_filter_queue_stage (filter, 320, fir_of (101, 5000)) == 0 &&
                   (k == 0 || test_filter_set_format (filter, TFX_SAMPLE_F64,
                                  480) == 0),
        "values are queued, for blocks of any length");
    test_filter_f64 (filter, out[k], 1, 1000);
    test_filter_free (&filter);
  }
  tap_check (memcmp (out[0], out[1], 1000 * sizeof *out[0]) == 0,
      "another block length keeps them");
  free (out[0]);
  free (out[1]);
}

/* Stages of each kind whose parameters change. */
static TfxStage *
make_numbers (unsigned kind, uint64_t id, double part)
{
  const TfxTap tap = { .delay = 30, .gain = part };
  const TfxDynamics dynamics = { .slope = -0.75,
    .threshold_db = -40.0 * part,
    .knee_db = 6.0,
    .floor_db = TFX_DYNAMICS_LOWEST_DB,
    .attack = 0.9,
    .release = 0.99 };
  const TfxLimiter limiter = { .threshold_db = -20.0 * part, .n_ahead = 16 };
  const TfxSos sos = { part, 0.0, 0.0, -0.5 * part, 0.0 };
  TfxReverb reverb = { .feedback = 0.8, .damp = 0.2, .dry = part, .wet = 1.0 };

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    reverb.combs[i] = 50 + 7 * i;
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    reverb.all_passes[i] = 20 + 3 * i;
  switch (kind) {
    case 0:
      return tfx_stage_new_delay (id, 1.0, &tap, 1);
    case 1:
      return tfx_stage_new_dynamics (id, &dynamics);
    case 2:
      return tfx_stage_new_limiter (id, &limiter);
    case 3:
      return tfx_stage_new_reverb (id, &reverb);
    case 4:
      return tfx_stage_new_mix (id, 1, &part);
    case 5:
      return tfx_stage_new_clip (id, part);
    case 6:
      return tfx_stage_new_gain (id, part);
    default:
      return tfx_stage_new_sections (id, &sos, 1);
  }
}

#define N_KINDS 8

/* A stage alone, and other values for it. */
static TestFilter *
start_numbers (unsigned kind, uint64_t id, double part)
{
  return test_filter_start (make_numbers (kind, id, part), 1, NULL);
}

static int
set_numbers (TestFilter *filter, unsigned kind, uint64_t id, double part)
{
  return test_filter_set_chain (filter,
      test_chain_of_one (make_numbers (kind, id, part)));
}

/* The sample type changes while a parameter is smoothed. */
static void
test_format_numbers (void)
{
  TapMany many = tap_many ("another format keeps the smoothing");

  for (unsigned kind = 0; kind < N_KINDS; kind++) {
    const uint64_t id = tfx_stage_new_id ();
    double *out[2];
    int ret = 0;

    for (unsigned k = 0; k < 2; k++) {
      TestFilter *filter = start_numbers (kind, id, 0.2);

      out[k] = make_sine ();
      test_filter_f64 (filter, out[k], 1, 500);
      ret |= set_numbers (filter, kind, id, 0.9);
      test_filter_f64 (filter, out[k] + 500, 1, 200);
      if (k == 1)
        ret |= test_filter_set_format (filter, TFX_SAMPLE_F32, 480);
      test_filter_f64 (filter, out[k] + 700, 1, 300);
      test_filter_free (&filter);
    }
    tap_many_check (&many,
        ret == 0 && memcmp (out[0], out[1], 1000 * sizeof *out[0]) == 0,
        "kind %u: %d", kind, ret);
    free (out[0]);
    free (out[1]);
  }
  tap_many_end (&many);
}

/* While a parameter is smoothed and others are pending: the last ones take effect. */
static void
test_reset (void)
{
  TapMany many = tap_many ("a reset ends with the values that were set last");

  for (unsigned i = 0; i < 3 * N_KINDS; i++) {
    static const double last[] = { 0.9, 0.5, 0.7 };
    const unsigned kind = i / 3;
    const uint64_t id = tfx_stage_new_id ();
    TestFilter *moved = start_numbers (kind, id, 0.2);
    TestFilter *plain = start_numbers (kind, id, last[i % 3]);
    double *x = make_sine (), *y = make_sine ();
    bool is_changing;
    int ret;

    test_filter_f64 (moved, x, 1, 500);
    ret = set_numbers (moved, kind, id, 0.9);
    test_filter_f64 (moved, x + 500, 1, 100);
    if (i % 3)
      ret |= set_numbers (moved, kind, id, 0.5);
    if (i % 3 == 2)
      ret |= test_filter_queue_stage (moved, 960, make_numbers (kind, id, 0.7));
    test_filter_f64 (moved, x + 600, 1, 50);
    test_filter_reset (moved);
    is_changing = test_filter_is_changing (moved);
    memcpy (x, y, 1000 * sizeof *x);
    test_filter_f64 (moved, x, 1, 1000);
    test_filter_f64 (plain, y, 1, 1000);
    tap_many_check (&many,
        ret == 0 && !is_changing && !test_filter_is_changing (moved) &&
            memcmp (x, y, 1000 * sizeof *x) == 0,
        "kind %u, %u changes: %d", kind, 1 + i % 3, ret);
    test_filter_free (&moved);
    test_filter_free (&plain);
    free (x);
    free (y);
  }
  tap_many_end (&many);
}

/* A point of a curve during a smoothing begins where that ends, with a straight line. */
static void
test_waiting (void)
{
  static const unsigned kinds[] = { 0, 4, 5 };
  TapMany many = tap_many ("a point of a curve comes after the smoothing");

  for (unsigned i = 0; i < 3; i++) {
    const uint64_t id = tfx_stage_new_id ();
    TestFilter *filter = start_numbers (kinds[i], id, 0.2);
    const double offset = kinds[i] == 0;
    const size_t end = 575;
    double x[1024], bend, last;

    for (size_t k = 0; k < 1024; k++)
      x[k] = 0.5;
    test_filter_f64 (filter, x, 1, 64);
    set_numbers (filter, kinds[i], id, 0.9);
    tap_many_check (&many,
        test_filter_queue_stage (filter, 384,
            make_numbers (kinds[i], id, 0.5)) == 0,
        "kind %u: queued", kinds[i]);
    test_filter_f64 (filter, x + 64, 1, 1024 - 64);
    last = 0.5 * (offset + 0.9);
    bend = x[544 + 24] - 2 * x[544 + 16] + x[544 + 8];
    tap_many_check (&many,
        fabs (x[543] - last) < 1e-4 && x[544 + 8] < last - 0.01 &&
            x[544 + 24] > 0.5 * (offset + 0.5) + 0.01 && fabs (bend) < 1e-9 &&
            fabs (x[end] - 2 * x[end - 1] + x[end - 2]) < 1e-9 &&
            x[end] == 0.5 * (offset + 0.5),
        "kind %u: %g, %g, %g, %g, %g", kinds[i], x[543], x[552], x[560], x[568],
        x[584]);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* After the format has changed in a cross-fade: nothing else, other taps, or yet another
 * format. */
enum
{
  NOTHING,
  TAPS,
  FORMAT,
  N_LATER
};

static double *
run_cross_fade (size_t n_taps, bool is_changed, unsigned later)
{
  TestFilter *filter = test_filter_start (fir_of (n_taps, 500), 1, NULL);
  double *x = make_sine ();

  test_filter_set_format (filter, TFX_SAMPLE_F64, 480);
  test_filter_f64 (filter, x, 1, 9600);
  test_filter_set_chain (filter, test_chain_of_one (fir_of (n_taps, 5000)));
  test_filter_f64 (filter, x + 9600, 1, 200);
  if (is_changed)
    test_filter_set_format (filter, TFX_SAMPLE_F32, 64);
  test_filter_f64 (filter, x + 9800, 1, 100);
  if (later == TAPS)
    test_filter_set_chain (filter, test_chain_of_one (fir_of (n_taps, 1500)));
  if (is_changed && later == FORMAT)
    test_filter_set_format (filter, TFX_SAMPLE_F64, 1024);
  for (size_t i = 9900; i < 14400; i += 50)
    test_filter_f64 (filter, x + i, 1, 50);
  tap_check (!test_filter_is_changing (filter), "the cross-fade ends");
  test_filter_free (&filter);
  return x;
}

static const size_t format_taps[] = { 31, 511, 8191 };

/* The format changes in the middle of a cross-fade. */
static void
test_format_taps (void)
{
  TapMany many = tap_many ("another format keeps a cross-fade of taps");

  for (unsigned i = 0; i < 3 * N_LATER; i++) {
    const size_t n_taps = format_taps[i / 3];
    double *want = run_cross_fade (n_taps, false, i % 3);
    double *have = run_cross_fade (n_taps, true, i % 3);
    const double worst = test_difference (have, want, 14400);

    tap_many_check (&many, worst < 1e-6, "%zu taps, way %u: %g", n_taps, i % 3,
        worst);
    free (want);
    free (have);
  }
  tap_many_end (&many);
}

/* The same, and then a reset: the history is gone. */
static void
test_format_reset (void)
{
  TapMany many = tap_many ("a reset after another format");

  for (unsigned i = 0; i < 3; i++) {
    const size_t n_taps = format_taps[i];
    double *x = make_sine (), *y = make_sine (), worst;
    TestFilter *filter = test_filter_start (fir_of (n_taps, 500), 1, NULL);
    TestFilter *fresh = test_filter_start (fir_of (n_taps, 5000), 1, NULL);

    test_filter_set_format (filter, TFX_SAMPLE_F64, 480);
    test_filter_f64 (filter, x, 1, 9600);
    test_filter_set_chain (filter, test_chain_of_one (fir_of (n_taps, 5000)));
    test_filter_f64 (filter, x + 9600, 1, 200);
    test_filter_set_format (filter, TFX_SAMPLE_F64, 64);
    test_filter_f64 (filter, x + 9800, 1, 64);
    test_filter_reset (filter);
    memcpy (x, y, 4800 * sizeof *x);
    test_filter_f64 (filter, x, 1, 4800);
    test_filter_f64 (fresh, y, 1, 4800);
    worst = test_difference (x, y, 4800);
    tap_many_check (&many, worst < 1e-12, "%zu taps: %g", n_taps, worst);
    test_filter_free (&filter);
    test_filter_free (&fresh);
    free (x);
    free (y);
  }
  tap_many_end (&many);
}

/* Against a filter that is designed for each sample. */
static void
test_ideal (void)
{
  static const Curve curve = { 101, TFX_FIR_DIRECT, 0.01 };
  const TfxFirDesign low_pass = { TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 0, 101,
    0, 0 };
  double *x = test_alloc_f64 (N_CURVE), *y;
  double error = 0, energy = 0;

  test_noise_f64 (x, N_CURVE);
  y = test_copy_f64 (x, N_CURVE);
  tap_check (run_curve (&curve, y, 1000, false) >= 0, "it runs");
  for (uint64_t i = 23000; i < 26000; i++) {
    TfxFirDesign d = low_pass;
    double taps[101], want = 0;

    d.lower_hz = find_cutoff (&curve, i + 1);
    tfx_fir_design (&d, RATE, taps);
    for (size_t k = 0; k < 101; k++)
      want += taps[k] * x[i - k];
    error += (y[i] - want) * (y[i] - want);
    energy += want * want;
  }
  tap_check (10 * log10 (error / energy) < -60,
      "an octave in 10 ms: %.1f dB from the ideal",
      10 * log10 (error / energy));
  free (x);
  free (y);
}

static const TapTest tests[] = {
  { "fir-jumps", test_fir_jumps },
  { "fir-lengths", test_fir_lengths },
  { "own-kernels", test_own_kernels },
  { "delays", test_delays },
  { "curves", test_curves },
  { "format", test_format },
  { "format-numbers", test_format_numbers },
  { "reset", test_reset },
  { "waiting", test_waiting },
  { "format-taps", test_format_taps },
  { "format-reset", test_format_reset },
  { "ideal", test_ideal },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
