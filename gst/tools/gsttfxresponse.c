/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresponse.c: gst-tfx response: what a chain does to each frequency, as CSV or
 * as a picture.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "gsttfxoptions.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

/* The picture, in pixels; the curve is within margins. */
#define WIDTH 800.0
#define HEIGHT 400.0
#define LEFT 60.0
#define RIGHT 20.0
#define TOP 40.0
#define BOTTOM 50.0
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
  gdouble *freq_hz, *gain_db, *phase_deg; /* [n_points] */
} Curve;

/* ---- the curve ----------------------------------------------------------------------- */

static TfxChain *
make_chain (const Curve *curve)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (curve->options.chain,
      strlen (curve->options.chain), &error);
  TfxChain *chain = NULL;

  if (expr && tfx_expr_build (expr, curve->rate_hz,
                  (unsigned)curve->channel + 2, NULL, NULL, &chain, &error) < 0)
    g_printerr ("error: the chain: %s\n", error.rendered);
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
  for (gsize i = 0; i < n; i++) {
    const gdouble part = (gdouble)i / (gdouble)(n - 1);
    const gdouble f =
        curve->from_hz * pow (curve->to_hz / curve->from_hz, part);
    const TfxComplex h = tfx_chain_response_at (chain, (unsigned)curve->channel,
        f, curve->rate_hz);

    curve->freq_hz[i] = f;
    curve->gain_db[i] = fmax (20.0 * log10 (hypot (h.re, h.im)), FLOOR_DB);
    curve->phase_deg[i] = atan2 (h.im, h.re) * 180.0 / G_PI;
  }
  tfx_chain_unref (&chain);
  return TRUE;
}

static gchar *
print_csv (const Curve *curve)
{
  GString *text = g_string_new ("frequency_hz,gain_db,phase_degrees\n");

  for (gint i = 0; i < curve->n_points; i++)
    g_string_append_printf (text, "%.8g,%.9g,%.6f\n", curve->freq_hz[i],
        curve->gain_db[i], curve->phase_deg[i]);
  return g_string_free (text, FALSE);
}

/* ---- the picture ------------------------------------------------------------------------ */

static gdouble
x_of (const Curve *curve, gdouble freq_hz)
{
  return LEFT + (WIDTH - LEFT - RIGHT) * log (freq_hz / curve->from_hz) /
                    log (curve->to_hz / curve->from_hz);
}

static gdouble
y_of (gdouble db, gdouble low_db, gdouble high_db)
{
  return TOP + (HEIGHT - TOP - BOTTOM) * (high_db - db) / (high_db - low_db);
}

static void
draw_line (GString *svg, gdouble x1, gdouble y1, gdouble x2, gdouble y2)
{
  g_string_append_printf (svg,
      "<path class='grid' d='M%.1f %.1fL%.1f %.1f'/>\n", x1, y1, x2, y2);
}

/* Lines at 1, 2 and 5 of each decade, with words. */
static void
draw_frequencies (const Curve *curve, GString *svg)
{
  static const gint steps[] = { 1, 2, 5 };

  for (gint decade = -3; decade < 9; decade++) {
    for (gsize i = 0; i < G_N_ELEMENTS (steps); i++) {
      const gdouble f = steps[i] * pow (10.0, decade);
      const gdouble x = x_of (curve, f);

      if (f < curve->from_hz || f > curve->to_hz)
        continue;
      draw_line (svg, x, TOP, x, HEIGHT - BOTTOM);
      g_string_append_printf (svg,
          "<text x='%.1f' y='%.1f' text-anchor='middle'>%g%s</text>\n", x,
          HEIGHT - BOTTOM + 18.0, f >= 1000.0 ? f / 1000.0 : f,
          f >= 1000.0 ? "k" : "");
    }
  }
}

static void
draw_gains (GString *svg, gdouble low_db, gdouble high_db)
{
  const gdouble step = high_db - low_db > 150.0 ? 50.0 : 10.0;

  for (gdouble db = ceil (low_db / step) * step; db <= high_db; db += step) {
    const gdouble y = y_of (db, low_db, high_db);

    draw_line (svg, LEFT, y, WIDTH - RIGHT, y);
    g_string_append_printf (svg,
        "<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n", LEFT - 6.0,
        y + 4.0, db);
  }
}

/* From the highest gain on, as far down as there is something, in tens. */
static void
find_scale (const Curve *curve, gdouble *low_db, gdouble *high_db)
{
  gdouble most = FLOOR_DB;

  for (gint i = 0; i < curve->n_points; i++)
    most = MAX (most, curve->gain_db[i]);
  *high_db = ceil (most / 10.0 + 0.1) * 10.0;
  *low_db = *high_db - SPAN_DB;
}

