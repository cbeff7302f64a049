/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_filter_alloc.c: running filters and memory: no allocation while samples
 * flow and values move, and a filter keeps running when memory is short.
 */
#include "common.h"
#include "core/backend.h"
#include "core/state.h"
#include "heap.h"
#include "rows.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 100
#define CHANNELS 2

static uint64_t ids[8];

static TfxStage *
notch (uint64_t id, double hz)
{
  const double w = 2.0 * M_PI * hz / 48000, a = 0.05;
  const TfxSos sos = { 1 / (1 + a), -2 * cos (w) / (1 + a), 1 / (1 + a),
    -2 * cos (w) / (1 + a), (1 - a) / (1 + a) };

  return tfx_stage_new_sections (id, &sos, 1);
}

static TfxStage *
fir (uint64_t id, size_t n_taps)
{
  double taps[300];

  for (size_t i = 0; i < n_taps; i++)
    taps[i] = cos (0.1 * (double)i) / (double)(n_taps);
  return rows_fir (id, taps, n_taps, TFX_FIR_AUTO);
}

static TfxStage *
delay (uint64_t id, size_t frames)
{
  const TfxTap tap = { frames, 0.5, false, TFX_TAP_BOTH };

  return tfx_stage_new_delay (id, 0.5, &tap, 1);
}

static void
make_ids (void)
{
  for (int i = 0; i < 8; i++)
    ids[i] = tfx_stage_new_id ();
}

/* All kinds, in another structure for another way. */
static TfxChain *
chain_of (int way)
{
  TfxStage *inside[2] = { notch (ids[4], 500),
    delay (ids[5], way == 3 ? 300 : 99) };
  TfxStage *stages[6];
  size_t n = 0;

  stages[n++] = notch (ids[0], 1000);
  if (way != 1)
    stages[n++] = tfx_stage_new_gain (ids[1], 0.5);
  stages[n++] = fir (ids[2], way == 2 ? 150 : 300);
  stages[n++] =
      rows_sum (ids[3], rows_chain (&inside[0], 1), rows_chain (&inside[1], 1));
  if (way == 1)
    stages[n++] = notch (ids[6], 3000);
  return rows_chain (stages, n);
}

/* ---- none is asked for -------------------------------------------------------------- */

/* For the second point of the grid from here. */
static int
queue_next (TfxFilter *f, TfxStage *stage)
{
  const uint64_t now = tfx_filter_n_frames (f);

  return tfx_filter_queue_stage (f,
      now - now % TFX_GRID_FRAMES + 2 * TFX_GRID_FRAMES, stage);
}

static void
test_steady (void)
{
  TfxFilter *row[2];
  TfxChain *chain;
  TfxPlan *plan;
  TfxStage *moving = NULL, *level = NULL, *inside = NULL;
  double x[BLOCK * CHANNELS];
  bool is_good = true;
  HeapCounts counts;

  make_ids ();
  chain = chain_of (0);
  row[0] = rows_filter_of (chain, CHANNELS, TFX_SAMPLE_F64);
  row[1] = rows_filter_of (chain, CHANNELS, TFX_SAMPLE_F64);
  plan = rows_plan (row, 2);
  moving = notch (ids[0], 1000);
  inside = notch (ids[4], 2000);
  level = tfx_stage_new_gain (ids[1], 0.25);
  test_noise_f64 (x, BLOCK * CHANNELS);
  rows_run (plan, x, CHANNELS, BLOCK);

  heap_watch (0);
  for (int i = 0; i < 100; i++)
    rows_run (plan, x, CHANNELS, BLOCK);
  counts = heap_unwatch ();
  tap_check (counts.n_allocations == 0 && counts.n_frees == 0,
      "no allocation while samples flow");
  tap_check (counts.n_locks == 200, "and the locks are the filters': %u",
      counts.n_locks);

  tfx_filter_lock (row[0]);
  tfx_filter_reserve (row[0], ids[4], BLOCK, true);
  tfx_filter_unlock (row[0]);
  heap_watch (0);
  for (int i = 0; i < 100; i++) {
    TfxSos sos = { 1, -1.5 + 0.01 * i, 0.9, -1.5 + 0.01 * i, 0.8 };

    is_good = is_good && tfx_stage_reuse_sections (moving, &sos, 1);
    is_good = is_good && tfx_stage_reuse_sections (inside, &sos, 1);
    tfx_filter_lock (row[0]);
    is_good = is_good && tfx_filter_set_stage (row[0], moving) == 0;
    is_good = is_good && queue_next (row[0], inside) == 0;
    is_good = is_good && tfx_filter_set_stage (row[0], level) == 0;
    is_good = is_good && tfx_filter_is_changing (row[0]);
    tfx_filter_unlock (row[0]);
    rows_run (plan, x, CHANNELS, BLOCK);
  }
  counts = heap_unwatch ();
  tap_check (is_good && counts.n_allocations == 0 && counts.n_frees == 0,
      "nor while sections and a gain move: %u", counts.n_allocations);
  tfx_stage_unref (&moving);
  tfx_stage_unref (&inside);
  tfx_stage_unref (&level);
  rows_free (&plan);
  rows_clear (row, 2);
  tfx_chain_unref (&chain);
}

