/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpreset.h: presets of the elements that are one filter.
 */
#ifndef GST_TFX_PRESET_H
#define GST_TFX_PRESET_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* GInterfaceInitFunc of GstPreset.  A preset stores the properties of the
 * filter, not those that all elements have (device, fuse ...); a property that
 * it does not name gets its default.  An invalid value posts a warning, and the
 * filter is not changed. */
void gst_tfx_preset_init (gpointer iface, gpointer data);

/* The text of a key in the installed preset, to be freed, or NULL. */
gchar *gst_tfx_preset_read_shipped (GstPreset *preset, const gchar *name,
    const gchar *key);

/* Posts a warning, which may quote the file: bytes that are not UTF-8 become
 * \\xNN. */
void gst_tfx_preset_warn (GstPreset *preset, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

G_END_DECLS

#endif /* GST_TFX_PRESET_H */
