/* SPDX-License-Identifier: LGPL-2.1-or-later
 * lexer.c: the tokens of the chain language, those of Python, one at a time. */
#include "lexer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- errors ------------------------------------------------------------------- */

void
tfx_lexer_place (TfxLexer *lexer, size_t offset, int code)
{
  if (lexer->code < 0 || code == 0)
    return;
  lexer->code = code;
  lexer->token.type = TFX_TOKEN_END;
  tfx_error_place (lexer->error, lexer->text, lexer->length, offset);
}

void
tfx_lexer_fail (TfxLexer *lexer, size_t offset, int code, const char *format,
    ...)
{
  va_list args;

  if (lexer->code < 0)
    return;
  va_start (args, format);
  tfx_error_set_list (lexer->error, code, format, args);
  va_end (args);
  tfx_lexer_place (lexer, offset, code);
}

void
tfx_lexer_fail_no_memory (TfxLexer *lexer)
{
  if (lexer->code < 0)
    return;
  lexer->code = tfx_error_set_no_memory (lexer->error);
  lexer->token.type = TFX_TOKEN_END;
}

void
tfx_lexer_fail_expected (TfxLexer *lexer, const char *expected)
{
  const TfxToken *token = &lexer->token;
  const bool is_end = token->type == TFX_TOKEN_END;
  char found[46] = "the end";

  if (!is_end)
    tfx_error_quote (found, sizeof found, lexer->text + token->offset,
        token->length);
  tfx_lexer_fail (lexer, token->offset, -EINVAL, "expected %s, found %s%s%s",
      expected, is_end ? "" : "'", found, is_end ? "" : "'");
}

/* ---- characters ---------------------------------------------------------------- */

static bool
is_name_part (int c)
{
  return tfx_lexer_is_letter (c) || tfx_lexer_is_digit (c);
}

