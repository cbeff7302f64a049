/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plan.c: compiles a chain: stages become steps, gains are folded in, and what
 * does nothing vanishes. */
#include "plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stage.h"

static bool
is_identity (const TfxStage *stage)
{
  if (stage->kind == TFX_STAGE_GAIN)
    return stage->gain == 1.0;
  for (size_t i = 0; i < stage->n_sos; i++) {
    const TfxSos *s = &stage->sos[i];
    if (s->b0 != 1.0 || s->b1 != s->a1 || s->b2 != s->a2)
      return false;
  }
  return true;
}

static void
scale_section (TfxSos *s, double gain)
{
  s->b0 *= gain;
  s->b1 *= gain;
  s->b2 *= gain;
}

/* Appends the sections of stage to the step.  A gain that stands before them
 * goes into the first one, so that its state is what it is without folding. */
static void
append_sections (TfxPlan *plan, const TfxStage *stage)
{
  TfxStep *step = &plan->steps[plan->n_steps - 1];
  TfxPlanStage *entry = &plan->stages[plan->n_stages++];
  TfxSos *sos = step->sos + step->n_sos;

  entry->id = stage->id;
  entry->step = plan->n_steps - 1;
  entry->first_sos = step->n_sos;
  entry->n_sos = stage->n_sos;
  memcpy (sos, stage->sos, stage->n_sos * sizeof *sos);
  if (step->gain != 0.0) {
    scale_section (&sos[0], step->gain);
    step->gain = 1.0;
  }
  step->n_sos += stage->n_sos;
  plan->n_sos += stage->n_sos;
}

static void
plan_free (TfxPlan *plan)
{
  if (!plan)
    return;
  free (plan->steps);
  free (plan->stages);
  free (plan->sos);
  free (plan);
}

static TfxPlan *
plan_alloc (const TfxChain *chain)
{
  TfxPlan *plan = calloc (1, sizeof *plan);
  size_t n_sos = 0;

  if (!plan)
    return NULL;
  for (size_t i = 0; i < chain->n_stages; i++)
    n_sos += chain->stages[i]->n_sos;
  plan->refs = 1;
  plan->steps = calloc (1, sizeof *plan->steps);
  plan->stages = calloc (chain->n_stages + 1, sizeof *plan->stages);
  plan->sos = calloc (n_sos + 1, sizeof *plan->sos);
  if (!plan->steps || !plan->stages || !plan->sos) {
    plan_free (plan);
    return NULL;
  }
  return plan;
}

int
tfx_plan_compile (const TfxChain *chain, double rate_hz, unsigned n_channels,
    const TfxBackend *backend, TfxPlan **out)
{
  TfxPlan *plan;

  *out = NULL;
  if (!backend || !(rate_hz > 0.0) || !isfinite (rate_hz) || n_channels < 1 ||
      n_channels > TFX_MAX_CHANNELS)
    return -EINVAL;
  plan = plan_alloc (chain);
  if (!plan)
    return -ENOMEM;

  plan->rate_hz = rate_hz;
  plan->n_channels = n_channels;
  plan->backend = backend;
  plan->n_chain_stages = chain->n_stages;
  plan->n_steps = 1;
  plan->steps[0] = (TfxStep){ TFX_STEP_CASCADE, 1.0, 0, plan->sos };
  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *stage = chain->stages[i];
    if (is_identity (stage))
      continue;
    if (stage->kind == TFX_STAGE_GAIN)
      plan->steps[0].gain *= stage->gain;
    else
      append_sections (plan, stage);
  }
  *out = plan;
  return 0;
}

TfxPlan *
tfx_plan_ref (TfxPlan *plan)
{
  __atomic_add_fetch (&plan->refs, 1, __ATOMIC_RELAXED);
  return plan;
}

void
tfx_plan_unref (TfxPlan **plan)
{
  TfxPlan *p = *plan;

  *plan = NULL;
  if (p && __atomic_sub_fetch (&p->refs, 1, __ATOMIC_ACQ_REL) == 0)
    plan_free (p);
}

size_t
tfx_plan_n_stages (const TfxPlan *plan)
{
  return plan->n_chain_stages;
}

size_t
tfx_plan_n_sections (const TfxPlan *plan)
{
  return plan->n_sos;
}

bool
tfx_plan_same_structure (const TfxPlan *a, const TfxPlan *b)
{
  if (a->rate_hz != b->rate_hz || a->n_channels != b->n_channels ||
      a->backend != b->backend || a->n_steps != b->n_steps ||
      a->n_stages != b->n_stages)
    return false;
  for (size_t i = 0; i < a->n_stages; i++) {
    const TfxPlanStage *s = &a->stages[i], *t = &b->stages[i];
    if (s->id != t->id || s->step != t->step || s->n_sos != t->n_sos)
      return false;
  }
  return true;
}

bool
tfx_plan_same_values (const TfxPlan *a, const TfxPlan *b)
{
  if (!tfx_plan_same_structure (a, b))
    return false;
  for (size_t i = 0; i < a->n_steps; i++) {
    if (a->steps[i].gain != b->steps[i].gain)
      return false;
  }
  return memcmp (a->sos, b->sos, a->n_sos * sizeof *a->sos) == 0;
}
