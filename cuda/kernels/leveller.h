/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller.h: a gain that is found cell by cell from peaks or a mean square, a block
 * of threads for each gain, tile after tile.
 *
 * The measures of a tile's cells, their windows and the means of the gains are made
 * side by side; in between, what is asked for last and h = min (r, a h + b) are scans
 * over cells: such functions compose to others of their form. */
#ifndef TFX_KERNEL_LEVELLER_H
#define TFX_KERNEL_LEVELLER_H

#include "leveller-cells.h"

/* The numbers of a gain in the state: see dsp/kinds/leveller-cells.h.  Cells of a gain
 * lie n_levels apart. */
struct LevellerLevel
{
  double *of; /* [4] */
  double *measures, *counts, *held;
};

enum
{
  LEVELLER_MEASURE,
  LEVELLER_N,
  LEVELLER_ASKED,
  LEVELLER_HELD
};

TFX_DEVICE_FN LevellerLevel
leveller_level (const TfxLevellerArgs &args, double *state)
{
  const size_t n_window = (size_t)args.n_window * args.n_levels;
  double *numbers = state + 3 * (size_t)args.n_levels;
  LevellerLevel level;

  level.of = numbers + (size_t)blockIdx.x * TFX_LEVELLER_LEVEL;
  level.measures =
      numbers + (size_t)args.n_levels * TFX_LEVELLER_LEVEL + blockIdx.x;
  level.counts = level.measures + n_window;
  level.held = level.counts + n_window;
  return level;
}

/* Of this gain, from where the last launch has left it. */
TFX_DEVICE_FN void
leveller_copy_state (const TfxLevellerArgs &args)
{
  /* Only read. */
  LevellerLevel from = leveller_level (args, (double *)args.state_in);
  LevellerLevel to = leveller_level (args, args.state_out);
  const unsigned n = 2 * args.n_window + args.n_smooth;

  for (unsigned i = threadIdx.x; i < n; i += TFX_UNIT_THREADS)
    to.measures[(size_t)i * args.n_levels] =
        from.measures[(size_t)i * args.n_levels];
  if (threadIdx.x < TFX_LEVELLER_LEVEL)
    to.of[threadIdx.x] = from.of[threadIdx.x];
  if (threadIdx.x < 3)
    args.state_out[threadIdx.x * args.n_levels + blockIdx.x] =
        args.state_in[threadIdx.x * args.n_levels + blockIdx.x];
  __syncthreads ();
}

/* ---- measures ------------------------------------------------------------------- */

TFX_DEVICE_FN double
leveller_square (const TfxLevellerArgs &args, const LevellerTile &tile,
    unsigned long long n)
{
  double sum = 0.0;

#pragma unroll 1
  for (unsigned c = tile.channel; c < tile.channel + tile.n_channels; c++) {
    double x = unit_read (args.in, c, n, args.cleared);

    sum = __fma_rn (x, x, sum);
  }
  return sum > TFX_LEVELLER_SILENT_SQUARE ? sum : 0.0;
}

TFX_DEVICE_FN void
leveller_hear_between (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room)
{
  double *run = room.frames + unit_place (threadIdx.x * TFX_UNIT_RUN);

#pragma unroll 1
  for (unsigned c = 0; c < tile.n_channels; c++) {
    double x[TFX_LEVELLER_PAST + TFX_UNIT_RUN], peaks[TFX_UNIT_RUN];

    leveller_load_line (args, tile, tile.channel + c, room.parts);
    __syncthreads ();
#pragma unroll
    for (int k = 0; k < TFX_LEVELLER_PAST + TFX_UNIT_RUN; k++)
      x[k] = room.parts[unit_place (threadIdx.x * TFX_UNIT_RUN + k)];
    leveller_true_peaks (args, x, peaks);
#pragma unroll
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      run[i] = c > 0 ? leveller_larger (run[i], peaks[i]) : peaks[i];
    __syncthreads ();
  }
}

/* A number of each frame, of all channels that have this gain. */
TFX_DEVICE_FN void
leveller_hear (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room)
{
  if (args.measure == TFX_LEVELLER_BETWEEN) {
    leveller_hear_between (args, tile, room);
    return;
  }
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < tile.n_frames; i += TFX_UNIT_THREADS) {
    unsigned long long n = (unsigned long long)tile.first + i;

    room.frames[unit_place (i)] = args.measure == TFX_LEVELLER_SQUARES
                                      ? leveller_square (args, tile, n)
                                      : unit_hear (args.in, tile.channel,
                                            tile.n_channels, n, args.cleared);
  }
  __syncthreads ();
}

/* Of each part, with what there was of the first one's cell before; the last one's
 * goes on. */
