/* SPDX-License-Identifier: LGPL-2.1-or-later
 * userpresets.c: see userpresets.h. */
#include "userpresets.h"

#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>

gchar *
user_presets_name (const gchar *type)
{
  gchar *name = g_strconcat (type, ".prs", NULL);
  gchar *path = g_build_filename (g_get_user_data_dir (), "gstreamer-1.0",
      "presets", name, NULL);

  g_free (name);
  return path;
}

void
user_presets_remove (const gchar *type)
{
  g_autofree gchar *path = user_presets_name (type);

  g_unlink (path);
}

void
user_presets_write (const gchar *type, const gchar *version,
    const gchar *groups)
{
  g_autofree gchar *path = user_presets_name (type),
                   *folder = g_path_get_dirname (path);
  g_autofree gchar *text = g_strdup_printf ("[_presets_]\nversion=%s\n"
                                            "element-name=%s\n\n%s",
      version, type, groups);

  fail_unless_equals_int (g_mkdir_with_parents (folder, 0700), 0);
  fail_unless (g_file_set_contents (path, text, -1, NULL));
}
