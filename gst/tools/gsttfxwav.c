/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwav.c: what wavenc (GStreamer 1.22) leaves out of a WAV.
 *
 * It writes a mask of places for few layouts, and 0 for quad, 5.1 and 7.1, which readers
 * take for another layout.  Behind an odd number of bytes of sound its next chunk
 * begins at once, where no reader looks for it.
 */
#include "gsttfxwav.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>
#include <gst/audio/audio.h>

#define EXTENSIBLE 0xfffe
/* Of dwChannelMask in a chunk "fmt ", behind its letters and its size. */
#define MASK_OFFSET 20
/* Of what is behind the sound, which has no more than texts: else its size has
 * overflowed. */
#define MAX_BEHIND (1 << 24)

/* Bits of dwChannelMask, from the first one. */
static const GstAudioChannelPosition places[] = {
  GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT,
  GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT,
  GST_AUDIO_CHANNEL_POSITION_FRONT_CENTER,
  GST_AUDIO_CHANNEL_POSITION_LFE1,
  GST_AUDIO_CHANNEL_POSITION_REAR_LEFT,
  GST_AUDIO_CHANNEL_POSITION_REAR_RIGHT,
  GST_AUDIO_CHANNEL_POSITION_FRONT_LEFT_OF_CENTER,
  GST_AUDIO_CHANNEL_POSITION_FRONT_RIGHT_OF_CENTER,
  GST_AUDIO_CHANNEL_POSITION_REAR_CENTER,
  GST_AUDIO_CHANNEL_POSITION_SIDE_LEFT,
  GST_AUDIO_CHANNEL_POSITION_SIDE_RIGHT,
};

/* 0 for what has a place that these lack.  (Those above the head come in another
 * order.) */
static guint32
convert_mask (guint64 mask)
{
  guint32 wav_mask = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (places); i++) {
    const guint64 bit = G_GUINT64_CONSTANT (1) << places[i];

    if (mask & bit)
      wav_mask |= (guint32)1 << i;
    mask &= ~bit;
  }
  return mask == 0 ? wav_mask : 0;
}

static gboolean
read_at (FILE *file, goffset offset, void *bytes, gsize n)
{
  return fseeko (file, offset, SEEK_SET) == 0 && fread (bytes, 1, n, file) == n;
}

static gboolean
write_at (FILE *file, goffset offset, const void *bytes, gsize n)
{
  return fseeko (file, offset, SEEK_SET) == 0 &&
         fwrite (bytes, 1, n, file) == n;
}

static gboolean
write_mask (FILE *file, goffset format, guint32 mask)
{
  guint8 bytes[MASK_OFFSET + 4];

  if (!read_at (file, format, bytes, sizeof bytes) ||
      GST_READ_UINT16_LE (bytes) != EXTENSIBLE || mask == 0)
    return TRUE;
  GST_WRITE_UINT32_LE (bytes + MASK_OFFSET, mask);
  return write_at (file, format, bytes, sizeof bytes);
}

/* What is behind the sound goes on by a byte, and the file's size grows by it. */
static gboolean
fill_up (FILE *file, goffset end)
{
  guint8 size[4];
  goffset n = 0;
  guint8 *behind;
  gboolean is_filled;

  if (fseeko (file, 0, SEEK_END) < 0)
    return FALSE;
  n = ftello (file) - end;
  if (n <= 0 || n > MAX_BEHIND)
    return TRUE;
  behind = g_malloc0 ((gsize)n + 1);
  is_filled = read_at (file, end, behind + 1, (gsize)n) &&
              write_at (file, end, behind, (gsize)n + 1) &&
              read_at (file, 4, size, sizeof size);
  g_free (behind);
  if (!is_filled)
    return FALSE;
  GST_WRITE_UINT32_LE (size, GST_READ_UINT32_LE (size) + 1);
  return write_at (file, 4, size, sizeof size);
}

gboolean
gst_tfx_wav_mend (const gchar *path, guint64 mask)
{
  FILE *file = g_fopen (path, "r+e");
  goffset at = 12;
  guint8 chunk[8];
  gboolean is_mended = TRUE;
  gint number;

  if (!file)
    return FALSE;
  while (is_mended && read_at (file, at, chunk, sizeof chunk)) {
    const guint32 size = GST_READ_UINT32_LE (chunk + 4);

    at += sizeof chunk;
    if (memcmp (chunk, "fmt ", 4) == 0)
      is_mended = write_mask (file, at, convert_mask (mask));
    at += size;
    if (memcmp (chunk, "data", 4) == 0) {
      is_mended = is_mended && (size % 2 == 0 || fill_up (file, at));
      break;
    }
  }
  number = errno;
  is_mended = fclose (file) == 0 && is_mended;
  if (!is_mended && number)
    errno = number;
  return is_mended;
}
