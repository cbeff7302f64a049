/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir.c: tfxfir from the start of a stream to its end: samples, counts,
 * times.
 */
#include <math.h>
#include <string.h>

#include "firs.h"

#define RATE 48000

/* ---- samples -------------------------------------------------------------------- */

typedef struct
{
  gsize n_taps, n_frames;
} Length;

static const Length lengths[] = { { 1, 700 }, { 2, 700 }, { 3, 700 },
  { 21, 700 }, { 64, 1000 }, { 101, 2000 }, { 511, 4000 }, { 4096, 10000 },
  { 65536, 10000 }, { 480000, 6000 } };
static const gchar *const methods[] = { "direct", "fft", "auto" };

/* Against the plain sum, for each length, method, sample type and number of
 * channels. */
GST_START_TEST (test_samples)
{
  const Length *l = &lengths[__i__ / 6];
  /* Tap by tap the longest would take seconds. */
  const gchar *method = l->n_taps > 100000 ? "auto" : methods[__i__ / 2 % 3];
  gboolean wide = __i__ & 1;
  gint n_ch = 1 + (__i__ % 3) * 3 / 2 + (l->n_taps == 101 ? 4 : 0);
  GstAudioInfo info =
      tfx_check_info (wide ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32, RATE,
          n_ch, GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (l->n_frames * n_ch, __i__);
  g_autofree gdouble *taps = tfx_firs_room (l->n_taps, 7);
  g_autofree gdouble *expected =
      tfx_firs_convolve (taps, 1, l->n_taps, 0, in, l->n_frames, n_ch);
  gdouble limit = wide ? -240.0 : strcmp (method, "direct") ? -128.0 : -148.0;
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  gdouble error;

  tfx_firs_set_kernel (h->element, taps, l->n_taps);
  gst_util_set_object_arg (G_OBJECT (h->element), "method", method);
  tfx_firs_push (h, &info, in, l->n_frames, 0, 480);
  tfx_firs_finish (caught, h, &info);
  tfx_firs_expect_whole (caught, l->n_frames, 0, RATE);
  error = tfx_firs_error_db (tfx_firs_samples (caught), expected,
      l->n_frames * n_ch);
  fail_unless (error <= limit, "%u taps, %s, %d channels: %.1f dB",
      (guint)l->n_taps, method, n_ch, error);
}
GST_END_TEST;

typedef struct
{
  const gchar *launch;
  TfxMode mode;
  TfxWindow window;
  gsize n_taps;
  gdouble lower, upper;
} Design;

static const Design designs[] = {
  { "tfxfir", TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 101, 1000.0 },
  { "tfxfir mode=high-pass cutoff=50 taps=511", TFX_MODE_HIGH_PASS,
      TFX_WINDOW_HAMMING, 511, 50.0 },
  { "tfxfir mode=band-pass window=kaiser taps=64", TFX_MODE_BAND_PASS,
      TFX_WINDOW_KAISER, 64, 300.0, 3400.0 },
  { "tfxfir mode=band-reject window=flattop lower-frequency=500 taps=333 "
    "upper-frequency=900",
      TFX_MODE_BAND_REJECT, TFX_WINDOW_FLATTOP, 333, 500.0, 900.0 },
  { "tfxfir taps=1 window=hann", TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 1,
      1000.0 },
  { "tfxfir taps=2", TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 2, 1000.0 },
  { "tfxfir taps=4097 window=blackman cutoff=20", TFX_MODE_LOW_PASS,
      TFX_WINDOW_BLACKMAN, 4097, 20.0 },
  { "tfxfir taps=51 window=nuttall", TFX_MODE_LOW_PASS, TFX_WINDOW_NUTTALL, 51,
      1000.0 },
  { "tfxfir taps=51 window=blackman-harris", TFX_MODE_LOW_PASS,
      TFX_WINDOW_BLACKMAN_HARRIS, 51, 1000.0 },
  { "tfxfir taps=51 window=bartlett", TFX_MODE_LOW_PASS, TFX_WINDOW_BARTLETT,
      51, 1000.0 },
  { "tfxfir taps=51 window=rectangular", TFX_MODE_LOW_PASS,
      TFX_WINDOW_RECTANGULAR, 51, 1000.0 },
};

/* Aligned: as early as the middle of the kernel.  Not aligned: causal, as
 * scipy.signal.lfilter does it. */
GST_START_TEST (test_designs)
{
  const Design *d = &designs[__i__ / 2];
  gboolean align = __i__ & 1;
  const gsize n = 6000;
  const gint n_ch = 2;
  GstAudioInfo info = tfx_check_f64 (RATE, n_ch);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, __i__);
  g_autofree gdouble *taps =
      tfx_firs_design (d->mode, d->window, d->n_taps, d->lower, d->upper, RATE);
  g_autofree gdouble *expected = tfx_firs_convolve (taps, 1, d->n_taps,
      align ? (d->n_taps - 1) / 2 : 0, in, n, n_ch);
  g_autofree gchar *launch =
      g_strdup_printf ("%s%s", d->launch, align ? "" : " align=false");
  g_autoptr (TfxCatch) caught = tfx_firs_play (launch, &info, in, n, 0, 0);
  gdouble error;

  tfx_firs_expect_whole (caught, n, 0, RATE);
  error = tfx_firs_error_db (tfx_firs_samples (caught), expected, n * n_ch);
  fail_unless (error <= -240.0, "%s: %.1f dB", launch, error);
}
GST_END_TEST;

