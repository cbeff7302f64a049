/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfilter.c: GstTfxFilter, the base class of all tfx elements.
 */

/**
 * SECTION:gsttfxfilter
 * @title: GstTfxFilter
 * @short_description: what all tfx elements have in common
 *
 * A subclass says what its filter is, as an immutable #TfxStage; this class
 * compiles it into a plan for the stream's rate and channels and runs it over
 * the buffers, in place.  The state of the filter lives in the executor and
 * nowhere else.
 *
 * The state starts afresh where the stream does: after a flush, at a segment
 * that differs from the one before, at a buffer marked DISCONT, at a GAP event
 * and when rate or channels change.  It lives on when only the sample format
 * or the layout changes.
 *
 * Threads: a property setter stores its value under the object lock and marks
 * the element dirty.  The streaming thread then builds the new stage before
 * the next buffer, with no lock held, and holds none while it filters.
 */
#include "gsttfxfilter.h"

#include "gsttfxmemory.h"
#include "gsttfxprivate.h"

GST_DEBUG_CATEGORY (gst_tfx_filter_debug);
#define GST_CAT_DEFAULT gst_tfx_filter_debug

#define DEFAULT_DEVICE GST_TFX_DEVICE_AUTO
#define DEFAULT_CUDA_DEVICE_ID -1
#define DEFAULT_FUSE TRUE

#define FORMATS GST_AUDIO_NE (F32) ", " GST_AUDIO_NE (F64)
#define ALLOWED_CAPS                                                           \
  "audio/x-raw, format = (string) { " FORMATS " }, "                           \
  "rate = (int) [ 1, MAX ], channels = (int) [ 1, 65536 ], "                   \
  "layout = (string) { interleaved, non-interleaved }"
G_STATIC_ASSERT (TFX_MAX_CHANNELS == 65536);

enum
{
  PROP_0,
  PROP_DEVICE,
  PROP_CUDA_DEVICE_ID,
  PROP_FUSE,
  PROP_STATS
};

#define PRIVATE(self)                                                          \
  ((GstTfxFilterPrivate *)gst_tfx_filter_get_instance_private (self))

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstTfxFilter, gst_tfx_filter,
    GST_TYPE_AUDIO_FILTER,
    G_ADD_PRIVATE (GstTfxFilter) GST_DEBUG_CATEGORY_INIT (gst_tfx_filter_debug,
        "tfxfilter", 0, "base class of the tfx elements"));

GstTfxFilterPrivate *
gst_tfx_filter_get_private (GstTfxFilter *self)
{
  return PRIVATE (self);
}

GType
gst_tfx_device_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_TFX_DEVICE_AUTO, "What suits the work per buffer", "auto" },
    { GST_TFX_DEVICE_CPU, "CPU", "cpu" },
    { GST_TFX_DEVICE_CUDA, "CUDA device", "cuda" }, { 0, NULL, NULL }
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstTfxDevice", values));
  return type;
}

void
gst_tfx_filter_mark_dirty (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = PRIVATE (self);

  if (g_atomic_pointer_get (&priv->control_thread) != g_thread_self ())
    g_atomic_int_set (&priv->set_by_hand, TRUE);
  g_atomic_int_set (&priv->dirty, TRUE);
}

void
gst_tfx_filter_mark_ready (GstTfxFilter *self)
{
  g_atomic_int_set (&PRIVATE (self)->dirty, TRUE);
}

guint64
gst_tfx_filter_get_stage_id (GstTfxFilter *self)
{
  return PRIVATE (self)->stage_id;
}

guint64
gst_tfx_filter_renew_stage_id (GstTfxFilter *self)
{
  return PRIVATE (self)->stage_id = tfx_stage_new_id ();
}

void
gst_tfx_filter_report_value (GstTfxFilter *self, const GstTfxValue *value,
    gdouble rate)
{
  if (!gst_tfx_situations_note (&PRIVATE (self)->situations, value, rate))
    return;

  if (value->because) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s=%.12g%s cannot be met: it %s. %.12g%s is used until it can be "
         "met.",
            value->property, value->asked, value->unit, value->because,
            value->used, value->unit),
        (NULL));
    return;
  }
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("%s=%.12g%s cannot be met at a rate of %.12g Hz: it must lie between "
       "%.12g%s and %.12g%s. %.12g%s is used until it can be met.",
          value->property, value->asked, value->unit, rate, value->lowest,
          value->lowest_is ? value->lowest_is : "", value->highest, value->unit,
          value->used, value->unit),
      (NULL));
}

void
gst_tfx_filter_report_refusal (GstTfxFilter *self, const GError *error)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_WARNING,
      error->domain, error->code,
      g_strdup_printf ("The filter cannot be changed: %s. It goes on as it "
                       "was.",
          error->message),
      NULL, __FILE__, GST_FUNCTION, __LINE__);
}

