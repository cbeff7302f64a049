/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmend.c: what GStreamer's encoders and muxers leave out of a file.
 */
#include "gsttfxmend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <gst/audio/audio.h>

#include "gsttfxbytes.h"
#include "gsttfxogg.h"
#include "gsttfxtagwriter.h"
#include "gsttfxwav.h"

static gboolean
write_string (FILE *file, goffset offset, const GString *bytes)
{
  return gst_tfx_bytes_write_at (file, offset, bytes->str, bytes->len);
}

static goffset
find_size (FILE *file)
{
  return fseeko (file, 0, SEEK_END) < 0 ? -1 : ftello (file);
}

static gboolean
cut_at (FILE *file, goffset size)
{
  return fflush (file) == 0 && ftruncate (fileno (file), size) == 0;
}

/* ---- FLAC ------------------------------------------------------------------------------ */

#define STREAMINFO 0
#define PADDING 1
#define CUESHEET 5
#define PICTURE 6
#define BLOCK_HEAD 4

/* Where the first block of a type is, with its head, and how long what is in it; FALSE: there
 * is none. */
static gboolean
find_block (FILE *file, guint type, goffset *at, gsize *size)
{
  guint8 head[BLOCK_HEAD];
  goffset next = 4;

  if (!gst_tfx_bytes_read_at (file, 0, head, 4) ||
      memcmp (head, "fLaC", 4) != 0)
    return FALSE;
  do {
    *at = next;
    if (!gst_tfx_bytes_read_at (file, next, head, sizeof head))
      return FALSE;
    *size = (gsize)gst_tfx_bytes_get_be (head + 1, 3);
    next += BLOCK_HEAD + (goffset)*size;
    if ((head[0] & 0x7f) == type)
      return TRUE;
  } while (!(head[0] & 0x80));
  return FALSE;
}

static FILE *
open_input (const GstTfxOutput *output)
{
  const GstTfxJob *job = output->job;
  goffset size;

  return job->source || job->from_stdin
             ? NULL
             : gst_tfx_bytes_open (job->input, &size, NULL);
}

gboolean
gst_tfx_mend_copies_cues (const GstTfxOutput *output)
{
  FILE *file = NULL;
  gboolean is_copied = strcmp (output->codec->name, "flac") == 0;

  if (output->codec->container == GST_TFX_CONTAINER_WAV &&
      !output->job->to_stdout && (file = open_input (output))) {
    is_copied = gst_tfx_wav_is_file (file);
    fclose (file);
  }
  return is_copied;
}

guint
gst_tfx_mend_count_padding (const GstTfxOutput *output)
{
  FILE *file = open_input (output);
  goffset at;
  gsize size = 0;

  if (!file || !find_block (file, CUESHEET, &at, &size))
    size = 0;
  if (file)
    fclose (file);
  return (guint)size;
}

/* A cue sheet counts in frames: it is true of as many at the same rate. */
static gboolean
mend_flac (const GstTfxOutput *output, FILE *file, FILE *input)
{
  guint8 before[18], after[18], head;
  goffset from, to, info;
  gsize size, room, n;
  guint8 *block;
  gboolean is_mended = TRUE;

  if (!input || !find_block (input, CUESHEET, &from, &size) ||
      !find_block (file, PADDING, &to, &room) || room != size ||
      !find_block (input, STREAMINFO, &info, &n) ||
      !gst_tfx_bytes_read_at (input, info + BLOCK_HEAD, before, 18) ||
      !gst_tfx_bytes_read_at (file, 4 + BLOCK_HEAD, after, 18) ||
      !gst_tfx_bytes_read_at (file, to, &head, 1))
    return TRUE;
  /* 20 bits of the rate, and behind eight others 36 of the number of frames. */
  if (gst_tfx_bytes_get_be (before + 10, 3) >> 4 !=
          gst_tfx_bytes_get_be (after + 10, 3) >> 4 ||
      (gst_tfx_bytes_get_be (before + 13, 5) ^
          gst_tfx_bytes_get_be (after + 13, 5))
              << 28 !=
          0) {
    g_printerr ("warning: %s: its cue sheet does not fit the output, which has "
                "another number of frames\n",
        output->job->input);
    return TRUE;
  }
  block = g_malloc (BLOCK_HEAD + size);
  if (gst_tfx_bytes_read_at (input, from, block, BLOCK_HEAD + size)) {
    block[0] = (head & 0x80) | CUESHEET;
    is_mended = gst_tfx_bytes_write_at (file, to, block, BLOCK_HEAD + size);
  }
  g_free (block);
  return is_mended;
}

