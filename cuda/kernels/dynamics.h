/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics.h: a gain that follows the level of the signal, in one launch.
 *
 * The level and the gain are those of dsp/cpu/dynamics.h.  What the level takes
 * up from frame to frame are decays (decay.h), one after the other: the mean
 * square, what is held, and what comes out.  The rest is point by point. */
#ifndef TFX_KERNEL_DYNAMICS_H
#define TFX_KERNEL_DYNAMICS_H

#include "decay.h"
#include "gain.h"
#include "unit.h"

TFX_DEVICE_FN double
dynamics_gain (const TfxCurveArgs &c, double level)
{
  double over, q, h;

  level = level > UNIT_LOWEST ? level : UNIT_LOWEST;
  over = __dmul_rn (c.sign, __dsub_rn (gain_log2 (level), c.threshold));
  q = __dadd_rn (over, c.half_knee);
  q = q > 0.0 ? q : 0.0;
  q = q < 2.0 * c.half_knee ? q : 2.0 * c.half_knee;
  h = __dsub_rn (over, c.half_knee);
  h = h > 0.0 ? h : 0.0;
  h = __dmul_rn (c.slope, __fma_rn (__dmul_rn (q, q), c.per_knee, h));
  return gain_exp2 (__dadd_rn (h > c.floor ? h : c.floor, c.makeup));
}

/* A piece of work: frames of a channel, or of all. */
struct DynamicsTile
{
  unsigned index, epoch, channel, n_channels, n_frames;
  unsigned long long first;
};

/* One of the decays over x[], which becomes y[].  scale: of x. */
template <bool MAX>
TFX_DEVICE_FN void
dynamics_decay (const TfxDynamicsArgs &args, const DynamicsTile &tile,
    int which, const TfxDecay &decay, double scale, double *room,
    double (&x)[TFX_UNIT_RUN])
{
  volatile tfx_u64 *words =
      args.carry + (tile.channel * (size_t)TFX_LEVEL_DECAYS + which) *
                       TFX_DECAY_WORDS (args.n_tiles);
  DecayCarry carry = { words, words + 2 * (size_t)args.n_tiles, tile.index,
    args.n_tiles, tile.epoch };
  unsigned place = tile.channel * 3 + which;
  unsigned last = tile.n_frames - 1;
  bool is_last =
      tile.index + 1 == args.n_tiles && last / TFX_UNIT_RUN == threadIdx.x;
  double y = args.state_in != nullptr ? args.state_in[place] : 0.0, end = 0.0;

#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    x[i] = __dmul_rn (scale, x[i]);
  y = decay_start<MAX> (x, decay, carry, y, room + which * TFX_UNIT_ROOM);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    y = decay_join<MAX> (decay.once, y, x[i]);
    x[i] = y;
    end = last % TFX_UNIT_RUN == (unsigned)i ? y : end;
  }
  if (is_last) {
#pragma unroll 1
    for (unsigned c = 0; c < tile.n_channels; c++)
      args.state_out[place + 3 * c] = end;
  }
}

/* The order of the numbers of a state. */
enum
{
  DYNAMICS_HELD,
  DYNAMICS_OUT,
  DYNAMICS_SQUARE
};

/* No more than the CPU takes. */
TFX_DEVICE_FN double
dynamics_square (double x)
{
  const double square = __dmul_rn (x, x);

  return square < UNIT_MOST_SQUARE ? square : UNIT_MOST_SQUARE;
}

/* levels[]: from the magnitudes of a tile to their gains. */
TFX_DEVICE_FN void
dynamics_follow (const TfxDynamicsArgs &args, const DynamicsTile &tile,
    double *levels, double *room)
{
  const double rest = __dsub_rn (1.0, args.attack.once);
  double *run = levels + unit_place (threadIdx.x * TFX_UNIT_RUN);
  double x[TFX_UNIT_RUN];

#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    x[i] = run[i];
  if (args.is_rms) {
#pragma unroll
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      x[i] = dynamics_square (x[i]);
    dynamics_decay<false> (args, tile, DYNAMICS_SQUARE, args.attack, rest, room,
        x);
#pragma unroll
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      run[i] = x[i];
#pragma unroll 1
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      run[i] = sqrt (run[i]);
#pragma unroll
    for (int i = 0; i < TFX_UNIT_RUN; i++)
      x[i] = run[i];
  } else if (tile.index == 0 && threadIdx.x == 0) {
    for (unsigned c = 0; c < tile.n_channels; c++) {
      unsigned place = (tile.channel + c) * 3 + DYNAMICS_SQUARE;

      args.state_out[place] =
          args.state_in != nullptr ? args.state_in[place] : 0.0;
    }
  }
  dynamics_decay<true> (args, tile, DYNAMICS_HELD, args.release, 1.0, room, x);
  dynamics_decay<false> (args, tile, DYNAMICS_OUT, args.attack, rest, room, x);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    run[i] = x[i];
#pragma unroll 2
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    run[i] = dynamics_gain (args.curve, run[i]);
}

TFX_DEVICE_FN void
dynamics_run (const TfxDynamicsArgs &args, unsigned char *shared)
{
  double *levels = (double *)shared;
  double *room = levels + TFX_UNIT_PLACES (TFX_UNIT_TILE);
  volatile unsigned *head =
      (volatile unsigned *)(room + TFX_LEVEL_DECAYS * TFX_UNIT_ROOM);
  DynamicsTile tile;
  unsigned ticket = unit_ticket (args.control, args.n_tiles, head, &tile.epoch);
  unsigned long long n_frames;

  tile.index = ticket / args.n_levels;
  tile.channel = ticket % args.n_levels;
  tile.n_channels = args.run.n_channels / args.n_levels;
  tile.first = (unsigned long long)tile.index * TFX_UNIT_TILE;
  n_frames = args.run.n_frames - tile.first;
  tile.n_frames = n_frames < TFX_UNIT_TILE ? (unsigned)n_frames : TFX_UNIT_TILE;

#pragma unroll 1
  for (unsigned i = threadIdx.x; i < TFX_UNIT_TILE; i += TFX_UNIT_THREADS)
    levels[unit_place (i)] =
        i < tile.n_frames
            ? unit_hear (args.run.in, tile.channel, tile.n_channels,
                  tile.first + i, args.run.cleared)
            : 0.0;
  __syncthreads ();
  dynamics_follow (args, tile, levels, room);
  __syncthreads ();
  /* In place too: nobody else reads these samples. */
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < tile.n_frames; i += TFX_UNIT_THREADS) {
    double gain = __dmul_rn (args.gain, levels[unit_place (i)]);

#pragma unroll 1
    for (unsigned c = tile.channel; c < tile.channel + tile.n_channels; c++)
      unit_write (args.run.out, args.run.sum, c, tile.first + i,
          __dmul_rn (gain,
              unit_read (args.run.in, c, tile.first + i, args.run.cleared)));
  }
  unit_finish (args.control, args.n_tiles, tile.epoch);
}

#endif
