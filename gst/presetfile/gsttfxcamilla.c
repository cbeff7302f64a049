/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcamilla.c: configurations of CamillaDSP.
 *
 * "pipeline" has steps, which name the filters, mixers and processors of other
 * sections.  "devices" only matters for the rate and the number of channels.
 */
#include <math.h>
#include <string.h>

#include "gsttfxpresettree.h"
#include "lang/expr.h"

typedef struct
{
  GstTfxPresetWriter *writer;
  GstTfxPresetNode *root;
  gdouble rate_hz;              /* 0: not known */
  guint n_captured, n_channels; /* of the input, at the step; 0: not known */
} Camilla;

/* ---- numbers and names -------------------------------------------------------- */

/* A whole number of a map from 0 to most. */
static guint
get_whole (GstTfxPresetNode *map, const gchar *key, gdouble missing, guint most)
{
  const gdouble number = gst_tfx_preset_node_number (map, key, missing);

  if (number >= 0.0 && number <= most && number == floor (number))
    return (guint)number;
  gst_tfx_preset_node_fail (map, "%s is %s, not a whole number from 0 to %u",
      key, GST_TFX_PRESET_NUMBER (number), most);
  return 0;
}

/* A name with the values of its tokens; free it. */
static gchar *
replace_tokens (gpointer data, const gchar *name)
{
  const Camilla *self = data;
  const struct
  {
    const gchar *token;
    gdouble value;
  } tokens[] = { { "$samplerate$", self->rate_hz },
    { "$channels$", self->n_captured } };
  gchar *text = g_strdup (name);

  for (guint i = 0; i < G_N_ELEMENTS (tokens); i++) {
    gchar **parts = g_strsplit (text, tokens[i].token, -1);

    if (parts[0] && parts[1] && tokens[i].value == 0.0)
      gst_tfx_preset_writer_fail (self->writer,
          "the value of %s is missing in devices", tokens[i].token);
    g_free (text);
    text = g_strjoinv (GST_TFX_PRESET_NUMBER (tokens[i].value), parts);
    g_strfreev (parts);
  }
  return text;
}

/* The entry that a step names, in a section; NULL after a fault. */
static GstTfxPresetNode *
find_entry (Camilla *self, const gchar *section, const GstTfxPresetNode *step,
    const gchar *name)
{
  GstTfxPresetNode *map = gst_tfx_preset_node_get (self->root, section,
                       GST_TFX_PRESET_NODE_MAP, FALSE),
                   *entry = NULL;
  gchar *full = replace_tokens (self, name);

  if (map)
    entry = gst_tfx_preset_node_get (map, full, GST_TFX_PRESET_NODE_MAP, FALSE);
  if (!entry)
    gst_tfx_preset_node_fail (step, "there is no '%s' in %s", full, section);
  g_free (full);
  return entry;
}

/* The bits of the channels of a list; 0: all, or there is no list. */
static guint64
get_channels (Camilla *self, GstTfxPresetNode *map, const gchar *key)
{
  const GstTfxPresetNode *list =
      gst_tfx_preset_node_get (map, key, GST_TFX_PRESET_NODE_LIST, FALSE);
  const guint most =
      self->n_channels > 0 ? self->n_channels : TFX_EXPR_MAX_CHANNELS;
  guint64 bits = 0;

  for (guint i = 0; list && i < list->children->len; i++) {
    const gdouble number =
        gst_tfx_preset_node_read_number (list->children->pdata[i]);

    if (!(number >= 0.0 && number < most && number == floor (number)))
      gst_tfx_preset_node_fail (list->children->pdata[i],
          "there is no channel %s: the channels are 0 to %u",
          GST_TFX_PRESET_NUMBER (number), most - 1);
    else
      bits |= (guint64)1 << (guint)number;
  }
  return (guint)__builtin_popcountll (bits) == self->n_channels ? 0 : bits;
}

/* ---- steps -------------------------------------------------------------------- */

static void
write_filters (Camilla *self, GstTfxPresetNode *step)
{
  const GstTfxPresetNode *names = gst_tfx_preset_node_get (step, "names",
                             GST_TFX_PRESET_NODE_LIST, TRUE),
                         *list = gst_tfx_preset_node_get (step, "channels",
                             GST_TFX_PRESET_NODE_LIST, FALSE);
  const guint64 bits = get_channels (self, step, "channels");
  GstTfxPresetNode *filter;

  gst_tfx_preset_node_close (step);
  /* An empty list is no channel. */
  if (!names || (list && list->children->len == 0))
    return;
  self->writer->channels.numbers = bits;
  for (guint i = 0; i < names->children->len && !self->writer->fault; i++) {
    const GstTfxPresetNode *name = names->children->pdata[i];

    filter = find_entry (self, "filters", name, name->text ? name->text : "");
    if (filter)
      gst_tfx_camilla_filter_write (filter, self->rate_hz, replace_tokens,
          self);
  }
  self->writer->channels.numbers = 0;
}

