/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limiter-window.h: the largest magnitude of the last frames, for each frame of a
 * tile.
 *
 * Near: segments of TFX_UNIT_RUN frames keep the maximum from each frame to the end
 * of the segment.  A window is the end of a segment, some whole segments, and the
 * beginning of the thread's segment.  The whole segments are covered by two
 * overlapping windows whose length is a power of two.
 *
 * Far, for windows longer than shared memory: the same with tiles in place of
 * segments.  The maximum of each tile stays in memory; the one or two tiles where the
 * windows of a tile begin are read again. */
#ifndef TFX_KERNEL_LIMITER_WINDOW_H
#define TFX_KERNEL_LIMITER_WINDOW_H

#include "unit.h"

/* Shared memory. */
struct LimiterRoom
{
  double *ends;  /* [TFX_LIMITER_SEGMENTS] segments: the largest to its end */
  double *whole; /* [TFX_LIMITER_SEGMENTS]: the largest of some whole ones */
  double *gains; /* of the tile */
  double *lines; /* [2][warps], and a flag of each */
};

TFX_DEVICE_FN double
limiter_larger (double a, double b)
{
  return a > b ? a : b;
}

/* The place of a segment, from -TFX_LIMITER_SEGMENTS / 2 on. */
TFX_DEVICE_FN unsigned
limiter_slot (long long segment)
{
  return (unsigned)(segment + TFX_LIMITER_SEGMENTS) &
         (TFX_LIMITER_SEGMENTS - 1);
}

TFX_DEVICE_FN double *
limiter_at (double *ends, long long frame)
{
  return ends +
         unit_place (limiter_slot (frame >> TFX_UNIT_RUN_LOG2) * TFX_UNIT_RUN +
                     ((unsigned)frame & (TFX_UNIT_RUN - 1)));
}

/* The magnitude before the block, of a channel or of all. */
TFX_DEVICE_FN double
limiter_past (const TfxLimiterArgs &args, unsigned channel, unsigned n_channels,
    long long frame)
{
  double most = 0.0;

  for (unsigned c = 0; c < n_channels; c++)
    most =
        limiter_larger (most, fabs (*ring_at (args.ring, channel + c, frame)));
  return most;
}

/* Of a segment that lies there as it came: the largest from each frame on. */
TFX_DEVICE_FN double
limiter_end_segment (double *segment)
{
  double most = 0.0;

#pragma unroll
  for (int i = TFX_UNIT_RUN - 1; i >= 0; i--) {
    most = limiter_larger (most, segment[i]);
    segment[i] = most;
  }
  return most;
}

/* ---- near ----------------------------------------------------------------------- */

/* What the windows of the first tile reach of the frames before the block. */
TFX_DEVICE_FN void
limiter_begin (const TfxLimiterArgs &args, unsigned channel,
    unsigned n_channels, double *ends)
{
  const unsigned n = TFX_LIMITER_SEGMENTS / 2 * TFX_UNIT_RUN;

  for (unsigned i = threadIdx.x; i < n; i += TFX_UNIT_THREADS) {
    long long frame = (long long)i - n;

    *limiter_at (ends, frame) =
        -frame <= (long long)args.n_ahead
            ? limiter_past (args, channel, n_channels, frame)
            : 0.0;
  }
  __syncthreads ();
  for (unsigned i = threadIdx.x; i < n / TFX_UNIT_RUN; i += TFX_UNIT_THREADS)
    limiter_end_segment (
        limiter_at (ends, ((long long)i - n / TFX_UNIT_RUN) * TFX_UNIT_RUN));
}

/* whole[]: the largest of 2^log2 segments up to each one; those of the ring that
 * are older than that is needed get numbers that nobody reads. */
