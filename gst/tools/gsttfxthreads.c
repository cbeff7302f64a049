/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxthreads.c: runs jobs in several threads.
 *
 * A GThreadPool waits for ever where no thread can be made.
 */
#include "gsttfxthreads.h"

typedef struct Threads
{
  void (*run) (gpointer data, guint number);
  gpointer data;
  guint n_jobs;
  gint n_begun, n_working; /* jobs, and threads: atomic */
} Threads;

/* Runs jobs until none is left. */
static gpointer
work (gpointer data)
{
  Threads *threads = data;
  guint number;

  while ((number = (guint)g_atomic_int_add (&threads->n_begun, 1)) <
         threads->n_jobs)
    threads->run (threads->data, number);
  g_atomic_int_add (&threads->n_working, -1);
  return NULL;
}

gboolean
gst_tfx_threads_run (guint n_jobs, guint n_threads,
    void (*run) (gpointer data, guint number), void (*tick) (gpointer data),
    gulong tick_usec, gpointer data, GError **error)
{
  const guint n = MIN (n_threads, n_jobs);
  Threads threads = { run, data, n_jobs, 0, (gint)n };
  GPtrArray *all = g_ptr_array_new ();
  GError *fault = NULL;
  GThread *thread;
  gboolean is_run;

  while (all->len < n &&
         (thread = g_thread_try_new ("job", work, &threads, &fault)))
    g_ptr_array_add (all, thread);
  g_atomic_int_add (&threads.n_working, (gint)all->len - (gint)n);
  while (tick && g_atomic_int_get (&threads.n_working) > 0) {
    g_usleep (tick_usec);
    tick (data);
  }
  for (guint i = 0; i < all->len; i++)
    g_thread_join (all->pdata[i]);
  is_run = !fault || all->len > 0;
  if (!is_run)
    g_propagate_error (error, g_steal_pointer (&fault));
  g_clear_error (&fault);
  g_ptr_array_unref (all);
  return is_run;
}
