/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.c: memory that knows what is still to be done to its samples.
 *
 * Each filter has a list of the pending memories in which it is still to run, in
 * the order of the stream, and a memory runs when it is the first in the lists
 * of all its filters.  So each of them hears its samples in order and once,
 * whoever reads them.
 *
 * System memory is wrapped in a memory of an own allocator.  In CUDA memory the
 * list lies with our own GstCudaMemory, since others look at a memory's type;
 * memory of others is not taken.
 */
#include "gsttfxpending.h"

#include <errno.h>
#include <string.h>

#include "gsttfxcudaallocator.h"

struct _GstTfxPending
{
  GstMemory memory;
  gint n_holds; /* atomic: the memory, and who runs it meanwhile */
  GstTfxSharedFilter *home; /* a reference; where it is kept as a spare */
  GMutex lock;
  /* Under the lock. */
  gint is_done; /* atomic to read */
  GstMemory *wrapped;    /* NULL: the list lies with a CUDA memory, */
  GstTfxCudaSides *cuda; /* this one, */
  gsize cuda_offset, cuda_size; /* of which it has this part */
  GstTfxLayout layout;
  gsize n;
  GstTfxPendingLink links[GST_TFX_ROW_MAX];
  TfxFilter *filters[GST_TFX_ROW_MAX];
};

/* ---- running ---------------------------------------------------------------------- */

GstTfxPending *
gst_tfx_pending_hold (GstTfxPending *self)
{
  g_atomic_int_inc (&self->n_holds);
  return self;
}

void
gst_tfx_pending_free_spare (GstTfxPending *spare)
{
  if (!spare)
    return;
  g_mutex_clear (&spare->lock);
  g_free (spare);
}

