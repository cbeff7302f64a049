/* SPDX-License-Identifier: LGPL-2.1-or-later
 * build.c: from an expression to stages and a chain. */
#include "class.h"
#include "core/positions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- sizes ---------------------------------------------------------------------- */

static size_t
count (const TfxValue *value)
{
  if (value->type == TFX_VALUE_NUMBER)
    return (size_t)value->number;
  return value->n_list / (value->n_columns ? value->n_columns : 1);
}

static void
add_extent (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const TfxClassOps *ops = node->klass->ops;
  TfxFittedNode fitted;

  extent->sections += ops->n_sections;
  if (ops->sections)
    extent->sections += count (tfx_class_value (node, ops->sections));
  if (ops->taps)
    extent->taps += count (tfx_class_value (node, ops->taps));
  if (ops->measure)
    ops->measure (tfx_class_fit (node, &fitted, NULL), rate_hz, extent);
}

/* Whether all stages together are within the bounds of expr.h; rate_hz 0: any rate. */
static int
check_extent (const TfxExpr *expr, double rate_hz, TfxExprError *error)
{
  TfxExtent extent = { 0 };
  const struct
  {
    const size_t *n;
    unsigned most;
    const char *what;
  } limits[] = {
    { &extent.sections, TFX_EXPR_MAX_SECTIONS, "second-order sections" },
    { &extent.taps, TFX_EXPR_MAX_TAPS, "FIR taps" },
    { &extent.echoes, TFX_EXPR_MAX_ALL_ECHOES, "echoes" },
  };

  for (size_t i = 0; i < expr->n_stages; i++)
    add_extent (expr->stages[i], rate_hz, &extent);
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    if (*limits[i].n > limits[i].most)
      return tfx_error_set (error, -E2BIG,
          "the chain has %zu %s in total; at most %u are allowed", *limits[i].n,
          limits[i].what, limits[i].most);
  }
  if (extent.delay > TFX_EXPR_MAX_DELAY)
    return tfx_error_set (error, -E2BIG,
        "the delays of the chain are %.0f samples in total; at most %u are "
        "allowed",
        extent.delay, TFX_EXPR_MAX_DELAY);
  return 0;
}

int
tfx_expr_check (const TfxExpr *expr, TfxExprError *error)
{
  const TfxFlow any = { 0, TFX_FLOW_ANY };
  char thing[TFX_NODE_THING_SIZE];
  int code;

  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxFittedNode fitted;

    tfx_node_describe (expr->stages[i], thing);
    code = tfx_class_check (tfx_class_fit (expr->stages[i], &fitted, NULL),
        thing, error);
    if (code < 0)
      return tfx_error_set_place (error, expr->stages[i]->place, code);
  }
  if (expr->sum_depth > TFX_SUM_MAX_DEPTH)
    return tfx_error_set (error, -E2BIG,
        "more than %d levels of sums, filter banks and channels",
        TFX_SUM_MAX_DEPTH);
  code = tfx_flow_check (expr, &any, error);
  return code < 0 ? code : check_extent (expr, 0.0, error);
}

/* ---- one stage ------------------------------------------------------------------ */

/* The conditions for all stages.  The first channels have the positions; more
 * positions than channels do not count. */
static TfxBuild
begin (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, TfxExprError *error)
{
  const unsigned n_positions =
      (unsigned)__builtin_popcountll (tfx_positions_named (positions)) +
      tfx_positions_n_keys (positions);
  TfxBuild build = { .rate_hz = rate_hz,
    .n_channels = n_channels,
    .positions = n_positions <= n_channels ? positions : 0,
    .error = error };
  unsigned n_out;

  tfx_expr_channels (expr, n_channels, &n_out, &build.n_room);
  return build;
}

