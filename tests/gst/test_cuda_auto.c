/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_auto.c: which device device=auto takes, and when; contexts.
 */
#include <string.h>

#include "deck.h"
#include "devices.h"

#define RATE 48000

/* So many sections that a fast device pays for long buffers if the CPU runs plain C
 * (TFX_CPU=c, as these tests do). */
#define HEAVY "tfxbutterworth order=64 cutoff=5000 device=auto "
#define HEAVY_ROW HEAVY "! " HEAVY "name=e0"
#define LIGHT "tfxbutterworth order=2 device=auto name=e0"

#define N_SMALL 64
#define N_LARGE 2048

static guint
count_messages (Deck *deck, GstMessageType type)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (deck->bus, type))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* The same buffers on the CPU: whatever the device does, this comes out. */
static void
expect_cpu (const gchar *launch, Deck *deck, const guint *sizes, guint n)
{
  gchar **parts = g_strsplit (launch, "device=auto", 0);
  gchar *line = g_strjoinv ("device=cpu", parts);
  Deck *cpu = deck_new (line, DECK_CPU, &deck->info);

  for (guint i = 0; i < n; i++)
    deck_push_many (cpu, sizes[i], sizes[i]);
  deck_end (cpu);
  deck_expect_same (cpu, deck, -120.0, launch);
  deck_free (cpu);
  g_strfreev (parts);
  g_free (line);
}

/* The stand-in as one of its cards.  A device that is there is what it is: tests
 * of other cards are left out, see has_card(). */
static void
set_card (const gchar *name)
{
  g_setenv ("TFX_STANDIN_CARD", name, TRUE);
}

static gboolean
has_card (const gchar *name)
{
  return devices_are_standin () || devices_are_like (name);
}

/* ---- when it pays ------------------------------------------------------------------ */

/* What each card is chosen for: TRUE where it is four times as good as plain C,
 * FALSE where it is far worse, or not known. */
static const struct
{
  const gchar *card, *launch;
  guint n_channels, n_frames;
  gboolean is_chosen;
} choices[] = {
  { "h100", HEAVY_ROW, 8, N_LARGE, TRUE },
  { "a100", HEAVY_ROW, 8, N_LARGE, TRUE },
  { "t4", HEAVY_ROW, 8, 4 * N_LARGE, TRUE },
  { "h100", LIGHT, 8, N_LARGE, FALSE },
  { "a100", LIGHT, 8, N_LARGE, FALSE },
  { "4090", LIGHT, 8, N_LARGE, FALSE },
  { "3070", LIGHT, 8, N_LARGE, FALSE },
  { "t4", LIGHT, 8, N_LARGE, FALSE },
  { "orin", LIGHT, 8, N_LARGE, FALSE },
  { "h100", HEAVY_ROW, 2, 256, FALSE },
  { "t4", HEAVY_ROW, 2, 256, FALSE },
  { "orin", HEAVY_ROW, 2, 256, FALSE },
  { "", HEAVY_ROW, 8, 4 * N_LARGE, FALSE },
};

GST_START_TEST (test_cards)
{
  GstAudioInfo info = tfx_check_f32 (RATE, choices[__i__].n_channels);
  guint n_frames = choices[__i__].n_frames;
  Deck *deck;

  set_card (choices[__i__].card);
  deck = deck_new (choices[__i__].launch, DECK_CUDA, &info);
  deck_push_many (deck, 3 * n_frames, n_frames);
  fail_unless (deck_runs_on (deck, "e0",
                   choices[__i__].is_chosen ? "cuda" : "cpu"),
      "%s, %u channels, %u frames, %s", choices[__i__].card,
      choices[__i__].n_channels, n_frames, choices[__i__].launch);
  deck_end (deck);
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* A device that cannot pay is not even opened. */
GST_START_TEST (test_light)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck;

  set_card ("h100");
  deck = deck_new (LIGHT, DECK_CUDA, &info);
  deck_push_many (deck, 8 * N_LARGE, N_LARGE);
  fail_unless (deck_runs_on (deck, "e0", "cpu"));
  deck_end (deck);
  fail_unless_equals_int (count_messages (deck, GST_MESSAGE_HAVE_CONTEXT), 0);
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* Long buffers go to the device, short ones come back; the state moves along.  The
 * kernels of the short one there work on the host's memory. */
GST_START_TEST (test_heavy)
{
  static const guint sizes[] = { N_SMALL, N_SMALL, N_SMALL, N_LARGE, N_LARGE,
    N_LARGE, N_LARGE, N_SMALL, N_SMALL, N_SMALL, N_LARGE, N_SMALL };
  static const gboolean on_device[] = { 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0 };
  GstAudioInfo info = tfx_check_f32 (RATE, 8);
  Deck *deck;

  set_card ("h100");
  deck = deck_new (HEAVY_ROW, DECK_CUDA, &info);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    deck_push_many (deck, sizes[i], sizes[i]);
    fail_unless (deck_runs_on (deck, "e0", on_device[i] ? "cuda" : "cpu"),
        "buffer %u", i);
  }
  deck_end (deck);
  deck_expect_stat (deck, "e0", "uploads", 3);
  deck_expect_stat (deck, "e0", "downloads", 3);
  expect_cpu (HEAVY_ROW, deck, sizes, G_N_ELEMENTS (sizes));
  deck_free (deck);
}
GST_END_TEST;

