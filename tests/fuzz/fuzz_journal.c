/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fuzz_journal.c: any bytes as the journal of gst-tfx process, and as the name of a
 * file in it.
 *
 * Invariants: a file is done, or begun, if and only if a whole line of the bytes
 * is its line; a name is found again behind any bytes, and what its line holds is
 * that name; with a byte of the line changed, or its end cut off, it is not done. */
#include "gsttfxjournal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "driver.h"

#define DIGEST                                                                 \
  "8897ff96d8498d09c9247ed21245708a2f16669bfe6926c0e2016293dcb3bd05"
/* Of the files that are always there. */
#define STATE "3\t1000000000.000000000"
#define LINE(word, input, output)                                              \
  word "\t" DIGEST "\t" STATE "\t" input "\t" output

#define JOURNAL "journal"
#define MAX_NAME 100

static const struct
{
  const gchar *input, *output, *done, *begun;
} pairs[] = {
  { "a.wav", "o.wav", LINE ("done", "a.wav", "o.wav"),
      LINE ("begun", "a.wav", "o.wav") },
  /* The beginning of another name. */
  { "a.wav", "o", LINE ("done", "a.wav", "o"), LINE ("begun", "a.wav", "o") },
  { "b $x\n.wav", "o\xff.wav", LINE ("done", "b \\044x\\n.wav", "o\\377.wav"),
      LINE ("begun", "b \\044x\\n.wav", "o\\377.wav") },
};

static char *folder;
static unsigned long n_done, n_begun, n_names, n_damaged;

/* ---- files --------------------------------------------------------------------------- */

/* A new file: to write an old one again waits for the disk. */
static void
write_file (const gchar *name, const void *bytes, gsize n)
{
  g_unlink (name);
  g_assert_true (g_file_set_contents (name, bytes, (gssize)n, NULL));
}

static void
make_file (const gchar *name)
{
  const struct timespec times[2] = { { .tv_sec = 1000000000 },
    { .tv_sec = 1000000000 } };

  write_file (name, "abc", 3);
  g_assert_no_errno (utimensat (AT_FDCWD, name, times, 0));
}

static void
make_folder (void)
{
  folder = fuzz_make_folder ();
  g_assert_no_errno (chdir (folder));
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    make_file (pairs[i].input);
    make_file (pairs[i].output);
  }
}

static GstTfxJournal *
open_journal (void)
{
  GError *error = NULL;
  GstTfxJournal *journal =
      gst_tfx_journal_open (JOURNAL, FALSE, DIGEST, &error);

  FUZZ_MUST (journal && !error);
  return journal;
}

/* ---- what the bytes hold ------------------------------------------------------------- */

