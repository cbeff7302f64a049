/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresponse.c: gst-tfx response: the frequency response of a chain, as CSV or as
 * a picture.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "gsttfxchainreader.h"
#include "gsttfxcurves.h"
#include "gsttfxoptions.h"
#include "gsttfxpicture.h"
#include "gsttfxscale.h"
#include "gsttfxtool.h"
#include "lang/expr.h"

#define N_POINTS 400
#define MAX_POINTS 100000
/* The least that a scale has. */
#define LEAST_DB 6.0
#define LEAST_MS 0.1
/* Delays where the gain is lower than this below the highest one do not count for the
 * scale. */
#define HEARD_DB 60.0
/* Pictures of one kind: gain, phase, delay. */
#define MAX_PARTS 3

typedef struct Response
{
  GstTfxOptions options; /* the chain alone */
  gchar *output, *channel_text, *range_text;
  gdouble rate_hz, from_hz, to_hz;
  gint n_points; /* 0: not given */
  gboolean has_phase, has_delay;

  gint from, to; /* channels; -1: all */
  GstTfxScale scale;
  GstTfxCurves *curves;
} Response;

/* ---- the chain -------------------------------------------------------------------- */

/* "2 channels (0-1)", or "1 channel (0)" */
static gchar *
describe_channels (guint n)
{
  return n == 1 ? g_strdup ("1 channel (0)")
                : g_strdup_printf ("%u channels (0-%u)", n, n - 1);
}

/* Whether the channels that were asked for are there.  FALSE after a message. */
static gboolean
check_channels (const Response *response, const GstTfxCurvesSpec *spec)
{
  const gboolean is_in = response->from < (gint)spec->n_in;
  gchar *there;

  if (is_in && response->to < (gint)spec->n_out)
    return TRUE;
  there = describe_channels (is_in ? spec->n_out : spec->n_in);
  gst_tfx_tool_error ("--channel %s: the chain %s%s; IN:OUT is from one to "
                      "another",
      response->channel_text,
      spec->n_in == spec->n_out ? "has "
      : is_in                   ? "puts out "
                                : "takes ",
      there);
  g_free (there);
  return FALSE;
}

/* If nothing passes between the channels, notes which other inputs reach the output. */
static void
note_silence (const Response *response, const GstTfxCurvesSpec *spec)
{
  GString *inputs = g_string_new (NULL);
  const gdouble middle_hz = sqrt (spec->from_hz * spec->to_hz);
  TfxComplex h[TFX_MIX_MAX_CHANNELS];

  for (guint from = 0; from < spec->n_in; from++) {
    memset (h, 0, sizeof h);
    h[from].re = 1.0;
    tfx_chain_spread (spec->chain, h, middle_hz, spec->rate_hz);
    if (h[response->to].re == 0.0 && h[response->to].im == 0.0)
      continue;
    if ((gint)from == response->from) {
      g_string_free (inputs, TRUE);
      return;
    }
    g_string_append_printf (inputs, "%s%u:%d", inputs->len > 0 ? ", " : "",
        from, response->to);
  }
  g_printerr ("note: nothing goes from channel %d to channel %d; %s%s\n",
      response->from, response->to,
      inputs->len > 0 ? "these do: --channel " : "no other reaches it",
      inputs->str);
  g_string_free (inputs, TRUE);
}

static gboolean
sample (Response *response, const TfxExpr *expr, TfxChain *chain, guint n_in)
{
  const gboolean is_table =
      !response->output || !gst_tfx_picture_is_named (response->output);
  GstTfxCurvesSpec spec = { chain, response->rate_hz, response->from_hz,
    response->to_hz, n_in, n_in, response->from, response->to,
    (guint)(response->n_points > 0 ? response->n_points : N_POINTS),
    is_table && response->n_points > 0, expr };
  guint n_most;

  tfx_expr_channels (expr, n_in, &spec.n_out, &n_most);
  if (!check_channels (response, &spec))
    return FALSE;
  if (response->from >= 0)
    note_silence (response, &spec);
  response->curves = gst_tfx_curves_new (&spec);
  if (response->curves->n_more > 0)
    g_printerr ("note: these are the first %u of %u responses that differ; "
                "--channel IN:OUT chooses one\n",
        response->curves->curves->len,
        response->curves->curves->len + response->curves->n_more);
  return TRUE;
}

