/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion_changes.c: random rows whose settings and chains change in
 * mid-stream, fused and unfused: the same frames at the same times, and the same
 * samples to rounding.
 */
#include <string.h>

#include "firs.h"
#include "rows.h"

#define N_ROWS 60

/* ---- rows ------------------------------------------------------------------- */

static const gchar *const texts[] = {
  "",
  "Gain(0.8)",
  "Gain(0.8) | Gain(1.1)",
  "eq=ParametricEQ(900, q=2, gain=4)",
  "eq=ParametricEQ(900, q=2, gain=4) | Gain(0.7)",
  ("HiShelving(3000, q=0.7, gain=-3, gain_scale='db') | "
   "eq=ParametricEQ(500, q=3, gain=-6)"),
  "(LoButterworth(900, order=3) + Gain(0.3))",
  "Delay(delay_samples=300, feedback=0.4, taps=2)",
  "d=Delay(delay_samples=30, feedback=0.4, taps=1) | Notch(400, 3)",
  "FIR([1, 0.5, -0.25])",
  "FIR([1, -0.5, 0, 0, 0.25]) | AllPass(700, q=1) | Gain(0.9)",
};

static gchar *
draw_row (GRand *rand, gint rate, gboolean with_firs)
{
  const guint n = g_rand_int_range (rand, 2, 7);
  GString *line = g_string_new (NULL);

  for (guint i = 0; i < n; i++) {
    g_string_append (line, i ? " ! " : "");
    switch (g_rand_int_range (rand, with_firs ? 0 : 1, 4)) {
      case 0:
        g_string_append_printf (line, "tfxfir taps=%d align=%s method=%s",
            1 + 2 * g_rand_int_range (rand, 0, 100),
            g_rand_boolean (rand) ? "true" : "false",
            g_rand_int_range (rand, 0, 3) ? "direct" : "fft");
        g_string_append_printf (line, " cutoff=%.1f",
            tfx_rows_draw (rand, rate / 12.0, rate / 2.2));
        break;
      case 1:
        g_string_append_printf (line, "tfxbutterworth cutoff=%.1f order=%d",
            tfx_rows_draw (rand, rate / 12.0, rate / 2.2),
            g_rand_int_range (rand, 1, 9));
        break;
      case 2:
        g_string_append_printf (line, "tfxchebyshev cutoff=%.1f order=%d",
            tfx_rows_draw (rand, rate / 12.0, rate / 2.2),
            g_rand_int_range (rand, 1, 7));
        break;
      default:
        /* No FIR but where there may be one. */
        g_string_append_printf (line, "tfxchain chain=\"%s\"",
            texts[g_rand_int_range (rand, 0, G_N_ELEMENTS (texts) - 2)]);
        break;
    }
  }
  return g_string_free (line, FALSE);
}

/* ---- changes ------------------------------------------------------------------ */

static gboolean may_have_firs;

static void
change_band (GstElement *element, GRand *rand, gint rate)
{
  gdouble low = tfx_rows_draw (rand, rate / 2000.0, rate / 8.0);

  switch (g_rand_int_range (rand, 0, 4)) {
    case 0:
      g_object_set (element, "mode", g_rand_int_range (rand, 0, 4), NULL);
      break;
    case 1:
      g_object_set (element, "lower-frequency", low, "upper-frequency",
          low * 2.5, NULL);
      break;
    default:
      g_object_set (element, "cutoff",
          tfx_rows_draw (rand, rate / 500.0, rate / 2.2), NULL);
      break;
  }
}

static void
change_fir (GstElement *element, GRand *rand, gint rate)
{
  gdouble *taps;
  guint n;

  switch (g_rand_int_range (rand, 0, 5)) {
    case 0:
      /* Odd, for all modes. */
      g_object_set (element, "taps", 1 + 2 * g_rand_int_range (rand, 1, 150),
          NULL);
      break;
    case 1:
      g_object_set (element, "window", g_rand_int_range (rand, 0, 9), NULL);
      break;
    case 2:
      n = g_rand_int_range (rand, 1, 300);
      taps = tfx_firs_room (n, n);
      tfx_firs_set_kernel (element, taps, n);
      g_free (taps);
      break;
    case 3:
      tfx_firs_set_kernel (element, NULL, 0);
      break;
    default:
      change_band (element, rand, rate);
      break;
  }
}

