/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_sound.c: what tfxchain does to samples: what the core alone does,
 * what elements in a row do, in one pass.
 */
#include <math.h>
#include <string.h>

#include <gst/controller/controller.h>

#include "chains.h"
#include "firs.h"

#define RATE 48000
#define N 480

/* ---- the core ------------------------------------------------------------------- */

static const gchar *const texts[] = {
  "LoButterworth(1000)",
  "HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=2, gain=3) | "
  "(LoChebyshev1(5000) + Gain(-6, gain_type='db'))",
  "Gain(2) | (Notch(50, 30) + (Delay(delay_samples=700) | Gain(-0.5)) + "
  "FIR([1, 0.5, -0.25]))",
  "DesignableFIR(3000, 601) | LogFilterBank(10)",
  "Echo() | LoElliptic(8000, order=9)",
  "Multiband([200, 3000], Compressor(-30), Delay(90) | Gain(2), "
  "ch[0]: Notch(5000, 1), order=2)",
  "Delay(bpm=120, delay_time='1/64', strategy='ping-pong')",
  "Gain(3) | Compressor(-30, 8) | (Gate(-20) + HiButterworth(2000)) | "
  "Expander(-15, link=True)",
  "LoButterworth(9000) | (ch[0]: HiButterworth(300) | Delay(90)) | Gain(0.5)",
};

static const struct
{
  GstAudioFormat format;
  gint n_channels;
  GstAudioLayout layout;
} formats[] = {
  { GST_AUDIO_FORMAT_F32, 1, GST_AUDIO_LAYOUT_INTERLEAVED },
  { GST_AUDIO_FORMAT_F32, 2, GST_AUDIO_LAYOUT_INTERLEAVED },
  { GST_AUDIO_FORMAT_F32, 2, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
  { GST_AUDIO_FORMAT_F64, 1, GST_AUDIO_LAYOUT_INTERLEAVED },
  { GST_AUDIO_FORMAT_F64, 2, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
  { GST_AUDIO_FORMAT_F64, 8, GST_AUDIO_LAYOUT_INTERLEAVED },
  { GST_AUDIO_FORMAT_F32, 5, GST_AUDIO_LAYOUT_INTERLEAVED },
};

/* To the bit, in every format. */
GST_START_TEST (test_core)
{
  const gsize n = 20 * N;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstAudioInfo info = tfx_check_info (formats[i].format, RATE,
        formats[i].n_channels, formats[i].layout);
    g_autoptr (TfxHarness) h = tfx_chains_harness (texts[__i__], &info);
    g_autofree gdouble *in = tfx_check_noise (n * info.channels, i),
                       *out = NULL, *expected = NULL;

    out = tfx_check_filter (h, &info, in, n, N);
    expected = tfx_chains_expected (texts[__i__], &info, in, n, N);
    fail_unless (tfx_check_rms (expected, n * info.channels, 1) > 1e-3);
    fail_unless_equals_float (tfx_check_distance (out, expected,
                                  n * info.channels),
        0.0);
    /* One run of the engine for each buffer, whatever is in the chain. */
    fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 20);
    fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"), 20);
  }
}
GST_END_TEST;

/* Left and right swapped; then, by the child's property, as they came. */
GST_START_TEST (test_mix)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("m=Mix([[0, 1], [1, 0]])", &info);
  g_autoptr (GObject) mix = tfx_chains_child (h->element, "m");
  g_autofree gdouble *in = tfx_check_noise (2 * N, 1), *swapped = NULL,
                     *plain = NULL;

  swapped = tfx_check_filter (h, &info, in, N, N);
  for (guint i = 0; i < 2 * N; i++)
    fail_unless (swapped[i] == in[i ^ 1]);
  gst_util_set_object_arg (mix, "gains", "<1.0, 0.0, 0.0, 1.0>");
  tfx_chains_expect_text (h->element, "m=Mix([[1, 0], [0, 1]])");
  /* It has glided there within 10 ms. */
  g_free (tfx_check_filter (h, &info, in, N, N));
  plain = tfx_check_filter (h, &info, in, N, N);
  fail_unless_equals_float (tfx_check_distance (plain, in, 2 * N), 0.0);
}
GST_END_TEST;

