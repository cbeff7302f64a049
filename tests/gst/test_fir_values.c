/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_values.c: the properties of tfxfir: what they are, what cannot be
 * met, and what the user is told.
 */
#include <math.h>
#include <string.h>

#include "firs.h"

#define RATE 48000
#define N 480
#define MARGIN 1e-6

static void
drop_bus (GstHarness *h, GstBus *bus)
{
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

/* The impulse response of the element, n frames of it, as a stream of its own
 * gets it. */
static gdouble *
find_kernel (GstHarness *h, const GstAudioInfo *info, gsize n)
{
  gdouble *in = g_new0 (gdouble, n), *out;
  TfxCatch *caught = tfx_firs_catch_new ();

  in[0] = 1.0;
  tfx_firs_push (h, info, in, n, 0, n);
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, info);
  tfx_firs_expect_whole (caught, n, 0, info->rate);
  out = g_memdup2 (tfx_firs_samples (caught), n * sizeof *out);
  tfx_firs_catch_free (caught);
  g_free (in);
  return out;
}

static void
expect_kernel (GstHarness *h, const GstAudioInfo *info, const gdouble *taps,
    gsize n)
{
  gdouble *out = find_kernel (h, info, n + 5);

  fail_unless (tfx_check_distance (out, taps, n) < 1e-14);
  for (gsize i = n; i < n + 5; i++)
    fail_unless (out[i] == 0.0 || fabs (out[i]) < 1e-15);
  g_free (out);
}

static GstAudioInfo
mono (void)
{
  return tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
}

/* ---- what there is ----------------------------------------------------------------- */

GST_START_TEST (test_defaults)
{
  GstElement *element = gst_element_factory_make ("tfxfir", NULL);
  gint taps, mode, window, method, delay;
  gdouble cutoff, lower, upper, beta;
  gchar *location;
  gboolean align;
  GValue kernel = G_VALUE_INIT;

  g_object_get (element, "taps", &taps, "mode", &mode, "window", &window,
      "method", &method, "cutoff", &cutoff, "lower-frequency", &lower,
      "upper-frequency", &upper, "beta", &beta, "kernel-location", &location,
      "align", &align, "delay", &delay, NULL);
  fail_unless_equals_int (taps, 101);
  fail_unless_equals_int (mode, TFX_MODE_LOW_PASS);
  fail_unless_equals_int (window, TFX_WINDOW_HAMMING);
  fail_unless_equals_int (method, TFX_FIR_AUTO);
  fail_unless_equals_float (cutoff, 1000.0);
  fail_unless_equals_float (lower, 300.0);
  fail_unless_equals_float (upper, 3400.0);
  fail_unless_equals_float (beta, 8.6);
  fail_unless (location == NULL);
  fail_unless (align);
  fail_unless_equals_int (delay, -1);
  g_value_init (&kernel, GST_TYPE_ARRAY);
  g_object_get_property (G_OBJECT (element), "kernel", &kernel);
  fail_unless_equals_int (gst_value_array_get_size (&kernel), 0);
  g_value_unset (&kernel);
  gst_object_unref (element);
}
GST_END_TEST;

