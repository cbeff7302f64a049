/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion_links.c: what stands between elements that could run as one, and
 * comes and goes there while they play.
 */
#include <string.h>

#include "firs.h"
#include "tfxplay.h"

#define N_BUFFERS 100
#define SOURCE                                                                 \
  "audiotestsrc wave=saw freq=100 num-buffers=%u samplesperbuffer=%u ! "       \
  "audio/x-raw,format=F32LE,rate=48000,channels=2 ! "
#define FIRST "tfxbutterworth order=6 cutoff=3000 name=a"
#define SECOND "tfxbutterworth order=2 mode=high-pass cutoff=30 name=b"
#define SINK " ! fakesink name=sink"

/* float32 is rounded behind each element where they are not fused. */
#define CLOSE 1e-6

static void
expect_close (const TfxCaught *a, const TfxCaught *b)
{
  fail_unless (a->contiguous && b->contiguous);
  fail_unless (tfx_caught_distance (a, b) < CLOSE, "%g",
      tfx_caught_distance (a, b));
}

static guint64
stat_of (GstElement *pipeline, const gchar *name, const gchar *field)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  guint64 value = tfx_check_stat (element, field);

  gst_object_unref (element);
  return value;
}

/* What a filter with nothing fused puts out. */
static void
play_unfused (const gchar *filters, guint n_buffers, guint n_frames,
    TfxCaught *caught)
{
  g_autofree gchar *launch =
      g_strdup_printf (SOURCE "%s" SINK, n_buffers, n_frames, filters);
  GstElement *pipeline = tfx_play_make (launch, caught);

  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  fail_unless_equals_uint64 (stat_of (pipeline, "a", "deferred"), 0);
  tfx_play_stop (pipeline);
}

/* ---- what stands between ----------------------------------------------------- */

typedef enum
{
  SPLIT,
  FUSED,
  EITHER
} Fusion;

typedef struct
{
  const gchar *before, *between, *after;
  Fusion fusion;
  const gchar *element,
      *pad; /* that somebody looks at; "peer" of its sink pad */
} Between;

static const Between betweens[] = {
  { FIRST, " ! ", SECOND, FUSED },
  { FIRST, " ! identity ! ", SECOND, SPLIT },
  { FIRST, " ! level ! ", SECOND, SPLIT },
  { FIRST, " ! volume ! ", SECOND, SPLIT },
  { FIRST, " ! queue ! ", SECOND, SPLIT },
  { FIRST, " ! tee ! ", SECOND, SPLIT },
  { FIRST, " ! audio/x-raw,channels=2 ! ", SECOND, SPLIT },
  { FIRST, " ! audioconvert ! ", SECOND, SPLIT },
  { "( " FIRST " )", " ! ", "( " SECOND " )", FUSED },
  { "( ( ( " FIRST " ) ) )", " ! ", SECOND, FUSED },
  { FIRST, " ! ( ( ", SECOND " ) )", FUSED },
  { "( " FIRST " ! identity )", " ! ", SECOND, SPLIT },
  { FIRST, " ! ( identity ! ", SECOND " )", SPLIT },
  { FIRST " device=cpu", " ! ", SECOND, SPLIT },
  { FIRST " device=cpu", " ! ", SECOND " device=cpu", FUSED },
  { FIRST " fuse=false", " ! ", SECOND, SPLIT },
  { FIRST, " ! ", SECOND " fuse=false", SPLIT },
  { "( " FIRST " )", " ! ", SECOND, SPLIT, "a", "src" },
  /* What they see there is run for them. */
  { "( " FIRST " )", " ! ", SECOND, EITHER, "b", "sink" },
  { "( " FIRST " )", " ! ", SECOND, EITHER, "b", "peer" },
};

static GstPadProbeReturn
look_on (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  TfxCaught *caught = data;
  GstMapInfo map;

  fail_unless (gst_buffer_map (info->data, &map, GST_MAP_READ));
  g_array_append_vals (caught->samples, map.data, map.size / sizeof (gfloat));
  gst_buffer_unmap (info->data, &map);
  return GST_PAD_PROBE_OK;
}