/* Its first filter keeps it for the next buffer. */
void
gst_tfx_pending_release (GstTfxPending *self)
{
  GstTfxSharedFilter *home = self->home;
  GstTfxPending *none = NULL;

  if (!g_atomic_int_dec_and_test (&self->n_holds))
    return;
  if (self->wrapped)
    gst_memory_unref (self->wrapped);
  self->wrapped = NULL;
  self->cuda = NULL;
  if (!__atomic_compare_exchange_n (&home->spare, &none, self, FALSE,
          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    gst_tfx_pending_free_spare (self);
  gst_tfx_shared_filter_unref (home);
}

/* What has to run before, held; or NULL.  With the locks of the row. */
static GstTfxPending *
gst_tfx_pending_find_earlier (GstTfxPending *self, GstTfxSharedFilter *own)
{
  for (gsize i = 0; i < self->n; i++) {
    GstTfxPendingLink *first = self->links[i].filter->first;

    if (first != &self->links[i])
      return gst_tfx_pending_hold (first->owner);
  }
  if (own && own->first)
    return gst_tfx_pending_hold (own->first->owner);
  return NULL;
}

/* With the locks of the row. */
static void
gst_tfx_pending_finish (GstTfxPending *self)
{
  for (gsize i = 0; i < self->n; i++) {
    GstTfxSharedFilter *filter = self->links[i].filter;

    __atomic_store_n (&filter->first, self->links[i].next, __ATOMIC_RELEASE);
    if (!filter->first)
      filter->last = NULL;
  }
}

static TfxBlock
gst_tfx_pending_describe (const GstTfxPending *self, guint8 *data)
{
  const GstTfxLayout *layout = &self->layout;

  return (TfxBlock){ .data = data + layout->offset,
    .type = layout->type,
    .n_channels = layout->n_channels,
    .n_frames = layout->n_frames,
    .frame_stride = layout->frame_stride,
    .channel_stride = layout->channel_stride };
}

static gboolean
gst_tfx_pending_is_aligned (const GstTfxPending *self, gconstpointer data)
{
  return (guintptr)data % (self->layout.type == TFX_SAMPLE_F32
                                  ? sizeof (gfloat)
                                  : sizeof (gdouble)) ==
         0;
}

/* Samples in host memory.  Those that are not aligned are filtered elsewhere. */
static gint
gst_tfx_pending_filter_host (GstTfxPending *self, const GstTfxRow *row,
    guint8 *data, gsize size)
{
  TfxBlock block = gst_tfx_pending_describe (self, data);
  gsize length = size - self->layout.offset;
  gpointer copy, place = block.data;
  gint err;

  if (G_LIKELY (gst_tfx_pending_is_aligned (self, place)))
    return gst_tfx_row_run (row, &block, &block, TRUE);
  copy = g_malloc (length);
  memcpy (copy, place, length);
  block.data = copy;
  err = gst_tfx_row_run (row, &block, &block, TRUE);
  memcpy (place, copy, length);
  g_free (copy);
  return err;
}

static gint
gst_tfx_pending_filter_wrapped (GstTfxPending *self, const GstTfxRow *row)
{
  GstMapInfo map;
  gint err;

  if (!gst_memory_map (self->wrapped, &map, GST_MAP_READWRITE))
    return -EIO;
  err = gst_tfx_pending_filter_host (self, row, map.data, map.size);
  gst_memory_unmap (self->wrapped, &map);
  return err;
}

/* On the device, if that can be done; else, or for what is left, by the CPU. */
static gint
gst_tfx_pending_filter_cuda (GstTfxPending *self, const GstTfxRow *row)
{
  const GstMapFlags on_device = GST_MAP_READWRITE | GST_TFX_MAP_CUDA_QUEUED;
  guint8 *data;
  TfxBlock block;
  gint err = -EIO;

  if (gst_tfx_row_is_on_device (row)) {
    data = gst_tfx_cuda_allocator_map (self->cuda, on_device);
    if (data) {
      block = gst_tfx_pending_describe (self, data + self->cuda_offset);
      err = gst_tfx_row_run (row, &block, &block, FALSE);
      gst_tfx_cuda_allocator_unmap (self->cuda, on_device);
    }
    if (err == 0)
      return 0;
    gst_tfx_row_to_cpu (row, err);
  }
  data = gst_tfx_cuda_allocator_map (self->cuda, GST_MAP_READWRITE);
  if (!data)
    return -EIO;
  err = gst_tfx_pending_filter_host (self, row, data + self->cuda_offset,
      self->cuda_size);
  gst_tfx_cuda_allocator_unmap (self->cuda, GST_MAP_READWRITE);
  return err;
}

static void
gst_tfx_pending_filter (GstTfxPending *self, const GstTfxRow *row)
{
  gint err = self->cuda ? gst_tfx_pending_filter_cuda (self, row)
                        : gst_tfx_pending_filter_wrapped (self, row);

  if (err < 0)
    row->last->counts.n_lost += self->layout.n_frames;
}

void
gst_tfx_pending_run (GstTfxPending *self)
{
  GstTfxPending *earlier;

  do {
    GstTfxRow row;

    g_mutex_lock (&self->lock);
    if (self->is_done) {
      g_mutex_unlock (&self->lock);
      return;
    }
    row = (GstTfxRow){ self->filters, self->n,
      self->links[self->n - 1].filter };
    gst_tfx_row_lock (&row);
    earlier = gst_tfx_pending_find_earlier (self, NULL);
    if (!earlier) {
      gst_tfx_pending_filter (self, &row);
      gst_tfx_pending_finish (self);
      g_atomic_int_set (&self->is_done, TRUE);
    }
    gst_tfx_row_unlock (&row);
    g_mutex_unlock (&self->lock);
    if (earlier) {
      gst_tfx_pending_run (earlier);
      gst_tfx_pending_release (earlier);
    }
  } while (earlier);
}

/* ---- the memory ------------------------------------------------------------------- */

typedef struct
{
  GstAllocator parent;
} GstTfxPendingAllocator;

typedef struct
{
  GstAllocatorClass parent_class;
} GstTfxPendingAllocatorClass;

static GType gst_tfx_pending_allocator_get_type (void);
G_DEFINE_TYPE (GstTfxPendingAllocator, gst_tfx_pending_allocator,
    GST_TYPE_ALLOCATOR)

static gpointer
gst_tfx_pending_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  GstTfxPending *self = (GstTfxPending *)memory;
  GstMapInfo map;

  if (!g_atomic_int_get (&self->is_done))
    gst_tfx_pending_run (self);
  if (!gst_memory_map (self->wrapped, &map, flags & GST_MAP_READWRITE))
    return NULL;
  return map.data;
}

static void
gst_tfx_pending_unmap (GstMemory *memory, GstMapInfo *info)
{
  GstTfxPending *self = (GstTfxPending *)memory;
  GstMapInfo map = *info;

  map.memory = self->wrapped;
  map.flags = info->flags & GST_MAP_READWRITE;
  gst_memory_unmap (self->wrapped, &map);
}

static void
gst_tfx_pending_free (GstAllocator *allocator, GstMemory *memory)
{
  GstTfxPending *self = (GstTfxPending *)memory;

  if (!g_atomic_int_get (&self->is_done))
    gst_tfx_pending_run (self);
  gst_tfx_pending_release (self);
}

static void
gst_tfx_pending_allocator_class_init (GstTfxPendingAllocatorClass *klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = gst_tfx_pending_free;
}

static void
gst_tfx_pending_allocator_init (GstTfxPendingAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = "gst.tfx.pending";
  allocator->mem_map = gst_tfx_pending_map;
  allocator->mem_unmap_full = gst_tfx_pending_unmap;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstAllocator *the_allocator; /* atomic; there once it is needed */
static gint is_with_cuda; /* atomic: something has lain with a CUDA memory */

static gpointer
gst_tfx_pending_make_allocator (gpointer data)
{
  GstObject *self = g_object_new (gst_tfx_pending_allocator_get_type (), NULL);

  gst_object_ref_sink (self);
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  g_atomic_pointer_set (&the_allocator, GST_ALLOCATOR_CAST (self));
  return self;
}

static GstAllocator *
gst_tfx_pending_get_allocator (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, gst_tfx_pending_make_allocator, NULL);
}

/* What is pending in the buffer's only memory, or NULL. */
static inline GstTfxPending *
gst_tfx_pending_peek (GstBuffer *buffer)
{
  GstMemory *memory;

  if (gst_buffer_n_memory (buffer) != 1)
    return NULL;
  memory = gst_buffer_peek_memory (buffer, 0);
  if (memory->allocator == g_atomic_pointer_get (&the_allocator))
    return (GstTfxPending *)memory;
  if (G_LIKELY (!g_atomic_int_get (&is_with_cuda)))
    return NULL;
  return gst_tfx_cuda_allocator_get_task (memory);
}

gboolean
gst_tfx_pending_is_in (GstBuffer *buffer)
{
  return gst_tfx_pending_peek (buffer) != NULL;
}

gboolean
gst_tfx_pending_was_uploaded (GstBuffer *buffer)
{
  const GstTfxPending *self = gst_tfx_pending_peek (buffer);

  return self && self->layout.was_uploaded;
}

/* Whether the memory is as it was when its filters were left to it. */
static gboolean
gst_tfx_pending_is_whole (const GstTfxPending *self, const GstMemory *memory)
{
  if (self->cuda)
    return !memory->parent && memory->offset == self->cuda_offset &&
           memory->size == self->cuda_size;
  return memory->offset == 0 && memory->size == memory->maxsize;
}

gssize
gst_tfx_pending_n_frames (GstBuffer *buffer, TfxSample type, guint n_channels)
{
  const GstTfxPending *self = gst_tfx_pending_peek (buffer);
  const GstTfxLayout *layout;

  if (!self || !gst_tfx_pending_is_whole (self,
                   gst_buffer_peek_memory (buffer, 0)))
    return -1;
  layout = &self->layout;
  return layout->type == type && layout->n_channels == n_channels &&
                 layout->channel_stride == 1 && layout->offset == 0
             ? (gssize)layout->n_frames
             : -1;
}

/* Whether nobody but a writable buffer holds the memory. */
static gboolean
gst_tfx_pending_is_alone (GstMemory *memory)
{
  return GST_MINI_OBJECT_REFCOUNT_VALUE (memory) == 1 &&
         gst_memory_is_writable (memory);
}

/* Another memory in the place of the buffer's only one.  The flag would make a
 * pool drop the buffer. */
static void
gst_tfx_pending_put (GstBuffer *buffer, GstMemory *memory)
{
  gboolean was_tagged =
      GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);

  gst_buffer_replace_memory (buffer, 0, memory);
  if (!was_tagged)
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
}

