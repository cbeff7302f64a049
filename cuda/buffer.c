/* SPDX-License-Identifier: LGPL-2.1-or-later
 * buffer.c: device and pinned memory that grows. */
#include "buffer.h"

int
tfx_buffer_reserve (const TfxCudaStream *stream, TfxBuffer *buffer, size_t size)
{
  int ret;

  if (size <= buffer->size)
    return 0;
  tfx_buffer_free (stream, buffer);
  ret = tfx_context_check (stream->cuda,
      stream->cuda->driver->mem_alloc (&buffer->data, size),
      "allocating device memory");
  if (ret == 0)
    buffer->size = size;
  else
    buffer->data = 0;
  return ret;
}

int
tfx_buffer_reserve_zeros (const TfxCudaStream *stream, TfxBuffer *buffer,
    size_t size, bool clear)
{
  int ret;

  if (size <= buffer->size && !clear)
    return 0;
  ret = tfx_buffer_reserve (stream, buffer, size);
  if (ret < 0 || buffer->size == 0)
    return ret;
  ret = tfx_context_check (stream->cuda,
      stream->cuda->driver->memset_d8_async (buffer->data, 0, buffer->size,
          stream->handle),
      "clearing device memory");
  if (ret < 0)
    tfx_buffer_free (stream, buffer);
  return ret;
}

int
tfx_buffer_copy_up (const TfxCudaStream *stream, CUdeviceptr to,
    const void *from, size_t size, const char *what)
{
  const uint64_t start = tfx_driver_now ();
  CUresult result =
      stream->cuda->driver->memcpy_htod_async (to, from, size, stream->handle);

  tfx_driver_did ("copy", "upload", size, start);
  return tfx_context_check (stream->cuda, result, what);
}

int
tfx_buffer_copy_down (const TfxCudaStream *stream, void *to, CUdeviceptr from,
    size_t size, const char *what)
{
  const uint64_t start = tfx_driver_now ();
  CUresult result =
      stream->cuda->driver->memcpy_dtoh_async (to, from, size, stream->handle);

  tfx_driver_did ("copy", "download", size, start);
  return tfx_context_check (stream->cuda, result, what);
}

int
tfx_buffer_copy (const TfxCudaStream *stream, CUdeviceptr to, CUdeviceptr from,
    size_t size)
{
  const uint64_t start = tfx_driver_now ();
  CUresult result =
      stream->cuda->driver->memcpy_dtod_async (to, from, size, stream->handle);

  tfx_driver_did ("copy", "on the device", size, start);
  return tfx_context_check (stream->cuda, result, "copying on the device");
}

int
tfx_buffer_upload (const TfxCudaStream *stream, TfxBuffer *to, const void *from,
    size_t size)
{
  int ret = tfx_buffer_reserve (stream, to, size);

  if (ret == 0)
    ret = tfx_context_drain (stream);
  if (ret == 0)
    ret = tfx_buffer_copy_up (stream, to->data, from, size, "uploading");
  return ret < 0 ? ret : tfx_context_wait (stream, NULL, "uploading", NULL);
}

int
tfx_buffer_download (const TfxCudaStream *stream, void *to, CUdeviceptr from,
    size_t size)
{
  int ret = tfx_context_drain (stream);

  if (ret == 0)
    ret = tfx_buffer_copy_down (stream, to, from, size, "downloading");
  return ret < 0 ? ret : tfx_context_wait (stream, NULL, "downloading", NULL);
}

void
tfx_buffer_free (const TfxCudaStream *stream, TfxBuffer *buffer)
{
  if (buffer->size > 0) {
    tfx_context_drain (stream);
    if (!tfx_cuda_is_hung (stream->cuda))
      stream->cuda->driver->mem_free (buffer->data);
  }
  buffer->data = 0;
  buffer->size = 0;
}

int
tfx_pinned_reserve (const TfxCudaStream *stream, TfxPinned *pinned, size_t size)
{
  int ret;

  if (size <= pinned->size)
    return 0;
  tfx_pinned_free (stream, pinned);
  ret = tfx_context_check (stream->cuda,
      stream->cuda->driver->mem_host_alloc (&pinned->data, size,
          CU_MEMHOSTALLOC_PORTABLE),
      "allocating pinned memory");
  if (ret == 0)
    pinned->size = size;
  else
    pinned->data = NULL;
  return ret;
}

void
tfx_pinned_free (const TfxCudaStream *stream, TfxPinned *pinned)
{
  if (pinned->size > 0) {
    tfx_context_drain (stream);
    if (!tfx_cuda_is_hung (stream->cuda))
      stream->cuda->driver->mem_free_host (pinned->data);
  }
  pinned->data = NULL;
  pinned->size = 0;
}