/* The conditions for one of them. */
static TfxBuild
begin_node (const TfxBuild *all, const TfxNode *node)
{
  const TfxNode *part = tfx_node_part (node);
  const TfxFlow stream = { all->n_channels, all->positions };
  TfxBuild build = *all;
  uint64_t positions;

  build.node = node;
  if (node->n_fixed)
    build.n_channels = node->n_fixed;
  if (part)
    build.n_room = node->n_fixed;
  positions = tfx_flow_positions (part, node->n_fixed, &stream);
  build.positions = tfx_positions_named (positions);
  /* A stage for keys alone measures them. */
  if (tfx_positions_n_keys (positions) < build.n_channels)
    build.n_keys = tfx_positions_n_keys (positions);
  return build;
}

/* Whether the stage that is kept was made for these conditions. */
static bool
is_prepared (const TfxBuild *build)
{
  const TfxNodeMade *made = build->node->made;

  return made && made->rate_hz == build->rate_hz &&
         made->n_channels == build->n_channels &&
         made->n_room == build->n_room && made->positions == build->positions;
}

static int
build_into (const TfxBuild *build, const TfxNode *node, TfxChain **chain);

/* Makes the chain of a branch. */
static int
build_chain (const TfxBuild *build, const TfxNode *node, TfxChain **chain)
{
  *chain = tfx_chain_new ();
  return *chain ? build_into (build, node, chain)
                : tfx_error_set_no_memory (build->error);
}

static void
free_chains (TfxChain **chains, size_t n)
{
  for (size_t i = 0; chains && i < n; i++)
    tfx_chain_unref (&chains[i]);
  free (chains);
}

/* The chains of a call. */
static int
build_chains (const TfxBuild *all, TfxBuild *build)
{
  const TfxNode *node = build->node;
  int code = 0;

  build->chains = calloc (node->n_children, sizeof *build->chains);
  if (!build->chains)
    code = tfx_error_set_no_memory (build->error);
  for (size_t i = 0; i < node->n_children && code == 0; i++)
    code = build_chain (all, node->children[i], &build->chains[i]);
  if (code < 0)
    free_chains (build->chains, node->n_children);
  return code;
}

int
tfx_build_node (const TfxBuild *all, const TfxNode *node, TfxStage **stage)
{
  TfxBuild build = begin_node (all, node);
  const int fs = tfx_class_find_param (node->klass, "fs");
  const TfxValue *rate = fs >= 0 ? &node->values[fs] : NULL;
  TfxFittedNode fitted;
  TfxExprClamp fit;
  const TfxNode *used = tfx_class_fit (node, &fitted, &fit);
  int code = node->n_children > 0 ? build_chains (all, &build) : 0;

  if (code < 0)
    return code;
  tfx_node_describe (node, build.thing);
  if (rate && rate->type != TFX_VALUE_NONE && rate->number != build.rate_hz)
    code = tfx_error_set (build.error, -EINVAL,
        "fs of %s is %s Hz, but the sample rate of the stream is %s Hz; leave "
        "fs out",
        build.thing, TFX_NUMBER_TEXT (rate->number),
        TFX_NUMBER_TEXT (build.rate_hz));
  else if (fit.param)
    tfx_class_report (&build, &fit);
  if (code == 0 && build.is_move)
    code = tfx_class_check (used, build.thing, build.error);
  if (code == 0 && is_prepared (&build)) {
    for (size_t i = 0; i < node->made->n_fits; i++)
      tfx_class_report (&build, &node->made->fits[i]);
    *stage = tfx_stage_ref (node->made->stage);
  } else if (code == 0) {
    code = used->klass->ops->design (&build, used);
    *stage = build.stage;
  }
  free_chains (build.chains, node->n_children);
  return tfx_error_set_place (build.error, node->place, code);
}

/* ---- the chain ------------------------------------------------------------------ */

/* A sum or a split.  Branches with less look-ahead than others are delayed, and so
 * are the channels without a chain. */
