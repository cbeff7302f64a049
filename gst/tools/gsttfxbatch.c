/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxbatch.c: files through a chain, several at once.
 */
#include "gsttfxbatch.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "gsttfxcodec.h"
#include "gsttfxjob.h"
#include "gsttfxjournal.h"
#include "gsttfxmanifest.h"
#include "gsttfxpass.h"
#include "gsttfxreport.h"
#include "gsttfxthreads.h"

/* Between two lines of progress. */
#define PROGRESS_USEC (G_USEC_PER_SEC / 4)

/* The input of an output. */
typedef struct Origin
{
  gchar *input;
  gboolean is_waiting; /* it is still to be run */
} Origin;

typedef void (*JobFunction) (GstTfxBatch *batch, GstTfxJob *job);

struct GstTfxBatch
{
  const GstTfxOptions *options;
  GPtrArray *jobs;     /* of GstTfxJob: of this run, or of the next one */
  GHashTable *outputs; /* their names, to Origin */
  GstTfxJournal *journal;
  GstTfxManifest *manifest; /* NULL: none is asked for */
  gchar *digest;            /* of the options */
  GstTfxMeter *album;       /* all files together; NULL: each is by itself */
  GstTfxJobAlbum album_level;
  GMutex lock;   /* protects the counts and the printed lines */
  guint n_added; /* of all runs, as the others are */
  guint n_done, n_failed, n_before;
  guint n_counted; /* done or failed before this run */
  JobFunction run;
  gboolean shows_progress;
  gboolean is_unrecorded; /* the manifest could not be written */
  gint64 start;
};

/* ---- what is printed ------------------------------------------------------------------ */

static void
clear_progress (const GstTfxBatch *batch)
{
  if (batch->shows_progress)
    g_printerr ("\r\033[K");
}

static void
print_result (const GstTfxBatch *batch, const GstTfxJob *job)
{
  clear_progress (batch);
  if (batch->options->json)
    gst_tfx_report_print_json (job);
  gst_tfx_report_print (job,
      batch->options->json || batch->options->quiet || job->to_stdout);
}

/* Between 0 and 1. */
static gdouble
measure (const GstTfxBatch *batch)
{
  gdouble sum = 0.0;

  for (guint i = 0; i < batch->jobs->len; i++) {
    GstTfxJob *job = g_ptr_array_index (batch->jobs, i);

    sum += g_atomic_int_get (&job->per_mille) / 1000.0;
  }
  return sum / MAX (batch->jobs->len, 1);
}

/* The terminal may be resized. */
static guint
count_columns (void)
{
  struct winsize size;

  return ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
             ? size.ws_col
             : 80;
}

static void
show_progress (gpointer data)
{
  GstTfxBatch *batch = data;
  GString *text = g_string_new (NULL);
  const gdouble part = measure (batch);
  const gdouble taken =
      (gdouble)(g_get_monotonic_time () - batch->start) / G_USEC_PER_SEC;

  g_mutex_lock (&batch->lock);
  clear_progress (batch);
  g_string_append_printf (text, "%3.0f %%", 100.0 * part);
  if (batch->jobs->len > 1)
    g_string_append_printf (text, "  %u of %u files",
        batch->n_done + batch->n_failed - batch->n_counted, batch->jobs->len);
  if (part > 0.01 && taken > 1.0)
    g_string_append_printf (text, "  %.0f s left", taken / part - taken);
  /* A second line would not be cleared. */
  g_printerr ("%.*s", (gint)count_columns () - 1, text->str);
  g_mutex_unlock (&batch->lock);
  g_string_free (text, TRUE);
}

/* ---- the list of jobs --------------------------------------------------------------------- */

static void
free_job (gpointer data)
{
  GstTfxJob *job = data;

  if (job->trace)
    gst_tfx_job_trace_clear (job->trace);
  g_free (job->trace);
  gst_tfx_job_clear (job);
  g_free ((gchar *)job->input);
  g_free ((gchar *)job->output);
  g_free (job);
}

static void
free_origin (gpointer data)
{
  Origin *origin = data;

  g_free (origin->input);
  g_free (origin);
}

