/* SPDX-License-Identifier: LGPL-2.1-or-later
 * value.c: values of parameters, their types and ranges, and their text. */
#include "node.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* ---- note values ------------------------------------------------------------------ */

bool
tfx_note_parse (const char *text, double *fraction, double *seconds)
{
  const size_t n_digits = strspn (text, "0123456789.");
  char digits[TFX_VALUE_WORD_SIZE] = "";
  unsigned numerator, denominator;
  double ms;
  int n = 0;

  if (strcmp (text + n_digits, "ms") == 0 && n_digits < sizeof digits) {
    memcpy (digits, text, n_digits);
    if (!tfx_number_parse (digits, &ms) || !(ms > 0.0))
      return false;
    *seconds = ms / 1000.0;
    return true;
  }

  /* (The signs and spaces of sscanf() are not allowed.) */
  if (text[strspn (text, "0123456789/dt")] != '\0' ||
      sscanf (text, "%3u/%3u%n", &numerator, &denominator, &n) != 2 ||
      numerator == 0 || denominator == 0)
    return false;
  *fraction = (double)numerator / denominator;
  if (strcmp (text + n, "d") == 0)
    *fraction *= 1.5;
  else if (strcmp (text + n, "t") == 0)
    *fraction *= 2.0 / 3.0;
  else
    return text[n] == '\0';
  return true;
}

/* ---- numbers -------------------------------------------------------------------
 * A program that calls setlocale() may have a comma as decimal point.  The C
 * library's conversions are exact to the last bit, so they are used, in the thread's
 * own locale "C". */

bool
tfx_number_parse (const char *text, double *number)
{
  locale_t c = newlocale (LC_ALL_MASK, "C", (locale_t)0), previous;
  char *end;

  if (c == (locale_t)0)
    return false;
  previous = uselocale (c);
  *number = strtod (text, &end);
  uselocale (previous);
  freelocale (c);
  return *end == '\0' && end != text && isfinite (*number);
}

char *
tfx_number_print (double number, char text[TFX_NUMBER_SIZE])
{
  const locale_t c = newlocale (LC_ALL_MASK, "C", (locale_t)0);
  const locale_t previous = c != (locale_t)0 ? uselocale (c) : (locale_t)0;
  const char *sign = signbit (number) ? "-" : "";
  char literal[32], digits[20];
  int exponent, n = 0;

  /* 15 digits of a double are exact, fewer of a denormal one; 17 always tell two
   * apart. */
  for (int precision = fabs (number) < DBL_MIN ? 1 : 15; precision <= 17;
       precision++) {
    snprintf (literal, sizeof literal, "%.*e", precision - 1, fabs (number));
    if (strtod (literal, NULL) == fabs (number))
      break;
  }
  if (c != (locale_t)0) {
    uselocale (previous);
    freelocale (c);
  }

  /* (Without memory for a locale the point may be another character.) */
  for (const char *p = literal; *p != 'e'; p++) {
    if (*p >= '0' && *p <= '9')
      digits[n++] = *p;
  }
  while (n > 1 && digits[n - 1] == '0')
    n--;
  digits[n] = '\0';
  exponent = atoi (strchr (literal, 'e') + 1);
  if (exponent < -5 || exponent > 15)
    snprintf (text, TFX_NUMBER_SIZE, "%s%c%s%se%d", sign, digits[0],
        n > 1 ? "." : "", digits + 1, exponent);
  else if (exponent < 0)
    snprintf (text, TFX_NUMBER_SIZE, "%s0.%.*s%s", sign, -exponent - 1, "00000",
        digits);
  else if (n <= exponent + 1)
    snprintf (text, TFX_NUMBER_SIZE, "%s%s%.*s", sign, digits, exponent + 1 - n,
        "000000000000000");
  else
    snprintf (text, TFX_NUMBER_SIZE, "%s%.*s.%s", sign, exponent + 1, digits,
        digits + exponent + 1);
  return text;
}

/* ---- values ----------------------------------------------------------------------- */

TfxValue
tfx_value_number (double number)
{
  return (TfxValue){ .type = TFX_VALUE_NUMBER, .number = number };
}

void
tfx_value_set_word (TfxValue *value, const char *word)
{
  memset (value->word, 0, sizeof value->word);
  memcpy (value->word, word, strnlen (word, sizeof value->word - 1));
}

void
tfx_value_clear (TfxValue *value)
{
  free (value->list);
  free (value->text);
  tfx_file_unref (&value->file);
  *value = (TfxValue){ .type = TFX_VALUE_NONE };
}

static void *
copy_bytes (const void *bytes, size_t size)
{
  void *copy = size > 0 ? malloc (size) : NULL;

  return copy ? memcpy (copy, bytes, size) : NULL;
}

