/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevice.c: the device that an element filters on, and the memory of its
 * buffers.
 */
#include "gsttfxdevice.h"

#include <errno.h>
#include <stdlib.h>

#include "gsttfxmemory.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* The longest time between two attempts on a device that failed: 2^6
 * seconds. */
#define MOST_DOUBLINGS 6

/* Reads what "auto" is in this process from TFX_DEVICE: auto, cpu or cuda. */
static gpointer
gst_tfx_device_read_environment (gpointer data)
{
  const gchar *value = secure_getenv ("TFX_DEVICE");
  GEnumClass *klass = g_type_class_ref (GST_TYPE_TFX_DEVICE);
  GEnumValue *named =
      value && *value ? g_enum_get_value_by_nick (klass, value) : NULL;

  if (value && *value && !named)
    g_warning ("TFX_DEVICE=%s: must be auto, cpu or cuda", value);
  g_type_class_unref (klass);
  return GINT_TO_POINTER (named ? named->value : GST_TFX_DEVICE_AUTO);
}

GstTfxDevice
gst_tfx_device_get_setting (GstTfxElement *self)
{
  static GOnce once = G_ONCE_INIT;
  GstTfxDevice set =
      g_atomic_int_get (&gst_tfx_element_get_private (self)->device_setting);

  if (set != GST_TFX_DEVICE_AUTO)
    return set;
  return GPOINTER_TO_INT (
      g_once (&once, gst_tfx_device_read_environment, NULL));
}

GstTfxMemory
gst_tfx_device_get_memory (GstTfxElement *self)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  GstTfxDevice setting = gst_tfx_device_get_setting (self);
  GstTfxCudaState state = g_atomic_int_get (&device->state);

  if (state == GST_TFX_CUDA_GONE)
    return GST_TFX_MEMORY_SYSTEM;
  /* A playing stream does not wait for the driver.  A peer that supports only
   * CUDA memory gets its caps when the device is open. */
  if (g_atomic_int_get (&device->is_opening) ||
      (setting != GST_TFX_DEVICE_CPU &&
          g_atomic_int_get (&device->seen_setting) != 0 &&
          !gst_tfx_cuda_is_known ()))
    return GST_TFX_MEMORY_SYSTEM_FIRST;
  /* The device was set while playing: buffers are in CUDA memory until the
   * neighbours have renegotiated.  Otherwise the driver is not even opened. */
  if (setting == GST_TFX_DEVICE_CPU)
    return g_atomic_pointer_get (&device->cuda) ? GST_TFX_MEMORY_SYSTEM_FIRST
                                                : GST_TFX_MEMORY_SYSTEM;
  if (!gst_tfx_cuda_is_available (NULL))
    return GST_TFX_MEMORY_SYSTEM;
  if (state == GST_TFX_CUDA_FINE &&
      (setting == GST_TFX_DEVICE_CUDA || g_atomic_int_get (&device->is_chosen)))
    return GST_TFX_MEMORY_CUDA_FIRST;
  return GST_TFX_MEMORY_SYSTEM_FIRST;
}

/* ---- the backend --------------------------------------------------------- */

/* Posts a warning once if the application asked for CUDA; with device=auto it
 * did not. */
static void
gst_tfx_device_report_missing (GstTfxElement *self, const gchar *why)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;

  GST_INFO_OBJECT (self, "no CUDA: %s", why);
  if (gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_CUDA ||
      device->was_warned)
    return;
  device->was_warned = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
      ("device=cuda is not available: %s. Filtering on the CPU.", why), (NULL));
}

/* Takes the result of the background task that opens the device.  Returns FALSE
 * if there is none yet. */
static gboolean
gst_tfx_device_take_opened (GstTfxElement *self, gboolean may_wait)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  gchar *why;

  if (!gst_tfx_opener_take (self, may_wait, &why))
    return FALSE;
  if (device->cuda) {
    GST_INFO_OBJECT (self, "CUDA device %d, %s, opened while playing",
        tfx_cuda_device (device->cuda), tfx_cuda_name (device->cuda));
  } else {
    g_atomic_int_set (&device->state, GST_TFX_CUDA_GONE);
    gst_tfx_device_report_missing (self, why);
  }
  g_free (why);
  return TRUE;
}

/* Finds the context and the backend, once per stream.  Free *why with
 * g_free(). */
static gboolean
gst_tfx_device_open (GstTfxElement *self, gchar **why)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  gint id =
      g_atomic_int_get (&gst_tfx_element_get_private (self)->cuda_device_id);

  *why = NULL;
  gst_tfx_device_take_opened (self, TRUE);
  if (device->cuda)
    return TRUE;
  if (gst_tfx_cuda_ensure_context (GST_ELEMENT (self), id, &device->context,
          why))
    g_atomic_pointer_set (&device->cuda,
        gst_tfx_cuda_for_context (device->context, why));
  if (!device->cuda) {
    g_atomic_int_set (&device->state, GST_TFX_CUDA_GONE);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "CUDA device %d, %s", tfx_cuda_device (device->cuda),
      tfx_cuda_name (device->cuda));
  return TRUE;
}