static void
watch_pad (GstElement *pipeline, const Between *b, TfxCaught *seen)
{
  g_autoptr (GstElement) element =
      gst_bin_get_by_name (GST_BIN (pipeline), b->element);
  const gboolean is_peer = g_str_equal (b->pad, "peer");
  g_autoptr (GstPad) own =
      gst_element_get_static_pad (element, is_peer ? "sink" : b->pad);
  g_autoptr (GstPad) peer = gst_pad_get_peer (own);

  fail_unless (!is_peer || GST_IS_GHOST_PAD (peer));
  gst_pad_add_probe (is_peer ? peer : own, GST_PAD_PROBE_TYPE_BUFFER, look_on,
      seen, NULL);
}

/* The sound is the same, and who looks at a pad sees what a filter before it has
 * filtered. */
GST_START_TEST (test_between)
{
  const Between *b = &betweens[__i__];
  g_autofree gchar *launch = g_strdup_printf (SOURCE "%s%s%s" SINK, N_BUFFERS,
      1024, b->before, b->between, b->after);
  g_auto (TfxCaught) end, expected_end, expected;
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (gfloat));
  TfxCaught seen = { .contiguous = TRUE, .samples = samples };
  GstElement *pipeline = tfx_play_make (launch, &end);

  if (b->pad)
    watch_pad (pipeline, b, &seen);
  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  if (b->fusion != EITHER) {
    const gboolean fuses = b->fusion == FUSED;

    fail_unless_equals_uint64 (stat_of (pipeline, "a", "deferred"),
        fuses ? N_BUFFERS : 0);
    fail_unless_equals_uint64 (stat_of (pipeline, "a", "dispatches"),
        fuses ? 0 : N_BUFFERS);
    fail_unless_equals_uint64 (stat_of (pipeline, "b", "dispatches"),
        N_BUFFERS);
    fail_unless_equals_uint64 (stat_of (pipeline, "b", "sections"),
        fuses ? 4 : 1);
  }
  tfx_play_stop (pipeline);

  play_unfused (FIRST " fuse=false ! " SECOND, N_BUFFERS, 1024, &expected_end);
  expect_close (&end, &expected_end);
  play_unfused (FIRST, N_BUFFERS, 1024, &expected);
  if (b->pad)
    expect_close (&seen, &expected);
}
GST_END_TEST;

static GstPadProbeReturn
cut_front (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = gst_buffer_make_writable (info->data);
  guint *n = data;

  /* Of the second one the first 100 frames go. */
  if ((*n)++ == 1)
    gst_buffer_resize (buffer, 100 * 2 * sizeof (gfloat), -1);
  info->data = buffer;
  return GST_PAD_PROBE_OK;
}

/* A buffer is cut on its way: what is left of it is filtered as ever. */
GST_START_TEST (test_cut)
{
  GstAudioInfo info = tfx_check_f32 (48000, 2);
  g_autofree gdouble *in = tfx_check_noise (480 * 3 * 2, 5);
  gdouble out[2][3][480 * 2] = { 0 };

  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *launch =
        g_strdup_printf (FIRST " fuse=%s ! " SECOND, i ? "true" : "false");
    g_autoptr (TfxHarness) h = tfx_check_harness (launch, &info);
    g_autoptr (GstElement) behind =
        gst_bin_get_by_name (GST_BIN (h->element), "b");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (behind, "sink");
    guint n = 0;

    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, cut_front, &n, NULL);
    for (guint k = 0; k < 3; k++) {
      g_autoptr (GstBuffer) buffer =
          tfx_check_push (h, tfx_check_buffer (&info, in + 480 * 2 * k, 480));
      gsize n_frames;
      g_autofree gdouble *x = tfx_check_samples (buffer, &info, &n_frames);

      fail_unless_equals_int (n_frames, k == 1 ? 380 : 480);
      memcpy (out[i][k], x, n_frames * 2 * sizeof *x);
    }
    fail_unless_equals_int (n, 3);
    fail_unless ((stat_of (h->element, "a", "deferred") > 0) == (i == 1));
  }
  fail_unless (tfx_check_distance (out[0][0], out[1][0], 3 * 480 * 2) < CLOSE);
}
GST_END_TEST;

