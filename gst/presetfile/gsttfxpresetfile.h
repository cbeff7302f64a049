/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresetfile.h: presets of other programs as chains.
 */
#ifndef GST_TFX_PRESET_FILE_H
#define GST_TFX_PRESET_FILE_H

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  GST_TFX_PRESET_FILE_NONE, /* a chain, or anything else */
  GST_TFX_PRESET_FILE_APO,  /* Equalizer APO, REW */
  GST_TFX_PRESET_FILE_EASY_EFFECTS,
  GST_TFX_PRESET_FILE_CAMILLA
} GstTfxPresetFileKind;

/* The folder of a preset, and the receivers of its notes and included files. */
typedef struct
{
  const gchar *folder; /* of the preset; NULL: the working folder */
  const gchar *prefix; /* of file names in the chain, or NULL */
  GPtrArray *notes;    /* of gchar *, or NULL */
  /* Called before an included file is read; or NULL. */
  void (*opened) (gpointer data, const gchar *path);
  gpointer data;
} GstTfxPresetFileSource;

/* The kind of a text, by what it begins with and its lines. */
GstTfxPresetFileKind gst_tfx_preset_file_find_kind (const gchar *text);

/* The chain of a preset, empty if nothing in it is on; to be freed.  NULL with what
 * cannot be read in @fault, which may quote the text. */
gchar *gst_tfx_preset_file_convert (GstTfxPresetFileKind kind,
    const gchar *text, const GstTfxPresetFileSource *source, gchar **fault);

G_END_DECLS

#endif /* GST_TFX_PRESET_FILE_H */
