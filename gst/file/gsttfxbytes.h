/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbytes.h: reads and writes binary files: numbers of up to eight bytes at
 * any offset, and chunks.
 */
#ifndef GST_TFX_BYTES_H
#define GST_TFX_BYTES_H

#include <stdio.h>

#include <glib.h>
#include <gst/gst.h>

G_BEGIN_DECLS

static inline guint64
gst_tfx_bytes_get_be (const guint8 *bytes, gsize n)
{
  guint64 number = 0;

  for (gsize i = 0; i < n; i++)
    number = number << 8 | bytes[i];
  return number;
}

static inline guint64
gst_tfx_bytes_get_le (const guint8 *bytes, gsize n)
{
  guint64 number = 0;

  while (n-- > 0)
    number = number << 8 | bytes[n];
  return number;
}

static inline void
gst_tfx_bytes_put_le (guint8 *bytes, gsize n, guint64 number)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8)(number >> 8 * i);
}

static inline void
gst_tfx_bytes_put_be (guint8 *bytes, gsize n, guint64 number)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = (guint8)(number >> 8 * (n - 1 - i));
}

/* Opens a regular file for reading and returns it with its size in bytes; close
 * it with fclose().  Returns NULL for everything else, without waiting: pipes,
 * devices and folders too.  why, unless NULL, then gets the reason; free it. */
FILE *gst_tfx_bytes_open (const gchar *path, goffset *size, gchar **why);

/* A text in UTF-8: bytes that are not UTF-8 become \\xNN.  Free it. */
gchar *gst_tfx_bytes_escape (const gchar *text);

/* The name of a file for a message, in UTF-8: bytes that are not UTF-8 as
 * \\xNN, and of a long name its end.  Free it. */
gchar *gst_tfx_bytes_show (const gchar *name);

/* Reads n bytes at an offset.  Returns FALSE if they cannot all be read. */
gboolean
gst_tfx_bytes_read_at (FILE *file, goffset offset, void *bytes, gsize n);

/* Writes n bytes at an offset.  Returns FALSE and sets errno on failure. */
gboolean
gst_tfx_bytes_write_at (FILE *file, goffset offset, const void *bytes, gsize n);

/* MP4: finds the content of the first box with this name among n bytes of
 * boxes.  Returns FALSE if there is none. */
gboolean gst_tfx_bytes_find_box (const guint8 *bytes, gsize n,
    const gchar *letters, const guint8 **content, gsize *size);

/* MP3: the offset of "Xing" or "Info" in a frame of MPEG layer 3 with this
 * header of four bytes; 0 if it is no such frame. */
gsize gst_tfx_bytes_find_xing (const guint8 *head);

/* A chunk of RIFF, RF64 or AIFF: four letters, a size, that many bytes, and a
 * padding byte if the size is odd. */
typedef struct
{
  gchar letters[4];
  goffset at; /* offset of its content */
  guint64 size;
} GstTfxChunk;

/* The offset of the first chunk. */
#define GST_TFX_BYTES_FIRST_CHUNK 12

/* Reads the header of the chunk at an offset; FALSE if there is none.  AIFF is
 * big-endian.  A chunk of an RF64 whose size is all ones has the size
 * @long_size, unless that is 0 (unknown). */
gboolean gst_tfx_bytes_read_chunk (FILE *file, goffset offset, gboolean is_big,
    guint64 long_size, GstTfxChunk *chunk);

static inline goffset
gst_tfx_bytes_find_end (const GstTfxChunk *chunk)
{
  return chunk->at + (goffset)(chunk->size + (chunk->size & 1));
}

G_END_DECLS

#endif /* GST_TFX_BYTES_H */
