/* SPDX-License-Identifier: LGPL-2.1-or-later
 * build.c: from an expression to a chain of stages. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "error.h"
#include "flow.h"
#include "number.h"

#define THING_SIZE (2 * TFX_EXPR_MAX_NAME + 16)

/* With each value that moves: printf() would take as long as the design. */
static char *
add_text (char *to, const char *text)
{
  const size_t n = strlen (text);

  memcpy (to, text, n + 1);
  return to + n;
}

static void
name_thing (const TfxNode *node, char thing[THING_SIZE])
{
  thing = add_text (add_text (thing, "stage '"), node->name);
  add_text (add_text (add_text (thing, "' ("), node->klass->name), ")");
}

/* Adds what a stage takes. */
static void
measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  TfxFittedNode fitted;

  node->klass->ops->measure (tfx_class_fit (node, &fitted, NULL), rate_hz,
      extent);
}

/* ---- bounds ------------------------------------------------------------------- */

static int
check_extent (const TfxExpr *expr, double rate_hz, TfxExprError *error)
{
  TfxExtent extent = { 0 };

  for (size_t i = 0; i < expr->n_stages; i++)
    measure (expr->stages[i], rate_hz, &extent);
  if (extent.sections > TFX_EXPR_MAX_SECTIONS)
    return tfx_error_set (error, -E2BIG,
        "the chain has %zu second-order "
        "sections in all, at most %u are allowed",
        extent.sections, TFX_EXPR_MAX_SECTIONS);
  if (extent.taps > TFX_EXPR_MAX_TAPS)
    return tfx_error_set (error, -E2BIG,
        "the chain has %zu FIR taps in all, "
        "at most %u are allowed",
        extent.taps, TFX_EXPR_MAX_TAPS);
  if (extent.echoes > TFX_EXPR_MAX_ALL_ECHOES)
    return tfx_error_set (error, -E2BIG,
        "the chain has %zu echoes in all, at "
        "most %u are allowed",
        extent.echoes, TFX_EXPR_MAX_ALL_ECHOES);
  if (extent.delay > TFX_EXPR_MAX_DELAY)
    return tfx_error_set (error, -E2BIG,
        "the delays of the chain are %.0f "
        "samples long in all, at most %u are allowed",
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
  char thing[THING_SIZE];

  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxFittedNode fitted;
    int code;

    name_thing (expr->stages[i], thing);
    code = tfx_class_check (tfx_class_fit (expr->stages[i], &fitted, NULL),
        thing, error);
    if (code < 0)
      return code;
  }
  if (expr->root && sum_depth (expr->root) > TFX_SUM_MAX_DEPTH)
    return tfx_error_set (error, -E2BIG,
        "more than %d sums (and filter banks, and chains of channels) within "
        "each "
        "other",
        TFX_SUM_MAX_DEPTH);
  if (tfx_flow_check (expr, 0, error) < 0)
    return error ? error->code : -EINVAL;
  return check_extent (expr, 0.0, error);
}

/* ---- stages ------------------------------------------------------------------- */

static int
check_rate (const TfxBuild *build, const TfxNode *node)
{
  int index = tfx_class_find_param (node->klass, "fs");
  const TfxValue *fs = index >= 0 ? &node->values[index] : NULL;
  char asked[TFX_NUMBER_SIZE], rate[TFX_NUMBER_SIZE];

  if (!fs || fs->type == TFX_VALUE_NONE || fs->number == build->rate_hz)
    return 0;
  tfx_number_print (fs->number, asked);
  tfx_number_print (build->rate_hz, rate);
  return tfx_error_set (build->error, -EINVAL,
      "fs of %s is %s Hz, but the "
      "stream has %s Hz; leave fs out to take the stream's rate",
      build->thing, asked, rate);
}

static int build_into (TfxBuild *build, const TfxNode *node, TfxChain **chain);

/* chain becomes one with the stage behind, which is taken over. */
static int
append (const TfxBuild *build, TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_stage_unref (&stage);
  if (!longer)
    return tfx_error_set_no_memory (build->error);
  tfx_chain_unref (chain);
  *chain = longer;
  return 0;
}

static bool
is_prepared (const TfxNode *node, const TfxBuild *build)
{
  return node->made.stage && node->made.rate_hz == build->rate_hz &&
         node->made.n_channels == build->n_channels &&
         node->made.n_room == build->n_room;
}

static int
take_prepared (const TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  for (size_t i = 0; i < node->made.n_clamped; i++) {
    const TfxNodeClamp *u = &node->made.clamped[i];

    tfx_class_report (build, u->param, u->index, u->asked, u->used, u->lowest,
        u->highest);
  }
  *stage = tfx_stage_ref (node->made.stage);
  return 0;
}

/* Designs a node as it is used. */
static int
design (const TfxBuild *build, const TfxNode *used, TfxMoved *moved)
{
  moved->id = used->id;
  moved->n_sos = moved->n_taps = moved->n_kernel = 0;
  moved->has_shapes = false;
  moved->is_dynamics = moved->is_limiter = moved->is_reverb = false;
  moved->is_leveller = moved->is_clip = false;
  return used->klass->ops->design (build, used, moved);
}

/* The node as it is used, which is reported; NULL with an error if it is not for
 * this rate. */
static const TfxNode *
begin_call (TfxBuild *build, const TfxNode *node, char thing[THING_SIZE],
    TfxFittedNode *fitted)
{
  const TfxNode *used;
  TfxFit fit;

  name_thing (node, thing);
  build->node = node;
  build->thing = thing;
  used = tfx_class_fit (node, fitted, &fit);
  if (check_rate (build, node) < 0)
    return NULL;
  if (fit.param)
    tfx_class_report_fit (build, &fit);
  return used;
}

