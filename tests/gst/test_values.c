/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_values.c: values that cannot be met: what is used instead, what the
 * user is told, and when.
 */
#include <math.h>
#include <string.h>

#include "tfxcheck.h"

#define RATE 48000
#define N 480

/* The part of the rate that edges keep from 0, half the rate and each other
 * when the asked values do not work. */
#define MARGIN 1e-6

static void
drop_bus (GstHarness *h, GstBus *bus)
{
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static void
push_some (GstHarness *h, const GstAudioInfo *info, guint n_buffers)
{
  gdouble *in = tfx_check_noise (N * n_buffers * info->channels, 5);

  g_free (tfx_check_filter (h, info, in, N * n_buffers, N));
  g_free (in);
}

/* ---- what is used instead ------------------------------------------------------ */

typedef struct
{
  const gchar *launch;
  TfxDesign used;
  const gchar *words[4];  /* of the warning */
  const gchar *second[4]; /* of another one, if any */
} Clamped;

#define BUTTER TFX_FAMILY_BUTTERWORTH
#define LOW (MARGIN * RATE)
#define HIGH (RATE / 2.0 - MARGIN * RATE)

static const Clamped clamped[] = {
  { "tfxbutterworth cutoff=30000", { BUTTER, TFX_MODE_LOW_PASS, 4, HIGH },
      { "cutoff=30000 Hz", "(0.048–23999.952)", "48000 Hz" } },
  { "tfxbutterworth cutoff=24000 mode=high-pass",
      { BUTTER, TFX_MODE_HIGH_PASS, 4, HIGH },
      { "cutoff=24000 Hz", "(0.048–23999.952)" } },
  { "tfxbutterworth cutoff=0", { BUTTER, TFX_MODE_LOW_PASS, 4, LOW },
      { "cutoff=0 Hz", "(0.048–23999.952)", "; using 0.048 Hz." } },
  /* too low for sections of doubles, though above 0 */
  { "tfxbutterworth cutoff=0.000001 order=10",
      { BUTTER, TFX_MODE_LOW_PASS, 10, LOW }, { "cutoff=1e-06 Hz" } },
  { "tfxbutterworth mode=band-pass upper-frequency=24000",
      { BUTTER, TFX_MODE_BAND_PASS, 4, 300.0, HIGH },
      { "upper-frequency=24000 Hz",
          "(300.048–23999.952, above lower-frequency)" } },
  { "tfxbutterworth mode=band-reject lower-frequency=0",
      { BUTTER, TFX_MODE_BAND_REJECT, 4, LOW, 3400.0 },
      { "lower-frequency=0 Hz", "(0.048–23999.904)" } },
  /* upside down: the lower edge stays */
  { "tfxbutterworth mode=band-pass lower-frequency=3400 upper-frequency=300",
      { BUTTER, TFX_MODE_BAND_PASS, 4, 3400.0, 3400.0 + LOW },
      { "upper-frequency=300 Hz",
          "(3400.048–23999.952, above lower-frequency)" } },
  { "tfxbutterworth mode=band-reject lower-frequency=800 upper-frequency=800",
      { BUTTER, TFX_MODE_BAND_REJECT, 4, 800.0, 800.0 + LOW },
      { "upper-frequency=800 Hz",
          "(800.048–23999.952, above lower-frequency)" } },
  { "tfxbutterworth mode=band-pass lower-frequency=50000 upper-frequency=60000",
      { BUTTER, TFX_MODE_BAND_PASS, 4, HIGH - LOW, HIGH },
      { "lower-frequency=50000 Hz" }, { "upper-frequency=60000 Hz" } },
  { "tfxchebyshev type=2 cutoff=24001",
      { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_LOW_PASS, 4, HIGH, 0.0, 0.0, 40.0 },
      { "cutoff=24001 Hz" } },
};

GST_START_TEST (test_clamped)
{
  const Clamped *u = &clamped[__i__];
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstElement *element = gst_parse_launch (u->launch, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (N, 5), *out, *expected, distance;

  tfx_check_set_info (h, &info);
  tfx_check_expect_warning (bus, u->words[0], u->words[1], u->words[2],
      u->words[3], NULL);
  if (u->second[0])
    tfx_check_expect_warning (bus, u->second[0], u->second[1], NULL);

  out = tfx_check_filter (h, &info, in, N, N);
  expected = tfx_check_engine (&u->used, &info, in, N);
  distance = tfx_check_distance (out, expected, N);
  fail_unless (distance == 0.0, "%s: off by %g", u->launch, distance);
  tfx_check_expect_no_warning (bus);

  g_free (in);
  g_free (out);
  g_free (expected);
  gst_object_unref (element);
  drop_bus (h, bus);
}
GST_END_TEST;

/* Not a number is no frequency: GObject does not let it in. */
GST_START_TEST (test_nan)
{
  GstElement *element = gst_element_factory_make ("tfxchebyshev", NULL);
  static const gchar *const names[] = { "cutoff", "lower-frequency",
    "upper-frequency", "ripple", "attenuation" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gdouble before, after;

    g_object_get (element, names[i], &before, NULL);
    TFX_CHECK_REFUSED (g_object_set (element, names[i], (gdouble)NAN, NULL));
    g_object_get (element, names[i], &after, NULL);
    fail_unless_equals_float (before, after);
  }
  gst_object_unref (element);
}
GST_END_TEST;

/* What the mode does not use may be anything. */
GST_START_TEST (test_unused_values)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness ("tfxbutterworth", &info);
  GstBus *bus = tfx_check_bus (h);

  g_object_set (h->element, "lower-frequency", 1e6, "upper-frequency", 0.0,
      NULL);
  push_some (h, &info, 1);
  gst_util_set_object_arg (G_OBJECT (h->element), "mode", "band-pass");
  g_object_set (h->element, "cutoff", 1e6, "lower-frequency", 100.0,
      "upper-frequency", 200.0, NULL);
  push_some (h, &info, 1);
  tfx_check_expect_no_warning (bus);
  drop_bus (h, bus);
}
GST_END_TEST;

/* Every combination of extremes makes a filter that runs, at any rate. */
GST_START_TEST (test_extremes)
{
  static const gint rates[] = { 1, 8000, 384000, G_MAXINT };
  static const gint orders[] = { 1, 2, 63, 64 };
  static const gdouble frequencies[] = { 0.0, 1e-9, 0.01, 20.0, 4000.0,
    G_MAXINT / 2.0 };
  static const gdouble decibels[] = { 1e-6, 0.1, 100.0 };
  GstElement *element = gst_element_factory_make ("tfxchebyshev", NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, rates[__i__], 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  const guint n = G_N_ELEMENTS (frequencies);
  GstBus *bus = tfx_check_bus (h);

  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 4 * 4 * 2 * 3 * n * n; i++) {
    guint k = i / 96;
    gdouble *out, x[8] = { 1.0 };
    gchar *text;

    g_object_set (element, "mode", i % 4, "order", orders[i / 4 % 4], "type",
        1 + (gint)(i / 16 % 2), "ripple", decibels[i / 32 % 3], "attenuation",
        decibels[i / 32 % 3] * 2.0, "cutoff", frequencies[k % n],
        "lower-frequency", frequencies[k % n], "upper-frequency",
        frequencies[k / n], NULL);
    out = tfx_check_filter (h, &info, x, 8, 8);
    fail_unless (tfx_check_is_finite (out, 8), "combination %u", i);
    g_free (out);
    while ((text = tfx_check_pop_warning (bus))) {
      fail_unless (strstr (text, "; using "), "combination %u: %s", i, text);
      g_free (text);
    }
    tfx_check_flush (h);
  }
  gst_object_unref (element);
  drop_bus (h, bus);
}
GST_END_TEST;

/* ---- when the user is told -------------------------------------------------------- */

GST_START_TEST (test_once_a_situation)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_check_harness ("tfxbutterworth", &info);
  GstBus *bus = tfx_check_bus (h);

  /* told once, however long it lasts */
  g_object_set (h->element, "cutoff", 25000.0, NULL);
  push_some (h, &info, 20);
  tfx_check_expect_warning (bus, "cutoff=25000 Hz", NULL);
  tfx_check_expect_no_warning (bus);

  /* other properties, or the same value again, are no news */
  g_object_set (h->element, "order", 6, "cutoff", 25000.0, NULL);
  push_some (h, &info, 2);
  tfx_check_expect_no_warning (bus);

  /* another value is */
  g_object_set (h->element, "cutoff", 26000.0, NULL);
  push_some (h, &info, 2);
  tfx_check_expect_warning (bus, "cutoff=26000 Hz", NULL);
  tfx_check_expect_no_warning (bus);

  /* and the same one after it was met */
  g_object_set (h->element, "cutoff", 2000.0, NULL);
  push_some (h, &info, 2);
  tfx_check_expect_no_warning (bus);
  g_object_set (h->element, "cutoff", 26000.0, NULL);
  push_some (h, &info, 2);
  tfx_check_expect_warning (bus, "cutoff=26000 Hz", NULL);
  tfx_check_expect_no_warning (bus);

  /* and another start */
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_push_event (h, gst_event_new_stream_start ("again"));
  tfx_check_set_info (h, &info);
  push_some (h, &info, 2);
  tfx_check_expect_warning (bus, "cutoff=26000 Hz", NULL);
  tfx_check_expect_no_warning (bus);
  drop_bus (h, bus);
}
GST_END_TEST;

