/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcuda.c: CUDA availability, and contexts that elements share.
 */
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "gsttfxcuda.h"

#define GST_CAT_DEFAULT gst_tfx_cuda_debug

GST_DEBUG_CATEGORY (gst_tfx_cuda_debug);

/* ---- availability -------------------------------------------------------- */

/* The soname of the library does not identify its ABI: between 1.22 and 1.24 a
 * function got one more argument and a class grew.  All parts of GStreamer have
 * the same version. */
static gchar *
gst_tfx_cuda_check_library (void)
{
  guint major, minor, micro, nano;
  GTypeQuery query;

  gst_version (&major, &minor, &micro, &nano);
  if (major != GST_VERSION_MAJOR || minor != GST_VERSION_MINOR)
    return g_strdup_printf ("the plugin was built against the CUDA library of "
                            "GStreamer %d.%d, and this is GStreamer %u.%u",
        GST_VERSION_MAJOR, GST_VERSION_MINOR, major, minor);

  g_type_query (GST_TYPE_CUDA_ALLOCATOR, &query);
  if (query.class_size != sizeof (GstCudaAllocatorClass) ||
      query.instance_size != sizeof (GstCudaAllocator))
    return g_strdup_printf ("the plugin was built against another CUDA library "
                            "of GStreamer than the one that is here (%u and %u "
                            "bytes to an allocator, not %u and %u)",
        query.class_size, query.instance_size,
        (guint)sizeof (GstCudaAllocatorClass),
        (guint)sizeof (GstCudaAllocator));
  return NULL;
}

static gchar *why_never; /* why no machine can use CUDA; NULL if one can */

gboolean
gst_tfx_cuda_init (void)
{
  static gsize once;

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (gst_tfx_cuda_debug, "tfxcuda", 0,
        "CUDA memory and contexts");
    why_never = gst_tfx_cuda_check_library ();
    if (why_never)
      GST_WARNING ("no CUDA: %s", why_never);
    g_once_init_leave (&once, 1);
  }
  return why_never == NULL;
}

static gsize is_open; /* atomic */

gboolean
gst_tfx_cuda_is_known (void)
{
  return !gst_tfx_cuda_init () || g_atomic_pointer_get (&is_open);
}

gboolean
gst_tfx_cuda_is_available (const gchar **why)
{
  static const gchar *why_not_here;
  const gchar *missing;

  if (gst_tfx_cuda_init () && g_once_init_enter (&is_open)) {
    if (!tfx_cuda_is_available (&why_not_here))
      GST_INFO ("no CUDA: %s", why_not_here);
    else if (!gst_cuda_load_library ())
      why_not_here =
          "the NVIDIA driver lacks what GStreamer's CUDA library needs of it";
    else
      gst_cuda_memory_init_once ();
    g_once_init_leave (&is_open, 1);
  }
  missing = why_never ? why_never : why_not_here;
  if (why)
    *why = missing;
  return missing == NULL;
}

/* ---- a backend for each context ------------------------------------------ */

static GMutex make_lock;

/* Of a context: its TfxCuda. */
static G_DEFINE_QUARK (gst - tfx - cuda, gst_tfx_cuda)

    /* Called when the context is disposed of; its handle is still valid. */
    static void gst_tfx_cuda_forget (gpointer data, GObject *context)
{
  TfxCuda *cuda = g_object_steal_qdata (context, gst_tfx_cuda_quark ());

  GST_DEBUG ("context %p is freed", context);
  tfx_cuda_unref (&cuda);
}

static void
gst_tfx_cuda_hold (gpointer context)
{
  gst_object_ref (context);
}

/* Under the lock.  The context owns the result. */
static TfxCuda *
gst_tfx_cuda_make (GstCudaContext *context, gchar **why)
{
  const TfxCudaOwner owner = { context, gst_tfx_cuda_hold, gst_object_unref };
  gchar text[512];
  TfxCuda *cuda;

  if (tfx_cuda_new_for_context (gst_cuda_context_get_handle (context), &cuda,
          text, sizeof text) < 0) {
    *why = g_strdup (text);
    return NULL;
  }
  /* Readers of the samples wait for them. */
  tfx_cuda_set_waiting (cuda, FALSE);
  tfx_cuda_set_owner (cuda, &owner);
  g_object_set_qdata (G_OBJECT (context), gst_tfx_cuda_quark (), cuda);
  GST_DEBUG_OBJECT (context, "backend on device %d, %s", tfx_cuda_device (cuda),
      tfx_cuda_name (cuda));
  g_object_weak_ref (G_OBJECT (context), gst_tfx_cuda_forget, NULL);
  return cuda;
}

TfxCuda *
gst_tfx_cuda_for_context (GstCudaContext *context, gchar **why)
{
  gchar *reason = NULL;
  TfxCuda *cuda;

  g_mutex_lock (&make_lock);
  cuda = g_object_get_qdata (G_OBJECT (context), gst_tfx_cuda_quark ());
  if (!cuda)
    cuda = gst_tfx_cuda_make (context, &reason);
  else if (tfx_cuda_is_lost (cuda))
    reason =
        g_strdup_printf ("%s does not answer any more", tfx_cuda_name (cuda));
  if (!reason)
    tfx_cuda_ref (cuda);
  g_mutex_unlock (&make_lock);

  if (!reason)
    return cuda;
  GST_WARNING_OBJECT (context, "%s", reason);
  if (why)
    *why = reason;
  else
    g_free (reason);
  return NULL;
}

