/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_promises.c: what other elements and applications may rely on, fused or
 * not: functions of pads, late buffers, pull mode, flags, passthrough.
 */
#include <string.h>

#include "firs.h"
#include "line.h"

#define RATE 48000
#define N 4800
#define SIZE 480

/* ---- functions of ghost pads ------------------------------------------------ */

static guint n_passed;

static GstFlowReturn
mute (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  n_passed++;
  buffer = gst_buffer_make_writable (buffer);
  gst_buffer_memset (buffer, 0, 0, gst_buffer_get_size (buffer));
  return gst_proxy_pad_chain_default (pad, parent, buffer);
}

static const gchar *const rows[] = {
  ("tfxbutterworth mode=high-pass cutoff=100 ! "
   "bin.( name=bin tfxchain chain=\"FIR([0, 1])\" )"),
  "tfxfir align=false ! bin.( name=bin tfxbutterworth ! tfxchebyshev )",
  "tfxbutterworth ! tfxfir ! bin.( name=bin tfxchain ) ! tfxchebyshev",
};

/* A mute that an application has put on a bin's pad mutes all. */
GST_START_TEST (test_ghost_pad_mutes)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autofree gdouble *in = tfx_check_noise (N * 2, 1);
  const gdouble silence[N * 2] = { 0.0 };
  g_autoptr (GstElement) bin = NULL;
  g_autoptr (GstPad) ghost = NULL;
  g_auto (TfxLine) line;

  tfx_line_open (&line, rows[__i__ / 2], &info, __i__ % 2, N);
  bin = tfx_line_get (&line, "bin");
  ghost = gst_object_ref (bin->sinkpads->data);
  gst_pad_set_chain_function (ghost, mute);
  n_passed = 0;
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, N, SIZE);
  tfx_line_end (&line);
  tfx_line_expect_whole (&line);
  fail_unless (n_passed >= N / SIZE, "the pad's function saw %u buffers",
      n_passed);
  fail_unless (tfx_check_distance (line.heard, silence, N * 2) == 0.0);
}
GST_END_TEST;

/* ---- late buffers ----------------------------------------------------------- */

/* The sink says that it is late: nobody drops buffers for that. */
GST_START_TEST (test_late_buffers)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (N, 1);
  g_auto (TfxLines) lines;

  for (guint k = 0; k < 2; k++) {
    tfx_line_open (&lines[k],
        "tfxbutterworth cutoff=200 order=4 ! tfxchain chain=\"Gain(1)\"", &info,
        __i__, N);
    tfx_line_push_segment (&lines[k], 0, 0);
    tfx_line_play (&lines[k], in, 0, N / 2, SIZE);
    if (k == 0)
      gst_pad_push_event (lines[k].sink,
          gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 15 * GST_MSECOND,
              50 * GST_MSECOND));
    tfx_line_play (&lines[k], in, N / 2, N, SIZE);
    tfx_line_end (&lines[k]);
    tfx_line_expect_whole (&lines[k]);
  }
  fail_unless (tfx_check_distance (lines[0].heard, lines[1].heard, N) < 1e-6);
}
GST_END_TEST;

/* ---- pull mode ---------------------------------------------------------------- */

static gboolean
answer (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_SCHEDULING)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_scheduling (query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0);
  gst_query_add_scheduling_mode (query, GST_PAD_MODE_PULL);
  gst_query_add_scheduling_mode (query, GST_PAD_MODE_PUSH);
  return TRUE;
}

/* Nobody says that one can pull who does not let: buffers are pushed, whatever the
 * source can do. */
GST_START_TEST (test_scheduling)
{
  static const gchar *const names[] = { "tfxbutterworth", "tfxchebyshev",
    "tfxfir", "tfxchain" };
  g_autoptr (GstElement) element =
      gst_object_ref_sink (gst_element_factory_make (names[__i__], NULL));
  g_autoptr (GstPad) src =
      gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  g_autoptr (GstPad) sink =
      gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
  g_autoptr (GstPad) in = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) out = gst_element_get_static_pad (element, "src");
  g_autoptr (GstQuery) query = gst_query_new_scheduling ();

  gst_pad_set_query_function (src, answer);
  fail_unless_equals_int (gst_pad_link (src, in), GST_PAD_LINK_OK);
  fail_unless_equals_int (gst_pad_link (out, sink), GST_PAD_LINK_OK);
  fail_if (gst_pad_peer_query (sink, query) &&
           gst_query_has_scheduling_mode (query, GST_PAD_MODE_PULL));
  gst_element_set_state (element, GST_STATE_PAUSED);
  fail_unless (GST_PAD_MODE (in) == GST_PAD_MODE_PUSH);
  gst_pad_set_active (sink, FALSE);
  gst_element_set_state (element, GST_STATE_NULL);
}
GST_END_TEST;

