/* SPDX-License-Identifier: LGPL-2.1-or-later
 * shape.c: segments, tiles and blocks for a given number of frames and
 * channels.
 *
 * Long segments cost least, because the fixed cost of a segment, two scans and a
 * matrix, is spread over more samples.  Short segments end sooner, use more threads
 * and take less shared memory. */
#include "shape.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/args.h"

/* Of the block's shared memory before stash and samples: struct Tile. */
#define TILE_SIZE 32

/* Most frames of a segment that is in shared memory as a whole. */
#define WHOLE_MAX_LOG2 7

/* Frames that one warp takes without looking back to other tiles. */
#define SINGLE_TILE_FRAMES 2048

/* Warps that a multiprocessor has at most, for want of registers; those that it
 * has to have at a time, two for each of its four schedulers, as with fewer it
 * waits; and those for which one tile is dealt out in fewer lanes. */
#define FULL_WARPS 16
#define BUSY_WARPS 8.0
#define MANY_WARPS 12

/* Each block's share of the shared memory that the system takes. */
#define SHARED_OF_SYSTEM 1024

void
tfx_shape_ask (const TfxCudaCard *card, TfxGroups groups, TfxReal real,
    bool is_narrow, TfxShapeAsk *ask)
{
  memset (ask, 0, sizeof *ask);
  ask->group = groups.size;
  ask->min_segment_log2 = tfx_tables_min_segment_log2 (groups);
  ask->sample_size = is_narrow ? 4 : 8;
  ask->in_rounds = is_narrow;
  ask->n_multiprocessors = (unsigned)card->n_multiprocessors;
  ask->max_shared = (unsigned)card->max_shared;
  ask->shared = (unsigned)card->shared;
  /* Counted on PTX: scans, look-back and matrices of six sections. */
  ask->overhead = real == TFX_REAL_DOUBLE ? 18 : 7;
}

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
pitch_of (const TfxShapeAsk *ask, unsigned round_log2, unsigned lanes_log2,
    unsigned per_block)
{
  unsigned pitch = ((1u << round_log2) + 1) << lanes_log2;
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

  s->round_log2 =
      ask->in_rounds && s->lanes_log2 == 5 && s->segment_log2 > TFX_ROUND_LOG2
          ? TFX_ROUND_LOG2
          : s->segment_log2;
  s->n_tiles = (unsigned)((ask->n_frames + tile - 1) / tile);
  s->n_blocks = (n_warps + max_warps - 1) / max_warps;
  s->n_warps = (n_warps + s->n_blocks - 1) / s->n_blocks;
  s->n_blocks = (n_warps + s->n_warps - 1) / s->n_warps;
  s->pitch =
      pitch_of (ask, s->round_log2, s->lanes_log2, s->n_warps * per_warp);
  s->shared_size = shared_size_of (ask, s);
}

/* Warps of a multiprocessor at a time. */
static unsigned
resident_warps (const TfxShapeAsk *ask, const TfxShape *s)
{
  size_t n_blocks = ask->shared / (s->shared_size + SHARED_OF_SYSTEM);
  size_t n_warps = n_blocks * s->n_warps;

  if (s->shared_size > ask->max_shared)
    return 0;
  return n_warps < FULL_WARPS ? (unsigned)n_warps : FULL_WARPS;
}

/* The time on the device, relative to other segments of the same cascade: waves of
 * warps run in sequence, and the time of a wave follows from the length of its
 * segments and from the warps that share a scheduler.  (tests/cuda/test_layouts.c
 * has the times of an H200.) */
static double
time_of (const TfxShapeAsk *ask, const TfxShape *s)
{
  double n_warps =
      (double)s->n_tiles * s->n_blocks * s->n_warps / ask->n_multiprocessors;
  double resident = resident_warps (ask, s), n_waves, rest;

  if (resident == 0)
    return INFINITY;
  n_waves = floor (n_warps / resident);
  rest = n_warps - n_waves * resident;
  return (ldexp (1.0, (int)s->segment_log2) + ask->overhead) *
         (n_waves * fmax (resident, BUSY_WARPS) +
             (rest > 0 ? fmax (rest, BUSY_WARPS) : 0));
}

/* One tile: enough lanes for the frames, fewer if the channels keep the device
 * busy without. */
static void
choose_lanes (const TfxShapeAsk *ask, TfxShape *s)
{
  size_t busy = (size_t)ask->n_multiprocessors * MANY_WARPS * 32;
  unsigned min =
      ask->min_segment_log2 > 0 ? ask->min_segment_log2 : TFX_SEGMENT_MIN_LOG2;

  s->segment_log2 =
      clamp (log2_ceil ((ask->n_frames + 31) / 32), min, WHOLE_MAX_LOG2);
  s->lanes_log2 = log2_ceil (
      (ask->n_frames + ((size_t)1 << s->segment_log2) - 1) >> s->segment_log2);
  while (s->lanes_log2 > 0 && s->segment_log2 < WHOLE_MAX_LOG2 &&
         ((size_t)ask->n_channels << (s->lanes_log2 - 1)) >= busy)
    s->lanes_log2--, s->segment_log2++;
}

/* Several tiles: the segments that are done first. */
static void
choose_segments (const TfxShapeAsk *ask, TfxShape *s, unsigned max_warps)
{
  const unsigned min = ask->min_segment_log2 > 0 ? ask->min_segment_log2 : 4;
  const unsigned max = ask->in_rounds ? TFX_SEGMENT_MAX_LOG2 : WHOLE_MAX_LOG2;
  TfxShape t = { .lanes_log2 = 5 };
  double best = INFINITY;

  for (t.segment_log2 = min; t.segment_log2 <= max; t.segment_log2++) {
    double time;

    lay_out (ask, &t, max_warps);
    time = time_of (ask, &t);
    /* Without room for any the shortest is left. */
    if (t.segment_log2 == min || time < best) {
      best = time;
      *s = t;
    }
  }
}

TfxShape
tfx_shape_choose (const TfxShapeAsk *ask, int segment_log2, int lanes_log2)
{
  unsigned max_warps = clamp (ask->max_threads / 32, 1, 8);
  bool is_free = segment_log2 < 0 || lanes_log2 < 0;
  TfxShape s = { 0 };

  if (!is_free) {
    s.segment_log2 = (unsigned)segment_log2;
    s.lanes_log2 = (unsigned)lanes_log2;
  } else if (ask->n_frames > SINGLE_TILE_FRAMES) {
    /* Each channel's frames are read in whole rows by one warp: small blocks
     * find room sooner. */
    if (!ask->by_channel)
      max_warps = 1;
    choose_segments (ask, &s, max_warps);
  } else {
    choose_lanes (ask, &s);
    if (!ask->by_channel)
      max_warps = clamp (max_warps, 1, s.lanes_log2 == 5 ? 1 : 4);
  }
  lay_out (ask, &s, max_warps);
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
