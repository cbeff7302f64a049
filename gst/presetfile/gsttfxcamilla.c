/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcamilla.c: configurations of CamillaDSP.
 *
 * "pipeline" has steps, which name the filters, mixers and processors of other
 * sections.  "devices" only matters for the rate and the number of channels.
 *
 * Sections that depend on the sample rate in another way than those of the classes
 * become coefficients for the rate of the configuration ("fs").
 */
#include <math.h>
#include <string.h>

#include "gsttfxtree.h"
#include "lang/expr.h"

typedef struct
{
  GstTfxStages *stages;
  GstTfxTree *root;
  gdouble rate_hz;  /* 0: not known */
  guint n_channels; /* at the step; 0: not known */
} Camilla;

/* ---- sections -------------------------------------------------------------------- */

static void
write_slope (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gdouble gain_db = gst_tfx_tree_number (map, "gain", NAN);
  const gdouble slope = gst_tfx_tree_number (map, "slope", NAN);

  if (!(slope > 0.0 && slope <= 12.0))
    gst_tfx_tree_fail (map,
        "slope is %s, out of range (above 0 and at most 12)",
        gst_tfx_tree_text (map, "slope", NULL));
  gst_tfx_stages_add_section (map->stages,
      strstr (type, "Low") ? "LoShelving" : "HiShelving",
      gst_tfx_tree_number (map, "freq", NAN),
      gst_tfx_stages_find_shelf_q (slope / 12.0, gain_db), FALSE, gain_db);
}

/* (n[0] + n[1] s + n[2] s^2) / (n[3] + n[4] s + n[5] s^2), s = k (1 - 1/z) /
 * (1 + 1/z). */
static void
write_analog (GstTfxTree *map, gdouble rate_hz, const gdouble *n, gdouble k)
{
  gdouble c[6], scale;

  if (rate_hz == 0.0)
    gst_tfx_tree_fail (map,
        "this type needs devices.samplerate, which is missing");
  for (guint i = 0; i < 6; i += 3) {
    c[i] = n[i] + n[i + 1] * k + n[i + 2] * k * k;
    c[i + 1] = 2.0 * (n[i] - n[i + 2] * k * k);
    c[i + 2] = n[i] - n[i + 1] * k + n[i + 2] * k * k;
  }
  scale = c[3];
  for (guint i = 0; i < 6; i++)
    c[i] /= scale;
  gst_tfx_stages_add_biquad (map->stages, c, rate_hz);
}

static void
write_general_notch (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gdouble to_angle = G_PI / rate_hz;
  const gdouble p = tan (to_angle * gst_tfx_tree_number (map, "freq_p", NAN));
  const gdouble z = tan (to_angle * gst_tfx_tree_number (map, "freq_z", NAN));
  const gdouble q = gst_tfx_tree_number (map, "q_p", NAN);
  const gboolean is_normal = gst_tfx_tree_flag (map, "normalize_at_dc", FALSE);
  const gdouble gain = is_normal ? p * p / (z * z) : 1.0;

  write_analog (map, rate_hz,
      (gdouble[]){ gain * z * z, 0.0, gain, p * p, p / q, 1.0 }, 1.0);
}

static void
write_linkwitz (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gdouble now = gst_tfx_tree_number (map, "freq_act", NAN);
  const gdouble then = gst_tfx_tree_number (map, "freq_target", NAN);
  const gdouble q_now = gst_tfx_tree_number (map, "q_act", NAN);
  const gdouble q_then = gst_tfx_tree_number (map, "q_target", NAN);
  /* Between the frequencies the transform is exact. */
  const gdouble middle = 0.5 * (now + then);

  write_analog (map, rate_hz,
      (gdouble[]){ now * now, now / q_now, 1.0, then * then, then / q_then,
          1.0 },
      middle / tan (G_PI * middle / rate_hz));
}

static void
write_free (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  static const gchar *const keys[] = { "b0", "b1", "b2", NULL, "a1", "a2" };
  gdouble c[6];

  for (guint i = 0; i < 6; i++)
    c[i] = keys[i] ? gst_tfx_tree_number (map, keys[i], NAN) : 1.0;
  gst_tfx_stages_add_biquad (map->stages, c, rate_hz);
}

