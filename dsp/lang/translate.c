/* SPDX-License-Identifier: LGPL-2.1-or-later
 * translate.c: filters of FFmpeg and SoX, as chains.
 *
 *   highpass=f=80,equalizer=f=1000:t=q:w=1:g=2     FFmpeg
 *   highpass 80 equalizer 1000 1q 2                SoX
 *
 * Both programs use the sections of the Audio EQ Cookbook, as class-sections.c does, so
 * the translation is exact to the digits of Q, but for filters with one pole, and
 * shelves with a width in octaves. */
#include "lexer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "error.h"

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
  { "mcompand", FFMPEG | SOX, OTHER, "Multiband" },
  { "acrossover", FFMPEG, OTHER, "Multiband" },
  { "agate", FFMPEG, OTHER, "Gate" },
  { "alimiter", FFMPEG, OTHER, "Limiter" },
  { "loudnorm", FFMPEG, OTHER, "Loudness" },
  { "dynaudnorm", FFMPEG, OTHER, "Normalize" },
  { "afftdn", FFMPEG, OTHER, "Denoise" },
  { "noisered", SOX, OTHER, "Denoise" },
  { "norm", SOX, OTHER, "Normalize" },
  { "aecho", FFMPEG, OTHER, "Delay" },
  { "echo", SOX, OTHER, "Echo" },
  { "reverb", SOX, OTHER, "Reverb" },
  { "afir", FFMPEG, OTHER, "Convolve" },
  { "sofalizer", FFMPEG, OTHER, "HRIR" },
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

static char
peek (const Cursor *cursor, size_t ahead)
{
  return ahead < (size_t)(cursor->end - cursor->at) ? cursor->at[ahead] : '\0';
}

static void
skip_space (Cursor *cursor)
{
  while (tfx_lexer_is_space (peek (cursor, 0)))
    cursor->at++;
}

/* Reads up to one of the stops, a space or the end; without stops a name of letters
 * and digits.  False if it is empty or too long. */
