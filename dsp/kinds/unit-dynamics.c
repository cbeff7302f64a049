/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-dynamics.c: a gain that follows the level of the signal, on the CPU; and
 * how its numbers move.
 *
 * The kernels run the level in groups of frames that are counted from where the
 * state was set, so that the output does not depend on how the stream is cut: of
 * a group that has begun the state in front is kept, and its samples.
 *
 * Values that move are a cross-fade of the gains that the old and the new curve
 * make of one level: a gate's curve is all but a switch, which a threshold that
 * glides would throw within a frame.  Where attack or release move each frame is a
 * group. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "cpu/dynamics.h"
#include "kind-dynamics.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

/* What moves. */
enum
{
  THRESHOLD,
  SLOPE,
  HALF_KNEE,
  FLOOR,
  MAKEUP,
  ATTACK,
  RELEASE
};

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels, n_levels; /* 1 if all have the same gain */
  size_t part_frames, stride, group_frames;
  bool is_linked;
  TfxNumbers numbers;
  TfxGainCurve curve, to; /* to: while numbers move, from curve */
  TfxBallistics ballistics;
  double reduction; /* since it was asked last, in octaves */

  double *state;    /* [TFX_N_LEVELS][stride], in front of the group */
  double *now;      /* the same, behind the last frame */
  double *state_to; /* for the curve that numbers move to */
  size_t n_begun;   /* frames of the group */
  double *room;
  /* The part; what the level is taken of, behind the frames of the group that
   * has begun: the samples themselves, or one number a frame; and what comes of
   * it: samples, or gains, by both curves. */
  double *samples, *heard, *made, *made_to;
} Unit;

/* Octaves for a dB. */
#define OCTAVES_PER_DB (1.0 / 6.0205999132796239)

static TfxNumberSet
get_numbers (const TfxStage *stage)
{
  const TfxDynamics *d = &stage->u.dynamics;

  return (TfxNumberSet){ { [THRESHOLD] = d->threshold_db * OCTAVES_PER_DB,
      [SLOPE] = d->slope,
      [HALF_KNEE] = 0.5 * d->knee_db * OCTAVES_PER_DB,
      [FLOOR] = d->floor_db * OCTAVES_PER_DB,
      [MAKEUP] = d->makeup_db * OCTAVES_PER_DB,
      [ATTACK] = d->attack,
      [RELEASE] = d->release } };
}

/* A knee of less is none. */
#define LEAST_KNEE 1e-9

static TfxGainCurve
make_curve (double sign, const double n[TFX_NUMBERS_MAX])
{
  const bool has_knee = n[HALF_KNEE] > LEAST_KNEE;

  return (TfxGainCurve){ .sign = sign,
    .threshold = n[THRESHOLD],
    .slope = n[SLOPE],
    .half_knee = has_knee ? n[HALF_KNEE] : 0.0,
    .per_knee = has_knee ? 0.25 / n[HALF_KNEE] : 0.0,
    .floor = n[FLOOR],
    .makeup = n[MAKEUP] };
}

/* At the next frame. */
static double
find_number (const TfxNumbers *n, size_t i)
{
  const double w = tfx_weight_at (n->weight, n->done + 1, n->length);

  return tfx_numbers_are_moving (n) ? n->from[i] + w * (n->to[i] - n->from[i])
                                    : n->now[i];
}

static void
take_numbers (Unit *u)
{
  const bool is_moving = tfx_numbers_are_moving (&u->numbers);
  const double attack = find_number (&u->numbers, ATTACK);
  const double release = find_number (&u->numbers, RELEASE);

  u->curve =
      make_curve (u->curve.sign, is_moving ? u->numbers.from : u->numbers.now);
  if (is_moving)
    u->to = make_curve (u->curve.sign, u->numbers.to);
  if (u->ballistics.attack[0] != attack)
    tfx_dynamics_powers (attack, u->ballistics.attack);
  if (u->ballistics.release[0] != release)
    tfx_dynamics_powers (release, u->ballistics.release);
}

/* ---- life ----------------------------------------------------------------------- */

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->state);
  free (u->room);
  free (u);
}

