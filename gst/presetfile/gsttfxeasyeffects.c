/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxeasyeffects.c: presets of EasyEffects.
 *
 * "plugins_order" names the effects; their values are beside it.  Filters and static
 * curves are the same here.  Levels are measured in another way: see the notes.
 */
#include <math.h>
#include <string.h>

#include "gsttfximpulse.h"
#include "gsttfxtree.h"

/* A plugin of EasyEffects. */
typedef struct
{
  const gchar *name;
  void (*write) (GstTfxTree *map, const gchar *call, const gchar *sidechain);
  const gchar *rules, *ignored; /* of its values */
  /* The begin of the call, and the rules of the values of the side chain. */
  const gchar *call, *sidechain;
} Plugin;

/* Levels at and below it are silence. */
#define SILENT_DB (-80.0)
/* Levels of signals that a chain does not have. */
#define SILENT                                                                 \
  "input-to-sidechain<-80 input-to-link<-80 sidechain-to-input<-80 "           \
  "sidechain-to-link<-80 link-to-input<-80 link-to-sidechain<-80 "
#define DETECTOR SILENT "hpf-mode=Off lpf-mode=Off "
#define DOWNWARD DETECTOR "mode=Downward release-threshold<-80"
#define SIDECHAIN "mode=Peak|RMS preamp=0 lookahead=0"
/* Times of attack and release in ms as time constants in seconds: after a time a
 * step of lsp-plugins is at 0.5^0.5 of its end: -0.001 / log (1 - 0.5^0.5). */
#define TIMES                                                                  \
  "attack={attack*0.0008143672777514632}, "                                    \
  "release={release*0.0008143672777514632}"

/* Adds a call with its gain, mixed with the input. */
static void
write_wet (GstTfxTree *map, const gchar *call, gdouble more_db,
    gdouble silent_db)
{
  const gdouble wet_db = gst_tfx_tree_number (map, "wet", 0.0) + more_db;
  const gdouble dry_db = gst_tfx_tree_number (map, "dry", silent_db);
  g_autofree gchar *gain =
      wet_db <= silent_db
          ? g_strdup ("0")
          : g_strdup_printf ("%s, gain_type='db'", GST_TFX_NUMBER (wet_db));

  if (dry_db > silent_db)
    gst_tfx_stages_add (map->stages,
        "(%s | Gain(%s)) + Gain(%s, gain_type='db')", call, gain,
        GST_TFX_NUMBER (dry_db));
  else if (wet_db == 0.0)
    gst_tfx_stages_add (map->stages, "%s", call);
  else
    gst_tfx_stages_add (map->stages, "%s | Gain(%s)", call, gain);
}

/* ---- equaliser ---------------------------------------------------------------
 * Bands are those of lsp-plugins: analog sections with the bilinear transform (BT), or
 * sections of the Audio EQ Cookbook (APO).  Those of the matched z transform (MT) have
 * no equal here.  With the quality q and the gain g of one of n equal sections, as a
 * factor:
 *
 *   passes, notch, all-pass   s^2 + k s + 1 with k = 2 / (1 + q)
 *   shelf                     A (s^2 + k A^0.5 s + A) / (A s^2 + k A^0.5 s + 1),
 *                             A = g^0.5
 *   bell                      (s^2 + k g c s + 1) / (s^2 + k c s + 1), c = (1 + g^2)^-0.5,
 *                             k = 2 (g + 1 / g) / (1 + 2 q / n)
 *   resonance                 the same with k = 2 / (1 + q)
 *
 * BWC with quality 0 is a Butterworth filter of order 2 n, and LRX is BWC of twice the
 * order, twice, with half the gain in dB each. */

static const gchar *const modes[] = { "RLC (BT)", "BWC (BT)", "LRX (BT)",
  "APO (DR)" };

/* forms: a letter for each mode: 'l' the formulas above, 'b' Butterworth, 'c' the
 * cookbook, '-' none. */
static const struct
{
  const gchar *name, *klass;
  gboolean has_gain;
  const gchar *forms;
} types[] = {
  { "Bell", "ParametricEQ", TRUE, "l--c" },
  { "Resonance", "ParametricEQ", TRUE, "lllc" },
  { "Hi-pass", "BiquadHPF", FALSE, "lbbc" },
  { "Lo-pass", "BiquadLPF", FALSE, "lbbc" },
  { "Hi-shelf", "HiShelving", TRUE, "lbbc" },
  { "Lo-shelf", "LoShelving", TRUE, "lbbc" },
  { "Notch", "BiquadNotch", FALSE, "lllc" },
  { "Allpass", "BiquadAllPass", FALSE, "lb-c" },
  { "Bandpass", "BiquadBPF", FALSE, "---c" },
};

