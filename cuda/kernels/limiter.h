/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limiter.h: a limiter that looks ahead, a block of threads for each channel (or
 * for all), tile after tile.
 *
 * The largest of a window: magnitudes lie in segments of TFX_UNIT_RUN frames, of
 * which the largest from each frame to the end is kept.  A window is the end of a
 * segment, some whole ones, and the beginning of the thread's own.  The whole ones
 * are two overlapping windows of a power of two of segments.
 *
 * The gain: g[n] = a g[n - 1] + (1 - a) r[n], with one a where r[n] is below
 * g[n - 1] and another one elsewhere, is the lower (or the higher) one of two
 * lines.  Each thread takes a guess of g at its start, notes which lines that
 * takes it along, and what they make of any g; a scan over these gives better
 * guesses, until they stay.  That is Newton's method for a function of straight
 * pieces: after i rounds the first i threads are right at the latest, and a few
 * rounds are enough in general. */
#ifndef TFX_KERNEL_LIMITER_H
#define TFX_KERNEL_LIMITER_H

#include "unit.h"

/* Guesses this near are the same. */
#define LIMITER_CLOSE 1e-14

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

/* What the thread's run makes of a gain: y = slope g + offset. */
struct LimiterLine
{
  double slope, offset;
};

/* First one, then another. */
TFX_DEVICE_FN LimiterLine
limiter_join (const LimiterLine &first, const LimiterLine &then)
{
  return LimiterLine{ __dmul_rn (then.slope, first.slope),
    __fma_rn (then.slope, first.offset, then.offset) };
}

/* From a gain at the start; r[]: what is wanted, below 0 where the gain stays.  y[]
 * are the gains. */
TFX_DEVICE_FN LimiterLine
limiter_follow (const TfxLimiterArgs &args, double gain,
    const double (&r)[TFX_UNIT_RUN], double (&y)[TFX_UNIT_RUN])
{
  LimiterLine line = { 1.0, 0.0 };

#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    double a = r[i] < gain ? args.attack : args.release;
    double step = __dmul_rn (__dsub_rn (1.0, a), r[i]);

    if (r[i] >= 0.0) {
      gain = __fma_rn (a, gain, step);
      line.offset = __fma_rn (a, line.offset, step);
      line.slope = __dmul_rn (a, line.slope);
    }
    y[i] = gain;
  }
  return line;
}

/* The gain at the thread's start by these lines, from that at the tile's. */
TFX_DEVICE_FN double
limiter_scan (LimiterLine line, double gain, double *lines)
{
  const unsigned n_warps = TFX_UNIT_THREADS / TFX_WARP;
  unsigned lane = threadIdx.x % TFX_WARP, warp = threadIdx.x / TFX_WARP;
  LimiterLine before;

#pragma unroll
  for (unsigned i = 0; i < 5; i++) {
    LimiterLine first = { real_shuffle_up (line.slope, 1u << i, TFX_WARP),
      real_shuffle_up (line.offset, 1u << i, TFX_WARP) };
    LimiterLine both = limiter_join (first, line);

    if (lane >= 1u << i)
      line = both;
  }
  before.slope = real_shuffle_up (line.slope, 1, TFX_WARP);
  before.offset = real_shuffle_up (line.offset, 1, TFX_WARP);
  if (lane == TFX_WARP - 1) {
    lines[warp] = line.slope;
    lines[n_warps + warp] = line.offset;
  }
  __syncthreads ();
  for (unsigned i = 0; i < warp; i++)
    gain = __fma_rn (lines[i], gain, lines[n_warps + i]);
  if (lane > 0)
    gain = __fma_rn (before.slope, gain, before.offset);
  return gain;
}

/* The gains of the thread's run, y[], from that at the tile's start. */
TFX_DEVICE_FN void
limiter_solve (const TfxLimiterArgs &args, double gain, double *lines,
    const double (&r)[TFX_UNIT_RUN], double (&y)[TFX_UNIT_RUN])
{
  double start = gain;

#pragma unroll 1
  for (unsigned i = 0; i < TFX_UNIT_THREADS; i++) {
    LimiterLine line = limiter_follow (args, start, r, y);
    double better = limiter_scan (line, gain, lines);
    bool moves = fabs (__dsub_rn (better, start)) > LIMITER_CLOSE;

    start = better;
    if (!unit_any (moves,
            (volatile unsigned *)(lines + 2 * TFX_UNIT_THREADS / TFX_WARP)))
      break;
  }
  limiter_follow (args, start, r, y);
}

