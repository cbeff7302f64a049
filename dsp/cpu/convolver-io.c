/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-io.c: samples of blocks to and from the values of the FIR
 * engine. */
#include "../block.h"
#include "convolver-private.h"

#include <math.h>
#include <string.h>

/* n samples in a row, from one type to another. */
static void
copy_row (TfxSample to_type, void *to, TfxSample from_type, const void *from,
    size_t n)
{
  const TfxBlock in = tfx_block_interleaved ((void *)from, from_type, 1, n);
  const TfxBlock out = tfx_block_interleaved (to, to_type, 1, n);

  tfx_block_copy (&in, &out);
}

/* n frames of values, channels `stride` apart. */
static TfxBlock
describe (const TfxConvolver *c, const void *values, size_t stride, size_t n)
{
  return tfx_block_planar ((void *)values, c->precision, c->n_channels, n,
      stride);
}

/* Samples that lie frame after frame. */
static bool
is_interleaved (const TfxBlock *block)
{
  return block->n_channels > 1 && block->channel_stride == 1 &&
         block->frame_stride == (ptrdiff_t)block->n_channels;
}

/* Samples of the other type are converted in pieces of this many values. */
#define PIECE 1024

/* How many of n frames are taken at a time: all of them, or a piece. */
static size_t
piece_frames (const TfxConvolver *c, const TfxBlock *block, size_t n)
{
  const size_t most = PIECE / block->n_channels;

  return block->type == c->precision || n < most ? n : most;
}

static void
load_interleaved (const TfxConvolver *c, void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n)
{
  double piece[PIECE];

  for (size_t i = 0, n_piece; i < n; i += n_piece) {
    const void *from = tfx_block_part (block, first + i, 0, 0, 1).data;

    n_piece = piece_frames (c, block, n - i);
    if (block->type != c->precision) {
      copy_row (c->precision, piece, block->type, from,
          n_piece * block->n_channels);
      from = piece;
    }
    c->ops->deinterleave (tfx_convolver_at (c, values, i), stride, from,
        block->n_channels, n_piece);
  }
}

static void
store_interleaved (const TfxConvolver *c, const void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n)
{
  double piece[PIECE];

  for (size_t i = 0, n_piece; i < n; i += n_piece) {
    void *to = tfx_block_part (block, first + i, 0, 0, 1).data;
    const bool is_other = block->type != c->precision;

    n_piece = piece_frames (c, block, n - i);
    c->ops->interleave (is_other ? piece : to, tfx_convolver_at (c, values, i),
        stride, block->n_channels, n_piece);
    if (is_other)
      copy_row (block->type, to, c->precision, piece,
          n_piece * block->n_channels);
  }
}

void
tfx_convolver_load (const TfxConvolver *c, void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n)
{
  if (is_interleaved (block) && block->n_channels <= PIECE) {
    load_interleaved (c, values, stride, block, first, n);
  } else if (block->n_channels == 1 && block->type == c->precision &&
             block->frame_stride == 1) {
    memcpy (values, tfx_convolver_at (c, block->data, first),
        n * c->value_size);
  } else {
    const TfxBlock to = describe (c, values, stride, n);
    const TfxBlock from =
        tfx_block_part (block, first, n, 0, block->n_channels);

    tfx_block_copy (&from, &to);
  }
}

void
tfx_convolver_store (const TfxConvolver *c, const void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n)
{
  if (is_interleaved (block) && block->n_channels <= PIECE) {
    store_interleaved (c, values, stride, block, first, n);
  } else {
    const TfxBlock from = describe (c, values, stride, n);
    const TfxBlock to = tfx_block_part (block, first, n, 0, block->n_channels);

    tfx_block_copy (&from, &to);
  }
}

double
tfx_convolver_get_value (const TfxConvolver *c, const void *values, size_t i)
{
  return c->precision == TFX_SAMPLE_F32 ? (double)((const float *)values)[i]
                                        : ((const double *)values)[i];
}

void
tfx_convolver_clean (const TfxConvolver *c, void *values, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (c->precision == TFX_SAMPLE_F32) {
      float *x = (float *)values + i;
      *x = fabsf (*x) < 0x1p100f ? *x : 0.0f;
    } else {
      double *x = (double *)values + i;
      *x = fabs (*x) < 0x1p1000 ? *x : 0.0;
    }
  }
}

void
tfx_convolver_mix (const TfxConvolver *c, void *y, const void *to, size_t n,
    size_t start, size_t length, TfxWeight shape)
{
  for (size_t i = 0; i < n; i++) {
    const double weight = tfx_weight_at (shape, start + i + 1, length);

    if (c->precision == TFX_SAMPLE_F32) {
      float *a = (float *)y + i;
      const float b = ((const float *)to)[i];
      *a = weight < 1.0 ? (float)(*a + (b - *a) * weight) : b;
    } else {
      double *a = (double *)y + i;
      const double b = ((const double *)to)[i];
      *a = weight < 1.0 ? *a + (b - *a) * weight : b;
    }
  }
}

#define REST_FRAMES 64

void
tfx_convolver_sum_up (const TfxConvolver *c, unsigned side, unsigned channel,
    void *y, const void *x, size_t n_frames)
{
  const TfxConvolverTaps *taps = c->fade_pair[side];
  const size_t n_taps = taps->n_direct,
               tap_size = taps->is_exact ? 8 : c->value_size;
  const void *h = (const char *)taps->direct +
                  tfx_convolver_kernel (taps, channel) * n_taps * tap_size;
  /* What the kernels would write beyond the end goes to an array, and with it what
   * fills a tile of theirs. */
  const size_t n =
      n_frames % 16 == 0 ? n_frames : n_frames / REST_FRAMES * REST_FRAMES;
  const size_t n_rest = n_frames - n;
  double rest[REST_FRAMES];
  void (*direct) (void *, const void *, const void *, size_t, size_t) =
      taps->is_exact ? c->ops->direct_exact : c->ops->direct;

  if (n > 0)
    direct (y, x, h, n_taps, n);
  if (n_rest > 0) {
    direct (rest, tfx_convolver_at (c, x, n), h, n_taps, n_rest);
    memcpy (tfx_convolver_at (c, y, n), rest, n_rest * c->value_size);
  }
}

double
tfx_convolver_peak (const TfxConvolver *c, const void *values, size_t n)
{
  double peak = 0.0;

  for (size_t i = 0; i < n; i++) {
    const double x = c->precision == TFX_SAMPLE_F32
                         ? (double)fabsf (((const float *)values)[i])
                         : fabs (((const double *)values)[i]);
    peak = x > peak ? x : peak;
  }
  return peak;
}
