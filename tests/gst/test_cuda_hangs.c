/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_hangs.c: a kernel that never ends while elements play.
 */
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudamemory.h>
#include <string.h>
#include <unistd.h>

#include "deck.h"

#define RATE 48000
#define N_FRAMES 512

static const gchar *const launches[] = {
  "tfxbutterworth mode=high-pass cutoff=100 DEVICE",
  /* Memory stays on the device between them. */
  ("tfxbutterworth mode=high-pass cutoff=100 fuse=false DEVICE ! "
   "tfxbutterworth cutoff=3000 fuse=false DEVICE"),
  /* In-flight buffers. */
  "tfxchain DEVICE chain=\"HiButterworth(100) | Echo(700)\" device-delay=1",
  /* The application maps the memory. */
  "tfxbutterworth mode=high-pass cutoff=100 DEVICE ! MEMORY",
};

/* Whether a warning contains the text. */
static gboolean
has_warning (Deck *deck, const gchar *text)
{
  gboolean found = FALSE;
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (deck->bus, GST_MESSAGE_WARNING))) {
    GError *error;

    gst_message_parse_warning (message, &error, NULL);
    found |= strstr (error->message, text) != NULL;
    g_error_free (error);
    gst_message_unref (message);
  }
  return found;
}

/* The element reports the device and the time, and the CPU continues; a flush and a
 * stop return.  After a restart the device is used again. */
GST_START_TEST (test_hang)
{
  const gchar *launch = launches[__i__];
  const gboolean ends_on_device = __i__ == 3;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (launch, DECK_CUDA, &info);
  gchar path[64];
  gint64 start;

  deck->may_lose = TRUE;
  g_snprintf (path, sizeof path, "/tmp/tfx-gst-hangs-%d", (gint)getpid ());
  g_setenv ("TFX_STANDIN_REPORT", path, TRUE);
  deck_push_many (deck, 3 * N_FRAMES, N_FRAMES);
  tfx_check_expect_no_warning (deck->bus);

  g_setenv ("TFX_STANDIN_SLOW", "never", TRUE);
  start = g_get_monotonic_time ();
  /* Downstream accepts nothing else than CUDA memory in the last case. */
  for (guint i = 0; i < 4; i++)
    fail_unless (deck_push (deck, N_FRAMES) == GST_FLOW_OK || ends_on_device);
  fail_unless (has_warning (deck,
                   "CUDA failed: stand-in 0: the device has not answered for "
                   "1.0 s. Filtering continues on the CPU"),
      "%s", launch);
  if (!ends_on_device) {
    deck_drain (deck);
    fail_unless_equals_uint64 (deck->n_frames, 7 * N_FRAMES);
  }
  deck_push_event (deck, gst_event_new_flush_start ());
  deck_push_event (deck, gst_event_new_flush_stop (TRUE));
  fail_unless_equals_int (gst_element_set_state (deck->h->element,
                              GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  fail_unless (g_get_monotonic_time () - start < 2 * G_USEC_PER_SEC,
      "%s: %d ms", launch, (gint)(g_get_monotonic_time () - start) / 1000);

  g_unsetenv ("TFX_STANDIN_SLOW");
  gst_bus_set_flushing (deck->bus, TRUE);
  gst_bus_set_flushing (deck->bus, FALSE);
  deck_restart (deck);
  deck_push_many (deck, 3 * N_FRAMES, N_FRAMES);
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
  /* The driver was asked for nothing that it would have waited for. */
  fail_if (g_file_test (path, G_FILE_TEST_EXISTS), "%s: see %s", launch, path);
  g_unsetenv ("TFX_STANDIN_REPORT");
}
GST_END_TEST;

/* Replaces the buffer by one in memory of libgstcuda, as other elements have it. */
static GstPadProbeReturn
make_foreign (GstPad *pad, GstPadProbeInfo *probe, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (probe);
  GstBuffer *foreign = gst_buffer_new ();
  GstCudaAllocator *allocator = g_object_new (GST_TYPE_CUDA_ALLOCATOR, NULL);
  GstCudaContext *context =
      GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0))->context;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_RGBA,
      gst_buffer_get_size (buffer) / 4, 1);
  gst_buffer_append_memory (foreign,
#if GST_CHECK_VERSION(1, 24, 0)
      gst_cuda_allocator_alloc (allocator, context, NULL, &info));
#else
      gst_cuda_allocator_alloc (allocator, context, &info));
#endif
  gst_object_unref (allocator);
  gst_buffer_copy_into (foreign, buffer, GST_BUFFER_COPY_METADATA, 0, -1);
  gst_buffer_unref (buffer);
  GST_PAD_PROBE_INFO_DATA (probe) = foreign;
  return GST_PAD_PROBE_OK;
}

/* The element waits before it returns memory of another allocator: a timeout is an
 * error of the run, which has not waited for anything else. */
GST_START_TEST (test_foreign)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("tfxbutterworth fuse=false cutoff=100 DEVICE ! "
                         "tfxbutterworth name=e1 fuse=false DEVICE ! MEMORY",
      DECK_CUDA, &info);
  GstElement *element = deck_element (deck, "e1");
  GstPad *pad = gst_element_get_static_pad (element, "sink");

  deck->may_lose = TRUE;
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, make_foreign, NULL, NULL);
  deck_push_many (deck, 3 * N_FRAMES, N_FRAMES);
  tfx_check_expect_no_warning (deck->bus);
  g_setenv ("TFX_STANDIN_SLOW", "never", TRUE);
  deck_push (deck, N_FRAMES);
  fail_unless (has_warning (deck, "the device has not answered for 1.0 s"));
  g_unsetenv ("TFX_STANDIN_SLOW");
  gst_object_unref (pad);
  gst_object_unref (element);
  deck_free (deck);
}
GST_END_TEST;

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_hangs");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 30);
  tcase_add_loop_test (tc, test_hang, 0, G_N_ELEMENTS (launches));
  tcase_add_test (tc, test_foreign);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
