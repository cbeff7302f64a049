/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtagreader.h: tags of files that GStreamer's demuxers leave out. */
#ifndef GST_TFX_TAGREADER_H
#define GST_TFX_TAGREADER_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Adds what a file of this path has in INFO, APE, MP4 or Matroska to `comments`, as NAME=TEXT
 * by the names of Vorbis comments, and pictures of APE to `tags`.  TRUE: these are all that it
 * has, so that a demuxer's are of no use. */
gboolean gst_tfx_tagreader_read (const gchar *path, GPtrArray *comments,
    GstTagList *tags);

/* Adds what a frame of ID3 (of version 2.3 or 2.4, with its head) says.  FALSE: it is no
 * text. */
gboolean gst_tfx_tagreader_read_frame (const guint8 *frame, gsize n,
    GPtrArray *comments);

G_END_DECLS

#endif /* GST_TFX_TAGREADER_H */
