/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.h: FIRs of many taps by transforms, as kernels/fft.cu does them.  The
 * context is current in all calls. */
#ifndef TFX_CUDA_FFT_H
#define TFX_CUDA_FFT_H

#include "unit.h"

/* What the spectra are of: P = 2^log2 taps to a partition. */
typedef struct TfxCudaFft
{
  TfxCudaStream *stream;
  unsigned n_channels;
  bool has_matrix;
  size_t n_taps;
  unsigned log2; /* 0: not cut yet */
  unsigned n_partitions, n_slots;
  unsigned n_out; /* frames of a tile */
  TfxKernelId id;
  TfxKernel kernel;
  bool has_kernel;
  TfxBuffer twiddles, history, control;
  size_t control_size;

  /* Of several partitions: frames since the beginning, which is somewhere at a multiple
   * of P.  Of one, 0: tiles begin with the block. */
  unsigned long long position;
  unsigned force_tiles; /* for tests: most tiles of a launch; 0: no limit */
  unsigned force_epoch; /* for tests: the epoch before the first launch */
  bool has_history;     /* the spectra of the tiles before are there */
  bool is_broken;       /* control must be cleared */
  size_t run_frames;
} TfxCudaFft;

void tfx_cuda_fft_init (TfxCudaFft *fft, TfxCudaStream *stream,
    unsigned n_channels, size_t n_taps, bool has_matrix);
void tfx_cuda_fft_clear (TfxCudaFft *fft);

/* Partitions of 2^log2 taps.  The past is another one then, and spectra of taps must be
 * made anew. */
void tfx_cuda_fft_cut (TfxCudaFft *fft, unsigned log2);

/* The kernel and memory for blocks of up to n_frames frames of this type.  0 or
 * a negative errno. */
int tfx_cuda_fft_prepare (TfxCudaFft *fft, bool is_float, size_t n_frames);

/* The spectra of taps[n_kernels][n_taps] times gain; room for the taps on the
 * device is in `room`.  0 or a negative errno. */
int tfx_cuda_fft_transform_taps (TfxCudaFft *fft, const double *taps,
    unsigned n_kernels, double gain, TfxBuffer *room, TfxBuffer *spectra);

/* A launch for each part of a block, one for a short one; with a matrix two for each.
 * in and out must not overlap.  The state after it takes effect with commit. */
typedef struct TfxCudaFftRun
{
  const TfxUnitRun *block;
  TfxKernelRing ring;
  CUdeviceptr spectra;
  CUdeviceptr matrix; /* int[n_channels][n_channels], as in args.h; 0: none */
  bool per_channel;
  double limit; /* samples that are larger count as 0 */
} TfxCudaFftRun;

int tfx_cuda_fft_run (TfxCudaFft *fft, const TfxCudaFftRun *run);
void tfx_cuda_fft_commit (TfxCudaFft *fft);

/* A run has failed, or the past is another one. */
void tfx_cuda_fft_abandon (TfxCudaFft *fft);
void tfx_cuda_fft_forget (TfxCudaFft *fft);

#endif
