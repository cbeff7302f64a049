/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_worker.c: the thread for what takes longer than a stream can wait.
 */
#include "gsttfxworker.h"

#include <gst/check/gstcheck.h>

typedef struct
{
  gint n_ready;    /* atomic; its address stands for the element */
  gint may_end;    /* atomic: run() waits for it */
  GThread *thread; /* that it was run in */
} Job;

static void
run (gpointer data)
{
  Job *job = data;

  job->thread = g_thread_self ();
  while (!g_atomic_int_get (&job->may_end))
    g_usleep (100);
}

/* In place of the element's. */
void
gst_tfx_element_mark_ready (GstTfxElement *self)
{
  g_atomic_int_inc ((gint *)(gpointer)self);
}

static gboolean
start (GstTfxWorker *worker, Job *job)
{
  return gst_tfx_worker_start (worker, run, job,
      (GstTfxElement *)(gpointer)&job->n_ready);
}

/* One job at a time, in another thread, told of when it is done. */
GST_START_TEST (test_jobs)
{
  GstTfxWorker worker = { NULL };

  fail_unless (gst_tfx_worker_take (&worker, TRUE) == NULL);
  for (guint i = 0; i < 20; i++) {
    gboolean may_wait = i & 1;
    Job job = { .may_end = may_wait }, other = { .may_end = TRUE };
    gpointer taken;

    fail_unless (gst_tfx_worker_get_job (&worker) == NULL);
    fail_unless (start (&worker, &job));
    fail_unless (gst_tfx_worker_get_job (&worker) == &job);
    fail_if (start (&worker, &other));
    if (!may_wait) {
      fail_unless (gst_tfx_worker_take (&worker, FALSE) == NULL);
      g_atomic_int_set (&job.may_end, TRUE);
      while (g_atomic_int_get (&job.n_ready) == 0)
        g_usleep (100);
    }
    /* Done when it has told so. */
    taken = gst_tfx_worker_take (&worker, may_wait);
    fail_unless (taken == &job);
    fail_unless_equals_int (job.n_ready, 1);
    fail_unless (job.thread && job.thread != g_thread_self ());
    fail_unless_equals_int (other.n_ready, 0);
  }
  gst_tfx_worker_clear (&worker);
}
GST_END_TEST;

static gint n_freed; /* atomic */
static GThread *freed_in;

static void
destroy (gpointer data)
{
  freed_in = g_thread_self ();
  g_atomic_int_inc (&n_freed);
}

/* What is old is freed by the thread of the next job, or at the end. */
GST_START_TEST (test_free_later)
{
  GstTfxWorker worker = { NULL };
  Job job = { .may_end = TRUE };

  g_atomic_int_set (&n_freed, 0);
  gst_tfx_worker_free_later (&worker, NULL, destroy);
  gst_tfx_worker_free_later (&worker, &job, destroy);
  gst_tfx_worker_free_later (&worker, &job, destroy);
  fail_unless_equals_int (g_atomic_int_get (&n_freed), 0);
  fail_unless (start (&worker, &job));
  fail_unless (gst_tfx_worker_take (&worker, TRUE) == &job);
  fail_unless_equals_int (g_atomic_int_get (&n_freed), 2);
  fail_unless (freed_in == job.thread);

  gst_tfx_worker_free_later (&worker, &job, destroy);
  gst_tfx_worker_clear (&worker);
  fail_unless_equals_int (g_atomic_int_get (&n_freed), 3);
  fail_unless (freed_in == g_thread_self ());
}
GST_END_TEST;

static Suite *
worker_suite (void)
{
  Suite *s = suite_create ("worker");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_jobs);
  tcase_add_test (tc, test_free_later);
  return s;
}

GST_CHECK_MAIN (worker);
