/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tile.h: the samples of a tile in shared memory, from and to the stream; see
 * cascade.h. */
#ifndef TFX_KERNEL_TILE_H
#define TFX_KERNEL_TILE_H

#include "sample.h"

/* Samples that a thread holds in registers in step 3. */
#define CASCADE_RUN 8

/* The tile of a block of threads, in shared memory. */
struct Tile
{
  unsigned index;      /* in time; args.n_tiles if there is none left */
  unsigned channel;    /* the first one */
  unsigned n_channels; /* may be less than the block has room for */
  unsigned n_frames;   /* likewise */
  unsigned long long frame;
  unsigned epoch; /* of the launch, for carry.h */
  unsigned unused;
};

/* The place of a sample in shared memory.  Segments are one sample further
 * apart than they are long, so that the lanes meet no bank twice. */
TFX_DEVICE_FN unsigned
cascade_place (const TfxCascadeArgs &args, unsigned channel, unsigned frame)
{
  unsigned segment = frame >> args.segment_log2;

  return channel * args.pitch + frame + segment;
}

/* Channel and frame of the i-th sample of a tile for this thread, which has the
 * number of samples of a segment: a warp iterates over the rows of its channels, 32
 * frames at a time. */
TFX_DEVICE_FN void
cascade_visit (const TfxCascadeArgs &args, unsigned i, unsigned *channel,
    unsigned *frame)
{
  unsigned warp = threadIdx.x / TFX_WARP, lane = threadIdx.x % TFX_WARP;
  unsigned tile_log2 = args.segment_log2 + args.lanes_log2;

  i = i * TFX_WARP + lane;
  *channel = (warp << (5 - args.lanes_log2)) + (i >> tile_log2);
  *frame = i & ((1u << tile_log2) - 1);
}

/* A thread's samples of a tile, where they are a channel's at even distances:
 * those of a block of interleaved channels, and of a warp that has a channel to
 * itself. */
struct TileWalk
{
  bool is_even;
  unsigned channel, frame, step;
};

TFX_DEVICE_FN TileWalk
cascade_walk (const TfxCascadeArgs &args, unsigned by_channel)
{
  unsigned per = blockDim.x >> args.lanes_log2;

  if (by_channel)
    return TileWalk{ true, threadIdx.x % per, threadIdx.x / per,
      1u << args.lanes_log2 };
  return TileWalk{ args.lanes_log2 == 5, threadIdx.x / TFX_WARP,
    threadIdx.x % TFX_WARP, TFX_WARP };
}

/* CHECKED: some samples are outside of the block. A thread has several loads in
 * flight. */
template <bool CHECKED, typename IO, typename W>
TFX_DEVICE_FN void
cascade_load_walk (const IO *from, long long stride, unsigned n_frames,
    unsigned frame, unsigned step, unsigned segment_log2, W *to)
{
#pragma unroll 1
  for (unsigned i = 0; i < 1u << segment_log2; i += CASCADE_RUN) {
    unsigned f = frame;
    IO x[CASCADE_RUN];

#pragma unroll
    for (unsigned j = 0; j < CASCADE_RUN; j++, f += step, from += stride)
      x[j] = !CHECKED || f < n_frames ? *from : (IO)0;
#pragma unroll
    for (unsigned j = 0; j < CASCADE_RUN; j++, frame += step)
      real_set (x[j], &to[frame + (frame >> segment_log2)]);
  }
}

/* The same for rows of several channels to a warp: short blocks. */
template <typename IO, typename W>
TFX_DEVICE_FN void
cascade_load_rows (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *samples)
{
  unsigned n_channels = tile.n_channels, n_frames = tile.n_frames;
  unsigned channel, frame;
  Samples<IO> in = samples_from<IO> (args.in, tile.channel, tile.frame);

#pragma unroll 1
  for (unsigned i = 0; i < 1u << args.segment_log2; i += CASCADE_RUN / 2) {
    IO x[CASCADE_RUN / 2];

#pragma unroll
    for (unsigned j = 0; j < CASCADE_RUN / 2; j++) {
      cascade_visit (args, i + j, &channel, &frame);
      x[j] = channel < n_channels && frame < n_frames
                 ? sample_at (in, channel, frame)
                 : (IO)0;
    }
#pragma unroll
    for (unsigned j = 0; j < CASCADE_RUN / 2; j++) {
      cascade_visit (args, i + j, &channel, &frame);
      real_set (x[j], &samples[cascade_place (args, channel, frame)]);
    }
  }
}

