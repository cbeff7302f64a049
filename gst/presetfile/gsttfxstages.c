/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxstages.c: the chain of a preset of another program, stage by stage.
 */
#include "gsttfxstages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/expr.h"

/* The chain of some channels.  Parts have no channel in common, so that one split
 * holds them. */
typedef struct
{
  GstTfxStagesChannels channels;
  GString *calls;
} Part;

/* ---- messages ------------------------------------------------------------ */

static gchar *
print_message (const GstTfxStages *self, const gchar *format, va_list args)
{
  g_autofree gchar *text = g_strdup_vprintf (format, args);

  return g_strdup_printf ("%s: %s", self->place, text);
}

void
gst_tfx_stages_fail (GstTfxStages *self, const gchar *format, ...)
{
  TfxExprError error = { 0 };
  g_autofree gchar *message = NULL;
  va_list args;

  if (self->fault)
    return;
  va_start (args, format);
  message = print_message (self, format, args);
  va_end (args);
  if (self->line) {
    error.place = (gsize)(self->caret - self->line) + 1;
    tfx_expr_place_error (&error, self->line, strlen (self->line));
  }
  self->fault = g_strconcat (message, strchr (error.rendered, '\n'), NULL);
}

void
gst_tfx_stages_note (GstTfxStages *self, const gchar *format, ...)
{
  va_list args;

  if (!self->source.notes)
    return;
  va_start (args, format);
  g_ptr_array_add (self->source.notes, print_message (self, format, args));
  va_end (args);
}

/* ---- stages -------------------------------------------------------------- */

void
gst_tfx_stages_init (GstTfxStages *self, const GstTfxPresetSource *source)
{
  *self = (GstTfxStages){ .source = *source,
    .chain = g_string_new (NULL),
    .parts = g_array_new (FALSE, FALSE, sizeof (Part)) };
}

/* Appends the parts to the chain. */
static void
flush (GstTfxStages *self)
{
  GString *chain = self->chain;
  gboolean is_split = FALSE;

  for (guint i = 0; i < self->parts->len; i++) {
    GString *calls = g_array_index (self->parts, Part, i).calls;

    is_split = g_str_has_prefix (calls->str, "ch[");
    g_string_truncate (calls, calls->len - 3);
    g_string_append (chain, i > 0 ? "; " : chain->len > 0 ? " | " : "");
    g_string_append (chain, is_split && i == 0 ? "(" : "");
    g_string_append (chain, calls->str);
    g_string_free (calls, TRUE);
  }
  g_string_append (chain, is_split ? ")" : "");
  g_array_set_size (self->parts, 0);
}

/* The calls of the current channels, each with " | " after it. */
static GString *
find_calls (GstTfxStages *self)
{
  const GstTfxStagesChannels now = self->channels;
  const Part part = { now, g_string_new (NULL) };
  gboolean is_apart = now.numbers || now.positions;

  for (guint i = 0; i < self->parts->len; i++) {
    const Part *other = &g_array_index (self->parts, Part, i);
    const GstTfxStagesChannels there = other->channels;

    if (there.numbers == now.numbers && there.positions == now.positions) {
      g_string_free (part.calls, TRUE);
      return other->calls;
    }
    /* A number may mean the channel of a position. */
    is_apart =
        is_apart && (there.numbers || there.positions) &&
        !(there.numbers & now.numbers) && !(there.numbers && now.positions) &&
        !(there.positions & now.positions) && !(there.positions && now.numbers);
  }
  if (!is_apart)
    flush (self);
  for (guint i = 0; i < 128; i++) {
    const gchar *before = part.calls->len > 0 ? ", " : "ch[";

    if (i < 64 && now.numbers >> i & 1)
      g_string_append_printf (part.calls, "%s%u", before, i);
    else if (i >= 64 && now.positions >> (i - 64) & 1)
      g_string_append_printf (part.calls, "%s%s", before,
          tfx_position_name (i - 64));
  }
  g_string_append (part.calls, part.calls->len > 0 ? "]: " : "");
  g_array_append_val (self->parts, part);
  return part.calls;
}

