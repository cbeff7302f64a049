/* SPDX-License-Identifier: LGPL-2.1-or-later
 * agc.c: automatic gain control: gains of blocks, found before the output: Normalize,
 * Loudness, and limiters of true peaks.  See TfxAgc. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/block.h"
#include "core/positions.h"
#include "loudness.h"
#include "unit.h"

/* The parameters. */
enum
{
  TARGET_DB,
  MAX_GAIN_DB,
  RELEASE,
  STEP_DB
};

static const TfxField fields[] = {
  TFX_PARAM (agc.target_db, -400, 400),
  TFX_PARAM (agc.max_gain_db, 0, 400),
  TFX_PARAM (agc.release, 0, TFX_BELOW_1),
  TFX_PARAM (agc.step_db, 0, INFINITY),
  TFX_BOOL (agc.is_linked),
  TFX_SIZE (agc.n_block, 1, TFX_AGC_MAX_BLOCK),
  TFX_SIZE (agc.n_ahead, 0, TFX_AGC_MAX_BLOCKS),
  TFX_SIZE (agc.n_smooth, 0, TFX_AGC_MAX_BLOCKS),
  TFX_SIZE (agc.n_window, 0, TFX_AGC_MAX_BLOCKS),
};

static bool
agc_is_valid (const TfxStage *stage)
{
  const TfxAgc *l = &stage->u.agc;

  return (l->n_ahead == 0 || (l->n_smooth >= 1 && l->n_smooth < l->n_ahead &&
                                 l->n_ahead <= l->n_window)) &&
         tfx_sos_is_stable (&l->weighting[0]) &&
         tfx_sos_is_stable (&l->weighting[1]);
}

TfxStage *
tfx_stage_new_agc (uint64_t id, const TfxAgc *agc)
{
  const TfxStage values = { .id = id, .kind = &tfx_kind_agc, .u.agc = *agc };

  return tfx_stage_new_like (&values);
}

static bool
agc_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const TfxAgc *s = &a->u.agc, *t = &b->u.agc;

  return s->measure == t->measure && s->positions == t->positions &&
         memcmp (s->weighting, t->weighting, sizeof s->weighting) == 0;
}

/* Not zero: the unit has state, which only its own functions read. */
static size_t
agc_state_size (const TfxStage *stage)
{
  return 1;
}

static size_t
agc_latency (const TfxStage *stage)
{
  return stage->u.agc.n_ahead * stage->u.agc.n_block;
}

static double
agc_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[][4] = {
    [TFX_AGC_PEAK] = { 3.7, 0.6, 0.6, 0.6 },
    [TFX_AGC_TRUE_PEAK] = { 15.0, 4.4, 3.6, 2.7 },
    [TFX_AGC_RMS] = { 3.7, 1.8, 1.4, 1.0 },
    [TFX_AGC_LOUDNESS] = { 17.0, 4.6, 3.2, 2.2 },
  };

  return tfx_unit_cost (costs[stage->u.agc.measure], spec);
}

/* ---- the unit ------------------------------------------------------------------- */

/* The maximum or the sum of the last n rows of n_levels numbers.  Rows are counted in turns
 * of n: rest has the suffix results of the last turn, begun the result of this one so far
 * (van Herk; Gil and Werman). */
typedef struct Window
{
  size_t n;
  bool is_sum;
  double *ring;  /* [n][n_levels] */
  double *rest;  /* [n + 1][n_levels]; the last row is 0 */
  double *begun; /* [n_levels] */
} Window;

typedef struct Unit
{
  TfxUnit unit;
  TfxAgc setting;
  unsigned n_levels;
  size_t delay;
  double headroom; /* for the rounding of the output */
  double target, max_gain, release;
  double lowest; /* gain since the last read; INFINITY: none */
  /* [n_frames][n_measured]: those without keys, for one gain of all. */
  unsigned n_measured;
  double *measured;

  size_t in_block, at; /* frames of the block; the oldest frame of the past */
  size_t n_blocks;
  double gain_db;
  double *from, *to; /* [n_levels]: the gains at both ends of a block */
  bool is_at_rest;

  TfxLoudness *loudness; /* NULL: all but loudness */
  TfxLoudnessValues
      last;       /* those before the last reset, until there is input */
  size_t n_quiet; /* frames since the last input that is not 0 */

  /* Without loudness.  [n_levels]: of this block the largest magnitude or, with sums, the
   * sum of squares, and their number; the last gains needed and held. */
  double *most, *n, *asked, *held;
  double *sums;                   /* [TFX_DYNAMICS_ROWS][n_levels] */
  Window measures, counts, gains; /* of the last blocks; gains: those held */
  TfxPeakLine line;               /* of true peaks alone */
  double *squares;    /* of a part, [n_frames][n_levels]; for the RMS alone */
  const double *next; /* magnitudes or squares from the next frame on */

  double *past;   /* [delay][n_channels] */
  size_t n_state; /* numbers from past on that are 0 at rest */
} Unit;

