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
push_some (GstHarness *h, const GstAudioInfo *info, guint n_buffers)
{
  g_autofree gdouble *in = tfx_check_noise (N * n_buffers * info->channels, 5);

  g_free (tfx_check_filter (h, info, in, N * n_buffers, N));
}

/* ---- what is used instead ------------------------------------------------------ */

/* Noise comes out as the core alone makes it. */
static void
expect_design (GstHarness *h, const GstAudioInfo *info, const TfxDesign *design,
    const gchar *what)
{
  g_autofree gdouble *in = tfx_check_noise (N, 5);
  g_autofree gdouble *out = tfx_check_filter (h, info, in, N, N);
  g_autofree gdouble *expected = tfx_check_engine (design, info, in, N);
  gdouble distance = tfx_check_distance (out, expected, N);

  fail_unless (distance == 0.0, "%s: off by %g", what, distance);
}

typedef struct
{
  const gchar *launch;
  TfxDesign used;
  const gchar *words[3]; /* of the warning */
  const gchar *second;   /* of another one, if any */
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
      { "lower-frequency=50000 Hz" }, "upper-frequency=60000 Hz" },
  { "tfxchebyshev type=2 cutoff=24001",
      { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_LOW_PASS, 4, HIGH, 0.0, 0.0, 40.0 },
      { "cutoff=24001 Hz" } },
};

GST_START_TEST (test_clamped)
{
  const Clamped *u = &clamped[__i__];
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (GstElement) element = gst_parse_launch (u->launch, NULL);
  g_autoptr (TfxHarness) h =
      gst_harness_new_with_element (element, "sink", "src");
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  tfx_check_set_info (h, &info);
  tfx_check_expect_warning (bus, u->words[0], u->words[1], u->words[2], NULL);
  if (u->second)
    tfx_check_expect_warning (bus, u->second, NULL);
  expect_design (h, &info, &u->used, u->launch);
  tfx_check_expect_no_warning (bus);
}
GST_END_TEST;

/* Not a number is no frequency: GObject does not let it in. */
GST_START_TEST (test_nan)
{
  g_autoptr (GstElement) element =
      gst_element_factory_make ("tfxchebyshev", NULL);
  static const gchar *const names[] = { "cutoff", "lower-frequency",
    "upper-frequency", "ripple", "attenuation" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gdouble before, after;

    g_object_get (element, names[i], &before, NULL);
    TFX_CHECK_REFUSED (g_object_set (element, names[i], (gdouble)NAN, NULL));
    g_object_get (element, names[i], &after, NULL);
    fail_unless_equals_float (before, after);
  }
}
GST_END_TEST;

/* What the mode does not use may be anything. */
GST_START_TEST (test_unused_values)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxbutterworth", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  g_object_set (h->element, "lower-frequency", 1e6, "upper-frequency", 0.0,
      NULL);
  push_some (h, &info, 1);
  gst_util_set_object_arg (G_OBJECT (h->element), "mode", "band-pass");
  g_object_set (h->element, "cutoff", 1e6, "lower-frequency", 100.0,
      "upper-frequency", 200.0, NULL);
  push_some (h, &info, 1);
  tfx_check_expect_no_warning (bus);
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
  g_autoptr (GstElement) element =
      gst_element_factory_make ("tfxchebyshev", NULL);
  g_autoptr (TfxHarness) h =
      gst_harness_new_with_element (element, "sink", "src");
  GstAudioInfo info = tfx_check_f64 (rates[__i__], 1);
  const guint n = G_N_ELEMENTS (frequencies);
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 4 * 4 * 2 * 3 * n * n; i++) {
    guint k = i / 96;
    const gdouble x[8] = { 1.0 };
    g_autofree gdouble *out = NULL;
    gchar *text;

    g_object_set (element, "mode", i % 4, "order", orders[i / 4 % 4], "type",
        1 + (gint)(i / 16 % 2), "ripple", decibels[i / 32 % 3], "attenuation",
        decibels[i / 32 % 3] * 2.0, "cutoff", frequencies[k % n],
        "lower-frequency", frequencies[k % n], "upper-frequency",
        frequencies[k / n], NULL);
    out = tfx_check_filter (h, &info, x, 8, 8);
    fail_unless (tfx_check_is_finite (out, 8), "combination %u", i);
    while ((text = tfx_check_pop_warning (bus))) {
      fail_unless (strstr (text, "; using "), "combination %u: %s", i, text);
      g_free (text);
    }
    tfx_check_flush (h);
  }
}
GST_END_TEST;

