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

/* ---- names ----------------------------------------------------------------------- */

GST_START_TEST (test_names)
{
  static const gchar *const names[] = { "gain1", "gain0", "eq", "parametriceq0",
    "notch0" };
  g_autoptr (GstElement) element =
      tfx_chains_element ("Gain(1) | gain0=Gain(2) | (eq=ParametricEQ(1, 1, "
                          "1) + ParametricEQ(1, 1, 1)) | Notch(1, 1)");
  GstChildProxy *proxy = GST_CHILD_PROXY (element);
  gdouble gain;

  fail_unless_equals_int (gst_child_proxy_get_children_count (proxy), 5);
  for (guint i = 0; i < 5; i++) {
    g_autoptr (GObject) by_index =
        gst_child_proxy_get_child_by_index (proxy, i);
    g_autoptr (GObject) by_name =
        gst_child_proxy_get_child_by_name (proxy, names[i]);
    g_autoptr (GstObject) parent =
        gst_object_get_parent (GST_OBJECT (by_index));

    fail_unless (by_index == by_name, "%s", names[i]);
    fail_unless_equals_string (GST_OBJECT_NAME (by_index), names[i]);
    fail_unless (parent == GST_OBJECT (element));
  }
  fail_unless (gst_child_proxy_get_child_by_index (proxy, 5) == NULL);
  fail_unless (gst_child_proxy_get_child_by_name (proxy, "gain2") == NULL);
  gst_child_proxy_get (proxy, "gain0::gain", &gain, NULL);
  fail_unless_equals_float (gain, 2.0);
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
      g_string_append (text, strcmp (klass->name, "HRIR") == 0
                                 ? "'" GOLDEN_DIR "/head.sofa'"
                                 : "'" IMPULSE "'");
    else if (param->types & TFX_VALUE_LIST &&
             !(param->types & TFX_VALUE_NUMBER))
      g_string_append (text, param->n_columns == 2  ? "[[2, 1]]"
                             : param->n_columns > 0 ? "[[2, 0, 0, 2, 0.5, 0]]"
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
  for (guint i = 0; i < klass->min_chains; i++)
    g_string_append_printf (text, "%sNone", i > 0 || *separator ? ", " : "");
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
  g_autofree gchar *text = write_call (klass);
  g_autofree gchar *type = g_strconcat ("GstTfxChain", klass->name, NULL);
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), NULL);
  char *canonical = tfx_expr_print (expr);
  g_autoptr (GstElement) element = NULL;
  g_autoptr (GObject) child = NULL;

#ifndef HAVE_MYSOFA
  if (strcmp (klass->name, "HRIR") == 0)
    return;
#endif
  element = tfx_chains_element (canonical);
  child = tfx_chains_child (element, "x");
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
}
GST_END_TEST;

/* ---- lists, None, notes ------------------------------------------------------------------ */

