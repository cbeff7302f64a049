/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_file.c: a tfxchain whose text stands in a file: read, missing, saved
 * while samples flow; and filter settings that REW has exported.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "chains.h"

#define RATE 48000
#define N 480

static gchar *folder;

static gchar *
path_of (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

static gchar *
write_file (const gchar *name, const gchar *text)
{
  gchar *path = path_of (name);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static GstElement *
make_chain (void)
{
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);

  fail_unless (chain != NULL);
  return chain;
}

/* The text of the first error or warning on the bus, to be freed. */
static gchar *
take_message (GstBus *bus, GstMessageType type)
{
  GstMessage *message = gst_bus_timed_pop_filtered (bus, 90 * GST_SECOND, type);
  GError *error = NULL;
  gchar *text;

  fail_unless (message != NULL, "there is no message");
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

static void
expect_in (const gchar *text, const gchar *part)
{
  fail_unless (strstr (text, part) != NULL, "\"%s\" is not in \"%s\"", part,
      text);
}

/* Several lines, comments; its stages are there at once. */
GST_START_TEST (test_read)
{
  gchar *path = write_file ("a.txt", "# rumble\nHiButterworth(80)  # out\n"
                                     "| eq=ParametricEQ(1000, 1, 3)\n");
  GstElement *chain = make_chain ();
  gchar *location;

  g_object_set (chain, "location", path, NULL);
  tfx_chains_expect_number (chain, "eq::gain", 3.0);
  g_object_get (chain, "location", &location, NULL);
  fail_unless_equals_string (location, path);
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "eq::gain", 4.0, NULL);
  tfx_chains_expect_text (chain,
      "HiButterworth(80) | eq=ParametricEQ(1000, q=1, gain=4)");
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (chain, GST_STATE_NULL);
  /* What is set last counts. */
  g_object_set (chain, "chain", "Gain(2)", NULL);
  tfx_chains_expect_text (chain, "Gain(2)");
  g_free (location);
  /* Without a name there is no file. */
  g_object_set (chain, "location", "", NULL);
  g_object_get (chain, "location", &location, NULL);
  fail_unless (location == NULL);
  tfx_chains_expect_text (chain, "Gain(2)");
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_object_unref (chain);
  g_free (path);
}

GST_END_TEST;

static void
expect_fault (const gchar *path, const gchar *fault)
{
  GstElement *chain = make_chain ();
  GstBus *bus = gst_bus_new ();
  gchar *text;

  gst_element_set_bus (chain, bus);
  g_object_set (chain, "location", path, NULL);
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  text = take_message (bus, GST_MESSAGE_ERROR);
  fail_unless (g_utf8_validate (text, -1, NULL));
  expect_in (text, fault);
  g_free (text);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_element_set_bus (chain, NULL);
  gst_object_unref (bus);
  gst_object_unref (chain);
}

GST_START_TEST (test_faults)
{
  gchar *wrong = write_file ("wrong.txt", "Gain(2) |\nButterwort(3)\n");
  gchar *rew = write_file ("rew.txt",
      "Filter Settings file\nFilter 1: ON PK Fc 63 Hz Gain -5 dB\n");
  gchar *slope =
      write_file ("slope.txt", "Filter 1: ON LS Q Fc 100 Hz Gain 3 dB Q 0.7\n"
                               "Filter 2: ON HS 6dB Fc 100 Hz Gain 3 dB\n");
  gchar *channel = write_file ("apo.txt", "Channel: L\nPreamp: -6 dB\n");
  gchar *type = write_file ("type.txt", "Filter 1: ON XY Fc 63 Hz\n");
  gchar *bytes = write_file ("bytes.txt", "Filter 1: ON m\xfcsik Fc 63 Hz\n");

  expect_fault ("/nowhere/chain.txt", "/nowhere/chain.txt");
  expect_fault (folder, "cannot read the chain from");
  expect_fault (wrong, "line 2, column 1");
  expect_fault (rew, "line 2 of the filter settings: the filter needs Q or BW");
  expect_fault (channel, "line 1 of the filter settings: not supported; only"
                         " Filter: and Preamp: lines");
  expect_fault (slope,
      "line 2 of the filter settings: type HS with a slope in dB "
      "is not supported; use HSQ");
  expect_fault (type,
      "unknown filter type XY; the types are PK, PEQ, Modal, LP, LPQ, LP1, HP, "
      "HPQ, HP1, BP, NO, Notch, AP, All pass, LS, LSQ, LSC, HS, HSQ, HSC");
  expect_fault (bytes, "unknown filter type m\\xfcsik; the types are PK");
  g_free (wrong);
  g_free (rew);
  g_free (slope);
  g_free (channel);
  g_free (type);
  g_free (bytes);
}

GST_END_TEST;

/* A number that overflows a double is an error. */
GST_START_TEST (test_settings_overflow)
{
  static const struct
  {
    const gchar *line, *fault;
  } cases[] = {
    { "PK Fc 1e309 Hz Gain 3 dB Q 1", "frequency (Fc)" },
    { "PK Fc 1e306 kHz Gain 3 dB Q 1", "frequency (Fc)" },
    { "PK Fc 63 Hz Gain 3 dB BW Oct 1e-320", "needs Q or BW Oct" },
    { "AP Fc 63 Hz BW Oct 1e-320", "needs Q or BW Oct" },
    { "LSC Fc 63 Hz Gain 3 dB BW Oct 1e-320", "needs Q or BW Oct" },
    { "LSC 12dB Fc 63 Hz Gain 1e300 dB", "a Gain out of range" },
    { "HS Fc 63 Hz Gain -1e300 dB", "a Gain out of range" },
    { "LS Fc 63 Hz Gain 100 dB Q 0.001", "a Gain out of range" },
    { "PK Fc 63 Hz Gain 1e309 dB Q 1", "needs a Gain" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *text = g_strconcat ("Filter 1: ON ", cases[i].line, NULL);
    gchar *path = write_file ("overflow.txt", text);

    expect_fault (path, "line 1 of the filter settings: ");
    expect_fault (path, cases[i].fault);
    g_free (path);
    g_free (text);
  }
}

GST_END_TEST;

/* The time of a line grows with its length, not faster. */
GST_START_TEST (test_settings_long_line)
{
  GString *text = g_string_new ("Filter 1: ON PK ");
  const clock_t start = clock ();
  gchar *path;

  for (guint i = 0; i < 10000; i++)
    g_string_append (text, "Fc ");
  g_string_append (text, "Hzz");
  path = write_file ("long.txt", text->str);
  expect_fault (path, "no frequency (Fc)");
  fail_unless (clock () - start < CLOCKS_PER_SEC);
  g_string_free (text, TRUE);
  g_free (path);
}

GST_END_TEST;

/* Numbers as REW writes them in other countries. */
GST_START_TEST (test_frequencies)
{
  static const gchar *const ways[] = { "1250.5", "1250,5", "1,250.5", "1.250,5",
    "1 250,5",
    "1\xc2\xa0"
    "250.5",
    "1\xa0"
    "250,5",
    "1\xe2\x80\xaf"
    "250,5",
    "1'250.50", "1.2505 k" };
  gchar *path;

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    gchar *text =
        g_strdup_printf ("Filter 1: ON PK Fc %sHz Gain -5 dB Q 4\n", ways[i]);
    GstElement *chain = make_chain ();

    path = write_file ("fc.txt", text);
    g_object_set (chain, "location", path, NULL);
    tfx_chains_expect_text (chain, "ParametricEQ(1250.5, 4, -5)");
    gst_object_unref (chain);
    g_free (path);
    g_free (text);
  }
  path = write_file ("fc.txt", "Filter 1: ON PK Fc 1,250 Hz Gain -5 dB Q 4\n");
  expect_fault (path, "three digits after the mark in its frequency (Fc)");
  g_free (path);
}

GST_END_TEST;

/* The decimal mark is that of the file: here the comma. */
GST_START_TEST (test_decimal_commas)
{
  gchar *path = write_file ("german.txt",
      "Filter Settings file\n\nRoom EQ V5,01\nDated: 16.05.2013 21:56:38\n\n"
      "Notes:\n\nEqualiser: Generic\nNo measurement\n"
      "Filter  1: ON  PK       Fc    50,0 Hz  Gain -10,0 dB  Q  2,50\n"
      "Filter  2: ON  LP       Fc   8.000 Hz\n"
      "Filter  3: ON  NO       Fc   1.250 Hz\n"
      "Filter  4: ON  HS       Fc   1.000 Hz  Gain  -3,0 dB\n");
  GstElement *chain = make_chain ();

  g_object_set (chain, "location", path, NULL);
  tfx_chains_expect_text (chain,
      "ParametricEQ(50, 2.5, -10) | BiquadLPF(8000, 0.70710678118654757) | "
      "BiquadNotch(1250, 30) | HiShelving(1000, 0.67031956056715258, -3, "
      "gain_scale='db')");
  gst_object_unref (chain);
  g_free (path);
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
    gchar *path = write_file ("shelf.txt", shelves[i].text);
    GstElement *chain = make_chain ();
    GObject *stage;
    gdouble hz, q;

    g_object_set (chain, "location", path, NULL);
    stage = gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (chain), 0);
    g_object_get (stage, "cutoff", &hz, "q", &q, NULL);
    fail_unless (fabs (hz / shelves[i].hz - 1.0) < 1e-9, "%s: %.10g Hz",
        shelves[i].text, hz);
    fail_unless (fabs (q / shelves[i].q - 1.0) < 1e-9, "%s: %.10g",
        shelves[i].text, q);
    g_object_unref (stage);
    gst_object_unref (chain);
    g_free (path);
  }
}