/* What looks ahead is taken out of the stream: as many frames, at their times. */
GST_START_TEST (test_look_ahead)
{
  const gsize n = 10 * N;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("Limiter(0, 0.005) | Limiter(20, 0.002) "
                          "| (Limiter(20, 0.001) + Gain(1)) "
                          "| Gain(0.5)",
          &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (n * 2, 1);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  for (gsize i = 0; i < n * 2; i++)
    in[i] *= 0.5;
  tfx_firs_push (h, &info, in, 6 * N, 0, N);
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      gst_util_uint64_scale (240 + 96 + 48, GST_SECOND, RATE));
  g_object_set (h->element, "chain", "Limiter(0, 0.001)", NULL);
  tfx_firs_push (h, &info, in + 6 * N * 2, 4 * N, 6 * N, N);
  tfx_check_expect_warning (bus, "look-ahead", "48", "384", NULL);
  tfx_firs_finish (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_near (caught, in, 1e-6, "look-ahead");
}
GST_END_TEST;

/* What is pushed before another look-ahead is set, and by which text or number. */
static const struct
{
  const gchar *text, *again;
  gdouble numbers[3];
  gsize latency; /* frames, in the end */
} look_aheads[] = {
  { "l=Limiter(20, 0.005)", NULL, { 0.02, 0.001, 0.03 }, 1440 },
  { "m=Limiter(20, 0.002) | l=Limiter(20, 0) | Mix([[1, 0], [0, 1]])", NULL,
      { 0.0001, 0.011, 0.0 }, 528 + 96 },
  { "l=Limiter(20, 0.01)", "l=Limiter(20, 0.004, link=True) | Gain(1)",
      { 0.001, 0.002, 0.012 }, 576 },
};

/* Another look-ahead while the stream runs: what is soft goes through as it came,
 * at its time and without a gap; told as latency is the longest one.  Other numbers
 * glide as they do.  At the next start it is the one that is set. */
GST_START_TEST (test_look_ahead_changes)
{
  const gsize part = 5 * N, n = 4 * part, most = __i__ % 2 ? 100 : N;
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness (look_aheads[__i__ / 2].text, &info);
  g_autoptr (GObject) limiter = tfx_chains_child (h->element, "l");
  g_autofree gdouble *in = tfx_check_noise (n * 2, 1);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  for (guint i = 0; i < 4; i++) {
    tfx_firs_push (h, &info, in + i * part * 2, part, i * part, most);
    if (i == 0 && look_aheads[__i__ / 2].again)
      g_object_set (h->element, "chain", look_aheads[__i__ / 2].again, NULL);
    if (i < 3)
      g_object_set (limiter, "threshold", 21.0 + i, "lookahead",
          look_aheads[__i__ / 2].numbers[i], NULL);
  }
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      gst_util_uint64_scale (look_aheads[__i__ / 2].latency, GST_SECOND, RATE));
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_near (caught, in, 1e-12, look_aheads[__i__ / 2].text);
  g_object_set (limiter, "lookahead", 0.001, NULL);
  tfx_firs_push (h, &info, in, N, n, N);
  fail_unless (gst_harness_query_latency (h) <= 3 * GST_MSECOND);
}
GST_END_TEST;

/* It looks less far ahead while the stream runs, and is as late as it was; behind a
 * flush it is not any more. */
GST_START_TEST (test_look_ahead_flushed)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness ("l=Limiter(20, 0.01)", &info);
  g_autofree gdouble *in = tfx_check_noise (2 * N, 1);

  tfx_firs_push (h, &info, in, 2 * N, 0, N);
  gst_child_proxy_set (GST_CHILD_PROXY (h->element), "l::lookahead", 0.004,
      NULL);
  tfx_firs_push (h, &info, in, 2 * N, 2 * N, N);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 10 * GST_MSECOND);
  tfx_check_flush (h);
  tfx_firs_push (h, &info, in, N, 0, N);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 4 * GST_MSECOND);
}
GST_END_TEST;

