/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbench.c: gst-tfx bench: what a chain costs on this machine.
 */
#include <string.h>

#include "gsttfxmeasure.h"
#include "gsttfxoptions.h"
#include "gsttfxtool.h"

#define MAX_CHANNELS 1024
#define MAX_FRAMES 1048576

typedef struct Bench
{
  GstTfxOptions options; /* the chain alone */
  gchar *channels, *frames, *devices, *format;
  gint rate_hz;
  gdouble seconds; /* for each shape */
} Bench;

static gboolean
run_shape (const Bench *bench, const gchar *device, gint n_channels,
    gint n_frames)
{
  const GstTfxShape shape = { bench->format, bench->rate_hz, n_channels,
    n_frames };
  GstTfxFigures figures;
  const gboolean is_good = gst_tfx_measure_run (bench->options.chain, device,
      &shape, bench->seconds, &figures);

  if (is_good && figures.device)
    g_print ("%d,%d,%s,%s,%s,%.3f,%.1f\n", n_channels, n_frames, device,
        figures.device, figures.kernel, figures.ns_per_sample,
        1e9 /
            (MAX (figures.ns_per_sample, 1e-6) * n_channels * bench->rate_hz));
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

  for (guint i = 0; words[i]; i++) {
    guint64 number;

    if (!g_ascii_string_to_unsigned (words[i], 10, 1, (guint64)max, &number,
            NULL)) {
      gst_tfx_tool_error ("%s is '%s', but must be whole numbers from 1 to %d "
                          "with commas between",
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
  for (guint i = 0; devices[i]; i++) {
    if (strcmp (devices[i], "auto") != 0 && strcmp (devices[i], "cpu") != 0 &&
        strcmp (devices[i], "cuda") != 0) {
      gst_tfx_tool_error ("a device is '%s', but must be auto, cpu or cuda",
          devices[i]);
      return FALSE;
    }
  }
  if (strcmp (bench->format, "F32LE") != 0 &&
      strcmp (bench->format, "F64LE") != 0) {
    gst_tfx_tool_error ("format is '%s', but must be F32LE or F64LE",
        bench->format);
    return FALSE;
  }
  if (bench->rate_hz < 1 || !(bench->seconds >= 0.0)) {
    gst_tfx_tool_error ("rate is %d Hz and seconds %g, but neither may be "
                        "below "
                        "0, nor the rate 0",
        bench->rate_hz, bench->seconds);
    return FALSE;
  }
  return TRUE;
}

static GstTfxToolStatus
run_bench (const Bench *bench)
{
  gint *channels = read_numbers ("channels", bench->channels, MAX_CHANNELS);
  gint *frames = read_numbers ("frames", bench->frames, MAX_FRAMES);
  gchar **devices = g_strsplit (bench->devices, ",", -1);
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (channels && frames && check_words (bench, devices)) {
    status = GST_TFX_TOOL_OK;
    g_print ("channels,frames,device,ran_on,kernel,ns_per_sample,"
             "times_real_time\n");
    for (gint *c = channels; *c; c++) {
      for (gint *f = frames; *f; f++) {
        for (gchar **d = devices; *d; d++) {
          if (gst_tfx_tool_is_interrupted ())
            status = GST_TFX_TOOL_INTERRUPTED;
          else if (!run_shape (bench, *d, *c, *f))
            status = GST_TFX_TOOL_FAILED;
        }
      }
    }
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
  const GOptionEntry entries[] = { { "channels", 'c', 0, G_OPTION_ARG_STRING,
                                       &bench.channels,
                                       "numbers of channels (1,2,8)", "N,…" },
    { "frames", 'n', 0, G_OPTION_ARG_STRING, &bench.frames,
        "lengths of blocks (64,1024,4096)", "N,…" },
    { "devices", 'd', 0, G_OPTION_ARG_STRING, &bench.devices,
        "auto, cpu, cuda (auto)", "NAME,…" },
    { "format", 'f', 0, G_OPTION_ARG_STRING, &bench.format,
        "F32LE or F64LE (F32LE)", "FORMAT" },
    { "rate", 'r', 0, G_OPTION_ARG_INT, &bench.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "seconds", 's', 0, G_OPTION_ARG_DOUBLE, &bench.seconds,
        "how long each is measured (0.2)", "S" },
    { NULL } };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  bench.channels = g_strdup ("1,2,8");
  bench.frames = g_strdup ("64,1024,4096");
  bench.devices = g_strdup ("auto");
  bench.format = g_strdup ("F32LE");
  if (gst_tfx_tool_parse ("CHAIN", "Measures what a chain costs, as CSV.",
          "A line for each number of channels, length of blocks and device: "
          "where it ran, by which kernel, nanoseconds for a sample of one "
          "channel (the median), and how many such streams could run at once "
          "in real time.",
          entries, &argc, &argv)) {
    if (argc != 2) {
      gst_tfx_tool_error ("bench takes one chain, in quotes");
    } else {
      bench.options.chain = g_strdup (argv[1]);
      if (gst_tfx_options_read_chain (&bench.options))
        status = run_bench (&bench);
    }
  }
  gst_tfx_options_clear (&bench.options);
  g_free (bench.channels);
  g_free (bench.frames);
  g_free (bench.devices);
  g_free (bench.format);
  return status;
}
