/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.c: runs the steps of a plan.
 *
 * One step alone works on the caller's block.  Several go over it in chunks
 * that stay in the cache: the first step reads the block, the last one writes
 * it, and what lies between are doubles in a scratch.  The branches of a sum
 * read the same chunk one after the other. */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"
#include "cascade.h"
#include "delay.h"

/* Doubles in a chunk: 64 KiB. */
#define CHUNK_SIZE 8192
#define MIN_CHUNK_FRAMES 64
#define MAX_CHUNK_FRAMES 1024

/* What a step of the plan has at run time, by its index. */
typedef struct Node
{
  TfxCascade *cascade;
  TfxDelay *delay;
  double *sum, *branch; /* a chunk each; sums only */
  double *between;      /* a chunk; first steps of several in series */
  /* Steps with a delay: frames still to be dropped, and frames still to come
   * after the end of the stream. */
  size_t skip, rest;
} Node;

struct TfxEngine
{
  const TfxPlan *plan;
  size_t n_nodes, chunk_frames;
  Node *nodes;
  double *chunks; /* [n_chunks][chunk_frames][n_channels] */
  size_t n_chunks;
};

/* ---- making ------------------------------------------------------------- */

static size_t
count_chunks (const TfxSteps *list)
{
  size_t n = list->n > 1; /* between the steps of this list */

  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    if (s->kind == TFX_STEP_SUM)
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
make_nodes (TfxEngine *e, const TfxSteps *list)
{
  const TfxPlan *plan = e->plan;
  int ret = 0;

  if (list->n > 1)
    e->nodes[list->steps[0].index].between = take_chunk (e);
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

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
        ret = -ENOSYS;
        break;
      case TFX_STEP_SUM:
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
  }
  free (e->nodes);
  free (e->chunks);
  free (e);
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
  size_t frames = CHUNK_SIZE / plan->n_channels;
  int ret = -ENOMEM;

  *engine = NULL;
  if (!e)
    return -ENOMEM;
  if (frames < MIN_CHUNK_FRAMES)
    frames = MIN_CHUNK_FRAMES;
  e->plan = plan;
  e->chunk_frames = frames < MAX_CHUNK_FRAMES ? frames : MAX_CHUNK_FRAMES;
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
  tfx_engine_update (e, plan);
  rearm_gates (e);
  *engine = e;
  return 0;
}

static void
update_steps (TfxEngine *e, const TfxSteps *list)
{
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

    if (node->cascade)
      tfx_cascade_set_sections (node->cascade, s->sos, s->gain);
    if (node->delay)
      tfx_delay_set_taps (node->delay, s->stage->u.delay.direct,
          s->stage->u.delay.taps, s->stage->u.delay.n_taps, s->gain);
    for (size_t k = 0; k < s->n_branches; k++)
      update_steps (e, &s->branches[k]);
  }
}

void
tfx_engine_update (TfxEngine *e, const TfxPlan *plan)
{
  e->plan = plan;
  update_steps (e, &plan->top);
}

/* ---- running ------------------------------------------------------------ */

typedef struct Gate Gate;

static int run_steps (TfxEngine *e, const TfxSteps *list, const TfxBlock *in,
    const TfxBlock *out, Gate *gate);

static TfxBlock
chunk_block (const TfxEngine *e, double *data, size_t n_frames)
{
  return tfx_block_interleaved (data, TFX_SAMPLE_F64, e->plan->n_channels,
      n_frames);
}

/* sum += x over n doubles. */
static void
accumulate (double *restrict sum, const double *restrict x, size_t n)
{
  for (size_t i = 0; i < n; i++)
    sum[i] += x[i];
}

