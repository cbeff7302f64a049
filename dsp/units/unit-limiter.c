/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-limiter.c: a limiter on the CPU.
 *
 * The largest of a window takes three comparisons a sample, whatever its length
 * (van Herk; Gil and Werman): time is cut into blocks as long as the window, which
 * then is the end of one block and the beginning of the next. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"
#include "../cpu/dynamics.h"
#include "kind-limiter.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

/* Samples of a part, so that it stays in the cache. */
#define PART_SAMPLES 1024

/* What moves. */
enum
{
  THRESHOLD_DB,
  ATTACK,
  RELEASE
};

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels, n_levels; /* 1 if all have the same gain */
  size_t part_frames, stride, n_ahead;
  bool is_linked;
  TfxNumbers numbers;
  TfxLimits limits;
  double lowest; /* gain since it was asked last */

  size_t n_window, position;
  size_t n_silent; /* frames that still come before the first input comes out */
  double *past; /* [n_window][n_channels]: inputs of this block, and the last */
  /* [n_window + 1][n_levels]: magnitudes of this block, then the largest of what
   * is left of the last one from each frame on; 0 at its end. */
  double *rest;
  double *most;  /* [stride], of this block */
  double *gains; /* [stride], the last ones */
  /* Of a part. */
  double *samples, *levels, *peaks, *found;
} Unit;

static void
get_numbers (const TfxStage *stage, double numbers[TFX_NUMBERS_MAX])
{
  memset (numbers, 0, TFX_NUMBERS_MAX * sizeof *numbers);
  numbers[THRESHOLD_DB] = stage->u.limiter.threshold_db;
  numbers[ATTACK] = stage->u.limiter.attack;
  numbers[RELEASE] = stage->u.limiter.release;
}

static void
take_numbers (Unit *u)
{
  const double *n = u->numbers.now;

  u->limits =
      (TfxLimits){ pow (10.0, n[THRESHOLD_DB] / 20.0), n[ATTACK], n[RELEASE] };
}

/* ---- life ------------------------------------------------------------------------ */

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->past);
  free (u->rest);
  free (u->most);
  free (u->samples);
  free (u);
}

static int
make_room (Unit *u)
{
  const size_t n = u->part_frames * u->n_channels + TFX_DYNAMICS_SLACK;

  u->past = calloc (u->n_window, u->n_channels * sizeof *u->past);
  u->rest = calloc ((u->n_window + 1) * u->n_levels + TFX_DYNAMICS_SLACK,
      sizeof *u->rest);
  u->most = calloc (2 * u->stride, sizeof *u->most);
  u->samples = calloc (4 * n, sizeof *u->samples);
  if (!u->past || !u->rest || !u->most || !u->samples)
    return -ENOMEM;
  u->gains = u->most + u->stride;
  u->levels = u->samples + n;
  u->peaks = u->levels + n;
  u->found = u->peaks + n;
  return 0;
}

static void
go_to_rest (Unit *u)
{
  u->position = 0;
  u->n_silent = u->n_ahead;
  memset (u->past, 0, u->n_window * u->n_channels * sizeof *u->past);
  memset (u->rest, 0, (u->n_window + 1) * u->n_levels * sizeof *u->rest);
  for (size_t i = 0; i < u->stride; i++) {
    u->most[i] = 0.0;
    u->gains[i] = 1.0;
  }
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const TfxLimiter *l = &stage->u.limiter;
  const size_t part = PART_SAMPLES / spec->n_channels;
  double numbers[TFX_NUMBERS_MAX];
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  u->is_linked = l->is_linked && spec->n_channels > 1;
  u->n_levels = u->is_linked ? 1 : spec->n_channels;
  u->part_frames = part < 1 ? 1 : part;
  u->stride = tfx_dynamics_stride (u->n_levels);
  u->n_ahead = l->n_ahead;
  u->n_window = l->n_ahead + 1;
  u->lowest = 1.0;
  get_numbers (stage, numbers);
  tfx_numbers_init (&u->numbers, numbers);
  take_numbers (u);
  if (make_room (u) < 0) {
    unit_free (u);
    return -ENOMEM;
  }
  go_to_rest (u);
  *unit = u;
  return 0;
}

/* ---- frames ----------------------------------------------------------------------- */

/* The block is over: the largest from each of its frames on. */
static void
end_block (Unit *u)
{
  u->kernels->find_rest (u->rest, u->n_window, u->n_levels);
  memset (u->most, 0, u->stride * sizeof *u->most);
  u->position = 0;
}

/* Levels in, samples of n_ahead frames before out; n frames within a block. */
static void
delay (Unit *u, double *samples, const double *levels, size_t n)
{
  const size_t width = u->n_channels, i = u->position;
  double *past = u->past + i * width, *last = samples + (n - 1) * width;

  memcpy (u->rest + i * u->n_levels, levels, n * u->n_levels * sizeof *levels);
  /* The frame behind is n_ahead frames old: of the block before, or the first
   * of this one. */
  u->kernels->exchange (past, samples, (n - 1) * width, width);
  memcpy (past + (n - 1) * width, last, width * sizeof *past);
  memcpy (last, u->past + (i + n) % u->n_window * width, width * sizeof *past);
}

/* n frames of the part within a block, whose numbers stay. */
static void
run_frames (Unit *u, size_t first, size_t n, double limit)
{
  double *samples = u->samples + first * u->n_channels;
  double *levels = u->levels + first * u->n_levels;

  u->kernels->find_peaks (levels, u->rest + (u->position + 1) * u->n_levels,
      u->peaks, n, u->n_levels, u->most);
  delay (u, samples, levels, n);
  u->position += n;
  if (u->position == u->n_window)
    end_block (u);
  if (u->n_silent > 0) {
    u->n_silent -= n;
    return;
  }
  u->lowest = fmin (u->lowest, u->kernels->find_gains (u->peaks, u->found, n,
                                   u->n_levels, &u->limits, u->gains));
  if (u->is_linked)
    u->kernels->limit (samples, u->found, n, u->n_channels, limit);
  else
    u->kernels->limit (samples, u->found, n * u->n_channels, 1, limit);
}

