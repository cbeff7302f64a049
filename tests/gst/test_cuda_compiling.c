/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_compiling.c: kernels that have to be compiled while elements play.
 *
 * The stand-in's device has no machine code in the plugin, and the stand-in for
 * NVRTC does not end a compilation while a file is there.  On a device that is
 * there a kernel may be there at once. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "deck.h"
#include "devices.h"

#define RATE 48000
#define N_FRAMES 600

static gchar *folder, *hold;

static void
set_up (void)
{
  folder = g_dir_make_tmp ("tfx-compiling-XXXXXX", NULL);
  hold = g_build_filename (folder, "hold", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_setenv ("TFX_NVRTC_HOLD", hold, TRUE);
  g_setenv ("TFX_STANDIN_CC", "130", TRUE);
}

static void
tear_down (void)
{
  gchar *command = g_strdup_printf ("rm -rf '%s'", folder);

  fail_unless (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  g_free (command);
  g_free (folder);
  g_free (hold);
}

static gboolean
runs_on (Deck *deck, const gchar *device)
{
  gchar *text = deck_text (deck, "e0", "device");
  gboolean same = g_strcmp0 (text, device) == 0;

  g_free (text);
  return same;
}

/* Another number of sections needs another kernel: the CPU filters until it is
 * there, and no buffer waits. */
GST_START_TEST (test_structure)
{
  static const gchar *const launch = "tfxbutterworth DEVICE name=e0 order=4";
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  const gboolean is_standin = devices_are_standin ();
  Deck *deck = deck_new (launch, DECK_CUDA, &info);
  Deck *cpu = deck_new (launch, DECK_CPU, &info);
  gint64 begin = 0;
  guint n = 0;

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  fail_unless (runs_on (deck, "cuda"));
  fail_unless (g_file_set_contents (hold, "", 0, NULL));
  deck_set (deck, "e0", "order", "10");
  deck_push_many (deck, 10 * N_FRAMES, N_FRAMES);
  if (is_standin)
    fail_unless (runs_on (deck, "cpu"), "a buffer has waited for the compiler");
  fail_unless_equals_int (g_unlink (hold), 0);
  for (; !runs_on (deck, "cuda") && tfx_check_wait (&begin); n++)
    deck_push_many (deck, N_FRAMES, N_FRAMES);
  fail_unless (runs_on (deck, "cuda"), "the device does not go on");
  deck_end (deck);

  deck_push_many (cpu, 4 * N_FRAMES, N_FRAMES);
  deck_set (cpu, "e0", "order", "10");
  deck_push_many (cpu, (10 + n) * N_FRAMES, N_FRAMES);
  deck_end (cpu);
  fail_unless (deck_distance_db (deck, cpu) < -130.0, "%.1f dB",
      deck_distance_db (deck, cpu));
  tfx_check_expect_no_warning (deck->bus);
  deck_free (deck);
  deck_free (cpu);
}
GST_END_TEST;

static Suite *
cuda_compiling_suite (void)
{
  Suite *suite = suite_create ("cuda_compiling");
  TCase *tcase = tcase_create ("compiling");

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_add_test (tcase, test_structure);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_compiling);
