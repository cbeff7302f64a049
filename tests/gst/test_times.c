/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_times.c: filter state across timestamps and segments, playback backwards, and
 * events held at the end of a stream.
 */
#include <gst/controller/controller.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "chains.h"

#define RATE 4000
/* Frames of a buffer: 10 ms. */
#define BLOCK (RATE / 100)

static const gchar *const launches[] = {
  "tfxbutterworth cutoff=100",
  "tfxchebyshev mode=high-pass cutoff=60 ripple=1 ! tfxbutterworth cutoff=900",
  "tfxchain chain=\"ParametricEQ(100,1,6)|Reverb()\"",
  "tfxfir taps=301 cutoff=400 method=direct",
  "tfxfir taps=301 cutoff=400 method=direct align=false",
  ("tfxbutterworth cutoff=900 ! tfxfir taps=101 cutoff=400 method=direct ! "
   "tfxchain chain=\"Limiter(-6,lookahead=0.02)\""),
};

#define N_LAUNCHES ((gint)G_N_ELEMENTS (launches))

/* Sanitizers need address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N_ENDS 1
#else
#define N_ENDS 2
#endif

/* ---- streams ------------------------------------------------------------------ */

static void
turn (gdouble *samples, gsize n_frames, gint n_channels)
{
  for (gsize i = 0, k = n_frames; i + 1 < k--; i++) {
    for (gint c = 0; c < n_channels; c++) {
      const gdouble sample = samples[i * n_channels + c];

      samples[i * n_channels + c] = samples[k * n_channels + c];
      samples[k * n_channels + c] = sample;
    }
  }
}

/* All output frames, which must be n, in playback order.  If `stop` is valid, the
 * stream plays backwards from there. */
static gdouble *
pull (GstHarness *h, const GstAudioInfo *info, gsize n, GstClockTime stop)
{
  const gboolean is_backwards = GST_CLOCK_TIME_IS_VALID (stop);
  const gsize size = info->channels * sizeof (gdouble);
  gdouble *all = g_malloc0 ((n + 1) * size);
  gsize n_all = 0, n_frames;
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    g_autofree gdouble *samples = tfx_check_samples (buffer, info, &n_frames);

    if (is_backwards) {
      const GstClockTime end =
          GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);

      fail_unless (ABS (GST_CLOCK_DIFF (stop, end)) <= 5,
          "%" GST_TIME_FORMAT " follows %" GST_TIME_FORMAT, GST_TIME_ARGS (end),
          GST_TIME_ARGS (stop));
      stop = GST_BUFFER_PTS (buffer);
      turn (samples, n_frames, info->channels);
    }
    fail_unless (n_all + n_frames <= n, "too many frames come out");
    memcpy ((guint8 *)all + n_all * size, samples, n_frames * size);
    n_all += n_frames;
    gst_buffer_unref (buffer);
  }
  fail_unless (n_all == n, "%u frames of %u come out", (guint)n_all, (guint)n);
  return all;
}

static GstClockTime
time_of (gsize frame)
{
  return gst_util_uint64_scale (frame, GST_SECOND, RATE);
}

/* How a stream is stamped and cut into segments. */
typedef struct
{
  const gchar *name;
  gdouble speed;      /* of the timestamps */
  gint jump_ms;       /* of the timestamps, once, at 1 s */
  gsize at;           /* the frame of another segment */
  gboolean is_again;  /* from 0 again, with the same running times */
  gboolean is_marked; /* the segment's first buffer is DISCONT: a reset */
  gdouble rate, applied_rate;
  gboolean is_unstamped; /* with a segment every `at` frames */
} Stream;

static void
begin_segment (GstHarness *h, const Stream *stream, gsize frame)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (stream->rate != 0.0) {
    segment.rate = stream->rate;
    segment.applied_rate = stream->applied_rate;
    segment.start = segment.time = segment.position = time_of (frame);
  }
  if (!stream->is_again)
    segment.base = time_of (frame);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

