/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arguments.c: the arguments of a call: values, and the parameter of each. */
#include "lexer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curve-text.h"
#include "error.h"

/* ---- values as they are written ---------------------------------------------------- */

/* A value; or a list after a word, as in ("kaiser", 8.6). */
typedef struct Written
{
  TfxValue value;
  TfxToken word; /* a name, which has no quotes, or a string; the end: none */
  size_t offset;
  size_t n_columns; /* a list of rows: the length of each; else 0 */
  size_t room;      /* of the list */
} Written;

static double
read_number (TfxLexer *lexer)
{
  double number, sign = 1.0;

  for (;;) {
    if (tfx_lexer_accept (lexer, TFX_TOKEN_MINUS))
      sign = -sign;
    else if (!tfx_lexer_accept (lexer, TFX_TOKEN_PLUS))
      break;
  }
  number = sign * lexer->token.number;
  if (!tfx_lexer_accept (lexer, TFX_TOKEN_NUMBER))
    tfx_lexer_fail_expected (lexer, "a number");
  return number;
}

/* True, False, None, or a class of TorchFX for a word. */
static void
read_word (TfxLexer *lexer, Written *written)
{
  TfxToken name;
  bool is_call;

  tfx_lexer_skip_prefix (lexer, &name);
  is_call = tfx_lexer_accept (lexer, TFX_TOKEN_OPEN);
  if (is_call && strcmp (name.string, "float") == 0 &&
      lexer->token.type == TFX_TOKEN_STRING &&
      strcmp (lexer->token.string, "inf") == 0) {
    name = lexer->token;
    tfx_lexer_next (lexer);
  }
  if (is_call && lexer->code == 0 &&
      !tfx_lexer_accept (lexer, TFX_TOKEN_CLOSE)) {
    if (tfx_hints_absent (name.string))
      tfx_lexer_place (lexer, name.offset,
          tfx_hints_refuse_class (name.string, lexer->error));
    else
      tfx_lexer_fail_expected (lexer, "')'");
  }
  if (lexer->code < 0)
    return;

  if (!is_call && strcmp (name.string, "None") == 0) {
    written->value.type = TFX_VALUE_NONE;
  } else if (!is_call && tfx_lexer_is_word (name.string, "True False")) {
    written->value.type = TFX_VALUE_BOOL;
    written->value.number = name.string[0] == 'T';
  } else if (tfx_lexer_is_word (name.string, "true false none")) {
    tfx_lexer_fail (lexer, name.offset, -EINVAL, "write %c%s, as in Python",
        name.string[0] - 'a' + 'A', name.string + 1);
  } else {
    written->value.type = TFX_VALUE_WORD;
    written->word = name;
    written->word.type = TFX_TOKEN_NAME;
  }
}

static void
read_list_number (TfxLexer *lexer, Written *written)
{
  const TfxTokenType type = lexer->token.type;
  const size_t offset = lexer->token.offset;
  TfxValue *list = &written->value;
  double number;

  if (type != TFX_TOKEN_NUMBER && type != TFX_TOKEN_MINUS &&
      type != TFX_TOKEN_PLUS) {
    tfx_lexer_fail_expected (lexer, "a number in the list");
    return;
  }
  number = read_number (lexer);
  if (list->n_list == TFX_EXPR_MAX_LIST)
    tfx_lexer_fail (lexer, offset, -E2BIG, "the list has more than %u numbers",
        TFX_EXPR_MAX_LIST);
  if (lexer->code == 0 && list->n_list == written->room) {
    const size_t room = written->room ? 2 * written->room : 8;
    double *numbers = realloc (list->list, room * sizeof *numbers);

    if (!numbers) {
      tfx_lexer_fail_no_memory (lexer);
      return;
    }
    list->list = numbers;
    written->room = room;
  }
  if (lexer->code == 0)
    list->list[list->n_list++] = number;
}

