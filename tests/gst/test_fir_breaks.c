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
  g_autoptr (GstPad) pad = gst_element_get_static_pad (h->element, "src");

  *order = (Order){ type, bpf };
  gst_pad_add_probe (pad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_order, order, NULL);
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
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_autofree gdouble *in = tfx_check_noise (N * 3, 11);
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
    g_autofree gdouble *expected = tfx_firs_plain (101, in, N, now);

    tfx_firs_collect_until (caught, h, now, N);
    tfx_firs_expect_whole (caught, N, i ? from : FROM, now->rate);
    fail_unless_equals_int (caught->discont, i && what == DISCONT);
    tfx_firs_expect_db (caught, expected, F32_DB, i ? "second" : "first");
    tfx_firs_forget (caught);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
}
GST_END_TEST;

/* Noise through a filter, and what comes out. */
typedef struct
{
  GstAudioInfo info;
  GstHarness *h;
  TfxCatch *caught;
  gdouble *in;
  guint64 n; /* frames that have gone in */
} Stream;

static Stream
open_stream (const gchar *launch, GstAudioInfo info)
{
  return (Stream){ info, tfx_check_harness (launch, &info),
    tfx_firs_catch_new (), tfx_check_noise (60 * N * info.channels, 11), 0 };
}

static void
close_stream (Stream *s)
{
  tfx_check_close (s->h);
  tfx_firs_catch_free (s->caught);
  g_free (s->in);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, close_stream)

static void
push (Stream *s, gsize n, gsize most)
{
  tfx_firs_push (s->h, &s->info, s->in + s->n * s->info.channels, n, s->n,
      most);
  s->n += n;
}

/* A buffer with flags. */
static void
push_flagged (Stream *s, gsize n, GstBufferFlags flags)
{
  GstBuffer *buffer =
      tfx_check_stamped (&s->info, s->in + s->n * s->info.channels, n, s->n);

  GST_BUFFER_FLAG_SET (buffer, flags);
  gst_harness_push (s->h, buffer);
  s->n += n;
}

/* All that has gone in comes out. */
static void
finish (Stream *s)
{
  tfx_firs_finish (s->caught, s->h, &s->info);
  tfx_firs_expect_whole (s->caught, s->n, 0, s->info.rate);
}

/* What is no break: nothing comes before its time, and nothing starts afresh.  From F32
 * to F64 it is filtered in double, but for the 10 ms in which that takes over. */
GST_START_TEST (test_no_breaks)
{
  const gboolean wider = __i__ == 7;
  const gsize settled = wider ? N - DELAY + RATE / 100 : 0;
  g_auto (Stream) s = open_stream (LAUNCH,
      wider ? tfx_check_f32 (RATE, 2) : tfx_check_f64 (RATE, 2));
  g_autofree gdouble *expected = tfx_firs_plain (101, s.in, 2 * N, &s.info);
  const gdouble *out;
  GstSegment segment;

  push (&s, N, 480);
  tfx_firs_collect (s.caught, s.h, &s.info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  switch (__i__) {
    case 0:
      segment.position = 5;
      gst_harness_push_event (s.h, gst_event_new_segment (&segment));
      break;
    case 1:
      break;
    case 2:
      s.info.layout = GST_AUDIO_LAYOUT_NON_INTERLEAVED;
      break;
    case 3:
      s.info = tfx_check_f32 (RATE, 2);
      break;
    case 4:
      gst_harness_push_event (s.h,
          gst_event_new_tag (gst_tag_list_new_empty ()));
      break;
    case 5:
      /* the next of a row of segments */
      segment.start = segment.time = segment.base =
          gst_util_uint64_scale (N, GST_SECOND, RATE);
      gst_harness_push_event (s.h, gst_event_new_segment (&segment));
      break;
    case 6:
      /* as when something upstream is linked anew */
      gst_harness_push_event (s.h,
          gst_pad_get_sticky_event (s.h->srcpad, GST_EVENT_STREAM_START, 0));
      break;
    default:
      s.info = tfx_check_f64 (RATE, 2);
  }
  if ((__i__ >= 1 && __i__ <= 3) || wider)
    tfx_check_set_info (s.h, &s.info);
  fail_unless_equals_int (gst_harness_buffers_in_queue (s.h), 0);
  push (&s, N, 480);
  finish (&s);
  out = tfx_firs_samples (s.caught);
  if (wider)
    fail_unless (tfx_firs_error_db (out, expected, settled * 2) < F32_DB);
  fail_unless (tfx_firs_error_db (out + settled * 2, expected + settled * 2,
                   (2 * N - settled) * 2) < (__i__ == 3 ? F32_DB : -240.0));
}
GST_END_TEST;

/* After a flush, or a new start, nothing of the past is heard. */
GST_START_TEST (test_flush)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f32 (RATE, 2));
  g_autofree gdouble *expected = tfx_firs_plain (101, s.in, N, &s.info);
  /* A flush may come while the very first frames are held back. */
  gsize n_first = __i__ & 1 ? 20 : N;
  GstSegment segment;

  push (&s, n_first, 480);
  if (__i__ & 2) {
    gst_element_set_state (s.h->element, GST_STATE_READY);
    gst_element_set_state (s.h->element, GST_STATE_PLAYING);
    gst_harness_push_event (s.h, gst_event_new_stream_start ("again"));
    tfx_check_set_info (s.h, &s.info);
  } else {
    gst_harness_push_event (s.h, gst_event_new_flush_start ());
    gst_harness_push_event (s.h, gst_event_new_flush_stop (TRUE));
  }
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = GST_SECOND;
  gst_harness_push_event (s.h, gst_event_new_segment (&segment));
  tfx_firs_collect (s.caught, s.h, &s.info);
  fail_unless_equals_uint64 (s.caught->n_frames,
      n_first > DELAY ? n_first - DELAY : 0);

  tfx_firs_forget (s.caught);
  tfx_firs_push (s.h, &s.info, s.in, N, RATE, 480);
  tfx_firs_finish (s.caught, s.h, &s.info);
  tfx_firs_expect_whole (s.caught, N, RATE, RATE);
  tfx_firs_expect_db (s.caught, expected, F32_DB, "after the flush");
}
GST_END_TEST;

