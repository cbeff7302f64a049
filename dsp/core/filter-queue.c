/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter-queue.c: values that stages of a filter are to have at points of the
 * grid ahead. */
#include <errno.h>
#include <stdlib.h>

#include "branches.h"
#include "follow.h"

/* A stage that runs, and the one of its id in the setting that comes, both have them. */
int
tfx_filter_queue_stage (TfxFilter *f, uint64_t frame, TfxStage *stage)
{
  const size_t n_grid = tfx_stage_grid_frames (stage);
  const TfxPlace *now = tfx_slots_find (&f->places, stage->id);
  const TfxPlace *next = tfx_slots_find (&f->next, stage->id);
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
      added = tfx_follow_add (f, slots[i], stage, frame);
    ret = added == -ENOENT ? ret : added;
  }
  return ret;
}

/* ---- room ------------------------------------------------------------------------ */

/* The values of a queue that nobody has asked for take no more. */
#define UNASKED_BYTES 65536

/* At a time, where values are set: those that one goes from and to, those that wait for
 * the end of that, and those that come. */
#define N_SET 4

/* A unit keeps what it has made ready once. */
static void
rehearse (const TfxFilter *f, TfxSlot *slot, size_t n)
{
  const TfxSlotSpec spec = tfx_filter_slot_spec (f);
  const TfxUnitSpec unit = tfx_slot_unit_spec (&spec, slot->n_channels);
  void **values = calloc (n, sizeof *values);
  size_t n_made = 0;

  while (values && n_made < n &&
         slot->stage->kind->unit->prepare_values (slot->unit, slot->stage,
             &unit, &values[n_made]) == 0)
    n_made++;
  while (n_made > 0)
    slot->stage->kind->unit->drop_values (values[--n_made]);
  free (values);
}

static void
reserve (TfxFilter *f, TfxSlot *slot, size_t n_frames, bool will_follow)
{
  /* What is ahead, what comes with the next block, and where it ends. */
  const size_t n_points = n_frames / tfx_stage_grid_frames (slot->stage) + 3;

  if (slot->is_joined || tfx_branches_are_in (slot->stage))
    return;
  if (will_follow || !slot->stage->kind->unit)
    tfx_queue_reserve (slot, n_points, will_follow ? SIZE_MAX : UNASKED_BYTES);
  if (will_follow && !slot->is_automated) {
    slot->is_automated = true;
    f->wants_compile = f->wants_compile || f->n_run == 0;
  }
  if (slot->unit)
    rehearse (f, slot, N_SET + (will_follow ? n_points : 0));
}

void
tfx_filter_reserve (TfxFilter *f, uint64_t id, size_t n_frames,
    bool will_follow)
{
  const TfxPlace *now = tfx_slots_find (&f->places, id);
  const TfxPlace *next = tfx_slots_find (&f->next, id);

  if (now)
    reserve (f, now->slot, n_frames, will_follow);
  if (next && !(now && now->slot == next->slot))
    reserve (f, next->slot, n_frames, will_follow);
}

uint64_t
tfx_filter_n_frames (const TfxFilter *f)
{
  return f->n_run;
}
