/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaallocator.c: GstCudaMemory for audio.
 *
 * libgstcuda makes and frees the root memory; all other functions are here,
 * with their data in the qdata of the root.  A part of a memory is a
 * GstCudaMemory too, for elements that check the type, and is mapped through
 * the root.
 */
#define GST_USE_UNSTABLE_API
#include "gsttfxcudaallocator.h"

#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

G_STATIC_ASSERT ((GST_TFX_MAP_CUDA_QUEUED & GST_MAP_CUDA) == GST_MAP_CUDA);

/* A driver call that fails once may succeed the next time; on a lost device the
 * second attempt returns at once. */
#define N_ATTEMPTS 2

/* The driver guarantees device copies only for the pitches of memory that it
 * has allocated.  A copy of one row does not use the pitch, but it must be
 * valid. */
#define PITCH_ALIGNMENT 512

/* The samples of a root memory, on the device and in pinned staging memory of
 * the host.  The memory flags NEED_DOWNLOAD and NEED_UPLOAD mark the copy that
 * is out of date, as in libgstcuda. */
typedef struct
{
  GMutex lock;
  GstMemory *root; /* no reference: it owns this */
  GstCudaContext *context;
  TfxCuda *cuda;
  guintptr device;   /* a CUdeviceptr */
  guint8 *pinned;    /* NULL before the first CPU map */
  gboolean is_empty; /* neither copy has valid samples */
  gboolean is_busy;  /* the stream may still use it */

  /* Not under the lock: changes only while the memory has one holder. */
  GstTfxPending *pending; /* pending work, or NULL */
  const GstTfxCudaPendingKind *pending_kind;
} GstTfxCudaStaging;

/* Both are set with the allocator.  The map function of libgstcuda knows the
 * device address. */
static GQuark staging_quark;
static GstMemoryMapFunction library_map;

static GstTfxCudaStaging *
gst_tfx_cuda_staging_get (GstMemory *memory)
{
  if (memory->parent)
    memory = memory->parent;
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory),
      staging_quark);
}

/* ---- moving samples ------------------------------------------------------ */

