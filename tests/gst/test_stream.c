/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_stream.c: when a filter's state lives on and when it starts afresh, and
 * what happens to gaps, times and broken samples.
 */
#include <math.h>
#include <string.h>

#include "tfxcheck.h"

#define RATE 48000

/* What all tests here filter with. */
#define LAUNCH "tfxbutterworth cutoff=500 order=6"
static const TfxDesign design = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 6,
  500.0 };

/* Filters n frames and requires the very bits of a filter that starts with
 * them. */
static void
expect_afresh (GstHarness *h, const GstAudioInfo *info, const gdouble *in,
    gsize n)
{
  g_autofree gdouble *expected = tfx_check_engine (&design, info, in, n);
  g_autofree gdouble *out = tfx_check_filter (h, info, in, n, n);

  fail_unless_equals_float (tfx_check_distance (out, expected,
                                n * info->channels),
      0.0);
}

/* The opposite. */
static void
expect_carried (GstHarness *h, const GstAudioInfo *info, const gdouble *in,
    gsize n)
{
  g_autofree gdouble *expected = tfx_check_engine (&design, info, in, n);
  g_autofree gdouble *out = tfx_check_filter (h, info, in, n, n);

  fail_unless (tfx_check_distance (out, expected, n * info->channels) > 1e-3);
}

/* ---- blocks -------------------------------------------------------------------- */

/* As the checks of GStreamer's own filters: properties set while playing, one
 * buffer of 128 frames without times, exactly one of 128 out. */
GST_START_TEST (test_128_unstamped)
{
  static const gchar *const names[] = { "tfxbutterworth", "tfxchebyshev" };
  GstAudioInfo info =
      tfx_check_info (__i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          44100, 1, GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autoptr (TfxHarness) h = tfx_check_harness (names[__i__ / 2], &info);
  gdouble in[128], *out;
  GstBuffer *buffer;
  gsize n;

  g_object_set (h->element, "order", 8, "cutoff", 44100 / 4.0, NULL);
  for (guint i = 0; i < 128; i++)
    in[i] = 1.0;
  buffer = tfx_check_push (h, tfx_check_buffer (&info, in, 128));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fail_if (GST_BUFFER_PTS_IS_VALID (buffer));
  fail_if (GST_BUFFER_DURATION_IS_VALID (buffer));

  out = tfx_check_samples (buffer, &info, &n);
  fail_unless_equals_uint64 (n, 128);
  fail_unless (tfx_check_rms (out, n, 1) >= 0.9);
  g_free (out);
  gst_buffer_unref (buffer);

  /* The other way round: nothing of it passes. */
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  tfx_check_set_info (h, &info);
  gst_util_set_object_arg (G_OBJECT (h->element), "mode", "high-pass");
  out = tfx_check_filter (h, &info, in, 128, 128);
  fail_unless (tfx_check_rms (out, 128, 1) <= 0.1);
  g_free (out);
}
GST_END_TEST;

/* Any split of a stream gives the same bits: one frame at a time too. */
GST_START_TEST (test_splits)
{
  static const gint channels[] = { 1, 2, 5, 8 };
  static const gsize most[] = { 1, 3, 64, 441, 1999 };
  const gsize n = 2000;
  gint n_ch = channels[__i__ / 2];
  GstAudioInfo info =
      tfx_check_info (__i__ & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          RATE, n_ch, GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, __i__);
  g_autofree gdouble *whole = tfx_check_engine (&design, &info, in, n);

  for (guint i = 0; i < G_N_ELEMENTS (most); i++) {
    g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
    g_autofree gdouble *out = tfx_check_filter (h, &info, in, n, most[i]);
    gdouble distance = tfx_check_distance (out, whole, n * n_ch);

    fail_unless (distance == 0.0, "buffers of %u frames: off by %g",
        (guint)most[i], distance);
    fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), n);
  }
}
GST_END_TEST;

GST_START_TEST (test_million_frames)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  const gsize n = 1000000;
  g_autofree gdouble *in = tfx_check_noise (n * 2, 7);

  expect_afresh (h, &info, in, n);
}
GST_END_TEST;

