/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresetfile.h: presets of other programs as chains.
 */
#ifndef GST_TFX_PRESET_FILE_H
#define GST_TFX_PRESET_FILE_H

#include "gsttfxstages.h"

G_BEGIN_DECLS

/* The chain of a preset, empty if no filter of it is on; to be freed.  NULL: with
 * the reason in @fault, which may quote the text, or without one if the text is no
 * preset of Equalizer APO, REW, EasyEffects or CamillaDSP. */
gchar *gst_tfx_preset_file_convert (const gchar *text,
    const GstTfxPresetSource *source, gchar **fault);

G_END_DECLS

#endif /* GST_TFX_PRESET_FILE_H */
