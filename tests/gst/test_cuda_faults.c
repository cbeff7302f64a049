/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_faults.c: calls of the driver that fail while elements play.
 *
 * The stream goes on on the CPU with the state of the filters, so every sample
 * is right; or a message says what is wrong with it.
 */
#include <string.h>

#include "deck.h"
#include "devices.h"

#define RATE 48000
#define N_BUFFERS 5
#define N_FRAMES 700

static const struct
{
  const gchar *launch;
  GstAudioFormat format;
  gdouble close_db;
  gboolean ends_on_device, is_planar;
  /* Set behind half of the buffers. */
  const gchar *element, *property, *value;
  gboolean is_backwards;
} lines[] = {
  { "tfxbutterworth mode=high-pass cutoff=100 DEVICE", GST_AUDIO_FORMAT_F32,
      -140.0, FALSE },
  /* Memory stays on the device between them. */
  { "tfxbutterworth mode=high-pass cutoff=100 fuse=false DEVICE ! "
    "tfxbutterworth cutoff=3000 order=8 fuse=false DEVICE ! "
    "tfxfir taps=31 fuse=false DEVICE",
      GST_AUDIO_FORMAT_F64, -230.0, FALSE },
  /* They run as one, with a delay line and a sum, and end on the device. */
  { "tfxchain DEVICE chain=\"LoButterworth(900)+Echo(700)\" ! "
    "tfxfir taps=51 DEVICE ! MEMORY",
      GST_AUDIO_FORMAT_F64, -230.0, TRUE },
  /* Two buffers in flight. */
  { "tfxchain DEVICE chain=\"HiButterworth(100)|Echo(700)\" ! "
    "tfxfir taps=51 DEVICE device-delay=1",
      GST_AUDIO_FORMAT_F64, -230.0, FALSE },
  /* Planes, and values that glide. */
  { "tfxchain DEVICE name=e0 chain=\"Reverb(0.4) | a=Compressor(-30, 4)\" ! "
    "tfxbutterworth cutoff=5000 DEVICE",
      GST_AUDIO_FORMAT_F32, -120.0, FALSE, TRUE, "e0", "chain",
      "Reverb(0.4) | a=Compressor(-30, 2)" },
  { "tfxchain DEVICE chain=\"Limiter(-12, 0.002)\" ! "
    "tfxfir taps=301 DEVICE name=e0 fuse=false cutoff=2000 ! MEMORY",
      GST_AUDIO_FORMAT_F32, -120.0, TRUE, FALSE, "e0", "cutoff", "3000" },
  /* Another structure in the middle of a row, with two buffers in flight. */
  { "tfxbutterworth name=e0 mode=high-pass cutoff=100 DEVICE ! tfxchain DEVICE "
    "chain=\"ch[0]: LoButterworth(900); ch[1]: Gate(-40)\" ! "
    "tfxfir taps=31 DEVICE device-delay=1",
      GST_AUDIO_FORMAT_F64, -200.0, FALSE, TRUE, "e0", "order", "7" },
  /* It goes to the CPU. */
  { "tfxchain DEVICE name=e0 "
    "chain=\"Limiter(-6, 0.01) | Gain(2, clamp=True)\" ! identity ! "
    "tfxbutterworth DEVICE",
      GST_AUDIO_FORMAT_F64, -200.0, FALSE, FALSE, "e0", "device", "cpu" },
  /* Buffers are reversed in the memory of the device. */
  { "tfxbutterworth mode=high-pass cutoff=100 fuse=false DEVICE ! "
    "tfxfir taps=31 fuse=false DEVICE",
      GST_AUDIO_FORMAT_F64, -230.0, .is_backwards = TRUE },
};

/* ---- a stream -------------------------------------------------------------------- */

typedef struct
{
  GstFlowReturn flow;
  gchar *injected;   /* by the stand-in, one line for each */
  GString *messages; /* warnings and errors */
  guint n_errors, n_warnings;
} Outcome;

static void
outcome_clear (Outcome *outcome)
{
  g_free (outcome->injected);
  g_string_free (outcome->messages, TRUE);
}

static void
take_messages (Deck *deck, Outcome *outcome)
{
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (deck->bus,
              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR))) {
    GError *error = NULL;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error (message, &error, NULL);
      outcome->n_errors++;
    } else {
      gst_message_parse_warning (message, &error, NULL);
      outcome->n_warnings++;
    }
    g_string_append_printf (outcome->messages, "%s\n", error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
}

