/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-joint.c: branches of a sum, or of a split, that are run as one cascade. */
#include "engine-private.h"

#include <errno.h>
#include <stdlib.h>

TfxStep *
tfx_joint_step (const TfxSteps *branch)
{
  return branch->n > 0 && branch->steps->kind == TFX_STEP_CASCADE
             ? branch->steps
             : NULL;
}

bool
tfx_joint_has_rest (const TfxStep *split)
{
  bool has = false;

  for (size_t k = 0; !has && k < split->n_branches; k++) {
    const TfxSteps *branch = &split->branches[k];

    has = branch->n > (tfx_joint_step (branch) ? 1 : 0);
  }
  return has;
}

/* Whether a branch of a sum can join: all of it. */
static bool
can_join (const TfxSteps *branch)
{
  return branch->n == 0 || (branch->n == 1 && tfx_joint_step (branch));
}

/* Other values. */
static void
set_term (TfxCascadeTerm *term, const TfxStep *s)
{
  term->sos = s ? s->sos : NULL;
  term->n_sos = s ? s->n_sos : 0;
  term->gain = s ? s->gain : 1.0;
}

static int
make_joint (TfxEngine *e, TfxJoint *j, unsigned n_channels)
{
  size_t first_sos = 0, most = 0;

  for (size_t i = 0; i < j->n; i++) {
    const TfxStep *s = tfx_joint_step (&j->branches[i]);

    most = j->terms[i].n_sos > most ? j->terms[i].n_sos : most;
    if (s) {
      e->nodes[s->index].joint[j->form] = j;
      e->nodes[s->index].joint_sos[j->form] = first_sos;
    }
    first_sos += j->terms[i].n_sos;
  }
  j->state = calloc (n_channels, 2 * most * sizeof *j->state);
  if (!j->state)
    return -ENOMEM;
  return tfx_cascade_new_terms (e->plan->backend->data, n_channels, j->terms,
      j->n_terms, j->form, &j->cascade);
}

/* Makes a joint of up to n of the step's branches from `first` on; *n_joined has their number,
 * 0: it would not pay. */
static int
join (TfxEngine *e, const TfxStep *step, unsigned n_channels, TfxTermsForm form,
    size_t first, size_t n, size_t *n_joined)
{
  Node *node = &e->nodes[step->index];
  TfxJoint *j = &node->joints[node->n_joints];

  *n_joined = 0;
  for (unsigned type = 0; type < 2; type++) {
    const size_t n_terms = tfx_cascade_count_terms (e->plan->backend->data,
        n_channels, &node->terms[first], n, form, (TfxSample)type);

    j->pays[type] = n_terms > 0;
    *n_joined = n_terms > 0 ? n_terms : *n_joined;
  }
  if (*n_joined == 0)
    return 0;
  j->form = form;
  j->first = first;
  j->n_terms = *n_joined;
  j->n = first + j->n_terms > step->n_branches ? step->n_branches : j->n_terms;
  j->branches = &step->branches[first];
  j->terms = &node->terms[first];
  node->n_joints++;
  return make_joint (e, j, n_channels);
}

/* All that lie side by side. */
static int
join_sum (TfxEngine *e, const TfxStep *sum, unsigned n_channels,
    TfxTermsForm form)
{
  size_t i = 0;
  int ret = 0;

  while (ret == 0 && i < sum->n_branches) {
    size_t end = i, n;

    while (end < sum->n_branches && can_join (&sum->branches[end]))
      end++;
    ret = join (e, sum, n_channels, form, i, end - i, &n);
    i += n > 0 ? n : 1;
  }
  return ret;
}

/* What all begin with, or none; channels of no branch, which has bits for 64 of them, are
 * one more term. */
static int
join_split (TfxEngine *e, const TfxStep *split, unsigned n_channels)
{
  const size_t n = split->n_branches;
  Node *node = &e->nodes[split->index];
  size_t n_joined;

  if (n_channels > TFX_SPLIT_MAX_CHANNELS)
    return 0;
  for (size_t i = 0; i < n; i++)
    node->terms[i].channels = split->stage->u.sum.channels[i];
  node->terms[n].gain = 1.0;
  return join (e, split, n_channels, TFX_TERMS_CHANNELS, 0, n + 1, &n_joined);
}

