/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpending.c: what is pending in a memory, and how it runs.
 *
 * Each filter has a list of the pending memories in which it is still to run, in
 * the order of the stream, and a memory runs when it is the first in the lists
 * of all its filters.  So each of them hears its samples in order and once,
 * whoever reads them.
 */
#include <errno.h>
#include <string.h>

#include "gsttfxpendingprivate.h"

/* ---- making and freeing ------------------------------------------------------ */

void
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

GstTfxPending *
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

/* ---- running ---------------------------------------------------------------------- */

GstTfxPending *
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

void
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
    row =
        (GstTfxRow){ self->filters, self->n, self->links[self->n - 1].filter };
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
