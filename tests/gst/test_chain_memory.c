/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_memory.c: a tfxchain while the core is short of memory.
 *
 * The program has the plugin's own objects in it, with their calls of the heap
 * on the way through heap.c.  GLib's allocations are not among them: those end
 * the process if they fail.
 */
#include "chains.h"
#include "heap.h"

GST_PLUGIN_STATIC_DECLARE (tfx);

#define TEXT "a=LoButterworth(1000) | b=Gain(2)"

/* How many allocations a run of the function takes, with memory at hand. */
static guint
count_allocations (void (*run) (void))
{
  heap_watch (0);
  run ();
  return heap_unwatch ().n_allocations;
}

/* ---- a new element ------------------------------------------------------------ */

static GstElement *made;

static void
make_new (void)
{
  made = gst_element_factory_make ("tfxchain", NULL);
}

/* With memory again it is as any other. */
static void
use_made (const gchar *what, guint n)
{
  GstAudioInfo info = tfx_check_f32 (48000, 1);
  g_autoptr (TfxHarness) h = NULL;
  gdouble in[] = { 1, -1, 0.5, 0.25 };
  g_autofree gdouble *out = NULL;

  fail_unless (made != NULL, "%s %u", what, n);
  tfx_chains_expect_text (made, "");
  g_object_set (made, "chain", "x=Gain(2)", NULL);
  tfx_chains_expect_number (made, "x::gain", 2.0);
  gst_child_proxy_set (GST_CHILD_PROXY (made), "x::gain", 4.0, NULL);
  tfx_chains_expect_text (made, "x=Gain(4)");
  h = gst_harness_new_with_element (made, "sink", "src");
  tfx_check_set_info (h, &info);
  out = tfx_check_filter (h, &info, in, 4, 4);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_float (out[i], 4.0 * in[i]);
  gst_clear_object (&made);
}

/* Each allocation of a new element fails, and then all from it on. */
GST_START_TEST (test_new)
{
  guint n = count_allocations (make_new);

  use_made ("allocations", n);
  for (guint fail = 1; fail <= n + 2; fail++) {
    heap_watch (fail);
    make_new ();
    heap_unwatch ();
    use_made ("without allocation", fail);
    heap_watch_from (fail);
    make_new ();
    heap_unwatch ();
    use_made ("without allocations from", fail);
  }
}
GST_END_TEST;

/* ---- the chain is set ----------------------------------------------------------- */

static const gchar *next_text;

static void
set_next (void)
{
  g_object_set (made, "chain", next_text, NULL);
}

/* A chain is there or it is not, and its children with it. */
static void
check_set (const gchar *before, guint fail)
{
  gboolean is_set, is_kept;
  g_autofree gchar *text = NULL;
  guint n_children =
      gst_child_proxy_get_children_count (GST_CHILD_PROXY (made));

  g_object_get (made, "chain", &text, NULL);
  is_set = !g_strcmp0 (text, next_text);
  is_kept = !g_strcmp0 (text, before);
  fail_unless (is_set || is_kept, "allocation %u: %s", fail, text);
  fail_unless_equals_int (n_children,
      !*text || !g_strcmp0 (text, "Gain(") ? 0 : 2);
}

