/* SPDX-License-Identifier: LGPL-2.1-or-later
 * step.h: sections and gains whose values move while a plan runs.
 *
 * A step of sections is run from one change to the next; steps that do not move,
 * and blocks, are not split. */
#ifndef TFX_STEP_H
#define TFX_STEP_H

#include "plan.h"

/* Finds the steps that move, before a run. */
void tfx_step_mark_moving (TfxPlan *plan);

/* Frame `first` of a run is next in a step that moves.  Returns how many of n_left
 * frames it runs in one way: with the values and the state of the engine, or
 * (*is_apart) with those of the slots. */
size_t
tfx_step_run_ramps (TfxStep *step, size_t first, size_t n_left, bool *is_apart);

/* At least how many of n_left frames from `first` on are apart without a break in a step that
 * tfx_step_run_ramps() has just found so. */
size_t tfx_step_count_apart (const TfxStep *step, size_t first, size_t n_left);

/* Frame `first` of a run is next in a unit that moves.  Returns how many of n_left
 * frames come before its next event. */
size_t tfx_step_run_events (TfxStep *step, size_t first, size_t n_left);

#endif
