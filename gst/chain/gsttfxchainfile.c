/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.c: chains and filter settings in files.
 *
 * Editors save in place, or replace the file by another one of the same name.  So the
 * watch compares the file's version four times a second.
 */
#include "gsttfxchainfile.h"

#include <glib/gstdio.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxtextfile.h"

#define PERIOD_US (G_USEC_PER_SEC / 4)

/* The limit of the language. */
#define MAX_SIZE (1 << 20)

/* The error text of a file; frees the reason. */
static gchar *
describe (const gchar *location, gchar *why)
{
  gchar *name = gst_tfx_bytes_show (location);
  gchar *fault =
      g_strdup_printf ("cannot read the chain from '%s': %s", name, why);

  g_free (name);
  g_free (why);
  return fault;
}

static gchar *
read_text (const gchar *location, gchar **fault)
{
  gchar *why;
  gchar *text = gst_tfx_text_file_read (location, MAX_SIZE, NULL, &why);

  *fault = text ? NULL : describe (location, why);
  return text;
}

/* Converts filter settings; frees the text, which the fault may quote. */
static gchar *
convert (gchar *text, GPtrArray *notes, gchar **fault)
{
  gchar *quoting = NULL;
  gchar *converted = gst_tfx_chain_settings_convert (text, notes, &quoting);

  *fault = quoting ? gst_tfx_bytes_escape (quoting) : NULL;
  g_free (quoting);
  g_free (text);
  return converted;
}

/* Requires UTF-8, since the text is a string property.  Returns the text, or frees it. */
static gchar *
check_utf8 (gchar *text, const gchar *location, gchar **fault)
{
  const gchar *end;

  if (g_utf8_validate (text, -1, &end))
    return text;
  *fault = describe (location,
      g_strdup_printf ("byte %" G_GSIZE_FORMAT " is not UTF-8",
          (gsize)(end - text) + 1));
  g_free (text);
  return NULL;
}

gchar *
gst_tfx_chain_file_read (const gchar *location, GPtrArray *notes, gchar **fault)
{
  gchar *text = read_text (location, fault);

  if (!text)
    return NULL;
  return gst_tfx_chain_settings_are (text) ? convert (text, notes, fault)
                                           : check_utf8 (text, location, fault);
}

gchar *
gst_tfx_chain_file_read_settings (const gchar *location, GPtrArray *notes,
    gchar **fault)
{
  gchar *text = read_text (location, fault);

  if (!text || gst_tfx_chain_settings_are (text))
    return text ? convert (text, notes, fault) : NULL;
  g_free (text);
  *fault = describe (location, g_strdup ("there are no filter settings in it"));
  return NULL;
}

/* ---- versions of a file ----------------------------------------------------------- */

static GstTfxChainVersion
look (const gchar *path)
{
  GstTfxChainVersion version = { FALSE };
  GStatBuf info;

  if (g_stat (path, &info) != 0)
    return version;
  version.is_there = TRUE;
  version.device = info.st_dev;
  version.inode = info.st_ino;
  version.size = (guint64)info.st_size;
  version.modified_s = info.st_mtime;
  version.changed_s = info.st_ctime;
#ifdef __linux__
  version.modified_ns = info.st_mtim.tv_nsec;
  version.changed_ns = info.st_ctim.tv_nsec;
#endif
  return version;
}

static gboolean
is_same (const GstTfxChainVersion *a, const GstTfxChainVersion *b)
{
  return a->is_there == b->is_there && a->device == b->device &&
         a->inode == b->inode && a->size == b->size &&
         a->modified_s == b->modified_s && a->modified_ns == b->modified_ns &&
         a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

GstTfxChainSeen *
gst_tfx_chain_seen_new (const gchar *path)
{
  GstTfxChainSeen *seen = g_new (GstTfxChainSeen, 1);

  seen->path = g_strdup (path);
  seen->version = look (path);
  return seen;
}

gpointer
gst_tfx_chain_seen_copy (gconstpointer data, gpointer unused)
{
  const GstTfxChainSeen *seen = data;
  GstTfxChainSeen *copy = g_memdup2 (seen, sizeof *seen);

  copy->path = g_strdup (seen->path);
  return copy;
}

void
gst_tfx_chain_seen_free (gpointer data)
{
  GstTfxChainSeen *seen = data;

  g_free (seen->path);
  g_free (seen);
}

gboolean
gst_tfx_chain_seen_is_saved (const GstTfxChainSeen *seen)
{
  const GstTfxChainVersion now = look (seen->path);

  return now.is_there && !is_same (&now, &seen->version);
}

/* ---- watching --------------------------------------------------------------------- */

struct _GstTfxChainWatch
{
  GPtrArray *files; /* at the last call, or when they were read */
  GstTfxChainSaved saved;
  gpointer data;
  GThread *thread;
  GMutex lock;
  GCond cond;
  gboolean is_over, is_orphan; /* under the lock */
  GstTfxChainVersion *last;    /* of each file */
};

/* TRUE when the watch ends. */
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
  g_ptr_array_unref (watch->files);
  g_free (watch->last);
  g_free (watch);
}

/* Whether any file was saved and all are unchanged since the last look. */
static gboolean
look_at_all (GstTfxChainWatch *watch)
{
  gboolean is_saved = FALSE, is_at_rest = TRUE;

  for (guint i = 0; i < watch->files->len; i++) {
    const GstTfxChainSeen *seen = watch->files->pdata[i];
    const GstTfxChainVersion now = look (seen->path);

    is_at_rest = is_at_rest && is_same (&now, &watch->last[i]);
    is_saved = is_saved || (now.is_there && !is_same (&now, &seen->version));
    watch->last[i] = now;
  }
  return is_saved && is_at_rest;
}

static gpointer
watch_files (gpointer data)
{
  GstTfxChainWatch *watch = data;

  while (!wait_a_period (watch)) {
    if (!look_at_all (watch))
      continue;
    for (guint i = 0; i < watch->files->len; i++) {
      GstTfxChainSeen *seen = watch->files->pdata[i];

      seen->version = watch->last[i];
    }
    watch->saved (watch->data);
  }
  if (watch->is_orphan)
    free_watch (watch);
  return NULL;
}

GstTfxChainWatch *
gst_tfx_chain_watch_new (GPtrArray *files, GstTfxChainSaved saved,
    gpointer data, GError **error)
{
  GstTfxChainWatch *watch = g_new0 (GstTfxChainWatch, 1);

  watch->files = g_ptr_array_copy (files, gst_tfx_chain_seen_copy, NULL);
  watch->saved = saved;
  watch->data = data;
  watch->last = g_new0 (GstTfxChainVersion, files->len);
  g_mutex_init (&watch->lock);
  g_cond_init (&watch->cond);
  watch->thread =
      g_thread_try_new ("tfxchain-watch", watch_files, watch, error);
  if (!watch->thread)
    g_clear_pointer (&watch, free_watch);
  return watch;
}

gboolean
gst_tfx_chain_watch_is_of (const GstTfxChainWatch *watch,
    const GPtrArray *files)
{
  gboolean is_of = watch->files->len == files->len;

  for (guint i = 0; is_of && i < files->len; i++) {
    const GstTfxChainSeen *a = watch->files->pdata[i], *b = files->pdata[i];

    is_of = strcmp (a->path, b->path) == 0;
  }
  return is_of;
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
