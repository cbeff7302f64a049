/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller-cells.h: what kernels of levellers share: tiles of frames cut into cells,
 * which begin and end anywhere in them, and gains that go in lines from cell to cell.
 *
 * A tile is cut into parts, each a cell or what of it is in the tile; all but the last
 * one end in it.  Part p takes the gain from gains[p] to gains[p + 1]. */
#ifndef TFX_KERNEL_LEVELLER_CELLS_H
#define TFX_KERNEL_LEVELLER_CELLS_H

#include "unit.h"

struct LevellerTile
{
  long long first;   /* frame */
  unsigned n_frames; /* of it */
  unsigned in_cell;  /* frames of the first part's cell that are over */
  unsigned n_parts, n_ends;
  unsigned channel, n_channels;
};

/* Shared memory, each for a number of each frame, and what is over. */
struct LevellerRoom
{
  double *frames; /* by unit_place(); then the gains */
  double *parts;  /* before that the samples of a channel */
  double *counts;
  double *few; /* [24] */
};

TFX_DEVICE_FN LevellerRoom
leveller_room (unsigned char *shared)
{
  double *at = (double *)shared;

  return LevellerRoom{ at, at + TFX_LEVELLER_FRAMES,
    at + TFX_LEVELLER_FRAMES + TFX_LEVELLER_LINE,
    at + TFX_LEVELLER_FRAMES + TFX_LEVELLER_LINE + TFX_LEVELLER_PARTS };
}

TFX_DEVICE_FN double
leveller_larger (double a, double b)
{
  return a > b ? a : b;
}

TFX_DEVICE_FN LevellerTile
leveller_tile (const TfxLevellerArgs &args, long long first, unsigned in_cell)
{
  const unsigned n_channels = args.n_channels / args.n_levels;
  long long n_left = (long long)args.n_frames - first;
  LevellerTile t;

  t.first = first;
  t.n_frames = n_left < TFX_UNIT_TILE ? (unsigned)n_left : TFX_UNIT_TILE;
  t.in_cell = in_cell;
  t.n_ends = (in_cell + t.n_frames) / args.n_cell;
  t.n_parts = t.n_ends + ((in_cell + t.n_frames) % args.n_cell > 0);
  t.channel = blockIdx.x * n_channels;
  t.n_channels = n_channels;
  return t;
}

/* A sample of the block, or one before it. */
TFX_DEVICE_FN double
leveller_sample (const TfxLevellerArgs &args, unsigned channel, long long frame)
{
  if (frame >= (long long)args.n_frames)
    return 0.0;
  if (frame < 0)
    return *ring_at (args.ring, channel, frame);
  return unit_read (args.in, channel, (unsigned long long)frame, args.cleared);
}

/* ---- over lanes ------------------------------------------------------------------ */

/* The largest, or the sum, of 2^log2 neighbouring lanes, on all of them. */
template <bool MAX>
TFX_DEVICE_FN double
leveller_over_lanes (double v, unsigned log2)
{
  unsigned lane = threadIdx.x % TFX_WARP;

#pragma unroll 1
  for (unsigned d = 1; d < 1u << log2; d *= 2) {
    double other = real_shuffle (v, lane ^ d);

    v = MAX ? leveller_larger (v, other) : __dadd_rn (v, other);
  }
  return v;
}

/* The same of all threads; room: a number for each warp that nobody else uses. */
template <bool MAX>
TFX_DEVICE_FN double
leveller_over_threads (double v, double *room)
{
  v = leveller_over_lanes<MAX> (v, 5);
  if (threadIdx.x % TFX_WARP == 0)
    room[threadIdx.x / TFX_WARP] = v;
  __syncthreads ();
  v = room[0];
  for (unsigned i = 1; i < TFX_UNIT_THREADS / TFX_WARP; i++)
    v = MAX ? leveller_larger (v, room[i]) : __dadd_rn (v, room[i]);
  return v;
}

/* ---- parts -------------------------------------------------------------------------- */

/* The largest of the frames of a part, their sum, or how many are not 0. */
enum LevellerHow
{
  LEVELLER_MAX,
  LEVELLER_SUM,
  LEVELLER_COUNT
};