/* The factor of a source of a mixer. */
static gdouble
read_source_gain (GstTfxPresetNode *source)
{
  const gdouble gain = gst_tfx_preset_node_number (source, "gain", 0.0);
  const gchar *scale = gst_tfx_preset_node_text (source, "scale", "dB");
  const gboolean is_linear = strcmp (scale, "linear") == 0;
  gdouble factor = is_linear ? gain : pow (10.0, gain / 20.0);

  if (!is_linear && strcmp (scale, "dB") != 0)
    gst_tfx_preset_node_fail (source, "unknown scale '%s'", scale);
  if (gst_tfx_preset_node_flag (source, "inverted", FALSE))
    factor = -factor;
  return gst_tfx_preset_node_flag (source, "mute", FALSE) ? 0.0 : factor;
}

/* Adds the sources of one output channel to its row. */
static void
read_mapping (GstTfxPresetNode *mapping, gdouble *rows, guint n_in, guint n_out)
{
  const guint dest = get_whole (mapping, "dest", NAN, n_out - 1);
  const gboolean is_mute = gst_tfx_preset_node_flag (mapping, "mute", FALSE);
  const GstTfxPresetNode *sources = gst_tfx_preset_node_get (mapping, "sources",
      GST_TFX_PRESET_NODE_LIST, TRUE);

  for (guint i = 0; sources && i < sources->children->len; i++) {
    GstTfxPresetNode *source = sources->children->pdata[i];
    guint channel;
    gdouble gain;

    if (source->kind != GST_TFX_PRESET_NODE_MAP) {
      gst_tfx_preset_node_fail (source, "it must be a map");
      continue;
    }
    channel = get_whole (source, "channel", NAN, n_in - 1);
    gain = read_source_gain (source);
    gst_tfx_preset_node_close (source);
    if (!is_mute)
      rows[dest * n_in + channel] += gain;
  }
  gst_tfx_preset_node_close (mapping);
}

static void
write_mixer (Camilla *self, GstTfxPresetNode *mixer)
{
  GstTfxPresetNode *channels = gst_tfx_preset_node_get (mixer, "channels",
                       GST_TFX_PRESET_NODE_MAP, TRUE),
                   *mappings = gst_tfx_preset_node_get (mixer, "mapping",
                       GST_TFX_PRESET_NODE_LIST, TRUE);
  const guint n_in =
      channels ? get_whole (channels, "in", NAN, TFX_EXPR_MAX_CHANNELS) : 0;
  const guint n_out =
      channels ? get_whole (channels, "out", NAN, TFX_EXPR_MAX_CHANNELS) : 0;
  gdouble *rows;

  gst_tfx_preset_node_ignore (mixer, "description labels");
  gst_tfx_preset_node_close (mixer);
  if (n_in == 0 || n_out == 0 ||
      (self->n_channels > 0 && n_in != self->n_channels)) {
    gst_tfx_preset_node_fail (mixer,
        "it makes %u channels of %u, but there are %u", n_out, n_in,
        self->n_channels);
    return;
  }
  rows = g_new0 (gdouble, n_in * n_out);
  for (guint i = 0; mappings && i < mappings->children->len; i++) {
    GstTfxPresetNode *mapping = mappings->children->pdata[i];

    if (mapping->kind == GST_TFX_PRESET_NODE_MAP)
      read_mapping (mapping, rows, n_in, n_out);
    else
      gst_tfx_preset_node_fail (mapping, "it must be a map");
  }
  gst_tfx_preset_node_enter (mixer);
  gst_tfx_preset_writer_add_mix (self->writer, rows, n_out, n_in);
  self->n_channels = n_out;
  g_free (rows);
}