/* A chain, or what is set in the one before; what the property then is, and the chain. */
static const struct
{
  const gchar *chain, *child, *property, *value, *told, *text;
} steps[] = {
  /* A word beside numbers is the number below them. */
  { "x=FIR([1, 2, 3], delay='peak')", "x", "delay", NULL, "-1" },
  { NULL, "x", "delay", "1", "1", "x=FIR([1, 2, 3], delay=1)" },
  { NULL, "x", "delay", "-1", "-1", "x=FIR([1, 2, 3], delay='peak')" },
  /* lists */
  { "x=Butterworth('lowpass', 100)", "x", "cutoff-upper", NULL, "0" },
  { NULL, "x", "cutoff-upper", "300", "300",
      "x=Butterworth('lowpass', [100, 300])" },
  { NULL, "x", "cutoff", "200", "200", "x=Butterworth('lowpass', [200, 300])" },
  { NULL, "x", "cutoff-upper", "0", "0", "x=Butterworth('lowpass', 200)" },
  { NULL, "x", "cutoff-list", "<50, 60.0>", "< (double)50, (double)60 >",
      "x=Butterworth('lowpass', [50, 60])" },
  { NULL, "x", "cutoff", NULL, "50" },
  { NULL, "x", "cutoff-upper", NULL, "60" },
  { NULL, "x", "cutoff-list", "<70.0>", "< (double)70 >",
      "x=Butterworth('lowpass', 70)" },
  { "x=DesignableFIR([100, 200, 300], 31) | y=FIR([1, 2])", "x", "cutoff",
      "150", "150",
      "x=DesignableFIR([150, 200, 300], num_taps=31) | y=FIR([1, 2])" },
  { NULL, "y", "b", "<0.5, 0.25, 0.125>",
      "< (double)0.5, (double)0.25, (double)0.125 >",
      "x=DesignableFIR([150, 200, 300], num_taps=31) | y=FIR([0.5, 0.25, "
      "0.125])" },
  { "x=Curve([[100, 1]])", "x", "points", "<200, 3.0, 400, -1.5>",
      "< (double)200, (double)3, (double)400, (double)-1.5 >",
      "x=Curve([[200, 3], [400, -1.5]])" },
  { NULL, "x", "phase", "minimum", "minimum",
      "x=Curve([[200, 3], [400, -1.5]], phase='minimum')" },
  { NULL, "x", "taps", "31", "31",
      "x=Curve([[200, 3], [400, -1.5]], phase='minimum', taps=31)" },
  { "x=Denoise()", "x", "profile", "<100, -60.5>",
      "< (double)100, (double)-60.5 >", "x=Denoise(profile=[[100, -60.5]])" },
  { NULL, "x", "reduction", "9", "9",
      "x=Denoise(reduction=9, profile=[[100, -60.5]])" },
  { "x=Multiband([200, 900], y=Gain(2), None, None)", "x", "crossovers-list",
      "<300, 1000.5>", "< (double)300, (double)1000.5 >",
      "x=Multiband([300, 1000.5], y=Gain(2), None, None)" },
  { NULL, "x", "crossovers", "400", "400",
      "x=Multiband([400, 1000.5], y=Gain(2), None, None)" },
  { NULL, "x", "order", "2", "2",
      "x=Multiband([400, 1000.5], y=Gain(2), None, None, order=2)" },
  { NULL, "y", "gain", "3", "3",
      "x=Multiband([400, 1000.5], y=Gain(3), None, None, order=2)" },
  { "x=Gate(key_filter=y=Notch(50, 1))", "x", "key", "<1>", "< (double)1 >",
      "x=Gate(key=[1], key_filter=y=Notch(50, q=1))" },
  { NULL, "y", "cutoff", "60", "60",
      "x=Gate(key=[1], key_filter=y=Notch(60, q=1))" },
  { NULL, "x", "threshold", "-9", "-9",
      "x=Gate(threshold=-9, key=[1], key_filter=y=Notch(60, q=1))" },
  { "x=LinearPhase(y=Notch(50, 1), taps=31)", "x", "taps", "33", "33",
      "x=LinearPhase(y=Notch(50, q=1), taps=33)" },
  { NULL, "y", "cutoff", "60", "60",
      "x=LinearPhase(y=Notch(60, q=1), taps=33)" },
  { "x=Curve([[200, 3], [400, -1.5]], phase='minimum', taps=31)", "x", "taps",
      NULL, "31" },
  /* None */
  { NULL, "x", "taps", "0", "0",
      "x=Curve([[200, 3], [400, -1.5]], phase='minimum')" },
  { "x=Delay(bpm=120) | y=DesignableFIR(100, 31)", "x", "delay-samples", NULL,
      "0" },
  { NULL, "x", "bpm", NULL, "120" },
  { NULL, "x", "delay-samples", "7", "7" },
  { NULL, "x", "bpm", "0", "0" },
  { NULL, "x", "delay-time", "1/4d", "1/4d" },
  { NULL, "y", "beta", NULL, "-1" },
  { NULL, "y", "beta", "0", "0" },
  { NULL, "y", "window", "kaiser", "kaiser" },
  { NULL, "y", "pass-zero", "false", "false",
      "x=Delay(delay_samples=7, delay_time='1/4d') | y=DesignableFIR(100, "
      "num_taps=31, pass_zero=False, window=('kaiser', 0))" },
  { NULL, "y", "pass-zero", "highpass", "highpass" },
  { NULL, "y", "beta", "-1", "-1" },
  { NULL, "x", "delay-samples", "0", "0" },
  { NULL, "x", "bpm", "90", "90",
      "x=Delay(bpm=90, delay_time='1/4d') | y=DesignableFIR(100, num_taps=31, "
      "pass_zero='highpass', window='kaiser')" },
};

