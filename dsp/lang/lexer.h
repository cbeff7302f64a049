/* SPDX-License-Identifier: LGPL-2.1-or-later
 * lexer.h: the tokens of the chain language. */
#ifndef TFX_LANG_LEXER_H
#define TFX_LANG_LEXER_H

#include "expr.h"

typedef enum
{
  TFX_TOKEN_END,
  TFX_TOKEN_NAME,
  TFX_TOKEN_NUMBER,
  TFX_TOKEN_STRING,
  /* One character each, in length 1. */
  TFX_TOKEN_PIPE,
  TFX_TOKEN_PLUS,
  TFX_TOKEN_MINUS,
  TFX_TOKEN_OPEN,
  TFX_TOKEN_CLOSE,
  TFX_TOKEN_OPEN_LIST,
  TFX_TOKEN_CLOSE_LIST,
  TFX_TOKEN_COMMA,
  TFX_TOKEN_EQUALS,
  TFX_TOKEN_DOT,
  TFX_TOKEN_OPERATOR /* one of Python's that the language lacks */
} TfxTokenType;

typedef struct TfxToken
{
  TfxTokenType type;
  size_t offset, length; /* in the text */
  double number;
  /* Of a name, or of a string with its escapes resolved; of a longer string its
   * beginning. */
  char string[TFX_EXPR_MAX_NAME + 1];
  size_t n_string; /* bytes of all of it */
} TfxToken;

typedef struct TfxLexer
{
  const char *text;
  size_t length, at;
} TfxLexer;

void tfx_lexer_init (TfxLexer *lexer, const char *text, size_t length);

/* Reads the next token; the end comes again and again.  0, or the code of the
 * error, which has its place. */
int tfx_lexer_next (TfxLexer *lexer, TfxToken *token, TfxExprError *error);

/* All of a string: to[token->n_string + 1]. */
void
tfx_lexer_copy_string (const TfxLexer *lexer, const TfxToken *token, char *to);

/* Of "Hz" after a number. */
#define TFX_LEXER_NO_UNIT                                                      \
  "numbers are written without a unit or suffix (each parameter has its "      \
  "unit: Hz, dB, s or samples)"

#endif /* TFX_LANG_LEXER_H */
