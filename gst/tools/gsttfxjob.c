/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjob.c: one file filtered into another one, in one pass, or in two if it is to
 * come to a loudness.
 */
#include "gsttfxjob.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "gsttfxcodec.h"
#include "gsttfxcut.h"
#include "gsttfxpart.h"
#include "gsttfxpass.h"
#include "gsttfxtool.h"

/* True peaks of the limiter come up to this far above its threshold. */
#define MARGIN_DB 0.3

static gboolean
is_file (const GstTfxJob *job)
{
  return !job->source && !job->from_stdin;
}

static gboolean
is_read_twice (const GstTfxJob *job)
{
  return job->has_target || job->has_replaygain;
}

static void
check_input (GstTfxJob *job)
{
  GStatBuf *status = &job->before;

  if (is_file (job) && g_stat (job->input, status) < 0)
    gst_tfx_pass_fail (job, "cannot be read: %s", g_strerror (errno));
  else if (S_ISDIR (status->st_mode))
    gst_tfx_pass_fail (job, "is a folder, not a file (--out takes folders)");
  else if (is_read_twice (job) && !S_ISREG (status->st_mode))
    gst_tfx_pass_fail (job, "it is not a file, so it cannot be read twice");
  if (job->key && g_access (job->key, R_OK) < 0)
    gst_tfx_pass_fail (job, "the key %s cannot be read: %s", job->key,
        g_strerror (errno));
}

static void
check_output (GstTfxJob *job)
{
  const GstTfxCodec *codec;
  GStatBuf status;

  if (job->error)
    return;
  codec = gst_tfx_codec_find (job->extension, job->codec, NULL, FALSE,
      job->keep_video, &job->error);
  job->is_of_output = !codec;
  /* (Else the codec is known with the first samples.) */
  if (codec && (job->codec || !job->keeps_codec))
    gst_tfx_codec_check (codec, job->bits, job->output_hz, &job->error);
  if (job->error || job->to_stdout)
    return;
  if (is_file (job) && gst_tfx_tool_would_replace (job->output, job->input))
    gst_tfx_pass_fail (job, "it would be overwritten by its own output");
  else if (job->key && gst_tfx_tool_would_replace (job->output, job->key))
    gst_tfx_pass_fail (job, "the key %s would be overwritten", job->key);
  else if (g_stat (job->output, &status) == 0 && S_ISDIR (status.st_mode))
    gst_tfx_pass_fail_output (job, "%s is a folder, not a file", job->output);
  else if (!job->overwrite && g_access (job->output, F_OK) == 0)
    gst_tfx_pass_fail_output (job, "%s exists (--force overwrites it)",
        job->output);
}

/* FALSE with an error. */
static gboolean
open_part (GstTfxJob *job, GstTfxPart *part)
{
  job->is_of_output =
      !job->to_stdout && !gst_tfx_part_open (part, job->output, &job->error);
  return !job->is_of_output;
}

void
gst_tfx_job_check_whole (GstTfxJob *job, GstClockTime came)
{
  gchar *missing, *of_key = NULL;

  if (job->error || !is_file (job) || job->is_cut)
    return;
  missing = gst_tfx_cut_describe (job->input, came);
  if (!missing)
    missing = g_strdup (job->damage);
  if (!missing && job->key)
    of_key = gst_tfx_cut_describe (job->key, GST_CLOCK_TIME_NONE);
  if (of_key)
    missing = g_strdup_printf ("the key %s: %s", job->key, of_key);
  g_free (of_key);
  job->is_cut = missing != NULL;
  if (missing && job->allow_cut)
    g_printerr ("warning: %s: %s\n", job->input, missing);
  else if (missing)
    gst_tfx_pass_fail (job, "%s (--allow-cut takes it)", missing);
  g_free (missing);
}

/* Writing into the input during the run changes the rest of it; replacing it gives another
 * file to a second pass alone. */
