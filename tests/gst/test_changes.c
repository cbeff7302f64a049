/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_changes.c: properties that change while samples flow: by the
 * application, by a controller, from other threads.  And the statistics.
 */
#include <gst/controller/controller.h>
#include <math.h>
#include <string.h>

#include "tfxcheck.h"

#define RATE 48000
#define N 480

/* ---- one change -------------------------------------------------------------------- */

/* Set before the stream starts, after caps, or between two buffers: from the
 * next buffer on the new values hold.  At the start of a stream nothing of the
 * old ones is heard. */
GST_START_TEST (test_first_buffer)
{
  static const TfxDesign design = { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_BAND_REJECT,
    7, 500.0, 700.0, 0.2 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxchebyshev");
  g_autofree gdouble *in = tfx_check_noise (N, 1);
  g_autoptr (GstBuffer) buffer = NULL;

  if (__i__ == 1)
    tfx_check_set_info (h, &info);
  g_object_set (h->element, "order", 7, "lower-frequency", 500.0,
      "upper-frequency", 700.0, "ripple", 0.2, "cutoff", 5.0, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "mode", "band-reject");
  if (__i__ == 0)
    tfx_check_set_info (h, &info);

  buffer = tfx_check_push (h, tfx_check_buffer (&info, in, N));
  fail_unless_equals_float (tfx_check_deviation (buffer, &info, &design, in, N),
      0.0);
}
GST_END_TEST;

typedef struct
{
  const gchar *launch;
  const gchar *property, *value;
} Change;

static const Change steady_changes[] = {
  { "tfxbutterworth", "cutoff", "100" },
  { "tfxbutterworth", "cutoff", "15000" },
  { "tfxbutterworth order=1", "cutoff", "20" },
  { "tfxbutterworth order=7 cutoff=20", "cutoff", "8000" },
  { "tfxbutterworth", "order", "12" },
  { "tfxbutterworth", "order", "1" },
  { "tfxbutterworth mode=band-reject lower-frequency=3000 "
    "upper-frequency=4000",
      "lower-frequency", "2000" },
  { "tfxbutterworth", "fuse", "false" },
  { "tfxbutterworth", "device", "cpu" },
  { "tfxchebyshev order=5", "ripple", "3" },
  { "tfxchebyshev type=2", "attenuation", "80" },
  { "tfxchebyshev order=5", "type", "2" },
};

/* A constant that passes before and after must not notice: the state of the
 * old filter is carried over, or cross-faded. */
GST_START_TEST (test_steady)
{
  const Change *c = &steady_changes[__i__];
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (c->launch, &info);
  const gsize n = RATE;
  g_autofree gdouble *in = tfx_check_constant (n, 1.0);
  g_autofree gdouble *before = tfx_check_filter (h, &info, in, n, N);
  g_autofree gdouble *out = NULL;

  fail_unless (fabs (before[n - 1] - 1.0) < 1e-9);
  gst_util_set_object_arg (G_OBJECT (h->element), c->property, c->value);
  out = tfx_check_filter (h, &info, in, n, N);
  /* No step anywhere, and the same constant in the end. */
  fail_unless (tfx_check_step (out, n) < 0.01 && fabs (out[0] - 1.0) < 0.01 &&
                   fabs (out[n - 1] - 1.0) < 1e-9,
      "%s=%s steps by %g, from %g to %g", c->property, c->value,
      tfx_check_step (out, n), out[0], out[n - 1]);
}
GST_END_TEST;

/* While a frequency moves the filter rings on: it is the same filter. */
GST_START_TEST (test_rings_on)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = g_new0 (gdouble, 3000);
  gdouble *out[2];

  in[0] = 1.0;
  for (guint i = 0; i < 2; i++) {
    g_autoptr (TfxHarness) h =
        tfx_check_harness ("tfxbutterworth cutoff=10 order=3", &info);

    g_free (tfx_check_filter (h, &info, in, 1000, N));
    if (i == 1)
      g_object_set (h->element, "cutoff", 10.01, NULL);
    out[i] = tfx_check_filter (h, &info, in + 1000, 2000, N);
  }
  /* Nothing comes in and much comes out, nearly the same. */
  fail_unless (tfx_check_rms (out[0], 2000, 1) > 1e-4);
  fail_unless (tfx_check_distance (out[0], out[1], 2000) < 1e-5);
  g_free (out[0]);
  g_free (out[1]);
}
GST_END_TEST;

