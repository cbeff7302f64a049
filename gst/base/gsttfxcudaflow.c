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
#include "gsttfxcudaflow.h"

#include <errno.h>

#include "gsttfxcudaallocator.h"
#include "gsttfxcudabuffer.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- buffers ------------------------------------------------------------- */

static gboolean
gst_tfx_cuda_flow_make_pool (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  GstCaps *caps = gst_audio_info_to_caps (&priv->info);
  GstStructure *config;

  gst_caps_set_features (caps, 0,
      gst_caps_features_new (GST_TFX_CUDA_FEATURE, NULL));
  device->pool = gst_tfx_cuda_pool_new (device->context);
  config = gst_buffer_pool_get_config (device->pool);
  gst_buffer_pool_config_set_params (config, caps,
      n_frames * GST_AUDIO_INFO_BPF (&priv->info), 0, 0);
  gst_caps_unref (caps);
  if (gst_buffer_pool_set_config (device->pool, config) &&
      gst_buffer_pool_set_active (device->pool, TRUE)) {
    GST_DEBUG_OBJECT (self,
        "new pool of CUDA buffers of %" G_GSIZE_FORMAT " frames", n_frames);
    return TRUE;
  }
  GST_WARNING_OBJECT (self, "no pool of CUDA buffers");
  gst_clear_object (&device->pool);
  return FALSE;
}

/* A buffer in CUDA memory, or NULL. */
static GstBuffer *
gst_tfx_cuda_flow_new_device (GstTfxElement *self, gsize n_frames)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  GstBuffer *buffer = NULL;

  if (!device->pool && !gst_tfx_cuda_flow_make_pool (self, n_frames))
    return NULL;
  if (gst_tfx_cuda_pool_acquire (device->pool, n_frames, &buffer) !=
      GST_FLOW_OK)
    return NULL;
  return buffer;
}

/* Whether a memory of the buffer is CUDA memory, of any element and context. */
static gboolean
gst_tfx_cuda_flow_has_device_memory (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    if (gst_tfx_cuda_allocator_is_device (gst_buffer_peek_memory (buffer, i)))
      return TRUE;
  }
  return FALSE;
}

/* ---- filtering ----------------------------------------------------------- */

/* The input or output of a run, mapped. */
typedef struct
{
  gboolean is_device;
  GstTfxCudaBuffer device;
  GstTfxBuffer host;
  TfxBlock block;
} End;

static gboolean
gst_tfx_cuda_flow_map_host (GstTfxElement *self, GstBuffer *buffer, End *end)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  end->is_device = FALSE;
  if (!gst_tfx_buffer_map (&end->host, buffer, &priv->info, &priv->scratch))
    return FALSE;
  end->block = end->host.block;
  return TRUE;
}

/* Maps the samples where they are. */
static gboolean
gst_tfx_cuda_flow_map (GstTfxElement *self, GstBuffer *buffer,
    GstMapFlags access, End *end)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;

  if (!gst_tfx_cuda_buffer_is_device (buffer, device->context))
    return gst_tfx_cuda_flow_map_host (self, buffer, end);
  end->is_device = TRUE;
  if (!gst_tfx_cuda_buffer_map (&end->device, buffer, &priv->info, device->cuda,
          access))
    return FALSE;
  end->block = end->device.block;
  return TRUE;
}

/* Returns FALSE if the device failed before its work on the memory ended. */
static gboolean
gst_tfx_cuda_flow_unmap (End *end)
{
  if (end->is_device)
    return gst_tfx_cuda_buffer_unmap (&end->device);
  gst_tfx_buffer_unmap (&end->host);
  return TRUE;
}

/* A run from one buffer into another one. */
typedef struct
{
  GstTfxRow row;
  GstTfxPendingRun pending;
  gboolean is_pending;
  GstBuffer *in, *out;
  GstBuffer *silence; /* replaces input that cannot be read */
  gsize n_frames, n_done;
} Job;

/* Locks the filters to run: those that are pending in the buffer, and the
 * element's own. */
static void
gst_tfx_cuda_flow_begin (GstTfxElement *self, Job *job)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  job->is_pending =
      gst_tfx_fusion_begin (self, job->in, job->n_frames, &job->pending);
  if (job->is_pending) {
    job->row = job->pending.row;
    gst_tfx_pending_take (&job->pending, job->in);
    return;
  }
  job->row = (GstTfxRow){ &priv->filter->filter, 1, priv->filter };
  gst_tfx_row_lock (&job->row);
}

static void
gst_tfx_cuda_flow_end (GstTfxElement *self, Job *job)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  gst_tfx_counts_note_rows (&priv->counts, &priv->filter->counts);
  if (job->is_pending)
    gst_tfx_pending_end (&job->pending, job->in);
  else
    gst_tfx_row_unlock (&job->row);
}

