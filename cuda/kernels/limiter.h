/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limiter.h: a limiter that looks ahead, a block of threads for each channel (or
 * for all), tile after tile.
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

#include "limiter-window.h"

/* Guesses this near are the same. */
#define LIMITER_CLOSE 1e-14

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

/* y[] are the gains, from a gain at the start; r[] are the target gains, below 0
 * where the gain is held. */
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

/* A tile from its first frame on, which may be before the block, where the gain
 * stays; t: its number.  Returns the gain behind it. */
template <bool FAR>
TFX_DEVICE_FN double
limiter_tile (const TfxLimiterArgs &args, const LimiterRoom &room,
    unsigned channel, unsigned n_channels, long long first, unsigned t,
    double gain)
{
  long long run = first + threadIdx.x * TFX_UNIT_RUN;
  long long n_left = (long long)args.run.n_frames - first;
  double x[TFX_UNIT_RUN], y[TFX_UNIT_RUN];
  /* Where gains will be, or where the windows look for it. */
  double *segment = FAR ? room.gains + unit_place (threadIdx.x * TFX_UNIT_RUN)
                        : limiter_at (room.ends, run);

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < TFX_UNIT_TILE; i += TFX_UNIT_THREADS)
    *(FAR ? room.gains + unit_place (i) : limiter_at (room.ends, first + i)) =
        limiter_magnitude (args, channel, n_channels, first + i);
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    x[i] = segment[i];
  if (FAR) {
    limiter_windows_far (args, channel, n_channels, first, t, room, x);
  } else {
    limiter_end_segment (segment);
    __syncthreads ();
    limiter_windows (args, first, room, x);
  }
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

    if (n < 0)
      continue;
    if (n >= (long long)args.run.n_frames)
      break;
    x = unit_read (args.run.in, channel, (unsigned long long)n,
        args.run.cleared);
    ring_keep (args.ring, channel, (unsigned long long)n, x);
    if (from >= 0)
      x = unit_read (args.run.in, channel, (unsigned long long)from,
          args.run.cleared);
    else
      x = *ring_at (args.ring, channel, from);
    y = __dmul_rn (gains[unit_place (i)], x);
    y = y > args.limit ? args.limit : y;
    y = y < -args.limit ? -args.limit : y;
    unit_write (args.run.out, args.run.sum, channel, (unsigned long long)n,
        __dmul_rn (args.gain, y));
  }
}

/* FAR: see limiter-window.h. */
template <bool FAR>
TFX_DEVICE_FN void
limiter_run (const TfxLimiterArgs &args, unsigned char *shared)
{
  LimiterRoom room;
  unsigned n_channels = args.run.n_channels / args.n_levels;
  unsigned channel = blockIdx.x * n_channels, t = args.tile;
  double gain = args.state_in != nullptr ? args.state_in[channel] : 1.0;

  room.ends = (double *)shared;
  room.whole =
      room.ends + TFX_UNIT_PLACES (TFX_LIMITER_SEGMENTS * TFX_UNIT_RUN);
  room.gains = room.whole + TFX_LIMITER_SEGMENTS;
  room.lines = room.gains + TFX_UNIT_PLACES (TFX_UNIT_TILE);
  if (FAR)
    limiter_begin_far (args, channel, n_channels, room);
  else
    limiter_begin (args, channel, n_channels, room.ends);
  __syncthreads ();
#pragma unroll 1
  for (long long first = -(long long)args.n_over;
       first < (long long)args.run.n_frames; first += TFX_UNIT_TILE, t++) {
    gain = limiter_tile<FAR> (args, room, channel, n_channels, first, t, gain);
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