GST_START_TEST (test_empty_buffers)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = NULL;
  g_autofree gdouble *in = tfx_check_noise (200, 3);
  GstBuffer *out;

  info.layout =
      __i__ ? GST_AUDIO_LAYOUT_NON_INTERLEAVED : GST_AUDIO_LAYOUT_INTERLEAVED;
  h = tfx_check_harness (LAUNCH, &info);
  /* An empty buffer at the start and one in between change nothing. */
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_buffer_new ();

    GST_BUFFER_PTS (buffer) = 5 * GST_SECOND;
    out = tfx_check_push (h, buffer);
    fail_unless_equals_uint64 (gst_buffer_get_size (out), 0);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 5 * GST_SECOND);
    gst_buffer_unref (out);
    if (i == 0)
      expect_afresh (h, &info, in, 50);
  }
  expect_carried (h, &info, in, 50);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 4);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), 100);
}
GST_END_TEST;

/* ---- times ------------------------------------------------------------------------ */

GST_START_TEST (test_times_and_metas)
{
  static const gsize sizes[] = { 1, 480, 7, 1024, 333 };
  GstAudioInfo info = tfx_check_f32 (44100, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (2000, 5);
  g_autoptr (GstCaps) mark = gst_caps_new_empty_simple ("timestamp/x-mark");
  guint64 from = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (GstBuffer) buffer =
        tfx_check_stamped (&info, in, sizes[i], from);
    GstClockTime pts = GST_BUFFER_PTS (buffer);
    GstClockTime duration = GST_BUFFER_DURATION (buffer);
    GstReferenceTimestampMeta *meta;

    GST_BUFFER_DTS (buffer) = pts + 1;
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
    gst_buffer_add_reference_timestamp_meta (buffer, mark, 77 + i,
        GST_CLOCK_TIME_NONE);

    buffer = tfx_check_push (h, buffer);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), pts);
    fail_unless_equals_uint64 (GST_BUFFER_DTS (buffer), pts + 1);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), duration);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), from);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET_END (buffer), from + sizes[i]);
    fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER));
    fail_unless_equals_uint64 (gst_buffer_get_size (buffer), sizes[i] * 4);
    meta = gst_buffer_get_reference_timestamp_meta (buffer, mark);
    fail_unless (meta != NULL);
    fail_unless_equals_uint64 (meta->timestamp, 77 + i);
    from += sizes[i];
  }
}
GST_END_TEST;

/* Of a buffer that reaches over the segment's edge only the part within comes
 * out, and the filter starts with it. */
GST_START_TEST (test_clipping)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 3);
  const guint64 from = 4800;
  g_autofree gdouble *in = tfx_check_noise (2400 * 3, 6);
  g_autoptr (TfxHarness) h = NULL;
  GstSegment segment;
  g_autoptr (GstBuffer) buffer = NULL;
  g_autofree gdouble *expected = NULL, *out = NULL;
  gsize n;

  info.layout =
      __i__ ? GST_AUDIO_LAYOUT_NON_INTERLEAVED : GST_AUDIO_LAYOUT_INTERLEAVED;
  h = tfx_check_harness (LAUNCH, &info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 125 * GST_MSECOND;
  segment.stop = 140 * GST_MSECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));

  /* 100 to 120 ms: outside of it; 100 to 150 ms: 125 to 140 are within. */
  gst_harness_push (h, tfx_check_stamped (&info, in, 960, from));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  buffer = tfx_check_push (h, tfx_check_stamped (&info, in, 2400, from));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 125 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer), 15 * GST_MSECOND);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), from + 1200);

  out = tfx_check_samples (buffer, &info, &n);
  fail_unless_equals_uint64 (n, 720);
  expected = tfx_check_engine (&design, &info, in + 1200 * 3, n);
  fail_unless_equals_float (tfx_check_distance (out, expected, n * 3), 0.0);
}
GST_END_TEST;

/* A buffer may say that it is longer than its samples: it is these that lie within
 * the segment or do not. */
GST_START_TEST (test_clipping_long_durations)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 3);
  /* ms; of 10 ms of samples from there on so many are within 125 to 140 ms. */
  const guint from[] = { 100, 120, 127, 135, 140 };
  const guint within[] = { 0, 5, 10, 5, 0 };
  g_autofree gdouble *in = tfx_check_noise (480 * 3, 7);
  GstSegment segment;
  g_autoptr (TfxHarness) h = NULL;

  info.layout =
      __i__ ? GST_AUDIO_LAYOUT_NON_INTERLEAVED : GST_AUDIO_LAYOUT_INTERLEAVED;
  h = tfx_check_harness (LAUNCH, &info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = 125 * GST_MSECOND;
  segment.stop = 140 * GST_MSECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));

  for (guint i = 0; i < G_N_ELEMENTS (from); i++) {
    GstBuffer *buffer = tfx_check_stamped (&info, in, 480, from[i] * 48);
    gsize n;

    GST_BUFFER_DURATION (buffer) = 60 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), within[i] > 0);
    if (within[i] == 0)
      continue;
    buffer = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
        MAX (from[i], 125) * GST_MSECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (buffer),
        within[i] * GST_MSECOND);
    g_free (tfx_check_samples (buffer, &info, &n));
    fail_unless_equals_uint64 (n, within[i] * 48);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;

