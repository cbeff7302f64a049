/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.h: a cascade of sections on the device, and its state.  The context
 * is current in all calls. */
#ifndef TFX_CUDA_CASCADE_H
#define TFX_CUDA_CASCADE_H

#include "shape.h"
#include "unit.h"

typedef struct TfxCudaCascade TfxCudaCascade;

/* At rest, without coefficients.  0 or a negative errno. */
int tfx_cuda_cascade_new (TfxCudaStream *stream, unsigned n_channels,
    size_t n_sos, TfxCudaCascade **cascade);
void tfx_cuda_cascade_free (TfxCudaCascade **cascade);

/* y = gain * cascade (x), with a copy of sos[n_sos]; the next run uploads other values. */
void tfx_cuda_cascade_set_sections (TfxCudaCascade *cascade, const TfxSos *sos,
    double gain);

/* Loads the kernels and allocates memory for blocks of up to n_frames frames of
 * this type. is_whole: input and output are those of the stream, not of an
 * intermediate step. 0 or a negative errno. */
int tfx_cuda_cascade_prepare (TfxCudaCascade *cascade, TfxSample type,
    size_t n_frames, bool is_whole);

/* Launches on the stream.  The state after it takes effect with commit.  0 or a
 * negative errno. */
int tfx_cuda_cascade_run (TfxCudaCascade *cascade, const TfxUnitRun *run);
void tfx_cuda_cascade_commit (TfxCudaCascade *cascade);

/* A launch failed: what the kernel keeps for itself may be broken. */
void tfx_cuda_cascade_abandon (TfxCudaCascade *cascade);

/* state[n_channels][n_sos][2] of sections [first, first + n_sos), as tfx.h
 * describes it.  0 or a negative errno. */
int tfx_cuda_cascade_get_state (TfxCudaCascade *cascade, size_t first,
    size_t n_sos, double *state);
int tfx_cuda_cascade_set_state (TfxCudaCascade *cascade, size_t first,
    size_t n_sos, const double *state);
/* To the same in device memory, or back, if it is not kept there.  Waits for it. */
int tfx_cuda_cascade_copy_state (TfxCudaCascade *cascade, size_t first,
    size_t n_sos, CUdeviceptr state, bool is_kept);
void tfx_cuda_cascade_reset (TfxCudaCascade *cascade);
double tfx_cuda_cascade_state_peak (TfxCudaCascade *cascade);

/* For tests: segments of 2^segment_log2 frames, 2^lanes_log2 of them in a
 * tile, and at most max_grid blocks; -1 and 0: what suits best. */
void tfx_cuda_cascade_force (TfxCudaCascade *cascade, int segment_log2,
    int lanes_log2, unsigned max_grid);

#endif
