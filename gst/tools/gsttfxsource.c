/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsource.c: how a sound file is read.
 */
#include "gsttfxsource.h"

#include <stdio.h>
#include <string.h>

#include <gst/audio/audio.h>

#include "gsttfxbytes.h"
#include "gsttfxcodec.h"
#include "gsttfxcut.h"
#include "gsttfxrange.h"
#include "gsttfxtool.h"

static gboolean
is_aiff (const gchar *path)
{
  goffset size;
  FILE *file = gst_tfx_bytes_open (path, &size, NULL);
  gchar head[GST_TFX_BYTES_FIRST_CHUNK];
  gboolean is_one;

  if (!file)
    return FALSE;
  is_one =
      gst_tfx_bytes_read_at (file, 0, head, sizeof head) &&
      memcmp (head, "FORM", 4) == 0 &&
      (memcmp (head + 8, "AIFF", 4) == 0 || memcmp (head + 8, "AIFC", 4) == 0);
  fclose (file);
  return is_one;
}

GstElement *
gst_tfx_source_new_parser (const gchar *path)
{
  gboolean is_long = FALSE;
  GstElement *parser = NULL;

  if (is_aiff (path))
    parser = gst_element_factory_make ("aiffparse", NULL);
  else if (gst_tfx_cut_find_end (path, &is_long) >= 0 && is_long)
    parser = gst_element_factory_make ("wavparse", NULL);
  /* wavparse (GStreamer 1.22) cuts a chunk at 2 GiB and reads the rest as the next
   * chunks: here the chunk ends with the file. */
  if (parser && is_long)
    g_object_set (parser, "ignore-length", TRUE, NULL);
  return parser;
}

GstElement *
gst_tfx_source_new (const gchar *path)
{
  gboolean is_long;
  const goffset end = gst_tfx_cut_find_end (path, &is_long);
  GstElement *filesrc;

  /* wavparse (GStreamer 1.22) looks behind the byte that fills an odd chunk up, and takes
   * the end of the file for that of the sound; that of an RF64 goes to the end of the
   * file for it. */
  if (end >= 0)
    return gst_tfx_range_new (path, 0, end);
  filesrc = gst_element_factory_make ("filesrc", NULL);
  if (filesrc)
    g_object_set (filesrc, "location", path, NULL);
  return filesrc;
}

/* ---- folders ------------------------------------------------------------------------ */

