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

/* A stream through a tfxchain, to the end of which all warnings must have been
 * expected. */
typedef struct
{
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
  GstAudioInfo info;
} Playing;

static Playing
play (const gchar *text, gint rate)
{
  Playing p = { .info = tfx_check_f32 (rate, 1) };

  p.h = gst_harness_new ("tfxchain");
  p.element = p.h->element;
  p.bus = tfx_check_bus (p.h);
  g_object_set (p.element, "chain", text, NULL);
  tfx_check_set_info (p.h, &p.info);
  return p;
}

static void
stop (Playing *p)
{
  tfx_check_expect_no_warning (p->bus);
  gst_object_unref (p->bus);
  tfx_check_close (p->h);
}

static void
push_some (Playing *p, guint n_buffers)
{
  g_autofree gdouble *in = tfx_check_noise (N * n_buffers, 5);

  g_free (tfx_check_filter (p->h, &p->info, in, N * n_buffers, N));
}

/* The next error on a bus is one of the settings, and says so. */
static void
expect_error (GstBus *bus, const gchar *words)
{
  g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_ERROR);
  g_autoptr (GError) error = NULL;

  fail_unless (message != NULL, "no error");
  gst_message_parse_error (message, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS));
  fail_unless (strstr (error->message, words) != NULL, "%s", error->message);
}

static void
expect_state (GstElement *element, GstState state, GstStateChangeReturn wanted)
{
  fail_unless_equals_int (gst_element_set_state (element, state), wanted);
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

/* In NULL the text stays, there are no stages, and no state is reached.  A text that is
 * set in READY is told of where the stream would start. */
GST_START_TEST (test_wrong_at_rest)
{
  const gboolean is_ready = __i__ & 1;
  const gchar *told = wrong[__i__ / 2].told;
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (TfxElement) element = tfx_chains_element ("eq=Notch(50, 1)");

  gst_element_set_bus (element, bus);
  if (is_ready)
    expect_state (element, GST_STATE_READY, GST_STATE_CHANGE_SUCCESS);
  g_object_set (element, "chain", wrong[__i__ / 2].text, NULL);
  tfx_check_expect_no_warning (bus);
  tfx_chains_expect_text (element, wrong[__i__ / 2].text);
  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (element)),
      0);
  if (!is_ready) {
    expect_state (element, GST_STATE_READY, GST_STATE_CHANGE_FAILURE);
    expect_error (bus, told);
    fail_unless_equals_int (GST_STATE (element), GST_STATE_NULL);
  }
  expect_state (element, GST_STATE_PLAYING, GST_STATE_CHANGE_FAILURE);
  expect_error (bus, told);
  fail_unless_equals_int (GST_STATE (element),
      is_ready ? GST_STATE_READY : GST_STATE_NULL);

  g_object_set (element, "chain", "eq=Notch(50, 1)", NULL);
  expect_state (element, GST_STATE_PLAYING, GST_STATE_CHANGE_SUCCESS);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
}
GST_END_TEST;

/* While playing the old chain goes on, with its children, as if nothing had
 * been set. */
GST_START_TEST (test_wrong_while_playing)
{
  static const gchar text[] = "eq=ParametricEQ(1000, 2, 6) | LoButterworth(90)";
  const gsize n = 10 * N;
  Playing p = play (text, RATE);
  g_autofree gdouble *in = tfx_check_noise (2 * n, 1), *before = NULL,
                     *after = NULL, *expected = NULL;
  g_autoptr (GObject) eq = tfx_chains_child (p.element, "eq"), same = NULL;

  expected = tfx_chains_expected (text, &p.info, in, 2 * n, N);
  before = tfx_check_filter (p.h, &p.info, in, n, N);
  fail_unless_equals_float (tfx_check_distance (before, expected, n), 0.0);

  g_object_set (p.element, "chain", wrong[__i__].text, NULL);
  tfx_check_expect_warning (p.bus, "the previous chain stays in use",
      wrong[__i__].told, NULL);
  tfx_chains_expect_text (p.element, text);
  same = tfx_chains_child (p.element, "eq");
  fail_unless (eq == same);
  after = tfx_check_filter (p.h, &p.info, in + n, n, N);
  fail_unless_equals_float (tfx_check_distance (after, expected + n, n), 0.0);
  stop (&p);
}
GST_END_TEST;