/* It has been run, or is about to be: the buffer gets its own memory back. */
static void
gst_tfx_pending_unwrap (GstTfxPending *self, GstBuffer *buffer)
{
  GstMemory *wrapped;

  if (G_UNLIKELY (self->cuda != NULL)) {
    gst_tfx_cuda_allocator_clear_task (gst_buffer_peek_memory (buffer, 0));
    return;
  }
  wrapped = g_steal_pointer (&self->wrapped);
  if (G_UNLIKELY (self->memory.offset != 0 ||
                  self->memory.size != self->memory.maxsize))
    gst_memory_resize (wrapped, self->memory.offset, self->memory.size);
  gst_tfx_pending_put (buffer, wrapped);
}

/* ---- adding a filter -------------------------------------------------------------- */

/* Whether it may run over the samples as they lie there, behind the others.  With
 * the lock held. */
static gboolean
gst_tfx_pending_takes (const GstTfxPending *self, GstBuffer *buffer,
    const GstTfxSharedFilter *filter, const GstTfxLayout *layout)
{
  const GstTfxLayout *own = &self->layout;

  if (self->is_done || self->n == GST_TFX_ROW_MAX ||
      !gst_tfx_pending_is_whole (self, gst_buffer_peek_memory (buffer, 0)) ||
      own->type != layout->type || own->n_channels != layout->n_channels ||
      own->n_frames != layout->n_frames || own->offset != layout->offset ||
      own->frame_stride != layout->frame_stride ||
      own->channel_stride != layout->channel_stride)
    return FALSE;
  for (gsize i = 0; i < self->n; i++) {
    if (self->links[i].filter == filter)
      return FALSE;
  }
  return TRUE;
}

