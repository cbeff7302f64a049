/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.c: memory with filters that are still to run over its samples.
 *
 * Each filter has a list of the pending memories in which it has still to run,
 * in stream order.  A memory runs when it is the first in the lists of all its
 * filters.  So each filter processes its samples in order and once, whichever
 * thread reads them.
 */
#include "gsttfxpending.h"

#include <errno.h>
#include <string.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxtrace.h"

/* Wraps the memory with the samples.  On a device our own memory refers to it
 * instead, because others check the type of a memory. */
struct _GstTfxPending
{
  GstMemory memory;         /* unused on a device */
  gint n_holds;             /* atomic: the memory, and threads that run it */
  GstTfxSharedFilter *home; /* a reference; keeps this as a spare */
  GMutex lock;
  /* Under the lock: */
  gint is_done; /* atomic to read */
  gboolean is_on_device;
  GstMemory *wrapped;  /* on a device the wrapped memory refers to this */
  gboolean is_foreign; /* it did not come from the pool with the buffer */
  gsize start, size;   /* the part of that memory that was wrapped */
  GstTfxLayout layout;
  gsize n;
  GstTfxPendingLink links[GST_TFX_ROW_MAX];
  TfxFilter *filters[GST_TFX_ROW_MAX];
};

/* Runs the memory, after those that have to run before it. */
static void gst_tfx_pending_run (GstTfxPending *self);

/* ---- running ------------------------------------------------------------- */

/* Takes a hold.  The caller has locked one of its filters, and the memory is in
 * the list of that. */
static GstTfxPending *
gst_tfx_pending_hold (GstTfxPending *self)
{
  g_atomic_int_inc (&self->n_holds);
  return self;
}

static void
gst_tfx_pending_free_spare (GstTfxPending *spare)
{
  g_mutex_clear (&spare->lock);
  g_free (spare);
}