/* All arrays have slack behind them, and room for a group in front. */
static int
make_room (Unit *u)
{
  const size_t n_state = TFX_N_LEVELS * u->stride;
  const size_t front = TFX_DYNAMICS_SLACK * u->n_channels;
  const size_t part = u->part_frames * u->n_channels;
  const size_t n =
      front + tfx_dynamics_stride ((unsigned)part) + TFX_DYNAMICS_SLACK;

  u->state = tfx_block_new_samples (3 * n_state);
  u->room = tfx_block_new_samples (4 * n);
  if (!u->state || !u->room)
    return -ENOMEM;
  u->now = u->state + n_state;
  u->state_to = u->now + n_state;
  u->samples = u->room + front;
  u->heard = u->is_linked ? u->samples + n : u->samples;
  u->made = u->samples + 2 * n;
  u->made_to = u->samples + 3 * n;
  return 0;
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const TfxDynamics *d = &stage->u.dynamics;
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  u->is_linked = d->is_linked && spec->n_channels > 1;
  u->n_levels = u->is_linked ? 1 : spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  u->stride = tfx_dynamics_stride (u->n_levels);
  u->group_frames = u->kernels->group_frames (u->n_levels);
  u->curve.sign = d->is_downward ? -1.0 : 1.0;
  u->ballistics.is_rms = d->is_rms;
  tfx_numbers_init (&u->numbers, get_numbers (stage).n);
  take_numbers (u);
  if (make_room (u) < 0) {
    unit_free (u);
    return -ENOMEM;
  }
  *unit = u;
  return 0;
}

/* ---- frames ---------------------------------------------------------------------- */

/* The gains of n_frames behind the n_begun of the group, or samples times these,
 * from one curve to the other. */
static void
fade (Unit *u, double *made, const double *made_to, size_t n_frames)
{
  TfxNumbers *n = &u->numbers;

  for (size_t i = 0; i < n_frames; i++) {
    const double w = tfx_weight_at (n->weight, n->done + 1, n->length);

    for (unsigned c = 0; c < u->n_levels; c++, made++)
      *made += w * (*made_to++ - *made);
    tfx_numbers_step (n);
  }
}

/* n_frames from frame `first` of the part on, which is 0 if a group has begun; no
 * further than a change goes. */
static void
run_frames (Unit *u, size_t first, size_t n_frames, TfxSample type)
{
  const size_t n_levels = u->n_levels, n_all = u->n_begun + n_frames;
  const size_t at = first * n_levels, n_before = u->n_begun * n_levels;
  const bool is_moving = tfx_numbers_are_moving (&u->numbers);
  const bool is_f32 = type == TFX_SAMPLE_F32;
  double *heard = u->heard + at - n_before, lowest;

  if (is_moving) {
    memcpy (u->state_to, u->state, TFX_N_LEVELS * u->stride * sizeof *u->state);
    lowest =
        u->kernels->run (heard, u->made_to + at - n_before, n_all, n_levels,
            !u->is_linked, &u->ballistics, &u->to, is_f32, u->state_to, u->now);
    u->reduction = fmin (u->reduction, lowest);
  }
  lowest = u->kernels->run (heard, u->made + at - n_before, n_all, n_levels,
      !u->is_linked, &u->ballistics, &u->curve, is_f32, u->state, u->now);
  u->reduction = fmin (u->reduction, lowest);
  if (is_moving)
    fade (u, u->made + at, u->made_to + at, n_frames);
  if (u->is_linked)
    u->kernels->multiply (u->samples + first * u->n_channels, u->made + first,
        n_frames, u->n_channels);
  u->n_begun = n_all % u->group_frames;
  memmove (u->heard - u->n_begun * n_levels,
      heard + (n_all - u->n_begun) * n_levels,
      u->n_begun * n_levels * sizeof *heard);
}

/* What comes is a new group. */
static void
end_group (Unit *u)
{
  memcpy (u->state, u->now, TFX_N_LEVELS * u->stride * sizeof *u->state);
  u->n_begun = 0;
}

/* How many of n frames run in one. */
static size_t
count_frames (const TfxNumbers *n, size_t n_frames)
{
  const size_t left = n->length - n->done;

  if (n->from[ATTACK] != n->to[ATTACK] || n->from[RELEASE] != n->to[RELEASE])
    return 1;
  return n_frames < left ? n_frames : left;
}

