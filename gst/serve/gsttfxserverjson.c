/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverjson.c: chains and their values as JSON.
 */
#include "gsttfxserverjson.h"

#include <math.h>
#include <string.h>

/* A range of more than this is shown by its logarithm. */
#define LOG_RANGE 100.0
#define MAX_DEPTH 64

JsonNode *
gst_tfx_server_json_number (gdouble number)
{
  JsonNode *node = json_node_alloc ();

  return isfinite (number) ? json_node_init_double (node, number)
                           : json_node_init_null (node);
}

JsonNode *
gst_tfx_server_json_level (gdouble db)
{
  return gst_tfx_server_json_number (rint (32.0 * db) / 32.0);
}

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

JsonObject *
gst_tfx_server_json_parse (const gchar *text, gsize length)
{
  JsonParser *parser;
  JsonObject *object = NULL;
  JsonNode *root;

  if (!g_utf8_validate (text, (gssize)length, NULL) ||
      is_too_deep (text, length))
    return NULL;
  parser = json_parser_new ();
  if (json_parser_load_from_data (parser, text, (gssize)length, NULL)) {
    root = json_parser_get_root (parser);
    if (root && JSON_NODE_HOLDS_OBJECT (root))
      object = json_node_dup_object (root);
  }
  g_object_unref (parser);
  return object;
}

/* ---- values --------------------------------------------------------------------------- */

/* A list in rows becomes an array of arrays. */
static JsonArray *
list_numbers (const TfxValue *value)
{
  const gsize n_columns = value->n_columns;
  JsonArray *list = json_array_new (), *row = NULL;

  for (gsize i = 0; i < value->n_list; i++) {
    if (n_columns > 0 && i % n_columns == 0) {
      row = json_array_new ();
      json_array_add_array_element (list, row);
    }
    json_array_add_element (row ? row : list,
        gst_tfx_server_json_number (value->list[i]));
  }
  return list;
}

JsonNode *
gst_tfx_server_json_value (const TfxValue *value)
{
  JsonNode *node = json_node_alloc ();

  switch (value->type) {
    case TFX_VALUE_BOOL:
      return json_node_init_boolean (node, value->number != 0.0);
    case TFX_VALUE_NUMBER:
      json_node_free (node);
      return gst_tfx_server_json_number (value->number);
    case TFX_VALUE_WORD:
      return json_node_init_string (node, value->word);
    case TFX_VALUE_TEXT:
      return json_node_init_string (node, value->text);
    case TFX_VALUE_LIST:
      json_node_init (node, JSON_NODE_ARRAY);
      json_node_take_array (node, list_numbers (value));
      return node;
    default:
      return json_node_init_null (node);
  }
}

/* Appends the numbers of an array, of rows or not.  FALSE: it has something else. */
static gboolean
read_list (JsonArray *list, GArray *numbers, gsize *n_columns)
{
  for (guint i = 0; i < json_array_get_length (list); i++) {
    JsonNode *item = json_array_get_element (list, i);

    if (JSON_NODE_HOLDS_ARRAY (item) && n_columns) {
      JsonArray *row = json_node_get_array (item);

      if (i > 0 && json_array_get_length (row) != *n_columns)
        return FALSE;
      *n_columns = json_array_get_length (row);
      if (!read_list (row, numbers, NULL))
        return FALSE;
    } else if (JSON_NODE_HOLDS_VALUE (item) &&
               json_node_get_value_type (item) != G_TYPE_STRING &&
               !(n_columns && *n_columns > 0)) {
      const gdouble number = json_node_get_double (item);

      g_array_append_val (numbers, number);
    } else {
      return FALSE;
    }
  }
  return TRUE;
}

gboolean
gst_tfx_server_json_read_value (JsonNode *node, const TfxParam *param,
    TfxValue *value)
{
  const GType type = JSON_NODE_HOLDS_VALUE (node)
                         ? json_node_get_value_type (node)
                         : G_TYPE_NONE;
  gboolean is_good = TRUE;
  GArray *numbers;

  *value = (TfxValue){ .type = TFX_VALUE_NONE };
  if (type == G_TYPE_BOOLEAN) {
    value->type = TFX_VALUE_BOOL;
    value->number = json_node_get_boolean (node);
  } else if (type == G_TYPE_DOUBLE || type == G_TYPE_INT64) {
    value->type = TFX_VALUE_NUMBER;
    value->number = json_node_get_double (node);
  } else if (type == G_TYPE_STRING && (param->types & TFX_VALUE_WORD)) {
    value->type = TFX_VALUE_WORD;
    is_good = g_strlcpy (value->word, json_node_get_string (node),
                  sizeof value->word) < sizeof value->word;
  } else if (type == G_TYPE_STRING) {
    value->type = TFX_VALUE_TEXT;
    value->text = (gchar *)json_node_get_string (node);
  } else if (JSON_NODE_HOLDS_ARRAY (node)) {
    numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
    value->type = TFX_VALUE_LIST;
    is_good =
        read_list (json_node_get_array (node), numbers, &value->n_columns);
    value->n_list = numbers->len;
    value->list = (gdouble *)(gpointer)g_array_free (numbers, FALSE);
  } else {
    is_good = JSON_NODE_HOLDS_NULL (node);
  }
  return is_good;
}

