/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_opening.c: elements that are set to device=cuda while they play.
 *
 * The stand-in makes no context and loads no module while a file is there: the CPU
 * filters until the device is open, no buffer waits, and every sample is right. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "deck.h"
#include "devices.h"

#define RATE 48000
#define N_FRAMES 600

static gchar *folder, *hold;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("tfx-opening-XXXXXX", NULL);
  hold = g_build_filename (folder, "hold", NULL);
  g_setenv ("TFX_STANDIN_HOLD", hold, TRUE);
}

static void
tear_down (void)
{
  g_unsetenv ("TFX_STANDIN_FAIL");
  g_unsetenv ("TFX_STANDIN_HOLD");
  g_unlink (hold);
  g_rmdir (folder);
  g_free (folder);
  g_free (hold);
}

static gboolean
runs_on (Deck *deck, const gchar *name, const gchar *device)
{
  gchar *text = deck_text (deck, name, "device");
  gboolean same = g_strcmp0 (text, device) == 0;

  g_free (text);
  return same;
}

static const struct
{
  const gchar *launch;
  gint n_contexts; /* have-context messages */
  const gchar *names[3], *last;
} lines[] = {
  { "tfxbutterworth name=e0 device=cpu order=4", 1, { "e0" }, "e0" },
  { "tfxfir name=e0 device=cpu taps=301 align=false", 1, { "e0" }, "e0" },
  /* The last one runs both. */
  { "tfxbutterworth name=e0 device=cpu order=4 ! "
    "tfxchain name=e1 device=cpu chain=\"Echo(500) | Compressor(-20, 3)\"",
      1, { "e0", "e1" }, "e1" },
  /* Each by itself: both are to have one context. */
  { "tfxbutterworth name=e0 device=cpu fuse=false ! "
    "tfxchebyshev name=e1 device=cpu fuse=false cutoff=3000",
      1, { "e0", "e1" }, "e1" },
};

static void
set_all (Deck *deck, guint line, const gchar *device)
{
  for (guint i = 0; lines[line].names[i]; i++)
    deck_set (deck, lines[line].names[i], "device", device);
}

/* So many frames on the CPU: whatever the device does, this comes out. */
static void
expect_cpu (guint line, Deck *deck, gsize n_frames)
{
  Deck *cpu = deck_new (lines[line].launch, DECK_CPU, &deck->info);
  gdouble db;

  deck_push_many (cpu, n_frames, N_FRAMES);
  deck_end (cpu);
  deck_expect_same_times (cpu, deck, lines[line].launch);
  db = deck_distance_db (cpu, deck);
  fail_unless (db < -125.0, "%s: %g dB", lines[line].launch, db);
  deck_free (cpu);
}

/* Nobody opens the device. */
static void
push_held (Deck *deck, gsize n_frames)
{
  const gint64 start = g_get_monotonic_time ();

  deck_push_many (deck, n_frames, N_FRAMES);
  fail_unless (g_get_monotonic_time () - start < 15 * G_TIME_SPAN_SECOND,
      "a buffer waited for the device");
}

