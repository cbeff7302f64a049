/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir.h: a FIR on the device, direct or by transforms.  The context is current in
 * all calls. */
#ifndef TFX_CUDA_FIR_H
#define TFX_CUDA_FIR_H

#include "fft.h"
#include "past.h"

typedef struct TfxCudaFir
{
  TfxCudaQueue *queue;
  unsigned n_channels;
  size_t n_taps;
  TfxFirMethod asked, method;
  size_t n_frames; /* of the blocks that it was chosen for; 0: not chosen */
  bool is_ready;   /* for streams of this type: */
  bool is_float;
  TfxKernel direct;
  TfxReal real; /* of direct */
  TfxCudaFft fft;
  TfxBuffer room;

  /* What is asked for. */
  const TfxStage *stage;
  double gain;
  bool taps_are_old;

  /* On the device: the taps, or for transforms their spectra. */
  TfxBuffer taps;
  unsigned n_kernels;
} TfxCudaFir;

void tfx_cuda_fir_init (TfxCudaFir *fir, TfxCudaQueue *queue,
    unsigned n_channels, size_t n_taps, TfxFirMethod method);
void tfx_cuda_fir_clear (TfxCudaFir *fir);

/* The stage's kernels times gain; the stage stays the caller's while it runs. */
void
tfx_cuda_fir_set_stage (TfxCudaFir *fir, const TfxStage *stage, double gain);

/* For tests: by transforms in partitions of 2^log2 taps, with at most max_tiles in a
 * launch (0: as many as may be). */
void tfx_cuda_fir_force (TfxCudaFir *fir, unsigned log2, unsigned max_tiles);

/* Kernels, spectra and memory for blocks of up to n_frames frames.  0 or a
 * negative errno. */
int tfx_cuda_fir_prepare (TfxCudaFir *fir, bool is_float, size_t n_frames);

/* After prepare; in and out must not overlap. */
int tfx_cuda_fir_run (TfxCudaFir *fir, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    const TfxKernelRing *ring, CUdeviceptr cleared, uint64_t *n_launches);
void tfx_cuda_fir_commit (TfxCudaFir *fir);
void tfx_cuda_fir_abandon (TfxCudaFir *fir);

/* The past is another one. */
void tfx_cuda_fir_forget (TfxCudaFir *fir);

#endif
