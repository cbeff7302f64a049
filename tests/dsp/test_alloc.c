/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_alloc.c: running allocates nothing and takes no lock, and memory that
 * runs short where it is taken is reported and does no harm.
 */
#include "common.h"
#include "heap.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static HeapCounts counts;

static size_t
design (TfxSos *sos, unsigned order)
{
  const TfxDesign d = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, order, 1000,
    0, 0, 0 };

  return (size_t)tfx_design_sections (&d, 48000, sos);
}

/* The watch sees the library's calls: or the test would prove nothing. */
static void
test_watch (void)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, 8);
  TfxExec *exec;

  heap_watch (0);
  exec = test_exec_new (sos, n_sos, 2, tfx_cpu_backend ());
  counts = heap_unwatch ();
  tap_check (exec && counts.n_allocations > 3,
      "making an executor is seen to allocate: %u times", counts.n_allocations);
  heap_watch (0);
  tfx_exec_free (&exec);
  counts = heap_unwatch ();
  tap_check (counts.n_frees > 3, "and freeing it to free: %u times",
      counts.n_frees);
}

static void
test_run (void)
{
  static const unsigned channel_counts[] = { 1, 2, 3, 8, 11, 300 };
  TapMany many = tap_many ("running neither allocates, frees nor locks");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  double *x = test_alloc (5000 * 300 * sizeof *x);

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 6 * 3; i++) {
      static const unsigned orders[] = { 1, 8, 64 };
      unsigned n = channel_counts[i / 3];
      size_t n_sos = design (sos, orders[i % 3]);
      TfxExec *exec = test_exec_new (sos, n_sos, n, backend);
      TfxStats stats;

      test_noise_f64 (x, 5000 * n);
      x[n] = NAN;
      heap_watch (0);
      for (unsigned piece = 1; piece < 5000; piece = piece * 3 + 1) {
        test_exec_f64 (exec, x, n, piece);
        tfx_exec_is_silent (exec);
        tfx_exec_get_stats (exec, &stats);
      }
      tfx_exec_reset (exec);
      counts = heap_unwatch ();
      tap_many_check (&many,
          counts.n_allocations == 0 && counts.n_frees == 0 &&
              counts.n_locks == 0,
          "%s, %u channels, %zu sections: %u allocated, %u freed, %u locked",
          test_kernels[k], n, n_sos, counts.n_allocations, counts.n_frees,
          counts.n_locks);
      tfx_exec_free (&exec);
    }
  }
  free (x);
  tap_many_end (&many);
}

/* Cross-fades end while samples flow, and the next one begins. */
static void
test_run_in_fade (void)
{
  TapMany many = tap_many ("nor when a cross-fade ends");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, 8);
  double x[2 * 500];

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);
    TfxExec *exec = NULL;
    unsigned bad = 0;

    for (unsigned i = 0; backend && i < 60; i++) {
      const TestStage stages[] = { { 1, sos, n_sos, 0 },
        { 2 + i % 3, sos, n_sos, 0 } };
      TfxPlan *plan = test_plan_of (stages, 1 + i % 2, 2, backend);

      if (!exec)
        tfx_exec_new (plan, &exec);
      else
        tfx_exec_set_plan (exec, plan, 1 + i * 17);
      tfx_plan_unref (&plan);
      test_noise_f64 (x, 2 * 500);
      heap_watch (0);
      test_exec_f64 (exec, x, 2, 1 + i * 8 % 500);
      counts = heap_unwatch ();
      bad += counts.n_allocations + counts.n_frees + counts.n_locks;
    }
    if (backend)
      tap_many_check (&many, bad == 0, "%s: %u calls", test_kernels[k], bad);
    tfx_exec_free (&exec);
  }
  tap_many_end (&many);
}

/* Every allocation fails once: an error, no leak (the sanitizer build sees
 * one), and a second try succeeds. */
