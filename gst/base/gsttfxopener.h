/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxopener.h: opens a CUDA device beside a stream that plays.
 *
 * To start the driver, make a context and load the kernels takes some tenths of a
 * second.  Meanwhile the CPU filters.
 */
#ifndef GST_TFX_OPENER_H
#define GST_TFX_OPENER_H

#include "gsttfxcuda.h"
#include "gsttfxelement.h"
#include "gsttfxrow.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

/* Starts with all zero.  Of the streaming thread, unless it says otherwise. */
typedef struct
{
  GstTfxWorker worker;
  gint is_busy; /* atomic */
} GstTfxOpener;

/* Opens device @device_id (see gst_tfx_cuda_ensure_context()) for the element, and
 * makes ready what the filters of @row, made for @spec, want of it.  The element is
 * marked as ready when that is done.  FALSE if there is no thread to be had. */
gboolean gst_tfx_opener_start (GstTfxOpener *self, GstTfxElement *element,
    gint device_id, GstCudaContext **context, TfxFilter *const *filters,
    gsize n, const TfxFilterSpec *spec);

/* Any thread: it has been started, and what came of it has not been taken. */
gboolean gst_tfx_opener_is_busy (const GstTfxOpener *self);

/* What came of it: *cuda, a reference, or *why there is none, to be freed.  FALSE
 * if it is not busy, or is still at it and @may_wait is FALSE. */
gboolean gst_tfx_opener_take (GstTfxOpener *self, gboolean may_wait,
    TfxCuda **cuda, gchar **why);

/* Waits for it, and nobody wants what comes of it. */
void gst_tfx_opener_stop (GstTfxOpener *self);

/* ---- warm-up, in any thread ------------------------------------------------------------ */

/* Makes the plan of a locked row.  On a device this waits for kernels to be compiled,
 * which a running stream does not do.  @cuda: that of the row's backend, or NULL.
 * Returns 0 or a negative errno value. */
gint gst_tfx_warm_up_compile (const GstTfxRow *row, TfxCuda *cuda);

/* Runs a block of silence through the filters of a locked row, which have processed
 * nothing, and resets them. */
void gst_tfx_warm_up_run (const GstTfxRow *row, const TfxFilterSpec *spec);

G_END_DECLS

#endif /* GST_TFX_OPENER_H */
