/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxelement.c: GstTfxElement, the base class of all tfx elements.
 */

/**
 * SECTION:gsttfxelement
 * @title: GstTfxElement
 * @short_description: base class of all tfx elements
 *
 * A subclass describes its filter as an immutable #TfxChain.  This class keeps
 * a #TfxFilter with that chain and runs it over the buffers, in place.  The
 * filter owns its state.
 *
 * Directly linked tfx elements run as one: each but the last puts its filter
 * into the buffer, as a pending memory, and the last one runs them all.  Any
 * other reader that maps such a buffer gets filtered samples.
 *
 * The filter keeps its state while the running time is continuous: over
 * contiguous segments, gaps, jitter and changes of format.  It is reset after a
 * flush, at a discontinuity, and when the rate or the channels change.
 *
 * Threads: a property setter stores its value under the object lock and marks
 * the element dirty.  The streaming thread then builds the new chain before the
 * next buffer, with no lock held.
 */
#include "gsttfxelement.h"

#include "gsttfxelementprivate.h"
#include "gsttfxmemory.h"
#include "gsttfxresponse.h"

#define GST_CAT_DEFAULT gst_tfx_element_debug

/* Rate in Hz before any caps. */
#define USUAL_RATE 48000

#define DEFAULT_DEVICE GST_TFX_DEVICE_AUTO
#define DEFAULT_CUDA_DEVICE_ID -1
#define DEFAULT_DEVICE_DELAY -1
#define DEFAULT_FUSE TRUE

/* Samples are in the machine's byte order. */
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
  PROP_DEVICE_DELAY,
  PROP_FUSE,
  PROP_STATS
};

#define PRIVATE(self) gst_tfx_element_get_private (self)

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstTfxElement, gst_tfx_element,
    GST_TYPE_ELEMENT,
    G_ADD_PRIVATE (GstTfxElement)
        GST_DEBUG_CATEGORY_INIT (gst_tfx_element_debug, "tfxelement", 0,
            "base class of the tfx elements"));

GType
gst_tfx_device_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_TFX_DEVICE_AUTO, "Chosen by the work per buffer", "auto" },
    { GST_TFX_DEVICE_CPU, "CPU", "cpu" },
    { GST_TFX_DEVICE_CUDA, "CUDA device", "cuda" }, { 0, NULL, NULL }
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstTfxDevice", values));
  return type;
}

#define GST_TYPE_TFX_DEVICE_DELAY (gst_tfx_device_delay_get_type ())
static GType
gst_tfx_device_delay_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { -1, "One buffer for files, else none",
                                           "auto" },
    { 0, "None: each buffer is filtered before it is sent", "none" },
    { 1, "One buffer: the next one is uploaded at the same time",
        "one-buffer" },
    { 0, NULL, NULL } };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstTfxDeviceDelay", values));
  return type;
}

/* ---- properties ---------------------------------------------------------- */

static void
gst_tfx_element_set_property (GObject *object, guint prop_id,
    const GValue *value, GParamSpec *pspec)
{
  GstTfxElement *self = GST_TFX_ELEMENT (object);
  GstTfxElementPrivate *priv = PRIVATE (self);

  switch (prop_id) {
    case PROP_DEVICE:
      g_atomic_int_set (&priv->device_setting, g_value_get_enum (value));
      gst_tfx_element_mark_dirty (self);
      break;
    case PROP_CUDA_DEVICE_ID:
      g_atomic_int_set (&priv->cuda_device_id, g_value_get_int (value));
      gst_tfx_element_mark_dirty (self);
      break;
    case PROP_DEVICE_DELAY:
      g_atomic_int_set (&priv->device_delay, g_value_get_enum (value));
      gst_tfx_flight_ask_again (self);
      return;
    case PROP_FUSE:
      g_atomic_int_set (&priv->fuse, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      return;
  }
  g_atomic_int_set (&priv->relinked, TRUE);
  gst_pad_mark_reconfigure (priv->src);
  gst_tfx_element_ask_upstream (self);
}

static void
gst_tfx_element_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxElementPrivate *priv = PRIVATE (GST_TFX_ELEMENT (object));
  GstStructure *stats;
  gdouble rate;
  guint n_channels;
  guint64 positions;

  switch (prop_id) {
    case PROP_DEVICE:
      g_value_set_enum (value, g_atomic_int_get (&priv->device_setting));
      break;
    case PROP_CUDA_DEVICE_ID:
      g_value_set_int (value, g_atomic_int_get (&priv->cuda_device_id));
      break;
    case PROP_DEVICE_DELAY:
      g_value_set_enum (value, g_atomic_int_get (&priv->device_delay));
      break;
    case PROP_FUSE:
      g_value_set_boolean (value, g_atomic_int_get (&priv->fuse));
      break;
    case PROP_STATS:
      gst_tfx_element_get_stream (GST_TFX_ELEMENT (object), &rate, &n_channels,
          &positions);
      stats = gst_tfx_counts_to_structure (&priv->counts, rate);
      if (g_atomic_int_get (&priv->has_keys))
        gst_tfx_key_add_stats (GST_TFX_ELEMENT (object), stats);
      g_value_take_boxed (value, stats);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
      break;
  }
}

