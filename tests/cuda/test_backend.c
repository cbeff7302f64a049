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

/* The same chain on the CPU and here, both in blocks, not the same ones. */
static void
test_chains (void)
{
  static const unsigned pieces[] = { 1, 50, 700, 5000 };
  TapMany many = tap_many ("random chains against the CPU");

  for (unsigned i = 0; i < (part_is_wanted () ? 30 : 120); i++) {
    unsigned n_channels = 1 + tap_random_below (5);
    unsigned longest = i % 2 ? 20 : 3000;
    unsigned piece = pieces[i % 4];
    size_t n_frames = piece == 1 ? 60 : 4000;
    TfxChain *chain = test_cuda_random_chain (3, longest);
    CudaRow *here = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    CudaRow *there =
        cuda_row_new (chain, n_channels, tfx_cpu_backend_for ("c"));
    double *a = test_cuda_noise (n_frames * n_channels);
    double *b = test_alloc (n_frames * n_channels * sizeof *b);
    double error = NAN;

    memcpy (b, a, n_frames * n_channels * sizeof *b);
    if (here && there &&
        cuda_row_pieces (here, a, n_channels, n_frames, piece) == 0 &&
        cuda_row_f64 (there, b, n_channels, n_frames) == 0)
      error = test_cuda_distance (a, b, n_frames * n_channels);
    tap_many_check (&many, error < 1e-11,
        "chain %u of %zu stages, %u channels, blocks to %u: %g", i,
        tfx_chain_n_stages (chain), n_channels, piece, error);
    cuda_row_free (&here);
    cuda_row_free (&there);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

static void
test_reset (void)
{
  const size_t n = 500;
  TfxSos sos[3];
  TfxChain *chain;
  CudaRow *row;
  double *x = test_cuda_noise (n * 2),
         *first = test_alloc (n * 2 * sizeof *first);
  double *again = test_alloc (n * 2 * sizeof *again);
  bool silent[3];
  int ret;

  test_cuda_equaliser (sos, 3);
  chain = test_cuda_chain (tfx_stage_new_id (), sos, 3);
  test_cuda_append (&chain, test_cuda_random_sum (2, 100));
  row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
  memcpy (first, x, n * 2 * sizeof *x);
  memcpy (again, x, n * 2 * sizeof *x);
  silent[0] = cuda_row_is_silent (row);
  ret = cuda_row_f64 (row, first, 2, n);
  silent[1] = cuda_row_is_silent (row);
  cuda_row_reset (row);
  silent[2] = cuda_row_is_silent (row);
  if (ret == 0)
    ret = cuda_row_f64 (row, again, 2, n);
  tap_check (ret == 0 && memcmp (first, again, n * 2 * sizeof *first) == 0,
      "after a reset the same bits come");
  tap_check (silent[0] && silent[2], "at rest it is silent");
  tap_check (!silent[1], "and not while it rings");
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (x);
  free (first);
  free (again);
}

/* Any split of the stream: the same but for rounding. */
static void
test_splits (void)
{
  static const unsigned pieces[] = { 1, 3, 7, 16, 100, 1000, 3000 };
  TapMany many = tap_many ("the split into blocks changes rounding only");
  TfxSos sos[TEST_API_SECTIONS];
  const size_t n = 6000;

  test_cuda_api (sos);
  for (size_t i = 0; i < N_OF (pieces); i++) {
    CudaRow *one = cuda_row_new_sections (sos, 6, 2, tfx_cuda_backend (cuda));
    CudaRow *many_blocks =
        cuda_row_new_sections (sos, 6, 2, tfx_cuda_backend (cuda));
    double *a = test_cuda_noise (n * 2), *b = test_alloc (n * 2 * sizeof *b);
    int ret;

    memcpy (b, a, n * 2 * sizeof *b);
    ret = cuda_row_f64 (one, a, 2, n);
    if (ret == 0)
      ret = cuda_row_pieces (many_blocks, b, 2, pieces[i] == 1 ? 300 : n,
          pieces[i]);
    tap_many_check (&many,
        ret == 0 &&
            test_cuda_distance (b, a, pieces[i] == 1 ? 600 : n * 2) < 3e-13,
        "blocks to %u: %g", pieces[i], test_cuda_distance (b, a, n * 2));
    cuda_row_free (&one);
    cuda_row_free (&many_blocks);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* ---- what is not finite ---------------------------------------------------------------------- */

static bool
all_finite (const double *x, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (!isfinite (x[i]))
      return false;
  }
  return true;
}

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
      if (!isfinite (x[k * 2 + 1]))
        ret = -1000;
    }
    tap_many_check (&many,
        ret == 0 && (last >= n * blocks ||
                        all_finite (x + last * 2, (n * blocks - last) * 2)),
        "%g in %zu frames: returns %d", bad[i / 8], n, ret);
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
  int status;

  cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  status = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cuda);
  return status;
}
