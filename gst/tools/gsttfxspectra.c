/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxspectra.c: gst-tfx spectrum: the mean spectra of sound files, as CSV or as a
 * picture.
 */
#include <math.h>
#include <string.h>

#include <gst/audio/audio.h>
#include <gst/gst.h>

#include "gsttfxpass.h"
#include "gsttfxpicture.h"
#include "gsttfxscale.h"
#include "gsttfxsource.h"
#include "gsttfxspectrum.h"
#include "gsttfxtool.h"

#define MAX_FILES 8
#define FROM_HZ 10.0
/* How much of the scale a picture has: what the lowest level needs within these. */
#define MAX_SPAN_DB 120.0
#define MIN_SPAN_DB 60.0
/* Where it begins and ends. */
#define PICTURE_FROM_HZ 20.0
#define PICTURE_TO_HZ 20000.0
/* So that there are some lines between two frequencies. */
#define MIN_RATIO 1.1

/* The part of the spectra that is written. */
typedef struct View
{
  gdouble from_hz, to_hz; /* 0: not given */
  GstTfxScale scale;      /* of a picture */
} View;

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
    file->spectrum =
        gst_tfx_spectrum_new (rate_hz, n_channels, GST_TFX_SPECTRUM_BIN_HZ);
  } else if (rate_hz != file->rate_hz || n_channels != file->n_channels) {
    g_set_error (&file->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "its rate or its channels change");
  }
  return file->error == NULL;
}

/* In the streaming thread; the results are read after it has ended. */
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

static gboolean
measure (File *file)
{
  GstTfxJob job = { .input = file->path, .chain = "", .allow_cut = TRUE };
  const GstTfxPass pass = { .job = &job,
    .take_buffer = take_buffer,
    .data = file,
    .n_passes = 1 };
  gboolean is_done;

  gst_tfx_job_check_whole (&job, GST_CLOCK_TIME_NONE);
  gst_tfx_pass_run (&pass);
  gst_tfx_job_check_whole (&job, job.came);
  if (!job.error && file->error)
    job.error = g_error_copy (file->error);
  if (!job.error && !file->spectrum)
    gst_tfx_pass_fail (&job, "it has no audio that GStreamer can decode");
  if (job.error)
    gst_tfx_tool_error ("%s: %s", file->path, job.error->message);
  else
    gst_tfx_spectrum_finish (file->spectrum);
  is_done = job.error == NULL;
  gst_tfx_job_clear (&job);
  return is_done;
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

/* The highest frequency that is written, or at most so much where none is asked for. */
static gdouble
get_to (const View *view, const File *files, gint n_files, gdouble usual_hz)
{
  return MIN (view->to_hz > 0.0 ? view->to_hz : usual_hz,
      find_highest (files, n_files));
}

/* A comment for each file, then a column for each. */
static gchar *
print_csv (const File *files, gint n_files, const View *view)
{
  const gdouble to_hz = get_to (view, files, n_files, INFINITY);
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
  for (guint k = 0; frequency_of (k) <= to_hz; k++) {
    if (frequency_of (k) < view->from_hz)
      continue;
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
    const View *view)
{
  const gdouble to_hz = get_to (view, files, n_files,
      MAX (PICTURE_TO_HZ, MIN_RATIO * view->from_hz));
  GstTfxPictureCurve curves[MAX_FILES];
  GstTfxPicture picture = { "Mean spectrum", "Frequency (Hz)",
    "Level (dBFS/Hz)",
    view->from_hz > 0.0 ? view->from_hz
                        : CLAMP (to_hz / 2.0, FROM_HZ, PICTURE_FROM_HZ),
    to_hz, .curves = curves, .n_curves = (gsize)n_files };
  guint n = 0;
  gdouble *x, *y, most = -INFINITY, least = INFINITY;
  gchar *csv = print_csv (files, n_files, view);
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
      if (x[k] < picture.low_x || x[k] > picture.high_x)
        continue;
      most = fmax (most, levels[k]);
      least = fmin (least, levels[k]);
    }
  }
  picture.title = n_files == 1 ? curves[0].name : picture.title;
  picture.high_y = ceil (most / 10.0 + 0.1) * 10.0;
  picture.low_y = floor (least / 10.0 - 0.1) * 10.0;
  picture.low_y = CLAMP (picture.low_y, picture.high_y - MAX_SPAN_DB,
      picture.high_y - MIN_SPAN_DB);
  if (view->scale.low < view->scale.high) {
    picture.low_y = view->scale.low;
    picture.high_y = view->scale.high;
  }
  is_done = gst_tfx_picture_write_or_csv (&picture, csv, path);
  g_free (csv);
  g_free (x);
  g_free (y);
  return is_done ? GST_TFX_TOOL_OK : GST_TFX_TOOL_FAILED;
}

