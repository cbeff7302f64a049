/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcodec.c: encoders and containers by the extension of a file's name.
 */
#include "gsttfxcodec.h"

#include <string.h>

#include <gst/audio/audio.h>

#include "gsttfxsource.h"

#define MAX_ELEMENTS 2

typedef struct Codec
{
  const gchar *extension;
  const gchar *elements[MAX_ELEMENTS + 1]; /* up to a NULL */
  const gchar *package;                    /* of Debian */
  gint max_channels;   /* if fewer than the encoder says; or 0 */
  gboolean mixes_down; /* what has more channels becomes stereo */
  /* Its encoder has places for left and right alone, though it does not say so,
   * and takes no channels without any. */
  gboolean needs_places;
  gint
      most_in_order; /* more channels are not where others look for them; or 0 */
} Codec;

/* (flacenc of GStreamer 1.22 has the places of RFC 9639 for up to six channels.) */
#define FLAC_IN_ORDER 6

#define GOOD "gstreamer1.0-plugins-good"
#define BASE "gstreamer1.0-plugins-base"

static const Codec codecs[] = {
  { "wav", { "wavenc" }, GOOD },
  { "flac", { "flacenc" }, GOOD, .most_in_order = FLAC_IN_ORDER },
  { "ogg", { "vorbisenc", "oggmux" }, BASE },
  { "oga", { "vorbisenc", "oggmux" }, BASE },
  { "opus", { "opusenc", "oggmux" }, BASE },
  { "mp3", { "lamemp3enc", "id3v2mux" }, GOOD, .mixes_down = TRUE },
  { "m4a", { "avenc_aac", "mp4mux" }, "gstreamer1.0-libav",
      .needs_places = TRUE },
  { "mka", { "flacenc", "matroskamux" }, GOOD, .most_in_order = FLAC_IN_ORDER },
  /* (wavpackenc of GStreamer 1.22 aborts the program at more, and writes noise of
   * others than left and right.) */
  { "wv", { "wavpackenc" }, GOOD, .max_channels = 2, .needs_places = TRUE },
};

static const Codec *
find (const gchar *extension)
{
  for (gsize i = 0; i < G_N_ELEMENTS (codecs); i++) {
    if (strcmp (codecs[i].extension, extension) == 0)
      return &codecs[i];
  }
  return NULL;
}

gboolean
gst_tfx_codec_is_known (const gchar *extension)
{
  return find (extension) != NULL;
}

gchar *
gst_tfx_codec_get_extension (const gchar *name)
{
  const gchar *slash = strrchr (name, '/'), *dot = strrchr (name, '.');

  /* A name that begins with the dot is hidden, and has none. */
  if (!dot || dot == name || (slash && dot <= slash + 1))
    return g_strdup ("");
  return g_ascii_strdown (dot + 1, -1);
}

static void
add_ghost (GstElement *bin, GstElement *element, const gchar *name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_element_add_pad (bin, gst_ghost_pad_new (name, pad));
  gst_object_unref (pad);
}

gchar *
gst_tfx_codec_list_extensions (void)
{
  GString *list = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (codecs); i++)
    g_string_append_printf (list, "%s.%s", i ? ", " : "", codecs[i].extension);
  return g_string_free (list, FALSE);
}

GstElement *
gst_tfx_codec_make (const gchar *extension, GError **error)
{
  const Codec *codec = find (extension);
  GstElement *bin, *elements[MAX_ELEMENTS];
  gsize n = 0;
  gchar *list;

  if (!codec) {
    list = gst_tfx_codec_list_extensions ();
    if (*extension)
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
          "cannot write .%s files; it can write %s", extension, list);
    else
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
          "the name of the output has no extension; it can be %s", list);
    g_free (list);
    return NULL;
  }
  bin = gst_bin_new (NULL);
  for (; codec->elements[n]; n++) {
    elements[n] = gst_element_factory_make (codec->elements[n], NULL);
    if (!elements[n]) {
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
          "writing .%s needs the GStreamer element %s (Debian package %s)",
          extension, codec->elements[n], codec->package);
      gst_object_unref (gst_object_ref_sink (bin));
      return NULL;
    }
    gst_bin_add (GST_BIN (bin), elements[n]);
    if (n > 0)
      gst_element_link (elements[n - 1], elements[n]);
  }
  add_ghost (bin, elements[0], "sink");
  add_ghost (bin, elements[n - 1], "src");
  return bin;
}

/* ---- formats of samples ------------------------------------------------------------- */

/* How much is lost of samples that become these: nothing while they are of the same
 * depth; then integers that are deeper, the least first; then floats, which no
 * player takes for a recording of so many bits; then what has most bits. */
static guint
rate_format (GstAudioFormat format, GstAudioFormat original)
{
  const GstAudioFormatInfo *a = gst_audio_format_get_info (format);
  const GstAudioFormatInfo *b = gst_audio_format_get_info (original);
  guint depth = (guint)GST_AUDIO_FORMAT_INFO_DEPTH (a);
  const guint wanted = (guint)GST_AUDIO_FORMAT_INFO_DEPTH (b);
  const gboolean is_float = GST_AUDIO_FORMAT_INFO_IS_FLOAT (a) != 0;
  const gboolean was_float = GST_AUDIO_FORMAT_INFO_IS_FLOAT (b) != 0;

  if (format == original)
    return 0;
  if (is_float == was_float && depth >= wanted)
    return 1 + depth - wanted;
  if (!is_float)
    return 300 - depth;
  /* Of the mantissa. */
  depth = depth > 32 ? 53 : 24;
  return depth >= wanted ? 100 + depth - wanted : 200 + wanted - depth;
}