static Deck *
play (guint line, DeckSide side, const gchar *fail, gboolean may_lose,
    Outcome *outcome)
{
  GstAudioInfo info = tfx_check_info (lines[line].format, RATE, 2,
      lines[line].is_planar ? GST_AUDIO_LAYOUT_NON_INTERLEAVED
                            : GST_AUDIO_LAYOUT_INTERLEAVED);
  GstSegment segment;
  Deck *deck;

  *outcome = (Outcome){ GST_FLOW_OK, NULL, g_string_new (NULL), 0, 0 };
  g_free (devices_report ());
  if (fail)
    g_setenv ("TFX_STANDIN_FAIL", fail, TRUE);
  deck = deck_new (lines[line].launch, side, &info);
  deck->may_lose = may_lose;
  if (lines[line].is_backwards) {
    gst_segment_init (&segment, GST_FORMAT_TIME);
    segment.rate = -1.0;
    segment.stop = GST_SECOND;
    deck_push_event (deck, gst_event_new_segment (&segment));
  }
  for (guint i = 0; i < N_BUFFERS && outcome->flow == GST_FLOW_OK; i++) {
    if (i == N_BUFFERS / 2 && lines[line].element &&
        (side == DECK_CUDA || strcmp (lines[line].property, "device") != 0))
      deck_set (deck, lines[line].element, lines[line].property,
          lines[line].value);
    if (lines[line].is_backwards)
      deck->n_in = (N_BUFFERS - 1 - i) * N_FRAMES;
    outcome->flow = deck_push (deck, N_FRAMES);
  }
  if (outcome->flow == GST_FLOW_OK)
    deck_end (deck);
  g_unsetenv ("TFX_STANDIN_FAIL");
  take_messages (deck, outcome);
  outcome->injected = devices_report ();
  return deck;
}

/* What the CPU puts out, which opens no driver. */
static Deck *
play_cpu (guint line)
{
  Outcome outcome;
  Deck *deck = play (line, DECK_CPU, NULL, FALSE, &outcome);

  outcome_clear (&outcome);
  return deck;
}

/* Whether anything was made to fail. */
static gboolean
check (const Deck *expected, guint line, const gchar *fail)
{
  const gchar *launch = lines[line].launch;
  Outcome outcome;
  Deck *deck = play (line, DECK_CUDA, fail, FALSE, &outcome);
  gboolean injected = outcome.injected[0] != '\0';
  gdouble db = deck_distance_db (expected, deck);

  fail_unless (!injected || g_str_has_prefix (outcome.injected, "injected"),
      "%s, %s: %s", launch, fail, outcome.injected);
  /* Where caps ask for CUDA memory there is no stream if a device cannot be
   * opened. */
  fail_unless (db < lines[line].close_db ||
                   (lines[line].ends_on_device && deck->n_frames == 0 &&
                       outcome.flow == GST_FLOW_NOT_NEGOTIATED &&
                       strstr (outcome.messages->str, "is not available")),
      "%s, %s (%s): %g dB, %d frames, flow %s, %s", launch, fail,
      outcome.injected, db, (gint)deck->n_frames,
      gst_flow_get_name (outcome.flow), outcome.messages->str);
  fail_unless (outcome.n_errors == 0 || outcome.flow != GST_FLOW_OK,
      "%s, %s: %s", launch, fail, outcome.messages->str);
  fail_unless (injected || outcome.n_warnings == 0, "%s, %s: %s", launch, fail,
      outcome.messages->str);
  /* Every warning is about that. */
  fail_unless (outcome.n_warnings == 0 ||
                   strstr (outcome.messages->str, "CUDA") ||
                   strstr (outcome.messages->str, "device=cuda"),
      "%s, %s: %s", launch, fail, outcome.messages->str);
  if (outcome.flow == GST_FLOW_OK)
    deck_expect_same_times (expected, deck, fail ? fail : launch);
  outcome_clear (&outcome);
  deck_free (deck);
  return injected;
}

/* ---- each call, once ---------------------------------------------------------------- */

