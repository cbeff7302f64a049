/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtagwriter.c: tags in the form that a container has them in.
 *
 * Muxers of GStreamer 1.22 leave out many, or write them where no player looks.
 */
#include "gsttfxtagwriter.h"

#include <string.h>

#include <gst/tag/tag.h>

#include "gsttfxtags.h"

/* ---- bytes --------------------------------------------------------------------------- */

static void
put_be (GString *out, guint64 number, guint n)
{
  while (n-- > 0)
    g_string_append_c (out, (gchar)(number >> 8 * n));
}

static void
put_le (GString *out, guint64 number, guint n)
{
  for (guint i = 0; i < n; i++)
    g_string_append_c (out, (gchar)(number >> 8 * i));
}

static void
put (GString *out, const GString *bytes)
{
  g_string_append_len (out, bytes->str, (gssize)bytes->len);
}

/* With the NUL behind it. */
static void
put_text (GString *out, const gchar *text)
{
  g_string_append_len (out, text, (gssize)strlen (text) + 1);
}

/* Seven bits in each byte, of ID3. */
static guint32
spread (gsize size)
{
  return (guint32)((size & 0x7f) | (size & 0x3f80) << 1 |
                   (size & 0x1fc000) << 2 | (size & 0xfe00000) << 3);
}

/* ---- one tag in each form ------------------------------------------------------------ */

static void
put_id3 (GString *out, const gchar *id, const GString *content)
{
  g_string_append_len (out, id, 4);
  put_be (out, spread (content->len), 4);
  put_be (out, 0, 2);
  put (out, content);
}

/* `texts` has a NUL between two. */
static void
write_id3 (GString *out, const gchar *id, const gchar *name,
    const GString *texts)
{
  GString *content = g_string_new ("\3");

  if (!id || strlen (id) != 4)
    put_text (content, id ? id : name);
  else if (*id != 'T')
    put_text (content, "XXX");
  put (content, texts);
  put_id3 (out, id && strlen (id) == 4 ? id : "TXXX", content);
  g_string_free (content, TRUE);
}

static void
put_box (GString *out, const gchar *letters, const GString *content)
{
  put_be (out, content->len + 8, 4);
  g_string_append_len (out, letters, 4);
  put (out, content);
}

/* The type of the content: 1, UTF-8; 13, a JPEG; 14, a PNG; 21, a number; 0, others. */
static void
put_data (GString *out, guint type, const gchar *bytes, gsize n)
{
  put_be (out, n + 16, 4);
  g_string_append (out, "data");
  put_be (out, type, 4);
  put_be (out, 0, 4);
  g_string_append_len (out, bytes, (gssize)n);
}

static void
write_mp4 (GString *out, const gchar *id, const gchar *name,
    const GString *texts)
{
  GString *content = g_string_new (NULL), *number = g_string_new (NULL);
  gchar *end = texts->str;
  guint64 first, total;

  if (id && strlen (id) != 4) {
    name = id;
    id = NULL;
  }
  if (!id) {
    put_be (content, 28, 4);
    g_string_append_len (content, "mean\0\0\0\0com.apple.iTunes", 24);
    put_be (content, 12 + strlen (name), 4);
    g_string_append_len (content, "name\0\0\0\0", 8);
    g_string_append (content, name);
  }
  first = g_ascii_strtoull (texts->str, &end, 10);
  total = *end == '/' ? g_ascii_strtoull (end + 1, NULL, 10) : 0;
  if (id && (strcmp (id, "trkn") == 0 || strcmp (id, "disk") == 0)) {
    put_be (number, first, 4);
    put_be (number, total, 2);
    put_be (number, 0, *id == 't' ? 2 : 0);
    put_data (content, 0, number->str, number->len);
  } else if (id && strcmp (id, "tmpo") == 0) {
    put_be (number, (guint64)(g_ascii_strtod (texts->str, NULL) + 0.5), 2);
    put_data (content, 21, number->str, number->len);
  } else {
    for (gsize at = 0; at <= texts->len; at += strlen (texts->str + at) + 1)
      put_data (content, 1, texts->str + at, strlen (texts->str + at));
  }
  put_box (out, id ? id : "----", content);
  g_string_free (number, TRUE);
  g_string_free (content, TRUE);
}

static void
put_ape (GString *out, const gchar *key, guint flags, const GString *value)
{
  put_le (out, value->len, 4);
  put_le (out, flags, 4);
  put_text (out, key);
  put (out, value);
}

