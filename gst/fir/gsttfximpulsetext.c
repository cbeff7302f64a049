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
#include "gsttfximpulse.h"

#include <math.h>
#include <string.h>

#include "gsttfxtextfile.h"

#define MAX_SIZE (256 << 20)

#define MAX_CHANNELS 64

/* Length of a quoted line in a message, in bytes. */
#define MAX_QUOTED 40

typedef struct
{
  GArray *numbers; /* of gdouble, frame by frame */
  guint n_channels;
  guint rate;
  /* The first lines with evidence for either meaning of commas, or that need
   * some, from 1; 0: none. */
  guint decimal, separator, either;
} Text;

gboolean
gst_tfx_impulse_text_is (FILE *file)
{
  guint8 bytes[1024];
  gboolean is_text;
  gsize n;

  rewind (file);
  n = fread (bytes, 1, sizeof bytes, file);
  is_text = n > 0;
  if (gst_tfx_text_file_is_utf16 (bytes, n))
    return TRUE;
  for (gsize i = 0; i < n; i++)
    is_text = is_text &&
              (bytes[i] >= 0x20 || (bytes[i] && strchr ("\t\r\n\f", bytes[i])));
  return is_text;
}

/* ---- commas -------------------------------------------------------------------- */

#define SPACES "; \t\r\f"

/* Collects the evidence of a line, if it has numbers alone.  Writes to it. */
static void
survey_line (Text *text, gchar *line, guint number)
{
  gchar *rest, *word, *next;

  if (line[strspn (line, "0123456789+-.,eE" SPACES)])
    return;
  word = strtok_r (line, SPACES, &rest);
  for (gboolean is_first = TRUE; word; word = next, is_first = FALSE) {
    gboolean is_separator = strchr (word, '.') != NULL, is_decimal = FALSE;
    const gchar *comma = word;
    guint n_commas = 0;

    next = strtok_r (NULL, SPACES, &rest);
    while ((comma = strchr (comma + 1, ','))) {
      if (!g_ascii_isdigit (comma[-1]))
        continue;
      n_commas += g_ascii_isdigit (comma[1]);
      is_separator = is_separator || comma[1] == '-' || comma[1] == '+';
      /* No whole number begins with such a 0. */
      is_decimal =
          is_decimal || (comma[1] == '0' && g_ascii_isdigit (comma[2]));
    }
    is_separator = is_separator || (n_commas > 0 && n_commas % 2 == 0);
    is_decimal =
        is_decimal || (n_commas == 1 && (next || !is_first) && !is_separator);
    if (is_separator && text->separator == 0)
      text->separator = number;
    if (is_decimal && text->decimal == 0)
      text->decimal = number;
    if (n_commas > 0 && text->either == 0)
      text->either = number;
  }
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

/* Returns FALSE if the line does not fit an impulse response.  Writes to it. */
static gboolean
take_line (Text *text, gchar *line)
{
  gdouble numbers[MAX_CHANNELS], seconds;
  gint n;

  line += strspn (line, " \t\r\f");
  if (g_str_has_prefix (line, "* Data start"))
    g_array_set_size (text->numbers, 0);
  if (strchr ("*#;%", *line))
    return TRUE;
  /* Of REW's header. */
  if (strstr (line, "//")) {
    replace_decimal_commas (line);
    seconds = g_ascii_strtod (line, NULL);
    if (strstr (line, "Sample interval") && seconds > 1e-9)
      text->rate = (guint)MIN (rint (1.0 / seconds), 1e9);
    return TRUE;
  }
  if (text->decimal > 0)
    replace_decimal_commas (line);
  n = read_line (line, numbers);
  if (n == 0 || (n < 0 && text->numbers->len == 0))
    return TRUE;
  if (text->numbers->len == 0)
    text->n_channels = n;
  if (n < 0 || (guint)n != text->n_channels)
    return FALSE;
  g_array_append_vals (text->numbers, numbers, n);
  return TRUE;
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

GArray *
gst_tfx_impulse_text_read (const gchar *path, guint *n_channels, guint *rate,
    gchar **why)
{
  Text text = { .numbers = g_array_new (FALSE, FALSE, sizeof (gdouble)) };
  gsize length = 0, n;
  gchar *content = gst_tfx_text_file_read (path, MAX_SIZE, &length, why), *line;
  const gchar *at = content, *end = at + length, *begin = at;

  for (guint i = 1; (line = cut_line (&at, end)); i++) {
    if (strchr (line, ',') || (text.separator == 0 && strchr (line, '.')))
      survey_line (&text, line, i);
    g_free (line);
  }
  if (text.decimal > 0 && text.separator > 0)
    *why = g_strdup_printf ("line %u has decimal commas, but line %u decimal "
                            "points, or commas between channels",
        text.decimal, text.separator);
  else if (text.either > 0 && text.decimal == 0 && text.separator == 0)
    *why = g_strdup_printf ("line %u has a comma that may be a decimal mark or "
                            "stand between channels; write decimal points, or "
                            "spaces between channels",
        text.either);
  at = content;
  for (guint i = 1; !*why && (line = cut_line (&at, end)); i++) {
    if (!take_line (&text, line)) {
      n = strnlen (line, MAX_QUOTED);
      /* Not half a character. */
      while (n > 0 && (line[n] & 0xc0) == 0x80)
        n--;
      *why = g_strdup_printf ("line %u, '%.*s', does not have one number "
                              "for each channel",
          i, (gint)n, begin);
    }
    begin = at;
    g_free (line);
  }
  n = text.numbers->len / MAX (text.n_channels, 1);
  if (!*why && n == 0)
    *why = g_strdup ("it is neither a readable sound file nor a text file with "
                     "numbers");
  else if (!*why && n > TFX_FIR_MAX_TAPS)
    *why = g_strdup_printf ("it has %" G_GSIZE_FORMAT
                            " lines of numbers; at most %u are allowed",
        n, TFX_FIR_MAX_TAPS);
  if (*why)
    g_clear_pointer (&text.numbers, g_array_unref);
  g_free (content);
  *n_channels = text.n_channels;
  *rate = text.rate;
  return text.numbers;
}
