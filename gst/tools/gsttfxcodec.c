/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcodec.c: what can be written: endings, codecs and their encoders.
 */
#include "gsttfxcodec.h"

#include <string.h>

#include "gsttfxsource.h"

#define BASE "gstreamer1.0-plugins-base"
#define GOOD "gstreamer1.0-plugins-good"
#define LIBAV "gstreamer1.0-libav"

/* Each ending with its default first. */
static const GstTfxCodec codecs[] = {
  { "wav", "pcm", GST_TFX_CONTAINER_WAV, "wavenc", GOOD },
  { "flac", "flac", GST_TFX_CONTAINER_FLAC, "flacenc", GOOD },
  { "ogg", "vorbis", GST_TFX_CONTAINER_OGG, "vorbisenc ! oggmux", BASE, TRUE },
  { "ogg", "opus", GST_TFX_CONTAINER_OGG, "opusenc ! oggmux", BASE, TRUE },
  { "ogg", "flac", GST_TFX_CONTAINER_OGG, "flacenc ! oggmux", GOOD },
  { "oga", "vorbis", GST_TFX_CONTAINER_OGG, "vorbisenc ! oggmux", BASE, TRUE },
  { "oga", "opus", GST_TFX_CONTAINER_OGG, "opusenc ! oggmux", BASE, TRUE },
  { "oga", "flac", GST_TFX_CONTAINER_OGG, "flacenc ! oggmux", GOOD },
  { "opus", "opus", GST_TFX_CONTAINER_OGG, "opusenc ! oggmux", BASE, TRUE },
  { "mp3", "mp3", GST_TFX_CONTAINER_MP3, "lamemp3enc", GOOD, TRUE,
      .mixes_down = TRUE },
  { "m4a", "aac", GST_TFX_CONTAINER_MP4, "avenc_aac ! mp4mux name=mux", LIBAV,
      TRUE, .needs_places = TRUE, .delay = 1024 },
  /* (It takes 32 bits, and writes the upper 24 of them.) */
  { "m4a", "alac", GST_TFX_CONTAINER_MP4, "avenc_alac ! mp4mux name=mux", LIBAV,
      .needs_places = TRUE, .max_bits = 24 },
  { "mka", "flac", GST_TFX_CONTAINER_MATROSKA, "flacenc ! matroskamux", GOOD },
  /* (Any caps would become a video track.) */
  { "mka", "pcm", GST_TFX_CONTAINER_MATROSKA,
      "capsfilter caps=audio/x-raw ! matroskamux", GOOD },
  { "mka", "vorbis", GST_TFX_CONTAINER_MATROSKA, "vorbisenc ! matroskamux",
      GOOD, TRUE },
  { "mka", "opus", GST_TFX_CONTAINER_MATROSKA, "opusenc ! matroskamux", GOOD,
      TRUE },
  { "mka", "aac", GST_TFX_CONTAINER_MATROSKA, "avenc_aac ! matroskamux", LIBAV,
      TRUE, .needs_places = TRUE },
  { "mka", "mp3", GST_TFX_CONTAINER_MATROSKA, "lamemp3enc ! matroskamux", GOOD,
      TRUE, .mixes_down = TRUE },
  { "mkv", "flac", GST_TFX_CONTAINER_MATROSKA, "flacenc ! matroskamux name=mux",
      GOOD, .has_video = TRUE },
  { "mkv", "pcm", GST_TFX_CONTAINER_MATROSKA,
      "capsfilter caps=audio/x-raw ! matroskamux name=mux", GOOD,
      .has_video = TRUE },
  { "mkv", "vorbis", GST_TFX_CONTAINER_MATROSKA,
      "vorbisenc ! matroskamux name=mux", GOOD, TRUE, .has_video = TRUE },
  { "mkv", "opus", GST_TFX_CONTAINER_MATROSKA, "opusenc ! matroskamux name=mux",
      GOOD, TRUE, .has_video = TRUE },
  { "mp4", "aac", GST_TFX_CONTAINER_MP4, "avenc_aac ! mp4mux name=mux", LIBAV,
      TRUE, .needs_places = TRUE, .delay = 1024, .has_video = TRUE },
  { "mp4", "alac", GST_TFX_CONTAINER_MP4, "avenc_alac ! mp4mux name=mux", LIBAV,
      .needs_places = TRUE, .has_video = TRUE },
  { "m4v", "aac", GST_TFX_CONTAINER_MP4, "avenc_aac ! mp4mux name=mux", LIBAV,
      TRUE, .needs_places = TRUE, .delay = 1024, .has_video = TRUE },
  { "m4v", "alac", GST_TFX_CONTAINER_MP4, "avenc_alac ! mp4mux name=mux", LIBAV,
      .needs_places = TRUE, .has_video = TRUE },
  { "mov", "aac", GST_TFX_CONTAINER_MP4, "avenc_aac ! qtmux name=mux", LIBAV,
      TRUE, .needs_places = TRUE, .delay = 1024, .has_video = TRUE },
  { "mov", "alac", GST_TFX_CONTAINER_MP4, "avenc_alac ! qtmux name=mux", LIBAV,
      .needs_places = TRUE, .has_video = TRUE },
  { "mov", "pcm", GST_TFX_CONTAINER_MP4,
      "capsfilter caps=audio/x-raw ! qtmux name=mux", GOOD, .has_video = TRUE },
  /* (wavpackenc of GStreamer 1.22 aborts the program at more, and writes noise of
   * others than left and right.) */
  { "wv", "wavpack", GST_TFX_CONTAINER_WAVPACK, "wavpackenc", GOOD,
      .max_channels = 2, .needs_places = TRUE },
};

