/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtree.c: the tree of values of a preset in YAML or JSON, read with libyaml:
 * JSON is a part of YAML.
 */
#include "gsttfxtree.h"

#include <math.h>
#include <string.h>

#ifdef HAVE_YAML
#include <yaml.h>
#endif

#include "gsttfxbytes.h"
#include "gsttfxlibrary.h"

/* Bounds of a text, whose aliases may repeat nodes. */
#define MAX_NODES 200000
#define MAX_KEYS 4096
#define MAX_DEPTH 32
/* libyaml needs quadratic time for nested brackets and for anchors. */
#define MAX_BRACKETS 1000

/* ---- messages ---------------------------------------------------------------- */

/* "filters.eq.parameters (line 3)"; the root is "the preset". */
void
gst_tfx_tree_enter (const GstTfxTree *node)
{
  GString *place = g_string_new (NULL);

  for (const GstTfxTree *at = node; at->parent; at = at->parent) {
    g_autofree gchar *name = at->key ? gst_tfx_bytes_show (at->key)
                                     : g_strdup_printf ("[%u]", at->index);

    g_string_prepend (place, name);
    if (at->key && at->parent->parent)
      g_string_prepend (place, ".");
  }
  if (place->len == 0)
    g_string_append (place, "the preset");
  g_string_append_printf (place, " (line %u)", node->line);
  g_free (node->stages->place);
  node->stages->place = g_string_free (place, FALSE);
}

void
gst_tfx_tree_fail (const GstTfxTree *node, const gchar *format, ...)
{
  g_autofree gchar *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  gst_tfx_tree_enter (node);
  gst_tfx_stages_fail (node->stages, "%s", text);
}

/* ---- reading ----------------------------------------------------------------- */

void
gst_tfx_tree_free (gpointer root)
{
  GstTfxTree *node = root;

  g_ptr_array_unref (node->children);
  g_free (node->key);
  g_free (node->text);
  g_free (node);
}

/* A map without values, added to its parent unless that is NULL. */
static GstTfxTree *
make_node (GstTfxTree *parent)
{
  GstTfxTree *node = g_new (GstTfxTree, 1);

  *node = (GstTfxTree){ .kind = GST_TFX_TREE_MAP,
    .parent = parent,
    .children = g_ptr_array_new_with_free_func (gst_tfx_tree_free) };
  if (parent) {
    node->stages = parent->stages;
    node->line = parent->line;
    node->index = parent->children->len;
    node->depth = parent->depth + 1;
    g_ptr_array_add (parent->children, node);
  }
  return node;
}

#ifdef HAVE_YAML

/* Loaded when the first preset is read, like libsndfile, and never unloaded. */
static struct
{
  int (*initialize) (yaml_parser_t *parser);
  void (*set_input) (yaml_parser_t *parser, const unsigned char *text,
      size_t size);
  int (*load) (yaml_parser_t *parser, yaml_document_t *document);
  void (*delete_document) (yaml_document_t *document);
  void (*delete_parser) (yaml_parser_t *parser);
} yaml;

/* Returns NULL, or the reason why the library cannot be loaded, which is static. */
static const gchar *
load_yaml (void)
{
  static const GstTfxLibraryFunction functions[] = { { "yaml_parser_initialize",
                                                         &yaml.initialize },
    { "yaml_parser_set_input_string", &yaml.set_input },
    { "yaml_parser_load", &yaml.load },
    { "yaml_document_delete", &yaml.delete_document },
    { "yaml_parser_delete", &yaml.delete_parser } };
  static GstTfxLibrary library = { .soname = "libyaml-0.so.2" };

  return gst_tfx_library_load (&library, functions, G_N_ELEMENTS (functions));
}

typedef struct
{
  GstTfxStages *stages;
  yaml_document_t *document;
  guint n_nodes;
} Loader;

