/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxserverjson.h: chains and their values as JSON. */
#ifndef GST_TFX_SERVER_JSON_H
#define GST_TFX_SERVER_JSON_H

#include <json-glib/json-glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* Reads an object of a stranger; NULL: it is none, or too deep. */
JsonObject *gst_tfx_server_json_parse (const gchar *text, gsize length);

/* All of these return new nodes.  An infinite number is null. */
JsonNode *gst_tfx_server_json_number (gdouble number);
/* To 1/32 dB, which JSON has in few digits. */
JsonNode *gst_tfx_server_json_level (gdouble db);
JsonNode *gst_tfx_server_json_value (const TfxValue *value);
JsonArray *gst_tfx_server_json_stages (const TfxExpr *expr, gint rate_hz);
JsonObject *gst_tfx_server_json_class (const TfxClass *klass, gint rate_hz);

/* Reads a value for a parameter: strings and lists are valid until the node changes, and the
 * caller frees value->list.  FALSE: it is no value at all. */
gboolean gst_tfx_server_json_read_value (JsonNode *node, const TfxParam *param,
    TfxValue *value);

/* The number of characters of the word or sign at a place of a text, from 1. */
guint
gst_tfx_server_json_token_length (const gchar *text, guint line, guint column);

G_END_DECLS

#endif /* GST_TFX_SERVER_JSON_H */