GST_END_TEST;

/* A value out of range is one of the file, not of the chain that comes of it. */
GST_START_TEST (test_ranges)
{
  static const struct
  {
    const gchar *line, *fault;
  } lines[] = {
    { "Filter 2: ON PK Fc 63 Hz Gain 500 dB Q 1",
        "gain of ParametricEQ is 500" },
    { "Filter 2: ON LP Fc -63 Hz", "cutoff of BiquadLPF is -63 Hz" },
    { "Filter 2: ON PK Fc 63 Hz Gain 5 dB Q 1e9", "q of ParametricEQ is" },
    { "Preamp: 900 dB", "gain of Gain is 900 dB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    gchar *text = g_strconcat ("Preamp: -6 dB\n\n", lines[i].line, "\n", NULL);
    gchar *path = write_file ("range.txt", text);
    gchar *chain = write_file ("range.chain", "FilterSettings('range.txt')");

    for (guint k = 0; k < 2; k++) {
      const gchar *location = k == 0 ? path : chain;

      expect_fault (location, "line 3 of the filter settings: ");
      expect_fault (location, lines[i].fault);
      expect_fault (location, lines[i].line);
    }
    g_free (chain);
    g_free (path);
    g_free (text);
  }
  {
    GString *text = g_string_new (NULL);
    gchar *path;

    for (guint i = 0; i < 1025; i++)
      g_string_append (text, "Preamp: 1 dB\n");
    path = write_file ("many.txt", text->str);
    expect_fault (path,
        "line 1025 of the filter settings: there are more than 1024 filters");
    g_string_free (text, TRUE);
    g_free (path);
  }
}

GST_END_TEST;

/* Ways in which people and programs write, and what they mean. */
GST_START_TEST (test_ways)
{
  static const struct
  {
    const gchar *line, *chain; /* NULL: it is refused */
  } ways[] = {
    { "Preamp:-6.5dB", "Gain(-6.5, gain_type='db')" },
    { "preamp: .5 db", "Gain(0.5, gain_type='db')" },
    { "Preamp: 1.5e1 dB", "Gain(15, gain_type='db')" },
    { "Preamp: 1.5x dB", NULL },
    { "Filter 1: ON PK Fc 63Hz Gain-5,75dB Q4.5",
        "ParametricEQ(63, 4.5, -5.75)" },
    { "filter 1: on pk fc 2.5k gain 3 db q 1", "ParametricEQ(2500, 1, 3)" },
    { "Filter bass: ON PK Fc 63 Hz Gain 3 dB Q 1", "ParametricEQ(63, 1, 3)" },
    { "Filter 1: ON PK Fc 1,250 Hz Gain 3.0 dB Q 1",
        "ParametricEQ(1250, 1, 3)" },
    { "Filter 1: ON PK Fc 1.250 Hz Gain 3,0 dB Q 1",
        "ParametricEQ(1250, 1, 3)" },
    { "Filter 1: ON PK Fc 31.125 Hz Gain 3.0 dB Q 1",
        "ParametricEQ(31.125, 1, 3)" },
    { "Filter 1: ON LP Fc 1.250 kHz", "BiquadLPF(1250, 0.70710678118654757)" },
    { "Filter 1: ON LP Fc 8.000 Hz", NULL },
    { "Filter 1: ON LP Fc 8.000 Hz\nPreamp: -6,5 dB",
        "BiquadLPF(8000, 0.70710678118654757) | Gain(-6.5, gain_type='db')" },
    { "Filter 1: ON LP Fc 8.000 Hz\nFilter 2: OFF PK Fc 63 Hz Gain 1 dB Q 2.5",
        "BiquadLPF(8, 0.70710678118654757)" },
    { "Filter 1: ON LP Fc 8.000 Hz\nFilter 2: ON LP Fc 1.250,5 Hz",
        "BiquadLPF(8000, 0.70710678118654757) | BiquadLPF(1250.5, "
        "0.70710678118654757)" },
    /* Both marks: what can be read in one way is, the rest is not. */
    { "Filter 1: ON PK Fc 62,5 Hz Gain 3 dB Q 4\nPreamp: -6.5 dB",
        "ParametricEQ(62.5, 4, 3) | Gain(-6.5, gain_type='db')" },
    { "Filter 1: ON PK Fc 62,5 Hz Gain 3.0 dB Q 4\nFilter 2: ON LP Fc 1.250 Hz",
        NULL },
    { "Filter 1: ON LP Fc 1,25,5 Hz", NULL },
    { "Filter 1: ON LP1 Fc 300 Hz\nFilter 2: ON HP1 Fc 370 Hz Q 2",
        "LoButterworth(300, order=1) | HiButterworth(370, order=1)" },
    { "Filter 1: ON All pass  Fc 100.0 Hz  Q  0.707",
        "BiquadAllPass(100, 0.70699999999999996)" },
    { "Filter 1: ON All pass Fc 100 Hz", NULL },
    { "Filter 1: ON AP Fc 100 Hz", NULL },
    { "Filter 1: ON BP Fc 100 Hz", "BiquadBPF(100, 0.70710678118654757)" },
    { "Filter 1: ON LP Q Fc 80 Hz Q 0.75", "BiquadLPF(80, 0.75)" },
    { "Filter 1: ON PK Fc 1,250 Gain 3 dB Q 1", NULL },
    { "Filter 1: ON PK Fc 0x10 Hz Gain 3 dB Q 1", NULL },
    { "Filter 1: ON PK Fc 63 Hz Gain 3 dB BW Oct 0", NULL },
    { "Filter 1: ON PK Fc 63 Hz Gain 3 dB Q 1\rFilter 2: ON LP Fc 8000 Hz Q "
      "1\r",
        "ParametricEQ(63, 1, 3) | BiquadLPF(8000, 1)" },
    { "Filter 1: ON LSC Fc 105 Hz Gain 6.5 dB Q 0.75",
        "LoShelving(105, 0.75, 6.5, gain_scale='db')" },
    { "Filter 1: ON HSC 12 dB Fc 105 Hz Gain 6.5 dB",
        "HiShelving(105, 0.70710678118654746, 6.5, gain_scale='db')" },
    { "Filter 1: ON HSC 13 dB Fc 105 Hz Gain 6.5 dB", NULL },
    { "Device: all\nPreamp: 1 dB", "Gain(1, gain_type='db')" },
    { "Device: Speakers\nPreamp: 1 dB", NULL },
    { "Preamp: 1 dB\nVSTPlugin: Library a.dll", NULL },
    { "Preamp: 1 dB\nLoudnessCorrection: State 1", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    gchar *path = write_file ("way.txt", ways[i].line);
    GstElement *chain = make_chain ();

    g_object_set (chain, "location", path, NULL);
    if (ways[i].chain)
      tfx_chains_expect_text (chain, ways[i].chain);
    else
      expect_fault (path, "of the filter settings: ");
    gst_object_unref (chain);
    g_free (path);
  }
}

GST_END_TEST;

static gchar *
write_bytes (const gchar *name, const gchar *bytes, gsize n)
{
  gchar *path = path_of (name);

  fail_unless (g_file_set_contents (path, bytes, n, NULL));
  return path;
}

/* UTF-16 with a byte order mark. */
static gchar *
write_utf16 (const gchar *name, const gchar *text, gboolean is_big)
{
  glong n;
  gunichar2 *units = g_utf8_to_utf16 (text, -1, NULL, &n, NULL);
  GString *bytes = g_string_new_len (is_big ? "\xfe\xff" : "\xff\xfe", 2);
  gchar *path;

  for (glong i = 0; i < n; i++) {
    g_string_append_c (bytes, (gchar)(units[i] >> (is_big ? 8 : 0)));
    g_string_append_c (bytes, (gchar)(units[i] >> (is_big ? 0 : 8)));
  }
  path = write_bytes (name, bytes->str, bytes->len);
  g_string_free (bytes, TRUE);
  g_free (units);
  return path;
}

GST_START_TEST (test_utf16)
{
  static const gchar settings[] =
      "Filter Settings file\r\n\r\nNotes: \xf0\x9f\x8e\xa7 Ger\xc3\xa4t\r\n"
      "Filter 1: ON PK Fc 63,0 Hz Gain -5,0 dB Q 4,00\r\n";
  static const gchar half[] = "\xff\xfeG\0a\0i", pair[] = "\xff\xfe(\0\0\xd8";
  static const gchar zero[] = "\xff\xfeG\0\0\0";
  gchar *halved = write_bytes ("half.txt", half, sizeof half - 1);
  gchar *broken = write_bytes ("pair.txt", pair, sizeof pair - 1);
  gchar *cut = write_bytes ("zero16.txt", zero, sizeof zero - 1);

  for (gint is_big = 0; is_big <= 1; is_big++) {
    gchar *path = write_utf16 ("utf16.txt", settings, is_big);
    GstElement *chain = make_chain ();

    g_object_set (chain, "location", path, NULL);
    tfx_chains_expect_text (chain, "ParametricEQ(63, 4, -5)");
    gst_object_unref (chain);
    g_free (path);
  }
  expect_fault (halved, "it is not UTF-16 text");
  expect_fault (broken, "it is not UTF-16 text from byte 5 on");
  expect_fault (cut, "it is not UTF-16 text from byte 5 on");
  g_free (halved);
  g_free (broken);
  g_free (cut);
}

GST_END_TEST;

/* What is no text, or has no end; and the mark that Windows puts in front. */
GST_START_TEST (test_bytes)
{
  static const gchar zero[] = "Gain(2)\0 | Gain(3)";
  static const gchar utf16[] = "G\0a\0i\0n\0(\0002\0)\0";
  gchar *cut = write_bytes ("zero.txt", zero, sizeof zero - 1);
  gchar *wide = write_bytes ("unmarked.txt", utf16, sizeof utf16 - 1);
  gchar *latin = write_file ("latin.txt", "Gain(2) # caf\xe9\n");
  gchar *marked = write_file ("marked.txt", "\xef\xbb\xbfGain(2)");
  GstElement *chain = make_chain ();

  expect_fault (cut, "byte 8 is 0, so it is not UTF-8 text");
  expect_fault (wide, "byte 2 is 0");
  expect_fault (latin, "byte 14 is not UTF-8");
  expect_fault ("/dev/zero", "it is not a file");
  g_object_set (chain, "location", marked, NULL);
  tfx_chains_expect_text (chain, "Gain(2)");
  gst_object_unref (chain);
  g_free (cut);
  g_free (wide);
  g_free (latin);
  g_free (marked);
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
  gchar *path = write_file ("settings.txt", settings);
  GstElement *chain = make_chain ();
  gdouble q;

  g_object_set (chain, "location", path, NULL);
  gst_child_proxy_get (GST_CHILD_PROXY (chain), "parametriceq1::q", &q, NULL);
  fail_unless (fabs (q - 1.4142135623730951) < 1e-12);
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "parametriceq1::q", 1.5, NULL);
  tfx_chains_expect_text (chain,
      "Gain(-6.5, gain_type='db') | ParametricEQ(63, q=4, gain=-5) | "
      "LoShelving(100, q=0.670472737534933, gain=2.5, gain_scale='db') | "
      "BiquadHPF(20, q=0.5) | BiquadNotch(50, q=30) | ParametricEQ(1000, "
      "q=1.5, gain=1)");
  gst_object_unref (chain);
  g_free (path);
}

GST_END_TEST;

/* Half a second of a sine of 440 Hz through it, from frame `at` on; the largest
 * second difference, and the last sample's size. */
static gdouble
push (GstHarness *h, guint *at, guint n_buffers, gdouble *peak)
{
  static gdouble before[2];
  gdouble bend = 0.0;

  *peak = 0.0;
  for (guint k = 0; k < n_buffers; k++) {
    gdouble x[N];
    GstBuffer *buffer;
    GstMapInfo map;

    for (guint i = 0; i < N; i++)
      x[i] = 0.5 * sin (2.0 * G_PI * 440.0 * (*at + i) / RATE);
    buffer = gst_buffer_new_memdup (x, sizeof x);
    GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (*at, GST_SECOND, RATE);
    GST_BUFFER_DURATION (buffer) = gst_util_uint64_scale (N, GST_SECOND, RATE);
    *at += N;
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    for (guint i = 0; i < N; i++) {
      const gdouble y = ((const gdouble *)map.data)[i];

      if (*at > 10 * N)
        bend = MAX (bend, fabs (y - 2.0 * before[1] + before[0]));
      *peak = MAX (*peak, fabs (y));
      before[0] = before[1];
      before[1] = y;
    }
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  return bend;
}

/* Names of files are bytes.  Messages and the property are UTF-8 all the same, and the
 * text in the property finds the file again. */
GST_START_TEST (test_names)
{
  gchar *path = path_of ("m\xfcsik.wav"), *chain, *text, *again;
  gchar *kernel = g_strdup_printf ("FIR('%s') # \xe9", path);
  GstElement *element = make_chain ();
  static const gchar one_sample[] = "0.5\n";

  expect_fault (path, "m\\xfcsik.wav': No such file");
  chain = write_file ("names.txt", "FIR('m\\xfcsik.wav')");
  expect_fault (chain, "m\\xfcsik.wav' cannot be used: No such file");
  fail_unless (g_file_set_contents (path, one_sample, -1, NULL));
  g_object_set (element, "chain", kernel, NULL);
  g_object_get (element, "chain", &text, NULL);
  fail_unless (g_utf8_validate (text, -1, NULL));
  expect_in (text, "m\\xfcsik.wav");
  g_object_set (element, "chain", "Gain(2) | m\xfcsik(", NULL);
  tfx_chains_expect_text (element, "Gain(2) | m\\xfcsik(");
  g_object_set (element, "chain", text, NULL);
  g_object_get (element, "chain", &again, NULL);
  fail_unless_equals_string (again, text);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  g_remove (path);
  g_free (again);
  g_free (text);
  g_free (chain);
  g_free (kernel);
  g_free (path);
}

GST_END_TEST;

/* A pipe is refused at once, wherever the name of a file stands: opening it would
 * wait for a writer. */
GST_START_TEST (test_pipes)
{
  static const gchar *const chains[] = { "FIR('%s')", "Convolve('%s')",
    "FilterSettings('%s')" };
  gchar *pipe = path_of ("pipe");

  fail_unless_equals_int (mkfifo (pipe, 0600), 0);
  expect_fault (pipe, "it is not a file");
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    gchar **halves = g_strsplit (chains[i], "%s", 2);
    gchar *chain = g_strconcat (halves[0], pipe, halves[1], NULL);
    gchar *path = write_file ("names-pipe.txt", chain);

    expect_fault (path, "it is not a file");
    g_strfreev (halves);
    g_free (chain);
    g_free (path);
  }
  g_free (pipe);
}

GST_END_TEST;

/* So is one that takes the place of a watched file; the element still stops. */
GST_START_TEST (test_watched_pipe)
{
  gchar *path = write_file ("to-be-pipe.txt", "Gain(0.5)"), *text;
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  GstHarness *h = tfx_chains_harness ("", &info);
  GstBus *bus = gst_bus_new ();
  gdouble peak;
  guint at = 0;

  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "location", path, "watch", TRUE, NULL);
  push (h, &at, 10, &peak);
  fail_unless_equals_int (g_unlink (path), 0);
  fail_unless_equals_int (mkfifo (path, 0600), 0);
  text = take_message (bus, GST_MESSAGE_WARNING);
  expect_in (text, "it is not a file");
  tfx_chains_expect_text (h->element, "Gain(0.5)");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  g_free (text);
  g_free (path);
}

