/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parser.c: the tokens of a text, of which one is always read ahead, and the
 * errors that have their place in it. */
#include "parser.h"

#include <errno.h>
#include <string.h>

#include "error.h"

int
tfx_parser_advance (TfxParser *parser)
{
  return tfx_lexer_next (&parser->lexer, &parser->token, parser->error);
}

int
tfx_parser_fail_at (TfxParser *parser, size_t offset)
{
  tfx_error_place (parser->error, parser->lexer.text, parser->lexer.length,
      offset);
  return parser->error->code;
}

int
tfx_parser_fail (TfxParser *parser, size_t offset, int code, const char *format,
    ...)
{
  va_list args;

  va_start (args, format);
  tfx_error_set_list (parser->error, code, format, args);
  va_end (args);
  return tfx_parser_fail_at (parser, offset);
}

/* What the token ahead is called in a message; size is at least 12. */
static void
quote_token (const TfxParser *parser, char *buffer, size_t size)
{
  const TfxToken *t = &parser->token;

  if (t->type == TFX_TOKEN_END) {
    strcpy (buffer, "the end");
    return;
  }
  buffer[0] = '\'';
  tfx_error_quote (buffer + 1, size - 2, parser->lexer.text + t->offset,
      t->length);
  strcat (buffer, "'");
}

int
tfx_parser_fail_expected (TfxParser *parser, const char *expected)
{
  char found[48];

  quote_token (parser, found, sizeof found);
  return tfx_parser_fail (parser, parser->token.offset, -EINVAL,
      "expected %s, found %s", expected, found);
}

int
tfx_parser_enter (TfxParser *parser)
{
  if (parser->depth < TFX_EXPR_MAX_DEPTH) {
    parser->depth++;
    return 0;
  }
  return tfx_parser_fail (parser, parser->token.offset, -E2BIG,
      "more than %u levels of brackets", TFX_EXPR_MAX_DEPTH);
}