/* ---- what is read back ------------------------------------------------------------- */

GST_START_TEST (test_read_back)
{
  static const gchar text[] = "HiButterworth ( 80. , order = 5 )\n"
                              "  | eq=fx.filter.ParametricEQ(1e3, 2, gain=3)";
  static const gchar now[] =
      "HiButterworth(90) | eq=ParametricEQ(1000, q=2, gain=-4.5)";
  g_autoptr (GstElement) element = tfx_chains_element (NULL);
  g_autoptr (GstElement) again = tfx_chains_element (now);

  tfx_chains_expect_text (element, "");
  g_object_set (element, "chain", text, NULL);
  tfx_chains_expect_text (element, text);
  /* A value that is there already changes nothing. */
  gst_child_proxy_set (GST_CHILD_PROXY (element), "eq::gain", 3.0, NULL);
  tfx_chains_expect_text (element, text);
  gst_child_proxy_set (GST_CHILD_PROXY (element), "eq::gain", -4.5,
      "hibutterworth0::cutoff", 90.0, NULL);
  tfx_chains_expect_text (element, now);

  /* It reads back as the same chain. */
  tfx_chains_expect_number (again, "eq::gain", -4.5);
  gst_child_proxy_set (GST_CHILD_PROXY (again), "eq::q", 1.0, "eq::q", 2.0,
      NULL);
  tfx_chains_expect_text (again, now);

  g_object_set (element, "chain", NULL, NULL);
  tfx_chains_expect_text (element, "");
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

  g_signal_connect (p.element, "notify::chain", G_CALLBACK (count), &n);
  g_object_set (p.element, "chain", "a=Gain(2)", NULL);
  fail_unless_equals_int (n, 1);
  gst_child_proxy_set (GST_CHILD_PROXY (p.element), "a::gain", 3.0, NULL);
  fail_unless_equals_int (n, 2);
  gst_child_proxy_set (GST_CHILD_PROXY (p.element), "a::gain", 3.0, NULL);
  fail_unless_equals_int (n, 2);
  g_object_set (p.element, "chain", "Gain(", NULL);
  fail_unless_equals_int (n, 2);
  tfx_check_expect_warning (p.bus, "line 1", NULL);
  stop (&p);
}
GST_END_TEST;

/* ---- values that do not fit each other ------------------------------------------------ */

GST_START_TEST (test_misfit_in_null)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (TfxElement) element =
      tfx_chains_element ("x=Butterworth('lowpass', 100)");
  g_autoptr (GObject) child = tfx_chains_child (element, "x");

  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (child, "btype", "bandpass");
  expect_state (element, GST_STATE_READY, GST_STATE_CHANGE_FAILURE);
  expect_error (bus, "cutoff of stage 'x' (Butterworth) must be a list of two "
                     "frequencies");
  g_object_set (child, "cutoff-upper", 200.0, NULL);
  expect_state (element, GST_STATE_READY, GST_STATE_CHANGE_SUCCESS);
}
GST_END_TEST;

GST_START_TEST (test_misfit_while_playing)
{
  Playing p = play ("x=Butterworth('lowpass', 100)", RATE);
  g_autoptr (GObject) child = tfx_chains_child (p.element, "x");

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
  fail_unless_equals_uint64 (tfx_check_stat (p.element, "sections"), 2);
  g_object_set (child, "cutoff-upper", 400.0, NULL);
  push_some (&p, 3);
  tfx_check_expect_no_warning (p.bus);
  fail_unless_equals_uint64 (tfx_check_stat (p.element, "sections"), 4);
  stop (&p);
}
GST_END_TEST;

/* ---- values that the rate does not allow ------------------------------------------------ */

/* What a parameter is set to, or the rate, and the warnings that it makes, once for each
 * situation; steps follow each other where there is no text. */