/* Low-pass to high-pass and back: the worst that can happen to a sine is that
 * one fades out while the other fades in. */
GST_START_TEST (test_mode_fades)
{
  static const gchar *const modes[] = { "high-pass", "low-pass", "band-pass",
    "band-reject", "low-pass" };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth cutoff=2000", &info);
  const gsize n = RATE / 2;
  gdouble *in, *out;

  in = tfx_check_sine (n, 0, 100.0, RATE);
  g_free (tfx_check_filter (h, &info, in, n, N));
  g_free (in);
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    in = tfx_check_sine (n, n * (i + 1), 100.0, RATE);
    gst_util_set_object_arg (G_OBJECT (h->element), "mode", modes[i]);
    out = tfx_check_filter (h, &info, in, n, N);
    /* The sine itself steps by 0.0131. */
    fail_unless (tfx_check_step (out, n) < 0.03, "to %s: a step of %g",
        modes[i], tfx_check_step (out, n));
    g_free (out);
    g_free (in);
  }
}
GST_END_TEST;

/* ---- a thousand changes ------------------------------------------------------------- */

typedef struct
{
  GstElement *element;
  gint stop; /* atomic */
  guint n_sets;
} Setter;

static gpointer
set_all_the_time (gpointer data)
{
  Setter *s = data;
  GRand *rand = g_rand_new_with_seed (1);

  while (!g_atomic_int_get (&s->stop) || s->n_sets < 1000) {
    GstStructure *stats;

    switch (s->n_sets % 6) {
      case 0:
        g_object_set (s->element, "mode", g_rand_int_range (rand, 0, 4), NULL);
        break;
      case 1:
        g_object_set (s->element, "order", g_rand_int_range (rand, 1, 20),
            NULL);
        break;
      case 2:
        g_object_set (s->element, "lower-frequency",
            g_rand_double_range (rand, 0.0, 3000.0), "upper-frequency",
            g_rand_double_range (rand, 0.0, 30000.0), NULL);
        break;
      case 3:
        g_object_get (s->element, "stats", &stats, NULL);
        gst_structure_free (stats);
        break;
      default:
        g_object_set (s->element, "cutoff",
            g_rand_double_range (rand, 0.0, 30000.0), NULL);
    }
    s->n_sets++;
    if (s->n_sets % 16 == 0)
      g_thread_yield ();
  }
  g_rand_free (rand);
  return NULL;
}

/* Not a sample is lost, no time is changed, nothing explodes. */
GST_START_TEST (test_thousand_changes)
{
  static const TfxDesign last = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 4,
    1000.0 };
  const gint n_ch = 2;
  GstAudioInfo info =
      __i__ ? tfx_check_f64 (RATE, n_ch) : tfx_check_f32 (RATE, n_ch);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxbutterworth", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (N * n_ch, 1);
  g_autoptr (GstBuffer) end = NULL;
  Setter setter = { h->element, FALSE, 0 };
  GThread *thread = g_thread_new ("setter", set_all_the_time, &setter);
  guint64 n_frames = 0;

  for (guint i = 0; i < 2000; i++) {
    gsize size = 1 + i % N, n;
    g_autoptr (GstBuffer) buffer =
        tfx_check_push (h, tfx_check_stamped (&info, in, size, n_frames));
    g_autofree gdouble *out = NULL;

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
        gst_util_uint64_scale (n_frames, GST_SECOND, RATE));
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n_frames);
    out = tfx_check_samples (buffer, &info, &n);
    fail_unless_equals_uint64 (n, size);
    fail_unless (tfx_check_is_finite (out, n * n_ch));
    n_frames += n;
  }
  g_atomic_int_set (&setter.stop, TRUE);
  g_thread_join (thread);
  fail_unless (setter.n_sets >= 1000);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), n_frames);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 2000);

  /* And in the end it is the filter that was asked for last. */
  g_object_set (h->element, "mode", 0, "order", 4, "cutoff", 1000.0, NULL);
  tfx_check_flush (h);
  end = tfx_check_push (h, tfx_check_buffer (&info, in, N));
  fail_unless_equals_float (tfx_check_deviation (end, &info, &last, in, N),
      0.0);
}
GST_END_TEST;

/* ---- controllers ---------------------------------------------------------------------- */

static void
bind_line (GstElement *element, const gchar *property, gdouble from, gdouble to)
{
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *line = GST_TIMED_VALUE_CONTROL_SOURCE (source);

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (line, 0, from);
  gst_timed_value_control_source_set (line, GST_SECOND, to);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
      gst_direct_control_binding_new_absolute (GST_OBJECT (element), property,
          source)));
}

