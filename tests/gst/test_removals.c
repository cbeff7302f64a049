/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_removals.c: elements of a row that are taken out, stopped or started
 * again while it plays.
 */
#include <string.h>

#include "line.h"

#define RATE 48000

/* ---- by the manual's recipe -------------------------------------------------- */

#define DELAY 100
#define N 28800

/* "x" goes in the middle.  The `firs` are impulses after DELAY frames, which are taken
 * out of the stream. */
typedef struct
{
  const gchar *launch, *firs;
  gsize delay;   /* of the samples */
  gboolean ends; /* with an EOS through the element */
} Removal;

static const Removal removals[] = {
  { "identity ! tfxfir name=x ! tfxchain chain=\"Gain(1)\" ! identity", "x", 0,
      TRUE },
  { "identity ! tfxfir name=f ! tfxchain name=x chain=\"Gain(1)\" ! identity",
      "f", 0, TRUE },
  { "identity ! tfxfir name=f ! tfxchain name=x chain=\"Gain(1)\" ! identity",
      "f", 0, FALSE },
  { "identity ! tfxchain chain=\"FIR([0, 0, 1])\" ! tfxfir name=x ! "
    "tfxchain chain=\"FIR([0, 1])\" ! identity",
      "x", 3, TRUE },
  { "identity ! tfxfir name=f ! tfxfir name=x ! tfxfir name=g ! identity",
      "fxg", 0, TRUE },
};

static void
take_out (TfxLine *line, gboolean with_eos)
{
  g_autoptr (GstElement) x = tfx_line_get (line, "x");

  fail_unless (!with_eos || tfx_check_send_eos (x), "no EOS comes out");
  fail_unless (tfx_check_take_out (x));
}

