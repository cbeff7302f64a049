/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.c: chains of everything, for the tests of the backend. */
#include "chains.h"

#include "lang/expr.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double
test_cuda_worse (double worst, double error)
{
  return error > worst || isnan (error) ? error : worst;
}

double
test_cuda_distance (const double *a, const double *b, size_t n)
{
  double most = 0, peak = 0;

  for (size_t i = 0; i < n; i++) {
    most = test_cuda_worse (most, fabs (a[i] - b[i]));
    peak = fmax (peak, fabs (b[i]));
  }
  return peak > 0 ? most / peak : most;
}

void
test_cuda_append (TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_chain_unref (chain);
  tfx_stage_unref (&stage);
  *chain = longer;
}

TfxChain *
test_cuda_chain_of (TfxStage *stage)
{
  TfxChain *chain = tfx_chain_new ();

  test_cuda_append (&chain, stage);
  return chain;
}

TfxChain *
test_cuda_chain (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  return test_cuda_chain_of (tfx_stage_new_sections (id, sos, n_sos));
}

TfxChain *
test_cuda_parse (const char *text, unsigned n_channels)
{
  TfxExprError error = { 0 };
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);
  TfxChain *chain = NULL;

  if (!expr ||
      tfx_expr_build (expr, RATE, n_channels, NULL, NULL, &chain, &error) < 0) {
    printf ("Bail out! %s: %s\n", text, error.message);
    exit (1);
  }
  tfx_expr_free (&expr);
  return chain;
}

/* ---- chains --------------------------------------------------------------------- */

double *
test_cuda_noise (size_t n)
{
  double *noise = test_alloc ((n + 1) * sizeof *noise);

  test_noise_f64 (noise, n);
  return noise;
}

TfxStage *
test_cuda_random_delay (unsigned longest)
{
  TfxTap taps[4];
  size_t n = tap_random_below (5);

  for (size_t i = 0; i < n; i++)
    taps[i] =
        (TfxTap){ tap_random_below (longest + 1), tap_random_uniform (-1, 1),
          tap_random_below (2), (TfxTapSide)tap_random_below (3) };
  return tfx_stage_new_delay (tfx_stage_new_id (), tap_random_uniform (-1, 1),
      taps, n);
}

static TfxStage *
random_fir (unsigned longest)
{
  size_t n_taps = 1 + tap_random_below (longest < 300 ? longest : 300);
  double *kernel = test_cuda_noise (n_taps);
  const double *const kernels[] = { kernel };
  TfxStage *stage = tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps,
      (TfxFirMethod)tap_random_below (3));

  free (kernel);
  return stage;
}

TfxChain *
test_cuda_random_chain (unsigned depth, unsigned longest)
{
  TfxChain *chain = tfx_chain_new ();
  unsigned n = tap_random_below (4);

  for (unsigned i = 0; i < n; i++) {
    TfxSos sos[8];
    size_t n_sos = 1 + tap_random_below (8);

    switch (tap_random_below (depth > 0 ? 5 : 4)) {
      case 0:
        test_cuda_equaliser (sos, n_sos);
        test_cuda_append (&chain,
            tfx_stage_new_sections (tfx_stage_new_id (), sos, n_sos));
        break;
      case 1:
        test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (),
                                      tap_random_uniform (-1, 1)));
        break;
      case 2:
        test_cuda_append (&chain, test_cuda_random_delay (longest));
        break;
      case 3:
        test_cuda_append (&chain, random_fir (longest));
        break;
      default:
        test_cuda_append (&chain, test_cuda_random_sum (depth - 1, longest));
    }
  }
  return chain;
}

TfxStage *
test_cuda_random_sum (unsigned depth, unsigned longest)
{
  TfxChain *branches[3];
  size_t n = 1 + tap_random_below (3);
  TfxStage *stage;

  for (size_t i = 0; i < n; i++)
    branches[i] = test_cuda_random_chain (depth, longest);
  stage = tfx_stage_new_sum (tfx_stage_new_id (), branches, n);
  for (size_t i = 0; i < n; i++)
    tfx_chain_unref (&branches[i]);
  return stage;
}

/* ---- a device beside the CPU ----------------------------------------------------- */

