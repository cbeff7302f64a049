/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.h: FIRs, delay lines and gains on the device, and their past.  The
 * context is current in all calls. */
#ifndef TFX_CUDA_WINDOW_H
#define TFX_CUDA_WINDOW_H

#include "buffer.h"
#include "kernels/args.h"
#include "module.h"

typedef struct TfxCudaWindow TfxCudaWindow;

/* At rest, without taps; past: how many frames back it looks.  is_fir: a FIR,
 * otherwise a delay line, or a gain if past is 0.  0 or a negative errno. */
int tfx_cuda_window_new (TfxCuda *cuda, unsigned n_channels, bool is_fir,
    size_t past, TfxCudaWindow **window);
void tfx_cuda_window_free (TfxCudaWindow **window);

/* The stage's kernels or taps, times gain; the stage stays the caller's while
 * it runs.  A FIR that has run goes over to new kernels in a cross-fade of
 * fade_frames. */
void tfx_cuda_window_set_stage (TfxCudaWindow *window, const TfxStage *stage,
    double gain, size_t fade_frames);

/* y = gain x. */
void tfx_cuda_window_set_gain (TfxCudaWindow *window, double gain);

/* As in cascade.h.  in and out must not overlap, but for a gain. */
int tfx_cuda_window_prepare (TfxCudaWindow *window, TfxSample type,
    size_t n_frames);
int tfx_cuda_window_run (TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    bool double_arithmetic, uint64_t *n_launches);
void tfx_cuda_window_commit (TfxCudaWindow *window);

/* state[n_channels][past], the newest last. */
int tfx_cuda_window_get_state (TfxCudaWindow *window, double *state);
int tfx_cuda_window_set_state (TfxCudaWindow *window, const double *state);
void tfx_cuda_window_reset (TfxCudaWindow *window);
double tfx_cuda_window_state_peak (TfxCudaWindow *window);

#endif