/* Two that both find out keep the samples on the device between them. */
GST_START_TEST (test_two)
{
  static const gchar *const launch =
      HEAVY_ROW " ! identity ! " HEAVY "! " HEAVY "name=e1";
  GstAudioInfo info = tfx_check_f32 (RATE, 8);
  guint sizes[8];
  Deck *deck;
  guint64 uploads, downloads;

  set_card ("h100");
  deck = deck_new (launch, DECK_CUDA, &info);
  for (guint i = 0; i < 8; i++)
    sizes[i] = N_LARGE;
  deck_push_many (deck, 5 * N_LARGE, N_LARGE);
  fail_unless (
      deck_runs_on (deck, "e0", "cuda") && deck_runs_on (deck, "e1", "cuda"));
  uploads = deck_stat (deck, "e1", "uploads");
  downloads = deck_stat (deck, "e0", "downloads");
  deck_push_many (deck, 3 * N_LARGE, N_LARGE);
  deck_expect_stat (deck, "e1", "uploads", uploads);
  deck_expect_stat (deck, "e0", "downloads", downloads);
  deck_end (deck);
  expect_cpu (launch, deck, sizes, 8);
  deck_free (deck);
}
GST_END_TEST;

/* What comes in CUDA memory is filtered where it is. */
GST_START_TEST (test_follows)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("tfxbutterworth name=first DEVICE ! MEMORY ! " LIGHT,
      DECK_CUDA, &info);

  deck_push_many (deck, 4 * N_LARGE, N_LARGE);
  fail_unless (deck_runs_on (deck, "e0", "cuda"));
  deck_expect_stat (deck, "e0", "uploads", 0);
  deck_expect_stat (deck, "e0", "downloads", 4);
  deck_end (deck);
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* ---- contexts ---------------------------------------------------------------------------- */

/* The context that an element answers a query with; a reference, or NULL. */
static GstContext *
ask (Deck *deck, const gchar *name)
{
  GstPad *pad = deck_pad (deck, name, "src");
  GstQuery *query = gst_query_new_context ("gst.cuda.context");
  GstContext *context = NULL;

  if (gst_pad_query (pad, query)) {
    gst_query_parse_context (query, &context);
    gst_context_ref (context);
  }
  gst_query_unref (query);
  gst_object_unref (pad);
  return context;
}

static gpointer
context_object (GstContext *context)
{
  const GstStructure *s = gst_context_get_structure (context);

  return g_value_get_object (gst_structure_get_value (s, "gst.cuda.context"));
}

/* Elements use one context, be they linked to each other or not. */
GST_START_TEST (test_one_context)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("tfxbutterworth name=e0 DEVICE ! queue ! "
                         "tfxbutterworth name=e1 DEVICE",
      DECK_CUDA, &info);
  GstContext *a = ask (deck, "e0"), *b = ask (deck, "e1");

  fail_unless (a && b);
  fail_unless (context_object (a) == context_object (b));
  fail_unless_equals_int (count_messages (deck, GST_MESSAGE_HAVE_CONTEXT), 1);
  deck_push_many (deck, 2048, 512);
  deck_end (deck);
  gst_context_unref (a);
  gst_context_unref (b);
  deck_free (deck);
}
GST_END_TEST;

/* The application has one already. */
GST_START_TEST (test_given_context)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *first = deck_new ("tfxbutterworth name=e0 DEVICE", DECK_CUDA, &info);
  GstContext *given = ask (first, "e0"), *used;
  GstElement *element = gst_element_factory_make ("tfxbutterworth", NULL);
  GstHarness *h;
  GstQuery *query;

  gst_util_set_object_arg (G_OBJECT (element), "device", "cuda");
  gst_element_set_context (element, given);
  h = gst_harness_new_with_element (element, "sink", "src");
  tfx_check_set_info (h, &info);
  query = gst_query_new_context ("gst.cuda.context");
  fail_unless (gst_element_query (element, query));
  gst_query_parse_context (query, &used);
  fail_unless (context_object (used) == context_object (given));
  gst_query_unref (query);
  gst_harness_teardown (h);
  gst_object_unref (element);
  gst_context_unref (given);
  deck_free (first);
}
GST_END_TEST;

