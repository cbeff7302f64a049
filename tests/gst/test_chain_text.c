/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_text.c: the property chain: what it reads back as, and what the
 * user is told of texts and values that make no sense.
 */
#include <math.h>
#include <string.h>

#include "chains.h"
#include "tfxplay.h"

#define RATE 48000
#define N 480

typedef struct
{
  GstHarness *h;
  GstBus *bus;
  GstAudioInfo info;
} Playing;

static Playing
play (const gchar *text, gint rate)
{
  Playing p = { .info = tfx_check_f32 (rate, 1) };

  p.h = gst_harness_new ("tfxchain");
  p.bus = tfx_check_bus (p.h);
  g_object_set (p.h->element, "chain", text, NULL);
  tfx_check_set_info (p.h, &p.info);
  return p;
}

static void
stop (Playing *p)
{
  tfx_check_expect_no_warning (p->bus);
  gst_element_set_bus (p->h->element, NULL);
  gst_object_unref (p->bus);
  gst_harness_teardown (p->h);
}

static void
push_some (Playing *p, guint n_buffers)
{
  gdouble *in = tfx_check_noise (N * n_buffers, 5);

  g_free (tfx_check_filter (p->h, &p->info, in, N * n_buffers, N));
  g_free (in);
}

/* The text of the next error on a bus. */
static gchar *
pop_error (GstBus *bus)
{
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *text;

  fail_unless (message != NULL, "no error");
  gst_message_parse_error (message, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS));
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

/* ---- texts that cannot be read ----------------------------------------------------- */

static const struct
{
  const gchar *text, *told;
} wrong[] = {
  { "LoButterworth(80, ordr=3)",
      "line 1, column 19: LoButterworth has no parameter 'ordr'; did you mean "
      "'order'?\n"
      "  LoButterworth(80, ordr=3)\n"
      "                    ^" },
  { "Gain(1) |\n  LoButerworth(80)",
      "line 2, column 3: there is no class 'LoButerworth'; did you mean "
      "'LoButterworth' or 'Butterworth'? (gst-tfx list shows all)\n"
      "    LoButerworth(80)\n"
      "    ^" },
  { "Gain(1) |", "line 1, column 10: " },
  { "a=Gain(1) | a=Gain(2)", "line 1, column 13: " },
  { "Butterworth('bandpass', 1000)", "line 1, column 1: " },
};