/* A change begins and ends with a group.  How many of n_frames it took. */
static size_t
run_moving (Unit *u, size_t first, size_t n_frames, TfxSample type)
{
  const TfxNumbers *n = &u->numbers;
  const size_t n_run = count_frames (n, n_frames);
  const bool is_single = count_frames (n, 2) == 1;

  if (n->done == 0)
    end_group (u);
  take_numbers (u);
  run_frames (u, first, n_run, type);
  if (is_single || n->done == 0 || !tfx_numbers_are_moving (n))
    end_group (u);
  if (!tfx_numbers_are_moving (n))
    take_numbers (u);
  return n_run;
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  size_t i = 0;

  if (u->is_linked)
    u->kernels->link (u->samples, u->heard, n_frames, u->n_channels);
  while (i < n_frames && tfx_numbers_are_moving (&u->numbers))
    i += run_moving (u, i, n_frames - i, type);
  if (i < n_frames)
    run_frames (u, i, n_frames - i, type);
}

/* Whether the block was one that needs no room. */
static bool
run_floats (Unit *u, const TfxBlock *in, const TfxBlock *out)
{
  double lowest;

  if (u->is_linked || tfx_numbers_are_moving (&u->numbers) || u->n_begun > 0 ||
      !u->kernels->takes_floats (u->n_channels) ||
      !tfx_samples_are_floats (u->kernels, in, out))
    return false;
  lowest = u->kernels->run_floats (in->data, out->data, in->n_frames,
      u->n_channels, &u->ballistics, &u->curve, u->state, u->now);
  u->reduction = fmin (u->reduction, lowest);
  return true;
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;

  if (run_floats (u, in, out))
    return 0;
  return tfx_samples_run (u->kernels, in, out, u->samples,
      u->is_linked ? u->samples : u->made, u->part_frames, run_part, u);
}

/* ---- values ------------------------------------------------------------------------ */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_numbers_set (&u->numbers, get_numbers (values).n, n_frames, weight);
  tfx_unit_drop_stage (values);
  if (n_frames == 0) {
    end_group (u);
    take_numbers (u);
  }
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_numbers_are_moving (&((const Unit *)unit)->numbers);
}

/* ---- state -------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  memset (u->now, 0, TFX_N_LEVELS * u->stride * sizeof *u->now);
  end_group (u);
  tfx_numbers_finish (&u->numbers);
  take_numbers (u);
}

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  double peak = 0.0;

  for (unsigned c = 0; c < u->n_levels; c++) {
    for (unsigned i = 0; i < TFX_N_LEVELS; i++)
      peak = fmax (peak, u->now[i * u->stride + c]);
  }
  return peak;
}

static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;

  for (unsigned c = 0; c < u->n_channels; c++) {
    for (unsigned i = 0; i < TFX_N_LEVELS; i++)
      *state++ = u->now[i * u->stride + (u->is_linked ? 0 : c)];
  }
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  for (unsigned c = 0; c < u->n_levels; c++) {
    for (unsigned i = 0; i < TFX_N_LEVELS; i++)
      u->now[i * u->stride + c] = *state++;
  }
  end_group (u);
}

/* The levels go on; a mean square that there was not begins with the level. */
static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  Unit *u = data;
  const Unit *from = source;

  for (unsigned c = 0; c < u->n_levels; c++) {
    const double *at = from->now + (c < from->n_levels ? c : 0);
    const double out = at[TFX_LEVEL_OUT * from->stride];

    u->now[TFX_LEVEL_HELD * u->stride + c] = at[TFX_LEVEL_HELD * from->stride];
    u->now[TFX_LEVEL_OUT * u->stride + c] = out;
    u->now[TFX_LEVEL_SQUARE * u->stride + c] =
        from->ballistics.is_rms ? at[TFX_LEVEL_SQUARE * from->stride]
                                : out * out;
  }
  end_group (u);
  return 0;
}

static void
unit_read (void *data, TfxReadings *readings)
{
  Unit *u = data;

  readings->gain_db = u->reduction / OCTAVES_PER_DB;
  u->reduction = 0.0;
}

const TfxUnitKind tfx_dynamics_unit = {
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
