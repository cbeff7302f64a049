/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxstages.h: the chain of a preset of another program, stage by stage.
 */
#ifndef GST_TFX_STAGES_H
#define GST_TFX_STAGES_H

#include <glib.h>

G_BEGIN_DECLS

/* A number as text, whatever the locale, valid until the end of the block. */
#define GST_TFX_NUMBER(number)                                                 \
  g_ascii_dtostr ((gchar[G_ASCII_DTOSTR_BUF_SIZE]){ 0 },                       \
      G_ASCII_DTOSTR_BUF_SIZE, number)

/* The folder of a preset, and the receivers of its notes and included files. */
typedef struct
{
  /* of the preset and the files that it names; NULL: the working folder */
  const gchar *folder;
  const gchar *prefix; /* of file names in the chain, or NULL */
  GPtrArray *notes;    /* of gchar *, or NULL */
  /* Called before an included file is read; or NULL. */
  void (*opened) (gpointer data, const gchar *path);
  gpointer data;
} GstTfxPresetSource;

/* Channels by number from 0 and by the bit of their position; none: all. */
typedef struct
{
  guint64 numbers, positions;
} GstTfxStagesChannels;

typedef struct
{
  GstTfxPresetSource source;
  GstTfxStagesChannels channels; /* of the next stages */
  gchar *place; /* in the preset, for messages, from g_malloc() */
  /* The line of the preset, and the place in it, that a fault shows; or NULL. */
  const gchar *line, *caret;
  GString *chain; /* finished stages */
  GArray *parts;  /* chains of channels after them */
  gsize n_stages;
  gchar *fault; /* the first one; stages are ignored after it */
} GstTfxStages;

void gst_tfx_stages_init (GstTfxStages *self, const GstTfxPresetSource *source);

/* Adds a stage, or stages joined by "|", for the current channels. */
void gst_tfx_stages_add (GstTfxStages *self, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Adds a call with n numbers between its begin and its end, in rows "], [". */
void gst_tfx_stages_add_list (GstTfxStages *self, const gchar *begin,
    const gdouble *numbers, guint n, guint n_columns, const gchar *end);

/* Adds a second-order section of this class; a gain of NAN is left out. */
void gst_tfx_stages_add_section (GstTfxStages *self, const gchar *klass,
    gdouble hz, gdouble q, gboolean is_octaves, gdouble gain_db);

/* Add a gain in dB, or a delay, unless it is 0.  Samples are rounded. */
void gst_tfx_stages_add_gain (GstTfxStages *self, gdouble db);
void
gst_tfx_stages_add_delay (GstTfxStages *self, gdouble delay, gboolean is_ms);

/* The path of a file that the preset names, with '/' between folders; and the
 * name as a string of the chain, with the prefix.  Free both. */
gchar *gst_tfx_stages_find_path (GstTfxStages *self, const gchar *name);
gchar *gst_tfx_stages_quote (GstTfxStages *self, const gchar *name);

/* Sets the fault, unless there is one. */
void gst_tfx_stages_fail (GstTfxStages *self, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
void gst_tfx_stages_note (GstTfxStages *self, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* The Q of a shelf with the slope S of the Audio EQ Cookbook. */
gdouble gst_tfx_stages_find_shelf_q (gdouble slope, gdouble gain_db);

/* Frees what it owns.  Returns the chain, or NULL with the fault; free both. */
gchar *gst_tfx_stages_finish (GstTfxStages *self, gchar **fault);

/* ---- readers, for gsttfxpresetfile.c --------------------------------------- */

/* gsttfxapo.c: whether a text is a configuration of Equalizer APO or filter settings
 * of REW, and its stages with those of files that it includes. */
gboolean gst_tfx_apo_is (const gchar *text);
void gst_tfx_apo_write (GstTfxStages *stages, const gchar *text);

/* gsttfxeasyeffects.c: the stages of a preset in JSON. */
void gst_tfx_easy_effects_write (GstTfxStages *stages, const gchar *text);

/* gsttfxcamilla.c: the stages of the pipeline of a configuration in YAML. */
void gst_tfx_camilla_write (GstTfxStages *stages, const gchar *text);

G_END_DECLS

#endif /* GST_TFX_STAGES_H */
