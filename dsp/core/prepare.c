/* SPDX-License-Identifier: LGPL-2.1-or-later
 * prepare.c: the next setting of a running filter, prepared beside the one in force.
 *
 * Stages are matched by id, in order.  Slots without a match are removed, and new stages
 * replace them.  A new stage with latency replaces one of the same latency, so that
 * frames keep their times.  Branches of a sum are matched one by one. */
#include "prepare.h"

#include <errno.h>
#include <stdlib.h>

#include "events.h"

typedef struct Prepare
{
  TfxSlotSpec spec;
  bool may_revert; /* -EAGAIN where a slot would be cross-faded */
  TfxPrepared *prepared;
} Prepare;

static int prepare_list (Prepare *p, const TfxSlots *list,
    const TfxChain *chain, TfxSlots *next);

/* The slot before the change; NULL: there is none, or it is being removed. */
static TfxSlot *
base_of (const Prepare *p, const TfxSlotEntry *entry)
{
  const bool is_waiting =
      entry->phase == TFX_SLOT_WAITING || entry->phase == TFX_SLOT_CATCHING_UP;

  return is_waiting && p->prepared->is_reverted ? entry->old : entry->slot;
}

static size_t
find_latency (const TfxSlot *slot)
{
  return slot ? tfx_stage_latency (slot->stage) : 0;
}

/* ---- slots that come and go -------------------------------------------------------- */

/* A cross-fade from `old` to `slot`; either may be NULL. */
static int
add_fade (Prepare *p, TfxSlots *next, TfxSlot *slot, TfxSlot *old)
{
  TfxSlotEntry *entry = &next->entries[next->n++];

  *entry = (TfxSlotEntry){ .slot = slot,
    .old = old,
    .phase = TFX_SLOT_WAITING,
    .is_new = true };
  p->prepared->is_structural = true;
  if (find_latency (slot) != find_latency (old))
    p->prepared->moves_times = true;
  entry->fade = calloc (1, sizeof *entry->fade);
  if (!entry->fade)
    return -ENOMEM;
  entry->fade->length = tfx_slot_fade_frames (&p->spec.filter);
  return 0;
}

/* A stage that replaces `old`, or is added (NULL).  A unit that has been prepared warms up
 * step by step from an old unit of the same stage. */
static int
add_new (Prepare *p, TfxSlots *next, TfxStage *stage, bool is_joined,
    TfxSlot *old)
{
  const TfxUnitKind *kind = stage->kind->unit;
  const TfxUnitSpec unit =
      tfx_slot_unit_spec (&p->spec, p->spec.filter.n_channels);
  const bool is_prepared = kind && unit.kernel && kind->is_prepared &&
                           kind->is_prepared (stage, &unit);
  TfxSlot *slot;
  int ret;

  if (p->may_revert && (old || !tfx_stage_is_identity (stage)))
    return -EAGAIN;
  ret = tfx_slot_new (stage, &p->spec, &slot);
  if (ret < 0)
    return ret;
  slot->is_joined = is_joined;
  if (!old && !slot->is_active) {
    next->entries[next->n++] = (TfxSlotEntry){ .slot = slot, .is_new = true };
    return 0;
  }
  ret = add_fade (p, next, slot, old);
  if (is_prepared && tfx_slot_is_successor (slot, old) && slot->unit &&
      old->unit)
    next->entries[next->n - 1].phase = TFX_SLOT_CATCHING_UP;
  return ret;
}

/* A stage that is removed. */
static int
add_going (Prepare *p, TfxSlots *next, const TfxSlotEntry *entry)
{
  TfxSlot *base = base_of (p, entry);

  if (base && p->may_revert)
    return -EAGAIN;
  if (base)
    return add_fade (p, next, NULL, base);
  if (!entry->slot)
    next->entries[next->n++] = (TfxSlotEntry){ .old = entry->old };
  return 0;
}

/* A slot that is kept, with new values. */
static int
add_kept (Prepare *p, TfxSlots *next, TfxSlot *slot, TfxStage *stage,
    bool is_joined)
{
  const TfxUnitSpec unit = tfx_slot_unit_spec (&p->spec, slot->n_channels);
  TfxSlotEntry *entry = &next->entries[next->n++];
  const TfxSlotSpec all = p->spec;
  int ret = 0;

  *entry = (TfxSlotEntry){ .slot = slot,
    .is_joined = is_joined || (slot->is_joined && stage == slot->stage) };
  if (slot->n_branches > 0)
    entry->branches = calloc (slot->n_branches, sizeof *entry->branches);
  if (slot->n_branches > 0 && !entry->branches)
    return -ENOMEM;
  for (size_t b = 0; ret == 0 && b < slot->n_branches; b++) {
    p->spec = tfx_slot_branch_spec (&all, stage, b);
    ret = prepare_list (p, &slot->branches[b], stage->u.sum.branches[b],
        &entry->branches[b]);
    p->spec = all;
  }
  if (ret < 0 || tfx_slot_has_values (slot, stage))
    return ret;
  ret = tfx_stage_prepare_values (stage, slot->unit, &unit, &entry->values);
  if (ret == 0)
    entry->stage = tfx_stage_ref (stage);
  return ret;
}

/* ---- a list -------------------------------------------------------------------------- */