/* A tag behind frames that are held is kept over a flush; what else waits there is
 * of the stream that is gone. */
GST_START_TEST (test_flush_keeps_tags)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f32 (RATE, 2));
  g_autoptr (GString) seen = g_string_new (NULL);
  GstSegment segment;
  GstEvent *event;

  push (&s, 200, 200);
  while ((event = gst_harness_try_pull_event (s.h)))
    gst_event_unref (event);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (s.h, gst_event_new_segment (&segment));
  gst_harness_push_event (s.h, gst_event_new_tag (gst_tag_list_new_empty ()));
  gst_harness_push_event (s.h,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new_empty ("tfx-test")));
  fail_unless (gst_harness_try_pull_event (s.h) == NULL);
  gst_harness_push_event (s.h, gst_event_new_flush_start ());
  gst_harness_push_event (s.h, gst_event_new_flush_stop (TRUE));
  while ((event = gst_harness_try_pull_event (s.h))) {
    g_string_append_printf (seen, "%s ", GST_EVENT_TYPE_NAME (event));
    gst_event_unref (event);
  }
  fail_unless_equals_string (seen->str, "flush-start flush-stop tag ");
}
GST_END_TEST;

/* Small buffers, the first of them marked: it is one discontinuity, though
 * nothing goes out for a while, and the first that does is marked. */
GST_START_TEST (test_discont_is_kept)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f32 (RATE, 1));

  push_flagged (&s, 10, GST_BUFFER_FLAG_DISCONT);
  push (&s, __i__ ? N - 10 : 30, 10);
  finish (&s);
  fail_unless (s.caught->discont);
}
GST_END_TEST;

/* A jump in the times is told of once, also if the filter becomes late afterwards. */
GST_START_TEST (test_discont_is_told_once)
{
  g_auto (Stream) s =
      open_stream (__i__ ? LAUNCH : "tfxfir taps=1", tfx_check_f32 (RATE, 1));
  GstBuffer *buffer = tfx_check_stamped (&s.info, s.in, N, 10 * N);
  guint n_marked = 0;

  push (&s, N, N);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer);
  gst_harness_push (s.h, buffer);
  g_object_set (s.h->element, "taps", 101, NULL);
  s.n = 11 * N;
  push (&s, 3 * N, N);
  while ((buffer = gst_harness_try_pull (s.h))) {
    if (GST_BUFFER_PTS (buffer) > 0 && GST_BUFFER_IS_DISCONT (buffer))
      n_marked++;
    /* What is late has other times than what came in its buffer. */
    fail_if (__i__ && GST_BUFFER_DTS_IS_VALID (buffer));
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (n_marked, 1);
}
GST_END_TEST;

/* Where the times go on, as behind what a decoder made up for a lost packet, or where
 * concat begins another stream, the mark goes out with its frame too. */
GST_START_TEST (test_discont_has_its_frame)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f32 (RATE, 1));
  const gsize n = __i__ ? N : 10;
  guint n_marked = 0;
  GstBuffer *buffer;

  push (&s, 5 * n, n);
  push_flagged (&s, n, GST_BUFFER_FLAG_DISCONT);
  push (&s, 14 * n, n);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (s.h))) {
    if (GST_BUFFER_IS_DISCONT (buffer)) {
      fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), 5 * n);
      n_marked++;
    }
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (n_marked, 1);
}
GST_END_TEST;

