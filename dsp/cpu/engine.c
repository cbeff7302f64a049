/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.c: makes a plan ready to run, merges branches, changes values, and exchanges state. */
#include "engine-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/block.h"
#include "core/branches.h"

/* Doubles in a chunk: 64 KiB; in sums of more than two channels 8 KiB, so that two chunks and
 * the block that each branch reads stay in the first-level cache; 16 KiB where a split
 * transposes; and up to 1 MiB where FIRs are, which are laid out for whole blocks. */
#define CHUNK_SIZE 8192
#define SUM_CHUNK_SIZE 1024
#define SPLIT_CHUNK_SIZE 2048
#define FIR_CHUNK_SIZE 131072
#define MIN_CHUNK_FRAMES 64
#define MAX_CHUNK_FRAMES 1024

/* Adjacent channels that a cascade reads and writes in place as fast as planes. */
#define MANY_CHANNELS 4

/* ---- merged branches ------------------------------------------------------ */

static void
set_term (TfxCascadeTerm *term, const TfxSteps *branch)
{
  const TfxStep *s = leading_cascade (branch);

  term->sos = s ? s->sos : NULL;
  term->n_sos = s ? s->n_sos : 0;
  term->gain = s ? s->gain : 1.0;
}

/* Merges up to n branches from `first` on; *n_merged has their number, or 0: it does not
 * pay. */
static int
merge (TfxEngine *e, Node *node, TfxTermsForm form, size_t first, size_t n,
    size_t *n_merged)
{
  const TfxStep *step = node->step;
  const TfxKernels *kernels = e->plan->backend->data;
  Merged *m = &node->merged[node->n_merged];
  size_t n_sos = 0, most = 0;

  m->form = form;
  m->first = first;
  m->branches = &step->branches[first];
  m->terms = &node->terms[first];
  for (unsigned type = 0; type < 2; type++) {
    const size_t n_terms = tfx_cascade_count_terms (kernels, node->n_channels,
        m->terms, n, form, (TfxSample)type);

    m->pays[type] = n_terms > 0;
    m->n_terms = n_terms > 0 ? n_terms : m->n_terms;
  }
  *n_merged = m->n_terms;
  if (m->n_terms == 0)
    return 0;
  node->n_merged++;
  m->n = first + m->n_terms > step->n_branches ? step->n_branches : m->n_terms;
  for (size_t i = 0; i < m->n; i++) {
    const TfxStep *s = leading_cascade (&m->branches[i]);

    m->has_rest = m->has_rest || m->branches[i].n > (s ? 1 : 0);
    if (!s)
      continue;
    e->nodes[s->index].member_of[form] = m;
    e->nodes[s->index].first_sos[form] = n_sos;
    n_sos += s->n_sos;
    most = s->n_sos > most ? s->n_sos : most;
  }
  m->state = calloc (node->n_channels, 2 * most * sizeof *m->state);
  if (!m->state)
    return -ENOMEM;
  return tfx_cascade_new_terms (kernels, node->n_channels, m->terms, m->n_terms,
      form, &m->cascade);
}

/* In a split all branches are merged, or none; channels of no branch are one more term, and
 * terms have bits for 64 channels.  In a sum, those side by side that have nothing but a
 * cascade. */
static int
merge_branches (TfxEngine *e, Node *node)
{
  const TfxStep *s = node->step;
  const size_t n = s->n_branches;
  size_t n_merged;
  int ret = 0;

  node->merged = calloc (TFX_N_TERMS_FORMS * (n + 1), sizeof *node->merged);
  node->terms = calloc (n + 1, sizeof *node->terms);
  if (!node->merged || !node->terms)
    return -ENOMEM;
  for (size_t k = 0; k < n; k++)
    set_term (&node->terms[k], &s->branches[k]);

  if (s->kind == TFX_STEP_SPLIT) {
    if (node->n_channels > TFX_SPLIT_MAX_CHANNELS)
      return 0;
    for (size_t k = 0; k < n; k++)
      node->terms[k].channels = s->stage->u.sum.channels[k];
    node->terms[n].gain = 1.0;
    return merge (e, node, TFX_TERMS_CHANNELS, 0, n + 1, &n_merged);
  }
  for (int form = TFX_TERMS_PARTS; form <= TFX_TERMS_CASCADES; form++) {
    for (size_t k = 0, end; ret == 0 && k < n; k += n_merged ? n_merged : 1) {
      for (end = k; end < n; end++) {
        const TfxSteps *branch = &s->branches[end];

        if (branch->n > 1 || (branch->n == 1 && !leading_cascade (branch)))
          break;
      }
      ret = merge (e, node, (TfxTermsForm)form, k, end - k, &n_merged);
    }
  }
  return ret;
}

