/* SPDX-License-Identifier: LGPL-2.1-or-later
 * flow.c: channels on their way through an expression. */
#include "flow.h"

#include <errno.h>
#include <stdio.h>

#include "class.h"
#include "error.h"
#include "core/positions.h"

/* Channels of a part. */
static unsigned
count (const TfxNode *part)
{
  return (unsigned)(__builtin_popcountll (part->channels) +
                    __builtin_popcountll (part->positions));
}

static const TfxValue *
mix_gains (const TfxNode *call)
{
  return call->klass->kind == TFX_CLASS_MIX ? tfx_class_value (call, "gains")
                                            : NULL;
}

/* ---- fixed numbers ------------------------------------------------------------- */

/* n channels come to the node, within the part; returns how many leave it.  most:
 * outside of splits, else NULL. */
static unsigned
fix (TfxNode *node, unsigned n, const TfxNode *outer, unsigned *most)
{
  const TfxNode *part;
  const TfxValue *gains;
  unsigned out = n;

  node->outer = outer;
  part = tfx_node_part (node);
  switch (node->kind) {
    case TFX_NODE_CALL:
      node->n_fixed = n;
      gains = mix_gains (node);
      if (gains)
        out = (unsigned)(gains->n_list / gains->n_columns);
      break;
    case TFX_NODE_SERIES:
      for (size_t i = 0; i < node->n_children; i++)
        out = fix (node->children[i], out, part, most);
      break;
    case TFX_NODE_SUM:
      for (size_t i = 0; i < node->n_children; i++) {
        const unsigned of_branch = fix (node->children[i], n, part, most);

        out = i == 0 || of_branch > out ? of_branch : out;
      }
      break;
    case TFX_NODE_SPLIT:
      for (size_t i = 0; i < node->n_children; i++) {
        node->children[i]->n_whole = n;
        fix (node->children[i], count (node->children[i]), part, NULL);
      }
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
  expr->n_out = expr->root ? fix (expr->root, 0, NULL, &expr->n_most) : 0;
}

void
tfx_expr_channels (const TfxExpr *expr, unsigned n_channels, unsigned *n_out,
    unsigned *n_most)
{
  *n_out = expr->n_out ? expr->n_out : n_channels;
  *n_most = expr->n_most > n_channels ? expr->n_most : n_channels;
}

/* ---- positions ----------------------------------------------------------------- */

uint64_t
tfx_flow_positions (const TfxNode *part, unsigned n_fixed,
    const TfxFlow *stream)
{
  uint64_t whole;

  if (!part)
    return n_fixed == 0 || n_fixed == stream->n_channels ? stream->positions
                                                         : 0;
  whole = tfx_flow_positions (part->outer, part->n_whole, stream);
  return tfx_positions_of_channels (whole, part->channels) |
         (whole & part->positions);
}

uint64_t
tfx_flow_channels (const TfxNode *part, const TfxFlow *stream)
{
  const uint64_t whole =
      tfx_flow_positions (part->outer, part->n_whole, stream);

  return part->channels | tfx_positions_find_channels (whole, part->positions);
}

/* ---- checking ------------------------------------------------------------------ */

static int check (const TfxNode *node, const TfxFlow *stream, unsigned *n,
    TfxExprError *error);

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

  if (!tfx_node_part (node) || n_rows == gains->n_columns)
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
check_sum (const TfxNode *node, const TfxFlow *stream, unsigned *n,
    TfxExprError *error)
{
  unsigned out = 0;

  for (size_t i = 0; i < node->n_children; i++) {
    unsigned of_branch = *n;
    int code = check (node->children[i], stream, &of_branch, error);

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

/* Whether the n channels at a part's split, 0: any number, are those of the part too.
 * taken: those that other parts have. */
static int
check_part (const TfxNode *part, const TfxFlow *stream, unsigned n,
    uint64_t *taken, TfxExprError *error)
{
  const unsigned n_least =
      part->channels ? 64 - (unsigned)__builtin_clzll (part->channels) : 0;
  char missing[TFX_POSITIONS_TEXT_SIZE], there[TFX_POSITIONS_TEXT_SIZE];
  uint64_t whole, named, twice;

  if (n != 0 && n_least > n)
    return tfx_error_set (error, -ERANGE,
        "ch[%u] is out of range: there %s %u channel%s, counted from 0",
        n_least - 1, n == 1 ? "is" : "are", n, plural (n));
  if (stream->positions == TFX_FLOW_ANY)
    return 0;
  whole = tfx_flow_positions (part->outer, part->n_whole, stream);
  tfx_positions_print (part->positions & ~whole, missing);
  tfx_positions_print (whole, there);
  if (*missing && !*there)
    return tfx_error_set (error, -EINVAL,
        "ch[%s] is a position, but the channels have none here; number them "
        "from 0, as in ch[1]",
        missing);
  if (*missing)
    return tfx_error_set (error, -ERANGE,
        "ch[%s] is missing: the channels are %s", missing, there);
  named = tfx_positions_find_channels (whole, part->positions);
  twice = (named & part->channels) | ((named | part->channels) & *taken);
  if (twice)
    return tfx_error_set (error, -EINVAL,
        "channel %d already has a chain; write its stages in one chain",
        __builtin_ctzll (twice));
  *taken |= named | part->channels;
  return 0;
}

static int
check_split (const TfxNode *node, const TfxFlow *stream, unsigned *n,
    TfxExprError *error)
{
  uint64_t taken = 0;
  int code = 0;

  for (size_t i = 0; i < node->n_children && code == 0; i++) {
    const TfxNode *child = node->children[i];
    unsigned in_branch = count (child);

    code = tfx_error_set_place (error, child->channels_place,
        check_part (child, stream, *n, &taken, error));
    if (code == 0)
      code = check (child, stream, &in_branch, error);
  }
  return code;
}

/* *n channels come to the node, and then are those that leave it. */
static int
check (const TfxNode *node, const TfxFlow *stream, unsigned *n,
    TfxExprError *error)
{
  int code = 0;

  switch (node->kind) {
    case TFX_NODE_CALL:
      return check_call (node, n, error);
    case TFX_NODE_SERIES:
      for (size_t i = 0; code == 0 && i < node->n_children; i++)
        code = check (node->children[i], stream, n, error);
      return code;
    case TFX_NODE_SUM:
      return check_sum (node, stream, n, error);
    case TFX_NODE_SPLIT:
      return check_split (node, stream, n, error);
  }
  return code;
}

int
tfx_flow_check (const TfxExpr *expr, const TfxFlow *stream, TfxExprError *error)
{
  unsigned n = stream->n_channels;

  return expr->root ? check (expr->root, stream, &n, error) : 0;
}

/* ---- channels that fit ----------------------------------------------------------- */

/* As many as can come in, from `least` on; more than there may be if none can. */
static unsigned
find_count (const TfxExpr *expr, unsigned least)
{
  TfxFlow stream = { least, TFX_FLOW_ANY };

  while (stream.n_channels <= TFX_EXPR_MAX_CHANNELS &&
         tfx_flow_check (expr, &stream, NULL) < 0)
    stream.n_channels++;
  return stream.n_channels;
}

unsigned
tfx_expr_n_inputs (const TfxExpr *expr)
{
  unsigned n;

  if (!expr->root || expr->n_out == 0)
    return 0;
  n = find_count (expr, 1);
  return n < TFX_EXPR_MAX_CHANNELS ? n : TFX_EXPR_MAX_CHANNELS;
}

static uint64_t
find_names (const TfxNode *node)
{
  uint64_t names = node->positions;

  for (size_t i = 0; i < node->n_children; i++)
    names |= find_names (node->children[i]);
  return names;
}

/* With names there are left and right, too. */
unsigned
tfx_expr_find_channels (const TfxExpr *expr, unsigned least,
    uint64_t *positions)
{
  const uint64_t names = expr->root ? find_names (expr->root) : 0;
  const unsigned n_named =
      (unsigned)__builtin_popcountll (names ? names | 3 : 0);
  unsigned n = tfx_expr_n_inputs (expr);

  if (n == 0) {
    least = n_named > least ? n_named : least;
    n = find_count (expr, least);
    n = n <= TFX_EXPR_MAX_CHANNELS ? n : least;
  }
  *positions = names;
  for (unsigned i = 0; names && i < TFX_N_POSITIONS &&
                       (unsigned)__builtin_popcountll (*positions) < n;
       i++)
    *positions |= (uint64_t)1 << i;
  return n;
}
