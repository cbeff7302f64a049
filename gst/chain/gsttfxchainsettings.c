/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainsettings.c: filter settings of REW and Equalizer APO.
 *
 * A line is
 *
 *   Filter 1: ON PK Fc 63.0 Hz Gain -5.0 dB Q 4.00
 *   Preamp: -6.0 dB
 *
 * or is ignored (a date, a note, a filter that is OFF or None).
 */
#include <math.h>
#include <string.h>

#include "gsttfxchainfile.h"

#include "lang/expr.h"

#define DIGITS "0123456789"
/* Length of a number with grouped digits. */
#define MAX_DIGITS 64
/* A whole number, followed by no letters except dB. */
#define NUMBER                                                                 \
  "([-+]?+(?:[0-9]++(?:[.,][0-9]++)?+|[.,][0-9]++)(?:e[-+]?[0-9]++)?+)"        \
  "(?:(?=dB\\b)|(?!\\w|[.,][0-9]))"
/* (Within a line and without backtracking, since a text may have a million
 * spaces.) */
#define FILTER "^\\h*+Filter(?![a-z])[^:\\v]*+:\\h*+"
#define PREAMP "^\\h*+Preamp\\h*+:\\h*+"
/* Numbers without grouped digits. */
#define MARKED "\\b(?:Gain|Q|Oct|Preamp\\h*+:)\\s*+[-+]?+[0-9]*+([.,])[0-9]"
#define FLAGS (G_REGEX_RAW | G_REGEX_CASELESS)

gboolean
gst_tfx_chain_settings_are (const gchar *text)
{
  return g_regex_match_simple ("\\A\\s*Filter Settings|" FILTER "|" PREAMP
                               "|^\\h*+GraphicEQ\\h*+:",
      text, G_REGEX_MULTILINE | FLAGS, 0);
}

/* A file that is being read. */
typedef struct
{
  GString *chain;
  guint n_calls;                 /* in it */
  GPtrArray *notes;              /* or NULL */
  guint line;                    /* the current line, from 1 */
  gboolean is_rew;               /* written by REW */
  gboolean has_comma, has_point; /* as decimal marks */
  gboolean has_told; /* a note about an ambiguous frequency was added */
  GRegex *marked;
} Settings;

/* A type of filter and its call in a chain. */
typedef struct
{
  const gchar *name, *klass;
  gboolean has_gain;
  gdouble q; /* the default; 0: Q is required */
  const gchar *tail;
} Type;

#define BUTTERWORTH_Q 0.7071067811865476
/* The slope of a shelf in REW and Equalizer APO, which determines its Q. */
#define SHELF_SLOPE 0.9
#define SHELF_Q INFINITY
#define NO_Q (-1.0)
/* That of S = 1. */
#define FULL_SLOPE_DB 12.0
#define SHELF ", gain_scale='db')"

static const Type types[] = {
  { "PK", "ParametricEQ", TRUE, 0.0, ")" },
  { "PEQ", "ParametricEQ", TRUE, 0.0, ")" },
  { "Modal", "ParametricEQ", TRUE, 0.0, ")" },
  { "LP", "BiquadLPF", FALSE, BUTTERWORTH_Q, ")" },
  { "LPQ", "BiquadLPF", FALSE, 0.0, ")" },
  { "LP1", "LoButterworth", FALSE, NO_Q, ", order=1)" },
  { "HP", "BiquadHPF", FALSE, BUTTERWORTH_Q, ")" },
  { "HPQ", "BiquadHPF", FALSE, 0.0, ")" },
  { "HP1", "HiButterworth", FALSE, NO_Q, ", order=1)" },
  { "BP", "BiquadBPF", FALSE, BUTTERWORTH_Q, ")" },
  { "NO", "BiquadNotch", FALSE, 30.0, ")" },
  { "Notch", "BiquadNotch", FALSE, 30.0, ")" },
  { "AP", "BiquadAllPass", FALSE, 0.0, ")" },
  { "All pass", "BiquadAllPass", FALSE, 0.0, ")" },
  { "LS", "LoShelving", TRUE, SHELF_Q, SHELF },
  { "LSQ", "LoShelving", TRUE, 0.0, SHELF },
  { "HS", "HiShelving", TRUE, SHELF_Q, SHELF },
  { "HSQ", "HiShelving", TRUE, 0.0, SHELF },
  { "LSC", "LoShelving", TRUE, SHELF_Q, SHELF },
  { "HSC", "HiShelving", TRUE, SHELF_Q, SHELF },
};

