/* SPDX-License-Identifier: LGPL-2.1-or-later
 * step.h: steps whose values move while a plan runs.
 *
 * Such a step is run from one change to the next; other steps are not split. */
#ifndef TFX_STEP_H
#define TFX_STEP_H

#include "backend.h"

/* Finds the steps whose values move, before a run. */
void tfx_step_mark_moving (TfxPlan *plan);

/* Updates a step of sections for frame `first` of a run.  Returns how many of n_left frames
 * come before the next change; they use the values and the state of the engine, or
 * (*is_apart) of the slots. */
size_t
tfx_step_run_ramps (TfxStep *step, size_t first, size_t n_left, bool *is_apart);

/* A lower bound of the frames that a step, just found apart by tfx_step_run_ramps(), stays
 * so. */
size_t tfx_step_count_apart (const TfxStep *step, size_t first, size_t n_left);

/* The same for a unit, up to its next event. */
size_t tfx_step_run_events (TfxStep *step, size_t first, size_t n_left);

#endif
