/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_response.c: the action signals response and gain-curve.
 */
#include <glib/gstdio.h>
#include <math.h>

#include "../dsp/classcalls.h"
#include "chains.h"
#include "tfxcheck.h"

#define RATE 48000

static GstAudioInfo
info_of (guint n_channels)
{
  return tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, n_channels,
      GST_AUDIO_LAYOUT_INTERLEAVED);
}

static GVariant *
make_doubles (const gdouble *numbers, gsize n)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, numbers, n,
      sizeof *numbers);
}

static GVariant *
respond (gpointer object, gdouble freq_hz, guint channel)
{
  GVariant *response = NULL;

  g_signal_emit_by_name (object, "response", make_doubles (&freq_hz, 1),
      channel, &response);
  return response;
}

/* The number of a field. */
static gdouble
number (GVariant *response, const gchar *field)
{
  GVariant *list =
      g_variant_lookup_value (response, field, G_VARIANT_TYPE ("ad"));
  const gdouble *numbers;
  gdouble found;
  gsize n = 0;

  fail_unless (list != NULL, "no %s", field);
  numbers = g_variant_get_fixed_array (list, &n, sizeof *numbers);
  fail_unless_equals_int (n, 1);
  found = numbers[0];
  g_variant_unref (list);
  return found;
}

static gdouble
gain_db (gpointer object, gdouble freq_hz, guint channel)
{
  GVariant *response = respond (object, freq_hz, channel);
  gdouble db;

  fail_unless (response != NULL);
  db = 20.0 * log10 (hypot (number (response, "real"),
                  number (response, "imaginary")));
  g_variant_unref (response);
  return db;
}

static void
expect_near (gdouble have, gdouble want, gdouble bound)
{
  fail_unless (fabs (have - want) <= bound, "%g, not %g", have, want);
}