/* The last device, and one behind it. */
GST_START_TEST (test_device_id)
{
  static const gchar *const launch =
      "tfxbutterworth name=e0 DEVICE cuda-device-id=";
  guint n = devices_are_standin () ? 2 : devices_count (), id;
  gchar *last = g_strdup_printf ("%s%u", launch, n - 1);
  gchar *none = g_strdup_printf ("%s%u", launch, n);
  gchar *named = g_strdup_printf ("CUDA device %u", n);
  gchar *range = g_strdup_printf ("0 to %u", n - 1);
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck;
  GstContext *context;

  g_setenv ("TFX_STANDIN_DEVICES", "2", TRUE);
  deck = deck_new (last, DECK_CUDA, &info);
  deck_push_many (deck, 2048, 512);
  context = ask (deck, "e0");
  g_object_get (context_object (context), "cuda-device-id", &id, NULL);
  fail_unless_equals_int (id, n - 1);
  fail_unless (deck_runs_on (deck, "e0", "cuda"));
  tfx_check_expect_no_warning (deck->bus);
  gst_context_unref (context);
  deck_free (deck);

  deck = deck_new (none, DECK_CUDA, &info);
  deck_push_many (deck, 2048, 512);
  deck_end (deck);
  tfx_check_expect_warning (deck->bus, "device=cuda is not available", named,
      range, "CPU", NULL);
  tfx_check_expect_no_warning (deck->bus);
  fail_unless (deck_runs_on (deck, "e0", "cpu"));
  fail_unless_equals_uint64 (deck->n_frames, 2048);
  deck_free (deck);
  g_unsetenv ("TFX_STANDIN_DEVICES");
  g_free (last);
  g_free (none);
  g_free (named);
  g_free (range);
}
GST_END_TEST;

/* Devices of their own: they do not run as one, and the samples go from the one
 * to the other. */
GST_START_TEST (test_two_devices)
{
  static const gchar *const launch =
      "tfxbutterworth name=e0 cuda-device-id=0 DEVICE ! "
      "tfxchebyshev name=e1 cuda-device-id=1 DEVICE";
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 4,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  Deck *decks[2];

  g_setenv ("TFX_STANDIN_DEVICES", "2", TRUE);
  for (guint i = 0; i < 2; i++) {
    decks[i] = deck_new (launch, i == 0 ? DECK_CPU : DECK_CUDA, &info);
    deck_push_many (decks[i], 10 * 700, 700);
    deck_end (decks[i]);
  }
  deck_expect_same (decks[0], decks[1], -220.0, launch);
  deck_expect_stat (decks[1], "e0", "deferred", 0);
  fail_unless (deck_runs_on (decks[1], "e0", "cuda"));
  fail_unless (deck_runs_on (decks[1], "e1", "cuda"));
  deck_free (decks[0]);
  deck_free (decks[1]);
  g_unsetenv ("TFX_STANDIN_DEVICES");
}
GST_END_TEST;

/* Left while playing, with buffers in CUDA memory still to come out of a
 * queue. */
GST_START_TEST (test_leave)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new ("tfxfir device=cuda name=e0 ! queue ! "
                         "tfxbutterworth device=cuda name=e1",
      DECK_CUDA, &info);

  deck_push_many (deck, 20 * 480, 480);
  deck_set (deck, "e1", "device", "cpu");
  deck_push_many (deck, 20 * 480, 480);
  deck_end (deck);
  fail_unless (deck_runs_on (deck, "e0", "cuda"));
  fail_unless (deck_runs_on (deck, "e1", "cpu"));
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
}
GST_END_TEST;

/* ---- suite --------------------------------------------------------------------------------- */

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_auto");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  for (guint i = 0; i < G_N_ELEMENTS (choices); i++) {
    if (has_card (choices[i].card))
      tcase_add_loop_test (tc, test_cards, i, i + 1);
  }
  if (has_card ("h100")) {
    tcase_add_test (tc, test_light);
    tcase_add_test (tc, test_heavy);
    tcase_add_test (tc, test_two);
  }
  tcase_add_test (tc, test_follows);
  tcase_add_test (tc, test_one_context);
  tcase_add_test (tc, test_given_context);
  tcase_add_test (tc, test_device_id);
  if (devices_are_standin () || devices_count () > 1)
    tcase_add_test (tc, test_two_devices);
  tcase_add_loop_test (tc, test_leave, 0, 10);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
