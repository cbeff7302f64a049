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

static void
copy_stages (TfxChain *to, size_t first, const TfxChain *from)
{
  for (size_t i = 0; i < from->n_stages; i++)
    to->stages[first + i] = tfx_stage_ref (from->stages[i]);
}

TfxChain *
tfx_chain_append (const TfxChain *chain, TfxStage *stage)
{
  const size_t n = chain ? chain->n_stages : 0;
  TfxChain *longer = stage ? chain_alloc (n + 1) : NULL;

  if (!longer)
    return NULL;
  if (chain)
    copy_stages (longer, 0, chain);
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

/* The two as one, a reference, if they were joined before; or NULL. */
static TfxStage *
find_join (TfxJoins *joins, const TfxFilterSpec *spec, const TfxStage *first,
    const TfxStage *second)
{
  for (size_t i = 0; i < joins->n; i++) {
    TfxStage *both = joins->stages[i];

    if (!is_same (both->parts[0], first) || !is_same (both->parts[1], second) ||
        (both->kind->check && both->kind->check (both, spec) < 0))
      continue;
    if (i >= joins->n_used) {
      joins->stages[i] = joins->stages[joins->n_used];
      joins->stages[joins->n_used++] = both;
    }
    return tfx_stage_ref (both);
  }
  return NULL;
}

/* If memory is short the two are joined again next time. */
static void
remember_join (TfxJoins *joins, TfxStage *both)
{
  TfxStage **stages = realloc (joins->stages, (joins->n + 1) * sizeof *stages);

  if (!stages)
    return;
  joins->stages = stages;
  stages[joins->n++] = stages[joins->n_used];
  stages[joins->n_used++] = tfx_stage_ref (both);
}

/* *both is NULL if the two remain two. */
static int
join (TfxStage *first, TfxStage *second, const TfxFilterSpec *spec,
    TfxJoins *joins, TfxStage **both)
{
  int ret;

  *both = joins ? find_join (joins, spec, first, second) : NULL;
  if (*both)
    return 0;
  ret = first->kind->join (first, second, spec, both);
  if (ret < 0 || !*both)
    return ret;
  (*both)->parts[0] = tfx_stage_ref (first);
  (*both)->parts[1] = tfx_stage_ref (second);
  if (joins)
    remember_join (joins, *both);
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