/* ---- parameters ----------------------------------------------------------------------- */

static void
add_choices (JsonObject *to, const TfxParam *param)
{
  JsonArray *words;

  if (!param->words) {
    json_object_set_null_member (to, "choices");
    return;
  }
  words = json_array_new ();
  for (const TfxWord *word = param->words; word->word; word++)
    json_array_add_string_element (words, word->word);
  json_object_set_array_member (to, "choices", words);
}

/* value: NULL: that of no stage. */
static JsonObject *
describe_param (const TfxParam *param, const TfxValue *value, gint rate_hz)
{
  const gboolean is_frequency = param->flags & TFX_PARAM_FREQUENCY;
  const gdouble high = is_frequency && rate_hz > 0
                           ? MIN (param->maximum, rate_hz / 2.0)
                           : param->maximum;
  JsonObject *to = json_object_new ();

  json_object_set_string_member (to, "name", param->name);
  json_object_set_string_member (to, "unit", param->unit);
  if (value)
    json_object_set_member (to, "value", gst_tfx_server_json_value (value));
  json_object_set_member (to, "default",
      param->flags & TFX_PARAM_REQUIRED
          ? json_node_init_null (json_node_alloc ())
          : gst_tfx_server_json_value (&param->initial));
  json_object_set_member (to, "min",
      gst_tfx_server_json_number (param->minimum));
  json_object_set_member (to, "max", gst_tfx_server_json_number (high));
  json_object_set_boolean_member (to, "log",
      is_frequency || (param->minimum > 0.0 &&
                          param->maximum / param->minimum >= LOG_RANGE));
  add_choices (to, param);
  json_object_set_string_member (to, "doc", param->doc);
  return to;
}

static JsonArray *
list_params (const TfxClass *klass, const TfxExpr *expr, gsize stage,
    gint rate_hz)
{
  JsonArray *list = json_array_new ();

  for (guint i = 0; i < klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    TfxValue value;

    if (param->flags & TFX_PARAM_STREAM)
      continue;
    if (expr)
      tfx_expr_get (expr, stage, param->name, &value);
    json_array_add_object_element (list,
        describe_param (param, expr ? &value : NULL, rate_hz));
  }
  return list;
}

JsonArray *
gst_tfx_server_json_stages (const TfxExpr *expr, gint rate_hz)
{
  JsonArray *stages = json_array_new ();

  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    const TfxClass *klass = tfx_expr_stage_class (expr, i);
    JsonObject *stage = json_object_new ();

    json_object_set_string_member (stage, "name",
        tfx_expr_stage_name (expr, i));
    json_object_set_string_member (stage, "class", klass->name);
    json_object_set_array_member (stage, "parameters",
        list_params (klass, expr, i, rate_hz));
    json_array_add_object_element (stages, stage);
  }
  return stages;
}

JsonObject *
gst_tfx_server_json_class (const TfxClass *klass, gint rate_hz)
{
  JsonObject *to = json_object_new ();

  json_object_set_string_member (to, "name", klass->name);
  json_object_set_string_member (to, "doc", klass->doc);
  json_object_set_string_member (to, "example", klass->example);
  json_object_set_array_member (to, "parameters",
      list_params (klass, NULL, 0, rate_hz));
  return to;
}

/* ---- places ---------------------------------------------------------------------------- */

guint
gst_tfx_server_json_token_length (const gchar *text, guint line, guint column)
{
  const gchar *at = text;
  guint n = 0;

  for (guint i = 1; i < line && at; i++) {
    at = strchr (at, '\n');
    at = at ? at + 1 : NULL;
  }
  if (!at || !g_utf8_validate (at, -1, NULL) ||
      g_utf8_strlen (at, -1) < (glong)column)
    return 0;
  at = g_utf8_offset_to_pointer (at, (glong)column - 1);
  while (g_ascii_isalnum (at[n]) || at[n] == '_' || at[n] == '.')
    n++;
  return MAX (n, *at && *at != '\n' ? 1 : 0);
}
