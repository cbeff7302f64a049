/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy.c: allocations, copies and sets of the driver interface. */
#include <string.h>

#include "standin.h"

static CUresult
memory_enter (const char *function)
{
  CUresult result = standin_enter (function);

  if (result == CUDA_SUCCESS && !standin_context ())
    result = standin_fault (CUDA_ERROR_INVALID_CONTEXT,
        "%s without a current context", function);
  return result;
}

/* ---- memory ----------------------------------------------------------------- */

STANDIN_API
cuMemAlloc_v2 (CUdeviceptr *memory, size_t size)
{
  CUresult result = memory_enter (__func__);

  return standin_leave (
      result == CUDA_SUCCESS ? standin_memory_alloc (memory, size) : result);
}

STANDIN_API
cuMemAllocPitch_v2 (CUdeviceptr *memory, size_t *pitch, size_t width,
    size_t height, unsigned element_size)
{
  CUresult result = memory_enter (__func__);

  *pitch = (width + 511) & ~(size_t)511;
  return standin_leave (result == CUDA_SUCCESS
                            ? standin_memory_alloc (memory, *pitch * height)
                            : result);
}

STANDIN_API
cuMemFree_v2 (CUdeviceptr memory)
{
  CUresult result = memory_enter (__func__);

  return standin_leave (
      result == CUDA_SUCCESS ? standin_memory_free (memory) : result);
}

STANDIN_API
cuMemHostAlloc (void **memory, size_t size, unsigned flags)
{
  CUresult result = memory_enter (__func__);

  return standin_leave (
      result == CUDA_SUCCESS ? standin_host_alloc (memory, size) : result);
}

STANDIN_API
cuMemAllocHost_v2 (void **memory, size_t size)
{
  return cuMemHostAlloc (memory, size, 0);
}

STANDIN_API
cuMemFreeHost (void *memory)
{
  CUresult result = memory_enter (__func__);

  return standin_leave (
      result == CUDA_SUCCESS ? standin_host_free (memory) : result);
}

STANDIN_API
cuPointerGetAttribute (void *value, CUpointer_attribute attribute,
    CUdeviceptr pointer)
{
  CUresult result = memory_enter (__func__);

  CUcontext owner;

  if (result != CUDA_SUCCESS)
    return standin_leave (result);
  owner = standin_memory_owner (pointer);
  if (!owner)
    result = CUDA_ERROR_INVALID_VALUE;
  else if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
    *(unsigned *)value =
        standin_is_device (pointer) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  else if (attribute == CU_POINTER_ATTRIBUTE_CONTEXT)
    *(CUcontext *)value = owner;
  else if (attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
    *(int *)value = owner->device;
  else
    result = CUDA_ERROR_NOT_SUPPORTED;
  return standin_leave (result);
}

/* ---- copies ------------------------------------------------------------------- */

/* Which sides must be device memory. */
#define TO_DEVICE 1
#define FROM_DEVICE 2

static CUresult
copy (const char *function, uint64_t to, uint64_t from, size_t width,
    size_t height, size_t to_pitch, size_t from_pitch, int sides,
    CUstream stream, bool wait)
{
  const bool is_2d = strstr (function, "2D") != NULL;
  CUresult result = memory_enter (function);
  StandinWork work = {
    .kind = STANDIN_COPY,
    .is_up = sides == TO_DEVICE,
    .is_down = sides == FROM_DEVICE,
    .to = to,
    .from = from,
    .width = width,
    .height = height,
    .to_pitch = to_pitch,
    .from_pitch = from_pitch,
  };

  if (result == CUDA_SUCCESS && (width == 0 || height == 0))
    return standin_leave (result);
  if (result == CUDA_SUCCESS && !standin_stream_is_valid (stream))
    result = CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_SUCCESS && (sides & TO_DEVICE))
    result = standin_is_device (to)
                 ? standin_memory_check (to, (height - 1) * to_pitch + width,
                       function)
                 : standin_fault (CUDA_ERROR_INVALID_VALUE,
                       "%s: the target is not device memory", function);
  if (result == CUDA_SUCCESS && (sides & FROM_DEVICE))
    result = standin_is_device (from)
                 ? standin_memory_check (from,
                       (height - 1) * from_pitch + width, function)
                 : standin_fault (CUDA_ERROR_INVALID_VALUE,
                       "%s: the source is not device memory", function);
  /* What the driver says of intra-device copies: other pitches may fail. */
  if (result == CUDA_SUCCESS && sides == (TO_DEVICE | FROM_DEVICE) && is_2d &&
      (to_pitch % 512 != 0 || from_pitch % 512 != 0))
    result = standin_fault (CUDA_ERROR_INVALID_VALUE,
        "%s: pitches of %zu and %zu bytes, which cuMemAllocPitch does not give",
        function, to_pitch, from_pitch);
  if (result == CUDA_SUCCESS && standin_is_pinned (to))
    result =
        standin_memory_check (to, (height - 1) * to_pitch + width, function);
  if (result == CUDA_SUCCESS && standin_is_pinned (from))
    result = standin_memory_check (from, (height - 1) * from_pitch + width,
        function);
  if (result == CUDA_SUCCESS)
    result = standin_submit (stream, &work);
  if (result == CUDA_SUCCESS && wait)
    result = standin_drain (stream);
  return standin_leave (result);
}

STANDIN_API
cuMemcpyHtoDAsync_v2 (CUdeviceptr to, const void *from, size_t size,
    CUstream stream)
{
  return copy (__func__, to, (uintptr_t)from, size, 1, size, size, TO_DEVICE,
      stream, false);
}

