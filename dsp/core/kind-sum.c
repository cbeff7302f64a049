/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-sum.c: stages that are a sum of chains. */
#include <string.h>

#include "branches.h"

TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n_branches)
{
  return tfx_branches_new (id, &tfx_kind_sum, branches, NULL, n_branches);
}

/* Differences within a branch are found there. */
static bool
sum_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.sum.n == b->u.sum.n;
}

static void
add (TfxComplex *to, TfxComplex a, TfxComplex b)
{
  const TfxComplex h = tfx_complex_product (a, b);

  to->re += h.re;
  to->im += h.im;
}

static TfxComplex
sum_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  TfxComplex all = { 0.0, 0.0 };

  for (size_t i = 0; i < stage->u.sum.n; i++)
    add (&all, tfx_branches_advance_at (stage, i, freq_hz, rate_hz),
        tfx_chain_response_at (stage->u.sum.branches[i], channel, freq_hz,
            rate_hz));
  return all;
}

static void
sum_spread (const TfxStage *stage, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  TfxComplex in[TFX_MIX_MAX_CHANNELS], out[TFX_MIX_MAX_CHANNELS];

  memcpy (in, h, sizeof in);
  memset (h, 0, sizeof in);
  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxComplex advance =
        tfx_branches_advance_at (stage, i, freq_hz, rate_hz);

    memcpy (out, in, sizeof out);
    tfx_chain_spread (stage->u.sum.branches[i], out, freq_hz, rate_hz);
    for (unsigned c = 0; c < TFX_MIX_MAX_CHANNELS; c++)
      add (&h[c], advance, out[c]);
  }
}

const TfxKind tfx_kind_sum = {
  .step = TFX_STEP_SUM,
  .is_same_structure = sum_is_same_structure,
  .is_same = tfx_branches_is_same,
  .response = sum_response,
  .spread = sum_spread,
  .latency = tfx_branches_latency,
  .prepare = tfx_branches_prepare,
  .clear = tfx_branches_clear,
};