GstTfxBatch *
gst_tfx_batch_new (const GstTfxOptions *options)
{
  GstTfxBatch *batch = g_new0 (GstTfxBatch, 1);

  batch->options = options;
  batch->jobs = g_ptr_array_new_with_free_func (free_job);
  batch->outputs =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_origin);
  batch->shows_progress =
      !options->json && !options->quiet && isatty (STDERR_FILENO);
  g_mutex_init (&batch->lock);
  return batch;
}

void
gst_tfx_batch_free (GstTfxBatch *batch)
{
  g_mutex_clear (&batch->lock);
  g_hash_table_unref (batch->outputs);
  g_ptr_array_unref (batch->jobs);
  g_clear_pointer (&batch->journal, gst_tfx_journal_close);
  g_clear_pointer (&batch->manifest, gst_tfx_manifest_close);
  g_free (batch->digest);
  g_clear_pointer (&batch->album, gst_tfx_meter_free);
  g_free (batch);
}

gboolean
gst_tfx_batch_open_folder (GstTfxBatch *batch)
{
  const GstTfxOptions *options = batch->options;
  GError *error = NULL;
  gchar *journal;

  if (options->extension &&
      !gst_tfx_codec_is_known (options->extension, options->keep_video)) {
    gchar *list = gst_tfx_codec_list_extensions (options->keep_video);

    gst_tfx_tool_error ("cannot write .%s files; it can write %s",
        options->extension, list);
    g_free (list);
    return FALSE;
  }
  if (g_mkdir_with_parents (options->out, 0777) < 0) {
    gst_tfx_tool_error ("cannot create the folder %s: %s", options->out,
        g_strerror (errno));
    return FALSE;
  }
  journal = options->journal
                ? g_strdup (options->journal)
                : g_build_filename (options->out, ".gst-tfx-journal", NULL);
  batch->digest = gst_tfx_options_digest (options);
  batch->journal = gst_tfx_journal_open (journal, options->journal != NULL,
      batch->digest, &error);
  g_free (journal);
  if (!batch->journal)
    gst_tfx_tool_error ("%s", error->message);
  g_clear_error (&error);
  return batch->journal != NULL;
}

gboolean
gst_tfx_batch_open_manifest (GstTfxBatch *batch)
{
  const gchar *path = batch->options->manifest;
  gchar *extension = path ? gst_tfx_codec_get_extension (path) : NULL;
  GError *error = NULL;
  gboolean is_open;

  if (extension && gst_tfx_codec_is_known (extension, TRUE))
    g_set_error (&error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
        "the manifest %s has the name of a sound file", path);
  else if (path)
    batch->manifest = gst_tfx_manifest_open (path, FALSE, &error);
  /* (That it cannot be written shows now, not after hours.) */
  if (batch->manifest && gst_tfx_manifest_write (batch->manifest, &error)) {
    if (!batch->digest)
      batch->digest = gst_tfx_options_digest (batch->options);
    /* A GPU may take over in mid-file. */
    g_setenv ("TFX_DEVICE", "cpu", FALSE);
  }
  if (error)
    gst_tfx_tool_error ("%s", error->message);
  is_open = error == NULL;
  g_clear_error (&error);
  g_free (extension);
  return is_open;
}

static GstTfxJob *
add_job (GstTfxBatch *batch, const gchar *input, gchar *output)
{
  GstTfxJob *job = g_new0 (GstTfxJob, 1);
  Origin *origin = g_new (Origin, 1);

  *origin = (Origin){ g_strdup (input), TRUE };
  job->input = g_strdup (input);
  job->output = output;
  gst_tfx_job_set_options (job, batch->options);
  job->trace = batch->manifest ? g_new0 (GstTfxJobTrace, 1) : NULL;
  g_ptr_array_add (batch->jobs, job);
  g_hash_table_insert (batch->outputs, g_strdup (output), origin);
  batch->n_added++;
  return job;
}

void
gst_tfx_batch_add (GstTfxBatch *batch, const gchar *input, const gchar *output)
{
  const gchar *extension =
      batch->options->extension ? batch->options->extension : "wav";
  const gboolean from_stdin = strcmp (input, "-") == 0;
  const gboolean to_stdout = strcmp (output, "-") == 0;
  GstTfxJob *job = add_job (batch, from_stdin ? "standard input" : input,
      g_strdup (to_stdout ? "standard output" : output));

  job->from_stdin = from_stdin;
  job->to_stdout = to_stdout ? extension : NULL;
}

