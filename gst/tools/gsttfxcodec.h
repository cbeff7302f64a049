/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcodec.h: how a file is written, by its name. */
#ifndef GST_TFX_CODEC_H
#define GST_TFX_CODEC_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* What writes files whose name has this extension: a bin with a sink and a
 * source pad, floating; or NULL with a message that names what is missing. */
GstElement *gst_tfx_codec_make (const gchar *extension, GError **error);

/* Whether there is a way to write these at all. */
gboolean gst_tfx_codec_is_known (const gchar *extension);

/* The extension of a file's name, in lower case, without the dot; free it. */
gchar *gst_tfx_codec_get_extension (const gchar *name);

/* What to give an encoder: of the formats of samples that it takes the one that is
 * nearest to this one: of its depth, else deeper.  With prefers_stereo channels that
 * are mixed down become two, where it takes two. */
GstCaps *gst_tfx_codec_choose (GstElement *encoder, const gchar *format,
    gboolean prefers_stereo);

G_END_DECLS

#endif /* GST_TFX_CODEC_H */
