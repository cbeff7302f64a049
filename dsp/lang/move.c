/* SPDX-License-Identifier: LGPL-2.1-or-later
 * move.c: the stages of an expression whose values move.
 *
 * Each value that is set gets a serial number above all earlier ones, and an
 * expression gets another structure number when its structure changes.  So the
 * numbers of the expression in force tell which values were set since. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "core/branches.h"
#include "error.h"

/* The longest list of a stage that moves: the gains of bands. */
#define MAX_LIST 31

struct TfxMove
{
  uint64_t structure, serial; /* in force, or taken */
  TfxChain *chain;            /* in force, or NULL */
  /* The stage that was taken, with copies of its values. */
  TfxNode node;
  TfxValue values[TFX_CLASS_MAX_PARAMS];
  double lists[TFX_CLASS_MAX_PARAMS][MAX_LIST];
  TfxDesigner *designer;
  bool is_curve;
  /* The stages that were made, refilled once nobody else holds them. */
  TfxStage **stages;
  size_t n_stages, room;
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

static void
forget_stages (TfxMove *move)
{
  while (move->n_stages > 0)
    tfx_stage_unref (&move->stages[--move->n_stages]);
}

void
tfx_move_free (TfxMove **move)
{
  TfxMove *m = *move;

  *move = NULL;
  if (!m)
    return;
  forget_stages (m);
  free (m->stages);
  tfx_chain_unref (&m->chain);
  tfx_designer_free (&m->designer);
  free (m);
}

void
tfx_move_begin (TfxMove *move, const TfxExpr *expr, TfxChain *chain)
{
  forget_stages (move);
  tfx_chain_unref (&move->chain);
  move->chain = chain ? tfx_chain_ref (chain) : NULL;
  move->structure = expr->structure;
  move->serial = 0;
  for (size_t i = 0; i < expr->n_stages; i++) {
    if (expr->stages[i]->serial > move->serial)
      move->serial = expr->stages[i]->serial;
  }
}

/* Whether the values of the node move; if its stage has the numbers of its chains, while
 * there is such a stage. */
static bool
can_move (const TfxMove *move, const TfxNode *node)
{
  const TfxClassOps *ops = node->klass->ops;

  if (ops->is_rebuilt || node->absorber ||
      (ops->can_move && !ops->can_move (node)))
    return false;
  return node->n_children == 0 ||
         (ops->absorbs_chains && move->chain &&
             tfx_branches_find (move->chain, node->id));
}

/* -ENOTSUP if values of the node do not move. */
static int
take (TfxMove *move, const TfxNode *node)
{
  if (!can_move (move, node))
    return -ENOTSUP;
  for (unsigned i = 0; i < node->klass->n_params; i++) {
    if (node->values[i].n_list > MAX_LIST)
      return -ENOTSUP;
  }
  move->node = *node;
  move->node.outer = NULL;
  move->node.values = move->values;
  move->node.made = NULL;
  move->node.children = NULL;
  move->node.n_children = 0;
  for (unsigned i = 0; i < node->klass->n_params; i++) {
    move->values[i] = node->values[i];
    if (node->values[i].n_list > 0)
      memcpy (move->lists[i], node->values[i].list,
          node->values[i].n_list * sizeof (double));
    move->values[i].list = move->lists[i];
  }
  return 0;
}

int
tfx_move_next (TfxMove *move, const TfxExpr *expr)
{
  const TfxNode *first = NULL;
  int code;

  if (expr->structure != move->structure)
    return -ENOTSUP;
  for (size_t i = 0; i < expr->n_stages; i++) {
    const TfxNode *node = expr->stages[i];

    if (node->serial > move->serial && (!first || node->serial < first->serial))
      first = node;
  }
  if (!first)
    return -ENOENT;
  code = take (move, first);
  if (code == 0)
    move->serial = first->serial;
  return code;
}

int
tfx_move_take (TfxMove *move, const TfxExpr *expr, size_t stage)
{
  return take (move, expr->stages[stage]);
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

/* Keeps the reference, unless it is that of a spare stage. */
static int
keep (TfxMove *move, TfxStage *stage)
{
  for (size_t i = 0; i < move->n_stages; i++) {
    if (move->stages[i] == stage) {
      tfx_stage_unref (&stage);
      return 0;
    }
  }
  if (move->n_stages == move->room) {
    const size_t room = move->room ? 2 * move->room : 8;
    TfxStage **stages = realloc (move->stages, room * sizeof (TfxStage *));

    if (!stages) {
      tfx_stage_unref (&stage);
      return -ENOMEM;
    }
    move->stages = stages;
    move->room = room;
  }
  move->stages[move->n_stages++] = stage;
  return 0;
}

/* n_spares: how many of the stages may be refilled. */
static int
design (TfxMove *move, size_t n_spares, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxStage **stage, TfxExprError *error)
{
  TfxExprError own;
  TfxStage *made;
  const TfxBuild build = { .rate_hz = rate_hz,
    .n_channels = n_channels,
    .report = report,
    .data = data,
    .error = error ? error : &own,
    .is_move = true,
    .is_curve = move->is_curve,
    .designer = move->designer,
    .running =
        move->chain ? tfx_branches_find (move->chain, move->node.id) : NULL,
    .spares = move->stages,
    .n_spares = n_spares };
  int code = tfx_build_node (&build, &move->node, &made);

  if (code == 0 && keep (move, made) < 0)
    code = tfx_error_set_no_memory (build.error);
  if (code == 0)
    *stage = made;
  return code;
}

int
tfx_move_design (TfxMove *move, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxStage **stage, TfxExprError *error)
{
  return design (move, move->n_stages, rate_hz, n_channels, report, data, stage,
      error);
}

int
tfx_move_reserve (TfxMove *move, double rate_hz, unsigned n_channels, size_t n)
{
  TfxStage *stage = NULL;
  size_t n_have = 0;
  int code = 0;

  for (size_t i = 0; i < move->n_stages; i++) {
    if (tfx_stage_id (move->stages[i]) == move->node.id) {
      stage = move->stages[i];
      n_have++;
    }
  }
  /* Filters copy the values of stages without a unit. */
  for (; code == 0 && n_have < (stage && !stage->kind->unit ? 1 : n); n_have++)
    code = design (move, 0, rate_hz, n_channels, NULL, NULL, &stage, NULL);
  return code;
}
