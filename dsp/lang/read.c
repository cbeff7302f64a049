/* SPDX-License-Identifier: LGPL-2.1-or-later
 * read.c: a text as an expression, by recursive descent.
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
 *   arg      = [ name "=" ] value | group | "None"
 *   value    = [ sign ] number | string | "True" | "False" | "None" | word
 *            | "[" [ value { "," value } [ "," ] ] "]" | "(" the same ")"
 *   word     = { name "." } name [ "(" ")" ]
 *
 * FilterSettings(file) is replaced by the calls in the file.
 *
 * After the first error all tokens are the end, so the functions return what there
 * is, and only the last one looks at it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lexer.h"
#include "class.h"
#include "core/positions.h"
#include "error.h"

typedef struct Reader
{
  TfxLexer lexer;
  const TfxFileReader *files; /* or NULL */
  size_t
      file_offset; /* the place of the name of the file that is read; 0: none */
  unsigned n_stages;
  size_t n_names;
  const char *names[TFX_EXPR_MAX_STAGES]; /* the given ones, in the nodes */
} Reader;

/* Each returns a node, or NULL or a part of it after an error. */
static TfxNode *read_series (Reader *reader);
static TfxNode *read_group (Reader *reader);

static TfxNode *
new_group (Reader *reader, TfxNodeKind kind)
{
  TfxNode *group = tfx_node_new (kind, NULL);

  if (!group)
    tfx_lexer_fail_no_memory (&reader->lexer);
  return group;
}

/* Adds the child, which it takes over; both may be NULL. */
static void
add_child (Reader *reader, TfxNode *group, TfxNode *child)
{
  if (!group)
    tfx_node_free (child);
  else if (child && tfx_node_add (group, child) < 0)
    tfx_lexer_fail_no_memory (&reader->lexer);
}

/* ---- channels ------------------------------------------------------------------- */

/* A bit for each. */
typedef struct Channels
{
  uint64_t numbers, positions;
} Channels;

/* Whether "ch[" begins here. */
static bool
is_channels (const TfxLexer *lexer)
{
  TfxLexer ahead = *lexer;

  if (lexer->token.type != TFX_TOKEN_NAME ||
      strcmp (lexer->token.string, "ch") != 0)
    return false;
  ahead.error = NULL;
  tfx_lexer_next (&ahead);
  return ahead.token.type == TFX_TOKEN_OPEN_LIST;
}

/* Adds a channel to a set; name: of a position, or NULL. */
static void
take_channel (TfxLexer *lexer, size_t offset, uint64_t *set, uint64_t *taken,
    unsigned bit, const char *name)
{
  const uint64_t one = (uint64_t)1 << bit;

  if (*taken & one)
    tfx_lexer_fail (lexer, offset, -EINVAL,
        "channel %s already has a chain; write its stages in one chain",
        name ? name : TFX_NUMBER_TEXT (bit));
  *set |= one;
  *taken |= one;
}

static unsigned
read_channel_number (TfxLexer *lexer, unsigned most)
{
  const TfxToken *token = &lexer->token;
  const double number = token->number;

  if (token->type != TFX_TOKEN_NUMBER)
    tfx_lexer_fail_expected (lexer,
        "the number of a channel, counted from 0, or its position, such as "
        "LFE");
  else if (!(number >= 0.0 && number <= most) || number != (unsigned)number)
    tfx_lexer_fail (lexer, token->offset, -ERANGE,
        "a channel is a whole number from 0 to %u", most);
  tfx_lexer_next (lexer);
  return lexer->code < 0 ? 0 : (unsigned)number;
}

