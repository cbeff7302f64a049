/* SPDX-License-Identifier: LGPL-2.1-or-later
 * error.c: errors of the language, and suggestions for misspelt names; nothing here
 * allocates. */
#include "error.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int
tfx_error_set_list (TfxExprError *error, int code, const char *format,
    va_list args)
{
  locale_t c, previous = (locale_t)0;

  if (!error)
    return code;
  memset (error, 0, sizeof *error);
  error->code = code;
  /* Numbers in messages are written as in the language. */
  c = newlocale (LC_ALL_MASK, "C", (locale_t)0);
  if (c != (locale_t)0)
    previous = uselocale (c);
  vsnprintf (error->message, sizeof error->message, format, args);
  if (c != (locale_t)0) {
    uselocale (previous);
    freelocale (c);
  }
  snprintf (error->rendered, sizeof error->rendered, "%s", error->message);
  return code;
}

int
tfx_error_set (TfxExprError *error, int code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  tfx_error_set_list (error, code, format, args);
  va_end (args);
  return code;
}

int
tfx_error_set_no_memory (TfxExprError *error)
{
  return tfx_error_set (error, -ENOMEM, "out of memory");
}

int
tfx_error_set_place (TfxExprError *error, size_t place, int code)
{
  if (code < 0 && error)
    error->place = place;
  return code;
}

