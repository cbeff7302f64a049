/* SPDX-License-Identifier: LGPL-2.1-or-later
 * transfer.h: samples between host and device. */
#ifndef TFX_CUDA_TRANSFER_H
#define TFX_CUDA_TRANSFER_H

#include "buffer.h"
#include "kernels/args.h"

/* Samples of a block as they are moved: one after the other, by frame or by
 * channel as the block is, in pinned memory and on the device. */
typedef struct TfxTransfer
{
  TfxPinned pinned;
  TfxBuffer device;
} TfxTransfer;

/* Room for n_samples samples of 8 bytes.  The context is current. */
int
tfx_transfer_reserve (TfxCuda *cuda, TfxTransfer *transfer, size_t n_samples);
void tfx_transfer_free (TfxCuda *cuda, TfxTransfer *transfer);

/* The block's samples on the device, for a block in host memory. */
TfxKernelBlock
tfx_transfer_block (const TfxTransfer *transfer, const TfxBlock *block);

/* A block that is in device memory. */
TfxKernelBlock tfx_transfer_device_block (const TfxBlock *block);

/* Starts the upload of block, which has been read when it returns. */
int tfx_transfer_upload (TfxCuda *cuda, TfxTransfer *transfer,
    const TfxBlock *block);

/* Starts the download of what belongs to block; once it has ended, finish puts
 * it there. */
int tfx_transfer_download (TfxCuda *cuda, TfxTransfer *transfer,
    const TfxBlock *block);
void tfx_transfer_finish (const TfxTransfer *transfer, const TfxBlock *block);

#endif
