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

static gdouble *
end (GstHarness *h, const GstAudioInfo *info, gsize n)
{
  gdouble *out;

  gst_harness_push_event (h, gst_event_new_eos ());
  out = pull (h, info, n, GST_CLOCK_TIME_NONE);
  gst_harness_teardown (h);
  return out;
}

static void
push_at (GstHarness *h, const GstAudioInfo *info, const gdouble *in, gsize at,
    GstClockTime pts, gboolean is_marked)
{
  GstBuffer *buffer =
      tfx_check_stamped (info, in + at * info->channels, BLOCK, at);

  GST_BUFFER_PTS (buffer) = pts;
  if (is_marked)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static GstClockTime
time_of (gsize frame)
{
  return gst_util_uint64_scale (frame, GST_SECOND, RATE);
}

/* ---- timestamps ----------------------------------------------------------------- */

/* The timestamps run at `speed`, and jump once at 1 s. */
static gdouble *
play_stamped (const gchar *launch, const GstAudioInfo *info, const gdouble *in,
    gsize n, gdouble speed, gint jump_ms)
{
  GstHarness *h = tfx_check_harness (launch, info);

  for (gsize at = 0; at < n; at += BLOCK)
    push_at (h, info, in, at,
        (GstClockTime)(speed * time_of (at)) +
            (at >= RATE ? jump_ms * (gint64)GST_MSECOND : 0),
        FALSE);
  return end (h, info, n);
}

static void
expect_unbroken (gdouble speed, gint jump_ms)
{
  const gsize n = 4 * RATE;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 3);

  for (gint i = 0; i < N_LAUNCHES; i++) {
    g_autofree gdouble *out =
        play_stamped (launches[i], &info, in, n, speed, jump_ms);
    g_autofree gdouble *expected =
        play_stamped (launches[i], &info, in, n, 1.0, 0);

    fail_unless (tfx_check_distance (out, expected, n) == 0.0,
        "%s starts afresh", launches[i]);
  }
}

/* A live source stalls once, or skips a little, while its samples are continuous: so
 * is the output. */
GST_START_TEST (test_stall)
{
  static const gint jumps_ms[] = { 30, 60, 200, -200, 900 };

  expect_unbroken (1.0, jumps_ms[__i__]);
}
GST_END_TEST;

/* The clock of the timestamps is faster or slower than that of the samples, up to
 * 44.1 kHz labelled 48 kHz, or stands still. */
GST_START_TEST (test_drift)
{
  static const gdouble speeds[] = { 1.001, 1.02, 0.98, 48.0 / 44.1, 0.0 };

  expect_unbroken (speeds[__i__], 0);
}
GST_END_TEST;

/* ---- segments -------------------------------------------------------------------- */

/* A segment starts at 0 again, with the same running times, like an update of the last
 * one.  The filter is reset at the first buffer if that is marked DISCONT; not later,
 * and not without the flag. */
GST_START_TEST (test_segment_from_zero)
{
  const gsize n = 3 * RATE, at = RATE / 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 4);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    GstHarness *h = tfx_check_harness (launches[i], &info);
    g_autofree gdouble *out = NULL;
    gdouble *expected;

    for (gsize k = 0; k < n; k += BLOCK) {
      if (k == at)
        gst_harness_push_event (h, gst_event_new_segment (&segment));
      push_at (h, &info, in, k, time_of (k < at ? k : k - at),
          k == at && __i__);
    }
    out = end (h, &info, n);
    expected = play_stamped (launches[i], &info, in, __i__ ? at : n, 1.0, 0);
    fail_unless (tfx_check_distance (out, expected, __i__ ? at : n) == 0.0,
        "%s", launches[i]);
    g_free (expected);
    if (__i__) {
      expected = play_stamped (launches[i], &info, in + at, n - at, 1.0, 0);
      fail_unless (tfx_check_distance (out + at, expected, n - at) == 0.0,
          "%s does not start afresh", launches[i]);
      g_free (expected);
    }
  }
}
GST_END_TEST;

/* A non-flushing seek, or scaletempo, changes the rate while the samples are
 * continuous. */
GST_START_TEST (test_other_rate)
{
  static const struct
  {
    gdouble rate, applied_rate;
  } cases[] = { { 2.0, 1.0 }, { 0.5, 1.0 }, { 1.0, 1.5 }, { 1.5, 2.0 } };
  const gsize n = 2 * RATE, at = RATE;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 5);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.base = segment.position = GST_SECOND;
  segment.rate = cases[__i__].rate;
  segment.applied_rate = cases[__i__].applied_rate;
  for (gint i = 0; i < N_LAUNCHES; i++) {
    GstHarness *h = tfx_check_harness (launches[i], &info);
    g_autofree gdouble *out = NULL, *expected = NULL;

    for (gsize k = 0; k < n; k += BLOCK) {
      if (k == at)
        gst_harness_push_event (h, gst_event_new_segment (&segment));
      push_at (h, &info, in, k, time_of (k), FALSE);
    }
    out = end (h, &info, n);
    expected = play_stamped (launches[i], &info, in, n, 1.0, 0);
    fail_unless (tfx_check_distance (out, expected, n) == 0.0,
        "%s starts afresh", launches[i]);
  }
}
GST_END_TEST;

