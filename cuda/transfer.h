/* SPDX-License-Identifier: LGPL-2.1-or-later
 * transfer.h: samples between host and device.  The context is current in all
 * calls. */
#ifndef TFX_CUDA_TRANSFER_H
#define TFX_CUDA_TRANSFER_H

#include "buffer.h"
#include "kernels/args.h"

/* Where a block is. */
typedef enum
{
  TFX_PLACE_HOST,
  TFX_PLACE_PINNED,
  TFX_PLACE_DEVICE
} TfxCudaPlace;

/* Samples of a block as they are moved: one after the other, by frame or by
 * channel as the block is, in pinned memory and on the device.  An integrated
 * device works on the pinned memory itself. */
typedef struct TfxTransfer
{
  TfxPinned pinned;
  TfxBuffer device;
} TfxTransfer;

/* 0; -EINVAL for memory of another device or context, which no kernel may get;
 * or another negative errno. */
int
tfx_transfer_find (TfxCuda *cuda, const TfxBlock *block, TfxCudaPlace *place);

/* True if the block can be moved from where it is, or back, without a copy in
 * pinned memory: it lies there without gaps, or in planes at even distances. */
bool tfx_transfer_is_direct (const TfxBlock *block, TfxCudaPlace place);

/* Room for a block; is_direct: without the copy in pinned memory. */
int tfx_transfer_reserve (const TfxCudaStream *stream, TfxTransfer *transfer,
    const TfxBlock *block, bool is_direct);
void tfx_transfer_free (const TfxCudaStream *stream, TfxTransfer *transfer);

/* The block's samples as kernels find them, for a block in host memory. */
TfxKernelBlock tfx_transfer_block (const TfxCuda *cuda,
    const TfxTransfer *transfer, const TfxBlock *block, bool is_direct);

/* A block that is in device memory. */
TfxKernelBlock tfx_transfer_device_block (const TfxBlock *block);

/* Starts the upload of the block, which has been read when it returns, unless it
 * is direct. */
int tfx_transfer_upload (const TfxCudaStream *stream, TfxTransfer *transfer,
    const TfxBlock *block, bool is_direct);

/* Starts the download of the samples of block; tfx_transfer_finish() copies them
 * there after it has ended. */
int tfx_transfer_download (const TfxCudaStream *stream, TfxTransfer *transfer,
    const TfxBlock *block, bool is_direct);
void tfx_transfer_finish (const TfxTransfer *transfer, const TfxBlock *block,
    bool is_direct);

#endif
