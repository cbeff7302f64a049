/* SPDX-License-Identifier: LGPL-2.1-or-later
 * glide.h: sections and gains whose values move while a plan runs.
 *
 * A step of sections is run from one point of the grid to the next; steps that
 * do not move, and blocks, are not split. */
#ifndef TFX_GLIDE_H
#define TFX_GLIDE_H

#include "plan.h"

/* Finds the steps that move, before a run. */
void tfx_glide_mark (TfxPlan *plan);

/* Frame `first` of a run is next in a step that moves: it gets the values that
 * are due there.  Returns how many of n_left frames it runs with them. */
size_t tfx_glide_run (TfxStep *step, size_t first, size_t n_left);

#endif
