/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudabuffer.c: audio buffers in CUDA memory: a pool of them, and a buffer
 * as a TfxBlock.
 */
#define GST_USE_UNSTABLE_API
#include "gsttfxcudabuffer.h"

#include <gst/cuda/gstcudamemory.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxplanes.h"

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

/* ---- blocks -------------------------------------------------------------- */

gboolean
gst_tfx_cuda_buffer_is_device (GstBuffer *buffer, GstCudaContext *context)
{
  GstMemory *memory;

  if (!context || gst_buffer_n_memory (buffer) != 1)
    return FALSE;
  memory = gst_buffer_peek_memory (buffer, 0);
  return memory->size > 0 && gst_is_cuda_memory (memory) &&
         GST_CUDA_MEMORY_CAST (memory)->context == context;
}

/* Returns FALSE if the backend does not support the layout. */
static gboolean
gst_tfx_cuda_buffer_describe (TfxBlock *block, guint8 *data, gsize size,
    const GstAudioInfo *info, const GstAudioMeta *meta)
{
  TfxSample type =
      GST_AUDIO_INFO_WIDTH (info) == 32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64;
  guint n_channels = GST_AUDIO_INFO_CHANNELS (info);
  gsize stride = 1;

  if (GST_AUDIO_INFO_LAYOUT (info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED) {
    if (!meta)
      return FALSE;
    data += meta->offsets[0];
    stride = gst_tfx_planes_find_stride (meta);
    *block = tfx_block_planar (data, type, n_channels, meta->samples, stride);
  } else {
    *block = tfx_block_interleaved (data, type, n_channels,
        meta ? meta->samples : size / GST_AUDIO_INFO_BPF (info));
  }
  return stride > 0 && (guintptr)data % GST_AUDIO_INFO_BPS (info) == 0;
}

gboolean
gst_tfx_cuda_buffer_map (GstTfxCudaBuffer *self, GstBuffer *buffer,
    const GstAudioInfo *info, TfxCuda *cuda, GstMapFlags access)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  gboolean is_ours = gst_tfx_cuda_allocator_owns (memory);

  if (!gst_buffer_map (buffer, &self->map, access | GST_TFX_MAP_CUDA_QUEUED))
    return FALSE;
#if GST_CHECK_VERSION(1, 24, 0)
  /* Wait for work of other elements on other streams. */
  if (!is_ours)
    gst_cuda_memory_sync (GST_CUDA_MEMORY_CAST (self->map.memory));
#endif
  self->buffer = buffer;
  /* Other elements do not wait for our stream. */
  self->to_wait_for = is_ours ? NULL : cuda;
  if (gst_tfx_cuda_buffer_describe (&self->block, self->map.data,
          self->map.size, info, gst_buffer_get_audio_meta (buffer)))
    return TRUE;
  gst_buffer_unmap (buffer, &self->map);
  return FALSE;
}

gboolean
gst_tfx_cuda_buffer_unmap (GstTfxCudaBuffer *self)
{
  gboolean ok =
      self->to_wait_for == NULL || tfx_cuda_wait (self->to_wait_for) == 0;

  gst_buffer_unmap (self->buffer, &self->map);
  return ok;
}

/* ---- the pool ------------------------------------------------------------ */

#define GST_TYPE_TFX_CUDA_POOL (gst_tfx_cuda_pool_get_type ())
G_DECLARE_FINAL_TYPE (GstTfxCudaPool, gst_tfx_cuda_pool, GST, TFX_CUDA_POOL,
    GstBufferPool)

struct _GstTfxCudaPool
{
  GstBufferPool parent;

  GstCudaContext *context;
  GstAudioInfo info;
  gsize size; /* default size of a buffer */
};

G_DEFINE_TYPE (GstTfxCudaPool, gst_tfx_cuda_pool, GST_TYPE_BUFFER_POOL)

static gboolean
gst_tfx_cuda_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstTfxCudaPool *self = GST_TFX_CUDA_POOL (pool);
  guint size, min, max;
  GstCaps *caps;

  if (!gst_buffer_pool_config_get_params (config, &caps, &size, &min, &max) ||
      !caps || !gst_audio_info_from_caps (&self->info, caps)) {
    GST_WARNING_OBJECT (self, "no audio caps: %" GST_PTR_FORMAT, config);
    return FALSE;
  }
  if (size < (guint)self->info.bpf || size > GST_TFX_CUDA_MAX_SIZE) {
    GST_WARNING_OBJECT (self, "buffers of %u bytes: it must be %d to %d", size,
        self->info.bpf, GST_TFX_CUDA_MAX_SIZE);
    return FALSE;
  }
  self->size = size - size % self->info.bpf;
  GST_DEBUG_OBJECT (self,
      "buffers of %" G_GSIZE_FORMAT " bytes, %" GST_PTR_FORMAT, self->size,
      caps);
  gst_buffer_pool_config_set_params (config, caps, self->size, min, max);
  return GST_BUFFER_POOL_CLASS (gst_tfx_cuda_pool_parent_class)
      ->set_config (pool, config);
}