static bool
read_token (Cursor *cursor, const char *stops, char token[MAX_TOKEN])
{
  size_t n = 0;

  for (char c; (c = peek (cursor, n)); n++) {
    if (stops ? tfx_lexer_is_space (c) || strchr (stops, c)
              : !tfx_lexer_is_letter (c) && (n == 0 || !tfx_lexer_is_digit (c)))
      break;
  }
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
  const size_t i = peek (cursor, 0) == '-' || peek (cursor, 0) == '+' ? 1 : 0;

  return tfx_lexer_is_digit (peek (cursor, i)) ||
         (peek (cursor, i) == '.' && tfx_lexer_is_digit (peek (cursor, i + 1)));
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
find_defaults (const Filter *filter, Program program)
{
  /* Of FFmpeg and of SoX. */
  static const struct
  {
    double freq_hz, width;
    char width_type;
  } defaults[OTHER + 1][2] = {
    [LOW_PASS] = { { 500.0, 0.707, 'q' }, { 0.0, M_SQRT1_2, 'q' } },
    [HIGH_PASS] = { { 3000.0, 0.707, 'q' }, { 0.0, M_SQRT1_2, 'q' } },
    [BAND_PASS] = { { 3000.0, 0.5, 'q' }, { 0.0, 0.0, 'h' } },
    [NOTCH] = { { 3000.0, 0.5, 'q' }, { 0.0, 0.0, 'h' } },
    [ALL_PASS] = { { 3000.0, 0.707, 'q' }, { 0.0, 0.0, 'h' } },
    [PEAK] = { { 0.0, 1.0, 'q' }, { 0.0, 0.0, 'q' } },
    [LOW_SHELF] = { { 100.0, 0.5, 'q' }, { 100.0, 0.5, 's' } },
    [HIGH_SHELF] = { { 3000.0, 0.5, 'q' }, { 3000.0, 0.5, 's' } },
  };
  const bool is_steep =
      program == FFMPEG && tfx_lexer_is_word (filter->name, "bass treble");
  const size_t of = program == SOX;

  return (Values){ .freq_hz = defaults[filter->kind][of].freq_hz,
    .width = defaults[filter->kind][of].width,
    .width_type = defaults[filter->kind][of].width_type,
    .q_factor = is_steep ? sqrt (2.0) : 1.0,
    .is_decibel = filter->kind != LEVEL || strcmp (filter->name, "gain") == 0,
    .n_poles = 2 };
}

/* Sets one value: 'f' frequency, 't' type of width, 'w' width, 'g' gain, 'p' poles,
 * 'k' constant skirt gain, 'v' level.  False if it cannot be read. */
static bool
set_value (Values *values, char key, const char *token)
{
  /* "1.5k": the number and the letters after it */
  const size_t n = strspn (token, "+-.0123456789");
  const char *unit = token + n;
  char digits[MAX_TOKEN];
  double number = 0.0;

  memcpy (digits, token, n);
  digits[n] = '\0';
  if (key != 't' && !tfx_number_parse (digits, &number))
    return false;
  switch (key) {
    case 'f':
      values->freq_hz = strcmp (unit, "k") == 0 ? 1000.0 * number : number;
      return number > 0.0 && (*unit == '\0' || strcmp (unit, "k") == 0);
    case 't':
      values->width_type = token[0];
      return token[1] == '\0' && strchr ("qhkos", token[0]);
    case 'w':
      values->width = number;
      if (*unit)
        values->width_type = *unit;
      return *unit == '\0' || (unit[1] == '\0' && strchr ("qhkos", *unit));
    case 'g':
      values->gain = number;
      return *unit == '\0';
    case 'p':
      values->n_poles = number == 1.0 ? 1 : 2;
      return *unit == '\0';
    case 'k':
      values->is_skirt = number == 1.0;
      return *unit == '\0';
    case 'v':
      values->gain = number;
      values->is_decibel = values->is_decibel || strcasecmp (unit, "dB") == 0;
      return *unit == '\0' || strcasecmp (unit, "dB") == 0;
    default:
      return false;
  }
}

/* FFmpeg's "f=80:t=q:w=0.7"; without names in that order. */
static bool
read_ffmpeg (Cursor *cursor, const Filter *filter, Values *values)
{
  static const struct
  {
    const char *name;
    char key;
  } names[] = { { "f", 'f' }, { "frequency", 'f' }, { "t", 't' },
    { "width_type", 't' }, { "w", 'w' }, { "width", 'w' }, { "g", 'g' },
    { "gain", 'g' }, { "p", 'p' }, { "poles", 'p' }, { "csg", 'k' },
    { "volume", 'v' } };
  unsigned n_plain = 0;

  do {
    Cursor ahead = *cursor;
    char name[MAX_TOKEN], token[MAX_TOKEN], key = '?';

    if (read_token (&ahead, NULL, name) && peek (&ahead, 0) == '=') {
      *cursor = ahead;
      cursor->at++;
      for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        key = strcmp (names[i].name, name) == 0 ? names[i].key : key;
    } else if (n_plain < 4) {
      key = filter->kind == LEVEL && n_plain == 0 ? 'v' : "ftwg"[n_plain];
      n_plain++;
    }
    if ((filter->kind == LEVEL) != (key == 'v') ||
        (key == 'k' && filter->kind != BAND_PASS) ||
        !read_token (cursor, ":,;|[]'\"", token) ||
        !set_value (values, key, token) ||
        (key == 'w' && tfx_lexer_is_letter (token[strlen (token) - 1])))
      return false;
  } while (peek (cursor, 0) == ':' && cursor->at++);
  return true;
}

/* SoX's "80 0.7q", a gain before or after it. */
static bool
read_sox (Cursor *cursor, const Filter *filter, Values *values)
{
  const bool is_shelf = filter->kind == LOW_SHELF || filter->kind == HIGH_SHELF;
  const bool is_pass = filter->kind == LOW_PASS || filter->kind == HIGH_PASS;
  const char *order = filter->kind == LEVEL  ? "v"
                      : is_shelf             ? "gfw"
                      : filter->kind == PEAK ? "fwg"
                                             : "fw";
  char token[MAX_TOKEN];

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
    if (is_pass && *order == 'f' &&
        (strcmp (token, "-1") == 0 || strcmp (token, "-2") == 0))
      values->n_poles = token[1] - '0';
    else if (!*order || !set_value (values, *order++, token))
      return false;
  }
  return *order == '\0' || is_shelf || (*order == 'w' && values->width > 0.0);
}

/* ---- writing -------------------------------------------------------------------- */

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

/* Writes the call of the filter; false if there is none.  Sets *is_near if it is not
 * exact. */