static void
change_chain (GstElement *element, GRand *rand)
{
  GObject *stage;

  if (g_rand_boolean (rand)) {
    g_object_set (element, "chain",
        texts[g_rand_int_range (rand, 0,
            G_N_ELEMENTS (texts) - (may_have_firs ? 0 : 2))],
        NULL);
    return;
  }
  stage = gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (element), "eq");
  if (stage)
    g_object_set (stage, "gain", g_rand_double_range (rand, -6.0, 6.0), NULL);
  g_clear_object (&stage);
}

static void
change_iir (GstElement *element, GRand *rand, gint rate)
{
  gboolean is_chebyshev =
      !strcmp (G_OBJECT_TYPE_NAME (element), "GstTfxChebyshev");

  switch (g_rand_int_range (rand, 0, is_chebyshev ? 5 : 3)) {
    case 0:
      g_object_set (element, "order", g_rand_int_range (rand, 1, 9), NULL);
      break;
    case 3:
      g_object_set (element, "type", g_rand_int_range (rand, 1, 3), NULL);
      break;
    case 4:
      g_object_set (element, "ripple", g_rand_double_range (rand, 0.05, 1.0),
          "attenuation", g_rand_double_range (rand, 30.0, 60.0), NULL);
      break;
    default:
      change_band (element, rand, rate);
      break;
  }
}

/* Any setting of any element; sometimes several at once, or again while the
 * last change is under way. */
static void
change (TfxRow *row, guint64 frame, GRand *rand)
{
  while (g_rand_int_range (rand, 0, 3) == 0) {
    GstElement *element = row->elements[g_rand_int_range (rand, 0, row->n)];
    const gchar *type = G_OBJECT_TYPE_NAME (element);

    if (!strcmp (type, "GstTfxFir"))
      change_fir (element, rand, row->rate);
    else if (!strcmp (type, "GstTfxChain"))
      change_chain (element, rand);
    else
      change_iir (element, rand, row->rate);
  }
}

static void
toggle (TfxRow *row, guint64 frame, GRand *rand)
{
  tfx_rows_toggle_fuse (row, frame, rand);
  tfx_rows_toggle_probe (row, frame, rand);
}

/* ---- the test ------------------------------------------------------------------- */

/* N_ROWS of recursive filters and N_ROWS of all; each with a toggle, and without. */
GST_START_TEST (test_change)
{
  const guint seed = 100 + __i__;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GstAudioInfo info = tfx_rows_draw_info (rand);
  g_autofree gchar *launch = NULL;
  const gsize n = 40000;
  g_autofree gdouble *in = tfx_check_noise (n * info.channels, seed);
  g_auto (TfxPair) pair;
  gdouble error_db;

  may_have_firs = __i__ >= 2 * N_ROWS;
  launch = draw_row (rand, info.rate, may_have_firs);
  tfx_pair_play (&pair, launch, &info, in, n, seed, change,
      __i__ / N_ROWS % 2 ? toggle : NULL);
  fail_unless_equals_uint64 (pair.heard[0].n_frames, n);
  tfx_heard_expect_same (&pair.heard[1], &pair.heard[0], FALSE);
  error_db = tfx_pair_error_db (&pair, in);
  fail_unless (error_db <= tfx_rows_bound_db (&info,
                               strstr (launch, "method=fft") != NULL,
                               may_have_firs),
      "seed %u: %.1f dB: %s", seed, error_db, launch);
}
GST_END_TEST;

/* ---- maps --------------------------------------------------------------------------- */

/* Memory that calls somebody while it is mapped to be written to. */
typedef struct
{
  GstMemory memory;
  gdouble samples[64];
  void (*call) (gpointer data);
  gpointer data;
} CallingMemory;

typedef GstAllocator CallingAllocator;
typedef GstAllocatorClass CallingAllocatorClass;

static GType calling_allocator_get_type (void);
G_DEFINE_TYPE (CallingAllocator, calling_allocator, GST_TYPE_ALLOCATOR)

static gpointer
map_calling (GstMemory *memory, gsize size, GstMapFlags flags)
{
  CallingMemory *self = (CallingMemory *)memory;

  if (self->call && (flags & GST_MAP_WRITE))
    self->call (self->data);
  return self->samples;
}

static void
unmap_calling (GstMemory *memory)
{
}

