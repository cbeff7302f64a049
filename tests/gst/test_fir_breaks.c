/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_breaks.c: where a stream ends and another begins, what tfxfir holds
 * back comes before; and its latency.
 */
#include <gst/check/gstconsistencychecker.h>
#include <math.h>
#include <string.h>

#include "firs.h"
#include "tfxplay.h"

#define RATE 48000
#define N 1000
/* Where the first stream begins, in frames. */
#define FROM 100000
/* The delay of what is filtered with here. */
#define DELAY 50
/* Against the plain sum; which method is taken depends on the machine. */
#define F32_DB -128.0
#define LAUNCH "tfxfir taps=101"

/* ---- what goes out, in its order -------------------------------------------------- */

/* The frames that went out before the first event of a type. */
typedef struct
{
  GstEventType type;
  gint bpf;
  gsize n_frames, n_before;
  guint n_events;
} Order;

static GstPadProbeReturn
note_order (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Order *order = data;

  if (GST_IS_BUFFER (info->data)) {
    order->n_frames += gst_buffer_get_size (info->data) / order->bpf;
  } else if (GST_EVENT_TYPE (info->data) == order->type) {
    if (order->n_events++ == 0)
      order->n_before = order->n_frames;
  }
  return GST_PAD_PROBE_OK;
}

static void
watch (GstHarness *h, Order *order, GstEventType type, gint bpf)
{
  GstPad *pad = gst_element_get_static_pad (h->element, "src");

  *order = (Order){ type, bpf };
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, order, NULL);
  gst_object_unref (pad);
}

/* ---- breaks ------------------------------------------------------------------------ */

typedef enum
{
  DISCONT,
  TIME_GAP,
  TIME_BACK,
  OTHER_SEGMENT,
  OTHER_RATE,
  OTHER_CHANNELS,
  OTHER_STREAM,
  SEGMENT_DONE,
  END_OF_STREAM,
  N_BREAKS
} Break;

static const GstEventType break_events[] = { GST_EVENT_UNKNOWN,
  GST_EVENT_UNKNOWN, GST_EVENT_UNKNOWN, GST_EVENT_SEGMENT, GST_EVENT_CAPS,
  GST_EVENT_CAPS, GST_EVENT_STREAM_START, GST_EVENT_SEGMENT_DONE,
  GST_EVENT_EOS };

/* Sends what ends the stream, if it is an event; the frame with which the next
 * stream goes on. */
static guint64
break_stream (GstHarness *h, GstAudioInfo *info, Break what)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  switch (what) {
    case TIME_GAP:
      return FROM + N + RATE; /* a second later: more than jitter */
    case TIME_BACK:
      return 0;
    case OTHER_SEGMENT:
      segment.base = GST_SECOND;
      gst_harness_push_event (h, gst_event_new_segment (&segment));
      return 0;
    case OTHER_RATE:
      *info = tfx_check_f32 (44100, 2);
      tfx_check_set_info (h, info);
      return 44100;
    case OTHER_CHANNELS:
      *info = tfx_check_f32 (RATE, 3);
      tfx_check_set_info (h, info);
      return FROM + N;
    case OTHER_STREAM:
      gst_harness_push_event (h, gst_event_new_stream_start ("other"));
      tfx_check_set_info (h, info);
      gst_harness_push_event (h, gst_event_new_segment (&segment));
      return 0;
    case SEGMENT_DONE:
      gst_harness_push_event (h,
          gst_event_new_segment_done (GST_FORMAT_TIME, GST_SECOND));
      return FROM + N;
    case END_OF_STREAM:
      gst_harness_push_event (h, gst_event_new_eos ());
      gst_harness_push_event (h, gst_event_new_stream_start ("other"));
      tfx_check_set_info (h, info);
      gst_harness_push_event (h, gst_event_new_segment (&segment));
      return 0;
    case DISCONT:
      return FROM + N + RATE / 10; /* the mark says that it is no jitter */
    default:
      return FROM + N;
  }
}

/* All of the first stream comes out before the break, and all of the second one
 * as if it were the first.  The first buffer of the second stream is shorter
 * than the delay, or not. */
