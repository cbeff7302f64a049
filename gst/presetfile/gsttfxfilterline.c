/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfilterline.c: lines of filters of REW and Equalizer APO.
 *
 *   Filter 1: ON PK Fc 63.0 Hz Gain -5.0 dB Q 4.00
 *   Preamp: -6.0 dB
 */
#include "gsttfxfilterline.h"

#include <math.h>
#include <string.h>

#define FLAGS (G_REGEX_RAW | G_REGEX_CASELESS)
/* (Without backtracking, since a text may have a million spaces.)  Groups: the
 * state, the type. */
#define FILTER                                                                 \
  "^\\s*+Filter(?![a-z])[^:]*+:\\s*+(ON\\b|OFF\\b|)\\s*+(All pass\\b|\\S*+)"   \
  "(?:\\s++Q(?=\\s++Fc))?+"
/* A complete number: no letter follows, except those of dB. */
#define NUMBER                                                                 \
  "\\s*+([-+]?+(?:[0-9]++(?:[.,][0-9]++)?+|[.,][0-9]++)(?:e[-+]?[0-9]++)?+)"   \
  "(?:(?=dB\\b)|(?!\\w|[.,][0-9]))"
/* One field: its name, its number, and the unit of a frequency, whose groups of
 * digits may be separated by spaces and apostrophes in any encoding. */
#define FIELD                                                                  \
  "\\s*+(?|\\b(F)c\\s*+([-+0-9.,e'\\s\\xa0\\xc2\\xe2\\x80\\xaf\\x89\\x99]*+)"  \
  "((?:k?Hz\\b|k\\b)?+)|\\b(?|(G)ain|(P)reamp\\s*+:)" NUMBER                   \
  "(?:\\s*+dB\\b)?+|\\b(?|(Q)|(B)W\\s++Oct)" NUMBER                            \
  "|\\b(T)60\\s++target" NUMBER "(?:\\s*+ms\\b)?+|()" NUMBER "\\s*+dB\\b)"
#define FAIL(...) gst_tfx_stages_fail (stages, __VA_ARGS__)
/* Length of the digits of a number. */
#define MAX_DIGITS 64

/* A type of filter and its call in a chain. */
typedef struct
{
  const gchar *pattern, *klass;
  gboolean has_gain;
  gdouble q;          /* the default; 0: Q is required */
  gboolean is_corner; /* Fc with Q or a slope is the corner in Equalizer APO */
} Type;

#define BUTTERWORTH_Q 0.7071067811865476
/* The slope of a shelf in REW and Equalizer APO, which determines its Q. */
#define SHELF_SLOPE 0.9
#define SHELF_Q INFINITY
#define NO_Q NAN
/* The slope in dB for S = 1. */
#define FULL_SLOPE_DB 12.0

static const Type types[] = {
  { "^(PK|PEQ|Modal)$", "ParametricEQ", TRUE, 0.0 },
  { "^LP$", "BiquadLPF", FALSE, BUTTERWORTH_Q },
  { "^LPQ$", "BiquadLPF", FALSE, 0.0 },
  { "^LP1$", "LoButterworth", FALSE, NO_Q },
  { "^HP$", "BiquadHPF", FALSE, BUTTERWORTH_Q },
  { "^HPQ$", "BiquadHPF", FALSE, 0.0 },
  { "^HP1$", "HiButterworth", FALSE, NO_Q },
  { "^BP$", "BiquadBPF", FALSE, BUTTERWORTH_Q },
  { "^(NO|Notch)$", "BiquadNotch", FALSE, 30.0 },
  { "^(AP|All pass)$", "BiquadAllPass", FALSE, 0.0 },
  { "^LS$", "LoShelving", TRUE, SHELF_Q, TRUE },
  { "^LSC$", "LoShelving", TRUE, SHELF_Q },
  { "^LSQ$", "LoShelving", TRUE, 0.0 },
  { "^HS$", "HiShelving", TRUE, SHELF_Q, TRUE },
  { "^HSC$", "HiShelving", TRUE, SHELF_Q },
  { "^HSQ$", "HiShelving", TRUE, 0.0 },
};

/* ---- fields --------------------------------------------------------------- */

typedef struct
{
  const gchar *fc;              /* the field of the frequency, or NULL */
  gchar digits[MAX_DIGITS + 2]; /* of the frequency, with its marks */
  gboolean is_kilo, is_octaves;
  gdouble gain_db, width, slope_db, t60_ms; /* NAN: missing */
  const gchar *rest; /* the first text that is no field */
} Fields;

/* Reads fields in any order, each once, and collects the decimal marks of numbers.
 * A slope is the first field. */
