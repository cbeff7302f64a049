/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_life.c: pipelines that seek, stop and start again, and leave nothing
 * behind.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "tfxplay.h"

#define RATE 48000

/* ---- seeks ----------------------------------------------------------------------------- */

/* A second of stereo float32 noise in a WAV file. */
static gchar *
write_wav (void)
{
  gchar *path = NULL;
  gint fd = g_file_open_tmp ("tfx-XXXXXX.wav", &path, NULL);
  g_autofree gchar *launch = g_strdup_printf (
      "audiotestsrc wave=white-noise num-buffers=48 samplesperbuffer=1000 ! "
      "audio/x-raw,format=F32LE,rate=48000,channels=2 ! wavenc ! "
      "filesink location=\"%s\"",
      path);

  fail_unless (fd >= 0);
  g_close (fd, NULL);
  tfx_play (launch, NULL);
  return path;
}

/* What plays from a time on: with a filter at rest, after a flushing seek to
 * that time or, for comparison, from the file's samples. */
static void
play_from (const gchar *path, const gchar *filter, gboolean warm_up,
    GstClockTime time, TfxCaught *caught)
{
  g_autofree gchar *launch =
      g_strdup_printf ("filesrc location=\"%s\" ! wavparse%s%s ! "
                       "fakesink name=sink",
          path, *filter ? " ! " : "", filter);
  GstElement *pipeline = tfx_play_make (launch, caught);

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                              GST_CLOCK_TIME_NONE),
      GST_STATE_CHANGE_SUCCESS);
  if (warm_up)
    tfx_play_run (pipeline, GST_MESSAGE_EOS);
  fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, time));
  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  tfx_play_stop (pipeline);
}

GST_START_TEST (test_flushing_seek)
{
  static const TfxDesign design = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS,
    6, 100.0 };
  const GstClockTime time = 250 * GST_MSECOND;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  g_autofree gchar *path = write_wav ();
  g_auto (TfxCaught) plain, filtered;
  g_autofree gdouble *in = NULL, *out = NULL, *expected = NULL;
  guint n;

  play_from (path, "", FALSE, time, &plain);
  play_from (path, "tfxbutterworth cutoff=100 order=6", __i__, time, &filtered);
  n = plain.samples->len;
  fail_unless_equals_int (n, 2 * (RATE - 12000));
  fail_unless_equals_int (filtered.samples->len, n);
  fail_unless_equals_uint64 (filtered.first_time, time);

  in = g_new (gdouble, n);
  out = g_new (gdouble, n);
  for (guint i = 0; i < n; i++) {
    in[i] = tfx_caught_floats (&plain)[i];
    out[i] = tfx_caught_floats (&filtered)[i];
  }
  expected = tfx_check_engine (&design, &info, in, n / 2);
  fail_unless_equals_float (tfx_check_distance (out, expected, n), 0.0);
  g_unlink (path);
}
GST_END_TEST;

/* Many seeks while it plays: no crash, no error. */
GST_START_TEST (test_many_seeks)
{
  g_autofree gchar *path = write_wav ();
  g_autofree gchar *launch =
      g_strdup_printf ("filesrc location=\"%s\" ! wavparse ! "
                       "tfxbutterworth ! queue ! tfxchebyshev ! "
                       "tfxfir taps=511 ! tfxchain "
                       "chain=\"Reverb() | LogFilterBank(5)\" ! "
                       "fakesink name=sink",
          path);
  g_auto (TfxCaught) caught;
  GstElement *pipeline = tfx_play_make (launch, &caught);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  for (guint i = 0; i < 50; i++)
    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
        GST_SEEK_FLAG_FLUSH | (i & 1 ? GST_SEEK_FLAG_ACCURATE : 0),
        i * 7919 % 1000 * GST_MSECOND));
  /* An end that was reached in between is none. */
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
      GST_SEEK_FLAG_FLUSH, 0));
  tfx_play_drain (pipeline);
  tfx_play_run (pipeline, GST_MESSAGE_EOS);
  fail_unless_equals_int (caught.samples->len, RATE * 2);
  tfx_play_stop (pipeline);
  g_unlink (path);
}
GST_END_TEST;

