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

/* Rows [FIRST, FIRST + N) of the control matrix times the samples of two
 * halves of a round, that begins at sample `begin`.  The rows for a half are
 * the last ones. */
template <int FIRST, int N, typename W, typename R, int G>
TFX_DEVICE_FN void
drive_rows (const W *begin, const R *control, int half, R (&early)[2 * G],
    R (&late)[2 * G])
{
  const W *sample = begin - (TFX_CONTROL_ROWS - half);

#pragma unroll
  for (int row = FIRST; row < FIRST + N; row++) {
    W x = sample[row], y = sample[row + half];

#pragma unroll
    for (int k = 0; k < G; k++) {
      Pair<R> c = ((const Pair<R> *)(control + row * 2 * G))[k];

      early[2 * k] = real_fma (c.a, x, early[2 * k]);
      early[2 * k + 1] = real_fma (c.b, x, early[2 * k + 1]);
      late[2 * k] = real_fma (c.a, y, late[2 * k]);
      late[2 * k + 1] = real_fma (c.b, y, late[2 * k + 1]);
    }
  }
}

/* Step 1, in rounds of up to 64 samples.  Two halves of a round are taken at
 * once, so that a number of the table serves two samples. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_drive (const W *segment, const Table<R, G, FIXED> &table,
    unsigned m_log2, R (&e)[2 * G])
{
  unsigned half_log2 = m_log2 <= 6 ? m_log2 - 1 : 5;
  const R *control = table_head (table) + TFX_TABLE_CONTROL (G);
  int half = 1 << half_log2;

#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    real_set (0.0f, &e[i]);
#pragma unroll 1
  for (int n = 0; n < 1 << m_log2; n += 2 * half) {
    const W *begin = segment + n;
    unsigned unhoisted = half_log2;
    R early[2 * G];

    TFX_OPAQUE (unhoisted);
    /* What came before, at the end of this round. */
    if (n > 0)
      power_apply_in_place<R, G> (table_half (table, unhoisted, 1), e);
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      real_set (0.0f, &early[i]);
    if (FIXED && TFX_INDEXED_OPERANDS) {
#pragma unroll 1
      for (int row = TFX_CONTROL_ROWS - half; row < TFX_CONTROL_ROWS; row += 4)
        drive_rows<0, 4, W, R, G> (begin + row, control + row * 2 * G, half,
            early, e);
    } else if (FIXED) {
      if (half == 32)
        drive_rows<0, 16, W, R, G> (begin, control, half, early, e);
      if (half >= 16)
        drive_rows<16, 8, W, R, G> (begin, control, half, early, e);
      if (half >= 8)
        drive_rows<24, 4, W, R, G> (begin, control, half, early, e);
      drive_rows<28, 4, W, R, G> (begin, control, half, early, e);
    } else {
#pragma unroll 1
      for (int row = TFX_CONTROL_ROWS - half; row < TFX_CONTROL_ROWS; row++)
        drive_rows<0, 1, W, R, G> (begin + row, control + row * 2 * G, half,
            early, e);
    }
    power_apply<R, G> (table_half (table, unhoisted, 0), early, e);
  }
}

/* CASCADE_RUN samples through one section, in place.  The past stands in s1 and
 * s2, which in transposed direct form II are what it adds to the next two
 * outputs; between them the output follows from the samples before it. */
template <typename R, bool NORMALISED>
TFX_DEVICE_FN void
section_run (const R *section, R (&x)[CASCADE_RUN], R &s1, R &s2)
{
  Pair<R> b = ((const Pair<R> *)section)[0];
  Pair<R> a = ((const Pair<R> *)section)[1];
  R b0 = section[4], b1 = b.a, b2 = b.b;
  R a1 = real_neg (a.a), a2 = real_neg (a.b);
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

template <typename R, int G>
TFX_DEVICE_FN void
state_store (const TfxCascadeArgs &args, const R *head, unsigned channel,
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
    R scale = head[TFX_TABLE_SCALE (G) + i / 2 * 2 + 1];
    if (group * G + i / 2 < args.n_sections)
      state[i] = finite ? real_to_double (real_mul (s[i], scale)) : 0.0;
  }
}

/* The state of a channel at the end of the launch: what is in s goes on over the
 * n samples at `rest`, less than CASCADE_RUN. */
template <typename W, typename R, int G>
TFX_DEVICE_FN void
cascade_end (const W *rest, const R *head, unsigned n, R (&s)[2 * G])
{
#pragma unroll 1
  for (unsigned i = 0; i < n; i++) {
    R x;

    real_set (rest[i], &x);
#pragma unroll
    for (int k = 0; k < G; k++) {
      const R *c = head + 6 * k;
      R y = real_fma (c[4], x, s[2 * k]);

      s[2 * k] =
          real_fma (c[0], x, real_fma (real_neg (c[2]), y, s[2 * k + 1]));
      s[2 * k + 1] = real_fma (c[1], x, real_mul (real_neg (c[3]), y));
      x = y;
    }
  }
}

/* Step 3, over the thread's segment in shared memory, from s, the plain s1 and
 * s2. */
