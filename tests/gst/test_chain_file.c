/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_file.c: a tfxchain whose text stands in a file: read, missing, saved
 * while samples flow; and filter settings that REW has exported.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

#include "chains.h"

#define RATE 48000
#define N 480

/* A tfxchain with such a file. */
static GstElement *
open_file (const gchar *path)
{
  GstElement *chain = tfx_chains_element ("");

  g_object_set (chain, "location", path, NULL);
  return chain;
}

static void
expect_state (GstElement *chain, GstStateChangeReturn wanted)
{
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      wanted);
  gst_element_set_state (chain, GST_STATE_NULL);
}

/* Several lines, comments; its stages are there at once. */
GST_START_TEST (test_read)
{
  g_autofree gchar *path =
      tfx_check_write ("a.txt", "# rumble\nHiButterworth(80)  # out\n"
                                "| eq=ParametricEQ(1000, 1, 3)\n");
  g_autoptr (GstElement) chain = open_file (path);
  g_autofree gchar *location = NULL, *none = NULL;

  tfx_chains_expect_number (chain, "eq::gain", 3.0);
  g_object_get (chain, "location", &location, NULL);
  fail_unless_equals_string (location, path);
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "eq::gain", 4.0, NULL);
  tfx_chains_expect_text (chain,
      "HiButterworth(80) | eq=ParametricEQ(1000, q=1, gain=4)");
  expect_state (chain, GST_STATE_CHANGE_SUCCESS);
  /* What is set last counts. */
  g_object_set (chain, "chain", "Gain(2)", NULL);
  tfx_chains_expect_text (chain, "Gain(2)");
  /* Without a name there is no file. */
  g_object_set (chain, "location", "", NULL);
  g_object_get (chain, "location", &none, NULL);
  fail_unless (none == NULL);
  tfx_chains_expect_text (chain, "Gain(2)");
  expect_state (chain, GST_STATE_CHANGE_SUCCESS);
}
GST_END_TEST;

#define BYTES(text) text, sizeof (text) - 1
#define SETTINGS "of the filter settings: "
#define EQ "ParametricEQ(1250.5, q=4, gain=-5)"