/* Adds a node with its children to a map; key 0: to a list, or it is the root. */
static GstTfxTree *
read_node (Loader *loader, GstTfxTree *parent, int key, int value)
{
  static const gchar *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
  /* (What yaml_document_get_node() returns.) */
  const yaml_node_t *nodes = loader->document->nodes.start - 1;
  const yaml_node_t *name = key ? nodes + key : NULL, *from = nodes + value;
  GstTfxTree *node = make_node (parent);

  node->stages = loader->stages;
  node->line = (guint)from->start_mark.line + 1;
  if (name && name->type == YAML_SCALAR_NODE)
    node->key = g_strdup ((const gchar *)name->data.scalar.value);
  else if (name)
    gst_tfx_tree_fail (parent, "a key is not a text");
  if (name && node->index == MAX_KEYS)
    gst_tfx_tree_fail (parent, "it has more than %u values", MAX_KEYS);
  for (guint i = 0; node->key && i < node->index; i++) {
    const GstTfxTree *other = parent->children->pdata[i];

    if (strcmp (other->key, node->key) == 0)
      gst_tfx_tree_fail (parent, "%s is there twice", node->key);
  }
  if (node->depth > MAX_DEPTH || loader->n_nodes++ >= MAX_NODES) {
    gst_tfx_tree_fail (node,
        "the preset is larger than %u values or deeper than %u levels",
        MAX_NODES, MAX_DEPTH);
  } else if (from->type == YAML_SCALAR_NODE) {
    node->text = g_strdup ((const gchar *)from->data.scalar.value);
    node->is_quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->kind = !node->is_quoted && g_strv_contains (nulls, node->text)
                     ? GST_TFX_TREE_NULL
                     : GST_TFX_TREE_TEXT;
  } else if (from->type == YAML_SEQUENCE_NODE) {
    node->kind = GST_TFX_TREE_LIST;
    for (const yaml_node_item_t *item = from->data.sequence.items.start;
         item < from->data.sequence.items.top && !loader->stages->fault; item++)
      read_node (loader, node, 0, *item);
  } else {
    for (const yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top && !loader->stages->fault; pair++)
      read_node (loader, node, pair->key, pair->value);
  }
  return node;
}

/* Whether few brackets are open at a time, and there are few anchors; those in
 * strings count, too. */
static gboolean
is_simple (const gchar *text)
{
  gint n_open = 0, n_anchors = 0;

  for (const gchar *at = text; *at; at++) {
    n_open += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    n_open = MAX (n_open, 0);
    n_anchors += *at == '&';
    if (n_open > MAX_BRACKETS || n_anchors > MAX_BRACKETS)
      return FALSE;
  }
  return TRUE;
}

GstTfxTree *
gst_tfx_tree_parse (GstTfxStages *stages, const gchar *text)
{
  const gchar *missing = load_yaml ();
  const yaml_node_t *first;
  GstTfxTree *root = NULL;
  yaml_document_t document;
  yaml_parser_t parser;
  Loader loader = { stages, &document, 0 };

  stages->place = g_strdup ("the preset");
  if (missing)
    gst_tfx_stages_fail (stages,
        "libyaml, which reads YAML and JSON, cannot be loaded: %s", missing);
  else if (!is_simple (text))
    gst_tfx_stages_fail (stages,
        "it has more than %u brackets in brackets, or anchors", MAX_BRACKETS);
  else if (!yaml.initialize (&parser))
    gst_tfx_stages_fail (stages, "out of memory");
  if (stages->fault)
    return NULL;
  yaml.set_input (&parser, (const unsigned char *)text, strlen (text));
  /* Nothing may follow the first document. */
  for (guint i = 0; i < 2 && !stages->fault; i++) {
    if (!yaml.load (&parser, &document)) {
      gst_tfx_stages_fail (stages, "line %zu: %s", parser.problem_mark.line + 1,
          parser.problem ? parser.problem : "it cannot be read");
      break;
    }
    first =
        document.nodes.start < document.nodes.top ? document.nodes.start : NULL;
    if (first && i == 0)
      root = read_node (&loader, NULL, 0, 1);
    else if (first)
      gst_tfx_stages_fail (stages, "line %zu: a second document begins",
          first->start_mark.line + 1);
    else if (i == 0)
      gst_tfx_stages_fail (stages, "it is empty");
    yaml.delete_document (&document);
  }
  yaml.delete_parser (&parser);
  if (root && root->kind != GST_TFX_TREE_MAP)
    gst_tfx_tree_fail (root, "it is not a map of names and values");
  if (stages->fault)
    g_clear_pointer (&root, gst_tfx_tree_free);
  return root;
}

#else

