/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_log.c: the log of a stream with GST_DEBUG=tfx*:5.
 */
#include <string.h>

#include "tfxcheck.h"

#define RATE 48000
#define SIZE 480

/* Lines of the log, "name: message", in their order. */
typedef struct
{
  GMutex lock;
  GPtrArray *lines;
} Log;

static void
write_line (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint line, GObject *object, GstDebugMessage *message,
    gpointer data)
{
  Log *log = data;

  if (!g_str_has_prefix (gst_debug_category_get_name (category), "tfx"))
    return;
  g_mutex_lock (&log->lock);
  g_ptr_array_add (log->lines,
      g_strdup_printf ("%s: %s",
          GST_IS_OBJECT (object) ? GST_OBJECT_NAME (object) : "",
          gst_debug_message_get (message)));
  g_mutex_unlock (&log->lock);
}

static void
log_begin (Log *log)
{
  g_mutex_init (&log->lock);
  log->lines = g_ptr_array_new_with_free_func (g_free);
  gst_debug_set_threshold_for_name ("tfx*", GST_LEVEL_DEBUG);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (write_line, log, NULL);
}

static void
log_end (Log *log)
{
  gst_debug_remove_log_function (write_line);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  gst_debug_unset_threshold_for_name ("tfx*");
  g_ptr_array_unref (log->lines);
  g_mutex_clear (&log->lock);
}

/* A line of this element that begins with this text must be there. */
static void
expect (Log *log, const gchar *name, const gchar *text)
{
  g_autofree gchar *line = g_strdup_printf ("%s: %s", name, text);
  gboolean is_there = FALSE;

  g_mutex_lock (&log->lock);
  for (guint i = 0; i < log->lines->len && !is_there; i++)
    is_there = g_str_has_prefix (log->lines->pdata[i], line);
  if (!is_there)
    for (guint i = 0; i < log->lines->len; i++)
      g_printerr ("  %s\n", (const gchar *)log->lines->pdata[i]);
  g_mutex_unlock (&log->lock);
  fail_unless (is_there, "no line \"%s\"", line);
}

/* Forgets the lines; how many there were. */
static guint
log_forget (Log *log)
{
  guint n;

  g_mutex_lock (&log->lock);
  n = log->lines->len;
  g_ptr_array_set_size (log->lines, 0);
  g_mutex_unlock (&log->lock);
  return n;
}

static void
push (GstHarness *h, const GstAudioInfo *info, guint n_buffers, guint64 from)
{
  g_autofree gdouble *in = tfx_check_noise (SIZE * 2, 1);

  for (guint i = 0; i < n_buffers; i++)
    fail_unless_equals_int (GST_FLOW_OK,
        gst_harness_push (h,
            tfx_check_stamped (info, in, SIZE, from + i * SIZE)));
}

/* Two elements run as one; a third one has another device setting, and latency.
 * The log has their caps, fusion, chains, latency, drops and resets. */
GST_START_TEST (test_stream)
{
  GstAudioInfo f32 = tfx_check_f32 (RATE, 2), f64, other;
  GstElement *chain;
  GstHarness *h;
  Log log;

  f64 = tfx_check_f64 (RATE, 2);
  other = tfx_check_f32 (RATE / 2, 2);
  log_begin (&log);
  h = tfx_check_harness ("tfxbutterworth name=a ! "
                         "tfxchain name=b chain=\"Gain(0.5)\" ! "
                         "tfxfir name=c taps=101 device=cpu",
      &f32);
  expect (&log, "a", "started");
  expect (&log, "a", "input caps audio/x-raw");
  expect (&log, "a", "output caps audio/x-raw");
  expect (&log, "b", "chain: Gain(0.5)");
  expect (&log, "c", "new filter: 2 channels in, 2 out, 48000 Hz, latency 50");
  expect (&log, "c", "latency 0:00:00.00104");
  push (h, &f32, 4, 0);
  expect (&log, "a", "fusion: the filter is deferred to <b>");
  expect (&log, "b",
      "fusion: the filter runs here: the next element has "
      "another device setting");
  expect (&log, "c", "fusion: the filter runs here: no tfx element follows");
  expect (&log, "c", "dropped 50 frames: before the start of the stream");

  /* No line for each buffer. */
  log_forget (&log);
  push (h, &f32, 20, 4 * SIZE);
  fail_unless_equals_int (log_forget (&log), 0);

  chain = gst_bin_get_by_name (GST_BIN (h->element), "b");
  g_object_set (chain, "chain", "Gain(0.5) | LoButterworth(4000)", NULL);
  gst_object_unref (chain);
  push (h, &f32, 2, 24 * SIZE);
  expect (&log, "b", "chain: Gain(0.5) | LoButterworth(4000)");

  tfx_check_flush (h);
  expect (&log, "a", "reset: flush");
  expect (&log, "c", "dropped 50 held frames: flush");
  expect (&log, "c", "segment time segment");
  push (h, &f32, 2, 0);

  log_forget (&log);
  tfx_check_set_info (h, &f64);
  push (h, &f64, 2, 2 * SIZE);
  expect (&log, "a", "the filter keeps its state: F64");
  tfx_check_set_info (h, &other);
  expect (&log, "a", "reset: other channels or another rate");
  expect (&log, "c", "draining 50 frames: other channels or another rate");
  expect (&log, "c", "new filter: 2 channels in, 2 out, 24000 Hz");
  push (h, &other, 2, 2 * SIZE);

  log_forget (&log);
  /* The timestamps jump by two seconds. */
  push (h, &other, 1, 100 * SIZE);
  expect (&log, "c", "break: a buffer at ");
  expect (&log, "c", "reset: a break in the timestamps");
  log_forget (&log);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  expect (&log, "c", "draining 50 frames: end of stream");
  expect (&log, "a", "reset: end of stream");
  gst_harness_teardown (h);
  log_end (&log);
}
GST_END_TEST;

/* Frames outside of the segment. */
GST_START_TEST (test_drops)
{
  GstAudioInfo f32 = tfx_check_f32 (RATE, 2);
  GstSegment segment;
  GstHarness *h;
  Log log;

  log_begin (&log);
  h = tfx_check_harness ("tfxbutterworth name=a", &f32);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  push (h, &f32, 1, 0);
  expect (&log, "a", "dropped 480 frames: outside of time segment");
  gst_harness_teardown (h);
  log_end (&log);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("log");

  tcase_add_test (tc, test_stream);
  tcase_add_test (tc, test_drops);
  return tfx_check_run (argc, argv, tc);
}
