/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plan.c: compiles a chain: stages become steps, gains are folded in, and what
 * does nothing vanishes. */
#include "backend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool
is_identity (const TfxStage *stage)
{
  switch (stage->tag) {
    case TFX_STAGE_GAIN:
      return stage->u.gain == 1.0;
    case TFX_STAGE_DELAY:
      return stage->u.delay.direct == 1.0 && stage->u.delay.n_taps == 0;
    case TFX_STAGE_FIR:
    case TFX_STAGE_SUM:
      return false;
    case TFX_STAGE_SECTIONS:
      break;
  }
  for (size_t i = 0; i < stage->u.sections.n; i++) {
    const TfxSos *s = &stage->u.sections.sos[i];
    if (s->b0 != 1.0 || s->b1 != s->a1 || s->b2 != s->a2)
      return false;
  }
  return true;
}

/* What the chain may need at the most. */
typedef struct Count
{
  size_t n_sos, n_stages;
} Count;

static void
count_chain (const TfxChain *chain, Count *count)
{
  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];

    count->n_stages++;
    if (s->tag == TFX_STAGE_SECTIONS)
      count->n_sos += s->u.sections.n;
    for (size_t k = 0; s->tag == TFX_STAGE_SUM && k < s->u.sum.n; k++)
      count_chain (s->u.sum.branches[k], count);
  }
}

static TfxStep *
add_step (TfxPlan *plan, TfxSteps *list, TfxStepKind kind, double gain)
{
  TfxStep *step = &list->steps[list->n++];

  step->kind = kind;
  step->index = plan->n_all_steps++;
  step->gain = gain;
  return step;
}

static TfxPlanStage *
add_stage (TfxPlan *plan, uint64_t id, const TfxStep *step, size_t state_size,
    double scale)
{
  TfxPlanStage *entry = &plan->stages[plan->n_stages++];

  entry->id = id;
  entry->kind = step->kind;
  entry->step = step;
  entry->state_size = state_size;
  entry->scale = scale;
  return entry;
}

static void
scale_section (TfxSos *s, double gain)
{
  s->b0 *= gain;
  s->b1 *= gain;
  s->b2 *= gain;
}

/* A gain that stands before the sections goes into the first one, so that its
 * state is what it is without folding. */
static void
add_sections (TfxPlan *plan, TfxSteps *list, const TfxStage *stage, double gain,
    double scale)
{
  const size_t n = stage->u.sections.n;
  TfxStep *step = list->n > 0 ? &list->steps[list->n - 1] : NULL;
  TfxPlanStage *entry;
  TfxSos *sos;

  if (!step || step->kind != TFX_STEP_CASCADE) {
    step = add_step (plan, list, TFX_STEP_CASCADE, gain);
    step->sos = plan->sos + plan->n_sos;
  }
  sos = step->sos + step->n_sos;
  memcpy (sos, stage->u.sections.sos, n * sizeof *sos);
  entry = add_stage (plan, stage->id, step, 2 * n, scale);
  entry->gain = step->gain;
  scale_section (&sos[0], step->gain);
  step->gain = 1.0;
  entry->first_sos = step->n_sos;
  entry->n_sos = n;
  step->n_sos += n;
  plan->n_sos += n;
}

/* Convolving kernels of more taps than this with each other takes longer than
 * a change of parameters may. */
#define MERGE_MAX_PRODUCTS 16000000.0

/* The same while samples flow, and the taps of what comes of it, whose past has
 * to be handed over there and back: a few ms at the most. */
#define MERGE_MAX_PRODUCTS_IN_STREAM 1000000.0
#define MERGE_MAX_TAPS_IN_STREAM 16384

/* Whether two FIRs in series, neither of which takes a delay out of the stream
 * here, should be one: a tap less in all and one pass over the samples, or
 * fewer transforms; but not where a long one would have to be summed up tap by
 * tap, as is asked of a short one, or where one becomes longer than a block has
 * room for. */