/* In NULL the text stays, there are no stages, and no state is reached. */
GST_START_TEST (test_wrong_in_null)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstBus *bus = gst_bus_new ();
  gchar *told;

  gst_element_set_bus (element, bus);
  g_object_set (element, "chain", "eq=Notch(50, 1)", NULL);
  g_object_set (element, "chain", wrong[__i__].text, NULL);
  tfx_check_expect_no_warning (bus);
  tfx_chains_expect_text (element, wrong[__i__].text);
  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (element)),
      0);

  for (guint i = 0; i < 2; i++) {
    fail_unless_equals_int (gst_element_set_state (element,
                                i ? GST_STATE_PLAYING : GST_STATE_READY),
        GST_STATE_CHANGE_FAILURE);
    told = pop_error (bus);
    fail_unless (strstr (told, wrong[__i__].told) != NULL, "%s", told);
    g_free (told);
    fail_unless_equals_int (GST_STATE (element), GST_STATE_NULL);
  }

  g_object_set (element, "chain", "eq=Notch(50, 1)", NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

/* A text that is set in READY is told of where the stream would start. */
GST_START_TEST (test_wrong_in_ready)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstBus *bus = gst_bus_new ();
  gchar *told;

  gst_element_set_bus (element, bus);
  gst_element_set_state (element, GST_STATE_READY);
  g_object_set (element, "chain", wrong[0].text, NULL);
  tfx_chains_expect_text (element, wrong[0].text);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  told = pop_error (bus);
  fail_unless (strstr (told, wrong[0].told) != NULL, "%s", told);
  g_free (told);

  g_object_set (element, "chain", "Gain(2)", NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

/* While playing the old chain goes on, with its children, as if nothing had
 * been set. */
GST_START_TEST (test_wrong_while_playing)
{
  static const gchar text[] = "eq=ParametricEQ(1000, 2, 6) | LoButterworth(90)";
  Playing p = play (text, RATE);
  gdouble *in = tfx_check_noise (20 * N, 1), *out, *expected;
  GObject *eq = tfx_chains_child (p.h->element, "eq"), *same;

  expected = tfx_chains_expected (text, &p.info, in, 20 * N, N);
  out = tfx_check_filter (p.h, &p.info, in, 10 * N, N);
  fail_unless_equals_float (tfx_check_distance (out, expected, 10 * N), 0.0);
  g_free (out);

  g_object_set (p.h->element, "chain", wrong[__i__].text, NULL);
  tfx_check_expect_warning (p.bus, "the previous chain stays in use",
      wrong[__i__].told, NULL);
  tfx_chains_expect_text (p.h->element, text);
  same = tfx_chains_child (p.h->element, "eq");
  fail_unless (eq == same);
  out = tfx_check_filter (p.h, &p.info, in + 10 * N, 10 * N, N);
  fail_unless_equals_float (tfx_check_distance (out, expected + 10 * N, 10 * N),
      0.0);

  g_object_unref (eq);
  g_object_unref (same);
  g_free (in);
  g_free (out);
  g_free (expected);
  stop (&p);
}
GST_END_TEST;

/* ---- what is read back ------------------------------------------------------------- */

GST_START_TEST (test_read_back)
{
  static const gchar text[] = "HiButterworth ( 80. , order = 5 )\n"
                              "  | eq=fx.filter.ParametricEQ(1e3, 2, gain=3)";
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstElement *again = gst_element_factory_make ("tfxchain", NULL);
  gchar *now;

  tfx_chains_expect_text (element, "");
  g_object_set (element, "chain", text, NULL);
  tfx_chains_expect_text (element, text);
  /* A value that is there already changes nothing. */
  gst_child_proxy_set (GST_CHILD_PROXY (element), "eq::gain", 3.0, NULL);
  tfx_chains_expect_text (element, text);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "eq::gain", -4.5,
      "hibutterworth0::cutoff", 90.0, NULL);
  tfx_chains_expect_text (element,
      "HiButterworth(90) | eq=ParametricEQ(1000, q=2, gain=-4.5)");

  /* It reads back as the same chain. */
  g_object_get (element, "chain", &now, NULL);
  g_object_set (again, "chain", now, NULL);
  tfx_chains_expect_number (again, "eq::gain", -4.5);
  gst_child_proxy_set (GST_CHILD_PROXY (again), "eq::q", 1.0, "eq::q", 2.0,
      NULL);
  tfx_chains_expect_text (again, now);
  g_free (now);

  g_object_set (element, "chain", NULL, NULL);
  tfx_chains_expect_text (element, "");
  gst_object_unref (element);
  gst_object_unref (again);
}
GST_END_TEST;

static void
count (GObject *object, GParamSpec *pspec, guint *n)
{
  ++*n;
}

GST_START_TEST (test_notify)
{
  Playing p = play ("a=Gain(1)", RATE);
  guint n = 0;

  g_signal_connect (p.h->element, "notify::chain", G_CALLBACK (count), &n);
  g_object_set (p.h->element, "chain", "a=Gain(2)", NULL);
  fail_unless_equals_int (n, 1);
  gst_child_proxy_set (GST_CHILD_PROXY (p.h->element), "a::gain", 3.0, NULL);
  fail_unless_equals_int (n, 2);
  gst_child_proxy_set (GST_CHILD_PROXY (p.h->element), "a::gain", 3.0, NULL);
  fail_unless_equals_int (n, 2);
  g_object_set (p.h->element, "chain", "Gain(", NULL);
  fail_unless_equals_int (n, 2);
  tfx_check_expect_warning (p.bus, "line 1", NULL);
  stop (&p);
}
GST_END_TEST;

/* ---- values that do not fit each other ------------------------------------------------ */

GST_START_TEST (test_misfit_in_null)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);
  GstBus *bus = gst_bus_new ();
  GObject *child;
  gchar *told;

  gst_element_set_bus (element, bus);
  g_object_set (element, "chain", "x=Butterworth('lowpass', 100)", NULL);
  child = tfx_chains_child (element, "x");
  gst_util_set_object_arg (child, "btype", "bandpass");
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_FAILURE);
  told = pop_error (bus);
  fail_unless (strstr (told, "cutoff of stage 'x' (Butterworth) must be a "
                             "list of two frequencies") != NULL,
      "%s", told);
  g_free (told);
  g_object_set (child, "cutoff-upper", 200.0, NULL);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  g_object_unref (child);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_misfit_while_playing)
{
  Playing p = play ("x=Butterworth('lowpass', 100)", RATE);
  GObject *child = tfx_chains_child (p.h->element, "x");

  push_some (&p, 2);
  gst_util_set_object_arg (child, "btype", "bandpass");
  push_some (&p, 3);
  tfx_check_expect_warning (p.bus, "cannot be changed", "cutoff of stage 'x'",
      "must be a list of two frequencies", NULL);
  tfx_check_expect_no_warning (p.bus);
  /* Another value that does not help is told of again. */
  g_object_set (child, "cutoff", 300.0, NULL);
  push_some (&p, 3);
  tfx_check_expect_warning (p.bus, "must be a list of two frequencies", NULL);
  fail_unless_equals_uint64 (tfx_check_stat (p.h->element, "sections"), 2);
  g_object_set (child, "cutoff-upper", 400.0, NULL);
  push_some (&p, 3);
  tfx_check_expect_no_warning (p.bus);
  fail_unless_equals_uint64 (tfx_check_stat (p.h->element, "sections"), 4);
  g_object_unref (child);
  stop (&p);
}
GST_END_TEST;

