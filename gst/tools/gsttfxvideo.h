/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxvideo.h: streams that are copied: video and subtitles. */
#ifndef GST_TFX_VIDEO_H
#define GST_TFX_VIDEO_H

#include "gsttfxcodec.h"

G_BEGIN_DECLS

/* Whether these are video or subtitles, and no file of several streams. */
gboolean gst_tfx_video_is_stream (const GstCaps *caps);

/* Adds a source pad to the reader's bin for a stream that is copied.  Its data waits until
 * gst_tfx_video_link().  `is_framed`: its packets are whole and have timestamps. */
void gst_tfx_video_add (GstElement *reader, GstPad *pad, gboolean is_framed);
/* Removes these pads. */
void gst_tfx_video_clear (GstElement *reader);

/* Links these pads to the muxer in an encoder that gst_tfx_codec_make() has made of `codec`,
 * which has the state of the pipeline but no samples yet.  `n_linked` is their number.  FALSE with an error
 * that names the stream if the file cannot hold it. */
gboolean gst_tfx_video_link (GstElement *reader, const GstTfxCodec *codec,
    GstElement *encoder, guint *n_linked, GError **error);

G_END_DECLS

#endif /* GST_TFX_VIDEO_H */
