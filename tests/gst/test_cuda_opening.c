/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_opening.c: elements that need a device, or a kernel, while they play.
 *
 * The stand-in makes no context and loads no module while a file is there, nor does
 * the stand-in for NVRTC end a compilation: the CPU filters until the device is open
 * or the kernel there, no buffer waits, and every sample is right.  Likewise in a
 * process that may have no more threads: each pthread_create() on behalf of the plugin
 * fails, from the first or a later one on; what its threads would have done is done in
 * place. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "deck.h"
#include "devices.h"
#include "nothreads.h"

#define RATE 48000
#define N_FRAMES 600

static gchar *folder, *hold;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("tfx-opening-XXXXXX", NULL);
  hold = g_build_filename (folder, "hold", NULL);
  g_setenv ("TFX_STANDIN_HOLD", hold, TRUE);
  g_setenv ("TFX_NVRTC_HOLD", hold, TRUE);
}

static void
tear_down (void)
{
  gchar *command = g_strdup_printf ("rm -rf '%s'", folder);

  g_unsetenv ("TFX_STANDIN_FAIL");
  g_unsetenv ("TFX_STANDIN_HOLD");
  fail_unless (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  g_free (command);
  g_free (folder);
  g_free (hold);
}

/* A device for which every kernel has to be compiled, and none is kept on disk. */
static void
compile_kernels (void)
{
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_setenv ("TFX_STANDIN_CC", "130", TRUE);
}

/* Settings made while playing: a device that must be opened, for one element and for
 * two; and a chain that needs another kernel. */
typedef struct
{
  const gchar *launch, *names[3], *last, *property, *value;
} Line;

static const Line lines[] = {
  { "tfxbutterworth name=e0 device=cpu order=4", { "e0" }, "e0", "device",
      "cuda" },
  { "tfxfir name=e0 device=cpu taps=301 align=false", { "e0" }, "e0", "device",
      "cuda" },
  /* The last one runs both. */
  { "tfxbutterworth name=e0 device=cpu order=4 ! "
    "tfxchain name=e1 device=cpu chain=\"Echo(500) | Compressor(-20, 3)\"",
      { "e0", "e1" }, "e1", "device", "cuda" },
  /* Each by itself: both are to have one context. */
  { "tfxbutterworth name=e0 device=cpu fuse=false ! "
    "tfxchebyshev name=e1 device=cpu fuse=false cutoff=3000",
      { "e0", "e1" }, "e1", "device", "cuda" },
  { "tfxbutterworth name=e0 device=cpu fuse=false ! "
    "tfxchain name=e1 device=cpu fuse=false chain=\"Echo(500) | Reverb(0.4)\"",
      { "e0", "e1" }, "e1", "device", "cuda" },
  { "tfxbutterworth name=e0 DEVICE order=4", { "e0" }, "e0", "order", "10" },
};
/* The last one's device is open. */
#define N_OPENING (G_N_ELEMENTS (lines) - 1)

static void
set_all (Deck *deck, const Line *line, const gchar *value)
{
  for (guint i = 0; line->names[i]; i++)
    deck_set (deck, line->names[i], line->property, value);
}

/* Who leaves its filter to others runs nowhere. */
static gboolean
all_run_on_cuda (Deck *deck, const Line *line)
{
  gboolean are_all = TRUE;

  for (guint i = 0; line->names[i]; i++)
    are_all &= deck_stat (deck, line->names[i], "deferred") > 0 ||
               deck_runs_on (deck, line->names[i], "cuda");
  return are_all;
}

/* n_frames on the CPU, with the setting, if it is not the device: whatever the device
 * does, this comes out. */
static void
expect_cpu (const Line *line, Deck *deck, gsize n_frames)
{
  Deck *cpu = deck_new (line->launch, DECK_CPU, &deck->info);

  deck_push_many (cpu, 4 * N_FRAMES, N_FRAMES);
  if (strcmp (line->property, "device") != 0)
    set_all (cpu, line, line->value);
  deck_push_many (cpu, n_frames - 4 * N_FRAMES, N_FRAMES);
  deck_end (cpu);
  deck_expect_same (cpu, deck, -125.0, line->launch);
  deck_free (cpu);
}

/* Nobody opens the device, and none of the kernels is compiled. */
static void
push_held (Deck *deck, gsize n_frames)
{
  const gint64 start = g_get_monotonic_time ();

  deck_push_many (deck, n_frames, N_FRAMES);
  fail_unless (g_get_monotonic_time () - start < 15 * G_TIME_SPAN_SECOND,
      "a buffer waited for the device");
}

/* Each warning is a failure. */
static guint
count_contexts (Deck *deck)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (deck->bus,
              GST_MESSAGE_HAVE_CONTEXT | GST_MESSAGE_WARNING))) {
    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_HAVE_CONTEXT,
        "%s: a warning", deck->launch);
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* The device filters in the end, and each sample is right.  Elements that open it at
 * the same time share a context, and keep the samples there between them. */
