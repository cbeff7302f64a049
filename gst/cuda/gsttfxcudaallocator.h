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
 * A memory has its samples on the device and, from the first CPU map on, in
 * pinned staging memory of the host.  A map moves them where the others are
 * newer.  All copies go over the stream of gst_tfx_cuda_for_context().
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
 *
 * What is still to be done
 * ------------------------
 *
 * A memory can know of work that is still to be done to its samples.  Whoever
 * maps, shares, copies or frees it has that done first.
 */
#ifndef GST_TFX_CUDA_ALLOCATOR_H
#define GST_TFX_CUDA_ALLOCATOR_H

#include "gsttfxcuda.h"

G_BEGIN_DECLS

/* Together with GST_MAP_READ and GST_MAP_WRITE.  Holds GST_MAP_CUDA, so that
 * it means the same for memory of others, which ignores the rest. */
#define GST_TFX_MAP_CUDA_QUEUED                                                \
  ((GstMapFlags)((GST_MAP_FLAG_LAST << 1) | (GST_MAP_FLAG_LAST << 6)))

/* The largest memory: copies tell the driver of it as a pitch, which is a multiple of
 * 512 below 2^31. */
#define GST_TFX_CUDA_MAX_SIZE (G_MAXINT32 - 511)

/* Memory of exactly @size bytes (1 to GST_TFX_CUDA_MAX_SIZE) on the context's
 * device; what is in it is undefined.  NULL if device memory is short or the driver
 * fails; the reason is in the log.  Holds the context.  Any thread. */
GstMemory *gst_tfx_cuda_allocator_alloc (GstCudaContext *context, gsize size);

/* Memory of the size of another one, on the same device, or NULL. */
GstMemory *gst_tfx_cuda_allocator_alloc_like (GstMemory *memory);

/* Whether the memory came from there, or is a part of such memory. */
gboolean gst_tfx_cuda_allocator_owns (GstMemory *memory);

/* Memory of anybody's on any device. */
gboolean gst_tfx_cuda_allocator_is_device (GstMemory *memory);

/* ---- what is still to be done ------------------------------------------------ */

/* run: any thread, with no lock held; again and again, once it is done.  free:
 * when the memory goes, or gets another one. */
typedef struct
{
  void (*run) (gpointer pending);
  void (*free) (gpointer pending);
} GstTfxCudaPendingKind;

/* The memory must be nobody else's, and no part of another one. */
void gst_tfx_cuda_allocator_set_pending (GstMemory *memory,
    const GstTfxCudaPendingKind *kind, gpointer pending);
gpointer gst_tfx_cuda_allocator_steal_pending (GstMemory *memory);

/* Has it done, and forgets it. */
void gst_tfx_cuda_allocator_end_pending (GstMemory *memory);

/* NULL if there is none, or the memory is not ours, or a part of another one. */
gpointer gst_tfx_cuda_allocator_get_pending (GstMemory *memory);

/* For who does it: the samples as they are.  The address of the whole, wherever
 * the memory begins in it. */
gpointer gst_tfx_cuda_allocator_map_raw (GstMemory *memory, GstMapFlags flags);
void gst_tfx_cuda_allocator_unmap_raw (GstMemory *memory, GstMapFlags flags);

/* Puts a copy of all of one memory, on the device, to the start of another one,
 * on the stream. */
gboolean gst_tfx_cuda_allocator_copy_raw (GstMemory *to, GstMemory *from);

/* The samples in the memory mean nothing any more: they need not be moved. */
void gst_tfx_cuda_allocator_discard (GstMemory *memory);

G_END_DECLS

#endif /* GST_TFX_CUDA_ALLOCATOR_H */
