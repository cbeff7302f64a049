/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwatch.c: gst-tfx watch: filters the files that are dropped into a folder
 * into another one.
 *
 * The folder is listed again and again: that works on every file system, those of
 * other machines too.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "gsttfxbatch.h"

/* Between two looks. */
#define LOOK_USEC (G_USEC_PER_SEC / 2)
/* A file that is the same in this number of looks is complete. */
#define N_LOOKS 2

typedef struct Seen
{
  GStatBuf status;
  guint n_looks;       /* it was the same at */
  guint last;          /* look that saw it */
  gboolean is_changed; /* since it was processed */
} Seen;

typedef struct Watch
{
  const gchar *folder;
  GHashTable *seen; /* paths of existing files to Seen */
  guint n_looks;
  GstTfxBatch *batch;
} Watch;

/* A copy may keep the size and the time of the file that it replaces. */
static gboolean
is_same (const GStatBuf *a, const GStatBuf *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
         a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
         a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
         a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Returns it when it is the time to process it: once for each state that it has. */
static const Seen *
look_at (Watch *watch, const gchar *path)
{
  Seen *seen = g_hash_table_lookup (watch->seen, path);
  GStatBuf status;

  if (g_stat (path, &status) < 0 || !S_ISREG (status.st_mode))
    return NULL;
  if (!seen) {
    seen = g_new0 (Seen, 1);
    seen->status = status;
    g_hash_table_insert (watch->seen, g_strdup (path), seen);
  } else if (is_same (&seen->status, &status)) {
    seen->n_looks++;
  } else {
    *seen = (Seen){ .status = status,
      .is_changed = seen->is_changed || seen->n_looks >= N_LOOKS };
  }
  seen->last = watch->n_looks;
  return seen->n_looks == N_LOOKS ? seen : NULL;
}

static gboolean
is_gone (gpointer path, gpointer data, gpointer user_data)
{
  const Seen *seen = data;
  const Watch *watch = user_data;

  return seen->last != watch->n_looks;
}

static gboolean
look (Watch *watch)
{
  GError *error = NULL;
  GDir *folder = g_dir_open (watch->folder, 0, &error);
  const gchar *name;

  if (!folder) {
    gst_tfx_tool_error ("%s", error->message);
    g_clear_error (&error);
    return FALSE;
  }
  watch->n_looks++;
  while ((name = g_dir_read_name (folder))) {
    gchar *path = g_build_filename (watch->folder, name, NULL);
    /* Hidden files are unfinished ones of other programs. */
    const Seen *seen = *name == '.' ? NULL : look_at (watch, path);

    if (seen && seen->is_changed)
      gst_tfx_batch_add_changed (watch->batch, path);
    else if (seen)
      gst_tfx_batch_add_to_folder (watch->batch, path, NULL);
    g_free (path);
  }
  g_dir_close (folder);
  g_hash_table_foreach_remove (watch->seen, is_gone, watch);
  return TRUE;
}

static GstTfxToolStatus
watch_folder (GstTfxOptions *options, const gchar *folder)
{
  Watch watch = { .folder = folder };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  if (!gst_tfx_options_read (options))
    return status;
  watch.seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  watch.batch = gst_tfx_batch_new (options);
  if (gst_tfx_batch_open_folder (watch.batch)) {
    if (gst_tfx_tool_is_same_file (folder, options->out)) {
      gst_tfx_tool_error (
          "%s is watched, so it cannot be the folder of the outputs", folder);
    } else {
      while (!gst_tfx_tool_is_interrupted () && look (&watch)) {
        gst_tfx_batch_run (watch.batch);
        g_usleep (LOOK_USEC);
      }
      gst_tfx_batch_summarise (watch.batch);
      status = gst_tfx_tool_is_interrupted () ? GST_TFX_TOOL_OK
                                              : GST_TFX_TOOL_FAILED;
    }
  }
  gst_tfx_batch_free (watch.batch);
  g_hash_table_unref (watch.seen);
  return status;
}

GstTfxToolStatus
gst_tfx_watch_run (gint argc, gchar **argv)
{
  GstTfxOptions options = { .n_jobs = (gint)g_get_num_processors () };
  GOptionEntry entries[GST_TFX_OPTIONS_N_ENTRIES + 1] = { { NULL } };
  GstTfxToolStatus status = GST_TFX_TOOL_USAGE;

  gst_tfx_options_list (&options, entries);
  if (gst_tfx_tool_parse ("--out DIR --chain CHAIN FOLDER",
          "Filters the files in a folder, and those that arrive there later, "
          "until it is interrupted.",
          "A file is processed once it has not changed for a second, and again "
          "if it changes later. Names that begin with a dot are ignored. A "
          "journal in DIR lists the finished files, which the next watch "
          "skips.\n\nExit status: 0 interrupted; 1 the folder cannot be read; "
          "2 wrong command line or chain.",
          entries, &argc, &argv)) {
    if (argc != 2 || !options.out)
      gst_tfx_tool_error ("watch takes --out DIR --chain CHAIN FOLDER");
    else
      status = watch_folder (&options, argv[1]);
  }
  gst_tfx_options_clear (&options);
  return status;
}