static bool
is_better_as_one (const TfxPlan *plan, const TfxFirShape *a,
    const TfxFirShape *b, bool in_stream)
{
  const TfxBackend *backend = plan->backend;
  const TfxFirShape both = tfx_stage_convolved_shape (a, b);
  const double products = (double)a->n_taps * (double)b->n_taps;

  if (a->n_kernels != b->n_kernels && a->n_kernels != 1 && b->n_kernels != 1)
    return false;
  if (both.n_taps > TFX_FIR_MAX_TAPS || products > MERGE_MAX_PRODUCTS)
    return false;
  if (in_stream && (both.n_taps > MERGE_MAX_TAPS_IN_STREAM ||
                       products > MERGE_MAX_PRODUCTS_IN_STREAM))
    return false;
  return !backend->fir_cost ||
         backend->fir_cost (plan, &both) <=
             backend->fir_cost (plan, a) + backend->fir_cost (plan, b);
}

/* Adjacent FIRs become one if that costs less.  The state of the one is that of
 * the first.  Those that take a delay out of the stream stay apart at its ends:
 * what the first drops is not the second one's input. */
static bool
may_merge (const TfxPlan *plan, const TfxSteps *list, const TfxStage *stage)
{
  const TfxStep *last = list->n > 0 ? &list->steps[list->n - 1] : NULL;
  TfxFirShape a, b;

  if (!last || last->kind != TFX_STEP_FIR)
    return false;
  if (list == &plan->top && plan->keep_stages)
    return false;
  if (!plan->in_stream && (last->delay > 0 || stage->u.fir.delay > 0))
    return false;
  a = tfx_stage_fir_shape (last->stage);
  b = tfx_stage_fir_shape (stage);
  return is_better_as_one (plan, &a, &b, plan->in_stream);
}

static int
merge_fir (TfxPlan *plan, TfxStep *last, const TfxStage *stage, double scale)
{
  TfxStage *both = tfx_stage_convolve (last->stage, stage);
  TfxPlanStage *entry = &plan->stages[plan->n_stages - 1];
  TfxPlanFollower *follower = &plan->followers[plan->n_followers];

  if (!both)
    return -ENOMEM;
  follower->id = stage->id;
  follower->stage = entry;
  follower->before = last->stage;
  follower->state_size = stage->u.fir.n_taps - 1;
  follower->scale = scale * last->gain;
  plan->n_followers++;

  last->stage = both;
  last->delay += stage->u.fir.delay;
  plan->delay += stage->u.fir.delay;
  entry->state_size = both->u.fir.n_taps - 1;
  return 0;
}

static int
add_fir (TfxPlan *plan, TfxSteps *list, TfxStage *stage, double gain,
    double scale)
{
  TfxStep *step;

  if (stage->u.fir.delay > 0 && list != &plan->top)
    return -EINVAL;
  if (stage->u.fir.n_kernels != 1 && stage->u.fir.n_kernels != plan->n_channels)
    return -EINVAL;
  if (may_merge (plan, list, stage))
    return merge_fir (plan, &list->steps[list->n - 1], stage, scale);
  step = add_step (plan, list, TFX_STEP_FIR, gain);
  step->stage = tfx_stage_ref (stage);
  step->delay = stage->u.fir.delay;
  plan->delay += step->delay;
  add_stage (plan, stage->id, step, stage->u.fir.n_taps - 1, scale * gain);
  return 0;
}

/* Zeros behind the taps of a FIR: its past is longer. */
static int
lengthen_fir (TfxPlan *plan, TfxStep *step, size_t n_taps)
{
  TfxStage *longer = tfx_stage_lengthen (step->stage, n_taps);

  if (!longer)
    return -ENOMEM;
  tfx_stage_unref (&step->stage);
  step->stage = longer;
  for (size_t i = 0; i < plan->n_stages; i++) {
    if (plan->stages[i].step == step)
      plan->stages[i].state_size = n_taps - 1;
  }
  return 0;
}

/* The taps that the FIR at step i would have together with those behind it;
 * *end is the first step that is none of them. */