/* Moves the state of all branches to the merged cascade, or back. */
static void
move_state (TfxEngine *e, Merged *m, bool is_on)
{
  for (size_t i = 0; i < m->n && is_on != m->is_on; i++) {
    const TfxStep *s = leading_cascade (&m->branches[i]);
    const Node *node = s ? &e->nodes[s->index] : NULL;

    if (!s || s->n_sos == 0)
      continue;
    if (is_on) {
      tfx_cascade_get_state (node->cascade, 0, s->n_sos, m->state);
      tfx_cascade_set_state (m->cascade, node->first_sos[m->form], s->n_sos,
          m->state);
    } else {
      tfx_cascade_get_state (m->cascade, node->first_sos[m->form], s->n_sos,
          m->state);
      tfx_cascade_set_state (node->cascade, 0, s->n_sos, m->state);
    }
  }
  m->is_on = is_on;
}

bool
tfx_engine_enter_merged (TfxEngine *e, const Node *node, Merged *m,
    bool is_wanted)
{
  bool may = is_wanted && m->pays[e->type];

  for (size_t i = 0; may && i < m->n; i++) {
    const TfxStep *s = leading_cascade (&m->branches[i]);

    may = !s || !s->is_apart;
  }
  if (may && !m->is_known) {
    for (size_t i = 0; i < m->n; i++)
      set_term (&m->terms[i], &m->branches[i]);
    m->is_exact = tfx_cascade_set_terms (m->cascade, m->terms);
    m->is_known = true;
  }
  may = may && m->is_exact;
  /* Groups that share a branch leave, even if that is only a gain. */
  for (size_t i = 0; may && !m->is_on && i < node->n_merged; i++) {
    Merged *other = &node->merged[i];

    if (other->first < m->first + m->n && m->first < other->first + other->n)
      move_state (e, other, false);
  }
  move_state (e, m, may);
  return may;
}

/* The node's cascade has its state again.  `forgets`: it is about to get other values. */
static void
leave_merged (TfxEngine *e, const Node *node, bool forgets)
{
  for (size_t i = 0; i < TFX_N_TERMS_FORMS; i++) {
    if (!node->member_of[i])
      continue;
    move_state (e, node->member_of[i], false);
    node->member_of[i]->is_known = node->member_of[i]->is_known && !forgets;
  }
}

/* The cascade that has the state of a node, and the node's first section there. */
static TfxCascade *
find_cascade (const Node *node, size_t *first_sos)
{
  for (size_t i = 0; i < TFX_N_TERMS_FORMS; i++) {
    if (node->member_of[i] && node->member_of[i]->is_on) {
      *first_sos = node->first_sos[i];
      return node->member_of[i]->cascade;
    }
  }
  *first_sos = 0;
  return node->cascade;
}

/* ---- making --------------------------------------------------------------- */

/* Notes all steps of a list and of their branches, and numbers their chunks. */
static void
add_steps (TfxEngine *e, const TfxSteps *list, unsigned n_channels)
{
  const size_t between = e->n_chunks;

  e->n_chunks += list->n > 1;
  for (size_t i = 0; i < list->n; i++) {
    TfxStep *s = &list->steps[i];

    e->kinds |= 1u << s->kind;
    e->nodes[s->index] = (Node){ .step = s,
      .n_channels = n_channels,
      .between = between,
      .chunks = e->n_chunks };
    e->n_chunks += s->n_branches > 0 ? 2 : 0;
    for (size_t k = 0; k < s->n_branches; k++)
      add_steps (e, &s->branches[k],
          s->kind == TFX_STEP_SPLIT
              ? tfx_branches_n_channels (s->stage, k, n_channels)
              : n_channels);
  }
}

/* Frames in a number of doubles: whole lines of the cache. */
static size_t
frames_of (const TfxPlan *plan, size_t size)
{
  const size_t n = size / plan->n_channels / TFX_LINE_F32 * TFX_LINE_F32;

  return n < MIN_CHUNK_FRAMES   ? MIN_CHUNK_FRAMES
         : n > MAX_CHUNK_FRAMES ? MAX_CHUNK_FRAMES
                                : n;
}

/* Planes in a chunk may be up to two lines longer than its frames. */
static void
choose_chunks (TfxEngine *e, const TfxPlan *plan)
{
  const bool has_firs = e->kinds >> TFX_STEP_FIR & 1;
  const bool has_sums = e->kinds >> TFX_STEP_SUM & 1;
  const size_t most = FIR_CHUNK_SIZE / plan->n_channels;
  size_t n = frames_of (plan,
      has_sums && plan->n_channels > 2 ? SUM_CHUNK_SIZE : CHUNK_SIZE);

  if (has_firs && plan->block_frames > n && most > n)
    n = plan->block_frames < most ? plan->block_frames : most;
  e->chunk_frames = e->turn_frames = n;
  e->chunk_size = (n / TFX_LINE_F64 + 3) * TFX_LINE_F64 * plan->n_channels;
}

/* Channels that branches of a split read and write more slowly where they lie than in
 * planes. */
static unsigned
count_slow (const Node *node)
{
  const TfxStep *s = node->step;
  unsigned n_slow = 0, first, step;

  for (size_t k = 0; k < s->n_branches; k++) {
    const unsigned n = tfx_branches_n_channels (s->stage, k, node->n_channels);

    if (n < MANY_CHANNELS || !leading_cascade (&s->branches[k]) ||
        !tfx_branches_find_even (s->stage->u.sum.channels[k], &first, &step) ||
        step > 1)
      n_slow += n;
  }
  return n_slow;
}

