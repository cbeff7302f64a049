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

#define NUMBER(key) gst_tfx_tree_number (map, key, NAN)

/* ---- filters --------------------------------------------------------------------- */

static void
write_slope (GstTfxTree *map, gdouble rate_hz)
{
  const gchar *type = gst_tfx_tree_text (map, "type", NULL);
  const gdouble gain_db = NUMBER ("gain"), slope = NUMBER ("slope");

  if (!(slope > 0.0 && slope <= 12.0))
    gst_tfx_tree_fail (map,
        "slope is %s, out of range (above 0 and at most 12)",
        gst_tfx_tree_text (map, "slope", NULL));
  gst_tfx_stages_add_section (map->stages,
      *type == 'L' ? "LoShelving" : "HiShelving", NUMBER ("freq"),
      gst_tfx_stages_find_shelf_q (slope / 12.0, gain_db), FALSE, gain_db);
}

/* A section for the rate of the configuration: b0 to b2, a0 to a2. */
static void
write_coefficients (GstTfxTree *map, gdouble rate_hz, const gdouble *c)
{
  g_autofree gchar *end =
      rate_hz > 0.0 ? g_strdup_printf (", fs=%s)", GST_TFX_NUMBER (rate_hz))
                    : g_strdup (")");

  gst_tfx_stages_add_list (map->stages, "Biquad(", c, 6, 6, end);
}

static void
write_free (GstTfxTree *map, gdouble rate_hz)
{
  write_coefficients (map, rate_hz,
      (gdouble[]){ NUMBER ("b0"), NUMBER ("b1"), NUMBER ("b2"), 1.0,
          NUMBER ("a1"), NUMBER ("a2") });
}

/* (g z^2 + g z/q s + g s^2) / (p^2 + p/q s + s^2), s = k (1 - 1/z) / (1 + 1/z) */
static void
write_analog (GstTfxTree *map, gdouble rate_hz)
{
  const gboolean is_notch =
      strcmp (gst_tfx_tree_text (map, "type", NULL), "GeneralNotch") == 0;
  const gdouble angle = G_PI / rate_hz;
  const gdouble z_hz = NUMBER (is_notch ? "freq_z" : "freq_act");
  const gdouble p_hz = NUMBER (is_notch ? "freq_p" : "freq_target");
  const gdouble z_q = is_notch ? INFINITY : NUMBER ("q_act");
  const gdouble p_q = NUMBER (is_notch ? "q_p" : "q_target");
  /* Between the frequencies the Linkwitz transform is exact. */
  const gdouble middle = 0.5 * (z_hz + p_hz);
  const gdouble k = is_notch ? 1.0 : middle / tan (angle * middle);
  const gdouble z = is_notch ? tan (angle * z_hz) : z_hz;
  const gdouble p = is_notch ? tan (angle * p_hz) : p_hz;
  const gboolean is_normal =
      is_notch && gst_tfx_tree_flag (map, "normalize_at_dc", FALSE);
  const gdouble g = is_normal ? p * p / (z * z) : 1.0;
  const gdouble n[] = { g * z * z, g * z / z_q, g, p * p, p / p_q, 1.0 };
  const gdouble a0 = n[3] + n[4] * k + n[5] * k * k;
  gdouble c[6];

  if (rate_hz == 0.0)
    gst_tfx_tree_fail (map,
        "this type needs devices.samplerate, which is missing");
  for (guint i = 0; i < 6; i += 3) {
    c[i] = (n[i] + n[i + 1] * k + n[i + 2] * k * k) / a0;
    c[i + 1] = 2.0 * (n[i] - n[i + 2] * k * k) / a0;
    c[i + 2] = (n[i] - n[i + 1] * k + n[i + 2] * k * k) / a0;
  }
  write_coefficients (map, rate_hz, c);
}

static void
write_graphic (GstTfxTree *map, gdouble rate_hz)
{
  const gdouble low = gst_tfx_tree_number (map, "freq_min", 20.0);
  const gdouble high = gst_tfx_tree_number (map, "freq_max", 20000.0);
  g_autoptr (GArray) gains = gst_tfx_tree_numbers (map, "gains");
  const gdouble octaves = log2 (high / low) / gains->len;

  if (!(low > 0.0 && low < high))
    gst_tfx_tree_fail (map, "freq_min must be above 0 and below freq_max");
  /* CamillaDSP leaves out smaller gains, too. */
  for (guint i = 0; i < gains->len; i++) {
    const gdouble gain_db = g_array_index (gains, gdouble, i);

    if (fabs (gain_db) > 0.001)
      gst_tfx_stages_add_section (map->stages, "ParametricEQ",
          low * exp2 ((i + 0.5) * octaves), octaves, TRUE, gain_db);
  }
}

