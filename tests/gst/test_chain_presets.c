/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_presets.c: the presets that come with tfxchain, by their response,
 * and presets of the user's own.
 */
#include <math.h>
#include <string.h>

#include "chains.h"
#include "userpresets.h"

#define RATE 48000
#define LENGTH 96000 /* of an impulse response, frames */

static void
load (GstElement *element, const gchar *preset)
{
  fail_unless (gst_preset_load_preset (GST_PRESET (element), preset),
      "no preset '%s'", preset);
}

static void
expect_loaded (GstElement *element, const gchar *preset, const gchar *text)
{
  load (element, preset);
  tfx_chains_expect_text (element, text);
}

/* A harness around a tfxchain with a preset. */
static GstHarness *
make (const gchar *preset)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (GstElement) element = tfx_chains_element ("");
  GstHarness *h;

  load (element, preset);
  h = gst_harness_new_with_element (element, "sink", "src");
  tfx_check_set_info (h, &info);
  return h;
}

static gdouble *
measure (GstHarness *h)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);

  return tfx_chains_impulse (h, &info, LENGTH);
}

static void
expect_gain (const gdouble *response, gdouble hz, gdouble db, gdouble slack)
{
  gdouble now = tfx_chains_gain_db (response, LENGTH, hz, RATE);

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
  g_autoptr (GstElement) element = tfx_chains_element ("");
  GstPreset *preset = GST_PRESET (element);
  g_auto (GStrv) found = gst_preset_get_preset_names (preset);
  g_auto (GStrv) properties = gst_preset_get_property_names (preset);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree gchar *comment = NULL;

    fail_unless (g_strv_contains ((const gchar *const *)found, names[i]),
        "no preset '%s'", names[i]);
    fail_unless (gst_preset_get_meta (preset, names[i], "comment", &comment));
    fail_unless (strlen (comment) > 20);
  }
  fail_unless_equals_int (g_strv_length (properties), 1);
  fail_unless_equals_string (properties[0], "chain");
  fail_if (gst_preset_load_preset (preset, "No such thing"));
}
GST_END_TEST;

/* Presets that are Butterworth filters in a row: 8 Hz of rumble are 39.6 dB down, and
 * each half of the crossover is 6 dB down where they meet. */
GST_START_TEST (test_butterworth)
{
  static const struct
  {
    const gchar *preset;
    struct
    {
      gdouble cutoff;
      guint order;
      gboolean is_high;
    } filters[2];
    gdouble hz[8], slack;
  } rows[] = {
    { "Rumble filter", { { 25, 4, TRUE } },
        { 5, 8, 12.5, 25, 50, 100, 1000, 10000 }, 1e-4 },
    { "Telephone band", { { 300, 6, TRUE }, { 3400, 8, FALSE } },
        { 100, 150, 300, 1000, 2000, 3400, 5000, 8000 }, 1e-4 },
    { "Crossover, low half", { { 2000, 2, FALSE }, { 2000, 2, FALSE } },
        { 100, 1000, 1999, 2000, 2500, 10000 }, 1e-6 },
    { "Crossover, high half", { { 2000, 2, TRUE }, { 2000, 2, TRUE } },
        { 100, 1000, 1999, 2000, 2500, 10000 }, 1e-6 },
  };
  g_autoptr (TfxHarness) h = make (rows[__i__].preset);
  g_autofree gdouble *response = measure (h);

  for (guint i = 0; i < 8 && rows[__i__].hz[i] > 0; i++) {
    gdouble db = 0.0;

    for (guint k = 0; k < 2 && rows[__i__].filters[k].order > 0; k++)
      db += butterworth_db (rows[__i__].hz[i], rows[__i__].filters[k].cutoff,
          rows[__i__].filters[k].order, rows[__i__].filters[k].is_high);
    expect_gain (response, rows[__i__].hz[i], db, rows[__i__].slack);
  }
}
GST_END_TEST;

/* Both halves add up to an all-pass. */
GST_START_TEST (test_crossover)
{
  static const gdouble hz[] = { 100, 1000, 1999, 2000, 2500, 10000 };
  g_autoptr (TfxHarness) low = make ("Crossover, low half");
  g_autoptr (TfxHarness) high = make ("Crossover, high half");
  g_autofree gdouble *a = measure (low), *b = measure (high);

  expect_gain (a, 2000, 20.0 * log10 (0.5), 1e-9);
  expect_gain (b, 2000, 20.0 * log10 (0.5), 1e-9);
  for (gsize i = 0; i < LENGTH; i++)
    a[i] += b[i];
  for (guint i = 0; i < G_N_ELEMENTS (hz); i++)
    expect_gain (a, hz[i], 0.0, 1e-9);
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
  g_autoptr (TfxHarness) h = make ("Loudness contour");
  g_autofree gdouble *response = measure (h);

  for (guint i = 0; i < G_N_ELEMENTS (contour); i++)
    expect_gain (response, contour[i].hz, contour[i].db, 1.0);
}
GST_END_TEST;