static void
push_block (GstHarness *h, const GstAudioInfo *info, const gdouble *in,
    gsize at, const Stream *stream)
{
  GstBuffer *buffer =
      tfx_check_stamped (info, in + at * info->channels, BLOCK, at);
  const gboolean is_first = stream->at > 0 && at == stream->at;

  GST_BUFFER_PTS (buffer) =
      (GstClockTime)(stream->speed * time_of (at)) +
      (at >= RATE ? stream->jump_ms * (gint64)GST_MSECOND : 0);
  if (stream->is_again && at >= stream->at)
    GST_BUFFER_PTS (buffer) = time_of (at - stream->at);
  if (is_first && stream->is_marked)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (stream->is_unstamped) {
    gst_buffer_unref (buffer);
    buffer = tfx_check_buffer (info, in + at * info->channels, BLOCK);
  }
  if (is_first || (stream->is_unstamped && at % stream->at == 0))
    begin_segment (h, stream, at);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static const Stream steady = { "steady", 1.0 };

static gdouble *
play (const gchar *launch, const GstAudioInfo *info, const gdouble *in, gsize n,
    const Stream *stream)
{
  g_autoptr (TfxHarness) h = tfx_check_harness (launch, info);

  for (gsize at = 0; at < n; at += BLOCK)
    push_block (h, info, in, at, stream);
  gst_harness_push_event (h, gst_event_new_eos ());
  return pull (h, info, n, GST_CLOCK_TIME_NONE);
}

/* `out` is what a filter that starts with n frames of `in` makes of them. */
static void
expect_filtered (const gdouble *out, const gchar *launch,
    const GstAudioInfo *info, const gdouble *in, gsize n, gdouble bound,
    const gchar *what)
{
  g_autofree gdouble *expected = play (launch, info, in, n, &steady);
  const gdouble distance =
      tfx_check_distance (out, expected, n * info->channels);

  fail_unless (distance <= bound, "%s, %s: off by %g", what, launch, distance);
}

/* ---- timestamps and segments ------------------------------------------------------ */

/* The samples are continuous in all of them, and so is the output. */
static const Stream streams[] = {
  /* A live source stalls once, or skips a little. */
  { "a stall", 1.0, 30 },
  { "a stall", 1.0, 60 },
  { "a stall", 1.0, 200 },
  { "a skip", 1.0, -200 },
  { "a stall", 1.0, 900 },
  /* The clock of the timestamps is faster or slower than that of the samples, up
   * to 44.1 kHz labelled 48 kHz, or stands still. */
  { "drift", 1.001 },
  { "drift", 1.02 },
  { "drift", 0.98 },
  { "drift", 48.0 / 44.1 },
  { "no clock", 0.0 },
  /* Like an update of the last segment.  The filter is reset at the first buffer
   * if that is marked; not later, and not without the flag. */
  { "from 0 again", 1.0, .at = RATE / 2, .is_again = TRUE },
  { "from 0 again, marked", 1.0, .at = RATE / 2, .is_again = TRUE,
      .is_marked = TRUE },
  /* A non-flushing seek, or scaletempo, changes the rate. */
  { "twice the rate", 1.0, .at = RATE, .rate = 2.0, .applied_rate = 1.0 },
  { "half the rate", 1.0, .at = RATE, .rate = 0.5, .applied_rate = 1.0 },
  { "applied rate", 1.0, .at = RATE, .rate = 1.0, .applied_rate = 1.5 },
  { "both rates", 1.0, .at = RATE, .rate = 1.5, .applied_rate = 2.0 },
  { "no timestamps", 1.0, .at = RATE / 2, .is_unstamped = TRUE },
};

GST_START_TEST (test_streams)
{
  const Stream *stream = &streams[__i__];
  const gsize n = 4 * RATE, reset = stream->is_marked ? stream->at : n;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 3);

  for (gint i = 0; i < N_LAUNCHES; i++) {
    g_autofree gdouble *out = play (launches[i], &info, in, n, stream);

    expect_filtered (out, launches[i], &info, in, reset, 0.0, stream->name);
    if (reset < n)
      expect_filtered (out + reset, launches[i], &info, in + reset, n - reset,
          0.0, stream->name);
  }
}
GST_END_TEST;

