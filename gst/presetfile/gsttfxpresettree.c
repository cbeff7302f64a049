/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresettree.c: the tree of values of a preset in YAML or JSON, read with
 * libyaml: JSON is a part of YAML.
 */
#include "gsttfxpresettree.h"

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
/* libyaml takes the square of the time for brackets in brackets, and for anchors. */
#define MAX_BRACKETS 1000

/* ---- messages ---------------------------------------------------------------- */

/* "filters.eq.parameters", or "the preset". */
static void
append_path (GString *path, const GstTfxPresetNode *node)
{
  gchar *shown;

  if (!node->parent)
    return;
  append_path (path, node->parent);
  if (node->key) {
    shown = gst_tfx_bytes_show (node->key);
    g_string_append_printf (path, "%s%s", path->len > 0 ? "." : "", shown);
    g_free (shown);
  } else {
    g_string_append_printf (path, "[%u]", node->index);
  }
}

static gchar *
find_place (const GstTfxPresetNode *node)
{
  GString *place = g_string_new (NULL);

  append_path (place, node);
  if (place->len == 0)
    g_string_append (place, "the preset");
  g_string_append_printf (place, " (line %u)", node->line);
  return g_string_free (place, FALSE);
}

void
gst_tfx_preset_node_enter (const GstTfxPresetNode *node)
{
  g_free (node->writer->place);
  node->writer->place = find_place (node);
}

void
gst_tfx_preset_node_fail (const GstTfxPresetNode *node, const gchar *format,
    ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  gst_tfx_preset_node_enter (node);
  gst_tfx_preset_writer_fail (node->writer, "%s", text);
  g_free (text);
}

/* ---- reading ----------------------------------------------------------------- */

static void
free_node (gpointer data)
{
  GstTfxPresetNode *node = data;

  g_clear_pointer (&node->children, g_ptr_array_unref);
  g_free (node->key);
  g_free (node->text);
  g_free (node);
}

void
gst_tfx_preset_tree_free (GstTfxPresetNode *root)
{
  if (root)
    free_node (root);
}

#ifdef HAVE_YAML

/* Loaded when the first preset is read, like libsndfile, and never unloaded. */
static struct
{
  int (*initialize) (yaml_parser_t *parser);
  void (*set_input) (yaml_parser_t *parser, const unsigned char *text,
      size_t size);
  int (*load) (yaml_parser_t *parser, yaml_document_t *document);
  yaml_node_t *(*get_root) (yaml_document_t *document);
  yaml_node_t *(*get_node) (yaml_document_t *document, int index);
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
    { "yaml_document_get_root_node", &yaml.get_root },
    { "yaml_document_get_node", &yaml.get_node },
    { "yaml_document_delete", &yaml.delete_document },
    { "yaml_parser_delete", &yaml.delete_parser } };
  static GstTfxLibrary library = { .soname = "libyaml-0.so.2" };

  return gst_tfx_library_load (&library, functions, G_N_ELEMENTS (functions));
}

typedef struct
{
  GstTfxPresetWriter *writer;
  yaml_document_t *document;
  guint n_nodes;
} Loader;

static void
copy_node (Loader *loader, int index, GstTfxPresetNode *node, guint depth);

/* With its place, for messages. */
static GstTfxPresetNode *
make_node (Loader *loader, int index, const GstTfxPresetNode *parent)
{
  const yaml_node_t *from = yaml.get_node (loader->document, index);
  GstTfxPresetNode *node = g_new0 (GstTfxPresetNode, 1);

  node->writer = loader->writer;
  node->parent = parent;
  node->line = (guint)from->start_mark.line + 1;
  node->index = parent ? parent->children->len : 0;
  node->children = g_ptr_array_new_with_free_func (free_node);
  return node;
}

static void
copy_child (Loader *loader, int key, int value, GstTfxPresetNode *parent,
    guint depth)
{
  const yaml_node_t *name = key ? yaml.get_node (loader->document, key) : NULL;
  GstTfxPresetNode *child = make_node (loader, value, parent);

  if (name && name->type == YAML_SCALAR_NODE)
    child->key = g_strdup ((const gchar *)name->data.scalar.value);
  else if (key)
    gst_tfx_preset_node_fail (parent, "a key is not a text");
  if (key && parent->children->len == MAX_KEYS)
    gst_tfx_preset_node_fail (parent, "it has more than %u values", MAX_KEYS);
  for (guint i = 0; child->key && i < parent->children->len; i++) {
    const GstTfxPresetNode *other = parent->children->pdata[i];

    if (strcmp (other->key ? other->key : "", child->key) == 0)
      gst_tfx_preset_node_fail (parent, "%s is there twice", child->key);
  }
  copy_node (loader, value, child, depth);
  g_ptr_array_add (parent->children, child);
}