static gint
count_contexts (Deck *deck)
{
  GstMessage *message;
  gint n = 0;

  while (
      (message = gst_bus_pop_filtered (deck->bus, GST_MESSAGE_HAVE_CONTEXT))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

GST_START_TEST (test_opening)
{
  const guint line = __i__;
  const gchar *last = lines[line].last;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (lines[line].launch, DECK_CPU, &info);
  gint64 begin = 0;
  guint n = 14;

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless (g_file_set_contents (hold, "", 0, NULL));
  set_all (deck, line, "cuda");
  push_held (deck, 10 * N_FRAMES);
  if (devices_are_standin ())
    fail_unless (runs_on (deck, last, "cpu"), "a buffer waited for the device");
  fail_unless_equals_int (g_unlink (hold), 0);
  for (; !runs_on (deck, last, "cuda") && tfx_check_wait (&begin); n++)
    deck_push_many (deck, N_FRAMES, N_FRAMES);
  fail_unless (runs_on (deck, last, "cuda"), "the device is not used");
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  deck_end (deck);
  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (line, deck, (n + 4) * N_FRAMES);
  deck_free (deck);
}
GST_END_TEST;

/* Elements that open it at the same time share a context, and keep the samples
 * there between them. */
GST_START_TEST (test_one_context)
{
  const guint line = __i__;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (lines[line].launch, DECK_CPU, &info);
  gboolean are_all = FALSE;
  gint64 begin = 0;
  guint64 uploads;

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  set_all (deck, line, "cuda");
  while (!are_all && tfx_check_wait (&begin)) {
    deck_push_many (deck, N_FRAMES, N_FRAMES);
    are_all = TRUE;
    /* Who leaves its filter to others runs nowhere. */
    for (guint i = 0; lines[line].names[i]; i++)
      are_all &= deck_stat (deck, lines[line].names[i], "deferred") > 0 ||
                 runs_on (deck, lines[line].names[i], "cuda");
  }
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  if (strstr (lines[line].launch, "fuse=false")) {
    uploads = deck_stat (deck, lines[line].last, "uploads");
    deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
    fail_unless_equals_uint64 (deck_stat (deck, lines[line].last, "uploads"),
        uploads);
  }
  fail_unless_equals_int (count_contexts (deck), lines[line].n_contexts);
  deck_end (deck);
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* Of device=auto a stream that plays does not even look for the driver. */
GST_START_TEST (test_auto)
{
  const guint line = __i__;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (lines[line].launch, DECK_CPU, &info);

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless (g_file_set_contents (hold, "", 0, NULL));
  set_all (deck, line, "auto");
  push_held (deck, 10 * N_FRAMES);
  fail_unless (runs_on (deck, lines[line].last, "cpu"));
  fail_unless_equals_int (g_unlink (hold), 0);
  deck_end (deck);
  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (line, deck, 14 * N_FRAMES);
  deck_free (deck);
}
GST_END_TEST;

/* It stops, or wants the CPU after all, before the device is open. */
GST_START_TEST (test_given_up)
{
  const guint line = __i__ % G_N_ELEMENTS (lines);
  const gboolean stops = __i__ >= (gint)G_N_ELEMENTS (lines);
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (lines[line].launch, DECK_CPU, &info);

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless (g_file_set_contents (hold, "", 0, NULL));
  set_all (deck, line, "cuda");
  deck_push_many (deck, 2 * N_FRAMES, N_FRAMES);
  if (!stops)
    set_all (deck, line, "cpu");
  deck_push_many (deck, 2 * N_FRAMES, N_FRAMES);
  fail_unless_equals_int (g_unlink (hold), 0);
  if (!stops) {
    g_usleep (50000);
    deck_push_many (deck, 12 * N_FRAMES, N_FRAMES);
    fail_unless (runs_on (deck, lines[line].last, "cpu"));
    deck_end (deck);
    expect_cpu (line, deck, 20 * N_FRAMES);
  }
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* What follows takes CUDA memory alone from now on: that is waited for. */
GST_START_TEST (test_memory)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("tfxbutterworth name=e0 device=cpu order=4 ! "
                         "capsfilter name=e1 caps=audio/x-raw",
      DECK_CPU, &info);

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  deck_set (deck, "e0", "device", "cuda");
  if (__i__ > 0)
    deck_push_many (deck, N_FRAMES, N_FRAMES);
  deck_set (deck, "e1", "caps", "audio/x-raw(memory:CUDAMemory)");
  deck_push_many (deck, (16 - (__i__ > 0)) * N_FRAMES, N_FRAMES);
  deck_end (deck);
  fail_unless_equals_uint64 (deck->n_device_buffers, 16 - (__i__ > 0));
  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (0, deck, 20 * N_FRAMES);
  deck_free (deck);
}
GST_END_TEST;

/* There is no device after all: that is said once, and the CPU goes on. */
GST_START_TEST (test_failure)
{
  static const gchar *const calls[] = { "cuCtxCreate_v2:1", "cuStreamCreate:1",
    "cuDeviceGetCount:1", "cuDeviceGetName:1" };
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (lines[0].launch, DECK_CPU, &info);
  gchar *warning = NULL;
  gint64 begin = 0;
  guint n = 4;

  deck_push_many (deck, n * N_FRAMES, N_FRAMES);
  g_setenv ("TFX_STANDIN_FAIL", calls[__i__], TRUE);
  deck_set (deck, "e0", "device", "cuda");
  for (; !warning && tfx_check_wait (&begin); n++) {
    deck_push_many (deck, N_FRAMES, N_FRAMES);
    warning = tfx_check_pop_warning (deck->bus);
  }
  fail_unless (warning && strstr (warning, "device=cuda is not available") &&
                   strstr (warning, "CPU"),
      "%s", warning);
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  deck_end (deck);
  fail_unless (runs_on (deck, "e0", "cpu"));
  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (0, deck, (n + 4) * N_FRAMES);
  g_free (warning);
  deck_free (deck);
}
GST_END_TEST;

/* The GstCudaContext that an element on the device has told its pipeline of. */
static GstContext *
make_context (GObject **object)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *element = gst_element_factory_make ("tfxbutterworth", NULL);
  GstContext *context;

  gst_util_set_object_arg (G_OBJECT (element), "device", "cuda");
  gst_bin_add (GST_BIN (pipeline), element);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  context = gst_element_get_context (pipeline, "gst.cuda.context");
  fail_unless (context != NULL);
  fail_unless (gst_structure_get (gst_context_get_structure (context),
      "gst.cuda.context", g_type_from_name ("GstCudaContext"), object, NULL));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return context;
}

/* An element that is given a context and never leaves NULL lets go of it. */
GST_START_TEST (test_given_in_null)
{
  GObject *object;
  GstContext *context = make_context (&object);
  const gint n_refs = (gint)object->ref_count;

  for (guint i = 0; i < 10; i++) {
    GstElement *element =
        gst_object_ref_sink (gst_element_factory_make ("tfxbutterworth", NULL));

    gst_element_set_context (element, context);
    fail_unless ((gint)object->ref_count > n_refs);
    gst_object_unref (element);
  }
  ASSERT_OBJECT_REFCOUNT (object, "context", n_refs);
  g_object_unref (object);
  gst_context_unref (context);
}
GST_END_TEST;

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("cuda_opening");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, set_up, tear_down);
  tcase_add_loop_test (tc, test_opening, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_one_context, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_auto, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_given_up, 0, 2 * G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_memory, 0, 2);
  tcase_add_test (tc, test_given_in_null);
  if (devices_are_standin ())
    tcase_add_loop_test (tc, test_failure, 0, 4);
  return suite;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
