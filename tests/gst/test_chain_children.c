/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_children.c: the stages of a tfxchain as children: their names,
 * their properties, and what becomes of them when the chain is set anew.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"

#define RATE 48000
#define N 480
#define IMPULSE "tfx-test-impulse.txt"

static GstElement *
make (const gchar *text)
{
  GstElement *element = gst_element_factory_make ("tfxchain", NULL);

  g_object_set (element, "chain", text, NULL);
  return element;
}

/* ---- names ----------------------------------------------------------------------- */

GST_START_TEST (test_names)
{
  static const gchar *const names[] = { "gain1", "gain0", "eq", "parametriceq0",
    "notch0" };
  GstElement *element =
      make ("Gain(1) | gain0=Gain(2) | (eq=ParametricEQ(1, 1, "
            "1) + ParametricEQ(1, 1, 1)) | Notch(1, 1)");
  GstChildProxy *proxy = GST_CHILD_PROXY (element);
  gdouble gain;

  fail_unless_equals_int (gst_child_proxy_get_children_count (proxy), 5);
  for (guint i = 0; i < 5; i++) {
    GObject *by_index = gst_child_proxy_get_child_by_index (proxy, i);
    GObject *by_name = gst_child_proxy_get_child_by_name (proxy, names[i]);
    GstObject *parent = gst_object_get_parent (GST_OBJECT (by_index));

    fail_unless (by_index == by_name, "%s", names[i]);
    fail_unless_equals_string (GST_OBJECT_NAME (by_index), names[i]);
    fail_unless (parent == GST_OBJECT (element));
    gst_object_unref (parent);
    g_object_unref (by_index);
    g_object_unref (by_name);
  }
  fail_unless (gst_child_proxy_get_child_by_index (proxy, 5) == NULL);
  fail_unless (gst_child_proxy_get_child_by_name (proxy, "gain2") == NULL);
  gst_child_proxy_get (proxy, "gain0::gain", &gain, NULL);
  fail_unless_equals_float (gain, 2.0);
  gst_object_unref (element);
}
GST_END_TEST;

/* ---- every parameter of every class ------------------------------------------------- */

/* A call with every required parameter. */
static gchar *
write_call (const TfxClass *klass)
{
  GString *text = g_string_new ("x=");
  const gchar *separator = "";

  g_string_append_printf (text, "%s(", klass->name);
  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];

    if (!(param->flags & TFX_PARAM_REQUIRED) &&
        strcmp (param->name, "delay_samples"))
      continue;
    g_string_append_printf (text, "%s%s=", separator, param->name);
    separator = ", ";
    if (param->types == TFX_VALUE_TEXT)
      g_string_append (text, "'" IMPULSE "'");
    else if (param->types & TFX_VALUE_LIST &&
             !(param->types & TFX_VALUE_NUMBER))
      g_string_append (text, param->n_columns > 0 ? "[[2, 0, 0, 2, 0.5, 0]]"
                             : param->flags & TFX_PARAM_ROWS
                                 ? "[[1, 0], [0, 1]]"
                                 : "[1, 2, 3]");
    else if (param->types & TFX_VALUE_NUMBER)
      g_string_append_printf (text, "%g",
          param->minimum < 0.0 ? param->initial.number
                               : MAX (param->initial.number, 1.0));
    else
      g_string_append_printf (text, "'%s'", param->initial.word);
  }
  g_string_append_c (text, ')');
  return g_string_free (text, FALSE);
}

/* The chain is the one that the core makes of the same values. */
static void
expect_expr (GstElement *element, const TfxExpr *expr)
{
  char *text = tfx_expr_print (expr);

  tfx_chains_expect_text (element, text);
  free (text);
}

/* One value after the other; those of the catalogue's bounds must be in the
 * property's range, and no others. */
