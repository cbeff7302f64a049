/* SPDX-License-Identifier: LGPL-2.1-or-later
 * values.h: a slot gets other values of the same structure. */
#ifndef TFX_VALUES_H
#define TFX_VALUES_H

#include "filter.h"

/* Other values for one slot in n_cells points of the grid; the structure is the
 * same.  0 or negative errno. */
int tfx_values_set (TfxFilter *filter, TfxSlot *slot, TfxStage *stage,
    unsigned n_cells);

/* The same with slot->new_values, made ready, for a unit. */
void tfx_values_take (TfxFilter *filter, TfxSlot *slot, TfxStage *stage);

#endif
