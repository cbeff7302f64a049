/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_silence.c: gaps, and numbers that are none.
 */
#include <math.h>
#include <string.h>

#include "tfxcheck.h"

#define RATE 48000
#define N 480

#define LAUNCH "tfxbutterworth cutoff=1000 order=4"
static const TfxDesign design = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 4,
  1000.0 };

/* ---- gaps ------------------------------------------------------------------------ */

static GstBuffer *
push_gap (GstHarness *h, const GstAudioInfo *info, const gdouble *in)
{
  GstBuffer *buffer = tfx_check_buffer (info, in, N);

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  return tfx_check_push (h, buffer);
}

static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP);
}

/* A gap from rest: silence goes by with its flag, and costs no run.  What lies beside
 * the samples says nothing of them. */
GST_START_TEST (test_gap_at_rest)
{
  static const gsize plane = N * sizeof (gfloat);
  const gboolean is_planar = __i__ & 1;
  const gsize room = __i__ & 2 ? 64 : 0;
  gsize offsets[] = { 0, plane + room };
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2,
      is_planar ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autoptr (GstBuffer) buffer =
      gst_buffer_new_allocate (NULL, 2 * (plane + room), NULL);
  g_autofree gdouble *out = NULL;

  gst_buffer_memset (buffer, 0, 0xa5, -1);
  gst_buffer_memset (buffer, 0, 0, is_planar ? plane : 2 * plane);
  if (is_planar)
    gst_buffer_memset (buffer, offsets[1], 0, plane);
  if (is_planar || room > 0)
    gst_buffer_add_audio_meta (buffer, &info, N, is_planar ? offsets : NULL);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  buffer = tfx_check_push (h, buffer);
  fail_unless (is_gap (buffer));
  out = tfx_check_samples (buffer, &info, NULL);
  fail_unless_equals_float (tfx_check_rms (out, N * 2, 1), 0.0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 1);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), N);
}
GST_END_TEST;

/* After sound the filter rings into the gap: the flag goes, the tail is heard,
 * until it has died away and gaps are gaps again. */
GST_START_TEST (test_gap_rings)
{
  const gsize n_gaps = 100;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in = g_new0 (gdouble, N * (n_gaps + 1)), *noise = NULL,
                     *expected = NULL;
  gdouble *out;
  gsize n_ringing = 0;

  noise = tfx_check_noise (N, 3);
  memcpy (in, noise, N * sizeof *in);
  expected = tfx_check_engine (&design, &info, in, N * (n_gaps + 1));
  out = tfx_check_filter (h, &info, in, N, N);
  g_free (out);

  for (gsize i = 1; i <= n_gaps; i++) {
    g_autoptr (GstBuffer) buffer = push_gap (h, &info, in + i * N);

    out = tfx_check_samples (buffer, &info, NULL);
    if (!is_gap (buffer)) {
      /* not after silence */
      fail_unless_equals_uint64 (n_ringing, i - 1);
      n_ringing = i;
      fail_unless_equals_float (tfx_check_distance (out, expected + i * N, N),
          0.0);
    } else {
      fail_unless (tfx_check_distance (out, expected + i * N, N) < 1e-19);
    }
    g_free (out);
  }
  /* The slowest pole falls by 400 dB in 19 ms or so, in which the numbers pass
   * 1e-20: less than ten buffers of 10 ms. */
  fail_unless (n_ringing >= 1 && n_ringing < 10, "%u buffers ring",
      (guint)n_ringing);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"),
      1 + n_ringing);
}
GST_END_TEST;

/* A flag that lies: there is sound in the gap.  0x3c3c3c3c, a number of equal
 * bytes, is 0.0115. */
GST_START_TEST (test_gap_with_sound)
{
  static const union
  {
    guint32 bits;
    gfloat value;
  } equal_bytes = { 0x3c3c3c3c };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *in =
      tfx_check_constant (N, __i__ ? equal_bytes.value : 0.0);
  g_autoptr (GstBuffer) buffer = NULL;

  if (!__i__)
    in[N - 1] = 0.25;
  buffer = push_gap (h, &info, in);
  fail_if (is_gap (buffer));
  fail_unless_equals_float (tfx_check_deviation (buffer, &info, &design, in, N),
      0.0);
}
GST_END_TEST;

