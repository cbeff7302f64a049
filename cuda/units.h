/* SPDX-License-Identifier: LGPL-2.1-or-later
 * units.h: which kinds of stage have device code. */
#ifndef TFX_CUDA_UNITS_H
#define TFX_CUDA_UNITS_H

#include "unit.h"

/* NULL: the CPU runs such a stage. */
const TfxCudaUnitKind *tfx_cuda_units_find (const TfxStage *stage);

#endif
