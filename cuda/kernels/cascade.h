/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.h: a cascade of second-order sections over all channels in one
 * launch; every sample is read once and written once.
 *
 * The frames of a channel are cut into segments of M = 2^3 to 2^7 frames, one
 * to a thread.  A warp takes 32 segments: of one channel, or of several if
 * the block of samples is short.  That is a tile; a block of threads takes the
 * tiles of neighbouring channels, so that interleaved samples are read in
 * whole rows.  For each group of up to six sections a thread
 *
 *   1. computes the state e that its segment, begun at rest, leaves behind:
 *      the sum of A^(M - 1 - n) B x[n], two multiplications per sample and
 *      section and no recursion;
 *   2. gets the state s at the start of its segment by a scan over the lanes
 *      (scan.h) and, where a channel has more than one tile, over the tiles
 *      before (carry.h);
 *   3. runs the sections over its segment from s, in the common form of
 *      recursion, four multiplications per sample and section.
 *
 * So what comes out is what the recursion itself computes from a state that is
 * right to the last bits, not a sum of two responses.  Between two groups the
 * samples stay in shared memory, in the precision of the arithmetic. */
#ifndef TFX_KERNEL_CASCADE_H
#define TFX_KERNEL_CASCADE_H

#include "carry.h"
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
  unsigned long long unused;
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

/* Step 1.  The last segment of a channel may be short: its n frames then count
 * as the last n of a whole one, behind `skip` zeros, which leave no trace. */
template <typename W, typename R, int G>
TFX_DEVICE_FN void
cascade_drive (const W *segment, const R *table, unsigned m_log2, int skip,
    R (&e)[2 * G])
{
  int half = 1 << (m_log2 - 1);
  const Pair<R> *row = (const Pair<R> *)(table + TFX_TABLE_CONTROL (G)) +
                       (TFX_CONTROL_ROWS - half) * G;
  R early[2 * G];
  W zero;

  real_set (0.0f, &zero);
#pragma unroll
  for (int i = 0; i < 2 * G; i++) {
    real_set (0.0f, &early[i]);
    real_set (0.0f, &e[i]);
  }
  /* Both halves at once: a number of the table serves two samples. */
#pragma unroll 1
  for (int n = 0; n < half; n++) {
    int i = n - skip, j = i + half;
    W x = i >= 0 ? segment[i] : zero;
    W y = j >= 0 ? segment[j] : zero;

#pragma unroll
    for (int k = 0; k < G; k++) {
      Pair<R> c = row[k];

      early[2 * k] = real_fma (c.a, x, early[2 * k]);
      early[2 * k + 1] = real_fma (c.b, x, early[2 * k + 1]);
      e[2 * k] = real_fma (c.a, y, e[2 * k]);
      e[2 * k + 1] = real_fma (c.b, y, e[2 * k + 1]);
    }
    row += G;
  }
  power_apply<R, G> (table + TFX_TABLE_POWERS (G) +
                         (m_log2 - 1) * TFX_POWER_SIZE (G),
      early, e);
}

/* CASCADE_RUN samples through one section, in place.  The past stands in s1 and
 * s2, which in transposed direct form II are what it adds to the next two
 * outputs; between them the output follows from the samples before it. */
template <typename R, bool NORMALISED>
TFX_DEVICE_FN void
section_run (const R *section, R (&x)[CASCADE_RUN], R &s1, R &s2)
{
  Pair<R> c01 = ((const Pair<R> *)section)[0];
  Pair<R> c23 = ((const Pair<R> *)section)[1];
  R b0 = c01.a, b1 = c01.b, b2 = c23.a, a1 = real_neg (c23.b);
  R a2 = real_neg (section[4]);
  R x1, x2, y1, y2;

  x1 = x[0];
  y1 = NORMALISED ? real_add (x1, s1) : real_fma (b0, x1, s1);
  x[0] = y1;
  x2 = x1;
  y2 = y1;
  x1 = x[1];
  y1 = NORMALISED ? real_add (x1, s2) : real_fma (b0, x1, s2);
  y1 = real_fma (a1, y2, real_fma (b1, x2, y1));
  x[1] = y1;
#pragma unroll
  for (int n = 2; n < CASCADE_RUN; n++) {
    R x0 = x[n];
    R y0 = NORMALISED ? real_fma (b1, x1, x0)
                      : real_fma (b1, x1, real_mul (b0, x0));

    y0 = real_fma (a2, y2, real_fma (b2, x2, y0));
    y0 = real_fma (a1, y1, y0);
    x[n] = y0;
    x2 = x1;
    x1 = x0;
    y2 = y1;
    y1 = y0;
  }
  s1 = real_fma (b2, x2, real_mul (a2, y2));
  s1 = real_fma (a1, y1, real_fma (b1, x1, s1));
  s2 = real_fma (b2, x1, real_mul (a2, y1));
}

