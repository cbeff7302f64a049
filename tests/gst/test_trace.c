/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_trace.c: the file of the tracer, on a disk that does not answer.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gsttfxtracefile.h"
#include "tfxcheck.h"

#define N_SLICES 2000

typedef struct
{
  GstTfxTraceFile *file;
  gint is_done; /* atomic */
} Job;

static gpointer
add_slices (gpointer data)
{
  Job *job = data;

  for (guint i = 0; i < N_SLICES; i++)
    gst_tfx_trace_file_add_slice (job->file, "row", "a | b", i * GST_SECOND,
        i * GST_SECOND + 1, "\"frames\":1024");
  gst_tfx_trace_file_flush (job->file, FALSE);
  g_atomic_int_set (&job->is_done, TRUE);
  return NULL;
}

static gpointer
flush (gpointer data)
{
  Job *job = data;

  gst_tfx_trace_file_flush (job->file, FALSE);
  return NULL;
}

/* Rows are added with locks of filters held: while the file is written, which waits
 * for a reader of a pipe here, they do not wait.  Nor does a flush of another thread. */
GST_START_TEST (test_slow_disk)
{
  g_autofree gchar *folder = g_dir_make_tmp ("tfx-trace-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "pipe", NULL);
  GThread *flushing, *adding;
  Job job = { 0 };
  gint fd, is_done;

  fail_unless_equals_int (mkfifo (path, 0600), 0);
  job.file = gst_tfx_trace_file_new (path);
  gst_tfx_trace_file_add_slice (job.file, "row", "a", 0, 1, "");
  flushing = g_thread_new ("flush", flush, &job);
  g_usleep (50000);
  adding = g_thread_new ("add", add_slices, &job);
  for (guint i = 0; i < 3000 && !g_atomic_int_get (&job.is_done); i++)
    g_usleep (1000);
  is_done = g_atomic_int_get (&job.is_done);
  /* A pipe cannot be written at a position. */
  TFX_CHECK_REFUSED (fd = open (path, O_RDONLY); g_thread_join (flushing));
  g_thread_join (adding);
  fail_unless (is_done, "a row or a flush waits for the disk");
  gst_tfx_trace_file_free (job.file);
  close (fd);
  g_unlink (path);
  g_rmdir (folder);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("trace");

  tcase_add_test (tc, test_slow_disk);
  return tfx_check_run (argc, argv, tc);
}
