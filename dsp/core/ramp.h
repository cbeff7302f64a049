/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ramp.h: how the values of a slot of sections or a gain go from one setting to
 * another.
 *
 * A motion begins at a point of the grid and takes a number of cells of
 * TFX_GRID_FRAMES.  While it runs, the values are others at every frame.  A gain
 * is a ramp.  Sections glide, as state-variable filters whose integrators go on;
 * or, where that is too far for one glide, the old and the new values run
 * side by side and are cross-faded: the new ones from rest, their input rises as
 * softly. */
#ifndef TFX_RAMP_H
#define TFX_RAMP_H

#include "slot.h"

/* Room for it in a slot whose sections are there.  0 or -ENOMEM. */
int tfx_ramp_init (TfxSlot *slot, const TfxFilterSpec *spec);
void tfx_ramp_clear (TfxSlot *slot);

/* Whether values that are set at frame `now` wait for the end of the ramp that runs.
 * A point of a curve (n_cells 1) becomes the new end of a gain's ramp instead. */
bool tfx_ramp_must_wait (const TfxSlot *slot, unsigned n_cells, uint64_t now);

/* Goes to other values, which need not wait, in n_cells, from the first point of the grid
 * that is not before frame `now`; 0: at once. */
void tfx_ramp_set (TfxSlot *slot, const TfxSlotValues *to, unsigned n_cells,
    uint64_t now);

/* Frame `now` is next: a ramp that ends here is over. */
void tfx_ramp_update (TfxSlot *slot, uint64_t now);

/* The motion that runs gets its state from that of the slot. */
void tfx_ramp_enter (TfxSlot *slot);

/* At once at the end of it all; the state does not count. */
void tfx_ramp_reset (TfxSlot *slot);

static inline uint64_t
tfx_ramp_end (const TfxSlot *slot)
{
  return slot->ramp.first + slot->ramp.n_cells * TFX_GRID_FRAMES;
}

/* Whether the values at a frame are on their way. */
static inline bool
tfx_ramp_is_on (const TfxSlot *slot, uint64_t frame)
{
  return slot->ramp.n_cells > 0 && frame >= slot->ramp.first &&
         frame < tfx_ramp_end (slot);
}

/* The frame where it begins or ends; UINT64_MAX: nothing moves. */
static inline uint64_t
tfx_ramp_next (const TfxSlot *slot, uint64_t now)
{
  if (slot->ramp.n_cells == 0)
    return UINT64_MAX;
  return now < slot->ramp.first ? slot->ramp.first : tfx_ramp_end (slot);
}

/* Weights of the new values at n frames from `frame` on: of gains and cross-fades;
 * and of the input of the new values. */
void tfx_ramp_weights (const TfxSlot *slot, uint64_t frame, size_t n,
    double *weights);
/* A gain at n frames of a cell. */
void
tfx_ramp_gains (const TfxSlot *slot, uint64_t frame, size_t n, double *gains);
void
tfx_ramp_rise (const TfxSlot *slot, uint64_t frame, size_t n, double *weights);

/* A glide: the values at the first frame of a cell, and how they go on. */
void tfx_ramp_begin_cell (TfxSlot *slot, uint64_t frame);

#endif
