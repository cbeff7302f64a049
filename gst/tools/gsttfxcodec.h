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

/* ".wav, .flac, …"; free it. */
gchar *gst_tfx_codec_list_extensions (void);

/* The extension of a file's name, in lower case, without the dot; free it. */
gchar *gst_tfx_codec_get_extension (const gchar *name);

/* Whether other programs look for as many channels where the encoder of files with this
 * extension writes them. */
gboolean gst_tfx_codec_is_in_order (const gchar *extension, gint n_channels);

/* What to give the encoder of files with this extension: of the formats of samples that
 * it takes the one that is nearest to this one, of its depth, else deeper; and as many
 * channels, or of an .mp3 two.  The mask says where the channels
 * are (0: anywhere) and becomes what they are to be called, which may be another one
 * where it has no name for theirs.  NULL with an error: it does not take so many. */
GstCaps *gst_tfx_codec_choose (const gchar *extension, GstElement *encoder,
    const gchar *format, gint n_channels, guint64 *mask, GError **error);

G_END_DECLS

#endif /* GST_TFX_CODEC_H */
