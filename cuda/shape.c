/* SPDX-License-Identifier: LGPL-2.1-or-later
 * shape.c: segments, tiles and blocks for a given number of frames and
 * channels.
 *
 * Long segments cost least: what a segment costs besides its samples, two
 * scans and a matrix, is spread over more of them.  Short ones are done
 * sooner, there are more threads to share the work, and they take less shared
 * memory.  So: segments as short as it takes to keep the device busy, and each
 * multiprocessor, no shorter. */
#include "shape.h"

#include <math.h>
#include <stdint.h>

#include "kernels/args.h"

/* Of the block's shared memory before stash and samples: struct Tile. */
#define TILE_SIZE 32

/* Frames that one warp takes without looking back to other tiles. */
#define SINGLE_TILE_FRAMES 2048

/* Warps of a multiprocessor that keep its arithmetic busy. */
#define BUSY_WARPS 12

/* Warps that a multiprocessor has to have at a time, two for each of its four
 * schedulers; with fewer it waits.  Each block's share of the shared memory that
 * the system takes. */
#define RESIDENT_WARPS 8.0
#define SHARED_OF_SYSTEM 1024

static unsigned
log2_ceil (size_t n)
{
  unsigned log2 = 0;

  while (((size_t)1 << log2) < n)
    log2++;
  return log2;
}

static unsigned
clamp (unsigned x, unsigned low, unsigned high)
{
  return x < low ? low : x > high ? high : x;
}

/* A channel's samples in shared memory.  Neighbouring threads that write
 * neighbouring channels should meet different banks. */
static unsigned
pitch_of (const TfxShapeAsk *ask, unsigned segment_log2, unsigned lanes_log2,
    unsigned per_block)
{
  unsigned pitch = ((1u << segment_log2) + 1) << lanes_log2;
  unsigned banks = 128 / ask->sample_size, want = banks / per_block;

  if (!ask->by_channel || per_block == 1)
    return pitch;
  if (want == 0)
    want = 1;
  return pitch + (banks + want - pitch % banks) % banks;
}

/* Bytes of a block's shared memory. */
static size_t
shared_size_of (const TfxShapeAsk *ask, const TfxShape *s)
{
  unsigned threads = 32 * s->n_warps, per_block = threads >> s->lanes_log2;

  return TILE_SIZE + (size_t)2 * ask->group * 8 * threads +
         (size_t)per_block * s->pitch * ask->sample_size;
}

/* Warps and blocks, given the segments and lanes. */
static void
lay_out (const TfxShapeAsk *ask, TfxShape *s, unsigned max_warps)
{
  unsigned per_warp = 32u >> s->lanes_log2;
  unsigned n_warps = (ask->n_channels + per_warp - 1) / per_warp;
  size_t tile = (size_t)1 << (s->segment_log2 + s->lanes_log2);

  s->n_tiles = (unsigned)((ask->n_frames + tile - 1) / tile);
  s->n_blocks = (n_warps + max_warps - 1) / max_warps;
  s->n_warps = (n_warps + s->n_blocks - 1) / s->n_blocks;
  s->n_blocks = (n_warps + s->n_warps - 1) / s->n_warps;
  s->pitch =
      pitch_of (ask, s->segment_log2, s->lanes_log2, s->n_warps * per_warp);
  s->shared_size = shared_size_of (ask, s);
}

/* What a sample costs, relative to others of the same cascade. */
static double
cost_of (const TfxShapeAsk *ask, const TfxShape *s)
{
  size_t n_blocks = ask->shared / (s->shared_size + SHARED_OF_SYSTEM);
  double busy = (double)n_blocks * s->n_warps / RESIDENT_WARPS;

  if (n_blocks == 0 || s->shared_size > ask->max_shared)
    return INFINITY;
  return (1.0 + ldexp (ask->overhead, -(int)s->segment_log2)) /
         fmin (busy, 1.0);
}

static void
choose_segments (const TfxShapeAsk *ask, unsigned *segment_log2,
    unsigned *lanes_log2)
{
  size_t samples = ask->n_frames * ask->n_channels;
  size_t busy = (size_t)ask->n_multiprocessors * BUSY_WARPS * 32;
  unsigned min = ask->min_segment_log2, segment, lanes;

  if (ask->n_frames <= SINGLE_TILE_FRAMES) {
    /* One tile: enough lanes for the frames, fewer if the channels keep the
     * device busy without. */
    segment = clamp (log2_ceil ((ask->n_frames + 31) / 32),
        min > 0 ? min : TFX_SEGMENT_MIN_LOG2, TFX_SEGMENT_MAX_LOG2);
    lanes = log2_ceil ((ask->n_frames + ((size_t)1 << segment) - 1) >> segment);
    while (lanes > 0 && segment < TFX_SEGMENT_MAX_LOG2 &&
           ((size_t)ask->n_channels << (lanes - 1)) >= busy)
      lanes--, segment++;
  } else {
    lanes = 5;
    segment = TFX_SEGMENT_MAX_LOG2;
    while (segment > (min > 0 ? min : 4) && samples >> segment < busy)
      segment--;
  }
  *segment_log2 = segment;
  *lanes_log2 = lanes;
}

TfxShape
tfx_shape_choose (const TfxShapeAsk *ask, int segment_log2, int lanes_log2)
{
  unsigned max_warps = clamp (ask->max_threads / 32, 1, 8);
  TfxShape s = { 0 };

  choose_segments (ask, &s.segment_log2, &s.lanes_log2);
  if (segment_log2 >= 0 && lanes_log2 >= 0) {
    s.segment_log2 = (unsigned)segment_log2;
    s.lanes_log2 = (unsigned)lanes_log2;
  } else if (!ask->by_channel) {
    /* Each channel's frames are read in whole rows by one warp: small blocks
     * find room sooner. */
    max_warps = clamp (max_warps, 1, s.lanes_log2 == 5 ? 1 : 4);
  }
  lay_out (ask, &s, max_warps);
  /* Shorter tiles rather than narrower rows, down to a point. */
  if (segment_log2 < 0 && s.n_tiles > 1) {
    const unsigned min = ask->min_segment_log2 > 0 ? ask->min_segment_log2 : 5;

    for (TfxShape t = s; t.segment_log2 > min;) {
      t.segment_log2--;
      lay_out (ask, &t, max_warps);
      if (cost_of (ask, &s) > cost_of (ask, &t) ||
          s.shared_size > ask->max_shared)
        s = t;
    }
  }
  while (s.shared_size > ask->max_shared && max_warps > 1)
    lay_out (ask, &s, --max_warps);
  return s;
}

size_t
tfx_shape_carry_words (const TfxShape *shape, unsigned n_channels,
    unsigned group, unsigned n_groups)
{
  size_t n_nodes = (shape->n_tiles + 31) / 32;
  size_t n_super = n_nodes > 1 ? (n_nodes + 31) / 32 : 0;

  if (shape->n_tiles == 1)
    return 0;
  return (size_t)n_channels * n_groups * (n_nodes + 2 * n_super) *
         TFX_CARRY_WORDS (group);
}