static gint
gst_tfx_cuda_flow_run_on_device (GstTfxElement *self, Job *job)
{
  gint err = -EAGAIN;
  End in, out;

  if (!gst_tfx_cuda_flow_map (self, job->in, GST_MAP_READ, &in))
    return err;
  if (gst_tfx_cuda_flow_map (self, job->out, GST_MAP_WRITE, &out)) {
    err = gst_tfx_row_run (&job->row, &in.block, &out.block, FALSE);
    job->n_done = gst_tfx_row_n_done (&job->row);
    if (!gst_tfx_cuda_flow_unmap (&out) && err >= 0)
      err = -EIO;
  }
  if (!gst_tfx_cuda_flow_unmap (&in) && err >= 0)
    err = -EIO;
  if (err < 0 && err != -EINVAL)
    gst_tfx_row_leave_device (&job->row, err);
  return err;
}

/* Maps the input for the CPU.  If the device is lost, silence replaces it. */
static gboolean
gst_tfx_cuda_flow_map_in (GstTfxElement *self, Job *job, End *in)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  /* The map of another allocator would wait for a hung device. */
  gboolean can_map =
      !priv->device.cuda || !tfx_cuda_is_hung (priv->device.cuda) ||
      !gst_tfx_cuda_flow_has_device_memory (job->in) ||
      gst_tfx_cuda_allocator_owns (gst_buffer_peek_memory (job->in, 0));

  if (can_map && (gst_tfx_cuda_flow_map_host (self, job->in, in) ||
                     gst_tfx_cuda_flow_map_host (self, job->in, in)))
    return TRUE;
  job->silence = gst_tfx_buffer_new (&priv->info, job->n_frames);
  if (!job->silence)
    return FALSE;
  gst_buffer_memset (job->silence, 0, 0, -1);
  return gst_tfx_cuda_flow_map_host (self, job->silence, in);
}

/* Maps the output for the CPU; if that fails, a new buffer in system memory. */
static gboolean
gst_tfx_cuda_flow_map_out (GstTfxElement *self, Job *job, End *out)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstMemory *memory = gst_buffer_peek_memory (job->out, 0);

  if (job->n_done == 0 && gst_tfx_cuda_allocator_owns (memory))
    gst_tfx_cuda_allocator_discard (memory);
  if (gst_tfx_cuda_flow_map_host (self, job->out, out))
    return TRUE;
  /* The frames that the device had filtered are lost. */
  job->n_done = 0;
  gst_buffer_unref (job->out);
  job->out = gst_tfx_buffer_new (&priv->info, job->n_frames);
  return job->out && gst_tfx_cuda_flow_map_host (self, job->out, out);
}

/* Filters the rest in host memory. */
static gint
gst_tfx_cuda_flow_run_in_host (GstTfxElement *self, Job *job)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  gboolean from_device = gst_tfx_cuda_flow_has_device_memory (job->in);
  gint err = -EFAULT;
  End in, out;

  if (!gst_tfx_cuda_flow_map_in (self, job, &in))
    return err;
  if (gst_tfx_cuda_flow_map_out (self, job, &out)) {
    TfxBlock from = gst_tfx_row_rest (&in.block, job->n_done);
    TfxBlock to = gst_tfx_row_rest (&out.block, job->n_done);

    err = gst_tfx_control_is_partial (self, job->n_frames)
              ? gst_tfx_control_run (self, &job->row, &from, &to)
              : gst_tfx_row_run (&job->row, &from, &to, TRUE);
    gst_tfx_cuda_flow_unmap (&out);
    if (gst_tfx_cuda_flow_has_device_memory (job->out))
      gst_tfx_count_add (&priv->counts.n_uploads, 1);
    if (from_device)
      gst_tfx_count_add (&priv->counts.n_downloads, 1);
  }
  gst_tfx_cuda_flow_unmap (&in);
  return err;
}

static gint
gst_tfx_cuda_flow_run (GstTfxElement *self, Job *job)
{
  gint err = -EAGAIN;

  if (!gst_tfx_control_is_partial (self, job->n_frames) &&
      gst_tfx_row_is_on_device (&job->row))
    err = gst_tfx_cuda_flow_run_on_device (self, job);
  if (err < 0 && err != -EINVAL) {
    GST_LOG_OBJECT (self,
        "the CPU filters from frame %" G_GSIZE_FORMAT " of %" GST_PTR_FORMAT
        " on",
        job->n_done, job->in);
    err = gst_tfx_cuda_flow_run_in_host (self, job);
  }
  return err;
}

/* Whether the buffer is silence whose output is silence. */
static gboolean
gst_tfx_cuda_flow_is_gap (GstTfxElement *self, const Job *job)
{
  if (job->is_pending || !GST_BUFFER_FLAG_IS_SET (job->in, GST_BUFFER_FLAG_GAP))
    return FALSE;
  if (gst_tfx_row_is_silent (&job->row) &&
      gst_tfx_buffer_is_zero (job->in,
          &gst_tfx_element_get_private (self)->info))
    return TRUE;
  GST_BUFFER_FLAG_UNSET (job->in, GST_BUFFER_FLAG_GAP);
  return FALSE;
}

/* Makes the output buffer.  It is in system memory if device memory is short
 * and the downstream peer accepts that.  NULL if there is no memory. */