/* ---- what comes and goes ------------------------------------------------------- */

#define N_MANY 6000
#define N_FRAMES 256

/* Puts `element` behind a pad, or takes it out from there. */
typedef struct
{
  GstElement *pipeline, *element;
  gboolean put;
  gint begun, done; /* atomic */
} Change;

static GstPadProbeReturn
relink (GstPad *src, GstPadProbeInfo *info, gpointer data)
{
  Change *change = data;

  /* Two threads may find the pad idle. */
  if (!g_atomic_int_compare_and_exchange (&change->begun, FALSE, TRUE))
    return GST_PAD_PROBE_OK;
  fail_unless (change->put ? tfx_check_put_behind (GST_BIN (change->pipeline),
                                 src, change->element)
                           : tfx_check_take_out (change->element));
  g_atomic_int_set (&change->done, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

typedef struct
{
  const gchar *filters;
  const gchar *element; /* comes and goes behind "a" */
} Guest;

static const Guest guests[] = {
  { FIRST " ! " SECOND, "identity" },
  { FIRST " ! " SECOND, "tfxfir" },
  /* The guest is the one that runs the whole. */
  { FIRST " ! identity", "tfxfir" },
  { FIRST " ! " SECOND " ! tfxchebyshev cutoff=9000", "identity" },
};

/* The end of the stream, or NULL if it has not come for a tenth of a millisecond. */
static GstMessage *
look_for_end (GstBus *bus)
{
  return gst_bus_timed_pop_filtered (bus, GST_MSECOND / 10,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
}

/* Nothing is lost, repeated or changed: the guests do nothing to the samples,
 * and the states of the others move with each change. */
GST_START_TEST (test_guests)
{
  static const gdouble one = 1.0;
  const Guest *guest = &guests[__i__ / 2];
  const gboolean is_fir = g_str_equal (guest->element, "tfxfir");
  GstPadProbeType type =
      __i__ & 1 ? GST_PAD_PROBE_TYPE_IDLE : GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM;
  g_autofree gchar *launch =
      g_strdup_printf (SOURCE "%s" SINK, N_MANY, N_FRAMES, guest->filters);
  g_autofree gchar *unfused =
      g_strdup_printf (FIRST " fuse=false%s", strchr (guest->filters, '!') - 1);
  g_auto (TfxCaught) caught, expected;
  GstElement *pipeline = tfx_play_make (launch, &caught);
  g_autoptr (GstElement) a = gst_bin_get_by_name (GST_BIN (pipeline), "a");
  g_autoptr (GstPad) src = gst_element_get_static_pad (a, "src");
  g_autoptr (GstElement) element =
      gst_object_ref_sink (gst_element_factory_make (guest->element, NULL));
  g_autoptr (GPtrArray) changes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  guint n_changes = 0;
  guint64 n_deferred;

  if (is_fir)
    tfx_firs_set_kernel (element, &one, 1);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!message) {
    Change *change = g_new0 (Change, 1);
    const guint64 n = tfx_check_stat (a, "buffers");

    *change = (Change){ pipeline, element, n_changes % 2 == 0, FALSE, FALSE };
    g_ptr_array_add (changes, change);
    /* Let it play for a while. */
    while (!message && tfx_check_stat (a, "buffers") < n + 10)
      message = look_for_end (bus);
    if (!message)
      gst_pad_add_probe (src, type, relink, change, NULL);
    while (!message && !g_atomic_int_get (&change->done))
      message = look_for_end (bus);
    n_changes += g_atomic_int_get (&change->done);
  }
  fail_unless_equals_string (GST_MESSAGE_TYPE_NAME (message), "eos");
  n_deferred = tfx_check_stat (a, "deferred");
  fail_unless (n_changes > 5, "%u changes", n_changes);
  fail_unless (n_deferred > 0);
  fail_unless (n_deferred < N_MANY || is_fir);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (pipeline);

  play_unfused (unfused, N_MANY, N_FRAMES, &expected);
  expect_close (&caught, &expected);
}
GST_END_TEST;

/* ---- at the worst moment --------------------------------------------------------- */

/* The link changes when a buffer is on its way that another element was to
 * filter: the log tells of the moment. */
typedef struct
{
  GstHarness *h;
  GstElement *a, *b, *identity;
  TfxCaught *seen; /* a probe is put on the pad; otherwise it is relinked */
  guint n_times;
} Moment;

static void
seize (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer data)
{
  Moment *moment = data;
  GstPad *pad;

  if (object != G_OBJECT (moment->a) ||
      !strstr (gst_debug_message_get (message), "the filter is deferred to"))
    return;
  if (moment->n_times++ > 0)
    return;
  if (moment->seen) {
    pad = gst_element_get_static_pad (moment->a, "src");
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, look_on, moment->seen,
        NULL);
    gst_object_unref (pad);
    return;
  }
  gst_element_unlink (moment->a, moment->b);
  fail_unless (
      gst_element_link_many (moment->a, moment->identity, moment->b, NULL));
}

GST_START_TEST (test_moment)
{
  const gsize n = 4800, size = 480, half = n / 2 + size;
  GstAudioInfo info = tfx_check_f32 (48000, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1), *halfway = NULL,
                     *expected = NULL, *first = NULL, *second = NULL;
  g_autoptr (TfxHarness) h = tfx_check_harness (FIRST " ! " SECOND, &info);
  g_autoptr (TfxHarness) before = tfx_check_harness (FIRST, &info);
  g_autoptr (TfxHarness) behind = tfx_check_harness (SECOND, &info);
  g_autoptr (GstElement) a = gst_bin_get_by_name (GST_BIN (h->element), "a");
  g_autoptr (GstElement) b = gst_bin_get_by_name (GST_BIN (h->element), "b");
  GstElement *identity = gst_element_factory_make ("identity", NULL);
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (gfloat));
  TfxCaught seen = { .contiguous = TRUE, .samples = samples };
  Moment moment = { h, a, b, identity, __i__ & 1 ? &seen : NULL };
  const GstDebugLevel level = gst_debug_get_default_threshold ();

  gst_bin_add (GST_BIN (h->element), identity);
  gst_element_sync_state_with_parent (identity);
  g_object_set (a, "fuse", __i__ & 2 ? FALSE : TRUE, NULL);
  gst_debug_set_threshold_for_name ("tfxelement", GST_LEVEL_DEBUG);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (seize, &moment, NULL);
  first = tfx_check_filter (h, &info, in, half, size);
  g_object_set (a, "fuse", TRUE, NULL);
  second = tfx_check_filter (h, &info, in + half, n - half, size);
  gst_debug_remove_log_function (seize);
  gst_debug_set_default_threshold (level);
  fail_unless (moment.n_times >= 1);

  halfway = tfx_check_filter (before, &info, in, n, size);
  expected = tfx_check_filter (behind, &info, halfway, n, size);
  fail_unless (tfx_check_distance (first, expected, half) < CLOSE);
  fail_unless (tfx_check_distance (second, expected + half, n - half) < CLOSE);
  for (guint i = 0; i < samples->len; i++)
    fail_unless (ABS (g_array_index (samples, gfloat, i) -
                      halfway[n - samples->len + i]) < CLOSE);
  fail_unless (!moment.seen || samples->len > 0);
}
GST_END_TEST;

/* GStreamer leaves its old list of log functions behind; the leak checker takes
 * it for ours. */
#ifdef __SANITIZE_ADDRESS__
#define N_MOMENTS 0
#else
#define N_MOMENTS 4
#endif

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fusion_links");

  tcase_add_loop_test (tc, test_between, 0, G_N_ELEMENTS (betweens));
  tcase_add_test (tc, test_cut);
  tfx_check_add_part (tc, test_guests, 2 * G_N_ELEMENTS (guests), 3);
  tcase_add_loop_test (tc, test_moment, 0, N_MOMENTS);
  return tfx_check_run (argc, argv, tc);
}
