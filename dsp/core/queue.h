/* SPDX-License-Identifier: LGPL-2.1-or-later
 * queue.h: values that a slot is to have at points of the grid that are still to
 * come, in their order.
 *
 * The room of a queue grows with the most entries that it ever had, up to a bound;
 * the values of sections and gains are copied into it. */
#ifndef TFX_QUEUE_H
#define TFX_QUEUE_H

#include "slot.h"

typedef struct TfxQueueEntry
{
  uint64_t frame;
  /* Of a unit: the stage, and what has been made ready of it, or NULL. */
  TfxStage *stage;
  void *values;
  bool has_shapes; /* sections */
} TfxQueueEntry;

/* Takes the values of a stage for `frame`, which is behind that of the last entry,
 * or the same: that is replaced.  0; -ENOBUFS: there is no room for one more;
 * -ENOMEM. */
int tfx_queue_add (TfxSlot *slot, TfxStage *stage, const TfxUnitSpec *spec,
    uint64_t frame);

/* Room for n entries at once, if their values take no more than most_bytes.  0 or
 * -ENOMEM. */
int tfx_queue_reserve (TfxSlot *slot, size_t n, size_t most_bytes);

/* Whether there are entries, and the last of them has the values of a stage. */
bool tfx_queue_ends_with (const TfxSlot *slot, const TfxStage *stage);

/* The first entry, NULL if there is none; its values, of sections or a gain, as
 * long as it stands there. */
TfxQueueEntry *tfx_queue_first (const TfxSlot *slot);
TfxSlotValues tfx_queue_first_values (const TfxSlot *slot);
void tfx_queue_remove_first (TfxSlot *slot);

/* The frame where the i-th entry begins, one point before its own; UINT64_MAX:
 * there are not so many. */
uint64_t tfx_queue_start (const TfxSlot *slot, size_t i);

/* Of the points where stages of its kind have values, the first that is not before
 * frame `now`.  (UINT64_MAX is behind them all.) */
static inline uint64_t
tfx_queue_point (const TfxStage *stage, uint64_t now)
{
  const uint64_t n = tfx_stage_grid_frames (stage);

  return now == UINT64_MAX ? now : (now + n - 1) / n * n;
}

/* The frame of the last entry; 0: there is none. */
uint64_t tfx_queue_end (const TfxSlot *slot);

/* Drops the entries behind a frame. */
void tfx_queue_cut (TfxSlot *slot, uint64_t frame);

/* The slot has another unit: what was made ready for the old one is made for this
 * one.  Short of memory, a point is left out. */
void tfx_queue_remake (TfxSlot *slot, const TfxUnitSpec *spec);

/* The slot gets the entries of another one of the same structure. */
void tfx_queue_move (TfxSlot *slot, TfxSlot *from, const TfxUnitSpec *spec);

void tfx_queue_free (TfxSlot *slot);

#endif