static void
write_graphic (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gdouble low = gst_tfx_tree_number (map, "freq_min", 20.0);
  const gdouble high = gst_tfx_tree_number (map, "freq_max", 20000.0);
  GArray *gains = gst_tfx_tree_numbers (map, "gains");
  const gdouble octaves = log2 (high / low) / gains->len;

  if (!(low > 0.0 && low < high))
    gst_tfx_tree_fail (map, "freq_min must be above 0 and below freq_max");
  /* Bands of less are left out there, too. */
  for (guint i = 0; i < gains->len; i++) {
    const gdouble gain_db = g_array_index (gains, gdouble, i);

    if (fabs (gain_db) > 0.001)
      gst_tfx_stages_add_section (map->stages, "ParametricEQ",
          low * exp2 ((i + 0.5) * octaves), octaves, TRUE, gain_db);
  }
  g_array_unref (gains);
}

/* ---- FIR filters and others ------------------------------------------------------ */

static void
write_values (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  GArray *taps = gst_tfx_tree_numbers (map, "values");

  gst_tfx_stages_add_list (map->stages, "FIR", (const gdouble *)taps->data,
      taps->len, 0, "");
  g_array_unref (taps);
}

static void
write_file (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gboolean is_raw = strcmp (type, "Conv.Raw") == 0;
  gchar *channel =
      gst_tfx_tree_format (map, is_raw ? "" : ", channel={channel=0}");
  gchar *quoted = gst_tfx_stages_quote (map->stages,
      gst_tfx_tree_text (map, "filename", NULL));

  if (is_raw && (strcmp (gst_tfx_tree_text (map, "format", "TEXT"), "TEXT") ||
                    gst_tfx_tree_number (map, "skip_bytes_lines", 0.0) != 0.0 ||
                    gst_tfx_tree_number (map, "read_bytes_lines", 0.0) != 0.0))
    gst_tfx_tree_fail (map,
        "of raw files only whole ones of the format TEXT can be read; convert "
        "the file to WAV");
  gst_tfx_stages_add (map->stages, "Convolve(%s%s)", quoted, channel);
  g_free (quoted);
  g_free (channel);
}

/* The factor of a gain. */
static gdouble
read_gain (GstTfxTree *map, gdouble missing)
{
  const gdouble gain = gst_tfx_tree_number (map, "gain", missing);
  const gchar *scale = gst_tfx_tree_text (map, "scale", "dB");
  const gboolean is_inverted = gst_tfx_tree_flag (map, "inverted", FALSE);
  const gdouble factor =
      strcmp (scale, "linear") == 0 ? gain : pow (10.0, gain / 20.0);

  gst_tfx_tree_require (map, "scale=dB|linear");
  if (gst_tfx_tree_flag (map, "mute", FALSE))
    return 0.0;
  return is_inverted ? -factor : factor;
}

static void
write_gain (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gdouble factor = read_gain (map, NAN);

  if (factor > 0.0 &&
      strcmp (gst_tfx_tree_text (map, "scale", "dB"), "dB") == 0)
    gst_tfx_tree_write (map, "Gain({gain}, gain_type='db')");
  else
    gst_tfx_stages_add (map->stages, "Gain(%s)", GST_TFX_NUMBER (factor));
}

static void
write_delay (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gchar *unit = gst_tfx_tree_text (map, "unit", "ms");
  const gdouble delay = gst_tfx_tree_number (map, "delay", NAN);
  /* Sound travels 343 m/s. */
  const gdouble factor = strcmp (unit, "us") == 0   ? 0.001
                         : strcmp (unit, "mm") == 0 ? 1.0 / 343.0
                                                    : 1.0;

  gst_tfx_tree_require (map, "unit=ms|us|mm|samples subsample=false");
  gst_tfx_stages_add_delay (map->stages, delay * factor,
      strcmp (unit, "samples") != 0);
}

