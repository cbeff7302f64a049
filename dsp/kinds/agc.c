/* SPDX-License-Identifier: LGPL-2.1-or-later
 * agc.c: automatic gain, found block by block ahead of the output: Normalize, Loudness,
 * and limiters of true peaks.  See TfxAgc. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "gain-blocks.h"
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

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  TfxAgc setting;
  unsigned n_channels, n_levels;
  size_t part_frames, delay;
  double headroom; /* for the rounding of the output */
  TfxParams params;
  TfxGainAim aim; /* of the parameters */
  double lowest;  /* gain since the last read; INFINITY: none */

  size_t in_block, at; /* frames of the block; the oldest frame of the past */
  size_t n_done;       /* blocks, up to n_ahead + 1 */
  double gain_db;
  double *past;          /* [delay][n_channels] */
  double *from, *to;     /* [n_levels]: the gains at both ends of a block */
  TfxGainBlocks *blocks; /* NULL: loudness */
  TfxLoudness *loudness;
  TfxLoudnessValues
      last; /* those before the last reset, until there is input */
  bool is_at_rest;
  double *samples; /* of a part */
} Unit;

static double
from_db (double db)
{
  return pow (10.0, db / 20.0);
}

static void
take_params (Unit *u)
{
  const double *n = u->params.now;

  u->aim = (TfxGainAim){ from_db (n[TARGET_DB]) * u->headroom,
    from_db (n[MAX_GAIN_DB]), n[RELEASE] };
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

  free (u->past);
  free (u->from);
  tfx_gain_blocks_free (&u->blocks);
  tfx_loudness_free (&u->loudness);
  free (u->samples);
  free (u);
}

static int
make_meter (Unit *u)
{
  const TfxAgc *l = &u->setting;
  const TfxLoudnessSpec spec = { u->n_channels, l->positions,
    { l->weighting[0], l->weighting[1] }, l->n_block };

  if (l->measure == TFX_AGC_LOUDNESS)
    return tfx_loudness_new (&spec, u->kernels, u->part_frames, &u->loudness);
  return tfx_gain_blocks_new (l, u->kernels, u->n_channels, u->part_frames,
      &u->blocks);
}

static int
make_room (Unit *u)
{
  u->past =
      tfx_block_new_samples (u->delay * u->n_channels + TFX_DYNAMICS_SLACK);
  u->from = tfx_block_new_samples (2 * u->n_levels + TFX_DYNAMICS_SLACK);
  u->samples = tfx_block_new_samples (
      u->part_frames * u->n_channels + TFX_DYNAMICS_SLACK);
  if (!u->past || !u->from || !u->samples)
    return -ENOMEM;
  u->to = u->from + u->n_levels;
  return make_meter (u);
}

static void
go_to_rest (Unit *u)
{
  u->in_block = u->at = u->n_done = 0;
  u->gain_db = 0.0;
  u->is_at_rest = true;
  memset (u->past, 0, u->delay * u->n_channels * sizeof *u->past);
  for (unsigned k = 0; k < 2 * u->n_levels; k++)
    u->from[k] = 1.0;
  if (u->loudness)
    tfx_loudness_reset (u->loudness);
  else
    tfx_gain_blocks_reset (u->blocks);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const TfxAgc *l = &stage->u.agc;
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->setting = *l;
  u->n_channels = spec->n_channels;
  u->n_levels =
      l->is_linked || l->measure == TFX_AGC_LOUDNESS ? 1 : spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  u->delay = l->n_ahead * l->n_block;
  u->lowest = INFINITY;
  tfx_params_init (&u->params, stage);
  unit_set_sample (u, spec->sample);
  if (make_room (u) < 0) {
    unit_free (u);
    return -ENOMEM;
  }
  go_to_rest (u);
  if (u->loudness)
    u->last = tfx_loudness_read (u->loudness);
  *unit = u;
  return 0;
}

/* ---- gains ------------------------------------------------------------------------- */

/* With this much silence in a block there is no programme. */
#define SILENT_PART 0.01