static void
put_ebml (GString *out, guint32 id, const gchar *bytes, gsize n)
{
  put_be (out, id, id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
  put_be (out, G_GUINT64_CONSTANT (1) << 56 | n, 8);
  g_string_append_len (out, bytes, (gssize)n);
}

static void
write_matroska (GString *out, const gchar *name, const GString *texts)
{
  for (gsize at = 0; at <= texts->len; at += strlen (texts->str + at) + 1) {
    GString *simple = g_string_new (NULL);

    put_ebml (simple, 0x45a3, name, strlen (name));
    put_ebml (simple, 0x4487, texts->str + at, strlen (texts->str + at));
    put_ebml (out, 0x67c8, simple->str, simple->len);
    g_string_free (simple, TRUE);
  }
}

/* One text for each name: more are joined. */
static void
write_info (GString *out, const gchar *id, const GString *texts)
{
  GString *joined = g_string_new (NULL);

  for (gsize at = 0; at <= texts->len; at += strlen (texts->str + at) + 1)
    g_string_append_printf (joined, "%s%s", at ? "; " : "", texts->str + at);
  g_string_append_len (out, id, 4);
  put_le (out, joined->len + 1, 4);
  g_string_append_c (joined, '\0');
  if (joined->len % 2)
    g_string_append_c (joined, '\0');
  put (out, joined);
  g_string_free (joined, TRUE);
}

/* ---- pictures ------------------------------------------------------------------------ */

typedef struct Picture
{
  GstMapInfo map;
  GstBuffer *buffer;
  const gchar *mime, *description;
  guint type;                         /* of ID3 */
  guint width, height, depth, colors; /* 0: unknown */
} Picture;

/* The one of that number; FALSE: there is none. */
static gboolean
open_picture (const GstTagList *tags, guint i, Picture *picture)
{
  const GValue *value = gst_tag_list_get_value_index (tags, GST_TAG_IMAGE, i);
  GstSample *sample = value ? gst_value_get_sample (value) : NULL;
  GstCaps *caps = sample ? gst_sample_get_caps (sample) : NULL;
  const GstStructure *info = sample ? gst_sample_get_info (sample) : NULL;
  gint type = GST_TAG_IMAGE_TYPE_FRONT_COVER, width = 0, height = 0;

  memset (picture, 0, sizeof *picture);
  picture->buffer = sample ? gst_sample_get_buffer (sample) : NULL;
  if (!picture->buffer ||
      !gst_buffer_map (picture->buffer, &picture->map, GST_MAP_READ))
    return FALSE;
  picture->mime = "image/jpeg";
  picture->description = "";
  if (caps && gst_caps_get_size (caps) > 0) {
    const GstStructure *structure = gst_caps_get_structure (caps, 0);

    picture->mime = gst_structure_get_name (structure);
    gst_structure_get_int (structure, "width", &width);
    gst_structure_get_int (structure, "height", &height);
  }
  picture->width = (guint)width;
  picture->height = (guint)height;
  if (info)
    gst_structure_get_enum (info, "image-type", GST_TYPE_TAG_IMAGE_TYPE, &type);
  picture->type = type > 0 ? (guint)type + 2 : 0;
  /* (From a FLAC.) */
  if (info && gst_structure_has_field (info, "description")) {
    picture->mime = gst_structure_get_string (info, "mime");
    picture->description = gst_structure_get_string (info, "description");
    gst_structure_get (info, "type", G_TYPE_UINT, &picture->type, "width",
        G_TYPE_UINT, &picture->width, "height", G_TYPE_UINT, &picture->height,
        "depth", G_TYPE_UINT, &picture->depth, "colors", G_TYPE_UINT,
        &picture->colors, NULL);
  }
  return TRUE;
}

GString *
gst_tfx_tagwriter_write_picture (const GstTagList *tags, guint i)
{
  GString *out = g_string_new (NULL);
  Picture picture;

  if (!open_picture (tags, i, &picture))
    return out;
  put_be (out, picture.type, 4);
  put_be (out, strlen (picture.mime), 4);
  g_string_append (out, picture.mime);
  put_be (out, strlen (picture.description), 4);
  g_string_append (out, picture.description);
  put_be (out, picture.width, 4);
  put_be (out, picture.height, 4);
  put_be (out, picture.depth, 4);
  put_be (out, picture.colors, 4);
  put_be (out, picture.map.size, 4);
  g_string_append_len (out, (const gchar *)picture.map.data,
      (gssize)picture.map.size);
  gst_buffer_unmap (picture.buffer, &picture.map);
  return out;
}

static void
write_picture (GString *out, GstTfxTagsForm form, const Picture *picture)
{
  const gboolean is_png = strcmp (picture->mime, "image/png") == 0;
  const gchar *bytes = (const gchar *)picture->map.data;
  GString *content = g_string_new (NULL);

  if (form == GST_TFX_TAGS_ID3) {
    /* Its texts are UTF-8. */
    g_string_append_c (content, '\3');
    put_text (content, picture->mime);
    g_string_append_c (content, (gchar)picture->type);
    put_text (content, picture->description);
    g_string_append_len (content, bytes, (gssize)picture->map.size);
    put_id3 (out, "APIC", content);
  } else if (form == GST_TFX_TAGS_MP4) {
    put_data (out, is_png ? 14 : 13, bytes, picture->map.size);
  } else {
    put_text (content, is_png ? "cover.png" : "cover.jpg");
    g_string_append_len (content, bytes, (gssize)picture->map.size);
    put_ape (out, picture->type == 4 ? "Cover Art (Back)" : "Cover Art (Front)",
        2, content);
  }
  g_string_free (content, TRUE);
}

GString *
gst_tfx_tagwriter_write_attachments (const GstTagList *tags)
{
  GString *files = g_string_new (NULL), *out = g_string_new (NULL);
  Picture picture;

  for (guint i = 0; open_picture (tags, i, &picture); i++) {
    const gboolean is_png = strcmp (picture.mime, "image/png") == 0;
    GString *file = g_string_new (NULL);
    const gchar uid = (gchar)(i + 1);
    gchar *name = i ? g_strdup_printf ("cover%u", i) : g_strdup ("cover");
    gchar *full = g_strconcat (name, is_png ? ".png" : ".jpg", NULL);

    if (*picture.description)
      put_ebml (file, 0x467e, picture.description,
          strlen (picture.description));
    put_ebml (file, 0x466e, full, strlen (full));
    put_ebml (file, 0x4660, picture.mime, strlen (picture.mime));
    put_ebml (file, 0x46ae, &uid, 1);
    put_ebml (file, 0x465c, (const gchar *)picture.map.data, picture.map.size);
    put_ebml (files, 0x61a7, file->str, file->len);
    gst_buffer_unmap (picture.buffer, &picture.map);
    g_string_free (file, TRUE);
    g_free (name);
    g_free (full);
  }
  if (files->len > 0)
    put_ebml (out, 0x1941a469, files->str, files->len);
  g_string_free (files, TRUE);
  return out;
}

/* Frames of ID3 that GStreamer does not know, such as chapters, unless they describe the
 * old sound. */
static void
copy_frames (GString *out, const GstTagList *tags)
{
  static const gchar stale[] =
      "TSSE TLEN TDLY TFLT RVA2 RVAD RGAD XRVA EQU2 EQUA SEEK ASPI TSIZ";

  for (guint i = 0;
       i < gst_tag_list_get_tag_size (tags, GST_TFX_TAGS_ID3_FRAME); i++) {
    GstSample *sample = gst_value_get_sample (
        gst_tag_list_get_value_index (tags, GST_TFX_TAGS_ID3_FRAME, i));
    GstBuffer *buffer = gst_sample_get_buffer (sample);
    gchar id[5] = { 0 };
    GstMapInfo map;

    if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_READ))
      continue;
    memcpy (id, map.data, MIN (map.size, 4));
    /* (Those with a flag may be packed, or encrypted.) */
    if (map.size > 10 && !strchr (id, '_') && !strstr (stale, id) &&
        map.data[9] == 0) {
      GString *content = g_string_new_len ((const gchar *)map.data + 10,
          (gssize)map.size - 10);

      put_id3 (out, id, content);
      g_string_free (content, TRUE);
    }
    gst_buffer_unmap (buffer, &map);
  }
}