GST_START_TEST (test_iir)
{
  GstAudioInfo info = info_of (2);
  GstHarness *h =
      tfx_check_harness ("tfxbutterworth mode=low-pass cutoff=1000 order=4",
          &info);
  GVariant *response;
  guint channel = 0;
  gdouble rate = 0;

  expect_near (gain_db (h->element, 0.0, 0), 0.0, 1e-9);
  expect_near (gain_db (h->element, 1000.0, 1), -3.0103, 1e-4);
  fail_unless (gain_db (h->element, 8000.0, 0) < -70.0);
  response = respond (h->element, 0.0, 1);
  fail_unless (g_variant_lookup (response, "rate", "d", &rate) && rate == RATE);
  fail_unless (
      g_variant_lookup (response, "channel", "u", &channel) && channel == 1);
  /* The poles' 1 / Q add up to 2.613; the bilinear transform halves it. */
  expect_near (number (response, "group-delay"),
      0.5 * 2.6131259 / tan (G_PI * 1000.0 / RATE), 1e-3);
  g_variant_unref (response);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* What the element takes out of the stream, and what its kernel does. */
GST_START_TEST (test_fir)
{
  GstAudioInfo info = info_of (1);
  GstHarness *h =
      tfx_check_harness ("tfxfir mode=low-pass cutoff=4000 taps=101", &info);
  GVariant *response = respond (h->element, 1000.0, 0);
  guint64 latency = 0;

  expect_near (number (response, "group-delay"), 50.0, 1e-6);
  fail_unless (g_variant_lookup (response, "latency", "t", &latency));
  expect_near (latency, 50.0 / RATE * 1e9, 1.0);
  expect_near (gain_db (h->element, 4000.0, 0), -6.02, 0.02);
  g_variant_unref (response);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_stages)
{
  GstAudioInfo info = info_of (2);
  GstHarness *h = tfx_chains_harness ("eq=ParametricEQ(1000, 2, 6) | (ch[1]: "
                                      "g=Gain(0.5)) | Delay(100, mix=1)",
      &info);
  GObject *eq = tfx_chains_child (h->element, "eq");
  GObject *gain = tfx_chains_child (h->element, "g");

  expect_near (gain_db (eq, 1000.0, 0), 6.0, 1e-9);
  expect_near (gain_db (gain, 1000.0, 0), -6.0206, 1e-4);
  expect_near (gain_db (h->element, 1000.0, 1) -
                   gain_db (h->element, 1000.0, 0),
      -6.0206, 1e-4);
  g_object_set (eq, "gain", -3.0, NULL);
  expect_near (gain_db (eq, 1000.0, 0), -3.0, 1e-9);
  g_object_unref (eq);
  g_object_unref (gain);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A stage that does not fit the stream, of a chain that was refused: no response.
 * (It was written behind the end of its gains.) */
GST_START_TEST (test_misfit)
{
  static const gchar *const chains[] = { "Mix([[1, 2]])",
    "Mix([[1, 2, 3], [4, 5, 6], [7, 8, 9]])", "ch[1]: Gain(2)" };
  GstAudioInfo info = info_of (1);

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    GstHarness *h = tfx_chains_harness ("Gain(0.5)", &info);
    GObject *stage;
    GVariant *response, *curve = NULL;

    g_object_set (h->element, "chain", chains[i], NULL);
    stage =
        gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (h->element), 0);
    response = respond (stage, 100.0, 0);
    fail_unless (response == NULL, "%s has a response", chains[i]);
    g_signal_emit_by_name (stage, "gain-curve",
        make_doubles (&(gdouble){ -20 }, 1), &curve);
    fail_unless (curve == NULL);
    g_object_unref (stage);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Without a stream a chain answers for a usual one, then for the last one. */
GST_START_TEST (test_at_rest)
{
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  GObject *eq, *limiter;
  GVariant *response;
  GstAudioInfo info = tfx_check_f32 (96000, 2);
  gdouble rate = 0.0;
  guint64 latency = 0;
  GstHarness *h;

  g_object_set (chain, "chain",
      "eq=ParametricEQ(1000, 2, 6) | (ch[5]: Gain(0.5)) | "
      "l=Limiter(-1, lookahead=0.01)",
      NULL);
  eq = tfx_chains_child (chain, "eq");
  limiter = tfx_chains_child (chain, "l");
  expect_near (gain_db (eq, 1000.0, 0), 6.0, 1e-9);
  expect_near (gain_db (chain, 1000.0, 0), 6.0, 1e-9);
  expect_near (gain_db (chain, 1000.0, 5), 6.0 - 6.0206, 1e-4);
  response = respond (chain, 100.0, 0);
  fail_unless (g_variant_lookup (response, "rate", "d", &rate));
  fail_unless (g_variant_lookup (response, "latency", "t", &latency));
  expect_near (rate, 48000.0, 0.0);
  expect_near (latency, 1e7, 1.0);
  g_variant_unref (response);
  g_object_unref (eq);
  g_object_unref (limiter);
  g_object_set (chain, "chain", "Mix([[1], [0.5]]) | eq=Gain(2)", NULL);
  expect_near (gain_db (chain, 1000.0, 0), 6.0206, 1e-4);
  gst_object_unref (chain);

  h = tfx_chains_harness ("Gain(2)", &info);
  gst_element_set_state (h->element, GST_STATE_NULL);
  response = respond (h->element, 100.0, 0);
  fail_unless (g_variant_lookup (response, "rate", "d", &rate));
  expect_near (rate, 96000.0, 0.0);
  g_variant_unref (response);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
expect_curve (GstHarness *h, const gchar *stage, gdouble level, gdouble wanted)
{
  GObject *child = tfx_chains_child (h->element, stage);
  GVariant *curve = NULL;
  gsize n = 0;

  g_signal_emit_by_name (child, "gain-curve", make_doubles (&level, 1), &curve);
  fail_unless (curve != NULL);
  expect_near (*(const gdouble *)g_variant_get_fixed_array (curve, &n,
                   sizeof (gdouble)),
      wanted, 1e-9);
  g_variant_unref (curve);
  g_object_unref (child);
}

GST_START_TEST (test_curves)
{
  GstAudioInfo info = info_of (1);
  GstHarness *h =
      tfx_chains_harness ("c=Compressor(-20, 4, knee=6, makeup_gain=1) | "
                          "e=Expander(-40, 2, "
                          "knee=0, floor=-30) | l=Limiter(-3) | g=Gain(2)",
          &info);
  GObject *gain = tfx_chains_child (h->element, "g");
  GVariant *curve;
  const gdouble level = 0.0;

  expect_curve (h, "c", -40.0, 1.0);
  expect_curve (h, "c", 0.0, 1.0 - 15.0);
  /* In the middle of the knee: 3 dB squared over 12. */
  expect_curve (h, "c", -20.0, 1.0 - 0.75 * 9.0 / 12.0);
  expect_curve (h, "e", -50.0, -10.0);
  expect_curve (h, "e", -90.0, -30.0);
  expect_curve (h, "l", 1.0, -4.0);
  expect_curve (h, "l", -10.0, 0.0);
  g_signal_emit_by_name (gain, "gain-curve", make_doubles (&level, 1), &curve);
  fail_unless (curve == NULL);
  g_object_unref (gain);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The element and its one stage say the same, each with all that there is. */
GST_START_TEST (test_class)
{
  static const gchar *const fields[] = { "real", "imaginary", "group-delay" };
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  gchar *text = g_strdup_printf ("s=%s", class_calls[__i__]);
  GVariant *all, *of_stage;
  guint64 latency = 0, latency_of_stage = 1;
  gchar *folder = g_dir_make_tmp (NULL, NULL);
  GObject *stage;

  /* (Other tests have a file of that name.) */
  fail_unless (folder && g_chdir (folder) == 0);
  fail_unless (
      g_file_set_contents (CLASS_CALLS_FILE, "0.5\n0.25\n0.1\n", -1, NULL));
  g_object_set (chain, "chain", text, NULL);
  stage = tfx_chains_child (chain, "s");
  all = respond (chain, 440.0, 0);
  of_stage = respond (stage, 440.0, 0);
  fail_unless (all != NULL && of_stage != NULL, "%s", text);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    fail_unless (isfinite (number (all, fields[i])), "%s: %s", text, fields[i]);
    expect_near (number (of_stage, fields[i]), number (all, fields[i]), 1e-9);
  }
  fail_unless (g_variant_lookup (all, "latency", "t", &latency));
  fail_unless (g_variant_lookup (of_stage, "latency", "t", &latency_of_stage));
  fail_unless_equals_uint64 (latency_of_stage, latency);
  g_variant_unref (all);
  g_variant_unref (of_stage);
  g_object_unref (stage);
  gst_object_unref (chain);
  g_unlink (CLASS_CALLS_FILE);
  g_rmdir (folder);
  g_free (folder);
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_chebyshev)
{
  GstAudioInfo info = info_of (1);
  GstHarness *h = tfx_check_harness ("tfxchebyshev mode=low-pass cutoff=1000 "
                                     "ripple=3",
      &info);

  expect_near (gain_db (h->element, 1000.0, 0), -3.0, 1e-6);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_nothing)
{
  GstElement *element = gst_element_factory_make ("tfxbutterworth", NULL);

  fail_unless (respond (element, 1000.0, 0) == NULL);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
response_suite (void)
{
  Suite *s = suite_create ("response");
  TCase *tc = tcase_create ("all");
  int n = 0;

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_iir);
  tcase_add_test (tc, test_fir);
  tcase_add_test (tc, test_stages);
  tcase_add_test (tc, test_misfit);
  tcase_add_test (tc, test_at_rest);
  tcase_add_test (tc, test_curves);
  tcase_add_test (tc, test_nothing);
  tcase_add_test (tc, test_chebyshev);
  while (class_calls[n])
    n++;
  tcase_add_loop_test (tc, test_class, 0, n);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, response_suite ());
}
