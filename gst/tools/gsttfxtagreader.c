/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtagreader.c: tags of files that GStreamer's demuxers leave out.
 *
 * Demuxers of GStreamer 1.22 know a dozen names of APE, none of the names that others may
 * choose in an MP4, and of a WAV only texts behind its format.
 */
#include "gsttfxtagreader.h"

#include <string.h>

#include <gst/tag/tag.h>

#include "gsttfxbytes.h"
#include "gsttfxmatroska.h"
#include "gsttfxtagname.h"

/* Of all tags together. */
#define MAX_TAGS (1 << 26)

/* NAME=TEXT for each text up to a NUL; numbers with a total behind a slash are two. */
static void
add (GPtrArray *comments, GstTfxTagsForm form, const gchar *id,
    const gchar *texts, gsize n)
{
  const gchar *vorbis = gst_tfx_tagname_find_vorbis (form, id);
  const gchar *name = vorbis ? vorbis : id;
  const gboolean is_number =
      strcmp (name, "TRACKNUMBER") == 0 || strcmp (name, "DISCNUMBER") == 0;

  for (const gchar *text = texts; text < texts + n;) {
    const gsize length = strnlen (text, (gsize)(texts + n - text));
    gchar *own = g_utf8_validate (text, (gssize)length, NULL)
                     ? g_strndup (text, length)
                     : g_convert (text, (gssize)length, "UTF-8", "ISO-8859-1",
                           NULL, NULL, NULL);
    gchar *slash = own && is_number ? strchr (own, '/') : NULL;

    if (slash) {
      *slash = '\0';
      g_ptr_array_add (comments,
          g_strdup_printf ("%sTOTAL=%s", *name == 'T' ? "TRACK" : "DISC",
              slash + 1));
    }
    if (own && *own)
      g_ptr_array_add (comments, g_strdup_printf ("%s=%s", name, own));
    g_free (own);
    text += length + 1;
  }
}

/* Bytes of a file with a NUL behind them; NULL: they are not all there. */
static guint8 *
load (FILE *file, goffset at, guint64 n)
{
  guint8 *bytes = n <= MAX_TAGS ? g_malloc0 ((gsize)n + 1) : NULL;

  if (bytes && !gst_tfx_bytes_read_at (file, at, bytes, (gsize)n))
    g_clear_pointer (&bytes, g_free);
  return bytes;
}

/* ---- WAV ------------------------------------------------------------------------------ */

static gboolean
read_info (FILE *file, GPtrArray *comments)
{
  goffset at = GST_TFX_BYTES_FIRST_CHUNK;
  gboolean is_all = TRUE;
  guint64 long_size = 0;
  GstTfxChunk chunk;

  for (; gst_tfx_bytes_read_chunk (file, at, FALSE, long_size, &chunk);
       at = gst_tfx_bytes_find_end (&chunk)) {
    guint8 *bytes = NULL, size[16];

    if (memcmp (chunk.letters, "ds64", 4) == 0 &&
        gst_tfx_bytes_read_at (file, chunk.at, size, sizeof size))
      long_size = gst_tfx_bytes_get_le (size + 8, 8);
    is_all = is_all && g_ascii_strncasecmp (chunk.letters, "id3 ", 4) != 0;
    if (memcmp (chunk.letters, "LIST", 4) == 0)
      bytes = load (file, chunk.at, chunk.size);
    for (gsize i = 4, n;
         bytes && memcmp (bytes, "INFO", 4) == 0 && i + 8 <= chunk.size;
         i += 8 + n + (n & 1)) {
      gchar id[5] = { 0 };

      n = (gsize)gst_tfx_bytes_get_le (bytes + i + 4, 4);
      if (n > chunk.size - i - 8)
        break;
      memcpy (id, bytes + i, 4);
      if (gst_tfx_tagname_find_vorbis (GST_TFX_TAGS_INFO, id))
        add (comments, GST_TFX_TAGS_INFO, id, (const gchar *)bytes + i + 8, n);
    }
    g_free (bytes);
  }
  return is_all;
}

/* ---- APE ------------------------------------------------------------------------------ */

#define APE_FOOTER 32