static double
from_db (double db)
{
  return pow (10.0, db / 20.0);
}

static void
take_params (Unit *u)
{
  const double *n = u->unit.params.now;

  u->target = from_db (n[TARGET_DB]) * u->headroom;
  u->max_gain = from_db (n[MAX_GAIN_DB]);
  u->release = n[RELEASE];
}

/* Aims a little lower, so that rounding lets no sample exceed the target.  (A mean of n
 * gains may exceed them by n roundings.) */
static void
unit_set_sample (void *data, TfxSample sample)
{
  Unit *u = data;

  u->headroom =
      1.0 - (sample == TFX_SAMPLE_F64
                    ? (4.0 + (double)u->setting.n_smooth) * DBL_EPSILON
                    : FLT_EPSILON);
  take_params (u);
}

/* ---- life ------------------------------------------------------------------------ */

static void
unit_free (void *data)
{
  Unit *u = data;

  tfx_loudness_free (&u->loudness);
  tfx_peak_line_clear (&u->line);
  tfx_unit_free (u);
}

static void
lay_out_window (Window *w, size_t n, bool is_sum, unsigned n_levels,
    TfxRoom *room)
{
  w->n = n;
  w->is_sum = is_sum;
  w->ring = tfx_room_take (room, 0, n * n_levels);
  w->rest = tfx_room_take (room, 0, (n + 1) * n_levels);
  w->begun = tfx_room_take (room, 0, n_levels);
}

static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  const TfxAgc *l = &stage->u.agc;
  Unit *u = data;
  const unsigned n_channels = u->unit.n_channels;
  const bool has_loudness = l->measure == TFX_AGC_LOUDNESS;
  const unsigned n = l->is_linked || has_loudness ? 1 : n_channels;
  const size_t part = u->unit.part_frames;
  size_t first;

  u->setting = *l;
  u->n_levels = n;
  u->n_measured = n_channels;
  if (n == 1 && tfx_positions_n_keys (l->positions) < n_channels)
    u->n_measured -= tfx_positions_n_keys (l->positions);
  u->delay = l->n_ahead * l->n_block;
  u->unit.samples = tfx_room_take (room, 0, part * n_channels);
  u->measured = u->unit.samples;
  if (u->n_measured < n_channels)
    u->measured = tfx_room_take (room, 0, part * n_channels);
  u->from = tfx_room_take (room, 0, n);
  u->to = tfx_room_take (room, 0, n);
  u->asked = tfx_room_take (room, 0, n);
  u->held = tfx_room_take (room, 0, n);
  u->squares =
      tfx_room_take (room, 0, l->measure == TFX_AGC_RMS ? part * n : 0);
  first = room->n;
  u->past = tfx_room_take (room, 0, u->delay * n_channels);
  u->most = tfx_room_take (room, 0, n);
  u->n = tfx_room_take (room, 0, n);
  u->sums = tfx_room_take (room, 0, TFX_DYNAMICS_ROWS * n);
  if (!has_loudness) {
    lay_out_window (&u->measures, l->n_window, l->measure == TFX_AGC_RMS, n,
        room);
    lay_out_window (&u->counts, l->n_window, true, n, room);
    lay_out_window (&u->gains, l->n_smooth, true, n, room);
  }
  u->n_state = room->n - first;
}

