/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwav.c: what wavenc leaves out of a WAV.
 *
 * wavenc (GStreamer 1.22) writes a mask of places for few layouts, and 0 for quad, 5.1 and
 * 7.1, which readers take for another layout.  Behind an odd number of bytes of sound its
 * next chunk begins at once, where no reader looks for it.  Neither wavparse nor wavenc
 * handles the chunks of a Broadcast Wave, and wavparse loses cues behind an odd number of
 * bytes of sound.
 */
#include "gsttfxwav.h"

#include <string.h>

#include <gst/audio/audio.h>

#include "gsttfxbytes.h"

#define EXTENSIBLE 0xfffe
/* Of dwChannelMask in a chunk "fmt ", behind its letters and its size. */
#define MASK_OFFSET 20
/* The largest size of the chunks after the sound, which are texts alone: more means that
 * the size of the sound has overflowed.  Also that of the texts that are copied. */
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
write_mask (FILE *file, goffset format, guint32 mask)
{
  guint8 bytes[MASK_OFFSET + 4];

  if (!gst_tfx_bytes_read_at (file, format, bytes, sizeof bytes) ||
      gst_tfx_bytes_get_le (bytes, 2) != EXTENSIBLE || mask == 0)
    return TRUE;
  gst_tfx_bytes_put_le (bytes + MASK_OFFSET, 4, mask);
  return gst_tfx_bytes_write_at (file, format, bytes, sizeof bytes);
}

/* Pads the sound to an even size: moves the chunks after it by a byte, and adds one to the
 * file's size. */
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
  is_filled = gst_tfx_bytes_read_at (file, end, behind + 1, (gsize)n) &&
              gst_tfx_bytes_write_at (file, end, behind, (gsize)n + 1) &&
              gst_tfx_bytes_read_at (file, 4, size, sizeof size);
  g_free (behind);
  if (!is_filled)
    return FALSE;
  gst_tfx_bytes_put_le (size, 4, gst_tfx_bytes_get_le (size, 4) + 1);
  return gst_tfx_bytes_write_at (file, 4, size, sizeof size);
}

static gboolean
is_chunk (const GstTfxChunk *chunk, const gchar *letters)
{
  return memcmp (chunk->letters, letters, sizeof chunk->letters) == 0;
}

static gboolean
mend_sound (FILE *file, guint64 mask)
{
  gboolean is_mended = TRUE;
  goffset at = GST_TFX_BYTES_FIRST_CHUNK;
  GstTfxChunk chunk;

  for (; is_mended && gst_tfx_bytes_read_chunk (file, at, FALSE, 0, &chunk);
       at = gst_tfx_bytes_find_end (&chunk)) {
    if (is_chunk (&chunk, "fmt "))
      is_mended = write_mask (file, chunk.at, convert_mask (mask));
    if (is_chunk (&chunk, "data"))
      return is_mended && (chunk.size % 2 == 0 ||
                              fill_up (file, chunk.at + (goffset)chunk.size));
  }
  return is_mended;
}

/* EBU Tech 3285: of version 2, five measures of loudness, which are those of another
 * sound now, so that they are none. */
static void
forget_loudness (guint8 *bext, gsize size)
{
  const gsize version = 346, loudness = 412;
  const guint16 unknown = 0x7fff;

  if (size < loudness + 10 || gst_tfx_bytes_get_le (bext + version, 2) < 2)
    return;
  for (gsize i = 0; i < 5; i++)
    gst_tfx_bytes_put_le (bext + loudness + 2 * i, 2, unknown);
}

/* From a chunk "fmt "; all 0 if there is none. */
typedef struct Format
{
  guint64 rate_hz, n_bits;
} Format;

static Format
read_format (FILE *file)
{
  goffset at = GST_TFX_BYTES_FIRST_CHUNK;
  Format format = { 0, 0 };
  GstTfxChunk chunk;
  guint8 bytes[16];

  for (; gst_tfx_bytes_read_chunk (file, at, FALSE, 0, &chunk) &&
         !is_chunk (&chunk, "data");
       at = gst_tfx_bytes_find_end (&chunk)) {
    if (is_chunk (&chunk, "fmt ") &&
        gst_tfx_bytes_read_at (file, chunk.at, bytes, sizeof bytes)) {
      format.rate_hz = gst_tfx_bytes_get_le (bytes + 4, 4);
      format.n_bits = gst_tfx_bytes_get_le (bytes + 14, 2);
    }
  }
  return format;
}