/* ---- values that the rate does not allow ------------------------------------------------ */

typedef struct
{
  const gchar *text;
  gint rate;
  const gchar *first, *second;
} Clamped;

static const Clamped clamps[] = {
  { "eq=ParametricEQ(30000, 1, 3)", 48000,
      "eq::frequency=30000 Hz is out of range at 48000 Hz (0.048–23999.952); "
      "using 23999.952 Hz.",
      NULL },
  { "LoButterworth(24000)", 48000, "lobutterworth0::cutoff=24000 Hz", NULL },
  { "x=Butterworth('bp', [50000, 60000])", 48000, "x::cutoff=50000 Hz",
      "x::cutoff-upper=60000 Hz" },
  { "x=DesignableFIR([100, 50000, 60000], 31)", 48000, "x::cutoff[1]=50000 Hz",
      "x::cutoff[2]=60000 Hz" },
  { "x=LogFilterBank(10)", 8000, "x::f-max=20000 Hz", NULL },
};

GST_START_TEST (test_clamped)
{
  const Clamped *u = &clamps[__i__];
  Playing p = play (u->text, u->rate);

  tfx_check_expect_warning (p.bus, u->first, NULL);
  if (u->second)
    tfx_check_expect_warning (p.bus, u->second, NULL);
  push_some (&p, 3);
  stop (&p);
}
GST_END_TEST;