/* What this plugin and libgstcuda call, but what is called once in a process. */
static const gchar *const functions[] = { "cuCtxCreate_v2", "cuCtxDestroy_v2",
  "cuCtxGetDevice", "cuCtxPopCurrent_v2", "cuCtxPushCurrent_v2", "cuDeviceGet",
  "cuDeviceGetAttribute", "cuDeviceGetCount", "cuDeviceGetName",
  "cuDeviceCanAccessPeer", "cuEventCreate", "cuEventDestroy_v2", "cuEventQuery",
  "cuEventRecord", "cuEventSynchronize", "cuFuncGetAttribute",
  "cuFuncSetAttribute", "cuGetErrorName", "cuGetErrorString", "cuLaunchKernel",
  "cuMemAlloc_v2", "cuMemAllocHost_v2", "cuMemAllocPitch_v2", "cuMemFreeHost",
  "cuMemFree_v2", "cuMemHostAlloc", "cuMemHostGetDevicePointer_v2",
  "cuMemcpy2DAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoH_v2",
  "cuMemcpyHtoDAsync_v2", "cuMemcpyHtoD_v2", "cuMemcpyDtoDAsync_v2",
  "cuMemsetD8Async", "cuMemsetD8_v2", "cuModuleGetFunction", "cuModuleLoadData",
  "cuModuleUnload", "cuOccupancyMaxActiveBlocksPerMultiprocessor",
  "cuPointerGetAttribute", "cuStreamCreate", "cuStreamDestroy_v2",
  "cuStreamSynchronize", "cuStreamWaitEvent" };

#define MOST_USES 100

GST_START_TEST (test_each_call)
{
  const gchar *function = functions[__i__ / G_N_ELEMENTS (lines)];
  const guint line = __i__ % G_N_ELEMENTS (lines);
  Deck *expected = play_cpu (line);

  /* What is called once in a process is for the next test. */
  check (expected, line, NULL);
  for (guint n = 1; n <= MOST_USES; n++) {
    gchar *fail = g_strdup_printf ("%s:%u,%d", function, n, n % 3 ? 719 : 2);
    gboolean injected = check (expected, line, fail);

    g_free (fail);
    if (!injected)
      break;
  }
  deck_free (expected);
}
GST_END_TEST;

/* The n-th call of all, from the first one of the process on. */
GST_START_TEST (test_first_calls)
{
  const guint line = 1;
  gchar *fail = g_strdup_printf ("%d", __i__ + 1);
  Deck *expected;

  /* A class of libgstcuda 1.22 is not made for a second attempt at a driver that
   * does not start. */
  gst_check_add_log_filter ("GLib", G_LOG_LEVEL_CRITICAL,
      g_regex_new ("g_once_init_leave", 0, 0, NULL), NULL, NULL, NULL);
  expected = play_cpu (line);
  check (expected, line, fail);
  deck_free (expected);
  g_free (fail);
}
GST_END_TEST;

/* ---- a device that goes -------------------------------------------------------------- */

/* It does not come back: the samples are finite and as many as went in, and a
 * warning says what happened, unless it went when all samples were there. */
GST_START_TEST (test_lost)
{
  const guint line = __i__ % G_N_ELEMENTS (lines);
  guint n = 1 + 23 * (__i__ / G_N_ELEMENTS (lines));
  gchar *fail = g_strdup_printf ("%u,719,sticky", n);
  Deck *deck, *expected = play_cpu (line);
  Outcome outcome;

  /* Where caps ask for CUDA memory there is no stream without a device. */
  if (lines[line].ends_on_device) {
    deck_free (play (line, DECK_CUDA, NULL, FALSE, &outcome));
    outcome_clear (&outcome);
  }
  deck = play (line, DECK_CUDA, fail, TRUE, &outcome);
  fail_unless (tfx_check_is_finite ((gdouble *)(gpointer)deck->samples->data,
      deck->samples->len));
  if (!lines[line].ends_on_device) {
    fail_unless (outcome.n_warnings > 0 || outcome.injected[0] == '\0' ||
                     deck_distance_db (expected, deck) < lines[line].close_db,
        "%d, %s (%s): nobody is told", line, fail, outcome.injected);
    fail_unless (outcome.n_errors == 0, "%d, %s: %s", line, fail,
        outcome.messages->str);
    deck_expect_same_times (expected, deck, fail);
  }
  outcome_clear (&outcome);
  deck_free (deck);
  deck_free (expected);
  g_free (fail);
}
GST_END_TEST;