/* Each block comes in a buffer.  The encoder has reserved those of pictures. */
static GstPadProbeReturn
put_picture (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxOutput *output = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const gsize size = gst_buffer_get_size (buffer);
  guint8 head;
  GString *block;

  if (gst_buffer_extract (buffer, 0, &head, 1) != 1 || (head & 0x7f) != PICTURE)
    return head == 0xff ? GST_PAD_PROBE_REMOVE : GST_PAD_PROBE_OK;
  block = gst_tfx_tagwriter_write_picture (output->tags, output->n_pictures++);
  if (block->len == size - BLOCK_HEAD) {
    info->data = buffer = gst_buffer_make_writable (buffer);
    gst_buffer_fill (buffer, BLOCK_HEAD, block->str, block->len);
  }
  g_string_free (block, TRUE);
  return GST_PAD_PROBE_OK;
}

/* ---- Ogg ------------------------------------------------------------------------------ */

/* Writes the number of frames into the last page: encoders round times instead. */
static gboolean
mend_ogg (const GstTfxOutput *output, FILE *file)
{
  goffset at;
  gsize n;
  guint8 first[64],
      *page = gst_tfx_ogg_read_last (file, find_size (file), &at, &n);
  guint64 n_frames = output->n_encoded;
  gboolean is_mended = TRUE;

  if (page && n_frames > 0 &&
      gst_tfx_bytes_read_at (file, 0, first, sizeof first)) {
    /* (A decoder skips the first frames of Opus.) */
    if (memcmp (first + 28, "OpusHead", 8) == 0)
      n_frames = gst_util_uint64_scale_round (output->n_frames, 48000,
                     (guint64)output->rate_hz) +
                 gst_tfx_bytes_get_le (first + 38, 2);
    gst_tfx_bytes_put_le (page + 6, 8, n_frames);
    gst_tfx_bytes_put_le (page + 22, 4, gst_tfx_ogg_sum (page, n));
    is_mended = gst_tfx_bytes_write_at (file, at, page, n);
  }
  g_free (page);
  return is_mended;
}

/* ---- MP3 ------------------------------------------------------------------------------ */

/* The frame "Xing": how many frames and bytes, where each hundredth begins, and
 * behind that LAME's numbers: how many samples to leave out at both ends. */
#define XING_SIZE 120
#define LAME_SIZE 36
#define LAME_DELAY 576

/* A frame of layer 3, by its head; FALSE: it is none. */
typedef struct Frame
{
  gboolean is_mpeg_1;
  gsize size, n_samples, xing; /* where that would be */
} Frame;

static gboolean
read_frame (const guint8 *head, Frame *frame)
{
  static const guint kbits[2][15] = { { 0, 8, 16, 24, 32, 40, 48, 56, 64, 80,
                                          96, 112, 128, 144, 160 },
    { 0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 } };
  static const guint rates[] = { 44100, 48000, 32000 };
  const guint version = head[1] >> 3 & 3, bits = head[2] >> 4,
              rate = head[2] >> 2 & 3;

  frame->xing = gst_tfx_bytes_find_xing (head);
  if (frame->xing == 0 || version == 1 || bits == 0 || bits == 15 || rate == 3)
    return FALSE;
  frame->is_mpeg_1 = version == 3;
  frame->n_samples = frame->is_mpeg_1 ? 1152 : 576;
  frame->size = frame->n_samples / 8 * kbits[frame->is_mpeg_1][bits] * 1000 /
                    (rates[rate] >> (version == 3      ? 0
                                        : version == 2 ? 1
                                                       : 2)) +
                (head[2] >> 1 & 1);
  return TRUE;
}

