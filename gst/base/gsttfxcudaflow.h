/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaflow.h: buffers that are, or are to be, in CUDA memory.
 *
 * Only for elements whose caps say so, on one side or the other
 * (GstTfxDeviceState.has_cuda_memory).
 */
#ifndef GST_TFX_CUDA_FLOW_H
#define GST_TFX_CUDA_FLOW_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

/* Whether the buffer's samples are on a device, or are to be. */
gboolean gst_tfx_cuda_flow_is_needed (GstTfxElement *self, GstBuffer *buffer);

/* Then: filters *buffer, which is writable, with what is pending on it, into
 * another one, wherever the filter runs.  *buffer stays if it is silence that
 * stays silence.  0 or a negative errno value. */
gint gst_tfx_cuda_flow_filter (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* Whether it is in the memory that the source pad's caps say. */
gboolean gst_tfx_cuda_flow_fits (GstTfxElement *self, GstBuffer *buffer);

/* A buffer was filtered.  Moves its samples to the memory that the source pad's
 * caps say, if they are not there; *buffer may then be another one.  FALSE after an error
 * message. */
gboolean gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* Offers a pool of CUDA memory to whoever is upstream.  FALSE if there is
 * none. */
gboolean gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_CUDA_FLOW_H */
