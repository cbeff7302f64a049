/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.c: makes a plan ready to run, changes its values, and exchanges its
 * state. */
#include "engine-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ------------------------------------------------------------- */

static size_t
count_chunks (const TfxSteps *list)
{
  size_t n = list->n > 1; /* between the steps of this list */

  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    if (s->kind == TFX_STEP_SUM || s->kind == TFX_STEP_FADE)
      n += 2;
    for (size_t k = 0; k < s->n_branches; k++)
      n += count_chunks (&s->branches[k]);
  }
  return n;
}

/* The next chunk of those that engine_new() has reserved. */
static double *
take_chunk (TfxEngine *e)
{
  return e->chunks + e->n_chunks++ * e->chunk_frames * e->plan->n_channels;
}

static int
make_taps (const TfxPlan *plan, const TfxStep *s, TfxConvolverTaps **taps)
{
  const TfxConvolverSpec spec = tfx_engine_fir_spec (plan, s);

  *taps = tfx_engine_ready_taps (plan, s);
  return *taps ? 0 : tfx_convolver_taps_new (&spec, taps);
}

static int
make_fir (const TfxEngine *e, const TfxStep *s, TfxConvolver **fir)
{
  TfxConvolverTaps *taps;
  int ret;

  *fir = tfx_engine_ready_convolver (e->plan, s);
  if (*fir)
    return 0;
  ret = make_taps (e->plan, s, &taps);
  if (ret < 0)
    return ret;
  ret = tfx_convolver_new (taps, fir);
  tfx_convolver_taps_unref (&taps);
  return ret;
}

static int
make_nodes (TfxEngine *e, const TfxSteps *list)
{
  const TfxPlan *plan = e->plan;
  int ret = 0;

  if (list->n > 1)
    e->nodes[list->steps[0].index].between = take_chunk (e);
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

    if (s->unit)
      continue;
    switch (s->kind) {
      case TFX_STEP_CASCADE:
        ret = tfx_cascade_new (plan->backend->data, plan->n_channels, s->n_sos,
            &node->cascade);
        break;
      case TFX_STEP_DELAY:
        ret = tfx_delay_new (plan->n_channels, s->stage->u.delay.longest,
            e->chunk_frames, &node->delay);
        break;
      case TFX_STEP_FIR:
        ret = make_fir (e, s, &node->fir);
        break;
      case TFX_STEP_SUM:
      case TFX_STEP_FADE:
        node->sum = take_chunk (e);
        node->branch = take_chunk (e);
        for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
          ret = make_nodes (e, &s->branches[k]);
        break;
    }
  }
  return ret;
}

void
tfx_engine_free (TfxEngine *e)
{
  if (!e)
    return;
  for (size_t i = 0; e->nodes && i < e->n_nodes; i++) {
    tfx_cascade_free (&e->nodes[i].cascade);
    tfx_delay_free (&e->nodes[i].delay);
    tfx_convolver_free (&e->nodes[i].fir);
  }
  free (e->nodes);
  free (e->chunks);
  free (e);
}

/* Whether two FIR steps at the same place of plans of one structure are the
 * same filter. */
static bool
is_same_fir (const TfxStep *a, const TfxStep *b)
{
  const TfxStage *s = a->stage, *t = b->stage;

  if (a->gain != b->gain)
    return false;
  if (s == t)
    return true;
  return s->u.fir.n_kernels == t->u.fir.n_kernels &&
         s->u.fir.n_taps == t->u.fir.n_taps &&
         s->u.fir.method == t->u.fir.method &&
         memcmp (s->u.fir.taps, t->u.fir.taps,
             s->u.fir.n_kernels * s->u.fir.n_taps * sizeof (double)) == 0;
}

/* What can fail, before anything changes: the taps of every FIR that gets
 * others.  (Spectra of long ones take long.) */
static int
prepare_update (TfxEngine *e, const TfxPlan *plan, const TfxSteps *list,
    const TfxSteps *old)
{
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i], *was = &old->steps[i];

    if (s->kind == TFX_STEP_FIR && !s->unit && !is_same_fir (s, was))
      ret = make_taps (plan, s, &e->nodes[s->index].new_taps);
    for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
      ret = prepare_update (e, plan, &s->branches[k], &was->branches[k]);
  }
  return ret;
}

static void
set_values (TfxEngine *e, const TfxSteps *list)
{
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

    if (node->cascade)
      tfx_cascade_set_sections (node->cascade, s->sos, s->gain);
    if (node->delay)
      tfx_delay_set_taps (node->delay, s->stage->u.delay.direct,
          s->stage->u.delay.taps, s->stage->u.delay.n_taps, s->gain);
    if (node->fir && node->new_taps)
      tfx_convolver_set_taps (node->fir, node->new_taps,
          (size_t)(e->plan->rate_hz * FIR_FADE_SECONDS));
    for (size_t k = 0; k < s->n_branches; k++)
      set_values (e, &s->branches[k]);
  }
}

