/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjournal.c: a line for each file that is begun, and one once it is done:
 *
 *   done TAB chain's digest TAB input's size TAB its time TAB input TAB output
 *
 * Names are escaped as in C, and what a shell would run too: others choose names.  A
 * line is written in one piece, so several processes may share a journal, and one that
 * was cut off is no line.
 */
#include "gsttfxjournal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gio/gio.h>
#include <glib/gstdio.h>

struct GstTfxJournal
{
  gint file;
  gchar *path;
  gchar *digest; /* of the options */
  GHashTable *lines;
};

gchar *
gst_tfx_journal_look_at (const gchar *input)
{
  GStatBuf status;

  return g_stat (input, &status) < 0
             ? NULL
             : g_strdup_printf ("%" G_GINT64_FORMAT "\t%" G_GINT64_FORMAT
                                ".%09ld",
                   (gint64)status.st_size, (gint64)status.st_mtim.tv_sec,
                   status.st_mtim.tv_nsec);
}

/* The name without a character that means something to a shell; free it. */
static gchar *
escape (const gchar *name)
{
  gchar *text = g_strescape (name, NULL);
  GString *escaped = g_string_new (NULL);

  for (const gchar *c = text; *c; c++) {
    if (strchr ("$&'()*;<>?[]`{|}~!#", *c))
      g_string_append_printf (escaped, "\\%03o", (guint)*c);
    else
      g_string_append_c (escaped, *c);
  }
  g_free (text);
  return g_string_free (escaped, FALSE);
}

/* The journal's line for an input in a state; NULL without a state.  Free it. */
static gchar *
make_line (const GstTfxJournal *journal, const gchar *word, const gchar *input,
    const gchar *state, const gchar *output)
{
  gchar *of_input = escape (input);
  gchar *of_output = escape (output);
  gchar *line = NULL;

  if (state)
    line = g_strjoin ("\t", word, journal->digest, state, of_input, of_output,
        NULL);
  g_free (of_input);
  g_free (of_output);
  return line;
}

static gboolean
set_error (GError **error, const gchar *path)
{
  const gint number = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (number),
      "cannot write the journal %s: %s", path, g_strerror (number));
  return FALSE;
}

/* Adds the lines of the file.  A line that does not end, or with a zero in it, was cut
 * off: a file system leaves zeros behind where power failed. */
static void
read_lines (GstTfxJournal *journal, const gchar *path)
{
  gchar *text = NULL, *line, *end;
  gsize length;

  /* (A device may have no end.) */
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR) ||
      !g_file_get_contents (path, &text, &length, NULL))
    return;
  for (line = text; (end = memchr (line, '\n', text + length - line));
       line = end + 1) {
    if (!memchr (line, '\0', end - line))
      g_hash_table_add (journal->lines, g_strndup (line, end - line));
  }
  g_free (text);
}

/* Negative with an error.  In a folder that others write to, a link would have the
 * names in whatever file it leads to, and so would another user's file. */
static gint
open_file (const gchar *path, gboolean is_given, GError **error)
{
  const gint file = g_open (path,
      O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | (is_given ? 0 : O_NOFOLLOW),
      0666);
  struct stat status;

  if (file < 0 && (is_given || errno != ELOOP)) {
    set_error (error, path);
  } else if (file < 0 || (!is_given && (fstat (file, &status) < 0 ||
                                           !S_ISREG (status.st_mode) ||
                                           status.st_uid != geteuid ()))) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_PERM,
        "cannot write the journal %s: it is a link, no file, or another user's "
        "(--journal names one elsewhere)",
        path);
    if (file >= 0)
      close (file);
    return -1;
  }
  return file;
}

void
gst_tfx_journal_set_chain (GstTfxJournal *journal, const gchar *chain)
{
  g_free (journal->digest);
  journal->digest =
      g_compute_checksum_for_string (G_CHECKSUM_SHA256, chain, -1);
}

GstTfxJournal *
gst_tfx_journal_open (const gchar *path, gboolean is_given, const gchar *digest,
    GError **error)
{
  GstTfxJournal *journal = g_new0 (GstTfxJournal, 1);

  journal->path = g_strdup (path);
  journal->lines =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  journal->digest = g_strdup (digest);
  journal->file = open_file (path, is_given, error);
  if (journal->file < 0)
    g_clear_pointer (&journal, gst_tfx_journal_close);
  else
    read_lines (journal, path);
  return journal;
}

void
gst_tfx_journal_close (GstTfxJournal *journal)
{
  if (journal->file >= 0)
    close (journal->file);
  g_hash_table_unref (journal->lines);
  g_free (journal->digest);
  g_free (journal->path);
  g_free (journal);
}

static gboolean
has_line (GstTfxJournal *journal, const gchar *word, const gchar *input,
    const gchar *output)
{
  gchar *state = gst_tfx_journal_look_at (input);
  gchar *line = make_line (journal, word, input, state, output);
  const gboolean has = line && g_hash_table_contains (journal->lines, line);

  g_free (line);
  g_free (state);
  return has;
}

gboolean
gst_tfx_journal_is_done (GstTfxJournal *journal, const gchar *input,
    const gchar *output)
{
  return has_line (journal, "done", input, output) &&
         g_access (output, F_OK) == 0;
}

gboolean
gst_tfx_journal_is_begun (GstTfxJournal *journal, const gchar *input,
    const gchar *output)
{
  return has_line (journal, "begun", input, output) &&
         !has_line (journal, "done", input, output);
}

/* Writes in one piece.  Where only a part fits, the rest is tried too, for its errno. */
static gboolean
write_text (gint file, const gchar *text)
{
  gsize rest = strlen (text);

  while (rest > 0) {
    const gssize n = write (file, text, rest);

    if (n <= 0)
      return FALSE;
    text += n;
    rest -= (gsize)n;
  }
  return TRUE;
}

static gboolean
add_line (GstTfxJournal *journal, const gchar *word, const gchar *input,
    const gchar *state, const gchar *output, GError **error)
{
  gchar *line = make_line (journal, word, input, state, output);
  /* (A line that was cut off ends here.) */
  gchar *text = line ? g_strconcat ("\n", line, "\n", NULL) : NULL;
  const gboolean is_written = !text || write_text (journal->file, text);

  if (!is_written)
    set_error (error, journal->path);
  g_free (line);
  g_free (text);
  return is_written;
}

gboolean
gst_tfx_journal_begin (GstTfxJournal *journal, const gchar *input,
    const gchar *state, const gchar *output, GError **error)
{
  return add_line (journal, "begun", input, state, output, error);
}

gboolean
gst_tfx_journal_add (GstTfxJournal *journal, const gchar *input,
    const gchar *state, const gchar *output, GError **error)
{
  return add_line (journal, "done", input, state, output, error);
}