/* Releases a hold; the first filter keeps the struct for the next buffer. */
static void
gst_tfx_pending_release (GstTfxPending *self)
{
  GstTfxSharedFilter *home = self->home;
  GstTfxPending *none = NULL;

  if (!g_atomic_int_dec_and_test (&self->n_holds))
    return;
  if (self->wrapped && !self->is_on_device)
    gst_memory_unref (self->wrapped);
  __atomic_store_n (&home->free_spare, gst_tfx_pending_free_spare,
      __ATOMIC_RELAXED);
  if (!__atomic_compare_exchange_n (&home->spare, &none, self, FALSE,
          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    gst_tfx_pending_free_spare (self);
  gst_tfx_shared_filter_unref (home);
}

/* Returns a memory that has to run before this one, with a hold, or NULL.  The
 * row is locked. */
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

/* Removes the memory from the lists of its filters.  The row is locked. */
static void
gst_tfx_pending_finish (GstTfxPending *self)
{
  for (gsize i = 0; i < self->n; i++) {
    GstTfxSharedFilter *filter = self->links[i].filter;

    /* The order matters: see gst_tfx_pending_append(). */
    if (!self->links[i].next)
      filter->last = NULL;
    __atomic_store_n (&filter->first, self->links[i].next, __ATOMIC_RELEASE);
    __atomic_sub_fetch (&filter->n_pending, self->layout.n_frames,
        __ATOMIC_RELEASE);
  }
  g_atomic_int_set (&self->is_done, TRUE);
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

/* Filters samples that are not aligned in a copy. */
static gint
gst_tfx_pending_filter_apart (GstTfxPending *self, const GstTfxRow *row,
    GstMapInfo *map)
{
  guint8 *copy = g_malloc (map->size);
  TfxBlock block;
  gint err;

  memcpy (copy, map->data + self->layout.offset,
      map->size - self->layout.offset);
  block = gst_tfx_pending_describe (self, copy - self->layout.offset);
  err = gst_tfx_row_run (row, &block, &block, TRUE);
  memcpy (map->data + self->layout.offset, copy,
      map->size - self->layout.offset);
  g_free (copy);
  return err;
}

/* Filters the samples.  @map is not used on a device; its memory is NULL if
 * mapping failed. */
static gint
gst_tfx_pending_filter_row (GstTfxPending *self, const GstTfxRow *row,
    GstMapInfo *map)
{
  TfxBlock block;
  gint err;

  block = gst_tfx_pending_describe (self, map->memory ? map->data : NULL);
  if (G_UNLIKELY (self->is_on_device))
    err = gst_tfx_pending_device_run (row, self->wrapped,
        self->start + self->layout.offset, &block);
  else if (!map->memory)
    err = -EIO;
  else if (G_LIKELY (
               (guintptr)block.data % gst_tfx_layout_width (&self->layout) ==
               0))
    err = gst_tfx_row_run (row, &block, &block, TRUE);
  else
    err = gst_tfx_pending_filter_apart (self, row, map);
  if (err < 0)
    row->last->counts.n_lost += self->layout.n_frames;
  return err;
}

/* Maps the wrapped memory with no lock held, since another plugin may own it.
 * map->memory is a reference that gst_tfx_pending_unmap_samples() releases;
 * NULL on a device, if the memory has run, or if mapping failed. */
static void
gst_tfx_pending_map_samples (GstTfxPending *self, GstMapInfo *map)
{
  GstMemory *wrapped = NULL;

  map->memory = NULL;
  g_mutex_lock (&self->lock);
  if (!self->is_done && !self->is_on_device)
    wrapped = gst_memory_ref (self->wrapped);
  g_mutex_unlock (&self->lock);
  if (wrapped && !gst_memory_map (wrapped, map, GST_MAP_READWRITE)) {
    gst_memory_unref (wrapped);
    map->memory = NULL;
  }
}

static void
gst_tfx_pending_unmap_samples (GstMapInfo *map)
{
  GstMemory *wrapped = map->memory;

  if (!wrapped)
    return;
  gst_memory_unmap (wrapped, map);
  gst_memory_unref (wrapped);
  map->memory = NULL;
}

static void
gst_tfx_pending_run (GstTfxPending *self)
{
  GstTfxPending *earlier;
  GstMapInfo map;

  gst_tfx_pending_map_samples (self, &map);
  do {
    GstTfxRow row;

    g_mutex_lock (&self->lock);
    if (self->is_done) {
      g_mutex_unlock (&self->lock);
      break;
    }
    row =
        (GstTfxRow){ self->filters, self->n, self->links[self->n - 1].filter };
    gst_tfx_row_lock (&row);
    earlier = gst_tfx_pending_find_earlier (self, NULL);
    if (!earlier) {
      gst_tfx_pending_filter_row (self, &row, &map);
      gst_tfx_pending_finish (self);
    }
    gst_tfx_row_unlock (&row);
    g_mutex_unlock (&self->lock);
    if (earlier) {
      gst_tfx_pending_run (earlier);
      gst_tfx_pending_release (earlier);
    }
  } while (earlier);
  gst_tfx_pending_unmap_samples (&map);
}

void
gst_tfx_pending_flush (GstTfxSharedFilter *filter)
{
  while (gst_tfx_shared_filter_is_pending (filter)) {
    GstTfxPending *first = NULL;

    tfx_filter_lock (filter->filter);
    if (filter->first)
      first = gst_tfx_pending_hold (filter->first->owner);
    tfx_filter_unlock (filter->filter);
    if (!first)
      return;
    gst_tfx_pending_run (first);
    gst_tfx_pending_release (first);
  }
}

/* ---- the memory ---------------------------------------------------------- */

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

/* GstTfxCudaPendingKind.run. */
static void
gst_tfx_pending_device_run_all (gpointer self)
{
  if (!g_atomic_int_get (&((GstTfxPending *)self)->is_done))
    gst_tfx_pending_run (self);
}

static void
gst_tfx_pending_device_free (gpointer self)
{
  gst_tfx_pending_release (self);
}

static const GstTfxCudaPendingKind gst_tfx_pending_on_device = {
  gst_tfx_pending_device_run_all, gst_tfx_pending_device_free
};

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

/* The pending memory that is the buffer's only memory, or NULL. */
static inline GstTfxPending *
gst_tfx_pending_peek (GstBuffer *buffer)
{
  GstMemory *memory;

  if (gst_buffer_n_memory (buffer) != 1)
    return NULL;
  memory = gst_buffer_peek_memory (buffer, 0);
  return memory->allocator == g_atomic_pointer_get (&the_allocator)
             ? (GstTfxPending *)memory
             : gst_tfx_cuda_allocator_get_pending (memory);
}

/* The memory in the buffer. */
static inline GstMemory *
gst_tfx_pending_carrier (GstTfxPending *self)
{
  return self->is_on_device ? self->wrapped : &self->memory;
}

/* Whether the memory has not been resized. */
static inline gboolean
gst_tfx_pending_is_whole (GstTfxPending *self)
{
  const GstMemory *carrier = gst_tfx_pending_carrier (self);

  return carrier->offset == self->start && carrier->size == self->size;
}

gboolean
gst_tfx_pending_is_in (GstBuffer *buffer)
{
  return gst_tfx_pending_peek (buffer) != NULL;
}

gboolean
gst_tfx_pending_is_row (GstBuffer *buffer, TfxFilter *const *filters, gsize n)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);
  gboolean is_row;

  if (!self)
    return n == 0;
  g_mutex_lock (&self->lock);
  is_row = !self->is_done && self->n == n &&
           memcmp (self->filters, filters, n * sizeof *filters) == 0;
  g_mutex_unlock (&self->lock);
  return is_row;
}

gssize
gst_tfx_pending_n_frames (GstBuffer *buffer, TfxSample type, guint n_channels)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);
  const GstTfxLayout *layout;

  if (!self || !gst_tfx_pending_is_whole (self))
    return -1;
  layout = &self->layout;
  return layout->type == type && layout->n_channels == n_channels &&
                 layout->channel_stride == 1 && layout->offset == 0
             ? (gssize)layout->n_frames
             : -1;
}

