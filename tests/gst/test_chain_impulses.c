/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_impulses.c: files that a chain names: impulse responses in sound files
 * and in texts, filter settings; where they are looked for, and what happens when
 * they are saved.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "chains.h"
#include "firs.h"

#define RATE 48000
#define N 480

/* The format with the folder for each "@". */
static gchar *
in_folder (const gchar *format)
{
  g_auto (GStrv) parts = g_strsplit (format, "@", -1);

  return g_strjoinv (tfx_check_folder (), parts);
}

/* ---- samples ---------------------------------------------------------------------- */

/* A file is the filter that tfxfir makes of it: its channels, its rate. */
GST_START_TEST (test_sound_files)
{
  static const struct
  {
    const gchar *chain;
    guint rate, n_kernels;
    gint n_channels;
  } cases[] = {
    { "FIR('@/a room.wav')", RATE, 1, 1 },
    { "FIR('@/a room.wav')", RATE, 2, 2 },
    { "FIR('@/a room.wav')", 44100, 2, 2 },
    { "Convolve('@/a room.wav')", 96000, 1, 3 },
    { "Convolve('@/a room.wav', conv_mode='direct')", RATE, 1, 3 },
  };
  const gsize n = 6000, n_taps = 700;
  const guint n_k = cases[__i__].n_kernels;
  const gint n_ch = cases[__i__].n_channels;
  GstAudioInfo info = tfx_check_f64 (RATE, n_ch);
  g_autofree gdouble *room = tfx_firs_room (n_taps * n_k, 5);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 3), *out = NULL,
                     *expected = NULL;
  g_autofree gchar *chain = in_folder (cases[__i__].chain);
  g_autofree gchar *launch =
      in_folder ("tfxfir align=false kernel-location=\"@/a room.wav\"");
  g_autoptr (TfxHarness) fir = NULL, h = NULL;

  g_free (tfx_firs_write_sound ("a room.wav", TFX_FIRS_WAV, room, n_taps, n_k,
      cases[__i__].rate));
  fir = tfx_check_harness (launch, &info);
  expected = tfx_check_filter (fir, &info, in, n, N);
  h = tfx_chains_harness (chain, &info);
  out = tfx_check_filter (h, &info, in, n, N);
  fail_unless (tfx_firs_error_db (out, expected, n * n_ch) < -240.0);
}
GST_END_TEST;

#define BYTES(text) text, sizeof (text) - 1

/* A file, and the first frames of the impulse response that it is to two channels. */
static const struct
{
  const gchar *chain, *bytes;
  gsize n_bytes, n;
  gdouble expected[6];
} texts[] = {
  { "FIR('@/text')", BYTES ("0.5\n-.25\r\n\n1e-3\n"), 3,
      { 0.5, 0.5, -0.25, -0.25, 1e-3, 1e-3 } },
  { "FIR('@/text')",
      BYTES ("Impulse Response data saved by REW V5.20\n"
             "Source: 192k Log Swept Sine, 1 sweep\nDated: 2 May 2024\n"
             "1.5 // Peak value before normalisation\n3 // Response length\n"
             "2.0833333333333333E-5 // Sample interval (seconds)\n"
             "-0.01 // Start time (seconds)\n* Data start\n0.5\n -0.25\n"
             "1.0E-3\n"),
      3, { 0.5, 0.5, -0.25, -0.25, 1e-3, 1e-3 } },
  { "Convolve('@/text')", BYTES ("left,right\n# a comment\n0.5, 1\n0.25;-1\n"),
      2, { 0.5, 1, 0.25, -1 } },
  { "FIR('@/text', channel=1)",
      BYTES ("left,right\n# a comment\n0.5, 1\n0.25;-1\n"), 2,
      { 1, 1, -1, -1 } },
  /* A comma is what the file shows that it is. */
  { "FIR('@/text')", BYTES ("1,000000\n-0,012345\n0,001200\n"), 3,
      { 1, 1, -0.012345, -0.012345, 0.0012, 0.0012 } },
  { "FIR('@/text')", BYTES ("1\r\n-1,2345E-2\r\n0,0012\r\n"), 3,
      { 1, 1, -0.012345, -0.012345, 0.0012, 0.0012 } },
  { "FIR('@/text')",
      BYTES ("1,5 // Peak value\n2,0833333333333333E-5 // Sample interval\n"
             "* Data start\n1\n-0,012345\n1,2E-3\n"),
      3, { 1, 1, -0.012345, -0.012345, 0.0012, 0.0012 } },
  { "FIR('@/text')", BYTES ("0,5;1\n0,25;-1\n"), 2, { 0.5, 1, 0.25, -1 } },
  { "FIR('@/text')", BYTES ("0,5\t1,0\n0,25\t-1,0\n"), 2,
      { 0.5, 1, 0.25, -1 } },
  { "FIR('@/text')", BYTES ("0,5, 1,0\n0,25, -1,0\n"), 2,
      { 0.5, 1, 0.25, -1 } },
  { "FIR('@/text')", BYTES ("0.5,1\n.25,-1\n"), 2, { 0.5, 1, 0.25, -1 } },
  { "FIR('@/text')", BYTES ("1,0\n-1,+2\n"), 2, { 1, 0, -1, 2 } },
  { "FIR('@/text')", BYTES ("1, 0\n-1, 2\n"), 2, { 1, 0, -1, 2 } },
  /* UTF-16, as Windows saves it. */
  { "FIR('@/text')",
      "\xff\xfe"
      "0\0.\0005\0\r\0\n\0-\0.\0002\0005\0\n",
      22, 2, { 0.5, 0.5, -0.25, -0.25 } },
  { "FIR('@/text')",
      BYTES ("\xfe\xff\0"
             "0\0.\0005\0\n\0-\0.\0002\0005\0\n"),
      2, { 0.5, 0.5, -0.25, -0.25 } },
};