/* A device that has gone does not answer in the context that the elements had, which
 * their bin keeps; one that is there when they start again does, in another one. */
GST_START_TEST (test_again)
{
  static const gchar *const launches[] = {
    "tfxbutterworth name=e0 cutoff=100 DEVICE",
    "tfxbutterworth name=e0 fuse=false DEVICE ! tfxfir fuse=false DEVICE"
  };
  const gchar *launch = launches[__i__ % 2];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (launch, DECK_CUDA, &info);

  deck->may_lose = TRUE;
  for (guint i = 0; i < 3; i++) {
    g_unsetenv ("TFX_STANDIN_FAIL");
    fail_unless_equals_int (gst_element_set_state (deck->h->element,
                                __i__ < 2 ? GST_STATE_NULL : GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
    gst_bus_set_flushing (deck->bus, TRUE);
    gst_bus_set_flushing (deck->bus, FALSE);
    deck_restart (deck);
    deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
    fail_unless (deck_stat (deck, "e0", "uploads") > 0,
        "%s, start %u: the device is not tried again", launch, i);
    tfx_check_expect_no_warning (deck->bus);
    g_setenv ("TFX_STANDIN_FAIL", "1,719,sticky", TRUE);
    deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  }
  g_unsetenv ("TFX_STANDIN_FAIL");
  deck_free (deck);
}
GST_END_TEST;

/* One call fails, or all calls for memory until some block: the CPU filters for a
 * second, then the device does again.  One warning. */
GST_START_TEST (test_retry)
{
  static const gchar *const fails[] = { "cuLaunchKernel:3,2",
    "cuMemAlloc_v2:1,2,short" };
  static const gchar *const launches[] = {
    "tfxfir name=e0 taps=301 DEVICE",
    ("tfxbutterworth name=e0 fuse=false cutoff=100 DEVICE ! "
     "tfxfir taps=31 fuse=false DEVICE"),
    "tfxbutterworth cutoff=100 DEVICE ! tfxfir name=e0 taps=31 DEVICE",
  };
  static const gsize lengths[] = { RATE / 2, RATE / 2, 2 * RATE, 4 * RATE };
  const gchar *launch = launches[__i__ % 3];
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (launch, DECK_CUDA, &info);
  Deck *expected = deck_new (launch, DECK_CPU, &info);
  GstMessage *message;
  guint64 n_launches;
  guint n_warnings = 0;

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    /* Other blocks want memory. */
    const gsize n_frames = i > 0 ? 4 * N_FRAMES : N_FRAMES;

    deck_push_many (expected, lengths[i], n_frames);
    if (i == 1)
      g_setenv ("TFX_STANDIN_FAIL", fails[__i__ / 3], TRUE);
    deck_push_many (deck, lengths[i], n_frames);
    if (__i__ / 3 == 0 || i == 2)
      g_unsetenv ("TFX_STANDIN_FAIL");
  }
  n_launches = deck_stat (deck, "e0", "launches");
  deck_push_many (expected, RATE, N_FRAMES);
  deck_push_many (deck, RATE, N_FRAMES);
  fail_unless (deck_stat (deck, "e0", "launches") > n_launches,
      "%s, %s: the device is not tried again", launch, fails[__i__ / 3]);
  deck_end (deck);
  deck_end (expected);
  fail_unless (deck_distance_db (expected, deck) < -120.0, "%s, %s: %g dB",
      launch, fails[__i__ / 3], deck_distance_db (expected, deck));
  while ((message = gst_bus_pop_filtered (deck->bus, GST_MESSAGE_WARNING))) {
    n_warnings++;
    gst_message_unref (message);
  }
  fail_unless (n_warnings >= 1 && n_warnings <= 2, "%s: %u warnings", launch,
      n_warnings);
  deck_free (deck);
  deck_free (expected);
}
GST_END_TEST;

/* ---- suite ----------------------------------------------------------------------------- */

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_faults");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tfx_check_add_part (tc, test_each_call,
      G_N_ELEMENTS (functions) * G_N_ELEMENTS (lines), 3);
  tfx_check_add_part (tc, test_first_calls, MOST_USES, 3);
  tfx_check_add_part (tc, test_lost, 20 * G_N_ELEMENTS (lines), 3);
  tcase_add_loop_test (tc, test_again, 0, 4);
  tcase_add_loop_test (tc, test_retry, 0, 6);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
