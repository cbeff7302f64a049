/* SPDX-License-Identifier: LGPL-2.1-or-later
 * prepare.h: the next setting of a running filter, prepared beside the one in force.
 *
 * A prepared list has the slots that stay, with the values that they get, and new
 * ones.  Whatever can fail has been done; until change.c commits the list, the filter
 * is as it was. */
#ifndef TFX_PREPARE_H
#define TFX_PREPARE_H

#include "filter.h"

typedef struct TfxPrepared
{
  TfxSlots next;
  bool is_structural; /* a slot is cross-faded */
  bool moves_times;   /* with another latency */
  bool is_reverted;   /* it replaces cross-fades that have not begun */
} TfxPrepared;

/* Prepares a chain from what the filter is set to.  may_revert: no cross-fade runs, so
 * that one that waits can be replaced.  0 or negative errno: nothing has been prepared. */
int tfx_prepare_chain (const TfxFilter *filter, const TfxChain *chain,
    bool may_revert, TfxPrepared *prepared);
void tfx_prepare_clear (TfxSlots *next);

/* Drops the values that a slot of a prepared list would get. */
void tfx_prepare_drop_values (TfxSlotEntry *entry);
/* Prepares these values anew, for a unit that has replaced another one.  Without memory
 * the slot keeps those that it has. */
void tfx_prepare_remake_values (TfxSlots *next, const TfxSlotSpec *spec);

/* Calls f for every new slot of a prepared list. */
void tfx_prepare_each (const TfxSlots *next, TfxSlotFunction f, void *data);

#endif
