/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxapo.c: configurations of Equalizer APO, and filter settings of REW.
 *
 *   Preamp: -6 dB
 *   Channel: L
 *   Filter: ON PK Fc 63 Hz Gain -5 dB Q 4
 *   Include: room.txt
 *
 * A line without ':' and one that begins with '#' is a comment.  A file of REW may
 * have lines of other names (a date, notes).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxfilterline.h"
#include "gsttfximpulse.h"
#include "gsttfxtextfile.h"
#include "lang/expr.h"

#define FLAGS (G_REGEX_RAW | G_REGEX_CASELESS)
/* The limit of the language. */
#define MAX_SIZE (1 << 20)
#define MAX_DEPTH 8
#define MAX_INCLUDES 64

typedef struct
{
  GstTfxPresetWriter *writer;
  GstTfxFilterMarks marks; /* of the current file */
  const gchar *top;        /* the folder of the first file */
  guint depth;             /* of the current file */
  guint n_includes;
} Apo;

gboolean
gst_tfx_apo_is (const gchar *text)
{
  return g_regex_match_simple ("\\A\\s*Filter Settings|"
                               "^\\h*+Filter(?![a-z])[^:\\v]*+:|"
                               "^\\h*+(Preamp|GraphicEQ|Channel|Copy|Delay|"
                               "Convolution|Include|Device|Stage)\\h*+:",
      text, G_REGEX_MULTILINE | FLAGS, 0);
}

/* ---- channels ------------------------------------------------------------ */

/* Adds the channel of a number from 1 or a name; FALSE if there is none. */
static gboolean
take_channel (GstTfxPresetChannels *channels, const gchar *name)
{
  static const gchar *const names[][2] = { { "L", "FL" }, { "R", "FR" },
    { "C", "FC" }, { "LFE", "LFE" }, { "SUB", "LFE" }, { "RL", "BL" },
    { "RR", "BR" }, { "RC", "BC" }, { "SL", "SL" }, { "SR", "SR" } };
  guint64 number;

  if (g_ascii_string_to_unsigned (name, 10, 1, TFX_EXPR_MAX_CHANNELS, &number,
          NULL)) {
    channels->numbers |= (guint64)1 << (number - 1);
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_ascii_strcasecmp (names[i][0], name) == 0) {
      channels->positions |= (guint64)1 << tfx_position_find (names[i][1]);
      return TRUE;
    }
  }
  return FALSE;
}

static gchar **
split_words (const gchar *value)
{
  gchar *text = g_strstrip (g_strdup (value));
  gchar **words = g_regex_split_simple ("\\s++", text, FLAGS, 0);

  g_free (text);
  return words;
}

static void
read_channel (Apo *self, const gchar *value)
{
  GstTfxPresetChannels channels = { 0 };
  gchar **words = split_words (value);
  gboolean is_all = FALSE;

  for (guint i = 0; words[i]; i++) {
    if (g_ascii_strcasecmp (words[i], "all") == 0)
      is_all = TRUE;
    else if (!take_channel (&channels, words[i]))
      gst_tfx_preset_writer_fail (self->writer,
          "unknown channel %s; channels are numbers from 1, L, R, C, LFE, RL, "
          "RR, RC, SL, SR and all",
          words[i]);
  }
  if (!words[0])
    gst_tfx_preset_writer_fail (self->writer, "it names no channel");
  self->writer->channels = is_all ? (GstTfxPresetChannels){ 0 } : channels;
  g_strfreev (words);
}

/* ---- Copy ------------------------------------------------------------------ */

/* "L", "0.5*L", "-6dB*L", or "0": the channel is NULL.  FALSE after a fault. */
static gboolean
read_term (Apo *self, gchar *term, const gchar **channel, gdouble *gain)
{
  gchar *star = strchr (term, '*'), *end;

  *channel = star ? star + 1 : term;
  *gain = 1.0;
  if (!star && strcmp (term, "0") != 0 && !strchr (term, '.'))
    return TRUE;
  if (star)
    *star = '\0';
  else
    *channel = NULL;
  *gain = g_ascii_strtod (term, &end);
  if (end > term && g_ascii_strcasecmp (end, "dB") == 0) {
    *gain = pow (10.0, *gain / 20.0);
    end += 2;
  }
  if (end == term || *end || !isfinite (*gain))
    gst_tfx_preset_writer_fail (self->writer, "%s is not a factor", term);
  else if (!star && *gain != 0.0)
    gst_tfx_preset_writer_fail (self->writer,
        "the constant %s cannot be added to a channel", term);
  return !self->writer->fault;
}

/* The index of a channel among those of the matrix; -1 if it is none. */
static gint
find_row (const GstTfxPresetChannels *all, const gchar *name)
{
  GstTfxPresetChannels one = { 0 };
  guint64 bits = all->numbers | all->positions;

  if (!take_channel (&one, name) || !(bits & (one.numbers | one.positions)))
    return -1;
  return __builtin_popcountll (bits & ((one.numbers | one.positions) - 1));
}