/* What levels ahead stays: it says so.  Behind a flush it is what was set.  The last one
 * would be as late, but cannot go past what stays. */
GST_START_TEST (test_look_ahead_refused)
{
  static const struct
  {
    const gchar *before, *behind, *told;
  } pairs[] = {
    { "Limiter(20, 0.005, true_peak=True)", "Limiter(20, 0.01, true_peak=True)",
        "its look-ahead is" },
    { "Normalize(1, window=0.02)", "Normalize(1, window=0.03)",
        "its look-ahead is" },
    { "Loudness(-23, lookahead=0.2)", "Loudness(-23, lookahead=0.3)",
        "its look-ahead is" },
    { "Gain(1) + Limiter(20, 0.005)", "Gain(1) + Limiter(20, 0.01)",
        "its look-ahead is" },
    { "Limiter(20, 0.005)", "Limiter(20, 0.005) | Limiter(20, 0.01)",
        "its look-ahead is" },
    { "Limiter(20, 0.005)", "Gain(1)", "its look-ahead is" },
    { "c=Curve([[1, 0]], taps=201)", "c=Curve([[1, 0]], taps=301)",
        "its look-ahead is" },
    { "l=LinearPhase(g=Gain(1), taps=101)",
        "l=LinearPhase(g=Gain(1), taps=103)", "its look-ahead is" },
    { "Limiter(20, 0.005) | LoButterworth(1000)",
        "Limiter(20, 0.01) | LoButterworth(1000)", "its look-ahead is" },
    { "a=Limiter(20, 0.005) | g=Gain(1)", "g=Gain(1) | b=Limiter(20, 0.005)",
        "look-ahead would drop frames" },
  };
  const gboolean is_as_late = __i__ == G_N_ELEMENTS (pairs) - 1;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_chains_harness (pairs[__i__].before, &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 1);
  g_autoptr (GstMessage) message = NULL;
  const GstStructure *details;
  GstClockTime latency;

  tfx_firs_push (h, &info, in, N, 0, N);
  latency = gst_harness_query_latency (h);
  g_object_set (h->element, "chain", pairs[__i__].behind, NULL);
  tfx_firs_push (h, &info, in, N, N, N);
  message = gst_bus_peek (bus);
  gst_message_parse_warning_details (message, &details);
  fail_unless (
      gst_structure_has_field_typed (details, "needs-flush", G_TYPE_BOOLEAN));
  tfx_check_expect_warning (bus, pairs[__i__].told, "frames",
      "takes effect after the next stop or flush", NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), latency);
  tfx_check_flush (h);
  tfx_firs_push (h, &info, in, N, 0, N);
  tfx_check_expect_no_warning (bus);
  fail_unless ((gst_harness_query_latency (h) == latency) == is_as_late);
}
GST_END_TEST;

/* Chains that are as late as each other, and pass on what is soft. */
static const gchar *const as_late[][2] = {
  { "a=Limiter(20, 0.05)", "b=Limiter(20, 0.05)" },
  { "Limiter(20, 0.05)", "Limiter(20, 0.05, true_peak=True)" },
  { "Normalize(1, window=0.5, max_gain=0)",
      "Normalize(1, 'rms', window=0.5, max_gain=0)" },
  { "a=Limiter(20, 0.05)", "Gain(0.5) + (Gain(0.5) | b=Limiter(20, 0.05))" },
  { "Gain(1) + (Gain(0) | Limiter(20, 0.05))",
      "Mix([[1, 0], [0, 1]]) + (Gain(0) | Limiter(20, 0.05))" },
  { "ch[0]: a=Limiter(20, 0.05)", "a=Limiter(20, 0.05)" },
  { "a=Curve([[1, 0]], taps=201)", "b=Curve([[2, 0]], taps=201)" },
  { "a=LinearPhase(g=AllPass(99, 1), taps=201)",
      "a=LinearPhase(g=AllPass(900, 1), taps=201)" },
  { "a=Curve([[1, 0]], taps=201)", "b=LinearPhase(Gain(1), taps=201)" },
  { "a=Denoise(0)", "a=Denoise(0, learn=1)" },
  { "a=Denoise(0)", "b=Denoise(0, link=True)" },
  { "Gain(1) | a=Limiter(20, 0.05)", "b=Limiter(20, 0.05) | c=Gain(1)" },
};