/* Once for each situation. */
GST_START_TEST (test_unmet_again)
{
  Playing p = play ("a=Notch(5000, 1) | b=Notch(9000, 1)", 16000);
  GstElement *e = p.h->element;

  tfx_check_expect_warning (p.bus, "b::cutoff=9000 Hz", NULL);
  push_some (&p, 2);
  /* Another parameter. */
  gst_child_proxy_set (GST_CHILD_PROXY (e), "a::q", 2.0, NULL);
  push_some (&p, 2);
  tfx_check_expect_no_warning (p.bus);
  /* Another value, a value that can be met, and back. */
  gst_child_proxy_set (GST_CHILD_PROXY (e), "b::cutoff", 9001.0, NULL);
  push_some (&p, 2);
  tfx_check_expect_warning (p.bus, "b::cutoff=9001 Hz", NULL);
  gst_child_proxy_set (GST_CHILD_PROXY (e), "b::cutoff", 100.0, NULL);
  push_some (&p, 2);
  gst_child_proxy_set (GST_CHILD_PROXY (e), "b::cutoff", 9001.0, NULL);
  push_some (&p, 2);
  tfx_check_expect_warning (p.bus, "b::cutoff=9001 Hz", NULL);
  tfx_check_expect_no_warning (p.bus);
  tfx_chains_expect_number (e, "b::cutoff", 9001.0);
  /* The rate allows it, and then not even the other one. */
  p.info = tfx_check_f32 (RATE, 1);
  tfx_check_set_info (p.h, &p.info);
  push_some (&p, 2);
  tfx_check_expect_no_warning (p.bus);
  p.info = tfx_check_f32 (8000, 1);
  tfx_check_set_info (p.h, &p.info);
  push_some (&p, 2);
  tfx_check_expect_warning (p.bus, "a::cutoff=5000 Hz", "8000 Hz", NULL);
  tfx_check_expect_warning (p.bus, "b::cutoff=9001 Hz", "8000 Hz", NULL);
  stop (&p);
}
GST_END_TEST;

/* The 31-band equaliser at 8 kHz: each of them is told of, and none twice. */
GST_START_TEST (test_many_clamped)
{
  GString *text = g_string_new (NULL);
  Playing p;

  for (guint i = 0; i < 40; i++)
    g_string_append_printf (text, "%sf%u=ParametricEQ(%u, 1, 3)", i ? "|" : "",
        i, 5000 + i);
  p = play (text->str, 8000);
  for (guint i = 0; i < 40; i++)
    tfx_check_expect_warning (p.bus, "::frequency=50", NULL);
  push_some (&p, 1);
  gst_child_proxy_set (GST_CHILD_PROXY (p.h->element), "f39::q", 2.0, NULL);
  push_some (&p, 1);
  g_string_free (text, TRUE);
  stop (&p);
}
GST_END_TEST;

/* ---- values for another stream ------------------------------------------------------------ */

GST_START_TEST (test_other_rate)
{
  TfxCaught caught;
  GstElement *pipeline = tfx_play_make (
      "audiotestsrc num-buffers=10 ! audio/x-raw,format=F32LE,rate=48000 ! "
      "tfxchain chain=\"LoButterworth(100, fs=44100)\" ! fakesink name=sink",
      &caught);
  GstBus *bus = gst_element_get_bus (pipeline);
  gchar *told;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  told = pop_error (bus);
  fail_unless (strstr (told, "fs of stage 'lobutterworth0'") != NULL, "%s",
      told);
  g_free (told);
  gst_object_unref (bus);
  tfx_play_stop (pipeline);
  tfx_caught_clear (&caught);
}
GST_END_TEST;

static Suite *
chain_text_suite (void)
{
  Suite *s = suite_create ("chain-text");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_wrong_in_null, 0, G_N_ELEMENTS (wrong));
  tcase_add_test (tc, test_wrong_in_ready);
  tcase_add_loop_test (tc, test_wrong_while_playing, 0, G_N_ELEMENTS (wrong));
  tcase_add_test (tc, test_read_back);
  tcase_add_test (tc, test_notify);
  tcase_add_test (tc, test_misfit_in_null);
  tcase_add_test (tc, test_misfit_while_playing);
  tcase_add_loop_test (tc, test_clamped, 0, G_N_ELEMENTS (clamps));
  tcase_add_test (tc, test_unmet_again);
  tcase_add_test (tc, test_many_clamped);
  tcase_add_test (tc, test_other_rate);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, chain_text_suite ());
}
