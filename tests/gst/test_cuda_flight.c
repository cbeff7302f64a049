/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_flight.c: two buffers in flight: which come when, that nothing is
 * lost, and that copies and kernels of different buffers overlap.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calling.h"
#include "deck.h"
#include "tfxplay.h"

#define RATE 48000
#define N_FRAMES 600
#define CHAIN                                                                  \
  "tfxbutterworth mode=high-pass cutoff=100 order=3 DEVICE ! "                 \
  "tfxfir name=last taps=31 align=false DEVICE device-delay="

/* ---- what comes when ------------------------------------------------------------- */

static GstClockTime
ask_latency (Deck *deck)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min = 0;

  fail_unless (gst_pad_peer_query (deck->h->sinkpad, query));
  gst_query_parse_latency (query, NULL, &min, NULL);
  gst_query_unref (query);
  return min;
}

/* Pushes a buffer: how many have come out then. */
static guint
push_one (Deck *deck)
{
  fail_unless_equals_int (deck_push (deck, N_FRAMES), GST_FLOW_OK);
  return deck->n_buffers;
}

/* What was in flight at each of these goes out before it. */
GST_START_TEST (test_when)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (CHAIN "1", DECK_CUDA, &info);

  /* One that begins a stream is waited for. */
  fail_unless_equals_int (push_one (deck), 1);
  fail_unless_equals_int (ask_latency (deck), 0);
  for (guint i = 1; i < 5; i++)
    fail_unless_equals_int (push_one (deck), i);
  fail_unless_equals_uint64 (ask_latency (deck),
      gst_util_uint64_scale_ceil (N_FRAMES, GST_SECOND, RATE));
  deck_drain (deck);
  fail_unless_equals_int (deck->n_buffers, 5);

  fail_unless_equals_int (push_one (deck), 5);
  deck_push_event (deck, gst_event_new_tag (gst_tag_list_new_empty ()));
  fail_unless_equals_int (deck->n_buffers, 6);

  /* Another setting. */
  fail_unless_equals_int (push_one (deck), 6);
  deck_set (deck, "last", "taps", "45");
  fail_unless_equals_int (push_one (deck), 8);

  /* Nobody waits for what is flushed. */
  while (push_one (deck) == deck->n_in / N_FRAMES)
    fail_unless (deck->n_in < 100 * N_FRAMES);
  deck_push_event (deck, gst_event_new_flush_start ());
  deck_push_event (deck, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_uint64 (deck->n_buffers, deck->n_in / N_FRAMES - 1);

  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* A harness is live. */
GST_START_TEST (test_live)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (CHAIN "-1", DECK_CUDA, &info);

  for (guint i = 1; i < 5; i++)
    fail_unless_equals_int (push_one (deck), i);
  fail_unless_equals_int (ask_latency (deck), 0);
  deck_set (deck, "last", "device-delay", "1");
  fail_unless_equals_int (push_one (deck), 4);
  deck_set (deck, "last", "device-delay", "0");
  fail_unless_equals_int (push_one (deck), 6);
  fail_unless_equals_int (ask_latency (deck), 0);
  deck_free (deck);
}
GST_END_TEST;

/* The elements that take a buffer in memory of another element, in flight or to CUDA
 * memory: two fused filters, one alone, and one that passes silence. */
static const struct
{
  const gchar *name, *launch;
  gboolean is_gap;
} takers[] = {
  { "fused in flight", CHAIN "1" },
  { "alone in flight",
      "tfxfir name=last taps=31 align=false DEVICE device-delay=1" },
  { "fused to CUDA memory", CHAIN "0 ! MEMORY" },
  { "alone to CUDA memory", "tfxbutterworth name=last DEVICE ! MEMORY" },
  { "a gap to CUDA memory", "tfxfir name=last taps=31 DEVICE ! MEMORY", TRUE },
};

