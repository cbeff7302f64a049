/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainpreset.c: the presets of tfxchain.
 *
 * A preset has the chain with the current values of its stages.  An invalid chain is
 * neither saved nor loaded.
 */
#include <string.h>

#include "gsttfxchainprivate.h"
#include "gsttfxchainreader.h"
#include "gsttfxpreset.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

/* GstPreset (up to GStreamer 1.28 at least) escapes a string property twice and unescapes
 * it once, which breaks any chain.  Meta data is not affected, so the chain is stored
 * there too and read from there. */
#define PRESET_CHAIN "chain"

static GstPresetInterface defaults;

/* Whether a chain is valid; if not, sets the error. */
static gboolean
can_be_read (const gchar *text, TfxExprError *error)
{
  TfxExpr *expr = gst_tfx_chain_reader_parse (text, NULL, NULL, NULL, error);
  gboolean can = expr != NULL;

  tfx_expr_free (&expr);
  return can;
}

static gboolean
gst_tfx_chain_preset_save (GstPreset *preset, const gchar *name)
{
  gchar *text = gst_tfx_chain_print (GST_TFX_CHAIN (preset));
  TfxExprError error;
  gboolean ok = text && can_be_read (text, &error);

  if (text && !ok)
    gst_tfx_preset_warn (preset,
        "The preset \"%s\" was not saved: it could not be loaded again: %s",
        name, error.rendered);
  ok = ok && defaults.save_preset (preset, name) &&
       gst_preset_set_meta (preset, name, PRESET_CHAIN, text);
  g_free (text);
  return ok;
}

/* An empty chain that no user writes. */
#define NO_CHAIN "# no chain"

/* The chain of a preset, to be freed: NO_CHAIN if it has none; NULL if the preset does not
 * exist. */
static gchar *
read_preset (GstPreset *preset, const gchar *name)
{
  gchar *text = NULL;
  GstPreset *reader;

  if (gst_preset_get_meta (preset, name, PRESET_CHAIN, &text) && text)
    return text;
  /* When a user saves a preset for the first time, GstPreset copies all others into the
   * user's file, where later versions do not update them.  So a preset that the user has
   * not saved is read from the shipped file. */
  text = gst_tfx_preset_read_shipped (preset, name, "chain");
  if (text)
    return text;
  /* In other files the chain is the property: a temporary element loads it, valid or
   * not. */
  reader = gst_object_ref_sink (
      g_object_new (G_OBJECT_TYPE (preset), "chain", NO_CHAIN, NULL));
  if (defaults.load_preset (reader, name))
    g_object_get (reader, "chain", &text, NULL);
  gst_object_unref (reader);
  return text;
}

static gboolean
gst_tfx_chain_preset_load (GstPreset *preset, const gchar *name)
{
  gchar *text = read_preset (preset, name);
  TfxExprError error = { .rendered = "it has no chain" };
  gboolean ok =
      text && strcmp (text, NO_CHAIN) != 0 && can_be_read (text, &error);

  if (text && !ok)
    gst_tfx_preset_warn (preset,
        "Invalid preset \"%s\"; the previous chain stays in use: %s", name,
        error.rendered);
  ok = ok && gst_tfx_chain_set_text (GST_TFX_CHAIN (preset), text);
  if (ok)
    gst_tfx_chain_notify_text (GST_TFX_CHAIN (preset));
  g_free (text);
  return ok;
}

/* The chain includes the values of the stages. */
static gchar **
gst_tfx_chain_preset_get_property_names (GstPreset *preset)
{
  static const gchar *const names[] = { "chain", NULL };

  return g_strdupv ((gchar **)names);
}

void
gst_tfx_chain_preset_init (gpointer iface, gpointer data)
{
  GstPresetInterface *preset = iface;

  defaults = *preset;
  preset->get_property_names = gst_tfx_chain_preset_get_property_names;
  preset->save_preset = gst_tfx_chain_preset_save;
  preset->load_preset = gst_tfx_chain_preset_load;
}
