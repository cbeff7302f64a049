/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-dynamics.c: stages whose gain follows the level of the signal:
 * compressors, expanders and gates. */
#include <math.h>

#include "kind-dynamics.h"
#include "unit.h"

static bool
is_between (double value, double lowest, double highest)
{
  return value >= lowest && value <= highest;
}

/* Gains stay within what a double holds of a float's samples. */
static bool
dynamics_is_sound (const TfxStage *stage)
{
  const TfxDynamics *d = &stage->u.dynamics;

  return is_between (d->threshold_db, -400.0, 400.0) &&
         is_between (d->slope, -1e6, 0.0) &&
         is_between (d->knee_db, 0.0, 400.0) &&
         is_between (d->floor_db, TFX_DYNAMICS_LOWEST_DB, 0.0) &&
         is_between (d->makeup_db, -400.0, 400.0) && d->attack >= 0.0 &&
         d->attack < 1.0 && d->release >= 0.0 && d->release < 1.0;
}

TfxStage *
tfx_stage_new_dynamics (uint64_t id, const TfxDynamics *dynamics)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_dynamics,
    .u.dynamics = *dynamics };

  return tfx_stage_new_like (&values);
}

static bool
dynamics_is_identity (const TfxStage *stage)
{
  return stage->u.dynamics.slope == 0.0 && stage->u.dynamics.makeup_db == 0.0;
}

static bool
dynamics_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const TfxDynamics *s = &a->u.dynamics, *t = &b->u.dynamics;

  return s->is_downward == t->is_downward && s->is_rms == t->is_rms &&
         s->is_linked == t->is_linked;
}

static bool
dynamics_is_same (const TfxStage *a, const TfxStage *b)
{
  const TfxDynamics *s = &a->u.dynamics, *t = &b->u.dynamics;

  return dynamics_is_same_structure (a, b) &&
         s->threshold_db == t->threshold_db && s->slope == t->slope &&
         s->knee_db == t->knee_db && s->floor_db == t->floor_db &&
         s->makeup_db == t->makeup_db && s->attack == t->attack &&
         s->release == t->release;
}

static size_t
dynamics_state_size (const TfxStage *stage)
{
  return TFX_DYNAMICS_STATE;
}

static double
dynamics_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 20.0, 1.8, 1.6, 1.3 };

  return tfx_unit_cost (costs, spec);
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

const TfxKind tfx_kind_dynamics = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_dynamics_unit,
  .is_sound = dynamics_is_sound,
  .is_identity = dynamics_is_identity,
  .is_same_structure = dynamics_is_same_structure,
  .is_same = dynamics_is_same,
  .state_size = dynamics_state_size,
  .gain_at = dynamics_gain_at,
  .cost = dynamics_cost,
};
