/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_impulses.c: files that a chain names: impulse responses in sound files
 * and in texts, filter settings; where they are looked for, and what happens when
 * they are saved.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "firs.h"

#define RATE 48000
#define N 480

static gchar *folder;

/* In the folder; the path, to be freed. */
static gchar *
write_text (const gchar *name, const gchar *text)
{
  gchar *path = g_build_filename (folder, name, NULL);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static void
write_wav (const gchar *name, const gdouble *frames, gsize n_frames,
    guint n_channels, guint rate)
{
  gchar *path = g_build_filename (folder, name, NULL);
  gchar *made = tfx_firs_write_wav (frames, n_frames, n_channels, rate);

  fail_unless_equals_int (g_rename (made, path), 0);
  g_free (made);
  g_free (path);
}

static GstAudioInfo
f64 (gint n_channels)
{
  return tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, n_channels,
      GST_AUDIO_LAYOUT_INTERLEAVED);
}

/* A chain with the folder for the first "%s" of the format. */
static gchar *
in_folder (const gchar *format)
{
  gchar **parts = g_strsplit (format, "@", -1);
  gchar *text = g_strjoinv (folder, parts);

  g_strfreev (parts);
  return text;
}

/* ---- samples ---------------------------------------------------------------------- */

/* A file is the filter that tfxfir makes of it: its channels, its rate. */
GST_START_TEST (test_sound_files)
{
  static const struct
  {
    const gchar *chain, *options;
    guint rate, n_kernels;
    gint n_channels;
  } cases[] = {
    { "FIR('@/a room.wav')", "", RATE, 1, 1 },
    { "FIR('@/a room.wav')", "", RATE, 2, 2 },
    { "FIR('@/a room.wav')", "", 44100, 2, 2 },
    { "Convolve('@/a room.wav')", "", 96000, 1, 3 },
    { "Convolve('@/a room.wav', conv_mode='direct')", "", RATE, 1, 3 },
  };
  const gsize n = 6000, n_taps = 700;
  const guint n_k = cases[__i__].n_kernels;
  const gint n_ch = cases[__i__].n_channels;
  GstAudioInfo info = f64 (n_ch);
  gdouble *room = tfx_firs_room (n_taps * n_k, 5);
  gdouble *in = tfx_check_noise (n * n_ch, 3), *out, *expected;
  gchar *chain = in_folder (cases[__i__].chain);
  gchar *launch =
      g_strdup_printf ("tfxfir align=false kernel-location=\"%s/a room.wav\"",
          folder);
  GstHarness *h;

  write_wav ("a room.wav", room, n_taps, n_k, cases[__i__].rate);
  h = tfx_check_harness (launch, &info);
  expected = tfx_check_filter (h, &info, in, n, N);
  gst_harness_teardown (h);
  h = tfx_chains_harness (chain, &info);
  out = tfx_check_filter (h, &info, in, n, N);
  gst_harness_teardown (h);
  fail_unless (tfx_firs_error_db (out, expected, n * n_ch) < -240.0);
  g_free (out);
  g_free (expected);
  g_free (in);
  g_free (room);
  g_free (chain);
  g_free (launch);
}

GST_END_TEST;

/* The first frames of the impulse response of a chain of two channels. */
static void
expect_response (const gchar *format, const gdouble *expected, gsize n)
{
  GstAudioInfo info = f64 (2);
  gchar *chain = in_folder (format);
  GstHarness *h = tfx_chains_harness (chain, &info);
  gdouble in[2 * N] = { 1.0, 1.0 };
  gdouble *out = tfx_check_filter (h, &info, in, N, N);

  for (gsize i = 0; i < 2 * N; i++) {
    const gdouble y = i < 2 * n ? expected[i] : 0.0;

    fail_unless (fabs (out[i] - y) < 1e-12, "%s: %g at %d, not %g", chain,
        out[i], (gint)i, y);
  }
  g_free (out);
  g_free (chain);
  gst_harness_teardown (h);
}