static void
check_same (GstTfxJob *job)
{
  static const gchar changed[] = "it has changed while it was read";
  const GStatBuf *before = &job->before;
  GStatBuf now;

  if (job->error || !is_file (job) || !S_ISREG (before->st_mode) ||
      g_stat (job->input, &now) < 0)
    return;
  if (now.st_ino == before->st_ino && now.st_dev == before->st_dev) {
    if (now.st_size == before->st_size &&
        now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
      return;
  } else if (!is_read_twice (job)) {
    return;
  }
  if (job->allow_cut)
    g_printerr ("warning: %s: %s\n", job->input, changed);
  else
    gst_tfx_pass_fail (job, "%s (--allow-cut takes it)", changed);
}

/* Runs a pass through the chain and `level`, which measures, writes, or both. */
static void
run_pass (GstTfxJob *job, const gchar *level, const gchar *part, guint number,
    guint n_passes, GstTfxMeter *meter, GstTfxLoudness *loudness)
{
  const GstTfxPass pass = { job, level, part, number, n_passes, meter, NULL,
    NULL, number + 1 == n_passes ? job->trace : NULL };

  gst_tfx_pass_run (&pass);
  gst_tfx_job_check_whole (job, job->came);
  if (meter && !job->error && !gst_tfx_meter_read (meter, loudness))
    gst_tfx_pass_fail (job,
        "its loudness cannot be measured at %d Hz, but from 4001 to 1310720",
        job->rate_hz);
}

/* The gain that the file, or its album, needs. */
static void
find_gain (GstTfxJob *job)
{
  GstTfxJobLoudness *loudness = &job->loudness;

  loudness->input_lufs = job->measured.integrated;
  loudness->true_peak_db = job->measured.true_peak;
  loudness->is_silent = !(loudness->input_lufs > GST_TFX_JOB_SILENCE_LUFS);
  if (job->album)
    loudness->gain_db = job->album->gain_db;
  else if (job->has_target && !loudness->is_silent)
    loudness->gain_db = job->target_lufs - loudness->input_lufs;
  loudness->is_limited =
      job->has_target && !job->album && !loudness->is_silent &&
      loudness->true_peak_db + loudness->gain_db > job->most_peak_db;
  loudness->output_lufs = loudness->input_lufs + loudness->gain_db;
}

static void
note_replaygain (GstTfxJob *job, gdouble true_peak_db)
{
  const GstTfxJobAlbum *album = job->album;
  GstTfxReplayGain *tags = &job->gain_tags;

  tags->has_track = job->loudness.output_lufs > GST_TFX_JOB_SILENCE_LUFS;
  tags->track_lufs = job->loudness.output_lufs;
  tags->track_peak_db = true_peak_db;
  if (!album)
    return;
  tags->album_lufs = album->input_lufs + album->gain_db;
  tags->album_peak_db = album->true_peak_db + album->gain_db;
  tags->has_album = tags->album_lufs > GST_TFX_JOB_SILENCE_LUFS;
}

/* Measures the file unless that is done, then applies the gain to the loudness that is asked
 * for, and where a true peak would pass the limit, a limiter behind it.  What the limiter puts
 * out is measured: before it is written, if its tags have that. */
static void
run_levelled (GstTfxJob *job, const gchar *part)
{
  GstTfxJobLoudness *loudness = &job->loudness;
  GstTfxMeter *meter = gst_tfx_meter_new ();
  gchar *level = NULL, gain[G_ASCII_DTOSTR_BUF_SIZE],
        most[G_ASCII_DTOSTR_BUF_SIZE];
  GstTfxLoudness written = { 0 };
  guint n_before = 1;

  if (!job->is_measured)
    run_pass (job, NULL, NULL, 0, 2, meter, &job->measured);
  find_gain (job);
  g_ascii_dtostr (gain, sizeof gain, loudness->gain_db);
  g_ascii_formatd (most, sizeof most, "%.6g", job->most_peak_db - MARGIN_DB);
  if (loudness->is_limited)
    level = g_strdup_printf ("Gain(%s, 'db') | Limiter(%s, true_peak=True)",
        gain, most);
  else if (job->has_target)
    level = g_strdup_printf ("Gain(%s, 'db')", gain);
  written.true_peak = loudness->true_peak_db + loudness->gain_db;
  if (loudness->is_limited && job->has_replaygain && !job->error) {
    /* (The first pass was half of all.) */
    n_before = 3;
    run_pass (job, level, NULL, 2, 4, meter, &written);
    loudness->output_lufs = written.integrated;
  }
  if (job->has_replaygain)
    note_replaygain (job, written.true_peak);
  if (!job->error)
    run_pass (job, level, part, n_before, n_before + 1,
        loudness->is_limited ? meter : NULL, &written);
  if (loudness->is_limited)
    loudness->output_lufs = written.integrated;
  g_free (level);
  gst_tfx_meter_free (meter);
}

static void
begin (GstTfxJob *job)
{
  if (job->is_measured)
    return;
  check_input (job);
  gst_tfx_job_check_whole (job, GST_CLOCK_TIME_NONE);
}

static void
finish (GstTfxJob *job)
{
  if (!job->error && job->is_cut && job->came == 0)
    gst_tfx_pass_fail (job, "it is cut off before its sound begins");
  check_same (job);
}

gboolean
gst_tfx_job_survey (const gchar *path, const gchar *bits,
    gboolean with_loudness, GstTfxJobSamples *samples, GError **error)
{
  GstTfxJob job = { .input = path,
    .chain = "",
    .bits = bits,
    .allow_cut = TRUE };
  GstTfxJobTrace trace = { 0 };
  /* (A second pass: the first has printed the warnings.) */
  GstTfxMeter *meter = with_loudness ? gst_tfx_meter_new () : NULL;
  const GstTfxPass pass = { &job, NULL, NULL, 1, 2, meter, NULL, NULL, &trace };
  GstTfxLoudness loudness = { NAN, NAN, NAN, NAN, NAN };
  gboolean is_done;

  gst_tfx_pass_run (&pass);
  if (meter && !job.error && !gst_tfx_meter_read (meter, &loudness))
    gst_tfx_pass_fail (&job, "its loudness cannot be measured at %d Hz",
        job.rate_hz);
  is_done = job.error == NULL;
  if (is_done) {
    *samples = trace.input;
    samples->sha256 = g_steal_pointer (&trace.input.sha256);
    samples->loudness = loudness;
  } else {
    g_propagate_error (error, g_steal_pointer (&job.error));
  }
  g_clear_pointer (&meter, gst_tfx_meter_free);
  gst_tfx_job_trace_clear (&trace);
  gst_tfx_job_clear (&job);
  return is_done;
}

/* The input is read again for its loudness alone, the part for all. */
static void
survey (GstTfxJob *job, const gchar *part)
{
  GstTfxJobSamples again = { 0 };
  GError *error = NULL;

  if (job->error)
    return;
  if (!gst_tfx_job_survey (job->input, job->bits, TRUE, &again, &error))
    gst_tfx_pass_fail (job, "cannot be read twice: %s", error->message);
  else if (strcmp (again.sha256, job->trace->input.sha256) != 0)
    gst_tfx_pass_fail (job, "it has changed while it was read");
  else if (!gst_tfx_job_survey (part, NULL, TRUE, &job->trace->output, &error))
    gst_tfx_pass_fail_output (job, "%s cannot be read back: %s", job->output,
        error->message);
  job->trace->input.loudness = again.loudness;
  g_free (again.sha256);
  g_clear_error (&error);
}

gboolean
gst_tfx_job_run (GstTfxJob *job)
{
  const gint64 start = g_get_monotonic_time ();
  GstTfxPart part = { .path = (gchar *)"-",
    .kept_as = job->source ? job->output : NULL };
  gchar *own;

  job->extension = job->to_stdout ? g_strdup (job->to_stdout)
                                  : gst_tfx_codec_get_extension (job->output);
  own = is_file (job) ? gst_tfx_codec_get_extension (job->input) : NULL;
  job->keeps_codec = g_strcmp0 (own, job->extension) == 0;
  g_free (own);
  begin (job);
  check_output (job);
  if (job->error || !open_part (job, &part))
    return FALSE;
  if (is_read_twice (job))
    run_levelled (job, part.path);
  else
    run_pass (job, NULL, part.path, 0, 1, NULL, NULL);
  if (job->trace)
    survey (job, part.path);
  finish (job);
  if (!job->to_stdout) {
    if (!job->error)
      job->is_of_output =
          !gst_tfx_part_publish (&part, job->overwrite, &job->error);
    gst_tfx_part_close (&part);
  }
  job->seconds += (gdouble)(g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  return job->error == NULL;
}

void
gst_tfx_job_set_options (GstTfxJob *job, const GstTfxOptions *options)
{
  job->chain = options->chain;
  job->key = options->key;
  job->codec = options->codec;
  job->bits = options->bits;
  job->output_hz = options->output_hz;
  job->dither = options->dither;
  job->noise_shaping = options->noise_shaping;
  job->has_target = options->loudness != NULL;
  job->target_lufs = options->target_lufs;
  job->most_peak_db = options->most_peak_db;
  job->has_replaygain = options->replaygain;
  job->tail = options->tail_ns;
  job->overwrite = options->overwrite;
  job->allow_cut = options->allow_cut;
  job->keep_video = options->keep_video;
}

gboolean
gst_tfx_job_repeat (GstTfxJob *job)
{
  begin (job);
  if (job->error)
    return FALSE;
  if (is_read_twice (job))
    run_levelled (job, NULL);
  else
    run_pass (job, NULL, NULL, 0, 1, NULL, NULL);
  finish (job);
  return job->error == NULL;
}

gboolean
gst_tfx_job_measure (GstTfxJob *job, GstTfxMeter *meter)
{
  const gint64 start = g_get_monotonic_time ();

  begin (job);
  if (job->error)
    return FALSE;
  run_pass (job, NULL, NULL, 0, is_read_twice (job) ? 2 : 1, meter,
      &job->measured);
  finish (job);
  job->is_measured = job->error == NULL;
  job->seconds += (gdouble)(g_get_monotonic_time () - start) / G_USEC_PER_SEC;
  return job->is_measured;
}

void
gst_tfx_job_trace_clear (GstTfxJobTrace *trace)
{
  g_free (trace->input.sha256);
  g_free (trace->output.sha256);
  g_free (trace->result_sha256);
  g_free (trace->kernel);
  *trace = (GstTfxJobTrace){ 0 };
}

void
gst_tfx_job_clear (GstTfxJob *job)
{
  g_clear_error (&job->error);
  g_clear_pointer (&job->extension, g_free);
  g_clear_pointer (&job->format, g_free);
  g_clear_pointer (&job->damage, g_free);
}