/* What looks ahead takes the place of what looks as far: no frame is missing. */
GST_START_TEST (test_look_ahead_replaced)
{
  const gsize n = 80 * N, most = __i__ % 2 ? 100 : N;
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_chains_harness (as_late[__i__ / 2][0], &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (n * 2, 1);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  tfx_firs_push (h, &info, in, n / 2, 0, most);
  g_object_set (h->element, "chain", as_late[__i__ / 2][1], NULL);
  tfx_firs_push (h, &info, in + n, n / 2, n / 2, most);
  tfx_firs_end (h);
  tfx_check_expect_no_warning (bus);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_near (caught, in, 1e-12, as_late[__i__ / 2][1]);
}
GST_END_TEST;

/* What goes with the look-ahead is heard for as long as that: all of a change comes
 * together.  (The input of the sum's delay rises for 10 ms.) */
GST_START_TEST (test_look_ahead_together)
{
  const gsize n = 80 * N, end = n / 2 + 21 * RATE / 1000;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("a=Limiter(20, 0.05) | Gain(-1)", &info);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  const gdouble *out;
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  tfx_firs_push (h, &info, in, n / 2, 0, N);
  g_object_set (h->element, "chain",
      "Gain(-0.5) + (Gain(-0.5) | b=Limiter(20, 0.05))", NULL);
  tfx_firs_push (h, &info, in + n / 2, n / 2, n / 2, N);
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  out = tfx_firs_samples (caught);
  for (gsize i = 0; i < n; i++)
    in[i] = -in[i];
  fail_unless (tfx_check_distance (out, in, n / 2) < 1e-12);
  fail_unless (tfx_check_distance (out + end, in + end, n - end) < 1e-12);
}
GST_END_TEST;

/* A constant through a chain with linear phase, whose gain goes from 1 to 3: once, with
 * each buffer, or along a curve.  The kernels are cross-faded: there is no jump. */
GST_START_TEST (test_linear_phase)
{
  const gsize n = 80 * N;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("LinearPhase(AllPass(1000, 1) | g=Gain(1), taps=101)",
          &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autoptr (GObject) gain = tfx_chains_child (h->element, "g");
  g_autofree gdouble *in = g_new (gdouble, n);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  const gdouble *out;

  for (gsize i = 0; i < n; i++)
    in[i] = 1.0;
  if (__i__ == 2) {
    g_autoptr (GstControlSource) source =
        gst_interpolation_control_source_new ();

    g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
    for (guint i = 0; i < 2; i++)
      gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (
                                              source),
          gst_util_uint64_scale (20 * N * (i + 1), GST_SECOND, RATE),
          1 + 2 * i);
    fail_unless (gst_object_add_control_binding (GST_OBJECT (gain),
        gst_direct_control_binding_new_absolute (GST_OBJECT (gain), "gain",
            source)));
  }
  for (gsize i = 0; i < 80; i++) {
    if (__i__ < 2 && i >= 20 && i <= (__i__ == 0 ? 20 : 40))
      g_object_set (gain, "gain",
          __i__ == 0 ? 3.0 : 1.0 + 0.1 * (gdouble)(i - 20), NULL);
    tfx_firs_push (h, &info, in, N, i * N, N);
  }
  tfx_firs_end (h);
  tfx_check_expect_no_warning (bus);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  out = tfx_firs_samples (caught);
  for (gsize i = 1; i < n; i++) {
    fail_unless (fabs (out[i] - out[i - 1]) < 0.01, "%g, %g at frame %u",
        out[i - 1], out[i], (guint)i);
    fail_unless (i > 19 * N || fabs (out[i] - 1.0) < 1e-12);
    fail_unless (i < 50 * N || fabs (out[i] - 3.0) < 1e-12, "%g at frame %u",
        out[i], (guint)i);
  }
}
GST_END_TEST;

/* ---- what stages make of their level ----------------------------------------------- */

/* A number of what a stage says of itself. */
static gdouble
get_stat (GstElement *chain, const gchar *name, const gchar *field)
{
  g_autoptr (GObject) stage = tfx_chains_child (chain, name);
  g_autoptr (GstStructure) stats = NULL;
  gdouble value = NAN;

  g_object_get (stage, "stats", &stats, NULL);
  gst_structure_get_double (stats, field, &value);
  return value;
}

/* A tfxchain of one channel that posts its readings. */
typedef struct
{
  GstAudioInfo info;
  GstHarness *h;
  GstBus *bus;
  GstStructure *last; /* of its messages */
} Reader;

static void
open_reader (Reader *r, const gchar *chain, guint64 interval)
{
  r->info = tfx_check_f32 (RATE, 1);
  r->h = tfx_chains_harness (chain, &r->info);
  r->bus = tfx_check_bus (r->h);
  r->last = NULL;
  g_object_set (r->h->element, "message-interval", interval, NULL);
}

static void
close_reader (Reader *r)
{
  gst_clear_structure (&r->last);
  gst_object_unref (r->bus);
  tfx_check_close (r->h);
}

/* The buffers first to last - 1 of a stream, n frames each, all the same. */
static void
push_blocks (Reader *r, const gdouble *in, gsize n, gsize first, gsize last)
{
  GstBuffer *buffer;

  for (gsize i = first; i < last; i++) {
    gst_harness_push (r->h, tfx_check_stamped (&r->info, in, n, i * n));
    while ((buffer = gst_harness_try_pull (r->h)))
      gst_buffer_unref (buffer);
  }
}

/* So many messages since it was asked last. */
static guint
count_messages (Reader *r)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (r->bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, "tfxchain")) {
      gst_clear_structure (&r->last);
      r->last = gst_structure_copy (gst_message_get_structure (message));
      n++;
    }
    gst_message_unref (message);
  }
  return n;
}

