/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdeviceauto.c: the choice of device=auto, and the preparations that keep
 * the first buffer from waiting.
 *
 * The work per buffer is known when buffers arrive, and changes with the
 * properties.  A filter can change its backend between any two buffers, but
 * opening a device takes long.  So when caps are set, the element decides for
 * long buffers whether CUDA could ever be worthwhile, and opens the device
 * then.  It decides for the actual buffers when two in a row have the same
 * length, and when the filters change.
 */
#include <math.h>

#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Hysteresis: the gain that a running stream needs to change the backend. */
#define ENTER_RATIO 1.5
#define LEAVE_RATIO 0.75

/* Elements upstream whose filters run here choose the same memory. */
static void
gst_tfx_device_tell_row (GstTfxElement *self, gboolean is_chosen)
{
  GstTfxElement *upstream = gst_tfx_fusion_find_upstream (self);

  g_atomic_int_set (&gst_tfx_element_get_private (self)->device.is_chosen,
      is_chosen);
  if (upstream)
    gst_tfx_device_tell_row (upstream, is_chosen);
  gst_clear_object (&upstream);
}

/* Whether CUDA is worthwhile for the last plan in buffers of n_frames.  The
 * filters of the plan are locked. */
static gboolean
gst_tfx_device_is_worthwhile (GstTfxElement *self, gsize n_frames,
    gboolean from_device)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  const TfxPlan *plan = priv->filter->plan;
  const gint id = device->cuda ? tfx_cuda_device (device->cuda)
                               : g_atomic_int_get (&priv->cuda_device_id);
  const TfxCudaJob run = { .n_frames = n_frames,
    .from_device = from_device,
    .to_device = device->out_cuda };
  /* The transfers around a run on the CPU. */
  const TfxCudaJob moves = { .n_frames = n_frames,
    .from_device = !from_device,
    .to_device = !device->out_cuda,
    .only_moves = true };
  gdouble cpu_ns = 0.0, cuda_ns;
  TfxCudaCard card;

  if (!plan || tfx_cuda_get_card (id, &card) < 0)
    return FALSE;
  if (from_device || device->out_cuda)
    tfx_cuda_estimate (&card, plan, &moves, &cpu_ns);
  cpu_ns += n_frames * tfx_plan_cost (plan, n_frames);
  if (!tfx_cuda_estimate (&card, plan, &run, &cuda_ns))
    cuda_ns = INFINITY;
  GST_DEBUG_OBJECT (self,
      "%" G_GSIZE_FORMAT " frames: %.0f ns on the CPU, %.0f ns on the device",
      n_frames, cpu_ns, cuda_ns);
  return cpu_ns > cuda_ns * (g_atomic_int_get (&device->is_chosen)
                                    ? LEAVE_RATIO
                                    : ENTER_RATIO);
}

/* Whether the last decision was made for such a buffer. */
static gboolean
gst_tfx_device_has_considered (GstTfxElementPrivate *priv, gsize n_frames,
    gboolean from_device)
{
  const GstTfxDeviceState *device = &priv->device;

  return device->seen_stages == priv->counts.n_stages &&
         device->seen_sections == priv->counts.n_sections &&
         device->seen_frames == n_frames && device->from_device == from_device;
}

gboolean
gst_tfx_device_stays (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  return priv->device.runs &&
         (gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO ||
             gst_tfx_device_has_considered (priv, n_frames, FALSE));
}

void
gst_tfx_device_consider (GstTfxElement *self, GstBuffer *buffer, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  TfxFilter *filter = priv->filter->filter;
  const gboolean is_usual = n_frames == device->last_frames;
  gboolean from_device, is_ready, to_cuda;

  if (!device->cuda || gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO)
    return;
  from_device = gst_tfx_cuda_buffer_is_device (buffer, device->context);
  device->last_frames = n_frames;
  if (gst_tfx_device_has_considered (priv, n_frames, from_device))
    return;
  /* A single buffer of another length says little about later ones. */
  if (!is_usual || g_atomic_int_get (&device->state) != GST_TFX_CUDA_FINE)
    return;
  tfx_filter_lock (filter);
  is_ready = priv->filter->plan && !tfx_filter_is_changing (filter);
  to_cuda =
      is_ready && gst_tfx_device_is_worthwhile (self, n_frames, from_device);
  tfx_filter_unlock (filter);
  if (!is_ready)
    return;
  device->from_device = from_device;
  /* Samples on the device are filtered there. */
  to_cuda |= from_device;
  if (to_cuda != device->runs) {
    GST_INFO_OBJECT (self, "device=auto chooses %s",
        to_cuda ? "CUDA" : "the CPU");
    gst_tfx_device_tell_row (self, to_cuda);
    gst_tfx_device_move (self);
    gst_tfx_device_reconfigure (self);
  }
  device->seen_stages = priv->counts.n_stages;
  device->seen_sections = priv->counts.n_sections;
  device->seen_frames = n_frames;
}

/* Makes the plan of the row for the first buffer.  On a device that loads and
 * starts the kernels, and allocates memory.  Returns whether CUDA is worthwhile
 * for buffers of one second. */
static gboolean
gst_tfx_device_prepare (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  GstTfxMembers members = { .n = 0 };
  gboolean is_worthwhile = FALSE;
  GstTfxRow row;
  gint err;

  gst_tfx_fusion_list_row (self, &members);
  GST_DEBUG_OBJECT (self, "preparing %" G_GSIZE_FORMAT " filters", members.n);
  row = (GstTfxRow){ members.filters, members.n, priv->filter };
  gst_tfx_row_lock (&row);
  err = members.is_running
            ? gst_tfx_row_compile (&row)
            : gst_tfx_opener_warm_up (&row, &priv->spec, device->cuda);
  if (err == 0 && gst_tfx_device_get_setting (self) == GST_TFX_DEVICE_AUTO &&
      !device->runs)
    is_worthwhile = gst_tfx_device_is_worthwhile (self, priv->spec.rate_hz,
        device->from_device);
  err = priv->filter->counts.error;
  gst_tfx_row_unlock (&row);
  if (err < 0)
    gst_tfx_device_fall_back (self, err);
  return is_worthwhile;
}

void
gst_tfx_device_switch_backend (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  GstClockTime start = gst_util_get_timestamp ();

  gst_tfx_device_move (self);
  /* An element that defers its filter needs nothing; a running stream is not
   * interrupted. */
  if (!device->may_have_cuda_memory || priv->is_running ||
      gst_tfx_fusion_defers (self))
    return;
  /* Open and prepare a device now if it could be worthwhile for some buffer
   * length, because a running stream cannot wait for it.  Buffers longer than a
   * second are rare. */
  if (gst_tfx_device_prepare (self) && gst_tfx_device_try_open (self)) {
    gst_tfx_shared_filter_set_backend (priv->filter,
        tfx_cuda_backend (device->cuda), (GstObject *)device->context);
    device->runs = TRUE;
    gst_tfx_device_prepare (self);
    gst_tfx_device_move (self);
  }
  GST_INFO_OBJECT (self, "ready after %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gst_util_get_timestamp () - start));
}