/* Before the rate is known: to_hz is that of the view, or as much.  FALSE after a
 * message. */
static gboolean
check_view (const View *view, gdouble to_hz)
{
  const gdouble from_hz = view->from_hz != 0.0 ? view->from_hz : FROM_HZ;
  gchar *to;

  if (from_hz >= FROM_HZ && to_hz >= MIN_RATIO * from_hz)
    return TRUE;
  to = isinf (to_hz) ? g_strdup ("half the rate")
                     : g_strdup_printf ("%g Hz", to_hz);
  gst_tfx_tool_error ("frequencies from %g Hz to %s: they must rise from %g Hz "
                      "or more, by a tenth at least, up to half the rate",
      from_hz, to, FROM_HZ);
  g_free (to);
  return FALSE;
}

static GstTfxToolStatus
run_files (gchar **paths, gint n_files, const gchar *output, const View *view)
{
  File files[MAX_FILES] = { { NULL } };
  GstTfxToolStatus status = GST_TFX_TOOL_OK;

  for (gint i = 0; status == GST_TFX_TOOL_OK && i < n_files; i++) {
    files[i].path = paths[i];
    if (!measure (&files[i]))
      status = gst_tfx_tool_is_interrupted () ? GST_TFX_TOOL_INTERRUPTED
                                              : GST_TFX_TOOL_FAILED;
  }
  if (status == GST_TFX_TOOL_OK &&
      !check_view (view, get_to (view, files, n_files, INFINITY)))
    status = GST_TFX_TOOL_USAGE;
  if (status == GST_TFX_TOOL_OK)
    status = write_spectra (files, n_files, output, view);
  for (gint i = 0; i < n_files; i++)
    clear (&files[i]);
  return status;
}

GstTfxToolStatus
gst_tfx_spectra_run (gint argc, gchar **argv)
{
  gchar *output = NULL, *range = NULL;
  View view = { 0.0 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
        "picture (.svg, .png) or table (.csv) to write; default: a table to "
        "standard output",
        "FILE" },
    { "from", 0, 0, G_OPTION_ARG_DOUBLE, &view.from_hz,
        "lowest frequency (10; of a picture 20)", "HZ" },
    { "to", 0, 0, G_OPTION_ARG_DOUBLE, &view.to_hz,
        "highest frequency (half the rate; of a picture at most 20000)", "HZ" },
    { "range", 0, 0, G_OPTION_ARG_STRING, &range,
        "levels that a picture shows (as the curves need)", "LOW:HIGH" },
    { NULL }
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (gst_tfx_tool_parse ("FILE…",
          "Prints or draws the mean spectra of up to eight sound files, for "
          "example before and after a chain.",
          "Levels are power densities in dBFS/Hz, averaged over channels and "
          "1/24 octave: 0 dB is a full-scale sine, spread over 1 Hz. The table "
          "starts with one line per file: rate, "
          "channels, frames, seconds and peak.\n\n"
          "Example:\n"
          "  gst-tfx spectrum --output both.svg voice.wav clean.flac\n",
          entries, &argc, &argv)) {
    if (argc < 2 || argc > MAX_FILES + 1)
      gst_tfx_tool_error ("spectrum takes from 1 to %d files", MAX_FILES);
    else if (gst_tfx_picture_check_name (output) &&
             gst_tfx_scale_read (range, &view.scale) &&
             check_view (&view, view.to_hz != 0.0 ? view.to_hz : INFINITY))
      status = run_files (argv + 1, argc - 1, output, &view);
  }
  g_free (output);
  g_free (range);
  return status;
}
