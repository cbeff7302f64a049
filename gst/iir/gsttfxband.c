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

/* If no filter has the requested frequencies, they keep a distance from 0, from
 * half the rate and from each other: first this fraction of the rate, then ten
 * times more with each attempt, until double precision allows the filter. */
#define FIRST_MARGIN 1e-6
#define LAST_MARGIN 0.11

#define PARAM_FLAGS                                                            \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_CONTROLLABLE |       \
      GST_PARAM_MUTABLE_PLAYING)

/* ---- properties ---------------------------------------------------------- */

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

static GType
gst_tfx_mode_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstTfxMode", modes));
  return type;
}

const gchar *
gst_tfx_band_get_nick (const GstTfxBand *self)
{
  return modes[self->mode].value_nick;
}

void
gst_tfx_band_install_properties (GObjectClass *klass, guint first_id)
{
  const GType type = gst_tfx_mode_get_type ();

  g_object_class_install_property (klass, first_id,
      g_param_spec_enum ("mode", "Mode", "Filter type", type, DEFAULT_MODE,
          PARAM_FLAGS));

  g_object_class_install_property (klass, first_id + 1,
      g_param_spec_double ("cutoff", "Cutoff",
          "Cutoff frequency in Hz (low-pass and high-pass)", 0.0, MAX_FREQUENCY,
          DEFAULT_CUTOFF, PARAM_FLAGS));

  g_object_class_install_property (klass, first_id + 2,
      g_param_spec_double ("lower-frequency", "Lower frequency",
          "Lower band edge in Hz (band-pass and band-reject)", 0.0,
          MAX_FREQUENCY, DEFAULT_LOWER_FREQUENCY, PARAM_FLAGS));

  g_object_class_install_property (klass, first_id + 3,
      g_param_spec_double ("upper-frequency", "Upper frequency",
          "Upper band edge in Hz (band-pass and band-reject)", 0.0,
          MAX_FREQUENCY, DEFAULT_UPPER_FREQUENCY, PARAM_FLAGS));

  gst_type_mark_as_plugin_api (type, 0);
}

void
gst_tfx_band_init (GstTfxBand *self)
{
  *self = (GstTfxBand){ DEFAULT_MODE, DEFAULT_CUTOFF, DEFAULT_LOWER_FREQUENCY,
    DEFAULT_UPPER_FREQUENCY };
}

void
gst_tfx_band_set_field (gpointer field, const GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE (value))
    *(gdouble *)field = g_value_get_double (value);
  else if (G_VALUE_HOLDS_ENUM (value))
    *(gint *)field = g_value_get_enum (value);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    *(gint *)field = g_value_get_boolean (value);
  else
    *(gint *)field = g_value_get_int (value);
}

void
gst_tfx_band_get_field (gconstpointer field, GValue *value)
{
  if (G_VALUE_HOLDS_DOUBLE (value))
    g_value_set_double (value, *(const gdouble *)field);
  else if (G_VALUE_HOLDS_ENUM (value))
    g_value_set_enum (value, *(const gint *)field);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, *(const gint *)field);
  else
    g_value_set_int (value, *(const gint *)field);
}

/* ---- designs ------------------------------------------------------------- */

static gboolean
gst_tfx_band_has_edges (const GstTfxBand *self)
{
  return self->mode == TFX_MODE_BAND_PASS || self->mode == TFX_MODE_BAND_REJECT;
}

GstTfxEdges
gst_tfx_band_get_edges (const GstTfxBand *self)
{
  return gst_tfx_band_has_edges (self)
             ? (GstTfxEdges){ self->lower, self->upper, 0.0 }
             : (GstTfxEdges){ self->cutoff, 0.0, 0.0 };
}

/* If the upper edge is below the lower one, the upper one is raised. */
gboolean
gst_tfx_band_fit (const GstTfxBand *self, gdouble rate, GstTfxEdges *edges)
{
  const gdouble next =
      edges->margin > 0.0 ? 10.0 * edges->margin : FIRST_MARGIN;
  const gdouble margin_hz = next * rate, top = 0.5 * rate - margin_hz;

  if (next >= LAST_MARGIN)
    return FALSE;
  edges->margin = next;
  if (gst_tfx_band_has_edges (self)) {
    edges->lower_hz = CLAMP (self->lower, margin_hz, top - margin_hz);
    edges->upper_hz = CLAMP (self->upper, edges->lower_hz + margin_hz, top);
  } else {
    edges->lower_hz = CLAMP (self->cutoff, margin_hz, top);
  }
  return TRUE;
}

void
gst_tfx_band_report (const GstTfxBand *self, const GstTfxEdges *used,
    GstTfxElement *element, gdouble rate)
{
  const gboolean has_edges = gst_tfx_band_has_edges (self);
  const gdouble margin_hz = used->margin * rate, top = 0.5 * rate - margin_hz;
  /* A frequency that the mode does not use is never out of range. */
  const GstTfxClamp clamps[] = {
    { "cutoff", " Hz", self->cutoff, has_edges ? self->cutoff : used->lower_hz,
        margin_hz, top },
    { "lower-frequency", " Hz", self->lower,
        has_edges ? used->lower_hz : self->lower, margin_hz, top - margin_hz },
    { "upper-frequency", " Hz", self->upper,
        has_edges ? used->upper_hz : self->upper, used->lower_hz + margin_hz,
        top, ", above lower-frequency" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (clamps); i++)
    gst_tfx_element_report_clamp (element, &clamps[i], rate);
}
