/* SPDX-License-Identifier: LGPL-2.1-or-later
 * adopt.c: which stages of a new expression are stages of the old one.
 *
 * Given names come first, wherever they stand.  The others are found by place and
 * class: the children of two series or sums are aligned in order, so that the
 * largest number of stages match, and among these alignments the largest number
 * with equal values (the longest common subsequence, weighted).  The parts of two
 * splits match by their channels, the chains of two calls by their order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

/* The worth of a match.  One more stage is worth more than any number of equal
 * ones: an expression has at most TFX_EXPR_MAX_STAGES. */
#define WORTH_EQUAL 1u
#define WORTH_MATCH (2u * TFX_EXPR_MAX_STAGES)

typedef struct Adoption
{
  const TfxExpr *old;
  TfxExpr *expr;
  bool *old_taken;  /* [old->n_stages]: has a partner by its name */
  bool *expr_taken; /* [expr->n_stages] */
  /* [old->n_groups][expr->n_groups]: the worth of two groups and 1, 0: not known */
  unsigned *worths;
  int code;
} Adoption;

/* Some nodes in order: the children of a series, or one node alone. */
typedef struct Row
{
  TfxNode *const *nodes;
  size_t n;
} Row;

static Row
row_of (TfxNode *const *node)
{
  if ((*node)->kind == TFX_NODE_SERIES)
    return (Row){ (*node)->children, (*node)->n_children };
  return (Row){ node, 1 };
}

/* Another setting of the same filter has the same class and the same structure (order,
 * mode, ...). */
#define IS_SAME_FILTER(a, b) tfx_node_has_values_of (a, b, TFX_PARAM_STRUCTURE)

static void
adopt (TfxNode *node, const TfxNode *old)
{
  tfx_node_keep (node, NULL);
  node->id = old->id;
}

static void
adopt_names (Adoption *adoption)
{
  TfxExpr *expr = adoption->expr;

  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxNode *node = expr->stages[i];
    int found = node->is_named ? tfx_expr_find (adoption->old, node->name) : -1;
    TfxNode *old = found >= 0 ? adoption->old->stages[found] : NULL;

    if (!old || !old->is_named)
      continue;
    /* A name that stayed is not matched by place, whatever its class is now. */
    adoption->old_taken[found] = true;
    adoption->expr_taken[i] = true;
    if (IS_SAME_FILTER (old, node))
      adopt (node, old);
  }
}

static unsigned align (Adoption *adoption, Row old, Row row, bool is_final);

/* Aligns the chains of two calls, by their order. */
static unsigned
align_chains (Adoption *adoption, const TfxNode *old, const TfxNode *node,
    bool is_final)
{
  unsigned worth = 0;

  for (size_t i = 0; i < old->n_children && i < node->n_children; i++)
    worth += align (adoption, row_of (&old->children[i]),
        row_of (&node->children[i]), is_final);
  return worth;
}

/* Those of calls with the same name, wherever they stand. */
static void
adopt_chains_of_names (Adoption *adoption)
{
  for (size_t i = 0; i < adoption->expr->n_stages; i++) {
    const TfxNode *node = adoption->expr->stages[i];
    int found = node->n_children > 0 && adoption->expr_taken[i]
                    ? tfx_expr_find (adoption->old, node->name)
                    : -1;

    if (found >= 0 && adoption->old->stages[found]->klass == node->klass)
      align_chains (adoption, adoption->old->stages[found], node, true);
  }
}

/* The worth of aligning what is in two nodes; adopts their ids if is_final. */
static unsigned
align_inside (Adoption *adoption, TfxNode *old, TfxNode *node, bool is_final)
{
  unsigned worth = 0;

  if (old->kind == TFX_NODE_SERIES || node->kind == TFX_NODE_SERIES)
    return align (adoption, row_of (&old), row_of (&node), is_final);
  if (is_final)
    node->id = old->id;
  if (node->kind == TFX_NODE_SUM)
    return align (adoption, (Row){ old->children, old->n_children },
        (Row){ node->children, node->n_children }, is_final);
  for (size_t i = 0; i < old->n_children; i++) {
    for (size_t k = 0; k < node->n_children; k++) {
      TfxNode *a = old->children[i], *b = node->children[k];

      if (a->channels == b->channels && a->positions == b->positions)
        worth += align (adoption, row_of (&a), row_of (&b), is_final);
    }
  }
  return worth;
}