/* The asked value stays the property's, and comes back with the rate. */
GST_START_TEST (test_comes_back)
{
  static const gint rates[] = { 96000, 44100, 32000, 96000, 44100 };
  static const TfxDesign asked = { BUTTER, TFX_MODE_LOW_PASS, 4, 30000.0 };
  GstAudioInfo info = tfx_check_f32 (rates[0], 1);
  GstHarness *h = tfx_check_harness ("tfxbutterworth cutoff=30000", &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (N, 5);

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    TfxDesign used = asked;
    gdouble *out, *expected, cutoff;
    gchar *rate = g_strdup_printf ("at %d Hz", rates[i]);

    info = tfx_check_f32 (rates[i], 1);
    tfx_check_set_info (h, &info);
    out = tfx_check_filter (h, &info, in, N, N);
    if (rates[i] < 60000) {
      used.lower_hz = 0.5 * rates[i] - MARGIN * rates[i];
      tfx_check_expect_warning (bus, "cutoff=30000 Hz", rate, NULL);
    }
    tfx_check_expect_no_warning (bus);
    expected = tfx_check_engine (&used, &info, in, N);
    fail_unless_equals_float (tfx_check_distance (out, expected, N), 0.0);
    g_object_get (h->element, "cutoff", &cutoff, NULL);
    fail_unless_equals_float (cutoff, 30000.0);
    g_free (expected);
    g_free (out);
    g_free (rate);
  }
  g_free (in);
  drop_bus (h, bus);
}
GST_END_TEST;

