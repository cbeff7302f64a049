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

/* Calls saved() from a new thread after one of the files has changed and none
 * changes any more: an editor may write in several steps.  Returns NULL with an error
 * if no thread can be made. */
typedef struct _GstTfxChainWatch GstTfxChainWatch;
typedef void (*GstTfxChainSaved) (gpointer data);

GstTfxChainWatch *gst_tfx_chain_watch_new (gchar *const *paths,
    GstTfxChainSaved saved, gpointer data, GError **error);
/* Whether it watches these, in this order. */
gboolean
gst_tfx_chain_watch_is_of (const GstTfxChainWatch *watch, gchar *const *paths);
/* Waits for a call that is under way, unless it is that one which asks. */
void gst_tfx_chain_watch_free (GstTfxChainWatch *watch);

G_END_DECLS

#endif