/* ---- a delay that is told ---------------------------------------------------- */

#define N_TAPS 4097
#define PEAK 2048

static gboolean
answer_latency (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  gst_query_set_latency (query, TRUE, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

/* The correction of a room: not symmetric, its peak in the middle.  Told so, the
 * element puts the peak where it belongs and says how late it is. */
GST_START_TEST (test_told_delay)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *taps = tfx_firs_room (N_TAPS, 1),
                     *in = g_new0 (gdouble, 3 * N);
  g_autoptr (GstElement) x = NULL;
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  GstClockTime latency;
  g_auto (TfxLine) line;

  taps[PEAK] = 10.0;
  in[N] = 1.0;
  tfx_line_open (&line, __i__ ? "tfxfir name=x ! tfxchain" : "tfxfir name=x",
      &info, TRUE, 3 * N);
  x = tfx_line_get (&line, "x");
  fail_unless (g_object_class_find_property (G_OBJECT_GET_CLASS (x), "delay"),
      "nobody can tell the delay");
  tfx_firs_set_kernel (x, taps, N_TAPS);
  g_object_set (x, "delay", PEAK, NULL);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, 3 * N, SIZE);
  gst_pad_set_query_function (line.src, answer_latency);
  fail_unless (gst_pad_peer_query (line.sink, query));
  gst_query_parse_latency (query, NULL, &latency, NULL);
  fail_unless_equals_uint64 (latency,
      gst_util_uint64_scale_ceil (PEAK, GST_SECOND, RATE));
  tfx_line_end (&line);
  tfx_line_expect_whole (&line);
  for (gsize i = 0; i < 3 * N; i++) {
    gsize tap = i + PEAK - N;
    gdouble due = i + PEAK >= N && tap < N_TAPS ? taps[tap] : 0.0;

    fail_unless (ABS (line.heard[i] - due) < 1e-5, "frame %u is %g, not %g",
        (guint)i, line.heard[i], due);
  }
}
GST_END_TEST;

/* ---- what a property says ------------------------------------------------------ */

/* In which states a property takes effect. */
GST_START_TEST (test_flags)
{
  static const gchar *const names[] = { "tfxbutterworth", "tfxchebyshev",
    "tfxfir", "tfxchain" };
  static const struct
  {
    const gchar *name;
    GParamFlags flag;
  } properties[] = { { "device", GST_PARAM_MUTABLE_PLAYING },
    { "cuda-device-id", GST_PARAM_MUTABLE_READY },
    { "device-delay", GST_PARAM_MUTABLE_PLAYING },
    { "fuse", GST_PARAM_MUTABLE_PLAYING } };
  g_autoptr (GstElement) element =
      gst_element_factory_make (names[__i__], NULL);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    GParamSpec *pspec =
        g_object_class_find_property (G_OBJECT_GET_CLASS (element),
            properties[i].name);

    fail_unless ((pspec->flags &
                     (GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED |
                         GST_PARAM_MUTABLE_PLAYING)) == properties[i].flag,
        "%s: %s", names[__i__], properties[i].name);
  }
}
GST_END_TEST;

/* ---- passthrough ------------------------------------------------------------------ */

/* A chain without stages passes buffers on as they are, also those that others
 * hold. */
GST_START_TEST (test_empty_chain_passes)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F32, RATE, 2,
      __i__ & 1 ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                : GST_AUDIO_LAYOUT_INTERLEAVED);
  g_autofree gdouble *in = tfx_check_noise (SIZE * 2, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness (__i__ & 2 ? "tfxchain chain=\"\" ! "
                                     "tfxchain ! tfxchain"
                                   : "tfxchain chain=\"\"",
          &info);
  g_autoptr (GstBuffer) buffer = tfx_check_stamped (&info, in, SIZE, 0),
                        out = NULL;
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);

  gst_buffer_ref (buffer);
  out = tfx_check_push (h, buffer);
  fail_unless (out == buffer, "the buffer has been copied");
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("promises");

  tcase_add_loop_test (tc, test_ghost_pad_mutes, 0, 2 * G_N_ELEMENTS (rows));
  tcase_add_loop_test (tc, test_late_buffers, 0, 2);
  tcase_add_loop_test (tc, test_scheduling, 0, 4);
  tcase_add_loop_test (tc, test_told_delay, 0, 2);
  tcase_add_loop_test (tc, test_flags, 0, 4);
  tcase_add_loop_test (tc, test_empty_chain_passes, 0, 4);
  return tfx_check_run (argc, argv, tc);
}