static gdouble
get_integrated (GstElement *element)
{
  GstStructure *stats;
  gdouble lufs;

  gst_child_proxy_get (GST_CHILD_PROXY (element), "l::stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "integrated", &lufs));
  gst_structure_free (stats);
  return lufs;
}

/* Loudness and Denoise come to rest in a gap: after their delay and their windows the rest of
 * the GAP event is forwarded, and the integrated loudness stays. */
GST_START_TEST (test_windows_in_gap)
{
  static const gchar *const chains[] = { "tfxchain chain=l=Loudness(-20)",
    "tfxchain chain=l=Loudness()", "tfxchain chain=Denoise(0)" };
  const gboolean has_loudness = __i__ < 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (chains[__i__], &info);
  g_autofree gdouble *noise = tfx_check_noise (10 * RATE, 3);
  gdouble before, after;
  gboolean is_event = FALSE;
  GstBuffer *buffer;
  GstEvent *event;
  guint64 n_out;

  buffer = tfx_check_stamped (&info, noise, 10 * RATE, 0);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  before = has_loudness ? get_integrated (h->element) : 0.0;
  gst_harness_push_event (h,
      gst_event_new_gap (10 * GST_SECOND, 3600 * GST_SECOND));
  n_out = tfx_check_pull_frames (h, &info);
  while ((event = gst_harness_try_pull_event (h))) {
    is_event |= GST_EVENT_TYPE (event) == GST_EVENT_GAP;
    gst_event_unref (event);
  }
  fail_unless (is_event);
  fail_unless (n_out < 20 * RATE, "%" G_GUINT64_FORMAT " frames", n_out);
  after = has_loudness ? get_integrated (h->element) : 0.0;
  fail_unless (fabs (after - before) < 0.1, "%g, not %g", after, before);
}
GST_END_TEST;

/* A change goes on while nothing is heard, and is over behind a long gap: of a chain, or
 * of a value that goes over to another within a stage. */
static const struct
{
  const gchar *chain, *then; /* a chain, or none: the gain is then a half */
  gdouble most;              /* of the first sample */
  guint at;                  /* of the sample that is due */
  gdouble due, bound;
} changes[] = {
  { "Delay(5, mix=0.5)", "b=Delay(7, mix=0.25)", 0.75, 0, 0.75, 0.0 },
  { "Delay(5, mix=0.5)", "b=Delay(7, mix=0.25)", 0.75, 7, 1.0, 0.0 },
  { "g=Gain(1, clamp=True)", NULL, 0.5, 100, 0.5, 1e-6 },
  { "g=Gain(1) | Delay(7, mix=0)", NULL, 0.5, 100, 0.5, 1e-6 },
  { "g=Gain(1) | LoButterworth(20000)", NULL, 0.5, 100, 0.5, 1e-6 },
};

GST_START_TEST (test_change_in_gap)
{
  const guint at = changes[__i__].at;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxchain", &info);
  g_autofree gdouble *silence = g_new0 (gdouble, N),
                     *ones = tfx_check_constant (N, 1.0), *out = NULL;

  g_object_set (h->element, "chain", changes[__i__].chain, NULL);
  g_free (tfx_check_filter (h, &info, ones, N, N));
  g_free (tfx_check_filter (h, &info, silence, N, N));
  if (changes[__i__].then)
    g_object_set (h->element, "chain", changes[__i__].then, NULL);
  else
    gst_child_proxy_set (GST_CHILD_PROXY (h->element), "g::gain", 0.5, NULL);
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GstBuffer) buffer = push_gap (h, &info, silence);

    fail_unless (!changes[__i__].then || is_gap (buffer));
  }
  out = tfx_check_filter (h, &info, ones, N, N);
  fail_unless (out[0] <= changes[__i__].most &&
                   fabs (out[at] - changes[__i__].due) <= changes[__i__].bound,
      "%s: %g ... %g", changes[__i__].chain, out[0], out[at]);
}
GST_END_TEST;