/* Moves the gain by at most a step; before the first output sample, all the way. */
static void
follow_loudness (Unit *u)
{
  const double *n = u->params.now;
  const bool is_silent = (double)tfx_loudness_n_silent (u->loudness) >=
                         SILENT_PART * (double)u->setting.n_block;
  const double loudness =
      is_silent ? INFINITY : tfx_loudness_integrated (u->loudness);
  double go;

  if (isfinite (loudness)) {
    go = fmin (n[TARGET_DB] - loudness, n[MAX_GAIN_DB]) - u->gain_db;
    if (u->n_done > u->setting.n_ahead)
      go = fmax (fmin (go, n[STEP_DB]), -n[STEP_DB]);
    u->gain_db += go;
  }
  u->to[0] = from_db (u->gain_db);
}

static void
end_block (Unit *u)
{
  u->in_block = 0;
  u->n_done += u->n_done <= u->setting.n_ahead;
  if (u->delay == 0)
    return;
  memcpy (u->from, u->to, u->n_levels * sizeof *u->from);
  if (u->loudness)
    follow_loudness (u);
  else
    tfx_gain_blocks_end (u->blocks, &u->aim, u->to);
  for (unsigned k = 0; u->n_done >= u->setting.n_ahead && k < u->n_levels; k++)
    u->lowest = u->to[k] < u->lowest ? u->to[k] : u->lowest;
}

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Exchanges samples for those of `delay` frames before, times the gain at their place in
 * the block. */
static void
swap (Unit *u, double *samples, size_t n_frames)
{
  TfxRamp ramp = { u->n_levels, u->in_block, 1.0 / (double)u->setting.n_block,
    u->from, u->to };

  for (size_t i = 0, n; i < n_frames; i += n, ramp.first += n) {
    n = least (n_frames - i, u->delay - u->at);
    u->kernels->swap_ramp (samples + i * u->n_channels,
        u->past + u->at * u->n_channels, n, u->n_channels, &ramp);
    u->at = (u->at + n) % u->delay;
  }
}

/* Runs n frames of a block. */
static void
run_frames (Unit *u, double *samples, size_t n)
{
  u->is_at_rest = false;
  if (u->loudness)
    tfx_loudness_add (u->loudness, samples, n);
  else
    tfx_gain_blocks_add (u->blocks, u->in_block, n);
  if (u->delay > 0)
    swap (u, samples, n);
  u->in_block += n;
  if (u->in_block == u->setting.n_block)
    end_block (u);
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;

  if (u->blocks)
    tfx_gain_blocks_load (u->blocks, u->samples, n_frames);
  for (size_t i = 0, n; i < n_frames; i += n) {
    n = least (n_frames - i, u->setting.n_block - u->in_block);
    if (tfx_params_are_ramping (&u->params)) {
      for (size_t k = 0, m; k < n && tfx_params_are_ramping (&u->params);
           k += m) {
        m = tfx_params_cell (&u->params, n - k);
        tfx_params_advance (&u->params, m);
      }
      take_params (u);
    }
    run_frames (u, u->samples + i * u->n_channels, n);
  }
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;

  return tfx_samples_run (u->kernels, in, out, u->samples, u->samples,
      u->part_frames, run_part, u);
}

/* ---- values ------------------------------------------------------------------------ */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_params_take (&u->params, values, n_frames, weight);
  take_params (u);
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_params_are_ramping (&((const Unit *)unit)->params);
}

/* ---- state --------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  if (u->loudness && !u->is_at_rest)
    u->last = tfx_loudness_read (u->loudness);
  go_to_rest (u);
  tfx_params_finish (&u->params);
  take_params (u);
}

/* Silence is measured too: after any input the unit is never at rest. */
static double
unit_state_peak (const void *data)
{
  return ((const Unit *)data)->is_at_rest ? 0.0 : INFINITY;
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

    n = least (u->part_frames, least (from->delay - i, from->delay - at));
    memcpy (u->samples, from->past + at * u->n_channels,
        n * u->n_channels * sizeof *u->samples);
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
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = unit_is_changing,
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
