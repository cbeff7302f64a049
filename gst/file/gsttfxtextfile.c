/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtextfile.c: reads text files.
 *
 * Files are read, not mapped: if another program shortens a mapped file while
 * it is read, the process dies.  A device has no end.
 */
#include "gsttfxtextfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gsttfxbytes.h"

#define CHUNK 65536
#define MARK "\xef\xbb\xbf"
#define MARK_16_LE "\xff\xfe"
#define MARK_16_BE "\xfe\xff"

/* Up to one byte more than the most. */
static GString *
read_bytes (FILE *file, gsize most)
{
  GString *bytes = g_string_new (NULL);
  gchar chunk[CHUNK];
  gsize n;

  do {
    n = fread (chunk, 1, MIN (sizeof chunk, most + 1 - bytes->len), file);
    g_string_append_len (bytes, chunk, n);
  } while (n > 0 && bytes->len <= most);
  return bytes;
}

static gchar *
find_fault (const GString *bytes, gsize most)
{
  if (bytes->len > most)
    return g_strdup_printf ("it is larger than %" G_GSIZE_FORMAT " MiB",
        most >> 20);
  if (strlen (bytes->str) < bytes->len)
    return g_strdup_printf ("byte %" G_GSIZE_FORMAT " is 0, so it is not "
                            "UTF-8 text",
        strlen (bytes->str) + 1);
  return NULL;
}

gboolean
gst_tfx_text_file_is_utf16 (const guint8 *bytes, gsize n)
{
  return n >= 2 && (memcmp (bytes, MARK_16_LE, 2) == 0 ||
                       memcmp (bytes, MARK_16_BE, 2) == 0);
}

/* Replaces UTF-16 with its mark by UTF-8 without one.  Returns why it cannot,
 * or NULL. */
static gchar *
convert_utf16 (GString *bytes)
{
  const gboolean is_big = memcmp (bytes->str, MARK_16_BE, 2) == 0;
  const gsize n = bytes->len / 2 - 1;
  gunichar2 *units = g_new (gunichar2, n + 1);
  glong n_read = 0, n_written = 0;
  gchar *text = NULL, *why = NULL;

  for (gsize i = 0; i < n; i++) {
    const guint8 *unit = (const guint8 *)bytes->str + 2 * i + 2;

    units[i] =
        (gunichar2)(is_big ? unit[0] << 8 | unit[1] : unit[1] << 8 | unit[0]);
  }
  if (bytes->len % 2 == 0)
    text = g_utf16_to_utf8 (units, (glong)n, &n_read, &n_written, NULL);
  /* (It ends at a zero.) */
  if (!text || (gsize)n_read < n)
    why = g_strdup_printf ("it is not UTF-16 text from byte %" G_GSIZE_FORMAT
                           " on",
        2 * (gsize)n_read + 3);
  else
    g_string_append_len (g_string_truncate (bytes, 0), text, n_written);
  g_free (text);
  g_free (units);
  return why;
}

gchar *
gst_tfx_text_file_read (const gchar *path, gsize most, gsize *length,
    gchar **why)
{
  goffset size;
  FILE *file;
  GString *bytes;

  *why = NULL;
  file = gst_tfx_bytes_open (path, &size, why);
  if (!file)
    return NULL;
  bytes = read_bytes (file, most);
  if (ferror (file))
    *why = g_strdup (g_strerror (errno));
  else if (bytes->len <= most &&
           gst_tfx_text_file_is_utf16 ((const guint8 *)bytes->str, bytes->len))
    *why = convert_utf16 (bytes);
  else
    *why = find_fault (bytes, most);
  fclose (file);
  if (*why) {
    g_string_free (bytes, TRUE);
    return NULL;
  }
  if (g_str_has_prefix (bytes->str, MARK))
    g_string_erase (bytes, 0, strlen (MARK));
  if (length)
    *length = bytes->len;
  return g_string_free (bytes, FALSE);
}