/* Finds the number after a word of the line. */
static gboolean
find_number (const gchar *line, const gchar *word, gdouble *number)
{
  gchar *pattern = g_strconcat ("\\b", word, "\\s*+" NUMBER, NULL);
  GRegex *regex = g_regex_new (pattern, FLAGS, 0, NULL);
  GMatchInfo *match = NULL;
  gboolean found = g_regex_match (regex, line, 0, &match);

  if (found) {
    gchar *text = g_match_info_fetch (match, 1);

    g_strdelimit (text, ",", '.');
    *number = g_ascii_strtod (text, NULL);
    found = isfinite (*number);
    g_free (text);
  }
  g_match_info_free (match);
  g_regex_unref (regex);
  g_free (pattern);
  return found;
}

static void
remove_all (gchar *text, const gchar *what)
{
  const gsize n = strlen (what);

  for (gchar *at = text; (at = strstr (at, what));)
    memmove (at, at + n, strlen (at + n) + 1);
}

/* The digits of the frequency without spaces and apostrophes between groups, to
 * be freed; NULL with the error. */
static gchar *
find_digits (const gchar *line, gboolean *is_kilo, const gchar **wrong)
{
  static const gchar *const spaces[] = { " ", "\t", "'", "\xc2\xa0", "\xa0",
    "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99" };
  /* (Only the first Fc: text after a later one is also after the first.) */
  gchar **parts = g_regex_split_simple ("\\bFc(*COMMIT)\\s*+(.*?)\\s*(k?)Hz\\b",
      line, FLAGS, 0);
  gchar *digits = NULL;

  if (g_strv_length (parts) < 3) {
    g_strfreev (parts);
    parts =
        g_regex_split_simple ("\\bFc\\s*+(\\S+?)(k?)(?!\\S)", line, FLAGS, 0);
  }
  if (g_strv_length (parts) < 3) {
    *wrong = "has no frequency (Fc)";
  } else if (strlen (parts[1]) > MAX_DIGITS) {
    *wrong = "has a frequency (Fc) with too many digits";
  } else {
    digits = g_strdup (parts[1]);
    *is_kilo = *parts[2] != '\0';
    for (guint i = 0; i < G_N_ELEMENTS (spaces); i++)
      remove_all (digits, spaces[i]);
  }
  g_strfreev (parts);
  return digits;
}

/* The decimal mark that these digits imply; 0: none.  Three digits after a
 * single mark may be thousands or decimals (*is_either), except in kHz. */
static gchar
find_mark (const gchar *digits, gboolean is_kilo, gboolean *is_either)
{
  const gchar *first = strpbrk (digits, ".,"), *last = first;
  gboolean is_grouped, ends_in_three;

  *is_either = FALSE;
  if (!first)
    return 0;
  for (const gchar *at = first; at; at = strpbrk (at + 1, ".,"))
    last = at;
  is_grouped = first > digits && first <= digits + 3 &&
               strspn (digits, DIGITS) == (gsize)(first - digits);
  for (const gchar *at = first; at < last && is_grouped; at += 4)
    is_grouped = *at == *first && strspn (at + 1, DIGITS) == 3;
  ends_in_three = strspn (last + 1, DIGITS) == 3 && !last[4];
  if (first == last) {
    *is_either = is_grouped && ends_in_three && !is_kilo && *digits != '0';
    return *is_either ? 0 : *first;
  }
  if (!is_grouped || (*last == *first && !ends_in_three))
    return 0;
  return *last != *first ? *last : *first == ',' ? '.' : ',';
}