static const struct
{
  const gchar *text;
  gint rate;
  const gchar *property;
  gdouble number;
  const gchar *first, *second;
} clamps[] = {
  { "eq=ParametricEQ(30000, 1, 3)", 48000, NULL, 0,
      "eq::frequency=30000 Hz is out of range at 48000 Hz (0.048–23999.952); "
      "using 23999.952 Hz." },
  { "LoButterworth(24000)", 48000, NULL, 0, "lobutterworth0::cutoff=24000 Hz" },
  { "x=Butterworth('bp', [50000, 60000])", 48000, NULL, 0,
      "x::cutoff=50000 Hz is out of range at 48000 Hz",
      "x::cutoff-upper=60000 Hz" },
  { "x=DesignableFIR([100, 50000, 60000], 31)", 48000, NULL, 0,
      "x::cutoff[1]=50000 Hz", "x::cutoff[2]=60000 Hz" },
  { "x=LogFilterBank(10)", 8000, NULL, 0, "x::f-max=20000 Hz" },
  { "x=Multiband([100, 5000], None, y=Notch(6000, 1), None)", 8000, NULL, 0,
      "y::cutoff=6000 Hz", "x::crossovers[1]=5000 Hz" },
  { "a=Notch(5000, 1) | b=Notch(9000, 1)", 16000, NULL, 0,
      "b::cutoff=9000 Hz" },
  /* another parameter */
  { NULL, 0, "a::q", 2 },
  /* another value, a value that can be met, and back */
  { NULL, 0, "b::cutoff", 9001, "b::cutoff=9001 Hz" },
  { NULL, 0, "b::cutoff", 100 },
  { NULL, 0, "b::cutoff", 9001, "b::cutoff=9001 Hz" },
  /* The rate allows it, and then not even the other one. */
  { NULL, 48000, NULL, 0 },
  { NULL, 8000, NULL, 0, "a::cutoff=5000 Hz is out of range at 8000 Hz",
      "b::cutoff=9001 Hz is out of range at 8000 Hz" },
};

GST_START_TEST (test_clamped)
{
  Playing p = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (clamps); i++) {
    if (clamps[i].text) {
      if (p.h)
        stop (&p);
      p = play (clamps[i].text, clamps[i].rate);
    } else if (clamps[i].property) {
      gst_child_proxy_set (GST_CHILD_PROXY (p.element), clamps[i].property,
          clamps[i].number, NULL);
      tfx_chains_expect_number (p.element, clamps[i].property,
          clamps[i].number);
    } else {
      p.info = tfx_check_f32 (clamps[i].rate, 1);
      tfx_check_set_info (p.h, &p.info);
    }
    if (!clamps[i].text)
      push_some (&p, 2);
    if (clamps[i].first)
      tfx_check_expect_warning (p.bus, clamps[i].first, NULL);
    if (clamps[i].second)
      tfx_check_expect_warning (p.bus, clamps[i].second, NULL);
    push_some (&p, 3);
    tfx_check_expect_no_warning (p.bus);
  }
  stop (&p);
}
GST_END_TEST;

/* The 31-band equaliser at 8 kHz: each of them is told of, and none twice. */
GST_START_TEST (test_many_clamped)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Playing p;

  for (guint i = 0; i < 40; i++)
    g_string_append_printf (text, "%sf%u=ParametricEQ(%u, 1, 3)", i ? "|" : "",
        i, 5000 + i);
  p = play (text->str, 8000);
  for (guint i = 0; i < 40; i++)
    tfx_check_expect_warning (p.bus, "::frequency=50", NULL);
  push_some (&p, 1);
  gst_child_proxy_set (GST_CHILD_PROXY (p.element), "f39::q", 2.0, NULL);
  push_some (&p, 1);
  stop (&p);
}
GST_END_TEST;

/* ---- values for another stream ------------------------------------------------------------ */

GST_START_TEST (test_other_rate)
{
  g_autoptr (TfxElement) pipeline = tfx_play_make (
      "audiotestsrc num-buffers=10 ! audio/x-raw,format=F32LE,rate=48000 ! "
      "tfxchain chain=\"LoButterworth(100, fs=44100)\" ! fakesink",
      NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  expect_error (bus, "fs of stage 'lobutterworth0'");
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_text");

  tcase_add_loop_test (tc, test_wrong_at_rest, 0, 2 * G_N_ELEMENTS (wrong));
  tcase_add_loop_test (tc, test_wrong_while_playing, 0, G_N_ELEMENTS (wrong));
  tcase_add_test (tc, test_read_back);
  tcase_add_test (tc, test_notify);
  tcase_add_test (tc, test_misfit_in_null);
  tcase_add_test (tc, test_misfit_while_playing);
  tcase_add_test (tc, test_clamped);
  tcase_add_test (tc, test_many_clamped);
  tcase_add_test (tc, test_other_rate);
  return tfx_check_run (argc, argv, tc);
}
