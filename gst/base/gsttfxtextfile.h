/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtextfile.h: texts that stand in files.
 */
#ifndef GST_TFX_TEXT_FILE_H
#define GST_TFX_TEXT_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* Whether the bytes begin with the mark of UTF-16. */
gboolean gst_tfx_text_file_is_utf16 (const guint8 *bytes, gsize n);

/* The text of a file of at most @most bytes, without the mark that Windows puts in
 * front of UTF-8, and its length (unless @length is %NULL).  UTF-16 with its mark
 * becomes UTF-8.  Free with g_free().
 * %NULL, and why not, to be freed.  What others do to the file meanwhile does no
 * harm. */
gchar *gst_tfx_text_file_read (const gchar *path, gsize most, gsize *length,
    gchar **why);

G_END_DECLS

#endif /* GST_TFX_TEXT_FILE_H */