/* is_row: a list in the list, whose numbers are appended to those of earlier rows. */
static void
read_list (TfxLexer *lexer, Written *written, bool is_row)
{
  const TfxTokenType close = lexer->token.type == TFX_TOKEN_OPEN
                                 ? TFX_TOKEN_CLOSE
                                 : TFX_TOKEN_CLOSE_LIST;
  const size_t offset = lexer->token.offset, before = written->value.n_list;
  const TfxValue *list = &written->value;
  bool has_comma = false;

  written->value.type = TFX_VALUE_LIST;
  tfx_lexer_enter (lexer);
  while (lexer->code == 0 && lexer->token.type != close) {
    const TfxTokenType type = lexer->token.type;
    const bool is_first = list->n_list == 0 && !written->word.type;

    if (is_row) {
      read_list_number (lexer, written);
    } else if ((type == TFX_TOKEN_OPEN_LIST || type == TFX_TOKEN_OPEN) &&
               (written->n_columns || is_first)) {
      read_list (lexer, written, true);
    } else if (written->n_columns) {
      tfx_lexer_fail_expected (lexer, "a row in the list");
    } else if (type == TFX_TOKEN_STRING && is_first && lexer->token.string[0]) {
      written->word = lexer->token;
      tfx_lexer_next (lexer);
    } else {
      read_list_number (lexer, written);
    }
    if (!is_row && lexer->token.type == TFX_TOKEN_END)
      tfx_lexer_fail (lexer, offset, -EINVAL, "this bracket is not closed");
    has_comma = has_comma || lexer->token.type == TFX_TOKEN_COMMA;
    /* Over the comma between two items, or to the closing bracket. */
    if (!tfx_lexer_accept (lexer, TFX_TOKEN_COMMA) &&
        lexer->token.type != close)
      tfx_lexer_fail_expected (lexer,
          close == TFX_TOKEN_CLOSE ? "',' or ')'" : "',' or ']'");
  }
  if (is_row) {
    if (list->n_list == before)
      tfx_lexer_fail (lexer, offset, -EINVAL, "the row is empty");
    if (before == 0)
      written->n_columns = list->n_list;
    if (list->n_list - before != written->n_columns)
      tfx_lexer_fail (lexer, offset, -EINVAL,
          "the rows have different lengths");
  } else if (lexer->code == 0 && close == TFX_TOKEN_CLOSE && !has_comma &&
             !written->n_columns && (list->n_list == 1 || written->word.type)) {
    /* (5) and ('hann') are no tuples: a comma makes one. */
    const TfxValue single = list->n_list == 1
                                ? tfx_value_number (list->list[0])
                                : (TfxValue){ .type = TFX_VALUE_WORD };

    tfx_value_clear (&written->value);
    written->value = single;
  }
  lexer->depth--;
  tfx_lexer_next (lexer);
}

/* written->value may have a list even after an error. */
static void
read_value (TfxLexer *lexer, Written *written)
{
  memset (written, 0, sizeof *written);
  written->value.type = TFX_VALUE_NONE;
  written->offset = lexer->token.offset;
  switch (lexer->token.type) {
    case TFX_TOKEN_NUMBER:
    case TFX_TOKEN_MINUS:
    case TFX_TOKEN_PLUS:
      written->value.type = TFX_VALUE_NUMBER;
      written->value.number = read_number (lexer);
      break;
    case TFX_TOKEN_STRING:
      written->value.type = TFX_VALUE_WORD;
      written->word = lexer->token;
      tfx_lexer_next (lexer);
      break;
    case TFX_TOKEN_NAME:
      read_word (lexer, written);
      break;
    case TFX_TOKEN_OPEN_LIST:
    case TFX_TOKEN_OPEN:
      read_list (lexer, written, false);
      break;
    default:
      tfx_lexer_fail_expected (lexer, "a value");
  }
}

/* ---- thousands -------------------------------------------------------------------- */

/* Whether three digits at offset follow "," and one to three other digits that may
 * begin a number. */
