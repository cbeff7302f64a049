/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxeasyeffects.c: presets of EasyEffects.
 *
 * "plugins_order" names the effects; their values are beside it.  Filters and static
 * curves are the same here.  Levels are measured in another way: see the notes.
 */
#include <math.h>
#include <string.h>

#include "gsttfximpulse.h"
#include "gsttfxpresettree.h"

/* Levels at and below it are silence. */
#define SILENT_DB (-80.0)
/* Times of attack and release in ms as time constants in seconds: after a time a
 * step of lsp-plugins is at 0.5^0.5 of its end: -0.001 / log (1 - 0.5^0.5). */
#define TIMES                                                                  \
  "attack={attack*0.0008143672777514632}, "                                    \
  "release={release*0.0008143672777514632}"

/* Faults a parameter that has another value than this one. */
static void
require_number (GstTfxPresetNode *map, const gchar *key, gdouble value)
{
  const gdouble number = gst_tfx_preset_node_number (map, key, value);

  if (number != value)
    gst_tfx_preset_node_fail (map, "%s is %s; only %s has an equal here", key,
        GST_TFX_PRESET_NUMBER (number), GST_TFX_PRESET_NUMBER (value));
}

static void
require_text (GstTfxPresetNode *map, const gchar *key, const gchar *value)
{
  const gchar *text = gst_tfx_preset_node_text (map, key, value);

  if (strcmp (text, value) != 0)
    gst_tfx_preset_node_fail (map, "%s is '%s'; only '%s' has an equal here",
        key, text, value);
}

static void
require_off (GstTfxPresetNode *map, const gchar *key)
{
  if (gst_tfx_preset_node_flag (map, key, FALSE))
    gst_tfx_preset_node_fail (map, "%s has no equal here", key);
}

/* Levels of signals that a chain does not have. */
static void
require_silent (GstTfxPresetNode *map)
{
  static const gchar *const keys[] = { "input-to-sidechain", "input-to-link",
    "sidechain-to-input", "sidechain-to-link", "link-to-input",
    "link-to-sidechain" };

  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (gst_tfx_preset_node_number (map, keys[i], SILENT_DB) > SILENT_DB)
      gst_tfx_preset_node_fail (map, "%s has no equal here", keys[i]);
  }
}

/* ---- equaliser --------------------------------------------------------------- */

static void
write_side (GstTfxPresetNode *map, const gchar *side, guint n_bands)
{
  GstTfxPresetNode *bands = gst_tfx_preset_node_get (map, side,
                       GST_TFX_PRESET_NODE_MAP, n_bands > 0),
                   *band;
  gchar key[20];

  for (guint i = 0; bands && i < n_bands; i++) {
    g_snprintf (key, sizeof key, "band%u", i);
    band = gst_tfx_preset_node_get (bands, key, GST_TFX_PRESET_NODE_MAP, TRUE);
    if (band)
      gst_tfx_easy_effects_band_write (band);
  }
}

static void
write_equalizer (GstTfxPresetNode *map)
{
  static const guint64 sides[] = { 1 << 0, 1 << 1 }; /* FL, FR */
  const gdouble n = gst_tfx_preset_node_number (map, "num-bands", NAN);
  const gboolean is_split =
      gst_tfx_preset_node_flag (map, "split-channels", FALSE);

  require_text (map, "mode", "IIR");
  require_text (map, "decramp", "Off");
  require_number (map, "balance", 0.0);
  require_number (map, "pitch-left", 0.0);
  require_number (map, "pitch-right", 0.0);
  if (!(n >= 0.0 && n <= 32.0 && n == floor (n)))
    gst_tfx_preset_node_fail (map,
        "num-bands is %s, not a whole number from 0 to 32",
        GST_TFX_PRESET_NUMBER (n));
  for (guint i = 0; i < (is_split ? 2 : 1) && !map->writer->fault; i++) {
    if (is_split)
      map->writer->channels.positions = sides[i];
    write_side (map, i == 0 ? "left" : "right", (guint)n);
  }
  map->writer->channels.positions = 0;
  gst_tfx_preset_node_ignore (map, "left right");
}

