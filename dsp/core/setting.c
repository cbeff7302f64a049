/* SPDX-License-Identifier: LGPL-2.1-or-later
 * setting.c: chains with one stage replaced. */
#include "setting.h"

#include <errno.h>
#include <stdlib.h>

#include "branches.h"

/* A sum or a split with other branches, whose references it takes. */
static TfxStage *
make_sum (const TfxStage *sum, TfxChain **branches)
{
  TfxStage *stage = tfx_branches_new_like (sum, branches);

  for (size_t b = 0; b < sum->u.sum.n; b++)
    tfx_chain_unref (&branches[b]);
  free (branches);
  return stage;
}

static int replace (const TfxChain *chain, TfxStage *stage, TfxChain **out,
    bool *is_found);

static TfxStage *
replace_in_sum (const TfxStage *sum, TfxStage *stage, bool *is_found)
{
  TfxChain **branches = calloc (sum->u.sum.n, sizeof *branches);
  int ret = branches ? 0 : -ENOMEM;

  for (size_t b = 0; ret == 0 && b < sum->u.sum.n; b++)
    ret = replace (sum->u.sum.branches[b], stage, &branches[b], is_found);
  if (ret == 0)
    return make_sum (sum, branches);
  for (size_t b = 0; branches && b < sum->u.sum.n; b++)
    tfx_chain_unref (&branches[b]);
  free (branches);
  return NULL;
}

static int
replace (const TfxChain *chain, TfxStage *stage, TfxChain **out, bool *is_found)
{
  int ret = 0;

  *out = tfx_chain_new ();
  if (!*out)
    return -ENOMEM;
  for (size_t i = 0; ret == 0 && i < chain->n_stages; i++) {
    TfxStage *s = chain->stages[i];

    if (s->id == stage->id) {
      *is_found = true;
      ret = tfx_chain_take (out, tfx_stage_ref (stage));
    } else if (tfx_branches_are_in (s)) {
      ret = tfx_chain_take (out, replace_in_sum (s, stage, is_found));
    } else {
      ret = tfx_chain_take (out, tfx_stage_ref (s));
    }
  }
  if (ret < 0)
    tfx_chain_unref (out);
  return ret;
}

int
tfx_setting_replace (const TfxChain *chain, TfxStage *stage,
    TfxChain **replaced)
{
  bool is_found = false;
  int ret = replace (chain, stage, replaced, &is_found);

  if (ret == 0 && !is_found) {
    tfx_chain_unref (replaced);
    ret = -ENOENT;
  }
  return ret;
}

static int make_chain (const TfxPlaces *list, TfxStage *stage, TfxChain **out);

/* A stage with the values that a slot goes to. */
static TfxStage *
make_stage (const TfxSlot *slot, TfxStage *stage)
{
  const TfxStage *s = slot->stage;
  TfxChain **branches;
  int ret = 0;

  if (stage && s->id == stage->id)
    return tfx_stage_ref (stage);
  if (slot->sos)
    return tfx_stage_new_sections (s->id, tfx_slot_target (slot), slot->n_sos);
  if (s->kind->step == TFX_STEP_CASCADE)
    return tfx_stage_new_gain (s->id, tfx_slot_target_gain (slot));
  if (slot->n_branches == 0)
    return tfx_stage_ref (slot->stage);
  branches = calloc (slot->n_branches, sizeof *branches);
  for (size_t b = 0; branches && ret == 0 && b < slot->n_branches; b++)
    ret = make_chain (&slot->branches[b], stage, &branches[b]);
  if (branches && ret == 0)
    return make_sum (s, branches);
  for (size_t b = 0; branches && b < slot->n_branches; b++)
    tfx_chain_unref (&branches[b]);
  free (branches);
  return NULL;
}

static int
make_chain (const TfxPlaces *list, TfxStage *stage, TfxChain **out)
{
  int ret = 0;

  *out = tfx_chain_new ();
  if (!*out)
    return -ENOMEM;
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    if (list->places[i].slot)
      ret = tfx_chain_take (out, make_stage (list->places[i].slot, stage));
  }
  if (ret < 0)
    tfx_chain_unref (out);
  return ret;
}

int
tfx_setting_chain (const TfxFilter *f, TfxStage *stage, TfxChain **chain)
{
  return make_chain (&f->places, stage, chain);
}
