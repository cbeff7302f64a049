/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.c: makes a plan ready to run, changes its values, and exchanges its
 * state. */
#include "engine-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/block.h"
#include "core/branches.h"

/* Doubles in a chunk: 64 KiB; in sums of more than two channels 8 KiB, so that two chunks and
 * the block that each branch reads stay in the first-level cache, 16 KiB where channels are
 * turned to planes; and where FIRs are, which have been laid out for whole blocks, up to
 * 1 MiB. */
#define CHUNK_SIZE 8192
#define SUM_CHUNK_SIZE 1024
#define FIR_CHUNK_SIZE 131072
#define MIN_CHUNK_FRAMES 64
#define MAX_CHUNK_FRAMES 1024
#define NEIGHBOURS 4 /* channels; see count_slow() */

/* ---- making ------------------------------------------------------------- */

static size_t
count_chunks (const TfxSteps *list)
{
  size_t n = list->n > 1; /* between the steps of this list */

  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    if (s->kind == TFX_STEP_SUM || s->kind == TFX_STEP_FADE ||
        s->kind == TFX_STEP_SPLIT)
      n += 2;
    for (size_t k = 0; k < s->n_branches; k++)
      n += count_chunks (&s->branches[k]);
  }
  return n;
}

static bool
has_kind (const TfxSteps *list, TfxStepKind kind)
{
  bool found = false;

  for (size_t i = 0; !found && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];

    found = s->kind == kind;
    for (size_t k = 0; !found && k < s->n_branches; k++)
      found = has_kind (&s->branches[k], kind);
  }
  return found;
}

/* How many channels of a branch are slow to read and write where they lie: none where some
 * that are neighbours begin with sections, which take them so, and where there is nothing to
 * do; those that are not evenly spaced are copied there and back. */
static unsigned
count_slow (const TfxStep *split, size_t k, unsigned n_channels, TfxSample type)
{
  const TfxSteps *branch = &split->branches[k];
  const unsigned n = tfx_branches_n_channels (split->stage, k, n_channels);
  unsigned first, step;

  if (branch->n == 0 && type == TFX_SAMPLE_F64)
    return 0;
  if (!tfx_branches_find_even (split->stage->u.sum.channels[k], &first, &step))
    return 2 * n;
  return n >= NEIGHBOURS && step == 1 && tfx_joint_step (branch) ? 0 : n;
}

/* Whether it costs less to turn all channels to planes, and back, than to read and write
 * those of each branch where they lie: of about half of the channels, or more. */
static bool
wants_planes (const TfxStep *split, unsigned n_channels, TfxSample type)
{
  unsigned n_slow = 0;

  for (size_t k = 0; k < split->n_branches; k++)
    n_slow += count_slow (split, k, n_channels, type);
  return type == TFX_SAMPLE_F32 ? 2 * n_slow >= n_channels
                                : 2 * n_slow > n_channels;
}

/* Whole lines of planes. */
static size_t
frames_of (const TfxPlan *plan, size_t size)
{
  const size_t n = size / plan->n_channels / TFX_LINE_F32 * TFX_LINE_F32;

  return n < MIN_CHUNK_FRAMES   ? MIN_CHUNK_FRAMES
         : n < MAX_CHUNK_FRAMES ? n
                                : MAX_CHUNK_FRAMES;
}

/* Chooses the frames of a chunk, for plans of several steps. */
static void
choose_chunks (TfxEngine *e, const TfxPlan *plan)
{
  const bool has_firs = has_kind (&plan->top, TFX_STEP_FIR);
  const bool is_small =
      plan->n_channels > 2 && has_kind (&plan->top, TFX_STEP_SUM);
  const size_t most = FIR_CHUNK_SIZE / plan->n_channels;
  size_t n = frames_of (plan, is_small ? SUM_CHUNK_SIZE : CHUNK_SIZE);

  if (has_firs && plan->block_frames > n && most > n)
    n = plan->block_frames < most ? plan->block_frames : most;
  e->chunk_frames = e->turn_frames[0] = e->turn_frames[1] = n;
}

/* Of a chunk, in planes too; whole lines. */
static size_t
room_frames (const TfxEngine *e)
{
  return (e->chunk_frames / TFX_LINE_F64 + 3) * TFX_LINE_F64;
}

/* The next chunk that engine_new() has reserved. */
static double *
take_chunk (TfxEngine *e)
{
  return e->chunks + e->n_chunks++ * room_frames (e) * e->plan->n_channels;
}

static int
make_nodes (TfxEngine *e, const TfxSteps *list, unsigned n_channels)
{
  const TfxPlan *plan = e->plan;
  double *between = list->n > 1 ? take_chunk (e) : NULL;
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

    node->between = between;
    switch (s->kind) {
      case TFX_STEP_CASCADE:
        ret = tfx_cascade_new (plan->backend->data, n_channels, s->n_sos,
            &node->cascade);
        break;
      case TFX_STEP_SUM:
      case TFX_STEP_FADE:
        node->sum = take_chunk (e);
        node->branch = take_chunk (e);
        for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
          ret = make_nodes (e, &s->branches[k], n_channels);
        if (ret == 0 && s->kind == TFX_STEP_SUM)
          ret = tfx_joint_make (e, s, n_channels);
        break;
      case TFX_STEP_SPLIT:
        node->sum = take_chunk (e);
        node->branch = take_chunk (e);
        for (unsigned type = 0; type < 2; type++)
          node->is_planar[type] = wants_planes (s, n_channels, (TfxSample)type);
        for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
          ret = make_nodes (e, &s->branches[k],
              tfx_branches_n_channels (s->stage, k, n_channels));
        if (ret == 0)
          ret = tfx_joint_make (e, s, n_channels);
        break;
      case TFX_STEP_FIR:
      case TFX_STEP_UNIT:
        break; /* units */
    }
  }
  return ret;
}

