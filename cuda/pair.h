/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pair.h: numbers on the device that a launch reads in one place and writes to
 * another, so that a run that fails leaves them as they were.  The context is
 * current in all calls. */
#ifndef TFX_CUDA_PAIR_H
#define TFX_CUDA_PAIR_H

#include "buffer.h"

/* All zero but for what init sets. */
typedef struct TfxCudaPair
{
  TfxCudaStream *stream;
  size_t n; /* doubles; 0: none */
  TfxBuffer data[2];
  unsigned current;
  bool has_state; /* false: at rest, all of them 0 */
} TfxCudaPair;

void tfx_cuda_pair_init (TfxCudaPair *pair, TfxCudaStream *stream, size_t n);
void tfx_cuda_pair_clear (TfxCudaPair *pair);

/* Memory for both.  0 or a negative errno. */
int tfx_cuda_pair_reserve (TfxCudaPair *pair);

/* For a launch: where they are, 0 at rest; and where they go.  commit: it has
 * succeeded. */
CUdeviceptr tfx_cuda_pair_in (const TfxCudaPair *pair);
CUdeviceptr tfx_cuda_pair_out (const TfxCudaPair *pair);
void tfx_cuda_pair_commit (TfxCudaPair *pair);

/* double[n].  0 or a negative errno. */
int tfx_cuda_pair_get (TfxCudaPair *pair, double *numbers);
int tfx_cuda_pair_set (TfxCudaPair *pair, const double *numbers);
/* The same as another one's, of as many, within the device. */
int tfx_cuda_pair_copy (TfxCudaPair *pair, const TfxCudaPair *from);
/* The largest magnitude; infinity if they cannot be had. */
double tfx_cuda_pair_peak (TfxCudaPair *pair);

#endif
