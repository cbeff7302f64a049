/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxband.c: the properties for the frequencies that a filter passes.
 */
#include "gsttfxband.h"

/* Half of the highest rate in caps. */
#define MAX_FREQUENCY (G_MAXINT / 2.0)

#define DEFAULT_MODE TFX_MODE_LOW_PASS
#define DEFAULT_CUTOFF 1000.0
/* A telephone line. */
#define DEFAULT_LOWER_FREQUENCY 300.0
#define DEFAULT_UPPER_FREQUENCY 3400.0

/* Distance of the frequencies from 0, from half the rate and from each other when the
 * requested ones do not work, as a fraction of the rate.  Ten times the distance is
 * tried next if that is too close for a filter in double precision, and so on. */
#define FIRST_MARGIN 1e-6
#define LAST_MARGIN 0.11

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |       \
      GST_PARAM_MUTABLE_PLAYING)

static const GEnumValue modes[] = {
  [TFX_MODE_LOW_PASS] = { TFX_MODE_LOW_PASS, "Passes below cutoff",
      "low-pass" },
  [TFX_MODE_HIGH_PASS] = { TFX_MODE_HIGH_PASS, "Passes above cutoff",
      "high-pass" },
  [TFX_MODE_BAND_PASS] = { TFX_MODE_BAND_PASS, "Passes inside the band",
      "band-pass" },
  [TFX_MODE_BAND_REJECT] = { TFX_MODE_BAND_REJECT, "Passes outside the band",
      "band-reject" },
  { 0, NULL, NULL },
};

GType
gst_tfx_mode_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstTfxMode", modes));
  return type;
}

const gchar *
gst_tfx_mode_get_nick (TfxMode mode)
{
  return modes[mode].value_nick;
}

void
gst_tfx_band_install_properties (GObjectClass *klass, guint first_id)
{
  g_object_class_install_property (klass, first_id + GST_TFX_BAND_MODE,
      g_param_spec_enum ("mode", "Mode", "Filter type", GST_TYPE_TFX_MODE,
          DEFAULT_MODE, PARAM_FLAGS));

  g_object_class_install_property (klass, first_id + GST_TFX_BAND_CUTOFF,
      g_param_spec_double ("cutoff", "Cutoff",
          "Cutoff frequency in Hz (low-pass and high-pass)", 0.0, MAX_FREQUENCY,
          DEFAULT_CUTOFF, PARAM_FLAGS));

  g_object_class_install_property (klass,
      first_id + GST_TFX_BAND_LOWER_FREQUENCY,
      g_param_spec_double ("lower-frequency", "Lower frequency",
          "Lower band edge in Hz (band-pass and band-reject)", 0.0,
          MAX_FREQUENCY, DEFAULT_LOWER_FREQUENCY, PARAM_FLAGS));

  g_object_class_install_property (klass,
      first_id + GST_TFX_BAND_UPPER_FREQUENCY,
      g_param_spec_double ("upper-frequency", "Upper frequency",
          "Upper band edge in Hz (band-pass and band-reject)", 0.0,
          MAX_FREQUENCY, DEFAULT_UPPER_FREQUENCY, PARAM_FLAGS));

  gst_type_mark_as_plugin_api (GST_TYPE_TFX_MODE, 0);
}

void
gst_tfx_band_init (GstTfxBand *self)
{
  self->mode = DEFAULT_MODE;
  self->cutoff = DEFAULT_CUTOFF;
  self->lower = DEFAULT_LOWER_FREQUENCY;
  self->upper = DEFAULT_UPPER_FREQUENCY;
}

gboolean
gst_tfx_band_set (GstTfxBand *self, guint property, const GValue *value)
{
  gdouble *const frequencies[] = { &self->cutoff, &self->lower, &self->upper };

  if (property == GST_TFX_BAND_MODE)
    self->mode = g_value_get_enum (value);
  else if (property < GST_TFX_BAND_N_PROPERTIES)
    *frequencies[property - GST_TFX_BAND_CUTOFF] = g_value_get_double (value);
  return property < GST_TFX_BAND_N_PROPERTIES;
}

gboolean
gst_tfx_band_get (const GstTfxBand *self, guint property, GValue *value)
{
  const gdouble frequencies[] = { self->cutoff, self->lower, self->upper };

  if (property == GST_TFX_BAND_MODE)
    g_value_set_enum (value, self->mode);
  else if (property < GST_TFX_BAND_N_PROPERTIES)
    g_value_set_double (value, frequencies[property - GST_TFX_BAND_CUTOFF]);
  return property < GST_TFX_BAND_N_PROPERTIES;
}

gboolean
gst_tfx_band_has_edges (const GstTfxBand *self)
{
  return self->mode == TFX_MODE_BAND_PASS || self->mode == TFX_MODE_BAND_REJECT;
}

/* The nearest band whose edges keep margin_hz from 0, from half the rate and from each
 * other.  If the upper edge is below the lower one, the upper one is raised. */
static GstTfxBand
gst_tfx_band_fit (const GstTfxBand *asked, gdouble rate, gdouble margin_hz)
{
  gdouble top = 0.5 * rate - margin_hz;
  GstTfxBand used = *asked;

  if (gst_tfx_band_has_edges (asked)) {
    used.lower = CLAMP (asked->lower, margin_hz, top - margin_hz);
    used.upper = CLAMP (asked->upper, used.lower + margin_hz, top);
  } else {
    used.cutoff = CLAMP (asked->cutoff, margin_hz, top);
  }
  return used;
}

gboolean
gst_tfx_band_meet (const GstTfxBand *asked, gdouble rate, GstTfxBandFunc make,
    gpointer data, GstTfxBand *used, gdouble *margin_hz)
{
  gboolean ok;

  *used = *asked;
  *margin_hz = 0.0;
  ok = make (used, data);
  for (gdouble part = FIRST_MARGIN; !ok && part < LAST_MARGIN; part *= 10.0) {
    *margin_hz = part * rate;
    *used = gst_tfx_band_fit (asked, rate, *margin_hz);
    ok = make (used, data);
  }
  return ok;
}

/* A frequency that the mode does not use never differs. */
void
gst_tfx_band_report (const GstTfxBand *asked, const GstTfxBand *used,
    GstTfxElement *filter, gdouble rate, gdouble margin_hz)
{
  gdouble top = 0.5 * rate - margin_hz;
  GstTfxClamp cutoff = { "cutoff", " Hz", asked->cutoff, used->cutoff,
    margin_hz, top };
  GstTfxClamp lower = { "lower-frequency", " Hz", asked->lower, used->lower,
    margin_hz, top - margin_hz };
  GstTfxClamp upper = { "upper-frequency", " Hz", asked->upper, used->upper,
    used->lower + margin_hz, top, ", above lower-frequency" };

  gst_tfx_element_report_clamp (filter, &cutoff, rate);
  gst_tfx_element_report_clamp (filter, &lower, rate);
  gst_tfx_element_report_clamp (filter, &upper, rate);
}