static void
write_values (GstTfxTree *map, gdouble rate_hz)
{
  g_autoptr (GArray) taps = gst_tfx_tree_numbers (map, "values");

  gst_tfx_stages_add_list (map->stages, "FIR([", (const gdouble *)taps->data,
      taps->len, taps->len, "])");
}

static void
write_file (GstTfxTree *map, gdouble rate_hz)
{
  const gboolean is_raw = *gst_tfx_tree_text (map, "type", NULL) == 'R';
  g_autofree gchar *end =
      gst_tfx_tree_format (map, is_raw ? ")" : ", channel={channel=0})");
  g_autofree gchar *quoted = gst_tfx_stages_quote (map->stages,
      gst_tfx_tree_text (map, "filename", NULL));

  if (is_raw && (strcmp (gst_tfx_tree_text (map, "format", "TEXT"), "TEXT") ||
                    gst_tfx_tree_number (map, "skip_bytes_lines", 0.0) != 0.0 ||
                    gst_tfx_tree_number (map, "read_bytes_lines", 0.0) != 0.0))
    gst_tfx_tree_fail (map,
        "of raw files only whole ones of the format TEXT can be read; convert "
        "the file to WAV");
  gst_tfx_stages_add (map->stages, "Convolve(%s%s", quoted, end);
}

/* The factor of a gain. */
static gdouble
read_gain (GstTfxTree *map, gdouble missing)
{
  const gdouble gain = gst_tfx_tree_number (map, "gain", missing);
  const gchar *scale = gst_tfx_tree_text (map, "scale", "dB");
  const gboolean is_linear = strcmp (scale, "linear") == 0;
  const gdouble factor = is_linear ? gain : pow (10.0, gain / 20.0);
  const gboolean is_inverted = gst_tfx_tree_flag (map, "inverted", FALSE);

  gst_tfx_tree_require (map, "scale=dB|linear");
  if (gst_tfx_tree_flag (map, "mute", FALSE))
    return 0.0;
  return is_inverted ? -factor : factor;
}

static void
write_gain (GstTfxTree *map, gdouble rate_hz)
{
  const gdouble factor = read_gain (map, NAN);

  if (factor > 0.0 && *gst_tfx_tree_text (map, "scale", "dB") == 'd')
    gst_tfx_tree_write (map, "Gain({gain}, gain_type='db')");
  else
    gst_tfx_stages_add (map->stages, "Gain(%s)", GST_TFX_NUMBER (factor));
}

static void
write_delay (GstTfxTree *map, gdouble rate_hz)
{
  const gchar *unit = gst_tfx_tree_text (map, "unit", "ms");
  /* Sound travels 343 m/s. */
  const gdouble factor = strcmp (unit, "us") == 0   ? 0.001
                         : strcmp (unit, "mm") == 0 ? 1.0 / 343.0
                                                    : 1.0;

  gst_tfx_tree_require (map, "unit=ms|us|mm|samples subsample=false");
  gst_tfx_stages_add_delay (map->stages, NUMBER ("delay") * factor,
      *unit != 's');
}

/* A fader is at 0 dB, unless its limit is lower. */
static void
write_volume (GstTfxTree *map, gdouble rate_hz)
{
  const gdouble db = fmin (0.0, gst_tfx_tree_number (map, "limit", 50.0));

  gst_tfx_stages_note (map->stages,
      "the fader %s is not in the file: it is taken to be at %s dB",
      gst_tfx_tree_text (map, "fader", NULL), GST_TFX_NUMBER (db));
  gst_tfx_stages_add_gain (map->stages, db);
}

static void
write_clip (GstTfxTree *map, gdouble rate_hz)
{
  gst_tfx_tree_require (map, "soft_clip=false");
  gst_tfx_tree_write (map,
      "Gain({clip_limit=0*-1}, gain_type='db', clamp=True) | "
      "Gain({clip_limit=0}, gain_type='db')");
}

#define SHELF(klass, q)                                                        \
  klass "({freq}, q={" q "}, gain={gain}, gain_scale='db')"
#define WIDE(klass, gain)                                                      \
  klass "({freq}, q={bandwidth}" gain ", q_scale='octaves')"
#define PEAK(n) "ParametricEQ({fp" n "}, q={qp" n "}, gain={gp" n "})"

/* A filter is a call with its numbers, or a function writes it.  A row with a
 * parameter is for filters that have it; the first row that fits counts. */
