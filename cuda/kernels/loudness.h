/* SPDX-License-Identifier: LGPL-2.1-or-later
 * loudness.h: a gain that follows the loudness of all channels (EBU R 128), one block
 * of threads, tile after tile.
 *
 * The sections of the weighting are a recursion s' = A s + B x over four numbers, which
 * composes: a thread computes what its run of frames leaves behind when it starts at
 * rest, a scan with powers of A gives the state at its start, and from that it filters
 * its run.  The squares of a cell are added up as those of a leveller.  Once a cell is
 * over one thread counts its blocks in classes, and all add up the classes that are
 * above the gate. */
#ifndef TFX_KERNEL_LOUDNESS_H
#define TFX_KERNEL_LOUDNESS_H

#include "gain.h"
#include "leveller-cells.h"

/* Of a tile: where what stands in the state. */
struct LoudnessState
{
  double *gain_db, *places, *steps, *channels;
};

enum
{
  LOUDNESS_IN_STEP,
  LOUDNESS_N_STEPS,
  LOUDNESS_N_SILENT,
  LOUDNESS_LARGEST,
  LOUDNESS_MOMENTARY,
  LOUDNESS_SHORT_TERM
};

/* Of a channel. */
enum
{
  LOUDNESS_WEIGHT,
  LOUDNESS_POWER,
  LOUDNESS_SECTIONS
};

#define LOUDNESS_LOWEST_LUFS -70.0
#define LOUDNESS_PER_LU 100.0
#define LOUDNESS_MOMENTARY_STEPS 4
/* Of less the logarithm is not asked for: it is far below any gate. */
#define LOUDNESS_LOWEST_POWER 1e-12
/* A mean of squares; what is more is damage. */
#define LOUDNESS_MOST_POWER 1e10
/* Silence of so much of a cell says that there is no programme. */
#define LOUDNESS_SILENT_PART 0.01
#define LOUDNESS_DB_PER_OCTAVE 3.0102999566398120
#define LOUDNESS_OCTAVES_PER_DB 0.16609640474436813

TFX_DEVICE_FN LoudnessState
loudness_state (double *state)
{
  LoudnessState s;

  s.gain_db = state + 3;
  s.places = s.gain_db + 1;
  s.steps = s.places + TFX_LOUD_PLACES;
  s.channels = s.steps + TFX_LOUD_STEPS;
  return s;
}

TFX_DEVICE_FN void
loudness_copy_state (const TfxLevellerArgs &args)
{
  const unsigned n = 3 + 1 + TFX_LOUD_PLACES + TFX_LOUD_STEPS +
                     args.n_channels * TFX_LOUD_CHANNEL;
  const unsigned n_classes =
      args.classes_out != nullptr ? 4 * TFX_LOUD_CLASSES : 0;

  for (unsigned i = threadIdx.x; i < n; i += TFX_UNIT_THREADS)
    args.state_out[i] = args.state_in[i];
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < n_classes; i += TFX_UNIT_THREADS)
    args.classes_out[i] = args.classes_in != nullptr ? args.classes_in[i] : 0.0;
  __syncthreads ();
}

/* ---- the weighting ----------------------------------------------------------------- */

/* y += power x. */
TFX_DEVICE_FN void
loudness_add_power (const double (&power)[4][4], const double (&x)[4],
    double (&y)[4])
{
#pragma unroll
  for (int i = 0; i < 4; i++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      y[i] = __fma_rn (power[i][k], x[k], y[i]);
  }
}

/* The output of both sections, and the state behind it. */
TFX_DEVICE_FN double
loudness_step (const TfxLevellerArgs &args, double x, double (&s)[4])
{
  const double *a = args.sections[0], *b = args.sections[1];
  double m = __fma_rn (a[0], x, s[0]), y = __fma_rn (b[0], m, s[2]);

  s[0] = __fma_rn (a[1], x, __fma_rn (-a[3], m, s[1]));
  s[1] = __fma_rn (a[2], x, __dmul_rn (-a[4], m));
  s[2] = __fma_rn (b[1], m, __fma_rn (-b[3], y, s[3]));
  s[3] = __fma_rn (b[2], m, __dmul_rn (-b[4], y));
  return y;
}

/* From what the thread's run leaves behind to the state at its start; begin[]: of the
 * tile; room: four numbers for each warp. */
