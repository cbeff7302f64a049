/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_queue.c: stages that follow curves from one point of the grid to the next.
 */
#include "common.h"
#include "rows.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS 2
#define GRID TFX_GRID_FRAMES
/* The most frames of events ahead. */
#define MOST_FRAMES (64 * GRID)

/* ---- chains and curves --------------------------------------------------------------- */

enum
{
  EQ,
  LEVEL,
  ECHO,
  TAPS,
  SUM,
  INNER,
  INNER_ECHO,
  N_STAGES
};

static uint64_t ids[2][N_STAGES];

static TfxStage *
echo (uint64_t id, double mix)
{
  const TfxTap taps[2] = { { 77, mix, false, TFX_TAP_BOTH },
    { 500, mix * 0.5, true, TFX_TAP_BOTH } };

  return tfx_stage_new_delay (id, 1.0 - mix, taps, 2);
}

static TfxStage *
taps (uint64_t id, double cutoff)
{
  const TfxFirDesign design = { .mode = TFX_MODE_LOW_PASS,
    .window = TFX_WINDOW_HANN,
    .n_taps = 21,
    .lower_hz = cutoff };
  double values[21];

  tfx_fir_design (&design, 48000.0, values);
  return rows_fir (id, values, 21, TFX_FIR_DIRECT);
}

/* The setting of a stage at a frame.  Some are identities up to 3000. */
static TfxStage *
stage_at (int which, int stage, uint64_t frame)
{
  const uint64_t id = ids[which][stage];
  const double t = (double)frame / 48000.0 + 0.1 * stage + 0.03 * which;
  const double swing = sin (2.0 * M_PI * 5.0 * t);
  const bool is_early = frame < 3000 && which == 1;

  switch (stage) {
    case EQ:
      return rows_peaking (id, 1000.0 * pow (3.0, swing),
          is_early ? 0.0 : 6 * swing);
    case LEVEL:
      return tfx_stage_new_gain (id, is_early ? 1.0 : 0.7 + 0.3 * swing);
    case ECHO:
    case INNER_ECHO:
      return echo (id, 0.5 + 0.4 * swing);
    case TAPS:
      return taps (id, 8000.0 + 4000.0 * swing);
    default:
      return rows_peaking (id, 300.0 * pow (2.0, swing), -3.0);
  }
}

static TfxChain *
chain_at (int which, uint64_t frame)
{
  TfxStage *inner[2] = { stage_at (which, INNER, frame),
    stage_at (which, INNER_ECHO, frame) };
  TfxStage *stages[5];

  for (int i = 0; i < SUM; i++)
    stages[i] = stage_at (which, i, frame);
  stages[SUM] = rows_sum (ids[which][SUM], rows_chain (inner, 1),
      rows_chain (inner + 1, 1));
  return rows_chain (stages, 5);
}

static int
queue_point (TfxFilter *f, int which, uint64_t frame)
{
  int ret = 0;

  for (int i = 0; ret == 0 && i < N_STAGES; i++) {
    if (i != SUM)
      ret = rows_queue (f, frame, stage_at (which, i, frame));
  }
  return ret;
}

/* ---- runs --------------------------------------------------------------------------------- */

typedef struct Way
{
  size_t block; /* frames; 0: at random */
  bool is_fused;
  bool is_reserved;
} Way;

/* Two filters whose stages all move, over x in place. */
static int
run_row (const Way *way, double *x, size_t n_frames)
{
  TfxFilter *row[2];
  TfxPlan *plans[2] = { NULL, NULL };
  uint64_t next = GRID;
  int ret = 0;

  for (int k = 0; k < 2; k++) {
    TfxChain *chain = chain_at (k, 0);

    row[k] = rows_filter_of (chain, CHANNELS, TFX_SAMPLE_F64);
    tfx_chain_unref (&chain);
    for (int i = 0; way->is_reserved && i < N_STAGES; i++)
      tfx_filter_reserve (row[k], ids[k][i], MOST_FRAMES, false);
  }
  plans[0] = rows_plan (row, way->is_fused ? 2 : 1);
  if (!way->is_fused)
    plans[1] = rows_plan (row + 1, 1);
  for (size_t i = 0, n; i < n_frames && ret >= 0; i += n) {
    n = way->block ? way->block : 1 + tap_random_below (MOST_FRAMES);
    n = n > n_frames - i ? n_frames - i : n;
    for (; next < i + n + GRID; next += GRID) {
      for (int k = 0; k < 2 && ret >= 0; k++)
        ret = queue_point (row[k], k, next);
    }
    for (int k = 0; k < 2 && plans[k] && ret >= 0; k++)
      ret = rows_run (plans[k], x + i * CHANNELS, CHANNELS, n);
  }
  for (int k = 0; k < 2; k++) {
    if (plans[k])
      rows_free (&plans[k]);
  }
  rows_clear (row, 2);
  return ret;
}