static void
expect_time (const Reader *r, const gchar *field, guint64 wanted)
{
  guint64 time = 0;

  fail_unless (gst_structure_get_uint64 (r->last, field, &time), "no %s",
      field);
  fail_unless (time == wanted, "%s is %" G_GUINT64_FORMAT, field, time);
}

/* A square wave of 0 dB through a compressor of -20 dB, 4: 15 dB less. */
GST_START_TEST (test_readings)
{
  const guint64 interval = 100 * GST_MSECOND;
  g_autoptr (GstStructure) stats = NULL;
  gdouble in[N], gain = NAN;
  Reader r;

  open_reader (&r,
      "Gain(1) | c=Compressor(-20, 4, 0, 0.01, 0) | Loudness(None)", interval);
  fail_unless (isnan (get_stat (r.h->element, "c", "gain")));
  for (gsize k = 0; k < N; k++)
    in[k] = k % 48 < 24 ? 1.0 : -1.0;
  push_blocks (&r, in, N, 0, 100);
  fail_unless_equals_int (count_messages (&r), 10);
  expect_time (&r, "duration", interval);
  expect_time (&r, "running-time", 9 * interval);
  fail_unless (!gst_structure_has_field (r.last, "gain0"));
  fail_unless (
      gst_structure_get (r.last, "c", GST_TYPE_STRUCTURE, &stats, NULL));
  fail_unless (gst_structure_get_double (stats, "gain", &gain));
  fail_unless (fabs (gain + 15.0) < 1e-3, "%g dB", gain);
  fail_unless (isnan (get_stat (r.h->element, "gain0", "gain")));
  fail_unless (fabs (get_stat (r.h->element, "c", "gain") + 15.0) < 1e-3);
  /* -15 dB, and what K makes of a square wave of 1 kHz. */
  gain = get_stat (r.h->element, "loudness0", "integrated");
  fail_unless (gain > -15.0 && gain < -14.0, "%g LUFS", gain);
  /* Silence: each reader hears of the lowest gain since it asked last. */
  memset (in, 0, sizeof in);
  push_blocks (&r, in, N, 100, 120);
  fail_unless (get_stat (r.h->element, "c", "gain") < -1.0);
  fail_unless_equals_float (get_stat (r.h->element, "c", "gain"), 0.0);
  fail_unless_equals_int (count_messages (&r), 2);
  /* Behind the end it tells of the stream that was. */
  fail_unless (gst_harness_push_event (r.h, gst_event_new_eos ()));
  fail_unless (get_stat (r.h->element, "loudness0", "integrated") > -15.0);
  /* What a seek leaves out has not gone by. */
  tfx_check_flush (r.h);
  push_blocks (&r, in, N, 1000, 1001);
  fail_unless_equals_int (count_messages (&r), 0);
  push_blocks (&r, in, N, 1001, 1010);
  fail_unless_equals_int (count_messages (&r), 1);
  expect_time (&r, "duration", interval);
  /* Nor what went by while nobody asked. */
  g_object_set (r.h->element, "message-interval", (guint64)0, NULL);
  push_blocks (&r, in, N, 1010, 1050);
  g_object_set (r.h->element, "message-interval", interval, NULL);
  push_blocks (&r, in, N, 1050, 1061);
  fail_unless_equals_int (count_messages (&r), 1);
  expect_time (&r, "duration", interval);
  close_reader (&r);
}
GST_END_TEST;