/* A buffer marked DISCONT lies outside of the segment: the mark is for the next one
 * that does not, before which the filter starts afresh. */
GST_START_TEST (test_clipped_discont)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 3);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (480 * 3, 8), *expected = NULL,
                     *out = NULL;
  GstSegment segment;
  GstBuffer *buffer;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.position = GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_buffer_unref (
      tfx_check_push (h, tfx_check_stamped (&info, in, 480, RATE)));
  buffer = tfx_check_stamped (&info, in, 480, RATE / 2);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);

  /* 90 ms later than it would go on without a mark. */
  buffer =
      tfx_check_push (h, tfx_check_stamped (&info, in, 480, RATE + RATE / 10));
  fail_unless (GST_BUFFER_IS_DISCONT (buffer));
  out = tfx_check_samples (buffer, &info, NULL);
  expected = tfx_check_engine (&design, &info, in, 480);
  fail_unless_equals_float (tfx_check_distance (out, expected, 480 * 3), 0.0);
  gst_buffer_unref (buffer);

  buffer = tfx_check_push (h,
      tfx_check_stamped (&info, in, 480, RATE + RATE / 10 + 480));
  fail_if (GST_BUFFER_IS_DISCONT (buffer));
  gst_buffer_unref (buffer);
}
GST_END_TEST;

/* ---- where the state starts afresh, and where it does not -------------------------- */

typedef enum
{
  NOTHING,
  SAME_SEGMENT,
  SAME_CAPS,
  OTHER_STREAM,
  SEGMENT_DONE,
  OTHER_RATE,
  FLUSH,
  OTHER_SEGMENT,
  DISCONT,
  READY
} Break;

static void
break_stream (GstHarness *h, const GstAudioInfo *info, Break what)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  switch (what) {
    case FLUSH:
      gst_harness_push_event (h, gst_event_new_flush_start ());
      gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
      break;
    case OTHER_SEGMENT:
      segment.base = GST_SECOND;
      break;
    case OTHER_RATE:
      segment.rate = 2.0;
      break;
    case SAME_CAPS:
      tfx_check_set_info (h, info);
      return;
    case OTHER_STREAM:
      gst_harness_push_event (h, gst_event_new_stream_start ("other"));
      tfx_check_set_info (h, info);
      break;
    case SEGMENT_DONE:
      gst_harness_push_event (h,
          gst_event_new_segment_done (GST_FORMAT_TIME, GST_SECOND));
      return;
    case READY:
      gst_element_set_state (h->element, GST_STATE_READY);
      gst_element_set_state (h->element, GST_STATE_PLAYING);
      gst_harness_push_event (h, gst_event_new_stream_start ("again"));
      tfx_check_set_info (h, info);
      return;
    case SAME_SEGMENT:
      /* Where it begins to play is no property of the samples. */
      segment.position = 3 * GST_SECOND;
      break;
    default:
      return;
  }
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

GST_START_TEST (test_breaks)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  const gsize n = 500;
  g_autofree gdouble *in = tfx_check_noise (n * 2, 11);
  g_autofree gdouble *expected = tfx_check_engine (&design, &info, in, n);
  g_autoptr (GstBuffer) buffer = NULL;
  g_autofree gdouble *out = NULL;
  gboolean afresh;

  /* The first buffer of a stream is a discontinuity, from rest to rest. */
  buffer = tfx_check_buffer (&info, in, n);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_buffer_unref (tfx_check_push (h, buffer));

  break_stream (h, &info, __i__);
  buffer = tfx_check_buffer (&info, in, n);
  if (__i__ == DISCONT)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = tfx_check_push (h, buffer);
  fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
                              GST_BUFFER_FLAG_DISCONT) != 0,
      __i__ == DISCONT);
  out = tfx_check_samples (buffer, &info, NULL);
  afresh = tfx_check_distance (out, expected, n * 2) == 0.0;
  fail_unless_equals_int (afresh, __i__ >= FLUSH);
}
GST_END_TEST;