/* ---- dynamics ---------------------------------------------------------------- */

/* Reads what compressor, expander and gate share, and returns the end of the
 * call. */
static gchar *
read_detector (GstTfxPresetNode *map, const gchar *type)
{
  GstTfxPresetNode *sidechain =
      gst_tfx_preset_node_get (map, "sidechain", GST_TFX_PRESET_NODE_MAP, TRUE);
  const gboolean is_split =
      gst_tfx_preset_node_flag (map, "stereo-split", FALSE);
  const gchar *mode = "Peak", *source = "Middle";

  require_silent (map);
  require_text (map, "hpf-mode", "Off");
  require_text (map, "lpf-mode", "Off");
  gst_tfx_preset_node_ignore (map, "hpf-frequency lpf-frequency");
  if (sidechain) {
    require_text (sidechain, "type", type);
    mode = gst_tfx_preset_node_text (sidechain, "mode", mode);
    source = gst_tfx_preset_node_text (sidechain, "source", source);
    require_number (sidechain, "preamp", 0.0);
    require_number (sidechain, "lookahead", 0.0);
    if (is_split)
      require_text (sidechain, "stereo-split-source", "Left/Right");
    gst_tfx_preset_node_ignore (sidechain, "stereo-split-source reactivity");
    gst_tfx_preset_node_close (sidechain);
  }
  if (strcmp (mode, "Peak") != 0 && strcmp (mode, "RMS") != 0)
    gst_tfx_preset_node_fail (map,
        "sidechain.mode is '%s'; only 'Peak' and 'RMS' have an equal here",
        mode);
  if (!is_split && strcmp (source, "Middle") != 0 &&
      strcmp (source, "Max") != 0)
    gst_tfx_preset_node_fail (map,
        "sidechain.source is '%s'; only 'Middle' and 'Max' have an equal here",
        source);
  gst_tfx_preset_writer_note (map->writer,
      "the static curve is the same; attack and release are the nearest time "
      "constants%s",
      is_split || strcmp (source, "Max") == 0
          ? ""
          : ", and the level is that of the loudest channel, not of the "
            "middle");
  return g_strdup_printf ("%s%s)",
      strcmp (mode, "RMS") == 0 ? ", detector='rms'" : "",
      is_split ? "" : ", link=True");
}

/* Writes a call without its end, with its make-up gain and the mix with the input. */
static void
write_dynamics (GstTfxPresetNode *map, const gchar *call,
    const gchar *sidechain)
{
  gchar *start = gst_tfx_preset_node_format (map, call);
  gchar *end = read_detector (map, sidechain);
  gchar *whole = g_strconcat (start, end, NULL);

  gst_tfx_preset_writer_add_wet (map->writer, whole,
      gst_tfx_preset_node_number (map, "wet", 0.0) +
          gst_tfx_preset_node_number (map, "makeup", 0.0),
      gst_tfx_preset_node_number (map, "dry", SILENT_DB), SILENT_DB);
  g_free (whole);
  g_free (end);
  g_free (start);
}

/* Of a compressor or an expander. */
static void
require_downward (GstTfxPresetNode *map)
{
  require_text (map, "mode", "Downward");
  if (gst_tfx_preset_node_number (map, "release-threshold", SILENT_DB) >
      SILENT_DB)
    gst_tfx_preset_node_fail (map, "release-threshold has no equal here");
  /* Of other modes. */
  gst_tfx_preset_node_ignore (map, "boost-threshold boost-amount");
}

static void
write_compressor (GstTfxPresetNode *map)
{
  require_downward (map);
  write_dynamics (map,
      "Compressor({threshold}, ratio={ratio}, knee={knee*-2}, " TIMES,
      "Feed-forward");
}

static void
write_expander (GstTfxPresetNode *map)
{
  require_downward (map);
  write_dynamics (map,
      "Expander({threshold}, ratio={ratio}, knee={knee*-2}, " TIMES,
      "Internal");
}