GST_START_TEST (test_breaks)
{
  Break what = __i__ / 2;
  gsize most = __i__ & 1 ? 30 : 480;
  GstAudioInfo info = tfx_check_f32 (RATE, 2), old = info;
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (N * 3, 11), *taps, *expected;
  Order order;
  GstBuffer *buffer;
  guint64 from;

  watch (h, &order, break_events[what], info.bpf);
  tfx_firs_push (h, &info, in, N, FROM, most);
  fail_unless_equals_uint64 (order.n_frames, N - DELAY);
  from = break_stream (h, &info, what);

  buffer = tfx_check_stamped (&info, in, most, from);
  if (what == DISCONT)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  tfx_firs_push (h, &info, in + most * info.channels, N - most, from + most,
      most);
  gst_harness_push_event (h, gst_event_new_eos ());
  /* What is held belongs in front of the event. */
  if (break_events[what] != GST_EVENT_UNKNOWN) {
    fail_unless (order.n_events >= 1);
    fail_unless_equals_uint64 (order.n_before, N);
  }

  for (guint i = 0; i < 2; i++) {
    const GstAudioInfo *now = i ? &info : &old;

    tfx_firs_collect_until (caught, h, now, N);
    tfx_firs_expect_whole (caught, N, i ? from : FROM, now->rate);
    fail_unless_equals_int (caught->discont, i && what == DISCONT);
    taps = tfx_firs_design (TFX_MODE_LOW_PASS, 0, 101, 1000.0, 0.0, now->rate);
    expected = tfx_firs_convolve (taps, 1, 101, DELAY, in, N, now->channels);
    fail_unless (tfx_firs_error_db (tfx_firs_samples (caught), expected,
                     N * now->channels) < F32_DB);
    tfx_firs_forget (caught);
    g_free (taps);
    g_free (expected);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  tfx_firs_catch_free (caught);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* What is no break: nothing comes before its time, and nothing starts afresh. */
GST_START_TEST (test_no_breaks)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (2 * N * 2, 11);
  gdouble *taps =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 101, 1000.0, 0.0, RATE);
  gdouble *expected = tfx_firs_convolve (taps, 1, 101, DELAY, in, 2 * N, 2);
  GstSegment segment;
  GstEvent *event;

  tfx_firs_push (h, &info, in, N, 0, 480);
  tfx_firs_collect (caught, h, &info);
  switch (__i__) {
    case 0:
      gst_segment_init (&segment, GST_FORMAT_TIME);
      segment.position = 5;
      gst_harness_push_event (h, gst_event_new_segment (&segment));
      break;
    case 1:
      tfx_check_set_info (h, &info);
      break;
    case 2:
      info.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
      tfx_check_set_info (h, &info);
      break;
    case 3:
      info = tfx_check_f32 (RATE, 2);
      tfx_check_set_info (h, &info);
      break;
    case 4:
      gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new_empty ()));
      break;
    case 5:
      /* the next of a row of segments */
      gst_segment_init (&segment, GST_FORMAT_TIME);
      segment.start = segment.time = segment.base =
          gst_util_uint64_scale (N, GST_SECOND, RATE);
      gst_harness_push_event (h, gst_event_new_segment (&segment));
      break;
    default:
      /* as when something upstream is linked anew */
      event = gst_pad_get_sticky_event (h->srcpad, GST_EVENT_STREAM_START, 0);
      gst_harness_push_event (h, event);
      break;
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  tfx_firs_push (h, &info, in + N * 2, N, N, 480);
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, 2 * N, 0, RATE);
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught), expected,
                   2 * N * 2) < (__i__ == 3 ? F32_DB : -240.0));
  tfx_firs_catch_free (caught);
  g_free (in);
  g_free (taps);
  g_free (expected);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* From F32 to F64 in mid-stream: from then on it is filtered in double, but for
 * the 10 ms in which that takes over. */
GST_START_TEST (test_wider_format)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (2 * N * 2, 11);
  gdouble *taps =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 101, 1000.0, 0.0, RATE);
  gdouble *expected = tfx_firs_convolve (taps, 1, 101, DELAY, in, 2 * N, 2);
  const gsize settled = N - DELAY + RATE / 100;

  tfx_firs_push (h, &info, in, N, 0, 480);
  tfx_firs_collect (caught, h, &info);
  info.finfo = gst_audio_format_get_info (GST_AUDIO_FORMAT_F64);
  info.bpf *= 2;
  tfx_check_set_info (h, &info);
  tfx_firs_push (h, &info, in + N * 2, N, N, 480);
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, 2 * N, 0, RATE);
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught), expected,
                   settled * 2) < F32_DB);
  fail_unless (tfx_firs_error_db (tfx_firs_samples (caught) + settled * 2,
                   expected + settled * 2, (2 * N - settled) * 2) < -240.0);
  tfx_firs_catch_free (caught);
  g_free (in);
  g_free (taps);
  g_free (expected);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* After a flush, or a new start, nothing of the past is heard. */