static void
read_fields (Fields *fields, GstTfxFilterMarks *marks, const gchar *text)
{
  static GRegex *regex;
  GMatchInfo *match = NULL;
  gsize n = 0;

  if (g_once_init_enter (&regex))
    g_once_init_leave (&regex,
        g_regex_new (FIELD, FLAGS | G_REGEX_ANCHORED, 0, NULL));
  *fields = (Fields){ NULL, "", FALSE, FALSE, NAN, NAN, NAN, NAN, text };
  while (g_regex_match (regex, fields->rest, 0, &match)) {
    g_auto (GStrv) groups = g_match_info_fetch_all (match);
    const gchar name = g_ascii_toupper (*groups[1]);
    gdouble *value = name == 'T'                  ? &fields->t60_ms
                     : name == 'Q' || name == 'B' ? &fields->width
                     : name == 'G' || name == 'P' ? &fields->gain_db
                                                  : &fields->slope_db;
    const gboolean is_right = name == 'F' ? !fields->fc
                              : name      ? isnan (*value)
                                          : fields->rest == text;

    if (is_right && name == 'F') {
      for (const gchar *at = groups[2]; *at && n <= MAX_DIGITS; at++) {
        if (strchr ("+-.,0123456789eE", *at))
          fields->digits[n++] = *at;
      }
      fields->fc = fields->rest;
      fields->is_kilo = g_ascii_tolower (*groups[3]) == 'k';
    } else if (is_right) {
      marks->has_comma |= strchr (groups[2], ',') != NULL;
      marks->has_point |= strchr (groups[2], '.') != NULL;
      *value = g_ascii_strtod (g_strdelimit (groups[2], ",", '.'), NULL);
      fields->is_octaves |= name == 'B';
    }
    fields->rest += is_right ? strlen (groups[0]) : 0;
    g_clear_pointer (&match, g_match_info_free);
    if (!is_right || name == 'P')
      break;
  }
  g_clear_pointer (&match, g_match_info_free);
  fields->rest += strspn (fields->rest, " \t");
}

/* ---- frequencies ------------------------------------------------------------ */

/* Digits with this decimal mark, or with the other one between thousands. */
#define HAS_MARK(mark, other)                                                  \
  "^(?:[^.,]*" mark "[^.,]*|[0-9]{1,3}(?:" other "[0-9]{3})+" mark             \
  "[^.,]*|[0-9]{1,3}(?:" other "[0-9]{3}){2,})$"

/* The decimal mark that the digits imply; 0: none.  Three digits after a single
 * mark may be thousands or decimals (*is_either), except in kHz. */
static gchar
find_mark (const Fields *fields, gboolean *is_either)
{
  const gchar *digits = fields->digits;

  *is_either =
      !fields->is_kilo &&
      g_regex_match_simple ("^[1-9][0-9]{0,2}[.,][0-9]{3}$", digits, 0, 0);
  if (*is_either || !strpbrk (digits, ".,"))
    return 0;
  return g_regex_match_simple (HAS_MARK ("\\.", ","), digits, 0, 0)   ? '.'
         : g_regex_match_simple (HAS_MARK (",", "\\."), digits, 0, 0) ? ','
                                                                      : 0;
}

/* Returns the fields of a filter or a preamp; NULL: the line is neither.  Sets the words
 * of a filter (its state, its type); those of a preamp are NULL. */
static const gchar *
split_line (const gchar *line, gchar ***words)
{
  line += strspn (line, " \t");
  *words = NULL;
  if (g_ascii_strncasecmp (line, "Preamp", 6) == 0)
    return line[6 + strspn (line + 6, " \t")] == ':' ? line : NULL;
  if (g_ascii_strncasecmp (line, "Filter", 6) == 0)
    *words = g_regex_split_simple (FILTER, line, FLAGS, 0);
  return *words && (*words)[1] ? line + strlen (line) - strlen ((*words)[3])
                               : NULL;
}

void
gst_tfx_filter_line_survey (GstTfxFilterMarks *marks, gchar **lines)
{
  for (guint i = 0; lines[i]; i++) {
    gboolean is_either;
    Fields fields;
    g_auto (GStrv) words = NULL;
    const gchar *text = split_line (lines[i], &words);
    gchar mark;

    if (!text)
      continue;
    read_fields (&fields, marks, text);
    mark = find_mark (&fields, &is_either);
    marks->has_comma |= mark == ',';
    marks->has_point |= mark == '.';
  }
}

