/* SPDX-License-Identifier: LGPL-2.1-or-later
 * join.c: neighbours in a chain that cost less as one become one. */
#include "join.h"

#include <errno.h>
#include <stdlib.h>

void
tfx_join_clear (TfxJoined *joined)
{
  for (size_t i = 0; i < joined->n; i++)
    tfx_stage_unref (&joined->stages[i]);
  free (joined->stages);
  free (joined->are_joined);
  *joined = (TfxJoined){ 0 };
}

/* The stage becomes one with the last one, or comes after it. */
static int
add_stage (TfxJoined *joined, TfxStage *stage, const TfxFilterSpec *spec)
{
  TfxStage *last = joined->n > 0 ? joined->stages[joined->n - 1] : NULL;
  TfxStage *both = NULL;

  if (last && last->kind == stage->kind && stage->kind->join) {
    int ret = stage->kind->join (last, stage, spec, &both);
    if (ret < 0)
      return ret;
  }
  if (both) {
    tfx_stage_unref (&joined->stages[joined->n - 1]);
    joined->stages[joined->n - 1] = both;
    joined->are_joined[joined->n - 1] = true;
  } else {
    joined->stages[joined->n++] = tfx_stage_ref (stage);
  }
  return 0;
}

int
tfx_join_stages (const TfxChain *chain, const TfxFilterSpec *spec,
    TfxJoined *joined)
{
  int ret = 0;

  *joined = (TfxJoined){ 0 };
  joined->stages = calloc (chain->n_stages + 1, sizeof *joined->stages);
  joined->are_joined = calloc (chain->n_stages + 1, sizeof (bool));
  if (!joined->stages || !joined->are_joined)
    ret = -ENOMEM;
  for (size_t i = 0; ret == 0 && i < chain->n_stages; i++) {
    TfxStage *stage = chain->stages[i];

    if (stage->kind->check)
      ret = stage->kind->check (stage, spec);
    if (ret == 0)
      ret = add_stage (joined, stage, spec);
  }
  if (ret < 0)
    tfx_join_clear (joined);
  return ret;
}