static void
make_ids (void)
{
  for (int i = 0; i < 2 * N_STAGES; i++)
    ids[i / N_STAGES][i % N_STAGES] = tfx_stage_new_id ();
}

/* Runs the row in one way; the first sample that is not the wanted one, or
 * n_samples. */
static size_t
compare (const Way *way, const double *in, const double *want, double *x,
    size_t n_samples, int *ret)
{
  size_t at = 0;

  memcpy (x, in, n_samples * sizeof *in);
  *ret = run_row (way, x, n_samples / CHANNELS);
  while (at < n_samples && x[at] == want[at])
    at++;
  return at;
}

/* All kinds of stages, in sums too. */
static void
test_cuts (void)
{
  static const size_t blocks[] = { 1, 64, 33, 0, 0, 0 };
  const size_t n = 12000 * CHANNELS;
  double *in = test_alloc (n * sizeof *in);
  double *want[4];
  double *have = test_alloc (n * sizeof *have);
  TapMany many = tap_many ("curves give the same to the bit, however cut");

  make_ids ();
  test_noise_f64 (in, n);
  for (int k = 0; k < 4; k++) {
    const Way whole = { MOST_FRAMES, k % 2, k / 2 };
    int ret;

    want[k] = test_alloc (n * sizeof *in);
    compare (&whole, in, in, want[k], n, &ret);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
      const Way way = { blocks[i], k % 2, k / 2 };
      const size_t at = compare (&way, in, want[k], have, n, &ret);

      tap_many_check (&many, ret >= 0 && at == n,
          "blocks of %zu, %s%s: %d, frame %zu differs", way.block,
          way.is_fused ? "fused" : "apart", way.is_reserved ? ", reserved" : "",
          ret, at / CHANNELS);
    }
  }
  tap_many_end (&many);
  for (int k = 1; k < 4; k++)
    tap_check (test_distance (want[k], want[0], n) < 1e-13,
        "%s%s: the same to rounding, %g", k % 2 ? "fused" : "apart",
        k / 2 ? ", reserved" : "", test_distance (want[k], want[0], n));
  for (int k = 0; k < 4; k++)
    free (want[k]);
  free (in);
  free (have);
}

static int
queue_gain (TfxFilter *f, uint64_t id, uint64_t frame, double gain)
{
  return rows_queue (f, frame, tfx_stage_new_gain (id, gain));
}

/* A gain alone shows its curve. */
static void
test_values (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = tfx_stage_new_gain (id, 0.0);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  TapMany many = tap_many ("a gain follows its line");
  double x[1000];

  for (size_t i = 0; i < 1000; i++)
    x[i] = 1.0;
  for (uint64_t at = GRID; at < 1000 + GRID; at += GRID)
    tap_many_check (&many, queue_gain (f, id, at, (double)at) == 0, "%u",
        (unsigned)at);
  rows_run (plan, x, 1, 1000);
  for (size_t i = 0; i < 1000; i++)
    tap_many_check (&many, fabs (x[i] - (double)i) <= GRID, "frame %zu: %g", i,
        x[i]);
  tap_many_end (&many);
  rows_free (&plan);
}

/* A ramp of a set value gets the curve as its end. */
static void
test_by_hand (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = tfx_stage_new_gain (id, 0.0);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[960], step = 0.0;

  for (size_t i = 0; i < 960; i++)
    x[i] = 1.0;
  rows_run (plan, x, 1, 64);
  rows_set (f, tfx_stage_new_gain (id, 1.0));
  for (uint64_t at = 96; at < 900; at += GRID)
    tap_check (queue_gain (f, id, at, at < 400 ? 2.0 : 1.0) == 0, "%u",
        (unsigned)at);
  rows_run (plan, x + 64, 1, 896);
  tap_check (x[64 + 100] < 1.0, "the glide takes its time: %g", x[164]);
  tap_check (x[64 + 300] > 1.0, "to where the curve is: %g", x[364]);
  tap_check (x[900] == 1.0, "and on with it: %g", x[900]);
  for (size_t i = 64; i < 540; i++)
    step = fmax (step, fabs (x[i + 1] - x[i]));
  tap_check (step < 0.01, "without a jump: %g from frame to frame", step);
  rows_free (&plan);
}

