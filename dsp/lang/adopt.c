/* SPDX-License-Identifier: LGPL-2.1-or-later
 * adopt.c: which stages of a new expression are stages of the old one.
 *
 * First the given names, wherever they stand.  Then place and class: the
 * children of two matching groups are aligned in order so that as many as
 * possible match, and of these as many as possible with the same values (the
 * longest common subsequence, weighted, after what is equal at both ends is
 * taken off); matching groups are gone into. */
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
  tfx_node_forget (node);
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

/* What it is worth to have two nodes at the same place, 0 if they may not be.
 * A match is worth more than any number of equal values: there are at most
 * TFX_EXPR_MAX_STAGES of these. */
#define WORTH_EQUAL 1u
#define WORTH_MATCH (2u * TFX_EXPR_MAX_STAGES)

static unsigned
find_worth (const Adoption *adoption, TfxNode *old, TfxNode *node)
{
  bool match;

  /* (What stands for a series of one has its channels, what is in one has none.) */
  if (tfx_node_part (old) == old && tfx_node_part (node) == node &&
      (old->channels != node->channels || old->positions != node->positions)) {
    match = false;
  } else if (old->kind == TFX_NODE_SERIES || node->kind == TFX_NODE_SERIES) {
    size_t n_old, n;
    TfxNode *const *olds = list_series (&old, &n_old);
    TfxNode *const *nodes = list_series (&node, &n);

    /* Two series may if they have a stage in common. */
    match = false;
    for (size_t i = 0; i < n_old && !match; i++) {
      for (size_t j = 0; j < n && !match; j++)
        match = find_worth (adoption, olds[i], nodes[j]) >= WORTH_MATCH;
    }
  } else if (old->kind != node->kind) {
    match = false;
  } else if (old->kind != TFX_NODE_CALL) {
    match = true;
  } else if (old->is_named && node->is_named) {
    /* Done by name; it only shows where the others stand. */
    return strcmp (old->name, node->name) == 0 ? WORTH_EQUAL : 0;
  } else {
    match = is_same_filter (old, node) && !adoption->old_taken[old->index] &&
            !adoption->expr_taken[node->index];
  }
  if (!match)
    return 0;
  return WORTH_MATCH + (tfx_node_equal (old, node) ? WORTH_EQUAL : 0);
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
  } else if (node->kind != TFX_NODE_CALL) {
    node->id = old->id;
    align (adoption, old->children, old->n_children, node->children,
        node->n_children);
  } else if (!node->is_named || !old->is_named) {
    /* (Two of one name were matched before.) */
    adopt (node, old);
  }
}

/* The best alignment: best[i][j] is what that of old[i..] and node[j..] is
 * worth, worth[i][j] what having i and j at the same place is.  Both lists have
 * at most TFX_EXPR_MAX_STAGES children. */
static void
align_middle (Adoption *adoption, TfxNode *const *old, size_t n_old,
    TfxNode *const *node, size_t n_node)
{
  const size_t width = n_node + 1;
  size_t i, j;
  unsigned *best = calloc ((n_old + 1) * width, sizeof *best);
  unsigned *worth = calloc ((n_old + 1) * width, sizeof *worth);

  if (!best || !worth) {
    adoption->code = -ENOMEM;
    goto done;
  }
  for (i = n_old; i-- > 0;) {
    for (j = n_node; j-- > 0;) {
      unsigned *here = &best[i * width + j];
      unsigned w = find_worth (adoption, old[i], node[j]);

      worth[i * width + j] = w;
      *here = here[1] > here[width] ? here[1] : here[width];
      if (w > 0 && here[width + 1] + w > *here)
        *here = here[width + 1] + w;
    }
  }
  for (i = j = 0; i < n_old && j < n_node;) {
    const unsigned *here = &best[i * width + j];
    unsigned w = worth[i * width + j];

    if (w > 0 && *here == here[width + 1] + w)
      match (adoption, old[i++], node[j++]);
    else if (*here == here[width])
      i++;
    else
      j++;
  }

done:
  free (best);
  free (worth);
}

static void
align (Adoption *adoption, TfxNode *const *old, size_t n_old,
    TfxNode *const *node, size_t n_node)
{
  while (n_old > 0 && n_node > 0 && tfx_node_equal (old[0], node[0])) {
    match (adoption, *old++, *node++);
    n_old--;
    n_node--;
  }
  while (n_old > 0 && n_node > 0 &&
         tfx_node_equal (old[n_old - 1], node[n_node - 1])) {
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
