/* SPDX-License-Identifier: LGPL-2.1-or-later
 * suggest.c: the name that a misspelt one was meant to be.
 *
 * The distance is the number of letters put in, left out, changed or swapped
 * with their neighbour (optimal string alignment); a letter in the wrong case
 * and '_' or '-' too many cost less than another letter, so that "low-pass"
 * finds "lowpass" and "parametriceq" finds "ParametricEQ". */
#include "suggest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "expr.h"

#define STEP 4 /* the cost of a letter */
#define MAX_WORD ((size_t)TFX_EXPR_MAX_NAME)

static unsigned
letter_cost (char c)
{
  return c == '_' || c == '-' || c == ' ' ? 1 : STEP;
}

static unsigned
swap_cost (char a, char b)
{
  if (a == b)
    return 0;
  if (tolower ((unsigned char)a) == tolower ((unsigned char)b))
    return 1;
  return STEP;
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
  unsigned rows[3][MAX_WORD + 1];
  unsigned *before = rows[0], *last = rows[1], *row = rows[2];

  last[0] = 0;
  for (size_t j = 1; j <= m; j++)
    last[j] = last[j - 1] + letter_cost (b[j - 1]);
  memset (rows[0], 0, sizeof rows[0]);

  for (size_t i = 1; i <= n; i++) {
    unsigned *spare = before;

    row[0] = last[0] + letter_cost (a[i - 1]);
    for (size_t j = 1; j <= m; j++) {
      row[j] = last[j - 1] + swap_cost (a[i - 1], b[j - 1]);
      row[j] = least (row[j], last[j] + letter_cost (a[i - 1]));
      row[j] = least (row[j], row[j - 1] + letter_cost (b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = least (row[j], before[j - 2] + STEP);
    }
    before = last;
    last = row;
    row = spare;
  }
  return last[m];
}

void
tfx_suggestion_init (TfxSuggestion *suggestion, const char *word, size_t length)
{
  *suggestion = (TfxSuggestion){ .word = word, .length = length };
}

void
tfx_suggestion_try (TfxSuggestion *suggestion, const char *candidate)
{
  size_t n = suggestion->length, m = strlen (candidate);
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
  const size_t n = suggestion->length, m = strlen (candidate);

  if (n < 2 || n >= m || suggestion->second ||
      strncasecmp (candidate + m - n, suggestion->word, n) != 0)
    return;
  if (suggestion->best)
    suggestion->second = candidate;
  else
    suggestion->best = candidate;
}
