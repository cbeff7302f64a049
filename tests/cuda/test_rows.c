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
    CudaPair p = cuda_pair_new (test_cuda_random_chain (2, 500), 1 + i % 3,
        6 * 700, cuda);

    cuda_pair_run (&p, 6, 0);
    tap_many_check (&many, p.ret == 0 && cuda_pair_distance (&p) < 1e-11,
        "chain %u: returns %d, %g", i, p.ret, cuda_pair_distance (&p));
    cuda_pair_free (&p);
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
    CudaPair p =
        cuda_pair_new (test_cuda_random_chain (2, 400), 2, 8 * n, cuda);
    TfxPlan *plans[3] = { p.row->plan, NULL, NULL };

    tfx_filter_lock (p.row->filter);
    for (unsigned k = 0; p.ret == 0 && k < 2; k++)
      p.ret = tfx_plan_new (&p.row->filter, 1, p.backends[k], &plans[1 + k]);
    for (unsigned k = 0; p.ret == 0 && k < 8; k++) {
      TfxBlock block =
          tfx_block_interleaved (p.have + k * n * 2, TFX_SAMPLE_F64, 2, n);

      p.ret = tfx_plan_run (plans[tap_random_below (3)], &block, &block);
    }
    tfx_plan_free (&plans[1]);
    tfx_plan_free (&plans[2]);
    tfx_filter_unlock (p.row->filter);
    cuda_pair_there (&p, 0, 8 * n);
    tap_many_check (&many, p.ret == 0 && cuda_pair_distance (&p) < 1e-11,
        "chain %u: returns %d, %g", i, p.ret, cuda_pair_distance (&p));
    cuda_pair_free (&p);
  }
  tap_many_end (&many);
}

/* New values in the same structure, again and again. */
static void
test_new_values (void)
{
  const uint64_t id = tfx_stage_new_id ();
  const size_t n = 1300, n_blocks = 12;
  CudaPair p;

  for (unsigned i = 0; i < n_blocks; i++) {
    TfxSos sos[8];

    test_cuda_equaliser (sos, 8);
    if (i == 0)
      p = cuda_pair_new (test_cuda_chain (id, sos, 8), 1, n * n_blocks, cuda);
    else
      cuda_pair_set_chain (&p, test_cuda_chain (id, sos, 8));
    cuda_pair_here (&p, i * n, n, 400);
    cuda_pair_there (&p, i * n, n);
  }
  /* From one equaliser to any other: the state goes through matrices that need
   * not be well conditioned. */
  tap_check (p.ret == 0 && cuda_pair_distance (&p) < 1e-9,
      "coefficients that move: %g", cuda_pair_distance (&p));
  tap_check (p.row->n_by_cpu < p.n_frames,
      "the device filters %zu of %zu frames",
      p.n_frames - (size_t)p.row->n_by_cpu, p.n_frames);
  cuda_pair_free (&p);
}

/* Other structures in a cross-fade. */
static void
test_new_structure (void)
{
  const size_t n = 400;
  CudaPair p = cuda_pair_new (test_cuda_random_chain (2, 100), 2, 12 * n, cuda);

  for (unsigned i = 0; i < 12; i++) {
    if (i % 3 == 2)
      cuda_pair_set_chain (&p, test_cuda_random_chain (2, 100));
    cuda_pair_here (&p, i * n, n, 0);
    cuda_pair_there (&p, i * n, n);
  }
  tap_check (p.ret == 0 && cuda_pair_distance (&p) < 1e-11,
      "chains that change: %g", cuda_pair_distance (&p));
  tap_check (p.row->n_by_cpu > 0 && p.row->n_by_cpu < p.n_frames,
      "the CPU mixes: %llu of %zu frames", (unsigned long long)p.row->n_by_cpu,
      p.n_frames);
  cuda_pair_free (&p);
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
  return test_cuda_main (argc, argv, tests, TEST_CUDA_DOUBLE, &cuda);
}
