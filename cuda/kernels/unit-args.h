/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-args.h: what the host hands to the kernels of units.  As args.h. */
#ifndef TFX_KERNEL_UNIT_ARGS_H
#define TFX_KERNEL_UNIT_ARGS_H

#include "args.h"

/* A block of threads, the frames of each of them, and of a tile. */
#define TFX_UNIT_THREADS 256
#define TFX_UNIT_RUN_LOG2 3
#define TFX_UNIT_RUN (1 << TFX_UNIT_RUN_LOG2)
#define TFX_UNIT_TILE (TFX_UNIT_THREADS * TFX_UNIT_RUN)

/* Tiles of a node, see decay.h. */
#define TFX_UNIT_NODE 32

/* out = gain (factor in, within -1 ... 1) + sum. */
typedef struct TfxClipArgs
{
  TfxKernelRun run;
  double factor, gain;
} TfxClipArgs;

/* out[c] = gain (sum of gains[k][c] in[k], k < n_heard) + sum. */
typedef struct TfxMixArgs
{
  TfxKernelRun run; /* in and out apart */
  unsigned n_heard, unused;
  double gain;
  TFX_DEVICE (const double) gains; /* [n_heard][n_channels] */
} TfxMixArgs;

/* The i-th of some channels: places[i], and behind these next, next + 1 ... */
typedef struct TfxChannelMap
{
  unsigned n, next;
  unsigned char places[64];
} TfxChannelMap;

/* out = gain in + sum, channel by channel of n_channels. */
typedef struct TfxCopyArgs
{
  TfxKernelRun run;
  double gain;
  TfxChannelMap from, to;
} TfxCopyArgs;

/* a; and a^(TFX_UNIT_RUN 2^i): of a run, of a warp (i = 5), of a tile (8) and of
 * a node (13). */
#define TFX_DECAY_WARP 5
#define TFX_DECAY_TILE 8
#define TFX_N_DECAYS 14
typedef struct TfxDecay
{
  double once, powers[TFX_N_DECAYS];
} TfxDecay;

/* Words of 8 bytes that one decay's carries take for a channel. */
#define TFX_DECAY_WORDS(n_tiles)                                               \
  (2 * ((size_t)(n_tiles) + ((n_tiles) + TFX_UNIT_NODE - 1) / TFX_UNIT_NODE))

/* Decays of a level: of the square, of the held level, of the output. */
#define TFX_LEVEL_DECAYS 3

/* As dsp/cpu/dynamics.h has it. */
typedef struct TfxCurveArgs
{
  double sign, threshold, slope, half_knee, per_knee, floor, makeup;
} TfxCurveArgs;

/* out = gain x (what the level makes of it) + sum. */
typedef struct TfxDynamicsArgs
{
  TfxKernelRun run;
  unsigned n_levels; /* 1: all channels go by the loudest one */
  unsigned n_tiles;  /* per level */
  unsigned is_rms, unused;
  double gain;
  TfxDecay attack, release;
  TfxCurveArgs curve;
  TFX_DEVICE (const double) state_in; /* [channel][3]; 0: at rest */
  TFX_DEVICE (double) state_out;
  /* For more than one tile, as of cascades. */
  TFX_DEVICE (unsigned long long) carry;
  TFX_DEVICE (unsigned) control;
} TfxDynamicsArgs;

/* Bytes of shared memory: numbers of a tile, one place left out after each run;
 * what the warps leave for each other; and the ticket. */
#define TFX_UNIT_PLACES(n) ((n) + (n) / TFX_UNIT_RUN)
#define TFX_UNIT_ROOM 12
#define TFX_DYNAMICS_SHARED                                                    \
  ((TFX_UNIT_PLACES (TFX_UNIT_TILE) + TFX_LEVEL_DECAYS * TFX_UNIT_ROOM + 2) *  \
      sizeof (double))

/* Segments of TFX_UNIT_RUN frames that a limiter keeps of each level: half of them
 * are its longest look-ahead before it uses whole tiles. */
#define TFX_LIMITER_SEGMENTS 512
#define TFX_LIMITER_NEAR (TFX_LIMITER_SEGMENTS / 2 * TFX_UNIT_RUN)
#define TFX_LIMITER_SHARED                                                     \
  ((TFX_UNIT_PLACES (TFX_LIMITER_SEGMENTS * TFX_UNIT_RUN) +                    \
       TFX_LIMITER_SEGMENTS + TFX_UNIT_PLACES (TFX_UNIT_TILE) + 24) *          \
      sizeof (double))

/* out[n] = gain (what is left of in[n - n_ahead]) + sum. */
typedef struct TfxLimiterArgs
{
  TfxKernelRun run;  /* in and out apart */
  unsigned n_levels; /* 1: all channels go by the loudest one */
  unsigned n_ahead;
  unsigned n_silent; /* frames that come before the first input comes out */
  unsigned unused;
  double threshold, limit, attack, release, gain;
  TFX_DEVICE (const double) state_in; /* [channel]; 0: at rest */
  TFX_DEVICE (double) state_out;
  TfxKernelRing ring;
  /* Limiters with a look-ahead longer than TFX_LIMITER_NEAR: the maxima of the last
   * tiles, [level][n_tops], for the tiles between the first and the last one of a
   * window; otherwise n_tops is 0.  Tiles count from the start of the stream: the block
   * begins n_over frames after the beginning of tile `tile`, modulo n_tops.  is_new:
   * the earlier tiles are unknown. */
  TFX_DEVICE (double) tops;
  unsigned n_tops, tile, n_over, is_new;
} TfxLimiterArgs;

/* Frames of a part; frames that a line keeps after its output, and that a comb
 * keeps of its one-pole. */
#define TFX_REVERB_PART 256
#define TFX_REVERB_N_LINES 12
#define TFX_REVERB_OLD 3
#define TFX_REVERB_POLES_KEPT 4
#define TFX_REVERB_SHARED                                                      \
  ((TFX_REVERB_PART + 8 * TFX_UNIT_PLACES (TFX_REVERB_PART) +                  \
       8 * TFX_REVERB_POLES_KEPT + 4) *                                        \
      sizeof (double))

/* A ring of `size` doubles; at: where what comes out at the first frame is. */
typedef struct TfxReverbLine
{
  unsigned length, size, offset, at;
} TfxReverbLine;

/* out = dry in + wet (reverb of in) + sum. */
typedef struct TfxReverbArgs
{
  TfxKernelRun run;
  unsigned part; /* frames: no more than any line has */
  unsigned state_size;
  double input, feedback, dry, wet;
  TfxDecay damp;
  TfxReverbLine lines[TFX_REVERB_N_LINES]; /* combs, then all-passes */
  /* [channel][state_size]: the rings, then the one-poles; 0: at rest. */
  TFX_DEVICE (const double) state_in;
  TFX_DEVICE (double) state_out;
} TfxReverbArgs;

#endif