/* The path of an input relative to a folder; NULL if it is not below it. */
static gchar *
find_relative (const gchar *folder, const gchar *input)
{
  gchar *base = g_canonicalize_filename (folder, NULL);
  gchar *path, *relative;
  gsize n;

  path = g_canonicalize_filename (input, NULL);
  /* (Of the root alone the slash is a part.) */
  n = strcmp (base, "/") == 0 ? 0 : strlen (base);
  relative = strncmp (path, base, n) == 0 && path[n] == '/'
                 ? g_strdup (path + n + 1)
                 : NULL;
  g_free (base);
  g_free (path);
  return relative;
}

/* The input's name in the other folder, with an extension that can be written.
 * NULL after a message. */
static gchar *
name_output (const GstTfxOptions *options, const gchar *input,
    const gchar *folder)
{
  const gchar *base = options->base ? options->base : folder;
  gchar *name =
      base ? find_relative (base, input) : g_path_get_basename (input);
  gchar *own = gst_tfx_codec_get_extension (input);
  const gchar *extension = options->extension ? options->extension
                           : gst_tfx_codec_is_known (own, options->keep_video)
                               ? NULL
                               : "wav";
  gchar *with_extension, *path = NULL;

  if (!name) {
    gst_tfx_tool_error ("%s is not below the folder --base %s", input, base);
  } else if (extension) {
    if (*own)
      name[strlen (name) - strlen (own) - 1] = '\0';
    with_extension = g_strconcat (name, ".", extension, NULL);
    path = g_build_filename (options->out, with_extension, NULL);
    g_free (with_extension);
  } else {
    path = g_build_filename (options->out, name, NULL);
  }
  g_free (own);
  g_free (name);
  return path;
}

/* Returns whether this input made the output before, by the journal, and so may overwrite it;
 * is_done: the output is complete. */
static gboolean
find_before (GstTfxBatch *batch, const gchar *input, const gchar *output,
    gboolean *is_done)
{
  *is_done = gst_tfx_journal_is_done (batch->journal, input, output);
  return *is_done || gst_tfx_journal_is_begun (batch->journal, input, output);
}

static gboolean
add_to_folder (GstTfxBatch *batch, const gchar *input, const gchar *folder,
    gboolean is_changed)
{
  gchar *output = name_output (batch->options, input, folder);
  const Origin *other;
  gboolean is_done, is_own;
  GstTfxJob *job;

  if (!output)
    return FALSE;
  other = g_hash_table_lookup (batch->outputs, output);
  if (other && strcmp (other->input, input) != 0) {
    gst_tfx_tool_error ("%s and %s would both become %s", other->input, input,
        output);
    g_free (output);
    return FALSE;
  }
  if (gst_tfx_tool_would_replace (output, input)) {
    gst_tfx_tool_error ("%s would be overwritten by its own output", input);
    g_free (output);
    return FALSE;
  }
  if (other && other->is_waiting) {
    /* It is named twice, and will be done. */
    g_free (output);
    return TRUE;
  }
  is_own = find_before (batch, input, output, &is_done);
  if (is_done && !is_changed &&
      (!batch->manifest || gst_tfx_manifest_has (batch->manifest, input, output,
                               batch->digest))) {
    batch->n_before++;
    g_free (output);
  } else {
    job = add_job (batch, input, output);
    job->overwrite |= other || is_own;
    job->must_keep_codec = !batch->options->extension;
  }
  return TRUE;
}

gboolean
gst_tfx_batch_add_to_folder (GstTfxBatch *batch, const gchar *input,
    const gchar *folder)
{
  return add_to_folder (batch, input, folder, FALSE);
}

gboolean
gst_tfx_batch_add_changed (GstTfxBatch *batch, const gchar *input)
{
  return add_to_folder (batch, input, NULL, TRUE);
}

/* ---- running ------------------------------------------------------------------------------ */

