/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrow.h: filters that run as one plan, on the backend of the last one.
 * If a device fails, or does not support the current operation, the CPU
 * continues.
 */
#ifndef GST_TFX_ROW_H
#define GST_TFX_ROW_H

#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

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

/* Whether the output of silence is silence; _pass() advances the filters over
 * n_frames of it. */
gboolean gst_tfx_row_is_silent (const GstTfxRow *self);
void gst_tfx_row_pass (const GstTfxRow *self, gsize n_frames);

/* Whether a parameter ramp, a warm-up or a cross-fade is running. */
gboolean gst_tfx_row_is_changing (const GstTfxRow *self);

/* Makes the plan if there is none.  Returns 0 or a negative errno value. */
gint gst_tfx_row_compile (const GstTfxRow *self);

G_END_DECLS

#endif /* GST_TFX_ROW_H */