/* The index of the stage's slot, or else of one with the same latency. */
static size_t
find_stage (const Prepare *p, const TfxSlots *list, size_t first,
    const TfxStage *stage)
{
  const size_t latency = tfx_stage_latency (stage);
  size_t same = list->n;

  for (size_t i = first; i < list->n; i++) {
    const TfxSlot *base = base_of (p, &list->entries[i]);

    if (base && base->stage->id == stage->id)
      return i;
    if (same == list->n && latency > 0 && find_latency (base) == latency)
      same = i;
  }
  return same;
}

/* Between two matches entries [at, at_end) are removed, and stages [first, end) are new.
 * Each replaces a removed one while there are any, so that both get the same input. */
static int
exchange (Prepare *p, const TfxSlots *list, size_t at, size_t at_end,
    const TfxJoined *joined, size_t first, size_t end, TfxSlots *next)
{
  int ret = 0;

  for (; ret == 0 && (first < end || at < at_end); at++) {
    const TfxSlotEntry *entry = at < at_end ? &list->entries[at] : NULL;
    TfxSlot *base = entry ? base_of (p, entry) : NULL;

    if (entry && (!base || first == end)) {
      ret = add_going (p, next, entry);
      continue;
    }
    ret = add_new (p, next, joined->stages[first], joined->are_joined[first],
        base);
    first++;
  }
  return ret;
}

static int
match_stages (Prepare *p, const TfxSlots *list, const TfxJoined *joined,
    TfxSlots *next)
{
  size_t at = 0, first = 0;
  int ret = 0;

  for (size_t j = 0; ret == 0 && j < joined->n; j++) {
    TfxStage *stage = joined->stages[j];
    const size_t found = find_stage (p, list, at, stage);
    TfxSlot *base;

    if (found == list->n)
      continue;
    base = base_of (p, &list->entries[found]);
    ret = exchange (p, list, at, found, joined, first, j, next);
    if (ret == 0 && base->stage->id == stage->id &&
        tfx_slot_can_take (base, stage, true))
      ret = add_kept (p, next, base, stage, joined->are_joined[j]);
    else if (ret == 0)
      ret = add_new (p, next, stage, joined->are_joined[j], base);
    at = found + 1;
    first = j + 1;
  }
  if (ret == 0)
    ret = exchange (p, list, at, list->n, joined, first, joined->n, next);
  return ret;
}

static int
prepare_list (Prepare *p, const TfxSlots *list, const TfxChain *chain,
    TfxSlots *next)
{
  TfxJoined joined;
  int ret = tfx_join_stages (chain, &p->spec.filter, p->spec.joins, &joined);

  if (ret < 0)
    return ret;
  next->entries = calloc (list->n + joined.n + 1, sizeof *next->entries);
  ret = next->entries ? match_stages (p, list, &joined, next) : -ENOMEM;
  tfx_join_clear (&joined);
  return ret;
}

/* ---- a prepared list ----------------------------------------------------------- */

void
tfx_prepare_drop_values (TfxSlotEntry *entry)
{
  if (entry->slot)
    tfx_stage_drop_values (entry->slot->stage, &entry->values);
  tfx_stage_unref (&entry->stage);
}

void
tfx_prepare_clear (TfxSlots *next)
{
  for (size_t i = 0; i < next->n; i++) {
    TfxSlotEntry *entry = &next->entries[i];

    for (size_t b = 0; entry->branches && b < entry->slot->n_branches; b++)
      tfx_prepare_clear (&entry->branches[b]);
    free (entry->branches);
    tfx_prepare_drop_values (entry);
    if (!entry->is_new)
      continue;
    tfx_slot_free (&entry->slot);
    free (entry->fade);
  }
  free (next->entries);
  *next = (TfxSlots){ 0 };
}

void
tfx_prepare_remake_values (TfxSlots *next, const TfxSlotSpec *spec)
{
  TfxWalk walk = tfx_walk (next);
  TfxSlotEntry *entry;

  while ((entry = tfx_walk_entry (&walk))) {
    TfxUnitSpec unit;

    if (!entry->values)
      continue;
    unit = tfx_slot_unit_spec (spec, entry->slot->n_channels);
    tfx_stage_drop_values (entry->slot->stage, &entry->values);
    if (tfx_stage_prepare_values (entry->stage, entry->slot->unit, &unit,
            &entry->values) < 0)
      tfx_stage_unref (&entry->stage);
  }
}

int
tfx_prepare_chain (const TfxFilter *f, const TfxChain *chain, bool may_revert,
    TfxPrepared *prepared)
{
  Prepare p = { tfx_filter_slot_spec (f), may_revert, prepared };
  int ret;

  *prepared = (TfxPrepared){ .is_reverted = false };
  ret = prepare_list (&p, &f->slots, chain, &prepared->next);
  if (ret == -EAGAIN) {
    tfx_prepare_clear (&prepared->next);
    *prepared = (TfxPrepared){ .is_reverted = true };
    p.may_revert = false;
    ret = prepare_list (&p, &f->slots, chain, &prepared->next);
  }
  if (ret < 0)
    tfx_prepare_clear (&prepared->next);
  prepared->next.n_stages = chain->n_stages;
  return ret;
}
