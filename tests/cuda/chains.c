/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.c: chains of everything, for the tests of the backend. */
#include "chains.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest difference, relative to the largest value of b; NaN if there is
 * one. */
double
test_cuda_distance (const double *a, const double *b, size_t n)
{
  double most = 0, peak = 0;

  for (size_t i = 0; i < n; i++) {
    if (!(fabs (a[i] - b[i]) <= most))
      most = fabs (a[i] - b[i]);
    peak = fmax (peak, fabs (b[i]));
  }
  return peak > 0 ? most / peak : most;
}

/* Adds the stage, which it takes over, to the chain. */
void
test_cuda_append (TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_chain_unref (chain);
  tfx_stage_unref (&stage);
  *chain = longer;
}

TfxChain *
test_cuda_chain (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  TfxChain *chain = tfx_chain_new ();

  test_cuda_append (&chain, tfx_stage_new_sections (id, sos, n_sos));
  return chain;
}

/* ---- chains --------------------------------------------------------------------- */

/* Taps of a delay line and kernels of a FIR, for the reference. */
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

TfxStage *test_cuda_random_sum (unsigned depth, unsigned longest);

/* Sections, gains, FIRs, delay lines and sums, those to a depth. */
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