/* The number in an element of an XML text; FALSE: there is none. */
static gboolean
read_number (const GString *xml, const gchar *name, guint64 *number)
{
  gchar *tag = g_strconcat ("<", name, ">", NULL);
  const gchar *found = strstr (xml->str, tag);
  const gchar *text = found ? found + strlen (tag) : "";
  gchar *end = NULL;

  *number = g_ascii_strtoull (text, &end, 10);
  g_free (tag);
  return end != text && *end == '<';
}

static void
replace_number (GString *xml, const gchar *name, guint64 number)
{
  gchar *tag = g_strconcat ("<", name, ">", NULL), *text;
  const gchar *found = strstr (xml->str, tag);
  guint64 before;
  gssize at;

  if (found && read_number (xml, name, &before)) {
    at = found + strlen (tag) - xml->str;
    g_string_erase (xml, at, (gssize)strspn (xml->str + at, "0123456789"));
    text = g_strdup_printf ("%" G_GUINT64_FORMAT, number);
    g_string_insert (xml, at, text);
    g_free (text);
  }
  g_free (tag);
}

/* "bext" has the start of a Broadcast Wave in frames.  "iXML" repeats it, and has the rate and
 * the bits.  (Its timestamp has a separate rate, so it stays.) */
static void
mend_start (guint8 *bext, gsize size, const Format *from, const Format *to)
{
  const gsize start = 338;

  if (size >= start + 8)
    gst_tfx_bytes_put_le (bext + start, 8,
        gst_util_uint64_scale_round (gst_tfx_bytes_get_le (bext + start, 8),
            to->rate_hz, from->rate_hz));
}

/* A chunk "cue ": places in frames.  A list "adtl": their names, and lengths in "ltxt". */
static void
mend_cues (guint8 *bytes, gsize size, gboolean is_list, const Format *from,
    const Format *to)
{
  gsize at = 4;

  while (at + 8 <= size) {
    const gsize n =
        is_list ? 8 + (gsize)gst_tfx_bytes_get_le (bytes + at + 4, 4) : 24;
    /* Of the place in the play list, and of that in the sound. */
    const gsize numbers[] = { is_list ? 12 : 4, is_list ? 12 : 20 };

    if (n > size - at)
      return;
    for (gsize i = is_list; i < G_N_ELEMENTS (numbers); i++) {
      guint8 *number = bytes + at + numbers[i];

      if (n >= numbers[i] + 4 &&
          (!is_list || memcmp (bytes + at, "ltxt", 4) == 0))
        gst_tfx_bytes_put_le (number, 4,
            gst_util_uint64_scale_round (gst_tfx_bytes_get_le (number, 4),
                to->rate_hz, from->rate_hz));
    }
    at += n + (is_list ? n & 1 : 0);
  }
}

static void
mend_xml (GString *xml, const Format *from, const Format *to)
{
  guint64 low, high;

  if (read_number (xml, "BWF_TIME_REFERENCE_LOW", &low) &&
      read_number (xml, "BWF_TIME_REFERENCE_HIGH", &high)) {
    low = gst_util_uint64_scale_round (high << 32 | low, to->rate_hz,
        from->rate_hz);
    replace_number (xml, "BWF_TIME_REFERENCE_LOW", low & G_MAXUINT32);
    replace_number (xml, "BWF_TIME_REFERENCE_HIGH", low >> 32);
  }
  replace_number (xml, "FILE_SAMPLE_RATE", to->rate_hz);
  replace_number (xml, "AUDIO_BIT_DEPTH", to->n_bits);
}