/* Times that jump by a second are a gap, even if nobody says so; a single stamp
 * that is off by less is not.  What comes out has the stamps that came in. */
GST_START_TEST (test_time_gap)
{
  static const gint64 jumps[] = { 0, 1900, -1900, 2800, -2800, 1000000 };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  const guint64 from = 10 * RATE;
  const gsize n = 500;
  g_autofree gdouble *in = tfx_check_noise (n * 2, 11), *out = NULL;
  g_autofree gdouble *expected = tfx_check_engine (&design, &info, in, n);
  g_autoptr (GstBuffer) buffer = NULL;

  gst_buffer_unref (tfx_check_push (h, tfx_check_stamped (&info, in, n, from)));
  buffer = tfx_check_push (h,
      tfx_check_stamped (&info, in, n, from + n + jumps[__i__]));
  out = tfx_check_samples (buffer, &info, NULL);
  fail_unless_equals_int (tfx_check_distance (out, expected, n * 2) == 0.0,
      ABS (jumps[__i__]) > RATE);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer),
      from + n + jumps[__i__]);
}
GST_END_TEST;

GST_START_TEST (test_no_latency)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);

  gst_harness_set_upstream_latency (h, 7 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 7 * GST_MSECOND);
}
GST_END_TEST;

GST_START_TEST (test_other_rate_or_channels)
{
  static const gint rates[] = { 48000, 48000, 44100, 8000, 8000, 48000 };
  static const gint channels[] = { 2, 1, 1, 1, 6, 2 };
  GstAudioInfo info = tfx_check_f32 (rates[0], channels[0]);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (600 * 6, 13);

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    info = tfx_check_f32 (rates[i], channels[i]);
    tfx_check_set_info (h, &info);
    expect_afresh (h, &info, in, 600);
  }
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 6);
}
GST_END_TEST;

/* Two channels become two others: their pasts have nothing in common. */
GST_START_TEST (test_other_positions)
{
  static const GstAudioChannelPosition rear[] = {
    GST_AUDIO_CHANNEL_POSITION_REAR_LEFT, GST_AUDIO_CHANNEL_POSITION_REAR_RIGHT
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (600 * 2, 13);

  expect_afresh (h, &info, in, 600);
  gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F32, RATE, 2, rear);
  tfx_check_set_info (h, &info);
  expect_afresh (h, &info, in, 600);
}
GST_END_TEST;

/* Format and layout are clothes: the stream goes on beneath. */
GST_START_TEST (test_other_format_or_layout)
{
  const gsize n = 500;
  const gint n_ch = 3;
  GstAudioInfo info = tfx_check_f64 (RATE, n_ch);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (4 * n * n_ch, 17);
  g_autofree gdouble *whole = tfx_check_engine (&design, &info, in, 4 * n);

  for (guint i = 0; i < 4; i++) {
    g_autofree gdouble *out = NULL;
    gdouble distance;

    info = tfx_check_info (i & 1 ? GST_AUDIO_FORMAT_F32 : GST_AUDIO_FORMAT_F64,
        RATE, n_ch,
        i & 2 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
              : GST_AUDIO_LAYOUT_INTERLEAVED);
    tfx_check_set_info (h, &info);
    out = tfx_check_filter (h, &info, in + i * n * n_ch, n, n);
    distance = tfx_check_distance (out, whole + i * n * n_ch, n * n_ch);
    /* A float32 rounds; a double carries no trace of that. */
    fail_unless (distance <= (i & 1 ? 6e-8 : 1e-14), "part %u: off by %g", i,
        distance);
  }
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  Suite *s = suite_create ("stream");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_128_unstamped, 0, 4);
  tcase_add_loop_test (tc, test_splits, 0, 8);
  tcase_add_test (tc, test_million_frames);
  tcase_add_loop_test (tc, test_empty_buffers, 0, 2);
  tcase_add_test (tc, test_times_and_metas);
  tcase_add_loop_test (tc, test_clipping, 0, 2);
  tcase_add_loop_test (tc, test_clipping_long_durations, 0, 2);
  tcase_add_test (tc, test_clipped_discont);
  tcase_add_loop_test (tc, test_breaks, NOTHING, READY + 1);
  tcase_add_loop_test (tc, test_time_gap, 0, 6);
  tcase_add_test (tc, test_no_latency);
  tcase_add_test (tc, test_other_rate_or_channels);
  tcase_add_test (tc, test_other_positions);
  tcase_add_test (tc, test_other_format_or_layout);
  return tfx_check_main (argc, argv, s);
}
