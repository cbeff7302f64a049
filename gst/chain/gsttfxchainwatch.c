/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainwatch.c: reads a chain again when one of its files was saved.
 *
 * Editors save in place, or replace the file by another one of the same name.
 * So a thread compares the versions of the files four times a second.  It reads
 * the chain when all of them are unchanged for a period, since an editor may
 * write in several steps.
 */
#include <string.h>

#include "gsttfxchain.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

#define PERIOD_US (G_USEC_PER_SEC / 4)

struct _GstTfxChainWatch
{
  GstTfxChain *chain; /* until the watch is over */
  GThread *thread;
  GMutex lock;
  GCond cond;
  gboolean is_over, is_orphan; /* under the lock */
};

static gboolean
is_same (const GstTfxChainVersion *a, const GstTfxChainVersion *b)
{
  return memcmp (a, b, sizeof *a) == 0;
}

static gpointer
copy_seen (gconstpointer data, gpointer unused)
{
  const GstTfxChainSeen *seen = data;
  GstTfxChainSeen *copy = g_memdup2 (seen, sizeof *seen);

  copy->path = g_strdup (seen->path);
  return copy;
}

/* Whether the chain's file or a file in its text was saved since it was read.
 * Stores the files with their versions in *last, and whether they are the same
 * as in the *last before, or NULL. */
static gboolean
look_at_all (GstTfxChain *chain, GPtrArray **last, gboolean *is_at_rest)
{
  gboolean is_saved = FALSE;
  GPtrArray *files;

  GST_OBJECT_LOCK (chain);
  files = g_ptr_array_copy (chain->files, copy_seen, NULL);
  if (chain->location && (chain->folder || files->len == 0))
    g_ptr_array_insert (files, 0, copy_seen (chain->location, NULL));
  GST_OBJECT_UNLOCK (chain);
  *is_at_rest = *last && (*last)->len == files->len;
  for (guint i = 0; i < files->len; i++) {
    GstTfxChainSeen *seen = files->pdata[i];
    const GstTfxChainSeen *before = *is_at_rest ? (*last)->pdata[i] : NULL;
    const GstTfxChainVersion now = gst_tfx_chain_file_look (seen->path);

    *is_at_rest = before && strcmp (before->path, seen->path) == 0 &&
                  is_same (&before->version, &now);
    is_saved = is_saved || (now.is_there && !is_same (&seen->version, &now));
    seen->version = now;
  }
  g_clear_pointer (last, g_ptr_array_unref);
  *last = files;
  return is_saved;
}

static void
read_again (GstTfxChain *chain)
{
  gboolean is_in_file;
  gchar *text;

  GST_INFO_OBJECT (chain, "a file of the chain was saved");
  GST_OBJECT_LOCK (chain);
  is_in_file = chain->folder != NULL;
  GST_OBJECT_UNLOCK (chain);
  if (is_in_file) {
    gst_tfx_chain_read_location (chain);
    return;
  }
  text = gst_tfx_chain_get_text (chain, FALSE);
  if (text)
    gst_tfx_chain_set_text (chain, text, NULL, NULL, NULL);
  g_free (text);
}

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
  g_free (watch);
}

static gpointer
watch_files (gpointer data)
{
  GstTfxChainWatch *watch = data;
  GPtrArray *last = NULL;
  gboolean is_at_rest, is_done = FALSE;

  while (!wait_a_period (watch)) {
    const gboolean is_saved = look_at_all (watch->chain, &last, &is_at_rest);

    /* A file that is refused stays a saved one, but is read only once. */
    if (!is_at_rest) {
      is_done = FALSE;
    } else if (is_saved && !is_done) {
      GstTfxChain *chain = gst_object_ref (watch->chain);

      is_done = TRUE;
      read_again (chain);
      gst_object_unref (chain);
    }
  }
  g_clear_pointer (&last, g_ptr_array_unref);
  if (watch->is_orphan)
    free_watch (watch);
  return NULL;
}

/* Waits for the thread, unless called from it. */
static void
stop_watch (GstTfxChainWatch *watch)
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

void
gst_tfx_chain_watch_set (GstTfxChain *self, gboolean *flag, gboolean value)
{
  GstTfxChainWatch *old = NULL;
  GError *error = NULL;

  g_mutex_lock (&self->watch_lock);
  *flag = value;
  if (!self->is_watching || !self->is_ready) {
    old = g_steal_pointer (&self->watch);
  } else if (!self->watch) {
    self->watch = g_new0 (GstTfxChainWatch, 1);
    self->watch->chain = self;
    g_mutex_init (&self->watch->lock);
    g_cond_init (&self->watch->cond);
    self->watch->thread =
        g_thread_try_new ("tfxchain-watch", watch_files, self->watch, &error);
    if (!self->watch->thread)
      g_clear_pointer (&self->watch, free_watch);
    GST_DEBUG_OBJECT (self, "the files are %swatched",
        self->watch ? "" : "not ");
  }
  g_mutex_unlock (&self->watch_lock);
  if (error)
    GST_ELEMENT_WARNING (self, RESOURCE, FAILED,
        ("The files of the chain are not watched: %s.", error->message),
        (NULL));
  g_clear_error (&error);
  /* Outside the lock: a handler in the watch's thread may set the property. */
  if (old)
    stop_watch (old);
}

void
gst_tfx_chain_watch_catch_up (GstTfxChain *self)
{
  GPtrArray *files = NULL;
  gboolean is_watching, is_at_rest;

  g_mutex_lock (&self->watch_lock);
  is_watching = self->is_watching;
  g_mutex_unlock (&self->watch_lock);
  if (is_watching && look_at_all (self, &files, &is_at_rest))
    read_again (self);
  g_clear_pointer (&files, g_ptr_array_unref);
}
