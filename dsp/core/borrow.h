/* SPDX-License-Identifier: LGPL-2.1-or-later
 * borrow.h: the state of a filter, from its slots to the engine of the plan that
 * runs it, and back.
 *
 * The caller holds the lock of the filter.  Two threads may take two filters from one
 * plan. */
#ifndef TFX_BORROW_H
#define TFX_BORROW_H

#include "backend.h"
#include "slot.h"

/* Returns the state from the plan that has it to the slots; on a device it stays there if
 * possible (_give_back), or is read to the host (_from_device). */
void tfx_borrow_give_back (TfxFilter *filter);
void tfx_borrow_from_device (TfxFilter *filter);

/* Moves the state of all filters of a plan to its engine, which has their values.  0, or
 * negative errno: the slots still have it. */
int tfx_borrow_load (TfxPlan *plan);

/* Moves the state of one step of sections to the slots (step->is_apart), and back. */
void tfx_borrow_get_step (TfxPlan *plan, TfxStep *step);
void tfx_borrow_set_step (TfxPlan *plan, TfxStep *step);

/* The largest magnitude in the state, including other filters of the plan that has it. */
double tfx_borrow_peak (const TfxFilter *filter);

#endif