/* What is in a file, and the chain that it is, or what is told of it. */
static const struct
{
  const gchar *bytes;
  gsize n;
  const gchar *chain, *words[3];
} files[] = {
  { BYTES ("Gain(2) |\nButterwort(3)\n"), NULL, { "line 2, column 1" } },
  { BYTES ("Filter Settings file\nFilter 1: ON PK Fc 63 Hz Gain -5 dB\n"), NULL,
      { "line 2 of the filter settings: the filter needs Q or BW" } },
  { BYTES ("Channel: L\nPreamp: -6 dB\n"),
      "(ch[FL]: Gain(-6, gain_type='db'))" },
  { BYTES ("Filter 1: ON XY Fc 63 Hz\n"), NULL,
      { "unknown filter type XY; the types are PK, PEQ, Modal, LP, LPQ, LP1, "
        "HP, HPQ, HP1, BP, NO, Notch, AP, All pass, LS, LSQ, LSC, HS, HSQ, "
        "HSC, IIR" } },
  { BYTES ("Filter 1: ON m\xfcsik Fc 63 Hz\n"), NULL,
      { "unknown filter type m\\xfcsik; the types are PK" } },
  /* A number that overflows a double is an error. */
  { BYTES ("Filter 1: ON PK Fc 1e309 Hz Gain 3 dB Q 1"), NULL,
      { "line 1 of the filter settings: ", "frequency (Fc)" } },
  { BYTES ("Filter 1: ON PK Fc 1e306 kHz Gain 3 dB Q 1"), NULL,
      { "line 1 of the filter settings: ", "frequency (Fc)" } },
  { BYTES ("Filter 1: ON PK Fc 63 Hz Gain 3 dB BW Oct 1e-320"), NULL,
      { "line 1 of the filter settings: ", "is 1e-320, out of range" } },
  { BYTES ("Filter 1: ON AP Fc 63 Hz BW Oct 1e-320"), NULL,
      { "line 1 of the filter settings: ", "is 1e-320, out of range" } },
  { BYTES ("Filter 1: ON LSC Fc 63 Hz Gain 3 dB BW Oct 1e-320"), NULL,
      { "line 1 of the filter settings: ", "a shelf does not have" } },
  { BYTES ("Filter 1: ON LSC 12dB Fc 63 Hz Gain 1e300 dB"), NULL,
      { "line 1 of the filter settings: ", "a Gain out of range" } },
  { BYTES ("Filter 1: ON HS Fc 63 Hz Gain -1e300 dB"), NULL,
      { "line 1 of the filter settings: ", "a Gain out of range" } },
  { BYTES ("Filter 1: ON LS Fc 63 Hz Gain 100 dB Q 0.001"), NULL,
      { "line 1 of the filter settings: ", "a Gain out of range" } },
  { BYTES ("Filter 1: ON PK Fc 63 Hz Gain 1e309 dB Q 1"), NULL,
      { "line 1 of the filter settings: ", "needs a Gain" } },
  /* A value out of range is one of the file, not of the chain that comes of it. */
  { BYTES ("Preamp: -6 dB\n\nFilter 2: ON PK Fc 63 Hz Gain 500 dB Q 1\n"), NULL,
      { "line 3 of the filter settings: ", "gain of ParametricEQ is 500",
          "Filter 2: ON PK Fc 63 Hz Gain 500 dB Q 1" } },
  { BYTES ("Preamp: -6 dB\n\nFilter 2: ON LP Fc -63 Hz\n"), NULL,
      { "line 3 of the filter settings: ", "cutoff of BiquadLPF is -63 Hz",
          "Filter 2: ON LP Fc -63 Hz" } },
  { BYTES ("Preamp: -6 dB\n\nFilter 2: ON PK Fc 63 Hz Gain 5 dB Q 1e9\n"), NULL,
      { "line 3 of the filter settings: ", "q of ParametricEQ is",
          "Filter 2: ON PK Fc 63 Hz Gain 5 dB Q 1e9" } },
  { BYTES ("Preamp: -6 dB\n\nPreamp: 900 dB\n"), NULL,
      { "line 3 of the filter settings: ", "gain of Gain is 900 dB",
          "Preamp: 900 dB" } },
  /* Numbers as REW writes them in other countries. */
  { BYTES ("Filter 1: ON PK Fc 1250.5Hz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1250,5Hz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1,250.5Hz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1.250,5Hz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1 250,5Hz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1\xc2\xa0"
           "250.5Hz Gain -5 dB Q 4\n"),
      EQ },
  { BYTES ("Filter 1: ON PK Fc 1\xa0"
           "250,5Hz Gain -5 dB Q 4\n"),
      EQ },
  { BYTES ("Filter 1: ON PK Fc 1\xe2\x80\xaf"
           "250,5Hz Gain -5 dB Q 4\n"),
      EQ },
  { BYTES ("Filter 1: ON PK Fc 1'250.50Hz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1.2505 kHz Gain -5 dB Q 4\n"), EQ },
  { BYTES ("Filter 1: ON PK Fc 1,250 Hz Gain -5 dB Q 4\n"), NULL,
      { "three digits after the mark in its frequency (Fc)" } },
  /* The decimal mark is that of the file: here the comma. */
  { BYTES ("Filter Settings file\n\nRoom EQ V5,01\nDated: 16.05.2013 "
           "21:56:38\n\nNotes:\n\nEqualiser: Generic\nNo measurement\n"
           "Filter  1: ON  PK       Fc    50,0 Hz  Gain -10,0 dB  Q  2,50\n"
           "Filter  2: ON  LP       Fc   8.000 Hz\n"
           "Filter  3: ON  NO       Fc   1.250 Hz\n"
           "Filter  4: ON  HS       Fc   1.000 Hz  Gain  -3,0 dB\n"),
      "ParametricEQ(50, q=2.5, gain=-10) | BiquadLPF(8000, "
      "q=0.7071067811865476) | "
      "BiquadNotch(1250, q=30) | HiShelving(1000, q=0.6703195605671526, "
      "gain=-3, "
      "gain_scale='db')" },
  /* Ways in which people and programs write, and what they mean. */
  { BYTES ("Preamp:-6.5dB"), "Gain(-6.5, gain_type='db')" },
  { BYTES ("preamp: .5 db"), "Gain(0.5, gain_type='db')" },
  { BYTES ("Preamp: 1.5e1 dB"), "Gain(15, gain_type='db')" },
  { BYTES ("Preamp: 1.5x dB"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON PK Fc 63Hz Gain-5,75dB Q4.5"),
      "ParametricEQ(63, q=4.5, gain=-5.75)" },
  { BYTES ("filter 1: on pk fc 2.5k gain 3 db q 1"),
      "ParametricEQ(2500, q=1, gain=3)" },
  { BYTES ("Filter bass: ON PK Fc 63 Hz Gain 3 dB Q 1"),
      "ParametricEQ(63, q=1, gain=3)" },
  { BYTES ("Filter 1: ON PK Fc 1,250 Hz Gain 3.0 dB Q 1"),
      "ParametricEQ(1250, q=1, gain=3)" },
  { BYTES ("Filter 1: ON PK Fc 1.250 Hz Gain 3,0 dB Q 1"),
      "ParametricEQ(1250, q=1, gain=3)" },
  { BYTES ("Filter 1: ON PK Fc 31.125 Hz Gain 3.0 dB Q 1"),
      "ParametricEQ(31.125, q=1, gain=3)" },
  { BYTES ("Filter 1: ON LP Fc 1.250 kHz"),
      "BiquadLPF(1250, q=0.7071067811865476)" },
  { BYTES ("Filter 1: ON LP Fc 8.000 Hz"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON LP Fc 8.000 Hz\nPreamp: -6,5 dB"),
      "BiquadLPF(8000, q=0.7071067811865476) | Gain(-6.5, gain_type='db')" },
  { BYTES ("Filter 1: ON LP Fc 8.000 Hz\nFilter 2: OFF PK Fc 63 Hz Gain 1 dB "
           "Q 2.5"),
      "BiquadLPF(8, q=0.7071067811865476)" },
  { BYTES ("Filter 1: ON LP Fc 8.000 Hz\nFilter 2: ON LP Fc 1.250,5 Hz"),
      "BiquadLPF(8000, q=0.7071067811865476) | BiquadLPF(1250.5, "
      "q=0.7071067811865476)" },
  /* Both marks: what can be read in one way is, the rest is not. */
  { BYTES ("Filter 1: ON PK Fc 62,5 Hz Gain 3 dB Q 4\nPreamp: -6.5 dB"),
      "ParametricEQ(62.5, q=4, gain=3) | Gain(-6.5, gain_type='db')" },
  { BYTES ("Filter 1: ON PK Fc 62,5 Hz Gain 3.0 dB Q 4\nFilter 2: ON LP Fc "
           "1.250 Hz"),
      NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON LP Fc 1,25,5 Hz"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON LP1 Fc 300 Hz\nFilter 2: ON HP1 Fc 370 Hz Q 2"),
      "LoButterworth(300, order=1) | HiButterworth(370, order=1)" },
  { BYTES ("Filter 1: ON All pass  Fc 100.0 Hz  Q  0.707"),
      "BiquadAllPass(100, q=0.707)" },
  { BYTES ("Filter 1: ON All pass Fc 100 Hz"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON AP Fc 100 Hz"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON BP Fc 100 Hz"),
      "BiquadBPF(100, q=0.7071067811865476)" },
  { BYTES ("Filter 1: ON LP Q Fc 80 Hz Q 0.75"), "BiquadLPF(80, q=0.75)" },
  { BYTES ("Filter 1: ON PK Fc 1,250 Gain 3 dB Q 1"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON PK Fc 0x10 Hz Gain 3 dB Q 1"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON PK Fc 63 Hz Gain 3 dB BW Oct 0"), NULL, { SETTINGS } },
  { BYTES ("Filter 1: ON PK Fc 63 Hz Gain 3 dB Q 1\rFilter 2: ON LP Fc 8000 Hz "
           "Q 1\r"),
      "ParametricEQ(63, q=1, gain=3) | BiquadLPF(8000, q=1)" },
  { BYTES ("Filter 1: ON LSC Fc 105 Hz Gain 6.5 dB Q 0.75"),
      "LoShelving(105, q=0.75, gain=6.5, gain_scale='db')" },
  { BYTES ("Filter 1: ON HSC 12 dB Fc 105 Hz Gain 6.5 dB"),
      "HiShelving(105, q=0.7071067811865475, gain=6.5, gain_scale='db')" },
  { BYTES ("Filter 1: ON HSC 13 dB Fc 105 Hz Gain 6.5 dB"), NULL,
      { SETTINGS } },
  /* Each word of a filter is read, or named with its place. */
  { BYTES ("\nFilter 1: ON PK Fc 100 Hz Gain 3 dB Q 1 foo"), NULL,
      { "line 2 of the filter settings: 'foo' cannot be read",
          "\n  Filter 1: ON PK Fc 100 Hz Gain 3 dB Q 1 foo\n"
          "                                          ^" } },
  { BYTES ("Filter: ON PK Fc 100 Hz Gain 3 dB Q x"), NULL,
      { "'Q' cannot be read", "Q x\n                                    ^" } },
  { BYTES ("Filter: ON LP Fc 100 Hz Q 1 Q 2"), NULL, { "'Q' cannot be read" } },
  { BYTES ("Filter: ON PK Fc 1 Hz Gain 3 dB Q 1 BW Oct 1"), NULL,
      { "'BW' cannot be read" } },
  { BYTES ("Filter: ON PK Fc 63 Hz Gain 3 dB BW Oct 1/3"), NULL,
      { "'/3' cannot be read" } },
  { BYTES ("Filter: ON LP Fc 100 Hz 6 dB"), NULL, { "'6' cannot be read" } },
  { BYTES ("Filter: ON LP Fc 0x10 Hz"), NULL, { "'x10' cannot be read" } },
  { BYTES ("Preamp: 3 dB more"), NULL, { "'more' cannot be read" } },
  { BYTES ("Filter: ON IIR Order 1 Coefficients 1 x 1 0"), NULL,
      { "coefficient x is not a number", "1 x 1 0\n" } },
  { BYTES ("Filter 4: ON Modal Fc 41.3 Hz Gain -8.2 dB Q 11.2  T60 target 300 "
           "ms\nFilter: OFF foo\nFilter: OFF\nFilter: ON None foo\n"
           "Filter: ON HP Fc 80 Hz Gain 0 dB # rumble\nPreamp: 1 dB#\n"
           "Filter: ON IIR Order 1 Coefficients 1 0 1 0 # flat"),
      "ParametricEQ(41.3, q=11.2, gain=-8.2) | BiquadHPF(80, "
      "q=0.7071067811865476) | Gain(1, gain_type='db') | Biquad(1, 0, 0, 1, 0, "
      "0)" },
  { BYTES ("Device: all\nPreamp: 1 dB"), "Gain(1, gain_type='db')" },
  { BYTES ("Device: Speakers\nPreamp: 1 dB"), NULL, { SETTINGS } },
  { BYTES ("Preamp: 1 dB\nVSTPlugin: Library a.dll"), NULL, { SETTINGS } },
  { BYTES ("Preamp: 1 dB\nLoudnessCorrection: State 1"), NULL, { SETTINGS } },
  /* What is no text, or has no end; and the mark that Windows puts in front. */
  { BYTES ("Gain(2)\0 | Gain(3)"), NULL,
      { "byte 8 is 0, so it is not UTF-8 text" } },
  { BYTES ("G\0a\0i\0n\0(\0002\0)\0"), NULL, { "byte 2 is 0" } },
  { BYTES ("Gain(2) # caf\xe9\n"), NULL, { "byte 14 is not UTF-8" } },
  { BYTES ("\xef\xbb\xbfGain(2)"), "Gain(2)" },
  { BYTES ("\xff\xfeG\0a\0i"), NULL, { "it is not UTF-16 text" } },
  { BYTES ("\xff\xfe(\0\0\xd8"), NULL,
      { "it is not UTF-16 text from byte 5 on" } },
  { BYTES ("\xff\xfeG\0\0\0"), NULL,
      { "it is not UTF-16 text from byte 5 on" } },
};

/* What is wrong in settings is told in the same words where a chain names them. */
GST_START_TEST (test_files)
{
  const gchar *const *words = files[__i__].words;
  g_autofree gchar *path =
      tfx_check_write_bytes ("file.txt", files[__i__].bytes, files[__i__].n);
  g_autofree gchar *naming =
      tfx_check_write ("naming.txt", "FilterSettings('file.txt')");
  g_autoptr (GstElement) chain = open_file (path);

  if (files[__i__].chain) {
    tfx_chains_expect_text (chain, files[__i__].chain);
    return;
  }
  tfx_chains_expect_refused ("location", path, words[0], words[1], words[2],
      NULL);
  if (strstr (words[0], SETTINGS))
    tfx_chains_expect_refused ("location", naming, words[0], words[1], words[2],
        NULL);
}
GST_END_TEST;

GST_START_TEST (test_no_files)
{
  tfx_chains_expect_refused ("location", "/nowhere/chain.txt",
      "/nowhere/chain.txt", NULL);
  tfx_chains_expect_refused ("location", tfx_check_folder (),
      "cannot read the chain from", NULL);
  tfx_chains_expect_refused ("location", "/dev/zero", "it is not a file", NULL);
}
GST_END_TEST;

/* The time of a line grows with its length, not faster; and there may be 1024 lines. */
GST_START_TEST (test_long_files)
{
  g_autoptr (GString) line = g_string_new ("Filter 1: ON PK ");
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autofree gchar *path = NULL;
  const clock_t start = clock ();

  for (guint i = 0; i < 10000; i++)
    g_string_append (line, "Fc ");
  g_string_append (line, "Hzz");
  path = tfx_check_write ("long.txt", line->str);
  tfx_chains_expect_refused ("location", path, "'Fc' cannot be read", NULL);
  fail_unless (clock () - start < CLOCKS_PER_SEC);

  for (guint i = 0; i < 1025; i++)
    g_string_append (lines, "Preamp: 1 dB\n");
  g_free (tfx_check_write ("long.txt", lines->str));
  tfx_chains_expect_refused ("location", path,
      "line 1025 of the filter settings: there are more than 1024 filters",
      NULL);
}
GST_END_TEST;

/* Fc of a shelf with a Q is its corner in Equalizer APO, its midpoint in REW. */
GST_START_TEST (test_shelves)
{
  static const struct
  {
    const gchar *text;
    gdouble hz, q;
  } shelves[] = {
    { "Filter 1: ON LS Fc 105 Hz Gain 6.4 dB Q 0.7", 126.682636, 0.7 },
    { "Filter 1: ON LS Fc 105 Hz Gain -15.9 dB Q 0.7", 167.0085392, 0.7 },
    { "Filter 1: ON HS Fc 10000 Hz Gain 6 dB Q 0.71", 8425.105322, 0.71 },
    { "Filter 1: ON LSC Fc 105 Hz Gain 6.4 dB Q 0.7", 105.0, 0.7 },
    { "Filter 1: ON LSQ Fc 105 Hz Gain 6.4 dB Q 0.7", 105.0, 0.7 },
    { "Filter 1: ON LS Fc 105 Hz Gain 0 dB Q 0.7", 105.0, 0.7 },
    { "Room EQ V5.31\nFilter 1: ON HS Q Fc 500 Hz Gain 3 dB Q 0.71", 500.0,
        0.71 },
    { "Filter Settings file\nFilter 1: ON LS Q Fc 500 Hz Gain 3 dB Q 0.71",
        500.0, 0.71 },
    { "Filter 1: ON LS Fc 500 Hz Gain 3 dB", 500.0, 0.6703195606 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (shelves); i++) {
    g_autofree gchar *path = tfx_check_write ("shelf.txt", shelves[i].text);
    g_autoptr (GstElement) chain = open_file (path);
    g_autoptr (GObject) stage = NULL;
    gdouble hz, q;

    g_object_set (chain, "location", path, NULL);
    stage = gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (chain), 0);
    g_object_get (stage, "cutoff", &hz, "q", &q, NULL);
    fail_unless (fabs (hz / shelves[i].hz - 1.0) < 1e-9, "%s: %.10g Hz",
        shelves[i].text, hz);
    fail_unless (fabs (q / shelves[i].q - 1.0) < 1e-9, "%s: %.10g",
        shelves[i].text, q);
  }
}
GST_END_TEST;

/* With a byte order mark. */
GST_START_TEST (test_utf16)
{
  static const gchar settings[] =
      "\xef\xbb\xbf"
      "Filter Settings file\r\n\r\nNotes: \xf0\x9f\x8e\xa7 Ger\xc3\xa4t\r\n"
      "Filter 1: ON PK Fc 63,0 Hz Gain -5,0 dB Q 4,00\r\n";
  static const gchar *const orders[] = { "UTF-16LE", "UTF-16BE" };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    gsize n;
    g_autofree gchar *bytes =
        g_convert (settings, -1, orders[i], "UTF-8", NULL, &n, NULL);
    g_autofree gchar *path = tfx_check_write_bytes ("utf16.txt", bytes, n);
    g_autoptr (GstElement) chain = open_file (path);

    tfx_chains_expect_text (chain, "ParametricEQ(63, q=4, gain=-5)");
  }
}
GST_END_TEST;

