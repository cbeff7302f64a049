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

/* A run of n samples, step samples apart in each. */
typedef void (*CopyRun) (const void *in, ptrdiff_t in_step, void *out,
    ptrdiff_t out_step, size_t n);

#define COPY_RUN(name, from, to)                                               \
  static void name (const void *in, ptrdiff_t in_step, void *out,              \
      ptrdiff_t out_step, size_t n)                                            \
  {                                                                            \
    COPY_BODY (from, to)                                                       \
  }

/* Samples side by side are a loop of their own, which takes vectors. */
#define COPY_BODY(from, to)                                                    \
  const from *restrict x = in;                                                 \
  to *restrict y = out;                                                        \
  if (in_step == 1 && out_step == 1 && sizeof *x == sizeof *y)                 \
    memcpy (y, x, n * sizeof *y);                                              \
  else if (in_step == 1 && out_step == 1)                                      \
    for (size_t i = 0; i < n; i++)                                             \
      y[i] = (to)x[i];                                                         \
  else                                                                         \
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i++)                               \
      y[i * out_step] = (to)x[i * in_step];

COPY_RUN (copy_f32_to_f32, float, float)
COPY_RUN (copy_f32_to_f64, float, double)
COPY_RUN (copy_f64_to_f32, double, float)
COPY_RUN (copy_f64_to_f64, double, double)

void
tfx_block_copy (const TfxBlock *in, const TfxBlock *out)
{
  static const CopyRun runs[2][2] = { { copy_f32_to_f32, copy_f32_to_f64 },
    { copy_f64_to_f32, copy_f64_to_f64 } };
  const CopyRun run = runs[in->type][out->type];
  const ptrdiff_t n = in->n_channels;

  if (in->data == out->data)
    return;
  if (n == 1) {
    run (in->data, in->frame_stride, out->data, out->frame_stride,
        in->n_frames);
    return;
  }
  if (in->channel_stride == 1 && out->channel_stride == 1 &&
      in->frame_stride == n && out->frame_stride == n) {
    run (in->data, 1, out->data, 1, in->n_frames * in->n_channels);
    return;
  }
  for (unsigned c = 0; c < in->n_channels; c++) {
    const TfxBlock from = tfx_block_part (in, 0, in->n_frames, c, 1);
    const TfxBlock to = tfx_block_part (out, 0, in->n_frames, c, 1);

    run (from.data, from.frame_stride, to.data, to.frame_stride, in->n_frames);
  }
}
