/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsharedfilter.h: a filter that an element shares with the buffers in
 * which it is pending.
 *
 * It lists its pending memories in stream order.  They hold no reference to it:
 * call gst_tfx_pending_flush() before you release the last one.
 *
 * Locks: take the lock of a pending memory first, then those of its filters,
 * all at once (tfx_filter_lock_all()).  No thread holds the locks of two
 * pending memories.
 */
#ifndef GST_TFX_SHARED_FILTER_H
#define GST_TFX_SHARED_FILTER_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* The most filters in a fused row. */
#define GST_TFX_ROW_MAX 64

typedef struct _GstTfxPending GstTfxPending;
typedef struct _GstTfxSharedFilter GstTfxSharedFilter;

/* An item in a filter's list of pending memories. */
typedef struct _GstTfxPendingLink GstTfxPendingLink;
struct _GstTfxPendingLink
{
  GstTfxSharedFilter *filter;
  GstTfxPending *owner;
  GstTfxPendingLink *next;
};

/* Totals of the rows (gsttfxrow.h) that end in a filter. */
typedef struct
{
  TfxStats stats;             /* device and kernel are those of the last run */
  gsize n_stages, n_sections; /* of the last run */
  gint error;     /* of a device that failed: a negative errno value, or 0 */
  guint64 n_lost; /* frames that could not be filtered */
} GstTfxRowCounts;

/* Under the filter's lock, unless a field is atomic. */
struct _GstTfxSharedFilter
{
  gint refs;         /* atomic */
  TfxFilter *filter; /* constant */
  GstTfxPendingLink *first, *last;
  guint64 n_pending;         /* atomic: frames in pending memory */
  const TfxBackend *backend; /* for rows that end here */
  GstObject *context;        /* context of the backend, or NULL */
  gboolean
      is_mixing; /* the CPU runs a change that the backend does not support */
  TfxPlan *plan; /* of the last row, or NULL */
  TfxStats plan_stats; /* counts of the plan that are in counts.stats */
  GstTfxRowCounts counts;
  GstTfxPending *spare; /* atomic: for the next buffer */
  void (*free_spare) (GstTfxPending *spare);
};

/* Takes ownership of @filter. */
GstTfxSharedFilter *gst_tfx_shared_filter_new (TfxFilter *filter);

/* Any thread, with no lock held. */
GstTfxSharedFilter *gst_tfx_shared_filter_ref (GstTfxSharedFilter *self);
void gst_tfx_shared_filter_unref (GstTfxSharedFilter *self);

/* Whether the filter has pending memory.  For the thread that defers it. */
static inline gboolean
gst_tfx_shared_filter_is_pending (const GstTfxSharedFilter *self)
{
  return __atomic_load_n (&self->first, __ATOMIC_ACQUIRE) != NULL;
}

/* Sets the backend of rows that end in the filter, and holds @context (or NULL)
 * until the next call.  With no lock held. */
void gst_tfx_shared_filter_set_backend (GstTfxSharedFilter *self,
    const TfxBackend *backend, GstObject *context);

/* Frees the plan; the state returns to the filters.  With no lock held. */
void gst_tfx_shared_filter_drop_plan (GstTfxSharedFilter *self);

/* ---- for gsttfxrow.c ----------------------------------------------------- */

/* Adds what the plan has counted since the last call.  The filters of the plan
 * are locked. */
void gst_tfx_shared_filter_count (GstTfxSharedFilter *self);
void gst_tfx_shared_filter_free_plan (GstTfxSharedFilter *self);

G_END_DECLS

#endif /* GST_TFX_SHARED_FILTER_H */
