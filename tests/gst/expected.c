/* SPDX-License-Identifier: LGPL-2.1-or-later
 * expected.c: what should come out of an element, from the core alone and by
 * other means.
 */
#include <math.h>
#include <string.h>

#include "tfxcheck.h"

gdouble *
tfx_check_engine (const TfxDesign *design, const GstAudioInfo *info,
    const gdouble *samples, gsize n_frames)
{
  GstBuffer *buffer = tfx_check_buffer (info, samples, n_frames);
  TfxSample type =
      GST_AUDIO_INFO_WIDTH (info) == 32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64;
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n_sos = tfx_design_sections (design, info->rate, sos);
  TfxStage *stage;
  TfxChain *empty, *chain;
  const TfxFilterSpec spec = { info->rate, info->channels, TFX_SAMPLE_F64, 0 };
  TfxFilter *filter;
  TfxPlan *plan;
  TfxBlock block;
  GstMapInfo map;
  gdouble *out;

  fail_unless (n_sos > 0);
  stage = tfx_stage_new_sections (tfx_stage_new_id (), sos, n_sos);
  empty = tfx_chain_new ();
  chain = tfx_chain_append (empty, stage);
  fail_unless_equals_int (tfx_filter_new (chain, &spec, &filter), 0);
  tfx_filter_lock (filter);
  fail_unless_equals_int (tfx_plan_new (&filter, 1, tfx_cpu_backend (), &plan),
      0);

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  if (info->layout == GST_AUDIO_LAYOUT_INTERLEAVED)
    block = tfx_block_interleaved (map.data, type, info->channels, n_frames);
  else
    block =
        tfx_block_planar (map.data, type, info->channels, n_frames, n_frames);
  fail_unless_equals_int (tfx_plan_run (plan, &block, &block), 0);
  gst_buffer_unmap (buffer, &map);

  out = tfx_check_samples (buffer, info, NULL);
  gst_buffer_unref (buffer);
  tfx_plan_free (&plan);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&empty);
  tfx_stage_unref (&stage);
  return out;
}

gdouble
tfx_check_deviation (GstBuffer *buffer, const GstAudioInfo *info,
    const TfxDesign *design, const gdouble *samples, gsize n_frames)
{
  gsize n;
  g_autofree gdouble *out = tfx_check_samples (buffer, info, &n);
  g_autofree gdouble *expected =
      tfx_check_engine (design, info, samples, n_frames);

  fail_unless_equals_uint64 (n, n_frames);
  return tfx_check_distance (out, expected, n * info->channels);
}

/* b and a of z^0, z^-1, z^-2. */
typedef struct
{
  gdouble b[3], a[3];
} Biquad;

/* The bilinear transform of 1 / (1 - s / p) for a real pole p < 0, or of
 * |p|^2 / (s^2 - 2 re s + |p|^2) for a pair; s = (z - 1) / (z + 1) / k for a
 * low-pass, its reciprocal for a high-pass; k = tan (pi cutoff / rate). */
static Biquad
transform_pole (gdouble re, gdouble im, gdouble k, gboolean high)
{
  Biquad q = { { 0 }, { 0 } };
  gdouble p2 = re * re + im * im;

  if (im == 0.0) {
    /* -re / (s - re) */
    gdouble s1 = high ? k : 1.0, s0 = high ? 1.0 : k;

    q.a[0] = s1 - re * s0;
    q.a[1] = high ? s1 + re * s0 : -s1 - re * s0;
    q.b[0] = -re * s0;
    q.b[1] = high ? re * s0 : -re * s0;
  } else {
    gdouble c2 = high ? k * k : 1.0, c1 = -2.0 * re * k,
            c0 = high ? p2 : p2 * k * k;

    q.a[0] = c2 + c1 + c0;
    q.a[1] = 2.0 * (high ? c2 - c0 : c0 - c2);
    q.a[2] = c2 - c1 + c0;
    q.b[0] = q.b[2] = c0;
    q.b[1] = high ? -2.0 * c0 : 2.0 * c0;
  }
  return q;
}

static void
run_biquad (const Biquad *q, gdouble *x, gsize n_frames, gint step)
{
  gdouble x1 = 0.0, x2 = 0.0, y1 = 0.0, y2 = 0.0;

  for (gsize i = 0; i < n_frames; i++) {
    gdouble x0 = x[i * step];
    gdouble y0 = (q->b[0] * x0 + q->b[1] * x1 + q->b[2] * x2 - q->a[1] * y1 -
                     q->a[2] * y2) /
                 q->a[0];

    x2 = x1;
    x1 = x0;
    y2 = y1;
    y1 = y0;
    x[i * step] = y0;
  }
}

gdouble *
tfx_check_reference (const TfxDesign *design, gint rate, gint n_channels,
    const gdouble *samples, gsize n_frames)
{
  gboolean high = design->mode == TFX_MODE_HIGH_PASS;
  gdouble k = tan (G_PI * design->lower_hz / rate);
  guint order = design->order;
  gsize n = n_frames * n_channels;
  gdouble *x = g_memdup2 (samples, n * sizeof *samples);
  gdouble flat = 1.0, tall = 1.0, gain = 1.0;

  if (design->family == TFX_FAMILY_CHEBYSHEV1) {
    gdouble epsilon = sqrt (pow (10.0, design->ripple_db / 10.0) - 1.0);

    flat = sinh (asinh (1.0 / epsilon) / order);
    tall = cosh (asinh (1.0 / epsilon) / order);
    if (order % 2 == 0)
      gain = 1.0 / sqrt (1.0 + epsilon * epsilon);
  }

  for (guint i = 1; i <= (order + 1) / 2; i++) {
    gdouble angle = G_PI * (2 * i - 1) / (2.0 * order);
    gboolean real = 2 * i - 1 == order;
    Biquad q = transform_pole (-flat * sin (angle),
        real ? 0.0 : tall * cos (angle), k, high);

    for (gint ch = 0; ch < n_channels; ch++)
      run_biquad (&q, x + ch, n_frames, n_channels);
  }
  for (gsize i = 0; i < n; i++)
    x[i] *= gain;
  return x;
}
