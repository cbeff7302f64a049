/* SPDX-License-Identifier: LGPL-2.1-or-later
 * exec.c: runs a plan over blocks; carries state from plan to plan. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "block.h"
#include "denormal.h"
#include "state-map.h"

/* Frames of a cross-fade that are mixed at a time. */
#define FADE_CHUNK 256
#define SILENT_STATE 1e-20

/* An engine and the plan that it runs. */
typedef struct Run
{
  TfxPlan *plan;
  TfxEngine *engine;
} Run;

struct TfxExec
{
  Run current;
  Run fading;     /* what a running cross-fade comes from */
  Run next;       /* what takes over when it has ended */
  Run coming;     /* what takes over when it has got the state of current */
  Run retired[2]; /* faded out; freed when memory may be freed */
  unsigned n_retired;
  bool is_coming; /* it has begun to */
  size_t fade_frames, fade_position, next_fade_frames, coming_fade_frames;
  double *fade_scratch; /* FADE_CHUNK frames of all channels */
  double *state;        /* room for the largest state of a stage, twice */
  size_t state_room;    /* doubles in each half */
  uint64_t n_dispatches, n_recoveries;
};

static void
run_clear (Run *run)
{
  if (run->engine)
    run->plan->backend->engine_free (run->engine);
  run->engine = NULL;
  tfx_plan_unref (&run->plan);
}

static int
run_init (Run *run, TfxPlan *plan)
{
  int ret = plan->backend->engine_new (plan, &run->engine);

  run->plan = ret == 0 ? tfx_plan_ref (plan) : NULL;
  return ret;
}

static void
free_retired (TfxExec *e)
{
  while (e->n_retired > 0)
    run_clear (&e->retired[--e->n_retired]);
}

int
tfx_exec_new (TfxPlan *plan, TfxExec **out)
{
  TfxExec *exec = calloc (1, sizeof *exec);
  int ret;

  *out = NULL;
  if (!exec)
    return -ENOMEM;
  ret = run_init (&exec->current, plan);
  if (ret < 0) {
    free (exec);
    return ret;
  }
  *out = exec;
  return 0;
}

void
tfx_exec_free (TfxExec **exec)
{
  TfxExec *e = *exec;

  *exec = NULL;
  if (!e)
    return;
  run_clear (&e->current);
  run_clear (&e->fading);
  run_clear (&e->next);
  run_clear (&e->coming);
  free_retired (e);
  free (e->fade_scratch);
  free (e->state);
  free (e);
}

/* Room for the state of any stage of both plans.  0 or -ENOMEM. */
static int
reserve_state (TfxExec *e, const TfxPlan *a, const TfxPlan *b)
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