static int
build_branches (const TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  const TfxFlow stream = { build->n_channels, build->positions };
  const bool is_split = node->kind == TFX_NODE_SPLIT;
  TfxChain **chains = calloc (node->n_children + 1, sizeof *chains);
  uint64_t *channels = calloc (node->n_children + 1, sizeof *channels);
  uint64_t *ids = calloc (node->n_children + 1, sizeof *ids);
  uint64_t rest =
      build->n_room < 64 ? ((uint64_t)1 << build->n_room) - 1 : UINT64_MAX;
  size_t n = 0;
  int code = 0;

  if (!chains || !channels || !ids)
    code = tfx_error_set_no_memory (build->error);
  while (n < node->n_children && code == 0) {
    const TfxNode *child = node->children[n];
    TfxBuild own = *build;

    if (is_split) {
      channels[n] = tfx_flow_channels (child, &stream);
      own.n_room = (unsigned)__builtin_popcountll (channels[n]);
      rest &= ~channels[n];
    }
    ids[n] = child->id;
    code = build_chain (&own, child, &chains[n]);
    n++;
  }
  if (code == 0 && is_split && rest != 0 && tfx_class_latency (chains, n) > 0) {
    channels[n] = rest;
    ids[n] = node->id;
    chains[n] = tfx_chain_new ();
    if (!chains[n++])
      code = tfx_error_set_no_memory (build->error);
  }
  if (code == 0)
    code = tfx_class_align (build, chains, ids, n);
  if (code == 0) {
    *stage = is_split ? tfx_stage_new_split (node->id, chains, channels, n)
                      : tfx_stage_new_sum (node->id, chains, n);
    if (!*stage)
      code = tfx_error_set_no_memory (build->error);
  }
  free_chains (chains, n);
  free (channels);
  free (ids);
  return code;
}

/* Appends the stages of a node to the chain. */
static int
build_into (const TfxBuild *build, const TfxNode *node, TfxChain **chain)
{
  TfxStage *stage = NULL;
  int code = 0;

  if (node->kind == TFX_NODE_SERIES) {
    for (size_t i = 0; i < node->n_children && code == 0; i++)
      code = build_into (build, node->children[i], chain);
    return code;
  }
  code = node->kind == TFX_NODE_CALL ? tfx_build_node (build, node, &stage)
                                     : build_branches (build, node, &stage);
  return code < 0 ? code : tfx_class_append (build, chain, stage);
}

/* Whether the expression can be built for these conditions. */
static int
check_stream (const TfxExpr *expr, const TfxBuild *build, uint64_t positions)
{
  const TfxFlow stream = { build->n_channels, positions };
  int code;

  if (!(build->rate_hz > 0.0) || !isfinite (build->rate_hz))
    return tfx_error_set (build->error, -EINVAL,
        "the sample rate is %g Hz, but must be greater than 0", build->rate_hz);
  code = tfx_expr_check (expr, build->error);
  if (code == 0)
    code = check_extent (expr, build->rate_hz, build->error);
  return code < 0 ? code : tfx_flow_check (expr, &stream, build->error);
}

int
tfx_expr_build (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxChain **chain, TfxExprError *error)
{
  return tfx_expr_build_at (expr, rate_hz, n_channels, 0, report, data, chain,
      error);
}

int
tfx_expr_build_at (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, TfxExprReport report, void *data, TfxChain **chain,
    TfxExprError *error)
{
  TfxExprError own;
  TfxBuild build =
      begin (expr, rate_hz, n_channels, positions, error ? error : &own);
  TfxChain *made;
  int code = check_stream (expr, &build, build.positions);

  if (code < 0)
    return code;
  build.report = report;
  build.data = data;
  made = tfx_chain_new ();
  if (!made)
    return tfx_error_set_no_memory (build.error);
  code = build_into (&build, expr->root, &made);
  if (code < 0)
    tfx_chain_unref (&made);
  else
    *chain = made;
  return code;
}

int
tfx_expr_build_stage (const TfxExpr *expr, size_t stage, double rate_hz,
    unsigned n_channels, uint64_t positions, TfxStage **made,
    TfxExprError *error)
{
  TfxExprError own;
  const TfxBuild build =
      begin (expr, rate_hz, n_channels, positions, error ? error : &own);
  int code;

  if (stage >= expr->n_stages)
    return tfx_error_set (error, -EINVAL, "there is no stage %zu", stage);
  code = check_stream (expr, &build, build.positions);
  return code < 0 ? code : tfx_build_node (&build, expr->stages[stage], made);
}

