/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtags.c: the tags of a sound file, as each container has them.
 *
 * All go by their names in Vorbis comments; a table has what other containers call them.
 * Muxers of GStreamer 1.22 leave out many, or write them where no player looks.
 */
#include "gsttfxtags.h"

#include <string.h>

#include <gst/tag/tag.h>

#include "gsttfxtagreader.h"

/* GStreamer's own tag of its ID3 reader: a frame with its head. */
#define ID3_FRAME "private-id3v2-frame"

/* By the Vorbis comment; an MP4 or ID3 without a name of its own has one for all others. */
typedef struct Name
{
  const gchar *vorbis;
  const gchar
      *tag; /* of GStreamer, if that has no Vorbis comment for it; or NULL */
  const gchar *forms[GST_TFX_TAGS_INFO + 1];
} Name;

static const Name names[] = {
  { "TITLE", NULL, { "TIT2", "\251nam", "Title", "TITLE", "INAM" } },
  { "ARTIST", NULL, { "TPE1", "\251ART", "Artist", "ARTIST", "IART" } },
  { "ALBUM", NULL, { "TALB", "\251alb", "Album", "ALBUM", "IPRD" } },
  { "ALBUMARTIST", NULL,
      { "TPE2", "aART", "Album Artist", "ALBUM_ARTIST", "IAAR" } },
  { "COMPOSER", NULL, { "TCOM", "\251wrt", "Composer", "COMPOSER", "IMUS" } },
  { "CONDUCTOR", GST_TAG_CONDUCTOR,
      { "TPE3", NULL, "Conductor", "CONDUCTOR", NULL } },
  { "GENRE", NULL, { "TCON", "\251gen", "Genre", "GENRE", "IGNR" } },
  { "DATE", NULL, { "TDRC", "\251day", "Year", "DATE", "ICRD" } },
  { "TRACKNUMBER", NULL, { "TRCK", "trkn", "Track", "PART_NUMBER", "ITRK" } },
  { "TRACKTOTAL", NULL, { "", "", "", "TOTAL_PARTS", "" } },
  { "DISCNUMBER", NULL, { "TPOS", "disk", "Disc", "DISC", NULL } },
  { "DISCTOTAL", NULL, { "", "", "", "TOTAL_DISCS", "" } },
  { "COMMENT", NULL, { "COMM", "\251cmt", "Comment", "COMMENT", "ICMT" } },
  { "DESCRIPTION", NULL,
      { NULL, "desc", "Description", "DESCRIPTION", "ISBJ" } },
  { "COPYRIGHT", NULL, { "TCOP", "cprt", "Copyright", "COPYRIGHT", "ICOP" } },
  { "PUBLISHER", GST_TAG_PUBLISHER,
      { "TPUB", NULL, "Publisher", "PUBLISHER", "IPUB" } },
  { "ISRC", NULL, { "TSRC", NULL, "ISRC", "ISRC", "ISRC" } },
  { "BPM", NULL, { "TBPM", "tmpo", "BPM", "BPM", NULL } },
  { "LYRICS", GST_TAG_LYRICS, { "USLT", "\251lyr", "Lyrics", "LYRICS", NULL } },
  { "LANGUAGE", NULL, { "TLAN", NULL, "Language", "LANGUAGE", "ILNG" } },
  { "GROUPING", GST_TAG_GROUPING,
      { "TIT1", "\251grp", "Grouping", "GROUPING", NULL } },
  { "KEYWORDS", GST_TAG_KEYWORDS,
      { NULL, "keyw", "Keywords", "KEYWORDS", "IKEY" } },
  { "INITIALKEY", GST_TAG_MUSICAL_KEY,
      { "TKEY", NULL, "InitialKey", "INITIAL_KEY", NULL } },
  { "ENCODEDBY", GST_TAG_ENCODED_BY,
      { "TENC", NULL, "EncodedBy", "ENCODED_BY", "ITCH" } },
  { "REMIXER", GST_TAG_INTERPRETED_BY,
      { "TPE4", NULL, "MixArtist", "REMIXED_BY", NULL } },
  { "ENGINEER", NULL, { NULL, NULL, "Engineer", "SOUND_ENGINEER", "IENG" } },
  { "TITLESORT", NULL, { "TSOT", "sonm", "TITLESORT", "TITLESORT", NULL } },
  { "ARTISTSORT", NULL, { "TSOP", "soar", "ARTISTSORT", "ARTISTSORT", NULL } },
  { "ALBUMSORT", NULL, { "TSOA", "soal", "ALBUMSORT", "ALBUMSORT", NULL } },
  { "ALBUMARTISTSORT", NULL,
      { "TSO2", "soaa", "ALBUMARTISTSORT", "ALBUMARTISTSORT", NULL } },
  { "COMPOSERSORT", GST_TAG_COMPOSER_SORTNAME,
      { "TSOC", "soco", "COMPOSERSORT", "COMPOSERSORT", NULL } },
};