GST_START_TEST (test_values)
{
  g_autoptr (GstElement) element = tfx_chains_element ("");

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autoptr (GObject) child = NULL;

    if (steps[i].chain)
      g_object_set (element, "chain", steps[i].chain, NULL);
    child = tfx_chains_child (element, steps[i].child);
    if (steps[i].value)
      gst_util_set_object_arg (child, steps[i].property, steps[i].value);
    tfx_check_expect_property (child, steps[i].property, steps[i].told);
    if (steps[i].text)
      tfx_chains_expect_text (element, steps[i].text);
  }
}
GST_END_TEST;

/* A list of more than two has no upper one. */
GST_START_TEST (test_long_list)
{
  g_autoptr (GstElement) element =
      tfx_chains_element ("x=DesignableFIR([100, 200, 300], 31)");
  g_autoptr (GObject) child = tfx_chains_child (element, "x");

  fail_unless (g_object_class_find_property (G_OBJECT_GET_CLASS (child),
                   "cutoff-upper") == NULL);
}
GST_END_TEST;

/* What the property's type lets through and the catalogue does not. */
GST_START_TEST (test_refused_values)
{
  static const gchar text[] = "x=Delay(bpm=120) | y=FIR([1])";
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (TfxElement) element = tfx_chains_element (text);
  g_autoptr (GObject) x = tfx_chains_child (element, "x");
  g_autoptr (GObject) y = tfx_chains_child (element, "y");

  gst_element_set_bus (element, bus);
  g_object_set (x, "bpm", 0.5, NULL);
  tfx_check_expect_warning (bus, "bpm of stage 'x' (Delay) is 0.5",
      "The previous value stays in use", NULL);
  g_object_set (x, "delay-time", "soon", NULL);
  tfx_check_expect_warning (bus, "delay_time of stage 'x'", "'soon'", NULL);
  g_object_set (x, "delay-time", NULL, NULL);
  tfx_check_expect_warning (bus, "delay_time of stage 'x'", NULL);
  gst_util_set_object_arg (y, "b", "<>");
  tfx_check_expect_warning (bus, "b of stage 'y'", "0 numbers", NULL);
  tfx_chains_expect_text (element, text);
  tfx_check_expect_no_warning (bus);

  /* And what it does not let through. */
  TFX_CHECK_REFUSED (g_object_set (x, "feedback", 2.0, NULL));
  tfx_chains_expect_text (element, text);
}
GST_END_TEST;

/* An order that cannot be met is told of like a frequency: the nearest one that
 * can is used, and the asked one comes back. */
GST_START_TEST (test_order)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("x=LoButterworth(1000)", &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autoptr (GObject) x = tfx_chains_child (h->element, "x");
  g_autofree gdouble *in = tfx_check_noise (N, 1);

  g_object_set (x, "order", 70, NULL);
  g_free (tfx_check_filter (h, &info, in, N, N));
  tfx_check_expect_warning (bus, "x::order=70", "must be from 1 to 64",
      "using 64", NULL);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 32);
  tfx_check_expect_property (x, "order", "70");
  tfx_chains_expect_text (h->element, "x=LoButterworth(1000, order=64)");

  /* Once for each situation. */
  g_free (tfx_check_filter (h, &info, in, N, N));
  tfx_check_expect_no_warning (bus);

  gst_util_set_object_arg (x, "order-scale", "db");
  g_free (tfx_check_filter (h, &info, in, N, N));
  tfx_check_expect_no_warning (bus);
  g_free (tfx_check_filter (h, &info, in, N, N));
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "sections"), 6);
  tfx_chains_expect_text (h->element,
      "x=LoButterworth(1000, order=70, order_scale='db')");

  /* From the first buffer on, too. */
  gst_util_set_object_arg (x, "order-scale", "linear");
  gst_element_set_state (h->element, GST_STATE_NULL);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
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

static void
expect_child (GstElement *element, const GObject *child, gboolean is_there)
{
  g_autoptr (GObject) now = tfx_chains_child (element, "a");

  fail_unless ((now == child) == is_there);
}

