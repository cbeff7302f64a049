/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulsetext.c: impulse responses as text: a line for each frame, with a
 * number for each channel.
 *
 * REW writes a header:
 *
 *   Impulse Response data saved by REW V5.20
 *   131072 // Response length
 *   2.0833333333333333E-5 // Sample interval (seconds)
 *   * Data start
 *   1.2E-5
 *
 * Without the sample interval the rate is that of the stream.
 *
 * A comma between digits is a decimal mark or a separator of channels; other lines of the
 * file must show which.
 */
#include "gsttfximpulsetext.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxtextfile.h"

#define MAX_SIZE (256 << 20)

#define MAX_CHANNELS 64

gboolean
gst_tfx_impulse_text_is (const gchar *path)
{
  goffset size;
  FILE *file = gst_tfx_bytes_open (path, &size, NULL);
  guint8 bytes[1024];
  gsize n = file ? fread (bytes, 1, sizeof bytes, file) : 0;
  const gboolean is_utf16 = gst_tfx_text_file_is_utf16 (bytes, n);
  gboolean is_text = n > 0;

  for (gsize i = 0; i < n && !is_utf16; i++)
    is_text = is_text &&
              (bytes[i] >= 0x20 || (bytes[i] && strchr ("\t\r\n\f", bytes[i])));
  if (file)
    fclose (file);
  return is_text;
}

/* Length of a quoted line in a message, in bytes. */
#define MAX_QUOTED 40

typedef struct
{
  GArray *numbers; /* of gdouble, frame by frame */
  guint n_channels;
  guint rate;
  gboolean has_decimal_commas;
} Text;

/* ---- commas -------------------------------------------------------------------- */

#define SPACES "; \t\r\f"

/* The first lines with evidence for either meaning of commas, from 1; 0: none. */
typedef struct
{
  guint decimal, separator, either;
} Commas;

/* Collects the evidence of a word; is_only: it is the only one in its line. */
static void
survey_word (Commas *commas, const gchar *word, gboolean is_only, guint line)
{
  const gchar *comma = word;
  gboolean is_separator = strchr (word, '.') != NULL, is_decimal = FALSE;
  guint n_commas = 0;

  while ((comma = strchr (comma + 1, ','))) {
    if (!g_ascii_isdigit (comma[-1]))
      continue;
    n_commas += g_ascii_isdigit (comma[1]);
    is_separator = is_separator || comma[1] == '-' || comma[1] == '+';
    /* No whole number begins with such a 0. */
    is_decimal = is_decimal || (comma[1] == '0' && g_ascii_isdigit (comma[2]));
  }
  is_separator = is_separator || (n_commas > 0 && n_commas % 2 == 0);
  is_decimal = is_decimal || (n_commas == 1 && !is_only && !is_separator);
  if (is_separator && commas->separator == 0)
    commas->separator = line;
  if (is_decimal && commas->decimal == 0)
    commas->decimal = line;
  if (n_commas > 0 && commas->either == 0)
    commas->either = line;
}

/* Collects the evidence of a line, if it has numbers alone. */
static void
survey_line (Commas *commas, const gchar *line, guint number)
{
  gchar **words;
  guint n_words = 0;

  if (line[strspn (line, "0123456789+-.,eE" SPACES)])
    return;
  words = g_strsplit_set (line, SPACES, -1);
  for (guint i = 0; words[i]; i++)
    n_words += *words[i] != '\0';
  for (guint i = 0; words[i]; i++) {
    if (*words[i])
      survey_word (commas, words[i], n_words == 1, number);
  }
  g_strfreev (words);
}

/* Replaces commas between digits by points. */
static void
replace_decimal_commas (gchar *line)
{
  for (gchar *at = line; (at = strchr (at, ',')); at++) {
    if (at > line && g_ascii_isdigit (at[-1]) && g_ascii_isdigit (at[1]))
      *at = '.';
  }
}

/* ---- lines --------------------------------------------------------------------- */

/* Reads the numbers of a line and returns how many; -1 if it has other text. */
static gint
read_line (const gchar *line, gdouble numbers[MAX_CHANNELS])
{
  gint n = 0;

  for (;;) {
    gchar *end;

    line += strspn (line, " \t\r\f,;");
    if (!*line)
      return n;
    if (n == MAX_CHANNELS)
      return -1;
    numbers[n] = g_ascii_strtod (line, &end);
    if (end == line || (*end && !strchr (" \t\r\f,;", *end)))
      return -1;
    line = end;
    n++;
  }
}

/* Reads the rate from a line of REW's header. */
static void
take_header (Text *text, gchar *line)
{
  gdouble seconds;

  replace_decimal_commas (line);
  seconds = g_ascii_strtod (line, NULL);
  if (strstr (line, "Sample interval") && seconds > 1e-9)
    text->rate = (guint)MIN (rint (1.0 / seconds), 1e9);
}

