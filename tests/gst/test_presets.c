/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_presets.c: the presets of the elements that are one filter: those that come
 * with them, by their response, and the user's own.
 */
#include <math.h>
#include <stdlib.h>
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

/* A property as text; to be freed. */
static gchar *
print (GstElement *element, const gchar *property)
{
  GValue value = G_VALUE_INIT;
  GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  gchar *text;

  g_value_init (&value, spec->value_type);
  g_object_get_property (G_OBJECT (element), property, &value);
  text = gst_value_serialize (&value);
  g_value_unset (&value);
  return text;
}

static void
expect (GstElement *element, const gchar *property, const gchar *wanted)
{
  gchar *text = print (element, property);

  fail_unless (g_strcmp0 (text, wanted) == 0, "%s is %s, not %s", property,
      text, wanted);
  g_free (text);
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
      { { 100, NOTHING, -50 }, { 300, -3.02, -3 }, { 1000, -0.01, 0 },
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
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstElement *element = make (presets[__i__].element);
  gchar *comment;
  GstHarness *h;
  gdouble *response;

  load (element, presets[__i__].preset);
  fail_unless (gst_preset_get_meta (GST_PRESET (element), presets[__i__].preset,
      "comment", &comment));
  fail_unless (strlen (comment) > 20);
  g_free (comment);
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
        "%s, %s: %g dB at %g Hz", presets[__i__].element, presets[__i__].preset,
        db, gain->hz);
  }
  g_free (response);
  gst_harness_teardown (h);
  gst_object_unref (element);
}
GST_END_TEST;

/* What a preset does not name gets its default; what is not the filter's stays. */
GST_START_TEST (test_over)
{
  GstElement *element = make ("tfxchebyshev");
  gchar **names;

  gst_util_set_object_arg (G_OBJECT (element), "mode", "band-pass");
  g_object_set (element, "type", 2, "attenuation", 90.0, "lower-frequency",
      333.0, "order", 17, "fuse", FALSE, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "device", "cpu");
  load (element, "Rumble filter");
  expect (element, "mode", "high-pass");
  expect (element, "type", "1");
  expect (element, "ripple", "0.10000000000000001");
  expect (element, "cutoff", "25");
  expect (element, "order", "6");
  expect (element, "attenuation", "40");
  expect (element, "fuse", "false");
  expect (element, "device", "cpu");

  names = gst_preset_get_property_names (GST_PRESET (element));
  fail_unless (g_strv_contains ((const gchar *const *)names, "order"));
  fail_unless (g_strv_contains ((const gchar *const *)names, "ripple"));
  fail_if (g_strv_contains ((const gchar *const *)names, "device"));
  fail_if (g_strv_contains ((const gchar *const *)names, "fuse"));
  fail_if (g_strv_contains ((const gchar *const *)names, "name"));
  fail_unless_equals_int (g_strv_length (names), 8);
  g_strfreev (names);
  gst_object_unref (element);
}
GST_END_TEST;

/* ---- the user's own ------------------------------------------------------------- */

/* All that a FIR filter has comes back in another element, whatever is in it. */
GST_START_TEST (test_save)
{
  static const gchar location[] = "/tmp/my \"big\" room\\1; ünï.wav";
  GstElement *element = make ("tfxfir"), *other = make ("tfxfir");
  GstPreset *preset = GST_PRESET (element);
  gchar **names = gst_preset_get_property_names (preset);

  gst_util_set_object_arg (G_OBJECT (element), "kernel", "<0.1, -0.5, 1e-9>");
  gst_util_set_object_arg (G_OBJECT (element), "window", "kaiser");
  g_object_set (element, "kernel-location", location, "beta", 7.0 / 3.0, "taps",
      77, "align", FALSE, "delay", 2, NULL);
  fail_unless (gst_preset_save_preset (preset, "My \"own\" (1)"));
  fail_unless (gst_preset_rename_preset (preset, "My \"own\" (1)", "Mine"));
  load (other, "Mine");
  for (guint i = 0; names[i]; i++) {
    gchar *text = print (element, names[i]);

    expect (other, names[i], text);
    g_free (text);
  }
  /* One that comes with the element leaves nothing of that. */
  load (other, "Telephone band, linear phase");
  expect (other, "kernel", "<  >");
  expect (other, "kernel-location", NULL);
  expect (other, "align", "true");
  expect (other, "taps", "1001");

  fail_unless (gst_preset_delete_preset (preset, "Mine"));
  fail_if (gst_preset_load_preset (preset, "Mine"));
  expect (element, "taps", "77");
  g_strfreev (names);
  gst_object_unref (element);
  gst_object_unref (other);
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
  GstElement *element = make ("tfxbutterworth");
  GstBus *bus = gst_bus_new ();

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
  expect (element, "cutoff", "777");
  expect (element, "order", "3");
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

/* A user who saved a preset once has a file with all of them, as they were then;
 * and there are files that others have made. */
GST_START_TEST (test_newer)
{
  GstElement *element = make ("tfxbutterworth");

  user_presets_write (TYPE, "1.22.0",
      "[Rumble filter]\nmode=low-pass\ncutoff=1\n\n"
      "[Voice]\n_meta/mode=high-pass\nmode=high-pass\n"
      "_meta/cutoff=99\ncutoff=99\n\n"
      "[Foreign]\nmode=high-pass\ncutoff=333\n\n");
  load (element, "Rumble filter");
  expect (element, "cutoff", "25");
  load (element, "Voice");
  expect (element, "cutoff", "99");
  load (element, "Subwoofer");
  expect (element, "mode", "low-pass");
  load (element, "Foreign");
  expect (element, "mode", "high-pass");
  expect (element, "cutoff", "333");
  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_launch)
{
  GError *error = NULL;
  GstElement *element =
      gst_parse_launch ("tfxbutterworth @preset=Rumble\\ filter fuse=false",
          &error);

  fail_unless (element && !error, "%s", error ? error->message : "");
  expect (element, "cutoff", "25");
  expect (element, "order", "4");
  expect (element, "fuse", "false");
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
presets_suite (void)
{
  Suite *s = suite_create ("presets");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, remove_user_file, NULL);
  tcase_add_loop_test (tc, test_response, 0, G_N_ELEMENTS (presets));
  tcase_add_test (tc, test_over);
  tcase_add_test (tc, test_save);
  tcase_add_test (tc, test_broken);
  tcase_add_test (tc, test_newer);
  tcase_add_test (tc, test_launch);
  return s;
}

/* What is saved goes to a folder of this run. */
int
main (int argc, char **argv)
{
  gchar *folder = g_dir_make_tmp ("tfxpresets-XXXXXX", NULL), *command;
  int status;

  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  status = tfx_check_main (argc, argv, presets_suite ());
  command = g_strdup_printf ("rm -r '%s'", folder);
  if (system (command) != 0)
    g_printerr ("%s is left\n", folder);
  g_free (command);
  g_free (folder);
  return status;
}