static void
copy_node (Loader *loader, int index, GstTfxPresetNode *node, guint depth)
{
  const yaml_node_t *from = yaml.get_node (loader->document, index);

  if (depth > MAX_DEPTH || loader->n_nodes++ >= MAX_NODES) {
    gst_tfx_preset_node_fail (node,
        "the preset is larger than %u values or deeper than %u levels",
        MAX_NODES, MAX_DEPTH);
  } else if (from->type == YAML_SCALAR_NODE) {
    node->text = g_strdup ((const gchar *)from->data.scalar.value);
    node->is_quoted = from->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->kind =
        !node->is_quoted && (strcmp (node->text, "~") == 0 || !*node->text ||
                                strcmp (node->text, "null") == 0 ||
                                strcmp (node->text, "Null") == 0 ||
                                strcmp (node->text, "NULL") == 0)
            ? GST_TFX_PRESET_NODE_NULL
            : GST_TFX_PRESET_NODE_TEXT;
  } else if (from->type == YAML_SEQUENCE_NODE) {
    node->kind = GST_TFX_PRESET_NODE_LIST;
    for (const yaml_node_item_t *item = from->data.sequence.items.start;
         item < from->data.sequence.items.top && !loader->writer->fault; item++)
      copy_child (loader, 0, *item, node, depth + 1);
  } else {
    node->kind = GST_TFX_PRESET_NODE_MAP;
    for (const yaml_node_pair_t *pair = from->data.mapping.pairs.start;
         pair < from->data.mapping.pairs.top && !loader->writer->fault; pair++)
      copy_child (loader, pair->key, pair->value, node, depth + 1);
  }
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

/* Nothing may follow the values. */
static void
check_end (GstTfxPresetWriter *writer, yaml_parser_t *parser)
{
  yaml_document_t document;
  const yaml_node_t *more = NULL;

  if (yaml.load (parser, &document)) {
    more = yaml.get_root (&document);
    if (more)
      gst_tfx_preset_writer_fail (writer, "line %zu: a second document begins",
          more->start_mark.line + 1);
    yaml.delete_document (&document);
  } else {
    gst_tfx_preset_writer_fail (writer, "line %zu: %s",
        parser->problem_mark.line + 1,
        parser->problem ? parser->problem : "it cannot be read");
  }
}

GstTfxPresetNode *
gst_tfx_preset_tree_parse (GstTfxPresetWriter *writer, const gchar *text)
{
  const gchar *missing = load_yaml ();
  GstTfxPresetNode *root = NULL;
  yaml_document_t document;
  yaml_parser_t parser;
  Loader loader = { writer, &document, 0 };

  writer->place = g_strdup ("the preset");
  if (missing) {
    gst_tfx_preset_writer_fail (writer,
        "libyaml, which reads YAML and JSON, cannot be loaded: %s", missing);
    return NULL;
  }
  if (!is_simple (text)) {
    gst_tfx_preset_writer_fail (writer,
        "it has more than %u brackets in brackets, or anchors", MAX_BRACKETS);
    return NULL;
  }
  if (!yaml.initialize (&parser)) {
    gst_tfx_preset_writer_fail (writer, "out of memory");
    return NULL;
  }
  yaml.set_input (&parser, (const unsigned char *)text, strlen (text));
  if (!yaml.load (&parser, &document)) {
    gst_tfx_preset_writer_fail (writer, "line %zu: %s",
        parser.problem_mark.line + 1,
        parser.problem ? parser.problem : "it cannot be read");
  } else {
    if (yaml.get_root (&document)) {
      root = make_node (&loader, 1, NULL);
      copy_node (&loader, 1, root, 0);
    } else {
      gst_tfx_preset_writer_fail (writer, "it is empty");
    }
    yaml.delete_document (&document);
    if (root)
      check_end (writer, &parser);
  }
  yaml.delete_parser (&parser);
  if (root && root->kind != GST_TFX_PRESET_NODE_MAP)
    gst_tfx_preset_node_fail (root, "it is not a map of names and values");
  if (writer->fault)
    g_clear_pointer (&root, gst_tfx_preset_tree_free);
  return root;
}

#else

GstTfxPresetNode *
gst_tfx_preset_tree_parse (GstTfxPresetWriter *writer, const gchar *text)
{
  writer->place = g_strdup ("the preset");
  gst_tfx_preset_writer_fail (writer,
      "libyaml, which reads YAML and JSON, was not there when gst-tfx was "
      "built");
  return NULL;
}

#endif

/* ---- values ------------------------------------------------------------------ */

GstTfxPresetNode *
gst_tfx_preset_node_get (GstTfxPresetNode *map, const gchar *key,
    GstTfxPresetNodeKind kind, gboolean is_required)
{
  static const gchar *const kinds[] = { "null", "a single value", "a list",
    "a map of names and values" };

  for (guint i = 0; i < map->children->len; i++) {
    GstTfxPresetNode *child = map->children->pdata[i];

    if (strcmp (child->key, key) != 0)
      continue;
    child->is_taken = TRUE;
    if (child->kind == kind)
      return child;
    if (child->kind != GST_TFX_PRESET_NODE_NULL) {
      gst_tfx_preset_node_fail (child, "it must be %s, not %s", kinds[kind],
          kinds[child->kind]);
      return NULL;
    }
  }
  if (is_required)
    gst_tfx_preset_node_fail (map, "%s is missing", key);
  return NULL;
}

gdouble
gst_tfx_preset_node_read_number (const GstTfxPresetNode *node)
{
  const gboolean is_text =
      node->kind == GST_TFX_PRESET_NODE_TEXT && !node->is_quoted;
  gchar *end = NULL;
  const gdouble number = is_text ? g_ascii_strtod (node->text, &end) : 0.0;

  /* (Not 0x10 or nan, which strtod accepts.) */
  if (is_text && end > node->text && !*end && isfinite (number) &&
      node->text[strspn (node->text, "+-.0123456789eE")] == '\0')
    return number;
  gst_tfx_preset_node_fail (node, "it must be a number%s%s%s",
      node->text ? ", not '" : "", node->text ? node->text : "",
      node->text ? "'" : "");
  return 0.0;
}

gdouble
gst_tfx_preset_node_number (GstTfxPresetNode *map, const gchar *key,
    gdouble missing)
{
  const GstTfxPresetNode *node = gst_tfx_preset_node_get (map, key,
      GST_TFX_PRESET_NODE_TEXT, isnan (missing));

  return node              ? gst_tfx_preset_node_read_number (node)
         : isnan (missing) ? 0.0
                           : missing;
}

gboolean
gst_tfx_preset_node_flag (GstTfxPresetNode *map, const gchar *key,
    gboolean missing)
{
  const GstTfxPresetNode *node =
      gst_tfx_preset_node_get (map, key, GST_TFX_PRESET_NODE_TEXT, FALSE);

  if (!node)
    return missing;
  if (!node->is_quoted && g_ascii_strcasecmp (node->text, "true") == 0)
    return TRUE;
  if (node->is_quoted || g_ascii_strcasecmp (node->text, "false") != 0)
    gst_tfx_preset_node_fail (node, "it must be true or false, not '%s'",
        node->text);
  return FALSE;
}

const gchar *
gst_tfx_preset_node_text (GstTfxPresetNode *map, const gchar *key,
    const gchar *missing)
{
  const GstTfxPresetNode *node = gst_tfx_preset_node_get (map, key,
      GST_TFX_PRESET_NODE_TEXT, missing == NULL);

  return node ? node->text : missing ? missing : "";
}

void
gst_tfx_preset_node_ignore (GstTfxPresetNode *map, const gchar *keys)
{
  gchar **names = g_strsplit (keys, " ", -1);

  for (guint i = 0; i < map->children->len; i++) {
    GstTfxPresetNode *child = map->children->pdata[i];

    child->is_taken |=
        g_strv_contains ((const gchar *const *)names, child->key);
  }
  g_strfreev (names);
}

void
gst_tfx_preset_node_close (const GstTfxPresetNode *map)
{
  for (guint i = 0; i < map->children->len; i++) {
    const GstTfxPresetNode *child = map->children->pdata[i];

    if (!child->is_taken)
      gst_tfx_preset_node_fail (child, "unknown parameter");
  }
}

gchar *
gst_tfx_preset_node_format (GstTfxPresetNode *map, const gchar *call)
{
  gchar **parts = g_strsplit_set (call, "{}", -1);
  GString *text = g_string_new (NULL);

  for (guint i = 0; parts[i]; i++) {
    gchar **factors = g_strsplit (parts[i], "*", 2);

    if (i % 2 == 0)
      g_string_append (text, parts[i]);
    else /* (0 is added for -0.) */
      g_string_append (text,
          GST_TFX_PRESET_NUMBER (
              gst_tfx_preset_node_number (map, factors[0], NAN) *
                  (factors[1] ? g_ascii_strtod (factors[1], NULL) : 1.0) +
              0.0));
    g_strfreev (factors);
  }
  g_strfreev (parts);
  return g_string_free (text, FALSE);
}

void
gst_tfx_preset_node_write (GstTfxPresetNode *map, const gchar *call)
{
  gchar *text = gst_tfx_preset_node_format (map, call);

  gst_tfx_preset_writer_add (map->writer, "%s", text);
  g_free (text);
}
