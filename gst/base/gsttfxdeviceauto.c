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
#include "gsttfxcost.h"
#include "gsttfxcudabuffer.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* ---- rows ---------------------------------------------------------------- */

/* Elements upstream whose filters run here choose the same memory. */
static void
gst_tfx_device_tell_row (GstTfxElement *self, gboolean is_chosen)
{
  GstTfxElement *upstream = gst_tfx_device_row_find_upstream (self);

  g_atomic_int_set (&gst_tfx_element_get_private (self)->device.is_chosen,
      is_chosen);
  if (upstream)
    gst_tfx_device_tell_row (upstream, is_chosen);
  gst_clear_object (&upstream);
}

/* ---- device=auto --------------------------------------------------------- */

/* Whether CUDA is worthwhile for the last plan in buffers of n_frames.  The
 * filters of the plan are locked. */
static gboolean
gst_tfx_device_is_worthwhile (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  GstTfxBufferCost cost = { .plan = priv->filter->plan,
    .n_frames = n_frames,
    .in_cuda = device->from_device,
    .out_cuda = device->out_cuda };

  if (!cost.plan ||
      tfx_cuda_get_card (device->cuda
                             ? tfx_cuda_device (device->cuda)
                             : g_atomic_int_get (&priv->cuda_device_id),
          &cost.card) < 0)
    return FALSE;
  GST_DEBUG_OBJECT (self,
      "%" G_GSIZE_FORMAT " frames: %.0f ns on the CPU, %.0f ns on the device",
      n_frames, gst_tfx_cost_cpu (&cost), gst_tfx_cost_cuda (&cost));
  return gst_tfx_cost_is_worthwhile (&cost,
      g_atomic_int_get (&device->is_chosen));
}

/* Decides for the running filter.  Returns FALSE if it has no plan, or is
 * changing. */
static gboolean
gst_tfx_device_ask (GstTfxElement *self, gsize n_frames,
    gboolean *is_worthwhile)
{
  GstTfxSharedFilter *filter = gst_tfx_element_get_private (self)->filter;
  gboolean ok;

  tfx_filter_lock (filter->filter);
  ok = filter->plan && !tfx_filter_is_changing (filter->filter);
  if (ok)
    *is_worthwhile = gst_tfx_device_is_worthwhile (self, n_frames);
  tfx_filter_unlock (filter->filter);
  return ok;
}

/* Moves the row to CUDA or back. */
static void
gst_tfx_device_go (GstTfxElement *self, gboolean to_cuda)
{
  GST_INFO_OBJECT (self, "device=auto chooses %s",
      to_cuda ? "CUDA" : "the CPU");
  gst_tfx_device_tell_row (self, to_cuda);
  gst_tfx_device_move (self);
  gst_tfx_device_reconfigure (self);
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
  gboolean is_usual = n_frames == device->last_frames;
  gboolean from_device, was_from_device = device->from_device;
  gboolean to_cuda;

  if (!device->cuda || gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_AUTO)
    return;
  from_device = gst_tfx_cuda_buffer_is_device (buffer, device->context);
  device->last_frames = n_frames;
  if (gst_tfx_device_has_considered (priv, n_frames, from_device))
    return;
  /* A single buffer of another length says little about later ones. */
  if (!is_usual || g_atomic_int_get (&device->state) != GST_TFX_CUDA_FINE)
    return;
  device->from_device = from_device;
  if (!gst_tfx_device_ask (self, n_frames, &to_cuda)) {
    device->from_device = was_from_device;
    return;
  }
  /* Samples on the device are filtered there. */
  to_cuda = to_cuda || from_device;
  if (to_cuda != device->runs)
    gst_tfx_device_go (self, to_cuda);
  device->seen_stages = priv->counts.n_stages;
  device->seen_sections = priv->counts.n_sections;
  device->seen_frames = n_frames;
}

/* ---- before the first buffer --------------------------------------------- */

/* Makes the plan of the row for the first buffer.  On a device that loads and
 * starts the kernels, and allocates memory.  Returns whether CUDA is worthwhile
 * for buffers of one second. */
static gboolean
gst_tfx_device_prepare (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceRow members = { .n = 0 };
  gboolean is_worthwhile = FALSE;
  GstTfxRow row;
  gint err;

  gst_tfx_device_row_list (self, &members);
  GST_DEBUG_OBJECT (self, "preparing %" G_GSIZE_FORMAT " filters", members.n);
  row = (GstTfxRow){ members.filters, members.n, priv->filter };
  gst_tfx_row_lock (&row);
  err = members.is_running ? gst_tfx_row_compile (&row)
                           : gst_tfx_warm_up_compile (&row, priv->device.cuda);
  if (err == 0 && gst_tfx_device_get_setting (self) == GST_TFX_DEVICE_AUTO &&
      !priv->device.runs)
    is_worthwhile = gst_tfx_device_is_worthwhile (self, priv->spec.rate_hz);
  if (!members.is_running && gst_tfx_row_is_on_device (&row))
    gst_tfx_warm_up_run (&row, &priv->spec);
  err = priv->filter->counts.error;
  gst_tfx_row_unlock (&row);
  if (err < 0)
    gst_tfx_device_fall_back (self, err);
  return is_worthwhile;
}

/* Prepares the device that device=auto may choose later. */
static void
gst_tfx_device_warm_up (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;

  gst_tfx_shared_filter_set_backend (priv->filter,
      tfx_cuda_backend (device->cuda), (GstObject *)device->context);
  device->runs = TRUE;
  gst_tfx_device_prepare (self);
  gst_tfx_device_move (self);
}

void
gst_tfx_device_switch_backend (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstClockTime start = gst_util_get_timestamp ();

  gst_tfx_device_move (self);
  /* An element that defers its filter needs nothing; a running stream is not
   * interrupted. */
  if (!priv->device.may_have_cuda_memory || priv->is_running ||
      gst_tfx_fusion_defers (self))
    return;
  /* Open a device now if it could be worthwhile for some buffer length, because
   * a running stream cannot wait for it.  Buffers longer than a second are
   * rare. */
  if (gst_tfx_device_prepare (self) && gst_tfx_device_try_open (self))
    gst_tfx_device_warm_up (self);
  GST_INFO_OBJECT (self, "ready after %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gst_util_get_timestamp () - start));
}