/* ---- sharing a context --------------------------------------------------- */

gint
gst_tfx_cuda_get_device (GstCudaContext *context)
{
  guint device = 0;

  g_object_get (context, "cuda-device-id", &device, NULL);
  return device;
}

/* libgstcuda 1.22 does not recover if the driver cannot be initialized: a
 * second attempt to make a context hangs.  It does not report what failed.  So
 * until the library has made its first context, it is not called again after a
 * failure that the driver itself does not have. */
static gint has_made, is_stuck; /* atomic */

static gboolean
gst_tfx_cuda_driver_makes_context (gint device_id)
{
  CUcontext context;
  CUdevice device;

  if (CuDeviceGet (&device, MAX (device_id, 0)) != CUDA_SUCCESS ||
      CuCtxCreate (&context, 0, device) != CUDA_SUCCESS)
    return FALSE;
  CuCtxPopCurrent (NULL);
  CuCtxDestroy (context);
  return TRUE;
}

static void
gst_tfx_cuda_put_context (GstElement *element, GstCudaContext **context,
    GstCudaContext *other)
{
  GstCudaContext *old;

  GST_OBJECT_LOCK (element);
  old = *context;
  *context = other;
  GST_OBJECT_UNLOCK (element);
  gst_clear_object (&old);
}

void
gst_tfx_cuda_clear_context (GstElement *element, GstCudaContext **context)
{
  gst_tfx_cuda_put_context (element, context, NULL);
}

gboolean
gst_tfx_cuda_context_is (GstCudaContext *context, bool (*is) (const TfxCuda *))
{
  TfxCuda *cuda =
      g_object_get_qdata (G_OBJECT (context), gst_tfx_cuda_quark ());

  return cuda && is (cuda);
}

/* Bins keep a context for ever, even if its device is lost, so post a new one.
 * If none can be made, the old one stays. */
static void
gst_tfx_cuda_renew_context (GstElement *element, GstCudaContext **context)
{
  GstCudaContext *fresh =
      gst_cuda_context_new (gst_tfx_cuda_get_device (*context));

  if (!fresh)
    return;
  GST_INFO_OBJECT (element, "another context: %" GST_PTR_FORMAT, fresh);
  gst_tfx_cuda_put_context (element, context, fresh);
  gst_element_post_message (element,
      gst_message_new_have_context (GST_OBJECT (element),
          gst_context_new_cuda_context (fresh)));
}

gboolean
gst_tfx_cuda_ensure_context (GstElement *element, gint device_id,
    GstCudaContext **context, gchar **why)
{
  const gchar *missing;
  gint n_devices = 0;

  if (*context &&
      (gst_tfx_cuda_context_is (*context, tfx_cuda_is_lost) ||
          (device_id >= 0 && gst_tfx_cuda_get_device (*context) != device_id)))
    gst_tfx_cuda_clear_context (element, context);
  if (*context)
    return TRUE;

  if (!gst_tfx_cuda_is_available (&missing)) {
    *why = g_strdup (missing);
  } else if (!gst_cuda_result (CuDeviceGetCount (&n_devices))) {
    *why = g_strdup ("the NVIDIA driver does not say how many devices it has");
  } else if (device_id >= n_devices) {
    *why = g_strdup_printf ("there is no CUDA device %d: it must be 0 to %d",
        device_id, n_devices - 1);
  } else if (g_atomic_int_get (&is_stuck)) {
    *why = g_strdup ("GStreamer's CUDA library failed to make its first "
                     "context, and cannot be asked again");
  } else if (!gst_cuda_ensure_element_context (element, device_id, context)) {
    if (!g_atomic_int_get (&has_made) &&
        gst_tfx_cuda_driver_makes_context (device_id))
      g_atomic_int_set (&is_stuck, TRUE);
    *why = g_strdup_printf ("no context could be made on CUDA device %d",
        MAX (device_id, 0));
  } else {
    GST_DEBUG_OBJECT (element, "context %" GST_PTR_FORMAT, *context);
    g_atomic_int_set (&has_made, TRUE);
    if (gst_tfx_cuda_context_is (*context, tfx_cuda_is_lost))
      gst_tfx_cuda_renew_context (element, context);
    return TRUE;
  }
  return FALSE;
}

void
gst_tfx_cuda_set_context (GstElement *element, GstContext *given,
    gint device_id, GstCudaContext **context)
{
  GstCudaContext *taken = NULL;

  if (!gst_tfx_cuda_init ())
    return;
  gst_cuda_handle_set_context (element, given, device_id, &taken);
  GST_OBJECT_LOCK (element);
  if (!*context)
    *context = g_steal_pointer (&taken);
  GST_OBJECT_UNLOCK (element);
  GST_DEBUG_OBJECT (element, "was given %" GST_PTR_FORMAT, given);
  gst_clear_object (&taken);
}

gboolean
gst_tfx_cuda_answer_query (GstElement *element, GstQuery *query,
    GstCudaContext **context)
{
  GstCudaContext *held = NULL;
  gboolean is_answered;

  if (!gst_tfx_cuda_init ())
    return FALSE;
  GST_OBJECT_LOCK (element);
  gst_object_replace ((GstObject **)&held, (GstObject *)*context);
  GST_OBJECT_UNLOCK (element);
  is_answered = gst_cuda_handle_context_query (element, query, held);
  gst_clear_object (&held);
  return is_answered;
}