static void
go_to_rest (Unit *u)
{
  u->in_block = u->at = u->n_blocks = 0;
  u->gain_db = 0.0;
  u->is_at_rest = true;
  memset (u->past, 0, u->n_state * sizeof *u->past);
  for (unsigned k = 0; k < u->n_levels; k++)
    u->from[k] = u->to[k] = u->asked[k] = u->held[k] = 1.0;
  if (u->loudness)
    tfx_loudness_reset (u->loudness);
  if (u->setting.measure == TFX_AGC_TRUE_PEAK)
    tfx_peak_line_reset (&u->line);
}

static void run_part (void *data, size_t n_frames, TfxSample type);

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const TfxAgc *l = &stage->u.agc;
  TfxLoudnessSpec loudness = { 0, tfx_positions_named (l->positions),
    { l->weighting[0], l->weighting[1] }, l->n_block };
  Unit *u = tfx_unit_new (sizeof *u, stage, spec, lay_out);
  int ret = 0;

  if (!u)
    return -ENOMEM;
  loudness.n_channels = u->n_measured;
  if (l->measure == TFX_AGC_LOUDNESS)
    ret = tfx_loudness_new (&loudness, u->unit.kernels, u->unit.part_frames,
        &u->loudness);
  else if (l->measure == TFX_AGC_TRUE_PEAK)
    ret = tfx_peak_line_init (&u->line, u->unit.kernels, u->n_measured,
        u->unit.part_frames);
  if (ret < 0) {
    unit_free (u);
    return ret;
  }
  u->lowest = INFINITY;
  u->unit.run_part = run_part;
  unit_set_sample (u, spec->sample);
  go_to_rest (u);
  if (u->loudness)
    u->last = tfx_loudness_read (u->loudness);
  *unit = u;
  return 0;
}

/* ---- measures --------------------------------------------------------------------- */

#define INLINE static inline __attribute__ ((always_inline))

INLINE double
join (double a, double b, const bool is_sum)
{
  return is_sum ? a + b : a > b ? a : b;
}

INLINE void
put (Window *w, size_t at, const double *row, double *all, unsigned n_levels,
    const bool is_sum)
{
  double *ring = w->ring + at * n_levels, *begun = w->begun;
  const double *rest = w->rest + (at + 1) * n_levels;

  for (unsigned k = 0; k < n_levels; k++) {
    ring[k] = row[k];
    begun[k] = join (begun[k], row[k], is_sum);
    all[k] = join (rest[k], begun[k], is_sum);
  }
  if (at + 1 < w->n)
    return;
  for (size_t i = w->n * n_levels; i-- > 0;)
    w->rest[i] = join (w->rest[i + n_levels], w->ring[i], is_sum);
  memset (begun, 0, n_levels * sizeof *begun);
}

/* Adds row number n_blocks; all[n_levels] = the result of the last n rows. */
static void
window_put (Window *w, size_t n_blocks, const double *row, double *all,
    unsigned n_levels)
{
  if (w->is_sum)
    put (w, n_blocks % w->n, row, all, n_levels, true);
  else
    put (w, n_blocks % w->n, row, all, n_levels, false);
}

/* squares[n] = the sum of the squares of width channels, or 0 for silence. */
static void
find_squares (double *restrict squares, const double *restrict samples,
    size_t n, unsigned width)
{
  for (size_t i = 0; i < n; i++, samples += width) {
    double sum = samples[0] * samples[0];

    for (unsigned m = 1; m < width; m++)
      sum += samples[m] * samples[m];
    squares[i] = sum > TFX_AGC_SILENT ? sum : 0.0;
  }
}

/* Prepares the part for measure(). */
static void
load_part (Unit *u, size_t n_frames)
{
  const unsigned width = u->n_measured / u->n_levels;

  u->next = u->measured;
  if (u->setting.measure == TFX_AGC_TRUE_PEAK)
    u->next = tfx_peak_line_find (&u->line, u->measured, n_frames, NULL);
  if (u->setting.measure != TFX_AGC_RMS)
    return;
  if (width == 1)
    find_squares (u->squares, u->measured, n_frames * u->n_levels, 1);
  else
    find_squares (u->squares, u->measured, n_frames, width);
  u->next = u->squares;
}

/* Measures the next n_frames of the part, which are in one block.  Adds each square to the
 * row of its frame's number, so that the split of the stream does not matter. */
