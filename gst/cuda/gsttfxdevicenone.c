/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevicenone.c: gsttfxdevice.h and gsttfxcudaflow.h in a build without
 * CUDA.
 */
#include "gsttfxcudaflow.h"
#include "gsttfxprivate.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

void
gst_tfx_device_start (GstTfxFilter *self)
{
  gst_tfx_filter_get_private (self)->place.told = FALSE;
}

void
gst_tfx_device_stop (GstTfxFilter *self)
{
}

GstObject *
gst_tfx_device_ref_context (GstTfxFilter *self)
{
  return NULL;
}

void
gst_tfx_device_forget (GstTfxFilter *self)
{
}

GstTfxMemory
gst_tfx_device_get_memory (GstTfxFilter *self)
{
  return GST_TFX_MEMORY_SYSTEM;
}

gboolean
gst_tfx_device_set_caps (GstTfxFilter *self, GstCaps *in, GstCaps *out)
{
  return TRUE;
}

const TfxBackend *
gst_tfx_device_choose (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  gboolean is_asked =
      g_atomic_int_get ((gint *)&priv->device) == GST_TFX_DEVICE_CUDA;
  const gchar *why;

  if (is_asked && !priv->place.told && !gst_tfx_cuda_is_available (&why))
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("device=cuda cannot be met: %s. The CPU filters instead.", why),
        (NULL));
  priv->place.told = is_asked;
  return tfx_cpu_backend ();
}

void
gst_tfx_device_consider (GstTfxFilter *self, gsize n_frames)
{
}

void
gst_tfx_device_settle (GstTfxFilter *self)
{
}

gboolean
gst_tfx_device_fall_back (GstTfxFilter *self, gint err)
{
  return FALSE;
}

void
gst_tfx_device_set_context (GstTfxFilter *self, GstContext *context)
{
}

gboolean
gst_tfx_device_answer_query (GstTfxFilter *self, GstQuery *query)
{
  return FALSE;
}

/* No buffer is ever in CUDA memory. */

gboolean
gst_tfx_cuda_flow_process (GstTfxFilter *self, GstBuffer **buffer,
    gsize n_frames, gboolean drain)
{
  return FALSE;
}

gboolean
gst_tfx_cuda_flow_deliver (GstTfxFilter *self, GstBuffer **buffer,
    gsize n_frames)
{
  return TRUE;
}

gboolean
gst_tfx_cuda_flow_propose (GstTfxFilter *self, GstQuery *query)
{
  return FALSE;
}
