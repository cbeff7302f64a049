/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft-cut.h: how a FIR is cut for transforms of 2 P frames, P = 2^log2, and what that
 * costs. */
#ifndef TFX_CUDA_FFT_CUT_H
#define TFX_CUDA_FFT_CUT_H

#include <stddef.h>

#include "tables.h"

/* Partitions of P taps. */
size_t tfx_cuda_fft_partitions (size_t n_taps, unsigned log2);

/* Frames of the output that a transform makes. */
unsigned tfx_cuda_fft_out (size_t n_taps, unsigned log2);

/* Numbers of transforms, there and back, that a sample takes, in blocks of n_frames and
 * with partitions of 2^log2 taps; and how many those are. */
double tfx_cuda_fft_work (size_t n_taps, size_t n_frames, unsigned log2,
    double *n_partitions);

/* Cost of a FIR of n_taps per sample, in multiply-adds of the direct form, with
 * blocks of n_frames and partitions of 2^log2 taps. */
double
tfx_cuda_fft_cost (TfxReal real, size_t n_taps, size_t n_frames, unsigned log2);

/* The partition that costs least; shared: bytes that a block may have. */
unsigned tfx_cuda_fft_choose (TfxReal real, size_t n_taps, size_t n_frames,
    size_t shared);

/* The requested method; for TFX_FIR_AUTO the cheaper one. */
TfxFirMethod tfx_cuda_fft_method (TfxFirMethod asked, TfxReal real,
    size_t n_taps, size_t n_frames, unsigned log2);

#endif