static void
measure (Unit *u, size_t n_frames)
{
  const unsigned n = u->n_levels, width = u->n_measured / n;

  if (u->setting.measure != TFX_AGC_RMS) {
    u->unit.kernels->find_most (u->next, n_frames * width, n, u->most);
    u->next += n_frames * u->n_measured;
    return;
  }
  u->unit.kernels->add_up (u->next, n_frames, n, u->in_block, u->sums);
  for (unsigned k = 0; k < n; k++) {
    size_t n_loud = 0;

    for (size_t i = 0; i < n_frames; i++)
      n_loud += u->next[i * n + k] > 0.0;
    u->n[k] += (double)width * (double)n_loud;
  }
  u->next += n_frames * n;
}

/* Ends the block: `most` becomes the measure of the window, 0 for silence. */
static void
end_measure (Unit *u)
{
  const unsigned n = u->n_levels;

  if (u->setting.measure != TFX_AGC_RMS) {
    window_put (&u->measures, u->n_blocks, u->most, u->most, n);
    return;
  }
  for (unsigned i = 0; i < TFX_DYNAMICS_ROWS; i++) {
    for (unsigned k = 0; k < n; k++)
      u->most[k] += u->sums[i * n + k];
  }
  memset (u->sums, 0, TFX_DYNAMICS_ROWS * n * sizeof *u->sums);
  window_put (&u->measures, u->n_blocks, u->most, u->most, n);
  window_put (&u->counts, u->n_blocks, u->n, u->n, n);
  for (unsigned k = 0; k < n; k++)
    u->most[k] = u->n[k] > 0.0 ? sqrt (u->most[k] / u->n[k]) : 0.0;
}

/* ---- gains ------------------------------------------------------------------------- */

static double
lower (double a, double b)
{
  return a < b ? a : b;
}

/* The gains of the window, held and smoothed. */
static void
find_gains (Unit *u)
{
  const double n_smooth =
      (double)(u->n_blocks < u->gains.n ? u->n_blocks + 1 : u->gains.n);

  end_measure (u);
  for (unsigned k = 0; k < u->n_levels; k++) {
    const double found = u->most[k];

    /* Silence needs no gain, but none below the largest either. */
    if (found * found > TFX_AGC_SILENT)
      u->asked[k] = lower (u->max_gain, u->target / found);
    else if (u->max_gain <= 1.0)
      u->asked[k] = u->max_gain;
    u->held[k] = lower (u->asked[k],
        u->release * u->held[k] + (1.0 - u->release) * u->max_gain);
    u->most[k] = u->n[k] = 0.0;
  }
  window_put (&u->gains, u->n_blocks, u->held, u->to, u->n_levels);
  for (unsigned k = 0; k < u->n_levels; k++)
    u->to[k] /= n_smooth;
}

/* With this much silence in a block there is no programme. */
#define SILENT_PART 0.01

/* Moves the gain by at most a step; before the first output sample, all the way. */
static void
follow_loudness (Unit *u)
{
  const double *n = u->unit.params.now;
  const bool is_silent = (double)tfx_loudness_n_silent (u->loudness) >=
                         SILENT_PART * (double)u->setting.n_block;
  const double loudness =
      is_silent ? INFINITY : tfx_loudness_integrated (u->loudness);
  double go;

  if (isfinite (loudness)) {
    go = fmin (n[TARGET_DB] - loudness, n[MAX_GAIN_DB]) - u->gain_db;
    if (u->n_blocks >= u->setting.n_ahead)
      go = fmax (fmin (go, n[STEP_DB]), -n[STEP_DB]);
    u->gain_db += go;
  }
  u->to[0] = from_db (u->gain_db);
}

static void
end_block (Unit *u)
{
  u->in_block = 0;
  if (u->delay == 0)
    return;
  memcpy (u->from, u->to, u->n_levels * sizeof *u->from);
  if (u->loudness)
    follow_loudness (u);
  else
    find_gains (u);
  u->n_blocks++;
  for (unsigned k = 0; u->n_blocks >= u->setting.n_ahead && k < u->n_levels;
       k++)
    u->lowest = lower (u->to[k], u->lowest);
}

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Runs n_frames of a block, from frame first of the part on: measures them, and exchanges
 * them for those of `delay` frames before, times the gain at their place in the block. */