/* "ch[0, 2:4, LFE]:", without the channels that earlier parts have taken. */
static Channels
read_channels (TfxLexer *lexer, Channels *taken)
{
  const TfxToken *token = &lexer->token;
  Channels channels = { 0 };

  tfx_lexer_next (lexer);
  do {
    int position = -1;

    tfx_lexer_next (lexer);
    if (token->type == TFX_TOKEN_NAME)
      position = tfx_position_find (token->string);
    if (position >= 0) {
      take_channel (lexer, token->offset, &channels.positions,
          &taken->positions, (unsigned)position,
          tfx_position_name ((unsigned)position));
      tfx_lexer_next (lexer);
    } else {
      const size_t offset = token->offset;
      const unsigned first =
          read_channel_number (lexer, TFX_EXPR_MAX_CHANNELS - 1);
      unsigned end = first + 1;

      if (tfx_lexer_is_mark (lexer, ':')) {
        tfx_lexer_next (lexer);
        end = read_channel_number (lexer, TFX_EXPR_MAX_CHANNELS);
        if (end <= first)
          tfx_lexer_fail (lexer, offset, -ERANGE,
              "%u:%u has no channels; the second number is the first channel "
              "after the range",
              first, end);
      }
      for (unsigned c = first; c < end && lexer->code == 0; c++)
        take_channel (lexer, offset, &channels.numbers, &taken->numbers, c,
            NULL);
    }
    if (token->type != TFX_TOKEN_COMMA && token->type != TFX_TOKEN_CLOSE_LIST)
      tfx_lexer_fail_expected (lexer, "',' or ']'");
  } while (token->type == TFX_TOKEN_COMMA);
  tfx_lexer_next (lexer);
  if (!tfx_lexer_is_mark (lexer, ':'))
    tfx_lexer_fail_expected (lexer, "':' after ch[…]");
  tfx_lexer_next (lexer);
  return channels;
}

/* The chain of some channels becomes a child of the split. */
static TfxNode *
read_split (Reader *reader)
{
  TfxLexer *lexer = &reader->lexer;
  TfxNode *split = new_group (reader, TFX_NODE_SPLIT), *child;
  Channels taken = { 0 }, channels;

  do {
    const size_t offset = lexer->token.offset;

    if (!is_channels (lexer)) {
      if (lexer->token.type == TFX_TOKEN_NAME)
        tfx_lexer_place (lexer, offset,
            tfx_hints_refuse_text (lexer->text + offset, lexer->length - offset,
                lexer->error));
      tfx_lexer_fail_expected (lexer, "ch[…]: after ';'");
      break;
    }
    channels = read_channels (lexer, &taken);
    child = read_series (reader);
    if (child) {
      child->channels = channels.numbers;
      child->positions = channels.positions;
      child->channels_place = offset + 1;
    }
    add_child (reader, split, child);
    if (!tfx_lexer_is_mark (lexer, ';'))
      break;
    tfx_lexer_next (lexer);
  } while (lexer->token.type != TFX_TOKEN_END &&
           lexer->token.type != TFX_TOKEN_CLOSE);
  return split;
}

/* ---- calls in a file ------------------------------------------------------------- */

static void
fail_settings (TfxLexer *lexer, size_t offset, const char *message)
{
  char kept[TFX_FILE_WHY_SIZE];

  strcpy (kept, message);
  tfx_lexer_fail (lexer, offset, -EINVAL, "FilterSettings: %s", kept);
}

/* The series in the file with the name in the current token.  An error there has the
 * place of the name: the user has not written the text. */
static TfxNode *
read_file (Reader *reader)
{
  TfxLexer *lexer = &reader->lexer, kept = *lexer;
  const TfxFileReader *files = reader->files;
  const size_t offset = lexer->token.offset;
  char why[TFX_FILE_WHY_SIZE], *name, *text;
  TfxNode *node;
  int code;

  if (!files) {
    fail_settings (lexer, offset, "files cannot be read here");
    return NULL;
  }
  name = tfx_lexer_copy_string (lexer, &lexer->token);
  if (!name)
    return NULL;
  text = files->read_settings (files->data, name, why);
  free (name);
  if (!text) {
    fail_settings (lexer, offset, why);
    return NULL;
  }
  tfx_lexer_init (lexer, text, strlen (text), kept.error);
  lexer->depth = kept.depth;
  reader->file_offset = offset;
  node = read_series (reader);
  reader->file_offset = 0;
  code = lexer->code;
  *lexer = kept;
  free (text);
  if (code == -ENOMEM)
    tfx_lexer_fail_no_memory (lexer);
  else if (code < 0)
    fail_settings (lexer, offset, lexer->error->message);
  return node;
}

