/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_chain_changes.c: a tfxchain that changes while samples flow: its
 * parameters, its text, by controllers, from other threads.
 */
#include <dlfcn.h>
#include <gst/controller/controller.h>
#include <math.h>
#include <string.h>

#include "chains.h"

#define RATE 48000
#define N 480

/* The largest step from one sample to the next. */
static gdouble
largest_step (const gdouble *x, gsize n)
{
  gdouble largest = 0.0;

  for (gsize i = 1; i < n; i++)
    largest = MAX (largest, fabs (x[i] - x[i - 1]));
  return largest;
}

/* ---- as the core does it -------------------------------------------------------- */

/* What happens between two buffers: a text, or a parameter of a stage. */
typedef struct
{
  const gchar *text;
  const gchar *stage, *param;
  gdouble number;
} Event;

static const struct
{
  const gchar *text;
  Event events[6];
} stories[] = {
  /* values in place */
  { "eq=ParametricEQ(1000, 2, 3) | LoButterworth(90)",
      { { NULL, "eq", "gain", -6.0 },
          { NULL, "lobutterworth0", "cutoff", 50.0 }, { NULL, "eq", "q", 0.5 },
          { NULL, "eq", "gain", 0.0 }, { NULL, "eq", "gain", 2.0 } } },
  { "(g=Gain(1) + d=Delay(delay_samples=100)) | f=FIR([1, 0.5])",
      { { NULL, "g", "gain", -2.0 }, { NULL, "d", "mix", 0.9 },
          { NULL, "d", "delay_samples", 200.0 }, { NULL, "d", "taps", 5.0 },
          { NULL, "f", "b", 0.5 } } },
  /* another structure */
  { "x=Butterworth('lowpass', 100)",
      { { NULL, "x", "order", 6.0 }, { NULL, "x", "cutoff", 200.0 },
          { NULL, "x", "order", 5.0 } } },
  /* stages put in, taken out, moved */
  { "a=LoButterworth(40) | b=Notch(50, 1)",
      { { "Gain(2) | a=LoButterworth(40) | b=Notch(50, 1)" },
          { "a=LoButterworth(60) | Gain(1.5) | b=Notch(60, 1)" },
          { "b=Notch(60, 1) | a=LoButterworth(60)" }, { "b=Notch(60, 1)" },
          { "" }, { "b=Notch(60, 1) | LoButterworth(60)" } } },
  { "LoButterworth(40) | Notch(50, 1) | Delay(delay_samples=300)",
      { { "LoButterworth(41) | Notch(51, 1) | Delay(delay_samples=300)" },
          { "LoButterworth(41) | (Notch(51, 1) + Gain(0.5)) | "
            "Delay(delay_samples=300)" },
          { "LoButterworth(41) | Delay(delay_samples=300)" },
          { "LoButterworth(41, order=2) | Delay(delay_samples=301)" } } },
};

/* To the bit what the executor does, when plans change between blocks. */
GST_START_TEST (test_story)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  const gchar *text = stories[__i__].text;
  const gsize n = 5 * N;
  g_autoptr (TfxHarness) h = tfx_chains_harness (text, &info);
  TfxCore *core = tfx_chains_core_new (text, &info, N);

  for (guint i = 0; i < 7; i++) {
    gdouble *in = tfx_check_noise (n * 2, i), *out, *expected;

    out = tfx_check_filter (h, &info, in, n, N);
    expected = tfx_chains_core_run (core, in, n);
    fail_unless_equals_float (tfx_check_distance (out, expected, n * 2), 0.0);
    g_free (in);
    g_free (out);
    g_free (expected);

    if (i < 6 && stories[__i__].events[i].text) {
      text = stories[__i__].events[i].text;
      g_object_set (h->element, "chain", text, NULL);
      tfx_chains_core_set_text (core, text);
    } else if (i < 6 && stories[__i__].events[i].stage) {
      const Event *e = &stories[__i__].events[i];
      GObject *child = tfx_chains_child (h->element, e->stage);

      if (!strcmp (e->param, "b"))
        gst_util_set_object_arg (child, "b", "<0.5,0.5>");
      else if (g_object_class_find_property (G_OBJECT_GET_CLASS (child),
                   e->param)
                   ->value_type == G_TYPE_INT)
        g_object_set (child, e->param, (gint)e->number, NULL);
      else
        g_object_set (child, e->param, e->number, NULL);
      g_object_unref (child);
      tfx_chains_core_set (core, e->stage, e->param, e->number);
    }
  }
  tfx_chains_core_free (core);
}
GST_END_TEST;

