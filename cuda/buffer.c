/* SPDX-License-Identifier: LGPL-2.1-or-later
 * buffer.c: device and pinned memory that grows. */
#include "buffer.h"

int
tfx_buffer_reserve (const TfxCudaQueue *queue, TfxBuffer *buffer, size_t size)
{
  int ret;

  if (size <= buffer->size)
    return 0;
  tfx_buffer_free (queue, buffer);
  ret = tfx_context_check (queue->cuda,
      queue->cuda->driver->mem_alloc (&buffer->data, size),
      "allocating device memory");
  if (ret == 0)
    buffer->size = size;
  else
    buffer->data = 0;
  return ret;
}

int
tfx_buffer_reserve_zeros (const TfxCudaQueue *queue, TfxBuffer *buffer,
    size_t size, bool clear)
{
  int ret;

  if (size <= buffer->size && !clear)
    return 0;
  ret = tfx_buffer_reserve (queue, buffer, size);
  if (ret < 0 || buffer->size == 0)
    return ret;
  ret = tfx_context_check (queue->cuda,
      queue->cuda->driver->memset_d8_async (buffer->data, 0, buffer->size,
          queue->stream),
      "clearing device memory");
  if (ret < 0)
    tfx_buffer_free (queue, buffer);
  return ret;
}

int
tfx_buffer_copy (const TfxCudaQueue *queue, CUdeviceptr to, CUdeviceptr from,
    size_t size)
{
  return tfx_context_check (queue->cuda,
      queue->cuda->driver->memcpy_dtod_async (to, from, size, queue->stream),
      "copying on the device");
}

/* ret of a copy that was put on the queue. */
static int
wait_for_copy (const TfxCudaQueue *queue, CUresult result, const char *what)
{
  const int ret = tfx_context_check (queue->cuda, result, what);

  if (ret < 0)
    return ret;
  return tfx_context_check (queue->cuda,
      queue->cuda->driver->stream_synchronize (queue->stream), what);
}

int
tfx_buffer_upload (const TfxCudaQueue *queue, TfxBuffer *to, const void *from,
    size_t size)
{
  const int ret = tfx_buffer_reserve (queue, to, size);

  if (ret < 0)
    return ret;
  return wait_for_copy (queue,
      queue->cuda->driver->memcpy_htod_async (to->data, from, size,
          queue->stream),
      "uploading");
}

int
tfx_buffer_download (const TfxCudaQueue *queue, void *to, CUdeviceptr from,
    size_t size)
{
  return wait_for_copy (queue,
      queue->cuda->driver->memcpy_dtoh_async (to, from, size, queue->stream),
      "downloading");
}

void
tfx_buffer_free (const TfxCudaQueue *queue, TfxBuffer *buffer)
{
  if (buffer->size > 0) {
    tfx_context_drain (queue);
    queue->cuda->driver->mem_free (buffer->data);
  }
  buffer->data = 0;
  buffer->size = 0;
}

int
tfx_pinned_reserve (const TfxCudaQueue *queue, TfxPinned *pinned, size_t size)
{
  int ret;

  if (size <= pinned->size)
    return 0;
  tfx_pinned_free (queue, pinned);
  ret = tfx_context_check (queue->cuda,
      queue->cuda->driver->mem_host_alloc (&pinned->data, size,
          CU_MEMHOSTALLOC_PORTABLE),
      "allocating pinned memory");
  if (ret == 0)
    pinned->size = size;
  else
    pinned->data = NULL;
  return ret;
}

void
tfx_pinned_free (const TfxCudaQueue *queue, TfxPinned *pinned)
{
  if (pinned->size > 0) {
    tfx_context_drain (queue);
    queue->cuda->driver->mem_free_host (pinned->data);
  }
  pinned->data = NULL;
  pinned->size = 0;
}
