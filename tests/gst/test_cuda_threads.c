/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_threads.c: elements on a device in a process that may have no more
 * threads.  Each pthread_create() on behalf of the plugin fails, from the first or a
 * later one on; what its threads would have done is done in place, or reported.
 */
#include <string.h>

#include "deck.h"
#include "nothreads.h"

#define RATE 48000
#define N_FRAMES 500

static gchar *folder;

/* A device for which every kernel has to be compiled, and none is kept on disk. */
static void
set_up (void)
{
  folder = g_dir_make_tmp ("tfx-threads-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_setenv ("TFX_STANDIN_CC", "130", TRUE);
}

static void
tear_down (void)
{
  gchar *command = g_strdup_printf ("rm -rf '%s'", folder);

  fail_unless (g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL));
  g_free (command);
  g_free (folder);
}

static gboolean
runs_on_cuda (Deck *deck, const gchar *name)
{
  gchar *text = deck_text (deck, name, "device");
  const gboolean does = g_strcmp0 (text, "cuda") == 0;

  g_free (text);
  return does;
}

/* ---- settings while samples flow --------------------------------------------------- */

/* Settings made while playing: a device that must be opened, for one element and for
 * two; and a chain that needs another kernel. */
static const struct
{
  const gchar *launch, *names[3], *property, *value;
} changes[] = {
  { "tfxbutterworth name=e0 device=cpu order=4", { "e0" }, "device", "cuda" },
  { "tfxfir name=e0 device=cpu taps=301 align=false", { "e0" }, "device",
      "cuda" },
  { "tfxbutterworth name=e0 device=cpu fuse=false ! "
    "tfxchain name=e1 device=cpu fuse=false chain=\"Echo(500) | Reverb(0.4)\"",
      { "e0", "e1" }, "device", "cuda" },
  { "tfxbutterworth name=e0 DEVICE order=4", { "e0" }, "order", "10" },
};

/* How many threads there are for it: one opens a device, others compile kernels. */
static const guint n_threads[] = { 0, 1, 2, 3 };

static Deck *
play (guint change, DeckSide side)
{
  GstAudioInfo info = tfx_check_f32 (RATE, 2);
  Deck *deck = deck_new (changes[change].launch, side, &info);
  const gchar *value = changes[change].value;

  if (side == DECK_CPU && strcmp (value, "cuda") == 0)
    value = "cpu";
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  for (guint i = 0; changes[change].names[i]; i++)
    deck_set (deck, changes[change].names[i], changes[change].property, value);
  return deck;
}

/* The device filters in the end, and each sample is right. */
GST_START_TEST (test_changes)
{
  const guint change = __i__ / G_N_ELEMENTS (n_threads);
  const guint n = n_threads[__i__ % G_N_ELEMENTS (n_threads)];
  const gchar *launch = changes[change].launch;
  Deck *cpu = play (change, DECK_CPU), *cuda;
  gboolean are_all = FALSE;
  guint n_buffers = 0;
  gint64 begin = 0;
  gdouble db;

  no_threads_after (n);
  cuda = play (change, DECK_CUDA);
  for (; !are_all && tfx_check_wait (&begin); n_buffers++) {
    deck_push_many (cuda, N_FRAMES, N_FRAMES);
    are_all = TRUE;
    for (guint i = 0; changes[change].names[i]; i++)
      are_all &= runs_on_cuda (cuda, changes[change].names[i]);
  }
  deck_push_many (cuda, 4 * N_FRAMES, N_FRAMES);
  deck_end (cuda);
  tfx_check_expect_no_warning (cuda->bus);
  fail_unless (are_all, "%s: not on the device", launch);
  fail_unless (n > 0 || no_threads_count () > 0,
      "no thread was asked for: the case tests nothing");

  deck_push_many (cpu, (n_buffers + 4) * N_FRAMES, N_FRAMES);
  deck_end (cpu);
  deck_expect_same_times (cpu, cuda, launch);
  db = deck_distance_db (cpu, cuda);
  fail_unless (db < -120.0, "%s: %g dB", launch, db);
  deck_free (cpu);
  deck_free (cuda);
}
GST_END_TEST;

static Suite *
make_suite (void)
{
  Suite *suite = suite_create ("cuda_threads");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, set_up, tear_down);
  tcase_add_loop_test (tc, test_changes, 0,
      G_N_ELEMENTS (changes) * G_N_ELEMENTS (n_threads));
  return suite;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
