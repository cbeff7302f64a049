/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plan-compare.c: in what two plans differ. */
#include "plan.h"

#include <string.h>

static bool
same_steps (const TfxSteps *a, const TfxSteps *b)
{
  if (a->n != b->n)
    return false;
  for (size_t i = 0; i < a->n; i++) {
    const TfxStep *s = &a->steps[i], *t = &b->steps[i];

    if (s->kind != t->kind || s->n_sos != t->n_sos || s->delay != t->delay ||
        s->n_branches != t->n_branches)
      return false;
    if (s->kind == TFX_STEP_FIR &&
        (s->stage->u.fir.n_kernels != t->stage->u.fir.n_kernels ||
            s->stage->u.fir.n_front != t->stage->u.fir.n_front ||
            s->stage->u.fir.n_back != t->stage->u.fir.n_back ||
            s->stage->u.fir.method != t->stage->u.fir.method))
      return false;
    for (size_t k = 0; k < s->n_branches; k++) {
      if (!same_steps (&s->branches[k], &t->branches[k]))
        return false;
    }
  }
  return true;
}

bool
tfx_plan_same_structure (const TfxPlan *a, const TfxPlan *b)
{
  if (a->rate_hz != b->rate_hz || a->n_channels != b->n_channels ||
      a->sample != b->sample || a->block_frames != b->block_frames ||
      a->backend != b->backend || a->n_stages != b->n_stages)
    return false;
  for (size_t i = 0; i < a->n_stages; i++) {
    const TfxPlanStage *s = &a->stages[i], *t = &b->stages[i];
    if (s->id != t->id || s->kind != t->kind ||
        s->step->index != t->step->index || s->state_size != t->state_size)
      return false;
  }
  return same_steps (&a->top, &b->top);
}

static bool
same_stage_values (const TfxStage *a, const TfxStage *b)
{
  if (a == b)
    return true;
  if (a->tag == TFX_STAGE_FIR)
    return memcmp (a->u.fir.taps, b->u.fir.taps,
               a->u.fir.n_kernels * a->u.fir.n_taps * sizeof (double)) == 0;
  if (a->u.delay.direct != b->u.delay.direct ||
      a->u.delay.n_taps != b->u.delay.n_taps)
    return false;
  for (size_t i = 0; i < a->u.delay.n_taps; i++) {
    const TfxTap *s = &a->u.delay.taps[i], *t = &b->u.delay.taps[i];
    if (s->delay != t->delay || s->gain != t->gain || s->swap != t->swap ||
        s->side != t->side)
      return false;
  }
  return true;
}

static bool
same_lines (const TfxSteps *a, const TfxSteps *b)
{
  for (size_t i = 0; i < a->n; i++) {
    const TfxStep *s = &a->steps[i], *t = &b->steps[i];

    if (s->stage &&
        (s->gain != t->gain || !same_stage_values (s->stage, t->stage)))
      return false;
    for (size_t k = 0; k < s->n_branches; k++) {
      if (!same_lines (&s->branches[k], &t->branches[k]))
        return false;
    }
  }
  return true;
}

bool
tfx_plan_same_lines (const TfxPlan *a, const TfxPlan *b)
{
  for (size_t i = 0; i < a->n_stages; i++) {
    if (a->stages[i].scale != b->stages[i].scale)
      return false;
  }
  return same_lines (&a->top, &b->top);
}

static bool
same_values (const TfxSteps *a, const TfxSteps *b)
{
  for (size_t i = 0; i < a->n; i++) {
    const TfxStep *s = &a->steps[i], *t = &b->steps[i];

    if (s->gain != t->gain ||
        (s->stage && !same_stage_values (s->stage, t->stage)))
      return false;
    for (size_t k = 0; k < s->n_branches; k++) {
      if (!same_values (&s->branches[k], &t->branches[k]))
        return false;
    }
  }
  return true;
}

/* What can be told apart of FIRs that have become one. */
static bool
same_followers (const TfxPlan *a, const TfxPlan *b)
{
  if (a->n_followers != b->n_followers)
    return false;
  for (size_t i = 0; i < a->n_followers; i++) {
    const TfxPlanFollower *s = &a->followers[i], *t = &b->followers[i];
    const TfxStage *x = s->before, *y = t->before;

    if (s->id != t->id || s->state_size != t->state_size ||
        s->scale != t->scale || x->u.fir.n_kernels != y->u.fir.n_kernels ||
        x->u.fir.n_taps != y->u.fir.n_taps || !same_stage_values (x, y))
      return false;
  }
  return true;
}

bool
tfx_plan_same_values (const TfxPlan *a, const TfxPlan *b)
{
  return tfx_plan_same_structure (a, b) && same_values (&a->top, &b->top) &&
         same_followers (a, b) &&
         memcmp (a->sos, b->sos, a->n_sos * sizeof *a->sos) == 0;
}