static GstPadProbeReturn
take_out_now (GstPad *pad, GstPadProbeInfo *info, gpointer line)
{
  take_out (line, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

static GstPadProbeReturn
take_out_now_without_eos (GstPad *pad, GstPadProbeInfo *info, gpointer line)
{
  take_out (line, FALSE);
  return GST_PAD_PROBE_REMOVE;
}

/* When the next buffer comes to where it was, which is held up. */
static void
take_out_blocked (TfxLine *line, gboolean with_eos)
{
  g_autoptr (GstElement) x = tfx_line_get (line, "x");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (x, "sink");
  g_autoptr (GstPad) before = gst_pad_get_peer (sink);

  gst_pad_add_probe (before, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM,
      with_eos ? take_out_now : take_out_now_without_eos, line, NULL);
}

/* All that came in goes out, once and at its time. */
GST_START_TEST (test_removal)
{
  const Removal *removal = &removals[__i__ / 4];
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (N, 1);
  g_auto (TfxLine) line;

  tfx_line_open (&line, removal->launch, &info, __i__ % 2, N);
  for (const gchar *name = removal->firs; *name; name++)
    tfx_line_set_impulse (&line, (gchar[]){ *name, 0 }, DELAY);
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, N / 2, 480);
  if (__i__ & 2)
    take_out_blocked (&line, removal->ends);
  else
    take_out (&line, removal->ends);
  tfx_line_play (&line, in, N / 2, N, 480);
  tfx_line_end (&line);
  tfx_line_expect_whole (&line);
  for (gsize i = 0; i < N; i++) {
    gdouble due = i < removal->delay ? 0.0 : in[i - removal->delay];

    fail_unless (ABS (line.heard[i] - due) < 1e-6,
        "frame %u is %g, should be %g", (guint)i, line.heard[i], due);
  }
}
GST_END_TEST;

/* What rings on rings on: filters in front of the gap and behind it go on as
 * they are. */
GST_START_TEST (test_removal_is_not_heard_elsewhere)
{
  static const gchar *const launches[] = {
    "identity ! tfxbutterworth cutoff=200 ! tfxchain name=x chain=\"Gain(1)\" "
    "! tfxchebyshev cutoff=500 ! identity",
    "identity ! tfxbutterworth cutoff=200 ! identity ! "
    "tfxchebyshev cutoff=500 ! identity",
  };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autofree gdouble *in = tfx_check_noise (2 * N, 1);
  g_auto (TfxLines) lines;

  for (guint k = 0; k < 2; k++) {
    tfx_line_open (&lines[k], launches[k], &info, __i__ % 2, N);
    tfx_line_push_segment (&lines[k], 0, 0);
    tfx_line_play (&lines[k], in, 0, N / 2, 480);
    if (k == 0)
      take_out (&lines[k], __i__ / 2);
    tfx_line_play (&lines[k], in, N / 2, N, 480);
    tfx_line_end (&lines[k]);
    tfx_line_expect_whole (&lines[k]);
  }
  fail_unless (
      tfx_line_error_db (lines[0].heard, lines[1].heard, 2 * N) <= -134.0);
}
GST_END_TEST;

/* GStreamer leaves its old lists of log functions behind. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

/* ---- while the one before it decides ------------------------------------------- */

/* The element behind "a" goes for good at the k-th thing that "a" logs about one
 * buffer, which is as good as any moment. */
typedef struct
{
  TfxLine *line;
  GstElement *a, *b, *c;
  guint n, at;
  GThread *thread;
  gint is_gone; /* atomic */
} Moment;

static gpointer
take_away (gpointer data)
{
  Moment *moment = data;

  gst_element_unlink (moment->a, moment->b);
  gst_element_unlink (moment->b, moment->c);
  gst_element_link (moment->a, moment->c);
  gst_bin_remove (GST_BIN (moment->line->element), moment->b);
  gst_element_set_state (moment->b, GST_STATE_NULL);
  gst_clear_object (&moment->b);
  g_atomic_int_set (&moment->is_gone, TRUE);
  return NULL;
}

static void
seize (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer data)
{
  Moment *moment = data;

  if (object != G_OBJECT (moment->a) || moment->thread ||
      moment->n++ != moment->at)
    return;
  moment->thread = g_thread_new ("take away", take_away, moment);
  /* It may have to wait for a lock that is held here. */
  for (guint i = 0; i < 20 && !g_atomic_int_get (&moment->is_gone); i++)
    g_usleep (1000);
}

/* No crash; a sanitizer sees more.  Before the first buffer nothing is known of
 * who is behind whom. */
GST_START_TEST (test_neighbour_goes)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (4800, 1);
  Moment moment = { NULL };
  g_auto (TfxLine) line;
  GstDebugLevel level = gst_debug_get_default_threshold ();

  tfx_line_open (&line,
      "tfxbutterworth name=a ! tfxchebyshev name=b ! "
      "identity name=c",
      &info, TRUE, 4800);
  moment = (Moment){ &line, tfx_line_get (&line, "a"),
    tfx_line_get (&line, "b"), tfx_line_get (&line, "c"), 0, __i__ / 2 };
  tfx_line_push_segment (&line, 0, 0);
  if (__i__ % 2)
    tfx_line_play (&line, in, 0, 960, 480);
  __lsan_disable ();
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (seize, &moment, NULL);
  __lsan_enable ();
  gst_debug_set_threshold_from_string ("tfx*:9", FALSE);
  g_object_set (moment.a, "fuse", FALSE, NULL);
  g_object_set (moment.a, "fuse", TRUE, NULL);
  tfx_line_push (&line, in, 960, 480, 0, 0, 0);
  __lsan_disable ();
  gst_debug_remove_log_function (seize);
  __lsan_enable ();
  gst_debug_unset_threshold_for_name ("tfx*");
  gst_debug_set_default_threshold (level);
  if (moment.thread)
    g_thread_join (moment.thread);
  else
    take_away (&moment);
  tfx_line_push (&line, in, 1440, 480, 0, 0, 0);
  fail_unless (line.n_heard >= (__i__ % 2 ? 1440 : 480));
  gst_object_unref (moment.a);
  gst_object_unref (moment.c);
}
GST_END_TEST;

