/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudasides.h: the two sides of a CUDA memory, on the device and in pinned
 * host memory.
 */
#ifndef GST_TFX_CUDA_SIDES_H
#define GST_TFX_CUDA_SIDES_H

#include "gsttfxcudaallocator.h"

G_BEGIN_DECLS

/* A root memory's two sides.  Which one is newer is in the memory's flags, where
 * libgstcuda has it too: NEED_DOWNLOAD and NEED_UPLOAD. */
struct _GstTfxCudaSides
{
  GMutex lock;
  GstMemory *root; /* not held: it holds this */
  GstCudaContext *context;
  TfxCuda *cuda;
  guint64 device;    /* a CUdeviceptr */
  guint8 *pinned;    /* NULL before the first CPU map */
  gboolean is_empty; /* nothing of worth has been written to either side */
  gboolean is_busy;  /* the stream may still have work on it */
  const GstTfxCudaTask *task; /* atomic; what is to be done first, or NULL */
  gpointer task_data;
};

/* For a memory that is no part of another; @cuda is taken over. */
GstTfxCudaSides *gst_tfx_cuda_sides_new (GstMemory *root,
    GstCudaContext *context, TfxCuda *cuda, guint64 device);

/* Waits for work that still needs the pinned side.  A GDestroyNotify. */
void gst_tfx_cuda_sides_free (gpointer self);

/* The rest is called with the lock held. */

/* The address of the side that @flags ask for, with the newest samples, or
 * NULL if memory is short or the driver fails. */
gpointer gst_tfx_cuda_sides_map (GstTfxCudaSides *self, GstMapFlags flags);
void gst_tfx_cuda_sides_unmap (GstTfxCudaSides *self, GstMapFlags flags);

/* Puts a copy from one device side to the start of another on the stream; @to
 * is nobody else's yet. */
gboolean gst_tfx_cuda_sides_copy_range (GstTfxCudaSides *to,
    GstTfxCudaSides *from, gsize offset, gsize size);

/* Both sides mean nothing any more. */
void gst_tfx_cuda_sides_discard (GstTfxCudaSides *self);

G_END_DECLS

#endif /* GST_TFX_CUDA_SIDES_H */
