/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_links.c: pads behind elements on the device are linked anew, while a
 * buffer in CUDA memory waits there; and neighbours fuse and part.
 */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "deck.h"

#define RATE 48000
/* Too many for kernels to write to the host's memory. */
#define N_FRAMES 600

/* Between a and b is CUDA memory. */
#define A "tfxbutterworth name=a cutoff=9000 fuse=false DEVICE"
#define B "tfxbutterworth name=b mode=high-pass cutoff=100 fuse=false DEVICE"

/* The pad is that of a, or of what is named `at`. */
static const gchar *const lines[] = { A " ! " B " ! identity name=end",
  A " ! identity name=at ! " B " ! identity name=end",
  A " ! tee name=at ! " B " ! identity name=end",
  A " ! queue name=at ! " B " ! identity name=end" };

static GstPad *
find_pad (Deck *deck)
{
  GstElement *at = gst_bin_get_by_name (GST_BIN (deck->h->element), "at");
  GstPad *pad;

  if (!at)
    at = deck_element (deck, "a");
  pad = gst_element_get_static_pad (at, "src");
  if (!pad)
    pad = gst_element_get_static_pad (at, "src_0");
  gst_object_unref (at);
  return pad;
}

typedef struct
{
  Deck *deck;
  gboolean replaces;
} Surgery;

/* Puts a volume behind the pad, or one in the place of b: a filter that nothing follows
 * any more in CUDA memory. */
static GstPadProbeReturn
operate (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Surgery *surgery = data;
  Deck *deck = surgery->deck;
  GstElement *volume = gst_element_factory_make ("volume", NULL);
  GstPad *after = gst_pad_get_peer (pad);
  GstPad *sink = gst_element_get_static_pad (volume, "sink");
  GstPad *src = gst_element_get_static_pad (volume, "src");

  gst_pad_unlink (pad, after);
  if (surgery->replaces) {
    GstElement *b = deck_element (deck, "b"), *end = deck_element (deck, "end");

    gst_element_unlink (b, end);
    gst_element_set_state (b, GST_STATE_NULL);
    gst_bin_remove (GST_BIN (deck->h->element), b);
    gst_object_unref (after);
    after = gst_element_get_static_pad (end, "sink");
    gst_object_unref (end);
    gst_object_unref (b);
  }
  gst_bin_add (GST_BIN (deck->h->element), volume);
  fail_unless_equals_int (gst_pad_link (src, after), GST_PAD_LINK_OK);
  fail_unless (tfx_check_link_waiting (pad, sink));
  fail_unless (gst_element_sync_state_with_parent (volume));
  gst_object_unref (after);
  gst_object_unref (sink);
  gst_object_unref (src);
  return GST_PAD_PROBE_REMOVE;
}

static Deck *
play (const gchar *line, DeckSide side, gboolean replaces)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  Deck *deck = deck_new (line, side, &info);
  GstPad *pad = find_pad (deck);
  Surgery surgery = { deck, replaces };
  GstCaps *caps;

  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  deck_drain (deck);
  caps = gst_pad_get_current_caps (pad);
  fail_unless (side == DECK_CPU ||
               gst_caps_features_contains (gst_caps_get_features (caps, 0),
                   "memory:CUDAMemory"));
  gst_caps_unref (caps);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
      operate, &surgery, NULL);
  deck_push_many (deck, 4 * N_FRAMES, N_FRAMES);
  deck_end (deck);
  gst_object_unref (pad);
  return deck;
}

/* The buffer that waits goes out too, and those behind it. */
GST_START_TEST (test_blocked)
{
  const gchar *line = lines[__i__ / 2];
  Deck *cpu = play (line, DECK_CPU, __i__ % 2);
  Deck *cuda = play (line, DECK_CUDA, __i__ % 2);

  fail_unless_equals_uint64 (cuda->n_frames, 8 * N_FRAMES);
  deck_expect_same (cpu, cuda, -220.0, line);
  deck_free (cpu);
  deck_free (cuda);
}
GST_END_TEST;