/* Whether only one writable buffer holds the memory: each buffer and each map
 * has a reference. */
static inline gboolean
gst_tfx_pending_is_alone (GstMemory *memory)
{
  return GST_MINI_OBJECT_REFCOUNT_VALUE (memory) == 1;
}

/* Puts the wrapped memory back into the buffer.  Replacing memory sets
 * GST_BUFFER_FLAG_TAG_MEMORY, for which a pool drops the buffer; clear it if
 * the memory is the original one. */
static void
gst_tfx_pending_put_back (GstTfxPending *self, GstBuffer *buffer)
{
  const gboolean is_foreign = self->is_foreign;

  /* This may free self. */
  gst_buffer_replace_memory (buffer, 0, g_steal_pointer (&self->wrapped));
  if (!is_foreign)
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
}

/* Unwraps a memory that has run. */
static void
gst_tfx_pending_unwrap (GstTfxPending *self, GstBuffer *buffer)
{
  if (G_UNLIKELY (self->is_on_device)) {
    gst_tfx_cuda_allocator_steal_pending (g_steal_pointer (&self->wrapped));
    gst_tfx_pending_release (self);
    return;
  }
  if (G_UNLIKELY (self->memory.offset != 0 ||
                  self->memory.size != self->memory.maxsize))
    gst_memory_resize (self->wrapped, self->memory.offset, self->memory.size);
  gst_tfx_pending_put_back (self, buffer);
}

/* ---- adding a filter ----------------------------------------------------- */

/* Whether the filter can run after the others over samples of this layout.
 * Under the lock. */