/* ---- backwards -------------------------------------------------------------------- */

static void
push_backwards (GstHarness *h, GstClockTime start, GstClockTime stop,
    gdouble rate, GstClockTime base)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = segment.time = start;
  segment.stop = segment.position = stop;
  segment.base = base;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

/* Pushes buffers from the last to the first, as demuxers and decoders do.  In the
 * middle the rate changes, or there is a gap. */
static gdouble *
play_backwards (GstHarness *h, const GstAudioInfo *info, const gdouble *in,
    gsize n, gsize n_gap, GstClockTime base)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (n);

  for (gsize to = n; to > 0;) {
    const gsize n_most = to > n / 2 ? to - n / 2 : to;
    const gsize n_rand = (gsize)g_rand_int_range (rand, 1, 300);
    gsize n_here = MIN (n_most, n_rand);
    GstBuffer *buffer;

    if (to == n / 2 && n_gap > 0) {
      to -= n_gap;
      gst_harness_push_event (h,
          gst_event_new_gap (time_of (to), time_of (n_gap)));
      n_here = MIN (n_here, to);
    } else if (to == n / 2) {
      push_backwards (h, 0, time_of (to), -2.0, base + time_of (n - to));
    }
    to -= n_here;
    buffer = tfx_check_stamped (info, in + to * info->channels, n_here, to);
    /* Decoders mark the first buffer of each group. */
    if (to + n_here == n || to % 3 == 0)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  return pull (h, info, n, time_of (n));
}

static const struct
{
  const gchar *name;
  GstAudioFormat format;
  GstAudioLayout layout;
  gsize n_gap;
  gboolean is_turn; /* forwards first */
} ways[] = {
  { "F32", GST_AUDIO_FORMAT_F32, GST_AUDIO_LAYOUT_INTERLEAVED },
  { "F64", GST_AUDIO_FORMAT_F64, GST_AUDIO_LAYOUT_INTERLEAVED },
  { "planar F32", GST_AUDIO_FORMAT_F32, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
  { "planar F64", GST_AUDIO_FORMAT_F64, GST_AUDIO_LAYOUT_NON_INTERLEAVED },
  { "a gap", GST_AUDIO_FORMAT_F32, GST_AUDIO_LAYOUT_INTERLEAVED, 3 * BLOCK },
  { "a turn", GST_AUDIO_FORMAT_F32, GST_AUDIO_LAYOUT_INTERLEAVED, 0, TRUE },
};

/* The output is the filter over the reversed input, and each frame has its time.  A
 * GAP is silence, too; a change of direction resets the filter. */
GST_START_TEST (test_backwards)
{
  const gsize n = 2 * RATE, n_gap = ways[__i__].n_gap;
  const GstClockTime base = ways[__i__].is_turn ? time_of (n) : 0;
  GstAudioInfo info = tfx_check_info (ways[__i__].format, RATE, 1 + __i__ % 4,
      ways[__i__].layout);
  const gint n_ch = info.channels;
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 7), *turned = NULL;
  /* Elements are not fused backwards: they round to float32 in between. */
  const gdouble bound =
      ways[__i__].format == GST_AUDIO_FORMAT_F64 ? 1e-12 : 2e-6;

  memset (in + (n / 2 - n_gap) * n_ch, 0, n_gap * n_ch * sizeof *in);
  turned = g_memdup2 (in, n * n_ch * sizeof *in);
  turn (turned, n, n_ch);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    g_autoptr (TfxHarness) h = tfx_check_harness (launches[i], &info);
    g_autofree gdouble *before = NULL, *out = NULL;

    for (gsize at = 0; ways[__i__].is_turn && at < n; at += BLOCK)
      push_block (h, &info, in, at, &steady);
    push_backwards (h, 0, time_of (n), -1.0, base);
    if (ways[__i__].is_turn) {
      before = pull (h, &info, n, GST_CLOCK_TIME_NONE);
      expect_filtered (before, launches[i], &info, in, n, 0.0, "before a turn");
    }
    out = play_backwards (h, &info, in, n, n_gap, base);
    expect_filtered (out, launches[i], &info, turned, n, bound,
        ways[__i__].name);
  }
}
GST_END_TEST;

