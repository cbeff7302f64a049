/* SPDX-License-Identifier: LGPL-2.1-or-later
 * move.c: the stage of an expression whose values have moved.
 *
 * Whatever is set gets a number above all that were given before, and an
 * expression gets another one when its structure changes.  So the numbers of what
 * is in force tell what was set since. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"

/* The longest list of a stage that is designed alone: the gains of bands. */
#define MAX_LIST 31

struct TfxMove
{
  uint64_t structure, serial; /* in force, or taken */
  /* The stage that was taken, with copies of its values. */
  TfxNode node;
  TfxValue values[TFX_CLASS_MAX_PARAMS];
  double lists[TFX_CLASS_MAX_PARAMS][MAX_LIST];
  TfxDesigner *designer;
  bool is_curve;
};

TfxMove *
tfx_move_new (void)
{
  TfxMove *move = calloc (1, sizeof *move);

  if (move)
    move->designer = tfx_designer_new ();
  if (move && !move->designer)
    tfx_move_free (&move);
  return move;
}

void
tfx_move_free (TfxMove **move)
{
  if (*move)
    tfx_designer_free (&(*move)->designer);
  free (*move);
  *move = NULL;
}

void
tfx_move_begin (TfxMove *move, const TfxExpr *expr)
{
  move->structure = expr->structure;
  move->serial = 0;
  for (size_t i = 0; i < expr->n_stages; i++) {
    if (expr->stages[i]->serial > move->serial)
      move->serial = expr->stages[i]->serial;
  }
}

static bool
take (TfxMove *move, const TfxNode *node)
{
  const TfxClassOps *ops = node->klass->ops;

  if (!ops->design || (ops->can_design && !ops->can_design (node)))
    return false;
  for (unsigned i = 0; i < node->klass->n_params; i++) {
    if (node->values[i].n_list > MAX_LIST)
      return false;
  }
  move->node = *node;
  move->node.values = move->values;
  move->node.made = (TfxNodeMade){ NULL };
  for (unsigned i = 0; i < node->klass->n_params; i++) {
    move->values[i] = node->values[i];
    if (node->values[i].n_list > 0)
      memcpy (move->lists[i], node->values[i].list,
          node->values[i].n_list * sizeof (double));
    move->values[i].list = move->lists[i];
  }
  return true;
}

int
tfx_move_next (TfxMove *move, const TfxExpr *expr)
{
  const TfxNode *first = NULL;

  if (expr->structure != move->structure)
    return -ENOTSUP;
  for (size_t i = 0; i < expr->n_stages; i++) {
    const TfxNode *node = expr->stages[i];

    if (node->serial > move->serial && (!first || node->serial < first->serial))
      first = node;
  }
  if (!first)
    return -ENOENT;
  if (!take (move, first))
    return -ENOTSUP;
  move->serial = first->serial;
  return 0;
}

int
tfx_move_take (TfxMove *move, const TfxExpr *expr, size_t stage)
{
  return take (move, expr->stages[stage]) ? 0 : -ENOTSUP;
}

void
tfx_move_follow (TfxMove *move, bool is_curve)
{
  move->is_curve = is_curve;
}

const char *
tfx_move_stage_name (const TfxMove *move)
{
  return move->node.name;
}

int
tfx_move_design (const TfxMove *move, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxMoved *moved, TfxExprError *error)
{
  TfxExprError own;
  TfxBuild build = { .rate_hz = rate_hz,
    .n_channels = n_channels,
    .report = report,
    .data = data,
    .error = error ? error : &own,
    .designer = move->designer,
    .is_curve = move->is_curve };

  if (move->node.n_fixed)
    build.n_channels = move->node.n_fixed;

  return tfx_build_move (&build, &move->node, moved);
}