static gboolean
gst_tfx_pending_takes (GstTfxPending *self, const GstTfxSharedFilter *filter,
    const GstTfxLayout *layout)
{
  const GstTfxLayout *own = &self->layout;

  if (self->is_done || self->n == GST_TFX_ROW_MAX ||
      !gst_tfx_pending_is_whole (self) || own->type != layout->type ||
      own->n_channels != layout->n_channels ||
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

/* Appends a filter.  Under the lock, unless the memory is new. */
static void
gst_tfx_pending_append (GstTfxPending *self, GstTfxSharedFilter *filter)
{
  GstTfxPendingLink *link = &self->links[self->n];

  link->filter = filter;
  link->owner = self;
  link->next = NULL;
  self->filters[self->n] = filter->filter;
  self->n++;
  if (gst_tfx_trace_is_on ())
    gst_tfx_trace_defer (filter->filter);
  __atomic_add_fetch (&filter->n_pending, self->layout.n_frames,
      __ATOMIC_RELAXED);
  /* Only one thread defers the filter, and no other thread touches an empty
   * list. */
  if (!__atomic_load_n (&filter->first, __ATOMIC_ACQUIRE)) {
    filter->last = link;
    __atomic_store_n (&filter->first, link, __ATOMIC_RELEASE);
    return;
  }
  tfx_filter_lock (filter->filter);
  if (filter->last)
    filter->last->next = link;
  else
    __atomic_store_n (&filter->first, link, __ATOMIC_RELEASE);
  filter->last = link;
  tfx_filter_unlock (filter->filter);
}

static GstTfxPending *
gst_tfx_pending_new (GstTfxSharedFilter *filter, GstMemory *wrapped,
    const GstTfxLayout *layout)
{
  GstTfxPending *self =
      __atomic_exchange_n (&filter->spare, NULL, __ATOMIC_ACQ_REL);

  if (!self) {
    self = g_new (GstTfxPending, 1);
    g_mutex_init (&self->lock);
  }
  self->is_on_device = gst_tfx_cuda_allocator_owns (wrapped);
  self->start = self->is_on_device ? wrapped->offset : 0;
  self->size = wrapped->size;
  if (!self->is_on_device)
    gst_memory_init (&self->memory, GST_MEMORY_FLAG_NO_SHARE,
        gst_tfx_pending_get_allocator (), NULL, wrapped->size, wrapped->align,
        0, wrapped->size);
  self->n_holds = 1;
  self->is_done = FALSE;
  self->wrapped = wrapped;
  self->home = gst_tfx_shared_filter_ref (filter);
  self->layout = *layout;
  self->n = 0;
  gst_tfx_pending_append (self, filter);
  return self;
}

/* Runs what is pending, and unwraps the memory if only the buffer holds it. */
static void
gst_tfx_pending_give_up (GstTfxPending *self, GstBuffer *buffer)
{
  gst_tfx_pending_run (self);
  if (gst_tfx_pending_is_alone (gst_tfx_pending_carrier (self)))
    gst_tfx_pending_unwrap (self, buffer);
}

void
gst_tfx_pending_settle (GstBuffer *buffer)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);

  if (self)
    gst_tfx_pending_give_up (self, buffer);
}

/* Whether the memory can be wrapped.  On a device only our own memory can refer
 * to pending filters, and its samples must be aligned. */
static gboolean
gst_tfx_pending_can_wrap (const GstMemory *memory, const GstTfxLayout *layout)
{
  if (GST_MEMORY_FLAG_IS_SET (memory, GST_MEMORY_FLAG_NOT_MAPPABLE))
    return FALSE;
  if (!gst_tfx_cuda_allocator_is_device ((GstMemory *)memory))
    return TRUE;
  return gst_tfx_cuda_allocator_owns ((GstMemory *)memory) && !memory->parent &&
         (memory->offset + layout->offset) % gst_tfx_layout_width (layout) == 0;
}

