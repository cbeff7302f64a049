/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.h: chains and filter settings in files.
 */
#ifndef GST_TFX_CHAIN_FILE_H
#define GST_TFX_CHAIN_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* Reads the chain of a file, from its text or filter settings, to be freed; NULL with
 * the error.  How ambiguous numbers of filter settings were read is added to @notes (of
 * gchar *, or NULL). */
gchar *gst_tfx_chain_file_read (const gchar *location, GPtrArray *notes,
    gchar **fault);

/* The same for a file that must have filter settings; the chain may be empty. */
gchar *gst_tfx_chain_file_read_settings (const gchar *location,
    GPtrArray *notes, gchar **fault);

/* Whether a text has filter settings of REW or Equalizer APO, not a chain. */
gboolean gst_tfx_chain_settings_are (const gchar *text);

/* The chain of filter settings, to be freed; NULL with the line and the reason in @fault.
 * How ambiguous numbers were read is added to @notes (of gchar *, or NULL). */
gchar *gst_tfx_chain_settings_convert (const gchar *text, GPtrArray *notes,
    gchar **fault);

/* Identifies a version of a file. */
typedef struct
{
  gboolean is_there;
  guint64 device, inode, size;
  gint64 modified_s, modified_ns;
  gint64 changed_s, changed_ns; /* (cp -p keeps the modification time) */
} GstTfxChainVersion;

/* A file and its version at some time. */
typedef struct
{
  gchar *path;
  GstTfxChainVersion version;
} GstTfxChainSeen;

/* Stores the current version of the file. */
GstTfxChainSeen *gst_tfx_chain_seen_new (const gchar *path);
/* For g_ptr_array_copy(). */
gpointer gst_tfx_chain_seen_copy (gconstpointer seen, gpointer data);
void gst_tfx_chain_seen_free (gpointer seen);
/* Whether the file exists now in another version. */
gboolean gst_tfx_chain_seen_is_saved (const GstTfxChainSeen *seen);

/* Calls saved() from a new thread after one of the files (of GstTfxChainSeen *) has
 * changed and all are unchanged for a period, since an editor may write in several steps.
 * Returns NULL with an error if the thread cannot be started. */
typedef struct _GstTfxChainWatch GstTfxChainWatch;
typedef void (*GstTfxChainSaved) (gpointer data);

GstTfxChainWatch *gst_tfx_chain_watch_new (GPtrArray *files,
    GstTfxChainSaved saved, gpointer data, GError **error);
/* Whether it watches these files, in this order. */
gboolean gst_tfx_chain_watch_is_of (const GstTfxChainWatch *watch,
    const GPtrArray *files);
/* Waits for a running call of saved(), unless called from there. */
void gst_tfx_chain_watch_free (GstTfxChainWatch *watch);

G_END_DECLS

#endif
