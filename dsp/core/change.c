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

/* Data of a pass over all entries. */
typedef struct Pass
{
  TfxFilter *filter;
  size_t n_frames; /* that have run, or that come before something changes */
  bool is_changing, is_fading, is_waiting, wants_compile;
  /* Of the cross-fades that begin now, which have one lead: its length, and how long an
   * input rises. */
  size_t lead, rise;
} Pass;

typedef void (*EntryFunction) (TfxSlotEntry *entry, Pass *pass);

/* Calls f for every entry, those of branches first; then drops the empty ones. */
static void
each_entry (TfxSlots *list, EntryFunction f, Pass *pass)
{
  size_t n = 0;

  for (size_t i = 0; i < list->n; i++) {
    TfxSlotEntry *entry = &list->entries[i];
    TfxSlot *slots[2] = { entry->slot, entry->old };

    for (int k = 0; k < 2; k++) {
      for (size_t b = 0; slots[k] && b < slots[k]->n_branches; b++)
        each_entry (&slots[k]->branches[b], f, pass);
    }
    f (entry, pass);
    if (entry->slot || entry->old)
      list->entries[n++] = *entry;
  }
  list->n = n;
}

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

static void
look_for_phase (TfxSlotEntry *entry, Pass *pass)
{
  pass->is_fading = pass->is_fading || entry->phase == TFX_SLOT_FADING;
  pass->is_waiting = pass->is_waiting || entry->phase == TFX_SLOT_WAITING;
  pass->is_changing = pass->is_changing || entry->phase != TFX_SLOT_STEADY;
}

/* ---- the filter runs ------------------------------------------------------------------ */

static void
find_end (TfxSlotEntry *entry, Pass *pass)
{
  if (entry->phase == TFX_SLOT_FADING &&
      entry->fade->done < entry->fade->length)
    pass->n_frames = least (pass->n_frames, tfx_fade_frames (entry->fade));
  if (entry->phase == TFX_SLOT_CATCHING_UP && unit_of (entry)->catch_up_frames)
    pass->n_frames = least (pass->n_frames,
        unit_of (entry)->catch_up_frames (pass->filter->spec.block_frames));
}

size_t
tfx_change_frames (TfxFilter *f)
{
  Pass pass = { .filter = f, .n_frames = SIZE_MAX };

  if (!f->is_changing)
    return SIZE_MAX;
  each_entry (&f->slots, find_end, &pass);
  return least (pass.n_frames, tfx_automation_wake_frames (f));
}

static void
advance (TfxSlotEntry *entry, Pass *pass)
{
  TfxFade *fade = entry->fade;

  look_for_phase (entry, pass);
  if (entry->phase == TFX_SLOT_FADING) {
    fade->done += least (pass->n_frames, fade->length - fade->done);
    pass->wants_compile = pass->wants_compile || fade->done == fade->length;
  }
  if (entry->phase == TFX_SLOT_CATCHING_UP &&
      unit_of (entry)->catch_up (entry->slot->unit, entry->old->unit,
          pass->n_frames) == 0) {
    entry->phase = TFX_SLOT_WAITING;
    entry->has_past = true;
    pass->wants_compile = true;
  }
}

static void
look_at_slot (TfxSlot *slot, void *data)
{
  Pass *pass = data;

  if (slot->ramp.n_cells > 0 || tfx_events_get (slot, 0) ||
      (slot->unit && slot->stage->kind->unit->is_changing (slot->unit)))
    pass->is_changing = true;
}

