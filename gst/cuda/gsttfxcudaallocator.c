/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaallocator.c: GstCudaMemory that is right for audio.
 *
 * The root memory is made by libgstcuda and freed by it; everything between is
 * done here.  What we keep for it is its qdata.  A part of it is a GstCudaMemory
 * too, for elements that look into one, and leaves maps to the root.
 */
#define GST_USE_UNSTABLE_API
#include "gsttfxcudaallocator.h"

#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <string.h>

#include "gsttfxcudaprivate.h"
#include "gsttfxcudasides.h"

G_STATIC_ASSERT ((GST_TFX_MAP_CUDA_QUEUED & GST_MAP_CUDA) == GST_MAP_CUDA);

/* How libgstcuda maps; it alone knows where its memory is on the device. */
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
    quark = g_quark_from_static_string ("gst-tfx-cuda-sides");
  return quark;
}

static GstTfxCudaSides *
gst_tfx_cuda_allocator_sides (GstMemory *memory)
{
  if (memory->parent)
    memory = memory->parent;
  return gst_mini_object_get_qdata (GST_MINI_OBJECT_CAST (memory),
      gst_tfx_cuda_allocator_quark ());
}

/* ---- memory -------------------------------------------------------------------- */

/* Before anybody sees the samples. */
static void
gst_tfx_cuda_allocator_run_task (GstTfxCudaSides *sides)
{
  const GstTfxCudaTask *task = g_atomic_pointer_get (&sides->task);

  if (task)
    task->run (sides->task_data);
}

static gpointer
gst_tfx_cuda_allocator_mem_map (GstMemory *memory, gsize maxsize,
    GstMapFlags flags)
{
  GstTfxCudaSides *sides = gst_tfx_cuda_allocator_sides (memory);

  gst_tfx_cuda_allocator_run_task (sides);
  return gst_tfx_cuda_allocator_map (sides, flags);
}

static void
gst_tfx_cuda_allocator_mem_unmap (GstMemory *memory, GstMapInfo *info)
{
  gst_tfx_cuda_allocator_unmap (gst_tfx_cuda_allocator_sides (memory),
      info->flags);
}

static GstMemory *
gst_tfx_cuda_allocator_mem_share (GstMemory *memory, gssize offset, gssize size)
{
  GstMemory *root = memory->parent ? memory->parent : memory;
  GstCudaMemory *whole = GST_CUDA_MEMORY_CAST (root);
  GstCudaMemory *part = g_new0 (GstCudaMemory, 1);

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

/* Into system memory, where device memory is short or the driver fails. */
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
  GstTfxCudaSides *sides = gst_tfx_cuda_allocator_sides (memory);
  GstMemory *copy;
  gboolean ok;

  gst_tfx_cuda_allocator_run_task (sides);
  if (size == -1)
    size = (gssize)memory->size > offset ? memory->size - offset : 0;
  copy = gst_tfx_cuda_allocator_alloc (sides->context, MAX (size, 1));
  if (!copy)
    return gst_tfx_cuda_allocator_copy_to_host (memory, offset, size);
  if (size == 0) {
    gst_memory_resize (copy, 0, 0);
    return copy;
  }
  g_mutex_lock (&sides->lock);
  ok = gst_tfx_cuda_sides_copy_range (gst_tfx_cuda_allocator_sides (copy),
      sides, memory->offset + offset, size);
  g_mutex_unlock (&sides->lock);
  if (ok)
    return copy;
  gst_memory_unref (copy);
  return gst_tfx_cuda_allocator_copy_to_host (memory, offset, size);
}

/* ---- making and freeing ------------------------------------------------------ */

static void
gst_tfx_cuda_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  GstCudaMemory *part = GST_CUDA_MEMORY_CAST (memory);

  /* The parent may be gone by now. */
  if (!memory->parent) {
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

static gpointer
gst_tfx_cuda_allocator_make (gpointer data)
{
  GstObject *self = g_object_new (gst_tfx_cuda_allocator_get_type (), NULL);

  gst_object_ref_sink (self);
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return self;
}

static GstCudaAllocator *
gst_tfx_cuda_allocator_get (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, gst_tfx_cuda_allocator_make, NULL);
}

/* Memory of libgstcuda: a picture of one row. */
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
  GstTfxCudaSides *sides;
  GstMemory *memory;
  TfxCuda *cuda;

  if (size == 0 || size > G_MAXINT32) {
    GST_ERROR_OBJECT (context,
        "%" G_GSIZE_FORMAT " bytes of device memory: it must be 1 to %d", size,
        G_MAXINT32);
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
  /* The library rounds up, to what a picture's row takes. */
  memory->size = memory->maxsize = size;
  GST_CUDA_MEMORY_CAST (memory)->info.size = size;

  sides = gst_tfx_cuda_sides_new (memory, context, cuda,
      (guintptr)library_map (memory, size, GST_MAP_READ | GST_MAP_CUDA));
  gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory),
      gst_tfx_cuda_allocator_quark (), sides, gst_tfx_cuda_sides_free);
  return memory;
}

gboolean
gst_tfx_cuda_allocator_owns (GstMemory *memory)
{
  return memory->allocator && G_OBJECT_TYPE (memory->allocator) ==
                                  gst_tfx_cuda_allocator_get_type ();
}

gpointer
gst_tfx_cuda_allocator_map (GstTfxCudaSides *sides, GstMapFlags flags)
{
  gpointer data;

  g_mutex_lock (&sides->lock);
  data = gst_tfx_cuda_sides_map (sides, flags);
  g_mutex_unlock (&sides->lock);
  return data;
}

void
gst_tfx_cuda_allocator_unmap (GstTfxCudaSides *sides, GstMapFlags flags)
{
  g_mutex_lock (&sides->lock);
  gst_tfx_cuda_sides_unmap (sides, flags);
  g_mutex_unlock (&sides->lock);
}

GstTfxCudaSides *
gst_tfx_cuda_allocator_set_task (GstMemory *memory, const GstTfxCudaTask *task,
    gpointer data)
{
  GstTfxCudaSides *sides = gst_tfx_cuda_allocator_sides (memory);

  sides->task_data = data;
  g_atomic_pointer_set (&sides->task, task);
  return sides;
}

gpointer
gst_tfx_cuda_allocator_get_task (GstMemory *memory)
{
  GstTfxCudaSides *sides;

  if (!gst_tfx_cuda_allocator_owns (memory))
    return NULL;
  sides = gst_tfx_cuda_allocator_sides (memory);
  return g_atomic_pointer_get (&sides->task) ? sides->task_data : NULL;
}

void
gst_tfx_cuda_allocator_clear_task (GstMemory *memory)
{
  GstTfxCudaSides *sides = gst_tfx_cuda_allocator_sides (memory);
  const GstTfxCudaTask *task = g_atomic_pointer_get (&sides->task);

  g_atomic_pointer_set (&sides->task, NULL);
  if (task)
    task->free (sides->task_data);
}

void
gst_tfx_cuda_allocator_discard (GstMemory *memory)
{
  GstTfxCudaSides *sides = gst_tfx_cuda_allocator_sides (memory);

  gst_tfx_cuda_allocator_run_task (sides);
  gst_tfx_cuda_allocator_clear_task (memory);
  g_mutex_lock (&sides->lock);
  gst_tfx_cuda_sides_discard (sides);
  g_mutex_unlock (&sides->lock);
}
