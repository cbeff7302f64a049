/* SPDX-License-Identifier: LGPL-2.1-or-later
 * automation.c: a slot gets other values of the same structure. */
#include "automation.h"

#include <errno.h>
#include <stdlib.h>

#include "borrow.h"
#include "branches.h"
#include "ramp.h"
#include "prepare.h"

/* ---- values that are set ----------------------------------------------------------- */

/* The slot ramps to values in n_frames (0: at once): to numbers of sections or a gain, from frame
 * `now` on; or to those of a stage, prepared for its unit, if there are any. */
static void
apply (TfxFilter *f, TfxSlot *slot, const TfxSlotValues *numbers, uint64_t now,
    TfxStage *stage, void *values, size_t n_frames, TfxWeight weight)
{
  const bool was_active = slot->is_active;

  if (numbers) {
    slot->is_active = was_active || !tfx_slot_is_identity (slot, numbers);
    tfx_ramp_set (slot, numbers, (unsigned)(n_frames / TFX_GRID_FRAMES), now);
    f->n_values += n_frames == 0;
  } else {
    if (slot->unit && values)
      stage->kind->unit->set_values (slot->unit, values, n_frames, weight);
    tfx_stage_ref (stage);
    tfx_stage_unref (&slot->stage);
    slot->stage = stage;
    slot->is_active = was_active || !tfx_stage_is_identity (stage);
    f->n_settings++;
  }
  f->wants_compile = f->wants_compile || (slot->is_active && !was_active);
}

static void
set_values (TfxFilter *f, TfxSlot *slot, TfxStage *stage, void *values,
    unsigned n_cells)
{
  if (stage->kind->step == TFX_STEP_CASCADE) {
    const TfxSlotValues numbers = tfx_slot_values (stage);

    /* Events that are due have older values. */
    while (n_cells > 0 && tfx_events_get (slot, 0) &&
           tfx_events_get (slot, 0)->start <= f->n_run)
      tfx_events_remove_first (slot);
    apply (f, slot, &numbers, f->n_run, NULL, NULL, n_cells * TFX_GRID_FRAMES,
        TFX_WEIGHT_SMOOTH);
  } else {
    apply (f, slot, NULL, f->n_run, stage, values,
        n_cells > 0 ? tfx_slot_fade_frames (&f->spec) : 0, TFX_WEIGHT_SMOOTH);
  }
  f->is_changing = f->is_changing || n_cells > 0;
}

int
tfx_automation_set (TfxFilter *f, TfxSlot *slot, TfxStage *stage,
    unsigned n_cells)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  void *values;
  int ret;

  if (tfx_slot_has_values (slot, stage))
    return 0;
  if (stage->kind->step == TFX_STEP_CASCADE && n_cells > 0 &&
      tfx_ramp_must_wait (slot, n_cells, f->n_run))
    return tfx_events_prepend (slot, stage, f->n_run,
        n_cells * TFX_GRID_FRAMES);
  ret = tfx_stage_prepare_values (stage, slot->unit, &unit, &values);
  if (ret == 0)
    set_values (f, slot, stage, values, n_cells);
  return ret;
}

void
tfx_automation_set_prepared (TfxFilter *f, TfxSlot *slot, TfxStage *stage,
    void *values)
{
  const unsigned n_cells = tfx_slot_fade_cells (&f->spec);

  if (stage->kind->step == TFX_STEP_CASCADE)
    tfx_automation_set (f, slot, stage, n_cells);
  else
    set_values (f, slot, stage, values, n_cells);
}

/* ---- events -------------------------------------------------------------------------- */

/* Whether the slot has these values when all of its events are over. */
static bool
ends_with (const TfxSlot *slot, const TfxStage *stage)
{
  const TfxEvent *last = tfx_events_last (slot);
  TfxSlotValues values;

  if (!last)
    return tfx_slot_has_values (slot, stage);
  if (last->stage)
    return tfx_stage_is_same (last->stage, stage);
  values = tfx_event_values (slot, last);
  return tfx_slot_are_values (slot, &values, stage);
}