/* Noise behind silence that is run, or passed, while values move. */
static void
run_behind_silence (size_t n_silent, bool is_passed, double *x, size_t n)
{
  const uint64_t id = tfx_stage_new_id (), gain_id = tfx_stage_new_id ();
  TfxStage *stages[2] = { rows_peaking (id, 1000.0, 6.0),
    tfx_stage_new_gain (gain_id, 1.5) };
  TfxFilter *f;
  TfxPlan *plan = rows_open (stages, 2, 1, TFX_SAMPLE_F64, &f);
  double *silence = test_alloc ((n_silent + 1) * sizeof *silence);

  for (uint64_t at = GRID; at < n_silent + GRID; at += GRID) {
    rows_queue (f, at, rows_peaking (id, 1000.0 + 10.0 * (double)at, 6.0));
    queue_gain (f, gain_id, at, 1.5 - 0.01 * (double)at / GRID);
  }
  if (is_passed) {
    tfx_filter_lock (f);
    tfx_plan_pass (plan, n_silent);
    tfx_filter_unlock (f);
  }
  memset (silence, 0, n_silent * sizeof *silence);
  if (!is_passed)
    rows_run (plan, silence, 1, n_silent);
  rows_run (plan, x, 1, n);
  free (silence);
  rows_free (&plan);
}

static void
test_passed (void)
{
  static const size_t lengths[] = { 3, 32, 160, 175, 1130 };
  const size_t n = 500;
  double *in = test_alloc (n * sizeof *in);
  double *run = test_alloc (n * sizeof *in),
         *passed = test_alloc (n * sizeof *in);

  test_noise_f64 (in, n);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    memcpy (run, in, n * sizeof *in);
    memcpy (passed, in, n * sizeof *in);
    run_behind_silence (lengths[i], false, run, n);
    run_behind_silence (lengths[i], true, passed, n);
    tap_check (test_distance (run, passed, n) < 1e-13,
        "%zu frames of silence are run or passed: %g", lengths[i],
        test_distance (run, passed, n));
  }
  free (in);
  free (run);
  free (passed);
}

/* A unit goes to its values only while it runs. */
static void
test_not_silent (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = echo (id, 0.2);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[2 * GRID] = { 0 };

  rows_run (plan, x, 1, GRID);
  tap_check (tfx_filter_is_silent (f), "a delay line at rest is silent");
  rows_queue (f, 2 * GRID, echo (id, 0.7));
  tap_check (!tfx_filter_is_silent (f), "not while values are ahead");
  rows_run (plan, x, 1, 2 * GRID);
  tap_check (tfx_filter_is_silent (f), "it is again where it has them");
  rows_free (&plan);
}

/* The value in force is that of the last point that was passed, also for a plan that
 * has run before. */
static void
test_hand_behind_passed (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = tfx_stage_new_gain (id, 1.5);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[10];

  for (uint64_t at = GRID; at <= 36 * GRID; at += GRID)
    queue_gain (f, id, at, 1.5 - 0.01 * (double)at / GRID);
  tfx_filter_lock (f);
  tfx_plan_pass (plan, 35 * GRID + 10);
  tfx_filter_unlock (f);
  rows_set (f, tfx_stage_new_gain (id, 2.0));
  for (int i = 0; i < 10; i++)
    x[i] = 1.0;
  rows_run (plan, x, 1, 10);
  tap_check (x[0] <= 1.15 + 1e-9 && x[0] >= 1.14 - 1e-9,
      "passed silence leads to a value: %g", x[0]);
  rows_free (&plan);
}

/* Points of a straight line are joined by straight lines. */
static void
test_line (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = tfx_stage_new_gain (id, 0.0);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[GRID * 10], worst = 0;
  int ret = 0;

  for (size_t i = 0; i < GRID * 10; i++)
    x[i] = 1.0;
  for (unsigned i = 1; i <= 10; i++)
    ret |= queue_gain (f, id, i * GRID, 0.1 * i);
  rows_run (plan, x, 1, GRID * 10);
  for (size_t i = 0; i < GRID * 10; i++)
    worst = fmax (worst, fabs (x[i] - (double)i / (GRID * 10)));
  tap_check (ret == 0 && worst < 1e-12, "a line is straight: %g", worst);
  rows_free (&plan);
}

/* Six sections in a row with a gain that follows a curve: they run in their kernels as
 * if it were not there. */