/* A compressor or a gate.  Its level is that of the channels that it changes. */
static void
write_processor (Camilla *self, GstTfxPresetNode *processor)
{
  GstTfxPresetWriter *writer = self->writer;
  const gchar *type = gst_tfx_preset_node_text (processor, "type", NULL);
  const gboolean is_gate = strcmp (type, "NoiseGate") == 0;
  GstTfxPresetNode *map = gst_tfx_preset_node_get (processor, "parameters",
      GST_TFX_PRESET_NODE_MAP, TRUE);
  guint n;

  gst_tfx_preset_node_ignore (processor, "description");
  gst_tfx_preset_node_close (processor);
  if (!map)
    return;
  if (!is_gate && strcmp (type, "Compressor") != 0) {
    gst_tfx_preset_node_fail (processor, "type '%s' has no equal here", type);
    return;
  }
  n = get_whole (map, "channels", NAN, TFX_EXPR_MAX_CHANNELS);
  if (self->n_channels > 0 && n != self->n_channels)
    gst_tfx_preset_node_fail (map, "it is for %u channels, but there are %u", n,
        self->n_channels);
  self->n_channels = n;
  writer->channels.numbers = get_channels (self, map, "process_channels");
  if (get_channels (self, map, "monitor_channels") != writer->channels.numbers)
    gst_tfx_preset_node_fail (map,
        "monitor_channels and process_channels must be the same");
  gst_tfx_preset_node_enter (map);
  gst_tfx_preset_writer_note (writer,
      "the static curve is the same; the level is that of the loudest channel, "
      "not of their sum, and moves in another way");
  gst_tfx_preset_node_write (map,
      is_gate ? "Gate({threshold}, attack={attack}, release={release}, "
                "floor={attenuation*-1}, knee=0, link=True)"
              : "Compressor({threshold}, ratio={factor}, attack={attack}, "
                "release={release}, knee=0, link=True)");
  gst_tfx_preset_writer_add_gain (writer,
      is_gate ? 0.0 : gst_tfx_preset_node_number (map, "makeup_gain", 0.0));
  if (!is_gate && gst_tfx_preset_node_get (map, "clip_limit",
                      GST_TFX_PRESET_NODE_TEXT, FALSE))
    gst_tfx_camilla_filter_write_clip (map);
  else if (!is_gate)
    gst_tfx_preset_node_ignore (map, "soft_clip");
  gst_tfx_preset_node_close (map);
  writer->channels.numbers = 0;
}

static void
write_step (Camilla *self, GstTfxPresetNode *step)
{
  const gchar *type = gst_tfx_preset_node_text (step, "type", NULL);
  const gboolean is_mixer = strcmp (type, "Mixer") == 0;
  GstTfxPresetNode *entry;
  const gchar *name;

  gst_tfx_preset_node_ignore (step, "description");
  if (gst_tfx_preset_node_flag (step, "bypassed", FALSE))
    return;
  if (strcmp (type, "Filter") == 0) {
    write_filters (self, step);
  } else if (is_mixer || strcmp (type, "Processor") == 0) {
    name = gst_tfx_preset_node_text (step, "name", NULL);
    gst_tfx_preset_node_close (step);
    entry =
        self->writer->fault
            ? NULL
            : find_entry (self, is_mixer ? "mixers" : "processors", step, name);
    if (entry && is_mixer)
      write_mixer (self, entry);
    else if (entry)
      write_processor (self, entry);
  } else {
    gst_tfx_preset_node_fail (step, "unknown type '%s'", type);
  }
}

/* ---- configurations ------------------------------------------------------------ */

static void
read_devices (Camilla *self)
{
  GstTfxPresetNode *devices = gst_tfx_preset_node_get (self->root, "devices",
                       GST_TFX_PRESET_NODE_MAP, FALSE),
                   *capture = NULL;

  if (devices) {
    self->rate_hz = get_whole (devices, "samplerate", 0.0, 100000000);
    capture = gst_tfx_preset_node_get (devices, "capture",
        GST_TFX_PRESET_NODE_MAP, FALSE);
    if (gst_tfx_preset_node_number (devices, "volume_limit", 0.0) < 0.0)
      gst_tfx_preset_node_fail (devices,
          "a volume_limit below 0 dB has no equal here");
  }
  if (capture)
    self->n_captured =
        get_whole (capture, "channels", 0.0, TFX_EXPR_MAX_CHANNELS);
  self->n_channels = self->n_captured;
}

void
gst_tfx_camilla_write (GstTfxPresetWriter *writer, const gchar *text)
{
  Camilla self = { .writer = writer,
    .root = gst_tfx_preset_tree_parse (writer, text) };
  const GstTfxPresetNode *steps;

  if (!self.root)
    return;
  read_devices (&self);
  gst_tfx_preset_node_ignore (self.root,
      "title description filters mixers processors");
  steps = gst_tfx_preset_node_get (self.root, "pipeline",
      GST_TFX_PRESET_NODE_LIST, FALSE);
  gst_tfx_preset_node_close (self.root);
  for (guint i = 0; steps && i < steps->children->len && !writer->fault; i++) {
    GstTfxPresetNode *step = steps->children->pdata[i];

    if (step->kind == GST_TFX_PRESET_NODE_MAP)
      write_step (&self, step);
    else
      gst_tfx_preset_node_fail (step, "it must be a map");
  }
  gst_tfx_preset_tree_free (self.root);
}
