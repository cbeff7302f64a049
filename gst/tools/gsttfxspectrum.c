/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxspectrum.c: gst-tfx spectrum: the mean spectra of sound files, as CSV or as a
 * picture.
 *
 * Welch's method: Hann windows that overlap by half, their power spectra
 * averaged over time and channels (P. D. Welch, IEEE Trans. Audio
 * Electroacoust. AU-15, 1967).  The lines are as far apart as 1/24 octave,
 * each the mean of the bins around it.  0 dB is the power of a sine at full
 * scale, spread over 1 Hz; so white noise is level at any length of transform.
 */
#include <math.h>
#include <string.h>

#include <gst/audio/audio.h>
#include <gst/fft/gstfftf64.h>
#include <gst/gst.h>

#include "gsttfxpicture.h"
#include "gsttfxtool.h"

#define MAX_FILES 8
#define FROM_HZ 10.0
#define LINES_PER_OCTAVE 24
/* Bins are at most this far apart, so that what a Hann window lets leak from
 * 100 Hz is 140 dB down at 20 Hz. */
#define MAX_BIN_HZ 0.8
#define FLOOR_DB -300.0
/* How much of the scale a picture has, and where it begins. */
#define SPAN_DB 120.0
#define PICTURE_HZ 20.0
/* How often it looks at signals. */
#define POLL (100 * GST_MSECOND)

typedef struct Spectrum
{
  const gchar *path;
  GError *error; /* why it cannot be measured */
  gint rate, n_channels;
  guint64 n_frames;
  gdouble peak;

  guint n;               /* frames in a segment */
  guint fill;            /* frames waiting, < n */
  guint64 n_segments;    /* each counts once per channel */
  gdouble *frames;       /* [n_channels][n], planar */
  gdouble *window, *buf; /* [n] */
  gdouble window_power;  /* sum of the window's squares */
  GstFFTF64 *fft;
  GstFFTF64Complex *bins; /* [n / 2 + 1] */
  gdouble *power;         /* [n / 2 + 1], sum of |X|^2 over all segments */
} Spectrum;

static void
spectrum_clear (Spectrum *s)
{
  g_free (s->frames);
  g_free (s->window);
  g_free (s->buf);
  g_free (s->bins);
  g_free (s->power);
  g_clear_pointer (&s->fft, gst_fft_f64_free);
  g_clear_error (&s->error);
}

static void
spectrum_init (Spectrum *s, const GstAudioInfo *info)
{
  s->rate = GST_AUDIO_INFO_RATE (info);
  s->n_channels = GST_AUDIO_INFO_CHANNELS (info);
  for (s->n = 1024; s->rate > MAX_BIN_HZ * s->n;)
    s->n *= 2;
  s->frames = g_new0 (gdouble, (gsize)s->n * s->n_channels);
  s->window = g_new (gdouble, s->n);
  s->buf = g_new (gdouble, s->n);
  s->bins = g_new (GstFFTF64Complex, s->n / 2 + 1);
  s->power = g_new0 (gdouble, s->n / 2 + 1);
  s->fft = gst_fft_f64_new (s->n, FALSE);
  for (guint i = 0; i < s->n; i++) {
    s->window[i] = 0.5 - 0.5 * cos (2.0 * G_PI * i / s->n);
    s->window_power += s->window[i] * s->window[i];
  }
}

static void
spectrum_add_segment (Spectrum *s)
{
  for (gint c = 0; c < s->n_channels; c++) {
    const gdouble *x = s->frames + (gsize)c * s->n;

    for (guint i = 0; i < s->n; i++)
      s->buf[i] = x[i] * s->window[i];
    gst_fft_f64_fft (s->fft, s->buf, s->bins);
    for (guint k = 0; k <= s->n / 2; k++)
      s->power[k] += s->bins[k].r * s->bins[k].r + s->bins[k].i * s->bins[k].i;
    s->n_segments++;
  }
}

/* x: interleaved [n_frames][n_channels] */
static void
spectrum_add (Spectrum *s, const gdouble *x, gsize n_frames)
{
  s->n_frames += n_frames;
  for (gsize f = 0; f < n_frames; f++) {
    for (gint c = 0; c < s->n_channels; c++, x++) {
      s->frames[(gsize)c * s->n + s->fill] = *x;
      if (fabs (*x) > s->peak)
        s->peak = fabs (*x);
    }
    if (++s->fill < s->n)
      continue;
    spectrum_add_segment (s);
    for (gint c = 0; c < s->n_channels; c++) {
      gdouble *row = s->frames + (gsize)c * s->n;

      memmove (row, row + s->n / 2, s->n / 2 * sizeof *row);
    }
    s->fill = s->n / 2;
  }
}

/* A file shorter than a segment counts as one, with silence behind it. */
static void
spectrum_finish (Spectrum *s)
{
  if (s->n_segments > 0 || s->n_frames == 0)
    return;
  for (gint c = 0; c < s->n_channels; c++)
    memset (s->frames + (gsize)c * s->n + s->fill, 0,
        (s->n - s->fill) * sizeof *s->frames);
  spectrum_add_segment (s);
}

