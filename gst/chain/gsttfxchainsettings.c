/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainsettings.c: filter settings of REW and Equalizer APO.
 *
 * A line is
 *
 *   Filter 1: ON PK Fc 63.0 Hz Gain -5.0 dB Q 4.00
 *   Preamp: -6.0 dB
 *
 * or says nothing of filters (a date, a note, a filter that is off or none).
 */
#include "gsttfxchainsettings.h"

#include <math.h>
#include <string.h>

/* Of a number with its groups. */
#define MAX_DIGITS 64
/* All of it, with no letters but dB behind it. */
#define NUMBER                                                                 \
  "([-+]?+(?:[0-9]++(?:[.,][0-9]++)?+|[.,][0-9]++)(?:e[-+]?[0-9]++)?+)"        \
  "(?:(?=dB\\b)|(?!\\w|[.,][0-9]))"
/* (Within a line, and with nothing tried twice: a text may have a million spaces.) */
#define FILTER "^\\h*+Filter(?![a-z])[^:\\v]*+:\\h*+"
#define PREAMP "^\\h*+Preamp\\h*+:\\h*+"
#define FLAGS (G_REGEX_RAW | G_REGEX_CASELESS)

gboolean
gst_tfx_chain_settings_are (const gchar *text)
{
  return g_regex_match_simple ("\\A\\s*Filter Settings|" FILTER "|" PREAMP
                               "|^\\h*+GraphicEQ\\h*+:",
      text, G_REGEX_MULTILINE | FLAGS, 0);
}

/* How a type of filter is written in a chain. */
typedef struct
{
  const gchar *name, *klass;
  gboolean has_gain, has_scale;
  gdouble q; /* unless it is given; 0: it has to be */
} Type;

#define BUTTERWORTH_Q 0.7071067811865476
/* The slope that REW and Equalizer APO give a shelf, from which its Q comes. */
#define SHELF_SLOPE 0.9
#define SHELF_Q INFINITY
/* That of S = 1. */
#define FULL_SLOPE_DB 12.0

static const Type types[] = {
  { "PK", "ParametricEQ", TRUE, FALSE, 0.0 },
  { "PEQ", "ParametricEQ", TRUE, FALSE, 0.0 },
  { "Modal", "ParametricEQ", TRUE, FALSE, 0.0 },
  { "LP", "BiquadLPF", FALSE, FALSE, BUTTERWORTH_Q },
  { "LPQ", "BiquadLPF", FALSE, FALSE, 0.0 },
  { "HP", "BiquadHPF", FALSE, FALSE, BUTTERWORTH_Q },
  { "HPQ", "BiquadHPF", FALSE, FALSE, 0.0 },
  { "BP", "BiquadBPF", FALSE, FALSE, 0.0 },
  { "NO", "BiquadNotch", FALSE, FALSE, 30.0 },
  { "Notch", "BiquadNotch", FALSE, FALSE, 30.0 },
  { "AP", "BiquadAllPass", FALSE, FALSE, 0.0 },
  { "LS", "LoShelving", TRUE, TRUE, SHELF_Q },
  { "LSQ", "LoShelving", TRUE, TRUE, 0.0 },
  { "HS", "HiShelving", TRUE, TRUE, SHELF_Q },
  { "HSQ", "HiShelving", TRUE, TRUE, 0.0 },
  { "LSC", "LoShelving", TRUE, TRUE, SHELF_Q },
  { "HSC", "HiShelving", TRUE, TRUE, SHELF_Q },
};

static const Type *
find_type (const gchar *name)
{
  for (gsize i = 0; i < G_N_ELEMENTS (types); i++) {
    if (g_ascii_strcasecmp (types[i].name, name) == 0)
      return &types[i];
  }
  return NULL;
}

/* The number behind a word of the line. */
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

/* What stands before the decimals of the other numbers of the line; or 0. */
static gchar
find_decimal_mark (const gchar *line)
{
  gchar **parts =
      g_regex_split_simple ("\\b(?:Gain|Q|Oct)\\s*+[-+]?[0-9]++([.,])[0-9]",
          line, FLAGS, 0);
  const gchar mark = g_strv_length (parts) < 3 ? 0 : *parts[1];

  g_strfreev (parts);
  return mark;
}