/* It is mapped (0) and unmapped (1) with no filter locked. */
GST_START_TEST (test_foreign_memory)
{
  const guint taker = __i__ / 2;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (takers[taker].launch, DECK_CUDA, &info);
  GstElement *last = deck_element (deck, "last");
  CallingDeed deed = { .deed = calling_read_response,
    .element = last,
    .at_unmap = __i__ % 2,
    .seconds = 3 };
  GstBuffer *buffer = calling_buffer_new (N_FRAMES * info.bpf, &deed);

  if (!takers[taker].is_gap)
    deck_push_many (deck, 3 * N_FRAMES, N_FRAMES);
  else
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS (buffer) =
      gst_util_uint64_scale (deck->n_in, GST_SECOND, RATE);
  fail_unless_equals_int (gst_harness_push (deck->h, buffer), GST_FLOW_OK);
  deck_drain (deck);
  calling_expect_done (&deed, takers[taker].name);
  gst_object_unref (last);
  deck_free (deck);
}
GST_END_TEST;

/* The buffer before an invalid one is sent before the error. */
GST_START_TEST (test_invalid)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck =
      deck_new ("tfxbutterworth DEVICE device-delay=1", DECK_CUDA, &info);

  for (guint i = 0; i < 3; i++)
    push_one (deck);
  fail_unless_equals_int (deck->n_buffers, 2);
  fail_unless_equals_int (gst_harness_push (deck->h,
                              gst_buffer_new_allocate (NULL, 7, NULL)),
      GST_FLOW_ERROR);
  fail_unless_equals_int (deck->n_buffers, 3);
  tfx_check_expect_error (deck->bus, "7 bytes", NULL);
  deck_free (deck);
}
GST_END_TEST;

/* A break resets the filter also if the buffer in flight before it is refused. */
GST_START_TEST (test_refused_before_break)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxfir name=last taps=31 align=false device=cuda "
                         "device-delay=1 ! identity name=behind",
          &info);
  g_autoptr (GstElement) behind =
      gst_bin_get_by_name (GST_BIN (h->element), "behind");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (behind, "sink");
  g_autoptr (GstPad) src = gst_pad_get_peer (sink);
  g_autofree gdouble *ones = tfx_check_constant (N_FRAMES, 1.0);
  g_autofree gdouble *zeros = tfx_check_constant (N_FRAMES, 0.0);
  g_autofree gdouble *out = NULL;
  g_autoptr (GstBuffer) buffer = NULL;

  for (guint i = 0; i < 4; i++)
    fail_unless_equals_int (gst_harness_push (h, tfx_check_stamped (&info, ones,
                                                     N_FRAMES, i * N_FRAMES)),
        GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 3);
  gst_pad_unlink (src, sink);
  fail_unless_equals_int (gst_harness_push (h, tfx_check_stamped (&info, zeros,
                                                   N_FRAMES, 9 * RATE)),
      GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (gst_pad_link (src, sink), GST_PAD_LINK_OK);
  gst_harness_push (h,
      tfx_check_stamped (&info, zeros, N_FRAMES, 9 * RATE + N_FRAMES));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 4);
  for (guint i = 0; i < 3; i++)
    gst_buffer_unref (gst_harness_pull (h));
  buffer = gst_harness_pull (h);
  out = tfx_check_samples (buffer, &info, NULL);
  fail_unless (tfx_check_distance (out, zeros, N_FRAMES) == 0.0);
}
GST_END_TEST;

/* A property that is set while the next buffer is clipped, as by another thread. */
typedef struct
{
  GstElement *element;
  const Deck *deck;
  gboolean is_armed, is_changed;
  guint n_buffers; /* that had come out before the change */
} Meddler;

static void
see_log (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer data)
{
  Meddler *meddler = data;
  const gchar *text = gst_debug_message_get (message);

  if (meddler->is_armed && g_str_has_prefix (text, "copy ")) {
    meddler->is_armed = FALSE;
    g_object_set (meddler->element, "cutoff", 500.0, NULL);
  }
  if (object == G_OBJECT (meddler->element) &&
      g_str_has_prefix (text, "new values")) {
    meddler->is_changed = TRUE;
    meddler->n_buffers = meddler->deck->n_buffers;
  }
}