static bool
is_thousands (const TfxLexer *lexer, size_t offset)
{
  const char *at = lexer->text + offset;
  size_t n = 0, n_before = 0;

  if (offset < 2 || at[-1] != ',')
    return false;
  while (n_before + 1 < offset &&
         tfx_lexer_is_digit (at[-2 - (ptrdiff_t)n_before]))
    n_before++;
  if (n_before < 1 || n_before > 3 ||
      (n_before + 1 < offset && at[-2 - (ptrdiff_t)n_before] == '.'))
    return false;
  while (offset + n < lexer->length && tfx_lexer_is_digit (at[n]))
    n++;
  return n == 3;
}

/* An error at offset may mean one number with a comma. */
static void
check_thousands (TfxLexer *lexer, size_t offset, bool *has_thousands)
{
  if (!is_thousands (lexer, offset))
    return;
  *has_thousands = true;
  if (lexer->code == 0)
    return;
  lexer->code = 0;
  tfx_lexer_fail (lexer, offset, -EINVAL,
      "',' separates two values; a large number is written 1000 or 1_000");
}

/* ---- the parameter of a value ----------------------------------------------------- */

/* What the arguments before give. */
typedef struct Arguments
{
  TfxNode *call;
  const TfxFileReader *files;
  bool given[TFX_CLASS_MAX_PARAMS];
  size_t offsets[TFX_CLASS_MAX_PARAMS];
  unsigned n_positional;
  bool has_keyword;
  TfxArgumentsChain read_chain;
  void *data; /* its argument */
} Arguments;

static void
refuse_param (TfxLexer *lexer, const TfxClass *klass, const TfxToken *name)
{
  const bool is_old_reverb = strcmp (klass->name, "Reverb") == 0 &&
                             tfx_lexer_is_word (name->string, "delay decay");
  const char *near = tfx_class_suggest_param (klass, name->string);
  char list[160] = "";
  size_t n = 0;

  for (unsigned i = 0; i < klass->n_params; i++)
    n += (size_t)snprintf (list + n, sizeof list - n, "%s%s", n ? ", " : "",
        klass->params[i].name);
  if (klass->chain_name)
    snprintf (list + n, sizeof list - n, ", %s", klass->chain_name);
  if (is_old_reverb)
    tfx_lexer_fail (lexer, name->offset, -EINVAL,
        "Reverb has no parameter '%s', only %s; the Reverb of TorchFX 0.6 is "
        "now Echo(delay, decay, mix)",
        name->string, list);
  else
    tfx_lexer_fail (lexer, name->offset, -EINVAL,
        "%s has no parameter '%s'; %s%s%s", klass->name, name->string,
        near ? "did you mean '" : "it has ", near ? near : list,
        near ? "'?" : "");
}

/* Whether a call begins here, not its name: "fx.filter.Gain(". */
static bool
is_call (TfxLexer lexer)
{
  TfxToken name;

  lexer.error = NULL;
  if (lexer.token.type != TFX_TOKEN_NAME)
    return false;
  tfx_lexer_skip_prefix (&lexer, &name);
  return lexer.token.type == TFX_TOKEN_OPEN;
}

/* Refuses the chain of a class as the value of another keyword: "key=(Notch(50))". */
static void
check_keyword (TfxLexer *lexer, const TfxClass *klass, const char *param)
{
  TfxLexer ahead = *lexer;

  ahead.error = NULL;
  while (ahead.token.type == TFX_TOKEN_OPEN)
    tfx_lexer_next (&ahead);
  if (klass->chain_name && is_call (ahead) &&
      !tfx_lexer_is_word (ahead.token.string, "float"))
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "%s of %s is no chain; write %s=%s(…)", param, klass->name,
        klass->chain_name, ahead.token.string);
}

