/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcamillafilter.c: filters of CamillaDSP.
 *
 * Sections that depend on the sample rate in another way than those of the classes
 * become coefficients for the rate of the configuration ("fs").
 */
#include <math.h>
#include <string.h>

#include "gsttfxpresettree.h"

#define SHELF(klass, q)                                                        \
  klass "({freq}, q={" q "}, gain={gain}, gain_scale='db')"
#define WIDE(klass, gain)                                                      \
  klass "({freq}, q={bandwidth}" gain ", q_scale='octaves')"
#define PEAK(n) "ParametricEQ({fp" n "}, q={qp" n "}, gain={gp" n "})"

/* Filters that only need their numbers; has: a number that must be there, or NULL. */
static const struct
{
  const gchar *type, *subtype, *has, *call;
} calls[] = {
  { "Biquad", "Lowpass", NULL, "BiquadLPF({freq}, q={q})" },
  { "Biquad", "Highpass", NULL, "BiquadHPF({freq}, q={q})" },
  { "Biquad", "Peaking", "bandwidth", WIDE ("ParametricEQ", ", gain={gain}") },
  { "Biquad", "Peaking", NULL, "ParametricEQ({freq}, q={q}, gain={gain})" },
  { "Biquad", "Notch", "bandwidth", WIDE ("BiquadNotch", "") },
  { "Biquad", "Notch", NULL, "BiquadNotch({freq}, q={q})" },
  { "Biquad", "Bandpass", "bandwidth", WIDE ("BiquadBPF", "") },
  { "Biquad", "Bandpass", NULL, "BiquadBPF({freq}, q={q})" },
  { "Biquad", "Allpass", "bandwidth", WIDE ("BiquadAllPass", "") },
  { "Biquad", "Allpass", NULL, "BiquadAllPass({freq}, q={q})" },
  { "Biquad", "Lowshelf", "q", SHELF ("LoShelving", "q") },
  { "Biquad", "Highshelf", "q", SHELF ("HiShelving", "q") },
  { "Biquad", "LowshelfFO", NULL,
      "LoShelving1({freq}, gain={gain}, gain_scale='db')" },
  { "Biquad", "HighshelfFO", NULL,
      "HiShelving1({freq}, gain={gain}, gain_scale='db')" },
  { "Biquad", "LowpassFO", NULL, "LoButterworth({freq}, order=1)" },
  { "Biquad", "HighpassFO", NULL, "HiButterworth({freq}, order=1)" },
  /* (1 - s) / (1 + s) */
  { "Biquad", "AllpassFO", NULL,
      "LoButterworth({freq}, order=1) + (HiButterworth({freq}, order=1) | "
      "Gain(-1))" },
  { "BiquadCombo", "ButterworthLowpass", NULL,
      "LoButterworth({freq}, order={order})" },
  { "BiquadCombo", "ButterworthHighpass", NULL,
      "HiButterworth({freq}, order={order})" },
  { "BiquadCombo", "LinkwitzRileyLowpass", NULL,
      "LoLinkwitzRiley({freq}, order={order})" },
  { "BiquadCombo", "LinkwitzRileyHighpass", NULL,
      "HiLinkwitzRiley({freq}, order={order})" },
  { "BiquadCombo", "Tilt", NULL,
      "LoShelving(110, q=0.35, gain={gain*-0.5}, gain_scale='db') | "
      "HiShelving(3500, q=0.35, gain={gain*0.5}, gain_scale='db')" },
  { "BiquadCombo", "FivePointPeq", NULL,
      "LoShelving({fls}, q={qls}, gain={gls}, gain_scale='db') | " PEAK (
          "1") " | " PEAK ("2") " | " PEAK ("3") " | "
                                                 "HiShelving({fhs}, q={qhs}, "
                                                 "gain={ghs}, "
                                                 "gain_scale='db')" },
};

typedef struct
{
  GstTfxPresetWriter *writer;
  GstTfxPresetNode *map; /* the parameters */
  gdouble rate_hz;
  gchar *(*replace) (gpointer data, const gchar *name);
  gpointer data;
} Filter;

static gdouble
get_number (Filter *self, const gchar *key)
{
  return gst_tfx_preset_node_number (self->map, key, NAN);
}

/* Numbers of a list; empty after a fault. */
static GArray *
get_list (Filter *self, const gchar *key)
{
  const GstTfxPresetNode *list =
      gst_tfx_preset_node_get (self->map, key, GST_TFX_PRESET_NODE_LIST, TRUE);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; list && i < list->children->len; i++) {
    const gdouble number =
        gst_tfx_preset_node_read_number (list->children->pdata[i]);

    g_array_append_val (numbers, number);
  }
  return numbers;
}