/* Loops over the texts. */
GST_START_TEST (test_set)
{
  static const gchar *const texts[][2] = { { "", TEXT }, { TEXT, "" },
    { TEXT, "b=Gain(3) | LoButterworth(2000)" }, { "", "Gain(" },
    { TEXT, "Gain(" }, { "Gain(", TEXT } };
  const gchar *before = texts[__i__][0];
  guint n;

  next_text = texts[__i__][1];
  make_new ();
  g_object_set (made, "chain", before, NULL);
  n = count_allocations (set_next);
  fail_unless (n > 0);
  check_set (next_text, 0);
  for (guint fail = 1; fail <= n; fail++) {
    g_object_set (made, "chain", before, NULL);
    heap_watch (fail);
    set_next ();
    heap_unwatch ();
    check_set (before, fail);
    g_object_set (made, "chain", before, NULL);
    heap_watch_from (fail);
    set_next ();
    heap_unwatch ();
    check_set (before, fail);
  }

  /* That memory was short is forgotten as soon as there is some. */
  g_object_set (made, "chain", TEXT, NULL);
  heap_watch_from (1);
  set_next ();
  heap_unwatch ();
  if (g_strcmp0 (next_text, "Gain(")) {
    fail_unless_equals_int (gst_element_set_state (made, GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (made, GST_STATE_NULL);
  }
  gst_clear_object (&made);
}
GST_END_TEST;

/* ---- a child is set --------------------------------------------------------------- */

static GObject *child;

static void
set_child (void)
{
  gst_util_set_object_arg (child, "b", "<3.0, 4.0, 5.0>");
}

/* Its value is set, or a warning says why not. */
GST_START_TEST (test_child)
{
  g_autoptr (GstBus) bus = gst_bus_new ();
  gboolean is_set = FALSE;
  guint fail;

  make_new ();
  gst_element_set_bus (made, bus);
  g_object_set (made, "chain", "f=FIR([1, 2])", NULL);
  child = tfx_chains_child (made, "f");
  for (fail = 1; !is_set; fail++) {
    g_autofree gchar *text = NULL;

    heap_watch_from (fail);
    set_child ();
    heap_unwatch ();
    g_object_get (made, "chain", &text, NULL);
    is_set = !g_strcmp0 (text, "f=FIR([3, 4, 5])");
    if (!is_set) {
      fail_unless_equals_string (text, "f=FIR([1, 2])");
      tfx_check_expect_warning (bus, "out of memory", "stays in use", NULL);
    }
    tfx_check_expect_no_warning (bus);
  }
  fail_unless (fail > 2);
  g_object_unref (child);
  gst_element_set_bus (made, NULL);
  gst_clear_object (&made);
}
GST_END_TEST;

/* ---- values that move --------------------------------------------------------------- */

#define RATE 48000
#define N 480

/* Loops over the properties.  Behind the first few moves the core allocates
 * nothing, and what comes out is what an element puts out whose whole chain is
 * set each time. */
GST_START_TEST (test_moving)
{
  static const struct
  {
    const gchar *text, *property;
    gdouble from, step;
  } moves[] = {
    { "x=LoButterworth(1000, order=8) | Gain(2)", "x::cutoff", 500, 10 },
    { "Notch(50, 1) | x=ParametricEQ(1000, 2, 3)", "x::gain", -6, 0.1 },
    { "Notch(50, 1) | x=Butterworth('bandpass', [300, 3400])", "x::cutoff", 100,
        1 },
    { "x=Gain(2) | Notch(50, 1)", "x::gain", 1, 0.01 },
    { "Gain(2) + (x=HiShelving(1000, 1, 2) | Notch(50, 1))", "x::q", 0.5,
        0.01 },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (TfxHarness) h = tfx_chains_harness (moves[__i__].text, &info);
  g_autofree gdouble *in = tfx_check_noise (2 * N, 1);
  gdouble *out;
  g_autoptr (TfxHarness) other = tfx_chains_harness (moves[__i__].text, &info);
  gdouble *expected;
  guint n_allocations = 0;

  for (guint i = 0; i < 100; i++) {
    GstBuffer *buffer = tfx_check_buffer (&info, in, N);
    g_autofree gchar *text = NULL;

    gst_child_proxy_set (GST_CHILD_PROXY (h->element), moves[__i__].property,
        moves[__i__].from + i * moves[__i__].step, NULL);
    heap_watch (0);
    buffer = tfx_check_push (h, buffer);
    if (i >= 4)
      n_allocations += heap_unwatch ().n_allocations;
    else
      heap_unwatch ();
    out = tfx_check_samples (buffer, &info, NULL);
    gst_buffer_unref (buffer);
    g_object_get (h->element, "chain", &text, NULL);
    g_object_set (other->element, "chain", text, NULL);
    expected = tfx_check_filter (other, &info, in, N, N);
    fail_unless_equals_float (tfx_check_distance (out, expected, 2 * N), 0.0);
    g_free (expected);
    g_free (out);
  }
  fail_unless_equals_int (n_allocations, 0);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_memory");

  gst_init (&argc, &argv);
  GST_PLUGIN_STATIC_REGISTER (tfx);
  tcase_add_test (tc, test_new);
  tcase_add_loop_test (tc, test_set, 0, 6);
  tcase_add_test (tc, test_child);
  tcase_add_loop_test (tc, test_moving, 0, 5);
  return tfx_check_run (argc, argv, tc);
}
