/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.h: a plan made ready for the device, and its state. */
#ifndef TFX_CUDA_ENGINE_H
#define TFX_CUDA_ENGINE_H

#include "core/backend.h"

/* For tests: see tfx_cuda_cascade_force(); for every cascade of the engine. */
void tfx_cuda_engine_force (TfxEngine *engine, int segment_log2, int lanes_log2,
    unsigned max_grid);

/* For tests: sets the length of a part in samples, for blocks that are split. */
void tfx_cuda_engine_force_parts (TfxEngine *engine, size_t n_samples);

/* For tests: FIRs by transforms, see tfx_cuda_fir_force(). */
void tfx_cuda_engine_force_fft (TfxEngine *engine, unsigned log2,
    unsigned max_tiles);

#endif
