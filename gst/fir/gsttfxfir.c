/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfir.c: the element tfxfir: its properties and its class.
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

#include <math.h>

#include "gsttfxpreset.h"

GST_DEBUG_CATEGORY (gst_tfx_fir_debug);

#define DEFAULT_TAPS 101
#define DEFAULT_WINDOW TFX_WINDOW_HAMMING
/* Gives a stop band of -87 dB. */
#define DEFAULT_BETA 8.6
#define DEFAULT_PHASE TFX_PHASE_ORIGINAL
#define DEFAULT_METHOD TFX_FIR_AUTO
#define DEFAULT_ALIGN TRUE
#define DEFAULT_DELAY -1 /* that of the kernel */

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_MODE = 1, /* and the next three: gst_tfx_band_install_properties() */
  PROP_CUTOFF,
  PROP_LOWER_FREQUENCY,
  PROP_UPPER_FREQUENCY,
  PROP_TAPS,
  PROP_WINDOW,
  PROP_BETA,
  PROP_PHASE,
  PROP_METHOD,
  PROP_ALIGN,
  PROP_DELAY,
  PROP_KERNEL,
  PROP_KERNEL_LOCATION
};

/* Where the values are, but for the last two properties. */
static const gsize fields[] = {
  [PROP_MODE] = G_STRUCT_OFFSET (GstTfxFir, asked.band.mode),
  [PROP_CUTOFF] = G_STRUCT_OFFSET (GstTfxFir, asked.band.cutoff),
  [PROP_LOWER_FREQUENCY] = G_STRUCT_OFFSET (GstTfxFir, asked.band.lower),
  [PROP_UPPER_FREQUENCY] = G_STRUCT_OFFSET (GstTfxFir, asked.band.upper),
  [PROP_TAPS] = G_STRUCT_OFFSET (GstTfxFir, asked.n_taps),
  [PROP_WINDOW] = G_STRUCT_OFFSET (GstTfxFir, asked.window),
  [PROP_BETA] = G_STRUCT_OFFSET (GstTfxFir, asked.beta),
  [PROP_PHASE] = G_STRUCT_OFFSET (GstTfxFir, asked.phase),
  [PROP_METHOD] = G_STRUCT_OFFSET (GstTfxFir, asked.method),
  [PROP_ALIGN] = G_STRUCT_OFFSET (GstTfxFir, asked.align),
  [PROP_DELAY] = G_STRUCT_OFFSET (GstTfxFir, asked.delay),
};

static const GEnumValue windows[] = { { TFX_WINDOW_HAMMING, "Hamming",
                                          "hamming" },
  { TFX_WINDOW_HANN, "Hann", "hann" },
  { TFX_WINDOW_BLACKMAN, "Blackman", "blackman" },
  { TFX_WINDOW_BLACKMAN_HARRIS, "Blackman-Harris, four terms",
      "blackman-harris" },
  { TFX_WINDOW_NUTTALL, "Nuttall, four terms", "nuttall" },
  { TFX_WINDOW_FLATTOP, "Flat top, five terms", "flattop" },
  { TFX_WINDOW_BARTLETT, "Bartlett (triangular)", "bartlett" },
  { TFX_WINDOW_RECTANGULAR, "Rectangular (no window)", "rectangular" },
  { TFX_WINDOW_KAISER, "Kaiser, with beta", "kaiser" }, { 0, NULL, NULL } };

static const GEnumValue phases[] = { { TFX_PHASE_ORIGINAL, "That of the kernel",
                                         "original" },
  { TFX_PHASE_MINIMUM, "Minimum phase", "minimum" },
  { TFX_PHASE_LINEAR, "Linear phase", "linear" }, { 0, NULL, NULL } };

static const GEnumValue methods[] = { { TFX_FIR_AUTO, "The faster one",
                                          "auto" },
  { TFX_FIR_DIRECT, "In the time domain", "direct" },
  { TFX_FIR_FFT, "By FFT", "fft" }, { 0, NULL, NULL } };

G_DEFINE_TYPE_WITH_CODE (GstTfxFir, gst_tfx_fir, GST_TYPE_TFX_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_PRESET, gst_tfx_preset_init)
        GST_DEBUG_CATEGORY_INIT (gst_tfx_fir_debug, "tfxfir", 0, "FIR filter"));
GST_ELEMENT_REGISTER_DEFINE (tfxfir, "tfxfir", GST_RANK_NONE,
    gst_tfx_fir_get_type ());

/* ---- properties ---------------------------------------------------------- */