static int
run_sum (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const size_t n = in->n_frames * e->plan->n_channels;
  TfxBlock sum = chunk_block (e, node->sum, in->n_frames);
  TfxBlock branch = chunk_block (e, node->branch, in->n_frames);
  int n_cleared = 0;

  for (size_t k = 0; k < s->n_branches; k++) {
    n_cleared +=
        run_steps (e, &s->branches[k], in, k == 0 ? &sum : &branch, NULL);
    if (k > 0)
      accumulate (node->sum, node->branch, n);
  }
  if (s->gain != 1.0) {
    for (size_t i = 0; i < n; i++)
      node->sum[i] *= s->gain;
  }
  tfx_block_copy (&sum, out);
  return n_cleared;
}

/* One step over a chunk. */
static int
run_step (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];

  switch (s->kind) {
    case TFX_STEP_CASCADE:
      return tfx_cascade_run (node->cascade, in, out);
    case TFX_STEP_DELAY:
      tfx_delay_run (node->delay, in, out);
      return 0;
    case TFX_STEP_SUM:
      return run_sum (e, s, in, out);
    case TFX_STEP_FIR:
      break;
  }
  return 0;
}

static void
clear_frames (const TfxBlock *block, size_t first, size_t n)
{
  for (size_t i = first; i < first + n; i++) {
    for (unsigned c = 0; c < block->n_channels; c++)
      tfx_block_set (block, i, c, 0.0);
  }
}

/* The frames of a chunk that belong to the stream, as it comes from a step:
 * those that stand before its start, or after its end, are zero, as if the
 * steps were filters of their own that dropped them. */
struct Gate
{
  size_t start, end;
  bool ended; /* the input has: frames from `end` on are not of the stream */
};

static void
pass_gate (Node *node, const TfxBlock *block, Gate *gate)
{
  size_t left = block->n_frames - gate->start;
  size_t dropped = node->skip < left ? node->skip : left;

  clear_frames (block, gate->start, dropped);
  gate->start += dropped;
  node->skip -= dropped;
  if (gate->ended) {
    left = block->n_frames - gate->end;
    left = node->rest < left ? node->rest : left;
    gate->end += left;
    node->rest -= left;
    clear_frames (block, gate->end, block->n_frames - gate->end);
  }
}

/* Steps in series over a chunk. */
static int
run_steps (TfxEngine *e, const TfxSteps *list, const TfxBlock *in,
    const TfxBlock *out, Gate *gate)
{
  TfxBlock between;
  int n_cleared = 0;

  if (list->n == 0) {
    tfx_block_copy (in, out);
    return 0;
  }
  if (list->n > 1)
    between =
        chunk_block (e, e->nodes[list->steps[0].index].between, in->n_frames);
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    const TfxBlock *to = i + 1 == list->n ? out : &between;

    n_cleared += run_step (e, s, i == 0 ? in : &between, to);
    if (s->delay > 0)
      pass_gate (&e->nodes[s->index], to, gate);
  }
  return n_cleared;
}

static int
run_chunks (TfxEngine *e, const TfxBlock *in, const TfxBlock *out, bool ended)
{
  const unsigned n_channels = out->n_channels;
  int n_cleared = 0;

  for (size_t i = 0; i < out->n_frames; i += e->chunk_frames) {
    size_t left = out->n_frames - i;
    size_t n = left < e->chunk_frames ? left : e->chunk_frames;
    TfxBlock from = tfx_block_part (in, i, n, 0, n_channels);
    TfxBlock to = tfx_block_part (out, i, n, 0, n_channels);
    Gate gate = { 0, ended ? 0 : n, ended };

    n_cleared += run_steps (e, &e->plan->top, &from, &to, &gate);
  }
  return n_cleared;
}

int
tfx_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  const TfxSteps *list = &e->plan->top;

  if (list->n == 1 && list->steps[0].kind == TFX_STEP_CASCADE)
    return run_step (e, &list->steps[0], in, out);
  return run_chunks (e, in, out, false);
}

int
tfx_engine_drain (TfxEngine *e, const TfxBlock *out)
{
  clear_frames (out, 0, out->n_frames);
  return run_chunks (e, out, out, true);
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
