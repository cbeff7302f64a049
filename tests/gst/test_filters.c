/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_filters.c: the elements filter what their properties say.
 */
#include <math.h>

#include "tfxcheck.h"

#define RATE 44100

/* ---- what an element says of itself --------------------------------------- */

/* The properties, with their defaults; those of tfxchebyshev alone come last. */
static const struct
{
  const gchar *name, *initial;
  gdouble lowest,
      highest;        /* of a number; the range of a frequency is that of the
                            * values that are kept: half of any rate */
  const gchar *nicks; /* one for each value, the default first */
  gint first;         /* the value of that one */
} properties[] = {
  { "mode", "low-pass", 0, 0, "low-pass high-pass band-pass band-reject" },
  { "device", "auto", 0, 0, "auto cpu cuda" },
  { "device-delay", "auto", 0, 0, "auto none one-buffer", -1 },
  { "cutoff", "1000", 0, G_MAXINT / 2.0 },
  { "lower-frequency", "300", 0, G_MAXINT / 2.0 },
  { "upper-frequency", "3400", 0, G_MAXINT / 2.0 },
  { "order", "4", 1, 64 },
  { "cuda-device-id", "-1", -1, G_MAXINT },
  { "fuse", "true" },
  { "type", "1", 1, 2 },
  { "ripple", "0.10000000000000001" },
  { "attenuation", "40" },
};
#define N_COMMON 9

static void
check_enum (GstElement *e, const GParamSpecEnum *spec, const gchar *nicks,
    gint lowest)
{
  const GEnumClass *klass = spec->enum_class;
  g_auto (GStrv) words = g_strsplit (nicks, " ", -1);

  fail_unless_equals_int (klass->n_values, g_strv_length (words));
  for (guint i = 0; words[i]; i++) {
    fail_unless_equals_string (klass->values[i].value_nick, words[i]);
    fail_unless_equals_int (klass->values[i].value, lowest + (gint)i);
    gst_util_set_object_arg (G_OBJECT (e), spec->parent_instance.name,
        words[i]);
    tfx_check_expect_property (e, spec->parent_instance.name, words[i]);
  }
}

GST_START_TEST (test_description)
{
  static const gchar *const names[] = { "tfxbutterworth", "tfxchebyshev" };
  g_autoptr (GstElementFactory) factory =
      gst_element_factory_find (names[__i__]);
  GstPluginFeature *feature = GST_PLUGIN_FEATURE (factory);
  g_autoptr (GstElement) e = gst_element_factory_create (factory, NULL);

  fail_unless_equals_string (gst_element_factory_get_klass (factory),
      "Filter/Effect/Audio");
  fail_unless_equals_int (gst_plugin_feature_get_rank (feature), GST_RANK_NONE);
  fail_unless_equals_string (gst_plugin_feature_get_plugin_name (feature),
      "tfx");
  for (guint i = 0; i < (__i__ ? G_N_ELEMENTS (properties) : N_COMMON); i++) {
    const gchar *name = properties[i].name;
    GParamSpec *spec =
        g_object_class_find_property (G_OBJECT_GET_CLASS (e), name);
    g_autofree gchar *initial = NULL;

    tfx_check_expect_property (e, name, properties[i].initial);
    initial = gst_value_serialize (g_param_spec_get_default_value (spec));
    fail_unless_equals_string (initial, properties[i].initial);
    if (properties[i].nicks) {
      check_enum (e, G_PARAM_SPEC_ENUM (spec), properties[i].nicks,
          properties[i].first);
    } else if (G_IS_PARAM_SPEC_INT (spec)) {
      fail_unless (G_PARAM_SPEC_INT (spec)->minimum == properties[i].lowest &&
                       G_PARAM_SPEC_INT (spec)->maximum ==
                           properties[i].highest,
          "%s", name);
    } else if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
      const gdouble highest = G_PARAM_SPEC_DOUBLE (spec)->maximum;
      gdouble value;

      fail_unless (spec->flags & GST_PARAM_CONTROLLABLE);
      fail_unless (spec->flags & GST_PARAM_MUTABLE_PLAYING);
      if (properties[i].highest == 0)
        continue;
      fail_unless_equals_float (highest, properties[i].highest);
      g_object_set (e, name, highest, NULL);
      g_object_get (e, name, &value, NULL);
      fail_unless_equals_float (value, highest);
    }
  }
  fail_unless_equals_int (g_object_class_find_property (G_OBJECT_GET_CLASS (e),
                              "cuda-device-id")
                                  ->flags &
                              (GST_PARAM_MUTABLE_READY |
                                  GST_PARAM_MUTABLE_PLAYING),
      GST_PARAM_MUTABLE_READY);
}
GST_END_TEST;

