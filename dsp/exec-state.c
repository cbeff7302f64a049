/* SPDX-License-Identifier: LGPL-2.1-or-later
 * exec-state.c: the state of stages from one engine to another. */
#include "exec-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "state-map.h"

int
tfx_exec_state_reserve (TfxExec *e, const TfxPlan *a, const TfxPlan *b)
{
  size_t largest = 1;
  double *state;

  for (size_t i = 0; i < a->n_stages; i++)
    largest =
        a->stages[i].state_size > largest ? a->stages[i].state_size : largest;
  for (size_t i = 0; i < b->n_stages; i++)
    largest =
        b->stages[i].state_size > largest ? b->stages[i].state_size : largest;
  largest *= a->n_channels;
  /* A plan that waits may need what there is. */
  if (largest <= e->state_room)
    return 0;
  state = realloc (e->state, 2 * largest * sizeof *e->state);
  if (!state)
    return -ENOMEM;
  e->state = state;
  e->state_room = largest;
  return 0;
}

/* Section k of a stage, without what other stages have put into it: the state
 * is that of the stage's own sections. */
static TfxSos
own_section (const TfxPlanStage *stage, size_t k)
{
  TfxSos sos = stage->step->sos[stage->first_sos + k];

  if (k == 0 && stage->gain != 0.0) {
    sos.b0 /= stage->gain;
    sos.b1 /= stage->gain;
    sos.b2 /= stage->gain;
  }
  return sos;
}

void
tfx_exec_state_map_sections (const TfxPlanStage *from, const TfxPlanStage *to,
    unsigned n_channels, double *state)
{
  for (size_t n = 0; n < to->n_sos; n++) {
    TfxSos f = own_section (from, n), t = own_section (to, n);

    /* Behind a gain of 0 a section's own numerator is not to be seen: only
     * its poles can have changed. */
    if (n == 0 && (from->gain == 0.0 || to->gain == 0.0))
      f.b0 = t.b0 = f.b1 = t.b1 = f.b2 = t.b2 = 1.0;
    if (memcmp (&f, &t, sizeof f) == 0)
      continue;
    for (unsigned c = 0; c < n_channels; c++)
      tfx_state_map (&f, &t, state + 2 * (c * to->n_sos + n));
  }
}

/* Past inputs, the newest last: the newest of them, zeros before. */
static void
resize_history (double *state, size_t from, size_t to, unsigned n_channels)
{
  if (to < from) {
    for (unsigned c = 0; c < n_channels; c++)
      memmove (state + c * to, state + c * from + (from - to),
          to * sizeof *state);
  } else if (to > from) {
    for (unsigned c = n_channels; c-- > 0;) {
      memmove (state + c * to + (to - from), state + c * from,
          from * sizeof *state);
      memset (state + c * to, 0, (to - from) * sizeof *state);
    }
  }
}

/* From one place of gains to another.  Behind a gain of 0 nothing is heard of
 * the state. */
static void
scale_state (double scale, const TfxPlanStage *to, unsigned n_channels,
    double *state)
{
  double factor = to->scale != 0.0 ? scale / to->scale : 0.0;

  if (factor == 1.0 || !isfinite (factor))
    return;
  for (size_t i = 0; i < to->state_size * n_channels; i++)
    state[i] *= factor;
}

/* Output frames that are still to be dropped, and those by which the delay
 * has grown: they have been put out already. */
static void
hand_over_skip (const Run *from, size_t from_stage, Run *to, size_t to_stage)
{
  size_t old = from->plan->stages[from_stage].step->delay;
  size_t new = to->plan->stages[to_stage].step->delay;
  size_t skip = from->plan->backend->get_skip (from->engine, from_stage);

  to->plan->backend->set_skip (to->engine, to_stage,
      new > old && !to->plan->in_stream ? skip + (new - old) : skip);
}

/* The newest past inputs of a FIR that has become one with those before it, as
 * these make them of the past of the whole. */