/* ---- the graphic equaliser ------------------------------------------------------- */

#define EQUALISER "Graphic equaliser, 31 bands"

static const gdouble bands[] = { 20, 25, 31.5, 40, 50, 63, 80, 100, 125, 160,
  200, 250, 315, 400, 500, 630, 800, 1000, 1250, 1600, 2000, 2500, 3150, 4000,
  5000, 6300, 8000, 10000, 12500, 16000, 20000 };

/* "f31_5::gain", to be freed. */
static gchar *
name_band (guint i, const gchar *property)
{
  g_autofree gchar *hz =
      g_strdelimit (g_strdup_printf ("%g", bands[i]), ".", '_');

  return g_strdup_printf ("f%s::%s", hz, property);
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
  g_autofree gchar *name = name_band (i, "gain");

  gst_child_proxy_set (GST_CHILD_PROXY (h->element), name, db, NULL);
}

/* Flat to the bit, and each band is at its frequency and has its gain there. */
GST_START_TEST (test_bands)
{
  g_autoptr (TfxHarness) h = make (EQUALISER);
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (4800, 1), *out = NULL;

  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (h->element)),
      G_N_ELEMENTS (bands));
  out = tfx_check_filter (h, &info, in, 4800, 480);
  fail_unless_equals_float (tfx_check_distance (in, out, 4800), 0.0);

  for (guint i = 0; i < G_N_ELEMENTS (bands); i += 5) {
    g_autofree gchar *name = name_band (i, "frequency");
    g_autofree gdouble *response = NULL;
    const gdouble hz = bands[i];

    tfx_chains_expect_number (h->element, name, hz);
    set_band (h, i, 6.0);
    tfx_check_flush (h);
    response = measure (h);
    for (guint k = 0; k < G_N_ELEMENTS (bands); k++)
      expect_gain (response, bands[k], band_db (bands[k], hz, 6.0), 1e-3);
    /* It has its gain, and two bands away little is left of it. */
    fail_unless (fabs (band_db (hz, hz, 6.0) - 6.0) < 1e-9);
    fail_unless (fabs (band_db (hz / 1.587, hz, 6.0)) < 1.0);
    set_band (h, i, 0.0);
  }
}
GST_END_TEST;

/* All bands up: the whole is up, by one run of the engine each buffer. */
GST_START_TEST (test_all_bands)
{
  g_autoptr (TfxHarness) h = make (EQUALISER);
  g_autofree gdouble *response = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (bands); i++)
    set_band (h, i, 3.0);
  response = measure (h);
  for (guint i = 0; i < G_N_ELEMENTS (bands); i++) {
    gdouble db = 0.0;

    for (guint k = 0; k < G_N_ELEMENTS (bands); k++)
      db += band_db (bands[i], bands[k], 3.0);
    expect_gain (response, bands[i], db, 1e-3);
  }
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "dispatches"),
      tfx_check_stat (h->element, "buffers"));
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 31);
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
  g_autoptr (GstElement) element = tfx_chains_element ("");
  g_autoptr (GstElement) other = tfx_chains_element ("");
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
  expect_loaded (other, "Mine", "Gain(2)");
  fail_unless (gst_preset_delete_preset (preset, "Mine"));
  fail_if (gst_preset_load_preset (preset, "Mine"));

  /* What cannot be read is not saved. */
  g_object_set (element, "chain", "Gain(", NULL);
  fail_if (gst_preset_save_preset (preset, "Wrong"));
  fail_if (gst_preset_load_preset (preset, "Wrong"));
}
GST_END_TEST;

