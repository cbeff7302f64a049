/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxworker.c: a background task: a thread for work that takes longer than a
 * stream can wait.
 */
#include "gsttfxworker.h"

typedef struct
{
  gpointer data;
  GDestroyNotify destroy;
} GstTfxWorkerOld;

static void
gst_tfx_worker_free_old (gpointer item)
{
  GstTfxWorkerOld *old = item;

  old->destroy (old->data);
  g_free (old);
}

static gpointer
gst_tfx_worker_run (gpointer data)
{
  GstTfxWorker *self = data;
  GstTfxElement *element = self->element;

  g_slist_free_full (g_steal_pointer (&self->old), gst_tfx_worker_free_old);
  self->run (self->job);
  /* From here on the owner may take the job, and start another one once this
   * thread has ended. */
  g_atomic_int_set (&self->is_done, TRUE);
  gst_tfx_element_mark_ready (element);
  return NULL;
}

gboolean
gst_tfx_worker_start (GstTfxWorker *self, GstTfxWorkerFunc run, gpointer job,
    GstTfxElement *element)
{
  if (self->thread)
    return FALSE;
  self->is_done = FALSE;
  self->run = run;
  self->job = job;
  self->element = element;
  self->thread =
      g_thread_try_new ("tfx-worker", gst_tfx_worker_run, self, NULL);
  return self->thread != NULL;
}

gpointer
gst_tfx_worker_get_job (const GstTfxWorker *self)
{
  return self->thread ? self->job : NULL;
}

gpointer
gst_tfx_worker_take (GstTfxWorker *self, gboolean may_wait)
{
  if (!self->thread || (!may_wait && !g_atomic_int_get (&self->is_done)))
    return NULL;
  g_thread_join (g_steal_pointer (&self->thread));
  return g_steal_pointer (&self->job);
}

void
gst_tfx_worker_free_later (GstTfxWorker *self, gpointer data,
    GDestroyNotify destroy)
{
  GstTfxWorkerOld *old;

  if (!data)
    return;
  /* The thread owns the list while it runs. */
  if (self->thread) {
    destroy (data);
    return;
  }
  old = g_new (GstTfxWorkerOld, 1);
  *old = (GstTfxWorkerOld){ data, destroy };
  self->old = g_slist_prepend (self->old, old);
}

void
gst_tfx_worker_clear (GstTfxWorker *self)
{
  g_slist_free_full (g_steal_pointer (&self->old), gst_tfx_worker_free_old);
}
