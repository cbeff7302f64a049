/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjson.c: text for JSON. */
#include "gsttfxjson.h"

void
gst_tfx_json_quote (GString *to, const gchar *text)
{
  gchar *valid = g_utf8_make_valid (text, -1);

  g_string_append_c (to, '"');
  for (const gchar *at = valid; *at; at++) {
    if (*at == '"' || *at == '\\')
      g_string_append_printf (to, "\\%c", *at);
    else if ((guchar)*at < 0x20)
      g_string_append_printf (to, "\\u%04x", (guint)*at);
    else
      g_string_append_c (to, *at);
  }
  g_string_append_c (to, '"');
  g_free (valid);
}
