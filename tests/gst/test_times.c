/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_times.c: what timestamps and segments do to the filter state, playback
 * backwards, and the events that are held where a stream ends.
 */
#include <string.h>

#include "tfxcheck.h"

#define RATE 8000
/* Frames of a buffer: 10 ms. */
#define BLOCK (RATE / 100)

static const gchar *const launches[] = {
  "tfxbutterworth cutoff=100",
  "tfxchebyshev mode=high-pass cutoff=60 ripple=1 ! tfxbutterworth cutoff=900",
  "tfxchain chain=\"ParametricEQ(100,1,6)|Reverb()\"",
  "tfxfir taps=301 cutoff=400 method=direct",
  "tfxfir taps=301 cutoff=400 method=direct align=false",
  "tfxbutterworth cutoff=900 ! tfxfir taps=101 cutoff=400 method=direct ! "
  "tfxchain chain=\"Limiter(-6,lookahead=0.02)\"",
};

#define N_LAUNCHES ((gint)G_N_ELEMENTS (launches))

/* ---- streams ------------------------------------------------------------------ */

/* All frames that have come out, which must be n, in the order of playback. */
static gdouble *
pull (GstHarness *h, const GstAudioInfo *info, gsize n, gboolean is_backwards)
{
  const gint n_ch = info->channels;
  gdouble *all = g_new0 (gdouble, n * n_ch + 1);
  gsize n_all = 0, n_frames;
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h))) {
    gdouble *samples = tfx_check_samples (buffer, info, &n_frames);

    for (gsize i = 0; i < n_frames && n_all < n; i++, n_all++)
      memcpy (all + n_all * n_ch,
          samples + (is_backwards ? n_frames - 1 - i : i) * n_ch,
          n_ch * sizeof *all);
    g_free (samples);
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
  out = pull (h, info, n, FALSE);
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
  const gsize n = 5 * RATE;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  gdouble *in = tfx_check_noise (n, 3);

  for (gint i = 0; i < N_LAUNCHES; i++) {
    gdouble *out = play_stamped (launches[i], &info, in, n, speed, jump_ms);
    gdouble *expected = play_stamped (launches[i], &info, in, n, 1.0, 0);

    fail_unless (tfx_check_distance (out, expected, n) == 0.0,
        "%s starts afresh", launches[i]);
    g_free (out);
    g_free (expected);
  }
  g_free (in);
}

/* A live source stalls once, or skips a little: the samples go on, and so does the
 * filter. */
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

/* A segment follows whose times begin at 0 again, with the same running times: it
 * looks like an update of the last one.  The filter starts afresh at the first
 * buffer if that is marked; not later, and not without a mark. */
GST_START_TEST (test_segment_from_zero)
{
  const gsize n = 3 * RATE, at = RATE / 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  gdouble *in = tfx_check_noise (n, 4);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (gint i = 0; i < N_LAUNCHES; i++) {
    GstHarness *h = tfx_check_harness (launches[i], &info);
    gdouble *out, *expected;

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
    g_free (out);
  }
  g_free (in);
}
GST_END_TEST;

/* A seek without a flush, or scaletempo, changes the rate where the stream is: the
 * samples go on. */
GST_START_TEST (test_other_rate)
{
  static const struct
  {
    gdouble rate, applied_rate;
  } cases[] = { { 2.0, 1.0 }, { 0.5, 1.0 }, { 1.0, 1.5 }, { 1.5, 2.0 } };
  const gsize n = 2 * RATE, at = RATE;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  gdouble *in = tfx_check_noise (n, 5);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = segment.base = segment.position = GST_SECOND;
  segment.rate = cases[__i__].rate;
  segment.applied_rate = cases[__i__].applied_rate;
  for (gint i = 0; i < N_LAUNCHES; i++) {
    GstHarness *h = tfx_check_harness (launches[i], &info);
    gdouble *out, *expected;

    for (gsize k = 0; k < n; k += BLOCK) {
      if (k == at)
        gst_harness_push_event (h, gst_event_new_segment (&segment));
      push_at (h, &info, in, k, time_of (k), FALSE);
    }
    out = end (h, &info, n);
    expected = play_stamped (launches[i], &info, in, n, 1.0, 0);
    fail_unless (tfx_check_distance (out, expected, n) == 0.0,
        "%s starts afresh", launches[i]);
    g_free (out);
    g_free (expected);
  }
  g_free (in);
}
GST_END_TEST;

static Suite *
times_suite (void)
{
  Suite *s = suite_create ("times");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_stall, 0, 5);
  tcase_add_loop_test (tc, test_drift, 0, 5);
  tcase_add_loop_test (tc, test_segment_from_zero, 0, 2);
  tcase_add_loop_test (tc, test_other_rate, 0, 4);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, times_suite ());
}
