/* SPDX-License-Identifier: LGPL-2.1-or-later
 * follow.h: a slot goes where its queue leads.
 *
 * It begins to go to the values of an entry one point of the grid before. */
#ifndef TFX_FOLLOW_H
#define TFX_FOLLOW_H

#include "filter.h"
#include "queue.h"

/* The frame where the next entry begins; UINT64_MAX: there is none. */
static inline uint64_t
tfx_follow_next (const TfxSlot *slot)
{
  return slot->queue ? tfx_queue_start (slot, 0) : UINT64_MAX;
}

/* A slot is to have the values of a stage at a frame ahead, behind those that it is to
 * have already.  0; -ENOENT: it does not take them; else as tfx_queue_add(). */
int tfx_follow_add (TfxFilter *filter, TfxSlot *slot, TfxStage *stage,
    uint64_t frame);

/* The slot begins to go to the entry that is due at frame `now`, a point of the
 * grid; those before it are left out. */
void tfx_follow_take (TfxFilter *filter, TfxSlot *slot, uint64_t now);

/* A slot that has not run has the values that are due at the next point of its grid. */
void tfx_follow_begin (TfxFilter *filter, TfxSlot *slot);

/* The values of the last entry are in force; none is left.  At rest. */
void tfx_follow_finish (TfxFilter *filter, TfxSlot *slot);

/* Plans that leave out what is none yet have to be compiled anew from here on:
 * what is due for a slot that is no identity any more. */
void tfx_follow_wake (TfxFilter *filter);

/* How many frames there are up to where tfx_follow_wake() is to be called. */
size_t tfx_follow_wake_frames (const TfxFilter *filter);

/* As tfx_glide_run(), for a step that is a slot's unit. */
size_t tfx_follow_run (TfxStep *step, size_t first, size_t n_left);

#endif
