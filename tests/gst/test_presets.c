/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_presets.c: the presets of the elements that are one filter: those that come
 * with them, by their response, and the user's own.
 */
#include <math.h>
#include <string.h>

#include "chains.h"
#include "userpresets.h"

#define RATE 48000
#define LENGTH 96000 /* of an impulse response, frames */

static GstElement *
make (const gchar *factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  fail_unless (GST_IS_PRESET (element), "%s has no presets", factory);
  return gst_object_ref_sink (element);
}

static void
load (GstElement *element, const gchar *name)
{
  fail_unless (gst_preset_load_preset (GST_PRESET (element), name),
      "no preset '%s'", name);
}

/* ---- what comes with the elements ------------------------------------------------ */

/* Where the gain lies: at most, and at least. */
typedef struct
{
  gdouble hz, low_db, high_db;
} Gain;

#define NOTHING -1000.0

static const struct
{
  const gchar *element, *preset;
  Gain gains[4];
} presets[] = {
  { "tfxbutterworth", "Rumble filter",
      { { 12.5, -25, -24 }, { 25, -3.02, -3 }, { 50, -0.02, 0 },
          { 5000, -1e-6, 1e-6 } } },
  { "tfxbutterworth", "Voice",
      { { 40, -25, -24 }, { 80, -3.02, -3 }, { 160, -0.02, 0 },
          { 5000, -1e-6, 1e-6 } } },
  { "tfxbutterworth", "Subwoofer",
      { { 20, -1e-5, 1e-5 }, { 60, -0.02, 0 }, { 120, -3.02, -3 },
          { 240, -25, -24 } } },
  { "tfxbutterworth", "Telephone band",
      { { 100, NOTHING, -50 }, { 300, -3.02, -3 }, { 1000, -0.01, 1e-6 },
          { 3400, -3.02, -3 } } },
  { "tfxchebyshev", "Rumble filter",
      { { 12.5, -48, -45 }, { 25, -0.11, 0.01 }, { 100, -0.11, 0.01 },
          { 5000, -0.11, 0.01 } } },
  { "tfxchebyshev", "Before 16 kHz",
      { { 1000, -1e-6, 1e-6 }, { 6500, -1, 0.01 }, { 8000, NOTHING, -79.9 },
          { 12000, NOTHING, -79.9 } } },
  { "tfxchebyshev", "Mains, 50 Hz",
      { { 30, -0.2, 0 }, { 49, -41, -39 }, { 50.5, NOTHING, -39.9 },
          { 1000, -1e-3, 1e-3 } } },
  { "tfxfir", "Rumble filter, linear phase",
      { { 12.5, NOTHING, -40 }, { 25, -6.2, -5.8 }, { 40, -0.2, 0.2 },
          { 5000, -0.02, 0.02 } } },
  { "tfxfir", "Before 16 kHz, linear phase",
      { { 1000, -0.01, 0.01 }, { 7000, -0.1, 0.1 }, { 8000, NOTHING, -80 },
          { 12000, NOTHING, -80 } } },
  { "tfxfir", "Telephone band, linear phase",
      { { 100, NOTHING, -50 }, { 300, -6.2, -5.8 }, { 1000, -0.05, 0.05 },
          { 3400, -6.2, -5.8 } } },
};

GST_START_TEST (test_response)
{
  const gchar *name = presets[__i__].preset;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (GstElement) element = make (presets[__i__].element);
  g_autofree gchar *comment = NULL;
  g_autoptr (TfxHarness) h = NULL;
  g_autofree gdouble *response = NULL;

  load (element, name);
  fail_unless (
      gst_preset_get_meta (GST_PRESET (element), name, "comment", &comment));
  fail_unless (strlen (comment) > 20);
  /* The delay stays in, so that as many frames come out. */
  if (strcmp (presets[__i__].element, "tfxfir") == 0)
    g_object_set (element, "align", FALSE, NULL);
  h = gst_harness_new_with_element (element, "sink", "src");
  tfx_check_set_info (h, &info);
  response = tfx_chains_impulse (h, &info, LENGTH);
  for (guint i = 0; i < G_N_ELEMENTS (presets[0].gains); i++) {
    const Gain *gain = &presets[__i__].gains[i];
    gdouble db = tfx_chains_gain_db (response, LENGTH, gain->hz, RATE);

    fail_unless (db >= gain->low_db && db <= gain->high_db,
        "%s, %s: %g dB at %g Hz", presets[__i__].element, name, db, gain->hz);
  }
}
GST_END_TEST;