static void
free_calling (GstAllocator *allocator, GstMemory *memory)
{
  g_free (memory);
}

static void
calling_allocator_class_init (CallingAllocatorClass *klass)
{
  klass->free = free_calling;
}

static void
calling_allocator_init (CallingAllocator *self)
{
  self->mem_type = "calling";
  self->mem_map = map_calling;
  self->mem_unmap = unmap_calling;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstBuffer *
make_calling (GstAllocator *allocator, void (*call) (gpointer), gpointer data)
{
  CallingMemory *self = g_new0 (CallingMemory, 1);
  GstBuffer *buffer = gst_buffer_new ();

  gst_memory_init (&self->memory, 0, allocator, NULL, sizeof self->samples, 0,
      0, sizeof self->samples);
  self->call = call;
  self->data = data;
  gst_buffer_append_memory (buffer, &self->memory);
  return buffer;
}

/* What another thread does to an element while memory is mapped. */
typedef struct
{
  const gchar *name;
  GThreadFunc run;
  const gchar *target;
  gboolean is_split;   /* the second buffer */
  gboolean has_reader; /* of what is pending, between the two */
  GstElement *element;
  GThread *thread;
  gint is_done; /* atomic */
  gboolean was_in_time;
} Meanwhile;

static gpointer
stop_element (gpointer data)
{
  Meanwhile *self = data;

  gst_element_set_state (self->element, GST_STATE_READY);
  g_atomic_int_set (&self->is_done, TRUE);
  return NULL;
}

static gpointer
read_response (gpointer data)
{
  Meanwhile *self = data;
  const gdouble hz = 100.0;
  g_autoptr (GVariant) response = NULL;

  g_signal_emit_by_name (self->element, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1, sizeof hz), 0,
      &response);
  g_atomic_int_set (&self->is_done, TRUE);
  return NULL;
}

static void
run_meanwhile (gpointer data)
{
  Meanwhile *self = data;
  gint64 begin = 0;

  if (self->thread)
    return;
  self->thread = g_thread_new ("meanwhile", self->run, self);
  while (!g_atomic_int_get (&self->is_done) && tfx_check_wait (&begin))
    ;
  self->was_in_time = g_atomic_int_get (&self->is_done);
}

static GstPadProbeReturn
map_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMapInfo map;

  fail_unless (
      gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ));
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  return GST_PAD_PROBE_OK;
}

/* Memory that is mapped may run what is pending in it, and that takes the locks
 * of its filters: whoever maps it holds none, in a row, and where somebody else
 * reads what is pending.  So an element which has run the same filters before can
 * stop. */
static const Meanwhile meanwhiles[] = {
  { "an element stops", stop_element, "c", .is_split = TRUE },
  { "a response is read", read_response, "b" },
  { "a response is read by another", read_response, "b", .has_reader = TRUE },
};

GST_START_TEST (test_while_mapped)
{
  Meanwhile self = meanwhiles[__i__];
  GstAudioInfo info = tfx_check_f64 (48000, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth name=b ! tfxbutterworth name=c",
          &info);
  g_autoptr (GstAllocator) allocator =
      gst_object_ref_sink (g_object_new (calling_allocator_get_type (), NULL));
  g_autoptr (GstElement) c = gst_bin_get_by_name (GST_BIN (h->element), "c");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (c, "sink");
  g_autoptr (GstElement) target =
      gst_bin_get_by_name (GST_BIN (h->element), self.target);

  self.element = target;
  gst_harness_push (h, make_calling (allocator, NULL, NULL));
  if (self.is_split)
    g_object_set (c, "fuse", FALSE, NULL);
  if (self.has_reader)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, map_buffer, NULL, NULL);
  gst_harness_push (h, make_calling (allocator, run_meanwhile, &self));
  fail_unless (self.thread != NULL, "%s: the memory is not mapped", self.name);
  g_thread_join (self.thread);
  fail_unless (self.was_in_time,
      "%s: a filter is locked while memory is mapped", self.name);
  if (!self.is_split)
    fail_unless_equals_uint64 (tfx_check_stat (target, "deferred"), 2);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fusion_changes");

  tfx_check_add_part (tc, test_change, 4 * N_ROWS, 3);
  tcase_add_loop_test (tc, test_while_mapped, 0, G_N_ELEMENTS (meanwhiles));
  return tfx_check_run (argc, argv, tc);
}
