/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_response.c: the action signals response and gain-curve.
 */
#include <glib/gstdio.h>
#include <math.h>

#include "../dsp/classcalls.h"
#include "chains.h"
#include "tfxcheck.h"

#define RATE 48000
#define STAGES                                                                 \
  "tfxchain chain=\"eq=ParametricEQ(1000, 2, 6) | (ch[1]: g=Gain(0.5)) | "     \
  "Delay(100, mix=1)\""

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
  g_autoptr (GVariant) list =
      g_variant_lookup_value (response, field, G_VARIANT_TYPE ("ad"));
  const gdouble *numbers;
  gdouble found;
  gsize n = 0;

  fail_unless (list != NULL, "no %s", field);
  numbers = g_variant_get_fixed_array (list, &n, sizeof *numbers);
  fail_unless_equals_int (n, 1);
  found = numbers[0];
  return found;
}

static gdouble
gain_db (gpointer object, gdouble freq_hz, guint channel)
{
  g_autoptr (GVariant) response = respond (object, freq_hz, channel);
  gdouble db;

  fail_unless (response != NULL);
  db = 20.0 * log10 (hypot (number (response, "real"),
                  number (response, "imaginary")));
  return db;
}

static void
expect_near (gdouble have, gdouble want, gdouble bound)
{
  fail_unless (fabs (have - want) <= bound, "%g, not %g", have, want);
}

/* Gains of elements and of their stages. */
static const struct
{
  const gchar *launch, *stage;
  gdouble hz;
  guint channel;
  gdouble db, bound;
} gains[] = {
  { "tfxbutterworth mode=low-pass cutoff=1000 order=4", NULL, 0, 0, 0, 1e-9 },
  { "tfxbutterworth mode=low-pass cutoff=1000 order=4", NULL, 1000, 1, -3.0103,
      1e-4 },
  { "tfxchebyshev mode=low-pass cutoff=1000 ripple=3", NULL, 1000, 0, -3,
      1e-6 },
  { "tfxfir mode=low-pass cutoff=4000 taps=101", NULL, 4000, 0, -6.02, 0.02 },
  { STAGES, "eq", 1000, 0, 6, 1e-9 },
  { STAGES, "g", 1000, 0, -6.0206, 1e-4 },
};

GST_START_TEST (test_gains)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (gains[__i__].launch, &info);
  g_autoptr (GObject) stage =
      gains[__i__].stage ? tfx_chains_child (h->element, gains[__i__].stage)
                         : NULL;

  expect_near (gain_db (stage ? (gpointer)stage : h->element, gains[__i__].hz,
                   gains[__i__].channel),
      gains[__i__].db, gains[__i__].bound);
}
GST_END_TEST;

GST_START_TEST (test_iir)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth mode=low-pass cutoff=1000 order=4",
          &info);
  g_autoptr (GVariant) response = respond (h->element, 0.0, 1);
  guint channel = 0;
  gdouble rate = 0;

  fail_unless (gain_db (h->element, 8000.0, 0) < -70.0);
  fail_unless (g_variant_lookup (response, "rate", "d", &rate) && rate == RATE);
  fail_unless (
      g_variant_lookup (response, "channel", "u", &channel) && channel == 1);
  /* The poles' 1 / Q add up to 2.613; the bilinear transform halves it. */
  expect_near (number (response, "group-delay"),
      0.5 * 2.6131259 / tan (G_PI * 1000.0 / RATE), 1e-3);
}
GST_END_TEST;

/* What the element takes out of the stream, and what its kernel does. */
GST_START_TEST (test_fir)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxfir mode=low-pass cutoff=4000 taps=101", &info);
  g_autoptr (GVariant) response = respond (h->element, 1000.0, 0);
  guint64 latency = 0;

  expect_near (number (response, "group-delay"), 50.0, 1e-6);
  fail_unless (g_variant_lookup (response, "latency", "t", &latency));
  expect_near (latency, 50.0 / RATE * 1e9, 1.0);
}
GST_END_TEST;

/* They change with their stage. */
GST_START_TEST (test_stages)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_check_harness (STAGES, &info);
  g_autoptr (GObject) eq = tfx_chains_child (h->element, "eq");

  expect_near (gain_db (h->element, 1000.0, 1) -
                   gain_db (h->element, 1000.0, 0),
      -6.0206, 1e-4);
  g_object_set (eq, "gain", -3.0, NULL);
  expect_near (gain_db (eq, 1000.0, 0), -3.0, 1e-9);
}
GST_END_TEST;

/* A stage that does not fit the stream, of a chain that was refused: no response.
 * (It was written behind the end of its gains.) */