/* ---- what a listener notices ---------------------------------------------------------- */

/* A filter that rings goes on ringing, when its chain gets other stages around
 * it and when its own values move a little. */
GST_START_TEST (test_rings_on)
{
  static const gchar *const texts[] = { NULL, "low=LoButterworth(10.01)",
    "Gain(1) | low=LoButterworth(10) | Notch(20000, 1)",
    "(low=LoButterworth(10) | AllPass(20000, 1))" };
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) still =
      tfx_chains_harness ("low=LoButterworth(10)", &info);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("low=LoButterworth(10)", &info);
  g_autofree gdouble *silence = g_new0 (gdouble, 4000), *out = NULL,
                     *expected = NULL;

  g_free (tfx_chains_impulse (still, &info, 1000));
  g_free (tfx_chains_impulse (h, &info, 1000));
  if (texts[__i__])
    g_object_set (h->element, "chain", texts[__i__], NULL);
  else
    gst_child_proxy_set (GST_CHILD_PROXY (h->element), "low::cutoff", 10.01,
        NULL);
  expected = tfx_check_filter (still, &info, silence, 4000, N);
  out = tfx_check_filter (h, &info, silence, 4000, N);
  /* Nothing comes in and much comes out, nearly the same. */
  fail_unless (tfx_check_rms (expected, 4000, 1) > 2e-4);
  fail_unless (tfx_check_distance (expected, out, 4000) < 1e-5);
}
GST_END_TEST;

static const gchar *const steady_texts[] = {
  "a=LoButterworth(1000) | b=ParametricEQ(3000, 2, 6)",
  "a=LoButterworth(200) | b=ParametricEQ(9000, 1, -6)",
  "b=ParametricEQ(9000, 1, -6) | a=LoButterworth(200)",
  "a=LoButterworth(200, order=9)",
  "",
  "LoChebyshev1(1000, order=5)",
  "LoChebyshev1(1000, order=5) | (Gain(0.5) + Gain(0.5))",
  "Echo(delay=100, decay=0.5, mix=0) | DesignableFIR(1000, 101)",
  "Notch(2000, 1) | Notch(3000, 1) | AllPass(200, 1)",
  "a=LoButterworth(1000) | b=ParametricEQ(3000, 2, 6)",
};

/* A constant that passes before and after must not notice. */
GST_START_TEST (test_steady)
{
  const gsize n = RATE / 2;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness (steady_texts[0], &info);
  g_autofree gdouble *in = tfx_check_constant (n, 1.0);
  gdouble last = 1.0;

  g_free (tfx_check_filter (h, &info, in, n, N));
  for (guint i = 1; i < G_N_ELEMENTS (steady_texts); i++) {
    g_autofree gdouble *out = NULL;

    g_object_set (h->element, "chain", steady_texts[i], NULL);
    out = tfx_check_filter (h, &info, in, n, N);
    fail_unless (largest_step (out, n) < 0.01, "'%s' steps by %g",
        steady_texts[i], largest_step (out, n));
    fail_unless (fabs (out[0] - last) < 0.01, "'%s' starts at %g",
        steady_texts[i], out[0]);
    fail_unless (fabs (out[n - 1] - 1.0) < 1e-6, "'%s' ends at %.9g",
        steady_texts[i], out[n - 1]);
    last = out[n - 1];
  }
}
GST_END_TEST;

/* ---- a thousand changes ------------------------------------------------------------- */