/* Power density at bin k, where a sine at full scale (power 1/2) is 1. */
static gdouble
spectrum_density (const Spectrum *s, guint k)
{
  /* Both halves of the spectrum, but 0 Hz and half the rate have one bin. */
  gdouble sides = k == 0 || k == s->n / 2 ? 1.0 : 2.0;

  return sides * s->power[k] /
         (0.5 * s->rate * s->window_power * (gdouble)s->n_segments);
}

/* Mean density over 1/24 octave around freq_hz, in dB; between bins where
 * the band is narrower than one. */
static gdouble
spectrum_level (const Spectrum *s, gdouble freq_hz)
{
  gdouble bin = freq_hz * s->n / s->rate;
  gdouble half = exp2 (0.5 / LINES_PER_OCTAVE);
  guint last = s->n / 2;
  guint lo = (guint)ceil (bin / half), hi = (guint)floor (bin * half);
  gdouble sum = 0.0;

  if (bin > last)
    return NAN;
  if (hi > last)
    hi = last;
  if (hi < lo + 1) {
    guint k = MIN ((guint)bin, last - 1);
    gdouble a = spectrum_density (s, k), b = spectrum_density (s, k + 1);

    sum = a + (b - a) * (bin - k);
  } else {
    for (guint k = lo; k <= hi; k++)
      sum += spectrum_density (s, k);
    sum /= hi - lo + 1;
  }
  return MAX (10.0 * log10 (sum), FLOOR_DB);
}

/* ---- the files -------------------------------------------------------------------------- */

/* In the streaming thread; what it says is read when that has ended. */
static void
take_buffer (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Spectrum *s = data;
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo info;
  GstMapInfo map;

  if (!s->error && caps && gst_audio_info_from_caps (&info, caps) &&
      gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    if (!s->fft)
      spectrum_init (s, &info);
    if (GST_AUDIO_INFO_RATE (&info) == s->rate &&
        GST_AUDIO_INFO_CHANNELS (&info) == s->n_channels)
      spectrum_add (s, (const gdouble *)(gpointer)map.data,
          map.size / GST_AUDIO_INFO_BPF (&info));
    else
      g_set_error (&s->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
          "its rate or its channels change");
    gst_buffer_unmap (buffer, &map);
  }
  gst_clear_caps (&caps);
}

/* To the end, an error or a signal. */
static void
wait (Spectrum *s, GstBus *bus, GError **error)
{
  gchar *missing = NULL;
  gboolean is_done = FALSE;

  while (!is_done && !*error) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, POLL,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);

    if (!message && gst_tfx_tool_is_interrupted ())
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "interrupted");
    if (!message)
      continue;
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT)
      gst_tfx_tool_note_missing (message, &missing);
    else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
      *error = gst_tfx_tool_take_error (message, missing);
    else
      is_done = TRUE;
    gst_message_unref (message);
  }
  g_free (missing);
}

