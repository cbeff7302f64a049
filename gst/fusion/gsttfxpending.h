/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.h: a memory that knows what is still to be done to its samples.
 *
 * It wraps the buffer's own memory, with the filters that are still to run over
 * it.  The next tfx element adds its filter; the last one takes the wrapped
 * memory back and runs them all as one.  Whoever else maps it gets filtered
 * samples, because mapping runs what is pending; who frees it unread runs it
 * too, for the filters' state has to hear it.
 */
#ifndef GST_TFX_PENDING_H
#define GST_TFX_PENDING_H

#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

/* How the samples lie in the memory, in bytes from its start. */
typedef struct
{
  TfxSample type;
  guint n_channels;
  gsize n_frames;
  gsize offset;
  gssize frame_stride, channel_stride; /* in samples */
} GstTfxLayout;

/* Leaves @filter to be run over the buffer's only memory, behind what is pending
 * on it already.  FALSE if that cannot be: the memory is not the buffer's alone,
 * has been resized or run since, or has too many filters already.  The buffer
 * must be writable. */
gboolean gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout);

/* Whether something may be pending in the buffer's memory. */
gboolean gst_tfx_pending_is_in (GstBuffer *buffer);

G_END_DECLS

#endif /* GST_TFX_PENDING_H */