static gboolean
read_ape (FILE *file, goffset size, GPtrArray *comments, GstTagList *tags)
{
  static const gchar front[] = "Cover Art (Front)", back[] = "Cover Art (Back)";
  guint8 footer[APE_FOOTER], *bytes;
  gsize n, at = 0;

  /* A tag of ID3 1 may be behind it. */
  for (guint i = 0; i < 2; i++) {
    if (gst_tfx_bytes_read_at (file, size - APE_FOOTER, footer,
            sizeof footer) &&
        memcmp (footer, "APETAGEX", 8) == 0)
      break;
    size -= 128;
    if (i == 1)
      return FALSE;
  }
  n = (gsize)gst_tfx_bytes_get_le (footer + 12, 4);
  bytes = load (file, size - (goffset)n, n);
  while (bytes && at + 8 < n) {
    const gsize length = (gsize)gst_tfx_bytes_get_le (bytes + at, 4);
    const guint64 flags = gst_tfx_bytes_get_le (bytes + at + 4, 4);
    const gchar *key = (const gchar *)bytes + at + 8;
    const gsize from = at + 8 + strnlen (key, n - at - 8) + 1;

    if (from >= n || length > n - from)
      break;
    at = from + length;
    if ((flags & 6) == 0) {
      add (comments, GST_TFX_TAGS_APE, key, (const gchar *)bytes + from,
          length);
    } else if (g_ascii_strcasecmp (key, front) == 0 ||
               g_ascii_strcasecmp (key, back) == 0) {
      const gsize name = strnlen ((const gchar *)bytes + from, length) + 1;
      GstSample *sample =
          name < length
              ? gst_tag_image_data_to_image_sample (bytes + from + name,
                    (guint)(length - name),
                    g_ascii_strcasecmp (key, back) == 0
                        ? GST_TAG_IMAGE_TYPE_BACK_COVER
                        : GST_TAG_IMAGE_TYPE_FRONT_COVER)
              : NULL;

      if (sample) {
        gst_tag_list_add (tags, GST_TAG_MERGE_APPEND, GST_TAG_IMAGE, sample,
            NULL);
        gst_sample_unref (sample);
      }
    }
  }
  g_free (bytes);
  return bytes != NULL;
}

/* ---- FLAC ----------------------------------------------------------------------------- */

#define PICTURE 6

/* The next number of four bytes, up to n; 0 behind the last one. */
static guint
take_number (const guint8 *bytes, gsize n, gsize *at)
{
  const gsize from = *at;

  *at = MIN (from + 4, n);
  return *at - from == 4 ? (guint)gst_tfx_bytes_get_be (bytes + from, 4) : 0;
}

static gchar *
take_text (const guint8 *bytes, gsize n, gsize *at)
{
  const gsize claimed = take_number (bytes, n, at);
  const gsize length = MIN (claimed, n - *at);
  gchar *text = g_utf8_make_valid ((const gchar *)bytes + *at, (gssize)length);

  *at += length;
  return text;
}

/* RFC 9639, 8.8.  NULL: it has no image. */
static GstSample *
read_picture (const guint8 *block, gsize n)
{
  gsize at = 0, size;
  const guint type = take_number (block, n, &at);
  gchar *mime = take_text (block, n, &at);
  gchar *description = take_text (block, n, &at);
  guint numbers[4];
  GstSample *image, *sample = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = take_number (block, n, &at);
  size = take_number (block, n, &at);
  size = MIN (size, n - at);
  image = size > 0 ? gst_tag_image_data_to_image_sample (block + at,
                         (guint)size, GST_TAG_IMAGE_TYPE_UNDEFINED)
                   : NULL;
  if (image) {
    sample = gst_sample_new (gst_sample_get_buffer (image),
        gst_sample_get_caps (image), NULL,
        gst_structure_new ("GstTagImageInfo", "image-type",
            GST_TYPE_TAG_IMAGE_TYPE,
            type > 2 ? (gint)type - 2 : GST_TAG_IMAGE_TYPE_UNDEFINED, "type",
            G_TYPE_UINT, type, "mime", G_TYPE_STRING, mime, "description",
            G_TYPE_STRING, description, "width", G_TYPE_UINT, numbers[0],
            "height", G_TYPE_UINT, numbers[1], "depth", G_TYPE_UINT, numbers[2],
            "colors", G_TYPE_UINT, numbers[3], NULL));
    gst_sample_unref (image);
  }
  g_free (mime);
  g_free (description);
  return sample;
}

