/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tile.h: the samples of a tile in shared memory, from and to the stream; see
 * cascade.h. */
#ifndef TFX_KERNEL_TILE_H
#define TFX_KERNEL_TILE_H

#include "sample.h"

/* Samples that a thread holds in registers in step 3. */
#define CASCADE_RUN 8

/* What a block of threads works on.  It stands in shared memory. */
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

/* Channel and frame of this thread's i-th sample of a tile; it has as many as
 * a segment has. */
TFX_DEVICE_FN void
cascade_visit (const TfxCascadeArgs &args, unsigned by_channel, unsigned i,
    unsigned *channel, unsigned *frame)
{
  unsigned warp = threadIdx.x / TFX_WARP, lane = threadIdx.x % TFX_WARP;
  unsigned tile_log2 = args.segment_log2 + args.lanes_log2;
  unsigned n_channels = blockDim.x >> args.lanes_log2;

  if (by_channel) {
    *channel = threadIdx.x % n_channels;
    *frame = threadIdx.x / n_channels + (i << args.lanes_log2);
  } else {
    /* A warp reads the rows of its own channels, 32 frames at a time. */
    i = i * TFX_WARP + lane;
    *channel = (warp << (5 - args.lanes_log2)) + (i >> tile_log2);
    *frame = i & ((1u << tile_log2) - 1);
  }
}

/* Several loads are under way at a time. */
template <typename IO, typename W>
TFX_DEVICE_FN void
cascade_load (const TfxCascadeArgs &args, const volatile Tile &tile, W *samples)
{
  unsigned n_channels = tile.n_channels, n_frames = tile.n_frames;
  unsigned channel, frame;
  Samples<IO> in = samples_from<IO> (args.in, tile.channel, tile.frame);

#pragma unroll 1
  for (unsigned i = 0; i < 1u << args.segment_log2; i += CASCADE_RUN) {
    IO x[CASCADE_RUN];

#pragma unroll
    for (unsigned j = 0; j < CASCADE_RUN; j++) {
      cascade_visit (args, args.in_by_channel, i + j, &channel, &frame);
      x[j] = channel < n_channels && frame < n_frames
                 ? sample_at (in, channel, frame)
                 : 0;
    }
#pragma unroll
    for (unsigned j = 0; j < CASCADE_RUN; j++) {
      cascade_visit (args, args.in_by_channel, i + j, &channel, &frame);
      real_set (x[j], &samples[cascade_place (args, channel, frame)]);
    }
  }
}

/* out = samples + sum; a sum is double. */
template <typename IO, typename W>
TFX_DEVICE_FN void
cascade_store (const TfxCascadeArgs &args, const volatile Tile &tile,
    const W *samples)
{
  unsigned n_channels = tile.n_channels, n_frames = tile.n_frames;
  unsigned channel, frame;
  Samples<IO> out = samples_from<IO> (args.out, tile.channel, tile.frame);
  Samples<double> sum =
      samples_from<double> (args.sum, tile.channel, tile.frame);

#pragma unroll 4
  for (unsigned i = 0; i < 1u << args.segment_log2; i++) {
    double x;

    cascade_visit (args, args.out_by_channel, i, &channel, &frame);
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
