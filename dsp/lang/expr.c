/* SPDX-License-Identifier: LGPL-2.1-or-later
 * expr.c: an expression: its stages, their names and their parameters. */
#include "expr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "error.h"

/* ---- the whole --------------------------------------------------------------- */

/* Numbers the calls and groups in the order of the text; lists the calls, unless
 * there is no list yet.  depth: levels of sums around the node. */
static void
list_calls (TfxExpr *expr, TfxNode *node, unsigned depth, TfxNode *absorber)
{
  const bool is_call = node->kind == TFX_NODE_CALL;

  depth += is_call ? node->klass->kind == TFX_CLASS_BANK
                   : node->kind != TFX_NODE_SERIES;
  expr->sum_depth = depth > expr->sum_depth ? depth : expr->sum_depth;
  expr->positions |= node->positions;
  node->absorber = absorber;
  node->index = is_call ? expr->n_stages++ : expr->n_groups++;
  if (is_call && expr->stages)
    expr->stages[node->index] = node;
  for (size_t i = 0; i < node->n_children; i++)
    list_calls (expr, node->children[i], depth,
        is_call && node->klass->ops->absorbs_chains ? node : absorber);
}

static bool
is_given (const TfxExpr *expr, const char *name)
{
  for (size_t i = 0; i < expr->n_stages; i++) {
    if (expr->stages[i]->is_named && strcmp (expr->stages[i]->name, name) == 0)
      return true;
  }
  return false;
}

/* The class in lower case and the next number of that class, unless this is a given
 * name. */
static void
generate_names (TfxExpr *expr)
{
  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxNode *node = expr->stages[i];

    if (node->is_named)
      continue;
    node->number = 0;
    for (size_t k = i; k-- > 0 && node->number == 0;) {
      if (!expr->stages[k]->is_named && expr->stages[k]->klass == node->klass)
        node->number = expr->stages[k]->number;
    }
    do {
      snprintf (node->name, sizeof node->name, "%.40s%u", node->klass->name,
          node->number++);
      for (char *c = node->name; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    } while (is_given (expr, node->name));
  }
}

/* Nothing in it can be set: there is no stage to be named. */
static TfxNode no_stages = { .kind = TFX_NODE_SERIES };
static TfxExpr empty = { .root = &no_stages };

TfxExpr *
tfx_expr_empty (void)
{
  return &empty;
}

TfxExpr *
tfx_expr_new (TfxNode *root)
{
  TfxExpr *expr;

  if (!root)
    return &empty;
  expr = calloc (1, sizeof *expr);
  if (!expr) {
    tfx_node_free (root);
    return NULL;
  }
  expr->root = root;
  expr->structure = tfx_stage_new_id ();
  list_calls (expr, root, 0, NULL);
  expr->stages = calloc (expr->n_stages, sizeof *expr->stages);
  if (!expr->stages) {
    tfx_expr_free (&expr);
    return NULL;
  }
  expr->n_stages = expr->n_groups = 0;
  list_calls (expr, root, 0, NULL);
  tfx_flow_fix (expr);
  generate_names (expr);
  return expr;
}

TfxExpr *
tfx_expr_copy (const TfxExpr *expr)
{
  TfxExpr *copy;
  TfxNode *root;

  if (expr == &empty)
    return &empty;
  root = tfx_node_copy (expr->root);
  copy = root ? tfx_expr_new (root) : NULL;
  if (copy)
    copy->structure = expr->structure;
  return copy;
}

void
tfx_expr_free (TfxExpr **expr)
{
  TfxExpr *e = *expr;

  *expr = NULL;
  if (!e || e == &empty)
    return;
  tfx_node_free (e->root);
  free (e->stages);
  free (e);
}

bool
tfx_expr_equal (const TfxExpr *a, const TfxExpr *b)
{
  return tfx_node_equal (a->root, b->root);
}

/* ---- stages ------------------------------------------------------------------- */

size_t
tfx_expr_n_stages (const TfxExpr *expr)
{
  return expr->n_stages;
}

const char *
tfx_expr_stage_name (const TfxExpr *expr, size_t stage)
{
  return stage < expr->n_stages ? expr->stages[stage]->name : NULL;
}

const TfxClass *
tfx_expr_stage_class (const TfxExpr *expr, size_t stage)
{
  return stage < expr->n_stages ? expr->stages[stage]->klass : NULL;
}

uint64_t
tfx_expr_stage_id (const TfxExpr *expr, size_t stage)
{
  return stage < expr->n_stages ? expr->stages[stage]->id : 0;
}

int
tfx_expr_find (const TfxExpr *expr, const char *name)
{
  for (size_t i = 0; i < expr->n_stages; i++) {
    if (strcmp (expr->stages[i]->name, name) == 0)
      return (int)i;
  }
  return -ENOENT;
}

/* ---- parameters ----------------------------------------------------------------- */

