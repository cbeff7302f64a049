/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chain-latency.c: chains that take the place of running ones, and are as late. */
#include <errno.h>

#include "core/branches.h"

static size_t
find_held (const TfxStage *stage)
{
  return stage->u.limiter.n_ahead + stage->u.limiter.n_late;
}

/* The stage, or if that is a limiter one that is as late as that of the other chain;
 * NULL if memory is short. */
static TfxStage *
keep_stage (TfxStage *stage, const TfxChain *other)
{
  TfxLimiter l;

  for (size_t i = 0; i < other->n_stages; i++) {
    const TfxStage *s = other->stages[i];

    if (stage->kind != &tfx_kind_limiter || s->kind != &tfx_kind_limiter ||
        s->id != stage->id || find_held (s) <= find_held (stage))
      continue;
    l = stage->u.limiter;
    l.n_late = find_held (s) - l.n_ahead;
    return tfx_stage_new_limiter (stage->id, &l);
  }
  return tfx_stage_ref (stage);
}

static TfxChain *
keep_chain (const TfxChain *chain, const TfxChain *other)
{
  TfxChain *kept = tfx_chain_new ();

  for (size_t i = 0; kept && i < chain->n_stages; i++) {
    if (tfx_chain_take (&kept, keep_stage (chain->stages[i], other)) < 0)
      tfx_chain_unref (&kept);
  }
  return kept;
}

/* Stages behind one that is set later would hear the gap. */
static bool
can_step (const TfxChain *running, const TfxChain *step)
{
  bool has_gap = false;

  for (size_t i = 0; i < running->n_stages; i++) {
    const TfxStage *s = running->stages[i];

    if (has_gap && (tfx_branches_are_in (s) || tfx_stage_state_size (s) > 0))
      return false;
    has_gap = has_gap || s != step->stages[i];
  }
  return true;
}

int
tfx_chain_keep_latency (const TfxChain *chain, const TfxChain *running,
    TfxChain **kept, TfxChain **step)
{
  int ret = 0;

  *kept = keep_chain (chain, running);
  *step = keep_chain (running, chain);
  if (!*kept || !*step)
    ret = -ENOMEM;
  else if (tfx_chain_latency (*kept) != tfx_chain_latency (*step) ||
           !can_step (running, *step))
    ret = -ERANGE;
  if (ret < 0 && *kept)
    tfx_chain_unref (kept);
  if (*step &&
      (ret < 0 || tfx_chain_latency (*step) == tfx_chain_latency (running)))
    tfx_chain_unref (step);
  return ret;
}
