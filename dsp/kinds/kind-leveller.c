/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-leveller.c: stages whose gain is found cell by cell, ahead of what comes
 * out. */
#include <math.h>
#include <string.h>

#include "kind-leveller.h"
#include "unit.h"

static bool
leveller_is_sound (const TfxStage *stage)
{
  const TfxLeveller *l = &stage->u.leveller;

  return l->n_cell >= 1 && l->n_cell <= TFX_LEVELLER_MAX_CELL &&
         l->n_window <= TFX_LEVELLER_MAX_CELLS &&
         (l->n_ahead == 0 || (l->n_smooth >= 1 && l->n_smooth < l->n_ahead &&
                                 l->n_ahead <= l->n_window)) &&
         fabs (l->target_db) <= 400.0 && l->max_gain_db >= 0.0 &&
         l->max_gain_db <= 400.0 && l->release >= 0.0 && l->release < 1.0 &&
         l->step_db >= 0.0 && tfx_sos_is_stable (&l->weighting[0]) &&
         tfx_sos_is_stable (&l->weighting[1]);
}

TfxStage *
tfx_stage_new_leveller (uint64_t id, const TfxLeveller *leveller)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_leveller,
    .u.leveller = *leveller };

  return tfx_stage_new_like (&values);
}

static bool
leveller_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const TfxLeveller *s = &a->u.leveller, *t = &b->u.leveller;

  return s->measure == t->measure && s->is_linked == t->is_linked &&
         s->n_cell == t->n_cell && s->n_ahead == t->n_ahead &&
         s->n_smooth == t->n_smooth && s->n_window == t->n_window &&
         s->positions == t->positions &&
         memcmp (s->weighting, t->weighting, sizeof s->weighting) == 0;
}

static bool
leveller_is_same (const TfxStage *a, const TfxStage *b)
{
  const TfxLeveller *s = &a->u.leveller, *t = &b->u.leveller;

  return leveller_is_same_structure (a, b) && s->target_db == t->target_db &&
         s->max_gain_db == t->max_gain_db && s->release == t->release &&
         s->step_db == t->step_db;
}

/* What is there once is counted with each channel. */
static size_t
leveller_state_size (const TfxStage *stage)
{
  return tfx_leveller_state_size (&stage->u.leveller, 1);
}

static size_t
leveller_latency (const TfxStage *stage)
{
  return tfx_leveller_delay (&stage->u.leveller);
}

static double
leveller_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[][4] = {
    [TFX_LEVELLER_PEAK] = { 3.7, 0.6, 0.6, 0.6 },
    [TFX_LEVELLER_TRUE_PEAK] = { 15.0, 4.4, 3.6, 2.7 },
    [TFX_LEVELLER_RMS] = { 3.7, 1.8, 1.4, 1.0 },
    [TFX_LEVELLER_LOUDNESS] = { 17.0, 4.6, 3.2, 2.2 },
  };

  return tfx_unit_cost (costs[stage->u.leveller.measure], spec);
}

const TfxKind tfx_kind_leveller = {
  .step = TFX_STEP_UNIT,
  .unit = &tfx_leveller_unit,
  .is_sound = leveller_is_sound,
  .is_same_structure = leveller_is_same_structure,
  .is_same = leveller_is_same,
  .state_size = leveller_state_size,
  .latency = leveller_latency,
  .cost = leveller_cost,
};
