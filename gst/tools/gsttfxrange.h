/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrange.h: part of a file as an element. */
#ifndef GST_TFX_RANGE_H
#define GST_TFX_RANGE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* A source of the bytes from `start` up to `end` of a regular file, which are all that
 * there is for the elements downstream. */
GstElement *gst_tfx_range_new (const gchar *path, goffset start, goffset end);

G_END_DECLS

#endif /* GST_TFX_RANGE_H */