static void
test_beside (void)
{
  enum
  {
    N_CHANNELS = 8,
    N = GRID * 40
  };
  static double x[2][N * N_CHANNELS];
  const uint64_t id = tfx_stage_new_id ();
  TfxFilter *f[2];
  TfxPlan *plan;
  size_t n_off = 0;
  TfxSos sos[6];

  for (int i = 0; i < 6; i++)
    sos[i] = test_random_section (0.9);
  test_noise_f64 (x[0], N * N_CHANNELS);
  memcpy (x[1], x[0], sizeof x[1]);
  for (int way = 0; way < 2; way++) {
    TfxStage *stages[2] = { tfx_stage_new_sections (tfx_stage_new_id (), sos,
                                6),
      tfx_stage_new_gain (id, 0.5) };

    f[way] =
        rows_filter (stages, 1 + (unsigned)way, N_CHANNELS, TFX_SAMPLE_F64);
    if (way == 0)
      tfx_stage_unref (&stages[1]);
    for (unsigned k = 1; way == 1 && k <= N / GRID; k++)
      queue_gain (f[way], id, k * GRID, 0.5 + 0.25 * (k % 2));
    plan = rows_plan (&f[way], 1);
    rows_run (plan, x[way], N_CHANNELS, N);
    rows_free (&plan);
  }
  for (size_t i = 0; i < N; i++) {
    const double part = (double)(i % GRID) / GRID;
    const double gain = 0.5 + 0.25 * (i / GRID % 2 ? 1 - part : part);

    for (size_t c = 0; c < N_CHANNELS; c++)
      n_off += x[1][i * N_CHANNELS + c] != gain * x[0][i * N_CHANNELS + c];
  }
  tap_check (n_off == 0,
      "sections beside a curve run in their kernels: %zu samples differ",
      n_off);
  rows_clear (f, 2);
}

/* A curve moves slowly and then jumps: a soft sine far below hardly notices. */
static void
test_leap (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = rows_low_pass (id, 2, 4000);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[GRID * 200], bend = 0;

  for (size_t i = 0; i < GRID * 200; i++)
    x[i] = 0.5 * sin (2 * M_PI * 100 * (double)i / 48000);
  for (unsigned i = 0; i < 200; i++) {
    rows_queue (f, (i + 1) * GRID,
        rows_low_pass (id, 2, i < 100 ? 4000 + i : 20000 + i));
    rows_run (plan, x + i * GRID, 1, GRID);
  }
  for (size_t i = 100; i + 2 < GRID * 200; i++)
    bend = fmax (bend, fabs (x[i + 2] - 2 * x[i + 1] + x[i]));
  tap_check (bend < 3e-4, "a leap on a curve makes no click: %g", bend);
  rows_free (&plan);
}

/* A unit without effect, which plans omit, has a value ahead when the filter is reset. */
static void
test_reset (void)
{
  static const double gains[2] = { 1.0, 0.5 };
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = tfx_stage_new_mix (id, 1, &gains[0]);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[8] = { 1.0 };

  rows_run (plan, x, 1, 8);
  tap_check (rows_queue (f, 64, tfx_stage_new_mix (id, 1, &gains[1])) == 0,
      "a mix comes into effect");
  rows_reset (&f, 1);
  x[0] = 1.0;
  rows_run (plan, x, 1, 8);
  tap_check (x[0] == 0.5, "also when the filter is reset before: %g", x[0]);
  rows_free (&plan);
}

static void
test_refusals (void)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = tfx_stage_new_gain (id, 1.0);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double x[64] = { 1.0 };
  int ret = 0, n = 0;

  tap_check (queue_gain (f, id, 33, 2.0) == -EINVAL, "beside the grid");
  tap_check (queue_gain (f, id + 1000, 64, 2.0) == -ENOENT, "no such stage");
  tap_check (rows_queue (f, 64, rows_peaking (id, 1000, 3)) == -ENOENT,
      "of another structure");
  for (; ret == 0 && n < 10000; n++)
    ret = queue_gain (f, id, GRID * (uint64_t)(n + 1), n);
  tap_check (ret == -ENOBUFS && n == 4097, "room for 4096 values: %d", n - 1);
  tap_check (tfx_filter_is_changing (f), "it is changing");
  rows_reset (&f, 1);
  tap_check (!tfx_filter_is_changing (f), "not any more when reset");
  rows_run (plan, x, 1, 64);
  tap_check (x[0] == 4095.0, "reset: the last value is in force: %g", x[0]);
  tap_check (queue_gain (f, id, 64, 2.0) == -EINVAL, "what has run");
  tap_check (queue_gain (f, id, 96, 2.0) == 0, "is behind");
  tap_check (tfx_filter_n_frames (f) == 64, "frames are counted");
  rows_free (&plan);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = {
    { "cuts", test_cuts },
    { "values", test_values },
    { "by-hand", test_by_hand },
    { "passed", test_passed },
    { "not-silent", test_not_silent },
    { "hand-behind-passed", test_hand_behind_passed },
    { "line", test_line },
    { "beside", test_beside },
    { "leap", test_leap },
    { "reset", test_reset },
    { "refusals", test_refusals },
    { NULL, NULL },
  };

  return tap_main (argc, argv, tests);
}