GST_START_TEST (test_texts)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autofree gchar *path =
      tfx_check_write_bytes ("text", texts[__i__].bytes, texts[__i__].n_bytes);
  g_autofree gchar *chain = in_folder (texts[__i__].chain);
  g_autoptr (TfxHarness) h = tfx_chains_harness (chain, &info);
  const gdouble in[2 * N] = { 1.0, 1.0 };
  g_autofree gdouble *out = tfx_check_filter (h, &info, in, N, N);

  for (gsize i = 0; i < 2 * N; i++) {
    const gdouble y = i < 2 * texts[__i__].n ? texts[__i__].expected[i] : 0.0;

    fail_unless (fabs (out[i] - y) < 1e-12, "%s: %g at %d, not %g",
        texts[__i__].bytes, out[i], (gint)i, y);
  }
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
  g_autofree gchar *content = g_malloc (size);
  g_autofree gchar *text = in_folder ("FIR('@/long.txt')");
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness ("", &info);

  memset (content, '\n', size);
  content[size - 1] = '\0';
  for (guint i = 0; i < 10; i++) {
    g_autofree gchar *path = tfx_check_write ("long.txt", content);
    GThread *thread = g_thread_new ("saver", make_empty, path);

    g_object_set (h->element, "chain", text, NULL);
    g_thread_join (thread);
  }
}
GST_END_TEST;

/* REW's rate counts: taken at half the rate, twice as many taps of half the size. */
GST_START_TEST (test_rate_of_text)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gchar *chain = in_folder ("FIR('@/half.txt')");
  g_autofree gchar *path = tfx_check_write ("half.txt",
      "4.1666666666666666E-5 // Sample interval (seconds)\n"
      "* Data start\n0\n0\n1\n");
  g_autoptr (TfxHarness) h = tfx_chains_harness (chain, &info);
  g_autofree gdouble *out = tfx_chains_impulse (h, &info, N);
  gdouble sum = 0.0;

  for (guint i = 0; i < N; i++)
    sum += out[i];
  fail_unless (fabs (sum - 1.0) < 1e-4, "%g", sum);
  fail_unless (out[0] != 1.0);
}
GST_END_TEST;

/* The rate of an interval that was rounded, 1 / 2.26758E-5 is 44099.8; and at another
 * rate what is not mixed in stands where the impulse response begins. */
GST_START_TEST (test_mix_of_text)
{
  static const struct
  {
    const gchar *chain, *text;
    gdouble tap;
    guint first, last; /* where it may stand */
  } cases[] = {
    { "FIR('@/rounded.txt')",
        "2.26758E-5 // Sample interval (seconds)\n* Data start\n0\n0.5\n", 0.5,
        1, 1 },
    { "Convolve('@/rounded.txt', mix=0)",
        "4.5351473922902494E-5 // Sample interval (seconds)\n"
        "* Data start\n0\n0\n1\n",
        1.0, 1, N - 1 },
  };
  GstAudioInfo info = tfx_check_f64 (44100, 1);
  g_autofree gchar *chain = in_folder (cases[__i__].chain);
  g_autofree gchar *path = tfx_check_write ("rounded.txt", cases[__i__].text);
  g_autoptr (TfxHarness) h = tfx_chains_harness (chain, &info);
  g_autofree gdouble *out = tfx_chains_impulse (h, &info, N);
  guint n_taps = 0;

  for (guint i = 0; i < N; i++) {
    if (out[i] == 0.0)
      continue;
    fail_unless (out[i] == cases[__i__].tap && i >= cases[__i__].first &&
                     i <= cases[__i__].last,
        "%s: %g at %u", chain, out[i], i);
    n_taps++;
  }
  fail_unless_equals_int (n_taps, 1);
}
GST_END_TEST;

