/* SPDX-License-Identifier: LGPL-2.1-or-later
 * lexer.c: the tokens of the chain language, those of Python. */
#include "lexer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "number.h"

/* The classes of <ctype.h> depend on the locale; these do not. */
static bool
is_digit (int c)
{
  return c >= '0' && c <= '9';
}

static bool
is_name_start (int c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_name_part (int c)
{
  return is_name_start (c) || is_digit (c);
}

static int
hex_value (int c)
{
  if (is_digit (c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

void
tfx_lexer_init (TfxLexer *lexer, const char *text, size_t length)
{
  *lexer = (TfxLexer){ text, length, 0 };
}

/* The byte ahead, -1 at the end. */
static int
peek (const TfxLexer *lexer, size_t ahead)
{
  if (ahead >= lexer->length - lexer->at)
    return -1;
  return (unsigned char)lexer->text[lexer->at + ahead];
}

/* The length of U+2212, which is read as '-', or 0. */
static size_t
minus_length (const TfxLexer *lexer, size_t ahead)
{
  return peek (lexer, ahead) == 0xe2 && peek (lexer, ahead + 1) == 0x88 &&
                 peek (lexer, ahead + 2) == 0x92
             ? 3
             : 0;
}

static int fail (const TfxLexer *lexer, size_t offset, TfxExprError *error,
    int code, const char *format, ...) __attribute__ ((format (printf, 5, 6)));

static int
fail (const TfxLexer *lexer, size_t offset, TfxExprError *error, int code,
    const char *format, ...)
{
  va_list args;

  va_start (args, format);
  tfx_error_set_list (error, code, format, args);
  va_end (args);
  tfx_error_place (error, lexer->text, lexer->length, offset);
  return code;
}

static void
skip_space (TfxLexer *lexer)
{
  for (;;) {
    int c = peek (lexer, 0);

    if (c == '#') {
      while (c != '\n' && c != -1) {
        lexer->at++;
        c = peek (lexer, 0);
      }
    } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
      lexer->at++;
    } else if (c == '\\' && peek (lexer, 1) == '\n') {
      lexer->at += 2;
    } else if (c == '\\' && peek (lexer, 1) == '\r' &&
               peek (lexer, 2) == '\n') {
      lexer->at += 3;
    } else {
      return;
    }
  }
}

/* The longest literal that is read: more digits say nothing to a double. */
#define MAX_LITERAL 400

/* Copies a run of digits with '_' between two of them to literal; false if it
 * is too long. */
static bool
copy_digits (TfxLexer *lexer, char *literal, size_t *n)
{
  while (is_digit (peek (lexer, 0)) ||
         (peek (lexer, 0) == '_' && is_digit (peek (lexer, 1)) && *n > 0 &&
             is_digit (literal[*n - 1]))) {
    int c = peek (lexer, 0);

    if (c != '_') {
      if (*n >= MAX_LITERAL)
        return false;
      literal[(*n)++] = (char)c;
    }
    lexer->at++;
  }
  return true;
}

/* 0x, 0o and 0b: whole numbers. */
static bool
read_based (TfxLexer *lexer, int base, double *number)
{
  size_t n_digits = 0;
  double value = 0.0;

  for (lexer->at += 2;; lexer->at++) {
    int c = peek (lexer, 0), digit = hex_value (c);

    if (c == '_' && hex_value (peek (lexer, 1)) >= 0)
      continue;
    if (digit < 0 || digit >= base)
      break;
    value = value * base + digit;
    n_digits++;
  }
  *number = value;
  /* 2^53: above it not every whole number is a double. */
  return n_digits > 0 && value <= 9007199254740992.0;
}

static int
read_decimal (TfxLexer *lexer, TfxToken *token, TfxExprError *error)
{
  char literal[MAX_LITERAL + 8];
  size_t n = 0;
  bool whole = true, fits;

  fits = copy_digits (lexer, literal, &n);
  if (fits && peek (lexer, 0) == '.') {
    whole = false;
    literal[n++] = '.';
    lexer->at++;
    fits = copy_digits (lexer, literal, &n);
  }
  if (fits && (peek (lexer, 0) == 'e' || peek (lexer, 0) == 'E')) {
    size_t sign = peek (lexer, 1) == '+' || peek (lexer, 1) == '-'
                      ? 1
                      : minus_length (lexer, 1);

    if (is_digit (peek (lexer, 1 + sign))) {
      whole = false;
      literal[n++] = 'e';
      if (sign)
        literal[n++] = peek (lexer, 1) == '+' ? '+' : '-';
      lexer->at += 1 + sign;
      fits = copy_digits (lexer, literal, &n);
    }
  }
  if (!fits)
    return fail (lexer, token->offset, error, -E2BIG,
        "the number has more than %d digits", MAX_LITERAL);
  literal[n] = '\0';
  if (whole && n > 1 && literal[0] == '0' &&
      strspn (literal, "0") != strlen (literal))
    return fail (lexer, token->offset, error, -EINVAL,
        "an integer must not begin with 0 (write %.20s)",
        literal + strspn (literal, "0"));
  if (!tfx_number_parse (literal, &token->number))
    return fail (lexer, token->offset, error, -ERANGE,
        "the number %.40s is too large", literal);
  return 0;
}

static int
read_number (TfxLexer *lexer, TfxToken *token, TfxExprError *error)
{
  int c = peek (lexer, 1) | 0x20, base = 0;
  char digits[28], unit[28];
  size_t n = 0;

  if (peek (lexer, 0) == '0')
    base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
  if (base == 0) {
    int code = read_decimal (lexer, token, error);
    if (code < 0)
      return code;
  } else if (!read_based (lexer, base, &token->number)) {
    return fail (lexer, token->offset, error, -EINVAL,
        "the number has no digits of base %d, or is greater than 2^53", base);
  }
  token->length = lexer->at - token->offset;
  if (minus_length (lexer, 0) ||
      (!is_name_part (peek (lexer, 0)) && peek (lexer, 0) < 0x80))
    return 0;

  while (is_name_part (peek (lexer, n)) || peek (lexer, n) >= 0x80)
    n++;
  tfx_error_quote (digits, sizeof digits, lexer->text + token->offset,
      token->length);
  tfx_error_quote (unit, sizeof unit, lexer->text + lexer->at, n);
  return fail (lexer, lexer->at, error, -EINVAL,
      "'%s' after the number %s: " TFX_LEXER_NO_UNIT, unit, digits);
}

/* The character of the escape at the cursor, which stands on the '\\', or -1;
 * moves the cursor behind it. */
static int
read_escape (TfxLexer *lexer)
{
  int c = peek (lexer, 1), high, low;

  switch (c) {
    case '\\':
    case '\'':
    case '"':
      lexer->at += 2;
      return c;
    case 'n':
      lexer->at += 2;
      return '\n';
    case 't':
      lexer->at += 2;
      return '\t';
    case 'x':
      high = hex_value (peek (lexer, 2));
      low = high < 0 ? -1 : hex_value (peek (lexer, 3));
      if (low < 0 || high * 16 + low == 0)
        return -1;
      lexer->at += 4;
      return high * 16 + low;
    default:
      return -1;
  }
}

static int
read_string (TfxLexer *lexer, TfxToken *token, TfxExprError *error)
{
  int quote = peek (lexer, 0);
  size_t n = 0;

  for (lexer->at++;;) {
    int c = peek (lexer, 0);
    size_t start = lexer->at;

    if (c == quote)
      break;
    if (c == -1 || c == '\n')
      return fail (lexer, token->offset, error, -EINVAL,
          "the string has no closing %c", quote);
    if (c == 0)
      return fail (lexer, start, error, -EINVAL,
          "a string must not contain a NUL byte");
    if (c == '\\') {
      c = read_escape (lexer);
      if (c < 0)
        return fail (lexer, start, error, -EINVAL,
            "unknown escape sequence; use \\\\ \\' \\\" \\n \\t or \\x01 to "
            "\\xff");
    } else {
      lexer->at++;
    }
    if (n < TFX_EXPR_MAX_NAME)
      token->string[n] = (char)c;
    n++;
  }
  lexer->at++;
  token->string[n < TFX_EXPR_MAX_NAME ? n : TFX_EXPR_MAX_NAME] = '\0';
  token->n_string = n;
  token->length = lexer->at - token->offset;
  return 0;
}

void
tfx_lexer_copy_string (const TfxLexer *lexer, const TfxToken *token, char *to)
{
  TfxLexer again = *lexer;

  again.at = token->offset + 1;
  for (size_t i = 0; i < token->n_string; i++) {
    int c = peek (&again, 0);

    if (c == '\\')
      c = read_escape (&again);
    else
      again.at++;
    to[i] = (char)c;
  }
  to[token->n_string] = '\0';
}

static int
read_name (TfxLexer *lexer, TfxToken *token, TfxExprError *error)
{
  while (is_name_part (peek (lexer, 0)))
    lexer->at++;
  token->length = lexer->at - token->offset;
  if (token->length > TFX_EXPR_MAX_NAME)
    return fail (lexer, token->offset, error, -E2BIG,
        "the name has %zu letters; at most %u are "
        "allowed",
        token->length, TFX_EXPR_MAX_NAME);
  memcpy (token->string, lexer->text + token->offset, token->length);
  token->string[token->length] = '\0';
  token->n_string = token->length;
  return 0;
}

static int
refuse_character (TfxLexer *lexer, TfxExprError *error)
{
  static const char quotes[] = "a typographic quote; write ' or \"";
  static const char dashes[] = "a typographic dash; write - for a minus sign";
  static const char spaces[] = "a no-break space; write a plain space";
  static const struct
  {
    const char *bytes, *message;
  } typographic[] = { { "\xe2\x80\x98", quotes }, { "\xe2\x80\x99", quotes },
    { "\xe2\x80\x9c", quotes }, { "\xe2\x80\x9d", quotes },
    { "\xe2\x80\x9e", quotes }, { "\xe2\x80\x90", dashes },
    { "\xe2\x80\x91", dashes }, { "\xe2\x80\x92", dashes },
    { "\xe2\x80\x93", dashes }, { "\xe2\x80\x94", dashes },
    { "\xef\xbc\x8d", dashes }, { "\xc2\xa0", spaces },
    { "\xe2\x80\xaf", spaces } };
  const char *at = lexer->text + lexer->at;
  size_t rest = lexer->length - lexer->at, n = 1;
  char shown[16];

  for (size_t i = 0; i < sizeof typographic / sizeof typographic[0]; i++) {
    const size_t size = strlen (typographic[i].bytes);

    if (rest >= size && memcmp (at, typographic[i].bytes, size) == 0)
      return fail (lexer, lexer->at, error, -EINVAL, "%s",
          typographic[i].message);
  }
  while (n < 4 && n < rest && (at[n] & 0xc0) == 0x80)
    n++;
  tfx_error_quote (shown, sizeof shown, at, n);
  return fail (lexer, lexer->at, error, -EINVAL, "unexpected character '%s'",
      shown);
}

int
tfx_lexer_next (TfxLexer *lexer, TfxToken *token, TfxExprError *error)
{
  static const char marks[] = "|+-()[],=.";
  static const TfxTokenType types[] = { TFX_TOKEN_PIPE, TFX_TOKEN_PLUS,
    TFX_TOKEN_MINUS, TFX_TOKEN_OPEN, TFX_TOKEN_CLOSE, TFX_TOKEN_OPEN_LIST,
    TFX_TOKEN_CLOSE_LIST, TFX_TOKEN_COMMA, TFX_TOKEN_EQUALS, TFX_TOKEN_DOT };
  const char *mark;
  int c;

  skip_space (lexer);
  c = peek (lexer, 0);
  token->offset = lexer->at;
  token->length = 0;
  if (c == -1) {
    token->type = TFX_TOKEN_END;
    return 0;
  }
  if (is_digit (c) || (c == '.' && is_digit (peek (lexer, 1)))) {
    token->type = TFX_TOKEN_NUMBER;
    return read_number (lexer, token, error);
  }
  if (is_name_start (c)) {
    token->type = TFX_TOKEN_NAME;
    return read_name (lexer, token, error);
  }
  if (c == '\'' || c == '"') {
    token->type = TFX_TOKEN_STRING;
    return read_string (lexer, token, error);
  }
  if (minus_length (lexer, 0)) {
    token->type = TFX_TOKEN_MINUS;
    token->length = minus_length (lexer, 0);
    lexer->at += token->length;
    return 0;
  }
  mark = c ? strchr (marks, c) : NULL;
  if (mark)
    token->type = types[mark - marks];
  else if (c && strchr ("*/%@&^~<>!:;{}", c))
    token->type = TFX_TOKEN_OPERATOR;
  else
    return refuse_character (lexer, error);
  token->length = 1;
  lexer->at++;
  return 0;
}