GST_START_TEST (test_flush)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (N * 2, 11);
  gdouble *taps =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 101, 1000.0, 0.0, RATE);
  gdouble *expected = tfx_firs_convolve (taps, 1, 101, DELAY, in, N, 2);
  /* A flush may come while the very first frames are held back. */
  gsize n_first = __i__ & 1 ? 20 : N;
  GstSegment segment;

  tfx_firs_push (h, &info, in, n_first, 0, 480);
  if (__i__ & 2) {
    gst_element_set_state (h->element, GST_STATE_READY);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    gst_harness_push_event (h, gst_event_new_stream_start ("again"));
    tfx_check_set_info (h, &info);
  } else {
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  }
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  tfx_firs_collect (caught, h, &info);
  fail_unless_equals_uint64 (caught->n_frames,
      n_first > DELAY ? n_first - DELAY : 0);

  tfx_firs_forget (caught);
  tfx_firs_push (h, &info, in, N, RATE, 480);
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, N, RATE, RATE);
  fail_unless (
      tfx_firs_error_db (tfx_firs_samples (caught), expected, N * 2) < F32_DB);
  tfx_firs_catch_free (caught);
  g_free (in);
  g_free (taps);
  g_free (expected);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A tag behind frames that are held is kept over a flush; what else waits there is
 * of the stream that is gone. */
GST_START_TEST (test_flush_keeps_tags)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  gdouble *in = tfx_check_noise (200 * 2, 11);
  GstSegment segment;
  GstEvent *event;
  GString *seen = g_string_new (NULL);

  tfx_firs_push (h, &info, in, 200, 0, 200);
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push_event (h, gst_event_new_tag (gst_tag_list_new_empty ()));
  gst_harness_push_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
                                 gst_structure_new_empty ("tfx-test")));
  fail_unless (gst_harness_try_pull_event (h) == NULL);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  while ((event = gst_harness_try_pull_event (h))) {
    g_string_append_printf (seen, "%s ", GST_EVENT_TYPE_NAME (event));
    gst_event_unref (event);
  }
  fail_unless_equals_string (seen->str, "flush-start flush-stop tag ");
  g_string_free (seen, TRUE);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Small buffers, the first of them marked: it is one discontinuity, though
 * nothing goes out for a while, and the first that does is marked. */
GST_START_TEST (test_discont_is_kept)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (N, 11);
  gsize n = __i__ ? N : 40;
  GstBuffer *buffer = tfx_check_stamped (&info, in, 10, 0);

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  gst_harness_push (h, buffer);
  tfx_firs_push (h, &info, in + 10, n - 10, 10, 10);
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  fail_unless (caught->discont);
  tfx_firs_catch_free (caught);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A jump in the times is told of once, also if the filter becomes late afterwards. */
GST_START_TEST (test_discont_is_told_once)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness (__i__ ? LAUNCH : "tfxfir taps=1", &info);
  gdouble *in = tfx_check_noise (3 * N, 11);
  GstBuffer *buffer = tfx_check_stamped (&info, in, N, 10 * N);
  guint n_marked = 0;

  tfx_firs_push (h, &info, in, N, 0, N);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer);
  gst_harness_push (h, buffer);
  g_object_set (h->element, "taps", 101, NULL);
  tfx_firs_push (h, &info, in, 3 * N, 11 * N, N);
  while ((buffer = gst_harness_try_pull (h))) {
    if (GST_BUFFER_PTS (buffer) > 0 && GST_BUFFER_IS_DISCONT (buffer))
      n_marked++;
    /* What is late has other times than what came in its buffer. */
    fail_if (__i__ && GST_BUFFER_DTS_IS_VALID (buffer));
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (n_marked, 1);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Where the times go on, as behind what a decoder made up for a lost packet, or where
 * concat begins another stream, the mark goes out with its frame too. */
GST_START_TEST (test_discont_has_its_frame)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  gdouble *in = tfx_check_noise (N, 13);
  const gsize n = __i__ ? N : 10;
  const guint64 marked = 5 * n;
  guint n_marked = 0;
  GstBuffer *buffer;

  for (guint64 from = 0; from < 20 * n; from += n) {
    buffer = tfx_check_stamped (&info, in, n, from);
    if (from == marked)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    gst_harness_push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    if (GST_BUFFER_IS_DISCONT (buffer)) {
      fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), marked);
      n_marked++;
    }
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (n_marked, 1);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A buffer of no frames goes by between those that are held. */
GST_START_TEST (test_empty_buffer)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  gdouble *in = tfx_check_noise (N, 11);
  GstClockTime next = 0;
  GstBuffer *buffer;

  tfx_firs_push (h, &info, in, N, 0, N);
  gst_harness_push (h, tfx_check_stamped (&info, in, 0, N));
  tfx_firs_push (h, &info, in, N, N, N);
  while ((buffer = gst_harness_try_pull (h))) {
    fail_unless (ABS (GST_CLOCK_DIFF (next, GST_BUFFER_PTS (buffer))) <= 1,
        "%" GST_TIME_FORMAT " in place of %" GST_TIME_FORMAT,
        GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), GST_TIME_ARGS (next));
    next = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
    gst_buffer_unref (buffer);
  }
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Buffers that come late are late, and not lost: what is held needs them. */
GST_START_TEST (test_late_buffers)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (N, 12);

  tfx_firs_push (h, &info, in, N, 0, 480);
  gst_harness_push_upstream_event (h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.0, 0, GST_SECOND));
  tfx_firs_push (h, &info, in, N, N, 30);
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, 2 * N, 0, RATE);
  tfx_firs_catch_free (caught);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- gaps ---------------------------------------------------------------------------- */