void
gst_tfx_stages_add (GstTfxStages *self, const gchar *format, ...)
{
  TfxExprError error = { 0 };
  TfxExpr *expr;
  g_autofree gchar *call = NULL;
  va_list args;
  char *printed;

  if (self->fault)
    return;
  va_start (args, format);
  call = g_strdup_vprintf (format, args);
  va_end (args);
  expr = tfx_expr_parse (call, strlen (call), &error);
  printed = expr ? tfx_expr_print (expr) : NULL;
  self->n_stages += expr ? tfx_expr_n_stages (expr) : 0;
  if (!expr)
    gst_tfx_stages_fail (self, "%s", error.message);
  else if (self->n_stages > TFX_EXPR_MAX_STAGES)
    gst_tfx_stages_fail (self, "there are more than %u filters",
        TFX_EXPR_MAX_STAGES);
  else
    g_string_append_printf (find_calls (self), "%s | ",
        printed ? printed : call);
  free (printed);
  tfx_expr_free (&expr);
}

void
gst_tfx_stages_add_list (GstTfxStages *self, const gchar *begin,
    const gdouble *numbers, guint n, guint n_columns, const gchar *end)
{
  g_autoptr (GString) text = g_string_new (begin);

  for (guint i = 0; i < n; i++) {
    g_string_append (text, i == 0 ? "" : i % n_columns == 0 ? "], [" : ", ");
    g_string_append (text, GST_TFX_NUMBER (numbers[i]));
  }
  gst_tfx_stages_add (self, "%s%s", text->str, end);
}

void
gst_tfx_stages_add_section (GstTfxStages *self, const gchar *klass, gdouble hz,
    gdouble q, gboolean is_octaves, gdouble gain_db)
{
  const gboolean has_gain = !isnan (gain_db);

  gst_tfx_stages_add (self, "%s(%s, q=%s%s%s%s%s)", klass, GST_TFX_NUMBER (hz),
      GST_TFX_NUMBER (q), has_gain ? ", gain=" : "",
      has_gain ? GST_TFX_NUMBER (gain_db) : "",
      strstr (klass, "Shelving") ? ", gain_scale='db'" : "",
      is_octaves ? ", q_scale='octaves'" : "");
}

void
gst_tfx_stages_add_gain (GstTfxStages *self, gdouble db)
{
  if (db != 0.0)
    gst_tfx_stages_add (self, "Gain(%s, gain_type='db')", GST_TFX_NUMBER (db));
}

void
gst_tfx_stages_add_delay (GstTfxStages *self, gdouble delay, gboolean is_ms)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  if (!is_ms)
    delay = floor (delay + 0.5);
  g_ascii_formatd (text, sizeof text, "%.15g", delay);
  if (delay < 0.0)
    gst_tfx_stages_fail (self, "the delay is below 0");
  else if (is_ms && strchr (text, 'e'))
    gst_tfx_stages_fail (self, "a delay of %s ms is out of range", text);
  else if (delay > 0.0)
    gst_tfx_stages_add (self,
        is_ms ? "Delay(delay_time='%sms', mix=1, taps=1)"
              : "Delay(%s, mix=1, taps=1)",
        text);
}

gdouble
gst_tfx_stages_find_shelf_q (gdouble slope, gdouble gain_db)
{
  const gdouble a = pow (10.0, gain_db / 40.0);

  return 1.0 / sqrt ((a + 1.0 / a) * (1.0 / slope - 1.0) + 2.0);
}

/* ---- files --------------------------------------------------------------- */

gchar *
gst_tfx_stages_find_path (GstTfxStages *self, const gchar *name)
{
  return self->source.folder && !g_path_is_absolute (name)
             ? g_build_filename (self->source.folder, name, NULL)
             : g_strdup (name);
}

gchar *
gst_tfx_stages_quote (GstTfxStages *self, const gchar *name)
{
  g_autofree gchar *path =
      self->source.prefix && !g_path_is_absolute (name)
          ? g_build_filename (self->source.prefix, name, NULL)
          : g_strdup (name);
  GString *text = g_string_new ("'");

  /* (The canonical text escapes less.) */
  for (const gchar *at = path; *at; at++)
    g_string_append_printf (text, "\\x%02x", (guchar)*at);
  g_string_append_c (text, '\'');
  return g_string_free (text, FALSE);
}

gchar *
gst_tfx_stages_finish (GstTfxStages *self, gchar **fault)
{
  flush (self);
  g_array_unref (self->parts);
  g_free (self->place);
  *fault = self->fault;
  return g_string_free (self->chain, self->fault != NULL);
}
