/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpendingdevice.c: runs pending filters over CUDA memory.
 *
 * The device filters into other memory, and the result is copied back: if it
 * fails, the input is intact for the CPU.
 */
#include "gsttfxpending.h"

#include <errno.h>
#include <string.h>

#include "gsttfxcudaallocator.h"

#define READ ((GstMapFlags)(GST_MAP_READ | GST_TFX_MAP_CUDA_QUEUED))
#define WRITE ((GstMapFlags)(GST_MAP_WRITE | GST_TFX_MAP_CUDA_QUEUED))

/* The block of samples in a memory that is mapped as a whole. */
static TfxBlock
gst_tfx_pending_device_describe (const TfxBlock *shape, gpointer data,
    gsize start)
{
  TfxBlock block = *shape;

  block.data = (guint8 *)data + start;
  return block;
}

static gint
gst_tfx_pending_device_filter (const GstTfxRow *row, GstMemory *from,
    GstMemory *to, gsize start, const TfxBlock *shape, gsize *n_done)
{
  gpointer in = gst_tfx_cuda_allocator_map_raw (from, READ), out = NULL;
  TfxBlock in_block, out_block;
  gint err = -EIO;

  if (in)
    out = gst_tfx_cuda_allocator_map_raw (to, WRITE);
  if (out) {
    in_block = gst_tfx_pending_device_describe (shape, in, start);
    out_block = gst_tfx_pending_device_describe (shape, out, start);
    err = gst_tfx_row_run (row, &in_block, &out_block, FALSE);
    *n_done = gst_tfx_row_n_done (row);
    gst_tfx_cuda_allocator_unmap_raw (to, WRITE);
  }
  if (in)
    gst_tfx_cuda_allocator_unmap_raw (from, READ);
  return err;
}

/* Copies n_frames to a block of the same shape. */
static void
gst_tfx_pending_device_copy_frames (const TfxBlock *to, const TfxBlock *from,
    gsize n_frames)
{
  gsize width =
      from->type == TFX_SAMPLE_F32 ? sizeof (gfloat) : sizeof (gdouble);

  for (gsize channel = 0; channel < from->n_channels; channel++) {
    for (gsize i = 0; i < n_frames; i++) {
      gssize at = (gssize)width * ((gssize)i * from->frame_stride +
                                      (gssize)channel * from->channel_stride);

      memcpy ((guint8 *)to->data + at, (guint8 *)from->data + at, width);
    }
  }
}

/* Copies the first n_frames back on the CPU. */
static gboolean
gst_tfx_pending_device_bring_back (GstMemory *to, GstMemory *from, gsize start,
    const TfxBlock *shape, gsize n_frames)
{
  gpointer source = gst_tfx_cuda_allocator_map_raw (from, GST_MAP_READ);
  gpointer target = NULL;
  TfxBlock in, out;

  if (source)
    target = gst_tfx_cuda_allocator_map_raw (to, GST_MAP_READWRITE);
  if (target) {
    in = gst_tfx_pending_device_describe (shape, source, start);
    out = gst_tfx_pending_device_describe (shape, target, start);
    gst_tfx_pending_device_copy_frames (&out, &in, n_frames);
    gst_tfx_cuda_allocator_unmap_raw (to, GST_MAP_READWRITE);
  }
  if (source)
    gst_tfx_cuda_allocator_unmap_raw (from, GST_MAP_READ);
  return target != NULL;
}

/* Stores in *n_done the frames that are filtered if it fails. */
static gint
gst_tfx_pending_device_run_apart (const GstTfxRow *row, GstMemory *memory,
    gsize start, const TfxBlock *shape, gsize *n_done)
{
  GstMemory *apart = gst_tfx_cuda_allocator_alloc_like (memory);
  gint err;

  *n_done = 0;
  if (!apart)
    return -ENOMEM;
  err =
      gst_tfx_pending_device_filter (row, memory, apart, start, shape, n_done);
  if ((err < 0 || !gst_tfx_cuda_allocator_copy_raw (memory, apart)) &&
      *n_done > 0 &&
      !gst_tfx_pending_device_bring_back (memory, apart, start, shape, *n_done))
    err = -EFAULT;
  gst_memory_unref (apart);
  return err;
}

gint
gst_tfx_pending_device_run (const GstTfxRow *row, GstMemory *memory,
    gsize start, const TfxBlock *shape)
{
  TfxBlock block;
  gpointer data;
  gsize n_done = 0;
  gint err;

  if (gst_tfx_row_is_on_device (row)) {
    err = gst_tfx_pending_device_run_apart (row, memory, start, shape, &n_done);
    if (err >= 0 || err == -EINVAL || err == -EFAULT)
      return err;
    gst_tfx_row_leave_device (row, err);
  }
  data = gst_tfx_cuda_allocator_map_raw (memory, GST_MAP_READWRITE);
  if (!data)
    return -EIO;
  block = gst_tfx_pending_device_describe (shape, data, start);
  block = gst_tfx_row_rest (&block, n_done);
  err = gst_tfx_row_run (row, &block, &block, TRUE);
  gst_tfx_cuda_allocator_unmap_raw (memory, GST_MAP_READWRITE);
  return err;
}
