/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainpreset.h: the presets of tfxchain.
 */
#ifndef GST_TFX_CHAIN_PRESET_H
#define GST_TFX_CHAIN_PRESET_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* GInterfaceInitFunc of GstPreset. */
void gst_tfx_chain_preset_init (gpointer iface, gpointer data);

G_END_DECLS

#endif /* GST_TFX_CHAIN_PRESET_H */
