/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaflow.c: buffers with input or output in CUDA memory.
 *
 * Samples on the device are filtered into another buffer, so that the input is
 * intact for the CPU if a call fails.  Samples in system memory whose output is
 * there too are not handled here: the backend moves them to the device and
 * back.
 *
 * During parameter ramps and cross-fades the CPU filters, with all blocks in
 * host memory.
 */
#include <errno.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- buffers ------------------------------------------------------------- */

/* A configured pool of CUDA buffers, or NULL. */
static GstBufferPool *
gst_tfx_cuda_flow_new_pool (GstTfxElement *self, GstCaps *caps, gsize size)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  GstBufferPool *pool = gst_tfx_cuda_pool_new (device->context);
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  if (!gst_buffer_pool_set_config (pool, config))
    gst_clear_object (&pool);
  return pool;
}

/* A buffer in CUDA memory, or NULL. */
static GstBuffer *
gst_tfx_cuda_flow_new_device (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  GstBuffer *buffer = NULL;
  GstCaps *caps;

  if (!device->pool) {
    caps = gst_audio_info_to_caps (&priv->info);
    gst_caps_set_features (caps, 0,
        gst_caps_features_new (GST_TFX_CUDA_FEATURE, NULL));
    device->pool = gst_tfx_cuda_flow_new_pool (self, caps,
        n_frames * GST_AUDIO_INFO_BPF (&priv->info));
    gst_caps_unref (caps);
    if (!device->pool || !gst_buffer_pool_set_active (device->pool, TRUE)) {
      GST_WARNING_OBJECT (self, "no pool of CUDA buffers");
      gst_clear_object (&device->pool);
      return NULL;
    }
    GST_DEBUG_OBJECT (self,
        "new pool of CUDA buffers of %" G_GSIZE_FORMAT " frames", n_frames);
  }
  if (gst_tfx_cuda_pool_acquire (device->pool, n_frames, &buffer) !=
      GST_FLOW_OK)
    return NULL;
  return buffer;
}

gboolean
gst_tfx_cuda_flow_is_needed (GstTfxElement *self, GstBuffer *buffer)
{
  return gst_tfx_element_get_private (self)->device.out_cuda ||
         gst_tfx_buffer_is_cuda (buffer);
}

gboolean
gst_tfx_cuda_flow_fits (GstTfxElement *self, GstBuffer *buffer)
{
  return gst_tfx_buffer_is_cuda (buffer) ==
         gst_tfx_element_get_private (self)->device.out_cuda;
}

/* ---- filtering ----------------------------------------------------------- */

/* Filters the frames from n_done on in host memory.  *out is replaced by a
 * buffer in system memory if it cannot be mapped.  Input that cannot be mapped
 * is lost, and replaced by *silence. */
static gint
gst_tfx_cuda_flow_run_in_host (GstTfxElement *self, GstTfxRun *run,
    GstBuffer **out, GstBuffer **silence, gsize n_frames, gsize n_done)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstMemory *memory = gst_buffer_peek_memory (*out, 0);
  TfxBlock from, to;
  GstTfxMapped mapped;
  gint err;

  if (!run->in.is_mapped) {
    *silence = gst_tfx_buffer_new (&priv->info, n_frames);
    if (!*silence)
      return -EFAULT;
    gst_buffer_memset (*silence, 0, 0, -1);
    gst_tfx_fusion_map (self, *silence, 0, &priv->scratch, &run->in);
    if (!run->in.is_mapped)
      return -EFAULT;
  }
  if (n_done == 0 && gst_tfx_cuda_allocator_owns (memory))
    gst_tfx_cuda_allocator_discard (memory);
  gst_tfx_fusion_map (self, *out, 0, &priv->scratch, &mapped);
  if (!mapped.is_mapped) {
    /* The frames that the device had filtered are lost. */
    n_done = 0;
    gst_buffer_unref (*out);
    *out = gst_tfx_buffer_new (&priv->info, n_frames);
    if (*out)
      gst_tfx_fusion_map (self, *out, 0, &priv->scratch, &mapped);
  }
  if (!mapped.is_mapped)
    return -EFAULT;
  from = gst_tfx_row_rest (&run->in.block, n_done);
  to = gst_tfx_row_rest (&mapped.block, n_done);
  err = gst_tfx_control_is_partial (self, n_frames)
            ? gst_tfx_control_run (self, &run->row, &from, &to)
            : gst_tfx_row_run (&run->row, &from, &to, TRUE);
  gst_tfx_fusion_unmap (&mapped);
  if (gst_tfx_buffer_is_cuda (*out))
    gst_tfx_count_add (&priv->counts.n_uploads, 1);
  return err;
}