/* What a preset does not name gets its default; what is not the filter's stays. */
GST_START_TEST (test_over)
{
  g_autoptr (GstElement) element = make ("tfxchebyshev");
  g_auto (GStrv) names = NULL;

  gst_util_set_object_arg (G_OBJECT (element), "mode", "band-pass");
  g_object_set (element, "type", 2, "attenuation", 90.0, "lower-frequency",
      333.0, "order", 17, "fuse", FALSE, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "device", "cpu");
  load (element, "Rumble filter");
  tfx_check_expect_property (element, "mode", "high-pass");
  tfx_check_expect_property (element, "type", "1");
  tfx_check_expect_property (element, "ripple", "0.10000000000000001");
  tfx_check_expect_property (element, "cutoff", "25");
  tfx_check_expect_property (element, "order", "6");
  tfx_check_expect_property (element, "attenuation", "40");
  tfx_check_expect_property (element, "fuse", "false");
  tfx_check_expect_property (element, "device", "cpu");

  names = gst_preset_get_property_names (GST_PRESET (element));
  fail_unless (g_strv_contains ((const gchar *const *)names, "order"));
  fail_unless (g_strv_contains ((const gchar *const *)names, "ripple"));
  fail_if (g_strv_contains ((const gchar *const *)names, "device"));
  fail_if (g_strv_contains ((const gchar *const *)names, "fuse"));
  fail_if (g_strv_contains ((const gchar *const *)names, "name"));
  fail_unless_equals_int (g_strv_length (names), 8);
}
GST_END_TEST;

/* ---- the user's own ------------------------------------------------------------- */

/* All that a FIR filter has comes back in another element, whatever is in it. */
GST_START_TEST (test_save)
{
  static const gchar location[] = "/tmp/my \"big\" room\\1; ünï.wav";
  g_autoptr (GstElement) element = make ("tfxfir"), other = make ("tfxfir");
  GstPreset *preset = GST_PRESET (element);
  g_auto (GStrv) names = gst_preset_get_property_names (preset);

  gst_util_set_object_arg (G_OBJECT (element), "kernel", "<0.1, -0.5, 1e-9>");
  gst_util_set_object_arg (G_OBJECT (element), "window", "kaiser");
  g_object_set (element, "kernel-location", location, "beta", 7.0 / 3.0, "taps",
      77, "align", FALSE, "delay", 2, NULL);
  fail_unless (gst_preset_save_preset (preset, "My \"own\" (1)"));
  fail_unless (gst_preset_rename_preset (preset, "My \"own\" (1)", "Mine"));
  load (other, "Mine");
  for (guint i = 0; names[i]; i++) {
    g_autofree gchar *text = tfx_check_property (element, names[i]);

    tfx_check_expect_property (other, names[i], text);
  }
  /* One that comes with the element leaves nothing of that. */
  load (other, "Telephone band, linear phase");
  tfx_check_expect_property (other, "kernel", "<  >");
  tfx_check_expect_property (other, "kernel-location", NULL);
  tfx_check_expect_property (other, "align", "true");
  tfx_check_expect_property (other, "taps", "1001");

  fail_unless (gst_preset_delete_preset (preset, "Mine"));
  fail_if (gst_preset_load_preset (preset, "Mine"));
  tfx_check_expect_property (element, "taps", "77");
}
GST_END_TEST;

#define TYPE "GstTfxButterworth"

