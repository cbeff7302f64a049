/* SPDX-License-Identifier: LGPL-2.1-or-later
 * buffer.h: blocks of samples in every layout, with guards around and between
 * them.
 */
#ifndef TEST_BUFFER_H
#define TEST_BUFFER_H

#include "tfx.h"

typedef enum
{
  TEST_LAYOUT_INTERLEAVED,
  TEST_LAYOUT_PLANAR,
  TEST_LAYOUT_FRAMES_APART,   /* interleaved, unused samples after a frame */
  TEST_LAYOUT_PLANES_APART,   /* planar, unused samples after a plane */
  TEST_LAYOUT_SAMPLES_APART,  /* planar, every third sample */
  TEST_LAYOUT_PLANES_REVERSED /* the last channel's plane first */
} TestLayout;

#define TEST_N_LAYOUTS 6

typedef struct TestBuffer
{
  TfxBlock block;
  TestLayout layout;
  unsigned char *memory;
  size_t size; /* of memory, bytes */
} TestBuffer;

/* All of the memory is guard: a pattern that no filter computes.  The first
 * sample lies `shift` samples away from an address that is a multiple of 64. */
TestBuffer test_buffer_new (TestLayout layout, TfxSample type,
    unsigned n_channels, size_t n_frames, unsigned shift);
void test_buffer_clear (TestBuffer *buffer);

/* values[n_frames][n_channels] into the samples, rounded to their type. */
void test_buffer_set (TestBuffer *buffer, const double *values);
void test_buffer_get (const TestBuffer *buffer, double *values);

/* True if whatever is not a sample still holds the pattern. */
bool test_buffer_is_guarded (const TestBuffer *buffer);

/* Frames [first, first + n) of a block. */
TfxBlock test_block_part (const TfxBlock *block, size_t first, size_t n);

#endif /* TEST_BUFFER_H */
