/* SPDX-License-Identifier: LGPL-2.1-or-later
 * window.h: what looks back a known number of frames -- FIRs, delay lines -- on
 * the device, and its past.  The context is current in all calls. */
#ifndef TFX_CUDA_WINDOW_H
#define TFX_CUDA_WINDOW_H

#include "buffer.h"
#include "kernels/args.h"
#include "module.h"
#include "past.h"

typedef struct TfxCudaWindow TfxCudaWindow;

/* At rest: for a FIR's or a delay line's stage, which stays the caller's.  0 or a negative errno. */
int tfx_cuda_window_new (TfxCudaQueue *queue, unsigned n_channels,
    const TfxStage *stage, TfxCudaWindow **window);
void tfx_cuda_window_free (TfxCudaWindow **window);

/* The stage's kernels or taps, times gain: of the same kind and length as at
 * first.  The stage stays the caller's while it runs. */
void tfx_cuda_window_set_stage (TfxCudaWindow *window, const TfxStage *stage,
    double gain);

/* True if in and out must not overlap. */
bool tfx_cuda_window_is_apart (const TfxCudaWindow *window);

/* For tests: a FIR by transforms, see tfx_cuda_fir_force(). */
void tfx_cuda_window_force (TfxCudaWindow *window, unsigned log2,
    unsigned max_tiles);

/* As in cascade.h. */
int tfx_cuda_window_prepare (TfxCudaWindow *window, TfxSample type,
    size_t n_frames);
int tfx_cuda_window_run (TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    bool double_arithmetic, CUdeviceptr cleared, uint64_t *n_launches);
void tfx_cuda_window_commit (TfxCudaWindow *window);
void tfx_cuda_window_abandon (TfxCudaWindow *window);

/* state[n_channels][past], the newest last. */
int tfx_cuda_window_get_state (TfxCudaWindow *window, double *state);
int tfx_cuda_window_set_state (TfxCudaWindow *window, const double *state);
/* The past of another window, or to another's; see past.h. */
int tfx_cuda_window_take_past (TfxCudaWindow *window, const TfxCudaPast *past);
const TfxCudaPast *tfx_cuda_window_past (const TfxCudaWindow *window);
double tfx_cuda_window_state_peak (TfxCudaWindow *window);

#endif