/* Silence that is marked as a gap, music, silence: the same samples as without
 * the marks, as many, at the same times; marks where all is silent. */
GST_START_TEST (test_gap_flags)
{
  const gsize block = __i__ & 1 ? 30 : 480, n = 40 * 480;
  const gsize begin = 10 * 480, end = 20 * 480;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness ("tfxfir taps=201 method=direct", &info);
  TfxCatch *caught = tfx_firs_catch_new ();
  gdouble *in = tfx_check_noise (n, 13);
  gdouble *taps =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 201, 1000.0, 0.0, RATE);
  gdouble *expected;
  GstBuffer *buffer;

  for (gsize i = 0; i < n; i++)
    in[i] = i >= begin && i < end ? in[i] : 0.0;
  expected = tfx_firs_convolve (taps, 1, 201, 100, in, n, 1);
  for (gsize i = 0; i < n; i += block) {
    buffer = tfx_check_stamped (&info, in + i, block, i);
    if (i < begin || i >= end)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    gst_harness_push (h, buffer);
    buffer = gst_harness_try_pull (h);
    if (!buffer) {
      fail_unless (i < 100);
      continue;
    }
    /* The last of the music leaves the kernel after 200 frames more. */
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
                                GST_BUFFER_FLAG_GAP) != 0,
        i < begin || i >= end + 200);
    tfx_firs_take (caught, buffer, &info);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  fail_unless (
      tfx_check_distance (tfx_firs_samples (caught), expected, n) < 1e-14);
  tfx_firs_catch_free (caught);
  g_free (in);
  g_free (taps);
  g_free (expected);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A GAP event is silence of its length: what rings, and what was held, comes in
 * its place, at its time.  The gap is long, or shorter than the delay. */
GST_START_TEST (test_gap_event)
{
  const gsize gap = __i__ ? 40 : RATE, n = 2 * N + gap;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  gdouble *in = tfx_check_noise (n, 13), *out = g_new0 (gdouble, n);
  gdouble *taps =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 101, 1000.0, 0.0, RATE);
  gdouble *expected;
  GstClockTime begin = gst_util_uint64_scale (N, GST_SECOND, RATE);
  GstClockTime end = gst_util_uint64_scale (N + gap, GST_SECOND, RATE);
  gsize n_frames = 0;
  GstBuffer *buffer;

  memset (in + N, 0, gap * sizeof *in);
  expected = tfx_firs_convolve (taps, 1, 101, DELAY, in, n, 1);
  tfx_firs_push (h, &info, in, N, 0, 480);
  gst_harness_push_event (h, gst_event_new_gap (begin, end - begin));
  tfx_firs_push (h, &info, in + N + gap, N, N + gap, 480);
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    gsize from =
        gst_util_uint64_scale_round (GST_BUFFER_PTS (buffer), RATE, GST_SECOND);
    gsize n_here;
    gdouble *samples = tfx_check_samples (buffer, &info, &n_here);

    fail_unless (from >= n_frames && from + n_here <= n,
        "%u frames from %u on after %u", (guint)n_here, (guint)from,
        (guint)n_frames);
    /* What is left out is silence. */
    for (gsize i = n_frames; i < from; i++)
      fail_unless (fabs (expected[i]) < 1e-14);
    memcpy (out + from, samples, n_here * sizeof *out);
    n_frames = from + n_here;
    g_free (samples);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (n_frames, n);
  fail_unless (tfx_check_distance (out, expected, n) < 1e-14);
  g_free (in);
  g_free (out);
  g_free (taps);
  g_free (expected);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* An event between two gaps that nobody hears comes out between them, at its time, and
 * what comes behind it too. */