/* A curve that begins while samples flow makes its stage a separate step, without
 * allocation, so that the sections around it stay in their kernels. */
static void
test_curve_begins (void)
{
  TfxStage *stages[6], *moving;
  double x[BLOCK * CHANNELS];
  HeapCounts counts;
  TfxFilter *f;
  TfxPlan *plan;
  size_t n_shared = 0;
  bool is_good = true;

  make_ids ();
  for (int i = 0; i < 6; i++)
    stages[i] = notch (ids[i], 500 + 300 * i);
  plan = rows_open (stages, 6, CHANNELS, TFX_SAMPLE_F64, &f);
  moving = notch (ids[2], 1000);
  test_noise_f64 (x, BLOCK * CHANNELS);
  tfx_filter_lock (f);
  for (int i = 0; i < 6; i++)
    tfx_filter_reserve (f, ids[i], BLOCK, false);
  tfx_filter_unlock (f);
  rows_run (plan, x, CHANNELS, BLOCK);
  is_good = plan->top.n == 1;
  heap_watch (0);
  for (int i = 0; i < 10; i++) {
    TfxSos sos = { 1, -1.5 + 0.01 * i, 0.9, -1.5 + 0.01 * i, 0.8 };

    is_good = is_good && tfx_stage_reuse_sections (moving, &sos, 1);
    tfx_filter_lock (f);
    is_good = is_good && queue_next (f, moving) == 0;
    tfx_filter_unlock (f);
    rows_run (plan, x, CHANNELS, BLOCK);
  }
  counts = heap_unwatch ();
  for (size_t i = 0; i < plan->n_parts; i++)
    n_shared +=
        plan->parts[i].slot->is_automated && plan->parts[i].step->n_parts > 1;
  tap_check (is_good && plan->top.n > 1 && n_shared == 0,
      "a curve that begins while samples flow has its own step");
  tap_check (counts.n_allocations == 0 && counts.n_frees == 0,
      "which takes nothing from the heap: %u", counts.n_allocations);
  tfx_stage_unref (&moving);
  rows_free (&plan);
}

/* A stage that stays follows its curve while a chain waits for a cross-fade. */
static void
test_waiting (void)
{
  TfxChain *chains[3];
  TfxFilter *f;
  TfxPlan *plan;
  TfxStage *moving;
  double x[BLOCK * CHANNELS];
  bool is_good = true;
  HeapCounts counts;

  make_ids ();
  for (int way = 0; way < 3; way++)
    chains[way] = chain_of (way);
  f = rows_filter_of (chains[0], CHANNELS, TFX_SAMPLE_F64);
  plan = rows_plan (&f, 1);
  moving = notch (ids[0], 1000);
  test_noise_f64 (x, BLOCK * CHANNELS);
  rows_run (plan, x, CHANNELS, BLOCK);
  tfx_filter_lock (f);
  tfx_filter_reserve (f, ids[0], 40 * TFX_GRID_FRAMES, true);
  tfx_filter_set_chain (f, chains[1]);
  tfx_filter_unlock (f);
  rows_run (plan, x, CHANNELS, BLOCK);
  tfx_filter_lock (f);
  tfx_filter_set_chain (f, chains[2]);
  heap_watch (0);
  for (unsigned i = 1; i <= 40; i++) {
    TfxSos sos = { 1, -1.5 + 0.01 * i, 0.9, -1.5 + 0.01 * i, 0.8 };

    is_good =
        is_good && tfx_stage_reuse_sections (moving, &sos, 1) &&
        tfx_filter_queue_stage (f, (8 + i) * TFX_GRID_FRAMES, moving) == 0;
  }
  counts = heap_unwatch ();
  tfx_filter_unlock (f);
  tap_check (is_good && counts.n_allocations == 0,
      "no allocation for values while a chain waits: %u", counts.n_allocations);
  tfx_stage_unref (&moving);
  rows_free (&plan);
  rows_clear (&f, 1);
  for (int way = 0; way < 3; way++)
    tfx_chain_unref (&chains[way]);
}

static void
test_reuse (void)
{
  const TfxSos good = { 1, 0, 0, -0.5, 0.2 }, bad = { 1, 0, 0, -2, 1.5 };
  TfxStage *stage, *other, *level;

  make_ids ();
  stage = notch (ids[0], 100);
  level = tfx_stage_new_gain (ids[1], 1);
  tap_check (tfx_stage_reuse_sections (stage, &good, 1), "other values");
  tap_check (!tfx_stage_reuse_sections (stage, &bad, 1), "stable ones");
  tap_check (!tfx_stage_reuse_sections (stage, &good, 0), "as many");
  tap_check (!tfx_stage_reuse_sections (level, &good, 1), "of sections");
  other = tfx_stage_ref (stage);
  tap_check (!tfx_stage_reuse_sections (stage, &good, 1),
      "that nobody else has");
  tfx_stage_unref (&other);
  tap_check (tfx_stage_reuse_sections (stage, &good, 1), "any more");
  tfx_stage_unref (&stage);
  tfx_stage_unref (&level);
}