static size_t
count_taps (const TfxPlan *plan, size_t i, size_t *end)
{
  const TfxSteps *list = &plan->top;
  TfxFirShape whole = tfx_stage_fir_shape (list->steps[i].stage);

  for (i++; i < list->n && list->steps[i].kind == TFX_STEP_FIR; i++) {
    const TfxFirShape next = tfx_stage_fir_shape (list->steps[i].stage);

    if (!is_better_as_one (plan, &whole, &next, true))
      break;
    whole = tfx_stage_convolved_shape (&whole, &next);
  }
  *end = i;
  return whole.n_taps;
}

/* Whether the state of all stages can be handed over between two blocks: with
 * the FIRs that become one, all others are handed over too. */
static bool
is_soon_handed_over (const TfxPlan *plan)
{
  for (size_t i = 0; i < plan->n_stages; i++) {
    if (plan->stages[i].state_size >= MERGE_MAX_TAPS_IN_STREAM)
      return false;
  }
  return true;
}

/* What adjacent FIRs would need to become one in the middle of the stream. */
static int
look_at_past (TfxPlan *plan, bool long_past)
{
  const TfxSteps *top = &plan->top;
  int ret = 0;

  if (!is_soon_handed_over (plan))
    return 0;
  for (size_t i = 0, end; ret == 0 && i < top->n; i = end) {
    size_t n_taps;

    end = i + 1;
    if (top->steps[i].kind != TFX_STEP_FIR)
      continue;
    n_taps = count_taps (plan, i, &end);
    if (end == i + 1)
      continue;
    plan->past = n_taps > plan->past ? n_taps : plan->past;
    if (long_past)
      ret = lengthen_fir (plan, &top->steps[i], n_taps);
  }
  return ret;
}

static int compile_chain (TfxPlan *plan, const TfxChain *chain, TfxSteps *list,
    double scale);

static int
add_sum (TfxPlan *plan, TfxSteps *list, const TfxStage *stage, double gain,
    double scale)
{
  TfxStep *step = add_step (plan, list, TFX_STEP_SUM, gain);
  int ret = 0;

  step->branches = calloc (stage->u.sum.n, sizeof *step->branches);
  if (!step->branches)
    return -ENOMEM;
  step->n_branches = stage->u.sum.n;
  for (size_t i = 0; ret == 0 && i < step->n_branches; i++)
    ret = compile_chain (plan, stage->u.sum.branches[i], &step->branches[i],
        scale * gain);
  return ret;
}

/* The input that the list has here, times scale, is what the chain would have. */
static int
compile_chain (TfxPlan *plan, const TfxChain *chain, TfxSteps *list,
    double scale)
{
  double gain = 1.0; /* of gains before the first step */
  int ret = 0;

  list->steps = calloc (chain->n_stages + 1, sizeof *list->steps);
  if (!list->steps)
    return -ENOMEM;
  for (size_t i = 0; ret == 0 && i < chain->n_stages; i++) {
    TfxStage *stage = chain->stages[i];

    if (is_identity (stage))
      continue;
    switch (stage->tag) {
      case TFX_STAGE_GAIN:
        if (list->n > 0)
          list->steps[list->n - 1].gain *= stage->u.gain;
        else
          gain *= stage->u.gain;
        continue;
      case TFX_STAGE_SECTIONS:
        add_sections (plan, list, stage, gain, scale);
        break;
      case TFX_STAGE_FIR:
        ret = add_fir (plan, list, stage, gain, scale);
        break;
      case TFX_STAGE_DELAY: {
        TfxStep *step = add_step (plan, list, TFX_STEP_DELAY, gain);
        step->stage = tfx_stage_ref (stage);
        add_stage (plan, stage->id, step, stage->u.delay.longest, scale * gain);
        break;
      }
      case TFX_STAGE_SUM:
        ret = add_sum (plan, list, stage, gain, scale);
        break;
    }
    gain = 1.0;
  }
  if (list->n == 0 && gain != 1.0)
    add_step (plan, list, TFX_STEP_CASCADE, gain)->sos =
        plan->sos + plan->n_sos;
  return ret;
}