static void
write_gate (GstTfxPresetNode *map)
{
  require_number (map, "curve-zone", 0.0);
  require_off (map, "hysteresis");
  gst_tfx_preset_node_ignore (map, "hysteresis-threshold hysteresis-zone");
  write_dynamics (map,
      "Gate({curve-threshold}, floor={reduction}, knee=0, " TIMES, "Internal");
}

static void
write_limiter (GstTfxPresetNode *map)
{
  const gdouble link = gst_tfx_preset_node_number (map, "stereo-link", 100.0);
  const gboolean is_plain =
      strcmp (gst_tfx_preset_node_text (map, "oversampling", "None"), "None") ==
      0;
  gchar *call = gst_tfx_preset_node_format (map,
      "Limiter({threshold}, lookahead={lookahead*0.001}, "
      "release={release*0.001}");

  require_silent (map);
  require_text (map, "dithering", "None");
  require_text (map, "sidechain-type", "Internal");
  require_number (map, "sidechain-preamp", 0.0);
  require_off (map, "alr");
  if (link != 0.0)
    require_number (map, "stereo-link", 100.0);
  gst_tfx_preset_node_ignore (map,
      "mode attack alr-attack alr-release alr-knee alr-knee-smooth");
  gst_tfx_preset_writer_note (map->writer,
      "no sample exceeds the threshold, as there; the gain moves on a curve of "
      "its own, within the look-ahead");
  gst_tfx_preset_writer_add (map->writer, "%s%s%s)", call,
      link == 100.0 ? ", link=True" : "", is_plain ? "" : ", true_peak=True");
  /* It raises the threshold to full scale. */
  if (gst_tfx_preset_node_flag (map, "gain-boost", TRUE))
    gst_tfx_preset_writer_add_gain (map->writer,
        -gst_tfx_preset_node_number (map, "threshold", NAN));
  g_free (call);
}

/* ---- convolver --------------------------------------------------------------- */

/* The path of a kernel, relative to the preset; EasyEffects has presets in "output"
 * and kernels in "irs" beside it.  NULL after a fault. */
static gchar *
find_kernel (GstTfxPresetNode *map)
{
  static const gchar *const places[] = { "%s", "%s.irs", "%s.wav",
    "../irs/%s.irs", "../irs/%s.wav" };
  const gchar *old = gst_tfx_preset_node_text (map, "kernel-path", "");
  const gchar *name = gst_tfx_preset_node_text (map, "kernel-name", "");
  gchar **parts;

  if (!*name)
    name = old;
  for (guint i = 0; *name && i < G_N_ELEMENTS (places); i++) {
    gchar *found, *path;
    gboolean is_there;

    parts = g_strsplit (places[i], "%s", 2);
    found = g_strconcat (parts[0], name, parts[1], NULL);
    path = gst_tfx_preset_writer_find_path (map->writer, found);
    is_there = g_file_test (path, G_FILE_TEST_IS_REGULAR);
    g_free (path);
    g_strfreev (parts);
    if (is_there)
      return found;
    g_free (found);
  }
  gst_tfx_preset_node_fail (map,
      "the kernel '%s' is neither beside the preset nor in ../irs, as .irs or "
      ".wav",
      name);
  return NULL;
}

/* EasyEffects divides a kernel by the root of the energy of its strongest
 * channel. */
static gdouble
find_autogain (GstTfxPresetNode *map, const gchar *name)
{
  gchar *path = gst_tfx_preset_writer_find_path (map->writer, name);
  GError *error = NULL;
  GstTfxImpulse *impulse = gst_tfx_impulse_file_read (path, 0, &error);
  gdouble most = 0.0;

  for (guint k = 0; impulse && k < impulse->n_kernels; k++) {
    gdouble energy = 0.0;

    for (gsize i = 0; i < impulse->n_taps; i++)
      energy += impulse->taps[k * impulse->n_taps + i] *
                impulse->taps[k * impulse->n_taps + i];
    most = fmax (most, energy);
  }
  if (!impulse)
    gst_tfx_preset_node_fail (map, "%s", error->message);
  g_clear_error (&error);
  gst_tfx_impulse_unref (impulse);
  g_free (path);
  return most > 0.0 ? -10.0 * log10 (most) : 0.0;
}

