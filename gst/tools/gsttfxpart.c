/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpart.c: a file that has its name only when it is whole.
 *
 * Others may write to the folder.  So the file is new (O_EXCL), has a random name
 * below a descriptor of the folder, and is written through its own descriptor: a link
 * under its name is never followed.  A second file, whose name follows from the
 * output's, holds the lock; it stays empty.
 */
#include "gsttfxpart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

/* Of a name; longer ones have a digest instead. */
#define MAX_NAME 180

#define RANDOM_DIGITS 8

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

    if (part && part->kept_as &&
        renameat (part->folder, part->name, AT_FDCWD, part->kept_as) == 0) {
      write_error ("warning: interrupted twice: ");
      write_error (part->kept_as);
      write_error (" holds what was recorded so far\n");
    } else if (part) {
      unlinkat (part->folder, part->name, 0);
    }
    if (part)
      unlinkat (part->folder, part->lock_name, 0);
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

/* Hidden, and one for each host, since a lock may hold on one host alone. */
static gchar *
name_lock (const gchar *output)
{
  gchar *base = g_path_get_basename (output);
  gchar *digest =
      strlen (base) > MAX_NAME
          ? g_compute_checksum_for_string (G_CHECKSUM_SHA256, base, -1)
          : NULL;
  gchar *name = g_strdup_printf (".%s.%s.part", digest ? digest : base,
      g_get_host_name ());

  g_free (base);
  g_free (digest);
  return name;
}

/* Whether the open file is a regular one of this user's. */
static gboolean
is_own (gint file)
{
  struct stat status;

  return fstat (file, &status) == 0 && S_ISREG (status.st_mode) &&
         status.st_uid == geteuid ();
}

/* How many names does the locked file have?  0: it has this one no more. */
static guint
count_names (gint file, gint folder, const gchar *name)
{
  struct stat of_file, of_name;

  return fstat (file, &of_file) == 0 &&
                 fstatat (folder, name, &of_name, AT_SYMLINK_NOFOLLOW) == 0 &&
                 of_file.st_dev == of_name.st_dev &&
                 of_file.st_ino == of_name.st_ino
             ? (guint)of_file.st_nlink
             : 0;
}

/* Negative with errno.  A link is ELOOP, a file of another user EPERM. */
static gint
open_lock (gint folder, const gchar *name, gboolean *is_new)
{
  const gint flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  gint file = openat (folder, name, flags | O_EXCL, 0666);

  *is_new = file >= 0;
  if (file < 0 && errno == EEXIST)
    file = openat (folder, name, flags, 0666);
  if (file >= 0 && !is_own (file)) {
    close (file);
    errno = EPERM;
    return -1;
  }
  return file;
}

/* Negative with errno: EWOULDBLOCK if another process has the lock, else it cannot
 * be written, or not locked: not all file systems have locks. */
static gint
take_lock (gint folder, const gchar *name)
{
  for (;;) {
    gboolean is_new;
    const gint file = open_lock (folder, name, &is_new);
    guint n_names;

    if (file < 0)
      return file;
    if (flock (file, LOCK_EX | LOCK_NB) < 0) {
      const gint number = errno;

      if (is_new && number != EWOULDBLOCK)
        unlinkat (folder, name, 0);
      close (file);
      errno = number;
      return -1;
    }
    n_names = count_names (file, folder, name);
    if (n_names == 1)
      return file;
    if (n_names > 1)
      unlinkat (folder, name, 0);
    close (file);
  }
}

/* Of the lock's name ".output.host.part" the part's is ".output.host.RANDOM.part". */
static gboolean
is_part_of (const gchar *name, const gchar *lock)
{
  const gsize stem = strlen (lock) - strlen ("part");

  return strlen (name) == strlen (lock) + RANDOM_DIGITS + 1 &&
         strncmp (name, lock, stem) == 0 && g_str_has_suffix (name, ".part");
}