/* "(file)", or with the name of the parameter.  name: of the stage, empty if it has
 * none. */
static TfxNode *
read_settings (Reader *reader, const TfxToken *name)
{
  TfxLexer *lexer = &reader->lexer;
  TfxNode *node = NULL;

  if (lexer->token.type != TFX_TOKEN_OPEN)
    tfx_lexer_fail_expected (lexer, "'(' after FilterSettings");
  else
    tfx_arguments_check_file_name (lexer, "FilterSettings", "location");
  tfx_lexer_next (lexer);
  if (name->string[0])
    fail_settings (lexer, name->offset,
        "it cannot have a name, since it is replaced by the stages in the "
        "file");
  if (lexer->token.type == TFX_TOKEN_NAME &&
      strcmp (lexer->token.string, "location") == 0) {
    tfx_lexer_next (lexer);
    if (!tfx_lexer_accept (lexer, TFX_TOKEN_EQUALS))
      tfx_lexer_fail_expected (lexer, "'=' after location");
  }
  if (lexer->token.type != TFX_TOKEN_STRING || lexer->token.n_string == 0)
    tfx_lexer_fail_expected (lexer,
        "the name of a file in quotes, such as 'rew.txt'");
  else
    node = read_file (reader);
  tfx_lexer_next (lexer);
  if (!tfx_lexer_accept (lexer, TFX_TOKEN_CLOSE))
    tfx_lexer_fail_expected (lexer, "')'");
  return node;
}

/* ---- calls ----------------------------------------------------------------------- */

/* Whether a name with '-' and "=" are here: my-eq=… */
static bool
is_name_with_dash (const TfxLexer *lexer)
{
  size_t i = lexer->token.offset;

  if (lexer->token.type != TFX_TOKEN_MINUS)
    return false;
  while (
      i < lexer->length && (tfx_lexer_is_letter (lexer->text[i]) ||
                               tfx_lexer_is_digit (lexer->text[i]) ||
                               lexer->text[i] == '-' || lexer->text[i] == ' '))
    i++;
  return i < lexer->length && lexer->text[i] == '=';
}

/* Gives the node its name. */
static void
keep_name (Reader *reader, TfxNode *node, const TfxToken *name)
{
  for (size_t i = 0; i < reader->n_names; i++) {
    if (strcmp (reader->names[i], name->string) == 0)
      tfx_lexer_fail (&reader->lexer, name->offset, -EINVAL,
          "two stages have the name '%s'", name->string);
  }
  strcpy (node->name, name->string);
  node->is_named = true;
  reader->names[reader->n_names++] = node->name;
}

/* Reads the name of the stage, if there is one, and of its class. */
static void
read_head (TfxLexer *lexer, TfxToken *name, TfxToken *klass)
{
  const size_t offset = lexer->token.offset;
  TfxLexer ahead = *lexer;

  name->string[0] = '\0';
  ahead.error = NULL;
  tfx_lexer_next (&ahead);
  if (ahead.token.type == TFX_TOKEN_EQUALS) {
    *name = lexer->token;
    tfx_lexer_next (lexer);
    if (tfx_lexer_is_word (name->string, "True False None"))
      tfx_lexer_fail (lexer, offset, -EINVAL, "a stage cannot be named %s",
          name->string);
    tfx_lexer_next (lexer);
    if (lexer->token.type != TFX_TOKEN_NAME)
      tfx_lexer_fail_expected (lexer,
          "the class of the named stage, such as LoButterworth");
  }
  tfx_lexer_skip_prefix (lexer, klass);
  if (lexer->token.type == TFX_TOKEN_EQUALS)
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "a stage has one name, without '.'");
}

/* A TfxArgumentsChain; data: Reader. */
static TfxNode *
read_argument (void *data)
{
  return read_group (data);
}