/* FALSE if the line does not fit an impulse response. */
static gboolean
take_line (Text *text, gchar *line)
{
  gdouble numbers[MAX_CHANNELS];
  gint n;

  line += strspn (line, " \t\r\f");
  if (strchr ("*#;%", *line)) {
    if (g_str_has_prefix (line, "* Data start"))
      g_array_set_size (text->numbers, 0);
    return TRUE;
  }
  if (strstr (line, "//")) {
    take_header (text, line);
    return TRUE;
  }
  if (text->has_decimal_commas)
    replace_decimal_commas (line);
  n = read_line (line, numbers);
  if (n < 0 && text->numbers->len == 0)
    return TRUE;
  if (n == 0)
    return TRUE;
  if (text->numbers->len == 0)
    text->n_channels = n;
  if (n < 0 || (guint)n != text->n_channels)
    return FALSE;
  g_array_append_vals (text->numbers, numbers, n);
  return TRUE;
}

static GstTfxImpulse *
make_impulse (const Text *text, gchar **why)
{
  const guint n_channels = text->n_channels;
  const gsize n = text->numbers->len / MAX (n_channels, 1);
  GstTfxImpulse *self;

  if (n == 0 || n > TFX_FIR_MAX_TAPS) {
    *why = n == 0
               ? g_strdup ("it is neither a readable sound file "
                           "nor a text file with numbers")
               : g_strdup_printf ("it has %" G_GSIZE_FORMAT
                                  " lines of numbers; at most %u are allowed",
                     n, TFX_FIR_MAX_TAPS);
    return NULL;
  }
  self = gst_tfx_impulse_new (text->rate, n_channels, n);
  if (!self)
    *why = g_strdup_printf ("out of memory for %" G_GSIZE_FORMAT " lines", n);
  for (gsize i = 0; self && i < n; i++) {
    for (guint c = 0; c < n_channels; c++)
      self->taps[c * n + i] =
          g_array_index (text->numbers, gdouble, i * n_channels + c);
  }
  return self;
}

/* The bytes of a line to quote in a message, without half a character at the end. */
static gint
count_quoted (const gchar *line)
{
  gsize n = strnlen (line, MAX_QUOTED);

  while (n > 0 && (line[n] & 0xc0) == 0x80)
    n--;
  return (gint)n;
}

/* The next line, to be freed; NULL at the end. */
static gchar *
cut_line (const gchar **at, const gchar *end)
{
  const gchar *begin = *at;
  const gchar *stop =
      begin < end ? memchr (begin, '\n', (gsize)(end - begin)) : NULL;

  if (begin == end)
    return NULL;
  *at = stop ? stop + 1 : end;
  return g_strndup (begin, (gsize)((stop ? stop : end) - begin));
}

/* Whether commas are decimal marks, in the whole file; sets *why if that is ambiguous. */
static gboolean
has_decimal_commas (const gchar *at, const gchar *end, gchar **why)
{
  Commas commas = { 0 };
  gchar *line;

  for (guint i = 1; (line = cut_line (&at, end)); i++) {
    if (strchr (line, ',') || (commas.separator == 0 && strchr (line, '.')))
      survey_line (&commas, line, i);
    g_free (line);
  }
  if (commas.decimal > 0 && commas.separator > 0)
    *why = g_strdup_printf ("line %u has decimal commas, but line %u decimal "
                            "points, or commas between channels",
        commas.decimal, commas.separator);
  else if (commas.either > 0 && commas.decimal == 0 && commas.separator == 0)
    *why = g_strdup_printf ("line %u has a comma that may be a decimal mark or "
                            "stand between channels; write decimal points, or "
                            "spaces between channels",
        commas.either);
  return commas.decimal > 0;
}

GstTfxImpulse *
gst_tfx_impulse_text_read (const gchar *path, gchar **why)
{
  Text text = { .numbers = g_array_new (FALSE, FALSE, sizeof (gdouble)) };
  gsize length = 0;
  gchar *content = gst_tfx_text_file_read (path, MAX_SIZE, &length, why), *line;
  const gchar *at = content, *end = at + length, *begin = at;
  GstTfxImpulse *self = NULL;

  if (!*why)
    text.has_decimal_commas = has_decimal_commas (at, end, why);
  for (guint i = 1; !*why && (line = cut_line (&at, end)); i++) {
    if (!take_line (&text, line))
      *why = g_strdup_printf ("line %u, '%.*s', does not have one number "
                              "for each channel",
          i, count_quoted (line), begin);
    begin = at;
    g_free (line);
  }
  if (!*why)
    self = make_impulse (&text, why);
  g_array_unref (text.numbers);
  g_free (content);
  return self;
}
