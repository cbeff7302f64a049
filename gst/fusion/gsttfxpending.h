/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.h: memory that knows what is still to be done to its samples.
 *
 * A pending memory wraps the buffer's own, with the filters that are still to run
 * over it.  The next tfx element adds its filter; the last one takes the wrapped
 * memory back and runs all of them as one.
 *
 * Whoever else maps it gets filtered samples, because mapping runs what is
 * pending.  One that is freed without having been read runs too: the state of
 * the filters has to hear it.
 */
#ifndef GST_TFX_PENDING_H
#define GST_TFX_PENDING_H

#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

/* How the samples lie in a memory: the first at @offset bytes from its start,
 * strides in samples. */
typedef struct
{
  TfxSample type;
  guint n_channels;
  gsize n_frames;
  gsize offset;
  gssize frame_stride, channel_stride;
  gboolean was_uploaded; /* to where it is, from system memory */
} GstTfxLayout;

/* Leaves @filter to be run over the buffer's only memory, behind what is pending
 * there already.  The buffer must be writable; memory that others hold too is
 * copied.  FALSE if that cannot be done. */
gboolean gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout);

/* The frames of a pending memory that is as it was when its filters were left to
 * it, with interleaved samples of this kind; else -1. */
gssize gst_tfx_pending_n_frames (GstBuffer *buffer, TfxSample type,
    guint n_channels);

/* Whether the samples are on a device because those who left their filters have
 * moved them there. */
gboolean gst_tfx_pending_was_uploaded (GstBuffer *buffer);

/* Whether the buffer has a pending memory, whatever its state. */
gboolean gst_tfx_pending_is_in (GstBuffer *buffer);

/* What was pending in a buffer, which an element is about to run, its own filter
 * behind the others. */
typedef struct
{
  GstTfxRow row;
  GstTfxPending *pending;
} GstTfxPendingRun;

/* The buffer gets its own memory back, and the row's locks are taken: run it, then
 * call gst_tfx_pending_end().  FALSE if there is nothing that could run together
 * with @own: then nothing is pending in the buffer any more, unless others hold
 * its memory too.  The buffer must be writable. */
gboolean gst_tfx_pending_begin (GstTfxPendingRun *run, GstBuffer *buffer,
    GstTfxSharedFilter *own, const GstTfxLayout *layout);
void gst_tfx_pending_end (GstTfxPendingRun *run);

/* ---- for the shared filter ------------------------------------------------------ */

/* Keeps it from being freed.  With the lock of one of its filters held, in whose
 * list it is. */
GstTfxPending *gst_tfx_pending_hold (GstTfxPending *self);
void gst_tfx_pending_release (GstTfxPending *self);

/* Runs it, and before it what has to run before. */
void gst_tfx_pending_run (GstTfxPending *self);

void gst_tfx_pending_free_spare (GstTfxPending *spare);

G_END_DECLS

#endif /* GST_TFX_PENDING_H */