/* Numbers of other types, such as integers from Python's [1, 2, 3]. */
GST_START_TEST (test_number_types)
{
  static const struct
  {
    GType type;
    const gchar *items[3];
    gdouble taps[3];
  } cases[] = {
    { G_TYPE_INT, { "1", "-2", "3" }, { 1.0, -2.0, 3.0 } },
    { G_TYPE_INT64, { "4", "-5", "6" }, { 4.0, -5.0, 6.0 } },
    { G_TYPE_FLOAT, { "0.5", "7", "-8" }, { 0.5, 7.0, -8.0 } },
  };
  GstAudioInfo info = mono ();
  GstHarness *h = gst_harness_new ("tfxfir");
  GValue kernel = G_VALUE_INIT, item = G_VALUE_INIT;

  g_value_init (&kernel, GST_TYPE_ARRAY);
  g_value_init (&item, cases[__i__].type);
  for (guint i = 0; i < 3; i++) {
    fail_unless (gst_value_deserialize (&item, cases[__i__].items[i]));
    gst_value_array_append_value (&kernel, &item);
  }
  g_object_set_property (G_OBJECT (h->element), "kernel", &kernel);
  g_value_unset (&kernel);
  tfx_check_set_info (h, &info);
  expect_kernel (h, &info, cases[__i__].taps, 3);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* A kernel as it is typed, and as it is told. */
GST_START_TEST (test_typed_kernel)
{
  static const gchar *const texts[] = { "<0.5, -0.25, 3>", "<1>",
    "<1.0e-3,(double)2>" };
  static const gdouble taps[][3] = { { 0.5, -0.25, 3.0 }, { 1.0 },
    { 1e-3, 2.0 } };
  static const gsize n_taps[] = { 3, 1, 2 };
  GstAudioInfo info = mono ();
  gchar *launch = g_strdup_printf ("tfxfir kernel=\"%s\"", texts[__i__]);
  GstHarness *h = tfx_check_harness (launch, &info);
  GValue kernel = G_VALUE_INIT;

  expect_kernel (h, &info, taps[__i__], n_taps[__i__]);
  g_value_init (&kernel, GST_TYPE_ARRAY);
  g_object_get_property (G_OBJECT (h->element), "kernel", &kernel);
  fail_unless_equals_int (gst_value_array_get_size (&kernel), n_taps[__i__]);
  for (gsize i = 0; i < n_taps[__i__]; i++)
    fail_unless_equals_float (g_value_get_double (
                                  gst_value_array_get_value (&kernel, i)),
        taps[__i__][i]);
  g_value_unset (&kernel);
  g_free (launch);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- whose delay is taken out -------------------------------------------------------- */

typedef struct
{
  gdouble taps[6];
  gsize n, delay;
  gint asked; /* plus one; 0: nothing */
} Symmetry;

static const Symmetry symmetries[] = { { { 1, 2, 1 }, 3, 1 },
  { { 1, 2, 2, 1 }, 4, 1 }, { { 1, 2, 0, -2, -1 }, 5, 2 },
  { { 1, 2, 3 }, 3, 0 }, { { 3, 2, 1 }, 3, 0 }, { { 1 }, 1, 0 },
  { { 1, 0, 0, 0, 0.999 }, 5, 0 }, { { 0, 0, 1 }, 3, 0 },
  /* within rounding */
  { { 0.1f, 0.7, 0.1 }, 3, 1 },
  /* told otherwise */
  { { 1, 2, 1 }, 3, 0, 1 + 0 }, { { 1, 2, 1 }, 3, 2, 1 + 2 },
  { { 1, 2, 3 }, 3, 2, 1 + 2 }, { { 1, 2, 3, 4, 5 }, 5, 1, 1 + 1 } };

/* A symmetric or antisymmetric kernel is late by half its length; of another
 * one nobody can say so but who made it. */
GST_START_TEST (test_symmetry)
{
  const Symmetry *s = &symmetries[__i__];
  GstAudioInfo info = mono ();
  GstHarness *h = tfx_check_harness ("tfxfir", &info);
  gdouble in[20] = { 0.0 };
  TfxCatch *caught = tfx_firs_catch_new ();

  in[10] = 1.0;
  g_object_set (h->element, "delay", s->asked - 1, NULL);
  tfx_firs_set_kernel (h->element, s->taps, s->n);
  tfx_firs_push (h, &info, in, 20, 0, 20);
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      gst_util_uint64_scale_ceil (s->delay, GST_SECOND, RATE));
  gst_harness_push_event (h, gst_event_new_eos ());
  tfx_firs_collect (caught, h, &info);
  tfx_firs_expect_whole (caught, 20, 0, RATE);
  fail_unless (tfx_check_distance (tfx_firs_samples (caught) + 10 - s->delay,
                   s->taps, s->n) < 1e-14);
  tfx_firs_catch_free (caught);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- what cannot be met ---------------------------------------------------------------- */

typedef struct
{
  const gchar *launch;
  TfxFirDesign used;
  const gchar *words[3]; /* of the warning */
  const gchar *second[3];
} Clamped;

#define LOW (MARGIN * RATE)
#define HIGH (RATE / 2.0 - MARGIN * RATE)

static const Clamped clamped[] = {
  { "tfxfir mode=high-pass taps=100",
      { TFX_MODE_HIGH_PASS, TFX_WINDOW_HAMMING, 0.0, 101, 1000.0 },
      { "taps=100 must be odd for a high-pass", "using 101." } },
  { "tfxfir mode=band-reject taps=2",
      { TFX_MODE_BAND_REJECT, TFX_WINDOW_HAMMING, 0.0, 3, 300.0, 3400.0 },
      { "taps=2 must be odd for a band-reject", "using 3." } },
  { "tfxfir taps=2 window=hann",
      { TFX_MODE_LOW_PASS, TFX_WINDOW_HANN, 0.0, 3, 1000.0 },
      { "taps=2 must not be 2", "using 3." } },
  { "tfxfir cutoff=30000",
      { TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 0.0, 101, HIGH },
      { "cutoff=30000 Hz", "(0.048–23999.952)" } },
  { "tfxfir cutoff=0", { TFX_MODE_LOW_PASS, TFX_WINDOW_HAMMING, 0.0, 101, LOW },
      { "cutoff=0 Hz", "using 0.048 Hz." } },
  { "tfxfir mode=band-pass lower-frequency=3400 upper-frequency=300",
      { TFX_MODE_BAND_PASS, TFX_WINDOW_HAMMING, 0.0, 101, 3400.0,
          3400.0 + LOW },
      { "upper-frequency=300 Hz",
          "(3400.048–23999.952, above lower-frequency)" } },
  /* two at once */
  { "tfxfir mode=high-pass taps=100 cutoff=24000",
      { TFX_MODE_HIGH_PASS, TFX_WINDOW_HAMMING, 0.0, 101, HIGH },
      { "cutoff=24000 Hz" }, { "taps=100", "using 101." } },
};

GST_START_TEST (test_clamped)
{
  const Clamped *u = &clamped[__i__];
  GstAudioInfo info = mono ();
  gchar *launch = g_strdup_printf ("%s align=false", u->launch);
  GstElement *element = gst_parse_launch (launch, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstBus *bus = tfx_check_bus (h);
  gdouble *taps = g_new (gdouble, u->used.n_taps);

  tfx_check_set_info (h, &info);
  tfx_check_expect_warning (bus, u->words[0], u->words[1], u->words[2], NULL);
  if (u->second[0])
    tfx_check_expect_warning (bus, u->second[0], u->second[1], u->second[2],
        NULL);
  fail_unless_equals_int (tfx_fir_design (&u->used, RATE, taps), 0);
  expect_kernel (h, &info, taps, u->used.n_taps);
  tfx_check_expect_no_warning (bus);
  g_free (taps);
  g_free (launch);
  gst_object_unref (element);
  drop_bus (h, bus);
}
GST_END_TEST;

/* Told once; the asked number is used as soon as the mode allows it. */
GST_START_TEST (test_taps_come_back)
{
  GstAudioInfo info = mono ();
  GstHarness *h = tfx_check_harness ("tfxfir align=false taps=100", &info);
  GstBus *bus = tfx_check_bus (h);
  gdouble *even =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 100, 1000.0, 0.0, RATE);
  gdouble *odd =
      tfx_firs_design (TFX_MODE_HIGH_PASS, 0, 101, 1000.0, 0.0, RATE);
  gint taps;

  for (guint i = 0; i < 2; i++) {
    expect_kernel (h, &info, even, 100);
    tfx_check_expect_no_warning (bus);
    gst_util_set_object_arg (G_OBJECT (h->element), "mode", "high-pass");
    expect_kernel (h, &info, odd, 101);
    tfx_check_expect_warning (bus, "taps=100", NULL);
    /* what does not change it is no news */
    gst_util_set_object_arg (G_OBJECT (h->element), "method", "direct");
    expect_kernel (h, &info, odd, 101);
    tfx_check_expect_no_warning (bus);
    g_object_get (h->element, "taps", &taps, NULL);
    fail_unless_equals_int (taps, 100);
    gst_util_set_object_arg (G_OBJECT (h->element), "mode", "low-pass");
  }
  g_free (even);
  g_free (odd);
  drop_bus (h, bus);
}
GST_END_TEST;

/* More delay than there are taps: the last tap, told once; as much as was asked
 * when a kernel has so many. */
GST_START_TEST (test_delay_too_long)
{
  static const gdouble few[] = { 1.0, 2.0, 4.0 },
                       many[] = { 1.0, 2.0, 4.0, 8.0, 16.0, 32.0 };
  GstAudioInfo info = mono ();
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  gint delay;

  for (guint i = 0; i < 3; i++) {
    const gdouble *taps = i == 1 ? many : few;
    gsize n = i == 1 ? 6 : 3, used = i == 1 ? 5 : 2;
    gdouble in[20] = { 0.0 };
    TfxCatch *caught = tfx_firs_catch_new ();

    in[10] = 1.0;
    g_object_set (h->element, "delay", 5, NULL);
    tfx_firs_set_kernel (h->element, taps, n);
    /* A stream of its own, so that the delay may shrink. */
    tfx_check_set_info (h, &info);
    tfx_firs_push (h, &info, in, 20, 0, 20);
    fail_unless_equals_uint64 (gst_harness_query_latency (h),
        gst_util_uint64_scale_ceil (used, GST_SECOND, RATE));
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    if (i != 1)
      tfx_check_expect_warning (bus,
          "delay=5 frames must be less than the number of taps; "
          "using 2 frames.",
          NULL);
    tfx_check_expect_no_warning (bus);
    g_object_get (h->element, "delay", &delay, NULL);
    fail_unless_equals_int (delay, 5);
    tfx_firs_collect (caught, h, &info);
    fail_unless (tfx_check_distance (tfx_firs_samples (caught) + 10 - used,
                     taps, n) < 1e-14);
    tfx_firs_catch_free (caught);
  }
  drop_bus (h, bus);
}
GST_END_TEST;

/* Numbers that no stream can be filtered with. */
GST_START_TEST (test_bad_kernels)
{
  const gdouble bad[] = { 1.0, __i__ < 2 ? 1e31 : NAN };
  const gchar *fault =
      __i__ < 2 ? "tap 1 of kernel is 1e+31" : "tap 1 of kernel is nan";
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = gst_harness_new ("tfxfir");
  GstBus *bus = tfx_check_bus (h);
  gdouble in[N] = { 1.0 };
  GstMessage *message;
  GError *error;

  if (__i__ % 2 == 0) {
    tfx_check_set_info (h, &info);
    gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, in, N)));
  }
  tfx_firs_set_kernel (h->element, bad, 2);
  if (__i__ % 2 == 0) {
    gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, in, N)));
    tfx_check_expect_warning (bus, fault, "-1e+30 to 1e+30",
        "The previous settings stay in use", NULL);
  } else {
    tfx_check_set_info (h, &info);
    for (guint i = 0; i < 3; i++)
      fail_unless_equals_int (gst_harness_push (h,
                                  tfx_check_buffer (&info, in, N)),
          GST_FLOW_NOT_NEGOTIATED);
    /* told once, however often caps and buffers come */
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (strstr (error->message, fault) != NULL);
    g_error_free (error);
    gst_message_unref (message);
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  }
  drop_bus (h, bus);
}
GST_END_TEST;