/* ---- sections -------------------------------------------------------------------- */

static void
write_slope (Filter *self, const gchar *type)
{
  const gdouble hz = get_number (self, "freq");
  const gdouble gain_db = get_number (self, "gain");
  const gdouble slope = get_number (self, "slope");

  if (!(slope > 0.0 && slope <= 12.0))
    gst_tfx_preset_writer_fail (self->writer,
        "slope is %s, out of range (above 0 and at most 12)",
        GST_TFX_PRESET_NUMBER (slope));
  gst_tfx_preset_writer_add_section (self->writer,
      *type == 'L' ? "LoShelving" : "HiShelving", hz,
      gst_tfx_preset_find_shelf_q (slope / 12.0, gain_db), FALSE, gain_db);
}

/* A section for the rate of the configuration; b0 to b2, a0 to a2. */
static void
write_coefficients (Filter *self, const gdouble *b, const gdouble *a)
{
  const gboolean has_rate = self->rate_hz > 0.0;

  gst_tfx_preset_writer_add (self->writer, "Biquad(%s, %s, %s, %s, %s, %s%s%s)",
      GST_TFX_PRESET_NUMBER (b[0]), GST_TFX_PRESET_NUMBER (b[1]),
      GST_TFX_PRESET_NUMBER (b[2]), GST_TFX_PRESET_NUMBER (a[0]),
      GST_TFX_PRESET_NUMBER (a[1]), GST_TFX_PRESET_NUMBER (a[2]),
      has_rate ? ", fs=" : "",
      has_rate ? GST_TFX_PRESET_NUMBER (self->rate_hz) : "");
}

/* The rate that an analog formula needs; FALSE after a fault. */
static gboolean
needs_rate (Filter *self)
{
  if (self->rate_hz > 0.0)
    return TRUE;
  gst_tfx_preset_node_fail (self->map,
      "this type needs devices.samplerate, which is missing");
  return FALSE;
}

static gdouble
warp (const Filter *self, gdouble hz)
{
  return tan (G_PI * hz / self->rate_hz);
}

/* (n[0] + n[1] s + n[2] s^2) / (d[0] + d[1] s + d[2] s^2), s = k (1 - 1/z) /
 * (1 + 1/z). */
static void
write_analog (Filter *self, const gdouble *n, const gdouble *d, gdouble k)
{
  const gdouble *from[] = { n, d };
  gdouble to[2][3];

  for (guint i = 0; i < 2; i++) {
    const gdouble c0 = from[i][0], c1 = from[i][1] * k, c2 = from[i][2] * k * k;

    to[i][0] = c0 + c1 + c2;
    to[i][1] = 2.0 * (c0 - c2);
    to[i][2] = c0 - c1 + c2;
  }
  for (guint i = 0; i < 3; i++)
    to[0][i] /= to[1][0];
  for (gint i = 2; i >= 0; i--)
    to[1][i] /= to[1][0];
  write_coefficients (self, to[0], to[1]);
}

static void
write_general_notch (Filter *self, const gchar *type)
{
  const gdouble p = warp (self, get_number (self, "freq_p"));
  const gdouble z = warp (self, get_number (self, "freq_z"));
  const gdouble q = get_number (self, "q_p");
  const gboolean is_normal =
      gst_tfx_preset_node_flag (self->map, "normalize_at_dc", FALSE);
  const gdouble gain = is_normal ? p * p / (z * z) : 1.0;

  if (needs_rate (self))
    write_analog (self, (gdouble[]){ gain * z * z, 0.0, gain },
        (gdouble[]){ p * p, p / q, 1.0 }, 1.0);
}

static void
write_linkwitz (Filter *self, const gchar *type)
{
  const gdouble now = get_number (self, "freq_act");
  const gdouble then = get_number (self, "freq_target");
  const gdouble q_now = get_number (self, "q_act");
  const gdouble q_then = get_number (self, "q_target");
  /* Between the frequencies the transform is exact. */
  const gdouble middle = 0.5 * (now + then);

  if (needs_rate (self))
    write_analog (self, (gdouble[]){ now * now, now / q_now, 1.0 },
        (gdouble[]){ then * then, then / q_then, 1.0 },
        middle / warp (self, middle));
}

static void
write_free (Filter *self, const gchar *type)
{
  write_coefficients (self,
      (gdouble[]){ get_number (self, "b0"), get_number (self, "b1"),
          get_number (self, "b2") },
      (gdouble[]){ 1.0, get_number (self, "a1"), get_number (self, "a2") });
}

