/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics.c: gains that follow the level of the signal: compressors, expanders and
 * gates.
 *
 * The kernels run the level in groups of frames, counted from where the state was set,
 * so that the output does not depend on how the stream is split.  Of a group that has
 * begun the unit keeps its samples and the state before it.
 *
 * A ramp of the curve cross-fades the gains of the old and the new curve for one level:
 * a gate's curve is nearly a switch, which a ramped threshold would throw within a frame.
 * Attack and release change once in a grid cell of the ramp. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "key.h"

/* The parameters. */
enum
{
  THRESHOLD_DB,
  SLOPE,
  KNEE_DB,
  FLOOR_DB,
  MAKEUP_DB,
  ATTACK,
  RELEASE
};

/* Gains stay within the range of a float's samples in a double. */
static const TfxField fields[] = {
  TFX_PARAM (dynamics.threshold_db, -400, 400),
  TFX_PARAM (dynamics.slope, -1e6, 0),
  TFX_PARAM (dynamics.knee_db, 0, 400),
  TFX_PARAM (dynamics.floor_db, TFX_DYNAMICS_LOWEST_DB, 0),
  TFX_PARAM (dynamics.makeup_db, -400, 400),
  TFX_PARAM (dynamics.attack, 0, TFX_BELOW_1),
  TFX_PARAM (dynamics.release, 0, TFX_BELOW_1),
  TFX_BOOL (dynamics.is_downward),
  TFX_BOOL (dynamics.is_rms),
  TFX_BOOL (dynamics.is_linked),
  TFX_SIZE (dynamics.n_unmeasured, 0, TFX_MAX_CHANNELS),
};

TfxStage *
tfx_stage_new_dynamics (uint64_t id, const TfxDynamics *dynamics)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_dynamics,
    .u.dynamics = *dynamics };

  return tfx_stage_new_like (&values);
}

static bool
dynamics_is_valid (const TfxStage *stage)
{
  const TfxDynamics *d = &stage->u.dynamics;

  if (d->n_key_sos > TFX_DYNAMICS_MAX_KEY_SOS)
    return false;
  for (size_t i = 0; i < d->n_key_sos; i++) {
    if (!tfx_sos_is_stable (&d->key_sos[i]))
      return false;
  }
  return true;
}

/* All key channels must be there, and another one. */
static int
dynamics_check (const TfxStage *stage, const TfxFilterSpec *spec)
{
  const uint64_t key = stage->u.dynamics.key;
  const unsigned n = key ? 64 - (unsigned)__builtin_clzll (key) : 0;

  return n > spec->n_channels ||
                 (unsigned)__builtin_popcountll (key) == spec->n_channels
             ? -EINVAL
             : 0;
}

static bool
dynamics_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.dynamics.key == b->u.dynamics.key &&
         a->u.dynamics.n_unmeasured == b->u.dynamics.n_unmeasured &&
         a->u.dynamics.n_key_sos == b->u.dynamics.n_key_sos;
}

static bool
dynamics_is_same (const TfxStage *a, const TfxStage *b)
{
  return memcmp (a->u.dynamics.key_sos, b->u.dynamics.key_sos,
             a->u.dynamics.n_key_sos * sizeof (TfxSos)) == 0;
}

static bool
dynamics_is_identity (const TfxStage *stage)
{
  return stage->u.dynamics.slope == 0.0 && stage->u.dynamics.makeup_db == 0.0;
}

static size_t
dynamics_state_size (const TfxStage *stage)
{
  return TFX_N_LEVELS + 2 * stage->u.dynamics.n_key_sos;
}

/* For a sample and a section. */
#define KEY_SECTION_NS 2.0

static double
dynamics_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 20.0, 1.8, 1.6, 1.3 };

  return tfx_unit_cost (costs, spec) +
         KEY_SECTION_NS * (double)stage->u.dynamics.n_key_sos;
}

static double
dynamics_gain_at (const TfxStage *stage, double level_db)
{
  const TfxDynamics *d = &stage->u.dynamics;
  const double over =
      d->is_downward ? d->threshold_db - level_db : level_db - d->threshold_db;
  const double half = 0.5 * d->knee_db;
  double gain_db = 0.0;

  if (over >= half)
    gain_db = d->slope * over;
  else if (over > -half)
    gain_db = d->slope * (over + half) * (over + half) / (2.0 * d->knee_db);
  return fmax (gain_db, d->floor_db) + d->makeup_db;
}

/* ---- the unit ------------------------------------------------------------------- */