CudaPair
cuda_pair_new_for (TfxChain *chain, const TfxFilterSpec *spec, size_t n_frames,
    TfxCuda *cuda)
{
  CudaPair p = { .backends = { tfx_cuda_backend (cuda),
                     tfx_cpu_backend_for ("c") },
    .n_channels = spec->n_channels,
    .n_frames = n_frames,
    .n = n_frames * spec->n_channels };

  p.row = cuda_row_new_for (chain, spec, p.backends[0]);
  p.plain = cuda_row_new_for (chain, spec, p.backends[1]);
  p.have = test_cuda_noise (p.n);
  p.want = test_alloc (p.n * sizeof *p.want);
  memcpy (p.want, p.have, p.n * sizeof *p.want);
  tfx_chain_unref (&chain);
  return p;
}

CudaPair
cuda_pair_new (TfxChain *chain, unsigned n_channels, size_t n_frames,
    TfxCuda *cuda)
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, 0 };

  return cuda_pair_new_for (chain, &spec, n_frames, cuda);
}

void
cuda_pair_set_chain (CudaPair *p, TfxChain *chain)
{
  if (p->ret == 0)
    p->ret = cuda_row_set_chain (p->row, chain);
  if (p->ret == 0)
    p->ret = cuda_row_set_chain (p->plain, chain);
  tfx_chain_unref (&chain);
}

void
cuda_pair_free (CudaPair *p)
{
  cuda_row_free (&p->row);
  cuda_row_free (&p->plain);
  free (p->have);
  free (p->want);
}

void
cuda_pair_here (CudaPair *p, size_t first, size_t n_frames, unsigned piece)
{
  double *x = p->have + first * p->n_channels;

  if (p->ret == 0)
    p->ret = piece ? cuda_row_pieces (p->row, x, p->n_channels, n_frames, piece)
                   : cuda_row_f64 (p->row, x, p->n_channels, n_frames);
}

void
cuda_pair_there (CudaPair *p, size_t first, size_t n_frames)
{
  if (p->ret == 0)
    p->ret = cuda_row_f64 (p->plain, p->want + first * p->n_channels,
        p->n_channels, n_frames);
}

void
cuda_pair_run (CudaPair *p, unsigned n_turns, unsigned piece)
{
  const size_t n = p->n_frames / n_turns;

  for (unsigned k = 0; k < n_turns; k++) {
    if (k > 0 && p->ret == 0)
      p->ret = cuda_row_go_to (p->row, p->backends[k % 2]);
    cuda_pair_here (p, k * n, n, piece);
  }
  cuda_pair_there (p, 0, p->n_frames);
}

double
cuda_pair_distance (const CudaPair *p)
{
  return test_cuda_distance (p->have, p->want, p->n);
}

bool
cuda_pair_agrees (const CudaPair *p, double limit)
{
  return p->ret == 0 && p->row->n_by_cpu == 0 && cuda_pair_distance (p) < limit;
}

#define WORK_BLOCKS 3

void
cuda_row_check_work (TapMany *many, CudaRow *row, TfxCuda *cuda,
    unsigned n_channels, TfxSample sample, size_t n_frames, unsigned n_launches,
    const char *what)
{
  const unsigned n_copies = test_cuda_copies (cuda, WORK_BLOCKS);
  const size_t n = n_frames * n_channels;
  double *x = test_cuda_noise (n);
  TfxBlock block = tfx_block_interleaved (x, sample, n_channels, n_frames);
  TfxStats stats;
  int ret = 0;

  for (unsigned k = 0; ret == 0 && k < WORK_BLOCKS; k++) {
    if (sample == TFX_SAMPLE_F32)
      test_noise_f32 ((float *)x, n);
    ret = cuda_row_run (row, &block, &block);
  }
  stats = cuda_row_stats (row);
  tap_many_check (many,
      ret == 0 && row->n_by_cpu == 0 && stats.dispatches == WORK_BLOCKS &&
          stats.launches == WORK_BLOCKS * n_launches &&
          stats.uploads == n_copies && stats.downloads == n_copies &&
          strcmp (stats.device, "cuda") == 0,
      "%s: returns %d, %u blocks of %zu frames are %d launches, %d uploads, "
      "%d downloads on %s",
      what, ret, WORK_BLOCKS, n_frames, (int)stats.launches, (int)stats.uploads,
      (int)stats.downloads, stats.device);
  free (x);
}