TFX_DEVICE_FN void
limiter_widen (const LimiterRoom &room, unsigned log2)
{
  const unsigned mask = TFX_LIMITER_SEGMENTS - 1;
  double v[TFX_LIMITER_SEGMENTS / TFX_UNIT_THREADS];

#pragma unroll
  for (unsigned k = 0; k < TFX_LIMITER_SEGMENTS / TFX_UNIT_THREADS; k++)
    v[k] = room.ends[unit_place (
        (threadIdx.x + k * TFX_UNIT_THREADS) * TFX_UNIT_RUN)];
#pragma unroll 1
  for (unsigned i = 0; i <= log2; i++) {
    __syncthreads ();
#pragma unroll
    for (unsigned k = 0; k < TFX_LIMITER_SEGMENTS / TFX_UNIT_THREADS; k++)
      room.whole[threadIdx.x + k * TFX_UNIT_THREADS] = v[k];
    __syncthreads ();
    if (i == log2)
      break;
#pragma unroll
    for (unsigned k = 0; k < TFX_LIMITER_SEGMENTS / TFX_UNIT_THREADS; k++)
      v[k] = limiter_larger (v[k],
          room.whole[(threadIdx.x + k * TFX_UNIT_THREADS - (1u << i)) & mask]);
  }
}

/* x[]: from the magnitudes of the thread's run to the largest of the windows that
 * end there. */
TFX_DEVICE_FN void
limiter_windows (const TfxLimiterArgs &args, long long first,
    const LimiterRoom &room, double (&x)[TFX_UNIT_RUN])
{
  /* Whole segments between the two ends: as many, or one more. */
  const unsigned n_whole =
      args.n_ahead / TFX_UNIT_RUN > 0 ? args.n_ahead / TFX_UNIT_RUN - 1 : 0;
  const unsigned log2 = n_whole > 1 ? 31 - (unsigned)__clz ((int)n_whole) : 0;
  long long own = (first >> TFX_UNIT_RUN_LOG2) + threadIdx.x;
  double most[TFX_UNIT_RUN];

  limiter_widen (room, log2);
#pragma unroll
  for (int k = 0; k < TFX_UNIT_RUN; k++) {
    long long from = own * TFX_UNIT_RUN + k - args.n_ahead;
    long long segment = from >> TFX_UNIT_RUN_LOG2;
    double m = 0.0;

#pragma unroll
    for (int i = 0; i <= k; i++) {
      if ((unsigned)(k - i) <= args.n_ahead)
        m = limiter_larger (m, x[i]);
    }
    if (segment < own)
      m = limiter_larger (m, *limiter_at (room.ends, from));
    if (segment + 1 < own) {
      m = limiter_larger (m, room.whole[limiter_slot (own - 1)]);
      m = limiter_larger (m,
          room.whole[limiter_slot (segment + (1ll << log2))]);
    }
    most[k] = m;
  }
#pragma unroll
  for (int k = 0; k < TFX_UNIT_RUN; k++)
    x[k] = most[k];
}

/* ---- far ------------------------------------------------------------------------ */

/* Returns the maximum of the threads before this one, and of all, at least 0; room:
 * TFX_UNIT_THREADS / TFX_WARP numbers for this function. */
TFX_DEVICE_FN double
limiter_scan_largest (double most, double *room, double *all)
{
  unsigned lane = threadIdx.x % TFX_WARP, warp = threadIdx.x / TFX_WARP;
  double before;

#pragma unroll
  for (unsigned i = 0; i < 5; i++) {
    double other = real_shuffle_up (most, 1u << i, TFX_WARP);

    most = lane >= 1u << i ? limiter_larger (most, other) : most;
  }
  before = real_shuffle_up (most, 1, TFX_WARP);
  before = lane > 0 ? before : 0.0;
  if (lane == TFX_WARP - 1)
    room[warp] = most;
  __syncthreads ();
  *all = 0.0;
  for (unsigned i = 0; i < TFX_UNIT_THREADS / TFX_WARP; i++) {
    before = i < warp ? limiter_larger (before, room[i]) : before;
    *all = limiter_larger (*all, room[i]);
  }
  return before;
}

/* Any magnitude of the block, or of the past. */
TFX_DEVICE_FN double
limiter_magnitude (const TfxLimiterArgs &args, unsigned channel,
    unsigned n_channels, long long frame)
{
  if (frame >= (long long)args.run.n_frames || -frame > (long long)args.n_ahead)
    return 0.0;
  if (frame < 0)
    return limiter_past (args, channel, n_channels, frame);
  return unit_hear (args.run.in, channel, n_channels, (unsigned long long)frame,
      args.run.cleared);
}

