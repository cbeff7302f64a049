/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudabuffer.c: a GstBuffer in CUDA memory as a TfxBlock.
 */
#define GST_USE_UNSTABLE_API
#include "gsttfxcudabuffer.h"

#include <gst/cuda/gstcudamemory.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxplanes.h"

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

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