static void
check_number (GstElement *element, TfxExpr *expr, GObject *child,
    const TfxParam *param, GParamSpec *spec)
{
  gdouble low = param->minimum, high = param->maximum;
  gboolean is_int = G_IS_PARAM_SPEC_INT (spec);
  gdouble values[3];

  fail_unless_equals_int (is_int, !!(param->flags & TFX_PARAM_INTEGER));
  if (param->flags & TFX_PARAM_ABOVE_MINIMUM)
    low = low == 0.0 ? G_MINDOUBLE : nextafter (low, INFINITY);
  if (param->flags & TFX_PARAM_BELOW_MAXIMUM)
    high = nextafter (high, -INFINITY);
  /* A delay is less than the taps of the impulse response. */
  if (param->types & TFX_VALUE_WORD)
    high = 1.0;
  values[0] = MIN (high, 1e300);
  values[1] = low;
  values[2] = CLAMP (2.0, low, high);
  for (guint i = 0; i < 3; i++) {
    if (is_int)
      g_object_set (child, spec->name, (gint)values[i], NULL);
    else
      g_object_set (child, spec->name, values[i], NULL);
    fail_unless_equals_int (tfx_expr_set_number (expr, 0, param->name, 0,
                                values[i], NULL),
        0);
    expect_expr (element, expr);
  }
  if (!(param->types & (TFX_VALUE_NONE | TFX_VALUE_WORD))) {
    gdouble lowest = is_int ? G_PARAM_SPEC_INT (spec)->minimum
                            : G_PARAM_SPEC_DOUBLE (spec)->minimum;

    fail_unless_equals_float (lowest, low);
  }
  if (!is_int)
    fail_unless (G_PARAM_SPEC_DOUBLE (spec)->maximum >= values[0]);
}

static void
check_enum (GstElement *element, TfxExpr *expr, GObject *child,
    const TfxParam *param, GParamSpec *spec)
{
  GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
  guint n_bools = param->types & TFX_VALUE_BOOL ? 2 : 0, n_words = 0;

  while (param->words[n_words].word)
    n_words++;
  fail_unless_equals_int (klass->n_values, n_bools + n_words);
  for (guint i = 0; i < klass->n_values; i++) {
    TfxValue boolean = { .type = TFX_VALUE_BOOL, .number = i };
    gint now, code;

    gst_util_set_object_arg (child, spec->name, klass->values[i].value_nick);
    g_object_get (child, spec->name, &now, NULL);
    fail_unless_equals_int (now, i);
    if (i < n_bools)
      code = tfx_expr_set (expr, 0, param->name, &boolean, NULL);
    else
      code = tfx_expr_set_word (expr, 0, param->name,
          param->words[i - n_bools].word, NULL);
    fail_unless_equals_int (code, 0);
    expect_expr (element, expr);
  }
}

/* Loops over the classes of the catalogue. */
GST_START_TEST (test_class)
{
  const TfxClass *klass = tfx_catalogue_class (__i__);
  gchar *text = write_call (klass);
  gchar *type = g_strconcat ("GstTfxChain", klass->name, NULL);
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), NULL);
  char *canonical = tfx_expr_print (expr);
  GstElement *element = make (canonical);
  GObject *child = tfx_chains_child (element, "x");

  fail_unless_equals_string (G_OBJECT_TYPE_NAME (child), type);
  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    GParamSpec *spec =
        g_object_class_find_property (G_OBJECT_GET_CLASS (child), param->name);

    if (param->flags & TFX_PARAM_STREAM) {
      fail_unless (spec == NULL);
      continue;
    }
    fail_unless (spec != NULL, "%s has no property %s", klass->name,
        param->name);
    fail_unless (spec->flags & GST_PARAM_MUTABLE_PLAYING);
    fail_unless (strlen (g_param_spec_get_blurb (spec)) > 5);
    if (G_IS_PARAM_SPEC_DOUBLE (spec) || G_IS_PARAM_SPEC_INT (spec))
      check_number (element, expr, child, param, spec);
    else if (G_IS_PARAM_SPEC_ENUM (spec))
      check_enum (element, expr, child, param, spec);
    else
      fail_unless (G_IS_PARAM_SPEC_BOOLEAN (spec) ||
                   G_IS_PARAM_SPEC_STRING (spec) ||
                   GST_IS_PARAM_SPEC_ARRAY_LIST (spec));
    if (G_IS_PARAM_SPEC_STRING (spec) || GST_IS_PARAM_SPEC_ARRAY_LIST (spec))
      continue;
    fail_unless (spec->flags & GST_PARAM_CONTROLLABLE);
  }
  tfx_expr_free (&expr);
  free (canonical);
  g_object_unref (child);
  gst_object_unref (element);
  g_free (text);
  g_free (type);
}
GST_END_TEST;

