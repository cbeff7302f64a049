/* SPDX-License-Identifier: LGPL-2.1-or-later
 * block.c: descriptions of samples where they lie. */
#include "block.h"

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

TfxBlock
tfx_block_part (const TfxBlock *block, size_t first, size_t n_frames,
    unsigned channel, unsigned n_channels)
{
  TfxBlock part = *block;
  ptrdiff_t offset = (ptrdiff_t)first * block->frame_stride +
                     (ptrdiff_t)channel * block->channel_stride;

  part.data =
      (char *)block->data + offset * (ptrdiff_t)tfx_sample_size (block->type);
  part.n_frames = n_frames;
  part.n_channels = n_channels;
  return part;
}

void
tfx_block_copy (const TfxBlock *in, const TfxBlock *out)
{
  if (in->data == out->data)
    return;
  for (size_t i = 0; i < in->n_frames; i++) {
    for (unsigned c = 0; c < in->n_channels; c++)
      tfx_block_set (out, i, c, tfx_block_get (in, i, c));
  }
}

void
tfx_block_fade (const TfxBlock *from, const TfxBlock *out, size_t start,
    size_t length)
{
  for (size_t i = 0; i < out->n_frames; i++) {
    double t = (double)(start + i + 1) / (double)(length + 1);
    double w = 1.0 - t * t * (3.0 - 2.0 * t);

    for (unsigned c = 0; c < out->n_channels; c++) {
      double y = tfx_block_get (out, i, c);
      tfx_block_set (out, i, c, y + w * (tfx_block_get (from, i, c) - y));
    }
  }
}
