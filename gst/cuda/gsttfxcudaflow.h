/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaflow.h: buffers that are, or are to be, in CUDA memory.
 *
 * Only for elements that may meet such buffers (GstTfxDevicePlace.may_have_cuda_memory).
 */
#ifndef GST_TFX_CUDA_FLOW_H
#define GST_TFX_CUDA_FLOW_H

#include "gsttfxelement.h"
#include "gsttfxsharedfilter.h"

G_BEGIN_DECLS

/* Runs the row, which is locked, over *buffer on the device, if its samples are
 * there or are to be; *buffer is then another one.  FALSE if there is nothing to
 * be done here, or CUDA has failed (*err): *buffer is as it was, for the CPU to
 * map. */
gboolean gst_tfx_cuda_flow_process (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames, const GstTfxRow *row, gint *err);

/* Moves the samples to the device before a filter is left to others; *buffer may
 * then be another one.  FALSE if that cannot be done. */
gboolean gst_tfx_cuda_flow_upload (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* The CPU cannot map *buffer.  If that is because its samples are on a device
 * that does not answer, silence takes their place, a warning says so, and
 * TRUE. */
gboolean gst_tfx_cuda_flow_replace (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* A buffer was filtered in place.  Moves its samples to the memory that the
 * source pad's caps say; *buffer may then be another one.  FALSE after an error
 * message. */
gboolean gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* Offers a pool of CUDA memory to whoever is upstream.  FALSE if there is
 * none. */
gboolean gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_CUDA_FLOW_H */
