/* SPDX-License-Identifier: LGPL-2.1-or-later
 * transfer.c: samples between host and device. */
#include "transfer.h"

#include <errno.h>
#include <stdlib.h>

#include "core/backend.h"
#include "core/block.h"
#include "cpu/copy.h"

/* Bytes from plane to plane that every device takes. */
#define MAX_PITCH INT32_MAX

/* A short block.  A copy costs about 4 us, whatever its size: the call, and the
 * engine that starts.  A kernel that reads the host's memory waits about 1.5 us
 * once for every 256 frames, which 32 lanes with eight loads each have in flight;
 * its small packets use the bus about half as well, 1.5 us for 32 KB at 11 GB/s. */
#define SHORT_FRAMES 512
#define SHORT_BYTES ((size_t)32 << 10)

static bool
is_by_frame (const TfxBlock *block)
{
  return llabs (block->channel_stride) <= llabs (block->frame_stride);
}

/* The same samples without gaps, in the same order, at data. */
static TfxBlock
dense (const TfxBlock *block, void *data)
{
  if (is_by_frame (block))
    return tfx_block_interleaved (data, block->type, block->n_channels,
        block->n_frames);
  return tfx_block_planar (data, block->type, block->n_channels,
      block->n_frames, block->n_frames);
}

TfxKernelBlock
tfx_transfer_device_block (const TfxBlock *block)
{
  return (TfxKernelBlock){
    .data = (CUdeviceptr)(uintptr_t)block->data,
    .frame_stride = block->frame_stride,
    .channel_stride = block->channel_stride,
    .is_double = block->type == TFX_SAMPLE_F64,
  };
}

static size_t
size_of (const TfxBlock *block)
{
  return block->n_frames * block->n_channels * tfx_sample_size (block->type);
}

/* ---- places --------------------------------------------------------------- */

/* Memory with unknown attributes is accepted: memory of a pool has no context. */
static int
check_owner (TfxCuda *cuda, const TfxBlock *block)
{
  CUdeviceptr at = (CUdeviceptr)(uintptr_t)block->data;
  CUcontext context = NULL;
  int device = cuda->device;

  if (cuda->driver->pointer_get_attribute (&device,
          CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at) == CUDA_SUCCESS &&
      device != cuda->device) {
    tfx_context_set_error (cuda,
        "%s: the samples are in memory of CUDA device %d, and this is device "
        "%d",
        cuda->name, device, (int)cuda->device);
    return -EINVAL;
  }
  if (cuda->driver->pointer_get_attribute (&context,
          CU_POINTER_ATTRIBUTE_CONTEXT, at) == CUDA_SUCCESS &&
      context && context != cuda->context) {
    tfx_context_set_error (cuda,
        "%s: the samples are in memory of another CUDA context", cuda->name);
    return -EINVAL;
  }
  return 0;
}

/* For memory that the driver does not know it returns "invalid value". After any
 * other error the memory must not be accessed. */
int
tfx_transfer_find (TfxCuda *cuda, const TfxBlock *block, TfxCudaPlace *place)
{
  unsigned type = CU_MEMORYTYPE_HOST;
  CUresult result = cuda->driver->pointer_get_attribute (&type,
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)block->data);

  *place = TFX_PLACE_HOST;
  if (result == CUDA_ERROR_INVALID_VALUE)
    return 0;
  if (result != CUDA_SUCCESS)
    return tfx_context_check (cuda, result, "asking where the samples are");
  *place = type == CU_MEMORYTYPE_DEVICE ? TFX_PLACE_DEVICE : TFX_PLACE_PINNED;
  return *place == TFX_PLACE_DEVICE ? check_owner (cuda, block) : 0;
}

static bool
is_dense (const TfxBlock *block)
{
  TfxBlock same = dense (block, block->data);

  return same.frame_stride == block->frame_stride &&
         same.channel_stride == block->channel_stride;
}

/* One copy moves them all, from one pitch to another. */
static bool
is_in_planes (const TfxBlock *block)
{
  return block->frame_stride == 1 &&
         block->channel_stride >= (ptrdiff_t)block->n_frames &&
         block->channel_stride <=
             MAX_PITCH / (ptrdiff_t)tfx_sample_size (block->type);
}

/* ---- transfers ------------------------------------------------------------ */

