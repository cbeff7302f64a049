/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.h: a cascade of second-order sections over all channels in one
 * launch; every sample is read once and written once.
 *
 * The frames of a channel are cut into segments of M = 2^3 to 2^8 frames, one
 * to a thread.  A warp takes 32 segments: of one channel, or of several if
 * the block of samples is short.  That is a tile; a block of threads takes the
 * tiles of neighbouring channels, so that interleaved samples are read in
 * whole rows.  For each group of up to six sections a thread
 *
 *   1. computes the state e that its segment, begun at rest, leaves behind:
 *      the sum of A^(M - 1 - n) B x[n], two multiplications per sample and
 *      section and no recursion;
 *   2. gets the state s at the start of its segment by a scan over the lanes
 *      (scan.h) and, where a channel has more than one tile, over the tiles
 *      before (carry.h);
 *   3. runs the sections over its segment from s, in the common form of
 *      recursion, four multiplications per sample and section.
 *
 * So what comes out is what the recursion itself computes from a state that is
 * right to the last bits, not a sum of two responses.  Between two groups the
 * samples stay in shared memory, in the precision of the arithmetic.  Where there
 * is one group, segments of more than 2^6 frames are there in rounds, once for
 * step 1 and once for step 3: long segments cost fewer scans, and what they take
 * of shared memory would be paid with warps. */
#ifndef TFX_KERNEL_CASCADE_H
#define TFX_KERNEL_CASCADE_H

#include "carry.h"
#include "drive.h"
#include "filter.h"

/* Step 2: computes the state s at the start of the lane's segment from the
 * zero-state responses of segments, in stash.  The code has one scan, since it is
 * long:
 *
 *   0       over segments, at rest, for the tiles that wait for it
 *   1 to 3  over the tiles before, see carry.h
 *   4       over segments, from the true state; with one tile, from s of lane 0
 *
 * The first round of samples is loaded during the waits. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_starts (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *samples, const Table<R, G, FIXED> &table, unsigned group, const R *stash,
    R (&s)[2 * G])
{
  unsigned channel = tile.channel + (threadIdx.x >> args.lanes_log2);
  bool is_there = channel < tile.channel + tile.n_channels;

#pragma unroll 1
  for (int step = args.n_tiles > 1 ? 0 : 4; step < 5; step++) {
    bool is_carry = step % 4 != 0;
    unsigned m_log2 = args.segment_log2, n_lanes = 1u << args.lanes_log2;
    unsigned index = tile.index;
    unsigned lane = threadIdx.x & (n_lanes - 1);
    Scan scan = { 0, n_lanes, lane, 0, false, 31 };
    Carry carry = carry_of<G> (args, channel, group, tile.epoch);
    R v[2 * G];

    if constexpr (FIXED) {
      if (step == 1 && round_is_part (args))
        round_turn<R> (args, tile, 0, samples);
    }
    TFX_OPAQUE (m_log2);
    TFX_OPAQUE (index);
    if (is_carry &&
        (!is_there || !carry_gather<R, G> (args, carry, table_head (table),
                          channel, group, index, step, scan, v)))
      continue;
#pragma unroll
    for (int i = 0; i < 2 * G; i++) {
      if (!is_carry)
        v[i] = stash[i * TFX_WARP];
      if (step < 4)
        real_set (0.0f, &s[i]);
    }
    scan_lanes<R, G, FIXED> (table_level (table, m_log2, scan.level), scan, v,
        s);
    if (step == 4)
      break;
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      s[i] = real_shuffle (v[i], scan.result);
    if (is_there && lane == 0 && step < 3 &&
        (step > 0 || index + 1 < args.n_tiles))
      carry_hand_on<R, G> (args, carry, channel, index, step, s);
  }
}

/* One group of sections over a tile.  stash is this thread's place for 2 G
 * numbers, TFX_WARP apart. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_group (const TfxCascadeArgs &args, const volatile Tile &tile,
    const Table<R, G, FIXED> &table, unsigned group, W *samples, R *stash)
{
  const R *head = table_head (table);
  unsigned lane = threadIdx.x & ((1u << args.lanes_log2) - 1);
  unsigned in_tile = threadIdx.x >> args.lanes_log2;
  unsigned length = 1u << args.round_log2;
  W *segment = samples + in_tile * args.pitch + lane * (length + 1);
  R s[2 * G];

  cascade_drive<W, R, G, FIXED> (args, tile, samples, segment, table, stash);
#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    real_set (0.0f, &s[i]);
  if (args.n_tiles == 1 && lane == 0 && in_tile < tile.n_channels)
    state_load<R, G> (args, head, tile.channel + in_tile, group, s);
  cascade_starts<W, R, G, FIXED> (args, tile, samples, table, group, stash, s);

  /* To the plain state, and on with it. */
