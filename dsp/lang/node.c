/* SPDX-License-Identifier: LGPL-2.1-or-later
 * node.c: the tree behind an expression.
 *
 * Recursion goes as deep as the tree, and the parser bounds that. */
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
tfx_node_keep (TfxNode *node, TfxNodeMade *made)
{
  TfxNodeMade *old = node->made;

  if (made)
    __atomic_add_fetch (&made->refs, 1, __ATOMIC_RELAXED);
  node->made = made;
  if (!old || __atomic_sub_fetch (&old->refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  tfx_stage_unref (&old->stage);
  free (old);
}

TfxNode *
tfx_node_new (TfxNodeKind kind, const TfxClass *klass)
{
  const size_t n_params = klass ? klass->n_params : 0;
  TfxNode *node = calloc (1, sizeof *node + n_params * sizeof *node->values);

  if (!node)
    return NULL;
  node->kind = kind;
  node->klass = klass;
  node->values = (TfxValue *)(node + 1);
  for (size_t i = 0; i < n_params; i++)
    node->values[i] = klass->params[i].initial;
  if (kind != TFX_NODE_SERIES)
    node->id = tfx_stage_new_id ();
  return node;
}

void
tfx_node_free (TfxNode *node)
{
  if (!node)
    return;
  for (size_t i = 0; i < node->n_children; i++)
    tfx_node_free (node->children[i]);
  free (node->children);
  for (unsigned i = 0; node->klass && i < node->klass->n_params; i++)
    tfx_value_clear (&node->values[i]);
  tfx_node_keep (node, NULL);
  free (node);
}

int
tfx_node_add (TfxNode *node, TfxNode *child)
{
  const bool merge =
      child->kind == node->kind &&
      (node->kind == TFX_NODE_SERIES || node->kind == TFX_NODE_SUM);
  const size_t n_more = merge ? child->n_children : 1;
  const size_t need = node->n_children + n_more;

  if (need > node->room) {
    const size_t room = 2 * need + 2;
    TfxNode **children = realloc (node->children, room * sizeof *children);

    if (!children) {
      tfx_node_free (child);
      return -ENOMEM;
    }
    node->children = children;
    node->room = room;
  }
  if (n_more > 0)
    memcpy (node->children + node->n_children, merge ? child->children : &child,
        n_more * sizeof *node->children);
  node->n_children = need;
  if (merge) {
    child->n_children = 0;
    tfx_node_free (child);
  }
  return 0;
}

TfxNode *
tfx_node_copy (const TfxNode *node)
{
  TfxNode *copy = tfx_node_new (node->kind, node->klass);
  TfxValue *values;

  if (!copy)
    return NULL;
  values = copy->values;
  *copy = *node;
  copy->values = values;
  copy->children = NULL;
  copy->n_children = copy->room = 0;
  copy->made = NULL;
  for (unsigned i = 0; node->klass && i < node->klass->n_params; i++) {
    if (tfx_value_copy (&values[i], &node->values[i]) < 0)
      goto error;
  }
  tfx_node_keep (copy, node->made);
  for (size_t i = 0; i < node->n_children; i++) {
    TfxNode *child = tfx_node_copy (node->children[i]);
    if (!child || tfx_node_add (copy, child) < 0)
      goto error;
  }
  return copy;

error:
  tfx_node_free (copy);
  return NULL;
}

bool
tfx_node_has_values_of (const TfxNode *a, const TfxNode *b, unsigned flags)
{
  if (a->klass != b->klass)
    return false;
  for (unsigned i = 0; i < a->klass->n_params; i++) {
    if ((a->klass->params[i].flags & flags) == flags &&
        !tfx_value_equal (&a->values[i], &b->values[i]))
      return false;
  }
  return true;
}

bool
tfx_node_equal (const TfxNode *a, const TfxNode *b)
{
  if (a->kind != b->kind || a->is_named != b->is_named ||
      a->n_children != b->n_children || a->channels != b->channels ||
      a->positions != b->positions)
    return false;
  if (a->is_named && strcmp (a->name, b->name) != 0)
    return false;
  if (a->klass && !tfx_node_has_values_of (a, b, 0))
    return false;
  for (size_t i = 0; i < a->n_children; i++) {
    if (!tfx_node_equal (a->children[i], b->children[i]))
      return false;
  }
  return true;
}

/* (Without printf(), which is as slow as the design of a stage in a move.) */
void
tfx_node_describe (const TfxNode *node, char thing[TFX_NODE_THING_SIZE])
{
  const char *parts[] = { "stage '", node->name, "' (", node->klass->name,
    ")" };

  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    strcpy (thing, parts[i]);
    thing += strlen (parts[i]);
  }
}
