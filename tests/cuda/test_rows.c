/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_rows.c: the backend "cuda" borrows the state of filters: other plans, other
 * rows, other settings. */
#include "chains.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

/* ---- state ------------------------------------------------------------------------------- */

/* A stream that goes from backend to backend is the stream on one. */
static void
test_hand_over (void)
{
  TapMany many = tap_many ("the state goes from backend to backend");

  for (unsigned i = 0; i < 24; i++) {
    const TfxBackend *backends[2] = { tfx_cuda_backend (cuda),
      tfx_cpu_backend_for ("c") };
    unsigned n_channels = 1 + i % 3;
    size_t n = 700;
    TfxChain *chain = test_cuda_random_chain (2, 500);
    CudaRow *row = cuda_row_new (chain, n_channels, backends[0]);
    CudaRow *plain = cuda_row_new (chain, n_channels, backends[1]);
    double *a = test_cuda_noise (6 * n * n_channels);
    double *b = test_alloc (6 * n * n_channels * sizeof *b);
    int ret = 0;

    memcpy (b, a, 6 * n * n_channels * sizeof *b);
    for (unsigned k = 0; ret == 0 && k < 6; k++) {
      if (k > 0)
        ret = cuda_row_go_to (row, backends[k % 2]);
      if (ret == 0)
        ret = cuda_row_f64 (row, a + k * n * n_channels, n_channels, n);
    }
    if (ret == 0)
      ret = cuda_row_f64 (plain, b, n_channels, 6 * n);
    tap_many_check (&many,
        ret == 0 && test_cuda_distance (a, b, 6 * n * n_channels) < 1e-11,
        "chain %u: returns %d, %g", i, ret,
        test_cuda_distance (a, b, 6 * n * n_channels));
    cuda_row_free (&row);
    cuda_row_free (&plain);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* Two plans that are both there borrow the state of one filter in turns. */
static void
test_borrowing (void)
{
  TapMany many = tap_many ("plans borrow the state of one filter in turns");

  for (unsigned i = 0; i < 12; i++) {
    const size_t n = 300;
    TfxChain *chain = test_cuda_random_chain (2, 400);
    CudaRow *row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
    CudaRow *plain = cuda_row_new (chain, 2, tfx_cpu_backend_for ("c"));
    double *a = test_cuda_noise (8 * n * 2);
    double *b = test_alloc (8 * n * 2 * sizeof *b);
    TfxPlan *plans[3] = { row->plan, NULL, NULL };
    int ret;

    memcpy (b, a, 8 * n * 2 * sizeof *b);
    tfx_filter_lock (row->filter);
    ret = tfx_plan_new (&row->filter, 1, tfx_cuda_backend (cuda), &plans[1]);
    if (ret == 0)
      ret =
          tfx_plan_new (&row->filter, 1, tfx_cpu_backend_for ("c"), &plans[2]);
    for (unsigned k = 0; ret == 0 && k < 8; k++) {
      TfxBlock block =
          tfx_block_interleaved (a + k * n * 2, TFX_SAMPLE_F64, 2, n);

      ret = tfx_plan_run (plans[tap_random_below (3)], &block, &block);
    }
    tfx_plan_free (&plans[1]);
    tfx_plan_free (&plans[2]);
    tfx_filter_unlock (row->filter);
    if (ret == 0)
      ret = cuda_row_f64 (plain, b, 2, 8 * n);
    tap_many_check (&many,
        ret == 0 && test_cuda_distance (a, b, 8 * n * 2) < 1e-11,
        "chain %u: returns %d, %g", i, ret, test_cuda_distance (a, b, 16 * n));
    cuda_row_free (&row);
    cuda_row_free (&plain);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* New values in the same structure, again and again. */
static void
test_new_values (void)
{
  uint64_t id = tfx_stage_new_id ();
  const size_t n = 1300, n_sos = 8, n_blocks = 12;
  double *a = test_cuda_noise (n * n_blocks);
  double *b = test_alloc (n * n_blocks * sizeof *b);
  CudaRow *here = NULL, *there = NULL;
  int ret = 0;

  memcpy (b, a, n * n_blocks * sizeof *b);
  for (unsigned i = 0; ret == 0 && i < n_blocks; i++) {
    TfxSos sos[8];
    TfxChain *chain;

    test_cuda_equaliser (sos, n_sos);
    chain = test_cuda_chain (id, sos, n_sos);
    if (i == 0) {
      here = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));
      there = cuda_row_new (chain, 1, tfx_cpu_backend_for ("c"));
      ret = here && there ? 0 : -1;
    } else {
      ret =
          cuda_row_set_chain (here, chain) || cuda_row_set_chain (there, chain)
              ? -1
              : 0;
    }
    if (ret == 0)
      ret = cuda_row_pieces (here, a + i * n, 1, n, 400) ||
            cuda_row_f64 (there, b + i * n, 1, n);
    tfx_chain_unref (&chain);
  }
  /* From one equaliser to any other: the state goes through matrices that need
   * not be well conditioned. */
  tap_check (ret == 0 && test_cuda_distance (a, b, n * n_blocks) < 1e-9,
      "coefficients that move: %g", test_cuda_distance (a, b, n * n_blocks));
  tap_check (here && here->n_by_cpu < n * n_blocks,
      "the device filters %llu of %zu frames",
      (unsigned long long)(n * n_blocks - here->n_by_cpu), n * n_blocks);
  cuda_row_free (&here);
  cuda_row_free (&there);
  free (a);
  free (b);
}

/* Other structures in a cross-fade. */
static void
test_new_structure (void)
{
  const size_t n = 400;
  double *a = test_cuda_noise (n * 12 * 2),
         *b = test_alloc (n * 12 * 2 * sizeof *b);
  TfxChain *chain = test_cuda_random_chain (2, 100);
  CudaRow *here = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
  CudaRow *there = cuda_row_new (chain, 2, tfx_cpu_backend_for ("c"));
  int ret = 0;

  memcpy (b, a, n * 12 * 2 * sizeof *b);
  for (unsigned i = 0; ret == 0 && i < 12; i++) {
    if (i % 3 == 2) {
      tfx_chain_unref (&chain);
      chain = test_cuda_random_chain (2, 100);
      ret =
          cuda_row_set_chain (here, chain) || cuda_row_set_chain (there, chain);
    }
    if (ret == 0)
      ret = cuda_row_f64 (here, a + i * n * 2, 2, n) ||
            cuda_row_f64 (there, b + i * n * 2, 2, n);
  }
  tap_check (ret == 0 && test_cuda_distance (a, b, n * 24) < 1e-11,
      "chains that change: %g", test_cuda_distance (a, b, n * 24));
  tap_check (here->n_by_cpu > 0 && here->n_by_cpu < n * 12,
      "the CPU mixes: %llu of %zu frames", (unsigned long long)here->n_by_cpu,
      n * 12);
  cuda_row_free (&here);
  cuda_row_free (&there);
  tfx_chain_unref (&chain);
  free (a);
  free (b);
}

/* ---- rows ------------------------------------------------------------------------ */

#define N_ROW 3

static void
make_filters (TfxChain *const *chains, TfxFilter **filters)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = 2,
    .sample = TFX_SAMPLE_F64 };

  for (unsigned i = 0; i < N_ROW; i++) {
    if (tfx_filter_new (chains[i], &spec, &filters[i]) < 0)
      tap_diag ("no filter");
  }
}

