/* SPDX-License-Identifier: LGPL-2.1-or-later
 * past.h: the last inputs of each channel, in a ring on the device.  The context
 * is current in all calls. */
#ifndef TFX_CUDA_PAST_H
#define TFX_CUDA_PAST_H

#include "buffer.h"
#include "kernels/args.h"

/* All zero but for what init sets. */
typedef struct TfxCudaPast
{
  TfxCudaStream *stream;
  unsigned n_channels;
  size_t length;  /* frames that are needed; 0: none */
  TfxBuffer data; /* double[n_channels][size] */
  size_t size, position;
  size_t kept; /* of the block that is being run */
} TfxCudaPast;

void tfx_cuda_past_init (TfxCudaPast *past, TfxCudaStream *stream,
    unsigned n_channels, size_t length);
void tfx_cuda_past_clear (TfxCudaPast *past);

/* Room for the past beside a block of n_frames.  0 or a negative errno. */
int tfx_cuda_past_reserve (TfxCudaPast *past, size_t n_frames);

/* The ring for a launch over a block of n_frames; commit: it has succeeded. */
TfxKernelRing tfx_cuda_past_ring (TfxCudaPast *past, size_t n_frames);
void tfx_cuda_past_commit (TfxCudaPast *past);

/* state[n_channels][length], the newest last.  0 or a negative errno. */
int tfx_cuda_past_get_state (TfxCudaPast *past, double *state);
int tfx_cuda_past_set_state (TfxCudaPast *past, const double *state);
/* The same as another one's, of as many, within the device. */
int tfx_cuda_past_copy (TfxCudaPast *past, const TfxCudaPast *from);
void tfx_cuda_past_reset (TfxCudaPast *past);
double tfx_cuda_past_peak (TfxCudaPast *past);

#endif