GST_START_TEST (test_settings)
{
  static const gchar settings[] =
      "Filter Settings file\r\n\r\nRoom EQ V5.20\r\nDated: 1 May 2024\r\n"
      "Equaliser: Generic\r\nPreamp: -6.5 dB\r\n"
      "Filter  1: ON  PK       Fc    63,0 Hz  Gain  -5.0 dB  Q  4.00\r\n"
      "Filter  2: ON  None\r\n"
      "Filter  3: OFF PK       Fc    80.0 Hz  Gain  -9.0 dB  Q  4.00\r\n"
      "Filter  4: ON  LS       Fc   100 Hz  Gain   2.5 dB\r\n"
      "Filter: ON HPQ Fc 20 Hz Q 0.5\r\n"
      "Filter  6: ON  Notch    Fc 50.00 Hz\r\n"
      "Filter: ON PK Fc 1000 Hz Gain 1 dB BW Oct 1\r\n";
  g_autofree gchar *path = tfx_check_write ("settings.txt", settings);
  g_autoptr (GstElement) chain = open_file (path);
  gdouble q;

  gst_child_proxy_get (GST_CHILD_PROXY (chain), "parametriceq1::q", &q, NULL);
  fail_unless (q == 1.0);
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "parametriceq1::q", 1.5, NULL);
  tfx_chains_expect_text (chain,
      "Gain(-6.5, gain_type='db') | ParametricEQ(63, q=4, gain=-5) | "
      "LoShelving(100, q=0.670472737534933, gain=2.5, gain_scale='db') | "
      "BiquadHPF(20, q=0.5) | BiquadNotch(50, q=30) | ParametricEQ(1000, "
      "q=1.5, gain=1, q_scale='octaves')");
}
GST_END_TEST;