static gboolean
compute (Response *response)
{
  TfxExprError error;
  TfxExpr *expr = gst_tfx_chain_reader_parse (response->options.chain, NULL,
      NULL, NULL, &error);
  TfxChain *chain = NULL;
  const guint least = (guint)MAX (MAX (response->from, response->to) + 1, 2);
  guint64 positions = 0;
  const guint n_in =
      expr ? MIN (tfx_expr_find_channels (expr, least, &positions),
                 TFX_MIX_MAX_CHANNELS)
           : 0;
  gboolean is_done = FALSE;

  if (expr && tfx_expr_build_at (expr, response->rate_hz, n_in, positions,
                  gst_tfx_options_tell_clamp, NULL, &chain, &error) < 0) {
    tfx_expr_place_error (&error, response->options.chain,
        strlen (response->options.chain));
    g_printerr ("error: the chain: %s\n", error.rendered);
  }
  if (chain)
    is_done = sample (response, expr, chain, n_in);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
  return is_done;
}

/* ---- what is written -------------------------------------------------------------- */

static const GstTfxCurve *
get_curve (const Response *response, guint index)
{
  return &g_array_index (response->curves->curves, GstTfxCurve, index);
}

/* Three columns for each curve; with its name if there are several. */
static gchar *
print_csv (const Response *response)
{
  static const gchar *const columns[] = { "gain_db", "phase_degrees",
    "group_delay_ms" };
  const guint n_curves = response->curves->curves->len;
  GString *text = g_string_new ("frequency_hz");

  for (guint c = 0; c < n_curves; c++) {
    for (gsize k = 0; k < G_N_ELEMENTS (columns); k++) {
      gchar *name = g_strdup (get_curve (response, c)->name);

      g_string_append_printf (text, n_curves > 1 ? ",%s %s" : ",%s", columns[k],
          g_strdelimit (name, ",", ' '));
      g_free (name);
    }
  }
  g_string_append_c (text, '\n');
  for (gsize i = 0; i < response->curves->n; i++) {
    g_string_append_printf (text, "%.8g", response->curves->freq_hz[i]);
    for (guint c = 0; c < n_curves; c++) {
      const GstTfxCurve *curve = get_curve (response, c);

      g_string_append_printf (text, ",%.9g,%.6f,%.6f", curve->gain_db[i],
          curve->phase_deg[i], curve->delay_ms[i]);
    }
    g_string_append_c (text, '\n');
  }
  return g_string_free (text, FALSE);
}

/* A curve of angles with a gap wherever it goes round; free x and y. */
static GstTfxPictureCurve
open_circles (const gchar *name, const gdouble *x, const gdouble *y, gsize n)
{
  gdouble *xs = g_new (gdouble, 2 * n), *ys = g_new (gdouble, 2 * n);
  gsize n_all = 0;

  for (gsize i = 0; i < n; i++) {
    if (i > 0 && fabs (y[i] - y[i - 1]) > 180.0) {
      xs[n_all] = x[i];
      ys[n_all++] = NAN;
    }
    xs[n_all] = x[i];
    ys[n_all++] = y[i];
  }
  return (GstTfxPictureCurve){ name, xs, ys, n_all };
}

static void
scale_gains (const Response *response, GstTfxPicture *part)
{
  GstTfxScale scale = { 0.0, 0.0 };

  for (gsize c = 0; c < part->n_curves; c++)
    gst_tfx_scale_add_gains (&scale, part->curves[c].y, part->curves[c].n);
  gst_tfx_scale_finish (&scale, LEAST_DB);
  if (response->range_text)
    scale = response->scale;
  part->low_y = scale.low;
  part->high_y = scale.high;
}

static void
scale_delays (const Response *response, GstTfxPicture *part)
{
  GstTfxScale scale = { INFINITY, -INFINITY };
  gdouble highest_db = GST_TFX_CURVES_FLOOR_DB;

  for (guint c = 0; c < response->curves->curves->len; c++) {
    for (gsize i = 0; i < response->curves->n; i++)
      highest_db = fmax (highest_db, get_curve (response, c)->gain_db[i]);
  }
  for (guint c = 0; c < response->curves->curves->len; c++) {
    const GstTfxCurve *curve = get_curve (response, c);

    for (gsize i = 0; i < response->curves->n; i++) {
      if (curve->gain_db[i] < highest_db - HEARD_DB)
        continue;
      scale.low = fmin (scale.low, curve->delay_ms[i]);
      scale.high = fmax (scale.high, curve->delay_ms[i]);
    }
  }
  gst_tfx_scale_finish (&scale, LEAST_MS);
  part->low_y = scale.low;
  part->high_y = scale.high;
}