/* As many in a minute as there are intervals, whatever the length of buffers; shorter
 * intervals than these have one each. */
GST_START_TEST (test_reading_times)
{
  static const struct
  {
    guint64 interval;
    gsize n_frames;
    gint n;
  } cases[] = { { 100 * GST_MSECOND, 1024, 600 },
    { 400 * GST_MSECOND, 1152, 150 }, { 100 * GST_MSECOND, 1601, 600 },
    { 10 * GST_MSECOND, 1024, 2812 }, { GST_SECOND, 65536, 43 } };
  const gsize n = cases[__i__].n_frames;
  g_autofree gdouble *in = g_new0 (gdouble, n);
  gint n_messages;
  Reader r;

  open_reader (&r, "Loudness(None)", cases[__i__].interval);
  push_blocks (&r, in, n, 0, 60 * RATE / n);
  n_messages = (gint)count_messages (&r);
  fail_unless (ABS (n_messages - cases[__i__].n) <= 1, "%d messages, not %d",
      n_messages, cases[__i__].n);
  close_reader (&r);
}
GST_END_TEST;

/* A playlist whose items, each a segment, are shorter than the interval; and segments
 * that only say again what they are. */
GST_START_TEST (test_reading_segments)
{
  const gsize n = 960, n_items = 40, n_buffers = 15;
  const gboolean again = __i__;
  const guint64 item = n_buffers * 20 * GST_MSECOND;
  g_autofree gdouble *in = g_new0 (gdouble, n);
  GstSegment segment;
  Reader r;

  open_reader (&r, "Loudness(None)", GST_SECOND);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (gsize i = 0; i < n_items; i++) {
    const gsize first = again ? i * n_buffers : 0;

    segment.base = again ? 0 : i * item;
    gst_harness_push_event (r.h, gst_event_new_segment (&segment));
    push_blocks (&r, in, n, first, first + n_buffers);
  }
  fail_unless_equals_int (count_messages (&r), 12);
  expect_time (&r, "duration", again ? GST_SECOND : item);
  expect_time (&r, "endtime", (again ? n_items : 1) * item);
  expect_time (&r, "running-time",
      again ? 11 * GST_SECOND : (n_items - 1) * item);
  close_reader (&r);
}
GST_END_TEST;