static void
gst_tfx_fir_set_property (GObject *object, guint prop_id, const GValue *value,
    GParamSpec *pspec)
{
  GstTfxFir *self = GST_TFX_FIR (object);
  GstTfxFirAsked *asked = &self->asked;
  GValue number = G_VALUE_INIT;

  GST_OBJECT_LOCK (self);
  if (prop_id == PROP_KERNEL) {
    const guint n = gst_value_array_get_size (value);

    g_value_init (&number, G_TYPE_DOUBLE);
    g_clear_pointer (&asked->numbers, g_array_unref);
    if (n > 0)
      asked->numbers = g_array_sized_new (FALSE, FALSE, sizeof (gdouble), n);
    for (guint i = 0; i < n; i++) {
      /* NaN is reported when the kernel is made. */
      if (!g_value_transform (gst_value_array_get_value (value, i), &number))
        g_value_set_double (&number, NAN);
      g_array_append_val (asked->numbers, number.data[0].v_double);
    }
  } else if (prop_id == PROP_KERNEL_LOCATION) {
    const gchar *location = g_value_get_string (value);

    g_clear_pointer (&asked->location, g_ref_string_release);
    /* Another string even for the same name, as the file may have changed. */
    if (location && *location)
      asked->location = g_ref_string_new (location);
  } else {
    gst_tfx_band_set_field (G_STRUCT_MEMBER_P (self, fields[prop_id]), value);
  }
  GST_OBJECT_UNLOCK (self);
  gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
}

static void
gst_tfx_fir_get_property (GObject *object, guint prop_id, GValue *value,
    GParamSpec *pspec)
{
  GstTfxFir *self = GST_TFX_FIR (object);
  const GArray *numbers;

  GST_OBJECT_LOCK (self);
  numbers = self->asked.numbers;
  if (prop_id == PROP_KERNEL) {
    GValue item = G_VALUE_INIT;

    g_value_init (&item, G_TYPE_DOUBLE);
    for (guint i = 0; numbers && i < numbers->len; i++) {
      g_value_set_double (&item, g_array_index (numbers, gdouble, i));
      gst_value_array_append_value (value, &item);
    }
  } else if (prop_id == PROP_KERNEL_LOCATION) {
    g_value_set_string (value, self->asked.location);
  } else {
    gst_tfx_band_get_field (G_STRUCT_MEMBER_P (self, fields[prop_id]), value);
  }
  GST_OBJECT_UNLOCK (self);
}

/* ---- the class ----------------------------------------------------------- */

static gboolean
gst_tfx_fir_get_channels (GstTfxElement *element, GstTfxChannels *channels,
    guint *least)
{
  const guint n = g_atomic_int_get (&GST_TFX_FIR (element)->n_kernels);

  *channels = n > 1 ? (GstTfxChannels){ n, n, n } : (GstTfxChannels){ 0 };
  *least = 1;
  return n > 1;
}

static void
gst_tfx_fir_stop (GstTfxElement *element)
{
  GstTfxFir *self = GST_TFX_FIR (element);

  g_atomic_int_set (&self->n_kernels, 1);
  gst_tfx_fir_stage_clear (self);
  gst_tfx_kernel_clear (self);
}

static void
gst_tfx_fir_unref_stage (gpointer data)
{
  TfxStage *stage = data;

  tfx_stage_unref (&stage);
}

static void
gst_tfx_fir_finalize (GObject *object)
{
  GstTfxFir *self = GST_TFX_FIR (object);

  gst_tfx_kernel_clear_asked (&self->asked);
  g_ptr_array_unref (self->moving);
  G_OBJECT_CLASS (gst_tfx_fir_parent_class)->finalize (object);
}

