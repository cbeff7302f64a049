/* SPDX-License-Identifier: LGPL-2.1-or-later
 * extent.c: what the stages of an expression take, and whether that is too much. */
#include "extent.h"

#include <errno.h>

#include "error.h"
#include "flow.h"

void
tfx_extent_add (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  TfxFittedNode fitted;

  if (node->klass->ops->measure)
    node->klass->ops->measure (tfx_class_fit (node, &fitted, NULL), rate_hz,
        extent);
}

int
tfx_extent_check (const TfxExpr *expr, double rate_hz, TfxExprError *error)
{
  TfxExtent extent = { 0 };

  for (size_t i = 0; i < expr->n_stages; i++)
    tfx_extent_add (expr->stages[i], rate_hz, &extent);
  if (extent.sections > TFX_EXPR_MAX_SECTIONS)
    return tfx_error_set (error, -E2BIG,
        "the chain has %zu second-order sections in total; at most %u are "
        "allowed",
        extent.sections, TFX_EXPR_MAX_SECTIONS);
  if (extent.taps > TFX_EXPR_MAX_TAPS)
    return tfx_error_set (error, -E2BIG,
        "the chain has %zu FIR taps in total; at most %u are allowed",
        extent.taps, TFX_EXPR_MAX_TAPS);
  if (extent.echoes > TFX_EXPR_MAX_ALL_ECHOES)
    return tfx_error_set (error, -E2BIG,
        "the chain has %zu echoes in total; at most %u are allowed",
        extent.echoes, TFX_EXPR_MAX_ALL_ECHOES);
  if (extent.delay > TFX_EXPR_MAX_DELAY)
    return tfx_error_set (error, -E2BIG,
        "the delays of the chain are %.0f samples in total; at most %u are "
        "allowed",
        extent.delay, TFX_EXPR_MAX_DELAY);
  return 0;
}

/* How many sums and splits stand within each other. */
static unsigned
sum_depth (const TfxNode *node)
{
  unsigned depth = 0;

  for (size_t i = 0; i < node->n_children; i++) {
    unsigned below = sum_depth (node->children[i]);
    depth = below > depth ? below : depth;
  }
  if (node->kind == TFX_NODE_SUM || node->kind == TFX_NODE_SPLIT ||
      (node->kind == TFX_NODE_CALL && node->klass->kind == TFX_CLASS_BANK))
    depth++;
  return depth;
}

int
tfx_expr_check (const TfxExpr *expr, TfxExprError *error)
{
  const TfxFlow any = { 0, TFX_FLOW_ANY };
  char thing[TFX_NODE_THING_SIZE];

  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxFittedNode fitted;
    int code;

    tfx_node_describe (expr->stages[i], thing);
    code = tfx_class_check (tfx_class_fit (expr->stages[i], &fitted, NULL),
        thing, error);
    if (code < 0)
      return tfx_error_set_place (error, expr->stages[i]->place, code);
  }
  if (expr->root && sum_depth (expr->root) > TFX_SUM_MAX_DEPTH)
    return tfx_error_set (error, -E2BIG,
        "more than %d levels of sums, filter banks and channels",
        TFX_SUM_MAX_DEPTH);
  if (tfx_flow_check (expr, &any, error) < 0)
    return error ? error->code : -EINVAL;
  return tfx_extent_check (expr, 0.0, error);
}