bool
tfx_transfer_is_short (size_t n_frames, unsigned n_channels, TfxSample type)
{
  return n_frames <= SHORT_FRAMES &&
         n_frames * n_channels * tfx_sample_size (type) <= SHORT_BYTES;
}

int
tfx_transfer_reserve (const TfxCudaStream *stream, TfxTransfer *t,
    const TfxBlock *block, bool can_be_direct, bool is_mapped,
    TfxKernelBlock *samples)
{
  const bool is_integrated = stream->cuda->card.is_integrated;
  TfxBlock moved;
  int ret = 0;

  t->is_mapped = is_mapped || is_integrated;
  /* A kernel of a device with its own memory does not touch the caller's: that of
   * a run that fails stays, and other libraries may not have mapped it. */
  t->is_direct = can_be_direct && (is_dense (block) || is_in_planes (block)) &&
                 (is_integrated || !is_mapped);
  if (!t->is_direct)
    ret = tfx_pinned_reserve (stream, &t->pinned, size_of (block));
  if (ret == 0 && !t->is_mapped)
    ret = tfx_buffer_reserve (stream, &t->device, size_of (block));
  moved = !t->is_mapped  ? dense (block, (void *)(uintptr_t)t->device.data)
          : t->is_direct ? *block
                         : dense (block, t->pinned.data);
  *samples = tfx_transfer_device_block (&moved);
  return ret;
}

void
tfx_transfer_free (const TfxCudaStream *stream, TfxTransfer *t)
{
  tfx_pinned_free (stream, &t->pinned);
  tfx_buffer_free (stream, &t->device);
}

static void
copy (const TfxBlock *from, const TfxBlock *to)
{
  tfx_cpu_copy (tfx_cpu_backend ()->data, from, to, 1.0);
}

/* Planes of the host, up or down. */
static int
copy_planes (const TfxCudaStream *stream, const TfxTransfer *t,
    const TfxBlock *block, bool is_up, const char *what)
{
  const uint64_t start = tfx_driver_now ();
  const size_t size = tfx_sample_size (block->type);
  const size_t pitch = (size_t)block->channel_stride * size;
  CUDA_MEMCPY2D copy = { .WidthInBytes = block->n_frames * size,
    .Height = block->n_channels };
  CUresult result;

  if (is_up) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = block->data;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = t->device.data;
    copy.dstPitch = copy.WidthInBytes;
  } else {
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = t->device.data;
    copy.srcPitch = copy.WidthInBytes;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = block->data;
    copy.dstPitch = pitch;
  }
  result = stream->cuda->driver->memcpy_2d_async (&copy, stream->handle);
  tfx_driver_did ("copy", is_up ? "upload" : "download",
      copy.WidthInBytes * copy.Height, start);
  return tfx_context_check (stream->cuda, result, what);
}

/* Between the host's memory and the device's.  A call that fails once may succeed the
 * next time. */
static int
move (const TfxCudaStream *stream, const TfxTransfer *t, const TfxBlock *block,
    bool is_up)
{
  const char *what = is_up ? "uploading samples" : "downloading samples";
  void *host = t->is_direct ? block->data : t->pinned.data;
  int ret = t->is_mapped ? 0 : -EIO;

  for (int i = 0; ret < 0 && i < 2; i++) {
    if (t->is_direct && !is_dense (block))
      ret = copy_planes (stream, t, block, is_up, what);
    else if (is_up)
      ret = tfx_buffer_copy_up (stream, t->device.data, host, size_of (block),
          what);
    else
      ret = tfx_buffer_copy_down (stream, host, t->device.data, size_of (block),
          what);
  }
  return ret;
}

int
tfx_transfer_upload (const TfxCudaStream *stream, TfxTransfer *t,
    const TfxBlock *block)
{
  TfxBlock moved = dense (block, t->pinned.data);

  if (!t->is_direct)
    copy (block, &moved);
  return move (stream, t, block, true);
}

int
tfx_transfer_download (const TfxCudaStream *stream, TfxTransfer *t,
    const TfxBlock *block)
{
  return move (stream, t, block, false);
}

void
tfx_transfer_finish (const TfxTransfer *t, const TfxBlock *block)
{
  TfxBlock moved = dense (block, t->pinned.data);

  if (!t->is_direct)
    copy (&moved, block);
}
