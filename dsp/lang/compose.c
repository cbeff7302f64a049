/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compose.c: from an expression to a chain of stages. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "build.h"
#include "error.h"
#include "extent.h"
#include "flow.h"
#include "core/stage.h"

static int build_into (TfxBuild *build, const TfxNode *node, TfxChain **chain);

/* chain becomes one with the stage behind, which is taken over. */
static int
append (const TfxBuild *build, TfxChain **chain, TfxStage *stage)
{
  return tfx_chain_take (chain, stage) < 0
             ? tfx_error_set_no_memory (build->error)
             : 0;
}

/* The number of a stage that delays a branch, apart from all others. */
#define DELAY_ID(id) ((id) | 1ull << 63)

/* What comes out of a sum or a split, while it is made. */
typedef struct Branches
{
  size_t n;
  TfxChain **chains;
  uint64_t *channels; /* of a split */
  uint64_t *ids;      /* of what they come from */
} Branches;

static int
begin_branches (const TfxBuild *build, const TfxNode *node, Branches *b)
{
  const size_t n = node->n_children + 1;

  *b = (Branches){ 0 };
  b->chains = calloc (n, sizeof *b->chains);
  b->channels = calloc (n, sizeof *b->channels);
  b->ids = calloc (n, sizeof *b->ids);
  if (!b->chains || !b->channels || !b->ids)
    return tfx_error_set_no_memory (build->error);
  return 0;
}

static int
add_branch (const TfxBuild *build, Branches *b, uint64_t id, uint64_t channels)
{
  b->ids[b->n] = id;
  b->channels[b->n] = channels;
  b->chains[b->n] = tfx_chain_new ();
  if (!b->chains[b->n])
    return tfx_error_set_no_memory (build->error);
  b->n++;
  return 0;
}

static void
end_branches (Branches *b)
{
  for (size_t i = 0; i < b->n; i++)
    tfx_chain_unref (&b->chains[i]);
  free (b->chains);
  free (b->channels);
  free (b->ids);
}

static size_t
find_latency (const Branches *b)
{
  size_t most = 0;

  for (size_t i = 0; i < b->n; i++) {
    const size_t n = tfx_chain_latency (b->chains[i]);

    most = n > most ? n : most;
  }
  return most;
}

/* Branches that look less far ahead than others wait for these. */
static int
align_branches (const TfxBuild *build, Branches *b)
{
  const size_t most = find_latency (b);
  int code = 0;

  for (size_t i = 0; i < b->n && code == 0; i++) {
    const size_t n_frames = most - tfx_chain_latency (b->chains[i]);
    TfxStage *stage;

    if (n_frames == 0)
      continue;
    stage = tfx_stage_new_wait (DELAY_ID (b->ids[i]), n_frames);
    code = append (build, &b->chains[i], stage);
  }
  return code;
}

/* So do the channels that have no chain. */
static int
add_rest (const TfxBuild *build, const TfxNode *node, Branches *b,
    unsigned n_channels)
{
  uint64_t rest =
      n_channels < 64 ? ((uint64_t)1 << n_channels) - 1 : UINT64_MAX;

  for (size_t i = 0; i < b->n; i++)
    rest &= ~b->channels[i];
  if (rest == 0 || find_latency (b) == 0)
    return 0;
  return add_branch (build, b, node->id, rest);
}

static int
build_branches (TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  const TfxFlow stream = { build->n_channels, build->positions };
  const bool is_split = node->kind == TFX_NODE_SPLIT;
  Branches b;
  int code = begin_branches (build, node, &b);

  for (size_t i = 0; i < node->n_children && code == 0; i++) {
    const TfxNode *child = node->children[i];
    const uint64_t channels = is_split ? tfx_flow_channels (child, &stream) : 0;
    TfxBuild own = *build;

    if (is_split)
      own.n_room = (unsigned)__builtin_popcountll (channels);
    code = add_branch (build, &b, child->id, channels);
    if (code == 0)
      code = build_into (&own, child, &b.chains[i]);
  }
  if (code == 0 && is_split)
    code = add_rest (build, node, &b, build->n_room);
  if (code == 0)
    code = align_branches (build, &b);
  if (code == 0) {
    *stage = is_split
                 ? tfx_stage_new_split (node->id, b.chains, b.channels, b.n)
                 : tfx_stage_new_sum (node->id, b.chains, b.n);
    if (!*stage)
      code = tfx_error_set_no_memory (build->error);
  }
  end_branches (&b);
  return code;
}

/* Appends what node becomes to the chain. */
static int
build_into (TfxBuild *build, const TfxNode *node, TfxChain **chain)
{
  TfxStage *stage = NULL;
  int code = 0;

  if (node->kind == TFX_NODE_SERIES) {
    for (size_t i = 0; i < node->n_children && code == 0; i++)
      code = build_into (build, node->children[i], chain);
    return code;
  }
  code = node->kind == TFX_NODE_CALL ? tfx_build_call (build, node, &stage)
                                     : build_branches (build, node, &stage);
  return code < 0 ? code : append (build, chain, stage);
}

/* Whether the expression can be built for a stream of this rate and number of
 * channels. */
static int
check_stream (const TfxExpr *expr, const TfxBuild *build)
{
  const TfxFlow stream = { build->n_channels, build->positions };
  const double rate_hz = build->rate_hz;
  TfxExprError *error = build->error;
  int code;

  if (!(rate_hz > 0.0) || !isfinite (rate_hz))
    return tfx_error_set (error, -EINVAL,
        "the sample rate is %g Hz, but must be greater than 0", rate_hz);
  code = tfx_expr_check (expr, error);
  if (code == 0)
    code = tfx_extent_check (expr, rate_hz, error);
  return code < 0 ? code : tfx_flow_check (expr, &stream, error);
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
  TfxBuild build = tfx_build_begin (expr, rate_hz, n_channels, positions);
  TfxChain *made;
  int code;

  build.report = report;
  build.data = data;
  build.error = error ? error : &own;
  code = check_stream (expr, &build);
  if (code < 0)
    return code;
  made = tfx_chain_new ();
  if (!made)
    return tfx_error_set_no_memory (build.error);
  if (expr->root)
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
  TfxBuild build = tfx_build_begin (expr, rate_hz, n_channels, positions);
  int code;

  build.error = error ? error : &own;
  if (stage >= expr->n_stages)
    return tfx_error_set (error, -EINVAL, "there is no stage %zu", stage);
  code = check_stream (expr, &build);
  return code < 0 ? code : tfx_build_call (&build, expr->stages[stage], made);
}
