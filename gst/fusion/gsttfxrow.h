/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrow.h: filters that run as one plan, on the backend of the last one.
 * If a device fails, or does not support the current operation, the CPU
 * continues.
 *
 * An element shares its filter with the buffers in which it is pending
 * (gsttfxpending.h).  The filter lists them in stream order.  They hold no
 * reference to it: call gst_tfx_pending_flush() before you release the last one.
 *
 * Locks: take the lock of a pending memory first, then those of its filters,
 * all at once (tfx_filter_lock_all()).  No thread holds the locks of two
 * pending memories.
 */
#ifndef GST_TFX_ROW_H
#define GST_TFX_ROW_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* ---- shared filters ------------------------------------------------------ */

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

/* Totals of the rows that end in a filter. */
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

/* ---- rows ---------------------------------------------------------------- */

/* A row of filters; @last is the last of them. */
typedef struct
{
  TfxFilter *const *filters;
  gsize n;
  GstTfxSharedFilter *last;
} GstTfxRow;

/* Locks the filters, and frees a plan of another row in the last one. */
void gst_tfx_row_lock (const GstTfxRow *self);
void gst_tfx_row_unlock (const GstTfxRow *self);

/* All other functions require the row to be locked. */

/* Makes the plan if there is none.  Returns 0 or a negative errno value. */
gint gst_tfx_row_compile (const GstTfxRow *self);

/* Whether the next run will probably be on a device. */
gboolean gst_tfx_row_is_on_device (const GstTfxRow *self);

/* Filters @in to @out.  For blocks in host memory (@in_host) the CPU finishes a
 * run that the device fails or does not support.  For other blocks
 * gst_tfx_row_is_on_device() must hold; if the run fails, call
 * gst_tfx_row_leave_device() and run the rest in host memory.  Returns 0 or a
 * negative errno value, with gst_tfx_row_n_done() frames done. */
gint gst_tfx_row_run (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gboolean in_host);
gsize gst_tfx_row_n_done (const GstTfxRow *self);

/* Finishes blocks in host memory on the CPU after the device failed with
 * @err. */
gint gst_tfx_row_run_rest (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gsize n_done, gint err);

/* Starts and finishes a block in host memory: see tfx_plan_start().  Between
 * the two the row may only run and start blocks of the same kind.  The CPU
 * finishes what the device fails. */
gboolean gst_tfx_row_can_start (const GstTfxRow *self);
gint gst_tfx_row_start (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight);
gint gst_tfx_row_finish (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight);

/* Moves the row to the CPU after @err: until no change is running for -ENOTSUP
 * and -EINPROGRESS, else for good. */
void gst_tfx_row_leave_device (const GstTfxRow *self, gint err);

/* The part of a block from a frame on. */
TfxBlock gst_tfx_row_rest (const TfxBlock *block, gsize from);

/* Advances filters for which tfx_filter_is_silent() over n_frames of silence. */
void gst_tfx_row_pass (const GstTfxRow *self, gsize n_frames);

/* Whether a parameter ramp, a warm-up or a cross-fade is running. */
gboolean gst_tfx_row_is_changing (const GstTfxRow *self);

G_END_DECLS

#endif /* GST_TFX_ROW_H */
