/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ramp.h: parameter ramps of sections and gains.
 *
 * A ramp begins at a point of the grid and takes a number of cells of TFX_GRID_FRAMES.
 * The values change at every frame.  Sections are swept as state-variable filters, which
 * keep their integrators.  If the values move too far for that, old and new sections run
 * side by side and are cross-faded; the new ones start at rest, and their input rises. */
#ifndef TFX_RAMP_H
#define TFX_RAMP_H

#include "state.h"

/* Memory for the ramps of a slot that has its sections.  0 or -ENOMEM. */
int tfx_ramp_init (TfxSlot *slot, const TfxFilterSpec *spec);
void tfx_ramp_clear (TfxSlot *slot);

/* Whether values that are set at frame `now` wait for the end of the current ramp.  A gain
 * does not wait for an automation event (n_cells 1): that becomes the new end. */
bool tfx_ramp_must_wait (const TfxSlot *slot, unsigned n_cells, uint64_t now);

/* Begins a ramp to values that need not wait: n_cells from the first grid point at or after
 * frame `now`; 0: at once. */
void tfx_ramp_set (TfxSlot *slot, const TfxSlotValues *to, unsigned n_cells,
    uint64_t now);

/* Ends a ramp whose last frame is before `now`. */
void tfx_ramp_update (TfxSlot *slot, uint64_t now);

/* Moves the state from the slot to the ramp that begins. */
void tfx_ramp_enter (TfxSlot *slot);

/* Ends a ramp at once; the state is undefined. */
void tfx_ramp_reset (TfxSlot *slot);

static inline uint64_t
tfx_ramp_end (const TfxSlot *slot)
{
  return slot->ramp.first + slot->ramp.n_cells * TFX_GRID_FRAMES;
}

/* Whether the ramp runs at a frame. */
static inline bool
tfx_ramp_is_on (const TfxSlot *slot, uint64_t frame)
{
  return slot->ramp.n_cells > 0 && frame >= slot->ramp.first &&
         frame < tfx_ramp_end (slot);
}

/* The frame where the ramp begins or else ends; UINT64_MAX: there is none. */
static inline uint64_t
tfx_ramp_next (const TfxSlot *slot, uint64_t now)
{
  if (slot->ramp.n_cells == 0)
    return UINT64_MAX;
  return now < slot->ramp.first ? slot->ramp.first : tfx_ramp_end (slot);
}

/* Weights of the new values at n frames from `frame` on: in gains and cross-fades
 * (_weights), and of the input of the new sections (_rise). */
void tfx_ramp_weights (const TfxSlot *slot, uint64_t frame, size_t n,
    double *weights);
/* A gain at n frames, up to a cell. */
void
tfx_ramp_gains (const TfxSlot *slot, uint64_t frame, size_t n, double *gains);
void
tfx_ramp_rise (const TfxSlot *slot, uint64_t frame, size_t n, double *weights);

/* A sweep: the values at the first frame of a cell, and their change per frame. */
void tfx_ramp_begin_cell (TfxSlot *slot, uint64_t frame);

#endif
