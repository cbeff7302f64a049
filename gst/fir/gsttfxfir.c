/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfir.c: the element tfxfir.
 */

/**
 * SECTION:element-tfxfir
 * @title: tfxfir
 *
 * A filter with a finite impulse response (kernel).  The kernel is designed like
 * that of scipy.signal.firwin, given as numbers in #GstTfxFir:kernel, or read
 * from a sound file, #GstTfxFir:kernel-location, for a convolution reverb.  A
 * file overrides numbers, and numbers override a design.
 *
 * A kernel has from one tap to minutes.  Short kernels run in the time domain,
 * long ones by partitioned FFTs without latency; #GstTfxFir:method chooses by
 * the cost.
 *
 * With #GstTfxFir:align, the default, the delay of a linear-phase (symmetric)
 * kernel is removed from the stream: the output has the timestamps and the
 * number of samples of the input, and the delay is reported as latency.  Other
 * kernels, such as the response of a room, are not shifted, unless
 * #GstTfxFir:delay gives the tap of time 0.
 *
 * A kernel that is set while playing is cross-faded in within 10 ms.  The delay
 * of a running stream never shrinks.  While it grows, the output pauses for that
 * time, so that no sample is lost or repeated.
 *
 * The element implements #GstPreset; a preset has the properties of the filter.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 audiotestsrc wave=white-noise ! tfxfir mode=low-pass cutoff=1000 taps=511 ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=ticks ! tfxfir kernel="<0.5,0.0,0.0,0.25>" ! audioconvert ! autoaudiosink
 * gst-launch-1.0 filesrc location=speech.flac ! decodebin ! audioconvert ! tfxfir kernel-location=church.wav ! audioconvert ! autoaudiosink
 * gst-launch-1.0 audiotestsrc wave=pink-noise ! tfxfir @preset="Telephone band, linear phase" ! audioconvert ! autoaudiosink
 * ]|
 */
#include "gsttfxfir.h"

#include "gsttfxfirstage.h"
#include "gsttfxkernel.h"
#include "gsttfxpreset.h"

GST_DEBUG_CATEGORY (gst_tfx_fir_debug);

#define DEFAULT_METHOD TFX_FIR_AUTO
#define DEFAULT_ALIGN TRUE
#define DEFAULT_DELAY -1 /* that of the kernel */

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_0,
  PROP_METHOD,
  PROP_ALIGN,
  PROP_DELAY,
  PROP_SOURCE /* the first property of the kernel source */
};

/* The values of the properties. */
typedef struct
{
  GstTfxKernelSource source;
  TfxFirMethod method;
  gboolean align;
  gint delay;
} GstTfxFirAsked;

struct _GstTfxFir
{
  GstTfxElement parent;

  GstTfxFirAsked asked; /* under the object lock */
  gint n_kernels;       /* atomic; of a file: one for each channel, or 1 */

  /* Of the streaming thread. */
  GstTfxKernelLoader loader;
  GstTfxFirStager stager;
};

G_DEFINE_TYPE_WITH_CODE (GstTfxFir, gst_tfx_fir, GST_TYPE_TFX_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_tfx_preset_init)
        GST_DEBUG_CATEGORY_INIT (gst_tfx_fir_debug, "tfxfir", 0, "FIR filter"));
GST_ELEMENT_REGISTER_DEFINE (tfxfir, "tfxfir", GST_RANK_NONE, GST_TYPE_TFX_FIR);

#define GST_TYPE_TFX_FIR_METHOD (gst_tfx_fir_method_get_type ())
static GType
gst_tfx_fir_method_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { TFX_FIR_AUTO, "The faster one",
                                           "auto" },
    { TFX_FIR_DIRECT, "In the time domain", "direct" },
    { TFX_FIR_FFT, "By FFT", "fft" }, { 0, NULL, NULL } };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstTfxFirMethod", values));
  return type;
}

/* ---- the chain ---------------------------------------------------------------- */

