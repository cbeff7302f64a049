/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresetwriter.c: writes the chain of a preset of another program.
 */
#include "gsttfxpresetwriter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/expr.h"

/* The chain of some channels.  The parts of a writer have no channel in common,
 * so that one split holds them. */
typedef struct
{
  GstTfxPresetChannels channels;
  GString *calls;
} Part;

gchar *
gst_tfx_preset_number (gdouble number, gchar *text)
{
  static const gchar *const formats[] = { "%.15g", "%.16g", "%.17g" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_ascii_formatd (text, GST_TFX_PRESET_NUMBER_SIZE, formats[i], number);
    if (g_ascii_strtod (text, NULL) == number)
      break;
  }
  return text;
}

void
gst_tfx_preset_writer_init (GstTfxPresetWriter *self)
{
  self->chain = g_string_new (NULL);
  self->parts = g_array_new (FALSE, TRUE, sizeof (Part));
}

/* ---- messages ------------------------------------------------------------ */

void
gst_tfx_preset_writer_fail (GstTfxPresetWriter *self, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  if (self->fault)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  self->fault = g_strdup_printf ("%s: %s", self->place, text);
  g_free (text);
}

void
gst_tfx_preset_writer_note (GstTfxPresetWriter *self, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  if (!self->notes)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (self->notes, g_strdup_printf ("%s: %s", self->place, text));
  g_free (text);
}

/* ---- stages -------------------------------------------------------------- */

static void
append_channels (GString *text, const GstTfxPresetChannels *channels)
{
  const gchar *separator = "ch[";

  for (guint i = 0; i < 64; i++) {
    if (channels->numbers >> i & 1) {
      g_string_append_printf (text, "%s%u", separator, i);
      separator = ", ";
    }
  }
  for (guint i = 0; i < 64; i++) {
    if (channels->positions >> i & 1) {
      g_string_append_printf (text, "%s%s", separator, tfx_position_name (i));
      separator = ", ";
    }
  }
  g_string_append (text, "]: ");
}

/* Appends the parts to the chain. */
static void
flush (GstTfxPresetWriter *self)
{
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = &g_array_index (self->parts, Part, i);
    const gboolean is_all =
        part->channels.numbers == 0 && part->channels.positions == 0;

    if (i > 0)
      g_string_append (self->chain, "; ");
    else if (self->chain->len > 0)
      g_string_append (self->chain, " | ");
    if (i == 0 && !is_all)
      g_string_append_c (self->chain, '(');
    if (!is_all)
      append_channels (self->chain, &part->channels);
    g_string_append (self->chain, part->calls->str);
    if (i + 1 == self->parts->len && !is_all)
      g_string_append_c (self->chain, ')');
    g_string_free (part->calls, TRUE);
  }
  g_array_set_size (self->parts, 0);
}

/* The calls of the current channels. */
static GString *
find_calls (GstTfxPresetWriter *self)
{
  const GstTfxPresetChannels *now = &self->channels;
  Part part = { *now, NULL };
  gboolean is_apart = now->numbers || now->positions;

  for (guint i = 0; i < self->parts->len; i++) {
    const Part *other = &g_array_index (self->parts, Part, i);
    const GstTfxPresetChannels *there = &other->channels;

    if (there->numbers == now->numbers && there->positions == now->positions)
      return other->calls;
    /* A number may mean the channel of a position. */
    is_apart = is_apart && !(there->numbers & now->numbers) &&
               !(there->positions & now->positions) &&
               !(there->numbers && now->positions) &&
               !(there->positions && now->numbers) &&
               (there->numbers || there->positions);
  }
  if (!is_apart)
    flush (self);
  part.calls = g_string_new (NULL);
  g_array_append_val (self->parts, part);
  return part.calls;
}

void
gst_tfx_preset_writer_add (GstTfxPresetWriter *self, const gchar *format, ...)
{
  TfxExprError error = { 0 };
  TfxExpr *expr;
  GString *calls;
  va_list args;
  gchar *call;

  if (self->fault)
    return;
  va_start (args, format);
  call = g_strdup_vprintf (format, args);
  va_end (args);
  expr = tfx_expr_parse (call, strlen (call), &error);
  self->n_stages += expr ? tfx_expr_n_stages (expr) : 0;
  if (!expr) {
    gst_tfx_preset_writer_fail (self, "%s", error.message);
  } else if (self->n_stages > TFX_EXPR_MAX_STAGES) {
    gst_tfx_preset_writer_fail (self, "there are more than %u filters",
        TFX_EXPR_MAX_STAGES);
  } else {
    calls = find_calls (self);
    g_string_append_printf (calls, "%s%s", calls->len > 0 ? " | " : "", call);
  }
  tfx_expr_free (&expr);
  g_free (call);
}

