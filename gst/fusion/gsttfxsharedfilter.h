/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsharedfilter.h: a filter that an element shares with the buffers which
 * it has left unfiltered.
 *
 * It knows the pending memories in which the filter is still to run, in the
 * order of the stream.  They hold no reference to it: whoever lets go of it runs
 * them first (gst_tfx_pending_flush()).
 *
 * Locks: the lock of a pending memory is taken first, then those of its filters,
 * all at once (tfx_filter_lock_all()).  Nobody holds the locks of two pending
 * memories.
 */
#ifndef GST_TFX_SHARED_FILTER_H
#define GST_TFX_SHARED_FILTER_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* The filters of a fused row: at most so many. */
#define GST_TFX_ROW_MAX 64

typedef struct _GstTfxPending GstTfxPending;
typedef struct _GstTfxSharedFilter GstTfxSharedFilter;

/* A place in a filter's list of pending memories. */
typedef struct _GstTfxPendingLink GstTfxPendingLink;
struct _GstTfxPendingLink
{
  GstTfxSharedFilter *filter;
  GstTfxPending *owner;
  GstTfxPendingLink *next;
};

/* What the rows (gsttfxrow.h) that end in a filter came to, since it was made. */
typedef struct
{
  TfxStats stats;             /* device and kernel are those of the last run */
  gsize n_stages, n_sections; /* of the last run */
  gint error;     /* of a device that failed, a negative errno value, or 0 */
  guint64 n_lost; /* frames that nobody could filter */
} GstTfxRowCounts;

/* Under the filter's lock, unless it says otherwise. */
struct _GstTfxSharedFilter
{
  gint refs;         /* atomic */
  TfxFilter *filter; /* does not change */
  GstTfxPendingLink *first, *last;
  guint64 n_pending;         /* atomic: frames in these */
  const TfxBackend *backend; /* for rows that end here */
  GstObject *context;        /* what it runs on, or NULL */
  gboolean is_mixing;        /* the CPU runs what the backend cannot, for now */
  TfxPlan *plan;             /* of the row that ran last, or NULL */
  TfxStats plan_stats;       /* its own, as far as they are counted */
  GstTfxRowCounts counts;
  GstTfxPending *spare; /* atomic: serves the next buffer */
  void (*free_spare) (GstTfxPending *spare);
};

/* Takes over the reference to @filter. */
GstTfxSharedFilter *gst_tfx_shared_filter_new (TfxFilter *filter);

/* Any thread, with no lock held. */
GstTfxSharedFilter *gst_tfx_shared_filter_ref (GstTfxSharedFilter *self);
void gst_tfx_shared_filter_unref (GstTfxSharedFilter *self);

/* Whether it is still to run over a pending memory.  For the thread that leaves
 * it to others. */
static inline gboolean
gst_tfx_shared_filter_is_pending (const GstTfxSharedFilter *self)
{
  return __atomic_load_n (&self->first, __ATOMIC_ACQUIRE) != NULL;
}

/* Where rows that end here run from now on.  @context (or NULL) is held as long
 * as that.  With no lock held. */
void gst_tfx_shared_filter_set_backend (GstTfxSharedFilter *self,
    const TfxBackend *backend, GstObject *context);

/* Frees the plan: the state goes back to its filters.  With no lock held. */
void gst_tfx_shared_filter_drop_plan (GstTfxSharedFilter *self);

/* ---- for gsttfxrow.c ----------------------------------------------------------- */

/* What the plan has counted since it was last looked at.  The plan's filters are
 * locked. */
void gst_tfx_shared_filter_count (GstTfxSharedFilter *self);
void gst_tfx_shared_filter_free_plan (GstTfxSharedFilter *self);

G_END_DECLS

#endif /* GST_TFX_SHARED_FILTER_H */