/* flacparse leaves out all but the image, and the type of a few. */
static void
read_flac (FILE *file, GstTagList *tags)
{
  GPtrArray *pictures =
      g_ptr_array_new_with_free_func ((GDestroyNotify)gst_sample_unref);
  gboolean is_all = TRUE;
  guint8 head[4] = { 0 };
  goffset at = 4;
  gsize n;

  for (; !(head[0] & 0x80) && gst_tfx_bytes_read_at (file, at, head, 4);
       at += 4 + (goffset)n) {
    n = (gsize)gst_tfx_bytes_get_be (head + 1, 3);
    if ((head[0] & 0x7f) == PICTURE) {
      guint8 *block = load (file, at + 4, n);
      GstSample *sample = block ? read_picture (block, n) : NULL;

      if (sample)
        g_ptr_array_add (pictures, sample);
      is_all = is_all && sample;
      g_free (block);
    }
  }
  if (is_all && pictures->len > 0)
    gst_tag_list_remove_tag (tags, GST_TAG_IMAGE);
  for (guint i = 0; is_all && i < pictures->len; i++)
    gst_tag_list_add (tags, GST_TAG_MERGE_APPEND, GST_TAG_IMAGE,
        pictures->pdata[i], NULL);
  g_ptr_array_unref (pictures);
}

/* ---- MP4 ------------------------------------------------------------------------------ */

/* Texts of one item of the list: "data" with the type 1. */
static void
read_item (const gchar *id, const guint8 *item, gsize n, GPtrArray *comments)
{
  const guint8 *name, *data;
  gsize n_name, n_data;
  gchar *own = NULL;

  if (strcmp (id, "----") == 0 &&
      gst_tfx_bytes_find_box (item, n, "name", &name, &n_name) && n_name > 4)
    own = g_strndup ((const gchar *)name + 4, n_name - 4);
  while (gst_tfx_bytes_find_box (item, n, "data", &data, &n_data)) {
    if (n_data > 8 && gst_tfx_bytes_get_be (data, 4) == 1 &&
        (own || gst_tfx_tagname_find_vorbis (GST_TFX_TAGS_MP4, id)))
      add (comments, GST_TFX_TAGS_MP4, own ? own : id, (const gchar *)data + 8,
          n_data - 8);
    n -= (gsize)(data + n_data - item);
    item = data + n_data;
  }
  g_free (own);
}

static void
read_mp4 (FILE *file, GPtrArray *comments)
{
  guint8 head[16], *moov = NULL;
  const guint8 *content;
  goffset at = 0;
  guint64 n;
  gsize size;

  for (; !moov && gst_tfx_bytes_read_at (file, at, head, 8); at += (goffset)n) {
    n = gst_tfx_bytes_get_be (head, 4);
    if (n == 1 && gst_tfx_bytes_read_at (file, at + 8, head + 8, 8))
      n = gst_tfx_bytes_get_be (head + 8, 8);
    if (n < 8 || n > G_MAXINT64 - (guint64)at)
      return;
    if (memcmp (head + 4, "moov", 4) == 0 &&
        !(moov = load (file, at + 8, n - 8)))
      return;
    size = (gsize)n - 8;
  }
  if (moov && gst_tfx_bytes_find_box (moov, size, "udta", &content, &size) &&
      gst_tfx_bytes_find_box (content, size, "meta", &content, &size) &&
      size > 4 &&
      gst_tfx_bytes_find_box (content + 4, size - 4, "ilst", &content, &size)) {
    for (gsize i = 0, length; i + 8 <= size; i += length) {
      gchar id[5] = { 0 };

      length = (gsize)gst_tfx_bytes_get_be (content + i, 4);
      if (length < 8 || length > size - i)
        break;
      memcpy (id, content + i + 4, 4);
      read_item (id, content + i + 8, length - 8, comments);
    }
  }
  g_free (moov);
}

/* ---- Matroska -------------------------------------------------------------------------- */

#define TAGS 0x1254c367
#define TAG 0x7373
#define SIMPLE_TAG 0x67c8
#define TAG_NAME 0x45a3
#define TAG_STRING 0x4487
/* Of tags in each other, and of elements in the file. */
#define MAX_DEPTH 8
#define MAX_ELEMENTS (1 << 20)

