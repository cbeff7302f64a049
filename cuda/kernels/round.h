/* SPDX-License-Identifier: LGPL-2.1-or-later
 * round.h: a round is the part of a tile that is in shared memory at a time, for
 * segments that do not fit: 2^TFX_ROUND_LOG2 frames of each of the 32 segments of a
 * channel, from `begin` on.  A thread has the same two frames of each segment.  Input
 * and output are float. */
#ifndef TFX_KERNEL_ROUND_H
#define TFX_KERNEL_ROUND_H

#include "matrix.h"
#include "tile.h"

/* True if a round is not all of a segment. */
TFX_DEVICE_FN bool
round_is_part (const TfxCascadeArgs &args)
{
  return args.round_log2 < args.segment_log2;
}

/* Segments whose samples a thread loads at a time: as registers allow where that
 * saves waits for memory, fewer where the code is long. */
template <typename R>
TFX_DEVICE_FN constexpr unsigned
round_loads ()
{
  return TFX_HAS_MATRIX && real_is_short (R ()) ? 16 : 4;
}

/* From one sample of a thread to that of the next segment, and to its other one
 * of the same segment. */
struct RoundWalk
{
  long long segment, half;
  unsigned n_frames, frame;
};

TFX_DEVICE_FN RoundWalk
round_walk (const TfxCascadeArgs &args, const volatile Tile &tile,
    const TileWalk &w, long long frame_stride, unsigned begin)
{
  return RoundWalk{ frame_stride * (1ll << args.segment_log2),
    frame_stride * TFX_WARP, w.channel < tile.n_channels ? tile.n_frames : 0,
    begin + w.frame };
}

template <unsigned LOADS, bool CHECKED>
TFX_DEVICE_FN void
round_load_walk (const float *from, RoundWalk r, unsigned segment_log2,
    float *to)
{
  const unsigned pitch = (1u << TFX_ROUND_LOG2) + 1;

#pragma unroll 1
  for (unsigned i = 0; i < TFX_WARP; i += LOADS, to += LOADS * pitch) {
    float x[2 * LOADS];

#pragma unroll
    for (unsigned j = 0; j < LOADS; j++, from += r.segment) {
      x[2 * j] = !CHECKED || r.frame < r.n_frames ? from[0] : 0.0f;
      x[2 * j + 1] =
          !CHECKED || r.frame + TFX_WARP < r.n_frames ? from[r.half] : 0.0f;
      r.frame += 1u << segment_log2;
    }
#pragma unroll
    for (unsigned j = 0; j < LOADS; j++) {
      to[j * pitch] = x[2 * j];
      to[j * pitch + TFX_WARP] = x[2 * j + 1];
    }
  }
}

/* A round that will be loaded soon comes nearer, if its samples are densely
 * packed: each thread has a line of 32 samples in each half of a segment. */
TFX_DEVICE_FN void
round_announce (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned begin)
{
  TileWalk w = cascade_walk (args, args.in_by_channel);
  unsigned per = args.in_by_channel ? blockDim.x / TFX_WARP : 1;
  const float *from = samples_from<float> (args.in,
      tile.channel + (args.in_by_channel ? 0 : w.channel),
      tile.frame + begin + ((unsigned long long)w.frame << args.segment_log2))
                          .data;

  if (args.in.frame_stride != per ||
      !(tile.n_frames >> (args.segment_log2 + 5)) ||
      (!args.in_by_channel && w.channel >= tile.n_channels))
    return;
  if (args.in_by_channel)
    from += w.channel * TFX_WARP;
  TFX_PREFETCH (from);
  TFX_PREFETCH (from + TFX_WARP * per);
}

template <typename R>
TFX_DEVICE_FN void
round_load (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned begin, float *samples)
{
  TileWalk w = cascade_walk (args, args.in_by_channel);
  RoundWalk r = round_walk (args, tile, w, args.in.frame_stride, begin);
  const float *from = samples_from<float> (args.in, tile.channel + w.channel,
      tile.frame + begin + w.frame)
                          .data;

  samples += w.channel * args.pitch + w.frame;
  if (round_loads<R> () > 4 && r.n_frames >> (args.segment_log2 + 5))
    round_load_walk<round_loads<R> (), false> (from, r, args.segment_log2,
        samples);
  else
    round_load_walk<4, true> (from, r, args.segment_log2, samples);
}

template <bool CHECKED>
TFX_DEVICE_FN void
round_store_walk (float *to, RoundWalk r, unsigned segment_log2,
    const float *from)
{
  const unsigned pitch = (1u << TFX_ROUND_LOG2) + 1;

#pragma unroll 4
  for (unsigned i = 0; i < TFX_WARP; i++, to += r.segment, from += pitch) {
    if (!CHECKED || r.frame < r.n_frames)
      to[0] = from[0];
    if (!CHECKED || r.frame + TFX_WARP < r.n_frames)
      to[r.half] = from[TFX_WARP];
    r.frame += 1u << segment_log2;
  }
}

TFX_DEVICE_FN void
round_store (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned begin, const float *samples)
{
  TileWalk w = cascade_walk (args, args.out_by_channel);
  RoundWalk r = round_walk (args, tile, w, args.out.frame_stride, begin);
  float *to = samples_from<float> (args.out, tile.channel + w.channel,
      tile.frame + begin + w.frame)
                  .data;

  samples += w.channel * args.pitch + w.frame;
  if (r.n_frames >> (args.segment_log2 + 5))
    round_store_walk<false> (to, r, args.segment_log2, samples);
  else
    round_store_walk<true> (to, r, args.segment_log2, samples);
}

/* The next round comes to where the one before was, which nobody needs any
 * more. */
template <typename R>
TFX_DEVICE_FN void
round_turn (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned begin, float *samples)
{
  __syncthreads ();
  round_load<R> (args, tile, begin, samples);
  __syncthreads ();
}

#endif