static gboolean
measure (Spectrum *s)
{
  GError *error = NULL;
  GstElement *source, *sink;
  GstElement *pipeline = gst_parse_launch_full (
      "filesrc name=source ! decodebin ! audioconvert ! "
      "audio/x-raw,layout=interleaved,format=" GST_AUDIO_NE (
          F64) " ! fakesink name=sink signal-handoffs=true sync=false",
      NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  GstBus *bus;

  if (pipeline) {
    source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    bus = gst_element_get_bus (pipeline);
    g_object_set (source, "location", s->path, NULL);
    g_signal_connect (sink, "handoff", G_CALLBACK (take_buffer), s);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    wait (s, bus, &error);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (bus);
    gst_object_unref (source);
    gst_object_unref (sink);
    gst_object_unref (pipeline);
  }
  if (!error && !s->error && s->n_frames == 0)
    g_set_error (&error, GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
        "there is no sound in it");
  if (error || s->error)
    gst_tfx_tool_error ("%s: %s", s->path,
        error ? error->message : s->error->message);
  else
    spectrum_finish (s);
  if (!error)
    return s->error == NULL;
  g_error_free (error);
  return FALSE;
}

/* ---- what is written ------------------------------------------------------------------------ */

static gdouble
find_highest (const Spectrum *spectra, gint n_files)
{
  gint rate = 0;

  for (gint i = 0; i < n_files; i++)
    rate = MAX (rate, spectra[i].rate);
  return rate / 2.0;
}

static gdouble
frequency_of (guint line)
{
  return FROM_HZ * exp2 ((gdouble)line / LINES_PER_OCTAVE);
}

/* A comment for each file, then a column for each. */
static gchar *
print_csv (const Spectrum *spectra, gint n_files)
{
  const gdouble highest_hz = find_highest (spectra, n_files);
  GString *text = g_string_new (NULL);

  for (gint i = 0; i < n_files; i++) {
    const Spectrum *s = &spectra[i];

    g_string_append_printf (text,
        "# file %d rate %d channels %d frames %" G_GUINT64_FORMAT
        " seconds %.6f peak %.6f\n",
        i + 1, s->rate, s->n_channels, s->n_frames,
        (gdouble)s->n_frames / s->rate, s->peak);
  }
  g_string_append (text, "frequency_hz");
  for (gint i = 0; i < n_files; i++)
    g_string_append_printf (text, ",file_%d_db", i + 1);
  g_string_append (text, "\n");
  for (guint k = 0; frequency_of (k) <= highest_hz; k++) {
    g_string_append_printf (text, "%.6g", frequency_of (k));
    for (gint i = 0; i < n_files; i++)
      g_string_append_printf (text, ",%.3f",
          spectrum_level (&spectra[i], frequency_of (k)));
    g_string_append (text, "\n");
  }
  return g_string_free (text, FALSE);
}

static gboolean
draw (const Spectrum *spectra, gint n_files, const gchar *path, GError **error)
{
  GstTfxPictureCurve curves[MAX_FILES];
  GstTfxPicture picture = { "Mean spectrum", "Hz", "dBFS/Hz", PICTURE_HZ,
    MIN (20000.0, find_highest (spectra, n_files)), .curves = curves,
    .n_curves = (gsize)n_files };
  guint n = 0;
  gdouble *x, *y, most = FLOOR_DB;
  gboolean is_done;

  while (frequency_of (n) <= find_highest (spectra, n_files))
    n++;
  x = g_new (gdouble, n);
  y = g_new (gdouble, n * (guint)n_files);
  for (guint k = 0; k < n; k++)
    x[k] = frequency_of (k);
  for (gint i = 0; i < n_files; i++) {
    const gchar *slash = strrchr (spectra[i].path, '/');
    gdouble *levels = y + (gsize)i * n;

    curves[i] = (GstTfxPictureCurve){ slash ? slash + 1 : spectra[i].path, x,
      levels, n };
    for (guint k = 0; k < n; k++) {
      levels[k] = spectrum_level (&spectra[i], x[k]);
      if (x[k] >= picture.low_x)
        most = fmax (most, levels[k]);
    }
  }
  picture.title = n_files == 1 ? curves[0].name : picture.title;
  picture.high_y = ceil (most / 10.0 + 0.1) * 10.0;
  picture.low_y = picture.high_y - SPAN_DB;
  is_done = gst_tfx_picture_write (&picture, path, error);
  g_free (x);
  g_free (y);
  return is_done;
}

static GstTfxToolStatus
write_spectra (const Spectrum *spectra, gint n_files, const gchar *path)
{
  gchar *text = print_csv (spectra, n_files);
  GError *error = NULL;

  if (!path)
    g_print ("%s", text);
  else if (gst_tfx_picture_is_named (path))
    draw (spectra, n_files, path, &error);
  else
    g_file_set_contents (path, text, -1, &error);
  g_free (text);
  if (!error)
    return GST_TFX_TOOL_OK;
  gst_tfx_tool_error ("%s", error->message);
  g_error_free (error);
  return GST_TFX_TOOL_FAILED;
}

static GstTfxToolStatus
run_files (gchar **paths, gint n_files, const gchar *output)
{
  Spectrum spectra[MAX_FILES] = { { 0 } };
  GstTfxToolStatus status = GST_TFX_TOOL_OK;

  for (gint i = 0; status == GST_TFX_TOOL_OK && i < n_files; i++) {
    spectra[i].path = paths[i];
    if (!measure (&spectra[i]))
      status = gst_tfx_tool_is_interrupted () ? GST_TFX_TOOL_INTERRUPTED
                                              : GST_TFX_TOOL_FAILED;
  }
  if (status == GST_TFX_TOOL_OK)
    status = write_spectra (spectra, n_files, output);
  for (gint i = 0; i < n_files; i++)
    spectrum_clear (&spectra[i]);
  return status;
}

GstTfxToolStatus
gst_tfx_spectrum_run (gint argc, gchar **argv)
{
  gchar *output = NULL;
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
        "a picture (.svg, .png) or a table (.csv; else to standard output)",
        "FILE" },
    { NULL }
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (gst_tfx_tool_parse ("FILE…",
          "The mean spectra of sound files, such as before and after a chain.",
          "Power density in dB, of 1/24 octave: 0 dB is a sine at full scale, "
          "spread over 1 Hz.  In front of the table a line for each file: "
          "rate, channels, frames, seconds and peak.\n\n"
          "Example:\n"
          "  gst-tfx spectrum --output both.svg voice.wav clean.flac\n",
          entries, &argc, &argv)) {
    if (argc < 2 || argc > MAX_FILES + 1)
      gst_tfx_tool_error ("spectrum takes from 1 to %d files", MAX_FILES);
    else if (output && !gst_tfx_picture_is_named (output) &&
             !g_str_has_suffix (output, ".csv"))
      gst_tfx_tool_error (GST_TFX_PICTURE_NAMES, output);
    else
      status = run_files (argv + 1, argc - 1, output);
  }
  g_free (output);
  return status;
}
