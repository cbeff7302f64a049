/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compile.h: the slots of a row of filters become the steps of a plan. */
#ifndef TFX_COMPILE_H
#define TFX_COMPILE_H

#include "filter.h"

/* Makes the steps of a plan that has its filters and none yet.  is_cut: slots that are
 * reserved (see TfxSlot) are separate steps, as automated ones.  0 or -ENOMEM;
 * tfx_compile_clear() is right in any case. */
int tfx_compile_steps (TfxPlan *plan, bool is_cut);
void tfx_compile_clear (TfxPlan *plan);

/* Copies the values of the slots to a step of sections; to all steps. */
void tfx_compile_set_step (TfxPlan *plan, TfxStep *step);
void tfx_compile_set_values (TfxPlan *plan);

/* Calls f for every step, those of branches included. */
typedef void (*TfxStepFunction) (TfxPlan *plan, TfxStep *step, void *data);
void tfx_compile_each (TfxPlan *plan, TfxStepFunction f, void *data);

#endif