STANDIN_API
cuMemcpyDtoHAsync_v2 (void *to, CUdeviceptr from, size_t size, CUstream stream)
{
  return copy (__func__, (uintptr_t)to, from, size, 1, size, size, FROM_DEVICE,
      stream, false);
}

STANDIN_API
cuMemcpyDtoDAsync_v2 (CUdeviceptr to, CUdeviceptr from, size_t size,
    CUstream stream)
{
  return copy (__func__, to, from, size, 1, size, size, TO_DEVICE | FROM_DEVICE,
      stream, false);
}

STANDIN_API
cuMemcpyHtoD_v2 (CUdeviceptr to, const void *from, size_t size)
{
  return copy (__func__, to, (uintptr_t)from, size, 1, size, size, TO_DEVICE,
      NULL, true);
}

STANDIN_API
cuMemcpyDtoH_v2 (void *to, CUdeviceptr from, size_t size)
{
  return copy (__func__, (uintptr_t)to, from, size, 1, size, size, FROM_DEVICE,
      NULL, true);
}

STANDIN_API
cuMemcpyDtoD_v2 (CUdeviceptr to, CUdeviceptr from, size_t size)
{
  return copy (__func__, to, from, size, 1, size, size, TO_DEVICE | FROM_DEVICE,
      NULL, true);
}

static CUresult
copy_2d (const char *function, const CUDA_MEMCPY2D *c, CUstream stream,
    bool wait)
{
  bool to_device = c->dstMemoryType == CU_MEMORYTYPE_DEVICE;
  bool from_device = c->srcMemoryType == CU_MEMORYTYPE_DEVICE;
  size_t to_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes;
  size_t from_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes;
  uint64_t to = to_device ? c->dstDevice : (uintptr_t)c->dstHost;
  uint64_t from = from_device ? c->srcDevice : (uintptr_t)c->srcHost;

  return copy (function, to + c->dstY * to_pitch + c->dstXInBytes,
      from + c->srcY * from_pitch + c->srcXInBytes, c->WidthInBytes, c->Height,
      to_pitch, from_pitch,
      (to_device ? TO_DEVICE : 0) | (from_device ? FROM_DEVICE : 0), stream,
      wait);
}

STANDIN_API
cuMemcpy2D_v2 (const CUDA_MEMCPY2D *c)
{
  return copy_2d (__func__, c, NULL, true);
}

STANDIN_API
cuMemcpy2DAsync_v2 (const CUDA_MEMCPY2D *c, CUstream stream)
{
  return copy_2d (__func__, c, stream, false);
}

/* ---- sets ------------------------------------------------------------------------ */

static CUresult
set (const char *function, CUdeviceptr to, size_t pitch, unsigned value,
    size_t value_size, size_t width, size_t height, CUstream stream, bool wait)
{
  CUresult result = memory_enter (function);
  StandinWork work = {
    .kind = STANDIN_SET,
    .to = to,
    .to_pitch = pitch,
    .width = width * value_size,
    .height = height,
    .value = value,
    .value_size = value_size,
  };

  if (result == CUDA_SUCCESS && (width == 0 || height == 0))
    return standin_leave (result);
  if (result == CUDA_SUCCESS && !standin_stream_is_valid (stream))
    result = CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_SUCCESS && !standin_is_device (to))
    result = standin_fault (CUDA_ERROR_INVALID_VALUE, "%s: not device memory",
        function);
  if (result == CUDA_SUCCESS)
    result =
        standin_memory_check (to, (height - 1) * pitch + work.width, function);
  if (result == CUDA_SUCCESS)
    result = standin_submit (stream, &work);
  if (result == CUDA_SUCCESS && wait)
    result = standin_drain (stream);
  return standin_leave (result);
}

STANDIN_API
cuMemsetD8Async (CUdeviceptr to, unsigned char value, size_t size,
    CUstream stream)
{
  return set (__func__, to, size, value, 1, size, 1, stream, false);
}

STANDIN_API
cuMemsetD2D8_v2 (CUdeviceptr to, size_t pitch, unsigned char value,
    size_t width, size_t height)
{
  return set (__func__, to, pitch, value, 1, width, height, NULL, true);
}

STANDIN_API
cuMemsetD2D8Async (CUdeviceptr to, size_t pitch, unsigned char value,
    size_t width, size_t height, CUstream stream)
{
  return set (__func__, to, pitch, value, 1, width, height, stream, false);
}

STANDIN_API
cuMemsetD2D16_v2 (CUdeviceptr to, size_t pitch, unsigned short value,
    size_t width, size_t height)
{
  return set (__func__, to, pitch, value, 2, width, height, NULL, true);
}

STANDIN_API
cuMemsetD2D16Async (CUdeviceptr to, size_t pitch, unsigned short value,
    size_t width, size_t height, CUstream stream)
{
  return set (__func__, to, pitch, value, 2, width, height, stream, false);
}

STANDIN_API
cuMemsetD2D32_v2 (CUdeviceptr to, size_t pitch, unsigned value, size_t width,
    size_t height)
{
  return set (__func__, to, pitch, value, 4, width, height, NULL, true);
}

STANDIN_API
cuMemsetD2D32Async (CUdeviceptr to, size_t pitch, unsigned value, size_t width,
    size_t height, CUstream stream)
{
  return set (__func__, to, pitch, value, 4, width, height, stream, false);
}
