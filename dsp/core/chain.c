/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chain.c: an immutable list of stages in series. */
#include <errno.h>
#include <stdlib.h>

#include "kind.h"

static TfxChain *
chain_alloc (size_t n_stages)
{
  TfxChain *chain = malloc (sizeof *chain + n_stages * sizeof (TfxStage *));

  if (chain) {
    chain->refs = 1;
    chain->n_stages = n_stages;
  }
  return chain;
}

TfxChain *
tfx_chain_new (void)
{
  return chain_alloc (0);
}

TfxChain *
tfx_chain_append (const TfxChain *chain, TfxStage *stage)
{
  const size_t n = chain ? chain->n_stages : 0;
  TfxChain *longer = stage ? chain_alloc (n + 1) : NULL;

  if (!longer)
    return NULL;
  for (size_t i = 0; i < n; i++)
    longer->stages[i] = tfx_stage_ref (chain->stages[i]);
  longer->stages[n] = tfx_stage_ref (stage);
  return longer;
}

int
tfx_chain_take (TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_stage_unref (&stage);
  if (!longer)
    return -ENOMEM;
  tfx_chain_unref (chain);
  *chain = longer;
  return 0;
}

TfxChain *
tfx_chain_ref (TfxChain *chain)
{
  __atomic_add_fetch (&chain->refs, 1, __ATOMIC_RELAXED);
  return chain;
}

void
tfx_chain_unref (TfxChain **chain)
{
  TfxChain *c = *chain;

  *chain = NULL;
  if (!c || __atomic_sub_fetch (&c->refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  for (size_t i = 0; i < c->n_stages; i++)
    tfx_stage_unref (&c->stages[i]);
  free (c);
}

size_t
tfx_chain_n_stages (const TfxChain *chain)
{
  return chain->n_stages;
}

size_t
tfx_chain_latency (const TfxChain *chain)
{
  size_t n = 0;

  for (size_t i = 0; i < chain->n_stages; i++)
    n += tfx_stage_latency (chain->stages[i]);
  return n;
}

/* ---- stages that run as one ---------------------------------------------------------- */

void
tfx_join_clear (TfxJoined *joined)
{
  for (size_t i = 0; i < joined->n; i++)
    tfx_stage_unref (&joined->stages[i]);
  free (joined->stages);
  free (joined->are_joined);
  *joined = (TfxJoined){ 0 };
}

static bool
is_same (const TfxStage *a, const TfxStage *b)
{
  return a == b || (a->id == b->id && tfx_stage_is_same (a, b));
}

/* *both, a reference, is the two as one, also if they were joined before; NULL if they remain
 * two.  If memory is short for remembering them, they are joined again next time. */
static int
join (TfxStage *first, TfxStage *second, const TfxFilterSpec *spec,
    TfxJoins *joins, TfxStage **both)
{
  TfxStage **stages;
  size_t i = 0;
  int ret;

  for (; joins && i < joins->n; i++) {
    TfxStage *known = joins->stages[i];

    if (is_same (known->parts[0], first) && is_same (known->parts[1], second) &&
        !(known->kind->check && known->kind->check (known, spec) < 0))
      break;
  }
  if (joins && i < joins->n) {
    *both = joins->stages[i];
  } else {
    ret = first->kind->join (first, second, spec, both);
    if (ret < 0 || !*both)
      return ret;
    (*both)->parts[0] = tfx_stage_ref (first);
    (*both)->parts[1] = tfx_stage_ref (second);
    stages = joins ? realloc (joins->stages, (i + 1) * sizeof *stages) : NULL;
    if (!stages)
      return 0;
    joins->stages = stages;
    joins->stages[joins->n++] = *both;
  }
  if (i >= joins->n_used) {
    joins->stages[i] = joins->stages[joins->n_used];
    joins->stages[joins->n_used++] = *both;
  }
  tfx_stage_ref (*both);
  return 0;
}

int
tfx_join_stages (const TfxChain *chain, const TfxFilterSpec *spec,
    TfxJoins *joins, TfxJoined *joined)
{
  int ret = 0;

  *joined = (TfxJoined){ 0 };
  joined->stages = calloc (chain->n_stages + 1, sizeof *joined->stages);
  joined->are_joined = calloc (chain->n_stages + 1, sizeof (bool));
  if (!joined->stages || !joined->are_joined)
    ret = -ENOMEM;
  for (size_t i = 0; ret == 0 && i < chain->n_stages; i++) {
    TfxStage *stage = chain->stages[i], *both = NULL;
    TfxStage **last = joined->stages + joined->n - 1;

    if (stage->kind->check)
      ret = stage->kind->check (stage, spec);
    if (ret == 0 && joined->n > 0 && (*last)->kind == stage->kind &&
        stage->kind->join)
      ret = join (*last, stage, spec, joins, &both);
    if (ret < 0)
      break;
    if (both) {
      tfx_stage_unref (last);
      *last = both;
    } else {
      joined->stages[joined->n++] = tfx_stage_ref (stage);
    }
    joined->are_joined[joined->n - 1] =
        joined->stages[joined->n - 1]->parts[0] != NULL;
  }
  if (ret < 0)
    tfx_join_clear (joined);
  return ret;
}

void
tfx_joins_begin (TfxJoins *joins)
{
  joins->n_used = 0;
}

void
tfx_joins_trim (TfxJoins *joins)
{
  while (joins->n > joins->n_used)
    tfx_stage_unref (&joins->stages[--joins->n]);
  if (joins->n > 0)
    return;
  free (joins->stages);
  *joins = (TfxJoins){ 0 };
}