/* A fader is at 0 dB, unless its limit is lower. */
static void
write_volume (GstTfxTree *map, const gchar *type, gdouble rate_hz)
{
  const gchar *fader = gst_tfx_tree_text (map, "fader", NULL);
  const gdouble db = fmin (0.0, gst_tfx_tree_number (map, "limit", 50.0));

  gst_tfx_tree_require (map, "ramp_time");
  gst_tfx_stages_note (map->stages,
      "the fader %s is not in the file: it is taken to be at %s dB", fader,
      GST_TFX_NUMBER (db));
  gst_tfx_stages_add_gain (map->stages, db);
}

/* ---- filters --------------------------------------------------------------------- */

#define SHELF(klass, q)                                                        \
  klass "({freq}, q={" q "}, gain={gain}, gain_scale='db')"
#define WIDE(klass, gain)                                                      \
  klass "({freq}, q={bandwidth}" gain ", q_scale='octaves')"
#define PEAK(n) "ParametricEQ({fp" n "}, q={qp" n "}, gain={gp" n "})"
#define CLIP                                                                   \
  "Gain({clip_limit=0*-1}, gain_type='db', clamp=True) | "                     \
  "Gain({clip_limit=0}, gain_type='db')"

/* A filter is a call with its numbers, or a function writes it.  Of rows with the
 * same type the first one counts whose parameter is there. */
static const struct
{
  const gchar *type, *call, *parameter;
  void (*write) (GstTfxTree *map, const gchar *type, gdouble rate_hz);
} filters[] = {
  { "Biquad.Lowpass", "BiquadLPF({freq}, q={q})" },
  { "Biquad.Highpass", "BiquadHPF({freq}, q={q})" },
  { "Biquad.Peaking", WIDE ("ParametricEQ", ", gain={gain}"), "bandwidth" },
  { "Biquad.Peaking", "ParametricEQ({freq}, q={q}, gain={gain})" },
  { "Biquad.Notch", WIDE ("BiquadNotch", ""), "bandwidth" },
  { "Biquad.Notch", "BiquadNotch({freq}, q={q})" },
  { "Biquad.Bandpass", WIDE ("BiquadBPF", ""), "bandwidth" },
  { "Biquad.Bandpass", "BiquadBPF({freq}, q={q})" },
  { "Biquad.Allpass", WIDE ("BiquadAllPass", ""), "bandwidth" },
  { "Biquad.Allpass", "BiquadAllPass({freq}, q={q})" },
  { "Biquad.Lowshelf", SHELF ("LoShelving", "q"), "q" },
  { "Biquad.Highshelf", SHELF ("HiShelving", "q"), "q" },
  { "Biquad.LowshelfFO", "LoShelving1({freq}, gain={gain}, gain_scale='db')" },
  { "Biquad.HighshelfFO", "HiShelving1({freq}, gain={gain}, gain_scale='db')" },
  { "Biquad.LowpassFO", "LoButterworth({freq}, order=1)" },
  { "Biquad.HighpassFO", "HiButterworth({freq}, order=1)" },
  /* (1 - s) / (1 + s) */
  { "Biquad.AllpassFO", "LoButterworth({freq}, order=1) + "
                        "(HiButterworth({freq}, order=1) | Gain(-1))" },
  { "BiquadCombo.ButterworthLowpass", "LoButterworth({freq}, order={order})" },
  { "BiquadCombo.ButterworthHighpass", "HiButterworth({freq}, order={order})" },
  { "BiquadCombo.LinkwitzRileyLowpass",
      "LoLinkwitzRiley({freq}, order={order})" },
  { "BiquadCombo.LinkwitzRileyHighpass",
      "HiLinkwitzRiley({freq}, order={order})" },
  { "BiquadCombo.Tilt",
      "LoShelving(110, q=0.35, gain={gain*-0.5}, gain_scale='db') | "
      "HiShelving(3500, q=0.35, gain={gain*0.5}, gain_scale='db')" },
  { "BiquadCombo.FivePointPeq",
      "LoShelving({fls}, q={qls}, gain={gls}, gain_scale='db') | " PEAK (
          "1") " | " PEAK ("2") " | " PEAK ("3") " | HiShelving({fhs}, "
                                                 "q={qhs}, gain={ghs}, "
                                                 "gain_scale='db')" },
  { "Limiter", CLIP },
  { "Biquad.Lowshelf", .write = write_slope },
  { "Biquad.Highshelf", .write = write_slope },
  { "Biquad.Free", .write = write_free },
  { "Biquad.GeneralNotch", .write = write_general_notch },
  { "Biquad.LinkwitzTransform", .write = write_linkwitz },
  { "BiquadCombo.GraphicEqualizer", .write = write_graphic },
  { "Conv.Values", .write = write_values },
  { "Conv.Raw", .write = write_file },
  { "Conv.Wav", .write = write_file },
  { "Gain", .write = write_gain },
  { "Delay", .write = write_delay },
  { "Volume", .write = write_volume },
};

