/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudabuffer.h: audio buffers in CUDA memory: a pool of them, and a buffer
 * as a TfxBlock.
 *
 *   if (gst_tfx_cuda_buffer_is_device (buffer, context) &&
 *       gst_tfx_cuda_buffer_map (&mapped, buffer, &info, cuda, GST_MAP_READ)) {
 *     tfx_plan_run (plan, &mapped.block, &out.block);
 *     gst_tfx_cuda_buffer_unmap (&mapped);
 *   }
 *
 * gst_tfx_buffer_map() maps any buffer for the CPU, also those that these
 * functions reject.
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
  TfxCuda *to_wait_for; /* wait for it before unmapping, unless NULL */
} GstTfxCudaBuffer;

/* Whether the buffer is a single GstCudaMemory of this context, of any
 * allocator.  FALSE for an empty buffer and for a NULL context. */
gboolean
gst_tfx_cuda_buffer_is_device (GstBuffer *buffer, GstCudaContext *context);

/* Maps a buffer for work on the stream of @cuda, the backend of its context.
 * gst_tfx_cuda_buffer_is_device() and gst_tfx_buffer_check() must hold.
 * @access: GST_MAP_READ, GST_MAP_WRITE (all samples will be written) or both;
 * to write, the buffer must be writable.  Returns FALSE, with nothing mapped,
 * if planes are not evenly spaced, samples are not aligned, or the driver
 * fails. */
gboolean gst_tfx_cuda_buffer_map (GstTfxCudaBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, TfxCuda *cuda, GstMapFlags access);

/* Unmaps the buffer.  Work on the stream may still be running; the next map
 * waits for it if necessary.  Returns FALSE if the driver failed while it
 * waited for work on memory of another allocator. */
gboolean gst_tfx_cuda_buffer_unmap (GstTfxCudaBuffer *self);

/* ---- a pool --------------------------------------------------------------- */

/* Makes a pool for a context, which it holds.  Configure it as any pool:
 *
 *   config = gst_buffer_pool_get_config (pool);
 *   gst_buffer_pool_config_set_params (config, caps, size, min, max);
 *   gst_buffer_pool_set_config (pool, config);
 *   gst_buffer_pool_set_active (pool, TRUE);
 *
 * The caps are audio/x-raw with the feature memory:CUDAMemory; size is that of
 * the largest expected buffer.  gst_buffer_pool_acquire_buffer() returns
 * buffers of that size, with a GstAudioMeta if the layout is not interleaved.
 * Each has one memory of gst_tfx_cuda_allocator_alloc(). */
GstBufferPool *gst_tfx_cuda_pool_new (GstCudaContext *context);

/* Acquires a buffer for n_frames (at least 1) of the pool's caps,
 * uninitialized.  Planar buffers have a GstAudioMeta, with planes one after the
 * other without gaps.  A buffer that is larger than the configured size is
 * reallocated, and stays in the pool.  Returns FLUSHING if the pool is not
 * active, ERROR if device memory is short.  Any thread. */
GstFlowReturn gst_tfx_cuda_pool_acquire (GstBufferPool *pool, gsize n_frames,
    GstBuffer **buffer);

G_END_DECLS

#endif /* GST_TFX_CUDA_BUFFER_H */
