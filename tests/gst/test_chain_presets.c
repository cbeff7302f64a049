/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_presets.c: the presets that come with tfxchain, by their response,
 * and presets of the user's own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "userpresets.h"

#define RATE 48000
#define LENGTH 96000 /* of an impulse response, frames */

static GstAudioInfo
mono_f64 (void)
{
  return tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
}

/* A harness around a tfxchain with a preset. */
static GstHarness *
make (const gchar *preset)
{
  GstAudioInfo info = mono_f64 ();
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstHarness *h;

  fail_unless (gst_preset_load_preset (GST_PRESET (element), preset),
      "no preset '%s'", preset);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  tfx_check_set_info (h, &info);
  return h;
}

static gdouble *
measure (GstHarness *h)
{
  GstAudioInfo info = mono_f64 ();

  return tfx_chains_impulse (h, &info, LENGTH);
}

static gdouble
gain_db (const gdouble *response, gdouble hz)
{
  return tfx_chains_gain_db (response, LENGTH, hz, RATE);
}

static void
expect_gain (const gdouble *response, gdouble hz, gdouble db, gdouble slack)
{
  gdouble now = gain_db (response, hz);

  fail_unless (fabs (now - db) <= slack, "%g Hz: %g dB, not %g", hz, now, db);
}

/* The magnitude of an analog Butterworth filter on the axis of the bilinear
 * transform, in dB. */
static gdouble
butterworth_db (gdouble hz, gdouble cutoff, guint order, gboolean high)
{
  gdouble x = tan (G_PI * hz / RATE) / tan (G_PI * cutoff / RATE);

  return -10.0 * log10 (1.0 + pow (high ? 1.0 / x : x, 2.0 * order));
}

/* ---- what comes with the element ------------------------------------------------ */