/* The place of a parameter's value, NULL with an error if there is none. */
static TfxValue *
find_value (const TfxExpr *expr, size_t stage, const char *param,
    const TfxParam **found, TfxExprError *error)
{
  const TfxClass *klass;
  const char *near;
  int index;

  if (stage >= expr->n_stages) {
    tfx_error_set (error, -EINVAL, "there is no stage %zu: the chain has %zu",
        stage, expr->n_stages);
    return NULL;
  }
  klass = expr->stages[stage]->klass;
  index = tfx_class_find_param (klass, param);
  if (index >= 0) {
    *found = &klass->params[index];
    return &expr->stages[stage]->values[index];
  }
  near = tfx_class_suggest_param (klass, param);
  tfx_error_set (error, -ENOENT,
      "stage '%s' (%s) has no parameter '%.63s'%s%s%s",
      expr->stages[stage]->name, klass->name, param,
      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return NULL;
}

int
tfx_expr_get (const TfxExpr *expr, size_t stage, const char *param,
    TfxValue *value)
{
  TfxExprError error = { 0 };
  const TfxParam *found;
  const TfxValue *at = find_value (expr, stage, param, &found, &error);

  if (at)
    *value = *at;
  return error.code;
}

int
tfx_expr_set (TfxExpr *expr, size_t stage, const char *param,
    const TfxValue *value, TfxExprError *error)
{
  TfxExprError own;
  const TfxParam *found;
  char thing[TFX_NODE_THING_SIZE];
  TfxValue *at, copy, fitted = *value;
  bool is_structure;
  TfxNode *node;
  int code;

  if (!error)
    error = &own;
  at = find_value (expr, stage, param, &found, error);
  if (!at)
    return error->code;
  node = expr->stages[stage];
  fitted.word[TFX_VALUE_WORD_SIZE - 1] = '\0';
  /* A list without rows takes those of the current value. */
  if ((found->flags & TFX_PARAM_ROWS) && fitted.n_columns == 0)
    fitted.n_columns = at->n_columns;
  tfx_node_describe (node, thing);
  code = tfx_value_fit (&fitted, found, thing, error);
  if (code < 0)
    return code;
  is_structure =
      (found->flags & TFX_PARAM_STRUCTURE) && !tfx_value_equal (at, &fitted);
  if (at->type == TFX_VALUE_LIST && fitted.type == TFX_VALUE_LIST &&
      at->n_list == fitted.n_list) {
    /* Without memory. */
    at->n_columns = fitted.n_columns;
    memmove (at->list, fitted.list, fitted.n_list * sizeof *at->list);
  } else {
    if (tfx_value_copy (&copy, &fitted) < 0)
      return tfx_error_set_no_memory (error);
    tfx_value_clear (at);
    *at = copy;
  }
  for (TfxNode *stale = node; stale; stale = stale->absorber)
    tfx_node_keep (stale, NULL);
  if (found->flags & TFX_PARAM_ROWS)
    tfx_flow_fix (expr);
  if (is_structure) {
    node->id = tfx_stage_new_id ();
    expr->structure = tfx_stage_new_id ();
  }
  node->serial = tfx_stage_new_id ();
  return 0;
}

int
tfx_expr_get_number (const TfxExpr *expr, size_t stage, const char *param,
    size_t index, double *number)
{
  TfxValue value;
  int code = tfx_expr_get (expr, stage, param, &value);

  if (code < 0)
    return code;
  if (value.type == TFX_VALUE_LIST && index < value.n_list)
    *number = value.list[index];
  else if (value.type == TFX_VALUE_NUMBER && index == 0)
    *number = value.number;
  else
    return -EINVAL;
  return 0;
}

int
tfx_expr_set_number (TfxExpr *expr, size_t stage, const char *param,
    size_t index, double number, TfxExprError *error)
{
  TfxValue value, single = tfx_value_number (number);
  double kept;
  int code = tfx_expr_get (expr, stage, param, &value);

  if (code < 0 || value.type != TFX_VALUE_LIST || index >= value.n_list) {
    if (code == 0 && index > 0)
      return tfx_error_set (error, -EINVAL,
          "%s of stage '%s' has no number %zu", param,
          expr->stages[stage]->name, index);
    return tfx_expr_set (expr, stage, param, &single, error);
  }
  /* The list is the expression's own: try it with the new element. */
  kept = value.list[index];
  value.list[index] = number;
  code = tfx_expr_set (expr, stage, param, &value, error);
  if (code < 0)
    value.list[index] = kept;
  return code;
}

int
tfx_expr_set_word (TfxExpr *expr, size_t stage, const char *param,
    const char *word, TfxExprError *error)
{
  TfxValue value = { .type = TFX_VALUE_WORD };

  tfx_value_set_word (&value, word);
  return tfx_expr_set (expr, stage, param, &value, error);
}