static void
write_graphic (Filter *self, const gchar *type)
{
  const gdouble low = gst_tfx_preset_node_number (self->map, "freq_min", 20.0);
  const gdouble high =
      gst_tfx_preset_node_number (self->map, "freq_max", 20000.0);
  GArray *gains = get_list (self, "gains");
  const gdouble octaves = log2 (high / low) / gains->len;

  if (!(low > 0.0 && low < high))
    gst_tfx_preset_writer_fail (self->writer,
        "freq_min must be above 0 and below freq_max");
  /* Bands of less are left out there, too. */
  for (guint i = 0; i < gains->len; i++) {
    const gdouble gain_db = g_array_index (gains, gdouble, i);

    if (fabs (gain_db) > 0.001)
      gst_tfx_preset_writer_add_section (self->writer, "ParametricEQ",
          low * exp2 ((i + 0.5) * octaves), octaves, TRUE, gain_db);
  }
  g_array_unref (gains);
}

/* ---- FIR filters and others ------------------------------------------------------ */

static void
write_values (Filter *self, const gchar *type)
{
  GArray *taps = get_list (self, "values");
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < taps->len; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
        GST_TFX_PRESET_NUMBER (g_array_index (taps, gdouble, i)));
  gst_tfx_preset_writer_add (self->writer, "FIR([%s])", text->str);
  g_string_free (text, TRUE);
  g_array_unref (taps);
}

static void
write_file (Filter *self, const gchar *type)
{
  const gboolean is_raw = *type == 'R';
  gchar *name, *quoted, *channel = NULL;
  const gchar *format;

  if (is_raw) {
    format = gst_tfx_preset_node_text (self->map, "format", "TEXT");
    if (strcmp (format, "TEXT") != 0 ||
        gst_tfx_preset_node_number (self->map, "skip_bytes_lines", 0) != 0.0 ||
        gst_tfx_preset_node_number (self->map, "read_bytes_lines", 0) != 0.0)
      gst_tfx_preset_node_fail (self->map,
          "of raw files only whole ones of the format TEXT can be read; "
          "convert "
          "the file to WAV");
  } else {
    channel = g_strdup_printf (", channel=%s",
        GST_TFX_PRESET_NUMBER (
            gst_tfx_preset_node_number (self->map, "channel", 0.0)));
  }
  name = self->replace (self->data,
      gst_tfx_preset_node_text (self->map, "filename", NULL));
  quoted = gst_tfx_preset_writer_quote (self->writer, name);
  gst_tfx_preset_writer_add (self->writer, "Convolve(%s%s)", quoted,
      channel ? channel : "");
  g_free (channel);
  g_free (quoted);
  g_free (name);
}

static void
write_gain (Filter *self, const gchar *type)
{
  const gchar *scale = gst_tfx_preset_node_text (self->map, "scale", "dB");
  const gboolean is_inverted =
      gst_tfx_preset_node_flag (self->map, "inverted", FALSE);
  gdouble gain = get_number (self, "gain");

  if (strcmp (scale, "dB") != 0 && strcmp (scale, "linear") != 0)
    gst_tfx_preset_node_fail (self->map, "unknown scale '%s'", scale);
  if (gst_tfx_preset_node_flag (self->map, "mute", FALSE))
    gst_tfx_preset_writer_add (self->writer, "Gain(0)");
  else if (strcmp (scale, "dB") == 0 && !is_inverted)
    gst_tfx_preset_writer_add (self->writer, "Gain(%s, gain_type='db')",
        GST_TFX_PRESET_NUMBER (gain));
  else {
    if (strcmp (scale, "dB") == 0)
      gain = pow (10.0, gain / 20.0);
    gst_tfx_preset_writer_add (self->writer, "Gain(%s)",
        GST_TFX_PRESET_NUMBER (is_inverted ? -gain : gain));
  }
}

static void
write_delay (Filter *self, const gchar *type)
{
  static const struct
  {
    const gchar *name;
    gdouble ms; /* sound travels 343 m/s */
  } units[] = { { "ms", 1.0 }, { "us", 0.001 }, { "mm", 1.0 / 343.0 },
    { "samples", 0.0 } };
  const gchar *unit = gst_tfx_preset_node_text (self->map, "unit", "ms");
  const gdouble delay = get_number (self, "delay");
  guint i = 0;

  if (gst_tfx_preset_node_flag (self->map, "subsample", FALSE))
    gst_tfx_preset_node_fail (self->map, "subsample has no equal here");
  while (i < G_N_ELEMENTS (units) && strcmp (units[i].name, unit) != 0)
    i++;
  if (i == G_N_ELEMENTS (units))
    gst_tfx_preset_writer_fail (self->writer, "unknown unit '%s'", unit);
  else
    gst_tfx_preset_writer_add_delay (self->writer,
        units[i].ms > 0.0 ? delay * units[i].ms : delay, units[i].ms > 0.0);
}

