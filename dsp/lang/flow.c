/* SPDX-License-Identifier: LGPL-2.1-or-later
 * flow.c: channels on their way through an expression. */
#include "node.h"

#include <errno.h>
#include <stdio.h>

#include "class.h"
#include "error.h"
#include "core/positions.h"

/* ---- positions ----------------------------------------------------------------- */

uint64_t
tfx_flow_positions (const TfxNode *part, unsigned n_fixed,
    const TfxFlow *stream)
{
  uint64_t whole;
  unsigned n_keys, n_whole;

  if (!part)
    return n_fixed == 0 || n_fixed == stream->n_channels ? stream->positions
                                                         : 0;
  whole = tfx_flow_positions (part->outer, part->n_whole, stream);
  n_whole = part->n_whole ? part->n_whole : stream->n_channels;
  n_keys = tfx_positions_n_keys (whole);
  whole = tfx_positions_named (whole);
  if (n_keys > 0)
    n_keys = n_whole - n_keys < 64 ? (unsigned)__builtin_popcountll (
                                         part->channels >> (n_whole - n_keys))
                                   : 0;
  return tfx_positions_of_channels (whole, part->channels) |
         (whole & part->positions) | TFX_POSITIONS_KEYS (n_keys);
}

uint64_t
tfx_flow_channels (const TfxNode *part, const TfxFlow *stream)
{
  const uint64_t whole =
      tfx_flow_positions (part->outer, part->n_whole, stream);

  return part->channels | tfx_positions_find_channels (whole, part->positions);
}

/* ---- the way through the expression ---------------------------------------------- */

typedef struct Walk
{
  const TfxFlow *stream; /* NULL: sets numbers, checks nothing */
  TfxExprError *error;   /* or NULL */
  int code;              /* of the first error */
  unsigned n_most;       /* outside of splits */
} Walk;

static const char *
plural (size_t n)
{
  return n == 1 ? "" : "s";
}

/* Whether n channels may come to a call. */
static int
check_call (const TfxNode *node, const TfxChannelChange *change, unsigned n,
    TfxExprError *error)
{
  const unsigned n_in = change->n_in ? change->n_in : n;
  const TfxValue *value =
      change->param ? tfx_class_value (node, change->param) : NULL;
  const bool is_list = value && value->type == TFX_VALUE_LIST;
  char thing[TFX_NODE_THING_SIZE];

  tfx_node_describe (node, thing);
  if (is_list && n != 0 && n != n_in)
    return tfx_error_set (error, -EINVAL,
        "%s of %s has %s%u number%s, but its input has %u channel%s",
        change->param, thing, value->n_columns > 0 ? "rows of " : "", n_in,
        plural (n_in), n, plural (n));
  if (value && n != 0 && n != n_in)
    return tfx_error_set (error, -EINVAL,
        "%s='%s' of %s needs %u channel%s, but its input has %u", change->param,
        value->word, thing, n_in, plural (n_in), n);
  /* The other channels of the stream bypass a part. */
  if (value && tfx_node_part (node) && change->n_out != n_in)
    return tfx_error_set (error, -EINVAL,
        "%s of %s makes %u channel%s from %u, but inside ch[…] it must %s",
        change->param, thing, change->n_out, plural (change->n_out), n_in,
        is_list ? "have as many rows as columns" : "make as many");
  if (n == 0 || !node->klass->ops->check_channels)
    return 0;
  return node->klass->ops->check_channels (node, n, thing, error);
}

/* Whether the n channels at a split (0: any number) include those of the part.
 * taken: those of earlier parts. */
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

/* The number of channels after the node, for n before it (0: any), within a part. */
static unsigned
walk (Walk *w, TfxNode *node, unsigned n, const TfxNode *outer)
{
  const bool is_call = node->kind == TFX_NODE_CALL;
  const bool is_sum =
      node->kind == TFX_NODE_SUM || (is_call && node->n_children > 0);
  TfxChannelChange change = { NULL };
  const TfxNode *part, *first;
  unsigned out = is_sum ? 0 : n;
  uint64_t taken = 0;

  if (!w->stream)
    node->outer = outer;
  part = tfx_node_part (node);
  if (is_call) {
    if (node->klass->ops->channels)
      change = node->klass->ops->channels (node);
    if (!w->stream)
      node->n_fixed = n;
    else if (w->code == 0)
      w->code = tfx_error_set_place (w->error, node->place,
          check_call (node, &change, n, w->error));
    if (change.param)
      out = change.n_out;
  }
  for (size_t i = 0; i < node->n_children; i++) {
    TfxNode *child = node->children[i];
    const unsigned n_most = w->n_most;
    unsigned after;

    if (node->kind == TFX_NODE_SPLIT) {
      if (!w->stream)
        child->n_whole = n;
      else if (w->code == 0)
        w->code = tfx_error_set_place (w->error, child->channels_place,
            check_part (child, w->stream, n, &taken, w->error));
      walk (w, child,
          (unsigned)(__builtin_popcountll (child->channels) +
                     __builtin_popcountll (child->positions)),
          part);
      w->n_most = n_most;
      continue;
    }
    after = walk (w, child, is_sum ? n : out, part);
    for (first = child; first->place == 0 && first->n_children;)
      first = first->children[0];
    if (is_sum && w->stream && w->code == 0 && out != 0 && after != 0 &&
        after != out)
      w->code = tfx_error_set_place (w->error,
          first->place ? first->place : node->place,
          tfx_error_set (w->error, -EINVAL,
              "the %s of a %s have different channel counts: this one has %u "
              "channel%s, those before it %u",
              is_call ? "chains" : "branches",
              is_call ? node->klass->name : "sum", after, plural (after), out));
    out = !is_sum || after > out ? after : out;
  }
  w->n_most = out > w->n_most ? out : w->n_most;
  return out;
}

void
tfx_flow_fix (TfxExpr *expr)
{
  Walk w = { NULL };

  expr->n_out = walk (&w, expr->root, 0, NULL);
  expr->n_most = w.n_most;
}

int
tfx_flow_check (const TfxExpr *expr, const TfxFlow *stream, TfxExprError *error)
{
  Walk w = { stream, error };

  walk (&w, expr->root, stream->n_channels, NULL);
  return w.code;
}

void
tfx_expr_channels (const TfxExpr *expr, unsigned n_channels, unsigned *n_out,
    unsigned *n_most)
{
  *n_out = expr->n_out ? expr->n_out : n_channels;
  *n_most = expr->n_most > n_channels ? expr->n_most : n_channels;
}

/* ---- channels that fit ----------------------------------------------------------- */

/* The smallest possible number of inputs from `least` on; above the maximum if none
 * is possible. */
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
tfx_expr_n_inputs (const TfxExpr *expr, unsigned *least)
{
  const unsigned n = find_count (expr, 1);
  const TfxFlow more = { n + 1, TFX_FLOW_ANY };

  *least = n <= TFX_EXPR_MAX_CHANNELS ? n : 1;
  return *least == n && tfx_flow_check (expr, &more, NULL) < 0 ? n : 0;
}

/* (Named positions include left and right.) */
unsigned
tfx_expr_find_channels (const TfxExpr *expr, unsigned least,
    uint64_t *positions)
{
  const uint64_t names = expr->positions;
  const unsigned n_named =
      (unsigned)__builtin_popcountll (names ? names | 3 : 0);
  unsigned n_least, n = tfx_expr_n_inputs (expr, &n_least);

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
