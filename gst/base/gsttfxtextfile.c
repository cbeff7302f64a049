/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtextfile.c: texts that stand in files.
 *
 * Files are read, not mapped: one that is saved anew meanwhile, which first makes
 * it shorter, would end the process.  A device has no end.
 */
#include "gsttfxtextfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gsttfxbytes.h"

#define CHUNK 65536
#define MARK "\xef\xbb\xbf"

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
  *why =
      ferror (file) ? g_strdup (g_strerror (errno)) : find_fault (bytes, most);
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
