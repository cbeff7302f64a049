/* SPDX-License-Identifier: LGPL-2.1-or-later
 * units.h: which kinds of stage have device code. */
#ifndef TFX_CUDA_UNITS_H
#define TFX_CUDA_UNITS_H

#include "unit.h"

/* NULL: the CPU runs such a stage. */
const TfxCudaUnitKind *tfx_cuda_units_find (const TfxStage *stage);

/* A unit for such a stage, at rest.  0 or a negative errno. */
int tfx_cuda_units_make (TfxCudaStream *stream, unsigned n_channels,
    const TfxStage *stage, TfxCudaUnit **unit);
void tfx_cuda_units_free (TfxCudaUnit **unit);

/* Values of the same structure, and a gain behind it; the stage stays the caller's,
 * until there is another one. */
void tfx_cuda_units_set_stage (TfxCudaUnit *unit, const TfxStage *stage,
    double gain);

/* As in TfxCudaUnitKind, with what the unit remembers.  state_peak: the largest
 * magnitude in its state. */
int tfx_cuda_units_prepare (TfxCudaUnit *unit, bool is_double, size_t n_frames);
void tfx_cuda_units_commit (TfxCudaUnit *unit);
void tfx_cuda_units_abandon (TfxCudaUnit *unit);
int tfx_cuda_units_copy_state (TfxCudaUnit *unit, const TfxCudaUnit *from);
int tfx_cuda_units_get_state (TfxCudaUnit *unit, double *state);
int tfx_cuda_units_set_state (TfxCudaUnit *unit, const double *state);
double tfx_cuda_units_state_peak (TfxCudaUnit *unit);

#endif