/* Calls take (p, v) for each part, on one thread. */
template <LevellerHow HOW, typename Take>
TFX_DEVICE_FN void
leveller_each_part (const TfxLevellerArgs &args, const LevellerTile &tile,
    const double *frames, Take take)
{
  const unsigned log2 = args.group_log2, size = 1u << log2;
  const unsigned n_groups = TFX_UNIT_THREADS >> log2;

#pragma unroll 1
  for (unsigned p0 = 0; p0 < tile.n_parts; p0 += n_groups) {
    unsigned p = p0 + (threadIdx.x >> log2), lane = threadIdx.x & (size - 1);
    unsigned from = p > 0 ? p * args.n_cell - tile.in_cell : 0;
    unsigned to = (p + 1) * args.n_cell - tile.in_cell;
    double v = 0.0;

    to = p >= tile.n_parts ? 0 : to < tile.n_frames ? to : tile.n_frames;
#pragma unroll 1
    for (unsigned i = from + lane; i < to; i += size) {
      double x = frames[unit_place (i)];

      if (HOW == LEVELLER_MAX)
        v = leveller_larger (v, x);
      else
        v = __dadd_rn (v, HOW == LEVELLER_SUM ? x : x > 0.0 ? 1.0 : 0.0);
    }
    v = leveller_over_lanes<HOW == LEVELLER_MAX> (v, log2);
    if (lane == 0 && p < tile.n_parts)
      take (p, v);
  }
}

/* ---- between samples ---------------------------------------------------------------- */

/* The samples of a tile of one channel, and those before that are needed. */
TFX_DEVICE_FN void
leveller_load_line (const TfxLevellerArgs &args, const LevellerTile &tile,
    unsigned channel, double *line)
{
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < TFX_UNIT_TILE + TFX_LEVELLER_PAST;
       i += TFX_UNIT_THREADS)
    line[unit_place (i)] = leveller_sample (args, channel,
        tile.first + (long long)i - TFX_LEVELLER_PAST);
}

/* x[]: the thread's run and the samples before; peaks[]: the largest of each sample and
 * of the points half of the taps before it. */
TFX_DEVICE_FN void
leveller_true_peaks (const TfxLevellerArgs &args,
    const double (&x)[TFX_LEVELLER_PAST + TFX_UNIT_RUN],
    double (&peaks)[TFX_UNIT_RUN])
{
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    peaks[i] = fabs (x[TFX_LEVELLER_PAST + i]);
#pragma unroll 1
  for (int p = 0; p < TFX_LEVELLER_POINTS; p++) {
    double sums[TFX_UNIT_RUN];

#pragma unroll
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      sums[i] = 0.0;
#pragma unroll
    for (int k = 0; k <= TFX_LEVELLER_PAST; k++) {
      double tap = args.taps[p][k];

#pragma unroll
      for (int i = 0; i < TFX_UNIT_RUN; i++)
        sums[i] = __fma_rn (tap, x[i + k], sums[i]);
    }
#pragma unroll
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      peaks[i] = leveller_larger (peaks[i], fabs (sums[i]));
  }
}

/* ---- samples ------------------------------------------------------------------------ */

/* What comes out, `delay` frames late. */
TFX_DEVICE_FN void
leveller_apply (const TfxLevellerArgs &args, const LevellerTile &tile,
    const double *gains)
{
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < tile.n_frames; i += TFX_UNIT_THREADS) {
    unsigned long long n = (unsigned long long)tile.first + i;
    unsigned p = (tile.in_cell + i) / args.n_cell;
    unsigned in_cell = tile.in_cell + i - p * args.n_cell + 1;
    double gain = 1.0;

    if (args.delay > 0)
      gain = __fma_rn (__dmul_rn ((double)in_cell, args.per_frame),
          __dsub_rn (gains[p + 1], gains[p]), gains[p]);
    gain = __dmul_rn (gain, args.gain);
#pragma unroll 1
    for (unsigned c = tile.channel; c < tile.channel + tile.n_channels; c++) {
      double x = leveller_sample (args, c, (long long)n - args.delay);

      ring_keep (args.ring, c, n, unit_read (args.in, c, n, args.cleared));
      unit_write (args.out, args.sum, c, n, __dmul_rn (gain, x));
    }
  }
}

/* The gains at both ends of the cell that goes on, and the lowest that has come out. */
TFX_DEVICE_FN void
leveller_keep_gains (const TfxLevellerArgs &args, const LevellerTile &tile,
    const double *gains, unsigned long long n_over)
{
  double *kept = args.state_out + blockIdx.x;

  if (threadIdx.x != 0)
    return;
  kept[0] = gains[tile.n_ends];
  kept[args.n_levels] = gains[tile.n_ends + 1];
#pragma unroll 1
  for (unsigned j = 0; j < tile.n_ends; j++) {
    double *lowest = &kept[2 * args.n_levels];

    if (n_over + j + 1 >= args.n_ahead && gains[j + 2] < *lowest)
      *lowest = gains[j + 2];
  }
}

#endif
