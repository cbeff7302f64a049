/* SPDX-License-Identifier: LGPL-2.1-or-later
 * slot.h: makes slots, compares and sets their values, and walks over them. */
#ifndef TFX_SLOT_H
#define TFX_SLOT_H

#include "state.h"

/* A slot at rest with the values of the stage.  0 or negative errno. */
int tfx_slot_new (TfxStage *stage, const TfxSlotSpec *spec, TfxSlot **slot);
void tfx_slot_free (TfxSlot **slot);
/* The slots of a chain. */
int
tfx_slots_new (const TfxChain *chain, const TfxSlotSpec *spec, TfxSlots *list);
void tfx_slots_clear (TfxSlots *list);

/* Frees the state on a device. */
void tfx_slot_drop_resident (TfxSlot *slot);

/* Makes the unit, or (kernel == NULL) room for the state that a device returns.  0 or
 * -ENOMEM. */
int tfx_slot_make_room (TfxSlot *slot, const TfxSlotSpec *spec);

TfxUnitSpec tfx_slot_unit_spec (const TfxSlotSpec *spec, unsigned n_channels);

/* The same for a branch of a stage. */
TfxSlotSpec tfx_slot_branch_spec (const TfxSlotSpec *spec,
    const TfxStage *stage, size_t branch);

/* Whether the samples and channels suit a stage: see TfxKind.check. */
int tfx_slot_check (const TfxSlot *slot, const TfxStage *stage,
    const TfxFilterSpec *filter);

/* Whether the slot can take the values of a stage, which then has the same structure. */
bool
tfx_slot_can_take (const TfxSlot *slot, const TfxStage *stage, bool has_run);
/* Whether it has these values, or ramps to them. */
bool tfx_slot_has_values (const TfxSlot *slot, const TfxStage *stage);

/* Whether it is another structure of the same stage, whose history it can use. */
static inline bool
tfx_slot_is_successor (const TfxSlot *slot, const TfxSlot *old)
{
  return slot && old && slot->stage->id == old->stage->id &&
         slot->stage->kind == old->stage->kind;
}

/* Those of a stage; they point into it. */
TfxSlotValues tfx_slot_values (const TfxStage *stage);

/* The end of the ramp, or the event that waits for its end. */
TfxSlotValues tfx_slot_target (const TfxSlot *slot);
/* Whether these are the values of a stage. */
bool tfx_slot_are_values (const TfxSlot *slot, const TfxSlotValues *values,
    const TfxStage *stage);

/* Whether the slot has no effect with these values. */
bool tfx_slot_is_identity (const TfxSlot *slot, const TfxSlotValues *values);

/* To rest. */
void tfx_slot_reset (TfxSlot *slot);
/* The largest magnitude in the state that the slot has. */
double tfx_slot_peak (const TfxSlot *slot);

/* The entry of a stage, also in a branch; NULL if there is none. */
TfxSlotEntry *tfx_slots_find (const TfxSlots *list, uint64_t id);

/* The chain that the slots are set to.  `stage`, unless NULL, replaces the one with its id.
 * 0; -ENOENT: there is no such stage; -ENOMEM. */
int
tfx_slots_get_chain (const TfxSlots *list, TfxStage *stage, TfxChain **chain);

/* A walk over the entries of a list and of all branches, also those that fade out; the entries
 * of branches come before the entry that has them. */
typedef struct TfxWalkLevel
{
  const TfxSlots *list;
  size_t entry, branch;
  int slot; /* the next one of the entry, of two */
} TfxWalkLevel;

typedef struct TfxWalk
{
  int depth;
  TfxWalkLevel at[TFX_SUM_MAX_DEPTH + 1];
} TfxWalk;

static inline TfxWalk
tfx_walk (const TfxSlots *list)
{
  TfxWalk walk;

  walk.depth = 0;
  walk.at[0] = (TfxWalkLevel){ .list = list };
  return walk;
}

/* The next entry; or the next slot of one; NULL: the walk is over. */
TfxSlotEntry *tfx_walk_entry (TfxWalk *walk);
TfxSlot *tfx_walk_slot (TfxWalk *walk);

#endif