/* A sine of 440 Hz through it, from frame `at` on; the largest second difference, and
 * the peak. */
static gdouble
push (GstHarness *h, guint *at, guint n_buffers, gdouble *peak)
{
  static gdouble before[2];
  const gsize n = n_buffers * N;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *x = g_new (gdouble, n), *y = NULL;
  gdouble bend = 0.0;

  for (gsize i = 0; i < n; i++)
    x[i] = 0.5 * sin (2.0 * G_PI * 440.0 * (*at + i) / RATE);
  y = tfx_check_filter (h, &info, x, n, N);
  *peak = 0.0;
  for (gsize i = 0; i < n; i++) {
    if (*at + i >= 10 * N)
      bend = MAX (bend, fabs (y[i] - 2.0 * before[1] + before[0]));
    *peak = MAX (*peak, fabs (y[i]));
    before[0] = before[1];
    before[1] = y[i];
  }
  *at += n;
  return bend;
}

static void
wait_for_warning (GstBus *bus, const gchar *word)
{
  g_autofree gchar *text = NULL;
  gint64 begin = 0;

  while (!(text = tfx_check_pop_warning (bus)) && tfx_check_wait (&begin))
    ;
  fail_unless (text && strstr (text, word), "'%s', not '%s'", text, word);
}

/* Names of files are bytes.  Messages and the property are UTF-8 all the same, and the
 * text in the property finds the file again. */
