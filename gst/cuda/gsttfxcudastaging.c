/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudastaging.c: the samples of a CUDA memory, on the device and in pinned
 * staging memory of the host.
 */
#define GST_USE_UNSTABLE_API
#include "gsttfxcudastaging.h"

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

/* A driver call that fails once may succeed the next time; where the device has
 * gone, the second attempt costs nothing. */
#define N_ATTEMPTS 2

/* The driver promises copies on a device only for the pitches that its own
 * allocations have; of one row it makes no difference. */
#define PITCH_ALIGNMENT 512

static gsize
gst_tfx_cuda_staging_pitch (gsize size)
{
  return (size + PITCH_ALIGNMENT - 1) & ~(gsize)(PITCH_ALIGNMENT - 1);
}

/* ---- moving samples ----------------------------------------------------------- */

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

/* Makes the context current on this thread, until gst_cuda_context_pop(). */
static gboolean
gst_tfx_cuda_staging_enter (GstTfxCudaStaging *self)
{
  for (gint i = 0; i < N_ATTEMPTS; i++) {
    if (gst_cuda_context_push (self->context))
      return TRUE;
  }
  return FALSE;
}

/* Puts a copy on the stream. */
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

/* The move that the flag says is needed, if it is set: up to the device, or down to
 * the host, where the samples are when it returns. */
static gboolean
gst_tfx_cuda_staging_move (GstTfxCudaStaging *self, guint needed)
{
  const gboolean is_up = needed == GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD;
  const gsize size = self->root->maxsize;
  /* Each end in either memory: what counts is the type. */
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
      (!is_up && !gst_tfx_cuda_staging_wait (self)))
    return FALSE;
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

/* Samples have been written there, or are about to be. */
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

/* Whoever writes a part finds the rest unchanged, so samples are downloaded for
 * writers too. */
static gpointer
gst_tfx_cuda_staging_map_host (GstTfxCudaStaging *self, GstMapFlags flags)
{
  if (!gst_tfx_cuda_staging_pin (self) ||
      !gst_tfx_cuda_staging_move (self, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD))
    return NULL;
  /* The stream may still be reading what would be overwritten. */
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
  /* Another map may have moved samples, and waited, in between. */
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

/* ---- making and freeing ------------------------------------------------------ */

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
  /* The stream may still be using it, and the device memory, which is freed
   * next. */
  gst_tfx_cuda_staging_wait (self);
  if (self->pinned && gst_tfx_cuda_staging_enter (self)) {
    gst_cuda_result (CuMemFreeHost (self->pinned));
    gst_cuda_context_pop (NULL);
  }
  tfx_cuda_unref (&self->cuda);
  g_mutex_clear (&self->lock);
  g_free (self);
}
