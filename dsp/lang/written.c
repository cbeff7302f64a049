/* SPDX-License-Identifier: LGPL-2.1-or-later
 * written.c: values as they are written: numbers, words, lists. */
#include "written.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "absent.h"
#include "error.h"
#include "value.h"

static int
parse_number (TfxParser *parser, double *number)
{
  double sign = 1.0;

  while (parser->token.type == TFX_TOKEN_MINUS ||
         parser->token.type == TFX_TOKEN_PLUS) {
    int code;

    if (parser->token.type == TFX_TOKEN_MINUS)
      sign = -sign;
    code = tfx_parser_advance (parser);
    if (code < 0)
      return code;
  }
  if (parser->token.type != TFX_TOKEN_NUMBER)
    return tfx_parser_fail_expected (parser, "a number");
  *number = sign * parser->token.number;
  return tfx_parser_advance (parser);
}

/* True, False, None, or a class of TorchFX that stands for a word. */
static int
parse_word (TfxParser *parser, TfxWritten *written)
{
  TfxToken name = parser->token;
  bool is_call = false;
  int code = tfx_parser_advance (parser);

  while (code == 0 && parser->token.type == TFX_TOKEN_DOT) {
    code = tfx_parser_advance (parser);
    if (code == 0 && parser->token.type != TFX_TOKEN_NAME)
      return tfx_parser_fail_expected (parser, "a name after '.'");
    name = parser->token;
    if (code == 0)
      code = tfx_parser_advance (parser);
  }
  if (code == 0 && parser->token.type == TFX_TOKEN_OPEN) {
    is_call = true;
    code = tfx_parser_advance (parser);
    if (code == 0 && strcmp (name.string, "float") == 0 &&
        parser->token.type == TFX_TOKEN_STRING &&
        strcmp (parser->token.string, "inf") == 0) {
      name = parser->token;
      code = tfx_parser_advance (parser);
    }
    if (code == 0 && parser->token.type != TFX_TOKEN_CLOSE) {
      if (!tfx_absent_why (name.string))
        return tfx_parser_fail_expected (parser, "')'");
      tfx_absent_refuse (name.string, parser->error);
      return tfx_parser_fail_at (parser, name.offset);
    }
    if (code == 0)
      code = tfx_parser_advance (parser);
  }
  if (code < 0)
    return code;

  if (strcmp (name.string, "None") == 0 && !is_call) {
    written->value.type = TFX_VALUE_NONE;
  } else if (strcmp (name.string, "True") == 0 && !is_call) {
    written->value = (TfxValue){ .type = TFX_VALUE_BOOL, .number = 1.0 };
  } else if (strcmp (name.string, "False") == 0 && !is_call) {
    written->value = (TfxValue){ .type = TFX_VALUE_BOOL, .number = 0.0 };
  } else if (strcmp (name.string, "true") == 0 ||
             strcmp (name.string, "false") == 0 ||
             strcmp (name.string, "none") == 0) {
    return tfx_parser_fail (parser, name.offset, -EINVAL,
        "write %c%s, as in Python", name.string[0] - 'a' + 'A',
        name.string + 1);
  } else {
    written->value.type = TFX_VALUE_WORD;
    written->is_bare = true;
    strcpy (written->word, name.string);
  }
  return 0;
}

/* Appends number to the list, which has *room. */
static int
add_to_list (TfxParser *parser, TfxValue *list, size_t *room, double number,
    size_t offset)
{
  if (list->n_list == *room) {
    size_t more = *room ? 2 * *room : 8;
    double *numbers = realloc (list->list, more * sizeof *numbers);

    if (!numbers)
      return tfx_error_set_no_memory (parser->error);
    list->list = numbers;
    *room = more;
  }
  if (list->n_list == TFX_EXPR_MAX_LIST)
    return tfx_parser_fail (parser, offset, -E2BIG,
        "the list has more than %u numbers", TFX_EXPR_MAX_LIST);
  list->list[list->n_list++] = number;
  return 0;
}

static bool
is_number (const TfxToken *token)
{
  return token->type == TFX_TOKEN_NUMBER || token->type == TFX_TOKEN_MINUS ||
         token->type == TFX_TOKEN_PLUS;
}

static int
parse_list_number (TfxParser *parser, TfxWritten *written, size_t *room)
{
  size_t offset = parser->token.offset;
  double number = 0.0;
  int code;

  if (!is_number (&parser->token))
    return tfx_parser_fail_expected (parser, "a number in the list");
  code = parse_number (parser, &number);
  if (code < 0)
    return code;
  return add_to_list (parser, &written->value, room, number, offset);
}

