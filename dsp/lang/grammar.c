/* SPDX-License-Identifier: LGPL-2.1-or-later
 * grammar.c: the grammar of the chain language, by recursive descent.
 *
 *   chain    = [ group ]
 *   group    = series | split
 *   split    = part { ";" part } [ ";" ]
 *   part     = "ch" "[" channel { "," channel } "]" ":" series
 *   channel  = number | number ":" number | name
 *   series   = sum { "|" sum }
 *   sum      = primary { "+" primary }
 *   primary  = "(" group ")" | [ name "=" ] { name "." } name "(" [ args ] ")"
 *   args     = arg { "," arg } [ "," ]
 *   arg      = [ name "=" ] value
 *   value    = [ sign ] number | string | "True" | "False" | "None" | word
 *            | "[" [ value { "," value } [ "," ] ] "]" | "(" the same ")"
 *   word     = { name "." } name [ "(" ")" ]
 *
 * FilterSettings(file) stands for the calls that are in the file.
 *
 * The reading stops at the first error. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "channels.h"
#include "error.h"
#include "foreign.h"
#include "node.h"
#include "parser.h"

/* ---- groups ---------------------------------------------------------------- */

static int parse_group (TfxParser *parser, TfxNode **node);

/* What is behind a stage, and should not be. */
static int
fail_behind_stage (TfxParser *parser, const char *expected)
{
  const size_t offset = parser->token.offset;

  if (parser->token.type != TFX_TOKEN_OPERATOR &&
      parser->token.type != TFX_TOKEN_COMMA)
    return tfx_parser_fail_expected (parser, expected);
  if (parser->token.type == TFX_TOKEN_COMMA &&
      tfx_parser_advance (parser) == 0 && tfx_channels_are_ahead (parser))
    return tfx_parser_fail (parser, offset, -EINVAL,
        "the chains of channels are separated by ';', not ','");
  return tfx_parser_fail (parser, offset, -EINVAL,
      "stages are joined by '|' (series) or '+' (sum)");
}

static int
parse_parentheses (TfxParser *parser, TfxNode **node)
{
  size_t offset = parser->token.offset;
  int code = tfx_parser_enter (parser);
  bool is_split;

  if (code == 0)
    code = tfx_parser_advance (parser);
  if (code < 0)
    return code;
  if (parser->token.type == TFX_TOKEN_CLOSE)
    return tfx_parser_fail (parser, offset, -EINVAL,
        "these parentheses are empty");
  is_split = tfx_channels_are_ahead (parser);
  code = parse_group (parser, node);
  if (code < 0)
    return code;
  if (parser->token.type == TFX_TOKEN_CLOSE) {
    parser->depth--;
    code = tfx_parser_advance (parser);
  } else if (parser->token.type == TFX_TOKEN_END) {
    code = tfx_parser_fail (parser, offset, -EINVAL, "this '(' is not closed");
  } else {
    code = fail_behind_stage (parser,
        is_split ? "'|', '+', ';' or ')'" : "'|', '+' or ')'");
  }
  if (code < 0) {
    tfx_node_free (*node);
    *node = NULL;
  }
  return code;
}

static int
parse_primary (TfxParser *parser, TfxNode **node)
{
  if (tfx_channels_are_ahead (parser))
    return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
        "channels inside a chain need parentheses: "
        "… | (ch[0]: …; ch[1]: …)");
  switch (parser->token.type) {
    case TFX_TOKEN_OPEN:
      return parse_parentheses (parser, node);
    case TFX_TOKEN_NAME:
      return tfx_call_parse (parser, node);
    case TFX_TOKEN_NUMBER:
      return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
          "a number is not a stage; write Gain(2) for a factor, or "
          "Gain(6, gain_type='db') for decibels");
    case TFX_TOKEN_PIPE:
      return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
          "there is no stage before this '|'; stages are joined by a single "
          "'|'");
    default:
      return tfx_parser_fail_expected (parser,
          "a stage, such as LoButterworth(1000)");
  }
}

/* One operator's run of operands; "next" reads an operand. */
static int
parse_run (TfxParser *parser, TfxTokenType operator, TfxNodeKind kind,
    int (*next) (TfxParser *, TfxNode **), TfxNode **node)
{
  TfxNode *group, *operand = NULL;
  int code = next (parser, node);

  if (code < 0 || parser->token.type != operator)
    return code;
  group = tfx_node_new_group (kind);
  operand = *node;
  *node = NULL;
  if (!group) {
    tfx_node_free (operand);
    return tfx_error_set_no_memory (parser->error);
  }
  for (;;) {
    if (tfx_node_add (group, operand) < 0) {
      code = tfx_error_set_no_memory (parser->error);
      break;
    }
    if (parser->token.type != operator) {
      *node = group;
      return 0;
    }
    code = tfx_parser_advance (parser);
    if (code == 0)
      code = next (parser, &operand);
    if (code < 0)
      break;
  }
  tfx_node_free (group);
  return code;
}

