/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresponse.c: gst-tfx response: what a chain does to each frequency, as CSV or
 * as a picture.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "gsttfxchainreader.h"
#include "gsttfxoptions.h"
#include "gsttfxpicture.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

/* What a gain of 0 is shown as, and how much of the scale there is at least. */
#define FLOOR_DB -400.0
#define SPAN_DB 60.0
#define MAX_POINTS 100000

typedef struct Curve
{
  GstTfxOptions options; /* the chain alone */
  gchar *output;
  gdouble rate_hz, from_hz, to_hz;
  gint channel, n_points;
  gdouble *freq_hz, *gain_db, *phase_deg, *delay_ms; /* [n_points] */
} Curve;

/* ---- the curve ----------------------------------------------------------------------- */

static TfxChain *
make_chain (const Curve *curve)
{
  TfxExprError error;
  TfxExpr *expr =
      gst_tfx_chain_reader_parse (curve->options.chain, NULL, NULL, &error);
  TfxChain *chain = NULL;

  if (expr && tfx_expr_build (expr, curve->rate_hz,
                  tfx_expr_find_channels (expr, (unsigned)curve->channel + 2),
                  gst_tfx_options_tell_clamp, NULL, &chain, &error) < 0) {
    tfx_expr_place_error (&error, curve->options.chain,
        strlen (curve->options.chain));
    g_printerr ("error: the chain: %s\n", error.rendered);
  }
  tfx_expr_free (&expr);
  return chain;
}

/* At frequencies of one ratio. */
static gboolean
compute (Curve *curve)
{
  const gsize n = (gsize)curve->n_points;
  TfxChain *chain = make_chain (curve);

  if (!chain)
    return FALSE;
  curve->freq_hz = g_new (gdouble, n);
  curve->gain_db = g_new (gdouble, n);
  curve->phase_deg = g_new (gdouble, n);
  curve->delay_ms = g_new (gdouble, n);
  for (gsize i = 0; i < n; i++) {
    const gdouble part = (gdouble)i / (gdouble)(n - 1);
    const gdouble f =
        curve->from_hz * pow (curve->to_hz / curve->from_hz, part);
    const TfxComplex h = tfx_chain_response_at (chain, (unsigned)curve->channel,
        f, curve->rate_hz);

    curve->freq_hz[i] = f;
    curve->gain_db[i] = fmax (20.0 * log10 (hypot (h.re, h.im)), FLOOR_DB);
    curve->phase_deg[i] = atan2 (h.im, h.re) * 180.0 / G_PI;
    curve->delay_ms[i] = 1000.0 / curve->rate_hz *
                         tfx_chain_group_delay_at (chain,
                             (unsigned)curve->channel, f, curve->rate_hz);
  }
  tfx_chain_unref (&chain);
  return TRUE;
}

static gchar *
print_csv (const Curve *curve)
{
  GString *text =
      g_string_new ("frequency_hz,gain_db,phase_degrees,group_delay_ms\n");

  for (gint i = 0; i < curve->n_points; i++)
    g_string_append_printf (text, "%.8g,%.9g,%.6f,%.6f\n", curve->freq_hz[i],
        curve->gain_db[i], gst_tfx_tool_round (curve->phase_deg[i], 6),
        gst_tfx_tool_round (curve->delay_ms[i], 6));
  return g_string_free (text, FALSE);
}

/* A picture from the highest gain on, in tens, or the table. */
static GstTfxToolStatus
write_curve (const Curve *curve)
{
  const GstTfxPictureCurve line = { NULL, curve->freq_hz, curve->gain_db,
    (gsize)curve->n_points };
  gchar *title = gst_tfx_options_name_chain (&curve->options);
  GstTfxPicture picture = { title, "Hz", "dB", curve->from_hz, curve->to_hz,
    .curves = &line, .n_curves = 1 };
  gdouble most = FLOOR_DB;
  gchar *csv = print_csv (curve);
  gboolean is_done;

  for (gint i = 0; i < curve->n_points; i++)
    most = MAX (most, curve->gain_db[i]);
  picture.high_y = ceil (most / 10.0 + 0.1) * 10.0;
  picture.low_y = picture.high_y - SPAN_DB;
  is_done = gst_tfx_picture_write_or_csv (&picture, csv, curve->output);
  g_free (csv);
  g_free (title);
  return is_done ? GST_TFX_TOOL_OK : GST_TFX_TOOL_FAILED;
}

/* ---- the command ------------------------------------------------------------------------- */

static gboolean
check (Curve *curve)
{
  if (curve->to_hz == 0.0)
    curve->to_hz = MIN (20000.0, curve->rate_hz / 2.0);
  if (!(curve->rate_hz > 0.0))
    gst_tfx_tool_error ("rate is %g Hz, but must be above 0", curve->rate_hz);
  else if (!(curve->from_hz > 0.0) || !(curve->to_hz > curve->from_hz) ||
           !(curve->to_hz <= curve->rate_hz / 2.0))
    gst_tfx_tool_error ("frequencies from %g to %g Hz at a rate of %g Hz: they "
                        "must rise from above 0 to at most half the rate",
        curve->from_hz, curve->to_hz, curve->rate_hz);
  else if (curve->n_points < 2 || curve->n_points > MAX_POINTS)
    gst_tfx_tool_error ("points is %d, but must be from 2 to %d",
        curve->n_points, MAX_POINTS);
  else if (curve->channel < 0 || curve->channel > 1023)
    gst_tfx_tool_error ("channel is %d, but must be from 0 to 1023",
        curve->channel);
  else
    return gst_tfx_picture_check_name (curve->output) &&
           gst_tfx_options_read_chain (&curve->options);
  return FALSE;
}

GstTfxToolStatus
gst_tfx_response_run (gint argc, gchar **argv)
{
  Curve curve = { .rate_hz = 48000.0, .from_hz = 20.0, .n_points = 400 };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 7] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &curve.output,
        "a picture (.svg, .png) or a table (.csv; else to standard output)",
        "FILE" },
    { "rate", 'r', 0, G_OPTION_ARG_DOUBLE, &curve.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "from", 0, 0, G_OPTION_ARG_DOUBLE, &curve.from_hz,
        "lowest frequency (20)", "HZ" },
    { "to", 0, 0, G_OPTION_ARG_DOUBLE, &curve.to_hz,
        "highest frequency (20000, or half the rate)", "HZ" },
    { "points", 'n', 0, G_OPTION_ARG_INT, &curve.n_points,
        "number of frequencies (400)", "N" },
    { "channel", 0, 0, G_OPTION_ARG_INT, &curve.channel, "channel, from 0 (0)",
        "N" },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list_chain (&curve.options, entries + 6);
  if (gst_tfx_tool_parse ("CHAIN",
          "The frequency response of a chain: gain, phase and group delay.",
          "Compressors and the like, whose gain follows the level, count as 1.",
          entries, &argc, &argv) &&
      gst_tfx_options_find_chain (&curve.options, argc, argv, "response") &&
      check (&curve) && compute (&curve))
    status = write_curve (&curve);
  gst_tfx_options_clear (&curve.options);
  g_free (curve.output);
  g_free (curve.freq_hz);
  g_free (curve.gain_db);
  g_free (curve.phase_deg);
  g_free (curve.delay_ms);
  return status;
}