/* Factors that no float holds when they are multiplied are multiplied with
 * samples. */
GST_START_TEST (test_huge_products)
{
  static const gchar *const chains[] = {
    "Gain(1e5) | FIR([1e6]) | Gain(1e5) | Gain(1e5) | Gain(1e5) | Gain(1e5) | "
    "Gain(1e5)",
    "FIR([1e6]) | FIR([1e6]) | FIR([1e6]) | FIR([1e6]) | FIR([1e6]) | "
    "FIR([1e6])"
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  gchar *launch = g_strdup_printf ("tfxchain chain=\"%s\"", chains[__i__]);
  GstHarness *h = tfx_check_harness (launch, &info);
  gdouble in[N], *out;
  gsize n;
  GstBuffer *buffer;

  for (guint i = 0; i < N; i++)
    in[i] = 1e-30;
  buffer = tfx_check_push (h, tfx_check_buffer (&info, in, N));
  out = tfx_check_samples (buffer, &info, &n);
  fail_unless_equals_uint64 (n, N);
  for (guint i = 0; i < N; i++)
    fail_unless (fabs (out[i] - 1e6) < 1.0, "%g", out[i]);
  g_free (out);
  g_free (launch);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* GObject does not let in what is no number. */
GST_START_TEST (test_nan)
{
  GstElement *element = gst_element_factory_make ("tfxfir", NULL);

  TFX_CHECK_REFUSED (g_object_set (element, "beta", (gdouble)NAN, NULL));
  gst_object_unref (element);
}
GST_END_TEST;

/* Every combination of extremes makes a filter that runs, at any rate. */
GST_START_TEST (test_extremes)
{
  static const gint rates[] = { 1, 8000, 384000, G_MAXINT };
  static const gint taps[] = { 1, 2, 3, 100, 1001 };
  static const gdouble frequencies[] = { 0.0, 1e-9, 20.0, 4000.0,
    G_MAXINT / 2.0 };
  static const gdouble betas[] = { 0.0, 8.6, 700.0 };
  const guint n = G_N_ELEMENTS (frequencies);
  GstElement *element = gst_element_factory_make ("tfxfir", NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, rates[__i__], 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstBus *bus = tfx_check_bus (h);

  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 4 * 5 * 9 * n * n; i++) {
    guint k = i / 180;
    gdouble *out;
    gchar *text;

    g_object_set (element, "mode", i % 4, "taps", taps[i / 4 % 5], "window",
        i / 20 % 9, "beta", betas[i % 3], "cutoff", frequencies[k % n],
        "lower-frequency", frequencies[k % n], "upper-frequency",
        frequencies[k / n], NULL);
    out = find_kernel (h, &info, 8);
    fail_unless (tfx_check_is_finite (out, 8), "combination %u", i);
    g_free (out);
    while ((text = tfx_check_pop_warning (bus))) {
      fail_unless (strstr (text, "; using "), "combination %u: %s", i, text);
      g_free (text);
    }
  }
  gst_object_unref (element);
  drop_bus (h, bus);
}
GST_END_TEST;

static Suite *
fir_values_suite (void)
{
  Suite *s = suite_create ("fir-values");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_defaults);
  tcase_add_loop_test (tc, test_number_types, 0, 3);
  tcase_add_loop_test (tc, test_typed_kernel, 0, 3);
  tcase_add_loop_test (tc, test_symmetry, 0, G_N_ELEMENTS (symmetries));
  tcase_add_loop_test (tc, test_clamped, 0, G_N_ELEMENTS (clamped));
  tcase_add_test (tc, test_taps_come_back);
  tcase_add_test (tc, test_delay_too_long);
  tcase_add_loop_test (tc, test_bad_kernels, 0, 4);
  tcase_add_loop_test (tc, test_huge_products, 0, 2);
  tcase_add_test (tc, test_nan);
  tcase_add_loop_test (tc, test_extremes, 0, 4);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, fir_values_suite ());
}