gint
gst_tfx_cuda_flow_filter (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames, gboolean is_gap)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  gboolean on_device =
      device->runs && !gst_tfx_control_is_partial (self, n_frames);
  GstBuffer *out = NULL, *silence = NULL;
  GstTfxMapped mapped;
  gsize n_done = 0;
  gint err = -EAGAIN;
  GstTfxRun run;

  /* It is in system memory if device memory is short and the downstream peer
   * accepts that. */
  if (device->out_cuda) {
    out = gst_tfx_cuda_flow_new_device (self, n_frames);
    if (!out)
      gst_tfx_device_fall_back (self, -ENOMEM);
  }
  if (!out)
    out = gst_tfx_buffer_new (&priv->info, n_frames);
  if (!out)
    return -ENOMEM;
  gst_tfx_fusion_begin (self, *buffer, n_frames, on_device, &priv->scratch,
      &run);
  on_device =
      on_device && run.in.is_mapped && gst_tfx_row_is_on_device (&run.row);
  if (on_device) {
    gst_tfx_fusion_map (self, out, GST_MAP_WRITE, &priv->scratch, &mapped);
    if (mapped.is_mapped) {
      err = gst_tfx_row_run (&run.row, &run.in.block, &mapped.block, FALSE);
      n_done = gst_tfx_row_n_done (&run.row);
    }
    if (!gst_tfx_fusion_unmap (&mapped) && err >= 0)
      err = -EIO;
  }
  err = gst_tfx_fusion_leave_memory (self, *buffer, err, &run);
  if (err < 0 && err != -EINVAL) {
    GST_LOG_OBJECT (self,
        "the CPU filters from frame %" G_GSIZE_FORMAT " of %" GST_PTR_FORMAT
        " on",
        n_done, *buffer);
    if (on_device)
      gst_tfx_row_leave_device (&run.row, err);
    if (gst_tfx_buffer_is_cuda (*buffer))
      gst_tfx_count_add (&priv->counts.n_downloads, 1);
    err = gst_tfx_cuda_flow_run_in_host (self, &run, &out, &silence, n_frames,
        n_done);
  }
  gst_tfx_fusion_end (self, &run);
  gst_tfx_fusion_unmap (&run.in);
  if (silence)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("%" G_GSIZE_FORMAT " frames at %" GST_TIME_FORMAT " were lost with "
         "the CUDA device and are replaced by silence.",
            n_frames, GST_TIME_ARGS (GST_BUFFER_PTS (*buffer))),
        (NULL));
  gst_clear_buffer (&silence);
  if (err < 0 || is_gap) {
    gst_clear_buffer (&out);
    return err;
  }
  gst_tfx_buffer_copy_metadata (*buffer, out, &priv->info, &priv->info,
      n_frames);
  gst_buffer_unref (*buffer);
  *buffer = out;
  return 0;
}

/* ---- delivery ------------------------------------------------------------ */

gboolean
gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const gboolean to_device = priv->device.out_cuda;
  GstBuffer *out;

  if (gst_tfx_cuda_flow_fits (self, *buffer))
    return TRUE;
  out = to_device ? gst_tfx_cuda_flow_new_device (self, n_frames)
                  : gst_tfx_buffer_new (&priv->info, n_frames);
  if (out && gst_tfx_channels_copy (*buffer, out, &priv->info, &priv->info,
                 n_frames)) {
    GST_LOG_OBJECT (self, "%" G_GSIZE_FORMAT " frames moved to %s memory",
        n_frames, to_device ? "CUDA" : "system");
    gst_tfx_count_add (to_device ? &priv->counts.n_uploads
                                 : &priv->counts.n_downloads,
        1);
    gst_tfx_buffer_copy_metadata (*buffer, out, &priv->info, &priv->info,
        n_frames);
    gst_buffer_unref (*buffer);
    *buffer = out;
    return TRUE;
  }
  gst_clear_buffer (&out);
  /* The downstream peer may accept system memory. */
  if (to_device)
    gst_tfx_device_fall_back (self, -ENOMEM);
  if (gst_tfx_cuda_flow_fits (self, *buffer))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("%" G_GSIZE_FORMAT " frames cannot be moved to %s memory, and the next "
       "element accepts no other memory.",
          n_frames, to_device ? "CUDA" : "system"),
      (NULL));
  return FALSE;
}

/* ---- upstream ------------------------------------------------------------ */

/* The length of the buffers is not known yet. */
#define POOL_FRAMES 1024

gboolean
gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query)
{
  GstBufferPool *pool;
  GstAudioInfo info;
  GstCaps *caps;
  guint size;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_audio_info_from_caps (&info, caps))
    return FALSE;
  size = POOL_FRAMES * GST_AUDIO_INFO_BPF (&info);
  pool = gst_tfx_cuda_flow_new_pool (self, caps, size);
  GST_DEBUG_OBJECT (self, "proposing a pool of CUDA buffers upstream%s",
      pool ? "" : " failed");
  if (!pool)
    return FALSE;
  gst_query_add_allocation_pool (query, pool, size, 0, 0);
  gst_object_unref (pool);
  return TRUE;
}