/* Replaces the memory of a buffer by new memory of this size. */
static gboolean
gst_tfx_cuda_pool_fill (GstTfxCudaPool *self, GstBuffer *buffer, gsize size)
{
  GstMemory *memory = gst_tfx_cuda_allocator_alloc (self->context, size);

  if (!memory)
    return FALSE;
  gst_buffer_replace_all_memory (buffer, memory);
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  return TRUE;
}

static GstFlowReturn
gst_tfx_cuda_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer,
    GstBufferPoolAcquireParams *params)
{
  GstTfxCudaPool *self = GST_TFX_CUDA_POOL (pool);

  *buffer = gst_buffer_new ();
  if (gst_tfx_cuda_pool_fill (self, *buffer, self->size))
    return GST_FLOW_OK;
  gst_clear_buffer (buffer);
  return GST_FLOW_ERROR;
}

/* Restores the buffer if it is the only holder of its memory.  Otherwise the
 * base class drops it. */
static void
gst_tfx_cuda_pool_reset_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  GstTfxCudaPool *self = GST_TFX_CUDA_POOL (pool);
  GstMemory *memory;

  if (gst_buffer_n_memory (buffer) == 1 &&
      gst_buffer_is_all_memory_writable (buffer)) {
    memory = gst_buffer_peek_memory (buffer, 0);
    if (gst_tfx_cuda_allocator_owns (memory) && !memory->parent) {
      gst_tfx_cuda_allocator_discard (memory);
      gst_memory_resize (memory, -(gssize)memory->offset,
          MIN (memory->maxsize, self->size));
    }
  }
  GST_BUFFER_POOL_CLASS (gst_tfx_cuda_pool_parent_class)
      ->reset_buffer (pool, buffer);
}

static void
gst_tfx_cuda_pool_describe (GstTfxCudaPool *self, GstBuffer *buffer,
    gsize n_frames)
{
  if (GST_AUDIO_INFO_LAYOUT (&self->info) == GST_AUDIO_LAYOUT_NON_INTERLEAVED)
    gst_buffer_add_audio_meta (buffer, &self->info, n_frames, NULL);
}

static GstFlowReturn
gst_tfx_cuda_pool_acquire_buffer (GstBufferPool *pool, GstBuffer **buffer,
    GstBufferPoolAcquireParams *params)
{
  GstTfxCudaPool *self = GST_TFX_CUDA_POOL (pool);
  GstFlowReturn flow = GST_BUFFER_POOL_CLASS (gst_tfx_cuda_pool_parent_class)
                           ->acquire_buffer (pool, buffer, params);

  if (flow == GST_FLOW_OK)
    gst_tfx_cuda_pool_describe (self, *buffer, self->size / self->info.bpf);
  return flow;
}

GstFlowReturn
gst_tfx_cuda_pool_acquire (GstBufferPool *pool, gsize n_frames,
    GstBuffer **buffer)
{
  GstTfxCudaPool *self = GST_TFX_CUDA_POOL (pool);
  gsize size = n_frames * self->info.bpf;
  GstAudioMeta *meta;
  GstFlowReturn flow;

  flow = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  if (flow != GST_FLOW_OK || size == self->size)
    return flow;

  meta = gst_buffer_get_audio_meta (*buffer);
  if (meta)
    gst_buffer_remove_meta (*buffer, GST_META_CAST (meta));
  if (gst_buffer_peek_memory (*buffer, 0)->maxsize >= size) {
    gst_buffer_set_size (*buffer, size);
  } else if (!gst_tfx_cuda_pool_fill (self, *buffer, size)) {
    gst_clear_buffer (buffer);
    return GST_FLOW_ERROR;
  }
  gst_tfx_cuda_pool_describe (self, *buffer, n_frames);
  return GST_FLOW_OK;
}

static void
gst_tfx_cuda_pool_finalize (GObject *object)
{
  GstTfxCudaPool *self = GST_TFX_CUDA_POOL (object);
  GstCudaContext *context = self->context;

  /* Buffers in the pool use the context until they are freed here. */
  G_OBJECT_CLASS (gst_tfx_cuda_pool_parent_class)->finalize (object);
  gst_object_unref (context);
}

static void
gst_tfx_cuda_pool_class_init (GstTfxCudaPoolClass *klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_tfx_cuda_pool_finalize;
  pool_class->set_config = gst_tfx_cuda_pool_set_config;
  pool_class->alloc_buffer = gst_tfx_cuda_pool_alloc_buffer;
  pool_class->acquire_buffer = gst_tfx_cuda_pool_acquire_buffer;
  pool_class->reset_buffer = gst_tfx_cuda_pool_reset_buffer;
}

static void
gst_tfx_cuda_pool_init (GstTfxCudaPool *self)
{
}

GstBufferPool *
gst_tfx_cuda_pool_new (GstCudaContext *context)
{
  GstTfxCudaPool *self = g_object_new (GST_TYPE_TFX_CUDA_POOL, NULL);

  gst_object_ref_sink (self);
  self->context = gst_object_ref (context);
  return GST_BUFFER_POOL (self);
}
