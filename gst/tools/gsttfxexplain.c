/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxexplain.c: explains a chain, stage by stage.
 */
#include "gsttfxexplain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxcurves.h"
#include "gsttfxjson.h"
#include "gsttfxnotes.h"

/* Where gains are looked for. */
#define FROM_HZ 20.0
#define TO_HZ 20000.0
#define N_POINTS 300
/* A longer memory is sampled at the points of the grid alone. */
#define LONG_MEMORY 8192
/* Gains that are one. */
#define FLAT_DB 0.05
/* An end of the range with a gain so near the highest one is named as its place. */
#define END_DB 0.01
/* Nothing passes below it. */
#define SILENT_DB -200.0
/* Phases of a gain that is inverted, in degrees. */
#define INVERTED_DEG 179.9
#define MAX_SHOWN 8
/* More zeros are those of a stop band, where so little passes between any two. */
#define MAX_ZEROS 16
#define STOP_BAND_DB -20.0
#define LOW_LEVEL_DB -40.0
/* Bytes of a stage that are printed. */
#define MAX_TEXT 160

/* ---- numbers ---------------------------------------------------------------------- */

/* "50 Hz", "8.2 kHz" */
static gchar *
format_frequency (gdouble freq_hz)
{
  return freq_hz < 1000.0 ? g_strdup_printf ("%.3g Hz", freq_hz)
                          : g_strdup_printf ("%.3g kHz", freq_hz / 1000.0);
}

static gchar *
format_latency (gsize n_frames, gdouble rate_hz)
{
  const gdouble seconds = (gdouble)n_frames / rate_hz;

  if (n_frames == 0)
    return g_strdup ("none");
  return g_strdup_printf ("%" G_GSIZE_FORMAT " %s (%.4g %s)", n_frames,
      n_frames == 1 ? "frame" : "frames",
      seconds < 1.0 ? 1000.0 * seconds : seconds, seconds < 1.0 ? "ms" : "s");
}

/* ---- values ----------------------------------------------------------------------- */

/* The scale of a gain: dB, a factor of amplitude or of power. */
static void
append_gain (GString *text, const TfxExpr *expr, gsize stage, gdouble number)
{
  TfxValue scale;
  gchar *level = NULL;
  gboolean is_power;

  if (tfx_expr_get (expr, stage, "gain_scale", &scale) < 0 &&
      tfx_expr_get (expr, stage, "gain_type", &scale) < 0)
    return;
  if (strcmp (scale.word, "db") == 0) {
    g_string_append_printf (text, "%.15g dB", number);
    return;
  }
  is_power = strcmp (scale.word, "power") == 0;
  level = gst_tfx_notes_format_db (
      (is_power ? 10.0 : 20.0) * log10 (fabs (number)));
  g_string_append_printf (text, "%.15g, a factor%s (%s%s)", number,
      is_power ? " of power" : "", number == 0.0 ? "silence" : level,
      number < 0.0 ? ", inverted" : "");
  g_free (level);
}

/* The replacement of a number that the rate does not allow; NULL if it is allowed. */
static const GstTfxExplainClamp *
find_clamp (const GstTfxExplainSpec *spec, gsize stage, const TfxParam *param,
    gint index)
{
  for (guint i = 0; i < spec->clamps->len; i++) {
    const GstTfxExplainClamp *clamp =
        &g_array_index (spec->clamps, GstTfxExplainClamp, i);

    if (clamp->stage == stage && clamp->index == index &&
        strcmp (clamp->param, param->name) == 0)
      return clamp;
  }
  return NULL;
}

static void
append_number (GString *text, const TfxExpr *expr, gsize stage,
    const TfxParam *param, gdouble number, gdouble rate_hz)
{
  const gboolean is_gain = strcmp (param->name, "gain") == 0 && !*param->unit;

  if (is_gain)
    append_gain (text, expr, stage, number);
  else if ((param->flags & TFX_PARAM_INFINITE) && number == param->maximum)
    g_string_append (text, "infinite");
  else
    g_string_append_printf (text, "%.15g%s%s", number, *param->unit ? " " : "",
        param->unit);
  if (strcmp (param->unit, "s") == 0 && number > 0.0 && number < 1.0)
    g_string_append_printf (text, " (%.4g ms)", 1000.0 * number);
  else if (strcmp (param->unit, "samples") == 0)
    g_string_append_printf (text, " (%.4g ms)", 1000.0 * number / rate_hz);
}

