/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_classes.c: each class of the catalogue in a fused row on the device:
 * one upload, one download, and the launches that docs/dev/cuda-backend.md says.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "../dsp/classcalls.h"
#include "deck.h"

#define RATE 48000
#define N_BUFFERS 6

#define HIGH "tfxchebyshev mode=high-pass cutoff=20 order=2 ripple=0.5 DEVICE "
#define LOW "tfxbutterworth cutoff=5000 order=2 DEVICE "

/* Sections run with those of the neighbours; what is in between parts these. */
static guint
find_launches (const gchar *call, const TfxClass *klass)
{
  switch (klass->kind) {
    case TFX_CLASS_SECTIONS:
      return 1;
    case TFX_CLASS_GAIN:
      return strstr (call, "clamp=True") ? 3 : 1;
    case TFX_CLASS_BANK:
      return 2 + (g_str_has_prefix (call, "Multiband")      ? 3
                     : g_str_has_prefix (call, "Crossfeed") ? 2
                                                            : 5);
    default:
      /* (Of one channel it changes nothing.) */
      return g_str_has_prefix (call, "Width") ? 1 : 3;
  }
}

static Deck *
play (const gchar *launch, DeckSide side)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 1,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  Deck *deck = deck_new (launch, side, &info);

  deck_push_many (deck, N_BUFFERS * 1024, 1024);
  deck_end (deck);
  return deck;
}

/* Devices have none of them. */
static gboolean
is_for_cpu (const gchar *call)
{
  return g_str_has_prefix (call, "Normalize") ||
         g_str_has_prefix (call, "Loudness(") ||
         g_str_has_prefix (call, "Denoise") || strstr (call, "true_peak=True");
}

static gboolean
looks_ahead (const gchar *call)
{
  return g_str_has_prefix (call, "Limiter") ||
         g_str_has_prefix (call, "LinearPhase") ||
         (g_str_has_prefix (call, "Curve") && !strstr (call, "'minimum'"));
}

/* All at the last element. */
static void
expect_together (Deck *deck, guint launches)
{
  static const gchar *const fields[] = { "dispatches", "uploads", "launches",
    "downloads" };

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    deck_expect_stat (deck, "e0", fields[i], 0);
    deck_expect_stat (deck, "e1", fields[i], 0);
  }
  deck_expect_stat (deck, "e2", "dispatches", N_BUFFERS);
  deck_expect_stat (deck, "e2", "uploads", launches > 0 ? N_BUFFERS : 0);
  deck_expect_stat (deck, "e2", "launches", N_BUFFERS * launches);
  deck_expect_stat (deck, "e2", "downloads", launches > 0 ? N_BUFFERS : 0);
}

/* The one that looks ahead has what is in front of it; what stays in it comes out
 * at the end.  In between the samples are on the device. */
static void
expect_apart (Deck *deck, guint launches)
{
  const guint64 n = deck_stat (deck, "e2", "dispatches");

  deck_expect_stat (deck, "e0", "deferred", N_BUFFERS);
  deck_expect_stat (deck, "e1", "uploads", N_BUFFERS + 1);
  deck_expect_stat (deck, "e1", "launches",
      launches > 0 ? N_BUFFERS * (launches - 1) + 1 : 0);
  deck_expect_stat (deck, "e1", "downloads", 0);
  deck_expect_stat (deck, "e2", "uploads", 0);
  deck_expect_stat (deck, "e2", "launches", n);
  /* The kernel writes what stays, a short buffer, to the host's memory. */
  deck_expect_stat (deck, "e2", "downloads", N_BUFFERS);
}

/* The CPU runs such a stage and what precedes it; the last element has the device. */
static void
expect_on_cpu (Deck *deck)
{
  deck_expect_stat (deck, "e1", "launches", 0);
  deck_expect_stat (deck, "e2", "launches",
      deck_stat (deck, "e2", "dispatches"));
}

/* Loops over the calls. */
GST_START_TEST (test_class)
{
  const gchar *call = class_calls[__i__];
  gchar *name = g_strndup (call, strcspn (call, "("));
  gchar *launch = g_strdup_printf (HIGH
      "name=e0 ! tfxchain name=e1 DEVICE chain=\"%s\" ! " LOW "name=e2",
      call);
  const guint n = find_launches (call, tfx_catalogue_find (name));
  Deck *cpu, *cuda;

  fail_unless (
      g_file_set_contents (CLASS_CALLS_FILE, "0.5\n0.25\n0.1\n", -1, NULL));
  cpu = play (launch, DECK_CPU);
  cuda = play (launch, DECK_CUDA);
  g_unlink (CLASS_CALLS_FILE);
  deck_expect_same (cpu, cuda, -140.0, call);
  if (is_for_cpu (call))
    expect_on_cpu (cuda);
  else if (g_str_has_prefix (call, "DynamicEQ") ||
           g_str_has_prefix (call, "DeEss") || strstr (call, "key_filter"))
    deck_expect_stat (cuda, "e2", "launches",
        0); /* nor these, and no latency */
  else if (looks_ahead (call))
    expect_apart (cuda, n);
  else
    expect_together (cuda, n);
  deck_free (cpu);
  deck_free (cuda);
  g_free (launch);
  g_free (name);
}
GST_END_TEST;

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_classes");
  TCase *tc = tcase_create ("work");
  int n = 0;

  while (class_calls[n])
    n++;
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_class, 0, n);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
