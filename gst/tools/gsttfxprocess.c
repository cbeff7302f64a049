/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxprocess.c: gst-tfx process: files through a chain, several at once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "gsttfxcodec.h"
#include "gsttfxjob.h"
#include "gsttfxjournal.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

/* Between two lines of progress. */
#define PROGRESS_USEC (G_USEC_PER_SEC / 4)

typedef struct Options
{
  gchar *chain, *chain_file, *out, *extension, *names;
  gint n_jobs;
  gboolean overwrite, json, quiet, with_nul;
} Options;

typedef struct Batch
{
  Options options;
  GPtrArray *jobs; /* of GstTfxJob */
  GstTfxJournal *journal;
  GMutex lock; /* of what is printed, and of the counts */
  guint n_done, n_failed, n_before;
  gboolean shows_progress;
  gint64 start;
} Batch;

/* ---- what is printed ------------------------------------------------------------------ */

static void
clear_progress (const Batch *batch)
{
  if (batch->shows_progress)
    g_printerr ("\r\033[K");
}

static void
print_json (const GstTfxJob *job)
{
  gchar *input = gst_tfx_tool_quote_json (job->input);
  gchar *output = gst_tfx_tool_quote_json (job->output);
  gchar *why =
      job->error ? gst_tfx_tool_quote_json (job->error->message) : NULL;
  gchar seconds[G_ASCII_DTOSTR_BUF_SIZE], took[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (seconds, sizeof seconds, "%.6f",
      (gdouble)job->duration / GST_SECOND);
  g_ascii_formatd (took, sizeof took, "%.3f", job->seconds);
  g_print ("{\"input\": %s, \"output\": %s, \"status\": \"%s\", "
           "\"format\": \"%s\", \"rate\": %d, \"channels\": %d, "
           "\"seconds\": %s, \"took\": %s, \"error\": %s}\n",
      input, output, job->error ? "failed" : "done",
      job->format ? job->format : "", job->rate_hz, job->n_channels, seconds,
      took, why ? why : "null");
  g_free (input);
  g_free (output);
  g_free (why);
}

static void
print_result (const Batch *batch, const GstTfxJob *job)
{
  const gdouble seconds = (gdouble)job->duration / GST_SECOND;

  clear_progress (batch);
  if (batch->options.json)
    print_json (job);
  if (job->error)
    gst_tfx_tool_error ("%s: %s", job->input, job->error->message);
  else if (!batch->options.json && !batch->options.quiet)
    g_print ("%s (%.1f s of sound, %.0f times faster than real time)\n",
        job->output, seconds, seconds / MAX (job->seconds, 1e-6));
}

/* Between 0 and 1. */
static gdouble
measure (const Batch *batch)
{
  gdouble sum = 0.0;

  for (guint i = 0; i < batch->jobs->len; i++) {
    GstTfxJob *job = g_ptr_array_index (batch->jobs, i);

    sum += g_atomic_int_get (&job->per_mille) / 1000.0;
  }
  return sum / MAX (batch->jobs->len, 1);
}

static void
show_progress (Batch *batch)
{
  const gdouble part = measure (batch);
  const gdouble taken =
      (gdouble)(g_get_monotonic_time () - batch->start) / G_USEC_PER_SEC;

  g_mutex_lock (&batch->lock);
  clear_progress (batch);
  g_printerr ("%3.0f %%", 100.0 * part);
  if (batch->jobs->len > 1)
    g_printerr ("  %u of %u files", batch->n_done + batch->n_failed,
        batch->jobs->len);
  if (part > 0.01 && taken > 1.0)
    g_printerr ("  %.0f s left", taken / part - taken);
  g_mutex_unlock (&batch->lock);
}

/* ---- what is asked ---------------------------------------------------------------------- */

static gboolean
read_chain (Options *options)
{
  TfxExprError error;
  GError *fault = NULL;
  TfxExpr *expr;

  if (options->chain && options->chain_file) {
    gst_tfx_tool_error ("--chain and --chain-file are given both");
    return FALSE;
  }
  if (options->chain_file && !g_file_get_contents (options->chain_file,
                                 &options->chain, NULL, &fault)) {
    gst_tfx_tool_error ("%s", fault->message);
    g_clear_error (&fault);
    return FALSE;
  }
  if (!options->chain) {
    gst_tfx_tool_error ("there is no chain");
    return FALSE;
  }
  expr = tfx_expr_parse (options->chain, strlen (options->chain), &error);
  if (!expr) {
    g_printerr ("error: the chain: %s\n", error.rendered);
    return FALSE;
  }
  tfx_expr_free (&expr);
  return TRUE;
}

/* Names, one in a line or each with a NUL behind, of a file or of standard
 * input. */
static gboolean
read_names (const Options *options, GPtrArray *names)
{
  const gboolean is_stdin = strcmp (options->names, "-") == 0;
  FILE *file = is_stdin ? stdin : g_fopen (options->names, "re");
  const int end = options->with_nul ? '\0' : '\n';
  char *name = NULL;
  size_t size = 0;
  ssize_t n;

  if (!file) {
    gst_tfx_tool_error ("cannot read %s: %s", options->names,
        g_strerror (errno));
    return FALSE;
  }
  while ((n = getdelim (&name, &size, end, file)) > 0) {
    if (name[n - 1] == end)
      name[n - 1] = '\0';
    if (*name)
      g_ptr_array_add (names, g_strdup (name));
  }
  free (name);
  if (!is_stdin)
    fclose (file);
  return TRUE;
}

/* The input's name in the other folder, with an extension that can be written. */
static gchar *
name_output (const Options *options, const gchar *input)
{
  gchar *base = g_path_get_basename (input);
  gchar *own = gst_tfx_codec_get_extension (base);
  const gchar *extension = options->extension             ? options->extension
                           : gst_tfx_codec_is_known (own) ? NULL
                                                          : "wav";
  gchar *name = NULL, *path;

  if (extension) {
    if (*own)
      base[strlen (base) - strlen (own) - 1] = '\0';
    name = g_strconcat (base, ".", extension, NULL);
  }
  path = g_build_filename (options->out, name ? name : base, NULL);
  g_free (name);
  g_free (own);
  g_free (base);
  return path;
}

static void
free_job (gpointer data)
{
  GstTfxJob *job = data;

  gst_tfx_job_clear (job);
  g_free ((gchar *)job->input);
  g_free ((gchar *)job->output);
  g_free (job);
}

static GstTfxJob *
add_job (Batch *batch, const gchar *input, gchar *output)
{
  GstTfxJob *job = g_new0 (GstTfxJob, 1);

  job->input = g_strdup (input);
  job->output = output;
  job->chain = batch->options.chain;
  job->overwrite = batch->options.overwrite;
  g_ptr_array_add (batch->jobs, job);
  return job;
}

/* No two outputs may have one name. */
static gboolean
add_jobs (Batch *batch, const GPtrArray *names)
{
  GHashTable *outputs = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_good = TRUE;

  for (guint i = 0; i < names->len && is_good; i++) {
    const gchar *input = g_ptr_array_index (names, i), *other;
    gchar *output = name_output (&batch->options, input);

    other = g_hash_table_lookup (outputs, output);
    if (other) {
      gst_tfx_tool_error ("%s and %s would both become %s", other, input,
          output);
      g_free (output);
      is_good = FALSE;
    } else if (batch->journal &&
               gst_tfx_journal_is_done (batch->journal, input, output)) {
      batch->n_before++;
      g_free (output);
    } else {
      add_job (batch, input, output);
      g_hash_table_insert (outputs, output, (gpointer)input);
    }
  }
  g_hash_table_unref (outputs);
  return is_good;
}

/* --out DIR FILE…, or IN OUT [CHAIN]. */
static gboolean
collect (Batch *batch, gint argc, gchar **argv, GPtrArray *names)
{
  Options *options = &batch->options;
  GError *error = NULL;

  if (!options->out) {
    if (argc == 4 && !options->chain && !options->chain_file) {
      options->chain = g_strdup (argv[3]);
    } else if (argc != 3) {
      gst_tfx_tool_error ("process takes IN OUT CHAIN, or --out DIR --chain "
                          "CHAIN FILE…; gst-tfx process --help tells more");
      return FALSE;
    }
    if (!read_chain (options))
      return FALSE;
    add_job (batch, argv[1], g_strdup (argv[2]));
    return TRUE;
  }
  for (gint i = 1; i < argc; i++)
    g_ptr_array_add (names, g_strdup (argv[i]));
  if ((options->names && !read_names (options, names)) || !read_chain (options))
    return FALSE;
  if (options->extension && !gst_tfx_codec_is_known (options->extension)) {
    gst_tfx_tool_error ("nothing here writes files whose name ends in \".%s\"",
        options->extension);
    return FALSE;
  }
  if (g_mkdir_with_parents (options->out, 0777) < 0) {
    gst_tfx_tool_error ("cannot make the folder %s: %s", options->out,
        g_strerror (errno));
    return FALSE;
  }
  batch->journal = gst_tfx_journal_open (options->out, options->chain, &error);
  if (!batch->journal) {
    gst_tfx_tool_error ("%s", error->message);
    g_clear_error (&error);
    return FALSE;
  }
  return add_jobs (batch, names);
}

/* ---- running ------------------------------------------------------------------------------ */

static void
run_job (gpointer data, gpointer user_data)
{
  GstTfxJob *job = data;
  Batch *batch = user_data;
  GError *error = NULL;
  gboolean is_done;

  if (gst_tfx_tool_is_interrupted ())
    return;
  is_done = gst_tfx_job_run (job);
  g_atomic_int_set (&job->per_mille, 1000);
  g_mutex_lock (&batch->lock);
  if (is_done && batch->journal &&
      !gst_tfx_journal_add (batch->journal, job->input, job->output, &error)) {
    gst_tfx_tool_error ("%s", error->message);
    g_clear_error (&error);
  }
  batch->n_done += is_done;
  batch->n_failed += !is_done;
  print_result (batch, job);
  g_mutex_unlock (&batch->lock);
}

static void
run_all (Batch *batch)
{
  GThreadPool *pool =
      g_thread_pool_new (run_job, batch, batch->options.n_jobs, FALSE, NULL);
  guint n = batch->jobs->len;

  batch->start = g_get_monotonic_time ();
  for (guint i = 0; i < n; i++)
    g_thread_pool_push (pool, g_ptr_array_index (batch->jobs, i), NULL);
  while (batch->shows_progress && g_thread_pool_unprocessed (pool) +
                                          g_thread_pool_get_num_threads (pool) >
                                      0) {
    g_usleep (PROGRESS_USEC);
    show_progress (batch);
  }
  g_thread_pool_free (pool, FALSE, TRUE);
  clear_progress (batch);
}

static GstTfxToolStatus
summarise (const Batch *batch)
{
  const guint n_left = batch->jobs->len - batch->n_done - batch->n_failed;

  if (batch->journal && !batch->options.quiet) {
    g_printerr ("%u done, %u failed", batch->n_done, batch->n_failed);
    if (batch->n_before > 0)
      g_printerr (", %u were done before", batch->n_before);
    if (n_left > 0)
      g_printerr (", %u left", n_left);
    g_printerr ("\n");
  }
  if (gst_tfx_tool_is_interrupted ())
    return GST_TFX_TOOL_INTERRUPTED;
  return batch->n_failed > 0 ? GST_TFX_TOOL_FAILED : GST_TFX_TOOL_OK;
}

static const gchar summary[] =
    "Filters sound files: any format that GStreamer decodes, written as the "
    "name "
    "of the output says (.wav, .flac, .ogg, .opus, .mp3 …), with the rate, the "
    "channels, the sample format and the tags of the input.";
static const gchar description[] =
    "An output appears under its name only when it is whole.  With --out, what "
    "is done is written down in DIR, so that the same command goes on where it "
    "was "
    "interrupted.\n\n"
    "Exit status: 0 all is done; 1 a file failed; 2 the command line or the "
    "chain "
    "is wrong; 130 interrupted.\n\n"
    "Examples:\n"
    "  gst-tfx process voice.wav clean.flac 'HiButterworth(80) | Gain(2)'\n"
    "  gst-tfx process --out filtered --chain 'Hum(50)' recordings/*.wav\n"
    "  find . -name '*.flac' -print0 | gst-tfx process --out filtered -0 \\\n"
    "      --files-from - --chain-file chain.txt\n";

GstTfxToolStatus
gst_tfx_process_run (gint argc, gchar **argv)
{
  Batch batch = { .options.n_jobs = (gint)g_get_num_processors () };
  Options *o = &batch.options;
  const GOptionEntry entries[] = {
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o->out,
        "folder for the outputs of many files", "DIR" },
    { "chain", 'c', 0, G_OPTION_ARG_STRING, &o->chain, "the chain", "CHAIN" },
    { "chain-file", 'C', 0, G_OPTION_ARG_FILENAME, &o->chain_file,
        "a file with the chain", "FILE" },
    { "files-from", 'T', 0, G_OPTION_ARG_FILENAME, &o->names,
        "a file with names of inputs, one a line; - is standard input",
        "FILE" },
    { "null", '0', 0, G_OPTION_ARG_NONE, &o->with_nul,
        "these names have a NUL behind them, as find -print0 writes", NULL },
    { "extension", 'e', 0, G_OPTION_ARG_STRING, &o->extension,
        "of the outputs (the input's, or wav)", "EXT" },
    { "jobs", 'j', 0, G_OPTION_ARG_INT, &o->n_jobs,
        "files at once (one for each core)", "N" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &o->overwrite,
        "overwrite outputs that are there", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->json, "a line of JSON for each file",
        NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "errors alone", NULL },
    { NULL }
  };
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (gst_tfx_tool_parse ("IN OUT CHAIN | --out DIR --chain CHAIN FILE…",
          summary, description, entries, &argc, &argv)) {
    batch.jobs = g_ptr_array_new_with_free_func (free_job);
    batch.shows_progress = !o->json && !o->quiet && isatty (STDERR_FILENO);
    g_mutex_init (&batch.lock);
    o->n_jobs = MAX (o->n_jobs, 1);
    if (collect (&batch, argc, argv, names)) {
      run_all (&batch);
      status = summarise (&batch);
    }
    g_mutex_clear (&batch.lock);
    g_ptr_array_unref (batch.jobs);
    g_clear_pointer (&batch.journal, gst_tfx_journal_close);
  }
  g_ptr_array_unref (names);
  g_free (o->chain);
  g_free (o->chain_file);
  g_free (o->out);
  g_free (o->extension);
  g_free (o->names);
  return status;
}