/* Collects the decimal marks of the unambiguous numbers of a line. */
static void
survey_line (Settings *settings, const gchar *line)
{
  GMatchInfo *match = NULL;
  gboolean is_kilo, is_either;
  const gchar *wrong;
  gchar *digits;

  if (!strchr (line, ':') ||
      !g_regex_match_simple (FILTER "|" PREAMP, line, FLAGS, 0))
    return;
  for (g_regex_match (settings->marked, line, 0, &match);
       g_match_info_matches (match); g_match_info_next (match, NULL)) {
    gchar *mark = g_match_info_fetch (match, 1);

    settings->has_comma |= *mark == ',';
    settings->has_point |= *mark == '.';
    g_free (mark);
  }
  g_match_info_free (match);
  digits = find_digits (line, &is_kilo, &wrong);
  if (digits) {
    const gchar mark = find_mark (digits, is_kilo, &is_either);

    settings->has_comma |= mark == ',';
    settings->has_point |= mark == '.';
  }
  g_free (digits);
}

/* Adds a note on how the line, or the whole file, was read. */
static void
    G_GNUC_PRINTF (2, 3) add_note (Settings *settings, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  if (!settings->notes)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (settings->notes,
      g_strdup_printf ("line %u of the filter settings: %s", settings->line,
          text));
  g_free (text);
}

/* Reads the frequency; returns NULL or the error. */
static const gchar *
find_frequency (Settings *settings, const gchar *line, gdouble *hz)
{
  const gchar *wrong = "has no frequency (Fc)";
  gboolean is_kilo, is_either;
  gchar *digits = find_digits (line, &is_kilo, &wrong), *plain, *end;
  gchar mark;

  if (!digits)
    return wrong;
  mark = find_mark (digits, is_kilo, &is_either);
  if (is_either)
    mark = settings->has_comma ? ',' : '.';
  plain = g_strdup (digits);
  if (mark)
    remove_all (plain, mark == ',' ? "." : ",");
  g_strdelimit (plain, ",", '.');
  *hz = g_ascii_strtod (plain, &end) * (is_kilo ? 1000.0 : 1.0);
  if (is_either && settings->has_comma == settings->has_point)
    wrong = settings->has_comma
                ? "has three digits after the mark in its frequency (Fc), "
                  "which may be thousands or decimals, in a file with decimal "
                  "points and decimal commas; write it without the mark"
                : "has three digits after the mark in its frequency (Fc), "
                  "which may be thousands or decimals, and no other number of "
                  "the file shows which; write it without the mark";
  /* (Not 0x10 or nan, which strtod accepts.) */
  else if (end > plain && *end == '\0' && isfinite (*hz) &&
           plain[strspn (plain, "+-.0123456789eE")] == '\0')
    wrong = NULL;
  if (is_either && !wrong && !settings->has_told) {
    add_note (settings,
        "Fc %s is %.10g Hz, as other numbers of the file have "
        "decimal %s",
        digits, *hz, settings->has_comma ? "commas" : "points");
    settings->has_told = TRUE;
  }
  g_free (plain);
  g_free (digits);
  return wrong;
}

static void
append_number (GString *chain, const gchar *before, gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (chain, before);
  g_string_append (chain, g_ascii_dtostr (text, sizeof text, number));
}

/* Reads the slope of "LSC 6dB", "HSC 12dB"; FALSE if there is none. */
static gboolean
find_slope (const gchar *line, gdouble *db)
{
  gchar **parts =
      g_regex_split_simple ("^\\h++" NUMBER "\\h*+dB\\b", line, FLAGS, 0);
  const gboolean found = g_strv_length (parts) >= 3;

  if (found) {
    g_strdelimit (parts[1], ",", '.');
    *db = g_ascii_strtod (parts[1], NULL);
  }
  g_strfreev (parts);
  return found;
}

