/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arguments.c: the arguments of a call: values, and which parameter each is. */
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "absent.h"
#include "error.h"
#include "suggest.h"
#include "value.h"

/* ---- values ------------------------------------------------------------------- */

/* A value as it is written.  A tuple or list may begin with a word, as in
 * ("kaiser", 8.6): word is not empty then, and value a list. */
typedef struct Written
{
  TfxValue value;
  char word[TFX_EXPR_MAX_NAME + 1];
  bool is_bare;    /* the word has no quotes */
  TfxToken string; /* if it has, and is no part of a tuple */
  size_t offset;
  size_t n_columns; /* a list of rows: the length of each; else 0 */
} Written;

static int
fail (TfxParser *parser, size_t offset, const char *message)
{
  tfx_error_set (parser->error, -EINVAL, "%s", message);
  return tfx_parser_fail_at (parser, offset);
}

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
parse_word (TfxParser *parser, Written *written)
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
    if (code == 0 && parser->token.type != TFX_TOKEN_CLOSE)
      return tfx_parser_fail_expected (parser, "')'");
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
    tfx_error_set (parser->error, -EINVAL, "write %c%s, as in Python",
        name.string[0] - 'a' + 'A', name.string + 1);
    return tfx_parser_fail_at (parser, name.offset);
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
  if (list->n_list == TFX_EXPR_MAX_LIST) {
    tfx_error_set (parser->error, -E2BIG, "the list has more than %u numbers",
        TFX_EXPR_MAX_LIST);
    return tfx_parser_fail_at (parser, offset);
  }
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
parse_list_number (TfxParser *parser, Written *written, size_t *room)
{
  size_t offset = parser->token.offset;
  double number = 0.0;
  int code;

  if (!is_number (&parser->token))
    return tfx_parser_fail_expected (parser, "a number of the list");
  code = parse_number (parser, &number);
  if (code < 0)
    return code;
  return add_to_list (parser, &written->value, room, number, offset);
}

/* A list within the list: its numbers go behind those of the rows in front. */
static int
parse_row (TfxParser *parser, Written *written, size_t *room)
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
    return fail (parser, offset, "the row is empty");
  if (before == 0)
    written->n_columns = written->value.n_list;
  if (written->value.n_list - before != written->n_columns)
    return fail (parser, offset, "the rows have not the same length");
  parser->depth--;
  return tfx_parser_advance (parser);
}