/* A filter does not change while a buffer is in flight. */
GST_START_TEST (test_set_in_flight)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("tfxbutterworth name=last DEVICE device-delay=1",
      DECK_CUDA, &info);
  Meddler meddler = { .element = deck_element (deck, "last"), .deck = deck };
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.stop = gst_util_uint64_scale (3 * N_FRAMES + 9, GST_SECOND, RATE);
  deck_push_event (deck, gst_event_new_segment (&segment));
  deck_push_many (deck, 3 * N_FRAMES, N_FRAMES);
  fail_unless_equals_int (deck->n_buffers, 2);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (see_log, &meddler, NULL);
  gst_debug_set_active (TRUE);
  gst_debug_set_threshold_for_name ("tfxelement", GST_LEVEL_LOG);
  gst_debug_set_threshold_for_name ("GST_BUFFER", GST_LEVEL_LOG);
  meddler.is_armed = TRUE;
  push_one (deck);
  fail_unless (!meddler.is_armed);
  gst_debug_unset_threshold_for_name ("GST_BUFFER");
  gst_debug_unset_threshold_for_name ("tfxelement");
  gst_debug_remove_log_function (see_log);
  fail_unless (!meddler.is_changed || meddler.n_buffers == 3,
      "%u buffers were sent before the change", meddler.n_buffers);
  gst_object_unref (meddler.element);
  deck_free (deck);
}
GST_END_TEST;

/* A pool of which what follows keeps all buffers but one. */
static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool (query, NULL, N_FRAMES * 8, 1, 2);
  gst_query_add_allocation_pool (query, NULL, N_FRAMES * 8, 0, 0);
  return GST_PAD_PROBE_HANDLED;
}

/* The buffer that is in flight must not be the last one. */
GST_START_TEST (test_pool)
{
  static const guint least[] = { 2, 1 }, most[] = { 3, 0 };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (CHAIN "1", DECK_CUDA, &info);
  GstCaps *caps = gst_audio_info_to_caps (&info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_pad_add_probe (deck->h->sinkpad,
      GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH, offer_pool,
      NULL, NULL);
  push_one (deck);
  fail_unless (gst_pad_peer_query (deck->h->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 2);
  for (guint i = 0; i < 2; i++) {
    guint size, min, max;

    gst_query_parse_nth_allocation_pool (query, i, NULL, &size, &min, &max);
    fail_unless_equals_int (size, N_FRAMES * 8);
    fail_unless_equals_int (min, least[i]);
    fail_unless_equals_int (max, most[i]);
  }
  gst_query_unref (query);
  gst_caps_unref (caps);
  deck_free (deck);
}
GST_END_TEST;

/* ---- an element that is taken out ------------------------------------------------- */

/* The pads that are unlinked: that in front, that behind, that in front of the bin
 * that the element is in, and two further behind, of the bin and in it; while it
 * plays, and while it is paused. */
#define N_UNLINKED 5

static GstPad *
find_unlinked (Deck *deck, gint number)
{
  const gchar *name = number == 0 || number == 2 ? "sink" : "src";

  if (number == 2 || number == 4)
    return gst_element_get_static_pad (deck->h->element, name);
  return deck_pad (deck, number == 3 ? "behind" : "last", name);
}

/* Unlinks the pad; returns the one that it was linked to. */
static GstPad *
unlink_pad (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  if (GST_PAD_IS_SRC (pad))
    fail_unless (gst_pad_unlink (pad, peer));
  else
    fail_unless (gst_pad_unlink (peer, pad));
  return peer;
}

static void
expect_no_gap (const Deck *deck)
{
  for (guint i = 0; i < deck->times->len; i++)
    fail_unless_equals_uint64 (g_array_index (deck->times, GstClockTime, i),
        gst_util_uint64_scale (i * N_FRAMES, GST_SECOND, RATE));
}

/* The buffer in flight waits, and goes out first when the stream continues. */
GST_START_TEST (test_unlink)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("identity ! " CHAIN "1 ! identity name=behind",
      DECK_CUDA, &info);
  GstPad *pad = find_unlinked (deck, __i__ % N_UNLINKED), *peer;

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless_equals_int (deck->n_buffers, 3);
  if (__i__ >= N_UNLINKED)
    gst_element_set_state (deck->h->element, GST_STATE_PAUSED);
  peer = unlink_pad (pad);
  fail_unless_equals_int (deck->n_buffers, 3);
  if (__i__ >= N_UNLINKED)
    gst_element_set_state (deck->h->element, GST_STATE_PLAYING);
  fail_unless_equals_int (GST_PAD_IS_SRC (pad) ? gst_pad_link (pad, peer)
                                               : gst_pad_link (peer, pad),
      GST_PAD_LINK_OK);
  deck_push_many (deck, N_FRAMES, N_FRAMES);
  deck_drain (deck);
  fail_unless_equals_int (deck->n_buffers, 5);
  expect_no_gap (deck);
  tfx_check_expect_no_warning (deck->bus);
  gst_object_unref (peer);
  gst_object_unref (pad);
  deck_free (deck);
}
GST_END_TEST;

static GstPadProbeReturn
take_lock (GstPad *pad, GstPadProbeInfo *info, gpointer lock)
{
  g_mutex_lock (lock);
  g_mutex_unlock (lock);
  return GST_PAD_PROBE_OK;
}

/* An application unlinks with a mutex held that a probe downstream takes too. */
GST_START_TEST (test_unlink_locked)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("identity ! " CHAIN "1 ! identity name=behind",
      DECK_CUDA, &info);
  GstPad *pad = find_unlinked (deck, __i__);
  GMutex lock;

  g_mutex_init (&lock);
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  gst_pad_add_probe (deck->h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, take_lock,
      &lock, NULL);
  g_mutex_lock (&lock);
  gst_object_unref (unlink_pad (pad));
  g_mutex_unlock (&lock);
  gst_object_unref (pad);
  deck_free (deck);
  g_mutex_clear (&lock);
}
GST_END_TEST;

