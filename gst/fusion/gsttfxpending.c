/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.c: memory with filters that are still to run over its samples.
 *
 * The way of a buffer through a row of elements:
 *
 *   gst_tfx_pending_add     the first element wraps the memory, with its filter
 *   gst_tfx_pending_add     each further element appends its filter
 *   gst_tfx_pending_begin   the last one unwraps the memory, mapped, and locks
 *                           all filters, and its own, to run them
 *   gst_tfx_pending_end     and unlocks them
 *
 * gst_tfx_pending_run() runs the memory without another filter, when somebody
 * else maps it (mem_map), when it is freed, and when a filter is flushed.
 *
 * Each filter has a list of the pending memories in which it has still to run,
 * in stream order.  A memory runs when it is the first in the lists of all its
 * filters.  So each filter processes its samples in order and once, whichever
 * thread reads them.
 *
 * Another plugin may own the wrapped memory, so it is mapped, unmapped and
 * copied with no lock held.
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

/* Runs the memory, after those that have to run before it, unless it has
 * run. */
static void gst_tfx_pending_run (GstTfxPending *self);

/* ---- holds --------------------------------------------------------------- */

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

/* ---- the memory ---------------------------------------------------------- */

typedef GstAllocator GstTfxPendingAllocator;
typedef GstAllocatorClass GstTfxPendingAllocatorClass;

static GType gst_tfx_pending_allocator_get_type (void);
G_DEFINE_TYPE (GstTfxPendingAllocator, gst_tfx_pending_allocator,
    GST_TYPE_ALLOCATOR)

static gpointer
gst_tfx_pending_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  GstTfxPending *self = (GstTfxPending *)memory;
  GstMapInfo map;

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

/* Without its wrapped memory it has run, or the thread that took that runs
 * it. */
static void
gst_tfx_pending_free (GstAllocator *allocator, GstMemory *memory)
{
  GstTfxPending *self = (GstTfxPending *)memory;

  if (self->wrapped)
    gst_tfx_pending_run (self);
  gst_tfx_pending_release (self);
}

static void
gst_tfx_pending_allocator_class_init (GstTfxPendingAllocatorClass *klass)
{
  klass->free = gst_tfx_pending_free;
}