GST_END_TEST;

/* It is taken over while samples flow, without a click; what is wrong is told of,
 * and the old chain goes on. */
GST_START_TEST (test_watch)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gchar *path = write_file ("watched.txt", "g=Gain(1)"), *text;
  GstHarness *h = tfx_chains_harness ("", &info);
  GstBus *bus = gst_bus_new ();
  gdouble bend, peak = 0.5, worst = 0.0;
  gint64 begin = 0;
  guint at = 0;

  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "location", path, "watch", TRUE, NULL);
  bend = push (h, &at, 50, &peak);
  fail_unless (fabs (peak - 0.5) < 1e-3);

  g_free (write_file ("watched.txt", "g=Gain(0.25)"));
  do {
    worst = MAX (worst, push (h, &at, 10, &peak));
  } while (peak > 0.13 && tfx_check_wait (&begin));
  fail_unless (peak < 0.13, "it was not taken over");
  fail_unless (worst < 1.5 * bend, "%g, where the sine has %g", worst, bend);

  g_free (write_file ("watched.txt", "g=Gain(0.25"));
  text = take_message (bus, GST_MESSAGE_WARNING);
  expect_in (text, "the previous chain stays in use");
  push (h, &at, 10, &peak);
  fail_unless (peak < 0.13 && peak > 0.12);
  g_free (text);
  /* Once. */
  g_usleep (800000);
  fail_unless (!gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING));

  /* Not any more. */
  g_object_set (h->element, "watch", FALSE, NULL);
  g_free (write_file ("watched.txt", "g=Gain(1)"));
  g_usleep (800000);
  push (h, &at, 10, &peak);
  fail_unless (peak < 0.13);

  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  g_free (path);
}