/* Contiguous segments of buffers without timestamps. */
GST_START_TEST (test_unstamped_segments)
{
  const gsize n = 3 * RATE, length = RATE / 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 6);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    GstHarness *h = tfx_check_harness (launches[i], &info);
    g_autofree gdouble *out = NULL, *expected = NULL;

    for (gsize k = 0; k < n; k += BLOCK) {
      segment.base = time_of (k);
      if (k % length == 0)
        gst_harness_push_event (h, gst_event_new_segment (&segment));
      gst_harness_push (h, tfx_check_buffer (&info, in + k, BLOCK));
    }
    out = end (h, &info, n);
    expected = play_stamped (launches[i], &info, in, n, 1.0, 0);
    fail_unless (tfx_check_distance (out, expected, n) == 0.0,
        "%s starts afresh", launches[i]);
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

/* Pushes buffers from the last to the first, as demuxers and decoders do; the rate
 * changes in the middle. */
static gdouble *
play_backwards (const gchar *launch, const GstAudioInfo *info,
    const gdouble *in, gsize n)
{
  GstHarness *h = tfx_check_harness (launch, info);
  GRand *rand = g_rand_new_with_seed (n);
  gdouble *out;

  push_backwards (h, 0, time_of (n), -1.0, 0);
  for (gsize to = n; to > 0;) {
    const gsize n_most = to > n / 2 ? to - n / 2 : to;
    const gsize n_rand = (gsize)g_rand_int_range (rand, 1, 300);
    const gsize n_here = MIN (n_most, n_rand);
    GstBuffer *buffer;

    if (to == n / 2)
      push_backwards (h, 0, time_of (to), -2.0, time_of (n - to));
    to -= n_here;
    buffer = tfx_check_stamped (info, in + to * info->channels, n_here, to);
    /* Decoders mark the first buffer of each group. */
    if (to + n_here == n || to % 3 == 0)
      GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  g_rand_free (rand);
  gst_harness_push_event (h, gst_event_new_eos ());
  out = pull (h, info, n, time_of (n));
  gst_harness_teardown (h);
  return out;
}

/* The output is the filter over the reversed input, and each frame has its time. */
GST_START_TEST (test_backwards)
{
  const gsize n = 2 * RATE;
  GstAudioInfo info =
      tfx_check_info (__i__ % 2 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
          RATE, 1 + __i__,
          __i__ / 2 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                    : GST_AUDIO_LAYOUT_INTERLEAVED);
  const gint n_ch = info.channels;
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 7);
  g_autofree gdouble *turned = g_memdup2 (in, n * n_ch * sizeof *in);

  turn (turned, n, n_ch);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    g_autofree gdouble *out = play_backwards (launches[i], &info, in, n);
    g_autofree gdouble *expected =
        play_stamped (launches[i], &info, turned, n, 1.0, 0);
    /* Elements are not fused backwards: they round to float32 in between. */
    const gdouble bound = __i__ % 2 ? 1e-12 : 2e-6;

    fail_unless (tfx_check_distance (out, expected, n * n_ch) <= bound,
        "%s: %g", launches[i], tfx_check_distance (out, expected, n * n_ch));
  }
}
GST_END_TEST;

/* A change of direction resets the filter. */
GST_START_TEST (test_turn)
{
  const gsize n = RATE;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 8);
  g_autofree gdouble *turned = g_memdup2 (in, n * sizeof *in);

  turn (turned, n, 1);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    g_autoptr (TfxHarness) h = tfx_check_harness (launches[i], &info);
    gdouble *out, *expected;

    for (gsize at = 0; at < n; at += BLOCK)
      push_at (h, &info, in, at, time_of (at), FALSE);
    push_backwards (h, 0, time_of (n), -1.0, time_of (n));
    out = pull (h, &info, n, GST_CLOCK_TIME_NONE);
    expected = play_stamped (launches[i], &info, in, n, 1.0, 0);
    fail_unless (tfx_check_distance (out, expected, n) == 0.0, "%s",
        launches[i]);
    g_free (out);
    g_free (expected);
    for (gsize at = n; at > 0; at -= BLOCK)
      push_at (h, &info, in, at - BLOCK, time_of (at - BLOCK), FALSE);
    gst_harness_push_event (h, gst_event_new_eos ());
    out = pull (h, &info, n, time_of (n));
    expected = play_stamped (launches[i], &info, turned, n, 1.0, 0);
    /* Elements are not fused backwards: they round to float32 in between. */
    fail_unless (tfx_check_distance (out, expected, n) <= 2e-6,
        "%s is not reset", launches[i]);
    g_free (out);
    g_free (expected);
  }
}
GST_END_TEST;