GST_START_TEST (test_names)
{
  static const gchar *const names[] = { "Crossover, high half",
    "Crossover, low half", "Graphic equaliser, 31 bands", "Loudness contour",
    "Rumble filter", "Telephone band" };
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstPreset *preset = GST_PRESET (element);
  gchar **found = gst_preset_get_preset_names (preset), **properties, *comment;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    fail_unless (g_strv_contains ((const gchar *const *)found, names[i]),
        "no preset '%s'", names[i]);
    fail_unless (gst_preset_get_meta (preset, names[i], "comment", &comment));
    fail_unless (strlen (comment) > 20);
    g_free (comment);
  }
  g_strfreev (found);
  properties = gst_preset_get_property_names (preset);
  fail_unless_equals_int (g_strv_length (properties), 1);
  fail_unless_equals_string (properties[0], "chain");
  g_strfreev (properties);
  fail_if (gst_preset_load_preset (preset, "No such thing"));
  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_rumble)
{
  static const gdouble hz[] = { 5, 8, 12.5, 25, 50, 100, 1000, 10000 };
  GstHarness *h = make ("Rumble filter");
  gdouble *response = measure (h);

  for (guint i = 0; i < G_N_ELEMENTS (hz); i++)
    expect_gain (response, hz[i], butterworth_db (hz[i], 25, 4, TRUE), 1e-4);
  fail_unless (gain_db (response, 8.0) < -39.0);
  fail_unless (gain_db (response, 50.0) > -0.02);
  g_free (response);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_telephone)
{
  static const gdouble hz[] = { 100, 150, 300, 1000, 2000, 3400, 5000, 8000 };
  GstHarness *h = make ("Telephone band");
  gdouble *response = measure (h);

  for (guint i = 0; i < G_N_ELEMENTS (hz); i++)
    expect_gain (response, hz[i],
        butterworth_db (hz[i], 300, 6, TRUE) +
            butterworth_db (hz[i], 3400, 8, FALSE),
        1e-4);
  g_free (response);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Both halves are 6 dB down at the crossover, and add up to an all-pass. */
GST_START_TEST (test_crossover)
{
  static const gdouble hz[] = { 100, 1000, 1999, 2000, 2500, 10000 };
  GstHarness *low = make ("Crossover, low half");
  GstHarness *high = make ("Crossover, high half");
  gdouble *a = measure (low), *b = measure (high);

  expect_gain (a, 2000, 20.0 * log10 (0.5), 1e-9);
  expect_gain (b, 2000, 20.0 * log10 (0.5), 1e-9);
  for (guint i = 0; i < G_N_ELEMENTS (hz); i++) {
    expect_gain (a, hz[i], 2.0 * butterworth_db (hz[i], 2000, 2, FALSE), 1e-6);
    expect_gain (b, hz[i], 2.0 * butterworth_db (hz[i], 2000, 2, TRUE), 1e-6);
  }
  for (gsize i = 0; i < LENGTH; i++)
    a[i] += b[i];
  for (guint i = 0; i < G_N_ELEMENTS (hz); i++)
    expect_gain (a, hz[i], 0.0, 1e-9);
  g_free (a);
  g_free (b);
  gst_harness_teardown (low);
  gst_harness_teardown (high);
}
GST_END_TEST;

/* What the ear loses from 80 to 60 phon, relative to 1 kHz, by the formula of
 * ISO 226:2003. */
static const struct
{
  gdouble hz, db;
} contour[] = {
  { 20, 10.52 },
  { 31.5, 9.43 },
  { 50, 8.24 },
  { 80, 6.88 },
  { 125, 5.47 },
  { 200, 3.95 },
  { 315, 2.50 },
  { 500, 1.19 },
  { 800, 0.22 },
  { 1000, 0.0 },
  { 2000, -0.63 },
  { 4000, -0.74 },
  { 8000, 0.26 },
  { 12500, 3.22 },
};

GST_START_TEST (test_loudness)
{
  GstHarness *h = make ("Loudness contour");
  gdouble *response = measure (h);

  for (guint i = 0; i < G_N_ELEMENTS (contour); i++)
    expect_gain (response, contour[i].hz, contour[i].db, 1.0);
  g_free (response);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- the graphic equaliser ------------------------------------------------------- */

#define EQUALISER "Graphic equaliser, 31 bands"

static const gchar *const bands[] = { "20", "25", "31_5", "40", "50", "63",
  "80", "100", "125", "160", "200", "250", "315", "400", "500", "630", "800",
  "1000", "1250", "1600", "2000", "2500", "3150", "4000", "5000", "6300",
  "8000", "10000", "12500", "16000", "20000" };

static gdouble
band_hz (guint i)
{
  gchar *text = g_strdelimit (g_strdup (bands[i]), "_", '.');
  gdouble hz = g_ascii_strtod (text, NULL);

  g_free (text);
  return hz;
}

/* (s^2 + s A / Q + 1) / (s^2 + s / (A Q) + 1) on the axis of the bilinear
 * transform, in dB; A^2 is the gain. */
static gdouble
band_db (gdouble hz, gdouble centre, gdouble gain)
{
  gdouble x = tan (G_PI * hz / RATE) / tan (G_PI * centre / RATE);
  gdouble a = pow (10.0, gain / 40.0), flat = (1.0 - x * x) * (1.0 - x * x);
  gdouble up = x * a / 4.318, down = x / (a * 4.318);

  return 10.0 * log10 ((flat + up * up) / (flat + down * down));
}

static void
set_band (GstHarness *h, guint i, gdouble db)
{
  gchar *name = g_strdup_printf ("f%s::gain", bands[i]);

  gst_child_proxy_set (GST_CHILD_PROXY (h->element), name, db, NULL);
  g_free (name);
}

/* Flat to the bit, and each band is at its frequency and has its gain there. */
GST_START_TEST (test_bands)
{
  GstHarness *h = make (EQUALISER);
  GstAudioInfo info = mono_f64 ();
  gdouble *in = tfx_check_noise (4800, 1), *out;

  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (h->element)),
      G_N_ELEMENTS (bands));
  fail_unless_equals_int (G_N_ELEMENTS (bands), 31);
  out = tfx_check_filter (h, &info, in, 4800, 480);
  fail_unless_equals_float (tfx_check_distance (in, out, 4800), 0.0);
  g_free (out);
  g_free (in);

  for (guint i = 0; i < G_N_ELEMENTS (bands); i += 5) {
    gdouble hz = band_hz (i), *response;
    gchar *name = g_strdup_printf ("f%s::frequency", bands[i]);

    tfx_chains_expect_number (h->element, name, hz);
    set_band (h, i, 6.0);
    tfx_check_flush (h);
    response = measure (h);
    for (guint k = 0; k < G_N_ELEMENTS (bands); k++)
      expect_gain (response, band_hz (k), band_db (band_hz (k), hz, 6.0), 1e-3);
    /* It has its gain, and two bands away little is left of it. */
    fail_unless (fabs (band_db (hz, hz, 6.0) - 6.0) < 1e-9);
    fail_unless (fabs (band_db (hz / 1.587, hz, 6.0)) < 1.0);
    set_band (h, i, 0.0);
    g_free (response);
    g_free (name);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* All bands up: the whole is up, by one run of the engine each buffer. */
GST_START_TEST (test_all_bands)
{
  GstHarness *h = make (EQUALISER);
  gdouble *response;

  for (guint i = 0; i < G_N_ELEMENTS (bands); i++)
    set_band (h, i, 3.0);
  response = measure (h);
  for (guint i = 0; i < G_N_ELEMENTS (bands); i++) {
    gdouble db = 0.0;

    for (guint k = 0; k < G_N_ELEMENTS (bands); k++)
      db += band_db (band_hz (i), band_hz (k), 3.0);
    expect_gain (response, band_hz (i), db, 1e-3);
  }
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"),
      tfx_check_stat (h->element, "buffers"));
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 31);
  g_free (response);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- the user's own ----------------------------------------------------------------- */

static void
count_notify (GObject *object, GParamSpec *spec, gpointer n)
{
  ++*(guint *)n;
}

/* What is saved is the chain as it is, whatever is in it; it comes back in
 * another element. */
GST_START_TEST (test_save)
{
  static const gchar text[] = "a=LoShelving(105, q=0.28, gain=11.5, "
                              "gain_scale='db')\n  | Gain(3) # louder\n"
                              "  | w=DesignableFIR(100, 31, window=('kaiser', "
                              "8.5))";
  static const gchar canonical[] =
      "a=LoShelving(105, q=0.28, gain=11.5, gain_scale='db') | Gain(-0.5) | "
      "w=DesignableFIR(100, num_taps=31, window=('kaiser', 8.5))";
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstElement *other = gst_element_factory_make ("tfxchain", NULL);
  GstPreset *preset = GST_PRESET (element);
  guint n_notified = 0;

  g_signal_connect (other, "notify::chain", G_CALLBACK (count_notify),
      &n_notified);
  g_object_set (element, "chain", text, NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "gain0::gain", -0.5, NULL);
  fail_unless (gst_preset_save_preset (preset, "My \"own\" (1)"));
  fail_unless (gst_preset_load_preset (GST_PRESET (other), "My \"own\" (1)"));
  fail_unless_equals_int (n_notified, 1);
  tfx_chains_expect_text (other, canonical);
  tfx_chains_expect_number (other, "gain0::gain", -0.5);

  /* Over again, renamed, and gone. */
  g_object_set (element, "chain", "Gain(2)", NULL);
  fail_unless (gst_preset_save_preset (preset, "My \"own\" (1)"));
  fail_unless (gst_preset_rename_preset (preset, "My \"own\" (1)", "Mine"));
  fail_unless (gst_preset_load_preset (GST_PRESET (other), "Mine"));
  tfx_chains_expect_text (other, "Gain(2)");
  fail_unless (gst_preset_delete_preset (preset, "Mine"));
  fail_if (gst_preset_load_preset (preset, "Mine"));

  /* What cannot be read is not saved. */
  g_object_set (element, "chain", "Gain(", NULL);
  fail_if (gst_preset_save_preset (preset, "Wrong"));
  fail_if (gst_preset_load_preset (preset, "Wrong"));
  gst_object_unref (element);
  gst_object_unref (other);
}
GST_END_TEST;

/* An order that is clamped is saved as what it is. */
GST_START_TEST (test_save_clamped)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstElement *other = gst_element_factory_make ("tfxchain", NULL);

  g_object_set (element, "chain", "x=LoButterworth(1000)", NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "x::order", 70, NULL);
  fail_unless (gst_preset_save_preset (GST_PRESET (element), "Steep"));
  fail_unless (gst_preset_load_preset (GST_PRESET (other), "Steep"));
  tfx_chains_expect_text (other, "x=LoButterworth(1000, order=64)");

  /* Values that do not fit each other are not saved: they could not be
   * loaded. */
  g_object_set (element, "chain", "x=Butterworth('lowpass', 1000)", NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "x::btype", 2, NULL);
  fail_if (gst_preset_save_preset (GST_PRESET (element), "Half"));
  fail_if (gst_preset_load_preset (GST_PRESET (other), "Half"));
  tfx_chains_expect_text (other, "x=LoButterworth(1000, order=64)");
  gst_object_unref (element);
  gst_object_unref (other);
}
GST_END_TEST;