/* ---- short of it ---------------------------------------------------------------------- */

#define N_BLOCKS 60
#define N (BLOCK * N_BLOCKS * CHANNELS)

/* Runs blocks, sets another chain after ten of them with the fail-th
 * allocation failing, in the setting or in the run after it.  Whether it was
 * one that fails. */
static bool
run_short (int way, unsigned fail, bool in_run, double *x, int *ret)
{
  TfxChain *chain = chain_of (0), *other = chain_of (way);
  TfxFilter *f = rows_filter_of (chain, CHANNELS, TFX_SAMPLE_F64);
  TfxPlan *plan = rows_plan (&f, 1);
  HeapCounts counts = { 0 };

  /* The plan has a spare, too. */
  tfx_filter_reserve (f, ids[0], BLOCK, false);
  for (int i = 0; i < N_BLOCKS; i++) {
    if (i == 10) {
      tfx_filter_lock (f);
      if (!in_run)
        heap_watch (fail);
      *ret = tfx_filter_set_chain (f, other);
      if (!in_run)
        counts = heap_unwatch ();
      tfx_filter_unlock (f);
    }
    if (i == 10 && in_run)
      heap_watch (fail);
    if (rows_run (plan, x + i * BLOCK * CHANNELS, CHANNELS, BLOCK) < 0)
      *ret = -EIO;
    if (i == 10 && in_run)
      counts = heap_unwatch ();
  }
  rows_free (&plan);
  tfx_filter_unref (&f);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&other);
  return counts.n_allocations >= fail;
}

static void
test_short (void)
{
  static double noise[N], same[N], changed[N], x[N];
  TapMany many = tap_many ("a filter keeps running where memory is short");

  make_ids ();
  test_noise_f64 (noise, N);
  for (int way = 1; way <= 3; way++) {
    unsigned fail;
    int ret;

    memcpy (same, noise, sizeof same);
    run_short (0, 0, false, same, &ret);
    memcpy (changed, noise, sizeof changed);
    run_short (way, 0, false, changed, &ret);
    for (int in_run = 0; in_run < 2; in_run++) {
      for (fail = 1; fail < 1000; fail++) {
        const long n_before = heap_n_alive ();
        bool has_failed;

        memcpy (x, noise, sizeof x);
        has_failed = run_short (way, fail, in_run, x, &ret);
        tap_many_check (&many, heap_n_alive () == n_before,
            "way %d, %u: no leak", way, fail);
        if (!has_failed)
          break;
        if (!in_run)
          tap_many_check (&many,
              ret == -ENOMEM && test_distance (x, same, N) < 1e-9,
              "way %d, %u: %d, %g", way, fail, ret, test_distance (x, same, N));
        else
          tap_many_check (&many,
              ret == 0 &&
                  test_distance (x + N / 2, changed + N / 2, N / 2) < 1e-9,
              "way %d, %u in the run: %d, %g", way, fail, ret,
              test_distance (x + N / 2, changed + N / 2, N / 2));
      }
      tap_many_check (&many, fail > 3 && fail < 1000, "way %d: %u", way, fail);
    }
  }
  tap_many_end (&many);
}

/* Making a filter and a plan. */
static void
test_new (void)
{
  TapMany many = tap_many ("a filter and a plan are made, or not");
  TfxChain *chain;
  bool has_failed = true;
  unsigned fail;

  make_ids ();
  chain = chain_of (0);
  for (fail = 1; has_failed && fail < 1000; fail++) {
    const TfxFilterSpec spec = { 48000, CHANNELS, TFX_SAMPLE_F32, BLOCK };
    const long n_before = heap_n_alive ();
    TfxFilter *f = NULL;
    TfxPlan *plan = NULL;
    int ret;

    heap_watch (fail);
    ret = tfx_filter_new (chain, &spec, &f);
    if (ret == 0) {
      tfx_filter_lock (f);
      ret = tfx_plan_new (&f, 1, tfx_cpu_backend (), &plan);
      tfx_filter_unlock (f);
    }
    has_failed = heap_unwatch ().n_allocations >= fail;
    tap_many_check (&many, has_failed == (ret == -ENOMEM) && !plan == (ret < 0),
        "%u: %d", fail, ret);
    if (plan)
      rows_free (&plan);
    tfx_filter_unref (&f);
    tap_many_check (&many, heap_n_alive () == n_before, "%u: no leak", fail);
  }
  tap_many_check (&many, fail > 10, "%u", fail);
  tap_many_end (&many);
  tfx_chain_unref (&chain);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = {
    { "steady", test_steady },
    { "curve-begins", test_curve_begins },
    { "waiting", test_waiting },
    { "reuse", test_reuse },
    { "short", test_short },
    { "new", test_new },
    { NULL, NULL },
  };

  return tap_main (argc, argv, tests);
}