GST_START_TEST (test_names)
{
  g_autofree gchar *path = tfx_check_path ("m\xfcsik.wav"), *text = NULL;
  g_autofree gchar *naming =
      tfx_check_write ("names.txt", "FIR('m\\xfcsik.wav')");
  g_autofree gchar *kernel = g_strdup_printf ("FIR('%s') # \xe9", path);
  g_autoptr (GstElement) element = tfx_chains_element ("");

  tfx_chains_expect_refused ("location", path, "m\\xfcsik.wav': No such file",
      NULL);
  tfx_chains_expect_refused ("location", naming,
      "m\\xfcsik.wav' cannot be used: No such file", NULL);
  g_free (tfx_check_write ("m\xfcsik.wav", "0.5\n"));
  g_object_set (element, "chain", kernel, NULL);
  g_object_get (element, "chain", &text, NULL);
  fail_unless (g_utf8_validate (text, -1, NULL));
  fail_unless (strstr (text, "m\\xfcsik.wav") != NULL, "%s", text);
  g_object_set (element, "chain", "Gain(2) | m\xfcsik(", NULL);
  tfx_chains_expect_text (element, "Gain(2) | m\\xfcsik(");
  g_object_set (element, "chain", text, NULL);
  tfx_chains_expect_text (element, text);
  expect_state (element, GST_STATE_CHANGE_SUCCESS);
}
GST_END_TEST;