static void
test_short_memory (void)
{
  TapMany many = tap_many ("short memory is an error and no more");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, 8);
  unsigned n_failures = 0;

  for (unsigned fail = 1; fail < 100; fail++) {
    TfxStage *stage = NULL;
    TfxChain *empty = NULL, *chain = NULL;
    TfxPlan *plan = NULL;
    TfxExec *exec = NULL;
    int plan_err = 0, exec_err = 0;

    heap_watch (fail);
    stage = tfx_stage_new_sections (1, sos, n_sos);
    empty = tfx_chain_new ();
    if (stage && empty)
      chain = tfx_chain_append (empty, stage);
    if (chain)
      plan_err = tfx_plan_compile (chain, 48000, 3, tfx_cpu_backend (), &plan);
    if (plan)
      exec_err = tfx_exec_new (plan, &exec);
    counts = heap_unwatch ();
    if (counts.n_allocations < fail) {
      tap_many_check (&many, exec != NULL, "the last try makes an executor");
      fail = 100;
    } else {
      n_failures++;
      tap_many_check (&many, !exec, "call %u: an executor in spite of it",
          fail);
      tap_many_check (&many,
          (!plan_err || (plan_err == -ENOMEM && !plan)) &&
              (!exec_err || exec_err == -ENOMEM),
          "call %u: errors %d and %d", fail, plan_err, exec_err);
    }
    tfx_exec_free (&exec);
    tfx_plan_unref (&plan);
    tfx_chain_unref (&chain);
    tfx_chain_unref (&empty);
    tfx_stage_unref (&stage);
  }
  tap_diag ("%u allocations made to fail", n_failures);
  tap_check (n_failures > 5, "several allocations are made");
  tap_many_end (&many);
}

/* A change of plan that fails leaves the old plan running. */
static void
test_short_memory_in_change (void)
{
  TapMany many = tap_many ("a change that fails leaves the old plan running");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS], other[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, 8);
  TfxDesign d = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 8, 3000, 0, 0, 0 };
  const TestStage before[] = { { 1, sos, n_sos, 0 } };
  const TestStage values[] = { { 1, other, n_sos, 0 } };
  const TestStage structure[] = { { 1, sos, n_sos, 0 },
    { 2, other, n_sos, 0 } };
  unsigned n_failures = 0;

  tfx_design_sections (&d, 48000, other);
  for (unsigned kind = 0; kind < 3; kind++) {
    for (unsigned fail = 1; fail < 100; fail++) {
      TfxPlan *old = test_plan_of (before, 1, 2, tfx_cpu_backend ());
      TfxPlan *new = kind == 0
                         ? test_plan_of (values, 1, 2, tfx_cpu_backend ())
                         : test_plan_of (structure, 2, 2, tfx_cpu_backend ());
      TfxExec *exec = NULL, *unchanged = NULL;
      double x[400], y[400];
      int err;

      test_noise_f64 (x, 400);
      memcpy (y, x, sizeof y);
      tfx_exec_new (old, &exec);
      tfx_exec_new (old, &unchanged);
      test_exec_f64 (exec, x, 2, 101);
      test_exec_f64 (unchanged, y, 2, 101);
      heap_watch (fail);
      err = tfx_exec_set_plan (exec, new, kind == 2 ? 300 : 0);
      counts = heap_unwatch ();
      test_exec_f64 (exec, x + 202, 2, 99);
      test_exec_f64 (unchanged, y + 202, 2, 99);
      if (counts.n_allocations < fail) {
        tap_many_check (&many, !err && memcmp (x, y, sizeof x) != 0,
            "kind %u: no change in the end", kind);
        fail = 100;
      } else {
        double apart = 0;

        for (unsigned i = 0; i < 400; i++)
          apart = fmax (apart, fabs (x[i] - y[i]));
        n_failures++;
        /* Reading the state out may round the unfinished group anew. */
        tap_many_check (&many, err == -ENOMEM && apart < 1e-12,
            "kind %u, call %u: error %d, %.3g apart", kind, fail, err, apart);
      }
      tfx_exec_free (&exec);
      tfx_exec_free (&unchanged);
      tfx_plan_unref (&old);
      tfx_plan_unref (&new);
    }
  }
  tap_check (n_failures > 5, "%u allocations made to fail", n_failures);
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "watch", test_watch },
  { "run", test_run },
  { "run-in-fade", test_run_in_fade },
  { "short-memory", test_short_memory },
  { "short-memory-in-change", test_short_memory_in_change },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
