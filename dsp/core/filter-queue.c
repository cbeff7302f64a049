/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter-queue.c: values that stages of a filter are to have at points of the
 * grid ahead. */
#include <errno.h>
#include <stdlib.h>

#include "ahead.h"
#include "branches.h"
#include "follow.h"

int
tfx_filter_queue_stage (TfxFilter *f, uint64_t frame, TfxStage *stage)
{
  TfxPlace *place = tfx_slots_find (&f->places, stage->id);
  const size_t n_grid = tfx_stage_grid_frames (stage);
  int ret = tfx_filter_check (f, place ? place->slot : NULL, stage);

  if (ret < 0)
    return ret;
  if (frame % n_grid != 0 || frame < f->n_run + n_grid)
    return -EINVAL;
  if (!place && f->next)
    return tfx_ahead_add (f, stage, frame);
  ret = place ? tfx_follow_add (f, place->slot, stage, frame) : -ENOENT;
  if (ret < 0 || !f->next)
    return ret;
  /* What waits for the end of a cross-fade has the values too. */
  ret = tfx_ahead_add (f, stage, frame);
  return ret == -ENOENT ? 0 : ret;
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

void
tfx_filter_reserve (TfxFilter *f, uint64_t id, size_t n_frames,
    bool will_follow)
{
  const TfxPlace *place = tfx_slots_find (&f->places, id);
  TfxSlot *slot = place ? place->slot : NULL;
  size_t n_points;

  if (!slot || slot->is_joined || tfx_branches_are_in (slot->stage))
    return;
  /* What is ahead, what comes with the next block, and where it ends. */
  n_points = n_frames / tfx_stage_grid_frames (slot->stage) + 3;
  if (will_follow || !slot->stage->kind->unit)
    tfx_queue_reserve (slot, n_points, will_follow ? SIZE_MAX : UNASKED_BYTES);
  if (will_follow && !slot->is_automated) {
    slot->is_automated = true;
    f->wants_compile = f->wants_compile || f->n_run == 0;
  }
  if (slot->unit)
    rehearse (f, slot, N_SET + (will_follow ? n_points : 0));
}

uint64_t
tfx_filter_n_frames (const TfxFilter *f)
{
  return f->n_run;
}
