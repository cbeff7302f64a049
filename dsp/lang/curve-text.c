/* SPDX-License-Identifier: LGPL-2.1-or-later
 * curve-text.c: reads curves: a line for each point, with the frequency in Hz and the
 * gain in dB,
 *
 *   # a comment
 *   20 -1.5
 *   1000, 0
 *
 * or all points in one line, as Equalizer APO and AutoEq write them:
 *
 *   GraphicEQ: 20 -1.5; 1000 0
 *
 * A line of titles may come first.  A column "equalization" in it, as in AutoEq's
 * tables, is the gain.  A third column, the phase in REW's files, is ignored.
 *
 * A comma between digits is a decimal mark if there are spaces or semicolons between the
 * numbers of its row, else it separates them. */
#include "curve-text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "node.h"

#define MAX_COLUMNS 16
#define MAX_WORD 40
#define DIGITS "0123456789"
#define SPACES " \t\r\f\v"

typedef struct Curve
{
  double *points;
  size_t n, room;
  size_t line;    /* the current one, from 1 */
  size_t column;  /* of the gain; 0: the second of two or three */
  size_t title;   /* the line of titles, or 0 */
  size_t graphic; /* the line of a GraphicEQ, or 0 */
  /* The first lines with a decimal point, with a comma that is a decimal mark, and with
   * one that may also group thousands; 0: none. */
  size_t dotted, decimal, either;
  char *why;
} Curve;

/* Sets the reason, after the line; returns the code. */
static int __attribute__ ((format (printf, 4, 5)))
fail (Curve *curve, size_t line, int code, const char *format, ...)
{
  int n = snprintf (curve->why, TFX_FILE_WHY_SIZE, "line %zu ", line);
  va_list args;

  va_start (args, format);
  vsnprintf (curve->why + n, TFX_FILE_WHY_SIZE - (size_t)n, format, args);
  va_end (args);
  return code;
}

bool
tfx_curve_text_check (const double *point, bool has_previous,
    char fault[TFX_FILE_WHY_SIZE])
{
  *fault = '\0';
  if (!(point[0] > 0.0))
    snprintf (fault, TFX_FILE_WHY_SIZE, "is at %s Hz, but must be above 0 Hz",
        TFX_NUMBER_TEXT (point[0]));
  else if (!(point[1] >= TFX_CURVE_MIN_DB && point[1] <= TFX_CURVE_MAX_DB))
    snprintf (fault, TFX_FILE_WHY_SIZE,
        "is %s dB, out of range (-300 to 120 dB)", TFX_NUMBER_TEXT (point[1]));
  else if (has_previous && !(point[-2] < point[0]))
    snprintf (fault, TFX_FILE_WHY_SIZE,
        "is at %s Hz, but must be above the one before it (%s Hz)",
        TFX_NUMBER_TEXT (point[0]), TFX_NUMBER_TEXT (point[-2]));
  return *fault == '\0';
}

/* ---- rows ------------------------------------------------------------------------ */

/* Notes how a word of a row with other separators has its decimal mark. */
static void
survey_word (Curve *curve, const char *word)
{
  const char *comma = strchr (word, ',');

  if (strchr (word, '.') && curve->dotted == 0)
    curve->dotted = curve->line;
  if (!comma || comma == word || !strchr (DIGITS, comma[-1]) || !comma[1])
    return;
  word += strspn (word, "+-");
  if (strspn (comma + 1, DIGITS) == 3 && comma[4] == '\0' && *word != '0' &&
      comma - word <= 3) {
    if (curve->either == 0)
      curve->either = curve->line;
  } else if (curve->decimal == 0) {
    curve->decimal = curve->line;
  }
}

/* Reads row[n] into the numbers; returns how many, or -1 if it has other text. */
static int
read_row (Curve *curve, const char *row, size_t n, double numbers[MAX_COLUMNS])
{
  char separators[] = SPACES ";,";
  const char *end = row + n, *at;
  size_t n_words = 0;
  int n_read = 0;

  /* Without the comma, if that leaves several words. */
  separators[sizeof SPACES] = '\0';
  for (at = row; at < end; at++)
    n_words +=
        !strchr (separators, *at) && (at == row || strchr (separators, at[-1]));
  if (n_words == 1)
    separators[sizeof SPACES] = ',';
  for (at = row; at < end;) {
    char word[MAX_WORD];
    size_t length = 0;

    while (at + length < end && !strchr (separators, at[length]))
      length++;
    if (length >= sizeof word || n_read == MAX_COLUMNS)
      return -1;
    memcpy (word, at, length);
    word[length] = '\0';
    at += length + (at + length < end);
    if (n_words > 1) {
      survey_word (curve, word);
      /* "20, -3" */
      if (length > 1 && word[length - 1] == ',')
        word[--length] = '\0';
      for (char *comma = word; (comma = strchr (comma, ','));)
        *comma = '.';
    }
    if (length == 0 && n_words > 1)
      continue;
    if (word[strspn (word, DIGITS "+-.eE")] ||
        !tfx_number_parse (word, &numbers[n_read++]))
      return -1;
  }
  return n_read;
}

