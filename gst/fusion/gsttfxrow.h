/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrow.h: filters that run as one, on the backend of the last one, with its
 * plan.  Where a device fails, or cannot do what is to be done now, the CPU goes on.
 */
#ifndef GST_TFX_ROW_H
#define GST_TFX_ROW_H

#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

/* Filters that run as one, the last of them @last. */
typedef struct
{
  TfxFilter *const *filters;
  gsize n;
  GstTfxSharedFilter *last;
} GstTfxRow;

/* Takes the locks of the row, and sees that no plan of another row is left in
 * the last one. */
void gst_tfx_row_lock (const GstTfxRow *self);
void gst_tfx_row_unlock (const GstTfxRow *self);

/* The rest with the row locked. */

/* Whether it runs on a device, as far as can be told before. */
gboolean gst_tfx_row_is_on_device (const GstTfxRow *self);

/* Filters in to out.  Blocks in host memory (@in_host) are finished by the CPU if
 * the device fails or cannot mix.  0 or a negative errno value: what
 * gst_tfx_row_n_done() says is done then.  For others gst_tfx_row_is_on_device()
 * must hold; if that fails, gst_tfx_row_leave_device() and the rest, in host
 * memory. */
gint gst_tfx_row_run (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gboolean in_host);
gsize gst_tfx_row_n_done (const GstTfxRow *self);

/* The CPU does what a device that failed with @err has left of blocks in host
 * memory. */
gint gst_tfx_row_run_rest (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gsize n_done, gint err);

/* Whether a block in host memory can be started: see tfx_plan_start().  Until it
 * is finished, by the CPU if the device fails, the row runs and starts others
 * like it alone. */
gboolean gst_tfx_row_can_start (const GstTfxRow *self);
gint gst_tfx_row_start (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight);
gint gst_tfx_row_finish (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight);

/* The CPU takes over what has failed with @err: for good, or, if that is
 * -ENOTSUP, until nothing is changing any more. */
void gst_tfx_row_leave_device (const GstTfxRow *self, gint err);

/* The frames of a block from one on. */
TfxBlock gst_tfx_row_rest (const TfxBlock *block, gsize from);

/* Whether silence gives silence; time goes by with it. */
gboolean gst_tfx_row_is_silent (const GstTfxRow *self);
void gst_tfx_row_pass (const GstTfxRow *self, gsize n_frames);

/* Whether a glide, a catch-up or a cross-fade is under way. */
gboolean gst_tfx_row_is_changing (const GstTfxRow *self);

/* Makes the plan, if there is none.  0 or a negative errno value. */
gint gst_tfx_row_compile (const GstTfxRow *self);

G_END_DECLS

#endif /* GST_TFX_ROW_H */
