/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_alloc.c: the FIR engine allocates nothing while samples flow, and
 * memory that runs short where it is taken is reported and does no harm.
 */
#include "common.h"
#include "fircase.h"
#include "heap.h"
#include "rows.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static HeapCounts counts;

static const struct
{
  size_t n_taps, block_frames;
  TfxFirMethod method;
} specs[] = {
  { 100, 0, TFX_FIR_DIRECT },
  { 500, 1024, TFX_FIR_FFT },
  { 30000, 128, TFX_FIR_FFT },
};

#define N_SPECS (sizeof specs / sizeof *specs)

static const int matrix[] = { 0, 1, 1, -1 };

#define N_FRAMES 30000

/* Runs, with changes of taps that nobody else holds; only the run is
 * watched. */
static void
check_run (TapMany *many, const TfxConvolverSpec *spec, TfxConvolver *convolver)
{
  double *samples = test_alloc (2 * N_FRAMES * sizeof *samples);
  HeapCounts sum = { 0 };

  test_noise_f64 (samples, 2 * N_FRAMES);
  for (size_t i = 0, at = 0, n; at < N_FRAMES; i++, at += n) {
    n = fir_split_random (N_FRAMES - at);
    TfxBlock block =
        tfx_block_interleaved (samples + 2 * at, TFX_SAMPLE_F64, 2, n);

    heap_watch (0);
    tfx_convolver_run (convolver, &block, &block);
    counts = heap_unwatch ();
    sum.n_allocations += counts.n_allocations;
    sum.n_frees += counts.n_frees;
    sum.n_locks += counts.n_locks;
    if (i % 5 == 0) {
      TfxConvolverTaps *taps = fir_taps_new (spec);
      tfx_convolver_set_taps (convolver, taps, i % 10 ? 0 : 700,
          TFX_WEIGHT_SMOOTH);
      tfx_convolver_taps_unref (&taps);
    }
  }
  tap_many_check (many,
      sum.n_allocations == 0 && sum.n_frees == 0 && sum.n_locks == 0,
      "%zu taps: %u allocated, %u freed, %u locked", spec->n_taps,
      sum.n_allocations, sum.n_frees, sum.n_locks);
  free (samples);
}

/* Other taps, history and rest want no memory. */
static void
check_state (TapMany *many, const TfxConvolverSpec *spec,
    TfxConvolver *convolver)
{
  double *history = test_alloc (2 * N_FRAMES * sizeof *history);
  TfxConvolverTaps *taps = fir_taps_new (spec);

  heap_watch (0);
  tfx_convolver_get_history (convolver, history);
  tfx_convolver_set_history (convolver, history);
  tfx_convolver_is_silent (convolver);
  tfx_convolver_set_taps (convolver, taps, 10, TFX_WEIGHT_SMOOTH);
  tfx_convolver_reset (convolver);
  counts = heap_unwatch ();
  tap_many_check (many, counts.n_allocations == 0 && counts.n_locks == 0,
      "%zu taps: %u allocated, %u locked", spec->n_taps, counts.n_allocations,
      counts.n_locks);
  tfx_convolver_taps_unref (&taps);
  free (history);
}

/* The watch sees the engine's calls, and every one of them may fail. */
static void
check_short (TapMany *many, const TfxConvolverSpec *spec,
    TfxConvolver *convolver)
{
  unsigned fail = 1;
  int result = -ENOMEM;

  for (; result && fail < 1000; fail++) {
    TfxConvolverTaps *taps;

    convolver = NULL;
    heap_watch (fail);
    result = tfx_convolver_taps_new (spec, &taps);
    if (!result)
      result = tfx_convolver_new (taps, &convolver);
    counts = heap_unwatch ();
    tfx_convolver_taps_unref (&taps);
    tap_many_check (many,
        (result == 0) == (convolver != NULL) &&
            (result == 0 || result == -ENOMEM),
        "%zu taps, allocation %u: %d", spec->n_taps, fail, result);
    tfx_convolver_free (&convolver);
  }
  tap_many_check (many, fail >= 5, "%zu taps: only %u allocations",
      spec->n_taps, fail - 2);
}

/* A check for each spec, with a convolver that has not run. */
static void
test_specs (void)
{
  static const struct
  {
    const char *name;
    void (*check) (TapMany *, const TfxConvolverSpec *, TfxConvolver *);
    TfxSample type;
  } checks[] = {
    { "running neither allocates, frees nor locks", check_run, TFX_SAMPLE_F64 },
    { "nor do the other calls allocate", check_state, TFX_SAMPLE_F64 },
    { "memory that runs short is reported", check_short, TFX_SAMPLE_F32 },
  };

  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    TapMany many = tap_many (checks[i].name);

    for (size_t k = 0; k < 2 * N_SPECS; k++) {
      const size_t s = k / 2;
      FirCase *c = fir_case_new_matrix (FIR_NOISE, specs[s].n_taps,
          k % 2 ? 2 : 1, 2, k % 2 ? matrix : NULL, 1, 1);
      const TfxConvolverSpec spec = fir_case_spec (c, checks[i].type,
          specs[s].method, specs[s].block_frames);
      TfxConvolver *convolver = fir_convolver_new (&spec);

      checks[i].check (&many, &spec, convolver);
      tfx_convolver_free (&convolver);
      fir_case_free (&c);
    }
    tap_many_end (&many);
  }
}