/* ---- all ------------------------------------------------------------------------------ */

/* The texts of a name, a NUL between two; with its total, where that is in the same tag. */
static GString *
collect (const GstTagList *tags, const gchar *name, GstTfxTagsForm form)
{
  const gboolean has_total = form != GST_TFX_TAGS_MATROSKA;
  const gsize n = strlen (name);
  GString *texts = g_string_new (NULL), *total;
  const gchar *comment;

  for (guint i = 0; gst_tag_list_peek_string_index (tags,
           GST_TAG_EXTENDED_COMMENT, i, &comment);
       i++) {
    if (g_ascii_strncasecmp (comment, name, n) == 0 && comment[n] == '=') {
      if (texts->len > 0)
        g_string_append_c (texts, '\0');
      g_string_append (texts, comment + n + 1);
    }
  }
  if (has_total &&
      (strcmp (name, "TRACKNUMBER") == 0 || strcmp (name, "DISCNUMBER") == 0)) {
    total = collect (tags, *name == 'T' ? "TRACKTOTAL" : "DISCTOTAL", form);
    if (total->len > 0)
      g_string_append_printf (texts, "/%s", total->str);
    g_string_free (total, TRUE);
  }
  return texts;
}

/* FALSE: it is in another one, or lost. */
static gboolean
write_texts (GString *out, GstTfxTagsForm form, const gchar *vorbis,
    const GString *texts, GString *lost)
{
  const GstTfxTagName *name = gst_tfx_tagname_find (vorbis);
  const gchar *id = name ? name->forms[form] : NULL;

  if (id && !*id)
    return FALSE;
  if (form == GST_TFX_TAGS_ID3)
    write_id3 (out, id, vorbis, texts);
  else if (form == GST_TFX_TAGS_MP4)
    write_mp4 (out, id, vorbis, texts);
  else if (form == GST_TFX_TAGS_APE)
    put_ape (out, id ? id : vorbis, 0, texts);
  else if (form == GST_TFX_TAGS_MATROSKA)
    write_matroska (out, id ? id : vorbis, texts);
  else if (id)
    write_info (out, id, texts);
  else if (lost)
    g_string_append_printf (lost, "%s%s", lost->len ? ", " : "", vorbis);
  return form != GST_TFX_TAGS_INFO || id;
}

