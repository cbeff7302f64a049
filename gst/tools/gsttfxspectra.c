/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxspectra.c: gst-tfx spectrum: the mean spectra of sound files, as CSV or as a
 * picture.
 */
#include <math.h>
#include <string.h>

#include <gst/audio/audio.h>
#include <gst/gst.h>

#include "gsttfxpicture.h"
#include "gsttfxscale.h"
#include "gsttfxsource.h"
#include "gsttfxspectrum.h"
#include "gsttfxtool.h"

#define MAX_FILES 8
#define FROM_HZ 10.0
/* How much of the scale a picture has, and where it begins. */
#define SPAN_DB 120.0
#define PICTURE_HZ 20.0
/* How often it looks at signals. */
#define POLL (100 * GST_MSECOND)

typedef struct File
{
  const gchar *path;
  GError *error; /* why it cannot be measured */
  gint rate_hz, n_channels;
  GstTfxSpectrum *spectrum; /* NULL until there are samples */
} File;

/* ---- the files -------------------------------------------------------------------------- */

/* Makes the spectrum of the first samples.  FALSE with an error where these can not
 * be measured, or not together with those before. */
static gboolean
accept_samples (File *file, const GstAudioInfo *info)
{
  const gint rate_hz = GST_AUDIO_INFO_RATE (info);
  const gint n_channels = GST_AUDIO_INFO_CHANNELS (info);

  if (rate_hz > GST_TFX_SPECTRUM_MAX_RATE_HZ) {
    g_set_error (&file->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "its rate is %d Hz, but must be from 1 to %d Hz", rate_hz,
        GST_TFX_SPECTRUM_MAX_RATE_HZ);
  } else if (!file->spectrum) {
    file->rate_hz = rate_hz;
    file->n_channels = n_channels;
    file->spectrum = gst_tfx_spectrum_new (rate_hz, n_channels);
  } else if (rate_hz != file->rate_hz || n_channels != file->n_channels) {
    g_set_error (&file->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "its rate or its channels change");
  }
  return file->error == NULL;
}

/* In the streaming thread; what it says is read when that has ended. */
static void
take_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  File *file = data;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo info;
  GstMapInfo map;

  if (!file->error && caps && gst_audio_info_from_caps (&info, caps) &&
      accept_samples (file, &info) &&
      gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    gst_tfx_spectrum_add (file->spectrum, (const gdouble *)(gpointer)map.data,
        map.size / GST_AUDIO_INFO_BPF (&info));
    gst_buffer_unmap (buffer, &map);
  }
  gst_clear_caps (&caps);
}

static void
clear (File *file)
{
  g_clear_pointer (&file->spectrum, gst_tfx_spectrum_free);
  g_clear_error (&file->error);
}

/* To the end, an error or a signal. */
static void
wait (const File *file, GstElement *pipeline, GstBus *bus, GError **error)
{
  gchar *missing = NULL;
  guint n_idle = 0, n_starts = 0;
  gboolean is_done = FALSE;

  while (!is_done && !*error) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, POLL,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);

    if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT)
      gst_tfx_tool_note_missing (message, &missing);
    else if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      *error = gst_tfx_tool_take_error (message, missing);
    else if (message)
      is_done = TRUE;
    else if (gst_tfx_tool_stands_still (pipeline, &n_idle))
      is_done =
          file->spectrum || !gst_tfx_tool_start_anew (pipeline, &n_starts);
    gst_clear_message (&message);
    if (!is_done && !*error && gst_tfx_tool_is_interrupted ())
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "interrupted");
  }
  g_free (missing);
}

/* A decoder that is started anew has another pad. */
static void
take_stream (GstElement *decoder, GstPad *pad, gpointer convert)
{
  gst_element_link_pads (decoder, GST_PAD_NAME (pad), convert, "sink");
}

/* All that the decoder has is known. */
static void
look_for_sound (GstElement *decoder, gpointer convert)
{
  GstPad *sink = gst_element_get_static_pad (convert, "sink");

  if (!gst_pad_is_linked (sink))
    GST_ELEMENT_ERROR (decoder, STREAM, WRONG_TYPE, (NULL), (NULL));
  gst_object_unref (sink);
}