/* Backwards too, also in buffers that are short beside what segments may be off by. */
GST_START_TEST (test_reading_backwards)
{
  const gsize n = __i__ ? 960 : 12;
  g_autofree gdouble *in = g_new0 (gdouble, n);
  GstSegment segment;
  Reader r;

  open_reader (&r, "Loudness(None)", 100 * GST_MSECOND);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  segment.stop = GST_SECOND;
  gst_harness_push_event (r.h, gst_event_new_segment (&segment));
  for (gsize i = RATE / n; i-- > 0;)
    push_blocks (&r, in, n, i, i + 1);
  fail_unless_equals_int (count_messages (&r), 10);
  expect_time (&r, "timestamp", 0);
  close_reader (&r);
}
GST_END_TEST;

/* However the stream is cut into buffers. */
GST_START_TEST (test_splits)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autofree gdouble *in = tfx_check_noise (5000 * 2, 1), *whole = NULL;
  gdouble *split;
  GstHarness *h = tfx_chains_harness (texts[2], &info);

  whole = tfx_check_filter (h, &info, in, 5000, 5000);
  gst_harness_teardown (h);
  for (gsize most = 1; most < 600; most = 3 * most + 1) {
    h = tfx_chains_harness (texts[2], &info);
    split = tfx_check_filter (h, &info, in, 5000, most);
    fail_unless_equals_float (tfx_check_distance (whole, split, 10000), 0.0);
    g_free (split);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* ---- elements in a row ------------------------------------------------------------- */

static const struct
{
  const gchar *chain, *launch;
} rows[] = {
  { "HiChebyshev1(20, order=2, ripple=0.5) | "
    "HiChebyshev1(60, order=2, ripple=0.5) | "
    "HiChebyshev1(65, order=2, ripple=0.5) | LoButterworth(5000, order=2) | "
    "LoButterworth(4900, order=2) | LoButterworth(4850, order=2)",
      "tfxchebyshev mode=high-pass cutoff=20 order=2 ripple=0.5 fuse=false ! "
      "tfxchebyshev mode=high-pass cutoff=60 order=2 ripple=0.5 fuse=false ! "
      "tfxchebyshev mode=high-pass cutoff=65 order=2 ripple=0.5 fuse=false ! "
      "tfxbutterworth cutoff=5000 order=2 fuse=false ! "
      "tfxbutterworth cutoff=4900 order=2 fuse=false ! "
      "tfxbutterworth cutoff=4850 order=2 fuse=false" },
  { "Chebyshev2('bandstop', [300, 900], order=5, ripple=50) | "
    "Butterworth('bandpass', [200, 8000], order=3)",
      "tfxchebyshev type=2 mode=band-reject lower-frequency=300 "
      "upper-frequency=900 order=5 attenuation=50 fuse=false ! "
      "tfxbutterworth mode=band-pass lower-frequency=200 "
      "upper-frequency=8000 order=3 fuse=false" },
};

GST_START_TEST (test_row)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  const gsize n = RATE;
  g_autoptr (TfxHarness) chain = tfx_chains_harness (rows[__i__].chain, &info);
  g_autoptr (TfxHarness) row = tfx_check_harness (rows[__i__].launch, &info);
  g_autofree gdouble *in = tfx_check_noise (n * 2, 7), *out = NULL,
                     *expected = NULL;

  out = tfx_check_filter (chain, &info, in, n, N);
  expected = tfx_check_filter (row, &info, in, n, N);
  fail_unless (tfx_check_rms (expected, 2 * n, 1) > 0.1);
  /* -140 dB below the noise, which has a power of 1/3. */
  fail_unless (tfx_check_distance (out, expected, 2 * n) < 1e-8, "off by %g",
      tfx_check_distance (out, expected, 2 * n));
}
GST_END_TEST;

