/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion.c: directly linked elements run as one, and nobody hears it.
 */
#include <string.h>

#include "rows.h"

#define RATE 48000
/* Doubles from end to end: fused and unfused differ by rounding alone. */
#define CLOSE 1e-11

/* ---- fused equals unfused --------------------------------------------------------- */

static const gchar *const rows[] = {
  "tfxbutterworth ! tfxbutterworth mode=high-pass cutoff=50",
  "tfxchebyshev cutoff=9000 order=9 ! tfxbutterworth order=3 cutoff=700 ! "
  "tfxchebyshev type=2 mode=high-pass cutoff=30",
  "tfxchebyshev mode=high-pass cutoff=20 order=2 ripple=0.5 ! "
  "tfxchebyshev mode=high-pass cutoff=60 order=2 ripple=0.5 ! "
  "tfxchebyshev mode=high-pass cutoff=65 order=2 ripple=0.5 ! "
  "tfxbutterworth cutoff=5000 order=2 ! tfxbutterworth cutoff=4900 order=2 ! "
  "tfxbutterworth cutoff=4850 order=2",
  "tfxbutterworth mode=band-reject lower-frequency=49 upper-frequency=51 "
  "order=2 ! tfxbutterworth order=1 cutoff=15000",
  "tfxfir align=false taps=101 ! tfxfir align=false taps=55 cutoff=9000",
  "tfxfir align=false taps=301 method=fft ! tfxbutterworth order=5 ! "
  "tfxfir align=false taps=33 method=direct",
  /* Delays are taken out of these streams. */
  "tfxbutterworth ! tfxfir taps=301",
  "tfxfir taps=301 ! tfxbutterworth",
  "tfxfir taps=31 ! tfxfir taps=3001 ! tfxfir taps=5",
  "tfxbutterworth ! tfxfir taps=55 ! tfxchebyshev ! tfxfir taps=77 "
  "mode=high-pass cutoff=300 ! tfxbutterworth cutoff=9000 ! tfxbutterworth "
  "order=2 mode=high-pass cutoff=10",
};

/* How an element of the row takes part. */
typedef struct
{
  gboolean defers;
  guint n_stages;   /* that it runs, with those left to it */
  gboolean is_late; /* runs once more, at the end */
} Part;

/* Where frames are held they are run. */
static void
find_parts (TfxRow *row, const gchar *launch, Part *parts)
{
  g_auto (GStrv) names = g_strsplit (launch, " ! ", 0);
  guint n_left = 0;

  for (guint i = 0; i < row->n; i++) {
    parts[i].is_late = g_str_has_prefix (names[i], "tfxfir") &&
                       !strstr (names[i], "align=false");
    parts[i].defers = i < row->n - 1 && !parts[i].is_late;
    n_left++;
    /* At the end it runs alone. */
    parts[i].n_stages = parts[i].defers ? 0 : parts[i].is_late ? 1 : n_left;
    if (!parts[i].defers)
      n_left = 0;
  }
}

/* What rings on in a filter until it is rounded off is silence to what sets a level,
 * whether it is rounded between elements or not. */
GST_START_TEST (test_level_behind_silence)
{
  static const gchar *const levels[] = {
    "Normalize(0.5, strategy='rms', window=0.03)",
    "Normalize(0.5, window=0.03)",
    "Loudness(-23, lookahead=0.2, speed=100)",
  };
  GstAudioInfo info =
      __i__ & 1 ? tfx_check_f64 (RATE, 1) : tfx_check_f32 (RATE, 1);
  g_autofree gchar *launch =
      g_strdup_printf ("tfxbutterworth cutoff=9000 ! tfxchain chain=\"%s\"",
          levels[__i__ / 2]);
  const gsize n = 2 * RATE;
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxPair) pair;

  memset (in + n / 4, 0, n / 2 * sizeof *in);
  tfx_pair_play (&pair, launch, &info, in, n, 1, NULL, NULL);
  fail_unless (tfx_pair_error_db (&pair, in) < -100.0, "%s: %g dB", launch,
      tfx_pair_error_db (&pair, in));
}
GST_END_TEST;

