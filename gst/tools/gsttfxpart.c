/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpart.c: a file that has its name only when it is whole.
 */
#include "gsttfxpart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

/* Of a name; longer ones have a digest instead. */
#define MAX_NAME 180

/* ---- open parts ------------------------------------------------------------------- */

#define MAX_PARTS 1024

static GstTfxPart *parts[MAX_PARTS]; /* atomic */

static void
replace_part (GstTfxPart *from, GstTfxPart *to)
{
  for (gsize i = 0; i < MAX_PARTS; i++) {
    if (g_atomic_pointer_compare_and_exchange (&parts[i], from, to))
      return;
  }
}

static void
write_error (const gchar *text)
{
  if (write (STDERR_FILENO, text, strlen (text)) < 0)
    return;
}

/* (System calls alone are safe in a signal handler.) */
void
gst_tfx_part_abandon_all (void)
{
  for (gsize i = 0; i < MAX_PARTS; i++) {
    GstTfxPart *part = g_atomic_pointer_get (&parts[i]);

    if (part && part->kept_as && rename (part->path, part->kept_as) == 0) {
      write_error ("warning: interrupted twice: ");
      write_error (part->kept_as);
      write_error (" holds what was recorded so far\n");
    } else if (part) {
      unlink (part->path);
    }
  }
}

/* ---- one part ---------------------------------------------------------------------- */

static gboolean
set_error (GError **error, const gchar *output)
{
  const gint number = errno;

  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (number),
      "cannot write %s: %s", output, g_strerror (number));
  return FALSE;
}

/* Hidden, and one for each host, so that what a killed process left is used
 * again. */
static gchar *
name_part (const gchar *output)
{
  gchar *folder = g_path_get_dirname (output);
  gchar *base = g_path_get_basename (output);
  gchar *digest =
      strlen (base) > MAX_NAME
          ? g_compute_checksum_for_string (G_CHECKSUM_SHA256, base, -1)
          : NULL;
  gchar *hidden = g_strdup_printf (".%s.%s.part", digest ? digest : base,
      g_get_host_name ());
  gchar *path = g_build_filename (folder, hidden, NULL);

  g_free (folder);
  g_free (base);
  g_free (digest);
  g_free (hidden);
  return path;
}

/* How many names has what is locked?  0: this one it has no more. */
static guint
count_names (gint file, const gchar *path)
{
  struct stat of_file, of_path;

  return fstat (file, &of_file) == 0 && stat (path, &of_path) == 0 &&
                 of_file.st_dev == of_path.st_dev &&
                 of_file.st_ino == of_path.st_ino
             ? (guint)of_file.st_nlink
             : 0;
}

/* Negative with errno. */
static gint
open_any (const gchar *path, gboolean *is_new)
{
  const gint flags = O_RDWR | O_CREAT | O_CLOEXEC;
  const gint file = g_open (path, flags | O_EXCL, 0666);

  *is_new = file >= 0;
  return file >= 0 || errno != EEXIST ? file : g_open (path, flags, 0666);
}

/* Negative with errno: EWOULDBLOCK if another process has the lock, else it cannot
 * be written, or not locked: not all file systems have locks. */
static gint
open_locked (const gchar *path)
{
  for (;;) {
    gboolean is_new;
    const gint file = open_any (path, &is_new);
    guint n_names;

    if (file < 0)
      return file;
    if (flock (file, LOCK_EX | LOCK_NB) < 0) {
      const gint number = errno;

      if (is_new && number != EWOULDBLOCK)
        g_unlink (path);
      close (file);
      errno = number;
      return -1;
    }
    n_names = count_names (file, path);
    if (n_names == 1)
      return file;
    /* An output of a process that was killed when it had just linked it. */
    if (n_names > 1)
      g_unlink (path);
    close (file);
  }
}

gboolean
gst_tfx_part_open (GstTfxPart *part, const gchar *output, GError **error)
{
  part->path = name_part (output);
  part->lock = open_locked (part->path);
  if (part->lock >= 0) {
    replace_part (NULL, part);
    return TRUE;
  }
  if (errno == EWOULDBLOCK)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
        "another gst-tfx is writing %s", output);
  else
    set_error (error, output);
  g_clear_pointer (&part->path, g_free);
  return FALSE;
}

/* On the disk, not only on its way there. */
static gboolean
flush (const GstTfxPart *part)
{
  const gint file = g_open (part->path, O_RDONLY | O_CLOEXEC, 0);
  const gboolean is_flushed = file >= 0 && fsync (file) == 0;

  if (file >= 0)
    close (file);
  return is_flushed;
}

gboolean
gst_tfx_part_publish (GstTfxPart *part, const gchar *output, gboolean overwrite,
    GError **error)
{
  if (!flush (part))
    return set_error (error, output);
  /* A link fails where something has come there meanwhile. */
  if (!overwrite && link (part->path, output) == 0)
    return TRUE;
  if (!overwrite && errno == EEXIST) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
        "%s exists (--force overwrites it)", output);
    return FALSE;
  }
  if (g_rename (part->path, output) < 0)
    return set_error (error, output);
  replace_part (part, NULL);
  /* Whatever has it from now on is another process's. */
  g_clear_pointer (&part->path, g_free);
  return TRUE;
}

void
gst_tfx_part_close (GstTfxPart *part)
{
  replace_part (part, NULL);
  if (part->path)
    g_unlink (part->path);
  close (part->lock);
  g_clear_pointer (&part->path, g_free);
}
