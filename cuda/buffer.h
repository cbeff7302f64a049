/* SPDX-License-Identifier: LGPL-2.1-or-later
 * buffer.h: growing buffers in device and in pinned memory. All calls require the
 * context to be current.
 *
 * Memory is freed after the stream that uses it has been synchronized; cuMemFree()
 * is not relied on to wait. */
#ifndef TFX_CUDA_BUFFER_H
#define TFX_CUDA_BUFFER_H

#include "context.h"

typedef struct TfxBuffer
{
  CUdeviceptr data;
  size_t size;
} TfxBuffer;

typedef struct TfxPinned
{
  void *data;
  size_t size;
} TfxPinned;

/* Makes the buffer at least size bytes large; growing loses its contents. 0 or a
 * negative errno. */
int
tfx_buffer_reserve (const TfxCudaQueue *queue, TfxBuffer *buffer, size_t size);

/* The same, and all zero: at once if it grows, and whenever clear is true. */
int tfx_buffer_reserve_zeros (const TfxCudaQueue *queue, TfxBuffer *buffer,
    size_t size, bool clear);

/* Puts a copy within the device on the queue.  0 or a negative errno. */
int tfx_buffer_copy (const TfxCudaQueue *queue, CUdeviceptr to,
    CUdeviceptr from, size_t size);

/* Copies from and to the host, and waits for their end; upload makes room for it
 * first.  0 or a negative errno. */
int tfx_buffer_upload (const TfxCudaQueue *queue, TfxBuffer *to,
    const void *from, size_t size);
int tfx_buffer_download (const TfxCudaQueue *queue, void *to, CUdeviceptr from,
    size_t size);

void tfx_buffer_free (const TfxCudaQueue *queue, TfxBuffer *buffer);

int
tfx_pinned_reserve (const TfxCudaQueue *queue, TfxPinned *pinned, size_t size);
void tfx_pinned_free (const TfxCudaQueue *queue, TfxPinned *pinned);

#endif