int
tfx_value_copy (TfxValue *to, const TfxValue *from)
{
  *to = *from;
  to->list = copy_bytes (from->list, from->n_list * sizeof *from->list);
  to->text = copy_bytes (from->text, from->text ? strlen (from->text) + 1 : 0);
  to->file = from->file ? tfx_file_ref (from->file) : NULL;
  if ((to->list || from->n_list == 0) && (to->text || !from->text))
    return 0;
  tfx_value_clear (to);
  return -ENOMEM;
}

TfxFile *
tfx_file_ref (TfxFile *file)
{
  __atomic_add_fetch (&file->refs, 1, __ATOMIC_RELAXED);
  return file;
}

void
tfx_file_unref (TfxFile **file)
{
  TfxFile *f = *file;

  *file = NULL;
  if (f && __atomic_sub_fetch (&f->refs, 1, __ATOMIC_ACQ_REL) == 0)
    f->free (f);
}

static bool
is_same_file (const TfxFile *a, const TfxFile *b)
{
  return a == b || (a && b && a->is_same == b->is_same && a->is_same (a, b));
}

bool
tfx_value_equal (const TfxValue *a, const TfxValue *b)
{
  if (a->type != b->type)
    return false;
  switch (a->type) {
    case TFX_VALUE_NONE:
      return true;
    case TFX_VALUE_BOOL:
    case TFX_VALUE_NUMBER:
      return a->number == b->number;
    case TFX_VALUE_WORD:
      return strcmp (a->word, b->word) == 0;
    case TFX_VALUE_LIST:
      if (a->n_list != b->n_list || a->n_columns != b->n_columns)
        return false;
      for (size_t i = 0; i < a->n_list; i++) {
        if (a->list[i] != b->list[i])
          return false;
      }
      return true;
    case TFX_VALUE_TEXT:
      return strcmp (a->text, b->text) == 0 &&
             is_same_file (a->file, b->file) && a->n_list == b->n_list &&
             (a->n_list == 0 ||
                 memcmp (a->list, b->list, a->n_list * sizeof *a->list) == 0);
  }
  return false;
}

/* The range of a parameter, for a message: "above 0 and below 1". */
static void
print_range (const TfxParam *param, char *text, size_t size)
{
  const char *low = TFX_NUMBER_TEXT (param->minimum), *unit = param->unit;
  const char *above =
      param->flags & TFX_PARAM_ABOVE_MINIMUM ? "above" : "at least";
  const char *below =
      param->flags & TFX_PARAM_BELOW_MAXIMUM ? "below" : "at most";
  const char *space = unit[0] ? " " : "";

  if (param->flags & TFX_PARAM_FREQUENCY)
    snprintf (text, size, "above 0 Hz and below half the sample rate");
  else if (!isfinite (param->maximum))
    snprintf (text, size, "%s %s%s%s", above, low, space, unit);
  else if (!(param->flags &
               (TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_BELOW_MAXIMUM)))
    snprintf (text, size, "%s to %s%s%s", low, TFX_NUMBER_TEXT (param->maximum),
        space, unit);
  else
    snprintf (text, size, "%s %s and %s %s%s%s", above, low, below,
        TFX_NUMBER_TEXT (param->maximum), space, unit);
}

/* ---- fitting ---------------------------------------------------------------- */

/* In the order of the bits of TfxValueType. */
static const char *const type_names[] = { "None", "True or False", "a number",
  "a string", "a list of numbers", "the name of a file" };

/* "'lowpass', 'highpass'", or nothing. */
static void
list_words (const TfxParam *param, char *text, size_t size)
{
  size_t n = 0;

  text[0] = '\0';
  for (const TfxWord *w = param->words; w && w->word && n < size; w++)
    n +=
        (size_t)snprintf (text + n, size - n, "%s'%s'", n ? ", " : "", w->word);
}

static int
refuse_type (const TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error)
{
  char takes[96] = "", words[200];
  size_t n = 0;

  for (unsigned i = 1; TFX_VALUE_NONE << i <= TFX_VALUE_TEXT; i++) {
    if (param->types & TFX_VALUE_NONE << i)
      n += (size_t)snprintf (takes + n, sizeof takes - n, "%s%s",
          n ? " or " : "", type_names[i]);
  }
  list_words (param, words, sizeof words);
  return tfx_error_set (error, -EINVAL, "%s of %s must be %s%s%s%s, not %s",
      param->name, thing, takes, words[0] ? " (" : "", words,
      words[0] ? ")" : "", type_names[__builtin_ctz (value->type)]);
}

