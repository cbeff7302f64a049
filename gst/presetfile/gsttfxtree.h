/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtree.h: the tree of values of a preset in YAML or JSON.
 *
 * Each value that a reader takes is marked; gst_tfx_tree_close() then names one that
 * it left.  Faults go to the stages, with the place of the node.
 */
#ifndef GST_TFX_TREE_H
#define GST_TFX_TREE_H

#include "gsttfxstages.h"

G_BEGIN_DECLS

typedef struct _GstTfxTree GstTfxTree;

typedef enum
{
  GST_TFX_TREE_NULL,
  GST_TFX_TREE_TEXT, /* a number or a boolean, too */
  GST_TFX_TREE_LIST,
  GST_TFX_TREE_MAP
} GstTfxTreeKind;

struct _GstTfxTree
{
  GstTfxStages *stages;
  const GstTfxTree *parent; /* NULL: the root */
  gchar *key;               /* in a map; NULL: an element of a list */
  GstTfxTreeKind kind;
  guint index, line, depth; /* in the list, from 0; in the text, from 1 */
  gchar *text;              /* of TEXT */
  gboolean is_quoted, is_taken;
  GPtrArray *children; /* of LIST and MAP */
};

/* Reads a text.  NULL with the fault of the stages. */
GstTfxTree *gst_tfx_tree_parse (GstTfxStages *stages, const gchar *text);
void gst_tfx_tree_free (gpointer root);

/* Sets the place of later messages of the stages; gst_tfx_tree_fail() also does. */
void gst_tfx_tree_enter (const GstTfxTree *node);
void gst_tfx_tree_fail (const GstTfxTree *node, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);

/* Takes a map of a map.  A missing or null map is empty, which is a fault where
 * @is_required. */
GstTfxTree *
gst_tfx_tree_map (GstTfxTree *map, const gchar *key, gboolean is_required);

/* Takes the elements of a list of a map, which must be of that kind.  A missing
 * list is empty, which is a fault where @is_required. */
const GPtrArray *gst_tfx_tree_list (GstTfxTree *map, const gchar *key,
    GstTfxTreeKind kind, gboolean is_required);

/* Whether a map has a value that is not null; it is not taken. */
gboolean gst_tfx_tree_has (const GstTfxTree *map, const gchar *key);

/* Take a value of a map, or return @missing; where that is NAN or NULL, a missing
 * value is a fault. */
gdouble
gst_tfx_tree_number (GstTfxTree *map, const gchar *key, gdouble missing);
gboolean
gst_tfx_tree_flag (GstTfxTree *map, const gchar *key, gboolean missing);
const gchar *
gst_tfx_tree_text (GstTfxTree *map, const gchar *key, const gchar *missing);

/* Takes a whole number from 0 to most; it is a fault if it is another one. */
guint gst_tfx_tree_whole (GstTfxTree *map, const gchar *key, gdouble missing,
    guint most);

/* The number of a node, which is no quoted text. */
gdouble gst_tfx_tree_read_number (const GstTfxTree *node);

/* The numbers of a list that must be there, of gdouble, for g_array_unref(). */
GArray *gst_tfx_tree_numbers (GstTfxTree *map, const gchar *key);

/* Takes the values of rules, which spaces separate.  A value must be a
 * number (key=0), a text (key=Off, key=A|B), at most a number (key<-80), or false
 * (key=false). */
void gst_tfx_tree_require (GstTfxTree *map, const gchar *rules);

/* Faults a value that was not taken; those of the keys in @ignored, separated by
 * spaces, have no effect. */
void gst_tfx_tree_close (const GstTfxTree *map, const gchar *ignored);

/* A call with numbers of a map for "{key}", "{key*factor}" and "{key=missing}"; to
 * be freed.  The second function adds it to the chain. */
gchar *gst_tfx_tree_format (GstTfxTree *map, const gchar *call);
void gst_tfx_tree_write (GstTfxTree *map, const gchar *call);

/* Replaces a token in the texts of a node and its children. */
void
gst_tfx_tree_replace (GstTfxTree *node, const gchar *token, const gchar *text);

G_END_DECLS

#endif /* GST_TFX_TREE_H */