static void
append_list (GString *text, const GstTfxExplainSpec *spec, gsize stage,
    const TfxParam *param, const TfxValue *value)
{
  if (value->n_list > MAX_SHOWN) {
    g_string_append_printf (text, "%" G_GSIZE_FORMAT " numbers", value->n_list);
    return;
  }
  for (gsize i = 0; i < value->n_list; i++) {
    const GstTfxExplainClamp *clamp = find_clamp (spec, stage, param, (gint)i);

    g_string_append_printf (text, "%s%.15g", i > 0 ? ", " : "",
        clamp ? clamp->used : value->list[i]);
  }
  if (*param->unit)
    g_string_append_printf (text, " %s", param->unit);
}

/* "cutoff 80 Hz; order 5": all numbers, and the words that are not the default. */
static gchar *
describe_values (const GstTfxExplainSpec *spec, gsize stage)
{
  const TfxClass *klass = tfx_expr_stage_class (spec->expr, stage);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    const gboolean is_needed = param->flags & TFX_PARAM_REQUIRED;
    const GstTfxExplainClamp *clamp = find_clamp (spec, stage, param, -1);
    TfxValue value;

    /* (The gain itself says its scale.) */
    if ((param->flags & (TFX_PARAM_STREAM | TFX_PARAM_ROWS)) ||
        strcmp (param->name, "gain_scale") == 0 ||
        strcmp (param->name, "gain_type") == 0 ||
        tfx_expr_get (spec->expr, stage, param->name, &value) < 0 ||
        value.type == TFX_VALUE_NONE ||
        (!is_needed && (value.type & (TFX_VALUE_WORD | TFX_VALUE_BOOL)) &&
            tfx_value_equal (&value, &param->initial)))
      continue;
    g_string_append_printf (text, "%s%s ", text->len > 0 ? "; " : "",
        param->name);
    if (value.type == TFX_VALUE_NUMBER)
      append_number (text, spec->expr, stage, param,
          clamp ? clamp->used : value.number, spec->rate_hz);
    else if (value.type == TFX_VALUE_LIST)
      append_list (text, spec, stage, param, &value);
    else if (value.type == TFX_VALUE_BOOL)
      g_string_append (text, value.number != 0.0 ? "True" : "False");
    else
      g_string_append (text,
          value.type == TFX_VALUE_WORD ? value.word : value.text);
  }
  return g_string_free (text, FALSE);
}

/* ---- gains ------------------------------------------------------------------------ */

typedef struct Extremes
{
  gdouble lowest_db, highest_db, lowest_hz, highest_hz;
  guint n_zeros; /* frequencies that do not pass */
  gdouble
      between_db; /* the highest gain between two of them, where it is least */
  gboolean is_inverted;
} Extremes;

static Extremes
find_extremes (const GstTfxCurves *curves, const GstTfxCurve *curve)
{
  Extremes e = { INFINITY, -INFINITY, 0.0, 0.0, 0, INFINITY, TRUE };
  gdouble between_db = INFINITY;

  for (gsize i = 0; i < curves->n; i++) {
    if (curve->gain_db[i] < e.lowest_db) {
      e.lowest_db = curve->gain_db[i];
      e.lowest_hz = curves->freq_hz[i];
    }
    if (curve->gain_db[i] > e.highest_db) {
      e.highest_db = curve->gain_db[i];
      e.highest_hz = curves->freq_hz[i];
    }
    if (curve->gain_db[i] < SILENT_DB) {
      e.between_db = MIN (e.between_db, between_db);
      between_db = -INFINITY;
      e.n_zeros++;
    }
    between_db = MAX (between_db, curve->gain_db[i]);
    e.is_inverted = e.is_inverted && fabs (curve->phase_deg[i]) > INVERTED_DEG;
  }
  /* Of a pass band, its end. */
  if (curve->gain_db[0] > e.highest_db - END_DB)
    e.highest_hz = curves->freq_hz[0];
  if (curve->gain_db[curves->n - 1] > e.highest_db - END_DB)
    e.highest_hz = curves->freq_hz[curves->n - 1];
  return e;
}

