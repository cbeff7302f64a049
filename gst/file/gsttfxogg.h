/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxogg.h: the pages of an Ogg file. */
#ifndef GST_TFX_OGG_H
#define GST_TFX_OGG_H

#include <stdio.h>

#include <gst/gst.h>

G_BEGIN_DECLS

/* The longest page: its header, 255 sizes, and 255 bytes for each of them. */
#define GST_TFX_OGG_MAX_PAGE (27 + 255 + 255 * 255)

/* Part of a file. */
typedef struct GstTfxLink
{
  goffset start, end;
} GstTfxLink;

/* Reads all pages from `start` to the end of the file at `size`.  Returns what
 * is wrong with them, for the caller to free, or NULL.  `links`, unless NULL,
 * gets a GstTfxLink for each link with more than headers: more than one in a
 * chained file. */
gchar *
gst_tfx_ogg_check (FILE *file, goffset start, goffset size, GArray *links);

/* Reads the last whole page of a file of this size, if it is marked as the last
 * of its stream, with its checksum set to 0, to be freed; NULL: there is none.
 * `at` is its offset, `n` its length. */
guint8 *gst_tfx_ogg_read_last (FILE *file, goffset size, goffset *at, gsize *n);

/* The checksum of a page of n bytes whose own checksum is 0. */
guint32 gst_tfx_ogg_sum (const guint8 *page, gsize n);

G_END_DECLS

#endif /* GST_TFX_OGG_H */