size_t
tfx_error_sequence (const char *text, size_t n)
{
  const unsigned char *s = (const unsigned char *)text;
  size_t need;

  if (n == 0)
    return 0;
  need = s[0] < 0x80   ? 1
         : s[0] < 0xc2 ? 0
         : s[0] < 0xe0 ? 2
         : s[0] < 0xf0 ? 3
         : s[0] < 0xf5 ? 4
                       : 0;
  if (need > n)
    return 0;
  for (size_t i = 1; i < need; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return 0;
  }
  /* Overlong forms, surrogates, and what is beyond U+10FFFF. */
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
      (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
    return 0;
  return need;
}

/* Copies the character at text[0] in a form that one column shows, at most 4
 * bytes; returns how many bytes of text it took. */
static size_t
copy_character (char *to, size_t *n_to, const char *text, size_t n)
{
  size_t bytes = tfx_error_sequence (text, n);
  unsigned char c = (unsigned char)text[0];

  if (bytes == 1) {
    to[(*n_to)++] = c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : (char)c;
    return 1;
  }
  /* U+0080 to U+009F are controls. */
  if (bytes == 0 || (c == 0xc2 && (unsigned char)text[1] < 0xa0)) {
    to[(*n_to)++] = '?';
    return bytes ? bytes : 1;
  }
  memcpy (to + *n_to, text, bytes);
  *n_to += bytes;
  return bytes;
}

char *
tfx_error_quote (char *buffer, size_t size, const char *text, size_t n)
{
  size_t used = 0;

  for (size_t i = 0; i < n;) {
    if (used + 4 + 3 >= size) {
      memcpy (buffer + used, "...", 3);
      used += 3;
      break;
    }
    i += copy_character (buffer, &used, text + i, n - i);
  }
  buffer[used] = '\0';
  return buffer;
}

static size_t
count_characters (const char *text, size_t n)
{
  size_t count = 0;

  for (size_t i = 0; i < n; count++) {
    size_t bytes = tfx_error_sequence (text + i, n - i);
    i += bytes ? bytes : 1;
  }
  return count;
}

/* How much of a line is shown, and how much of it before the caret, bytes. */
#define SHOWN 76
#define SHOWN_BEFORE 48

void
tfx_error_place (TfxExprError *error, const char *text, size_t length,
    size_t offset)
{
  size_t start, end, from, to, used = 0, column;
  char shown[SHOWN + 4];
  const char *lead;

  if (!error)
    return;
  offset = offset < length ? offset : length;
  error->line = 1;
  start = 0;
  for (size_t i = 0; i < offset; i++) {
    if (text[i] == '\n') {
      error->line++;
      start = i + 1;
    }
  }
  end = offset;
  while (end < length && text[end] != '\n')
    end++;
  error->column = (unsigned)count_characters (text + start, offset - start) + 1;

  from = start;
  if (end - start > SHOWN && offset - start > SHOWN_BEFORE)
    from = offset - SHOWN_BEFORE;
  to = end - from > SHOWN ? from + SHOWN : end;
  /* Not in the middle of a character. */
  while (from < offset && from > start && (text[from] & 0xc0) == 0x80)
    from++;
  lead = from > start ? "..." : "";
  for (size_t i = from; i < to;)
    i += copy_character (shown, &used, text + i, to - i);
  shown[used] = '\0';

  column = strlen (lead) + count_characters (text + from, offset - from);
  snprintf (error->rendered, sizeof error->rendered,
      "line %u, column %u: %s\n  %s%s%s\n  %*s^", error->line, error->column,
      error->message, lead, shown, to < end ? "..." : "", (int)column, "");
}

void
tfx_expr_place_error (TfxExprError *error, const char *text, size_t length)
{
  if (error->line == 0 && error->place > 0)
    tfx_error_place (error, text, length, error->place - 1);
}

/* ---- suggestions --------------------------------------------------------------------
 * The distance is the number of letters inserted, left out, changed or swapped
 * with their neighbour (optimal string alignment).  A letter in the wrong case
 * and '_' or '-' cost less than another letter, so that "low-pass" finds "lowpass"
 * and "parametriceq" finds "ParametricEQ". */

#define STEP 4 /* the cost of a letter */
#define MAX_WORD ((size_t)TFX_EXPR_MAX_NAME)

static unsigned
letter_cost (char c)
{
  return c == '_' || c == '-' || c == ' ' ? 1 : STEP;
}

static unsigned
least (unsigned a, unsigned b)
{
  return a < b ? a : b;
}

/* n and m are at most MAX_WORD. */
static unsigned
find_distance (const char *a, size_t n, const char *b, size_t m)
{
  unsigned rows[3][MAX_WORD + 1] = { { 0 } };
  unsigned *before = rows[0], *last = rows[1], *row = rows[2];

  for (size_t j = 1; j <= m; j++)
    last[j] = last[j - 1] + letter_cost (b[j - 1]);
  for (size_t i = 1; i <= n; i++) {
    const char x = a[i - 1];
    unsigned *spare = before;

    row[0] = last[0] + letter_cost (x);
    for (size_t j = 1; j <= m; j++) {
      const char y = b[j - 1];
      const bool is_case =
          tolower ((unsigned char)x) == tolower ((unsigned char)y);

      row[j] = last[j - 1] + (x == y ? 0 : is_case ? 1 : STEP);
      row[j] = least (row[j], last[j] + letter_cost (x));
      row[j] = least (row[j], row[j - 1] + letter_cost (y));
      if (i > 1 && j > 1 && x == b[j - 2] && a[i - 2] == y)
        row[j] = least (row[j], before[j - 2] + STEP);
    }
    before = last;
    last = row;
    row = spare;
  }
  return last[m];
}

void
tfx_suggestion_try (TfxSuggestion *suggestion, const char *candidate)
{
  const size_t n = strlen (suggestion->word), m = strlen (candidate);
  unsigned distance, limit;

  if (n == 0 || n > MAX_WORD || m > MAX_WORD)
    return;
  /* A third of the letters may be wrong, one of a short word, and of a single
   * letter its case. */
  limit = (unsigned)(n == 1 ? STEP - 1 : STEP * (n < 6 ? 1 : n / 3));
  distance = find_distance (suggestion->word, n, candidate, m);
  /* A word that only continues what was written is near too. */
  if (n >= 3 && m > n && strncmp (suggestion->word, candidate, n) == 0)
    distance = least (distance, limit);
  if (distance > limit)
    return;
  if (!suggestion->best || distance < suggestion->distance) {
    suggestion->second = suggestion->best;
    suggestion->second_distance = suggestion->distance;
    suggestion->best = candidate;
    suggestion->distance = distance;
  } else if (!suggestion->second || distance < suggestion->second_distance) {
    suggestion->second = candidate;
    suggestion->second_distance = distance;
  }
}

void
tfx_suggestion_try_end (TfxSuggestion *suggestion, const char *candidate)
{
  const size_t n = strlen (suggestion->word), m = strlen (candidate);

  if (n < 2 || n >= m || suggestion->second ||
      strncasecmp (candidate + m - n, suggestion->word, n) != 0)
    return;
  if (suggestion->best)
    suggestion->second = candidate;
  else
    suggestion->best = candidate;
}