/* What it is made for: what comes to it, in the room that there is. */
static TfxBuild
build_for (const TfxBuild *all, const TfxNode *node)
{
  TfxBuild build = *all;

  if (node->n_fixed)
    build.n_channels = node->n_fixed;
  if (node->is_in_split)
    build.n_room = node->n_fixed;
  return build;
}

static int
build_call (const TfxBuild *all, const TfxNode *node, TfxStage **stage)
{
  TfxBuild own = build_for (all, node), *build = &own;
  char thing[THING_SIZE];
  TfxFittedNode fitted;
  TfxMoved moved;
  const TfxNode *used = begin_call (build, node, thing, &fitted);
  int code;

  if (!used) {
    code = build->error->code;
  } else if (is_prepared (node, build)) {
    code = take_prepared (build, node, stage);
  } else if (used->klass->ops->build) {
    code = used->klass->ops->build (build, used, stage);
  } else {
    code = design (build, used, &moved);
    if (code == 0) {
      *stage = tfx_moved_make_stage (&moved);
      code = *stage ? 0 : tfx_class_refuse (build, NULL);
    }
  }
  return code;
}

int
tfx_build_move (TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  char thing[THING_SIZE];
  TfxFittedNode fitted;
  const TfxNode *used = begin_call (build, node, thing, &fitted);
  int code =
      used ? tfx_class_check (used, thing, build->error) : build->error->code;

  if (code == 0)
    code = design (build, used, moved);
  build->node = NULL;
  build->thing = NULL;
  return code;
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
    const TfxTap tap = { .delay = most - tfx_chain_latency (b->chains[i]),
      .gain = 1.0 };
    TfxStage *stage;

    if (tap.delay == 0)
      continue;
    stage = tfx_stage_new_delay (DELAY_ID (b->ids[i]), 0.0, &tap, 1);
    code = stage ? append (build, &b->chains[i], stage)
                 : tfx_error_set_no_memory (build->error);
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
  const bool is_split = node->kind == TFX_NODE_SPLIT;
  Branches b;
  int code = begin_branches (build, node, &b);

  for (size_t i = 0; i < node->n_children && code == 0; i++) {
    const TfxNode *child = node->children[i];

    code = add_branch (build, &b, child->id, child->channels);
    if (code == 0)
      code = build_into (build, child, &b.chains[i]);
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
  code = node->kind == TFX_NODE_CALL ? build_call (build, node, &stage)
                                     : build_branches (build, node, &stage);
  return code < 0 ? code : append (build, chain, stage);
}

static TfxBuild
make_build (const TfxExpr *expr, double rate_hz, unsigned n_channels)
{
  TfxBuild build = { .rate_hz = rate_hz, .n_channels = n_channels };
  unsigned n_out;

  tfx_expr_channels (expr, n_channels, &n_out, &build.n_room);
  return build;
}

int
tfx_expr_build (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxChain **chain, TfxExprError *error)
{
  TfxExprError own;
  TfxBuild build = make_build (expr, rate_hz, n_channels);
  TfxChain *made;
  int code;

  build.report = report;
  build.data = data;
  build.error = error ? error : &own;
  if (!(rate_hz > 0.0) || !isfinite (rate_hz))
    return tfx_error_set (error, -EINVAL,
        "the sample rate is %g Hz, but must be finite and above 0", rate_hz);
  code = tfx_expr_check (expr, build.error);
  if (code == 0)
    code = check_extent (expr, rate_hz, build.error);
  if (code == 0)
    code = tfx_flow_check (expr, n_channels, build.error);
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
    unsigned n_channels, TfxStage **made, TfxExprError *error)
{
  TfxExprError own;
  TfxBuild build = make_build (expr, rate_hz, n_channels);
  int code;

  build.error = error ? error : &own;
  if (stage >= expr->n_stages || !(rate_hz > 0.0) || !isfinite (rate_hz))
    return tfx_error_set (error, -EINVAL,
        "there is no stage %zu, or the sample rate is %g Hz", stage, rate_hz);
  code = tfx_expr_check (expr, build.error);
  return code < 0 ? code : build_call (&build, expr->stages[stage], made);
}

/* ---- preparing ---------------------------------------------------------------- */

void
tfx_expr_effort (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    size_t *n_sections, size_t *n_taps)
{
  const TfxBuild all = make_build (expr, rate_hz, n_channels);
  TfxExtent extent = { 0 };

  for (size_t i = 0; i < expr->n_stages; i++) {
    const TfxNode *node = expr->stages[i];
    const TfxBuild build = build_for (&all, node);

    if (!is_prepared (node, &build))
      measure (node, rate_hz, &extent);
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
  if (build_call (build, node, &stage) == 0 && clamps.n <= MAX_CLAMPS) {
    TfxNodeMade made = { stage, build->rate_hz, build->n_channels,
      build->n_room, clamps.list, clamps.n };

    /* (Without memory it is designed again later, and made ready when it runs.) */
    if (build->spec && !node->is_in_split)
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
  TfxBuild all = make_build (expr, rate_hz, n_channels);

  all.error = &ignored;
  all.spec = spec;
  if (!(rate_hz > 0.0) || !isfinite (rate_hz) ||
      tfx_expr_check (expr, &ignored) < 0 ||
      tfx_flow_check (expr, n_channels, &ignored) < 0 ||
      check_extent (expr, rate_hz, &ignored) < 0)
    return;
  for (size_t i = 0; i < expr->n_stages; i++) {
    TfxBuild build = build_for (&all, expr->stages[i]);

    if (!is_prepared (expr->stages[i], &build))
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
