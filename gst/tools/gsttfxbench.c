/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbench.c: gst-tfx bench: the cost of a chain on this machine, as CSV and as a
 * picture.
 */
#include <math.h>
#include <string.h>

#include "gsttfxmeasure.h"
#include "gsttfxoptions.h"
#include "gsttfxpicture.h"
#include "gsttfxtool.h"

#define MAX_CHANNELS 1024
#define MAX_FRAMES 1048576

typedef struct Bench
{
  GstTfxOptions options; /* the chain alone */
  gchar *channels, *frames, *devices, *format, *output;
  gint rate_hz;
  gdouble seconds; /* for each shape */
} Bench;

/* Over lengths of blocks, for one number of channels on one device. */
typedef struct Line
{
  gint n_channels;
  const gchar *device;
  gchar *name;
  gdouble *frames, *ns; /* [n] */
  guint n;
} Line;

static void
free_line (gpointer data)
{
  Line *line = data;

  g_free (line->name);
  g_free (line->frames);
  g_free (line->ns);
  g_free (line);
}

/* One point of the line and one of the CSV; or a word on why not. */
static gboolean
run_shape (const Bench *bench, Line *line, gint n_frames, GString *csv)
{
  const GstTfxShape shape = { bench->format, bench->rate_hz, line->n_channels,
    n_frames };
  GstTfxFigures figures;
  const gboolean is_good = gst_tfx_measure_run (bench->options.chain,
      line->device, &shape, bench->seconds, &figures);

  line->frames[line->n] = n_frames;
  line->ns[line->n] = NAN;
  if (is_good && figures.device) {
    line->ns[line->n] = figures.ns_per_sample;
    g_string_append_printf (csv, "%d,%d,%s,%s,%s,%.3f,%.1f\n", line->n_channels,
        n_frames, line->device, figures.device, figures.kernel,
        figures.ns_per_sample,
        1e9 / (MAX (figures.ns_per_sample, 1e-6) * line->n_channels *
                  bench->rate_hz));
  }
  line->n++;
  if (figures.refusal)
    g_printerr ("skipped: %s\n", figures.refusal);
  gst_tfx_figures_clear (&figures);
  return is_good;
}

/* "1,2,8": whole numbers from 1 to max, up to a 0; free them.  NULL after a
 * message. */
static gint *
read_numbers (const gchar *what, const gchar *text, gint max)
{
  gchar **words = g_strsplit (text, ",", -1);
  gint *numbers = g_new0 (gint, g_strv_length (words) + 1);

  for (guint i = 0; words[i] || i == 0; i++) { /* no words of an empty text */
    guint64 number;

    if (!words[i] || !g_ascii_string_to_unsigned (words[i], 10, 1, (guint64)max,
                         &number, NULL)) {
      gst_tfx_tool_error ("%s is '%s', but must be integers from 1 to %d, "
                          "separated by commas",
          what, text, max);
      g_clear_pointer (&numbers, g_free);
      break;
    }
    numbers[i] = (gint)number;
  }
  g_strfreev (words);
  return numbers;
}

static gboolean
check_words (const Bench *bench, gchar **devices)
{
  for (guint i = 0; devices[i] || i == 0; i++) { /* none of an empty text */
    const gchar *device = devices[i] ? devices[i] : "";

    if (strcmp (device, "auto") != 0 && strcmp (device, "cpu") != 0 &&
        strcmp (device, "cuda") != 0) {
      gst_tfx_tool_error ("a device is '%s', but must be auto, cpu or cuda",
          device);
      return FALSE;
    }
  }
  if (strcmp (bench->format, "F32LE") != 0 &&
      strcmp (bench->format, "F64LE") != 0) {
    gst_tfx_tool_error ("format is '%s', but must be F32LE or F64LE",
        bench->format);
    return FALSE;
  }
  if (bench->rate_hz < 1) {
    gst_tfx_tool_error ("rate is %d Hz, but must be above 0", bench->rate_hz);
    return FALSE;
  }
  if (!(bench->seconds >= 0.0)) {
    gst_tfx_tool_error ("seconds is %g, but must be 0 or more", bench->seconds);
    return FALSE;
  }
  return gst_tfx_picture_check_name (bench->output);
}

static GPtrArray *
make_lines (const gint *channels, const gint *frames, gchar **devices)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (free_line);
  gsize n = 0;

  while (frames[n])
    n++;
  for (; *channels; channels++) {
    for (gchar **device = devices; *device; device++) {
      Line *line = g_new0 (Line, 1);

      line->n_channels = *channels;
      line->device = *device;
      line->name = g_strdup_printf ("%d channel%s, %s", *channels,
          *channels == 1 ? "" : "s", *device);
      line->frames = g_new0 (gdouble, n);
      line->ns = g_new0 (gdouble, n);
      g_ptr_array_add (lines, line);
    }
  }
  return lines;
}