static const Name *
find_name (const gchar *vorbis)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_ascii_strcasecmp (names[i].vorbis, vorbis) == 0)
      return &names[i];
  }
  return NULL;
}

const gchar *
gst_tfx_tags_find_vorbis (GstTfxTagsForm form, const gchar *id)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *own = names[i].forms[form];

    if (own && g_ascii_strcasecmp (own, id) == 0)
      return names[i].vorbis;
  }
  return NULL;
}

/* ---- what is there ------------------------------------------------------------------ */

void
gst_tfx_tags_merge (GstTagList *tags, GstEvent *event)
{
  const gchar *title;
  GstTagList *list;

  gst_event_parse_tag (event, &list);
  for (gint i = 0; i < gst_tag_list_n_tags (list); i++) {
    const gchar *tag = gst_tag_list_nth_tag_name (list, (guint)i);

    /* A demuxer and the parser behind it both have the same ones.  (matroskamux calls its
     * track so.) */
    if ((gst_tag_list_get_tag_size (tags, tag) > 0 &&
            strcmp (tag, GST_TAG_EXTENDED_COMMENT) != 0) ||
        (strcmp (tag, GST_TAG_TITLE) == 0 &&
            gst_tag_list_peek_string_index (list, tag, 0, &title) &&
            strcmp (title, "Audio") == 0 &&
            gst_tag_list_get_scope (list) == GST_TAG_SCOPE_STREAM))
      continue;
    for (guint k = 0; k < gst_tag_list_get_tag_size (list, tag); k++)
      gst_tag_list_add_value (tags, GST_TAG_MERGE_APPEND, tag,
          gst_tag_list_get_value_index (list, tag, k));
  }
}

/* Whether a comment, NAME=TEXT, tells what is true of the old sound alone. */
static gboolean
is_stale (const gchar *comment, gboolean is_changed)
{
  static const gchar *const always[] = { "iTunSMPB", "ENCODER",
    "ENCODED_BY_TOOL", "WAVEFORMATEXTENSIBLE_CHANNEL_MASK", "MAJOR_BRAND",
    "MINOR_VERSION", "COMPATIBLE_BRANDS", "BPS", "DURATION", "NUMBER_OF_FRAMES",
    "NUMBER_OF_BYTES" };
  static const gchar *const levels[] = { "REPLAYGAIN_", "R128_", "iTunNORM",
    "MP3GAIN_" };
  gboolean is_one = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS (always); i++) {
    const gsize n = strlen (always[i]);

    is_one |= g_ascii_strncasecmp (comment, always[i], n) == 0 &&
              (comment[n] == '=' || comment[n] == '[');
  }
  for (gsize i = 0; is_changed && i < G_N_ELEMENTS (levels); i++)
    is_one |= g_ascii_strncasecmp (comment, levels[i], strlen (levels[i])) == 0;
  return is_one;
}

/* A date without a time, as years that demuxers take for its first day. */
static void
convert_date (GstTagList *tags)
{
  GstDateTime *time;
  GDate *date = NULL;

  if (gst_tag_list_get_tag_size (tags, GST_TAG_DATE_TIME) == 0 &&
      gst_tag_list_get_date (tags, GST_TAG_DATE, &date)) {
    const gboolean is_year =
        g_date_get_day (date) == 1 && g_date_get_month (date) == 1;

    time = is_year ? gst_date_time_new_y (g_date_get_year (date))
                   : gst_date_time_new_ymd (g_date_get_year (date),
                         (gint)g_date_get_month (date), g_date_get_day (date));
    gst_tag_list_add (tags, GST_TAG_MERGE_REPLACE, GST_TAG_DATE_TIME, time,
        NULL);
    gst_date_time_unref (time);
    g_date_free (date);
  }
  gst_tag_list_remove_tag (tags, GST_TAG_DATE);
}