static const gchar *const pads[] = { "sink", "src" };

GST_START_TEST (test_template_caps)
{
  static const gchar *const accepted[] = {
    "audio/x-raw,format=F32LE,rate=1,channels=1,layout=interleaved",
    "audio/x-raw,format=F64LE,rate=384000,channels=2,layout=non-interleaved",
    "audio/x-raw,format=F64LE,rate=2147483647,channels=64,layout=interleaved",
    "audio/x-raw,format=F32LE,rate=8000,channels=1024,layout=non-interleaved"
  };
  g_autoptr (GstElement) e = gst_element_factory_make ("tfxbutterworth", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (e, pads[__i__]);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  g_autoptr (GstCaps) integer =
      gst_caps_from_string ("audio/x-raw,format=S16LE");

  for (guint k = 0; k < G_N_ELEMENTS (accepted); k++) {
    g_autoptr (GstCaps) caps = gst_caps_from_string (accepted[k]);

    fail_unless (gst_caps_is_subset (caps, template), "%s", accepted[k]);
  }
  fail_if (gst_caps_can_intersect (integer, template));
}
GST_END_TEST;

/* Who asks for ANY asks for all that there is. */
GST_START_TEST (test_filter_caps)
{
  static const gchar *const devices[] = { "cpu", "auto", "cuda" };
  g_autoptr (GstElement) e = gst_element_factory_make ("tfxbutterworth", NULL);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (e, pads[__i__]);
  g_autoptr (GstCaps) any = gst_caps_new_any ();

  for (guint i = 0; i < G_N_ELEMENTS (devices); i++) {
    g_autoptr (GstCaps) all = NULL, asked = NULL;

    gst_util_set_object_arg (G_OBJECT (e), "device", devices[i]);
    all = gst_pad_query_caps (pad, NULL);
    asked = gst_pad_query_caps (pad, any);
    fail_if (gst_caps_is_empty (all));
    fail_unless (gst_caps_is_equal (all, asked), "device=%s", devices[i]);
  }
}
GST_END_TEST;

/* ---- gains ------------------------------------------------------------------ */

typedef struct
{
  const gchar *launch;
  gdouble hz;
  gdouble lowest, highest; /* dB */
} Gain;

static const Gain gains[] = {
  /* 3.0103 dB down at the cutoff, whatever the order. */
  { "tfxbutterworth", 0.0, -1e-6, 1e-6 },
  { "tfxbutterworth", 1000.0, -3.0104, -3.0102 },
  { "tfxbutterworth", RATE / 2.0, -INFINITY, -200.0 },
  { "tfxbutterworth order=1 cutoff=5000", 5000.0, -3.0104, -3.0102 },
  { "tfxbutterworth order=16 cutoff=5000", 5000.0, -3.0104, -3.0102 },
  { "tfxbutterworth order=64 cutoff=5000", 5000.0, -3.0104, -3.0102 },
  { "tfxbutterworth order=64 cutoff=5000", 4500.0, -0.01, 0.01 },
  { "tfxbutterworth order=64 cutoff=5000", 5600.0, -INFINITY, -60.0 },
  { "tfxbutterworth mode=high-pass", 0.0, -INFINITY, -200.0 },
  { "tfxbutterworth mode=high-pass", 1000.0, -3.0104, -3.0102 },
  { "tfxbutterworth mode=high-pass", RATE / 2.0, -1e-6, 1e-6 },
  { "tfxbutterworth mode=high-pass order=8", 500.0, -49.0, -48.0 },
  { "tfxbutterworth mode=band-pass", 0.0, -INFINITY, -200.0 },
  { "tfxbutterworth mode=band-pass", 300.0, -3.0104, -3.0102 },
  { "tfxbutterworth mode=band-pass", 1010.0, -0.01, 0.0001 },
  { "tfxbutterworth mode=band-pass", 3400.0, -3.0104, -3.0102 },
  { "tfxbutterworth mode=band-pass", RATE / 2.0, -INFINITY, -200.0 },
  { "tfxbutterworth mode=band-reject", 0.0, -1e-6, 1e-6 },
  { "tfxbutterworth mode=band-reject", 300.0, -3.0104, -3.0102 },
  { "tfxbutterworth mode=band-reject", 1020.0, -INFINITY, -100.0 },
  { "tfxbutterworth mode=band-reject", 3400.0, -3.0104, -3.0102 },
  { "tfxbutterworth mode=band-reject", RATE / 2.0, -1e-6, 1e-6 },
  { "tfxbutterworth mode=band-pass lower-frequency=950 upper-frequency=1050 "
    "order=2",
      1000.0, -0.01, 0.0001 },
  /* Type 1: the ripple at the cutoff; at DC too if the order is even. */
  { "tfxchebyshev", 0.0, -0.1001, -0.0999 },
  { "tfxchebyshev", 1000.0, -0.1001, -0.0999 },
  { "tfxchebyshev order=5 ripple=0.5", 0.0, -1e-6, 1e-6 },
  { "tfxchebyshev order=5 ripple=0.5", 1000.0, -0.5001, -0.4999 },
  { "tfxchebyshev order=4", 1500.0, -17.6, -8.0 },
  { "tfxchebyshev mode=high-pass ripple=3", 1000.0, -3.0001, -2.9999 },
  { "tfxchebyshev mode=high-pass ripple=3", RATE / 2.0, -3.0001, -2.9999 },
  { "tfxchebyshev mode=band-pass", 300.0, -0.1001, -0.0999 },
  { "tfxchebyshev mode=band-reject", 3400.0, -0.1001, -0.0999 },
  /* Type 2: the attenuation at the cutoff and never less beyond it. */
  { "tfxchebyshev type=2", 0.0, -1e-6, 1e-6 },
  { "tfxchebyshev type=2", 1000.0, -40.001, -39.999 },
  { "tfxchebyshev type=2 attenuation=80", 1000.0, -80.001, -79.999 },
  { "tfxchebyshev type=2", 3000.0, -INFINITY, -39.999 },
  { "tfxchebyshev type=2", RATE / 2.0, -40.001, -39.999 },
  { "tfxchebyshev type=2 mode=high-pass", 1000.0, -40.001, -39.999 },
  { "tfxchebyshev type=2 mode=band-pass", 3400.0, -40.001, -39.999 },
  { "tfxchebyshev type=2 mode=band-reject", 300.0, -40.001, -39.999 },
};

/* For a sine, measured once the filter has settled. */
GST_START_TEST (test_gain)
{
  const Gain *g = &gains[__i__];
  const gsize n = RATE, settled = RATE / 2;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_check_harness (g->launch, &info);
  g_autofree gdouble *in = g_new (gdouble, n), *out = NULL;
  gdouble db;

  for (gsize i = 0; i < n; i++)
    in[i] = cos (2.0 * G_PI * g->hz * i / RATE);
  out = tfx_check_filter (h, &info, in, n, 1000);
  db = 20.0 * log10 (tfx_check_rms (out + settled, n - settled, 1) /
                     tfx_check_rms (in + settled, n - settled, 1));
  fail_unless (db >= g->lowest && db <= g->highest,
      "%s has %g dB at %g Hz, not %g to %g", g->launch, db, g->hz, g->lowest,
      g->highest);
}
GST_END_TEST;

/* ---- samples ------------------------------------------------------------------ */

/* A launch line and the design that it stands for. */
typedef struct
{
  const gchar *launch;
  TfxDesign design;
} Case;

static const Case cases[] = {
  { "tfxbutterworth",
      { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 4, 1000.0 } },
  { "tfxbutterworth mode=high-pass cutoff=20 order=7",
      { TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, 7, 20.0 } },
  { "tfxchebyshev cutoff=3000 order=5 ripple=1",
      { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_LOW_PASS, 5, 3000.0, 0.0, 1.0 } },
  { "tfxchebyshev mode=high-pass cutoff=300 order=6",
      { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_HIGH_PASS, 6, 300.0, 0.0, 0.1 } },
  /* Those beyond have no reference but the core. */
  { "tfxbutterworth mode=band-pass order=3",
      { TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_PASS, 3, 300.0, 3400.0 } },
  { "tfxbutterworth mode=band-reject lower-frequency=49 upper-frequency=51 "
    "order=2",
      { TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_REJECT, 2, 49.0, 51.0 } },
  { "tfxchebyshev type=2 mode=band-pass attenuation=60 order=64",
      { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_BAND_PASS, 64, 300.0, 3400.0, 0.0,
          60.0 } },
  { "tfxchebyshev type=2 mode=high-pass cutoff=80",
      { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_HIGH_PASS, 4, 80.0, 0.0, 0.0, 40.0 } },
};
#define N_REFERENCE_CASES 4

/* Against direct-form-I biquads of another derivation.  Their own rounding
 * error limits the comparison: at 20 Hz poles lie 0.003 from the unit circle,
 * where direct form I loses about six digits of its sixteen. */
GST_START_TEST (test_reference)
{
  const Case *c = &cases[__i__];
  const gsize n = 20000;
  const gint n_ch = 2;
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 1);
  g_autofree gdouble *expected =
      tfx_check_reference (&c->design, RATE, n_ch, in, n);
  static const GstAudioFormat formats[] = { GST_AUDIO_FORMAT_F32,
    GST_AUDIO_FORMAT_F64 };
  /* Half a step of a float32 below 2.0 is 6e-8. */
  static const gdouble bounds[] = { 1.2e-7, 1e-9 };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstAudioInfo info =
        tfx_check_info (formats[i], RATE, n_ch, GST_AUDIO_LAYOUT_INTERLEAVED);
    g_autoptr (TfxHarness) h = tfx_check_harness (c->launch, &info);
    g_autofree gdouble *out = tfx_check_filter (h, &info, in, n, 441);
    gdouble distance = tfx_check_distance (out, expected, n * n_ch);

    fail_unless (distance < bounds[i], "%s: off by %g", c->launch, distance);
  }
}
GST_END_TEST;