static int
add_point (Curve *curve, const char *row, size_t n)
{
  double numbers[MAX_COLUMNS];
  const int n_read = read_row (curve, row, n, numbers);
  const int column = curve->column ? (int)curve->column : 1;
  char fault[TFX_FILE_WHY_SIZE], quoted[60];
  double *point;

  tfx_error_quote (quoted, sizeof quoted, row, n);
  if (n_read <= column || (curve->column == 0 && n_read > 3))
    return fail (curve, curve->line, -EINVAL, "has no frequency and gain: '%s'",
        quoted);
  if (curve->n == TFX_EXPR_MAX_LIST)
    return fail (curve, curve->line, -E2BIG,
        "is point %u; at most %u are allowed", TFX_EXPR_MAX_LIST / 2 + 1,
        TFX_EXPR_MAX_LIST / 2);
  if (curve->n == curve->room) {
    const size_t room = 2 * curve->room + 256;

    point = realloc (curve->points, room * sizeof *point);
    if (!point) {
      strcpy (curve->why, "out of memory");
      return -ENOMEM;
    }
    curve->points = point;
    curve->room = room;
  }
  point = curve->points + curve->n;
  point[0] = numbers[0];
  point[1] = numbers[column];
  curve->n += 2;
  if (!tfx_curve_text_check (point, curve->n > 2, fault))
    return fail (curve, curve->line, -ERANGE, "has the point '%s', which %s",
        quoted, fault);
  return 0;
}

/* ---- lines ----------------------------------------------------------------------- */

/* The points of "GraphicEQ: 20 -1.5; 1000 0". */
static int
read_graphic (Curve *curve, const char *line, size_t n)
{
  const char *end = line + n, *at = (const char *)memchr (line, ':', n) + 1;
  int code = 0;

  if (curve->n > 0 || curve->title > 0)
    return fail (curve, curve->title ? curve->title : curve->line, -EINVAL,
        "is not a part of a GraphicEQ: only that line may be in its file");
  curve->graphic = curve->line;
  while (at < end && code == 0) {
    const char *stop = memchr (at, ';', (size_t)(end - at));

    stop = stop ? stop : end;
    while (at < stop && strchr (SPACES, *at))
      at++;
    if (at < stop)
      code = add_point (curve, at, (size_t)(stop - at));
    at = stop + (stop < end);
  }
  return code;
}

/* The column of a line of titles. */
static size_t
find_column (const char *line, size_t n)
{
  static const char name[] = "equalization";
  size_t column = 0;

  for (const char *at = line; at < line + n; at++) {
    const size_t left = (size_t)(line + n - at);

    if ((at == line || at[-1] == ',') && left >= sizeof name - 1 &&
        strncasecmp (at, name, sizeof name - 1) == 0 &&
        (left == sizeof name - 1 || at[sizeof name - 1] == ','))
      return column;
    column += *at == ',';
  }
  return 0;
}

static int
read_line (Curve *curve, const char *line, size_t n)
{
  static const char graphic[] = "GraphicEQ";
  size_t word;

  while (n > 0 && strchr (SPACES, *line)) {
    line++;
    n--;
  }
  while (n > 0 && strchr (SPACES, line[n - 1]))
    n--;
  if (n == 0 || strchr ("#*;%", *line))
    return 0;
  word = strncasecmp (line, graphic, sizeof graphic - 1) == 0
             ? sizeof graphic - 1 + strspn (line + sizeof graphic - 1, " \t")
             : n;
  if (word < n && line[word] == ':')
    return read_graphic (curve, line, n);
  if (curve->graphic > 0)
    return fail (curve, curve->line, -EINVAL,
        "is not a part of a GraphicEQ: only that line may be in its file");
  if (curve->n == 0 && curve->title == 0 && !strchr (DIGITS "+-.", *line) &&
      !memchr (line, ':', n)) {
    curve->title = curve->line;
    curve->column = find_column (line, n);
    return 0;
  }
  return add_point (curve, line, n);
}

int
tfx_curve_text_read (const char *text, double **points, size_t *n,
    char why[TFX_FILE_WHY_SIZE])
{
  /* (Files of old Macs end lines with CR.) */
  const char end = strchr (text, '\n') ? '\n' : '\r';
  Curve curve = { .why = why };
  int code = 0;

  while (*text && code == 0) {
    const char *stop = strchr (text, end);
    const size_t length = stop ? (size_t)(stop - text) : strlen (text);

    curve.line++;
    code = read_line (&curve, text, length);
    text += length + (stop != NULL);
  }
  if (code == 0 && curve.n == 0) {
    strcpy (why, "it has no rows with a frequency and a gain");
    code = -EINVAL;
  } else if (code != -ENOMEM && curve.either > 0 && curve.decimal == 0) {
    /* Also where the point is wrong, as it may be for that reason. */
    code = fail (&curve, curve.either, -EINVAL,
        "has a comma that may be a decimal mark or group thousands; write "
        "decimal points, and no mark for thousands");
  } else if (code == 0 && (curve.decimal > 0 || curve.either > 0) &&
             curve.dotted > 0) {
    code = fail (&curve, curve.decimal ? curve.decimal : curve.either, -EINVAL,
        "has a decimal comma, but line %zu a decimal point", curve.dotted);
  }
  if (code < 0)
    free (curve.points);
  *points = code == 0 ? curve.points : NULL;
  *n = code == 0 ? curve.n : 0;
  return code;
}