/* Collects the channels of "L=0.5*L+R"; with rows, sets its row of the matrix. */
static void
read_assignment (Apo *self, const gchar *word, GstTfxPresetChannels *all,
    gdouble *rows, guint n)
{
  gchar **sides = g_strsplit (word, "=", -1), **terms = NULL;
  gdouble *row = NULL, gain;
  const gchar *name;

  if (g_strv_length (sides) != 2 || !*sides[0] || !*sides[1]) {
    gst_tfx_preset_writer_fail (self->writer,
        "%s is not an assignment such as L=0.5*L+0.5*R", word);
  } else {
    terms = g_strsplit (sides[1], "+", -1);
    if (rows)
      row = memset (rows + find_row (all, sides[0]) * (gint)n, 0,
          n * sizeof *rows);
    else if (!take_channel (all, sides[0]))
      gst_tfx_preset_writer_fail (self->writer,
          "%s is not a channel of the stream; virtual channels are not "
          "supported",
          sides[0]);
  }
  for (guint i = 0; terms && terms[i] && !self->writer->fault; i++) {
    if (!read_term (self, terms[i], &name, &gain) || !name)
      continue;
    if (row)
      row[find_row (all, name)] += gain;
    else if (!take_channel (all, name))
      gst_tfx_preset_writer_fail (self->writer,
          "%s is not a channel of the stream", *name ? name : "nothing");
  }
  g_strfreev (terms);
  g_strfreev (sides);
}

/* A matrix of the channels that the line names; channels that only are sources
 * stay.  (The selected channels do not matter.) */
static void
read_copy (Apo *self, const gchar *value)
{
  const GstTfxPresetChannels kept = self->writer->channels;
  GstTfxPresetChannels all = { 0 };
  gchar **words = split_words (value);
  gdouble *rows;
  guint n;

  for (guint i = 0; words[i]; i++)
    read_assignment (self, words[i], &all, NULL, 0);
  n = (guint)__builtin_popcountll (all.numbers | all.positions);
  if (all.numbers && all.positions)
    gst_tfx_preset_writer_fail (self->writer,
        "channels must all be numbers or all be names");
  else if (n == 0)
    gst_tfx_preset_writer_fail (self->writer, "it assigns nothing");
  if (!self->writer->fault) {
    rows = g_new0 (gdouble, n * n);
    for (guint i = 0; i < n; i++)
      rows[i * n + i] = 1.0;
    for (guint i = 0; words[i]; i++)
      read_assignment (self, words[i], &all, rows, n);
    self->writer->channels = all;
    gst_tfx_preset_writer_add_mix (self->writer, rows, n, n);
    self->writer->channels = kept;
    g_free (rows);
  }
  g_strfreev (words);
}

/* ---- Delay, GraphicEQ, Convolution ----------------------------------------- */

static void
read_delay (Apo *self, const gchar *value)
{
  gchar *text = g_strdelimit (g_strstrip (g_strdup (value)), ",", '.'), *end;
  const gdouble delay = g_ascii_strtod (text, &end);
  const gchar *unit = end + strspn (end, " \t");

  if (end == text || !isfinite (delay) ||
      (g_ascii_strcasecmp (unit, "ms") != 0 &&
          g_ascii_strcasecmp (unit, "samples") != 0))
    gst_tfx_preset_writer_fail (self->writer,
        "the delay must be a number with the unit ms or samples");
  else
    gst_tfx_preset_writer_add_delay (self->writer, delay,
        g_ascii_tolower (*unit) == 'm');
  g_free (text);
}

static gint
compare_points (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;

  return (x > y) - (x < y);
}

/* Points may have any order. */
static void
read_graphic (Apo *self, const gchar *value)
{
  gchar *text = g_strdelimit (g_strdup (value), ";\t", ' '), *at, *end;
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  GString *points = g_string_new (NULL);

  if (!strchr (text, '.'))
    g_strdelimit (text, ",", '.');
  for (at = g_strstrip (text); *at; at = end + strspn (end, " ")) {
    const gdouble number = g_ascii_strtod (at, &end);

    if (end == at || (*end && *end != ' ') || !isfinite (number)) {
      gst_tfx_preset_writer_fail (self->writer, "%.*s is not a number",
          (int)strcspn (at, " "), at);
      break;
    }
    g_array_append_val (numbers, number);
  }
  if (numbers->len == 0 || numbers->len % 2 != 0)
    gst_tfx_preset_writer_fail (self->writer,
        "it must have pairs of a frequency and a gain");
  else
    qsort (numbers->data, numbers->len / 2, 2 * sizeof (gdouble),
        compare_points);
  for (guint i = 0; i < numbers->len / 2; i++)
    g_string_append_printf (points, "%s[%s, %s]", i > 0 ? ", " : "",
        GST_TFX_PRESET_NUMBER (g_array_index (numbers, gdouble, 2 * i)),
        GST_TFX_PRESET_NUMBER (g_array_index (numbers, gdouble, 2 * i + 1)));
  gst_tfx_preset_writer_add (self->writer, "Curve([%s], phase='minimum')",
      points->str);
  g_string_free (points, TRUE);
  g_array_unref (numbers);
  g_free (text);
}

