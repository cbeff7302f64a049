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