gboolean
gst_tfx_codec_is_known (const gchar *extension, gboolean with_video)
{
  for (gsize i = 0; i < G_N_ELEMENTS (codecs); i++) {
    if (strcmp (codecs[i].extension, extension) == 0 &&
        (with_video || !codecs[i].has_video))
      return TRUE;
  }
  return FALSE;
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

gchar *
gst_tfx_codec_list_extensions (gboolean with_video)
{
  GString *list = g_string_new (NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (codecs); i++) {
    if ((with_video || !codecs[i].has_video) &&
        (i == 0 || strcmp (codecs[i].extension, codecs[i - 1].extension) != 0))
      g_string_append_printf (list, "%s.%s", i ? ", " : "",
          codecs[i].extension);
  }
  return g_string_free (list, FALSE);
}

const GstTfxCodec *
gst_tfx_codec_find (const gchar *extension, const gchar *name,
    const gchar *input, gboolean must_keep, gboolean with_video, GError **error)
{
  const gchar *wanted = name ? name : input;
  const GstTfxCodec *usual = NULL;
  GString *names = g_string_new (NULL);
  gchar *list = gst_tfx_codec_list_extensions (with_video);

  for (gsize i = 0; i < G_N_ELEMENTS (codecs); i++) {
    if (strcmp (codecs[i].extension, extension) != 0 ||
        (codecs[i].has_video && !with_video))
      continue;
    if (!usual)
      usual = &codecs[i];
    g_string_append_printf (names, "%s%s", names->len ? ", " : "",
        codecs[i].name);
    if (wanted && strcmp (codecs[i].name, wanted) == 0) {
      usual = &codecs[i];
      name = NULL;
      must_keep = FALSE;
    }
  }
  if (!usual && gst_tfx_codec_is_known (extension, TRUE))
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "a .%s is written with --keep-video only; without it can be written %s",
        extension, list);
  else if (!usual && *extension)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "cannot write .%s files; it can write %s", extension, list);
  else if (!usual)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "the name of the output has no extension; it can be %s", list);
  else if (name)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "the codec '%s' cannot be written in a .%s; it can have %s", name,
        extension, names->str);
  else if (must_keep && usual->is_lossy)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "its codec cannot be kept: a .%s can be written with %s; select one by "
        "--codec or --extension",
        extension, names->str);
  else
    name = NULL;
  if (error && *error)
    usual = NULL;
  g_string_free (names, TRUE);
  g_free (list);
  return usual;
}

/* The element whose samples a pad gets, through the pads of bins; NULL: none. */
static GstElement *
get_upstream (GstPad *sink)
{
  GstPad *pad = gst_pad_get_peer (sink);
  GstElement *upstream;

  while (pad && GST_IS_GHOST_PAD (pad)) {
    GstPad *target = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));

    gst_object_unref (pad);
    pad = target;
  }
  upstream = pad ? gst_pad_get_parent_element (pad) : NULL;
  gst_clear_object (&pad);
  return upstream;
}