/* A pipe is refused at once, wherever the name of a file stands: opening it would
 * wait for a writer. */
GST_START_TEST (test_pipes)
{
  static const gchar *const chains[] = { "FIR('pipe')", "Convolve('pipe')",
    "FilterSettings('pipe')" };
  g_autofree gchar *pipe = tfx_check_path ("pipe");

  fail_unless_equals_int (mkfifo (pipe, 0600), 0);
  tfx_chains_expect_refused ("location", pipe, "it is not a file", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    g_autofree gchar *path = tfx_check_write ("names-pipe.txt", chains[i]);

    tfx_chains_expect_refused ("location", path, "it is not a file", NULL);
  }
}
GST_END_TEST;

/* So is one that takes the place of a watched file; the element still stops. */
GST_START_TEST (test_watched_pipe)
{
  g_autofree gchar *path = tfx_check_write ("to-be-pipe.txt", "Gain(0.5)");
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness ("", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  gdouble peak;
  guint at = 0;

  g_object_set (h->element, "location", path, "watch", TRUE, NULL);
  push (h, &at, 10, &peak);
  fail_unless_equals_int (g_unlink (path), 0);
  fail_unless_equals_int (mkfifo (path, 0600), 0);
  wait_for_warning (bus, "it is not a file");
  /* Once. */
  g_usleep (800000);
  tfx_check_expect_no_warning (bus);
  tfx_chains_expect_text (h->element, "Gain(0.5)");
}
GST_END_TEST;

/* It is taken over while samples flow, without a click; what is wrong is told of,
 * and the old chain goes on. */
GST_START_TEST (test_watch)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gchar *path = tfx_check_write ("watched.txt", "g=Gain(1)");
  g_autoptr (TfxHarness) h = tfx_chains_harness ("", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  gdouble bend, peak = 0.5, worst = 0.0;
  gint64 begin = 0;
  guint at = 0;

  g_object_set (h->element, "location", path, "watch", TRUE, NULL);
  bend = push (h, &at, 50, &peak);
  fail_unless (fabs (peak - 0.5) < 1e-3);

  g_free (tfx_check_write ("watched.txt", "g=Gain(0.25)"));
  do {
    worst = MAX (worst, push (h, &at, 10, &peak));
  } while (peak > 0.13 && tfx_check_wait (&begin));
  fail_unless (peak < 0.13, "it was not taken over");
  fail_unless (worst < 1.5 * bend, "%g, where the sine has %g", worst, bend);

  g_free (tfx_check_write ("watched.txt", "g=Gain(0.25"));
  wait_for_warning (bus, "the previous chain stays in use");
  push (h, &at, 10, &peak);
  fail_unless (peak < 0.13 && peak > 0.12);

  /* Not any more. */
  g_object_set (h->element, "watch", FALSE, NULL);
  g_free (tfx_check_write ("watched.txt", "g=Gain(1)"));
  g_usleep (800000);
  push (h, &at, 10, &peak);
  fail_unless (peak < 0.13);
}
GST_END_TEST;

static gdouble
get_gain (GstElement *chain)
{
  gdouble gain;

  gst_child_proxy_get (GST_CHILD_PROXY (chain), "g::gain", &gain, NULL);
  return gain;
}

/* The gain at 0 Hz. */
static gdouble
get_size (GstElement *chain)
{
  const gdouble hz = 0.0;
  g_autoptr (GVariant) response = NULL, real = NULL;
  gdouble size;

  g_signal_emit_by_name (chain, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1, sizeof hz), 0,
      &response);
  real = g_variant_lookup_value (response, "real", G_VARIANT_TYPE ("ad"));
  g_variant_get_child (real, 0, "d", &size);
  return size;
}