/* The worth of two nodes at the same place; 0 if they do not match. */
static unsigned
find_worth (Adoption *adoption, TfxNode *old, TfxNode *node)
{
  unsigned *worth;

  if (old->kind == TFX_NODE_SERIES || node->kind == TFX_NODE_SERIES)
    return align_inside (adoption, old, node, false);
  if (old->kind != node->kind)
    return 0;
  if (old->kind == TFX_NODE_CALL) {
    /* Names that stayed only show where the others are. */
    if (old->is_named && node->is_named)
      return strcmp (old->name, node->name) == 0 ? WORTH_EQUAL : 0;
    if (!IS_SAME_FILTER (old, node) || adoption->old_taken[old->index] ||
        adoption->expr_taken[node->index])
      return 0;
    return WORTH_MATCH + (tfx_node_equal (old, node) ? WORTH_EQUAL : 0) +
           align_chains (adoption, old, node, false);
  }
  worth =
      &adoption->worths[old->index * adoption->expr->n_groups + node->index];
  if (*worth == 0)
    *worth = align_inside (adoption, old, node, false) + 1;
  /* Groups with nothing in common match if nothing better does. */
  return *worth > 1 ? *worth - 1 : WORTH_EQUAL;
}

static void
match (Adoption *adoption, TfxNode *old, TfxNode *node)
{
  if (old->kind != TFX_NODE_CALL || node->kind != TFX_NODE_CALL)
    align_inside (adoption, old, node, true);
  else if (!node->is_named || !old->is_named) {
    adopt (node, old);
    align_chains (adoption, old, node, true);
  }
}

/* The worth of the best alignment of two rows of at most TFX_EXPR_MAX_STAGES nodes,
 * 0 if memory is short; matches its nodes if is_final. */
static unsigned
align (Adoption *adoption, Row old, Row row, bool is_final)
{
  size_t width, i, j;
  unsigned *best, *worths, worth;

  /* Equal nodes at both ends need no search. */
  while (is_final && old.n > 0 && row.n > 0 &&
         tfx_node_equal (old.nodes[0], row.nodes[0])) {
    match (adoption, *old.nodes++, *row.nodes++);
    old.n--;
    row.n--;
  }
  while (is_final && old.n > 0 && row.n > 0 &&
         tfx_node_equal (old.nodes[old.n - 1], row.nodes[row.n - 1]))
    match (adoption, old.nodes[--old.n], row.nodes[--row.n]);
  if (old.n == 0 || row.n == 0)
    return 0;

  /* best[i][j] is the worth of the nodes from old[i] and row[j] on, worths[i][j]
   * that of old[i] and row[j] at the same place. */
  width = row.n + 1;
  best = calloc ((old.n + 1) * width, sizeof *best);
  worths = calloc ((old.n + 1) * width, sizeof *worths);
  if (!best || !worths) {
    adoption->code = -ENOMEM;
    free (best);
    free (worths);
    return 0;
  }
  for (i = old.n; i-- > 0;) {
    for (j = row.n; j-- > 0;) {
      unsigned *here = &best[i * width + j];

      worth = find_worth (adoption, old.nodes[i], row.nodes[j]);
      worths[i * width + j] = worth;
      *here = here[1] > here[width] ? here[1] : here[width];
      if (worth > 0 && here[width + 1] + worth > *here)
        *here = here[width + 1] + worth;
    }
  }
  for (i = j = 0; is_final && i < old.n && j < row.n;) {
    const unsigned *here = &best[i * width + j];

    worth = worths[i * width + j];
    if (worth > 0 && *here == here[width + 1] + worth)
      match (adoption, old.nodes[i++], row.nodes[j++]);
    else if (*here == here[width])
      i++;
    else
      j++;
  }
  worth = best[0];
  free (best);
  free (worths);
  return worth;
}

int
tfx_expr_adopt_ids (TfxExpr *expr, const TfxExpr *old)
{
  Adoption adoption = { old, expr, NULL, NULL, NULL, 0 };

  adoption.old_taken = calloc (old->n_stages + 1, sizeof (bool));
  adoption.expr_taken = calloc (expr->n_stages + 1, sizeof (bool));
  adoption.worths =
      calloc (old->n_groups * expr->n_groups + 1, sizeof (unsigned));
  if (!adoption.old_taken || !adoption.expr_taken || !adoption.worths) {
    adoption.code = -ENOMEM;
  } else {
    adopt_names (&adoption);
    adopt_chains_of_names (&adoption);
    align (&adoption, row_of (&old->root), row_of (&expr->root), true);
  }
  free (adoption.old_taken);
  free (adoption.expr_taken);
  free (adoption.worths);
  return adoption.code;
}
