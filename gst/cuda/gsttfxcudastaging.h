/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudastaging.h: the samples of a CUDA memory, on the device and in
 * pinned staging memory of the host.
 */
#ifndef GST_TFX_CUDA_STAGING_H
#define GST_TFX_CUDA_STAGING_H

#include "gsttfxcuda.h"
#include "gsttfxcudaallocator.h"

G_BEGIN_DECLS

/* The samples of a root memory.  The memory flags NEED_DOWNLOAD and NEED_UPLOAD
 * mark the copy that is out of date, as in libgstcuda. */
typedef struct
{
  GMutex lock;
  GstMemory *root; /* no reference: it owns this */
  GstCudaContext *context;
  TfxCuda *cuda;
  guint64 device;    /* a CUdeviceptr */
  guint8 *pinned;    /* NULL before the first CPU map */
  gboolean is_empty; /* neither copy has valid samples */
  gboolean is_busy;  /* the stream may still use it */

  /* Not under the lock: changes only while the memory has one holder. */
  gpointer pending; /* pending work, or NULL */
  const GstTfxCudaPendingKind *pending_kind;
} GstTfxCudaStaging;

/* Makes the staging of a root memory; takes ownership of @cuda. */
GstTfxCudaStaging *gst_tfx_cuda_staging_new (GstMemory *root,
    GstCudaContext *context, TfxCuda *cuda, guint64 device);

/* Does pending work, and waits for work that uses the pinned memory.  A
 * GDestroyNotify. */
void gst_tfx_cuda_staging_free (gpointer self);

/* Do, or remove, pending work.  With no lock held. */
static inline void
gst_tfx_cuda_staging_run_pending (GstTfxCudaStaging *self)
{
  if (G_UNLIKELY (self->pending))
    self->pending_kind->run (self->pending);
}
void gst_tfx_cuda_staging_free_pending (GstTfxCudaStaging *self);

/* All other functions require the lock. */

/* Returns the address for @flags, with the newest samples, or NULL if memory is
 * short or the driver fails. */
gpointer gst_tfx_cuda_staging_map (GstTfxCudaStaging *self, GstMapFlags flags);
void gst_tfx_cuda_staging_unmap (GstTfxCudaStaging *self, GstMapFlags flags);

/* Queues a copy from one device memory to the start of another; the caller is
 * the only holder of @to. */
gboolean gst_tfx_cuda_staging_copy_range (GstTfxCudaStaging *to,
    GstTfxCudaStaging *from, gsize offset, gsize size);

/* Discards the samples. */
void gst_tfx_cuda_staging_discard (GstTfxCudaStaging *self);

G_END_DECLS

#endif /* GST_TFX_CUDA_STAGING_H */
