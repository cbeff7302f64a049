/* SPDX-License-Identifier: LGPL-2.1-or-later
 * call.c: a call in a text: the name of a stage, its class, and calls that stand in
 * a file. */
#include "call.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "absent.h"
#include "arguments.h"
#include "class.h"
#include "error.h"
#include "foreign.h"

/* ---- names ----------------------------------------------------------------- */

static bool
name_is_taken (const TfxParser *parser, const char *name)
{
  for (size_t i = 0; i < parser->n_names; i++) {
    if (strcmp (parser->names[i], name) == 0)
      return true;
  }
  return false;
}

/* Keeps the name of a stage; it points into the stage. */
static int
keep_name (TfxParser *parser, TfxNode *node, const char *name, size_t offset)
{
  if (name_is_taken (parser, name))
    return tfx_parser_fail (parser, offset, -EINVAL,
        "two stages have the name '%s'", name);
  strcpy (node->name, name);
  node->is_named = true;
  parser->names[parser->n_names++] = node->name;
  return 0;
}

static bool
is_reserved (const char *name)
{
  return strcmp (name, "True") == 0 || strcmp (name, "False") == 0 ||
         strcmp (name, "None") == 0;
}

/* ---- calls ----------------------------------------------------------------- */

/* The name of a stage and of its class, up to the "(". */
typedef struct CallHead
{
  char name[TFX_EXPR_MAX_NAME + 1]; /* of the stage, or empty */
  size_t name_offset;
  TfxToken klass;
} CallHead;

static int
parse_head (TfxParser *parser, CallHead *head)
{
  int code;

  head->name[0] = '\0';
  head->klass = parser->token;
  code = tfx_parser_advance (parser);
  if (code < 0)
    return code;
  if (parser->token.type == TFX_TOKEN_EQUALS) {
    if (is_reserved (head->klass.string))
      return tfx_parser_fail (parser, head->klass.offset, -EINVAL,
          "a stage cannot be named %s", head->klass.string);
    strcpy (head->name, head->klass.string);
    head->name_offset = head->klass.offset;
    code = tfx_parser_advance (parser);
    if (code < 0)
      return code;
    if (parser->token.type != TFX_TOKEN_NAME)
      return tfx_parser_fail_expected (parser,
          "the class of the named stage, such as LoButterworth");
    head->klass = parser->token;
    code = tfx_parser_advance (parser);
  }
  while (code == 0 && parser->token.type == TFX_TOKEN_DOT) {
    code = tfx_parser_advance (parser);
    if (code < 0)
      return code;
    if (parser->token.type != TFX_TOKEN_NAME)
      return tfx_parser_fail_expected (parser, "a name after '.'");
    head->klass = parser->token;
    code = tfx_parser_advance (parser);
  }
  if (code == 0 && parser->token.type == TFX_TOKEN_EQUALS)
    return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
        "a stage has one name, without '.'");
  return code;
}

/* Whether a name with '-' in it and "=" begin here: my-eq=… */
static bool
is_name_with_dash (const TfxParser *parser)
{
  const TfxLexer *lexer = &parser->lexer;
  size_t i = parser->token.offset;

  if (parser->token.type != TFX_TOKEN_MINUS)
    return false;
  while (i < lexer->length &&
         (isalnum ((unsigned char)lexer->text[i]) || lexer->text[i] == '_' ||
             lexer->text[i] == '-' || lexer->text[i] == ' '))
    i++;
  return i < lexer->length && lexer->text[i] == '=';
}

/* The values do not fit each other. */
static int
refuse_values (TfxParser *parser, size_t offset, int code)
{
  char kept[sizeof parser->error->message];

  if (parser->has_thousands) {
    strcpy (kept, parser->error->message);
    return tfx_parser_fail (parser, offset, code,
        "%s; ',' separates two values, a large number is written 1000 or "
        "1_000",
        kept);
  }
  return tfx_parser_fail_at (parser, offset);
}

static const TfxClass *
find_class (TfxParser *parser, const TfxToken *name)
{
  const TfxClass *klass = tfx_catalogue_find (name->string);

  if (is_name_with_dash (parser)) {
    tfx_parser_fail (parser, parser->token.offset, -EINVAL,
        "the name of a stage may contain letters, digits and '_', but not '-'");
    return NULL;
  }
  if (klass)
    return klass;
  tfx_absent_refuse (name->string, parser->error);
  tfx_parser_fail_at (parser, name->offset);
  return NULL;
}

/* ---- calls in a file -------------------------------------------------------- */

/* The series of another text, which is none of a user's: its places are not told. */
static int
parse_elsewhere (TfxParser *parser, const char *text, TfxNode **node)
{
  const TfxLexer lexer = parser->lexer;
  const TfxToken token = parser->token;
  int code;

  parser->file_offset = token.offset;
  tfx_lexer_init (&parser->lexer, text, strlen (text));
  code = tfx_parser_advance (parser);
  if (code == 0)
    code = parser->parse_series (parser, node);
  parser->file_offset = 0;
  parser->lexer = lexer;
  parser->token = token;
  return code;
}