gboolean
gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);
  gboolean is_taken, is_foreign;
  GstMemory *memory;

  if (self && gst_tfx_pending_is_alone (gst_tfx_pending_carrier (self))) {
    g_mutex_lock (&self->lock);
    is_taken = gst_tfx_pending_takes (self, filter, layout);
    if (is_taken)
      gst_tfx_pending_append (self, filter);
    g_mutex_unlock (&self->lock);
    if (is_taken)
      return TRUE;
  }
  if (self)
    gst_tfx_pending_give_up (self, buffer);
  if (gst_buffer_n_memory (buffer) != 1)
    return FALSE;

  memory = gst_buffer_peek_memory (buffer, 0);
  if (!gst_tfx_pending_can_wrap (memory, layout))
    return FALSE;
  is_foreign = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  /* Its samples will be written. */
  if (gst_tfx_pending_is_alone (memory) && !GST_MEMORY_IS_READONLY (memory)) {
    memory = gst_memory_ref (memory);
  } else {
    memory = gst_memory_copy (memory, 0, -1);
    is_foreign = TRUE;
  }
  if (!memory)
    return FALSE;
  self = gst_tfx_pending_new (filter, memory, layout);
  self->is_foreign = is_foreign;
  if (self->is_on_device) {
    gst_tfx_cuda_allocator_set_pending (memory, &gst_tfx_pending_on_device,
        self);
    if (memory == gst_buffer_peek_memory (buffer, 0))
      gst_memory_unref (memory);
    else
      gst_buffer_replace_memory (buffer, 0, memory);
  } else {
    gst_buffer_replace_memory (buffer, 0, &self->memory);
  }
  return TRUE;
}

/* ---- running it together with another filter ----------------------------- */

gboolean
gst_tfx_pending_begin (GstTfxPendingRun *run, GstBuffer *buffer,
    GstTfxSharedFilter *own, const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer), *earlier;

  if (!self || !gst_tfx_pending_is_alone (gst_tfx_pending_carrier (self)))
    return FALSE;
  run->memory = NULL;
  run->is_taken = FALSE;
  gst_tfx_pending_map_samples (self, &run->map);
  for (;;) {
    g_mutex_lock (&self->lock);
    if (!gst_tfx_pending_takes (self, own, layout)) {
      g_mutex_unlock (&self->lock);
      gst_tfx_pending_unmap_samples (&run->map);
      gst_tfx_pending_give_up (self, buffer);
      return FALSE;
    }
    self->filters[self->n] = own->filter;
    run->pending = self;
    run->row = (GstTfxRow){ self->filters, self->n + 1, own };
    gst_tfx_row_lock (&run->row);
    earlier = gst_tfx_pending_find_earlier (self, own);
    if (!earlier)
      return TRUE;
    gst_tfx_row_unlock (&run->row);
    g_mutex_unlock (&self->lock);
    gst_tfx_pending_run (earlier);
    gst_tfx_pending_release (earlier);
  }
}

gint
gst_tfx_pending_filter (GstTfxPendingRun *run)
{
  return gst_tfx_pending_filter_row (run->pending, &run->row, &run->map);
}

void
gst_tfx_pending_take (GstTfxPendingRun *run, GstBuffer *buffer)
{
  GstTfxPending *self = run->pending;

  run->is_taken = TRUE;
  gst_tfx_pending_unmap_samples (&run->map);
  if (self->is_on_device) {
    gst_tfx_cuda_allocator_steal_pending (self->wrapped);
    return;
  }
  run->memory = gst_memory_ref (&self->memory);
  gst_tfx_pending_put_back (self, buffer);
}

void
gst_tfx_pending_end (GstTfxPendingRun *run, GstBuffer *buffer)
{
  GstTfxPending *self = run->pending;

  gst_tfx_pending_finish (self);
  gst_tfx_row_unlock (&run->row);
  g_mutex_unlock (&self->lock);
  gst_tfx_pending_unmap_samples (&run->map);
  if (!run->is_taken)
    gst_tfx_pending_unwrap (self, buffer);
  else if (run->memory)
    gst_memory_unref (run->memory);
  else
    gst_tfx_pending_release (self);
}