/* The quality of a section of n with the formulas above. */
static gdouble
find_q (const gchar *type, gdouble q, gdouble gain_db, guint n)
{
  const gdouble g = pow (10.0, gain_db / 20.0 / n), c = sqrt (1.0 + g * g);

  if (strcmp (type, "Bell") == 0)
    return sqrt (g) * (1.0 + 2.0 * q / n) / (2.0 * c);
  return 0.5 * (1.0 + q) * (strcmp (type, "Resonance") == 0 ? c / sqrt (g) : 1);
}

static void
write_band (GstTfxTree *band)
{
  const gboolean is_mute = gst_tfx_tree_flag (band, "mute", FALSE);
  const gchar *slope = gst_tfx_tree_text (band, "slope", "x1");
  const gchar *name = gst_tfx_tree_text (band, "type", NULL);
  const gchar *mode = gst_tfx_tree_text (band, "mode", NULL);
  const gdouble hz = gst_tfx_tree_number (band, "frequency", NAN);
  const gdouble gain_db = gst_tfx_tree_number (band, "gain", NAN);
  gdouble q = gst_tfx_tree_number (band, "q", NAN);
  guint i = 0, m = 0, n = 1, times = 1;
  gchar form;

  gst_tfx_tree_require (band, "solo=false slope=x1|x2|x3|x4");
  gst_tfx_tree_close (band, "width");
  gst_tfx_tree_enter (band);
  if (band->stages->fault || is_mute || strcmp (name, "Off") == 0)
    return;
  while (i < G_N_ELEMENTS (types) && strcmp (types[i].name, name) != 0)
    i++;
  while (m < G_N_ELEMENTS (modes) && strcmp (modes[m], mode) != 0)
    m++;
  form = i < G_N_ELEMENTS (types) && m < G_N_ELEMENTS (modes)
             ? types[i].forms[m]
             : '-';
  if (form == '-') {
    gst_tfx_tree_fail (band, "type %s in mode %s has no equal here", name,
        mode);
    return;
  }
  if (form == 'c')
    q = fmax (q, 0.1);
  else if (form == 'b' || strcmp (name, "Notch") != 0)
    n = (guint)(slope[1] - '0');
  if (form == 'l')
    q = find_q (name, q, gain_db, n);
  if (form == 'b') {
    times = g_str_has_prefix (mode, "LRX") ? 2 : 1;
    n *= times;
    if (q != 0.0)
      gst_tfx_tree_fail (band,
          "mode %s has an equal here with a q of 0 only, not %s", mode,
          GST_TFX_NUMBER (q));
  }
  if (form == 'b' && g_str_has_suffix (name, "-pass")) {
    gst_tfx_stages_add (band->stages, "%.2s%s(%s, order=%u)", name,
        times == 2 ? "LinkwitzRiley" : "Butterworth", GST_TFX_NUMBER (hz),
        2 * n);
    return;
  }
  for (guint k = 0; k < n * times; k++)
    gst_tfx_stages_add_section (band->stages, types[i].klass, hz,
        form == 'b' ? 0.5 / cos ((2 * (k % n) + 1) * G_PI / (4.0 * n)) : q,
        FALSE, types[i].has_gain ? gain_db / (n * times) : NAN);
}

static void
write_equalizer (GstTfxTree *map, const gchar *call, const gchar *sidechain)
{
  static const gchar *const sides[] = { "left", "right" };
  const guint n_bands = gst_tfx_tree_whole (map, "num-bands", NAN, 32);
  const gboolean is_split = gst_tfx_tree_flag (map, "split-channels", FALSE);

  for (guint i = 0; i < (is_split ? 2 : 1) && !map->stages->fault; i++) {
    GstTfxTree *bands = gst_tfx_tree_map (map, sides[i], n_bands > 0);

    /* FL and FR */
    map->stages->channels.positions = is_split ? 1 << i : 0;
    for (guint k = 0; k < n_bands && !map->stages->fault; k++) {
      g_autofree gchar *key = g_strdup_printf ("band%u", k);

      write_band (gst_tfx_tree_map (bands, key, TRUE));
    }
  }
  map->stages->channels.positions = 0;
}