GST_START_TEST (test_equal)
{
  const gint n_ch = 1 + __i__ % 3;
  const gsize n = RATE / 2;
  const GstAudioFormat format =
      __i__ & 1 ? GST_AUDIO_FORMAT_F32 : GST_AUDIO_FORMAT_F64;
  const gchar *launch = rows[__i__ / 2 % G_N_ELEMENTS (rows)];
  GstAudioInfo info = tfx_check_info (format, RATE, n_ch,
      __i__ & 4 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 1 + __i__);
  g_auto (TfxPair) pair;
  TfxRow *fused = &pair.rows[1];
  Part parts[8];

  tfx_pair_play (&pair, launch, &info, in, n, __i__, NULL, NULL);
  /* float32 is rounded behind each element where they are not fused. */
  fail_unless (tfx_pair_distance (&pair) < (__i__ & 1 ? 1e-6 : CLOSE), "%s: %g",
      launch, tfx_pair_distance (&pair));

  /* They were fused, from the first buffer on, and the others were not. */
  find_parts (fused, launch, parts);
  for (guint i = 0; i < fused->n; i++) {
    guint64 n_own = tfx_rows_stat (fused, i, "buffers");

    fail_unless_equals_uint64 (tfx_rows_stat (fused, i, "frames"), n);
    fail_unless_equals_uint64 (tfx_rows_stat (fused, i, "deferred"),
        parts[i].defers ? n_own : 0);
    fail_unless_equals_uint64 (tfx_rows_stat (fused, i, "dispatches"),
        parts[i].defers ? 0 : n_own + parts[i].is_late);
    fail_unless_equals_uint64 (tfx_rows_stat (fused, i, "stages"),
        parts[i].n_stages);
    fail_unless_equals_uint64 (tfx_rows_stat (&pair.rows[0], i, "deferred"), 0);
  }
  fail_unless_equals_uint64 (tfx_rows_stat (fused, 0, "buffers"),
      tfx_rows_stat (&pair.rows[0], 0, "buffers"));
}
GST_END_TEST;

/* ---- changes while playing ---------------------------------------------------------- */

/* State moves with the decision: not a sample differs. */
GST_START_TEST (test_toggle)
{
  static const TfxMeddle toggles[] = { tfx_rows_toggle_fuse,
    tfx_rows_toggle_device, tfx_rows_toggle_probe };
  const guint n_ch = 1 + __i__ % 2;
  const gsize n = 4 * RATE;
  GstAudioInfo info = tfx_check_f64 (RATE, n_ch);
  g_autofree gdouble *in = tfx_check_noise (n * n_ch, 1 + __i__);
  const gchar *launch = rows[__i__ / 3];
  guint64 n_deferred;
  g_auto (TfxPair) pair;
  Part parts[8];

  tfx_pair_play (&pair, launch, &info, in, n, __i__, NULL, toggles[__i__ % 3]);
  fail_unless (tfx_pair_distance (&pair) < CLOSE, "%s: %g", launch,
      tfx_pair_distance (&pair));
  find_parts (&pair.rows[1], launch, parts);
  n_deferred = tfx_rows_stat (&pair.rows[1], 0, "deferred");
  /* A probe may always be elsewhere. */
  if (parts[0].defers)
    fail_unless (n_deferred > 0 &&
                 (__i__ % 3 == 2 ||
                     n_deferred < tfx_rows_stat (&pair.rows[1], 0, "buffers")));
}
GST_END_TEST;

/* A cutoff that moves keeps the state, fused or not. */
static void
move_cutoff (TfxRow *row, guint64 frame, GRand *rand)
{
  guint at = g_rand_int_range (rand, 0, row->n);

  g_object_set (row->elements[at], "cutoff",
      g_rand_double_range (rand, 900.0, 1000.0), NULL);
}

/* Another order is cross-faded in; in the end it is the same filter. */
static void
change_order (TfxRow *row, guint64 frame, GRand *rand)
{
  if (g_rand_int_range (rand, 0, 4) == 0 && frame < 3 * RATE)
    g_object_set (row->elements[g_rand_int_range (rand, 0, row->n)], "order",
        g_rand_int_range (rand, 1, 12), NULL);
}

/* What is done to both rows; the second one is fused and split at the same time or
 * not. */