/* A frame without sound, like the first one, that has room for the numbers. */
static void
add_empty_frame (GString *out, const guint8 *first)
{
  guint8 head[4] = { first[0], first[1] | 1, 0, first[3] };
  Frame frame;

  for (guint bits = 1; bits < 15; bits++) {
    head[2] = (guint8)(bits << 4 | (first[2] & 0x0c));
    if (read_frame (head, &frame) &&
        frame.size >= frame.xing + XING_SIZE + LAME_SIZE)
      break;
  }
  g_string_append_len (out, (const gchar *)head, 4);
  for (gsize i = 4; i < frame.size; i++)
    g_string_append_c (out, '\0');
}

static GstPadProbeReturn
put_head (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstTfxOutput *output = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GString *head =
      gst_tfx_tagwriter_write (output->tags, GST_TFX_TAGS_ID3, NULL);
  guint8 first[4];
  Frame frame;

  output->n_head = head->len;
  /* (Nobody returns to it in a pipe.) */
  if (!output->job->to_stdout &&
      gst_buffer_extract (buffer, 0, first, 4) == 4 &&
      read_frame (first, &frame))
    add_empty_frame (head, first);
  if (head->len > 0)
    info->data =
        gst_buffer_append (gst_buffer_new_memdup (head->str, head->len),
            buffer);
  g_string_free (head, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

void
gst_tfx_mend_begin (GstTfxOutput *output, GstPad *encoder_src)
{
  if (output->codec->container == GST_TFX_CONTAINER_MP3)
    gst_pad_add_probe (encoder_src, GST_PAD_PROBE_TYPE_BUFFER, put_head, output,
        NULL);
  if (output->codec->container == GST_TFX_CONTAINER_FLAC)
    gst_pad_add_probe (encoder_src, GST_PAD_PROBE_TYPE_BUFFER, put_picture,
        output, NULL);
}

static guint16
sum_bytes (const guint8 *bytes, gsize n)
{
  guint16 sum = 0;

  for (gsize i = 0; i < n; i++) {
    sum ^= bytes[i];
    for (guint k = 0; k < 8; k++)
      sum = (guint16)(sum >> 1 ^ (sum & 1 ? 0xa001 : 0));
  }
  return sum;
}

static gboolean
mend_mp3 (const GstTfxOutput *output, FILE *file)
{
  const goffset start = (goffset)output->n_head, size = find_size (file);
  GArray *frames = g_array_new (FALSE, FALSE, sizeof (goffset));
  guint8 head[4], *xing;
  goffset at = start;
  Frame empty = { 0 }, frame;
  guint64 n_samples, after;
  gboolean is_mended;

  while (at + 4 <= size && gst_tfx_bytes_read_at (file, at, head, 4) &&
         read_frame (head, &frame)) {
    if (at == start)
      empty = frame;
    else
      g_array_append_val (frames, at);
    at += (goffset)frame.size;
  }
  if (frames->len == 0 || empty.size < empty.xing + XING_SIZE + LAME_SIZE) {
    g_array_unref (frames);
    return TRUE;
  }
  n_samples = frames->len * empty.n_samples;
  after = n_samples > output->n_encoded + LAME_DELAY
              ? n_samples - output->n_encoded - LAME_DELAY
              : 0;
  xing = g_malloc0 (empty.size);
  is_mended = gst_tfx_bytes_read_at (file, start, xing, 4);
  memcpy (xing + empty.xing, "Xing\0\0\0\17", 8);
  gst_tfx_bytes_put_be (xing + empty.xing + 8, 4, frames->len);
  gst_tfx_bytes_put_be (xing + empty.xing + 12, 4, (guint64)(size - start));
  for (guint i = 0; i < 100; i++)
    xing[empty.xing + 16 + i] =
        (guint8)(256 *
                 (g_array_index (frames, goffset, i * frames->len / 100) -
                     start) /
                 (size - start));
  gst_tfx_bytes_put_be (xing + empty.xing + 116, 4, 60);
  memcpy (xing + empty.xing + XING_SIZE, "LAME3.100\4", 10);
  gst_tfx_bytes_put_be (xing + empty.xing + XING_SIZE + 21, 3,
      (guint64)LAME_DELAY << 12 | MIN (after, 0xfff));
  gst_tfx_bytes_put_be (xing + empty.xing + XING_SIZE + 28, 4,
      (guint64)(size - start));
  gst_tfx_bytes_put_be (xing + empty.xing + XING_SIZE + 34, 2,
      sum_bytes (xing, empty.xing + XING_SIZE + 34));
  is_mended =
      is_mended && gst_tfx_bytes_write_at (file, start, xing, empty.size);
  g_free (xing);
  g_array_unref (frames);
  return is_mended;
}

/* ---- MP4 ------------------------------------------------------------------------------ */

/* The first handler in these boxes; NULL: there is none. */
static const guint8 *
find_handler (const guint8 *bytes, gsize n)
{
  const guint8 *mdia, *hdlr;
  gsize size;

  return gst_tfx_bytes_find_box (bytes, n, "mdia", &mdia, &size) &&
                 gst_tfx_bytes_find_box (mdia, size, "hdlr", &hdlr, &size) &&
                 size >= 12
             ? hdlr + 8
             : NULL;
}

/* Copies boxes, without tags, and with an edit list of the sound that leaves out what the
 * encoder has added.  Sound that begins later has an empty entry before. */
static void
copy_boxes (const GstTfxOutput *output, GString *out, const guint8 *bytes,
    gsize n, guint64 start, guint64 duration)
{
  gsize size;

  for (gsize at = 0; at + 8 <= n; at += size) {
    const gchar *letters = (const gchar *)bytes + at + 4;
    const gsize place = out->len;
    const guint8 *handler = NULL;
    guint8 *copy;

    size = (gsize)gst_tfx_bytes_get_be (bytes + at, 4);
    if (size < 8 || at + size > n)
      return;
    if (memcmp (letters, "udta", 4) == 0)
      continue;
    if (memcmp (letters, "trak", 4) == 0)
      handler = find_handler (bytes + at + 8, size - 8);
    g_string_append_len (out, (const gchar *)bytes + at, 8);
    if ((handler && memcmp (handler, "soun", 4) == 0) ||
        memcmp (letters, "edts", 4) == 0)
      copy_boxes (output, out, bytes + at + 8, size - 8, start, duration);
    else
      g_string_append_len (out, (const gchar *)bytes + at + 8,
          (gssize)size - 8);
    copy = (guint8 *)out->str + place;
    gst_tfx_bytes_put_be (copy, 4, out->len - place);
    /* (Of version 0; a later one is for more than 2^32.) */
    if (copy[8] == 0 && memcmp (letters, "mvhd", 4) == 0) {
      gst_tfx_bytes_put_be (copy + 24, 4,
          output->n_copied == 0
              ? duration
              : MAX (start + duration, gst_tfx_bytes_get_be (copy + 24, 4)));
    } else if (copy[8] == 0 && memcmp (letters, "tkhd", 4) == 0) {
      gst_tfx_bytes_put_be (copy + 28, 4, start + duration);
    } else if (copy[8] == 0 && memcmp (letters, "elst", 4) == 0 && size >= 28) {
      /* The last entry. */
      gst_tfx_bytes_put_be (copy + size - 12, 4, duration);
      gst_tfx_bytes_put_be (copy + size - 8, 4, output->codec->delay);
    }
  }
}

/* mp4mux writes its tags into the track, and an edit list that begins with the encoder's
 * delay.  "moov" is behind the sound. */
static gboolean
mend_mp4 (const GstTfxOutput *output, FILE *file)
{
  GString *out = g_string_new (NULL), *moov = g_string_new (NULL), *tags;
  const goffset size = find_size (file);
  guint8 head[16], *bytes = NULL;
  goffset at = 0, n = 0;
  const guint8 *header;
  gsize length;
  gboolean is_mended = TRUE;

  for (; at + 8 <= size; at += n) {
    if (!gst_tfx_bytes_read_at (file, at, head, 8))
      break;
    n = (goffset)gst_tfx_bytes_get_be (head, 4);
    if (n == 1 && gst_tfx_bytes_read_at (file, at + 8, head + 8, 8))
      n = (goffset)gst_tfx_bytes_get_be (head + 8, 8);
    if (n < 8 || memcmp (head + 4, "moov", 4) == 0)
      break;
  }
  /* (mp4mux has tags behind it too.) */
  if (n >= 8 &&
      (at + n == size || (gst_tfx_bytes_read_at (file, at + n, head, 8) &&
                             memcmp (head + 4, "uuid", 4) == 0))) {
    bytes = g_malloc ((gsize)n);
    if (gst_tfx_bytes_read_at (file, at, bytes, (gsize)n) &&
        gst_tfx_bytes_find_box (bytes + 8, (gsize)n - 8, "mvhd", &header,
            &length) &&
        length >= 24) {
      const guint64 scale = gst_tfx_bytes_get_be (header + 12, 4);

      copy_boxes (output, moov, bytes + 8, (gsize)n - 8,
          gst_util_uint64_scale_round (output->start, scale, GST_SECOND),
          gst_util_uint64_scale_round (output->n_encoded, scale,
              (guint64)MAX (output->encoded_hz, 1)));
      tags = gst_tfx_tagwriter_write (output->tags, GST_TFX_TAGS_MP4, NULL);
      g_string_append_len (moov, tags->str, (gssize)tags->len);
      g_string_append_len (out, "\0\0\0\0moov", 8);
      g_string_append_len (out, moov->str, (gssize)moov->len);
      gst_tfx_bytes_put_be ((guint8 *)out->str, 4, out->len);
      is_mended =
          write_string (file, at, out) && cut_at (file, at + (goffset)out->len);
      g_string_free (tags, TRUE);
    }
  }
  g_free (bytes);
  g_string_free (moov, TRUE);
  g_string_free (out, TRUE);
  return is_mended;
}

/* ---- Matroska -------------------------------------------------------------------------- */

/* matroskamux has a Segment with a size of eight bytes, and in front in it a SeekHead of five
 * entries of 28 bytes each; the third one is for chapters, the last one for tags. */
#define SEEK_CHAPTERS 68
#define SEEK_TAGS 124
#define SEEK_SIZE 28

static void
fill_seek (guint8 *entry, guint32 id, guint64 position)
{
  static const guint8 form[SEEK_SIZE] = { 0x4d, 0xbb, 0x92, 0x53, 0xab, 0x84, 0,
    0, 0, 0, 0x53, 0xac, 0x88, 0, 0, 0, 0, 0, 0, 0, 0, 0xec, 0x85 };

  memcpy (entry, form, SEEK_SIZE);
  gst_tfx_bytes_put_be (entry + 6, 4, id);
  gst_tfx_bytes_put_be (entry + 13, 8, position);
}

/* Its tags have backslashes, and it has no pictures.  They are behind everything else. */
static gboolean
mend_matroska (const GstTfxOutput *output, FILE *file)
{
  static const guint8 segment_id[] = { 0x18, 0x53, 0x80, 0x67, 0x01 };
  GString *tags =
      gst_tfx_tagwriter_write (output->tags, GST_TFX_TAGS_MATROSKA, NULL);
  GString *files = gst_tfx_tagwriter_write_attachments (output->tags);
  goffset size = find_size (file);
  guint8 head[512], *segment, *seek, length[7];
  goffset start;
  gboolean is_mended = TRUE;

  if (tags->len + files->len == 0 ||
      !gst_tfx_bytes_read_at (file, 0, head, sizeof head) ||
      !(segment = memmem (head, 128, segment_id, sizeof segment_id)) ||
      memcmp (segment + 12, "\x11\x4d\x9b\x74", 4) != 0) {
    g_string_free (tags, TRUE);
    g_string_free (files, TRUE);
    return TRUE;
  }
  start = segment + 12 - head;
  seek = segment + 12;
  /* Those of the encoder. */
  if (seek[SEEK_TAGS] != 0xec)
    size = start + (goffset)gst_tfx_bytes_get_be (seek + SEEK_TAGS + 20, 8);
  if (tags->len > 0)
    fill_seek (seek + SEEK_TAGS, 0x1254c367, (guint64)(size - start));
  if (files->len > 0 && seek[SEEK_CHAPTERS] == 0xec)
    fill_seek (seek + SEEK_CHAPTERS, 0x1941a469,
        (guint64)(size - start) + tags->len);
  gst_tfx_bytes_put_be (length, 7,
      (guint64)(size - start) + tags->len + files->len);
  is_mended =
      cut_at (file, size) && write_string (file, size, tags) &&
      write_string (file, size + (goffset)tags->len, files) &&
      gst_tfx_bytes_write_at (file, start, seek, SEEK_TAGS + SEEK_SIZE) &&
      gst_tfx_bytes_write_at (file, start - 7, length, 7);
  g_string_free (tags, TRUE);
  g_string_free (files, TRUE);
  return is_mended;
}

/* ---- all ------------------------------------------------------------------------------- */

/* Warns of tags that the container cannot hold. */
static void
tell_lost (const GstTfxOutput *output)
{
  GString *lost = g_string_new (NULL);

  if (output->codec->container == GST_TFX_CONTAINER_WAV)
    g_string_free (gst_tfx_tagwriter_write (output->tags, GST_TFX_TAGS_INFO,
                       lost),
        TRUE);
  if (lost->len > 0)
    g_printerr ("warning: %s: a .%s has no place for %s\n", output->job->input,
        output->job->extension, lost->str);
  g_string_free (lost, TRUE);
}

gboolean
gst_tfx_mend_finish (const GstTfxOutput *output, const gchar *path)
{
  FILE *file = g_fopen (path, "r+e"), *input = open_input (output);
  gboolean is_mended = file != NULL;
  GString *tags;
  gint number;

  tell_lost (output);
  switch (is_mended ? (gint)output->codec->container : -1) {
    case GST_TFX_CONTAINER_WAV:
      tags = gst_tfx_tagwriter_write (output->tags, GST_TFX_TAGS_INFO, NULL);
      is_mended = gst_tfx_wav_mend (file, input, output->label, tags);
      g_string_free (tags, TRUE);
      break;
    case GST_TFX_CONTAINER_FLAC:
      is_mended = mend_flac (output, file, input);
      break;
    case GST_TFX_CONTAINER_OGG:
      is_mended = mend_ogg (output, file);
      break;
    case GST_TFX_CONTAINER_MP3:
      is_mended = mend_mp3 (output, file);
      break;
    case GST_TFX_CONTAINER_MP4:
      is_mended = mend_mp4 (output, file);
      break;
    case GST_TFX_CONTAINER_MATROSKA:
      is_mended = mend_matroska (output, file);
      break;
    case GST_TFX_CONTAINER_WAVPACK:
      tags = gst_tfx_tagwriter_write (output->tags, GST_TFX_TAGS_APE, NULL);
      is_mended = write_string (file, find_size (file), tags);
      g_string_free (tags, TRUE);
      break;
    default:
      break;
  }
  number = errno;
  if (input)
    fclose (input);
  if (file)
    is_mended = fclose (file) == 0 && is_mended;
  if (!is_mended && number)
    errno = number;
  return is_mended;
}