/* The index of the parameter of the next argument; moves on over "name =". */
static unsigned
find_param (TfxLexer *lexer, Arguments *arguments)
{
  const TfxClass *klass = arguments->call->klass;
  const TfxToken name = lexer->token;
  unsigned index = arguments->n_positional;
  TfxLexer ahead = *lexer;
  int found;

  if (name.type == TFX_TOKEN_NAME)
    tfx_lexer_next (&ahead);
  if (name.type == TFX_TOKEN_NAME &&
      (ahead.code < 0 || ahead.token.type == TFX_TOKEN_EQUALS)) {
    *lexer = ahead;
    tfx_lexer_next (lexer);
    arguments->has_keyword = true;
    found = tfx_class_find_param (klass, name.string);
    if (found < 0)
      refuse_param (lexer, klass, &name);
    else if (arguments->given[found])
      tfx_lexer_fail (lexer, name.offset, -EINVAL, "%s of %s is given twice",
          name.string, klass->name);
    else
      check_keyword (lexer, klass, name.string);
    return found < 0 ? 0 : (unsigned)found;
  }
  if (arguments->has_keyword)
    tfx_lexer_fail (lexer, name.offset, -EINVAL,
        "a value without name= cannot follow one with name=");
  if (index >= klass->n_params ||
      (klass->params[index].flags & TFX_PARAM_KEYWORD)) {
    tfx_lexer_fail (lexer, name.offset, -EINVAL,
        "%s takes at most %u values without name=", klass->name, index);
    return 0;
  }
  arguments->n_positional++;
  return index;
}

/* ("kaiser", 8.6) for the window is the word and its beta. */
static void
set_tuple (TfxLexer *lexer, TfxNode *call, const TfxParam *param,
    Written *written)
{
  const TfxClass *klass = call->klass;
  TfxValue number;
  int second;

  if (!param->second)
    tfx_lexer_fail (lexer, written->offset, -EINVAL,
        "a list may contain numbers only");
  else if (written->value.n_list > 1)
    tfx_lexer_fail (lexer, written->offset, -EINVAL,
        "only one number may follow the string");
  if (lexer->code < 0)
    return;
  if (written->value.n_list == 1) {
    second = tfx_class_find_param (klass, param->second);
    number = tfx_value_number (written->value.list[0]);
    tfx_lexer_place (lexer, written->offset,
        tfx_value_fit (&number, &klass->params[second], klass->name,
            lexer->error));
    call->values[second] = number;
  }
  tfx_value_clear (&written->value);
  written->value.type = TFX_VALUE_WORD;
}

int
tfx_arguments_read_file (TfxValue *value, const TfxParam *param,
    const TfxFileReader *files, char why[TFX_FILE_WHY_SIZE])
{
  char *text, fault[TFX_FILE_WHY_SIZE];
  int code;

  if (param->n_columns == 0) {
    value->file = files->open_impulse (files->data, value->text, why);
    return value->file ? 0 : -ENOENT;
  }
  text = files->read_text (files->data, value->text, why);
  if (!text)
    return -ENOENT;
  code = tfx_curve_text_read (text, &value->list, &value->n_list, fault);
  free (text);
  if (code < 0)
    snprintf (why, TFX_FILE_WHY_SIZE, "the curve in '%s' cannot be used: %.*s",
        TFX_ERROR_QUOTE (80, value->text), TFX_FILE_WHY_SIZE - 120, fault);
  return code;
}

/* A string is the name of a file, which is read. */
static void
set_text (TfxLexer *lexer, const TfxParam *param, const Arguments *arguments,
    Written *written)
{
  const char *klass = arguments->call->klass->name;
  const TfxFileReader *files = arguments->files;
  TfxValue *value = &written->value;
  char why[TFX_FILE_WHY_SIZE];

  if (written->word.n_string == 0) {
    tfx_lexer_fail (lexer, written->offset, -EINVAL,
        "%s of %s: the name of the file is empty", param->name, klass);
    return;
  }
  value->text = tfx_lexer_copy_string (lexer, &written->word);
  if (!value->text)
    return;
  value->type = TFX_VALUE_TEXT;
  if (files && tfx_arguments_read_file (value, param, files, why) < 0)
    tfx_lexer_fail (lexer, written->offset, -ENOENT, "%s of %s: %s",
        param->name, klass, why);
}