static bool
write_call (const Filter *filter, const Values *values, char *call, size_t size,
    bool *is_near)
{
  const Kind kind = filter->kind;
  const bool is_pass = kind == LOW_PASS || kind == HIGH_PASS;
  const bool is_shelf = kind == LOW_SHELF || kind == HIGH_SHELF;
  const bool is_octaves = values->width_type == 'o' && !is_shelf;
  const double q = kind == LEVEL ? 1.0 : find_q (values);
  const bool is_simple =
      values->n_poles == 1 || (!is_octaves && fabs (q - sqrt (0.5)) < 2e-4);
  const char *gain = TFX_NUMBER_TEXT (values->gain), *klass = filter->klass;
  double scale;
  size_t n;

  if (kind == OTHER || q == 0.0 || (kind != LEVEL && !(values->freq_hz > 0.0)))
    return false;
  *is_near = *is_near || (values->width_type == 'o' && is_shelf) ||
             values->n_poles == 1;
  if (kind == LEVEL) {
    snprintf (call, size, "%s(%s%s)", klass, gain,
        values->is_decibel ? ", gain_type='db'" : "");
    return true;
  }
  if (is_pass && !is_simple)
    klass = kind == LOW_PASS ? "BiquadLPF" : "BiquadHPF";
  else if (values->is_skirt)
    klass = "BiquadBPFPeak";
  n = (size_t)snprintf (call, size, "%s%s(%s", klass,
      is_shelf && values->n_poles == 1 ? "1" : "",
      TFX_NUMBER_TEXT (values->freq_hz));
  scale = pow (10.0, 3.0 - floor (log10 (q))); /* four digits */
  if (is_pass && is_simple)
    n += (size_t)snprintf (call + n, size - n, ", order=%d", values->n_poles);
  else if (!is_shelf || values->n_poles == 2)
    n += (size_t)snprintf (call + n, size - n, ", q=%s",
        TFX_NUMBER_TEXT (
            is_octaves ? values->width : rint (q * scale) / scale));
  snprintf (call + n, size - n, "%s%s%s%s)",
      is_shelf || kind == PEAK ? ", gain=" : "",
      is_shelf || kind == PEAK ? gain : "", is_shelf ? ", gain_scale='db'" : "",
      is_octaves && !(is_pass && is_simple) ? ", q_scale='octaves'" : "");
  return true;
}

/* ---- filters of FFmpeg and SoX ---------------------------------------------------- */

/* Whether the cursor is after the name of a filter of the program, in a form that
 * no chain has. */
static bool
is_filter (Cursor cursor, Program program)
{
  const bool has_space = tfx_lexer_is_space (peek (&cursor, 0));
  char key[MAX_TOKEN];

  skip_space (&cursor);
  if (program == SOX)
    return has_space && (begins_number (&cursor) ||
                            (peek (&cursor, 0) == '-' &&
                                tfx_lexer_is_letter (peek (&cursor, 1))));
  if (peek (&cursor, 0) != '=')
    return false;
  cursor.at++;
  return begins_number (&cursor) ||
         (read_token (&cursor, NULL, key) && peek (&cursor, 0) == '=');
}

/* Reads the next filter, and writes it as a call if it can. */
static const Filter *
translate_one (Cursor *cursor, Program program, char *call, size_t size,
    bool *is_near)
{
  const Filter *filter = NULL;
  char name[MAX_TOKEN];
  Values values;
  bool is_read;

  *call = '\0';
  if (!read_token (cursor, NULL, name) || !is_filter (*cursor, program))
    return NULL;
  for (size_t i = 0; i < sizeof filters / sizeof filters[0] && !filter; i++) {
    if ((filters[i].programs & program) && strcmp (filters[i].name, name) == 0)
      filter = &filters[i];
  }
  if (!filter)
    return NULL;
  skip_space (cursor);
  values = find_defaults (filter, program);
  cursor->at += program == FFMPEG ? 1 : 0;
  is_read = program == FFMPEG ? read_ffmpeg (cursor, filter, &values)
                              : read_sox (cursor, filter, &values);
  if (is_read && !write_call (filter, &values, call, size, is_near))
    *call = '\0';
  return filter;
}

int
tfx_translate_refuse (const char *text, size_t length, TfxExprError *error)
{
  Cursor cursor = { text, text + length };
  Program program = FFMPEG;
  char chain[200] = "", call[200];
  size_t n = 0;
  bool is_near = false, is_whole = true;
  const Filter *filter, *first;

  first = translate_one (&cursor, program, call, sizeof call, &is_near);
  if (!first) {
    cursor.at = text;
    program = SOX;
    first = translate_one (&cursor, program, call, sizeof call, &is_near);
  }
  for (filter = first; filter;
       filter = translate_one (&cursor, program, call, sizeof call, &is_near)) {
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
        program == FFMPEG ? "FFmpeg" : "SoX", first->klass,
        tfx_catalogue_find (first->klass)->example);
  return tfx_error_set (error, -EINVAL, "this is the syntax of %s; %s is %s%s",
      program == FFMPEG ? "FFmpeg" : "SoX",
      is_near ? "the nearest chain here" : "the same chain here", chain,
      is_whole && cursor.at == cursor.end ? "" : " | …");
}