/* A room correction: its peak is its time 0, and lies in its middle, though it
 * is not symmetric.  Told so by `delay`, it takes nothing from its place. */
GST_START_TEST (test_room_correction)
{
  const gsize n = 12000, n_taps = 4097, peak = 2048;
  const gint n_ch = 2;
  gboolean align = __i__ & 1;
  GstAudioInfo info = tfx_check_f64 (RATE, n_ch);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 8);
  g_autofree gdouble *taps = tfx_check_noise (n_taps, 9), *expected = NULL;
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  for (gsize i = 0; i < n_taps; i++)
    taps[i] *= 0.05 * exp (i < peak ? (i - (gdouble)peak) / 50.0
                                    : (peak - (gdouble)i) / 500.0);
  taps[peak] = 1.0;
  expected = tfx_firs_convolve (taps, 1, n_taps, align ? peak : 0, in, n, n_ch);
  g_object_set (h->element, "delay", (gint)peak, "align", align, NULL);
  tfx_firs_set_kernel (h->element, taps, n_taps);
  tfx_firs_push (h, &info, in, n, 0, 480);
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      align ? gst_util_uint64_scale_ceil (peak, GST_SECOND, RATE) : 0);
  tfx_firs_finish (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_db (caught, expected, -240.0, "stream");
}
GST_END_TEST;

/* Another phase of numbers, of a file and of a design: the taps are those of the
 * library, and the stream is aligned to their time 0. */