TFX_DEVICE_FN void
leveller_measure (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, const LevellerLevel &level)
{
  const double before = level.of[LEVELLER_MEASURE];
  const double n_before = level.of[LEVELLER_N];
  double *parts = room.parts, *counts = room.counts;

  leveller_hear (args, tile, room);
  if (args.measure == TFX_LEVELLER_SQUARES) {
    leveller_each_part<LEVELLER_SUM> (args, tile, room.frames,
        [=] (unsigned p, double v) {
          parts[p] = p > 0 ? v : __dadd_rn (before, v);
        });
    leveller_each_part<LEVELLER_COUNT> (args, tile, room.frames,
        [=] (unsigned p, double v) {
          v = __dmul_rn (v, (double)tile.n_channels);
          counts[p] = p > 0 ? v : __dadd_rn (n_before, v);
        });
  } else {
    leveller_each_part<LEVELLER_MAX> (args, tile, room.frames,
        [=] (unsigned p, double v) {
          parts[p] = p > 0 ? v : leveller_larger (before, v);
          counts[p] = 0.0;
        });
  }
  __syncthreads ();
  if (threadIdx.x == 0) {
    bool goes_on = tile.n_parts > tile.n_ends;

    level.of[LEVELLER_MEASURE] = goes_on ? parts[tile.n_ends] : 0.0;
    level.of[LEVELLER_N] = goes_on ? counts[tile.n_ends] : 0.0;
  }
}

/* ---- cells that are over ----------------------------------------------------------- */

/* The place of cell j of the tile in a ring of n cells, of which the tile's first one
 * is at `at`; j above -n. */
TFX_DEVICE_FN size_t
leveller_ring (const TfxLevellerArgs &args, unsigned at, long long j,
    unsigned n)
{
  return (size_t)((unsigned)((long long)at + n + j) % n) * args.n_levels;
}

/* The level of each window into levels[], by warps. */
TFX_DEVICE_FN void
leveller_windows (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, const LevellerLevel &level, unsigned at,
    double *levels)
{
  const bool is_mean = args.measure == TFX_LEVELLER_SQUARES;
  const unsigned lane = threadIdx.x % TFX_WARP;

#pragma unroll 1
  for (unsigned j = threadIdx.x / TFX_WARP; j < tile.n_ends;
       j += TFX_UNIT_THREADS / TFX_WARP) {
    double v = 0.0, n = 0.0;

#pragma unroll 1
    for (unsigned i = lane; i < args.n_window; i += TFX_WARP) {
      long long cell = (long long)j - i;
      size_t place = leveller_ring (args, at, cell, args.n_window);
      double m = cell >= 0 ? room.parts[cell] : level.measures[place];

      v = is_mean ? __dadd_rn (v, m) : leveller_larger (v, m);
      if (is_mean)
        n = __dadd_rn (n, cell >= 0 ? room.counts[cell] : level.counts[place]);
    }
    if (is_mean) {
      v = leveller_over_lanes<false> (v, 5);
      n = leveller_over_lanes<false> (n, 5);
      v = n > 0.0 ? sqrt (v / n) : 0.0;
    } else {
      v = leveller_over_lanes<true> (v, 5);
    }
    if (lane == 0)
      levels[j] = v;
  }
}

/* What goes from cell to cell: y = min (least, slope h + offset). */
struct LevellerBound
{
  double least, slope, offset;
};

/* First one, then another, on those lanes that have another one before. */
TFX_DEVICE_FN LevellerBound
leveller_scan_bounds (LevellerBound b)
{
  const unsigned lane = threadIdx.x % TFX_WARP;

#pragma unroll
  for (unsigned i = 0; i < 5; i++) {
    double least = real_shuffle_up (b.least, 1u << i, TFX_WARP);
    double slope = real_shuffle_up (b.slope, 1u << i, TFX_WARP);
    double offset = real_shuffle_up (b.offset, 1u << i, TFX_WARP);

    if (lane >= 1u << i) {
      least = __fma_rn (b.slope, least, b.offset);
      b.least = least < b.least ? least : b.least;
      b.offset = __fma_rn (b.slope, offset, b.offset);
      b.slope = __dmul_rn (b.slope, slope);
    }
  }
  return b;
}

/* Beyond all gains, and still a number when it is multiplied. */
#define LEVELLER_NO_BOUND 1e300

/* From levels[] to the gains that are held, by one warp.  Silence asks for what was
 * asked last, but not for more than there may be. */
