/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-spectrum.c: measures the mean spectrum of sound files, as a table for
 * a plot.
 *
 *   tfx-spectrum before.flac after.wav
 *
 * Welch's method: Hann windows that overlap by half, their power spectra
 * averaged over time and channels (P. D. Welch, IEEE Trans. Audio
 * Electroacoust. AU-15, 1967).  The lines are as far apart as 1/24 octave,
 * each the mean of the bins around it.  0 dB is the power of a sine at full
 * scale, spread over 1 Hz; so white noise is level at any length of transform.
 *
 * The table's first column is the frequency in Hz, then one column in dB/Hz
 * for each file.  Lines with '#' in front tell, for each file, its number, rate
 * in Hz, channels, frames, length in seconds and peak (1 is full scale).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <gst/gst.h>
#include <gst/app/gstappsink.h>
#include <gst/audio/audio.h>
#include <gst/fft/gstfftf64.h>
#include <gst/pbutils/missing-plugins.h>

#define MAX_FILES 8
#define FROM_HZ 10.0
#define LINES_PER_OCTAVE 24
/* Bins are at most this far apart, so that what a Hann window lets leak from
 * 100 Hz is 140 dB down at 20 Hz. */
#define MAX_BIN_HZ 0.8
#define FLOOR_DB -300.0

typedef struct
{
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

static gboolean
add_sample (Spectrum *s, GstSample *sample, const gchar *path)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstAudioInfo info;
  GstMapInfo map;

  if (!gst_audio_info_from_caps (&info, gst_sample_get_caps (sample)) ||
      !gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    g_printerr ("tfx-spectrum: %s: cannot read the samples\n", path);
    return FALSE;
  }
  if (!s->fft)
    spectrum_init (s, &info);
  if (GST_AUDIO_INFO_RATE (&info) != s->rate ||
      GST_AUDIO_INFO_CHANNELS (&info) != s->n_channels) {
    g_printerr ("tfx-spectrum: %s: rate or channels change in it\n", path);
    gst_buffer_unmap (buffer, &map);
    return FALSE;
  }
  spectrum_add (s, (const gdouble *)(gpointer)map.data,
      map.size / GST_AUDIO_INFO_BPF (&info));
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

/* Reads the messages that wait on the bus; FALSE if one is an error.  The
 * first error is told, those that follow are its echoes. */
static gboolean
check_bus (GstBus *bus, const gchar *path)
{
  GstMessage *msg;
  gboolean ok = TRUE;

  while ((msg = gst_bus_pop_filtered (bus,
              GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT))) {
    if (gst_is_missing_plugin_message (msg)) {
      gchar *what = gst_missing_plugin_message_get_description (msg);

      g_printerr ("tfx-spectrum: %s: needs: %s\n", path, what);
      g_free (what);
    } else if (ok && GST_MESSAGE_TYPE (msg) == GST_MESSAGE_ERROR) {
      GError *error = NULL;

      gst_message_parse_error (msg, &error, NULL);
      g_printerr ("tfx-spectrum: %s: %s\n", path, error->message);
      g_error_free (error);
      ok = FALSE;
    }
    gst_message_unref (msg);
  }
  return ok;
}

/* Decodes to the end; an element that fails may leave the sink without an end
 * of stream, so the bus is looked at in between. */
static gboolean
read_samples (Spectrum *s, GstAppSink *sink, GstBus *bus, const gchar *path)
{
  gboolean ok = TRUE, eos = FALSE;

  while (ok && !eos) {
    GstSample *sample = gst_app_sink_try_pull_sample (sink, GST_SECOND / 10);

    if (sample) {
      ok = add_sample (s, sample, path);
      gst_sample_unref (sample);
    } else {
      eos = gst_app_sink_is_eos (sink);
      ok = check_bus (bus, path);
    }
  }
  if (ok && s->n_frames == 0) {
    g_printerr ("tfx-spectrum: %s: no samples in it\n", path);
    ok = FALSE;
  }
  return ok;
}

static gboolean
measure (Spectrum *s, const gchar *path)
{
  GstElement *pipeline, *src, *sink;
  GstBus *bus;
  gboolean ok;

  pipeline = gst_parse_launch ("filesrc name=src ! decodebin ! audioconvert ! "
                               "audio/x-raw,layout=interleaved,"
                               "format=" GST_AUDIO_NE (
                                   F64) " ! "
                                        "appsink name=sink sync=false",
      NULL);
  if (!pipeline) {
    g_printerr ("tfx-spectrum: needs GStreamer's base plugins\n");
    return FALSE;
  }
  src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  bus = gst_element_get_bus (pipeline);
  g_object_set (src, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  ok = read_samples (s, GST_APP_SINK (sink), bus, path);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (ok)
    spectrum_finish (s);
  gst_object_unref (bus);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return ok;
}

static void
print_table (const Spectrum *spectra, gint n_files)
{
  gint rate = 0;

  for (gint i = 0; i < n_files; i++) {
    const Spectrum *s = &spectra[i];

    printf ("# file %d rate %d channels %d frames %" G_GUINT64_FORMAT
            " seconds %.6f peak %.6f\n",
        i + 1, s->rate, s->n_channels, s->n_frames,
        (gdouble)s->n_frames / s->rate, s->peak);
    rate = MAX (rate, s->rate);
  }
  for (guint k = 0;; k++) {
    gdouble f = FROM_HZ * exp2 ((gdouble)k / LINES_PER_OCTAVE);

    if (f > rate / 2.0)
      break;
    printf ("%.6g", f);
    for (gint i = 0; i < n_files; i++)
      printf ("\t%.3f", spectrum_level (&spectra[i], f));
    printf ("\n");
  }
}

int
main (int argc, char **argv)
{
  Spectrum spectra[MAX_FILES] = { { 0 } };
  gboolean ok = TRUE;

  gst_init (&argc, &argv);
  if (argc < 2 || argc > MAX_FILES + 1) {
    g_printerr ("Usage: tfx-spectrum FILE [FILE ...] (at most %d)\n",
        MAX_FILES);
    return EXIT_FAILURE;
  }
  for (gint i = 1; ok && i < argc; i++)
    ok = measure (&spectra[i - 1], argv[i]);
  if (ok)
    print_table (spectra, argc - 1);
  for (gint i = 1; i < argc; i++)
    spectrum_clear (&spectra[i - 1]);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
