/* SPDX-License-Identifier: LGPL-2.1-or-later
 * translate.c: filters of FFmpeg and SoX, as chains.
 *
 *   highpass=f=80,equalizer=f=1000:t=q:w=1:g=2     FFmpeg
 *   highpass 80 equalizer 1000 1q 2                SoX
 *
 * Both programs use the sections of the Audio EQ Cookbook, as biquad.c does, so
 * the translation is exact to the digits of Q, but for widths in octaves, which
 * depend on the sample rate there, and for filters with one pole. */
#include "translate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "value.h"

typedef enum
{
  FFMPEG = 1 << 0,
  SOX = 1 << 1
} Program;

typedef enum
{
  LOW_PASS,
  HIGH_PASS,
  BAND_PASS,
  NOTCH,
  ALL_PASS,
  PEAK,
  LOW_SHELF,
  HIGH_SHELF,
  LEVEL, /* its gain alone */
  OTHER  /* only the class is known */
} Kind;

typedef struct Filter
{
  const char *name;
  unsigned programs;
  Kind kind;
  const char *klass;
} Filter;

static const Filter filters[] = {
  { "lowpass", FFMPEG | SOX, LOW_PASS, "LoButterworth" },
  { "highpass", FFMPEG | SOX, HIGH_PASS, "HiButterworth" },
  { "bandpass", FFMPEG | SOX, BAND_PASS, "BiquadBPF" },
  { "bandreject", FFMPEG | SOX, NOTCH, "Notch" },
  { "allpass", FFMPEG | SOX, ALL_PASS, "AllPass" },
  { "equalizer", FFMPEG | SOX, PEAK, "ParametricEQ" },
  { "bass", FFMPEG | SOX, LOW_SHELF, "LoShelving" },
  { "lowshelf", FFMPEG, LOW_SHELF, "LoShelving" },
  { "treble", FFMPEG | SOX, HIGH_SHELF, "HiShelving" },
  { "highshelf", FFMPEG, HIGH_SHELF, "HiShelving" },
  { "volume", FFMPEG, LEVEL, "Gain" },
  { "vol", SOX, LEVEL, "Gain" },
  { "gain", SOX, LEVEL, "Gain" },
  { "biquad", FFMPEG | SOX, OTHER, "Biquad" },
  { "acompressor", FFMPEG, OTHER, "Compressor" },
  { "compand", FFMPEG | SOX, OTHER, "Compressor" },
  { "agate", FFMPEG, OTHER, "Gate" },
  { "alimiter", FFMPEG, OTHER, "Limiter" },
  { "loudnorm", FFMPEG, OTHER, "Loudness" },
  { "dynaudnorm", FFMPEG, OTHER, "Normalize" },
  { "norm", SOX, OTHER, "Normalize" },
  { "aecho", FFMPEG, OTHER, "Delay" },
  { "echo", SOX, OTHER, "Echo" },
  { "reverb", SOX, OTHER, "Reverb" },
  { "afir", FFMPEG, OTHER, "Convolve" },
  { "fir", SOX, OTHER, "FIR" },
  { "sinc", SOX, OTHER, "DesignableFIR" },
  { "firequalizer", FFMPEG, OTHER, "GraphicEQ" },
  { "superequalizer", FFMPEG, OTHER, "GraphicEQ" },
  { "anequalizer", FFMPEG, OTHER, "ParametricEQ" },
  { "pan", FFMPEG, OTHER, "Mix" },
  { "remix", SOX, OTHER, "Mix" },
};

/* ---- reading ----------------------------------------------------------------- */

#define MAX_TOKEN 40

/* The unread rest of a text. */
typedef struct Cursor
{
  const char *at, *end;
} Cursor;

static bool
is_digit (char c)
{
  return c >= '0' && c <= '9';
}