/* A stream that goes on in a thread of its own, without anybody waiting. */
typedef struct
{
  TfxLine line;
  gdouble *in;
  gint is_over; /* atomic */
  GThread *thread;
} Race;

static gpointer
push_all (gpointer data)
{
  Race *race = data;

  for (guint64 at = 0; !g_atomic_int_get (&race->is_over); at += 48)
    tfx_line_push (&race->line, race->in, at % 4800, 48, 0, 0, 0);
  return NULL;
}

/* GStreamer warns of buffers and events that come before those that are due, as
 * they may when links change in between:
 * that is what is tried. */
static gboolean
is_expected (const gchar *domain, GLogLevelFlags level, const gchar *message,
    gpointer data)
{
  return strstr (message, "Got data flow before") ||
         strstr (message, "Sticky event misordering");
}

static void
begin_race (Race *race, const gchar *launch)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  GRegex *any = g_regex_new ("", 0, 0, NULL);

  gst_check_add_log_filter ("GStreamer", G_LOG_LEVEL_WARNING, any, is_expected,
      NULL, NULL);
  race->in = tfx_check_noise (4848, 1);
  race->is_over = FALSE;
  tfx_line_open (&race->line, launch, &info, TRUE, RATE);
  tfx_line_push_segment (&race->line, 0, 0);
  race->thread = g_thread_new ("push", push_all, race);
}

static void
end_race (Race *race)
{
  g_atomic_int_set (&race->is_over, TRUE);
  g_thread_join (race->thread);
  tfx_line_close (&race->line);
  g_free (race->in);
}

/* Elements come and go as fast as they can. */
GST_START_TEST (test_neighbours_race)
{
  g_autoptr (GstElement) a = NULL, c = NULL;
  Race race;

  begin_race (&race, "tfxbutterworth name=a ! identity name=c");
  a = tfx_line_get (&race.line, "a");
  c = tfx_line_get (&race.line, "c");
  for (guint i = 0; i < 300; i++) {
    GstElement *b =
        gst_element_factory_make (i % 2 ? "tfxchain" : "tfxfir", NULL);
    GstElement *d = gst_element_factory_make ("tfxchebyshev", NULL);

    gst_bin_add_many (GST_BIN (race.line.element), b, d, NULL);
    gst_element_sync_state_with_parent (b);
    gst_element_sync_state_with_parent (d);
    gst_element_unlink (a, c);
    gst_element_link_many (a, b, d, c, NULL);
    for (guint k = 0; k < i % 5; k++) {
      g_usleep (50);
      g_object_set (a, "fuse", k % 2, NULL);
    }
    if (i % 3)
      gst_element_unlink (a, b);
    if (i % 4 == 0)
      gst_element_unlink (b, d);
    gst_element_set_state (b, GST_STATE_NULL);
    gst_element_set_state (d, GST_STATE_NULL);
    gst_bin_remove_many (GST_BIN (race.line.element), d, b, NULL);
    gst_element_link (a, c);
  }
  end_race (&race);
}
GST_END_TEST;

/* ---- restarts ------------------------------------------------------------------ */