/* ---- what is wrong, and what is newer ---------------------------------------------- */

#define TYPE "GstTfxChain"

/* Each test starts without one. */
static void
remove_user_file (void)
{
  user_presets_remove (TYPE);
}

/* The chain of it is not to be read, in the one form or the other. */
#define BROKEN                                                                 \
  "[Property]\nchain=LoButterworth(\n\n"                                       \
  "[Meta]\n_meta/chain=LoButterwort(100)\nchain=Gain(2)\n\n"                   \
  "[Other]\ncutoff=1000\n\n"

/* Loops over the states. */
GST_START_TEST (test_load_broken)
{
  static const gchar *const names[] = { "Property", "Meta", "Other" };
  static const gchar *const why[] = { "line 1, column 14",
    "did you mean 'LoButterworth'", "it has no chain" };
  GstAudioInfo info = mono_f64 ();
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstHarness *h = NULL;
  GstBus *bus = gst_bus_new ();

  user_presets_write (TYPE, "1.22.0", BROKEN);
  g_object_set (element, "chain", "x=Gain(3)", NULL);
  if (__i__ == 0)
    gst_element_set_bus (element, bus);
  else {
    gst_object_unref (bus);
    h = gst_harness_new_with_element (element, "sink", "src");
    bus = tfx_check_bus (h);
    tfx_check_set_info (h, &info);
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    fail_if (gst_preset_load_preset (GST_PRESET (element), names[i]));
    tfx_check_expect_warning (bus, names[i], "stays in use", why[i], NULL);
    tfx_check_expect_no_warning (bus);
    tfx_chains_expect_text (element, "x=Gain(3)");
    tfx_chains_expect_number (element, "x::gain", 3.0);
  }
  fail_unless (gst_preset_load_preset (GST_PRESET (element), "Rumble filter"));
  tfx_chains_expect_text (element, "rumble=HiButterworth(25, order=4)");
  if (!h)
    gst_element_set_bus (element, NULL);
  /* Its messages hold the element. */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (element);
  if (h)
    gst_harness_teardown (h);
}
GST_END_TEST;