/* Parts that a killed process has left; with the lock nobody else writes one. */
static void
delete_leftovers (gint folder, const gchar *lock)
{
  const gint copy = openat (folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = copy >= 0 ? fdopendir (copy) : NULL;
  struct dirent *entry;

  while (entries && (entry = readdir (entries))) {
    if (is_part_of (entry->d_name, lock))
      unlinkat (folder, entry->d_name, 0);
  }
  if (entries)
    closedir (entries);
  else if (copy >= 0)
    close (copy);
}

/* FALSE with errno. */
static gboolean
create (GstTfxPart *part)
{
  const gsize stem = strlen (part->lock_name) - strlen ("part");

  do {
    g_free (part->name);
    part->name = g_strdup_printf ("%.*s%0*x.part", (gint)stem, part->lock_name,
        RANDOM_DIGITS, g_random_int ());
    part->file = openat (part->folder, part->name,
        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (part->file < 0 && errno == EEXIST);
  return part->file >= 0;
}

static gboolean
begin (GstTfxPart *part, const gchar *output)
{
  gchar *folder = g_path_get_dirname (output);

  part->folder = g_open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  g_free (folder);
  if (part->folder < 0)
    return FALSE;
  part->lock = take_lock (part->folder, part->lock_name);
  if (part->lock < 0)
    return FALSE;
  delete_leftovers (part->folder, part->lock_name);
  if (!create (part))
    return FALSE;
  part->path = g_strdup_printf ("/proc/self/fd/%d", part->file);
  return TRUE;
}

/* A link of another user's is not followed: it is replaced. */
static gchar *
resolve (const gchar *output)
{
  struct stat status;
  gchar *target = lstat (output, &status) == 0 && S_ISLNK (status.st_mode) &&
                          status.st_uid == geteuid ()
                      ? realpath (output, NULL)
                      : NULL;
  gchar *path = g_strdup (target ? target : output);

  free (target);
  return path;
}

gboolean
gst_tfx_part_open (GstTfxPart *part, const gchar *output, GError **error)
{
  part->folder = part->lock = part->file = -1;
  part->path = part->name = NULL;
  part->output = resolve (output);
  part->lock_name = name_lock (part->output);
  if (begin (part, part->output)) {
    replace_part (NULL, part);
    return TRUE;
  }
  if (errno == EWOULDBLOCK)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
        "another gst-tfx is writing %s", output);
  else if (errno == ELOOP || errno == EPERM)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_PERM,
        "cannot write %s: %s in its folder is a link, or belongs to another "
        "user",
        output, part->lock_name);
  else
    set_error (error, output);
  gst_tfx_part_close (part);
  return FALSE;
}

gboolean
gst_tfx_part_publish (GstTfxPart *part, gboolean overwrite, GError **error)
{
  const gchar *output = part->output;
  struct stat status;

  /* On the disk, not only on its way there. */
  if (fsync (part->file) < 0)
    return set_error (error, output);
  /* A link fails if a file has appeared under that name. */
  if (!overwrite && linkat (part->folder, part->name, AT_FDCWD, output, 0) == 0)
    return TRUE;
  if (!overwrite && errno == EEXIST) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
        "%s exists (--force overwrites it)", output);
    return FALSE;
  }
  if (lstat (output, &status) == 0 && S_ISREG (status.st_mode) &&
      fchmod (part->file, status.st_mode & 07777) < 0)
    return set_error (error, output);
  if (renameat (part->folder, part->name, AT_FDCWD, output) < 0)
    return set_error (error, output);
  replace_part (part, NULL);
  g_clear_pointer (&part->name, g_free);
  return TRUE;
}

void
gst_tfx_part_close (GstTfxPart *part)
{
  replace_part (part, NULL);
  if (part->name && part->file >= 0)
    unlinkat (part->folder, part->name, 0);
  if (part->lock >= 0)
    unlinkat (part->folder, part->lock_name, 0);
  for (guint i = 0; i < 3; i++) {
    const gint file = i == 0 ? part->file : i == 1 ? part->lock : part->folder;

    if (file >= 0)
      close (file);
  }
  g_clear_pointer (&part->path, g_free);
  g_clear_pointer (&part->name, g_free);
  g_clear_pointer (&part->lock_name, g_free);
  g_clear_pointer (&part->output, g_free);
}
