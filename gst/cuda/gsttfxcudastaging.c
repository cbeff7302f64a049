/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudastaging.c: the samples of a CUDA memory, on the device and in
 * pinned staging memory of the host.
 */
#define GST_USE_UNSTABLE_API
#include "gsttfxcudastaging.h"

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

/* A driver call that fails once may succeed the next time; on a lost device the
 * second attempt returns at once. */
#define N_ATTEMPTS 2

/* The driver guarantees device copies only for the pitches of memory that it
 * has allocated.  A copy of one row does not use the pitch, but it must be
 * valid. */
#define PITCH_ALIGNMENT 512

static gsize
gst_tfx_cuda_staging_pitch (gsize size)
{
  return (size + PITCH_ALIGNMENT - 1) & ~(gsize)(PITCH_ALIGNMENT - 1);
}

/* ---- moving samples ------------------------------------------------------ */

static gboolean
gst_tfx_cuda_staging_wait (GstTfxCudaStaging *self)
{
  if (!self->is_busy)
    return TRUE;
  for (gint i = 0; i < N_ATTEMPTS; i++) {
    if (tfx_cuda_wait (self->cuda) == 0) {
      self->is_busy = FALSE;
      return TRUE;
    }
  }
  GST_WARNING ("waiting for the device failed");
  return FALSE;
}

/* Makes the context current on this thread, until gst_cuda_context_pop().
 * Fails if the device hangs, because the driver might wait for it. */
static gboolean
gst_tfx_cuda_staging_enter (GstTfxCudaStaging *self)
{
  if (tfx_cuda_is_hung (self->cuda))
    return FALSE;
  for (gint i = 0; i < N_ATTEMPTS; i++) {
    if (gst_cuda_context_push (self->context))
      return TRUE;
  }
  return FALSE;
}

/* Queues a copy on the stream. */
static gboolean
gst_tfx_cuda_staging_copy (GstTfxCudaStaging *self, const CUDA_MEMCPY2D *copy)
{
  gboolean ok = FALSE;

  if (!gst_tfx_cuda_staging_enter (self))
    return FALSE;
  for (gint i = 0; i < N_ATTEMPTS && !ok; i++)
    ok = gst_cuda_result (CuMemcpy2DAsync (copy, tfx_cuda_stream (self->cuda)));
  gst_cuda_context_pop (NULL);
  self->is_busy |= ok;
  return ok;
}

/* Copies the samples to the device or to the host if the flag @needed is set.
 * A download is complete on return. */
static gboolean
gst_tfx_cuda_staging_move (GstTfxCudaStaging *self, guint needed)
{
  const gboolean is_up = needed == GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD;
  const gsize size = self->root->maxsize;
  /* Both address fields are set; the memory type selects one. */
  const CUDA_MEMCPY2D copy = {
    .srcMemoryType = is_up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
    .srcHost = self->pinned,
    .srcDevice = self->device,
    .srcPitch = gst_tfx_cuda_staging_pitch (size),
    .dstMemoryType = is_up ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
    .dstHost = self->pinned,
    .dstDevice = self->device,
    .dstPitch = gst_tfx_cuda_staging_pitch (size),
    .WidthInBytes = size,
    .Height = 1,
  };

  if (!GST_MEMORY_FLAG_IS_SET (self->root, needed))
    return TRUE;
  if (!gst_tfx_cuda_staging_copy (self, &copy) ||
      (!is_up && !gst_tfx_cuda_staging_wait (self))) {
    GST_WARNING ("%" G_GSIZE_FORMAT " bytes cannot be copied %s", size,
        is_up ? "to the device" : "from the device");
    return FALSE;
  }
  GST_LOG ("%" G_GSIZE_FORMAT " bytes copied %s", size,
      is_up ? "to the device" : "from the device");
  GST_MEMORY_FLAG_UNSET (self->root, needed);
  return TRUE;
}

static gboolean
gst_tfx_cuda_staging_pin (GstTfxCudaStaging *self)
{
  gpointer pinned = NULL;

  if (self->pinned)
    return TRUE;
  if (!gst_tfx_cuda_staging_enter (self))
    return FALSE;
  for (gint i = 0; i < N_ATTEMPTS && !self->pinned; i++) {
    if (gst_cuda_result (CuMemAllocHost (&pinned, self->root->maxsize)))
      self->pinned = pinned;
  }
  gst_cuda_context_pop (NULL);
  return self->pinned != NULL;
}

/* Marks the samples as written, before or after the fact. */
static void
gst_tfx_cuda_staging_write (GstTfxCudaStaging *self, GstMapFlags flags)
{
  const gboolean on_device = (flags & GST_MAP_CUDA) == GST_MAP_CUDA;

  if (!(flags & GST_MAP_WRITE))
    return;
  self->is_empty = FALSE;
  GST_MINI_OBJECT_FLAG_SET (self->root,
      on_device ? GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD
                : GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD);
}