static void
derive_state (const TfxPlanFollower *f, unsigned n_channels,
    const double *whole, double *state)
{
  const TfxStage *before = f->before;
  const size_t n_taps = before->u.fir.n_taps, n_past = f->stage->state_size;

  for (unsigned c = 0; c < n_channels; c++) {
    const double *taps =
        before->u.fir.taps + (before->u.fir.n_kernels == 1 ? 0 : c) * n_taps;

    for (size_t i = 0; i < f->state_size; i++) {
      /* The output of the time from which on there are so many more. */
      const double *x = whole + c * n_past + (n_past - f->state_size + i);
      double y = 0.0;

      for (size_t k = 0; k < n_taps; k++)
        y += taps[k] * *(x - k);
      state[c * f->state_size + i] = y;
    }
  }
}

static bool
is_same_stage (const TfxPlanStage *a, const TfxPlanStage *b)
{
  return a->id == b->id && a->kind == b->kind && a->n_sos == b->n_sos;
}

bool
tfx_exec_state_is_leader (const TfxPlanStage *a, const TfxPlanStage *b)
{
  return is_same_stage (a, b) && a->scale == b->scale;
}

/* Whether a stage has got its state already.  What runs has followed something
 * long ago at the most. */
static bool
has_followed (const TfxExec *e, const Run *from, size_t from_stage, Run *to,
    size_t to_stage)
{
  const TfxBackend *backend = to->plan->backend;

  return to == &e->coming && e->is_coming && backend->follow &&
         backend == from->plan->backend &&
         backend->follow (to->engine, to_stage, from->engine, from_stage, 0) ==
             1;
}

/* The state of stage i, if the old plan has it by itself. */
static bool
hand_over_stage (TfxExec *e, const Run *from, Run *to, size_t i)
{
  const TfxPlan *old = from->plan, *new = to->plan;
  const TfxPlanStage *t = &new->stages[i];

  for (size_t j = 0; j < old->n_stages; j++) {
    const TfxPlanStage *f = &old->stages[j];

    if (!is_same_stage (f, t))
      continue;
    if (tfx_exec_state_is_leader (f, t) && has_followed (e, from, j, to, i)) {
      hand_over_skip (from, j, to, i);
      return true;
    }
    old->backend->get_state (from->engine, j, e->state);
    if (t->kind == TFX_STEP_CASCADE)
      tfx_exec_state_map_sections (f, t, new->n_channels, e->state);
    else
      resize_history (e->state, f->state_size, t->state_size, new->n_channels);
    scale_state (f->scale, t, new->n_channels, e->state);
    new->backend->set_state (to->engine, i, e->state);
    hand_over_skip (from, j, to, i);
    return true;
  }
  return false;
}

/* The same if the old plan has it behind others that it has become one with.
 * Nothing is to be dropped any more by then, or no delay is taken out. */
static void
hand_over_follower (TfxExec *e, const Run *from, Run *to, size_t i)
{
  const TfxPlan *old = from->plan, *new = to->plan;
  const TfxPlanStage *t = &new->stages[i];
  double *whole = e->state + e->state_room;

  for (size_t j = 0; j < old->n_followers; j++) {
    const TfxPlanFollower *f = &old->followers[j];

    if (f->id != t->id || t->kind != TFX_STEP_FIR)
      continue;
    old->backend->get_state (from->engine, (size_t)(f->stage - old->stages),
        whole);
    derive_state (f, new->n_channels, whole, e->state);
    resize_history (e->state, f->state_size, t->state_size, new->n_channels);
    scale_state (f->scale, t, new->n_channels, e->state);
    new->backend->set_state (to->engine, i, e->state);
    new->backend->set_skip (to->engine, i, 0);
    return;
  }
}

void
tfx_exec_state_hand_over (TfxExec *e, const Run *from, Run *to, uint64_t id)
{
  for (size_t i = 0; i < to->plan->n_stages; i++) {
    if (id != TFX_EXEC_ALL_STAGES && to->plan->stages[i].id != id)
      continue;
    if (!hand_over_stage (e, from, to, i))
      hand_over_follower (e, from, to, i);
  }
}
