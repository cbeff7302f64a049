/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.h: a chain that stands in a file.
 */
#ifndef GST_TFX_CHAIN_FILE_H
#define GST_TFX_CHAIN_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* The text of the file; or NULL, and what is wrong with it. */
gchar *gst_tfx_chain_file_read (const gchar *location, gchar **fault);

/* The same of a file that has filter settings: as a chain, which may be empty. */
gchar *gst_tfx_chain_file_read_settings (const gchar *location, gchar **fault);

/* Calls saved() from a thread of its own whenever one of the files is another one
 * than when it was watched first, and none has changed for a moment: who saves it
 * may not be done. */
typedef struct _GstTfxChainWatch GstTfxChainWatch;
typedef void (*GstTfxChainSaved) (gpointer data);

GstTfxChainWatch *gst_tfx_chain_watch_new (gchar *const *paths,
    GstTfxChainSaved saved, gpointer data);
/* Whether it watches these, in this order. */
gboolean
gst_tfx_chain_watch_is_of (const GstTfxChainWatch *watch, gchar *const *paths);
/* Waits for a call that is under way, unless it is that one which asks. */
void gst_tfx_chain_watch_free (GstTfxChainWatch *watch);

G_END_DECLS

#endif
