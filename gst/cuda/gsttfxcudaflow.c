/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcudaflow.c: buffers that are, or are to be, in CUDA memory.
 *
 * What is on the device is filtered into another buffer: if a call fails the
 * input is still there for the CPU.  Samples in system memory that stay there
 * are no concern of this file: the engine moves them there and back itself.
 *
 * While something changes the CPU runs the filters, so blocks are mapped by it
 * then.
 */
#include "gsttfxcudaflow.h"

#include <errno.h>
#include <string.h>

#include "gsttfxcudabuffer.h"
#include "gsttfxcudapool.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Larger blocks are run in parts, not all of which might succeed. */
#define MAX_SAMPLES ((gsize)1 << 28)

/* ---- buffers ------------------------------------------------------------------- */

typedef struct
{
  GstBuffer *to;
  const GstAudioInfo *info;
  gsize n_frames;
} Target;

static gboolean
gst_tfx_cuda_flow_copy_meta (GstBuffer *from, GstMeta **meta, gpointer data)
{
  GstMetaTransformCopy whole = { FALSE, 0, -1 };
  const GstMetaInfo *meta_info = (*meta)->info;
  Target *target = data;

  /* Where the samples lie, and what depends on that, is another matter now. */
  if (meta_info->api == GST_AUDIO_META_API_TYPE) {
    if (!gst_buffer_get_audio_meta (target->to))
      gst_buffer_add_audio_meta (target->to, target->info, target->n_frames,
          NULL);
  } else if (!gst_meta_api_type_has_tag (meta_info->api,
                 g_quark_from_static_string (GST_META_TAG_MEMORY_STR)) &&
             meta_info->transform_func) {
    meta_info->transform_func (target->to, *meta, from,
        _gst_meta_transform_copy, &whole);
  }
  return TRUE;
}

/* All but the samples. */
static void
gst_tfx_cuda_flow_copy_metadata (GstBuffer *from, GstBuffer *to,
    const GstAudioInfo *info, gsize n_frames)
{
  Target target = { to, info, n_frames };

  gst_buffer_copy_into (to, from,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, -1);
  gst_buffer_foreach_meta (from, gst_tfx_cuda_flow_copy_meta, &target);
}

static gboolean
gst_tfx_cuda_flow_make_pool (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  GstCaps *caps = gst_audio_info_to_caps (&priv->info);
  GstStructure *config;

  gst_caps_set_features (caps, 0,
      gst_caps_features_new (GST_TFX_CUDA_FEATURE, NULL));
  place->pool = gst_tfx_cuda_pool_new (place->context);
  config = gst_buffer_pool_get_config (place->pool);
  gst_buffer_pool_config_set_params (config, caps,
      n_frames * GST_AUDIO_INFO_BPF (&priv->info), 0, 0);
  gst_caps_unref (caps);
  if (gst_buffer_pool_set_config (place->pool, config) &&
      gst_buffer_pool_set_active (place->pool, TRUE))
    return TRUE;
  gst_clear_object (&place->pool);
  return FALSE;
}

/* A buffer in CUDA memory, or NULL. */
static GstBuffer *
gst_tfx_cuda_flow_new_device (GstTfxElement *self, gsize n_frames)
{
  GstTfxDevicePlace *place = &gst_tfx_element_get_private (self)->place;
  GstBuffer *buffer = NULL;

  if (!place->pool && !gst_tfx_cuda_flow_make_pool (self, n_frames))
    return NULL;
  if (gst_tfx_cuda_pool_acquire (place->pool, n_frames, &buffer) != GST_FLOW_OK)
    return NULL;
  return buffer;
}

/* Any element's CUDA memory of any context among it. */
static gboolean
gst_tfx_cuda_flow_has_device_memory (GstBuffer *buffer)
{
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    if (gst_memory_is_type (gst_buffer_peek_memory (buffer, i),
            "gst.cuda.memory"))
      return TRUE;
  }
  return FALSE;
}