/* ---- rows that change ------------------------------------------------------------ */

/* Copies from the device to the host, as the stand-in tells them. */
static guint
count_downloads (const gchar *path)
{
  gchar *text, **rows;
  guint n = 0;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  rows = g_strsplit (text, "\n", 0);
  for (guint i = 0; rows[i]; i++)
    n += g_str_has_prefix (rows[i], "down ");
  g_strfreev (rows);
  g_free (text);
  return n;
}

#define N_TIMES 12

/* Plays until elements a and b filter on the device, each for itself, and at most so
 * many buffers: a stream that plays does not wait for kernels that have to be
 * compiled.  Returns how many it took. */
static guint
make_kernels (Deck *deck, guint n_most)
{
  guint64 last[2] = { 0, 0 }, now[2];
  gboolean are_there = FALSE;
  guint n = 0;

  deck_set (deck, "a", "fuse", "false");
  for (; n < n_most && !are_there; n++) {
    deck_push_many (deck, N_FRAMES, N_FRAMES);
    are_there = TRUE;
    for (guint i = 0; i < 2; i++) {
      now[i] = deck_stat (deck, i ? "b" : "a", "launches");
      are_there &= n > 0 && now[i] > last[i];
      last[i] = now[i];
    }
    g_usleep (are_there ? 0 : 5000);
  }
  deck_set (deck, "a", "fuse", "true");
  deck_push_many (deck, N_FRAMES, N_FRAMES);
  return n;
}

/* The second one filters for the first, or each for itself: the state of neither
 * leaves the device, so what comes down is the buffers.  (test_residents.c counts
 * what goes up too.) */
GST_START_TEST (test_fuse)
{
  static const gchar line[] =
      "tfxbutterworth name=a cutoff=9000 DEVICE ! "
      "tfxchain name=b chain=\"HiButterworth(100)|Delay(900)|Gate(-40)\" "
      "DEVICE";
  const GstAudioInfo info = tfx_check_f32 (RATE, 2);
  gchar *path = g_strdup_printf ("/tmp/tfx-links-%d", (gint)getpid ());
  Deck *decks[2];
  guint n_rows = 0, n_first = 20000;

  for (gint side = DECK_CUDA; side >= DECK_CPU; side--) {
    Deck *deck = decks[side] = deck_new (line, side, &info);
    guint64 last;

    deck_push_many (deck, 2 * N_FRAMES, N_FRAMES);
    n_first = make_kernels (deck, n_first);
    last = deck_stat (deck, "a", "dispatches");
    if (side == DECK_CUDA)
      g_setenv ("TFX_STANDIN_TIMELINE", path, TRUE);
    for (guint i = 0; i < N_TIMES; i++) {
      guint64 now;

      deck_set (deck, i % 3 ? "a" : "b", "fuse", i / 3 % 2 ? "true" : "false");
      deck_push_many (deck, N_FRAMES, N_FRAMES);
      now = deck_stat (deck, "a", "dispatches");
      n_rows += side == DECK_CUDA && (now != last) != (i / 3 % 2);
      last = now;
    }
    g_unsetenv ("TFX_STANDIN_TIMELINE");
    deck_end (deck);
  }
  fail_unless (n_rows > N_TIMES / 2, "%u rows as they were asked for", n_rows);
  fail_unless_equals_int (count_downloads (path), N_TIMES);
  deck_expect_same (decks[DECK_CPU], decks[DECK_CUDA], -130.0, line);
  deck_free (decks[DECK_CPU]);
  deck_free (decks[DECK_CUDA]);
  g_unlink (path);
  g_free (path);
}
GST_END_TEST;

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_links");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_blocked, 0, 2 * G_N_ELEMENTS (lines));
  tcase_add_test (tc, test_fuse);
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
