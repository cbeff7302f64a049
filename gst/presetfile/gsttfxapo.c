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
#define SPACES " \t\v\f"
/* The limit of the language. */
#define MAX_SIZE (1 << 20)
#define MAX_DEPTH 8
#define MAX_INCLUDES 64

#define FAIL(...) gst_tfx_stages_fail (self->stages, __VA_ARGS__)

typedef struct
{
  GstTfxStages *stages;
  GstTfxFilterMarks marks; /* of the current file */
  const gchar *at;         /* the rest of the line */
  const gchar *top;        /* the folder of the first file */
  guint depth;             /* of the current file */
  guint n_includes;
  gchar *word; /* the current one */
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

/* The next word of the line, where faults are shown, until the next call.  NULL:
 * there is none. */
static gchar *
take_word (Apo *self)
{
  const gchar *begin = self->at + strspn (self->at, SPACES ";");
  const gsize n = strcspn (begin, SPACES ";");

  self->stages->caret = begin;
  self->at = begin + n;
  g_free (self->word);
  self->word = n > 0 ? g_strndup (begin, n) : NULL;
  return self->word;
}

/* The rest of the line as the name of a file, with '/' between folders; free it. */
static gchar *
take_name (Apo *self)
{
  gchar *name = g_strdelimit (g_strstrip (g_strdup (self->at)), "\\", '/');

  if (!*name)
    FAIL ("it names no file");
  return name;
}

/* ---- channels ------------------------------------------------------------ */

/* Adds the channel of a number from 1 or a name, and returns its bit, from 64 on of
 * positions; -1 if there is none. */
static gint
add_channel (GstTfxStagesChannels *channels, const gchar *name)
{
  static const gchar *const names[][2] = { { "L", "FL" }, { "R", "FR" },
    { "C", "FC" }, { "LFE", "LFE" }, { "SUB", "LFE" }, { "RL", "BL" },
    { "RR", "BR" }, { "RC", "BC" }, { "SL", "SL" }, { "SR", "SR" } };
  guint64 number;
  gint bit;

  if (g_ascii_string_to_unsigned (name, 10, 1, TFX_EXPR_MAX_CHANNELS, &number,
          NULL)) {
    channels->numbers |= (guint64)1 << (number - 1);
    return (gint)number - 1;
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_ascii_strcasecmp (names[i][0], name) == 0) {
      bit = tfx_position_find (names[i][1]);
      channels->positions |= (guint64)1 << bit;
      return 64 + bit;
    }
  }
  return -1;
}

static void
read_channel (Apo *self)
{
  GstTfxStagesChannels channels = { 0 };
  gchar *word = take_word (self);
  gboolean is_all = FALSE;

  if (!word)
    FAIL ("it names no channel");
  for (; word; word = take_word (self)) {
    if (g_ascii_strcasecmp (word, "all") == 0)
      is_all = TRUE;
    else if (add_channel (&channels, word) < 0)
      FAIL ("unknown channel %s; channels are numbers from 1, L, R, C, LFE, "
            "RL, RR, RC, SL, SR and all",
          word);
  }
  self->stages->channels = is_all ? (GstTfxStagesChannels){ 0 } : channels;
}

/* A term of "L=0.5*L+R": the bits of both channels; from -1: none. */
typedef struct
{
  gboolean is_first; /* of its assignment */
  gint to, from;
  gdouble gain;
} Term;

