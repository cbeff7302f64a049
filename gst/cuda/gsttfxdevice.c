/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevice.c: where an element filters, and in which memory its buffers
 * are.
 */
#include "gsttfxdevice.h"

#include <errno.h>

#include "gsttfxmemory.h"
#include "gsttfxelementprivate.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

static GstTfxDevicePlace *
gst_tfx_device_place (GstTfxElement *self)
{
  return &gst_tfx_element_get_private (self)->place;
}

/* TFX_DEVICE says what "auto" is in this process: cpu or cuda. */
static gpointer
gst_tfx_device_read_environment (gpointer data)
{
  const gchar *value = g_getenv ("TFX_DEVICE");
  GEnumClass *klass = g_type_class_ref (GST_TYPE_TFX_DEVICE);
  GEnumValue *named =
      value && *value ? g_enum_get_value_by_nick (klass, value) : NULL;

  if (value && *value && !named)
    g_warning ("TFX_DEVICE=%s: it must be auto, cpu or cuda", value);
  g_type_class_unref (klass);
  return GINT_TO_POINTER (named ? named->value : GST_TFX_DEVICE_AUTO);
}

GstTfxDevice
gst_tfx_device_get_setting (GstTfxElement *self)
{
  static GOnce once = G_ONCE_INIT;
  GstTfxDevice set =
      g_atomic_int_get (&gst_tfx_element_get_private (self)->device);

  if (set != GST_TFX_DEVICE_AUTO)
    return set;
  return GPOINTER_TO_INT (
      g_once (&once, gst_tfx_device_read_environment, NULL));
}

GstTfxMemory
gst_tfx_device_get_memory (GstTfxElement *self)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);
  GstTfxDevice setting = gst_tfx_device_get_setting (self);
  GstTfxCudaState state = g_atomic_int_get (&place->state);

  if (state == GST_TFX_CUDA_GONE)
    return GST_TFX_MEMORY_SYSTEM;
  /* Set while playing: until the others have asked again their buffers are in
   * CUDA memory still.  Else the driver is not even looked for. */
  if (setting == GST_TFX_DEVICE_CPU)
    return g_atomic_pointer_get (&place->cuda) ? GST_TFX_MEMORY_SYSTEM_FIRST
                                               : GST_TFX_MEMORY_SYSTEM;
  if (!gst_tfx_cuda_is_available (NULL))
    return GST_TFX_MEMORY_SYSTEM;
  if (state == GST_TFX_CUDA_FINE &&
      (setting == GST_TFX_DEVICE_CUDA || g_atomic_int_get (&place->is_chosen)))
    return GST_TFX_MEMORY_CUDA_FIRST;
  return GST_TFX_MEMORY_SYSTEM_FIRST;
}

/* ---- the backend ---------------------------------------------------------------- */

/* A warning, once; of device=auto nobody has asked for CUDA. */
static void
gst_tfx_device_report_missing (GstTfxElement *self, const gchar *why)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);

  GST_INFO_OBJECT (self, "no CUDA: %s", why);
  if (gst_tfx_device_get_setting (self) != GST_TFX_DEVICE_CUDA || place->told)
    return;
  place->told = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
      ("device=cuda cannot be met: %s. The CPU filters instead.", why), (NULL));
}

/* Finds the context and the backend, once in a stream.  *why is to be freed. */
static gboolean
gst_tfx_device_open (GstTfxElement *self, gchar **why)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);
  gint id =
      g_atomic_int_get (&gst_tfx_element_get_private (self)->cuda_device_id);

  *why = NULL;
  if (place->cuda)
    return TRUE;
  if (gst_tfx_cuda_ensure_context (GST_ELEMENT (self), id, &place->context,
          why))
    place->cuda = gst_tfx_cuda_for_context (place->context, why);
  if (!place->cuda) {
    g_atomic_int_set (&place->state, GST_TFX_CUDA_GONE);
    return FALSE;
  }
  GST_INFO_OBJECT (self, "CUDA device %d, %s", tfx_cuda_device (place->cuda),
      tfx_cuda_name (place->cuda));
  return TRUE;
}

/* Opens the device unless it failed before, and says so. */
gboolean
gst_tfx_device_try_open (GstTfxElement *self)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);
  const gchar *missing;
  gchar *why;

  if (g_atomic_int_get (&place->state) != GST_TFX_CUDA_FINE)
    return FALSE;
  if (!gst_tfx_cuda_is_available (&missing)) {
    g_atomic_int_set (&place->state, GST_TFX_CUDA_GONE);
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
  gst_tfx_events_ask_upstream (self);
}

/* The application may have set another device. */
static void
gst_tfx_device_see_setting (GstTfxElement *self, GstTfxDevice setting)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);
  gboolean changed =
      place->seen_setting != 0 && place->seen_setting != (gint)setting + 1;

  place->seen_setting = setting + 1;
  if (setting != GST_TFX_DEVICE_CUDA)
    place->told = FALSE;
  place->may_have_cuda_memory =
      setting != GST_TFX_DEVICE_CPU && gst_tfx_cuda_is_available (NULL);
  if (!changed)
    return;
  /* Buffers in CUDA memory may be under way. */
  place->may_have_cuda_memory |= place->cuda != NULL;
  g_atomic_int_set (&place->is_chosen, FALSE);
  gst_tfx_device_reconfigure (self);
}

/* Says so if the backend is not the one that is asked for. */
static const TfxBackend *
gst_tfx_device_choose (GstTfxElement *self)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);
  GstTfxDevice setting = gst_tfx_device_get_setting (self);
  gboolean wanted;

  gst_tfx_device_see_setting (self, setting);
  wanted = setting == GST_TFX_DEVICE_CUDA ||
           (setting == GST_TFX_DEVICE_AUTO &&
               (g_atomic_int_get (&place->is_chosen) || place->from_device));
  place->runs = wanted && gst_tfx_device_try_open (self);
  return place->runs ? tfx_cuda_backend (place->cuda) : tfx_cpu_backend ();
}

