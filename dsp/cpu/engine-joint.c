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
      e->nodes[s->index].joint = j;
      e->nodes[s->index].joint_sos = first_sos;
    }
    first_sos += j->terms[i].n_sos;
  }
  j->state = calloc (n_channels, 2 * most * sizeof *j->state);
  if (!j->state)
    return -ENOMEM;
  return tfx_cascade_new_sum (e->plan->backend->data, n_channels, j->terms,
      j->n, &j->cascade);
}

int
tfx_joint_make (TfxEngine *e, const TfxStep *sum, unsigned n_channels)
{
  const TfxKernels *kernels = e->plan->backend->data;
  Node *node = &e->nodes[sum->index];
  const size_t n_all = sum->n_branches;
  int ret = 0;

  node->joints = calloc (n_all / 2 + 1, sizeof *node->joints);
  node->terms = calloc (n_all + 1, sizeof *node->terms);
  if (!node->joints || !node->terms)
    return -ENOMEM;
  for (size_t i = 0, n, most; ret == 0 && i<n_all; i += n> 0 ? n : 1) {
    TfxJoint *j = &node->joints[node->n_joints];

    for (most = i; most < n_all && can_join (&sum->branches[most]); most++)
      node->terms[most] = get_term (&sum->branches[most]);
    n = tfx_cascade_count_terms (kernels, n_channels, &node->terms[i],
        most - i);
    if (n == 0)
      continue;
    j->first = i;
    j->n = n;
    j->branches = &sum->branches[i];
    j->terms = &node->terms[i];
    node->n_joints++;
    ret = make_joint (e, j, n_channels);
  }
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

/* The state of each branch that has one, to the joint or from it. */
static void
move_state (TfxEngine *e, TfxJoint *j, bool enters)
{
  for (size_t i = 0; i < j->n; i++) {
    const TfxStep *s = only_step (&j->branches[i]);
    const Node *node = s ? &e->nodes[s->index] : NULL;

    if (!s || s->n_sos == 0)
      continue;
    if (enters) {
      tfx_cascade_get_state (node->cascade, 0, s->n_sos, j->state);
      tfx_cascade_set_state (j->cascade, node->joint_sos, s->n_sos, j->state);
    } else {
      tfx_cascade_get_state (j->cascade, node->joint_sos, s->n_sos, j->state);
      tfx_cascade_set_state (node->cascade, 0, s->n_sos, j->state);
    }
  }
  j->is_on = enters;
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
  bool may = e->type == TFX_SAMPLE_F32;

  for (size_t i = 0; may && i < j->n; i++) {
    const TfxStep *s = only_step (&j->branches[i]);

    may = !s || !s->is_apart;
  }
  may = may && is_exact (j);
  if (may != j->is_on)
    move_state (e, j, may);
  return may;
}

void
tfx_joint_leave (TfxEngine *e, TfxJoint *j)
{
  if (j->is_on)
    move_state (e, j, false);
}

void
tfx_joint_forget (TfxEngine *e, TfxJoint *j)
{
  tfx_joint_leave (e, j);
  j->is_known = false;
}