/* Saves a chain and starts its element, which has this gain after some ms. */
static void
restart (GstElement *chain, const gchar *text, gulong ms, gdouble gain)
{
  gst_element_set_state (chain, GST_STATE_NULL);
  if (text)
    g_free (tfx_check_write ("null.txt", text));
  gst_element_set_state (chain, GST_STATE_READY);
  g_usleep (ms * 1000);
  fail_unless_equals_float (get_gain (chain), gain);
}

/* A file saved while the element is in NULL is used when it starts; a value set in NULL
 * stays if the file is unchanged. */
GST_START_TEST (test_saved_in_null)
{
  g_autofree gchar *path =
      tfx_check_write ("null.txt", "g=Gain(1) | FIR('null-kernel.txt')");
  g_autofree gchar *kernel = tfx_check_write ("null-kernel.txt", "0.5\n");
  g_autoptr (TfxElement) chain = open_file (path);

  g_object_set (chain, "watch", TRUE, NULL);
  restart (chain, "g=Gain(2) | FIR('null-kernel.txt')", 0, 2.0);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "g::gain", 7.0, NULL);
  restart (chain, NULL, 800, 7.0);

  gst_element_set_state (chain, GST_STATE_NULL);
  g_free (tfx_check_write ("null-kernel.txt", "0.25\n0\n"));
  restart (chain, "g=Gain(4) | FIR('null-kernel.txt')", 0, 4.0);
  fail_unless (fabs (get_size (chain) - 1.0) < 1e-9, "%g", get_size (chain));

  /* Without watch it is read when location is set, and not again. */
  gst_element_set_state (chain, GST_STATE_NULL);
  g_object_set (chain, "watch", FALSE, NULL);
  restart (chain, "g=Gain(5)", 0, 4.0);
}
GST_END_TEST;

