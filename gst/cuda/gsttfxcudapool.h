/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudapool.h: a pool of audio buffers in CUDA memory.
 */
#ifndef GST_TFX_CUDA_POOL_H
#define GST_TFX_CUDA_POOL_H

#include <gst/audio/audio.h>

#include "gsttfxcuda.h"

G_BEGIN_DECLS

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

#endif /* GST_TFX_CUDA_POOL_H */
