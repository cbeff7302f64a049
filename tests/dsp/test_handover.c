/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_handover.c: states that move from plan to plan and from executor to
 * executor, past gains, and in and out of FIRs that have become one.
 */
#include "common.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 6000
#define N_CHANNELS 2
/* Doubles from end to end. */
#define CLOSE_DB -270.0

/* Stages that outlive the chains that they are put into. */
#define MAX_STAGES 6
typedef struct Row
{
  TfxStage *stages[MAX_STAGES];
  size_t n;
} Row;

static void
row_clear (Row *row)
{
  for (size_t i = 0; i < row->n; i++)
    tfx_stage_unref (&row->stages[i]);
  row->n = 0;
}

static void
add_gain (Row *row, double gain)
{
  row->stages[row->n++] = tfx_stage_new_gain (tfx_stage_new_id (), gain);
}

static void
add_sections (Row *row)
{
  TfxSos sos[2] = { test_random_section (0.9), test_random_section (0.9) };

  row->stages[row->n++] = tfx_stage_new_sections (tfx_stage_new_id (), sos, 2);
}

static void
add_delay (Row *row, size_t delay)
{
  TfxTap tap = { .delay = delay, .gain = 0.7 };

  row->stages[row->n++] =
      tfx_stage_new_delay (tfx_stage_new_id (), 0.5, &tap, 1);
}

/* Random taps; one kernel for all channels, or one for each. */
static void
add_fir (Row *row, size_t n_taps, size_t delay, unsigned n_kernels)
{
  double *taps = test_alloc (2 * n_taps * sizeof *taps);
  const double *kernels[2] = { taps, taps + n_taps };

  test_noise_f64 (taps, 2 * n_taps);
  row->stages[row->n++] = tfx_stage_new_fir (tfx_stage_new_id (), kernels,
      n_kernels, n_taps, delay, TFX_FIR_DIRECT);
  free (taps);
}

/* Stages first to last - 1 as a plan. */
static TfxPlan *
compile (const Row *row, size_t first, size_t last, bool keep, bool long_past)
{
  const TfxPlanSpec spec = { .rate_hz = RATE,
    .n_channels = N_CHANNELS,
    .sample = TFX_SAMPLE_F64,
    .backend = tfx_cpu_backend (),
    .keep_stages = keep,
    .long_past = long_past,
    .in_stream = !keep };
  TfxChain *chain = tfx_chain_new ();
  TfxPlan *plan;

  for (size_t i = first; i < last; i++) {
    TfxChain *longer = tfx_chain_append (chain, row->stages[i]);

    tfx_chain_unref (&chain);
    chain = longer;
  }
  if (tfx_plan_compile_for (chain, &spec, &plan) < 0)
    abort ();
  tfx_chain_unref (&chain);
  return plan;
}

static TfxExec *
new_exec (const Row *row, size_t first, size_t last)
{
  TfxPlan *plan = compile (row, first, last, true, false);
  TfxExec *exec;

  if (tfx_exec_new (plan, &exec) < 0)
    abort ();
  tfx_plan_unref (&plan);
  return exec;
}

static bool
set_plan (TfxExec *exec, TfxPlan *plan)
{
  int ret = tfx_exec_set_plan (exec, plan, 0);

  tfx_plan_unref (&plan);
  return ret == 0;
}

static double
distance_db (const double *a, const double *b, size_t n)
{
  double error = 0.0, power = 0.0;

  for (size_t i = 0; i < n; i++) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    power += b[i] * b[i];
  }
  return error == 0.0 ? -999.0 : 10.0 * log10 (error / power);
}

/* What a row puts out that nothing happens to. */
static double *
run_alone (const Row *row, const double *in)
{
  const size_t n = N_FRAMES * N_CHANNELS;
  TfxExec *exec = new_exec (row, 0, row->n);
  double *out = test_alloc (n * sizeof *out);

  memcpy (out, in, n * sizeof *out);
  test_exec_f64 (exec, out, N_CHANNELS, N_FRAMES);
  tfx_exec_free (&exec);
  return out;
}

/* ---- from executor to executor ---------------------------------------------------- */

/* The row as two executors, the second from stage `at` on, which become one and
 * are parted again, block by block. */
