/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainfile.c: chains in files.
 */
#include "gsttfxchainfile.h"

#include <glib/gstdio.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxpresetfile.h"
#include "gsttfxtextfile.h"

/* The limit of the language. */
#define MAX_SIZE (1 << 20)

static void
take_included (gpointer files, const gchar *path)
{
  if (files)
    g_ptr_array_add (files, gst_tfx_chain_seen_new (path));
}

/* Whether the name of a file is one of presets. */
static gboolean
has_preset_name (const gchar *location)
{
  return g_regex_match_simple ("\\.(json|ya?ml)\\z", location,
      G_REGEX_RAW | G_REGEX_CASELESS, 0);
}

/* name: of a preset in a chain; NULL: the file may have a chain. */
static gchar *
read_file (const gchar *location, const gchar *name, GPtrArray *files,
    GPtrArray *notes, gchar **fault)
{
  gchar *why = NULL, *quoting = NULL, *chain = NULL, *shown;
  gchar *text = gst_tfx_text_file_read (location, MAX_SIZE, NULL, &why);
  gchar *folder = g_path_get_dirname (location);
  gchar *prefix = name ? g_path_get_dirname (name) : NULL;
  const GstTfxPresetSource source = { folder,
    prefix && strcmp (prefix, ".") != 0 ? prefix : NULL, notes, take_included,
    files };
  const gchar *end;

  if (text)
    chain = gst_tfx_preset_file_convert (text, &source, &quoting);
  if (chain || quoting) {
    /* It may quote the text. */
    *fault = quoting ? gst_tfx_bytes_escape (quoting) : NULL;
  } else if (text && name) {
    why = g_strdup ("there are no filter settings in it");
  } else if (text && has_preset_name (location)) {
    why =
        g_strdup ("it is no preset of EasyEffects (JSON) or CamillaDSP (YAML)");
  } else if (text && !g_utf8_validate (text, -1, &end)) {
    /* The text is a string property. */
    why = g_strdup_printf ("byte %" G_GSIZE_FORMAT " is not UTF-8",
        (gsize)(end - text) + 1);
  } else {
    chain = g_steal_pointer (&text);
    *fault = NULL;
  }
  if (why) {
    shown = gst_tfx_bytes_show (location);
    *fault =
        g_strdup_printf ("cannot read the chain from '%s': %s", shown, why);
    g_free (shown);
  }
  g_free (why);
  g_free (quoting);
  g_free (prefix);
  g_free (folder);
  g_free (text);
  return chain;
}

gchar *
gst_tfx_chain_file_read (const gchar *location, GPtrArray *files,
    GPtrArray *notes, gchar **fault)
{
  return read_file (location, NULL, files, notes, fault);
}

gchar *
gst_tfx_chain_file_read_preset (const gchar *location, const gchar *name,
    GPtrArray *files, GPtrArray *notes, gchar **fault)
{
  return read_file (location, name, files, notes, fault);
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
