/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresetwriter.h: writes the chain of a preset of another program.
 */
#ifndef GST_TFX_PRESET_WRITER_H
#define GST_TFX_PRESET_WRITER_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_TFX_PRESET_NUMBER_SIZE 40

/* Writes a finite number with the fewest digits that read back as the same
 * double.  Returns text; the second form is valid until the end of the block. */
gchar *gst_tfx_preset_number (gdouble number, gchar *text);
#define GST_TFX_PRESET_NUMBER(number)                                          \
  gst_tfx_preset_number (number, (gchar[GST_TFX_PRESET_NUMBER_SIZE]){ 0 })

/* Channels by number from 0 and by the bit of their position; none: all. */
typedef struct
{
  guint64 numbers, positions;
} GstTfxPresetChannels;

typedef struct
{
  /* of presets and the files that they name; paths in the chain are relative to
   * it unless they have a prefix */
  const gchar *folder;
  const gchar *prefix; /* of paths in the chain; NULL: none */
  GPtrArray *notes;    /* of gchar *, or NULL */
  void (*opened) (gpointer data, const gchar *path); /* before a file is read */
  gpointer data;

  GstTfxPresetChannels channels; /* of the next calls */
  gchar *place;   /* in the preset, for messages, from g_malloc() */
  GString *chain; /* finished stages */
  GArray *parts;  /* chains of channels after them */
  gsize n_stages;
  gchar *fault; /* the first one; calls are ignored after it */
} GstTfxPresetWriter;

void gst_tfx_preset_writer_init (GstTfxPresetWriter *self);

/* Ends a writer.  Returns the chain, or NULL with the fault of the writer; free
 * both. */
gchar *gst_tfx_preset_writer_finish (GstTfxPresetWriter *self, gchar **fault);

/* Adds a stage, or stages joined by "|", for the current channels.  Numbers are
 * texts in the format. */
void gst_tfx_preset_writer_add (GstTfxPresetWriter *self, const gchar *format,
    ...) G_GNUC_PRINTF (2, 3);

/* Adds a second-order section of this class: a gain of NAN is left out. */
void
gst_tfx_preset_writer_add_section (GstTfxPresetWriter *self, const gchar *klass,
    gdouble hz, gdouble q, gboolean is_octaves, gdouble gain_db);

/* Adds a gain in dB unless it is 0. */
void gst_tfx_preset_writer_add_gain (GstTfxPresetWriter *self, gdouble db);

/* Adds a delay unless it is 0; samples are rounded. */
void gst_tfx_preset_writer_add_delay (GstTfxPresetWriter *self, gdouble delay,
    gboolean is_ms);

/* Adds stages, mixed with their input: levels in dB. */
void gst_tfx_preset_writer_add_wet (GstTfxPresetWriter *self, const gchar *call,
    gdouble wet_db, gdouble dry_db, gdouble silent_db);

/* Adds a matrix; rows[n_rows][n_columns]. */
void gst_tfx_preset_writer_add_mix (GstTfxPresetWriter *self,
    const gdouble *rows, guint n_rows, guint n_columns);

/* The path of a file that the preset names, with '/' between folders; to be
 * freed. */
gchar *
gst_tfx_preset_writer_find_path (GstTfxPresetWriter *self, const gchar *name);

/* The name as a string of the chain, with the prefix; to be freed. */
gchar *
gst_tfx_preset_writer_quote (GstTfxPresetWriter *self, const gchar *name);

/* Sets the fault, unless there is one. */
void gst_tfx_preset_writer_fail (GstTfxPresetWriter *self, const gchar *format,
    ...) G_GNUC_PRINTF (2, 3);

void gst_tfx_preset_writer_note (GstTfxPresetWriter *self, const gchar *format,
    ...) G_GNUC_PRINTF (2, 3);

/* The Q of a shelf with the slope S of the Audio EQ Cookbook. */
gdouble gst_tfx_preset_find_shelf_q (gdouble slope, gdouble gain_db);

/* ---- for gsttfxpresetfile.c ------------------------------------------------ */

/* gsttfxapo.c: whether a text is a configuration of Equalizer APO or filter settings
 * of REW, and its chain with that of files that it includes. */
gboolean gst_tfx_apo_is (const gchar *text);
void gst_tfx_apo_write (GstTfxPresetWriter *writer, const gchar *text);

/* gsttfxeasyeffects.c: the chain of a preset in JSON. */
void gst_tfx_easy_effects_write (GstTfxPresetWriter *writer, const gchar *text);

/* gsttfxcamilla.c: the chain of the pipeline of a configuration in YAML. */
void gst_tfx_camilla_write (GstTfxPresetWriter *writer, const gchar *text);

G_END_DECLS

#endif /* GST_TFX_PRESET_WRITER_H */