typedef struct
{
  GstElement *element;
  gint stop; /* atomic */
  guint n_sets, seed;
} Setter;

static const gchar *const some_texts[] = {
  "a=LoButterworth(1000) | b=ParametricEQ(3000, 2, 6) | c=Gain(1)",
  "b=ParametricEQ(3000, 2, 6) | a=LoButterworth(1000)",
  "b=ParametricEQ(3000, 2, 6) | (c=Gain(1) + d=Delay(delay_samples=1000))",
  "a=Notch(100, 1) | FIR([1, 2, 3])",
  "a=LoButterworth(1000, ordr=3)",
  "a=LoButterworth(30000) | a2=LogFilterBank(5) | e=DesignableFIR(100, 201)",
  "",
};

static gpointer
set_all_the_time (gpointer data)
{
  Setter *s = data;
  GstChildProxy *proxy = GST_CHILD_PROXY (s->element);
  GRand *rand = g_rand_new_with_seed (s->seed);

  while (!g_atomic_int_get (&s->stop) || s->n_sets < 1000) {
    GObject *child = NULL;
    gchar *text;

    switch (s->n_sets % 5) {
      case 0:
        g_object_set (s->element, "chain",
            some_texts[g_rand_int_range (rand, 0, G_N_ELEMENTS (some_texts))],
            NULL);
        break;
      case 1:
        g_object_get (s->element, "chain", &text, NULL);
        g_free (text);
        break;
      default:
        child = gst_child_proxy_get_child_by_index (proxy,
            g_rand_int_range (rand, 0, 3));
    }
    if (child) {
      const gchar *type = G_OBJECT_TYPE_NAME (child);

      if (!strcmp (type, "GstTfxChainParametricEQ"))
        g_object_set (child, "gain", g_rand_double_range (rand, -20, 20),
            "frequency", g_rand_double_range (rand, 1, 30000), NULL);
      else if (!strcmp (type, "GstTfxChainLoButterworth"))
        g_object_set (child, "order", g_rand_int_range (rand, 1, 70), "cutoff",
            g_rand_double_range (rand, 1, 30000), NULL);
      else if (!strcmp (type, "GstTfxChainGain"))
        g_object_set (child, "gain", g_rand_double_range (rand, -2, 2), NULL);
      g_object_unref (child);
    }
    s->n_sets++;
    if (s->n_sets % 16 == 0)
      g_thread_yield ();
  }
  g_rand_free (rand);
  return NULL;
}

static void
forget_messages (GstBus *bus)
{
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
}

/* From two threads at a time.  Not a sample is lost, no time is changed,
 * nothing explodes. */
GST_START_TEST (test_thousand_changes)
{
  const gint n_ch = 2;
  GstAudioInfo info = tfx_check_f32 (RATE, n_ch);
  g_autoptr (TfxHarness) h = tfx_chains_harness (some_texts[0], &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (N * n_ch, 1);
  gdouble *out;
  g_autofree gdouble *expected = NULL;
  Setter setters[2] = { { h->element, FALSE, 0, 1 },
    { h->element, FALSE, 0, 2 } };
  GThread *threads[2];
  guint64 n_frames = 0;
  gsize n;

  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("setter", set_all_the_time, &setters[i]);
  for (guint i = 0; i < 2000; i++) {
    gsize size = 1 + i % N;
    GstBuffer *buffer =
        tfx_check_push (h, tfx_check_stamped (&info, in, size, n_frames));

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer),
        gst_util_uint64_scale (n_frames, GST_SECOND, RATE));
    fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), n_frames);
    out = tfx_check_samples (buffer, &info, &n);
    fail_unless_equals_uint64 (n, size);
    fail_unless (tfx_check_is_finite (out, n * n_ch));
    n_frames += n;
    g_free (out);
    gst_buffer_unref (buffer);
    forget_messages (bus);
  }
  for (guint i = 0; i < 2; i++) {
    g_atomic_int_set (&setters[i].stop, TRUE);
    g_thread_join (threads[i]);
    fail_unless (setters[i].n_sets >= 1000);
  }
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "frames"), n_frames);
  fail_unless_equals_uint64 (tfx_check_stat (h->element, "buffers"), 2000);

  /* And in the end it is the chain that was asked for last. */
  g_object_set (h->element, "chain", some_texts[0], NULL);
  tfx_check_flush (h);
  out = tfx_check_filter (h, &info, in, N, N);
  expected = tfx_chains_expected (some_texts[0], &info, in, N, N);
  fail_unless_equals_float (tfx_check_distance (out, expected, N * n_ch), 0.0);
  fail_unless_equals_int (gst_child_proxy_get_children_count (
                              GST_CHILD_PROXY (h->element)),
      3);
  g_free (out);
}
GST_END_TEST;