/* ---- dynamics ---------------------------------------------------------------- */

/* A compressor, an expander or a gate. */
static void
write_dynamics (GstTfxTree *map, const gchar *call, const gchar *rules)
{
  GstTfxTree *sidechain = gst_tfx_tree_map (map, "sidechain", TRUE);
  const gboolean is_split = gst_tfx_tree_flag (map, "stereo-split", FALSE);
  const gchar *mode = gst_tfx_tree_text (sidechain, "mode", "Peak");
  const gchar *source = gst_tfx_tree_text (sidechain, "source", "Middle");
  g_autofree gchar *begin = gst_tfx_tree_format (map, call), *whole = NULL;

  gst_tfx_tree_require (sidechain, rules);
  gst_tfx_tree_require (sidechain,
      is_split ? "stereo-split-source=Left/Right" : "source=Middle|Max");
  gst_tfx_tree_close (sidechain, "stereo-split-source reactivity");
  gst_tfx_tree_enter (map);
  gst_tfx_stages_note (map->stages,
      "the static curve is the same; attack and release are the nearest time "
      "constants%s",
      is_split || strcmp (source, "Max") == 0
          ? ""
          : ", and the level is that of the loudest channel, not of the "
            "middle");
  whole = g_strdup_printf ("%s%s%s)", begin,
      strcmp (mode, "RMS") == 0 ? ", detector='rms'" : "",
      is_split ? "" : ", link=True");
  write_wet (map, whole, gst_tfx_tree_number (map, "makeup", 0.0), SILENT_DB);
}

static void
write_limiter (GstTfxTree *map, const gchar *call, const gchar *sidechain)
{
  const gdouble link = gst_tfx_tree_number (map, "stereo-link", 100.0);
  const gchar *oversampling = gst_tfx_tree_text (map, "oversampling", "None");
  g_autofree gchar *begin = gst_tfx_tree_format (map, call);

  if (link != 0.0)
    gst_tfx_tree_require (map, "stereo-link=100");
  gst_tfx_stages_note (map->stages,
      "no sample exceeds the threshold, as there; the gain moves on a curve of "
      "its own, within the look-ahead");
  gst_tfx_stages_add (map->stages, "%s%s%s)", begin,
      link == 100.0 ? ", link=True" : "",
      strcmp (oversampling, "None") == 0 ? "" : ", true_peak=True");
  /* gain-boost raises the threshold to full scale. */
  if (gst_tfx_tree_flag (map, "gain-boost", TRUE))
    gst_tfx_stages_add_gain (map->stages,
        -gst_tfx_tree_number (map, "threshold", NAN));
}

/* ---- convolver --------------------------------------------------------------- */

/* The path of a kernel, relative to the preset; EasyEffects has presets in "output"
 * and kernels in "irs" beside it.  NULL after a fault. */
static gchar *
find_kernel (GstTfxTree *map)
{
  static const gchar *const folders[] = { "", "", "", "../irs/", "../irs/" };
  static const gchar *const suffixes[] = { "", ".irs", ".wav", ".irs", ".wav" };
  const gchar *old = gst_tfx_tree_text (map, "kernel-path", "");
  const gchar *name = gst_tfx_tree_text (map, "kernel-name", "");

  if (!*name)
    name = old;
  for (guint i = 0; *name && i < G_N_ELEMENTS (folders); i++) {
    g_autofree gchar *found = g_strconcat (folders[i], name, suffixes[i], NULL);
    g_autofree gchar *path = gst_tfx_stages_find_path (map->stages, found);

    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&found);
  }
  gst_tfx_tree_fail (map,
      "the kernel '%s' is neither beside the preset nor in ../irs, as .irs or "
      ".wav",
      name);
  return NULL;
}

/* EasyEffects divides a kernel by the root of the energy of its strongest
 * channel. */
static gdouble
find_autogain (GstTfxTree *map, const gchar *name)
{
  g_autofree gchar *path = gst_tfx_stages_find_path (map->stages, name);
  g_autoptr (GError) error = NULL;
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
    gst_tfx_tree_fail (map, "%s", error->message);
  gst_tfx_impulse_unref (impulse);
  return most > 0.0 ? -10.0 * log10 (most) : 0.0;
}

