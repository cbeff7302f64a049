/* SPDX-License-Identifier: LGPL-2.1-or-later
 * automation.h: a slot gets other values of the same structure: set by the
 * application, or by its automation events. */
#ifndef TFX_AUTOMATION_H
#define TFX_AUTOMATION_H

#include "events.h"
#include "slot.h"

/* The values of a stage, from the next frame on: a ramp of n_cells points of the grid,
 * which waits for the end of one that runs; 0: at once.  0 or negative errno. */
int tfx_automation_set (TfxFilter *filter, TfxSlot *slot, TfxStage *stage,
    unsigned n_cells);

/* The same with values that the unit, if there is one, has prepared; a ramp of 10 ms. */
void tfx_automation_set_prepared (TfxFilter *filter, TfxSlot *slot,
    TfxStage *stage, void *values);

/* An event: the values of a stage at a later frame, after those of the events before.  0;
 * -ENOENT: the slot cannot take them; else as tfx_events_append(). */
int tfx_automation_add (TfxFilter *filter, TfxSlot *slot, TfxStage *stage,
    uint64_t frame);

/* The frame where the next event is due: where it starts, or where the ramp ends that it
 * waits for.  UINT64_MAX: there is none. */
uint64_t tfx_automation_next (const TfxSlot *slot);

/* Takes the event that is due at frame `now`; those before it are skipped. */
void tfx_automation_take (TfxFilter *filter, TfxSlot *slot, uint64_t now);

/* The values of all events up to that frame are in force at once. */
void tfx_automation_finish (TfxFilter *filter, TfxSlot *slot, uint64_t frame);

/* Rounds now up to the stage's parameter grid. */
static inline uint64_t
tfx_automation_point (const TfxStage *stage, uint64_t now)
{
  const uint64_t n = tfx_stage_grid_frames (stage);

  return (now + n - 1) / n * n;
}

/* Advances a slot that no plan has run, or that has skipped silence, to the filter's
 * frame. */
void tfx_automation_step (TfxFilter *filter, TfxSlot *slot);

/* Finds slots whose automation begins, and those that plans have omitted and have to run
 * from here on. */
void tfx_automation_wake (TfxFilter *filter);

/* Frames before the next call of tfx_automation_wake(). */
size_t tfx_automation_wake_frames (const TfxFilter *filter);

#endif
