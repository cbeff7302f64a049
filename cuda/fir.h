/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.h: what tests ask of FIRs on the device. */
#ifndef TFX_CUDA_FIR_H
#define TFX_CUDA_FIR_H

/* Uses transforms with partitions of 2^log2 taps and at most max_tiles tiles in a launch
 * (0: no limit). */
void tfx_cuda_fir_force (void *unit, unsigned log2, unsigned max_tiles);
/* Returns the unit's transforms. */
struct TfxCudaFft *tfx_cuda_fir_fft (void *unit);

#endif