GST_END_TEST;

static gdouble
get_gain (GstElement *chain)
{
  gdouble gain;

  gst_child_proxy_get (GST_CHILD_PROXY (chain), "g::gain", &gain, NULL);
  return gain;
}

static void
expect_gain (GstElement *chain, gdouble wanted)
{
  gint64 begin = 0;

  while (get_gain (chain) != wanted && tfx_check_wait (&begin))
    g_usleep (10000);
  fail_unless_equals_float (get_gain (chain), wanted);
}

/* The gain at 0 Hz. */
static gdouble
get_size (GstElement *chain)
{
  const gdouble hz = 0.0;
  GVariant *response = NULL, *real;
  gdouble size;

  g_signal_emit_by_name (chain, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1, sizeof hz), 0,
      &response);
  real = g_variant_lookup_value (response, "real", G_VARIANT_TYPE ("ad"));
  g_variant_get_child (real, 0, "d", &size);
  g_variant_unref (real);
  g_variant_unref (response);
  return size;
}

/* A file saved while the element is in NULL is used when it starts; a value set in NULL
 * stays if the file is unchanged. */
GST_START_TEST (test_saved_in_null)
{
  static const gchar quarter[] = "0.25\n0\n", half[] = "0.5\n";
  gchar *path = write_file ("null.txt", "g=Gain(1) | FIR('null-kernel.txt')");
  gchar *kernel = write_file ("null-kernel.txt", half);
  GstElement *chain = make_chain ();

  g_object_set (chain, "location", path, "watch", TRUE, NULL);
  g_free (write_file ("null.txt", "g=Gain(2) | FIR('null-kernel.txt')"));
  gst_element_set_state (chain, GST_STATE_READY);
  fail_unless_equals_float (get_gain (chain), 2.0);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "g::gain", 7.0, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  g_usleep (800000);
  fail_unless_equals_float (get_gain (chain), 7.0);
  gst_element_set_state (chain, GST_STATE_NULL);

  g_free (write_file ("null.txt", "g=Gain(4) | FIR('null-kernel.txt')"));
  g_free (write_file ("null-kernel.txt", quarter));
  gst_element_set_state (chain, GST_STATE_READY);
  fail_unless_equals_float (get_gain (chain), 4.0);
  fail_unless (fabs (get_size (chain) - 1.0) < 1e-9, "%g", get_size (chain));
  gst_element_set_state (chain, GST_STATE_NULL);

  /* Without watch it is read when location is set, and not again. */
  g_object_set (chain, "watch", FALSE, NULL);
  g_free (write_file ("null.txt", "g=Gain(5)"));
  gst_element_set_state (chain, GST_STATE_READY);
  fail_unless_equals_float (get_gain (chain), 4.0);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_object_unref (chain);
  g_free (kernel);
  g_free (path);
}