static void
read_simple_tags (const guint8 *bytes, gsize n, guint depth, gchar **name,
    GPtrArray *comments)
{
  guint32 id;
  guint64 size;
  gsize head;

  for (gsize at = 0;
       (head = gst_tfx_matroska_read_head (bytes + at, n - at, &id, &size)) > 0;
       at += head + (gsize)size) {
    const gchar *content = (const gchar *)bytes + at + head;

    if (size > n - at - head)
      return;
    if ((id == TAG || id == SIMPLE_TAG) && depth < MAX_DEPTH) {
      gchar *inner = NULL;

      read_simple_tags ((const guint8 *)content, (gsize)size, depth + 1, &inner,
          comments);
      g_free (inner);
    } else if (id == TAG_NAME) {
      g_free (*name);
      *name = g_strndup (content, (gsize)size);
    } else if (id == TAG_STRING && *name) {
      add (comments, GST_TFX_TAGS_MATROSKA, *name, content, (gsize)size);
    }
  }
}

/* Segments, and clusters of unknown length, are not skipped. */
static gboolean
read_matroska (FILE *file, GPtrArray *comments)
{
  guint8 head[16], *bytes;
  goffset at = 0;
  guint64 size;
  gboolean is_found = FALSE;
  guint32 id;
  gsize n;
  gchar *name = NULL;

  for (guint i = 0;
       i < MAX_ELEMENTS && gst_tfx_bytes_read_at (file, at, head, 12) &&
       (n = gst_tfx_matroska_read_head (head, 12, &id, &size)) > 0;
       i++) {
    at += (goffset)n;
    if (id == GST_TFX_MATROSKA_SEGMENT || size == GST_TFX_MATROSKA_UNKNOWN)
      continue;
    if (size > (guint64)(G_MAXINT64 - at))
      break;
    bytes = id == TAGS ? load (file, at, size) : NULL;
    if (bytes) {
      is_found = TRUE;
      read_simple_tags (bytes, (gsize)size, 0, &name, comments);
    }
    g_free (bytes);
    at += (goffset)size;
  }
  g_free (name);
  return is_found;
}

/* ---- all ------------------------------------------------------------------------------- */

gboolean
gst_tfx_tagreader_read (const gchar *path, GPtrArray *comments,
    GstTagList *tags)
{
  goffset size;
  FILE *file = gst_tfx_bytes_open (path, &size, NULL);
  gboolean is_all = FALSE;
  guint8 head[12];

  if (file && gst_tfx_bytes_read_at (file, 0, head, sizeof head)) {
    if ((memcmp (head, "RIFF", 4) == 0 || memcmp (head, "RF64", 4) == 0) &&
        memcmp (head + 8, "WAVE", 4) == 0)
      is_all = read_info (file, comments);
    else if (memcmp (head, "fLaC", 4) == 0)
      read_flac (file, tags);
    else if (memcmp (head, "wvpk", 4) == 0)
      is_all = read_ape (file, size, comments, tags);
    else if (memcmp (head + 4, "ftyp", 4) == 0)
      read_mp4 (file, comments);
    else if (memcmp (head, "\x1a\x45\xdf\xa3", 4) == 0)
      is_all = read_matroska (file, comments);
  }
  if (file)
    fclose (file);
  return is_all && comments->len > 0;
}

gboolean
gst_tfx_tagreader_read_frame (const guint8 *frame, gsize n, GPtrArray *comments)
{
  static const gchar *const encodings[] = { "ISO-8859-1", "UTF-16", "UTF-16BE",
    "UTF-8" };
  gchar id[5] = { 0 }, *text;
  const gchar *value;
  gsize length = 0, skip;

  if (n < 12 || frame[10] > 3)
    return FALSE;
  memcpy (id, frame, 4);
  if (strcmp (id, "TXXX") != 0 &&
      !gst_tfx_tagname_find_vorbis (GST_TFX_TAGS_ID3, id))
    return FALSE;
  /* Lyrics begin with a language and a description; names that users choose begin with
   * a description. */
  skip = *id == 'T' ? 11 : 14;
  if (n <= skip)
    return TRUE;
  text = g_convert ((const gchar *)frame + skip, (gssize)(n - skip), "UTF-8",
      encodings[frame[10]], NULL, &length, NULL);
  value = text;
  if (text && (strcmp (id, "TXXX") == 0 || *id != 'T'))
    value = text + MIN (length, strlen (text) + 1);
  if (text && g_str_has_prefix (value, "\xef\xbb\xbf"))
    value += 3;
  if (text)
    add (comments, GST_TFX_TAGS_ID3, strcmp (id, "TXXX") == 0 ? text : id,
        value, length - (gsize)(value - text));
  g_free (text);
  return TRUE;
}
