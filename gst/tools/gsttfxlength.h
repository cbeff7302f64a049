/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxlength.h: trims a decoder's output to the frames of the recording. */
#ifndef GST_TFX_LENGTH_H
#define GST_TFX_LENGTH_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* From now on `convert`, which gets what is decoded in the pipeline, has as many frames as
 * the file says.  Called before a file of that path is read. */
void gst_tfx_length_follow (GstElement *pipeline, GstElement *convert,
    const gchar *path);

G_END_DECLS

#endif /* GST_TFX_LENGTH_H */
