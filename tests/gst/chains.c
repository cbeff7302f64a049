/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.c: chains in the tests: what the core alone makes of them, and how
 * they respond.
 */
#include "chains.h"

#include <math.h>
#include <string.h>

/* ---- the core alone --------------------------------------------------------- */

static TfxExpr *
parse (const gchar *text)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);

  fail_unless (expr != NULL, "%s", expr ? "" : error.rendered);
  return expr;
}

static TfxChain *
build (const TfxCore *core)
{
  TfxChain *chain;

  fail_unless_equals_int (tfx_expr_build (core->expr, core->info.rate,
                              core->info.channels, NULL, NULL, &chain, NULL),
      0);
  return chain;
}

TfxCore *
tfx_chains_core_new (const gchar *text, const GstAudioInfo *info,
    gsize block_frames)
{
  const TfxFilterSpec spec = { .rate_hz = info->rate,
    .n_channels = info->channels,
    .sample =
        GST_AUDIO_INFO_WIDTH (info) == 32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64,
    .block_frames = block_frames };
  TfxCore *core = g_new0 (TfxCore, 1);
  TfxChain *chain;

  core->info = *info;
  core->block_frames = block_frames;
  core->expr = parse (text);
  chain = build (core);
  fail_unless_equals_int (tfx_filter_new (chain, &spec, &core->filter), 0);
  tfx_chain_unref (&chain);
  tfx_filter_lock (core->filter);
  fail_unless_equals_int (tfx_plan_new (&core->filter, 1, tfx_cpu_backend (),
                              &core->plan),
      0);
  tfx_filter_unlock (core->filter);
  return core;
}

void
tfx_chains_core_free (TfxCore *core)
{
  tfx_filter_lock (core->filter);
  tfx_plan_free (&core->plan);
  tfx_filter_unlock (core->filter);
  tfx_filter_unref (&core->filter);
  tfx_expr_free (&core->expr);
  g_free (core);
}

static void
change (TfxCore *core)
{
  TfxChain *chain = build (core);

  tfx_filter_lock (core->filter);
  fail_unless_equals_int (tfx_filter_set_chain (core->filter, chain), 0);
  tfx_filter_unlock (core->filter);
  tfx_chain_unref (&chain);
}

void
tfx_chains_core_set_text (TfxCore *core, const gchar *text)
{
  TfxExpr *expr = parse (text);

  tfx_expr_adopt_ids (expr, core->expr);
  tfx_expr_free (&core->expr);
  core->expr = expr;
  change (core);
}

void
tfx_chains_core_set (TfxCore *core, const gchar *stage, const gchar *param,
    gdouble number)
{
  TfxExprError error;

  fail_unless (
      tfx_expr_set_number (core->expr, tfx_expr_find (core->expr, stage), param,
          0, number, &error) == 0);
  change (core);
}

gdouble *
tfx_chains_core_run (TfxCore *core, const gdouble *samples, gsize n_frames)
{
  const GstAudioInfo *info = &core->info;
  g_autoptr (GstBuffer) buffer = tfx_check_buffer (info, samples, n_frames);
  gboolean planar = info->layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED;
  TfxBlock block = { .type = GST_AUDIO_INFO_WIDTH (info) == 32 ? TFX_SAMPLE_F32
                                                               : TFX_SAMPLE_F64,
    .n_channels = info->channels,
    .frame_stride = planar ? 1 : info->channels,
    .channel_stride = planar ? n_frames : 1 };
  GstMapInfo map;
  gdouble *out;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  for (gsize done = 0; done < n_frames; done += block.n_frames) {
    block.n_frames = MIN (core->block_frames, n_frames - done);
    block.data = map.data +
                 done * block.frame_stride * (GST_AUDIO_INFO_WIDTH (info) / 8);
    tfx_filter_lock (core->filter);
    fail_unless_equals_int (tfx_plan_run (core->plan, &block, &block), 0);
    tfx_filter_unlock (core->filter);
  }
  gst_buffer_unmap (buffer, &map);
  out = tfx_check_samples (buffer, info, NULL);
  return out;
}

