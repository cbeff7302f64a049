/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxeasyeffectsband.c: bands of the equaliser of EasyEffects, which are those
 * of lsp-plugins: analog sections with the bilinear transform (BT), or sections of
 * the Audio EQ Cookbook (APO).  Those of the matched z transform (MT) have no equal
 * here.
 *
 * With the quality q and the gain g of one of n equal sections, as a factor:
 *
 *   passes, notch, all-pass   s^2 + k s + 1 with k = 2 / (1 + q)
 *   shelf                     A (s^2 + k A^0.5 s + A) / (A s^2 + k A^0.5 s + 1),
 *                             A = g^0.5
 *   bell                      (s^2 + k g c s + 1) / (s^2 + k c s + 1), c = (1 + g^2)^-0.5,
 *                             k = 2 (g + 1 / g) / (1 + 2 q / n)
 *   resonance                 the same with k = 2 / (1 + q)
 */
#include <math.h>
#include <string.h>

#include "gsttfxpresettree.h"

typedef struct
{
  GstTfxPresetWriter *writer;
  const GstTfxPresetNode *node;
  const gchar *name, *mode;
  gdouble hz, q, gain_db;
  guint slope; /* x1 to x4 */
} Band;

/* The formulas of a type in the modes RLC (BT), BWC (BT) and LRX (BT): those above,
 * those of a Butterworth filter, or NONE: no class has them. */
typedef enum
{
  NONE,
  RLC,
  BUTTERWORTH
} Form;

typedef struct
{
  const gchar *name, *klass;
  gboolean has_gain;
  Form rlc, bwc, lrx;
} Type;

static const Type types[] = {
  { "Bell", "ParametricEQ", TRUE, RLC, NONE, NONE },
  { "Resonance", "ParametricEQ", TRUE, RLC, RLC, RLC },
  { "Hi-pass", "BiquadHPF", FALSE, RLC, BUTTERWORTH, BUTTERWORTH },
  { "Lo-pass", "BiquadLPF", FALSE, RLC, BUTTERWORTH, BUTTERWORTH },
  { "Hi-shelf", "HiShelving", TRUE, RLC, BUTTERWORTH, BUTTERWORTH },
  { "Lo-shelf", "LoShelving", TRUE, RLC, BUTTERWORTH, BUTTERWORTH },
  { "Notch", "BiquadNotch", FALSE, RLC, RLC, RLC },
  { "Allpass", "BiquadAllPass", FALSE, RLC, BUTTERWORTH, NONE },
  { "Bandpass", "BiquadBPF", FALSE, NONE, NONE, NONE },
};

/* n equal sections, whose gains in dB add up to that of the band. */
static void
write_equal (const Band *band, const Type *type, gdouble q, guint n)
{
  for (guint i = 0; i < n; i++)
    gst_tfx_preset_writer_add_section (band->writer, type->klass, band->hz, q,
        FALSE, type->has_gain ? band->gain_db / n : NAN);
}

static void
write_rlc (const Band *band, const Type *type)
{
  const guint n = strcmp (type->name, "Notch") == 0 ? 1 : band->slope;
  const gdouble g = pow (10.0, band->gain_db / 20.0 / n);
  const gdouble c = sqrt (1.0 + g * g);
  gdouble q = 0.5 * (1.0 + band->q);

  if (strcmp (type->name, "Bell") == 0)
    q = sqrt (g) * (1.0 + 2.0 * band->q / n) / (2.0 * c);
  else if (strcmp (type->name, "Resonance") == 0)
    q *= c / sqrt (g);
  write_equal (band, type, q, n);
}

/* Sections of a Butterworth filter of order 2 n: BWC with quality 0, and LRX, which
 * is BWC of twice the order, twice, with half the gain in dB each. */
static void
write_butterworth (const Band *band, const Type *type)
{
  const guint times = g_str_has_prefix (band->mode, "LRX") ? 2 : 1;
  const guint n = times * band->slope;

  if (band->q != 0.0)
    gst_tfx_preset_node_fail (band->node,
        "mode %s has an equal here with a q of 0 only, not %s", band->mode,
        GST_TFX_PRESET_NUMBER (band->q));
  if (g_str_has_suffix (type->name, "-pass")) {
    gst_tfx_preset_writer_add (band->writer, "%s%s(%s, order=%u)",
        type->name[0] == 'H' ? "Hi" : "Lo",
        times == 2 ? "LinkwitzRiley" : "Butterworth",
        GST_TFX_PRESET_NUMBER (band->hz), 2 * n);
    return;
  }
  for (guint k = 0; k < n * times; k++)
    gst_tfx_preset_writer_add_section (band->writer, type->klass, band->hz,
        0.5 / cos ((2 * (k % n) + 1) * G_PI / (4.0 * n)), FALSE,
        type->has_gain ? band->gain_db / (n * times) : NAN);
}

static void
write_band (const Band *band, const Type *type)
{
  const Form form = !type                                  ? NONE
                    : strcmp (band->mode, "RLC (BT)") == 0 ? type->rlc
                    : strcmp (band->mode, "BWC (BT)") == 0 ? type->bwc
                    : strcmp (band->mode, "LRX (BT)") == 0 ? type->lrx
                                                           : NONE;

  if (type && strcmp (band->mode, "APO (DR)") == 0)
    gst_tfx_preset_writer_add_section (band->writer, type->klass, band->hz,
        fmax (band->q, 0.1), FALSE, type->has_gain ? band->gain_db : NAN);
  else if (form == RLC)
    write_rlc (band, type);
  else if (form == BUTTERWORTH)
    write_butterworth (band, type);
  else
    gst_tfx_preset_node_fail (band->node,
        "type %s in mode %s has no equal here", band->name, band->mode);
}

void
gst_tfx_easy_effects_band_write (GstTfxPresetNode *node)
{
  const gboolean is_mute = gst_tfx_preset_node_flag (node, "mute", FALSE);
  const gchar *slope = gst_tfx_preset_node_text (node, "slope", "x1");
  Band band = { .writer = node->writer,
    .node = node,
    .name = gst_tfx_preset_node_text (node, "type", NULL),
    .mode = gst_tfx_preset_node_text (node, "mode", NULL),
    .hz = gst_tfx_preset_node_number (node, "frequency", NAN),
    .q = gst_tfx_preset_node_number (node, "q", NAN),
    .gain_db = gst_tfx_preset_node_number (node, "gain", NAN) };
  const Type *type = NULL;

  if (gst_tfx_preset_node_flag (node, "solo", FALSE))
    gst_tfx_preset_node_fail (node, "a band alone (solo) is not supported");
  gst_tfx_preset_node_ignore (node, "width");
  gst_tfx_preset_node_close (node);
  gst_tfx_preset_node_enter (node);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    if (strcmp (types[i].name, band.name) == 0)
      type = &types[i];
  }
  if (strlen (slope) == 2 && slope[0] == 'x' && strchr ("1234", slope[1]))
    band.slope = (guint)(slope[1] - '0');
  else
    gst_tfx_preset_node_fail (node, "unknown slope '%s'; slopes are x1 to x4",
        slope);
  if (!node->writer->fault && !is_mute && strcmp (band.name, "Off") != 0)
    write_band (&band, type);
}
