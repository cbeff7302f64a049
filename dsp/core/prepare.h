/* SPDX-License-Identifier: LGPL-2.1-or-later
 * prepare.h: the next setting of a running filter, prepared beside the one in force.
 *
 * A prepared list has the kept slots, with their new values, and new slots.  Preparing
 * does everything that can fail, and does not change the filter; change.c commits the
 * list. */
#ifndef TFX_PREPARE_H
#define TFX_PREPARE_H

#include "slot.h"

typedef struct TfxPrepared
{
  TfxSlots next;
  bool is_structural; /* a slot is cross-faded */
  bool moves_times;   /* with another latency */
  bool is_reverted;   /* it replaces cross-fades that have not begun */
} TfxPrepared;

/* Prepares a chain.  may_revert: no cross-fade runs, so that one that waits can be
 * replaced.  0, or negative errno: nothing has been prepared. */
int tfx_prepare_chain (const TfxFilter *filter, const TfxChain *chain,
    bool may_revert, TfxPrepared *prepared);
void tfx_prepare_clear (TfxSlots *next);

/* Drops the new values of a kept slot. */
void tfx_prepare_drop_values (TfxSlotEntry *entry);
/* Prepares these values again, after the format has changed.  Without memory they are
 * dropped. */
void tfx_prepare_remake_values (TfxSlots *next, const TfxSlotSpec *spec);

#endif
