/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxverify.c: gst-tfx verify: repeats the jobs of a manifest, and compares.
 *
 * Kernels differ by rounding, and a process has one kernel: a manifest with several is
 * verified by a process for each.
 */
#include <string.h>
#include <sys/wait.h>

#include "gsttfxjob.h"
#include "gsttfxmanifest.h"
#include "gsttfxoptions.h"
#include "gsttfxthreads.h"
#include "gsttfxtool.h"
#include "tfx.h"

typedef struct Verify
{
  const GstTfxManifest *manifest;
  gboolean is_quiet;
  GArray *entries; /* their numbers */
  GMutex lock;     /* for output and counts */
  guint n_ok, n_differ;
} Verify;

static void
    G_GNUC_PRINTF (2, 3) add_fault (GString *faults, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_string_append (faults, faults->len ? "; " : "");
  g_string_append_vprintf (faults, format, arguments);
  va_end (arguments);
}

/* Of the input or the output.  FALSE with a fault. */
static gboolean
compare_samples (const Verify *verify, guint entry, const gchar *name,
    const GstTfxJobSamples *samples, GString *faults)
{
  static const gchar *const keys[] = { "rate", "channels", "frames" };
  const guint64 now[] = { (guint64)samples->rate_hz,
    (guint64)samples->n_channels, samples->n_frames };
  const gsize before = faults->len;
  gchar *key;

  for (gsize i = 0; i < G_N_ELEMENTS (keys) && faults->len == before; i++) {
    gchar *value = g_strdup_printf ("%" G_GUINT64_FORMAT, now[i]);
    const gchar *recorded;

    key = g_strconcat (name, "_", keys[i], NULL);
    recorded = gst_tfx_manifest_get (verify->manifest, entry, key);
    if (strcmp (value, recorded) != 0)
      add_fault (faults, "the %s has changed: %s %s, recorded %s", name,
          keys[i], value, recorded);
    g_free (key);
    g_free (value);
  }
  key = g_strconcat (name, "_sha256", NULL);
  if (faults->len == before &&
      strcmp (samples->sha256,
          gst_tfx_manifest_get (verify->manifest, entry, key)) != 0)
    add_fault (faults, "the %s has changed: other samples", name);
  g_free (key);
  return faults->len == before;
}

static void
check_output (const Verify *verify, guint entry, GString *faults)
{
  const gchar *path = gst_tfx_manifest_get (verify->manifest, entry, "output");
  GstTfxJobSamples samples = { 0 };
  GError *error = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    add_fault (faults, "the output is missing");
  else if (gst_tfx_job_survey (path, NULL, FALSE, &samples, &error))
    compare_samples (verify, entry, "output", &samples, faults);
  else
    add_fault (faults, "the output cannot be read: %s", error->message);
  g_free (samples.sha256);
  g_clear_error (&error);
}

static void
compare_result (const Verify *verify, guint entry, const GstTfxJobTrace *trace,
    GString *faults)
{
  const gchar *kernel =
      gst_tfx_manifest_get (verify->manifest, entry, "kernel");
  const gchar *sha256 =
      gst_tfx_manifest_get (verify->manifest, entry, "result_sha256");

  if (strcmp (kernel, trace->kernel) != 0)
    add_fault (faults,
        "the result cannot be compared on this machine: the kernel was %s, "
        "here it is %s, and kernels differ by rounding",
        kernel, trace->kernel);
  else if (strcmp (trace->result_sha256, sha256) != 0)
    add_fault (faults, "the chain gives another result");
}