static void
remove_all (gchar *text, gchar mark)
{
  for (gchar *at = text; (at = strchr (at, mark));)
    memmove (at, at + 1, strlen (at));
}

/* Digits in groups have a space between them, or an apostrophe: those are taken
 * out, and so is what is not the decimal mark of the line; a comma that is left is the
 * decimal one.  FALSE: it may be either. */
static gboolean
make_plain (gchar *number, gchar mark)
{
  static const gchar *const spaces[] = { " ", "\t", "'", "\xc2\xa0", "\xa0",
    "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99" };
  gchar *comma, *point, *last;

  for (guint i = 0; i < G_N_ELEMENTS (spaces); i++) {
    const gsize n = strlen (spaces[i]);

    for (gchar *at = number; (at = strstr (at, spaces[i]));)
      memmove (at, at + n, strlen (at + n) + 1);
  }
  comma = strrchr (number, ',');
  point = strrchr (number, '.');
  last = comma ? comma : point;
  if (comma && point) {
    remove_all (number, comma > point ? '.' : ',');
  } else if (last && strspn (last + 1, "0123456789") == 3 && !last[4]) {
    if (mark && mark != *last)
      remove_all (number, *last);
    else if (comma)
      return FALSE;
  }
  g_strdelimit (number, ",", '.');
  return TRUE;
}

/* NULL, or what is wrong with it. */
static const gchar *
find_frequency (const gchar *line, gdouble *hz)
{
  /* (The first Fc alone: what follows another one follows that too.) */
  gchar **parts = g_regex_split_simple ("\\bFc(*COMMIT)\\s*+(.*?)\\s*(k?)Hz\\b",
      line, FLAGS, 0);
  const gchar *wrong = "has no frequency (Fc)";
  gchar *end;

  if (g_strv_length (parts) < 3) {
    g_strfreev (parts);
    parts =
        g_regex_split_simple ("\\bFc\\s*+(\\S+?)(k?)(?!\\S)", line, FLAGS, 0);
  }
  if (g_strv_length (parts) < 3) {
    /* none */
  } else if (strlen (parts[1]) > MAX_DIGITS) {
    wrong = "has a frequency (Fc) with too many digits";
  } else if (!make_plain (parts[1], find_decimal_mark (line))) {
    wrong =
        "has a frequency (Fc) with three digits after a comma, which may be "
        "thousands or decimals; write it without the comma";
  } else {
    *hz = g_ascii_strtod (parts[1], &end) * (*parts[2] ? 1000.0 : 1.0);
    /* (Nor what C takes beside: 0x10, nan.) */
    if (end > parts[1] && *end == '\0' && isfinite (*hz) &&
        parts[1][strspn (parts[1], "+-.0123456789eE")] == '\0')
      wrong = NULL;
  }
  g_strfreev (parts);
  return wrong;
}

static void
append_number (GString *chain, const gchar *before, gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (chain, before);
  g_string_append (chain, g_ascii_dtostr (text, sizeof text, number));
}

/* The Audio EQ Cookbook's S as a Q. */
static gdouble
find_shelf_q (gdouble slope, gdouble gain_db)
{
  const gdouble a = pow (10.0, gain_db / 40.0);

  return 1.0 / sqrt ((a + 1.0 / a) * (1.0 / slope - 1.0) + 2.0);
}

/* LSC 6dB, HSC 12dB.  FALSE: none is given. */
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