GST_START_TEST (test_misfit)
{
  static const gchar *const chains[] = { "Mix([[1, 2]])",
    "Mix([[1, 2, 3], [4, 5, 6], [7, 8, 9]])", "ch[1]: Gain(2)" };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    g_autoptr (TfxHarness) h = tfx_chains_harness ("Gain(0.5)", &info);
    g_autoptr (GObject) stage = NULL;
    GVariant *response, *curve = NULL;

    g_object_set (h->element, "chain", chains[i], NULL);
    stage =
        gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (h->element), 0);
    response = respond (stage, 100.0, 0);
    fail_unless (response == NULL, "%s has a response", chains[i]);
    g_signal_emit_by_name (stage, "gain-curve",
        make_doubles (&(gdouble){ -20 }, 1), &curve);
    fail_unless (curve == NULL);
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
  g_autoptr (TfxHarness) h = NULL;

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
}
GST_END_TEST;

GST_START_TEST (test_curves)
{
  static const struct
  {
    const gchar *stage;
    gdouble level, gain;
  } points[] = {
    { "c", -40.0, 1.0 }, { "c", 0.0, 1.0 - 15.0 },
    /* In the middle of the knee: 3 dB squared over 12. */
    { "c", -20.0, 1.0 - 0.75 * 9.0 / 12.0 }, { "e", -50.0, -10.0 },
    { "e", -90.0, -30.0 }, { "l", 1.0, -4.0 }, { "l", -10.0, 0.0 },
    { "g", 0.0, NAN }, /* has none */
  };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("c=Compressor(-20, 4, knee=6, makeup_gain=1) | "
                          "e=Expander(-40, 2, knee=0, floor=-30) | "
                          "l=Limiter(-3) | g=Gain(2)",
          &info);

  for (guint i = 0; i < G_N_ELEMENTS (points); i++) {
    g_autoptr (GObject) stage = tfx_chains_child (h->element, points[i].stage);
    g_autoptr (GVariant) curve = NULL;
    gsize n = 0;

    g_signal_emit_by_name (stage, "gain-curve",
        make_doubles (&points[i].level, 1), &curve);
    fail_unless ((curve == NULL) == isnan (points[i].gain), "%s",
        points[i].stage);
    if (curve)
      expect_near (*(const gdouble *)g_variant_get_fixed_array (curve, &n,
                       sizeof (gdouble)),
          points[i].gain, 1e-9);
  }
}
GST_END_TEST;

/* The element and its one stage say the same, each with all that there is. */
GST_START_TEST (test_class)
{
  static const gchar *const fields[] = { "real", "imaginary", "group-delay" };
  g_autofree gchar *text = g_strdup_printf ("s=%s", class_calls[__i__]);
  g_autoptr (GstElement) chain = tfx_chains_element (text);
  g_autoptr (GObject) stage = tfx_chains_child (chain, "s");
  g_autoptr (GVariant) all = respond (chain, 440.0, 0),
                       of_stage = respond (stage, 440.0, 0);
  guint64 latency = 0, latency_of_stage = 1;

  fail_unless (all != NULL && of_stage != NULL, "%s", text);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    fail_unless (isfinite (number (all, fields[i])), "%s: %s", text, fields[i]);
    expect_near (number (of_stage, fields[i]), number (all, fields[i]), 1e-9);
  }
  fail_unless (g_variant_lookup (all, "latency", "t", &latency));
  fail_unless (g_variant_lookup (of_stage, "latency", "t", &latency_of_stage));
  fail_unless_equals_uint64 (latency_of_stage, latency);
}
GST_END_TEST;

GST_START_TEST (test_nothing)
{
  g_autoptr (GstElement) element =
      gst_element_factory_make ("tfxbutterworth", NULL);

  fail_unless (respond (element, 1000.0, 0) == NULL);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("response");
  int n = 0;

  g_free (tfx_check_write (CLASS_CALLS_FILE, "0.5\n0.25\n0.1\n"));
  if (g_chdir (tfx_check_folder ()) != 0)
    return 1;
  tcase_add_loop_test (tc, test_gains, 0, G_N_ELEMENTS (gains));
  tcase_add_test (tc, test_iir);
  tcase_add_test (tc, test_fir);
  tcase_add_test (tc, test_stages);
  tcase_add_test (tc, test_misfit);
  tcase_add_test (tc, test_at_rest);
  tcase_add_test (tc, test_curves);
  tcase_add_test (tc, test_nothing);
  while (class_calls[n])
    n++;
  tcase_add_loop_test (tc, test_class, 0, n);
  return tfx_check_run (argc, argv, tc);
}