static const struct
{
  const gchar *name, *launch;
  TfxMeddle meddle;
  gboolean
      is_faded; /* a sine: only its end is the same, and it makes no step */
} changes[] = {
  { "a cutoff moves",
      "tfxbutterworth ! tfxbutterworth order=6 ! "
      "tfxchebyshev mode=high-pass order=2",
      move_cutoff },
  { "an order changes",
      "tfxbutterworth ! tfxbutterworth order=6 ! "
      "tfxchebyshev mode=high-pass order=2 cutoff=20",
      change_order, TRUE },
  { "interruptions",
      "tfxchebyshev cutoff=9000 order=9 ! tfxbutterworth order=3 cutoff=700 ! "
      "tfxchebyshev type=2 mode=high-pass cutoff=30",
      tfx_rows_interrupt },
};

GST_START_TEST (test_changes)
{
  const guint at = __i__ / 2;
  const gsize n = 4 * RATE, tail = RATE / 2;
  GstAudioInfo info = tfx_check_f64 (RATE, 1);
  g_autofree gdouble *in = changes[at].is_faded
                               ? tfx_check_sine (n, 0, 100.0, RATE)
                               : tfx_check_noise (n, 1);
  const gdouble *x[2];
  g_auto (TfxPair) pair;
  gdouble distance;

  tfx_pair_play (&pair, changes[at].launch, &info, in, n, 7, changes[at].meddle,
      __i__ % 2 ? tfx_rows_toggle_fuse : NULL);
  distance = tfx_pair_distance (&pair);
  if (changes[at].is_faded) {
    fail_unless_equals_uint64 (pair.heard[1].n_frames, n);
    for (guint k = 0; k < 2; k++)
      x[k] = tfx_heard_samples (&pair.heard[k]);
    distance = tfx_check_distance (x[0] + n - tail, x[1] + n - tail, tail);
    /* The sine itself steps by 0.0131. */
    fail_unless (tfx_check_step (x[1] + RATE / 10, n - RATE / 10) < 0.03,
        "%s: a step of %g", changes[at].name,
        tfx_check_step (x[1] + RATE / 10, n - RATE / 10));
  }
  fail_unless (distance < (changes[at].is_faded ? 1e-6 : CLOSE), "%s: %g",
      changes[at].name, distance);
  fail_unless (tfx_rows_stat (&pair.rows[1], 0, "deferred") > 0);
}
GST_END_TEST;

#define N_RUN 480

/* ---- depth ---------------------------------------------------------------------------- */

GST_START_TEST (test_fifty)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autoptr (GString) launch = g_string_new ("tfxbutterworth order=2");
  g_autofree gdouble *in = tfx_check_noise (RATE * 2, 1);
  g_auto (TfxHeard) heard;
  g_auto (TfxRow) row;

  for (guint i = 1; i < 50; i++)
    g_string_append_printf (launch, " ! tfxbutterworth order=2 cutoff=%u",
        1000 + 100 * i);
  tfx_rows_open (&row, launch->str, &info, TRUE);
  tfx_rows_play (&row, &info, in, RATE, 1, NULL, NULL, &heard);
  for (guint i = 0; i < 49; i++)
    fail_unless_equals_uint64 (tfx_rows_stat (&row, i, "dispatches"), 0);
  fail_unless_equals_uint64 (tfx_rows_stat (&row, 49, "dispatches"),
      heard.n_buffers);
  fail_unless_equals_uint64 (tfx_rows_stat (&row, 49, "stages"), 50);
  fail_unless_equals_uint64 (tfx_rows_stat (&row, 49, "sections"), 50);
}
GST_END_TEST;

/* More than one row can have: it is cut, and sounds the same. */
GST_START_TEST (test_seventy)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (480 * 4, 1);
  gdouble *out[2];

  for (guint fuse = 0; fuse < 2; fuse++) {
    g_autoptr (GString) launch = g_string_new (NULL);
    g_autoptr (TfxHarness) h = NULL;

    for (guint i = 0; i < 70; i++)
      g_string_append_printf (launch,
          "%s tfxbutterworth order=1 cutoff=%u fuse=%s", i ? " !" : "",
          20000 + 10 * i, fuse ? "true" : "false");
    h = tfx_check_harness (launch->str, &info);
    out[fuse] = tfx_check_filter (h, &info, in, 480 * 4, 480);
  }
  fail_unless (tfx_check_distance (out[0], out[1], 480 * 4) < 1e-5);
  fail_unless (tfx_check_rms (out[0], 480 * 4, 1) > 1e-3);
  g_free (out[0]);
  g_free (out[1]);
}
GST_END_TEST;