/* ---- when the user is told -------------------------------------------------------- */

/* Told once, however long it lasts. */
GST_START_TEST (test_once_a_situation)
{
  static const struct
  {
    gdouble cutoff;
    gint order;
    gboolean restart;
    const gchar *told;
  } steps[] = {
    { 25000, 4, FALSE, "cutoff=25000 Hz" },
    /* other properties, or the same value again, are no news */
    { 25000, 6, FALSE, NULL },
    /* another value is, and the same one after it was met, and another start */
    { 26000, 6, FALSE, "cutoff=26000 Hz" },
    { 2000, 6, FALSE, NULL },
    { 26000, 6, FALSE, "cutoff=26000 Hz" },
    { 26000, 6, TRUE, "cutoff=26000 Hz" },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxbutterworth", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    if (steps[i].restart) {
      gst_element_set_state (h->element, GST_STATE_READY);
      gst_element_set_state (h->element, GST_STATE_PLAYING);
      gst_harness_push_event (h, gst_event_new_stream_start ("again"));
      tfx_check_set_info (h, &info);
    } else {
      g_object_set (h->element, "order", steps[i].order, "cutoff",
          steps[i].cutoff, NULL);
    }
    push_some (h, &info, i == 0 ? 20 : 2);
    if (steps[i].told)
      tfx_check_expect_warning (bus, steps[i].told, NULL);
    tfx_check_expect_no_warning (bus);
  }
}
GST_END_TEST;

/* The asked value stays the property's, and comes back with the rate. */
GST_START_TEST (test_comes_back)
{
  static const gint rates[] = { 96000, 44100, 32000, 96000, 44100 };
  GstAudioInfo info = tfx_check_f32 (rates[0], 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth cutoff=30000", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    TfxDesign used = { BUTTER, TFX_MODE_LOW_PASS, 4, 30000.0 };
    g_autofree gchar *rate = g_strdup_printf ("at %d Hz", rates[i]);

    info = tfx_check_f32 (rates[i], 1);
    tfx_check_set_info (h, &info);
    if (rates[i] < 60000)
      used.lower_hz = 0.5 * rates[i] - MARGIN * rates[i];
    expect_design (h, &info, &used, rate);
    if (rates[i] < 60000)
      tfx_check_expect_warning (bus, "cutoff=30000 Hz", rate, NULL);
    tfx_check_expect_no_warning (bus);
    tfx_check_expect_property (h->element, "cutoff", "30000");
  }
}
GST_END_TEST;

/* A device that is not there: told once, and the CPU filters. */
GST_START_TEST (test_device)
{
  static const TfxDesign plain = { BUTTER, TFX_MODE_LOW_PASS, 4, 1000.0 };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxbutterworth");
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autoptr (GstStructure) stats = NULL;

  gst_util_set_object_arg (G_OBJECT (h->element), "device", "cuda");
  tfx_check_set_info (h, &info);
  expect_design (h, &info, &plain, "device=cuda");
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "device"), "cpu");

  /* The one thing that depends on the build: whether CUDA is there. */
  g_object_set (h->element, "cutoff", 2000.0, NULL);
  push_some (h, &info, 2);
  tfx_check_expect_warning (bus, "device=cuda", "CPU", NULL);
  tfx_check_expect_no_warning (bus);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("values");

  tcase_add_loop_test (tc, test_clamped, 0, G_N_ELEMENTS (clamped));
  tcase_add_test (tc, test_nan);
  tcase_add_test (tc, test_unused_values);
  tcase_add_loop_test (tc, test_extremes, 0, 4);
  tcase_add_test (tc, test_once_a_situation);
  tcase_add_test (tc, test_comes_back);
  tcase_add_test (tc, test_device);
  return tfx_check_run (argc, argv, tc);
}
