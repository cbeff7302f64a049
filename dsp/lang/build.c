/* SPDX-License-Identifier: LGPL-2.1-or-later
 * build.c: one stage of an expression alone. */
#include "build.h"

#include <errno.h>

#include "error.h"
#include "flow.h"
#include "core/kind.h"
#include "number.h"

TfxBuild
tfx_build_begin (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions)
{
  const bool is_whole =
      (unsigned)__builtin_popcountll (positions) == n_channels;
  TfxBuild build = { .rate_hz = rate_hz,
    .n_channels = n_channels,
    .positions = is_whole ? positions : 0 };
  unsigned n_out;

  tfx_expr_channels (expr, n_channels, &n_out, &build.n_room);
  return build;
}

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
      "fs of %s is %s Hz, but the sample rate of the stream is %s Hz; leave fs "
      "out",
      build->thing, asked, rate);
}

bool
tfx_build_is_prepared (const TfxNode *node, const TfxBuild *build)
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
  moved->kind = &tfx_kind_sections;
  moved->has_shapes = false;
  return used->klass->ops->design (build, used, moved);
}

/* The node as it is used, which is reported; NULL with an error if it is not for
 * this rate. */
static const TfxNode *
begin_call (TfxBuild *build, const TfxNode *node,
    char thing[TFX_NODE_THING_SIZE], TfxFittedNode *fitted)
{
  const TfxNode *used;
  TfxFit fit;

  tfx_node_describe (node, thing);
  build->node = node;
  build->thing = thing;
  used = tfx_class_fit (node, fitted, &fit);
  if (check_rate (build, node) < 0)
    return NULL;
  if (fit.param)
    tfx_class_report_fit (build, &fit);
  return used;
}

TfxBuild
tfx_build_for (const TfxBuild *all, const TfxNode *node)
{
  const TfxNode *part = tfx_node_part (node);
  const TfxFlow stream = { all->n_channels, all->positions };
  TfxBuild build = *all;

  if (node->n_fixed)
    build.n_channels = node->n_fixed;
  if (part)
    build.n_room = node->n_fixed;
  build.positions = tfx_flow_positions (part, node->n_fixed, &stream);
  return build;
}

int
tfx_build_call (const TfxBuild *all, const TfxNode *node, TfxStage **stage)
{
  TfxBuild own = tfx_build_for (all, node), *build = &own;
  char thing[TFX_NODE_THING_SIZE];
  TfxFittedNode fitted;
  TfxMoved moved;
  const TfxNode *used = begin_call (build, node, thing, &fitted);
  int code;

  if (!used) {
    code = build->error->code;
  } else if (tfx_build_is_prepared (node, build)) {
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
  return tfx_error_set_place (build->error, node->place, code);
}

int
tfx_build_move (TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  char thing[TFX_NODE_THING_SIZE];
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
