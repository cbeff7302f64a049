/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.h: a chain that stands in a file.
 */
#ifndef GST_TFX_CHAIN_FILE_H
#define GST_TFX_CHAIN_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* The text of the file; or NULL, and what is wrong with it.  How numbers of filter
 * settings were read is added to @notes (of gchar *, or NULL). */
gchar *gst_tfx_chain_file_read (const gchar *location, GPtrArray *notes,
    gchar **fault);

/* The same of a file that has filter settings: as a chain, which may be empty. */
gchar *gst_tfx_chain_file_read_settings (const gchar *location,
    GPtrArray *notes, gchar **fault);

/* Whether a text has filter settings of REW or Equalizer APO, not a chain. */
gboolean gst_tfx_chain_settings_are (const gchar *text);

/* The chain of filter settings, to be freed; NULL with the line and the reason in @fault.
 * How ambiguous numbers were read is added to @notes (of gchar *, or NULL). */
gchar *gst_tfx_chain_settings_convert (const gchar *text, GPtrArray *notes,
    gchar **fault);

/* What tells one version of a file from another. */
typedef struct
{
  gboolean is_there;
  guint64 device, inode, size;
  gint64 modified_s, modified_ns;
  gint64 changed_s, changed_ns; /* (a copy may keep the other time) */
} GstTfxChainVersion;

/* A file, and which version of it was there when it was looked at. */
typedef struct
{
  gchar *path;
  GstTfxChainVersion version;
} GstTfxChainSeen;

/* Looks at the file. */
GstTfxChainSeen *gst_tfx_chain_seen_new (const gchar *path);
/* For g_ptr_array_copy(). */
gpointer gst_tfx_chain_seen_copy (gconstpointer seen, gpointer data);
void gst_tfx_chain_seen_free (gpointer seen);
/* Whether another version is there now. */
gboolean gst_tfx_chain_seen_is_saved (const GstTfxChainSeen *seen);

/* Calls saved() from a new thread after one of the files (of GstTfxChainSeen *) has
 * changed and none changes any more: an editor may write in several steps.  Returns NULL
 * with an error if no thread can be made. */
typedef struct _GstTfxChainWatch GstTfxChainWatch;
typedef void (*GstTfxChainSaved) (gpointer data);

GstTfxChainWatch *gst_tfx_chain_watch_new (GPtrArray *files,
    GstTfxChainSaved saved, gpointer data, GError **error);
/* Whether it watches these, in this order. */
gboolean gst_tfx_chain_watch_is_of (const GstTfxChainWatch *watch,
    const GPtrArray *files);
/* Waits for a call that is under way, unless it is that one which asks. */
void gst_tfx_chain_watch_free (GstTfxChainWatch *watch);

G_END_DECLS

#endif
