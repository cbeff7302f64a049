/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrecord.c: gst-tfx record: a microphone through a chain into a file.
 */
#include <string.h>

#include <gst/gst.h>

#include "gsttfxjob.h"
#include "gsttfxoptions.h"
#include "gsttfxtool.h"

static GstTfxToolStatus
record (const GstTfxOptions *options, const gchar *source, const gchar *output)
{
  GstTfxJob job = { .input = source,
    .output = output,
    .source = source,
    .chain = options->chain,
    .codec = options->codec,
    .bits = options->bits,
    .output_hz = options->output_hz,
    .overwrite = options->overwrite };
  const gboolean is_done = gst_tfx_job_run (&job);

  if (!is_done)
    gst_tfx_tool_error ("%s", job.error->message);
  else if (!options->quiet)
    g_print ("%s (%.1f s of sound)\n", output,
        (gdouble)job.duration / GST_SECOND);
  gst_tfx_job_clear (&job);
  return is_done ? GST_TFX_TOOL_OK : GST_TFX_TOOL_FAILED;
}

GstTfxToolStatus
gst_tfx_record_run (gint argc, gchar **argv)
{
  GstTfxOptions options = { NULL };
  gchar *source = NULL;
  GOptionEntry entries[7 + GST_TFX_OPTIONS_N_CHAIN] = {
    { "source", 's', 0, G_OPTION_ARG_FILENAME, &source,
        "GStreamer elements to record from (autoaudiosrc)", "ELEMENTS" },
    { "codec", 0, 0, G_OPTION_ARG_STRING, &options.codec,
        "codec of the file (the usual one of its extension)", "NAME" },
    { "bits", 0, 0, G_OPTION_ARG_STRING, &options.bits,
        "sample format of the file: 16, 24, 32 or float (16)", "BITS" },
    { "rate", 'r', 0, G_OPTION_ARG_STRING, &options.rate,
        "sample rate of the file (that of the source)", "HZ" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &options.overwrite,
        "overwrite an existing output", NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &options.quiet, "print errors only",
        NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&options, entries + 6);
  if (gst_tfx_tool_parse ("OUT CHAIN",
          "Records the microphone through a chain until it is interrupted.",
          "The extension of OUT selects the format. The file appears under its "
          "name when it is complete.\n\n"
          "Examples:\n"
          "  gst-tfx record voice.flac 'HiButterworth(80)'\n"
          "  gst-tfx record --source 'alsasrc device=hw:1' voice.wav "
          "'Gain(2)'\n",
          entries, &argc, &argv)) {
    gst_tfx_tool_set_default (&source, "autoaudiosrc");
    if (gst_tfx_options_read_format (&options) &&
        gst_tfx_options_take_chain (&options, argc, argv,
            "record takes OUT CHAIN (see gst-tfx record --help)"))
      status = record (&options, source, argv[1]);
  }
  gst_tfx_options_clear (&options);
  g_free (source);
  return status;
}