/* ---- stages designed before the chain ------------------------------------------- */

/* A stage with the stages of its chains, which have values of their own, is not. */
static bool
is_kept (const TfxNode *node)
{
  return node->n_children == 0 || node->klass->ops->absorbs_chains;
}

/* Design work of another phase for a tap, in taps: a few microseconds. */
#define PHASE_EFFORT 50

void
tfx_expr_effort (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, size_t *n_sections, size_t *n_taps)
{
  const TfxBuild all = begin (expr, rate_hz, n_channels, positions, NULL);
  TfxExtent extent = { 0 };

  for (size_t i = 0; i < expr->n_stages; i++) {
    const TfxBuild build = begin_node (&all, expr->stages[i]);

    if (is_kept (expr->stages[i]) && !is_prepared (&build))
      add_extent (expr->stages[i], rate_hz, &extent);
  }
  *n_sections = extent.sections;
  *n_taps = extent.taps + extent.more_taps + PHASE_EFFORT * extent.phase_taps;
}

/* The most numbers of a stage that depend on the rate, for it to be kept. */
#define MAX_FITS 64

typedef struct Noted
{
  const TfxNode *node;
  TfxNodeMade *made;
} Noted;

/* Appends to a TfxNodeMade.  A number that does not depend on the rate, or is of a chain
 * of the call, is reported anew each time. */
static void
note_fit (const TfxExprClamp *c, void *data)
{
  const Noted *noted = data;
  TfxNodeMade *made = noted->made;

  if (c->because || strcmp (c->stage, noted->node->name) != 0)
    return;
  if (made->n_fits < MAX_FITS)
    made->fits[made->n_fits] = *c;
  made->n_fits++;
}

void
tfx_expr_prepare (TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, const TfxFilterSpec *spec)
{
  TfxExprError ignored;
  TfxBuild all = begin (expr, rate_hz, n_channels, positions, &ignored);

  if (check_stream (expr, &all, TFX_FLOW_ANY) < 0)
    return;
  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxNode *node = expr->stages[i];
    const TfxBuild build = begin_node (&all, node);
    TfxExtent extent = { 0 };
    TfxNodeMade *made, *fitted;

    add_extent (node, rate_hz, &extent);
    if (extent.sections + extent.taps == 0 || is_prepared (&build) ||
        !is_kept (node))
      continue;
    made = malloc (sizeof *made + MAX_FITS * sizeof *made->fits);
    if (!made)
      return;
    *made = (TfxNodeMade){ 0, NULL, rate_hz, build.n_channels, build.n_room,
      build.positions };
    all.report = note_fit;
    all.data = &(Noted){ node, made };
    if (tfx_build_node (&all, node, &made->stage) < 0 ||
        made->n_fits > MAX_FITS) {
      tfx_stage_unref (&made->stage);
      free (made);
      continue;
    }
    /* (Without memory it is prepared when it runs.) */
    if (spec && !tfx_node_part (node))
      tfx_stage_prepare (made->stage, spec);
    fitted = realloc (made, sizeof *made + made->n_fits * sizeof *made->fits);
    tfx_node_keep (node, fitted ? fitted : made);
  }
}

void
tfx_expr_take_prepared (TfxExpr *expr, const TfxExpr *from)
{
  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxNode *node = expr->stages[i];

    for (size_t k = 0; k < from->n_stages; k++) {
      const TfxNode *same = from->stages[(i + k) % from->n_stages];

      if (same->id != node->id)
        continue;
      if (same->made && tfx_node_has_values_of (node, same, 0) &&
          (node->n_children == 0 || tfx_node_equal (node, same)))
        tfx_node_keep (node, same->made);
      break;
    }
  }
}
