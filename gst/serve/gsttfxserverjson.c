/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverjson.c: chains and their values as JSON, by way of GVariants.
 */
#include <math.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "gsttfxserver.h"

/* A range of more than this is shown by its logarithm. */
#define LOG_RANGE 100.0
#define MAX_DEPTH 64

/* The parser calls itself for each array in an array. */
static gboolean
is_too_deep (const gchar *text, gsize length)
{
  guint depth = 0;

  for (gsize i = 0; i < length && depth <= MAX_DEPTH; i++) {
    if (text[i] == '[' || text[i] == '{')
      depth++;
    else if ((text[i] == ']' || text[i] == '}') && depth > 0)
      depth--;
  }
  return depth > MAX_DEPTH;
}

/* (json_gvariant_deserialize_data() of JSON-GLib 1.6 leaks after an error; a string of
 * GLib ends at a NUL.) */
GVariant *
gst_tfx_server_json_parse (const gchar *text, gsize length)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonNode *root;
  GVariant *variant;

  if (!g_utf8_validate (text, (gssize)length, NULL) ||
      g_strstr_len (text, (gssize)length, "\\u0000") ||
      is_too_deep (text, length) ||
      !json_parser_load_from_data (parser, text, (gssize)length, NULL))
    return NULL;
  root = json_parser_get_root (parser);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return NULL;
  variant = json_gvariant_deserialize (root, "a{sv}", NULL);
  return variant ? g_variant_take_ref (variant) : NULL;
}

gchar *
gst_tfx_server_json_print (GVariant *variant)
{
  g_autoptr (GVariant) owned = g_variant_take_ref (variant);

  return json_gvariant_serialize_data (owned, NULL);
}

/* ---- values --------------------------------------------------------------------------- */

GVariant *
gst_tfx_server_json_number (gdouble number)
{
  return isfinite (number) ? g_variant_new_double (number)
                           : g_variant_new_maybe (G_VARIANT_TYPE_DOUBLE, NULL);
}

GVariant *
gst_tfx_server_json_string (const gchar *text)
{
  return text ? g_variant_new_take_string (g_utf8_make_valid (text, -1))
              : g_variant_new ("ms", NULL);
}

GVariant *
gst_tfx_server_json_list (const gdouble *numbers, gsize n, gsize n_columns)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("av"));

  for (gsize i = 0; i < n; i += MAX (n_columns, 1))
    g_variant_builder_add (&list, "v",
        n_columns > 0
            ? gst_tfx_server_json_list (numbers + i, MIN (n_columns, n - i), 0)
            : gst_tfx_server_json_number (numbers[i]));
  return g_variant_builder_end (&list);
}

GVariant *
gst_tfx_server_json_value (const TfxValue *value)
{
  switch (value->type) {
    case TFX_VALUE_BOOL:
      return g_variant_new_boolean (value->number != 0.0);
    case TFX_VALUE_NUMBER:
      return gst_tfx_server_json_number (value->number);
    case TFX_VALUE_WORD:
      return gst_tfx_server_json_string (value->word);
    case TFX_VALUE_TEXT:
      return gst_tfx_server_json_string (value->text);
    case TFX_VALUE_LIST:
      return gst_tfx_server_json_list (value->list, value->n_list,
          value->n_columns);
    default:
      return gst_tfx_server_json_string (NULL);
  }
}

gboolean
gst_tfx_server_json_get_number (GVariant *variant, gdouble *number)
{
  if (variant && g_variant_is_of_type (variant, G_VARIANT_TYPE_DOUBLE))
    *number = g_variant_get_double (variant);
  else if (variant && g_variant_is_of_type (variant, G_VARIANT_TYPE_INT64))
    *number = (gdouble)g_variant_get_int64 (variant);
  else
    return FALSE;
  return TRUE;
}

/* Appends the numbers of an array, or of rows of one length.  FALSE: there is something
 * else. */