GST_START_TEST (test_phase)
{
  const gboolean is_linear = __i__ & 1;
  const TfxPhase phase = is_linear ? TFX_PHASE_LINEAR : TFX_PHASE_MINIMUM;
  const gint source = __i__ / 2, n_ch = 2;
  const gsize n = 9000, n_taps = 301;
  GstAudioInfo info = tfx_check_f64 (RATE, n_ch);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 8), *expected = NULL;
  g_autofree gdouble *taps =
      source == 2 ? tfx_firs_design (TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING,
                        n_taps, 1000, 0, RATE)
                  : tfx_check_noise (n_taps, 9);
  g_autofree gchar *path = NULL;
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  gdouble *made;
  gsize n_made, delay;

  /* Without notches, so that there is a linear phase. */
  for (gsize i = 0; i < n_taps && source < 2; i++)
    taps[i] = (gfloat)(i == 2 ? 1.0 : 0.1 * taps[i] * exp (-(gdouble)i / 20));
  fail_unless (
      tfx_fir_set_phase (phase, taps, 1, n_taps, &made, &n_made, &delay) == 0);
  expected = tfx_firs_convolve (made, 1, n_made, delay, in, n, n_ch);
  gst_util_set_object_arg (G_OBJECT (h->element), "phase",
      is_linear ? "linear" : "minimum");
  if (source == 0) {
    tfx_firs_set_kernel (h->element, taps, n_taps);
  } else if (source == 1) {
    path =
        tfx_firs_write_sound ("phase.wav", TFX_FIRS_WAV, taps, n_taps, 1, RATE);
    g_object_set (h->element, "kernel-location", path, NULL);
  } else {
    g_object_set (h->element, "taps", (gint)n_taps, NULL);
  }
  tfx_firs_push (h, &info, in, n, 0, 480);
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      gst_util_uint64_scale_ceil (delay, GST_SECOND, RATE));
  tfx_firs_finish (caught, h, &info);
  tfx_firs_expect_whole (caught, n, 0, RATE);
  tfx_firs_expect_db (caught, expected, -240.0, "stream");
  free (made);
}
GST_END_TEST;

/* A room has no linear phase: an error at the start; a warning while playing, and the
 * old phase stays.  A minimum phase comes from a background task. */
GST_START_TEST (test_phase_while_playing)
{
  const gsize n_taps = 3000;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *room = tfx_firs_room (n_taps, 3);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  gdouble *minimum, in[480], peak = 0.0;
  gsize n_made, delay, n_pushed = 0;

  fail_unless (tfx_fir_set_phase (TFX_PHASE_MINIMUM, room, 1, n_taps, &minimum,
                   &n_made, &delay) == 0);
  tfx_firs_set_kernel (h->element, room, n_taps);
  /* The sum of the taps is the answer to a constant. */
  for (gsize i = 0; i < n_taps; i++)
    peak += minimum[i];
  for (gsize i = 0; i < G_N_ELEMENTS (in); i++)
    in[i] = 1.0;
  for (gint turn = 0; turn < 3; turn++) {
    gboolean is_there = FALSE;

    if (turn > 0)
      gst_util_set_object_arg (G_OBJECT (h->element), "phase",
          turn == 1 ? "linear" : "minimum");
    for (gint i = 0; i < 2000 && !is_there; i++) {
      tfx_firs_push (h, &info, in, G_N_ELEMENTS (in), n_pushed, 480);
      n_pushed += G_N_ELEMENTS (in);
      tfx_firs_collect (caught, h, &info);
      is_there =
          turn == 2 &&
          fabs (tfx_firs_samples (caught)[caught->n_frames - 1] - peak) < 1e-9;
      if (turn < 2 && i > 20)
        break;
      g_usleep (1000);
    }
    fail_unless (is_there == (turn == 2));
  }
  fail_unless_equals_uint64 (caught->n_frames, n_pushed);
  free (minimum);
}
GST_END_TEST;

/* ---- counts and times ------------------------------------------------------------ */

static const gsize stream_lengths[] = { 0, 1, 2, 49, 50, 51, 100, 101, 102, 999,
  5000 };
static const gsize block_lengths[] = { 1, 7, 50, 51, 480, 100000, 0 };

/* As many frames as went in, at the very times, for streams shorter and longer
 * than the kernel (101 taps, a delay of 50), whatever the buffers are. */
GST_START_TEST (test_counts)
{
  gsize n = stream_lengths[__i__ % G_N_ELEMENTS (stream_lengths)];
  gsize most = block_lengths[__i__ / G_N_ELEMENTS (stream_lengths)];
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, 44100, 2,
      __i__ & 1 ? GST_AUDIO_LAYOUT_INTERLEAVED
                : GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  /* From 1 s and some on: the times are no round numbers. */
  const guint64 from = 44100 + 123;
  g_autofree gdouble *in = tfx_check_noise (n * 2 + 1, __i__);
  g_autofree gdouble *expected = tfx_firs_plain (101, in, n, &info);
  g_autoptr (TfxCatch) caught =
      tfx_firs_play ("tfxfir", &info, in, n, from, most);

  tfx_firs_expect_whole (caught, n, from, 44100);
  tfx_firs_expect_near (caught, expected, 1e-14, "stream");
}
GST_END_TEST;