GST_START_TEST (test_event_between_gaps)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  gdouble *in = tfx_check_noise (N, 14);
  const GstClockTime from = gst_util_uint64_scale (N, GST_SECOND, RATE);
  GstClockTime end = 0, start, duration;
  guint n_custom = 0, n_behind = 0;
  GstEvent *event;

  tfx_firs_push (h, &info, in, N, 0, 480);
  gst_harness_push_event (h, gst_event_new_gap (from, GST_SECOND));
  for (guint i = 0; i < 2; i++) {
    gst_harness_push_event (h,
        gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
            gst_structure_new_empty ("between")));
    gst_harness_push_event (h,
        gst_event_new_gap (from + (i + 1) * GST_SECOND, GST_SECOND));
  }
  while ((event = gst_harness_try_pull_event (h))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM) {
      n_custom++;
      fail_unless (ABS (GST_CLOCK_DIFF (from + n_custom * GST_SECOND, end)) <
                       GST_USECOND,
          "event %u at %" GST_TIME_FORMAT, n_custom, GST_TIME_ARGS (end));
    } else if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
      gst_event_parse_gap (event, &start, &duration);
      end = start + duration;
      n_behind += n_custom == 2;
    }
    gst_event_unref (event);
  }
  fail_unless (n_custom == 2 && n_behind == 1, "%u events, %u gaps behind them",
      n_custom, n_behind);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Silence without a time is held where a gap begins: it goes out as it came, and the
 * rest of the gap as one. */
GST_START_TEST (test_gap_behind_unstamped)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_check_harness (LAUNCH, &info);
  gdouble *in = g_new0 (gdouble, N);
  gsize n_frames = 0, n_here;
  GstClockTime duration = 0;
  GstBuffer *buffer;
  GstEvent *event;

  gst_harness_push (h, tfx_check_buffer (&info, in, N));
  gst_harness_push_event (h, gst_event_new_gap (GST_SECOND, GST_SECOND));
  while ((buffer = gst_harness_try_pull (h))) {
    g_free (tfx_check_samples (buffer, &info, &n_here));
    n_frames += n_here;
    gst_buffer_unref (buffer);
  }
  while ((event = gst_harness_try_pull_event (h))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
      gst_event_parse_gap (event, NULL, &duration);
      n_frames += gst_util_uint64_scale_round (duration, RATE, GST_SECOND);
    }
    gst_event_unref (event);
  }
  fail_unless (duration > GST_SECOND / 2);
  fail_unless_equals_uint64 (n_frames, N + RATE - DELAY);
  g_free (in);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- latency --------------------------------------------------------------------------- */

static guint
count_latency_messages (GstBus *bus)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

static void
expect_latency (GstHarness *h, GstClockTime latency)
{
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      7 * GST_MSECOND + latency);
}

/* What the element adds, and that it tells when that changes. */
GST_START_TEST (test_latency)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (4800, 12);

  gst_harness_set_upstream_latency (h, 7 * GST_MSECOND);
  g_object_set (h->element, "taps", 97, NULL);
  fail_unless_equals_int (count_latency_messages (bus), 0);
  tfx_check_set_info (h, &info);
  fail_unless_equals_int (count_latency_messages (bus), 1);
  expect_latency (h, GST_MSECOND);
  info = tfx_check_f32 (44100, 1);
  tfx_check_set_info (h, &info);
  fail_unless_equals_int (count_latency_messages (bus), 1);
  expect_latency (h, 1088436); /* 48 / 44100 s, rounded up */

  tfx_firs_push (h, &info, in, 480, 0, 480);
  fail_unless_equals_int (count_latency_messages (bus), 0);
  /* more: told; less: the stream keeps it until it starts again */
  g_object_set (h->element, "taps", 883, NULL);
  tfx_firs_push (h, &info, in, 4800, 480, 480);
  fail_unless_equals_int (count_latency_messages (bus), 1);
  expect_latency (h, 10 * GST_MSECOND);
  g_object_set (h->element, "taps", 1, NULL);
  tfx_firs_push (h, &info, in, 4800, 5280, 480);
  fail_unless_equals_int (count_latency_messages (bus), 0);
  expect_latency (h, 10 * GST_MSECOND);
  tfx_firs_push (h, &info, in, 4800, 3 * RATE, 480);
  fail_unless_equals_int (count_latency_messages (bus), 1);
  expect_latency (h, 0);

  g_object_set (h->element, "taps", 883, "align", FALSE, NULL);
  tfx_firs_push (h, &info, in, 4800, 3 * RATE + 4800, 480);
  fail_unless_equals_int (count_latency_messages (bus), 0);
  expect_latency (h, 0);
  g_free (in);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

