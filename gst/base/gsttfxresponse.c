/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresponse.c: the frequency response of a chain, and the gain curve of
 * dynamics, for applications.
 */
#include "gsttfxresponse.h"

/* Returns the numbers of a GVariant, or NULL with a warning if it is of another
 * type. */
static const gdouble *
read_doubles (GVariant *variant, gsize *n)
{
  static const gdouble none;
  const gdouble *numbers;

  if (variant && g_variant_is_of_type (variant, G_VARIANT_TYPE ("ad"))) {
    numbers = g_variant_get_fixed_array (variant, n, sizeof (gdouble));
    return numbers ? numbers : &none;
  }
  g_warning ("expected a GVariant of type 'ad', not '%s'",
      variant ? g_variant_get_type_string (variant) : "(null)");
  return NULL;
}

static GVariant *
make_doubles (const gdouble *numbers, gsize n)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, numbers, n,
      sizeof *numbers);
}

GVariant *
gst_tfx_response_new (const TfxChain *chain, guint channel, gdouble rate,
    GstClockTime latency, GVariant *frequencies)
{
  gsize n = 0;
  const gdouble *freq_hz = chain ? read_doubles (frequencies, &n) : NULL;
  GVariantDict dict;
  gdouble *numbers;

  if (!freq_hz)
    return NULL;
  if (!GST_CLOCK_TIME_IS_VALID (latency))
    latency = (GstClockTime)(tfx_chain_latency (chain) * (GST_SECOND / rate));
  numbers = g_new (gdouble, 3 * n + 1);
  for (gsize i = 0; i < n; i++) {
    const TfxComplex h =
        tfx_chain_response_at (chain, channel, freq_hz[i], rate);

    numbers[i] = h.re;
    numbers[n + i] = h.im;
    numbers[2 * n + i] =
        tfx_chain_group_delay_at (chain, channel, freq_hz[i], rate);
  }
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, "rate", "d", rate);
  g_variant_dict_insert (&dict, "channel", "u", channel);
  g_variant_dict_insert (&dict, "latency", "t", latency);
  g_variant_dict_insert_value (&dict, "real", make_doubles (numbers, n));
  g_variant_dict_insert_value (&dict, "imaginary",
      make_doubles (numbers + n, n));
  g_variant_dict_insert_value (&dict, "group-delay",
      make_doubles (numbers + 2 * n, n));
  g_free (numbers);
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

GVariant *
gst_tfx_response_new_curve (const TfxStage *stage, GVariant *levels)
{
  gsize n = 0;
  const gdouble *level_db = read_doubles (levels, &n);
  gdouble *gain_db;
  gint err = 0;
  GVariant *curve;

  if (!level_db)
    return NULL;
  gain_db = g_new (gdouble, n + 1);
  for (gsize i = 0; i < n && err == 0; i++)
    err = tfx_stage_gain_at (stage, level_db[i], &gain_db[i]);
  curve = err == 0 ? g_variant_ref_sink (make_doubles (gain_db, n)) : NULL;
  g_free (gain_db);
  return curve;
}

void
gst_tfx_response_add_signal (GType type, const gchar *name,
    gboolean has_channel, GCallback handler)
{
  g_signal_new_class_handler (name, type, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      handler, NULL, NULL, NULL, G_TYPE_VARIANT, has_channel ? 2 : 1,
      G_TYPE_VARIANT, G_TYPE_UINT);
}
