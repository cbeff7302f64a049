/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainsettings.h: filter settings as REW exports them, and Equalizer APO
 * reads them, as a chain.
 */
#ifndef GST_TFX_CHAIN_SETTINGS_H
#define GST_TFX_CHAIN_SETTINGS_H

#include <glib.h>

G_BEGIN_DECLS

/* Whether a text is one of filter settings, and no chain. */
gboolean gst_tfx_chain_settings_are (const gchar *text);

/* The chain, to be freed; or NULL, and what is wrong with which line.  What the file
 * leaves open and how it was read is added to @notes (of gchar *, or NULL). */
gchar *gst_tfx_chain_settings_convert (const gchar *text, GPtrArray *notes,
    gchar **fault);

G_END_DECLS

#endif
