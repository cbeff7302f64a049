/* SPDX-License-Identifier: LGPL-2.1-or-later
 * exec-change.c: an executor goes from one plan to another. */
#include "exec-private.h"

#include <errno.h>
#include <stdlib.h>

/* New values in an old structure: the engine stays. */
static int
update_in_place (Run *run, TfxPlan *plan)
{
  TfxPlan *old = run->plan;
  const TfxBackend *backend = plan->backend;
  const unsigned n_channels = plan->n_channels;
  double *states, *at;
  int ret;

  if (tfx_plan_same_values (old, plan))
    return 0;
  states = malloc ((2 * old->n_sos * n_channels + 1) * sizeof *states);
  if (!states)
    return -ENOMEM;
  at = states;
  for (size_t i = 0; i < old->n_stages; i++) {
    if (old->stages[i].kind != TFX_STEP_CASCADE)
      continue;
    backend->get_state (run->engine, i, at);
    tfx_exec_state_map_sections (&old->stages[i], &plan->stages[i], n_channels,
        at);
    at += old->stages[i].state_size * n_channels;
  }

  ret = backend->update (run->engine, plan);
  if (ret == 0)
    run->plan = tfx_plan_ref (plan);
  at = states;
  for (size_t i = 0; ret == 0 && i < plan->n_stages; i++) {
    if (plan->stages[i].kind != TFX_STEP_CASCADE)
      continue;
    backend->set_state (run->engine, i, at);
    at += plan->stages[i].state_size * n_channels;
  }
  free (states);
  if (ret == 0)
    tfx_plan_unref (&old);
  return ret;
}

void
tfx_exec_change_end (TfxExec *e)
{
  tfx_exec_clear_run (e, &e->fading);
  tfx_exec_clear_run (e, &e->next);
  tfx_exec_clear_run (e, &e->coming);
  tfx_exec_free_retired (e);
}

void
tfx_exec_change_take_over (TfxExec *e, Run *run, size_t fade_frames)
{
  tfx_exec_state_hand_over (e, &e->current, run, TFX_EXEC_ALL_STAGES);
  e->fading = e->current;
  e->current = *run;
  e->fade_frames = fade_frames;
  e->fade_position = 0;
  *run = (Run){ NULL, NULL };
}

/* ---- a state that takes long to hand over -------------------------------------- */

static bool
is_prepared (const TfxExec *e, const TfxPlan *plan)
{
  const TfxBackend *backend = plan->backend;

  return backend->is_prepared && backend == e->current.plan->backend &&
         backend->is_prepared (plan);
}

/* Where the state that stage number `stage` of `coming` follows comes from;
 * SIZE_MAX if from nowhere. */
static size_t
find_leader (const TfxExec *e, size_t stage)
{
  const TfxPlan *old = e->current.plan;

  for (size_t j = 0; j < old->n_stages; j++) {
    if (tfx_exec_state_is_leader (&old->stages[j],
            &e->coming.plan->stages[stage]))
      return j;
  }
  return SIZE_MAX;
}

/* Whether they differ in nothing that follows. */
static bool
has_same_firs (const TfxPlan *a, const TfxPlan *b)
{
  if (!tfx_plan_same_structure (a, b))
    return false;
  for (size_t i = 0; i < a->n_stages; i++) {
    const TfxStep *s = a->stages[i].step, *t = b->stages[i].step;
    if (s->kind == TFX_STEP_FIR &&
        (s->stage != t->stage || s->gain != t->gain ||
            a->stages[i].scale != b->stages[i].scale))
      return false;
  }
  return true;
}

void
tfx_exec_change_start (TfxExec *e)
{
  const TfxBackend *backend = e->coming.plan->backend;

  for (size_t i = 0; i < e->coming.plan->n_stages; i++) {
    const size_t j = find_leader (e, i);
    if (j != SIZE_MAX)
      backend->follow_start (e->coming.engine, i, e->current.engine, j);
  }
  e->is_coming = true;
}

bool
tfx_exec_change_follow (TfxExec *e, size_t n)
{
  const TfxBackend *backend = e->coming.plan->backend;
  bool is_there = true;

  for (size_t i = 0; i < e->coming.plan->n_stages; i++) {
    const size_t j = find_leader (e, i);
    if (j != SIZE_MAX &&
        backend->follow (e->coming.engine, i, e->current.engine, j, n) == 0)
      is_there = false;
  }
  return is_there;
}

/* Whether an engine can go over to the plan.  FIRs and delay lines do so in a
 * short cross-fade of their own.  Where none is wanted, there must not be one
 * either: perhaps a gain has but moved here from another executor. */
static bool
is_update (const TfxPlan *old, const TfxPlan *plan, size_t fade_frames)
{
  return tfx_plan_same_structure (old, plan) &&
         (fade_frames > 0 || tfx_plan_same_lines (old, plan));
}

