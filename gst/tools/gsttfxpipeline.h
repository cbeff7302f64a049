/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpipeline.h: the pipeline of play and serve. */
#ifndef GST_TFX_PIPELINE_H
#define GST_TFX_PIPELINE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Makes a pipeline of a sound, filters and a sink.  `sound` is a file, an address, or "-" for
 * the elements `source` (NULL: autoaudiosrc).  `filters` are elements between two
 * audioconvert; `sink` may be NULL (autoaudiosink).  The caller owns the pipeline; NULL
 * with an error. */
GstElement *gst_tfx_pipeline_new (const gchar *sound, const gchar *source,
    const gchar *filters, const gchar *sink, GError **error);

/* Seeks to a position in ns.  FALSE: the seek failed. */
gboolean gst_tfx_pipeline_seek_to (GstElement *pipeline, gint64 to_ns);

/* Seeks by an offset from the current position, in ns. */
void gst_tfx_pipeline_seek (GstElement *pipeline, gint64 by_ns);

gboolean gst_tfx_pipeline_can_seek (GstElement *pipeline);

G_END_DECLS

#endif /* GST_TFX_PIPELINE_H */