static void
gst_tfx_filter_set_property (GObject *object, guint prop_id,
    const GValue *value, GParamSpec *pspec)
{
  GstTfxFilter *self = GST_TFX_FILTER (object);
  GstTfxFilterPrivate *priv = PRIVATE (self);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_DEVICE:
      g_atomic_int_set ((gint *)&priv->device, g_value_get_enum (value));
      break;
    case PROP_CUDA_DEVICE_ID:
      g_atomic_int_set (&priv->cuda_device_id, g_value_get_int (value));
      break;
    case PROP_FUSE:
      g_atomic_int_set (&priv->fuse, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
  if (prop_id != PROP_FUSE)
    gst_tfx_filter_mark_dirty (self);
}

static void
gst_tfx_filter_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxFilter *self = GST_TFX_FILTER (object);
  GstTfxFilterPrivate *priv = PRIVATE (self);

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_DEVICE:
      g_value_set_enum (value, priv->device);
      break;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int (value, priv->cuda_device_id);
      break;
    case PROP_FUSE:
      g_value_set_boolean (value, priv->fuse);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_tfx_counts_to_structure (&priv->counts));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_tfx_filter_install_properties (GObjectClass *gobject_class)
{
  /**
   * GstTfxFilter:device:
   *
   * Where to filter.  If the device asked for is not there, or fails, a warning
   * says so and the CPU filters.  "auto" takes a CUDA device where the work for a
   * buffer pays for it, or where the samples are in its memory already.
   */
  g_object_class_install_property (gobject_class, PROP_DEVICE,
      g_param_spec_enum ("device", "Device", "Where to filter",
          GST_TYPE_TFX_DEVICE, DEFAULT_DEVICE,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxFilter:cuda-device-id:
   *
   * Which CUDA device to use where several are there.  Takes effect when the
   * element is started.
   */
  g_object_class_install_property (gobject_class, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device id",
          "Number of the CUDA device to use (-1 = any)", -1, G_MAXINT,
          DEFAULT_CUDA_DEVICE_ID,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxFilter:fuse:
   *
   * Whether the element may be run in one pass with tfx elements that it is
   * directly linked to.  What comes out is the same to rounding.
   */
  g_object_class_install_property (gobject_class, PROP_FUSE,
      g_param_spec_boolean ("fuse", "Fuse",
          "Allow to run in one pass with directly linked tfx elements",
          DEFAULT_FUSE,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxFilter:stats:
   *
   * What the element has done since it left READY:
   *
   * * buffers, frames (guint64): what came through
   * * deferred (guint64): those of the buffers that elements downstream were
   *   left to filter
   * * dispatches (guint64): runs of the engine
   * * launches (guint64): kernel launches on a GPU
   * * uploads, downloads (guint64): transfers between host and device
   * * stages, sections (guint): of the plan that ran last, with those that
   *   elements upstream have left to this one; 0 while it leaves its own to
   *   others
   * * device, kernel (string): what ran, such as "cpu" and "avx512"
   * * process-time (guint64): nanoseconds spent; of buffers that take little
   *   time one in eight is timed
   */
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "What the element has done since it left READY", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* The pads of every tfx element.  Samples are in the machine's byte order. */
static void
gst_tfx_filter_add_pad_templates (GstAudioFilterClass *audio_class)
{
  GstCaps *caps = gst_tfx_memory_make_template (ALLOWED_CAPS);

  gst_audio_filter_class_add_pad_templates (audio_class, caps);
  gst_caps_unref (caps);
}

static void
gst_tfx_filter_class_init (GstTfxFilterClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstAudioFilterClass *audio_class = GST_AUDIO_FILTER_CLASS (klass);

  gobject_class->set_property = gst_tfx_filter_set_property;
  gobject_class->get_property = gst_tfx_filter_get_property;
  gst_tfx_filter_install_properties (gobject_class);
  gst_tfx_filter_add_pad_templates (audio_class);

  gst_tfx_stream_init_class (klass);
  gst_tfx_pads_init_class (klass);

  gst_type_mark_as_plugin_api (GST_TYPE_TFX_FILTER, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_DEVICE, 0);
}

static void
gst_tfx_filter_init (GstTfxFilter *self)
{
  GstTfxFilterPrivate *priv = PRIVATE (self);

  priv->device = DEFAULT_DEVICE;
  priv->cuda_device_id = DEFAULT_CUDA_DEVICE_ID;
  priv->fuse = DEFAULT_FUSE;
  priv->stage_id = tfx_stage_new_id ();
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_prefer_passthrough (GST_BASE_TRANSFORM (self), FALSE);
  gst_tfx_pads_init (self);
}
