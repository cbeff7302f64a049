/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxjson.c: strings in JSON.  A byte that is not UTF-8, as file names may
 * have, becomes a lone surrogate, U+DC80 to U+DCFF, from which os.fsencode() of
 * Python restores it.
 */
#include "gsttfxjson.h"

void
gst_tfx_json_quote (GString *to, const gchar *text)
{
  const gchar *end;

  g_string_append_c (to, '"');
  g_utf8_validate (text, -1, &end);
  for (const gchar *at = text; *at; at++) {
    if (at == end) {
      g_string_append_printf (to, "\\udc%02x", (guint8)*at);
      g_utf8_validate (at + 1, -1, &end);
    } else if (*at == '"' || *at == '\\')
      g_string_append_printf (to, "\\%c", *at);
    else if ((guchar)*at < 0x20)
      g_string_append_printf (to, "\\u%04x", (guint)*at);
    else
      g_string_append_c (to, *at);
  }
  g_string_append_c (to, '"');
}