/* The delay of the kernel in frames: the requested one, limited by the number of taps,
 * and counted from the start of the kernel's file; -1 gives the kernel's own. */
static gsize
gst_tfx_fir_find_delay (GstTfxFir *self, const GstTfxImpulse *impulse,
    gint asked, gdouble rate)
{
  const gint highest = impulse->n_taps - 1 - impulse->beginning;
  GstTfxClamp clamp = { .property = "delay",
    .unit = " frames",
    .asked = asked,
    .used = MIN (asked, highest),
    .lowest = -1,
    .highest = highest,
    .because = "must be less than the number of taps" };

  gst_tfx_element_report_clamp (GST_TFX_ELEMENT (self), &clamp, rate);
  if (asked < 0)
    return impulse->delay;
  return impulse->beginning + MIN (asked, highest);
}

/* The requested impulse response; if it cannot be used, a warning and the last one. */
static GstTfxImpulse *
gst_tfx_fir_find_impulse (GstTfxFir *self, const GstTfxKernelSource *source,
    const GstTfxBuild *build, GError **error)
{
  GstTfxElement *element = GST_TFX_ELEMENT (self);
  GError *fault = NULL;
  GstTfxImpulse *impulse =
      gst_tfx_kernel_loader_get (&self->loader, element, source, build, &fault);

  if (fault && gst_tfx_kernel_loader_has_any (&self->loader)) {
    gst_tfx_element_report_refusal (element, fault);
    g_clear_error (&fault);
    impulse = gst_tfx_kernel_loader_get (&self->loader, element, source, build,
        &fault);
  }
  if (fault)
    g_propagate_error (error, fault);
  if (impulse)
    g_atomic_int_set (&self->n_kernels, impulse->n_kernels);
  return impulse;
}

/* A copy; the caller clears its source. */
static void
gst_tfx_fir_get_asked (GstTfxFir *self, GstTfxFirAsked *asked)
{
  GST_OBJECT_LOCK (self);
  *asked = self->asked;
  gst_tfx_kernel_source_copy (&asked->source, &self->asked.source);
  GST_OBJECT_UNLOCK (self);
}

static TfxChain *
gst_tfx_fir_build_chain (GstTfxElement *element, GstTfxBuild *build,
    GError **error)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirAsked asked;
  GstTfxImpulse *impulse;
  TfxStage *stage = NULL;
  TfxChain *chain;

  gst_tfx_fir_stager_settle (&self->stager, build);
  gst_tfx_fir_get_asked (self, &asked);
  impulse = gst_tfx_fir_find_impulse (self, &asked.source, build, error);
  gst_tfx_kernel_source_clear (&asked.source);
  if (impulse)
    stage = gst_tfx_fir_stager_get (&self->stager, element, impulse,
        asked.align
            ? gst_tfx_fir_find_delay (self, impulse, asked.delay, build->rate)
            : 0,
        asked.method, build, error);
  if (!stage)
    return NULL;
  chain = tfx_chain_append (NULL, stage);
  if (!chain)
    g_set_error_literal (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory");
  tfx_stage_unref (&stage);
  return chain;
}

/* Postpones a kernel that takes too long to move inside a buffer: to the next point of
 * the curve, or to the next buffer. */
static gboolean
gst_tfx_fir_wait (GstTfxBuild *build, gboolean until_next_point)
{
  build->ask_again = TRUE;
  build->is_for_next_buffer = !until_next_point;
  return TRUE;
}

/* Moves the stage to other taps of the same number.  Allocates nothing after the first
 * move, and takes less than a tenth of the duration of a buffer. */