static gboolean
get_numbers (GVariant *list, GArray *numbers, gsize *n_columns)
{
  for (gsize i = 0; i < g_variant_n_children (list); i++) {
    g_autoptr (GVariant) boxed = g_variant_get_child_value (list, i);
    g_autoptr (GVariant) item = g_variant_get_variant (boxed);
    gdouble number;

    if (gst_tfx_server_json_get_number (item, &number)) {
      g_array_append_val (numbers, number);
      if (n_columns && *n_columns > 0)
        return FALSE;
    } else if (n_columns &&
               g_variant_is_of_type (item, G_VARIANT_TYPE ("av")) &&
               (i == 0 || *n_columns == g_variant_n_children (item)) &&
               get_numbers (item, numbers, NULL)) {
      *n_columns = g_variant_n_children (item);
    } else {
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
gst_tfx_server_json_get_value (GVariant *variant, const TfxParam *param,
    TfxValue *value)
{
  GArray *numbers;
  gboolean is_good;

  *value = (TfxValue){ .type = TFX_VALUE_NONE };
  if (gst_tfx_server_json_get_number (variant, &value->number)) {
    value->type = TFX_VALUE_NUMBER;
  } else if (g_variant_is_of_type (variant, G_VARIANT_TYPE_BOOLEAN)) {
    value->type = TFX_VALUE_BOOL;
    value->number = g_variant_get_boolean (variant);
  } else if (g_variant_is_of_type (variant, G_VARIANT_TYPE_STRING)) {
    value->text = (gchar *)g_variant_get_string (variant, NULL);
    value->type =
        param->types & TFX_VALUE_WORD ? TFX_VALUE_WORD : TFX_VALUE_TEXT;
    return value->type == TFX_VALUE_TEXT ||
           g_strlcpy (value->word, value->text, sizeof value->word) <
               sizeof value->word;
  } else if (g_variant_is_of_type (variant, G_VARIANT_TYPE ("av"))) {
    numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
    value->type = TFX_VALUE_LIST;
    is_good = get_numbers (variant, numbers, &value->n_columns);
    value->n_list = numbers->len;
    value->list = (gdouble *)(gpointer)g_array_free (numbers, FALSE);
    return is_good;
  } else {
    return g_variant_is_of_type (variant, G_VARIANT_TYPE_MAYBE);
  }
  return TRUE;
}

/* ---- the catalogue -------------------------------------------------------------------- */

static GVariant *
list_words (const TfxWord *word)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("as"));

  if (!word)
    return gst_tfx_server_json_string (NULL);
  for (; word->word; word++)
    g_variant_builder_add (&list, "s", word->word);
  return g_variant_builder_end (&list);
}

/* Those of a stage; expr: NULL: those of the class, with the default for a value. */
static GVariant *
list_params (const TfxClass *klass, const TfxExpr *expr, gsize stage,
    gdouble rate_hz)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("av"));

  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    const gboolean is_frequency = (param->flags & TFX_PARAM_FREQUENCY) != 0;
    const gdouble maximum =
        is_frequency ? MIN (param->maximum, rate_hz / 2.0) : param->maximum;
    TfxValue initial = param->initial, value;

    if (param->flags & TFX_PARAM_STREAM)
      continue;
    if (param->flags & TFX_PARAM_REQUIRED)
      initial.type = TFX_VALUE_NONE;
    value = initial;
    if (expr)
      tfx_expr_get (expr, stage, param->name, &value);
    g_variant_builder_add (&list, "v",
        g_variant_new_parsed (
            "{'name': <%s>, 'unit': <%s>, 'value': %v, 'default': %v, 'min': "
            "%v, 'max': %v, 'log': <%b>, 'integer': <%b>, 'choices': %v, "
            "'doc': <%s>}",
            param->name, param->unit, gst_tfx_server_json_value (&value),
            gst_tfx_server_json_value (&initial),
            gst_tfx_server_json_number (param->minimum),
            gst_tfx_server_json_number (maximum),
            is_frequency || (param->minimum > 0.0 &&
                                param->maximum / param->minimum >= LOG_RANGE),
            (param->flags & TFX_PARAM_INTEGER) != 0, list_words (param->words),
            param->doc));
  }
  return g_variant_builder_end (&list);
}

GVariant *
gst_tfx_server_json_stages (const TfxExpr *expr, gdouble rate_hz)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("av"));

  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    const TfxClass *klass = tfx_expr_stage_class (expr, i);

    g_variant_builder_add (&list, "v",
        g_variant_new_parsed ("{'name': <%s>, 'class': <%s>, 'parameters': %v}",
            tfx_expr_stage_name (expr, i), klass->name,
            list_params (klass, expr, i, rate_hz)));
  }
  return g_variant_builder_end (&list);
}

GVariant *
gst_tfx_server_json_classes (gdouble rate_hz)
{
  GVariantBuilder list = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE ("av"));

  for (gsize i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);

    g_variant_builder_add (&list, "v",
        g_variant_new_parsed ("{'name': <%s>, 'doc': <%s>, 'example': <%s>, "
                              "'parameters': %v}",
            klass->name, klass->doc, klass->example,
            list_params (klass, NULL, 0, rate_hz)));
  }
  return g_variant_builder_end (&list);
}

/* ---- errors ---------------------------------------------------------------------------- */

/* The length of the word, string or sign at a place of a text in UTF-8. */
static guint
measure_token (const gchar *text, guint line, guint column)
{
  const gchar *at = text;
  guint n = 0;

  for (; line > 1 && *at; at++)
    line -= *at == '\n';
  for (; column > 1 && *at; column--)
    at = g_utf8_next_char (at);
  if (*at == '\'' || *at == '"')
    return (guint)strcspn (at + 1, "'\"\n") + 2;
  while (g_ascii_isalnum (at[n]) || at[n] == '_' || at[n] == '.')
    n++;
  return MAX (n, *at && *at != '\n' ? 1u : 0u);
}

GVariant *
gst_tfx_server_json_error (const gchar *message, const TfxExprError *fault,
    const gchar *text)
{
  GVariant *said = gst_tfx_server_json_string (message);

  if (!fault || fault->line == 0)
    return g_variant_new_parsed ("{'error': <{'message': %v}>}", said);
  return g_variant_new_parsed ("{'error': <{'message': %v, 'line': <%u>, "
                               "'column': <%u>, 'length': <%u>}>}",
      said, fault->line, fault->column,
      measure_token (text, fault->line, fault->column));
}