/* With the lock held, or with nobody else who knows of the memory. */
static void
gst_tfx_pending_append (GstTfxPending *self, GstTfxSharedFilter *filter)
{
  GstTfxPendingLink *link = &self->links[self->n];

  link->filter = filter;
  link->owner = self;
  link->next = NULL;
  self->filters[self->n] = filter->filter;
  self->n++;
  tfx_filter_lock (filter->filter);
  if (filter->last)
    filter->last->next = link;
  else
    __atomic_store_n (&filter->first, link, __ATOMIC_RELEASE);
  filter->last = link;
  tfx_filter_unlock (filter->filter);
}

static GstTfxPending *
gst_tfx_pending_new (GstTfxSharedFilter *filter, const GstTfxLayout *layout)
{
  GstTfxPending *self =
      __atomic_exchange_n (&filter->spare, NULL, __ATOMIC_ACQ_REL);

  if (!self) {
    self = g_new (GstTfxPending, 1);
    g_mutex_init (&self->lock);
  }
  self->n_holds = 1;
  self->is_done = FALSE;
  self->wrapped = NULL;
  self->cuda = NULL;
  self->home = gst_tfx_shared_filter_ref (filter);
  self->layout = *layout;
  self->n = 0;
  return self;
}

/* ---- carriers ------------------------------------------------------------------------- */

static void
gst_tfx_pending_run_task (gpointer data)
{
  gst_tfx_pending_run (data);
}

static void
gst_tfx_pending_free_task (gpointer data)
{
  gst_tfx_pending_release (data);
}

static const GstTfxCudaTask cuda_task = { gst_tfx_pending_run_task,
  gst_tfx_pending_free_task };

/* With our own CUDA memory. */
static void
gst_tfx_pending_lie_with (GstMemory *memory, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_new (filter, layout);

  g_atomic_int_set (&is_with_cuda, TRUE);
  self->cuda_offset = memory->offset;
  self->cuda_size = memory->size;
  self->cuda = gst_tfx_cuda_allocator_set_task (memory, &cuda_task, self);
  gst_tfx_pending_append (self, filter);
}

/* Around a memory, of which it takes the reference. */
static GstMemory *
gst_tfx_pending_wrap (GstMemory *wrapped, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_new (filter, layout);

  gst_memory_init (&self->memory, GST_MEMORY_FLAG_NO_SHARE,
      gst_tfx_pending_get_allocator (), NULL, wrapped->size, wrapped->align, 0,
      wrapped->size);
  self->wrapped = wrapped;
  gst_tfx_pending_append (self, filter);
  return &self->memory;
}