/* A list within the list: its numbers go behind those of the rows in front. */
static int
parse_row (TfxParser *parser, TfxWritten *written, size_t *room)
{
  const TfxTokenType close = parser->token.type == TFX_TOKEN_OPEN
                                 ? TFX_TOKEN_CLOSE
                                 : TFX_TOKEN_CLOSE_LIST;
  const size_t offset = parser->token.offset, before = written->value.n_list;
  int code = tfx_parser_enter (parser);

  if (code == 0)
    code = tfx_parser_advance (parser);
  while (code == 0 && parser->token.type != close) {
    code = parse_list_number (parser, written, room);
    if (code == 0 && parser->token.type == TFX_TOKEN_COMMA)
      code = tfx_parser_advance (parser);
    else if (code == 0 && parser->token.type != close)
      code = tfx_parser_fail_expected (parser,
          close == TFX_TOKEN_CLOSE ? "',' or ')'" : "',' or ']'");
  }
  if (code < 0)
    return code;
  if (written->value.n_list == before)
    return tfx_parser_fail (parser, offset, -EINVAL, "the row is empty");
  if (before == 0)
    written->n_columns = written->value.n_list;
  if (written->value.n_list - before != written->n_columns)
    return tfx_parser_fail (parser, offset, -EINVAL,
        "the rows have different lengths");
  parser->depth--;
  return tfx_parser_advance (parser);
}

static int
parse_item (TfxParser *parser, TfxWritten *written, size_t *room)
{
  const TfxTokenType type = parser->token.type;

  if ((type == TFX_TOKEN_OPEN_LIST || type == TFX_TOKEN_OPEN) &&
      !written->word[0] && (written->n_columns || written->value.n_list == 0))
    return parse_row (parser, written, room);
  if (written->n_columns)
    return tfx_parser_fail_expected (parser, "a row in the list");
  if (parser->token.type == TFX_TOKEN_STRING && written->value.n_list == 0 &&
      written->word[0] == '\0' && parser->token.string[0] != '\0') {
    written->string = parser->token;
    strcpy (written->word, parser->token.string);
    return tfx_parser_advance (parser);
  }
  return parse_list_number (parser, written, room);
}

/* (5) and ('hann') are no tuples: a comma makes one. */
static void
unwrap (TfxWritten *written)
{
  TfxValue single = { .type = TFX_VALUE_WORD };

  if (written->value.n_list == 1)
    single = tfx_value_number (written->value.list[0]);
  else if (!written->word[0])
    return;
  tfx_value_clear (&written->value);
  written->value = single;
}

static int
parse_list (TfxParser *parser, TfxWritten *written, TfxTokenType close)
{
  size_t offset = parser->token.offset, room = 0;
  bool has_comma = false;
  int code = tfx_parser_enter (parser);

  written->value.type = TFX_VALUE_LIST;
  if (code == 0)
    code = tfx_parser_advance (parser);
  while (code == 0 && parser->token.type != close) {
    code = parse_item (parser, written, &room);
    if (code < 0)
      break;
    if (parser->token.type == TFX_TOKEN_COMMA) {
      has_comma = true;
      code = tfx_parser_advance (parser);
    } else if (parser->token.type == TFX_TOKEN_END) {
      return tfx_parser_fail (parser, offset, -EINVAL,
          "this bracket is not closed");
    } else if (parser->token.type != close) {
      return tfx_parser_fail_expected (parser,
          close == TFX_TOKEN_CLOSE ? "',' or ')'" : "',' or ']'");
    }
  }
  if (code < 0)
    return code;
  if (close == TFX_TOKEN_CLOSE && !has_comma && !written->n_columns)
    unwrap (written);
  parser->depth--;
  return tfx_parser_advance (parser);
}

int
tfx_written_parse (TfxParser *parser, TfxWritten *written)
{
  memset (written, 0, sizeof *written);
  written->value.type = TFX_VALUE_NONE;
  written->offset = parser->token.offset;

  switch (parser->token.type) {
    case TFX_TOKEN_NUMBER:
    case TFX_TOKEN_MINUS:
    case TFX_TOKEN_PLUS:
      written->value.type = TFX_VALUE_NUMBER;
      return parse_number (parser, &written->value.number);
    case TFX_TOKEN_STRING:
      written->value.type = TFX_VALUE_WORD;
      written->string = parser->token;
      strcpy (written->word, parser->token.string);
      return tfx_parser_advance (parser);
    case TFX_TOKEN_NAME:
      return parse_word (parser, written);
    case TFX_TOKEN_OPEN_LIST:
      return parse_list (parser, written, TFX_TOKEN_CLOSE_LIST);
    case TFX_TOKEN_OPEN:
      return parse_list (parser, written, TFX_TOKEN_CLOSE);
    default:
      return tfx_parser_fail_expected (parser, "a value");
  }
}
