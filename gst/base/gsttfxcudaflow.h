/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaflow.h: buffers with input or output in CUDA memory.
 *
 * Only for elements with CUDA memory in the caps of a pad
 * (GstTfxDeviceState.has_cuda_memory).
 */
#ifndef GST_TFX_CUDA_FLOW_H
#define GST_TFX_CUDA_FLOW_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

/* Whether the samples are on a device, or the output has to be. */
gboolean gst_tfx_cuda_flow_is_needed (GstTfxElement *self, GstBuffer *buffer);

/* For such a buffer: filters *buffer, which must be writable, and what is
 * pending on it, into another buffer that replaces it, on the device or the
 * CPU.  is_gap: the output is silence too, and *buffer stays.  Returns 0 or a
 * negative errno value. */
gint gst_tfx_cuda_flow_filter (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames, gboolean is_gap);

/* Whether the buffer is in the memory of the source pad's caps. */
gboolean gst_tfx_cuda_flow_fits (GstTfxElement *self, GstBuffer *buffer);

/* Moves a filtered buffer to the memory of the source pad's caps if necessary,
 * which replaces *buffer.  Returns FALSE after an error message. */
gboolean gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* Proposes a pool of CUDA memory upstream.  Returns FALSE if there is none. */
gboolean gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_CUDA_FLOW_H */