/* Reads the frequency; a missing or wrong one is a fault. */
static gdouble
read_hz (GstTfxStages *stages, GstTfxFilterMarks *marks, const Fields *fields)
{
  gboolean is_either;
  gchar mark = find_mark (fields, &is_either), plain[MAX_DIGITS + 2], *end;
  gdouble hz;
  gsize n = 0;

  if (is_either)
    mark = marks->has_comma ? ',' : '.';
  for (const gchar *at = fields->digits; *at; at++) {
    if (*at == mark || (mark == 0 && *at == ','))
      plain[n++] = '.';
    else if (mark == 0 || !strchr (".,", *at))
      plain[n++] = *at;
  }
  plain[n] = '\0';
  hz = g_ascii_strtod (plain, &end) * (fields->is_kilo ? 1000.0 : 1.0);
  stages->caret =
      fields->fc ? fields->fc + strspn (fields->fc, " \t") : stages->caret;
  if (n > MAX_DIGITS)
    FAIL ("the filter has a frequency (Fc) with too many digits");
  else if (is_either && marks->has_comma == marks->has_point)
    FAIL ("the filter has three digits after the mark in its frequency (Fc), "
          "which may be thousands or decimals, %s; write it without the mark",
        marks->has_comma ? "in a file with decimal points and decimal commas"
                         : "and no other number of the file shows which");
  else if (end == plain || *end || !isfinite (hz))
    FAIL ("the filter has no frequency (Fc)");
  else if (is_either && !marks->has_told) {
    gst_tfx_stages_note (stages,
        "Fc %s is %.10g Hz, as other numbers of the file have decimal %s",
        fields->digits, hz, marks->has_comma ? "commas" : "points");
    marks->has_told = TRUE;
  }
  return hz;
}

/* ---- filters ---------------------------------------------------------------- */

/* The Q of a shelf, and its midpoint in place of the corner. */
static void
find_shelf (GstTfxStages *stages, const GstTfxFilterMarks *marks,
    const Type *type, const Fields *fields, gdouble *q, gdouble *hz)
{
  const gdouble a = pow (10.0, fields->gain_db / 40.0);
  const gchar *side = *type->klass == 'L' ? "LS" : "HS";
  const gchar *given = isnan (fields->slope_db) ? "Q" : "a slope";
  gdouble slope = fields->slope_db / FULL_SLOPE_DB, factor;

  if (isnan (slope) && isnan (fields->width))
    slope = SHELF_SLOPE;
  if (!isnan (slope))
    *q = gst_tfx_stages_find_shelf_q (slope, fields->gain_db);
  else
    slope = 1.0 / ((1.0 / (*q * *q) - 2.0) / (a + 1.0 / a) + 1.0);
  if (!type->is_corner || (isnan (fields->slope_db) && isnan (fields->width)))
    return;
  if (marks->is_middle) {
    gst_tfx_stages_note (stages,
        "Fc %.6g Hz is the midpoint of the %s filter with %s, as in REW; "
        "Equalizer APO takes it for the corner",
        *hz, side, given);
    return;
  }
  factor = pow (10.0, fabs (fields->gain_db) / 80.0 / slope);
  factor = *side == 'L' ? factor : 1.0 / factor;
  gst_tfx_stages_note (stages,
      "Fc %.6g Hz is the corner of the %s filter with %s, as in Equalizer APO; "
      "its midpoint is %.6g Hz (in an %sC filter Fc is the midpoint)",
      *hz, side, given, *hz * factor, side);
  *hz *= factor;
}

/* Faults text that is no field of the line. */
static void
check_rest (GstTfxStages *stages, const Fields *fields)
{
  if (!*fields->rest || *fields->rest == '#')
    return;
  stages->caret = fields->rest;
  FAIL ("'%.*s' cannot be read; the fields are Fc, Gain, Q or BW Oct, and "
        "T60 "
        "target, each once and with a number",
      (gint)MIN (strcspn (fields->rest, " \t"), 40), fields->rest);
}