static const struct
{
  const gchar *type, *call, *parameter;
  void (*write) (GstTfxTree *map, gdouble rate_hz);
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
  { "Biquad.Lowshelf", .write = write_slope },
  { "Biquad.Highshelf", .write = write_slope },
  { "Biquad.Free", .write = write_free },
  { "Biquad.GeneralNotch", .write = write_analog },
  { "Biquad.LinkwitzTransform", .write = write_analog },
  { "BiquadCombo.GraphicEqualizer", .write = write_graphic },
  { "Conv.Values", .write = write_values },
  { "Conv.Raw", .write = write_file },
  { "Conv.Wav", .write = write_file },
  { "Gain", .write = write_gain },
  { "Delay", .write = write_delay },
  { "Volume", .write = write_volume },
  { "Limiter", .write = write_clip },
};

static void
write_filter (GstTfxTree *filter, gdouble rate_hz)
{
  const gchar *kind = gst_tfx_tree_text (filter, "type", NULL);
  GstTfxTree *map = gst_tfx_tree_map (filter, "parameters", TRUE);
  const gchar *type = gst_tfx_tree_text (map, "type", "");
  g_autofree gchar *full = g_strconcat (kind, *type ? "." : "", type, NULL);
  guint i = 0;

  gst_tfx_tree_close (filter, "description");
  while (i < G_N_ELEMENTS (filters) &&
         (strcmp (filters[i].type, full) != 0 ||
             (filters[i].parameter &&
                 !gst_tfx_tree_has (map, filters[i].parameter))))
    i++;
  gst_tfx_tree_enter (map);
  if (i == G_N_ELEMENTS (filters))
    gst_tfx_tree_fail (filter, "type '%s' has no equal here", full);
  else if (filters[i].write)
    filters[i].write (map, rate_hz);
  else
    gst_tfx_tree_write (map, filters[i].call);
  gst_tfx_tree_close (map, strcmp (full, "Volume") == 0 ? "ramp_time" : "");
}

/* ---- steps -------------------------------------------------------------------- */

/* The entry that a step names, in a section. */
static GstTfxTree *
find_entry (Camilla *self, const gchar *section, const GstTfxTree *step,
    const gchar *name)
{
  GstTfxTree *map = gst_tfx_tree_map (self->root, section, FALSE);

  if (!gst_tfx_tree_has (map, name))
    gst_tfx_tree_fail (step, "there is no '%s' in %s", name, section);
  return gst_tfx_tree_map (map, name, FALSE);
}