static void
gst_tfx_fir_class_init (GstTfxFirClass *klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstTfxElementClass *element_class = GST_TFX_ELEMENT_CLASS (klass);
  GType type;

  gobject_class->set_property = gst_tfx_fir_set_property;
  gobject_class->get_property = gst_tfx_fir_get_property;
  gobject_class->finalize = gst_tfx_fir_finalize;
  gst_tfx_band_install_properties (gobject_class, PROP_MODE);

  /**
   * GstTfxFir:taps:
   *
   * Length of the designed kernel.  More taps make it steeper.  High-pass and
   * band-reject filters need an odd number, since the response of an even one is
   * 0 at half the rate: an even number is raised by one, with a warning.
   */
  g_object_class_install_property (gobject_class, PROP_TAPS,
      g_param_spec_int ("taps", "Taps",
          "Number of taps of the designed kernel (odd for high-pass and "
          "band-reject)",
          1, TFX_FIR_MAX_TAPS, DEFAULT_TAPS,
          PARAM_FLAGS | GST_PARAM_CONTROLLABLE));

  /**
   * GstTfxFir:window:
   *
   * The window of the design: a compromise between a steep edge and a deep stop
   * band.
   */
  type = g_enum_register_static ("GstTfxWindow", windows);
  gst_type_mark_as_plugin_api (type, 0);
  g_object_class_install_property (gobject_class, PROP_WINDOW,
      g_param_spec_enum ("window", "Window",
          "Window function of the designed kernel", type, DEFAULT_WINDOW,
          PARAM_FLAGS | GST_PARAM_CONTROLLABLE));

  /**
   * GstTfxFir:beta:
   *
   * The shape of the Kaiser window: 0 is rectangular, higher values give a deeper
   * stop band and a less steep edge.
   */
  g_object_class_install_property (gobject_class, PROP_BETA,
      g_param_spec_double ("beta", "Beta", "Beta of the Kaiser window", 0.0,
          TFX_FIR_MAX_BETA, DEFAULT_BETA,
          PARAM_FLAGS | GST_PARAM_CONTROLLABLE));

  /**
   * GstTfxFir:kernel:
   *
   * An impulse response for all channels, instead of a designed one.  An empty
   * array is none.
   */
  g_object_class_install_property (gobject_class, PROP_KERNEL,
      gst_param_spec_array ("kernel", "Kernel",
          "Taps to use instead of a designed kernel (numbers of any type)",
          NULL, PARAM_FLAGS));

  /**
   * GstTfxFir:kernel-location:
   *
   * A sound file with an impulse response, instead of any other kernel: it has
   * one channel for all channels of the stream, or the same number as the stream.
   * It is resampled to the rate of the stream.  The file is read at each start,
   * from READY to PAUSED, and when this property is set while playing, even to
   * the same name.
   *
   * A file that cannot be used is an error if there is no kernel yet.  Otherwise
   * it is a warning, and the previous kernel stays in use.
   */
  g_object_class_install_property (gobject_class, PROP_KERNEL_LOCATION,
      g_param_spec_string ("kernel-location", "Kernel location",
          "Impulse response file to use instead of any other kernel", NULL,
          PARAM_FLAGS));

  /**
   * GstTfxFir:phase:
   *
   * The phase of the kernel, designed or not.  A minimum phase has the shortest
   * delay, none that is removed by #GstTfxFir:align.  A linear phase is symmetric:
   * a kernel that is not gets twice the taps.  The magnitude stays the same, to
   * -100 dB of its peak; a kernel that cannot keep it, such as the response of a
   * room with a linear phase, is refused.
   *
   * The kernel is made in the background, in seconds if it is long.  It has at
   * most 1048576 taps.
   */
  type = g_enum_register_static ("GstTfxPhase", phases);
  gst_type_mark_as_plugin_api (type, 0);
  g_object_class_install_property (gobject_class, PROP_PHASE,
      g_param_spec_enum ("phase", "Phase",
          "Phase of the kernel, with the same magnitude", type, DEFAULT_PHASE,
          PARAM_FLAGS));

  /**
   * GstTfxFir:method:
   *
   * The convolution method.
   */
  type = g_enum_register_static ("GstTfxFirMethod", methods);
  gst_type_mark_as_plugin_api (type, 0);
  g_object_class_install_property (gobject_class, PROP_METHOD,
      g_param_spec_enum ("method", "Method", "Convolution method", type,
          DEFAULT_METHOD, PARAM_FLAGS));

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

  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "FIR filter", "Filter/Effect/Audio",
      "Convolution with a designed kernel, given taps or a sound file",
      "the gst-tfx authors");
  element_class->build_chain = gst_tfx_fir_stage_build_chain;
  element_class->move_stage = gst_tfx_fir_stage_move;
  element_class->reserve = gst_tfx_fir_stage_reserve;
  element_class->get_channels = gst_tfx_fir_get_channels;
  element_class->start = gst_tfx_kernel_start;
  element_class->stop = gst_tfx_fir_stop;
}

static void
gst_tfx_fir_init (GstTfxFir *self)
{
  self->asked = (GstTfxFirAsked){ .n_taps = DEFAULT_TAPS,
    .window = DEFAULT_WINDOW,
    .beta = DEFAULT_BETA,
    .phase = DEFAULT_PHASE,
    .method = DEFAULT_METHOD,
    .align = DEFAULT_ALIGN,
    .delay = DEFAULT_DELAY };
  gst_tfx_band_init (&self->asked.band);
  self->n_kernels = 1;
  self->id = tfx_stage_new_id ();
  self->moving = g_ptr_array_new_with_free_func (gst_tfx_fir_unref_stage);
}
