/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.h: what tests ask of FIRs on the device. */
#ifndef TFX_CUDA_FIR_H
#define TFX_CUDA_FIR_H

/* By transforms in partitions of 2^log2 taps, with at most max_tiles in a launch (0: as
 * many as may be). */
void tfx_cuda_fir_force (void *unit, unsigned log2, unsigned max_tiles);

#endif