static GstBuffer *
gst_tfx_cuda_flow_new_output (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *buffer = NULL;

  if (priv->device.out_cuda) {
    buffer = gst_tfx_cuda_flow_new_device (self, n_frames);
    if (!buffer)
      gst_tfx_device_fall_back (self, -ENOMEM);
  }
  return buffer ? buffer : gst_tfx_buffer_new (&priv->info, n_frames);
}

gboolean
gst_tfx_cuda_flow_is_needed (GstTfxElement *self, GstBuffer *buffer)
{
  return gst_tfx_element_get_private (self)->device.out_cuda ||
         gst_tfx_cuda_flow_has_device_memory (buffer);
}

gboolean
gst_tfx_cuda_flow_fits (GstTfxElement *self, GstBuffer *buffer)
{
  return gst_tfx_cuda_flow_has_device_memory (buffer) ==
         gst_tfx_element_get_private (self)->device.out_cuda;
}

gint
gst_tfx_cuda_flow_filter (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  Job job = { .in = *buffer, .n_frames = n_frames };
  gboolean is_gap;
  gint err = 0;

  job.out = gst_tfx_cuda_flow_new_output (self, n_frames);
  if (!job.out)
    return -ENOMEM;
  gst_tfx_cuda_flow_begin (self, &job);
  is_gap = gst_tfx_cuda_flow_is_gap (self, &job);
  /* Under a curve silence is filtered too, for the ramp of the values. */
  if (is_gap && !priv->control.is_followed)
    gst_tfx_row_pass (&job.row, n_frames);
  else
    err = gst_tfx_cuda_flow_run (self, &job);
  gst_tfx_cuda_flow_end (self, &job);
  if (job.silence)
    GST_ELEMENT_WARNING (self, RESOURCE, READ,
        ("%" G_GSIZE_FORMAT " frames at %" GST_TIME_FORMAT " were lost with "
         "the CUDA device and are replaced by silence.",
            n_frames, GST_TIME_ARGS (GST_BUFFER_PTS (*buffer))),
        (NULL));
  gst_clear_buffer (&job.silence);
  if (err < 0 || is_gap) {
    gst_clear_buffer (&job.out);
    return err;
  }
  gst_tfx_buffer_copy_metadata (*buffer, job.out, &priv->info, &priv->info,
      n_frames);
  gst_buffer_unref (*buffer);
  *buffer = job.out;
  return 0;
}

/* ---- delivery ------------------------------------------------------------ */

/* Copies the buffer to the other kind of memory on the CPU. */
static gboolean
gst_tfx_cuda_flow_move (GstTfxElement *self, GstBuffer **buffer, gsize n_frames,
    gboolean to_device)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *out = to_device ? gst_tfx_cuda_flow_new_device (self, n_frames)
                             : gst_tfx_buffer_new (&priv->info, n_frames);

  if (!out || !gst_tfx_channels_copy (*buffer, out, &priv->info, &priv->info,
                  n_frames)) {
    gst_clear_buffer (&out);
    return FALSE;
  }
  GST_LOG_OBJECT (self, "%" G_GSIZE_FORMAT " frames moved to %s memory",
      n_frames, to_device ? "CUDA" : "system");
  if (to_device)
    gst_tfx_count_add (&priv->counts.n_uploads, 1);
  else
    gst_tfx_count_add (&priv->counts.n_downloads, 1);
  gst_tfx_buffer_copy_metadata (*buffer, out, &priv->info, &priv->info,
      n_frames);
  gst_buffer_unref (*buffer);
  *buffer = out;
  return TRUE;
}

gboolean
gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames)
{
  const GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  gboolean is_device = gst_tfx_cuda_flow_has_device_memory (*buffer);

  if (is_device == device->out_cuda ||
      gst_tfx_cuda_flow_move (self, buffer, n_frames, device->out_cuda))
    return TRUE;
  /* The downstream peer may accept system memory. */
  if (device->out_cuda)
    gst_tfx_device_fall_back (self, -ENOMEM);
  if (is_device == device->out_cuda)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("%" G_GSIZE_FORMAT " frames cannot be moved to %s memory, and the next "
       "element accepts no other memory.",
          n_frames, device->out_cuda ? "CUDA" : "system"),
      (NULL));
  return FALSE;
}

/* ---- upstream ------------------------------------------------------------ */

/* The length of the buffers is not known yet. */
#define POOL_FRAMES 1024

gboolean
gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  GstStructure *config;
  GstBufferPool *pool;
  GstAudioInfo info;
  GstCaps *caps;
  gboolean ok;
  guint size;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_audio_info_from_caps (&info, caps))
    return FALSE;
  size = POOL_FRAMES * GST_AUDIO_INFO_BPF (&info);
  pool = gst_tfx_cuda_pool_new (device->context);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  ok = gst_buffer_pool_set_config (pool, config);
  if (ok)
    gst_query_add_allocation_pool (query, pool, size, 0, 0);
  GST_DEBUG_OBJECT (self, "proposing a pool of CUDA buffers upstream%s",
      ok ? "" : " failed");
  gst_object_unref (pool);
  return ok;
}