static gchar *
print_svg (const Curve *curve)
{
  GString *svg = g_string_new (NULL);
  gchar *title = g_markup_escape_text (curve->options.chain, -1);
  gdouble low_db, high_db;

  find_scale (curve, &low_db, &high_db);
  g_string_append_printf (svg,
      "<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g' "
      "viewBox='0 0 %g %g'>\n"
      "<style>text{font:13px sans-serif;fill:#333}"
      ".grid{stroke:#ddd;fill:none}.curve{stroke:#06c;stroke-width:2;fill:none}"
      "</style>\n<rect width='%g' height='%g' fill='#fff'/>\n"
      "<clipPath id='inside'><rect x='%g' y='%g' width='%g' height='%g'/>"
      "</clipPath>\n",
      WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT, TOP,
      WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
  draw_frequencies (curve, svg);
  draw_gains (svg, low_db, high_db);
  g_string_append_printf (svg,
      "<text x='%g' y='24' text-anchor='middle'>%s</text>\n"
      "<text x='%g' y='%g' text-anchor='middle'>Hz</text>\n"
      "<text x='16' y='%g' transform='rotate(-90 16 %g)' "
      "text-anchor='middle'>dB</text>\n<path class='curve' "
      "clip-path='url(#inside)' d='",
      WIDTH / 2.0, title, WIDTH / 2.0, HEIGHT - 10.0, HEIGHT / 2.0,
      HEIGHT / 2.0);
  for (gint i = 0; i < curve->n_points; i++)
    g_string_append_printf (svg, "%c%.2f %.2f", i ? 'L' : 'M',
        x_of (curve, curve->freq_hz[i]),
        y_of (curve->gain_db[i], low_db, high_db));
  g_string_append (svg, "'/>\n</svg>\n");
  g_free (title);
  return g_string_free (svg, FALSE);
}

/* ---- the command ------------------------------------------------------------------------- */

static GstTfxToolStatus
write_curve (const Curve *curve)
{
  const gboolean is_picture =
      curve->output && g_str_has_suffix (curve->output, ".svg");
  gchar *text = is_picture ? print_svg (curve) : print_csv (curve);
  GError *error = NULL;

  if (!curve->output)
    g_print ("%s", text);
  else if (!g_file_set_contents (curve->output, text, -1, &error))
    gst_tfx_tool_error ("%s", error->message);
  g_free (text);
  if (!error)
    return GST_TFX_TOOL_OK;
  g_error_free (error);
  return GST_TFX_TOOL_FAILED;
}

static gboolean
check (Curve *curve)
{
  if (curve->to_hz == 0.0)
    curve->to_hz = MIN (20000.0, curve->rate_hz / 2.0);
  if (!(curve->rate_hz > 0.0) || !(curve->from_hz > 0.0) ||
      !(curve->to_hz > curve->from_hz) ||
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
  else if (curve->output && !g_str_has_suffix (curve->output, ".svg") &&
           !g_str_has_suffix (curve->output, ".csv"))
    gst_tfx_tool_error ("output is %s, but its name must end in .svg or .csv",
        curve->output);
  else
    return gst_tfx_options_read_chain (&curve->options);
  return FALSE;
}

GstTfxToolStatus
gst_tfx_response_run (gint argc, gchar **argv)
{
  Curve curve = { .rate_hz = 48000.0, .from_hz = 20.0, .n_points = 400 };
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &curve.output,
        "a picture (.svg) or a table (.csv; else to standard output)", "FILE" },
    { "rate", 'r', 0, G_OPTION_ARG_DOUBLE, &curve.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "from", 0, 0, G_OPTION_ARG_DOUBLE, &curve.from_hz,
        "lowest frequency (20)", "HZ" },
    { "to", 0, 0, G_OPTION_ARG_DOUBLE, &curve.to_hz,
        "highest frequency (20000, or half the rate)", "HZ" },
    { "points", 'n', 0, G_OPTION_ARG_INT, &curve.n_points,
        "number of frequencies (400)", "N" },
    { "channel", 'c', 0, G_OPTION_ARG_INT, &curve.channel,
        "channel, from 0 (0)", "N" },
    { NULL }
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (gst_tfx_tool_parse ("CHAIN",
          "The frequency response of a chain: gain and phase.",
          "Compressors and the like, whose gain follows the level, count as 1.",
          entries, &argc, &argv)) {
    if (argc != 2) {
      gst_tfx_tool_error ("response takes one chain, in quotes");
    } else {
      curve.options.chain = g_strdup (argv[1]);
      if (check (&curve) && compute (&curve))
        status = write_curve (&curve);
    }
  }
  gst_tfx_options_clear (&curve.options);
  g_free (curve.output);
  g_free (curve.freq_hz);
  g_free (curve.gain_db);
  g_free (curve.phase_deg);
  return status;
}
