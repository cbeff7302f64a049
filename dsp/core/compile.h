/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compile.h: the slots of a row of filters become the steps of a plan. */
#ifndef TFX_COMPILE_H
#define TFX_COMPILE_H

#include "backend.h"
#include "slot.h"

/* Makes the steps of a plan that has its filters and none yet.  is_cut: slots that are
 * reserved (see TfxSlot) are separate steps, as automated ones.  0, -ENOMEM, or -ENOTSUP for a
 * cross-fade that the backend does not run;
 * tfx_compile_clear() is right in any case. */
int tfx_compile_steps (TfxPlan *plan, bool is_cut);
void tfx_compile_clear (TfxPlan *plan);

/* Copies the values of the slots to a step of sections; to all steps. */
void tfx_compile_set_step (TfxPlan *plan, TfxStep *step);
void tfx_compile_set_values (TfxPlan *plan);

#endif
