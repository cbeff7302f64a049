/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpart.c: a file that has its name only when it is whole.
 */
#include "gsttfxpart.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib/gstdio.h>

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
  gchar *hidden = g_strdup_printf (".%.180s.%s.part", base, g_get_host_name ());
  gchar *path = g_build_filename (folder, hidden, NULL);

  g_free (folder);
  g_free (base);
  g_free (hidden);
  return path;
}

gboolean
gst_tfx_part_open (GstTfxPart *part, const gchar *output, GError **error)
{
  part->path = name_part (output);
  part->lock = g_open (part->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (part->lock < 0)
    set_error (error, output);
  else if (flock (part->lock, LOCK_EX | LOCK_NB) < 0)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
        "another gst-tfx is writing %s", output);
  else
    return TRUE;
  if (part->lock >= 0)
    close (part->lock);
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
gst_tfx_part_publish (const GstTfxPart *part, const gchar *output,
    gboolean overwrite, GError **error)
{
  if (!flush (part))
    return set_error (error, output);
  /* A link fails where something has come there meanwhile. */
  if (!overwrite && link (part->path, output) == 0)
    return TRUE;
  if (!overwrite && errno == EEXIST) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
        "%s is there already (--force overwrites)", output);
    return FALSE;
  }
  return g_rename (part->path, output) == 0 || set_error (error, output);
}

void
gst_tfx_part_close (GstTfxPart *part)
{
  g_unlink (part->path);
  close (part->lock);
  g_clear_pointer (&part->path, g_free);
}
