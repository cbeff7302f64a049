/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-sum.c: stages that are a sum of chains.  What is within it has slots and
 * steps of its own. */
#include <stdlib.h>

#include "kind.h"

static unsigned
chain_depth (const TfxChain *chain)
{
  unsigned depth = 0;

  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];
    if (s->kind == &tfx_kind_sum && s->u.sum.depth > depth)
      depth = s->u.sum.depth;
  }
  return depth;
}

TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n_branches)
{
  TfxStage *stage;
  unsigned depth = 0;

  if (n_branches < 1)
    return NULL;
  for (size_t i = 0; i < n_branches; i++) {
    unsigned d = chain_depth (branches[i]);
    depth = d > depth ? d : depth;
  }
  if (depth >= TFX_SUM_MAX_DEPTH)
    return NULL;
  stage = tfx_stage_alloc (id, &tfx_kind_sum);
  if (!stage)
    return NULL;
  stage->u.sum.depth = depth + 1;
  stage->u.sum.branches =
      tfx_stage_copy (branches, n_branches, sizeof *branches);
  if (!stage->u.sum.branches) {
    tfx_stage_unref (&stage);
    return NULL;
  }
  stage->u.sum.n = n_branches;
  for (size_t i = 0; i < n_branches; i++)
    tfx_chain_ref (branches[i]);
  return stage;
}

static bool
sum_is_identity (const TfxStage *stage)
{
  return false;
}

/* What differs within a branch is a matter of the branch. */
static bool
sum_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.sum.n == b->u.sum.n;
}

static bool
sum_is_same (const TfxStage *a, const TfxStage *b)
{
  return a == b;
}

static size_t
sum_state_size (const TfxStage *stage)
{
  return 0;
}

static int
sum_prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  int ret = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxChain *branch = stage->u.sum.branches[i];

    for (size_t k = 0; ret == 0 && k < branch->n_stages; k++)
      ret = tfx_stage_prepare (branch->stages[k], spec);
  }
  return ret;
}

static size_t
sum_latency (const TfxStage *stage)
{
  size_t most = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const size_t n = tfx_chain_latency (stage->u.sum.branches[i]);

    most = n > most ? n : most;
  }
  return most;
}

static void
sum_clear (TfxStage *stage)
{
  for (size_t i = 0; i < stage->u.sum.n; i++)
    tfx_chain_unref (&stage->u.sum.branches[i]);
  free (stage->u.sum.branches);
}

static TfxComplex
sum_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  TfxComplex all = { 0.0, 0.0 };

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxComplex h = tfx_chain_response_at (stage->u.sum.branches[i],
        channel, freq_hz, rate_hz);

    all = (TfxComplex){ all.re + h.re, all.im + h.im };
  }
  return all;
}

const TfxKind tfx_kind_sum = {
  .name = "sum",
  .step = TFX_STEP_SUM,
  .is_identity = sum_is_identity,
  .is_same_structure = sum_is_same_structure,
  .is_same = sum_is_same,
  .state_size = sum_state_size,
  .response = sum_response,
  .latency = sum_latency,
  .prepare = sum_prepare,
  .clear = sum_clear,
};
