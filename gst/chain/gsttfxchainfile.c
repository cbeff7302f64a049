/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.c: a chain that stands in a file.
 *
 * Editors save in many ways: in place, or another file under the same name.  So
 * it is looked at what stands there, four times a second.
 */
#include "gsttfxchainfile.h"

#include <glib/gstdio.h>

#include "gsttfxchainsettings.h"

#define PERIOD_US (G_USEC_PER_SEC / 4)

/* As the language has it. */
#define MAX_SIZE (1 << 20)

gchar *
gst_tfx_chain_file_read (const gchar *location, gchar **fault)
{
  GError *error = NULL;
  gchar *text = NULL, *converted;
  GStatBuf info;

  *fault = NULL;

  if (g_stat (location, &info) == 0 && info.st_size > MAX_SIZE) {
    *fault = g_strdup_printf ("the file '%s' has %" G_GINT64_FORMAT
                              " bytes, at most 1 MiB can be a chain",
        location, (gint64)info.st_size);
    return NULL;
  }
  if (!g_file_get_contents (location, &text, NULL, &error)) {
    *fault = g_strdup_printf ("the chain cannot be read from a file: %s",
        error->message);
    g_error_free (error);
    return NULL;
  }
  if (!gst_tfx_chain_settings_are (text))
    return text;
  converted = gst_tfx_chain_settings_convert (text, fault);
  g_free (text);
  return converted;
}

/* ---- watching --------------------------------------------------------------------- */

/* What tells one version of the file from another. */
typedef struct
{
  gboolean is_there;
  guint64 device, inode, size;
  gint64 modified_s, modified_ns;
} Version;

struct _GstTfxChainWatch
{
  gchar *location;
  GstTfxChainSaved saved;
  gpointer data;
  GThread *thread;
  GMutex lock;
  GCond cond;
  gboolean is_over, is_orphan; /* under the lock */
  Version known;
};

static Version
look (const gchar *location)
{
  Version version = { FALSE };
  GStatBuf info;

  if (g_stat (location, &info) != 0)
    return version;
  version.is_there = TRUE;
  version.device = info.st_dev;
  version.inode = info.st_ino;
  version.size = (guint64)info.st_size;
  version.modified_s = info.st_mtime;
#ifdef __linux__
  version.modified_ns = info.st_mtim.tv_nsec;
#endif
  return version;
}

static gboolean
is_same (const Version *a, const Version *b)
{
  return a->is_there == b->is_there && a->device == b->device &&
         a->inode == b->inode && a->size == b->size &&
         a->modified_s == b->modified_s && a->modified_ns == b->modified_ns;
}

/* TRUE when it is over. */
static gboolean
wait_a_period (GstTfxChainWatch *watch)
{
  const gint64 end = g_get_monotonic_time () + PERIOD_US;
  gboolean is_over;

  g_mutex_lock (&watch->lock);
  while (!watch->is_over && g_cond_wait_until (&watch->cond, &watch->lock, end))
    ;
  is_over = watch->is_over;
  g_mutex_unlock (&watch->lock);
  return is_over;
}

static void
free_watch (GstTfxChainWatch *watch)
{
  g_cond_clear (&watch->cond);
  g_mutex_clear (&watch->lock);
  g_free (watch->location);
  g_free (watch);
}

static gpointer
watch_file (gpointer data)
{
  GstTfxChainWatch *watch = data;
  Version last = watch->known;

  while (!wait_a_period (watch)) {
    const Version now = look (watch->location);

    if (is_same (&now, &last) && !is_same (&now, &watch->known) &&
        now.is_there) {
      watch->known = now;
      watch->saved (watch->data);
    }
    last = now;
  }
  if (watch->is_orphan)
    free_watch (watch);
  return NULL;
}

GstTfxChainWatch *
gst_tfx_chain_watch_new (const gchar *location, GstTfxChainSaved saved,
    gpointer data)
{
  GstTfxChainWatch *watch = g_new0 (GstTfxChainWatch, 1);

  watch->location = g_strdup (location);
  watch->saved = saved;
  watch->data = data;
  watch->known = look (location);
  g_mutex_init (&watch->lock);
  g_cond_init (&watch->cond);
  watch->thread = g_thread_new ("tfxchain-watch", watch_file, watch);
  return watch;
}

void
gst_tfx_chain_watch_free (GstTfxChainWatch *watch)
{
  const gboolean is_own = watch->thread == g_thread_self ();
  GThread *thread = watch->thread;

  g_mutex_lock (&watch->lock);
  watch->is_over = TRUE;
  watch->is_orphan = is_own;
  g_cond_signal (&watch->cond);
  g_mutex_unlock (&watch->lock);
  if (is_own) {
    g_thread_unref (thread);
    return;
  }
  g_thread_join (thread);
  free_watch (watch);
}