static TfxNode *
read_call (Reader *reader)
{
  TfxLexer *lexer = &reader->lexer;
  const size_t offset = lexer->token.offset;
  char kept[sizeof lexer->error->message];
  TfxToken name, head;
  const TfxClass *klass;
  bool has_thousands;
  TfxNode *node;
  int code;

  tfx_lexer_place (lexer, offset,
      tfx_hints_refuse_text (lexer->text + offset, lexer->length - offset,
          lexer->error));
  read_head (lexer, &name, &head);
  if (lexer->code < 0)
    return NULL;
  if (strcmp (head.string, "FilterSettings") == 0)
    return read_settings (reader, &name);
  klass = tfx_catalogue_find (head.string);
  if (!klass && lexer->token.type != TFX_TOKEN_OPEN &&
      strcmp (head.string, "wave") == 0)
    tfx_lexer_fail (lexer, head.offset, -EINVAL,
        "leave out \"wave |\"; the chain is the part after it");
  else if (is_name_with_dash (lexer))
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "the name of a stage may contain letters, digits and '_', but not '-'");
  else if (!klass)
    tfx_lexer_place (lexer, head.offset,
        tfx_hints_refuse_class (head.string, lexer->error));
  else if (lexer->token.type != TFX_TOKEN_OPEN)
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "%s needs parentheses, for example %s", klass->name, klass->example);
  else if (reader->n_stages++ == TFX_EXPR_MAX_STAGES)
    tfx_lexer_fail (lexer, head.offset, -E2BIG,
        "the chain has more than %u stages", TFX_EXPR_MAX_STAGES);
  if (lexer->code < 0)
    return NULL;

  node = tfx_node_new (TFX_NODE_CALL, klass);
  if (!node) {
    tfx_lexer_fail_no_memory (lexer);
    return NULL;
  }
  node->place = (reader->file_offset ? reader->file_offset : head.offset) + 1;
  if (name.string[0])
    keep_name (reader, node, &name);
  tfx_arguments_read (lexer, node, &head, reader->files, read_argument, reader,
      &has_thousands);
  if (lexer->code < 0)
    return node;
  code = tfx_class_check (node, klass->name, lexer->error);
  if (code < 0 && has_thousands) {
    strcpy (kept, lexer->error->message);
    tfx_lexer_fail (lexer, head.offset, code,
        "%s; ',' separates two values, a large number is written 1000 or "
        "1_000",
        kept);
  }
  tfx_lexer_place (lexer, head.offset, code);
  return node;
}

/* ---- groups ---------------------------------------------------------------------- */

/* Refuses the token after a stage. */
static void
fail_after_stage (TfxLexer *lexer, const char *expected)
{
  const size_t offset = lexer->token.offset;
  TfxLexer ahead = *lexer;

  ahead.error = NULL;
  tfx_lexer_next (&ahead);
  if (lexer->token.type != TFX_TOKEN_OPERATOR &&
      lexer->token.type != TFX_TOKEN_COMMA)
    tfx_lexer_fail_expected (lexer, expected);
  else if (lexer->token.type == TFX_TOKEN_COMMA && is_channels (&ahead))
    tfx_lexer_fail (lexer, offset, -EINVAL,
        "the chains of channels are separated by ';', not ','");
  else
    tfx_lexer_fail (lexer, offset, -EINVAL,
        "stages are joined by '|' (series) or '+' (sum)");
}

static TfxNode *
read_parentheses (Reader *reader)
{
  TfxLexer *lexer = &reader->lexer;
  const size_t offset = lexer->token.offset;
  bool is_split;
  TfxNode *node;

  tfx_lexer_enter (lexer);
  if (lexer->token.type == TFX_TOKEN_CLOSE)
    tfx_lexer_fail (lexer, offset, -EINVAL, "these parentheses are empty");
  is_split = is_channels (lexer);
  node = read_group (reader);
  if (lexer->token.type == TFX_TOKEN_END)
    tfx_lexer_fail (lexer, offset, -EINVAL, "this '(' is not closed");
  else if (lexer->token.type != TFX_TOKEN_CLOSE)
    fail_after_stage (lexer,
        is_split ? "'|', '+', ';' or ')'" : "'|', '+' or ')'");
  lexer->depth--;
  tfx_lexer_next (lexer);
  return node;
}

