/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulsetext.c: impulse responses as text: a line for each sample, with a
 * number for each channel.
 *
 * REW puts a header in front:
 *
 *   Impulse Response data saved by REW V5.20
 *   131072 // Response length
 *   2.0833333333333333E-5 // Sample interval (seconds)
 *   * Data start
 *   1.2E-5
 *
 * Without the sample interval the rate is that of the stream.
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

/* Of a line that a message quotes, in bytes. */
#define MAX_QUOTED 40

typedef struct
{
  GArray *numbers; /* of gdouble, frame by frame */
  guint n_channels;
  guint rate;
} Text;

/* How many numbers there are in a line; -1 if there is something else. */
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

/* A line of REW's header. */
static void
take_header (Text *text, const gchar *line)
{
  const gdouble seconds = g_ascii_strtod (line, NULL);

  if (strstr (line, "Sample interval") && seconds > 1e-9)
    text->rate = (guint)MIN (rint (1.0 / seconds), 1e9);
}

/* FALSE: the line is none of an impulse response. */
static gboolean
take_line (Text *text, const gchar *line)
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

/* The bytes of a line that a message quotes: no part of a character at the end. */
static gint
count_quoted (const gchar *line)
{
  gsize n = strnlen (line, MAX_QUOTED);

  while (n > 0 && (line[n] & 0xc0) == 0x80)
    n--;
  return (gint)n;
}

GstTfxImpulse *
gst_tfx_impulse_text_read (const gchar *path, gchar **why)
{
  Text text = { .numbers = g_array_new (FALSE, FALSE, sizeof (gdouble)) };
  gsize length = 0;
  gchar *content = gst_tfx_text_file_read (path, MAX_SIZE, &length, why);
  const gchar *at = content, *end = at + length;
  GstTfxImpulse *self = NULL;

  for (guint i = 1; !*why && at < end; i++) {
    const gchar *stop = memchr (at, '\n', (gsize)(end - at));
    gchar *line = g_strndup (at, (gsize)((stop ? stop : end) - at));

    if (!take_line (&text, line))
      *why = g_strdup_printf ("line %u, '%.*s', does not have one number "
                              "for each channel",
          i, count_quoted (line), line);
    g_free (line);
    at = stop ? stop + 1 : end;
  }
  if (!*why)
    self = make_impulse (&text, why);
  g_array_unref (text.numbers);
  g_free (content);
  return self;
}
