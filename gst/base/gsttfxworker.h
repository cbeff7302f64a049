/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxworker.h: a background task: a thread for work that takes longer than a
 * stream can wait.
 */
#ifndef GST_TFX_WORKER_H
#define GST_TFX_WORKER_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

typedef void (*GstTfxWorkerFunc) (gpointer job);

/* Runs one job at a time, such as reading a file or designing a long kernel.
 * Initialize with zeros, end with gst_tfx_worker_clear().  One thread at a time
 * may call its functions. */
typedef struct
{
  GThread *thread; /* NULL: there is no job */
  gint is_done;    /* atomic */
  GstTfxWorkerFunc run;
  gpointer job;
  GstTfxElement *element;
  GSList *old; /* of GstTfxWorkerOld */
} GstTfxWorker;

/* Calls run (job) in a thread and then marks the element as ready, from that
 * thread, when gst_tfx_worker_take() returns the job.  The element must outlive
 * the job.  Returns FALSE if there is a job already, or if no thread can be
 * made. */
gboolean gst_tfx_worker_start (GstTfxWorker *self, GstTfxWorkerFunc run,
    gpointer job, GstTfxElement *element);

/* The job that runs, or is done and has not been taken; or NULL. */
gpointer gst_tfx_worker_get_job (const GstTfxWorker *self);

/* Takes the job back; NULL if there is none, or if it still runs and @may_wait
 * is FALSE. */
gpointer gst_tfx_worker_take (GstTfxWorker *self, gboolean may_wait);

/* Calls destroy (data) in the thread of the next job, or from
 * gst_tfx_worker_clear().  @data may be NULL. */
void gst_tfx_worker_free_later (GstTfxWorker *self, gpointer data,
    GDestroyNotify destroy);

/* Frees what gst_tfx_worker_free_later() holds.  No job may be running. */
void gst_tfx_worker_clear (GstTfxWorker *self);

G_END_DECLS

#endif /* GST_TFX_WORKER_H */