/* The best one of those that an encoder takes, for samples of this format; NULL: it names
 * none. */
static const gchar *
choose_format (const GstCaps *taken, const gchar *original)
{
  const GstAudioFormat wanted = gst_audio_format_from_string (original);
  GstAudioFormat best = GST_AUDIO_FORMAT_UNKNOWN;

  for (guint i = 0; i < gst_caps_get_size (taken); i++) {
    const GValue *list =
        gst_structure_get_value (gst_caps_get_structure (taken, i), "format");
    const gboolean is_list = list && GST_VALUE_HOLDS_LIST (list);
    const guint n = is_list ? gst_value_list_get_size (list) : list != NULL;

    for (guint k = 0; k < n; k++) {
      const GValue *value = is_list ? gst_value_list_get_value (list, k) : list;
      const GstAudioFormat format =
          G_VALUE_HOLDS_STRING (value)
              ? gst_audio_format_from_string (g_value_get_string (value))
              : GST_AUDIO_FORMAT_UNKNOWN;

      if (format != GST_AUDIO_FORMAT_UNKNOWN &&
          (best == GST_AUDIO_FORMAT_UNKNOWN ||
              rate_format (format, wanted) < rate_format (best, wanted)))
        best = format;
    }
  }
  return best == GST_AUDIO_FORMAT_UNKNOWN ? NULL
                                          : gst_audio_format_to_string (best);
}

/* ---- channels ---------------------------------------------------------------------- */

static gboolean
takes_channels (const GstStructure *taken, gint n_channels)
{
  const GValue *range = gst_structure_get_value (taken, "channels");
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, n_channels);
  return !range || gst_value_intersect (NULL, range, &value);
}

static gint
count_most (const Codec *codec, const GstCaps *taken)
{
  gint n = 0, n_here;

  for (guint i = 0; i < gst_caps_get_size (taken); i++) {
    const GValue *range =
        gst_structure_get_value (gst_caps_get_structure (taken, i), "channels");

    if (range && G_VALUE_HOLDS_INT (range))
      n_here = g_value_get_int (range);
    else if (range && GST_VALUE_HOLDS_INT_RANGE (range))
      n_here = gst_value_get_int_range_max (range);
    else
      n_here = G_MAXINT;
    n = MAX (n, n_here);
  }
  if (codec->max_channels > 0)
    n = MIN (n, codec->max_channels);
  return MIN (n, GST_TFX_SOURCE_MOST_CHANNELS);
}

gboolean
gst_tfx_codec_is_in_order (const gchar *extension, gint n_channels)
{
  const Codec *codec = find (extension);

  return !codec || codec->most_in_order == 0 ||
         n_channels <= codec->most_in_order;
}

/* The mask that so many channels go in with: their own, else one that the encoder has for
 * as many, else none.  FALSE: it takes no such number. */
static gboolean
choose_mask (const Codec *codec, const GstCaps *taken, gint n_channels,
    guint64 *mask)
{
  const guint64 plain = gst_audio_channel_get_fallback_mask (n_channels);
  const guint64 wanted =
      codec->needs_places && (n_channels == 2 || *mask == 0) ? plain : *mask;
  gboolean is_found = FALSE;

  for (guint i = 0; i < gst_caps_get_size (taken); i++) {
    const GstStructure *here = gst_caps_get_structure (taken, i);
    guint64 mask_here = 0;

    if (!takes_channels (here, n_channels))
      continue;
    if (n_channels == 1 || !gst_structure_has_field (here, "channel-mask"))
      mask_here = wanted;
    else
      gst_structure_get (here, "channel-mask", GST_TYPE_BITMASK, &mask_here,
          NULL);
    if (mask_here == wanted) {
      *mask = wanted;
      return TRUE;
    }
    if (!is_found || *mask == 0)
      *mask = mask_here;
    is_found = TRUE;
  }
  return is_found;
}

GstCaps *
gst_tfx_codec_choose (const gchar *extension, GstElement *encoder,
    const gchar *format, gint n_channels, guint64 *mask, GError **error)
{
  const Codec *codec = find (extension);
  GstCaps *caps = gst_caps_new_empty_simple ("audio/x-raw");
  GstPad *sink = gst_element_get_static_pad (encoder, "sink");
  GstCaps *taken = gst_pad_query_caps (sink, NULL);
  const gchar *best = choose_format (taken, format);
  const gint n_most = count_most (codec, taken);
  guint64 mask_left = *mask;

  if (n_channels > n_most && codec->mixes_down && *mask != 0) {
    n_channels = n_most;
    mask_left = gst_audio_channel_get_fallback_mask (n_most);
  } else if (n_channels > n_most ||
             !choose_mask (codec, taken, n_channels, &mask_left)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "it would have %d channels, but a .%s takes no more than %d",
        n_channels, extension, n_most);
    gst_clear_caps (&caps);
  } else {
    *mask = mask_left;
  }
  if (caps)
    gst_caps_set_simple (caps, "channels", G_TYPE_INT, n_channels, NULL);
  if (caps && n_channels > 1)
    gst_caps_set_simple (caps, "channel-mask", GST_TYPE_BITMASK, mask_left,
        NULL);
  if (caps && best)
    gst_caps_set_simple (caps, "format", G_TYPE_STRING, best, NULL);
  gst_caps_unref (taken);
  gst_object_unref (sink);
  return caps;
}