/* A picture with all lines, or the table. */
static gboolean
write_output (const Bench *bench, const GPtrArray *lines, const gchar *csv)
{
  GstTfxPictureCurve *curves = g_new0 (GstTfxPictureCurve, lines->len);
  const Line *first = lines->pdata[0];
  gchar *title = gst_tfx_options_name_chain (&bench->options);
  GstTfxPicture picture = { title, "frames in a block", "ns for a sample",
    INFINITY, 0.0, .ticks = first->frames, .n_ticks = first->n,
    .curves = curves, .n_curves = lines->len };
  gboolean is_done;

  for (guint i = 0; i < lines->len; i++) {
    const Line *line = lines->pdata[i];

    curves[i] =
        (GstTfxPictureCurve){ line->name, line->frames, line->ns, line->n };
    for (guint k = 0; k < line->n; k++) {
      picture.low_x = fmin (picture.low_x, line->frames[k]);
      picture.high_x = fmax (picture.high_x, line->frames[k]);
      picture.high_y = fmax (picture.high_y, 1.1 * line->ns[k]);
    }
  }
  /* A little room beside a single length; a scale where nothing ran. */
  picture.high_x = fmax (picture.high_x, 2.0 * picture.low_x);
  picture.high_y = picture.high_y > 0.0 ? picture.high_y : 1.0;
  is_done = gst_tfx_picture_write_or_csv (&picture, csv, bench->output);
  g_free (curves);
  g_free (title);
  return is_done;
}

/* What the chain does not take is left out of the lines; the CSV goes to standard
 * output as it comes, unless it has a file. */
static GstTfxToolStatus
run_lines (const Bench *bench, GPtrArray *lines, const gint *frames)
{
  const gboolean prints =
      !bench->output || gst_tfx_picture_is_named (bench->output);
  GString *csv = g_string_new ("channels,frames,device,ran_on,kernel,"
                               "ns_per_sample,times_real_time\n");
  GstTfxToolStatus status = GST_TFX_TOOL_OK;
  gsize printed = 0;
  guint i = 0;

  while (i < lines->len && status == GST_TFX_TOOL_OK) {
    gboolean is_taken = TRUE;

    for (const gint *f = frames; *f && is_taken; f++) {
      is_taken = run_shape (bench, lines->pdata[i], *f, csv);
      if (prints)
        g_print ("%s", csv->str + printed);
      printed = csv->len;
    }
    if (is_taken)
      i++;
    else
      g_ptr_array_remove_index (lines, i);
    if (gst_tfx_tool_is_interrupted ())
      status = GST_TFX_TOOL_INTERRUPTED;
  }
  if (status == GST_TFX_TOOL_OK && lines->len == 0)
    status = GST_TFX_TOOL_FAILED;
  if (status == GST_TFX_TOOL_OK && bench->output &&
      !write_output (bench, lines, csv->str))
    status = GST_TFX_TOOL_FAILED;
  g_string_free (csv, TRUE);
  return status;
}

static GstTfxToolStatus
run_bench (const Bench *bench)
{
  gint *channels = read_numbers ("channels", bench->channels, MAX_CHANNELS);
  gint *frames = read_numbers ("frames", bench->frames, MAX_FRAMES);
  gchar **devices = g_strsplit (bench->devices, ",", -1);
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (channels && frames && check_words (bench, devices)) {
    GPtrArray *lines = make_lines (channels, frames, devices);

    status = run_lines (bench, lines, frames);
    g_ptr_array_unref (lines);
  }
  g_strfreev (devices);
  g_free (channels);
  g_free (frames);
  return status;
}

GstTfxToolStatus
gst_tfx_bench_run (gint argc, gchar **argv)
{
  Bench bench = { .rate_hz = 48000, .seconds = 0.2 };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 8] = {
    { "channels", 0, 0, G_OPTION_ARG_STRING, &bench.channels,
        "numbers of channels (1,2,8)", "N,…" },
    { "frames", 'n', 0, G_OPTION_ARG_STRING, &bench.frames,
        "frames per block (64,1024,4096)", "N,…" },
    { "devices", 'd', 0, G_OPTION_ARG_STRING, &bench.devices,
        "auto, cpu, cuda (auto)", "NAME,…" },
    { "format", 'f', 0, G_OPTION_ARG_STRING, &bench.format,
        "F32LE or F64LE (F32LE)", "FORMAT" },
    { "rate", 'r', 0, G_OPTION_ARG_INT, &bench.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "seconds", 's', 0, G_OPTION_ARG_DOUBLE, &bench.seconds,
        "duration of each measurement (0.2)", "S" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &bench.output,
        "picture (.svg, .png) beside the table, or file for the table (.csv)",
        "FILE" },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&bench.options, entries + 7);
  if (gst_tfx_tool_parse ("CHAIN",
          "Measures the speed of a chain on this machine, as CSV.",
          "One line per number of channels, block length and device: the "
          "device and kernel that ran it, the median time per sample and "
          "channel in ns, and how many such streams run at once in real time.",
          entries, &argc, &argv) &&
      gst_tfx_options_find_chain (&bench.options, argc, argv, "bench") &&
      gst_tfx_options_read_chain (&bench.options)) {
    gst_tfx_tool_set_default (&bench.channels, "1,2,8");
    gst_tfx_tool_set_default (&bench.frames, "64,1024,4096");
    gst_tfx_tool_set_default (&bench.devices, "auto");
    gst_tfx_tool_set_default (&bench.format, "F32LE");
    status = run_bench (&bench);
  }
  gst_tfx_options_clear (&bench.options);
  g_free (bench.channels);
  g_free (bench.frames);
  g_free (bench.devices);
  g_free (bench.format);
  g_free (bench.output);
  return status;
}