/* Gives the value to the parameter, which takes its list over. */
static void
set_value (TfxLexer *lexer, const Arguments *arguments, unsigned index,
    Written *written)
{
  TfxNode *call = arguments->call;
  const char *klass = call->klass->name;
  const TfxParam *param = &call->klass->params[index];
  TfxValue *value = &written->value;
  const size_t offset = written->offset, n_columns = written->n_columns;
  const bool is_bare = written->word.type == TFX_TOKEN_NAME;
  const char *word = written->word.string;

  if (value->type == TFX_VALUE_LIST && written->word.type)
    set_tuple (lexer, call, param, written);
  if (value->type == TFX_VALUE_LIST && value->n_list == 0)
    tfx_lexer_fail (lexer, offset, -EINVAL, "the list is empty");
  value->n_columns = n_columns;
  if (n_columns != 0 && !(param->flags & TFX_PARAM_ROWS) &&
      n_columns != param->n_columns) {
    if (param->n_columns == 0)
      tfx_lexer_fail (lexer, offset, -EINVAL,
          "%s of %s is a plain list, without rows", param->name, klass);
    else
      tfx_lexer_fail (lexer, offset, -EINVAL,
          "%s of %s has rows of %zu numbers, but needs rows of %zu",
          param->name, klass, n_columns, param->n_columns);
  }
  if (is_bare && (param->flags & TFX_PARAM_INFINITE) &&
      strcmp (word, "inf") == 0)
    *value = tfx_value_number (param->maximum);
  else if (is_bare && (param->types & TFX_VALUE_TEXT))
    tfx_lexer_fail (lexer, offset, -EINVAL,
        "%s of %s: the name of a file must be in quotes: '%s'", param->name,
        klass, word);
  else if (is_bare && !(param->types & TFX_VALUE_WORD))
    tfx_lexer_fail (lexer, offset, -EINVAL,
        "%s of %s: '%s' is not a value (the chain language has no variables)",
        param->name, klass, word);
  if (lexer->code == 0 && (param->types & TFX_VALUE_TEXT) &&
      value->type == TFX_VALUE_WORD)
    set_text (lexer, param, arguments, written);
  else if (written->word.n_string > TFX_EXPR_MAX_NAME)
    tfx_lexer_fail (lexer, offset, -E2BIG, "the string is longer than %u bytes",
        TFX_EXPR_MAX_NAME);
  if (lexer->code == 0) {
    if (value->type == TFX_VALUE_WORD)
      tfx_value_set_word (value, word);
    tfx_lexer_place (lexer, offset,
        tfx_value_fit (value, param, klass, lexer->error));
  }
  if (lexer->code < 0) {
    tfx_value_clear (value);
    return;
  }
  tfx_value_clear (&call->values[index]);
  call->values[index] = *value;
}

/* Refuses a value and the token after it for a likely slip. */
static void
check_argument (TfxLexer *lexer, const Arguments *arguments, unsigned index,
    const Written *written)
{
  const TfxNode *call = arguments->call;
  const TfxClass *klass = call->klass;
  const TfxToken *token = &lexer->token;
  const int btype = tfx_class_find_param (klass, "btype");
  const int cutoff = tfx_class_find_param (klass, "cutoff");
  const double number = written->value.number;

  if (written->word.type == TFX_TOKEN_NAME &&
      tfx_class_find_param (klass, written->word.string) >= 0 &&
      tfx_lexer_is_mark (lexer, ':'))
    tfx_lexer_fail (lexer, token->offset, -EINVAL,
        "a parameter and its value are joined by '=': %s=…",
        written->word.string);
  if (written->value.type != TFX_VALUE_NUMBER)
    return;
  if (token->type == TFX_TOKEN_NAME)
    tfx_lexer_fail (lexer, token->offset, -EINVAL, "'%s' after a number: %s",
        token->string, TFX_LEXER_NO_UNIT);
  /* Butterworth('bandpass', 500, 2000): the second edge is not the order. */
  if (btype >= 0 && cutoff >= 0 && (int)index == cutoff + 1 &&
      !arguments->has_keyword &&
      call->values[cutoff].type == TFX_VALUE_NUMBER &&
      number > call->values[cutoff].number &&
      strncmp (call->values[btype].word, "band", 4) == 0)
    tfx_lexer_fail (lexer, arguments->offsets[cutoff], -EINVAL,
        "cutoff of %s is a list of two frequencies, as btype is '%s': write "
        "[%s, %s]",
        klass->name, call->values[btype].word,
        TFX_NUMBER_TEXT (call->values[cutoff].number),
        TFX_NUMBER_TEXT (number));
}