/* The name of a file, with '/' between folders. */
static gchar *
read_name (Apo *self, const gchar *value)
{
  gchar *name = g_strdelimit (g_strstrip (g_strdup (value)), "\\", '/');

  if (!*name)
    gst_tfx_preset_writer_fail (self->writer, "it names no file");
  return name;
}

/* The selected channels take the channels of the file in turn. */
static void
read_convolution (Apo *self, const gchar *value)
{
  GstTfxPresetWriter *writer = self->writer;
  const GstTfxPresetChannels kept = writer->channels;
  const guint64 bits = kept.numbers | kept.positions;
  gchar *name = read_name (self, value);
  gchar *path = gst_tfx_preset_writer_find_path (writer, name);
  gchar *quoted = gst_tfx_preset_writer_quote (writer, name);
  GError *error = NULL;
  GstTfxImpulse *impulse = NULL;
  guint n = 0;

  if (!writer->fault)
    impulse = gst_tfx_impulse_file_read (path, 0, &error);
  if (!impulse) {
    gst_tfx_preset_writer_fail (writer, "%s", error ? error->message : "");
  } else if (impulse->n_kernels == 1 || bits == 0) {
    gst_tfx_preset_writer_add (writer, "Convolve(%s)", quoted);
  } else if (kept.numbers && kept.positions) {
    gst_tfx_preset_writer_fail (writer,
        "the selected channels must all be numbers or all be names");
  } else {
    for (guint i = 0; i < 64; i++) {
      const guint64 bit = (guint64)1 << i;

      if (!(bits & bit))
        continue;
      writer->channels =
          (GstTfxPresetChannels){ kept.numbers & bit, kept.positions & bit };
      gst_tfx_preset_writer_add (writer, "Convolve(%s, channel=%u)", quoted,
          n++ % impulse->n_kernels);
    }
    writer->channels = kept;
  }
  g_clear_error (&error);
  gst_tfx_impulse_unref (impulse);
  g_free (quoted);
  g_free (path);
  g_free (name);
}

/* ---- lines ----------------------------------------------------------------- */

static void read_text (Apo *self, const gchar *text, const gchar *name);

/* Whether a path, with links followed, is in the folder of the configuration. */
static gboolean
is_inside (const gchar *folder, const gchar *path)
{
  gchar *top = realpath (folder ? folder : ".", NULL);
  gchar *real = realpath (path, NULL);
  const gsize n = top ? strlen (top) : 0;
  const gboolean is = !real || !top || n == 1 ||
                      (strncmp (real, top, n) == 0 && real[n] == '/');

  free (real);
  free (top);
  return is;
}

/* The lines of another file; it keeps the selected channels. */
static void
read_include (Apo *self, const gchar *value)
{
  GstTfxPresetWriter *writer = self->writer;
  const GstTfxPresetChannels kept = writer->channels;
  const GstTfxFilterMarks marks = self->marks;
  const gchar *const prefix = writer->prefix, *const folder = writer->folder;
  gchar *name = read_name (self, value), *why = NULL, *text = NULL;
  gchar *path = gst_tfx_preset_writer_find_path (writer, name);
  gchar *base = g_path_get_dirname (name);
  gchar *shown = gst_tfx_bytes_show (name), *new_folder, *new_prefix;

  if (g_path_is_absolute (name) || strchr (name, ':') ||
      !is_inside (self->top, path))
    gst_tfx_preset_writer_fail (writer,
        "'%s' is not in the folder of the configuration", shown);
  else if (self->depth == MAX_DEPTH || self->n_includes++ == MAX_INCLUDES)
    gst_tfx_preset_writer_fail (writer,
        "files are included more than %u deep or %u times", MAX_DEPTH,
        MAX_INCLUDES);
  if (!writer->fault && writer->opened)
    writer->opened (writer->data, path);
  if (!writer->fault)
    text = gst_tfx_text_file_read (path, MAX_SIZE, NULL, &why);
  if (text) {
    new_folder = g_path_get_dirname (path);
    new_prefix = strcmp (base, ".") == 0 ? g_strdup (prefix)
                 : prefix                ? g_build_filename (prefix, base, NULL)
                                         : g_strdup (base);
    writer->folder = new_folder;
    writer->prefix = new_prefix;
    self->depth++;
    read_text (self, text, shown);
    self->depth--;
    g_free (new_folder);
    g_free (new_prefix);
  } else {
    gst_tfx_preset_writer_fail (writer, "'%s' cannot be read: %s", shown, why);
  }
  writer->folder = folder;
  writer->prefix = prefix;
  writer->channels = kept;
  self->marks = marks;
  g_free (text);
  g_free (why);
  g_free (shown);
  g_free (base);
  g_free (path);
  g_free (name);
}