static GstPad *
link_source (GstElement *element, gboolean with_caps, const GstAudioInfo *info)
{
  GstPad *src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  GstPad *sink = gst_element_get_static_pad (element, "sink");
  GstCaps *caps = gst_audio_info_to_caps (info);
  GstSegment segment;

  fail_unless_equals_int (gst_pad_link (src, sink), GST_PAD_LINK_OK);
  gst_pad_set_active (src, TRUE);
  gst_pad_push_event (src, gst_event_new_stream_start ("tfx"));
  if (with_caps)
    gst_pad_push_event (src, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (src, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  gst_object_unref (sink);
  return src;
}

/* A run before means nothing: buffers that come before caps are refused, and
 * are no trouble. */
GST_START_TEST (test_no_caps_after_restart)
{
  static const gchar *const names[] = { "tfxbutterworth", "tfxchebyshev",
    "tfxfir", "tfxchain" };
  const GstState low = __i__ % 2 ? GST_STATE_READY : GST_STATE_NULL;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (480, 1);
  g_autoptr (TfxHarness) h =
      gst_harness_new_with_padnames (names[__i__ / 2], NULL, "src");
  guint n = 0;

  for (guint run = 0; run < 3; run++) {
    const gboolean has_caps = run != 1;
    g_autoptr (GstPad) src = link_source (h->element, has_caps, &info);

    for (guint i = 0; i < (has_caps ? 1 : 3); i++, n++) {
      GstBuffer *buffer = tfx_check_stamped (&info, in, 480, n * 480);

      /* How long it is could only be told from the caps. */
      if (!has_caps && i > 0)
        GST_BUFFER_DURATION (buffer) = GST_CLOCK_TIME_NONE;
      fail_unless_equals_string (gst_flow_get_name (gst_pad_push (src, buffer)),
          has_caps ? "ok" : "not-negotiated");
    }
    gst_element_set_state (h->element, low);
    gst_pad_set_active (src, FALSE);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
  }
}
GST_END_TEST;

static GstPadProbeReturn
restart (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstElement *element = GST_ELEMENT (GST_OBJECT_PARENT (pad));

  gst_element_set_state (element, GPOINTER_TO_INT (data));
  gst_element_set_state (element, GST_STATE_PLAYING);
  return GST_PAD_PROBE_REMOVE;
}

/* The element restarts when a buffer is on its way to the chain function, as
 * another thread might have it: that buffer belongs to no run.  The next one
 * has its events. */
GST_START_TEST (test_restart_before_chain)
{
  static const gchar *const launches[] = { "tfxbutterworth name=x",
    "tfxfir name=x", "tfxchain name=x",
    "tfxbutterworth ! tfxchebyshev name=x ! tfxbutterworth" };
  const GstState low = __i__ % 2 ? GST_STATE_READY : GST_STATE_NULL;
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autofree gdouble *in = tfx_check_noise (N, 1);
  g_auto (TfxLine) line;
  g_autoptr (GstElement) x = NULL;
  g_autoptr (GstPad) pad = NULL;

  tfx_line_open (&line, launches[__i__ / 4], &info, __i__ / 2 % 2, N);
  x = tfx_line_get (&line, "x");
  pad = gst_element_get_static_pad (x, "sink");
  tfx_line_push_segment (&line, 0, 0);
  tfx_line_play (&line, in, 0, N / 2, 480);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, restart,
      GINT_TO_POINTER (low), NULL);
  fail_unless (tfx_line_push (&line, in, N / 2, 480, 0, 0, 0) != GST_FLOW_OK,
      "a buffer without caps is filtered");
  tfx_line_play (&line, in, N / 2 + 480, N, 480);
}
GST_END_TEST;

GST_START_TEST (test_restart_race)
{
  g_autoptr (GstElement) x = NULL;
  Race race;

  begin_race (&race,
      __i__ ? "tfxbutterworth ! tfxbutterworth name=x ! tfxchebyshev"
            : "tfxbutterworth name=x");
  x = tfx_line_get (&race.line, "x");
  for (guint i = 0; i < 400; i++) {
    gst_element_set_state (x, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    gst_element_set_state (x, GST_STATE_PLAYING);
    g_usleep (i % 7 * 50);
  }
  end_race (&race);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("removals");

  /* The first list of log functions is made here. */
  __lsan_disable ();
  gst_init (&argc, &argv);
  __lsan_enable ();
  tcase_add_loop_test (tc, test_removal, 0, 4 * G_N_ELEMENTS (removals));
  tcase_add_loop_test (tc, test_removal_is_not_heard_elsewhere, 0, 4);
  tcase_add_loop_test (tc, test_neighbour_goes, 0, 24);
  tcase_add_test (tc, test_neighbours_race);
  tcase_add_loop_test (tc, test_no_caps_after_restart, 0, 8);
  tcase_add_loop_test (tc, test_restart_before_chain, 0, 16);
  tcase_add_loop_test (tc, test_restart_race, 0, 2);
  return tfx_check_run (argc, argv, tc);
}