/* All as NAME=TEXT, in an array to be freed. */
static GPtrArray *
list_comments (const GstTagList *tags)
{
  static const struct
  {
    const gchar *tag, *format;
  } numbers[] = { { GST_TAG_TRACK_GAIN, "REPLAYGAIN_TRACK_GAIN=%.2f dB" },
    { GST_TAG_TRACK_PEAK, "REPLAYGAIN_TRACK_PEAK=%.6f" },
    { GST_TAG_ALBUM_GAIN, "REPLAYGAIN_ALBUM_GAIN=%.2f dB" },
    { GST_TAG_ALBUM_PEAK, "REPLAYGAIN_ALBUM_PEAK=%.6f" },
    { GST_TAG_BEATS_PER_MINUTE, "BPM=%g" } };
  GPtrArray *all = g_ptr_array_new_with_free_func (g_free);
  gdouble number;

  /* As players write them: GStreamer has no unit. */
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++) {
    if (gst_tag_list_get_double (tags, numbers[i].tag, &number))
      g_ptr_array_add (all, g_strdup_printf (numbers[i].format, number));
  }
  for (gint i = 0; i < gst_tag_list_n_tags (tags); i++) {
    const gchar *tag = gst_tag_list_nth_tag_name (tags, (guint)i), *text;
    const Name *own = NULL;
    GList *comments;

    if (gst_tag_get_type (tag) == GST_TYPE_SAMPLE ||
        gst_tag_get_type (tag) == G_TYPE_DOUBLE)
      continue;
    comments = gst_tag_to_vorbis_comments (tags, tag);
    for (GList *at = comments; at; at = at->next)
      g_ptr_array_add (all, at->data);
    for (gsize k = 0; !comments && k < G_N_ELEMENTS (names); k++) {
      if (g_strcmp0 (names[k].tag, tag) == 0)
        own = &names[k];
    }
    for (guint k = 0;
         own && gst_tag_list_peek_string_index (tags, tag, k, &text); k++)
      g_ptr_array_add (all, g_strdup_printf ("%s=%s", own->vorbis, text));
    g_list_free (comments);
  }
  return all;
}

/* The texts in frames of ID3 that GStreamer does not know go to `comments`. */
static void
take_frames (GstTagList *tags, GPtrArray *comments)
{
  GstTagList *left = gst_tag_list_new_empty ();

  for (guint i = 0; i < gst_tag_list_get_tag_size (tags, ID3_FRAME); i++) {
    const GValue *value = gst_tag_list_get_value_index (tags, ID3_FRAME, i);
    GstBuffer *buffer = gst_sample_get_buffer (gst_value_get_sample (value));
    GstMapInfo map;

    if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_READ))
      continue;
    if (!gst_tfx_tagreader_read_frame (map.data, map.size, comments))
      gst_tag_list_add_value (left, GST_TAG_MERGE_APPEND, ID3_FRAME, value);
    gst_buffer_unmap (buffer, &map);
  }
  gst_tag_list_remove_tag (tags, ID3_FRAME);
  gst_tag_list_insert (tags, left, GST_TAG_MERGE_APPEND);
  gst_tag_list_unref (left);
}

/* Whether comments have one of the same name, or (is_whole) the same one. */
static gboolean
has_comment (const GPtrArray *comments, const gchar *comment, gboolean is_whole)
{
  const gsize n = is_whole ? strlen (comment) + 1 : strcspn (comment, "=") + 1;

  for (guint i = 0; i < comments->len; i++) {
    if (g_ascii_strncasecmp (comments->pdata[i], comment, n) == 0)
      return TRUE;
  }
  return FALSE;
}