/* "L", "0.5*L", "-6dB*L" or "0" */
static void
read_term (Apo *self, gchar *text, GstTfxStagesChannels *all, Term *term)
{
  gchar *star = strchr (text, '*'), *name = star ? star + 1 : text, *end;
  const gboolean is_constant =
      !star && (strcmp (text, "0") == 0 || strchr (text, '.'));

  term->gain = 1.0;
  term->from = is_constant ? -1 : add_channel (all, name);
  if (!is_constant && term->from < 0)
    FAIL ("%s is not a channel of the stream", *name ? name : "nothing");
  if (!star && !is_constant)
    return;
  if (star)
    *star = '\0';
  term->gain = g_ascii_strtod (text, &end);
  if (end > text && g_ascii_strcasecmp (end, "dB") == 0) {
    term->gain = pow (10.0, term->gain / 20.0);
    end += 2;
  }
  if (end == text || *end || !isfinite (term->gain))
    FAIL ("%s is not a factor", text);
  else if (is_constant && term->gain != 0.0)
    FAIL ("the constant %s cannot be added to a channel", text);
}

/* The index of a channel among those of the matrix. */
static guint
find_row (const GstTfxStagesChannels *all, gint bit)
{
  return (guint)__builtin_popcountll (
      (all->numbers | all->positions) & (((guint64)1 << bit % 64) - 1));
}

/* A matrix of the channels that the line names; channels that only are sources
 * stay.  (The selected channels do not matter.) */
static void
read_copy (Apo *self)
{
  const GstTfxStagesChannels kept = self->stages->channels;
  g_autoptr (GArray) terms = g_array_new (FALSE, FALSE, sizeof (Term));
  GstTfxStagesChannels all = { 0 };
  g_autofree gdouble *rows = NULL;
  gchar *word;
  guint n;

  while (!self->stages->fault && (word = take_word (self))) {
    g_auto (GStrv) sides = g_strsplit (word, "=", -1);
    g_auto (GStrv) texts = NULL;
    Term term = { TRUE, -1, -1, 0.0 };

    if (g_strv_length (sides) != 2 || !*sides[0] || !*sides[1])
      FAIL ("%s is not an assignment such as L=0.5*L+0.5*R", word);
    else if ((term.to = add_channel (&all, sides[0])) < 0)
      FAIL ("%s is not a channel of the stream; virtual channels are not "
            "supported",
          sides[0]);
    else
      texts = g_strsplit (sides[1], "+", -1);
    for (guint i = 0; texts && texts[i]; i++) {
      term.is_first = i == 0;
      read_term (self, texts[i], &all, &term);
      g_array_append_val (terms, term);
    }
  }
  n = (guint)__builtin_popcountll (all.numbers | all.positions);
  if (all.numbers && all.positions)
    FAIL ("channels must all be numbers or all be names");
  else if (n == 0)
    FAIL ("it assigns nothing");
  rows = g_new0 (gdouble, n * n + 1);
  for (guint i = 0; i < n; i++)
    rows[i * n + i] = 1.0;
  for (guint i = 0; i < terms->len && !self->stages->fault; i++) {
    const Term *term = &g_array_index (terms, Term, i);
    gdouble *row = rows + find_row (&all, term->to) * n;

    if (term->is_first)
      memset (row, 0, n * sizeof *row);
    if (term->from >= 0)
      row[find_row (&all, term->from)] += term->gain;
  }
  self->stages->channels = all;
  gst_tfx_stages_add_list (self->stages, "Mix([[", rows, n * n, n, "]])");
  self->stages->channels = kept;
}

/* ---- Delay, GraphicEQ, Convolution ----------------------------------------- */

static void
read_delay (Apo *self)
{
  g_autofree gchar *text = g_strdelimit (g_strdup (self->at), ",", '.');
  gchar *end;
  const gdouble delay = g_ascii_strtod (text, &end);
  const gchar *unit = g_strstrip (end);

  if (end == text || !isfinite (delay) ||
      (g_ascii_strcasecmp (unit, "ms") != 0 &&
          g_ascii_strcasecmp (unit, "samples") != 0))
    FAIL ("the delay must be a number with the unit ms or samples");
  else
    gst_tfx_stages_add_delay (self->stages, delay,
        g_ascii_tolower (*unit) == 'm');
}

static gint
compare_points (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *)a, y = *(const gdouble *)b;

  return (x > y) - (x < y);
}

