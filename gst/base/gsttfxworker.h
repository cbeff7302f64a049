/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxworker.h: a thread for what takes longer than a stream can wait.
 */
#ifndef GST_TFX_WORKER_H
#define GST_TFX_WORKER_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

typedef void (*GstTfxWorkerFunc) (gpointer job);

/* Does one job at a time, such as reading a file or designing a long kernel.
 * It starts with all zero and ends with gst_tfx_worker_clear().  Its owner's
 * functions are those of one thread at a time. */
typedef struct
{
  GThread *thread; /* NULL: there is no job */
  gint is_done;    /* atomic */
  GstTfxWorkerFunc run;
  gpointer job;
  GstTfxElement *element;
  GSList *old; /* of GstTfxWorkerOld */
} GstTfxWorker;

/* Has run (job) called in a thread, and the element marked as ready when that is
 * done: in that thread, with gst_tfx_worker_take() working already.  The element
 * must outlive the job.  FALSE if there is another job still, or if no thread is
 * to be had. */
gboolean gst_tfx_worker_start (GstTfxWorker *self, GstTfxWorkerFunc run,
    gpointer job, GstTfxElement *element);

/* The job under way, or done and not yet taken; or NULL. */
gpointer gst_tfx_worker_get_job (const GstTfxWorker *self);

/* The job, back in the hands of its owner; NULL if there is none, or if it is
 * not done yet and @may_wait is FALSE. */
gpointer gst_tfx_worker_take (GstTfxWorker *self, gboolean may_wait);

/* Has destroy (data) called where that disturbs nobody: in the thread of the
 * next job, or at the end.  NULL is allowed. */
void gst_tfx_worker_free_later (GstTfxWorker *self, gpointer data,
    GDestroyNotify destroy);

/* Frees what was to be freed later.  No job may be under way. */
void gst_tfx_worker_clear (GstTfxWorker *self);

G_END_DECLS

#endif /* GST_TFX_WORKER_H */
