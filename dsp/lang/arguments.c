/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arguments.c: the arguments of a call: which parameter each value is. */
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "absent.h"
#include "error.h"
#include "number.h"
#include "suggest.h"
#include "value.h"
#include "written.h"

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
    return tfx_parser_fail (parser, name->offset, -EINVAL,
        "%s has no parameter '%s', only %s; %s", klass->name, name->string,
        list, gone);
  if (near.best)
    return tfx_parser_fail (parser, name->offset, -EINVAL,
        "%s has no parameter '%s'; did you mean '%s'?", klass->name,
        name->string, near.best);
  return tfx_parser_fail (parser, name->offset, -EINVAL,
      "%s has no parameter '%s'; it has %s", klass->name, name->string, list);
}

/* A tuple that begins with a word: ("kaiser", 8.6) for the window is the word
 * and its beta. */
static int
set_tuple (TfxParser *parser, TfxNode *call, unsigned index,
    TfxWritten *written)
{
  const TfxParam *param = &call->klass->params[index], *second;
  TfxValue number;
  int second_index, code;

  if (!param->second)
    return tfx_parser_fail (parser, written->offset, -EINVAL,
        "a list may contain numbers only");
  if (written->value.n_list > 1)
    return tfx_parser_fail (parser, written->offset, -EINVAL,
        "only one number may follow the string");
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
is_string (const TfxWritten *written)
{
  return written->value.type == TFX_VALUE_WORD && !written->is_bare;
}

/* A string is the name of a file; the impulse response in it is read. */
static int
set_text (TfxParser *parser, const TfxParam *param, const TfxClass *klass,
    const TfxWritten *written, TfxValue *value)
{
  const TfxFileReader *reader = parser->reader;
  char why[TFX_FILE_WHY_SIZE];

  if (written->string.n_string == 0)
    return tfx_parser_fail (parser, written->offset, -EINVAL,
        "%s of %s: the name of the file is empty", param->name, klass->name);
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
  return tfx_parser_fail (parser, written->offset, -ENOENT, "%s of %s: %s",
      param->name, klass->name, why);
}

/* Gives the value to the parameter; takes its list over. */
static int
set_value (TfxParser *parser, TfxNode *call, unsigned index,
    TfxWritten *written)
{
  const TfxParam *param = &call->klass->params[index];
  TfxValue *value = &written->value;
  int code = 0;

  if (value->type == TFX_VALUE_LIST && written->word[0])
    code = set_tuple (parser, call, index, written);
  if (code == 0 && value->type == TFX_VALUE_LIST && value->n_list == 0)
    code =
        tfx_parser_fail (parser, written->offset, -EINVAL, "the list is empty");
  value->n_columns = written->n_columns;
  if (code == 0 && written->n_columns != 0 &&
      !(param->flags & TFX_PARAM_ROWS) &&
      written->n_columns != param->n_columns) {
    if (param->n_columns == 0)
      code = tfx_parser_fail (parser, written->offset, -EINVAL,
          "%s of %s is a plain list, without rows", param->name,
          call->klass->name);
    else
      code = tfx_parser_fail (parser, written->offset, -EINVAL,
          "%s of %s has rows of %zu numbers, but needs rows of %zu",
          param->name, call->klass->name, written->n_columns, param->n_columns);
  }
  if (written->is_bare && (param->flags & TFX_PARAM_INFINITE) &&
      strcmp (written->word, "inf") == 0) {
    *value = tfx_value_number (param->maximum);
    written->is_bare = false;
  }
  if (code == 0 && written->is_bare && (param->types & TFX_VALUE_TEXT))
    code = tfx_parser_fail (parser, written->offset, -EINVAL,
        "%s of %s: the name of a file must be in quotes: '%s'", param->name,
        call->klass->name, written->word);
  else if (code == 0 && written->is_bare && !(param->types & TFX_VALUE_WORD))
    code = tfx_parser_fail (parser, written->offset, -EINVAL,
        "%s of %s: '%s' is not a value (the chain language has no variables)",
        param->name, call->klass->name, written->word);
  if (code == 0 && (param->types & TFX_VALUE_TEXT) && is_string (written))
    code = set_text (parser, param, call->klass, written, value);
  else if (code == 0 && written->string.n_string > TFX_EXPR_MAX_NAME)
    code = tfx_parser_fail (parser, written->offset, -E2BIG,
        "the string is longer than %u bytes", TFX_EXPR_MAX_NAME);
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
  size_t offsets[TFX_CLASS_MAX_PARAMS];
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
    if (arguments->given[index])
      return tfx_parser_fail (parser, name.offset, -EINVAL,
          "%s of %s is given twice", name.string, klass->name);
    return index;
  }
  if (arguments->has_keyword)
    return tfx_parser_fail (parser, name.offset, -EINVAL,
        "a value without name= cannot follow one with name=");
  index = (int)arguments->n_positional;
  if ((unsigned)index >= klass->n_params ||
      (klass->params[index].flags & TFX_PARAM_KEYWORD))
    return tfx_parser_fail (parser, name.offset, -EINVAL,
        "%s takes at most %d values without name=", klass->name, index);
  arguments->n_positional++;
  return index;
}

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