/* ---- controllers ---------------------------------------------------------------------- */

static void
bind_line (GstElement *element, const gchar *stage, const gchar *property,
    gdouble from, gdouble to)
{
  g_autoptr (GstControlSource) source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *line = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  g_autoptr (GObject) child = tfx_chains_child (element, stage);

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  gst_timed_value_control_source_set (line, 0, from);
  gst_timed_value_control_source_set (line, GST_SECOND, to);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (child),
      gst_direct_control_binding_new_absolute (GST_OBJECT (child), property,
          source)));
}

static void
expect_near (GstElement *element, const gchar *property, gdouble number)
{
  gdouble now;

  gst_child_proxy_get (GST_CHILD_PROXY (element), property, &now, NULL);
  /* 32 ns of 4000 Hz in a second */
  fail_unless (fabs (now - number) < 1.28e-4, "%s is %.9g, not %.9g", property,
      now, number);
}

/* The values at the point of the grid that ends a buffer, in stream time. */
GST_START_TEST (test_controller)
{
  static const gchar text[] = "eq=ParametricEQ(1000, 1, 5) | low=LoButterworth "
                              "(5000) | Gain(0.5)";
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness (text, &info);
  g_autofree gdouble *in = tfx_check_noise (50 * N, 1);
  GstSegment segment;

  bind_line (h->element, "eq", "gain", 5.0, 10.0);
  bind_line (h->element, "low", "cutoff", 5000.0, 1000.0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));

  for (guint i = 0; i < 50; i++) {
    gst_buffer_unref (tfx_check_push (h,
        tfx_check_stamped (&info, in + i * N, N, 10 * RATE + i * N)));
    expect_near (h->element, "eq::gain", 5.0 + 0.05 * (i + 1));
    expect_near (h->element, "low::cutoff", 5000.0 - 40.0 * (i + 1));
  }
}
GST_END_TEST;

/* The same where the next element runs the chain. */
GST_START_TEST (test_controller_fused)
{
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (50 * N, 1);
  gdouble *out[2];

  for (guint fuse = 0; fuse < 2; fuse++) {
    g_autofree gchar *line = g_strdup_printf (
        "tfxchain name=c chain=\"eq=ParametricEQ(1000,1,5)|low=LoButterworth"
        "(5000)\" fuse=%u ! tfxbutterworth name=b cutoff=9000 fuse=%u",
        fuse, fuse);
    g_autoptr (TfxHarness) h = tfx_check_harness (line, &info);
    g_autoptr (GstElement) c = gst_bin_get_by_name (GST_BIN (h->element), "c");
    g_autoptr (GstElement) b = gst_bin_get_by_name (GST_BIN (h->element), "b");

    out[fuse] = g_new (gdouble, 50 * N);
    for (guint i = 0; i < 50; i++) {
      g_autoptr (GstBuffer) buffer = NULL;
      g_autofree gdouble *part = NULL;

      /* Later than the row has found itself. */
      if (i == 10)
        bind_line (c, "eq", "gain", 5.0, 15.0);
      buffer =
          tfx_check_push (h, tfx_check_stamped (&info, in + i * N, N, i * N));
      part = tfx_check_samples (buffer, &info, NULL);
      memcpy (out[fuse] + i * N, part, N * sizeof *part);
    }
    expect_near (c, "eq::gain", 5.0 + 0.1 * 50);
    fail_unless_equals_uint64 (tfx_check_stat (c, "dispatches"), fuse ? 0 : 50);
    fail_unless_equals_uint64 (tfx_check_stat (b, "dispatches"), 50);
  }
  fail_unless (tfx_check_rms (out[0], 50 * N, 1) > 0.1);
  fail_unless (tfx_check_distance (out[0], out[1], 50 * N) < 1e-8);
  g_free (out[0]);
  g_free (out[1]);
}
GST_END_TEST;