static int
fit_word (TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error)
{
  TfxSuggestion near = { .word = value->word };
  char list[200];
  const char *quoted = TFX_ERROR_QUOTE (40, value->word);

  /* A parameter without words takes a note value. */
  if (!param->words) {
    double fraction, seconds;

    if (tfx_note_parse (value->word, &fraction, &seconds))
      return 0;
    return tfx_error_set (error, -EINVAL,
        "%s of %s: '%s' is not a note value; write '1/8', '1/8d' (dotted) or "
        "'1/8t' (triplet), or a time in ms: '2.5ms'",
        param->name, thing, quoted);
  }

  for (const TfxWord *w = param->words; w->word; w++) {
    bool found = strcmp (value->word, w->word) == 0;

    for (size_t i = 0; w->aliases[i] && !found; i++)
      found = strcmp (value->word, w->aliases[i]) == 0;
    if (found) {
      tfx_value_set_word (value, w->word);
      return 0;
    }
    tfx_suggestion_try (&near, w->word);
  }
  if (near.best)
    return tfx_error_set (error, -EINVAL,
        "%s of %s: unknown value '%s'; did you mean '%s'?", param->name, thing,
        quoted, near.best);
  list_words (param, list, sizeof list);
  return tfx_error_set (error, -EINVAL,
      "%s of %s: unknown value '%s'; use one of %s", param->name, thing, quoted,
      list);
}

static int
fit_number (double number, const TfxParam *param, const char *thing,
    TfxExprError *error)
{
  char text[TFX_NUMBER_SIZE], range[120];
  TfxParam ranged = *param;
  bool low, high;

  if (!isfinite (number))
    return tfx_error_set (error, -ERANGE, "%s of %s is not a finite number",
        param->name, thing);
  low = param->flags & TFX_PARAM_ABOVE_MINIMUM ? number <= param->minimum
                                               : number < param->minimum;
  high = param->flags & TFX_PARAM_BELOW_MAXIMUM ? number >= param->maximum
                                                : number > param->maximum;
  if (!(param->flags & TFX_PARAM_SCALED) &&
      (low || (high && !(param->flags & TFX_PARAM_DEPENDENT)))) {
    /* How high it may be, other values say. */
    if (param->flags & TFX_PARAM_DEPENDENT)
      ranged.maximum = INFINITY;
    tfx_number_print (number, text);
    print_range (&ranged, range, sizeof range);
    /* A time in milliseconds is the likely slip. */
    if (high && strcmp (param->unit, "s") == 0)
      return tfx_error_set (error, -ERANGE,
          "%s of %s is %s s, out of its range: %s; write %s ms as %s",
          param->name, thing, text, range, text,
          TFX_NUMBER_TEXT (number / 1000.0));
    return tfx_error_set (error, -ERANGE,
        "%s of %s is %s%s%s, out of range (%s)", param->name, thing, text,
        param->unit[0] ? " " : "", param->unit, range);
  }
  if ((param->flags & TFX_PARAM_INTEGER) && number != rint (number)) {
    tfx_number_print (number, text);
    return tfx_error_set (error, -EINVAL,
        "%s of %s is %s, but must be an integer", param->name, thing, text);
  }
  return 0;
}

static int
fit_list (const TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error)
{
  const size_t n = value->n_columns;
  char expected[48];

  if ((param->flags & TFX_PARAM_ROWS) && n == 0)
    return tfx_error_set (error, -EINVAL,
        "%s of %s must be a list of rows, for example [[0, 1], [1, 0]]",
        param->name, thing);
  if (n > 0 && value->n_list % n != 0)
    return tfx_error_set (error, -ERANGE,
        "%s of %s is a list of %zu numbers, but needs rows of %zu", param->name,
        thing, value->n_list, n);
  if (value->n_list < param->min_list || value->n_list > param->max_list) {
    if (param->min_list == param->max_list)
      snprintf (expected, sizeof expected, "%zu", param->min_list);
    else
      snprintf (expected, sizeof expected, "%zu to %zu", param->min_list,
          param->max_list);
    return tfx_error_set (error, -ERANGE,
        "%s of %s is a list of %zu numbers, but needs %s", param->name, thing,
        value->n_list, expected);
  }
  for (size_t i = 0; i < value->n_list; i++) {
    int code = fit_number (value->list[i], param, thing, error);
    if (code < 0)
      return code;
  }
  return 0;
}

int
tfx_value_fit (TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error)
{
  if (value->type == TFX_VALUE_NONE &&
      (param->flags & TFX_PARAM_NONE_IS_DEFAULT)) {
    *value = param->initial;
    return 0;
  }
  if (!(param->types & value->type))
    return refuse_type (value, param, thing, error);

  switch (value->type) {
    case TFX_VALUE_WORD:
      return fit_word (value, param, thing, error);
    case TFX_VALUE_NUMBER:
      return fit_number (value->number, param, thing, error);
    case TFX_VALUE_LIST:
      if (!(param->flags & TFX_PARAM_ROWS))
        value->n_columns = param->n_columns;
      return fit_list (value, param, thing, error);
    case TFX_VALUE_NONE:
    case TFX_VALUE_BOOL:
    case TFX_VALUE_TEXT:
      break;
  }
  return 0;
}