void
tfx_change_go_on (TfxFilter *f, size_t n_frames)
{
  Pass pass = { .n_frames = n_frames,
    .is_changing = tfx_filter_has_next (f),
    .wants_compile = f->wants_compile };

  each_entry (&f->slots, advance, &pass);
  tfx_slots_each (&f->slots, tfx_automation_step, f);
  tfx_slots_each (&f->slots, look_at_slot, &pass);
  f->is_changing = pass.is_changing;
  f->wants_compile = f->wants_compile || pass.wants_compile;
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

/* A slot in a branch is seeded once. */
typedef struct Seed
{
  TfxSlot *to;
  bool is_seeded;
} Seed;

static void
seed_from (TfxSlot *from, void *data)
{
  Seed *seed = data;

  if (seed->is_seeded || from->stage->id != seed->to->stage->id)
    return;
  seed->is_seeded = true;
  seed_slot (seed->to, from);
}

static void
seed_by_id (TfxSlot *to, void *data)
{
  const TfxSlot *from = data;
  Seed seed = { to, false };

  for (size_t b = 0; b < from->n_branches; b++)
    tfx_slots_each (&from->branches[b], seed_from, &seed);
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

/* A delay line, a FIR or a reverb repeats its input. */
static void
look_for_echo (TfxSlot *slot, void *data)
{
  const TfxKind *kind = slot->stage->kind;
  bool *has_echo = data;

  *has_echo = *has_echo || (kind->unit && kind->response &&
                               tfx_stage_state_size (slot->stage) > 0);
}

/* A new slot takes over history.  Without history, a slot that repeats its input gets an
 * input that rises.  A slot with look-ahead runs without output until its look-ahead is
 * filled and its input has risen. */
static void
seed (TfxSlotEntry *entry, Pass *pass)
{
  TfxSlot *to = entry->slot;
  const bool succeeds = tfx_slot_is_successor (to, entry->old);
  const size_t latency = to ? tfx_stage_latency (to->stage) : 0;
  TfxFade *fade = entry->fade;
  bool has_echo = false;

  if (entry->phase != TFX_SLOT_WAITING)
    return;
  if (!entry->has_past && succeeds) {
    seed_slot (to, entry->old);
    for (size_t b = 0; b < to->n_branches; b++)
      tfx_slots_each (&to->branches[b], seed_by_id, entry->old);
  }
  if (to && !entry->has_past && !succeeds)
    tfx_slot_each (to, look_for_echo, &has_echo);
  fade->rises = has_echo;
  if (has_echo && fade->length > pass->rise)
    pass->rise = fade->length;
  if (latency > 0 && !entry->has_past &&
      !(succeeds && to->unit && entry->old->unit)) {
    const size_t lead = latency + (has_echo ? fade->length : 0);

    pass->lead = lead > pass->lead ? lead : pass->lead;
  }
}

static void
settle (TfxSlotEntry *entry, Pass *pass)
{
  TfxFade *fade = entry->fade;

  if (entry->phase == TFX_SLOT_FADING && fade->done >= fade->length) {
    end_fade (pass->filter, entry);
    pass->filter->serial++;
  } else if (entry->phase == TFX_SLOT_WAITING) {
    fade->lead = pass->lead;
    fade->length += pass->lead;
    if (entry->has_past)
      fade->length = fade_to_end_of_block (pass->filter, fade->length);
    entry->phase = TFX_SLOT_FADING;
    pass->filter->serial++;
  }
}

void
tfx_change_settle (TfxFilter *f)
{
  Pass pass = { .filter = f };

  if (!f->wants_compile)
    return;
  f->wants_compile = false;
  f->serial++;
  each_entry (&f->slots, seed, &pass);
  /* During the lead the input rises completely, or it would be faded in twice. */
  if (pass.lead > 0 && pass.lead < pass.rise)
    pass.lead = pass.rise;
  each_entry (&f->slots, settle, &pass);
  tfx_change_advance (f, 0);
}

/* Reverts a change for which no plan has been compiled. */
static void
revert (TfxSlotEntry *entry, Pass *pass)
{
  if (entry->phase != TFX_SLOT_WAITING && entry->phase != TFX_SLOT_CATCHING_UP)
    return;
  retire (pass->filter, &entry->slot);
  entry->slot = entry->old;
  entry->old = NULL;
  end_fade (pass->filter, entry);
}

/* ---- a prepared setting comes into force -------------------------------------------- */

/* A slot that fades out keeps its values: the new slot has the later events. */
static void
stop_automation (TfxSlot *slot, void *data)
{
  const TfxFilter *f = data;
  const uint64_t point = tfx_automation_point (slot->stage, f->n_run);
  const size_t n_grid = tfx_stage_grid_frames (slot->stage);

  tfx_events_cut (slot, point < n_grid ? 0 : point - n_grid);
}

/* A new slot has the values that are due. */
static void
begin_automation (TfxSlot *slot, void *data)
{
  const TfxFilter *f = data;

  tfx_automation_finish (data, slot,
      tfx_automation_point (slot->stage, f->n_run));
}

static void
commit_new (TfxFilter *f, TfxSlotEntry *entry)
{
  entry->is_new = false;
  if (entry->phase == TFX_SLOT_CATCHING_UP && unit_of (entry)->catch_up_start &&
      !unit_of (entry)->catch_up_start (entry->slot->unit, entry->old->unit))
    entry->phase = TFX_SLOT_WAITING;
  if (entry->old)
    tfx_slot_each (entry->old, stop_automation, f);
  if (entry->slot)
    tfx_slot_each (entry->slot, begin_automation, f);
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
  Pass pass = { .filter = f };

  commit_list (f, &f->slots, next);
  f->is_changing = true;
  each_entry (&f->slots, look_for_phase, &pass);
  f->wants_compile = f->wants_compile || pass.is_waiting;
}

/* A new slot takes over the events of the one that it replaces in the next setting, if it has
 * the same structure. */
static void
adopt_events (TfxSlot *slot, void *data)
{
  TfxFilter *f = data;
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  const TfxSlotEntry *next = tfx_slots_find (&f->next, slot->stage->id);
  const TfxSlotEntry *now = tfx_slots_find (&f->slots, slot->stage->id);

  if (next && !(now && now->slot == next->slot) &&
      tfx_slot_can_take (next->slot, slot->stage, false))
    tfx_events_move (slot, next->slot, &unit);
}

/* Another setting comes into force now; or when the cross-fades that run are over. */
static int
begin (TfxFilter *f, TfxChain *chain, bool may_move_times)
{
  Pass pass = { .filter = f };
  TfxPrepared prepared;
  int ret;

  each_entry (&f->slots, look_for_phase, &pass);
  ret = tfx_prepare_chain (f, chain, pass.is_changing && !pass.is_fading,
      &prepared);
  if (ret == 0 && prepared.moves_times && !may_move_times) {
    tfx_prepare_clear (&prepared.next);
    ret = -ENOTSUP;
  }
  if (ret < 0)
    return ret;
  tfx_prepare_each (&prepared.next, adopt_events, f);
  tfx_prepare_clear (&f->next);
  if (prepared.is_structural && pass.is_fading) {
    f->next = prepared.next;
    f->is_changing = true;
    return 0;
  }
  if (prepared.is_reverted)
    each_entry (&f->slots, revert, &pass);
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
  Pass pass = { .filter = f };

  if (!tfx_filter_has_next (f))
    return;
  each_entry (&f->slots, look_for_phase, &pass);
  if (!pass.is_changing)
    commit (f, &f->next);
}

/* ---- at once ----------------------------------------------------------------- */

static void
finish (TfxSlotEntry *entry, Pass *pass)
{
  if (entry->phase == TFX_SLOT_STEADY)
    return;
  end_fade (pass->filter, entry);
  pass->filter->serial++;
}

void
tfx_change_finish (TfxFilter *f)
{
  Pass pass = { .filter = f };

  each_entry (&f->slots, finish, &pass);
  if (tfx_filter_has_next (f)) {
    commit (f, &f->next);
    each_entry (&f->slots, finish, &pass);
  }
  f->is_changing = false;
}

static void
switch_over (TfxSlotEntry *entry, Pass *pass)
{
  if (entry->phase != TFX_SLOT_STEADY &&
      tfx_slot_is_successor (entry->slot, entry->old))
    seed_slot (entry->slot, entry->old);
  finish (entry, pass);
}

int
tfx_change_at_once (TfxFilter *f, TfxChain *chain)
{
  Pass pass = { .filter = f };
  int ret = f->is_changing ? -EBUSY : begin (f, chain, true);

  if (ret < 0)
    return ret;
  each_entry (&f->slots, switch_over, &pass);
  f->wants_compile = false;
  f->serial++;
  tfx_change_advance (f, 0);
  return 0;
}