/* A curve is read at the time of each frame, also with latency. */
GST_START_TEST (test_curve_backwards)
{
  static const gchar *const chains[] = { "g=Gain(1)",
    "g=Gain(1) | Limiter(6, lookahead=0.1)" };
  const gsize n = 2 * RATE;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness (chains[__i__], &info);
  g_autoptr (GObject) gain = tfx_chains_child (h->element, "g");
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *curve = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  g_autofree gdouble *in = tfx_check_constant (BLOCK, 1.0), *out = NULL;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (curve, 0, 0.0);
  gst_timed_value_control_source_set (curve, 2 * GST_SECOND, 1.0);
  gst_object_add_control_binding (GST_OBJECT (gain),
      gst_direct_control_binding_new_absolute (GST_OBJECT (gain), "gain",
          source));
  push_backwards (h, 0, time_of (n), -1.0, 0);
  for (gsize at = n; at > 0; at -= BLOCK)
    gst_harness_push (h, tfx_check_stamped (&info, in, BLOCK, at - BLOCK));
  gst_harness_push_event (h, gst_event_new_eos ());
  out = pull (h, &info, n, time_of (n));
  for (gsize i = 0; i < n; i++)
    fail_unless (fabs (out[i] - (gdouble)(n - i) / n) < 1e-3,
        "%g at frame %u of %u", out[i], (guint)i, (guint)n);
}
GST_END_TEST;

/* ---- held events ---------------------------------------------------------- */

#define N_LATE 100000

static GstPadProbeReturn
refuse (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gst_clear_buffer ((GstBuffer **)&info->data);
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_EOS;
  return GST_PAD_PROBE_HANDLED;
}

static void
push_caps (GstHarness *h, const GstAudioInfo *info)
{
  g_autoptr (GstCaps) caps = gst_audio_info_to_caps (info);

  gst_harness_push_event (h, gst_event_new_caps (caps));
}

/* Names of the output events, in order. */
static void
expect_names (GstHarness *h, const gchar *expected)
{
  g_autoptr (GString) names = g_string_new (NULL);
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h))) {
    g_string_append_printf (names, "%s ", GST_EVENT_TYPE_NAME (event));
    gst_event_unref (event);
  }
  fail_unless (!expected || g_str_equal (names->str, expected), "%s, not %s",
      names->str, expected);
}

/* Downstream returns EOS, and another stream follows: all of its events are output,
 * however many frames are held before them. */
GST_START_TEST (test_held_events)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gchar *launch =
      g_strdup_printf ("tfxfir device=cpu taps=%d method=fft", 2 * N_LATE + 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (launch, &info);
  const gsize n = 3 * N_LATE / 2;
  g_autofree gdouble *in = tfx_check_noise (n, 10);

  gst_harness_push (h, tfx_check_stamped (&info, in, n, 0));
  expect_names (h, NULL);
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse, NULL, NULL);
  gst_harness_push_event (h, gst_event_new_stream_start ("two"));
  tfx_check_push_segment (h, 0, GST_CLOCK_TIME_NONE, time_of (n));
  gst_harness_push_event (h,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "two", NULL)));
  info = tfx_check_f32 (2 * RATE, 1);
  if (__i__)
    push_caps (h, &info);
  else
    gst_harness_push_event (h, gst_event_new_eos ());
  expect_names (h, __i__ ? "stream-start segment tag caps "
                         : "stream-start segment tag eos ");
}
GST_END_TEST;