static void
write_filter (GstTfxTree *filter, gdouble rate_hz)
{
  const gchar *kind = gst_tfx_tree_text (filter, "type", NULL), *type;
  GstTfxTree *map =
      gst_tfx_tree_get (filter, "parameters", GST_TFX_TREE_MAP, TRUE);
  gchar *full;
  guint i = 0;

  gst_tfx_tree_require (filter, "description");
  gst_tfx_tree_close (filter);
  if (filter->stages->fault)
    return;
  type = gst_tfx_tree_text (map, "type", "");
  full = g_strconcat (kind, *type ? "." : "", type, NULL);
  while (
      i < G_N_ELEMENTS (filters) &&
      (strcmp (filters[i].type, full) != 0 ||
          (filters[i].parameter && !gst_tfx_tree_get (map, filters[i].parameter,
                                       GST_TFX_TREE_TEXT, FALSE))))
    i++;
  gst_tfx_tree_enter (map);
  if (i == G_N_ELEMENTS (filters))
    gst_tfx_tree_fail (filter, "type '%s' has no equal here", full);
  else if (filters[i].write)
    filters[i].write (map, full, rate_hz);
  else
    gst_tfx_tree_write (map, filters[i].call);
  gst_tfx_tree_require (map,
      strcmp (full, "Limiter") == 0 ? "soft_clip=false" : "");
  gst_tfx_tree_close (map);
  g_free (full);
}

/* ---- steps -------------------------------------------------------------------- */

/* The entry that a step names, in a section; NULL after a fault. */
static GstTfxTree *
find_entry (Camilla *self, const gchar *section, const GstTfxTree *step,
    const gchar *name)
{
  GstTfxTree *map =
      gst_tfx_tree_get (self->root, section, GST_TFX_TREE_MAP, FALSE);
  GstTfxTree *entry =
      map ? gst_tfx_tree_get (map, name, GST_TFX_TREE_MAP, FALSE) : NULL;

  if (!entry)
    gst_tfx_tree_fail (step, "there is no '%s' in %s", name, section);
  return entry;
}

/* The bits of the channels of a list; 0: all, or there is no list. */
static guint64
read_channels (Camilla *self, const GstTfxTree *list)
{
  const guint most =
      self->n_channels > 0 ? self->n_channels : TFX_EXPR_MAX_CHANNELS;
  const GstTfxTree *item;
  guint64 bits = 0;

  for (guint i = 0; (item = gst_tfx_tree_item (list, i, GST_TFX_TREE_TEXT));
       i++) {
    const gdouble number = gst_tfx_tree_read_number (item);

    if (number >= 0.0 && number < most && number == floor (number))
      bits |= (guint64)1 << (guint)number;
    else
      gst_tfx_tree_fail (item,
          "there is no channel %s: the channels are 0 to %u", item->text,
          most - 1);
  }
  return (guint)__builtin_popcountll (bits) == self->n_channels ? 0 : bits;
}

static void
write_filters (Camilla *self, GstTfxTree *step)
{
  const GstTfxTree *names =
      gst_tfx_tree_get (step, "names", GST_TFX_TREE_LIST, TRUE);
  const GstTfxTree *list =
      gst_tfx_tree_get (step, "channels", GST_TFX_TREE_LIST, FALSE);
  const GstTfxTree *name;
  GstTfxTree *filter;

  gst_tfx_tree_close (step);
  self->stages->channels.numbers = read_channels (self, list);
  /* An empty list is no channel. */
  for (guint i = 0; (!list || list->children->len > 0) &&
                    (name = gst_tfx_tree_item (names, i, GST_TFX_TREE_TEXT));
       i++) {
    filter = find_entry (self, "filters", name, name->text);
    if (filter)
      write_filter (filter, self->rate_hz);
  }
  self->stages->channels.numbers = 0;
}