/* ---- lists, None, notes ------------------------------------------------------------------ */

static void
set_list (GObject *child, const gchar *property, const gchar *list)
{
  gst_util_set_object_arg (child, property, list);
}

/* A word beside numbers is the number below them. */
GST_START_TEST (test_delay)
{
  GstElement *element = make ("x=FIR([1, 2, 3], delay='peak')");
  GObject *child = tfx_chains_child (element, "x");
  gint delay;

  g_object_get (child, "delay", &delay, NULL);
  fail_unless_equals_int (delay, -1);
  g_object_set (child, "delay", 1, NULL);
  tfx_chains_expect_text (element, "x=FIR([1, 2, 3], delay=1)");
  g_object_set (child, "delay", -1, NULL);
  tfx_chains_expect_text (element, "x=FIR([1, 2, 3], delay='peak')");
  g_object_unref (child);
  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_lists)
{
  GstElement *element = make ("x=Butterworth('lowpass', 100)");
  GObject *child = tfx_chains_child (element, "x");
  GValue array = G_VALUE_INIT;

  tfx_chains_expect_number (element, "x::cutoff-upper", 0.0);
  g_object_set (child, "cutoff-upper", 300.0, NULL);
  tfx_chains_expect_text (element, "x=Butterworth('lowpass', [100, 300])");
  g_object_set (child, "cutoff", 200.0, NULL);
  tfx_chains_expect_text (element, "x=Butterworth('lowpass', [200, 300])");
  g_object_set (child, "cutoff-upper", 0.0, NULL);
  tfx_chains_expect_text (element, "x=Butterworth('lowpass', 200)");
  set_list (child, "cutoff-list", "<50, 60.0>");
  tfx_chains_expect_text (element, "x=Butterworth('lowpass', [50, 60])");
  tfx_chains_expect_number (element, "x::cutoff", 50.0);
  tfx_chains_expect_number (element, "x::cutoff-upper", 60.0);
  set_list (child, "cutoff-list", "<70.0>");
  tfx_chains_expect_text (element, "x=Butterworth('lowpass', 70)");
  g_object_unref (child);

  g_object_set (element, "chain",
      "x=DesignableFIR([100, 200, 300], 31) | y=FIR([1, 2])", NULL);
  child = tfx_chains_child (element, "x");
  fail_unless (g_object_class_find_property (G_OBJECT_GET_CLASS (child),
                   "cutoff-upper") == NULL);
  g_object_set (child, "cutoff", 150.0, NULL);
  tfx_chains_expect_text (element,
      "x=DesignableFIR([150, 200, 300], num_taps=31) | y=FIR([1, 2])");
  g_object_unref (child);
  child = tfx_chains_child (element, "y");
  set_list (child, "b", "<0.5, 0.25, 0.125>");
  g_value_init (&array, GST_TYPE_ARRAY);
  g_object_get_property (child, "b", &array);
  fail_unless_equals_int (gst_value_array_get_size (&array), 3);
  fail_unless_equals_float (g_value_get_double (
                                gst_value_array_get_value (&array, 2)),
      0.125);
  g_value_unset (&array);
  tfx_chains_expect_text (element,
      "x=DesignableFIR([150, 200, 300], num_taps=31) | y=FIR([0.5, 0.25, "
      "0.125])");
  g_object_unref (child);
  gst_object_unref (element);
}
GST_END_TEST;

GST_START_TEST (test_none)
{
  GstElement *element = make ("x=Delay(bpm=120) | y=DesignableFIR(100, 31)");
  GObject *x = tfx_chains_child (element, "x");
  GObject *y = tfx_chains_child (element, "y");

  tfx_chains_expect_number (element, "x::delay-samples", 0.0);
  tfx_chains_expect_number (element, "x::bpm", 120.0);
  g_object_set (x, "delay-samples", 7, "bpm", 0.0, "delay-time", "1/4d", NULL);
  tfx_chains_expect_number (element, "y::beta", -1.0);
  g_object_set (y, "beta", 0.0, NULL);
  gst_util_set_object_arg (y, "window", "kaiser");
  gst_util_set_object_arg (y, "pass-zero", "false");
  tfx_chains_expect_text (element,
      "x=Delay(delay_samples=7, delay_time='1/4d') | y=DesignableFIR(100, "
      "num_taps=31, pass_zero=False, window=('kaiser', 0))");
  gst_util_set_object_arg (y, "pass-zero", "highpass");
  g_object_set (y, "beta", -1.0, NULL);
  g_object_set (x, "delay-samples", 0, "bpm", 90.0, NULL);
  tfx_chains_expect_text (element,
      "x=Delay(bpm=90, delay_time='1/4d') | y=DesignableFIR(100, "
      "num_taps=31, pass_zero='highpass', window='kaiser')");
  g_object_unref (x);
  g_object_unref (y);
  gst_object_unref (element);
}
GST_END_TEST;

