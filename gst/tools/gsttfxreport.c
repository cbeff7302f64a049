/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxreport.c: the report of a finished or failed file.
 */
#include "gsttfxreport.h"

#include <math.h>

#include "gsttfxjson.h"
#include "gsttfxtool.h"

void
gst_tfx_report_append_number (GString *text, const gchar *name, gdouble value)
{
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.2f",
      gst_tfx_tool_round (value, 2));
  g_string_append_printf (text, "\"%s\": %s, ", name,
      isfinite (value) ? number : "null");
}

void
gst_tfx_report_end_json (GString *text, const GstTfxJob *job)
{
  g_string_append (text, "\"error\": ");
  if (job->error)
    gst_tfx_json_quote (text, job->error->message);
  else
    g_string_append (text, "null");
  g_print ("%s}\n", text->str);
  g_string_free (text, TRUE);
}

static void
append_loudness (GString *text, const GstTfxJobLoudness *loudness)
{
  g_string_append (text, "\"loudness\": {");
  gst_tfx_report_append_number (text, "input", loudness->input_lufs);
  gst_tfx_report_append_number (text, "true_peak", loudness->true_peak_db);
  gst_tfx_report_append_number (text, "gain", loudness->gain_db);
  gst_tfx_report_append_number (text, "output", loudness->output_lufs);
  g_string_append_printf (text, "\"limited\": %s}, ",
      loudness->is_limited ? "true" : "false");
}

/* By EBU R 128. */
#define BLOCK (400 * GST_MSECOND)

gboolean
gst_tfx_report_tell_short (const GstTfxJob *job, const gchar *effect)
{
  const gboolean is_short = job->duration < (gint64)BLOCK;

  if (is_short)
    g_printerr ("warning: %s: it is too short to have a loudness, which is "
                "measured in blocks of 400 ms%s\n",
        job->input, effect);
  return is_short;
}

static void
tell_loudness (const GstTfxJob *job)
{
  const GstTfxJobLoudness *loudness = &job->loudness;
  const gchar *effect = job->has_target && !job->album
                            ? ": its level is unchanged"
                        : job->has_replaygain ? ": it gets no ReplayGain"
                                              : NULL;

  if (loudness->is_limited)
    g_printerr ("warning: %s: at %.1f LUFS the true peaks would reach %+.1f "
                "dBTP: limited to %g dBTP, the output has %.1f LUFS\n",
        job->input, job->target_lufs,
        loudness->true_peak_db + loudness->gain_db, job->most_peak_db,
        loudness->output_lufs);
  else if (loudness->is_silent && effect &&
           !gst_tfx_report_tell_short (job, effect))
    g_printerr ("warning: %s: it is silent (below -70 LUFS)%s\n", job->input,
        effect);
}

static gdouble
get_peak_db (const GstTfxJob *job)
{
  return 20.0 * log10 (job->peak);
}

static void
tell_clipped (const GstTfxJob *job)
{
  g_printerr ("warning: %s: %" G_GUINT64_FORMAT
              " sample%s above full scale clipped, peak %+.2f dBFS\n",
      job->input, job->n_clipped, job->n_clipped == 1 ? "" : "s",
      get_peak_db (job));
}

void
gst_tfx_report_print_json (const GstTfxJob *job)
{
  GString *text = g_string_new ("{\"input\": ");
  gchar seconds[G_ASCII_DTOSTR_BUF_SIZE], took[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (seconds, sizeof seconds, "%.6f",
      (gdouble)job->duration / GST_SECOND);
  g_ascii_formatd (took, sizeof took, "%.3f", job->seconds);
  gst_tfx_json_quote (text, job->input);
  g_string_append (text, ", \"output\": ");
  gst_tfx_json_quote (text, job->output);
  g_string_append_printf (text,
      ", \"status\": \"%s\", \"format\": \"%s\", \"rate\": %d, "
      "\"channels\": %d, ",
      job->error ? "failed" : "done", job->format ? job->format : "",
      job->rate_hz, job->n_channels);
  if ((job->has_target || job->has_replaygain) && !job->error)
    append_loudness (text, &job->loudness);
  g_string_append_printf (text,
      "\"seconds\": %s, \"took\": %s, \"clipped\": %" G_GUINT64_FORMAT ", ",
      seconds, took, job->n_clipped);
  gst_tfx_report_append_number (text, "peak", get_peak_db (job));
  gst_tfx_report_end_json (text, job);
}

void
gst_tfx_report_print (const GstTfxJob *job, gboolean is_quiet)
{
  const gdouble seconds = (gdouble)job->duration / GST_SECOND;
  const gdouble times = seconds / MAX (job->seconds, 1e-6);

  if ((job->has_target || job->has_replaygain) && !job->error)
    tell_loudness (job);
  if (job->n_clipped > 0 && !job->error)
    tell_clipped (job);
  if (job->error && job->is_of_output)
    gst_tfx_tool_error ("%s", job->error->message);
  else if (job->error)
    gst_tfx_tool_error ("%s: %s", job->input, job->error->message);
  else if (!is_quiet)
    g_print ("%s (%.1f s of sound, %.*f times faster than real time)\n",
        job->output, seconds, times < 10.0 ? 1 : 0, times);
}