/* Points may have any order. */
static void
read_graphic (Apo *self)
{
  g_autoptr (GArray) numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const gboolean has_comma = !strchr (self->at, '.');
  gchar *word, *end;

  while (!self->stages->fault && (word = take_word (self))) {
    const gdouble number =
        g_ascii_strtod (has_comma ? g_strdelimit (word, ",", '.') : word, &end);

    if (*end || !isfinite (number))
      FAIL ("%s is not a number", word);
    g_array_append_val (numbers, number);
  }
  if (numbers->len == 0 || numbers->len % 2 != 0)
    FAIL ("it must have pairs of a frequency and a gain");
  else
    qsort (numbers->data, numbers->len / 2, 2 * sizeof (gdouble),
        compare_points);
  gst_tfx_stages_add_list (self->stages, "Curve([[",
      (const gdouble *)numbers->data, numbers->len, 2, "]], phase='minimum')");
}

/* The selected channels take the channels of the file in turn. */
static void
read_convolution (Apo *self)
{
  GstTfxStages *stages = self->stages;
  const GstTfxStagesChannels kept = stages->channels;
  g_autofree gchar *name = take_name (self);
  g_autofree gchar *path = gst_tfx_stages_find_path (stages, name);
  g_autofree gchar *quoted = gst_tfx_stages_quote (stages, name);
  g_autoptr (GError) error = NULL;
  GstTfxImpulse *impulse = gst_tfx_impulse_file_read (path, 0, &error);
  guint n = 0;

  if (!impulse)
    gst_tfx_stages_fail (stages, "%s", error->message);
  else if (impulse->n_kernels == 1 || !(kept.numbers || kept.positions))
    gst_tfx_stages_add (stages, "Convolve(%s)", quoted);
  else if (kept.numbers && kept.positions)
    gst_tfx_stages_fail (stages,
        "the selected channels must all be numbers or all be names");
  else
    for (guint i = 0; i < 64; i++) {
      const guint64 bit = (guint64)1 << i;

      stages->channels =
          (GstTfxStagesChannels){ kept.numbers & bit, kept.positions & bit };
      if ((kept.numbers | kept.positions) & bit)
        gst_tfx_stages_add (stages, "Convolve(%s, channel=%u)", quoted,
            n++ % impulse->n_kernels);
    }
  stages->channels = kept;
  gst_tfx_impulse_unref (impulse);
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
read_include (Apo *self)
{
  const GstTfxStages kept = *self->stages;
  const GstTfxFilterMarks marks = self->marks;
  GstTfxPresetSource *source = &self->stages->source;
  g_autofree gchar *name = take_name (self), *why = NULL, *text = NULL;
  g_autofree gchar *path = gst_tfx_stages_find_path (self->stages, name);
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *base = g_path_get_dirname (name), *prefix = NULL;
  g_autofree gchar *shown = gst_tfx_bytes_show (name);

  if (g_path_is_absolute (name) || strchr (name, ':') ||
      !is_inside (self->top, path))
    FAIL ("'%s' is not in the folder of the configuration", shown);
  else if (self->depth == MAX_DEPTH || self->n_includes++ == MAX_INCLUDES)
    FAIL ("files are included more than %u deep or %u times", MAX_DEPTH,
        MAX_INCLUDES);
  if (self->stages->fault)
    return;
  if (source->opened)
    source->opened (source->data, path);
  text = gst_tfx_text_file_read (path, MAX_SIZE, NULL, &why);
  if (!text) {
    FAIL ("'%s' cannot be read: %s", shown, why);
    return;
  }
  source->folder = folder;
  prefix = source->prefix ? g_build_filename (source->prefix, base, NULL)
                          : g_strdup (base);
  if (strcmp (base, ".") != 0)
    source->prefix = prefix;
  self->depth++;
  read_text (self, text, shown);
  self->depth--;
  *source = kept.source;
  self->stages->channels = kept.channels;
  self->marks = marks;
}

/* A command has a function, or a pattern that its value must match; others have no
 * equal here. */
static const struct
{
  const gchar *name;
  void (*read) (Apo *self);
  const gchar *pattern, *fault;
} commands[] = { { "Channel", read_channel }, { "Copy", read_copy },
  { "Delay", read_delay }, { "Convolution", read_convolution },
  { "GraphicEQ", read_graphic }, { "Include", read_include },
  { "Device", NULL, "^\\s*+all\\s*+$",
      "a chain has no device; only \"Device: all\" is supported" },
  { "Stage", NULL, "(?<![\\w-])post-mix(?![\\w-])",
      "only the stage post-mix, where all lines apply, is supported" },
  { "If" }, { "ElseIf" }, { "Else" }, { "EndIf" }, { "Eval" }, { "VSTPlugin" },
  { "LoudnessCorrection" } };

static void
read_line (Apo *self, const gchar *line)
{
  const gchar *colon = strchr (line, ':');
  g_autofree gchar *key = NULL;
  guint i = 0;

  if (!colon || line[strspn (line, SPACES)] == '#')
    return;
  key = g_strstrip (g_strndup (line, (gsize)(colon - line)));
  self->at = colon + 1;
  self->stages->line = line;
  self->stages->caret = self->at + strspn (self->at, SPACES);
  while (i < G_N_ELEMENTS (commands) &&
         g_ascii_strcasecmp (commands[i].name, key) != 0)
    i++;
  if (!self->marks.is_rew && strchr (colon, '`'))
    FAIL ("expressions between backticks are not supported");
  else if (i == G_N_ELEMENTS (commands) &&
           !gst_tfx_filter_line_write (self->stages, &self->marks, line) &&
           !self->marks.is_rew)
    FAIL ("unknown command %s; a comment begins with #", key);
  else if (i < G_N_ELEMENTS (commands) && commands[i].read)
    commands[i].read (self);
  else if (i < G_N_ELEMENTS (commands) && !commands[i].pattern)
    FAIL ("not supported: this command of Equalizer APO has no equal here");
  else if (i < G_N_ELEMENTS (commands) &&
           !g_regex_match_simple (commands[i].pattern, self->at, FLAGS, 0))
    FAIL ("%s", commands[i].fault);
}

/* Reads the lines of a file: the main one has no name. */
static void
read_text (Apo *self, const gchar *text, const gchar *name)
{
  /* (Files of old Macs end lines with CR.) */
  g_auto (GStrv) lines =
      g_strsplit (text, strchr (text, '\n') ? "\n" : "\r", -1);
  gchar *const outer = self->stages->place;
  const gchar *rew = "\\A\\s*Filter Settings|^\\h*+Room EQ V";

  self->marks = (GstTfxFilterMarks){ 0 };
  self->marks.is_rew =
      g_regex_match_simple (rew, text, G_REGEX_MULTILINE | FLAGS, 0);
  /* Equalizer APO knows no file of REW. */
  self->marks.is_middle = self->marks.is_rew && !name;
  for (guint i = 0; lines[i]; i++)
    g_strchomp (lines[i]);
  gst_tfx_filter_line_survey (&self->marks, lines);
  for (guint i = 0; lines[i] && !self->stages->fault; i++) {
    self->stages->place =
        g_strdup_printf ("line %u of the filter settings%s%s%s", i + 1,
            name ? " in '" : "", name ? name : "", name ? "'" : "");
    read_line (self, lines[i]);
    g_free (self->stages->place);
  }
  self->stages->place = outer;
}

void
gst_tfx_apo_write (GstTfxStages *stages, const gchar *text)
{
  Apo self = { .stages = stages, .top = stages->source.folder };

  read_text (&self, text, NULL);
  stages->line = NULL;
  g_free (self.word);
}