static void
run_frames (Unit *u, size_t first, size_t n_frames)
{
  const unsigned width = u->unit.n_channels;
  double *samples = u->unit.samples + first * width;
  TfxRamp ramp = { u->n_levels, u->in_block, 1.0 / (double)u->setting.n_block,
    u->from, u->to };
  size_t last = n_frames * width;

  while (last > 0 && fabs (samples[last - 1]) <= TFX_SILENCE)
    last--;
  u->n_quiet =
      last > 0 ? n_frames - (last - 1) / width - 1 : u->n_quiet + n_frames;
  u->is_at_rest = false;
  if (u->loudness)
    tfx_loudness_add (u->loudness, u->measured + first * u->n_measured,
        n_frames);
  else
    measure (u, n_frames);
  for (size_t i = 0, n; u->delay > 0 && i < n_frames; i += n, ramp.first += n) {
    n = least (n_frames - i, u->delay - u->at);
    u->unit.kernels->swap_ramp (samples + i * width, u->past + u->at * width, n,
        width, &ramp);
    u->at = (u->at + n) % u->delay;
  }
  u->in_block += n_frames;
  if (u->in_block == u->setting.n_block)
    end_block (u);
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  TfxParams *p = &u->unit.params;

  for (size_t i = 0; u->measured != u->unit.samples && i < n_frames; i++)
    memcpy (u->measured + i * u->n_measured,
        u->unit.samples + i * u->unit.n_channels,
        u->n_measured * sizeof *u->measured);
  if (!u->loudness)
    load_part (u, n_frames);
  for (size_t i = 0, n; i < n_frames; i += n) {
    const bool is_ramping = tfx_params_are_ramping (p);

    n = least (n_frames - i, u->setting.n_block - u->in_block);
    for (size_t k = 0, m; k < n && tfx_params_are_ramping (p); k += m) {
      m = tfx_params_cell (p, n - k);
      tfx_params_advance (p, m);
    }
    if (is_ramping)
      take_params (u);
    run_frames (u, i, n);
  }
}

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  tfx_unit_set_values (data, values, n_frames, weight);
  take_params (data);
}

/* ---- state --------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  if (u->loudness && !u->is_at_rest)
    u->last = tfx_loudness_read (u->loudness);
  go_to_rest (u);
  tfx_params_finish (&u->unit.params);
  take_params (u);
}

/* 3 s, the longest window of the loudness. */
#define QUIET_BLOCKS 30

/* Silence is measured too.  When the delay is empty and the short-term loudness is that
 * of silence, more of it changes neither the loudness nor its gain. */
static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  const size_t n_frames = u->delay + QUIET_BLOCKS * u->setting.n_block;

  return u->is_at_rest || (u->loudness && u->n_quiet > n_frames) ? 0.0
                                                                 : INFINITY;
}

/* Runs on the past of the source. */
static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  Unit *u = data;
  const Unit *from = source;
  const double lowest = u->lowest;

  for (size_t i = 0, n; i < from->delay; i += n) {
    const size_t at = (from->at + i) % from->delay;

    n = least (u->unit.part_frames, least (from->delay - i, from->delay - at));
    memcpy (u->unit.samples, from->past + at * u->unit.n_channels,
        n * u->unit.n_channels * sizeof *u->unit.samples);
    run_part (u, n, TFX_SAMPLE_F64);
  }
  u->lowest = lowest;
  return 0;
}

static void
unit_read (void *data, TfxReadings *readings)
{
  Unit *u = data;

  for (unsigned k = 0; k < u->n_levels; k++)
    u->lowest = fmin (u->lowest, u->to[k]);
  readings->gain_db = 20.0 * log10 (fmax (u->lowest, DBL_MIN));
  u->lowest = INFINITY;
  readings->has_loudness = u->loudness != NULL;
  if (u->loudness)
    readings->loudness =
        u->is_at_rest ? u->last : tfx_loudness_read (u->loudness);
}

static const TfxUnitKind agc_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = tfx_unit_run,
  .set_values = unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .set_sample = unit_set_sample,
  .catch_up = unit_catch_up,
  .read = unit_read,
};

const TfxKind tfx_kind_agc = {
  .step = TFX_STEP_UNIT,
  .unit = &agc_unit,
  TFX_FIELDS (fields),
  .is_valid = agc_is_valid,
  .is_same_structure = agc_is_same_structure,
  .state_size = agc_state_size,
  .latency = agc_latency,
  .cost = agc_cost,
};