typedef struct Unit
{
  TfxUnit unit;
  TfxKey key;
  bool is_linked;
  bool is_product;   /* the kernel makes the output, not gains */
  unsigned n_levels; /* 1 if linked, else n_channels */
  size_t stride, group_frames;
  TfxGainCurve curves[2]; /* now, and at the end of a ramp */
  double sign;            /* of TfxGainCurve */
  TfxBallistics ballistics;
  double reduction; /* the largest since the last read, in octaves */

  double *state;  /* [TFX_N_LEVELS][stride], before the group */
  double *now;    /* the same, after the last frame */
  size_t n_begun; /* frames of the group */
  /* The part; the input of the level after the frames of the group that has begun: the
   * samples themselves, or one number a frame; and the output: samples, or gains, of
   * both curves. */
  double *samples, *heard, *made, *made_to;
  double *keyed; /* of a part: the input of the level, or of the link */
} Unit;

/* Octaves for a dB. */
#define OCTAVES_PER_DB (1.0 / 6.0205999132796239)

/* A smaller half of a knee, in octaves, is none. */
#define LEAST_KNEE 1e-9

static TfxGainCurve
make_curve (double sign, const double n[TFX_PARAMS_MAX])
{
  const double half_knee = 0.5 * n[KNEE_DB] * OCTAVES_PER_DB;
  const bool has_knee = half_knee > LEAST_KNEE;

  return (TfxGainCurve){ .sign = sign,
    .threshold = n[THRESHOLD_DB] * OCTAVES_PER_DB,
    .slope = n[SLOPE],
    .half_knee = has_knee ? half_knee : 0.0,
    .per_knee = has_knee ? 0.25 / half_knee : 0.0,
    .floor = n[FLOOR_DB] * OCTAVES_PER_DB,
    .makeup = n[MAKEUP_DB] * OCTAVES_PER_DB };
}

/* The values of the next frames; during a ramp, of its grid cell. */
static void
take_params (Unit *u)
{
  const TfxParams *p = &u->unit.params;
  const bool is_ramping = tfx_params_are_ramping (p);

  u->curves[0] = make_curve (u->sign, is_ramping ? p->from : p->now);
  if (is_ramping)
    u->curves[1] = make_curve (u->sign, p->to);
  tfx_params_powers (p, ATTACK, u->ballistics.attack);
  tfx_params_powers (p, RELEASE, u->ballistics.release);
}

/* Arrays of samples have space for a group before them. */
static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  const TfxDynamics *d = &stage->u.dynamics;
  Unit *u = data;
  const unsigned n_channels = u->unit.n_channels;
  const size_t front = TFX_DYNAMICS_SLACK * n_channels;
  const size_t part = u->unit.part_frames * n_channels;

  tfx_key_lay_out (&u->key, d, n_channels, room);
  u->is_linked = d->key != 0 || (d->is_linked && n_channels > 1);
  u->is_product = !u->is_linked && !u->key.is_on;
  u->n_levels = u->is_linked ? 1 : n_channels;
  u->stride = tfx_dynamics_stride (u->n_levels);
  u->group_frames = u->unit.kernels->group_frames (u->n_levels);
  u->sign = d->is_downward ? -1.0 : 1.0;
  u->ballistics.is_rms = d->is_rms;
  u->state = tfx_room_take (room, 0, TFX_N_LEVELS * u->stride);
  u->now = tfx_room_take (room, 0, TFX_N_LEVELS * u->stride);
  u->samples = tfx_room_take (room, front, part);
  u->heard = u->is_product ? u->samples : tfx_room_take (room, front, part);
  u->keyed =
      u->key.is_on && u->is_linked ? tfx_room_take (room, 0, part) : u->heard;
  u->made = tfx_room_take (room, front, part);
  u->made_to = tfx_room_take (room, front, part);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = *unit = tfx_unit_new (sizeof *u, stage, spec, lay_out);

  if (!u)
    return -ENOMEM;
  tfx_key_set (&u->key, &stage->u.dynamics, u->unit.kernels->copies, 0);
  take_params (u);
  return 0;
}

/* ---- frames ---------------------------------------------------------------------- */

/* Runs n_frames of the part from frame `first`, which is 0 if a group has begun; at most
 * to the end of a ramp. */