/* The header's promise, in values, for one channel. */
static void
check_memory (TapMany *many, const TfxConvolverSpec *spec)
{
  const size_t n = spec->n_taps, hint = spec->block_frames;
  const size_t block = hint < 1024 ? 1024 : hint > 16384 ? 16384 : hint;
  const size_t value = spec->precision == TFX_SAMPLE_F64 ? 8 : 4;
  TfxConvolverFiller *filler;
  TfxConvolverTaps *taps;
  TfxConvolver *convolver;
  size_t ready, state;

  heap_watch (0);
  taps = fir_taps_new (spec);
  ready = heap_unwatch ().n_bytes;
  /* without the filler, which is freed */
  heap_watch (0);
  tap_many_check (many, tfx_convolver_filler_new (taps, &filler) == 0,
      "a filler");
  ready = (ready - heap_unwatch ().n_bytes) / value;
  heap_watch (0);
  convolver = fir_convolver_of (taps);
  state = heap_unwatch ().n_bytes / value;
  tap_many_check (many,
      ready <= 4 * n + 4 * block && state <= 8 * n + 16 * block + 16384,
      "%zu taps, blocks of %zu, %s: %zu values of taps, %zu of state", n, hint,
      tfx_convolver_taps_text (taps), ready, state);
  tfx_convolver_filler_free (&filler);
  tfx_convolver_taps_unref (&taps);
  tfx_convolver_free (&convolver);
}