/* A copy may keep the size and the time of the file that it replaces. */
GST_START_TEST (test_same_size_and_time)
{
  g_autofree gchar *path = tfx_check_write ("same.txt", "g=Gain(1)");
  g_autoptr (TfxElement) chain = open_file (path);
  struct stat info;
  gint64 begin = 0;
  FILE *file;

  g_object_set (chain, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  fail_unless_equals_int (stat (path, &info), 0);
  file = g_fopen (path, "r+");
  fail_unless (fputs ("g=Gain(2)", file) >= 0 && fclose (file) == 0);
  {
    const struct timespec times[2] = { info.st_atim, info.st_mtim };

    fail_unless_equals_int (utimensat (AT_FDCWD, path, times, 0), 0);
  }
  while (get_gain (chain) != 2.0 && tfx_check_wait (&begin))
    ;
  fail_unless_equals_float (get_gain (chain), 2.0);
}
GST_END_TEST;

static void
expect_size (GstElement *chain, gdouble wanted)
{
  gint64 begin = 0;

  while (fabs (get_size (chain) - wanted) > 1e-9 && tfx_check_wait (&begin))
    g_usleep (10000);
  fail_unless (fabs (get_size (chain) - wanted) < 1e-9, "%g, not %g",
      get_size (chain), wanted);
}

static void
expect_chain_soon (GstElement *chain, const gchar *text)
{
  gboolean is_there = FALSE;
  gint64 begin = 0;

  do {
    g_autofree gchar *now = NULL;

    g_object_get (chain, "chain", &now, NULL);
    is_there = g_strcmp0 (now, text) == 0;
  } while (!is_there && tfx_check_wait (&begin));
  fail_unless (is_there);
}

/* The files that the chain names are watched, and those of the next chain in their
 * place. */
GST_START_TEST (test_watched_files)
{
  g_autofree gchar *path =
      tfx_check_write ("watched-names.txt", "g=Gain(1) | FIR('first.txt')");
  g_autofree gchar *first = tfx_check_write ("first.txt", "0.5\n");
  g_autofree gchar *text = g_strdup_printf ("g=Gain(2) | FIR('%s')", first);
  g_autoptr (TfxElement) chain = open_file (path);

  g_free (tfx_check_write ("second.txt", "0.25\n"));
  g_object_set (chain, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  expect_size (chain, 0.5);
  g_free (tfx_check_write ("first.txt", "2\n0\n"));
  expect_size (chain, 2.0);
  g_free (
      tfx_check_write ("watched-names.txt", "g=Gain(1) | FIR('second.txt')"));
  expect_size (chain, 0.25);
  g_free (tfx_check_write ("second.txt", "3\n0\n"));
  expect_size (chain, 3.0);
  g_object_set (chain, "chain", text, NULL);
  expect_size (chain, 4.0);
  g_free (tfx_check_write ("first.txt", "0.5\n0\n0\n"));
  expect_size (chain, 1.0);
}
GST_END_TEST;

/* So are files that a preset includes. */
GST_START_TEST (test_watched_include)
{
  g_autofree gchar *path =
      tfx_check_write ("watched-preset.txt", "Include: included.txt\n");
  g_autoptr (TfxElement) chain = NULL;

  g_free (tfx_check_write ("included.txt",
      "Filter: ON IIR Order 1 Coefficients 0.5 0 1 0\n"));
  chain = open_file (path);
  g_object_set (chain, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  tfx_chains_expect_text (chain, "Biquad(0.5, 0, 0, 1, 0, 0)");
  g_free (tfx_check_write ("included.txt", "Preamp: 3 dB\n"));
  expect_chain_soon (chain, "Gain(3, gain_type='db')");
}
GST_END_TEST;

static gint is_stopped, is_released;

static void
stop_and_wait (GstElement *chain, GParamSpec *pspec, gpointer unused)
{
  gint64 begin = 0;

  g_object_set (chain, "watch", FALSE, NULL);
  gst_element_set_state (chain, GST_STATE_NULL);
  g_atomic_int_set (&is_stopped, TRUE);
  while (!g_atomic_int_get (&is_released) && tfx_check_wait (&begin))
    ;
}

static void
note_end (gpointer is_gone, GObject *chain)
{
  g_atomic_int_set ((gint *)is_gone, TRUE);
}

/* A handler in the thread that watches may end the watch, and the element with it. */
GST_START_TEST (test_watch_ends_itself)
{
  g_autofree gchar *path = tfx_check_write ("ends.txt", "g=Gain(1)");
  GstElement *chain = open_file (path);
  gint64 begin = 0;
  gint is_gone = FALSE;

  is_stopped = is_released = FALSE;
  g_object_set (chain, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  g_signal_connect (chain, "notify::chain", G_CALLBACK (stop_and_wait), NULL);
  g_object_weak_ref (G_OBJECT (chain), note_end, &is_gone);
  g_free (tfx_check_write ("ends.txt", "g=Gain(2)"));
  while (!g_atomic_int_get (&is_stopped) && tfx_check_wait (&begin))
    ;
  fail_unless (g_atomic_int_get (&is_stopped));
  gst_object_unref (chain);
  g_atomic_int_set (&is_released, TRUE);
  begin = 0;
  while (!g_atomic_int_get (&is_gone) && tfx_check_wait (&begin))
    ;
  fail_unless (g_atomic_int_get (&is_gone));
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_file");

  tfx_check_folder ();
  tcase_add_test (tc, test_read);
  tcase_add_loop_test (tc, test_files, 0, G_N_ELEMENTS (files));
  tcase_add_test (tc, test_no_files);
  tcase_add_test (tc, test_long_files);
  tcase_add_test (tc, test_utf16);
  tcase_add_test (tc, test_settings);
  tcase_add_test (tc, test_shelves);
  tcase_add_test (tc, test_names);
  tcase_add_test (tc, test_pipes);
  tcase_add_test (tc, test_watched_pipe);
  tcase_add_test (tc, test_watch);
  tcase_add_test (tc, test_saved_in_null);
  tcase_add_test (tc, test_same_size_and_time);
  tcase_add_test (tc, test_watched_files);
  tcase_add_test (tc, test_watched_include);
  tcase_add_test (tc, test_watch_ends_itself);
  return tfx_check_run (argc, argv, tc);
}