/* A tile from its first frame on; returns the gain behind it. */
TFX_DEVICE_FN double
limiter_tile (const TfxLimiterArgs &args, const LimiterRoom &room,
    unsigned channel, unsigned n_channels, long long first, double gain)
{
  long long run = first + threadIdx.x * TFX_UNIT_RUN;
  long long n_left = (long long)args.n_frames - first;
  double x[TFX_UNIT_RUN], y[TFX_UNIT_RUN];
  double *segment = limiter_at (room.ends, run);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < TFX_UNIT_TILE; i += TFX_UNIT_THREADS)
    *limiter_at (room.ends, first + i) =
        i < n_left ? unit_hear (args.in, channel, n_channels,
                         (unsigned long long)first + i, args.cleared)
                   : 0.0;
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    x[i] = segment[i];
  limiter_end_segment (segment);
  __syncthreads ();
  limiter_windows (args, first, room, x);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    double peak = limiter_larger (x[i], UNIT_LOWEST);
    double wanted = args.threshold / peak;

    wanted = wanted < 1.0 ? wanted : 1.0;
    x[i] = run + i < (long long)args.n_silent ? -1.0 : wanted;
  }
  limiter_solve (args, gain, room.lines, x, y);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    room.gains[unit_place (threadIdx.x * TFX_UNIT_RUN + i)] = y[i];
  }
  __syncthreads ();
  return room.gains[unit_place (
      n_left < TFX_UNIT_TILE ? (unsigned)n_left - 1 : TFX_UNIT_TILE - 1)];
}

/* The frames of a tile of one channel, n_ahead frames late. */
TFX_DEVICE_FN void
limiter_apply (const TfxLimiterArgs &args, const double *gains,
    unsigned channel, long long first)
{
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < TFX_UNIT_TILE; i += TFX_UNIT_THREADS) {
    long long n = first + i, from = n - args.n_ahead;
    double x, y;

    if (n >= (long long)args.n_frames)
      break;
    x = unit_read (args.in, channel, (unsigned long long)n, args.cleared);
    ring_keep (args.ring, channel, (unsigned long long)n, x);
    if (from >= 0)
      x = unit_read (args.in, channel, (unsigned long long)from, args.cleared);
    else
      x = *ring_at (args.ring, channel, from);
    y = __dmul_rn (gains[unit_place (i)], x);
    y = y > args.limit ? args.limit : y;
    y = y < -args.limit ? -args.limit : y;
    unit_write (args.out, args.sum, channel, (unsigned long long)n,
        __dmul_rn (args.gain, y));
  }
}

TFX_DEVICE_FN void
limiter_run (const TfxLimiterArgs &args, unsigned char *shared)
{
  LimiterRoom room;
  unsigned n_channels = args.n_channels / args.n_levels;
  unsigned channel = blockIdx.x * n_channels;
  double gain = args.state_in != nullptr ? args.state_in[channel] : 1.0;

  room.ends = (double *)shared;
  room.whole =
      room.ends + TFX_UNIT_PLACES (TFX_LIMITER_SEGMENTS * TFX_UNIT_RUN);
  room.gains = room.whole + TFX_LIMITER_SEGMENTS;
  room.lines = room.gains + TFX_UNIT_PLACES (TFX_UNIT_TILE);
  limiter_begin (args, channel, n_channels, room.ends);
  __syncthreads ();
#pragma unroll 1
  for (long long first = 0; first < (long long)args.n_frames;
       first += TFX_UNIT_TILE) {
    gain = limiter_tile (args, room, channel, n_channels, first, gain);
    for (unsigned c = channel; c < channel + n_channels; c++)
      limiter_apply (args, room.gains, c, first);
    __syncthreads ();
  }
  if (threadIdx.x == 0) {
    for (unsigned c = channel; c < channel + n_channels; c++)
      args.state_out[c] = gain;
  }
}

#endif
