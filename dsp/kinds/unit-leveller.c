/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-leveller.c: a gain that is found cell by cell, ahead of what comes out, on
 * the CPU. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "cpu/dynamics.h"
#include "loudness.h"
#include "kind-leveller.h"
#include "leveller-cells.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

/* What moves. */
enum
{
  TARGET_DB,
  MAX_GAIN_DB,
  RELEASE,
  STEP_DB
};

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  TfxLeveller setting;
  unsigned n_channels, n_levels;
  size_t part_frames, delay;
  double headroom; /* for the rounding of what comes out */
  TfxNumbers numbers;
  TfxCellsAim aim; /* of the numbers */
  double lowest;   /* gain since it was asked last; INFINITY: none */

  size_t in_cell, at; /* frames of the cell; the oldest frame of the past */
  size_t n_over;      /* cells, as far as it matters */
  double gain_db;
  double *past;      /* [delay][n_channels] */
  double *from, *to; /* [n_levels]: the gains at both ends of a cell */
  TfxCells *cells;   /* NULL: loudness */
  TfxLoudness *loudness;
  TfxLoudnessValues last; /* of the stream before, while none is heard */
  bool is_at_rest;
  double *samples; /* of a part */
} Unit;

static TfxNumberSet
get_numbers (const TfxStage *stage)
{
  const TfxLeveller *l = &stage->u.leveller;

  return (TfxNumberSet){ { [TARGET_DB] = l->target_db,
      [MAX_GAIN_DB] = l->max_gain_db,
      [RELEASE] = l->release,
      [STEP_DB] = l->step_db } };
}

static double
from_db (double db)
{
  return pow (10.0, db / 20.0);
}

static void
take_numbers (Unit *u)
{
  const double *n = u->numbers.now;

  u->aim = (TfxCellsAim){ from_db (n[TARGET_DB]) * u->headroom,
    from_db (n[MAX_GAIN_DB]), n[RELEASE] };
}

/* ---- life ------------------------------------------------------------------------ */

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->past);
  free (u->from);
  tfx_cells_free (&u->cells);
  tfx_loudness_free (&u->loudness);
  free (u->samples);
  free (u);
}

