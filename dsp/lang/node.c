/* SPDX-License-Identifier: LGPL-2.1-or-later
 * node.c: the tree behind an expression.
 *
 * Recursion goes as deep as the tree, and the parser bounds that. */
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

void
tfx_node_forget (TfxNode *node)
{
  tfx_stage_unref (&node->made.stage);
  free (node->made.clamped);
  node->made = (TfxNodeMade){ NULL };
}

int
tfx_node_keep (TfxNode *node, const TfxNodeMade *made)
{
  TfxNodeClamp *clamped = NULL;

  if (made->n_clamped > 0) {
    clamped = malloc (made->n_clamped * sizeof *clamped);
    if (!clamped)
      return -ENOMEM;
    memcpy (clamped, made->clamped, made->n_clamped * sizeof *clamped);
  }
  tfx_node_forget (node);
  node->made = *made;
  node->made.clamped = clamped;
  tfx_stage_ref (made->stage);
  return 0;
}

void
tfx_node_renew_id (TfxNode *node)
{
  tfx_node_forget (node);
  if (node->kind != TFX_NODE_SERIES)
    node->id = tfx_stage_new_id ();
  for (unsigned i = 0; node->band_ids && i < TFX_EXPR_MAX_BANDS; i++)
    node->band_ids[i] = tfx_stage_new_id ();
}

static TfxNode *
node_new (TfxNodeKind kind)
{
  TfxNode *node = calloc (1, sizeof *node);

  if (node) {
    node->kind = kind;
    tfx_node_renew_id (node);
  }
  return node;
}

TfxNode *
tfx_node_new_group (TfxNodeKind kind)
{
  return node_new (kind);
}

TfxNode *
tfx_node_new_call (const TfxClass *klass)
{
  TfxNode *node = node_new (TFX_NODE_CALL);

  if (!node)
    return NULL;
  node->klass = klass;
  node->values = calloc (klass->n_params, sizeof *node->values);
  if (!node->values)
    goto error;
  for (unsigned i = 0; i < klass->n_params; i++)
    node->values[i] = klass->params[i].initial;
  if (klass->kind == TFX_CLASS_BANK) {
    node->band_ids = calloc (TFX_EXPR_MAX_BANDS, sizeof *node->band_ids);
    if (!node->band_ids)
      goto error;
  }
  tfx_node_renew_id (node);
  return node;

error:
  tfx_node_free (node);
  return NULL;
}

void
tfx_node_free (TfxNode *node)
{
  if (!node)
    return;
  for (size_t i = 0; i < node->n_children; i++)
    tfx_node_free (node->children[i]);
  free (node->children);
  if (node->values) {
    for (unsigned i = 0; i < node->klass->n_params; i++)
      tfx_value_clear (&node->values[i]);
  }
  tfx_node_forget (node);
  free (node->values);
  free (node->band_ids);
  free (node);
}

static int
make_room (TfxNode *node, size_t n_more)
{
  size_t need = node->n_children + n_more, room = node->room;
  TfxNode **children;

  if (need <= room)
    return 0;
  while (room < need)
    room = room ? 2 * room : 4;
  children = realloc (node->children, room * sizeof *children);
  if (!children)
    return -ENOMEM;
  node->children = children;
  node->room = room;
  return 0;
}

int
tfx_node_add (TfxNode *node, TfxNode *child)
{
  bool merge = child->kind == node->kind && node->kind != TFX_NODE_SPLIT;

  if (make_room (node, merge ? child->n_children : 1) < 0) {
    tfx_node_free (child);
    return -ENOMEM;
  }
  if (!merge) {
    node->children[node->n_children++] = child;
    return 0;
  }
  if (child->n_children > 0)
    memcpy (node->children + node->n_children, child->children,
        child->n_children * sizeof *child->children);
  node->n_children += child->n_children;
  child->n_children = 0;
  tfx_node_free (child);
  return 0;
}

TfxNode *
tfx_node_copy (const TfxNode *node)
{
  TfxNode *copy = node->kind == TFX_NODE_CALL ? tfx_node_new_call (node->klass)
                                              : node_new (node->kind);

  if (!copy)
    return NULL;
  copy->id = node->id;
  copy->channels = node->channels;
  copy->positions = node->positions;
  copy->channels_place = node->channels_place;
  copy->place = node->place;
  memcpy (copy->name, node->name, sizeof copy->name);
  copy->is_named = node->is_named;
  copy->serial = node->serial;
  if (node->band_ids)
    memcpy (copy->band_ids, node->band_ids,
        TFX_EXPR_MAX_BANDS * sizeof *copy->band_ids);
  for (unsigned i = 0; node->values && i < node->klass->n_params; i++) {
    tfx_value_clear (&copy->values[i]);
    if (tfx_value_copy (&copy->values[i], &node->values[i]) < 0)
      goto error;
  }
  if (node->made.stage && tfx_node_keep (copy, &node->made) < 0)
    goto error;
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
tfx_node_has_values_of (const TfxNode *a, const TfxNode *b)
{
  if (a->klass != b->klass)
    return false;
  for (unsigned i = 0; i < a->klass->n_params; i++) {
    if (!tfx_value_equal (&a->values[i], &b->values[i]))
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
  if (a->klass && !tfx_node_has_values_of (a, b))
    return false;
  for (size_t i = 0; i < a->n_children; i++) {
    if (!tfx_node_equal (a->children[i], b->children[i]))
      return false;
  }
  return true;
}

/* With each value that moves: printf() would take as long as the design. */
static char *
add_text (char *to, const char *text)
{
  const size_t n = strlen (text);

  memcpy (to, text, n + 1);
  return to + n;
}

void
tfx_node_describe (const TfxNode *node, char thing[TFX_NODE_THING_SIZE])
{
  thing = add_text (add_text (thing, "stage '"), node->name);
  add_text (add_text (add_text (thing, "' ("), node->klass->name), ")");
}