/* One buffer, shorter than the delay of a long kernel. */
GST_START_TEST (test_long_kernel_short_stream)
{
  static const gsize n_frames[] = { 1, 480, 65536, 65537, 200000 };
  const gsize n = n_frames[__i__ % 5];
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 5);
  g_autoptr (TfxCatch) caught =
      tfx_firs_play ("tfxfir taps=400001 window=hann cutoff=20", &info, in, n,
          0, __i__ < 5 ? n : 1000);

  tfx_firs_expect_whole (caught, n, 0, RATE);
  fail_unless (tfx_check_is_finite (tfx_firs_samples (caught), n));
}
GST_END_TEST;

/* No caps, no buffers, or empty ones only: nothing comes at the end. */
GST_START_TEST (test_nothing)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxfir");

  if (__i__ > 0)
    tfx_check_set_info (h, &info);
  if (__i__ > 1) {
    gst_harness_push (h, gst_buffer_new ());
    gst_buffer_unref (gst_harness_pull (h));
  }
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
}
GST_END_TEST;

/* A stream without times stays one. */
GST_START_TEST (test_unstamped)
{
  const gsize n = 3000;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_autofree gdouble *in = tfx_check_noise (n, 5);

  for (gsize done = 0; done < n; done += 30)
    gst_harness_push (h, tfx_check_buffer (&info, in + done, 30));
  tfx_firs_finish (caught, h, &info);
  fail_unless_equals_uint64 (caught->n_frames, n);
  fail_if (GST_CLOCK_TIME_IS_VALID (caught->first_pts));
  fail_if (GST_CLOCK_TIME_IS_VALID (caught->next_pts));
  fail_unless_equals_uint64 (caught->first_offset, GST_BUFFER_OFFSET_NONE);
}
GST_END_TEST;

/* Only the first buffer has a time: the others follow it. */
GST_START_TEST (test_first_stamped)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();
  g_autofree gdouble *in = tfx_check_noise (480, 5);

  tfx_firs_push (h, &info, in, 480, RATE, 480);
  for (guint i = 0; i < 9; i++)
    gst_harness_push (h, tfx_check_buffer (&info, in, 480));
  tfx_firs_finish (caught, h, &info);
  tfx_firs_expect_whole (caught, 4800, RATE, RATE);
  fail_unless_equals_uint64 (caught->next_pts, 1100 * GST_MSECOND);
}
GST_END_TEST;

/* Times that jitter, as those of a container that counts milliseconds, or that
 * are set right by a little: each frame keeps the time that it came with. */
GST_START_TEST (test_jitter)
{
  const gsize block = 100, n_blocks = 40;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);
  g_autofree gdouble *in = tfx_check_noise (block, 5);
  GstClockTime times[40];
  guint64 frame = 0;
  GstBuffer *buffer;

  for (guint i = 0; i < n_blocks; i++) {
    buffer = tfx_check_stamped (&info, in, block, i * block);
    GST_BUFFER_PTS (buffer) =
        GST_BUFFER_PTS (buffer) / GST_MSECOND * GST_MSECOND +
        (i >= 20 ? 20 * GST_MSECOND : 0);
    times[i] = GST_BUFFER_PTS (buffer);
    gst_harness_push (h, buffer);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (h))) {
    GstClockTime expected =
        times[frame / block] +
        gst_util_uint64_scale (frame % block, GST_SECOND, RATE);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), expected);
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), frame);
    frame += gst_buffer_get_size (buffer) / 4;
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_uint64 (frame, block * n_blocks);
}
GST_END_TEST;

