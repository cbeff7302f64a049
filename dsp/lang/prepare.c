/* SPDX-License-Identifier: LGPL-2.1-or-later
 * prepare.c: stages that are designed before the chain is there, and kept. */
#include <math.h>

#include "build.h"
#include "extent.h"
#include "flow.h"
#include "value.h"

void
tfx_expr_effort (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    size_t *n_sections, size_t *n_taps)
{
  const TfxBuild all = tfx_build_begin (expr, rate_hz, n_channels, 0);
  TfxExtent extent = { 0 };

  for (size_t i = 0; i < expr->n_stages; i++) {
    const TfxNode *node = expr->stages[i];
    const TfxBuild build = tfx_build_for (&all, node);

    if (!tfx_build_is_prepared (node, &build))
      tfx_extent_add (node, rate_hz, &extent);
  }
  *n_sections = extent.sections;
  *n_taps = extent.taps;
}

/* More than there are numbers in one stage that depend on the rate. */
#define MAX_CLAMPS 64

typedef struct Clamps
{
  TfxNodeClamp list[MAX_CLAMPS];
  size_t n;
} Clamps;

static void
note_clamped (const TfxExprClamp *clamped, void *data)
{
  Clamps *clamps = data;

  /* (What does not depend on the rate is found anew each time.) */
  if (clamped->because)
    return;
  if (clamps->n < MAX_CLAMPS)
    clamps->list[clamps->n] = (TfxNodeClamp){ clamped->param, clamped->index,
      clamped->asked, clamped->used, clamped->lowest, clamped->highest };
  clamps->n++;
}

static void
prepare_call (TfxBuild *build, TfxNode *node)
{
  Clamps clamps = { .n = 0 };
  TfxStage *stage = NULL;

  build->report = note_clamped;
  build->data = &clamps;
  if (tfx_build_call (build, node, &stage) == 0 && clamps.n <= MAX_CLAMPS) {
    TfxNodeMade made = { stage, build->rate_hz, build->n_channels,
      build->n_room, clamps.list, clamps.n };

    /* (Without memory it is designed again later, and made ready when it runs.) */
    if (build->spec && !tfx_node_part (node))
      tfx_stage_prepare (stage, build->spec);
    tfx_node_keep (node, &made);
  }
  tfx_stage_unref (&stage);
}

void
tfx_expr_prepare (TfxExpr *expr, double rate_hz, unsigned n_channels,
    const TfxFilterSpec *spec)
{
  TfxExprError ignored;
  const TfxFlow stream = { n_channels, TFX_FLOW_ANY };
  TfxBuild all = tfx_build_begin (expr, rate_hz, n_channels, 0);

  all.error = &ignored;
  all.spec = spec;
  if (!(rate_hz > 0.0) || !isfinite (rate_hz) ||
      tfx_expr_check (expr, &ignored) < 0 ||
      tfx_flow_check (expr, &stream, &ignored) < 0 ||
      tfx_extent_check (expr, rate_hz, &ignored) < 0)
    return;
  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxBuild build = tfx_build_for (&all, expr->stages[i]);
    TfxExtent extent = { 0 };

    tfx_extent_add (expr->stages[i], rate_hz, &extent);
    if (extent.sections + extent.taps > 0 &&
        !tfx_build_is_prepared (expr->stages[i], &build))
      prepare_call (&build, expr->stages[i]);
  }
}

static const TfxNode *
find_id (const TfxExpr *expr, size_t near, uint64_t id)
{
  for (size_t i = 0; i < expr->n_stages; i++) {
    const TfxNode *node = expr->stages[(near + i) % expr->n_stages];

    if (node->id == id)
      return node;
  }
  return NULL;
}

static bool
has_values_of (const TfxNode *a, const TfxNode *b)
{
  if (a->klass != b->klass)
    return false;
  for (unsigned i = 0; i < a->klass->n_params; i++) {
    if (!tfx_value_equal (&a->values[i], &b->values[i]))
      return false;
  }
  return true;
}

void
tfx_expr_take_prepared (TfxExpr *expr, const TfxExpr *from)
{
  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxNode *node = expr->stages[i];
    const TfxNode *same = find_id (from, i, node->id);

    if (same && same->made.stage && has_values_of (node, same))
      tfx_node_keep (node, &same->made);
  }
}