TFX_DEVICE_FN void
leveller_hold (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerLevel &level, const double *levels, double *held)
{
  const unsigned lane = threadIdx.x;
  const double offset =
      __dmul_rn (__dsub_rn (1.0, args.release), args.max_gain);
  double asked = level.of[LEVELLER_ASKED], last = level.of[LEVELLER_HELD];

#pragma unroll 1
  for (unsigned j = 0; j < tile.n_ends; j += TFX_WARP) {
    bool is_there = j + lane < tile.n_ends;
    double found = is_there ? levels[j + lane] : 0.0;
    bool is_heard = found * found > TFX_LEVELLER_SILENT_SQUARE;
    bool asks = is_there && (is_heard || args.max_gain <= 1.0);
    unsigned lanes = __ballot_sync (TFX_ALL_LANES, asks) & ((2u << lane) - 1);
    double wish = is_heard ? args.target / found : args.max_gain;
    LevellerBound b;

    wish = wish < args.max_gain ? wish : args.max_gain;
    wish = real_shuffle (wish, lanes ? 31 - (unsigned)__clz ((int)lanes) : 0);
    wish = lanes ? wish : asked;
    b.least = is_there ? wish : LEVELLER_NO_BOUND;
    b.slope = is_there ? args.release : 1.0;
    b.offset = is_there ? offset : 0.0;
    b = leveller_scan_bounds (b);
    last = __fma_rn (b.slope, last, b.offset);
    last = b.least < last ? b.least : last;
    if (is_there)
      held[j + lane] = last;
    asked = real_shuffle (wish, 31);
    last = real_shuffle (last, 31);
  }
  /* All lanes have read them. */
  __syncwarp ();
  if (lane == 0) {
    level.of[LEVELLER_ASKED] = asked;
    level.of[LEVELLER_HELD] = last;
  }
}

/* The means of those that were held last, by warps. */
TFX_DEVICE_FN void
leveller_smooth (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerLevel &level, const double *held, unsigned at,
    unsigned long long n_over, double *means)
{
  const unsigned lane = threadIdx.x % TFX_WARP;

#pragma unroll 1
  for (unsigned j = threadIdx.x / TFX_WARP; j < tile.n_ends;
       j += TFX_UNIT_THREADS / TFX_WARP) {
    unsigned n = n_over + j + 1 < args.n_smooth ? (unsigned)n_over + j + 1
                                                : args.n_smooth;
    double v = 0.0;

#pragma unroll 1
    for (unsigned i = lane; i < n; i += TFX_WARP) {
      long long cell = (long long)j - i;

      v = __dadd_rn (v,
          cell >= 0
              ? held[cell]
              : level.held[leveller_ring (args, at, cell, args.n_smooth)]);
    }
    v = leveller_over_lanes<false> (v, 5);
    if (lane == 0)
      means[j] = v / (double)n;
  }
}

/* The last cells of the tile into a ring of n. */
TFX_DEVICE_FN void
leveller_keep (const TfxLevellerArgs &args, const LevellerTile &tile,
    const double *cells, unsigned at, unsigned n, double *ring)
{
  unsigned from = tile.n_ends > n ? tile.n_ends - n : 0;

#pragma unroll 1
  for (unsigned j = from + threadIdx.x; j < tile.n_ends; j += TFX_UNIT_THREADS)
    ring[leveller_ring (args, at, j, n)] = cells[j];
}

/* The gains of the tile's parts from the measures of its cells. */
TFX_DEVICE_FN void
leveller_end_cells (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, const LevellerLevel &level,
    unsigned long long n_over)
{
  const unsigned window_at = (unsigned)(n_over % args.n_window);
  const unsigned smooth_at = (unsigned)(n_over % args.n_smooth);
  double *gains = room.frames, *ends = gains + 2;

  leveller_windows (args, tile, room, level, window_at, ends);
  __syncthreads ();
  leveller_keep (args, tile, room.parts, window_at, args.n_window,
      level.measures);
  leveller_keep (args, tile, room.counts, window_at, args.n_window,
      level.counts);
  __syncthreads ();
  if (threadIdx.x < TFX_WARP)
    leveller_hold (args, tile, level, ends, room.counts);
  __syncthreads ();
  leveller_smooth (args, tile, level, room.counts, smooth_at, n_over, ends);
  if (threadIdx.x < 2)
    gains[threadIdx.x] =
        args.state_out[threadIdx.x * args.n_levels + blockIdx.x];
  __syncthreads ();
  leveller_keep (args, tile, room.counts, smooth_at, args.n_smooth, level.held);
}

TFX_DEVICE_FN void
leveller_run (const TfxLevellerArgs &args, unsigned char *shared)
{
  LevellerRoom room = leveller_room (shared);
  LevellerLevel level = leveller_level (args, args.state_out);
  unsigned long long n_over = args.n_over;
  unsigned in_cell = args.in_cell;

  leveller_copy_state (args);
#pragma unroll 1
  for (long long first = 0; first < (long long)args.n_frames;
       first += TFX_UNIT_TILE) {
    LevellerTile tile = leveller_tile (args, first, in_cell);

    leveller_measure (args, tile, room, level);
    __syncthreads ();
    leveller_end_cells (args, tile, room, level, n_over);
    leveller_apply (args, tile, room.frames);
    __syncthreads ();
    leveller_keep_gains (args, tile, room.frames, n_over);
    n_over += tile.n_ends;
    in_cell = (in_cell + tile.n_frames) % args.n_cell;
    __syncthreads ();
  }
}

#endif
