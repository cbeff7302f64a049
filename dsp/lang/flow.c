/* SPDX-License-Identifier: LGPL-2.1-or-later
 * flow.c: channels on their way through an expression. */
#include "flow.h"

#include <errno.h>
#include <stdio.h>

#include "class.h"
#include "error.h"

static unsigned
count (uint64_t channels)
{
  return (unsigned)__builtin_popcountll (channels);
}

static const TfxValue *
mix_gains (const TfxNode *call)
{
  return call->klass->kind == TFX_CLASS_MIX ? tfx_class_value (call, "gains")
                                            : NULL;
}

/* ---- fixed numbers ------------------------------------------------------------- */

/* n channels come to the node; returns how many leave it.  most: outside of
 * splits, else NULL. */
static unsigned
fix (TfxNode *node, unsigned n, unsigned *most)
{
  const TfxValue *gains;
  unsigned out = n;

  switch (node->kind) {
    case TFX_NODE_CALL:
      node->n_fixed = n;
      node->is_in_split = !most;
      gains = mix_gains (node);
      if (gains)
        out = (unsigned)(gains->n_list / gains->n_columns);
      break;
    case TFX_NODE_SERIES:
      for (size_t i = 0; i < node->n_children; i++)
        out = fix (node->children[i], out, most);
      break;
    case TFX_NODE_SUM:
      for (size_t i = 0; i < node->n_children; i++) {
        const unsigned of_branch = fix (node->children[i], n, most);

        out = i == 0 || of_branch > out ? of_branch : out;
      }
      break;
    case TFX_NODE_SPLIT:
      for (size_t i = 0; i < node->n_children; i++)
        fix (node->children[i], count (node->children[i]->channels), NULL);
      break;
  }
  if (most && out > *most)
    *most = out;
  return out;
}

void
tfx_flow_fix (TfxExpr *expr)
{
  expr->n_most = 0;
  expr->n_out = expr->root ? fix (expr->root, 0, &expr->n_most) : 0;
}

void
tfx_expr_channels (const TfxExpr *expr, unsigned n_channels, unsigned *n_out,
    unsigned *n_most)
{
  *n_out = expr->n_out ? expr->n_out : n_channels;
  *n_most = expr->n_most > n_channels ? expr->n_most : n_channels;
}

/* ---- checking ------------------------------------------------------------------ */

static int check (const TfxNode *node, unsigned *n, TfxExprError *error);

static const char *
plural (size_t n)
{
  return n == 1 ? "" : "s";
}

/* The place of its first stage. */
static size_t
find_place (const TfxNode *node)
{
  while (node->place == 0 && node->n_children > 0)
    node = node->children[0];
  return node->place;
}

/* A stream that goes on has the rest of its channels beside it. */
static int
check_square (const TfxNode *node, const TfxValue *gains, TfxExprError *error)
{
  const size_t n_rows = gains->n_list / gains->n_columns;

  if (!node->is_in_split || n_rows == gains->n_columns)
    return 0;
  return tfx_error_set (error, -EINVAL,
      "gains of stage '%s' (Mix) makes %zu channel%s from %zu, but inside "
      "ch[…] "
      "it must have as many rows as columns",
      node->name, n_rows, plural (n_rows), gains->n_columns);
}

static int
check_mix (const TfxNode *node, const TfxValue *gains, unsigned *n,
    TfxExprError *error)
{
  if (*n != 0 && *n != gains->n_columns)
    return tfx_error_set (error, -EINVAL,
        "gains of stage '%s' (Mix) has rows of %zu number%s, but its input has "
        "%u channel%s",
        node->name, gains->n_columns, plural (gains->n_columns), *n,
        plural (*n));
  *n = (unsigned)(gains->n_list / gains->n_columns);
  return check_square (node, gains, error);
}

static int
check_call (const TfxNode *node, unsigned *n, TfxExprError *error)
{
  const TfxValue *gains = mix_gains (node);
  char thing[TFX_NODE_THING_SIZE];
  int code = 0;

  if (gains) {
    code = check_mix (node, gains, n, error);
  } else if (*n != 0 && node->klass->ops->check_channels) {
    tfx_node_describe (node, thing);
    code = node->klass->ops->check_channels (node, *n, thing, error);
  }
  return tfx_error_set_place (error, node->place, code);
}

static int
check_sum (const TfxNode *node, unsigned *n, TfxExprError *error)
{
  unsigned out = 0;

  for (size_t i = 0; i < node->n_children; i++) {
    unsigned of_branch = *n;
    int code = check (node->children[i], &of_branch, error);

    if (code < 0)
      return code;
    if (out != 0 && of_branch != 0 && of_branch != out) {
      code = tfx_error_set (error, -EINVAL,
          "the branches of a sum have different channel counts: this one has "
          "%u "
          "channel%s, those before it %u",
          of_branch, plural (of_branch), out);
      return tfx_error_set_place (error, find_place (node->children[i]), code);
    }
    out = of_branch ? of_branch : out;
  }
  *n = out;
  return 0;
}

static int
check_split (const TfxNode *node, unsigned *n, TfxExprError *error)
{
  for (size_t i = 0; i < node->n_children; i++) {
    const TfxNode *child = node->children[i];
    const unsigned highest = 63 - (unsigned)__builtin_clzll (child->channels);
    unsigned in_branch = count (child->channels);
    int code;

    if (*n != 0 && highest >= *n) {
      code = tfx_error_set (error, -ERANGE,
          "ch[%u] is out of range: there %s %u channel%s, counted from 0",
          highest, *n == 1 ? "is" : "are", *n, plural (*n));
      return tfx_error_set_place (error, child->channels_place, code);
    }
    code = check (child, &in_branch, error);
    if (code < 0)
      return code;
  }
  return 0;
}

/* *n channels come to the node, and then are those that leave it. */
static int
check (const TfxNode *node, unsigned *n, TfxExprError *error)
{
  int code = 0;

  switch (node->kind) {
    case TFX_NODE_CALL:
      return check_call (node, n, error);
    case TFX_NODE_SERIES:
      for (size_t i = 0; code == 0 && i < node->n_children; i++)
        code = check (node->children[i], n, error);
      return code;
    case TFX_NODE_SUM:
      return check_sum (node, n, error);
    case TFX_NODE_SPLIT:
      return check_split (node, n, error);
  }
  return code;
}

int
tfx_flow_check (const TfxExpr *expr, unsigned n_channels, TfxExprError *error)
{
  return expr->root ? check (expr->root, &n_channels, error) : 0;
}

unsigned
tfx_expr_n_inputs (const TfxExpr *expr)
{
  unsigned n = 1;

  if (!expr->root || expr->n_out == 0)
    return 0;
  while (n < TFX_EXPR_MAX_CHANNELS && tfx_flow_check (expr, n, NULL) < 0)
    n++;
  return n;
}

unsigned
tfx_expr_find_channels (const TfxExpr *expr, unsigned least)
{
  const unsigned fixed = tfx_expr_n_inputs (expr);

  if (fixed > 0)
    return fixed;
  for (unsigned n = least; n <= TFX_EXPR_MAX_CHANNELS; n++) {
    if (tfx_flow_check (expr, n, NULL) == 0)
      return n;
  }
  return least;
}
