/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresetfile.c: presets of other programs as chains.
 */
#include "gsttfxpresetfile.h"

gchar *
gst_tfx_preset_file_convert (const gchar *text,
    const GstTfxPresetSource *source, gchar **fault)
{
  static const gchar *const camilla =
      "^(title|description|devices|filters|mixers|processors|pipeline):"
      "(\\s|$)";
  void (*write) (GstTfxStages *, const gchar *) = NULL;
  GstTfxStages stages;

  if (g_regex_match_simple ("\\A\\s*+\\{", text, G_REGEX_RAW, 0))
    write = gst_tfx_easy_effects_write;
  else if (g_regex_match_simple (camilla, text, G_REGEX_RAW | G_REGEX_MULTILINE,
               0))
    write = gst_tfx_camilla_write;
  else if (gst_tfx_apo_is (text))
    write = gst_tfx_apo_write;
  *fault = NULL;
  if (!write)
    return NULL;
  gst_tfx_stages_init (&stages, source);
  write (&stages, text);
  return gst_tfx_stages_finish (&stages, fault);
}
