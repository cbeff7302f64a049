/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_threads.c: what threads may share.  Run it in a build with the thread
 * sanitizer as well: meson setup -Db_sanitize=thread.
 */
#include "common.h"
#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 4
#define N_BLOCKS 200
#define BLOCK 256

/* Two plans that all threads run, each with an executor of its own. */
typedef struct Shared
{
  TfxPlan *plans[2];
  TfxStage *stage;
  TfxChain *chain;
} Shared;

typedef struct Worker
{
  Shared *shared;
  pthread_t thread;
  bool good;
  double out[BLOCK * 2];
  uint64_t ids[N_BLOCKS];
} Worker;

static bool
compile_and_drop (Shared *shared)
{
  TfxChain *longer = tfx_chain_append (shared->chain, shared->stage);
  TfxStage *stage = tfx_stage_ref (shared->stage);
  TfxPlan *plan = NULL;
  bool good =
      longer && !tfx_plan_compile (longer, 48000, 2, tfx_cpu_backend (), &plan);

  tfx_plan_unref (&plan);
  tfx_stage_unref (&stage);
  tfx_chain_unref (&longer);
  return good;
}

static void *
work (void *data)
{
  Worker *w = data;
  TfxExec *exec = NULL;

  w->good = !tfx_exec_new (w->shared->plans[0], &exec);
  for (unsigned i = 0; w->good && i < N_BLOCKS; i++) {
    TfxPlan *plan = tfx_plan_ref (w->shared->plans[i / 7 % 2]);

    w->ids[i] = tfx_stage_new_id ();
    w->good = !tfx_exec_set_plan (exec, plan, i % 3 * 100) &&
              compile_and_drop (w->shared);
    tfx_plan_unref (&plan);
    for (unsigned k = 0; k < 2 * BLOCK; k++)
      w->out[k] = (double)((k * 7919 + i * 31) % 1000) / 500 - 1;
    w->good = w->good && !test_exec_f64 (exec, w->out, 2, BLOCK);
  }
  tfx_exec_free (&exec);
  return NULL;
}

static int
compare_ids (const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

  return (x > y) - (x < y);
}

static void
test_shared_plans (void)
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
  Shared shared = { .chain = tfx_chain_new () };
  bool good = true, same = true, unique = true;

  shared.plans[0] = test_plan_of (stages, 1, 2, tfx_cpu_backend ());
  shared.plans[1] = test_plan_of (stages, 2, 2, tfx_cpu_backend ());
  shared.stage = tfx_stage_new_sections (3, low, n_low);
  for (unsigned i = 0; i < N_THREADS; i++) {
    workers[i].shared = &shared;
    if (pthread_create (&workers[i].thread, NULL, work, &workers[i]))
      good = false;
  }
  for (unsigned i = 0; good && i < N_THREADS; i++) {
    pthread_join (workers[i].thread, NULL);
    good = good && workers[i].good;
    same =
        same && !memcmp (workers[i].out, workers[0].out, sizeof workers[i].out);
    memcpy (ids + i * N_BLOCKS, workers[i].ids, sizeof workers[i].ids);
  }
  qsort (ids, N_THREADS * N_BLOCKS, sizeof ids[0], compare_ids);
  for (unsigned i = 1; i < N_THREADS * N_BLOCKS; i++)
    unique = unique && ids[i] != ids[i - 1];
  tap_check (good, "%d threads run shared plans", N_THREADS);
  tap_check (same, "all get the same bits");
  tap_check (unique, "ids of stages are unique among threads");
  tfx_plan_unref (&shared.plans[0]);
  tfx_plan_unref (&shared.plans[1]);
  tfx_stage_unref (&shared.stage);
  tfx_chain_unref (&shared.chain);
}

/* One executor goes from thread to thread. */
static void *
run_one (void *data)
{
  TfxExec *exec = data;
  double x[64] = { 1 };

  test_exec_f64 (exec, x, 1, 64);
  return NULL;
}

static void
test_handed_over (void)
{
  const TfxSos s = { 0.5, 0, 0, -0.9, 0 };
  TfxExec *exec = test_exec_new (&s, 1, 1, tfx_cpu_backend ());
  TfxStats stats;
  bool good = true;

  for (unsigned i = 0; i < 5; i++) {
    pthread_t thread;
    good = good && !pthread_create (&thread, NULL, run_one, exec) &&
           !pthread_join (thread, NULL);
  }
  tfx_exec_get_stats (exec, &stats);
  tap_check (good && stats.dispatches == 5,
      "an executor goes from thread to thread");
  tfx_exec_free (&exec);
}

static const TapTest tests[] = {
  { "shared-plans", test_shared_plans },
  { "handed-over", test_handed_over },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