static int
hex_value (int c)
{
  if (tfx_lexer_is_digit (c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte at an offset from the current one, -1 at the end. */
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

/* White space, comments, and line ends after a backslash. */
static void
skip_space (TfxLexer *lexer)
{
  for (;;) {
    const int c = peek (lexer, 0);

    if (c == '#') {
      while (peek (lexer, 0) != '\n' && peek (lexer, 0) != -1)
        lexer->at++;
    } else if (tfx_lexer_is_space (c)) {
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

/* ---- tokens -------------------------------------------------------------------- */

/* The longest literal: further digits do not change a double. */
#define MAX_LITERAL 400

/* Copies digits, with '_' between two of them, to the literal; false if it is too
 * long. */
static bool
copy_digits (TfxLexer *lexer, char *literal, size_t *n)
{
  while (tfx_lexer_is_digit (peek (lexer, 0)) ||
         (peek (lexer, 0) == '_' && tfx_lexer_is_digit (peek (lexer, 1)) &&
             *n > 0 && tfx_lexer_is_digit (literal[*n - 1]))) {
    if (peek (lexer, 0) != '_') {
      if (*n >= MAX_LITERAL)
        return false;
      literal[(*n)++] = (char)peek (lexer, 0);
    }
    lexer->at++;
  }
  return true;
}

static void
read_decimal (TfxLexer *lexer, TfxToken *token)
{
  char literal[MAX_LITERAL + 8];
  size_t n = 0, zeros;
  bool whole = true, fits = copy_digits (lexer, literal, &n);

  if (fits && peek (lexer, 0) == '.') {
    whole = false;
    literal[n++] = '.';
    lexer->at++;
    fits = copy_digits (lexer, literal, &n);
  }
  if (fits && (peek (lexer, 0) | 0x20) == 'e') {
    const bool is_signed = peek (lexer, 1) == '+' || peek (lexer, 1) == '-';
    const size_t sign = is_signed ? 1 : minus_length (lexer, 1);

    if (tfx_lexer_is_digit (peek (lexer, 1 + sign))) {
      whole = false;
      literal[n++] = 'e';
      if (sign)
        literal[n++] = peek (lexer, 1) == '+' ? '+' : '-';
      lexer->at += 1 + sign;
      fits = copy_digits (lexer, literal, &n);
    }
  }
  literal[n] = '\0';
  zeros = strspn (literal, "0");
  if (!fits)
    tfx_lexer_fail (lexer, token->offset, -E2BIG,
        "the number has more than %d digits", MAX_LITERAL);
  else if (whole && n > 1 && zeros > 0 && zeros < n)
    tfx_lexer_fail (lexer, token->offset, -EINVAL,
        "an integer must not begin with 0 (write %.20s)", literal + zeros);
  else if (!tfx_number_parse (literal, &token->number))
    tfx_lexer_fail (lexer, token->offset, -ERANGE,
        "the number %.40s is too large", literal);
}

static void
read_number (TfxLexer *lexer, TfxToken *token)
{
  const int prefix = peek (lexer, 0) == '0' ? peek (lexer, 1) | 0x20 : 0;
  const int base = prefix == 'x'   ? 16
                   : prefix == 'o' ? 8
                   : prefix == 'b' ? 2
                                   : 10;
  char digits[28], unit[28];
  size_t n = 0;

  if (base == 10) {
    read_decimal (lexer, token);
  } else {
    token->number = 0.0;
    for (lexer->at += 2;; lexer->at++) {
      const int c = peek (lexer, 0), digit = hex_value (c);

      if (c == '_' && hex_value (peek (lexer, 1)) >= 0)
        continue;
      if (digit < 0 || digit >= base)
        break;
      token->number = token->number * base + digit;
      n++;
    }
    /* 2^53: above it not every whole number is a double. */
    if (n == 0 || token->number > 9007199254740992.0)
      tfx_lexer_fail (lexer, token->offset, -EINVAL,
          "the number has no digits of base %d, or is greater than 2^53", base);
  }
  token->length = lexer->at - token->offset;
  if (lexer->code < 0 || minus_length (lexer, 0))
    return;
  for (n = 0; is_name_part (peek (lexer, n)) || peek (lexer, n) >= 0x80;)
    n++;
  if (n == 0)
    return;
  tfx_error_quote (digits, sizeof digits, lexer->text + token->offset,
      token->length);
  tfx_error_quote (unit, sizeof unit, lexer->text + lexer->at, n);
  tfx_lexer_fail (lexer, lexer->at, -EINVAL,
      "'%s' after the number %s: " TFX_LEXER_NO_UNIT, unit, digits);
}

/* The character of an escape that begins here, and moves behind it; or -1. */
static int
read_escape (TfxLexer *lexer)
{
  static const char escapes[] = "\\\\''\"\"n\nt\t";
  const int c = peek (lexer, 1);

  for (size_t i = 0; escapes[i]; i += 2) {
    if (c == escapes[i]) {
      lexer->at += 2;
      return escapes[i + 1];
    }
  }
  if (c == 'x') {
    const int high = hex_value (peek (lexer, 2));
    const int low = high < 0 ? -1 : hex_value (peek (lexer, 3));

    if (low >= 0 && high * 16 + low > 0) {
      lexer->at += 4;
      return high * 16 + low;
    }
  }
  return -1;
}

static void
read_string (TfxLexer *lexer, TfxToken *token)
{
  const int quote = peek (lexer, 0);
  size_t n = 0;

  lexer->at++;
  for (int c; (c = peek (lexer, 0)) != quote; n++) {
    const size_t start = lexer->at;

    if (c == '\\')
      c = read_escape (lexer);
    else
      lexer->at++;
    if (lexer->at == start) {
      tfx_lexer_fail (lexer, start, -EINVAL,
          "unknown escape sequence; use \\\\ \\' \\\" \\n \\t or \\x01 to "
          "\\xff");
    } else if (c == -1 || (c == '\n' && lexer->text[start] == '\n')) {
      tfx_lexer_fail (lexer, token->offset, -EINVAL,
          "the string has no closing %c", quote);
    } else if (c == 0) {
      tfx_lexer_fail (lexer, start, -EINVAL,
          "a string must not contain a NUL byte");
    }
    if (lexer->code < 0)
      return;
    if (n < TFX_EXPR_MAX_NAME)
      token->string[n] = (char)c;
  }
  lexer->at++;
  token->string[n < TFX_EXPR_MAX_NAME ? n : TFX_EXPR_MAX_NAME] = '\0';
  token->n_string = n;
  token->length = lexer->at - token->offset;
}

char *
tfx_lexer_copy_string (TfxLexer *lexer, const TfxToken *token)
{
  char *copy = malloc (token->n_string + 1);
  TfxLexer again = *lexer;

  if (!copy) {
    tfx_lexer_fail_no_memory (lexer);
    return NULL;
  }
  again.at = token->offset + 1;
  for (size_t i = 0; i < token->n_string; i++) {
    const bool is_escape = peek (&again, 0) == '\\';

    copy[i] = (char)(is_escape ? read_escape (&again) : peek (&again, 0));
    again.at += is_escape ? 0 : 1;
  }
  copy[token->n_string] = '\0';
  return copy;
}

static void
read_name (TfxLexer *lexer, TfxToken *token)
{
  while (is_name_part (peek (lexer, 0)))
    lexer->at++;
  token->length = token->n_string = lexer->at - token->offset;
  if (token->length > TFX_EXPR_MAX_NAME) {
    tfx_lexer_fail (lexer, token->offset, -E2BIG,
        "the name has %zu letters; at most %u are allowed", token->length,
        TFX_EXPR_MAX_NAME);
    return;
  }
  memcpy (token->string, lexer->text + token->offset, token->length);
  token->string[token->length] = '\0';
}

static void
refuse_character (TfxLexer *lexer)
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
      tfx_lexer_fail (lexer, lexer->at, -EINVAL, "%s", typographic[i].message);
  }
  while (n < 4 && n < rest && (at[n] & 0xc0) == 0x80)
    n++;
  tfx_error_quote (shown, sizeof shown, at, n);
  tfx_lexer_fail (lexer, lexer->at, -EINVAL, "unexpected character '%s'",
      shown);
}

void
tfx_lexer_next (TfxLexer *lexer)
{
  static const char marks[] = "|+-()[],=.";
  TfxToken *token = &lexer->token;
  const char *mark;
  int c;

  if (lexer->code < 0)
    return;
  skip_space (lexer);
  c = peek (lexer, 0);
  token->offset = lexer->at;
  token->length = minus_length (lexer, 0);
  if (c == -1) {
    token->type = TFX_TOKEN_END;
  } else if (tfx_lexer_is_digit (c) ||
             (c == '.' && tfx_lexer_is_digit (peek (lexer, 1)))) {
    token->type = TFX_TOKEN_NUMBER;
    read_number (lexer, token);
  } else if (tfx_lexer_is_letter (c)) {
    token->type = TFX_TOKEN_NAME;
    read_name (lexer, token);
  } else if (c == '\'' || c == '"') {
    token->type = TFX_TOKEN_STRING;
    read_string (lexer, token);
  } else if (token->length > 0) {
    token->type = TFX_TOKEN_MINUS;
    lexer->at += token->length;
  } else if (c && strchr ("|+-()[],=.*/%@&^~<>!:;{}", c)) {
    mark = strchr (marks, c);
    token->type = mark ? (TfxTokenType)(TFX_TOKEN_PIPE + (mark - marks))
                       : TFX_TOKEN_OPERATOR;
    token->length = 1;
    lexer->at++;
  } else {
    refuse_character (lexer);
  }
  if (lexer->code < 0)
    token->type = TFX_TOKEN_END;
}

void
tfx_lexer_skip_prefix (TfxLexer *lexer, TfxToken *name)
{
  *name = lexer->token;
  tfx_lexer_next (lexer);
  while (tfx_lexer_accept (lexer, TFX_TOKEN_DOT)) {
    *name = lexer->token;
    if (!tfx_lexer_accept (lexer, TFX_TOKEN_NAME))
      tfx_lexer_fail_expected (lexer, "a name after '.'");
  }
}

bool
tfx_lexer_is_word (const char *name, const char *words)
{
  const size_t n = strlen (name);

  for (const char *c = words; n > 0 && (c = strstr (c, name)); c++) {
    if ((c == words || c[-1] == ' ') && (!c[n] || c[n] == ' '))
      return true;
  }
  return false;
}

/* ---- the reading ----------------------------------------------------------------- */

void
tfx_lexer_init (TfxLexer *lexer, const char *text, size_t length,
    TfxExprError *error)
{
  *lexer = (TfxLexer){ .text = text, .length = length, .error = error };
  tfx_lexer_next (lexer);
}

bool
tfx_lexer_accept (TfxLexer *lexer, TfxTokenType type)
{
  if (lexer->code < 0 || lexer->token.type != type)
    return false;
  tfx_lexer_next (lexer);
  return true;
}

bool
tfx_lexer_is_mark (const TfxLexer *lexer, char mark)
{
  return lexer->token.type == TFX_TOKEN_OPERATOR &&
         lexer->text[lexer->token.offset] == mark;
}

void
tfx_lexer_enter (TfxLexer *lexer)
{
  if (lexer->depth++ == TFX_EXPR_MAX_DEPTH)
    tfx_lexer_fail (lexer, lexer->token.offset, -E2BIG,
        "more than %u levels of brackets", TFX_EXPR_MAX_DEPTH);
  tfx_lexer_next (lexer);
}