static void
gst_tfx_pending_allocator_init (GstTfxPendingAllocator *self)
{
  self->mem_type = "gst.tfx.pending";
  self->mem_map = gst_tfx_pending_map;
  self->mem_unmap_full = gst_tfx_pending_unmap;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstAllocator *the_allocator; /* atomic; there once it is needed */

static GstAllocator *
gst_tfx_pending_get_allocator (void)
{
  if (g_once_init_enter (&the_allocator)) {
    GstAllocator *allocator =
        g_object_new (gst_tfx_pending_allocator_get_type (), NULL);

    gst_object_ref_sink (allocator);
    GST_OBJECT_FLAG_SET (allocator, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    g_once_init_leave (&the_allocator, allocator);
  }
  return the_allocator;
}

static const GstTfxCudaPendingKind gst_tfx_pending_on_device = {
  gst_tfx_pending_run, gst_tfx_pending_release
};

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

/* Whether only one writable buffer holds the memory: each buffer and each map
 * has a reference. */
static inline gboolean
gst_tfx_pending_is_alone (GstMemory *memory)
{
  return GST_MINI_OBJECT_REFCOUNT_VALUE (memory) == 1;
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

/* Gives the buffer the wrapped memory back.  This may free self. */
static void
gst_tfx_pending_unwrap (GstTfxPending *self, GstBuffer *buffer)
{
  const gboolean is_foreign = self->is_foreign;
  GstMemory *wrapped = g_steal_pointer (&self->wrapped);

  if (G_UNLIKELY (self->is_on_device)) {
    gst_tfx_cuda_allocator_steal_pending (wrapped);
    gst_tfx_pending_release (self);
    return;
  }
  if (G_UNLIKELY (!gst_tfx_pending_is_whole (self)))
    gst_memory_resize (wrapped, self->memory.offset, self->memory.size);
  gst_buffer_replace_memory (buffer, 0, wrapped);
  /* Replacing memory sets the flag, for which a pool drops the buffer. */
  if (!is_foreign)
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
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

/* ---- adding a filter ----------------------------------------------------- */

/* Appends a filter.  Under the lock, unless the memory is new. */
static void
gst_tfx_pending_append (GstTfxPending *self, GstTfxSharedFilter *filter)
{
  GstTfxPendingLink *link = &self->links[self->n];

  *link = (GstTfxPendingLink){ .filter = filter, .owner = self };
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

/* Whether the memory can be wrapped.  On a device only our own memory can refer
 * to pending filters, and its samples must be aligned. */
static gboolean
gst_tfx_pending_can_wrap (GstMemory *memory, const GstTfxLayout *layout)
{
  if (GST_MEMORY_FLAG_IS_SET (memory, GST_MEMORY_FLAG_NOT_MAPPABLE))
    return FALSE;
  if (!gst_tfx_cuda_allocator_is_device (memory))
    return TRUE;
  return gst_tfx_cuda_allocator_owns (memory) && !memory->parent &&
         (memory->offset + layout->offset) % gst_tfx_layout_width (layout) == 0;
}

/* Takes ownership of the memory. */
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

gboolean
gst_tfx_pending_add (GstBuffer *buffer, GstTfxSharedFilter *filter,
    const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);
  gboolean is_foreign, is_taken = FALSE;
  GstMemory *memory;

  if (self && gst_tfx_pending_is_alone (gst_tfx_pending_carrier (self))) {
    g_mutex_lock (&self->lock);
    is_taken = gst_tfx_pending_takes (self, filter, layout);
    if (is_taken)
      gst_tfx_pending_append (self, filter);
    g_mutex_unlock (&self->lock);
  }
  if (is_taken)
    return TRUE;
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
  if (!self->is_on_device) {
    gst_buffer_replace_memory (buffer, 0, &self->memory);
    return TRUE;
  }
  gst_tfx_cuda_allocator_set_pending (memory, &gst_tfx_pending_on_device, self);
  if (memory == gst_buffer_peek_memory (buffer, 0))
    gst_memory_unref (memory);
  else
    gst_buffer_replace_memory (buffer, 0, memory);
  return TRUE;
}

/* ---- running ------------------------------------------------------------- */

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

static void
gst_tfx_pending_unmap_wrapped (GstTfxPendingRun *run)
{
  GstMemory *wrapped = run->map.memory;

  if (!wrapped)
    return;
  gst_memory_unmap (wrapped, &run->map);
  gst_memory_unref (wrapped);
}

/* Maps the wrapped memory, runs what has to run before it, and locks the memory
 * and its row until gst_tfx_pending_unlock().  @own, unless NULL, is the last in
 * the row.  Returns FALSE, with nothing locked or mapped, if the memory has run
 * or does not take @own.
 *
 * run->map.memory is a reference; NULL on a device, or if mapping failed. */
static gboolean
gst_tfx_pending_lock (GstTfxPendingRun *run, GstTfxPending *self,
    GstTfxSharedFilter *own, const GstTfxLayout *layout)
{
  GstMemory *wrapped = NULL;
  GstTfxPending *earlier;

  run->pending = self;
  run->map.memory = NULL;
  g_mutex_lock (&self->lock);
  if (!self->is_done && !self->is_on_device)
    wrapped = gst_memory_ref (self->wrapped);
  g_mutex_unlock (&self->lock);
  if (wrapped && !gst_memory_map (wrapped, &run->map, GST_MAP_READWRITE)) {
    gst_memory_unref (wrapped);
    run->map.memory = NULL;
  }
  for (;;) {
    g_mutex_lock (&self->lock);
    if (own ? !gst_tfx_pending_takes (self, own, layout) : self->is_done)
      break;
    if (own) {
      self->filters[self->n] = own->filter;
      run->row = (GstTfxRow){ self->filters, self->n + 1, own };
    } else {
      run->row = (GstTfxRow){ self->filters, self->n,
        self->links[self->n - 1].filter };
    }
    gst_tfx_row_lock (&run->row);
    earlier = gst_tfx_pending_find_earlier (self, own);
    if (!earlier)
      return TRUE;
    gst_tfx_row_unlock (&run->row);
    g_mutex_unlock (&self->lock);
    gst_tfx_pending_run (earlier);
    gst_tfx_pending_release (earlier);
  }
  g_mutex_unlock (&self->lock);
  gst_tfx_pending_unmap_wrapped (run);
  return FALSE;
}

/* Removes the memory, which has run, from the lists of its filters. */
static void
gst_tfx_pending_unlock (GstTfxPendingRun *run)
{
  GstTfxPending *self = run->pending;

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
  gst_tfx_row_unlock (&run->row);
  g_mutex_unlock (&self->lock);
}

/* The block of samples; @data is the first byte that was wrapped. */
static TfxBlock
gst_tfx_pending_describe (const GstTfxPending *self, gpointer data)
{
  const GstTfxLayout *layout = &self->layout;

  return (TfxBlock){ .data = (guint8 *)data + layout->offset,
    .type = layout->type,
    .n_channels = layout->n_channels,
    .n_frames = layout->n_frames,
    .frame_stride = layout->frame_stride,
    .channel_stride = layout->channel_stride };
}

/* Maps CUDA memory as a whole; unmap it with the same flags. */
static gboolean
gst_tfx_pending_map_device (const GstTfxPending *self, GstMemory *memory,
    GstMapFlags flags, TfxBlock *block)
{
  guint8 *data = gst_tfx_cuda_allocator_map_raw (memory, flags);

  if (data)
    *block = gst_tfx_pending_describe (self, data + self->start);
  return data != NULL;
}

/* Copies the first n_frames on the CPU. */
static gboolean
gst_tfx_pending_copy_device (GstTfxPending *self, GstMemory *to,
    GstMemory *from, gsize n_frames)
{
  const gsize width = gst_tfx_layout_width (&self->layout);
  TfxBlock in, out;
  gboolean ok;

  if (!gst_tfx_pending_map_device (self, from, GST_MAP_READ, &in))
    return FALSE;
  ok = gst_tfx_pending_map_device (self, to, GST_MAP_READWRITE, &out);
  for (gsize c = 0; ok && c < in.n_channels; c++) {
    for (gsize i = 0; i < n_frames; i++) {
      gssize at = (gssize)width *
                  ((gssize)i * in.frame_stride + (gssize)c * in.channel_stride);

      memcpy ((guint8 *)out.data + at, (guint8 *)in.data + at, width);
    }
  }
  if (ok)
    gst_tfx_cuda_allocator_unmap_raw (to, GST_MAP_READWRITE);
  gst_tfx_cuda_allocator_unmap_raw (from, GST_MAP_READ);
  return ok;
}

#define QUEUED_READ ((GstMapFlags)(GST_MAP_READ | GST_TFX_MAP_CUDA_QUEUED))
#define QUEUED_WRITE ((GstMapFlags)(GST_MAP_WRITE | GST_TFX_MAP_CUDA_QUEUED))

/* Filters CUDA memory: on the device, or on the CPU if the device cannot or
 * fails.  The device filters into other memory, and the result is copied back:
 * if it fails, the input is intact for the CPU. */
static gint
gst_tfx_pending_filter_device (GstTfxPending *self, const GstTfxRow *row)
{
  GstMemory *memory = self->wrapped, *apart;
  gsize n_done = 0;
  TfxBlock in, out;
  gint err;

  if (gst_tfx_row_is_on_device (row)) {
    apart = gst_tfx_cuda_allocator_alloc_like (memory);
    err = apart ? -EIO : -ENOMEM;
    if (apart && gst_tfx_pending_map_device (self, memory, QUEUED_READ, &in)) {
      if (gst_tfx_pending_map_device (self, apart, QUEUED_WRITE, &out)) {
        err = gst_tfx_row_run (row, &in, &out, FALSE);
        n_done = gst_tfx_row_n_done (row);
        gst_tfx_cuda_allocator_unmap_raw (apart, QUEUED_WRITE);
      }
      gst_tfx_cuda_allocator_unmap_raw (memory, QUEUED_READ);
    }
    if (n_done > 0 &&
        (err < 0 || !gst_tfx_cuda_allocator_copy_raw (memory, apart, 0,
                        memory->maxsize)) &&
        !gst_tfx_pending_copy_device (self, memory, apart, n_done))
      err = -EFAULT;
    g_clear_pointer (&apart, gst_memory_unref);
    if (err >= 0 || err == -EINVAL || err == -EFAULT)
      return err;
    gst_tfx_row_leave_device (row, err);
  }
  if (!gst_tfx_pending_map_device (self, memory, GST_MAP_READWRITE, &in))
    return -EIO;
  in = gst_tfx_row_rest (&in, n_done);
  err = gst_tfx_row_run (row, &in, &in, TRUE);
  gst_tfx_cuda_allocator_unmap_raw (memory, GST_MAP_READWRITE);
  return err;
}

/* Runs the row in place. */
static void
gst_tfx_pending_filter (GstTfxPendingRun *run)
{
  GstTfxPending *self = run->pending;
  const GstTfxLayout *layout = &self->layout;
  gpointer apart = NULL;
  gint err = -EIO;
  TfxBlock block;

  if (G_UNLIKELY (self->is_on_device)) {
    err = gst_tfx_pending_filter_device (self, &run->row);
  } else if (run->map.memory) {
    block = gst_tfx_pending_describe (self, run->map.data);
    /* Samples that are not aligned are filtered in a copy. */
    if (G_UNLIKELY (
            (guintptr)block.data % gst_tfx_layout_width (layout) != 0)) {
      apart = g_memdup2 (block.data, run->map.size - layout->offset);
      block.data = apart;
    }
    err = gst_tfx_row_run (&run->row, &block, &block, TRUE);
    if (apart)
      memcpy (run->map.data + layout->offset, apart,
          run->map.size - layout->offset);
    g_free (apart);
  }
  if (err < 0)
    run->row.last->counts.n_lost += layout->n_frames;
}

static void
gst_tfx_pending_run (GstTfxPending *self)
{
  GstTfxPendingRun run;

  if (g_atomic_int_get (&self->is_done) ||
      !gst_tfx_pending_lock (&run, self, NULL, NULL))
    return;
  gst_tfx_pending_filter (&run);
  gst_tfx_pending_unlock (&run);
  gst_tfx_pending_unmap_wrapped (&run);
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

gboolean
gst_tfx_pending_begin (GstTfxPendingRun *run, GstBuffer *buffer,
    GstTfxSharedFilter *own, const GstTfxLayout *layout)
{
  GstTfxPending *self = gst_tfx_pending_peek (buffer);

  if (!self)
    return FALSE;
  if (!gst_tfx_pending_is_alone (gst_tfx_pending_carrier (self)) ||
      !gst_tfx_pending_lock (run, self, own, layout)) {
    gst_tfx_pending_give_up (self, buffer);
    return FALSE;
  }
  gst_tfx_pending_hold (self);
  gst_tfx_pending_unwrap (self, buffer);
  return TRUE;
}

void
gst_tfx_pending_end (GstTfxPendingRun *run)
{
  gst_tfx_pending_unlock (run);
  gst_tfx_pending_release (run->pending);
}