void
gst_tfx_tags_clean (GstTagList *tags, const gchar *path, gboolean is_changed)
{
  static const gchar *const always[] = { GST_TAG_ENCODER,
    GST_TAG_ENCODER_VERSION, GST_TAG_APPLICATION_NAME, GST_TAG_CODEC,
    GST_TAG_AUDIO_CODEC, GST_TAG_VIDEO_CODEC, GST_TAG_SUBTITLE_CODEC,
    GST_TAG_CONTAINER_FORMAT, GST_TAG_BITRATE, GST_TAG_NOMINAL_BITRATE,
    GST_TAG_MAXIMUM_BITRATE, GST_TAG_MINIMUM_BITRATE, GST_TAG_SERIAL,
    GST_TAG_DURATION };
  GPtrArray *own = g_ptr_array_new_with_free_func (g_free), *all;
  GstTagList *list = gst_tag_list_new_empty ();
  const gchar *container, *language;
  gboolean is_all;

  /* A Matroska file says when it was written, which is no date of the recording, and is in
   * English unless it says another language. */
  if (gst_tag_list_peek_string_index (tags, GST_TAG_CONTAINER_FORMAT, 0,
          &container) &&
      (strcmp (container, "Matroska") == 0 ||
          strcmp (container, "WebM") == 0)) {
    gst_tag_list_remove_tag (tags, GST_TAG_DATE_TIME);
    if (gst_tag_list_peek_string_index (tags, GST_TAG_LANGUAGE_CODE, 0,
            &language) &&
        g_str_has_prefix (language, "en"))
      gst_tag_list_remove_tag (tags, GST_TAG_LANGUAGE_CODE);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (always); i++)
    gst_tag_list_remove_tag (tags, always[i]);
  convert_date (tags);
  is_all = path && gst_tfx_tagreader_read (path, own, tags);
  take_frames (tags, own);
  all = list_comments (tags);
  /* (A Matroska file has its title elsewhere, too.) */
  for (guint i = 0; i < all->len; i++) {
    if ((!is_all || g_str_has_prefix (all->pdata[i], "TITLE=")) &&
        !has_comment (own, all->pdata[i], FALSE))
      gst_tag_list_add (list, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
          all->pdata[i], NULL);
  }
  for (guint i = 0; i < own->len; i++)
    gst_tag_list_add (list, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
        own->pdata[i], NULL);
  g_ptr_array_set_size (all, 0);
  for (guint i = 0;
       i < gst_tag_list_get_tag_size (list, GST_TAG_EXTENDED_COMMENT); i++) {
    const gchar *comment;

    /* (Demuxers post the same ones several times.) */
    gst_tag_list_peek_string_index (list, GST_TAG_EXTENDED_COMMENT, i,
        &comment);
    if (!is_stale (comment, is_changed) && !has_comment (all, comment, TRUE))
      g_ptr_array_add (all, g_strdup (comment));
  }
  for (gint i = gst_tag_list_n_tags (tags) - 1; i >= 0; i--) {
    const gchar *tag = gst_tag_list_nth_tag_name (tags, (guint)i);

    if (strcmp (tag, GST_TAG_IMAGE) != 0 && strcmp (tag, ID3_FRAME) != 0)
      gst_tag_list_remove_tag (tags, tag);
  }
  for (guint i = 0; i < all->len; i++)
    gst_tag_list_add (tags, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
        all->pdata[i], NULL);
  gst_tag_list_unref (list);
  g_ptr_array_unref (own);
  g_ptr_array_unref (all);
}

void
gst_tfx_tags_set (const GstTagList *tags, GstTagSetter *encoder,
    gboolean is_ogg)
{
  GstTagList *own = gst_tag_list_copy (tags);
  GList *pictures = NULL;

  /* (No one looks for a picture of a FLAC in an Ogg elsewhere.) */
  if (is_ogg && gst_tag_list_get_tag_size (own, GST_TAG_IMAGE) > 0) {
    pictures = gst_tag_to_vorbis_comments (own, GST_TAG_IMAGE);
    for (GList *at = pictures; at; at = at->next)
      gst_tag_list_add (own, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
          at->data, NULL);
    g_list_free_full (pictures, g_free);
    gst_tag_list_remove_tag (own, GST_TAG_IMAGE);
  }

  gst_tag_list_remove_tag (own, ID3_FRAME);
  gst_tag_setter_merge_tags (encoder, own, GST_TAG_MERGE_REPLACE_ALL);
  gst_tag_list_unref (own);
}

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

  if (!id)
    put_text (content, name);
  else if (*id != 'T')
    put_text (content, "XXX");
  put (content, texts);
  put_id3 (out, id ? id : "TXXX", content);
  g_string_free (content, TRUE);
}