static void
write_convolver (GstTfxPresetNode *map)
{
  const gboolean has_autogain =
      gst_tfx_preset_node_flag (map, "autogain", TRUE);
  gchar *name = find_kernel (map), *quoted, *call;

  require_number (map, "ir-width", 100.0);
  gst_tfx_preset_node_ignore (map, "sofa");
  if (!name)
    return;
  quoted = gst_tfx_preset_writer_quote (map->writer, name);
  call = g_strdup_printf ("Convolve(%s)", quoted);
  gst_tfx_preset_writer_add_wet (map->writer, call,
      gst_tfx_preset_node_number (map, "wet", 0.0) +
          (has_autogain ? find_autogain (map, name) : 0.0),
      gst_tfx_preset_node_number (map, "dry", -100.0), -100.0);
  g_free (call);
  g_free (quoted);
  g_free (name);
}

/* ---- presets ----------------------------------------------------------------- */

static void
write_nothing (GstTfxPresetNode *map)
{
}

static const struct
{
  const gchar *name;
  void (*write) (GstTfxPresetNode *map);
} plugins[] = { { "equalizer", write_equalizer },
  { "compressor", write_compressor }, { "expander", write_expander },
  { "gate", write_gate }, { "limiter", write_limiter },
  { "convolver", write_convolver }, { "level_meter", write_nothing } };

static void
write_plugin (GstTfxPresetNode *section, const gchar *name)
{
  GstTfxPresetNode *map =
      gst_tfx_preset_node_get (section, name, GST_TFX_PRESET_NODE_MAP, TRUE);
  gchar *type = g_strndup (name, strcspn (name, "#"));
  gdouble output_db;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (plugins); i++) {
    if (strcmp (plugins[i].name, type) == 0)
      break;
  }
  g_free (type);
  if (!map || gst_tfx_preset_node_flag (map, "bypass", FALSE))
    return;
  if (i == G_N_ELEMENTS (plugins)) {
    gst_tfx_preset_node_fail (map, "this plugin has no equal here");
    return;
  }
  gst_tfx_preset_node_enter (map);
  gst_tfx_preset_writer_add_gain (map->writer,
      gst_tfx_preset_node_number (map, "input-gain", 0.0));
  output_db = gst_tfx_preset_node_number (map, "output-gain", 0.0);
  plugins[i].write (map);
  gst_tfx_preset_node_close (map);
  gst_tfx_preset_node_enter (map);
  gst_tfx_preset_writer_add_gain (map->writer, output_db);
}

void
gst_tfx_easy_effects_write (GstTfxPresetWriter *writer, const gchar *text)
{
  GstTfxPresetNode *root = gst_tfx_preset_tree_parse (writer, text), *order;
  GstTfxPresetNode *output = NULL, *input = NULL, *section;

  if (!root)
    return;
  output =
      gst_tfx_preset_node_get (root, "output", GST_TFX_PRESET_NODE_MAP, FALSE);
  input =
      gst_tfx_preset_node_get (root, "input", GST_TFX_PRESET_NODE_MAP, FALSE);
  gst_tfx_preset_node_close (root);
  section = output ? output : input;
  if (!section || (output && input))
    gst_tfx_preset_node_fail (root,
        "it must have either \"output\" or \"input\", not %s",
        section ? "both" : "neither");
  order = section ? gst_tfx_preset_node_get (section, "plugins_order",
                        GST_TFX_PRESET_NODE_LIST, TRUE)
                  : NULL;
  for (guint i = 0; order && i < order->children->len && !writer->fault; i++) {
    const GstTfxPresetNode *name = order->children->pdata[i];

    if (name->kind == GST_TFX_PRESET_NODE_TEXT)
      write_plugin (section, name->text);
    else
      gst_tfx_preset_node_fail (name, "it must be the name of a plugin");
  }
  gst_tfx_preset_tree_free (root);
}