static gboolean
gst_tfx_fir_move_stage (GstTfxElement *element, GstTfxBuild *build)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxImpulse *impulse = NULL;
  GstTfxFirAsked asked;
  gboolean is_done = FALSE;
  gsize delay = 0;

  if (!build->is_running || build->was_refused)
    return FALSE;
  gst_tfx_fir_stager_settle (&self->stager, build);
  gst_tfx_fir_get_asked (self, &asked);
  if (build->point > 0 &&
      gst_tfx_kernel_source_takes_long (&asked.source, build)) {
    is_done = gst_tfx_fir_wait (build, FALSE);
  } else if (gst_tfx_fir_stager_can_move (&self->stager, asked.method)) {
    if (build->point > 0 &&
        (build->point - TFX_GRID_FRAMES) %
                gst_tfx_fir_stager_grid_frames (&self->stager) >
            0)
      is_done = gst_tfx_fir_wait (build, TRUE);
    else
      impulse = gst_tfx_kernel_loader_move (&self->loader, element,
          &asked.source, build);
  }
  gst_tfx_kernel_source_clear (&asked.source);
  if (!impulse)
    return is_done;
  if (asked.align)
    delay = gst_tfx_fir_find_delay (self, impulse, asked.delay, build->rate);
  return gst_tfx_fir_stager_move (&self->stager, element, build, impulse,
      delay);
}

/* Moves the current kernel to itself twice, which allocates both. */
static void
gst_tfx_fir_reserve (GstTfxElement *element, const GstTfxBuild *build)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirAsked asked;

  gst_tfx_fir_stager_settle (&self->stager, build);
  gst_tfx_fir_get_asked (self, &asked);
  if (gst_tfx_fir_stager_can_move (&self->stager, asked.method) &&
      gst_tfx_kernel_loader_move (&self->loader, element, &asked.source,
          build) &&
      gst_tfx_kernel_loader_move (&self->loader, element, &asked.source, build))
    gst_tfx_fir_stager_reserve (&self->stager, element);
  gst_tfx_kernel_source_clear (&asked.source);
}

/* Reads the file before caps negotiation, because its channels limit the caps.  An error
 * is reported when the chain is built. */
static gboolean
gst_tfx_fir_start (GstTfxElement *element)
{
  GstTfxFir *self = GST_TFX_FIR (element);
  GstTfxFirAsked asked;

  gst_tfx_fir_get_asked (self, &asked);
  g_atomic_int_set (&self->n_kernels,
      gst_tfx_kernel_loader_start (&self->loader, &asked.source));
  gst_tfx_kernel_source_clear (&asked.source);
  return TRUE;
}

static gboolean
gst_tfx_fir_get_channels (GstTfxElement *element, GstTfxChannels *channels,
    guint *least)
{
  const guint n = g_atomic_int_get (&GST_TFX_FIR (element)->n_kernels);

  *channels = (GstTfxChannels){ n, n, n };
  *least = 1;
  return n > 1;
}

static void
gst_tfx_fir_stop (GstTfxElement *element)
{
  GstTfxFir *self = GST_TFX_FIR (element);

  g_atomic_int_set (&self->n_kernels, 1);
  gst_tfx_fir_stager_clear (&self->stager);
  gst_tfx_kernel_loader_clear (&self->loader);
}

/* ---- properties ----------------------------------------------------------------- */

static void
gst_tfx_fir_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  GstTfxFir *self = GST_TFX_FIR (object);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_METHOD:
      self->asked.method = g_value_get_enum (value);
      break;
    case PROP_ALIGN:
      self->asked.align = g_value_get_boolean (value);
      break;
    case PROP_DELAY:
      self->asked.delay = g_value_get_int (value);
      break;
    default:
      known = gst_tfx_kernel_source_set (&self->asked.source,
          prop_id - PROP_SOURCE, value);
      break;
  }
  GST_OBJECT_UNLOCK (self);

  if (known)
    gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_tfx_fir_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxFir *self = GST_TFX_FIR (object);
  gboolean known = TRUE;

  GST_OBJECT_LOCK (self);
  switch (prop_id) {
    case PROP_METHOD:
      g_value_set_enum (value, self->asked.method);
      break;
    case PROP_ALIGN:
      g_value_set_boolean (value, self->asked.align);
      break;
    case PROP_DELAY:
      g_value_set_int (value, self->asked.delay);
      break;
    default:
      known = gst_tfx_kernel_source_get (&self->asked.source,
          prop_id - PROP_SOURCE, value);
      break;
  }
  GST_OBJECT_UNLOCK (self);

  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
}