static void
run_frames (Unit *u, size_t first, size_t n_frames, TfxSample type)
{
  const TfxDynamicsKernels *k = u->unit.kernels;
  TfxParams *p = &u->unit.params;
  const size_t n_levels = u->n_levels, n_all = u->n_begun + n_frames;
  const size_t at = first * n_levels, n_before = u->n_begun * n_levels;
  const bool is_ramping = tfx_params_are_ramping (p);
  const bool is_f32 = type == TFX_SAMPLE_F32;
  double *heard = u->heard + at - n_before, lowest;

  lowest = k->run (heard, u->made + at - n_before,
      is_ramping ? u->made_to + at - n_before : NULL, n_all, n_levels,
      u->is_product, &u->ballistics, u->curves, is_f32, u->state, u->now);
  u->reduction = fmin (u->reduction, lowest);
  if (is_ramping) {
    k->copies->fade (u->made + at, u->made_to + at, n_frames, n_levels,
        p->weight, p->done, p->length);
    tfx_params_advance (p, n_frames);
  }
  if (u->key.channels)
    tfx_key_apply (&u->key, u->made + at,
        u->samples + first * u->unit.n_channels, n_frames);
  else if (u->is_linked)
    k->multiply (u->samples + first * u->unit.n_channels, u->made + first,
        n_frames, u->unit.n_channels);
  else if (!u->is_product)
    k->multiply (u->samples + at, u->made + at, n_frames * n_levels, 1);
  u->n_begun = n_all % u->group_frames;
  memmove (u->heard - u->n_begun * n_levels,
      heard + (n_all - u->n_begun) * n_levels,
      u->n_begun * n_levels * sizeof *heard);
}

/* The next frame begins a group. */
static void
end_group (Unit *u)
{
  memcpy (u->state, u->now, TFX_N_LEVELS * u->stride * sizeof *u->state);
  u->n_begun = 0;
}

/* A ramp begins and ends with a group, and so do its grid cells while attack or release
 * change. */
static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  TfxParams *p = &u->unit.params;
  size_t i = 0;

  if (u->key.is_on)
    tfx_key_run (&u->key, u->unit.kernels, u->samples, u->keyed, n_frames);
  if (u->is_linked)
    u->unit.kernels->link (u->key.is_on ? u->keyed : u->samples, u->heard,
        n_frames, u->key.n);
  for (size_t n; i < n_frames && tfx_params_are_ramping (p); i += n) {
    const size_t left = p->length - p->done;
    const bool has_times =
        tfx_params_change (p, ATTACK) || tfx_params_change (p, RELEASE);
    const size_t cell = has_times ? tfx_params_cell (p, left) : left;

    n = n_frames - i < cell ? n_frames - i : cell;
    if (p->done == 0 || (has_times && p->done % TFX_GRID_FRAMES == 0)) {
      end_group (u);
      take_params (u);
    }
    run_frames (u, i, n, type);
    if (p->done == 0 || !tfx_params_are_ramping (p))
      end_group (u);
    if (!tfx_params_are_ramping (p))
      take_params (u);
  }
  if (i < n_frames)
    run_frames (u, i, n_frames - i, type);
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;

  return tfx_samples_run (&u->unit, in, out, u->samples,
      u->is_product ? u->made : u->samples, u->unit.part_frames, run_part);
}

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  if (u->key.n_sos > 0)
    tfx_key_set (&u->key, &((TfxStage *)values)->u.dynamics,
        u->unit.kernels->copies, n_frames);
  tfx_params_take (&u->unit.params, values, n_frames, weight);
  if (n_frames == 0) {
    end_group (u);
    take_params (u);
  }
}

/* ---- state -------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  memset (u->now, 0, TFX_N_LEVELS * u->stride * sizeof *u->now);
  tfx_key_reset (&u->key, u->unit.kernels->copies);
  end_group (u);
  tfx_params_finish (&u->unit.params);
  take_params (u);
}

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  double peak = tfx_key_peak (&u->key);

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

  for (unsigned c = 0; c < u->unit.n_channels; c++) {
    for (unsigned i = 0; i < TFX_N_LEVELS; i++)
      *state++ = u->now[i * u->stride + (u->is_linked ? 0 : c)];
    tfx_key_get_state (&u->key, c, state);
    state += 2 * u->key.n_sos;
  }
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  for (unsigned c = 0; c < u->unit.n_channels; c++) {
    for (unsigned i = 0; i < TFX_N_LEVELS; i++, state++) {
      if (c < u->n_levels)
        u->now[i * u->stride + c] = *state;
    }
    tfx_key_set_state (&u->key, c, state);
    state += 2 * u->key.n_sos;
  }
  end_group (u);
}

/* Takes over the levels; a new mean square begins with the level. */
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
  tfx_key_copy_state (&u->key, &from->key);
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

static const TfxUnitKind dynamics_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = tfx_unit_free,
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up = unit_catch_up,
  .read = unit_read,
};

const TfxKind tfx_kind_dynamics = {
  .step = TFX_STEP_UNIT,
  .unit = &dynamics_unit,
  TFX_FIELDS (fields),
  .check = dynamics_check,
  .is_valid = dynamics_is_valid,
  .is_identity = dynamics_is_identity,
  .is_same_structure = dynamics_is_same_structure,
  .is_same = dynamics_is_same,
  .state_size = dynamics_state_size,
  .gain_at = dynamics_gain_at,
  .cost = dynamics_cost,
};
