/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy.c: blocks of samples to blocks of another type or layout. */
#include "copy.h"

#include <string.h>

#include "core/block.h"

/* Samples of a part, between two layouts and types. */
#define PART_SIZE 2048

static void
copy_run (const TfxKernels *k, const TfxBlock *in, const TfxBlock *out,
    size_t n, double gain)
{
  if (in->type != out->type || gain != 1.0)
    k->scale (out->data, out->type, in->data, in->type, n, gain);
  else if (in->data != out->data)
    memcpy (out->data, in->data, n * tfx_sample_size (in->type));
}

/* From planes to rows, or back, with another type or a gain: rows of the planes' type are
 * between, a part at a time. */
static void
turn_parts (const TfxKernels *k, const TfxBlock *in, const TfxBlock *out,
    double gain)
{
  const unsigned n_channels = in->n_channels;
  const size_t most = PART_SIZE / n_channels;
  const bool is_back = tfx_block_is_interleaved (out);
  double part[PART_SIZE];

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to, rows;

    n = in->n_frames - i < most ? in->n_frames - i : most;
    from = tfx_block_part (in, i, n, 0, n_channels);
    to = tfx_block_part (out, i, n, 0, n_channels);
    rows = tfx_block_interleaved (part, is_back ? in->type : out->type,
        n_channels, n);
    tfx_cpu_copy (k, &from, &rows, is_back ? 1.0 : gain);
    tfx_cpu_copy (k, &rows, &to, is_back ? gain : 1.0);
  }
}

static void
copy_samples (const TfxBlock *in, const TfxBlock *out, double gain)
{
  for (unsigned c = 0; c < in->n_channels; c++) {
    for (size_t i = 0; i < in->n_frames; i++)
      tfx_block_set (out, i, c, gain * tfx_block_get (in, i, c));
  }
}

void
tfx_cpu_copy (const TfxKernels *k, const TfxBlock *in, const TfxBlock *out,
    double gain)
{
  const unsigned n_channels = in->n_channels;
  const bool can_turn =
      (in->frame_stride == 1 && tfx_block_is_interleaved (out)) ||
      (tfx_block_is_interleaved (in) && out->frame_stride == 1);

  if (tfx_block_is_interleaved (in) && tfx_block_is_interleaved (out)) {
    copy_run (k, in, out, in->n_frames * n_channels, gain);
  } else if (in->frame_stride == 1 && out->frame_stride == 1) {
    for (unsigned c = 0; c < n_channels; c++) {
      const TfxBlock from = tfx_block_part (in, 0, in->n_frames, c, 1);
      const TfxBlock to = tfx_block_part (out, 0, in->n_frames, c, 1);

      copy_run (k, &from, &to, in->n_frames, gain);
    }
  } else if (can_turn && in->type == out->type && gain == 1.0) {
    if (tfx_block_is_interleaved (out))
      k->interleave[in->type](out->data, in->data, in->channel_stride,
          n_channels, in->n_frames);
    else
      k->deinterleave[in->type](out->data, out->channel_stride, in->data,
          n_channels, in->n_frames);
  } else if (can_turn && n_channels <= PART_SIZE) {
    turn_parts (k, in, out, gain);
  } else {
    copy_samples (in, out, gain);
  }
}
