/* SPDX-License-Identifier: LGPL-2.1-or-later
 * exec.c: runs a plan over blocks. */
#include "exec-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "denormal.h"

#define SILENT_STATE 1e-20

/* Its counts stay. */
static void
count_freed (TfxExec *e, const Run *run)
{
  if (run->engine)
    run->plan->backend->add_stats (run->engine, &e->freed);
}

void
tfx_exec_free_run (Run *run)
{
  if (run->engine)
    run->plan->backend->engine_free (run->engine);
  run->engine = NULL;
  tfx_plan_unref (&run->plan);
}

void
tfx_exec_clear_run (TfxExec *e, Run *run)
{
  count_freed (e, run);
  tfx_exec_free_run (run);
}

int
tfx_exec_init_run (Run *run, TfxPlan *plan)
{
  int ret = plan->backend->engine_new (plan, &run->engine);

  run->plan = ret == 0 ? tfx_plan_ref (plan) : NULL;
  return ret;
}

void
tfx_exec_free_retired (TfxExec *e)
{
  while (e->n_retired > 0)
    tfx_exec_clear_run (e, &e->retired[--e->n_retired]);
}

int
tfx_exec_new (TfxPlan *plan, TfxExec **out)
{
  TfxExec *exec = calloc (1, sizeof *exec);
  int ret;

  *out = NULL;
  if (!exec)
    return -ENOMEM;
  ret = tfx_exec_init_run (&exec->current, plan);
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
  tfx_exec_clear_run (e, &e->current);
  tfx_exec_clear_run (e, &e->fading);
  tfx_exec_clear_run (e, &e->next);
  tfx_exec_clear_run (e, &e->coming);
  tfx_exec_free_retired (e);
  free (e->fade_scratch);
  free (e->state);
  free (e);
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

/* Runs up to TFX_EXEC_FADE_CHUNK frames of a cross-fade. */
static int
run_fading (TfxExec *e, const TfxBlock *in, const TfxBlock *out)
{
  size_t n = in->n_frames - e->n_done, left = e->fade_frames - e->fade_position;
  unsigned n_channels = in->n_channels;
  TfxBlock from, to, old;
  int ret;

  n = n < left ? n : left;
  n = n < TFX_EXEC_FADE_CHUNK ? n : TFX_EXEC_FADE_CHUNK;
  from = tfx_block_part (in, e->n_done, n, 0, n_channels);
  to = tfx_block_part (out, e->n_done, n, 0, n_channels);
  old = tfx_block_interleaved (e->fade_scratch, in->type, n_channels, n);

  ret = run_engine (e, &e->fading, &from, &old);
  if (ret == 0)
    ret = run_engine (e, &e->current, &from, &to);
  if (ret < 0)
    return ret;
  tfx_block_fade (&old, &to, e->fade_position, e->fade_frames);
  e->fade_position += n;
  e->n_done += n;

  if (e->fade_position == e->fade_frames) {
    /* There is room, see TfxExec. */
    e->retired[e->n_retired++] = e->fading;
    e->fading = (Run){ NULL, NULL };
    if (e->next.plan)
      tfx_exec_change_take_over (e, &e->next, e->next_fade_frames);
  }
  return 0;
}

/* Runs some frames, and brings what is coming nearer. */
static int
run_following (TfxExec *e, const TfxBlock *in, const TfxBlock *out)
{
  const TfxPlan *plan = e->current.plan;
  const size_t most = plan->backend->follow_frames (plan);
  size_t n = in->n_frames - e->n_done;
  TfxBlock from, to;
  int ret;

  n = n < most ? n : most;
  from = tfx_block_part (in, e->n_done, n, 0, in->n_channels);
  to = tfx_block_part (out, e->n_done, n, 0, in->n_channels);
  if (!e->is_coming)
    tfx_exec_change_start (e);
  ret = run_engine (e, &e->current, &from, &to);
  if (ret < 0)
    return ret;
  if (tfx_exec_change_follow (e, n))
    tfx_exec_change_take_over (e, &e->coming, e->coming_fade_frames);
  e->n_done += n;
  return 0;
}

static bool
fits (const TfxPlan *plan, const TfxBlock *in, const TfxBlock *out)
{
  return in->type <= TFX_SAMPLE_F64 && in->type == out->type &&
         in->n_channels == plan->n_channels &&
         out->n_channels == plan->n_channels && in->n_frames == out->n_frames;
}

/* What cross-fades have left over. */
static int
run_rest (TfxExec *e, const TfxBlock *in, const TfxBlock *out)
{
  size_t n = in->n_frames - e->n_done;
  TfxBlock from = *in, to = *out;
  int ret;

  if (n == 0)
    return 0;
  if (e->n_done > 0) {
    from = tfx_block_part (in, e->n_done, n, 0, in->n_channels);
    to = tfx_block_part (out, e->n_done, n, 0, in->n_channels);
  }
  ret = run_engine (e, &e->current, &from, &to);
  if (ret == 0)
    e->n_done += n;
  return ret;
}

int
tfx_exec_run (TfxExec *e, const TfxBlock *in, const TfxBlock *out)
{
  TfxDenormalMode mode;
  int ret = 0;

  e->n_done = 0;
  if (!fits (e->current.plan, in, out))
    return -EINVAL;
  if (in->n_frames == 0)
    return 0;

  mode = tfx_denormal_enter ();
  while (ret == 0 && (e->fading.plan || e->coming.plan) &&
         e->n_done < in->n_frames)
    ret = e->fading.plan ? run_fading (e, in, out) : run_following (e, in, out);
  if (ret == 0)
    ret = run_rest (e, in, out);
  tfx_denormal_leave (mode);
  e->n_dispatches++;
  return ret;
}

size_t
tfx_exec_n_done (const TfxExec *e)
{
  return e->n_done;
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
      tfx_exec_state_hand_over (e, &e->current, last, TFX_EXEC_ALL_STAGES);
    tfx_exec_clear_run (e, &e->current);
    e->current = *last;
    *last = (Run){ NULL, NULL };
  }
  tfx_exec_change_end (e);
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
  Run runs[TFX_EXEC_MAX_RETIRED];
  unsigned n;
};

TfxWaste *
tfx_exec_take_waste (TfxExec *e)
{
  TfxWaste *waste = e->n_retired > 0 ? malloc (sizeof *waste) : NULL;

  if (!waste)
    return NULL;
  for (unsigned i = 0; i < e->n_retired; i++)
    count_freed (e, &e->retired[i]);
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
    tfx_exec_free_run (&w->runs[--w->n]);
  free (w);
}

bool
tfx_exec_is_fading (const TfxExec *e)
{
  return e->fading.plan || e->coming.plan;
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
    .launches = e->freed.launches,
    .uploads = e->freed.uploads,
    .downloads = e->freed.downloads,
    .device = backend->name,
    .kernel = backend->kernel,
  };
  backend->add_stats (e->current.engine, stats);
  if (e->fading.engine)
    e->fading.plan->backend->add_stats (e->fading.engine, stats);
  for (unsigned i = 0; i < e->n_retired; i++)
    e->retired[i].plan->backend->add_stats (e->retired[i].engine, stats);
}
