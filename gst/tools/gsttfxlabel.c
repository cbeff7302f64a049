/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxlabel.c: how wide the words of a picture are.
 */
#include "gsttfxlabel.h"

#include <string.h>

#include "gsttfxbytes.h"

#define ELLIPSIS 0x2026

/* About, in pixels, of letters of 13 pixels; rather more. */
static gdouble
measure_letter (gunichar letter)
{
  if (g_unichar_iswide (letter) ||
      (letter < 0x80 && strchr ("MWmw%@", (gint)letter)))
    return 13.0;
  if (letter < 0x80 && strchr (" !'()*,-./:;I[]`fijlrt{|}", (gint)letter))
    return 5.5;
  return letter < 0x80 && g_unichar_islower (letter) ? 8.2
         : g_unichar_isdigit (letter)                ? 8.3
                                                     : 11.0;
}

gdouble
gst_tfx_label_measure (const gchar *text)
{
  gdouble width = 0.0;

  for (; *text; text = g_utf8_next_char (text))
    width += measure_letter (g_utf8_get_char (text));
  return width;
}

gchar *
gst_tfx_label_fit (const gchar *text, gdouble width)
{
  gchar *valid = gst_tfx_bytes_escape (text);
  const gboolean is_long = gst_tfx_label_measure (valid) > width;
  GString *fitting = g_string_new (NULL);
  const gchar *at = valid;

  width -= is_long ? measure_letter (ELLIPSIS) : 0.0;
  for (; *at; at = g_utf8_next_char (at)) {
    gunichar letter = g_utf8_get_char (at);

    if (g_ascii_isspace ((gchar)letter) && letter < 0x80)
      letter = ' ';
    else if (letter < 0x20 || letter == 0xfffe || letter == 0xffff)
      letter = 0xfffd;
    width -= measure_letter (letter);
    if (is_long && width < 0.0)
      break;
    g_string_append_unichar (fitting, letter);
  }
  g_string_append (fitting, is_long ? "…" : "");
  g_free (valid);
  return g_string_free (fitting, FALSE);
}