/* ---- faults ------------------------------------------------------------------------ */

static void
expect_fault (const gchar *format, const gchar *fault)
{
  g_autofree gchar *text = in_folder (format);

  tfx_chains_expect_refused ("chain", text, fault, NULL);
}

/* What is in the file "bad", if anything, and what is told of a chain with it. */
static const struct
{
  const gchar *bytes;
  gsize n;
  const gchar *chain, *fault;
} faults[] = {
  { NULL, 0, "Gain(2) | FIR('@/missing.wav')", "line 1, column 15: b of FIR" },
  { NULL, 0, "FIR('@/missing.wav')", "missing.wav' cannot be used: No such" },
  { NULL, 0, "FIR('@')", "it is a folder" },
  { BYTES ("1\n2 3\n"), "FIR('@/bad')",
      "line 2, '2 3', does not have one number for each" },
  { BYTES ("1\nm\xfcsik\n"), "FIR('@/bad')", "line 2, 'm\\xfcsik', does not" },
  { BYTES ("1\nAn umlaut begins at the fortieth byte: \xc3\xbc\n"),
      "FIR('@/bad')", "fortieth byte: ', does not" },
  { BYTES ("# a comment\n1\n1,5\n"), "FIR('@/bad')",
      "line 3 has a comma that may be a decimal mark or stand between "
      "channels" },
  { BYTES ("0,5,0,25\n"), "FIR('@/bad')", "line 1 has a comma that may be" },
  { BYTES ("0,05\n0.5\n"), "FIR('@/bad')",
      "line 1 has decimal commas, but line 2 decimal points" },
  { BYTES ("nothing at all\n"), "FIR('@/bad')",
      "nor a text file with numbers" },
  /* One number more than there may be channels. */
  { BYTES ("1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
           "1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 "
           "1\n"),
      "FIR('@/bad')", "nor a text file with numbers" },
  { BYTES ("0\n0\n"), "FIR('@/bad')", "it is silent" },
  { BYTES ("1\n\0\0\0"), "FIR('@/bad')", "it is not a readable sound file: " },
  { BYTES ("Filter Settings file\nFilter 1: OFF PK\n"),
      "FilterSettings('@/bad')", "no filter in this file is ON" },
  { BYTES ("1\n2 3\n"), "FilterSettings('@/bad')",
      "there are no filter settings" },
};

GST_START_TEST (test_faults)
{
  if (faults[__i__].bytes)
    g_free (
        tfx_check_write_bytes ("bad", faults[__i__].bytes, faults[__i__].n));
  expect_fault (faults[__i__].chain, faults[__i__].fault);
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
  static const gchar format[128] = "RIFF\20\0\0\0WAVEfmt \20\0\0\0\1";
  g_autofree gchar *zeros = tfx_check_write_bytes ("zeros.wav", "1\n\0\0\0", 5);
  g_autofree gchar *headless =
      tfx_check_write_bytes ("headless.wav", format, sizeof format);
  GThread *thread = g_thread_new ("reader", read_without_data, NULL);

  for (guint i = 0; i < N_READS; i++)
    expect_fault ("FIR('@/zeros.wav')", "Format not recognised");
  g_thread_join (thread);
}
GST_END_TEST;

/* ---- names ------------------------------------------------------------------------- */