/* A user who saved a preset once has a file with all of them, as they were
 * then.  Presets that are new or corrected since appear all the same, beside
 * the user's own, of which one may have the name of ours. */
GST_START_TEST (test_newer)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstPreset *preset = GST_PRESET (element);
  gchar *version = g_strdup_printf ("%d.%d.%d", GST_VERSION_MAJOR,
      GST_VERSION_MINOR, GST_VERSION_MICRO);
  gchar **names;

  user_presets_write (TYPE, version,
      "[Rumble filter]\nchain=HiButterworth(1)\n\n"
      "[Loudness contour]\n_meta/chain=Gain(3)\nchain=Gain(3)\n\n"
      "[Mine]\n_meta/chain=Gain(2)\nchain=Gain(2)\n\n");
  fail_unless (gst_preset_load_preset (preset, "Mine"));
  tfx_chains_expect_text (element, "Gain(2)");
  fail_unless (gst_preset_load_preset (preset, "Loudness contour"));
  tfx_chains_expect_text (element, "Gain(3)");
  names = gst_preset_get_preset_names (preset);
  fail_unless (g_strv_contains ((const gchar *const *)names, "Telephone band"),
      "a new preset does not appear");
  fail_unless (g_strv_contains ((const gchar *const *)names, "Mine"));
  g_strfreev (names);
  fail_unless (gst_preset_load_preset (preset, "Telephone band"));
  fail_unless (gst_preset_load_preset (preset, "Rumble filter"));
  tfx_chains_expect_text (element, "rumble=HiButterworth(25, order=4)");

  /* And what is saved now does not hide those that come later. */
  {
    gchar *path = user_presets_name (TYPE);
    GKeyFile *file = g_key_file_new ();
    gchar *saved;

    fail_unless (gst_preset_save_preset (preset, "Another"));
    fail_unless (g_key_file_load_from_file (file, path, 0, NULL));
    saved = g_key_file_get_string (file, "_presets_", "version", NULL);
    fail_unless (saved && saved[0] == '1', "version %s", saved);
    fail_unless (g_key_file_has_group (file, "Mine"));
    fail_unless (g_key_file_has_group (file, "Another"));
    g_free (saved);
    g_key_file_free (file);
    g_free (path);
  }
  g_free (version);
  gst_object_unref (element);
}
GST_END_TEST;