/* Filters the input again. */
static void
check_result (const Verify *verify, guint entry, GString *faults)
{
  const gchar *path = gst_tfx_manifest_get (verify->manifest, entry, "input");
  GstTfxOptions options = { .n_jobs = 1, .quiet = TRUE };
  GstTfxJobTrace trace = { 0 };
  GstTfxJob job = { .input = path, .trace = &trace };
  gchar *digest = NULL;
  gboolean is_same = FALSE;

  gst_tfx_manifest_get_options (verify->manifest, entry, &options);
  if (!gst_tfx_options_read (&options)) {
    add_fault (faults, "its options are not valid");
  } else {
    digest = gst_tfx_options_digest (&options);
    is_same = strcmp (digest, gst_tfx_manifest_get (verify->manifest, entry,
                                  "options_sha256")) == 0;
    if (!is_same)
      add_fault (faults, "the chain, a file that it names or an option is "
                         "not the recorded one");
    gst_tfx_job_set_options (&job, &options);
    if (!g_file_test (path, G_FILE_TEST_EXISTS))
      add_fault (faults, "the input %s is missing", path);
    else if (!gst_tfx_job_repeat (&job))
      add_fault (faults, "the input %s: %s", path, job.error->message);
    else if (compare_samples (verify, entry, "input", &trace.input, faults) &&
             is_same)
      compare_result (verify, entry, &trace, faults);
  }
  g_free (digest);
  gst_tfx_job_clear (&job);
  gst_tfx_job_trace_clear (&trace);
  gst_tfx_options_clear (&options);
}

static void
verify_entry (gpointer data, guint number)
{
  Verify *verify = data;
  const guint entry = g_array_index (verify->entries, guint, number);
  const gchar *program =
      gst_tfx_manifest_get (verify->manifest, entry, "gst_tfx");
  const gchar *library =
      gst_tfx_manifest_get (verify->manifest, entry, "gstreamer");
  GString *faults = g_string_new (NULL);
  gchar *own = gst_version_string ();

  if (!gst_tfx_tool_is_interrupted ())
    check_output (verify, entry, faults);
  if (!gst_tfx_tool_is_interrupted ())
    check_result (verify, entry, faults);
  if (faults->len > 0 &&
      (strcmp (program, VERSION) != 0 || strcmp (library, own) != 0))
    g_string_append_printf (faults,
        " (recorded by gst-tfx %s with %s, this is gst-tfx %s with %s)",
        program, library, VERSION, own);
  g_mutex_lock (&verify->lock);
  if (!gst_tfx_tool_is_interrupted ()) {
    verify->n_ok += faults->len == 0;
    verify->n_differ += faults->len > 0;
    if (faults->len > 0 || !verify->is_quiet)
      g_print ("%s: %s%s\n",
          gst_tfx_manifest_get (verify->manifest, entry, "output"),
          faults->len > 0 ? "differs: " : "ok", faults->str);
  }
  g_mutex_unlock (&verify->lock);
  g_string_free (faults, TRUE);
  g_free (own);
}

/* The entries that this kernel made, by it. */
static GstTfxToolStatus
verify_kernel (const GstTfxManifest *manifest, const gchar *kernel, gint n_jobs,
    gboolean is_quiet)
{
  Verify verify = { .manifest = manifest,
    .is_quiet = is_quiet,
    .entries = g_array_new (FALSE, FALSE, sizeof (guint)) };
  gchar **words = g_strsplit (kernel, " ", -1);
  GError *error = NULL;

  g_mutex_init (&verify.lock);
  g_setenv ("TFX_DEVICE", strcmp (words[0], "cuda") == 0 ? "cuda" : "cpu",
      TRUE);
  if (strcmp (words[0], "cpu") == 0 && tfx_cpu_backend_for (words[1]))
    g_setenv ("TFX_CPU", words[1], TRUE);
  for (guint i = 0; i < gst_tfx_manifest_count (manifest); i++) {
    if (strcmp (gst_tfx_manifest_get (manifest, i, "kernel"), kernel) == 0)
      g_array_append_val (verify.entries, i);
  }
  if (!gst_tfx_threads_run (verify.entries->len, (guint)n_jobs, verify_entry,
          NULL, 0, &verify, &error)) {
    gst_tfx_tool_error ("%s", error->message);
    g_error_free (error);
    verify.n_differ = verify.entries->len;
  } else if (!is_quiet) {
    g_printerr ("%u ok, %u differ\n", verify.n_ok, verify.n_differ);
  }
  g_mutex_clear (&verify.lock);
  g_array_unref (verify.entries);
  g_strfreev (words);
  if (gst_tfx_tool_is_interrupted ())
    return GST_TFX_TOOL_INTERRUPTED;
  return verify.n_differ > 0 ? GST_TFX_TOOL_FAILED : GST_TFX_TOOL_OK;
}

