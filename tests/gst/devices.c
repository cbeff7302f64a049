/* SPDX-License-Identifier: LGPL-2.1-or-later
 * devices.c: see devices.h.
 */
#include "devices.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct
{
  gint n;
  gchar name[128]; /* of the first one */
} Devices;

/* ---- asking the driver ----------------------------------------------------------- */

static void
read_driver (Devices *found)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  gint (*init) (guint flags);
  gint (*count) (gint * n);
  gint (*get) (gint * device, gint number);
  gint (*get_name) (gchar * name, gint size, gint device);
  gint device;

  if (!library)
    return;
  *(void **)&init = dlsym (library, "cuInit");
  *(void **)&count = dlsym (library, "cuDeviceGetCount");
  *(void **)&get = dlsym (library, "cuDeviceGet");
  *(void **)&get_name = dlsym (library, "cuDeviceGetName");
  if (!init || !count || !get || !get_name)
    return;
  if (init (0) == 0 && count (&found->n) == 0 && get (&device, 0) == 0)
    get_name (found->name, sizeof found->name, device);
}

/* In a process of its own: a driver that has been asked is of no use to processes
 * that are forked afterwards, and each test is one. */
static const Devices *
ask (void)
{
  static Devices found;
  static gboolean was_asked;
  gint ends[2];
  pid_t child;

  if (was_asked || pipe (ends) != 0)
    return &found;
  was_asked = TRUE;
  child = fork ();
  if (child == 0) {
    read_driver (&found);
    _exit (write (ends[1], &found, sizeof found) != sizeof found);
  }
  close (ends[1]);
  if (read (ends[0], &found, sizeof found) != sizeof found)
    found.n = 0;
  close (ends[0]);
  if (child > 0)
    waitpid (child, NULL, 0);
  return &found;
}

/* ---- what it says ------------------------------------------------------------------ */

gboolean
devices_are_standin (void)
{
  return g_str_has_prefix (ask ()->name, "stand-in");
}

guint
devices_count (void)
{
  return ask ()->n;
}

gboolean
devices_are_like (const gchar *card)
{
  /* "NVIDIA A100-SXM4-80GB" */
  gchar **words = g_strsplit_set (ask ()->name, " -", 0);
  gboolean is_like = FALSE, is_part = FALSE;

  for (guint i = 0; words[i]; i++) {
    const gchar *word =
        g_ascii_strcasecmp (words[i], "H200") == 0 ? "h100" : words[i];

    is_like |= *word && g_ascii_strcasecmp (word, card) == 0;
    is_part |= g_ascii_strcasecmp (word, "MIG") == 0;
  }
  g_strfreev (words);
  return is_like && !is_part && !devices_are_standin ();
}

/* ---- the stand-in ------------------------------------------------------------------ */

gchar *
devices_report (void)
{
  gchar *path =
      g_strdup_printf ("%s/tfx-report-%d", g_get_tmp_dir (), (gint)getpid ());
  gchar *text = NULL;

  g_setenv ("TFX_STANDIN_REPORT", path, TRUE);
  if (!g_file_get_contents (path, &text, NULL, NULL))
    text = g_strdup ("");
  g_unlink (path);
  g_free (path);
  return text;
}