static gboolean
measure (File *file)
{
  GError *error = NULL;
  GstElement *source, *decoder, *convert, *sink;
  const gchar *parser = gst_tfx_source_find_parser (file->path);
  gchar *line = g_strconcat ("filesrc name=source ! ", parser ? parser : "",
      parser ? " ! " : "",
      "decodebin name=decoder audioconvert name=convert ! "
      "audio/x-raw,layout=interleaved,format=" GST_AUDIO_NE (
          F64) " ! fakesink name=sink signal-handoffs=true sync=false",
      NULL);
  GstElement *pipeline =
      gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  GstBus *bus;

  g_free (line);

  if (pipeline) {
    source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    decoder = gst_bin_get_by_name (GST_BIN (pipeline), "decoder");
    convert = gst_bin_get_by_name (GST_BIN (pipeline), "convert");
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    bus = gst_element_get_bus (pipeline);
    gst_tfx_source_set_path (source, file->path);
    gst_tfx_source_complete (convert);
    g_signal_connect (decoder, "pad-added", G_CALLBACK (take_stream), convert);
    g_signal_connect (decoder, "no-more-pads", G_CALLBACK (look_for_sound),
        convert);
    g_signal_connect (sink, "handoff", G_CALLBACK (take_buffer), file);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait (file, pipeline, bus, &error);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (source);
    gst_object_unref (decoder);
    gst_object_unref (convert);
    gst_object_unref (sink);
    gst_object_unref (pipeline);
  }
  if (!error && !file->error && !file->spectrum)
    g_set_error (&error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "there is no sound in it that GStreamer can decode");
  if (error || file->error)
    gst_tfx_tool_error ("%s: %s", file->path,
        error ? error->message : file->error->message);
  else
    gst_tfx_spectrum_finish (file->spectrum);
  if (!error)
    return file->error == NULL;
  g_error_free (error);
  return FALSE;
}

/* ---- what is written ------------------------------------------------------------------------ */

static gdouble
find_highest (const File *files, gint n_files)
{
  gint rate = 0;

  for (gint i = 0; i < n_files; i++)
    rate = MAX (rate, files[i].rate_hz);
  return rate / 2.0;
}

static gdouble
frequency_of (guint line)
{
  return FROM_HZ * exp2 ((gdouble)line / GST_TFX_SPECTRUM_LINES);
}

/* A comment for each file, then a column for each. */
static gchar *
print_csv (const File *files, gint n_files)
{
  const gdouble highest_hz = find_highest (files, n_files);
  GString *text = g_string_new (NULL);

  for (gint i = 0; i < n_files; i++) {
    const File *file = &files[i];
    const guint64 n_frames = gst_tfx_spectrum_get_n_frames (file->spectrum);

    g_string_append_printf (text,
        "# file %d rate %d channels %d frames %" G_GUINT64_FORMAT
        " seconds %.6f peak %.6f\n",
        i + 1, file->rate_hz, file->n_channels, n_frames,
        (gdouble)n_frames / file->rate_hz,
        gst_tfx_spectrum_get_peak (file->spectrum));
  }
  g_string_append (text, "frequency_hz");
  for (gint i = 0; i < n_files; i++)
    g_string_append_printf (text, ",file_%d_db", i + 1);
  g_string_append (text, "\n");
  for (guint k = 0; frequency_of (k) <= highest_hz; k++) {
    g_string_append_printf (text, "%.6g", frequency_of (k));
    for (gint i = 0; i < n_files; i++)
      g_string_append_printf (text, ",%.3f",
          gst_tfx_spectrum_get_level (files[i].spectrum, frequency_of (k)));
    g_string_append (text, "\n");
  }
  return g_string_free (text, FALSE);
}

