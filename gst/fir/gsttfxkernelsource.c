/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernelsource.c: the properties for the kernel of a FIR filter.
 */
#include "gsttfxkernelsource.h"

#include <math.h>

#define DEFAULT_TAPS 101
#define DEFAULT_WINDOW TFX_WINDOW_HAMMING
/* Gives a stop band of -87 dB. */
#define DEFAULT_BETA 8.6

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

/* ---- properties ------------------------------------------------------------------- */

GType
gst_tfx_window_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = { { TFX_WINDOW_HAMMING, "Hamming",
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

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstTfxWindow", values));
  return type;
}

void
gst_tfx_kernel_source_install_properties (GObjectClass *klass, guint first_id)
{
  gst_tfx_band_install_properties (klass,
      first_id + GST_TFX_KERNEL_SOURCE_BAND);

  /**
   * GstTfxFir:taps:
   *
   * Length of the designed kernel.  More taps make it steeper.  High-pass and
   * band-reject filters need an odd number, since the response of an even one is
   * 0 at half the rate: an even number is raised by one, with a warning.
   */
  g_object_class_install_property (klass, first_id + GST_TFX_KERNEL_SOURCE_TAPS,
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
  g_object_class_install_property (klass,
      first_id + GST_TFX_KERNEL_SOURCE_WINDOW,
      g_param_spec_enum ("window", "Window",
          "Window function of the designed kernel", GST_TYPE_TFX_WINDOW,
          DEFAULT_WINDOW, PARAM_FLAGS | GST_PARAM_CONTROLLABLE));

  /**
   * GstTfxFir:beta:
   *
   * The shape of the Kaiser window: 0 is rectangular, higher values give a deeper
   * stop band and a less steep edge.
   */
  g_object_class_install_property (klass, first_id + GST_TFX_KERNEL_SOURCE_BETA,
      g_param_spec_double ("beta", "Beta", "Beta of the Kaiser window", 0.0,
          TFX_FIR_MAX_BETA, DEFAULT_BETA,
          PARAM_FLAGS | GST_PARAM_CONTROLLABLE));

  /**
   * GstTfxFir:kernel:
   *
   * An impulse response for all channels, instead of a designed one.  An empty
   * array is none.
   */
  g_object_class_install_property (klass,
      first_id + GST_TFX_KERNEL_SOURCE_KERNEL,
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
  g_object_class_install_property (klass,
      first_id + GST_TFX_KERNEL_SOURCE_KERNEL_LOCATION,
      g_param_spec_string ("kernel-location", "Kernel location",
          "Impulse response file to use instead of any other kernel", NULL,
          PARAM_FLAGS));

  gst_type_mark_as_plugin_api (GST_TYPE_TFX_WINDOW, 0);
}

void
gst_tfx_kernel_source_init (GstTfxKernelSource *self)
{
  gst_tfx_band_init (&self->band);
  self->n_taps = DEFAULT_TAPS;
  self->window = DEFAULT_WINDOW;
  self->beta = DEFAULT_BETA;
}

/* The numbers of an array; NULL if it is empty.  Values of other types become NaN, which
 * is reported when the kernel is made. */
static GArray *
gst_tfx_kernel_source_read_values (const GValue *array)
{
  guint n = gst_value_array_get_size (array);
  GValue number = G_VALUE_INIT;
  GArray *values;

  if (n == 0)
    return NULL;
  values = g_array_sized_new (FALSE, FALSE, sizeof (gdouble), n);
  g_value_init (&number, G_TYPE_DOUBLE);
  for (guint i = 0; i < n; i++) {
    if (!g_value_transform (gst_value_array_get_value (array, i), &number))
      g_value_set_double (&number, NAN);
    g_array_append_val (values, number.data[0].v_double);
  }
  return values;
}

static void
gst_tfx_kernel_source_write_values (const GArray *values, GValue *array)
{
  GValue item = G_VALUE_INIT;

  g_value_init (&item, G_TYPE_DOUBLE);
  for (guint i = 0; values && i < values->len; i++) {
    g_value_set_double (&item, g_array_index (values, gdouble, i));
    gst_value_array_append_value (array, &item);
  }
  g_value_unset (&item);
}

/* The serial changes each time, because the file may have changed. */
static void
gst_tfx_kernel_source_set_location (GstTfxKernelSource *self,
    const gchar *location)
{
  g_free (self->location);
  self->location = location && *location ? g_strdup (location) : NULL;
  self->serial++;
}

/* The field of a property of the band; NULL if the number is unknown. */
static gpointer
gst_tfx_kernel_source_find_field (GstTfxKernelSource *self, guint property)
{
  const gpointer fields[] = { &self->band.mode, &self->band.cutoff,
    &self->band.lower, &self->band.upper };
  const guint index = property - GST_TFX_KERNEL_SOURCE_BAND;

  return index < G_N_ELEMENTS (fields) ? fields[index] : NULL;
}

gboolean
gst_tfx_kernel_source_set (GstTfxKernelSource *self, guint property,
    const GValue *value)
{
  gpointer field = gst_tfx_kernel_source_find_field (self, property);

  switch (property) {
    case GST_TFX_KERNEL_SOURCE_TAPS:
      self->n_taps = g_value_get_int (value);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_WINDOW:
      self->window = g_value_get_enum (value);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_BETA:
      self->beta = g_value_get_double (value);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_KERNEL:
      g_clear_pointer (&self->values, g_array_unref);
      self->values = gst_tfx_kernel_source_read_values (value);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_KERNEL_LOCATION:
      gst_tfx_kernel_source_set_location (self, g_value_get_string (value));
      return TRUE;
    default:
      if (field)
        gst_tfx_band_set_field (field, value);
      return field != NULL;
  }
}

gboolean
gst_tfx_kernel_source_get (const GstTfxKernelSource *self, guint property,
    GValue *value)
{
  gpointer field =
      gst_tfx_kernel_source_find_field ((GstTfxKernelSource *)self, property);

  switch (property) {
    case GST_TFX_KERNEL_SOURCE_TAPS:
      g_value_set_int (value, self->n_taps);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_WINDOW:
      g_value_set_enum (value, self->window);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_BETA:
      g_value_set_double (value, self->beta);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_KERNEL:
      gst_tfx_kernel_source_write_values (self->values, value);
      return TRUE;
    case GST_TFX_KERNEL_SOURCE_KERNEL_LOCATION:
      g_value_set_string (value, self->location);
      return TRUE;
    default:
      if (field)
        gst_tfx_band_get_field (field, value);
      return field != NULL;
  }
}

/* ---- copies ---------------------------------------------------------------------- */

void
gst_tfx_kernel_source_copy (GstTfxKernelSource *self,
    const GstTfxKernelSource *from)
{
  *self = *from;
  if (self->values)
    g_array_ref (self->values);
  self->location = g_strdup (from->location);
}

void
gst_tfx_kernel_source_clear (GstTfxKernelSource *self)
{
  g_clear_pointer (&self->values, g_array_unref);
  g_clear_pointer (&self->location, g_free);
}

static gboolean
gst_tfx_kernel_source_equal_designs (const GstTfxKernelSource *a,
    const GstTfxKernelSource *b)
{
  const GstTfxEdges x = gst_tfx_band_get_edges (&a->band);
  const GstTfxEdges y = gst_tfx_band_get_edges (&b->band);

  if (a->band.mode != b->band.mode || a->n_taps != b->n_taps ||
      a->window != b->window)
    return FALSE;
  if (a->window == TFX_WINDOW_KAISER && a->beta != b->beta)
    return FALSE;
  return x.lower_hz == y.lower_hz && x.upper_hz == y.upper_hz;
}

gboolean
gst_tfx_kernel_source_equal (const GstTfxKernelSource *a,
    const GstTfxKernelSource *b)
{
  if (a->location || b->location)
    return a->location && b->location && a->serial == b->serial;
  if (a->values || b->values)
    return a->values == b->values;
  return gst_tfx_kernel_source_equal_designs (a, b);
}