static int
make_node (TfxEngine *e, Node *node)
{
  const size_t turn_frames = frames_of (e->plan, SPLIT_CHUNK_SIZE);
  int ret;

  switch (node->step->kind) {
    case TFX_STEP_CASCADE:
      return tfx_cascade_new (e->plan->backend->data, node->n_channels,
          node->step->n_sos, &node->cascade);
    case TFX_STEP_SPLIT:
      node->n_slow = count_slow (node);
      ret = merge_branches (e, node);
      if (wants_planes (node, TFX_SAMPLE_F32) &&
          !(e->kinds >> TFX_STEP_FIR & 1) &&
          (node->n_merged == 0 || node->merged->has_rest) &&
          turn_frames < e->turn_frames)
        e->turn_frames = turn_frames;
      return ret;
    case TFX_STEP_SUM:
      return merge_branches (e, node);
    case TFX_STEP_FADE:
    case TFX_STEP_FIR:
    case TFX_STEP_UNIT:
      break; /* slots have the units */
  }
  return 0;
}

int
tfx_engine_new (const TfxPlan *plan, TfxEngine **engine)
{
  TfxEngine *e = calloc (1, sizeof *e);
  int ret = 0;

  *engine = NULL;
  if (!e)
    return -ENOMEM;
  e->plan = plan;
  e->nodes = calloc (plan->n_all_steps + 1, sizeof *e->nodes);
  if (!e->nodes) {
    tfx_engine_free (e);
    return -ENOMEM;
  }
  e->n_nodes = plan->n_all_steps;
  add_steps (e, &plan->top, plan->n_channels);
  if (plan->top.n == 1 && plan->top.steps->n_branches == 0)
    e->alone = plan->top.steps;
  choose_chunks (e, plan);
  e->chunks = tfx_block_new_samples ((e->n_chunks + 1) * e->chunk_size);
  if (!e->chunks)
    ret = -ENOMEM;
  for (size_t i = 0; ret == 0 && i < e->n_nodes; i++)
    ret = make_node (e, &e->nodes[i]);
  if (ret < 0) {
    tfx_engine_free (e);
    return ret;
  }
  tfx_engine_update (e, plan);
  *engine = e;
  return 0;
}

void
tfx_engine_free (TfxEngine *e)
{
  if (!e)
    return;
  for (size_t i = 0; i < e->n_nodes; i++) {
    Node *node = &e->nodes[i];

    tfx_cascade_free (&node->cascade);
    for (size_t k = 0; k < node->n_merged; k++) {
      tfx_cascade_free (&node->merged[k].cascade);
      free (node->merged[k].state);
    }
    free (node->merged);
    free (node->terms);
  }
  free (e->nodes);
  free (e->chunks);
  free (e);
}

/* ---- values and state ----------------------------------------------------- */

void
tfx_engine_update_step (TfxEngine *e, const TfxStep *s)
{
  const Node *node = &e->nodes[s->index];

  leave_merged (e, node, true);
  tfx_cascade_set_sections (node->cascade, s->sos, s->gain);
}

int
tfx_engine_update (TfxEngine *e, const TfxPlan *plan)
{
  e->plan = plan;
  for (size_t i = 0; i < e->n_nodes; i++) {
    if (e->nodes[i].step->kind == TFX_STEP_CASCADE)
      tfx_engine_update_step (e, e->nodes[i].step);
  }
  return 0;
}

void
tfx_engine_get_state (TfxEngine *e, const TfxPlanPart *part, double *state)
{
  size_t first;
  TfxCascade *cascade = find_cascade (&e->nodes[part->step->index], &first);

  tfx_cascade_get_state (cascade, first + part->first_sos, part->n_sos, state);
}

int
tfx_engine_set_state (TfxEngine *e, const TfxPlanPart *part,
    const double *state)
{
  const Node *node = &e->nodes[part->step->index];

  leave_merged (e, node, false);
  tfx_cascade_set_state (node->cascade, part->first_sos, part->n_sos, state);
  return 0;
}

double
tfx_engine_state_peak (const TfxEngine *e)
{
  double peak = 0.0;

  for (size_t i = 0; i < e->n_nodes; i++) {
    const Node *node = &e->nodes[i];
    size_t first;

    if (node->cascade && find_cascade (node, &first) == node->cascade)
      peak = fmax (peak, tfx_cascade_state_peak (node->cascade));
    for (size_t k = 0; k < node->n_merged; k++) {
      if (node->merged[k].is_on)
        peak = fmax (peak, tfx_cascade_state_peak (node->merged[k].cascade));
    }
  }
  return peak;
}

void
tfx_engine_add_stats (const TfxEngine *e, TfxStats *stats)
{
  (void)e;
  (void)stats; /* no launches, no transfers */
}
