/* SPDX-License-Identifier: LGPL-2.1-or-later
 * value.c: values of parameters, their types and ranges. */
#include "value.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "note.h"
#include "number.h"
#include "suggest.h"

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

int
tfx_value_copy (TfxValue *to, const TfxValue *from)
{
  *to = *from;
  to->list = NULL;
  to->text = NULL;
  to->file = from->file ? tfx_file_ref (from->file) : NULL;
  if (from->n_list > 0) {
    to->list = malloc (from->n_list * sizeof *to->list);
    if (!to->list)
      goto error;
    memcpy (to->list, from->list, from->n_list * sizeof *to->list);
  }
  if (from->text) {
    to->text = malloc (strlen (from->text) + 1);
    if (!to->text)
      goto error;
    strcpy (to->text, from->text);
  }
  return 0;

error:
  tfx_value_clear (to);
  return -ENOMEM;
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
      return strcmp (a->text, b->text) == 0 && is_same_file (a->file, b->file);
  }
  return false;
}

/* What a parameter takes, for a message: "above 0 and below 1". */
static void
print_range (const TfxParam *param, char *text, size_t size)
{
  char low[TFX_NUMBER_SIZE], high[TFX_NUMBER_SIZE];
  bool has_low = isfinite (param->minimum),
       has_high = isfinite (param->maximum);
  bool above = param->flags & TFX_PARAM_ABOVE_MINIMUM;
  bool below = param->flags & TFX_PARAM_BELOW_MAXIMUM;
  const char *space = param->unit[0] ? " " : "";

  if (has_low)
    tfx_number_print (param->minimum, low);
  if (has_high)
    tfx_number_print (param->maximum, high);
  if (param->flags & TFX_PARAM_FREQUENCY)
    snprintf (text, size, "above 0 Hz and below half the sample rate");
  else if (!has_low && !has_high)
    snprintf (text, size, "any finite number");
  else if (!has_high)
    snprintf (text, size, "%s %s%s%s", above ? "above" : "at least", low, space,
        param->unit);
  else if (!above && !below)
    snprintf (text, size, "%s to %s%s%s", low, high, space, param->unit);
  else
    snprintf (text, size, "%s %s and %s %s%s%s", above ? "above" : "at least",
        low, below ? "below" : "at most", high, space, param->unit);
}

/* ---- fitting ---------------------------------------------------------------- */

static const char *
type_name (unsigned type)
{
  switch (type) {
    case TFX_VALUE_NONE:
      return "None";
    case TFX_VALUE_BOOL:
      return "True or False";
    case TFX_VALUE_NUMBER:
      return "a number";
    case TFX_VALUE_WORD:
      return "a string";
    case TFX_VALUE_TEXT:
      return "the name of a file";
    default:
      return "a list of numbers";
  }
}

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

  for (unsigned type = TFX_VALUE_BOOL; type <= TFX_VALUE_TEXT; type <<= 1) {
    if (param->types & type)
      n += (size_t)snprintf (takes + n, sizeof takes - n, "%s%s",
          n ? " or " : "", type_name (type));
  }
  list_words (param, words, sizeof words);
  return tfx_error_set (error, -EINVAL, "%s of %s must be %s%s%s%s, not %s",
      param->name, thing, takes, words[0] ? " (" : "", words,
      words[0] ? ")" : "", type_name (value->type));
}

static int
fit_word (TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error)
{
  TfxSuggestion near;
  char list[200], quoted[40];

  /* A parameter without words takes a note value. */
  if (!param->words) {
    double fraction;

    if (tfx_note_parse (value->word, &fraction))
      return 0;
    tfx_error_quote (quoted, sizeof quoted, value->word, strlen (value->word));
    return tfx_error_set (error, -EINVAL,
        "%s of %s: '%s' is not a note value; write '1/8', '1/8d' (dotted) or "
        "'1/8t' (triplet)",
        param->name, thing, quoted);
  }

  tfx_suggestion_init (&near, value->word, strlen (value->word));
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
  tfx_error_quote (quoted, sizeof quoted, value->word, strlen (value->word));
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