/* The folder for the output, and a line in the journal. */
static gboolean
begin_job (GstTfxBatch *batch, GstTfxJob *job, const gchar *state)
{
  gchar *folder = g_path_get_dirname (job->output);

  if (batch->journal && g_mkdir_with_parents (folder, 0777) < 0)
    gst_tfx_pass_fail_output (job, "cannot create the folder %s: %s", folder,
        g_strerror (errno));
  else if (batch->journal && g_access (job->output, F_OK) != 0)
    gst_tfx_journal_begin (batch->journal, job->input, state, job->output,
        &job->error);
  g_free (folder);
  return job->error == NULL;
}

static void
run_job (GstTfxBatch *batch, GstTfxJob *job)
{
  GError *error = NULL;
  gchar *state;
  gboolean is_done;

  if (gst_tfx_tool_is_interrupted () || job->error || job->is_before)
    return;
  state = gst_tfx_journal_look_at (job->input);
  is_done = begin_job (batch, job, state) && gst_tfx_job_run (job);
  g_atomic_int_set (&job->per_mille, 1000);
  g_mutex_lock (&batch->lock);
  if (is_done && batch->journal &&
      !gst_tfx_journal_add (batch->journal, job->input, state, job->output,
          &error)) {
    gst_tfx_tool_error ("%s", error->message);
    g_clear_error (&error);
  }
  batch->n_done += is_done;
  batch->n_failed += !is_done;
  print_result (batch, job);
  g_mutex_unlock (&batch->lock);
  g_free (state);
}

/* In the order of the inputs, with what an earlier run has recorded. */
static void
write_manifest (GstTfxBatch *batch)
{
  GError *error = NULL;

  for (guint i = 0; i < batch->jobs->len; i++) {
    const GstTfxJob *job = g_ptr_array_index (batch->jobs, i);

    if (!job->error && job->trace->output.sha256)
      gst_tfx_manifest_add (batch->manifest, job, batch->options,
          batch->digest);
  }
  batch->is_unrecorded = !gst_tfx_manifest_write (batch->manifest, &error);
  if (error)
    gst_tfx_tool_error ("%s", error->message);
  g_clear_error (&error);
}

/* Of a folder that is watched for months there is no end of jobs. */
static void
drop_jobs (GstTfxBatch *batch)
{
  for (guint i = 0; i < batch->jobs->len; i++) {
    const GstTfxJob *job = g_ptr_array_index (batch->jobs, i);
    Origin *origin = g_hash_table_lookup (batch->outputs, job->output);

    origin->is_waiting = FALSE;
  }
  g_ptr_array_set_size (batch->jobs, 0);
}

static void
run_one (gpointer data, guint number)
{
  GstTfxBatch *batch = data;

  batch->run (batch, g_ptr_array_index (batch->jobs, number));
}

/* GStreamer cannot run without threads either. */
static void
fail_all (GstTfxBatch *batch, const GError *error)
{
  for (guint i = 0; i < batch->jobs->len; i++) {
    GstTfxJob *job = g_ptr_array_index (batch->jobs, i);

    if (job->error || job->is_before)
      continue;
    gst_tfx_pass_fail (job, "%s", error->message);
    batch->n_failed++;
    print_result (batch, job);
  }
}

/* Calls a function for each job, several at once. */
static void
run_all (GstTfxBatch *batch, JobFunction run)
{
  GError *error = NULL;

  batch->run = run;
  if (!gst_tfx_threads_run (batch->jobs->len, (guint)batch->options->n_jobs,
          run_one, batch->shows_progress ? show_progress : NULL, PROGRESS_USEC,
          batch, &error))
    fail_all (batch, error);
  g_clear_error (&error);
  clear_progress (batch);
}

/* ---- albums --------------------------------------------------------------------------- */

static void
measure_job (GstTfxBatch *batch, GstTfxJob *job)
{
  GstTfxMeter *meter;
  gboolean is_measured;

  if (gst_tfx_tool_is_interrupted ())
    return;
  meter = gst_tfx_meter_new ();
  is_measured = gst_tfx_job_measure (job, meter);
  g_mutex_lock (&batch->lock);
  if (is_measured) {
    gst_tfx_meter_merge (batch->album, meter);
  } else {
    batch->n_failed++;
    g_atomic_int_set (&job->per_mille, 1000);
    print_result (batch, job);
  }
  g_mutex_unlock (&batch->lock);
  gst_tfx_meter_free (meter);
}