/* The filter, a reference for the caller, or NULL. */
static GstTfxSharedFilter *
gst_tfx_element_ref_filter (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = PRIVATE (self);
  GstTfxSharedFilter *filter;

  GST_OBJECT_LOCK (self);
  filter = priv->filter ? gst_tfx_shared_filter_ref (priv->filter) : NULL;
  GST_OBJECT_UNLOCK (self);
  return filter;
}

gboolean
gst_tfx_element_read_stage (GstTfxElement *self, guint64 id,
    TfxReadings *readings)
{
  GstTfxSharedFilter *filter = gst_tfx_element_ref_filter (self);
  gboolean has;

  if (!filter)
    return FALSE;
  tfx_filter_lock (filter->filter);
  has = tfx_filter_read (filter->filter, id, readings) == 0;
  tfx_filter_unlock (filter->filter);
  gst_tfx_shared_filter_unref (filter);
  return has;
}

static void
gst_tfx_element_install_properties (GObjectClass *gobject_class)
{
  /**
   * GstTfxElement:device:
   *
   * Where to filter.  If the requested device is missing or fails, the element
   * posts a warning and filters on the CPU.  "auto" uses a CUDA device if that
   * is faster for this work per buffer, or if the samples are already in its
   * memory.
   */
  g_object_class_install_property (gobject_class, PROP_DEVICE,
      g_param_spec_enum ("device", "Device", "Device to filter on",
          GST_TYPE_TFX_DEVICE, DEFAULT_DEVICE,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxElement:cuda-device-id:
   *
   * Which CUDA device to use, of several.  Takes effect at the next change from
   * READY to PAUSED.
   */
  g_object_class_install_property (gobject_class, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device id",
          "CUDA device to use (-1 = any)", -1, G_MAXINT, DEFAULT_CUDA_DEVICE_ID,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxElement:device-delay:
   *
   * GPU pipeline depth: 1 uploads one buffer while the previous one is
   * filtered, at the cost of one buffer of latency.  auto does so if the
   * pipeline is not live and its duration is known.  For system memory only.
   */
  g_object_class_install_property (gobject_class, PROP_DEVICE_DELAY,
      g_param_spec_enum ("device-delay", "Device delay",
          "GPU pipeline depth: 1 overlaps transfer and filtering at the cost "
          "of one buffer of latency",
          GST_TYPE_TFX_DEVICE_DELAY, DEFAULT_DEVICE_DELAY,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxElement:fuse:
   *
   * Whether the element may run in one pass with tfx elements that it is
   * directly linked to.  The output is the same to rounding.
   */
  g_object_class_install_property (gobject_class, PROP_FUSE,
      g_param_spec_boolean ("fuse", "Fuse",
          "Run in one pass with directly linked tfx elements", DEFAULT_FUSE,
          G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING |
              G_PARAM_STATIC_STRINGS));

  /**
   * GstTfxElement:stats:
   *
   * Statistics since the element left READY:
   *
   * * buffers, frames (guint64): number of buffers and frames
   * * deferred (guint64): number of buffers that were deferred to downstream
   *   elements
   * * dispatches (guint64): runs of the engine
   * * launches (guint64): kernel launches on a GPU
   * * uploads, downloads (guint64): transfers between host and device
   * * stages, sections (guint): size of the last row, including filters
   *   deferred by upstream elements; 0 while the element defers its own
   * * device, kernel (string): device and kernel of the last run, such as "cpu"
   *   and "avx512"
   * * process-time (guint64): processing time in nanoseconds; one in eight
   *   short buffers is timed
   * * recoveries (guint64): how often NaN or infinity was cleared
   * * real-time-factor (gdouble): duration of the frames divided by
   *   process-time
   * * timed, late (guint64): number of timed buffers, and number of timed
   *   buffers that took longer than their duration
   * * load-worst, load-p99 (gdouble): processing time of timed buffers divided
   *   by their duration: the maximum and the 99th percentile
   * * key-frames, key-silent, key-dropped (guint64), with key pads: frames of
   *   the keys that were used; frames for which a key had none, because it was
   *   late, had a gap or had ended; and frames that came too late
   */
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Statistics since the element left READY", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* The streaming thread, which counts, does it before the next buffer. */
static void
gst_tfx_element_reset_stats (GstTfxElement *self)
{
  g_atomic_int_set (&PRIVATE (self)->wants_reset, TRUE);
}

gboolean
gst_tfx_element_get_stream (GstTfxElement *self, gdouble *rate,
    guint *n_channels, guint64 *positions)
{
  GstTfxElementPrivate *priv = PRIVATE (self);
  gboolean is_there;

  GST_OBJECT_LOCK (self);
  is_there = priv->filter != NULL;
  *rate = priv->stream_rate;
  *n_channels = priv->stream_channels;
  *positions = priv->stream_positions;
  GST_OBJECT_UNLOCK (self);
  return is_there;
}

/* The response of the filter's present chain; without caps, of the chain that
 * the properties describe. */
static GVariant *
gst_tfx_element_respond (GstTfxElement *self, GVariant *frequencies,
    guint channel)
{
  const GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = PRIVATE (self);
  GstTfxSharedFilter *filter;
  GVariant *response;
  TfxChain *chain = NULL;
  GstClockTime latency;
  gdouble rate;

  /* All from one stream; another may begin after the lock is released. */
  GST_OBJECT_LOCK (self);
  filter = priv->filter ? gst_tfx_shared_filter_ref (priv->filter) : NULL;
  latency = filter ? priv->latency : GST_CLOCK_TIME_NONE;
  rate = priv->stream_rate;
  GST_OBJECT_UNLOCK (self);
  if (filter) {
    tfx_filter_lock (filter->filter);
    tfx_filter_get_chain (filter->filter, &chain);
    tfx_filter_unlock (filter->filter);
    gst_tfx_shared_filter_unref (filter);
  } else if (klass->make_chain) {
    chain = klass->make_chain (self, rate, channel);
  }
  response = gst_tfx_response_new (chain, channel, rate, latency, frequencies);
  tfx_chain_unref (&chain);
  return response;
}

static void
gst_tfx_element_install_signals (GObjectClass *gobject_class)
{
  /**
   * GstTfxElement::response:
   * @frequencies: a #GVariant of type `ad`, in Hz
   * @channel: channel number, from 0
   *
   * An action: the filter's frequency response for a channel.
   *
   * Returns: a #GVariant of type `a{sv}`: rate (`d`, Hz), channel (`u`),
   * latency (`t`, ns, as the element adds to the LATENCY query), and for each
   * frequency real and imaginary (`ad`), the complex gain, and group-delay
   * (`ad`, frames), including the latency.  Gains that depend on the level
   * count as 1.  Before caps: %NULL, except that a tfxchain uses the last rate,
   * or 48000 Hz
   */
  gst_tfx_response_add_signal (G_TYPE_FROM_CLASS (gobject_class), "response",
      TRUE, G_CALLBACK (gst_tfx_element_respond));

  /**
   * GstTfxElement::reset-stats:
   *
   * An action: clears #GstTfxElement:stats before the next buffer.
   */
  g_signal_new_class_handler ("reset-stats", G_TYPE_FROM_CLASS (gobject_class),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_tfx_element_reset_stats), NULL, NULL, NULL, G_TYPE_NONE,
      0);
}

/* ---- states -------------------------------------------------------------- */

static void
gst_tfx_element_set_context (GstElement *element, GstContext *context)
{
  GstTfxElementPrivate *priv = PRIVATE (GST_TFX_ELEMENT (element));

  gst_tfx_cuda_set_context (element, context,
      g_atomic_int_get (&priv->cuda_device_id), &priv->device.context);
  GST_ELEMENT_CLASS (gst_tfx_element_parent_class)
      ->set_context (element, context);
}

/* Before the pads are activated. */
static gboolean
gst_tfx_element_start (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = PRIVATE (self);

  gst_tfx_counts_clear (&priv->counts);
  g_atomic_int_set (&priv->wants_reset, FALSE);
  gst_tfx_events_forget_position (self);
  priv->n_untimed = 0;
  priv->last_frames = priv->usual_frames = 0;
  priv->bad_told = priv->places_told = FALSE;
  priv->discont_in = priv->discont_out = FALSE;
  priv->seen_peer = NULL;
  priv->can_defer = FALSE;
  g_atomic_int_set (&priv->relinked, TRUE);
  gst_segment_init (&priv->segment, GST_FORMAT_UNDEFINED);
  gst_tfx_flight_ask_again (self);
  gst_tfx_key_reset (self, TRUE);
  if (klass->start && !klass->start (self))
    return FALSE;
  gst_tfx_device_start (self);
  GST_DEBUG_OBJECT (self, "started, fuse %d, device-delay %d",
      g_atomic_int_get (&priv->fuse), g_atomic_int_get (&priv->device_delay));
  return TRUE;
}

/* After the pads are deactivated, so that no other thread is in them. */
static void
gst_tfx_element_stop (GstTfxElement *self)
{
  GstTfxElementClass *klass = GST_TFX_ELEMENT_GET_CLASS (self);
  GstTfxElementPrivate *priv = PRIVATE (self);

  gst_tfx_flight_stop (self);
  gst_tfx_settings_stop (self);
  gst_tfx_key_reset (self, FALSE);
  gst_tfx_control_clear (self);
  gst_tfx_device_stop (self);
  gst_tfx_scratch_clear (&priv->scratch);
  gst_tfx_times_clear (&priv->times);
  gst_tfx_element_clear_clamps (priv);
  g_clear_pointer (&priv->stream_id, g_free);
  gst_audio_info_init (&priv->info);
  gst_audio_info_init (&priv->in_info);
  priv->was_refused = priv->has_failed = FALSE;
  GST_OBJECT_LOCK (self);
  priv->latency = 0;
  GST_OBJECT_UNLOCK (self);
  if (klass->stop)
    klass->stop (self);
}

static GstStateChangeReturn
gst_tfx_element_change_state (GstElement *element, GstStateChange transition)
{
  GstTfxElement *self = GST_TFX_ELEMENT (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
      !gst_tfx_element_start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_tfx_key_change_state (self, transition);
  ret = GST_ELEMENT_CLASS (gst_tfx_element_parent_class)
            ->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    gst_tfx_key_change_state (self, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          ret == GST_STATE_CHANGE_FAILURE))
    gst_tfx_element_stop (self);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_tfx_cuda_clear_context (element, &PRIVATE (self)->device.context);
  return ret;
}

/* ---- the class ----------------------------------------------------------- */

static void
gst_tfx_element_finalize (GObject *object)
{
  GstTfxElementPrivate *priv = PRIVATE (GST_TFX_ELEMENT (object));

  /* An application may set a context in NULL. */
  gst_tfx_cuda_clear_context (GST_ELEMENT (object), &priv->device.context);
  gst_tfx_element_clear_clamps (priv);
  gst_tfx_times_clear (&priv->times);
  gst_tfx_key_free (priv->keys);
  G_OBJECT_CLASS (gst_tfx_element_parent_class)->finalize (object);
}

static void
gst_tfx_element_class_init (GstTfxElementClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCaps *caps = gst_tfx_memory_make_template (ALLOWED_CAPS);

  gst_tfx_element_private_offset = GstTfxElement_private_offset;
  gobject_class->set_property = gst_tfx_element_set_property;
  gobject_class->get_property = gst_tfx_element_get_property;
  gobject_class->finalize = gst_tfx_element_finalize;
  gst_tfx_element_install_properties (gobject_class);
  gst_tfx_element_install_signals (gobject_class);

  element_class->set_context = GST_DEBUG_FUNCPTR (gst_tfx_element_set_context);
  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_tfx_element_change_state);
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template (element_class,
      gst_pad_template_new ("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  gst_caps_unref (caps);

  gst_type_mark_as_plugin_api (GST_TYPE_TFX_ELEMENT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_DEVICE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_DEVICE_DELAY, 0);
}

static GstPad *
gst_tfx_element_add_pad (GstTfxElement *self, const gchar *name)
{
  GstPad *pad = gst_pad_new_from_template (
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), name),
      name);

  gst_pad_set_query_function (pad, GST_DEBUG_FUNCPTR (gst_tfx_events_query));
  gst_element_add_pad (GST_ELEMENT (self), pad);
  return pad;
}

static void
gst_tfx_element_init (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = PRIVATE (self);

  priv->device_setting = DEFAULT_DEVICE;
  priv->cuda_device_id = DEFAULT_CUDA_DEVICE_ID;
  priv->device_delay = DEFAULT_DEVICE_DELAY;
  priv->fuse = DEFAULT_FUSE;
  priv->stream_rate = USUAL_RATE;
  gst_audio_info_init (&priv->info);
  gst_audio_info_init (&priv->in_info);
  gst_tfx_times_reset (&priv->times, 0);
  priv->sink = gst_tfx_element_add_pad (self, "sink");
  priv->src = gst_tfx_element_add_pad (self, "src");
  gst_pad_set_chain_function (priv->sink,
      GST_DEBUG_FUNCPTR (gst_tfx_stream_chain));
  gst_pad_set_event_function (priv->sink,
      GST_DEBUG_FUNCPTR (gst_tfx_events_sink));
  gst_pad_set_event_function (priv->src,
      GST_DEBUG_FUNCPTR (gst_tfx_events_src));
}