/* A stage that stays the same child stays under control. */
GST_START_TEST (test_controller_stays)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("eq=ParametricEQ(1000, 1, 5)", &info);
  g_autofree gdouble *in = tfx_check_noise (N, 1);

  bind_line (h->element, "eq", "gain", 0.0, 10.0);
  g_object_set (h->element, "chain", "Notch(50, 1) | eq=ParametricEQ(1, 1, 5)",
      NULL);
  gst_buffer_unref (
      tfx_check_push (h, tfx_check_stamped (&info, in, N, 0.5 * RATE)));
  expect_near (h->element, "eq::gain", 5.1);
  g_object_set (h->element, "chain", "eq=Notch(50, 1)", NULL);
  g_object_set (h->element, "chain", "eq=ParametricEQ(1, 1, 7)", NULL);
  gst_buffer_unref (
      tfx_check_push (h, tfx_check_stamped (&info, in, N, 0.6 * RATE)));
  expect_near (h->element, "eq::gain", 7.0);
}
GST_END_TEST;

/* A controller that leads where nothing can be met, or where values do not fit
 * each other, is told of once. */
GST_START_TEST (test_controller_warns_once)
{
  static const struct
  {
    const gchar *text, *stage, *property;
    gdouble from, to;
    const gchar *told;
  } cases[] = {
    { "x=Notch(1000, 1)", "x", "cutoff", 20000.0, 30000.0, "x::cutoff=24" },
    { "x=LoElliptic(1000, 4, 1, 40)", "x", "stopband-attenuation", 2.0, 0.1,
        "stopband_attenuation of stage 'x'" },
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness (cases[__i__].text, &info);
  g_autoptr (GstBus) bus = tfx_check_bus (h);
  g_autofree gdouble *in = tfx_check_noise (N, 1);

  bind_line (h->element, cases[__i__].stage, cases[__i__].property,
      cases[__i__].from, cases[__i__].to);
  for (guint i = 0; i < 100; i++)
    gst_buffer_unref (
        tfx_check_push (h, tfx_check_stamped (&info, in, N, i * N)));
  tfx_check_expect_warning (bus, cases[__i__].told, NULL);
  tfx_check_expect_no_warning (bus);
}
GST_END_TEST;

/* ---- what takes long to design ----------------------------------------------------------- */

/* The elements' workers begin once the gate is open: what waits for one of them while it is
 * shut waits for ever. */
static GMutex gate_lock;
static GCond gate_moved;
static gboolean gate_is_shut;

typedef struct
{
  GThreadFunc func;
  gpointer data;
} Worker;

static gpointer
run_behind_gate (gpointer data)
{
  Worker worker = *(Worker *)data;

  g_free (data);
  g_mutex_lock (&gate_lock);
  while (gate_is_shut)
    g_cond_wait (&gate_moved, &gate_lock);
  g_mutex_unlock (&gate_lock);
  return worker.func (worker.data);
}

/* In the place of GLib's. */
__attribute__ ((visibility ("default"))) GThread *
g_thread_try_new (const gchar *name, GThreadFunc func, gpointer data,
    GError **error)
{
  static __typeof__ (&g_thread_try_new) real;
  Worker *worker = g_new (Worker, 1);

  if (g_once_init_enter (&real))
    g_once_init_leave (&real,
        (__typeof__ (&g_thread_try_new))dlsym (RTLD_NEXT, "g_thread_try_new"));
  *worker = (Worker){ func, data };
  if (g_strcmp0 (name, "tfx-worker") == 0)
    return real (name, run_behind_gate, worker, error);
  g_free (worker);
  return real (name, func, data, error);
}

static void
set_gate (gboolean is_shut)
{
  g_mutex_lock (&gate_lock);
  gate_is_shut = is_shut;
  g_cond_broadcast (&gate_moved);
  g_mutex_unlock (&gate_lock);
}

#define LONG_TEXT "fir=DesignableFIR(1000, 300001, window=('kaiser', 9))"

/* The old filter goes on while a long kernel is designed, and then the new one
 * takes over; what is set next to the kernel needs no new design. */
GST_START_TEST (test_long_design)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness ("g=Gain(3)", &info);
  gdouble now;
  gint64 begin = 0;

  tfx_chains_push_ones (h, &info);
  set_gate (TRUE);
  g_object_set (h->element, "chain", "g=Gain(3) | " LONG_TEXT, NULL);
  for (guint i = 0; i < 20; i++)
    fail_unless_equals_float (tfx_chains_push_ones (h, &info), 3.0);
  set_gate (FALSE);
  /* A causal kernel of that length lets nothing through for seconds. */
  while ((now = tfx_chains_push_ones (h, &info)) == 3.0)
    fail_unless (tfx_check_wait (&begin), "the kernel never came");
  fail_unless (now < 3.0);
  tfx_chains_push_ones (h, &info);
  fail_unless (fabs (tfx_chains_push_ones (h, &info)) < 1e-3);

  /* The chain without its long kernel comes at once. */
  g_object_set (h->element, "chain", "g=Gain(2)", NULL);
  for (guint i = 0; i < 3; i++)
    now = tfx_chains_push_ones (h, &info);
  fail_unless_equals_float (now, 2.0);
}
GST_END_TEST;