static void
test_memory (void)
{
  static const size_t hints[] = { 0, 64, 480, 4096, 65536 };
  TapMany many = tap_many ("memory is linear in the taps");

  for (size_t n = 1; n < 1000000; n = n * 3 + 1) {
    FirCase *c = fir_case_new (FIR_DECAY, n, 1, 1, 1, 1);

    for (unsigned i = 0; i < 30; i++) {
      const TfxConvolverSpec spec = fir_case_spec (c, (TfxSample)(i / 5 % 2),
          (TfxFirMethod)(i / 10), hints[i % 5]);

      check_memory (&many, &spec);
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* ---- a change that was prepared ---------------------------------------------- */

#define LONG_TAPS 100000
#define LONG_BLOCK 256

static TfxChain *
long_chain (bool is_prepared, const TfxFilterSpec *spec)
{
  double *taps = test_alloc (LONG_TAPS * sizeof *taps);
  const double *kernels[1] = { taps };
  TfxStage *stage;

  for (size_t i = 0; i < LONG_TAPS; i++)
    taps[i] = tap_random_uniform (-1.0, 1.0);
  stage = tfx_stage_new_fir (1, kernels, 1, LONG_TAPS, TFX_FIR_AUTO);
  if (is_prepared)
    tfx_stage_prepare (stage, spec);
  free (taps);
  return rows_chain (&stage, 1);
}

/* The call that sets a prepared stage allocates little, and those that run until it takes
 * over nothing. */
static void
test_prepared (void)
{
  const TfxFilterSpec spec = { 48000.0, 1, TFX_SAMPLE_F64, LONG_BLOCK };
  TfxChain *chains[2] = { long_chain (false, &spec), NULL };
  double *samples = test_alloc (LONG_BLOCK * sizeof *samples);
  unsigned n_calls = 0, n_blocks = 0;
  TestFilter *row = test_filter_for (chains[0], &spec, tfx_cpu_backend ());

  test_noise_f64 (samples, LONG_BLOCK);
  heap_watch (0);
  chains[1] = long_chain (true, &spec);
  counts = heap_unwatch ();
  tap_check (counts.n_bytes > 30 * LONG_TAPS, "preparing asks for %zu bytes",
      counts.n_bytes);
  for (int i = 0; i < 10; i++)
    test_filter_f64 (row, samples, 1, LONG_BLOCK);

  heap_watch (0);
  test_filter_set_chain (row, tfx_chain_ref (chains[1]));
  counts = heap_unwatch ();
  tap_check (counts.n_bytes < 20000, "to set it asks for %zu bytes",
      counts.n_bytes);
  for (; n_blocks < 1000 && test_filter_is_changing (row); n_blocks++) {
    heap_watch (0);
    test_filter_f64 (row, samples, 1, LONG_BLOCK);
    counts = heap_unwatch ();
    n_calls += counts.n_allocations + counts.n_frees > 0;
  }
  /* Those where it begins to be faded in, and where it has been. */
  tap_check (n_calls <= 2 && n_blocks > 20 && n_blocks < 1000,
      "%u calls of the heap in the %u blocks until it has taken over", n_calls,
      n_blocks);
  test_filter_free (&row);
  tfx_chain_unref (&chains[0]);
  tfx_chain_unref (&chains[1]);
  free (samples);
}

/* ---- running filters that change -------------------------------------------------- */

static const TfxFilterSpec running_spec = { 48000.0, 2, TFX_SAMPLE_F64,
  LONG_BLOCK };

/* A filter that has run a block. */
static TfxPlan *
running_plan (TfxChain *chain, double *samples, TfxFilter **filter)
{
  TfxPlan *plan;

  if (tfx_filter_new (chain, &running_spec, filter) < 0)
    abort ();
  plan = rows_plan (filter, 1);
  test_noise_f64 (samples, 2 * LONG_BLOCK);
  rows_run (plan, samples, 2, LONG_BLOCK);
  return plan;
}

/* Sets a chain, unless it is NULL, and runs a block; what both ask of the heap. */
static HeapCounts
set_and_run (TfxFilter *filter, TfxPlan *plan, TfxChain *chain, double *samples)
{
  heap_watch (0);
  if (chain) {
    tfx_filter_lock (filter);
    tfx_filter_set_chain (filter, chain);
    tfx_filter_unlock (filter);
  }
  rows_run (plan, samples, 2, LONG_BLOCK);
  return heap_unwatch ();
}

#define JOINED_TAPS 3999

/* Two FIRs, made anew with the same ids, and a gain behind them. */
static TfxChain *
joined_chain (unsigned n_stages)
{
  double *taps = test_alloc (JOINED_TAPS * sizeof *taps);
  const double *kernels[2] = { taps, taps };
  TfxStage *stages[3];

  for (size_t i = 0; i < JOINED_TAPS; i++)
    taps[i] = 1e-3 * sin (0.01 * (double)(i * i));
  stages[0] = tfx_stage_new_fir (1, kernels, 2, JOINED_TAPS, TFX_FIR_AUTO);
  stages[1] = tfx_stage_new_fir (2, kernels, 2, JOINED_TAPS, TFX_FIR_AUTO);
  stages[2] = n_stages > 2 ? tfx_stage_new_gain (3, 0.5) : NULL;
  free (taps);
  return rows_chain (stages, n_stages);
}

/* A joined kernel is made once: not for a second setting, not for one that waits
 * for a cross-fade, and not in the block in which that one begins. */
static void
test_joined (void)
{
  double *samples = test_alloc (2 * LONG_BLOCK * sizeof *samples);
  TfxChain *chains[3] = { joined_chain (2), joined_chain (3),
    joined_chain (2) };
  size_t most = 0;
  TfxFilter *filter;
  TfxPlan *plan = running_plan (chains[0], samples, &filter);
  TfxChain *running;

  for (int i = 1; i < 12; i++) {
    counts = set_and_run (filter, plan, i < 3 ? chains[i] : NULL, samples);
    most = counts.n_bytes > most ? counts.n_bytes : most;
  }
  tfx_filter_get_chain (filter, &running);
  tap_check (tfx_chain_n_stages (running) == 1 &&
                 most < 2 * (2 * JOINED_TAPS - 1) * sizeof (double),
      "FIRs that run as one are joined once: a change takes %zu bytes", most);
  tfx_chain_unref (&running);
  rows_free (&plan);
  tfx_filter_unref (&filter);
  for (int i = 0; i < 3; i++)
    tfx_chain_unref (&chains[i]);
  free (samples);
}

/* A long FIR is removed. */
static void
test_retired (void)
{
  TfxStage *gain = tfx_stage_new_gain (2, 0.5);
  double *samples = test_alloc (2 * LONG_BLOCK * sizeof *samples);
  TfxChain *chains[2] = { long_chain (false, &running_spec),
    rows_chain (&gain, 1) };
  size_t most = 0;
  TfxFilter *filter;
  TfxPlan *plan = running_plan (chains[0], samples, &filter);
  TfxRetired *retired;

  for (int i = 0; i < 10; i++) {
    counts = set_and_run (filter, plan, i == 0 ? chains[1] : NULL, samples);
    most = counts.n_freed > most ? counts.n_freed : most;
  }
  tap_check (most < 65536,
      "no block frees the FIR that a change replaced: %zu "
      "bytes at the most",
      most);
  retired = tfx_filter_take_retired (filter);
  heap_watch (0);
  tfx_retired_free (&retired);
  counts = heap_unwatch ();
  tap_check (!retired && !tfx_filter_take_retired (filter) &&
                 counts.n_freed > LONG_TAPS * sizeof (double),
      "tfx_retired_free() does: %zu bytes", counts.n_freed);
  rows_free (&plan);
  tfx_filter_unref (&filter);
  for (int i = 0; i < 2; i++)
    tfx_chain_unref (&chains[i]);
  free (samples);
}

static const TapTest tests[] = {
  { "specs", test_specs },
  { "memory", test_memory },
  { "prepared", test_prepared },
  { "joined", test_joined },
  { "retired", test_retired },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