/* ---- the life of a stream --------------------------------------------------------- */

void
gst_tfx_device_start (GstTfxElement *self)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);

  g_atomic_int_set (&place->state, GST_TFX_CUDA_FINE);
  g_atomic_int_set (&place->is_chosen, FALSE);
  place->seen_setting = 0;
  place->told = FALSE;
  place->in_cuda = place->out_cuda = place->has_cuda_memory = FALSE;
  place->noted_frames = 0;
  place->is_new = FALSE;
  gst_tfx_device_see_setting (self, gst_tfx_device_get_setting (self));
  /* Before caps are asked for, so that they say what is possible. */
  if (gst_tfx_device_get_setting (self) == GST_TFX_DEVICE_CUDA)
    gst_tfx_device_try_open (self);
}

static void
gst_tfx_device_drop_pool (GstTfxDevicePlace *place)
{
  if (place->pool)
    gst_buffer_pool_set_active (place->pool, FALSE);
  gst_clear_object (&place->pool);
}

void
gst_tfx_device_stop (GstTfxElement *self)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);

  gst_tfx_device_drop_pool (place);
  place->runs = FALSE;
  tfx_cuda_unref (&place->cuda);
  g_atomic_int_set (&place->state, GST_TFX_CUDA_FINE);
  g_atomic_int_set (&place->is_chosen, FALSE);
}

void
gst_tfx_device_forget (GstTfxElement *self)
{
  gst_clear_object (&gst_tfx_device_place (self)->context);
}

gboolean
gst_tfx_device_set_caps (GstTfxElement *self, GstCaps *in, GstCaps *out)
{
  GstTfxDevicePlace *place = gst_tfx_device_place (self);
  gchar *why;

  place->in_cuda = place->from_device = gst_tfx_memory_is_cuda (in);
  place->out_cuda = gst_tfx_memory_is_cuda (out);
  place->has_cuda_memory = place->in_cuda || place->out_cuda;
  gst_tfx_device_drop_pool (place);
  if (!place->in_cuda && !place->out_cuda)
    return TRUE;
  place->may_have_cuda_memory = TRUE;
  if (gst_tfx_device_open (self, &why))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
      ("Buffers in CUDA memory cannot be used: %s.", why), (NULL));
  g_free (why);
  return FALSE;
}

/* To the backend that is chosen now. */
void
gst_tfx_device_move (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  const TfxBackend *backend = gst_tfx_device_choose (self);

  if (priv->filter)
    gst_tfx_shared_filter_set_backend (priv->filter, backend,
        priv->place.runs ? (GstObject *)priv->place.context : NULL);
}

void
gst_tfx_device_update (GstTfxElement *self)
{
  if (gst_tfx_device_place (self)->seen_setting !=
      (gint)gst_tfx_device_get_setting (self) + 1)
    gst_tfx_device_move (self);
}

/* ---- failure ------------------------------------------------------------------------ */

/* What follows gets system memory from now on, if it takes it. */
static void
gst_tfx_device_leave_memory (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  GstCaps *caps = gst_pad_get_current_caps (priv->src), *of_system;

  /* The caps that are being set are sent after that. */
  if (place->is_setting || !place->out_cuda || !caps) {
    gst_tfx_device_reconfigure (self);
    gst_clear_caps (&caps);
    return;
  }
  of_system = gst_tfx_memory_to_system (caps);
  if (gst_pad_peer_query_accept_caps (priv->src, of_system) &&
      gst_pad_push_event (priv->src, gst_event_new_caps (of_system))) {
    place->out_cuda = FALSE;
    place->has_cuda_memory = place->in_cuda;
  }
  gst_tfx_device_reconfigure (self);
  gst_caps_unref (of_system);
  gst_caps_unref (caps);
}

gboolean
gst_tfx_device_fall_back (GstTfxElement *self, gint err)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);
  GstTfxDevicePlace *place = &priv->place;
  gboolean had_state = priv->is_running, is_lost;
  gchar text[512];

  if ((!place->runs && !place->out_cuda) || err == -EINVAL)
    return FALSE;
  place->runs = FALSE;
  tfx_cuda_error (place->cuda, text, sizeof text);
  if (!*text)
    g_strlcpy (text, g_strerror (-err), sizeof text);
  if (priv->filter)
    gst_tfx_shared_filter_set_backend (priv->filter, tfx_cpu_backend (), NULL);
  is_lost = tfx_cuda_is_lost (place->cuda);
  g_atomic_int_set (&place->state,
      is_lost ? GST_TFX_CUDA_GONE : GST_TFX_CUDA_FAILED);
  GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
      ("CUDA has failed: %s. The CPU filters from here on%s.", text,
          !had_state ? ""
          : is_lost  ? "; the state of the filter is lost with the device"
                     : ", with the filter's state"),
      (NULL));
  gst_tfx_device_leave_memory (self);
  return TRUE;
}

/* ---- contexts -------------------------------------------------------------------------- */

void
gst_tfx_device_set_context (GstTfxElement *self, GstContext *context)
{
  GstTfxElementPrivate *priv = gst_tfx_element_get_private (self);

  gst_tfx_cuda_set_context (GST_ELEMENT (self), context,
      g_atomic_int_get (&priv->cuda_device_id), &priv->place.context);
}

gboolean
gst_tfx_device_answer_query (GstTfxElement *self, GstQuery *query)
{
  return gst_tfx_cuda_answer_query (GST_ELEMENT (self), query,
      gst_tfx_device_place (self)->context);
}
