/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_absent.c: elements where CUDA cannot be used, for the reason that
 * the environment plays (TFX_EXPECT: words that must be said): one message, and
 * the CPU filters.
 */
#include <string.h>

#include "deck.h"

#define RATE 48000
#define N_BUFFERS 5
#define N_FRAMES 600

#define LINE                                                                   \
  "tfxbutterworth name=e0 cutoff=900 %s ! queue ! "                            \
  "tfxchebyshev name=e1 mode=high-pass cutoff=50 %s ! tfxfir name=e2 taps=33 " \
  "%s"

static Deck *
play (const gchar *device)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  gchar *line = g_strdup_printf (LINE, device, device, device);
  Deck *deck = deck_new (line, DECK_CUDA, &info);

  deck_push_many (deck, N_BUFFERS * N_FRAMES, N_FRAMES);
  deck_end (deck);
  g_free (line);
  return deck;
}

/* The CPU's samples, to the bit. */
static void
expect_cpu (Deck *deck)
{
  Deck *cpu = play ("device=cpu");
  static const gchar *const names[] = { "e0", "e1", "e2" };

  deck_expect_same_times (cpu, deck, "");
  fail_unless_equals_float (tfx_check_distance ((gdouble *)(gpointer)
                                                    cpu->samples->data,
                                (gdouble *)(gpointer)deck->samples->data,
                                cpu->samples->len),
      0.0);
  for (guint i = 0; i < 3; i++) {
    gchar *device = deck_text (deck, names[i], "device");

    /* What leaves its stage to others runs nothing. */
    fail_unless (strcmp (device, "cpu") == 0 || strcmp (device, "none") == 0);
    fail_unless_equals_uint64 (deck_stat (deck, names[i], "uploads"), 0);
    g_free (device);
  }
  tfx_check_expect_no_warning (cpu->bus);
  deck_free (cpu);
}

/* device=cuda: each element says once why not. */
GST_START_TEST (test_asked)
{
  gchar **words = g_strsplit (g_getenv ("TFX_EXPECT"), "|", 0);
  Deck *deck = play ("device=cuda");

  for (guint i = 0; i < 3; i++) {
    gchar *text = tfx_check_pop_warning (deck->bus);

    fail_unless (text != NULL, "%u warnings, not 3", i);
    fail_unless (strstr (text, "device=cuda is not available") != NULL, "%s",
        text);
    fail_unless (strstr (text, "Filtering on the CPU.") != NULL, "%s", text);
    for (guint k = 0; words[k]; k++)
      fail_unless (strstr (text, words[k]) != NULL, "no '%s' in '%s'", words[k],
          text);
    g_free (text);
  }
  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (deck);
  deck_free (deck);
  g_strfreev (words);
}
GST_END_TEST;

/* device=auto has nothing to say. */
GST_START_TEST (test_auto)
{
  Deck *deck = play ("device=auto");

  tfx_check_expect_no_warning (deck->bus);
  expect_cpu (deck);
  deck_free (deck);
}
GST_END_TEST;

/* CUDA memory is not offered. */
GST_START_TEST (test_caps)
{
  GstElement *element = gst_element_factory_make ("tfxbutterworth", NULL);
  GstElement *other = gst_element_factory_make ("identity", NULL);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstCaps *caps;

  gst_util_set_object_arg (G_OBJECT (element), "device", "cuda");
  fail_unless (gst_element_link (element, other));
  caps = gst_pad_query_caps (pad, NULL);
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    fail_unless (!gst_caps_features_contains (gst_caps_get_features (caps, i),
        "memory:CUDAMemory"));
  gst_caps_unref (caps);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (other);
}
GST_END_TEST;

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_absent");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  if (!g_getenv ("TFX_EXPECT"))
    return s;
  tcase_add_test (tc, test_asked);
  tcase_add_test (tc, test_auto);
  tcase_add_test (tc, test_caps);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