/* Returns the decoder or demuxer upstream that produces an element's samples, or NULL.
 * `caps` is that element's input, or NULL. */
static GstElement *
find_decoder (GstElement *element, GstCaps **caps)
{
  GstPad *sink;

  gst_object_ref (element);
  *caps = NULL;
  do {
    GstElement *upstream;

    gst_clear_caps (caps);
    sink = gst_element_get_static_pad (element, "sink");
    upstream = sink ? get_upstream (sink) : NULL;
    gst_clear_object (&sink);
    gst_object_unref (element);
    element = upstream;
    sink = element ? gst_element_get_static_pad (element, "sink") : NULL;
    *caps = sink ? gst_pad_get_current_caps (sink) : NULL;
    gst_clear_object (&sink);
  } while (*caps && gst_structure_has_name (gst_caps_get_structure (*caps, 0),
                        "audio/x-raw"));
  return element;
}

const gchar *
gst_tfx_codec_get_input (GstElement *convert)
{
  static const gchar *const names[][2] = { { "audio/x-flac", "flac" },
    { "audio/x-vorbis", "vorbis" }, { "audio/x-opus", "opus" },
    { "audio/x-alac", "alac" }, { "audio/x-wavpack", "wavpack" } };
  GstCaps *caps;
  GstElement *decoder = find_decoder (convert, &caps);
  const GstStructure *structure =
      caps ? gst_caps_get_structure (caps, 0) : NULL;
  const gchar *codec = NULL;
  gint version = 0;

  for (gsize i = 0; structure && i < G_N_ELEMENTS (names); i++) {
    if (gst_structure_has_name (structure, names[i][0]))
      codec = names[i][1];
  }
  if (structure && gst_structure_has_name (structure, "audio/mpeg") &&
      gst_structure_get_int (structure, "mpegversion", &version))
    codec = version == 1 ? "mp3" : "aac";
  /* (A demuxer that has the samples themselves.) */
  if (decoder && !codec &&
      !gst_element_factory_list_is_type (gst_element_get_factory (decoder),
          GST_ELEMENT_FACTORY_TYPE_DECODER))
    codec = "pcm";
  gst_clear_caps (&caps);
  gst_clear_object (&decoder);
  return codec;
}

GstElement *
gst_tfx_codec_make (const GstTfxCodec *codec, GError **error)
{
  GstParseContext *context = gst_parse_context_new ();
  GstElement *bin = gst_parse_bin_from_description_full (codec->elements, TRUE,
      context, GST_PARSE_FLAG_FATAL_ERRORS, error);
  gchar **missing = gst_parse_context_get_missing_elements (context);

  if (missing) {
    g_clear_error (error);
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
        "writing .%s needs the GStreamer element %s (Debian package %s)",
        codec->extension, missing[0], codec->package);
  }
  g_strfreev (missing);
  gst_parse_context_free (context);
  return bin;
}

gint
gst_tfx_codec_get_opus_bitrate (gint n_channels)
{
  static const gint n_coupled[] = { 0, 1, 1, 2, 2, 2, 3, 3 };
  const gint n_pairs = n_channels <= (gint)G_N_ELEMENTS (n_coupled)
                           ? n_coupled[n_channels - 1]
                           : 0;

  return MIN (64000 * (n_channels - n_pairs) + 32000 * n_pairs, 650000);
}

/* ---- formats of samples ------------------------------------------------------------- */

/* Ranks a format for samples of the original one; the lowest rank is best: the same
 * depth, deeper integers with the shallowest first, floats (players do not show their
 * number of bits), then the format with most bits. */
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