/* The midpoint of a shelf with a Q, from Fc.  In Equalizer APO Fc is the
 * corner, and the slope determines the midpoint; for LSC, HSC and in REW Fc is
 * the midpoint. */
static gdouble
find_middle (Settings *settings, const Type *type, gdouble hz, gdouble q,
    gdouble gain_db)
{
  const gdouble a = pow (10.0, gain_db / 40.0);
  const gdouble slope = 1.0 / ((1.0 / (q * q) - 2.0) / (a + 1.0 / a) + 1.0);
  const gdouble factor = pow (10.0, fabs (gain_db) / 80.0 / slope);
  const gdouble middle_hz = type->name[0] == 'L' ? hz * factor : hz / factor;

  if (settings->is_rew) {
    add_note (settings,
        "Fc %.6g Hz is the midpoint of the %s filter with Q, "
        "as in REW; Equalizer APO takes it for the corner",
        hz, type->name);
    return hz;
  }
  add_note (settings,
      "Fc %.6g Hz is the corner of the %s filter with Q, as in "
      "Equalizer APO; its midpoint is %.6g Hz (in an %sC "
      "filter Fc is the midpoint)",
      hz, type->name, middle_hz, type->name);
  return middle_hz;
}

/* Writes the call of a filter; returns NULL or the error. */
static const gchar *
write_filter (Settings *settings, const Type *type, const gchar *line,
    GString *call)
{
  gdouble hz = 0.0, q = type->q, octaves, gain_db = 0.0, slope = SHELF_SLOPE;
  const gchar *wrong = find_frequency (settings, line, &hz);

  if (wrong)
    return wrong;
  if (find_slope (line, &slope)) {
    if (slope <= 0.0 || slope > FULL_SLOPE_DB)
      return "has a slope out of range (above 0 dB and at most 12 dB)";
    slope /= FULL_SLOPE_DB;
  } else if (q != NO_Q && !find_number (line, "Q", &q) &&
             find_number (line, "BW\\s+Oct", &octaves) && octaves > 0.0) {
    q = 0.5 / sinh (0.5 * G_LN2 * octaves);
    if (!isfinite (q))
      q = 0.0;
  }
  if (q == 0.0)
    return "needs Q or BW Oct";
  if (type->has_gain && !find_number (line, "Gain", &gain_db))
    return "needs a Gain";
  if (q == SHELF_Q) {
    const gdouble a = pow (10.0, gain_db / 40.0);

    /* The Audio EQ Cookbook's S as a Q. */
    q = 1.0 / sqrt ((a + 1.0 / a) * (1.0 / slope - 1.0) + 2.0);
  } else if (type->q == SHELF_Q && !type->name[2] && q > 0.0) {
    hz = find_middle (settings, type, hz, q, gain_db);
  }
  if (!(fabs (q) > 0.0) || !isfinite (hz))
    return "has a Gain out of range";
  g_string_append (call, type->klass);
  append_number (call, "(", hz);
  if (type->q != NO_Q)
    append_number (call, ", ", q);
  if (type->has_gain)
    append_number (call, ", ", gain_db);
  g_string_append (call, type->tail);
  return NULL;
}

/* Commands of Equalizer APO that a chain for all channels cannot express. */
#define COMMANDS                                                               \
  "^\\s*(Channel|Delay|Copy|Convolution|GraphicEQ|Include|Stage|If|ElseIf|"    \
  "Else|EndIf|Eval|VSTPlugin|LoudnessCorrection|"                              \
  "Device(?!\\s*:\\s*all\\s*$))\\s*:"

/* Writes the call of a line, or none; returns NULL, or what is wrong with it,
 * to be freed. */