static int
parse_item (TfxParser *parser, Written *written, size_t *room)
{
  const TfxTokenType type = parser->token.type;

  if ((type == TFX_TOKEN_OPEN_LIST || type == TFX_TOKEN_OPEN) &&
      !written->word[0] && (written->n_columns || written->value.n_list == 0))
    return parse_row (parser, written, room);
  if (written->n_columns)
    return tfx_parser_fail_expected (parser, "a row of the list");
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
unwrap (Written *written)
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
parse_list (TfxParser *parser, Written *written, TfxTokenType close)
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
      return fail (parser, offset, "this bracket is not closed");
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

/* written->value may hold a list even if this fails. */
static int
parse_value (TfxParser *parser, Written *written)
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

/* ---- parameters ----------------------------------------------------------------- */

static int
refuse_param (TfxParser *parser, const TfxClass *klass, const TfxToken *name)
{
  const char *gone = tfx_absent_param (klass->name, name->string);
  TfxSuggestion near;
  char list[160] = "";
  size_t n = 0;

  tfx_suggestion_init (&near, name->string, strlen (name->string));
  for (unsigned i = 0; i < klass->n_params; i++) {
    tfx_suggestion_try (&near, klass->params[i].name);
    n += (size_t)snprintf (list + n, sizeof list - n, "%s%s", n ? ", " : "",
        klass->params[i].name);
  }
  if (gone)
    tfx_error_set (parser->error, -EINVAL,
        "%s has no parameter '%s', but %s; %s", klass->name, name->string, list,
        gone);
  else if (near.best)
    tfx_error_set (parser->error, -EINVAL,
        "%s has no parameter '%s'; did you mean '%s'?", klass->name,
        name->string, near.best);
  else
    tfx_error_set (parser->error, -EINVAL,
        "%s has no parameter '%s'; it has %s", klass->name, name->string, list);
  return tfx_parser_fail_at (parser, name->offset);
}

/* A tuple that begins with a word: ("kaiser", 8.6) for the window is the word
 * and its beta. */
static int
set_tuple (TfxParser *parser, TfxNode *call, unsigned index, Written *written)
{
  const TfxParam *param = &call->klass->params[index], *second;
  TfxValue number;
  int second_index, code;

  if (!param->second)
    return fail (parser, written->offset, "a list may hold numbers alone");
  if (written->value.n_list > 1)
    return fail (parser, written->offset, "a word with more than one number");
  if (written->value.n_list == 1) {
    second_index = tfx_class_find_param (call->klass, param->second);
    second = &call->klass->params[second_index];
    number = tfx_value_number (written->value.list[0]);
    code = tfx_value_fit (&number, second, call->klass->name, parser->error);
    if (code < 0)
      return tfx_parser_fail_at (parser, written->offset);
    call->values[second_index] = number;
  }
  tfx_value_clear (&written->value);
  written->value.type = TFX_VALUE_WORD;
  return 0;
}

static bool
is_string (const Written *written)
{
  return written->value.type == TFX_VALUE_WORD && !written->is_bare;
}

/* A string is the name of a file; the impulse response in it is read. */
static int
set_text (TfxParser *parser, const TfxParam *param, const TfxClass *klass,
    const Written *written, TfxValue *value)
{
  const TfxFileReader *reader = parser->reader;
  char why[TFX_FILE_WHY_SIZE];

  if (written->string.n_string == 0) {
    tfx_error_set (parser->error, -EINVAL,
        "%s of %s: the name of the file is empty", param->name, klass->name);
    return tfx_parser_fail_at (parser, written->offset);
  }
  value->text = malloc (written->string.n_string + 1);
  if (!value->text)
    return tfx_error_set_no_memory (parser->error);
  value->type = TFX_VALUE_TEXT;
  tfx_lexer_copy_string (&parser->lexer, &written->string, value->text);
  if (!reader)
    return 0;
  value->file = reader->open_impulse (reader->data, value->text, why);
  if (value->file)
    return 0;
  tfx_error_set (parser->error, -ENOENT, "%s of %s: %s", param->name,
      klass->name, why);
  return tfx_parser_fail_at (parser, written->offset);
}

/* Gives the value to the parameter; takes its list over. */
static int
set_value (TfxParser *parser, TfxNode *call, unsigned index, Written *written)
{
  const TfxParam *param = &call->klass->params[index];
  TfxValue *value = &written->value;
  int code = 0;

  if (value->type == TFX_VALUE_LIST && written->word[0])
    code = set_tuple (parser, call, index, written);
  if (code == 0 && value->type == TFX_VALUE_LIST && value->n_list == 0)
    code = fail (parser, written->offset, "the list is empty");
  value->n_columns = written->n_columns;
  if (code == 0 && written->n_columns != 0 &&
      !(param->flags & TFX_PARAM_ROWS) &&
      written->n_columns != param->n_columns) {
    if (param->n_columns == 0)
      tfx_error_set (parser->error, -EINVAL,
          "%s of %s has no rows within its list", param->name,
          call->klass->name);
    else
      tfx_error_set (parser->error, -EINVAL,
          "%s of %s has rows of %zu numbers, but must have rows of %zu",
          param->name, call->klass->name, written->n_columns, param->n_columns);
    code = tfx_parser_fail_at (parser, written->offset);
  }
  if (code == 0 && written->is_bare && !(param->types & TFX_VALUE_WORD)) {
    tfx_error_set (parser->error, -EINVAL,
        "%s of %s: there is no value '%s' "
        "(the chain language has no variables)",
        param->name, call->klass->name, written->word);
    code = tfx_parser_fail_at (parser, written->offset);
  }
  if (code == 0 && (param->types & TFX_VALUE_TEXT) && is_string (written)) {
    code = set_text (parser, param, call->klass, written, value);
  } else if (code == 0 && written->string.n_string > TFX_EXPR_MAX_NAME) {
    tfx_error_set (parser->error, -E2BIG, "the string is longer than %u bytes",
        TFX_EXPR_MAX_NAME);
    code = tfx_parser_fail_at (parser, written->offset);
  }
  if (code == 0) {
    if (value->type == TFX_VALUE_WORD)
      tfx_value_set_word (value, written->word);
    code = tfx_value_fit (value, param, call->klass->name, parser->error);
    if (code < 0)
      tfx_parser_fail_at (parser, written->offset);
  }
  if (code < 0) {
    tfx_value_clear (value);
    return code;
  }
  tfx_value_clear (&call->values[index]);
  call->values[index] = *value;
  return 0;
}

/* ---- arguments ------------------------------------------------------------------ */

typedef struct Arguments
{
  bool given[TFX_CLASS_MAX_PARAMS];
  unsigned n_positional;
  bool has_keyword;
} Arguments;

/* The parameter of the next argument: its index, or the code of the error.
 * Consumes "name =". */
static int
find_target (TfxParser *parser, const TfxClass *klass, Arguments *arguments)
{
  TfxLexer behind = parser->lexer;
  TfxToken name = parser->token, next;
  int index, code = 0;

  if (name.type == TFX_TOKEN_NAME)
    code = tfx_lexer_next (&behind, &next, parser->error);
  if (code < 0)
    return code;
  if (name.type == TFX_TOKEN_NAME && next.type == TFX_TOKEN_EQUALS) {
    parser->lexer = behind;
    code = tfx_parser_advance (parser);
    if (code < 0)
      return code;
    arguments->has_keyword = true;
    index = tfx_class_find_param (klass, name.string);
    if (index < 0)
      return refuse_param (parser, klass, &name);
    if (arguments->given[index]) {
      tfx_error_set (parser->error, -EINVAL, "%s of %s is given twice",
          name.string, klass->name);
      return tfx_parser_fail_at (parser, name.offset);
    }
    return index;
  }
  if (arguments->has_keyword)
    return fail (parser, name.offset,
        "a value without name= after one with it");
  index = (int)arguments->n_positional;
  if ((unsigned)index >= klass->n_params ||
      (klass->params[index].flags & TFX_PARAM_KEYWORD)) {
    tfx_error_set (parser->error, -EINVAL,
        "%s takes at most %d values without name=", klass->name, index);
    return tfx_parser_fail_at (parser, name.offset);
  }
  arguments->n_positional++;
  return index;
}

/* Whether three digits stand at offset and ",", right after a digit, in front of
 * them. */
static bool
is_thousands (const TfxParser *parser, size_t offset)
{
  const TfxLexer *lexer = &parser->lexer;
  const char *at = lexer->text + offset;
  size_t n = 0;

  if (offset < 2 || at[-1] != ',' || at[-2] < '0' || at[-2] > '9')
    return false;
  while (offset + n < lexer->length && at[n] >= '0' && at[n] <= '9')
    n++;
  return n == 3;
}

/* What stands wrong at offset may be meant to belong to the number in front. */
static int
refuse_thousands (TfxParser *parser, size_t offset, int code)
{
  if (code == 0 || !is_thousands (parser, offset))
    return code;
  return fail (parser, offset,
      "',' is between two values; a large number is written 1000 or 1_000");
}

/* What is behind a value, and should not be. */
static int
check_behind_value (TfxParser *parser, const TfxNode *call,
    const Written *written)
{
  const TfxToken *token = &parser->token;
  const char *text = parser->lexer.text;

  if (written->is_bare &&
      tfx_class_find_param (call->klass, written->word) >= 0 &&
      token->type == TFX_TOKEN_OPERATOR && text[token->offset] == ':') {
    tfx_error_set (parser->error, -EINVAL,
        "a parameter and its value are put together by '=': %s=…",
        written->word);
    return tfx_parser_fail_at (parser, token->offset);
  }
  if (written->value.type == TFX_VALUE_NUMBER &&
      token->type == TFX_TOKEN_NAME) {
    tfx_error_set (parser->error, -EINVAL, "'%s' after a number: %s",
        token->string, TFX_LEXER_NO_UNIT);
    return tfx_parser_fail_at (parser, token->offset);
  }
  return 0;
}

static int
parse_argument (TfxParser *parser, TfxNode *call, Arguments *arguments)
{
  const size_t offset = parser->token.offset;
  Written written;
  int code, index = find_target (parser, call->klass, arguments);

  if (index < 0)
    return refuse_thousands (parser, offset, index);
  code = parse_value (parser, &written);
  if (code == 0)
    code = check_behind_value (parser, call, &written);
  if (code < 0) {
    tfx_value_clear (&written.value);
    return code;
  }
  arguments->given[index] = true;
  code = set_value (parser, call, (unsigned)index, &written);
  return refuse_thousands (parser, offset, code);
}

static int
check_required (TfxParser *parser, const TfxClass *klass,
    const Arguments *arguments, size_t offset)
{
  char missing[120] = "";
  size_t n = 0;

  for (unsigned i = 0; i < klass->n_params; i++) {
    if ((klass->params[i].flags & TFX_PARAM_REQUIRED) && !arguments->given[i])
      n += (size_t)snprintf (missing + n, sizeof missing - n, "%s%s",
          n ? ", " : "", klass->params[i].name);
  }
  if (n == 0)
    return 0;
  tfx_error_set (parser->error, -EINVAL, "%s needs %s", klass->name, missing);
  return tfx_parser_fail_at (parser, offset);
}

int
tfx_arguments_parse (TfxParser *parser, TfxNode *call, size_t class_offset)
{
  Arguments arguments = { 0 };
  size_t open = parser->token.offset;
  int code = tfx_parser_enter (parser);

  if (code == 0)
    code = tfx_parser_advance (parser);
  while (code == 0 && parser->token.type != TFX_TOKEN_CLOSE) {
    if (parser->token.type == TFX_TOKEN_END)
      return fail (parser, open, "this '(' is not closed");
    code = parse_argument (parser, call, &arguments);
    if (code < 0)
      return code;
    if (parser->token.type == TFX_TOKEN_COMMA) {
      const size_t behind = parser->token.offset + 1;

      code = refuse_thousands (parser, behind, tfx_parser_advance (parser));
    } else if (parser->token.type == TFX_TOKEN_OPERATOR ||
               parser->token.type == TFX_TOKEN_PLUS ||
               parser->token.type == TFX_TOKEN_MINUS)
      return fail (parser, parser->token.offset,
          "the chain language does not calculate; write the result");
    else if (parser->token.type == TFX_TOKEN_END)
      return fail (parser, open, "this '(' is not closed");
    else if (parser->token.type != TFX_TOKEN_CLOSE)
      return tfx_parser_fail_expected (parser, "',' or ')'");
  }
  if (code == 0)
    code = check_required (parser, call->klass, &arguments, class_offset);
  if (code < 0)
    return code;
  parser->depth--;
  return tfx_parser_advance (parser);
}
