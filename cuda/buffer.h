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
int tfx_buffer_reserve (const TfxCudaStream *stream, TfxBuffer *buffer,
    size_t size);

/* The same, and all zero: at once if it grows, and whenever clear is true. */
int tfx_buffer_reserve_zeros (const TfxCudaStream *stream, TfxBuffer *buffer,
    size_t size, bool clear);

/* Put a copy on the stream: from and to pinned memory of the host, or within the device.
 * what: for an error.  0 or a negative errno. */
int tfx_buffer_copy_up (const TfxCudaStream *stream, CUdeviceptr to,
    const void *from, size_t size, const char *what);
int tfx_buffer_copy_down (const TfxCudaStream *stream, void *to,
    CUdeviceptr from, size_t size, const char *what);
int tfx_buffer_copy (const TfxCudaStream *stream, CUdeviceptr to,
    CUdeviceptr from, size_t size);

/* Copies from and to the host, and waits for their end; upload makes room for it
 * first.  The stream is waited for before that, since the driver waits for it without
 * an end where the host's memory is not pinned.  0 or a negative errno. */
int tfx_buffer_upload (const TfxCudaStream *stream, TfxBuffer *to,
    const void *from, size_t size);
int tfx_buffer_download (const TfxCudaStream *stream, void *to,
    CUdeviceptr from, size_t size);

void tfx_buffer_free (const TfxCudaStream *stream, TfxBuffer *buffer);

int tfx_pinned_reserve (const TfxCudaStream *stream, TfxPinned *pinned,
    size_t size);
void tfx_pinned_free (const TfxCudaStream *stream, TfxPinned *pinned);

#endif