static gboolean
has_line (const uint8_t *data, size_t size, const gchar *line)
{
  const gsize n = strlen (line);

  for (gsize i = 0; i + n < size; i++) {
    if ((i == 0 || data[i - 1] == '\n') && data[i + n] == '\n' &&
        memcmp (data + i, line, n) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
check_pairs (const uint8_t *data, size_t size)
{
  GstTfxJournal *journal = open_journal ();

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    const gboolean done = has_line (data, size, pairs[i].done);
    const gboolean begun = has_line (data, size, pairs[i].begun) && !done;

    FUZZ_MUST (gst_tfx_journal_is_done (journal, pairs[i].input,
                   pairs[i].output) == done);
    FUZZ_MUST (gst_tfx_journal_is_begun (journal, pairs[i].input,
                   pairs[i].output) == begun);
    n_done += done;
    n_begun += begun;
  }
  gst_tfx_journal_close (journal);
}

/* ---- a name -------------------------------------------------------------------------- */

static gboolean
is_done (const gchar *name, const gchar *output)
{
  GstTfxJournal *journal = open_journal ();
  const gboolean done = gst_tfx_journal_is_done (journal, name, output);

  gst_tfx_journal_close (journal);
  return done;
}

/* The last line of the journal is of the names, in characters that mean nothing to a
 * shell. */
static void
check_line (const gchar *text, gsize n, const gchar *name, const gchar *output)
{
  gchar *line = g_strndup (text, n - 1), **fields, *again;

  FUZZ_MUST (text[n - 1] == '\n');
  for (const gchar *c = line; *c; c++) {
    FUZZ_MUST (*c == '\t' || (*c >= ' ' && *c <= '~'));
    FUZZ_MUST (!strchr ("$&'()*;<>?[]`{|}~!#", *c));
  }
  fields = g_strsplit (line, "\t", -1);
  FUZZ_MUST (g_strv_length (fields) == 6);
  again = g_strcompress (fields[4]);
  FUZZ_MUST (strcmp (again, name) == 0);
  g_free (again);
  again = g_strcompress (fields[5]);
  FUZZ_MUST (strcmp (again, output) == 0);
  g_free (again);
  g_strfreev (fields);
  g_free (line);
}

/* One byte of the line is another, or the line ends too early. */
static void
check_damaged (gchar *text, gsize at, gsize n, guint random, const gchar *name,
    const gchar *output)
{
  const gsize place = at + random % (n - at);
  const gchar byte = text[place];

  text[place] = (gchar)(byte ^ (gchar)(1 + random % 255));
  write_file (JOURNAL, text, n);
  FUZZ_MUST (!is_done (name, output));
  text[place] = byte;
  write_file (JOURNAL, text, place);
  FUZZ_MUST (!is_done (name, output));
  n_damaged++;
}

static void
check_name (const gchar *name, guint random)
{
  gchar *output = g_strconcat ("./", name, NULL), *text;
  gchar *state = gst_tfx_journal_look_at (name);
  GstTfxJournal *journal = open_journal ();
  gsize before, n;

  FUZZ_MUST (state);
  FUZZ_MUST (!gst_tfx_journal_is_done (journal, name, output));
  FUZZ_MUST (gst_tfx_journal_begin (journal, name, state, output, NULL));
  gst_tfx_journal_close (journal);
  journal = open_journal ();
  FUZZ_MUST (gst_tfx_journal_is_begun (journal, name, output));
  FUZZ_MUST (!gst_tfx_journal_is_done (journal, name, output));
  g_assert_true (g_file_get_contents (JOURNAL, &text, &before, NULL));
  g_free (text);
  FUZZ_MUST (gst_tfx_journal_add (journal, name, state, output, NULL));
  gst_tfx_journal_close (journal);
  FUZZ_MUST (is_done (name, output));

  g_assert_true (g_file_get_contents (JOURNAL, &text, &n, NULL));
  /* A line end stands before it. */
  check_line (text + before + 1, n - before - 1, name, output);
  check_damaged (text, before + 1, n, random, name, output);
  n_names++;
  g_free (text);
  g_free (state);
  g_free (output);
}

/* The bytes as a name: those that none can have become others. */
static gchar *
make_name (const uint8_t *data, size_t size)
{
  gchar *name = g_strndup ((const gchar *)data, MIN (size, MAX_NAME));

  return g_strdelimit (name, "/", '_');
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  gchar *name = make_name (data, size);
  guint random = (guint)size;

  fuzz_begin (data, size);
  if (!folder)
    make_folder ();
  for (size_t i = 0; i < size; i++)
    random = random * 31 + data[i];
  write_file (JOURNAL, data, size);
  check_pairs (data, size);
  if (*name && !g_file_test (name, G_FILE_TEST_EXISTS)) {
    make_file (name);
    check_name (name, random);
    unlink (name);
  }
  g_free (name);
  return 0;
}

#ifndef TFX_FUZZER

#include "chaingen.h"

static const char *const tokens[] = { "\n", "\t", "done", "begun", "done\t",
  "begun\t", DIGEST, STATE, "\r\n", "\\", "\\n", "\\044", "\\377", "a.wav",
  "o.wav", "\x7f", "\xff", "\xc3\xa4", "'", "$(", "*", "..",
  "\n" LINE ("done", "a.wav", "o.wav") "\n",
  "\n" LINE ("begun", "a.wav", "o.wav") "\n",
  "\n" LINE ("done", "b \\044x\\n.wav", "o\\377.wav") "\n",
  "\n" LINE ("begun", "b \\044x\\n.wav", "o\\377.wav") "\n" };

/* Tokens and other bytes. */
static size_t
generate (uint64_t *state, char *text, size_t size)
{
  const unsigned n_parts = 1 + chaingen_below (state, 12);
  size_t n = 0;

  for (unsigned i = 0; i < n_parts; i++) {
    const char *token = tokens[chaingen_below (state, G_N_ELEMENTS (tokens))];
    const size_t n_token = strlen (token);

    if (n + n_token + 4 > size)
      break;
    memcpy (text + n, token, n_token);
    n += n_token;
    for (unsigned k = chaingen_below (state, 4); k > 0; k--)
      text[n++] = (char)chaingen_random (state);
  }
  return n;
}

static bool
judge (unsigned long n_runs, char *line, size_t size)
{
  g_snprintf (line, size, "%lu done, %lu begun, %lu names, %lu damaged lines",
      n_done, n_begun, n_names, n_damaged);
  return n_done >= n_runs / 10 && n_begun >= n_runs / 10 &&
         n_names >= n_runs / 2 && n_damaged == n_names;
}

int
main (int argc, char **argv)
{
  const FuzzTarget target = { .tokens = tokens,
    .n_tokens = G_N_ELEMENTS (tokens),
    .generate = generate,
    .judge = judge };
  const int status = fuzz_main (&target, argc, argv);

  fuzz_remove_folder (folder);
  free (folder);
  return status;
}

#endif /* TFX_FUZZER */
