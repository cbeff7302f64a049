/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving.h: a step of sections and gains while its values move. */
#ifndef TFX_MOVING_H
#define TFX_MOVING_H

#include "core/backend.h"
#include "kernels.h"

/* Runs a block from frame `first` of a run on, in place or apart, with values and
 * state as the slots have them; nothing begins or ends to move within it.  Returns
 * how many times a channel was cleared. */
int tfx_moving_run (const TfxKernels *kernels, const TfxStep *step,
    size_t first, const TfxBlock *in, const TfxBlock *out);

#endif