/* ---- states ----------------------------------------------------------------------------- */

/* In a bin in a pipeline, down and up again, some of the time while samples
 * flow. */
GST_START_TEST (test_state_cycles)
{
  static const GstState lows[] = { GST_STATE_READY, GST_STATE_NULL };
  GstElement *pipeline =
      tfx_play_make ("audiotestsrc ! audio/x-raw,format=F32LE,channels=2 ! "
                     "( tfxbutterworth name=f ! tfxchebyshev ! tfxfir ) ! "
                     "fakesink",
          NULL);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");

  for (guint i = 0; i < 50; i++) {
    GstState high = i % 3 ? GST_STATE_PAUSED : GST_STATE_PLAYING;

    gst_element_set_state (pipeline, high);
    if (i % 5)
      fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL,
                                  60 * GST_SECOND),
          GST_STATE_CHANGE_SUCCESS);
    g_object_set (filter, "cutoff", 100.0 + i, "order", 1 + i, NULL);
    fail_unless_equals_int (gst_element_set_state (pipeline, lows[i / 25]),
        GST_STATE_CHANGE_SUCCESS);
  }
  tfx_play_stop (pipeline);
}
GST_END_TEST;

/* An element that is taken to NULL by itself while the pipeline plays. */
GST_START_TEST (test_element_restarts)
{
  GstElement *pipeline =
      tfx_play_make ("audiotestsrc is-live=true samplesperbuffer=64 ! "
                     "audio/x-raw,format=F32LE ! tfxbutterworth name=f ! "
                     "fakesink async=false",
          NULL);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 20; i++)
    g_object_set (filter, "order", 1 + i, NULL);
  while (tfx_check_stat (filter, "buffers") < 3)
    g_usleep (1000);
  tfx_play_stop (pipeline);
  /* It has outlived the pipeline. */
  fail_unless (tfx_check_stat (filter, "frames") >= 3 * 64);
}
GST_END_TEST;

/* ---- questions -------------------------------------------------------------------------- */

#define CUTOFF 1000.0

/* Asked at its cutoff a Butterworth is 3 dB down, at whatever rate. */
static void
ask_response (gpointer object)
{
  const gdouble hz = CUTOFF;
  GVariant *response = NULL, *re, *im;
  const gdouble *x, *y;
  gsize n;

  g_signal_emit_by_name (object, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, &hz, 1, sizeof hz), 0,
      &response);
  fail_unless (response != NULL);
  re = g_variant_lookup_value (response, "real", NULL);
  im = g_variant_lookup_value (response, "imaginary", NULL);
  x = g_variant_get_fixed_array (re, &n, sizeof *x);
  y = g_variant_get_fixed_array (im, &n, sizeof *y);
  fail_unless (ABS (*x * *x + *y * *y - 0.5) < 1e-9, "%g%+gi", *x, *y);
  g_variant_unref (re);
  g_variant_unref (im);
  g_variant_unref (response);
}

static gpointer
ask_all_the_time (gpointer data)
{
  GstElement *filter = g_object_ref (data);
  GstPad *pad = gst_element_get_static_pad (filter, "src");
  GObject *stage =
      gst_child_proxy_get_child_by_index (GST_CHILD_PROXY (filter), 0);
  gint64 position;

  while (!g_object_get_data (data, "enough")) {
    ask_response (filter);
    ask_response (stage);
    tfx_check_stat (filter, "frames");
    gst_pad_query_position (pad, GST_FORMAT_TIME, &position);
  }
  g_object_unref (stage);
  gst_object_unref (pad);
  gst_object_unref (filter);
  return NULL;
}

/* Applications ask while the rate changes and the pipeline stops and starts: what
 * they get is of one stream.  (The thread sanitizer has something to see here.) */