int
tfx_engine_update (TfxEngine *e, const TfxPlan *plan)
{
  int ret = prepare_update (e, plan, &plan->top, &e->plan->top);

  if (ret == 0) {
    e->plan = plan;
    set_values (e, &plan->top);
  }
  for (size_t i = 0; i < e->n_nodes; i++)
    tfx_convolver_taps_unref (&e->nodes[i].new_taps);
  return ret;
}

void
tfx_engine_update_step (TfxEngine *e, const TfxStep *s)
{
  tfx_cascade_set_sections (e->nodes[s->index].cascade, s->sos, s->gain);
}

/* The delays are those of a stream that is about to start. */
static void
rearm_gates (TfxEngine *e)
{
  for (size_t i = 0; i < e->plan->top.n; i++) {
    const TfxStep *s = &e->plan->top.steps[i];
    e->nodes[s->index].skip = e->nodes[s->index].rest = s->delay;
  }
}

int
tfx_engine_new (const TfxPlan *plan, TfxEngine **engine)
{
  TfxEngine *e = calloc (1, sizeof *e);
  int ret = -ENOMEM;

  *engine = NULL;
  if (!e)
    return -ENOMEM;
  e->plan = plan;
  e->chunk_frames = tfx_engine_chunk_frames (plan);
  e->n_nodes = plan->n_all_steps;
  e->nodes = calloc (e->n_nodes + 1, sizeof *e->nodes);
  e->chunks = calloc ((count_chunks (&plan->top) + 1) * e->chunk_frames,
      plan->n_channels * sizeof *e->chunks);
  if (e->nodes && e->chunks)
    ret = make_nodes (e, &plan->top);
  if (ret < 0) {
    tfx_engine_free (e);
    return ret;
  }
  set_values (e, &plan->top);
  rearm_gates (e);
  *engine = e;
  return 0;
}

/* ---- state -------------------------------------------------------------- */

void
tfx_engine_get_state (TfxEngine *e, size_t stage, double *state)
{
  const TfxPlanStage *s = &e->plan->stages[stage];
  Node *node = &e->nodes[s->step->index];

  if (node->cascade)
    tfx_cascade_get_state (node->cascade, s->first_sos, s->n_sos, state);
  if (node->delay)
    tfx_delay_get_state (node->delay, state);
  if (node->fir)
    tfx_convolver_get_history (node->fir, state);
}

void
tfx_engine_set_state (TfxEngine *e, size_t stage, const double *state)
{
  const TfxPlanStage *s = &e->plan->stages[stage];
  Node *node = &e->nodes[s->step->index];

  if (node->cascade)
    tfx_cascade_set_state (node->cascade, s->first_sos, s->n_sos, state);
  if (node->delay)
    tfx_delay_set_state (node->delay, state);
  if (node->fir)
    tfx_convolver_set_history (node->fir, state);
}

size_t
tfx_engine_get_skip (const TfxEngine *e, size_t stage)
{
  size_t skip = 0;

  if (stage != SIZE_MAX)
    return e->nodes[e->plan->stages[stage].step->index].skip;
  for (size_t i = 0; i < e->n_nodes; i++)
    skip += e->nodes[i].skip;
  return skip;
}

void
tfx_engine_set_skip (TfxEngine *e, size_t stage, size_t skip)
{
  e->nodes[e->plan->stages[stage].step->index].skip = skip;
}

void
tfx_engine_reset (TfxEngine *e)
{
  for (size_t i = 0; i < e->n_nodes; i++) {
    if (e->nodes[i].cascade)
      tfx_cascade_reset (e->nodes[i].cascade);
    if (e->nodes[i].delay)
      tfx_delay_reset (e->nodes[i].delay);
    if (e->nodes[i].fir)
      tfx_convolver_reset (e->nodes[i].fir);
  }
  rearm_gates (e);
}

double
tfx_engine_state_peak (const TfxEngine *e)
{
  double peak = 0.0;

  for (size_t i = 0; i < e->n_nodes; i++) {
    const Node *node = &e->nodes[i];
    double p = 0.0;

    if (node->cascade)
      p = tfx_cascade_state_peak (node->cascade);
    else if (node->delay)
      p = tfx_delay_state_peak (node->delay);
    else if (node->fir)
      p = tfx_convolver_state_peak (node->fir);
    peak = p > peak ? p : peak;
  }
  return peak;
}

void
tfx_engine_add_stats (const TfxEngine *e, TfxStats *stats)
{
  (void)e;
  (void)stats; /* no launches, no transfers */
}