typedef enum
{
  PART_GAIN,
  PART_PHASE,
  PART_DELAY
} PartKind;

/* One part of the picture; free it with free_part(). */
static void
make_part (const Response *response, PartKind kind, GstTfxPicture *part)
{
  static const gchar *const labels[] = { "Gain (dB)", "Phase (degrees)",
    "Group delay (ms)" };
  const GstTfxCurves *curves = response->curves;
  GstTfxPictureCurve *lines = g_new (GstTfxPictureCurve, curves->curves->len);

  for (guint c = 0; c < curves->curves->len; c++) {
    const GstTfxCurve *curve = get_curve (response, c);

    lines[c] = (GstTfxPictureCurve){ curve->name, curves->freq_hz,
      kind == PART_GAIN ? curve->gain_db : curve->delay_ms, curves->n };
    if (kind == PART_PHASE)
      lines[c] = open_circles (curve->name, curves->freq_hz, curve->phase_deg,
          curves->n);
  }
  *part = (GstTfxPicture){ .x_label = "Frequency (Hz)",
    .y_label = labels[kind],
    .low_x = response->from_hz,
    .high_x = response->to_hz,
    .low_y = -180.0,
    .high_y = 180.0,
    .step_y = kind == PART_PHASE ? 90.0 : 0.0,
    .curves = lines,
    .n_curves = curves->curves->len };
  if (kind == PART_GAIN)
    scale_gains (response, part);
  else if (kind == PART_DELAY)
    scale_delays (response, part);
}

static void
free_part (PartKind kind, GstTfxPicture *part)
{
  for (gsize c = 0; kind == PART_PHASE && c < part->n_curves; c++) {
    g_free ((gpointer)part->curves[c].x);
    g_free ((gpointer)part->curves[c].y);
  }
  g_free ((gpointer)part->curves);
}

static GstTfxToolStatus
write_response (const Response *response)
{
  const gboolean is_asked[] = { TRUE, response->has_phase,
    response->has_delay };
  GstTfxPicture parts[MAX_PARTS];
  PartKind kinds[MAX_PARTS];
  gsize n = 0;
  gchar *title = gst_tfx_options_name_chain (&response->options);
  gchar *csv = print_csv (response);
  gboolean is_done;

  for (gint kind = PART_GAIN; kind <= PART_DELAY; kind++) {
    if (!is_asked[kind])
      continue;
    make_part (response, (PartKind)kind, &parts[n]);
    kinds[n] = (PartKind)kind;
    if (n > 0)
      parts[n - 1].below = &parts[n];
    n++;
  }
  parts[0].title = title;
  is_done = gst_tfx_picture_write_or_csv (&parts[0], csv, response->output);
  while (n > 0) {
    n--;
    free_part (kinds[n], &parts[n]);
  }
  g_free (csv);
  g_free (title);
  return is_done ? GST_TFX_TOOL_OK : GST_TFX_TOOL_FAILED;
}

/* ---- the command ------------------------------------------------------------------ */

/* Reads "1", or "0:1".  FALSE after a message. */
static gboolean
read_channel (Response *response)
{
  gchar **words;
  guint64 numbers[2] = { 0, 0 };
  guint n;
  gboolean is_good;

  response->from = response->to = -1;
  if (!response->channel_text)
    return TRUE;
  words = g_strsplit (response->channel_text, ":", -1);
  n = g_strv_length (words);
  is_good = n == 1 || n == 2;
  for (guint i = 0; is_good && i < n; i++)
    is_good = g_ascii_string_to_unsigned (words[i], 10, 0,
        TFX_MIX_MAX_CHANNELS - 1, &numbers[i], NULL);
  g_strfreev (words);
  if (!is_good) {
    gst_tfx_tool_error ("channel is '%s', but must be from 0 to %u, or IN:OUT",
        response->channel_text, TFX_MIX_MAX_CHANNELS - 1);
    return FALSE;
  }
  response->from = (gint)numbers[0];
  response->to = (gint)numbers[n - 1];
  return TRUE;
}