/* Adds the sources of one output channel to its row. */
static void
read_mapping (GstTfxTree *mapping, gdouble *rows, guint n_in, guint n_out)
{
  const guint dest = gst_tfx_tree_whole (mapping, "dest", NAN, n_out - 1);
  const gboolean is_mute = gst_tfx_tree_flag (mapping, "mute", FALSE);
  const GstTfxTree *sources =
      gst_tfx_tree_get (mapping, "sources", GST_TFX_TREE_LIST, TRUE);
  GstTfxTree *source;

  for (guint i = 0; (source = gst_tfx_tree_item (sources, i, GST_TFX_TREE_MAP));
       i++) {
    const guint channel = gst_tfx_tree_whole (source, "channel", NAN, n_in - 1);
    const gdouble gain = read_gain (source, 0.0);

    gst_tfx_tree_close (source);
    rows[dest * n_in + channel] += is_mute ? 0.0 : gain;
  }
  gst_tfx_tree_close (mapping);
}

static void
write_mixer (Camilla *self, GstTfxTree *mixer)
{
  GstTfxTree *channels =
      gst_tfx_tree_get (mixer, "channels", GST_TFX_TREE_MAP, TRUE);
  const GstTfxTree *mappings =
      gst_tfx_tree_get (mixer, "mapping", GST_TFX_TREE_LIST, TRUE);
  const guint most = TFX_EXPR_MAX_CHANNELS;
  const guint n_in =
      channels ? gst_tfx_tree_whole (channels, "in", NAN, most) : 0;
  const guint n_out =
      channels ? gst_tfx_tree_whole (channels, "out", NAN, most) : 0;
  GstTfxTree *mapping;
  gdouble *rows;

  gst_tfx_tree_require (mixer, "description labels");
  gst_tfx_tree_close (mixer);
  if (n_in == 0 || n_out == 0 ||
      (self->n_channels > 0 && n_in != self->n_channels)) {
    gst_tfx_tree_fail (mixer, "it makes %u channels of %u, but there are %u",
        n_out, n_in, self->n_channels);
    return;
  }
  rows = g_new0 (gdouble, n_in * n_out);
  for (guint i = 0;
       (mapping = gst_tfx_tree_item (mappings, i, GST_TFX_TREE_MAP)); i++)
    read_mapping (mapping, rows, n_in, n_out);
  gst_tfx_tree_enter (mixer);
  gst_tfx_stages_add_list (self->stages, "Mix", rows, n_out, n_in, "");
  self->n_channels = n_out;
  g_free (rows);
}

/* A compressor or a gate.  Its level is that of the channels that it changes. */
static void
write_processor (Camilla *self, GstTfxTree *processor)
{
  const gchar *type = gst_tfx_tree_text (processor, "type", NULL);
  const gboolean is_gate = strcmp (type, "NoiseGate") == 0;
  GstTfxTree *map =
      gst_tfx_tree_get (processor, "parameters", GST_TFX_TREE_MAP, TRUE);
  guint64 monitored;
  guint n;

  gst_tfx_tree_require (processor, "description");
  gst_tfx_tree_close (processor);
  if (!is_gate && strcmp (type, "Compressor") != 0)
    gst_tfx_tree_fail (processor, "type '%s' has no equal here", type);
  if (self->stages->fault)
    return;
  n = gst_tfx_tree_whole (map, "channels", NAN, TFX_EXPR_MAX_CHANNELS);
  if (self->n_channels > 0 && n != self->n_channels)
    gst_tfx_tree_fail (map, "it is for %u channels, but there are %u", n,
        self->n_channels);
  self->n_channels = n;
  monitored = read_channels (self,
      gst_tfx_tree_get (map, "monitor_channels", GST_TFX_TREE_LIST, FALSE));
  self->stages->channels.numbers = read_channels (self,
      gst_tfx_tree_get (map, "process_channels", GST_TFX_TREE_LIST, FALSE));
  if (monitored != self->stages->channels.numbers)
    gst_tfx_tree_fail (map,
        "monitor_channels and process_channels must be the same");
  gst_tfx_tree_enter (map);
  gst_tfx_stages_note (self->stages,
      "the static curve is the same; the level is that of the loudest channel, "
      "not of their sum, and moves in another way");
  gst_tfx_tree_write (map,
      is_gate ? "Gate({threshold}, attack={attack}, release={release}, "
                "floor={attenuation*-1}, knee=0, link=True)"
              : "Compressor({threshold}, ratio={factor}, attack={attack}, "
                "release={release}, knee=0, link=True)");
  if (!is_gate) {
    gst_tfx_stages_add_gain (self->stages,
        gst_tfx_tree_number (map, "makeup_gain", 0.0));
    if (gst_tfx_tree_get (map, "clip_limit", GST_TFX_TREE_TEXT, FALSE)) {
      gst_tfx_tree_require (map, "soft_clip=false");
      gst_tfx_tree_write (map, CLIP);
    }
    gst_tfx_tree_require (map, "soft_clip");
  }
  gst_tfx_tree_close (map);
  self->stages->channels.numbers = 0;
}