/* NULL, or what is missing. */
static const gchar *
append_filter (GString *chain, const Type *type, const gchar *line)
{
  gdouble hz, q = type->q, octaves, gain_db, slope = SHELF_SLOPE;
  const gchar *wrong = find_frequency (line, &hz);

  if (wrong)
    return wrong;
  if (find_slope (line, &slope)) {
    if (slope <= 0.0 || slope > FULL_SLOPE_DB)
      return "has a slope out of range (above 0 dB and at most 12 dB)";
    slope /= FULL_SLOPE_DB;
  } else if (!find_number (line, "Q", &q) &&
             find_number (line, "BW\\s+Oct", &octaves) && octaves > 0.0) {
    q = 0.5 / sinh (0.5 * G_LN2 * octaves);
    if (!isfinite (q))
      q = 0.0;
  }
  if (q == 0.0)
    return "needs Q or BW Oct";
  if (type->has_gain && !find_number (line, "Gain", &gain_db))
    return "needs a Gain";
  if (q == SHELF_Q)
    q = find_shelf_q (slope, gain_db);
  if (!(fabs (q) > 0.0))
    return "has a Gain out of range";
  g_string_append_printf (chain, "%s%s(", chain->len > 0 ? " | " : "",
      type->klass);
  append_number (chain, "", hz);
  append_number (chain, ", ", q);
  if (type->has_gain)
    append_number (chain, ", ", gain_db);
  g_string_append (chain, type->has_scale ? ", gain_scale='db')" : ")");
  return NULL;
}

/* LS 6dB, HS 12dB: their frequency is where the shelf begins, not its middle as that of
 * LSC and HSC. */
static gboolean
begins_at_frequency (const Type *type, const gchar *line)
{
  gdouble slope;

  return !g_str_has_suffix (type->name, "SC") && find_slope (line, &slope);
}

/* What Equalizer APO does that a chain of all channels does not. */
static gboolean
is_command (const gchar *line)
{
  return g_regex_match_simple ("^\\s*(Channel|Delay|Copy|Convolution|GraphicEQ|"
                               "Include|Stage|If|ElseIf|"
                               "Else|EndIf|Eval|VSTPlugin|LoudnessCorrection|"
                               "Device(?!\\s*:\\s*all\\s*$))\\s*:",
      line, FLAGS, 0);
}

static gchar *
convert_line (GString *chain, const gchar *line)
{
  gchar **words;
  const gchar *missing = NULL;
  const Type *type;
  gdouble gain_db;
  gchar *fault = NULL;

  if (!strchr (line, ':'))
    return NULL;
  if (is_command (line))
    return g_strdup ("not supported; only Filter: and Preamp: lines are read");
  if (g_regex_match_simple (PREAMP, line, FLAGS, 0)) {
    if (!find_number (line, "Preamp\\s*:", &gain_db))
      return g_strdup ("the preamp has no gain in dB");
    append_number (chain, chain->len > 0 ? " | Gain(" : "Gain(", gain_db);
    g_string_append (chain, ", gain_type='db')");
    return NULL;
  }
  if (!g_regex_match_simple (FILTER "ON\\s+\\S", line, FLAGS, 0))
    return NULL;
  words = g_regex_split_simple (FILTER "ON\\s+(\\S+)", line, FLAGS, 0);
  type = find_type (words[1]);
  if (type && begins_at_frequency (type, words[2]))
    fault = g_strdup_printf ("type %s with a slope in dB is not supported; use "
                             "%sQ with the midpoint frequency and Q of the "
                             "shelf",
        words[1], type->name);
  else if (type)
    missing = append_filter (chain, type, words[2]);
  else if (g_ascii_strcasecmp (words[1], "None") != 0)
    fault = g_strdup_printf ("unknown filter type %s; the types are "
                             "PK, PEQ, Modal, LP, LPQ, HP, HPQ, BP, NO, "
                             "Notch, AP, LS, LSQ, LSC, HS, HSQ, HSC",
        words[1]);
  if (missing)
    fault = g_strdup_printf ("the filter %s", missing);
  g_strfreev (words);
  return fault;
}

gchar *
gst_tfx_chain_settings_convert (const gchar *text, gchar **fault)
{
  /* (Old Macs end lines so.) */
  gchar **lines = g_strsplit (text, strchr (text, '\n') ? "\n" : "\r", -1);
  GString *chain = g_string_new (NULL);
  gchar *wrong = NULL;

  for (guint i = 0; lines[i] && !wrong; i++) {
    g_strchomp (lines[i]);
    wrong = convert_line (chain, lines[i]);
    if (wrong)
      *fault = g_strdup_printf ("line %u of the filter settings: %s\n  %s",
          i + 1, wrong, lines[i]);
  }
  g_strfreev (lines);
  g_free (wrong);
  if (*fault)
    g_string_free (chain, TRUE);
  return *fault ? NULL : g_string_free (chain, FALSE);
}