template <typename W, typename R, int G, bool NORMALISED>
TFX_DEVICE_FN void
cascade_filter (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *segment, const R *head, unsigned group, R (&s)[2 * G])
{
  unsigned last = tile.n_frames - 1, end_at = ~0u;
  R gain = head[TFX_TABLE_GAIN (G)];

  /* Where the channel's last run of samples begins that is not whole. */
  if (tile.index + 1 == args.n_tiles)
    end_at =
        ((last & ((1u << args.segment_log2) - 1)) + 1) & ~(CASCADE_RUN - 1u);
#pragma unroll 1
  for (unsigned n = 0;; n += CASCADE_RUN) {
    R x[CASCADE_RUN];

    if (n == end_at) {
      unsigned in_tile = threadIdx.x >> args.lanes_log2;
      unsigned lane = threadIdx.x & ((1u << args.lanes_log2) - 1);
      R end[2 * G];

      last = tile.n_frames - 1;
#pragma unroll
      for (int i = 0; i < 2 * G; i++)
        end[i] = s[i];
      cascade_end<W, R, G> (segment + n, head, (last + 1) & (CASCADE_RUN - 1),
          end);
      if (lane == last >> args.segment_log2 && in_tile < tile.n_channels)
        state_store<R, G> (args, head, tile.channel + in_tile, group, end);
    }
    if (n >> args.segment_log2)
      break;
#pragma unroll
    for (int i = 0; i < CASCADE_RUN; i++)
      real_set (segment[n + i], &x[i]);
#pragma unroll
    for (int k = 0; k < G; k++)
      section_run<R, NORMALISED> (head + 6 * k, x, s[2 * k], s[2 * k + 1]);
#pragma unroll
    for (int i = 0; i < CASCADE_RUN; i++)
      real_get (real_mul (gain, x[i]), &segment[n + i]);
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

/* One group of sections over a tile.  stash is this thread's place for 2 G
 * numbers, TFX_WARP apart. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_group (const TfxCascadeArgs &args, const volatile Tile &tile,
    const Table<R, G, FIXED> &table, unsigned group, W *samples, R *stash)
{
  const R *head = table_head (table);
  unsigned m_log2 = args.segment_log2, n_lanes = 1u << args.lanes_log2;
  unsigned lane = threadIdx.x & (n_lanes - 1);
  unsigned in_tile = threadIdx.x >> args.lanes_log2;
  W *segment = samples + in_tile * args.pitch + lane * ((1u << m_log2) + 1);
  R s[2 * G];

  {
    R e[2 * G];

    cascade_drive<W, R, G, FIXED> (segment, table, m_log2, e);
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      stash[i * TFX_WARP] = e[i];
  }
  __syncwarp ();

#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    real_set (0.0f, &s[i]);
  if (args.n_tiles == 1 && lane == 0 && in_tile < tile.n_channels)
    state_load<R, G> (args, head, tile.channel + in_tile, group, s);

    /* At rest first, for those that wait, then from the true state. */
#pragma unroll 1
  for (int turn = args.n_tiles > 1 ? 0 : 1; turn < 2; turn++) {
    unsigned unhoisted = m_log2;
    R v[2 * G];

    TFX_OPAQUE (unhoisted);
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      v[i] = stash[i * TFX_WARP];
    scan_lanes<R, G, FIXED> (table_level (table, unhoisted), n_lanes, lane, 0,
        false, v, s);
    if (turn == 0 && in_tile < tile.n_channels) {
      unsigned channel = tile.channel + in_tile;
      Carry carry = carry_of<G> (args, channel, group, tile.epoch);

      if (lane == 31 && tile.index + 1 < args.n_tiles &&
          !carry_publish<R, G> (carry_slot<G> (carry.tiles, tile.index),
              carry.epoch, v))
        args.cleared[channel] = 1;
      carry_look_back<R, G, FIXED> (args, carry, table, channel, group,
          tile.index, lane, s);
    }
  }

  /* To the plain state, and on with it. */
#pragma unroll
  for (int k = 0; k < G; k++)
    s[2 * k + 1] =
        real_fma (real_neg (head[6 * k + 5]), s[2 * k], s[2 * k + 1]);
  if (real_has_normalised (R ()) && args.normalised)
    cascade_filter<W, R, G, true> (args, tile, segment, head, group, s);
  else
    cascade_filter<W, R, G, false> (args, tile, segment, head, group, s);
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
  /* Nobody writes it before the last block has ended. */
  if (args.n_tiles > 1)
    tile->epoch = args.control[2] + 1;
}

/* W: the type of the samples in shared memory, float if what comes in and goes
 * out is; R: of the arithmetic; G: sections in a group.  fixed: see table.h. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_run (const TfxCascadeArgs &args, const R *fixed, unsigned char *shared)
{
  volatile Tile *tile = (volatile Tile *)shared;
  R *stash = (R *)(shared + sizeof (Tile)) +
             threadIdx.x / TFX_WARP * TFX_WARP * 2 * G + threadIdx.x % TFX_WARP;
  W *samples = (W *)((R *)(shared + sizeof (Tile)) + 2 * G * blockDim.x);

  for (;;) {
    if (threadIdx.x == 0)
      cascade_next (args, tile);
    __syncthreads ();
    if (tile->index == args.n_tiles)
      break;
    cascade_load_any (args, *tile, samples);
    __syncthreads ();
#pragma unroll 1
    for (unsigned group = 0; group < (FIXED ? 1 : args.n_groups); group++) {
      const Table<R, G, FIXED> table = { fixed,
        (const R *)args.tables + (size_t)group * TFX_TABLE_SIZE (G) };

      cascade_group<W, R, G, FIXED> (args, *tile, table, group, samples, stash);
    }
    __syncthreads ();
    cascade_store_any (args, *tile, samples);
    if (args.n_tiles == 1)
      return;
    /* Nobody takes the next tile while another still reads this one. */
    __syncthreads ();
  }

  /* The last block to finish makes ready for the next launch. */
  if (threadIdx.x == 0) {
    unsigned epoch = tile->epoch;

    __threadfence ();
    if (atomicAdd (args.control + 1, 1u) == gridDim.x - 1) {
      args.control[0] = 0;
      args.control[1] = 0;
      args.control[2] = epoch == 0x7fffffff ? 0 : epoch;
    }
  }
}

#endif