/* An order that is clamped is saved as what it is. */
GST_START_TEST (test_save_clamped)
{
  g_autoptr (GstElement) element = tfx_chains_element ("");
  g_autoptr (GstElement) other = tfx_chains_element ("");

  g_object_set (element, "chain", "x=LoButterworth(1000)", NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "x::order", 70, NULL);
  fail_unless (gst_preset_save_preset (GST_PRESET (element), "Steep"));
  expect_loaded (other, "Steep", "x=LoButterworth(1000, order=64)");

  /* Values that do not fit each other are not saved: they could not be
   * loaded. */
  g_object_set (element, "chain", "x=Butterworth('lowpass', 1000)", NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "x::btype", 2, NULL);
  fail_if (gst_preset_save_preset (GST_PRESET (element), "Half"));
  fail_if (gst_preset_load_preset (GST_PRESET (other), "Half"));
  tfx_chains_expect_text (other, "x=LoButterworth(1000, order=64)");
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

/* In NULL, and while it plays. */
GST_START_TEST (test_load_broken)
{
  static const gchar *const names[] = { "Property", "Meta", "Other" };
  static const gchar *const why[] = { "line 1, column 14",
    "did you mean 'LoButterworth'", "it has no chain" };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (TfxElement) element = tfx_chains_element ("x=Gain(3)");
  g_autoptr (TfxHarness) h = NULL;

  user_presets_write (TYPE, "1.22.0", BROKEN);
  gst_element_set_bus (element, bus);
  if (__i__ == 1) {
    h = gst_harness_new_with_element (element, "sink", "src");
    tfx_check_set_info (h, &info);
  }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    fail_if (gst_preset_load_preset (GST_PRESET (element), names[i]));
    tfx_check_expect_warning (bus, names[i], "stays in use", why[i], NULL);
    tfx_check_expect_no_warning (bus);
    tfx_chains_expect_text (element, "x=Gain(3)");
    tfx_chains_expect_number (element, "x::gain", 3.0);
  }
  expect_loaded (element, "Rumble filter", "rumble=HiButterworth(25, order=4)");
}
GST_END_TEST;

/* A user who saved a preset once has a file with all of them, as they were
 * then.  Presets that are new or corrected since appear all the same, beside
 * the user's own, of which one may have the name of ours. */
GST_START_TEST (test_newer)
{
  g_autoptr (GstElement) element = tfx_chains_element ("");
  GstPreset *preset = GST_PRESET (element);
  g_autofree gchar *version = g_strdup_printf ("%d.%d.%d", GST_VERSION_MAJOR,
      GST_VERSION_MINOR, GST_VERSION_MICRO);
  g_autofree gchar *path = user_presets_name (TYPE), *saved = NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_auto (GStrv) names = NULL;

  user_presets_write (TYPE, version,
      "[Rumble filter]\nchain=HiButterworth(1)\n\n"
      "[Loudness contour]\n_meta/chain=Gain(3)\nchain=Gain(3)\n\n"
      "[Mine]\n_meta/chain=Gain(2)\nchain=Gain(2)\n\n");
  expect_loaded (element, "Mine", "Gain(2)");
  expect_loaded (element, "Loudness contour", "Gain(3)");
  names = gst_preset_get_preset_names (preset);
  fail_unless (g_strv_contains ((const gchar *const *)names, "Telephone band"),
      "a new preset does not appear");
  fail_unless (g_strv_contains ((const gchar *const *)names, "Mine"));
  load (element, "Telephone band");
  expect_loaded (element, "Rumble filter", "rumble=HiButterworth(25, order=4)");

  /* And what is saved now does not hide those that come later. */
  fail_unless (gst_preset_save_preset (preset, "Another"));
  fail_unless (g_key_file_load_from_file (file, path, 0, NULL));
  saved = g_key_file_get_string (file, "_presets_", "version", NULL);
  fail_unless (saved && saved[0] == '1', "version %s", saved);
  fail_unless (g_key_file_has_group (file, "Mine"));
  fail_unless (g_key_file_has_group (file, "Another"));
}
GST_END_TEST;

/* In a launch line. */
GST_START_TEST (test_launch)
{
  GError *error = NULL;
  g_autoptr (GstElement) element =
      gst_parse_launch ("tfxchain @preset=Rumble\\ filter rumble::cutoff=18",
          &error);

  fail_unless (element && !error, "%s", error ? error->message : "");
  tfx_chains_expect_text (element, "rumble=HiButterworth(18, order=4)");
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_presets");

  tfx_check_folder ();
  tcase_add_checked_fixture (tc, remove_user_file, NULL);
  tcase_add_test (tc, test_names);
  tcase_add_loop_test (tc, test_butterworth, 0, 4);
  tcase_add_test (tc, test_crossover);
  tcase_add_test (tc, test_loudness);
  tcase_add_test (tc, test_bands);
  tcase_add_test (tc, test_all_bands);
  tcase_add_test (tc, test_save);
  tcase_add_test (tc, test_save_clamped);
  tcase_add_loop_test (tc, test_load_broken, 0, 2);
  tcase_add_test (tc, test_newer);
  tcase_add_test (tc, test_launch);
  return tfx_check_run (argc, argv, tc);
}
