/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_threads.c: filters, plans and ids that threads share.  Run it in a build with the thread
 * sanitizer as well: meson setup -Db_sanitize=thread.
 */
#include "common.h"
#include "core/state.h"
#include "rows.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 4
#define N_BLOCKS 200
#define BLOCK 256

/* Filters that all threads run, each with its own plans over some of
 * them. */
#define N_FILTERS 3

typedef struct Shared
{
  TfxFilter *row[N_FILTERS];
  TfxChain *chains[2];
} Shared;

typedef struct Worker
{
  Shared *shared;
  pthread_t thread;
  unsigned number;
  bool good;
  uint64_t ids[N_BLOCKS];
} Worker;

/* Every third block one of the filters gets another setting. */
static bool
set_another (Shared *shared, unsigned i)
{
  TfxFilter *f = shared->row[i % N_FILTERS];
  int ret = 0;

  tfx_filter_lock (f);
  if (i % 3 == 0)
    ret = tfx_filter_set_chain (f, shared->chains[i / 7 % 2]);
  if (i % 50 == 49)
    tfx_filter_reset (f);
  tfx_filter_unlock (f);
  return ret == 0;
}

/* All filters, or the first ones, or the last. */
static void *
work (void *data)
{
  Worker *w = data;
  const size_t first = w->number % 2, n = N_FILTERS - w->number / 2 % 2 - first;
  TfxPlan *plan = rows_plan (w->shared->row + first, n);

  w->good = true;
  for (unsigned i = 0; w->good && i < N_BLOCKS; i++) {
    double x[2 * BLOCK];

    w->ids[i] = tfx_stage_new_id ();
    for (unsigned k = 0; k < 2 * BLOCK; k++)
      x[k] = (double)((k * 7919 + i * 31) % 1000) / 500 - 1;
    w->good = set_another (w->shared, i + w->number) &&
              rows_run (plan, x, 2, BLOCK) == 0;
    for (unsigned k = 0; k < 2 * BLOCK; k++)
      w->good = w->good && x[k] > -1e6 && x[k] < 1e6;
    if (i % 40 == 39) {
      rows_free (&plan);
      plan = rows_plan (w->shared->row + first, n);
    }
  }
  rows_free (&plan);
  return NULL;
}

static int
compare_ids (const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static void
test_shared_filters (void)
{
  const TfxDesign designs[] = {
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 8, 2000, 0, 0, 0 },
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, 5, 100, 0, 0, 0 },
  };
  TfxSos low[TFX_DESIGN_MAX_SECTIONS], high[TFX_DESIGN_MAX_SECTIONS];
  size_t n_low = (size_t)tfx_design_sections (&designs[0], 48000, low);
  size_t n_high = (size_t)tfx_design_sections (&designs[1], 48000, high);
  const TestStage stages[] = { { 1, low, n_low, 0 }, { 2, high, n_high, 0 } };
  static Worker workers[N_THREADS];
  static uint64_t ids[N_THREADS * N_BLOCKS];
  Shared shared;
  bool good = true, unique = true;

  shared.chains[0] = test_chain_of (stages, 1);
  shared.chains[1] = test_chain_of (stages, 2);
  for (unsigned i = 0; i < N_FILTERS; i++)
    shared.row[i] = rows_filter_of (shared.chains[i % 2], 2, TFX_SAMPLE_F64);
  for (unsigned i = 0; i < N_THREADS; i++) {
    workers[i].shared = &shared;
    workers[i].number = i;
    if (pthread_create (&workers[i].thread, NULL, work, &workers[i]))
      good = false;
  }
  for (unsigned i = 0; good && i < N_THREADS; i++) {
    pthread_join (workers[i].thread, NULL);
    good = good && workers[i].good;
    memcpy (ids + i * N_BLOCKS, workers[i].ids, sizeof workers[i].ids);
  }
  qsort (ids, N_THREADS * N_BLOCKS, sizeof ids[0], compare_ids);
  for (unsigned i = 1; i < N_THREADS * N_BLOCKS; i++)
    unique = unique && ids[i] != ids[i - 1];
  tap_check (good, "%d threads run shared filters", N_THREADS);
  tap_check (unique, "ids of stages are unique among threads");
  rows_clear (shared.row, N_FILTERS);
  tfx_chain_unref (&shared.chains[0]);
  tfx_chain_unref (&shared.chains[1]);
}

/* One plan goes from thread to thread. */
static void *
run_one (void *data)
{
  TestFilter *row = data;
  double x[64] = { 1 };

  test_filter_f64 (row, x, 1, 64);
  return NULL;
}

static void
test_handed_over (void)
{
  const TfxSos s = { 0.5, 0, 0, -0.9, 0 };
  TestFilter *row = test_filter_new (&s, 1, 1, tfx_cpu_backend ());
  TfxStats stats;
  bool good = true;

  for (unsigned i = 0; i < 5; i++) {
    pthread_t thread;
    good = good && !pthread_create (&thread, NULL, run_one, row) &&
           !pthread_join (thread, NULL);
  }
  test_filter_get_stats (row, &stats);
  tap_check (good && stats.dispatches == 5,
      "a plan goes from thread to thread");
  test_filter_free (&row);
}

/* In any order of the list, all of them are locked, and once each. */
static void
test_locks (void)
{
  TapMany many = tap_many ("filters in any order are locked together");
  TfxFilter *row[4];

  for (int i = 0; i < 4; i++) {
    TfxStage *stage = tfx_stage_new_gain (tfx_stage_new_id (), 0.5);

    row[i] = rows_filter (&stage, 1, 1, TFX_SAMPLE_F64);
  }
  for (unsigned k = 0; k < 4 * 4 * 4 * 4; k++) {
    TfxFilter *order[4] = { row[k % 4], row[k / 4 % 4], row[k / 16 % 4],
      row[k / 64] };
    unsigned named = 0, n_locked = 0;

    for (int i = 0; i < 4; i++)
      named |= 1u << (k >> 2 * i & 3);
    if (named != 15)
      continue;
    tfx_filter_lock_all (order, 4);
    for (int i = 0; i < 4; i++) {
      if (pthread_mutex_trylock (&row[i]->lock) == 0)
        pthread_mutex_unlock (&row[i]->lock);
      else
        n_locked++;
    }
    tfx_filter_unlock_all (order, 4);
    tap_many_check (&many, n_locked == 4, "order %u: %u", k, n_locked);
  }
  tap_many_end (&many);
  rows_clear (row, 4);
}

static const TapTest tests[] = {
  { "shared-filters", test_shared_filters },
  { "handed-over", test_handed_over },
  { "locks", test_locks },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