/* ---- filtering ------------------------------------------------------------------- */

/* One side of a run, mapped. */
typedef struct
{
  gboolean is_device;
  GstTfxCudaBuffer device;
  GstTfxBuffer host;
  TfxBlock block;
} Side;

static gboolean
gst_tfx_cuda_flow_map (GstTfxElement *self, GstBuffer *buffer,
    GstMapFlags access, Side *side)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;

  side->is_device = gst_tfx_cuda_buffer_is_device (buffer, place->context);
  if (side->is_device) {
    if (!gst_tfx_cuda_buffer_map (&side->device, buffer, &priv->info,
            place->cuda, access))
      return FALSE;
    side->block = side->device.block;
    return TRUE;
  }
  if (!gst_tfx_buffer_map (&side->host, buffer, &priv->info, &priv->scratch))
    return FALSE;
  side->block = side->host.block;
  return TRUE;
}

static void
gst_tfx_cuda_flow_unmap (Side *side)
{
  if (side->is_device)
    gst_tfx_cuda_buffer_unmap (&side->device);
  else
    gst_tfx_buffer_unmap (&side->host);
}

/* 0; -EAGAIN if a side cannot be mapped: the CPU may have more luck; or another
 * negative errno value. */
static gint
gst_tfx_cuda_flow_run (GstTfxElement *self, GstBuffer *from, GstBuffer *to,
    const GstTfxRow *row)
{
  Side in, out;
  gint err;

  if (!gst_tfx_cuda_flow_map (self, from, GST_MAP_READ, &in))
    return -EAGAIN;
  if (!gst_tfx_cuda_flow_map (self, to, GST_MAP_WRITE, &out)) {
    gst_tfx_cuda_flow_unmap (&in);
    return -EAGAIN;
  }
  err = gst_tfx_row_run (row, &in.block, &out.block, FALSE);
  gst_tfx_cuda_flow_unmap (&out);
  gst_tfx_cuda_flow_unmap (&in);
  return err;
}

gboolean
gst_tfx_cuda_flow_process (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames, const GstTfxRow *row, gint *err)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  GstBuffer *out;
  gint ret = -EAGAIN;

  if (!place->runs ||
      (!place->out_cuda &&
          !gst_tfx_cuda_buffer_is_device (*buffer, place->context)) ||
      n_frames > MAX_SAMPLES / GST_AUDIO_INFO_CHANNELS (&priv->info) ||
      !gst_tfx_row_is_on_device (row))
    return FALSE;
  out = place->out_cuda ? gst_tfx_cuda_flow_new_device (self, n_frames)
                        : gst_tfx_buffer_new (&priv->info, n_frames);
  if (out)
    ret = gst_tfx_cuda_flow_run (self, *buffer, out, row);
  if (ret < 0) {
    gst_clear_buffer (&out);
    if (ret != -EAGAIN)
      gst_tfx_row_to_cpu (row, ret);
    if (ret != -EAGAIN && ret != -ENOTSUP)
      *err = ret;
    return FALSE;
  }
  gst_tfx_cuda_flow_copy_metadata (*buffer, out, &priv->info, n_frames);
  gst_buffer_unref (*buffer);
  *buffer = out;
  return TRUE;
}

gboolean
gst_tfx_cuda_flow_replace (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *silence;

  if (!gst_tfx_cuda_flow_has_device_memory (*buffer))
    return FALSE;
  silence = gst_tfx_buffer_new (&priv->info, n_frames);
  if (!silence)
    return FALSE;
  gst_buffer_memset (silence, 0, 0, -1);
  gst_tfx_cuda_flow_copy_metadata (*buffer, silence, &priv->info, n_frames);
  GST_ELEMENT_WARNING (self, RESOURCE, READ,
      ("%" G_GSIZE_FORMAT " frames at %" GST_TIME_FORMAT " are lost with the "
       "CUDA device that they were on: silence takes their place.",
          n_frames, GST_TIME_ARGS (GST_BUFFER_PTS (*buffer))),
      (NULL));
  gst_buffer_unref (*buffer);
  *buffer = silence;
  return TRUE;
}