/* It is of no use any more.  What was freed before makes room. */
static void
retire_coming (TfxExec *e)
{
  if (e->coming.plan)
    e->retired[e->n_retired++] = e->coming;
  e->coming = (Run){ NULL, NULL };
}

/* Without a cross-fade, and what waits for one is dropped. */
static void
take_over_at_once (TfxExec *e, Run *run)
{
  tfx_exec_clear_run (e, &e->fading);
  tfx_exec_change_take_over (e, run, 0);
  tfx_exec_change_end (e);
}

int
tfx_exec_set_plan (TfxExec *e, TfxPlan *plan, size_t fade_frames)
{
  const TfxPlan *now = e->current.plan;
  bool related =
      plan->rate_hz == now->rate_hz && plan->n_channels == now->n_channels;
  Run run = { NULL, NULL };
  bool is_gradual;
  int ret;

  tfx_exec_free_retired (e);
  if (e->coming.plan && has_same_firs (e->coming.plan, plan)) {
    ret = update_in_place (&e->coming, plan);
    if (ret == 0 && fade_frames == 0)
      take_over_at_once (e, &e->coming);
    return ret;
  }
  retire_coming (e);
  is_gradual = related && fade_frames > 0 && is_prepared (e, plan);
  if (!is_gradual && e->next.plan &&
      is_update (e->next.plan, plan, fade_frames))
    return update_in_place (&e->next, plan);
  if (!is_gradual && is_update (now, plan, fade_frames)) {
    tfx_exec_clear_run (e, &e->next);
    return update_in_place (&e->current, plan);
  }

  ret = tfx_exec_init_run (&run, plan);
  if (ret < 0)
    return ret;
  if (!related) {
    tfx_exec_change_end (e);
    tfx_exec_clear_run (e, &e->current);
    e->current = run;
    free (e->fade_scratch);
    e->fade_scratch = NULL;
    return 0;
  }
  ret = tfx_exec_state_reserve (e, now, plan);
  if (ret == 0 && fade_frames > 0 && !e->fade_scratch) {
    e->fade_scratch =
        malloc (sizeof (double) * TFX_EXEC_FADE_CHUNK * plan->n_channels);
    ret = e->fade_scratch ? 0 : -ENOMEM;
  }
  if (ret < 0) {
    tfx_exec_clear_run (e, &run);
    return ret;
  }

  if (is_gradual) {
    tfx_exec_clear_run (e, &e->next);
    e->coming = run;
    e->coming_fade_frames = fade_frames;
    e->is_coming = false;
    return 0;
  }
  if (e->fading.plan && fade_frames > 0) {
    tfx_exec_clear_run (e, &e->next);
    e->next = run;
    e->next_fade_frames = fade_frames;
    return 0;
  }
  if (fade_frames == 0) {
    take_over_at_once (e, &run);
    return 0;
  }
  tfx_exec_change_end (e);
  tfx_exec_change_take_over (e, &run, fade_frames);
  return 0;
}

/* FIRs that are one cannot be given a state one by one: from now on they run
 * apart. */
static int
split (TfxExec *e)
{
  TfxPlan *apart = NULL;
  Run run = { NULL, NULL };
  int ret = tfx_plan_split (e->current.plan, &apart);

  if (ret == 0)
    ret = tfx_exec_init_run (&run, apart);
  if (ret == 0)
    ret = tfx_exec_state_reserve (e, e->current.plan, apart);
  tfx_plan_unref (&apart);
  if (ret < 0) {
    tfx_exec_clear_run (e, &run);
    return ret;
  }
  tfx_exec_state_hand_over (e, &e->current, &run, TFX_EXEC_ALL_STAGES);
  tfx_exec_clear_run (e, &e->current);
  e->current = run;
  return 0;
}

static int
adopt (TfxExec *e, TfxExec *from, uint64_t id)
{
  const TfxPlan *to_plan = e->current.plan, *from_plan = from->current.plan;
  int ret;

  if (to_plan->rate_hz != from_plan->rate_hz ||
      to_plan->n_channels != from_plan->n_channels)
    return -EINVAL;
  /* Those within sums are one in any case. */
  ret = to_plan->n_followers > 0 && !to_plan->keep_stages ? split (e) : 0;
  if (ret == 0)
    ret = tfx_exec_state_reserve (e, e->current.plan, from_plan);
  if (ret < 0)
    return ret;
  tfx_exec_state_hand_over (e, &from->current, &e->current, id);
  /* What follows begins anew. */
  if (e->coming.plan && e->is_coming) {
    e->coming.plan->backend->reset (e->coming.engine);
    e->is_coming = false;
  }
  return 0;
}

int
tfx_exec_adopt (TfxExec *e, TfxExec *from)
{
  return adopt (e, from, TFX_EXEC_ALL_STAGES);
}

int
tfx_exec_adopt_stage (TfxExec *e, TfxExec *from, uint64_t id)
{
  return adopt (e, from, id);
}
