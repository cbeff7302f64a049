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

#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <string.h>

#include "gsttfxcudastaging.h"

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

G_STATIC_ASSERT ((GST_TFX_MAP_CUDA_QUEUED & GST_MAP_CUDA) == GST_MAP_CUDA);

/* The map function of libgstcuda, which knows the device address. */
static GstMemoryMapFunction library_map;

typedef GstCudaAllocator GstTfxCudaAllocator;
typedef GstCudaAllocatorClass GstTfxCudaAllocatorClass;

static GType gst_tfx_cuda_allocator_get_type (void);
G_DEFINE_TYPE (GstTfxCudaAllocator, gst_tfx_cuda_allocator,
    GST_TYPE_CUDA_ALLOCATOR)

static GQuark
gst_tfx_cuda_allocator_quark (void)
{
  static GQuark quark;

  if (!quark)
    quark = g_quark_from_static_string ("gst-tfx-cuda-staging");
  return quark;
}

static GstTfxCudaStaging *
gst_tfx_cuda_allocator_staging (GstMemory *memory)
{
  if (memory->parent)
    memory = memory->parent;
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory),
      gst_tfx_cuda_allocator_quark ());
}

/* ---- memory -------------------------------------------------------------- */

gpointer
gst_tfx_cuda_allocator_map_raw (GstMemory *memory, GstMapFlags flags)
{
  GstTfxCudaStaging *staging = gst_tfx_cuda_allocator_staging (memory);
  gpointer data;

  g_mutex_lock (&staging->lock);
  data = gst_tfx_cuda_staging_map (staging, flags);
  g_mutex_unlock (&staging->lock);
  return data;
}

void
gst_tfx_cuda_allocator_unmap_raw (GstMemory *memory, GstMapFlags flags)
{
  GstTfxCudaStaging *staging = gst_tfx_cuda_allocator_staging (memory);

  g_mutex_lock (&staging->lock);
  gst_tfx_cuda_staging_unmap (staging, flags);
  g_mutex_unlock (&staging->lock);
}

static gpointer
gst_tfx_cuda_allocator_mem_map (GstMemory *memory, gsize maxsize,
    GstMapFlags flags)
{
  gst_tfx_cuda_staging_run_pending (gst_tfx_cuda_allocator_staging (memory));
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

  gst_tfx_cuda_staging_run_pending (gst_tfx_cuda_allocator_staging (root));
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
  GstTfxCudaStaging *staging = gst_tfx_cuda_allocator_staging (memory);
  GstMemory *copy;
  gboolean ok;

  gst_tfx_cuda_staging_run_pending (staging);
  if (size == -1)
    size = (gssize)memory->size > offset ? memory->size - offset : 0;
  copy = gst_tfx_cuda_allocator_alloc (staging->context, MAX (size, 1));
  if (!copy)
    return gst_tfx_cuda_allocator_copy_to_host (memory, offset, size);
  if (size == 0) {
    gst_memory_resize (copy, 0, 0);
    return copy;
  }
  g_mutex_lock (&staging->lock);
  ok = gst_tfx_cuda_staging_copy_range (gst_tfx_cuda_allocator_staging (copy),
      staging, memory->offset + offset, size);
  g_mutex_unlock (&staging->lock);
  if (ok)
    return copy;
  gst_memory_unref (copy);
  return gst_tfx_cuda_allocator_copy_to_host (memory, offset, size);
}

/* ---- making and freeing -------------------------------------------------- */

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

  library_map = allocator->mem_map;
  allocator->mem_map = gst_tfx_cuda_allocator_mem_map;
  allocator->mem_unmap_full = gst_tfx_cuda_allocator_mem_unmap;
  allocator->mem_share = gst_tfx_cuda_allocator_mem_share;
  allocator->mem_copy = gst_tfx_cuda_allocator_mem_copy;
  allocator->mem_is_span = gst_tfx_cuda_allocator_mem_is_span;
}

static GstAllocator *the_allocator; /* atomic; there once it is needed */

static gpointer
gst_tfx_cuda_allocator_make (gpointer data)
{
  GstObject *self = g_object_new (gst_tfx_cuda_allocator_get_type (), NULL);

  gst_object_ref_sink (self);
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  g_atomic_pointer_set (&the_allocator, GST_ALLOCATOR_CAST (self));
  return self;
}

static GstCudaAllocator *
gst_tfx_cuda_allocator_get (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, gst_tfx_cuda_allocator_make, NULL);
}

/* Memory of libgstcuda: an image of one row. */
static GstMemory *
gst_tfx_cuda_allocator_alloc_row (GstCudaContext *context, gsize size)
{
  GstCudaAllocator *allocator = gst_tfx_cuda_allocator_get ();
  GstVideoInfo info;

  if (!gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGBA, (size + 3) / 4,
          1))
    return NULL;
  info.stride[0] = info.size = size;
#if GST_CHECK_VERSION(1, 24, 0)
  return gst_cuda_allocator_alloc (allocator, context, NULL, &info);
#else
  return gst_cuda_allocator_alloc (allocator, context, &info);
#endif
}

GstMemory *
gst_tfx_cuda_allocator_alloc (GstCudaContext *context, gsize size)
{
  GstTfxCudaStaging *staging;
  GstMemory *memory;
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
  memory = gst_tfx_cuda_allocator_alloc_row (context, size);
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

  staging = gst_tfx_cuda_staging_new (memory, context, cuda,
      (guintptr)library_map (memory, size, GST_MAP_READ | GST_MAP_CUDA));
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory),
      gst_tfx_cuda_allocator_quark (), staging, gst_tfx_cuda_staging_free);
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

void
gst_tfx_cuda_allocator_discard (GstMemory *memory)
{
  GstTfxCudaStaging *staging = gst_tfx_cuda_allocator_staging (memory);

  g_mutex_lock (&staging->lock);
  gst_tfx_cuda_staging_discard (staging);
  g_mutex_unlock (&staging->lock);
}

/* ---- pending work -------------------------------------------------------- */

void
gst_tfx_cuda_allocator_set_pending (GstMemory *memory,
    const GstTfxCudaPendingKind *kind, gpointer pending)
{
  GstTfxCudaStaging *staging = gst_tfx_cuda_allocator_staging (memory);

  gst_tfx_cuda_staging_free_pending (staging);
  staging->pending_kind = kind;
  staging->pending = pending;
}

gpointer
gst_tfx_cuda_allocator_steal_pending (GstMemory *memory)
{
  return g_steal_pointer (&gst_tfx_cuda_allocator_staging (memory)->pending);
}

void
gst_tfx_cuda_allocator_end_pending (GstMemory *memory)
{
  GstTfxCudaStaging *staging = gst_tfx_cuda_allocator_staging (memory);

  gst_tfx_cuda_staging_run_pending (staging);
  gst_tfx_cuda_staging_free_pending (staging);
}

gpointer
gst_tfx_cuda_allocator_get_pending (GstMemory *memory)
{
  if (memory->parent || !gst_tfx_cuda_allocator_owns (memory))
    return NULL;
  return gst_tfx_cuda_allocator_staging (memory)->pending;
}

gboolean
gst_tfx_cuda_allocator_copy_raw (GstMemory *to, GstMemory *from)
{
  GstTfxCudaStaging *source = gst_tfx_cuda_allocator_staging (from);
  gboolean ok;

  g_mutex_lock (&source->lock);
  ok = gst_tfx_cuda_staging_copy_range (gst_tfx_cuda_allocator_staging (to),
      source, 0, from->maxsize);
  g_mutex_unlock (&source->lock);
  return ok;
}