/* ---- chains ------------------------------------------------------------------------ */

/* Whether the next argument is a chain: the values before the chains are there, and this
 * is no "parameter=value". */
static bool
is_chain (TfxLexer *lexer, const Arguments *arguments)
{
  const TfxClass *klass = arguments->call->klass;
  TfxLexer ahead = *lexer;

  ahead.error = NULL;
  if (klass->max_chains == 0)
    return false;
  if (klass->chain_name) {
    if (is_call (*lexer) && !tfx_lexer_is_word (ahead.token.string, "float"))
      tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
          "a chain in %s needs its name: write %s=%s(…)", klass->name,
          klass->chain_name, ahead.token.string);
    tfx_lexer_next (&ahead);
    return lexer->token.type == TFX_TOKEN_NAME &&
           strcmp (lexer->token.string, klass->chain_name) == 0 &&
           ahead.token.type == TFX_TOKEN_EQUALS;
  }
  for (unsigned i = 0; i < klass->n_positional; i++) {
    if (!arguments->given[i] && is_call (*lexer))
      tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
          "%s of %s comes before its chains, for example %s",
          klass->params[i].name, klass->name, klass->example);
    if (!arguments->given[i])
      return false;
  }
  if (ahead.token.type == TFX_TOKEN_NAME)
    tfx_lexer_next (&ahead);
  if (ahead.token.type != TFX_TOKEN_EQUALS)
    return true;
  tfx_lexer_next (&ahead);
  return is_call (ahead) &&
         tfx_class_find_param (klass, lexer->token.string) < 0;
}

/* "None" is the empty chain, or no chain if it has a keyword. */
static void
read_chain (TfxLexer *lexer, Arguments *arguments)
{
  TfxNode *call = arguments->call, *chain;
  const TfxClass *klass = call->klass;

  if (klass->chain_name && call->n_children > 0)
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "%s of %s is given twice", klass->chain_name, klass->name);
  else if (call->n_children == klass->max_chains)
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "%s takes at most %u chain%s", klass->name, klass->max_chains,
        klass->max_chains == 1 ? "" : "s");
  if (klass->chain_name) {
    arguments->has_keyword = true;
    tfx_lexer_next (lexer);
    tfx_lexer_next (lexer);
  }
  if (lexer->token.type == TFX_TOKEN_NAME &&
      strcmp (lexer->token.string, "None") == 0) {
    tfx_lexer_next (lexer);
    if (klass->chain_name)
      return;
    chain = tfx_node_new (TFX_NODE_SERIES, NULL);
    if (!chain)
      tfx_lexer_fail_no_memory (lexer);
  } else {
    chain = arguments->read_chain (arguments->data);
  }
  if (chain && tfx_node_add (call, chain) < 0)
    tfx_lexer_fail_no_memory (lexer);
}

/* ---- the arguments ----------------------------------------------------------------- */

/* FIR(room.wav): a text that is no number, without other marks of the language. */
void
tfx_arguments_check_file_name (TfxLexer *lexer, const char *klass,
    const char *param)
{
  const char *text = lexer->text;
  const size_t length = lexer->length, n = strlen (param);
  size_t at = lexer->token.offset + 1, end;
  char name[80];
  double number;

  while (at < length && text[at] == ' ')
    at++;
  if (length - at > n && memcmp (text + at, param, n) == 0 &&
      (text[at + n] == '=' || text[at + n] == ' ')) {
    at += n;
    while (at < length && (text[at] == '=' || text[at] == ' '))
      at++;
  }
  end = at;
  while (end < length && !strchr (",)([]'\"=|\n", text[end]))
    end++;
  if (end == at || end == length || !strchr (",)", text[end]))
    return;
  while (text[end - 1] == ' ')
    end--;
  tfx_error_quote (name, sizeof name, text + at, end - at);
  if (strpbrk (name, "./\\") && !tfx_number_parse (name, &number))
    tfx_lexer_fail (lexer, at, -EINVAL,
        "the name of a file must be in quotes: %s('%s')", klass, name);
}