/* Whether three digits stand at offset and ",", right after one to three others that
 * may begin a number, in front of them. */
static bool
is_thousands (const TfxParser *parser, size_t offset)
{
  const TfxLexer *lexer = &parser->lexer;
  const char *at = lexer->text + offset;
  size_t n = 0, n_front = 0;

  if (offset < 2 || at[-1] != ',')
    return false;
  while (n_front + 1 < offset && is_digit (at[-2 - (ptrdiff_t)n_front]))
    n_front++;
  if (n_front < 1 || n_front > 3 ||
      (n_front + 1 < offset && at[-2 - (ptrdiff_t)n_front] == '.'))
    return false;
  while (offset + n < lexer->length && is_digit (at[n]))
    n++;
  return n == 3;
}

/* What stands wrong at offset may be meant to belong to the number in front. */
static int
refuse_thousands (TfxParser *parser, size_t offset, int code)
{
  if (!is_thousands (parser, offset))
    return code;
  if (code == 0) {
    parser->has_thousands = true;
    return 0;
  }
  return tfx_parser_fail (parser, offset, -EINVAL,
      "',' separates two values; a large number is written 1000 or 1_000");
}

/* What is behind a value, and should not be. */
static int
check_behind_value (TfxParser *parser, const TfxNode *call,
    const TfxWritten *written)
{
  const TfxToken *token = &parser->token;
  const char *text = parser->lexer.text;

  if (written->is_bare &&
      tfx_class_find_param (call->klass, written->word) >= 0 &&
      token->type == TFX_TOKEN_OPERATOR && text[token->offset] == ':')
    return tfx_parser_fail (parser, token->offset, -EINVAL,
        "a parameter and its value are joined by '=': %s=…", written->word);
  if (written->value.type == TFX_VALUE_NUMBER && token->type == TFX_TOKEN_NAME)
    return tfx_parser_fail (parser, token->offset, -EINVAL,
        "'%s' after a number: %s", token->string, TFX_LEXER_NO_UNIT);
  return 0;
}

/* Butterworth('bandpass', 500, 2000): the second edge is not the order. */
static int
check_band (TfxParser *parser, const TfxNode *call, const Arguments *arguments,
    int index, const TfxValue *value)
{
  const TfxClass *klass = call->klass;
  const int btype = tfx_class_find_param (klass, "btype");
  const int cutoff = tfx_class_find_param (klass, "cutoff");
  char lower[TFX_NUMBER_SIZE], upper[TFX_NUMBER_SIZE];

  if (btype < 0 || cutoff < 0 || index != cutoff + 1 ||
      arguments->has_keyword || value->type != TFX_VALUE_NUMBER ||
      call->values[cutoff].type != TFX_VALUE_NUMBER ||
      value->number <= call->values[cutoff].number ||
      strncmp (call->values[btype].word, "band", 4) != 0)
    return 0;
  tfx_number_print (call->values[cutoff].number, lower);
  tfx_number_print (value->number, upper);
  return tfx_parser_fail (parser, arguments->offsets[cutoff], -EINVAL,
      "cutoff of %s is a list of two frequencies, as btype is '%s': write "
      "[%s, %s]",
      klass->name, call->values[btype].word, lower, upper);
}

static int
parse_argument (TfxParser *parser, TfxNode *call, Arguments *arguments)
{
  const size_t offset = parser->token.offset;
  TfxWritten written;
  int code, index = find_target (parser, call->klass, arguments);

  if (index < 0)
    return refuse_thousands (parser, offset, index);
  arguments->offsets[index] = parser->token.offset;
  code = tfx_written_parse (parser, &written);
  if (code == 0)
    code = check_behind_value (parser, call, &written);
  if (code == 0)
    code = check_band (parser, call, arguments, index, &written.value);
  if (code < 0) {
    tfx_value_clear (&written.value);
    return code;
  }
  arguments->given[index] = true;
  code = set_value (parser, call, (unsigned)index, &written);
  return refuse_thousands (parser, offset, code);
}

