/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxloudness.c: gst-tfx loudness: how loud sound files are, by EBU R 128.
 */
#include <math.h>

#include <gst/gst.h>

#include "gsttfxjob.h"
#include "gsttfxjson.h"
#include "gsttfxoptions.h"
#include "gsttfxreport.h"
#include "gsttfxsource.h"
#include "gsttfxtool.h"

static void
print_json (const GstTfxJob *job, const GstTfxLoudness *l)
{
  GString *text = g_string_new ("{\"input\": ");

  gst_tfx_json_quote (text, job->input);
  g_string_append (text, ", ");
  gst_tfx_report_append_number (text, "integrated", l->integrated);
  gst_tfx_report_append_number (text, "range", l->range);
  gst_tfx_report_append_number (text, "momentary_max", l->momentary_max);
  gst_tfx_report_append_number (text, "short_term_max", l->short_term_max);
  gst_tfx_report_append_number (text, "true_peak", l->true_peak);
  gst_tfx_report_append_number (text, "seconds",
      (gdouble)job->duration / GST_SECOND);
  gst_tfx_report_end_json (text, job);
}

static gboolean
measure (const GstTfxOptions *options, const gchar *path)
{
  GstTfxJob job = { .input = path,
    .chain = options->chain,
    .allow_cut = options->allow_cut };
  GstTfxMeter *meter = gst_tfx_meter_new ();
  GstTfxLoudness l = { NAN, NAN, NAN, NAN, NAN };
  const gboolean is_done = gst_tfx_job_measure (&job, meter);

  if (is_done)
    l = job.measured;

  if (options->json)
    print_json (&job, &l);
  else if (is_done)
    g_print ("%10.1f  %5.1f  %9.1f  %10.1f  %9.1f  %s\n",
        gst_tfx_tool_round (l.integrated, 1), gst_tfx_tool_round (l.range, 1),
        gst_tfx_tool_round (l.momentary_max, 1),
        gst_tfx_tool_round (l.short_term_max, 1),
        gst_tfx_tool_round (l.true_peak, 1), path);
  if (is_done)
    gst_tfx_report_tell_short (&job, "");
  else
    gst_tfx_tool_error ("%s: %s", path, job.error->message);
  gst_tfx_meter_free (meter);
  gst_tfx_job_clear (&job);
  return is_done;
}

static GstTfxToolStatus
measure_all (const GstTfxOptions *options, gchar **paths)
{
  GPtrArray *files = g_ptr_array_new_with_free_func (g_free);
  GstTfxToolStatus status = GST_TFX_TOOL_OK;
  guint n_others = 0;

  for (; *paths; paths++) {
    if (!g_file_test (*paths, G_FILE_TEST_IS_DIR))
      g_ptr_array_add (files, g_strdup (*paths));
    else if (!gst_tfx_source_list_folder (*paths, NULL, files, &n_others))
      status = GST_TFX_TOOL_FAILED;
  }
  if (!options->json)
    g_print ("integrated  range  momentary  short-term  true peak  file\n"
             "      LUFS     LU   max LUFS    max LUFS       dBTP\n");
  for (guint i = 0; i < files->len && !gst_tfx_tool_is_interrupted (); i++) {
    if (!measure (options, g_ptr_array_index (files, i)))
      status = GST_TFX_TOOL_FAILED;
  }
  g_ptr_array_unref (files);
  return gst_tfx_tool_is_interrupted () ? GST_TFX_TOOL_INTERRUPTED : status;
}

GstTfxToolStatus
gst_tfx_loudness_run (gint argc, gchar **argv)
{
  GstTfxOptions options = { NULL };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 3] = {
    { "allow-cut", 0, 0, G_OPTION_ARG_NONE, &options.allow_cut,
        "measure truncated or damaged files too, with a warning", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json,
        "print one JSON object per file and line", NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&options, entries + 2);
  if (gst_tfx_tool_parse ("FILE|FOLDER…",
          "Measures the loudness of sound files by EBU R 128: integrated "
          "loudness, loudness range, the maxima of momentary and short-term "
          "loudness, and the true peak.",
          "With --chain, --chain-file or --preset it measures what comes out "
          "of that chain.\n\n"
          "Examples:\n"
          "  gst-tfx loudness programme.wav\n"
          "  gst-tfx loudness --json *.flac\n",
          entries, &argc, &argv)) {
    const gboolean has_chain = gst_tfx_options_has_chain (&options);

    if (!has_chain)
      options.chain = g_strdup ("");
    if (argc < 2)
      gst_tfx_tool_error ("loudness takes one or more files");
    else if (!has_chain || gst_tfx_options_read_chain (&options))
      status = measure_all (&options, argv + 1);
  }
  gst_tfx_options_clear (&options);
  return status;
}