/* What the form has around its tags. */
static GString *
wrap (GstTfxTagsForm form, const GString *content, guint n_items)
{
  GString *out = g_string_new (NULL), *inner;

  switch (form) {
    case GST_TFX_TAGS_ID3:
      g_string_append_len (out, "ID3\4\0\0", 6);
      put_be (out, spread (content->len), 4);
      put (out, content);
      break;
    case GST_TFX_TAGS_MP4:
      inner = g_string_new_len ("\0\0\0\0\0\0\0\41hdlr\0\0\0\0\0\0\0\0mdirappl"
                                "\0\0\0\0\0\0\0\0\0",
          37);
      put_box (inner, "ilst", content);
      put_box (out, "meta", inner);
      g_string_truncate (inner, 0);
      put_box (inner, "udta", out);
      g_string_free (out, TRUE);
      return inner;
    case GST_TFX_TAGS_APE:
      for (guint i = 0; i < 2; i++) {
        g_string_append (out, "APETAGEX");
        put_le (out, 2000, 4);
        put_le (out, content->len + 32, 4);
        put_le (out, n_items, 4);
        put_le (out, i == 0 ? 0xa0000000 : 0x80000000, 4);
        put_le (out, 0, 8);
        if (i == 0)
          put (out, content);
      }
      break;
    case GST_TFX_TAGS_MATROSKA:
      inner = g_string_new (NULL);
      /* Of a track: without that they are those of an album. */
      put_ebml (out, 0x68ca, "\36", 1);
      put_ebml (inner, 0x63c0, out->str, out->len);
      g_string_truncate (out, 0);
      put (inner, content);
      put_ebml (out, 0x7373, inner->str, inner->len);
      g_string_truncate (inner, 0);
      put_ebml (inner, 0x1254c367, out->str, out->len);
      g_string_free (out, TRUE);
      return inner;
    default:
      g_string_append (out, "LIST");
      put_le (out, content->len + 4, 4);
      g_string_append (out, "INFO");
      put (out, content);
      break;
  }
  return out;
}

GString *
gst_tfx_tagwriter_write (const GstTagList *tags, GstTfxTagsForm form,
    GString *lost)
{
  GHashTable *seen =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *content = g_string_new (NULL), *covers = g_string_new (NULL), *out;
  guint n_items = 0, n_pictures = 0;
  const gchar *comment;
  Picture picture;

  for (guint i = 0; gst_tag_list_peek_string_index (tags,
           GST_TAG_EXTENDED_COMMENT, i, &comment);
       i++) {
    gchar *name = g_strndup (comment, strcspn (comment, "="));
    GString *texts;

    if (!g_hash_table_add (seen, g_ascii_strup (name, -1))) {
      g_free (name);
      continue;
    }
    texts = collect (tags, name, form);
    n_items += write_texts (content, form, name, texts, lost);
    g_string_free (texts, TRUE);
    g_free (name);
  }
  for (; form != GST_TFX_TAGS_MATROSKA &&
         open_picture (tags, n_pictures, &picture);
       n_pictures++) {
    if (form != GST_TFX_TAGS_INFO)
      write_picture (form == GST_TFX_TAGS_MP4 ? covers : content, form,
          &picture);
    gst_buffer_unmap (picture.buffer, &picture.map);
  }
  if (form == GST_TFX_TAGS_INFO && n_pictures > 0 && lost)
    g_string_append_printf (lost, "%sthe picture", lost->len ? ", " : "");
  if (covers->len > 0)
    put_box (content, "covr", covers);
  if (form == GST_TFX_TAGS_ID3)
    copy_frames (content, tags);
  out = content->len > 0 ? wrap (form, content, n_items + n_pictures)
                         : g_string_new (NULL);
  g_string_free (covers, TRUE);
  g_string_free (content, TRUE);
  g_hash_table_unref (seen);
  return out;
}