/* In a chain's file they are relative to that; settings become stages. */
GST_START_TEST (test_relative)
{
  g_autofree gchar *path = tfx_check_write ("chain.txt",
      "g=Gain(2) | FilterSettings('settings.txt') | c=Convolve('plain.txt')");
  g_autoptr (TfxElement) chain = tfx_chains_element ("");
  g_autofree gchar *name = NULL;

  g_free (tfx_check_write ("plain.txt", "0.5\n"));
  g_free (tfx_check_write ("settings.txt",
      "Filter 1: ON PK Fc 63 Hz Gain -5 dB Q 4\n"));
  g_object_set (chain, "location", path, NULL);
  gst_child_proxy_get (GST_CHILD_PROXY (chain), "c::location", &name, NULL);
  fail_unless_equals_string (name, "plain.txt");
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "parametriceq0::gain", -6.0,
      NULL);
  tfx_chains_expect_text (chain,
      "g=Gain(2) | ParametricEQ(63, q=4, gain=-6) | c=Convolve('plain.txt')");
  fail_unless_equals_int (gst_element_set_state (chain, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
}
GST_END_TEST;

/* Other files are set as properties of the child while samples flow; one that
 * cannot be read changes nothing. */
GST_START_TEST (test_properties)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gchar *text =
                       in_folder ("f=FIR('@/a.txt') | c=Convolve('@/a.txt')"),
                   *now = in_folder (
                       "f=FIR('@/b.txt') | c=Convolve('@/b.txt', mix=0.5)");
  g_autofree gchar *three = tfx_check_write ("a.txt", "3\n"),
                   *half = tfx_check_write ("b.txt", "0.5\n");
  g_autofree gchar *name = NULL, *none = NULL;
  g_autoptr (TfxHarness) h = tfx_chains_harness (text, &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  GstChildProxy *proxy = GST_CHILD_PROXY (h->element);

  fail_unless_equals_float (tfx_chains_push_ones (h, &info), 9.0);
  gst_child_proxy_set (proxy, "f::b-file", half, NULL);
  tfx_chains_push_ones (h, &info);
  fail_unless_equals_float (tfx_chains_push_ones (h, &info), 1.5);
  gst_child_proxy_set (proxy, "c::location", half, "c::mix", 0.5, NULL);
  tfx_chains_push_ones (h, &info);
  fail_unless_equals_float (tfx_chains_push_ones (h, &info), 0.375);
  gst_child_proxy_set (proxy, "c::location", "/no/file", NULL);
  fail_unless (gst_bus_have_pending (bus));
  gst_child_proxy_get (proxy, "c::location", &name, NULL);
  fail_unless_equals_string (name, half);
  fail_unless_equals_float (tfx_chains_push_ones (h, &info), 0.375);
  tfx_chains_expect_text (h->element, now);
  g_object_set (h->element, "chain", "f=FIR([2])", NULL);
  gst_child_proxy_get (proxy, "f::b-file", &none, NULL);
  fail_unless (none == NULL);
}
GST_END_TEST;

/* Files that are named are watched too, also those of a chain that is in none. */
GST_START_TEST (test_watch)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gchar *path =
      tfx_check_write ("watched-chain.txt", "Convolve('watched.txt')");
  g_autofree gchar *text = in_folder ("Convolve('@/watched.txt')");
  g_autoptr (TfxHarness) h = tfx_chains_harness ("", &info);
  gint64 begin = 0;

  g_free (tfx_check_write ("watched.txt", "3\n"));
  g_object_set (h->element, "watch", TRUE, __i__ == 0 ? "location" : "chain",
      __i__ == 0 ? path : text, NULL);
  tfx_chains_push_ones (h, &info);
  fail_unless_equals_float (tfx_chains_push_ones (h, &info), 3.0);
  g_free (tfx_check_write ("watched.txt", "0.25\n0.125\n"));
  while (tfx_chains_push_ones (h, &info) != 0.375 && tfx_check_wait (&begin))
    ;
  fail_unless_equals_float (tfx_chains_push_ones (h, &info), 0.375);
}
GST_END_TEST;

/* ---- long ones ---------------------------------------------------------------------- */

/* While a long file is made ready, another rate and all, samples flow as before. */
GST_START_TEST (test_long)
{
  const gsize n_taps = 480000;
  GstAudioInfo info = tfx_check_f64 (RATE, 2);
  g_autofree gdouble *room = g_new0 (gdouble, 2 * n_taps);
  g_autofree gchar *text = in_folder ("g=Gain(3) | Convolve('@/long.wav')");
  g_autoptr (TfxHarness) h = tfx_chains_harness ("g=Gain(3)", &info);
  gint64 begin = 0;

  room[2 * n_taps - 2] = room[2 * n_taps - 1] = 0.5;
  g_free (tfx_firs_write_sound ("long.wav", TFX_FIRS_WAV, room, n_taps, 2,
      __i__ == 0 ? RATE : 44100));
  tfx_chains_push_ones (h, &info);
  g_object_set (h->element, "chain", text, NULL);
  while (tfx_chains_push_ones (h, &info) == 3.0)
    fail_unless (tfx_check_wait (&begin), "the kernel never came");
  /* It lets nothing through for seconds, and was faded in. */
  tfx_chains_push_ones (h, &info);
  fail_unless (fabs (tfx_chains_push_ones (h, &info)) < 1e-3);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_impulses");

  tfx_check_folder ();
  tcase_add_loop_test (tc, test_sound_files, 0, 5);
  tcase_add_loop_test (tc, test_texts, 0, G_N_ELEMENTS (texts));
  tcase_add_test (tc, test_saved_while_read);
  tcase_add_test (tc, test_rate_of_text);
  tcase_add_loop_test (tc, test_mix_of_text, 0, 2);
  tcase_add_loop_test (tc, test_faults, 0, G_N_ELEMENTS (faults));
  tcase_add_test (tc, test_faults_at_once);
  tcase_add_test (tc, test_relative);
  tcase_add_test (tc, test_properties);
  tcase_add_loop_test (tc, test_watch, 0, 2);
  tcase_add_loop_test (tc, test_long, 0, 2);
  return tfx_check_run (argc, argv, tc);
}