/* ---- fifty stages -------------------------------------------------------------------- */

GST_START_TEST (test_fifty)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gdouble *in = tfx_check_noise (100 * N * 2, 3);
  g_autoptr (TfxHarness) h = NULL;

  for (guint i = 0; i < 50; i++)
    g_string_append_printf (text, "%sLoButterworth(%u, order=2)%s",
        i ? " | " : "", 20000 + i,
        __i__ == 1 && i % 5 == 0
            ? " | (Gain(0.5) + Delay(delay_samples=3)) | FIR([1, 0.1])"
            : "");
  h = tfx_chains_harness (text->str, &info);
  g_free (tfx_check_filter (h, &info, in, 100 * N, N));
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 100);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"), 100);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 50);
  if (__i__ == 0)
    fail_unless_equals_uint64 (tfx_check_stat (h->element, "stages"), 50);
}
GST_END_TEST;

/* ---- nothing ---------------------------------------------------------------------------- */

/* A chain without stages, or of stages that do nothing, changes no bit. */
GST_START_TEST (test_empty)
{
  static const gchar *const nothing[] = { "", " # nothing\n", "Gain(1)",
    "ParametricEQ(1000, 1, 0)" };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_chains_harness (nothing[__i__], &info);
  g_autofree gdouble *in = tfx_check_noise (10 * N * 2, 3), *out = NULL;

  out = tfx_check_filter (h, &info, in, 10 * N, N);
  fail_unless_equals_float (tfx_check_distance (in, out, 20 * N), 0.0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 0);
}
GST_END_TEST;

/* Echoes come though what goes in is marked as a gap; when the last has passed
 * it is one. */
GST_START_TEST (test_echo_in_gap)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("Echo(delay=1000, decay=0.5, mix=1)", &info);
  g_autofree gdouble *in = g_new0 (gdouble, N);
  gdouble *out;
  GstBuffer *buffer;

  in[0] = 1.0;
  gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, in, N)));
  in[0] = 0.0;
  for (guint i = 1; i < 6; i++) {
    buffer = tfx_check_buffer (&info, in, N);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    buffer = tfx_check_push (h, buffer);
    out = tfx_check_samples (buffer, &info, NULL);
    fail_unless_equals_float (out[1000 % N], i == 1000 / N ? 0.5 : 0.0);
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
                                GST_BUFFER_FLAG_GAP) != 0,
        i * N > 1000);
    g_free (out);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_sound");

  tcase_add_loop_test (tc, test_core, 0, G_N_ELEMENTS (texts));
  tcase_add_test (tc, test_mix);
  tcase_add_test (tc, test_look_ahead);
  tcase_add_loop_test (tc, test_look_ahead_changes, 0,
      2 * G_N_ELEMENTS (look_aheads));
  tcase_add_test (tc, test_look_ahead_flushed);
  tcase_add_loop_test (tc, test_look_ahead_refused, 0, 10);
  tcase_add_loop_test (tc, test_look_ahead_replaced, 0,
      2 * G_N_ELEMENTS (as_late));
  tcase_add_test (tc, test_look_ahead_together);
  tcase_add_loop_test (tc, test_linear_phase, 0, 3);
  tcase_add_test (tc, test_readings);
  tcase_add_loop_test (tc, test_reading_times, 0, 5);
  tcase_add_loop_test (tc, test_reading_segments, 0, 2);
  tcase_add_loop_test (tc, test_reading_backwards, 0, 2);
  tcase_add_test (tc, test_splits);
  tcase_add_loop_test (tc, test_row, 0, G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_fifty, 0, 2);
  tcase_add_loop_test (tc, test_empty, 0, 4);
  tcase_add_test (tc, test_echo_in_gap);
  return tfx_check_run (argc, argv, tc);
}
