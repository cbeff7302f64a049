/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpresettree.h: the tree of values of a preset in YAML or JSON.
 *
 * Each value that a reader takes is marked; gst_tfx_preset_node_close() then
 * names one that it left.  A fault goes to the writer of the tree, with the place
 * of the node, and later ones are ignored.
 */
#ifndef GST_TFX_PRESET_TREE_H
#define GST_TFX_PRESET_TREE_H

#include "gsttfxpresetwriter.h"

G_BEGIN_DECLS

typedef struct _GstTfxPresetNode GstTfxPresetNode;

typedef enum
{
  GST_TFX_PRESET_NODE_NULL,
  GST_TFX_PRESET_NODE_TEXT, /* a number or a boolean, too */
  GST_TFX_PRESET_NODE_LIST,
  GST_TFX_PRESET_NODE_MAP
} GstTfxPresetNodeKind;

struct _GstTfxPresetNode
{
  GstTfxPresetWriter *writer;
  const GstTfxPresetNode *parent; /* NULL: the root */
  gchar *key;                     /* in a map; NULL: an element of a list */
  GstTfxPresetNodeKind kind;
  guint index, line; /* in the list, from 0; in the text, from 1 */
  gchar *text;       /* of TEXT */
  gboolean is_quoted, is_taken;
  GPtrArray *children; /* of LIST and MAP */
};

/* Reads a text.  NULL with the fault of the writer. */
GstTfxPresetNode *
gst_tfx_preset_tree_parse (GstTfxPresetWriter *writer, const gchar *text);
void gst_tfx_preset_tree_free (GstTfxPresetNode *root); /* NULL is allowed */

void gst_tfx_preset_node_fail (const GstTfxPresetNode *node,
    const gchar *format, ...) G_GNUC_PRINTF (2, 3);

/* Sets the place of later messages of the writer to the node; so does a fault. */
void gst_tfx_preset_node_enter (const GstTfxPresetNode *node);

/* Take a value of a map.  NULL: it is missing or null.  It is a fault if it is
 * another kind, or missing where @is_required. */
GstTfxPresetNode *gst_tfx_preset_node_get (GstTfxPresetNode *map,
    const gchar *key, GstTfxPresetNodeKind kind, gboolean is_required);

/* Take a value of a map; the last argument is used if it is missing.  NAN and
 * NULL: it is a fault then. */
gdouble gst_tfx_preset_node_number (GstTfxPresetNode *map, const gchar *key,
    gdouble missing);
gboolean gst_tfx_preset_node_flag (GstTfxPresetNode *map, const gchar *key,
    gboolean missing);
const gchar *gst_tfx_preset_node_text (GstTfxPresetNode *map, const gchar *key,
    const gchar *missing);

/* The number of a node, which is no quoted text. */
gdouble gst_tfx_preset_node_read_number (const GstTfxPresetNode *node);

/* Takes values that have no effect, separated by spaces. */
void gst_tfx_preset_node_ignore (GstTfxPresetNode *map, const gchar *keys);

/* Faults a value that was not taken. */
void gst_tfx_preset_node_close (const GstTfxPresetNode *map);

/* A call with numbers of a map for "{key}" and "{key*factor}"; to be freed.  The
 * second function adds it to the chain. */
gchar *gst_tfx_preset_node_format (GstTfxPresetNode *map, const gchar *call);
void gst_tfx_preset_node_write (GstTfxPresetNode *map, const gchar *call);

/* ---- parts of presets ------------------------------------------------------- */

/* gsttfxeasyeffectsband.c: writes a band of the equaliser of EasyEffects. */
void gst_tfx_easy_effects_band_write (GstTfxPresetNode *band);

/* gsttfxcamillafilter.c: writes a filter of CamillaDSP.  @rate_hz 0: not known;
 * @replace returns the name of a file without tokens, to be freed. */
void gst_tfx_camilla_filter_write (GstTfxPresetNode *filter, gdouble rate_hz,
    gchar *(*replace) (gpointer data, const gchar *name), gpointer data);

/* Writes the clip at clip_limit. */
void gst_tfx_camilla_filter_write_clip (GstTfxPresetNode *map);

G_END_DECLS

#endif /* GST_TFX_PRESET_TREE_H */
