/* SPDX-License-Identifier: LGPL-2.1-or-later
 * change.c: a change of a running filter, from its first frame to its last.
 *
 * An entry whose stage gets another structure has two slots, the old and the new
 * one.  It waits until a plan that runs both has been compiled, and ends
 * when one without the old slot has been compiled.  Both happen at fixed frames, so that
 * the output does not depend on how the stream is split. */
#include "change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "automation.h"
#include "ramp.h"
#include "prepare.h"

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

static const TfxUnitKind *
unit_of (const TfxSlotEntry *entry)
{
  return entry->slot->stage->kind->unit;
}

/* Leaves a slot to a thread that may block: this one may be the streaming thread.  Frees
 * its state on a device. */
static void
retire (TfxFilter *f, TfxSlot **slot)
{
  TfxSlot *s = *slot;

  *slot = NULL;
  if (!s)
    return;
  tfx_slot_drop_resident (s);
  s->next_retired = __atomic_load_n (&f->retired, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n (&f->retired, &s->next_retired, s, true,
      __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
}

/* The old slot goes, or the entry. */
static void
end_fade (TfxFilter *f, TfxSlotEntry *entry)
{
  retire (f, &entry->old);
  free (entry->fade);
  entry->fade = NULL;
  entry->phase = TFX_SLOT_STEADY;
  entry->has_past = false;
}

/* A bit for each phase that an entry is in. */
static unsigned
find_phases (const TfxSlots *list)
{
  TfxWalk walk = tfx_walk (list);
  const TfxSlotEntry *entry;
  unsigned phases = 0;

  while ((entry = tfx_walk_entry (&walk)))
    phases |= 1u << entry->phase;
  return phases;
}

static bool
is_changing (unsigned phases)
{
  return phases & ~(1u << TFX_SLOT_STEADY);
}

/* Drops entries without slots. */
static void
drop_empty (TfxSlots *list)
{
  size_t n = 0;

  for (size_t i = 0; i < list->n; i++) {
    const TfxSlotEntry *entry = &list->entries[i];
    const TfxSlot *slots[2] = { entry->slot, entry->old };

    for (int k = 0; k < 2; k++) {
      for (size_t b = 0; slots[k] && b < slots[k]->n_branches; b++)
        drop_empty (&slots[k]->branches[b]);
    }
    if (entry->slot || entry->old)
      list->entries[n++] = *entry;
  }
  list->n = n;
}

/* ---- the filter runs ------------------------------------------------------------------ */

size_t
tfx_change_frames (TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  const TfxSlotEntry *entry;
  size_t n = SIZE_MAX;

  if (!f->is_changing)
    return n;
  while ((entry = tfx_walk_entry (&walk))) {
    if (entry->phase == TFX_SLOT_FADING &&
        entry->fade->done < entry->fade->length)
      n = least (n, tfx_fade_frames (entry->fade));
    if (entry->phase == TFX_SLOT_CATCHING_UP &&
        unit_of (entry)->catch_up_frames)
      n = least (n, unit_of (entry)->catch_up_frames (f->spec.block_frames));
  }
  return least (n, tfx_automation_wake_frames (f));
}

void
tfx_change_go_on (TfxFilter *f, size_t n_frames)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlotEntry *entry;
  TfxSlot *slot;

  f->is_changing = tfx_filter_has_next (f);
  while ((entry = tfx_walk_entry (&walk))) {
    TfxFade *fade = entry->fade;

    if (entry->phase == TFX_SLOT_STEADY)
      continue;
    f->is_changing = true;
    if (entry->phase == TFX_SLOT_FADING) {
      fade->done += least (n_frames, fade->length - fade->done);
      f->wants_compile = f->wants_compile || fade->done == fade->length;
    }
    if (entry->phase == TFX_SLOT_CATCHING_UP &&
        unit_of (entry)->catch_up (entry->slot->unit, entry->old->unit,
            n_frames) == 0) {
      entry->phase = TFX_SLOT_WAITING;
      entry->has_past = true;
      f->wants_compile = true;
    }
  }
  for (walk = tfx_walk (&f->slots); (slot = tfx_walk_slot (&walk));) {
    tfx_automation_step (f, slot);
    f->is_changing =
        f->is_changing || slot->ramp.n_cells > 0 || tfx_events_get (slot, 0) ||
        (slot->unit && slot->stage->kind->unit->is_changing (slot->unit));
  }
}

/* ---- history -------------------------------------------------------------------------- */

/* A new slot takes over what it can use of the state of the old one.  Sections with other
 * values begin at rest. */
static void
seed_slot (TfxSlot *to, const TfxSlot *from)
{
  const TfxUnitKind *kind = to->stage->kind->unit;

  if (to->stage->kind != from->stage->kind ||
      to->n_channels != from->n_channels)
    return;
  if (kind && to->unit && from->unit && kind->catch_up &&
      (!kind->catch_up_start || kind->catch_up_start (to->unit, from->unit)))
    kind->catch_up (to->unit, from->unit, SIZE_MAX);
  if (to->sos && to->n_sos == from->n_sos && from->ramp.n_cells == 0 &&
      memcmp (to->sos, from->sos, to->n_sos * sizeof *to->sos) == 0)
    memcpy (to->state, from->state,
        2 * to->n_sos * to->n_channels * sizeof *to->state);
}

/* ---- cross-fades begin and end ---------------------------------------------------- */

/* For a FIR with a long history part of a block costs almost the time of a whole one: its
 * cross-fade continues to the end of a block, unless that is more than three times as
 * long. */
static size_t
fade_to_end_of_block (const TfxFilter *f, size_t n_frames)
{
  const size_t n_block = f->spec.block_frames;
  const size_t over = n_block > 0 ? (f->n_run + n_frames) % n_block : 0;
  const size_t n_whole = n_frames + (over > 0 ? n_block - over : 0);

  return n_whole <= 3 * n_frames ? n_whole : n_frames;
}

/* Whether a slot repeats its input, as a delay line, a FIR or a reverb does. */
static bool
is_echo (const TfxSlot *slot)
{
  return slot->stage->kind->unit && slot->stage->kind->response &&
         tfx_stage_state_size (slot->stage) > 0;
}

/* The same for a slot in it. */
static bool
has_echo (TfxSlot *slot)
{
  const TfxSlots one = { 1, &(TfxSlotEntry){ .slot = slot }, 1 };
  TfxWalk walk = tfx_walk (&one);

  while ((slot = tfx_walk_slot (&walk)) && !is_echo (slot))
    ;
  return slot != NULL;
}

/* Whether the echoes of a branch are in the other one too, and all before each is the
 * same. */
static bool
has_same_echoes (const TfxSlots *branch, const TfxSlots *other)
{
  TfxWalk walk = tfx_walk (branch), old = tfx_walk (other);
  bool is_same = true;
  TfxSlot *slot;

  while ((slot = tfx_walk_slot (&walk))) {
    const TfxSlot *from = is_same ? tfx_walk_slot (&old) : NULL;

    if (is_echo (slot) && !tfx_slot_is_successor (slot, from))
      return false;
    is_same = from && from->stage->id == slot->stage->id &&
              (tfx_branches_are_in (slot->stage)
                      ? tfx_stage_is_same_structure (slot->stage, from->stage)
                      : tfx_stage_is_same (slot->stage, from->stage));
  }
  return true;
}

/* Whether a slot may take over history.  In a branch a stage that begins, or has other
 * values, makes an edge, which an echo after it would repeat. */
static bool
can_seed (const TfxSlot *to, const TfxSlot *from)
{
  for (size_t b = 0; b < to->n_branches; b++) {
    bool is_found = false;

    for (size_t k = 0; !is_found && k < from->n_branches; k++)
      is_found = has_same_echoes (&to->branches[b], &from->branches[k]);
    if (!is_found)
      return false;
  }
  return true;
}

/* Slots in branches take over history, by their ids; or only those with look-ahead, whose
 * output an edge in the input reaches later. */
static void
seed_branches (TfxSlot *to, const TfxSlot *from, bool all)
{
  for (size_t b = 0; b < to->n_branches; b++) {
    TfxWalk walk = tfx_walk (&to->branches[b]);
    TfxSlot *slot;

    while ((slot = tfx_walk_slot (&walk))) {
      const TfxSlot *found = NULL;

      for (size_t k = 0; !found && k < from->n_branches; k++) {
        TfxWalk old = tfx_walk (&from->branches[k]);

        while ((found = tfx_walk_slot (&old)) &&
               found->stage->id != slot->stage->id)
          ;
      }
      if (found &&
          (all || (!is_echo (slot) && tfx_stage_latency (slot->stage) > 0)))
        seed_slot (slot, found);
    }
  }
}

/* A new slot takes over history.  Without history, a slot that repeats its input gets an
 * input that rises.  A slot with look-ahead runs without output until its look-ahead is
 * filled and its input has risen: *lead and *rise are the most of all. */
static void
seed (TfxSlotEntry *entry, size_t *lead, size_t *rise)
{
  TfxSlot *to = entry->slot;
  const bool is_next = tfx_slot_is_successor (to, entry->old);
  const bool succeeds = is_next && can_seed (to, entry->old);
  const size_t latency = to ? tfx_stage_latency (to->stage) : 0;
  TfxFade *fade = entry->fade;

  fade->rises = to && !entry->has_past && !succeeds && has_echo (to);
  if (!entry->has_past && succeeds)
    seed_slot (to, entry->old);
  if (!entry->has_past && is_next)
    seed_branches (to, entry->old, succeeds);
  if (fade->rises && fade->length > *rise)
    *rise = fade->length;
  if (latency > 0 && !entry->has_past &&
      !(succeeds && to->unit && entry->old->unit)) {
    const size_t n = latency + (fade->rises ? fade->length : 0);

    *lead = n > *lead ? n : *lead;
  }
}

void
tfx_change_settle (TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlotEntry *entry;
  size_t lead = 0, rise = 0;

  if (!f->wants_compile)
    return;
  f->wants_compile = false;
  f->serial++;
  while ((entry = tfx_walk_entry (&walk))) {
    if (entry->phase == TFX_SLOT_WAITING)
      seed (entry, &lead, &rise);
  }
  /* During the lead the input rises completely, or it would be faded in twice. */
  if (lead > 0 && lead < rise)
    lead = rise;
  for (walk = tfx_walk (&f->slots); (entry = tfx_walk_entry (&walk));) {
    TfxFade *fade = entry->fade;

    if (entry->phase == TFX_SLOT_FADING && fade->done >= fade->length) {
      end_fade (f, entry);
    } else if (entry->phase == TFX_SLOT_WAITING) {
      fade->lead = lead;
      fade->length += lead;
      if (entry->has_past)
        fade->length = fade_to_end_of_block (f, fade->length);
      entry->phase = TFX_SLOT_FADING;
    }
  }
  drop_empty (&f->slots);
  tfx_change_advance (f, 0);
}

/* Reverts the changes for which no plan has been compiled. */
static void
revert (TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlotEntry *entry;

  while ((entry = tfx_walk_entry (&walk))) {
    if (entry->phase != TFX_SLOT_WAITING &&
        entry->phase != TFX_SLOT_CATCHING_UP)
      continue;
    retire (f, &entry->slot);
    entry->slot = entry->old;
    entry->old = NULL;
    end_fade (f, entry);
  }
  drop_empty (&f->slots);
}

/* ---- a prepared setting comes into force -------------------------------------------- */

/* A slot that fades out keeps its values: the new one has the later events, and the values that
 * are due. */
static void
commit_new (TfxFilter *f, TfxSlotEntry *entry)
{
  TfxSlotEntry old = { .slot = entry->old };
  TfxWalk walk = tfx_walk (&(TfxSlots){ 1, &old, 1 });
  TfxSlot *slot;

  entry->is_new = false;
  if (entry->phase == TFX_SLOT_CATCHING_UP && unit_of (entry)->catch_up_start &&
      !unit_of (entry)->catch_up_start (entry->slot->unit, entry->old->unit))
    entry->phase = TFX_SLOT_WAITING;
  while ((slot = tfx_walk_slot (&walk))) {
    const size_t n_grid = tfx_stage_grid_frames (slot->stage);
    const uint64_t point = tfx_automation_point (slot->stage, f->n_run);

    tfx_events_cut (slot, point < n_grid ? 0 : point - n_grid);
  }
  old.slot = entry->slot;
  for (walk = tfx_walk (&(TfxSlots){ 1, &old, 1 });
       (slot = tfx_walk_slot (&walk));)
    tfx_automation_finish (f, slot,
        tfx_automation_point (slot->stage, f->n_run));
}

static void commit_list (TfxFilter *f, TfxSlots *list, TfxSlots *next);

/* The slot keeps its current entry, unless it has been removed. */
static void
commit_kept (TfxFilter *f, const TfxSlots *list, TfxSlotEntry *entry)
{
  TfxSlotEntry next = *entry;

  *entry = (TfxSlotEntry){ NULL };
  for (size_t i = 0; i < list->n; i++) {
    const TfxSlotEntry *now = &list->entries[i];

    if (next.slot ? now->slot == next.slot : !now->slot && now->old == next.old)
      *entry = *now;
  }
  if (!entry->slot)
    return;
  entry->slot->is_joined = next.is_joined;
  if (next.stage)
    tfx_automation_set_prepared (f, entry->slot, next.stage, next.values);
  tfx_stage_unref (&next.stage);
  for (size_t b = 0; next.branches && b < entry->slot->n_branches; b++)
    commit_list (f, &entry->slot->branches[b], &next.branches[b]);
  free (next.branches);
}

static void
commit_list (TfxFilter *f, TfxSlots *list, TfxSlots *next)
{
  for (size_t i = 0; i < next->n; i++) {
    if (next->entries[i].is_new)
      commit_new (f, &next->entries[i]);
    else
      commit_kept (f, list, &next->entries[i]);
  }
  free (list->entries);
  *list = *next;
  *next = (TfxSlots){ 0 };
}

static void
commit (TfxFilter *f, TfxSlots *next)
{
  commit_list (f, &f->slots, next);
  drop_empty (&f->slots);
  f->is_changing = true;
  f->wants_compile =
      f->wants_compile || (find_phases (&f->slots) & 1u << TFX_SLOT_WAITING);
}

/* The new slots of a prepared list take over the events of the slots that they replace in the next
 * setting, if these have the same structure. */
static void
adopt_events (TfxFilter *f, const TfxSlots *prepared)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);

  for (size_t i = 0; i < prepared->n; i++) {
    const TfxSlotEntry *entry = &prepared->entries[i];
    TfxSlotEntry own = { .slot = entry->is_new ? entry->slot : NULL };
    TfxWalk walk = tfx_walk (&(TfxSlots){ 1, &own, 1 });
    TfxSlot *slot;

    while ((slot = tfx_walk_slot (&walk))) {
      const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
      const TfxSlotEntry *next = tfx_slots_find (&f->next, slot->stage->id);
      const TfxSlotEntry *now = tfx_slots_find (&f->slots, slot->stage->id);

      if (next && !(now && now->slot == next->slot) &&
          tfx_slot_can_take (next->slot, slot->stage, false))
        tfx_events_move (slot, next->slot, &unit);
    }
    for (size_t b = 0; entry->branches && b < entry->slot->n_branches; b++)
      adopt_events (f, &entry->branches[b]);
  }
}

