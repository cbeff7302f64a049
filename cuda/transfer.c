/* SPDX-License-Identifier: LGPL-2.1-or-later
 * transfer.c: samples between host and device. */
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "block.h"

int
tfx_transfer_reserve (TfxCuda *cuda, TfxTransfer *t, size_t n_samples)
{
  int ret = tfx_pinned_reserve (cuda, &t->pinned, n_samples * sizeof (double));

  if (ret == 0)
    ret = tfx_buffer_reserve (cuda, &t->device, n_samples * sizeof (double));
  return ret;
}

void
tfx_transfer_free (TfxCuda *cuda, TfxTransfer *t)
{
  tfx_pinned_free (cuda, &t->pinned);
  tfx_buffer_free (cuda, &t->device);
}

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

TfxKernelBlock
tfx_transfer_block (const TfxTransfer *t, const TfxBlock *block)
{
  TfxBlock moved = dense (block, (void *)(uintptr_t)t->device.data);

  return tfx_transfer_device_block (&moved);
}

static size_t
size_of (const TfxBlock *block)
{
  return block->n_frames * block->n_channels * tfx_sample_size (block->type);
}

/* Between a block and its dense form, in runs as long as there are. */
static void
copy (const TfxBlock *from, const TfxBlock *to)
{
  const size_t size = tfx_sample_size (from->type);
  const size_t frame = from->n_channels * size;

  if (is_by_frame (from) && from->frame_stride == to->frame_stride &&
      from->channel_stride == 1 && to->channel_stride == 1 &&
      from->frame_stride == (ptrdiff_t)from->n_channels) {
    memcpy (to->data, from->data, from->n_frames * frame);
  } else if (from->frame_stride == 1 && to->frame_stride == 1) {
    for (unsigned c = 0; c < from->n_channels; c++)
      memcpy ((char *)to->data + c * to->channel_stride * (ptrdiff_t)size,
          (const char *)from->data + c * from->channel_stride * (ptrdiff_t)size,
          from->n_frames * size);
  } else {
    tfx_block_copy (from, to);
  }
}

int
tfx_transfer_upload (TfxCuda *cuda, TfxTransfer *t, const TfxBlock *block)
{
  TfxBlock moved = dense (block, t->pinned.data);

  copy (block, &moved);
  return tfx_context_check (cuda,
      cuda->driver->memcpy_htod_async (t->device.data, t->pinned.data,
          size_of (block), cuda->stream),
      "uploading samples");
}

int
tfx_transfer_download (TfxCuda *cuda, TfxTransfer *t, const TfxBlock *block)
{
  return tfx_context_check (cuda,
      cuda->driver->memcpy_dtoh_async (t->pinned.data, t->device.data,
          size_of (block), cuda->stream),
      "downloading samples");
}

void
tfx_transfer_finish (const TfxTransfer *t, const TfxBlock *block)
{
  TfxBlock moved = dense (block, t->pinned.data);

  copy (&moved, block);
}
