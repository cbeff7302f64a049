/* SPDX-License-Identifier: LGPL-2.1-or-later
 * buffer.c: see buffer.h.
 */
#include "buffer.h"
#include "common.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Samples of guard before and after. */
#define GUARD 64
/* Bytes that are NaN both as float and as double, with a payload of its own. */
#define PATTERN 0xff

static size_t
sample_size (TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);
}

static unsigned char *
sample_address (const TestBuffer *b, size_t frame, unsigned channel)
{
  ptrdiff_t at = (ptrdiff_t)frame * b->block.frame_stride +
                 (ptrdiff_t)channel * b->block.channel_stride;

  return (unsigned char *)b->block.data +
         at * (ptrdiff_t)sample_size (b->block.type);
}

TestBuffer
test_buffer_new (TestLayout layout, TfxSample type, unsigned n_channels,
    size_t n_frames, unsigned shift)
{
  TestBuffer b = { .layout = layout };
  ptrdiff_t frames = (ptrdiff_t)n_frames, channels = n_channels;
  ptrdiff_t frame_stride = 1, channel_stride = frames, first = 0;
  size_t n_samples;
  unsigned char *start;

  switch (layout) {
    case TEST_LAYOUT_INTERLEAVED:
      frame_stride = channels;
      channel_stride = 1;
      break;
    case TEST_LAYOUT_PLANAR:
      break;
    case TEST_LAYOUT_FRAMES_APART:
      frame_stride = channels + 3;
      channel_stride = 1;
      break;
    case TEST_LAYOUT_PLANES_APART:
      channel_stride = frames + 5;
      break;
    case TEST_LAYOUT_SAMPLES_APART:
      frame_stride = 3;
      channel_stride = 3 * frames + 1;
      break;
    case TEST_LAYOUT_PLANES_REVERSED:
      channel_stride = -frames;
      first = frames * (channels - 1);
      break;
  }
  n_samples = (size_t)(frame_stride * frames +
                       (channel_stride < 0 ? -channel_stride : channel_stride) *
                           channels);
  b.size = (n_samples + 2 * GUARD + 64 + shift) * sample_size (type);
  b.memory = test_alloc (b.size);
  memset (b.memory, PATTERN, b.size);
  start = b.memory + GUARD * sample_size (type);
  start += (64 - (uintptr_t)start % 64) % 64;
  start += ((size_t)first + shift) * sample_size (type);
  b.block = (TfxBlock){ start, type, n_channels, n_frames, frame_stride,
    channel_stride };
  return b;
}

void
test_buffer_clear (TestBuffer *b)
{
  free (b->memory);
  *b = (TestBuffer){ 0 };
}

void
test_buffer_set (TestBuffer *b, const double *values)
{
  for (size_t i = 0; i < b->block.n_frames; i++) {
    for (unsigned c = 0; c < b->block.n_channels; c++) {
      double value = values[i * b->block.n_channels + c];
      float f32 = (float)value;
      if (b->block.type == TFX_SAMPLE_F32)
        memcpy (sample_address (b, i, c), &f32, sizeof f32);
      else
        memcpy (sample_address (b, i, c), &value, sizeof value);
    }
  }
}

void
test_buffer_get (const TestBuffer *b, double *values)
{
  for (size_t i = 0; i < b->block.n_frames; i++) {
    for (unsigned c = 0; c < b->block.n_channels; c++) {
      double *value = &values[i * b->block.n_channels + c];
      float f32;
      if (b->block.type == TFX_SAMPLE_F32) {
        memcpy (&f32, sample_address (b, i, c), sizeof f32);
        *value = f32;
      } else {
        memcpy (value, sample_address (b, i, c), sizeof *value);
      }
    }
  }
}

bool
test_buffer_is_guarded (const TestBuffer *b)
{
  size_t size = sample_size (b->block.type);
  unsigned char *copy = test_alloc (b->size);
  bool intact = true;

  memcpy (copy, b->memory, b->size);
  for (size_t i = 0; i < b->block.n_frames; i++)
    for (unsigned c = 0; c < b->block.n_channels; c++)
      memset (copy + (sample_address (b, i, c) - b->memory), PATTERN, size);
  for (size_t i = 0; i < b->size; i++)
    intact = intact && copy[i] == PATTERN;
  free (copy);
  return intact;
}

TfxBlock
test_block_part (const TfxBlock *block, size_t first, size_t n)
{
  TfxBlock part = *block;

  part.n_frames = n;
  part.data =
      (unsigned char *)block->data + (ptrdiff_t)first * block->frame_stride *
                                         (ptrdiff_t)sample_size (block->type);
  return part;
}