static void
read_device (Apo *self, const gchar *value)
{
  if (!g_regex_match_simple ("^\\s*+all\\s*+$", value, FLAGS, 0))
    gst_tfx_preset_writer_fail (self->writer,
        "a chain has no device; only \"Device: all\" is supported");
}

static void
read_stage (Apo *self, const gchar *value)
{
  if (!g_regex_match_simple ("(?<![\\w-])post-mix(?![\\w-])", value, FLAGS, 0))
    gst_tfx_preset_writer_fail (self->writer,
        "only the stage post-mix, where all lines apply, is supported");
}

static void
refuse (Apo *self, const gchar *value)
{
  gst_tfx_preset_writer_fail (self->writer,
      "not supported: this command of Equalizer APO has no equal here");
}

static const struct
{
  const gchar *name;
  void (*read) (Apo *self, const gchar *value);
} commands[] = { { "Channel", read_channel }, { "Copy", read_copy },
  { "Delay", read_delay }, { "Convolution", read_convolution },
  { "GraphicEQ", read_graphic }, { "Include", read_include },
  { "Device", read_device }, { "Stage", read_stage }, { "If", refuse },
  { "ElseIf", refuse }, { "Else", refuse }, { "EndIf", refuse },
  { "Eval", refuse }, { "VSTPlugin", refuse },
  { "LoudnessCorrection", refuse } };

static void
read_line (Apo *self, const gchar *line)
{
  const gchar *colon = strchr (line, ':');
  gchar *key;
  guint i;

  if (!colon || line[strspn (line, " \t")] == '#')
    return;
  key = g_strstrip (g_strndup (line, (gsize)(colon - line)));
  for (i = 0; i < G_N_ELEMENTS (commands); i++) {
    if (g_ascii_strcasecmp (commands[i].name, key) == 0)
      break;
  }
  if (i < G_N_ELEMENTS (commands) || gst_tfx_filter_line_is (line) ||
      g_ascii_strcasecmp (key, "Preamp") == 0) {
    if (strchr (colon, '`'))
      gst_tfx_preset_writer_fail (self->writer,
          "expressions between backticks are not supported");
    else if (i < G_N_ELEMENTS (commands))
      commands[i].read (self, colon + 1);
    else if (gst_tfx_filter_line_is (line))
      gst_tfx_filter_line_write (self->writer, &self->marks, line);
    else
      gst_tfx_filter_line_write_preamp (self->writer, line);
  } else if (!self->marks.is_rew) {
    gst_tfx_preset_writer_fail (self->writer,
        "unknown command %s; a comment begins with #", key);
  }
  g_free (key);
}

/* Reads the lines of a file: the main one has no name. */
static void
read_text (Apo *self, const gchar *text, const gchar *name)
{
  GstTfxPresetWriter *writer = self->writer;
  /* (Files of old Macs end lines with CR.) */
  gchar **lines = g_strsplit (text, strchr (text, '\n') ? "\n" : "\r", -1);
  gchar *const outer = writer->place, *fault;

  self->marks = (GstTfxFilterMarks){ 0 };
  self->marks.is_rew =
      g_regex_match_simple ("\\A\\s*Filter Settings|^\\h*+Room EQ V", text,
          G_REGEX_MULTILINE | FLAGS, 0);
  /* Equalizer APO knows no file of REW. */
  self->marks.is_middle = self->marks.is_rew && !name;
  for (guint i = 0; lines[i]; i++)
    g_strchomp (lines[i]);
  gst_tfx_filter_line_survey (&self->marks, lines);
  for (guint i = 0; lines[i] && !writer->fault; i++) {
    writer->place = g_strdup_printf ("line %u of the filter settings%s%s%s",
        i + 1, name ? " in '" : "", name ? name : "", name ? "'" : "");
    read_line (self, lines[i]);
    if (writer->fault && !strchr (writer->fault, '\n')) {
      fault = g_strdup_printf ("%s\n  %s", writer->fault, lines[i]);
      g_free (writer->fault);
      writer->fault = fault;
    }
    g_free (writer->place);
  }
  writer->place = outer;
  g_strfreev (lines);
}

void
gst_tfx_apo_write (GstTfxPresetWriter *writer, const gchar *text)
{
  Apo self = { .writer = writer, .top = writer->folder };

  read_text (&self, text, NULL);
}
