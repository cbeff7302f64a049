/* SPDX-License-Identifier: LGPL-2.1-or-later
 * branches.c: sums and splits.  Stages in branches have their own slots and steps. */
#include "branches.h"

#include <math.h>
#include <stdlib.h>

static unsigned
chain_depth (const TfxChain *chain)
{
  unsigned depth = 0;

  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];

    if (tfx_branches_are_in (s) && s->u.sum.depth > depth)
      depth = s->u.sum.depth;
  }
  return depth;
}

TfxStage *
tfx_branches_new (uint64_t id, const TfxKind *kind, TfxChain *const *branches,
    const uint64_t *channels, size_t n)
{
  TfxStage *stage;
  unsigned depth = 0;

  if (n < 1)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    const unsigned d = chain_depth (branches[i]);

    depth = d > depth ? d : depth;
  }
  if (depth >= TFX_SUM_MAX_DEPTH)
    return NULL;
  stage = tfx_stage_alloc (id, kind);
  if (!stage)
    return NULL;
  stage->u.sum.depth = depth + 1;
  stage->u.sum.branches = tfx_stage_copy (branches, n, sizeof *branches);
  if (channels)
    stage->u.sum.channels = tfx_stage_copy (channels, n, sizeof *channels);
  if (!stage->u.sum.branches || (channels && !stage->u.sum.channels)) {
    tfx_stage_unref (&stage);
    return NULL;
  }
  stage->u.sum.n = n;
  for (size_t i = 0; i < n; i++)
    tfx_chain_ref (branches[i]);
  return stage;
}

TfxStage *
tfx_branches_new_like (const TfxStage *stage, TfxChain *const *branches)
{
  return tfx_branches_new (stage->id, stage->kind, branches,
      stage->u.sum.channels, stage->u.sum.n);
}

bool
tfx_branches_are_in (const TfxStage *stage)
{
  return stage->kind->step == TFX_STEP_SUM ||
         stage->kind->step == TFX_STEP_SPLIT;
}

unsigned
tfx_branches_n_channels (const TfxStage *stage, size_t branch,
    unsigned n_channels)
{
  if (!stage->u.sum.channels)
    return n_channels;
  return (unsigned)__builtin_popcountll (stage->u.sum.channels[branch]);
}

bool
tfx_branches_find_even (uint64_t channels, unsigned *first, unsigned *step)
{
  unsigned last = (unsigned)__builtin_ctzll (channels), apart = 0;

  *first = last;
  for (uint64_t rest = channels & (channels - 1); rest; rest &= rest - 1) {
    const unsigned c = (unsigned)__builtin_ctzll (rest);

    if (apart > 0 && c - last != apart)
      return false;
    apart = c - last;
    last = c;
  }
  *step = apart > 0 ? apart : 1;
  return true;
}

const TfxStage *
tfx_branches_find (const TfxChain *chain, uint64_t id)
{
  const TfxStage *found = NULL;

  for (size_t i = 0; !found && i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];

    found = s->id == id ? s : NULL;
    for (size_t b = 0; !found && tfx_branches_are_in (s) && b < s->u.sum.n; b++)
      found = tfx_branches_find (s->u.sum.branches[b], id);
  }
  return found;
}

/* ---- for the tables of kinds --------------------------------------------------- */

bool
tfx_branches_is_same (const TfxStage *a, const TfxStage *b)
{
  return a == b;
}

int
tfx_branches_prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  int ret = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxChain *branch = stage->u.sum.branches[i];
    TfxFilterSpec own = *spec;

    own.n_channels = tfx_branches_n_channels (stage, i, spec->n_channels);
    for (size_t k = 0; ret == 0 && k < branch->n_stages; k++)
      ret = tfx_stage_prepare (branch->stages[k], &own);
  }
  return ret;
}

size_t
tfx_branches_latency (const TfxStage *stage)
{
  size_t most = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const size_t n = tfx_chain_latency (stage->u.sum.branches[i]);

    most = n > most ? n : most;
  }
  return most;
}

TfxComplex
tfx_branches_advance_at (const TfxStage *stage, size_t branch, double freq_hz,
    double rate_hz)
{
  const size_t n = tfx_branches_latency (stage) -
                   tfx_chain_latency (stage->u.sum.branches[branch]);
  const double angle =
      2.0 * M_PI * fmod ((double)n * freq_hz, rate_hz) / rate_hz;

  return (TfxComplex){ cos (angle), sin (angle) };
}

void
tfx_branches_clear (TfxStage *stage)
{
  for (size_t i = 0; i < stage->u.sum.n; i++)
    tfx_chain_unref (&stage->u.sum.branches[i]);
  free (stage->u.sum.branches);
  free (stage->u.sum.channels);
}