static double
join_and_part (const Row *row, size_t at, const double *in)
{
  const size_t n = 250;
  double *expected = run_alone (row, in), *out, db;
  TfxExec *first = new_exec (row, 0, at), *second = new_exec (row, at, row->n);
  bool is_joined = false, ok = true;

  out = test_alloc (N_FRAMES * N_CHANNELS * sizeof *out);
  memcpy (out, in, N_FRAMES * N_CHANNELS * sizeof *out);
  for (size_t i = 0; i < N_FRAMES; i += n) {
    double *block = out + i * N_CHANNELS;

    if (is_joined && tap_random_below (3) == 0) {
      for (size_t k = 0; k < at; k++)
        ok = ok && tfx_exec_adopt_stage (first, second,
                       tfx_stage_id (row->stages[k])) == 0;
      ok = ok && set_plan (second, compile (row, at, row->n, true, false));
      is_joined = false;
    } else if (!is_joined && tap_random_below (3) == 0) {
      ok = ok && set_plan (second, compile (row, 0, row->n, true, false));
      for (size_t k = 0; k < at; k++)
        ok = ok && tfx_exec_adopt_stage (second, first,
                       tfx_stage_id (row->stages[k])) == 0;
      is_joined = true;
    }
    if (!is_joined)
      ok = ok && test_exec_f64 (first, block, N_CHANNELS, n) == 0;
    ok = ok && test_exec_f64 (second, block, N_CHANNELS, n) == 0;
  }
  db = ok ? distance_db (out, expected, N_FRAMES * N_CHANNELS) : NAN;
  tfx_exec_free (&first);
  tfx_exec_free (&second);
  free (expected);
  free (out);
  return db;
}

static void
test_gains (void)
{
  double *in = test_alloc (N_FRAMES * N_CHANNELS * sizeof *in);
  TapMany many =
      tap_many ("a gain that moves past a stage takes its past along");
  Row row = { { NULL }, 0 };

  test_noise_f64 (in, N_FRAMES * N_CHANNELS);
  for (unsigned i = 0; i < 12; i++) {
    double db;

    /* The gain of the first executor is applied behind what the second one
     * remembers. */
    add_gain (&row, 0.3);
    if (i & 1)
      add_sections (&row);
    add_gain (&row, 2.5);
    if (i % 3 == 0)
      add_fir (&row, 40, 0, 1 + i % 2);
    else if (i % 3 == 1)
      add_delay (&row, 700);
    else
      add_sections (&row);
    add_gain (&row, 1.5);
    db = join_and_part (&row, i & 1 ? 3 : 2, in);
    tap_many_check (&many, db < CLOSE_DB, "case %u: %.1f dB", i, db);
    row_clear (&row);
  }
  tap_many_end (&many);
  free (in);
}

/* ---- FIRs as one --------------------------------------------------------------------- */

static double
merge_and_keep (const Row *row, const double *in)
{
  const size_t n = 250;
  double *expected = run_alone (row, in), *out, db;
  TfxExec *exec = new_exec (row, 0, row->n);
  TfxPlan *plan = compile (row, 0, row->n, true, false);
  size_t past = tfx_plan_past (plan), n_run = 0;
  enum
  {
    APART,
    LONG,
    ONE
  } form = APART;
  bool ok = past > 0;

  out = test_alloc (N_FRAMES * N_CHANNELS * sizeof *out);
  memcpy (out, in, N_FRAMES * N_CHANNELS * sizeof *out);
  for (size_t i = 0; i < N_FRAMES; i += n) {
    if (form == APART && tap_random_below (2) == 0) {
      form = LONG;
      n_run = 0;
      ok = ok && set_plan (exec, compile (row, 0, row->n, true, true));
    } else if (form == LONG && n_run >= past && tfx_exec_skip (exec) == 0) {
      form = ONE;
      ok = ok && set_plan (exec, compile (row, 0, row->n, false, false));
    } else if (form != APART && tap_random_below (4) == 0) {
      form = APART;
      ok = ok && set_plan (exec, tfx_plan_ref (plan));
    }
    ok = ok && test_exec_f64 (exec, out + i * N_CHANNELS, N_CHANNELS, n) == 0;
    n_run += n;
  }
  db = ok ? distance_db (out, expected, N_FRAMES * N_CHANNELS) : NAN;
  tfx_plan_unref (&plan);
  tfx_exec_free (&exec);
  free (expected);
  free (out);
  return db;
}