static gboolean
answer_latency (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, TRUE, GST_MSECOND, 3 * GST_MSECOND);
  return TRUE;
}

/* It delays the latest as much as the earliest. */
GST_START_TEST (test_latency_query)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness ("tfxfir taps=97", &info);
  GstPad *pad = gst_element_get_static_pad (h->element, "src");
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min, max;
  gboolean live;

  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless_equals_uint64 (min, GST_MSECOND);
  fail_unless_equals_uint64 (max, GST_CLOCK_TIME_NONE);

  gst_pad_set_query_function (h->srcpad, answer_latency);
  fail_unless (gst_pad_query (pad, query));
  gst_query_parse_latency (query, &live, &min, &max);
  fail_unless (live);
  fail_unless_equals_uint64 (min, 2 * GST_MSECOND);
  fail_unless_equals_uint64 (max, 4 * GST_MSECOND);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- pipelines ------------------------------------------------------------------------- */

#define SOURCE                                                                 \
  "audiotestsrc wave=white-noise num-buffers=10 ! "                            \
  "audio/x-raw,format=F32LE,rate=48000,channels=2 ! "

/* The longest kernel delays by almost as many frames as there are. */
static const gchar *const chains[] = {
  "tfxfir",
  "tfxfir ! tfxfir taps=511 ! tfxbutterworth ! tfxfir mode=high-pass",
  "tfxfir taps=4001 ! queue ! tfxfir taps=20001",
  ("audioconvert ! audio/x-raw,layout=non-interleaved ! tfxfir ! "
   "audioconvert ! audio/x-raw,layout=interleaved"),
};

GST_START_TEST (test_pipelines)
{
  gchar *launch =
      g_strconcat (SOURCE, chains[__i__], " ! fakesink name=sink", NULL);
  TfxCaught caught;
  GstElement *pipeline = tfx_play_make (launch, &caught);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstPad *pad = gst_element_get_static_pad (sink, "sink");
  GstStreamConsistency *checker = gst_consistency_checker_new (pad);

  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  fail_unless_equals_int (caught.samples->len, 10 * 1024 * 2);
  fail_unless_equals_uint64 (caught.first_time, 0);
  fail_unless (caught.contiguous);
  gst_consistency_checker_free (checker);
  gst_object_unref (pad);
  gst_object_unref (sink);
  tfx_play_stop (pipeline);
  tfx_caught_clear (&caught);
  g_free (launch);
}
GST_END_TEST;

static Suite *
fir_breaks_suite (void)
{
  Suite *s = suite_create ("fir-breaks");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_breaks, 0, 2 * N_BREAKS);
  tcase_add_loop_test (tc, test_no_breaks, 0, 7);
  tcase_add_test (tc, test_wider_format);
  tcase_add_loop_test (tc, test_flush, 0, 4);
  tcase_add_test (tc, test_flush_keeps_tags);
  tcase_add_loop_test (tc, test_discont_is_kept, 0, 2);
  tcase_add_loop_test (tc, test_discont_is_told_once, 0, 2);
  tcase_add_loop_test (tc, test_discont_has_its_frame, 0, 2);
  tcase_add_test (tc, test_empty_buffer);
  tcase_add_test (tc, test_late_buffers);
  tcase_add_loop_test (tc, test_gap_flags, 0, 2);
  tcase_add_loop_test (tc, test_gap_event, 0, 2);
  tcase_add_test (tc, test_event_between_gaps);
  tcase_add_test (tc, test_gap_behind_unstamped);
  tcase_add_test (tc, test_latency);
  tcase_add_test (tc, test_latency_query);
  tcase_add_loop_test (tc, test_pipelines, 0, G_N_ELEMENTS (chains));
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, fir_breaks_suite ());
}
