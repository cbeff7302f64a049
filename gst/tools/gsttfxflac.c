/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxflac.c: what the header of a FLAC file says (RFC 9639, 8.2).
 */
#include "gsttfxflac.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

/* "fLaC", the header of the first block, and that: rate, channels, depth and length
 * are behind the sizes of blocks and frames. */
#define HEADER_SIZE 26
#define RATE_OFFSET 18
#define LENGTH_BITS 36
#define RATE_SHIFT 44

/* Tags that some programs put in front: their size has 7 bits in each byte. */
#define ID3_SIZE 10
#define ID3_SIZE_OFFSET 6
#define ID3_HAS_FOOTER 0x10

static gboolean
read_at (FILE *file, glong offset, guint8 *bytes, gsize n)
{
  return fseek (file, offset, SEEK_SET) == 0 && fread (bytes, 1, n, file) == n;
}

static glong
find_start (FILE *file)
{
  guint8 tag[ID3_SIZE];
  glong size = 0;

  if (!read_at (file, 0, tag, sizeof tag) || memcmp (tag, "ID3", 3) != 0)
    return 0;
  for (gsize i = ID3_SIZE_OFFSET; i < ID3_SIZE; i++)
    size = size << 7 | (tag[i] & 0x7f);
  return ID3_SIZE + size + (tag[5] & ID3_HAS_FOOTER ? ID3_SIZE : 0);
}

GstClockTime
gst_tfx_flac_read_duration (const gchar *path)
{
  GStatBuf status;
  FILE *file;
  guint8 header[HEADER_SIZE];
  GstClockTime duration = GST_CLOCK_TIME_NONE;
  guint64 bits, n_frames;

  /* (What was read of a pipe would be lost.) */
  if (g_stat (path, &status) < 0 || !S_ISREG (status.st_mode))
    return duration;
  file = g_fopen (path, "re");
  if (!file)
    return duration;
  if (read_at (file, find_start (file), header, sizeof header) &&
      memcmp (header, "fLaC", 4) == 0 && (header[4] & 0x7f) == 0) {
    memcpy (&bits, header + RATE_OFFSET, sizeof bits);
    bits = GUINT64_FROM_BE (bits);
    n_frames = bits & ((G_GUINT64_CONSTANT (1) << LENGTH_BITS) - 1);
    if (n_frames > 0 && bits >> RATE_SHIFT > 0)
      duration =
          gst_util_uint64_scale (n_frames, GST_SECOND, bits >> RATE_SHIFT);
  }
  fclose (file);
  return duration;
}