/* Step 3, over a segment of 2^m_log2 samples in shared memory. */
template <typename W, typename R, int G, bool NORMALISED>
TFX_DEVICE_FN void
cascade_filter (W *segment, const R *table, unsigned m_log2, R (&s)[2 * G])
{
  R gain = table[TFX_TABLE_GAIN (G)];

#pragma unroll 1
  for (int n = 0; n < 1 << m_log2; n += CASCADE_RUN) {
    R x[CASCADE_RUN];

#pragma unroll
    for (int i = 0; i < CASCADE_RUN; i++)
      real_set (segment[n + i], &x[i]);
#pragma unroll
    for (int k = 0; k < G; k++)
      section_run<R, NORMALISED> (table + 6 * k, x, s[2 * k], s[2 * k + 1]);
#pragma unroll
    for (int i = 0; i < CASCADE_RUN; i++)
      real_get (real_mul (gain, x[i]), &segment[n + i]);
  }
}

/* The state of a channel at the end of the launch, A^n s + e, where n frames of
 * its last segment are samples.  s becomes the result. */
template <typename R, int G>
TFX_DEVICE_FN void
cascade_end (const R *table, unsigned m_log2, unsigned n_frames, const R *e,
    R (&s)[2 * G])
{
  const R *powers = table + TFX_TABLE_POWERS (G);
  unsigned n = ((n_frames - 1) & ((1u << m_log2) - 1)) + 1;

#pragma unroll 1
  for (unsigned bit = 0; n >> bit; bit++) {
    if (n >> bit & 1)
      power_apply_in_place<R, G> (powers + bit * TFX_POWER_SIZE (G), s);
  }
#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    s[i] = real_add (s[i], e[i * TFX_WARP]);
}

template <typename R, int G>
TFX_DEVICE_FN void
state_store (const TfxCascadeArgs &args, const R *table, unsigned channel,
    unsigned group, const R (&s)[2 * G])
{
  double *state = args.state_out +
                  ((size_t)channel * args.n_sections + (size_t)group * G) * 2;
  bool finite = true;

#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    finite = finite && real_is_finite (s[i]);
  if (!finite)
    args.cleared[channel] = 1;
#pragma unroll
  for (int i = 0; i < 2 * G; i++) {
    R scale = table[TFX_TABLE_SCALE (G) + i / 2 * 2 + 1];
    R x = s[i];

    if (i % 2 == 1)
      x = real_fma (real_neg (table[6 * (i / 2) + 5]), s[i - 1], x);
    if (group * G + i / 2 < args.n_sections)
      state[i] = finite ? real_to_double (real_mul (x, scale)) : 0.0;
  }
}

/* The arithmetic's faster form of recursion is worth its code. */
TFX_DEVICE_FN bool
real_has_normalised (double)
{
  return true;
}

TFX_DEVICE_FN bool
real_has_normalised (Twofold)
{
  return false;
}

/* How many frames of the lane's segment lie behind the end of the channel, if
 * it is the last that has any. */
TFX_DEVICE_FN unsigned
cascade_padding (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned lane)
{
  unsigned n_frames = tile.n_frames;

  if (lane != (n_frames - 1) >> args.segment_log2)
    return 0;
  return ((lane + 1) << args.segment_log2) - n_frames;
}

/* One group of sections over a tile.  stash is this thread's place for 2 G
 * numbers, TFX_WARP apart. */
