/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtextfile.h: reads text files.
 */
#ifndef GST_TFX_TEXT_FILE_H
#define GST_TFX_TEXT_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* Whether the bytes begin with the byte order mark of UTF-16. */
gboolean gst_tfx_text_file_is_utf16 (const guint8 *bytes, gsize n);

/* Reads a text file of at most @most bytes.  Removes the byte order mark of
 * UTF-8; converts UTF-16 with a byte order mark to UTF-8.  Stores the length in
 * bytes unless @length is %NULL.  Returns the text; free it with g_free().  On
 * failure returns %NULL and the reason in *why, to be freed.  Safe while other
 * programs write the file. */
gchar *gst_tfx_text_file_read (const gchar *path, gsize most, gsize *length,
    gchar **why);

G_END_DECLS

#endif /* GST_TFX_TEXT_FILE_H */