static void
put_box (GString *out, const gchar *letters, const GString *content)
{
  put_be (out, content->len + 8, 4);
  g_string_append_len (out, letters, 4);
  put (out, content);
}

/* The type of what is in it: 1, UTF-8; 13, a JPEG; 14, a PNG; 21, a number; 0, others. */
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
  const gchar *mime;
  guint type; /* of ID3 */
} Picture;

/* The one of that number; FALSE: there is none. */
static gboolean
open_picture (const GstTagList *tags, guint i, Picture *picture)
{
  const GValue *value = gst_tag_list_get_value_index (tags, GST_TAG_IMAGE, i);
  GstSample *sample = value ? gst_value_get_sample (value) : NULL;
  GstCaps *caps = sample ? gst_sample_get_caps (sample) : NULL;
  const GstStructure *info = sample ? gst_sample_get_info (sample) : NULL;
  gint type = GST_TAG_IMAGE_TYPE_FRONT_COVER;

  picture->buffer = sample ? gst_sample_get_buffer (sample) : NULL;
  if (!picture->buffer ||
      !gst_buffer_map (picture->buffer, &picture->map, GST_MAP_READ))
    return FALSE;
  picture->mime =
      caps && gst_caps_get_size (caps) > 0
          ? gst_structure_get_name (gst_caps_get_structure (caps, 0))
          : "image/jpeg";
  if (info)
    gst_structure_get_enum (info, "image-type", GST_TYPE_TAG_IMAGE_TYPE, &type);
  picture->type = type > 0 ? (guint)type + 2 : 0;
  return TRUE;
}

static void
write_picture (GString *out, GstTfxTagsForm form, const Picture *picture)
{
  const gboolean is_png = strcmp (picture->mime, "image/png") == 0;
  const gchar *bytes = (const gchar *)picture->map.data;
  GString *content = g_string_new (NULL);

  if (form == GST_TFX_TAGS_ID3) {
    g_string_append_c (content, '\0');
    put_text (content, picture->mime);
    g_string_append_c (content, (gchar)picture->type);
    g_string_append_c (content, '\0');
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
gst_tfx_tags_write_attachments (const GstTagList *tags)
{
  GString *files = g_string_new (NULL), *out = g_string_new (NULL);
  Picture picture;

  for (guint i = 0; open_picture (tags, i, &picture); i++) {
    const gboolean is_png = strcmp (picture.mime, "image/png") == 0;
    GString *file = g_string_new (NULL);
    const gchar uid = (gchar)(i + 1);
    gchar *name = i ? g_strdup_printf ("cover%u", i) : g_strdup ("cover");
    gchar *full = g_strconcat (name, is_png ? ".png" : ".jpg", NULL);

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

/* Frames of ID3 that GStreamer does not know, such as chapters, unless they tell of the
 * old sound. */
static void
copy_frames (GString *out, const GstTagList *tags)
{
  static const gchar stale[] =
      "TSSE TLEN TDLY TFLT RVA2 RVAD RGAD XRVA EQU2 EQUA SEEK ASPI TSIZ";

  for (guint i = 0; i < gst_tag_list_get_tag_size (tags, ID3_FRAME); i++) {
    GstSample *sample = gst_value_get_sample (
        gst_tag_list_get_value_index (tags, ID3_FRAME, i));
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
  const Name *name = find_name (vorbis);
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
gst_tfx_tags_write (const GstTagList *tags, GstTfxTagsForm form, GString *lost)
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
    gchar *name = g_ascii_strup (comment, strcspn (comment, "="));
    GString *texts;

    if (!g_hash_table_add (seen, name))
      continue;
    texts = collect (tags, name, form);
    n_items += write_texts (content, form, name, texts, lost);
    g_string_free (texts, TRUE);
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
