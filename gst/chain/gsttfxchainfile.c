/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.c: chains and filter settings in files.
 */
#include "gsttfxchainfile.h"

#include <glib/gstdio.h>

#include "gsttfxbytes.h"
#include "gsttfxtextfile.h"

/* The limit of the language. */
#define MAX_SIZE (1 << 20)

static gchar *
read_file (const gchar *location, gboolean must_be_settings, GPtrArray *notes,
    gchar **fault)
{
  gchar *why = NULL, *quoting = NULL, *chain = NULL, *name;
  gchar *text = gst_tfx_text_file_read (location, MAX_SIZE, NULL, &why);
  const gchar *end;

  if (text && gst_tfx_chain_settings_are (text)) {
    chain = gst_tfx_chain_settings_convert (text, notes, &quoting);
    /* It may quote the text. */
    *fault = quoting ? gst_tfx_bytes_escape (quoting) : NULL;
  } else if (text && must_be_settings) {
    why = g_strdup ("there are no filter settings in it");
  } else if (text && !g_utf8_validate (text, -1, &end)) {
    /* The text is a string property. */
    why = g_strdup_printf ("byte %" G_GSIZE_FORMAT " is not UTF-8",
        (gsize)(end - text) + 1);
  } else {
    chain = g_steal_pointer (&text);
    *fault = NULL;
  }
  if (why) {
    name = gst_tfx_bytes_show (location);
    *fault = g_strdup_printf ("cannot read the chain from '%s': %s", name, why);
    g_free (name);
  }
  g_free (why);
  g_free (quoting);
  g_free (text);
  return chain;
}

gchar *
gst_tfx_chain_file_read (const gchar *location, GPtrArray *notes, gchar **fault)
{
  return read_file (location, FALSE, notes, fault);
}

gchar *
gst_tfx_chain_file_read_settings (const gchar *location, GPtrArray *notes,
    gchar **fault)
{
  return read_file (location, TRUE, notes, fault);
}

GstTfxChainVersion
gst_tfx_chain_file_look (const gchar *path)
{
  GstTfxChainVersion version = { 0 };
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

GstTfxChainSeen *
gst_tfx_chain_seen_new (const gchar *path)
{
  GstTfxChainSeen *seen = g_new (GstTfxChainSeen, 1);

  seen->path = g_strdup (path);
  seen->version = gst_tfx_chain_file_look (path);
  return seen;
}

void
gst_tfx_chain_seen_free (gpointer data)
{
  GstTfxChainSeen *seen = data;

  g_free (seen->path);
  g_free (seen);
}