static gboolean
has_sound_extension (const gchar *name)
{
  static const gchar *const extensions[] = { "3gp", "aac", "ac3", "aif", "aifc",
    "aiff", "amr", "ape", "asf", "au", "avi", "bwf", "caf", "dts", "eac3",
    "flac", "m2ts", "m4a", "m4b", "m4v", "mka", "mkv", "mov", "mp2", "mp3",
    "mp4", "mpc", "mpeg", "mpg", "mts", "oga", "ogg", "ogv", "opus", "rf64",
    "sds", "snd", "spx", "ts", "tta", "vob", "w64", "wav", "wave", "webm",
    "wma", "wmv", "wv", NULL };
  gchar *extension = gst_tfx_codec_get_extension (name);
  const gboolean has = g_strv_contains (extensions, extension);

  g_free (extension);
  return has;
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

/* In order, to be freed; NULL after a message. */
static GPtrArray *
read_names (const gchar *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GError *error = NULL;
  GDir *dir = g_dir_open (folder, 0, &error);
  const gchar *name;

  if (!dir) {
    gst_tfx_tool_error ("%s", error->message);
    g_error_free (error);
    g_ptr_array_unref (names);
    return NULL;
  }
  while ((name = g_dir_read_name (dir))) {
    if (*name != '.')
      g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  }
  g_dir_close (dir);
  g_ptr_array_sort (names, compare_names);
  return names;
}

gboolean
gst_tfx_source_list_folder (const gchar *folder, const gchar *except,
    GPtrArray *files, guint *n_others)
{
  GPtrArray *names = read_names (folder);
  gboolean is_read = names != NULL;

  for (guint i = 0; is_read && i < names->len; i++) {
    const gchar *path = g_ptr_array_index (names, i);

    if (g_file_test (path, G_FILE_TEST_IS_DIR)) {
      if (!g_file_test (path, G_FILE_TEST_IS_SYMLINK) &&
          !(except && gst_tfx_tool_is_same_file (path, except)))
        is_read = gst_tfx_source_list_folder (path, except, files, n_others);
    } else if (has_sound_extension (path)) {
      g_ptr_array_add (files, g_strdup (path));
    } else {
      *n_others += 1;
    }
  }
  g_clear_pointer (&names, g_ptr_array_unref);
  return is_read;
}

/* ---- caps --------------------------------------------------------------------------- */

static guint
count_bits (guint64 mask)
{
  guint n = 0;

  for (; mask; mask &= mask - 1)
    n++;
  return n;
}

/* wavparse (GStreamer 1.22) has no mask for 3, 5, 7 or more channels of a file that has
 * none, and the file's own one though it may be of another number of channels: no
 * element takes the one, and the other one loses channels. */
GstCaps *
gst_tfx_source_complete_caps (GstCaps *caps)
{
  GstStructure *structure;
  guint64 mask = 0;
  gint n_channels;
  gboolean has_mask;

  if (!gst_caps_is_fixed (caps))
    return caps;
  structure = gst_caps_get_structure (caps, 0);
  has_mask = gst_structure_get (structure, "channel-mask", GST_TYPE_BITMASK,
      &mask, NULL);
  if (!gst_structure_has_name (structure, "audio/x-raw") ||
      !gst_structure_get_int (structure, "channels", &n_channels) ||
      (has_mask ? mask == 0 || count_bits (mask) == (guint)n_channels
                : n_channels <= 2))
    return caps;
  caps = gst_caps_make_writable (caps);
  structure = gst_caps_get_structure (caps, 0);
  if (n_channels == 1)
    gst_structure_remove_field (structure, "channel-mask");
  else
    gst_structure_set (structure, "channel-mask", GST_TYPE_BITMASK,
        n_channels == 2 ? gst_audio_channel_get_fallback_mask (2) : 0, NULL);
  return caps;
}

/* (At the end an encoder would write what it has: nothing.) */
static GstPadProbeReturn
refuse (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  if (!(info->type & GST_PAD_PROBE_TYPE_BUFFER))
    return GST_EVENT_TYPE (info->data) == GST_EVENT_EOS ? GST_PAD_PROBE_DROP
                                                        : GST_PAD_PROBE_OK;
  gst_clear_buffer ((GstBuffer **)&info->data);
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_NOT_NEGOTIATED;
  return GST_PAD_PROBE_HANDLED;
}

static GstPadProbeReturn
complete (GstPad *pad, GstPadProbeInfo *info, gpointer convert)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  gint n_channels;
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);
  if (gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels",
          &n_channels) &&
      n_channels > GST_TFX_SOURCE_MOST_CHANNELS) {
    GST_ELEMENT_ERROR (convert, STREAM, FORMAT,
        ("there are %d channels, but GStreamer converts no more than %d",
            n_channels, GST_TFX_SOURCE_MOST_CHANNELS),
        (NULL));
    gst_pad_add_probe (pad,
        GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER, refuse,
        NULL, NULL);
    return GST_PAD_PROBE_DROP;
  }
  caps = gst_tfx_source_complete_caps (gst_caps_ref (caps));
  info->data = gst_event_new_caps (caps);
  gst_caps_unref (caps);
  gst_event_unref (event);
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_source_complete (GstElement *convert)
{
  GstPad *pad = gst_element_get_static_pad (convert, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, complete,
      convert, NULL);
  gst_object_unref (pad);
}
