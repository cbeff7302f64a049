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
 * channel as the block is, in pinned memory and on the device. */
typedef struct TfxTransfer
{
  TfxPinned pinned;
  TfxBuffer device;
  bool is_direct; /* the block itself takes the place of the pinned memory */
  bool is_mapped; /* kernels work on the host's memory: nothing is moved */
} TfxTransfer;

/* 0; -EINVAL for memory of another device or context, which no kernel may get;
 * or another negative errno. */
int
tfx_transfer_find (TfxCuda *cuda, const TfxBlock *block, TfxCudaPlace *place);

/* True if kernels had better work on the host's memory, across the bus, than on
 * copies of a block of this shape: see transfer.c. */
bool
tfx_transfer_is_short (size_t n_frames, unsigned n_channels, TfxSample type);

/* Makes room for a block in host memory, and returns its samples as kernels find
 * them.  can_be_direct: kernels and copies may use the block's own memory, if it is
 * pinned.  is_mapped: kernels read or write each sample once; otherwise only an
 * integrated device works on the host's memory.  0 or a negative errno. */
int tfx_transfer_reserve (const TfxCudaStream *stream, TfxTransfer *transfer,
    const TfxBlock *block, bool can_be_direct, bool is_mapped,
    TfxKernelBlock *samples);
void tfx_transfer_free (const TfxCudaStream *stream, TfxTransfer *transfer);

/* A block that is in device memory. */
TfxKernelBlock tfx_transfer_device_block (const TfxBlock *block);

/* Starts the upload of the block, which has been read when it returns, unless it
 * is direct. */
int tfx_transfer_upload (const TfxCudaStream *stream, TfxTransfer *transfer,
    const TfxBlock *block);

/* Starts the download of the samples of block; tfx_transfer_finish() copies them
 * there after it has ended. */
int tfx_transfer_download (const TfxCudaStream *stream, TfxTransfer *transfer,
    const TfxBlock *block);
void tfx_transfer_finish (const TfxTransfer *transfer, const TfxBlock *block);

#endif