TFX_DEVICE_FN void
loudness_scan (const TfxLevellerArgs &args, const double *begin, double *room,
    double (&s)[4])
{
  const unsigned lane = threadIdx.x % TFX_WARP, warp = threadIdx.x / TFX_WARP;
  double start[4];

#pragma unroll
  for (int i = 0; i < 5; i++) {
    double before[4], both[4];

#pragma unroll
    for (int k = 0; k < 4; k++) {
      before[k] = real_shuffle_up (s[k], 1u << i, TFX_WARP);
      both[k] = s[k];
    }
    loudness_add_power (args.powers[i], before, both);
#pragma unroll
    for (int k = 0; k < 4; k++)
      s[k] = lane >= 1u << i ? both[k] : s[k];
  }
#pragma unroll
  for (int k = 0; k < 4; k++) {
    if (lane == TFX_WARP - 1)
      room[4 * warp + k] = s[k];
    s[k] = real_shuffle_up (s[k], 1, TFX_WARP);
    s[k] = lane > 0 ? s[k] : 0.0;
    start[k] = begin[k];
  }
  __syncthreads ();
#pragma unroll 1
  for (unsigned w = 0; w < warp; w++) {
    double next[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
      next[k] = room[4 * w + k];
    loudness_add_power (args.powers[5], start, next);
#pragma unroll
    for (int k = 0; k < 4; k++)
      start[k] = next[k];
  }
#pragma unroll
  for (int i = 0; i < 5; i++) {
    double next[4] = { 0.0, 0.0, 0.0, 0.0 };

    loudness_add_power (args.powers[i], start, next);
#pragma unroll
    for (int k = 0; k < 4; k++)
      start[k] = lane >> i & 1 ? next[k] : start[k];
  }
#pragma unroll
  for (int k = 0; k < 4; k++)
    s[k] = __dadd_rn (s[k], start[k]);
}

/* Squares of the thread's run, weighted, and the state behind the tile's last frame. */
TFX_DEVICE_FN void
loudness_filter (const TfxLevellerArgs &args, const LevellerTile &tile,
    const double *x, double *sections, double *room, double *squares)
{
  const unsigned last = tile.n_frames - 1;
  double s[4] = { 0.0, 0.0, 0.0, 0.0 };

#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    loudness_step (args, x[i], s);
  /* Behind it all have read the state at the tile's start. */
  loudness_scan (args, sections, room, s);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    double y = loudness_step (args, x[i], s);

    squares[i] = __dmul_rn (y, y);
    if (threadIdx.x * TFX_UNIT_RUN + i == last) {
#pragma unroll
      for (int k = 0; k < 4; k++)
        sections[k] = s[k];
    }
  }
}

/* ---- a tile ----------------------------------------------------------------------- */

/* One channel: its squares to the powers of the parts.  Damage is not heard, and does
 * not stay.  The largest of its true peaks. */
TFX_DEVICE_FN double
loudness_hear_channel (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, double *channel, unsigned c, unsigned *sounds)
{
  const double weight = channel[LOUDNESS_WEIGHT];
  const double before = channel[LOUDNESS_POWER];
  const unsigned n_ends = tile.n_ends;
  const double most_power = __dmul_rn (LOUDNESS_MOST_POWER, args.n_cell);
  unsigned run = threadIdx.x * TFX_UNIT_RUN;
  double x[TFX_LEVELLER_PAST + TFX_UNIT_RUN], peaks[TFX_UNIT_RUN];
  double *powers = room.counts, *frames = room.frames + unit_place (run);
  double *sections = channel + LOUDNESS_SECTIONS, most = 0.0;

  leveller_load_line (args, tile, c, room.parts);
  __syncthreads ();
#pragma unroll
  for (int k = 0; k < TFX_LEVELLER_PAST + TFX_UNIT_RUN; k++)
    x[k] = room.parts[unit_place (run + k)];
  leveller_true_peaks (args, x, peaks);
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    most = run + i < tile.n_frames ? leveller_larger (most, peaks[i]) : most;
    *sounds |= x[TFX_LEVELLER_PAST + i] * x[TFX_LEVELLER_PAST + i] >
                       TFX_LEVELLER_SILENT_SQUARE
                   ? 1u << i
                   : 0;
  }
  loudness_filter (args, tile, x + TFX_LEVELLER_PAST, sections, room.few,
      frames);
  __syncthreads ();
  leveller_each_part<LEVELLER_SUM> (args, tile, room.frames,
      [=] (unsigned p, double v) {
        v = p > 0 ? v : __dadd_rn (before, v);
        if (!(v <= most_power)) {
          v = 0.0;
          for (int k = 0; k < 4; k++)
            sections[k] = 0.0;
        }
        if (p < n_ends)
          powers[p] = __fma_rn (weight, v, powers[p]);
        if (p + 1 == tile.n_parts)
          channel[LOUDNESS_POWER] = p < n_ends ? 0.0 : v;
      });
  __syncthreads ();
  return most;
}

/* The powers of the parts to room.counts, and the last frame of each that has sound,
 * counted from 1, to room.parts. */