static TfxNode *
read_primary (Reader *reader)
{
  TfxLexer *lexer = &reader->lexer;
  const size_t offset = lexer->token.offset;

  switch (lexer->token.type) {
    case TFX_TOKEN_OPEN:
      return read_parentheses (reader);
    case TFX_TOKEN_NAME:
      if (!is_channels (lexer))
        return read_call (reader);
      tfx_lexer_fail (lexer, offset, -EINVAL,
          "channels inside a chain need parentheses: "
          "… | (ch[0]: …; ch[1]: …)");
      break;
    case TFX_TOKEN_NUMBER:
      tfx_lexer_fail (lexer, offset, -EINVAL,
          "a number is not a stage; write Gain(2) for a factor, or "
          "Gain(6, gain_type='db') for decibels");
      break;
    case TFX_TOKEN_PIPE:
      tfx_lexer_fail (lexer, offset, -EINVAL,
          "there is no stage before this '|'; stages are joined by a single "
          "'|'");
      break;
    default:
      tfx_lexer_fail_expected (lexer, "a stage, such as LoButterworth(1000)");
  }
  return NULL;
}

/* The sums between "|", or the primaries between "+". */
static TfxNode *
read_run (Reader *reader, TfxNodeKind kind)
{
  const bool is_sum = kind == TFX_NODE_SUM;
  const TfxTokenType operator= is_sum ? TFX_TOKEN_PLUS : TFX_TOKEN_PIPE;
  TfxNode *group = NULL, *node;

  do {
    node = is_sum ? read_primary (reader) : read_run (reader, TFX_NODE_SUM);
    if (!group && reader->lexer.token.type != operator)
      return node;
    group = group ? group : new_group (reader, kind);
    add_child (reader, group, node);
  } while (tfx_lexer_accept (&reader->lexer, operator));
  return group;
}

static TfxNode *
read_series (Reader *reader)
{
  return read_run (reader, TFX_NODE_SERIES);
}

static TfxNode *
read_group (Reader *reader)
{
  return is_channels (&reader->lexer) ? read_split (reader)
                                      : read_series (reader);
}

/* ---- the whole ------------------------------------------------------------------- */

TfxExpr *
tfx_expr_parse (const char *text, size_t length, TfxExprError *error)
{
  return tfx_expr_parse_with_files (text, length, NULL, error);
}

TfxExpr *
tfx_expr_parse_with_files (const char *text, size_t length,
    const TfxFileReader *files, TfxExprError *error)
{
  TfxExprError own;
  Reader *reader;
  TfxLexer *lexer;
  TfxNode *root = NULL;
  TfxExpr *expr = NULL;
  bool is_split;
  int code;

  if (!error)
    error = &own;
  if (length > TFX_EXPR_MAX_TEXT) {
    tfx_error_set (error, -E2BIG,
        "the chain has %zu bytes of text, at most %u are allowed", length,
        TFX_EXPR_MAX_TEXT);
    return NULL;
  }
  reader = calloc (1, sizeof *reader);
  if (!reader) {
    tfx_error_set_no_memory (error);
    return NULL;
  }
  reader->files = files;
  lexer = &reader->lexer;
  tfx_lexer_init (lexer, text, length, error);
  is_split = is_channels (lexer);
  if (lexer->token.type != TFX_TOKEN_END)
    root = read_group (reader);
  if (lexer->token.type == TFX_TOKEN_CLOSE)
    tfx_lexer_fail (lexer, lexer->token.offset, -EINVAL,
        "there is no '(' for this ')'");
  else if (lexer->token.type != TFX_TOKEN_END)
    fail_after_stage (lexer,
        is_split ? "'|', '+', ';' or the end" : "'|', '+' or the end");
  code = lexer->code;
  free (reader);
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