/* A buffer of no frames goes by between those that are held. */
GST_START_TEST (test_empty_buffer)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f32 (RATE, 1));
  GstClockTime next = 0;
  GstBuffer *buffer;

  push (&s, N, N);
  gst_harness_push (s.h, tfx_check_stamped (&s.info, s.in, 0, N));
  push (&s, N, N);
  while ((buffer = gst_harness_try_pull (s.h))) {
    fail_unless (ABS (GST_CLOCK_DIFF (next, GST_BUFFER_PTS (buffer))) <= 1,
        "%" GST_TIME_FORMAT " in place of %" GST_TIME_FORMAT,
        GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), GST_TIME_ARGS (next));
    next = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
    gst_buffer_unref (buffer);
  }
}
GST_END_TEST;

/* Buffers that come late are late, and not lost: what is held needs them. */
GST_START_TEST (test_late_buffers)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f32 (RATE, 1));

  push (&s, N, 480);
  gst_harness_push_upstream_event (s.h,
      gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.0, 0, GST_SECOND));
  push (&s, N, 30);
  finish (&s);
}
GST_END_TEST;

/* ---- gaps ---------------------------------------------------------------------------- */

/* Silence that is marked as a gap, music, silence: the same samples as without
 * the marks, as many, at the same times; marks where all is silent. */
GST_START_TEST (test_gap_flags)
{
  const gsize block = __i__ & 1 ? 30 : 480, n = 40 * 480;
  const gsize begin = 10 * 480, end = 20 * 480;
  g_auto (Stream) s =
      open_stream ("tfxfir taps=201 method=direct", tfx_check_f64 (RATE, 1));
  g_autofree gdouble *expected = NULL;
  GstBuffer *buffer;

  memset (s.in, 0, begin * sizeof *s.in);
  memset (s.in + end, 0, (n - end) * sizeof *s.in);
  expected = tfx_firs_plain (201, s.in, n, &s.info);
  for (gsize i = 0; i < n; i += block) {
    push_flagged (&s, block,
        i < begin || i >= end ? GST_BUFFER_FLAG_GAP : (GstBufferFlags)0);
    buffer = gst_harness_try_pull (s.h);
    if (!buffer) {
      fail_unless (i < 100);
      continue;
    }
    /* The last of the music leaves the kernel after 200 frames more. */
    fail_unless_equals_int (GST_BUFFER_FLAG_IS_SET (buffer,
                                GST_BUFFER_FLAG_GAP) != 0,
        i < begin || i >= end + 200);
    tfx_firs_take (s.caught, buffer, &s.info);
  }
  finish (&s);
  tfx_firs_expect_near (s.caught, expected, 1e-14, "with gaps");
}
GST_END_TEST;

/* A GAP event is silence of its length: what rings, and what was held, comes in
 * its place, at its time.  The gap is long, or shorter than the delay. */
GST_START_TEST (test_gap_event)
{
  const gsize gap = __i__ ? 40 : RATE, n = 2 * N + gap;
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f64 (RATE, 1));
  g_autofree gdouble *out = g_new0 (gdouble, n), *expected = NULL;
  GstClockTime begin = gst_util_uint64_scale (N, GST_SECOND, RATE);
  GstClockTime end = gst_util_uint64_scale (N + gap, GST_SECOND, RATE);
  gsize n_frames = 0;
  GstBuffer *buffer;

  memset (s.in + N, 0, gap * sizeof *s.in);
  expected = tfx_firs_plain (101, s.in, n, &s.info);
  push (&s, N, 480);
  gst_harness_push_event (s.h, gst_event_new_gap (begin, end - begin));
  s.n += gap;
  push (&s, N, 480);
  gst_harness_push_event (s.h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (s.h))) {
    gsize from =
        gst_util_uint64_scale_round (GST_BUFFER_PTS (buffer), RATE, GST_SECOND);
    gsize n_here;
    g_autofree gdouble *samples = tfx_check_samples (buffer, &s.info, &n_here);

    fail_unless (from >= n_frames && from + n_here <= n,
        "%u frames from %u on after %u", (guint)n_here, (guint)from,
        (guint)n_frames);
    /* What is left out is silence. */
    for (gsize i = n_frames; i < from; i++)
      fail_unless (fabs (expected[i]) < 1e-14);
    memcpy (out + from, samples, n_here * sizeof *out);
    n_frames = from + n_here;
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (n_frames, n);
  fail_unless (tfx_check_distance (out, expected, n) < 1e-14);
}
GST_END_TEST;

/* An event between two gaps that nobody hears comes out between them, at its time, and
 * what comes behind it too. */