/* The element adds nothing to what the core does and takes nothing away: the
 * same bits, in every format and layout, for few channels and many. */
GST_START_TEST (test_equals_engine)
{
  const Case *c = &cases[__i__];
  static const gint channels[] = { 1, 2, 3, 8, 11 };
  const gsize n = 3000;

  for (guint i = 0; i < G_N_ELEMENTS (channels) * 4; i++) {
    GstAudioInfo info =
        tfx_check_info (i & 1 ? GST_AUDIO_FORMAT_F64 : GST_AUDIO_FORMAT_F32,
            RATE, channels[i / 4],
            i & 2 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                  : GST_AUDIO_LAYOUT_INTERLEAVED);
    g_autofree gdouble *in = tfx_check_noise (n * info.channels, i + 1);
    g_autofree gdouble *expected = tfx_check_engine (&c->design, &info, in, n);
    g_autoptr (TfxHarness) h = tfx_check_harness (c->launch, &info);
    g_autofree gdouble *out = tfx_check_filter (h, &info, in, n, n);
    gdouble distance = tfx_check_distance (out, expected, n * info.channels);

    fail_unless (distance == 0.0, "%s, %d channels: off by %g", c->launch,
        info.channels, distance);
  }
}
GST_END_TEST;

/* As many channels as the caps allow. */
GST_START_TEST (test_many_channels)
{
  static const gint channels[] = { 64, 65, 1024, 65536 };
  const gsize n = 20;
  const Case *c = &cases[0];
  GstAudioInfo info = tfx_check_f32 (RATE, channels[__i__]);
  g_autofree gdouble *in = tfx_check_noise (n * info.channels, 1);
  g_autofree gdouble *expected = tfx_check_engine (&c->design, &info, in, n);
  g_autoptr (TfxHarness) h = tfx_check_harness (c->launch, &info);
  g_autofree gdouble *out = tfx_check_filter (h, &info, in, n, 7);

  fail_unless_equals_float (tfx_check_distance (out, expected,
                                n * info.channels),
      0.0);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("filters");

  tcase_add_loop_test (tc, test_description, 0, 2);
  tcase_add_loop_test (tc, test_template_caps, 0, 2);
  tcase_add_loop_test (tc, test_filter_caps, 0, 2);
  tcase_add_loop_test (tc, test_gain, 0, G_N_ELEMENTS (gains));
  tcase_add_loop_test (tc, test_reference, 0, N_REFERENCE_CASES);
  tcase_add_loop_test (tc, test_equals_engine, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_many_channels, 0, 4);
  return tfx_check_run (argc, argv, tc);
}