GST_START_TEST (test_asked_meanwhile)
{
  static const gint rates[] = { 48000, 8000, 96000, 16000 };
  GstElement *pipeline = tfx_play_make ("audiotestsrc samplesperbuffer=64 ! "
                                        "capsfilter name=caps ! tfxchain "
                                        "name=f chain=\"LoButterworth(1000)\" "
                                        "! fakesink",
      NULL);
  g_autoptr (GstElement) filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  g_autoptr (GstElement) caps =
      gst_bin_get_by_name (GST_BIN (pipeline), "caps");
  GThread *thread = g_thread_new ("asker", ask_all_the_time, filter);

  for (guint i = 0; i < 200; i++) {
    GstCaps *now = gst_caps_new_simple ("audio/x-raw", "format", G_TYPE_STRING,
        GST_AUDIO_NE (F32), "rate", G_TYPE_INT, rates[i % 4], "channels",
        G_TYPE_INT, 2, NULL);

    g_object_set (caps, "caps", now, NULL);
    gst_caps_unref (now);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    g_usleep (1000);
    if (i % 10 == 9)
      gst_element_set_state (pipeline, GST_STATE_READY);
  }
  g_object_set_data (G_OBJECT (filter), "enough", filter);
  g_thread_join (thread);
  tfx_play_stop (pipeline);
}
GST_END_TEST;

/* ---- leaks ------------------------------------------------------------------------------ */

/* Everything that a pipeline with warnings, seeks and changes has made is gone
 * at its end: GStreamer's own leak tracer counts. */
GST_START_TEST (test_leaks)
{
  g_autoptr (GstPluginFeature) feature =
      gst_registry_lookup_feature (gst_registry_get (), "leaks");
  g_autoptr (GstTracer) tracer = NULL;
  GstStructure *live = NULL;
  g_autofree gchar *path = NULL, *launch = NULL;
  gchar *text = NULL;
  gint64 begin = 0;
  guint n_left;
  GstElement *pipeline, *filter, *chain;

  fail_unless (feature != NULL, "no leak tracer");
  tracer = g_object_new (gst_tracer_factory_get_tracer_type (
                             GST_TRACER_FACTORY (feature)),
      NULL);
  path = write_wav ();
  launch = g_strdup_printf ("filesrc location=\"%s\" ! wavparse ! "
                            "tfxbutterworth name=f cutoff=30000 ! tfxchebyshev "
                            "device=cuda ! tfxfir taps=20001 ! tfxchain "
                            "name=c chain=\"a=Notch(30000, 1) | "
                            "DesignableFIR(100, 20001)\" ! "
                            "tfxfir kernel-location=\"%s\" ! fakesink",
      path, path);
  pipeline = tfx_play_make (launch, NULL);
  filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  g_object_set (filter, "mode", 2, "order", 9, NULL);
  chain = gst_bin_get_by_name (GST_BIN (pipeline), "c");
  gst_child_proxy_set (GST_CHILD_PROXY (chain), "a::cutoff", 50.0, NULL);
  g_object_set (chain, "chain", "a=Notch(60, 1) | Gain(2) | Delay(bpm=90)",
      NULL);
  g_object_set (chain, "chain", "a=Notch(60, 1) | what", NULL);
  gst_element_seek_simple (pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
  tfx_play_run (pipeline, GST_MESSAGE_WARNING);
  gst_object_unref (chain);
  gst_object_unref (filter);
  tfx_play_stop (pipeline);

  /* A task's thread gives up its last reference after the pad has stopped; to
   * ask the tracer meanwhile would bring the task back to life. */
  gst_task_cleanup_all ();
  do {
    g_free (text);
    g_signal_emit_by_name (tracer, "get-live-objects", &live);
    fail_unless (live != NULL);
    n_left = gst_value_list_get_size (
        gst_structure_get_value (live, "live-objects-list"));
    text = gst_structure_to_string (live);
    gst_structure_free (live);
  } while (n_left > 0 && tfx_check_wait (&begin));
  fail_unless (n_left == 0, "left behind: %s", text);
  g_free (text);
  g_unlink (path);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("life");

  tcase_add_loop_test (tc, test_flushing_seek, 0, 2);
  tcase_add_test (tc, test_many_seeks);
  tcase_add_test (tc, test_state_cycles);
  tcase_add_test (tc, test_element_restarts);
  tcase_add_test (tc, test_asked_meanwhile);
  tcase_add_test (tc, test_leaks);
  return tfx_check_run (argc, argv, tc);
}
