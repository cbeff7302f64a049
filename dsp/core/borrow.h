/* SPDX-License-Identifier: LGPL-2.1-or-later
 * borrow.h: the state of a filter, from its slots to the engine of the plan that
 * runs it, and back.
 *
 * Whoever calls any of these has the lock of the filter.  Two threads may take
 * two filters from one plan. */
#ifndef TFX_BORROW_H
#define TFX_BORROW_H

#include "filter.h"

/* Into the slots, if a plan has it; what is on a device stays there if it can.  And
 * what is on a device, to the host. */
void tfx_borrow_give_back (TfxFilter *filter);
void tfx_borrow_from_device (TfxFilter *filter);

/* From the slots to the plan's engine, whose values are set: all filters of the
 * plan. */
void tfx_borrow_load (TfxPlan *plan);

/* The state of a step of sections alone, to the slots, apart from the engine
 * (step->is_apart), and back, for filters that the plan has. */
void tfx_borrow_get_step (TfxPlan *plan, TfxStep *step);
void tfx_borrow_set_step (TfxPlan *plan, TfxStep *step);

/* The largest magnitude in the state, that of other filters in what the plan has
 * included. */
double tfx_borrow_peak (const TfxFilter *filter);

#endif
