/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxogg.c: the pages of an Ogg file, RFC 3533, 6.
 *
 * A demultiplexer drops a page with a wrong checksum, and later samples move
 * forward.
 */
#include "gsttfxogg.h"

#include <string.h>

#include "gsttfxbytes.h"

#define HEAD 27

/* Bits of the flags. */
#define IS_FIRST 2
#define IS_LAST 4

typedef struct Page
{
  goffset at;
  gsize size;
  guint flags;
  gint64 granule; /* 0 in headers */
  guint32 serial, number;
} Page;

/* Polynomial 0x04c11db7, most significant bit first, from 0. */
guint32
gst_tfx_ogg_sum (const guint8 *page, gsize n)
{
  static guint32 table[256];
  static gsize is_made = 0;
  guint32 sum = 0;

  if (g_once_init_enter (&is_made)) {
    for (guint32 i = 0; i < 256; i++) {
      guint32 x = i << 24;

      for (guint k = 0; k < 8; k++)
        x = x << 1 ^ (x >> 31 ? 0x04c11db7 : 0);
      table[i] = x;
    }
    g_once_init_leave (&is_made, 1);
  }
  for (gsize i = 0; i < n; i++)
    sum = sum << 8 ^ table[sum >> 24 ^ page[i]];
  return sum;
}

/* Reads a page.  Returns FALSE if it is incomplete or its checksum is wrong. */
static gboolean
read_page (FILE *file, goffset at, guint8 *bytes, Page *page)
{
  gsize size = HEAD;
  guint32 sum;

  if (!gst_tfx_bytes_read_at (file, at, bytes, HEAD) ||
      memcmp (bytes, "OggS", 5) != 0 ||
      fread (bytes + HEAD, 1, bytes[26], file) != bytes[26])
    return FALSE;
  size += bytes[26];
  for (guint i = 0; i < bytes[26]; i++)
    size += bytes[HEAD + i];
  if (fread (bytes + HEAD + bytes[26], 1, size - HEAD - bytes[26], file) !=
      size - HEAD - bytes[26])
    return FALSE;
  sum = (guint32)gst_tfx_bytes_get_le (bytes + 22, 4);
  memset (bytes + 22, 0, 4);
  if (gst_tfx_ogg_sum (bytes, size) != sum)
    return FALSE;
  *page =
      (Page){ at, size, bytes[5], (gint64)gst_tfx_bytes_get_le (bytes + 6, 8),
        (guint32)gst_tfx_bytes_get_le (bytes + 14, 4),
        (guint32)gst_tfx_bytes_get_le (bytes + 18, 4) };
  return TRUE;
}

guint8 *
gst_tfx_ogg_read_last (FILE *file, goffset size, goffset *at, gsize *n)
{
  const goffset from = MAX (0, size - GST_TFX_OGG_MAX_PAGE);
  const gsize n_end = (gsize)(size - from);
  guint8 *end = g_malloc (n_end), *bytes = g_malloc (GST_TFX_OGG_MAX_PAGE);
  gboolean is_found = FALSE;
  Page page = { 0 };

  if (gst_tfx_bytes_read_at (file, from, end, n_end)) {
    for (gsize i = n_end >= HEAD ? n_end - HEAD + 1 : 0; i > 0 && !is_found;
         i--)
      is_found = memcmp (end + i - 1, "OggS", 4) == 0 &&
                 read_page (file, from + (goffset)(i - 1), bytes, &page);
  }
  g_free (end);
  if (!is_found || !(page.flags & IS_LAST))
    g_clear_pointer (&bytes, g_free);
  *at = page.at;
  *n = page.size;
  return bytes;
}

/* Finds the next valid page at an offset or after it; FALSE if there is
 * none. */
static gboolean
find_page (FILE *file, goffset at, goffset size, guint8 *bytes, Page *page)
{
  guint8 *letters;
  gsize n;

  while (!read_page (file, at, bytes, page)) {
    at++;
    if (at >= size || fseeko (file, at, SEEK_SET) != 0)
      return FALSE;
    n = fread (bytes, 1, GST_TFX_OGG_MAX_PAGE, file);
    letters = memmem (bytes, n, "OggS", 4);
    at += letters ? letters - bytes : n > 4 ? (goffset)n - 4 : (goffset)n;
    if (!letters && at + 4 >= size)
      return FALSE;
  }
  return TRUE;
}

/* Sets the end of the last link; removes it if it has no sound. */
static void
end_link (GArray *links, gboolean has_sound, goffset end)
{
  if (!links || links->len == 0)
    return;
  g_array_index (links, GstTfxLink, links->len - 1).end = end;
  if (!has_sound)
    g_array_set_size (links, links->len - 1);
}

gchar *
gst_tfx_ogg_check (FILE *file, goffset start, goffset size, GArray *links)
{
  GHashTable *numbers =
      g_hash_table_new (NULL, NULL); /* serial number to next page */
  guint8 *bytes = g_malloc (GST_TFX_OGG_MAX_PAGE);
  goffset at = start, bad = -1;
  gboolean has_data = TRUE, has_end = TRUE, has_sound = FALSE;
  GstTfxLink link;
  gpointer number;
  Page page;

  while (find_page (file, at, size, bytes, &page)) {
    /* The first pages of all streams of a link come before the others. */
    if (page.flags & IS_FIRST && has_data) {
      end_link (links, has_sound, page.at);
      link = (GstTfxLink){ page.at, size };
      if (links)
        g_array_append_val (links, link);
      has_sound = FALSE;
      if (!has_end && bad < 0)
        bad = page.at;
      g_hash_table_remove_all (numbers);
    }
    has_data = !(page.flags & IS_FIRST);
    has_end = page.flags & IS_LAST;
    has_sound = has_sound || page.granule > 0;
    if (bad < 0 &&
        (page.at != at || (g_hash_table_lookup_extended (numbers,
                               GUINT_TO_POINTER (page.serial), NULL, &number)
                                  ? GPOINTER_TO_UINT (number) != page.number
                                  : has_data)))
      bad = at;
    g_hash_table_insert (numbers, GUINT_TO_POINTER (page.serial),
        GUINT_TO_POINTER (page.number + 1));
    at = page.at + (goffset)page.size;
  }
  end_link (links, has_sound, size);
  g_free (bytes);
  g_hash_table_unref (numbers);
  if (bad >= 0)
    return g_strdup_printf ("it is damaged: a page is wrong or missing at byte "
                            "%" G_GOFFSET_FORMAT,
        bad);
  return has_end ? NULL : g_strdup ("it is cut off: its last page is missing");
}