/* "+15.6 dB, inverted"; "0.0 dB at 20 Hz to +9.5 dB at 20 kHz" */
static gchar *
describe_extremes (const Extremes *e)
{
  gchar *low = gst_tfx_notes_format_db (e->lowest_db);
  gchar *high = gst_tfx_notes_format_db (e->highest_db);
  gchar *low_at = format_frequency (e->lowest_hz);
  gchar *high_at = format_frequency (e->highest_hz);
  gchar *text;

  if (e->highest_db < SILENT_DB)
    text = g_strdup ("silence");
  else if (e->highest_db - e->lowest_db < FLAT_DB)
    text = g_strdup_printf ("%s%s", high, e->is_inverted ? ", inverted" : "");
  else if (e->n_zeros > MAX_ZEROS && e->between_db < STOP_BAND_DB)
    text = g_strdup_printf ("at most %s, at %s", high, high_at);
  else if (e->n_zeros > 1)
    text = g_strdup_printf ("%s at %s; %s and %u more are removed", high,
        high_at, low_at, e->n_zeros - 1);
  else if (e->n_zeros == 1)
    text = g_strdup_printf ("%s at %s; %s is removed", high, high_at, low_at);
  else
    text = g_strdup_printf ("%s at %s to %s at %s", low, low_at, high, high_at);
  g_free (low);
  g_free (high);
  g_free (low_at);
  g_free (high_at);
  return text;
}

/* Between the channels that come to a chain and those that leave it. */
static GstTfxCurves *
make_curves (const GstTfxExplainSpec *spec, const TfxChain *chain, guint n_in,
    guint n_out)
{
  const gdouble to_hz = MIN (TO_HZ, 0.4999 * spec->rate_hz);
  const GstTfxCurvesSpec curves = { chain, spec->rate_hz,
    MIN (FROM_HZ, to_hz / 2.0), to_hz, MIN (n_in, TFX_MIX_MAX_CHANNELS),
    MIN (n_out, TFX_MIX_MAX_CHANNELS), -1, -1, N_POINTS,
    tfx_chain_memory (chain) > LONG_MEMORY, spec->expr };

  return gst_tfx_curves_new (&curves);
}

/* Of all curves: each with its name if there are several. */
static gchar *
describe_curves (const GstTfxCurves *curves)
{
  GString *text = g_string_new (NULL);
  const guint n = curves->curves->len;

  for (guint c = 0; c < MIN (n, MAX_SHOWN); c++) {
    const GstTfxCurve *curve = &g_array_index (curves->curves, GstTfxCurve, c);
    const Extremes e = find_extremes (curves, curve);
    gchar *gain = describe_extremes (&e);

    g_string_append_printf (text, "%s%s%s%s", c > 0 ? "; " : "",
        n > 1 ? curve->name : "", n > 1 ? ": " : "", gain);
    g_free (gain);
  }
  if (n > MAX_SHOWN)
    g_string_append_printf (text, "; and %u more",
        n - MAX_SHOWN + curves->n_more);
  return g_string_free (text, FALSE);
}

/* ---- stages ----------------------------------------------------------------------- */

/* Facts on a stage; its strings are owned. */
typedef struct Facts
{
  char *channels, *text; /* by free() */
  gchar *values, *gain;
  gboolean has_level; /* its gain follows the level */
  gsize latency;
  gsize delay; /* of a FIR, beyond its latency */
} Facts;