/* Each test starts without one. */
static void
remove_user_file (void)
{
  user_presets_remove (TYPE);
}

/* What cannot be is told of, and nothing changes. */
GST_START_TEST (test_broken)
{
  g_autoptr (TfxElement) element = make ("tfxbutterworth");
  g_autoptr (GstBus) bus = gst_bus_new ();

  user_presets_write (TYPE, "1.22.0",
      "[Steep]\n_meta/cutoff=50\n_meta/order=65\ncutoff=50\norder=65\n\n"
      "[Words]\n_meta/cutoff=low\ncutoff=low\n\n"
      "[Loud]\n_meta/mode=loud\nmode=loud\n\n"
      "[Bytes]\n_meta/cutoff=m\xfcsik\ncutoff=m\xfcsik\n\n");
  gst_element_set_bus (element, bus);
  g_object_set (element, "cutoff", 777.0, "order", 3, NULL);
  fail_if (gst_preset_load_preset (GST_PRESET (element), "Steep"));
  tfx_check_expect_warning (bus,
      "Invalid preset \"Steep\"; the previous settings stay",
      "order=65 must be from 1 to 64", NULL);
  fail_if (gst_preset_load_preset (GST_PRESET (element), "Words"));
  tfx_check_expect_warning (bus, "cutoff=low must be from", NULL);
  fail_if (gst_preset_load_preset (GST_PRESET (element), "Loud"));
  tfx_check_expect_warning (bus, "mode=loud must be a GstTfx", NULL);
  fail_if (gst_preset_load_preset (GST_PRESET (element), "Bytes"));
  tfx_check_expect_warning (bus, "cutoff=m\\xfcsik must be from", NULL);
  fail_if (gst_preset_load_preset (GST_PRESET (element), "No such thing"));
  tfx_check_expect_no_warning (bus);
  tfx_check_expect_property (element, "cutoff", "777");
  tfx_check_expect_property (element, "order", "3");
}
GST_END_TEST;

/* A user who saved a preset once has a file with all of them, as they were then;
 * and there are files that others have made. */
GST_START_TEST (test_newer)
{
  g_autoptr (GstElement) element = make ("tfxbutterworth");

  user_presets_write (TYPE, "1.22.0",
      "[Rumble filter]\nmode=low-pass\ncutoff=1\n\n"
      "[Voice]\n_meta/mode=high-pass\nmode=high-pass\n"
      "_meta/cutoff=99\ncutoff=99\n\n"
      "[Foreign]\nmode=high-pass\ncutoff=333\n\n");
  load (element, "Rumble filter");
  tfx_check_expect_property (element, "cutoff", "25");
  load (element, "Voice");
  tfx_check_expect_property (element, "cutoff", "99");
  load (element, "Subwoofer");
  tfx_check_expect_property (element, "mode", "low-pass");
  load (element, "Foreign");
  tfx_check_expect_property (element, "mode", "high-pass");
  tfx_check_expect_property (element, "cutoff", "333");
}
GST_END_TEST;

GST_START_TEST (test_launch)
{
  GError *error = NULL;
  g_autoptr (GstElement) element =
      gst_parse_launch ("tfxbutterworth @preset=Rumble\\ filter fuse=false",
          &error);

  fail_unless (element && !error, "%s", error ? error->message : "");
  tfx_check_expect_property (element, "cutoff", "25");
  tfx_check_expect_property (element, "order", "4");
  tfx_check_expect_property (element, "fuse", "false");
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("presets");

  tfx_check_folder ();
  tcase_add_checked_fixture (tc, remove_user_file, NULL);
  tcase_add_loop_test (tc, test_response, 0, G_N_ELEMENTS (presets));
  tcase_add_test (tc, test_over);
  tcase_add_test (tc, test_save);
  tcase_add_test (tc, test_broken);
  tcase_add_test (tc, test_newer);
  tcase_add_test (tc, test_launch);
  return tfx_check_run (argc, argv, tc);
}
