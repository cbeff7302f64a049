/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_sound.c: what tfxchain does to samples: what the core alone does,
 * what elements in a row do, in one pass.
 */
#include <math.h>
#include <string.h>

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
    GstHarness *h = tfx_chains_harness (texts[__i__], &info);
    gdouble *in = tfx_check_noise (n * info.channels, i), *out, *expected;

    out = tfx_check_filter (h, &info, in, n, N);
    expected = tfx_chains_expected (texts[__i__], &info, in, n, N);
    fail_unless (tfx_check_rms (expected, n * info.channels, 1) > 1e-3);
    fail_unless_equals_float (tfx_check_distance (out, expected,
                                  n * info.channels),
        0.0);
    /* One run of the engine for each buffer, whatever is in the chain. */
    fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 20);
    fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"), 20);
    g_free (in);
    g_free (out);
    g_free (expected);
    gst_harness_teardown (h);
  }
}
GST_END_TEST;

/* Left and right swapped; then, by the child's property, as they came. */
GST_START_TEST (test_mix)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_chains_harness ("m=Mix([[0, 1], [1, 0]])", &info);
  GObject *mix = tfx_chains_child (h->element, "m");
  gdouble *in = tfx_check_noise (2 * N, 1), *out;

  out = tfx_check_filter (h, &info, in, N, N);
  for (guint i = 0; i < N; i++)
    fail_unless (out[2 * i] == in[2 * i + 1] && out[2 * i + 1] == in[2 * i]);
  g_free (out);
  gst_util_set_object_arg (mix, "gains", "<1.0, 0.0, 0.0, 1.0>");
  tfx_chains_expect_text (h->element, "m=Mix([[1, 0], [0, 1]])");
  /* It has glided there within 10 ms. */
  g_free (tfx_check_filter (h, &info, in, N, N));
  out = tfx_check_filter (h, &info, in, N, N);
  fail_unless_equals_float (tfx_check_distance (out, in, 2 * N), 0.0);
  g_object_unref (mix);
  g_free (in);
  g_free (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

static void
expect_refused (const gchar *text, const gchar *words)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstPad *sink = gst_element_get_static_pad (chain, "sink");
  GstCaps *caps = gst_caps_from_string (
      "audio/x-raw,format=F32LE,rate=48000,channels=2,layout=interleaved");
  GstMessage *message;
  GError *error = NULL;

  g_object_set (chain, "chain", text, NULL);
  gst_bin_add (GST_BIN (pipeline), chain);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_pad_send_event (sink, gst_event_new_stream_start ("x"));
  fail_if (gst_pad_send_event (sink, gst_event_new_caps (caps)));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_caps_unref (caps);
  gst_object_unref (sink);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

/* What does not fit the stream's channels. */
GST_START_TEST (test_channels_refused)
{
  expect_refused ("Gain(1) | (ch[2]: Gain(2))", "ch[2] is out of range");
  expect_refused ("Mix([[1, 1, 1], [1, 1, 1], [1, 1, 1]])",
      "rows of 3 numbers, but its input has 2");
}
GST_END_TEST;

/* What looks ahead is taken out of the stream: as many frames, at their times. */
GST_START_TEST (test_look_ahead)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_chains_harness ("Limiter(0, 0.005) | Limiter(20, 0.002) "
                                      "| (Limiter(20, 0.001) + Gain(1)) "
                                      "| Gain(0.5)",
      &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (10 * N * 2, 1), *out, *part;
  gsize n_out = 0, n;
  GstBuffer *buffer;

  out = g_new (gdouble, 10 * N * 2);
  for (gsize i = 0; i < 10 * N * 2; i++)
    in[i] *= 0.5;
  for (gsize i = 0; i < 10; i++) {
    buffer = tfx_check_stamped (&info, in + i * N * 2, N, i * N);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    if (i != 5)
      continue;
    fail_unless_equals_uint64 (gst_harness_query_latency (h),
        gst_util_uint64_scale (240 + 96 + 48, GST_SECOND, RATE));
    g_object_set (h->element, "chain", "Limiter(0, 0.001)", NULL);
  }
  tfx_check_expect_warning (bus, "look-ahead", "48", "384", NULL);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  while ((buffer = gst_harness_try_pull (h))) {
    part = tfx_check_samples (buffer, &info, &n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
        gst_util_uint64_scale (n_out, GST_SECOND, RATE));
    fail_unless (n_out + n <= 10 * N);
    memcpy (out + n_out * 2, part, n * 2 * sizeof *out);
    n_out += n;
    g_free (part);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (n_out, 10 * N);
  fail_unless (tfx_check_distance (out, in, 10 * N * 2) < 1e-6);
  g_free (in);
  g_free (out);
  /* (A message that is left holds the element, which holds the bus.) */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
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
  const gsize n = 4 * 5 * N, most = __i__ % 2 ? 100 : N;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_chains_harness (look_aheads[__i__ / 2].text, &info);
  GObject *limiter = tfx_chains_child (h->element, "l");
  gdouble *in = tfx_check_noise (n * 2, 1);
  TfxCatch *caught = tfx_firs_catch_new ();

  for (guint i = 0; i < 4; i++) {
    tfx_firs_push (h, &info, in + i * 5 * N * 2, 5 * N, i * 5 * N, most);
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
  fail_unless (
      tfx_check_distance (tfx_firs_samples (caught), in, n * 2) < 1e-12);
  g_object_set (limiter, "lookahead", 0.001, NULL);
  tfx_firs_push (h, &info, in, N, n, N);
  fail_unless (gst_harness_query_latency (h) <= 3 * GST_MSECOND);
  g_object_unref (limiter);
  tfx_firs_catch_free (caught);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* It looks less far ahead while the stream runs, and is as late as it was; behind a
 * flush it is not any more. */
GST_START_TEST (test_look_ahead_flushed)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_chains_harness ("l=Limiter(20, 0.01)", &info);
  GObject *limiter = tfx_chains_child (h->element, "l");
  gdouble *in = tfx_check_noise (N, 1);

  for (guint i = 0; i < 4; i++) {
    gst_harness_push (h, tfx_check_stamped (&info, in, N, i * N));
    if (i == 1)
      g_object_set (limiter, "lookahead", 0.004, NULL);
  }
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 10 * GST_MSECOND);
  tfx_check_flush (h);
  gst_harness_push (h, tfx_check_stamped (&info, in, N, 0));
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 4 * GST_MSECOND);
  g_object_unref (limiter);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* What levels ahead stays: it says so.  Behind a flush it is what was set. */
GST_START_TEST (test_look_ahead_refused)
{
  static const gchar *const pairs[][2] = {
    { "Limiter(20, 0.005, true_peak=True)",
        "Limiter(20, 0.01, true_peak=True)" },
    { "Normalize(1, window=0.02)", "Normalize(1, window=0.03)" },
    { "Loudness(-23, lookahead=0.2)", "Loudness(-23, lookahead=0.3)" },
    { "Gain(1) + Limiter(20, 0.005)", "Gain(1) + Limiter(20, 0.01)" },
    { "Limiter(20, 0.005)", "Limiter(20, 0.005) | Limiter(20, 0.01)" },
    { "Limiter(20, 0.005)", "Gain(1)" },
    { "Limiter(20, 0.005) | LoButterworth(1000)",
        "Limiter(20, 0.01) | LoButterworth(1000)" },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_chains_harness (pairs[__i__][0], &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (N * 2, 1);
  GstClockTime latency;

  gst_harness_push (h, tfx_check_stamped (&info, in, N, 0));
  latency = gst_harness_query_latency (h);
  g_object_set (h->element, "chain", pairs[__i__][1], NULL);
  gst_harness_push (h, tfx_check_stamped (&info, in, N, N));
  tfx_check_expect_warning (bus, "its look-ahead is", "frames",
      "takes effect after the next stop or flush", NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), latency);
  tfx_check_flush (h);
  gst_harness_push (h, tfx_check_stamped (&info, in, N, 0));
  tfx_check_expect_no_warning (bus);
  fail_unless (gst_harness_query_latency (h) != latency);
  g_free (in);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
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
  { "Gain(1) | a=Limiter(20, 0.05)", "b=Limiter(20, 0.05) | c=Gain(1)" },
};

/* What looks ahead takes the place of what looks as far: no frame is missing. */
GST_START_TEST (test_look_ahead_replaced)
{
  const gsize n = 80 * N, most = __i__ % 2 ? 100 : N;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_chains_harness (as_late[__i__ / 2][0], &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (n * 2, 1);
  TfxCatch *caught = tfx_firs_catch_new ();

  tfx_firs_push (h, &info, in, n / 2, 0, most);
  g_object_set (h->element, "chain", as_late[__i__ / 2][1], NULL);
  tfx_firs_push (h, &info, in + n, n / 2, n / 2, most);
  tfx_firs_end (h);
  tfx_check_expect_no_warning (bus);
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  fail_unless (
      tfx_check_distance (tfx_firs_samples (caught), in, n * 2) < 1e-12);
  tfx_firs_catch_free (caught);
  g_free (in);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* What goes with the look-ahead is heard for as long as that: all of a change comes
 * together.  (The input of the sum's delay rises for 10 ms.) */
GST_START_TEST (test_look_ahead_together)
{
  const gsize n = 80 * N, end = n / 2 + 21 * RATE / 1000;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_chains_harness ("a=Limiter(20, 0.05) | Gain(-1)", &info);
  gdouble *in = tfx_check_noise (n, 1);
  const gdouble *out;
  TfxCatch *caught = tfx_firs_catch_new ();

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
  tfx_firs_catch_free (caught);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* It cannot go past what stays. */
GST_START_TEST (test_look_ahead_moved)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h =
      tfx_chains_harness ("a=Limiter(20, 0.005) | g=Gain(1)", &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (N * 2, 1);

  gst_harness_push (h, tfx_check_stamped (&info, in, N, 0));
  g_object_set (h->element, "chain", "g=Gain(1) | b=Limiter(20, 0.005)", NULL);
  gst_harness_push (h, tfx_check_stamped (&info, in, N, N));
  tfx_check_expect_warning (bus, "look-ahead would drop frames",
      "takes effect after the next stop or flush", NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 5 * GST_MSECOND);
  tfx_check_flush (h);
  gst_harness_push (h, tfx_check_stamped (&info, in, N, 0));
  tfx_check_expect_no_warning (bus);
  g_free (in);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- what stages make of their level ----------------------------------------------- */

static gdouble
get_stat (GstElement *element, const gchar *child, const gchar *field)
{
  GObject *stage = tfx_chains_child (element, child);
  GstStructure *stats;
  gdouble value = NAN;

  g_object_get (stage, "stats", &stats, NULL);
  fail_unless (stats != NULL);
  gst_structure_get_double (stats, field, &value);
  gst_structure_free (stats);
  g_object_unref (stage);
  return value;
}

/* The last one of half a second; their number. */
static guint
take_messages (GstBus *bus, GstStructure **last)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, "tfxchain")) {
      g_clear_pointer (last, gst_structure_free);
      *last = gst_structure_copy (gst_message_get_structure (message));
      n++;
    }
    gst_message_unref (message);
  }
  return n;
}

static void
close_messages (GstHarness *h, GstBus *bus, GstStructure *last)
{
  gst_structure_free (last);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

/* A square wave of 0 dB through a compressor of -20 dB, 4: 15 dB less. */
GST_START_TEST (test_readings)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_chains_harness (
      "Gain(1) | c=Compressor(-20, 4, 0, 0.01, 0) | Loudness(None)", &info);
  GstBus *bus = tfx_check_bus (h);
  GstStructure *last = NULL, *stats = NULL;
  gdouble *in = g_new (gdouble, N), gain = NAN;
  guint64 time = 0;
  GstSegment segment;

  fail_unless (isnan (get_stat (h->element, "c", "gain")));
  g_object_set (h->element, "message-interval", 100 * GST_MSECOND, NULL);
  for (gsize k = 0; k < N; k++)
    in[k] = k % 48 < 24 ? 1.0 : -1.0;
  for (gsize i = 0; i < 100; i++)
    gst_harness_push (h, tfx_check_stamped (&info, in, N, i * N));
  fail_unless_equals_int (take_messages (bus, &last), 10);
  fail_unless (gst_structure_get_uint64 (last, "duration", &time) &&
               time == 100 * GST_MSECOND);
  fail_unless (gst_structure_get_uint64 (last, "running-time", &time) &&
               time == 900 * GST_MSECOND);
  fail_unless (!gst_structure_has_field (last, "gain0"));
  fail_unless (gst_structure_get (last, "c", GST_TYPE_STRUCTURE, &stats, NULL));
  fail_unless (gst_structure_get_double (stats, "gain", &gain));
  fail_unless (fabs (gain + 15.0) < 1e-3, "%g dB", gain);
  gst_structure_free (stats);
  fail_unless (isnan (get_stat (h->element, "gain0", "gain")));
  fail_unless (fabs (get_stat (h->element, "c", "gain") + 15.0) < 1e-3);
  /* -15 dB, and what K makes of a square wave of 1 kHz. */
  gain = get_stat (h->element, "loudness0", "integrated");
  fail_unless (gain > -15.0 && gain < -14.0, "%g LUFS", gain);
  /* Silence: each reader hears of the lowest gain since it asked last. */
  memset (in, 0, N * sizeof *in);
  for (gsize i = 100; i < 120; i++)
    gst_harness_push (h, tfx_check_stamped (&info, in, N, i * N));
  fail_unless (get_stat (h->element, "c", "gain") < -1.0);
  fail_unless_equals_float (get_stat (h->element, "c", "gain"), 0.0);
  fail_unless_equals_int (take_messages (bus, &last), 2);
  /* Behind the end it tells of the stream that was. */
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless (get_stat (h->element, "loudness0", "integrated") > -15.0);
  /* What a seek leaves out has not gone by. */
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, tfx_check_stamped (&info, in, N, 1000 * N));
  fail_unless_equals_int (take_messages (bus, &last), 0);
  for (gsize i = 1001; i < 1010; i++)
    gst_harness_push (h, tfx_check_stamped (&info, in, N, i * N));
  fail_unless_equals_int (take_messages (bus, &last), 1);
  fail_unless (gst_structure_get_uint64 (last, "duration", &time) &&
               time == 100 * GST_MSECOND);
  /* Nor what went by while nobody asked. */
  g_object_set (h->element, "message-interval", (guint64)0, NULL);
  for (gsize i = 1010; i < 1050; i++)
    gst_harness_push (h, tfx_check_stamped (&info, in, N, i * N));
  g_object_set (h->element, "message-interval", 100 * GST_MSECOND, NULL);
  for (gsize i = 1050; i < 1061; i++)
    gst_harness_push (h, tfx_check_stamped (&info, in, N, i * N));
  fail_unless_equals_int (take_messages (bus, &last), 1);
  fail_unless (gst_structure_get_uint64 (last, "duration", &time) &&
               time == 100 * GST_MSECOND);
  close_messages (h, bus, last);
  g_free (in);
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
  GstAudioInfo info = tfx_check_f32 (48000, 1);
  gdouble *in = g_new0 (gdouble, 65536);

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    const gsize n = cases[k].n_frames;
    GstHarness *h = tfx_chains_harness ("Loudness(None)", &info);
    GstBus *bus = tfx_check_bus (h);
    GstStructure *last = NULL;
    gint n_messages;

    g_object_set (h->element, "message-interval", cases[k].interval, NULL);
    for (gsize i = 0; (i + 1) * n <= 60 * 48000; i++)
      gst_buffer_unref (gst_harness_push_and_pull (h,
          tfx_check_stamped (&info, in, n, i * n)));
    n_messages = (gint)take_messages (bus, &last);
    fail_unless (ABS (n_messages - cases[k].n) <= 1, "%d messages, not %d",
        n_messages, cases[k].n);
    close_messages (h, bus, last);
  }
  g_free (in);
}
GST_END_TEST;

/* A playlist whose items, each a segment, are shorter than the interval; and segments
 * that only say again what they are. */
GST_START_TEST (test_reading_segments)
{
  const gsize n = 960, n_items = 40, n_buffers = 15;
  GstAudioInfo info = tfx_check_f32 (48000, 1);
  gdouble *in = g_new0 (gdouble, n);

  for (guint again = 0; again < 2; again++) {
    GstHarness *h = tfx_chains_harness ("Loudness(None)", &info);
    GstBus *bus = tfx_check_bus (h);
    GstStructure *last = NULL;
    GstSegment segment;
    guint64 time;

    g_object_set (h->element, "message-interval", GST_SECOND, NULL);
    gst_segment_init (&segment, GST_FORMAT_TIME);
    for (gsize i = 0; i < n_items * n_buffers; i++) {
      GstBuffer *buffer =
          tfx_check_stamped (&info, in, n, (again ? i : i % n_buffers) * n);

      segment.base = again ? 0 : i * 20 * GST_MSECOND;
      if (i % n_buffers == 0)
        gst_harness_push_event (h, gst_event_new_segment (&segment));
      gst_buffer_unref (gst_harness_push_and_pull (h, buffer));
    }
    fail_unless_equals_int (take_messages (bus, &last), 12);
    fail_unless (gst_structure_get_uint64 (last, "duration", &time));
    fail_unless_equals_uint64 (time,
        again ? GST_SECOND : n_buffers * 20 * GST_MSECOND);
    fail_unless (gst_structure_get_uint64 (last, "endtime", &time));
    fail_unless_equals_uint64 (time,
        (again ? n_items : 1) * n_buffers * 20 * GST_MSECOND);
    fail_unless (gst_structure_get_uint64 (last, "running-time", &time));
    fail_unless_equals_uint64 (time,
        again ? 11 * GST_SECOND : (n_items - 1) * 300 * GST_MSECOND);
    close_messages (h, bus, last);
  }
  g_free (in);
}
GST_END_TEST;

/* Backwards too, also in buffers that are short beside what segments may be off by. */
GST_START_TEST (test_reading_backwards)
{
  const gsize n = __i__ ? 960 : 12, n_buffers = 48000 / n;
  GstAudioInfo info = tfx_check_f32 (48000, 1);
  GstHarness *h = tfx_chains_harness ("Loudness(None)", &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = g_new0 (gdouble, n);
  GstStructure *last = NULL;
  GstSegment segment;
  guint64 time;

  g_object_set (h->element, "message-interval", 100 * GST_MSECOND, NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  segment.stop = GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (gsize i = n_buffers; i-- > 0;)
    gst_harness_push (h, tfx_check_stamped (&info, in, n, i * n));
  fail_unless_equals_int (take_messages (bus, &last), 10);
  fail_unless (gst_structure_get_uint64 (last, "timestamp", &time));
  fail_unless_equals_uint64 (time, 0);
  close_messages (h, bus, last);
  g_free (in);
}
GST_END_TEST;

/* However the stream is cut into buffers. */
GST_START_TEST (test_splits)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  gdouble *in = tfx_check_noise (5000 * 2, 1), *whole, *split;
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
  g_free (in);
  g_free (whole);
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
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  const gsize n = RATE;
  GstHarness *chain = tfx_chains_harness (rows[__i__].chain, &info);
  GstHarness *row = tfx_check_harness (rows[__i__].launch, &info);
  gdouble *in = tfx_check_noise (n * 2, 7), *out, *expected;

  out = tfx_check_filter (chain, &info, in, n, N);
  expected = tfx_check_filter (row, &info, in, n, N);
  fail_unless (tfx_check_rms (expected, 2 * n, 1) > 0.1);
  /* -140 dB below the noise, which has a power of 1/3. */
  fail_unless (tfx_check_distance (out, expected, 2 * n) < 1e-8, "off by %g",
      tfx_check_distance (out, expected, 2 * n));
  g_free (in);
  g_free (out);
  g_free (expected);
  gst_harness_teardown (chain);
  gst_harness_teardown (row);
}
GST_END_TEST;

/* ---- fifty stages -------------------------------------------------------------------- */

GST_START_TEST (test_fifty)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GString *text = g_string_new (NULL);
  gdouble *in = tfx_check_noise (100 * N * 2, 3);
  GstHarness *h;

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
  g_free (in);
  g_string_free (text, TRUE);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- nothing ---------------------------------------------------------------------------- */

/* A chain without stages, or of stages that do nothing, changes no bit. */
GST_START_TEST (test_empty)
{
  static const gchar *const nothing[] = { "", " # nothing\n", "Gain(1)",
    "ParametricEQ(1000, 1, 0)" };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_chains_harness (nothing[__i__], &info);
  gdouble *in = tfx_check_noise (10 * N * 2, 3), *out;

  out = tfx_check_filter (h, &info, in, 10 * N, N);
  fail_unless_equals_float (tfx_check_distance (in, out, 20 * N), 0.0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 0);
  g_free (in);
  g_free (out);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Echoes come though what goes in is marked as a gap; when the last has passed
 * it is one. */
GST_START_TEST (test_echo_in_gap)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h =
      tfx_chains_harness ("Echo(delay=1000, decay=0.5, mix=1)", &info);
  gdouble *in = g_new0 (gdouble, N), *out;
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
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
chain_sound_suite (void)
{
  Suite *s = suite_create ("chain-sound");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_core, 0, G_N_ELEMENTS (texts));
  tcase_add_test (tc, test_mix);
  tcase_add_test (tc, test_channels_refused);
  tcase_add_test (tc, test_look_ahead);
  tcase_add_loop_test (tc, test_look_ahead_changes, 0,
      2 * G_N_ELEMENTS (look_aheads));
  tcase_add_test (tc, test_look_ahead_flushed);
  tcase_add_loop_test (tc, test_look_ahead_refused, 0, 7);
  tcase_add_loop_test (tc, test_look_ahead_replaced, 0,
      2 * G_N_ELEMENTS (as_late));
  tcase_add_test (tc, test_look_ahead_together);
  tcase_add_test (tc, test_look_ahead_moved);
  tcase_add_test (tc, test_readings);
  tcase_add_test (tc, test_reading_times);
  tcase_add_test (tc, test_reading_segments);
  tcase_add_loop_test (tc, test_reading_backwards, 0, 2);
  tcase_add_test (tc, test_splits);
  tcase_add_loop_test (tc, test_row, 0, G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_fifty, 0, 2);
  tcase_add_loop_test (tc, test_empty, 0, 4);
  tcase_add_test (tc, test_echo_in_gap);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, chain_sound_suite ());
}