GST_END_TEST;

/* A copy may keep the size and the time of the file that it replaces. */
GST_START_TEST (test_same_size_and_time)
{
  gchar *path = write_file ("same.txt", "g=Gain(1)");
  GstElement *chain = make_chain ();
  struct stat info;
  FILE *file;

  g_object_set (chain, "location", path, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  fail_unless_equals_int (stat (path, &info), 0);
  file = g_fopen (path, "r+");
  fail_unless (fputs ("g=Gain(2)", file) >= 0 && fclose (file) == 0);
  {
    const struct timespec times[2] = { info.st_atim, info.st_mtim };

    fail_unless_equals_int (utimensat (AT_FDCWD, path, times, 0), 0);
  }
  expect_gain (chain, 2.0);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_object_unref (chain);
  g_free (path);
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

/* The files that the chain names are watched, and those of the next chain in their
 * place. */
GST_START_TEST (test_watched_files)
{
  gchar *path = write_file ("names.txt", "g=Gain(1) | FIR('first.txt')");
  gchar *first = write_file ("first.txt", "0.5\n");
  gchar *second = write_file ("second.txt", "0.25\n"), *text;
  GstElement *chain = make_chain ();

  g_object_set (chain, "location", path, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  expect_size (chain, 0.5);
  g_free (write_file ("first.txt", "2\n0\n"));
  expect_size (chain, 2.0);
  g_free (write_file ("names.txt", "g=Gain(1) | FIR('second.txt')"));
  expect_size (chain, 0.25);
  g_free (write_file ("second.txt", "3\n0\n"));
  expect_size (chain, 3.0);
  text = g_strdup_printf ("g=Gain(2) | FIR('%s')", first);
  g_object_set (chain, "chain", text, NULL);
  expect_size (chain, 4.0);
  g_free (write_file ("first.txt", "0.5\n0\n0\n"));
  expect_size (chain, 1.0);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_object_unref (chain);
  g_free (text);
  g_free (second);
  g_free (first);
  g_free (path);
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
  gchar *path = write_file ("ends.txt", "g=Gain(1)");
  GstElement *chain = make_chain ();
  gint64 begin = 0;
  gint is_gone = FALSE;

  is_stopped = is_released = FALSE;
  g_object_set (chain, "location", path, "watch", TRUE, NULL);
  gst_element_set_state (chain, GST_STATE_READY);
  g_signal_connect (chain, "notify::chain", G_CALLBACK (stop_and_wait), NULL);
  g_object_weak_ref (G_OBJECT (chain), note_end, &is_gone);
  g_free (write_file ("ends.txt", "g=Gain(2)"));
  while (!g_atomic_int_get (&is_stopped) && tfx_check_wait (&begin))
    ;
  fail_unless (g_atomic_int_get (&is_stopped));
  gst_object_unref (chain);
  g_atomic_int_set (&is_released, TRUE);
  begin = 0;
  while (!g_atomic_int_get (&is_gone) && tfx_check_wait (&begin))
    ;
  fail_unless (g_atomic_int_get (&is_gone));
  g_free (path);
}

GST_END_TEST;

static Suite *
chain_file_suite (void)
{
  Suite *suite = suite_create ("chain_file");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_read);
  tcase_add_test (tcase, test_faults);
  tcase_add_test (tcase, test_settings_overflow);
  tcase_add_test (tcase, test_settings_long_line);
  tcase_add_test (tcase, test_bytes);
  tcase_add_test (tcase, test_utf16);
  tcase_add_test (tcase, test_ways);
  tcase_add_test (tcase, test_settings);
  tcase_add_test (tcase, test_frequencies);
  tcase_add_test (tcase, test_decimal_commas);
  tcase_add_test (tcase, test_shelves);
  tcase_add_test (tcase, test_ranges);
  tcase_add_test (tcase, test_names);
  tcase_add_test (tcase, test_pipes);
  tcase_add_test (tcase, test_watched_pipe);
  tcase_add_test (tcase, test_watch);
  tcase_add_test (tcase, test_saved_in_null);
  tcase_add_test (tcase, test_same_size_and_time);
  tcase_add_test (tcase, test_watched_files);
  tcase_add_test (tcase, test_watch_ends_itself);
  return suite;
}

int
main (int argc, char **argv)
{
  gchar *command;
  int status;

  folder = g_dir_make_tmp ("tfxchain-XXXXXX", NULL);
  status = tfx_check_main (argc, argv, chain_file_suite ());
  command = g_strdup_printf ("rm -r '%s'", folder);
  if (system (command) != 0)
    g_printerr ("%s is left\n", folder);
  g_free (command);
  g_free (folder);
  return status;
}