/* Behind everything else. */
static gboolean
append (FILE *file, const GstTfxChunk *chunk, const guint8 *bytes)
{
  const gsize n_even = (gsize)(chunk->size + (chunk->size & 1));
  guint8 head[9] = { 0 };
  goffset end, n_odd;

  memcpy (head + 1, chunk->letters, sizeof chunk->letters);
  gst_tfx_bytes_put_le (head + 5, 4, (guint32)chunk->size);
  if (fseeko (file, 0, SEEK_END) < 0)
    return FALSE;
  n_odd = ftello (file) & 1;
  if (fwrite (head + 1 - n_odd, 1, 8 + (gsize)n_odd, file) !=
          8 + (gsize)n_odd ||
      fwrite (bytes, 1, n_even, file) != n_even)
    return FALSE;
  end = ftello (file);
  gst_tfx_bytes_put_le (head, 4, (guint32)(end - 8));
  return end - 8 > (goffset)G_MAXUINT32 ||
         gst_tfx_bytes_write_at (file, 4, head, 4);
}

static gboolean
copy (FILE *from, FILE *to)
{
  goffset at = GST_TFX_BYTES_FIRST_CHUNK;
  const Format before = read_format (from), after = read_format (to);
  const gboolean is_other =
      before.rate_hz > 0 &&
      (before.rate_hz != after.rate_hz || before.n_bits != after.n_bits);
  guint64 long_size = 0;
  gboolean is_copied = TRUE;
  GstTfxChunk chunk, copied;

  for (; is_copied &&
         gst_tfx_bytes_read_chunk (from, at, FALSE, long_size, &chunk);
       at = gst_tfx_bytes_find_end (&chunk)) {
    guint8 size[16];
    const gboolean is_list = is_chunk (&chunk, "LIST") &&
                             gst_tfx_bytes_read_at (from, chunk.at, size, 4) &&
                             memcmp (size, "adtl", 4) == 0;
    GString *bytes;

    if (is_chunk (&chunk, "ds64") &&
        gst_tfx_bytes_read_at (from, chunk.at, size, sizeof size))
      long_size = gst_tfx_bytes_get_le (size + 8, 8);
    if ((!is_chunk (&chunk, "bext") && !is_chunk (&chunk, "iXML") &&
            !is_chunk (&chunk, "cue ") && !is_list) ||
        chunk.size > MAX_BEHIND)
      continue;
    bytes = g_string_sized_new ((gsize)chunk.size + 1);
    g_string_set_size (bytes, (gsize)chunk.size);
    if (gst_tfx_bytes_read_at (from, chunk.at, bytes->str, bytes->len)) {
      if (is_chunk (&chunk, "bext"))
        forget_loudness ((guint8 *)bytes->str, bytes->len);
      if (is_other && is_chunk (&chunk, "bext"))
        mend_start ((guint8 *)bytes->str, bytes->len, &before, &after);
      else if (is_other && is_chunk (&chunk, "iXML"))
        mend_xml (bytes, &before, &after);
      else if (is_other)
        mend_cues ((guint8 *)bytes->str, bytes->len, is_list, &before, &after);
      copied = chunk;
      copied.size = bytes->len;
      is_copied = append (to, &copied, (const guint8 *)bytes->str);
    }
    g_string_free (bytes, TRUE);
  }
  return is_copied;
}

gboolean
gst_tfx_wav_is_file (FILE *file)
{
  guint8 head[GST_TFX_BYTES_FIRST_CHUNK];

  return gst_tfx_bytes_read_at (file, 0, head, sizeof head) &&
         (memcmp (head, "RIFF", 4) == 0 || memcmp (head, "RF64", 4) == 0) &&
         memcmp (head + 8, "WAVE", 4) == 0;
}

gboolean
gst_tfx_wav_mend (FILE *file, FILE *input, guint64 mask, const GString *info)
{
  GstTfxChunk chunk = { { 'L', 'I', 'S', 'T' }, 0, info->len - 8 };
  gboolean is_mended = mend_sound (file, mask);

  if (is_mended && info->len > 0)
    is_mended = append (file, &chunk, (const guint8 *)info->str + 8);
  if (is_mended && input && gst_tfx_wav_is_file (input))
    is_mended = copy (input, file);
  return is_mended;
}