static bool
is_letter (char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_space (char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static char
peek (const Cursor *cursor, size_t ahead)
{
  return ahead < (size_t)(cursor->end - cursor->at) ? cursor->at[ahead] : '\0';
}

static void
skip_space (Cursor *cursor)
{
  while (is_space (peek (cursor, 0)))
    cursor->at++;
}

/* Letters and digits; false if they are none or too many. */
static bool
read_name (Cursor *cursor, char name[MAX_TOKEN])
{
  size_t n = 0;

  while (is_letter (peek (cursor, n)) || (n > 0 && is_digit (peek (cursor, n))))
    n++;
  if (n == 0 || n >= MAX_TOKEN)
    return false;
  memcpy (name, cursor->at, n);
  name[n] = '\0';
  cursor->at += n;
  return true;
}

/* Up to one of the stops, a space or the end. */
static bool
read_token (Cursor *cursor, const char *stops, char token[MAX_TOKEN])
{
  size_t n = 0;

  while (peek (cursor, n) && !is_space (peek (cursor, n)) &&
         !strchr (stops, peek (cursor, n)))
    n++;
  if (n == 0 || n >= MAX_TOKEN)
    return false;
  memcpy (token, cursor->at, n);
  token[n] = '\0';
  cursor->at += n;
  return true;
}

/* Whether a number begins here, with its sign. */
static bool
begins_number (const Cursor *cursor)
{
  size_t i = peek (cursor, 0) == '-' || peek (cursor, 0) == '+' ? 1 : 0;

  return is_digit (peek (cursor, i)) ||
         (peek (cursor, i) == '.' && is_digit (peek (cursor, i + 1)));
}

/* "1.5k": the number and the letters after it. */
static bool
read_number (const char *token, double *number, const char **unit)
{
  const size_t n = strspn (token, "+-.0123456789");
  char digits[MAX_TOKEN];

  memcpy (digits, token, n);
  digits[n] = '\0';
  *unit = token + n;
  return tfx_number_parse (digits, number);
}

static bool
read_frequency (const char *token, double *hz)
{
  const char *unit;

  if (!read_number (token, hz, &unit) || *hz <= 0.0)
    return false;
  if (*unit == 'k')
    *hz *= 1000.0;
  return *unit == '\0' || strcmp (unit, "k") == 0;
}

/* ---- one filter ---------------------------------------------------------------- */

typedef struct Values
{
  double freq_hz, width, gain;
  double q_factor; /* of bass and treble in FFmpeg, whose shelves are steeper */
  char width_type; /* 'q', 'h', 'k', 'o' octaves, 's' the slope of a shelf */
  bool is_decibel, is_skirt;
  int n_poles;
} Values;

/* The values of a filter whose options are left out; 0: they must be given. */
static Values
find_defaults (Kind kind, Program program)
{
  Values values = { .width = 0.5, .width_type = 'q' };

  if (kind == LOW_PASS || kind == HIGH_PASS)
    values.width = program == SOX ? sqrt (0.5) : 0.707;
  else if (kind == PEAK)
    values.width = program == SOX ? 0.0 : 1.0;
  else if ((kind == LOW_SHELF || kind == HIGH_SHELF) && program == SOX)
    values.width_type = 's';
  else if (kind == ALL_PASS && program == FFMPEG)
    values.width = 0.707;
  else if (program == SOX)
    values = (Values){ .width_type = 'h' };
  if (kind == LOW_SHELF)
    values.freq_hz = 100.0;
  else if (kind == HIGH_SHELF)
    values.freq_hz = 3000.0;
  else if (program == FFMPEG && kind != PEAK)
    values.freq_hz = kind == LOW_PASS ? 500.0 : 3000.0;
  values.is_decibel = kind != LEVEL;
  values.n_poles = 2;
  values.q_factor = 1.0;
  return values;
}

static bool
set_level (Values *values, const char *token)
{
  const char *unit;

  if (!read_number (token, &values->gain, &unit))
    return false;
  values->is_decibel = values->is_decibel || strcasecmp (unit, "dB") == 0;
  return *unit == '\0' || strcasecmp (unit, "dB") == 0;
}

/* FFmpeg's "f=80:t=q:w=0.7"; without a name they come in that order. */
static bool
read_ffmpeg (Cursor *cursor, const Filter *filter, Values *values)
{
  static const char order[] = "ftwg";
  unsigned n_plain = 0;

  do {
    Cursor ahead = *cursor;
    char key[MAX_TOKEN], token[MAX_TOKEN];
    const char *unit;
    bool is_read;

    if (read_name (&ahead, key) && peek (&ahead, 0) == '=') {
      *cursor = ahead;
      cursor->at++;
      if (strcmp (key, "poles") != 0 && strcmp (key, "csg") != 0 &&
          strcmp (key, "frequency") != 0 && strcmp (key, "width") != 0 &&
          strcmp (key, "gain") != 0 && strcmp (key, "width_type") != 0 &&
          strcmp (key, "volume") != 0 && key[1] != '\0')
        return false;
      if (strcmp (key, "width_type") == 0)
        key[0] = 't';
      else if (strcmp (key, "csg") == 0)
        key[0] = 'k';
      else if (filter->kind == LEVEL)
        key[0] = strcmp (key, "volume") == 0 ? 'v' : '?';
    } else {
      key[0] = filter->kind == LEVEL && n_plain == 0 ? 'v'
               : n_plain < 4                         ? order[n_plain]
                                                     : '?';
      n_plain++;
    }
    if (!read_token (cursor, ":,;|[]'\"", token))
      return false;
    switch (key[0]) {
      case 'f':
        is_read = read_frequency (token, &values->freq_hz);
        break;
      case 't':
        values->width_type = token[0];
        is_read = token[1] == '\0' && strchr ("qhkos", token[0]);
        break;
      case 'w':
        is_read = read_number (token, &values->width, &unit) && !*unit;
        break;
      case 'g':
        is_read = read_number (token, &values->gain, &unit) && !*unit;
        break;
      case 'p':
        values->n_poles = token[0] == '1' ? 1 : 2;
        is_read = token[1] == '\0';
        break;
      case 'k':
        values->is_skirt = token[0] == '1';
        is_read = filter->kind == BAND_PASS && token[1] == '\0';
        break;
      case 'v':
        is_read = set_level (values, token);
        break;
      default:
        is_read = false;
        break;
    }
    if (!is_read)
      return false;
  } while (peek (cursor, 0) == ':' && cursor->at++);
  return true;
}

/* SoX's "80 0.7q", a gain before or after it. */
static bool
read_sox (Cursor *cursor, const Filter *filter, Values *values)
{
  const bool is_shelf = filter->kind == LOW_SHELF || filter->kind == HIGH_SHELF;
  const char *order = filter->kind == LEVEL  ? "v"
                      : is_shelf             ? "gfw"
                      : filter->kind == PEAK ? "fwg"
                                             : "fw";
  char token[MAX_TOKEN];
  const char *unit;

  if (filter->kind == LEVEL)
    values->is_decibel = strcmp (filter->name, "gain") == 0;
  if (filter->kind == BAND_PASS && peek (cursor, 0) == '-' &&
      peek (cursor, 1) == 'c') {
    values->is_skirt = true;
    cursor->at += 2;
    skip_space (cursor);
  }
  while (begins_number (cursor)) {
    if (!read_token (cursor, "|,;()'\"", token))
      return false;
    skip_space (cursor);
    if ((filter->kind == LOW_PASS || filter->kind == HIGH_PASS) &&
        order[0] == 'f' &&
        (strcmp (token, "-1") == 0 || strcmp (token, "-2") == 0)) {
      values->n_poles = token[1] - '0';
      continue;
    }
    switch (*order++) {
      case 'f':
        if (!read_frequency (token, &values->freq_hz))
          return false;
        break;
      case 'w':
        if (!read_number (token, &values->width, &unit) ||
            (*unit && (unit[1] || !strchr ("qhkos", *unit))))
          return false;
        if (*unit)
          values->width_type = *unit;
        break;
      case 'g':
        if (!read_number (token, &values->gain, &unit) || *unit)
          return false;
        break;
      case 'v':
        if (!set_level (values, token))
          return false;
        break;
      default:
        return false;
    }
  }
  return *order == '\0' || is_shelf || (*order == 'w' && values->width > 0.0);
}

/* ---- writing -------------------------------------------------------------------- */

/* A quality factor, to four digits. */
static void
print_q (double q, char text[TFX_NUMBER_SIZE])
{
  const double scale = pow (10.0, 3.0 - floor (log10 (q)));

  tfx_number_print (rint (q * scale) / scale, text);
}

/* The Q of the width; 0 if there is none. */
static double
find_q (const Values *values)
{
  const double a = pow (10.0, values->gain / 40.0), width = values->width;
  double q = 0.0;

  if (!(width > 0.0))
    return 0.0;
  switch (values->width_type) {
    case 'q':
      q = width;
      break;
    case 'h':
      q = values->freq_hz / width;
      break;
    case 'k':
      q = values->freq_hz / (1000.0 * width);
      break;
    case 'o':
      q = 0.5 / sinh (0.5 * log (2.0) * width);
      break;
    default:
      q = 1.0 / sqrt ((a + 1.0 / a) * (1.0 / width - 1.0) + 2.0);
      break;
  }
  q *= values->q_factor;
  return isfinite (q) && q >= 0.001 && q <= 10000.0 ? q : 0.0;
}

/* The call of the filter; false if there is none.  Not exact: *is_near. */
static bool
write_call (const Filter *filter, const Values *values, char *call, size_t size,
    bool *is_near)
{
  char freq[TFX_NUMBER_SIZE], gain[TFX_NUMBER_SIZE], q_text[TFX_NUMBER_SIZE];
  const double q = filter->kind == LEVEL ? 1.0 : find_q (values);
  const char *klass = filter->klass;

  if (filter->kind == OTHER || q == 0.0 ||
      (filter->kind != LEVEL && !(values->freq_hz > 0.0)))
    return false;
  tfx_number_print (values->freq_hz, freq);
  tfx_number_print (values->gain, gain);
  print_q (q, q_text);
  *is_near = *is_near || values->width_type == 'o' || values->n_poles == 1;
  switch (filter->kind) {
    case LOW_PASS:
    case HIGH_PASS:
      if (values->n_poles == 1 || fabs (q - sqrt (0.5)) < 2e-4)
        snprintf (call, size, "%s(%s, order=%d)", klass, freq, values->n_poles);
      else
        snprintf (call, size, "%s(%s, q=%s)",
            filter->kind == LOW_PASS ? "BiquadLPF" : "BiquadHPF", freq, q_text);
      return true;
    case PEAK:
      snprintf (call, size, "%s(%s, q=%s, gain=%s)", klass, freq, q_text, gain);
      return true;
    case LOW_SHELF:
    case HIGH_SHELF:
      if (values->n_poles == 1)
        snprintf (call, size, "%s1(%s, gain=%s, gain_scale='db')", klass, freq,
            gain);
      else
        snprintf (call, size, "%s(%s, q=%s, gain=%s, gain_scale='db')", klass,
            freq, q_text, gain);
      return true;
    case LEVEL:
      snprintf (call, size, "%s(%s%s)", klass, gain,
          values->is_decibel ? ", gain_type='db'" : "");
      return true;
    default:
      snprintf (call, size, "%s(%s, q=%s)",
          values->is_skirt ? "BiquadBPFPeak" : klass, freq, q_text);
      return true;
  }
}

/* ---- filters of FFmpeg and SoX ---------------------------------------------------- */

static const Filter *
find_filter (const char *name, Program program)
{
  for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
    if ((filters[i].programs & program) && strcmp (filters[i].name, name) == 0)
      return &filters[i];
  }
  return NULL;
}

/* Whether the cursor is behind the name of a filter of the program, in a form that
 * no chain has. */
static bool
is_filter (Cursor cursor, Program program)
{
  const bool has_space = is_space (peek (&cursor, 0));
  char key[MAX_TOKEN];

  skip_space (&cursor);
  if (program == SOX)
    return has_space &&
           (begins_number (&cursor) ||
               (peek (&cursor, 0) == '-' && is_letter (peek (&cursor, 1))));
  if (peek (&cursor, 0) != '=')
    return false;
  cursor.at++;
  if (begins_number (&cursor))
    return true;
  return read_name (&cursor, key) && peek (&cursor, 0) == '=';
}

/* Reads the next filter, and writes it as a call if it can. */
static const Filter *
translate_one (Cursor *cursor, Program program, char *call, size_t size,
    bool *is_near)
{
  char name[MAX_TOKEN];
  const Filter *filter;
  Values values;

  *call = '\0';
  if (!read_name (cursor, name) || !is_filter (*cursor, program))
    return NULL;
  filter = find_filter (name, program);
  if (!filter)
    return NULL;
  skip_space (cursor);
  values = find_defaults (filter->kind, program);
  if (program == FFMPEG) {
    if (strcmp (name, "bass") == 0 || strcmp (name, "treble") == 0)
      values.q_factor = sqrt (2.0);
    cursor->at++;
    if (!read_ffmpeg (cursor, filter, &values))
      return filter;
  } else if (!read_sox (cursor, filter, &values)) {
    return filter;
  }
  if (!write_call (filter, &values, call, size, is_near))
    *call = '\0';
  return filter;
}

static int
refuse_filters (Cursor cursor, Program program, TfxExprError *error)
{
  const char *program_name = program == FFMPEG ? "FFmpeg" : "SoX";
  char chain[200] = "", call[200];
  size_t n = 0;
  bool is_near = false, is_whole = true;
  const Filter *filter, *first = NULL;

  while ((
      filter = translate_one (&cursor, program, call, sizeof call, &is_near))) {
    first = first ? first : filter;
    is_whole = *call && n + strlen (call) + 8 <= sizeof chain;
    if (!is_whole)
      break;
    n += (size_t)snprintf (chain + n, sizeof chain - n, "%s%s", n ? " | " : "",
        call);
    skip_space (&cursor);
    if (program == FFMPEG) {
      if (peek (&cursor, 0) != ',')
        break;
      cursor.at++;
      skip_space (&cursor);
    }
  }
  if (!first)
    return 0;
  if (n == 0)
    return tfx_error_set (error, -EINVAL,
        "this is the syntax of %s; here %s is a call, for example %s",
        program_name, first->klass, tfx_catalogue_find (first->klass)->example);
  return tfx_error_set (error, -EINVAL, "this is the syntax of %s; %s is %s%s",
      program_name, is_near ? "the nearest chain here" : "the same chain here",
      chain, is_whole && cursor.at == cursor.end ? "" : " | …");
}

int
tfx_translate_refuse (const char *text, size_t length, TfxExprError *error)
{
  const Cursor cursor = { text, text + length };
  Cursor after = cursor;
  char name[MAX_TOKEN];
  int code = 0;

  if (!read_name (&after, name))
    return 0;
  for (Program program = FFMPEG; code == 0 && program <= SOX; program <<= 1) {
    if (is_filter (after, program))
      code = refuse_filters (cursor, program, error);
  }
  return code;
}