/* Opens the device unless it failed before.  Reports a failure. */
gboolean
gst_tfx_device_try_open (GstTfxElement *self)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  const gchar *missing;
  gchar *why;

  if (g_atomic_int_get (&device->state) != GST_TFX_CUDA_FINE)
    return FALSE;
  if (!gst_tfx_cuda_is_available (&missing)) {
    g_atomic_int_set (&device->state, GST_TFX_CUDA_GONE);
    gst_tfx_device_report_missing (self, missing);
    return FALSE;
  }
  if (gst_tfx_device_open (self, &why))
    return TRUE;
  gst_tfx_device_report_missing (self, why);
  g_free (why);
  return FALSE;
}

void
gst_tfx_device_reconfigure (GstTfxElement *self)
{
  gst_pad_mark_reconfigure (gst_tfx_element_get_private (self)->src);
  gst_tfx_element_ask_upstream (self);
}

/* Handles a change of the device property. */
static void
gst_tfx_device_see_setting (GstTfxElement *self, GstTfxDevice setting)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  const gint seen = device->seen_setting;
  const gboolean changed = seen != 0 && seen != (gint)setting + 1;

  g_atomic_int_set (&device->seen_setting, setting + 1);
  if (setting != GST_TFX_DEVICE_CUDA)
    device->was_warned = FALSE;
  device->may_have_cuda_memory = setting != GST_TFX_DEVICE_CPU &&
                                 !g_atomic_int_get (&device->is_opening) &&
                                 ((seen != 0 && !gst_tfx_cuda_is_known ()) ||
                                     gst_tfx_cuda_is_available (NULL));
  if (!changed)
    return;
  GST_DEBUG_OBJECT (self, "device set to %s",
      setting == GST_TFX_DEVICE_CUDA  ? "cuda"
      : setting == GST_TFX_DEVICE_CPU ? "cpu"
                                      : "auto");
  /* Buffers in CUDA memory may be on their way. */
  device->may_have_cuda_memory |= device->cuda != NULL;
  g_atomic_int_set (&device->is_chosen, FALSE);
  gst_tfx_device_reconfigure (self);
}

/* A device that is set while the element plays is opened in a background task. */
void
gst_tfx_device_move (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  const GstTfxDevice setting = gst_tfx_device_get_setting (self);
  const gboolean is_opening =
      setting == GST_TFX_DEVICE_CUDA &&
      (g_atomic_int_get (&device->is_opening) ||
          (priv->is_running && !device->cuda &&
              g_atomic_int_get (&device->state) == GST_TFX_CUDA_FINE &&
              gst_tfx_opener_start (self)));
  gboolean is_wanted;

  gst_tfx_device_see_setting (self, setting);
  is_wanted =
      setting == GST_TFX_DEVICE_CUDA ||
      (setting == GST_TFX_DEVICE_AUTO &&
          (g_atomic_int_get (&device->is_chosen) || device->from_device));
  device->runs = is_wanted && !is_opening && gst_tfx_device_try_open (self);
  GST_DEBUG_OBJECT (self, "filtering on %s",
      device->runs ? "the CUDA device" : "the CPU");
  if (priv->filter)
    gst_tfx_shared_filter_set_backend (priv->filter,
        device->runs ? tfx_cuda_backend (device->cuda) : tfx_cpu_backend (),
        device->runs ? (GstObject *)device->context : NULL);
}

void
gst_tfx_device_update (GstTfxElement *self)
{
  const gboolean is_opened = gst_tfx_device_take_opened (self, FALSE);

  if (is_opened || gst_tfx_element_get_private (self)->device.seen_setting !=
                       (gint)gst_tfx_device_get_setting (self) + 1)
    gst_tfx_device_move (self);
  if (is_opened)
    gst_tfx_device_reconfigure (self);
}

/* ---- start and stop ------------------------------------------------------ */

void
gst_tfx_device_start (GstTfxElement *self)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;

  g_atomic_int_set (&device->state, GST_TFX_CUDA_FINE);
  g_atomic_int_set (&device->is_chosen, FALSE);
  g_atomic_int_set (&device->seen_setting, 0);
  device->was_warned = FALSE;
  device->n_failures = 0;
  device->in_cuda = device->out_cuda = device->has_cuda_memory = FALSE;
  device->seen_frames = device->last_frames = 0;
  gst_tfx_device_see_setting (self, gst_tfx_device_get_setting (self));
  /* Before the first caps query, whose answer depends on it. */
  if (gst_tfx_device_get_setting (self) == GST_TFX_DEVICE_CUDA)
    gst_tfx_device_try_open (self);
}