/* A GAP is silence backwards, too. */
GST_START_TEST (test_gap_backwards)
{
  const gsize n = RATE, gap = 3 * BLOCK, at = n / 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 9), *turned = NULL;

  memset (in + at - gap, 0, gap * sizeof *in);
  turned = g_memdup2 (in, n * sizeof *in);
  turn (turned, n, 1);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    g_autoptr (TfxHarness) h = tfx_check_harness (launches[i], &info);
    g_autofree gdouble *out = NULL, *expected = NULL;

    push_backwards (h, 0, time_of (n), -1.0, 0);
    for (gsize to = n; to > 0; to -= BLOCK) {
      if (to > at || to <= at - gap)
        push_at (h, &info, in, to - BLOCK, time_of (to - BLOCK), FALSE);
      else if (to == at)
        gst_harness_push_event (h,
            gst_event_new_gap (time_of (at - gap), time_of (gap)));
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    out = pull (h, &info, n, time_of (n));
    expected = play_stamped (launches[i], &info, turned, n, 1.0, 0);
    fail_unless (tfx_check_distance (out, expected, n) <= 2e-6, "%s: %g",
        launches[i], tfx_check_distance (out, expected, n));
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
  GObject *gain = tfx_chains_child (h->element, "g");
  GstControlSource *source = gst_interpolation_control_source_new ();
  gdouble in[BLOCK];
  g_autofree gdouble *out = NULL;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
      0, 0.0);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source),
      2 * GST_SECOND, 1.0);
  gst_object_add_control_binding (GST_OBJECT (gain),
      gst_direct_control_binding_new_absolute (GST_OBJECT (gain), "gain",
          source));
  gst_object_unref (source);
  g_object_unref (gain);
  for (gsize i = 0; i < BLOCK; i++)
    in[i] = 1.0;
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

/* A tfxfir that holds N_LATE frames. */
static GstHarness *
hold (const GstAudioInfo *info)
{
  gchar *launch =
      g_strdup_printf ("tfxfir device=cpu taps=%d method=fft", 2 * N_LATE + 1);
  GstHarness *h = tfx_check_harness (launch, info);
  const gsize n = 3 * N_LATE / 2;
  gdouble *in = tfx_check_noise (n, 10);

  g_free (launch);
  gst_harness_push (h, tfx_check_stamped (info, in, n, 0));
  g_free (in);
  return h;
}

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
static gchar *
pull_names (GstHarness *h)
{
  GString *names = g_string_new (NULL);
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h))) {
    g_string_append_printf (names, "%s ", GST_EVENT_TYPE_NAME (event));
    gst_event_unref (event);
  }
  return g_string_free (names, FALSE);
}

/* Downstream returns EOS, and another stream follows: all of its events are output,
 * however many frames are held before them. */
GST_START_TEST (test_held_events)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = hold (&info);
  GstSegment segment;
  gchar *names = pull_names (h);

  g_free (names);
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, refuse, NULL, NULL);
  gst_harness_push_event (h, gst_event_new_stream_start ("two"));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = time_of (3 * N_LATE / 2);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push_event (h,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "two", NULL)));
  if (__i__) {
    info = tfx_check_f32 (2 * RATE, 1);
    push_caps (h, &info);
  } else {
    gst_harness_push_event (h, gst_event_new_eos ());
  }
  names = pull_names (h);
  fail_unless_equals_string (names, __i__ ? "stream-start segment tag caps "
                                          : "stream-start segment tag eos ");
  g_free (names);
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
  GstSegment segment;
  gchar *names;

  gst_harness_push (h, tfx_check_stamped (&info, in, n, 0));
  g_free (pull_names (h));
  gst_harness_push_event (h,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "one", NULL)));
  gst_harness_push_event (h, gst_event_new_stream_start ("two"));
  info = tfx_check_f64 (RATE, 1);
  push_caps (h, &info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = time_of (n);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  names = pull_names (h);
  fail_unless_equals_string (names, "tag stream-start caps ");
  g_free (names);
  gst_harness_push (h, tfx_check_stamped (&info, in + n, n, 0));
  gst_harness_push_event (h, gst_event_new_eos ());
  names = pull_names (h);
  fail_unless_equals_string (names, "segment eos ");
  g_free (names);
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
  Suite *s = suite_create ("times");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_stall, 0, 5);
  tcase_add_loop_test (tc, test_drift, 0, 5);
  tcase_add_loop_test (tc, test_segment_from_zero, 0, 2);
  tcase_add_loop_test (tc, test_other_rate, 0, 4);
  tcase_add_test (tc, test_unstamped_segments);
  tcase_add_loop_test (tc, test_backwards, 0, 4);
  tcase_add_test (tc, test_turn);
  tcase_add_test (tc, test_gap_backwards);
  tcase_add_loop_test (tc, test_curve_backwards, 0, 2);
  tcase_add_loop_test (tc, test_held_events, 0, 2);
  tcase_add_test (tc, test_caps_behind_start);
  tcase_add_loop_test (tc, test_gap_seqnum, 0, 2);
  tcase_add_loop_test (tc, test_end_of_many_channels, 0, N_ENDS);
  return tfx_check_main (argc, argv, s);
}