/* What the property's type lets through and the catalogue does not. */
GST_START_TEST (test_refused_values)
{
  static const gchar text[] = "x=Delay(bpm=120) | y=FIR([1])";
  GstElement *element = make (text);
  GstBus *bus = gst_bus_new ();
  GObject *x = tfx_chains_child (element, "x");
  GObject *y = tfx_chains_child (element, "y");

  gst_element_set_bus (element, bus);
  g_object_set (x, "bpm", 0.5, NULL);
  tfx_check_expect_warning (bus, "bpm of stage 'x' (Delay) is 0.5",
      "The previous value stays in use", NULL);
  g_object_set (x, "delay-time", "soon", NULL);
  tfx_check_expect_warning (bus, "delay_time of stage 'x'", "'soon'", NULL);
  g_object_set (x, "delay-time", NULL, NULL);
  tfx_check_expect_warning (bus, "delay_time of stage 'x'", NULL);
  set_list (y, "b", "<>");
  tfx_check_expect_warning (bus, "b of stage 'y'", "0 numbers", NULL);
  tfx_chains_expect_text (element, text);
  tfx_check_expect_no_warning (bus);

  /* And what it does not let through. */
  TFX_CHECK_REFUSED (g_object_set (x, "feedback", 2.0, NULL));
  tfx_chains_expect_text (element, text);
  g_object_unref (x);
  g_object_unref (y);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}
GST_END_TEST;

/* An order that cannot be met is told of like a frequency: the nearest one that
 * can is used, and the asked one comes back. */
GST_START_TEST (test_order)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_chains_harness ("x=LoButterworth(1000)", &info);
  GstBus *bus = tfx_check_bus (h);
  GObject *x = tfx_chains_child (h->element, "x");
  gdouble *in = tfx_check_noise (N, 1), *out;
  gint order;

  g_object_set (x, "order", 70, NULL);
  out = tfx_check_filter (h, &info, in, N, N);
  g_free (out);
  tfx_check_expect_warning (bus, "x::order=70", "must be from 1 to 64",
      "using 64", NULL);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 32);
  g_object_get (x, "order", &order, NULL);
  fail_unless_equals_int (order, 70);
  tfx_chains_expect_text (h->element, "x=LoButterworth(1000, order=64)");

  /* Once for each situation. */
  out = tfx_check_filter (h, &info, in, N, N);
  g_free (out);
  tfx_check_expect_no_warning (bus);

  gst_util_set_object_arg (x, "order-scale", "db");
  out = tfx_check_filter (h, &info, in, N, N);
  g_free (out);
  tfx_check_expect_no_warning (bus);
  out = tfx_check_filter (h, &info, in, N, N);
  g_free (out);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 6);
  tfx_chains_expect_text (h->element,
      "x=LoButterworth(1000, order=70, order_scale='db')");

  /* From the first buffer on, too. */
  gst_util_set_object_arg (x, "order-scale", "linear");
  gst_element_set_state (h->element, GST_STATE_NULL);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
  g_free (in);
  g_object_unref (x);
  /* Its messages hold the element. */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* ---- another chain -------------------------------------------------------------------------- */

static void
note_added (GstChildProxy *proxy, GObject *child, const gchar *name,
    GString *log)
{
  GObject *there = gst_child_proxy_get_child_by_name (proxy, name);

  fail_unless (there == child);
  fail_unless_equals_string (GST_OBJECT_NAME (child), name);
  g_object_unref (there);
  g_string_append_printf (log, "+%s ", name);
}

static void
note_removed (GstChildProxy *proxy, GObject *child, const gchar *name,
    GString *log)
{
  fail_unless_equals_string (GST_OBJECT_NAME (child), name);
  g_string_append_printf (log, "-%s ", name);
}

