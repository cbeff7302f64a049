/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbytes.c: reads and writes binary files.
 */
#include "gsttfxbytes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

static const gchar *
find_fault (const struct stat *status)
{
  return S_ISREG (status->st_mode)   ? NULL
         : S_ISDIR (status->st_mode) ? "it is a folder"
                                     : "it is not a file";
}

/* A pipe is not opened at all, since its writer would notice.  O_NONBLOCK: do
 * not wait for a pipe that replaces the file after stat(). */
FILE *
gst_tfx_bytes_open (const gchar *path, goffset *size, gchar **why)
{
  struct stat status;
  const gchar *fault = stat (path, &status) == 0 ? find_fault (&status) : NULL;
  const gint fd =
      fault ? -1 : g_open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  FILE *file = NULL;

  if (fd >= 0 && fstat (fd, &status) == 0)
    fault = find_fault (&status);
  if (fd >= 0 && !fault)
    file = fdopen (fd, "r");
  if (file)
    *size = status.st_size;
  else if (why)
    *why = g_strdup (fault ? fault : g_strerror (errno));
  if (!file && fd >= 0)
    close (fd);
  return file;
}

/* Show the end of a longer name. */
#define MAX_SHOWN 120

gchar *
gst_tfx_bytes_escape (const gchar *text)
{
  GString *escaped = g_string_new (NULL);
  const gchar *end;

  while (!g_utf8_validate (text, -1, &end)) {
    g_string_append_len (escaped, text, end - text);
    g_string_append_printf (escaped, "\\x%02x", (guint8)*end);
    text = end + 1;
  }
  g_string_append (escaped, text);
  return g_string_free (escaped, FALSE);
}

gchar *
gst_tfx_bytes_show (const gchar *name)
{
  gchar *text = gst_tfx_bytes_escape (name), *shown;
  const glong n = g_utf8_strlen (text, -1);

  if (n <= MAX_SHOWN)
    return text;
  shown =
      g_strconcat ("...", g_utf8_offset_to_pointer (text, n - MAX_SHOWN), NULL);
  g_free (text);
  return shown;
}

gboolean
gst_tfx_bytes_read_at (FILE *file, goffset offset, void *bytes, gsize n)
{
  return fseeko (file, offset, SEEK_SET) == 0 && fread (bytes, 1, n, file) == n;
}

gboolean
gst_tfx_bytes_read_chunk (FILE *file, goffset offset, gboolean is_big,
    guint64 long_size, GstTfxChunk *chunk)
{
  guint8 head[8];

  if (!gst_tfx_bytes_read_at (file, offset, head, sizeof head))
    return FALSE;
  memcpy (chunk->letters, head, sizeof chunk->letters);
  chunk->at = offset + (goffset)sizeof head;
  chunk->size = is_big ? gst_tfx_bytes_get_be (head + 4, 4)
                       : gst_tfx_bytes_get_le (head + 4, 4);
  if (chunk->size == G_MAXUINT32 && long_size > 0)
    chunk->size = long_size;
  return chunk->size < G_MAXINT64 - (guint64)chunk->at - 1;
}

gboolean
gst_tfx_bytes_write_at (FILE *file, goffset offset, const void *bytes, gsize n)
{
  return fseeko (file, offset, SEEK_SET) == 0 &&
         fwrite (bytes, 1, n, file) == n;
}

gboolean
gst_tfx_bytes_find_box (const guint8 *bytes, gsize n, const gchar *letters,
    const guint8 **content, gsize *size)
{
  for (gsize at = 0, length; at + 8 <= n; at += length) {
    length = (gsize)gst_tfx_bytes_get_be (bytes + at, 4);
    if (length < 8 || length > n - at)
      return FALSE;
    if (memcmp (bytes + at + 4, letters, 4) == 0) {
      *content = bytes + at + 8;
      *size = length - 8;
      return TRUE;
    }
  }
  return FALSE;
}

gsize
gst_tfx_bytes_find_xing (const guint8 *head)
{
  const gboolean is_mpeg_1 = (head[1] & 0x18) == 0x18;
  const gboolean is_mono = head[3] >> 6 == 3;

  if (head[0] != 0xff || (head[1] & 0xe6) != 0xe2)
    return 0;
  return 4 + (is_mpeg_1 ? (is_mono ? 17 : 32) : (is_mono ? 9 : 17));
}
