/* SPDX-License-Identifier: LGPL-2.1-or-later
 * slot.c: the values and the state of one stage of a filter. */
#include "slot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "branches.h"
#include "events.h"
#include "ramp.h"

/* ---- making ------------------------------------------------------------------ */

TfxUnitSpec
tfx_slot_unit_spec (const TfxSlotSpec *spec, unsigned n_channels)
{
  return (TfxUnitSpec){ n_channels, spec->filter.sample,
    spec->filter.block_frames, spec->kernel };
}

TfxSlotSpec
tfx_slot_branch_spec (const TfxSlotSpec *spec, const TfxStage *stage,
    size_t branch)
{
  TfxSlotSpec own = *spec;

  own.filter.n_channels =
      tfx_branches_n_channels (stage, branch, spec->filter.n_channels);
  return own;
}

static int
make_sections (TfxSlot *slot, const TfxSlotSpec *spec)
{
  const size_t n = slot->stage->u.sections.n;

  slot->n_sos = n;
  slot->sos = calloc (2 * n + 1, sizeof *slot->sos);
  slot->state = calloc (2 * n + 1, spec->filter.n_channels * sizeof (double));
  if (!slot->sos || !slot->state)
    return -ENOMEM;
  slot->to = slot->sos + n;
  memcpy (slot->sos, slot->stage->u.sections.sos, n * sizeof *slot->sos);
  memcpy (slot->to, slot->sos, n * sizeof *slot->sos);
  return tfx_ramp_init (slot, &spec->filter);
}

int
tfx_slots_new (const TfxChain *chain, const TfxSlotSpec *spec, TfxSlots *list)
{
  TfxJoined joined;
  int ret = tfx_join_stages (chain, &spec->filter, spec->joins, &joined);

  *list = (TfxSlots){ 0 };
  if (ret < 0)
    return ret;
  list->entries = calloc (joined.n + 1, sizeof *list->entries);
  list->n_stages = chain->n_stages;
  if (!list->entries)
    ret = -ENOMEM;
  for (size_t i = 0; ret == 0 && i < joined.n; i++) {
    TfxSlot **slot = &list->entries[i].slot;

    ret = tfx_slot_new (joined.stages[i], spec, slot);
    if (ret < 0)
      break;
    (*slot)->is_joined = joined.are_joined[i];
    list->n++;
  }
  tfx_join_clear (&joined);
  if (ret < 0)
    tfx_slots_clear (list);
  return ret;
}

int
tfx_slot_new (TfxStage *stage, const TfxSlotSpec *spec, TfxSlot **out)
{
  const size_t n = tfx_branches_are_in (stage) ? stage->u.sum.n : 0;
  TfxSlot *slot;
  int ret = stage->kind->check ? stage->kind->check (stage, &spec->filter) : 0;

  *out = NULL;
  if (ret < 0)
    return ret;
  slot = calloc (1, sizeof *slot);
  if (!slot)
    return -ENOMEM;
  slot->stage = tfx_stage_ref (stage);
  slot->n_channels = spec->filter.n_channels;
  slot->is_active = !tfx_stage_is_identity (stage);
  if (n > 0) {
    slot->branches = calloc (n, sizeof *slot->branches);
    slot->n_branches = slot->branches ? n : 0;
    ret = slot->branches ? 0 : -ENOMEM;
  }
  for (size_t i = 0; ret == 0 && i < n; i++) {
    const TfxSlotSpec own = tfx_slot_branch_spec (spec, stage, i);

    ret = tfx_slots_new (stage->u.sum.branches[i], &own, &slot->branches[i]);
  }
  if (stage->kind == &tfx_kind_sections)
    ret = make_sections (slot, spec);
  else if (stage->kind == &tfx_kind_gain)
    slot->gain = slot->gain_to = stage->u.gain;
  /* One that waits for the end of a ramp. */
  if (ret == 0 && stage->kind->step == TFX_STEP_CASCADE)
    ret = tfx_events_reserve (slot, 1, SIZE_MAX);
  if (ret == 0 && spec->kernel)
    ret = tfx_slot_make_room (slot, spec);
  if (ret < 0)
    tfx_slot_free (&slot);
  *out = slot;
  return ret;
}

int
tfx_slot_make_room (TfxSlot *slot, const TfxSlotSpec *spec)
{
  const TfxStage *stage = slot->stage;
  const TfxUnitKind *kind = stage->kind->unit;
  const TfxUnitSpec unit = tfx_slot_unit_spec (spec, slot->n_channels);
  int ret = 0;

  if (!kind || slot->unit)
    return 0;
  if (!spec->kernel) {
    if (!slot->state)
      slot->state = calloc (tfx_stage_state_size (stage) + 1,
          unit.n_channels * sizeof (double));
    return slot->state ? 0 : -ENOMEM;
  }
  ret = kind->make (slot->stage, &unit, &slot->unit);
  if (ret == 0 && slot->state) {
    if (kind->set_state)
      kind->set_state (slot->unit, slot->state);
    free (slot->state);
    slot->state = NULL;
  }
  return ret;
}