GstTfxTree *
gst_tfx_tree_parse (GstTfxStages *stages, const gchar *text)
{
  stages->place = g_strdup ("the preset");
  gst_tfx_stages_fail (stages,
      "libyaml, which reads YAML and JSON, was not there when gst-tfx was "
      "built");
  return NULL;
}

#endif

/* ---- values ------------------------------------------------------------------ */

static gboolean
check_kind (const GstTfxTree *node, GstTfxTreeKind kind)
{
  static const gchar *const kinds[] = { "null", "a single value", "a list",
    "a map of names and values" };

  if (node->kind != kind)
    gst_tfx_tree_fail (node, "it must be %s, not %s", kinds[kind],
        kinds[node->kind]);
  return node->kind == kind;
}

static GstTfxTree *
find (const GstTfxTree *map, const gchar *key)
{
  for (guint i = 0; i < map->children->len; i++) {
    GstTfxTree *child = map->children->pdata[i];

    if (strcmp (child->key, key) == 0)
      return child;
  }
  return NULL;
}

gboolean
gst_tfx_tree_has (const GstTfxTree *map, const gchar *key)
{
  const GstTfxTree *child = find (map, key);

  return child && child->kind != GST_TFX_TREE_NULL;
}

/* NULL: it is missing, null or of another kind. */
static GstTfxTree *
take (GstTfxTree *map, const gchar *key, GstTfxTreeKind kind,
    gboolean is_required)
{
  GstTfxTree *child = find (map, key);

  if (child)
    child->is_taken = TRUE;
  if (gst_tfx_tree_has (map, key))
    return check_kind (child, kind) ? child : NULL;
  if (is_required)
    gst_tfx_tree_fail (map, "%s is missing", key);
  return NULL;
}

GstTfxTree *
gst_tfx_tree_map (GstTfxTree *map, const gchar *key, gboolean is_required)
{
  GstTfxTree *child = take (map, key, GST_TFX_TREE_MAP, is_required);

  if (!child) {
    child = make_node (map);
    child->key = g_strdup (key);
    child->is_taken = TRUE;
  }
  return child;
}

const GPtrArray *
gst_tfx_tree_list (GstTfxTree *map, const gchar *key, GstTfxTreeKind kind,
    gboolean is_required)
{
  static const GPtrArray none = { NULL, 0 };
  const GstTfxTree *list = take (map, key, GST_TFX_TREE_LIST, is_required);
  gboolean is_right = list != NULL;

  for (guint i = 0; list && i < list->children->len; i++)
    is_right = is_right && check_kind (list->children->pdata[i], kind);
  return is_right ? list->children : &none;
}

gdouble
gst_tfx_tree_read_number (const GstTfxTree *node)
{
  gchar *end;
  const gdouble number = g_ascii_strtod (node->text, &end);

  /* (Not 0x10 or nan, which strtod accepts.) */
  if (!node->is_quoted && end > node->text && !*end && isfinite (number) &&
      !node->text[strspn (node->text, "+-.0123456789eE")])
    return number;
  gst_tfx_tree_fail (node, "it must be a number, not '%s'", node->text);
  return 0.0;
}

gdouble
gst_tfx_tree_number (GstTfxTree *map, const gchar *key, gdouble missing)
{
  const GstTfxTree *node = take (map, key, GST_TFX_TREE_TEXT, isnan (missing));

  return node              ? gst_tfx_tree_read_number (node)
         : isnan (missing) ? 0.0
                           : missing;
}

gboolean
gst_tfx_tree_flag (GstTfxTree *map, const gchar *key, gboolean missing)
{
  const GstTfxTree *node = take (map, key, GST_TFX_TREE_TEXT, FALSE);
  const gboolean is_on = node && g_ascii_strcasecmp (node->text, "true") == 0;

  if (node && (node->is_quoted ||
                  (!is_on && g_ascii_strcasecmp (node->text, "false") != 0)))
    gst_tfx_tree_fail (node, "it must be true or false, not '%s'", node->text);
  return node ? is_on : missing;
}

const gchar *
gst_tfx_tree_text (GstTfxTree *map, const gchar *key, const gchar *missing)
{
  const GstTfxTree *node = take (map, key, GST_TFX_TREE_TEXT, !missing);

  return node ? node->text : missing ? missing : "";
}