/* An event of a gap passes a filter at rest with all that it says. */
GST_START_TEST (test_gap_event_flags)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autofree gdouble *silence = g_new0 (gdouble, N);
  g_autoptr (GstEvent) event = gst_event_new_gap (10 * GST_MSECOND, GST_SECOND);
  GstClockTime start = 0, duration = 0;
  GstGapFlags flags = 0;

  gst_buffer_unref (
      tfx_check_push (h, tfx_check_stamped (&info, silence, N, 0)));
  while (gst_harness_events_in_queue (h) > 0)
    gst_event_unref (gst_harness_pull_event (h));
  gst_event_set_gap_flags (event, GST_GAP_FLAG_MISSING_DATA);
  fail_unless (gst_harness_push_event (h, event));
  event = gst_harness_pull_event (h);
  fail_unless_equals_int (GST_EVENT_TYPE (event), GST_EVENT_GAP);
  gst_event_parse_gap (event, &start, &duration);
  gst_event_parse_gap_flags (event, &flags);
  fail_unless_equals_uint64 (start, 10 * GST_MSECOND);
  fail_unless_equals_uint64 (duration, GST_SECOND);
  fail_unless_equals_int (flags, GST_GAP_FLAG_MISSING_DATA);
}
GST_END_TEST;

/* ---- NaN and infinity --------------------------------------------------------------- */

/* Broken samples are gone at the latest 4096 frames after the last of them;
 * what comes then is finite, and near what would have come anyway. */
GST_START_TEST (test_recovery)
{
  static const gdouble evil[] = { NAN, INFINITY, -INFINITY, 3e38 };
  const gsize n = 48000, n_bad = 2000;
  gboolean same = TRUE;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (n * 2, 9), *expected = NULL,
                     *out = NULL;

  expected = tfx_check_engine (&design, &info, in, n);
  in[n_bad * 2] = evil[__i__];
  out = tfx_check_filter (h, &info, in, n, N);
  fail_unless (tfx_check_is_finite (out + (n_bad + 1 + 4096) * 2,
      (n - n_bad - 1 - 4096) * 2));
  /* The other channel never noticed. */
  for (gsize i = 0; i < n; i++)
    same = same && out[i * 2 + 1] == expected[i * 2 + 1];
  fail_unless (same);
  fail_unless (tfx_check_distance (out + n, expected + n, n) < 1e-6);

  if (__i__ < 3)
    tfx_check_expect_warning (bus, "NaN or infinity", "buffer 5", "cleared",
        NULL);
  tfx_check_expect_no_warning (bus);
}
GST_END_TEST;

/* One warning a stream, however often. */
GST_START_TEST (test_one_warning_a_stream)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (LAUNCH, &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (4800, 9);

  for (guint stream = 0; stream < 2; stream++) {
    for (guint i = 0; i < 10; i++) {
      GstBuffer *buffer;

      in[100] = i % 3 == 1 ? NAN : 0.0;
      buffer = tfx_check_stamped (&info, in, 4800, i * 4800);
      gst_buffer_unref (tfx_check_push (h, buffer));
    }
    /* The second buffer of the first stream is number 2 at 0.1 s, that of the
     * second stream number 12. */
    tfx_check_expect_warning (bus, stream ? "buffer 12" : "buffer 2",
        "0:00:00.100000000", NULL);
    tfx_check_expect_no_warning (bus);
    gst_harness_push_event (h, gst_event_new_stream_start ("another"));
  }
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("silence");

  tcase_add_loop_test (tc, test_gap_at_rest, 0, 4);
  tcase_add_test (tc, test_gap_rings);
  tcase_add_loop_test (tc, test_gap_with_sound, 0, 2);
  tcase_add_loop_test (tc, test_windows_in_gap, 0, 3);
  tcase_add_loop_test (tc, test_change_in_gap, 0, G_N_ELEMENTS (changes));
  tcase_add_test (tc, test_gap_event_flags);
  tcase_add_loop_test (tc, test_recovery, 0, 4);
  tcase_add_test (tc, test_one_warning_a_stream);
  return tfx_check_run (argc, argv, tc);
}