void
tfx_slot_drop_resident (TfxSlot *slot)
{
  TfxResident *resident = slot->resident;

  slot->resident = NULL;
  if (!resident)
    return;
  free (resident->room);
  resident->free (resident);
}

void
tfx_slot_free (TfxSlot **slot)
{
  TfxSlot *s = *slot;

  *slot = NULL;
  if (!s)
    return;
  tfx_events_free (s);
  tfx_slot_drop_resident (s);
  if (s->unit)
    s->stage->kind->unit->free (s->unit);
  for (size_t i = 0; i < s->n_branches; i++)
    tfx_slots_clear (&s->branches[i]);
  free (s->branches);
  tfx_ramp_clear (s);
  free (s->sos);
  free (s->state);
  tfx_stage_unref (&s->stage);
  free (s);
}

void
tfx_slots_clear (TfxSlots *list)
{
  for (size_t i = 0; i < list->n; i++) {
    tfx_slot_free (&list->entries[i].slot);
    tfx_slot_free (&list->entries[i].old);
    free (list->entries[i].fade);
  }
  free (list->entries);
  *list = (TfxSlots){ 0 };
}

/* ---- values ------------------------------------------------------------------ */

int
tfx_slot_check (const TfxSlot *slot, const TfxStage *stage,
    const TfxFilterSpec *filter)
{
  TfxFilterSpec spec = *filter;

  spec.n_channels = slot->n_channels;
  return stage->kind->check ? stage->kind->check (stage, &spec) : 0;
}

bool
tfx_slot_can_take (const TfxSlot *slot, const TfxStage *stage, bool has_run)
{
  const TfxStage *now = slot->stage;

  if (!tfx_stage_is_same_structure (now, stage))
    return false;
  /* Only units have ramps, not devices. */
  return !now->kind->unit || slot->unit || !has_run ||
         tfx_stage_is_same (now, stage);
}

TfxSlotValues
tfx_slot_target (const TfxSlot *slot)
{
  const TfxEvent *waiting = tfx_events_waiting (slot);

  return waiting ? tfx_event_values (slot, waiting)
                 : (TfxSlotValues){ slot->to, NULL, slot->gain_to };
}

bool
tfx_slot_are_values (const TfxSlot *slot, const TfxSlotValues *values,
    const TfxStage *stage)
{
  if (!slot->sos)
    return values->gain == stage->u.gain;
  return memcmp (values->sos, stage->u.sections.sos,
             slot->n_sos * sizeof *slot->sos) == 0;
}

bool
tfx_slot_has_values (const TfxSlot *slot, const TfxStage *stage)
{
  TfxSlotValues values;

  if (stage->kind->step != TFX_STEP_CASCADE)
    return tfx_stage_is_same (slot->stage, stage);
  values = tfx_slot_target (slot);
  return tfx_slot_are_values (slot, &values, stage);
}

TfxSlotValues
tfx_slot_values (const TfxStage *stage)
{
  if (stage->kind == &tfx_kind_gain)
    return (TfxSlotValues){ NULL, NULL, stage->u.gain };
  return (TfxSlotValues){ stage->u.sections.sos,
    stage->u.sections.has_shapes ? stage->u.sections.shapes : NULL, 1.0 };
}

bool
tfx_slot_is_identity (const TfxSlot *slot, const TfxSlotValues *values)
{
  TfxStage stage = *slot->stage;

  if (slot->sos)
    stage.u.sections.sos = (TfxSos *)values->sos;
  else
    stage.u.gain = values->gain;
  return tfx_stage_is_identity (&stage);
}

/* ---- state ------------------------------------------------------------------- */

void
tfx_slot_reset (TfxSlot *slot)
{
  const TfxStage *stage = slot->stage;

  tfx_slot_drop_resident (slot);
  if (slot->state)
    memset (slot->state, 0,
        tfx_stage_state_size (stage) * slot->n_channels * sizeof (double));
  if (slot->unit)
    stage->kind->unit->reset (slot->unit);
  tfx_ramp_reset (slot);
}