guint
gst_tfx_tree_whole (GstTfxTree *map, const gchar *key, gdouble missing,
    guint most)
{
  const gdouble number = gst_tfx_tree_number (map, key, missing);

  if (number >= 0.0 && number <= most && number == floor (number))
    return (guint)number;
  gst_tfx_tree_fail (map, "%s is %s, not a whole number from 0 to %u", key,
      GST_TFX_NUMBER (number), most);
  return 0;
}

GArray *
gst_tfx_tree_numbers (GstTfxTree *map, const gchar *key)
{
  const GPtrArray *list = gst_tfx_tree_list (map, key, GST_TFX_TREE_TEXT, TRUE);
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (guint i = 0; i < list->len; i++) {
    const gdouble number = gst_tfx_tree_read_number (list->pdata[i]);

    g_array_append_val (numbers, number);
  }
  return numbers;
}

void
gst_tfx_tree_require (GstTfxTree *map, const gchar *rules)
{
  g_auto (GStrv) words = g_strsplit (rules, " ", -1);

  for (guint i = 0; words[i]; i++) {
    const gsize n = strcspn (words[i], "=<");
    g_autofree gchar *key = g_strndup (words[i], n);
    g_auto (GStrv) choices = g_strsplit (words[i] + n + 1, "|", -1);
    g_autofree gchar *right = g_strjoinv ("' or '", choices);
    gchar *end;
    const gdouble limit = g_ascii_strtod (choices[0], &end);
    const gboolean is_number = !*end;
    const GstTfxTree *node = take (map, key, GST_TFX_TREE_TEXT, FALSE);
    const gdouble number =
        node && is_number ? gst_tfx_tree_read_number (node) : limit;
    const gboolean is_right =
        !node                             ? TRUE
        : is_number && words[i][n] == '<' ? number <= limit
        : is_number                       ? number == limit
        : strcmp (choices[0], "false") == 0
            ? !gst_tfx_tree_flag (map, key, FALSE)
            : g_strv_contains ((const gchar *const *)choices, node->text);

    if (!is_right)
      gst_tfx_tree_fail (map,
          is_number    ? "%s is %s; only %s has an equal here"
          : choices[1] ? "unknown %s '%s'; only '%s' has an equal here"
                       : "%s is '%s'; only '%s' has an equal here",
          key, node->text, right);
  }
}

void
gst_tfx_tree_close (const GstTfxTree *map, const gchar *ignored)
{
  g_auto (GStrv) keys = g_strsplit (ignored, " ", -1);

  for (guint i = 0; i < map->children->len; i++) {
    const GstTfxTree *child = map->children->pdata[i];

    if (!child->is_taken &&
        !g_strv_contains ((const gchar *const *)keys, child->key))
      gst_tfx_tree_fail (child, "unknown parameter");
  }
}

gchar *
gst_tfx_tree_format (GstTfxTree *map, const gchar *call)
{
  g_auto (GStrv) parts = g_strsplit_set (call, "{}", -1);
  GString *text = g_string_new (parts[0]);

  for (guint i = 1; parts[i]; i += 2) {
    gchar *star = strchr (parts[i], '*'), *equal = strchr (parts[i], '=');
    g_autofree gchar *key = g_strndup (parts[i], strcspn (parts[i], "*="));
    const gdouble number = gst_tfx_tree_number (map, key,
        equal ? g_ascii_strtod (equal + 1, NULL) : NAN);

    /* (0 is added for -0.) */
    g_string_append (text,
        GST_TFX_NUMBER (
            number * (star ? g_ascii_strtod (star + 1, NULL) : 1.0) + 0.0));
    g_string_append (text, parts[i + 1]);
  }
  return g_string_free (text, FALSE);
}

void
gst_tfx_tree_write (GstTfxTree *map, const gchar *call)
{
  g_autofree gchar *text = gst_tfx_tree_format (map, call);

  gst_tfx_stages_add (map->stages, "%s", text);
}

void
gst_tfx_tree_replace (GstTfxTree *node, const gchar *token, const gchar *text)
{
  if (node->text && strstr (node->text, token)) {
    g_auto (GStrv) parts = g_strsplit (node->text, token, -1);

    g_free (node->text);
    node->text = g_strjoinv (text, parts);
  }
  for (guint i = 0; i < node->children->len; i++)
    gst_tfx_tree_replace (node->children->pdata[i], token, text);
}
