/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudabuffer.h: a GstBuffer in CUDA memory as a TfxBlock.
 *
 *   if (gst_tfx_cuda_buffer_is_device (buffer, context) &&
 *       gst_tfx_cuda_buffer_map (&mapped, buffer, &info, cuda, GST_MAP_READ)) {
 *     tfx_plan_run (plan, &mapped.block, &out.block);
 *     gst_tfx_cuda_buffer_unmap (&mapped);
 *   }
 *
 * What is not on the device, or does not lie as the backend needs it, is mapped
 * by the CPU (gst_tfx_buffer_map()), which works for all buffers.
 */
#ifndef GST_TFX_CUDA_BUFFER_H
#define GST_TFX_CUDA_BUFFER_H

#include <gst/audio/audio.h>

#include "gsttfxcuda.h"
#include "tfx.h"

G_BEGIN_DECLS

/* A mapped buffer. */
typedef struct
{
  TfxBlock block; /* in device memory */
  /*< private >*/
  GstBuffer *buffer;
  GstMapInfo map;
  TfxCuda *to_wait_for; /* not NULL: before it is unmapped */
} GstTfxCudaBuffer;

/* Whether all of the buffer is one GstCudaMemory of this context, of this
 * plugin or of others.  False for an empty buffer and for a NULL context. */
gboolean
gst_tfx_cuda_buffer_is_device (GstBuffer *buffer, GstCudaContext *context);

/* Maps a buffer of which gst_tfx_cuda_buffer_is_device() and
 * gst_tfx_buffer_check() hold, for work on the stream of @cuda, which is that
 * of its context.  @access: GST_MAP_READ, GST_MAP_WRITE (all of the samples
 * will be written) or both; to write, the buffer must be writable.  FALSE if
 * planes are not evenly spaced or samples not aligned, or if the driver fails;
 * nothing is mapped then. */
gboolean gst_tfx_cuda_buffer_map (GstTfxCudaBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, TfxCuda *cuda, GstMapFlags access);

/* Work that was put on the stream meanwhile may still be under way; who maps
 * the buffer next waits for it if need be.  FALSE if the driver failed while
 * this function waited for work on a memory of others. */
gboolean gst_tfx_cuda_buffer_unmap (GstTfxCudaBuffer *self);

G_END_DECLS

#endif /* GST_TFX_CUDA_BUFFER_H */