/* Takes an element out: with EOS all frames go out; without EOS it drops the buffer in
 * flight and warns. */
GST_START_TEST (test_taken_out)
{
  const gboolean has_eos = __i__;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("identity name=front ! " CHAIN "1 ! identity "
                         "name=behind",
      DECK_CUDA, &info);
  GstElement *last = deck_element (deck, "last");
  GstPad *sink = deck_pad (deck, "last", "sink");
  GstPad *src = deck_pad (deck, "last", "src");

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  gst_object_unref (unlink_pad (sink));
  if (has_eos)
    fail_unless (gst_pad_send_event (sink, gst_event_new_eos ()));
  gst_object_unref (unlink_pad (src));
  fail_unless_equals_int (deck->n_buffers, has_eos ? 4 : 3);
  gst_element_set_state (last, GST_STATE_NULL);
  if (!has_eos)
    tfx_check_expect_warning (deck->bus, "600 frames", "without EOS", NULL);
  tfx_check_expect_no_warning (deck->bus);
  gst_object_unref (sink);
  gst_object_unref (src);
  gst_object_unref (last);
  deck_free (deck);
}
GST_END_TEST;

/* ---- calls that fail --------------------------------------------------------------- */

static const gchar *const functions[] = { "cuLaunchKernel",
  "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventRecord",
  "cuEventQuery", "cuStreamWaitEvent", "cuMemAlloc_v2", "cuMemHostAlloc",
  "cuPointerGetAttribute", "cuCtxPushCurrent_v2" };

static Deck *
play (DeckSide side, const gchar *fail)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_NON_INTERLEAVED);
  Deck *deck = deck_new (CHAIN "1", side, &info);

  deck_push_many (deck, 2 * N_FRAMES, N_FRAMES);
  if (fail)
    g_setenv ("TFX_STANDIN_FAIL", fail, TRUE);
  deck_push_many (deck, 6 * N_FRAMES, N_FRAMES);
  deck_end (deck);
  g_unsetenv ("TFX_STANDIN_FAIL");
  return deck;
}