void
gst_tfx_preset_writer_add_section (GstTfxPresetWriter *self, const gchar *klass,
    gdouble hz, gdouble q, gboolean is_octaves, gdouble gain_db)
{
  const gboolean is_shelf = strstr (klass, "Shelving") != NULL;
  const gboolean has_gain = !isnan (gain_db);

  gst_tfx_preset_writer_add (self, "%s(%s%s%s%s%s%s%s)", klass,
      GST_TFX_PRESET_NUMBER (hz),
      isnan (q) ? "" : ", q=", isnan (q) ? "" : GST_TFX_PRESET_NUMBER (q),
      has_gain ? ", gain=" : "",
      has_gain ? GST_TFX_PRESET_NUMBER (gain_db) : "",
      is_shelf ? ", gain_scale='db'" : "",
      is_octaves ? ", q_scale='octaves'" : "");
}

void
gst_tfx_preset_writer_add_gain (GstTfxPresetWriter *self, gdouble db)
{
  if (db != 0.0)
    gst_tfx_preset_writer_add (self, "Gain(%s, gain_type='db')",
        GST_TFX_PRESET_NUMBER (db));
}

void
gst_tfx_preset_writer_add_delay (GstTfxPresetWriter *self, gdouble delay,
    gboolean is_ms)
{
  gchar text[GST_TFX_PRESET_NUMBER_SIZE];

  if (!is_ms)
    delay = floor (delay + 0.5);
  if (delay < 0.0)
    gst_tfx_preset_writer_fail (self, "the delay is below 0");
  else if (delay > 0.0 && !is_ms)
    gst_tfx_preset_writer_add (self, "Delay(%s, mix=1, taps=1)",
        gst_tfx_preset_number (delay, text));
  else if (delay > 0.0 && strchr (gst_tfx_preset_number (delay, text), 'e'))
    gst_tfx_preset_writer_fail (self, "a delay of %s ms is out of range", text);
  else if (delay > 0.0)
    gst_tfx_preset_writer_add (self, "Delay(delay_time='%sms', mix=1, taps=1)",
        text);
}

void
gst_tfx_preset_writer_add_wet (GstTfxPresetWriter *self, const gchar *call,
    gdouble wet_db, gdouble dry_db, gdouble silent_db)
{
  gchar *wet = wet_db <= silent_db
                   ? g_strdup_printf ("%s | Gain(0)", call)
                   : g_strdup_printf ("%s | Gain(%s, gain_type='db')", call,
                         GST_TFX_PRESET_NUMBER (wet_db));

  if (dry_db > silent_db)
    gst_tfx_preset_writer_add (self, "(%s) + Gain(%s, gain_type='db')", wet,
        GST_TFX_PRESET_NUMBER (dry_db));
  else
    gst_tfx_preset_writer_add (self, "%s", wet_db == 0.0 ? call : wet);
  g_free (wet);
}

void
gst_tfx_preset_writer_add_mix (GstTfxPresetWriter *self, const gdouble *rows,
    guint n_rows, guint n_columns)
{
  GString *text = g_string_new ("Mix([");

  for (guint i = 0; i < n_rows; i++) {
    g_string_append (text, i > 0 ? ", [" : "[");
    for (guint k = 0; k < n_columns; k++)
      g_string_append_printf (text, "%s%s", k > 0 ? ", " : "",
          GST_TFX_PRESET_NUMBER (rows[i * n_columns + k]));
    g_string_append_c (text, ']');
  }
  g_string_append (text, "])");
  gst_tfx_preset_writer_add (self, "%s", text->str);
  g_string_free (text, TRUE);
}

gdouble
gst_tfx_preset_find_shelf_q (gdouble slope, gdouble gain_db)
{
  const gdouble a = pow (10.0, gain_db / 40.0);

  return 1.0 / sqrt ((a + 1.0 / a) * (1.0 / slope - 1.0) + 2.0);
}

/* ---- files --------------------------------------------------------------- */

gchar *
gst_tfx_preset_writer_find_path (GstTfxPresetWriter *self, const gchar *name)
{
  return self->folder && !g_path_is_absolute (name)
             ? g_build_filename (self->folder, name, NULL)
             : g_strdup (name);
}

gchar *
gst_tfx_preset_writer_quote (GstTfxPresetWriter *self, const gchar *name)
{
  gchar *path = self->prefix && !g_path_is_absolute (name)
                    ? g_build_filename (self->prefix, name, NULL)
                    : g_strdup (name);
  const gboolean is_utf8 = g_utf8_validate (path, -1, NULL);
  GString *text = g_string_new ("'");

  for (const gchar *at = path; *at; at++) {
    const guchar byte = (guchar)*at;

    if (byte == '\'' || byte == '\\')
      g_string_append_printf (text, "\\%c", byte);
    else if (byte < ' ' || (byte > '~' && !is_utf8))
      g_string_append_printf (text, "\\x%02x", byte);
    else
      g_string_append_c (text, *at);
  }
  g_string_append_c (text, '\'');
  g_free (path);
  return g_string_free (text, FALSE);
}

gchar *
gst_tfx_preset_writer_finish (GstTfxPresetWriter *self, gchar **fault)
{
  flush (self);
  g_array_unref (self->parts);
  g_free (self->place);
  *fault = self->fault;
  return g_string_free (self->chain, self->fault != NULL);
}