static void
check_required (TfxLexer *lexer, const Arguments *arguments,
    const TfxToken *name)
{
  const TfxClass *klass = arguments->call->klass;
  const bool is_alias = strcmp (name->string, klass->name) != 0;
  char missing[120] = "";
  size_t n = 0;

  for (unsigned i = 0; i < klass->n_params; i++) {
    if ((klass->params[i].flags & TFX_PARAM_REQUIRED) && !arguments->given[i])
      n += (size_t)snprintf (missing + n, sizeof missing - n, "%s%s",
          n ? ", " : "", klass->params[i].name);
  }
  if (n > 0)
    tfx_lexer_fail (lexer, name->offset, -EINVAL,
        "%s%s%s%s needs %s, for example %s", is_alias ? name->string : "",
        is_alias ? " is " : "", klass->name, is_alias ? ", which" : "", missing,
        klass->example);
  else if (arguments->call->n_children < klass->min_chains)
    tfx_lexer_fail (lexer, name->offset, -EINVAL,
        "%s needs %u chain%s%s, but has %zu; for example %s", klass->name,
        klass->min_chains, klass->min_chains == 1 ? "" : "s",
        klass->min_chains < klass->max_chains ? " or more" : "",
        arguments->call->n_children, klass->example);
}

void
tfx_arguments_read (TfxLexer *lexer, TfxNode *call, const TfxToken *name,
    const TfxFileReader *files, TfxArgumentsChain chain, void *data,
    bool *has_thousands)
{
  const TfxParam *first = &call->klass->params[0];
  const size_t open = lexer->token.offset;
  Arguments arguments = { .call = call,
    .files = files,
    .read_chain = chain,
    .data = data };
  TfxToken *token = &lexer->token;

  *has_thousands = false;
  if (first->types & TFX_VALUE_TEXT)
    tfx_arguments_check_file_name (lexer, call->klass->name, first->name);
  tfx_lexer_enter (lexer);
  while (lexer->code == 0 && token->type != TFX_TOKEN_CLOSE &&
         token->type != TFX_TOKEN_END) {
    const size_t offset = token->offset;
    const bool is_value = !is_chain (lexer, &arguments);
    const unsigned index = is_value ? find_param (lexer, &arguments) : 0;

    if (lexer->code == 0 && !is_value) {
      read_chain (lexer, &arguments);
    } else if (lexer->code == 0) {
      Written written;

      arguments.offsets[index] = token->offset;
      read_value (lexer, &written);
      if (lexer->code == 0)
        check_argument (lexer, &arguments, index, &written);
      if (lexer->code < 0) {
        tfx_value_clear (&written.value);
        return;
      }
      arguments.given[index] = true;
      set_value (lexer, &arguments, index, &written);
    }
    check_thousands (lexer, offset, has_thousands);
    if (token->type == TFX_TOKEN_COMMA) {
      const size_t behind = token->offset + 1;

      tfx_lexer_next (lexer);
      check_thousands (lexer, behind, has_thousands);
    } else if (token->type == TFX_TOKEN_PLUS ||
               token->type == TFX_TOKEN_MINUS ||
               (token->type == TFX_TOKEN_OPERATOR &&
                   strchr ("*/%&^~", lexer->text[token->offset]))) {
      tfx_lexer_fail (lexer, token->offset, -EINVAL,
          "the chain language has no arithmetic; write the result");
    } else if (token->type != TFX_TOKEN_CLOSE && token->type != TFX_TOKEN_END) {
      tfx_lexer_fail_expected (lexer, "',' or ')'");
    }
  }
  if (token->type == TFX_TOKEN_END)
    tfx_lexer_fail (lexer, open, -EINVAL, "this '(' is not closed");
  if (lexer->code == 0)
    check_required (lexer, &arguments, name);
  lexer->depth--;
  tfx_lexer_next (lexer);
}
