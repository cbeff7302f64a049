/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxopener.h: a background task that opens a CUDA device while a stream
 * plays.
 *
 * Starting the driver, making a context and loading the kernels takes some
 * tenths of a second, during which the CPU filters.
 */
#ifndef GST_TFX_OPENER_H
#define GST_TFX_OPENER_H

#include "gsttfxcuda.h"
#include "gsttfxelement.h"
#include "gsttfxrow.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

/* Initialize with zeros.  Used in the streaming thread, unless a function
 * allows any. */
typedef struct
{
  GstTfxWorker worker;
  gint is_busy; /* atomic */
} GstTfxOpener;

/* Opens device @device_id (see gst_tfx_cuda_ensure_context()) for the element,
 * and warms it up for @n filters, made for @spec.  Marks the element as ready
 * at the end.  Returns FALSE if no thread can be made. */
gboolean gst_tfx_opener_start (GstTfxOpener *self, GstTfxElement *element,
    gint device_id, GstCudaContext **context, TfxFilter *const *filters,
    gsize n, const TfxFilterSpec *spec);

/* Whether the task has been started and its result not been taken.  Any
 * thread. */
gboolean gst_tfx_opener_is_busy (const GstTfxOpener *self);

/* Takes the result: *cuda, a reference, or *why there is none, to be freed.
 * Returns FALSE if the task was not started, or still runs and @may_wait is
 * FALSE. */
gboolean gst_tfx_opener_take (GstTfxOpener *self, gboolean may_wait,
    TfxCuda **cuda, gchar **why);

/* Waits for the task and discards its result. */
void gst_tfx_opener_stop (GstTfxOpener *self);

/* ---- warm-up, in any thread ---------------------------------------------- */

/* Makes the plan of a locked row.  On a device this waits for kernels to be
 * compiled, which a running stream does not do.  @cuda: that of the row's
 * backend, or NULL. Returns 0 or a negative errno value. */
gint gst_tfx_warm_up_compile (const GstTfxRow *row, TfxCuda *cuda);

/* Runs a block of silence through the filters of a locked row, which have
 * processed nothing, and resets them. */
void gst_tfx_warm_up_run (const GstTfxRow *row, const TfxFilterSpec *spec);

G_END_DECLS

#endif /* GST_TFX_OPENER_H */
