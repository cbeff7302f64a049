/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmatroska.h: the elements of a Matroska or WebM file, RFC 8794 and RFC
 * 9559.
 */
#ifndef GST_TFX_MATROSKA_H
#define GST_TFX_MATROSKA_H

#include <stdio.h>

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TFX_MATROSKA_SEGMENT 0x18538067
/* The size of an element that ends where its parent's next child begins. */
#define GST_TFX_MATROSKA_UNKNOWN G_MAXUINT64

/* Reads the identifier and the size of an element from n bytes.  Returns the
 * length of both, or 0: they are not valid. */
gsize gst_tfx_matroska_read_head (const guint8 *bytes, gsize n, guint32 *id,
    guint64 *size);

/* Whether a file of this size has all of its sound.  `came` is the length of
 * the decoded sound, or GST_CLOCK_TIME_NONE.  Returns what is wrong, for the
 * caller to free, or NULL. */
gchar *gst_tfx_matroska_check (FILE *file, goffset size, GstClockTime came);

G_END_DECLS

#endif /* GST_TFX_MATROSKA_H */
