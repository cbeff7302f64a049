/* SPDX-License-Identifier: LGPL-2.1-or-later
 * block.c: descriptions of samples where they lie. */
#include "block.h"

#include <stdlib.h>
#include <string.h>

TfxBlock
tfx_block_interleaved (void *data, TfxSample type, unsigned n_channels,
    size_t n_frames)
{
  return (TfxBlock){ data, type, n_channels, n_frames, n_channels, 1 };
}

TfxBlock
tfx_block_planar (void *data, TfxSample type, unsigned n_channels,
    size_t n_frames, size_t plane_stride)
{
  return (
      TfxBlock){ data, type, n_channels, n_frames, 1, (ptrdiff_t)plane_stride };
}

double *
tfx_block_new_samples (size_t n)
{
  const size_t size = (n * sizeof (double) + 63) / 64 * 64;
  double *samples = aligned_alloc (64, size);

  if (samples)
    memset (samples, 0, size);
  return samples;
}