static void
write_filter (GstTfxStages *stages, GstTfxFilterMarks *marks, const Type *type,
    const gchar *text)
{
  const gboolean is_shelf = g_str_has_suffix (type->klass, "Shelving");
  const gchar *wrong = NULL;
  gdouble hz, q;
  Fields fields;

  read_fields (&fields, marks, text);
  check_rest (stages, &fields);
  hz = read_hz (stages, marks, &fields);
  stages->caret = text;
  q = isnan (fields.width) ? type->q : fields.width;
  if (!isnan (fields.slope_db) && type->q != SHELF_Q)
    wrong = "has a slope in dB, which only LS, LSC, HS and HSC can have";
  else if (fields.slope_db <= 0.0 || fields.slope_db > FULL_SLOPE_DB)
    wrong = "has a slope out of range (above 0 dB and at most 12 dB)";
  else if (fields.is_octaves && is_shelf)
    wrong = "has BW Oct, which a shelf does not have";
  else if (q == 0.0)
    wrong = "needs Q or BW Oct";
  else if (type->has_gain && !isfinite (fields.gain_db))
    wrong = "needs a Gain";
  else if (type->q == SHELF_Q)
    find_shelf (stages, marks, type, &fields, &q, &hz);
  if (!wrong && is_shelf && !(fabs (q) > 0.0 && isfinite (q) && isfinite (hz)))
    wrong = "has a Gain out of range";
  if (wrong)
    FAIL ("the filter %s", wrong);
  else if (isnan (type->q))
    gst_tfx_stages_add (stages, "%s(%s, order=1)", type->klass,
        GST_TFX_NUMBER (hz));
  else
    gst_tfx_stages_add_section (stages, type->klass, hz, q, fields.is_octaves,
        type->has_gain ? fields.gain_db : NAN);
}

/* "Order 2 Coefficients b0 b1 b2 a0 a1 a2" */
static void
write_iir (GstTfxStages *stages, const gchar *text)
{
  g_auto (GStrv) parts = g_regex_split_simple (
      "^\\s*+Order\\s++([0-9]{1,4})\\s++Coefficients\\s++", text, FLAGS, 0);
  const gboolean is_right = parts[0] && parts[1];
  const guint order =
      is_right ? (guint)g_ascii_strtoull (parts[1], NULL, 10) : 0;
  const gchar *at = is_right ? text + strlen (text) - strlen (parts[2]) : "";
  gdouble c[6] = { 0.0 };
  guint n = 0;
  gchar *end;

  if (order == 0)
    FAIL ("the filter needs \"Order\" and \"Coefficients\" with their numbers");
  for (; *at && *at != '#'; at = end + strspn (end, " \t"), n++) {
    const gdouble number = g_ascii_strtod (at, &end);

    stages->caret = at;
    if (end == at || (*end && !strchr (" \t", *end)) || !isfinite (number)) {
      FAIL ("the coefficient %.*s is not a number",
          (gint)MIN (strcspn (at, " \t"), 40), at);
      break;
    }
    /* b0 to b2, then a0 to a2 */
    if (order <= 2 && n < 2 * (order + 1))
      c[n <= order ? n : 3 + n - order - 1] = number;
  }
  if (n != 2 * (order + 1))
    FAIL ("an IIR filter of order %u has %u coefficients, not %u", order,
        2 * (order + 1), n);
  if (order > 2)
    FAIL ("an IIR filter of order %u is not supported; split it into filters "
          "of "
          "order 2",
        order);
  gst_tfx_stages_add_list (stages, "Biquad(", c, 6, 6, ")");
}

gboolean
gst_tfx_filter_line_write (GstTfxStages *stages, GstTfxFilterMarks *marks,
    const gchar *line)
{
  g_auto (GStrv) words = NULL;
  const gchar *text = split_line (line, &words);
  Fields fields;
  guint i = 0;

  if (!text)
    return FALSE;
  if (!words) {
    read_fields (&fields, marks, text);
    if (!isfinite (fields.gain_db))
      FAIL ("the preamp has no gain in dB");
    check_rest (stages, &fields);
    gst_tfx_stages_add (stages, "Gain(%s, gain_type='db')",
        GST_TFX_NUMBER (fields.gain_db));
  } else if (!*words[1] && *words[2] &&
             g_ascii_strcasecmp (words[2], "None") != 0) {
    if (!marks->is_rew)
      FAIL ("the filter is neither ON nor OFF");
  } else if (g_ascii_strcasecmp (words[1], "ON") == 0 && *words[2]) {
    while (i < G_N_ELEMENTS (types) &&
           !g_regex_match_simple (types[i].pattern, words[2], FLAGS, 0))
      i++;
    if (i < G_N_ELEMENTS (types))
      write_filter (stages, marks, &types[i], text);
    else if (g_ascii_strcasecmp (words[2], "IIR") == 0)
      write_iir (stages, text);
    else if (g_ascii_strcasecmp (words[2], "None") != 0)
      FAIL ("unknown filter type %s; the types are PK, PEQ, Modal, LP, LPQ, "
            "LP1, HP, HPQ, HP1, BP, NO, Notch, AP, All pass, LS, LSQ, LSC, HS, "
            "HSQ, HSC, IIR",
          words[2]);
  }
  return TRUE;
}