/* The CPU goes on from the very sample, in both buffers. */
GST_START_TEST (test_fault)
{
  Deck *cpu = play (DECK_CPU, NULL);
  guint n_warnings = 0;

  for (guint n = 1; n <= 4; n++) {
    gchar *fail = g_strdup_printf ("%s:%u", functions[__i__], n), *warning;
    Deck *cuda = play (DECK_CUDA, fail);
    gdouble db = deck_distance_db (cpu, cuda);

    deck_expect_same_times (cpu, cuda, fail);
    fail_unless (db < -220.0, "%s: %g dB", fail, db);
    warning = tfx_check_pop_warning (cuda->bus);
    n_warnings += warning != NULL;
    if (warning)
      fail_unless (strstr (warning, "with the same state"), "%s", warning);
    g_free (warning);
    deck_free (cuda);
    g_free (fail);
  }
  if (strstr (functions[__i__], "Launch"))
    fail_unless_equals_int (n_warnings, 4);
  deck_free (cpu);
}
GST_END_TEST;

/* With the device for good: the state is gone, the frames are not. */
GST_START_TEST (test_lost)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (CHAIN "1", DECK_CUDA, &info);
  gchar *warning;

  deck_push_many (deck, 5 * N_FRAMES, N_FRAMES);
  g_setenv ("TFX_STANDIN_FAIL", "1,719,sticky", TRUE);
  deck_push_many (deck, 5 * N_FRAMES, N_FRAMES);
  deck_end (deck);
  g_unsetenv ("TFX_STANDIN_FAIL");
  fail_unless_equals_uint64 (deck->n_frames, 10 * N_FRAMES);
  expect_no_gap (deck);
  warning = tfx_check_pop_warning (deck->bus);
  fail_unless (warning && strstr (warning, "lost"), "%s", warning);
  g_free (warning);
  deck_free (deck);
}
GST_END_TEST;

/* ---- a file --------------------------------------------------------------------------- */

typedef struct
{
  gdouble begin, end;
} Span;

typedef struct
{
  GArray *up, *kernels; /* of Span */
  gdouble device, pinned;
} Timeline;

static void
timeline_read (Timeline *t, const gchar *path)
{
  gchar *text, **rows;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  *t = (Timeline){ g_array_new (FALSE, FALSE, sizeof (Span)),
    g_array_new (FALSE, FALSE, sizeof (Span)), 0, 0 };
  rows = g_strsplit (text, "\n", 0);
  for (guint r = 0; rows[r]; r++) {
    gchar name[16];
    Span span;

    sscanf (rows[r], "memory %lf %lf", &t->device, &t->pinned);
    if (sscanf (rows[r], "%15s %*s %lf %lf", name, &span.begin, &span.end) != 3)
      continue;
    if (strcmp (name, "up") == 0)
      g_array_append_val (t->up, span);
    else if (strcmp (name, "kernel") == 0)
      g_array_append_val (t->kernels, span);
  }
  g_strfreev (rows);
  g_free (text);
}

static void
timeline_clear (Timeline *t)
{
  g_array_unref (t->up);
  g_array_unref (t->kernels);
}

/* As a file does. */
static GstPadProbeReturn
tell_duration (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);

  if (GST_QUERY_TYPE (query) != GST_QUERY_DURATION)
    return GST_PAD_PROBE_OK;
  gst_query_set_duration (query, GST_FORMAT_TIME, GST_SECOND);
  return GST_PAD_PROBE_HANDLED;
}