/* The next stream of a gapless playlist has another format: STREAM_START precedes the
 * caps, SEGMENT follows the held frames. */
GST_START_TEST (test_caps_behind_start)
{
  const gsize n = RATE / 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir taps=401", &info);
  g_autofree gdouble *in = tfx_check_noise (2 * n, 11);

  gst_harness_push (h, tfx_check_stamped (&info, in, n, 0));
  expect_names (h, NULL);
  gst_harness_push_event (h,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "one", NULL)));
  gst_harness_push_event (h, gst_event_new_stream_start ("two"));
  info = tfx_check_f64 (RATE, 1);
  push_caps (h, &info);
  tfx_check_push_segment (h, 0, GST_CLOCK_TIME_NONE, time_of (n));
  expect_names (h, "tag stream-start caps ");
  gst_harness_push (h, tfx_check_stamped (&info, in + n, n, 0));
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_names (h, "segment eos ");
}
GST_END_TEST;

/* A GAP keeps its seqnum, in parts too. */
GST_START_TEST (test_gap_seqnum)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness (__i__ ? "tfxfir taps=101"
                               : "tfxbutterworth cutoff=1000",
          &info);
  g_autofree gdouble *in = tfx_check_noise (BLOCK, 12);
  GstEvent *gap = gst_event_new_gap (time_of (BLOCK), 10 * GST_SECOND), *event;
  const guint32 seqnum = gst_event_get_seqnum (gap);
  guint n_gaps = 0;

  gst_harness_push (h, tfx_check_stamped (&info, in, BLOCK, 0));
  gst_harness_push_event (h, gap);
  while ((event = gst_harness_try_pull_event (h))) {
    if (GST_EVENT_TYPE (event) == GST_EVENT_GAP) {
      fail_unless_equals_int (gst_event_get_seqnum (event), seqnum);
      n_gaps++;
    }
    gst_event_unref (event);
  }
  fail_unless (n_gaps > 0);
}
GST_END_TEST;

/* Many channels are drained in buffers of at most 1 MiB; if memory is short, with an
 * error message. */
GST_START_TEST (test_end_of_many_channels)
{
  const gint n_ch = 512;
  const gsize n = 2048;
  GstAudioInfo info = tfx_check_f32 (RATE, n_ch);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxfir device=cpu taps=2049 method=fft", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 13);
  GstMessage *message;
  GstBuffer *buffer;
  struct rlimit before, limit;

  gst_buffer_unref (tfx_check_push (h, tfx_check_stamped (&info, in, n, 0)));
  fail_unless (getrlimit (RLIMIT_AS, &before) == 0);
  limit = before;
  if (__i__) {
    /* Less than 1 MiB more. */
    gchar *statm = NULL;

    fail_unless (g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL));
    limit.rlim_cur =
        strtoul (statm, NULL, 10) * (rlim_t)sysconf (_SC_PAGESIZE) +
        (600 << 10);
    g_free (statm);
  }
  fail_unless (setrlimit (RLIMIT_AS, &limit) == 0);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless (setrlimit (RLIMIT_AS, &before) == 0);
  while ((buffer = gst_harness_try_pull (h))) {
    fail_unless (gst_buffer_get_size (buffer) <= 1 << 20);
    gst_buffer_unref (buffer);
  }
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless ((message != NULL) == __i__);
  gst_clear_message (&message);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("times");

  tcase_add_loop_test (tc, test_streams, 0, G_N_ELEMENTS (streams));
  tcase_add_loop_test (tc, test_backwards, 0, G_N_ELEMENTS (ways));
  tcase_add_loop_test (tc, test_curve_backwards, 0, 2);
  tcase_add_loop_test (tc, test_held_events, 0, 2);
  tcase_add_test (tc, test_caps_behind_start);
  tcase_add_loop_test (tc, test_gap_seqnum, 0, 2);
  tcase_add_loop_test (tc, test_end_of_many_channels, 0, N_ENDS);
  return tfx_check_run (argc, argv, tc);
}