int
tfx_automation_add (TfxFilter *f, TfxSlot *slot, TfxStage *stage,
    uint64_t frame)
{
  const size_t n_frames = tfx_stage_grid_frames (stage);
  TfxSlotSpec spec = tfx_filter_slot_spec (f);
  TfxUnitSpec unit;
  int ret = 0;

  if (slot->is_joined || tfx_branches_are_in (stage) ||
      !tfx_slot_can_take (slot, stage, false))
    return -ENOENT;
  if (ends_with (slot, stage))
    return 0;
  /* Only the CPU runs ramps. */
  tfx_borrow_from_device (f);
  if (stage->kind->unit && !slot->unit) {
    if (!spec.kernel)
      spec.kernel = stage->kind->unit->get_kernel ();
    ret = tfx_slot_make_room (slot, &spec);
    if (ret < 0)
      return ret;
    f->kernel = spec.kernel;
  }
  unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  ret = tfx_events_append (slot, stage, &unit, frame - n_frames, n_frames);
  f->is_changing = f->is_changing || ret == 0;
  return ret;
}

uint64_t
tfx_automation_next (const TfxSlot *slot)
{
  const TfxEvent *event = tfx_events_get (slot, 0);

  if (!event)
    return UINT64_MAX;
  return tfx_ramp_must_wait (slot, event->n_frames / TFX_GRID_FRAMES,
             event->start)
             ? tfx_ramp_end (slot)
             : event->start;
}

/* The values of the first event, which goes; n_frames 0: at once. */
static void
take_first (TfxFilter *f, TfxSlot *slot, size_t n_frames, uint64_t now)
{
  TfxEvent *event = tfx_events_get (slot, 0);
  TfxSlotEntry *next = tfx_filter_has_next (f)
                           ? tfx_slots_find (&f->next, slot->stage->id)
                           : NULL;

  /* They are newer than those of the next setting. */
  if (next && next->slot == slot)
    tfx_prepare_drop_values (next);
  if (event->stage) {
    apply (f, slot, NULL, now, event->stage, event->values, n_frames,
        TFX_WEIGHT_LINEAR);
    event->values = NULL;
  } else {
    const TfxSlotValues numbers = tfx_event_values (slot, event);

    apply (f, slot, &numbers, now, NULL, NULL, n_frames, TFX_WEIGHT_LINEAR);
  }
  tfx_events_remove_first (slot);
}

void
tfx_automation_take (TfxFilter *f, TfxSlot *slot, uint64_t now)
{
  while (tfx_events_get (slot, 1) && tfx_events_get (slot, 1)->start <= now)
    tfx_events_remove_first (slot);
  take_first (f, slot, tfx_events_get (slot, 0)->n_frames, now);
}

void
tfx_automation_finish (TfxFilter *f, TfxSlot *slot, uint64_t frame)
{
  const TfxEvent *event;

  while ((event = tfx_events_get (slot, 0)) &&
         event->start + event->n_frames <= frame)
    take_first (f, slot, 0, 0);
}

/* A ramp that ends at the filter's frame may continue with the next event. */
void
tfx_automation_step (TfxFilter *f, TfxSlot *slot)
{
  for (;;) {
    const uint64_t next = tfx_automation_next (slot);
    const bool moves = slot->ramp.n_cells > 0;

    if (next < f->n_run && next <= tfx_ramp_next (slot, next)) {
      /* Plans have none of the values that come into force here. */
      f->n_values += slot->is_active && moves;
      tfx_automation_take (f, slot, next);
    } else if (moves && tfx_ramp_end (slot) < f->n_run) {
      tfx_ramp_update (slot, tfx_ramp_end (slot));
      f->n_values += slot->is_active;
    } else if (next < f->n_run) {
      f->n_values += slot->is_active && moves;
      tfx_automation_take (f, slot, next);
    } else {
      return;
    }
  }
}

/* ---- what plans have to run ------------------------------------------------------------ */

static bool
leads_to_identity (const TfxSlot *slot)
{
  const TfxEvent *event = tfx_events_get (slot, 0);
  TfxSlotValues values;

  if (event->stage)
    return tfx_stage_is_identity (event->stage);
  values = tfx_event_values (slot, event);
  return tfx_slot_is_identity (slot, &values);
}

static void
want_cut (TfxFilter *f, TfxCut cut)
{
  f->wants_cut = cut > f->wants_cut ? cut : f->wants_cut;
}