#pragma unroll
  for (int k = 0; k < G; k++)
    s[2 * k + 1] =
        real_fma (real_neg (head[6 * k + 5]), s[2 * k], s[2 * k + 1]);
  if constexpr (FIXED) {
#pragma unroll 1
    for (unsigned n = 0; n < 1u << args.segment_log2; n += length) {
      if (length < 1u << args.segment_log2 && (n > 0 || args.n_tiles == 1))
        round_turn<R> (args, tile, n, samples);
      if (n + length < 1u << args.segment_log2)
        round_announce (args, tile, n + length);
      cascade_filter<W, R, G, true> (args, tile, n, segment, head, group, stash,
          s);
      __syncthreads ();
      if (length < 1u << args.segment_log2)
        round_store (args, tile, n, samples);
    }
  } else if (real_is_short (R ()) && args.normalised) {
    cascade_filter<W, R, G, true> (args, tile, 0, segment, head, group, stash,
        s);
  } else {
    cascade_filter<W, R, G, false> (args, tile, 0, segment, head, group, stash,
        s);
  }
}

/* Finds the block's next piece of work; by one thread. */
TFX_DEVICE_FN void
cascade_next (const TfxCascadeArgs &args, volatile Tile *tile)
{
  unsigned tile_log2 = args.segment_log2 + args.lanes_log2;
  unsigned per_block = blockDim.x >> args.lanes_log2;
  unsigned ticket =
      args.n_tiles > 1 ? atomicAdd (args.control, 1u) : blockIdx.x;
  unsigned index = ticket / args.n_blocks;
  unsigned channel = ticket % args.n_blocks * per_block;
  unsigned long long frame = (unsigned long long)index << tile_log2;
  unsigned long long n_frames = args.n_frames - frame;
  unsigned n_channels = args.n_channels - channel;

  tile->index = index < args.n_tiles ? index : args.n_tiles;
  tile->channel = channel;
  tile->n_channels = n_channels < per_block ? n_channels : per_block;
  tile->n_frames =
      n_frames < 1u << tile_log2 ? (unsigned)n_frames : 1u << tile_log2;
  tile->frame = frame;
  /* Nobody writes it before the last block has ended. */
  if (args.n_tiles > 1)
    tile->epoch = args.control[2] + 1;
}

/* W: the type of the samples in shared memory, float if what comes in and goes
 * out is; R: of the arithmetic; G: sections in a group.  fixed: see table.h. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_run (const TfxCascadeArgs &args, const R *fixed, unsigned char *shared)
{
  volatile Tile *tile = (volatile Tile *)shared;
  R *stash = (R *)(shared + sizeof (Tile)) +
             threadIdx.x / TFX_WARP * TFX_WARP * 2 * G + threadIdx.x % TFX_WARP;
  W *samples = (W *)((R *)(shared + sizeof (Tile)) + 2 * G * blockDim.x);

  for (;;) {
    if (threadIdx.x == 0)
      cascade_next (args, tile);
    __syncthreads ();
    if (tile->index == args.n_tiles)
      break;
    if (!round_is_part (args))
      cascade_load_any (args, *tile, samples);
    else if constexpr (FIXED)
      round_load<R> (args, *tile, 0, samples);
    __syncthreads ();
#pragma unroll 1
    for (unsigned group = 0; group < (FIXED ? 1 : args.n_groups); group++) {
      const Table<R, G, FIXED> table = { fixed,
        (const R *)args.tables + (size_t)group * TFX_TABLE_SIZE (G) };

      cascade_group<W, R, G, FIXED> (args, *tile, table, group, samples, stash);
    }
    __syncthreads ();
    if (!round_is_part (args))
      cascade_store_any (args, *tile, samples);
    if (args.n_tiles == 1)
      return;
    /* Nobody takes the next tile while another still reads this one. */
    __syncthreads ();
  }

  /* The last block to finish makes ready for the next launch. */
  if (threadIdx.x == 0) {
    unsigned epoch = tile->epoch;

    __threadfence ();
    if (atomicAdd (args.control + 1, 1u) == gridDim.x - 1) {
      /* Behind what the others have read of it. */
      __threadfence ();
      args.control[0] = 0;
      args.control[1] = 0;
      args.control[2] = epoch == 0x7fffffff ? 0 : epoch;
    }
  }
}

#endif