int
tfx_joint_make (TfxEngine *e, const TfxStep *step, unsigned n_channels)
{
  Node *node = &e->nodes[step->index];
  const size_t n = step->n_branches + 1;
  int ret;

  node->joints = calloc (TFX_N_TERMS_FORMS * n, sizeof *node->joints);
  node->terms = calloc (n, sizeof *node->terms);
  if (!node->joints || !node->terms)
    return -ENOMEM;
  for (size_t i = 0; i < step->n_branches; i++)
    set_term (&node->terms[i], tfx_joint_step (&step->branches[i]));
  if (step->kind == TFX_STEP_SPLIT)
    return join_split (e, step, n_channels);
  ret = join_sum (e, step, n_channels, TFX_TERMS_PARTS);
  return ret < 0 ? ret : join_sum (e, step, n_channels, TFX_TERMS_CASCADES);
}

void
tfx_joint_free (Node *node)
{
  for (size_t i = 0; i < node->n_joints; i++) {
    TfxJoint *j = &node->joints[i];

    tfx_cascade_free (&j->cascade);
    free (j->state);
  }
  free (node->joints);
  free (node->terms);
}

/* The state of each branch that has one, from the joint. */
static void
leave (TfxEngine *e, TfxJoint *j)
{
  for (size_t i = 0; i < j->n && j->is_on; i++) {
    const TfxStep *s = tfx_joint_step (&j->branches[i]);
    const Node *node = s ? &e->nodes[s->index] : NULL;

    if (!s || s->n_sos == 0)
      continue;
    tfx_cascade_get_state (j->cascade, node->joint_sos[j->form], s->n_sos,
        j->state);
    tfx_cascade_set_state (node->cascade, 0, s->n_sos, j->state);
  }
  j->is_on = false;
}

/* And to it.  Others that have some of its branches are not run beside it: all of theirs get
 * their state back, even if no more than a gain is shared. */
static void
enter (TfxEngine *e, const Node *step, TfxJoint *j)
{
  for (size_t i = 0; i < step->n_joints; i++) {
    TfxJoint *other = &step->joints[i];

    if (other->first < j->first + j->n && j->first < other->first + other->n)
      leave (e, other);
  }
  for (size_t i = 0; i < j->n; i++) {
    const TfxStep *s = tfx_joint_step (&j->branches[i]);
    const Node *node = s ? &e->nodes[s->index] : NULL;

    if (!s || s->n_sos == 0)
      continue;
    tfx_cascade_get_state (node->cascade, 0, s->n_sos, j->state);
    tfx_cascade_set_state (j->cascade, node->joint_sos[j->form], s->n_sos,
        j->state);
  }
  j->is_on = true;
}

static bool
is_exact (TfxJoint *j)
{
  if (j->is_known)
    return j->is_exact;
  for (size_t i = 0; i < j->n; i++)
    set_term (&j->terms[i], tfx_joint_step (&j->branches[i]));
  j->is_exact = tfx_cascade_set_terms (j->cascade, j->terms);
  j->is_known = true;
  return j->is_exact;
}

bool
tfx_joint_enter (TfxEngine *e, const Node *step, TfxJoint *j, bool is_wanted)
{
  bool may = is_wanted && j->pays[e->type];

  for (size_t i = 0; may && i < j->n; i++) {
    const TfxStep *s = tfx_joint_step (&j->branches[i]);

    may = !s || !s->is_apart;
  }
  may = may && is_exact (j);
  if (may && !j->is_on)
    enter (e, step, j);
  else if (!may)
    leave (e, j);
  return may;
}

TfxCascade *
tfx_joint_find (const Node *node, size_t *first)
{
  for (size_t i = 0; i < TFX_N_TERMS_FORMS; i++) {
    if (node->joint[i] && node->joint[i]->is_on) {
      *first = node->joint_sos[i];
      return node->joint[i]->cascade;
    }
  }
  *first = 0;
  return node->cascade;
}

void
tfx_joint_leave (TfxEngine *e, const Node *node, bool forgets)
{
  for (size_t i = 0; i < TFX_N_TERMS_FORMS; i++) {
    if (!node->joint[i])
      continue;
    leave (e, node->joint[i]);
    node->joint[i]->is_known = node->joint[i]->is_known && !forgets;
  }
}