static int
parse_sum (TfxParser *parser, TfxNode **node)
{
  return parse_run (parser, TFX_TOKEN_PLUS, TFX_NODE_SUM, parse_primary, node);
}

static int
parse_series (TfxParser *parser, TfxNode **node)
{
  return parse_run (parser, TFX_TOKEN_PIPE, TFX_NODE_SERIES, parse_sum, node);
}

/* ---- channels ------------------------------------------------------------------ */

/* The chain of some channels becomes a child of the split. */
static int
parse_part (TfxParser *parser, TfxNode *split, TfxChannels *taken)
{
  const size_t offset = parser->token.offset;
  TfxChannels channels;
  TfxNode *child = NULL;
  int code;

  if (!tfx_channels_are_ahead (parser)) {
    code = parser->token.type == TFX_TOKEN_NAME
               ? tfx_foreign_refuse (parser->lexer.text + offset,
                     parser->lexer.length - offset, parser->error)
               : 0;
    return code < 0 ? tfx_parser_fail_at (parser, offset)
                    : tfx_parser_fail_expected (parser, "ch[…]: after ';'");
  }
  code = tfx_channels_parse (parser, &channels, taken);
  if (code == 0)
    code = parse_series (parser, &child);
  if (code < 0)
    return code;
  child->channels = channels.numbers;
  child->positions = channels.positions;
  child->channels_place = offset + 1;
  return tfx_node_add (split, child) < 0
             ? tfx_error_set_no_memory (parser->error)
             : 0;
}

static int
parse_split (TfxParser *parser, TfxNode **node)
{
  TfxNode *split = tfx_node_new_group (TFX_NODE_SPLIT);
  TfxChannels taken = { 0 };
  int code;

  if (!split)
    return tfx_error_set_no_memory (parser->error);
  code = parse_part (parser, split, &taken);
  while (code == 0 && tfx_channels_is_mark (parser, ';')) {
    code = tfx_parser_advance (parser);
    if (code < 0 || parser->token.type == TFX_TOKEN_END ||
        parser->token.type == TFX_TOKEN_CLOSE)
      break;
    code = parse_part (parser, split, &taken);
  }
  if (code < 0) {
    tfx_node_free (split);
    return code;
  }
  *node = split;
  return 0;
}

static int
parse_group (TfxParser *parser, TfxNode **node)
{
  return tfx_channels_are_ahead (parser) ? parse_split (parser, node)
                                         : parse_series (parser, node);
}

/* ---- the whole --------------------------------------------------------------- */

static int
parse_chain (TfxParser *parser, TfxNode **root)
{
  int code = tfx_parser_advance (parser);
  bool is_split;

  if (code < 0 || parser->token.type == TFX_TOKEN_END)
    return code;
  is_split = tfx_channels_are_ahead (parser);
  code = parse_group (parser, root);
  if (code == 0 && parser->token.type == TFX_TOKEN_CLOSE)
    return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
        "there is no '(' for this ')'");
  if (code == 0 && parser->token.type != TFX_TOKEN_END)
    return fail_behind_stage (parser,
        is_split ? "'|', '+', ';' or the end" : "'|', '+' or the end");
  return code;
}

TfxExpr *
tfx_expr_parse (const char *text, size_t length, TfxExprError *error)
{
  return tfx_expr_parse_with_files (text, length, NULL, error);
}

TfxExpr *
tfx_expr_parse_with_files (const char *text, size_t length,
    const TfxFileReader *reader, TfxExprError *error)
{
  TfxExprError own;
  TfxParser *parser;
  TfxNode *root = NULL;
  TfxExpr *expr = NULL;
  int code;

  if (!error)
    error = &own;
  if (length > TFX_EXPR_MAX_TEXT) {
    tfx_error_set (error, -E2BIG,
        "the chain has %zu bytes of text, at most %u are allowed", length,
        TFX_EXPR_MAX_TEXT);
    return NULL;
  }
  parser = calloc (1, sizeof *parser);
  if (!parser) {
    tfx_error_set_no_memory (error);
    return NULL;
  }
  parser->error = error;
  parser->reader = reader;
  parser->parse_series = parse_series;
  tfx_lexer_init (&parser->lexer, text, length);
  code = parse_chain (parser, &root);
  free (parser);
  if (code < 0) {
    tfx_node_free (root);
    return NULL;
  }
  expr = tfx_expr_new (root);
  if (!expr) {
    tfx_error_set_no_memory (error);
  } else if (tfx_expr_check (expr, error) < 0) {
    tfx_expr_place_error (error, text, length);
    tfx_expr_free (&expr);
  }
  return expr;
}
