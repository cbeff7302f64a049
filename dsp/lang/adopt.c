/* SPDX-License-Identifier: LGPL-2.1-or-later
 * adopt.c: which stages of a new expression are stages of the old one.
 *
 * First the given names, wherever they stand.  Then place and class: the
 * children of two matching groups are aligned in order so that as many as
 * possible match (their longest common subsequence, after what is equal at
 * both ends is taken off), and matching groups are gone into. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"
#include "value.h"

/* Whether what is in b is another setting of the filter that is in a: the same
 * class, with the same structure (order, mode, ...). */
static bool
is_same_filter (const TfxNode *a, const TfxNode *b)
{
  if (a->klass != b->klass)
    return false;
  for (unsigned i = 0; i < a->klass->n_params; i++) {
    if ((a->klass->params[i].flags & TFX_PARAM_STRUCTURE) &&
        !tfx_value_equal (&a->values[i], &b->values[i]))
      return false;
  }
  return true;
}

typedef struct Adoption
{
  const TfxExpr *old;
  TfxExpr *expr;
  bool *old_taken;  /* [old->n_stages]: has a partner */
  bool *expr_taken; /* [expr->n_stages] */
  int code;
} Adoption;

static void
adopt (TfxNode *node, const TfxNode *old)
{
  node->id = old->id;
  if (node->band_ids)
    memcpy (node->band_ids, old->band_ids,
        TFX_EXPR_MAX_BANDS * sizeof *node->band_ids);
}

static void
adopt_names (Adoption *adoption)
{
  TfxExpr *expr = adoption->expr;

  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxNode *node = expr->stages[i];
    int found = node->is_named ? tfx_expr_find (adoption->old, node->name) : -1;
    const TfxNode *old = found >= 0 ? adoption->old->stages[found] : NULL;

    if (!old || !old->is_named)
      continue;
    /* A name that stayed is not matched by place, whatever it has become. */
    adoption->old_taken[found] = true;
    adoption->expr_taken[i] = true;
    if (is_same_filter (old, node))
      adopt (node, old);
  }
}

/* The stages in series of a node: a single one is a series of one. */
static TfxNode *const *
list_series (TfxNode *const *node, size_t *n)
{
  if (!*node) {
    *n = 0;
    return NULL;
  }
  if ((*node)->kind == TFX_NODE_SERIES) {
    *n = (*node)->n_children;
    return (*node)->children;
  }
  *n = 1;
  return node;
}

/* Whether two nodes may stand at the same place; two series do if they have a
 * stage in common. */
static bool
can_match (const Adoption *adoption, TfxNode *old, TfxNode *node)
{
  if (old->kind == TFX_NODE_SERIES || node->kind == TFX_NODE_SERIES) {
    size_t n_old, n;
    TfxNode *const *olds = list_series (&old, &n_old);
    TfxNode *const *nodes = list_series (&node, &n);

    for (size_t i = 0; i < n_old; i++) {
      for (size_t j = 0; j < n; j++) {
        if (can_match (adoption, olds[i], nodes[j]))
          return true;
      }
    }
    return false;
  }
  if (old->kind != node->kind)
    return false;
  if (old->kind != TFX_NODE_CALL)
    return true;
  if (old->is_named && node->is_named)
    return strcmp (old->name, node->name) == 0;
  return is_same_filter (old, node) && !adoption->old_taken[old->index] &&
         !adoption->expr_taken[node->index];
}

static void align (Adoption *adoption, TfxNode *const *old, size_t n_old,
    TfxNode *const *node, size_t n_node);

static void
match (Adoption *adoption, TfxNode *old, TfxNode *node)
{
  if (old->kind == TFX_NODE_SERIES || node->kind == TFX_NODE_SERIES) {
    size_t n_old, n;
    TfxNode *const *olds = list_series (&old, &n_old);
    TfxNode *const *nodes = list_series (&node, &n);

    align (adoption, olds, n_old, nodes, n);
  } else if (node->kind == TFX_NODE_SUM) {
    node->id = old->id;
    align (adoption, old->children, old->n_children, node->children,
        node->n_children);
  } else if (!adoption->expr_taken[node->index]) {
    /* (Two of one name were matched before.) */
    adopt (node, old);
  }
}

/* The longest common subsequence: best[i][j] is its length for old[i..] and
 * node[j..].  Both have at most TFX_EXPR_MAX_STAGES children. */
static void
align_middle (Adoption *adoption, TfxNode *const *old, size_t n_old,
    TfxNode *const *node, size_t n_node)
{
  size_t width = n_node + 1, i = 0, j = 0;
  unsigned short *best = calloc ((n_old + 1) * width, sizeof *best);
  bool *can = calloc (n_old * n_node + 1, sizeof *can);

  if (!best || !can) {
    adoption->code = -ENOMEM;
    goto done;
  }
  for (i = n_old; i-- > 0;) {
    for (j = n_node; j-- > 0;) {
      unsigned short skip = best[(i + 1) * width + j];
      unsigned short other = best[i * width + j + 1];

      can[i * n_node + j] = can_match (adoption, old[i], node[j]);
      if (other > skip)
        skip = other;
      if (can[i * n_node + j] && best[(i + 1) * width + j + 1] + 1 > skip)
        skip = (unsigned short)(best[(i + 1) * width + j + 1] + 1);
      best[i * width + j] = skip;
    }
  }
  for (i = j = 0; i < n_old && j < n_node;) {
    unsigned short here = best[i * width + j];

    if (can[i * n_node + j] && here == best[(i + 1) * width + j + 1] + 1)
      match (adoption, old[i++], node[j++]);
    else if (best[(i + 1) * width + j] == here)
      i++;
    else
      j++;
  }

done:
  free (best);
  free (can);
}

static void
align (Adoption *adoption, TfxNode *const *old, size_t n_old,
    TfxNode *const *node, size_t n_node)
{
  while (n_old > 0 && n_node > 0 && can_match (adoption, old[0], node[0])) {
    match (adoption, *old++, *node++);
    n_old--;
    n_node--;
  }
  while (n_old > 0 && n_node > 0 &&
         can_match (adoption, old[n_old - 1], node[n_node - 1])) {
    match (adoption, old[n_old - 1], node[n_node - 1]);
    n_old--;
    n_node--;
  }
  if (n_old > 0 && n_node > 0)
    align_middle (adoption, old, n_old, node, n_node);
}

int
tfx_expr_adopt_ids (TfxExpr *expr, const TfxExpr *old)
{
  Adoption adoption = { old, expr, NULL, NULL, 0 };
  TfxNode *const *old_top, *const *top;
  size_t n_old, n;

  adoption.old_taken = calloc (old->n_stages + 1, sizeof (bool));
  adoption.expr_taken = calloc (expr->n_stages + 1, sizeof (bool));
  if (!adoption.old_taken || !adoption.expr_taken) {
    adoption.code = -ENOMEM;
  } else {
    adopt_names (&adoption);
    old_top = list_series (&old->root, &n_old);
    top = list_series (&expr->root, &n);
    align (&adoption, old_top, n_old, top, n);
  }
  free (adoption.old_taken);
  free (adoption.expr_taken);
  return adoption.code;
}