/* Kernels are not run; the timeline is that of buffers behind the first ones. */
static void
play_file (const gchar *delay, guint n_buffers, guint n_frames, Timeline *t)
{
  static guint n_played;
  /* Another file, another count of memory. */
  gchar *path =
      g_strdup_printf ("/tmp/tfx-flight-%d-%u", (gint)getpid (), n_played++);
  gchar *launch =
      g_strdup_printf ("audiotestsrc wave=square num-buffers=%u "
                       "samplesperbuffer=%u ! "
                       "audio/x-raw,format=F32LE,rate=44100,"
                       "channels=2 ! tfxchain name=e chain="
                       "\"HiButterworth(80,4)|LoButterworth(9000)\" "
                       "device=cuda device-delay=%s ! fakesink",
          n_buffers, n_frames, delay);
  GstElement *pipeline = tfx_play_make (launch, NULL);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "e");
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, tell_duration,
      NULL, NULL);
  gst_object_unref (pad);
  gst_object_unref (element);

  g_unlink (path);
  g_setenv ("TFX_STANDIN_TIMELINE", path, TRUE);
  g_setenv ("TFX_STANDIN_KERNELS", "none", TRUE);
  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  tfx_play_stop (pipeline);
  g_unsetenv ("TFX_STANDIN_KERNELS");
  g_unsetenv ("TFX_STANDIN_TIMELINE");
  timeline_read (t, path);
  g_unlink (path);
  g_free (launch);
  g_free (path);
}

/* How many of the last buffers go up before the kernel of the one before has
 * ended. */
#define N_COUNTED 50

static guint
count_overlaps (const Timeline *t)
{
  guint n = 0;

  for (guint i = 1; i <= N_COUNTED; i++)
    n += g_array_index (t->up, Span, t->up->len - i).begin <
         g_array_index (t->kernels, Span, t->kernels->len - i - 1).end;
  return n;
}

GST_START_TEST (test_file)
{
  const guint n = 60, n_frames = 1 << 17;
  Timeline waits, flies;

  play_file ("0", n, n_frames, &waits);
  play_file ("-1", n, n_frames, &flies);
  fail_unless (flies.kernels->len >= n);
  fail_unless_equals_int (count_overlaps (&waits), 0);
  fail_unless_equals_int (count_overlaps (&flies), N_COUNTED);
  timeline_clear (&waits);
  timeline_clear (&flies);
}
GST_END_TEST;

/* Ten minutes in buffers of 24 s take what one minute takes. */
GST_START_TEST (test_memory)
{
  const guint n_frames = 1 << 20, minute = 60 * 44100 / n_frames + 1;
  Timeline one, ten;

  play_file ("-1", minute, n_frames, &one);
  play_file ("-1", 10 * minute, n_frames, &ten);
  GST_INFO ("device %.1f MB, pinned %.1f MB", ten.device / 1e6,
      ten.pinned / 1e6);
  fail_unless (ten.device > 0 && ten.pinned > 0);
  fail_unless (ten.device + ten.pinned < 100e6, "%g bytes",
      ten.device + ten.pinned);
  fail_unless (ten.device == one.device && ten.pinned == one.pinned,
      "%g and %g bytes, of one minute %g and %g", ten.device, ten.pinned,
      one.device, one.pinned);
  timeline_clear (&one);
  timeline_clear (&ten);
}
GST_END_TEST;

/* ---- suite ----------------------------------------------------------------------------- */

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_flight");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_when);
  tcase_add_test (tc, test_live);
  tcase_add_loop_test (tc, test_foreign_memory, 0, 2 * G_N_ELEMENTS (takers));
  tcase_add_test (tc, test_invalid);
  tcase_add_test (tc, test_refused_before_break);
  tcase_add_test (tc, test_set_in_flight);
  tcase_add_test (tc, test_pool);
  tcase_add_loop_test (tc, test_unlink, 0, 2 * N_UNLINKED);
  tcase_add_loop_test (tc, test_unlink_locked, 0, N_UNLINKED);
  tcase_add_loop_test (tc, test_taken_out, 0, 2);
  tcase_add_loop_test (tc, test_fault, 0, G_N_ELEMENTS (functions));
  tcase_add_test (tc, test_lost);
  tcase_add_test (tc, test_file);
  tcase_add_test (tc, test_memory);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
