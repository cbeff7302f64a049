/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-joint.c: branches of a sum that are run as one sum of sections. */
#include "engine-private.h"

#include <errno.h>
#include <stdlib.h>

static const TfxStep *
only_step (const TfxSteps *branch)
{
  return branch->n == 1 ? branch->steps : NULL;
}

static bool
can_join (const TfxSteps *branch)
{
  const TfxStep *s = only_step (branch);

  return branch->n == 0 || (s && s->kind == TFX_STEP_CASCADE);
}

/* Of a branch that can join. */
static TfxCascadeTerm
get_term (const TfxSteps *branch)
{
  const TfxStep *s = only_step (branch);

  return s ? (TfxCascadeTerm){ s->sos, s->n_sos, s->gain }
           : (TfxCascadeTerm){ NULL, 0, 1.0 };
}

static int
make_joint (TfxEngine *e, TfxJoint *j, unsigned n_channels)
{
  size_t first_sos = 0, most = 0;

  for (size_t i = 0; i < j->n; i++) {
    const TfxStep *s = only_step (&j->branches[i]);

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
  return tfx_cascade_new_sum (e->plan->backend->data, n_channels, j->terms,
      j->n, j->form, &j->cascade);
}

/* How many terms are to be one, and for which types of the stream. */
static size_t
count_terms (const TfxEngine *e, unsigned n_channels,
    const TfxCascadeTerm *terms, size_t n_terms, TfxTermsForm form,
    bool pays[2])
{
  size_t most = 0;

  for (unsigned type = 0; type < 2; type++) {
    const size_t n = tfx_cascade_count_terms (e->plan->backend->data,
        n_channels, terms, n_terms, form, (TfxSample)type);

    pays[type] = n > 0;
    most = n > most ? n : most;
  }
  return most;
}

static int
make_joints (TfxEngine *e, const TfxStep *sum, unsigned n_channels,
    TfxTermsForm form)
{
  Node *node = &e->nodes[sum->index];
  const size_t n_all = sum->n_branches;
  TfxCascadeTerm *terms = node->terms + form * n_all;
  int ret = 0;

  for (size_t i = 0, n, most; ret == 0 && i<n_all; i += n> 0 ? n : 1) {
    TfxJoint *j = &node->joints[node->n_joints];

    for (most = i; most < n_all && can_join (&sum->branches[most]); most++)
      terms[most] = get_term (&sum->branches[most]);
    n = count_terms (e, n_channels, &terms[i], most - i, form, j->pays);
    if (n == 0)
      continue;
    j->form = form;
    j->first = i;
    j->n = n;
    j->branches = &sum->branches[i];
    j->terms = &terms[i];
    node->n_joints++;
    ret = make_joint (e, j, n_channels);
  }
  return ret;
}

int
tfx_joint_make (TfxEngine *e, const TfxStep *sum, unsigned n_channels)
{
  Node *node = &e->nodes[sum->index];
  const size_t n = TFX_N_TERMS_FORMS * (sum->n_branches + 1);
  int ret;

  node->joints = calloc (n, sizeof *node->joints);
  node->terms = calloc (n, sizeof *node->terms);
  if (!node->joints || !node->terms)
    return -ENOMEM;
  ret = make_joints (e, sum, n_channels, TFX_TERMS_PARTS);
  if (ret == 0)
    ret = make_joints (e, sum, n_channels, TFX_TERMS_CASCADES);
  return ret;
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
    const TfxStep *s = only_step (&j->branches[i]);
    const Node *node = s ? &e->nodes[s->index] : NULL;

    if (!s || s->n_sos == 0)
      continue;
    tfx_cascade_get_state (j->cascade, node->joint_sos[j->form], s->n_sos,
        j->state);
    tfx_cascade_set_state (node->cascade, 0, s->n_sos, j->state);
  }
  j->is_on = false;
}

/* And to it. */
static void
enter (TfxEngine *e, TfxJoint *j)
{
  for (size_t i = 0; i < j->n; i++) {
    const TfxStep *s = only_step (&j->branches[i]);
    const Node *node = s ? &e->nodes[s->index] : NULL;

    if (!s || s->n_sos == 0)
      continue;
    tfx_joint_leave (e, node, false);
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
    j->terms[i] = get_term (&j->branches[i]);
  j->is_exact = tfx_cascade_set_terms (j->cascade, j->terms);
  j->is_known = true;
  return j->is_exact;
}

bool
tfx_joint_enter (TfxEngine *e, TfxJoint *j)
{
  bool may = j->pays[e->type];

  for (size_t i = 0; may && i < j->n; i++) {
    const TfxStep *s = only_step (&j->branches[i]);

    may = !s || !s->is_apart;
  }
  may = may && is_exact (j);
  if (may && !j->is_on)
    enter (e, j);
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