/* Fewer frames at a time where a split at the top transposes; it does not if a joint has all of
 * it. */
static void
choose_turns (TfxEngine *e, const TfxPlan *plan)
{
  const size_t n = frames_of (plan, TFX_TURN_SIZE);

  if (has_kind (&plan->top, TFX_STEP_FIR))
    return;
  for (size_t i = 0; i < plan->top.n; i++) {
    const TfxStep *s = &plan->top.steps[i];
    const Node *node = &e->nodes[s->index];

    for (unsigned type = 0; s->kind == TFX_STEP_SPLIT && type < 2; type++) {
      const bool is_joint = node->n_joints > 0 && node->joints->pays[type] &&
                            !tfx_joint_has_rest (s);

      if (node->is_planar[type] && !is_joint && n < e->turn_frames[type])
        e->turn_frames[type] = n;
    }
  }
}

void
tfx_engine_free (TfxEngine *e)
{
  if (!e)
    return;
  for (size_t i = 0; e->nodes && i < e->n_nodes; i++) {
    tfx_cascade_free (&e->nodes[i].cascade);
    tfx_joint_free (&e->nodes[i]);
  }
  free (e->nodes);
  free (e->chunks);
  free (e);
}

void
tfx_engine_update_step (TfxEngine *e, const TfxStep *s)
{
  const Node *node = &e->nodes[s->index];

  tfx_joint_leave (e, node, true);
  tfx_cascade_set_sections (node->cascade, s->sos, s->gain);
}

static void
set_values (TfxEngine *e, const TfxSteps *list)
{
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];

    if (s->kind == TFX_STEP_CASCADE)
      tfx_engine_update_step (e, s);
    for (size_t k = 0; k < s->n_branches; k++)
      set_values (e, &s->branches[k]);
  }
}

int
tfx_engine_update (TfxEngine *e, const TfxPlan *plan)
{
  e->plan = plan;
  set_values (e, &plan->top);
  return 0;
}

/* One step that takes blocks of any length needs no chunks. */
static TfxStep *
find_alone (const TfxPlan *plan)
{
  TfxStep *s = plan->top.steps;
  const bool is_alone = plan->top.n == 1 && s->kind != TFX_STEP_SUM &&
                        s->kind != TFX_STEP_SPLIT && s->kind != TFX_STEP_FADE;

  return is_alone ? s : NULL;
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
  e->alone = find_alone (plan);
  choose_chunks (e, plan);
  e->n_nodes = plan->n_all_steps;
  e->nodes = calloc (e->n_nodes + 1, sizeof *e->nodes);
  e->chunks = tfx_block_new_samples (
      (count_chunks (&plan->top) + 1) * room_frames (e) * plan->n_channels);
  if (e->nodes && e->chunks)
    ret = make_nodes (e, &plan->top, plan->n_channels);
  if (ret == 0)
    choose_turns (e, plan);
  if (ret < 0) {
    tfx_engine_free (e);
    return ret;
  }
  set_values (e, &plan->top);
  *engine = e;
  return 0;
}

/* ---- state -------------------------------------------------------------- */

void
tfx_engine_get_state (TfxEngine *e, const TfxPlanPart *s, double *state)
{
  size_t first;
  TfxCascade *cascade = tfx_joint_find (&e->nodes[s->step->index], &first);

  tfx_cascade_get_state (cascade, first + s->first_sos, s->n_sos, state);
}

int
tfx_engine_set_state (TfxEngine *e, const TfxPlanPart *s, const double *state)
{
  const Node *node = &e->nodes[s->step->index];

  tfx_joint_leave (e, node, false);
  tfx_cascade_set_state (node->cascade, s->first_sos, s->n_sos, state);
  return 0;
}

/* The peak of the node's cascade, unless a joint has its state, and of its joints. */
static double
node_peak (const Node *node)
{
  size_t first;
  double peak = 0.0;

  if (node->cascade && tfx_joint_find (node, &first) == node->cascade)
    peak = tfx_cascade_state_peak (node->cascade);
  for (size_t i = 0; i < node->n_joints; i++) {
    const TfxJoint *j = &node->joints[i];

    if (j->is_on)
      peak = fmax (peak, tfx_cascade_state_peak (j->cascade));
  }
  return peak;
}

double
tfx_engine_state_peak (const TfxEngine *e)
{
  double peak = 0.0;

  for (size_t i = 0; i < e->n_nodes; i++)
    peak = fmax (peak, node_peak (&e->nodes[i]));
  return peak;
}

void
tfx_engine_add_stats (const TfxEngine *e, TfxStats *stats)
{
  (void)e;
  (void)stats; /* no launches, no transfers */
}