/* Filters [first, end) as one, on the device or not; the plan is thrown away. */
static int
run_row (TfxFilter **filters, size_t first, size_t end, bool on_device,
    const TfxBlock *block)
{
  TfxPlan *plan = NULL;
  int ret;

  tfx_filter_lock_all (filters + first, end - first);
  ret = tfx_plan_new (filters + first, end - first,
      on_device ? tfx_cuda_backend (cuda) : tfx_cpu_backend_for ("c"), &plan);
  if (ret == 0)
    ret = tfx_plan_run (plan, block, block);
  tfx_plan_free (&plan);
  tfx_filter_unlock_all (filters + first, end - first);
  return ret;
}

/* Filters that are put together in other rows with each block, here and there,
 * are one row on the CPU. */
static void
test_rows (void)
{
  TapMany many = tap_many ("rows that change");

  for (unsigned i = 0; i < 12; i++) {
    const size_t n = 200;
    TfxChain *chains[N_ROW];
    TfxFilter *filters[N_ROW], *plain[N_ROW];
    double *a = test_cuda_noise (10 * n * 2);
    double *b = test_alloc (10 * n * 2 * sizeof *b);
    TfxBlock all = tfx_block_interleaved (b, TFX_SAMPLE_F64, 2, 10 * n);
    int ret;

    for (unsigned k = 0; k < N_ROW; k++)
      chains[k] = test_cuda_random_chain (2, 300);
    make_filters (chains, filters);
    make_filters (chains, plain);
    memcpy (b, a, 10 * n * 2 * sizeof *b);
    ret = run_row (plain, 0, N_ROW, false, &all);
    for (unsigned k = 0; ret == 0 && k < 10; k++) {
      TfxBlock block =
          tfx_block_interleaved (a + k * n * 2, TFX_SAMPLE_F64, 2, n);

      for (size_t first = 0, end; ret == 0 && first < N_ROW; first = end) {
        end = first + 1 + tap_random_below ((unsigned)(N_ROW - first));
        ret = run_row (filters, first, end, tap_random_below (3) > 0, &block);
      }
    }
    tap_many_check (&many,
        ret == 0 && test_cuda_distance (a, b, 10 * n * 2) < 1e-11,
        "rows %u: returns %d, %g", i, ret, test_cuda_distance (a, b, 20 * n));
    for (unsigned k = 0; k < N_ROW; k++) {
      tfx_filter_unref (&filters[k]);
      tfx_filter_unref (&plain[k]);
      tfx_chain_unref (&chains[k]);
    }
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* The sections of all filters of a row run in one launch. */
static void
test_row_counts (void)
{
  TfxChain *chains[N_ROW];
  TfxFilter *filters[N_ROW];
  TfxPlan *plan = NULL;
  TfxStats stats = { 0 };
  double x[2 * 700] = { 1 };
  TfxBlock block = tfx_block_interleaved (x, TFX_SAMPLE_F64, 2, 700);
  TfxSos sos[9];
  int ret;

  test_cuda_equaliser (sos, 9);
  for (unsigned k = 0; k < N_ROW; k++)
    chains[k] = test_cuda_chain (tfx_stage_new_id (), sos + 3 * k, 3);
  make_filters (chains, filters);
  tfx_filter_lock_all (filters, N_ROW);
  ret = tfx_plan_new (filters, N_ROW, tfx_cuda_backend (cuda), &plan);
  for (unsigned k = 0; ret == 0 && k < 4; k++)
    ret = tfx_plan_run (plan, &block, &block);
  if (ret == 0)
    tfx_plan_get_stats (plan, &stats);
  tap_check (ret == 0 && stats.launches == 4 &&
                 stats.uploads == test_cuda_copies (cuda, 4) &&
                 stats.downloads == test_cuda_copies (cuda, 4),
      "%d filters: returns %d, %llu launches, %llu uploads, %llu downloads",
      N_ROW, ret, (unsigned long long)stats.launches,
      (unsigned long long)stats.uploads, (unsigned long long)stats.downloads);
  tfx_plan_free (&plan);
  tfx_filter_unlock_all (filters, N_ROW);
  for (unsigned k = 0; k < N_ROW; k++) {
    tfx_filter_unref (&filters[k]);
    tfx_chain_unref (&chains[k]);
  }
}

static const TapTest tests[] = {
  { "hand-over", test_hand_over },
  { "borrowing", test_borrowing },
  { "new-values", test_new_values },
  { "new-structure", test_new_structure },
  { "rows", test_rows },
  { "row-counts", test_row_counts },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int status;

  cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  status = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cuda);
  return status;
}
