/* SPDX-License-Identifier: LGPL-2.1-or-later
 * glide.h: sections and gains whose values move while a plan runs.
 *
 * A step of sections is run from one change to the next; steps that do not move,
 * and blocks, are not split. */
#ifndef TFX_GLIDE_H
#define TFX_GLIDE_H

#include "plan.h"

/* Finds the steps that move, before a run. */
void tfx_glide_mark (TfxPlan *plan);

/* Frame `first` of a run is next in a step that moves.  Returns how many of n_left
 * frames it runs in one way: with the values and the state of the engine, or
 * (*is_apart) with those of the slots. */
size_t
tfx_glide_run (TfxStep *step, size_t first, size_t n_left, bool *is_apart);

/* At least how many of n_left frames from `first` on are apart without a break in a step that
 * tfx_glide_run() has just found so. */
size_t tfx_glide_apart (const TfxStep *step, size_t first, size_t n_left);

#endif