TFX_DEVICE_FN double
loudness_hear (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, const LoudnessState &state, double most)
{
  double *parts = room.parts;
  unsigned run = threadIdx.x * TFX_UNIT_RUN, sounds = 0;

#pragma unroll 1
  for (unsigned p = threadIdx.x; p < tile.n_parts; p += TFX_UNIT_THREADS)
    room.counts[p] = 0.0;
#pragma unroll 1
  for (unsigned c = 0; c < args.n_channels; c++)
    most = leveller_larger (most,
        loudness_hear_channel (args, tile, room,
            state.channels + (size_t)c * TFX_LOUD_CHANNEL, c, &sounds));
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++)
    room.frames[unit_place (run + i)] = sounds >> i & 1 ? run + i + 1 : 0.0;
  __syncthreads ();
  leveller_each_part<LEVELLER_MAX> (args, tile, room.frames,
      [=] (unsigned p, double v) { parts[p] = v; });
  __syncthreads ();
  return most;
}

/* ---- the end of a cell ---------------------------------------------------------------- */

TFX_DEVICE_FN double
loudness_lufs (double power)
{
  return __fma_rn (LOUDNESS_DB_PER_OCTAVE, gain_log2 (power), -0.691);
}

TFX_DEVICE_FN void
loudness_count (double *classes, double power)
{
  double at;

  if (!(power > LOUDNESS_LOWEST_POWER))
    return;
  at = __dmul_rn (__dsub_rn (loudness_lufs (power), LOUDNESS_LOWEST_LUFS),
      LOUDNESS_PER_LU);
  if (!(at >= 0.0))
    return;
  classes += 2 * (at < TFX_LOUD_CLASSES ? (unsigned)at : TFX_LOUD_CLASSES - 1);
  classes[0] = __dadd_rn (classes[0], 1.0);
  classes[1] = __dadd_rn (classes[1], power);
}

/* Of the last n steps. */
TFX_DEVICE_FN double
loudness_mean (const LoudnessState &state, unsigned n_steps, unsigned n)
{
  double sum = 0.0;

#pragma unroll 1
  for (unsigned i = 1; i <= n; i++)
    sum = __dadd_rn (sum, state.steps[(n_steps - i) % TFX_LOUD_STEPS]);
  return sum / (double)n;
}

/* By one thread: the step is over. */
TFX_DEVICE_FN void
loudness_end_step (const TfxLevellerArgs &args, const LoudnessState &state,
    double power)
{
  double *places = state.places;
  /* A whole number; so many steps are enough for ten years. */
  unsigned n = (unsigned)places[LOUDNESS_N_STEPS];

  state.steps[n % TFX_LOUD_STEPS] = power / (double)args.n_cell;
  n++;
  places[LOUDNESS_N_STEPS] = n;
  if (n >= LOUDNESS_MOMENTARY_STEPS) {
    power = loudness_mean (state, n, LOUDNESS_MOMENTARY_STEPS);
    loudness_count (args.classes_out, power);
    places[LOUDNESS_MOMENTARY] =
        leveller_larger (places[LOUDNESS_MOMENTARY], power);
  }
  if (n >= TFX_LOUD_STEPS) {
    power = loudness_mean (state, n, TFX_LOUD_STEPS);
    loudness_count (args.classes_out + 2 * TFX_LOUD_CLASSES, power);
    places[LOUDNESS_SHORT_TERM] =
        leveller_larger (places[LOUDNESS_SHORT_TERM], power);
  }
}

/* The mean of the blocks from a class on; n: how many. */
TFX_DEVICE_FN double
loudness_mean_from (const double *classes, unsigned from, double *room,
    double *n)
{
  const unsigned n_warps = TFX_UNIT_THREADS / TFX_WARP;
  double power = 0.0;

  *n = 0.0;
#pragma unroll 4
  for (unsigned i = from + threadIdx.x; i < TFX_LOUD_CLASSES;
       i += TFX_UNIT_THREADS) {
    *n = __dadd_rn (*n, classes[2 * i]);
    power = __dadd_rn (power, classes[2 * i + 1]);
  }
  *n = leveller_over_threads<false> (*n, room);
  power = leveller_over_threads<false> (power, room + n_warps);
  return *n > 0.0 ? power / *n : 0.0;
}

/* Of all blocks above the gate, in LUFS; false: there are none. */
TFX_DEVICE_FN bool
loudness_integrated (const TfxLevellerArgs &args, double *room, double *lufs)
{
  const unsigned n_warps = TFX_UNIT_THREADS / TFX_WARP;
  double n, mean = loudness_mean_from (args.classes_out, 0, room, &n), at;

  if (n == 0.0)
    return false;
  at = __dmul_rn (__dsub_rn (__dsub_rn (loudness_lufs (mean), 10.0),
                      LOUDNESS_LOWEST_LUFS),
      LOUDNESS_PER_LU);
  /* The last class has what is louder than any, be the gate among that. */
  at = at < TFX_LOUD_CLASSES - 1 ? at : TFX_LOUD_CLASSES - 1;
  mean = loudness_mean_from (args.classes_out,
      at > 0.0 ? (unsigned)__dadd_rn (at, 0.5) : 0, room + 2 * n_warps, &n);
  if (n == 0.0)
    return false;
  *lufs = loudness_lufs (mean);
  return true;
}