TFX_DEVICE_FN double *
limiter_top (const TfxLimiterArgs &args, unsigned tile)
{
  return args.tops + (size_t)blockIdx.x * args.n_tops + tile % args.n_tops;
}

/* Of the tile that begins there: the largest from each frame to its end, and of all
 * of them. */
TFX_DEVICE_FN double
limiter_end_tile (const TfxLimiterArgs &args, unsigned channel,
    unsigned n_channels, long long first, double *ends, double *room)
{
  /* The scan goes from the last run to the first. */
  double *run =
      ends + unit_place ((TFX_UNIT_THREADS - 1 - threadIdx.x) * TFX_UNIT_RUN);
  double after, all;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < TFX_UNIT_TILE; i += TFX_UNIT_THREADS)
    ends[unit_place (i)] =
        limiter_magnitude (args, channel, n_channels, first + i);
  __syncthreads ();
  after = limiter_scan_largest (limiter_end_segment (run), room, &all);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    run[i] = limiter_larger (run[i], after);
  __syncthreads ();
  return all;
}

/* The ends of the tile of number t begin at this. */
TFX_DEVICE_FN double *
limiter_ends (const LimiterRoom &room, unsigned t)
{
  return room.ends + t % 2 * TFX_UNIT_PLACES (TFX_UNIT_TILE);
}

/* What the windows of the first tile reach before it; of a past that is new, the
 * largest of each tile too. */
TFX_DEVICE_FN void
limiter_begin_far (const TfxLimiterArgs &args, unsigned channel,
    unsigned n_channels, const LimiterRoom &room)
{
  const unsigned n = args.n_tops - 1;
  long long first = -(long long)args.n_over;

  /* The last one of them is that in which the first windows begin. */
#pragma unroll 1
  for (unsigned k = args.is_new ? 1 : args.n_tops; k <= args.n_tops; k++) {
    double all = limiter_end_tile (args, channel, n_channels,
        first - (long long)k * TFX_UNIT_TILE,
        limiter_ends (room, args.tile + 1), room.whole);

    if (threadIdx.x == 0 && k <= n)
      *limiter_top (args, args.tile + args.n_tops - k) = all;
  }
}

/* As limiter_windows, of the tile of number t; the windows of its first `late` frames
 * begin in the tile n_tops before it, the others in the next one. */
TFX_DEVICE_FN void
limiter_windows_far (const TfxLimiterArgs &args, unsigned channel,
    unsigned n_channels, long long first, unsigned t, const LimiterRoom &room,
    double (&x)[TFX_UNIT_RUN])
{
  const unsigned n = args.n_tops - 1, late = args.n_ahead % TFX_UNIT_TILE;
  const unsigned n_warps = TFX_UNIT_THREADS / TFX_WARP;
  double *ends = limiter_ends (room, t), *older = limiter_ends (room, t + 1);
  double between = 0.0, top, most, before, all;

  limiter_end_tile (args, channel, n_channels,
      first - (long long)n * TFX_UNIT_TILE, ends, room.whole);
#pragma unroll 1
  for (unsigned i = 1 + threadIdx.x; i < n; i += TFX_UNIT_THREADS)
    between =
        limiter_larger (between, *limiter_top (args, t + args.n_tops - i));
  limiter_scan_largest (between, room.whole + n_warps, &all);
  between = all;
  top = limiter_larger (between, *limiter_top (args, t + args.n_tops - n));
#pragma unroll
  for (int k = 1; k < TFX_UNIT_RUN; k++)
    x[k] = limiter_larger (x[k], x[k - 1]);
  before = limiter_scan_largest (x[TFX_UNIT_RUN - 1], room.whole + 2 * n_warps,
      &all);
  if (threadIdx.x == 0)
    *limiter_top (args, t) = all;
#pragma unroll
  for (int k = 0; k < TFX_UNIT_RUN; k++) {
    unsigned i = threadIdx.x * TFX_UNIT_RUN + k;

    most = i < late ? older[unit_place (i + TFX_UNIT_TILE - late)]
                    : ends[unit_place (i - late)];
    most = limiter_larger (most, i < late ? top : between);
    x[k] = limiter_larger (limiter_larger (x[k], before), most);
  }
}

#endif