/* A fader is at 0 dB, unless its limit is lower. */
static void
write_volume (Filter *self, const gchar *type)
{
  const gchar *fader = gst_tfx_preset_node_text (self->map, "fader", NULL);
  const gdouble limit_db =
      gst_tfx_preset_node_number (self->map, "limit", 50.0);

  gst_tfx_preset_node_ignore (self->map, "ramp_time");
  gst_tfx_preset_writer_note (self->writer,
      "the fader %s is not in the file: it is taken to be at %s dB", fader,
      GST_TFX_PRESET_NUMBER (fmin (0.0, limit_db)));
  gst_tfx_preset_writer_add_gain (self->writer, fmin (0.0, limit_db));
}

void
gst_tfx_camilla_filter_write_clip (GstTfxPresetNode *map)
{
  const gdouble limit_db = gst_tfx_preset_node_number (map, "clip_limit", 0.0);

  if (gst_tfx_preset_node_flag (map, "soft_clip", FALSE))
    gst_tfx_preset_node_fail (map, "soft_clip has no equal here");
  gst_tfx_preset_writer_add (map->writer,
      "Gain(%s, gain_type='db', clamp=True) | Gain(%s, gain_type='db')",
      GST_TFX_PRESET_NUMBER (-limit_db + 0.0),
      GST_TFX_PRESET_NUMBER (limit_db));
}

static void
write_clip (Filter *self, const gchar *type)
{
  gst_tfx_camilla_filter_write_clip (self->map);
}

/* Writes the call of the table; FALSE if there is none. */
static gboolean
write_call (Filter *self, const gchar *type, const gchar *subtype)
{
  for (guint i = 0; i < G_N_ELEMENTS (calls); i++) {
    if (strcmp (calls[i].type, type) == 0 &&
        strcmp (calls[i].subtype, subtype) == 0 &&
        (!calls[i].has || gst_tfx_preset_node_get (self->map, calls[i].has,
                              GST_TFX_PRESET_NODE_TEXT, FALSE))) {
      gst_tfx_preset_node_write (self->map, calls[i].call);
      return TRUE;
    }
  }
  return FALSE;
}

void
gst_tfx_camilla_filter_write (GstTfxPresetNode *filter, gdouble rate_hz,
    gchar *(*replace) (gpointer data, const gchar *name), gpointer data)
{
  static const struct
  {
    const gchar *type, *subtype;
    void (*write) (Filter *self, const gchar *subtype);
  } others[] = { { "Biquad", "Free", write_free },
    { "Biquad", "GeneralNotch", write_general_notch },
    { "Biquad", "LinkwitzTransform", write_linkwitz },
    { "Biquad", "Lowshelf", write_slope },
    { "Biquad", "Highshelf", write_slope },
    { "BiquadCombo", "GraphicEqualizer", write_graphic },
    { "Conv", "Values", write_values }, { "Conv", "Raw", write_file },
    { "Conv", "Wav", write_file }, { "Gain", "", write_gain },
    { "Delay", "", write_delay }, { "Volume", "", write_volume },
    { "Limiter", "", write_clip } };
  const gchar *type = gst_tfx_preset_node_text (filter, "type", NULL);
  Filter self = { filter->writer,
    gst_tfx_preset_node_get (filter, "parameters", GST_TFX_PRESET_NODE_MAP,
        TRUE),
    rate_hz, replace, data };
  const gchar *subtype =
      self.map ? gst_tfx_preset_node_text (self.map, "type", "") : "";
  guint i;

  gst_tfx_preset_node_ignore (filter, "description");
  gst_tfx_preset_node_close (filter);
  if (filter->writer->fault)
    return;
  gst_tfx_preset_node_enter (self.map);
  if (!write_call (&self, type, subtype)) {
    for (i = 0; i < G_N_ELEMENTS (others); i++) {
      if (strcmp (others[i].type, type) == 0 &&
          strcmp (others[i].subtype, subtype) == 0)
        break;
    }
    if (i < G_N_ELEMENTS (others))
      others[i].write (&self, subtype);
    else
      gst_tfx_preset_node_fail (filter, "type '%s%s%s' has no equal here", type,
          *subtype ? "." : "", subtype);
  }
  gst_tfx_preset_node_close (self.map);
}