/* A step goes as far as it may; before the first sample comes out, all the way. */
TFX_DEVICE_FN double
loudness_go (const TfxLevellerArgs &args, double gain_db, double lufs,
    bool has_begun)
{
  double go = __dsub_rn (args.target, lufs);

  go = __dsub_rn (go < args.max_gain ? go : args.max_gain, gain_db);
  if (has_begun) {
    go = go < args.step ? go : args.step;
    go = go > -args.step ? go : -args.step;
  }
  return __dadd_rn (gain_db, go);
}

/* Part p of the tile is a cell that is over. */
TFX_DEVICE_FN void
loudness_end_cell (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, const LoudnessState &state, unsigned p,
    unsigned long long n_over)
{
  double lufs = 0.0, gain_db, silent;

  __syncthreads ();
  if (threadIdx.x == 0) {
    unsigned end = (p + 1) * args.n_cell - tile.in_cell;

    state.places[LOUDNESS_N_SILENT] =
        room.parts[p] > 0.0 ? (double)end - room.parts[p]
                            : __dadd_rn (state.places[LOUDNESS_N_SILENT],
                                  (double)(p > 0 ? args.n_cell : end));
    loudness_end_step (args, state, room.counts[p]);
  }
  __syncthreads ();
  silent = state.places[LOUDNESS_N_SILENT];
  gain_db = *state.gain_db;
  if (args.delay == 0)
    return;
  if (loudness_integrated (args, room.few, &lufs) &&
      silent < LOUDNESS_SILENT_PART * (double)args.n_cell)
    gain_db = loudness_go (args, gain_db, lufs, n_over + p + 1 > args.n_ahead);
  if (threadIdx.x == 0) {
    *state.gain_db = gain_db;
    room.frames[p + 2] =
        gain_exp2 (__dmul_rn (gain_db, LOUDNESS_OCTAVES_PER_DB));
  }
}

/* Frames of silence at the end of the tile, behind its last cell. */
TFX_DEVICE_FN void
loudness_end_tile (const TfxLevellerArgs &args, const LevellerTile &tile,
    const LevellerRoom &room, const LoudnessState &state)
{
  unsigned p = tile.n_ends;
  unsigned from = p > 0 ? p * args.n_cell - tile.in_cell : 0;

  if (threadIdx.x != 0)
    return;
  state.places[LOUDNESS_IN_STEP] =
      (double)((tile.in_cell + tile.n_frames) % args.n_cell);
  if (p == tile.n_parts)
    return;
  state.places[LOUDNESS_N_SILENT] =
      room.parts[p] > 0.0 ? (double)tile.n_frames - room.parts[p]
                          : __dadd_rn (state.places[LOUDNESS_N_SILENT],
                                (double)(tile.n_frames - from));
}

TFX_DEVICE_FN void
loudness_run (const TfxLevellerArgs &args, unsigned char *shared)
{
  const unsigned n_warps = TFX_UNIT_THREADS / TFX_WARP;
  LevellerRoom room = leveller_room (shared);
  LoudnessState state = loudness_state (args.state_out);
  unsigned long long n_over = args.n_over;
  unsigned in_cell = args.in_cell;
  double most = 0.0;

  loudness_copy_state (args);
#pragma unroll 1
  for (long long first = 0; first < (long long)args.n_frames;
       first += TFX_UNIT_TILE) {
    LevellerTile tile = leveller_tile (args, first, in_cell);

    most = loudness_hear (args, tile, room, state, most);
    if (threadIdx.x < 2)
      room.frames[threadIdx.x] = args.state_out[threadIdx.x];
#pragma unroll 1
    for (unsigned p = 0; p < tile.n_ends; p++)
      loudness_end_cell (args, tile, room, state, p, n_over);
    __syncthreads ();
    loudness_end_tile (args, tile, room, state);
    leveller_apply (args, tile, room.frames);
    if (args.delay > 0)
      leveller_keep_gains (args, tile, room.frames, n_over);
    n_over += tile.n_ends;
    in_cell = (in_cell + tile.n_frames) % args.n_cell;
    __syncthreads ();
  }
  most = leveller_over_threads<true> (most, room.few + 5 * n_warps);
  if (threadIdx.x == 0)
    state.places[LOUDNESS_LARGEST] =
        leveller_larger (state.places[LOUDNESS_LARGEST], most);
}

#endif