static int
make_meter (Unit *u)
{
  const TfxLeveller *l = &u->setting;
  const TfxLoudnessSpec spec = { u->n_channels, l->positions,
    { l->weighting[0], l->weighting[1] }, l->n_cell };

  if (l->measure == TFX_LEVELLER_LOUDNESS)
    return tfx_loudness_new (&spec, u->kernels, u->part_frames, &u->loudness);
  return tfx_cells_new (l, u->kernels, u->n_channels, u->part_frames,
      &u->cells);
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
  u->in_cell = u->at = u->n_over = 0;
  u->gain_db = 0.0;
  u->is_at_rest = true;
  memset (u->past, 0, u->delay * u->n_channels * sizeof *u->past);
  for (unsigned k = 0; k < 2 * u->n_levels; k++)
    u->from[k] = 1.0;
  if (u->loudness)
    tfx_loudness_reset (u->loudness);
  else
    tfx_cells_reset (u->cells);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const TfxLeveller *l = &stage->u.leveller;
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->setting = *l;
  u->n_channels = spec->n_channels;
  u->n_levels = l->is_linked || l->measure == TFX_LEVELLER_LOUDNESS
                    ? 1
                    : spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  u->delay = tfx_leveller_delay (l);
  u->headroom = tfx_leveller_headroom (l, spec->sample == TFX_SAMPLE_F64);
  u->lowest = INFINITY;
  tfx_numbers_init (&u->numbers, get_numbers (stage).n);
  take_numbers (u);
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

/* Silence of so much of a cell says that there is no programme. */
#define SILENT_PART 0.01

/* A step goes as far as it may; before the first sample comes out, all the way. */
static void
follow_loudness (Unit *u)
{
  const double *n = u->numbers.now;
  const bool is_silent = (double)tfx_loudness_n_silent (u->loudness) >=
                         SILENT_PART * (double)u->setting.n_cell;
  const double loudness =
      is_silent ? INFINITY : tfx_loudness_integrated (u->loudness);
  double go;

  if (isfinite (loudness)) {
    go = fmin (n[TARGET_DB] - loudness, n[MAX_GAIN_DB]) - u->gain_db;
    if (u->n_over > u->setting.n_ahead)
      go = fmax (fmin (go, n[STEP_DB]), -n[STEP_DB]);
    u->gain_db += go;
  }
  u->to[0] = from_db (u->gain_db);
}

static void
end_cell (Unit *u)
{
  u->in_cell = 0;
  u->n_over += u->n_over <= u->setting.n_ahead;
  if (u->delay == 0)
    return;
  memcpy (u->from, u->to, u->n_levels * sizeof *u->from);
  if (u->loudness)
    follow_loudness (u);
  else
    tfx_cells_end (u->cells, &u->aim, u->to);
  for (unsigned k = 0; u->n_over >= u->setting.n_ahead && k < u->n_levels; k++)
    u->lowest = u->to[k] < u->lowest ? u->to[k] : u->lowest;
}

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Samples in, those of `delay` frames before out, with the gain of their place in the
 * cell. */
static void
swap (Unit *u, double *samples, size_t n_frames)
{
  TfxRamp ramp = { u->n_levels, u->in_cell, 1.0 / (double)u->setting.n_cell,
    u->from, u->to };

  for (size_t i = 0, n; i < n_frames; i += n, ramp.first += n) {
    n = least (n_frames - i, u->delay - u->at);
    u->kernels->swap_ramp (samples + i * u->n_channels,
        u->past + u->at * u->n_channels, n, u->n_channels, &ramp);
    u->at = (u->at + n) % u->delay;
  }
}

/* n frames of a cell. */
static void
run_frames (Unit *u, double *samples, size_t n)
{
  u->is_at_rest = false;
  if (u->loudness)
    tfx_loudness_add (u->loudness, samples, n);
  else
    tfx_cells_add (u->cells, u->in_cell, n);
  if (u->delay > 0)
    swap (u, samples, n);
  u->in_cell += n;
  if (u->in_cell == u->setting.n_cell)
    end_cell (u);
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;

  if (u->cells)
    tfx_cells_hear (u->cells, u->samples, n_frames);
  for (size_t i = 0, n; i < n_frames; i += n) {
    n = least (n_frames - i, u->setting.n_cell - u->in_cell);
    if (tfx_numbers_are_moving (&u->numbers)) {
      for (size_t k = 0; k < n && tfx_numbers_are_moving (&u->numbers); k++)
        tfx_numbers_step (&u->numbers);
      take_numbers (u);
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

  tfx_numbers_set (&u->numbers, get_numbers (values).n, n_frames, weight);
  take_numbers (u);
  tfx_unit_drop_stage (values);
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_numbers_are_moving (&((const Unit *)unit)->numbers);
}

/* ---- state --------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  if (u->loudness && !u->is_at_rest)
    u->last = tfx_loudness_read (u->loudness);
  go_to_rest (u);
  tfx_numbers_finish (&u->numbers);
  take_numbers (u);
}

/* Silence is measured too: once it has heard anything it is never at rest. */
static double
unit_state_peak (const void *data)
{
  return ((const Unit *)data)->is_at_rest ? 0.0 : INFINITY;
}

#define PLACE_DOUBLES (sizeof (TfxLevellerPlace) / sizeof (double))
#define NUMBERS_DOUBLES (sizeof (TfxNumbers) / sizeof (double))

TfxLevellerState
tfx_leveller_state (const TfxLeveller *l, unsigned n_channels, double *state)
{
  const bool is_loudness = l->measure == TFX_LEVELLER_LOUDNESS;
  TfxLevellerState s = { .n_levels =
                             l->is_linked || is_loudness ? 1 : n_channels,
    .n_sums = is_loudness ? 0 : tfx_cells_n_sums (l, n_channels),
    .n_heard = is_loudness ? tfx_loudness_n_numbers (n_channels)
                           : tfx_cells_n_numbers (l, n_channels) };

  if (!state)
    return s;
  s.place = (TfxLevellerPlace *)state;
  s.numbers = state + PLACE_DOUBLES;
  s.gains = s.numbers + NUMBERS_DOUBLES;
  s.past = s.gains + 2 * s.n_levels;
  s.heard = s.past + tfx_leveller_delay (l) * n_channels;
  return s;
}

size_t
tfx_leveller_state_size (const TfxLeveller *l, unsigned n_channels)
{
  const TfxLevellerState s = tfx_leveller_state (l, n_channels, NULL);

  return PLACE_DOUBLES + NUMBERS_DOUBLES + 2 * s.n_levels +
         tfx_leveller_delay (l) * n_channels + s.n_heard;
}

static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;
  const TfxLevellerState s =
      tfx_leveller_state (&u->setting, u->n_channels, state);
  const size_t width = u->n_channels, n_old = u->delay - u->at;

  *s.place = (TfxLevellerPlace){ (double)u->in_cell, (double)u->n_over,
    u->gain_db, 1.0 };
  memcpy (s.numbers, &u->numbers, sizeof u->numbers);
  memcpy (s.gains, u->from, 2 * u->n_levels * sizeof *state);
  memcpy (s.past, u->past + u->at * width, n_old * width * sizeof *state);
  memcpy (s.past + n_old * width, u->past, u->at * width * sizeof *state);
  if (u->loudness)
    tfx_loudness_get_numbers (u->loudness, s.heard);
  else
    tfx_cells_get_numbers (u->cells, s.heard);
}

/* All 0 is rest.  A device has no numbers that move: they are those of the unit. */
static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;
  const TfxLevellerState s =
      tfx_leveller_state (&u->setting, u->n_channels, (double *)state);

  u->in_cell = (size_t)s.place->in_cell;
  u->n_over = (size_t)s.place->n_over;
  u->gain_db = s.place->gain_db;
  if (s.place->has_numbers > 0.0) {
    memcpy (&u->numbers, s.numbers, sizeof u->numbers);
    take_numbers (u);
  }
  for (unsigned k = 0; k < 2 * u->n_levels; k++)
    u->from[k] = s.gains[k] > 0.0 ? s.gains[k] : 1.0;
  u->at = 0;
  memcpy (u->past, s.past, u->delay * u->n_channels * sizeof *state);
  if (u->loudness)
    tfx_loudness_set_numbers (u->loudness, s.heard);
  else
    tfx_cells_set_numbers (u->cells, s.heard);
  u->is_at_rest = u->is_at_rest && u->in_cell == 0 && u->n_over == 0;
}

/* Hears the past that there is, the newest last. */
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

const TfxUnitKind tfx_leveller_unit = {
  .is_for_format = true,
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = tfx_unit_keep_stage,
  .set_values = unit_set_values,
  .drop_values = tfx_unit_drop_stage,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up = unit_catch_up,
  .read = unit_read,
};