static void
note_property (GObject *child, GParamSpec *pspec, GString *log)
{
  g_string_append_printf (log, "%s::%s ", GST_OBJECT_NAME (child), pspec->name);
}

GST_START_TEST (test_another_chain)
{
  GstElement *element = make ("a=Gain(1) | b=Notch(50, 1) | LoButterworth(9)");
  GstChildProxy *proxy = GST_CHILD_PROXY (element);
  GObject *a = tfx_chains_child (element, "a");
  GObject *b = tfx_chains_child (element, "b"), *now;
  GString *log = g_string_new (NULL);
  gdouble cutoff;

  g_signal_connect (proxy, "child-added", G_CALLBACK (note_added), log);
  g_signal_connect (proxy, "child-removed", G_CALLBACK (note_removed), log);
  g_signal_connect (a, "notify", G_CALLBACK (note_property), log);

  /* Its name and class make a child the same, wherever it stands. */
  g_object_set (element, "chain", "c=Gain(3) | LoButterworth(9) | a=Gain(2)",
      NULL);
  fail_unless_equals_string (log->str, "-b +c a::gain ");
  now = tfx_chains_child (element, "a");
  fail_unless (now == a);
  g_object_unref (now);
  tfx_chains_expect_number (element, "a::gain", 2.0);

  /* A stage that is gone keeps its values and takes no others. */
  fail_unless (GST_OBJECT_PARENT (b) == NULL);
  g_object_get (b, "cutoff", &cutoff, NULL);
  fail_unless_equals_float (cutoff, 50.0);
  g_object_set (b, "cutoff", 70.0, NULL);
  g_object_get (b, "cutoff", &cutoff, NULL);
  fail_unless_equals_float (cutoff, 50.0);

  /* Another class is another child. */
  g_string_truncate (log, 0);
  g_object_set (element, "chain", "a=Notch(1, 1)", NULL);
  fail_unless_equals_string (log->str, "-c -lobutterworth0 -a +a ");
  now = tfx_chains_child (element, "a");
  fail_unless (now != a);
  g_object_unref (now);

  /* The same again: nothing. */
  g_string_truncate (log, 0);
  g_object_set (element, "chain", "a=Notch(1, 1)", NULL);
  fail_unless_equals_string (log->str, "");
  g_object_set (element, "chain", "", NULL);
  fail_unless_equals_string (log->str, "-a ");
  fail_unless_equals_int (gst_child_proxy_get_children_count (proxy), 0);

  g_object_unref (a);
  g_object_unref (b);
  gst_object_unref (element);
  g_string_free (log, TRUE);
}
GST_END_TEST;

/* A handler may set the chain. */
static void
set_again (GstChildProxy *proxy, GObject *child, const gchar *name,
    gpointer unused)
{
  if (!strcmp (name, "a"))
    g_object_set (proxy, "chain", "b=Gain(2) | c=Gain(4)", NULL);
}

GST_START_TEST (test_set_in_handler)
{
  GstElement *element = make ("");

  g_signal_connect (element, "child-added", G_CALLBACK (set_again), NULL);
  g_object_set (element, "chain", "a=Gain(1) | c=Gain(3)", NULL);
  tfx_chains_expect_text (element, "b=Gain(2) | c=Gain(4)");
  tfx_chains_expect_number (element, "c::gain", 4.0);
  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (element)),
      2);
  gst_object_unref (element);
}
GST_END_TEST;

/* Nobody holds on to what is gone. */
GST_START_TEST (test_references)
{
  GstElement *element = make ("a=Gain(1) | b=Gain(2)");
  GObject *a = tfx_chains_child (element, "a"), *b;
  gpointer weak = NULL;

  /* The chain's list and the parent. */
  ASSERT_OBJECT_REFCOUNT (a, "a", 3);
  b = tfx_chains_child (element, "b");
  g_object_add_weak_pointer (b, &weak);
  weak = b;
  g_object_unref (b);
  g_object_set (element, "chain", "a=Gain(3)", NULL);
  fail_unless (weak == NULL);
  ASSERT_OBJECT_REFCOUNT (element, "element", 1);

  gst_object_unref (element);
  ASSERT_OBJECT_REFCOUNT (a, "a", 1);
  {
    gdouble gain;

    g_object_get (a, "gain", &gain, NULL);
    fail_unless_equals_float (gain, 3.0);
  }
  g_object_unref (a);
}
GST_END_TEST;

