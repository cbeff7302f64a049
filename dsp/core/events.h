/* SPDX-License-Identifier: LGPL-2.1-or-later
 * events.h: the automation events of a slot: the values that its stage is to have
 * later, in order.
 *
 * An event copies the values of sections and gains; its room grows with the most
 * events that there ever were, up to a bound. */
#ifndef TFX_EVENTS_H
#define TFX_EVENTS_H

#include "state.h"

/* More than two seconds of points. */
#define TFX_EVENTS_MAX 4096

typedef struct TfxEvent
{
  uint64_t start;  /* the frame where the ramp to the values begins */
  size_t n_frames; /* its length */
  bool is_set;     /* by tfx_filter_set_stage(), while another ramp ran */
  TfxStage *stage; /* units */
  void *values;    /* units: prepared, or NULL */
  bool has_shapes; /* sections */
  double *numbers; /* sections and their shapes, or a gain */
} TfxEvent;

/* Room for n events, if their values take at most most_bytes.  0 or -ENOMEM. */
int tfx_events_reserve (TfxSlot *slot, size_t n, size_t most_bytes);

/* Adds the values of a stage: as the last event, replacing one with the same start; or as
 * the first, replacing all up to its start.  0; -ENOBUFS: there are TFX_EVENTS_MAX;
 * -ENOMEM. */
int tfx_events_append (TfxSlot *slot, TfxStage *stage, const TfxUnitSpec *spec,
    uint64_t start, size_t n_frames);
/* (Sections and gains.) */
int tfx_events_prepend (TfxSlot *slot, TfxStage *stage, uint64_t start,
    size_t n_frames);

/* The i-th event, NULL if there are fewer; and the last one. */
TfxEvent *tfx_events_get (const TfxSlot *slot, size_t i);
TfxEvent *tfx_events_last (const TfxSlot *slot);
void tfx_events_remove_first (TfxSlot *slot);

/* The values of an event, of sections or a gain. */
TfxSlotValues tfx_event_values (const TfxSlot *slot, const TfxEvent *event);

/* The event that waits for the end of a ramp that was set as itself, or NULL. */
const TfxEvent *tfx_events_waiting (const TfxSlot *slot);

/* Drops the events that start after a frame. */
void tfx_events_cut (TfxSlot *slot, uint64_t frame);

/* Prepares the values for another unit of the slot.  Without memory an event is
 * skipped. */
void tfx_events_remake (TfxSlot *slot, const TfxUnitSpec *spec);

/* The slot gets the events of another one of the same structure. */
void tfx_events_move (TfxSlot *slot, TfxSlot *from, const TfxUnitSpec *spec);

void tfx_events_free (TfxSlot *slot);

#endif