static void
test_as_one (void)
{
  double *in = test_alloc (N_FRAMES * N_CHANNELS * sizeof *in);
  TapMany many = tap_many ("FIRs become one and are parted without a trace");
  Row row = { { NULL }, 0 };

  test_noise_f64 (in, N_FRAMES * N_CHANNELS);
  for (unsigned i = 0; i < 24; i++) {
    size_t delay = i & 1 ? 20 : 0;
    double db;

    if (i & 2)
      add_sections (&row);
    add_gain (&row, 0.5);
    add_fir (&row, 60, delay, 1);
    add_gain (&row, 1.7);
    add_fir (&row, 101, delay / 2, 1 + (i >> 2) % 2);
    add_fir (&row, 30, 0, 1);
    if (i & 4)
      tfx_stage_unref (&row.stages[--row.n]);
    db = merge_and_keep (&row, in);
    tap_many_check (&many, db < CLOSE_DB, "case %u: %.1f dB", i, db);
    row_clear (&row);
  }
  tap_many_end (&many);
  free (in);
}

static void
test_past (void)
{
  Row row = { { NULL }, 0 };
  TfxPlan *plan;

  add_fir (&row, 60, 10, 1);
  add_sections (&row);
  add_fir (&row, 50, 0, 1);
  plan = compile (&row, 0, 3, true, false);
  tap_check (tfx_plan_past (plan) == 0, "FIRs apart do not become one");
  tfx_plan_unref (&plan);
  row_clear (&row);

  add_fir (&row, 60, 10, 1);
  add_fir (&row, 50, 5, 1);
  plan = compile (&row, 0, 2, true, false);
  tap_check (tfx_plan_past (plan) == 109, "neighbours do");
  tfx_plan_unref (&plan);
  plan = compile (&row, 0, 2, false, false);
  tap_check (tfx_plan_past (plan) == 0 && tfx_plan_n_states (plan) == 1,
      "and are one then");
  tap_check (tfx_plan_delay (plan) == 15, "with the delays of both");
  tfx_plan_unref (&plan);
  row_clear (&row);

  add_fir (&row, 6000, 0, 1);
  add_fir (&row, 6000, 0, 1);
  plan = compile (&row, 0, 2, true, false);
  tap_check (tfx_plan_past (plan) == 0,
      "not those that would take long to put together");
  tfx_plan_unref (&plan);
  row_clear (&row);
}

/* ---- frames that are held --------------------------------------------------------------- */

static void
test_held (void)
{
  double block[10 * N_CHANNELS] = { 0 };
  Row row = { { NULL }, 0 };
  TfxExec *exec;
  uint64_t one, two;

  add_fir (&row, 40, 8, 1);
  add_sections (&row);
  add_fir (&row, 40, 15, 1);
  exec = new_exec (&row, 0, 3);
  one = tfx_stage_id (row.stages[0]);
  two = tfx_stage_id (row.stages[2]);
  tap_check (tfx_exec_held (exec, one) == 0 && tfx_exec_held (exec, two) == 0,
      "nothing is held at rest");
  test_exec_f64 (exec, block, N_CHANNELS, 10);
  tap_check (tfx_exec_held (exec, one) == 8 && tfx_exec_held (exec, two) == 2,
      "the first holds its delay, the second what came behind it");
  tap_check (tfx_exec_held (exec, tfx_stage_id (row.stages[1])) == 0 &&
                 tfx_exec_held (exec, tfx_stage_new_id ()) == 0,
      "others hold nothing");
  test_exec_f64 (exec, block, N_CHANNELS, 10);
  test_exec_f64 (exec, block, N_CHANNELS, 10);
  tap_check (tfx_exec_held (exec, two) == 15 && tfx_exec_skip (exec) == 0,
      "until both are full");
  tfx_exec_free (&exec);
  row_clear (&row);
}

static const TapTest tests[] = {
  { "gains", test_gains },
  { "as-one", test_as_one },
  { "past", test_past },
  { "held", test_held },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
