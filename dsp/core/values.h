/* SPDX-License-Identifier: LGPL-2.1-or-later
 * values.h: a slot gets other values of the same structure. */
#ifndef TFX_VALUES_H
#define TFX_VALUES_H

#include "filter.h"

/* Other values for one slot in n_cells points of the grid; the structure is the
 * same.  0 or negative errno. */
int tfx_values_set (TfxFilter *filter, TfxSlot *slot, TfxStage *stage,
    unsigned n_cells);

/* The same in a change's time, with values that the unit, if there is one, has
 * prepared. */
void tfx_values_take (TfxFilter *filter, TfxSlot *slot, TfxStage *stage,
    void *values);

#endif