static void
write_convolver (GstTfxTree *map, const gchar *call, const gchar *sidechain)
{
  const gboolean has_autogain = gst_tfx_tree_flag (map, "autogain", TRUE);
  g_autofree gchar *name = find_kernel (map), *quoted = NULL, *whole = NULL;

  if (!name)
    return;
  quoted = gst_tfx_stages_quote (map->stages, name);
  whole = g_strdup_printf ("Convolve(%s)", quoted);
  write_wet (map, whole, has_autogain ? find_autogain (map, name) : 0.0,
      -100.0);
}

/* ---- presets ----------------------------------------------------------------- */

#define FREQUENCIES "hpf-frequency lpf-frequency "

static const Plugin plugins[] = {
  { "equalizer", write_equalizer,
      "mode=IIR decramp=Off balance=0 pitch-left=0 pitch-right=0",
      "left right" },
  { "compressor", write_dynamics, DOWNWARD,
      FREQUENCIES "boost-threshold boost-amount",
      "Compressor({threshold}, ratio={ratio}, knee={knee*-2}, " TIMES,
      "type=Feed-forward " SIDECHAIN },
  { "expander", write_dynamics, DOWNWARD,
      FREQUENCIES "boost-threshold boost-amount",
      "Expander({threshold}, ratio={ratio}, knee={knee*-2}, " TIMES,
      "type=Internal " SIDECHAIN },
  { "gate", write_dynamics, DETECTOR "curve-zone=0 hysteresis=false",
      FREQUENCIES "hysteresis-threshold hysteresis-zone",
      "Gate({curve-threshold}, floor={reduction}, knee=0, " TIMES,
      "type=Internal " SIDECHAIN },
  { "limiter", write_limiter,
      SILENT "dithering=None sidechain-type=Internal sidechain-preamp=0 "
             "alr=false",
      "mode attack alr-attack alr-release alr-knee alr-knee-smooth",
      "Limiter({threshold}, lookahead={lookahead*0.001}, "
      "release={release*0.001}" },
  { "convolver", write_convolver, "ir-width=100", "sofa" },
  { "level_meter", NULL, NULL, "" },
};

static void
write_plugin (GstTfxTree *section, const gchar *name)
{
  GstTfxTree *map = gst_tfx_tree_map (section, name, TRUE);
  const gsize n = strcspn (name, "#");
  gdouble output_db;
  guint i = 0;

  if (gst_tfx_tree_flag (map, "bypass", FALSE))
    return;
  while (i < G_N_ELEMENTS (plugins) &&
         (strncmp (plugins[i].name, name, n) != 0 || plugins[i].name[n]))
    i++;
  if (i == G_N_ELEMENTS (plugins)) {
    gst_tfx_tree_fail (map, "this plugin has no equal here");
    return;
  }
  gst_tfx_tree_enter (map);
  gst_tfx_stages_add_gain (map->stages,
      gst_tfx_tree_number (map, "input-gain", 0.0));
  output_db = gst_tfx_tree_number (map, "output-gain", 0.0);
  if (plugins[i].write) {
    gst_tfx_tree_require (map, plugins[i].rules);
    plugins[i].write (map, plugins[i].call, plugins[i].sidechain);
  }
  gst_tfx_tree_close (map, plugins[i].ignored);
  gst_tfx_tree_enter (map);
  gst_tfx_stages_add_gain (map->stages, output_db);
}

void
gst_tfx_easy_effects_write (GstTfxStages *stages, const gchar *text)
{
  GstTfxTree *root = gst_tfx_tree_parse (stages, text), *section;
  const GPtrArray *names;

  if (!root)
    return;
  section = gst_tfx_tree_map (root,
      gst_tfx_tree_has (root, "output") ? "output" : "input", FALSE);
  gst_tfx_tree_close (root, "");
  if (section->children->len == 0)
    gst_tfx_tree_fail (root, "it must have \"output\" or \"input\"");
  names = gst_tfx_tree_list (section, "plugins_order", GST_TFX_TREE_TEXT, TRUE);
  for (guint i = 0; i < names->len && !stages->fault; i++)
    write_plugin (section, ((const GstTfxTree *)names->pdata[i])->text);
  gst_tfx_tree_free (root);
}