/* Another setting comes into force now; or when the cross-fades that run are over. */
static int
begin (TfxFilter *f, TfxChain *chain, bool may_move_times)
{
  const unsigned phases = find_phases (&f->slots);
  const bool is_fading = phases & 1u << TFX_SLOT_FADING;
  TfxPrepared prepared;
  int ret = tfx_prepare_chain (f, chain, is_changing (phases) && !is_fading,
      &prepared);

  if (ret == 0 && prepared.moves_times && !may_move_times) {
    tfx_prepare_clear (&prepared.next);
    ret = -ENOTSUP;
  }
  if (ret < 0)
    return ret;
  adopt_events (f, &prepared.next);
  tfx_prepare_clear (&f->next);
  if (prepared.is_structural && is_fading) {
    f->next = prepared.next;
    f->is_changing = true;
    return 0;
  }
  if (prepared.is_reverted)
    revert (f);
  commit (f, &prepared.next);
  return 0;
}

int
tfx_change_begin (TfxFilter *f, TfxChain *chain)
{
  return begin (f, chain, false);
}

void
tfx_change_begin_next (TfxFilter *f)
{
  if (tfx_filter_has_next (f) && !is_changing (find_phases (&f->slots)))
    commit (f, &f->next);
}

/* ---- at once ----------------------------------------------------------------- */

/* Ends the cross-fades; if they have not begun, the new slots may take over state. */
static void
finish (TfxFilter *f, bool has_state)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlotEntry *entry;

  while ((entry = tfx_walk_entry (&walk))) {
    if (entry->phase == TFX_SLOT_STEADY)
      continue;
    if (has_state && tfx_slot_is_successor (entry->slot, entry->old))
      seed_slot (entry->slot, entry->old);
    end_fade (f, entry);
    f->serial++;
  }
  drop_empty (&f->slots);
}

void
tfx_change_finish (TfxFilter *f)
{
  finish (f, false);
  if (tfx_filter_has_next (f)) {
    commit (f, &f->next);
    finish (f, false);
  }
  f->is_changing = false;
}

int
tfx_change_at_once (TfxFilter *f, TfxChain *chain)
{
  int ret = f->is_changing ? -EBUSY : begin (f, chain, true);

  if (ret < 0)
    return ret;
  finish (f, true);
  f->wants_compile = false;
  f->serial++;
  tfx_change_advance (f, 0);
  return 0;
}