/* "follows the level: -15.0 dB at 0 dBFS, 0.0 dB at -40 dBFS" */
static gchar *
describe_level (const TfxStage *stage)
{
  gdouble at_full, at_low;
  gchar *full, *low, *text;

  if (tfx_stage_gain_at (stage, 0.0, &at_full) < 0 ||
      tfx_stage_gain_at (stage, LOW_LEVEL_DB, &at_low) < 0)
    return g_strdup ("follows the level");
  full = gst_tfx_notes_format_db (at_full);
  low = gst_tfx_notes_format_db (at_low);
  text = g_strdup_printf ("follows the level: %s at 0 dBFS, %s at %g dBFS",
      full, low, LOW_LEVEL_DB);
  g_free (full);
  g_free (low);
  return text;
}

static Facts
find_facts (const GstTfxExplainSpec *spec, gsize index)
{
  const TfxClass *klass = tfx_expr_stage_class (spec->expr, index);
  TfxStage *stage = NULL;
  TfxChain *chain = NULL;
  Facts facts = { tfx_expr_print_stage_channels (spec->expr, index),
    tfx_expr_print_stage (spec->expr, index), describe_values (spec, index),
    NULL, klass->kind == TFX_CLASS_DYNAMICS, 0, 0.0 };
  GstTfxCurves *curves;
  guint n_out, n_most;
  gsize peak;

  tfx_expr_channels (spec->expr, spec->n_channels, &n_out, &n_most);
  if (tfx_expr_build_stage (spec->expr, index, spec->rate_hz, spec->n_channels,
          spec->positions, &stage, NULL) == 0)
    chain = tfx_chain_append (NULL, stage);
  if (chain) {
    facts.latency = tfx_chain_latency (chain);
    if (facts.has_level) {
      facts.gain = describe_level (stage);
    } else {
      curves = make_curves (spec, chain, n_most, n_most);
      facts.gain = describe_curves (curves);
      gst_tfx_curves_free (curves);
    }
  }
  if (stage && tfx_stage_fir_peak (stage, &peak) == 0 && peak > facts.latency)
    facts.delay = peak - facts.latency;
  if (!facts.gain)
    facts.gain = g_strdup ("unknown");
  tfx_chain_unref (&chain);
  tfx_stage_unref (&stage);
  return facts;
}

static void
clear_facts (Facts *facts)
{
  free (facts->channels);
  free (facts->text);
  g_free (facts->values);
  g_free (facts->gain);
}

/* ---- the whole -------------------------------------------------------------------- */

static guint
count_outputs (const GstTfxExplainSpec *spec)
{
  guint n_out, n_most;

  tfx_expr_channels (spec->expr, spec->n_channels, &n_out, &n_most);
  return n_out;
}

static gchar *
describe_whole (const GstTfxExplainSpec *spec)
{
  GstTfxCurves *curves =
      make_curves (spec, spec->chain, spec->n_channels, count_outputs (spec));
  gchar *text = describe_curves (curves);

  gst_tfx_curves_free (curves);
  return text;
}

/* The beginning of a long text. */
static gchar *
shorten (const gchar *text)
{
  const gchar *end = text + MAX_TEXT;

  if (strlen (text) <= MAX_TEXT)
    return g_strdup (text);
  while (end > text && (*end & 0xc0) == 0x80) /* within a character */
    end--;
  return g_strdup_printf ("%.*s…", (gint)(end - text), text);
}