GST_START_TEST (test_another_chain)
{
  static const struct
  {
    const gchar *chain, *log;
    gboolean keeps_a;
  } chains[] = {
    /* Its name and class make a child the same, wherever it stands. */
    { "c=Gain(3) | LoButterworth(9) | a=Gain(2)", "-b +c a::gain ", TRUE },
    /* Another class is another child. */
    { "a=Notch(1, 1)", "-c -lobutterworth0 -a +a ", FALSE },
    /* The same again: nothing. */
    { "a=Notch(1, 1)", "", FALSE },
    { "", "-a " },
  };
  g_autoptr (GstElement) element =
      tfx_chains_element ("a=Gain(1) | b=Notch(50, 1) | LoButterworth(9)");
  GstChildProxy *proxy = GST_CHILD_PROXY (element);
  g_autoptr (GObject) a = tfx_chains_child (element, "a");
  g_autoptr (GObject) b = tfx_chains_child (element, "b");
  g_autoptr (GString) log = g_string_new (NULL);

  g_signal_connect (proxy, "child-added", G_CALLBACK (note_added), log);
  g_signal_connect (proxy, "child-removed", G_CALLBACK (note_removed), log);
  g_signal_connect (a, "notify", G_CALLBACK (note_property), log);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    g_string_truncate (log, 0);
    g_object_set (element, "chain", chains[i].chain, NULL);
    fail_unless_equals_string (log->str, chains[i].log);
    if (*chains[i].chain)
      expect_child (element, a, chains[i].keeps_a);
    if (i > 0)
      continue;
    tfx_chains_expect_number (element, "a::gain", 2.0);
    /* A stage that is gone keeps its values and takes no others. */
    fail_unless (GST_OBJECT_PARENT (b) == NULL);
    tfx_check_expect_property (b, "cutoff", "50");
    g_object_set (b, "cutoff", 70.0, NULL);
    tfx_check_expect_property (b, "cutoff", "50");
  }
  fail_unless_equals_int (gst_child_proxy_get_children_count (proxy), 0);
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
  g_autoptr (GstElement) element = tfx_chains_element ("");

  g_signal_connect (element, "child-added", G_CALLBACK (set_again), NULL);
  g_object_set (element, "chain", "a=Gain(1) | c=Gain(3)", NULL);
  tfx_chains_expect_text (element, "b=Gain(2) | c=Gain(4)");
  tfx_chains_expect_number (element, "c::gain", 4.0);
  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (element)),
      2);
}
GST_END_TEST;

/* Nobody holds on to what is gone. */
GST_START_TEST (test_references)
{
  GstElement *element = tfx_chains_element ("a=Gain(1) | b=Gain(2)");
  g_autoptr (GObject) a = tfx_chains_child (element, "a");
  GObject *b;
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
  tfx_check_expect_property (a, "gain", "3");
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
  g_autoptr (GstElement) top = gst_parse_launch (lines[__i__], &error),
                         element = NULL;

  fail_unless (top && !error, "%s", error ? error->message : "");
  element = GST_IS_BIN (top) ? gst_bin_get_by_name (GST_BIN (top), "c")
                             : gst_object_ref (top);
  tfx_chains_expect_text (element,
      "eq=ParametricEQ(1000, q=2, gain=-3) | Gain(2, gain_type='db')");
  give_back (element, "eq");
  give_back (element, "gain0");
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
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("LoButterworth(1000) | Gain(2)", &info);
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
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_children");

  g_free (tfx_check_write (IMPULSE, "1\n0.5\n"));
  if (g_chdir (tfx_check_folder ()) != 0)
    return 1;
  tcase_add_test (tc, test_names);
  tcase_add_loop_test (tc, test_class, 0, (int)tfx_catalogue_n_classes ());
  tcase_add_test (tc, test_values);
  tcase_add_test (tc, test_long_list);
  tcase_add_test (tc, test_refused_values);
  tcase_add_test (tc, test_order);
  tcase_add_test (tc, test_another_chain);
  tcase_add_test (tc, test_set_in_handler);
  tcase_add_test (tc, test_references);
  tcase_add_loop_test (tc, test_launch, 0, 3);
  tcase_add_test (tc, test_no_object_lock);
  return tfx_check_run (argc, argv, tc);
}
