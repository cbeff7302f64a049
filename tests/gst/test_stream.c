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

/* Filters n frames: how far they are from the bits of a filter that starts with
 * them. */
static gdouble
filter (GstHarness *h, const GstAudioInfo *info, const gdouble *in, gsize n)
{
  g_autoptr (GstBuffer) out =
      tfx_check_push (h, tfx_check_buffer (info, in, n));

  return tfx_check_deviation (out, info, &design, in, n);
}

/* ---- blocks -------------------------------------------------------------------- */

/* As the checks of GStreamer's own filters: properties set while playing, one
 * buffer of 128 frames without times, exactly one of 128 out. */
GST_START_TEST (test_128_unstamped)
{
  static const gchar *const names[] = { "tfxbutterworth", "tfxchebyshev" };
  GstAudioInfo info =
      __i__ & 1 ? tfx_check_f64 (44100, 1) : tfx_check_f32 (44100, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (names[__i__ / 2], &info);
  g_autofree gdouble *in = tfx_check_constant (128, 1.0);
  gdouble *out;
  GstBuffer *buffer;
  gsize n;

  g_object_set (h->element, "order", 8, "cutoff", 44100 / 4.0, NULL);
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
      __i__ & 1 ? tfx_check_f64 (RATE, n_ch) : tfx_check_f32 (RATE, n_ch);
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

  fail_unless_equals_float (filter (h, &info, in, n), 0.0);
}
GST_END_TEST;

GST_START_TEST (test_empty_buffers)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2,
      __i__ ? GST_AUDIO_LAYOUT_NON_INTERLEAVED : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (200, 3);

  /* An empty buffer at the start and one in between change nothing. */
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_buffer_new ();
    g_autoptr (GstBuffer) out = NULL;

    GST_BUFFER_PTS (buffer) = 5 * GST_SECOND;
    out = tfx_check_push (h, buffer);
    fail_unless_equals_uint64 (gst_buffer_get_size (out), 0);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 5 * GST_SECOND);
    fail_unless (i == 0 ? filter (h, &info, in, 50) == 0.0
                        : filter (h, &info, in, 50) > 1e-3);
  }
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

/* Of a buffer that reaches over the edge of a segment from 125 to 140 ms only the part
 * within comes out, and the filter starts with it.  A buffer may say that it is longer
 * than its samples: it is these that lie within the segment or do not. */
static const struct
{
  guint from, n, says, within; /* ms */
} clips[] = {
  { 100, 50, 50, 15 },
  { 100, 10, 60, 0 },
  { 120, 10, 60, 5 },
  { 127, 10, 60, 10 },
  { 135, 10, 60, 5 },
  { 140, 10, 60, 0 },
};

GST_START_TEST (test_clipping)
{
  const guint at = __i__ / 2, ms = RATE / 1000;
  const guint from = clips[at].from, begin = MAX (from, 125);
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 3,
      __i__ % 2 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (50 * ms * 3, 6);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autoptr (GstBuffer) out = NULL;
  GstBuffer *buffer =
      tfx_check_stamped (&info, in, clips[at].n * ms, from * ms);

  GST_BUFFER_DURATION (buffer) = clips[at].says * GST_MSECOND;
  tfx_check_push_segment (h, 125 * GST_MSECOND, 140 * GST_MSECOND, 0);
  /* Nothing of what goes before. */
  gst_harness_push (h, tfx_check_stamped (&info, in, 20 * ms, 100 * ms));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  out = gst_harness_try_pull (h);
  fail_unless_equals_int (out != NULL, clips[at].within > 0);
  if (out) {
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), begin * GST_MSECOND);
    fail_unless_equals_uint64 (GST_BUFFER_DURATION (out),
        clips[at].within * GST_MSECOND);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (out), begin * ms);
    fail_unless_equals_float (tfx_check_deviation (out, &info, &design,
                                  in + (begin - from) * ms * 3,
                                  clips[at].within * ms),
        0.0);
  }
}
GST_END_TEST;

/* A buffer marked DISCONT lies outside of the segment: the mark is for the next one
 * that does not, before which the filter starts afresh. */
