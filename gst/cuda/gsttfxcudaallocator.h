/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaallocator.h: GstCudaMemory for audio.
 *
 * libgstcuda's memory is made for video frames: it cannot be shared in part,
 * ignores the range of a copy, and is larger than requested.  This memory has
 * the same type (gst_is_cuda_memory() holds), but a subclass of its allocator
 * implements what GStreamer expects of any memory.
 *
 * Location of the samples
 * -----------------------
 *
 * A memory has its samples on the device and, after the first CPU map, in
 * pinned staging memory of the host.  A map copies the newer samples to the
 * mapped side.  All copies use the stream of gst_tfx_cuda_for_context().
 *
 *   GST_MAP_READ, WRITE          host address; earlier work on the stream is
 *                                done
 *   … | GST_MAP_CUDA             device address; the same
 *   … | GST_TFX_MAP_CUDA_QUEUED  device address; earlier work on the stream
 *                                may still be running
 *
 * The first two suit any element.  An element that writes with GST_MAP_CUDA on
 * another stream waits for that before it unmaps, as libgstcuda's elements do.
 * The third is for work on the same stream.  A map fails (NULL) if memory is
 * short or the driver fails; the samples are not changed, and a later attempt
 * may succeed.
 *
 * Pending work
 * ------------
 *
 * Work on the samples can be pending.  Mapping, sharing, copying or freeing
 * the memory does it first.
 */
#ifndef GST_TFX_CUDA_ALLOCATOR_H
#define GST_TFX_CUDA_ALLOCATOR_H

#include "gsttfxcuda.h"

G_BEGIN_DECLS

/* Used with GST_MAP_READ and GST_MAP_WRITE.  Includes GST_MAP_CUDA, which
 * memory of other allocators understands. */
#define GST_TFX_MAP_CUDA_QUEUED                                                \
  ((GstMapFlags)((GST_MAP_FLAG_LAST << 1) | (GST_MAP_FLAG_LAST << 6)))

/* The largest memory: copies use its size as a pitch, which must be a multiple
 * of 512 below 2^31. */
#define GST_TFX_CUDA_MAX_SIZE (G_MAXINT32 - 511)

/* Allocates exactly @size bytes (1 to GST_TFX_CUDA_MAX_SIZE), uninitialized, on
 * the context's device.  Returns NULL if device memory is short or the driver
 * fails; the reason is in the log.  Holds the context.  Any thread. */
GstMemory *gst_tfx_cuda_allocator_alloc (GstCudaContext *context, gsize size);

/* Allocates memory of the same size on the same device; NULL on failure. */
GstMemory *gst_tfx_cuda_allocator_alloc_like (GstMemory *memory);

/* Whether the memory, or its parent, came from
 * gst_tfx_cuda_allocator_alloc(). */
gboolean gst_tfx_cuda_allocator_owns (GstMemory *memory);

/* Whether it is CUDA memory of any allocator on any device. */
gboolean gst_tfx_cuda_allocator_is_device (GstMemory *memory);

/* ---- pending work -------------------------------------------------------- */

typedef struct _GstTfxPending GstTfxPending;

/* run: does the work, or nothing if it is done; any thread, with no lock held.
 * free: called when the memory is freed or gets other work. */
typedef struct
{
  void (*run) (GstTfxPending *pending);
  void (*free) (GstTfxPending *pending);
} GstTfxCudaPendingKind;

/* The caller must be the only holder of the memory, which must not be a part of
 * another one. */
void gst_tfx_cuda_allocator_set_pending (GstMemory *memory,
    const GstTfxCudaPendingKind *kind, GstTfxPending *pending);
GstTfxPending *gst_tfx_cuda_allocator_steal_pending (GstMemory *memory);

/* NULL if there is none, or if the memory is not ours or a part of another
 * one. */
GstTfxPending *gst_tfx_cuda_allocator_get_pending (GstMemory *memory);

/* For the code that does the work: maps the samples without running it.
 * Returns the address of the whole memory, without its offset. */
gpointer gst_tfx_cuda_allocator_map_raw (GstMemory *memory, GstMapFlags flags);
void gst_tfx_cuda_allocator_unmap_raw (GstMemory *memory, GstMapFlags flags);

/* Queues a copy, on the device, from @offset in the whole memory to the start of
 * another one, of which the caller is the only holder. */
gboolean gst_tfx_cuda_allocator_copy_raw (GstMemory *to, GstMemory *from,
    gsize offset, gsize size);

/* Does the pending work and removes it, and discards the samples: they are not
 * transferred any more. */
void gst_tfx_cuda_allocator_discard (GstMemory *memory);

G_END_DECLS

#endif /* GST_TFX_CUDA_ALLOCATOR_H */