static void
gst_tfx_fir_install_properties (GObjectClass *gobject_class)
{
  /**
   * GstTfxFir:method:
   *
   * The convolution method.
   */
  g_object_class_install_property (gobject_class, PROP_METHOD,
      g_param_spec_enum ("method", "Method", "Convolution method",
          GST_TYPE_TFX_FIR_METHOD, DEFAULT_METHOD, PARAM_FLAGS));

  /**
   * GstTfxFir:align:
   *
   * Remove the delay of the kernel, see #GstTfxFir:delay, from the stream and
   * report it as latency.  Otherwise the filter is causal: its output is late by
   * that delay, and is cut off at the end of the stream.
   */
  g_object_class_install_property (gobject_class, PROP_ALIGN,
      g_param_spec_boolean ("align", "Align",
          "Compensate the delay of the kernel and report it as latency",
          DEFAULT_ALIGN, PARAM_FLAGS));

  /**
   * GstTfxFir:delay:
   *
   * Delay of the kernel in frames: the index of the tap of time 0, for
   * #GstTfxFir:align.  -1 is the middle of a symmetric or antisymmetric kernel
   * and 0 for any other.  Set it for the response of a loudspeaker or a room
   * correction filter, whose peak is often somewhere inside.  A value beyond the
   * last tap uses the last tap, with a warning.
   */
  g_object_class_install_property (gobject_class, PROP_DELAY,
      g_param_spec_int ("delay", "Delay",
          "Delay of the kernel in frames, for align (-1 = automatic)", -1,
          TFX_FIR_MAX_TAPS - 1, DEFAULT_DELAY, PARAM_FLAGS));
}

static void
gst_tfx_fir_finalize (GObject *object)
{
  gst_tfx_kernel_source_clear (&GST_TFX_FIR (object)->asked.source);
  G_OBJECT_CLASS (gst_tfx_fir_parent_class)->finalize (object);
}

static void
gst_tfx_fir_class_init (GstTfxFirClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);

  gobject_class->set_property = gst_tfx_fir_set_property;
  gobject_class->get_property = gst_tfx_fir_get_property;
  gobject_class->finalize = gst_tfx_fir_finalize;
  gst_tfx_kernel_source_install_properties (gobject_class, PROP_SOURCE);
  gst_tfx_fir_install_properties (gobject_class);

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "FIR filter", "Filter/Effect/Audio",
      "Convolution with a designed kernel, given taps or a sound file",
      "the gst-tfx authors");
  GST_TFX_ELEMENT_CLASS (klass)->build_chain = gst_tfx_fir_build_chain;
  GST_TFX_ELEMENT_CLASS (klass)->move_stage = gst_tfx_fir_move_stage;
  GST_TFX_ELEMENT_CLASS (klass)->reserve = gst_tfx_fir_reserve;
  GST_TFX_ELEMENT_CLASS (klass)->get_channels = gst_tfx_fir_get_channels;
  GST_TFX_ELEMENT_CLASS (klass)->start = gst_tfx_fir_start;
  GST_TFX_ELEMENT_CLASS (klass)->stop = gst_tfx_fir_stop;
  gst_type_mark_as_plugin_api (GST_TYPE_TFX_FIR_METHOD, 0);
}

static void
gst_tfx_fir_init (GstTfxFir *self)
{
  gst_tfx_kernel_source_init (&self->asked.source);
  self->n_kernels = 1;
  self->asked.method = DEFAULT_METHOD;
  self->asked.align = DEFAULT_ALIGN;
  self->asked.delay = DEFAULT_DELAY;
  self->stager.id = tfx_stage_new_id ();
}