static int
fail_settings (TfxParser *parser, size_t offset, const char *message)
{
  char kept[TFX_FILE_WHY_SIZE];

  strcpy (kept, message);
  return tfx_parser_fail (parser, offset, -EINVAL, "FilterSettings: %s", kept);
}

/* The file of that name; the token is its string. */
static int
read_settings (TfxParser *parser, TfxNode **node)
{
  const TfxFileReader *reader = parser->reader;
  const size_t offset = parser->token.offset;
  char why[TFX_FILE_WHY_SIZE];
  char *name, *text;
  int code;

  if (!reader)
    return fail_settings (parser, offset, "files cannot be read here");
  name = malloc (parser->token.n_string + 1);
  if (!name)
    return tfx_error_set_no_memory (parser->error);
  tfx_lexer_copy_string (&parser->lexer, &parser->token, name);
  text = reader->read_settings (reader->data, name, why);
  free (name);
  if (!text)
    return fail_settings (parser, offset, why);
  code = parse_elsewhere (parser, text, node);
  free (text);
  if (code < 0 && code != -ENOMEM)
    return fail_settings (parser, offset, parser->error->message);
  return code;
}

/* "(file)", or with the name of the parameter. */
static int
parse_settings (TfxParser *parser, const CallHead *head, TfxNode **node)
{
  int code;

  *node = NULL;
  if (parser->token.type != TFX_TOKEN_OPEN)
    return tfx_parser_fail_expected (parser, "'(' after FilterSettings");
  code = tfx_arguments_check_file_name (parser, "FilterSettings", "location");
  if (code == 0)
    code = tfx_parser_advance (parser);
  if (code == 0 && head->name[0])
    return fail_settings (parser, head->name_offset,
        "it cannot have a name, since it is replaced by the stages in the "
        "file");
  if (code == 0 && parser->token.type == TFX_TOKEN_NAME &&
      strcmp (parser->token.string, "location") == 0) {
    code = tfx_parser_advance (parser);
    if (code == 0 && parser->token.type != TFX_TOKEN_EQUALS)
      return tfx_parser_fail_expected (parser, "'=' after location");
    if (code == 0)
      code = tfx_parser_advance (parser);
  }
  if (code < 0)
    return code;
  if (parser->token.type != TFX_TOKEN_STRING || parser->token.n_string == 0)
    return tfx_parser_fail_expected (parser,
        "the name of a file in quotes, such as 'rew.txt'");
  code = read_settings (parser, node);
  if (code == 0)
    code = tfx_parser_advance (parser);
  if (code == 0 && parser->token.type != TFX_TOKEN_CLOSE)
    code = tfx_parser_fail_expected (parser, "')'");
  if (code == 0)
    code = tfx_parser_advance (parser);
  if (code < 0) {
    tfx_node_free (*node);
    *node = NULL;
  }
  return code;
}

/* ---- a call ------------------------------------------------------------------- */

int
tfx_call_parse (TfxParser *parser, TfxNode **node)
{
  const size_t offset = parser->token.offset;
  CallHead head;
  const TfxClass *klass;
  int code = tfx_foreign_refuse (parser->lexer.text + offset,
      parser->lexer.length - offset, parser->error);

  if (code < 0)
    return tfx_parser_fail_at (parser, offset);
  code = parse_head (parser, &head);
  if (code < 0)
    return code;
  if (strcmp (head.klass.string, "FilterSettings") == 0)
    return parse_settings (parser, &head, node);
  klass = tfx_catalogue_find (head.klass.string);
  if (!klass && parser->token.type != TFX_TOKEN_OPEN &&
      strcmp (head.klass.string, "wave") == 0)
    return tfx_parser_fail (parser, head.klass.offset, -EINVAL,
        "leave out \"wave |\"; the chain is the part after it");
  klass = find_class (parser, &head.klass);
  if (!klass)
    return parser->error->code;
  if (parser->token.type != TFX_TOKEN_OPEN)
    return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
        "%s needs parentheses, for example %s", klass->name, klass->example);
  if (parser->n_stages == TFX_EXPR_MAX_STAGES)
    return tfx_parser_fail (parser, head.klass.offset, -E2BIG,
        "the chain has more than %u stages", TFX_EXPR_MAX_STAGES);

  *node = tfx_node_new_call (klass);
  if (!*node)
    return tfx_error_set_no_memory (parser->error);
  (*node)->place =
      (parser->file_offset ? parser->file_offset : head.klass.offset) + 1;
  parser->n_stages++;
  code =
      head.name[0] ? keep_name (parser, *node, head.name, head.name_offset) : 0;
  if (code == 0)
    code = tfx_arguments_parse (parser, *node, &head.klass);
  if (code == 0) {
    code = tfx_class_check (*node, klass->name, parser->error);
    if (code < 0)
      refuse_values (parser, head.klass.offset, code);
  }
  if (code < 0) {
    tfx_node_free (*node);
    *node = NULL;
  }
  return code;
}