gdouble *
tfx_chains_expected (const gchar *text, const GstAudioInfo *info,
    const gdouble *samples, gsize n_frames, gsize block_frames)
{
  TfxCore *core = tfx_chains_core_new (text, info, block_frames);
  gdouble *out = tfx_chains_core_run (core, samples, n_frames);

  tfx_chains_core_free (core);
  return out;
}

#define MAX_CHEAP_TAPS 4096

gboolean
tfx_chains_is_cheap (const gchar *text, gdouble rate_hz)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);
  gsize n_sections, n_taps;

  if (!expr)
    return TRUE;
  tfx_expr_effort (expr, rate_hz, 2, 0, &n_sections, &n_taps);
  tfx_expr_free (&expr);
  return n_taps <= MAX_CHEAP_TAPS;
}

/* ---- elements ---------------------------------------------------------------- */

GstElement *
tfx_chains_element (const gchar *text)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);

  fail_unless (element != NULL);
  g_object_set (element, "chain", text, NULL);
  return element;
}

GstHarness *
tfx_chains_harness (const gchar *text, const GstAudioInfo *info)
{
  GstElement *element = tfx_chains_element (text);
  GstHarness *h;

  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  tfx_check_set_info (h, info);
  return h;
}

void
tfx_chains_expect_text (GstElement *element, const gchar *text)
{
  g_autofree gchar *now = NULL;

  g_object_get (element, "chain", &now, NULL);
  fail_unless_equals_string (now, text);
}

void
tfx_chains_expect_refused (const gchar *property, const gchar *value,
    const gchar *word, ...)
{
  g_autoptr (TfxElement) element = tfx_chains_element ("");
  g_autoptr (GstBus) bus = gst_bus_new ();
  va_list args;

  gst_element_set_bus (element, bus);
  g_object_set (element, property, value, NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  va_start (args, word);
  tfx_check_expect_va (bus, GST_MESSAGE_ERROR, word, args);
  va_end (args);
}

GObject *
tfx_chains_child (GstElement *element, const gchar *name)
{
  GObject *child =
      gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), name);

  fail_unless (child != NULL, "no child '%s'", name);
  return child;
}

void
tfx_chains_expect_number (GstElement *element, const gchar *property,
    gdouble number)
{
  g_auto (GValue) value = G_VALUE_INIT;
  GValue as_double = G_VALUE_INIT;

  gst_child_proxy_get_property (GST_CHILD_PROXY (element), property, &value);
  g_value_init (&as_double, G_TYPE_DOUBLE);
  fail_unless (g_value_transform (&value, &as_double));
  fail_unless (g_value_get_double (&as_double) == number, "%s is %.17g, not %g",
      property, g_value_get_double (&as_double), number);
}

gdouble
tfx_chains_gain_db (const gdouble *response, gsize n, gdouble hz, gdouble rate)
{
  gdouble re = 0.0, im = 0.0;

  for (gsize i = 0; i < n; i++) {
    gdouble angle = 2.0 * G_PI * fmod (hz / rate * i, 1.0);

    re += response[i] * cos (angle);
    im -= response[i] * sin (angle);
  }
  return 10.0 * log10 (re * re + im * im);
}

gdouble *
tfx_chains_impulse (GstHarness *h, const GstAudioInfo *info, gsize n)
{
  g_autofree gdouble *in = g_new0 (gdouble, n);
  gdouble *out;

  in[0] = 1.0;
  out = tfx_check_filter (h, info, in, n, 4096);
  return out;
}

gdouble
tfx_chains_push_ones (GstHarness *h, const GstAudioInfo *info)
{
  const gsize n = 480;
  g_autofree gdouble *ones = tfx_check_constant (n * info->channels, 1.0);
  g_autofree gdouble *out = tfx_check_filter (h, info, ones, n, n);

  return out[n * info->channels - 1];
}
