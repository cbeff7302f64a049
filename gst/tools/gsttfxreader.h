/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxreader.h: the sound of a file, of an address or of standard input as one
 * stream. */
#ifndef GST_TFX_READER_H
#define GST_TFX_READER_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct GstTfxReader GstTfxReader;

/* Called in a streaming thread before the first samples, with the format that the
 * decoder gives.  It may be NULL. */
typedef void (*GstTfxReaderFound) (const GstAudioInfo *info, gpointer data);

/* Reads `path`, or else `uri`, or else standard input, with a decoder.  The links of a
 * chained Ogg become one stream, and so do other changes of rate or channels: all are
 * converted to what comes first, with a warning.  Returns NULL with an error if GStreamer
 * lacks an element.  The bin of the reader owns it. */
GstTfxReader *gst_tfx_reader_new (const gchar *path, const gchar *uri,
    GstTfxReaderFound found, gpointer data, GError **error);

/* Before it runs: adds pads to the bin for video and subtitles too, for
 * gst_tfx_video_link(). */
void gst_tfx_reader_keep_video (GstTfxReader *reader);

/* The bin, floating at first, with a pad "src". */
GstElement *gst_tfx_reader_get_bin (const GstTfxReader *reader);

/* Whether the file is several in one, which are read one after the other. */
gboolean gst_tfx_reader_has_links (const GstTfxReader *reader);

gboolean gst_tfx_reader_has_sound (GstTfxReader *reader);

/* The number of audio tracks; the reader reads the first one. */
guint gst_tfx_reader_count_tracks (GstTfxReader *reader);

/* What the decoder lost, once the end has come; NULL: nothing. */
const gchar *gst_tfx_reader_get_damage (const GstTfxReader *reader);

/* The file that is read, which may be standard input; NULL: it is a pipe or an address. */
const gchar *gst_tfx_reader_get_path (const GstTfxReader *reader);

/* Begins anew, before the pipeline goes to READY and back, while it stands still. */
void gst_tfx_reader_reset (GstTfxReader *reader);

G_END_DECLS

#endif /* GST_TFX_READER_H */