/* The best format for these samples that the encoder accepts; NULL if its caps list
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

static const struct
{
  const gchar *bits, *format;
} formats[] = { { "16", GST_AUDIO_NE (S16) }, { "24", GST_AUDIO_NE (S24) },
  { "32", GST_AUDIO_NE (S32) }, { "float", GST_AUDIO_NE (F32) } };

const gchar *
gst_tfx_codec_get_format (const gchar *bits)
{
  for (gsize i = 0; i < G_N_ELEMENTS (formats); i++) {
    if (strcmp (formats[i].bits, bits) == 0)
      return formats[i].format;
  }
  return NULL;
}

/* Whether a file has samples of this format, neither shorter nor longer. */
static gboolean
holds_format (const GstTfxCodec *codec, const GstCaps *taken,
    const gchar *format)
{
  const gchar *best = choose_format (taken, format);
  const GstAudioFormatInfo *a, *b;
  guint depth;

  if (!best)
    return FALSE;
  a = gst_audio_format_get_info (gst_audio_format_from_string (best));
  b = gst_audio_format_get_info (gst_audio_format_from_string (format));
  depth = (guint)GST_AUDIO_FORMAT_INFO_DEPTH (a);
  if (codec->max_bits > 0)
    depth = MIN (depth, codec->max_bits);
  return !GST_AUDIO_FORMAT_INFO_IS_FLOAT (a) ==
             !GST_AUDIO_FORMAT_INFO_IS_FLOAT (b) &&
         depth == (guint)GST_AUDIO_FORMAT_INFO_DEPTH (b);
}

/* "a, b or c" */
static gchar *
join_words (const GPtrArray *words)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < words->len; i++)
    g_string_append_printf (text, "%s%s",
        i == 0                ? ""
        : i + 1 == words->len ? " or "
                              : ", ",
        (const gchar *)words->pdata[i]);
  return g_string_free (text, FALSE);
}

static gint
compare_rates (gconstpointer a, gconstpointer b)
{
  const gint x = *(const gint *)a, y = *(const gint *)b;

  return (x > y) - (x < y);
}

/* The rates that an encoder takes, in words; NULL: it takes this one. */
static gchar *
list_other_rates (const GstCaps *taken, gint rate_hz)
{
  GArray *rates = g_array_new (FALSE, FALSE, sizeof (gint));
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  gboolean takes_it = gst_caps_get_size (taken) == 0;
  gchar *list = NULL;

  for (guint i = 0; i < gst_caps_get_size (taken); i++) {
    const GValue *value =
        gst_structure_get_value (gst_caps_get_structure (taken, i), "rate");
    const gboolean is_list = value && GST_VALUE_HOLDS_LIST (value);
    const guint n = is_list ? gst_value_list_get_size (value) : value != NULL;

    takes_it |= !value;
    for (guint k = 0; k < n; k++) {
      const GValue *item =
          is_list ? gst_value_list_get_value (value, k) : value;

      if (GST_VALUE_HOLDS_INT_RANGE (item)) {
        const gint least = gst_value_get_int_range_min (item);
        const gint most = gst_value_get_int_range_max (item);

        takes_it |= rate_hz >= least && rate_hz <= most;
        if (words->len == 0)
          g_ptr_array_add (words,
              g_strdup_printf ("from %d to %d", least, most));
      } else if (G_VALUE_HOLDS_INT (item)) {
        const gint rate = g_value_get_int (item);

        takes_it |= rate == rate_hz;
        g_array_append_val (rates, rate);
      }
    }
  }
  g_array_sort (rates, compare_rates);
  for (guint i = 0; i < rates->len; i++) {
    const gint rate = g_array_index (rates, gint, i);

    if (i == 0 || rate != g_array_index (rates, gint, i - 1))
      g_ptr_array_add (words, g_strdup_printf ("%d", rate));
  }
  if (!takes_it)
    list = join_words (words);
  g_ptr_array_unref (words);
  g_array_unref (rates);
  return list;
}

