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

#include "gsttfxrow.h"

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
} GstTfxLayout;

/* Of a sample, in bytes. */
static inline gsize
gst_tfx_layout_width (const GstTfxLayout *self)
{
  return self->type == TFX_SAMPLE_F32 ? sizeof (gfloat) : sizeof (gdouble);
}

/* Leaves @filter to be run over the buffer's only memory, behind what is pending
 * there already.  The buffer must be writable; memory that others hold too is
 * copied.  FALSE if that cannot be done. */
gboolean gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout);

/* The frames of a pending memory that is as it was when its filters were left to
 * it, with interleaved samples of this kind; else -1. */
gssize
gst_tfx_pending_n_frames (GstBuffer *buffer, TfxSample type, guint n_channels);

/* Whether the buffer has a pending memory, whatever its state. */
gboolean gst_tfx_pending_is_in (GstBuffer *buffer);

/* Whether just these filters, in this order, are pending in the buffer; n may be
 * 0. */
gboolean
gst_tfx_pending_is_row (GstBuffer *buffer, TfxFilter *const *filters, gsize n);

/* Runs what is pending; the buffer has its own memory again, unless others hold
 * that too.  The buffer must be writable. */
void gst_tfx_pending_settle (GstBuffer *buffer);

/* A pending memory that an element is about to run, its own filter behind the
 * others. */
typedef struct
{
  GstTfxRow row;
  /*< private >*/
  GstTfxPending *pending;
  GstMapInfo map;    /* of the samples; see gst_tfx_pending_map_samples() */
  GstMemory *memory; /* held till the end */
  gboolean is_taken;
} GstTfxPendingRun;

/* Takes the locks of the row, until gst_tfx_pending_end().  FALSE if there is
 * nothing that could run together with @own: then nothing is pending in the
 * buffer any more, unless others hold its memory too.  The buffer must be
 * writable. */
gboolean gst_tfx_pending_begin (GstTfxPendingRun *run, GstBuffer *buffer,
    GstTfxSharedFilter *own, const GstTfxLayout *layout);

/* Runs the row over the samples where they are.  0 or a negative errno value. */
gint gst_tfx_pending_filter (GstTfxPendingRun *run);

/* In place of that: the buffer gets its own memory back, with the samples as they
 * are, for who runs the row itself. */
void gst_tfx_pending_take (GstTfxPendingRun *run, GstBuffer *buffer);

/* The filters have run: the buffer has its own memory. */
void gst_tfx_pending_end (GstTfxPendingRun *run, GstBuffer *buffer);

/* Runs what is pending: before anything of the filter changes, and before it
 * goes.  With no lock held. */
void gst_tfx_pending_flush (GstTfxSharedFilter *filter);

/* ---- gsttfxpendingdevice.c, for gsttfxpending.c ---------------------------------------- */

/* Runs a locked row over the samples of a memory of gst_tfx_cuda_allocator_alloc(): on
 * the device, or on the CPU if the device cannot or fails.  @shape: the block without
 * its address, which is @start bytes into the memory as it was allocated.  Returns 0 or a
 * negative errno value; -EIO if the memory cannot be mapped. */
gint gst_tfx_pending_device_run (const GstTfxRow *row, GstMemory *memory,
    gsize start, const TfxBlock *shape);

G_END_DECLS

#endif /* GST_TFX_PENDING_H */
