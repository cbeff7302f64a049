/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics.c: a gain that follows the level of the signal, on the device. */
#include <math.h>
#include <stdlib.h>

#include "unit.h"

/* The state of a channel: the held level, the output level, the mean square. */
#define N_STATE 3

/* Octaves for a dB. */
#define OCTAVES_PER_DB (1.0 / 6.0205999132796239)

typedef struct Unit
{
  TfxCudaUnit base;
  bool is_linked;
  TfxDynamicsArgs args; /* arguments that are the same for all blocks */
  TfxBuffer carry, control;
  bool is_broken; /* carry and control must be cleared */
  TfxKernel kernel;
} Unit;

/* Keys run on the CPU. */
static bool
can_run (const TfxStage *stage)
{
  const TfxDynamics *d = &stage->u.dynamics;

  return d->key == 0 && d->n_key_sos == 0 &&
         !(d->is_linked && d->n_unmeasured > 0);
}

static void
unit_clear (void *data)
{
  Unit *u = data;

  tfx_buffer_free (u->base.stream, &u->carry);
  tfx_buffer_free (u->base.stream, &u->control);
}

static int
unit_make (void *data, const TfxStage *stage)
{
  Unit *u = data;

  u->is_linked = stage->u.dynamics.is_linked && u->base.n_channels > 1;
  u->is_broken = true;
  u->base.state.n_numbers = N_STATE;
  return 0;
}

/* A knee of less is none. */
#define LEAST_KNEE 1e-9

static void
unit_set_stage (void *data)
{
  Unit *u = data;
  const TfxDynamics *d = &u->base.stage->u.dynamics;
  const double half_knee = 0.5 * d->knee_db * OCTAVES_PER_DB;
  const bool has_knee = half_knee > LEAST_KNEE;

  u->args.is_rms = d->is_rms;
  u->args.gain = u->base.gain;
  u->args.attack = tfx_cuda_unit_decay (d->attack);
  u->args.release = tfx_cuda_unit_decay (d->release);
  u->args.curve = (TfxCurveArgs){ .sign = d->is_downward ? -1.0 : 1.0,
    .threshold = d->threshold_db * OCTAVES_PER_DB,
    .slope = d->slope,
    .half_knee = has_knee ? half_knee : 0.0,
    .per_knee = has_knee ? 0.25 / half_knee : 0.0,
    .floor = d->floor_db * OCTAVES_PER_DB,
    .makeup = d->makeup_db * OCTAVES_PER_DB };
}

/* ---- running -------------------------------------------------------------------- */

static unsigned
n_levels_of (const Unit *u)
{
  return u->is_linked ? 1 : u->base.n_channels;
}

static size_t
n_tiles_of (size_t n_frames)
{
  return (n_frames + TFX_UNIT_TILE - 1) / TFX_UNIT_TILE;
}

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;
  const size_t n_words = n_levels_of (u) * TFX_LEVEL_DECAYS *
                         TFX_DECAY_WORDS (n_tiles_of (n_frames));
  int ret = tfx_cuda_unit_load (u->base.stream, "dynamics", &u->kernel);

  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (u->base.stream, &u->control,
        4 * sizeof (unsigned), u->is_broken);
  if (ret == 0)
    ret = tfx_buffer_reserve_zeros (u->base.stream, &u->carry,
        n_words * sizeof (uint64_t), u->is_broken);
  u->is_broken = u->is_broken && ret < 0;
  return ret;
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  const size_t n_tiles = n_tiles_of (run->n_frames);
  TfxDynamicsArgs args = u->args;

  args.run = tfx_cuda_unit_args (run, u->base.n_channels);
  args.n_levels = n_levels_of (u);
  args.n_tiles = (unsigned)n_tiles;
  args.state_in = tfx_cuda_state_in (&u->base.state);
  args.state_out = tfx_cuda_state_out (&u->base.state);
  args.carry = u->carry.data;
  args.control = u->control.data;
  return tfx_module_launch (u->base.stream, &u->kernel,
      n_tiles * n_levels_of (u), TFX_UNIT_THREADS, TFX_DYNAMICS_SHARED, &args);
}

static void
unit_abandon (void *data)
{
  Unit *u = data;

  u->is_broken = true;
}

/* ---- cost ----------------------------------------------------------------------- */

/* Instructions that a thread could issue in the time that a word takes from one
 * node to another. */
#define HOP 400.0

/* By channel for what is done with each sample, by level for what is done with
 * that. */
static void
unit_cost (const TfxStage *stage, unsigned n_channels, size_t n_frames,
    TfxCost *cost)
{
  const TfxDynamics *d = &stage->u.dynamics;
  const double per_level = d->is_linked ? 1.0 / n_channels : 1.0;
  const double rms = d->is_rms ? 1.0 : 0.0;
  const double n_nodes = (double)n_frames / (TFX_UNIT_TILE * TFX_UNIT_NODE);

  cost->issued = 45.0 + per_level * (125.0 + 29.0 * rms);
  cost->arithmetic = 7.0 + per_level * (48.0 + 7.3 * rms);
  cost->integer = 21.0 + per_level * (50.0 + 12.0 * rms);
  cost->passes = per_level * (0.61 + 0.31 * rms);
  /* Read twice and written once, in sectors of interleaved samples. */
  cost->cached = fmin (1.5 * cost->bytes * n_channels, 96.0);
  cost->serial = TFX_UNIT_RUN * (45.0 + 125.0 + 29.0 * rms) +
                 n_nodes * HOP * (d->is_rms ? 3.0 : 2.0);
}

const TfxCudaUnitKind tfx_cuda_dynamics = {
  .kind = &tfx_kind_dynamics,
  .size = sizeof (Unit),
  .can_run = can_run,
  .make = unit_make,
  .clear = unit_clear,
  .set_stage = unit_set_stage,
  .prepare = unit_prepare,
  .run = unit_run,
  .abandon = unit_abandon,
  .cost = unit_cost,
};