gboolean
gst_tfx_codec_check (const GstTfxCodec *codec, const gchar *bits, gint rate_hz,
    GError **error)
{
  GstElement *encoder;
  GstCaps *taken;
  GstPad *sink;
  gchar *list;

  if (bits && codec->is_lossy) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "bits is %s, but %s in a .%s is lossy, and has no number of bits", bits,
        codec->name, codec->extension);
    return FALSE;
  }
  if (!bits && rate_hz == 0)
    return TRUE;
  encoder = gst_tfx_codec_make (codec, error);
  if (!encoder)
    return FALSE;
  gst_object_ref_sink (encoder);
  sink = gst_element_get_static_pad (encoder, "sink");
  taken = gst_pad_query_caps (sink, NULL);
  if (bits && !holds_format (codec, taken, gst_tfx_codec_get_format (bits))) {
    GPtrArray *held = g_ptr_array_new ();

    for (gsize i = 0; i < G_N_ELEMENTS (formats); i++) {
      if (holds_format (codec, taken, formats[i].format))
        g_ptr_array_add (held, (gpointer)formats[i].bits);
    }
    list = join_words (held);
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "bits is %s, but %s in a .%s must have %s", bits, codec->name,
        codec->extension, list);
    g_ptr_array_unref (held);
    g_free (list);
  } else if (rate_hz > 0 && (list = list_other_rates (taken, rate_hz))) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "rate is %d Hz, but %s in a .%s must have %s Hz", rate_hz, codec->name,
        codec->extension, list);
    g_free (list);
  } else {
    bits = NULL;
    rate_hz = 0;
  }
  gst_caps_unref (taken);
  gst_object_unref (sink);
  gst_object_unref (encoder);
  return !bits && rate_hz == 0;
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
count_most (const GstTfxCodec *codec, const GstCaps *taken)
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

/* Chooses the channel mask for n_channels: their own, else the encoder's for that number,
 * else none.  FALSE if the encoder does not accept that number of channels. */
static gboolean
choose_mask (const GstTfxCodec *codec, const GstCaps *taken, gint n_channels,
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

/* The lowest rate that is not below this one, else the highest. */
static gint
choose_rate (const GstCaps *taken, gint rate_hz)
{
  gint best = 0;

  for (guint i = 0; i < gst_caps_get_size (taken); i++) {
    const GValue *value =
        gst_structure_get_value (gst_caps_get_structure (taken, i), "rate");
    const gboolean is_list = value && GST_VALUE_HOLDS_LIST (value);
    const guint n = is_list ? gst_value_list_get_size (value) : value != NULL;

    for (guint k = 0; k < n; k++) {
      const GValue *item =
          is_list ? gst_value_list_get_value (value, k) : value;
      gint rate = 0;

      if (GST_VALUE_HOLDS_INT_RANGE (item))
        rate = CLAMP (rate_hz, gst_value_get_int_range_min (item),
            gst_value_get_int_range_max (item));
      else if (G_VALUE_HOLDS_INT (item))
        rate = g_value_get_int (item);
      if (rate > 0 &&
          (best == 0 ||
              (best < rate_hz ? rate > best : rate >= rate_hz && rate < best)))
        best = rate;
    }
  }
  return best > 0 ? best : rate_hz;
}

GstCaps *
gst_tfx_codec_choose (const GstTfxCodec *codec, GstElement *encoder,
    const gchar *format, gint rate_hz, gint n_channels, guint64 *mask,
    GError **error)
{
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
        n_channels, codec->extension, n_most);
    gst_clear_caps (&caps);
  } else {
    *mask = mask_left;
  }
  if (caps)
    gst_caps_set_simple (caps, "channels", G_TYPE_INT, n_channels, "rate",
        G_TYPE_INT, choose_rate (taken, rate_hz), NULL);
  if (caps && n_channels > 1)
    gst_caps_set_simple (caps, "channel-mask", GST_TYPE_BITMASK, mask_left,
        NULL);
  if (caps && best)
    gst_caps_set_simple (caps, "format", G_TYPE_STRING, best, NULL);
  gst_caps_unref (taken);
  gst_object_unref (sink);
  return caps;
}

/* ---- the order of channels --------------------------------------------------------- */

#define PLACE(name) GST_AUDIO_CHANNEL_POSITION_MASK (name)
#define FRONT (PLACE (FRONT_LEFT) | PLACE (FRONT_RIGHT))
#define REAR (PLACE (REAR_LEFT) | PLACE (REAR_RIGHT))
#define SIDE (PLACE (SIDE_LEFT) | PLACE (SIDE_RIGHT))
/* Seven channels of a FLAC, by RFC 9639. */
#define FLAC_7                                                                 \
  (FRONT | PLACE (FRONT_CENTER) | PLACE (LFE1) | PLACE (REAR_CENTER) | SIDE)

/* Channels at the sides and behind are the same, where only one of both is there, and none
 * that comes between these in one order alone. */