static gpointer
gst_tfx_cuda_staging_map_device (GstTfxCudaStaging *self, GstMapFlags flags)
{
  gboolean is_queued =
      (flags & GST_TFX_MAP_CUDA_QUEUED) == GST_TFX_MAP_CUDA_QUEUED;

  if (!gst_tfx_cuda_staging_move (self, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD))
    return NULL;
  if (is_queued)
    self->is_busy = TRUE;
  else if (!gst_tfx_cuda_staging_wait (self))
    return NULL;
  return (gpointer)(guintptr)self->device;
}

/* A writer may write a part only, so its map downloads the samples too. */
static gpointer
gst_tfx_cuda_staging_map_host (GstTfxCudaStaging *self, GstMapFlags flags)
{
  if (!gst_tfx_cuda_staging_pin (self) ||
      !gst_tfx_cuda_staging_move (self, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD))
    return NULL;
  /* The stream may still read the staging memory. */
  if ((flags & GST_MAP_WRITE) && !gst_tfx_cuda_staging_wait (self))
    return NULL;
  return self->pinned;
}

gpointer
gst_tfx_cuda_staging_map (GstTfxCudaStaging *self, GstMapFlags flags)
{
  gpointer data;

  if ((flags & GST_MAP_CUDA) == GST_MAP_CUDA)
    data = gst_tfx_cuda_staging_map_device (self, flags);
  else
    data = gst_tfx_cuda_staging_map_host (self, flags);
  if (data)
    gst_tfx_cuda_staging_write (self, flags);
  return data;
}

void
gst_tfx_cuda_staging_unmap (GstTfxCudaStaging *self, GstMapFlags flags)
{
  /* Another map may have cleared the flag in between. */
  if ((flags & GST_TFX_MAP_CUDA_QUEUED) == GST_TFX_MAP_CUDA_QUEUED)
    self->is_busy = TRUE;
  gst_tfx_cuda_staging_write (self, flags);
}

gboolean
gst_tfx_cuda_staging_copy_range (GstTfxCudaStaging *to, GstTfxCudaStaging *from,
    gsize offset, gsize size)
{
  CUDA_MEMCPY2D copy = {
    .srcMemoryType = CU_MEMORYTYPE_DEVICE,
    .srcDevice = from->device + offset,
    .srcPitch = gst_tfx_cuda_staging_pitch (size),
    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
    .dstDevice = to->device,
    .dstPitch = gst_tfx_cuda_staging_pitch (size),
    .WidthInBytes = size,
    .Height = 1,
  };

  if (from->is_empty)
    return TRUE;
  if (!gst_tfx_cuda_staging_move (from, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD) ||
      !gst_tfx_cuda_staging_copy (to, &copy))
    return FALSE;
  from->is_busy = TRUE;
  gst_tfx_cuda_staging_write (to, GST_MAP_WRITE | GST_MAP_CUDA);
  return TRUE;
}

void
gst_tfx_cuda_staging_discard (GstTfxCudaStaging *self)
{
  self->is_empty = TRUE;
  GST_MEMORY_FLAG_UNSET (self->root, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD);
  GST_MEMORY_FLAG_UNSET (self->root, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
}

/* ---- making and freeing -------------------------------------------------- */

GstTfxCudaStaging *
gst_tfx_cuda_staging_new (GstMemory *root, GstCudaContext *context,
    TfxCuda *cuda, guint64 device)
{
  GstTfxCudaStaging *self = g_new0 (GstTfxCudaStaging, 1);

  g_mutex_init (&self->lock);
  self->root = root;
  self->context = context;
  self->cuda = cuda;
  self->device = device;
  self->is_empty = TRUE;
  return self;
}

void
gst_tfx_cuda_staging_free_pending (GstTfxCudaStaging *self)
{
  if (self->pending)
    self->pending_kind->free (g_steal_pointer (&self->pending));
}

void
gst_tfx_cuda_staging_free (gpointer data)
{
  GstTfxCudaStaging *self = data;

  gst_tfx_cuda_staging_run_pending (self);
  gst_tfx_cuda_staging_free_pending (self);
  /* The stream may still use the staging memory, and the device memory, which
   * is freed next. */
  gst_tfx_cuda_staging_wait (self);
  if (self->pinned && gst_tfx_cuda_staging_enter (self)) {
    gst_cuda_result (CuMemFreeHost (self->pinned));
    gst_cuda_context_pop (NULL);
  }
  tfx_cuda_unref (&self->cuda);
  g_mutex_clear (&self->lock);
  g_free (self);
}
