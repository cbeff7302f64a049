/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_backend.c: the backend "cuda" behind filters and plans: chains of
 * everything, against the CPU. */
#include "chains.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

/* The same chain on the CPU and here, there in one block. */
static void
test_chains (void)
{
  static const unsigned pieces[] = { 1, 50, 700, 5000 };
  TapMany many = tap_many ("random chains against the CPU");

  for (unsigned i = 0; i < (part_is_wanted () ? 30 : 120); i++) {
    const unsigned n_channels = 1 + tap_random_below (5);
    const unsigned piece = pieces[i % 4];
    TfxChain *chain = test_cuda_random_chain (3, i % 2 ? 20 : 3000);
    const size_t n_stages = tfx_chain_n_stages (chain);
    CudaPair p =
        cuda_pair_new (chain, n_channels, piece == 1 ? 60 : 4000, cuda);

    cuda_pair_run (&p, 1, piece);
    tap_many_check (&many, p.ret == 0 && cuda_pair_distance (&p) < 1e-11,
        "chain %u of %zu stages, %u channels, blocks to %u: returns %d, %g", i,
        n_stages, n_channels, piece, p.ret, cuda_pair_distance (&p));
    cuda_pair_free (&p);
  }
  tap_many_end (&many);
}

static void
test_reset (void)
{
  const size_t n = 500;
  bool silent[3];
  TfxSos sos[3];
  TfxChain *chain;
  CudaPair p;

  test_cuda_equaliser (sos, 3);
  chain = test_cuda_chain (tfx_stage_new_id (), sos, 3);
  test_cuda_append (&chain, test_cuda_random_sum (2, 100));
  p = cuda_pair_new (chain, 2, n, cuda);
  silent[0] = cuda_row_is_silent (p.row);
  cuda_pair_here (&p, 0, n, 0);
  silent[1] = cuda_row_is_silent (p.row);
  cuda_row_reset (p.row);
  silent[2] = cuda_row_is_silent (p.row);
  if (p.ret == 0)
    p.ret = cuda_row_f64 (p.row, p.want, 2, n);
  tap_check (p.ret == 0 && memcmp (p.have, p.want, p.n * sizeof *p.have) == 0,
      "after a reset the same bits come");
  tap_check (silent[0] && silent[2], "at rest it is silent");
  tap_check (!silent[1], "and not while it rings");
  cuda_pair_free (&p);
}

/* Any split of the stream: the same but for rounding. */
static void
test_splits (void)
{
  static const unsigned pieces[] = { 1, 3, 7, 16, 100, 1000, 3000 };
  TapMany many = tap_many ("the split into blocks changes rounding only");
  TfxSos sos[TEST_API_SECTIONS];

  test_cuda_api (sos);
  for (size_t i = 0; i < N_OF (pieces); i++) {
    const size_t n = pieces[i] == 1 ? 300 : 6000;
    CudaPair p = cuda_pair_new (test_cuda_chain (tfx_stage_new_id (), sos, 6),
        2, 6000, cuda);

    /* Both on the device. */
    cuda_row_go_to (p.plain, p.backends[0]);
    cuda_pair_here (&p, 0, n, pieces[i]);
    cuda_pair_there (&p, 0, 6000);
    p.n = n * 2;
    tap_many_check (&many, cuda_pair_agrees (&p, 3e-13), "blocks to %u: %g",
        pieces[i], cuda_pair_distance (&p));
    cuda_pair_free (&p);
  }
  tap_many_end (&many);
}

/* ---- what is not finite ---------------------------------------------------------------------- */

static void
test_recovery (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, 1e300 };
  static const size_t lengths[] = { 100, 1000, 5000, 40000 };
  TapMany many = tap_many ("what is not finite is gone in 4096 frames");
  TfxSos sos[8];

  for (size_t i = 0; i < N_OF (bad) * N_OF (lengths) * 2; i++) {
    const size_t n = lengths[i / 2 % 4], at = n / 3, blocks = n < 5000 ? 8 : 2;
    const size_t last = at + 1 + 4096;
    CudaRow *row;
    TfxStats stats;
    double *x;
    int ret = 0;

    test_cuda_random (sos, 8);
    /* One group, or two. */
    row =
        cuda_row_new_sections (sos, i % 2 ? 8 : 2, 2, tfx_cuda_backend (cuda));
    x = test_cuda_noise (n * blocks * 2);
    x[at * 2] = bad[i / 8];
    for (size_t k = 0; ret == 0 && k < blocks; k++)
      ret = cuda_row_f64 (row, x + k * n * 2, 2, n);
    stats = cuda_row_stats (row);
    for (size_t k = 0; k < n * blocks; k++) {
      if (!isfinite (x[k * 2 + 1]) || (k >= last && !isfinite (x[k * 2])))
        ret = -1000;
    }
    tap_many_check (&many, ret == 0, "%g in %zu frames: returns %d", bad[i / 8],
        n, ret);
    /* Too much is not what is not finite. */
    tap_many_check (&many, (stats.recoveries > 0) == (i / 8 < 3) || i / 8 == 3,
        "%g in %zu frames: %llu recoveries", bad[i / 8], n,
        (unsigned long long)stats.recoveries);
    cuda_row_free (&row);
    free (x);
  }
  tap_many_end (&many);
}

/* The longest tiles are those of float streams. */
static void
test_long_recovery (void)
{
  const size_t n = 4000000, at = 100000, last = at + 1 + 8192;
  TfxSos sos[4];
  CudaRow *row;
  float *x;
  int ret;

  if (part_is_wanted ()) {
    tap_skip ("takes too long with sanitizers", "a long block");
    return;
  }
  test_cuda_random (sos, 4);
  row = cuda_row_new_sections (sos, 4, 1, tfx_cuda_backend (cuda));
  x = calloc (n, sizeof *x);
  for (size_t i = 0; i < n; i++)
    x[i] = (float)(i % 7) - 3.0f;
  x[at] = NAN;
  ret = cuda_row_f32 (row, x, 1, n);
  for (size_t i = last; ret == 0 && i < n; i++) {
    if (!isfinite (x[i]))
      ret = -1000;
  }
  tap_check (ret == 0 && !isfinite (x[at]),
      "what is not finite is gone in 8192 frames: returns %d", ret);
  cuda_row_free (&row);
  free (x);
}

static const TapTest tests[] = {
  { "chains", test_chains },
  { "reset", test_reset },
  { "splits", test_splits },
  { "recovery", test_recovery },
  { "long-recovery", test_long_recovery },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, tests, TEST_CUDA_DOUBLE, &cuda);
}