gboolean
gst_tfx_codec_has_layout (const GstTfxCodec *codec, guint64 mask, guint64 label)
{
  if (strcmp (codec->name, "flac") == 0 && __builtin_popcountll (label) == 7)
    return mask == FLAC_7;
  return mask == label ||
         ((mask & PLACE (REAR_CENTER)) == 0 &&
             ((mask & SIDE) == SIDE) != ((label & SIDE) == SIDE) &&
             ((mask ^ label) & ~(REAR | SIDE)) == 0);
}

/* For each channel the one that takes its place. */
typedef struct Order
{
  gint n_channels;
  guint8 from[8];
} Order;

/* flacenc and flacdec of GStreamer 1.22 have a layout of their own for more than six. */
static const Order flac_orders[] = { { 7, { 0, 1, 4, 5, 2, 3, 6 } },
  { 8, { 0, 1, 4, 5, 2, 3, 6, 7 } } };
/* opusenc of GStreamer 1.22 looks for the channels of Vorbis's layouts elsewhere. */
static const Order opus_orders[] = { { 5, { 0, 1, 4, 2, 3 } },
  { 7, { 0, 1, 4, 3, 5, 2, 6 } }, { 8, { 0, 1, 6, 7, 2, 3, 4, 5 } } };

/* Whether flacenc orders seven channels in its own way, by its pad template. */
static gboolean
has_own_flac_order (void)
{
  GstElementFactory *factory = gst_element_factory_find ("flacenc");
  GstCaps *seven = gst_caps_new_simple ("audio/x-raw", "channels", G_TYPE_INT,
      7, "channel-mask", GST_TYPE_BITMASK, (guint64)FLAC_7, NULL);
  const gboolean is_own =
      factory && !gst_element_factory_can_sink_any_caps (factory, seven);

  gst_caps_unref (seven);
  gst_clear_object (&factory);
  return is_own;
}

/* Later versions write another table for eight channels, as libopus does. */
static gboolean
has_own_opus_order (void)
{
  static const guint64 mask =
      FRONT | PLACE (FRONT_CENTER) | PLACE (LFE1) | REAR | SIDE;
  GstElement *encoder =
      gst_object_ref_sink (gst_element_factory_make ("opusenc", NULL));
  GstPad *from = gst_pad_new ("src", GST_PAD_SRC);
  GstPad *sink = gst_element_get_static_pad (encoder, "sink");
  GstPad *src = gst_element_get_static_pad (encoder, "src");
  GstCaps *caps = gst_caps_new_simple ("audio/x-raw", "format", G_TYPE_STRING,
      GST_AUDIO_NE (S16), "layout", G_TYPE_STRING, "interleaved", "rate",
      G_TYPE_INT, 48000, "channels", G_TYPE_INT, 8, "channel-mask",
      GST_TYPE_BITMASK, mask, NULL);
  GstBuffer *buffer = gst_buffer_new_and_alloc (960 * 8 * 2);
  gboolean is_own = FALSE;
  const GValue *table;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_buffer_memset (buffer, 0, 0, 960 * 8 * 2);
  gst_pad_set_active (from, TRUE);
  gst_pad_link (from, sink);
  gst_element_set_state (encoder, GST_STATE_PLAYING);
  gst_pad_push_event (from, gst_event_new_stream_start ("order"));
  gst_pad_push_event (from, gst_event_new_caps (caps));
  gst_pad_push_event (from, gst_event_new_segment (&segment));
  gst_pad_push (from, buffer);
  gst_caps_unref (caps);
  caps = gst_pad_get_current_caps (src);
  table = caps ? gst_structure_get_value (gst_caps_get_structure (caps, 0),
                     "channel-mapping")
               : NULL;
  if (table && gst_value_array_get_size (table) == 8)
    is_own = g_value_get_int (gst_value_array_get_value (table, 3)) != 2;
  gst_element_set_state (encoder, GST_STATE_NULL);
  gst_clear_caps (&caps);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (from);
  gst_object_unref (encoder);
  return is_own;
}