/* One gain: no true peak of any file passes the limit, so the album may stay below the
 * loudness that is asked for. */
static void
find_album_gain (GstTfxBatch *batch)
{
  const GstTfxOptions *options = batch->options;
  GstTfxJobAlbum *level = &batch->album_level;
  GstTfxLoudness measured;
  gdouble most_db;

  gst_tfx_meter_read (batch->album, &measured);
  level->input_lufs = measured.integrated;
  level->true_peak_db = measured.true_peak;
  if (!(level->input_lufs > GST_TFX_JOB_SILENCE_LUFS)) {
    g_printerr ("warning: the album is silent (below -70 LUFS): its level is "
                "unchanged\n");
    return;
  }
  if (options->loudness) {
    level->gain_db = options->target_lufs - level->input_lufs;
    most_db = options->most_peak_db - level->true_peak_db;
    if (level->gain_db > most_db)
      g_printerr ("warning: the album: at %.1f LUFS the true peaks would reach "
                  "%+.1f dBTP: with peaks of %g dBTP it has %.1f LUFS\n",
          options->target_lufs, level->true_peak_db + level->gain_db,
          options->most_peak_db, level->input_lufs + most_db);
    /* (Rounded down, so that the journal has all of it.) */
    level->gain_db = floor (1000.0 * MIN (level->gain_db, most_db)) / 1000.0;
  }
  if (!options->quiet)
    g_printerr ("the album: %.1f LUFS, %.1f dBTP, gain %+.2f dB\n",
        level->input_lufs, level->true_peak_db, level->gain_db);
}

/* Skips the files that are done with this gain.  Another file in the album gives another. */
static void
find_done (GstTfxBatch *batch)
{
  const GstTfxJobAlbum *level = &batch->album_level;
  gchar *settings = g_strdup_printf ("%s\nalbum %.3f %.2f %.2f", batch->digest,
      level->gain_db, level->input_lufs, level->true_peak_db);

  gst_tfx_journal_set_chain (batch->journal, settings);
  g_free (settings);
  for (guint i = 0; i < batch->jobs->len; i++) {
    GstTfxJob *job = g_ptr_array_index (batch->jobs, i);

    if (!job->error &&
        find_before (batch, job->input, job->output, &job->is_before))
      job->overwrite = TRUE;
    if (job->is_before) {
      g_atomic_int_set (&job->per_mille, 1000);
      batch->n_before++;
      batch->n_added--;
    }
  }
}

static void
measure_album (GstTfxBatch *batch)
{
  batch->album = gst_tfx_meter_new ();
  run_all (batch, measure_job);
  if (gst_tfx_tool_is_interrupted () ||
      batch->n_failed + batch->n_done - batch->n_counted == batch->jobs->len)
    return;
  find_album_gain (batch);
  for (guint i = 0; i < batch->jobs->len; i++)
    ((GstTfxJob *)g_ptr_array_index (batch->jobs, i))->album =
        &batch->album_level;
  if (batch->journal)
    find_done (batch);
}

void
gst_tfx_batch_run (GstTfxBatch *batch)
{
  gst_tfx_tool_catch_broken_pipes ();
  batch->start = g_get_monotonic_time ();
  batch->n_counted = batch->n_done + batch->n_failed;
  if (batch->options->album)
    measure_album (batch);
  run_all (batch, run_job);
  if (batch->manifest)
    write_manifest (batch);
  drop_jobs (batch);
}

GstTfxToolStatus
gst_tfx_batch_summarise (const GstTfxBatch *batch)
{
  const guint n_left = batch->n_added - batch->n_done - batch->n_failed;

  if (batch->journal && !batch->options->quiet) {
    g_printerr ("%u done, %u failed", batch->n_done, batch->n_failed);
    if (batch->n_before > 0)
      g_printerr (", %u done before", batch->n_before);
    if (n_left > 0)
      g_printerr (", %u left", n_left);
    g_printerr ("\n");
  }
  if (gst_tfx_tool_is_interrupted ())
    return GST_TFX_TOOL_INTERRUPTED;
  return batch->n_failed > 0 || batch->is_unrecorded ? GST_TFX_TOOL_FAILED
                                                     : GST_TFX_TOOL_OK;
}
