/* SPDX-License-Identifier: LGPL-2.1-or-later
 * state.h: the state of a unit on the device: the last inputs of each channel, in a
 * ring, and numbers.  A launch reads them in one place and writes to another, so that
 * a run that fails leaves them as they were.  The context is current in all calls. */
#ifndef TFX_CUDA_STATE_H
#define TFX_CUDA_STATE_H

#include "buffer.h"
#include "kernels/args.h"

typedef struct TfxCudaState
{
  TfxCudaStream *stream;
  unsigned n_channels;
  size_t n_past, n_numbers; /* of a channel; 0: none */
  TfxBuffer ring;           /* double[n_channels][size] */
  size_t size, position;    /* 0: at rest */
  size_t kept;              /* of the block that is being run */
  TfxBuffer numbers[2];     /* double[n_channels][n_numbers] */
  unsigned current;
  bool has_numbers; /* false: at rest, all of them 0 */
} TfxCudaState;

void tfx_cuda_state_clear (TfxCudaState *state);

/* Room for the state beside a block of n_frames.  0 or a negative errno. */
int tfx_cuda_state_reserve (TfxCudaState *state, size_t n_frames);

/* For a launch over a block of n_frames: the ring; where the numbers are, 0 at rest; and
 * where they go.  commit: it has succeeded. */
TfxKernelRing tfx_cuda_state_ring (TfxCudaState *state, size_t n_frames);
CUdeviceptr tfx_cuda_state_in (const TfxCudaState *state);
CUdeviceptr tfx_cuda_state_out (const TfxCudaState *state);
void tfx_cuda_state_commit (TfxCudaState *state);

/* double[n_channels][n_past + n_numbers]: of each channel the past, the newest last,
 * then its numbers.  0 or a negative errno. */
int tfx_cuda_state_get (TfxCudaState *state, double *to);
int tfx_cuda_state_set (TfxCudaState *state, const double *from);
/* The same as another one's, of as many, within the device. */
int tfx_cuda_state_copy (TfxCudaState *state, const TfxCudaState *from);

#endif
