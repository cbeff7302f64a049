/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaallocator.h: GstCudaMemory that is right for audio.
 *
 * libgstcuda's own memory is made for pictures: it cannot be shared in part,
 * copies without regard to the range, and is larger than asked for.  This is
 * memory of the same type (gst_is_cuda_memory() holds) of a subclass of its
 * allocator that does what GStreamer expects of any memory.
 *
 * Where the samples are
 * ---------------------
 *
 * A memory has a device side and, from the first CPU map on, a side in pinned
 * host memory.  A map moves the samples where the other side is newer.  All
 * copies go over the stream of gst_tfx_cuda_for_context().
 *
 *   GST_MAP_READ, WRITE          host address; all that was put on the stream
 *                                before is done
 *   … | GST_MAP_CUDA             device address; the same
 *   … | GST_TFX_MAP_CUDA_QUEUED  device address; what was put on the stream
 *                                before may still be under way
 *
 * The first two suit any element; whoever writes with GST_MAP_CUDA on a stream
 * of its own waits for it before it unmaps, as libgstcuda's elements do.  The
 * third is for work on that same stream, which needs no waiting.  A map fails
 * (NULL) if memory is short or the driver fails; the samples stay where they
 * are, so that a later attempt may succeed.
 */
#ifndef GST_TFX_CUDA_ALLOCATOR_H
#define GST_TFX_CUDA_ALLOCATOR_H

#include "gsttfxcuda.h"

G_BEGIN_DECLS

/* Together with GST_MAP_READ and GST_MAP_WRITE.  Holds GST_MAP_CUDA, so that
 * it means the same for memory of others, which ignores the rest. */
#define GST_TFX_MAP_CUDA_QUEUED                                                \
  ((GstMapFlags)((GST_MAP_FLAG_LAST << 1) | (GST_MAP_FLAG_LAST << 6)))

/* Memory of exactly @size bytes (1 to 2^31 - 1) on the context's device; what
 * is in it is undefined.  NULL if device memory is short or the driver fails;
 * the reason is in the log.  Holds the context.  Any thread. */
GstMemory *gst_tfx_cuda_allocator_alloc (GstCudaContext *context, gsize size);

/* Whether the memory came from there, or is a part of such memory. */
gboolean gst_tfx_cuda_allocator_owns (GstMemory *memory);

/* ---- work that is still to be done ------------------------------------------- */

/* What is to be done to the samples before anybody sees them. */
typedef struct
{
  void (*run) (gpointer data);  /* called when the memory is mapped or freed */
  void (*free) (gpointer data); /* there is no such work any more */
} GstTfxCudaTask;

/* Leaves work in a memory that gst_tfx_cuda_allocator_owns(), which is not shared
 * and has none.  Gives back a handle of the memory, for who does the work. */
typedef struct _GstTfxCudaSides GstTfxCudaSides;
GstTfxCudaSides *gst_tfx_cuda_allocator_set_task (GstMemory *memory,
    const GstTfxCudaTask *task, gpointer data);

/* What was left with it, or NULL: also for memory that is not from here. */
gpointer gst_tfx_cuda_allocator_get_task (GstMemory *memory);

/* There is no work any more; it is freed. */
void gst_tfx_cuda_allocator_clear_task (GstMemory *memory);

/* As gst_memory_map(), for who does the work: it is not run.  The address is that
 * of the whole memory. */
gpointer
gst_tfx_cuda_allocator_map (GstTfxCudaSides *handle, GstMapFlags flags);
void
gst_tfx_cuda_allocator_unmap (GstTfxCudaSides *handle, GstMapFlags flags);

G_END_DECLS

#endif /* GST_TFX_CUDA_ALLOCATOR_H */