static GstPadProbeReturn
reorder (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const Order *order = data;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo audio;
  GstMapInfo map;
  guint8 frame[8 * 8];

  if (!caps || !gst_audio_info_from_caps (&audio, caps) ||
      GST_AUDIO_INFO_CHANNELS (&audio) != order->n_channels) {
    gst_clear_caps (&caps);
    return GST_PAD_PROBE_OK;
  }
  gst_caps_unref (caps);
  info->data = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  if (!gst_buffer_map (info->data, &map, GST_MAP_READWRITE))
    return GST_PAD_PROBE_OK;
  for (gsize at = 0, n = (gsize)GST_AUDIO_INFO_BPF (&audio); at + n <= map.size;
       at += n) {
    const gsize width = n / (gsize)order->n_channels;

    memcpy (frame, map.data + at, n);
    for (gint c = 0; c < order->n_channels; c++)
      memcpy (map.data + at + (gsize)c * width, frame + order->from[c] * width,
          width);
  }
  gst_buffer_unmap (info->data, &map);
  return GST_PAD_PROBE_OK;
}

static void
add_order (GstElement *element, const Order *orders, gsize n_orders,
    gint n_channels)
{
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  for (gsize i = 0; i < n_orders; i++) {
    if (orders[i].n_channels == n_channels)
      gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, reorder,
          (gpointer)&orders[i], NULL);
  }
  gst_object_unref (pad);
}

/* avenc_alac shifts the lower eight of 32 bits out. */
static GstPadProbeReturn
round_samples (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const gint32 half = 1 << 7;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo audio;
  GstMapInfo map;
  gint32 *x;

  if (caps && gst_audio_info_from_caps (&audio, caps) &&
      GST_AUDIO_INFO_DEPTH (&audio) == 32) {
    info->data = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
    if (gst_buffer_map (info->data, &map, GST_MAP_READWRITE)) {
      x = (gint32 *)(gpointer)map.data;
      for (gsize i = 0; i < map.size / sizeof *x; i++)
        x[i] = MIN (x[i], G_MAXINT32 - half) + half;
      gst_buffer_unmap (info->data, &map);
    }
  }
  gst_clear_caps (&caps);
  return GST_PAD_PROBE_OK;
}

void
gst_tfx_codec_mend_samples (const GstTfxCodec *codec, GstElement *encoder,
    gint n_channels)
{
  GstPad *pad = gst_element_get_static_pad (encoder, "sink");

  if (strcmp (codec->name, "alac") == 0)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, round_samples, NULL,
        NULL);
  gst_object_unref (pad);
  if (strcmp (codec->name, "flac") == 0 && has_own_flac_order ())
    add_order (encoder, flac_orders, G_N_ELEMENTS (flac_orders), n_channels);
  if (strcmp (codec->name, "opus") == 0 && n_channels > 4 &&
      has_own_opus_order ())
    add_order (encoder, opus_orders, G_N_ELEMENTS (opus_orders), n_channels);
}

/* (Seven channels have other places in what comes from flacdec, too.) */
static GstPadProbeReturn
mend_caps (GstPad *pad, GstPadProbeInfo *info, gpointer convert)
{
  GstElement *decoder = NULL;
  GstCaps *caps, *taken = NULL;
  gint n_channels = 0;
  gboolean is_flac;

  if (GST_EVENT_TYPE (info->data) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (info->data, &caps);
  gst_structure_get_int (gst_caps_get_structure (caps, 0), "channels",
      &n_channels);
  if (n_channels > 6)
    decoder = find_decoder (convert, &taken);
  is_flac = decoder && gst_element_get_factory (decoder) &&
            strcmp (GST_OBJECT_NAME (gst_element_get_factory (decoder)),
                "flacdec") == 0 &&
            has_own_flac_order ();
  gst_clear_caps (&taken);
  gst_clear_object (&decoder);
  if (!is_flac)
    return GST_PAD_PROBE_OK;
  add_order (convert, flac_orders, G_N_ELEMENTS (flac_orders), n_channels);
  if (n_channels == 7) {
    caps = gst_caps_copy (caps);
    gst_caps_set_simple (caps, "channel-mask", GST_TYPE_BITMASK,
        (guint64)FLAC_7, NULL);
    gst_event_unref (info->data);
    info->data = gst_event_new_caps (caps);
    gst_caps_unref (caps);
  }
  return GST_PAD_PROBE_REMOVE;
}

void
gst_tfx_codec_mend_input (GstElement *convert)
{
  GstPad *pad = gst_element_get_static_pad (convert, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, mend_caps,
      convert, NULL);
  gst_object_unref (pad);
}