static void
steps_clear (TfxSteps *list)
{
  for (size_t i = 0; i < list->n; i++) {
    TfxStep *s = &list->steps[i];

    tfx_stage_unref (&s->stage);
    for (size_t k = 0; k < s->n_branches; k++)
      steps_clear (&s->branches[k]);
    free (s->branches);
  }
  free (list->steps);
}

static void
plan_free (TfxPlan *plan)
{
  steps_clear (&plan->top);
  for (size_t i = 0; i < plan->n_followers; i++)
    tfx_stage_unref (&plan->followers[i].before);
  free (plan->followers);
  tfx_chain_unref (&plan->chain);
  free (plan->stages);
  free (plan->sos);
  free (plan);
}

int
tfx_plan_compile_for (const TfxChain *chain, const TfxPlanSpec *spec,
    TfxPlan **out)
{
  TfxPlan *plan;
  Count count = { 0, 0 };
  int ret = -ENOMEM;

  *out = NULL;
  if (!spec->backend || !(spec->rate_hz > 0.0) || !isfinite (spec->rate_hz) ||
      spec->n_channels < 1 || spec->n_channels > TFX_MAX_CHANNELS ||
      (unsigned)spec->sample > TFX_SAMPLE_F64)
    return -EINVAL;
  plan = calloc (1, sizeof *plan);
  if (!plan)
    return -ENOMEM;

  count_chain (chain, &count);
  plan->refs = 1;
  plan->rate_hz = spec->rate_hz;
  plan->n_channels = spec->n_channels;
  plan->sample = spec->sample;
  plan->block_frames = spec->block_frames;
  plan->backend = spec->backend;
  plan->keep_stages = spec->keep_stages;
  plan->in_stream = spec->in_stream && !spec->keep_stages;
  plan->n_chain_stages = chain->n_stages;
  plan->stages = calloc (count.n_stages + 1, sizeof *plan->stages);
  plan->sos = calloc (count.n_sos + 1, sizeof *plan->sos);
  plan->followers = calloc (count.n_stages + 1, sizeof *plan->followers);
  if (plan->stages && plan->sos && plan->followers)
    ret = compile_chain (plan, chain, &plan->top, 1.0);
  if (ret == 0 && spec->keep_stages)
    ret = look_at_past (plan, spec->long_past);
  if (ret < 0) {
    plan_free (plan);
    return ret;
  }
  if (plan->n_followers > 0)
    plan->chain = tfx_chain_ref ((TfxChain *)chain);
  *out = plan;
  return 0;
}

int
tfx_plan_compile (const TfxChain *chain, double rate_hz, unsigned n_channels,
    const TfxBackend *backend, TfxPlan **out)
{
  const TfxPlanSpec spec = { .rate_hz = rate_hz,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F64,
    .backend = backend };

  return tfx_plan_compile_for (chain, &spec, out);
}

int
tfx_plan_split (const TfxPlan *plan, TfxPlan **apart)
{
  const TfxPlanSpec spec = { .rate_hz = plan->rate_hz,
    .n_channels = plan->n_channels,
    .sample = plan->sample,
    .block_frames = plan->block_frames,
    .backend = plan->backend,
    .keep_stages = true };

  return tfx_plan_compile_for (plan->chain, &spec, apart);
}

int
tfx_plan_prepare (TfxPlan *plan)
{
  return plan->backend->prepare ? plan->backend->prepare (plan) : 0;
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

size_t
tfx_plan_past (const TfxPlan *plan)
{
  return plan->past;
}

size_t
tfx_plan_n_states (const TfxPlan *plan)
{
  return plan->n_stages;
}

uint64_t
tfx_plan_state_id (const TfxPlan *plan, size_t state)
{
  return plan->stages[state].id;
}

size_t
tfx_plan_delay (const TfxPlan *plan)
{
  return plan->delay;
}