GST_START_TEST (test_clipped_discont)
{
  static const guint due[] = { RATE, RATE / 2, RATE + RATE / 10,
    RATE + RATE / 10 + 480 };
  GstAudioInfo info = tfx_check_f32 (RATE, 3);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (480 * 3, 8);

  tfx_check_push_segment (h, GST_SECOND, GST_CLOCK_TIME_NONE, 0);
  for (guint i = 0; i < G_N_ELEMENTS (due); i++) {
    GstBuffer *buffer = tfx_check_stamped (&info, in, 480, due[i]);
    g_autoptr (GstBuffer) out = NULL;

    if (i == 1)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    out = gst_harness_try_pull (h);
    fail_unless_equals_int (out != NULL, i != 1);
    /* The third one is 90 ms later than it would go on without a mark. */
    if (i >= 2)
      fail_unless_equals_int (GST_BUFFER_IS_DISCONT (out) != 0, i == 2);
    if (i == 2)
      fail_unless_equals_float (tfx_check_deviation (out, &info, &design, in,
                                    480),
          0.0);
  }
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
      tfx_check_flush (h);
      return;
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

  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = tfx_check_buffer (&info, in, n);

    /* The first buffer of a stream is a discontinuity, from rest to rest. */
    if (i == 0 || __i__ == DISCONT)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    if (i == 1)
      break_stream (h, &info, __i__);
    buffer = tfx_check_push (h, buffer);
    if (i == 1) {
      fail_unless_equals_int (GST_BUFFER_IS_DISCONT (buffer) != 0,
          __i__ == DISCONT);
      fail_unless_equals_int (tfx_check_deviation (buffer, &info, &design, in,
                                  n) == 0.0,
          __i__ >= FLUSH);
    }
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;

/* Times that jump by a second are a gap, even if nobody says so; a single stamp
 * that is off by less is not.  What comes out has the stamps that came in. */
GST_START_TEST (test_time_gap)
{
  static const gint64 jumps[] = { 0, 1900, -1900, 2800, -2800, 1000000 };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  const gsize n = 500;
  const guint64 from = 10 * RATE, then = from + n + jumps[__i__];
  g_autofree gdouble *in = tfx_check_noise (n * 2, 11);
  g_autoptr (GstBuffer) buffer = NULL;

  gst_buffer_unref (tfx_check_push (h, tfx_check_stamped (&info, in, n, from)));
  buffer = tfx_check_push (h, tfx_check_stamped (&info, in, n, then));
  fail_unless_equals_int (tfx_check_deviation (buffer, &info, &design, in, n) ==
                              0.0,
      ABS (jumps[__i__]) > RATE);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), then);
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

/* Two channels become two others, too: their pasts have nothing in common. */
GST_START_TEST (test_other_rate_or_channels)
{
  static const GstAudioChannelPosition rear[] = {
    GST_AUDIO_CHANNEL_POSITION_REAR_LEFT, GST_AUDIO_CHANNEL_POSITION_REAR_RIGHT
  };
  static const struct
  {
    gint rate, n_channels;
    const GstAudioChannelPosition *positions;
  } streams[] = { { 48000, 2 }, { 48000, 1 }, { 44100, 1 }, { 8000, 1 },
    { 8000, 6 }, { 48000, 2 }, { 48000, 2, rear } };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = tfx_check_noise (600 * 6, 13);

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++) {
    gst_audio_info_set_format (&info, GST_AUDIO_FORMAT_F32, streams[i].rate,
        streams[i].n_channels, streams[i].positions);
    tfx_check_set_info (h, &info);
    fail_unless (filter (h, &info, in, 600) == 0.0, "stream %u", i);
  }
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"),
      G_N_ELEMENTS (streams));
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
  TCase *tc = tcase_create ("stream");

  tcase_add_loop_test (tc, test_128_unstamped, 0, 4);
  tcase_add_loop_test (tc, test_splits, 0, 8);
  tcase_add_test (tc, test_million_frames);
  tcase_add_loop_test (tc, test_empty_buffers, 0, 2);
  tcase_add_test (tc, test_times_and_metas);
  tcase_add_loop_test (tc, test_clipping, 0, 2 * G_N_ELEMENTS (clips));
  tcase_add_test (tc, test_clipped_discont);
  tcase_add_loop_test (tc, test_breaks, NOTHING, READY + 1);
  tcase_add_loop_test (tc, test_time_gap, 0, 6);
  tcase_add_test (tc, test_no_latency);
  tcase_add_test (tc, test_other_rate_or_channels);
  tcase_add_test (tc, test_other_format_or_layout);
  return tfx_check_run (argc, argv, tc);
}
