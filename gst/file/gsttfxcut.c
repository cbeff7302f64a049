/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcut.c: truncation check: whether a sound file has all the sound that it
 * promises.  A decoder sees no difference at the end of a truncated file.
 *
 *   FLAC      its frames                       RFC 9639, 8.2
 *   WavPack   its frames                       WavPack 4 & 5 Binary File Format
 *   WAV       the bytes and frames of its data chunk   EBU Tech 3306
 *   AIFF      the bytes of its sound chunk     AIFF 1.3
 *   MP4       the bytes of its boxes           ISO/IEC 14496-12, 4.2
 *   Matroska  the bytes of its segment, and its packets   RFC 8794, RFC 9559
 *   MP3       its bytes, in a Xing header      where an encoder wrote one
 *   Ogg       its pages are numbered, and the last one is marked   RFC 3533, 6
 *   SDS       its samples                      MIDI 1.0, Sample Dump Standard
 */
#include "gsttfxcut.h"

#include <stdio.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxmatroska.h"
#include "gsttfxogg.h"

typedef struct Sound
{
  FILE *file;
  goffset size, start; /* after tags */
  GstClockTime came;
} Sound;

/* ---- messages ------------------------------------------------------------ */

static gchar *
compare_frames (const Sound *sound, guint64 n_frames, guint64 rate_hz)
{
  GstClockTime told;

  if (n_frames == 0 || rate_hz == 0)
    return NULL;
  told = gst_util_uint64_scale (n_frames, GST_SECOND, rate_hz);
  if (sound->came >= told)
    return NULL;
  return g_strdup_printf ("it is cut off or damaged: it has %.3f s of the %.3f "
                          "s "
                          "given in its header",
      (gdouble)sound->came / GST_SECOND, (gdouble)told / GST_SECOND);
}

/* Compares the end of the sound with the size of the file. */
static gchar *
compare_bytes (const Sound *sound, guint64 end)
{
  if (end <= (guint64)sound->size)
    return NULL;
  return g_strdup_printf ("it is cut off: it has %" G_GOFFSET_FORMAT
                          " bytes of the %" G_GUINT64_FORMAT
                          " given in its header",
      sound->size, end);
}

/* ---- kinds of files ------------------------------------------------------ */

/* "fLaC", the header of the first block, sizes of blocks and frames, and then
 * rate, channels, depth and length. */
static gchar *
check_flac (const Sound *sound)
{
  guint8 header[26];
  guint64 bits;

  if (!gst_tfx_bytes_read_at (sound->file, sound->start, header,
          sizeof header) ||
      (header[4] & 0x7f) != 0)
    return NULL;
  bits = gst_tfx_bytes_get_be (header + 18, 8);
  return compare_frames (sound, bits & ((G_GUINT64_CONSTANT (1) << 36) - 1),
      bits >> 44);
}

/* The length has 40 bits; all ones in the lower 32 mean an unknown length. */
static gchar *
check_wavpack (const Sound *sound)
{
  static const guint rates_hz[16] = { 6000, 8000, 9600, 11025, 12000, 16000,
    22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000, 192000 };
  const guint32 is_dsd = 0x80000000;
  guint8 header[32];
  guint32 low, flags;

  if (!gst_tfx_bytes_read_at (sound->file, sound->start, header, sizeof header))
    return NULL;
  low = gst_tfx_bytes_get_le (header + 12, 4);
  flags = gst_tfx_bytes_get_le (header + 24, 4);
  if (low == G_MAXUINT32 || flags & is_dsd)
    return NULL;
  return compare_frames (sound, ((guint64)header[11] << 32) + low - header[11],
      rates_hz[flags >> 23 & 15]);
}

/* Whether a length is a placeholder: zero, or the largest. */
static gboolean
is_placeholder (guint32 size)
{
  return size == 0 || (size >= 0x7ffff000 && size <= 0x80000100) ||
         size >= 0xffffff00;
}

