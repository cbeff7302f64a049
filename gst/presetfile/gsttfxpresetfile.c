/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresetfile.c: presets of other programs as chains.
 */
#include "gsttfxpresetfile.h"

#include "gsttfxpresetwriter.h"

GstTfxPresetFileKind
gst_tfx_preset_file_find_kind (const gchar *text)
{
  static const gchar *const camilla =
      "^(title|description|devices|filters|mixers|processors|pipeline):"
      "(\\s|$)";

  if (g_regex_match_simple ("\\A\\s*+\\{", text, G_REGEX_RAW, 0))
    return GST_TFX_PRESET_FILE_EASY_EFFECTS;
  if (g_regex_match_simple (camilla, text, G_REGEX_RAW | G_REGEX_MULTILINE, 0))
    return GST_TFX_PRESET_FILE_CAMILLA;
  return gst_tfx_apo_is (text) ? GST_TFX_PRESET_FILE_APO
                               : GST_TFX_PRESET_FILE_NONE;
}

gchar *
gst_tfx_preset_file_convert (GstTfxPresetFileKind kind, const gchar *text,
    const GstTfxPresetFileSource *source, gchar **fault)
{
  GstTfxPresetWriter writer = { .folder = source->folder,
    .prefix = source->prefix,
    .notes = source->notes,
    .opened = source->opened,
    .data = source->data };

  gst_tfx_preset_writer_init (&writer);
  if (kind == GST_TFX_PRESET_FILE_EASY_EFFECTS)
    gst_tfx_easy_effects_write (&writer, text);
  else if (kind == GST_TFX_PRESET_FILE_CAMILLA)
    gst_tfx_camilla_write (&writer, text);
  else
    gst_tfx_apo_write (&writer, text);
  return gst_tfx_preset_writer_finish (&writer, fault);
}
