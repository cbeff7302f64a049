/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.h: memory with filters that are still to run over its samples.
 *
 * A pending memory wraps the buffer's own memory, together with the filters
 * that have still to run over it.  The next tfx element adds its filter; the
 * last one takes the wrapped memory back and runs all filters as one plan.
 *
 * Mapping the memory runs what is pending, so every other reader gets filtered
 * samples.  So does freeing it, because the filters need the samples for their
 * state.
 */
#ifndef GST_TFX_PENDING_H
#define GST_TFX_PENDING_H

#include "gsttfxrow.h"

G_BEGIN_DECLS

/* The layout of samples in a memory: the first is @offset bytes from its start;
 * strides are in samples. */
typedef struct
{
  TfxSample type;
  guint n_channels;
  gsize n_frames;
  gsize offset;
  gssize frame_stride, channel_stride;
} GstTfxLayout;

/* The size of a sample in bytes. */
static inline gsize
gst_tfx_layout_width (const GstTfxLayout *self)
{
  return self->type == TFX_SAMPLE_F32 ? sizeof (gfloat) : sizeof (gdouble);
}

/* Defers @filter: it runs over the buffer's only memory after what is already
 * pending there.  The buffer must be writable; memory with other holders is
 * copied.  Returns FALSE if that is not possible. */
gboolean gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout);

/* Whether the buffer has a pending memory, run or not. */
gboolean gst_tfx_pending_is_in (GstBuffer *buffer);

/* Whether exactly these filters, in this order, are pending in the buffer; n
 * may be 0. */
gboolean
gst_tfx_pending_is_row (GstBuffer *buffer, TfxFilter *const *filters, gsize n);

/* Runs what is pending.  The buffer gets its own memory back, unless that has
 * other holders.  The buffer must be writable. */
void gst_tfx_pending_settle (GstBuffer *buffer);

/* A run of a pending memory together with the element's own filter, which is
 * the last. */
typedef struct
{
  GstTfxRow row;
  /* The memory, mapped with no lock held to be read and written.  The caller
   * unmaps it with gst_buffer_unmap(), after gst_tfx_pending_end().  map.memory
   * is NULL for CUDA memory, which is our own, and if mapping failed. */
  GstMapInfo map;
  /*< private >*/
  GstTfxPending *pending;
} GstTfxPendingRun;

/* Gives the buffer its own memory back, unfiltered, and locks the row for the
 * caller, who runs it.  Returns FALSE if no pending memory can run together with
 * @own: then the pending filters have run, and the buffer has its own memory
 * unless that has other holders.  The buffer must be writable. */
gboolean gst_tfx_pending_begin (GstTfxPendingRun *run, GstBuffer *buffer,
    GstTfxSharedFilter *own, const GstTfxLayout *layout);

/* Call after the filters have run: unlocks the row. */
void gst_tfx_pending_end (GstTfxPendingRun *run);

/* Runs all pending memory of the filter.  Call it before the filter changes or
 * is freed, with no lock held. */
void gst_tfx_pending_flush (GstTfxSharedFilter *filter);

G_END_DECLS

#endif /* GST_TFX_PENDING_H */