/* FIR(room.wav): the name of a file must be in quotes.  It is no number and has no
 * other marks of the language in it. */
int
tfx_arguments_check_file_name (TfxParser *parser, const char *klass,
    const char *param)
{
  const TfxLexer *lexer = &parser->lexer;
  size_t at = parser->token.offset + 1, end, n = strlen (param);
  char name[80];
  double number;

  while (at < lexer->length && lexer->text[at] == ' ')
    at++;
  if (lexer->length - at > n && memcmp (lexer->text + at, param, n) == 0 &&
      (lexer->text[at + n] == '=' || lexer->text[at + n] == ' ')) {
    at += n;
    while (at < lexer->length &&
           (lexer->text[at] == '=' || lexer->text[at] == ' '))
      at++;
  }
  end = at;
  while (end < lexer->length && !strchr (",)([]'\"=|\n", lexer->text[end]))
    end++;
  if (end == at || end == lexer->length || !strchr (",)", lexer->text[end]))
    return 0;
  while (lexer->text[end - 1] == ' ')
    end--;
  tfx_error_quote (name, sizeof name, lexer->text + at, end - at);
  if (!strpbrk (name, "./\\") || tfx_number_parse (name, &number))
    return 0;
  return tfx_parser_fail (parser, at, -EINVAL,
      "the name of a file must be in quotes: %s('%s')", klass, name);
}

static int
check_required (TfxParser *parser, const TfxClass *klass,
    const Arguments *arguments, const TfxToken *name)
{
  const bool is_alias = strcmp (name->string, klass->name) != 0;
  char missing[120] = "";
  size_t n = 0;

  for (unsigned i = 0; i < klass->n_params; i++) {
    if ((klass->params[i].flags & TFX_PARAM_REQUIRED) && !arguments->given[i])
      n += (size_t)snprintf (missing + n, sizeof missing - n, "%s%s",
          n ? ", " : "", klass->params[i].name);
  }
  if (n == 0)
    return 0;
  return tfx_parser_fail (parser, name->offset, -EINVAL,
      "%s%s%s%s needs %s, for example %s", is_alias ? name->string : "",
      is_alias ? " is " : "", klass->name, is_alias ? ", which" : "", missing,
      klass->example);
}

static bool
is_arithmetic (const TfxParser *parser)
{
  return parser->token.type == TFX_TOKEN_OPERATOR &&
         strchr ("*/%&^~", parser->lexer.text[parser->token.offset]);
}

int
tfx_arguments_parse (TfxParser *parser, TfxNode *call, const TfxToken *name)
{
  Arguments arguments = { 0 };
  size_t open = parser->token.offset;
  int code = tfx_parser_enter (parser);

  parser->has_thousands = false;
  if (code == 0 && (call->klass->params[0].types & TFX_VALUE_TEXT))
    code = tfx_arguments_check_file_name (parser, call->klass->name,
        call->klass->params[0].name);
  if (code == 0)
    code = tfx_parser_advance (parser);
  while (code == 0 && parser->token.type != TFX_TOKEN_CLOSE) {
    if (parser->token.type == TFX_TOKEN_END)
      return tfx_parser_fail (parser, open, -EINVAL, "this '(' is not closed");
    code = parse_argument (parser, call, &arguments);
    if (code < 0)
      return code;
    if (parser->token.type == TFX_TOKEN_COMMA) {
      const size_t behind = parser->token.offset + 1;

      code = refuse_thousands (parser, behind, tfx_parser_advance (parser));
    } else if (is_arithmetic (parser) || parser->token.type == TFX_TOKEN_PLUS ||
               parser->token.type == TFX_TOKEN_MINUS)
      return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
          "the chain language has no arithmetic; write the result");
    else if (parser->token.type == TFX_TOKEN_END)
      return tfx_parser_fail (parser, open, -EINVAL, "this '(' is not closed");
    else if (parser->token.type != TFX_TOKEN_CLOSE)
      return tfx_parser_fail_expected (parser, "',' or ')'");
  }
  if (code == 0)
    code = check_required (parser, call->klass, &arguments, name);
  if (code < 0)
    return code;
  parser->depth--;
  return tfx_parser_advance (parser);
}