/* The same in another process. */
static GstTfxToolStatus
spawn (const gchar *path, const gchar *kernel, gint n_jobs, gboolean is_quiet)
{
  gchar *option = g_strconcat ("--kernel=", kernel, NULL);
  gchar *jobs = g_strdup_printf ("--jobs=%d", n_jobs);
  const gchar *const argv[] = { "/proc/self/exe", "verify", option, jobs,
    is_quiet ? "--quiet" : jobs, "--", path, NULL };
  GError *error = NULL;
  gint status = 0;

  if (!g_spawn_sync (NULL, (gchar **)argv, NULL, G_SPAWN_CHILD_INHERITS_STDIN,
          NULL, NULL, NULL, NULL, &status, &error))
    gst_tfx_tool_error ("%s", error->message);
  g_free (jobs);
  g_free (option);
  if (error || !WIFEXITED (status)) {
    g_clear_error (&error);
    return GST_TFX_TOOL_FAILED;
  }
  return (GstTfxToolStatus)WEXITSTATUS (status);
}

static GstTfxToolStatus
verify_all (const GstTfxManifest *manifest, const gchar *path, gint n_jobs,
    gboolean is_quiet)
{
  GPtrArray *kernels = g_ptr_array_new ();
  GstTfxToolStatus status = GST_TFX_TOOL_OK;

  for (guint i = 0; i < gst_tfx_manifest_count (manifest); i++) {
    const gchar *kernel = gst_tfx_manifest_get (manifest, i, "kernel");

    if (!g_ptr_array_find_with_equal_func (kernels, kernel, g_str_equal, NULL))
      g_ptr_array_add (kernels, (gchar *)kernel);
  }
  if (kernels->len == 1)
    status = verify_kernel (manifest, kernels->pdata[0], n_jobs, is_quiet);
  for (guint i = 0; kernels->len > 1 && i < kernels->len; i++) {
    const GstTfxToolStatus own =
        spawn (path, kernels->pdata[i], n_jobs, is_quiet);

    status = MAX (status, own);
  }
  g_ptr_array_unref (kernels);
  return status;
}

GstTfxToolStatus
gst_tfx_verify_run (gint argc, gchar **argv)
{
  gint n_jobs = (gint)g_get_num_processors ();
  gboolean is_quiet = FALSE;
  gchar *kernel = NULL;
  const GOptionEntry entries[] = {
    { "jobs", 'j', 0, G_OPTION_ARG_INT, &n_jobs,
        "number of files to verify at once (one per core)", "N" },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &is_quiet,
        "print only files that differ", NULL },
    { "kernel", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &kernel,
        "only the files that this device and kernel made", "NAME" },
    { NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;
  GstTfxManifest *manifest = NULL;
  GError *error = NULL;

  if (gst_tfx_tool_parse ("MANIFEST",
          "Verifies what gst-tfx process --manifest has recorded: that each "
          "input and output still has its samples, and that the chain makes "
          "the same result of the input, bit by bit.",
          "The names in a manifest are as they were given to process: run "
          "verify in the same folder.\n\n"
          "Exit status: 0 all files are ok; 1 a file differs, or cannot be "
          "compared; 2 wrong command line or manifest; 130 interrupted.\n\n"
          "Examples:\n"
          "  gst-tfx process --out filtered --manifest made.jsonl \\\n"
          "      --chain 'Hum(50)' recordings\n"
          "  gst-tfx verify made.jsonl\n",
          entries, &argc, &argv)) {
    if (argc != 2)
      gst_tfx_tool_error ("verify takes one manifest");
    else if (!gst_tfx_options_check_jobs (n_jobs))
      status = GST_TFX_TOOL_USAGE;
    else if (!(manifest = gst_tfx_manifest_open (argv[1], TRUE, &error)))
      gst_tfx_tool_error ("%s", error->message);
    else if (kernel)
      status = verify_kernel (manifest, kernel, n_jobs, is_quiet);
    else
      status = verify_all (manifest, argv[1], n_jobs, is_quiet);
  }
  g_clear_error (&error);
  g_clear_pointer (&manifest, gst_tfx_manifest_close);
  g_free (kernel);
  return status;
}