template <typename W, typename R, int G>
TFX_DEVICE_FN void
cascade_group (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned group, unsigned epoch, W *samples, R *stash)
{
  const R *table = (const R *)args.tables + (size_t)group * TFX_TABLE_SIZE (G);
  unsigned m_log2 = args.segment_log2, n_lanes = 1u << args.lanes_log2;
  unsigned lane = threadIdx.x & (n_lanes - 1);
  unsigned in_tile = threadIdx.x >> args.lanes_log2;
  W *segment = samples + in_tile * args.pitch + lane * ((1u << m_log2) + 1);
  R s[2 * G];

  {
    int skip = (int)cascade_padding (args, tile, lane);
    R e[2 * G];

    cascade_drive<W, R, G> (segment, table, m_log2, skip, e);
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      stash[i * TFX_WARP] = e[i];
  }
  __syncwarp ();

#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    real_set (0.0f, &s[i]);
  if (args.n_tiles == 1 && lane == 0 && in_tile < tile.n_channels)
    state_load<R, G> (args, table, tile.channel + in_tile, group, s);

    /* At rest first, for those that wait, then from the true state. */
#pragma unroll 1
  for (int turn = args.n_tiles > 1 ? 0 : 1; turn < 2; turn++) {
    unsigned offset = TFX_TABLE_POWERS (G);
    R v[2 * G];

    TFX_OPAQUE (offset);
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      v[i] = stash[i * TFX_WARP];
    scan_lanes<R, G> (table + offset, m_log2, n_lanes, lane, 0, false, v, s);
    if (turn == 0 && in_tile < tile.n_channels) {
      unsigned channel = tile.channel + in_tile;
      Carry carry = carry_of<G> (args, channel, group, epoch);

      if (lane == 31 && tile.index + 1 < args.n_tiles &&
          !carry_publish<R, G> (carry_slot<G> (carry.tiles, tile.index),
              carry.epoch, v))
        args.cleared[channel] = 1;
      carry_look_back<R, G> (args, carry, table, channel, group, tile.index,
          lane, s);
    }
  }

  if (tile.index + 1 == args.n_tiles) {
    R end[2 * G];

#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      end[i] = s[i];
    cascade_end<R, G> (table, m_log2, tile.n_frames, stash, end);
    if (lane == (tile.n_frames - 1) >> m_log2 && in_tile < tile.n_channels)
      state_store<R, G> (args, table, tile.channel + in_tile, group, end);
  }
#pragma unroll
  for (int k = 0; k < G; k++)
    s[2 * k + 1] =
        real_fma (real_neg (table[6 * k + 5]), s[2 * k], s[2 * k + 1]);
  if (real_has_normalised (R ()) && args.normalised)
    cascade_filter<W, R, G, true> (segment, table, m_log2, s);
  else
    cascade_filter<W, R, G, false> (segment, table, m_log2, s);
}

/* Finds the block's next piece of work; by one thread. */
TFX_DEVICE_FN void
cascade_next (const TfxCascadeArgs &args, volatile Tile *tile)
{
  unsigned tile_log2 = args.segment_log2 + args.lanes_log2;
  unsigned per_block = blockDim.x >> args.lanes_log2;
  unsigned ticket =
      args.n_tiles > 1 ? atomicAdd (args.control, 1u) : blockIdx.x;
  unsigned index = ticket / args.n_blocks;
  unsigned channel = ticket % args.n_blocks * per_block;
  unsigned long long frame = (unsigned long long)index << tile_log2;
  unsigned long long n_frames = args.n_frames - frame;
  unsigned n_channels = args.n_channels - channel;

  tile->index = index < args.n_tiles ? index : args.n_tiles;
  tile->channel = channel;
  tile->n_channels = n_channels < per_block ? n_channels : per_block;
  tile->n_frames =
      n_frames < 1u << tile_log2 ? (unsigned)n_frames : 1u << tile_log2;
  tile->frame = frame;
}

/* W: the type of the samples in shared memory, float if what comes in and goes
 * out is; R: of the arithmetic; G: sections in a group. */
template <typename W, typename R, int G>
TFX_DEVICE_FN void
cascade_run (const TfxCascadeArgs &args, unsigned char *shared)
{
  volatile Tile *tile = (volatile Tile *)shared;
  R *stash = (R *)(shared + sizeof (Tile)) +
             threadIdx.x / TFX_WARP * TFX_WARP * 2 * G + threadIdx.x % TFX_WARP;
  W *samples = (W *)((R *)(shared + sizeof (Tile)) + 2 * G * blockDim.x);
  unsigned epoch = 0;

  if (args.n_tiles > 1)
    epoch = args.control[2] + 1;
  for (;;) {
    if (threadIdx.x == 0)
      cascade_next (args, tile);
    __syncthreads ();
    if (tile->index == args.n_tiles)
      break;
    cascade_load_any (args, *tile, samples);
    __syncthreads ();
#pragma unroll 1
    for (unsigned group = 0; group < args.n_groups; group++)
      cascade_group<W, R, G> (args, *tile, group, epoch, samples, stash);
    __syncthreads ();
    cascade_store_any (args, *tile, samples);
    if (args.n_tiles == 1)
      return;
    /* Nobody takes the next tile while another still reads this one. */
    __syncthreads ();
  }

  /* The last block to finish makes ready for the next launch. */
  if (threadIdx.x == 0) {
    __threadfence ();
    if (atomicAdd (args.control + 1, 1u) == gridDim.x - 1) {
      args.control[0] = 0;
      args.control[1] = 0;
      args.control[2] = epoch == 0x7fffffff ? 0 : epoch;
    }
  }
}

#endif