void
gst_tfx_explain_print (const GstTfxExplainSpec *spec)
{
  const gsize latency = tfx_chain_latency (spec->chain);
  const guint n_out = count_outputs (spec);
  const gsize n_stages = tfx_expr_n_stages (spec->expr);
  gchar *late = format_latency (latency, spec->rate_hz), *whole;
  char *canonical = tfx_expr_print (spec->expr);
  char positions[TFX_POSITIONS_TEXT_SIZE];
  gboolean has_level = FALSE;

  tfx_positions_print (spec->positions, positions);
  g_print ("%s\n\nAt %.15g Hz, %u %s", canonical ? canonical : "",
      spec->rate_hz, spec->n_channels,
      spec->n_channels == 1 ? "channel" : "channels");
  if (*positions)
    g_print (" (%s)", positions);
  if (n_out != spec->n_channels)
    g_print (" in, %u out", n_out);
  g_print (":\n");
  for (gsize i = 0; i < n_stages; i++) {
    Facts facts = find_facts (spec, i);
    gchar *heading = shorten (facts.text ? facts.text : "");

    g_print ("\n  %s%s\n", facts.channels ? facts.channels : "", heading);
    g_free (heading);
    if (*facts.values)
      g_print ("    values   %s\n", facts.values);
    g_print ("    gain     %s\n", facts.gain);
    if (facts.latency > 0) {
      gchar *own = format_latency (facts.latency, spec->rate_hz);

      g_print ("    latency  %s\n", own);
      g_free (own);
    }
    if (facts.delay > 0) {
      gchar *own = format_latency (facts.delay, spec->rate_hz);

      g_print ("    delay    %s to its largest tap, which process leaves in "
               "the "
               "output\n",
          own);
      g_free (own);
    }
    has_level = has_level || facts.has_level;
    clear_facts (&facts);
  }
  whole = describe_whole (spec);
  g_print ("\n  whole chain\n    gain     %s%s\n    latency  %s\n", whole,
      has_level ? " (without stages that follow the level)" : "", late);
  if (latency > 0)
    g_print (
        "             process removes it: output and input are aligned and "
        "equally long;\n"
        "             play, record and live pipelines are later by it\n");
  g_free (whole);
  g_free (late);
  free (canonical);
}

/* ---- JSON ------------------------------------------------------------------------- */

static void
append_string (GString *text, const gchar *name, const gchar *value)
{
  g_string_append_printf (text, "\"%s\": ", name);
  gst_tfx_json_quote (text, value ? value : "");
}

static void
append_stages (GString *text, const GstTfxExplainSpec *spec)
{
  for (gsize i = 0; i < tfx_expr_n_stages (spec->expr); i++) {
    Facts facts = find_facts (spec, i);

    g_string_append (text, i > 0 ? ", {" : "{");
    append_string (text, "name", tfx_expr_stage_name (spec->expr, i));
    g_string_append (text, ", ");
    append_string (text, "text", facts.text);
    g_string_append (text, ", ");
    append_string (text, "values", facts.values);
    g_string_append (text, ", ");
    append_string (text, "gain", facts.gain);
    g_string_append_printf (text,
        ", \"latency\": %" G_GSIZE_FORMAT ", \"delay\": %" G_GSIZE_FORMAT "}",
        facts.latency, facts.delay);
    clear_facts (&facts);
  }
}

void
gst_tfx_explain_print_json (const GstTfxExplainSpec *spec,
    const GPtrArray *notes)
{
  GString *text = g_string_new ("{");
  char *canonical = tfx_expr_print (spec->expr);
  gchar *whole = describe_whole (spec);
  const gsize latency = tfx_chain_latency (spec->chain);
  char positions[TFX_POSITIONS_TEXT_SIZE];

  tfx_positions_print (spec->positions, positions);
  append_string (text, "chain", canonical);
  g_string_append_printf (text,
      ", \"rate\": %.15g, \"channels\": %u, \"channels_out\": %u, ",
      spec->rate_hz, spec->n_channels, count_outputs (spec));
  append_string (text, "positions", positions);
  g_string_append (text, ", \"stages\": [");
  append_stages (text, spec);
  g_string_append (text, "], ");
  append_string (text, "gain", whole);
  g_string_append_printf (text,
      ", \"latency\": %" G_GSIZE_FORMAT ", \"latency_ms\": %.6g, \"notes\": [",
      latency, 1000.0 * (gdouble)latency / spec->rate_hz);
  for (guint i = 0; i < notes->len; i++) {
    g_string_append (text, i > 0 ? ", " : "");
    gst_tfx_json_quote (text, notes->pdata[i]);
  }
  g_print ("%s]}\n", text->str);
  g_string_free (text, TRUE);
  g_free (whole);
  free (canonical);
}