/* A device that is not there: told once, and the CPU filters. */
GST_START_TEST (test_device)
{
  static const TfxDesign plain = { BUTTER, TFX_MODE_LOW_PASS, 4, 1000.0 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = gst_harness_new ("tfxbutterworth");
  GstBus *bus = tfx_check_bus (h);
  gdouble *in = tfx_check_noise (N, 5), *out, *expected;
  GstStructure *stats;

  gst_util_set_object_arg (G_OBJECT (h->element), "device", "cuda");
  tfx_check_set_info (h, &info);
  out = tfx_check_filter (h, &info, in, N, N);
  expected = tfx_check_engine (&plain, &info, in, N);
  fail_unless_equals_float (tfx_check_distance (out, expected, N), 0.0);
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "device"), "cpu");
  gst_structure_free (stats);

  /* The one thing that depends on the build: whether CUDA is there. */
  g_object_set (h->element, "cutoff", 2000.0, NULL);
  push_some (h, &info, 2);
  tfx_check_expect_warning (bus, "device=cuda", "CPU", NULL);
  tfx_check_expect_no_warning (bus);
  g_free (in);
  g_free (out);
  g_free (expected);
  drop_bus (h, bus);
}
GST_END_TEST;

static Suite *
values_suite (void)
{
  Suite *s = suite_create ("values");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_clamped, 0, G_N_ELEMENTS (clamped));
  tcase_add_test (tc, test_nan);
  tcase_add_test (tc, test_unused_values);
  tcase_add_loop_test (tc, test_extremes, 0, 4);
  tcase_add_test (tc, test_once_a_situation);
  tcase_add_test (tc, test_comes_back);
  tcase_add_test (tc, test_device);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, values_suite ());
}
