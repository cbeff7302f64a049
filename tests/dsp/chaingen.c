/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chaingen.c: random texts of the chain language, made from the catalogue. */
#include "chaingen.h"

#include "lang/expr.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct Writer
{
  uint64_t *state;
  char *text;
  size_t size, length;
  unsigned n_stages, max_stages;
} Writer;

uint64_t
chaingen_random (uint64_t *state)
{
  uint64_t x = *state;

  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  *state = x;
  return x * 0x2545f4914f6cdd1dull;
}

unsigned
chaingen_below (uint64_t *state, unsigned n)
{
  return (unsigned)((chaingen_random (state) >> 33) % n);
}

static unsigned
below (Writer *w, unsigned n)
{
  return chaingen_below (w->state, n);
}

/* True once in n times. */
static bool
rarely (Writer *w, unsigned n)
{
  return below (w, n) == 0;
}

static double
fraction (Writer *w)
{
  return (double)(chaingen_random (w->state) >> 11) * 0x1p-53;
}

static void put (Writer *w, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static void
put (Writer *w, const char *format, ...)
{
  size_t room = w->size - w->length;
  va_list args;
  int n;

  va_start (args, format);
  n = vsnprintf (w->text + w->length, room, format, args);
  va_end (args);
  w->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void
put_space (Writer *w)
{
  static const char *const spaces[] = { " ", "\n", "\t", "  ", "\r\n", "\\\n",
    "# a comment | (\n", "" };

  if (rarely (w, 4))
    put (w, "%s", spaces[below (w, sizeof spaces / sizeof spaces[0])]);
}

static void
put_number (Writer *w, double x)
{
  static const char *const formats[] = { "%.17g", "%.6g", "%.3f", "%e", "%.0f",
    "+%.15g", "--%.9g" };

  /* A leading + or two signs go before a number that has none. */
  put (w, formats[below (w, signbit (x) ? 5 : 7)], x);
}

static double
choose_number (Writer *w, const TfxParam *param)
{
  double low = param->minimum, high = param->maximum, x;

  /* A delay is less than the taps of the impulse response. */
  if (strcmp (param->name, "delay") == 0 && (param->types & TFX_VALUE_WORD))
    return 0.0;
  if (rarely (w, 40))
    return 1e7 * (fraction (w) - 0.3);
  if (param->flags & TFX_PARAM_FREQUENCY)
    return 10.0 * pow (2000.0, fraction (w));
  if (strcmp (param->name, "order") == 0)
    high = 24.0;
  if (high - low > 1000.0)
    high = low + 1000.0;
  /* Often small numbers, which more parameters take. */
  x = low + (high - low) * pow (fraction (w), 3.0);
  if (low < 0.0 && rarely (w, 2))
    x = 3.0 * fraction (w);
  return param->flags & TFX_PARAM_INTEGER ? rint (x) : x;
}

static void
put_list (Writer *w, const TfxParam *param)
{
  size_t n = param->min_list + below (w, 4);
  bool tuple = rarely (w, 2);
  double x = choose_number (w, param);

  if (n > param->max_list)
    n = param->max_list;
  put (w, tuple ? "(" : "[");
  for (size_t i = 0; i < n; i++) {
    put_space (w);
    put_number (w, x);
    if (i + 1 < n || n == 1 || rarely (w, 4))
      put (w, ",");
    x = param->flags & TFX_PARAM_FREQUENCY ? x * 1.5 + 1.0
                                           : choose_number (w, param);
  }
  put_space (w);
  put (w, tuple ? ")" : "]");
}

/* Rows for few channels. */
static void
put_rows (Writer *w, const TfxParam *param)
{
  const size_t n_columns =
      param->n_columns ? param->n_columns : 1 + below (w, 3);
  const unsigned n_rows = 1 + below (w, 3);

  put (w, "[");
  for (unsigned i = 0; i < n_rows; i++) {
    put (w, i > 0 ? ", [" : "[");
    for (size_t k = 0; k < n_columns; k++) {
      put (w, k > 0 ? "," : "");
      put_number (w, choose_number (w, param));
    }
    put (w, "]");
  }
  put (w, "]");
}

/* Points of a curve: Hz, rising, and dB. */
static void
put_points (Writer *w)
{
  const unsigned n = 1 + below (w, 4);
  double hz = 10.0 * pow (2000.0, fraction (w));

  put (w, "[");
  for (unsigned i = 0; i < n; i++, hz = 1.5 * hz + 1.0) {
    put (w, i > 0 ? ", [" : "[");
    put_number (w, hz);
    put (w, ",");
    put_number (w, 48.0 * fraction (w) - 24.0);
    put (w, "]");
  }
  put (w, "]");
}

static void
put_word (Writer *w, const TfxParam *param)
{
  static const char *const quotes[] = { "'", "\"", "" };
  const char *quote, *word;
  unsigned n = 0, n_aliases = 0;

  if (!param->words) {
    put (w, "'%u/%u%s'", 1 + below (w, 3), 1u << below (w, 5),
        below (w, 3)    ? ""
        : rarely (w, 2) ? "d"
                        : "t");
    return;
  }
  while (param->words[n].word)
    n++;
  n = below (w, n);
  word = param->words[n].word;
  while (param->words[n].aliases[n_aliases])
    n_aliases++;
  if (n_aliases > 0 && rarely (w, 3))
    word = param->words[n].aliases[below (w, n_aliases)];
  if (param->words[n].call && rarely (w, 2)) {
    put (w, "fx.effect.%s", param->words[n].call);
    return;
  }
  quote = quotes[below (w, strchr (word, '-') ? 2 : 3)];
  if (param->second && rarely (w, 2))
    put (w, "('%s', %.3g)", word, 20.0 * fraction (w));
  else
    put (w, "%s%s%s", quote, word, quote);
}

/* The number of taps of a Curve: without it a kernel is long. */
static bool
is_taps (const TfxParam *param)
{
  return strcmp (param->name, "taps") == 0 && (param->types & TFX_VALUE_NONE);
}

static void
put_value (Writer *w, const TfxParam *param)
{
  unsigned type;

  do
    type = 1u << below (w, 5);
  while (!(param->types & type) || (is_taps (param) && type == TFX_VALUE_NONE));
  switch (type) {
    case TFX_VALUE_NONE:
      put (w, "None");
      break;
    case TFX_VALUE_BOOL:
      put (w, rarely (w, 2) ? "True" : "False");
      break;
    case TFX_VALUE_NUMBER:
      put_number (w, choose_number (w, param));
      break;
    case TFX_VALUE_WORD:
      put_word (w, param);
      break;
    default:
      if (param->flags & TFX_PARAM_ROWS)
        put_rows (w, param);
      else if (param->n_columns == 2)
        put_points (w);
      else
        put_list (w, param);
      break;
  }
}

static bool
is_of_file (const TfxParam *param)
{
  return param->types == TFX_VALUE_TEXT || strcmp (param->name, "channel") == 0;
}

/* One that needs no file. */
static const TfxClass *
choose_class (Writer *w)
{
  const TfxClass *klass;

  do
    klass =
        tfx_catalogue_class (below (w, (unsigned)tfx_catalogue_n_classes ()));
  while (is_of_file (&klass->params[0]));
  return klass;
}

static void put_group (Writer *w, unsigned depth);

/* Chains, as many as the list before them wants, but not always. */
static void
put_chains (Writer *w, const TfxClass *klass, unsigned depth)
{
  const unsigned n = klass->min_chains + below (w, 3);

  for (unsigned i = 0; i < n; i++) {
    put (w, ",");
    put_space (w);
    if (rarely (w, 3))
      put (w, "None");
    else
      put_group (w, depth + 1);
  }
}

static void
put_call (Writer *w, unsigned depth)
{
  static const char *const prefixes[] = { "fx.filter.", "torchfx.", "fx . " };
  const TfxClass *klass = choose_class (w);
  bool by_name = false, first = true;

  if (rarely (w, 3))
    put (w, "n%u_%u=", w->n_stages, below (w, 1000));
  put_space (w);
  if (rarely (w, 4))
    put (w, "%s", prefixes[below (w, 3)]);
  put (w, "%s(", klass->name);
  for (unsigned i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];

    if (i == klass->n_positional && klass->min_chains > 0)
      put_chains (w, klass, depth);
    by_name = by_name || rarely (w, 3) || (param->flags & TFX_PARAM_KEYWORD);
    if (!(param->flags & TFX_PARAM_REQUIRED) && !is_taps (param) &&
        (rarely (w, 2) || (param->flags & TFX_PARAM_STREAM) ||
            is_of_file (param))) {
      by_name = true;
      continue;
    }
    if (!first)
      put (w, ",");
    first = false;
    put_space (w);
    if (by_name)
      put (w, "%s=", param->name);
    put_value (w, param);
    put_space (w);
  }
  if (klass->chain_name && rarely (w, 3)) {
    put (w, first ? "" : ",");
    first = false;
    put (w, "%s=", klass->chain_name);
    if (rarely (w, 3))
      put_group (w, depth + 1);
    else
      put (w, "%s", rarely (w, 3) ? "None" : "Notch(50, 1) | RIAA()");
  }
  put (w, !first && rarely (w, 6) ? ",)" : ")");
}

static void put_series (Writer *w, unsigned depth);

/* A series, or channels with chains of their own. */
static void
put_group (Writer *w, unsigned depth)
{
  const unsigned n = 1 + below (w, 3);

  if (!rarely (w, 5)) {
    put_series (w, depth);
    return;
  }
  for (unsigned i = 0; i < n; i++) {
    put (w, i > 0 ? "; " : "");
    put_space (w);
    put (w, rarely (w, 3) ? "ch[%u:%u]" : "ch[%u, %u]", 2 * i, 2 * i + 1);
    put_space (w);
    put (w, ":");
    put_series (w, depth);
  }
}

static void
put_primary (Writer *w, unsigned depth)
{
  put_space (w);
  if (depth < 12 && rarely (w, 4)) {
    put (w, "(");
    put_group (w, depth + 1);
    put (w, ")");
  } else {
    w->n_stages++;
    put_call (w, depth);
  }
  put_space (w);
}

static void
put_series (Writer *w, unsigned depth)
{
  put_primary (w, depth);
  while (w->n_stages < w->max_stages && !rarely (w, 3)) {
    put (w, rarely (w, 3) ? "+" : "|");
    put_primary (w, depth);
  }
}

size_t
chaingen_write (uint64_t *state, unsigned max_stages, char *text, size_t size)
{
  Writer w = { state, text, size, 0, 0, max_stages };

  text[0] = '\0';
  if (!rarely (&w, 200))
    put_group (&w, 0);
  return w.length;
}
