/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.h: chains and filter settings in files.
 */
#ifndef GST_TFX_CHAIN_FILE_H
#define GST_TFX_CHAIN_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* Reads the chain of a file, from its text or a preset of another program, to be
 * freed; NULL with the error.  Adds files that a preset includes to @files (of
 * GstTfxChainSeen *, or NULL), and how it was read to @notes (of gchar *, or
 * NULL). */
gchar *gst_tfx_chain_file_read (const gchar *location, GPtrArray *files,
    GPtrArray *notes, gchar **fault);

/* The same for a preset that a chain names; the chain may be empty, and file names
 * in it are relative to the same folder as the name. */
gchar *gst_tfx_chain_file_read_preset (const gchar *location, const gchar *name,
    GPtrArray *files, GPtrArray *notes, gchar **fault);

/* Identifies a version of a file; compare the bytes. */
typedef struct
{
  guint64 is_there, device, inode, size;
  gint64 modified_s, modified_ns;
  gint64 changed_s, changed_ns; /* (cp -p keeps the modification time) */
} GstTfxChainVersion;

/* The current version of a file. */
GstTfxChainVersion gst_tfx_chain_file_look (const gchar *path);

/* A file and its version at some time. */
typedef struct
{
  gchar *path;
  GstTfxChainVersion version;
} GstTfxChainSeen;

/* With the current version. */
GstTfxChainSeen *gst_tfx_chain_seen_new (const gchar *path);
void gst_tfx_chain_seen_free (gpointer seen);

G_END_DECLS

#endif