/* Flags, metas and the like stay on their buffers; a clock reading moves with
 * the time. */
GST_START_TEST (test_metas)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir taps=97", &info);
  g_autoptr (GstCaps) mark = gst_caps_new_empty_simple ("timestamp/x-mark");
  g_autofree gdouble *in = tfx_check_noise (480 * 2, 5);

  for (guint i = 0; i < 5; i++) {
    g_autoptr (GstBuffer) buffer = tfx_check_stamped (&info, in, 480, i * 480);
    GstReferenceTimestampMeta *meta;

    GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_MARKER);
    gst_buffer_add_reference_timestamp_meta (buffer, mark,
        100 * GST_SECOND + GST_BUFFER_PTS (buffer), 10 * GST_MSECOND);
    buffer = tfx_check_push (h, buffer);
    fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_MARKER));
    fail_if (GST_BUFFER_DTS_IS_VALID (buffer));
    meta = gst_buffer_get_reference_timestamp_meta (buffer, mark);
    fail_unless_equals_uint64 (meta->timestamp,
        100 * GST_SECOND + GST_BUFFER_PTS (buffer));
    fail_unless_equals_uint64 (meta->duration, GST_BUFFER_DURATION (buffer));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
        i ? i * 10 * GST_MSECOND - GST_MSECOND : 0);
  }
}
GST_END_TEST;

/* So it does where an event that waits for its frame ends a buffer early. */
GST_START_TEST (test_clock_reading_behind_event)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2,
      __i__ ? GST_AUDIO_LAYOUT_NON_INTERLEAVED : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir taps=801", &info);
  g_autoptr (GstCaps) mark = gst_caps_new_empty_simple ("timestamp/x-mark");
  g_autofree gdouble *in = tfx_check_noise (96 * 2, 5);
  GstReferenceTimestampMeta *meta;
  guint n_buffers = 0;
  GstBuffer *buffer;

  for (guint i = 0; i < 20; i++) {
    buffer = tfx_check_stamped (&info, in, 96, i * 96);
    gst_buffer_add_reference_timestamp_meta (buffer, mark,
        100 * GST_SECOND + GST_BUFFER_PTS (buffer), 2 * GST_MSECOND);
    gst_harness_push (h, buffer);
    if (i == 4)
      gst_harness_push_event (h,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("between")));
  }
  while ((buffer = gst_harness_try_pull (h))) {
    meta = gst_buffer_get_reference_timestamp_meta (buffer, mark);
    fail_unless_equals_uint64 (meta->timestamp,
        100 * GST_SECOND + GST_BUFFER_PTS (buffer));
    fail_unless_equals_uint64 (meta->duration, GST_BUFFER_DURATION (buffer));
    gst_buffer_unref (buffer);
    n_buffers++;
  }
  /* One of them in two. */
  fail_unless_equals_int (n_buffers, 20 - 4 + 1);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fir");

  tfx_check_add_part (tc, test_samples, 6 * G_N_ELEMENTS (lengths), 5);
  tcase_add_loop_test (tc, test_designs, 0, 2 * G_N_ELEMENTS (designs));
  tcase_add_loop_test (tc, test_room_correction, 0, 2);
  tcase_add_loop_test (tc, test_phase, 0, 6);
  tcase_add_test (tc, test_phase_while_playing);
  tcase_add_loop_test (tc, test_counts, 0,
      G_N_ELEMENTS (stream_lengths) * G_N_ELEMENTS (block_lengths));
  tcase_add_loop_test (tc, test_long_kernel_short_stream, 0, 10);
  tcase_add_loop_test (tc, test_nothing, 0, 3);
  tcase_add_test (tc, test_unstamped);
  tcase_add_test (tc, test_first_stamped);
  tcase_add_test (tc, test_jitter);
  tcase_add_test (tc, test_metas);
  tcase_add_loop_test (tc, test_clock_reading_behind_event, 0, 2);
  return tfx_check_run (argc, argv, tc);
}