static gboolean
check (Response *response, gboolean has_points)
{
  if (response->to_hz == 0.0)
    response->to_hz = MIN (20000.0, response->rate_hz / 2.0);
  if (!(response->rate_hz > 0.0))
    gst_tfx_tool_error ("rate is %g Hz, but must be above 0",
        response->rate_hz);
  else if (!(response->from_hz > 0.0) ||
           !(response->to_hz > response->from_hz) ||
           !(response->to_hz <= response->rate_hz / 2.0))
    gst_tfx_tool_error ("frequencies from %g to %g Hz at a rate of %g Hz: they "
                        "must rise from above 0 to at most half the rate",
        response->from_hz, response->to_hz, response->rate_hz);
  else if (has_points &&
           (response->n_points < 2 || response->n_points > MAX_POINTS))
    gst_tfx_tool_error ("points is %d, but must be from 2 to %d",
        response->n_points, MAX_POINTS);
  else
    return read_channel (response) &&
           gst_tfx_scale_read (response->range_text, &response->scale) &&
           gst_tfx_picture_check_name (response->output) &&
           gst_tfx_options_read_chain (&response->options);
  return FALSE;
}

/* FALSE after a message: the picture is named behind the chain. */
static gboolean
check_words (const Response *response, gint argc, gchar **argv)
{
  gchar *chain;

  if (argc != 3 || response->output || !gst_tfx_options_is_chain (argv[1]))
    return TRUE;
  chain = gst_tfx_options_quote (argv[1]);
  gst_tfx_tool_error ("give the output by --output: gst-tfx response --output "
                      "%s %s",
      argv[2], chain);
  g_free (chain);
  return FALSE;
}

#define NOT_GIVEN G_MININT

GstTfxToolStatus
gst_tfx_response_run (gint argc, gchar **argv)
{
  Response response = { .rate_hz = 48000.0,
    .from_hz = 20.0,
    .n_points = NOT_GIVEN };
  GOptionEntry entries[GST_TFX_OPTIONS_N_CHAIN + 10] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &response.output,
        "a picture (.svg, .png) or a table (.csv; else to standard output)",
        "FILE" },
    { "rate", 'r', 0, G_OPTION_ARG_DOUBLE, &response.rate_hz,
        "sample rate in Hz (48000)", "HZ" },
    { "from", 0, 0, G_OPTION_ARG_DOUBLE, &response.from_hz,
        "lowest frequency (20)", "HZ" },
    { "to", 0, 0, G_OPTION_ARG_DOUBLE, &response.to_hz,
        "highest frequency (20000, or half the rate)", "HZ" },
    { "points", 'n', 0, G_OPTION_ARG_INT, &response.n_points,
        "frequencies of the grid (400); a table then has no others", "N" },
    { "channel", 0, 0, G_OPTION_ARG_STRING, &response.channel_text,
        "one channel, from 0, or from input IN to output OUT (all that differ)",
        "N|IN:OUT" },
    { "range", 0, 0, G_OPTION_ARG_STRING, &response.range_text,
        "gains that a picture shows, in dB (as the curve needs)", "LOW:HIGH" },
    { "phase", 0, 0, G_OPTION_ARG_NONE, &response.has_phase,
        "draw the phase below the gain", NULL },
    { "delay", 0, 0, G_OPTION_ARG_NONE, &response.has_delay,
        "draw the group delay below the gain", NULL },
  };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;
  gboolean has_points;

  gst_tfx_options_list_chain (&response.options, entries + 9);
  if (gst_tfx_tool_parse ("CHAIN",
          "The frequency response of a chain: gain, phase and group delay.",
          "Compressors and other stages whose gain follows the level count as "
          "0 dB.  The latency of look-ahead is not part of the delay.\n\n"
          "Example:\n"
          "  gst-tfx response --output hum.svg --range -60:5 'Hum(50)'\n",
          entries, &argc, &argv)) {
    has_points = response.n_points != NOT_GIVEN;
    if (check_words (&response, argc, argv) &&
        gst_tfx_options_find_chain (&response.options, argc, argv,
            "response") &&
        check (&response, has_points)) {
      response.n_points = has_points ? response.n_points : 0;
      if (compute (&response))
        status = write_response (&response);
    }
  }
  gst_tfx_options_clear (&response.options);
  gst_tfx_curves_free (response.curves);
  g_free (response.output);
  g_free (response.channel_text);
  g_free (response.range_text);
  return status;
}