/* ---- launch lines ----------------------------------------------------------------------------- */

/* GStreamer 1.22 keeps a reference to each child that a launch line sets, of any
 * element; here it is given back. */
static void
give_back (GstElement *element, const gchar *name)
{
  GObject *child = tfx_chains_child (element, name);

  /* The chain's, the parent's and ours. */
  if (child->ref_count > 3)
    g_object_unref (child);
  ASSERT_OBJECT_REFCOUNT (child, name, 3);
  g_object_unref (child);
}

GST_START_TEST (test_launch)
{
  static const gchar *const lines[] = {
    "tfxchain name=c chain=\"eq=ParametricEQ(1000, 2, 3) | Gain(2)\" "
    "eq::gain=-3 gain0::gain-type=db",
    "tfxchain name=c eq::gain=-3 gain0::gain-type=db "
    "chain=\"eq=ParametricEQ(1000, 2, 3) | Gain(2)\"",
    "audiotestsrc num-buffers=10 ! tfxchain name=c "
    "chain=\"eq=ParametricEQ(1000, 2, 3)|Gain(2)\" eq::gain=-3 "
    "gain0::gain_type=db ! fakesink",
  };
  GError *error = NULL;
  GstElement *top = gst_parse_launch (lines[__i__], &error), *element;

  fail_unless (top && !error, "%s", error ? error->message : "");
  element = GST_IS_BIN (top) ? gst_bin_get_by_name (GST_BIN (top), "c")
                             : gst_object_ref (top);
  tfx_chains_expect_text (element,
      "eq=ParametricEQ(1000, q=2, gain=-3) | Gain(2, gain_type='db')");
  give_back (element, "eq");
  give_back (element, "gain0");
  gst_object_unref (element);
  gst_object_unref (top);
}
GST_END_TEST;

/* ---- locks -------------------------------------------------------------------------- */

static gpointer
push_block (gpointer data)
{
  GstHarness *h = data;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  const gdouble silence[480] = { 0.0 };

  gst_buffer_unref (tfx_check_push (h, tfx_check_buffer (&info, silence, 480)));
  g_atomic_int_set ((gint *)g_object_get_data (G_OBJECT (h->element), "done"),
      TRUE);
  return NULL;
}

/* A buffer passes while another thread holds the element's object lock. */
GST_START_TEST (test_no_object_lock)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GstHarness *h = tfx_chains_harness ("LoButterworth(1000) | Gain(2)", &info);
  gint is_done = FALSE, has_passed;
  GThread *thread;

  g_object_set_data (G_OBJECT (h->element), "done", &is_done);
  for (guint i = 0; i < 5; i++)
    push_block (h);
  g_atomic_int_set (&is_done, FALSE);
  GST_OBJECT_LOCK (h->element);
  thread = g_thread_new ("push", push_block, h);
  for (guint i = 0; i < 2000 && !g_atomic_int_get (&is_done); i++)
    g_usleep (1000);
  has_passed = g_atomic_int_get (&is_done);
  GST_OBJECT_UNLOCK (h->element);
  g_thread_join (thread);
  fail_unless (has_passed, "the buffer waited for the object lock");
  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
chain_children_suite (void)
{
  Suite *s = suite_create ("chain-children");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_names);
  tcase_add_loop_test (tc, test_class, 0, (int)tfx_catalogue_n_classes ());
  tcase_add_test (tc, test_delay);
  tcase_add_test (tc, test_lists);
  tcase_add_test (tc, test_none);
  tcase_add_test (tc, test_refused_values);
  tcase_add_test (tc, test_order);
  tcase_add_test (tc, test_another_chain);
  tcase_add_test (tc, test_set_in_handler);
  tcase_add_test (tc, test_references);
  tcase_add_loop_test (tc, test_launch, 0, 3);
  tcase_add_test (tc, test_no_object_lock);
  return s;
}

int
main (int argc, char **argv)
{
  int status;

  if (!g_file_set_contents (IMPULSE, "1\n0.5\n", -1, NULL))
    return 1;
  status = tfx_check_main (argc, argv, chain_children_suite ());
  g_unlink (IMPULSE);
  return status;
}