double
tfx_slot_peak (const TfxSlot *slot)
{
  const TfxStage *stage = slot->stage;
  const size_t n = tfx_stage_state_size (stage) * slot->n_channels;
  double peak = 0.0;

  if (slot->unit)
    return stage->kind->unit->state_peak
               ? stage->kind->unit->state_peak (slot->unit)
               : 0.0;
  if (!slot->state)
    return 0.0;
  for (size_t i = 0; i < n; i++)
    peak = fmax (peak, fabs (slot->state[i]));
  return peak;
}

/* The next slot, or (is_entry) the next entry. */
static inline void *
walk_on (TfxWalk *walk, const bool is_entry)
{
  for (;;) {
    TfxWalkLevel *at = &walk->at[walk->depth];
    TfxSlotEntry *entry;
    TfxSlot *slot;

    if (at->entry == at->list->n) {
      if (walk->depth-- == 0)
        return NULL;
      continue;
    }
    entry = &at->list->entries[at->entry];
    if (at->slot == 2) {
      at->entry++;
      at->slot = 0;
      if (is_entry)
        return entry;
      continue;
    }
    slot = at->slot == 0 ? entry->slot : entry->old;
    if (slot && at->branch < slot->n_branches) {
      const TfxSlots *list = at->slot == 0
                                 ? tfx_slot_entry_branch (entry, at->branch)
                                 : &slot->branches[at->branch];

      at->branch++;
      walk->at[++walk->depth] = (TfxWalkLevel){ .list = list };
      continue;
    }
    at->slot = at->slot == 0 && entry->old ? 1 : 2;
    at->branch = 0;
    if (!is_entry && slot)
      return slot;
  }
}

TfxSlotEntry *
tfx_walk_entry (TfxWalk *walk)
{
  return walk_on (walk, true);
}

TfxSlot *
tfx_walk_slot (TfxWalk *walk)
{
  return walk_on (walk, false);
}

TfxSlotEntry *
tfx_slots_find (const TfxSlots *list, uint64_t id)
{
  TfxSlotEntry *found = NULL;

  for (size_t i = 0; !found && i < list->n; i++) {
    TfxSlotEntry *entry = &list->entries[i];

    if (!entry->slot)
      continue;
    if (entry->slot->stage->id == id)
      return entry;
    for (size_t b = 0; !found && b < entry->slot->n_branches; b++)
      found = tfx_slots_find (tfx_slot_entry_branch (entry, b), id);
  }
  return found;
}

/* ---- as a chain ---------------------------------------------------------------- */

static int make_chain (const TfxSlots *list, TfxStage *stage, bool *is_found,
    TfxChain **chain);

/* A stage with the target values of a slot. */
static TfxStage *
make_stage (const TfxSlotEntry *entry, TfxStage *stage, bool *is_found)
{
  const TfxSlot *slot = entry->slot;
  TfxStage *s = entry->stage ? entry->stage : slot->stage, *sum = NULL;
  TfxChain **branches;
  int ret = 0;

  if (stage && s->id == stage->id) {
    *is_found = true;
    return tfx_stage_ref (stage);
  }
  if (slot->n_branches == 0 && !entry->stage && slot->sos)
    return tfx_stage_new_sections (s->id, tfx_slot_target (slot).sos,
        slot->n_sos);
  if (slot->n_branches == 0 && !entry->stage && s->kind == &tfx_kind_gain)
    return tfx_stage_new_gain (s->id, tfx_slot_target (slot).gain);
  if (slot->n_branches == 0)
    return tfx_stage_ref (s);
  branches = calloc (slot->n_branches, sizeof *branches);
  for (size_t b = 0; branches && ret == 0 && b < slot->n_branches; b++)
    ret = make_chain (tfx_slot_entry_branch (entry, b), stage, is_found,
        &branches[b]);
  if (branches && ret == 0)
    sum = tfx_branches_new_like (s, branches);
  for (size_t b = 0; branches && b < slot->n_branches; b++)
    tfx_chain_unref (&branches[b]);
  free (branches);
  return sum;
}

static int
make_chain (const TfxSlots *list, TfxStage *stage, bool *is_found,
    TfxChain **chain)
{
  int ret = 0;

  *chain = tfx_chain_new ();
  if (!*chain)
    return -ENOMEM;
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    if (list->entries[i].slot)
      ret = tfx_chain_take (chain,
          make_stage (&list->entries[i], stage, is_found));
  }
  if (ret < 0)
    tfx_chain_unref (chain);
  return ret;
}

int
tfx_slots_get_chain (const TfxSlots *list, TfxStage *stage, TfxChain **chain)
{
  bool is_found = !stage;
  int ret = make_chain (list, stage, &is_found, chain);

  if (ret == 0 && !is_found) {
    tfx_chain_unref (chain);
    ret = -ENOENT;
  }
  return ret;
}
