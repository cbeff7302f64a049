/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtags.c: the tags that go from a sound file into the next one.
 *
 * All go by their names in Vorbis comments.
 */
#include "gsttfxtags.h"

#include <math.h>
#include <string.h>

#include <gst/tag/tag.h>

#include "gsttfxtagname.h"
#include "gsttfxtagreader.h"
#include "gsttfxtagwriter.h"

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

/* Whether a comment, NAME=TEXT, describes only the old sound, such as its gain. */
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
    const gchar *own = gst_tfx_tagname_find_tag (tag);
    GList *comments;

    if (gst_tag_get_type (tag) == GST_TYPE_SAMPLE ||
        gst_tag_get_type (tag) == G_TYPE_DOUBLE)
      continue;
    comments = gst_tag_to_vorbis_comments (tags, tag);
    for (GList *at = comments; at; at = at->next)
      g_ptr_array_add (all, at->data);
    for (guint k = 0; own && !comments &&
                      gst_tag_list_peek_string_index (tags, tag, k, &text);
         k++)
      g_ptr_array_add (all, g_strdup_printf ("%s=%s", own, text));
    g_list_free (comments);
  }
  return all;
}

/* The texts in frames of ID3 that GStreamer does not know go to `comments`. */
static void
take_frames (GstTagList *tags, GPtrArray *comments)
{
  GstTagList *left = gst_tag_list_new_empty ();

  for (guint i = 0;
       i < gst_tag_list_get_tag_size (tags, GST_TFX_TAGS_ID3_FRAME); i++) {
    const GValue *value =
        gst_tag_list_get_value_index (tags, GST_TFX_TAGS_ID3_FRAME, i);
    GstBuffer *buffer = gst_sample_get_buffer (gst_value_get_sample (value));
    GstMapInfo map;

    if (!buffer || !gst_buffer_map (buffer, &map, GST_MAP_READ))
      continue;
    if (!gst_tfx_tagreader_read_frame (map.data, map.size, comments))
      gst_tag_list_add_value (left, GST_TAG_MERGE_APPEND,
          GST_TFX_TAGS_ID3_FRAME, value);
    gst_buffer_unmap (buffer, &map);
  }
  gst_tag_list_remove_tag (tags, GST_TFX_TAGS_ID3_FRAME);
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

    if (strcmp (tag, GST_TAG_IMAGE) != 0 &&
        strcmp (tag, GST_TFX_TAGS_ID3_FRAME) != 0)
      gst_tag_list_remove_tag (tags, tag);
  }
  for (guint i = 0; i < all->len; i++)
    gst_tag_list_add (tags, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
        all->pdata[i], NULL);
  gst_tag_list_unref (list);
  g_ptr_array_unref (own);
  g_ptr_array_unref (all);
}

#define REPLAYGAIN_LUFS -18.0
#define R128_LUFS -23.0

void
gst_tfx_tags_add_gains (GstTagList *tags, const GstTfxReplayGain *gains,
    gboolean is_opus)
{
  const struct
  {
    const gchar *name;
    gboolean is_there;
    gdouble lufs, peak_db;
  } all[] = { { "TRACK", gains->has_track, gains->track_lufs,
                  gains->track_peak_db },
    { "ALBUM", gains->has_album, gains->album_lufs, gains->album_peak_db } };
  gchar gain[G_ASCII_DTOSTR_BUF_SIZE], peak[G_ASCII_DTOSTR_BUF_SIZE];

  for (gsize i = 0; i < G_N_ELEMENTS (all); i++) {
    const gdouble steps = rint (256.0 * (R128_LUFS - all[i].lufs));
    gchar *comments[] = { NULL, NULL };

    if (!all[i].is_there)
      continue;
    g_ascii_formatd (gain, sizeof gain, "%.2f", REPLAYGAIN_LUFS - all[i].lufs);
    g_ascii_formatd (peak, sizeof peak, "%.6f",
        pow (10.0, all[i].peak_db / 20.0));
    if (is_opus) {
      comments[0] = g_strdup_printf ("R128_%s_GAIN=%d", all[i].name,
          (gint)CLAMP (steps, G_MININT16, G_MAXINT16));
    } else {
      comments[0] =
          g_strdup_printf ("REPLAYGAIN_%s_GAIN=%s dB", all[i].name, gain);
      comments[1] =
          g_strdup_printf ("REPLAYGAIN_%s_PEAK=%s", all[i].name, peak);
    }
    for (gsize k = 0; k < G_N_ELEMENTS (comments) && comments[k]; k++) {
      gst_tag_list_add (tags, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
          comments[k], NULL);
      g_free (comments[k]);
    }
  }
}

/* flacenc writes neither a description nor a depth.  Its block has the right length with the
 * description in the name of the type. */
static GstSample *
reserve_picture (GstSample *sample, gsize n_block)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  gchar *name =
      g_strnfill (MAX (n_block - 32 - gst_buffer_get_size (buffer), 1), 'x');
  GstCaps *caps = gst_caps_new_empty_simple (name);
  GstSample *reserved = gst_sample_new (buffer, caps, NULL, NULL);

  gst_caps_unref (caps);
  g_free (name);
  return reserved;
}

void
gst_tfx_tags_set (const GstTagList *tags, GstTagSetter *encoder,
    gboolean is_ogg)
{
  GstTagList *own = gst_tag_list_copy (tags);

  gst_tag_list_remove_tag (own, GST_TAG_IMAGE);
  for (guint i = 0; i < gst_tag_list_get_tag_size (tags, GST_TAG_IMAGE); i++) {
    GString *block = gst_tfx_tagwriter_write_picture (tags, i);

    if (block->len > 0 && is_ogg) {
      /* (Players look for pictures of a FLAC in Ogg here alone.) */
      gchar *base64 = g_base64_encode ((const guchar *)block->str, block->len);
      gchar *comment = g_strconcat ("METADATA_BLOCK_PICTURE=", base64, NULL);

      gst_tag_list_add (own, GST_TAG_MERGE_APPEND, GST_TAG_EXTENDED_COMMENT,
          comment, NULL);
      g_free (comment);
      g_free (base64);
    } else if (block->len > 0) {
      GstSample *reserved =
          reserve_picture (gst_value_get_sample (
                               gst_tag_list_get_value_index (tags,
                                   GST_TAG_IMAGE, i)),
              block->len);

      gst_tag_list_add (own, GST_TAG_MERGE_APPEND, GST_TAG_IMAGE, reserved,
          NULL);
      gst_sample_unref (reserved);
    }
    g_string_free (block, TRUE);
  }
  gst_tag_list_remove_tag (own, GST_TFX_TAGS_ID3_FRAME);
  gst_tag_setter_merge_tags (encoder, own, GST_TAG_MERGE_REPLACE_ALL);
  gst_tag_list_unref (own);
}