static void
check_line (const Line *line, gboolean is_held)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (line->launch, DECK_CUDA, &info);
  gsize n = 4;
  gint64 begin = 0;

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  if (is_held) {
    fail_unless (deck_runs_on (deck, "e0", "cuda") ==
                 (strcmp (line->property, "device") != 0));
    fail_unless (g_file_set_contents (hold, "", 0, NULL));
  }
  set_all (deck, line, line->value);
  if (is_held) {
    push_held (deck, 10 * N_FRAMES);
    n += 10;
    if (devices_are_standin ())
      fail_unless (deck_runs_on (deck, line->last, "cpu"),
          "%s: a buffer waited for the device", line->launch);
    fail_unless_equals_int (g_unlink (hold), 0);
  }
  do {
    deck_push_many (deck, N_FRAMES, N_FRAMES);
    n++;
  } while (!all_run_on_cuda (deck, line) && tfx_check_wait (&begin));
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless (all_run_on_cuda (deck, line), "%s: the device is not used",
      line->launch);
  if (line->names[1] && strstr (line->launch, "fuse=false")) {
    const guint64 uploads = deck_stat (deck, line->last, "uploads");

    deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
    n += 4;
    fail_unless_equals_uint64 (deck_stat (deck, line->last, "uploads"),
        uploads);
  }
  deck_end (deck);
  fail_unless_equals_int (count_contexts (deck), 1);
  expect_cpu (line, deck, (n + 4) * N_FRAMES);
  deck_free (deck);
}

GST_START_TEST (test_opening)
{
  check_line (&lines[__i__], FALSE);
}
GST_END_TEST;

GST_START_TEST (test_held)
{
  if (__i__ == N_OPENING)
    compile_kernels ();
  check_line (&lines[__i__], TRUE);
}
GST_END_TEST;

/* No thread, or one to three: one opens a device, others compile kernels. */
GST_START_TEST (test_no_threads)
{
  compile_kernels ();
  no_threads_after ((guint)__i__ % 4);
  check_line (&lines[__i__ / 4], FALSE);
  fail_unless (__i__ % 4 > 0 || no_threads_count () > 0,
      "no thread was asked for: the case tests nothing");
}
GST_END_TEST;

/* Of device=auto a stream that plays does not even look for the driver. */
GST_START_TEST (test_auto)
{
  const Line *line = &lines[__i__];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (line->launch, DECK_CPU, &info);

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless (g_file_set_contents (hold, "", 0, NULL));
  set_all (deck, line, "auto");
  push_held (deck, 10 * N_FRAMES);
  fail_unless (deck_runs_on (deck, line->last, "cpu"));
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
  const Line *line = &lines[__i__ % N_OPENING];
  const gboolean stops = __i__ >= (gint)N_OPENING;
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (line->launch, DECK_CPU, &info);

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
    fail_unless (deck_runs_on (deck, line->last, "cpu"));
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
  expect_cpu (&lines[0], deck, 20 * N_FRAMES);
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
  fail_unless (deck_runs_on (deck, "e0", "cpu"));
  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (&lines[0], deck, (n + 4) * N_FRAMES);
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
  tcase_add_loop_test (tc, test_opening, 0, N_OPENING);
  tcase_add_loop_test (tc, test_held, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_no_threads, 0, 4 * G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_auto, 0, N_OPENING);
  tcase_add_loop_test (tc, test_given_up, 0, 2 * N_OPENING);
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
