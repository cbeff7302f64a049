/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjson.h: strings in JSON.
 */
#ifndef GST_TFX_JSON_H
#define GST_TFX_JSON_H

#include <glib.h>

G_BEGIN_DECLS

/* Appends a string in quotes; bytes that are not UTF-8 are replaced. */
void gst_tfx_json_quote (GString *to, const gchar *text);

G_END_DECLS

#endif /* GST_TFX_JSON_H */