static void
write_step (Camilla *self, GstTfxTree *step)
{
  const gchar *type = gst_tfx_tree_text (step, "type", NULL);
  const gboolean is_mixer = strcmp (type, "Mixer") == 0;
  GstTfxTree *entry;
  const gchar *name;

  gst_tfx_tree_require (step, "description");
  if (gst_tfx_tree_flag (step, "bypassed", FALSE))
    return;
  if (strcmp (type, "Filter") == 0) {
    write_filters (self, step);
  } else if (is_mixer || strcmp (type, "Processor") == 0) {
    name = gst_tfx_tree_text (step, "name", NULL);
    gst_tfx_tree_close (step);
    entry = find_entry (self, is_mixer ? "mixers" : "processors", step, name);
    if (entry && is_mixer)
      write_mixer (self, entry);
    else if (entry)
      write_processor (self, entry);
  } else {
    gst_tfx_tree_fail (step, "unknown type '%s'", type);
  }
}

/* ---- configurations ------------------------------------------------------------ */

static void
read_devices (Camilla *self)
{
  GstTfxTree *devices =
      gst_tfx_tree_get (self->root, "devices", GST_TFX_TREE_MAP, FALSE);
  GstTfxTree *capture =
      devices ? gst_tfx_tree_get (devices, "capture", GST_TFX_TREE_MAP, FALSE)
              : NULL;

  if (devices) {
    self->rate_hz = gst_tfx_tree_whole (devices, "samplerate", 0.0, 100000000);
    if (gst_tfx_tree_number (devices, "volume_limit", 0.0) < 0.0)
      gst_tfx_tree_fail (devices,
          "a volume_limit below 0 dB has no equal here");
  }
  if (capture)
    self->n_channels =
        gst_tfx_tree_whole (capture, "channels", 0.0, TFX_EXPR_MAX_CHANNELS);
  if (self->rate_hz > 0.0)
    gst_tfx_tree_replace (self->root, "$samplerate$",
        GST_TFX_NUMBER (self->rate_hz));
  if (self->n_channels > 0)
    gst_tfx_tree_replace (self->root, "$channels$",
        GST_TFX_NUMBER (self->n_channels));
}

void
gst_tfx_camilla_write (GstTfxStages *stages, const gchar *text)
{
  Camilla self = { .stages = stages,
    .root = gst_tfx_tree_parse (stages, text) };
  const GstTfxTree *steps;
  GstTfxTree *step;

  if (!self.root)
    return;
  read_devices (&self);
  gst_tfx_tree_require (self.root,
      "title description filters mixers processors");
  steps = gst_tfx_tree_get (self.root, "pipeline", GST_TFX_TREE_LIST, FALSE);
  gst_tfx_tree_close (self.root);
  for (guint i = 0; (step = gst_tfx_tree_item (steps, i, GST_TFX_TREE_MAP));
       i++)
    write_step (&self, step);
  gst_tfx_tree_free (self.root);
}