/* Runs are counted once, whoever else is in the row. */
GST_START_TEST (test_runs)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (N_RUN, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth name=a ! tfxbutterworth name=b",
          &info);
  g_autoptr (GstElement) a = gst_bin_get_by_name (GST_BIN (h->element), "a");
  g_autoptr (GstElement) b = gst_bin_get_by_name (GST_BIN (h->element), "b");
  guint64 n_alone = 0;

  for (guint i = 0; i < 24; i++) {
    const gboolean fuse = i / 3 % 2 == 0;

    g_object_set (a, "fuse", fuse, NULL);
    gst_buffer_unref (
        tfx_check_push (h, tfx_check_stamped (&info, in, N_RUN, i * N_RUN)));
    n_alone = tfx_check_stat (a, "dispatches");
    fail_unless_equals_uint64 (n_alone + tfx_check_stat (a, "deferred"), i + 1);
    fail_unless_equals_uint64 (tfx_check_stat (b, "dispatches"), i + 1);
  }
  fail_unless (n_alone >= 6);
}
GST_END_TEST;

/* ---- past the base class ------------------------------------------------------------ */

static gint64
position_of (GstElement *element, const gchar *pad_name)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  gint64 position = -1;

  fail_unless (gst_pad_query_position (pad, GST_FORMAT_TIME, &position));
  gst_object_unref (pad);
  return position;
}

/* Every element knows where the stream is, whoever filters. */
GST_START_TEST (test_position)
{
  const gsize n = 480;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (n, 1);
  g_auto (TfxRow) row;

  tfx_rows_open (&row, "tfxbutterworth ! tfxbutterworth", &info, __i__ == 1);
  for (guint k = 0; k < 10; k++) {
    gst_buffer_unref (
        tfx_check_push (row.h, tfx_check_stamped (&info, in, n, k * n)));
    for (guint i = 0; i < row.n; i++) {
      fail_unless_equals_int64 (position_of (row.elements[i], "sink"),
          (k + 1) * 10 * GST_MSECOND);
      fail_unless_equals_int64 (position_of (row.elements[i], "src"),
          (k + 1) * 10 * GST_MSECOND);
    }
  }
}
GST_END_TEST;

/* ---- a pool's buffers ---------------------------------------------------------------- */

#define N_POOL 480

static GstBufferPool *
open_pool (void)
{
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, N_POOL * sizeof (gfloat), 0,
      0);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

static GstBuffer *
take_silence (GstBufferPool *pool)
{
  GstBuffer *buffer = NULL;

  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &buffer, NULL),
      GST_FLOW_OK);
  fail_unless (gst_memory_is_type (gst_buffer_peek_memory (buffer, 0),
      GST_ALLOCATOR_SYSMEM));
  gst_buffer_memset (buffer, 0, 0, -1);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

static GstPadProbeReturn
drop (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_DROP;
}

/* A buffer comes back to its pool with the memory that it had; one that is dropped
 * between two elements, with what the first one has put there, does not. */
GST_START_TEST (test_pool)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth ! tfxbutterworth name=b", &info);
  g_autoptr (GstElement) b = gst_bin_get_by_name (GST_BIN (h->element), "b");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (b, "sink");
  GstBufferPool *pool = open_pool ();
  GstBuffer *buffer = take_silence (pool);
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);

  gst_buffer_unref (tfx_check_push (h, buffer));
  buffer = take_silence (pool);
  fail_unless (gst_buffer_peek_memory (buffer, 0) == memory);
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, drop, NULL, NULL);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  gst_buffer_unref (take_silence (pool));

  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fusion");

  tcase_add_loop_test (tc, test_level_behind_silence, 0, 6);
  tcase_add_loop_test (tc, test_equal, 0, 2 * G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_toggle, 0, 3 * G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_changes, 0, 2 * G_N_ELEMENTS (changes));
  tcase_add_test (tc, test_fifty);
  tcase_add_test (tc, test_seventy);
  tcase_add_test (tc, test_runs);
  tcase_add_loop_test (tc, test_position, 0, 2);
  tcase_add_test (tc, test_pool);
  return tfx_check_run (argc, argv, tc);
}
