/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsharedfilter.h: a filter that an element shares with the buffers which
 * it has left unfiltered.
 *
 * It owns the TfxFilter, and knows the pending memories in which that is still to
 * run, in the order of the stream.  It lives on while a buffer needs it, also
 * when its element has gone.
 *
 * Locks: a pending memory's own lock is taken first, then those of its filters
 * (tfx_filter_lock_all()).  Nobody holds the locks of two pending memories.
 */
#ifndef GST_TFX_SHARED_FILTER_H
#define GST_TFX_SHARED_FILTER_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

typedef struct _GstTfxSharedFilter GstTfxSharedFilter;
typedef struct _GstTfxPending GstTfxPending;

/* The filters of a fused row: at most so many. */
#define GST_TFX_ROW_MAX 64

/* A place in a filter's list of pending memories. */
typedef struct _GstTfxPendingLink GstTfxPendingLink;
struct _GstTfxPendingLink
{
  GstTfxSharedFilter *filter;
  GstTfxPending *owner;
  GstTfxPendingLink *next;
};

/* What the runs of rows that end in a filter came to, since it was made. */
typedef struct
{
  TfxStats stats; /* device and kernel: of the last run */
  guint64 n_stages, n_sections; /* of the last run */
  gint error;     /* negative errno of a device that failed, or 0 */
  gsize n_lost;   /* frames that could not be filtered */
} GstTfxRowCounts;

/* Under the filter's lock, unless it says otherwise. */
struct _GstTfxSharedFilter
{
  gint refs; /* atomic */
  TfxFilter *filter; /* never changes */
  GstTfxPendingLink *first, *last; /* atomic to read: is there any? */
  const TfxBackend *backend; /* for rows that end here */
  GObject *context; /* what it runs on, or NULL */
  TfxPlan *plan; /* of the row that was run last, or NULL */
  TfxStats plan_stats; /* of the plan, as last seen */
  GstTfxRowCounts counts;
  GstTfxPending *spare; /* atomic */
};

/* Takes over the reference to @filter. */
GstTfxSharedFilter *gst_tfx_shared_filter_new (TfxFilter *filter);
GstTfxSharedFilter *gst_tfx_shared_filter_ref (GstTfxSharedFilter *self);
void gst_tfx_shared_filter_unref (GstTfxSharedFilter *self);

/* What is still pending is run: before anything of the filter changes.  With no
 * lock held. */
void gst_tfx_shared_filter_flush (GstTfxSharedFilter *self);

/* Where rows that end here run from the next one on.  @context (or NULL) is held
 * as long as that.  With no lock held. */
void gst_tfx_shared_filter_set_backend (GstTfxSharedFilter *self,
    const TfxBackend *backend, GObject *context);

/* The plan is freed; the state goes back to the filters.  With no lock held. */
void gst_tfx_shared_filter_drop_plan (GstTfxSharedFilter *self);

G_END_DECLS

#endif /* GST_TFX_SHARED_FILTER_H */