template <typename IO, typename W>
TFX_DEVICE_FN void
cascade_load (const TfxCascadeArgs &args, const volatile Tile &tile, W *samples)
{
  TileWalk w = cascade_walk (args, args.in_by_channel);
  unsigned n_frames = w.channel < tile.n_channels ? tile.n_frames : 0;
  long long stride = (long long)w.step * args.in.frame_stride;
  const IO *from;

  if (!w.is_even) {
    cascade_load_rows<IO, W> (args, tile, samples);
    return;
  }
  samples += w.channel * args.pitch;
  from =
      samples_from<IO> (args.in, tile.channel + w.channel, tile.frame + w.frame)
          .data;
  if (n_frames >> (args.segment_log2 + args.lanes_log2))
    cascade_load_walk<false> (from, stride, n_frames, w.frame, w.step,
        args.segment_log2, samples);
  else
    cascade_load_walk<true> (from, stride, n_frames, w.frame, w.step,
        args.segment_log2, samples);
}

template <bool CHECKED, typename IO, typename W>
TFX_DEVICE_FN void
cascade_store_walk (IO *to, long long stride, unsigned n_frames, unsigned frame,
    unsigned step, unsigned segment_log2, const W *from)
{
#pragma unroll(CHECKED ? 4 : 8)
  for (unsigned i = 0; i < 1u << segment_log2;
       i++, frame += step, to += stride) {
    if (!CHECKED || frame < n_frames)
      real_get (from[frame + (frame >> segment_log2)], to);
  }
}

/* With a sum, or in rows of several channels to a warp; a sum is double. */
template <typename IO, typename W>
TFX_DEVICE_FN void
cascade_store_rows (const TfxCascadeArgs &args, const volatile Tile &tile,
    const W *samples)
{
  unsigned n_channels = tile.n_channels, n_frames = tile.n_frames;
  unsigned channel, frame;
  TileWalk w = cascade_walk (args, args.out_by_channel);
  Samples<IO> out = samples_from<IO> (args.out, tile.channel, tile.frame);
  Samples<double> sum =
      samples_from<double> (args.sum, tile.channel, tile.frame);

#pragma unroll 1
  for (unsigned i = 0; i < 1u << args.segment_log2; i++) {
    double x;

    channel = w.channel;
    frame = w.frame + i * w.step;
    if (!w.is_even)
      cascade_visit (args, i, &channel, &frame);
    if (channel >= n_channels || frame >= n_frames)
      continue;
    if (sum.data == nullptr) {
      real_get (samples[cascade_place (args, channel, frame)],
          &sample_at (out, channel, frame));
    } else {
      real_get (samples[cascade_place (args, channel, frame)], &x);
      x = __dadd_rn (x, sample_at (sum, channel, frame));
      real_get (x, &sample_at (out, channel, frame));
    }
  }
}

/* out = samples + sum. */
template <typename IO, typename W>
TFX_DEVICE_FN void
cascade_store (const TfxCascadeArgs &args, const volatile Tile &tile,
    const W *samples)
{
  TileWalk w = cascade_walk (args, args.out_by_channel);
  unsigned n_frames = w.channel < tile.n_channels ? tile.n_frames : 0;
  long long stride = (long long)w.step * args.out.frame_stride;
  IO *to;

  if (!w.is_even || args.sum.data != nullptr) {
    cascade_store_rows<IO, W> (args, tile, samples);
    return;
  }
  samples += w.channel * args.pitch;
  to = samples_from<IO> (args.out, tile.channel + w.channel,
      tile.frame + w.frame)
           .data;
  if (n_frames >> (args.segment_log2 + args.lanes_log2))
    cascade_store_walk<false> (to, stride, n_frames, w.frame, w.step,
        args.segment_log2, samples);
  else
    cascade_store_walk<true> (to, stride, n_frames, w.frame, w.step,
        args.segment_log2, samples);
}

/* Where samples are kept as float, what comes in and goes out is float. */
TFX_DEVICE_FN void
cascade_load_any (const TfxCascadeArgs &args, const volatile Tile &tile,
    float *samples)
{
  cascade_load<float, float> (args, tile, samples);
}

template <typename W>
TFX_DEVICE_FN void
cascade_load_any (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *samples)
{
  if (args.in.is_double)
    cascade_load<double, W> (args, tile, samples);
  else
    cascade_load<float, W> (args, tile, samples);
}

TFX_DEVICE_FN void
cascade_store_any (const TfxCascadeArgs &args, const volatile Tile &tile,
    const float *samples)
{
  cascade_store<float, float> (args, tile, samples);
}

template <typename W>
TFX_DEVICE_FN void
cascade_store_any (const TfxCascadeArgs &args, const volatile Tile &tile,
    const W *samples)
{
  if (args.out.is_double)
    cascade_store<double, W> (args, tile, samples);
  else
    cascade_store<float, W> (args, tile, samples);
}

#endif
