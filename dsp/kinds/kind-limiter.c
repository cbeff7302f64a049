/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-limiter.c: stages that are a limiter. */
#include <math.h>

#include "kind-limiter.h"
#include "unit.h"

static bool
limiter_is_sound (const TfxStage *stage)
{
  const TfxLimiter *l = &stage->u.limiter;

  return l->threshold_db >= -400.0 && l->threshold_db <= 400.0 &&
         l->n_ahead <= TFX_LIMITER_MAX_AHEAD &&
         l->n_late <= TFX_LIMITER_MAX_AHEAD && l->attack >= 0.0 &&
         l->attack < 1.0 && l->release >= 0.0 && l->release < 1.0;
}

TfxStage *
tfx_stage_new_limiter (uint64_t id, const TfxLimiter *limiter)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_limiter,
    .u.limiter = *limiter };

  return tfx_stage_new_like (&values);
}

static bool
limiter_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const TfxLimiter *s = &a->u.limiter, *t = &b->u.limiter;

  return s->n_ahead == t->n_ahead && s->n_late == t->n_late &&
         s->is_linked == t->is_linked;
}

static bool
limiter_is_same (const TfxStage *a, const TfxStage *b)
{
  const TfxLimiter *s = &a->u.limiter, *t = &b->u.limiter;

  return limiter_is_same_structure (a, b) &&
         s->threshold_db == t->threshold_db && s->attack == t->attack &&
         s->release == t->release;
}

static size_t
limiter_latency (const TfxStage *stage)
{
  return stage->u.limiter.n_ahead + stage->u.limiter.n_late;
}

/* The last inputs, and the gain; all 0 at rest. */
static size_t
limiter_state_size (const TfxStage *stage)
{
  return limiter_latency (stage) + 1;
}

static double
limiter_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 10.0, 1.7, 2.3, 1.1 };

  return tfx_unit_cost (costs, spec);
}

static double
limiter_gain_at (const TfxStage *stage, double level_db)
{
  return fmin (0.0, stage->u.limiter.threshold_db - level_db);
}

const TfxKind tfx_kind_limiter = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_limiter_unit,
  .is_sound = limiter_is_sound,
  .is_same_structure = limiter_is_same_structure,
  .is_same = limiter_is_same,
  .state_size = limiter_state_size,
  .latency = limiter_latency,
  .gain_at = limiter_gain_at,
  .cost = limiter_cost,
};
