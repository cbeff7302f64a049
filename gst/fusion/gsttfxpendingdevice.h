/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpendingdevice.h: what is pending in CUDA memory, run where it lies.
 */
#ifndef GST_TFX_PENDING_DEVICE_H
#define GST_TFX_PENDING_DEVICE_H

#include "gsttfxrow.h"

G_BEGIN_DECLS

/* Runs a row over the samples of a memory of gst_tfx_cuda_allocator_alloc(), by
 * the device or, where that cannot or fails, by the CPU.  @shape says how they
 * lie, but for the address: they begin @start bytes into the memory as it was
 * allocated.  0 or a negative errno value; -EIO if the samples cannot be had.
 * With the row locked. */
gint gst_tfx_pending_device_run (const GstTfxRow *row, GstMemory *memory,
    gsize start, const TfxBlock *shape);

G_END_DECLS

#endif /* GST_TFX_PENDING_DEVICE_H */
