/* SPDX-License-Identifier: LGPL-2.1-or-later
 * follow.c: a slot goes where its queue leads. */
#include "follow.h"

#include <errno.h>

#include "borrow.h"
#include "branches.h"
#include "prepare.h"

int
tfx_follow_add (TfxFilter *f, TfxSlot *slot, TfxStage *stage, uint64_t frame)
{
  TfxSlotSpec spec = tfx_filter_slot_spec (f);
  TfxUnitSpec unit;
  int ret;

  if (slot->is_joined || tfx_branches_are_in (stage) ||
      !tfx_slot_can_take (slot, stage, false))
    return -ENOENT;
  if (tfx_queue_first (slot) ? tfx_queue_ends_with (slot, stage)
                             : tfx_slot_has_values (slot, stage))
    return 0;
  /* The CPU runs what moves. */
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
  ret = tfx_queue_add (slot, stage, &unit, frame);
  f->is_changing = f->is_changing || ret == 0;
  return ret;
}

static void
take_unit (TfxFilter *f, TfxSlot *slot, TfxQueueEntry *e, size_t n_frames)
{
  if (slot->unit && e->values)
    slot->stage->kind->unit->set_values (slot->unit, e->values, n_frames,
        TFX_WEIGHT_LINEAR);
  e->values = NULL;
  tfx_stage_unref (&slot->stage);
  slot->stage = tfx_stage_ref (e->stage);
  f->n_settings++;
}

static void
skip (TfxSlot *slot, uint64_t now)
{
  while (tfx_queue_start (slot, 1) <= now)
    tfx_queue_remove_first (slot);
}

/* They are newer than those that the next setting has for it. */
static void
drop_next_values (TfxFilter *f, const TfxSlot *slot)
{
  TfxPlace *next = tfx_slots_find (&f->next, slot->stage->id);

  if (next && next->slot == slot)
    tfx_prepare_drop_values (next);
}

void
tfx_follow_take (TfxFilter *f, TfxSlot *slot, uint64_t now)
{
  skip (slot, now);
  if (tfx_filter_has_next (f))
    drop_next_values (f, slot);
  if (slot->stage->kind->unit) {
    take_unit (f, slot, tfx_queue_first (slot),
        tfx_stage_grid_frames (slot->stage));
  } else {
    const TfxSlotValues values = tfx_queue_first_values (slot);

    tfx_slot_glide (slot, &values, 1, now);
  }
  tfx_queue_remove_first (slot);
}

/* All entries up to a frame. */
static void
take_up_to (TfxFilter *f, TfxSlot *slot, uint64_t frame)
{
  while (slot->queue && tfx_queue_first (slot) &&
         tfx_queue_first (slot)->frame <= frame) {
    if (slot->stage->kind->unit) {
      take_unit (f, slot, tfx_queue_first (slot), 0);
    } else {
      const TfxSlotValues values = tfx_queue_first_values (slot);

      f->wants_compile =
          tfx_slot_glide (slot, &values, 0, 0) || f->wants_compile;
      f->n_values++;
    }
    tfx_queue_remove_first (slot);
  }
}

void
tfx_follow_begin (TfxFilter *f, TfxSlot *slot)
{
  take_up_to (f, slot, tfx_queue_point (slot->stage, f->n_run));
}

void
tfx_follow_finish (TfxFilter *f, TfxSlot *slot)
{
  take_up_to (f, slot, UINT64_MAX);
}

/* ---- what plans leave out ---------------------------------------------------------- */

typedef struct Wake
{
  TfxFilter *filter;
  size_t n_frames;
} Wake;

static bool
leads_to_identity (const TfxSlot *slot)
{
  const TfxStage *stage = tfx_queue_first (slot)->stage;
  TfxSlotValues values;

  if (stage)
    return tfx_stage_is_identity (stage);
  values = tfx_queue_first_values (slot);
  return tfx_slot_is_identity (slot, &values);
}

static void
wake_slot (TfxSlot *slot, void *data)
{
  TfxFilter *f = data;

  if (tfx_follow_next (slot) > f->n_run)
    return;
  slot->is_automated = true;
  if (slot->is_active || leads_to_identity (slot))
    return;
  slot->is_active = true;
  f->wants_compile = true;
}

void
tfx_follow_wake (TfxFilter *f)
{
  tfx_slots_each (&f->places, wake_slot, f);
}

static void
look_at_slot (TfxSlot *slot, void *data)
{
  Wake *wake = data;
  const uint64_t next = tfx_follow_next (slot), now = wake->filter->n_run;

  if (!(slot->is_active && slot->is_automated) && next > now &&
      next - now < wake->n_frames)
    wake->n_frames = (size_t)(next - now);
}

size_t
tfx_follow_wake_frames (const TfxFilter *f)
{
  Wake wake = { (TfxFilter *)f, SIZE_MAX };

  tfx_slots_each (&f->places, look_at_slot, &wake);
  return wake.n_frames;
}

/* ---- units -------------------------------------------------------------------------- */

size_t
tfx_follow_run (TfxStep *step, size_t first, size_t n_left)
{
  TfxFilter *f = step->plan->filters[step->parts->filter];
  TfxSlot *slot = step->parts->slot;
  const uint64_t now = f->n_run + first;

  if (tfx_follow_next (slot) <= now)
    tfx_follow_take (f, slot, now);
  if (tfx_follow_next (slot) - now < n_left)
    return (size_t)(tfx_follow_next (slot) - now);
  return n_left;
}
