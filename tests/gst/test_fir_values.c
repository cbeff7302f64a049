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

/* The impulse response of the element, n frames of it, as a stream of its own
 * gets it. */
static gdouble *
find_kernel (GstHarness *h, const GstAudioInfo *info, gsize n)
{
  g_autofree gdouble *in = g_new0 (gdouble, n);
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  in[0] = 1.0;
  tfx_firs_push (h, info, in, n, 0, n);
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, info);
  tfx_firs_expect_whole (caught, n, 0, info->rate);
  return g_memdup2 (tfx_firs_samples (caught), n * sizeof *in);
}

static void
expect_kernel (GstHarness *h, const GstAudioInfo *info, const gdouble *taps,
    gsize n)
{
  g_autofree gdouble *out = find_kernel (h, info, n + 5);

  fail_unless (tfx_check_distance (out, taps, n) < 1e-14);
  for (gsize i = n; i < n + 5; i++)
    fail_unless (out[i] == 0.0 || fabs (out[i]) < 1e-15);
}

/* ---- what there is ----------------------------------------------------------------- */

GST_START_TEST (test_defaults)
{
  static const gchar *const defaults[][2] = { { "taps", "101" },
    { "mode", "low-pass" }, { "window", "hamming" }, { "method", "auto" },
    { "cutoff", "1000" }, { "lower-frequency", "300" },
    { "upper-frequency", "3400" }, { "beta", "8.5999999999999996" },
    { "kernel-location", NULL }, { "align", "true" }, { "delay", "-1" },
    { "kernel", "<  >" } };
  g_autoptr (TfxElement) element = gst_element_factory_make ("tfxfir", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    tfx_check_expect_property (element, defaults[i][0], defaults[i][1]);
}
GST_END_TEST;

/* Numbers of other types, such as integers from Python's [1, 2, 3], and as they are
 * typed; and as they are told. */
GST_START_TEST (test_kernels)
{
  static const struct
  {
    const gchar *text, *told;
    gdouble taps[3];
    gsize n;
  } kernels[] = {
    { "<(int)1, (int)-2, (int)3>", "< (double)1, (double)-2, (double)3 >",
        { 1, -2, 3 }, 3 },
    { "<(gint64)4, (gint64)-5, (gint64)6>",
        "< (double)4, (double)-5, (double)6 >", { 4, -5, 6 }, 3 },
    { "<(float)0.5, (float)7, (float)-8>",
        "< (double)0.5, (double)7, (double)-8 >", { 0.5, 7, -8 }, 3 },
    { "<0.5, -0.25, 3>", "< (double)0.5, (double)-0.25, (double)3 >",
        { 0.5, -0.25, 3 }, 3 },
    { "<1>", "< (double)1 >", { 1 }, 1 },
    { "<1.0e-3,(double)2>", "< (double)0.001, (double)2 >", { 1e-3, 2 }, 2 },
  };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gchar *launch =
      g_strdup_printf ("tfxfir kernel=\"%s\"", kernels[__i__].text);
  g_autoptr (TfxHarness) h = tfx_check_harness (launch, &info);

  expect_kernel (h, &info, kernels[__i__].taps, kernels[__i__].n);
  tfx_check_expect_property (h->element, "kernel", kernels[__i__].told);
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

/* The latency, and that the kernel begins so much earlier. */
static void
expect_late_kernel (GstHarness *h, const GstAudioInfo *info,
    const gdouble *taps, gsize n, gsize delay)
{
  const gdouble in[20] = { [10] = 1.0 };
  g_autoptr (TfxCatch) caught = tfx_firs_catch_new ();

  tfx_firs_push (h, info, in, 20, 0, 20);
  fail_unless_equals_uint64 (gst_harness_query_latency (h),
      gst_util_uint64_scale_ceil (delay, GST_SECOND, RATE));
  tfx_firs_end (h);
  tfx_firs_collect (caught, h, info);
  tfx_firs_expect_whole (caught, 20, 0, RATE);
  fail_unless (tfx_check_distance (tfx_firs_samples (caught) + 10 - delay, taps,
                   n) < 1e-14);
}

/* A symmetric or antisymmetric kernel is late by half its length; of another
 * one nobody can say so but who made it. */
GST_START_TEST (test_symmetry)
{
  const Symmetry *s = &symmetries[__i__];
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness ("tfxfir", &info);

  g_object_set (h->element, "delay", s->asked - 1, NULL);
  tfx_firs_set_kernel (h->element, s->taps, s->n);
  expect_late_kernel (h, &info, s->taps, s->n, s->delay);
}
GST_END_TEST;

/* ---- what cannot be met ---------------------------------------------------------------- */

typedef struct
{
  const gchar *launch;
  TfxFirDesign used;
  const gchar *first[2]; /* words of the warnings */
  const gchar *second[2];
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
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (GstElement) element = gst_parse_launch (u->launch, NULL);
  g_autoptr (TfxHarness) h =
      gst_harness_new_with_element (element, "sink", "src");
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *taps = g_new (gdouble, u->used.n_taps);

  g_object_set (element, "align", FALSE, NULL);
  tfx_check_set_info (h, &info);
  tfx_check_expect_warning (bus, u->first[0], u->first[1], NULL);
  if (u->second[0])
    tfx_check_expect_warning (bus, u->second[0], u->second[1], NULL);
  fail_unless_equals_int (tfx_fir_design (&u->used, RATE, taps), 0);
  expect_kernel (h, &info, taps, u->used.n_taps);
  tfx_check_expect_no_warning (bus);
}
GST_END_TEST;

/* Told once; the asked number is used as soon as the mode allows it. */
GST_START_TEST (test_taps_come_back)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxfir align=false taps=100", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *even =
      tfx_firs_design (TFX_MODE_LOW_PASS, 0, 100, 1000.0, 0.0, RATE);
  g_autofree gdouble *odd =
      tfx_firs_design (TFX_MODE_HIGH_PASS, 0, 101, 1000.0, 0.0, RATE);

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
    tfx_check_expect_property (h->element, "taps", "100");
    gst_util_set_object_arg (G_OBJECT (h->element), "mode", "low-pass");
  }
}
GST_END_TEST;