/* The bits of the channels of a list; 0: all, or there is no list. */
static guint64
read_channels (Camilla *self, GstTfxTree *map, const gchar *key)
{
  const GPtrArray *list =
      gst_tfx_tree_list (map, key, GST_TFX_TREE_TEXT, FALSE);
  const guint most =
      self->n_channels > 0 ? self->n_channels : TFX_EXPR_MAX_CHANNELS;
  guint64 bits = 0;

  for (guint i = 0; i < list->len; i++) {
    const GstTfxTree *item = list->pdata[i];
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
  const GPtrArray *names =
      gst_tfx_tree_list (step, "names", GST_TFX_TREE_TEXT, TRUE);
  const GPtrArray *channels =
      gst_tfx_tree_list (step, "channels", GST_TFX_TREE_TEXT, FALSE);
  /* An empty list is no channel. */
  const gboolean is_none =
      gst_tfx_tree_has (step, "channels") && channels->len == 0;

  self->stages->channels.numbers = read_channels (self, step, "channels");
  gst_tfx_tree_close (step, "description");
  for (guint i = 0; i < names->len && !is_none && !self->stages->fault; i++) {
    const GstTfxTree *name = names->pdata[i];

    write_filter (find_entry (self, "filters", name, name->text),
        self->rate_hz);
  }
}

/* Adds the sources of one output channel to its row. */
static void
read_mapping (GstTfxTree *mapping, gdouble *rows, guint n_in, guint n_out)
{
  gdouble *row =
      rows + gst_tfx_tree_whole (mapping, "dest", NAN, n_out - 1) * n_in;
  const gboolean is_mute = gst_tfx_tree_flag (mapping, "mute", FALSE);
  const GPtrArray *sources =
      gst_tfx_tree_list (mapping, "sources", GST_TFX_TREE_MAP, TRUE);

  for (guint i = 0; i < sources->len; i++) {
    GstTfxTree *source = sources->pdata[i];
    const guint channel = gst_tfx_tree_whole (source, "channel", NAN, n_in - 1);
    const gdouble gain = read_gain (source, 0.0);

    gst_tfx_tree_close (source, "");
    row[channel] += is_mute ? 0.0 : gain;
  }
  gst_tfx_tree_close (mapping, "");
}

static void
write_mixer (Camilla *self, GstTfxTree *mixer)
{
  GstTfxTree *map = gst_tfx_tree_map (mixer, "channels", TRUE);
  const GPtrArray *mappings =
      gst_tfx_tree_list (mixer, "mapping", GST_TFX_TREE_MAP, TRUE);
  const guint most = TFX_EXPR_MAX_CHANNELS;
  const guint n_in = gst_tfx_tree_whole (map, "in", NAN, most);
  const guint n_out = gst_tfx_tree_whole (map, "out", NAN, most);
  g_autofree gdouble *rows = g_new0 (gdouble, n_in * n_out);

  gst_tfx_tree_close (mixer, "description labels");
  if (n_in == 0 || n_out == 0 ||
      (self->n_channels > 0 && n_in != self->n_channels)) {
    gst_tfx_tree_fail (mixer, "it makes %u channels of %u, but there are %u",
        n_out, n_in, self->n_channels);
    return;
  }
  for (guint i = 0; i < mappings->len; i++)
    read_mapping (mappings->pdata[i], rows, n_in, n_out);
  gst_tfx_tree_enter (mixer);
  gst_tfx_stages_add_list (self->stages, "Mix([[", rows, n_in * n_out, n_in,
      "]])");
  self->n_channels = n_out;
}

/* A compressor or a gate.  Its level is that of the channels that it changes. */
static void
write_processor (Camilla *self, GstTfxTree *processor)
{
  const gchar *type = gst_tfx_tree_text (processor, "type", NULL);
  const gboolean is_gate = strcmp (type, "NoiseGate") == 0;
  GstTfxTree *map = gst_tfx_tree_map (processor, "parameters", TRUE);
  GstTfxStagesChannels *channels = &self->stages->channels;
  guint n;

  gst_tfx_tree_close (processor, "description");
  if (!is_gate && strcmp (type, "Compressor") != 0)
    gst_tfx_tree_fail (processor, "type '%s' has no equal here", type);
  n = gst_tfx_tree_whole (map, "channels", NAN, TFX_EXPR_MAX_CHANNELS);
  if (self->n_channels > 0 && n != self->n_channels)
    gst_tfx_tree_fail (map, "it is for %u channels, but there are %u", n,
        self->n_channels);
  self->n_channels = n;
  channels->numbers = read_channels (self, map, "process_channels");
  if (read_channels (self, map, "monitor_channels") != channels->numbers)
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
  if (!is_gate)
    gst_tfx_stages_add_gain (self->stages,
        gst_tfx_tree_number (map, "makeup_gain", 0.0));
  if (!is_gate && gst_tfx_tree_has (map, "clip_limit"))
    write_clip (map, self->rate_hz);
  gst_tfx_tree_close (map, is_gate ? "" : "soft_clip clip_limit");
}

static void
write_step (Camilla *self, GstTfxTree *step)
{
  const gchar *type = gst_tfx_tree_text (step, "type", NULL);
  const gboolean is_mixer = strcmp (type, "Mixer") == 0;
  GstTfxTree *entry;

  if (gst_tfx_tree_flag (step, "bypassed", FALSE))
    return;
  if (strcmp (type, "Filter") == 0) {
    write_filters (self, step);
  } else if (is_mixer || strcmp (type, "Processor") == 0) {
    entry = find_entry (self, is_mixer ? "mixers" : "processors", step,
        gst_tfx_tree_text (step, "name", NULL));
    gst_tfx_tree_close (step, "description");
    (is_mixer ? write_mixer : write_processor) (self, entry);
  } else {
    gst_tfx_tree_fail (step, "unknown type '%s'", type);
  }
  self->stages->channels.numbers = 0;
}

void
gst_tfx_camilla_write (GstTfxStages *stages, const gchar *text)
{
  GstTfxTree *root = gst_tfx_tree_parse (stages, text), *devices, *capture;
  Camilla self = { .stages = stages, .root = root };
  const GPtrArray *steps;

  if (!root)
    return;
  devices = gst_tfx_tree_map (root, "devices", FALSE);
  capture = gst_tfx_tree_map (devices, "capture", FALSE);
  self.rate_hz = gst_tfx_tree_whole (devices, "samplerate", 0.0, 100000000);
  self.n_channels =
      gst_tfx_tree_whole (capture, "channels", 0.0, TFX_EXPR_MAX_CHANNELS);
  if (gst_tfx_tree_number (devices, "volume_limit", 0.0) < 0.0)
    gst_tfx_tree_fail (devices, "a volume_limit below 0 dB has no equal here");
  if (self.rate_hz > 0.0)
    gst_tfx_tree_replace (root, "$samplerate$", GST_TFX_NUMBER (self.rate_hz));
  if (self.n_channels > 0)
    gst_tfx_tree_replace (root, "$channels$", GST_TFX_NUMBER (self.n_channels));
  steps = gst_tfx_tree_list (root, "pipeline", GST_TFX_TREE_MAP, FALSE);
  gst_tfx_tree_close (root, "title description filters mixers processors");
  for (guint i = 0; i < steps->len && !stages->fault; i++)
    write_step (&self, steps->pdata[i]);
  gst_tfx_tree_free (root);
}
