/* SPDX-License-Identifier: LGPL-2.1-or-later
 * buffer.c: device and pinned memory that grows. */
#include "buffer.h"

int
tfx_buffer_reserve (TfxCuda *cuda, TfxBuffer *buffer, size_t size)
{
  int ret;

  if (size <= buffer->size)
    return 0;
  tfx_buffer_free (cuda, buffer);
  ret = tfx_context_check (cuda, cuda->driver->mem_alloc (&buffer->data, size),
      "allocating device memory");
  if (ret == 0)
    buffer->size = size;
  else
    buffer->data = 0;
  return ret;
}

int
tfx_buffer_reserve_zeros (TfxCuda *cuda, TfxBuffer *buffer, size_t size,
    bool clear)
{
  int ret;

  if (size <= buffer->size && !clear)
    return 0;
  ret = tfx_buffer_reserve (cuda, buffer, size);
  if (ret < 0 || buffer->size == 0)
    return ret;
  ret = tfx_context_check (cuda,
      cuda->driver->memset_d8_async (buffer->data, 0, buffer->size,
          cuda->stream),
      "clearing device memory");
  if (ret < 0)
    tfx_buffer_free (cuda, buffer);
  return ret;
}

void
tfx_buffer_free (TfxCuda *cuda, TfxBuffer *buffer)
{
  if (buffer->size > 0)
    cuda->driver->mem_free (buffer->data);
  buffer->data = 0;
  buffer->size = 0;
}

int
tfx_pinned_reserve (TfxCuda *cuda, TfxPinned *pinned, size_t size)
{
  int ret;

  if (size <= pinned->size)
    return 0;
  tfx_pinned_free (cuda, pinned);
  ret = tfx_context_check (cuda,
      cuda->driver->mem_host_alloc (&pinned->data, size,
          CU_MEMHOSTALLOC_PORTABLE),
      "allocating pinned memory");
  if (ret == 0)
    pinned->size = size;
  else
    pinned->data = NULL;
  return ret;
}

void
tfx_pinned_free (TfxCuda *cuda, TfxPinned *pinned)
{
  if (pinned->size > 0)
    cuda->driver->mem_free_host (pinned->data);
  pinned->data = NULL;
  pinned->size = 0;
}