/* More delay than there are taps: the last tap, told once; as much as was asked
 * when a kernel has so many. */
GST_START_TEST (test_delay_too_long)
{
  static const gdouble taps[] = { 1.0, 2.0, 4.0, 8.0, 16.0, 32.0 };
  static const gsize n_taps[] = { 3, 6, 3 };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxfir");
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  for (guint i = 0; i < G_N_ELEMENTS (n_taps); i++) {
    g_object_set (h->element, "delay", 5, NULL);
    tfx_firs_set_kernel (h->element, taps, n_taps[i]);
    /* A stream of its own, so that the delay may shrink. */
    tfx_check_set_info (h, &info);
    expect_late_kernel (h, &info, taps, n_taps[i], n_taps[i] - 1);
    if (n_taps[i] <= 5)
      tfx_check_expect_warning (bus,
          "delay=5 frames must be less than the number of taps; "
          "using 2 frames.",
          NULL);
    tfx_check_expect_no_warning (bus);
    tfx_check_expect_property (h->element, "delay", "5");
  }
}
GST_END_TEST;

/* Numbers that no stream can be filtered with. */
GST_START_TEST (test_bad_kernels)
{
  const gdouble bad[] = { 1.0, __i__ < 2 ? 1e31 : NAN };
  const gchar *fault =
      __i__ < 2 ? "tap 1 of kernel is 1e+31" : "tap 1 of kernel is nan";
  const gboolean plays = __i__ % 2 == 0;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = gst_harness_new ("tfxfir");
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  const gdouble in[N] = { 1.0 };

  if (plays) {
    tfx_check_set_info (h, &info);
    gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, in, N)));
  }
  tfx_firs_set_kernel (h->element, bad, 2);
  if (plays) {
    gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, in, N)));
    tfx_check_expect_warning (bus, fault, "-1e+30 to 1e+30",
        "The previous settings stay in use", NULL);
    return;
  }
  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_harness_push (h,
                                tfx_check_buffer (&info, in, N)),
        GST_FLOW_NOT_NEGOTIATED);
  /* told once, however often caps and buffers come */
  tfx_check_expect_error (bus, fault, NULL);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
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
  g_autofree gchar *launch =
      g_strdup_printf ("tfxchain chain=\"%s\"", chains[__i__]);
  g_autoptr (TfxHarness) h = tfx_check_harness (launch, &info);
  g_autofree gdouble *in = tfx_check_constant (N, 1e-30);
  g_autofree gdouble *out = tfx_check_filter (h, &info, in, N, N);

  for (guint i = 0; i < N; i++)
    fail_unless (fabs (out[i] - 1e6) < 1.0, "%g", out[i]);
}
GST_END_TEST;

/* GObject does not let in what is no number. */
GST_START_TEST (test_nan)
{
  g_autoptr (GstElement) element = gst_element_factory_make ("tfxfir", NULL);

  TFX_CHECK_REFUSED (g_object_set (element, "beta", (gdouble)NAN, NULL));
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
  g_autoptr (GstElement) element = gst_element_factory_make ("tfxfir", NULL);
  g_autoptr (TfxHarness) h =
      gst_harness_new_with_element (element, "sink", "src");
  GstAudioInfo info = tfx_check_f64 (rates[__i__], 1);
  g_autoptr (GstBus) bus = tfx_check_bus (h);

  tfx_check_set_info (h, &info);
  for (guint i = 0; i < 4 * 5 * 9 * n * n; i++) {
    guint k = i / 180;
    g_autofree gdouble *out = NULL;
    gchar *text;

    g_object_set (element, "mode", i % 4, "taps", taps[i / 4 % 5], "window",
        i / 20 % 9, "beta", betas[i % 3], "cutoff", frequencies[k % n],
        "lower-frequency", frequencies[k % n], "upper-frequency",
        frequencies[k / n], NULL);
    out = find_kernel (h, &info, 8);
    fail_unless (tfx_check_is_finite (out, 8), "combination %u", i);
    while ((text = tfx_check_pop_warning (bus))) {
      fail_unless (strstr (text, "; using "), "combination %u: %s", i, text);
      g_free (text);
    }
  }
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fir_values");

  tcase_add_test (tc, test_defaults);
  tcase_add_loop_test (tc, test_kernels, 0, 6);
  tcase_add_loop_test (tc, test_symmetry, 0, G_N_ELEMENTS (symmetries));
  tcase_add_loop_test (tc, test_clamped, 0, G_N_ELEMENTS (clamped));
  tcase_add_test (tc, test_taps_come_back);
  tcase_add_test (tc, test_delay_too_long);
  tcase_add_loop_test (tc, test_bad_kernels, 0, 4);
  tcase_add_loop_test (tc, test_huge_products, 0, 2);
  tcase_add_test (tc, test_nan);
  tcase_add_loop_test (tc, test_extremes, 0, 4);
  return tfx_check_run (argc, argv, tc);
}
