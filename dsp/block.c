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

/* A run of n samples, step samples apart in each. */
static inline __attribute__ ((always_inline)) void
copy_run (const void *restrict in, const bool from_f32, ptrdiff_t in_step,
    void *restrict out, const bool to_f32, ptrdiff_t out_step, ptrdiff_t n)
{
  for (ptrdiff_t i = 0; i < n; i++) {
    const double x = from_f32 ? ((const float *)in)[i * in_step]
                              : ((const double *)in)[i * in_step];

    if (to_f32)
      ((float *)out)[i * out_step] = (float)x;
    else
      ((double *)out)[i * out_step] = x;
  }
}

/* Samples side by side are a loop of their own, which takes vectors. */
static inline __attribute__ ((always_inline)) void
copy_steps (const void *in, const bool from_f32, ptrdiff_t in_step, void *out,
    const bool to_f32, ptrdiff_t out_step, size_t n)
{
  if (in_step == 1 && out_step == 1)
    copy_run (in, from_f32, 1, out, to_f32, 1, (ptrdiff_t)n);
  else
    copy_run (in, from_f32, in_step, out, to_f32, out_step, (ptrdiff_t)n);
}

static void
copy_types (const void *in, TfxSample from, ptrdiff_t in_step, void *out,
    TfxSample to, ptrdiff_t out_step, size_t n)
{
  if (from == to && in_step == 1 && out_step == 1)
    memcpy (out, in, n * tfx_sample_size (from));
  else if (from == TFX_SAMPLE_F32 && to == TFX_SAMPLE_F32)
    copy_steps (in, true, in_step, out, true, out_step, n);
  else if (from == TFX_SAMPLE_F32)
    copy_steps (in, true, in_step, out, false, out_step, n);
  else if (to == TFX_SAMPLE_F32)
    copy_steps (in, false, in_step, out, true, out_step, n);
  else
    copy_steps (in, false, in_step, out, false, out_step, n);
}

void
tfx_block_copy (const TfxBlock *in, const TfxBlock *out)
{
  const ptrdiff_t n = in->n_channels;

  if (in->data == out->data)
    return;
  if (n == 1) {
    copy_types (in->data, in->type, in->frame_stride, out->data, out->type,
        out->frame_stride, in->n_frames);
    return;
  }
  if (in->channel_stride == 1 && out->channel_stride == 1 &&
      in->frame_stride == n && out->frame_stride == n) {
    copy_types (in->data, in->type, 1, out->data, out->type, 1,
        in->n_frames * in->n_channels);
    return;
  }
  for (unsigned c = 0; c < in->n_channels; c++) {
    const TfxBlock from = tfx_block_part (in, 0, in->n_frames, c, 1);
    const TfxBlock to = tfx_block_part (out, 0, in->n_frames, c, 1);

    copy_types (from.data, in->type, from.frame_stride, to.data, out->type,
        to.frame_stride, in->n_frames);
  }
}