/* The largest number of a type that is no larger. */
static double
round_down (double value, TfxSample type)
{
  float rounded = (float)value;

  if (type == TFX_SAMPLE_F64)
    return value;
  return rounded > value ? nextafterf (rounded, 0.0f) : rounded;
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  double limit = round_down (u->limits.threshold, type);

  if (u->is_linked) {
    tfx_samples_link (u->samples, u->levels, n_frames, u->n_channels);
  } else {
    u->kernels->find_levels (u->samples, u->levels, n_frames * u->n_channels);
  }
  for (size_t i = 0, n; i < n_frames; i += n) {
    const size_t left = u->n_window - u->position;

    n = n_frames - i < left ? n_frames - i : left;
    n = u->n_silent > 0 && u->n_silent < n ? u->n_silent : n;
    if (tfx_numbers_are_moving (&u->numbers)) {
      tfx_numbers_step (&u->numbers);
      take_numbers (u);
      limit = round_down (u->limits.threshold, type);
      n = 1;
    }
    run_frames (u, i, n, limit);
  }
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;

  return tfx_samples_run (u->kernels, in, out, u->samples, u->part_frames,
      run_part, u);
}

/* ---- values ------------------------------------------------------------------------ */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;
  TfxStage *stage = values;
  double numbers[TFX_NUMBERS_MAX];

  get_numbers (stage, numbers);
  tfx_numbers_set (&u->numbers, numbers, n_frames, weight);
  if (n_frames == 0)
    take_numbers (u);
  tfx_stage_unref (&stage);
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

  go_to_rest (u);
  tfx_numbers_finish (&u->numbers);
  take_numbers (u);
}

/* A gain that is so near to 1 is at rest: rounding may keep it there. */
#define REST 1e-9

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  double peak = 0.0;

  for (unsigned c = 0; c < u->n_levels; c++) {
    if (fabs (1.0 - u->gains[c]) > REST)
      peak = 1.0;
  }
  for (size_t i = 0; i < u->n_window * u->n_channels; i++)
    peak = fmax (peak, fabs (u->past[i]));
  return peak;
}

/* Of the frame `age` frames ago, 1 to n_ahead. */
static const double *
find_past (const Unit *u, size_t age)
{
  const size_t at = (u->position + u->n_window - age) % u->n_window;

  return u->past + at * u->n_channels;
}

/* Behind the past of a channel its gain; or, as long as no input has come out, how
 * many have come in, negative. */
static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;
  const double n_heard = (double)(u->n_ahead - u->n_silent);

  for (unsigned c = 0; c < u->n_channels; c++) {
    for (size_t i = u->n_ahead; i > 0; i--)
      *state++ = find_past (u, i)[c];
    *state++ = u->n_silent > 0 ? -n_heard : u->gains[u->is_linked ? 0 : c];
  }
}

/* A block of which n_ahead frames are over, and none before. */
static void
begin_block (Unit *u)
{
  const size_t width = u->n_channels;

  memset (u->rest, 0, (u->n_window + 1) * u->n_levels * sizeof *u->rest);
  memset (u->most, 0, u->stride * sizeof *u->most);
  for (size_t i = 0; i < u->n_ahead; i++) {
    for (size_t c = 0; c < width; c++) {
      const double level = fabs (u->past[i * width + c]);
      const size_t k = u->is_linked ? 0 : c;
      double *at = &u->rest[i * u->n_levels + k];

      *at = level > *at ? level : *at;
      u->most[k] = level > u->most[k] ? level : u->most[k];
    }
  }
  u->position = u->n_ahead;
  u->n_silent = 0;
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  go_to_rest (u);
  for (unsigned c = 0; c < u->n_channels; c++) {
    for (size_t i = 0; i < u->n_ahead; i++)
      u->past[i * u->n_channels + c] = *state++;
    u->gains[u->is_linked ? 0 : c] = *state > 0.0 ? *state : 1.0;
    state++;
  }
  begin_block (u);
  if (state[-1] <= 0.0)
    u->n_silent = u->n_ahead - (size_t)-state[-1];
}

static bool
unit_catch_up_start (void *data, const void *source)
{
  return true;
}

/* Another look-ahead: the past that there is, and the gains. */
static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  Unit *u = data;
  const Unit *from = source;
  const size_t n = u->n_ahead < from->n_ahead ? u->n_ahead : from->n_ahead;

  go_to_rest (u);
  for (size_t age = 1; age <= n; age++)
    memcpy (u->past + (u->n_ahead - age) * u->n_channels, find_past (from, age),
        u->n_channels * sizeof *u->past);
  for (unsigned c = 0; c < u->n_levels; c++)
    u->gains[c] = from->gains[c < from->n_levels ? c : 0];
  begin_block (u);
  return 0;
}

static void
unit_read (void *data, TfxReadings *readings)
{
  Unit *u = data;

  readings->gain_db = 20.0 * log10 (fmax (u->lowest, DBL_MIN));
  u->lowest = 1.0;
}

const TfxUnitKind tfx_limiter_unit = {
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
  .catch_up_start = unit_catch_up_start,
  .catch_up = unit_catch_up,
  .catch_up_frames = tfx_unit_all_frames,
  .read = unit_read,
};