static GstTfxToolStatus
write_spectra (const File *files, gint n_files, const gchar *path,
    const GstTfxScale *scale)
{
  GstTfxPictureCurve curves[MAX_FILES];
  GstTfxPicture picture = { "Mean spectrum", "Frequency (Hz)",
    "Level (dBFS/Hz)", PICTURE_HZ, MIN (20000.0, find_highest (files, n_files)),
    .curves = curves, .n_curves = (gsize)n_files };
  guint n = 0;
  gdouble *x, *y, most = -INFINITY;
  gchar *csv = print_csv (files, n_files);
  gboolean is_done;

  while (frequency_of (n) <= find_highest (files, n_files))
    n++;
  x = g_new (gdouble, n);
  y = g_new (gdouble, n * (guint)n_files);
  for (guint k = 0; k < n; k++)
    x[k] = frequency_of (k);
  for (gint i = 0; i < n_files; i++) {
    const gchar *slash = strrchr (files[i].path, '/');
    gdouble *levels = y + (gsize)i * n;

    curves[i] =
        (GstTfxPictureCurve){ slash ? slash + 1 : files[i].path, x, levels, n };
    for (guint k = 0; k < n; k++) {
      levels[k] = gst_tfx_spectrum_get_level (files[i].spectrum, x[k]);
      if (x[k] >= picture.low_x)
        most = fmax (most, levels[k]);
    }
  }
  picture.title = n_files == 1 ? curves[0].name : picture.title;
  picture.high_y = ceil (most / 10.0 + 0.1) * 10.0;
  picture.low_y = picture.high_y - SPAN_DB;
  if (scale->low < scale->high) {
    picture.low_y = scale->low;
    picture.high_y = scale->high;
  }
  is_done = gst_tfx_picture_write_or_csv (&picture, csv, path);
  g_free (csv);
  g_free (x);
  g_free (y);
  return is_done ? GST_TFX_TOOL_OK : GST_TFX_TOOL_FAILED;
}

static GstTfxToolStatus
run_files (gchar **paths, gint n_files, const gchar *output,
    const GstTfxScale *scale)
{
  File files[MAX_FILES] = { { NULL } };
  GstTfxToolStatus status = GST_TFX_TOOL_OK;

  for (gint i = 0; status == GST_TFX_TOOL_OK && i < n_files; i++) {
    files[i].path = paths[i];
    if (!measure (&files[i]))
      status = gst_tfx_tool_is_interrupted () ? GST_TFX_TOOL_INTERRUPTED
                                              : GST_TFX_TOOL_FAILED;
  }
  if (status == GST_TFX_TOOL_OK)
    status = write_spectra (files, n_files, output, scale);
  for (gint i = 0; i < n_files; i++)
    clear (&files[i]);
  return status;
}

GstTfxToolStatus
gst_tfx_spectra_run (gint argc, gchar **argv)
{
  gchar *output = NULL, *range = NULL;
  GstTfxScale scale = { 0.0, 0.0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
        "a picture (.svg, .png) or a table (.csv; else to standard output)",
        "FILE" },
    { "range", 0, 0, G_OPTION_ARG_STRING, &range,
        "levels that a picture shows (the upper 120 dB)", "LOW:HIGH" },
    { NULL }
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (gst_tfx_tool_parse ("FILE…",
          "The mean spectra of up to eight sound files, such as before and "
          "after a chain.",
          "Power density in dB, of 1/24 octave: 0 dB is a sine at full scale, "
          "spread over 1 Hz.  In front of the table a line for each file: "
          "rate, channels, frames, seconds and peak.\n\n"
          "Example:\n"
          "  gst-tfx spectrum --output both.svg voice.wav clean.flac\n",
          entries, &argc, &argv)) {
    if (argc < 2 || argc > MAX_FILES + 1)
      gst_tfx_tool_error ("spectrum takes from 1 to %d files", MAX_FILES);
    else if (gst_tfx_picture_check_name (output) &&
             gst_tfx_scale_read (range, &scale))
      status = run_files (argv + 1, argc - 1, output, &scale);
  }
  g_free (output);
  g_free (range);
  return status;
}