static gchar *
write_line (Settings *settings, const gchar *line, GString *call)
{
  gchar **words, *fault = NULL;
  const Type *type = NULL;
  const gchar *wrong;
  gdouble number;

  if (!strchr (line, ':'))
    return NULL;
  if (g_regex_match_simple (COMMANDS, line, FLAGS, 0))
    return g_strdup ("not supported; only Filter: and Preamp: lines are read");
  if (g_regex_match_simple (PREAMP, line, FLAGS, 0)) {
    if (!find_number (line, "Preamp\\s*:", &number))
      return g_strdup ("the preamp has no gain in dB");
    append_number (call, "Gain(", number);
    g_string_append (call, ", gain_type='db')");
    return NULL;
  }
  if (!g_regex_match_simple (FILTER "ON\\s+\\S", line, FLAGS, 0))
    return NULL;
  words =
      g_regex_split_simple (FILTER "ON\\s+(All pass\\b|\\S+)", line, FLAGS, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (types) && !type; i++) {
    if (g_ascii_strcasecmp (types[i].name, words[1]) == 0)
      type = &types[i];
  }
  if (!type) {
    if (g_ascii_strcasecmp (words[1], "None") != 0)
      fault = g_strdup_printf ("unknown filter type %s; the types are "
                               "PK, PEQ, Modal, LP, LPQ, LP1, HP, HPQ, HP1, "
                               "BP, NO, Notch, AP, All pass, LS, LSQ, LSC, HS, "
                               "HSQ, HSC",
          words[1]);
  } else if (!g_str_has_suffix (type->name, "SC") &&
             find_slope (words[2], &number)) {
    /* LS 6dB, HS 12dB: their frequency is the start of the shelf, not its
     * midpoint as for LSC and HSC. */
    fault = g_strdup_printf ("type %s with a slope in dB is not supported; use "
                             "%sQ with the midpoint frequency and Q of the "
                             "shelf",
        words[1], type->name);
  } else {
    wrong = write_filter (settings, type, words[2], call);
    fault = wrong ? g_strdup_printf ("the filter %s", wrong) : NULL;
  }
  g_strfreev (words);
  return fault;
}

/* Appends the call to the chain; returns NULL, or the error, to be freed. */
static gchar *
append_call (Settings *settings, const GString *call)
{
  TfxExprError error;
  TfxExpr *expr;

  if (settings->n_calls == TFX_EXPR_MAX_STAGES)
    return g_strdup_printf ("there are more than %u filters",
        TFX_EXPR_MAX_STAGES);
  expr = tfx_expr_parse (call->str, call->len, &error);
  if (!expr)
    return g_strdup (error.message);
  tfx_expr_free (&expr);
  g_string_append_printf (settings->chain, "%s%s",
      settings->n_calls++ > 0 ? " | " : "", call->str);
  return NULL;
}

gchar *
gst_tfx_chain_settings_convert (const gchar *text, GPtrArray *notes,
    gchar **fault)
{
  /* (Files of old Macs end lines with CR.) */
  gchar **lines = g_strsplit (text, strchr (text, '\n') ? "\n" : "\r", -1);
  Settings settings = { .chain = g_string_new (NULL), .notes = notes };
  GString *call = g_string_new (NULL);
  gchar *wrong = NULL;

  settings.is_rew =
      g_regex_match_simple ("\\A\\s*Filter Settings|^\\h*+Room EQ V", text,
          G_REGEX_MULTILINE | FLAGS, 0);
  settings.marked = g_regex_new (MARKED, FLAGS, 0, NULL);
  for (guint i = 0; lines[i]; i++)
    survey_line (&settings, g_strchomp (lines[i]));
  for (guint i = 0; lines[i] && !wrong; i++) {
    settings.line = i + 1;
    g_string_truncate (call, 0);
    wrong = write_line (&settings, lines[i], call);
    if (!wrong && call->len > 0)
      wrong = append_call (&settings, call);
    if (wrong)
      *fault = g_strdup_printf ("line %u of the filter settings: %s\n  %s",
          i + 1, wrong, lines[i]);
  }
  g_regex_unref (settings.marked);
  g_string_free (call, TRUE);
  g_strfreev (lines);
  g_free (wrong);
  if (*fault)
    g_string_free (settings.chain, TRUE);
  return *fault ? NULL : g_string_free (settings.chain, FALSE);
}