GST_START_TEST (test_event_between_gaps)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f64 (RATE, 1));
  const GstClockTime from = gst_util_uint64_scale (N, GST_SECOND, RATE);
  GstClockTime end = 0, start, duration;
  guint n_custom = 0, n_behind = 0;
  GstEvent *event;

  push (&s, N, 480);
  gst_harness_push_event (s.h, gst_event_new_gap (from, GST_SECOND));
  for (guint i = 0; i < 2; i++) {
    gst_harness_push_event (s.h,
        gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
            gst_structure_new_empty ("between")));
    gst_harness_push_event (s.h,
        gst_event_new_gap (from + (i + 1) * GST_SECOND, GST_SECOND));
  }
  while ((event = gst_harness_try_pull_event (s.h))) {
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
}
GST_END_TEST;

/* Silence without a time is held where a gap begins: it goes out as it came, and the
 * rest of the gap as one. */
GST_START_TEST (test_gap_behind_unstamped)
{
  g_auto (Stream) s = open_stream (LAUNCH, tfx_check_f64 (RATE, 1));
  const gdouble silence[N] = { 0.0 };
  GstClockTime duration = 0;
  gsize n_frames;
  GstEvent *event;

  gst_harness_push (s.h, tfx_check_buffer (&s.info, silence, N));
  gst_harness_push_event (s.h, gst_event_new_gap (GST_SECOND, GST_SECOND));
  tfx_firs_collect (s.caught, s.h, &s.info);
  n_frames = s.caught->n_frames;
  while ((event = gst_harness_try_pull_event (s.h))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
      gst_event_parse_gap (event, NULL, &duration);
      n_frames += gst_util_uint64_scale_round (duration, RATE, GST_SECOND);
    }
    gst_event_unref (event);
  }
  fail_unless (duration > GST_SECOND / 2);
  fail_unless_equals_uint64 (n_frames, N + RATE - DELAY);
}
GST_END_TEST;

/* ---- latency --------------------------------------------------------------------------- */

/* So many messages have come that the latency has changed, to this beside that of
 * what is upstream. */
static void
expect_latency (GstHarness *h, GstBus *bus, gint n_messages,
    GstClockTime latency)
{
  GstMessage *message;
  gint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY))) {
    gst_message_unref (message);
    n++;
  }
  fail_unless_equals_int (n, n_messages);
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      7 * GST_MSECOND + latency);
}

/* What the element adds, and that it tells when that changes. */
GST_START_TEST (test_latency)
{
  static const struct
  {
    gint taps;
    gboolean align;
    gsize from, n; /* frames that are pushed then */
    gint n_messages;
    GstClockTime latency;
  } steps[] = {
    { 97, TRUE, 0, 480, 0, 1088436 },
    /* more: told; less: the stream keeps it until it starts again */
    { 883, TRUE, 480, 4800, 1, 10 * GST_MSECOND },
    { 1, TRUE, 5280, 4800, 0, 10 * GST_MSECOND },
    { 1, TRUE, 3 * RATE, 4800, 1, 0 },
    { 883, FALSE, 3 * RATE + 4800, 4800, 0, 0 },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxfir");
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (4800, 12);

  gst_harness_set_upstream_latency (h, 7 * GST_MSECOND);
  g_object_set (h->element, "taps", 97, NULL);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  tfx_check_set_info (h, &info);
  expect_latency (h, bus, 1, GST_MSECOND);
  info = tfx_check_f32 (44100, 1);
  tfx_check_set_info (h, &info);
  expect_latency (h, bus, 1, 1088436); /* 48 / 44100 s, rounded up */
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_object_set (h->element, "taps", steps[i].taps, "align", steps[i].align,
        NULL);
    tfx_firs_push (h, &info, in, steps[i].n, steps[i].from, 480);
    expect_latency (h, bus, steps[i].n_messages, steps[i].latency);
  }
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
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir taps=97", &info);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (h->element, "src");
  g_autoptr (GstQuery) query = gst_query_new_latency ();
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
  g_autofree gchar *launch =
      g_strconcat (SOURCE, chains[__i__], " ! fakesink name=sink", NULL);
  TfxCaught caught;
  GstElement *pipeline = tfx_play_make (launch, &caught);
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  GstStreamConsistency *checker = gst_consistency_checker_new (pad);

  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  fail_unless_equals_int (caught.samples->len, 10 * 1024 * 2);
  fail_unless_equals_uint64 (caught.first_time, 0);
  fail_unless (caught.contiguous);
  gst_consistency_checker_free (checker);
  tfx_play_stop (pipeline);
  tfx_caught_clear (&caught);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fir_breaks");

  tcase_add_loop_test (tc, test_breaks, 0, 2 * N_BREAKS);
  tcase_add_loop_test (tc, test_no_breaks, 0, 8);
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
  return tfx_check_run (argc, argv, tc);
}