/* The state of a cascade's stage from one set of coefficients to another. */
static void
map_sections (const TfxPlanStage *from, const TfxPlanStage *to,
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

/* Whether the state of the second can follow that of the first. */
static bool
is_leader (const TfxPlanStage *a, const TfxPlanStage *b)
{
  return is_same_stage (a, b) && a->scale == b->scale;
}

/* Whether a stage has got its state already. */
static bool
has_followed (const Run *from, size_t from_stage, Run *to, size_t to_stage)
{
  const TfxBackend *backend = to->plan->backend;

  return backend->follow && backend == from->plan->backend &&
         backend->follow (to->engine, to_stage, from->engine, from_stage, 0) ==
             1;
}

#define ALL_STAGES 0 /* in place of an id */

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
    if (is_leader (f, t) && has_followed (from, j, to, i)) {
      hand_over_skip (from, j, to, i);
      return true;
    }
    old->backend->get_state (from->engine, j, e->state);
    if (t->kind == TFX_STEP_CASCADE)
      map_sections (f, t, new->n_channels, e->state);
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

/* The state of every stage that both plans have, or of the one with that id,
 * from one engine to the other. */
static void
hand_over (TfxExec *e, const Run *from, Run *to, uint64_t id)
{
  for (size_t i = 0; i < to->plan->n_stages; i++) {
    if (id != ALL_STAGES && to->plan->stages[i].id != id)
      continue;
    if (!hand_over_stage (e, from, to, i))
      hand_over_follower (e, from, to, i);
  }
}

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
    map_sections (&old->stages[i], &plan->stages[i], n_channels, at);
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

static void
end_fade (TfxExec *e)
{
  run_clear (&e->fading);
  run_clear (&e->next);
  run_clear (&e->coming);
  free_retired (e);
}

/* `run` takes over from what is current, at once or in a cross-fade. */
static void
take_over (TfxExec *e, Run *run, size_t fade_frames)
{
  hand_over (e, &e->current, run, ALL_STAGES);
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
    if (is_leader (&old->stages[j], &e->coming.plan->stages[stage]))
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

static void
start_coming (TfxExec *e)
{
  const TfxBackend *backend = e->coming.plan->backend;

  for (size_t i = 0; i < e->coming.plan->n_stages; i++) {
    const size_t j = find_leader (e, i);
    if (j != SIZE_MAX)
      backend->follow_start (e->coming.engine, i, e->current.engine, j);
  }
  e->is_coming = true;
}

/* After n frames; whether all of the state is there. */
static bool
follow (TfxExec *e, size_t n)
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

int
tfx_exec_set_plan (TfxExec *e, TfxPlan *plan, size_t fade_frames)
{
  const TfxPlan *now = e->current.plan;
  bool related =
      plan->rate_hz == now->rate_hz && plan->n_channels == now->n_channels;
  Run run = { NULL, NULL };
  bool is_gradual;
  int ret;

  free_retired (e);
  if (e->coming.plan && has_same_firs (e->coming.plan, plan))
    return update_in_place (&e->coming, plan);
  run_clear (&e->coming);
  is_gradual = related && fade_frames > 0 && is_prepared (e, plan);
  if (!is_gradual && e->next.plan &&
      is_update (e->next.plan, plan, fade_frames))
    return update_in_place (&e->next, plan);
  if (!is_gradual && is_update (now, plan, fade_frames)) {
    run_clear (&e->next);
    return update_in_place (&e->current, plan);
  }

  ret = run_init (&run, plan);
  if (ret < 0)
    return ret;
  if (!related) {
    end_fade (e);
    run_clear (&e->current);
    e->current = run;
    free (e->fade_scratch);
    e->fade_scratch = NULL;
    return 0;
  }
  ret = reserve_state (e, now, plan);
  if (ret == 0 && fade_frames > 0 && !e->fade_scratch) {
    e->fade_scratch = malloc (sizeof (double) * FADE_CHUNK * plan->n_channels);
    ret = e->fade_scratch ? 0 : -ENOMEM;
  }
  if (ret < 0) {
    run_clear (&run);
    return ret;
  }

  if (is_gradual) {
    run_clear (&e->next);
    e->coming = run;
    e->coming_fade_frames = fade_frames;
    e->is_coming = false;
    return 0;
  }
  if (e->fading.plan && fade_frames > 0) {
    run_clear (&e->next);
    e->next = run;
    e->next_fade_frames = fade_frames;
    return 0;
  }
  end_fade (e);
  take_over (e, &run, fade_frames);
  if (fade_frames == 0)
    run_clear (&e->fading);
  return 0;
}

static int
run_engine (TfxExec *e, Run *run, const TfxBlock *in, const TfxBlock *out)
{
  int ret = run->plan->backend->run (run->engine, in, out);

  if (ret < 0)
    return ret;
  e->n_recoveries += (uint64_t)ret;
  return 0;
}

/* Runs up to FADE_CHUNK frames of a cross-fade; returns how many. */
static int
run_fading (TfxExec *e, const TfxBlock *in, const TfxBlock *out, size_t *done)
{
  size_t n = in->n_frames - *done, left = e->fade_frames - e->fade_position;
  unsigned n_channels = in->n_channels;
  TfxBlock from, to, old;
  int ret;

  n = n < left ? n : left;
  n = n < FADE_CHUNK ? n : FADE_CHUNK;
  from = tfx_block_part (in, *done, n, 0, n_channels);
  to = tfx_block_part (out, *done, n, 0, n_channels);
  old = tfx_block_interleaved (e->fade_scratch, in->type, n_channels, n);

  ret = run_engine (e, &e->fading, &from, &old);
  if (ret == 0)
    ret = run_engine (e, &e->current, &from, &to);
  if (ret < 0)
    return ret;
  tfx_block_fade (&old, &to, e->fade_position, e->fade_frames);
  e->fade_position += n;
  *done += n;

  if (e->fade_position == e->fade_frames) {
    /* There is room: no more than two cross-fades are prepared at a time, and
     * what has retired is freed when one is. */
    e->retired[e->n_retired++] = e->fading;
    e->fading = (Run){ NULL, NULL };
    if (e->next.plan)
      take_over (e, &e->next, e->next_fade_frames);
  }
  return 0;
}

/* Runs some frames, and brings what is coming nearer. */
static int
run_following (TfxExec *e, const TfxBlock *in, const TfxBlock *out,
    size_t *done)
{
  const TfxPlan *plan = e->current.plan;
  const size_t most = plan->backend->follow_frames (plan);
  size_t n = in->n_frames - *done;
  TfxBlock from, to;
  int ret;

  n = n < most ? n : most;
  from = tfx_block_part (in, *done, n, 0, in->n_channels);
  to = tfx_block_part (out, *done, n, 0, in->n_channels);
  if (!e->is_coming)
    start_coming (e);
  ret = run_engine (e, &e->current, &from, &to);
  if (ret < 0)
    return ret;
  if (follow (e, n))
    take_over (e, &e->coming, e->coming_fade_frames);
  *done += n;
  return 0;
}

static bool
fits (const TfxPlan *plan, const TfxBlock *in, const TfxBlock *out)
{
  return in->type <= TFX_SAMPLE_F64 && in->type == out->type &&
         in->n_channels == plan->n_channels &&
         out->n_channels == plan->n_channels && in->n_frames == out->n_frames;
}

int
tfx_exec_run (TfxExec *e, const TfxBlock *in, const TfxBlock *out)
{
  TfxDenormalMode mode;
  size_t done = 0;
  int ret = 0;

  if (!fits (e->current.plan, in, out))
    return -EINVAL;
  if (in->n_frames == 0)
    return 0;

  mode = tfx_denormal_enter ();
  while (ret == 0 && (e->fading.plan || e->coming.plan) && done < in->n_frames)
    ret = e->fading.plan ? run_fading (e, in, out, &done)
                         : run_following (e, in, out, &done);
  if (ret == 0 && done == 0) {
    ret = run_engine (e, &e->current, in, out);
  } else if (ret == 0 && done < in->n_frames) {
    TfxBlock from =
        tfx_block_part (in, done, in->n_frames - done, 0, in->n_channels);
    TfxBlock to =
        tfx_block_part (out, done, in->n_frames - done, 0, in->n_channels);
    ret = run_engine (e, &e->current, &from, &to);
  }
  tfx_denormal_leave (mode);
  e->n_dispatches++;
  return ret;
}

size_t
tfx_exec_skip (const TfxExec *e)
{
  return e->current.plan->backend->get_skip (e->current.engine, SIZE_MAX);
}

size_t
tfx_exec_held (const TfxExec *e, uint64_t id)
{
  const TfxPlan *plan = e->current.plan;
  size_t held = 0;

  for (size_t i = 0; i < plan->n_stages; i++) {
    if (plan->stages[i].id == id && plan->stages[i].step->delay > 0)
      held += plan->stages[i].step->delay -
              plan->backend->get_skip (e->current.engine, i);
  }
  return held;
}

/* A cross-fade or a plan that waits for one, or for its state, is over. */
static void
finish_fades (TfxExec *e, bool keep_state)
{
  Run *last = e->coming.plan ? &e->coming : &e->next;

  if (last->plan) {
    if (keep_state)
      hand_over (e, &e->current, last, ALL_STAGES);
    run_clear (&e->current);
    e->current = *last;
    *last = (Run){ NULL, NULL };
  }
  end_fade (e);
}

int
tfx_exec_drain (TfxExec *e, const TfxBlock *out)
{
  const TfxPlan *plan = e->current.plan;
  TfxDenormalMode mode;
  int ret;

  if (!fits (plan, out, out))
    return -EINVAL;
  finish_fades (e, true);
  mode = tfx_denormal_enter ();
  ret = e->current.plan->backend->drain (e->current.engine, out);
  tfx_denormal_leave (mode);
  e->n_dispatches++;
  return ret < 0 ? ret : 0;
}

struct TfxWaste
{
  Run runs[2];
  unsigned n;
};

TfxWaste *
tfx_exec_take_waste (TfxExec *e)
{
  TfxWaste *waste = e->n_retired > 0 ? malloc (sizeof *waste) : NULL;

  if (!waste)
    return NULL;
  memcpy (waste->runs, e->retired, sizeof waste->runs);
  waste->n = e->n_retired;
  e->n_retired = 0;
  return waste;
}

void
tfx_waste_free (TfxWaste **waste)
{
  TfxWaste *w = *waste;

  *waste = NULL;
  if (!w)
    return;
  while (w->n > 0)
    run_clear (&w->runs[--w->n]);
  free (w);
}

bool
tfx_exec_is_fading (const TfxExec *e)
{
  return e->fading.plan || e->coming.plan;
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
    ret = run_init (&run, apart);
  if (ret == 0)
    ret = reserve_state (e, e->current.plan, apart);
  tfx_plan_unref (&apart);
  if (ret < 0) {
    run_clear (&run);
    return ret;
  }
  hand_over (e, &e->current, &run, ALL_STAGES);
  run_clear (&e->current);
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
  ret = to_plan->n_followers > 0 ? split (e) : 0;
  if (ret == 0)
    ret = reserve_state (e, e->current.plan, from_plan);
  if (ret < 0)
    return ret;
  hand_over (e, &from->current, &e->current, id);
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
  return adopt (e, from, ALL_STAGES);
}

int
tfx_exec_adopt_stage (TfxExec *e, TfxExec *from, uint64_t id)
{
  return adopt (e, from, id);
}

void
tfx_exec_reset (TfxExec *e)
{
  finish_fades (e, false);
  e->current.plan->backend->reset (e->current.engine);
}

bool
tfx_exec_is_silent (const TfxExec *e)
{
  return !e->fading.plan && !e->coming.plan &&
         e->current.plan->backend->state_peak (e->current.engine) <=
             SILENT_STATE;
}

void
tfx_exec_get_stats (const TfxExec *e, TfxStats *stats)
{
  const TfxBackend *backend = e->current.plan->backend;

  *stats = (TfxStats){
    .dispatches = e->n_dispatches,
    .recoveries = e->n_recoveries,
    .device = backend->name,
    .kernel = backend->kernel,
  };
  backend->add_stats (e->current.engine, stats);
}
