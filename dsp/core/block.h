/* SPDX-License-Identifier: LGPL-2.1-or-later
 * block.h: what plans and backends do with a TfxBlock. */
#ifndef TFX_BLOCK_H
#define TFX_BLOCK_H

#include "tfx.h"

/* Samples up to this magnitude are silence: -400 dB. */
#define TFX_SILENCE 1e-20

static inline size_t
tfx_sample_size (TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);
}

static inline double
tfx_block_get (const TfxBlock *b, size_t frame, unsigned channel)
{
  ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                 (ptrdiff_t)channel * b->channel_stride;
  return b->type == TFX_SAMPLE_F32 ? ((const float *)b->data)[at]
                                   : ((const double *)b->data)[at];
}

static inline void
tfx_block_set (const TfxBlock *b, size_t frame, unsigned channel, double value)
{
  ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                 (ptrdiff_t)channel * b->channel_stride;
  if (b->type == TFX_SAMPLE_F32)
    ((float *)b->data)[at] = (float)value;
  else
    ((double *)b->data)[at] = value;
}

/* Frames [first, first + n_frames) of channels [channel, channel +
 * n_channels). */
static inline TfxBlock
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

/* Whether the samples of a frame lie side by side, and so do the frames. */
static inline bool
tfx_block_is_interleaved (const TfxBlock *b)
{
  return b->frame_stride == (ptrdiff_t)b->n_channels &&
         (b->channel_stride == 1 || b->n_channels == 1);
}

/* n zeros, aligned to a line of the cache, for free(); NULL: no memory. */
double *tfx_block_new_samples (size_t n);

#endif