static void
expect_cutoff (GstElement *element, gdouble expected)
{
  gdouble cutoff;

  g_object_get (element, "cutoff", &cutoff, NULL);
  /* 33 ns of 1000 Hz in a second */
  fail_unless (fabs (cutoff - expected) < 3.3e-5, "%.9g Hz, not %.9g", cutoff,
      expected);
}

/* The value at the point of the grid that ends a buffer, in stream time, which is
 * not that of the stamps. */
GST_START_TEST (test_controller)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth cutoff=5", &info);
  g_autofree gdouble *in = tfx_check_noise (N, 1);
  GstSegment segment;

  bind_line (h->element, "cutoff", 1000.0, 2000.0);
  /* Its stream time is 0. */
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));

  /* A buffer that is clipped starts with the segment. */
  gst_buffer_unref (
      tfx_check_push (h, tfx_check_stamped (&info, in, N, 10 * RATE - N / 2)));
  expect_cutoff (h->element, 1000.0 + 1000.0 * 256 / RATE);
  for (guint i = 0; i < 100; i++) {
    gst_buffer_unref (tfx_check_push (h,
        tfx_check_stamped (&info, in, N, 10 * RATE + i * N)));
    /* Half a step of the grid beyond the end. */
    expect_cutoff (h->element,
        MIN (1000.0 + 10.0 * (i + 1) + 1000.0 * 16 / RATE, 2000.0));
  }
}
GST_END_TEST;

/* The filter really follows: a sine is in the stop band at first and in the
 * pass band at last. */
GST_START_TEST (test_controlled_sound)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth order=8", &info);
  g_autofree gdouble *in = tfx_check_sine (RATE, 0, 2000.0, RATE);
  gdouble first = 0.0, last = 0.0;

  bind_line (h->element, "cutoff", 500.0, 8000.0);
  for (guint i = 0; i < 100; i++) {
    g_autoptr (GstBuffer) buffer =
        tfx_check_push (h, tfx_check_stamped (&info, in + i * N, N, i * N));
    g_autofree gdouble *out = tfx_check_samples (buffer, &info, NULL);

    last = tfx_check_rms (out, N, 1);
    if (i == 5)
      first = last;
  }
  fail_unless (first < 0.01 && fabs (last - sqrt (0.5)) < 0.001,
      "from %g to %g", first, last);
}
GST_END_TEST;

/* ---- statistics ----------------------------------------------------------------------- */

GST_START_TEST (test_stats)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 3);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth mode=band-pass order=3", &info);
  g_autofree gdouble *in = tfx_check_noise (1000 * 3, 1);
  GstStructure *stats;
  guint64 time, most = gst_util_get_timestamp ();

  g_free (tfx_check_filter (h, &info, in, 1000, 300));
  most = gst_util_get_timestamp () - most;
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (gst_structure_has_name (stats, "application/x-tfx-stats"));
  fail_unless_equals_string (gst_structure_get_string (stats, "device"), "cpu");
  fail_unless_equals_string (gst_structure_get_string (stats, "kernel"),
      g_getenv ("TFX_CPU") ? g_getenv ("TFX_CPU")
                           : gst_structure_get_string (stats, "kernel"));
  fail_unless (strlen (gst_structure_get_string (stats, "kernel")) > 0);
  fail_unless_equals_int (gst_structure_n_fields (stats), 18);
  gst_structure_free (stats);

  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 4);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), 1000);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"), 4);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "launches"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "uploads"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "downloads"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "stages"), 1);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 3);
  time = tfx_check_stat (h->element, "process-time");
  /* Not every short buffer is timed. */
  fail_unless (time > 0 && time < most + GST_MSECOND);

  /* A new start counts from 0; the old numbers stay until then. */
  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), 1000);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), 0);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "process-time"), 0);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("changes");

  tcase_add_loop_test (tc, test_first_buffer, 0, 2);
  tcase_add_loop_test (tc, test_steady, 0, G_N_ELEMENTS (steady_changes));
  tcase_add_test (tc, test_rings_on);
  tcase_add_test (tc, test_mode_fades);
  tcase_add_loop_test (tc, test_thousand_changes, 0, 2);
  tcase_add_test (tc, test_controller);
  tcase_add_test (tc, test_controlled_sound);
  tcase_add_test (tc, test_stats);
  return tfx_check_run (argc, argv, tc);
}