/* Next to a kernel that is designed, the next buffer has the new value. */
GST_START_TEST (test_next_to_long)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_chains_harness ("g=Gain(0) | (Gain(1) + (Gain(0) | " LONG_TEXT "))",
          &info);

  tfx_chains_push_ones (h, &info);
  for (guint i = 1; i < 20; i++) {
    gdouble now;

    gst_child_proxy_set (GST_CHILD_PROXY (h->element), "g::gain", (gdouble)i,
        NULL);
    /* A cross-fade takes one buffer. */
    tfx_chains_push_ones (h, &info);
    now = tfx_chains_push_ones (h, &info);
    fail_unless (fabs (now - i) < 1e-5, "%g, not %u", now, i);
  }
}
GST_END_TEST;

/* A job that is under way when the element stops, or when the chain changes
 * again, is no obstacle. */
GST_START_TEST (test_stop_while_designing)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h = tfx_chains_harness ("g=Gain(3)", &info);

  tfx_chains_push_ones (h, &info);
  g_object_set (h->element, "chain", LONG_TEXT, NULL);
  tfx_chains_push_ones (h, &info);
  g_object_set (h->element, "chain", "Notch(50, 1) | " LONG_TEXT, NULL);
  tfx_chains_push_ones (h, &info);
  if (__i__ == 0)
    tfx_check_flush (h);
  gst_element_set_state (h->element, GST_STATE_NULL);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("chain_changes");

  tcase_add_loop_test (tc, test_story, 0, G_N_ELEMENTS (stories));
  tcase_add_loop_test (tc, test_rings_on, 0, 4);
  tcase_add_test (tc, test_steady);
  tcase_add_test (tc, test_thousand_changes);
  tcase_add_test (tc, test_controller);
  tcase_add_test (tc, test_controller_fused);
  tcase_add_test (tc, test_controller_stays);
  tcase_add_loop_test (tc, test_controller_warns_once, 0, 2);
  tcase_add_test (tc, test_long_design);
  tcase_add_test (tc, test_next_to_long);
  tcase_add_loop_test (tc, test_stop_while_designing, 0, 2);
  return tfx_check_run (argc, argv, tc);
}