static void
gst_tfx_device_drop_pool (GstTfxDeviceState *device)
{
  if (device->pool)
    gst_buffer_pool_set_active (device->pool, FALSE);
  gst_clear_object (&device->pool);
}

void
gst_tfx_device_stop (GstTfxElement *self)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  gchar *why = NULL;
  TfxCuda *cuda;

  gst_tfx_opener_take (self, TRUE, &why);
  g_free (why);
  gst_tfx_device_drop_pool (device);
  device->runs = FALSE;
  cuda = device->cuda;
  g_atomic_pointer_set (&device->cuda, NULL);
  tfx_cuda_unref (&cuda);
  g_atomic_int_set (&device->state, GST_TFX_CUDA_FINE);
  g_atomic_int_set (&device->is_chosen, FALSE);
}

gboolean
gst_tfx_device_set_caps (GstTfxElement *self, GstCaps *in, GstCaps *out)
{
  GstTfxDeviceState *device = &gst_tfx_element_get_private (self)->device;
  gchar *why;

  device->in_cuda = device->from_device = gst_tfx_memory_is_cuda (in);
  device->out_cuda = gst_tfx_memory_is_cuda (out);
  device->has_cuda_memory = device->in_cuda || device->out_cuda;
  gst_tfx_device_drop_pool (device);
  GST_DEBUG_OBJECT (self, "input in %s memory, output in %s memory",
      device->in_cuda ? "CUDA" : "system",
      device->out_cuda ? "CUDA" : "system");
  if (!device->has_cuda_memory)
    return TRUE;
  device->may_have_cuda_memory = TRUE;
  if (gst_tfx_device_open (self, &why))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
      ("Buffers in CUDA memory cannot be used: %s.", why), (NULL));
  g_free (why);
  return FALSE;
}

/* ---- failure ------------------------------------------------------------- */

void
gst_tfx_device_fall_back (GstTfxElement *self, gint err)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;
  gboolean had_state = priv->is_running, is_lost;
  GstCaps *caps, *of_system;
  gchar text[512];

  if ((!device->runs && !device->out_cuda) || err == -EINVAL)
    return;
  /* It was reported before. */
  if (!device->runs && g_atomic_int_get (&device->state) != GST_TFX_CUDA_FINE)
    return;
  device->runs = FALSE;
  tfx_cuda_error (device->cuda, text, sizeof text);
  if (!*text)
    g_strlcpy (text, g_strerror (-err), sizeof text);
  if (priv->filter)
    gst_tfx_shared_filter_set_backend (priv->filter, tfx_cpu_backend (), NULL);
  is_lost = tfx_cuda_is_lost (device->cuda);
  g_atomic_int_set (&device->state,
      is_lost ? GST_TFX_CUDA_GONE : GST_TFX_CUDA_FAILED);
  device->n_until_retry = (guint64)priv->spec.rate_hz
                          << MIN (device->n_failures, MOST_DOUBLINGS);
  if (device->n_failures++ > 0 && !is_lost)
    GST_WARNING_OBJECT (self, "CUDA failed again: %s", text);
  else
    GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
        ("CUDA failed: %s. Filtering continues on the CPU%s.", text,
            !had_state ? ""
            : is_lost  ? "; the filter state was lost with the device"
                       : " with the same state"),
        (NULL));
  /* Switches the source pad to system memory, if the downstream peer accepts it.
   * gst_tfx_device_set_caps() sends caps itself. */
  caps = gst_pad_get_current_caps (priv->src);
  if (!device->is_setting && device->out_cuda && caps) {
    of_system = gst_tfx_memory_to_system (caps);
    if (gst_pad_peer_query_accept_caps (priv->src, of_system) &&
        gst_pad_push_event (priv->src, gst_event_new_caps (of_system))) {
      GST_INFO_OBJECT (self, "output is in system memory from now on");
      device->out_cuda = FALSE;
      device->has_cuda_memory = device->in_cuda;
    }
    gst_caps_unref (of_system);
  }
  gst_clear_caps (&caps);
  gst_tfx_device_reconfigure (self);
}

void
gst_tfx_device_retry (GstTfxElement *self, gsize n_frames)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDeviceState *device = &priv->device;

  if (g_atomic_int_get (&device->state) != GST_TFX_CUDA_FAILED)
    return;
  if (device->n_until_retry > n_frames) {
    device->n_until_retry -= n_frames;
    return;
  }
  GST_INFO_OBJECT (self, "trying CUDA again");
  g_atomic_int_set (&device->state, GST_TFX_CUDA_FINE);
  device->seen_frames = 0;
  gst_tfx_device_move (self);
  gst_tfx_device_reconfigure (self);
}
