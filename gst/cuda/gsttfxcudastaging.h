/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudastaging.h: the samples of a CUDA memory, on the device and in pinned
 * staging memory of the host.
 */
#ifndef GST_TFX_CUDA_STAGING_H
#define GST_TFX_CUDA_STAGING_H

#include "gsttfxcuda.h"
#include "gsttfxcudaallocator.h"

G_BEGIN_DECLS

/* Of a root memory.  Which samples are newer is in the memory's flags, where
 * libgstcuda has it too: NEED_DOWNLOAD and NEED_UPLOAD. */
typedef struct
{
  GMutex lock;
  GstMemory *root; /* not held: it holds this */
  GstCudaContext *context;
  TfxCuda *cuda;
  guint64 device;    /* a CUdeviceptr */
  guint8 *pinned;    /* NULL before the first CPU map */
  gboolean is_empty; /* nothing of worth has been written to either */
  gboolean is_busy;  /* the stream may still have work on it */

  /* Not under the lock: changes while the memory is one element's alone. */
  gpointer pending; /* what is still to be done to the samples, or NULL */
  const GstTfxCudaPendingKind *pending_kind;
} GstTfxCudaStaging;

/* For a memory that is no part of another; @cuda is taken over. */
GstTfxCudaStaging *gst_tfx_cuda_staging_new (GstMemory *root,
    GstCudaContext *context, TfxCuda *cuda, guint64 device);

/* Does what is still to be done, and waits for work that still needs the pinned
 * memory.  A GDestroyNotify. */
void gst_tfx_cuda_staging_free (gpointer self);

/* What is still to be done to the samples is done, or forgotten.  With no lock
 * held. */
static inline void
gst_tfx_cuda_staging_run_pending (GstTfxCudaStaging *self)
{
  if (G_UNLIKELY (self->pending))
    self->pending_kind->run (self->pending);
}
void gst_tfx_cuda_staging_free_pending (GstTfxCudaStaging *self);

/* The rest is called with the lock held. */

/* The address in the memory that @flags ask for, with the newest samples, or
 * NULL if memory is short or the driver fails. */
gpointer gst_tfx_cuda_staging_map (GstTfxCudaStaging *self, GstMapFlags flags);
void gst_tfx_cuda_staging_unmap (GstTfxCudaStaging *self, GstMapFlags flags);

/* Puts a copy from one device memory to the start of another on the stream; @to
 * is nobody else's yet. */
gboolean gst_tfx_cuda_staging_copy_range (GstTfxCudaStaging *to,
    GstTfxCudaStaging *from, gsize offset, gsize size);

/* The samples mean nothing any more. */
void gst_tfx_cuda_staging_discard (GstTfxCudaStaging *self);

G_END_DECLS

#endif /* GST_TFX_CUDA_STAGING_H */