/* The functions of this section require the lock. */

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
gst_tfx_cuda_staging_copy (GstTfxCudaStaging *self, CUmemorytype to_type,
    guintptr to, CUmemorytype from_type, guintptr from, gsize size)
{
  const gsize pitch =
      (size + PITCH_ALIGNMENT - 1) & ~(gsize)(PITCH_ALIGNMENT - 1);
  /* Both address fields are set; the memory type selects one. */
  const CUDA_MEMCPY2D copy = {
    .srcMemoryType = from_type,
    .srcHost = (gconstpointer)from,
    .srcDevice = from,
    .srcPitch = pitch,
    .dstMemoryType = to_type,
    .dstHost = (gpointer)to,
    .dstDevice = to,
    .dstPitch = pitch,
    .WidthInBytes = size,
    .Height = 1,
  };
  gboolean ok = FALSE;

  if (!gst_tfx_cuda_staging_enter (self))
    return FALSE;
  for (gint i = 0; i < N_ATTEMPTS && !ok; i++)
    ok =
        gst_cuda_result (CuMemcpy2DAsync (&copy, tfx_cuda_stream (self->cuda)));
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
  const gchar *where = is_up ? "to the device" : "from the device";
  const guintptr pinned = (guintptr)self->pinned;
  const gsize size = self->root->maxsize;
  gboolean ok;

  if (!GST_MEMORY_FLAG_IS_SET (self->root, needed))
    return TRUE;
  if (is_up)
    ok = gst_tfx_cuda_staging_copy (self, CU_MEMORYTYPE_DEVICE, self->device,
        CU_MEMORYTYPE_HOST, pinned, size);
  else
    ok = gst_tfx_cuda_staging_copy (self, CU_MEMORYTYPE_HOST, pinned,
             CU_MEMORYTYPE_DEVICE, self->device, size) &&
         gst_tfx_cuda_staging_wait (self);
  if (!ok) {
    GST_WARNING ("%" G_GSIZE_FORMAT " bytes cannot be copied %s", size, where);
    return FALSE;
  }
  GST_LOG ("%" G_GSIZE_FORMAT " bytes copied %s", size, where);
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

/* ---- memory without its pending work ------------------------------------- */

gpointer
gst_tfx_cuda_allocator_map_raw (GstMemory *memory, GstMapFlags flags)
{
  const gboolean on_device = (flags & GST_MAP_CUDA) == GST_MAP_CUDA;
  const gboolean is_queued =
      (flags & GST_TFX_MAP_CUDA_QUEUED) == GST_TFX_MAP_CUDA_QUEUED;
  GstTfxCudaStaging *self = gst_tfx_cuda_staging_get (memory);
  gpointer data = NULL;

  g_mutex_lock (&self->lock);
  if (on_device) {
    if (gst_tfx_cuda_staging_move (self,
            GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD) &&
        (is_queued || gst_tfx_cuda_staging_wait (self)))
      data = (gpointer)(guintptr)self->device;
  } else {
    /* A writer may write a part only, so its map downloads the samples too, and
     * the stream may still read the staging memory. */
    if (gst_tfx_cuda_staging_pin (self) &&
        gst_tfx_cuda_staging_move (self,
            GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD) &&
        (!(flags & GST_MAP_WRITE) || gst_tfx_cuda_staging_wait (self)))
      data = self->pinned;
  }
  if (data) {
    self->is_busy |= is_queued;
    gst_tfx_cuda_staging_write (self, flags);
  }
  g_mutex_unlock (&self->lock);
  return data;
}

void
gst_tfx_cuda_allocator_unmap_raw (GstMemory *memory, GstMapFlags flags)
{
  GstTfxCudaStaging *self = gst_tfx_cuda_staging_get (memory);

  g_mutex_lock (&self->lock);
  /* Another map may have cleared the flag in between. */
  if ((flags & GST_TFX_MAP_CUDA_QUEUED) == GST_TFX_MAP_CUDA_QUEUED)
    self->is_busy = TRUE;
  gst_tfx_cuda_staging_write (self, flags);
  g_mutex_unlock (&self->lock);
}

gboolean
gst_tfx_cuda_allocator_copy_raw (GstMemory *to, GstMemory *from, gsize offset,
    gsize size)
{
  GstTfxCudaStaging *source = gst_tfx_cuda_staging_get (from);
  GstTfxCudaStaging *target = gst_tfx_cuda_staging_get (to);
  gboolean ok = TRUE;

  g_mutex_lock (&source->lock);
  if (!source->is_empty) {
    ok =
        gst_tfx_cuda_staging_move (source,
            GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD) &&
        gst_tfx_cuda_staging_copy (target, CU_MEMORYTYPE_DEVICE, target->device,
            CU_MEMORYTYPE_DEVICE, source->device + offset, size);
    source->is_busy |= ok;
    if (ok)
      gst_tfx_cuda_staging_write (target, GST_MAP_WRITE | GST_MAP_CUDA);
  }
  g_mutex_unlock (&source->lock);
  return ok;
}

/* ---- pending work -------------------------------------------------------- */

static void
gst_tfx_cuda_staging_run_pending (GstTfxCudaStaging *self)
{
  if (G_UNLIKELY (self->pending))
    self->pending_kind->run (self->pending);
}

static void
gst_tfx_cuda_staging_end_pending (GstTfxCudaStaging *self)
{
  gst_tfx_cuda_staging_run_pending (self);
  if (self->pending)
    self->pending_kind->free (g_steal_pointer (&self->pending));
}

void
gst_tfx_cuda_allocator_set_pending (GstMemory *memory,
    const GstTfxCudaPendingKind *kind, GstTfxPending *pending)
{
  GstTfxCudaStaging *self = gst_tfx_cuda_staging_get (memory);

  gst_tfx_cuda_staging_end_pending (self);
  self->pending_kind = kind;
  self->pending = pending;
}

GstTfxPending *
gst_tfx_cuda_allocator_steal_pending (GstMemory *memory)
{
  return g_steal_pointer (&gst_tfx_cuda_staging_get (memory)->pending);
}

GstTfxPending *
gst_tfx_cuda_allocator_get_pending (GstMemory *memory)
{
  if (memory->parent || !gst_tfx_cuda_allocator_owns (memory))
    return NULL;
  return gst_tfx_cuda_staging_get (memory)->pending;
}

void
gst_tfx_cuda_allocator_discard (GstMemory *memory)
{
  GstTfxCudaStaging *self = gst_tfx_cuda_staging_get (memory);

  gst_tfx_cuda_staging_end_pending (self);
  g_mutex_lock (&self->lock);
  self->is_empty = TRUE;
  GST_MEMORY_FLAG_UNSET (self->root, GST_CUDA_MEMORY_TRANSFER_NEED_UPLOAD);
  GST_MEMORY_FLAG_UNSET (self->root, GST_CUDA_MEMORY_TRANSFER_NEED_DOWNLOAD);
  g_mutex_unlock (&self->lock);
}

/* ---- the functions of the allocator -------------------------------------- */

static gpointer
gst_tfx_cuda_allocator_mem_map (GstMemory *memory, gsize maxsize,
    GstMapFlags flags)
{
  gst_tfx_cuda_staging_run_pending (gst_tfx_cuda_staging_get (memory));
  return gst_tfx_cuda_allocator_map_raw (memory, flags);
}

static void
gst_tfx_cuda_allocator_mem_unmap (GstMemory *memory, GstMapInfo *info)
{
  gst_tfx_cuda_allocator_unmap_raw (memory, info->flags);
}

static GstMemory *
gst_tfx_cuda_allocator_mem_share (GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *root = memory->parent ? memory->parent : memory;
  GstCudaMemory *whole = GST_CUDA_MEMORY_CAST (root);
  GstCudaMemory *part = g_new0 (GstCudaMemory, 1);

  gst_tfx_cuda_staging_run_pending (gst_tfx_cuda_staging_get (root));
  if (size == -1)
    size = memory->size - offset;
  part->context = gst_object_ref (whole->context);
  part->info = whole->info;
  part->priv = whole->priv;
  gst_memory_init (GST_MEMORY_CAST (part),
      GST_MINI_OBJECT_FLAGS (root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      root->allocator, root, root->maxsize, root->align,
      memory->offset + offset, size);
  return GST_MEMORY_CAST (part);
}

static gboolean
gst_tfx_cuda_allocator_mem_is_span (GstMemory *first, GstMemory *second,
    gsize *offset)
{
  if (offset)
    *offset = first->offset - first->parent->offset;
  return first->offset + first->size == second->offset;
}

/* Copies to system memory if device memory is short or the driver fails. */
static GstMemory *
gst_tfx_cuda_allocator_copy_to_host (GstMemory *memory, gsize offset,
    gsize size)
{
  GstMapInfo from, to;
  GstMemory *copy;

  if (!gst_memory_map (memory, &from, GST_MAP_READ))
    return NULL;
  copy = gst_allocator_alloc (NULL, size, NULL);
  if (copy && gst_memory_map (copy, &to, GST_MAP_WRITE)) {
    memcpy (to.data, from.data + offset, size);
    gst_memory_unmap (copy, &to);
  }
  gst_memory_unmap (memory, &from);
  return copy;
}

static GstMemory *
gst_tfx_cuda_allocator_mem_copy (GstMemory *memory, gssize offset, gssize size)
{
  GstTfxCudaStaging *staging = gst_tfx_cuda_staging_get (memory);
  GstMemory *copy;

  gst_tfx_cuda_staging_run_pending (staging);
  if (size == -1)
    size = (gssize)memory->size > offset ? memory->size - offset : 0;
  copy = gst_tfx_cuda_allocator_alloc (staging->context, MAX (size, 1));
  if (copy && size == 0)
    gst_memory_resize (copy, 0, 0);
  else if (copy && !gst_tfx_cuda_allocator_copy_raw (copy, memory,
                       memory->offset + offset, size))
    g_clear_pointer (&copy, gst_memory_unref);
  return copy ? copy
              : gst_tfx_cuda_allocator_copy_to_host (memory, offset, size);
}

typedef GstCudaAllocator GstTfxCudaAllocator;
typedef GstCudaAllocatorClass GstTfxCudaAllocatorClass;

static GType gst_tfx_cuda_allocator_get_type (void);
G_DEFINE_TYPE (GstTfxCudaAllocator, gst_tfx_cuda_allocator,
    GST_TYPE_CUDA_ALLOCATOR)

static void
gst_tfx_cuda_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  GstCudaMemory *part = GST_CUDA_MEMORY_CAST (memory);

  /* The parent may have been freed. */
  if (!memory->parent) {
    if (!gst_tfx_cuda_context_is (part->context, tfx_cuda_is_hung))
      GST_ALLOCATOR_CLASS (gst_tfx_cuda_allocator_parent_class)
          ->free (allocator, memory);
    return;
  }
  gst_object_unref (part->context);
  g_free (part);
}

static void
gst_tfx_cuda_allocator_class_init (GstTfxCudaAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = gst_tfx_cuda_allocator_free;
}

static void
gst_tfx_cuda_allocator_init (GstTfxCudaAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  staging_quark = g_quark_from_static_string ("gst-tfx-cuda-staging");
  library_map = allocator->mem_map;
  allocator->mem_map = gst_tfx_cuda_allocator_mem_map;
  allocator->mem_unmap_full = gst_tfx_cuda_allocator_mem_unmap;
  allocator->mem_share = gst_tfx_cuda_allocator_mem_share;
  allocator->mem_copy = gst_tfx_cuda_allocator_mem_copy;
  allocator->mem_is_span = gst_tfx_cuda_allocator_mem_is_span;
}

/* ---- making and freeing -------------------------------------------------- */

static GstAllocator *the_allocator; /* atomic; there once it is needed */

static GstCudaAllocator *
gst_tfx_cuda_allocator_get (void)
{
  if (g_once_init_enter (&the_allocator)) {
    GstAllocator *allocator =
        g_object_new (gst_tfx_cuda_allocator_get_type (), NULL);

    gst_object_ref_sink (allocator);
    GST_OBJECT_FLAG_SET (allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&the_allocator, allocator);
  }
  return GST_CUDA_ALLOCATOR_CAST (the_allocator);
}

/* A GDestroyNotify. */
static void
gst_tfx_cuda_staging_free (gpointer data)
{
  GstTfxCudaStaging *self = data;

  gst_tfx_cuda_staging_end_pending (self);
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

GstMemory *
gst_tfx_cuda_allocator_alloc (GstCudaContext *context, gsize size)
{
  GstCudaAllocator *allocator = gst_tfx_cuda_allocator_get ();
  GstTfxCudaStaging *staging;
  GstMemory *memory = NULL;
  GstVideoInfo info;
  TfxCuda *cuda;

  if (size == 0 || size > GST_TFX_CUDA_MAX_SIZE) {
    GST_ERROR_OBJECT (context,
        "%" G_GSIZE_FORMAT " bytes of device memory: it must be 1 to %d", size,
        GST_TFX_CUDA_MAX_SIZE);
    return NULL;
  }
  cuda = gst_tfx_cuda_for_context (context, NULL);
  if (!cuda)
    return NULL;
  /* Memory of libgstcuda is an image: one of one row. */
  if (gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGBA, (size + 3) / 4,
          1)) {
    info.stride[0] = info.size = size;
#if GST_CHECK_VERSION(1, 24, 0)
    memory = gst_cuda_allocator_alloc (allocator, context, NULL, &info);
#else
    memory = gst_cuda_allocator_alloc (allocator, context, &info);
#endif
  }
  if (!memory) {
    GST_WARNING_OBJECT (context,
        "no device memory for %" G_GSIZE_FORMAT " bytes", size);
    tfx_cuda_unref (&cuda);
    return NULL;
  }
  GST_LOG_OBJECT (context, "%" G_GSIZE_FORMAT " bytes of device memory", size);
  /* The library rounds up to the size of an image row. */
  memory->size = memory->maxsize = size;
  GST_CUDA_MEMORY_CAST (memory)->info.size = size;

  staging = g_new0 (GstTfxCudaStaging, 1);
  g_mutex_init (&staging->lock);
  staging->root = memory;
  staging->context = context;
  staging->cuda = cuda;
  staging->device =
      (guintptr)library_map (memory, size, GST_MAP_READ | GST_MAP_CUDA);
  staging->is_empty = TRUE;
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory), staging_quark,
      staging, gst_tfx_cuda_staging_free);
  return memory;
}

GstMemory *
gst_tfx_cuda_allocator_alloc_like (GstMemory *memory)
{
  return gst_tfx_cuda_allocator_alloc (GST_CUDA_MEMORY_CAST (memory)->context,
      memory->maxsize);
}

gboolean
gst_tfx_cuda_allocator_is_device (GstMemory *memory)
{
  return gst_memory_is_type (memory, GST_CUDA_MEMORY_TYPE_NAME);
}

gboolean
gst_tfx_cuda_allocator_owns (GstMemory *memory)
{
  return memory->allocator &&
         memory->allocator == g_atomic_pointer_get (&the_allocator);
}
