/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfilterline.c: lines of filters of REW and Equalizer APO.
 *
 *   Filter 1: ON PK Fc 63.0 Hz Gain -5.0 dB Q 4.00
 *   Preamp: -6.0 dB
 */
#include "gsttfxfilterline.h"

#include <math.h>
#include <string.h>

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

/* A type of filter and its call in a chain. */
typedef struct
{
  const gchar *name, *klass;
  gboolean has_gain;
  gdouble q; /* the default; 0: Q is required */
} Type;

#define BUTTERWORTH_Q 0.7071067811865476
/* The slope of a shelf in REW and Equalizer APO, which determines its Q. */
#define SHELF_SLOPE 0.9
#define SHELF_Q INFINITY
#define NO_Q NAN
/* That of S = 1. */
#define FULL_SLOPE_DB 12.0

static const Type types[] = {
  { "PK", "ParametricEQ", TRUE, 0.0 },
  { "PEQ", "ParametricEQ", TRUE, 0.0 },
  { "Modal", "ParametricEQ", TRUE, 0.0 },
  { "LP", "BiquadLPF", FALSE, BUTTERWORTH_Q },
  { "LPQ", "BiquadLPF", FALSE, 0.0 },
  { "LP1", "LoButterworth", FALSE, NO_Q },
  { "HP", "BiquadHPF", FALSE, BUTTERWORTH_Q },
  { "HPQ", "BiquadHPF", FALSE, 0.0 },
  { "HP1", "HiButterworth", FALSE, NO_Q },
  { "BP", "BiquadBPF", FALSE, BUTTERWORTH_Q },
  { "NO", "BiquadNotch", FALSE, 30.0 },
  { "Notch", "BiquadNotch", FALSE, 30.0 },
  { "AP", "BiquadAllPass", FALSE, 0.0 },
  { "All pass", "BiquadAllPass", FALSE, 0.0 },
  { "LS", "LoShelving", TRUE, SHELF_Q },
  { "LSQ", "LoShelving", TRUE, 0.0 },
  { "HS", "HiShelving", TRUE, SHELF_Q },
  { "HSQ", "HiShelving", TRUE, 0.0 },
  { "LSC", "LoShelving", TRUE, SHELF_Q },
  { "HSC", "HiShelving", TRUE, SHELF_Q },
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
survey_line (GstTfxFilterMarks *marks, GRegex *marked, const gchar *line)
{
  GMatchInfo *match = NULL;
  gboolean is_kilo, is_either;
  const gchar *wrong;
  gchar *digits;

  if (!strchr (line, ':') ||
      !g_regex_match_simple (FILTER "|" PREAMP, line, FLAGS, 0))
    return;
  for (g_regex_match (marked, line, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    gchar *mark = g_match_info_fetch (match, 1);

    marks->has_comma |= *mark == ',';
    marks->has_point |= *mark == '.';
    g_free (mark);
  }
  g_match_info_free (match);
  digits = find_digits (line, &is_kilo, &wrong);
  if (digits) {
    const gchar mark = find_mark (digits, is_kilo, &is_either);

    marks->has_comma |= mark == ',';
    marks->has_point |= mark == '.';
  }
  g_free (digits);
}

void
gst_tfx_filter_line_survey (GstTfxFilterMarks *marks, gchar **lines)
{
  GRegex *marked = g_regex_new (MARKED, FLAGS, 0, NULL);

  for (guint i = 0; lines[i]; i++)
    survey_line (marks, marked, lines[i]);
  g_regex_unref (marked);
}

/* Reads the frequency; returns NULL or the error. */
static const gchar *
find_frequency (GstTfxPresetWriter *writer, GstTfxFilterMarks *marks,
    const gchar *line, gdouble *hz)
{
  const gchar *wrong = "has no frequency (Fc)";
  gboolean is_kilo, is_either;
  gchar *digits = find_digits (line, &is_kilo, &wrong), *plain, *end;
  gchar mark;

  if (!digits)
    return wrong;
  mark = find_mark (digits, is_kilo, &is_either);
  if (is_either)
    mark = marks->has_comma ? ',' : '.';
  plain = g_strdup (digits);
  if (mark)
    remove_all (plain, mark == ',' ? "." : ",");
  g_strdelimit (plain, ",", '.');
  *hz = g_ascii_strtod (plain, &end) * (is_kilo ? 1000.0 : 1.0);
  if (is_either && marks->has_comma == marks->has_point)
    wrong = marks->has_comma
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
  if (is_either && !wrong && !marks->has_told) {
    gst_tfx_preset_writer_note (writer,
        "Fc %s is %.10g Hz, as other numbers of the file have "
        "decimal %s",
        digits, *hz, marks->has_comma ? "commas" : "points");
    marks->has_told = TRUE;
  }
  g_free (plain);
  g_free (digits);
  return wrong;
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

/* The midpoint of a shelf with this slope S, from the corner Fc: in Equalizer APO
 * Fc is the corner, but for LSC, HSC and in REW.  given: "Q" or "a slope". */
static gdouble
find_middle (GstTfxPresetWriter *writer, const GstTfxFilterMarks *marks,
    const Type *type, const gchar *given, gdouble hz, gdouble slope,
    gdouble gain_db)
{
  const gdouble factor = pow (10.0, fabs (gain_db) / 80.0 / slope);
  const gdouble middle_hz = type->name[0] == 'L' ? hz * factor : hz / factor;

  if (marks->is_middle) {
    gst_tfx_preset_writer_note (writer,
        "Fc %.6g Hz is the midpoint of the %s filter with %s, as in REW; "
        "Equalizer APO takes it for the corner",
        hz, type->name, given);
    return hz;
  }
  gst_tfx_preset_writer_note (writer,
      "Fc %.6g Hz is the corner of the %s filter with %s, as in Equalizer APO; "
      "its midpoint is %.6g Hz (in an %sC filter Fc is the midpoint)",
      hz, type->name, given, middle_hz, type->name);
  return middle_hz;
}

/* The Q of a shelf, and its midpoint instead of Fc; FALSE if they are out of
 * range. */
static gboolean
find_shelf (GstTfxPresetWriter *writer, const GstTfxFilterMarks *marks,
    const Type *type, gdouble slope, gdouble gain_db, gdouble *q, gdouble *hz)
{
  const gdouble a = pow (10.0, gain_db / 40.0);
  const gboolean is_default = slope == 0.0 && *q == SHELF_Q;
  const gchar *given = slope > 0.0 ? "a slope" : "Q";

  if (is_default)
    slope = SHELF_SLOPE;
  if (slope > 0.0)
    *q = gst_tfx_preset_find_shelf_q (slope, gain_db);
  else
    slope = 1.0 / ((1.0 / (*q * *q) - 2.0) / (a + 1.0 / a) + 1.0);
  if (!is_default && !type->name[2])
    *hz = find_middle (writer, marks, type, given, *hz, slope, gain_db);
  return fabs (*q) > 0.0 && isfinite (*q) && isfinite (*hz);
}

/* Writes the call of a filter; returns NULL or the error. */
static const gchar *
write_filter (GstTfxPresetWriter *writer, GstTfxFilterMarks *marks,
    const Type *type, const gchar *line)
{
  gdouble hz = 0.0, q = type->q, gain_db = NAN, slope = 0.0;
  const gchar *wrong = find_frequency (writer, marks, line, &hz);
  gboolean is_octaves = FALSE;

  if (wrong)
    return wrong;
  if (find_slope (line, &slope)) {
    if (type->q != SHELF_Q)
      return "has a slope in dB, which only LS, LSC, HS and HSC can have";
    if (slope <= 0.0 || slope > FULL_SLOPE_DB)
      return "has a slope out of range (above 0 dB and at most 12 dB)";
    slope /= FULL_SLOPE_DB;
  } else if (!isnan (q)) {
    find_number (line, "Q", &q);
    is_octaves = find_number (line, "BW\\s+Oct", &q);
  }
  if (is_octaves && strstr (type->klass, "Shelving"))
    return "has BW Oct, which a shelf does not have";
  if (q == 0.0)
    return "needs Q or BW Oct";
  if (type->has_gain && !find_number (line, "Gain", &gain_db))
    return "needs a Gain";
  if (type->q == SHELF_Q &&
      !find_shelf (writer, marks, type, slope, gain_db, &q, &hz))
    return "has a Gain out of range";
  if (isnan (type->q))
    gst_tfx_preset_writer_add (writer, "%s(%s, order=1)", type->klass,
        GST_TFX_PRESET_NUMBER (hz));
  else
    gst_tfx_preset_writer_add_section (writer, type->klass, hz, q, is_octaves,
        gain_db);
  return NULL;
}

/* "ON IIR Order 2 Coefficients b0 b1 b2 a0 a1 a2" */
static void
write_iir (GstTfxPresetWriter *writer, const gchar *line)
{
  static const gchar *const start = "^\\h*+Order\\h++([0-9]{1,4})\\h++"
                                    "Coefficients\\h++(.*?)\\h*+$";
  gchar **parts = g_regex_split_simple (start, line, FLAGS, 0), **words = NULL;
  gdouble numbers[6] = { 0.0 };
  guint n = 0, order = 0;

  if (g_strv_length (parts) >= 4) {
    order = (guint)g_ascii_strtoull (parts[1], NULL, 10);
    words = g_regex_split_simple ("\\h++", parts[2], FLAGS, 0);
  }
  for (; words && words[n]; n++) {
    gchar *end;
    const gdouble number = g_ascii_strtod (words[n], &end);

    if (*end || end == words[n] || !isfinite (number))
      break;
    /* b0 to b2, then a0 to a2 */
    if (order <= 2 && n < 2 * (order + 1))
      numbers[n <= order ? n : 3 + n - order - 1] = number;
  }
  if (order == 0)
    gst_tfx_preset_writer_fail (writer,
        "the filter needs \"Order\" and \"Coefficients\" with their numbers");
  else if (words[n])
    gst_tfx_preset_writer_fail (writer, "the coefficient %s is not a number",
        words[n]);
  else if (n != 2 * (order + 1))
    gst_tfx_preset_writer_fail (writer,
        "an IIR filter of order %u has %u coefficients, not %u", order,
        2 * (order + 1), n);
  else if (order > 2)
    gst_tfx_preset_writer_fail (writer,
        "an IIR filter of order %u is not supported; split it into filters of "
        "order 2",
        order);
  else
    gst_tfx_preset_writer_add (writer, "Biquad(%s, %s, %s, %s, %s, %s)",
        GST_TFX_PRESET_NUMBER (numbers[0]), GST_TFX_PRESET_NUMBER (numbers[1]),
        GST_TFX_PRESET_NUMBER (numbers[2]), GST_TFX_PRESET_NUMBER (numbers[3]),
        GST_TFX_PRESET_NUMBER (numbers[4]), GST_TFX_PRESET_NUMBER (numbers[5]));
  g_strfreev (words);
  g_strfreev (parts);
}

gboolean
gst_tfx_filter_line_is (const gchar *line)
{
  return g_regex_match_simple (FILTER, line, FLAGS, 0);
}

void
gst_tfx_filter_line_write (GstTfxPresetWriter *writer, GstTfxFilterMarks *marks,
    const gchar *line)
{
  const Type *type = NULL;
  const gchar *wrong = NULL;
  gchar **words;

  if (!g_regex_match_simple (FILTER "ON\\s+\\S", line, FLAGS, 0)) {
    if (!marks->is_rew &&
        !g_regex_match_simple (FILTER "(OFF\\b|ON\\h*+$|None\\b|$)", line,
            FLAGS, 0))
      gst_tfx_preset_writer_fail (writer, "the filter is neither ON nor OFF");
    return;
  }
  words =
      g_regex_split_simple (FILTER "ON\\s+(All pass\\b|\\S+)", line, FLAGS, 0);
  for (gsize i = 0; i < G_N_ELEMENTS (types) && !type; i++) {
    if (g_ascii_strcasecmp (types[i].name, words[1]) == 0)
      type = &types[i];
  }
  if (type)
    wrong = write_filter (writer, marks, type, words[2]);
  else if (g_ascii_strcasecmp (words[1], "IIR") == 0)
    write_iir (writer, words[2]);
  else if (g_ascii_strcasecmp (words[1], "None") != 0)
    gst_tfx_preset_writer_fail (writer,
        "unknown filter type %s; the types are PK, PEQ, Modal, LP, LPQ, LP1, "
        "HP, HPQ, HP1, BP, NO, Notch, AP, All pass, LS, LSQ, LSC, HS, HSQ, "
        "HSC, IIR",
        words[1]);
  if (wrong)
    gst_tfx_preset_writer_fail (writer, "the filter %s", wrong);
  g_strfreev (words);
}

void
gst_tfx_filter_line_write_preamp (GstTfxPresetWriter *writer, const gchar *line)
{
  gdouble db;

  if (find_number (line, "Preamp\\s*:", &db))
    gst_tfx_preset_writer_add (writer, "Gain(%s, gain_type='db')",
        GST_TFX_PRESET_NUMBER (db));
  else
    gst_tfx_preset_writer_fail (writer, "the preamp has no gain in dB");
}