/* Finds the chunk with this name; FALSE if there is none. */
static gboolean
find_chunk (const Sound *sound, const gchar *letters, gboolean is_big,
    GstTfxChunk *chunk)
{
  goffset offset = sound->start + GST_TFX_BYTES_FIRST_CHUNK;

  for (; gst_tfx_bytes_read_chunk (sound->file, offset, is_big, 0, chunk);
       offset = gst_tfx_bytes_find_end (chunk)) {
    if (memcmp (chunk->letters, letters, sizeof chunk->letters) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Reads the size of the sound from its chunk.  In an RF64 that is all ones, and
 * the size is in another chunk.  Returns FALSE if the writer did not know
 * it. */
static gboolean
read_wav_size (const Sound *sound, const GstTfxChunk *data, guint64 *size)
{
  GstTfxChunk sizes;
  guint8 bytes[16];

  *size = data->size;
  if (*size != G_MAXUINT32 || !find_chunk (sound, "ds64", FALSE, &sizes) ||
      !gst_tfx_bytes_read_at (sound->file, sizes.at, bytes, sizeof bytes))
    return !is_placeholder ((guint32)*size);
  *size = gst_tfx_bytes_get_le (bytes + 8, 8);
  return TRUE;
}

/* Only uncompressed frames have a constant size. */
static gchar *
check_wav (const Sound *sound)
{
  GstTfxChunk data, format;
  guint8 bytes[16];
  guint64 size;
  guint tag, frame_size;
  gchar *missing;

  if (!find_chunk (sound, "data", FALSE, &data) ||
      !read_wav_size (sound, &data, &size))
    return NULL;
  missing = compare_bytes (sound, (guint64)data.at + size);
  if (missing || !find_chunk (sound, "fmt ", FALSE, &format) ||
      !gst_tfx_bytes_read_at (sound->file, format.at, bytes, sizeof bytes))
    return missing;
  tag = gst_tfx_bytes_get_le (bytes, 2);
  frame_size = gst_tfx_bytes_get_le (bytes + 12, 2);
  return (tag == 1 || tag == 3 || tag == 0xfffe) && frame_size > 0
             ? compare_frames (sound, size / frame_size,
                   gst_tfx_bytes_get_le (bytes + 4, 4))
             : NULL;
}

static gchar *
check_aiff (const Sound *sound)
{
  GstTfxChunk data;

  if (!find_chunk (sound, "SSND", TRUE, &data) ||
      is_placeholder ((guint32)data.size))
    return NULL;
  return compare_bytes (sound, (guint64)data.at + data.size);
}

/* A box has a size, which includes this header of eight bytes, and four
 * letters.  Size 1: eight bytes with the size come after them; size 0: up to
 * the end of the file. */
static gchar *
check_mp4 (const Sound *sound)
{
  goffset offset = sound->start;
  gchar *missing = NULL;
  guint8 box[16];
  guint64 size;

  while (!missing && gst_tfx_bytes_read_at (sound->file, offset, box, 8)) {
    size = gst_tfx_bytes_get_be (box, 4);
    if (size == 1 &&
        gst_tfx_bytes_read_at (sound->file, offset, box, sizeof box))
      size = gst_tfx_bytes_get_be (box + 8, 8);
    if (size < 8 || size > G_MAXINT64 - (guint64)offset)
      break;
    if (memcmp (box + 4, "mdat", 4) == 0 || memcmp (box + 4, "moov", 4) == 0 ||
        memcmp (box + 4, "moof", 4) == 0)
      missing = compare_bytes (sound, (guint64)offset + size);
    offset += (goffset)size;
  }
  return missing;
}

/* An EBML header, then the segment with all other elements. */
static gchar *
check_matroska (const Sound *sound)
{
  guint8 bytes[12];
  goffset offset = sound->start;
  gchar *missing = NULL;
  guint64 size = 0;
  guint32 id = 0;

  for (guint i = 0; i < 2; i++) {
    if (!gst_tfx_bytes_read_at (sound->file, offset, bytes, sizeof bytes))
      return NULL;
    offset +=
        (goffset)gst_tfx_matroska_read_head (bytes, sizeof bytes, &id, &size);
    if (i == 0 && size <= G_MAXINT32)
      offset += (goffset)size;
  }
  if (id == GST_TFX_MATROSKA_SEGMENT && size < G_MAXINT64)
    missing = compare_bytes (sound, (guint64)offset + size);
  return missing
             ? missing
             : gst_tfx_matroska_check (sound->file, sound->size, sound->came);
}

/* The first frame has no sound, but after its side information four letters,
 * flags, and according to these the numbers of frames and bytes. */
static gchar *
check_mp3 (const Sound *sound)
{
  guint8 frame[4], xing[16];
  guint flags, n_bytes;
  gsize at;

  if (!gst_tfx_bytes_read_at (sound->file, sound->start, frame, sizeof frame) ||
      (at = gst_tfx_bytes_find_xing (frame)) == 0 ||
      !gst_tfx_bytes_read_at (sound->file, sound->start + (goffset)at, xing,
          sizeof xing) ||
      (memcmp (xing, "Xing", 4) != 0 && memcmp (xing, "Info", 4) != 0))
    return NULL;
  flags = gst_tfx_bytes_get_be (xing + 4, 4);
  n_bytes = gst_tfx_bytes_get_be (xing + (flags & 1 ? 12 : 8), 4);
  return flags & 2 ? compare_bytes (sound, (guint64)sound->start + n_bytes)
                   : NULL;
}

/* Before decoding. */
static gchar *
check_ogg (const Sound *sound)
{
  return GST_CLOCK_TIME_IS_VALID (sound->came)
             ? NULL
             : gst_tfx_ogg_check (sound->file, sound->start, sound->size, NULL);
}

/* A header of 21 bytes with the sample width and the number of samples, 7 bits
 * in each byte, then packets of 127 bytes with 120 bytes of samples. */
static gchar *
check_sds (const Sound *sound)
{
  guint8 header[21];
  guint n_samples, in_packet;

  if (!gst_tfx_bytes_read_at (sound->file, sound->start, header, sizeof header))
    return NULL;
  n_samples = (header[10] & 0x7fu) | (header[11] & 0x7fu) << 7 |
              (header[12] & 0x7fu) << 14;
  in_packet = 120 / MAX ((header[6] + 6u) / 7, 1);
  return compare_bytes (sound,
      (guint64)sound->start + sizeof header +
          (guint64)127 * ((n_samples + in_packet - 1) / in_packet));
}

static const struct
{
  guint offset;
  const gchar *letters;
  gchar *(*check) (const Sound *sound);
} kinds[] = {
  { 0, "fLaC", check_flac },
  { 0, "wvpk", check_wavpack },
  { 0, "RIFF", check_wav },
  { 0, "RF64", check_wav },
  { 0, "FORM", check_aiff },
  { 4, "ftyp", check_mp4 },
  { 0, "\x1a\x45\xdf\xa3", check_matroska },
  { 0, "OggS", check_ogg },
  { 0, "\xf0\x7e", check_sds },
  { 0, "\xff", check_mp3 },
};

/* Skips ID3 tags, whose size has 7 bits in each byte. */
static goffset
find_start (const Sound *sound, goffset at)
{
  const guint8 has_footer = 0x10;
  guint8 tag[10];
  goffset size = 0;

  if (!gst_tfx_bytes_read_at (sound->file, at, tag, sizeof tag) ||
      memcmp (tag, "ID3", 3) != 0)
    return at;
  for (gsize i = 6; i < sizeof tag; i++)
    size = size << 7 | (tag[i] & 0x7f);
  return at + (goffset)sizeof tag * (tag[5] & has_footer ? 2 : 1) + size;
}

static gboolean
open_sound (Sound *sound, const gchar *path)
{
  sound->file = gst_tfx_bytes_open (path, &sound->size, NULL);
  if (!sound->file)
    return FALSE;
  sound->start = find_start (sound, 0);
  return TRUE;
}

gchar *
gst_tfx_cut_describe (const gchar *path, GstClockTime came)
{
  Sound sound = { .came = came };
  guint8 bytes[8];
  gchar *missing = NULL;

  if (!open_sound (&sound, path))
    return NULL;
  if (gst_tfx_bytes_read_at (sound.file, sound.start, bytes, sizeof bytes))
    for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
      if (memcmp (bytes + kinds[i].offset, kinds[i].letters,
              strlen (kinds[i].letters)) == 0) {
        missing = kinds[i].check (&sound);
        break;
      }
  fclose (sound.file);
  return missing;
}

goffset
gst_tfx_cut_find_end (const gchar *path, gboolean *is_long)
{
  Sound sound = { .came = 0 };
  guint8 bytes[12];
  guint64 size;
  GstTfxChunk data;
  goffset end = -1;
  gboolean is_rf64;

  *is_long = FALSE;
  if (!open_sound (&sound, path))
    return -1;
  if (gst_tfx_bytes_read_at (sound.file, sound.start, bytes, sizeof bytes) &&
      memcmp (bytes + 8, "WAVE", 4) == 0 &&
      find_chunk (&sound, "data", FALSE, &data)) {
    is_rf64 = memcmp (bytes, "RF64", 4) == 0;
    if (!read_wav_size (&sound, &data, &size) || size > (guint64)sound.size)
      size = (guint64)sound.size;
    end = MIN (data.at + (goffset)size, sound.size);
    *is_long = end - data.at > G_MAXINT32;
    if (!*is_long && (end == sound.size ||
                         (!is_rf64 && (end % 2 == 0 || end + 1 < sound.size))))
      end = -1;
  }
  fclose (sound.file);
  return end;
}

/* ---- files in a row ------------------------------------------------------ */

/* Returns the offset after the four letters of a FLAC header, or 0 if it is
 * none.  The first block has 34 bytes, among them the shortest and longest
 * block sizes, at least 16. */
static goffset
find_flac (const Sound *sound, goffset at)
{
  guint8 bytes[12];
  guint64 shortest;

  if (!gst_tfx_bytes_read_at (sound->file, at, bytes, sizeof bytes) ||
      (gst_tfx_bytes_get_be (bytes + 4, 4) & 0x7fffffff) != 34)
    return 0;
  shortest = gst_tfx_bytes_get_be (bytes + 8, 2);
  return shortest >= 16 && shortest <= gst_tfx_bytes_get_be (bytes + 10, 2)
             ? at + 4
             : 0;
}

/* Returns the end of the tags before the first frame of an MP3, or 0 if it is
 * none. */
static goffset
find_mp3 (const Sound *sound, goffset at)
{
  guint8 frame[2];
  goffset end = at, start;

  do {
    start = end;
    end = find_start (sound, start);
  } while (end > start);
  return end > at &&
                 gst_tfx_bytes_read_at (sound->file, end, frame,
                     sizeof frame) &&
                 frame[0] == 0xff && (frame[1] & 0xe6) == 0xe2
             ? end
             : 0;
}

/* Adds a file for each offset with these letters where `find` accepts a
 * header. */
static void
find_files (const Sound *sound, const gchar *letters,
    goffset (*find) (const Sound *sound, goffset at), GArray *links)
{
  const gsize size = 1 << 18, n = strlen (letters);
  guint8 *bytes = g_malloc (size), *found;
  goffset at = 0, place, behind = sound->start + 4, end;
  GstTfxLink link = { 0, sound->size };
  gsize n_read;

  g_array_append_val (links, link);
  do {
    n_read = fseeko (sound->file, at, SEEK_SET) == 0
                 ? fread (bytes, 1, size, sound->file)
                 : 0;
    for (found = bytes;
         (found = memmem (found, (gsize)(bytes + n_read - found), letters, n));
         found++) {
      place = at + (found - bytes);
      end = place < behind ? 0 : find (sound, place);
      if (end > 0) {
        g_array_index (links, GstTfxLink, links->len - 1).end = place;
        link.start = place;
        g_array_append_val (links, link);
        behind = end;
      }
    }
    at += (goffset)(size - n + 1);
  } while (n_read == size);
  g_free (bytes);
}

GArray *
gst_tfx_cut_find_links (const gchar *path)
{
  Sound sound = { .came = 0 };
  GArray *links = g_array_new (FALSE, FALSE, sizeof (GstTfxLink));
  guint8 bytes[4];
  GstTfxLink link;

  if (!open_sound (&sound, path))
    return links;
  if (gst_tfx_bytes_read_at (sound.file, sound.start, bytes, sizeof bytes)) {
    if (memcmp (bytes, "OggS", 4) == 0)
      g_free (gst_tfx_ogg_check (sound.file, sound.start, sound.size, links));
    else if (memcmp (bytes, "fLaC", 4) == 0)
      find_files (&sound, "fLaC", find_flac, links);
    else if (bytes[0] == 0xff && (bytes[1] & 0xe6) == 0xe2)
      find_files (&sound, "ID3", find_mp3, links);
  }
  if (links->len == 1) {
    link = g_array_index (links, GstTfxLink, 0);
    if (link.start <= sound.start && link.end == sound.size)
      g_array_set_size (links, 0);
  }
  fclose (sound.file);
  return links;
}