/* What was pending is run, and the buffer has its own memory again, if that is
 * the buffer's alone. */
static void
gst_tfx_pending_give_up (GstTfxPending *self, GstBuffer *buffer)
{
  gst_tfx_pending_run (self);
  if (gst_tfx_pending_is_alone (gst_buffer_peek_memory (buffer, 0)))
    gst_tfx_pending_unwrap (self, buffer);
}

/* Behind what is pending already. */
static gboolean
gst_tfx_pending_join (GstTfxPending *self, GstBuffer *buffer,
    GstTfxSharedFilter *filter, const GstTfxLayout *layout)
{
  gboolean is_taken;

  if (!gst_tfx_pending_is_alone (gst_buffer_peek_memory (buffer, 0)))
    return FALSE;
  g_mutex_lock (&self->lock);
  is_taken = gst_tfx_pending_takes (self, buffer, filter, layout);
  if (is_taken)
    gst_tfx_pending_append (self, filter);
  g_mutex_unlock (&self->lock);
  return is_taken;
}

gboolean
gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);
  GstMemory *memory;
  gboolean is_alone;

  if (self && gst_tfx_pending_join (self, buffer, filter, layout))
    return TRUE;
  if (self)
    gst_tfx_pending_give_up (self, buffer);
  if (gst_buffer_n_memory (buffer) != 1)
    return FALSE;

  memory = gst_buffer_peek_memory (buffer, 0);
  is_alone =
      gst_tfx_pending_is_alone (memory) && !GST_MEMORY_IS_READONLY (memory);
  if (G_UNLIKELY (gst_memory_is_type (memory, "gst.cuda.memory"))) {
    if (!is_alone || memory->parent || !gst_tfx_cuda_allocator_owns (memory))
      return FALSE;
    gst_tfx_pending_lie_with (memory, filter, layout);
    return TRUE;
  }
  if (GST_MEMORY_FLAG_IS_SET (memory, GST_MEMORY_FLAG_NOT_MAPPABLE))
    return FALSE;
  /* It will be written to. */
  memory = is_alone ? gst_memory_ref (memory) : gst_memory_copy (memory, 0, -1);
  if (!memory)
    return FALSE;
  gst_tfx_pending_put (buffer, gst_tfx_pending_wrap (memory, filter, layout));
  return TRUE;
}

/* ---- running it together with another filter ---------------------------------- */

gboolean
gst_tfx_pending_begin (GstTfxPendingRun *run, GstBuffer *buffer,
    GstTfxSharedFilter *own, const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer), *earlier;

  if (!self ||
      !gst_tfx_pending_is_alone (gst_buffer_peek_memory (buffer, 0)))
    return FALSE;
  for (;;) {
    g_mutex_lock (&self->lock);
    if (!gst_tfx_pending_takes (self, buffer, own, layout)) {
      g_mutex_unlock (&self->lock);
      gst_tfx_pending_give_up (self, buffer);
      return FALSE;
    }
    self->filters[self->n] = own->filter;
    run->pending = gst_tfx_pending_hold (self);
    run->row = (GstTfxRow){ self->filters, self->n + 1, own };
    gst_tfx_row_lock (&run->row);
    earlier = gst_tfx_pending_find_earlier (self, own);
    if (!earlier)
      break;
    gst_tfx_row_unlock (&run->row);
    g_mutex_unlock (&self->lock);
    gst_tfx_pending_release (self);
    gst_tfx_pending_run (earlier);
    gst_tfx_pending_release (earlier);
  }
  /* Nobody else runs it; the others wait for the lock. */
  g_atomic_int_set (&self->is_done, TRUE);
  gst_tfx_pending_unwrap (self, buffer);
  return TRUE;
}

void
gst_tfx_pending_end (GstTfxPendingRun *run)
{
  GstTfxPending *self = run->pending;

  gst_tfx_pending_finish (self);
  gst_tfx_row_unlock (&run->row);
  g_mutex_unlock (&self->lock);
  gst_tfx_pending_release (self);
}
