/* SPDX-License-Identifier: LGPL-2.1-or-later
 * samples.c: blocks as doubles, frame after frame. */
#include "samples.h"

#include "core/block.h"
#include "cpu/copy.h"

size_t
tfx_samples_load (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    double *samples)
{
  const size_t n = in->n_frames * in->n_channels;
  TfxBlock x;

  if (tfx_block_is_interleaved (in))
    return kernels->load[in->type](samples, in->data, n);
  x = tfx_block_interleaved (samples, TFX_SAMPLE_F64, in->n_channels,
      in->n_frames);
  tfx_cpu_copy (kernels->copies, in, &x, 1.0);
  return kernels->load[TFX_SAMPLE_F64](samples, samples, n);
}

void
tfx_samples_store (const TfxDynamicsKernels *kernels, const double *samples,
    const TfxBlock *out)
{
  const TfxBlock x = tfx_block_interleaved ((double *)samples, TFX_SAMPLE_F64,
      out->n_channels, out->n_frames);

  if (tfx_block_is_interleaved (out))
    kernels->store[out->type](out->data, samples,
        out->n_frames * out->n_channels);
  else
    tfx_cpu_copy (kernels->copies, &x, out, 1.0);
}

bool
tfx_samples_are_floats (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    const TfxBlock *out)
{
  return in->type == TFX_SAMPLE_F32 && out->type == TFX_SAMPLE_F32 &&
         tfx_block_is_interleaved (in) && tfx_block_is_interleaved (out) &&
         kernels->are_finite (in->data, in->n_frames * in->n_channels);
}

int
tfx_samples_run (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    const TfxBlock *out, double *samples, const double *result,
    size_t part_frames,
    void (*run) (void *data, size_t n_frames, TfxSample type), void *data)
{
  size_t n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t left = in->n_frames - i;
    TfxBlock from, to;

    n = left < part_frames ? left : part_frames;
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_bad += tfx_samples_load (kernels, &from, samples);
    run (data, n, out->type);
    tfx_samples_store (kernels, result, &to);
  }
  return n_bad > 0;
}