/* ---- delivery --------------------------------------------------------------------- */

/* By the CPU, through the memories' own staging. */
static gboolean
gst_tfx_cuda_flow_copy (GstTfxElement *self, GstBuffer *from, GstBuffer *to)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstAudioMeta *from_meta = gst_buffer_get_audio_meta (from);
  GstAudioMeta *to_meta = gst_buffer_get_audio_meta (to);
  GstAudioBuffer source, target;
  gboolean ok = FALSE;

  if (!gst_audio_buffer_map (&source,
          from_meta ? &from_meta->info : &priv->info, from, GST_MAP_READ))
    return FALSE;
  if (gst_audio_buffer_map (&target, to_meta ? &to_meta->info : &priv->info, to,
          GST_MAP_WRITE)) {
    for (gint i = 0; i < source.n_planes; i++)
      memcpy (target.planes[i], source.planes[i],
          GST_AUDIO_BUFFER_PLANE_SIZE (&source));
    gst_audio_buffer_unmap (&target);
    ok = TRUE;
  }
  gst_audio_buffer_unmap (&source);
  return ok;
}

static gboolean
gst_tfx_cuda_flow_move (GstTfxElement *self, GstBuffer **buffer, gsize n_frames,
    gboolean to_device)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstBuffer *out = to_device ? gst_tfx_cuda_flow_new_device (self, n_frames)
                             : gst_tfx_buffer_new (&priv->info, n_frames);

  if (!out || !gst_tfx_cuda_flow_copy (self, *buffer, out)) {
    gst_clear_buffer (&out);
    return FALSE;
  }
  if (to_device)
    gst_tfx_counts_add (&priv->counts.n_uploads, 1);
  else
    gst_tfx_counts_add (&priv->counts.n_downloads, 1);
  gst_tfx_cuda_flow_copy_metadata (*buffer, out, &priv->info, n_frames);
  gst_buffer_unref (*buffer);
  *buffer = out;
  return TRUE;
}

gboolean
gst_tfx_cuda_flow_upload (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames)
{
  const GstTfxDevicePlace *place = &gst_tfx_element_get_private (self)->place;

  return gst_tfx_cuda_buffer_is_device (*buffer, place->context) ||
         (!gst_tfx_cuda_flow_has_device_memory (*buffer) &&
             gst_tfx_cuda_flow_move (self, buffer, n_frames, TRUE));
}

gboolean
gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames)
{
  const GstTfxDevicePlace *place = &gst_tfx_element_get_private (self)->place;
  gboolean is_device = gst_tfx_cuda_flow_has_device_memory (*buffer);

  if (is_device == place->out_cuda ||
      gst_tfx_cuda_flow_move (self, buffer, n_frames, place->out_cuda))
    return TRUE;
  /* What follows may take what there is. */
  if (place->out_cuda)
    gst_tfx_device_fall_back (self, -ENOMEM);
  if (is_device == place->out_cuda)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED,
      ("%" G_GSIZE_FORMAT " frames cannot be moved to %s memory, and the next "
       "element accepts no other.",
          n_frames, place->out_cuda ? "CUDA" : "system"),
      (NULL));
  return FALSE;
}

/* ---- upstream ---------------------------------------------------------------------- */

/* How long the buffers are going to be is not known. */
#define POOL_FRAMES 1024

gboolean
gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query)
{
  GstTfxDevicePlace *place = &gst_tfx_element_get_private (self)->place;
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
  pool = gst_tfx_cuda_pool_new (place->context);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, 0, 0);
  ok = gst_buffer_pool_set_config (pool, config);
  if (ok)
    gst_query_add_allocation_pool (query, pool, size, 0, 0);
  gst_object_unref (pool);
  return ok;
}