/* In a launch line. */
GST_START_TEST (test_launch)
{
  GError *error = NULL;
  GstElement *element =
      gst_parse_launch ("tfxchain @preset=Rumble\\ filter rumble::cutoff=18",
          &error);

  fail_unless (element && !error, "%s", error ? error->message : "");
  tfx_chains_expect_text (element, "rumble=HiButterworth(18, order=4)");
  gst_object_unref (element);
}
GST_END_TEST;

static Suite *
chain_presets_suite (void)
{
  Suite *s = suite_create ("chain-presets");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, remove_user_file, NULL);
  tcase_add_test (tc, test_names);
  tcase_add_test (tc, test_rumble);
  tcase_add_test (tc, test_telephone);
  tcase_add_test (tc, test_crossover);
  tcase_add_test (tc, test_loudness);
  tcase_add_test (tc, test_bands);
  tcase_add_test (tc, test_all_bands);
  tcase_add_test (tc, test_save);
  tcase_add_test (tc, test_save_clamped);
  tcase_add_loop_test (tc, test_load_broken, 0, 2);
  tcase_add_test (tc, test_newer);
  tcase_add_test (tc, test_launch);
  return s;
}

/* What is saved goes to a folder of this run. */
int
main (int argc, char **argv)
{
  gchar *folder = g_dir_make_tmp ("tfxchain-XXXXXX", NULL), *command;
  int status;

  g_setenv ("XDG_DATA_HOME", folder, TRUE);
  status = tfx_check_main (argc, argv, chain_presets_suite ());
  command = g_strdup_printf ("rm -r '%s'", folder);
  if (system (command) != 0)
    g_printerr ("%s is left\n", folder);
  g_free (command);
  g_free (folder);
  return status;
}
