/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxwatch.c: gst-tfx watch: what is dropped into a folder goes through a
 * chain into another one.
 *
 * The folder is listed again and again: that works on every file system, those of
 * other machines too.
 */
#include <string.h>

#include <glib/gstdio.h>

#include "gsttfxbatch.h"

/* Between two looks. */
#define LOOK_USEC (G_USEC_PER_SEC / 2)
/* A file that has been the same for so many looks is whole. */
#define N_LOOKS 2

typedef struct Seen
{
  goffset size;
  gint64 seconds; /* of its last change */
  glong nanoseconds;
  guint n_looks; /* it was the same at */
  guint last;    /* look that saw it */
} Seen;

typedef struct Watch
{
  const gchar *folder;
  GHashTable *seen; /* paths to Seen, of what is there */
  guint n_looks;
  GstTfxBatch *batch;
} Watch;

/* Whether it is the time to process it: once for each state that it has. */
static gboolean
look_at (Watch *watch, const gchar *path)
{
  Seen *seen = g_hash_table_lookup (watch->seen, path);
  GStatBuf status;

  if (g_stat (path, &status) < 0 || !S_ISREG (status.st_mode))
    return FALSE;
  if (!seen) {
    seen = g_new0 (Seen, 1);
    seen->size = -1;
    g_hash_table_insert (watch->seen, g_strdup (path), seen);
  }
  if (seen->size != status.st_size ||
      seen->seconds != (gint64)status.st_mtim.tv_sec ||
      seen->nanoseconds != status.st_mtim.tv_nsec)
    *seen = (Seen){ .size = status.st_size,
      .seconds = status.st_mtim.tv_sec,
      .nanoseconds = status.st_mtim.tv_nsec };
  else
    seen->n_looks++;
  seen->last = watch->n_looks;
  return seen->n_looks == N_LOOKS;
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
    if (*name != '.' && look_at (watch, path))
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