void
tfx_automation_wake (TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  TfxSlot *slot;

  while ((slot = tfx_walk_slot (&walk))) {
    if (tfx_automation_next (slot) > f->n_run)
      continue;
    if (!slot->is_automated && !tfx_events_get (slot, 0)->is_set) {
      slot->is_automated = true;
      want_cut (f, slot->is_reserved ? TFX_CUT_SPARE : TFX_CUT_ANEW);
    }
    if (slot->is_active || leads_to_identity (slot))
      continue;
    slot->is_active = true;
    f->wants_compile = true;
  }
}

size_t
tfx_automation_wake_frames (const TfxFilter *f)
{
  TfxWalk walk = tfx_walk (&f->slots);
  const TfxSlot *slot;
  size_t n = SIZE_MAX;

  while ((slot = tfx_walk_slot (&walk))) {
    const uint64_t next = tfx_automation_next (slot);

    if (!(slot->is_active && slot->is_automated) && next > f->n_run &&
        next - f->n_run < n)
      n = (size_t)(next - f->n_run);
  }
  return n;
}

/* ---- the filter's ---------------------------------------------------------------------- */

/* The slot of the stage, and that of its id in the next setting, both get the event. */
int
tfx_filter_queue_stage (TfxFilter *f, uint64_t frame, TfxStage *stage)
{
  const size_t n_grid = tfx_stage_grid_frames (stage);
  const TfxSlotEntry *now = tfx_slots_find (&f->slots, stage->id);
  const TfxSlotEntry *next = tfx_slots_find (&f->next, stage->id);
  TfxSlot *slots[2] = { now ? now->slot : NULL, next ? next->slot : NULL };
  int ret = -ENOENT;

  if (frame % n_grid != 0 || frame < f->n_run + n_grid)
    return -EINVAL;
  for (int i = 0; i < 2 && (ret == 0 || ret == -ENOENT); i++) {
    int added;

    if (!slots[i] || (i == 1 && slots[0] == slots[1]))
      continue;
    added = tfx_slot_check (slots[i], stage, &f->spec);
    if (added == 0)
      added = tfx_automation_add (f, slots[i], stage, frame);
    ret = added == -ENOENT ? ret : added;
  }
  return ret;
}

/* The most memory for events without will_follow. */
#define UNASKED_BYTES 65536

/* Prepared values at a time: both ends of a ramp, those that wait for its end, and those
 * that are set. */
#define N_SET 4

/* Fills the pool of a unit's prepared values. */
static void
rehearse (const TfxFilter *f, TfxSlot *slot, size_t n)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  void **values = calloc (n, sizeof *values);
  size_t n_made = 0;

  while (values && n_made < n &&
         tfx_stage_prepare_values (slot->stage, slot->unit, &unit,
             &values[n_made]) == 0)
    n_made++;
  while (n_made > 0)
    tfx_stage_drop_values (slot->stage, &values[--n_made]);
  free (values);
}

static void
reserve (TfxFilter *f, TfxSlot *slot, size_t n_frames, bool will_follow)
{
  /* Those of the next blocks, and both ends. */
  const size_t n_points = n_frames / tfx_stage_grid_frames (slot->stage) + 3;

  if (slot->is_joined || tfx_branches_are_in (slot->stage))
    return;
  if (will_follow || !slot->stage->kind->unit)
    tfx_events_reserve (slot, n_points, will_follow ? SIZE_MAX : UNASKED_BYTES);
  if (will_follow ? !slot->is_automated : !slot->is_reserved)
    want_cut (f, will_follow ? TFX_CUT_ANEW : TFX_CUT_SPARE);
  slot->is_reserved = true;
  slot->is_automated = slot->is_automated || will_follow;
  if (slot->unit)
    rehearse (f, slot, N_SET + (will_follow ? n_points : 0));
}

void
tfx_filter_reserve (TfxFilter *f, uint64_t id, size_t n_frames,
    bool will_follow)
{
  const TfxSlotEntry *now = tfx_slots_find (&f->slots, id);
  const TfxSlotEntry *next = tfx_slots_find (&f->next, id);

  if (now)
    reserve (f, now->slot, n_frames, will_follow);
  if (next && !(now && now->slot == next->slot))
    reserve (f, next->slot, n_frames, will_follow);
}