GST_START_TEST (test_texts)
{
  static const gdouble plain[] = { 0.5, 0.5, -0.25, -0.25, 1e-3, 1e-3 };
  static const gdouble two[] = { 0.5, 1, 0.25, -1 };
  static const gdouble second[] = { 1, 1, -1, -1 };

  g_free (write_text ("plain.txt", "0.5\n-.25\r\n\n1e-3\n"));
  g_free (write_text ("rew.txt",
      "Impulse Response data saved by REW V5.20\n"
      "Source: 192k Log Swept Sine, 1 sweep\nDated: 2 May 2024\n"
      "1.5 // Peak value before normalisation\n3 // Response length\n"
      "2.0833333333333333E-5 // Sample interval (seconds)\n"
      "-0.01 // Start time (seconds)\n* Data start\n0.5\n -0.25\n1.0E-3\n"));
  g_free (write_text ("two.csv", "left,right\n# a comment\n0.5, 1\n0.25;-1\n"));
  expect_response ("FIR('@/plain.txt')", plain, 3);
  expect_response ("FIR('@/rew.txt')", plain, 3);
  expect_response ("Convolve('@/two.csv')", two, 2);
  expect_response ("FIR('@/two.csv', channel=1)", second, 2);
}

GST_END_TEST;

/* A comma is what the file shows that it is. */
GST_START_TEST (test_commas)
{
  static const gdouble one[] = { 1, 1, -0.012345, -0.012345, 0.0012, 0.0012 };
  static const gdouble two[] = { 0.5, 1, 0.25, -1 };
  static const gdouble whole[] = { 1, 0, -1, 2 };
  static const struct
  {
    const gchar *text;
    const gdouble *expected;
    gsize n;
  } texts[] = {
    { "1,000000\n-0,012345\n0,001200\n", one, 3 },
    { "1\r\n-1,2345E-2\r\n0,0012\r\n", one, 3 },
    { "1,5 // Peak value\n2,0833333333333333E-5 // Sample interval\n"
      "* Data start\n1\n-0,012345\n1,2E-3\n",
        one, 3 },
    { "0,5;1\n0,25;-1\n", two, 2 },
    { "0,5\t1,0\n0,25\t-1,0\n", two, 2 },
    { "0,5, 1,0\n0,25, -1,0\n", two, 2 },
    { "0.5,1\n.25,-1\n", two, 2 },
    { "1,0\n-1,+2\n", whole, 2 },
    { "1, 0\n-1, 2\n", whole, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_free (write_text ("commas.txt", texts[i].text));
    expect_response ("FIR('@/commas.txt')", texts[i].expected, texts[i].n);
  }
}

GST_END_TEST;

/* As Windows saves it. */
GST_START_TEST (test_utf16)
{
  static const gdouble one[] = { 0.5, 0.5, -0.25, -0.25 };
  static const gchar little[] = "\xff\xfe"
                                "0\0.\0005\0\r\0\n\0-\0.\0002\0005\0\n";
  static const gchar big[] = "\xfe\xff\0"
                             "0\0.\0005\0\n\0-\0.\0002\0005\0\n";
  gchar *path = g_build_filename (folder, "utf16.txt", NULL);

  fail_unless (g_file_set_contents (path, little, sizeof little, NULL));
  expect_response ("FIR('@/utf16.txt')", one, 2);
  fail_unless (g_file_set_contents (path, big, sizeof big - 1, NULL));
  expect_response ("FIR('@/utf16.txt')", one, 2);
  g_free (path);
}

GST_END_TEST;

static gpointer
make_empty (gpointer path)
{
  g_usleep (2000);
  fclose (g_fopen (path, "w"));
  return NULL;
}

/* Whoever saves a text makes it empty first. */
GST_START_TEST (test_saved_while_read)
{
  const gsize size = 1 << 20;
  gchar *content = g_malloc (size), *path,
        *text = in_folder ("FIR('@/long.txt')");
  GstAudioInfo info = f64 (1);
  GstHarness *h = tfx_chains_harness ("", &info);

  memset (content, '\n', size);
  content[size - 1] = '\0';
  for (guint i = 0; i < 10; i++) {
    GThread *thread;

    path = write_text ("long.txt", content);
    thread = g_thread_new ("saver", make_empty, path);
    g_object_set (h->element, "chain", text, NULL);
    g_thread_join (thread);
    g_free (path);
  }
  gst_harness_teardown (h);
  g_free (content);
  g_free (text);
}

GST_END_TEST;

/* REW's rate counts: taken at half the rate, twice as many taps of half the size. */
GST_START_TEST (test_rate_of_text)
{
  GstAudioInfo info = f64 (1);
  gchar *chain = in_folder ("FIR('@/half.txt')");
  gdouble in[N] = { 1.0 }, sum = 0.0;
  gdouble *out;
  GstHarness *h;

  g_free (write_text ("half.txt",
      "4.1666666666666666E-5 // Sample interval (seconds)\n"
      "* Data start\n0\n0\n1\n"));
  h = tfx_chains_harness (chain, &info);
  out = tfx_check_filter (h, &info, in, N, N);
  for (guint i = 0; i < N; i++)
    sum += out[i];
  fail_unless (fabs (sum - 1.0) < 1e-4, "%g", sum);
  fail_unless (out[0] != 1.0);
  g_free (out);
  g_free (chain);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The rate of an interval that was rounded; and at another rate what is not mixed in
 * stands where the impulse response begins. */
GST_START_TEST (test_mix_of_text)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, 44100, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  gchar *chains[2] = { in_folder ("FIR('@/cd.txt')"),
    in_folder ("Convolve('@/half.txt', mix=0)") };
  gdouble in[N] = { 1.0 };

  /* 1 / 2.26758E-5 is 44099.8. */
  g_free (write_text ("cd.txt",
      "2.26758E-5 // Sample interval (seconds)\n* Data start\n0\n0.5\n"));
  g_free (write_text ("half.txt",
      "4.5351473922902494E-5 // Sample interval (seconds)\n"
      "* Data start\n0\n0\n1\n"));
  for (guint k = 0; k < 2; k++) {
    GstHarness *h = tfx_chains_harness (chains[k], &info);
    gdouble *out = tfx_check_filter (h, &info, in, N, N);
    guint n_ones = 0, n_others = 0;

    for (guint i = 0; i < N; i++) {
      n_ones += k == 0 ? out[i] == 0.5 && i == 1 : out[i] == 1.0 && i > 0;
      n_others += out[i] != 0.0;
    }
    fail_unless_equals_int (n_ones, 1);
    fail_unless_equals_int (n_others, 1);
    g_free (out);
    g_free (chains[k]);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* ---- faults ------------------------------------------------------------------------ */

static void
expect_fault (const gchar *format, const gchar *fault)
{
  gchar *text = in_folder (format);
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (chain, bus);
  g_object_set (chain, "chain", text, NULL);
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, fault) != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (chain, GST_STATE_NULL);
  gst_element_set_bus (chain, NULL);
  gst_object_unref (bus);
  gst_object_unref (chain);
  g_free (text);
}

GST_START_TEST (test_faults)
{
  gchar wide[2 * 65 + 1] = "", *zeros;

  /* One number more than there may be channels. */
  for (guint i = 0; i < 65; i++)
    memcpy (wide + 2 * i, i < 64 ? "1 " : "1\n", 2);
  g_free (write_text ("wide.txt", wide));

  g_free (write_text ("bad.txt", "1\n2 3\n"));
  g_free (write_text ("bytes.txt", "1\nm\xfcsik\n"));
  g_free (write_text ("long.txt",
      "1\nAn umlaut begins at the fortieth byte: \xc3\xbc\n"));
  g_free (write_text ("either.txt", "# a comment\n1\n1,5\n"));
  g_free (write_text ("pairs.txt", "0,5,0,25\n"));
  g_free (write_text ("both.txt", "0,05\n0.5\n"));
  g_free (write_text ("none.txt", "nothing at all\n"));
  g_free (write_text ("zero.txt", "0\n0\n"));
  zeros = g_build_filename (folder, "zeros.wav", NULL);
  fail_unless (g_file_set_contents (zeros, "1\n\0\0\0", 5, NULL));
  g_free (write_text ("off.txt", "Filter Settings file\nFilter 1: OFF PK\n"));
  expect_fault ("Gain(2) | FIR('@/missing.wav')",
      "line 1, column 15: b of FIR");
  expect_fault ("FIR('@/missing.wav')", "missing.wav' cannot be used: No such");
  expect_fault ("FIR('@')", "it is a folder");
  expect_fault ("FIR('@/bad.txt')", "line 2, '2 3', does not have one number"
                                    " for each");
  expect_fault ("FIR('@/bytes.txt')", "line 2, 'm\\xfcsik', does not");
  expect_fault ("FIR('@/long.txt')", "fortieth byte: ', does not");
  expect_fault ("FIR('@/either.txt')",
      "line 3 has a comma that may be a "
      "decimal mark or stand between channels");
  expect_fault ("FIR('@/pairs.txt')", "line 1 has a comma that may be");
  expect_fault ("FIR('@/both.txt')",
      "line 1 has decimal commas, but line 2 decimal points");
  expect_fault ("FIR('@/none.txt')", "nor a text file with numbers");
  expect_fault ("FIR('@/wide.txt')", "nor a text file with numbers");
  expect_fault ("FIR('@/zero.txt')", "it is silent");
  expect_fault ("FIR('@/zeros.wav')", "it is not a readable sound file: ");
  expect_fault ("FilterSettings('@/off.txt')", "no filter in this file is ON");
  expect_fault ("FilterSettings('@/bad.txt')", "there are no filter settings");
  g_free (zeros);
}

GST_END_TEST;

#define N_READS 1000

static gpointer
read_without_data (gpointer data)
{
  for (guint i = 0; i < N_READS; i++)
    expect_fault ("FIR('@/headless.wav')", "No 'data' chunk");
  return NULL;
}

/* Several elements read files at once: each tells of its own. */
GST_START_TEST (test_faults_at_once)
{
  static const gchar format[] = "RIFF\20\0\0\0WAVEfmt \20\0\0\0\1";
  gchar *zeros = g_build_filename (folder, "zeros.wav", NULL);
  gchar *headless = g_build_filename (folder, "headless.wav", NULL);
  gchar bytes[128] = { 0 };
  GThread *thread;

  fail_unless (g_file_set_contents (zeros, "1\n\0\0\0", 5, NULL));
  memcpy (bytes, format, sizeof format);
  fail_unless (g_file_set_contents (headless, bytes, sizeof bytes, NULL));
  thread = g_thread_new ("reader", read_without_data, NULL);
  for (guint i = 0; i < N_READS; i++)
    expect_fault ("FIR('@/zeros.wav')", "Format not recognised");
  g_thread_join (thread);
  g_free (headless);
  g_free (zeros);
}

GST_END_TEST;

/* ---- names ------------------------------------------------------------------------- */

/* In a chain's file they are relative to that; settings become stages. */
GST_START_TEST (test_relative)
{
  gchar *path = write_text ("chain.txt",
      "g=Gain(2) | FilterSettings('settings.txt') | c=Convolve('plain.txt')");
  GstElement *chain = gst_element_factory_make ("tfxchain", NULL);
  gchar *name;

  g_free (write_text ("plain.txt", "0.5\n"));
  g_free (
      write_text ("settings.txt", "Filter 1: ON PK Fc 63 Hz Gain -5 dB Q 4\n"));
  g_object_set (chain, "location", path, NULL);
  gst_child_proxy_get (GST_CHILD_PROXY (chain), "c::location", &name, NULL);
  fail_unless_equals_string (name, "plain.txt");
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "parametriceq0::gain", -6.0,
      NULL);
  tfx_chains_expect_text (chain,
      "g=Gain(2) | ParametricEQ(63, q=4, gain=-6) | c=Convolve('plain.txt')");
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (chain, GST_STATE_NULL);
  g_free (name);
  g_free (path);
  gst_object_unref (chain);
}

GST_END_TEST;

static gdouble
push_ones (GstHarness *h, const GstAudioInfo *info)
{
  gdouble ones[N], *out, last;

  for (guint i = 0; i < N; i++)
    ones[i] = 1.0;
  out = tfx_check_filter (h, info, ones, N, N);
  last = out[N - 1];
  g_free (out);
  return last;
}

/* Other files are set as properties of the child while samples flow; one that
 * cannot be read changes nothing. */
GST_START_TEST (test_properties)
{
  GstAudioInfo info = f64 (1);
  gchar *text = in_folder ("f=FIR('@/a.txt') | c=Convolve('@/a.txt')");
  gchar *path = write_text ("b.txt", "0.5\n"), *name, *now;
  GstBus *bus = gst_bus_new ();
  GstHarness *h;

  g_free (write_text ("a.txt", "3\n"));
  h = tfx_chains_harness (text, &info);
  gst_element_set_bus (h->element, bus);
  fail_unless_equals_float (push_ones (h, &info), 9.0);
  gst_child_proxy_set (GST_CHILD_PROXY (h->element), "f::b-file", path, NULL);
  push_ones (h, &info);
  fail_unless_equals_float (push_ones (h, &info), 1.5);
  gst_child_proxy_set (GST_CHILD_PROXY (h->element), "c::location", path,
      "c::mix", 0.5, NULL);
  push_ones (h, &info);
  fail_unless_equals_float (push_ones (h, &info), 0.375);
  gst_child_proxy_set (GST_CHILD_PROXY (h->element), "c::location", "/no/file",
      NULL);
  fail_unless (gst_bus_have_pending (bus));
  gst_child_proxy_get (GST_CHILD_PROXY (h->element), "c::location", &name,
      NULL);
  fail_unless_equals_string (name, path);
  fail_unless_equals_float (push_ones (h, &info), 0.375);
  now = g_strdup_printf ("f=FIR('%s') | c=Convolve('%s', mix=0.5)", path, path);
  tfx_chains_expect_text (h->element, now);
  g_free (text);
  gst_util_set_object_arg (G_OBJECT (h->element), "chain", "f=FIR([2])");
  gst_child_proxy_get (GST_CHILD_PROXY (h->element), "f::b-file", &text, NULL);
  fail_unless (text == NULL);
  g_free (name);
  g_free (now);
  g_free (path);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Files that are named are watched too, also those of a chain that is in none. */
GST_START_TEST (test_watch)
{
  GstAudioInfo info = f64 (1);
  gchar *path = write_text ("watched-chain.txt", "Convolve('watched.txt')");
  gchar *text = in_folder ("Convolve('@/watched.txt')");
  GstHarness *h;
  gint64 begin = 0;

  g_free (write_text ("watched.txt", "3\n"));
  h = tfx_chains_harness ("", &info);
  g_object_set (h->element, "watch", TRUE, NULL);
  if (__i__ == 0)
    g_object_set (h->element, "location", path, NULL);
  else
    g_object_set (h->element, "chain", text, NULL);
  push_ones (h, &info);
  fail_unless_equals_float (push_ones (h, &info), 3.0);
  g_free (write_text ("watched.txt", "0.25\n0.125\n"));
  while (push_ones (h, &info) != 0.375 && tfx_check_wait (&begin))
    ;
  fail_unless_equals_float (push_ones (h, &info), 0.375);
  g_free (path);
  g_free (text);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---- long ones ---------------------------------------------------------------------- */

/* While a long file is made ready, another rate and all, samples flow as before. */
GST_START_TEST (test_long)
{
  const gsize n_taps = 480000;
  GstAudioInfo info = f64 (2);
  gdouble *room = g_new0 (gdouble, 2 * n_taps), now = 3.0;
  gchar *text = in_folder ("g=Gain(3) | Convolve('@/long.wav')");
  const gint64 deadline = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  GstHarness *h = tfx_chains_harness ("g=Gain(3)", &info);
  gdouble ones[2 * N], *out;

  for (guint i = 0; i < 2 * N; i++)
    ones[i] = 1.0;
  room[2 * n_taps - 2] = room[2 * n_taps - 1] = 0.5;
  write_wav ("long.wav", room, n_taps, 2, __i__ == 0 ? RATE : 44100);
  g_free (tfx_check_filter (h, &info, ones, N, N));
  g_object_set (h->element, "chain", text, NULL);
  while (now == 3.0 && g_get_monotonic_time () < deadline) {
    out = tfx_check_filter (h, &info, ones, N, N);
    now = out[0];
    g_free (out);
    g_usleep (1000);
  }
  /* It lets nothing through for seconds, and was faded in. */
  fail_unless (now < 3.0, "the kernel never came");
  g_free (tfx_check_filter (h, &info, ones, N, N));
  out = tfx_check_filter (h, &info, ones, N, N);
  fail_unless (fabs (out[N]) < 1e-3);
  g_free (out);
  g_free (room);
  g_free (text);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
chain_impulses_suite (void)
{
  Suite *suite = suite_create ("chain-impulses");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_sound_files, 0, 5);
  tcase_add_test (tcase, test_texts);
  tcase_add_test (tcase, test_commas);
  tcase_add_test (tcase, test_utf16);
  tcase_add_test (tcase, test_saved_while_read);
  tcase_add_test (tcase, test_rate_of_text);
  tcase_add_test (tcase, test_mix_of_text);
  tcase_add_test (tcase, test_faults);
  tcase_add_test (tcase, test_faults_at_once);
  tcase_add_test (tcase, test_relative);
  tcase_add_test (tcase, test_properties);
  tcase_add_loop_test (tcase, test_watch, 0, 2);
  tcase_add_loop_test (tcase, test_long, 0, 2);
  return suite;
}

int
main (int argc, char **argv)
{
  gchar *command;
  int status;

  folder = g_dir_make_tmp ("tfx it is-XXXXXX", NULL);
  status = tfx_check_main (argc, argv, chain_impulses_suite ());
  command = g_strdup_printf ("rm -r '%s'", folder);
  if (system (command) != 0)
    g_printerr ("%s is left\n", folder);
  g_free (command);
  g_free (folder);
  return status;
}
